#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole page of `run`, line by line: each row of it is a figure of the JSON of the same run, at its place, and no row is missing.

`ran.py PROGRAM [Class]`. Rows that say what was simulated, and pictures, are other tests'.
"""
import json
import re

import answer
import tables

COUNTS = (("pauses", "pause", "pauses"), ("marks", "packet marked", "packets marked"), ("drops", "packet lost", "packets lost"))


class Ran(answer.AnswerTest):
    def take(self, label, template, *values, is_first=True):
        """The next line is a label and the template, with a quantity in the place of each `{}`."""
        line = self.lines.pop(0)
        self.assertEqual(line[:18], f"  {label if is_first else '':16}", line)
        found = re.fullmatch(re.escape(template).replace(r"\{\}", "(.+?)"), line[18:])
        self.assertIsNotNone(found, f"{line!r} is not {template!r}")
        for text, value in zip(found.groups(), values, strict=True):
            [quantity] = answer.quantities(text)
            self.assertTrue(answer.is_near_in_unit(quantity, value), f"{text} is not {value}: {line}")

    def begins(self, label):
        return self.lines[0].startswith(f"  {label:16}")

    def take_time(self, label, seconds, step, note=""):
        line = self.lines[0]
        self.assertEqual(line[18:28], f"{line[18:28].strip():>10}", line)
        self.lines[0] = line[:18] + line[18:].lstrip()
        self.take(label, f"{{}}  {100 * seconds / step if step else 0:5.1f} %{'   ' if note else ''}{note}", seconds)

    def take_end(self):
        self.assertEqual(self.lines.pop(0), "")

    def check_head(self, told):
        """How many ranks, which fidelity, what was offered, how many collectives were played, and how many kinds of them were sampled."""
        begin = re.match(r"  machine +(\d+) x \S+ on \d+ x \S+", self.lines.pop(0))
        self.assertEqual(int(begin[1]), told.ranks)
        while not self.begins("job"):
            self.assertRegex(self.lines.pop(0), r"^  (circuits|disturbed) ")
        flows = f", {told.traffic.flows} flow{'s' if told.traffic.flows > 1 else ''} per iteration; " if told.traffic else " per iteration; "
        bands = f"; its bands are simulated at {told.band.fidelity}" if told.band and told.band.fidelity else ""
        self.assertTrue(self.lines.pop(0).endswith(f"{flows}fidelity {told.fidelity}{bands}"))
        if told.traffic and told.traffic.offered_s:
            self.take("offered load", f"{100 * told.traffic.offered_fraction:.1f} % of what the NICs carry, in {{}}", told.traffic.offered_s)
        memo, sampled = told.memo, told.sampled
        if memo and memo.collectives_remembered:
            self.take("played", f"{memo.collectives - memo.collectives_remembered} of {memo.collectives} collectives; the others repeat earlier ones")
        if sampled:
            n = sampled.whole + sampled.parts + sampled.too_large
            times = f"; times of flows x {sampled.least_factor:.3f} to {sampled.most_factor:.3f}" if sampled.most_factor else ""
            self.take("sampled", f"{n} {'kind' if n == 1 else 'kinds'} of collectives: {sampled.whole} whole, {sampled.parts} in parts, {sampled.too_large} too large to sample{times}")

    def check_step(self, told):
        step = told.iterations[-1]
        whole = step.step_s
        n = len(told.iterations)
        self.take_time("step", whole, whole, f"iteration {n} of {n}")
        band = told.band
        if band:
            self.assertIn(" %, ", self.lines[0])
            self.assertIn(step.band_most.partition(" (")[0], self.lines[0])
            self.lines[0] = self.lines[0].partition(" %, ")[0] + " %"
            self.lines[0] = self.lines[0][:18] + self.lines[0][18:].lstrip()
            self.take("  band", "{} to {}   {}", step.step_low_s, step.step_high_s, band.coverage_fraction)
        self.take_time("compute", step.compute_s, whole)
        if self.begins("  slowed"):
            self.assertGreater(answer.quantities(self.lines.pop(0))[1].value, 0.00099)
        self.take_time("communication", step.comm_s, whole)
        self.take_time("  overlapped", step.overlapped_s, whole, "hidden under compute")
        self.take_time("  exposed", step.exposed_s, whole, "compute waits for it")
        if band and step.exposed_high_s > step.exposed_low_s:
            self.lines[0] = self.lines[0][:18] + self.lines[0][18:].lstrip()
            self.take("    band", "{} to {}", step.exposed_low_s, step.exposed_high_s)
        untuned = band and band.untuned
        if untuned and untuned.tables and untuned.high_factor >= 1.05:
            networks = f"{untuned.tables} of {untuned.of} published networks took "
            times = f"{max(untuned.low_factor, 1):.2g} to {untuned.high_factor:.2g} times" if untuned.tables > 1 else f"{untuned.high_factor:.2g} times"
            self.take("    beyond it", f"{networks}{times} as long as predicted; check yours: fabricast collective --check FILE")
        shares = told.exposed_by_dimension
        for share in shares if len(shares) > 1 else ():
            self.take_time("  " + share.dimension, share.exposed_s, whole, share.operations)
        self.take_time("idle", step.idle_s, whole)
        if step.waiting_s > whole / 1000:
            self.take_time("  waiting", step.waiting_s, whole, "a collective waits for its last rank")
        cap = told.power_cap
        if cap:
            self.take("power cap", f"{100 * cap.cap_fraction:8.1f} %  of a GPU's power; its clock is {100 * cap.clock_fraction / cap.full_clock_fraction:.1f} % of the one without a cap")
        if step.mfu_fraction:
            self.take("MFU", f"{100 * step.mfu_fraction:8.1f} %  (HFU {100 * step.hfu_fraction:.1f} %)   {step.tokens_per_s:.0f} tokens/s")
        elif step.tokens_per_s:
            self.take("throughput", f"{step.tokens_per_s:8.0f}     tokens/s")
        lengths = {one.step_s for one in told.iterations}
        if self.begins("iterations"):
            self.take("iterations", "p50 {}, p95 {}, max {}", told.step.p50_s, told.step.p95_s, told.step.max_s)
        else:
            self.assertTrue(max(lengths) - min(lengths) < 1e-11)
        if told.train_days:
            self.assertRegex(self.lines[0], r" for .* tokens at this pace$")
            self.lines[0] = self.lines[0].partition(" for ")[0]
            self.take("training", "{}", 86400 * told.train_days)
        while told.goodput and not self.begins("memory"):
            self.lines.pop(0)
        self.check_memory(told)
        self.take_end()

    def check_memory(self, told):
        memory = told.memory
        if not memory:
            return
        has = memory.capacity_bytes
        used = "{} GB" if not has else "{} of {} GB" if memory.bytes <= has else "does not fit: {} GB of {} GB per GPU"
        self.assertEqual(memory.fits, memory.bytes <= has or not has)
        name = f" ({memory.rank_class})" if len(told.rank_classes) > 1 else ""
        parts = {("gathered parameters" if part == "gathered" else part): size for part, size in memory.parts.items() if size}
        self.take("memory", used + name + ": " + ", ".join(f"{part} {{}}" for part in parts), *([memory.bytes, has] if has else [memory.bytes]), *parts.values())
        for i, hint in enumerate(memory.hints):
            command = "fabricast run " + self.name + "".join(f" --set {one}" for one in (*self.sets, *hint.assignments))
            size = self.lines[0][18:28]
            self.assertTrue(answer.quantity(size + " ").is_near(hint.bytes) or abs(answer.quantity(size).value / hint.bytes - 1) < 0.01, size)
            self.take("it fits with", f"{size}{command}", is_first=i == 0)

    def check_classes(self, told):
        classes = told.rank_classes
        if len(classes) < 2:
            return
        at, heads = tables.head_at(self.lines, ["ranks", "count", "compute", "overlapped", "exposed", "idle", "waiting"])
        self.assertEqual(at, 0)
        del self.lines[0]
        for one in classes[:16]:
            found = tables.by_head(self.lines.pop(0), heads[1:], True)
            self.assertEqual(found[-1].text, one.name)
            for i, value in enumerate((one.ranks, one.compute_s, one.overlapped_s, one.exposed_s, one.idle_s, one.waiting_s)):
                self.assertTrue(tables.is_shown(found[i].text, value), f"{one.name}: {found[i].text} is not {value}")
        more = len(classes) - 16
        if more > 0:
            self.assertEqual(self.lines.pop(0), f"    and {more} more {'classes' if more > 1 else 'class'}: `fabricast query classes`")
        self.take_end()

    def check_path(self, told):
        parts, whole = told.critical_path, told.iterations[-1].step_s
        n = len(parts) if len(parts) <= 4 else 3
        for i, part in enumerate(parts[:n]):
            words = {"tensor": "tensor-parallel ", "data": "data-parallel ", "pipeline": "pipeline-parallel ", "expert": "expert-parallel ", "context": "context-parallel "}
            begin = f"{100 * part.time_s / whole:5.1f} % "
            end = f"; slowest link {part.link} ({part.link_spec})" if part.link else ""
            self.assertTrue(self.lines[0].endswith(end), self.lines[0])
            if part.kind == "comm":
                self.assertEqual(self.lines[0][18:].removesuffix(end), f"{begin}{words.get(part.dimension, '')}communication")
                self.lines.pop(0)
            else:
                self.take("critical path", begin + self.lines[0][18 + len(begin):], is_first=i == 0)
        if n < len(parts):
            rest = sum(part.time_s for part in parts[n:])
            self.take("", f"{100 * rest / whole:5.1f} % {len(parts) - n} others: `fabricast query critical-path`")
        if parts:
            self.take_end()

    def check_slowest(self, told):
        if not told.binding_link:
            self.take("slowest link", "none, because no bytes cross a link")
        else:
            self.assertRegex(self.lines[0], rf", \d+ x {re.escape(told.binding_link_spec)}, [\d.]+ [GT]b/s \(.*\) one way$")
            rate, bytes_per_s = answer.quantities(self.lines[0].rpartition(f"{told.binding_link_spec}, ")[2])
            self.assertTrue(bytes_per_s.is_near(rate.value) or rate.is_near(bytes_per_s.value), self.lines[0])
            self.take("slowest link", told.binding_link + self.lines[0][18 + len(told.binding_link):])
            kind = "exposed communication" if told.iterations[-1].exposed_s else "communication"
            self.take("", f"of the collectives with {100 * told.binding_fraction:.0f} % of the {kind}; busy {100 * told.binding_busy_fraction:.1f} % of the step")
            self.take("start-up", f"{100 * told.startup_fraction:.1f} % of the communication is latency before bytes flow")
        self.take_end()

    def check_levers(self, told):
        found = told.bottleneck
        if not found:
            return
        self.take("limited by", found.limited_by or "nothing alone")
        width = max(len(lever.change) for lever in found.levers)
        for i, lever in enumerate(found.levers):
            line = self.lines[0].rstrip()
            step, percent = re.fullmatch(r"  step +(\S+ \S+) +(\S+) %", line[18 + width:]).groups()
            self.assertTrue(answer.quantity(step).is_near(lever.step_s))
            self.assertLess(abs(float(percent) + 100 * lever.saved_fraction), 0.051)
            self.assertIn(percent[0], "+-")
            self.take("  what if", f"{lever.change:{width}}{line[18 + width:]}", is_first=i == 0)
        if found.seeds > 1:
            self.take("", "These are medians of {} seeds, with which the step is {} to {}, median {}.", found.seeds, found.step_low_s, found.step_high_s, found.step_s)
        if found.fidelity:
            self.take("", f"These were simulated at fidelity {found.fidelity}, where the step is {{}}.", found.step_s)
            away = found.step_s / told.iterations[-1].step_s - 1
            if abs(away) > 0.05:
                self.take("", f"That is {100 * away:+.1f} % from the step above: queues may decide what helps.")
        self.take_end()

    def counts(self, of):
        words = [f"{of[key]} {one if of[key] == 1 else many}" for key, one, many in COUNTS if of[key]]
        return "; " + ", ".join(words) if words else ""

    def check_queues(self, told):
        queues = told.queues
        if not queues:
            return
        for i, queue in enumerate(queues.longest):
            self.take("queues", f"{queue.link} ({queue.link_spec}): at most {{}}, mean {{}}{self.counts(queue)}", queue.most_queue_bytes, queue.mean_queue_bytes, is_first=i == 0)
        self.take("", f"{queues.links} {'link' if queues.links == 1 else 'links'} in all{self.counts(queues)}: `fabricast query queues`")
        self.take_end()

    def check_findings(self, findings, label_width=18):
        """Each with its words, and its advice below it; a label stands before the first line alone."""
        labels = {"stops": "stop", "warns": "warning", "notes": "verdict"}
        for finding in findings:
            first = self.lines.pop(0)
            words = [first[label_width:]]
            label = first[:label_width].strip()
            self.assertIn(label, (labels[finding.severity], "note", "verdict", "warning", "stop"))
            while self.lines and self.lines[0].startswith(" " * label_width) and self.lines[0].strip():
                words.append(self.lines.pop(0).strip())
            self.assertEqual(" ".join(words), " ".join(filter(None, (finding.text, finding.advice))))

    def check_end(self, told, command):
        """Jobs side by side, and where the run is kept."""
        text = "\n".join(self.lines)
        if told.jobs:
            at, heads = tables.head_at(self.lines, ["jobs, mean step", "nodes", "alone", "together", "slow-down", "iterations"])
            for line, job in zip(self.lines[at + 1:], told.jobs):
                found = tables.by_head(line, heads, False)
                self.assertEqual(found[0].text, job.name)
                for i, value in enumerate((job.nodes, job.alone_s, job.together_s, job.slow_down, job.iterations), 1):
                    self.assertTrue(tables.is_shown(found[i].text, value), f"{line}: {found[i].text} is not {value}")
        kept = re.findall(r"(?m)^  run (\d+) in (\S+); `fabricast query iterations --db (\S+)` reads it back$", text)
        self.assertEqual(kept, [(str(told.run_id + 1), "runs.db", "runs.db")] if "--db" in command else [])

    def check(self, *command):
        command = ("run", *command)
        told = tables.nodes(json.loads(self.fabricast(*command, "--format", "json").stdout))
        page = self.fabricast(*command, "--full").stdout
        self.name = command[1]
        self.sets = [one for at, one in enumerate(command) if command[at - 1] == "--set"]
        if "--iterations" in command:
            self.sets.insert(0, "iterations=" + command[command.index("--iterations") + 1])
        self.lines = page.split("\n")
        stops = [finding for finding in told.verdict if finding.severity == "stops"]
        if stops:
            self.check_findings(stops)
            self.take_end()
        self.assertTrue(self.lines.pop(0).startswith(f"{told.name}"))
        self.take_end()
        self.check_head(told)
        self.take_end()
        self.check_step(told)
        self.check_classes(told)
        self.check_path(told)
        self.check_slowest(told)
        self.check_levers(told)
        self.check_queues(told)
        self.check_findings([finding for finding in told.verdict if finding.severity != "stops"])
        self.check_end(told, command)


class Times(Ran):
    def test_lines(self):
        for command in (("hello", "--db", "runs.db"), ("fsdp-8b-straggler", "--no-db"), ("power-cap-zero3-13b", "--no-db", "--no-bottleneck"), ("mpi-rig-100m", "--no-db"),
                        ("hello", "--no-db", "--no-band", "--no-bottleneck", "--iterations", "3"), ("moe-mixtral-128-gpus", "--no-db", "--no-band", "--no-bottleneck", "--iterations", "1")):
            with self.subTest(command):
                self.check(*command)


class Others(Ran):
    """Jobs that do not fit, or are beside others; seeds, queues and another fidelity."""

    def test_lines(self):
        for command in (("ddp-20b", "--no-db", "--no-band", "--no-bottleneck", "--iterations", "1"), ("fabric-ddp-ecmp", "--no-db", "--iterations", "1"),
                        ("interleave-two-jobs", "--no-db", "--no-band", "--no-bottleneck", "--iterations", "2"), ("incast-transports", "--no-db", "--no-band", "--no-bottleneck"),
                        ("own-node", "--no-db"),
                        ("own-node", "--no-db", "--no-band", "--set", "fidelity=sampled"), ("own-node", "--no-db", "--no-band", "--set", "fidelity=packet"),
                        ("ddp-2b-1node", "--no-db", "--no-band", "--no-bottleneck", "--set", "fidelity=sampled", "--iterations", "1"), ("ddp-2b-1node", "--no-db", "--set", "cluster.nodes=1", "--iterations", "1")):
            with self.subTest(command):
                self.check(*command)

    def test_ports(self):
        """A NIC of several ports is told from several NICs; nodes without a network have neither."""
        for command, end in ((("fabric-dual-tor",), ", 8 x 2 ports of roce-200 each, fabric leaf_spine"), (("fabric-ddp-rail",), " each, fabric rail"), (("hello",), " on 1 x dgx-a100")):
            line = self.good("run", *command, "--no-db", "--no-band", "--no-bottleneck", "--iterations", "1", "--full").split("\n")[2]
            self.assertTrue(line.startswith("  machine         ") and line.endswith(end), line)

    HEADS = {
        ("hello",): ("8 x a100-sxm4-80gb on 1 x dgx-a100", "ddp, 1.558 billion parameters, 6.23 GB of gradients, 145 collectives per iteration; fidelity fluid"),
        ("hello", "--set", "cluster.nodes=2", "--set", "cluster.nics_per_node=4"): (
            "16 x a100-sxm4-80gb on 2 x dgx-a100, 4 x ib-hdr each, fabric rail", "ddp, 1.558 billion parameters, 6.23 GB of gradients, 145 collectives per iteration; fidelity fluid"),
        ("fct-websearch",): ("32 x h100-sxm5-80gb on 32 x dgx-h100, 1 x roce-100 each, fabric leaf_spine", "traffic, 540 flows per iteration; fidelity packet"),
        ("fabric-circuits",): ("4 x h100-sxm5-80gb on 4 x dgx-h100, 1 x ib-ndr each, fabric custom",
                               "optical switches connect links at 4 times; at other times these links are dark", "traffic, 4 flows per iteration; fidelity fluid"),
        ("fault-nic-half-rate",): ("32 x a100-sxm4-80gb on 4 x dgx-a100, 4 x ib-hdr each, fabric rail", "1 fault, 0 background loads", "collective, 1 collective per iteration; fidelity fluid"),
        ("background-uplinks",): ("32 x a100-sxm4-80gb on 4 x dgx-a100, 1 x ib-hdr each, fabric leaf_spine", "0 faults, 1 background load",
                                  "collective, 1 collective per iteration; fidelity fluid"),
        ("neighbour-oversubscribed",): ("16 x a100-sxm4-80gb on 4 x dgx-a100 (2 of them the job's), 1 x ib-hdr each, fabric leaf_spine",
                                        "collective, 1 collective per iteration; fidelity fluid"),
    }

    def test_heads(self):
        """The machine, what disturbs it and the job: gpt2-xl has 1.558 billion parameters, with four bytes of gradient each."""
        for command, wanted in self.HEADS.items():
            page = self.fabricast("run", *command, "--no-db", "--no-band", "--no-bottleneck", "--iterations", "1", "--full").stdout
            labels = {2: ("machine", "job"), 3: ("machine", "circuits" if "optical" in wanted[1] else "disturbed", "job")}[len(wanted)]
            self.assertEqual(page.split("\n")[2:2 + len(wanted)], [f"  {label:16}{text}" for label, text in zip(labels, wanted)])
            told = self.json("run", *command, "--no-db", "--no-band", "--no-bottleneck", "--iterations", "1") if command[0] == "fct-websearch" else {"traffic": {}}
            offered = re.findall(r"(?m)^  offered load    (\S+) % of what the NICs carry, in (.*)$", page)
            self.assertEqual(len(offered), "offered_s" in told["traffic"], command)
            for share, time in offered:
                self.assertEqual(share, f"{100 * told['traffic']['offered_fraction']:.1f}")
                self.assertTrue(answer.quantity(time).is_near(told["traffic"]["offered_s"]))

    def test_a_step_without_time(self):
        """One GPU talks to nobody: every share of nothing is nothing."""
        page = self.good("run", "hello", "--set", "cluster.gpus_per_node=1", "--set", "job={kind: collective, operations: [{op: all_reduce, size: 1MiB}]}", "--no-db", "--full")
        shares = re.findall(r"(?m)^ +(step|compute|communication|overlapped|exposed|idle) +(\S+ \S+) +(\S+ %)", page)
        self.assertEqual(shares, [(label, "0 s", "0.0 %") for label in ("step", "compute", "communication", "overlapped", "exposed", "idle")])

    def test_runs_are_numbered_from_one(self):
        for number in (1, 2):
            page = self.good("run", "hello", "--db", "mine.db", "--no-band", "--no-bottleneck", "--iterations", "1", "--full")
            self.assertEqual(page.splitlines()[-1], f"  run {number} in mine.db; `fabricast query iterations --db mine.db` reads it back")


if __name__ == "__main__":
    answer.support.main()
