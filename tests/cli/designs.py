# SPDX-License-Identifier: Apache-2.0
"""The reference page of designs and its pictures are those of the program. FAB_UPDATE_GOLDEN=1 writes them anew."""
import glob
import os
import re
import xml.etree.ElementTree as xml

from support import SOURCE, CliTest, main, read

PAGE = os.path.join(SOURCE, "docs", "reference", "designs.md")
PICTURES = os.path.join(SOURCE, "docs", "reference", "pictures")
COMMAND = re.compile(r"^    fabricast (topo --design (\S+) .*) > pictures/(\S+)$", re.M)
IS_UPDATE = os.environ.get("FAB_UPDATE_GOLDEN") == "1"
LETTER = 5.2  # narrowest mean width of a letter of 11 pixels in the fonts of browsers


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Designs(CliTest):
    def said(self, *arguments):
        done = self.fabricast(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_page_is_what_the_command_writes(self):
        page = self.said("describe", "designs", "--format", "markdown")
        if IS_UPDATE:
            write(PAGE, page)
        self.assertEqual(read(PAGE), page, "write it anew: fabricast describe designs --format markdown > docs/reference/designs.md")

    def test_every_picture_is_what_its_command_draws(self):
        page = self.said("describe", "designs", "--format", "markdown")
        drawn = set()
        for arguments, name, file in COMMAND.findall(page):
            picture = self.said(*arguments.split())
            path = os.path.join(PICTURES, file)
            if IS_UPDATE:
                os.makedirs(PICTURES, exist_ok=True)
                write(path, picture)
            self.assertEqual(read(path), picture, f"{name}: write it anew with FAB_UPDATE_GOLDEN=1")
            self.is_inside(name, picture)
            drawn.add(file)
        self.assertGreater(len(drawn), 15)
        self.assertEqual(drawn, {os.path.basename(path) for path in glob.glob(os.path.join(PICTURES, "*.svg"))})

    def is_inside(self, name, picture):
        """No text begins or ends outside the picture, and no two lines of text are at one place."""
        root = xml.fromstring(picture)
        width, height = float(root.get("width")), float(root.get("height"))
        places = set()
        for text in root.iter("{http://www.w3.org/2000/svg}text"):
            x, y, long = float(text.get("x")), float(text.get("y")), LETTER * len(text.text)
            first = x - long / 2 if text.get("text-anchor") == "middle" else x
            self.assertGreaterEqual(first, 0, f"{name}: {text.text}")
            self.assertLessEqual(first + long, width, f"{name}: {text.text}")
            self.assertTrue(0 < y < height, f"{name}: {text.text}")
            self.assertNotIn((x, y), places, f"{name}: {text.text}")
            places.add((x, y))

    def test_a_design_is_drawn_with_what_its_document_lists(self):
        text = self.said("topo", "--design", "superpod-h100", "--units", "4", "--only", "fabric")
        self.assertIn("superpod-h100, 4 scalable units of 32 nodes", text)
        self.assertIn("storage: 16 x switch, Quantum QM9700", text)
        other = self.said("topo", "--design", "superpod-h100", "--units", "2", "--only", "fabric")
        self.assertNotIn("QM9700", other.split("oversubscribed")[1])

    def test_units_need_a_design(self):
        done = self.fabricast("topo", "--node", "dgx-h100", "--units", "2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--units needs --design NAME", done.stderr)


if __name__ == "__main__":
    main()
