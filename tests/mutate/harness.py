# SPDX-License-Identifier: Apache-2.0
"""harness.py - one library of everything that tests use, programs of tests over it, and which functions each reaches.

A mutant is one source compiled again, in a small library that is loaded before the large one (LD_PRELOAD): nothing else
is compiled or linked. What is compiled, and how, is what the build directory says in compile_commands.json.
"""
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import resource
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time

ROOMS = ("sim/libfab_sim.a.p/", "sim/libfab_sim_once.a.p/", "libfab_gnu.a.p/", "formats/libfab_formats.a.p/", "models/libfab_models.a.p/", "answer/libfab_answer.a.p/",
         "validate/libfab_validate.a.p/", "validate/measure/libfab_measure.a.p/", "validate/measure/libfab_measure_support.a.p/",
         "fabricast.p/", "lib/libfabricast.so.")
PACKAGES = ("glib-2.0", "gio-2.0", "gmodule-no-export-2.0", "json-glib-1.0", "yaml-0.1", "sqlite3", "zlib", "libsoup-3.0", "cmocka")
DROPPED = re.compile(r"-g\d?|-O\w|-W.*|-fvisibility=.*|-fstack-.*|-fcf-protection.*|-mbranch-protection.*|-[UD]_FORTIFY_SOURCE.*|-MD")
SUITES = ("unit", "property", "registry", "commands")
BESIDE = "cli"  # the suite whose kills are counted apart
MOST_BESIDE_S = 60  # tests of it that take longer are left out
MEMORY_BYTES = 4 << 30
HERE = os.path.dirname(os.path.abspath(__file__))
FORM = 2  # of the file that keeps what tests reach
CHECKED = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout.strip()


def processors():
    return len(os.sched_getaffinity(0))


def introspected(build, what):
    return json.loads(subprocess.run(["meson", "introspect", what, build], capture_output=True, check=True).stdout)


def quiet(command, folder):
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)


class Test:
    def __init__(self, told):
        self.name = told["name"]
        of = {suite.split(":")[-1] for suite in told["suite"]}
        self.suite = next(suite for suite in (*SUITES, BESIDE) if suite in of)
        self.command = told["cmd"]
        self.built = told["cmd"][0]
        self.script = next((word for word in told["cmd"] if word.endswith(".py")), None)
        self.environment = dict(told["env"])
        self.folder = os.path.dirname(self.built)
        self.program = self.needs = None  # what is linked; what is looked at for its age in place of it
        self.arguments = None  # of a script in Python, which runs the program of users
        self.has_library = "FABRICAST_LIBRARY" in self.environment  # and loads the public library into itself
        self.wall_s = self.processor_s = 0.0
        self.reached = set()  # (file, line) where a function begins

    def run(self, harness, limit_s, **more):
        """The exit status, None where it took longer than the limit; and the processor time of it and of what it waited for."""
        environment = {**os.environ, **self.environment, "LD_LIBRARY_PATH": harness.folder, **more}
        if self.script is not None:  # what is loaded first is for the program alone, and for Python where it loads the library
            environment["FAB_MUTANT"] = environment.get("LD_PRELOAD", "") if self.has_library else environment.pop("LD_PRELOAD", "")
        if self.has_library:
            environment["FABRICAST_LIBRARY"] = os.path.join(harness.folder, "libeverything.so")
        # AddressSanitizer takes much address space, and counts itself what it has of it.
        most_bytes = resource.RLIM_INFINITY if CHECKED in more.get("LD_PRELOAD", "") else MEMORY_BYTES
        environment.setdefault("ASAN_OPTIONS", f"hard_rss_limit_mb={MEMORY_BYTES >> 20}")
        with tempfile.TemporaryDirectory(dir=harness.folder) as place:
            process = subprocess.Popen(self.arguments or [self.program], cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True,
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes)))
            ended = os.pidfd_open(process.pid)
            in_time = bool(select.select([ended], [], [], limit_s)[0])
            os.close(ended)
            try:
                os.killpg(process.pid, signal.SIGKILL)  # children too
            except ProcessLookupError:
                pass
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode if in_time else None, used.ru_utime + used.ru_stime


class Harness:
    def __init__(self, build, root):
        self.build, self.root = os.path.realpath(build), os.path.realpath(root)
        self.folder = os.path.join(self.build, "mutate")
        os.makedirs(self.folder, exist_ok=True)
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            self.rows = {row["output"]: row for row in json.load(file)}
        self.sources = {}  # path from the top of the tree: the row of its compilation
        for output, row in self.rows.items():
            path = os.path.relpath(os.path.join(self.build, row["file"]), self.root)
            if output.startswith(ROOMS) and path != "cli/main.c" and not output.endswith("cli_version.c.o"):
                self.sources[path] = row
        others = {path for row in self.rows.values() for path in [os.path.relpath(os.path.join(self.build, row["file"]), self.root)]
                  if path.split("/")[0] in ("sim", "formats", "models", "answer", "lib")} - set(self.sources)
        if others:
            raise SystemExit(f"mutate: {min(others)} is in a library that ROOMS of harness.py does not list")
        here = [name for name in PACKAGES if subprocess.run(["pkg-config", "--exists", name]).returncode == 0]
        self.libraries = subprocess.run(["pkg-config", "--libs", *here], capture_output=True, text=True, check=True).stdout.split()
        self.libraries += ["-lm", "-ldl"]

    def compile(self, row, into, source=None, extra=("-O1", "-g0")):
        """Compiles a row of compile_commands.json, or another text in the place of its source. What the compiler says."""
        words = shlex.split(row["command"])
        command = [word for word in words[:words.index("-MQ")] if not DROPPED.fullmatch(word)]
        command += [*extra, "-w", "-fPIC", "-o", into, "-c"]
        if row["output"].startswith("lib/"):
            command += ["-include", os.path.join(HERE, "visible.h")]
        if source is not None:  # headers are found from the folder of the file in whose place it is
            command += ["-iquote", os.path.dirname(os.path.join(self.build, row["file"]))]
        return quiet([*command, source or row["file"]], self.build)

    def objects(self, rows, extra):
        """Compiles rows that are newer than what is there. Their objects."""
        paths = [os.path.join(self.folder, row["output"].replace("/", "__")) for row in rows]
        def one(row, path):
            source = os.path.join(self.build, row["file"])
            if os.path.exists(path) and os.path.getmtime(path) > max(self.newest_header, os.path.getmtime(source)):
                return
            done = self.compile(row, path, extra=extra)
            if done.returncode != 0:
                raise SystemExit(f"mutate: {row['file']} was not compiled:\n{done.stderr}")
        with concurrent.futures.ThreadPoolExecutor(processors()) as pool:
            list(pool.map(one, rows, paths))
        return paths

    def make(self, say, has_beside=False):
        """Builds the library and the programs of tests. The tests that could be linked; with those of the suite beside them."""
        self.suites = {*SUITES, BESIDE} if has_beside else {*SUITES}
        self.newest_header = max(os.path.getmtime(os.path.join(folder, name))
                                 for room in ("sim", "formats", "models", "answer", "lib", "validate", "cli", "tests/support")
                                 for folder, _, names in os.walk(os.path.join(self.root, room)) for name in names
                                 if name.endswith(".h"))
        say(f"compiling {len(self.sources)} sources and the tests; the first time takes minutes")
        objects = self.objects(list(self.sources.values()), ("-O1", "-g1", "-finstrument-functions"))
        reach = os.path.join(self.folder, "reach.o")
        library = os.path.join(self.folder, "libeverything.so")
        quiet(["cc", "-O1", "-fPIC", "-c", os.path.join(HERE, "reach.c"), "-o", reach], self.folder)
        listed = os.path.join(self.folder, "objects")
        with open(listed, "w", encoding="utf-8") as file:
            file.write("\n".join([*objects, reach]))
        if os.path.exists(library) and os.path.getmtime(library) > max(map(os.path.getmtime, objects)):
            return self.link_tests(say)
        done = quiet(["cc", "-shared", "-o", library, f"@{listed}", *self.libraries], self.folder)
        if done.returncode != 0:
            raise SystemExit(f"mutate: the library was not linked:\n{done.stderr}")
        return self.link_tests(say)

    def link_tests(self, say):
        support = self.objects([row for output, row in self.rows.items() if output.startswith("tests/support/libsupport.a.p/")], ("-O1", "-g0"))
        told = [told for told in introspected(self.build, "--tests") if {suite.split(":")[-1] for suite in told["suite"]} & self.suites]
        scripts = self.scripts([Test(one) for one in told if any(map(self.is_program, one["cmd"][1:]))
                                or "FABRICAST_LIBRARY" in one["env"]], say)
        tests = [Test(one) for one in told if "/tests/" in one["cmd"][0]]
        tests = [test for test in tests if test.suite in SUITES and test.script is None]
        rows = {}
        for output, row in self.rows.items():
            if "/tests/" in os.path.abspath(os.path.join(self.build, row["file"])):
                rows.setdefault(output.split(".p/")[0], []).append(row)
        own = {test: rows.get(os.path.relpath(test.built, self.build), []) for test in tests}
        self.objects([row for rows in own.values() for row in rows], ("-O1", "-g0"))
        linked = []
        for test in tests:
            test.program = os.path.join(self.folder, "program__" + os.path.basename(test.built))
            if own[test] and self.link(test.program, [*self.objects(own[test], ("-O1", "-g0")), *support]):
                linked.append(test)
            else:
                say(f"the test {test.name} is left out: it needs more than the rooms")
        return linked + scripts

    def link(self, program, objects):
        """Links a program over the library, unless it is newer than its objects."""
        if os.path.exists(program) and os.path.getmtime(program) > max(map(os.path.getmtime, objects)):
            return True
        return quiet(["cc", "-o", program, *objects, "-L" + self.folder, "-leverything", *self.libraries], self.folder).returncode == 0

    def scripts(self, tests, say):
        """Tests in Python of the program of users, which is linked over the library too."""
        program, wrapper = os.path.join(self.folder, "fabricast"), os.path.join(self.folder, "wrapped", "fabricast")
        main = [row for output, row in self.rows.items() if output.startswith("fabricast.p/") and row["file"].endswith("cli/main.c")]
        if not self.link(program, self.objects(main, ("-O1", "-g0"))):
            say("the program of users was not linked: tests that run it are left out")
            return []
        with open(program + ".built", "w", encoding="utf-8") as file:
            file.write(f"{self.folder}\n{self.root}\n")
        os.makedirs(os.path.dirname(wrapper), exist_ok=True)
        with open(wrapper, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nLD_PRELOAD=$FAB_MUTANT exec {shlex.quote(program)} "$@"\n')
        os.chmod(wrapper, 0o755)
        for test in tests:
            test.program = f"{program} {test.name}"
            test.needs = program
            test.arguments = [wrapper if self.is_program(word) else word for word in test.command]
            test.environment.update({key: wrapper for key, value in test.environment.items() if self.is_program(value)})
            test.script = test.script or test.command[-1]  # or the folder of them, for pytest
            with open(test.arguments[0], "rb") as file:
                if file.read(2) == b"#!":
                    test.arguments[0] = sys.executable  # and not a script that looks for it first
        return tests

    def is_program(self, word):
        return os.path.join(self.build, word) in (os.path.join(self.build, "fabricast"), os.path.join(self.build, "./fabricast"))

    def trace(self, tests, say, pattern=None):
        """Runs each test once, unless it and the library are what they were when it ran before: its time, and the functions that it
        enters. The tests that pass."""
        tests = [test for test in tests if pattern is None or re.search(pattern, test.name)]
        library = os.path.join(self.folder, "libeverything.so")
        kept = os.path.join(self.folder, "reached.json")
        told, known, all_tests = self.known(kept, library), [], tests
        for test in all_tests:
            test.built_as = self.digest([test.needs or test.program, *([test.script] if test.script else [])])
            if told.get(test.program, [None])[0] == test.built_as:
                _, test.wall_s, test.processor_s, reached = told[test.program]
                test.reached = {(path, line) for path, line in reached}
                known.append(test)
        tests = [test for test in all_tests if told.get(test.program, [None])[0] != test.built_as]
        if not tests:
            return known
        say("running each test once, to know what it reaches")

        def one(test):
            path = os.path.join(self.folder, "reached__" + re.sub(r"\W", "_", test.program))  # two tests may have one name
            begin = time.monotonic()
            status, test.processor_s = test.run(self, 300 if test.suite in SUITES else MOST_BESIDE_S, FAB_REACH=path)
            test.wall_s = time.monotonic() - begin
            if status == 0 and os.path.exists(path):
                with open(path, "rb") as file:
                    test.offsets = [found.start() for found in re.finditer(b"\1", file.read())]
            if os.path.exists(path):
                os.remove(path)
            return status == 0
        with concurrent.futures.ThreadPoolExecutor(processors()) as pool:
            passed = [test for test, good in zip(tests, pool.map(one, tests)) if good]
        for test in set(tests) - set(passed):
            say(f"the test {test.name} is left out: it does not pass here")
        offsets = sorted({offset for test in passed for offset in test.offsets})
        lines = subprocess.run(["addr2line", "-e", library], input="\n".join(map(hex, offsets)), capture_output=True, text=True, check=True)
        places = {}
        for offset, line in zip(offsets, lines.stdout.splitlines()):
            path, _, number = line.split(" (")[0].rpartition(":")
            places[offset] = (os.path.normpath(path), int(number) if number.isdigit() else 0)
        for test in passed:
            test.reached = {places[offset] for offset in test.offsets}
        # What did not pass is tried again the next time: it may have failed because the machine was busy.
        told.update({test.program: (test.built_as, test.wall_s, test.processor_s, sorted(test.reached)) for test in passed})
        with open(kept, "w", encoding="utf-8") as file:
            json.dump({"form": FORM, "library": self.digest([library]), "tests": told}, file)
        return known + passed

    def known(self, path, library):
        """What was noted of tests over the library as it is now: {program: (what it was built as, its seconds, those of
        processors, what it reached)}."""
        if not os.path.exists(path):
            return {}
        with open(path, encoding="utf-8") as file:
            noted = json.load(file)
        return noted["tests"] if (noted.get("form"), noted.get("library")) == (FORM, self.digest([library])) else {}

    @staticmethod
    def digest(paths):
        sums = hashlib.sha256()
        for path in paths:
            for each in sorted(glob.glob(os.path.join(path, "*.py"))) if os.path.isdir(path) else [path]:
                with open(each, "rb") as file:
                    sums.update(file.read())
        return sums.hexdigest()
