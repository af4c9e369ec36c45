#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast measure verbs` between two processes, over a libibverbs without an adapter (tests/support/fake_verbs).

MODULE_DIRECTORY holds the libraries that stand in for libibverbs.so.1 and libcuda.so.1. What is measured here is how
fast processes share memory; that it is measured, of what, and what goes wrong is the same as with an adapter. A write
alone is seen by the bytes that it leaves in the other process: without them its latency would never end.
"""
import contextlib
import os
import signal
import sqlite3
import sys

import support

FAKES = os.path.abspath(sys.argv.pop(2))
SHORT = ["--min-samples", "6", "--max-samples", "6", "--time", "0.01", "--timeout", "20"]
WAITS = r"Waits for the other end on port (\d+)\."


class VerbsTest(support.CliTest):
    def env(self, devices, cuda=""):
        return {**support.environment(), "LD_LIBRARY_PATH": FAKES, "FAB_FAKE_VERBS": self.directory,
                "FAB_FAKE_DEVICES": devices, "FAB_FAKE_CUDA": cuda}

    def listen(self, devices, *args):
        """The other end, waiting, and its port."""
        process = self.start_program("measure", "verbs", "--listen", "127.0.0.1:0", *args, env=self.env(devices))
        return process, process.wait_for_text(WAITS).group(1)

    def ask(self, devices, port, *args, cuda=""):
        usual = [*SHORT, "-o", "verbs.meas"]
        kept = [word for i in range(0, len(usual), 2) if usual[i] not in args for word in usual[i:i + 2]]
        return self.fabricast("measure", "verbs", "--peer", f"127.0.0.1:{port}", *kept, *args, env=self.env(devices, cuda))

    def series(self):
        return self.json("measure", "show", "verbs.meas")["series"]

    def n_samples(self):
        """In the file by now."""
        with contextlib.closing(sqlite3.connect(f"file:{self.path('verbs.meas')}?mode=ro", uri=True)) as db:
            return db.execute("SELECT count (*) FROM sample").fetchone()[0]

    def log(self):
        """What every queue pair did, as dictionaries."""
        return [dict(word.split("=") for word in line.split()) for line in support.read(self.directory, "log").splitlines()]

    def test_series(self):
        """Kinds, method, ends, window, queue pairs and MTU, and both queue pairs moved what was asked for."""
        _, port = self.listen("ib0")
        done = self.ask("ib0", port, "--sizes", "8,4K", "--window", "16", "--set", "queue_pairs=2", "--set", "mtu=1024")
        self.assertEqual(done.returncode, 0, done.stderr)
        series = {one["kind"]: one for one in self.series()}
        self.assertEqual(set(series), {"latency", "exchange", "bandwidth", "bidirectional"})
        for kind, one in series.items():
            streams = kind in ("bandwidth", "bidirectional")
            self.assertEqual((one["backend"], one["method"], one["from_end"], one["to_end"], one["mtu_bytes"]),
                             ("verbs", "write", "ib0:1@127.0.0.1", "ib0:1@127.0.0.1", 1024))
            self.assertEqual((one["window"], one["n_queue_pairs"]), (16, 2) if streams else (1, 1))
            self.assertEqual([point["size_bytes"] for point in one["points"]], [8, 4096])
            self.assertTrue(all(point["time_ps"] > 0 for point in one["points"]))

    def test_methods_and_log(self):
        """All methods on every active port of one kind; reads are not exchanged, and that is said."""
        other, port = self.listen("ib0 ports=2; ib1 down=1")
        done = self.ask("ib0 ports=2; ib1 down=1", port, "--sizes", "1K", "--kinds", "exchange,bandwidth",
                        "--set", "method=all", "--set", "service_level=2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("there is no exchange of reads", done.stdout + done.stderr)
        seen = sorted((one["kind"], one["method"], one["from_end"]) for one in self.series())
        ends = ("ib0:1@127.0.0.1", "ib0:2@127.0.0.1")
        self.assertEqual(seen, sorted([(kind, method, end) for end in ends for method in ("write", "send", "read")
                                       for kind in ("exchange", "bandwidth") if (kind, method) != ("exchange", "read")]))
        other.send_signal(signal.SIGINT)
        other.wait()
        queues = self.log()
        self.assertEqual(len(queues), 2 * 3 * 2)
        asking = [queue for queue in queues if queue["pid"] != str(other.pid)]
        # Messages of 1 KiB, and of 8 B to time the way there and back.
        self.assertTrue(all(8 * int(queue["messages"]) <= int(queue["bytes"]) <= 1024 * int(queue["messages"])
                            and int(queue["bytes"]) > 1024 for queue in asking), asking)
        self.assertTrue(all((queue["sl"], queue["gid"]) == ("2", "-1") for queue in queues))

    def test_two_ports_of_one_host(self):
        _, port = self.listen("ib0 ports=2", "--set", "device=ib0", "--set", "port=2", "--once")
        done = self.ask("ib0 ports=2", port, "--sizes", "64", "--kinds", "latency", "--set", "device=ib0", "--set",
                        "port=1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(one["from_end"], one["to_end"]) for one in self.series()], [("ib0:1@127.0.0.1", "ib0:2@127.0.0.1")])

    def test_gpu_memory(self):
        """A write alone cannot be watched in a GPU's memory: its bandwidth is measured, and the rest is said."""
        _, port = self.listen("ib0")
        done = self.ask("ib0", port, "--sizes", "4K", "--set", "memory=gpu", "--set", "peer_memory=gpu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted((one["kind"], one["from_memory"], one["to_memory"]) for one in self.series()),
                         [("bandwidth", "gpu", "gpu"), ("bidirectional", "gpu", "gpu")])
        self.assertIn("measure latency there with method=send or method=read", done.stdout + done.stderr)

    def test_mtu_that_differs(self):
        _, port = self.listen("roce0 link=roce mtu=1024")
        done = self.ask("roce0 link=roce", port, "--sizes", "4K", "--kinds", "bandwidth")
        self.assertEqual(done.returncode, 0, done.stderr)
        one, = self.series()
        self.assertEqual((one["mtu_bytes"], one["note"]),
                         (1024, "MTU 1024: roce0:1 has 4096, roce0:1 at the other end 1024"))
        self.assertTrue(all(queue["gid"] == "3" for queue in self.log()))

    def test_not_possible_here(self):
        """Exit code 3 and one sentence."""
        rows = [("", [], "no RDMA device on this machine"),
                ("ib0 down=1", [], "no RDMA port is active: ib0:1 is down"),
                ("ib0", ["--set", "device=mlx5_9"], "no RDMA device is called 'mlx5_9' here; there are ib0"),
                ("ib0", ["--set", "device=ib0", "--set", "port=4"], "ib0 has no port 4")]
        for devices, args, message in rows:
            for ends in (["--peer", "127.0.0.1:1"], ["--listen", "127.0.0.1:0"]):
                done = self.fabricast("measure", "verbs", *ends, *args, env=self.env(devices))
                self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
                self.assertIn(message, done.stderr)

    def test_failures(self):
        """What failed is said at the asking end, wherever it was."""
        rows = [("ib0 fail_after=20", "ib0", [], 2, "IBV_WC_RETRY_EXC_ERR"),
                ("ib0", "ib0 fail_after=20", ["--kinds", "bidirectional"], 2, "IBV_WC_RETRY_EXC_ERR"),
                ("ib0 qp_errno=12", "ib0", [], 3, "makes no queue pair"),
                ("ib0", "ib0 rtr_errno=22", [], 2, "gave up: queue pair"),
                ("ib0", "roce0 link=roce", [], 2, "ib0:1 of the asking end is InfiniBand"),
                ("ib0", "ib0", ["--set", "peer_memory=gpu", "--set", "method=read"], 0, "")]
        for here, there, args, code, message in rows:
            _, port = self.listen(there, "--once")
            done = self.ask(here, port, "--sizes", "4K", *args, "-o", "failures.meas", "--timeout", "2")
            self.assertEqual(done.returncode, code, (here, there, done.stderr))
            self.assertIn(message, done.stderr)

    def test_other_end_dies(self):
        """It is told within the time limit, and what was measured before is kept."""
        other, port = self.listen("ib0")
        args = ["--kinds", "latency", "--sizes", "8", "--timeout", "2"]
        self.assertEqual(self.ask("ib0", port, *args).returncode, 0)
        before = self.series()
        n_before = self.n_samples()
        asking = self.start_program("measure", "verbs", "--peer", f"127.0.0.1:{port}", "-o", "verbs.meas", *args, "--time", "1000",
                                    "--max-samples", "1000000", "--precision", "0.0001%", env=self.env("ib0"))
        self.assertTrue(asking.runs_until(lambda: self.n_samples() > n_before, "it takes samples"), asking.err)
        other.kill()
        code, _, complaint = asking.wait()
        self.assertEqual(code, 2, complaint)
        self.assertRegex(complaint, "nothing happened for 2 s|the other end does not answer|127.0.0.1")
        self.assertEqual(self.series()[0]["points"], before[0]["points"])


support.main()
