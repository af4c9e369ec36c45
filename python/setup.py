# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml cannot say: a wheel carries a library of this platform, and needs no particular Python."""
import sysconfig

from setuptools import setup

setup(options={"bdist_wheel": {"plat_name": sysconfig.get_platform()}})
