# SPDX-License-Identifier: Apache-2.0
"""What the studies share: options, the table as text and CSV, and a figure where Matplotlib is installed."""
import argparse
import csv
import importlib.util
import pathlib


def shown(cell):
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def print_table(rows):
    names = list(rows[0])
    lines = [names, *([shown(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(names))]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths)))


def write_table(rows, path):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def write_figure(draw, rows, path):
    import matplotlib  # only here

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.5))
    draw(axes, rows)
    figure.tight_layout()
    figure.savefig(path)


def main(name, study, draw, about):
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller points, to see that it runs")
    parser.add_argument("--out", default=".", type=pathlib.Path, help="folder for the table (CSV) and the figure (PDF)")
    options = parser.parse_args()
    rows = study(options.quick)
    print_table(rows)
    options.out.mkdir(parents=True, exist_ok=True)
    write_table(rows, options.out / f"{name}.csv")
    if importlib.util.find_spec("matplotlib"):
        write_figure(draw, rows, options.out / f"{name}.pdf")
    else:
        print("There is no figure, because Matplotlib is not installed.")
