#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`collective` with lines that start nccl-tests, as READMEs and the documentation of clouds print them."""
import csv
import io

from support import CliTest, main

# A line, and the options that ask for the same.
LINES = [
    # the README of nccl-tests
    ("./build/all_reduce_perf -b 8 -e 128M -f 2 -g 8", "--op all_reduce -b 8 -e 128M -f 2 -g 8"),
    ("mpirun -np 64 -N 8 ./build/all_reduce_perf -b 8 -e 8G -f 2 -g 1", "--nodes 8 --op all_reduce -b 8 -e 8G -f 2"),
    # InfiniBand clusters
    ("mpirun --allow-run-as-root -np 16 -H node1:8,node2:8 --bind-to none -map-by slot -mca pml ob1 -mca btl ^openib "
     "-x NCCL_DEBUG=INFO -x NCCL_IB_HCA=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1 "
     "-x NCCL_IB_QPS_PER_CONNECTION=4 -x NCCL_IB_SPLIT_DATA_ON_QPS=0 -x NCCL_CROSS_NIC=0 -x NCCL_SOCKET_IFNAME=eth0 "
     "-x CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 -x LD_LIBRARY_PATH -x PATH /nccl-tests/build/alltoall_perf -b 1M -e 1G -f 4 "
     "-g 1 -n 50 -w 10 -c 0", "--nodes 2 --op alltoall -b 1M -e 1G -f 4"),
    # RoCE clusters
    ("mpirun -np 32 --map-by ppr:8:node -x UCX_NET_DEVICES=eth0 -x NCCL_IB_GID_INDEX=3 -x NCCL_IB_TC=41 -x NCCL_IB_SL=0 "
     "-x NCCL_BUFFSIZE=16777216 -x NCCL_IGNORE_CPU_AFFINITY=1 -x NCCL_ALGO=Ring --mca coll_hcoll_enable 0 "
     "./build/all_gather_perf -b 64M -e 1G -f 2", "--nodes 4 --op all_gather -b 64M -e 1G -f 2 -x NCCL_ALGO=Ring"),
    # Slurm; values may stand right behind their options
    ("srun --nodes=2 --ntasks-per-node=8 --gpus-per-node=8 --mpi=pmix --export=ALL,NCCL_PROTO=Simple all_reduce_perf_mpi -b 512M "
     "-e 8G -f 2 -g 1", "--nodes 2 --op all_reduce -b 512M -e 8G -f 2 -x NCCL_PROTO=Simple"),
    ("NCCL_ALGO=Ring srun -N 2 -n 2 ./build/sendrecv_perf -b 32M -e 64M -g 8", "--nodes 2 --op sendrecv -b 32M -e 64M -x NCCL_ALGO=Ring"),
    ("NCCL_ALGO=Ring NCCL_PROTO=Simple srun -N 2 -n 2 ./build/all_reduce_perf -b 32M -e 64M -g 8",
     "--nodes 2 --op all_reduce -b 32M -e 64M -x NCCL_ALGO=Ring -x NCCL_PROTO=Simple"),
    ("srun -N2 -n16 ./build/all_reduce_perf -b32M -e64M -f2 -g1", "--nodes 2 --op all_reduce -b 32M -e 64M -f 2"),
    # options of nccl-tests that change nothing that is predicted
    ("mpirun -n 2 -ppn 1 ./reduce_scatter_perf -b 1G -e 1G -d bfloat16 -o sum -z 0 -G 0 -t 1 -g 8",
     "--nodes 2 --op reduce_scatter -b 1G -e 1G -d bfloat16 -g 8"),
]


class LaunchLines(CliTest):
    def rows(self, *args):
        text = self.good("collective", "--node", "dgx-h100", "--no-band", "--format", "csv", *args)
        return [list(row.values()) for row in csv.DictReader(io.StringIO(text))]

    def test_lines_are_the_options_that_they_stand_for(self):
        for line, options in LINES:
            with self.subTest(line):
                self.assertEqual(self.rows(*line.split()), self.rows(*options.split()))

    def test_what_stands_beside_the_line_counts_too(self):
        line = "mpirun -np 16 -N 8 ./build/all_reduce_perf -b 1G -e 1G"
        self.assertEqual(self.rows("--nic", "ib-hdr", *line.split()),
                         self.rows("--nic", "ib-hdr", "--nodes", "2", "-b", "1G", "-e", "1G"))
        self.refused("collective", "--node", "dgx-h100", "--nodes", "4", *line.split(), names="it is given twice")

    def test_variables_without_effect_say_why(self):
        text = self.good("collective", "--node", "dgx-h100", "-b", "1G", "-e", "1G", "-x", "NCCL_IB_TC=106", "-x", "NCCL_ALGO=Ring")
        self.assertIn("# -x NCCL_IB_TC=106: no effect, since it marks packets", text)
        self.assertIn("# -x NCCL_ALGO=Ring\n", text)

    def test_lines_that_cannot_be(self):
        for line, message in [
                ("mpirun -np 16 ./build/all_reduce_perf", "does not say how many each node has; add -N RANKS"),
                ("mpirun -np 15 -N 8 ./build/all_reduce_perf", "15 ranks, which are not 1 nodes with 8 each"),
                ("srun -N 2 --ntasks-per-node=1 -n 1 ./build/all_reduce_perf", "1 ranks, which are not 2 nodes with 1 each"),
                ("srun -N 1 --ntasks-per-node=1 -n 5 ./build/all_reduce_perf", "5 ranks, which are not 1 nodes with 1 each"),
                ("mpirun -np 16 -N 8 ./train.py", "the line starts no program of nccl-tests"),
                ("mpirun -np 16 -N 8 -x NCCL_NET=Socket ./build/all_reduce_perf", "name the link of the sockets with --nic"),
                ("mpirun -np 16 -N 8 -x NCCL_ALGOO=Ring ./build/all_reduce_perf", "unknown variable; nearest is NCCL_ALGO")]:
            self.refused("collective", "--node", "dgx-h100", *line.split(), names=message)

    def test_sendrecv_is_a_shift_by_one_rank(self):
        """Every rank sends the whole size to the next one: algbw is busbw, and the slowest send is one between nodes."""
        text = self.good("collective", "--node", "dgx-h100", "--nodes", "2", "--op", "sendrecv", "-b", "1G", "-e", "1G", "--format",
                         "csv", "--no-band")
        row = next(csv.DictReader(io.StringIO(text)))
        self.assertEqual(row["algbw_GBps"], row["busbw_GBps"])
        self.assertLess(float(row["busbw_GBps"]), 50)


if __name__ == "__main__":
    main()
