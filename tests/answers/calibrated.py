#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of a calibration, `calibrate --format text`, says what its JSON and its entry say; and errors are those of its rows.

`calibrated.py PROGRAM [Class]`.
"""
import json
import os
import re
import statistics

import yaml

import answer
from answer import support

LINKS = os.path.join("validate", "measured", "links")
CASES = (("docs/examples/link.csv", "--base", "ib-hdr"), (f"{LINKS}/h100_cuda.meas",),
         (f"{LINKS}/nvlink1_p100_sweep.csv", f"{LINKS}/nvlink1_p100_sweep_both.csv", "--base", "nvlink1", "--count", "2"),
         (f"{LINKS}/nvlink4_h800_write_kernel.csv", f"{LINKS}/nvlink4_h800_write_kernel_both.csv", f"{LINKS}/nvlink4_h800_write.csv", "--base", "nvlink4",
          "--count", "18"),
         ("tests/fixtures/benchmarks/perftest-read-write-hdr.txt", "--base", "ib-hdr", "--series", "write-host"),
         (f"{LINKS}/ib_ndr_h200_write_both.csv", f"{LINKS}/slingshot11_alps_mpich_host.csv"),
         (f"{LINKS}/pcie5_rtx5090_p2p_staged.csv", f"{LINKS}/pcie5_rtx5090_p2p_staged_latency.csv", "--base", "pcie5-x16"))
TITLE = re.compile(r"^(\S.*) \((\d+) series(?:, (\d+) samples)?\)$")


class Calibrated(answer.AnswerTest):
    def assert_pair(self, text, value, half, what):
        """"21.36 +- 0.22 us": a figure and half of its interval, where that is known."""
        found = [answer.quantity(part) for part in text.split(" +- ")]
        self.assertEqual(len(found), 2 if half else 1, f"{what}: {text}")
        self.assertTrue(answer.is_near_in_unit(found[0], value), f"{what}: {text} is not {value}")
        if half:
            self.assertTrue(answer.is_near_in_unit(found[1], half), f"{what}: {text} is not +- {half}")

    def test_pages(self):
        for files in CASES:
            with self.subTest(files):
                command = ("calibrate", *(os.path.join(support.SOURCE, word) if "/" in word else word for word in files))
                done = self.fabricast(*command, "--format", "text")
                self.assertEqual(done.returncode, 0, done.stderr)
                told = json.loads(self.fabricast(*command, "--format", "json").stdout)["links"]
                entries = {entry["name"]: entry for entry in yaml.safe_load(self.fabricast(*command).stdout)["links"]}
                pages = re.split(r"(?m)^machine: ", done.stdout)[1:]
                self.assertEqual(len(pages), len(told))
                for page, link in zip(pages, told):
                    self.check_page(page, link, entries[link["link"]], files)

    def check_page(self, page, link, entry, files):
        head, *paragraphs = page.rstrip("\n").split("\n\n")
        machine, legend = head.split("\n")
        self.assertEqual(machine, link["system"] or "not known")
        self.assertIn("half of the 95 % interval", legend)
        kinds = paragraphs[:-2]
        self.assertEqual(len(kinds), len(link["measured"]))
        for lines, kind in zip(kinds, link["measured"]):
            self.check_kind(lines.split("\n"), kind)
        self.check_entry(paragraphs[-2].split("\n"), link, entry, files)
        quality, *notes = paragraphs[-1].split("\n")
        self.check_quality(quality, link)
        self.assertEqual(notes, [f"Note: {note}." for note in link["notes"]])

    def check_kind(self, lines, kind):
        title, n_series, n_samples = TITLE.match(lines[0]).groups()
        self.assertIn(f" {kind['kind']}, ", title)
        self.assertEqual(title.endswith(" and others"), kind["series"] > 1)
        self.assertEqual((int(n_series), int(n_samples or 0)), (kind["series"], kind["samples"]))
        if "rows" not in kind:
            self.assertEqual(len(lines), 2)
            size, _, figure = lines[1].removeprefix("  at ").partition(": ")
            self.assertTrue(lines[1].startswith("  at ") and answer.quantity(size), lines[1])
            self.assertEqual("GB/s" in figure, "rate_GBps" in kind)
            if "rate_GBps" in kind:
                self.assert_pair(figure, kind["rate_GBps"] * 1e9, kind.get("rate_half_GBps", 0) * 1e9, lines[1])
            return
        regimes, n = kind["regimes"], len(kind["regimes"])
        for i, (line, regime) in enumerate(zip(lines[1:], regimes)):
            size, overhead, rate = re.match(r"  (.*?) +overhead (.*?) +rate (.*)$", line).groups()
            if n == 1:
                self.assertEqual(size, "all sizes")
            elif i == n - 1:
                self.assertEqual(size, "above")
            else:
                self.assertTrue(size.startswith("to ") and answer.quantity(size).is_near(regime["up_to_bytes"]), line)
            if overhead == "none":
                self.assertEqual(regime["overhead_us"], 0)
            else:
                self.assert_pair(overhead, regime["overhead_us"] * 1e-6, regime["overhead_half_us"] * 1e-6, line)
            self.assertEqual(rate == "not told by so short messages", "rate_GBps" not in regime)
            if "rate_GBps" in regime:
                self.assert_pair(rate, regime["rate_GBps"] * 1e9, regime["rate_half_GBps"] * 1e9, line)
        self.assertEqual(lines[1 + n].split(), ["size", "measured", "us", "fitted", "us", "error"])
        rows = lines[2 + n:2 + n + len(kind["rows"])]
        for line, row in zip(rows, kind["rows"]):
            size, measured, fitted, error, held = re.match(r" +(\S+ \S+) +(\S+) +(\S+) +(\S+)%(  held out)?$", line).groups()
            self.assertTrue(answer.quantity(size).is_near(row["size_bytes"]), line)
            for text, value in ((measured, row["measured_us"]), (fitted, row["predicted_us"]), (error, 100 * row["error_fraction"])):
                self.assertTrue(answer.quantity(text).is_near(value), line)
            self.assertIn(error[0], "+-")
            self.assertEqual(held is not None, row["part"] == "held-out", line)
            self.assert_same(row["error_fraction"], row["predicted_us"] / row["measured_us"] - 1)
        errors = {}
        for line in lines[2 + n + len(rows):]:
            part, count, median, largest, size = re.match(r"  (\S+) +(\d+) sizes: median \|error\| +(\S+) %, largest +(\S+) % at (.*)$", line).groups()
            errors[part] = (int(count), answer.quantity(median), answer.quantity(largest), answer.quantity(size))
        self.assertEqual(set(errors), {row["part"] for row in kind["rows"]} | set(kind["errors"]))
        for part, (count, median, largest, size) in errors.items():
            own = [row for row in kind["rows"] if row["part"] == part]
            most = max(own, key=lambda row: abs(row["error_fraction"]))
            self.assertEqual(count, len(own))
            self.assertTrue(median.is_near(100 * statistics.median(abs(row["error_fraction"]) for row in own)), median.text)
            self.assertTrue(largest.is_near(100 * abs(most["error_fraction"])), largest.text)
            self.assertTrue(size.is_near(most["size_bytes"]), size.text)
            said = kind["errors"][part]
            self.assertEqual((said["sizes"], said["max_size_bytes"]), (len(own), most["size_bytes"]))
            self.assert_same(said["median_fraction"], statistics.median(abs(row["error_fraction"]) for row in own))

    def check_entry(self, lines, link, entry, files):
        base = f"on top of '{link['base']}'" if link["base"] else "without a base"
        self.assertEqual(lines[0].replace("',", "'").partition("' ")[2], base)
        self.assertTrue(lines[0].startswith(f"link '{link['link']}'"))
        shown = {}
        for line in lines[1:]:
            name, text = re.match(r"  (\S+(?: \S+)*)  +(.*)$", line).groups()
            shown[f"{name} {text.rpartition('(')[2].rstrip(')')}" if name == "both directions" else name] = text
        count = int(files[files.index("--count") + 1]) if "--count" in files else 1
        of = {(kind["kind"], kind["drive"]): kind for kind in link["measured"]}
        for drive in ("copy", "kernel"):
            one_way = of.get(("bandwidth", drive)) or (of.get(("latency", drive)) if of.get(("latency", drive), {}).get("regimes") else None)
            if drive in shown:
                rate, achievable = shown[drive].split(", achievable ")
                self.assertTrue(answer.quantity(achievable.partition(" (")[0]).is_near(entry[drive]["achievable"]), drive)
                self.assertEqual(" (" in achievable, link["base"] is not None)
                if "the fitted rate of" not in " ".join(link["notes"]):
                    self.assert_pair(rate, one_way["rate_GBps"] / count * 1e9, one_way.get("rate_half_GBps", 0) / count * 1e9, drive)
            else:
                self.assertTrue(one_way is None or drive == "copy" and not of.get(("bandwidth", drive)), drive)
            both = of.get(("bidirectional", drive))
            self.assertEqual(f"both directions {drive}" in shown, both is not None and one_way is not None, drive)
        if "endpoint" in shown:
            pair, _, of_base = shown["endpoint"].partition(" (")
            self.assert_pair(pair, link["endpoint_us"] * 1e-6, link["endpoint_us"] * link["uncertainty"]["endpoint_fraction"] * 1e-6, "endpoint")
            self.assertEqual(of_base == "of the base)", not any(kind == "latency" for kind, _ in of))
        if "collective_fraction" in shown:
            self.assertTrue(answer.quantity(shown["collective_fraction"]).is_near(link["collective_fraction"]))
            self.assertTrue(shown["collective_fraction"].endswith(" (of the base)"))
        gap = of.get(("bandwidth", "copy"), {}).get("regimes")
        self.assertEqual("gap" in shown, bool(gap))
        self.assertLessEqual({"endpoint", "collective_fraction"} & set(shown), {"endpoint", "collective_fraction"} if link["base"] or ("latency", "copy") in of else set())
        if gap:
            self.assert_pair(shown["gap"].partition(" between")[0], gap[0]["overhead_us"] * 1e-6, gap[0]["overhead_half_us"] * 1e-6, "gap")
        self.assertEqual("messages" in shown, bool(entry.get("messages")))
        if "messages" in shown:
            rows, half = re.match(r"(\d+) rows, \+- (\S+) %$", shown["messages"]).groups()
            self.assertEqual(int(rows), len(entry["messages"]))
            self.assertTrue(answer.quantity(half).is_near(100 * link["uncertainty"]["messages_fraction"]))

    def check_quality(self, text, link):
        errors = [abs(row["error_fraction"]) for kind in link["measured"] for row in kind.get("rows", []) if row["part"] == "fitted"]
        is_seen = link["held_out"] == 0
        if is_seen and not errors:
            self.assertTrue(text.startswith("Quality: not known, as too few sizes were measured to judge a fit. Measured "), text)
        else:
            error = statistics.median(errors) if is_seen else link["held_out_error_fraction"]
            word = "poor" if error > 0.05 else "not known" if is_seen else "fair" if error > 0.02 else "good"
            self.assertTrue(text.startswith(f"Quality: {word}. "), text)
            self.assertEqual("No size was held out; those that were fitted are " in text, is_seen)
            self.assertEqual("Sizes that the fit did not see are " in text, not is_seen)
            self.assertTrue(answer.quantity(text.partition(" are ")[2]).is_near(error), text)
            self.assertEqual("measure longer" in text, word == "poor")
        first, last = link["from_bytes"], link["to_bytes"]
        measured = text.rpartition("Measured ")[2].removesuffix("; predictions of other sizes are marked.")
        values = [one.value for one in answer.quantities(measured)]
        self.assertEqual(measured.startswith("from "), first < last)
        self.assertEqual(measured.endswith(" only"), first == last)
        for found, value in zip(answer.quantities(measured), (first, last) if first < last else (last,)):
            self.assertTrue(found.is_near(value), measured)
        self.assertEqual(len(values), 2 if first < last else 1)


class Accelerator(answer.AnswerTest):
    """What is fitted to kernels: its page, its rows, its document and its entry."""

    KERNELS = os.path.join(support.SOURCE, "validate", "measured", "kernels")
    FIXTURES = os.path.join(support.SOURCE, "tests", "fixtures", "benchmarks")
    CASES = ((f"{KERNELS}/h100_gemm.csv", "--base", "h100-sxm5-80gb"), (f"{FIXTURES}/kernels-memory.csv", "--base", "h100-sxm5-80gb"), (f"{KERNELS}/aic_a100_gemm.csv", "--base", "a100-sxm4-80gb"),
             (f"{FIXTURES}/kernels-products.csv", f"{FIXTURES}/kernels-memory.csv", f"{FIXTURES}/kernels-attention.csv", "--base", "h100-sxm5-80gb"))

    def test_forms(self):
        for case in self.CASES:
            with self.subTest(case):
                command = ("calibrate", *case)
                told = json.loads(self.fabricast(*command, "--format", "json").stdout)
                page = self.fabricast(*command, "--format", "text").stdout
                entry = self.fabricast(*command).stdout
                self.check_rows(told, page, answer.csv_rows(self.fabricast(*command, "--format", "csv").stdout))
                self.check_fits(told, page, yaml.safe_load(self.good("describe", "accelerators", told["base"])))
                self.check_entry(told, page, entry, case)

    def check_rows(self, told, page, cells):
        head, *lines = page.split("\n\n")[1].rstrip("\n").split("\n")
        self.assertEqual(re.split(r"  +| (?=op )", head)[:1], ["kind"])
        self.assertEqual((len(lines), len(cells)), (len(told["kernels"]),) * 2)
        for line, row, kernel in zip(lines, cells, told["kernels"]):
            self.assertEqual([row[key] for key in ("accelerator", "kind", "op", "precision", "shape", "size_bytes", "held_out")],
                             [told["accelerator"], kernel["kind"], kernel["op"] or "", kernel["precision"] or "", kernel["shape"] or "", str(kernel["size_bytes"]),
                              str(int(kernel["held_out"]))])
            for key in ("measured_s", "before_s", "predicted_s"):
                self.assertTrue(abs(float(row[key]) - kernel[key]) <= 1e-5 * kernel[key], key)
            words = [word for word in (kernel["kind"], kernel["op"], kernel["precision"], kernel["shape"] or str(kernel["size_bytes"])) if word]
            self.assertEqual(line.split()[:len(words)], words)
            measured, predicted, *_ = [*line.split()[len(words):], "", ""]
            self.assertTrue(answer.quantity(measured).is_near(kernel["measured_s"] * 1e6), line)
            self.assertEqual(line.endswith(" held out"), kernel["held_out"] and kernel["predicted_s"] > 0, line)
            if kernel["predicted_s"] > 0:
                self.assertTrue(answer.quantity(predicted).is_near(kernel["predicted_s"] * 1e6), line)
                error = re.search(r"([-+][\d.]+) %", line)[1]
                self.assertTrue(answer.quantity(error).is_near(100 * (kernel["predicted_s"] / kernel["measured_s"] - 1)), line)
            rate = re.search(r" ([\d.]+) (TF/s|GB/s)", line)
            self.assertEqual(rate[2] if rate else None, "TF/s" if kernel["kind"] in ("product", "attention") else "GB/s" if rate else None, line)
            if kernel["kind"] == "product":
                m, n, k = map(int, kernel["shape"].split("x")[:3])
                self.assertAlmostEqual(float(rate[1]), 2 * m * n * k / kernel["measured_s"] / 1e12, delta=0.051, msg="two operations for each element of n x k")

    def check_fits(self, told, page, base):
        shown = {found[1]: found[2] for found in re.finditer(r"(?m)^(\w+) +([\d.]+ % of .*)$", page)}
        self.assertEqual(list(shown), [fit["of"] for fit in told["fits"]])
        rates = {"fp8": "peak_fp8", "mxfp8": "peak_fp8", "tf32": "peak_tf32"}
        for fit in told["fits"]:
            text = shown[fit["of"]]
            share, of, errors = re.match(r"([\d.]+) % of (.*?), fitted to (.*)$", text).groups()
            self.assertAlmostEqual(float(share) / 100, fit["fraction"], 3)
            found = answer.quantities("fitted to " + errors)
            wanted = (fit["n_fitted"], fit["fitted_error"], fit["n_held_out"], fit["error_of_fit"], fit["largest_error"], fit["error_before"])
            self.assertEqual(len(found), len(wanted), text)
            for one, value in zip(found, wanted):
                self.assertTrue(one.is_near(value), f"{text}: {one.text} is not {value}")
            number, unit = re.fullmatch(r"([\d.]+) (.*)/s", of).groups()
            peak = str(base["memory_rate"] if fit["of"] == "memory" else base[rates.get(fit["of"], "peak_fp16")])
            known, prefix = re.fullmatch(r"([\d.]+)([GTP])(?:FLOP|B)/s", peak).groups()
            scale = {"G": 1e9, "T": 1e12, "P": 1e15}
            self.assertAlmostEqual(float(number) * scale[unit[0]] / (float(known) * scale[prefix]), 1, 3)
            own = [kernel for kernel in told["kernels"] if kernel["kind"] == "product" and kernel["precision"] == fit["of"] and kernel["predicted_s"] > 0]
            if own:
                self.assertEqual((sum(not one["held_out"] for one in own), sum(one["held_out"] for one in own)), (fit["n_fitted"], fit["n_held_out"]))
                errors = {held: [one["predicted_s"] / one["measured_s"] - 1 for one in own if one["held_out"] == held] for held in (False, True)}
                self.assert_same(fit["fitted_error"], statistics.median(map(abs, errors[False])), rel=1e-5)
                if errors[True]:
                    self.assert_same(fit["error_of_fit"], statistics.median(map(abs, errors[True])), rel=1e-5)
                    self.assert_same(fit["largest_error"], max(map(abs, errors[True])), rel=1e-5)
                    self.assert_same(fit["error_before"], statistics.median(abs(one["before_s"] / one["measured_s"] - 1) for one in own if one["held_out"]), rel=1e-5)
                best = max(own, key=lambda one: self.rate(one))
                self.assertIn(f"best {self.rate(best):.1f} TFLOP/s at {best['shape']}", page)
        for label, key, scale in (("launch", "launch_s", 1e6), ("issue", "issue_s", 1e6), ("sustained", "sustained_fraction", 100)):
            found = re.search(rf"(?m)^{label} +([\d.]+) ", page)
            self.assertEqual(found is not None, told[key] > 0, label)
            if found:
                self.assertTrue(answer.quantity(found[1]).is_near(told[key] * scale), label)
        self.assertEqual(re.findall(r"(?m)^note: (.*)$", page), told["notes"])

    def rate(self, kernel):
        m, n, k = map(int, kernel["shape"].split("x")[:3])
        return 2 * m * n * k / kernel["measured_s"] / 1e12

    def check_entry(self, told, page, entry, case):
        keys = re.search(r"(?m)^the job's keys: (.*)$", page)[1]
        self.assertIn(f"#   {keys}\n", entry)
        fits = {fit["of"]: fit["fraction"] for fit in told["fits"]}
        wide = fits.get("bf16") or fits.get("fp16")
        wanted = ["kind: roofline", *([f"achievable: {100 * wide:.1f}%"] if wide else []), *([f"memory: {100 * fits['memory']:.1f}%"] if "memory" in fits else []),
                  *([f"launch: {told['launch_s'] * 1e9:.0f}ns"] if told["launch_s"] else []), *([f"issue: {told['issue_s'] * 1e9:.0f}ns"] if told["issue_s"] else [])]
        self.assertEqual(keys, f"compute: {{{', '.join(wanted)}}}")
        for file in case:
            if "/" in file:
                self.assertIn(f"#   {os.path.basename(file)}\n", entry)
        [one] = yaml.safe_load(entry)["accelerators"]
        self.assertEqual(one["name"], told["accelerator"])
        self.assert_same(one["matmul"], told["matmul"], rel=1e-6)


if __name__ == "__main__":
    support.main()
