#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What training jobs must show, whatever the numbers are: the questions that people ask of them."""
import contextlib
import os
import sqlite3

from support import SCENARIOS, CliTest, main

FOLDER = os.path.dirname(SCENARIOS[0])


def scenario(name):
    return os.path.join(FOLDER, name + ".yaml")


class Training(CliTest):
    def last(self, name, *sets):
        args = [word for text in sets for word in ("--set", text)]
        done = self.fabricast("run", scenario(name), "--no-db", "--allow-oversized", "--format", "csv", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        head, *rows = done.stdout.splitlines()
        cells = zip(head.split(","), rows[-1].split(","))
        return {name: float(value) for name, value in cells if name not in ("verdict", "band_most")}

    def test_ddp_exposes_less_with_every_doubling_of_the_network(self):
        """2, 20 and 200 billion parameters on 8 and 32 GPUs at 200, 400, 800, 1600 and 3200 Gb/s per node."""
        for model in ("gpt-2b", "gpt-20b", "gpt-200b"):
            one = self.last("ddp-20b", f"job.model={model}", "cluster.nodes=1")
            curve = [self.last("ddp-20b", f"job.model={model}", f"cluster.nics_per_node={nics}", f"cluster.nic={nic}")
                     for nics, nic in ((1, "ib-hdr"), (2, "ib-hdr"), (4, "ib-hdr"), (8, "ib-hdr"), (8, "ib-ndr"))]
            times = [row["step_s"] for row in curve]
            self.assertEqual(times, sorted(times, reverse=True), model)
            self.assertLessEqual(one["step_s"], times[-1] * 1.005, model)
            self.assertGreater(curve[0]["comm_s"], 3 * curve[3]["comm_s"], model)

    def test_gradients_wait_for_the_last_backward_pass(self):
        """Megatron without overlap_grad_reduce, whatever the order of passes; with it, the first stage does not wait."""
        text = ("name: flush\niterations: 1\ncluster: {node: dgx-h100, nodes: 4}\n"
                "job: {kind: megatron, model: llama2-7b, sequence: 4096, accumulation: 8, compute: {kind: mfu, mfu: 50%}}\n")
        schedules = ("1f1b", "gpipe", "zero_bubble", "interleaved, virtual: 2")
        for number, (schedule, flag) in enumerate((s, f) for s in schedules for f in ("false", "true")):
            path, store = self.write(f"{number}.yaml", text), self.path(f"{number}.db")
            self.good("run", path, "--db", store, "--set", f"job.overlap_grad_reduce={flag}",
                      "--set", f"job.parallel={{tensor: 2, pipeline: 4, schedule: {schedule}}}")
            with contextlib.closing(sqlite3.connect(store)) as database:
                first = dict(database.execute(
                    "SELECT span.rank_class, min(span.start_ps) FROM span JOIN collective USING (collective)"
                    " WHERE dimension = 'data' AND span.kind = 'comm' GROUP BY 1"))
                last = dict(database.execute("SELECT rank_class, max(end_ps) FROM span"
                                             " WHERE kind = 'compute' AND name LIKE 'backward%' GROUP BY 1"))
            self.assertEqual(set(first), set(last))
            early = {stage for stage, start in first.items() if start < last[stage]}
            self.assertEqual(early == set(), flag == "false", f"{schedule} {flag} {early}")

    def test_prefetching_hides_what_it_can(self):
        """FSDP with 0, 1 and 2 units gathered ahead; ZeRO-3 with and without a prefetch bucket."""
        depth = [self.last("fsdp-8b-straggler", "job.stragglers=[]", "job.micro_batch=1", f"job.in_flight={n}")
                 for n in (1, 2, 3)]
        self.assertGreater(depth[0]["exposed_s"], 2 * depth[1]["exposed_s"])
        self.assertLessEqual(depth[2]["exposed_s"], depth[1]["exposed_s"] * 1.001)
        self.assertAlmostEqual(depth[0]["comm_s"], depth[1]["comm_s"], delta=0.02 * depth[1]["comm_s"])
        fast = "cluster.nics_per_node=8"
        none = self.last("zero3-13b-slow-fabric", fast, "job.prefetch_bucket=0")
        some = self.last("zero3-13b-slow-fabric", fast)
        self.assertGreater(none["exposed_s"], 3 * some["exposed_s"])

    def test_hierarchical_sharding_wins_on_a_slow_fabric_and_loses_nothing_on_a_fast_one(self):
        for overlap, most in (("true", 1), ("false", 0.7)):
            keys = f"job.prefetch_overlap={overlap}"
            flat = self.last("zero3-13b-slow-fabric", keys)
            near = self.last("zero3-13b-slow-fabric", keys, "job.secondary=8")
            self.assertLess(near["step_s"], most * flat["step_s"])
        fast = "cluster.nics_per_node=8"
        flat = self.last("zero3-13b-slow-fabric", fast)
        near = self.last("zero3-13b-slow-fabric", fast, "job.secondary=8")
        self.assertLess(near["step_s"], 1.005 * flat["step_s"])

    def test_accumulation_makes_local_shards_pay(self):
        """MiCS sums over the fabric once per step, flat ZeRO-3 in each of eight micro-batches."""
        flat = self.last("zero3-13b-slow-fabric", "job.accumulation=8")
        mics = self.last("zero3-13b-slow-fabric", "job.accumulation=8", "job.shard=8")
        self.assertLess(mics["step_s"], flat["step_s"])

    def test_schedules_divide_the_bubble(self):
        name = "moe-mixtral-128-gpus"
        plain = self.last(name)
        virtual = self.last(name, "job.parallel.schedule=interleaved", "job.parallel.virtual=4")
        zero = self.last(name, "job.parallel.schedule=zero_bubble")
        self.assertLess(virtual["idle_s"], 0.6 * plain["idle_s"])
        self.assertLess(zero["idle_s"], 0.7 * plain["idle_s"])
        in_a_v = self.last(name, "job.parallel.schedule=zero_bubble_v")
        self.assertLess(in_a_v["idle_s"], 0.5 * zero["idle_s"])
        half = self.last(name, "job.parallel.schedule=v_half")
        self.assertLess(in_a_v["step_s"], half["step_s"])

    def test_pairs_hide_the_exchange_of_tokens(self):
        """Tokens of a pass travel while the pass of the other direction computes."""
        sets = ("job.accumulation=24", "cluster.nic=ib-hdr")
        plain = self.last("moe-mixtral-128-gpus", *sets, "job.parallel.schedule=zero_bubble_v")
        for schedule in ("dualpipe", "dualpipe_v"):
            paired = self.last("moe-mixtral-128-gpus", *sets, f"job.parallel.schedule={schedule}")
            self.assertGreater(paired["overlapped_s"], 2 * plain["overlapped_s"], schedule)

    def test_a_straggler_sets_the_pace(self):
        usual = self.last("fsdp-8b-straggler", "job.stragglers=[]")
        slow = self.last("fsdp-8b-straggler")
        self.assertAlmostEqual(slow["step_s"] / usual["step_s"], 1.2, delta=0.02)

    def test_jitter_is_drawn_from_the_seed(self):
        def run(seed):
            return self.last("fsdp-8b-straggler", "job.stragglers=[]", "job.jitter.cv=3%", f"seed={seed}")

        self.assertEqual(run(1), run(1))
        self.assertNotEqual(run(1)["step_s"], run(2)["step_s"])
        usual = self.last("fsdp-8b-straggler", "job.stragglers=[]")
        self.assertGreater(run(1)["step_s"], 1.02 * usual["step_s"])  # the slowest of 32, 2 sigma and more

    def test_offloading_costs_time_and_frees_memory(self):
        sets = ("cluster.nics_per_node=8", "job.offload.optimizer=cpu")
        self.assertGreater(self.last("zero3-13b-slow-fabric", *sets)["step_s"],
                           self.last("zero3-13b-slow-fabric", sets[0])["step_s"])
        with_offload = self.json("run", scenario("zero3-13b-slow-fabric"), "--no-db", "--set", sets[1])["memory"]
        self.assertNotIn("optimizer", str(with_offload))

    def test_storage_can_be_the_bottleneck(self):
        slow = self.last("fsdp-8b-straggler", "job.stragglers=[]", "job.data_loader.bytes_per_sample=2GB",
                         "job.data_loader.from=network", "job.data_loader.rate=1GB/s")
        self.assertAlmostEqual(slow["step_s"], 2 * 8 * 2, delta=0.5)  # 2 samples x 8 GPUs x 2 GB at 1 GB/s per node
        self.assertGreater(slow["idle_s"], 0.8 * slow["step_s"])

    def test_what_begins_early_is_stored(self):
        """Stages of the next step begin while the last ones of this step end."""
        db = self.path("early.db")
        self.good("run", scenario("moe-mixtral-128-gpus"), "--db", db)
        rows = self.good("query", "memory", "--db", db, "--format", "csv").splitlines()
        self.assertGreater(len(rows), 4)
        path = self.good("query", "critical-path", "--db", db, "--format", "csv").splitlines()
        self.assertGreater(len(path), 10)

    def test_mistakes_are_named(self):
        for sets, words in ((("job.parallel.tensor=3",), "32 ranks cannot be divided"),
                            (("job.parallel.order=tp-pp",), "must name tp, cp, dp and pp"),
                            (("job.stragglers=[{rank: 99, slowness: 2}]",), "there is no rank 99"),
                            (("job.sharding=hybrid", "job.shard=5"), "32 data-parallel ranks cannot be divided into groups of 5"),
                            (("job.global_batch=33",), "global_batch 33 is not a multiple")):
            args = [word for text in sets for word in ("--set", text)]
            done = self.fabricast("run", scenario("fsdp-8b-straggler"), "--no-db", *args)
            self.assertEqual(done.returncode, 2, sets)
            self.assertIn(words, done.stderr)
        for sets, words in ((("job.accumulation=6",), "needs at least 8 micro-batches for 4 stages; accumulation gives 6"),
                            (("job.accumulation=9",), "needs an even number of micro-batches"),
                            (("job.parallel.pipeline=1",), "needs an even number of stages"),
                            (("job.parallel.moe.overlap=batches",), "overlap must be none"),
                            (("job.parallel.virtual=2",), "virtual needs schedule: interleaved")):
            args = [word for text in ("job.parallel.schedule=dualpipe", *sets) for word in ("--set", text)]
            done = self.fabricast("run", scenario("moe-mixtral-128-gpus"), "--no-db", *args)
            self.assertEqual(done.returncode, 2, sets)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    main()
