#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands and options are the same in --help, in the man pages and in the completion; so are the examples' files."""
import os
import re
import shutil
import signal
import socket
import subprocess

from support import SOURCE, CliTest, child, commands, environment, main, read, takes_long
import support

MAN = os.path.join(SOURCE, "docs", "fabricast.1")
MODELS = os.path.join(SOURCE, "models", "models.h")
KINDS = {"fabric": "FABRICS", "route": "ROUTES", "fidelity": "NETS", "congestion": "CONGESTIONS", "algorithm": "ALGORITHMS",
         "collectives": "LIBRARIES", "compute": "COMPUTES", "shape": "SHAPES", "job": "WORKLOADS"}
COMPLETION = os.path.join(SOURCE, "cli", "completion", "fabricast.bash")
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")


def plain(roff):
    """Without fonts, macros and escapes of dashes."""
    text = re.sub(r"\\f[RBIP]", "", roff).replace("\\-", "-").replace("\\&", "")
    return re.sub(r"^\.[A-Z]+ ?", "", text, flags=re.M).replace('"', "")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


class Manual(CliTest):
    def commands(self):
        return commands(self.good("--help"))

    def options(self, command):
        """["-b", "--minbytes", ...]"""
        block = self.good(command, "--help").split("Options:\n")[1].split("\n\n")[0]
        heads = [re.match(r"  (?:(-\w), )?(--[\w-]+)", line) for line in block.splitlines()]
        return [option for head in heads for option in head.groups() if option]

    def page(self, command):
        return self.good(command, "--help-as=man")

    def test_overview_lists_every_command(self):
        listed = re.findall(r"^  ([a-z0-9]+) {2,}(\S.*)$", self.good("--help"), re.M)
        text = plain(read(MAN).split(".SH COMMANDS")[1].split(".SH")[0])
        self.assertEqual(re.findall(r"^fabricast-(\w+) \(1\)\n(.*)$", text, re.M), listed)

    def test_pages_have_every_option(self):
        for command in self.commands():
            text = plain(self.page(command))
            heads = re.findall(r"^(?:(-\w), )?(--[\w-]+)", text.split("OPTIONS\n")[1].split("\nEXAMPLES")[0], re.M)
            self.assertEqual([option for head in heads for option in head if option], self.options(command), command)

    def test_pages_are_clean(self):
        pages = [MAN]
        for command in self.commands():
            pages.append(self.write(f"fabricast-{command}.1", self.page(command)))
        if shutil.which("man"):
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", *pages], capture_output=True,
                                  text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        if shutil.which("mandoc"):
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "error", *pages], capture_output=True, text=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_exit_codes(self):
        text = plain(read(MAN).split(".SH EXIT STATUS")[1].split(".SH")[0])
        self.assertEqual(re.findall(r"^\d$", text, re.M), ["0", "1", "2", "3"])

    def test_no_command_is_forgotten_in_help(self):
        for command in self.commands():
            self.assertEqual(self.good("help", command), self.good(command, "--help"))


class Examples(CliTest):
    """Once, and not under sanitizers too: golden cases run such commands there."""

    def check_served(self, line, env):
        """It says where it is, and ends when it is told to."""
        line = re.sub(r" --port \d+", "", line) + " --port 0"
        served = child.start(self, ["bash", "-c", "exec " + line], cwd=self.directory, env=env)
        served.runs_until(lambda: "\n" in served.out, "it says where it is")
        served.send_signal(signal.SIGINT)
        code, said, problems = served.wait()
        if code != 3:  # built without libsoup or D3
            self.assertEqual((code, problems), (0, ""))
            self.assertRegex(said, r" is at http://127\.0\.0\.1:\d+/ ")

    def make_profile(self, env):
        """A folder of traces, for the examples that read one."""
        for line in ("run scenarios/hello.yaml --no-band --iterations 2 --db profile.db",
                     "trace --db profile.db --format kineto -o profile"):
            subprocess.run(["bash", "-c", "fabricast " + line], cwd=self.directory, env=env, capture_output=True, check=True)

    def test_examples_of_help_work(self):
        for name in ("scenarios", "docs", "validate"):
            os.symlink(os.path.join(SOURCE, name), self.path(name))
        os.mkdir(self.path("bin"))
        os.symlink(support.PROGRAM, self.path("bin", "fabricast"))
        env = {**environment(), "PATH": self.path("bin") + ":" + os.environ["PATH"]}
        for command in Manual.commands(self):
            examples = self.good(command, "--help").split("Examples:\n")[1].strip("\n").splitlines()
            self.assertTrue(examples)
            for example in examples:
                with self.subTest(example):
                    line = re.sub(r"> docs/\S*/", "> ", example.strip())
                    self.assertRegex(line, rf"\A(?:fabricast [^|]*\| )?fabricast {command}")
                    if "--listen :7471" in line:  # which others on this machine may have
                        port = str(free_port())
                        line = line.replace(":7471", ":" + port).replace("--peer localhost", "--peer localhost:" + port)
                    if takes_long(line):
                        continue
                    if command == "explore":
                        self.check_served(line, env)
                        continue
                    shutil.rmtree(self.path("profile"), ignore_errors=True)
                    if "import trace" in line:
                        self.make_profile(env)
                    done = subprocess.run(["bash", "-c", line], cwd=self.directory, env=env, capture_output=True,
                                          text=True, check=False)
                    if "measure compute" in line and done.returncode == 3:  # there is no GPU here
                        self.assertIn("libcuda", done.stderr)
                        continue
                    if "--calibrate" in line:  # a simulated job has no shapes of kernels
                        self.assertEqual((done.returncode, "record_shapes=True" in done.stderr), (2, True), done.stderr)
                        continue
                    self.assertIn(done.returncode, (0, 1) if command == "validate" else (0,), done.stderr)


class Completion(CliTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        os.symlink(support.PROGRAM, self.path("bin", "fabricast"))
        self.env = {**environment(), "PATH": self.path("bin") + ":" + os.environ["PATH"]}

    def complete(self, *words):
        """What <Tab> offers after `fabricast WORD...`, the last of which is being written."""
        script = ('source "$1"; shift; COMP_WORDS=(fabricast "$@"); COMP_CWORD=$#; COMPREPLY=();'
                  ' _fabricast fabricast "${@: -1}" "${COMP_WORDS[COMP_CWORD - 1]}"; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, "bash", COMPLETION, *words], cwd=self.directory, env=self.env,
                              capture_output=True, text=True, check=True)
        return done.stdout.split()

    def test_commands(self):
        offered = self.complete("")
        for command in Manual.commands(self):
            self.assertIn(command, offered)
        self.assertEqual(self.complete("col"), ["collective"])

    def test_every_option(self):
        for command in Manual.commands(self):
            wanted = {option for option in Manual.options(self, command) if option.startswith("--")}
            offered = {option for option in self.complete(command, "--") if option.startswith("--")}
            self.assertEqual(offered, wanted, command)

    def test_values(self):
        self.assertEqual(self.complete("collective", "--node", "dgx-a"), ["dgx-a100"])
        self.assertEqual(self.complete("collective", "--nic", "opa-"), ["opa-100", "opa-cn5000", "opa-cn6000"])
        self.assertEqual(self.complete("run", "--format", "j"), ["json"])
        self.assertEqual(self.complete("run", "--format", "=", "j"), ["json"])
        self.assertIn("fluid", self.complete("run", "--fidelity", ""))
        self.assertEqual(self.complete("compare", "--fidelity", "analytic,fl"), ["analytic,fluid"])
        self.assertEqual(self.complete("compare", "--against", "ana"), ["analytic"])
        self.assertEqual(self.complete("describe", "no"), ["nodes"])
        self.assertEqual(self.complete("query", "expo"), ["exposed", "exposure"])
        self.assertEqual(self.complete("run", "hel"), ["hello"])

    def test_models(self):
        """What describe and completion list of models are the rows of models/models.h, in their order."""
        rows = {name: re.findall(r"\bM \((\w+)\)", body)
                for name, body in re.findall(r"^#define FAB_(\w+)\(M\)((?:.*\\\n)*.*)\n", read(MODELS), re.M)}
        overview = dict(line.split(maxsplit=1) for line in self.good("describe").splitlines())
        self.assertEqual(set(rows), set(KINDS.values()))
        for section, kind in KINDS.items():
            with self.subTest(section):
                self.assertEqual(self.complete("describe", section, ""), rows[kind])
                self.assertEqual(overview[section], ", ".join(rows[kind]))

    def test_flags_take_no_value(self):
        self.assertIn("exposed", self.complete("query", "--format", "csv", ""))
        self.write("my.yaml", "")
        for command, flag in (("run", "--no-db"), ("check", "--quiet")):
            self.assertEqual(self.complete(command, flag, "my"), ["my.yaml"])


if __name__ == "__main__":
    main()
