#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wheel.py LIBRARY DIR: makes a wheel of the module with this libfabricast.so.0 inside it, and prints its path.

It needs pip, setuptools and wheel, and asks no package index. The library in it needs GLib, libyaml, SQLite and zlib on the
machine where it is installed, as Linux distributions have them.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile


def make_wheel(library, directory):
    """The path of the wheel."""
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as place:
        source, made = os.path.join(place, "source"), os.path.join(place, "made")
        shutil.copytree(here, source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        os.mkdir(os.path.join(source, "fabricast", "_lib"))
        inside = os.path.join(source, "fabricast", "_lib", "libfabricast.so.0")
        shutil.copyfile(library, inside)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", inside], check=True)
        subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation",
                        "--no-cache-dir", "--disable-pip-version-check", "--wheel-dir", made, source], check=True)
        os.makedirs(directory, exist_ok=True)
        return shutil.copy(glob.glob(os.path.join(made, "*.whl"))[0], directory)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(make_wheel(sys.argv[1], sys.argv[2]))
