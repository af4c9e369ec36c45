#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fabricast measure compute` on a GPU that is not there: series, notes, exit codes. Times: tests/fake_gpu/machine.h."""
import os
import shutil

import support
from support import SOURCE, CliTest, environment, read


def gpu(failure="", **more):
    library = os.environ["FAKE_GPU"]
    return {**environment(), "FABRICAST_CUDA_DRIVER": library, "FABRICAST_NVML": library, "FABRICAST_CUBLASLT": library,
            "FAKE_GPUS": "1", "FAKE_GPU_FAIL": failure, **more}


class Compute(CliTest):
    def measure(self, *args, env=None):
        done = self.fabricast("measure", "compute", "--time", "0.2", "--max-samples", "10", "--set", "buffer=64MiB",
                              "--set", "sustained=0s", "--sizes", "96K,960K", "-o", "f.meas", *args, env=env or gpu())
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.json("measure", "show", "f.meas"), done.stderr

    def test_a_file_holds_every_kind(self):
        data, _ = self.measure("--gpu", "0", "--shapes", "256x512x128,512x512x512")
        self.assertEqual({s["kind"] for s in data["series"]}, {"product", "memory_bound", "copy", "launch"})
        products = [s for s in data["series"] if s["kind"] == "product"]
        self.assertEqual({(s["precision"], s["shape"]) for s in products},
                         {(p, s) for p in ("bf16", "fp16", "tf32", "fp8") for s in ("256x512x128", "512x512x512")})
        self.assertTrue(data["machine"]["gpu0"].startswith("Fake GPU A, 16 SMs, sm_90"))
        text = self.good("measure", "show", "f.meas")
        self.assertIn("compute product matmul bf16 256x512x128, gpu0, cublaslt", text)

    def test_csv_says_the_same_as_the_file(self):
        """What is printed as CSV is read again without loss, as that of links."""
        first, _ = self.measure("--shapes", "256x512x128")
        csv = self.good("measure", "show", "f.meas", "--format", "csv")
        with open(self.path("f.csv"), "w", encoding="utf-8") as file:
            file.write(csv)
        self.good("import", "f.csv", "-o", "g.meas")
        second = self.json("measure", "show", "g.meas")
        strip = lambda data: [{k: v for k, v in s.items() if k not in ("source", "note")} for s in data["series"]]
        self.assertEqual(strip(first), strip(second))

    def test_kinds_choose(self):
        data, _ = self.measure("--kinds", "launch,memory_bound")
        self.assertEqual({s["kind"] for s in data["series"]}, {"memory_bound", "launch"})

    def test_a_file_of_an_older_version_is_read_but_takes_no_kernels(self):
        old = os.path.join(SOURCE, "validate", "measured", "links", "h100_cuda.meas")
        shutil.copy(old, self.path("f.meas"))
        os.chmod(self.path("f.meas"), 0o644)
        self.assertEqual(len(self.json("measure", "show", "f.meas")["series"]), 20)
        done = self.fabricast("measure", "compute", "--sizes", "96K", "--set", "buffer=64MiB", "-o", "f.meas", env=gpu())
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("was begun by an older Fabricast, which knew no kernels", done.stderr)
        done = self.fabricast("measure", "cuda", "--sizes", "8", "--kinds", "latency", "-o", "f.meas", env=gpu())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_link_is_fitted_to_kernels(self):
        self.measure("--shapes", "256x512x128")
        self.refused("calibrate", "f.meas", names="name the accelerator with --base")

    def test_an_accelerator_is_fitted_to_kernels(self):
        """The GPU of the tests multiplies in BF16 at 100 TFLOP/s, 32 % of an A100's peak, and starts a kernel in 1.5 us."""
        shapes = ",".join(f"{m}x4096x4096" for m in (1024, 2048, 3072, 4096, 5120, 6144))
        self.measure("--shapes", shapes, "--set", "buffer=256MiB", "--set", "precisions=bf16", "--set", "algorithms=2")
        fit = self.json("calibrate", "f.meas", "--base", "a100-sxm4-80gb", "--name", "mine", "-o", "mine.yaml")
        achieved = {row["of"]: row for row in fit["fits"]}["bf16"]
        # The model adds what a tile of an A100 starts with, which this GPU has not, so the rate is above that of the product.
        self.assertTrue(100 / 312 < achieved["fraction"] < 1.25 * 100 / 312, achieved)
        self.assertEqual((achieved["n_fitted"], achieved["n_held_out"]), (3, 3))
        self.assertLess(achieved["error_of_fit"], 0.12)
        self.assertAlmostEqual(fit["launch_s"], 1.5e-6)
        written = read(self.path("mine.yaml"))
        self.assertIn("accelerators:\n  - name: mine", written)
        self.assertRegex(written, r"compute: \{kind: roofline, achievable: 3\d.\d%, launch: 1500ns, issue: \d+ns\}")

    def test_accelerators_that_do_not_fit_are_refused(self):
        kernels = os.path.join(SOURCE, "validate", "measured", "kernels")
        gemm = os.path.join(kernels, "h100_gemm.csv")
        self.refused("calibrate", gemm, "--base", "a100-sxm4-80gb", names="name another --base")
        self.refused("calibrate", gemm, "--base", "h100", names="no link and no accelerator is called 'h100'")
        self.refused("calibrate", os.path.join(SOURCE, "docs", "examples", "link.csv"), "--base", "h100-sxm5-80gb",
                     names="but no kernel was measured")
        self.refused("calibrate", os.path.join(kernels, "h100_attention.csv"), "--base", "h100-sxm5-80gb",
                     names="neither a product nor a kernel that moves 128 MiB")

    def test_the_shipped_products_of_an_h100_are_fitted_within_six_percent(self):
        gemm = os.path.join(SOURCE, "validate", "measured", "kernels", "h100_gemm.csv")
        fits = {row["of"]: row for row in self.json("calibrate", gemm, "--base", "h100-sxm5-80gb")["fits"]}
        for precision in ("bf16", "fp8"):
            self.assertEqual(fits[precision]["n_held_out"], 39)
            self.assertLess(fits[precision]["error_of_fit"], 0.06)

    def test_tables_of_kernels_say_what_is_wrong_in_them(self):
        for name, text, part in (
                ("type", "type,m,n,k,us\nint8,1,2,3,4\n", ":2:1: a type is bf16, fp16, tf32 or fp8"),
                ("side", "type,m,n,k,us\nbf16,1,99999999,3,4\n", "a side of a matrix is at most 2^24"),
                ("row", "type,m,n,k,us\nbf16,1\n", "the row has 2 fields, and the table needs 5"),
                ("pass", "pass,batch,heads,kv_heads,sequence,head_dim,causal,us\nboth,1,1,1,1,1,1,2\n", "a pass is forward_"),
                ("causal", "pass,batch,heads,kv_heads,sequence,head_dim,causal,us\nforward_X,1,1,1,1,1,0,2\n", "only causal"),
                ("time", "kernel,detail,bytes,us\nadd,x,1000,fast\n", "fast")):
            self.write(f"{name}.csv", text)
            done = self.fabricast("import", f"{name}.csv")
            self.assertEqual((done.returncode, done.stdout), (2, ""), name)
            self.assertIn(part, done.stderr)

    def test_machines_that_cannot(self):
        for env, part in (({**gpu(), "FABRICAST_CUDA_DRIVER": "/nowhere/libcuda.so.1"}, "was not found"),
                          (gpu("init"), "there is no NVIDIA GPU in this machine"),
                          (gpu("blaslt"), None)):
            done = self.fabricast("measure", "compute", "--sizes", "96K", "--set", "buffer=64MiB", "--shapes", "64x64x64",
                                  "--time", "0.1", "-o", "g.meas", env=env)
            if part:
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(part, done.stderr)
            else:
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("products are left out: cuBLASLt cannot start", done.stderr)


if __name__ == "__main__":
    support.main()
