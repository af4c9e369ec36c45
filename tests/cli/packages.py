#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the build installs, and what debian/*.install, the recipes and the pages say of it; without a package built.
`./dev package --check` builds the packages and installs them in a bare Debian."""
import ast
import datetime
import email.utils
import fnmatch
import glob
import json
import os
import re
import subprocess
import unittest

import support
from support import SOURCE, CliTest, main, read

BUILD = os.environ.get("FAB_BUILD_DIR", "")
MESON = os.environ.get("FAB_MESON") or "meson"
LIBRARY_MODULES = "usr/lib/*/fabricast/fabricast-*.so"  # of libraries that need not be here


def introspected(what):
    done = subprocess.run([MESON, "introspect", what, BUILD], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return json.loads(done.stdout)


def install_lines():
    """(package, pattern) of each line of debian/*.install."""
    for path in sorted(glob.glob(os.path.join(SOURCE, "debian", "*.install"))):
        for line in read(path).splitlines():
            yield os.path.basename(path).removesuffix(".install"), line.split()[0]


def installed():
    """Files of the install plan as a package has them: below usr/, libraries below usr/lib/ARCHITECTURE."""
    options = {option["name"]: option["value"] for option in introspected("--buildoptions")}
    prefix, libdir = options["prefix"], os.path.join(options["prefix"], options["libdir"])
    for path in introspected("--installed").values():
        below = os.path.relpath(path, libdir)
        yield "usr/" + (os.path.relpath(path, prefix) if below.startswith("..") else "lib/any/" + below)


def matches(path, pattern):
    """As dh_install: a pattern names files, or folders with all that is in them."""
    return fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, pattern + "/*")


class Debian(CliTest):
    def test_every_installed_file_is_in_one_package(self):
        try:
            files = sorted(installed())
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("meson is not here")
        lines = list(install_lines())
        for path in files:
            self.assertEqual(len({package for package, pattern in lines if matches(path, pattern)}), 1, path)
        for package, pattern in lines:
            if pattern.startswith("python/"):  # of the sources
                self.assertNotEqual(glob.glob(os.path.join(SOURCE, pattern)), [], pattern)
            elif pattern != LIBRARY_MODULES and "*.so.*" not in pattern:
                self.assertTrue(any(matches(path, pattern) for path in files), f"{package}: nothing is like {pattern}")

    def test_packages_have_a_list(self):
        named = set(re.findall(r"^Package: (\S+)$", read(SOURCE, "debian", "control"), re.M))
        self.assertEqual(named, {package for package, _ in install_lines()})

    def test_build_dependencies(self):
        """`./dev` installs what the packages are built with."""
        control = read(SOURCE, "debian", "control").split("Build-Depends:")[1].split("\n\n")[0]
        names = set(re.findall(r"^ ([a-z0-9.-]+)", control, re.M)) - {"debhelper-compat"}
        known = set(re.findall(r"^  '[^|']+\|([^']+)'$", read(SOURCE, "dev"), re.M))
        self.assertEqual(names - known, set())


class Version(CliTest):
    def test_one_version(self):
        version = re.search(r"^  version: '([0-9.]+)'", read(SOURCE, "meson.build"), re.M)[1]
        self.assertRegex(self.good("--version"), rf"^fabricast {re.escape(version)}(\+g[0-9a-f]+(-dirty)?)?\n$")
        for name, pattern in (("CITATION.cff", r"^version: (\S+)$"), ("NEWS.md", r"^## ([0-9.]+)"),
                              ("docs/how-to/reproduce.md", r"^  version = \{(\S+)\},$"), ("debian/changelog", r"^fabricast \(([0-9.]+)-\d+\)"), ("packaging/conda/meta.yaml", r'^  version: "(\S+)"$')):
            self.assertEqual(re.search(pattern, read(SOURCE, name), re.M)[1], version, name)

    def test_news(self):
        """The newest entry says what a program and a file of an older version meet."""
        newest = read(SOURCE, "NEWS.md").split("\n## ")[1]
        self.assertRegex(newest, r"(?m)^- ABI: ")
        self.assertRegex(newest, r"(?m)^- Results: ")


class Recipes(unittest.TestCase):
    def options(self):
        return set(re.findall(r"^option\('(\w+)'", read(SOURCE, "meson_options.txt"), re.M))

    def check_options(self, text):
        self.assertLessEqual(set(re.findall(r"-D(\w+)=", text)), self.options())

    def test_container(self):
        lines = re.sub(r"\\\n", " ", read(SOURCE, "packaging", "Containerfile")).splitlines()
        steps = [line.split(None, 1) for line in lines if line and not line.startswith("#")]
        self.assertLessEqual({word for word, _ in steps}, {"FROM", "COPY", "RUN", "ENV", "WORKDIR", "ENTRYPOINT", "CMD"})
        self.assertEqual({rest.split()[0] for word, rest in steps if word == "FROM"}, {"debian:12-slim"})
        for word, rest in steps:
            if word == "RUN":
                subprocess.run(["bash", "-n", "-c", rest], check=True)
            if word in ("ENTRYPOINT", "CMD"):
                self.assertIsInstance(json.loads(rest), list)

    def test_spack(self):
        text = read(SOURCE, "packaging", "spack", "package.py")
        ast.parse(text)
        self.assertIn("class Fabricast(MesonPackage):", text)
        self.check_options(text)

    def test_conda(self):
        yaml, = support.need("yaml")
        text = read(SOURCE, "packaging", "conda", "meta.yaml")
        recipe = yaml.safe_load(text)
        self.assertEqual(recipe["about"]["license"], "Apache-2.0")
        self.assertLessEqual({re.split(r"[ >]", name)[0] for name in recipe["requirements"]["run"]},
                             {re.split(r"[ >]", name)[0] for name in recipe["requirements"]["host"]})
        self.check_options(text)

    def test_citation(self):
        yaml, = support.need("yaml")
        cited = yaml.safe_load(read(SOURCE, "CITATION.cff"))
        # What the format requires (Citation File Format 1.2.0, doi 10.5281/zenodo.5171937), and what a bibliography needs.
        self.assertLessEqual({"cff-version", "message", "title", "authors", "version", "license", "abstract", "keywords", "date-released",
                              "type"}, set(cited))
        self.assertEqual((cited["cff-version"], cited["type"]), ("1.2.0", "software"))
        self.assertRegex(cited["date-released"], r"\A\d{4}-\d\d-\d\d\Z")
        self.assertTrue(all(set(author) & {"name", "family-names", "given-names"} for author in cited["authors"]))
        self.assertEqual(len(set(cited["keywords"])), len(cited["keywords"]))
        self.assertIn(f"License: {cited['license']}", read(SOURCE, "debian", "copyright"))
        changed = email.utils.parsedate_to_datetime(re.search(r"^ -- .*>  (.*)$", read(SOURCE, "debian", "changelog"), re.M)[1])
        self.assertGreaterEqual(datetime.date.fromisoformat(cited["date-released"]), changed.date())


if __name__ == "__main__":
    main()
