#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/examples/sweep.sbatch on a Slurm of one machine: over PMIx, without MPI, and killed in the middle."""
import os
import shutil
import signal
import socket
import subprocess
import sys
import unittest

import support
from support import child, main
from sweeps import SweepTest, count, rows

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "sinfo")
SCRIPT = os.path.join(support.SOURCE, "docs", "examples", "sweep.sbatch")
CONF = """\
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmctldPort={port}
SlurmdPort={other_port}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmdParameters=config_overrides
KillWait=1
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(n):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Slurm(SweepTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = support.new_directory()
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        for name in ("state", "spool"):
            os.mkdir(os.path.join(cls.folder, name))
        key = cls.file("munge.key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(os.urandom(128))
        port, other_port = free_ports(2)
        with open(cls.file("slurm.conf"), "w", encoding="ascii") as file:
            file.write(CONF.format(host=socket.gethostname().split(".")[0], folder=cls.folder, port=port, other_port=other_port))
        cls.env = {**support.environment(), "SLURM_CONF": cls.file("slurm.conf"), "FABRICAST": support.PROGRAM,
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                   "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
        cls.daemon("munged", "--foreground", "--force", "--key-file", key, "--socket", cls.file("munge.sock"), "--pid-file",
                   cls.file("munge.pid"), "--log-file", cls.file("munge.log"), "--seed-file", cls.file("munge.seed"))
        try:
            child.until(lambda: os.path.exists(cls.file("munge.sock")), "munged listens", 60)
            cls.daemon("slurmctld", "-D")
            cls.daemon("slurmd", "-D")
            child.until(lambda: "idle" in cls.slurm("sinfo", "-h", "-o", "%T"), "the node is idle", 60)
        except AssertionError as error:
            raise unittest.SkipTest(f"Slurm does not come up here: {error}") from error

    @classmethod
    def file(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def daemon(cls, *command):
        process = subprocess.Popen(command, env=cls.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.send_signal, signal.SIGTERM)

    @classmethod
    def slurm(cls, *command, **how):
        return subprocess.run(command, env=cls.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              **how).stdout

    def submit(self, mpi):
        env = {**self.env, "SWEEP_MPI": mpi, "SCENARIO": self.tiny}
        done = subprocess.run(["sbatch", "--parsable", SCRIPT], cwd=self.directory, env=env, capture_output=True, text=True,
                              check=True)
        return done.stdout.strip()

    def has_ended(self, job):
        return not self.slurm("squeue", "-h", "-j", job).strip()

    def end(self, job):
        child.until(lambda: self.has_ended(job), f"job {job} ends")

    def whole_rows_of_script(self):
        self.good("sweep", self.tiny, "--vary", "cluster.nic_rate=1..100Gb/s", "--vary", "cluster.nodes=2,3", "--db", "whole.db")
        return rows(self.path("whole.db"))

    def check(self, mpi):
        self.end(self.submit(mpi))
        log = support.read(self.path("sweep.log"))
        self.assertIn("200 points of cluster.nic_rate x cluster.nodes", log)
        self.assertEqual(rows(self.path("sweep.db")), self.whole_rows_of_script(), log)
        return log

    def test_pmix(self):
        if "pmix" not in subprocess.run(["srun", "--mpi=list"], env=self.env, capture_output=True, text=True, check=False).stderr \
           + self.slurm("srun", "--mpi=list"):
            self.skipTest("this Slurm has no PMIx")
        self.assertEqual(self.check("pmix").count("200 points"), 1)  # one of the four prints

    def test_without_mpi(self):
        self.assertEqual(self.check("none").count("200 points"), 4)

    def test_cancelled_and_submitted_again(self):
        job = self.submit("pmix")
        child.until(lambda: count(self.path("sweep.db")) > 0 or self.has_ended(job), f"job {job} keeps points")
        self.slurm("scancel", "--signal=KILL", job)
        self.end(job)
        self.check("pmix")


if __name__ == "__main__":
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        print("skipped:", f"the program '{missing[0]}' is missing (Debian: slurm-wlm, munge)" if missing
              else "only root can start a Slurm of its own")
        sys.exit(support.SKIPPED)
    main()
