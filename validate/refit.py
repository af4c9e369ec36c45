#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""refit.py: fits the measured constants of the catalogue to the calibration tables, and to no judged one.

    validate/refit.py build/fabricast
        What a fit changes, constant by constant.
    validate/refit.py build/fabricast --only hopper,blackwell
        These entries alone.
    validate/refit.py build/fabricast --without "NVLink 5, NVL72" --only blackwell --start hopper --name NAME
        An entry of validate/left-out.yaml: as if no table of this family had been measured.

A constant is a number of an entry whose `source` names a calibration table. It is changed by a factor from 1/2 to 2,
one constant after another, as long as that makes the error smaller. The error is the mean over tables and size classes
of the mean |ln (predicted / measured)|, each at most 0.7, so that one table that nothing explains does not bend the
others. It needs python3-yaml.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
CATALOG = os.path.join(HERE, "..", "models", "catalog")
MOST = 0.7  # |ln| of an error that counts no further
NUMBER = re.compile(r"^([0-9.]+)\s*([A-Za-z/%]*)$")
SECTIONS = ("generations", "links")
CLASSES = (256 << 10, 64 << 20)  # as fabricast validate has them


def load_catalog():
    entries = {}
    for name in sorted(os.listdir(CATALOG)):
        with open(os.path.join(CATALOG, name), encoding="utf-8") as file:
            content = yaml.safe_load(file)
        for section in SECTIONS:
            for entry in content.get(section) or []:
                entries[section, entry["name"]] = entry
    return entries


def load_tables():
    with open(os.path.join(HERE, "measured", "INDEX.yaml"), encoding="utf-8") as file:
        specs = yaml.safe_load(file)["tables"]
    return {spec["file"].removesuffix(".csv"): spec for spec in specs}


def sources_of(group, key):
    """The text beside a number that says where it comes from."""
    return str(group.get(key + "_source") or group.get("source") or "")


def find_constants(entries, tables, only):
    """(section, entry, path) of every number that is fitted to measured tables."""
    found = []

    def walk(where, group, path, inherited):
        text = str(group.get("source") or inherited)
        for key, value in group.items():
            if isinstance(value, dict):
                walk(where, value, path + (key,), text)
            elif NUMBER.match(str(value)) and any(name in (sources_of(group, key) or text) for name in tables):
                found.append((*where, path + (key,)))

    for where, entry in entries.items():
        if where[0] == "generations" and (not only or where[1] in only):
            walk(where, entry, (), "")
    return found


def find_numbers(where, entry):
    """All numbers of an entry's groups, whatever their source says."""
    return [(*where, (group, key)) for group, values in entry.items() if isinstance(values, dict)
            for key, value in values.items() if NUMBER.match(str(value))]


def begin_at(entry, start, name, family):
    """The entry with the groups of another one, which knows nothing of the family that is left out."""
    groups = {key: {**value, "source": f"fitted without the tables of {family}"} for key, value in start.items()
              if isinstance(value, dict)}
    kept = {key: value for key, value in entry.items() if not isinstance(value, dict)}
    return {**kept, "issue": start["issue"], **groups, "name": name}


def get(entry, path):
    for key in path:
        entry = entry[key]
    return NUMBER.match(str(entry)).groups()


def changed(entry, path, value, unit):
    copy = json.loads(json.dumps(entry))
    group = copy
    for key in path[:-1]:
        group = group[key]
    group[path[-1]] = f"{value:.4g}{unit}" if unit else float(f"{value:.4g}")
    return copy


class Instrument:
    """Runs `fabricast validate` with entries laid over the catalogue."""

    def __init__(self, program):
        self.program, self.runs = program, 0

    def errors(self, entries, names):
        """table -> mean over size classes of the mean |ln (predicted / measured)|"""
        self.runs += 1
        overlay = {}
        for (section, _), entry in entries.items():
            overlay.setdefault(section, []).append(entry)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            yaml.safe_dump(overlay, file, sort_keys=False)
            file.flush()
            laid_over = ["--with", file.name] if overlay else []
            done = subprocess.run([self.program, "validate", "--format", "json", *laid_over, *names],
                                  capture_output=True, text=True, check=False)
        if not done.stdout:
            sys.exit(done.stderr)
        return {table["table"]: self.mean(table["rows"]) for table in json.loads(done.stdout)["tables"]}

    @staticmethod
    def mean(rows):
        classes = {}
        for row in rows:
            error = min(abs(math.log(row["predicted_us"] / row["measured_us"])), MOST)
            classes.setdefault(sum(row["size_bytes"] >= edge for edge in CLASSES), []).append(error)
        return sum(sum(errors) / len(errors) for errors in classes.values()) / max(len(classes), 1)


def fit_one(instrument, changes, entries, constant, names):
    """Golden-section search over the logarithm of one constant; True where it got better."""
    where, path = constant[:2], constant[2]
    text, unit = get(changes.get(where, entries[where]), path)
    start = float(text)
    if start == 0:
        return False

    def error(log_factor):
        entry = changed(changes.get(where, entries[where]), path, start * math.exp(log_factor), unit)
        found = instrument.errors({**changes, where: entry}, names)
        return sum(found.values()) / len(found)

    low, high, share = -math.log(2), math.log(2), (math.sqrt(5) - 1) / 2
    at = {x: error(x) for x in (high - share * (high - low), low + share * (high - low))}
    best_x, best = 0, error(0)
    while high - low > 0.03:
        left, right = high - share * (high - low), low + share * (high - low)
        for x in (left, right):
            if x not in at:
                at[x] = error(x)
        low, high = (low, right) if at[left] <= at[right] else (left, high)
    x = min(at, key=at.get)
    if at[x] < best - 0.0005:
        best_x, best = x, at[x]
        changes[where] = changed(changes.get(where, entries[where]), path, start * math.exp(best_x), unit)
    return best_x != 0


def check_names(parser, options, tables):
    """Ends the program where a family or an entry has no such name."""
    families = {spec["interconnect"] for spec in tables.values()}
    names = {name for section, name in load_catalog() if section == "generations"}
    if options.without and options.without not in families:
        parser.error(f"--without: no table is of '{options.without}'; families are {', '.join(sorted(families))}")
    for name in filter(None, options.only.split(",") + [options.start]):
        if name not in names:
            parser.error(f"no entry of `generations` is called '{name}'; there are {', '.join(sorted(names))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--without", default="", help="a family, which is an interconnect of INDEX.yaml")
    parser.add_argument("--only", default="", help="entries to fit, with commas")
    parser.add_argument("--start", default="", help="an entry whose numbers the fit begins with")
    parser.add_argument("--name", default="", help="what to call the entry then")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    tables = load_tables()
    check_names(parser, options, tables)
    used = [name for name, spec in tables.items() if spec["role"] == "calibration" and not spec.get("doubtful")
            and spec["interconnect"] != options.without]
    entries, changes = load_catalog(), {}
    instrument = Instrument(options.program)
    base = instrument.errors({}, used)
    constants = find_constants(entries, tables, set(filter(None, options.only.split(","))))
    if options.start:
        where = ("generations", options.only)
        changes[where] = begin_at(entries[where], entries["generations", options.start], options.only, options.without)
        constants = find_numbers(where, changes[where])
    for round_ in range(options.rounds):
        moved = False
        for constant in constants:
            where, path = constant[:2], constant[2]
            value, unit = get(changes.get(where, entries[where]), path)
            shaken = changed(changes.get(where, entries[where]), path, 1.3 * float(value), unit)
            now = instrument.errors(changes, used)
            names = [name for name, error in instrument.errors({**changes, where: shaken}, used).items()
                     if abs(error - now[name]) > 1e-9]
            if not names:
                print(f"{where[1]:12} {'.'.join(path):28} no calibration table depends on it", flush=True)
                continue
            if fit_one(instrument, changes, entries, constant, names):
                moved = True
                after = get(changes[where], path)
                print(f"{where[1]:12} {'.'.join(path):28} {value}{unit} -> {after[0]}{after[1]}"
                      f"  ({len(names)} tables)", flush=True)
        if not moved:
            break
    after = instrument.errors(changes, used)
    print(f"mean error of {len(used)} calibration tables {sum(base.values()) / len(base):.4f} -> "
          f"{sum(after.values()) / len(after):.4f}, {instrument.runs} runs")
    fitted = [{**entry, "name": options.name or entry["name"]} for entry in changes.values()]
    yaml.safe_dump({"generations": fitted}, sys.stdout, sort_keys=False, width=110)


if __name__ == "__main__":
    main()
