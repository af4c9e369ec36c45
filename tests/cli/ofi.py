# SPDX-License-Identifier: Apache-2.0
"""`fabricast measure ofi` between two processes, over the providers of libfabric that need no hardware."""
import json
import subprocess
import sys

import support

SIZES = [8, 4096, 262144]
QUICK = ["--sizes", ",".join(map(str, SIZES)), "--min-samples", "6", "--max-samples", "6", "--time", "1"]


class OfiTest(support.CliTest):
    def listen(self, *args):
        """The end that listens, and its port."""
        process = self.start_program("measure", "ofi", "--listen", "127.0.0.1:0", "--once", *args)
        return process, process.wait_for_text(r"port (\d+)\.").group(1)

    def measure(self, *args):
        process, port = self.listen(*args)
        done = self.fabricast("measure", "ofi", "--peer", f"127.0.0.1:{port}", *QUICK, "--format", "json", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(process.wait()[0], 0)
        return json.loads(done.stdout)["series"]

    def check(self, provider):
        series = self.measure("--set", f"provider={provider}")
        self.assertEqual([one["kind"] for one in series], ["latency", "bandwidth", "exchange", "bidirectional"])
        for one in series:
            self.assertEqual([point["size_bytes"] for point in one["points"]], SIZES)
            self.assertTrue(all(point["time_ps"] > 0 for point in one["points"]))
            self.assertIn(provider, one["from_end"])
            self.assertIn(provider, one["to_end"])
            self.assertEqual((one["backend"], one["method"]), ("ofi", "tagged"))
            self.assertEqual(one["window"], 64 if one["kind"] in ("bandwidth", "bidirectional") else 1)

    def test_tcp(self):
        self.check("tcp")

    def test_shm(self):
        self.check("shm")

    def test_window(self):
        series = self.measure("--set", "provider=tcp", "--kinds", "bandwidth", "--window", "3")
        self.assertEqual([one["window"] for one in series], [3])

    def test_what_is_not_there(self):
        for setting, names in (("provider=nonesuch", "no provider 'nonesuch'"), ("domain=nonesuch", "no domain 'nonesuch'")):
            done = self.fabricast("measure", "ofi", "--peer", "127.0.0.1:1", "--set", setting)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertIn(names, done.stderr)

    def test_two_providers(self):
        process, port = self.listen("--set", "provider=shm")
        done = self.fabricast("measure", "ofi", "--peer", f"127.0.0.1:{port}", *QUICK, "--set", "provider=tcp")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "provider")
        self.assertNotEqual(process.wait()[0], 0)

    def test_other_end_dies(self):
        process, port = self.listen("--set", "provider=tcp")
        asking = self.start_program("measure", "ofi", "--peer", f"127.0.0.1:{port}", "--timeout", "2", "--sizes", "1M",
                                    "--precision", "0.01%", "--max-samples", "1000000", "--time", "100", "--kinds", "latency",
                                    "--set", "provider=tcp")
        file = self.path("fabricast.meas")
        asking.runs_until(lambda: self.samples(file) >= 5, "it takes samples")
        process.kill()
        code, _, complaint = asking.wait()
        self.assertEqual(code, 2, complaint)
        self.assertIn("keeps the samples", complaint)
        self.assertGreaterEqual(self.samples(file), 5)

    @staticmethod
    def samples(file):
        done = subprocess.run(["sqlite3", "-readonly", file, "SELECT count(*) FROM sample"], capture_output=True, text=True, check=False)
        return int(done.stdout) if done.returncode == 0 else 0


if __name__ == "__main__":
    listed = subprocess.run([sys.argv[1], "measure", "--format", "json"], capture_output=True, text=True, check=True).stdout
    rows = {row["backend"]: row for row in json.loads(listed)}
    if rows["ofi"]["works"] != "yes":
        print("skipped:", rows["ofi"]["what"])
        sys.exit(support.SKIPPED)
    support.main()
