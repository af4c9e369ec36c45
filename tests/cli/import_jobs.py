#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast import job`: real configurations of training programs become the job that they describe, key by key."""
import glob
import os
import re

from support import SOURCE, CliTest, main, need

yaml, = need("yaml")

JOBS = os.path.join(SOURCE, "tests", "fixtures", "jobs")
CONFIG = os.path.join(SOURCE, "docs", "examples", "config.json")
EIGHT = "name: eight\ncluster: {node: dgx-h100, nodes: 1}\njob: {kind: ddp, model: gpt2, bucket: 50MiB}\n"
# What each real file says, by hand.
WANTED = {
    "torchtitan_llama3_8b.toml": dict(
        kind="fsdp", model="llama3-8b", micro_batch=1, sequence=8192, clip_gradients=True, recompute="operators", gradient="fp32",
        parallel=dict(tensor=1, context=1, pipeline=1)),
    "torchtitan_llama3_70b.toml": dict(
        kind="fsdp", model="llama3-70b", micro_batch=8, sequence=8192, clip_gradients=True, recompute="full", gradient="fp32",
        parallel=dict(tensor=8, context=1, pipeline=1, sequence=True)),
    "megatron_llama3_8b_fp8.sh": dict(
        kind="megatron", model="imported", micro_batch=1, global_batch=128, sequence=8192, clip_gradients=True, precision="fp8",
        distributed_optimizer=True, overlap_grad_reduce=True, overlap_param_gather=True, gradient="bf16",
        parallel=dict(tensor=1, context=1)),
    "nanotron_tiny_llama.yaml": dict(
        kind="ddp", model="imported", micro_batch=2, sequence=256, accumulation=1, precision="bf16", clip_gradients=True, gradient="fp32",
        bucket="25MiB", compute=dict(kind="auto", stack="nanotron"),
        parallel=dict(tensor=2, pipeline=2, expert=1, schedule="1f1b", sequence=True)),
    "deepspeed_zero3.json": dict(
        kind="zero", stage=3, precision="fp16", overlap_comm=True, reduce_bucket=0, prefetch_bucket=0, persistence_threshold=0,
        max_live=10 ** 9, max_reuse_distance=10 ** 9, clip_gradients=False, offload=dict(optimizer="cpu", parameters="cpu")),
    "accelerate_fsdp.yaml": dict(kind="fsdp", precision="bf16", sharding="full", backward_prefetch="pre", cpu_offload=False),
    "llamafactory_llama3_full_sft.yaml": dict(
        kind="zero", stage=3, model="llama3-8b", micro_batch=1, accumulation=2, sequence=2048, precision="bf16", recompute="full",
        trains="all"),
    "nemo_megatron_gpt.yaml": dict(
        kind="megatron", model="imported", micro_batch=4, global_batch=8, sequence=512, clip_gradients=True, precision="fp16",
        compute=dict(kind="auto", stack="nemo"), parallel=dict(tensor=1, pipeline=1, sequence=False)),
}


class Jobs(CliTest):
    def made(self, text, name="config", *options):
        self.write(name, text)
        self.text = self.good("import", "job", name, *options)
        return yaml.safe_load(self.text)

    def flat(self):
        """The comments without the breaks of their lines."""
        return re.sub(r"\n#   ", " ", self.text)

    def test_real_files(self):
        paths = [path for path in glob.glob(os.path.join(glob.escape(JOBS), "*")) if not path.endswith(".md")]
        self.assertEqual(sorted(map(os.path.basename, paths)), sorted(WANTED))
        for path in paths:
            with self.subTest(os.path.basename(path)):
                self.assertEqual(yaml.safe_load(self.good("import", "job", path))["job"], WANTED[os.path.basename(path)])
        models = yaml.safe_load(self.good("import", "job", os.path.join(JOBS, "megatron_llama3_8b_fp8.sh")))["models"]
        self.assertEqual(models[0]["shape"], dict(kind="transformer", layers=32, hidden=4096, heads=32, kv_heads=8, head_dim=128,
                                                  feed_forward=14336, vocabulary=128256, gated=True, biases=False, tied=False))

    def test_on_a_machine(self):
        """The scenario is whole and runs; nothing of the job that it had is left."""
        self.write("eight.yaml", EIGHT)
        for name in WANTED:
            if name.startswith("nemo"):
                continue
            with self.subTest(name):
                self.good("import", "job", os.path.join(JOBS, name), "--model", CONFIG, "--on", "eight.yaml", "--name", "mine", "-o", "m.yaml")
                with open(self.path("m.yaml"), encoding="utf-8") as file:
                    made = yaml.safe_load(file)
                self.assertEqual((made["name"], made["cluster"]), ("mine", {"node": "dgx-h100", "nodes": 1}))
                self.assertNotEqual(made["job"].get("bucket"), "50MiB")
                self.assertGreater(self.json("run", "m.yaml", "--no-db", "--no-band")["iterations"][-1]["duration_s"], 0)
        done = self.fabricast("import", "job", os.path.join(JOBS, "nemo_megatron_gpt.yaml"), "--on", "eight.yaml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("global_batch 8 is not a multiple of micro_batch x data-parallel ranks = 4 x 8", done.stderr)

    def test_published_step(self):
        """torchtitan's llama3_8b.toml with batch 2 on eight H100: 5762 tokens a second and GPU (docs/performance.md) lie in the band."""
        self.write("eight.yaml", EIGHT)
        self.good("import", "job", os.path.join(JOBS, "torchtitan_llama3_8b.toml"), "--on", "eight.yaml", "-o", "m.yaml")
        row = self.json("run", "m.yaml", "--no-db", "--set", "job.micro_batch=2")
        low, high = row["iterations"][-1]["duration_low_s"], row["iterations"][-1]["duration_high_s"]
        self.assertTrue(low <= 2 * 8192 / 5762 <= high, (low, high))

    def test_auto_of_the_trainer(self):
        """hidden x hidden, 0.9 of it and 10 x hidden, of a model of 2048."""
        made = self.made('{"bf16": {"enabled": true}, "zero_optimization": {"stage": 3, "reduce_bucket_size": "auto", '
                         '"stage3_prefetch_bucket_size": "auto", "stage3_param_persistence_threshold": "auto"}}', "ds.json", "--model", CONFIG)
        job = made["job"]
        self.assertEqual((job["reduce_bucket"], job["prefetch_bucket"], job["persistence_threshold"]), (2048 ** 2, 3774874, 20480))
        self.assertEqual(made["models"][0]["shape"]["hidden"], 2048)

    def test_several_files(self):
        """TrainingArguments name DeepSpeed's file; given too, its keys hold."""
        self.write("ds.json", '{"zero_optimization": {"stage": 2, "reduce_bucket_size": 1e8}, "bf16": {"enabled": "auto"}, '
                              '"train_micro_batch_size_per_gpu": "auto"}')
        self.write("args.yaml", "per_device_train_batch_size: 4\nbf16: true\ndeepspeed: ds.json\nmodel_name_or_path: Qwen/Qwen2.5-7B\n")
        job = yaml.safe_load(self.good("import", "job", "args.yaml", "ds.json"))["job"]
        self.assertEqual(job, dict(kind="zero", model="qwen2.5-7b", stage=2, reduce_bucket=10 ** 8, micro_batch=4, precision="bf16",
                                   clip_gradients=False))

    def test_arrays_of_a_script(self):
        """On one line or several: what stands beside a parenthesis counts as well, and commands are no arguments."""
        job = self.made("A=(--tensor-model-parallel-size 2 --micro-batch-size 3)\nB=$(dirname $(pwd) --seq-length 1)\n"
                        "A+=(\"--bf16\" --use-distributed-optimizer)\ntorchrun x.py \"${A[@]}\" --seq-length $((1024*4))\n", "j.sh")["job"]
        self.assertEqual((job["parallel"]["tensor"], job["micro_batch"], job["sequence"]), (2, 3, 4096))
        self.assertEqual((job["precision"], job["distributed_optimizer"]), ("bf16", True))

    def test_what_has_no_counterpart_is_told(self):
        for text, name, said in (
                ('{"zero_optimization": {"stage": 1, "reduce_scatter": false}, "train_batch_size": 8}', "a.json",
                 "a.json:1: zero_optimization.reduce_scatter false: gradients are summed by all-reduce"),
                ('{"train_batch_size": 8, "optimizer": {"type": "OneBitAdam"}}', "b.json", "gradients travel in one bit"),
                ("--tensor-model-parallel-size 1 --num-distributed-optimizer-instances 2 --bf16", "c.args", "sharded within groups of ranks"),
                ("[training]\nseq_len = 1\n[parallelism]\ntensor_parallel_degree = 1\n[float8]\nenable_fsdp_float8_all_gather = true\n", "d.toml",
                 "d.toml:6: float8.enable_fsdp_float8_all_gather true: FSDP gathers weights in 8 bits"),
                ("distributed_type: FSDP\nfsdp_config:\n  fsdp_forward_prefetch: true\n", "e.yaml", "gathers the next unit before this one ends")):
            self.made(text, name)
            self.assertIn("# Changes communication, and no key of Fabricast says it:", self.text)
            self.assertIn(said, self.flat())
        self.made('{"zero_optimization": {"stage": 1, "reduce_scatter": true}, "train_batch_size": 8, "my_key": 3}')
        self.assertNotIn("Changes communication", self.text)
        self.assertRegex(self.text, r"Not looked at.*\n# - my_key\n")

    def test_shell(self):
        """Variables, defaults, products, quotes, comments, continued lines, arguments in a text and in an array; the last one counts."""
        job = self.made("#!/bin/sh\nTP=${TP:-4}; N=2\nexport GPUS_PER_NODE=8\nNNODES=4\nARGS=\"--bf16 --seq-length $((1024 * N))\"\n"
                        "MORE=(\n  --micro-batch-size=3\n  # --micro-batch-size 9\n  '--global-batch-size' 96)\n"
                        "torchrun --nproc_per_node $GPUS_PER_NODE pretrain_gpt.py $ARGS \\\n --tensor-model-parallel-size $TP \\\n"
                        " --sequence-parallel --lr $UNKNOWN \"${MORE[@]}\"\n", "run.sh")["job"]
        self.assertEqual(job, dict(kind="megatron", sequence=2048, precision="bf16", micro_batch=3, global_batch=96,
                                   parallel=dict(tensor=4, sequence=True)))
        self.assertIn("the files start 4 nodes of 8 GPUs", self.text)
        job = self.made("--num-layers 8 --hidden-size 512 --num-attention-heads 8 --pipeline-model-parallel-size 2 --bf16\n"
                        "--num-layers-per-virtual-pipeline-stage 2 --seq-length 64 --seq-length 128 --position-embedding-type rope\n", "a.args")["job"]
        self.assertEqual((job["sequence"], job["parallel"]), (128, dict(pipeline=2, virtual=2, schedule="interleaved")))

    def test_toml(self):
        """All that TOML can write where these files write it."""
        job = self.made("# comment\n[training] # here too\nseq_len = 8_192\nlocal_batch_size=2\n'quoted' . key = \"\"\"a\nb\"\"\"\n"
                        "dates = [ 1979-05-27T07:32:00Z,\n  2 ] # two\ninline = {a = 1, b = [1, 2]}\n[model]\nname = 'llama3'\nflavor = \"405B\"\n"
                        "converters = [\"float8\"]\n[[tables]]\nx = 1\n[[tables]]\nx = 2\n"
                        "[parallelism]\npipeline_parallel_degree = 4\ndata_parallel_replicate_degree = 2\ndata_parallel_shard_degree = 8\n",
                        "a.toml")["job"]
        self.assertEqual(job, dict(kind="fsdp", model="llama3-405b", precision="fp8", sharding="hybrid", shard=8, sequence=8192, micro_batch=1,
                                   accumulation=2, gradient="fp32", parallel=dict(pipeline=4)))
        self.assertIn("tables.0.x, tables.1.x", self.flat())
        for text, line, said in (("[training]\nseq_len = \n", 2, "a value is missing"), ("[training\nseq_len = 1\n", 1, "`]` is missing"),
                                 ("[training]\nseq_len 1\n", 2, "`=` is missing behind a key"),
                                 ("[training]\nseq_len = 'a\n", 2, "a string ends at its line"),
                                 ("[training]\nseq_len = [1, 2\n", 3, "`,` or `]` is missing"),
                                 ("[training]\nseq_len = 'a' b\n", 2, "something follows the value"),
                                 ("[training]\n= 1\nseq_len = 1", 2, "a key is missing")):
            self.write("b.toml", text)
            done = self.fabricast("import", "job", "b.toml", "--from", "torchtitan")
            self.assertEqual(done.returncode, 2, text)
            self.assertRegex(done.stderr, rf"b\.toml:{line}: TOML: .*{re.escape(said)}")

    def test_refusals(self):
        for text, options, said in (
                ("hello: world\n", (), "no configuration of a training program that is known here; known are torchtitan"),
                ('{"zero_optimization": {"stage": 4}}', (), "zero_optimization.stage: from 0 to 3"),
                ('{"zero_optimization": {"stage": 1, "reduce_bucket_size": "big"}}', (), "'big' is no whole number"),
                ('{"zero_optimization": {"stage": 1, "overlap_comm": 7}}', (), "overlap_comm: '7' is not known here; known are true, false"),
                ("distributed_type: TPU\n", (), "distributed_type: 'TPU' is not known here; known are FSDP"),
                ('{"train_batch_size": 8}', ("--from", "deepsped"), "nearest is deepspeed"),
                ('{"train_batch_size": 8}', ("--model", "llama3-8"), "--model llama3-8: no such entry; nearest is llama3-8b"),
                ('{"train_batch_size": 8}', ("--nodes", "2"), "--nodes does not go with `import job`"),
                ('{"train_batch_size": 8}', ("--on", "hello"), "no file names a model of the catalogue; --model config.json")):
            self.write("c", text)
            done = self.fabricast("import", "job", "c", *options)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(said, done.stderr)
        self.write("ds.json", '{"train_batch_size": 8}')
        done = self.fabricast("import", "ds.json")
        self.assertIn("this is a job's configuration (DeepSpeed's JSON) and no machine: `fabricast import job ds.json`", done.stderr)

    def test_traces_are_named(self):
        """A trace that is given to `import` without the word `trace`."""
        self.write("t.json", '{"schemaVersion": 1, "traceEvents": []}')
        self.write("g.et", "\x01")
        self.write("g.goal", "num_ranks 1\nrank 0 {\na: calc 1\n}\n")
        for name in ("t.json", "g.et", "g.goal"):
            done = self.fabricast("import", name)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"this is a trace and no machine: `fabricast import trace {name}`", done.stderr)
        self.write("c.json", '{"hello": 1}')
        self.assertIn("none of the known formats", self.fabricast("import", "c.json").stderr)

    def test_models_by_name(self):
        """A name of a size that the catalogue lacks is not taken for another one."""
        for said, wanted in (("meta-llama/Llama-3.1-70B-Instruct", "llama3-70b"), ("mistralai/Mistral-7B-v0.3", "mistral-7b"),
                             ("meta-llama/Llama-2-13b-hf", "llama2-13b"), ("gpt2-medium", "gpt2-medium"), ("gpt2", "gpt2"),
                             ("Qwen/Qwen3-30B-A3B", "qwen3-30b-a3b"), ("meta-llama/Llama-3.2-1B", None), ("Qwen/Qwen2.5-72B", None)):
            job = self.made(f"per_device_train_batch_size: 1\nmodel_name_or_path: {said}\n")["job"]
            self.assertEqual(job.get("model"), wanted, said)


if __name__ == "__main__":
    main()
