#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each picture of docs/tutorials/gallery.md is what the line below it writes, which has the moving picture of README.md too.

FAB_UPDATE_GOLDEN=1 writes the pictures anew.
"""
import os
import re
import subprocess
import xml.etree.ElementTree

import support
from support import SOURCE, CliTest, environment, main, read

PICTURES = os.path.join(SOURCE, "docs", "pictures")
ENTRY = re.compile(r"^## \d+\. (.*)\n\n!\[.*\]\(\.\./pictures/gallery/([\w-]+\.svg)\)\n\n```sh\n\$ (.*)\n```\n\n((?:.+\n)+)", re.M)
SMALLEST_TEXT = 11
WIDEST = 736


class Gallery(CliTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("build"))
        os.symlink(support.PROGRAM, self.path("build", "fabricast"))
        os.symlink(os.path.join(SOURCE, "scenarios"), self.path("scenarios"))
        self.entries = ENTRY.findall(read(SOURCE, "docs", "tutorials", "gallery.md"))

    def drawn(self, name, command):
        """What the line writes to the file of this name."""
        done = subprocess.run(["bash", "-c", command], cwd=self.directory, env=environment(), capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return read(self.path(name))

    def check_picture(self, drawn, *path):
        if os.environ.get("FAB_UPDATE_GOLDEN"):
            os.makedirs(os.path.dirname(os.path.join(PICTURES, *path)), exist_ok=True)
            with open(os.path.join(PICTURES, *path), "w", encoding="utf-8") as file:
                file.write(drawn)
        self.assertEqual(drawn, read(PICTURES, *path), path)

    def test_twelve_questions(self):
        """A picture, a line and two sentences each."""
        self.assertEqual(len(self.entries), 12)
        for question, _, command, text in self.entries:
            self.assertTrue(question.endswith("?"))
            self.assertNotIn("\n", command)
            self.assertIn(len(re.findall(r"[.?!](?=\s|$)", text)), (2, 3), text)
        self.assertEqual(sorted(os.listdir(os.path.join(PICTURES, "gallery"))), sorted(name for _, name, _, _ in self.entries))

    def test_pictures_are_what_the_lines_write(self):
        for _, name, command, _ in self.entries:
            with self.subTest(name):
                self.check_picture(self.drawn(name, command), "gallery", name)

    def test_pictures_fit_a_page(self):
        """They are no wider than a column of text, and lines of a curve stand at round figures."""
        for _, name, _, _ in self.entries:
            self.assertLessEqual(int(re.search(r'width="(\d+)"', read(PICTURES, "gallery", name))[1]), WIDEST, name)
        ticks = re.findall(r'text-anchor="end">([\d.]+) %', read(PICTURES, "gallery", "rate.svg"))
        self.assertEqual(ticks, ["0.0", "20.0", "40.0", "60.0", "80.0"])
        times = re.findall(r'text-anchor="(?:start|middle|end)">([\d.]+ m?s)<', read(PICTURES, "gallery", "pipeline.svg"))
        self.assertEqual(times, ["0 s", "500 ms", "1 s"])

    def test_the_picture_of_readme(self):
        """It is that of the second question, and moves where the reader's system lets it."""
        _, name, command, _ = self.entries[1]
        drawn = self.drawn(name, command)
        self.assertIn("docs/pictures/gallery/" + name, read(SOURCE, "README.md"))
        self.assertIn("@media (prefers-reduced-motion:reduce){.cover{display:none}}", drawn)
        self.assertEqual(len(re.findall(r"animation:k\d 8s linear infinite", drawn)), 2)
        # It begins with the whole steps, as a picture that does not move has them.
        self.assertEqual(re.findall(r"{0%,20%,", drawn), ["{0%,20%,"] * 2)
        self.assertEqual(len(re.findall(r"\.c\d{transform:translateX\(\d\d+px\)", drawn)), 2)

    def test_texts_can_be_read(self):
        for name in os.listdir(os.path.join(PICTURES, "gallery")):
            root = xml.etree.ElementTree.fromstring(read(PICTURES, "gallery", name))
            sizes = [float(one.get("font-size", root.get("font-size"))) for one in root.iter() if one.tag.endswith("}text")]
            self.assertGreaterEqual(min(sizes), SMALLEST_TEXT, name)


if __name__ == "__main__":
    main()
