# SPDX-License-Identifier: Apache-2.0
"""report.py - what a campaign has done, as a table on the terminal and on docs/reference/fuzzing.md."""
import os
import re

COLUMNS = ("target", "hours", "executions", "edges", "kept inputs", "new findings")
READS = {
    "chakra": "graphs of Chakra as protobuf, as a trace and as a collective",
    "conversation": "whole conversations with the listening end of `measure tcp`",
    "frame": "frames of the control channel of `measure`",
    "http": "what a visitor sends to `explore`",
    "import": "prints of machines, networks, models and benchmarks",
    "job": "configurations of training programs",
    "job_log": "logs of schedulers",
    "json": "the reader of JSON, beside that of SQLite",
    "library": "a scenario through the public library, run where it is small",
    "nccl_tests": "output of nccl-tests",
    "nsys": "databases in place of a report of Nsight Systems",
    "results": "results files, read by each named query and opened to be added to",
    "samples": "files of measurements, read and opened to be added to",
    "schedule": "schedules of MSCCL, TE-CCL and GOAL",
    "sql": "statements for `query --sql`",
    "study": "JSON of a study that becomes a page",
    "trace": "traces of every format, packed ones too",
    "yaml": "scenarios, with an assignment",
}
ROW = re.compile(r"^\| `(\w+)` \|[^|]*\| ([\d.]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", re.M)
FOUND = "## What it has found\n"


def text(rows):
    cells = [COLUMNS] + [(row["target"], f"{row['seconds'] / 3600:.2f}", str(row["executions"]), str(row["edges"]), str(row["kept"]),
                          str(row["open"])) for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(COLUMNS))]
    return "\n".join("  ".join([line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])])
                     for line in cells)


def before(page):
    """Sums of the page: target to hours, executions, edges, kept inputs, findings that were mended."""
    return {match[0]: (float(match[1]), *map(int, match[2:])) for match in ROW.findall(page)}


def table(sums):
    yield "| target | what it reads | hours | executions | edges | kept inputs | findings |\n|---|---|---|---|---|---|---|\n"
    for target, (hours, executions, edges, kept, findings) in sorted(sums.items()):
        yield f"| `{target}` | {READS[target]} | {hours:.2f} | {executions} | {edges} | {kept} | {findings} |\n"


def added(page, rows):
    sums = before(page)
    for row in rows:
        hours, executions, edges, _, _ = sums.get(row["target"], (0, 0, 0, 0, 0))
        sums[row["target"]] = (hours + row["seconds"] / 3600, executions + row["executions"], row["edges"] or edges, row["kept"],
                               row["mended"])
    total = f"All campaigns have taken {sum(row[0] for row in sums.values()):.1f} h for {sum(row[1] for row in sums.values())} executions.\n"
    head, rest = page.split("\n| target |", 1)
    head = re.sub(r"^All campaigns have taken [^\n]*\n", total, head + "\n", flags=re.M)
    return head + "".join(table(sums)) + "\n" + rest[rest.index(FOUND):]


def write(path, rows):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(added(page, rows))
    os.replace(path + ".new", path)
