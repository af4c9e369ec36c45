#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`./dev sbom`: the list says what the linker wrote into the program, with versions, and the same list comes out twice."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import support
from support import main

BUILD = os.environ["FAB_BUILD_DIR"]


def listed(**more):
    script = os.path.join(support.SOURCE, ".ci", "sbom.py")
    return subprocess.run([sys.executable, script, BUILD], stdin=subprocess.DEVNULL, capture_output=True, check=True,
                          env={**os.environ, **more}).stdout


@unittest.skipUnless(shutil.which("readelf") and shutil.which("meson"), "readelf or meson is not here")
class Sbom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = listed(SOURCE_DATE_EPOCH="86400")
        cls.document = json.loads(cls.text)
        cls.packages = {package["SPDXID"]: package for package in cls.document["packages"]}
        cls.program = next(file for file in cls.document["files"] if file["fileName"].endswith("/bin/fabricast"))

    def test_the_same_twice(self):
        self.assertEqual(listed(SOURCE_DATE_EPOCH="86400"), self.text)
        self.assertEqual(self.document["creationInfo"]["created"], "1970-01-02T00:00:00Z")

    def test_each_library_of_the_program_is_there(self):
        """As many as the linker wrote, where those of the C library are one; each has the version of pkg-config."""
        needed = re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", support.PROGRAM], capture_output=True, text=True).stdout)
        c_library = {name for name in needed if re.match(r"(lib(c|m|dl|pthread|rt)|ld-linux.*)\.so", name)}
        linked = [self.packages[row["relatedSpdxElement"]] for row in self.document["relationships"]
                  if row["relationshipType"] == "DYNAMIC_LINK" and row["spdxElementId"] == self.program["SPDXID"]]
        self.assertEqual(len(linked), len(set(needed) - c_library) + 1)
        for package in linked:
            self.assertNotIn("NOASSERTION", (package["versionInfo"], package["licenseDeclared"]), package["name"])
            told = subprocess.run(["pkg-config", "--modversion", package["name"]], capture_output=True, text=True)
            if told.returncode == 0:
                self.assertEqual(package["versionInfo"], told.stdout.strip())

    def test_what_a_reader_of_spdx_needs(self):
        self.assertEqual(self.document["spdxVersion"], "SPDX-2.3")
        known = {"SPDXRef-DOCUMENT", *self.packages, *(file["SPDXID"] for file in self.document["files"])}
        for row in self.document["relationships"]:
            self.assertLessEqual({row["spdxElementId"], row["relatedSpdxElement"]}, known)
        for name in known:
            self.assertRegex(name, r"^SPDXRef-[A-Za-z0-9.-]+$")
        for file in self.document["files"]:
            self.assertEqual([row["algorithm"] for row in file["checksums"]], ["SHA1", "SHA256"])


if __name__ == "__main__":
    main()
