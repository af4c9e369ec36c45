# SPDX-License-Identifier: Apache-2.0
"""Recipe for Spack, of a checkout: copy it into a repository of your own as packages/fabricast/package.py, set `git` to
where your copy of Fabricast is, and `spack install fabricast`."""
from spack.package import *


class Fabricast(MesonPackage):
    """Simulator of GPU training fabrics: step time, exposed communication and the link that binds."""

    license("Apache-2.0")

    version("main", branch="main")

    variant("explore", default=False, description="Build the server of fabricast explore")
    variant("mpi", default=False, description="Build the modules that use MPI")

    depends_on("c", type="build")
    depends_on("meson@0.61:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type="build")
    depends_on("glib@2.66:")
    depends_on("json-glib@1.6:")
    depends_on("libyaml")
    depends_on("zlib-api")
    depends_on("sqlite@3.37:")
    depends_on("libsoup@3:", when="+explore")
    depends_on("mpi", when="+mpi")

    def meson_args(self):
        return [
            "-Dtests=disabled",
            "-Dexplore=" + ("enabled" if self.spec.satisfies("+explore") else "disabled"),
            "-Dmeasure=" + ("auto" if self.spec.satisfies("+mpi") else "disabled"),
        ]
