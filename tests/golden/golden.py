#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""golden.py PROGRAM GROUP: commands and what they must print. A group is a command of fabricast. The cases of a group are
found here; each prints a line of the Test Anything Protocol, and on stderr what is different. FAB_GOLDEN=NAME runs one
case alone.

Every command is one line for bash, in an empty directory where `fabricast` is PROGRAM, $SCENARIOS the shipped
scenarios, inputs/ those of this directory, fixtures/ those of tests/ and import/ what tools print of machines.

pages/GROUP-*.cmd and .out: a whole page, one for each command and format. The .out is all of stdout, then "[stderr]" and
all of stderr unless it is empty, then "[exit N]".

checks/GROUP.txt: everything else. A case is

    == NAME
    $ COMMAND
    exit N          the exit code; without this line 0
    has TEXT        a line of stdout has this in it
    PATH = VALUE    of JSON: keys and indices with "/" between them, "#" for a length;
                    of CSV: a row and a column
    out LINE        all of stdout, unless there are lines of the two kinds above
    err LINE        all of stderr; without such a line it is empty
    plain           the case takes seconds and runs no code that others do not: it is left out under sanitizers, and
                    of `./dev test --quick` (FAB_QUICK=1)
    whole           the case takes over five seconds of a processor: only `./dev test --whole` (FAB_WHOLE=1) runs it

Under sanitizers, which make a case take four times as long, every tenth case is run, and every one called bad-..., which
is refused: commands play scenarios with the same code, and errors are where memory slips.

FAB_UPDATE_GOLDEN=1 writes pages, exit codes, values, out and err anew; read the difference before you commit it.

golden.py --complete GROUP...: every case belongs to one of the groups, no name is used twice, and every shipped scenario
has its case run-SCENARIO, those of learn/ run-learn-SCENARIO.
"""
import csv
import difflib
import glob
import io
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIOS = os.path.join(HERE, "..", "..", "scenarios")
FIXTURES = os.path.join(HERE, "..", "fixtures")
IS_UPDATE = os.environ.get("FAB_UPDATE_GOLDEN") == "1"
IS_QUICK = os.environ.get("FAB_QUICK") == "1"
IS_SANITIZED = os.environ.get("FAB_SANITIZED") == "1"
IS_WHOLE = os.environ.get("FAB_WHOLE") == "1"
WORDS = ("exit", "has", "out", "err")  # of a line in a case; anything else is the path of a value

# What differs from run to run, and the commit of a version; nothing else.
MASKS = [(re.compile(rf'("{key}" : )[0-9.e+-]+'), r"\1MASKED") for key in ("wall_s", "peak_rss_bytes")]
MASKS.append((re.compile(r"\b(\d+\.\d+\.\d+)\+g[0-9a-f]{7,40}(?:-dirty)?"), r"\1"))


def masked(text, directory):
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return text.replace(directory, "TMPDIR")


def environment(directory):
    names = [name for name in os.environ if name.startswith(("FABRICAST_", "LC_", "LANG"))]
    kept = {name: value for name, value in os.environ.items() if name not in names}
    path = directory + "/bin:" + os.environ.get("PATH", "/usr/bin:/bin")
    return {**kept, "LC_ALL": "C.UTF-8", "PATH": path, "SCENARIOS": "scenarios", "FABRICAST_PROGRESS": "never"}


def section(text):
    return text if text == "" or text.endswith("\n") else text + "\n[no line end]\n"


def run(program, command):
    """stdout, stderr, exit code."""
    with tempfile.TemporaryDirectory(prefix="fab-golden-") as directory:
        os.mkdir(directory + "/bin")
        os.symlink(os.path.abspath(program), directory + "/bin/fabricast")
        os.symlink(os.path.realpath(SCENARIOS), directory + "/scenarios")
        os.symlink(HERE + "/inputs", directory + "/inputs")
        os.symlink(os.path.realpath(HERE + "/../fixtures/import"), directory + "/import")
        os.symlink(os.path.realpath(FIXTURES), directory + "/fixtures")
        done = subprocess.run(["bash", "-c", command], cwd=directory, env=environment(directory),
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        stdout, stderr = (masked(text.decode(errors="backslashreplace"), directory)
                          for text in (done.stdout, done.stderr))
    return section(stdout), section(stderr), done.returncode


def read(path):
    with open(path, encoding="utf-8", newline="") as file:  # line ends as they are
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def difference(expected, found):
    return list(difflib.unified_diff(expected.split("\n"), found.split("\n"), lineterm="", n=2))[2:]


# --- pages ---


class Page:
    """pages/NAME.cmd and NAME.out"""

    def __init__(self, path):
        self.path = path[:-len(".cmd")]
        self.name = os.path.basename(self.path)
        self.command = read(path).rstrip("\n")

    def problems(self, program):
        stdout, stderr, code = run(program, self.command)
        found = stdout + ("[stderr]\n" + stderr if stderr else "") + f"[exit {code}]\n"
        if IS_UPDATE:
            write(self.path + ".out", found)
        return difference(read(self.path + ".out") if os.path.exists(self.path + ".out") else "", found)


# --- checks ---


def value_at(stdout, path):
    """The text of a value in JSON or CSV; None: there is none."""
    try:
        if not stdout.startswith(("{", "[")):
            row, column = path.split("/", 1)
            return list(csv.DictReader(io.StringIO(stdout)))[int(row)][column]
        at = json.loads(stdout.replace(": MASKED", ": null"))
        for key in path.split("/"):
            at = len(at) if key == "#" else at[int(key)] if isinstance(at, list) else at[key]
        return json.dumps(at)
    except (KeyError, IndexError, TypeError, ValueError):
        return None


class Check:
    """A case of checks/GROUP.txt. `lines` are (word or path, text)."""

    def __init__(self, name):
        self.name = name
        self.command = ""
        self.is_plain = self.is_whole = False
        self.lines = []

    def add(self, line):
        word, _, text = line.partition(" ")
        path, equals, value = line.partition(" = ")
        if word == "$":
            self.command = text
        elif line == "plain":
            self.is_plain = True
        elif line == "whole":
            self.is_whole = True
        elif word in WORDS:
            self.lines.append((word, text))
        elif equals:
            self.lines.append((path, value))
        else:
            sys.exit(f"{self.name}: '{line}' is no line of a case")

    def found(self, program):
        """The lines as they are now."""
        stdout, stderr, code = run(program, self.command)
        asked = [(word, text) for word, text in self.lines if word not in ("exit", "out", "err")]
        lines = [("exit", str(code))] if code else []
        for word, text in asked:
            if word != "has":
                lines.append((word, value_at(stdout, word)))
            elif any(text in line for line in stdout.split("\n")):
                lines.append((word, text))
        lines += [("out", line) for line in stdout.split("\n")[:-1] if not asked]
        return lines + [("err", line) for line in stderr.split("\n")[:-1]]

    def text(self):
        lines = [f"{word} {text}".rstrip(" ") if word in WORDS else f"{word} = {text}" for word, text in self.lines]
        return "".join(line + "\n" for line in ["plain"] * self.is_plain + ["whole"] * self.is_whole + lines)

    def problems(self, program):
        before, missing = self.text(), [("has", text) for word, text in self.lines if word == "has"]
        self.lines = self.found(program)
        missing = [line for line in missing if line not in self.lines]
        return [f"-has {text}" for _, text in missing] if IS_UPDATE else difference(before, self.text())


def checks_in(path):
    """Cases, and lines that belong to none, in the order of the file."""
    parts, case = [], None
    for line in read(path).split("\n"):
        if line.startswith("== "):
            case = Check(line[3:])
            parts.append(case)
        elif line == "" or line.startswith("#"):
            parts.append(line)
        else:
            case.add(line)
    return parts


def write_checks(path, parts):
    write(path, "\n".join(part if isinstance(part, str) else f"== {part.name}\n$ {part.command}\n{part.text()}".rstrip("\n")
                          for part in parts))


# --- groups ---


def all_pages():
    return [Page(path) for path in sorted(glob.glob(glob.escape(HERE) + "/pages/*.cmd"))]


def group_of(page):
    return page.name.split("-")[0]


def without_plain(cases):
    return [case for case in cases if not (isinstance(case, Check) and case.is_plain)]


def sanitized(cases):
    """Those that are worth their time under sanitizers."""
    cases = without_plain(cases)
    chosen = cases[::10]
    return [case for case in cases if case in chosen or case.name.startswith("bad-")]


def run_group(program, group):
    path = os.path.join(HERE, "checks", group + ".txt")
    parts = checks_in(path) if os.path.exists(path) else []
    cases = [page for page in all_pages() if group_of(page) == group] + [part for part in parts if isinstance(part, Check)]
    cases = [case for case in cases if os.environ.get("FAB_GOLDEN") in (None, case.name)]
    if not IS_WHOLE and not IS_UPDATE:
        cases = [case for case in cases if not (isinstance(case, Check) and case.is_whole)]
    if IS_SANITIZED:
        cases = sanitized(cases)
    elif IS_QUICK:
        cases = without_plain(cases)
    print(f"1..{len(cases)}")
    n_bad = 0
    for number, case in enumerate(cases, 1):
        problems = case.problems(program)
        n_bad += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {number} - {case.name}", flush=True)
        if problems:
            print("\n".join([f"{case.name}: $ {case.command}", *problems, "FAB_UPDATE_GOLDEN=1 writes it anew"]), file=sys.stderr)
    if IS_UPDATE and parts:
        write_checks(path, parts)
    return 1 if n_bad else 0


def check_complete(groups):
    pages = all_pages()
    names, used = [page.name for page in pages], {group_of(page) for page in pages}
    files = os.listdir(HERE + "/pages")
    problems = [f"pages/{name}.out is missing" for name in names if name + ".out" not in files]
    problems += [f"pages/{name} has no .cmd" for name in files if name[:-4] not in names]
    for path in sorted(glob.glob(glob.escape(HERE) + "/checks/*.txt")):
        used.add(os.path.basename(path)[:-4])
        names += [part.name for part in checks_in(path) if isinstance(part, Check)]
    wanted = {"run-" + name[:-5] for name in os.listdir(SCENARIOS) if name.endswith(".yaml")}
    wanted |= {"run-learn-" + name[:-5] for name in os.listdir(SCENARIOS + "/learn")}
    problems += [f"'{group}' is not a group of meson.build" for group in sorted(used - set(groups))]
    problems += [f"the group '{group}' has no case" for group in sorted(set(groups) - used)]
    problems += [f"two cases are called {name}" for name in sorted(set(names)) if names.count(name) > 1]
    problems += [f"no case is called {name}" for name in sorted(wanted - set(names))]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(check_complete(sys.argv[2:]) if sys.argv[1] == "--complete" else run_group(*sys.argv[1:]))
