#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What commands write for other programs, held against the JSON and the results file of the same run.

`documents.py PROGRAM [Class]`. A drawing shows the whole machine, a trace has the times of the run, a page has the figures of the run.
"""
import glob
import html
import json
import math
import os
import re
import sqlite3
import xml.etree.ElementTree as ElementTree

import answer
from answer import support

SVG = "{http://www.w3.org/2000/svg}"
NODES = ("hello", "four-nodes")


class Drawn(answer.AnswerTest):
    """Checks of pictures."""

    def svg(self, *args):
        """The root of a picture, whose shapes lie within it."""
        root = ElementTree.fromstring(self.good(*args))
        left, top, width, height = map(float, root.get("viewBox").split())
        self.assertEqual((root.get("width"), root.get("height")), (f"{width:g}", f"{height:g}"))
        for shape in root.iter():
            for name, low, high in (("x", left, width), ("y", top, height), ("cx", left, width), ("cy", top, height)):
                value = shape.get(name)
                if value is not None and not value.endswith("%") and shape.tag != SVG + "pattern":
                    self.assertTrue(low - 1 <= float(value) <= high + 1, ElementTree.tostring(shape))
            if shape.tag == SVG + "rect" and shape.get("width", "%")[-1] != "%" and shape.get("x") is not None:
                self.assertGreaterEqual(float(shape.get("width")), 0)
                self.assertLessEqual(float(shape.get("x")) + float(shape.get("width")), left + width + 1)
                self.assertLessEqual(float(shape.get("y")) + float(shape.get("height")), top + height + 1)
            if shape.tag == SVG + "path" and re.search(r"h.*v.*z", shape.get("d", "")):
                self.check_blocks(shape.get("d"), left, top, width, height)
        return root

    def check_blocks(self, path, left, top, width, height):
        """Rectangles as one path: each goes right, down and back as far, and stays within the picture."""
        blocks = re.findall(r"M([-\d.]+) ([-\d.]+)h([-\d.]+)v([-\d.]+)h-([-\d.]+)z", path)
        self.assertEqual(len(blocks), path.count("M"), path[:200])
        for x, y, across, down, back in (map(float, block) for block in blocks):
            self.assertEqual(across, back)
            self.assertTrue(left - 1 <= x and x + across <= left + width + 1 and across >= 0, (x, across))
            self.assertTrue(top - 1 <= y and y + down <= top + height + 1 and down > 0, (y, down))

    def words(self, root):
        return ["".join(text.itertext()) for text in root.iter(SVG + "text")]


class Topo(Drawn):
    def test_every_part_is_drawn_once(self):
        for scenario in NODES:
            machine = self.json("topo", scenario)
            names = [vertex["name"] for vertex in machine["vertices"]]
            dot = self.good("topo", scenario, "--format", "dot")
            drawn = re.findall(r'^ *"([^"]+)" \[shape', dot, re.M)
            self.assertEqual(sorted(name for name in drawn if not name.startswith(("fabric ", "row "))), sorted(names))
            self.assertEqual(dot.count("{"), dot.count("}"))
            words = self.words(self.svg("topo", scenario, "--format", "svg"))
            for name in names:
                self.assertEqual(sum(word.split()[0] == name for word in words if word), 1, name)

    def test_every_link_is_drawn_once(self):
        for scenario in NODES:
            machine = self.json("topo", scenario)
            dot = self.good("topo", scenario, "--format", "dot")
            joined = {tuple(sorted(ends)) for ends in re.findall(r'"([^"]+)" -- "([^"]+)"', dot)}
            listed = {tuple(sorted((link["from"], link["to"]))) for link in machine["links"]}
            self.assertEqual(listed - joined, set())
            for link in machine["links"]:
                self.assertIn(link["link"], dot)
                self.assertGreater(link["rate_GBps"], 0)

    def test_the_matrix_is_that_of_the_document(self):
        for scenario in NODES:
            matrix = self.json("topo", scenario)["matrix"]
            lines = [line for line in self.good("topo", scenario, "--format", "matrix").splitlines() if re.match(r"(GPU|NIC)\d", line)]
            self.assertEqual(len(lines), len(matrix))
            for line, row in zip(lines, matrix):
                self.assertEqual([cell.strip() for cell in line.split("\t")[1:len(row) + 1]], [cell.strip() for cell in row])
            for i, row in enumerate(matrix):
                self.assertEqual(row[i].strip(), "X")
                self.assertEqual(row, [other[i] for other in matrix], "what joins a and b joins b and a")


class Trace(answer.AnswerTest):
    def setUp(self):
        super().setUp()
        self.run_told = json.loads(self.good("run", "four-nodes", "--iterations", "2", "--no-band", "--no-bottleneck", "--format", "json"))

    def test_chrome_has_the_times_of_the_run(self):
        events = json.loads(self.good("trace", "-o", "-"))["traceEvents"]
        spans = [event for event in events if event["ph"] == "X"]
        steps = sorted((event for event in spans if event["cat"] == "iteration"), key=lambda event: event["ts"])
        self.assertEqual(len(steps), 2)
        for step, iteration in zip(steps, self.run_told["iterations"]):
            self.assertAlmostEqual(step["dur"] / 1e6, iteration["step_s"], 8)
            for name in ("compute", "comm", "exposed"):
                self.assertAlmostEqual(step["args"][name + "_us"] / 1e6, iteration[name + "_s"], 6)
        self.assertAlmostEqual(steps[1]["ts"], steps[0]["ts"] + steps[0]["dur"], 2)
        names = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
        for span in spans:
            self.assertIn((span["pid"], span["tid"]), names, "every span lies on a line that has a name")
            self.assertGreaterEqual(span["dur"], 0)
        sums = self.busy(spans, steps[0], "compute")
        self.assertAlmostEqual(sums / 1e6, self.run_told["iterations"][0]["compute_s"], 3)

    def busy(self, spans, step, kind):
        """How long spans of a kind are under way in a step, on all lines of the first rank together."""
        within = sorted((span["ts"], span["ts"] + span["dur"]) for span in spans
                        if span["cat"] == kind and span["pid"] == step["pid"] and step["ts"] - 1e-3 <= span["ts"] < step["ts"] + step["dur"] - 1e-3)
        self.assertTrue(within, kind)
        end, total = -math.inf, 0
        for first, last in within:
            total += max(0, last - max(first, end))
            end = max(end, last)
        return total

    def test_a_choice_of_iterations(self):
        every = json.loads(self.good("trace", "-o", "-"))["traceEvents"]
        second = json.loads(self.good("trace", "--iteration", "1", "-o", "-"))["traceEvents"]
        span = json.loads(self.good("trace", "--iterations", "0:1", "-o", "-"))["traceEvents"]
        self.assertEqual(span, every)
        spans = [event for event in second if event["ph"] == "X"]
        self.assertEqual([event["name"] for event in spans if event["cat"] == "iteration"], ["iteration 1"])
        self.assertLess(len(spans), len([event for event in every if event["ph"] == "X"]))
        self.refused("trace", "--iteration", "2", "-o", "-", names="2")
        self.refused("trace", "--iterations", "1:0", "-o", "-", names="1:0")

    def test_kineto_is_a_folder_of_ranks(self):
        self.good("trace", "--format", "kineto", "-o", "k", "--ranks", "0,9")
        self.assertEqual(sorted(os.listdir(self.path("k"))), ["rank-0.json", "rank-9.json"])
        told = json.loads(support.read(self.path("k", "rank-9.json")))
        self.assertEqual(told["distributedInfo"]["rank"], 9)
        self.assertEqual(told["distributedInfo"]["world_size"], self.run_told["ranks"])
        steps = [event for event in told["traceEvents"] if event.get("name", "").startswith("ProfilerStep") and event["ph"] == "X"]
        self.assertEqual(len({event["name"] for event in steps}), 2)


class Report(Drawn):
    file = None

    def setUp(self):
        """A file with two runs and a sweep, which is made once."""
        super().setUp()
        if Report.file is None:
            for nodes in ("2", "4"):
                self.good("run", "four-nodes", "--iterations", "1", "--no-band", "--set", f"cluster.nodes={nodes}")
            self.good("sweep", "hello", "--vary", "cluster.nodes=1,2", "--vary", "job.micro_batch=2,4")
            with open(self.path("fabricast.db"), "rb") as file:
                Report.file = file.read()
        with open(self.path("fabricast.db"), "wb") as file:
            file.write(Report.file)

    def data(self, *args):
        page = self.good("report", *args, "-o", "-")
        for script in re.findall(r'<script type="application/json" id="\w+">(.*?)</script>', page, re.S):
            json.loads(script)
        self.assertEqual(page.count("<script"), page.count("</script>"))
        return page, json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))

    def test_the_page_has_the_figures_of_the_file(self):
        page, data = self.data("--run", "1", "--run", "2")
        known = answer.numbers(data)
        with sqlite3.connect(self.path("fabricast.db")) as db:
            steps = [row[0] for row in db.execute("SELECT step_ps / 1e12 FROM iteration WHERE run_id IN (1, 2)")]
            links = db.execute("SELECT count (DISTINCT link) FROM link_load WHERE run_id = 2").fetchone()[0]
        self.assertEqual(len(steps), 2)
        for step in steps:
            self.assertTrue(any(math.isclose(value * scale, step, rel_tol=1e-6) for value in known for scale in (1, 1e-12, 1e-6, 1e-3)))
        rows = answer.csv_rows(self.good("report", "--run", "2", "--csv", "links"))
        self.assertGreater(len(rows), 0)
        self.assertLessEqual(len(rows), links)
        self.assertIn("<title>", page)

    def test_scripts_of_comparisons(self):
        """What draws several runs or a sweep is on pages that have them, each of the other scripts on all, and each once, line by line."""
        folder = os.path.join(support.SOURCE, "cli", "report")
        scripts = {name: [line for line in map(str.strip, support.read(folder, name).splitlines()) if line and not line.startswith("//")]
                   for name in os.listdir(folder) if name.endswith(".js")}
        self.assertGreater(len(scripts), 15)
        for args, has_all in ((("--run", "1"), False), (("--run", "1", "--run", "2"), True), (("--sweep", "1"), True)):
            page = "\n" + self.data(*args)[0]
            for name, lines in scripts.items():
                n = page.count("\n" + "\n".join(lines) + "\n")
                self.assertEqual(n, int(has_all or name not in ("curve.js", "differences.js", "sweeps.js")), f"{name} {args}")

    def test_links_are_listed_by_how_busy_they_are(self):
        """The shares of time in which the links of a group are busy fall from the first to the last."""
        _, data = self.data("--run", "1", "--run", "2")
        groups = [group for group in self.walk(data) if "strip" in group]
        self.assertGreater(len(groups), 0)
        for group in groups:
            strip = group["strip"]
            self.assertEqual(strip, sorted(strip, reverse=True))
            self.assertLessEqual(len(strip), group["n"])
            self.assertTrue(strip[-1] - 1 <= 1000 * group["mean"] <= strip[0] + 1, group)
            self.assertAlmostEqual(strip[0], 1000 * group["busiest"], delta=0.6)

    def walk(self, data):
        """All objects of a document."""
        for value in data.values() if isinstance(data, dict) else data:
            if isinstance(value, (dict, list)):
                yield from self.walk(value)
        if isinstance(data, dict):
            yield data

    def test_pictures(self):
        for figure in ("timeline", "exposed", "wait"):
            root = self.svg("report", "--svg", figure, "--run", "1", "--run", "2")
            self.assertTrue(root.find(SVG + "title").text)
            self.assertTrue(self.words(root))
        root = self.svg("report", "--svg", "exposed", "--run", "1", "--run", "2")
        shown = " ".join(self.words(root))
        self.assertIn("four-nodes", shown)
        sweep = self.svg("report", "--svg", "sweep")
        for value in ("1", "2", "4"):
            self.assertIn(value, self.words(sweep))

    def test_bars_are_as_long_as_their_times(self):
        """Parts of a step, side by side, are as long as their times: the one that is hidden under compute between both."""
        with sqlite3.connect(self.path("fabricast.db")) as db:
            rows = db.execute("SELECT run_id, compute_ps - overlapped_ps, overlapped_ps, exposed_ps FROM iteration")
            times = {run: sorted(part for part in row if part > 0) for run, *row in rows}
        root = self.svg("report", "--svg", "exposed", "--run", "1", "--run", "2")
        widths = {}
        for rect in root.iter(SVG + "rect"):
            if rect.get("x") is not None and float(rect.get("width")) > 1 and float(rect.get("height")) > 8:
                widths.setdefault(rect.get("y"), []).append(float(rect.get("width")))
        bars = [sorted(found) for found in widths.values() if len(found) == 3]
        self.assertEqual(len(bars), 2)
        per_ps = [width / part for run, bar in zip((1, 2), bars) for width, part in zip(bar, times[run])]
        for scale in per_ps:
            self.assertAlmostEqual(scale / per_ps[0], 1, 1, "all bars are drawn to one scale")

    def test_tables(self):
        self.good("report", "--csv", "tables/", "--run", "2")
        names = sorted(os.listdir(self.path("tables")))
        self.assertGreater(len(names), 2)
        for name in names:
            text = support.read(self.path("tables", name))
            self.assertEqual(answer.csv_rows(text), answer.csv_rows(self.good("report", "--csv", name.removeprefix("run-2-").removesuffix(".csv"), "--run", "2")))

    def test_planning_opens_with_the_decision(self):
        self.data("--for", "planning", "--run", "1", "--run", "2")
        self.refused("report", "--for", "plans", names="plans")
        self.refused("report", "--run", "9", names="9")
        self.refused("report", "--svg", "pie", names="pie")


class Study(answer.AnswerTest):
    """The page of a study has the figures of the study, whatever its target is."""

    def page(self, *command):
        told = self.fabricast(*command, "--format", "json").stdout
        study = self.write("study.json", told)
        page = self.good("report", study, "-o", "-")
        body = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.S)
        return json.loads(told), re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", body))), page

    def assert_shown(self, words, values):
        shown = answer.quantities(words)
        for value in values:
            self.assertTrue(any(found.is_near(value) for found in shown), f"{value} is not on the page")

    def test_size(self):
        for target in ("step<=600ms", "exposed<=100%"):
            told, words, page = self.page("size", "mpi-rig-100m", "--vary", "cluster.nic_rate=110..130Mb/s:10", "--target", target)
            self.assertIn(told["target"], words)
            self.assertIn(told["key"], words)
            for point in told["points"]:
                self.assertIn(point["value"], words)
            if target.startswith("step"):
                self.assert_shown(words, [point["step_s"] for point in told["points"]])
            for drawing in re.findall(r"<svg.*?</svg>", page, re.S):
                ElementTree.fromstring(drawing if "xmlns=" in drawing[:300] else drawing.replace("<svg", f'<svg xmlns="{SVG[1:-1]}"', 1))

    def test_compare_and_cost(self):
        told, words, _ = self.page("compare", "hello", "--vary", "cluster.nodes=1,2")
        self.assert_shown(words, [row["step_s"] for row in told["figures"]])
        told, words, _ = self.page("cost", "ddp-2b-4nodes-200g")
        self.assert_shown(words, [told["figures"]["usd_per_hour"], told["figures"]["step_s"]])
        for part in told["parts"]:
            self.assertIn(part["product"], words)


    def test_upgrade(self):
        """The page asks what should change first, and has a row for each change that helps."""
        told, words, _ = self.page("upgrade", "mpi-rig-100m")
        self.assertIn("What should change first?", words)
        self.assertIn(told["scenario"], words)
        played = [change for change in told["changes"] if change["step_s"] and change["is_recommended"] == "yes" and change["saved_fraction"] > 0.005]
        self.assertGreater(len(played), 0)
        for change in played:
            self.assertIn(" ".join(html.unescape(change["change"]).split()), words)
        self.assert_shown(words, [told["step_s"], *(change["step_s"] for change in played)])
        for heading in ("Change", "Saves", "Price", "Step", "How sure", "Then limited by"):
            self.assertIn(heading, words)


class Described(answer.AnswerTest):
    def test_every_section_and_every_name(self):
        """What a list names can be asked for, and says its name first."""
        sections = re.findall(r"^(\w+) {2,}", self.good("describe"), re.M)
        self.assertGreater(len(sections), 15)
        for section in ("links", "accelerators", "nodes", "models", "technologies", "processors"):
            self.assertIn(section, sections)
            page = self.good("describe", section)
            files = glob.glob(os.path.join(glob.escape(support.SOURCE), "models", "catalog", section + "*.yaml"))
            names = [name for file in files for name in re.findall(r"^(?:  )?- (?:\{ *)?name: *([\w.\-]+)", support.read(file), re.M)]
            self.assertGreater(len(names), 3)
            for name in names:
                self.assertRegex(page, rf"(?m)(^|[ ,]){re.escape(name)}([ ,:]|$)")
            for name in (names[0], names[-1]):
                self.assertTrue(self.good("describe", section, name).startswith(f"name: {name}\n"))
            self.refused("describe", section, names[0] + "x", names="nearest is")

    def test_every_key_of_a_model(self):
        for section, name in (("job", "ddp"), ("fabric", "rail"), ("collectives", "nccl"), ("fidelity", "packet"), ("compute", "roofline")):
            page = self.good("describe", section, name)
            self.assertGreater(len(re.findall(r"^  *(\w+) ", page, re.M)), 3, page)

    def test_what_is_printed_can_be_played(self):
        """`check` prints every default: as a scenario, it is the same again, and gives the same times."""
        for name in ("hello", "fabric-ddp-rail", "zero3-13b-slow-fabric"):
            whole = self.good("check", name)
            path = self.write(name + "-whole.yaml", whole)
            self.assertEqual(self.good("check", path), whole)
            first, again = (self.json("run", one, "--no-db", "--no-band", "--no-bottleneck", "--iterations", "1") for one in (name, path))
            self.assertEqual(first["iterations"], again["iterations"])


class Asked(answer.AnswerTest):
    def test_every_question_has_an_answer(self):
        """Named queries answer in three forms, and --sql reads what the views hold."""
        told = self.json("run", "four-nodes", "--iterations", "2", "--no-bottleneck")
        self.good("sweep", "hello", "--vary", "cluster.nodes=1,2")
        for name in re.findall(r"^([\w-]+) {2,}", self.good("query"), re.M):
            rows = self.csv("query", name)
            things = self.json("query", name)
            self.assertEqual(len(rows), len(things), name)
            for row, thing in zip(rows, things):
                self.assertEqual(list(row), list(thing))
                for key, value in thing.items():
                    self.assert_cell(row[key], value, f"{name}: {key}")
        rows = self.json("query", "--sql", "SELECT iteration, step_ps / 1e12 AS step_s FROM iteration WHERE run_id = :run ORDER BY iteration")
        self.assertEqual([row["iteration"] for row in rows], [0, 1])
        for row, iteration in zip(rows, told["iterations"]):
            self.assert_same(row["step_s"], iteration["step_s"])
        self.refused("query", "--sql", "DELETE FROM run", names="only reading")
        self.refused("query", "nothing", names="nothing")

    def test_help_says_what_there_is(self):
        """Each command's help has its options, none of which is listed without words."""
        for command in support.commands(self.good("--help")):
            page = self.good(command, "--help")
            self.assertIn(f"fabricast {command} [OPTION...]", page)
            options = re.findall(r"^  (?:-(.), |    )?(--[\w-]+)(?:=\S+)?(?: {2,}(\S.*))?$", page, re.M)
            self.assertGreaterEqual(len(options), 1, command)
            for short, name, words in options:
                self.assertTrue(short == "" or short.isalpha(), f"{command} {name}: -{short!r}")
            self.assertIn("Examples:", page)
        for topic in re.findall(r"^  ([\w-]+) {2,}", self.good("help"), re.M):
            self.assertGreater(len(self.good("help", topic)), 100)


if __name__ == "__main__":
    support.main()
