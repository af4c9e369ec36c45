# SPDX-License-Identifier: Apache-2.0
"""csource.py - what the C checks share: the list of files, and C text without comments and strings."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Comments, strings and characters, longest first; line ends inside them are kept.
_QUIET = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def files(*patterns):
    """Paths below the root, sorted."""
    listed = subprocess.run([os.path.join(ROOT, ".ci", "files.sh"), *patterns],
                            check=True, stdout=subprocess.PIPE).stdout
    return sorted(path for path in listed.decode().split("\0") if path)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def _blank(match):
    text = match.group(0)
    lines = "\n" * text.count("\n")
    return lines or " " if text.startswith("/") else text[0] + lines + text[0]


def code(path):
    """The file with comments and the insides of strings taken out; lines keep their numbers."""
    return _QUIET.sub(_blank, read(path))


def _keep_strings(match):
    text = match.group(0)
    return "\n" * text.count("\n") or " " if text.startswith("/") else text


def without_comments(path):
    """The file with comments taken out, strings left; lines keep their numbers."""
    return _QUIET.sub(_keep_strings, read(path))


def functions(path):
    """(name, line, head, body) of every function, body starting at its `{`: the layout that
    clang-format keeps has the name, the opening and the closing brace in the first column."""
    text = code(path)
    for match in re.finditer(r"^([A-Za-z][^\n;{}=#]*)\n(\w+) \(([^;{}]*)\)\n\{\n(.*?)^\}", text, re.M | re.S):
        yield (match.group(2), text.count("\n", 0, match.start(2)) + 1,
               match.group(1).strip(), match.group(4))


def report(problems):
    """Prints what is wrong and ends the check with its exit code."""
    for problem in problems:
        print(problem)
    raise SystemExit(bool(problems))
