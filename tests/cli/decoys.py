#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Libraries that lie in the current directory under the names of device libraries are never loaded: neither named
directly, nor by a libtool archive, which GLib would follow."""
import os
import shutil
import subprocess

import support
from support import CliTest, environment

NAMES = ("libcuda.so.1", "libnvidia-ml.so.1", "libnccl.so.2")
SOURCE = """
#include <stdio.h>
__attribute__ ((constructor)) static void
say_that_it_ran (void)
{
  fclose (fopen ("%s", "w"));
}
"""


class Decoys(CliTest):
    def setUp(self):
        super().setUp()
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("no C compiler to make the decoys with")
        self.ran = os.path.join(self.directory, "ran")
        source, library = os.path.join(self.directory, "decoy.c"), os.path.join(self.directory, "decoy.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(SOURCE % self.ran)
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
        self.library = library

    def check(self):
        for backend in ((), ("cuda",), ("nccl",)):
            self.fabricast("measure", *backend, env=environment())
            self.assertFalse(os.path.exists(self.ran), f"`measure {' '.join(backend)}` ran code of this directory")

    def test_libraries(self):
        for name in NAMES:
            for copy in (name, name + ".so"):
                shutil.copy(self.library, os.path.join(self.directory, copy))
        self.check()

    def test_libtool_archives(self):
        for name in NAMES:
            self.write(name + ".la", f"dlname='decoy.so'\nlibdir='{self.directory}'\ninstalled=yes\n")
        self.check()


if __name__ == "__main__":
    support.main()
