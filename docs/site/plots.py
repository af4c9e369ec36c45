# SPDX-License-Identifier: Apache-2.0
"""plots.py: predictions beside measurements as pictures in a page, and tables by kind of interconnect behind them.

A table of measurements is one link with all of its points, so that thousands of points stay a few ten kilobytes. Dots
are of tables that only judge, crosses of tables that may have set numbers of the models.
"""
import html
import math
import re

# What the names of interconnects in validate/measured/INDEX.yaml begin with. The last takes what is left.
KINDS = (("NVLink in a rack", r"NVLink 5, NVL72"), ("NVLink in a node", r"NVLink"), ("xGMI", r"xGMI"), ("PCIe", r"PCIe"),
         ("InfiniBand", r"InfiniBand"), ("RoCE", r"RoCE"), ("EFA, Slingshot, TCPX", r""))
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 720, 110, 40, 14, 66
SECOND_NAMES = {-6: "1 \u00b5s", -5: "10 \u00b5s", -4: "100 \u00b5s", -3: "1 ms", -2: "10 ms", -1: "100 ms", 0: "1 s", 1: "10 s",
                2: "100 s", 3: "1000 s"}
SIZE_NAMES = {0: "1 B", 10: "1 KiB", 20: "1 MiB", 30: "1 GiB"}


def kind_of(interconnect):
    return next(i for i, (_, begin) in enumerate(KINDS) if re.match(begin, interconnect))


class Axis:
    """A logarithmic axis: where a value stands, in whole units, and where its names stand."""

    def __init__(self, low, high, start, end, names, base):
        self.low, self.high, self.start, self.end, self.names, self.base = low, high, start, end, names, base

    def at(self, value):
        value = min(max(value, self.low), self.high)
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self.start + part * (self.end - self.start))

    def marks(self):
        return [(self.at(float(self.base) ** power), name) for power, name in self.names.items()
                if self.low <= float(self.base) ** power <= self.high]


def frame(across, down, height, across_name, down_name):
    """The lines and names of both axes."""
    parts = []
    for x, name in across.marks():
        parts.append(f'<path class="grid" d="M{x} {TOP}V{height - BOTTOM}"/><text x="{x}" y="{height - BOTTOM + 26}" '
                     f'text-anchor="middle">{name}</text>')
    for y, name in down.marks():
        parts.append(f'<path class="grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/><text x="{LEFT - 8}" y="{y + 5}" '
                     f'text-anchor="end">{name}</text>')
    middle = (LEFT + WIDTH - RIGHT) // 2
    parts.append(f'<text x="{middle}" y="{height - 8}" text-anchor="middle">{across_name}</text>')
    parts.append(f'<text class="down" transform="translate(16 {(TOP + height - BOTTOM) // 2}) rotate(-90)" text-anchor="middle">{down_name}'
                 "</text>")
    return "".join(parts)


def points_path(points, is_judged):
    """Dots are lines without a length and with round ends; crosses are two lines."""
    drawn, last = [], (0, 0)
    for x, y in sorted(set(points)):
        mark = "h0" if is_judged else "m-3 0h6m-3-3v6m0-3"
        drawn.append(f"m{x - last[0]} {y - last[1]}{mark}".replace(" -", "-"))
        last = (x, y)
    return "M0 0" + "".join(drawn)


def group(href, title, points, is_judged, kind):
    role = "judged" if is_judged else "calibrating"
    return (f'<a href="#{href}" class="k{kind} {role}"><title>{html.escape(title)}</title>'
            f'<path d="{points_path(points, is_judged)}"/></a>')


def drawing(height, label, inside):
    return (f'<svg viewBox="0 0 {WIDTH} {height}" role="group" aria-label="{html.escape(label)}">{inside}</svg>')


def key(kinds):
    """Which kinds are shown: boxes that a reader ticks off, where there is more than one kind."""
    boxes = "".join(f'<label class="k{i}"><input type="checkbox" checked value="k{i}"><span></span>{html.escape(name)}</label>'
                    for i, name in kinds)
    roles = ('<label><input type="checkbox" checked value="judged">\u25cf judges</label>'
             '<label><input type="checkbox" checked value="calibrating">+ may have set numbers</label>')
    return f'<fieldset class="key"><legend>Shown</legend>{boxes}{roles}</fieldset>'


def figure(kinds, drawings, caption):
    return f'<figure class="plot">{key(kinds)}{"".join(drawings)}<figcaption>{caption}</figcaption></figure>'


def anchor_of(name):
    return "table-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def collectives(tables):
    """The figure of collectives, from the tables of `fabricast validate --format json`."""
    height, low = WIDTH, 350
    across = Axis(4e-6, 2, LEFT, WIDTH - RIGHT, SECOND_NAMES, 10)
    down = Axis(4e-6, 2, height - BOTTOM, TOP, SECOND_NAMES, 10)
    sizes = Axis(4, 2**36, LEFT, WIDTH - RIGHT, SIZE_NAMES, 2)
    ratios = Axis(0.25, 4, low - BOTTOM, TOP, {-1: "half", 0: "equal", 1: "twice"}, 2)
    both, ratio = [], []
    for table in sorted(tables, key=lambda one: one["role"] != "calibration"):  # dots above crosses
        is_judged, kind = table["role"] == "judged", kind_of(table["interconnect"])
        title = (f"{table['table']}: {table['op']} over {table['ranks']} GPUs, {table['interconnect']}, "
                 + ("judges" if is_judged else "may have set numbers"))
        rows, href = table["rows"], anchor_of(table["table"])
        both.append(group(href, title, [(across.at(row["measured_us"] / 1e6), down.at(row["predicted_us"] / 1e6))
                                        for row in rows], is_judged, kind))
        ratio.append(group(href, title, [(sizes.at(row["size_bytes"]), ratios.at(row["predicted_us"] / row["measured_us"]))
                                         for row in rows], is_judged, kind))
    n = sum(len(table["rows"]) for table in tables)
    equal = f'<path class="equal" d="M{LEFT} {height - BOTTOM}L{WIDTH - RIGHT} {TOP}"/>'
    even = f'<path class="equal" d="M{LEFT} {ratios.at(1)}H{WIDTH - RIGHT}"/>'
    drawings = [drawing(height, f"{n} sizes of {len(tables)} tables: predicted time against measured time",
                        frame(across, down, height, "measured", "predicted") + equal + "".join(both)),
                drawing(low, "Predicted time over measured time, by message size",
                        frame(sizes, ratios, low, "message size", "predicted / measured") + even + "".join(ratio))]
    caption = (f"Each mark is one message size of a published table: {n} sizes of {len(tables)} tables. A dot on the line is a "
               "prediction without an error. A dot is of a table that only judges; a cross is of one that may have set numbers of "
               "the models. A mark leads to its table. Below, ratios beyond 1/4 and 4 stand at the edge.")
    return figure([(i, name) for i, (name, _) in enumerate(KINDS)], drawings, caption)


ROW = re.compile(r"^\| ([\w.-]+)( \(doubtful\))?: ")


def by_kind(section, tables):
    """The rows of one section of tables, folded by kind of interconnect; names lead to files with the source."""
    kinds = {table["table"]: kind_of(table["interconnect"]) for table in tables}
    lines = section.split("\n")
    head = next(i for i, line in enumerate(lines) if line.startswith("| table |"))
    rows = [line for line in lines[head + 2:] if ROW.match(line)]
    parts = lines[:head]
    for i, (name, _) in enumerate(KINDS):
        of_kind = [row for row in rows if kinds[ROW.match(row)[1]] == i]
        if not of_kind:
            continue
        named = [ROW.sub(lambda match: f'| <span id="{anchor_of(match[1])}"></span>[{match[1]}](../../validate/measured/'
                         f"{match[1]}.csv){match[2] or ''}: ", row) for row in of_kind]
        count = f"{len(of_kind)} table{'s' if len(of_kind) > 1 else ''}"
        parts += [f"<details><summary>{name}: {count}</summary>", "", *lines[head:head + 2], *named, "", "</details>", ""]
    return "\n".join(parts) + "\n"


def collectives_page(text, tables):
    """docs/reference/validation.md with its plot first and its long tables folded, and what is known of each table, which is a
    page of its own."""
    known = "\n"
    sections = re.split(r"(?m)^(?=## )", text)
    for i, section in enumerate(sections):
        title, _, rest = section.partition("\n")
        if title.startswith("## Tables: "):
            sections[i] = by_kind(section, tables)
        elif title == "## Interconnects":
            n = len(re.findall(r"(?m)^\| ", rest)) - 1
            sections[i] = f"{title}\n\n<details><summary>{n} lines</summary>\n{rest.rstrip()}\n\n</details>\n\n"
        elif title == "## What is known of each table":
            known, sections[i] = rest, f"{title}\n\n[A page of its own](measured-tables.md) has the source of each table.\n"
    page = "\n" + collectives(tables) + "\n\n" + fold_after(sections[0], 3) + "".join(sections[1:])
    return page, "# What is known of each measured table\n" + known


def fold_after(text, n):
    """The first table of a text with its first rows; the others wait to be opened."""
    lines = text.split("\n")
    head = next(i for i, line in enumerate(lines) if line.startswith("|---"))
    end = next(i for i in range(head, len(lines) + 1) if i == len(lines) or not lines[i].startswith("|"))
    rest = lines[head + 1 + n:end]
    folded = ["", f"<details><summary>{len(rest)} lines by machine and algorithm</summary>", "", *lines[head - 1:head + 1], *rest, "",
              "</details>", ""]
    return "\n".join(lines[:head + 1 + n] + folded + lines[end:])


# A row of a source: its name, GPUs, what, measured s, predicted s, error, exposed, efficiency, blind, remark.
STEP = re.compile(r"^\| [^|]* \| \d+ \| [^|]* \| ([\d.]+) \| ([\d.]+) \| [^|]* \| [^|]* \| [^|]* \| [^|]* \| *([^|]*?) *\|$", re.M)


def steps_page(text):
    """docs/reference/validation-training.md with its plot first; rows of sources are folded."""
    front, begin, sources = text.partition("\n## Sources\n")
    parts = re.split(r"(?m)^### ", sources)
    height = WIDTH
    across = Axis(1e-2, 1e3, LEFT, WIDTH - RIGHT, SECOND_NAMES, 10)
    down = Axis(1e-2, 1e3, height - BOTTOM, TOP, SECOND_NAMES, 10)
    groups, n = {True: [], False: []}, 0
    for part in parts[1:]:
        name = part.split("\n", 1)[0].strip()
        for is_judged in (False, True):
            points = [(across.at(float(measured)), down.at(float(predicted))) for measured, predicted, remark in STEP.findall(part)
                      if (not remark.endswith("anchor")) == is_judged]
            n += len(points)
            if points:
                title = f"{name}: {len(points)} steps" + ("" if is_judged else " that gave the efficiency of the others")
                groups[is_judged].append(group(name, title, points, is_judged, 1))
    equal = f'<path class="equal" d="M{LEFT} {height - BOTTOM}L{WIDTH - RIGHT} {TOP}"/>'
    caption = (f"Each mark is one measured step: {n} steps of {len(parts) - 1} sources. A cross is an anchor: its measured time "
               "gave the efficiency of compute with which the others are predicted, so that it stands on the line. A mark leads to "
               "its source.")
    plot = figure([], [drawing(height, f"{n} training steps: predicted time against measured time",
                               frame(across, down, height, "measured step", "predicted step") + equal
                               + "".join(groups[False] + groups[True]))], caption)
    return "\n" + plot + "\n" + front + begin + sources
