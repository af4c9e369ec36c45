#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drawings of machines: what `topo` draws and prints is where the machine has it.

`drawn.py PROGRAM`. Boxes, lines and words are read back, and held against the document of the same machine.
"""
import re
import xml.etree.ElementTree as ElementTree

import answer
from answer import support

SVG = "{http://www.w3.org/2000/svg}"
NODES = ("dgx-a100", "mi300x", "dgx1-v100", "gb200-nvl72", "dgx2", "aurora-pvc")
FABRICS = (("--node", "dgx-h100", "--nodes", "4"), ("--node", "dgx-h100", "--nodes", "64"), ("fabric-ddp-ecmp",), ("fabric-torus-all-reduce",),
           ("fabric-dragonfly-plus",))
BOX, MOST_BOXES, MOST_DRAWN, MOST_GRID, HUB = 11, 4, 6, 5, 76


class Box:
    """A box of a drawing with the words in it."""

    def __init__(self, rect, words):
        x, y, width, height = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
        self.x, self.y, self.half, self.left, self.right, self.top, self.bottom = x + width / 2, y + height / 2, width / 2, x, x + width, y, y + height
        self.name, self.fill = words, rect.get("fill")


class Picture:
    def __init__(self, text):
        drawing = ElementTree.fromstring(text)
        self.width, self.height, root = float(drawing.get("width")), float(drawing.get("height")), list(drawing)
        self.boxes, self.lines, self.legend, self.words = {}, [], {}, []
        for i, shape in enumerate(root):
            if shape.tag == SVG + "rect" and shape.get("rx"):
                words = [one for one in root[i + 1:i + 3] if one.tag == SVG + "text" and one.get("x") == root[i + 1].get("x")
                         and float(shape.get("y")) < float(one.get("y")) < float(shape.get("y")) + float(shape.get("height"))]
                box = Box(shape, "_".join(one.text for one in words))  # "gpu_bridge0" in a narrow box: two lines
                lines = [float(one.get("y")) for one in words]
                assert lines and all(lower - upper > 10 for upper, lower in zip(lines, lines[1:])) and abs(float(root[i + 1].get("x")) - box.x) < 0.11, box.name
                self.boxes[box.name.split(",")[0]] = box
            elif shape.tag == SVG + "path" and re.search(r" h40$", shape.get("d")):
                self.legend[root[i + 1].text] = shape.get("stroke")
            elif shape.tag == SVG + "path":
                numbers = [float(number) for number in re.findall(r"[-\d.]+", shape.get("d"))]
                self.lines.append([numbers[:2], numbers[-2:], shape.get("stroke"), float(shape.get("stroke-width")), numbers[2:-2]])
            elif shape.tag == SVG + "text":
                self.words.append(shape.text)

    def whole_lines(self):
        """With what is drawn in pieces as one: a piece that ends at no box goes on in the next one."""
        found = []
        for line in self.lines:
            if found and found[-1][1] == line[0] and found[-1][2:4] == line[2:4] and not any(is_at(line[0], box) for box in self.boxes.values()):
                found[-1][1] = line[1]
            else:
                found.append(list(line))
        return found


def is_at(point, box):
    return box.left - 0.2 <= point[0] <= box.right + 0.2 and abs(point[1] - box.y) < 0.2


class Drawn(answer.AnswerTest):
    def assert_apart(self, boxes):
        boxes = list(boxes)
        for i, one in enumerate(boxes):
            for other in boxes[i + 1:]:
                self.assertTrue(one.right <= other.left or other.right <= one.left or one.bottom <= other.top or other.bottom <= one.top,
                                f"{one.name} lies over {other.name}")

    def rate_text(self, link):
        rate = link["rate_GBps"]
        return f"{link['count']} x {link['link']}, " if link["count"] > 1 else f"{link['link']}, ", rate


class Tidy(Drawn):
    """Every drawing is whole: all of it is inside, no words lie over others, and what it says of the machine is there."""

    MACHINES = (*(("--node", name) for name in NODES), *FABRICS, ("--design", "superpod-h100", "--units", "2"), ("--design", "deepseek-mpft", "--only", "fabric"))

    def texts(self, drawing):
        """(left, right, top, bottom, words) of the words of a drawing; a letter is at least 0.42 of its height wide."""
        found = []
        for one in drawing.iter(SVG + "text"):
            size = float(one.get("font-size") or drawing.get("font-size"))
            width, x, y = 0.42 * size * len(one.text), float(one.get("x")), float(one.get("y"))
            left = x - width * {"middle": 0.5, "end": 1}.get(one.get("text-anchor"), 0)
            found.append((left, left + width, y - 0.7 * size, y, one.text))
        return found

    def test_words_and_lines_are_inside(self):
        for machine in self.MACHINES:
            with self.subTest(machine):
                text = self.good("topo", *machine, "--format", "svg")
                drawing = ElementTree.fromstring(text)
                width, height = float(drawing.get("width")), float(drawing.get("height"))
                self.assertEqual(drawing.get("viewBox"), f"0 0 {width:g} {height:g}")
                words = self.texts(drawing)
                for left, right, top, bottom, said in words:
                    self.assertTrue(0 <= left and right <= width and 0 <= top and bottom <= height, said)
                for i, one in enumerate(words):
                    for other in words[i + 1:]:
                        self.assertTrue(one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2], f"{one[4]!r} lies over {other[4]!r}")
                self.assertTrue(all(re.match(r"fabric |one of ", one.text) for one in drawing.iter(SVG + "text") if one.get("font-weight")), "heads alone are bold")
                self.assertTrue(all(one.get("font-weight") == "bold" for one in drawing.iter(SVG + "text") if re.match(r"fabric \S+ of |one of \d+ identical ", one.text)))
                for path in drawing.iter(SVG + "path"):
                    numbers = [float(number) for number in re.findall(r"[-\d.]+", path.get("d").replace("h40", ""))]
                    self.assertTrue(all(-0.1 <= x <= width for x in numbers[::2]) and all(-0.1 <= y <= height for y in numbers[1::2]), path.get("d"))
                self.check_legend(drawing)

    def check_legend(self, drawing):
        """One row for each kind of link, with a colour of its own up to eight of them."""
        root = list(drawing)
        rows = [(shape.get("stroke"), root[i + 1].text, float(root[i + 1].get("y"))) for i, shape in enumerate(root) if shape.tag == SVG + "path" and shape.get("d").endswith(" h40")]
        self.assertTrue(rows)
        self.assertEqual(len({words for _, words, _ in rows}), len(rows))
        self.assertEqual(len({colour for colour, _, _ in rows}), min(len(rows), 8))
        self.assertTrue(all(abs(after[2] - before[2] - 20) < 0.11 for before, after in zip(rows, rows[1:])), rows)

    def test_notes_of_a_design(self):
        told = self.good("describe", "designs", "superpod-h100")
        drawing = ElementTree.fromstring(self.good("topo", "--design", "superpod-h100", "--units", "2", "--format", "svg"))
        said = [one.text for one in drawing.iter(SVG + "text")]
        self.assertTrue(any(re.search(r"(?m)^transport: (.*)$", told)[1].startswith(words.removeprefix("transport: ")) for words in said if words.startswith("transport: ")))
        watts = float(re.search(r"(?m)^rack_watts: (.*)$", told)[1])
        self.assertTrue(any(answer.quantity(words).is_near(watts) for words in said if words.startswith("power: ")))


class Node(Drawn):
    def test_boxes_hang_below_what_they_hang_on(self):
        for name in NODES:
            with self.subTest(name):
                told, picture = self.json("topo", "--node", name), Picture(self.good("topo", "--node", name, "--format", "svg"))
                below = {vertex["name"]: vertex.get("below") for vertex in told["vertices"]}
                self.assert_apart(picture.boxes.values())
                self.assertTrue(all(box.left >= 30 and box.right <= picture.width - 30 and box.bottom < picture.height for box in picture.boxes.values()), name)
                kinds, rows = {}, {}
                for vertex in told["vertices"]:
                    box = picture.boxes.get(vertex["name"])
                    if box is None:
                        continue
                    self.assertEqual(kinds.setdefault(vertex["kind"], box.fill), box.fill, "a kind has one colour")
                    children = [picture.boxes[other] for other, above in below.items() if above == vertex["name"] and other in picture.boxes]
                    beside = [child for child in children if child.y == box.y]  # the memory of a socket
                    self.assertTrue(all(child.left > box.right for child in beside) and len(beside) <= 1, vertex["name"])
                    for child in children:
                        self.assertTrue(child in beside or child.top > box.bottom, vertex["name"])
                    if len(children) > len(beside):
                        under = [one for one in self.under(vertex["name"], below, picture) if one not in beside]
                        self.assertTrue(min(one.x for one in under) - 0.11 <= box.x <= max(one.x for one in under) + 0.11, vertex["name"])
                        rows.setdefault(self.depth(vertex["name"], below), set()).add(box.y)
                    last = [picture.boxes[one["name"]].y for one in told["vertices"] if one.get("below") == vertex["name"] and one["name"] in picture.boxes
                            and one["kind"] == "accelerator"]
                    others = [child.y for child in children if child.y not in last]
                    self.assertTrue(not last or not others or min(last) > max(others), "accelerators stand in the last rows")
                self.assertTrue(all(len(heights) == 1 for heights in rows.values()), rows)
                self.assertGreater(len(set(kinds.values())), 1)
                missing = set(below) - set(picture.boxes)
                self.assertEqual(bool(missing), any("identical" in words for words in picture.words), missing)

    def depth(self, name, below):
        return 0 if below[name] is None else 1 + self.depth(below[name], below)

    def under(self, name, below, picture):
        found = []
        for other, above in below.items():
            if above == name and other in picture.boxes:
                found += [picture.boxes[other], *self.under(other, below, picture)]
        return found

    def test_each_link_is_a_line_between_its_boxes(self):
        for name in NODES:
            with self.subTest(name):
                told, picture = self.json("topo", "--node", name), Picture(self.good("topo", "--node", name, "--format", "svg"))
                below = {vertex["name"]: vertex.get("below") for vertex in told["vertices"]}
                links = [link for link in told["links"] if {link["from"], link["to"]} <= set(picture.boxes)]
                lines, first_y = picture.whole_lines(), min(box.y for box in picture.boxes.values())
                for link in links:
                    ends = picture.boxes[link["from"]], picture.boxes[link["to"]]
                    found = [line for line in lines if is_at(line[0], ends[0]) and is_at(line[1], ends[1])
                             or is_at(line[0], ends[1]) and is_at(line[1], ends[0])]
                    self.assertTrue(found, f"no line joins {link['from']} and {link['to']}")
                    line = found[0]
                    lines.remove(line)
                    words, rate = self.rate_text(link)
                    form = [text for text, colour in picture.legend.items() if text.startswith(words) and answer.quantity(text.rsplit(", ", 2)[1]).is_near(rate * 1e9)]
                    self.assertEqual(len(form), 1, f"{words}{rate}")
                    self.assertEqual(line[3], 2.5 if link["count"] > 1 else 1.5)
                    is_beside = below[link["from"]] == link["to"] or below[link["to"]] == link["from"]
                    self.assertEqual(bool(line[4]), abs(ends[0].y - ends[1].y) < 1 and not is_beside, "an arc between neighbours of a row")
                    self.assertIn(line[2], picture.legend.values())
                    if line[4]:  # up from the first row, else down, and farther the farther apart they are
                        way, apart = -1 if ends[0].y < first_y + 1 else 1, abs(ends[0].x - ends[1].x)
                        self.assertAlmostEqual(line[4][0], (ends[0].x + ends[1].x) / 2, delta=0.2, msg=link)
                        self.assertAlmostEqual(line[4][1] - ends[0].y, way * min(30 + apart / 6, 0.9 * HUB), delta=0.2, msg=link)
                self.assertEqual(lines, [], "a line for every link, and no other")
                self.assertTrue(all(text.endswith(", one direction") for text in picture.legend))

    def test_the_tree_of_the_page(self):
        for name in NODES:
            with self.subTest(name):
                told, page = self.json("topo", "--node", name), self.good("topo", "--node", name)
                below = {vertex["name"]: vertex.get("below") for vertex in told["vertices"]}
                up = {frozenset((link["from"], link["to"])): link for link in told["links"]}
                tree, _, across = page.partition("\nacross, each:\n")
                shown = [line for line in tree.split("\n\n", 1 if "identical" not in tree else 2)[-1].splitlines() if line.strip()]
                above = []
                for line in shown:
                    part, _, link = line.strip().partition("  ")
                    depth = (len(line) - len(line.lstrip())) // 2
                    del above[depth:]
                    self.assertEqual(below[part], above[-1] if above else None, line)
                    above.append(part)
                    if link:
                        self.assertEqual(line.index(link.strip()), 24, line)
                        words, rate = self.rate_text(up[frozenset((part, below[part]))])
                        self.assertTrue(link.strip().startswith(words) and answer.quantity(link.split(", ")[-1]).is_near(rate * 1e9), line)
                self.assertEqual(len({line.strip().split("  ")[0] for line in shown}), len(shown))
                if "identical" not in tree:
                    self.assertEqual({line.strip().split("  ")[0] for line in shown}, set(below))
                self.check_across(across, told, below)

    def check_across(self, text, told, below):
        links = [link for link in told["links"] if below.get(link["from"]) != link["to"] and below.get(link["to"]) != link["from"]]
        named = {frozenset((link["from"], link["to"])) for link in links}
        n = 0
        for head, pairs, more in re.findall(r"(?m)^  (\S.*)\n    (\S.*)\n(?:    (\d+) in all\n)?", text):
            shown = [frozenset(pair.split("-", 1)) if pair.count("-") == 1 else pair for pair in pairs.removesuffix(" ...").split()]
            self.assertTrue(all(pair in named for pair in shown if not isinstance(pair, str)), pairs)
            self.assertEqual(pairs.endswith(" ..."), bool(more), head)
            self.assertLessEqual(len(shown), 16)
            n += int(more) if more else len(shown)
        self.assertEqual(n, len(named))


class Fabric(Drawn):
    SAID = (*FABRICS, ("fabric-hyperx",), ("fabric-dual-tor",), ("fabric-slim-fly",), ("fabric-rail-only",), ("--node", "gb200-nvl72", "--nodes", "36"))

    def test_words_are_those_of_the_page(self):
        """What the page says of each row, and of what joins it with others, stands in the drawing."""
        n_inside = 0
        for machine in self.SAID:
            with self.subTest(machine):
                page = self.good("topo", *machine, "--only", "fabric")
                words = Picture(self.good("topo", *machine, "--only", "fabric", "--format", "svg")).words
                said = re.findall(r"(?m)^  (?:     \|  )?([a-z\d][^|+\n]*[^|+ \n])$", page.partition("\nfabric ")[2].partition("\n  injection ")[0])
                self.assertGreater(len(said), 1)
                self.assertEqual([line for line in said if line not in words], [])
                n_inside += sum("joined to" in line or "never blocks" in line for line in said)
        self.assertGreater(n_inside, 4)

    def rows(self, told):
        return {row["name"]: row["members"] for row in told["fabric"]["rows"]}

    def expected(self, name, members, most):
        """The names of the first boxes and of the last."""
        if members == 1:
            return [name]
        return [f"{name}{i}" for i in (range(members) if members <= most else [*range(most - 1), members - 1])]

    def test_what_stands_above_the_rows(self):
        """Which fabric it is, and of how many nodes and adapters; rails and networks of their own, where it has them."""
        for machine in self.SAID:
            told, page = self.json("topo", *machine), self.good("topo", *machine, "--only", "fabric")
            kind, nodes = told["fabric"]["kind"], self.rows(told)["node"]
            head = page.partition("\nfabric ")[2].partition("\n\n")[0].splitlines()
            nics = int(re.match(rf"{kind} of {nodes} nodes?, (\d+) NICs?(?: of \d+ ports)? each$", head[0])[1])
            rails = [line for line in head if line.startswith("rails: ")]
            self.assertEqual(len(rails), kind in ("rail", "rail_only"), kind)
            if rails:
                board = re.fullmatch(r"rails: NIC k of each board of (\d+) NICs connects to a switch of rail k", rails[0])
                self.assertTrue(nics % int(board[1]) == 0 if board else rails[0] == "rails: NIC k of a node connects to a switch of rail k", rails[0])
            self.assertEqual([line for line in head if "networks" in line], [f"{nics} networks that are connected only through nodes"] if kind == "rail_only" else [])

    def test_adapters_that_are_too_far_away(self):
        """In a DGX H100 each GPU has its adapter below the same PCIe switch: pix is far enough, and none is too near for all."""
        for reach, n in (("none", 8), ("pix", 0), ("sys", 0)):
            page = " ".join(self.good("topo", "--node", "dgx-h100", "--set", f"cluster.gdr={reach}").split())
            said = re.findall(r"The NIC of (\d+) of (\d+) GPUs is farther away than GPUDirect RDMA allows \(cluster\.gdr: (\w+)\), so their bytes to other nodes go through", page)
            self.assertEqual(said, [(str(n), "8", reach)] if n else [])

    def test_rows_of_boxes_in_words(self):
        for machine in FABRICS:
            with self.subTest(machine):
                told, page = self.json("topo", *machine), self.good("topo", *machine, "--only", "fabric")
                lines = page.splitlines()
                drawn = {}
                for i, line in enumerate(lines):
                    if not re.match(r"\s+\+-{9}\+", line) or i + 2 >= len(lines) or not re.search(r"\|.{9}\|", lines[i + 1]) or lines[i + 2] != line:
                        continue
                    starts = [found.start() for found in re.finditer(r"\+-{9}\+", line)]
                    labels = [lines[i + 1][start:start + BOX] for start in starts]
                    for label in labels:
                        self.assertTrue(label[0] == label[-1] == "|" and len(label) == BOX, lines[i + 1])
                        inner = label[1:-1]
                        left, right = len(inner) - len(inner.lstrip()), len(inner) - len(inner.rstrip())
                        self.assertIn(right - left, (0, 1), label)
                    names = [label.strip("| ") for label in labels]
                    drawn.setdefault(re.sub(r"\d+$", "", names[0]), []).append((names, " ... " in lines[i + 1], starts))
                torus = told["fabric"]["kind"] == "torus"
                for name, members in self.rows(told).items():
                    if torus and name == "router":
                        continue
                    [(names, has_dots, _)] = drawn[name]
                    wanted = self.expected(name, members, MOST_BOXES)
                    self.assertEqual(names, [one[:BOX - 2] for one in wanted])
                    self.assertEqual(has_dots, members > MOST_BOXES)
                self.check_bars(lines)

    def check_bars(self, lines):
        """Below and above a row of boxes a line stands at the middle of each."""
        is_box = lambda line: re.match(r"\s+\+-{9}\+", line) is not None
        for i, line in enumerate(lines):
            if is_box(line) and i + 1 < len(lines) and re.fullmatch(r"[ |]+", lines[i + 1] or "x") and "|" in lines[i + 1]:
                middles = [found.start() + BOX // 2 for found in re.finditer(r"\+-{9}\+", line)]
                self.assertEqual([found.start() for found in re.finditer(r"\|", lines[i + 1])], middles, line)
            if re.match(r"\s+\+-{12}", line):
                columns = [found.start() for found in re.finditer(r"\+", line)]
                above = [found.start() for found in re.finditer(r"\|", lines[i - 1])] if re.fullmatch(r"[ |]+", lines[i - 1]) else []
                below = next(other for other in lines[i + 1:] if re.fullmatch(r"[ |]+", other) and "|" in other)
                bars = [found.start() for found in re.finditer(r"\|", below)]
                self.assertTrue(columns in (above, bars), line)  # the line joins all of one row, and each of the other hangs on it
                self.assertTrue(all(columns[0] <= bar <= columns[-1] for bar in above + bars), line)

    def test_rows_of_boxes_in_a_drawing(self):
        for machine in FABRICS:
            with self.subTest(machine):
                told = self.json("topo", *machine)
                picture = Picture(self.good("topo", *machine, "--only", "fabric", "--format", "svg"))
                self.assert_apart(picture.boxes.values())
                last = -1
                for name, members in self.rows(told).items():
                    boxes = [box for key, box in picture.boxes.items() if re.fullmatch(rf"{name}\d*", key)]
                    if told["fabric"]["kind"] != "torus" or name != "router":
                        self.assertEqual([box.name for box in boxes], self.expected(name, members, MOST_DRAWN))
                        self.assertEqual(len({box.y for box in boxes}), 1)
                    self.assertGreater(boxes[0].y, last)
                    last = max(box.y for box in boxes)
                    apart = [other.x - one.x for one, other in zip(boxes, boxes[1:]) if abs(one.y - other.y) < 1]
                    if members > MOST_DRAWN and told["fabric"]["kind"] != "torus":
                        self.assertAlmostEqual(apart.pop(), 1.5 * apart[0], delta=0.2)
                    self.assertTrue(all(abs(one - apart[0]) < 0.11 for one in apart) or told["fabric"]["kind"] == "torus")
                for start, end, colour, _, _ in picture.lines:
                    for point in (start, end):
                        self.assertTrue(any(box.left <= point[0] <= box.right and box.top - 0.2 <= point[1] <= box.bottom + 0.2
                                            for box in picture.boxes.values()), f"a line ends at {point}, where no box is")
                    self.assertIn(colour, picture.legend.values())
                self.assertEqual({line[2] for line in picture.lines}, set(picture.legend.values()))

    def edges(self, machine):
        """{two members of rows: words of the links between them}, of the whole fabric as Graphviz gets it."""
        graph = self.good("topo", *machine, "--only", "fabric", "--format", "dot", "--all")
        return {frozenset(pair): words for *pair, words in re.findall(r'(?m)^ +"fabric (\S+)" -- "fabric (\S+)" \[label="(.*?)"\];$', graph)}

    def test_links_are_lines_between_boxes(self):
        """Two boxes of a drawing have a line between them where their members have links, with the words of these in the legend."""
        n_bent = 0
        for machine in FABRICS:
            with self.subTest(machine):
                edges = self.edges(machine)
                members = self.rows(self.json("topo", *machine))
                self.assertEqual({name for pair in edges for name in pair}, {f"{row}{i}" for row, n in members.items() for i in range(n)})
                picture = Picture(self.good("topo", *machine, "--only", "fabric", "--format", "svg"))
                joined = {}
                for start, end, colour, width, bend in picture.lines:
                    down = min(20 + abs(start[0] - end[0]) / 8, 60) if start[1] == end[1] and machine != ("fabric-torus-all-reduce",) else 0
                    self.assertAlmostEqual(bend[0], (start[0] + end[0]) / 2, delta=0.2)
                    self.assertAlmostEqual(bend[1], (start[1] + end[1]) / 2 + down, delta=0.2)
                    n_bent += down > 0
                    pair = [name for point in (start, end) for name, box in picture.boxes.items()
                            if box.left <= point[0] <= box.right and box.top - 0.2 <= point[1] <= box.bottom + 0.2]
                    self.assertEqual(len(pair), 2, f"a line from {start} to {end}")
                    joined[frozenset(name if members.get(name) != 1 else name + "0" for name in pair)] = (colour, width)
                shown = {name if members.get(name) != 1 else name + "0" for name in picture.boxes}
                wanted = {pair for pair in edges if pair <= shown}
                if "router15" in shown:  # of a torus the links around its ends and those of nodes are left out
                    self.assertLessEqual(set(joined), wanted)
                else:
                    self.assertEqual(set(joined) ^ wanted, set())
                for pair, (colour, width) in joined.items():
                    words = edges[pair]
                    self.assertEqual(width, 2.5 if re.match(r"\d+ x ", words) else 1.5, words)
                    self.assertTrue(any(text.startswith(words) and drawn == colour for text, drawn in picture.legend.items()), f"{words} is not in {picture.legend}")
        self.assertGreater(n_bent, 1)  # between members of one row, below their boxes; those of a torus stand in columns too

    def shown(self, size, most):
        """The first ones along an axis and the last one."""
        return list(range(size)) if size <= most else [*range(most - 1), size - 1]

    def test_a_torus(self):
        """Routers stand along the first axis in a row and along the second in a column, and neighbours are joined; of a long axis
        the last router stands behind dots."""
        for x, y in ((3, 5), (5, 3), (2, 4), (4, 2), (7, 3), (3, 7), (6, 5), (8, 9)):
            machine = ("fabric-torus-all-reduce", "--set", f"cluster.nodes={x * y}", "--set", f"cluster.fabric={{kind: torus, dimensions: 2, x: {x}, y: {y}}}", "--only", "fabric")
            with self.subTest(machine):
                page = self.good("topo", *machine)
                lines = page.partition("\n\n  the last")[0].splitlines()
                rows = [[int(number) for number in re.findall(r"\|\s*router(\d+)\s*\|", line)] for line in page.splitlines() if re.search(r"\| *router\d", line)]
                self.assertEqual(rows, [[row * x + column for column in self.shown(x, MOST_BOXES)] for row in self.shown(y, MOST_BOXES)])
                self.assertEqual(sum(line.strip() == "..." for line in lines), int(y > MOST_BOXES))
                for line in lines:
                    if re.search(r"\| *router\d", line):
                        self.assertEqual(line.count("|--|"), len(rows[0]) - 1 - (x > MOST_BOXES), line)
                        self.assertEqual("..." in line, x > MOST_BOXES, line)
                picture = Picture(self.good("topo", *machine, "--format", "svg"))
                boxes = {int(name.removeprefix("router")): box for name, box in picture.boxes.items() if name.startswith("router")}
                columns, rows = self.shown(x, MOST_GRID), self.shown(y, MOST_GRID)
                self.assertEqual(list(boxes), [row * x + column for row in rows for column in columns])
                self.assertEqual(len({box.x for box in boxes.values()}), len(columns))
                self.assertEqual(len({box.y for box in boxes.values()}), len(rows))
                at = lambda row, column: boxes[rows[row] * x + columns[column]]
                self.assertTrue(all(at(0, i).x < at(0, i + 1).x for i in range(len(columns) - 1)) and all(at(i, 0).y < at(i + 1, 0).y for i in range(len(rows) - 1)))
                wanted = {((row, column), (row, column + 1)) for row in range(len(rows)) for column in range(len(columns) - 1)}
                wanted |= {((row, column), (row + 1, column)) for row in range(len(rows) - 1) for column in range(len(columns))}
                place = {(round(at(row, column).x), round(at(row, column).y)): (row, column) for row in range(len(rows)) for column in range(len(columns))}
                joined = [tuple(place.get((round(point[0]), round(point[1]))) for point in line[:2]) for line in picture.lines]
                self.assertEqual(sorted(pair for pair in joined if None not in pair), sorted(wanted))

    def test_figures_below(self):
        for machine in FABRICS:
            told, page = self.json("topo", *machine)["fabric"], self.good("topo", *machine, "--only", "fabric")
            shown = dict(re.findall(r"(?m)^  (injection|bisection|halves|oversubscribed) +(.*)$", page))
            for name in ("injection", "bisection", "halves"):
                self.assertTrue(answer.quantity(shown[name]).is_near(told[name + "_GBps"] * 1e9), shown)
            self.assertTrue(answer.quantity(shown["oversubscribed"]).is_near(told["oversubscription"]), shown)
            self.assertAlmostEqual(told["oversubscription"], max(1, told["injection_GBps"] / told["bisection_GBps"]), 6)
            for row in told["rows"]:
                if row.get("ports_down"):
                    self.assertRegex(page, rf"(?m)^  {row['members']} \S+, {row['ports_down']} port")


MADE = """name: made
nodes:
  - name: made
    accelerator: a100-sxm4-80gb
    nic: ib-hdr
    p2p: pxb
    gdr: pxb
    fabric: rail
    parts:
      - {name: gpu, kind: accelerator, count: 4}
      - {name: pcie_switch, kind: switch, count: 2}
      - {name: cpu, kind: host, count: 1}
      - {name: nic, kind: nic, count: 4}
      - {name: drive, kind: storage, count: DRIVES}
      - {name: memory, kind: memory, count: 1}
    wires:
      - {from: gpu, to: pcie_switch, link: pcie4-x16}
      - {from: nic, to: pcie_switch, link: pcie4-x16}
      - {from: drive, to: pcie_switch, link: nvme-gen4-x4}
      - {from: pcie_switch, to: cpu, link: pcie4-x16}
      - {from: memory, to: cpu, link: ddr4-8ch-3200}
    source: made for a test
    date: "2026-11-30"
cluster: {nodes: 1, node: made}
job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024}
"""

# Four boxes at most stand in a row, then dots and the last one; bars hang on the middles of boxes.
PAGES = (
    (("fabric-torus-all-reduce", "--set", "cluster.nodes=15", "--set", "cluster.fabric={kind: torus, dimensions: 2, x: 3, y: 5}"), """fabric torus of 15 nodes, 6 NICs each

  15 routers, 6 ports down (600 GB/s)
  3 x 5, each joined to its neighbours: 6 x ici-v5p, 600 GB/s
  +---------+  +---------+  +---------+
  | router0 |--| router1 |--| router2 |
  +---------+  +---------+  +---------+
       |            |            |
  +---------+  +---------+  +---------+
  | router3 |--| router4 |--| router5 |
  +---------+  +---------+  +---------+
       |            |            |
  +---------+  +---------+  +---------+
  | router6 |--| router7 |--| router8 |
  +---------+  +---------+  +---------+
       |            |            |
      ...
  +---------+  +---------+  +---------+
  |router12 |--|router13 |--|router14 |
  +---------+  +---------+  +---------+
  the last of every axis is joined to the first
       |            |            |
       +------------+------------+-----------------+
       |  each node to one router: 6 links of ici-v5p, 100 GB/s each
       |            |            |                 |
  15 nodes
  +---------+  +---------+  +---------+       +---------+
  |  node0  |  |  node1  |  |  node2  |  ...  | node14  |
  +---------+  +---------+  +---------+       +---------+

  injection       4200 GB/s, all NICs of half the nodes, one direction
  bisection       4200 GB/s, blocks of 8 nodes
  halves          4200 GB/s, first half to second
  oversubscribed  1 : 1
"""),
    (("fabric-dragonfly-plus",), """fabric dragonfly_plus of 80 nodes, 1 NIC each

  20 spines, 4 ports down (200 GB/s)
  each joined to 4 others by 4 links of ib-ndr, 50 GB/s
  +---------+  +---------+  +---------+       +---------+
  | spine0  |--| spine1  |--| spine2  |- ... -| spine19 |
  +---------+  +---------+  +---------+       +---------+
       |            |            |                 |
       +------------+------------+-----------------+
       |  each leaf to 4 of 20 spines: ib-ndr, 50 GB/s each
       |            |            |                 |
  20 leaves, 4 ports down (200 GB/s), 4 up (200 GB/s), 1 : 1
  +---------+  +---------+  +---------+       +---------+
  |  leaf0  |  |  leaf1  |  |  leaf2  |  ...  | leaf19  |
  +---------+  +---------+  +---------+       +---------+
       |            |            |                 |
       |  each node to one leaf: ib-ndr, 50 GB/s
       |            |            |                 |
  80 nodes
  +---------+  +---------+  +---------+       +---------+
  |  node0  |  |  node1  |  |  node2  |  ...  | node79  |
  +---------+  +---------+  +---------+       +---------+

  injection       2000 GB/s, all NICs of half the nodes, one direction
  bisection       1600 GB/s, blocks of 40 nodes
  halves          1600 GB/s, first half to second
  oversubscribed  1.25 : 1
"""),
    (("fabric-dual-tor",), """fabric leaf_spine of 3 nodes, 8 NICs of 2 ports each

  16 spines, 4 ports down (100 GB/s)
  +---------+  +---------+  +---------+       +---------+
  | spine0  |  | spine1  |  | spine2  |  ...  | spine15 |
  +---------+  +---------+  +---------+       +---------+
       |            |            |                 |
       +------------+------------+-----------------+
       |  each leaf to all 16 spines: roce-200, 25 GB/s each
       |            |            |            |
  4 leaves, 8 to 16 ports down (up to 400 GB/s), 16 up (400 GB/s), 1 : 1 at worst
  +---------+  +---------+  +---------+  +---------+
  |  leaf0  |  |  leaf1  |  |  leaf2  |  |  leaf3  |
  +---------+  +---------+  +---------+  +---------+
       |            |            |            |
       +------------+------------+------------+
       |  each node to 2 of 4 leaves: 8 links of roce-200, 25 GB/s each
       |            |            |
  3 nodes
  +---------+  +---------+  +---------+
  |  node0  |  |  node1  |  |  node2  |
  +---------+  +---------+  +---------+

  injection       400 GB/s, all NICs of half the nodes, one direction
  bisection       400 GB/s, blocks of 2 nodes
  halves          400 GB/s, first half to second
  oversubscribed  1 : 1
"""),
    (("--node", "dgx-h100", "--nodes", "64"), """fabric rail of 64 nodes, 8 NICs each
rails: NIC k of a node connects to a switch of rail k

  1 spine, 512 ports down (25600 GB/s)
  the spines of all rails, drawn as one switch that never blocks
  +---------+
  |  spine  |
  +---------+
       |
       +------------+------------+-----------------+
       |  each leaf to the spine: 32 x ib-ndr, 1600 GB/s
       |            |            |                 |
  16 leaves, 32 ports down (1600 GB/s), 32 up (1600 GB/s), 1 : 1
  +---------+  +---------+  +---------+       +---------+
  |  leaf0  |  |  leaf1  |  |  leaf2  |  ...  | leaf15  |
  +---------+  +---------+  +---------+       +---------+
       |            |            |                 |
       +------------+------------+-----------------+
       |  each node to 8 of 16 leaves: ib-ndr, 50 GB/s each
       |            |            |                 |
  64 nodes
  +---------+  +---------+  +---------+       +---------+
  |  node0  |  |  node1  |  |  node2  |  ...  | node63  |
  +---------+  +---------+  +---------+       +---------+

  injection       12800 GB/s, all NICs of half the nodes, one direction
  bisection       12800 GB/s, blocks of 32 nodes
  halves          12800 GB/s, first half to second
  oversubscribed  1 : 1
"""),
)


class Exact(Drawn):
    """Small machines, of which each place is known."""

    def test_pages_of_fabrics(self):
        for machine, page in PAGES:
            with self.subTest(machine):
                self.assertEqual("fabric " + self.good("topo", *machine, "--only", "fabric").partition("\nfabric ")[2].partition("\n\n  note")[0].rstrip() + "\n", page)

    def test_a_small_node(self):
        """Four columns of 96 pixels hold boxes of 86 x 30; levels are 74 apart and rows 42. Under a switch there are its drives,
        its adapters and, last, its GPUs, and memory stands 14 pixels beside its socket."""
        for drives in (2, 3, 4, 6):
            with self.subTest(drives):
                picture = Picture(self.good("topo", self.write("made.yaml", MADE.replace("DRIVES", str(drives))), "--only", "node", "--format", "svg"))
                of_switch = [[i for i in range(drives) if i * 2 // drives == switch] for switch in range(2)]
                n_rows = max((len(held) + 1) // 2 for held in of_switch)
                places = {"cpu": (222, 77), "memory": (322, 77), "pcie_switch0": (126, 151), "pcie_switch1": (318, 151)}
                lines = {((222, 77), places[name]) for name in places if name != "cpu"}
                for switch, held in enumerate(of_switch):
                    left, first = 78 + 192 * switch, 225 + 42 * (n_rows - (len(held) + 1) // 2)
                    for k, drive in enumerate(held):
                        places[f"drive{drive}"] = (left + k % 2 * 96, first + k // 2 * 42)
                    for k in range(2):
                        places[f"nic{2 * switch + k}"] = (left + k * 96, 225 + 42 * n_rows)
                        places[f"gpu{2 * switch + k}"] = (left + k * 96, 225 + 42 * (n_rows + 1))
                    lines |= self.below(places, places[f"pcie_switch{switch}"], first,
                                        [f"{kind}{2 * switch + k}" for kind in ("nic", "gpu") for k in range(2)] + [f"drive{drive}" for drive in held])
                self.assertEqual({name: (box.x, box.y) for name, box in picture.boxes.items()}, places)
                self.assertEqual({(box.right - box.left, box.bottom - box.top) for box in picture.boxes.values()}, {(86, 30)})
                self.assertEqual({(tuple(start), tuple(end)) for start, end, *_ in picture.lines}, lines)
                self.assertEqual({width for _, _, _, width, _ in picture.lines}, {1.5})
                self.assertEqual((picture.width, picture.height), (2 * 30 + 4 * 96, 225 + 42 * (n_rows + 1) + 46 + 60 + 45))

    def test_names_in_boxes(self):
        """A name stands in one line where its letters, 6 pixels each, have the room of the box and 2 more, else in two lines, divided
        at the underscore; letters are small where 7 pixels for each are more than the box has."""
        for length in range(9, 18):
            for mark in ("_", "-"):
                part = f"sw{mark}{'x' * (length - 4)}"
                text = self.good("topo", self.write("made.yaml", MADE.replace("DRIVES", "2").replace("pcie_switch", part)), "--only", "node", "--format", "svg")
                box = next(box for name, box in Picture(text).boxes.items() if name == f"{part}0")
                lines = [f"{part}0"] if mark == "-" or 6 * length <= 2 * box.half + 2 else ["sw", f"{'x' * (length - 4)}0"]
                texts = {one.text: one for one in ElementTree.fromstring(text).iter(SVG + "text")}
                self.assertEqual(len(lines), 2 if mark == "_" and length > 14 else 1)
                for i, line in enumerate(lines):
                    self.assertEqual(texts[line].get("font-size"), "11" if 7 * len(line) > 2 * box.half else None, line)
                    self.assertAlmostEqual(float(texts[line].get("y")) - box.y, 4 if len(lines) == 1 else (-2, 10)[i], delta=0.2, msg=line)

    def below(self, places, switch, first, names):
        """A line goes straight down where nothing stands in its way, else beside the boxes of its column: on one side of
        the middle between two columns, with lines to drives on the other side of it."""
        lines = set()
        for name in names:
            x, y = places[name]
            if not any(places[other][0] == x and places[other][1] < y for other in names):
                lines.add((switch, (x, y)))
                continue
            middle = switch[0] + (1.5 if name.startswith("drive") else -1.5)
            lines |= {(switch, (middle, first - 21)), ((middle, first - 21), (middle, y)), ((middle, y), (x, y))}
        return lines


if __name__ == "__main__":
    support.main()
