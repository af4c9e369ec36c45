#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The jobs `kv` and `rl`: times worked out by hand on a network of 1 GB/s and 1 us, and the published transfers."""
import os
import statistics

from support import SOURCE, CliTest, main

KV = os.path.join(SOURCE, "scenarios", "kv-qwen3-8b.yaml")
RL = os.path.join(SOURCE, "scenarios", "rl-weights.yaml")

# Mooncake, docs/source/performance/vllm/vllm-v1-pd-performance.md: tokens of a prompt, ms of the transfer.
MOONCAKE = {128: 0.54, 256: 0.61, 512: 0.92, 1024: 1.5, 2048: 2.51, 4096: 4.75, 8192: 8.84, 16384: 16.43, 32768: 31.65}
JUDGED = (256, 1024, 4096, 16384)  # the other rows set `message_time` and `setup`
PULLED_S = 1.864                   # prime-rl pull request 3341: 82.5 GB to each of 32 H200

MACHINE = """\
name: small
iterations: 1
links:
  - {{name: wire, technology: Ethernet, lanes: 1, signalling: 8Gb/s, coding: 1, latency: 500ns, flow_control: credit}}
models:
  - {{name: two-heads, shape: {{kind: transformer, layers: 2, hidden: 64, heads: 4, kv_heads: 2, head_dim: 16, feed_forward: 64,
      vocabulary: 100}}}}
  - {{name: million, shape: {{kind: layers, layers: [{{tensors: [{{parameters: 1000000}}]}}]}}}}
cluster: {{node: host, nodes: {nodes}, nic: wire, fabric: switch}}
collectives: plain
job: {job}
"""


class Serving(CliTest):
    def run_job(self, nodes, job, *options):
        self.write("s.yaml", MACHINE.format(nodes=nodes, job=job))
        self.good("run", "s.yaml", "--db", "s.db", "--no-band", *options)
        step = self.json("query", "--db", "s.db", "--sql", "SELECT * FROM iteration WHERE run_id = :run")[0]
        flows = self.json("query", "--db", "s.db", "--sql", "SELECT * FROM collective WHERE run_id = :run")
        return step["step_ps"] / 1e6, flows

    def refused(self, nodes, job, says):
        self.write("s.yaml", MACHINE.format(nodes=nodes, job=job))
        done = self.fabricast("run", "s.yaml", "--no-db")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(says, done.stderr)


class Kv(Serving):
    JOB = "{{kind: kv, model: two-heads, prompt: 1000, block: 10, setup: 100us, message_time: {time}, prefill: {p}, decode: {d}{more}}}"

    def job(self, p, d, time="1us", more=""):
        return self.JOB.format(p=p, d=d, time=time, more=more)

    def test_messages_or_the_wire_set_the_pace(self):
        """2 layers x 1000 tokens x 128 B: 400 messages of 640 B of a us each, or 256 000 B at 1 GB/s."""
        for time, us in (("1us", 400), ("100ns", 256), ("0s", 256)):
            took, flows = self.run_job(2, self.job(1, 1, time))
            self.assertAlmostEqual(took, 100 + 1 + us, delta=0.01)
            self.assertEqual([flow["bytes"] for flow in flows], [256000])

    def test_heads_are_divided(self):
        """One rank posts twice as many messages, each half as large."""
        took, flows = self.run_job(3, self.job(1, 2))
        self.assertAlmostEqual(took, 100 + 1 + 800, delta=0.01)
        self.assertEqual([flow["bytes"] for flow in flows], [128000] * 2)

    def test_heads_are_repeated(self):
        """Four ranks for two heads: each gets its head from one of the two that have it."""
        took, flows = self.run_job(8, self.job(4, 4))
        self.assertAlmostEqual(took, 100 + 1 + 400, delta=0.01)
        self.assertEqual(sorted(flow["name"].split()[1] for flow in flows), ["0->4", "1->5", "2->6", "3->7"])

    def test_layers_overlap(self):
        """The second of two layers takes 200 us after the prompt, and its blocks are agreed on."""
        took, flows = self.run_job(2, self.job(1, 1, more=", compute: 2ms, overlap: true"))
        self.assertEqual(len(flows), 2)
        self.assertAlmostEqual(took, 2000 + 1 + 200, delta=0.01)

    def test_requests_follow_one_another(self):
        """Two requests to two instances: the prompts are computed one after another."""
        took, flows = self.run_job(3, self.job(1, 1, more=", compute: 3ms, requests: 2, decodes: 2"))
        self.assertAlmostEqual(took, 6000 + 100 + 1 + 400, delta=0.01)
        self.assertEqual(sorted(flow["name"].split()[1] for flow in flows), ["0->1", "0->2"])

    def test_latent_attention(self):
        """DeepSeek-V3 keeps 576 elements of a token in each of 61 layers, on every rank."""
        _, flows = self.run_job(4, "{kind: kv, model: deepseek-v3, prompt: 100, prefill: 2, decode: 2}")
        self.assertEqual([flow["bytes"] for flow in flows], [61 * 100 * 576 * 2] * 2)

    def test_refused(self):
        self.refused(4, self.job(1, 1), "1 + 1 ranks, and the machine has 4")
        self.refused(2, "{kind: kv, model: million, prompt: 1, prefill: 1, decode: 1}", "has no attention")

    def test_published(self):
        errors = {}
        for prompt, ms in MOONCAKE.items():
            run = self.json("run", KV, "--no-db", "--no-band", "--set", f"job.prompt={prompt}")
            errors[prompt] = run["iterations"][0]["step_s"] * 1e3 / ms - 1
        self.assertLess(max(abs(errors[prompt]) for prompt in JUDGED), 0.10, errors)
        self.assertLess(statistics.median(abs(errors[prompt]) for prompt in JUDGED), 0.07, errors)
        with open(os.path.join(SOURCE, "docs", "models", "kv.md"), encoding="utf-8") as file:
            page = file.read()
        for prompt, error in errors.items():
            self.assertRegex(page, rf"\| {prompt} \| [0-9.]+ \| [0-9.]+ \| \{error * 100:+.1f} % \|")


class Rl(Serving):
    def test_each_rank_pulls_its_part(self):
        """1 MB from one trainer for each; whole copies: 2 MB leave each trainer."""
        for more, us, n in (("", 1001, 2), (", replica: 1", 2001, 4)):
            took, flows = self.run_job(4, "{kind: rl, model: million, trainers: 2" + more + "}")
            self.assertAlmostEqual(took, us, delta=0.01)
            self.assertEqual([flow["bytes"] for flow in flows], [1000000] * n)

    def test_modes(self):
        for mode, us in (("synchronous", 9001), ("one_step_off", 6001), ("background", 5000)):
            took, _ = self.run_job(4, f"{{kind: rl, model: million, trainers: 2, generation: 5ms, training: 3ms, mode: {mode}}}")
            self.assertAlmostEqual(took, us, delta=0.01, msg=mode)

    def test_buckets_are_gathered_and_broadcast(self):
        """Two buckets of 1 MB; no broadcast is faster than its bytes through one port, and the first waits for its gather."""
        took, flows = self.run_job(4, "{kind: rl, model: million, trainers: 2, method: broadcast, bucket: 1MB, setup: 1ms}")
        self.assertEqual(sorted((flow["op"], flow["bytes"]) for flow in flows),
                         [("all_gather", 1000000)] * 2 + [("broadcast", 1000000)] * 2)
        self.assertGreater(took, 500 + 2 * (1000 + 1000))
        self.assertLess(took, 500 + 2 * (1000 + 2200))

    def test_refused(self):
        self.refused(2, "{kind: rl, model: million, trainers: 2}", "leaves no rank to generate")
        self.refused(4, "{kind: rl, model: million, trainers: 1, replica: 2}", "cannot be divided into replicas")

    def test_published(self):
        run = self.json("run", RL, "--no-db", "--no-band")
        self.assertLess(abs(run["iterations"][0]["step_s"] / PULLED_S - 1), 0.2)


if __name__ == "__main__":
    main()
