#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`meson install` into an empty directory gives a program that needs nothing of the checkout."""
import glob
import json
import os
import re
import shutil
import subprocess
import unittest

import support
from support import CliTest, main

BUILD = os.environ["FAB_BUILD_DIR"]
MESON = os.environ.get("FAB_MESON") or shutil.which("meson")


def build_options():
    text = subprocess.run([MESON, "introspect", "--buildoptions", BUILD], capture_output=True, check=True).stdout
    return {option["name"]: option["value"] for option in json.loads(text)}


@unittest.skipUnless(MESON, "meson is not here")
class Install(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.root = support.new_directory()
        cls.addClassCleanup(shutil.rmtree, cls.root)
        subprocess.run([MESON, "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.root], stdin=subprocess.DEVNULL,
                       capture_output=True, check=True)
        options = build_options()
        cls.folders = {name: os.path.join(cls.root, os.path.join(options["prefix"], options[name]).lstrip("/"))
                       for name in ("bindir", "datadir", "mandir")}
        cls.program = os.path.join(cls.folders["bindir"], "fabricast")

    def installed(self, *args):
        """As from a login without any environment, from somewhere else."""
        return self.good(*args, program=self.program, env={})

    def data(self, *name):
        return os.path.join(self.folders["datadir"], "fabricast", *name)

    def test_describe(self):
        self.assertEqual(self.installed("describe", "links"), self.good("describe", "links"))

    def test_run_an_installed_scenario(self):
        paths = glob.glob(self.data("scenarios", "*.yaml"))
        self.assertEqual(sorted(map(os.path.basename, paths)), sorted(map(os.path.basename, support.SCENARIOS)))
        learn = glob.glob(self.data("scenarios", "learn", "*.yaml"))
        self.assertEqual(sorted(map(os.path.basename, learn)), sorted(map(os.path.basename, support.LEARN)))
        hello = self.data("scenarios", "hello.yaml")
        self.assertIn("slowest link", self.installed("run", "hello"))
        self.assertEqual(self.installed("check", "hello"), self.installed("check", hello))
        self.assertIn("name: learn-02-ring\n", self.installed("check", "02-ring"))
        self.assertEqual(os.listdir(self.directory), ["fabricast.db"])
        self.assertEqual(self.installed("query", "iterations"), self.good("query", "iterations"))

    def test_collective(self):
        self.assertEqual(self.installed("collective", "--node", "dgx-a100", "-b", "1M", "-e", "1G"),
                         self.good("collective", "--node", "dgx-a100", "-b", "1M", "-e", "1G"))

    def test_validate(self):
        answers = [self.fabricast("validate", program=program, env=env).stdout
                   for program, env in ((self.program, {}), (support.PROGRAM, support.environment()))]
        self.assertIn("dgxa100_allreduce_32", answers[0])
        self.assertEqual(answers[0], answers[1])

    def test_moves_with_its_data(self):
        """The installed data are what it reads: elsewhere, with a catalogue cut short, it sees the cut."""
        moved = self.path("moved")
        shutil.copytree(os.path.dirname(self.folders["bindir"]), moved)
        os.remove(os.path.join(moved, "share", "fabricast", "catalog", "nodes-nvidia.yaml"))
        done = self.fabricast("describe", "nodes", "--names", program=os.path.join(moved, "bin", "fabricast"), env={})
        self.assertNotIn("dgx-a100", done.stdout)

    def test_through_a_link(self):
        os.symlink(self.program, self.path("fab"))
        self.assertIn("dgx-a100", self.good("describe", "nodes", program=self.path("fab"), env={}))

    def test_manual_and_completion(self):
        pages = {f"fabricast-{name}.1" for name in support.commands(self.installed("--help"))} | {"fabricast.1"}
        self.assertEqual(set(os.listdir(os.path.join(self.folders["mandir"], "man1"))), pages)
        for shell, *place in ("zsh", "zsh", "site-functions", "_fabricast"), ("fish", "fish", "vendor_completions.d", "fabricast.fish"):
            with open(os.path.join(self.folders["datadir"], *place), encoding="utf-8") as file:
                self.assertEqual(file.read(), self.installed("help", "completion", shell))
        completion = os.path.join(self.folders["datadir"], "bash-completion", "completions", "fabricast")
        self.assertTrue(os.path.isfile(completion))
        subprocess.run(["bash", "-n", completion], check=True)

    def test_tables_of_links(self):
        names = os.listdir(self.data("measured", "links"))
        self.assertEqual(sorted(names), sorted(os.listdir(os.path.join(support.SOURCE, "validate", "measured", "links"))))

    @unittest.skipUnless(shutil.which("pkg-config") and shutil.which("cc"), "no pkg-config or C compiler is here")
    def test_program_over_the_library(self):
        """examples/figures.c knows what pkg-config says and nothing else; it prints the figures of the program."""
        libraries = os.path.dirname(glob.glob(self.root + "/**/libfabricast.so", recursive=True)[0])
        asked = subprocess.run(["pkg-config", "--cflags", "--libs", "fabricast"], capture_output=True, text=True, check=True,
                               env={"PATH": os.environ["PATH"], "PKG_CONFIG_SYSROOT_DIR": self.root,
                                    "PKG_CONFIG_PATH": os.path.join(libraries, "pkgconfig")}).stdout.split()
        self.assertIn("-lfabricast", asked)
        example = os.path.join(support.SOURCE, "examples", "figures.c")
        subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", example, *asked, "-o", self.path("figures")], check=True)
        for scenario in ("hello", "fsdp-8b-straggler"):
            path = os.path.join(support.SOURCE, "scenarios", scenario + ".yaml")
            printed = subprocess.run([self.path("figures"), path], capture_output=True, text=True, check=True,
                                     env={"LD_LIBRARY_PATH": libraries}).stdout
            told = self.json("run", path, "--no-db", "--no-band")["iterations"][-1]
            self.assertEqual(len(printed.splitlines()), 5)
            for line in printed.splitlines():
                name, value = line.split()
                self.assertEqual(float(value), told[name], name)

    def test_nothing_else(self):
        files = [os.path.relpath(os.path.join(folder, name), self.root)
                 for folder, _, names in os.walk(self.root) for name in names]
        known = ("/bin/fabricast", "/bash-completion/completions/fabricast", "/_fabricast", "/fabricast.fish",
                 "/include/fabricast.h", "/pkgconfig/fabricast.pc", "/libfabricast.so", "/libfabricast.so.0")
        module = re.compile(r"/fabricast/fabricast-(?:measure-[a-z]+|ranks-mpi)\.so$|/libfabricast\.so\.0\.\d+\.\d+$")
        extra = [name for name in files
                 if not name.endswith(known) and "/man1/fabricast" not in name and "/share/fabricast/" not in name and not module.search(name)]
        self.assertEqual(extra, [])
        kinds = {os.path.splitext(name)[1] for name in files if "/share/fabricast/" in name}
        self.assertLessEqual(kinds, {".yaml", ".csv", ".md", ".meas", ".xml", ".json", ".yml", ".toml", ".sh", ".slurm"})


@unittest.skipUnless(MESON and shutil.which("ninja"), "meson or ninja is not here")
class Uninstall(CliTest):
    def test_leaves_nothing(self):
        root = self.path("root")
        os.mkdir(root)
        subprocess.run([MESON, "install", "-C", BUILD, "--no-rebuild", "--destdir", root], stdin=subprocess.DEVNULL,
                       capture_output=True, check=True)
        self.assertNotEqual(os.listdir(root), [])
        subprocess.run(["ninja", "-C", BUILD, "uninstall"], stdin=subprocess.DEVNULL, capture_output=True, check=True)
        self.assertEqual(os.listdir(root), [])


class Place(CliTest):
    """The program finds its source tree through a file of its build directory, and holds no path itself."""

    def test_no_path_of_the_build(self):
        built = [support.PROGRAM, os.path.join(BUILD, "lib", "libfabricast.so.0"),
                 *glob.glob(os.path.join(BUILD, "*", "**", "fabricast-*.so"), recursive=True)]
        for path in built:
            with open(path, "rb") as file:
                content = file.read()
            for folder in BUILD, support.SOURCE:
                self.assertNotIn(os.path.realpath(folder).encode(), content, path)

    def test_a_copied_tree_is_told_so(self):
        """A program whose build directory was copied does not read the tree that it was copied from."""
        if os.path.exists(os.path.join(build_options()["prefix"], build_options()["datadir"], "fabricast")):
            self.skipTest("data of an installed program are found in any case")
        program = shutil.copy(support.PROGRAM, self.path("fabricast"))
        done = self.fabricast("describe", "nodes", program=program, env={})
        self.assertIn("set FABRICAST_DATA to the directory that holds it", done.stderr)
        shutil.copy(os.path.join(BUILD, "fabricast.built"), self.directory)
        done = self.fabricast("describe", "nodes", program=program, env={})
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"was built in {BUILD} and lies in a source tree that was copied or moved", done.stderr)
        self.assertIn("`./dev build` in that tree mends it", done.stderr)

    def test_the_build_directory_has_its_tree(self):
        """Elsewhere, with nothing in the environment, it reads the catalogue of the source tree."""
        self.assertIn("dgx-a100", self.good("describe", "nodes", program=support.PROGRAM, env={}))


class Data(CliTest):
    """A program that does not find its data says where it looked, and what mends it."""

    def refused(self, folder):
        done = self.fabricast("check", "--quiet", "hello", env={**support.environment(), "FABRICAST_DATA": folder})
        self.assertEqual(done.returncode, 2)
        return done.stderr

    def test_a_wrong_folder_is_named(self):
        self.assertIn("FABRICAST_DATA is '/nowhere', which is no folder", self.refused("/nowhere"))
        self.assertIn(f"FABRICAST_DATA is '{self.directory}', which holds no catalog/", self.refused(self.directory))


class BuildTree(CliTest):
    def test_path(self):
        """What `./dev run` prints puts the program of the build directory on the path."""
        env = {**support.environment(), "BUILD_DIR": BUILD}
        line = subprocess.run([os.path.join(support.SOURCE, "dev"), "path"], env=env, capture_output=True, text=True, check=True).stdout
        done = subprocess.run(["bash", "-c", line + "command -v fabricast"], env=env, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.strip(), os.path.join(BUILD, "fabricast"))


if __name__ == "__main__":
    main()
