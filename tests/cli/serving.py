# SPDX-License-Identifier: Apache-2.0
"""A running `fabricast explore` for tests, and plain sockets to it."""
import re
import signal
import socket
import unittest

import support
from support import child


class Server:
    """Ends with the test, and must have ended well."""

    def __init__(self, test, *args, port=0):
        self.test = test
        self.process = test.start_program("explore", *args, "--port", str(port))
        self.process.runs_until(lambda: "\n" in self.process.out, "it says where it is")
        found = re.search(r"http://\S+:(\d+)/", self.process.out)
        if found is None:
            code, out, problem = self.process.wait()
            if code == 3 or port != 0:  # which others may have, or which needs rights
                test.skipTest(problem)
            raise AssertionError(f"{out}{problem}")
        self.url, self.port = found[0], int(found[1])
        self.said = self.process.out
        test.addCleanup(self.end)

    def end(self):
        """It ends well, and has said nothing more on stdout. What it said on stderr."""
        self.process.send_signal(signal.SIGINT)
        code, out, problems = self.process.wait()
        self.test.assertEqual((code, out), (0, self.said), problems)
        self.test.assertIsNone(support.BREAKAGE.search(problems), problems)
        return problems

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


def answers_again(server, path):
    child.until(lambda: status(server.get(path)) == 200, f"{path} is answered again")
