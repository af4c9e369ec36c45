#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usable.py DIR SOURCE MESON-VERSION: was DIR set up by this meson, for this checkout, in this place?

Exit code 0 when it was. A directory that was moved, or made by another meson, must be made anew.
"""
import json
import os
import sys


def is_usable(directory, source, version):
    if not os.path.exists(os.path.join(directory, "build.ninja")):
        return False
    try:
        with open(os.path.join(directory, "meson-info", "meson-info.json"), encoding="utf-8") as file:
            info = json.load(file)
        return (info["meson_version"]["full"] == version
                and os.path.realpath(info["directories"]["source"]) == os.path.realpath(source)
                and os.path.realpath(info["directories"]["build"]) == os.path.realpath(directory))
    except (OSError, ValueError, KeyError):
        return False


sys.exit(not is_usable(*sys.argv[1:]))
