#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast import job`: real configurations of training programs become the job that they describe, key by key."""
import glob
import os
import re

from support import SOURCE, CliTest, main, need

yaml, = need("yaml")

JOBS = os.path.join(SOURCE, "validate", "measured", "jobs")
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
    "torchtitan_llama3_405b.toml": dict(
        kind="fsdp", model="llama3-405b", micro_batch=2, sequence=8192, clip_gradients=True, precision="fp8", recompute="full", gradient="fp32",
        compute=dict(kind="auto", stack="compiled"), parallel=dict(tensor=8, context=1, pipeline=1, overlap_tensor=True, sequence=True)),
    "bigscience_bloom_176b.slurm": dict(
        kind="megatron", model="imported", micro_batch=2, global_batch=2048, sequence=2048, clip_gradients=True, precision="bf16",
        recompute="full", distributed_optimizer=True, parallel=dict(tensor=4, pipeline=12)),
    "megatron_gpt_15b.yaml": dict(
        kind="megatron", model="imported", micro_batch=4, sequence=4096, clip_gradients=True, precision="bf16", distributed_optimizer=True,
        overlap_grad_reduce=True, overlap_param_gather=True, parallel=dict(tensor=8, pipeline=1, sequence=True)),
    "gpt_neox_20b.yml": dict(
        kind="zero", model="imported", micro_batch=4, accumulation=32, sequence=2048, clip_gradients=True, precision="fp16", stage=1,
        overlap_comm=True, reduce_bucket=1260000000, allgather_bucket=1260000000, recompute="full", parallel=dict(tensor=2, pipeline=4)),
    "nemo_gpt3_5b.yaml": dict(
        kind="megatron", model="imported", micro_batch=4, global_batch=2048, sequence=2048, clip_gradients=True, precision="bf16",
        overlap_grad_reduce=True, overlap_param_gather=True, distributed_optimizer=True, compute=dict(kind="auto", stack="nemo"),
        parallel=dict(tensor=1, pipeline=1, context=1, sequence=False, overlap_tensor=False, overlap_p2p=False)),
    "nemo_gpt3_175b.yaml": dict(
        kind="megatron", model="imported", micro_batch=1, global_batch=2048, sequence=2048, clip_gradients=True, precision="bf16",
        overlap_grad_reduce=True, overlap_param_gather=True, distributed_optimizer=True, compute=dict(kind="auto", stack="nemo"),
        parallel=dict(tensor=4, pipeline=8, context=1, sequence=True, overlap_tensor=False, overlap_p2p=True, virtual=6, schedule="interleaved")),
    "nemo_llama2_7b.yaml": dict(
        kind="megatron", model="imported", micro_batch=1, global_batch=2048, sequence=4096, clip_gradients=True, precision="bf16",
        overlap_grad_reduce=True, overlap_param_gather=True, distributed_optimizer=True, compute=dict(kind="auto", stack="nemo"),
        parallel=dict(tensor=1, pipeline=1, sequence=False, overlap_tensor=False)),
    "nemo_llama2_70b.yaml": dict(
        kind="megatron", model="imported", micro_batch=1, global_batch=2048, sequence=4096, clip_gradients=True, precision="bf16",
        overlap_grad_reduce=True, overlap_param_gather=True, distributed_optimizer=True, compute=dict(kind="auto", stack="nemo"),
        parallel=dict(tensor=4, pipeline=4, sequence=True, overlap_tensor=True, overlap_p2p=True, virtual=5, schedule="interleaved")),
    "nemo_llama3_70b.yaml": dict(
        kind="megatron", model="imported", micro_batch=1, global_batch=2048, sequence=8192, clip_gradients=True, precision="bf16",
        overlap_grad_reduce=True, overlap_param_gather=True, distributed_optimizer=True, compute=dict(kind="auto", stack="nemo"),
        parallel=dict(tensor=4, pipeline=4, context=2, sequence=True, overlap_tensor=True, overlap_p2p=True, virtual=5, schedule="interleaved")),
    "megatron_bridge_gpt_oss_h100.yaml": dict(
        kind="megatron", model="imported", micro_batch=1, global_batch=512, sequence=4096, clip_gradients=True, precision="bf16", gradient="bf16",
        overlap_grad_reduce=True, overlap_param_gather=True, distributed_optimizer=True, compute=dict(kind="auto", stack="nemo"),
        recompute="modules", recompute_modules="layernorm,moe_act",
        parallel=dict(tensor=1, pipeline=4, context=1, expert=8, expert_tensor=1, sequence=False, overlap_tensor=False, overlap_p2p=False,
                      moe=dict(dispatch="nccl"))),
    "megatron_bridge_gpt_oss_b200.yaml": dict(
        kind="megatron", model="imported", micro_batch=4, global_batch=512, sequence=4096, clip_gradients=True, precision="bf16", gradient="bf16",
        overlap_grad_reduce=True, overlap_param_gather=True, distributed_optimizer=True, compute=dict(kind="auto", stack="nemo"),
        recompute="modules", recompute_modules="layernorm,moe_act",
        parallel=dict(tensor=1, pipeline=1, context=1, expert=64, expert_tensor=1, sequence=False, overlap_tensor=False, overlap_p2p=False,
                      moe=dict(dispatch="nccl"))),
    "megatron_bridge_deepseek_v3.yaml": dict(
        kind="megatron", model="imported", micro_batch=1, global_batch=2048, sequence=4096, clip_gradients=True, precision="nvfp4", gradient="fp32",
        overlap_grad_reduce=True, overlap_param_gather=True, distributed_optimizer=True, compute=dict(kind="auto", stack="nemo"),
        recompute="modules", recompute_modules="mla_up_proj",
        parallel=dict(tensor=1, pipeline=4, context=1, expert=64, expert_tensor=1, sequence=False, overlap_tensor=False, overlap_p2p=False,
                      moe=dict(dispatch="hybridep", groups=8, groups_per_token=4), virtual=4, schedule="interleaved", layers=15 * [4] + [1])),
    "primus_llama3_8b.yaml": dict(
        kind="megatron", model="llama3-8b", micro_batch=2, global_batch=128, sequence=8192, precision="bf16", distributed_optimizer=True,
        overlap_grad_reduce=True, overlap_param_gather=True, parallel=dict(tensor=1, pipeline=1, expert=1)),
    "llm_foundry_mpt_1b.yaml": dict(
        kind="fsdp", model="imported", micro_batch=4, global_batch=512, sequence=2048, precision="bf16", clip_gradients=True, gradient="bf16",
        sharding="full", limit_all_gathers=True),
    "llm_foundry_mpt_7b.yaml": dict(
        kind="fsdp", model="imported", micro_batch=8, global_batch=1024, sequence=2048, precision="bf16", clip_gradients=True, gradient="bf16",
        sharding="full", limit_all_gathers=True, recompute="full"),
    "llm_foundry_mpt_30b.yaml": dict(
        kind="fsdp", model="imported", micro_batch=8, global_batch=2048, sequence=2048, precision="bf16", clip_gradients=True, gradient="bf16",
        sharding="full", limit_all_gathers=True, recompute="full"),
    "olmo2_7b.yaml": dict(
        kind="fsdp", model="imported", micro_batch=2, global_batch=1024, sequence=4096, precision="bf16", clip_gradients=True, gradient="fp32"),
    "axolotl_llama3_70b_qlora.yaml": dict(
        kind="fsdp", model="llama3-70b", micro_batch=1, accumulation=4, sequence=512, precision="bf16", recompute="full", trains="lora",
        lora_rank=8, sharding="full", cpu_offload=True, limit_all_gathers=True),
}
# Their shapes, of those that describe one: what the kernels and the weights follow from.
SHAPES = {
    "bigscience_bloom_176b.slurm": dict(layers=70, hidden=14336, heads=112, vocabulary=250880, ends=dict(embedding_norm=True), gated=False,
                                        biases=True, tied=True),
    "gpt_neox_20b.yml": dict(layers=44, hidden=6144, heads=64, norm="layer", gated=False, attention="full", vocabulary=50432, tied=False,
                             biases=True),
    "nemo_llama2_7b.yaml": dict(layers=32, hidden=4096, heads=32, feed_forward=11008, norm="rms", gated=True, biases=False, tied=False,
                                vocabulary=50304),
    "llm_foundry_mpt_7b.yaml": dict(layers=32, hidden=4096, heads=32, feed_forward=16384, vocabulary=50368, attention="flash", gated=False,
                                    biases=True, positions=2048),
    "olmo2_7b.yaml": dict(layers=32, hidden=4096, heads=32, feed_forward=11008, vocabulary=100352, attention="flash", gated=True, biases=False,
                          tied=False, norm="rms", qk_norm=True),
    "megatron_bridge_gpt_oss_h100.yaml": dict(
        layers=36, hidden=2880, heads=64, kv_heads=8, head_dim=64, feed_forward=2880, vocabulary=201088, qk_norm=False, norm="rms", gated=True,
        biases=True, tied=False, sinks=True, window=dict(width=128, full_every=2), experts=dict(count=128, per_token=4, width=2880)),
    "megatron_bridge_deepseek_v3.yaml": dict(
        layers=61, hidden=7168, heads=128, kv_heads=128, head_dim=64, feed_forward=18432, vocabulary=129280, mtp=1, qk_norm=True, norm="rms",
        gated=True, biases=False, tied=False, experts=dict(count=256, per_token=8, width=2048, shared=1, dense_layers=3),
        latent=dict(q_lora_rank=1536, kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128)),
    "megatron_llama3_8b_fp8.sh": dict(layers=32, hidden=4096, heads=32, kv_heads=8, head_dim=128, feed_forward=14336, vocabulary=128256,
                                      gated=True, biases=False, tied=False),
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
        paths = [path for path in glob.glob(os.path.join(glob.escape(JOBS), "*")) if os.path.basename(path) not in ("INDEX.yaml", "nodes.yaml")]
        self.assertEqual(sorted(map(os.path.basename, paths)), sorted(WANTED))
        for path in paths:
            with self.subTest(os.path.basename(path)):
                made = yaml.safe_load(self.good("import", "job", path))
                self.assertEqual(made["job"], WANTED[os.path.basename(path)])
                if os.path.basename(path) in SHAPES:
                    self.assertEqual(made["models"][0]["shape"], dict(kind="transformer", **SHAPES[os.path.basename(path)]))

    def test_on_a_machine(self):
        """The scenario is whole and runs; nothing of the job that it had is left."""
        self.write("eight.yaml", EIGHT)
        for name in ("torchtitan_llama3_8b.toml", "torchtitan_llama3_70b.toml", "megatron_llama3_8b_fp8.sh", "nanotron_tiny_llama.yaml",
                     "deepspeed_zero3.json", "accelerate_fsdp.yaml", "llamafactory_llama3_full_sft.yaml", "llm_foundry_mpt_7b.yaml", "olmo2_7b.yaml"):
            with self.subTest(name):
                self.good("import", "job", os.path.join(JOBS, name), "--model", CONFIG, "--on", "eight.yaml", "--name", "mine", "-o", "m.yaml")
                with open(self.path("m.yaml"), encoding="utf-8") as file:
                    made = yaml.safe_load(file)
                self.assertEqual((made["name"], made["cluster"]), ("mine", {"node": "dgx-h100", "nodes": 1}))
                self.assertNotEqual(made["job"].get("bucket"), "50MiB")
                self.assertGreater(self.json("run", "m.yaml", "--no-db", "--no-band")["iterations"][-1]["step_s"], 0)
        done = self.fabricast("import", "job", os.path.join(JOBS, "nemo_megatron_gpt.yaml"), "--on", "eight.yaml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("global_batch 8 is not a multiple of micro_batch x data-parallel ranks = 4 x 8", done.stderr)

    def test_published_step(self):
        """torchtitan's llama3_8b.toml with batch 2 on eight H100: 5762 tokens a second and GPU (docs/performance.md) lie in the band."""
        self.write("eight.yaml", EIGHT)
        self.good("import", "job", os.path.join(JOBS, "torchtitan_llama3_8b.toml"), "--on", "eight.yaml", "-o", "m.yaml")
        row = self.json("run", "m.yaml", "--no-db", "--set", "job.micro_batch=2")
        low, high = row["iterations"][-1]["step_low_s"], row["iterations"][-1]["step_high_s"]
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

    def test_deepspeed_within_the_arguments(self):
        """A section of its own in TrainingArguments: its keys hold, and what is auto is that of the arguments."""
        job = self.made('{"per_device_train_batch_size": 4, "bf16": true, "model_name_or_path": "Qwen/Qwen2.5-7B", "deepspeed": {"my_key": 1, '
                        '"zero_optimization": {"stage": 3}, "train_micro_batch_size_per_gpu": "auto", "bf16": {"enabled": "auto"}}}', "a.json")["job"]
        self.assertEqual(job, dict(kind="zero", model="qwen2.5-7b", micro_batch=4, precision="bf16", stage=3, clip_gradients=False))
        self.assertRegex(self.text, r"Not looked at.*\n# - my_key\n")
        self.write("b.json", '{"per_device_train_batch_size": 4, "deepspeed": {"zero_optimization": {"stage": 5}}}')
        self.assertIn("b.json:1: zero_optimization.stage: from 0 to 3", self.fabricast("import", "job", "b.json").stderr)

    def test_copies_of_accelerate(self):
        job = self.made("distributed_type: FSDP\nfsdp_config: {fsdp_version: 2, fsdp_reshard_after_forward: false}\nparallelism_config:\n"
                        "  parallelism_config_dp_replicate_size: 2\n  parallelism_config_dp_shard_size: 4\n", "a.yaml")["job"]
        self.assertEqual(job, dict(kind="fsdp", sharding="hybrid_grad_op", shard=4))

    def test_mark_of_utf8(self):
        job = self.made('\ufeff{"zero_optimization": {"stage": 2}, "train_micro_batch_size_per_gpu": 4}\r\n', "a.json")["job"]
        self.assertEqual((job["kind"], job["stage"]), ("zero", 2))

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

    def test_arguments_in_yaml(self):
        """Keys that are arguments, and command lines in comments of a YAML, which make no shell script of it."""
        job = self.made("# torchrun --nproc_per_node 8 train.py\nMODEL_ARGS:\n  --tensor-model-parallel-size: 2\n  --bf16: true\n  --swiglu:\n"
                        "  --num-layers: 2\n  --hidden-size: 64\n  --num-attention-heads: 2\n", "model_config.yaml")
        self.assertEqual((job["job"]["parallel"]["tensor"], job["job"]["precision"]), (2, "bf16"))
        self.assertTrue(job["models"][0]["shape"]["gated"])

    def test_keys_that_are_written_twice(self):
        """The last one counts, as for the programs that read such files, and a section that is replaced leaves nothing."""
        job = self.made("MODEL_ARGS:\n  --tensor-model-parallel-size: 2\n  --bf16: true\n  --tensor-model-parallel-size: 4\nmodel:\n  seq_length: 64\n"
                        "model:\n  micro_batch_size: 2\n", "a.yaml")["job"]
        self.assertEqual(job, dict(kind="megatron", micro_batch=2, precision="bf16", parallel=dict(tensor=4)))
        self.assertIn("a.yaml:4: --tensor-model-parallel-size is written twice, and the last one counts", self.flat())

    def test_sections_do_not_hide_each_other(self):
        """A null elsewhere hides nothing, a recipe without 8 bits is none, and the section of the collectives counts."""
        text = ("mixed_precision:\n  fp8_recipe: tensorwise\n  fp8: null\n  bf16: true\nmodel:\n  tensor_model_parallel_size: 1\n  fp8: null\n"
                "  fp8_recipe: delayed\n  fp4: %s\nddp:\n  overlap_param_gather: true\noptimizer:\n  overlap_param_gather: false\n"
                "train:\n  micro_batch_size: 2\nrerun:\n  micro_batch_size: null\n")
        job = self.made(text % "null", "a.yaml")["job"]
        self.assertEqual((job["precision"], job["overlap_param_gather"], job["micro_batch"]), ("bf16", True, 2))
        self.assertEqual(self.made(text % "e2m1", "a.yaml")["job"]["precision"], "nvfp4")

    def test_stages_of_a_layout(self):
        """Letters, lists of layers, and a first and last stage of their own."""
        def layers(*arguments):
            return self.made("--tensor-model-parallel-size 1 --pipeline-model-parallel-size 4 --num-layers 14 --hidden-size 64 --num-attention-heads 2 "
                             + " ".join(arguments), "a.args")["job"]["parallel"]
        self.assertEqual(layers("--pipeline-model-parallel-layout 'Et*2|(tt|)*5t,t|L'"),
                         dict(tensor=1, pipeline=4, virtual=2, schedule="interleaved", layers=[2, 2, 2, 2, 2, 2, 2, 0]))
        self.assertEqual(layers("--decoder-first-pipeline-num-layers 2")["layers"], [2, 4, 4, 4])
        self.assertEqual(layers("--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split")["layers"], [3, 4, 4, 3])
        self.assertNotIn("layers", layers("--pipeline-model-parallel-layout 'Et*2|x'"))
        self.assertIn("stages have their own layers", self.flat())

    def test_words_that_are_not_known(self):
        """Programs add optimizers and schedules all the time: such a word is told and the rest is read."""
        job = self.made("[training]\nseq_len = 64\n[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_schedule = 'zb'\n", "a.toml")["job"]
        self.assertNotIn("schedule", job["parallel"])
        self.assertIn("pipeline_parallel_schedule is zb, which is not known here, so that job.parallel.schedule is left out", self.flat())

    def test_keys_that_hydra_sets(self):
        """Words with a dot and `=` behind a script; they are not taken for variables, and addresses are none."""
        job = self.made("torchrun --nproc_per_node=8 run.py --recipe llama3_8b_pretrain_config model.tensor_model_parallel_size=2 \\\n"
                        "  ++train.micro_batch_size=$N https://x.y/?a.b=1\nN=3\n", "a.sh")["job"]
        self.assertEqual((job["parallel"]["tensor"], job["model"]), (2, "llama3-8b"))
        self.assertIn("train.micro_batch_size is $N, which stands elsewhere", self.flat())

    def test_defaults_of_variables(self):
        """Of the environment: Primus's and OmegaConf's way to write them."""
        job = self.made("modules:\n  pre_trainer:\n    framework: megatron\n    model: ${PRIMUS_MODEL:deepseek_v3}.yaml\n    overrides:\n"
                        "      tensor_model_parallel_size: ${PRIMUS_TP:4}\n      micro_batch_size: ${oc.decode:${oc.env:MINIBS,2}}\n"
                        "      seq_length: ${LENGTH}\n", "a.yaml")["job"]
        self.assertEqual((job["model"], job["parallel"]["tensor"], job["micro_batch"]), ("deepseek-v3", 4, 2))
        self.assertNotIn("sequence", job)
        self.assertIn("${PRIMUS_TP:4}: 4, the default of that variable", self.flat())

    def test_windows(self):
        """Every n-th block without one, or a list of blocks, which no key says."""
        text = ("--tensor-model-parallel-size 1 --num-layers 4 --hidden-size 64 --num-attention-heads 2 --window-size '(127, 0)' "
                "--window-attn-skip-freq %s\n")
        self.assertEqual(self.made(text % "2", "a.args")["models"][0]["shape"]["window"], dict(width=128, full_every=2))
        self.assertEqual(self.made(text % "'[1, 0, 0, 1]'", "a.args")["models"][0]["shape"]["window"], dict(width=128))
        self.assertIn("all blocks have the window here", self.flat())

    def test_slurm(self):
        self.made("#!/bin/sh\n#SBATCH -N 4\n#SBATCH --gres=gpu:a100:8 # all\n#SBATCH --time 1:00:00\nsrun x --tensor-model-parallel-size 2\n", "a.slurm")
        self.assertIn("the files start 4 nodes of 8 GPUs", self.text)
        self.assertNotIn("sbatch", self.text)

    def test_gpt_neox(self):
        """Both spellings of keys; what a block adds up by one all-reduce is told."""
        job = self.made("{\"pipe-parallel-size\": 0, \"model_parallel_size\": 2, \"num-layers\": 2, \"hidden-size\": 64, \"num-attention-heads\": 2,\n"
                        "\"gpt-j-residual\": True, \"pos-emb\": \"rotary\", \"zero_optimization\": {\"stage\": 0}, \"fp16\": {\"enabled\": True},\n"
                        "\"attention-config\": [[[\"flash\"], 2]], \"train_micro_batch_size_per_gpu\": 4,}\n", "a.yml")
        self.assertEqual(job["job"], dict(kind="ddp", model="imported", micro_batch=4, precision="fp16", clip_gradients=False,
                                          parallel=dict(tensor=2)))
        self.assertIn("summed by one all-reduce", self.flat())

    def test_nemo_with_fsdp(self):
        text = ("model:\n  tensor_model_parallel_size: 1\n  fsdp: %s\n  fsdp_sharding_strategy: grad\n  optim:\n    name: mcore_distributed_optim\n"
                "    overlap_grad_sync: true\ntrainer:\n  devices: 8\n  precision: bf16\n")
        self.assertEqual(self.made(text % "true", "a.yaml")["job"]["sharding"], "grad_op")
        self.assertEqual(self.made(text % "false", "a.yaml")["job"]["kind"], "megatron")

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
                             ("Qwen/Qwen3-30B-A3B", "qwen3-30b-a3b"), ("meta-llama/Llama-3.2-1B", None), ("Qwen/Qwen2.5-72B", None),
                             ("deepseek_v3-671B", "deepseek-v3"), ("llama3.1_8B.yaml", "llama3-8b"), ("deepseek-v3-16b", None)):
            job = self.made(f"per_device_train_batch_size: 1\nmodel_name_or_path: {said}\n")["job"]
            self.assertEqual(job.get("model"), wanted, said)


if __name__ == "__main__":
    main()
