#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fit.py: fits the constants of tiles.c, attention.c and memory_bound.c to the calibrating rows of validate/measured/kernels.

    validate/kernels/fit.py build/fabricast
        Prints the constants, as rows of the C files, with the error of the rows that they were fitted to.
    validate/kernels/fit.py build/fabricast --check
        Exits with 1 when the program holds other constants than a fit finds, or prices a row in another way.

It asks `fabricast validate kernels --format json` for rows, roles, accelerators and constants. What is made least is the
mean |ln (predicted / measured)| of the calibrating rows, each at most 0.5, so that one row that nothing explains does not
bend the others. The search is that of Nelder and Mead in the logarithms, from fixed starts, and it uses the formulas of
the C files once more; --check compares the two. No row that is judged or left out is looked at.
"""
import argparse
import json
import math
import subprocess
import sys

MOST = 0.5  # |ln| of an error that counts no further
TILES = ((64, 64), (64, 128), (128, 64), (128, 128), (128, 256), (256, 128))
SPLITS = (1, 2, 4, 8, 16)
DEPTH_STEP = 64
OPERAND_BYTES = {"bf16": 2, "tf32": 4, "fp8": 1}
RESULT_BYTES = {"bf16": 2, "tf32": 4, "fp8": 2}
LEAST_S = 1e-7  # an overhead is at least this
MOST_NEEDED = 60  # the most that n may be
ATTENTION_S, BLOCK_QUERIES = 3e-6, 128

# What each table calibrates.
WHOLE_PRODUCTS = (("tpu", "tpu7x_gemm"),)  # of what has no multiprocessors
PRODUCTS = (("hopper", "h100_gemm"), ("blackwell", "aic_b200_gemm"), ("ada", "aic_l40s_gemm"), ("ampere", "aic_a100_gemm"))
ATTENTION = (
    ("cudnn", "hopper", "forward", "h100_attention", "forward_CUDNN_ATTENTION"),
    ("cudnn", "hopper", "backward", "h100_attention", "backward_CUDNN_ATTENTION"),
    ("cudnn", "blackwell", "forward", "aic_b200_trtllm_attention", "forward_trtllm"),
    ("flash3", "hopper", "forward", "aic_h100_flash3_attention", "forward_flash3"),
    ("flash2", "hopper", "forward", "h100_attention", "forward_FLASH_ATTENTION"),
    ("flash2", "hopper", "backward", "h100_attention", "backward_FLASH_ATTENTION"),
    ("flash2", "ampere", "forward", "aic_a100_flash2_attention", "forward_flash2"),
    ("flash2", "ada", "forward", "aic_l40s_flash2_attention", "forward_flash2"),
)
MEMORY = {"norm": ("rms_norm", "layer_norm"), "dropout": ("dropout",), "log-softmax": ("cross_entropy_fwd",),
          "fused AdamW": ("adamw_fused",)}
MEMORY_TABLE, GAP_S = "h100_memory_bound", 1e-6


# --- the search ---

def nelder_mead(cost, start, steps=500, size=0.1):
    """Returns the least value found and where, from a simplex of this size. It changes no state but its own."""
    n = len(start)
    points = [list(start)] + [[x + (size if i == j else 0) for j, x in enumerate(start)] for i in range(n)]
    simplex = sorted((cost(p), p) for p in points)
    for _ in range(steps):
        if max(abs(a - b) for a, b in zip(simplex[-1][1], simplex[0][1])) < 1e-4:
            break
        worst = simplex[-1]
        middle = [sum(p[1][j] for p in simplex[:-1]) / n for j in range(n)]

        def along(factor):
            point = [m + factor * (w - m) for m, w in zip(middle, worst[1])]
            return cost(point), point

        reflected = along(-1)
        if reflected < simplex[0]:
            simplex[-1] = min(reflected, along(-2))
        elif reflected < simplex[-2]:
            simplex[-1] = reflected
        else:
            inside = along(0.5)
            if inside < worst:
                simplex[-1] = inside
            else:
                best = simplex[0][1]
                moved = [[(a + b) / 2 for a, b in zip(p[1], best)] for p in simplex[1:]]
                simplex = [simplex[0]] + [(cost(p), p) for p in moved]
        simplex.sort()
    return simplex[0]


def search(cost, starts):
    """Each start is searched twice: a simplex that has shrunk too early begins anew where it ended."""
    best = None
    for start in starts:
        found = nelder_mead(cost, [math.log(x) for x in start])
        found = nelder_mead(cost, found[1])
        best = found if best is None else min(best, found)
    return [math.exp(x) for x in best[1]]


def mean_error(predicted, measured):
    return sum(min(abs(math.log(p / m)), MOST) for p, m in zip(predicted, measured)) / len(measured)


# --- products, as in tiles.c ---

class Product:
    """The tiles and splits of a product, and its bytes, once for all constants."""

    def __init__(self, row, table, memory_fraction):
        m, n, k, kind = row["m"], row["n"], row["k"], row["kind"]
        device = table["accelerator"]
        memory = device["memory_bytes_per_s"] * memory_fraction
        operand, result = OPERAND_BYTES[kind], RESULT_BYTES[kind]
        self.memory_s = ((m + n) * k * operand + m * n * result) / memory
        self.cast_s = m * k * 5 / memory if table["quantising"] and kind == "fp8" else 0
        self.sm_peak = device["peak_flops_per_s"][kind] / device["sms"]
        self.measured_s = row["measured_us"] * 1e-6
        self.ways = []  # (waves, FLOPs of all waves on one multiprocessor, multiply-adds per number, seconds of sums)
        for rows, columns in TILES:
            shorter, longer = min(rows, columns), max(rows, columns)
            loads = shorter + longer / (2 if is_shared(device["architecture"]) else 1)
            for splits in SPLITS:
                tiles = math.ceil(m / rows) * math.ceil(n / columns) * splits
                waves = math.ceil(tiles / device["sms"])
                depth = math.ceil(k / splits / DEPTH_STEP) * DEPTH_STEP
                sums_s = 8 * splits * m * n / memory if splits > 1 else 0
                self.ways.append((waves, waves * 2 * rows * columns * depth, shorter * longer / loads, sums_s))

    def seconds(self, share, tile_s, needed, kernel_s):
        rate = self.sm_peak * min(1, share)
        least = min(waves * tile_s + flops / (rate * min(1, intensity / needed)) + sums_s
                    for waves, flops, intensity, sums_s in self.ways)
        return max(least, self.memory_s) + kernel_s + self.cast_s


class WholeProduct:
    """A product on what has no multiprocessors."""

    def __init__(self, row, table, memory_fraction):
        m, n, k, kind = row["m"], row["n"], row["k"], row["kind"]
        device = table["accelerator"]
        self.memory = device["memory_bytes_per_s"] * memory_fraction
        self.bytes = (m + n) * k * OPERAND_BYTES[kind] + m * n * RESULT_BYTES[kind]
        self.flops, self.peak = 2 * m * n * k, device["peak_flops_per_s"][kind]
        self.measured_s = row["measured_us"] * 1e-6

    def seconds(self, share, kernel_s, fill_bytes):
        busy_s = self.flops / (self.peak * min(1, share)) + min(self.bytes, fill_bytes) / self.memory
        return max(busy_s, self.bytes / self.memory) + kernel_s


def is_shared(architecture):
    return architecture in ("hopper", "blackwell")


def product_rows(table, memory_fraction, kind, role="calibrating"):
    product = Product if table["accelerator"]["sms"] > 0 else WholeProduct
    return [product(row, table, memory_fraction) for row in table["rows"]
            if row["kind"] == kind and (role is None or row["role"] == role)]


def errors_of(products, constants):
    return [p.seconds(*constants) / p.measured_s - 1 for p in products]


def fit_product(products):
    measured = [p.measured_s for p in products]
    # Where n is as little as the smallest tile has, no tile is slowed, and less means the same.
    least_needed = min(intensity for _, _, intensity, _ in products[0].ways)

    def bounded(constants):
        share, tile_s, needed, kernel_s = constants
        return share, max(tile_s, LEAST_S), min(max(needed, least_needed), MOST_NEEDED), max(kernel_s, LEAST_S)

    def cost(logs):
        constants = bounded([math.exp(x) for x in logs])
        return mean_error([p.seconds(*constants) for p in products], measured)

    return bounded(search(cost, ((0.7, 1e-6, 45, 1e-6), (0.8, 3e-7, 50, 3e-6))))


def fit_whole_product(products):
    measured = [p.measured_s for p in products]

    def cost(logs):
        return mean_error([p.seconds(*(math.exp(x) for x in logs)) for p in products], measured)

    return search(cost, ((0.8, 1e-6, 1e7), (0.9, 3e-6, 1e6)))


def fit_factor(error_of, low, high):
    """Where the median of errors, which falls with the factor, is 0."""
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if median(error_of(middle)) > 0 else (low, middle)
    return (low + high) / 2


# --- attention, as in attention.c ---

class Attention:
    def __init__(self, row, table, memory_fraction):
        device = table["accelerator"]
        memory = device["memory_bytes_per_s"] * memory_fraction
        batch, heads, kv_heads = row["batch"], row["heads"], row["kv_heads"]
        self.tokens, width = row["sequence"], row["head_dim"]
        is_backward = row["kind"].startswith("backward")
        products, vector_bytes = 2.5 if is_backward else 1, batch * self.tokens * width * 2
        self.peak, self.sms = device["peak_flops_per_s"]["bf16"], device["sms"]
        self.is_narrow = width < 128
        self.flops = products * 4 * batch * heads * self.tokens ** 2 * width * (0.5 if row["causal"] else 1)
        self.is_causal = row["causal"] > 0
        self.longest = 4 * products * BLOCK_QUERIES * self.tokens * width
        self.memory_s = 2 * (heads + kv_heads) * vector_bytes * (2 if is_backward else 1) / memory
        self.fill_s = 4 * kv_heads * vector_bytes / memory if table["cache_fill"] else 0
        self.measured_s = row["measured_us"] * 1e-6

    def seconds(self, share, diagonal, tail, narrow):
        rate = self.peak * min(1, share * (narrow if self.is_narrow else 1))
        diagonal = diagonal / self.tokens if self.is_causal else 0
        kernel = self.flops * (1 + diagonal) / rate + tail * self.longest * self.sms / rate + ATTENTION_S
        return max(kernel, self.memory_s) + self.fill_s


def fit_attention(rows):
    has_narrow = any(row.is_narrow for row in rows)
    measured = [row.measured_s for row in rows]

    def constants_of(logs):
        share, diagonal, tail, *narrow = (math.exp(x) for x in logs)
        return share, diagonal, tail, min(1, narrow[0]) if narrow else 1

    def cost(logs):
        return mean_error([row.seconds(*constants_of(logs)) for row in rows], measured)

    starts = ((0.6, 200, 0.4, 0.8), (0.7, 800, 0.1, 0.7), (0.4, 1000, 0.6, 0.9))
    found = search(cost, [start if has_narrow else start[:3] for start in starts])
    return constants_of([math.log(x) for x in found]), has_narrow


# --- memory-bound kernels ---

def fit_memory(table, memory_fraction, kinds):
    """Median over calibrating rows of the rate beside that of a plain kernel."""
    rate = table["accelerator"]["memory_bytes_per_s"] * memory_fraction
    return median([row["bytes"] / rate / (row["measured_us"] * 1e-6 - GAP_S) for row in table["rows"]
                   if row["kind"] in kinds and row["role"] == "calibrating"])


# --- all of them ---

def median(values):
    values = sorted(values)
    n = len(values)
    return (values[n // 2] + values[(n - 1) // 2]) / 2


def rounded(value, digits):
    return round(value, digits)


def best_of(table):
    """The share of peak of the best product of a table, or else of its accelerator; 0.8: of neither."""
    return table["best_fraction"] or table["accelerator"]["matmul_fraction"] or 0.8


def fit_all(answer):
    """(products, share of FP8, attention, rates of memory), rounded as the C files have them."""
    tables = {table["table"]: table for table in answer["tables"]}
    fraction = answer["constants"]["memory_fraction"]
    products, attention = {}, {}
    for architecture, name in PRODUCTS:
        rows = product_rows(tables[name], fraction, "bf16")
        share, tile_s, needed, kernel_s = fit_product(rows)
        constants = rounded(share, 3), rounded(tile_s, 8), rounded(needed, 1), rounded(kernel_s, 8)
        error = median([abs(e) for e in errors_of(rows, constants)])
        products[architecture] = {"constants": constants, "table": name, "rows": len(rows), "error": error,
                                  "best": best_of(tables[name])}
    for architecture, name in WHOLE_PRODUCTS:
        rows = product_rows(tables[name], fraction, "bf16")
        share, kernel_s, fill_bytes = fit_whole_product(rows)
        constants = rounded(share, 3), rounded(kernel_s, 8), rounded(fill_bytes, -5)
        error = median([abs(e) for e in errors_of(rows, constants)])
        products[architecture] = {"constants": constants, "table": name, "rows": len(rows), "error": error,
                                  "best": best_of(tables[name]), "is_whole": True}
    share, *others = products["hopper"]["constants"]
    fp8 = product_rows(tables["h100_gemm"], fraction, "fp8")
    fp8_share = rounded(fit_factor(lambda f: errors_of(fp8, (share * f, *others)), 0.5, 1.3), 2)
    for kernel, architecture, which, name, kind in ATTENTION:
        rows = [Attention(row, tables[name], fraction) for row in tables[name]["rows"]
                if row["kind"] == kind and row["role"] == "calibrating"]
        (share, diagonal, tail, narrow), has_narrow = fit_attention(rows)
        constants = rounded(share, 3), rounded(diagonal, 0), rounded(tail, 2), rounded(narrow, 2)
        error = median([abs(row.seconds(*constants) / row.measured_s - 1) for row in rows])
        attention[kernel, architecture, which] = {"constants": constants, "table": name, "rows": len(rows),
                                                  "error": error, "has_narrow": has_narrow}
    memory = {name: rounded(fit_memory(tables[MEMORY_TABLE], fraction, kinds), 2) for name, kinds in MEMORY.items()}
    return products, fp8_share, attention, memory


def show(products, fp8_share, attention, memory):
    for architecture, fit in products.items():
        if fit.get("is_whole"):
            share, kernel_s, fill_bytes = fit["constants"]
            print(f'"{architecture}", {share:.3f} / {fit["best"]:.3f}, 0, {kernel_s * 1e6:.2f}e-6, 0, '
                  f'{fill_bytes * 1e-6:.1f}e6 /* {fit["table"]}: {fit["rows"]} rows, '
                  f'median {fit["error"] * 100:.1f} % */')
            continue
        share, tile_s, needed, kernel_s = fit["constants"]
        print(f'"{architecture}", {share:.3f} / {fit["best"]:.3f}, {tile_s * 1e6:.2f}e-6, '
              f'{kernel_s * 1e6:.2f}e-6, {needed:.1f} /* {fit["table"]}: {fit["rows"]} rows, '
              f'median {fit["error"] * 100:.1f} % */')
    print(f"fp8_share {fp8_share:.2f} /* h100_gemm */\n")
    for (kernel, architecture, which), fit in attention.items():
        share, diagonal, tail, narrow = fit["constants"]
        shown = f"{narrow:.2f}" if fit["has_narrow"] else "no narrow heads"
        print(f'{kernel} {architecture} {which} {{ {share:.3f}, {diagonal:.0f}, {tail:.2f}, {shown}, "{fit["table"]}" }} '
              f'/* {fit["rows"]} rows, median {fit["error"] * 100:.1f} % */')
    print()
    for name, factor in memory.items():
        print(f"{name} {factor:.2f} /* {MEMORY_TABLE} */")


# --- the check ---

def find(rows, **keys):
    return next(row for row in rows if all(row[key] == value for key, value in keys.items()))


def compare_constants(answer, products, fp8_share, attention, memory):
    held, problems = answer["constants"], []

    def compare(what, is_held, is_fitted):
        if not math.isclose(is_held, is_fitted, rel_tol=1e-6, abs_tol=1e-12):
            problems.append(f"{what} is {is_held:.6g}, and the fit finds {is_fitted:.6g}")

    for architecture, fit in products.items():
        row = find(held["products"], architecture=architecture)
        if fit.get("is_whole"):
            share, kernel_s, fill_bytes = fit["constants"]
            compare(f"{architecture}: share", row["best_share"], share / fit["best"])
            compare(f"{architecture}: start", row["kernel_s"], kernel_s)
            compare(f"{architecture}: bytes that are not hidden", row["fill_bytes"], fill_bytes)
            continue
        share, tile_s, needed, kernel_s = fit["constants"]
        compare(f"{architecture}: share", row["best_share"], share / fit["best"])
        compare(f"{architecture}: overhead of a tile", row["tile_s"], tile_s)
        compare(f"{architecture}: start", row["kernel_s"], kernel_s)
        compare(f"{architecture}: multiply-adds per number", row["needed"], needed)
    compare("hopper: FP8", find(held["products"], architecture="hopper")["fp8_share"], fp8_share)
    for (kernel, architecture, which), fit in attention.items():
        row = find(held["attention"], kernel=kernel, architecture=architecture, **{"pass": which})
        names = ("share", "diagonal_tokens", "tail", "narrow")
        for name, value in list(zip(names, fit["constants"]))[:None if fit["has_narrow"] else 3]:
            compare(f"{kernel}, {architecture}, {which}: {name}", row[name], value)
    for name, factor in memory.items():
        compare(f"rate of {name}", held["memory_rates"][name], factor)
    return problems


def compare_prices(answer):
    """Every product and kernel of attention that is fitted, by the constants that the program holds."""
    held, problems = answer["constants"], []
    fitted = {(table, kind): (kernel, architecture, which) for kernel, architecture, which, table, kind in ATTENTION}
    for table in answer["tables"]:
        device = table["accelerator"]
        for row in table["rows"]:
            if table["kernel"] == "product":
                c = find(held["products"], architecture=device["architecture"])
                share = c["best_share"] * best_of(table)
                share *= c["fp8_share"] if row["kind"] == "fp8" else 1
                if device["sms"] > 0:
                    seconds = Product(row, table, held["memory_fraction"]).seconds(share, c["tile_s"], c["needed"],
                                                                                   c["kernel_s"])
                else:
                    seconds = WholeProduct(row, table, held["memory_fraction"]).seconds(share, c["kernel_s"],
                                                                                        c["fill_bytes"])
            elif (table["table"], row["kind"]) in fitted:
                kernel, architecture, which = fitted[table["table"], row["kind"]]
                c = find(held["attention"], kernel=kernel, architecture=architecture, **{"pass": which})
                seconds = Attention(row, table, held["memory_fraction"]).seconds(c["share"], c["diagonal_tokens"],
                                                                                 c["tail"], c["narrow"])
            else:
                continue
            if not math.isclose(seconds * 1e6, row["predicted_us"], rel_tol=1e-6):
                problems.append(f"{table['table']}:{row['line']}: the program predicts {row['predicted_us']:.6g} us, and "
                                f"the formulas here {seconds * 1e6:.6g} us")
    return problems


def main():
    parser = argparse.ArgumentParser(description="Fits the constants of kernels to measured tables.")
    parser.add_argument("program", help="the built fabricast")
    parser.add_argument("--check", action="store_true", help="exit with 1 when the program holds other constants")
    options = parser.parse_args()
    ran = subprocess.run([options.program, "validate", "kernels", "--format", "json"], capture_output=True, text=True,
                         check=False)
    if not ran.stdout:
        sys.exit(ran.stderr)
    answer = json.loads(ran.stdout)
    fit = fit_all(answer)
    show(*fit)
    if options.check:
        problems = compare_prices(answer)
        problems = problems[:10] + compare_constants(answer, *fit)
        sys.exit("\n".join(problems) if problems else 0)


if __name__ == "__main__":
    main()
