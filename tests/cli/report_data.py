# SPDX-License-Identifier: Apache-2.0
"""report_data.py: what the tests of reports are shown: names that would like to be code, and a small sweep."""
import sqlite3

ATTACK = "</script><script>document.title='pwned';window.pwned=1</script><img src=x onerror='window.pwned=1'>\"'\u2028<!--"


def add_sweep(path):
    """Two axes of 3 and 4 values, one point of which cannot be played."""
    axes = [(ATTACK, ["1", "2", ATTACK]), ("cluster.nic_rate", ["100Gb/s", "200Gb/s", "400Gb/s", "800Gb/s"])]
    db = sqlite3.connect(path)
    db.execute("INSERT INTO sweep VALUES (1, ?, ?, 'name: x', '0', 'print', 12)", (ATTACK, ATTACK))
    for axis, (key, values) in enumerate(axes):
        db.execute("INSERT INTO sweep_axis VALUES (1, ?, ?)", (axis, key))
        db.executemany("INSERT INTO sweep_value VALUES (1, ?, ?, ?)", [(axis, i, value) for i, value in enumerate(values)])
    for point in range(11):
        db.execute("INSERT INTO sweep_point (sweep_id, point, settings, step_s, compute_s, comm_s, overlapped_s, exposed_s, idle_s,"
                   " mfu_fraction, tokens_per_s, binding_link, binding_link_spec, binding_fraction) VALUES (1, ?, ?, ?, 1, 1, 0.5, ?, 0, 0.4, 100, ?, ?, 1)",
                   (point, ATTACK, 1.5 + point, 0.5 / (point + 1), ATTACK, ATTACK))
    db.execute("INSERT INTO sweep_point (sweep_id, point, settings, problem) VALUES (1, 11, ?, ?)", (ATTACK, ATTACK))
    db.commit()
    db.close()
