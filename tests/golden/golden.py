#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""golden.py PROGRAM CASES/NAME.cmd: a command and what it must print.

NAME.cmd is one line for bash, in an empty directory where `fabricast` is PROGRAM, $SCENARIOS the shipped
scenarios, inputs/ those of this directory, fixtures/ those of tests/ and import/ what tools print of machines.
NAME.out is all of stdout, then "[stderr]" and all of stderr
unless it is empty, then "[exit N]". FAB_UPDATE_GOLDEN=1 writes it anew; read the difference before you commit it.

golden.py --complete NAME...: every .cmd is one of the NAMEs and has its .out, and every shipped scenario has
its case run-SCENARIO, those of learn/ run-learn-SCENARIO.
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIOS = os.path.join(HERE, "..", "..", "scenarios")
FIXTURES = os.path.join(HERE, "..", "fixtures")

# What differs from run to run, and nothing else.
MASKS = [(re.compile(rf'("{key}" : )[0-9.e+-]+'), r"\1MASKED") for key in ("wall_s", "peak_rss_bytes")]


def masked(text, directory):
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return text.replace(directory, "TMPDIR")


def environment(directory):
    names = [name for name in os.environ if name.startswith(("FABRICAST_", "LC_", "LANG"))]
    kept = {name: value for name, value in os.environ.items() if name not in names}
    path = directory + "/bin:" + os.environ.get("PATH", "/usr/bin:/bin")
    return {**kept, "LC_ALL": "C.UTF-8", "PATH": path, "SCENARIOS": "scenarios"}


def section(text):
    return text if text == "" or text.endswith("\n") else text + "\n[no line end]\n"


def output_of(program, command):
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
    errors = "[stderr]\n" + section(stderr) if stderr else ""
    return f"{section(stdout)}{errors}[exit {done.returncode}]\n"


def read(path):
    with open(path, encoding="utf-8", newline="") as file:  # line ends as they are
        return file.read()


def run_case(program, path):
    command = read(path)
    golden = path[:-len(".cmd")] + ".out"
    output = output_of(program, command)
    if os.environ.get("FAB_UPDATE_GOLDEN") == "1":
        with open(golden, "w", encoding="utf-8", newline="") as file:
            file.write(output)
        return 0
    expected = read(golden) if os.path.exists(golden) else ""
    if output == expected:
        return 0
    print("$ " + command.rstrip())
    sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), output.splitlines(True), golden, "now"))
    print("FAB_UPDATE_GOLDEN=1 writes it anew")
    return 1


def check_complete(names):
    there = os.listdir(HERE + "/cases")
    cases = {name[:-4] for name in there if name.endswith(".cmd")}
    wanted = {"run-" + name[:-5] for name in os.listdir(SCENARIOS) if name.endswith(".yaml")}
    wanted |= {"run-learn-" + name[:-5] for name in os.listdir(SCENARIOS + "/learn")}
    problems = [f"cases/{name}.cmd is not in meson.build" for name in sorted(cases - set(names))]
    problems += [f"cases/{name}.out is missing" for name in sorted(cases) if name + ".out" not in there]
    problems += [f"cases/{name} has no .cmd" for name in sorted(there) if name[:-4] not in cases]
    problems += [f"no case {name}.cmd" for name in sorted(wanted - cases)]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(check_complete(sys.argv[2:]) if sys.argv[1] == "--complete" else run_case(*sys.argv[1:]))
