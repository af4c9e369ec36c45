# SPDX-License-Identifier: Apache-2.0
"""harness.py - one library of everything that tests use, programs of tests over it, and which functions each reaches.

A mutant is one source compiled again, in a small library that is loaded before the large one (LD_PRELOAD): nothing else
is compiled or linked. What is compiled, and how, is what the build directory says in compile_commands.json.
"""
import concurrent.futures
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import tempfile
import time

ROOMS = ("sim/libfab_sim.a.p/", "formats/libfab_formats.a.p/", "models/libfab_models.a.p/", "answer/libfab_answer.a.p/",
         "validate/libfab_validate.a.p/", "validate/measure/libfab_measure.a.p/", "validate/measure/libfab_measure_support.a.p/",
         "fabricast.p/")
PACKAGES = ("glib-2.0", "gio-2.0", "gmodule-no-export-2.0", "json-glib-1.0", "yaml-0.1", "sqlite3", "zlib", "libsoup-3.0", "cmocka")
DROPPED = re.compile(r"-g\d?|-O\w|-W.*|-fvisibility=.*|-fstack-.*|-fcf-protection.*|-mbranch-protection.*|-[UD]_FORTIFY_SOURCE.*|-MD")
SUITES = ("unit", "property", "registry")
MEMORY_BYTES = 4 << 30


def processors():
    return len(os.sched_getaffinity(0))


def introspected(build, what):
    return json.loads(subprocess.run(["meson", "introspect", what, build], capture_output=True, check=True).stdout)


def quiet(command, folder):
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)


class Test:
    def __init__(self, told):
        self.name = told["name"]
        self.suite = next(suite.split(":")[-1] for suite in told["suite"] if suite.split(":")[-1] in SUITES)
        self.built = told["cmd"][0]
        self.environment = told["env"]
        self.folder = os.path.dirname(self.built)
        self.program = None
        self.seconds = 0.0
        self.reached = set()  # (file, line) where a function begins

    def run(self, harness, limit_s, **more):
        """The exit status; None: it took longer than the limit."""
        environment = {**os.environ, **self.environment, "LD_LIBRARY_PATH": harness.folder, **more}
        with tempfile.TemporaryDirectory(dir=harness.folder) as place:
            process = subprocess.Popen([self.program], cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True,
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)))
            try:
                return process.wait(limit_s)
            except subprocess.TimeoutExpired:
                return None
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)  # children too
                except ProcessLookupError:
                    pass
                process.wait()


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
        here = [name for name in PACKAGES if subprocess.run(["pkg-config", "--exists", name]).returncode == 0]
        self.libraries = subprocess.run(["pkg-config", "--libs", *here], capture_output=True, text=True, check=True).stdout.split()
        self.libraries += ["-lm", "-ldl"]

    def compile(self, row, into, source=None, extra=("-O1", "-g0")):
        """Compiles a row of compile_commands.json, or another text in the place of its source. What the compiler says."""
        words = shlex.split(row["command"])
        command = [word for word in words[:words.index("-MQ")] if not DROPPED.fullmatch(word)]
        command += [*extra, "-w", "-fPIC", "-o", into, "-c"]
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

    def make(self, say):
        """Builds the library and the programs of tests. The tests that could be linked."""
        self.newest_header = max(os.path.getmtime(os.path.join(folder, name))
                                 for room in ("sim", "formats", "models", "answer", "validate", "cli", "tests/support")
                                 for folder, _, names in os.walk(os.path.join(self.root, room)) for name in names
                                 if name.endswith(".h"))
        say(f"compiling {len(self.sources)} sources and the tests; the first time takes minutes")
        objects = self.objects(list(self.sources.values()), ("-O1", "-g1", "-finstrument-functions"))
        reach = os.path.join(self.folder, "reach.o")
        library = os.path.join(self.folder, "libeverything.so")
        quiet(["cc", "-O1", "-fPIC", "-c", os.path.join(os.path.dirname(os.path.abspath(__file__)), "reach.c"), "-o", reach], self.folder)
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
        tests = [Test(told) for told in introspected(self.build, "--tests")
                 if set(SUITES) & {suite.split(":")[-1] for suite in told["suite"]} and "/tests/" in told["cmd"][0]]
        own = {test: [row for output, row in self.rows.items() if output.startswith(os.path.relpath(test.built, self.build) + ".p/")
                      and "/tests/" in os.path.abspath(os.path.join(self.build, row["file"]))] for test in tests}
        self.objects([row for rows in own.values() for row in rows], ("-O1", "-g0"))
        linked = []
        for test in tests:
            test.program = os.path.join(self.folder, "program__" + os.path.basename(test.built))
            objects = [*self.objects(own[test], ("-O1", "-g0")), *support]
            if os.path.exists(test.program) and os.path.getmtime(test.program) > max(map(os.path.getmtime, objects)):
                linked.append(test)
                continue
            done = quiet(["cc", "-o", test.program, *objects, "-L" + self.folder, "-leverything",
                          *self.libraries], self.folder) if own[test] else None
            if done is not None and done.returncode == 0:
                linked.append(test)
            else:
                say(f"the test {test.name} is left out: it needs more than the rooms")
        return linked

    def trace(self, tests, say):
        """Runs each test once: its time, and the functions that it enters. The tests that pass."""
        library = os.path.join(self.folder, "libeverything.so")
        kept = os.path.join(self.folder, "reached.json")
        if os.path.exists(kept) and os.path.getmtime(kept) > max(os.path.getmtime(path) for path in
                                                                 (library, *(test.program for test in tests))):
            with open(kept, encoding="utf-8") as file:
                told = json.load(file)
            for test in tests:
                test.seconds, reached = told.get(test.program, (0, []))
                test.reached = {(path, line) for path, line in reached}
            return [test for test in tests if test.program in told]
        say("running each test once, to know what it reaches")

        def one(test):
            path = os.path.join(self.folder, "reached__" + os.path.basename(test.built))
            begin = time.monotonic()
            status = test.run(self, 300, FAB_REACH=path)
            test.seconds = time.monotonic() - begin
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
        told = subprocess.run(["addr2line", "-e", library], input="\n".join(map(hex, offsets)), capture_output=True, text=True, check=True)
        places = {}
        for offset, line in zip(offsets, told.stdout.splitlines()):
            path, _, number = line.split(" (")[0].rpartition(":")
            places[offset] = (os.path.normpath(path), int(number) if number.isdigit() else 0)
        for test in passed:
            test.reached = {places[offset] for offset in test.offsets}
        with open(kept, "w", encoding="utf-8") as file:
            json.dump({test.program: (test.seconds, sorted(test.reached)) for test in passed}, file)
        return passed
