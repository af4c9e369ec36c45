#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_library.py: the library from outside: its symbols, its header, and the figures that its examples print.

    check_library.py LIBRARY PROGRAM CC EXAMPLES_DIR
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIBRARY, PROGRAM, CC, EXAMPLES = sys.argv[1:5]
ROOT = os.environ["FAB_SOURCE_DIR"]
# Quick ones, of every kind of job.
SCENARIOS = ["hello", "ddp-2b-4nodes-200g", "ddp-2b-1node", "fsdp-8b-straggler", "fabric-ddp-rail",
             "fault-nic-half-rate", "neighbour-oversubscribed", "send-80b-200g", "learn/02-ring", "learn/05-latency"]
problems = []


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        problems.append(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def check_symbols():
    wanted = set(re.findall(r"^    (fabricast_\w+);", read("lib/fabricast.map"), re.M))
    declared = set(re.findall(r"^FABRICAST_API [^;]*?\b(fabricast_\w+) \(", read("lib/fabricast.h"), re.M))
    if wanted != declared:
        problems.append(f"fabricast.map and fabricast.h differ: {sorted(wanted ^ declared)}")
    if shutil.which("nm"):
        shown = {line.split()[-1].split("@")[0] for line in output("nm", "-D", "--defined-only", LIBRARY).splitlines()
                 if line.split()[-2] not in "Aa"}
        if shown != wanted:
            problems.append(f"nm -D shows what is not in fabricast.map, or lacks it: {sorted(shown ^ wanted)}")
    if shutil.which("objdump") and "libfabricast.so.0\n" not in output("objdump", "-p", LIBRARY):
        problems.append("the SONAME is not libfabricast.so.0")


def check_header():
    """The header alone, for C99 and for C++."""
    for language, standard, compiler in (("c", "c99", CC), ("c++", "c++11", "g++")):
        if shutil.which(compiler) is None:
            continue
        done = subprocess.run([compiler, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                               "-DFABRICAST_UNSTABLE", f"-I{ROOT}/lib", "-x", language, "-"],
                              input="#include <fabricast.h>\n", capture_output=True, text=True, check=False)
        if done.returncode != 0:
            problems.append(f"{standard}: {done.stderr}")


def check_figures(name):
    """Every iteration of the example is that of the program, to the last digit."""
    path = os.path.join(ROOT, "scenarios", name + ".yaml")
    told = json.loads(output(PROGRAM, "run", "--no-db", "--no-band", "--allow-oversized", "--format", "json", path))
    rows = {}
    binding = None
    for line in output(os.path.join(EXAMPLES, "example_run"), path).splitlines():
        words = line.split(" ", 2)
        if words[0] == "binding":
            binding = line[len("binding "):]
        else:
            rows.setdefault(int(words[0]), {})[words[1]] = int(words[2])
    if binding != (told["binding_link"] or "none"):
        problems.append(f"{name}: binding {binding}, and the program says {told['binding_link']}")
    if len(rows) != len(told["iterations"]):
        problems.append(f"{name}: {len(rows)} iterations, and the program has {len(told['iterations'])}")
    for i, iteration in enumerate(told["iterations"]):
        for key in sorted(name.removesuffix("_s") for name in iteration if name.endswith("_s") and not name.endswith("_per_s")):
            seconds = rows[i][key + "_ps"] / 1e12
            if abs(seconds - iteration[key + "_s"]) > 1e-12 * max(1, abs(seconds)) * 1e-3:
                problems.append(f"{name}: {key} of iteration {i}: {seconds}, and the program says {iteration[key + '_s']}")


def check_sweep():
    path = os.path.join(ROOT, "scenarios/ddp-2b-4nodes-200g.yaml")
    for line in output(os.path.join(EXAMPLES, "example_sweep"), path).splitlines():
        rate, _, step, _, _, exposed, _ = line.split()
        told = json.loads(output(PROGRAM, "run", "--no-db", "--no-band", "--format", "json", "--set",
                                 f"cluster.nic_rate={rate}", path))["iterations"][-1]
        if f"{told['step_s']:.12g}" != step or f"{told['exposed_s']:.12g}" != exposed:
            problems.append(f"sweep at {rate}: {step} and {exposed}, and the program says {told}")


def check_network():
    lines = output(os.path.join(EXAMPLES, "example_network"), os.path.join(ROOT, "scenarios/hello.yaml")).splitlines()
    if sorted(line.split()[0] for line in lines) != ["all-reduce", "first", "second"]:
        problems.append(f"the example of the network printed {lines}")


def check_whatifs():
    """Runs in one process leave nothing behind but a page of the allocator here and there."""
    said = output(os.path.join(EXAMPLES, "example_whatifs"), os.path.join(ROOT, "scenarios/hello.yaml"), "500")
    grew = re.search(r"^500 runs, .* memory grew by (-?\d+) KiB of \d+$", said)
    if grew is None or int(grew.group(1)) > 512:
        problems.append(f"the example of what-ifs printed {said!r}")


def check_adapter():
    """The adapter for ASTRA-sim's verbs: 8 ranks pass 7 messages on, each."""
    compiler = shutil.which("g++")
    if compiler is None:
        return
    folder = os.path.dirname(LIBRARY)
    with tempfile.TemporaryDirectory() as place:
        program = os.path.join(place, "driver")
        output(compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/lib", f"{ROOT}/examples/astra/driver.cc",
               f"-L{folder}", "-lfabricast", f"-Wl,-rpath,{folder}", "-Wl,--allow-shlib-undefined", "-o", program)
        said = output(program, f"{ROOT}/scenarios/hello.yaml")
        if not said.startswith("56 messages by "):
            problems.append(f"the driver of examples/astra said: {said}")


check_symbols()
check_header()
if not os.environ.get("FAB_SANITIZED"):
    check_adapter()
    check_whatifs()
check_sweep()
check_network()
for scenario in SCENARIOS:
    check_figures(scenario)
print("\n".join(problems))
sys.exit(1 if problems else 0)
