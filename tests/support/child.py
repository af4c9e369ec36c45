# SPDX-License-Identifier: Apache-2.0
"""Programs that run beside a test. Their output goes to files, so that they never wait for a reader.

A pipe holds 64 KiB, and less when it is filled in small parts. A program that prints more than that stops until somebody
reads. A test that watches the program instead of reading then waits for ever. `start` is for every program that a test
does not simply wait for; for those subprocess.run reads the pipes.
"""
import os
import re
import subprocess
import tempfile
import time

LIMIT_S = 200  # everything that is waited for takes seconds; this is less than meson's limit for a test


def until(is_so, what, limit_s=LIMIT_S):
    """The first true answer of is_so (). Fails with `what` when there is none within the limit."""
    end_s = time.monotonic() + limit_s
    while not (answer := is_so()):
        if time.monotonic() > end_s:
            raise AssertionError(f"not within {limit_s} s: {what}")
        time.sleep(0.01)
    return answer


def start(test, command, **how):
    """The running program, a Child. `how` is that of Popen. The program is ended with the test."""
    child = Child(command, how)
    test.addCleanup(child.stop)
    return child


class Child:
    def __init__(self, command, how):
        self.files = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.files[0], stderr=self.files[1], **how)
        self.pid = self.process.pid

    def text(self, file):
        """What is in the file so far. The file's offset is the program's, so it is not moved."""
        text = b""
        while part := os.pread(file.fileno(), 1 << 20, len(text)):
            text += part
        return text.decode(errors="backslashreplace")

    @property
    def out(self):
        return self.text(self.files[0])

    @property
    def err(self):
        return self.text(self.files[1])

    @property
    def returncode(self):
        """None: it is running."""
        return self.process.poll()

    def send_signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()

    def wait(self, limit_s=LIMIT_S):
        """(exit code, stdout, stderr) when it has ended. One that does not end is a failure, which says what it printed."""
        try:
            self.process.wait(limit_s)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"{error}; it printed:\n{self.out}{self.err}") from error
        return self.process.returncode, self.out, self.err

    def wait_for_text(self, pattern):
        """The match of a line that it prints. A program that ends without it is a failure."""
        def look():
            has_ended = self.returncode is not None
            found = re.search(pattern, self.out + self.err)
            if has_ended and not found:
                raise AssertionError(f"it ended with {self.returncode} without '{pattern}':\n{self.out}{self.err}")
            return found
        try:
            return until(look, f"'{pattern}' in what {self.process.args} prints")
        except AssertionError as error:
            raise AssertionError(f"{error}\nIt printed:\n{self.out}{self.err}") from error

    def runs_until(self, is_so, what):
        """Whether is_so () became true before the program ended."""
        until(lambda: self.returncode is not None or is_so(), what)
        return self.returncode is None

    def stop(self):
        """Ends it, politely first, because mpirun ends its ranks then."""
        if self.returncode is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for file in self.files:
            file.close()
