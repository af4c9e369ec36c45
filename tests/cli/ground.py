# SPDX-License-Identifier: Apache-2.0
"""Ground truth without hardware: links that were set are measured, calibrated and used to predict.

docs/how-to/ground-truth.md says how.

`ground.py PROGRAM NAPS links`: rates with a wire of known delay, one over tcp (three with FAB_WHOLE=1) and one over ofi; both must
come back.
`ground.py PROGRAM NAPS collectives`: ring and tree all-reduces of Open MPI over 2 and 8 hosts (and 4 with FAB_WHOLE=1) against
predictions from messages between two of them. `--full` measures more and prints the tables of the page. NAPS is tests/support/naps.c, built.

What is compared are times on a machine that others may use, so what misses is measured again, four times at most. Where
it misses still, and others kept the processors busy meanwhile, nothing is known: that is skipped.
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys

import support

sys.path.insert(0, os.path.join(support.SOURCE, "tests", "support"))
import netns  # noqa: E402

(yaml,) = support.need("yaml")

ATTEMPTS = 5
BUSY = 0.15  # of all processors, by others
RATE_TOLERANCE, LATENCY_TOLERANCE, COLLECTIVE_TOLERANCE = 0.03, 0.20, 0.10
RATES = {"tcp": ("10mbit", "20mbit", "40mbit"), "ofi": ("20mbit",)}
IS_WHOLE = support.IS_WHOLE or "--full" in sys.argv
DELAY_S = 10e-3
HOSTS = (2, 4, 8) if IS_WHOLE else (2, 8)
# How Open MPI is told to use what the simulator calls `ring` and `binomial`.
ALGORITHMS = {
    "ring": {"coll_tuned_allreduce_algorithm": 4},
    "binomial": {"coll_tuned_allreduce_algorithm": 2, "coll_tuned_reduce_algorithm": 5, "coll_tuned_bcast_algorithm": 6},
}
SET = {"tcp": [], "ofi": ["--set", "provider=tcp"]}


def samples(least, most, seconds):
    return ["--min-samples", str(least), "--max-samples", str(most), "--time", str(seconds)]


def works(program):
    listed = subprocess.run([program, "measure", "--format", "json"], capture_output=True, text=True, check=True).stdout
    return {row["backend"]: row["works"] == "yes" for row in json.loads(listed)}


class Ground:
    def __init__(self, program, naps, is_full):
        self.program = program
        self.naps = naps
        self.disturbance = 0.0
        self.is_full = is_full
        self.algorithms = [name for name in ALGORITHMS if name in sys.argv] or list(ALGORITHMS)
        self.directory = support.new_directory()

    def new(self, name):
        """A file that is not there yet."""
        path = os.path.join(self.directory, name)
        if os.path.exists(path):
            os.unlink(path)
        return path

    def tries(self):
        """Attempts; whoever asks for another one has missed."""
        for _ in range(1 if self.is_full else ATTEMPTS):
            before = processor_times()
            yield
            self.disturbance = max(self.disturbance, part_of_others(before, processor_times()))

    def rig(self, hosts, rate, delay_s=0, is_shared=False):
        return netns.Rig(hosts, rate, delay_s, self.naps, is_shared)

    def fabricast(self, *arguments):
        return subprocess.run([self.program, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout

    def measure(self, rig, backend, file, *how):
        """Between the first two hosts."""
        rig.start(1, [self.program, "measure", backend, "--listen", rig.address(1) + ":7471", "--once", *SET[backend]], stderr=subprocess.DEVNULL)
        rig.run(0, [self.program, "measure", backend, "--peer", rig.address(1), "-o", file, *SET[backend], *how],
                stdout=subprocess.DEVNULL)

    def calibrate(self, name, *files):
        """A file of entries whose one link has this name, and the link."""
        written = self.new(name + ".yaml")
        done = subprocess.run([self.program, "calibrate", *files, "--name", name, "-o", written], stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            raise NothingTold
        with open(written, encoding="utf-8") as file:
            return written, yaml.safe_load(file)["links"][0]


class NothingTold(Exception):
    """What was measured is too disturbed to be calibrated: measure again."""


def processor_times():
    """Seconds of all processors: in sum, of programs or taken by other machines, and of this script's own programs."""
    with open("/proc/stat", encoding="utf-8") as file:
        user, nice, *other = (int(ticks) / os.sysconf("SC_CLK_TCK") for ticks in file.readline().split()[1:9])
    own = os.times()
    return user + nice + sum(other), user + nice + other[5], own.user + own.children_user


def part_of_others(before, after):
    total, used, own = (end - start for start, end in zip(before, after))
    return (used - own) / max(total, 0.01)


def quantity(text):
    """In bits per second or seconds."""
    units = {"B/s": 8, "kB/s": 8e3, "MB/s": 8e6, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9, "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
    number, unit = re.fullmatch(r"([0-9.]+)(\D+)", text).groups()
    return float(number) * units[unit]


# --- links ---


def measure_link(ground, backend, rate):
    """Error of the calibrated rate and of the calibrated latency."""
    file = ground.new(f"{backend}-{rate}.meas")
    with ground.rig(2, rate) as rig:
        ground.measure(rig, backend, file, "--kinds", "bandwidth", "--sizes", "64K..256K", *samples(6, 6, 0.2))
    with ground.rig(2, rate, DELAY_S) as rig:
        ground.measure(rig, backend, file, "--kinds", "latency", "--sizes", "1,8,64", *samples(6, 6, 0.2))
    _, link = ground.calibrate(f"{backend}-{rate}", file)
    reached = quantity(link["signalling"]) * link["copy"]["achievable"] / netns.PAYLOAD
    return reached / netns.bits(rate) - 1, quantity(link["endpoint"]) / DELAY_S - 1


def check_links(ground):
    bad = []
    print(f"{'backend':8}{'set rate':>10}{'calibrated':>12}{'set delay':>12}{'calibrated':>12}")
    for backend in filter(works(ground.program).get, SET):
        for rate in RATES["tcp"] if ground.is_full else RATES[backend] if IS_WHOLE else RATES[backend][-1:]:
            for _ in ground.tries():
                try:
                    rate_error, latency_error = measure_link(ground, backend, rate)
                except NothingTold:
                    continue
                print(f"{backend:8}{rate:>10}{rate_error:>+12.2%}{DELAY_S * 1e3:>9.0f} ms{latency_error:>+12.2%}", flush=True)
                if abs(rate_error) <= RATE_TOLERANCE and abs(latency_error) <= LATENCY_TOLERANCE:
                    break
            else:
                bad.append(f"{backend} at {rate}: not within {RATE_TOLERANCE:.0%} of the rate and {LATENCY_TOLERANCE:.0%} of the delay")
    return bad


# --- collectives ---


class Collectives:
    def __init__(self, ground):
        self.ground = ground
        self.rate = "20mbit"  # eight times that is what two processors carry beside the ranks
        full = [1 << power for power in range(16, 27, 2)]
        self.sizes = {"ring": full, "binomial": full} if ground.is_full else dict.fromkeys(ALGORITHMS, [1 << 16, 1 << 17])
        self.measured_to = 1 << 22 if ground.is_full else 1 << 17  # what is larger takes minutes, and is predicted all the same

    def calibrate(self):
        """From messages between two hosts, of the sizes that trees (whole buffers) and rings (parts of them) pass."""
        ground, file = self.ground, self.ground.new("pair.meas")
        how = samples(6, 10, 1) if ground.is_full else samples(6, 6, 0.2)
        with ground.rig(2, self.rate, is_shared=True) as rig:
            for kind, least in (("latency", 1 << 15), ("exchange", (1 << 16) // HOSTS[-1])):
                ground.measure(rig, "tcp", file, "--kinds", kind, "--sizes", f"{least}..{self.measured_to}", *how)
        return ground.calibrate("wire", file)[0]

    def predict(self, entries, hosts, algorithm):
        """Seconds by size."""
        sizes = self.sizes[algorithm]
        printed = self.ground.fabricast(
            "collective", "--node", "host", "--nodes", str(hosts), "--nic", "wire", "--with", entries, "--library", "mpi",
            "--algorithm", algorithm, "-b", str(sizes[0]), "-e", str(sizes[-1]),
            "-f", "4" if self.ground.is_full else "2", "--format", "csv")
        return {int(row["size_bytes"]): float(row["time_us"]) * 1e-6 for row in csv.DictReader(io.StringIO(printed))}

    def measure(self, rig, hosts, algorithm):
        file = self.ground.new(f"{algorithm}-{hosts}.meas")
        small = [size for size in self.sizes[algorithm] if size <= self.measured_to]
        for sizes, n in ((small, 5 if self.ground.is_full else 3), (self.sizes[algorithm][len(small):], 1)):
            if sizes:
                rig.mpirun(hosts, [self.ground.program, "measure", "mpi", "-o", file, "--kinds", "collective", "--sizes",
                                   ",".join(map(str, sizes)), "--set", f"algorithm={algorithm}", *samples(n, n, 10)],
                           ALGORITHMS[algorithm], stdout=subprocess.DEVNULL)
        shown = json.loads(self.ground.fabricast("measure", "show", file, "--format", "json"))
        return {point["size_bytes"]: point["time_ps"] * 1e-12 for point in shown["series"][0]["points"]}

    def compare(self, entries, hosts, algorithm):
        """The largest error."""
        predicted = self.predict(entries, hosts, algorithm)
        with self.ground.rig(hosts, self.rate, is_shared=True) as rig:
            measured = self.measure(rig, hosts, algorithm)
        errors = {size: predicted[size] / measured[size] - 1 for size in self.sizes[algorithm]}
        for size, error in errors.items():
            print(f"{algorithm:10}{hosts:>6}{size:>10}{measured[size] * 1e3:>12.1f} ms{predicted[size] * 1e3:>12.1f} ms{error:>+9.1%}",
                  flush=True)
        return max(map(abs, errors.values()))


def check_collectives(ground):
    work = Collectives(ground)
    entries, bad = None, []
    print(f"{'algorithm':10}{'hosts':>6}{'bytes':>10}{'measured':>15}{'predicted':>15}{'error':>9}")
    for algorithm in ground.algorithms:
        for hosts in HOSTS:
            for _ in ground.tries():
                try:
                    entries = entries or work.calibrate()
                except NothingTold:
                    continue
                if work.compare(entries, hosts, algorithm) <= COLLECTIVE_TOLERANCE:
                    break
                entries = None  # what was disturbed may have been the pair
            else:
                bad.append(f"{algorithm} over {hosts} hosts: not within {COLLECTIVE_TOLERANCE:.0%}")
    return bad


def main():
    program, naps, part = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
    if part == "links" and not netns.can_delay():
        netns.skip("a wire with a delay needs /dev/net/tun, which cannot be opened here")
    if part == "collectives" and not (works(program)["mpi"] and shutil.which("mpirun")):
        netns.skip("it takes MPI and the program 'mpirun' (Debian: libopenmpi-dev, openmpi-bin)")
    netns.enter()
    ground = Ground(program, naps, "--full" in sys.argv)
    bad = (check_links if part == "links" else check_collectives)(ground)
    shutil.rmtree(ground.directory)
    if bad and ground.disturbance > BUSY and not ground.is_full:
        netns.skip(f"other programs kept {ground.disturbance:.0%} of the processors busy; " + "; ".join(bad))
    if bad:
        sys.exit("\n".join(bad))


if __name__ == "__main__":
    main()
