# SPDX-License-Identifier: Apache-2.0
"""fabricast: simulate GPU training fabrics from Python, over libfabricast and ctypes.

    import fabricast as fc

    s = fc.load("scenarios/hello.yaml")
    s["cluster.nodes"] = 4
    r = s.run(band=True)
    print(r["step_s"], r["binding_link"])
    for row in r.table("collective").rows():
        print(row["name"], row["end_ps"] - row["start_ps"])
"""
from ._api import FabricastError, InputError, FileError, Unsupported, Hung, Oversized, Cancelled, Misuse, Broken, Issue, version
from .core import Context, Result, Scenario, Table, describe, load, new, parse
from .network import Network

__all__ = ["Context", "Result", "Scenario", "Table", "Network", "load", "parse", "new", "describe", "version", "Issue", "FabricastError",
           "InputError", "FileError", "Unsupported", "Hung", "Oversized", "Cancelled", "Misuse", "Broken"]
__version__ = version()
