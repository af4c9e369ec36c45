# SPDX-License-Identifier: Apache-2.0
"""The Python module, over the library of the build (FABRICAST_LIBRARY)."""
import json
import os
import re
import signal
import subprocess
import sys

import fabricast as fc
import pytest
from fabricast import _api

ROOT = os.environ["FAB_SOURCE_DIR"]
sys.path.insert(0, os.path.join(ROOT, "tests/support"))
import child  # noqa: E402 pylint: disable=wrong-import-position,wrong-import-order
HELLO = os.path.join(ROOT, "scenarios/hello.yaml")


def test_same_figures_as_the_program():
    result = fc.load(HELLO).run()
    told = json.loads(subprocess.run([os.environ["FABRICAST_PROGRAM"], "run", "--no-db", "--no-band", "--format", "json", HELLO],
                                     check=True, capture_output=True, text=True).stdout)
    last = told["iterations"][-1]
    for name in ("step_s", "compute_s", "exposed_s", "idle_s", "mfu_fraction"):
        assert result[name] == pytest.approx(last[name], rel=1e-11)
    assert result["binding_link"] == told["binding_link"]
    assert result["step_low_s"] is None


def test_signatures_are_those_of_the_header():
    with open(os.path.join(ROOT, "lib/fabricast.h"), encoding="utf-8") as file:
        parts = file.read().split("#ifdef FABRICAST_UNSTABLE")
    for text, signatures in zip(parts, (_api.SIGNATURES, _api.UNSTABLE)):
        declared = dict(re.findall(r"FABRICAST_API [^;(]*?fabricast_(\w+) \(([^;]*)\);", text))
        assert set(declared) == set(signatures)
        for name, arguments in declared.items():
            n = 0 if arguments == "void" else arguments.count(",") + 1
            assert len(signatures[name]) - 1 == n, name


def test_what_the_library_cannot_hold_is_refused():
    """A number beyond its bits was another number, and a text ended at its first NUL."""
    scenario = fc.load(HELLO)
    scenario["cluster.nodes"] = 2
    for number in (2**70, 2**63, 2**64 + 4, -2**63 - 1):
        with pytest.raises(fc.Misuse, match="is not from"):
            scenario["cluster.nodes"] = number
    for sizes in ([2**64 + 8], [8, -1]):
        with pytest.raises(fc.Misuse, match="is not from"):
            scenario.collective("all_reduce", sizes)
    network = fc.Network(scenario)
    for arguments in ((2**32, 1, 8), (0, 2**32 + 1, 8), (0, 1, 2**64 + 8), (0, -1, 8)):
        with pytest.raises(fc.Misuse):
            network.send(*arguments)
    with pytest.raises(fc.Misuse, match="is not from"):
        network.collective("all_reduce", 8, ranks=[0, 2**32 + 1])
    assert network.next_ps is None
    for wrong in (lambda: scenario.set("name=a\0b"), lambda: scenario["clus\0ter.nodes"], lambda: scenario.sweep(vary=["cluster.nodes=1\0,2"]),
                  lambda: fc.new(name="a\0b"), lambda: fc.load(HELLO + "\0x"), lambda: fc.describe("links\0")):
        with pytest.raises(fc.Misuse, match="NUL"):
            wrong()
    for key, setting in ((3, 1), ("name", b"x"), ("cluster.nic_rate", (1, 2)), ("cluster.nic_rate", (1, "Gb/s", 2))):
        with pytest.raises(TypeError):
            scenario[key] = setting
    assert (scenario["cluster.nodes"], scenario["name"]) == (2, "hello")


def test_keys():
    scenario = fc.load(HELLO)
    other = scenario.copy()
    other["cluster.nodes"] = 2
    other["cluster.nic_rate"] = (100, "Gb/s")
    other["job.bucket"] = "50MiB"
    assert other["cluster.nic_rate"] == 12_500_000_000
    assert other["job.bucket"] == 50 << 20
    assert scenario["cluster.nodes"] == 1
    assert other.run()["step_s"] > scenario.run()["step_s"]
    assert "nodes: 2" in other.yaml


def test_errors_have_places():
    with pytest.raises(fc.InputError) as caught:
        fc.parse("name: x\ncluster: {node: dgx-a100, nodez: 2}\njob: {kind: ddp}\n", "x.yaml")
    assert (caught.value.issues[0].file, caught.value.issues[0].line) == ("x.yaml", 2)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(fc.FileError):
        fc.load("/nowhere/x.yaml")
    with pytest.raises(fc.InputError):
        fc.load(HELLO).run()["no_such_figure"]  # pylint: disable=expression-not-assigned


def test_tables_outlive_results():
    table = fc.load(HELLO).run().table("iteration")
    column = table["step_ps"]
    n = len(table)
    del table
    assert len(column) == n and column[0] > 0


def test_studies():
    scenario = fc.load(HELLO)
    seen = []
    points = scenario.sweep(vary="cluster.nodes=1..4:x2", progress=lambda done, everything: seen.append((done, everything)))
    assert points["cluster.nodes"] == ["1", "2", "4"] and seen[-1] == (3, 3)
    one, two = scenario.sweep(vary="cluster.nodes=1,2")["global_batch"]
    assert two == 2 * one and list(scenario.sweep(vary="cluster.nodes=1,2", hold="batch")["global_batch"]) == [one, one]
    tried = scenario.size("cluster.nodes=1..4:x2", "exposed<=90%")
    assert list(tried["is_answer"])[0] == 1
    rows = fc.new(cluster__node="dgx-h100", cluster__nodes=1).collective("all_reduce", [1 << 20, 1 << 30]).rows()
    assert rows[1]["busbw_GBps"] > rows[0]["busbw_GBps"] > 0


def test_progress_may_stop_the_work():
    def stop(_done, _all):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fc.load(HELLO).run(progress=stop)


def test_ctrl_c_stops_a_sweep():
    """An interrupt from outside, as the key sends it; the program goes on and can sweep again."""
    program = ("import fabricast as fc, sys\n"
               "s = fc.load(sys.argv[1])\n"
               "try:\n"
               "    s.sweep(vary='cluster.nic_rate=1..100000Gb/s', progress=lambda done, n: print(done, flush=True))\n"
               "except KeyboardInterrupt:\n"
               "    print('stopped', len(s.sweep(vary='cluster.nodes=1,2')), flush=True)\n")
    process = child.Child([sys.executable, "-c", program, HELLO], {})
    try:
        child.until(lambda: process.out, "the sweep tells how far it is")
        process.send_signal(signal.SIGINT)
        child.until(lambda: process.returncode is not None, "it ends")
        assert (process.returncode, process.err, process.out.splitlines()[-1]) == (0, "", "stopped 2")
    finally:
        process.stop()


def test_network_is_driven():
    scenario = fc.load(HELLO)
    network = fc.Network(scenario)
    seen = []
    assert network.ranks == 8 and network.now_ps == 0 and network.next_ps is None
    network.send(0, 1, 1 << 30, lambda time_ps: network.send(1, 2, 1 << 30, seen.append))
    network.at(5, seen.append)
    network.send(3, 4, 1 << 20)
    end_ps = network.advance()
    assert seen == [5, end_ps] and network.next_ps is None
    alone = fc.Network(scenario)
    alone.collective("all_reduce", 1 << 30)
    job = scenario.copy().set("iterations=1", "job={kind: collective, operations: [{op: all_reduce, size: 1GiB}]}")
    assert alone.advance() == job.run().table("iteration")["step_ps"][0]
    assert {"bytes_per_s", "latency_ps"} & set(network.links().columns)


def test_network_raises():
    network = fc.Network(fc.load(HELLO))
    with pytest.raises(fc.Misuse):
        network.send(0, 99, 1, print)
    with pytest.raises(fc.InputError):
        network.collective("all_refuse", 1)

    def refuse(_time_ps):
        raise LookupError("mine")

    network.send(0, 1, 1, refuse)
    with pytest.raises(LookupError, match="mine"):
        network.advance()
    assert network.advance() == network.now_ps


def test_html_and_frames():
    result = fc.load(HELLO).run()
    assert "binding_link" in result._repr_html_()
    assert "<table>" in result.table("exposure")._repr_html_()
    pandas = pytest.importorskip("pandas")
    assert isinstance(result.table("iteration").to_pandas(), pandas.DataFrame)


def test_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    assert fc.load(HELLO).run().plot().get_xlabel() == "seconds of a step"


def test_one_name_in_runs_and_sweeps():
    """Every figure of a sweep's point is a figure of the run of that point, by the same name and with the same value."""
    scenario = fc.load(HELLO)
    points = scenario.sweep(vary="cluster.nodes=1")
    result = scenario.run()
    names = [name for name in points.columns if name not in ("cluster.nodes", "point", "settings", "problem", "verdict")]
    row = points.rows()[0]
    assert "step_s" in names and "usd_per_step" in names
    for name in names:
        assert result[name] == row[name] or result[name] == pytest.approx(row[name], rel=1e-12), name
    assert [name for name in result.to_dict() if name.endswith("duration_s")] == []
    steps = result.table("iteration")
    assert "step_ps" in steps and steps["step_ps"][-1] == result["step_ps"]


def test_objects_come_from_functions():
    """The library would read the path of a scenario as the address of one."""
    for made, names in ((fc.Scenario, "load"), (fc.Result, "run"), (fc.Table, "describe")):
        for wrong in (HELLO, None, 0):
            with pytest.raises(TypeError, match=f"comes from .*{names}.* is not made of {re.escape(repr(wrong))}"):
                made(wrong)


def test_what_is_missing_lists_the_names():
    scenario = fc.load(HELLO)
    result = scenario.run()
    asked = {
        "there is no column 'duration_ps'; there are iteration, start_ps, step_ps": lambda: result.table("iteration")["duration_ps"],
        "there is no figure 'duration_s'; there are name, fidelity,": lambda: result["duration_s"],
        "there is no table 'steps'; there are iteration, ": lambda: result.table("steps"),
        "unknown key 'nodez'; nearest is 'nodes'; known here: node, ": lambda: scenario["cluster.nodez"],
        "unknown key 'nodez'; nearest is 'nodes'": lambda: scenario.sweep(vary="cluster.nodez=1,2"),
    }
    for message, ask in asked.items():
        with pytest.raises((KeyError, fc.InputError)) as caught:
            ask()
        assert message in str(caught.value), str(caught.value)


def test_a_bar(capsys, monkeypatch):
    """Without tqdm a line is written again; with it, the bar is tqdm's."""
    scenario = fc.load(HELLO)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert len(scenario.sweep(vary="cluster.nodes=1,2", progress=True)) == 2
    assert re.search(r"2 of 2 points, \d+ s\n\Z", capsys.readouterr().err)
    seen = []

    class Tqdm:
        def __init__(self, unit):
            self.n, self.total, self.unit = 0, None, unit

        def update(self, n):
            self.n += n

        def refresh(self):
            seen.append((self.n, self.total, self.unit))

        def close(self):
            seen.append("closed")

    class Module:
        tqdm = Tqdm

    monkeypatch.setitem(sys.modules, "tqdm", Module)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: Module if name == "tqdm" else None)
    scenario.sweep(vary="cluster.nodes=1,2", progress=True)
    assert seen[-2:] == [(2, 2, " point"), "closed"]
