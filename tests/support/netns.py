# SPDX-License-Identifier: Apache-2.0
"""Hosts on one machine: network namespaces, each with a link of known rate (tc tbf), joined by a bridge or by a wire of
known delay.

`enter()` runs the calling script again in namespaces of its own for mounts, network and processes, as root or in
a user namespace. Everything that a Rig makes lives in there: nothing of the machine is touched, several at once cannot
collide, and all of it ends with the script, however that ends. Where the kernel does not allow it, `enter()` prints
why and exits as skipped.

What the bucket counts is Ethernet frames: 14 bytes of Ethernet, 20 of IPv4, 20 of TCP and 12 of its time stamp go
with each MTU of 1500, so that payload gets 1448 / 1514 of the set rate (`PAYLOAD`).
"""
import collections
import fcntl
import os
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
INSIDE = "FAB_NETNS"
PRIORITY = -15  # what else runs on the machine is not to be measured
MTU = 1500
FRAME = 14 + MTU
PAYLOAD = (FRAME - 14 - 20 - 20 - 12) / FRAME

# The same in every host, whatever the machine around it prefers: a window that is not paced, not forgotten in pauses
# and not learnt from the connection before.
SETTINGS = {
    "net.ipv4.tcp_congestion_control": "reno",
    "net.ipv4.tcp_slow_start_after_idle": "0",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv6.conf.all.disable_ipv6": "1",
}

# Where connections share a link, they do so frame by frame: a few frames at most of each wait there. Else one puts 64 KiB
# there at once, and the next comes after it. A window that is not full does not grow, so it starts with what waits at links
# both ways, and more.
WAITING = 4 * MTU
WINDOW_FRAMES = 100

# How mpirun starts its daemon on a host: mpirun asks `AGENT HOST COMMAND`, HOST being an address of the rig.
AGENT = """#!/bin/sh
while case $1 in -*) true ;; *) false ;; esac; do shift; done
name=h$((${1##*.} - 1))
shift
exec ip netns exec "$name" unshare --uts sh -c 'hostname "$0" && exec sh -c "$1"' "$name" "$*"
"""

# Open MPI over TCP, messages as a whole: over one connection, the answer to a request to send waits behind data of
# the other direction, and messages take once or twice as long as it happens. Buffers are the kernel's, which grow: in a
# ring answers come back behind the data that their sender passes on, and one that may send 8 KiB ahead stands idle
# meanwhile, 4 hosts by a tenth.
MESSAGE_LIMIT = 1 << 27
OPEN_MPI = {
    "oob_tcp_if_include": "eth0", "btl": "tcp,self", "pml": "ob1", "btl_tcp_if_include": "eth0",
    "btl_tcp_eager_limit": MESSAGE_LIMIT, "btl_tcp_rndv_eager_limit": MESSAGE_LIMIT, "btl_tcp_max_send_size": MESSAGE_LIMIT,
    "btl_tcp_min_rdma_pipeline_size": 2 * MESSAGE_LIMIT, "btl_tcp_free_list_num": "2", "btl_tcp_free_list_inc": "2",
    "btl_tcp_sndbuf": "0", "btl_tcp_rcvbuf": "0", "mpi_yield_when_idle": "1", "coll_tuned_use_dynamic_rules": "1", "orte_keep_fqdn_hostnames": "1",
}


def skip(sentence):
    print("skipped:", sentence)
    sys.exit(SKIPPED)


def enter():
    """Returns inside; the script that calls it starts anew there."""
    if os.environ.get(INSIDE):
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
        os.makedirs("/run/netns")
        try:
            os.nice(PRIORITY)
        except PermissionError:
            pass  # as everybody else, then
        return
    for tool in ("unshare", "mount", "ip", "tc"):
        if not shutil.which(tool):
            skip(f"the program '{tool}' is missing (Debian: util-linux, mount, iproute2)")
    unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        unshare += ["--user", "--map-root-user"]
    probe = ("mount -t tmpfs none /run && mkdir /run/netns && ip netns add a && ip link add v0 type veth peer name v1 netns a"
             " && ip link add name br type bridge && tc qdisc add dev v0 root tbf rate 1mbit burst 16kb limit 1mb")
    answer = subprocess.run([*unshare, "sh", "-c", probe], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        skip("this machine permits no network namespaces with a token bucket: "
             + (answer.stderr.strip().splitlines() or ["no reason given"])[-1])
    child = subprocess.Popen([*unshare, sys.executable, *sys.argv], env={**os.environ, INSIDE: "1"})
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: child.kill())
    sys.exit(child.wait())


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def bits(rate):
    """Bits per second of a rate as tc writes it."""
    return float(rate.removesuffix("mbit")) * 1e6


def can_delay():
    """Whether a wire with a delay can be had."""
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError:
        return False
    return True


def open_tap(name):
    """The end of a network card that the kernel does not see: frames."""
    tun_set_iff, tap_without_info = 0x400454CA, 0x1002
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, tun_set_iff, struct.pack("16sH22x", name.encode(), tap_without_info))
    return end


def carry(ends, delay_s):
    """Hands what comes out of one end to the other, so much later, for ever."""
    under_way = collections.deque()
    while True:
        left = max(under_way[0][0] - time.monotonic(), 0) if under_way else None
        ready, _, _ = select.select(ends, [], [], left)
        for end in ready:
            due, other = time.monotonic() + delay_s, ends[1 - ends.index(end)]
            try:
                while True:
                    under_way.append((due, other, os.read(end, 2 * FRAME)))
            except BlockingIOError:
                pass
        while under_way and under_way[0][0] <= time.monotonic():
            _, other, frame = under_way.popleft()
            try:
                os.write(other, frame)
            except OSError:  # the card is not up yet
                pass


class Rig:
    """`hosts` namespaces h0, h1, ... with addresses 10.9.0.1, 10.9.0.2, ...; `rate` as tc writes it ("20mbit"). With a
    delay there are two hosts. `is_shared`: by several connections at once."""

    def __init__(self, hosts, rate, delay_s=0, preload=None, is_shared=False):
        self.hosts = hosts
        self.is_shared = is_shared
        self.preload = preload  # a library for every program
        self.processes = []
        self.wire = None
        self.directory = tempfile.mkdtemp(prefix="fab-rig-")
        self.agent = os.path.join(self.directory, "agent")
        with open(self.agent, "w", encoding="utf-8") as file:
            file.write(AGENT)
        os.chmod(self.agent, stat.S_IRWXU)
        for host in range(hosts):
            ip("netns", "add", f"h{host}")
        if delay_s:
            self._join_by_wire(delay_s)
        else:
            self._join_by_bridge()
        for host in range(hosts):
            self._set_up(host, rate)

    def _join_by_bridge(self):
        ip("link", "add", "name", "switch", "type", "bridge")
        ip("link", "set", "switch", "up")
        for host in range(self.hosts):
            ip("link", "add", f"p{host}", "type", "veth", "peer", "name", "eth0", "netns", f"h{host}")
            ip("link", "set", f"p{host}", "master", "switch", "up")

    def _join_by_wire(self, delay_s):
        ends = [open_tap(f"p{host}") for host in range(self.hosts)]
        for host in range(self.hosts):
            ip("link", "set", f"p{host}", "netns", f"h{host}", "name", "eth0")
        self.wire = os.fork()
        if self.wire == 0:
            carry(ends, delay_s)
        for end in ends:
            os.close(end)

    def _set_up(self, host, rate):
        name = f"h{host}"
        ip("-n", name, "link", "set", "lo", "up")
        ip("-n", name, "addr", "add", self.address(host) + "/24", "dev", "eth0")
        ip("-n", name, "link", "set", "eth0", "up")
        for key, value in SETTINGS.items():
            self.run(host, ["sysctl", "-qw", f"{key}={value}"])
        if self.is_shared:
            self.run(host, ["sysctl", "-qw", f"net.ipv4.tcp_limit_output_bytes={WAITING}"])
            ip("-n", name, "link", "set", "eth0", "gso_max_segs", "1")
            ip("-n", name, "route", "replace", "10.9.0.0/24", "dev", "eth0", "src", self.address(host), "initcwnd",
               str(WINDOW_FRAMES))
        # Two frames at least, and what comes between two ticks of a busy machine.
        burst = max(2 * FRAME, int(bits(rate) / 8 * 0.25e-3))
        subprocess.run(["tc", "-n", name, "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", rate, "burst", str(burst),
                        "limit", "4mb"], check=True)

    @staticmethod
    def address(host):
        return f"10.9.0.{host + 1}"

    def _inside(self, host, command):
        preload = ["env", f"LD_PRELOAD={self.preload}"] if self.preload else []
        return ["ip", "netns", "exec", f"h{host}", "unshare", "--uts", "sh", "-c", f'hostname h{host} && exec "$@"', "sh",
                *preload, *command]

    def run(self, host, command, **options):
        """subprocess.run on a host."""
        return subprocess.run(self._inside(host, command), check=options.pop("check", True), **options)

    def start(self, host, command, **options):
        """subprocess.Popen on a host; stop() ends it."""
        process = subprocess.Popen(self._inside(host, command), **options)
        self.processes.append(process)
        return process

    def mpirun(self, ranks, command, settings=None, **options):
        """Open MPI over TCP, one rank on each of the first hosts."""
        known = {"plm_rsh_agent": self.agent, **OPEN_MPI, **(settings or {})}
        mca = [word for key, value in known.items() for word in ("--mca", key, str(value))]
        hosts = ",".join(self.address(host) + ":1" for host in range(ranks))
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TMPDIR": self.directory}
        exported = ["-x", "LD_PRELOAD"] if self.preload else []
        return self.run(0, ["mpirun", *exported, "-n", str(ranks), "--host", hosts, "--bind-to", "none", *mca, *command],
                        env=environment, **options)

    def stop(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        if self.wire:
            os.kill(self.wire, signal.SIGKILL)
            os.waitpid(self.wire, 0)
        else:  # at once; a namespace lets go of its own cards when it finds the time
            for name in ["switch", *(f"p{host}" for host in range(self.hosts))]:
                ip("link", "del", name)
        for host in range(self.hosts):
            ip("netns", "del", f"h{host}")
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
