#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast import trace --calibrate`: what one profile of a step says of the accelerator, on profiles whose truth is known."""
import json
import re

from support import CliTest, main, read

BF16 = "c10::BFloat16"
# Products of a linear layer: rows, columns, depth.
SHAPES = ((4096, 4096, 4096), (8192, 4096, 4096), (4096, 14336, 4096), (8192, 8192, 8192), (4096, 4096, 14336), (8192, 2048, 8192))
LONG, SHORT_GAP_US = "at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>", 2.0


class Profile:
    """One stream; kernels follow each other after 2 us, and the host launches one every 7 us."""

    def __init__(self):
        self.events, self.now_us, self.number, self.host_us = [], 1000.0, 0, 0.0

    def kernel(self, name, us, dims=None, operator=None, dtype=BF16):
        self.number += 1
        if operator:
            self.events.append({"ph": "X", "cat": "cpu_op", "name": operator, "ts": self.host_us, "dur": 1, "tid": 1, "args": {
                "External id": self.number, "Input Dims": dims, "Input type": [dtype] * len(dims)}})
        self.events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": self.host_us, "dur": 1, "tid": 1,
                            "args": {"correlation": self.number}})
        self.events.append({"ph": "X", "cat": "kernel", "name": name, "ts": self.now_us, "dur": us, "tid": 7, "args": {
            "External id": self.number, "stream": 7, "device": 0, "correlation": self.number}})
        self.host_us += 7
        self.now_us += us + SHORT_GAP_US

    def optimizer_step(self):
        self.events.append({"ph": "X", "cat": "user_annotation", "name": "Optimizer.step#AdamW.step", "ts": self.host_us - 1, "dur": 1,
                            "tid": 1, "args": {}})

    def text(self):
        return json.dumps({"schemaVersion": 1, "traceEvents": self.events})


def step_of(tflops, dtype=BF16):
    profile = Profile()
    for _ in range(2):
        for m, n, k in SHAPES:
            profile.kernel("nvjet_sm90_tst_256x128", 2 * m * n * k / tflops / 1e6, [[m, k], [k, n]], "aten::mm", dtype)
        profile.kernel("cudnn_generated_fort_native_sdpa_sm90_flash_fprop", 500, [[2, 32, 4096, 128], [2, 8, 4096, 128]],
                       "aten::_cudnn_attention_forward")
        profile.kernel(LONG, 50)
        profile.kernel("void at::native::elementwise_kernel<128, 4>", 30)
        profile.kernel("void at::native::multi_tensor_apply_kernel<4>", 300)
        profile.optimizer_step()
    return profile


class Calibrate(CliTest):
    def calibrate(self, profile, *args):
        self.write("p.json", profile.text())
        return self.good("import", "trace", "p.json", "--calibrate", "--accelerator", "h100-sxm5-80gb", *args)

    def test_classes_shares_and_rates(self):
        """Two steps by the optimizer's marks; 600 TFLOP/s are 60.7 % of the peak, less what tiles leave."""
        text = self.calibrate(step_of(600))
        self.assertIn("2 steps of", text)
        self.assertIn("20 kernels; the shape of 14 of them is known", text)
        for name, kernels, ms in (("product", 12, None), ("attention", 2, "0.500"), ("norm", 2, "0.050"), ("optimizer", 2, "0.300"),
                                  ("elementwise", 2, "0.030")):
            self.assertRegex(text, rf"(?m)^{name} +{kernels} +{ms or '[0-9.]+'} ")
        self.assertRegex(text, r"(?m)^class +kernels +ms a step +of step$")
        self.assertRegex(text, r"(?m)^gaps +0\.0\d\d +\d\.\d % +of it waiting for the host 0\.000 ms$")
        self.assertRegex(text, r"(?m)^bf16 +6\d\.\d % of 989 TFLOP/s, fitted to 3 .*; 3 held out: error of fit")
        self.assertRegex(text, r"launch +2\.00 us from kernel to kernel")
        self.assertRegex(text, r"issue +7\.00 us of the host")
        self.assertRegex(text, r"attention +forward +bf16 +2x32x8x4096x128 +500\.00")
        step_ms = float(re.search(r"2 steps of ([\d.]+) ms", text)[1])
        shares = re.findall(r"(?m)^\w+ +\d* +([\d.]+) +([\d.]+) %", text.split("\n\n")[1])
        self.assertEqual(len(shares), 6)  # and the gaps
        for ms, share in shares:
            self.assertAlmostEqual(float(share), 100 * float(ms) / step_ms, delta=0.1)
        self.assertAlmostEqual(sum(float(share) for _, share in shares), 100, delta=0.5)
        half = self.calibrate(step_of(300))
        fraction = [float(line.split()[1]) for line in (text + half).splitlines() if line.startswith("bf16  ")]
        self.assertAlmostEqual(fraction[1] / fraction[0], 0.5, delta=0.02)

    def test_entry_and_step_of_a_scenario(self):
        self.write("s.yaml", "name: s\ncluster: {node: dgx-h100, nodes: 1, gpus_per_node: 1}\n"
                   "job: {kind: ddp, model: gpt2-xl, micro_batch: 1, sequence: 1024, compute: roofline}\n")
        text = self.calibrate(step_of(600), "--on", "s.yaml", "-o", "mine.yaml", "--steps", "2")
        self.assertRegex(text, r"as it is +[0-9.]+ ms +[+-][0-9.]+ %")
        shown_ms = float(re.search(r"with the constants of the profile +([0-9.]+) ms", text)[1])
        constants = {"achievable": re.search(r"(?m)^bf16 +([0-9.]+) %", text)[1] + "%", "launch": "2us", "issue": "7us"}
        given = {name: [f"--set=job.compute.{key}={value}" for key, value in constants.items() if key != name] for name in ("", "achievable", "launch")}
        step_ms = {name: json.loads(self.good("run", "s.yaml", "--no-db", "--no-band", "--no-bottleneck", "--format", "json", *sets))["iterations"][-1]["step_s"] * 1e3
                   for name, sets in given.items()}
        self.assertAlmostEqual(step_ms.pop("") / shown_ms, 1, delta=0.002)  # a share is shown with one digit behind the point
        for name, without_ms in step_ms.items():  # the host issues kernels here while the GPU runs others
            self.assertNotAlmostEqual(without_ms / shown_ms, 1, delta=0.004, msg=name)
        self.assertRegex(text, r"its anchor +[0-9.]+ ms +[+-]0\.0 %")
        measured_ms = float(re.search(r"the step of s\.yaml, measured ([0-9.]+) ms", text)[1])
        lines = re.findall(r"(?m)^  (\S.*?) +([0-9.]+) ms +([+-][0-9.]+) %$", text)
        self.assertEqual([line[0].split(":")[0] for line in lines], ["as it is", "with the constants of the profile", "with compute"])
        for what, ms, percent in lines:
            self.assertAlmostEqual(float(percent), 100 * (float(ms) / measured_ms - 1), delta=0.2, msg=what)
        scale = float(re.search(r"\{scale: ([0-9.]+)\}, its anchor", text)[1])
        self.assertAlmostEqual(scale, float(lines[0][1]) / measured_ms, delta=0.002)
        self.assertIn("The anchor is made from this step", text)
        self.assertIn("accelerators:\n  - name: h100-sxm5-80gb", read(self.path("mine.yaml")))
        of_half = self.calibrate(step_of(600, "c10::Half"), "--on", "s.yaml")
        self.assertRegex(of_half, r"(?m)^fp16 +6\d\.\d % of 989 TFLOP/s")
        self.assertIn(f"with the constants of the profile {shown_ms:>19.3f} ms", of_half)
        hello = self.calibrate(step_of(600), "--on", "hello")
        self.assertIn("so the constants do not fit it", hello)
        self.assertIn("so it takes no anchor", hello)

    def test_what_a_file_does_not_hold_is_said(self):
        bare = Profile()
        bare.kernel("nvjet_sm90", 100)
        self.write("bare.json", bare.text())
        ask = ("--calibrate", "--accelerator", "h100-sxm5-80gb")
        self.write("goal.goal", "num_ranks 1\nrank 0 {\nl1: calc 100\n}\n")
        for args, part in ((("bare.json", *ask), "no kernel has a shape, so no rate can be fitted; record the profile with record_shapes"),
                           (("goal.goal", *ask), "has no kernels with times, so it calibrates nothing"),
                           (("bare.json", "--calibrate"), "--calibrate needs the accelerator of the profile"),
                           (("bare.json", "--calibrate", "--accelerator", "h"), "no accelerator is called 'h'"),
                           (("bare.json", "--steps", "2"), "--steps is for --calibrate"),
                           (("bare.json", *ask, "--db", "x.db"), "--calibrate with --db does not go with `import trace`")):
            done = self.fabricast("import", "trace", *args)
            self.assertNotEqual(done.returncode, 0, args)
            self.assertIn(part, done.stderr)
        self.write("fast.json", step_of(1500).text())
        done = self.fabricast("import", "trace", "fast.json", *ask)
        self.assertIn("name another --base", done.stderr)

    def test_shapes_that_do_not_fit_count_as_none(self):
        odd = Profile()
        for dims in ([[2, 3], [4, 5]], [], [[1]], [[-1, 4], [4, 4]], [[1 << 40, 4], [4, 4]]):
            odd.kernel("nvjet_sm90", 100, dims, "aten::mm")
        self.write("odd.json", odd.text())
        done = self.fabricast("import", "trace", "odd.json", "--calibrate", "--accelerator", "h100-sxm5-80gb")
        self.assertIn("no kernel has a shape", done.stderr)


if __name__ == "__main__":
    main()
