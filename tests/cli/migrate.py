#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results files of older schemas: they are asked like any other and stay as they are, and a run that is added brings
them to the present schema without a lost row. The files are made of tests/fixtures/results/schema-N.sql, which has the
tables and views as they were."""
import glob
import os
import sqlite3

from support import HELLO, SOURCE, CliTest, main, read

# Columns that have another name now.
FORMER = {"iteration.duration_ps": "step_ps", "iteration_class.duration_ps": "step_ps", "sweep_point.binding": "binding_link",
          "sweep_point.binding_spec": "binding_link_spec"}
FIXTURES = sorted(glob.glob(os.path.join(SOURCE, "tests", "fixtures", "results", "schema-*.sql")))


def asked(path, sql):
    database = sqlite3.connect(path)
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


def columns(path, table):
    return [row[1] for row in asked(path, f"PRAGMA table_info ({table})")]


def tables(path):
    return [name for name, in asked(path, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]


class Migrate(CliTest):
    def setUp(self):
        super().setUp()
        self.good("run", HELLO, "--db", "new.db")
        self.new = self.path("new.db")

    def make(self, fixture):
        path = self.path("old.db")
        database = sqlite3.connect(path)
        database.executescript(read(fixture))
        database.execute("CREATE VIEW mine AS SELECT name FROM run")  # somebody's own
        database.close()
        return path

    def old(self, number):
        return self.make(os.path.join(SOURCE, "tests", "fixtures", "results", f"schema-{number}.sql"))

    def test_a_question_leaves_it_as_it_is(self):
        path = self.old(1)
        with open(path, "rb") as file:
            before = file.read()
        self.assertEqual([row["mean_step_s"] for row in self.json("query", "runs", "--db", path)], [95e-6])
        rows = self.json("query", "--sql", "SELECT iteration, step_s, waiting_s FROM v_step", "--db", path)
        self.assertEqual([tuple(row.values()) for row in rows], [(0, 100e-6, 0), (1, 90e-6, 0)])
        self.assertEqual([row["dimension"] for row in self.json("query", "collectives", "--db", path)], ["other"])
        for question in ("verdict", "band", "memory", "queues", "sweeps"):
            self.assertEqual(self.json("query", question, "--db", path), [], question)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(os.listdir(self.directory).count("old.db-wal"), 0)

    def test_a_read_only_file_is_asked(self):
        path = self.old(1)
        os.chmod(path, 0o444)
        self.assertEqual(len(self.json("query", "links", "--db", path)), 1)

    def test_a_run_migrates_it(self):
        """Every table has the columns of a new file, in their order, and every row and value that was there."""
        for fixture in FIXTURES:
            with self.subTest(os.path.basename(fixture)):
                path = self.make(fixture)
                before = {name: (columns(path, name), asked(path, f"SELECT * FROM {name}")) for name in tables(path)}
                self.good("run", HELLO, "--db", path)
                self.assertEqual(asked(path, "PRAGMA user_version"), asked(self.new, "PRAGMA user_version"))
                self.assertEqual(asked(path, "PRAGMA foreign_key_check"), [])
                self.assertEqual(asked(path, "PRAGMA integrity_check"), [("ok",)])
                for kind in ("table", "view"):
                    schema = f"SELECT name, sql FROM sqlite_schema WHERE type = '{kind}' AND name <> 'mine' ORDER BY name"
                    self.assertEqual(asked(path, schema), asked(self.new, schema))
                for name, (names, rows) in before.items():
                    now = ", ".join(FORMER.get(f"{name}.{column}", column) for column in names)
                    self.assertLessEqual(set(rows), set(asked(path, f"SELECT {now} FROM {name}")), name)
                self.assertIn(("hello",), asked(path, "SELECT name FROM mine"))
                self.assertEqual(len(self.json("query", "runs", "--db", path)), asked(path, "SELECT count (*) FROM run")[0][0])
                os.remove(path)

    def test_a_sweep_of_an_older_file(self):
        path = self.old(4)
        points = self.json("query", "sweep", "--db", path)
        self.assertEqual([(row["point"], row["settings"], row["step_s"]) for row in points[:1]], [(0, "cluster.nodes=2", 0.5)])
        self.assertEqual([row["problem"] for row in self.json("query", "sweep-problems", "--db", path)], ["too large"])

    def test_a_damaged_old_file_is_refused(self):
        """Nothing of it is changed when a table cannot be copied."""
        path = self.old(1)
        database = sqlite3.connect(path)
        database.executescript("DROP VIEW mine; DROP TABLE span; CREATE TABLE span (run_id TEXT); INSERT INTO span VALUES ('x')")
        database.close()
        names = tables(path)
        self.refused("run", HELLO, "--db", path, names="cannot bring it to the schema of this version")
        self.assertEqual((tables(path), asked(path, "PRAGMA user_version")), (names, [(1,)]))


if __name__ == "__main__":
    main()
