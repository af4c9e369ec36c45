# SPDX-License-Identifier: Apache-2.0
"""The wheel: it is built, installed in an environment of its own, and simulates there without anything of the checkout."""
import importlib.util
import os
import shutil
import subprocess
import sys

import pytest

ROOT = os.environ["FAB_SOURCE_DIR"]


MODULES = ("pip", "setuptools", "wheel", "venv")


@pytest.mark.skipif(None in map(importlib.util.find_spec, MODULES), reason="one of " + ", ".join(MODULES) + " is missing")
def test_wheel(tmp_path):
    plain = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "FABRICAST_LIBRARY")}
    made = subprocess.run([sys.executable, os.path.join(ROOT, "python/wheel.py"), os.environ["FABRICAST_LIBRARY"], tmp_path / "wheels"],
                          env=plain, check=True, capture_output=True, text=True).stdout.strip()
    assert os.path.basename(made).startswith("fabricast_sim-") and "-py3-none-linux_" in made
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", tmp_path / "there"], env=plain, check=True)
    python = tmp_path / "there/bin/python3"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", made], env=plain,
                   check=True)
    shutil.copy(os.path.join(ROOT, "scenarios/hello.yaml"), tmp_path)
    program = "import fabricast as fc; print(fc.__file__, fc.load('hello.yaml').run()['step_s'] > 0)"
    told = subprocess.run([python, "-c", program], env=plain, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split()
    assert told == [str(next((tmp_path / "there").glob("lib/python3*/site-packages/fabricast/__init__.py"))), "True"]
