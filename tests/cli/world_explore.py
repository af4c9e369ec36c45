#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast explore` while a call of it fails: it says in one sentence why it cannot begin, or it goes on. The visitor whom the
fault meets may lose an answer; the next one gets it whole, and the server ends well.

`world_explore.py PROGRAM INJECT.SO` takes a few points of each kind; with --all it takes every point."""
import json
import os
import re
import signal
import socket
import sys

import support
from serving import body, read_all, status

INJECT = ""
IS_WHOLE = False
SCENARIO = os.path.join(support.SOURCE, "scenarios", "explore.yaml")
# Writes are left out: threads of GLib wake each other by them, and a wake-up that is lost is no fault of a disk or a network. So are
# maps and reads: some are made while signals are blocked, and inject.c needs one.
KINDS = [("accept", "EMFILE", 2), ("receive", "EIO", 4), ("receive", "EINTR", 2), ("send", "EIO", 4), ("send", "EINTR", 2), ("send", "short", 3),
         ("open", "EMFILE", 4), ("close", "EIO", 4)]
MOST_POINTS = 400
LIMITED = re.compile(r"\n\(fabricast explore:\d+\): GLib-GIO-WARNING [^\n]*Error accepting connection: Too many open files\n")  # the library's


class Explore(support.CliTest):
    def get(self, port, path):
        """The answer; empty: the connection was lost."""
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as one:
                one.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
                return read_all(one)
        except ConnectionError:
            return b""

    def visited(self, fault=None):
        """(exit code, stderr, what each of four visitors got) of one server."""
        env = support.environment() | {"FABRICAST_THREADS": "1"}
        log = self.path("log")
        if os.path.exists(log):
            os.unlink(log)
        if fault:
            env |= {"FAB_FAULT": fault, "FAB_FAULT_LOG": log, "LD_PRELOAD": INJECT}
        server = self.start_program("explore", SCENARIO, "--port", "0", env=env)
        server.runs_until(lambda: "\n" in server.out, "it says where it is")
        found = re.search(r"http://\S+:(\d+)/", server.out)
        got = [self.get(int(found[1]), path) for path in ("/", "/api/run?gpus=8", "/", "/api/run?gpus=8")] if found else []
        if found:
            server.send_signal(signal.SIGINT)
        code, _, err = server.wait()
        return code, err, got

    def has_arrived(self, answer):
        """With all that its head says."""
        size = re.search(rb"(?i)^content-length: (\d+)\r$", answer, re.M)
        return size is not None and status(answer) == 200 and len(body(answer)) == int(size[1])

    def figures(self, answer):
        return json.loads(body(answer))["figures"]["step_s"]

    def wrong(self, told, whole):
        code, err, got = told
        if not got:
            return [] if code == 2 and re.fullmatch(r"fabricast explore: [^\n]+\n", err) else [f"it ended with {code}: {err}"]
        err = LIMITED.sub("", err)
        said = [f"it ended with {code}: {err}"] if code != 0 or support.BREAKAGE.search(err) else []
        arrived = [answer for answer in got if self.has_arrived(answer)]
        if len(arrived) < 3:
            said.append(f"{4 - len(arrived)} visitors of four got no answer")
        if got[3] in arrived and self.figures(got[3]) != whole:
            said.append("the step is another one")
        return said

    def test_it_goes_on(self):
        told = self.visited()
        if told[0] == 3:
            self.skipTest(told[1])
        whole, failures, n_points = self.figures(told[2][3]), [], 0
        for family, how, most in KINDS:
            nth, step, left = 1, 1, most
            while nth <= MOST_POINTS and (left > 0 or IS_WHOLE):
                told = self.visited(f"{family}:{nth}:{how}")
                where = support.read(self.path("log")).strip()
                if not where:
                    break
                n_points += 1
                failures += [f"{family}:{nth}:{how} ({where}): {problem}" for problem in self.wrong(told, whole)]
                nth, step, left = nth + step, step if IS_WHOLE else 2 * step + 1, left - 1
            if IS_WHOLE:
                print(f"explore: {family} {how}: up to {nth - 1}", flush=True)
        print(f"{n_points} points, {len(failures)} wrongly")
        self.assertGreater(n_points, 20)
        self.assertEqual(failures, [], "\n".join(failures))


if __name__ == "__main__":
    INJECT = os.path.abspath(sys.argv.pop(2))
    IS_WHOLE = "--all" in sys.argv
    if IS_WHOLE:
        sys.argv.remove("--all")
    support.main()
