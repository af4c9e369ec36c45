#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kernels.py FOLDER SECONDS: what PyTorch's kernels take that `fabricast measure compute` cannot reach, as CSV.

grouped_gemm.csv     products of several experts at once, of the same number of tokens each
gemm_beside_copy.csv a product alone, and beside a kernel that copies on n multiprocessors, as a collective does (needs CuPy)
attention.csv        causal attention of cuDNN and FlashAttention-2, forward and backward, as validate/measured/kernels has it
A part whose library is missing is skipped with a sentence.
"""
import csv
import os
import statistics
import sys
import time

os.environ["CUDA_MODULE_LOADING"] = "EAGER"  # a module that is loaded while a kernel runs waits for it
OUT, BUDGET_S, BEGAN = sys.argv[1], float(sys.argv[2]), time.time()


def left():
    return BUDGET_S - (time.time() - BEGAN)


def skip(what, why):
    print(f"{what} is skipped: {why}", flush=True)


try:
    import torch
    import torch.nn.functional as functional
except ImportError as problem:
    skip("all of kernels.py", f"PyTorch is not here ({problem})")
    sys.exit(0)
if not torch.cuda.is_available():
    skip("all of kernels.py", "PyTorch sees no GPU")
    sys.exit(0)
GPU = "cuda"


def median_us(call, window_ms=20):
    """Median time of one call, of three rows of calls that are queued back to back."""
    start, end = torch.cuda.Event(True), torch.cuda.Event(True)

    def once(n):
        start.record()
        for _ in range(n):
            call()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) * 1e3 / n
    once(3)
    n = max(1, min(200, int(window_ms * 1e3 / max(once(3), 1))))
    return statistics.median(once(n) for _ in range(3))


def random(*sides):
    return torch.randn(*sides, device=GPU, dtype=torch.bfloat16)


def table(name, columns):
    file = open(os.path.join(OUT, name), "w", newline="", encoding="utf-8")
    writer = csv.writer(file)
    writer.writerow(columns)

    def row(*values):
        writer.writerow(values)
        file.flush()
    return row


# Writes 64 B a turn and thread, until the host sets *stop or 1.5 s have passed: a kernel without an end would hang where the
# driver loads another one meanwhile.
COPY = r"""extern "C" __global__ __launch_bounds__(640)
void copy_until(uint4 *to, const uint4 *from, unsigned long long n, volatile int *stop, unsigned long long *moved) {
  unsigned long long per = n / gridDim.x, base = per * blockIdx.x, bytes = 0, begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  for (now = begin; !*stop && now - begin < 1500000000ull; ) {
    for (unsigned long long i = threadIdx.x; i + 3 * blockDim.x < per; i += 4 * blockDim.x) {
      uint4 a = from[base + i], b = from[base + i + blockDim.x], c = from[base + i + 2 * blockDim.x];
      uint4 d = from[base + i + 3 * blockDim.x];
      to[base + i] = a; to[base + i + blockDim.x] = b; to[base + i + 2 * blockDim.x] = c; to[base + i + 3 * blockDim.x] = d;
      bytes += 64;
    }
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  }
  atomicAdd(moved, bytes);
}"""


def contention():
    try:
        import cupy
        import numpy
    except ImportError as problem:
        return skip("a product beside a copy", f"CuPy is not here ({problem})")
    row = table("gemm_beside_copy.csv", ["blocks", "threads", "m", "n", "k", "alone_us", "beside_us", "slowdown", "copy_GBps"])
    kernel = cupy.RawKernel(COPY, "copy_until")
    n = (64 << 20) // 16
    source, target = cupy.zeros(n * 4, cupy.uint32), cupy.zeros(n * 4, cupy.uint32)
    pinned, moved = cupy.cuda.alloc_pinned_memory(4), cupy.zeros(1, cupy.uint64)
    stop, stream = numpy.frombuffer(pinned, numpy.int32, 1), cupy.cuda.Stream(non_blocking=True)
    for m, columns, depth in ((8192, 8192, 8192), (8192, 14336, 4096), (4096, 6400, 1600), (8192, 1280, 8192)):
        a, b = random(m, depth), random(columns, depth)
        alone_us = median_us(lambda: a @ b.t(), 60)
        for blocks in (2, 4, 8, 16, 24, 32, 64):
            if left() < 20:
                return skip("the rest of products beside a copy", "the time is over")
            stop[0], moved[:] = 0, 0
            torch.cuda.synchronize()
            began = time.perf_counter()
            kernel((blocks,), (640,), (target, source, numpy.uint64(n), numpy.uint64(pinned.ptr), moved), stream=stream)
            time.sleep(0.02)
            calls = max(5, int(60000 / alone_us))
            start, end = torch.cuda.Event(True), torch.cuda.Event(True)
            start.record()
            for _ in range(calls):
                a @ b.t()
            end.record()
            end.synchronize()
            stop[0] = 1
            stream.synchronize()
            seconds = time.perf_counter() - began
            beside_us = start.elapsed_time(end) * 1e3 / calls
            row(blocks, 640, m, columns, depth, round(alone_us, 2), round(beside_us, 2), round(beside_us / alone_us, 4),
                round(2 * int(moved[0]) / seconds / 1e9, 1))


def experts():
    product = getattr(functional, "grouped_mm", None) or getattr(torch, "_grouped_mm", None)
    if product is None:
        return skip("grouped products", f"PyTorch {torch.__version__} has no grouped_mm")
    row = table("grouped_gemm.csv", ["experts", "tokens_per_expert", "n", "k", "us", "tflops"])
    for n_experts, tokens, n, k in ((8, 2048, 14336, 4096), (8, 512, 14336, 4096), (16, 1024, 4096, 7168), (16, 256, 4096, 7168),
                                    (32, 128, 4096, 7168), (32, 512, 2048, 7168), (128, 128, 1536, 2048),
                                    (128, 512, 1536, 2048), (16, 1024, 7168, 2048)):
        if left() < 10:
            return skip("the rest of grouped products", "the time is over")
        a, b = random(n_experts * tokens, k), random(n_experts, k, n)
        ends = torch.arange(tokens, n_experts * tokens + 1, tokens, device=GPU, dtype=torch.int32)
        us = median_us(lambda: product(a, b, offs=ends))
        row(n_experts, tokens, n, k, round(us, 2), round(2 * n_experts * tokens * n * k / us / 1e6, 1))


def attention():
    from torch.nn.attention import SDPBackend, sdpa_kernel
    row = table("attention.csv", ["pass", "batch", "heads", "kv_heads", "sequence", "head_dim", "causal", "us"])
    for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION):
        for batch, heads, sequence, size in ((2, 32, 4096, 128), (1, 32, 8192, 128), (4, 16, 4096, 64)):
            if left() < 10:
                return skip("the rest of attention", "the time is over")
            q, k, v = (random(batch, heads, sequence, size).requires_grad_() for _ in range(3))

            def forward():
                return functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            try:
                with sdpa_kernel(backend):
                    forward_us, kept = median_us(forward), forward()
                    gradient = torch.randn_like(kept)
                    backward_us = median_us(lambda: torch.autograd.grad(kept, (q, k, v), gradient, retain_graph=True))
            except RuntimeError as problem:
                skip(f"{backend.name} of heads of {size}", str(problem).splitlines()[0])
                continue
            for name, us in (("forward", forward_us), ("backward", backward_us)):
                row(f"{name}_{backend.name}", batch, heads, heads, sequence, size, 1, round(us, 2))


print(torch.__version__, torch.version.cuda, torch.cuda.get_device_name(), flush=True)
for part in (experts, contention, attention):
    if left() < 20:
        skip(part.__name__, "the time is over")
        continue
    try:
        part()
    except Exception as problem:  # one part that fails must not cost the others
        print(f"{part.__name__} failed: {type(problem).__name__}: {str(problem)[:300]}", flush=True)
    torch.cuda.empty_cache()
