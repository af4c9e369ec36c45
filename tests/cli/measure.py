#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast measure`: over TCP from this machine to itself, into a file, interrupted, resumed, shown; and with a module
whose messages take as long as it is told. Nothing here says how fast anything is."""
import csv
import io
import json
import os
import re
import shutil
import signal
import sqlite3

from support import CliTest, child, environment, main
import support

from screen import on_terminal

MODULES = os.environ["FAB_MODULE_DIR"]
QUICK = ["--min-samples", "6", "--precision", "99%", "--time", "0.2"]
# 500 samples of about 60 us: a size takes long enough to be interrupted in, and is complete then.
SLOW = ["--min-samples", "500", "--max-samples", "500", "--precision", "99%", "--kinds", "latency"]


class MeasureTest(CliTest):
    def start(self, *args, **how):
        """A running `fabricast measure`, ended with the test."""
        return self.start_program("measure", *args, **how)

    def listen(self, *args, backend="tcp"):
        """A listening end and the address that it has."""
        process = self.start(backend, "--listen", "127.0.0.1:0", *args)
        return process, "127.0.0.1:" + process.wait_for_text(r"\AWaits for the other end on port (\d+)\.\n").group(1)

    def ended(self, process):
        code, out, err = process.wait()
        self.assertIsNone(support.BREAKAGE.search(err), err)
        return code, out, err

    def select(self, file, sql):
        database = sqlite3.connect(f"file:{self.path(file)}?mode=ro", uri=True)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def wait_for(self, file, sql):
        """Until the answer is true; a file that is just being made has no answer yet."""
        def is_true():
            try:
                return self.select(file, sql)[0][0]
            except sqlite3.Error:
                return False
        child.until(is_true, sql)

    def check_file(self, file):
        self.assertEqual(self.select(file, "PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(self.select(file, "PRAGMA foreign_key_check"), [])


class Tcp(MeasureTest):
    def test_every_kind(self):
        """Several connections, sizes that do not divide by them, one byte."""
        listener, peer = self.listen("--once")
        text = self.good("measure", "tcp", "--peer", peer, "--sizes", "1,3,1000..2000,100003", "--set", "streams=3",
                         "--window", "5", "-o", "a.meas", *QUICK, "--format", "csv")
        self.assertEqual(self.ended(listener)[0], 0)
        rows = list(csv.DictReader(io.StringIO(text)))
        for kind in ("latency", "bandwidth", "exchange", "bidirectional"):
            mine = [row for row in rows if row["kind"] == kind]
            self.assertEqual([int(row["size_bytes"]) for row in mine], [1, 3, 1000, 2000, 100003])
            for row in mine:
                self.assertEqual((row["backend"], row["method"], row["n_queue_pairs"]), ("tcp", "sockets", "3"))
                self.assertEqual((row["from_end"], row["to_end"]), ("127.0.0.1", "127.0.0.1"))
                self.assertGreaterEqual(int(row["n_samples"]), 6)
                times = [int(row[name]) for name in ("min_ps", "p05_ps", "time_ps", "p95_ps", "max_ps")]
                self.assertEqual(times, sorted(times))
                self.assertGreater(times[0], 0)
        self.assertEqual({row["window"] for row in rows if "b" in row["kind"]}, {"5"})
        self.check_file("a.meas")
        self.assertEqual(os.listdir(self.directory), ["a.meas"])
        # Samples are what points come from.
        [(n, fits)] = self.select("a.meas", """SELECT count (*), sum (n_samples = (SELECT count (*) FROM sample
          WHERE sample.series_id = point.series_id AND sample.size_bytes = point.size_bytes)) FROM point""")
        self.assertEqual((n, fits), (20, 20))

    def test_shown_as_measured(self):
        _, peer = self.listen()
        ask = ("measure", "tcp", "--peer", peer, "--kinds", "latency", "--sizes", "8,1K", *QUICK)
        text = self.good(*ask)
        self.assertEqual(text, self.good("measure", "show", "fabricast.meas"))
        self.assertIn("tcp latency, 127.0.0.1 to 127.0.0.1, sockets\n", text)
        whole = self.json("measure", "show", "fabricast.meas")
        self.assertIn("cpu", whole["machine"])
        self.assertEqual([point["size_bytes"] for point in whole["series"][0]["points"]], [8, 1024])
        # Once more: everything is there. With another parameter: another series, of which alone is told.
        before = self.select("fabricast.meas", "SELECT * FROM sample")
        self.assertEqual(len(self.good(*ask).split("sockets\n")), 2)
        self.assertEqual(before, self.select("fabricast.meas", "SELECT * FROM sample"))
        more = self.json(*ask, "--set", "wait=spin")
        self.assertEqual([series["method"] for series in more["series"]], ["spinning sockets"])
        self.assertEqual(len(self.json("measure", "show", "fabricast.meas")["series"]), 2)

    def test_killed_and_resumed(self):
        listener, peer = self.listen()
        ask = ("tcp", "--peer", peer, "--sizes", "8..64", "-o", "a.meas", *SLOW)
        killed = self.start(*ask)
        self.wait_for("a.meas", "SELECT count (*) > 0 FROM point")
        killed.kill()
        killed.wait()
        self.check_file("a.meas")
        first = self.select("a.meas", "SELECT * FROM point WHERE size_bytes = 8")
        taken = self.select("a.meas", "SELECT * FROM sample")
        self.good("measure", *ask)
        self.assertEqual(self.select("a.meas", "SELECT * FROM point WHERE size_bytes = 8"), first)
        self.assertEqual(self.select("a.meas", "SELECT * FROM sample")[:len(taken)], taken)
        self.assertEqual(self.select("a.meas", "SELECT size_bytes, n_samples FROM point"),
                         [(size, 500) for size in (8, 16, 32, 64)])
        self.assertIsNone(listener.returncode)

    def test_interrupted_and_resumed(self):
        _, peer = self.listen()
        ask = ("tcp", "--peer", peer, "--sizes", "8,16", "-o", "a.meas")
        endless = ("--kinds", "latency", "--precision", "0.0001%", "--max-samples", "1000000", "--time", "1000")
        n = 0
        for how in (signal.SIGINT, signal.SIGTERM):
            process = self.start(*ask, *endless)
            self.wait_for("a.meas", f"SELECT count (*) > {n} + 100 FROM sample")
            process.send_signal(how)
            code, out, err = self.ended(process)
            self.assertEqual((code, out), (1, ""))
            [(n,)] = self.select("a.meas", "SELECT count (*) FROM sample")
            self.assertIn("a.meas keeps the samples; run the same command again to continue", err)
        self.assertEqual(self.select("a.meas", "SELECT count (*) FROM point"), [(0,)])
        self.assertIn("No size has been measured completely yet", self.good("measure", "show", "a.meas"))
        # On a busy machine n samples may not be precise yet; no more than these are asked for.
        self.good("measure", *ask, *QUICK, "--kinds", "latency", "--max-samples", str(n))
        rows = self.select("a.meas", "SELECT size_bytes, n_samples FROM point")
        self.assertEqual(rows[0], (8, n))
        self.assertEqual(rows[1][0], 16)

    def test_listener_ends(self):
        """Asked to end, it ends well, and the asking end hears of it. Killed, it does not."""
        ask = ("--sizes", "8", "--timeout", "5", "--kinds", "latency", "--precision", "0.0001%",
               "--max-samples", "1000000", "--time", "1000")
        for how, says in ((signal.SIGINT, "gave up: interrupted"), (signal.SIGKILL, "ended the connection")):
            listener, peer = self.listen()
            process = self.start("tcp", "--peer", peer, "-o", f"{how}.meas", *ask)
            self.wait_for(f"{how}.meas", "SELECT count (*) > 10 FROM sample")
            listener.send_signal(how)
            code, _, err = self.ended(process)
            self.assertEqual(code, 2)
            self.assertIn(says, err)
            self.assertIn("keeps the samples", err)
            self.assertEqual(self.ended(listener)[0], 0 if how == signal.SIGINT else -9)

    def test_who_is_not_there(self):
        err = self.refused("measure", "tcp", "--peer", "127.0.0.1:1", "--timeout", "1", names="127.0.0.1:1")
        self.assertIn("--listen", err)
        self.assertEqual(os.listdir(self.directory), [])  # nothing was measured, so there is no file
        waiting = self.start("tcp", "--peer", "127.0.0.1:1", "--timeout", "100")
        self.wait_for("fabricast.meas", "SELECT count (*) FROM machine")
        waiting.send_signal(signal.SIGINT)
        self.assertEqual(self.ended(waiting)[0], 1)
        self.assertEqual(os.listdir(self.directory), [])

    def test_strangers_do_not_disturb(self):
        listener, peer = self.listen()
        with __import__("socket").create_connection(peer.split(":")) as stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
            listener.wait_for_text("is not `fabricast measure`")
        self.good("measure", "tcp", "--peer", peer, "--kinds", "latency", "--sizes", "8", *QUICK)


class ModuleTest(MeasureTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("modules"))
        self.module = self.path("modules", "fabricast-measure-nccl.so")
        shutil.copy(os.path.join(MODULES, "fabricast-measure-nccl.so"), self.module)
        self.how = {"env": {**environment(), "FABRICAST_PLUGINS": "/no/such/place:" + self.path("modules")}}


class Modules(ModuleTest):
    def unsupported(self, *args, says):
        done = self.fabricast("measure", *args, **self.how)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertIn(says, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_it_measures_into_a_file_with_others(self):
        _, peer = self.listen()
        self.good("measure", "tcp", "--peer", peer, "--kinds", "latency", "--sizes", "8", "-o", "lab.meas", *QUICK)
        done = self.fabricast("measure", "nccl", "--sizes", "8,16", "-o", "lab.meas", "--set", "message=30ms", **self.how)
        self.assertEqual((done.returncode, done.stderr), (0, "Nothing is measured here.\n"))
        self.assertIn("30 ms", done.stdout)
        self.assertNotIn("tcp", done.stdout, "what was just measured is shown")
        whole = self.json("measure", "show", "lab.meas")
        self.assertEqual([series["backend"] for series in whole["series"]], ["tcp", "fake"])
        self.assertEqual((whole["notes"], whole["machine"]["gpu0"]), (["Nothing is measured here."], "made up"))
        self.assertEqual([(point["time_ps"], point["n_samples"]) for point in whole["series"][1]["points"]],
                         [(30_000_000_000, 10)] * 2)
        self.assertIn("message", self.good("describe", "measure", "nccl", **self.how))

    def test_what_works_is_listed(self):
        rows = {row["backend"]: row for row in self.json("measure", **self.how)}
        self.assertEqual((rows["tcp"]["works"], rows["nccl"]["works"]), ("yes", "yes"))
        self.assertEqual(list(rows), self.good("describe", "measure", "--names").split())

    def test_no_module_of_the_folder_where_it_is_started(self):
        """What lies there may be anybody's: a folder of modules is an absolute path."""
        at = {"cwd": self.path("modules")}
        for plugins in (".", "", ":", "./", "../modules"):
            done = self.fabricast("measure", "nccl", "--sizes", "8", **at, env={**environment(), "FABRICAST_PLUGINS": plugins})
            self.assertNotIn("Nothing is measured here", done.stderr, plugins)
        done = self.fabricast("measure", "nccl", "--sizes", "8", **at, env={**environment(), "FABRICAST_PLUGINS": self.path("modules")})
        self.assertIn("Nothing is measured here", done.stderr)

    def test_what_does_not_load(self):
        with open(self.module, "rb") as file:
            good = file.read()
        self.unsupported("nccl", "--set", "broken=true", says="there is no such device")
        self.assertEqual(os.listdir(self.directory), ["modules"])
        for content, says in ((b"no library\n", "nccl cannot be loaded here"),
                              (good.replace(b"libglib-2.0.so.0", b"libgone-2.0.so.0"), "nccl needs libgone-2.0.so.0"),
                              (good.replace(b"fab_measure_backend", b"fab_measure_nothing"), "not of this fabricast")):
            os.unlink(self.module)
            with open(self.module, "wb") as file:
                file.write(content)
            self.unsupported("nccl", says=says)
            self.assertIn("no ", self.good("measure", **self.how).split("nccl")[1])


class Asked(ModuleTest):
    """What the options ask for, told by the points of the module, whose messages take what they are told to take."""

    def points(self, *args, file="a.meas"):
        """The points of a measurement as {size: point}."""
        done = self.fabricast("measure", "nccl", "-o", file, "--format", "json", *args, **self.how)
        self.assertEqual((done.returncode, done.stderr), (0, "Nothing is measured here.\n"), args)
        [series] = json.loads(done.stdout)["series"]
        self.assertEqual([series["backend"], series["kind"]], ["fake", "latency"])
        os.unlink(self.path(file))
        return {point["size_bytes"]: point for point in series["points"]}

    def test_sizes(self):
        """From one to the other, doubling; the last of a range is among them, and none twice."""
        for sizes, wanted in (("8..64", [8, 16, 32, 64]), ("3..13", [3, 6, 12, 13]), ("8..8", [8]), ("64,8, 8..32 ,48", [8, 16, 32, 48, 64]), ("1K..2KiB", [1024, 2048]),
                              (None, [8 << i for i in range(24)])):
            self.assertEqual(list(self.points(*(["--sizes", sizes] if sizes else []), "--min-samples", "1", "--precision", "99%", "--time", "1us")), wanted)

    def test_how_long_and_how_sure(self):
        """Ten samples where each takes as long as the others; six, which make an interval, where the time of a size is over; and no more than asked for."""
        for args, n, is_complete in (((), 10, 1), (("--min-samples", "30"), 30, 1), (("--min-samples", "6", "--max-samples", "6"), 6, 1), (("--min-samples", "1", "--max-samples", "5"), 5, 0),
                                     (("--min-samples", "30", "--time", "1ps"), 6, 0), (("--min-samples", "30", "--time", "0.000001"), 6, 0), (("--min-samples", "1000"), 1000, 1)):
            [point] = self.points("--sizes", "8", *args).values()
            self.assertEqual((point["n_samples"], point["is_complete"]), (n, is_complete), args)
        self.refused("measure", "tcp", "--peer", "a", "--min-samples", "1001", names="--max-samples 1000: from 1001 to 1000000")

    def test_kinds(self):
        """A kind that was not asked for is not measured."""
        for kinds, is_there in (("latency", True), ("bandwidth,latency", True), ("exchange", False), ("bandwidth,copy", False)):
            done = self.fabricast("measure", "nccl", "--sizes", "8", "--kinds", kinds, "-o", f"{kinds}.meas", **self.how)
            self.assertEqual((done.returncode, "\n        8 B" in done.stdout, "\nNo size has been measured" in done.stdout), (0, is_there, not is_there), done.stderr + done.stdout)

    def test_a_page_of_sizes_that_are_not_precise(self):
        done = self.fabricast("measure", "nccl", "--sizes", "8,16", "--min-samples", "30", "--time", "1ps", "-o", "a.meas", **self.how)
        self.assertEqual(done.stdout.count("*"), 3)
        self.assertTrue(done.stdout.endswith("\n\n* --time or --max-samples ended this size before its median was precise\n"), done.stdout)
        self.assertTrue(done.stdout.startswith("a.meas\nmachine\n"))
        self.assertNotIn("*", self.fabricast("measure", "nccl", "--sizes", "8", "-o", "b.meas", **self.how).stdout)

    def test_interrupted(self):
        """What was sampled stays in the file, and it is said how to go on."""
        process = self.start("nccl", "--sizes", "8", "-o", "a.meas", "--min-samples", "1000000", "--max-samples", "1000000", "--time", "1000", **self.how)
        self.wait_for("a.meas", "SELECT count (*) > 10 FROM sample")
        process.send_signal(signal.SIGINT)
        code, out, err = self.ended(process)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("a.meas keeps the samples; run the same command again to continue\n", err)

    def test_progress_on_a_terminal(self):
        """At most five times in a second, and gone at the end."""
        seen = on_terminal(100, ["measure", "nccl", "--sizes", "8,16", "-o", "a.meas", "--max-samples", "8000", "--min-samples", "8000"], self.directory, NO_COLOR="1",
                           FABRICAST_PLUGINS=self.path("modules"))
        before, *lines, page = seen.split("\r\x1b[K")
        self.assertEqual(before, "Nothing is measured here.\n")
        self.assertEqual(lines[0], "fake latency, gpu0 to host: 8 B (1 of 2), warming up")
        self.assertEqual(lines[-1], "fake latency, gpu0 to host: 16 B (2 of 2), 8000 samples, +-0.0 %")
        self.assertLess(len(lines), 5, "two sizes begin and two end, of which the second begins at once")
        self.assertTrue(page.startswith("a.meas\nmachine\n"), page)


class Refused(MeasureTest):
    def test_limits(self):
        """Both sides of each limit: what is taken leads on to the secret that is not there."""
        peer = ("measure", "tcp", "--peer", "127.0.0.1:1", "--secret-file", "none")
        listen = ("measure", "tcp", "--listen", "127.0.0.1:0", "--secret-file", "none")
        for command, option, taken, refused in (
                (peer, "--sizes", ("64G", "1", "8..64G", ",".join(map(str, range(1, 10001)))), ("65G", "64G..68719476737", "8..7", ",".join(map(str, range(1, 10002))))),
                (peer, "--kinds", ("latency", "collective,product"), ("latency,", "all")),
                (peer, "--precision", ("0.01%", "99.9%", "0.5"), ("0", "0%", "100%", "1", "-1%", "little")),
                (peer, "--time", ("0.1", "1ps", "5 s"), ("0", "0s", "-1", "1.2.3", "5 B")),
                (peer, "--min-samples", ("1", "1000"), ("0", "-1")),
                (peer, "--max-samples", ("10", "1000000"), ("9", "1000001")),
                (peer, "--window", ("0", "1", "65536"), ("-1", "65537")),
                (peer, "--timeout", ("1", "86400"), ("0", "86401")),
                (listen, "--session-limit", ("1", "31536000"), ("0", "31536001"))):
            for value in taken:
                self.refused(*command, option, value, names="none: ")
            for value in refused:
                said = self.refused(*command, option, value, names=option)
                self.assertNotIn("none", said)
        for option, value in (("gpu", "1"), ("shapes", "8x8x8")):
            done = self.fabricast(*peer[:4], f"--{option}", value)
            self.assertEqual((done.returncode, done.stderr.partition(";")[0]), (2, f"--set: {option}={value}: unknown key '{option}'"))

    def test_arguments(self):
        for args, names in (
                (("tpc",), "nearest is tcp"),
                (("tcp",), "--peer HOST"),
                (("tcp", "show"), "unexpected argument 'show'"),
                (("show",), "show FILE"),
                (("show", "none.meas"), "none.meas: no such file"),
                (("tcp", "--peer", "a", "--listen", ":1"), "give --listen or --peer, not both"),
                (("tcp", "--listen", ":1", "-o", "x"), "--out"),
                (("tcp", "--peer", "a", "--once"), "--listen"),
                (("tcp", "--peer", "host:99999"), "99999"),
                (("tcp", "--peer", "a", "--sizes", "8..4"), "8..4"),
                (("tcp", "--peer", "a", "--sizes", "8,huge"), "huge"),
                (("tcp", "--peer", "a", "--sizes", ""), "--sizes"),
                (("tcp", "--peer", "a", "--sizes", "8..65G"), "the limit of a message is 64G"),
                (("tcp", "--peer", "a", "--kinds", "latancy"), "nearest is latency"),
                (("tcp", "--peer", "a", "--precision", "0%"), "--precision"),
                (("tcp", "--peer", "a", "--time", "soon"), "--time"),
                (("tcp", "--peer", "a", "--min-samples", "0"), "--min-samples"),
                (("tcp", "--peer", "a", "--max-samples", "3"), "--max-samples"),
                (("tcp", "--peer", "a", "--window", "-1"), "--window"),
                (("tcp", "--peer", "a", "--timeout", "0"), "--timeout"),
                (("--format", "yaml"), "yaml")):
            with self.subTest(args):
                self.refused("measure", *args, names=names)
        done = self.fabricast("measure", "tcp", "--peer", "a", "--set", "stream=2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nearest is 'streams'", done.stderr)
        self.assertEqual(os.listdir(self.directory), [])

    def test_files_of_others(self):
        """Refused before the other end is asked for anything."""
        self.write("notes", "size 8 time 1.2 us, and enough text to be longer than what a database begins with ......\n")
        sqlite3.connect(self.path("other.db")).executescript("CREATE TABLE t (a)")
        for file, says in (("notes", "no measurements file"), ("other.db", "not of measurements")):
            with open(self.path(file), "rb") as content:
                before = content.read()
            self.refused("measure", "tcp", "--peer", "127.0.0.1:1", "-o", file, names=says)
            self.refused("measure", "show", file, names=says)
            with open(self.path(file), "rb") as content:
                self.assertEqual(before, content.read())


main()
