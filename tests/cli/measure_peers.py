#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast measure` between ends that do not trust each other: peers that are silent, slow, send garbage or claim what
is not so, a secret that keeps strangers out, and Ctrl-C at either end while it waits."""
import hashlib
import hmac
import os
import signal
import socket
import struct
import subprocess
import threading
import time

from support import CliTest, main
import support

HELLO, WELCOME, DATA, OPENED, GO, READY, DONE, FAILED, BYE, CHALLENGE, PROOF = range(1, 12)
VERSION = 2
QUICK = ["--kinds", "latency", "--sizes", "8", "--min-samples", "6", "--precision", "99%", "--time", "0.2"]
DAY_S = 86400
AT_ONCE_S = 1 * support.SLOWNESS  # how soon either end obeys Ctrl-C


def frame(kind, number=0, size=0, count=0, data=b"", version=VERSION):
    return struct.pack(">IIIIQII", 0x4641424D, version, kind, number, size, count, len(data)) + data


def hello(number=DAY_S, size=8, count=0, data=b"tcp\nhere"):
    return frame(HELLO, number, size, count, data)


class Peer:
    """A connection that speaks frames."""

    def __init__(self, port, address="127.0.0.1"):
        self.socket = socket.create_connection((address, port), timeout=30)
        self.streams = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in (self.socket, *self.streams):
            one.close()

    def send(self, data):
        self.socket.sendall(data)

    def bytes(self, n):
        data = b""
        while len(data) < n:
            more = self.socket.recv(n - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def receive(self):
        """(kind, data) of the next frame."""
        head = struct.unpack(">IIIIQII", self.bytes(32))
        return head[2], self.bytes(head[6])

    def open(self, **how):
        """Introduces itself and opens one data connection and the one for words, both silent."""
        self.send(hello(**how))
        assert self.receive()[0] == WELCOME
        self.send(frame(DATA, data=struct.pack(">IIQ", 1, 0, 0)))
        kind, offer = self.receive()
        assert kind == DATA, kind
        port, token = struct.unpack(">I40s", offer)
        for i in range(2):
            self.streams.append(socket.create_connection(("127.0.0.1", port)))
            self.streams[i].sendall(token + struct.pack(">I", i))
        assert self.receive()[0] == OPENED
        self.send(frame(OPENED))
        return self.streams


class PeersTest(CliTest):
    def listen(self, *args, at="127.0.0.1:0"):
        """A listening end and its port."""
        process = self.start_program("measure", "tcp", "--listen", at, *args)
        return process, int(process.wait_for_text(r"Waits for the other end on port (\d+)\.\n").group(1))

    def ask(self, port, *args, code=0):
        done = self.fabricast("measure", "tcp", "--peer", f"127.0.0.1:{port}", *QUICK, *args)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def check_ends_at_once(self, process, code=0):
        begun_s = time.monotonic()
        process.send_signal(signal.SIGINT)
        ended = process.wait(30)
        self.assertLess(time.monotonic() - begun_s, AT_ONCE_S, f"the signal was held back:\n{ended[2]}")
        self.assertEqual(ended[0], code, ended[2])
        self.assertIsNone(support.BREAKAGE.search(ended[2]), ended[2])


class Hostile(PeersTest):
    """None of these keeps the listening end from the next one that asks."""

    def others_are_served(self, listener, port, disturb, says, within_s=8):
        with Peer(port) as peer:
            disturb(peer)
            begun_s = time.monotonic()
            self.ask(port, "--timeout", "30")
            self.assertLess(time.monotonic() - begun_s, within_s * support.SLOWNESS)
            listener.wait_for_text(says)

    @staticmethod
    def beside(speak):
        """What speaks beside the test until the other end no longer listens."""
        def run(peer):
            try:
                speak(peer)
            except (OSError, EOFError, AssertionError):
                pass
        return lambda peer: threading.Thread(target=run, args=(peer,), daemon=True).start()

    def test_silence(self):
        listener, port = self.listen("--timeout", "1")
        self.others_are_served(listener, port, lambda peer: None, "has not introduced itself")

    def test_a_crowd_of_silent_connections(self):
        """Each has 5 s, but at the same time, and who introduces itself comes first."""
        listener, port = self.listen("--timeout", "1")
        silent = [Peer(port) for _ in range(50)]
        silent[0].send(hello()[:20])
        begun_s = time.monotonic()
        self.ask(port)
        self.assertLess(time.monotonic() - begun_s, 4 * support.SLOWNESS)
        listener.wait_for_text("has not introduced itself")
        for one in silent:
            one.socket.close()
        self.ask(port)

    def test_a_time_limit_of_its_own_then_silence(self):
        listener, port = self.listen("--timeout", "1")
        self.others_are_served(listener, port, lambda peer: peer.send(hello()), "has not answered within the time limit")
        self.others_are_served(listener, port, lambda peer: peer.open(), "has not answered within the time limit")

    def test_silence_in_the_middle_of_a_message(self):
        def disturb(peer):
            streams = peer.open(size=1 << 20)
            peer.send(frame(GO, 0, 1 << 20, 1))
            assert peer.receive()[0] == READY
            streams[1].sendall(b"g")
            streams[0].sendall(b"x" * 1000)
        listener, port = self.listen("--timeout", "1")
        self.others_are_served(listener, port, disturb, "no data has come")

    def test_drops(self):
        """One byte at a time, always within the time limit of silence."""
        def drip(peer):
            for byte in hello(data=b"tcp\n" + b"x" * 1000):
                peer.send(bytes([byte]))
                time.sleep(0.2)
        listener, port = self.listen("--timeout", "30")
        self.others_are_served(listener, port, self.beside(drip), "has not introduced itself")

    def test_endless_conversation(self):
        """One that keeps asking, politely, has its time; then it is the turn of others."""
        def ask_on(peer):
            streams = peer.streams
            while True:
                peer.send(frame(GO, 0, 8, 1))
                assert peer.receive()[0] == READY
                streams[1].sendall(b"g")
                streams[0].sendall(b"x" * 8)
                assert peer.receive()[0] == DONE
        listener, port = self.listen("--timeout", "30", "--session-limit", "2")

        def disturb(peer):
            peer.open()  # before others ask: they would have ended before it is served
            self.beside(ask_on)(peer)
        self.others_are_served(listener, port, disturb, "has had its time")

    def test_silent_until_the_end_of_its_time(self):
        """One that says nothing more has had its time when the session ends, though it may be silent for longer."""
        listener, port = self.listen("--timeout", "30", "--session-limit", "2")
        self.others_are_served(listener, port, lambda peer: peer.open(), "has had its time")

    def test_data_without_data(self):
        def disturb(peer):
            peer.send(hello() + frame(DATA) * 3)
        listener, port = self.listen("--timeout", "30")
        self.others_are_served(listener, port, disturb, "sends DATA without data")

    def test_garbage_and_claims(self):
        listener, port = self.listen("--timeout", "1")
        for data, says in ((b"GET / HTTP/1.1\r\n\r\n", "is not `fabricast measure`"),
                           (os.urandom(4096), "is not `fabricast measure`"),
                           (frame(HELLO, version=1, data=b"tcp\n"), "speaks version 1 of the protocol and this end version 2"),
                           (frame(77), "does not have"), (frame(GO), "GO, and HELLO was expected"),
                           (hello(count=1 << 31), "messages under way"), (hello(size=1 << 63), "up to 16 GiB"),
                           (hello(data="t\u202ecp\x1b[31m\n".encode()), r"\x202e"),
                           (frame(FAILED, data="\x1b]0;title\x07\u202eevil".encode()), r"\x1b]0;title\x07\x202eevil")):
            with Peer(port) as peer:
                peer.send(data)
                found = listener.wait_for_text(support.re.escape(says)).string
            self.assertNotIn("\x1b", found)
            self.assertNotIn("\u202e", found)
        with Peer(port) as peer:
            peer.open()
            peer.send(frame(GO, 0, 8, (1 << 20) + 1))
            self.assertEqual(peer.receive()[0], FAILED)
        self.ask(port)

    def test_strangers_do_not_end_an_end_that_serves_once(self):
        listener, port = self.listen("--once")
        with Peer(port) as peer:
            peer.send(b"GET / HTTP/1.1\r\n\r\n")
            listener.wait_for_text("is not `fabricast measure`")
        self.ask(port)
        self.assertEqual(listener.wait()[0], 0)


class Interrupted(PeersTest):
    def test_listening_end(self):
        def silent(_):
            pass

        def introduced(peer):
            peer.send(hello())
            peer.receive()

        def opened(peer):
            peer.open()

        def in_a_message(peer):
            streams = peer.open(size=1 << 20)
            peer.send(frame(GO, 0, 1 << 20, 1))
            peer.receive()
            streams[1].sendall(b"g")
            time.sleep(0.2)

        def waiting_for_data_connections(peer):
            peer.send(hello())
            peer.receive()
            peer.send(frame(DATA, data=struct.pack(">IIQ", 1, 0, 0)))
            peer.receive()

        for disturb in (silent, introduced, opened, in_a_message, waiting_for_data_connections):
            with self.subTest(disturb.__name__):
                listener, port = self.listen("--timeout", "100")
                with Peer(port) as peer:
                    disturb(peer)
                    time.sleep(0.1)
                    self.check_ends_at_once(listener)

    def test_asking_end(self):
        """While the other end is silent: before WELCOME, after it, and where nobody answers a connection."""
        def silent(connection):
            connection.recv(1000)

        def welcome(connection):
            connection.recv(1000)
            connection.sendall(frame(WELCOME))

        for answer in (silent, welcome):
            with self.subTest(answer.__name__), socket.create_server(("127.0.0.1", 0)) as server:
                asking = self.start_program("measure", "tcp", "--peer", f"127.0.0.1:{server.getsockname()[1]}", "--timeout",
                                            "100", *QUICK)
                connection, _ = server.accept()
                with connection:
                    answer(connection)
                    time.sleep(0.2)
                    self.check_ends_at_once(asking, 1)
                self.assertEqual(os.listdir(self.directory), [])

    def test_nobody_accepts(self):
        """A queue of connections that is full: connect waits."""
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen(0)
            port = server.getsockname()[1]
            waiting = []
            for _ in range(4):
                waiting.append(socket.socket())
                waiting[-1].setblocking(False)
                waiting[-1].connect_ex(("127.0.0.1", port))
            asking = self.start_program("measure", "tcp", "--peer", f"127.0.0.1:{port}", "--timeout", "100", *QUICK)
            time.sleep(0.5)
            self.check_ends_at_once(asking, 1)
            for one in waiting:
                one.close()


class Reach(PeersTest):
    def test_loopback_unless_named(self):
        listener, port = self.listen(at=":0")
        listener.wait_for_text("Only this machine reaches it")
        others = [line.split()[3].split("/")[0] for line in subprocess.run(
            ["ip", "-o", "-4", "addr", "show", "scope", "global"], capture_output=True, text=True,
            check=False).stdout.splitlines()]
        for address in others:
            with self.assertRaises(OSError):
                Peer(port, address)
        self.ask(port)
        self.assertEqual(len(self.good("measure", "tcp", "--peer", f"localhost:{port}", *QUICK, "-o", "b.meas").split("latency")), 2)
        listener, port = self.listen(at="0.0.0.0:0")
        listener.wait_for_text("Whoever reaches this port can ask; --secret-file FILE")
        for address in others:
            Peer(port, address).socket.close()


    def test_the_listening_end_is_confined(self):
        if not support.has_landlock():
            self.skipTest("this kernel has no Landlock")
        listener, port = self.listen()
        self.ask(port)
        self.assertEqual(support.unconfined_threads(listener.pid), [])


class Secret(PeersTest):
    def setUp(self):
        super().setUp()
        self.secrets = [self.secret(name, name * 20 + "\n") for name in ("a", "b")]

    def secret(self, name, text, mode=0o600):
        path = self.write(f"secret-{name}", text)
        os.chmod(path, mode)
        return path

    def test_same_and_other(self):
        listener, port = self.listen("--secret-file", self.secrets[0])
        self.ask(port, "--secret-file", self.secrets[0])
        self.assertIn("does not know the secret", self.ask(port, "--secret-file", self.secrets[1], code=2))
        self.assertIn("asks for a secret", self.ask(port, "-o", "b.meas", code=2))
        listener.wait_for_text("does not know the secret of this end")
        self.ask(port, "--secret-file", self.secrets[0], "-o", "c.meas")
        _, port = self.listen()
        self.assertIn("asks for no proof of the secret", self.ask(port, "--secret-file", self.secrets[0], "-o", "d.meas", code=2))

    def test_proofs(self):
        """What the protocol says, computed here; and a proof that was heard is of no use another time."""
        key, data = b"a" * 20, b"tcp\nhere"
        _, port = self.listen("--secret-file", self.secrets[0])

        def code(who, mine, theirs):
            head = f"fabricast measure {VERSION} {who} {DAY_S} 0 8 {len(data)}\n".encode()
            return hmac.new(key, head + mine + theirs + data, hashlib.sha256).digest()
        with Peer(port) as peer:
            peer.send(hello(data=data))
            kind, theirs = peer.receive()
            self.assertEqual((kind, len(theirs)), (CHALLENGE, 32))
            mine = os.urandom(32)
            heard = mine + code("asks", mine, theirs)
            peer.send(frame(PROOF, data=heard))
            self.assertEqual(peer.receive(), (PROOF, code("listens", mine, theirs)))
            self.assertEqual(peer.receive()[0], WELCOME)
        for proof in (heard, b"", heard[:63], b"\0" * 64):
            with Peer(port) as peer:
                peer.send(hello(data=data))
                again = peer.receive()[1]
                self.assertNotEqual(again, theirs)
                peer.send(frame(PROOF, data=proof))
                self.assertEqual(peer.receive()[0], FAILED)
        with Peer(port) as peer:
            peer.send(hello(data=data) + frame(WELCOME) + frame(OPENED))
            self.assertEqual(peer.receive()[0], CHALLENGE)
            self.assertEqual(peer.receive()[0], FAILED)

    def test_strangers_that_wait_at_the_door(self):
        """Who introduces itself and proves nothing, at any point of the proof, is sent away after 5 s, whatever --timeout is."""
        listener, port = self.listen("--secret-file", self.secrets[0], "--timeout", "60")
        for said in (hello(), hello() + frame(PROOF, data=b"\0" * 64)[:40]):
            with Peer(port) as stranger:
                stranger.send(said)
                self.assertEqual(stranger.receive()[0], CHALLENGE)
                begun_s = time.monotonic()
                self.ask(port, "--secret-file", self.secrets[0], "--timeout", "60")
                self.assertLess(time.monotonic() - begun_s, 10 * support.SLOWNESS)
        listener.wait_for_text("has not answered within the time limit")

    def test_files(self):
        # A group alone is too many, and so is everybody else without it.
        for mode in 0o644, 0o640, 0o604, 0o620, 0o602:
            self.refused("measure", "tcp", "--listen", ":0", "--secret-file", self.secret(f"open-{mode:o}", "x" * 20, mode),
                         names="others may open it")
        for path, says in ((self.secret("short", "x" * 15 + "\n"), "at least 16"),
                           (self.path("none"), "No such file")):
            self.refused("measure", "tcp", "--listen", ":0", "--secret-file", path, names=says)
        self.refused("measure", "tcp", "--secret-file", self.secrets[0], names="--listen or --peer")
        self.refused("measure", "tcp", "--peer", "a", "--session-limit", "5", names="--listen")
        self.refused("measure", "tcp", "--listen", ":0", "--session-limit", "0", names="--session-limit")


main()
