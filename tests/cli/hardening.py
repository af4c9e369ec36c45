#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the compiler and the linker can guard is guarded: in the program, in the library and in each module.

`readelf` says what a file has. A switch that vanishes from meson.build, or a file that is linked without it, fails here.
"""
import glob
import os
import platform
import re
import shutil
import subprocess
import unittest

import support
from support import main

BUILD = os.environ["FAB_BUILD_DIR"]
LIBRARY = os.path.join(BUILD, "lib", "libfabricast.so.0")
# What the first instruction of a function that may be called through a pointer is.
LANDING = {"x86_64": (b"\xf3\x0f\x1e\xfa",),  # endbr64
           "aarch64": (b"\x3f\x23\x03\xd5", b"\x5f\x24\x03\xd5")}  # paciasp, bti c
PROBE = b"\x48\x83\x0c\x24\x00"  # orq $0, (%rsp): a page of a large frame is touched before the next one is taken


def readelf(*args):
    return subprocess.run(["readelf", "--wide", *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def objects():
    """The program, the library and the modules that were built."""
    modules = glob.glob(os.path.join(BUILD, "**", "fabricast-*.so"), recursive=True)
    return [support.PROGRAM, LIBRARY, *sorted(path for path in modules if f"{os.sep}tests{os.sep}" not in path)]


def text_of(path):
    """Address, and bytes, of the section with the instructions."""
    address, offset, size = re.search(r" \.text +PROGBITS +(\w+) (\w+) (\w+)", readelf("--sections", path)).groups()
    with open(path, "rb") as file:
        file.seek(int(offset, 16))
        return int(address, 16), file.read(int(size, 16))


def imported(path):
    return set(re.findall(r"\bUND +(\w+)", readelf("--dyn-syms", path)))


@unittest.skipUnless(shutil.which("readelf"), "readelf is not here")
class Hardening(unittest.TestCase):
    def test_addresses_differ_from_run_to_run(self):
        self.assertIn("(Position-Independent Executable file)", readelf("--file-header", support.PROGRAM))

    def test_tables_of_the_linker_are_read_only(self):
        for path in objects():
            with self.subTest(path):
                self.assertIn("GNU_RELRO", readelf("--segments", path))
                self.assertRegex(readelf("--dynamic", path), r"BIND_NOW|Flags:.*\bNOW\b")

    def test_no_page_is_both_written_and_run(self):
        for path in objects():
            with self.subTest(path):
                segments = readelf("--segments", path)
                self.assertRegex(segments, r"GNU_STACK .* RW  *0x")
                self.assertNotRegex(segments, r"(?m)^ +\w+ .* RWE ")

    def test_frames_have_canaries(self):
        for path in support.PROGRAM, LIBRARY:
            with self.subTest(path):
                self.assertIn("__stack_chk_fail", imported(path))

    def test_copies_are_bounded(self):
        """A fortified function of the C library has a name that ends in _chk."""
        for path in support.PROGRAM, LIBRARY:
            with self.subTest(path):
                self.assertIn("__memcpy_chk", imported(path))

    @unittest.skipUnless(platform.machine() in LANDING, "calls are guarded on x86-64 and on AArch64")
    def test_calls_land_at_beginnings(self):
        """Each function that the library exports begins with the instruction that a guarded call must meet."""
        start, text = text_of(LIBRARY)
        functions = re.findall(r"(\w+) +\d+ FUNC +GLOBAL +DEFAULT +\d+ (fabricast_\w+)", readelf("--dyn-syms", LIBRARY))
        self.assertGreater(len(functions), 20)
        wrong = [name for address, name in functions
                 if not text[int(address, 16) - start:].startswith(LANDING[platform.machine()])]
        self.assertEqual(wrong, [])

    @unittest.skipUnless(platform.machine() == "x86_64", "the instruction is that of x86-64")
    def test_large_frames_are_taken_page_by_page(self):
        self.assertIn(PROBE, text_of(support.PROGRAM)[1])


if __name__ == "__main__":
    main()
