#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays one iteration of every shipped scenario at the levels that simulate messages and packets: `./dev bench levels`.

Times are those of processors, all threads together, of the whole command from its start to its end, without band and
what-ifs. A level that takes longer than --limit on the clock of the wall is ended, or three times as long where the
machine is large. With --write the table replaces that
of the page below its heading.
"""
import argparse
import csv
import datetime
import io
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading

LEVELS = ("step", "packet", "sampled")
LARGE_RANKS = 4096
LARGE_FACTOR = 3
GOALS_S = {"step": (2, 10), "packet": (10, 60)}  # of smaller machines, and from LARGE_RANKS on
HEADING = "## Results\n"


def play(program, path, level, limit_s):
    """The seconds of a processor, MiB, and the step in seconds, None where it was ended; raises where it failed."""
    command = [program, "run", path, "--fidelity", level, "--iterations", "1", "--format", "csv", "--no-db", "--no-band",
               "--no-bottleneck", "--allow-oversized"]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL, env={**os.environ, "FABRICAST_PROGRESS": "never"})
        timer = threading.Timer(limit_s, process.send_signal, (signal.SIGKILL,))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        timer.cancel()
        if process.returncode == -signal.SIGKILL:
            return None
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} exited with {process.returncode}")
        output.seek(0)
        rows = list(csv.DictReader(io.TextIOWrapper(output, encoding="utf-8")))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, float(rows[-1]["step_s"])


def ranks_of(program, path):
    """None where the file is no scenario that can be played."""
    told = subprocess.run([program, "run", path, "--fidelity", "fluid", "--iterations", "1", "--format", "json", "--no-db", "--no-band",
                           "--no-bottleneck", "--allow-oversized"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return json.loads(told.stdout)["ranks"] if told.returncode == 0 else None


def shown(figure, goal_s, limit_s):
    if figure is None:
        return f"**over {limit_s:g} s**"
    text = f"{figure[0]:.2f} s" if figure[0] < 10 else f"{figure[0]:.0f} s"
    return f"**{text}**" if goal_s is not None and figure[0] > goal_s else text


def away(figure, reference):
    if figure is None or reference is None or reference[2] <= 0:
        return "-"
    change = round((figure[2] / reference[2] - 1) * 100, 2)
    return f"{change:+.2f} %" if change else "0"


def machine():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")),
                 "unknown processor")
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def table(rows, limit):
    lines = ["| scenario | ranks | `step` | `packet` | memory of it | `sampled` | its step, against `packet` |", "|---|---|---|---|---|---|---|"]
    for name, ranks, figures in rows:
        goals = {level: GOALS_S[level][ranks >= LARGE_RANKS] if level in GOALS_S else None for level in LEVELS}
        limit_s = limit * (LARGE_FACTOR if ranks >= LARGE_RANKS else 1)
        cells = {level: shown(figures[level], goals[level], limit_s) for level in LEVELS}
        memory = f"{figures['packet'][1]:.0f} MiB" if figures["packet"] else "-"
        lines.append(f"| `{name}` | {ranks} | {cells['step']} | {cells['packet']} | {memory} | {cells['sampled']} | "
                     f"{away(figures['sampled'], figures['packet'])} |")
    return lines


def summary(rows, limit_s):
    lines = []
    for level, (small_s, large_s) in GOALS_S.items():
        late = [name for name, ranks, figures in rows
                if figures[level] is None or figures[level][0] > (large_s if ranks >= LARGE_RANKS else small_s)]
        lines.append(f"At `{level}` {len(rows) - len(late)} of {len(rows)} keep the limit of {small_s} s, or {large_s} s from {LARGE_RANKS} "
                     f"ranks on{'; not so: ' + ', '.join(f'`{name}`' for name in late) if late else ''}.")
    slowest = max(rows, key=lambda row: row[2]["sampled"][0] if row[2]["sampled"] else limit_s)
    lines.append(f"`sampled` takes longest for `{slowest[0]}`: {shown(slowest[2]['sampled'], None, limit_s)}.")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--limit", type=float, default=20, help=f"seconds after which a level is ended; three times as many from {LARGE_RANKS} "
                        "ranks on")
    parser.add_argument("--write", metavar="PAGE")
    parser.add_argument("scenarios", nargs="+")
    options = parser.parse_args()
    rows = []
    begun_load = os.getloadavg()[0]
    for path in sorted(options.scenarios):
        ranks = ranks_of(options.program, path)
        if ranks is None:
            continue
        name = os.path.splitext(os.path.basename(path))[0]
        limit_s = options.limit * (LARGE_FACTOR if ranks >= LARGE_RANKS else 1)
        rows.append((name, ranks, {level: play(options.program, path, level, limit_s) for level in LEVELS}))
        print("\n".join(table(rows[-1:], options.limit)[2:]), flush=True)
    text = [f"This was measured on {datetime.date.today()}, on {machine()}. The load was {begun_load:.1f} before.", "", *summary(rows, options.limit), "", *table(rows, options.limit)]
    print("\n".join(summary(rows, options.limit)))
    if options.write:
        with open(options.write, encoding="utf-8") as page:
            head, found, _ = page.read().partition("\n" + HEADING)
        if not found:
            sys.exit(f"{options.write}: no heading {HEADING.strip()}")
        with open(options.write, "w", encoding="utf-8") as page:
            page.write(head + found + "\n" + "\n".join(text) + "\n")


if __name__ == "__main__":
    main()
