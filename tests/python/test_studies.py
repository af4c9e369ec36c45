# SPDX-License-Identifier: Apache-2.0
"""The studies of examples/studies run at a reduced size, and their tables show what their pages say."""
import csv
import importlib.util
import os
import subprocess
import sys

import pytest

FOLDER = os.path.join(os.environ["FAB_SOURCE_DIR"], "examples/studies")


def table_of(name, out):
    told = subprocess.run([sys.executable, os.path.join(FOLDER, name + ".py"), "--quick", "--out", out], check=True, capture_output=True,
                          text=True, env={**os.environ, "MPLCONFIGDIR": str(out)}).stdout
    with open(out / f"{name}.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert told.splitlines()[0].split() == list(rows[0])
    assert (out / f"{name}.pdf").exists() == bool(importlib.util.find_spec("matplotlib"))
    return [{key: float(cell) if cell.replace(".", "").isdigit() else cell for key, cell in row.items()} for row in rows]


def test_oversubscription(tmp_path):
    """A narrower fabric exposes more, a larger batch less."""
    exposed = {(row["micro_batch"], row["oversubscription"]): row["exposed_pct"] for row in table_of("oversubscription", tmp_path)}
    assert exposed[1, 4] > 2 * exposed[1, 1] and exposed[1, 4] > exposed[2, 4]
    assert all(0 < share < 100 for share in exposed.values())


def test_interleaving(tmp_path):
    """Together and at once, both need their communication twice; half a period later each is as if alone."""
    rows = table_of("interleaving", tmp_path)
    step = {(row["placement"], row["offset_ms"], row["job"]): row["step_s"] for row in rows}
    alone = rows[0]["alone_s"]
    for job in ("interleave-two-jobs", "other"):
        assert step["across", 0, job] > 1.25 * alone
        assert step["across", 0, job] > step["across", 300, job] > step["across", 600, job] == pytest.approx(alone, rel=1e-3)
        assert step["apart", 0, job] < alone


def test_tail_fct(tmp_path):
    """Short flows wait behind long ones where senders do not see queues, and the more the higher the load."""
    tail = {(row["control"], row["load"], row["size"]): row["slowdown_p99"] for row in table_of("tail_fct", tmp_path)}
    for load in (0.3, 0.7):
        assert tail["hpcc", load, "up to 10 kB"] < 0.5 * tail["dcqcn", load, "up to 10 kB"]
    for control in ("dcqcn", "hpcc"):
        assert tail[control, 0.7, "above 1 MB"] > tail[control, 0.3, "above 1 MB"] >= 1
