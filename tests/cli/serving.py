# SPDX-License-Identifier: Apache-2.0
"""A running `fabricast explore` for tests, and plain sockets to it."""
import re
import signal
import socket
import subprocess
import time
import unittest

import support


class Server:
    """Ends with the test, and must have ended well."""

    def __init__(self, test, *args):
        self.test = test
        self.process = subprocess.Popen([support.PROGRAM, "explore", *args, "--port", "0"], cwd=test.directory,
                                        env=support.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        test.addCleanup(self.end)
        said = self.process.stdout.readline()
        found = re.search(r"http://\S+:(\d+)/", said)
        if found is None:
            code, problem = self.process.wait(), self.process.stderr.read()
            if code == 3:
                test.skipTest(problem)
            raise AssertionError(f"{said}{problem}")
        self.url, self.port = found[0], int(found[1])

    def end(self, number=signal.SIGINT):
        if self.process.stdout.closed:
            return
        self.process.send_signal(number)
        out, problems = self.process.communicate(timeout=60)
        self.test.assertEqual((self.process.returncode, out), (0, ""), problems)
        self.test.assertIsNone(support.BREAKAGE.search(problems), problems)

    def connect(self):
        one = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        return one

    def send(self, data):
        """What comes back of bytes as they are, until the connection ends."""
        with self.connect() as one:
            try:
                one.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass
            return read_all(one)

    def get(self, path, *headers, host=None):
        lines = [f"GET {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}", *headers, "", ""]
        return self.send("\r\n".join(lines).encode())


class Holder(support.CliTest):
    """Of a server that many tests share."""

    servers = {}

    def runTest(self):
        pass


def shared(*args):
    """One for all tests of the module; it must end well after them."""
    if args not in Holder.servers:
        holder = Holder()
        holder.setUp()
        Holder.servers[args] = Server(holder, *args)
        unittest.addModuleCleanup(holder.doCleanups)
        unittest.addModuleCleanup(Holder.servers[args].end)
    return Holder.servers[args]


def read_all(one):
    parts = []
    try:
        while part := one.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def status(answer):
    """0: there was none."""
    found = re.match(rb"HTTP/1\.1 (\d+) ", answer)
    return int(found[1]) if found else 0


def body(answer):
    return answer.partition(b"\r\n\r\n")[2]


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it does not happen")
        time.sleep(0.01)
