/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - the tables and views of schema version 1. What they mean: docs/results-schema.md.
 *
 * Every table is STRICT and keyed by run first, so that one run is one contiguous range and a
 * question about it never reads another. Rows that come in great number are WITHOUT ROWID: their
 * key is their place. Columns carry their unit; nothing depends on the clock or the machine.
 * A change of anything here that a reader can notice is a new FAB_STORE_SCHEMA_VERSION.
 */
#include "sim/result/store_private.h"

static const char run_tables[] =
    "CREATE TABLE run (\n"
    "  run_id INTEGER PRIMARY KEY CHECK (run_id >= 1),\n"
    "  name TEXT NOT NULL,\n"
    "  scenario_yaml TEXT NOT NULL, -- resolved: running it again gives this run\n"
    "  version TEXT NOT NULL,       -- of the program\n"
    "  fidelity TEXT NOT NULL,\n"
    "  seed INTEGER NOT NULL,\n"
    "  n_ranks INTEGER NOT NULL,\n"
    "  n_nodes INTEGER NOT NULL,\n"
    "  peak_flops_per_s REAL NOT NULL -- of one accelerator; 0: the job computes nothing\n"
    ") STRICT;\n"
    "CREATE TABLE rank_class (\n"
    "  run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,\n"
    "  rank_class INTEGER NOT NULL,\n"
    "  first_rank INTEGER NOT NULL,\n"
    "  n_ranks INTEGER NOT NULL,    -- that do the same thing at the same time\n"
    "  PRIMARY KEY (run_id, rank_class)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE link (\n"
    "  run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,\n"
    "  link INTEGER NOT NULL,\n"
    "  from_vertex TEXT NOT NULL,\n"
    "  to_vertex TEXT NOT NULL,\n"
    "  spec TEXT NOT NULL,          -- catalogue entry\n"
    "  n_parallel INTEGER NOT NULL,\n"
    "  line_rate_bytes_per_s INTEGER NOT NULL, -- one direction, after coding\n"
    "  latency_ps INTEGER NOT NULL,\n"
    "  PRIMARY KEY (run_id, link)\n"
    ") STRICT, WITHOUT ROWID;\n";

#define TIME_COLUMNS                                                \
  "  start_ps INTEGER NOT NULL,\n"                                  \
  "  duration_ps INTEGER NOT NULL CHECK (duration_ps >= 0),\n"      \
  "  compute_ps INTEGER NOT NULL,\n"                                \
  "  comm_ps INTEGER NOT NULL,\n"                                   \
  "  overlapped_ps INTEGER NOT NULL, -- compute and comm at once\n" \
  "  exposed_ps INTEGER NOT NULL,    -- comm - overlapped\n"        \
  "  idle_ps INTEGER NOT NULL,       -- neither\n"

static const char time_tables[] =
    "CREATE TABLE iteration (\n"
    "  run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,\n"
    "  iteration INTEGER NOT NULL,     -- of the whole job, mean over ranks\n" TIME_COLUMNS
    "  mfu_fraction REAL NOT NULL,\n"
    "  hfu_fraction REAL NOT NULL,\n"
    "  tokens_per_s REAL NOT NULL,\n"
    "  PRIMARY KEY (run_id, iteration)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE iteration_class (\n"
    "  run_id INTEGER NOT NULL,\n"
    "  iteration INTEGER NOT NULL,\n"
    "  rank_class INTEGER NOT NULL,\n" TIME_COLUMNS "  PRIMARY KEY (run_id, iteration, rank_class),\n"
    "  FOREIGN KEY (run_id, iteration) REFERENCES iteration ON DELETE CASCADE,\n"
    "  FOREIGN KEY (run_id, rank_class) REFERENCES rank_class ON DELETE CASCADE\n"
    ") STRICT, WITHOUT ROWID;\n";

static const char collective_table[] =
    "CREATE TABLE collective (\n"
    "  run_id INTEGER NOT NULL,\n"
    "  iteration INTEGER NOT NULL,\n"
    "  collective INTEGER NOT NULL, -- from 0 in its iteration\n"
    "  name TEXT NOT NULL,\n"
    "  op TEXT NOT NULL,\n"
    "  algorithm TEXT,\n"
    "  protocol TEXT,\n"
    "  n_channels INTEGER NOT NULL,\n"
    "  n_ranks INTEGER NOT NULL,\n"
    "  bytes INTEGER NOT NULL,      -- as nccl-tests counts them\n"
    "  ready_ps INTEGER NOT NULL,   -- first rank arrived\n"
    "  start_ps INTEGER NOT NULL CHECK (start_ps >= ready_ps), -- last rank arrived\n"
    "  end_ps INTEGER NOT NULL CHECK (end_ps >= start_ps),\n"
    "  exposed_ps INTEGER NOT NULL,\n"
    "  algbw_bytes_per_s REAL NOT NULL,\n"
    "  busbw_bytes_per_s REAL NOT NULL,\n"
    "  binding_link INTEGER,        -- set its rate; NULL: no link did\n"
    "  PRIMARY KEY (run_id, iteration, collective),\n"
    "  FOREIGN KEY (run_id, iteration) REFERENCES iteration ON DELETE CASCADE,\n"
    "  FOREIGN KEY (run_id, binding_link) REFERENCES link (run_id, link)\n"
    ") STRICT, WITHOUT ROWID;\n";

/* A span has no foreign key to its iteration, because a prefetched load is stored before the iteration
 * it is for. A deferred key would do, but makes SQLite search all spans at every new iteration: 24 s
 * instead of 3 s for 2 million spans in 100 iterations. */
static const char detail_tables[] =
    "CREATE TABLE span (\n"
    "  run_id INTEGER NOT NULL,\n"
    "  span INTEGER NOT NULL,       -- from 0 in its run\n"
    "  iteration INTEGER NOT NULL,\n"
    "  rank_class INTEGER NOT NULL,\n"
    "  kind TEXT NOT NULL,          -- compute, comm, load, wait\n"
    "  stream TEXT NOT NULL,\n"
    "  name TEXT NOT NULL,\n"
    "  start_ps INTEGER NOT NULL,\n"
    "  end_ps INTEGER NOT NULL CHECK (end_ps >= start_ps),\n"
    "  collective INTEGER,          -- of the same iteration\n"
    "  PRIMARY KEY (run_id, span),\n"
    "  FOREIGN KEY (run_id, rank_class) REFERENCES rank_class ON DELETE CASCADE,\n"
    "  FOREIGN KEY (run_id, iteration, collective) REFERENCES collective\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE link_load (\n"
    "  run_id INTEGER NOT NULL,\n"
    "  iteration INTEGER NOT NULL,\n"
    "  link INTEGER NOT NULL,\n"
    "  bytes INTEGER NOT NULL,      -- payload\n"
    "  busy_fraction REAL NOT NULL,\n"
    "  PRIMARY KEY (run_id, iteration, link),\n"
    "  FOREIGN KEY (run_id, iteration) REFERENCES iteration ON DELETE CASCADE,\n"
    "  FOREIGN KEY (run_id, link) REFERENCES link (run_id, link)\n"
    ") STRICT, WITHOUT ROWID;\n";

static const char step_views[] =
    "CREATE VIEW v_step AS\n"
    "SELECT i.run_id, i.iteration, i.duration_ps / 1e12 AS step_s,\n"
    "  i.compute_ps / 1e12 AS compute_s, i.comm_ps / 1e12 AS comm_s,\n"
    "  i.overlapped_ps / 1e12 AS overlapped_s,\n"
    "  i.exposed_ps / 1e12 AS exposed_s, i.idle_ps / 1e12 AS idle_s,\n"
    "  100.0 * i.compute_ps / nullif (i.duration_ps, 0) AS compute_pct,\n"
    "  100.0 * i.comm_ps / nullif (i.duration_ps, 0) AS comm_pct,\n"
    "  100.0 * i.overlapped_ps / nullif (i.duration_ps, 0) AS overlapped_pct,\n"
    "  100.0 * i.exposed_ps / nullif (i.duration_ps, 0) AS exposed_pct,\n"
    "  100.0 * i.idle_ps / nullif (i.duration_ps, 0) AS idle_pct,\n"
    "  CASE WHEN r.peak_flops_per_s > 0 THEN 100.0 * i.mfu_fraction END AS mfu_pct,\n"
    "  CASE WHEN r.peak_flops_per_s > 0 THEN 100.0 * i.hfu_fraction END AS hfu_pct,\n"
    "  i.tokens_per_s\n"
    "FROM iteration AS i JOIN run AS r USING (run_id);\n"
    "CREATE VIEW v_exposed AS\n"
    "SELECT run_id, iteration, duration_ps / 1e12 AS step_s, comm_ps / 1e12 AS comm_s,\n"
    "  exposed_ps / 1e12 AS exposed_s,\n"
    "  100.0 * exposed_ps / nullif (duration_ps, 0) AS exposed_pct_of_step,\n"
    "  100.0 * exposed_ps / nullif (comm_ps, 0) AS exposed_pct_of_comm\n"
    "FROM iteration;\n"
    "CREATE VIEW v_overlap AS -- the terms of Holistic Trace Analysis\n"
    "SELECT t.run_id, t.iteration, t.rank_class, c.first_rank, c.n_ranks,\n"
    "  t.idle_ps / 1e6 AS idle_time_us, t.compute_ps / 1e6 AS compute_time_us,\n"
    "  t.exposed_ps / 1e6 AS non_compute_time_us, t.duration_ps / 1e6 AS kernel_time_us,\n"
    "  100.0 * t.idle_ps / nullif (t.duration_ps, 0) AS idle_time_pctg,\n"
    "  100.0 * t.compute_ps / nullif (t.duration_ps, 0) AS compute_time_pctg,\n"
    "  100.0 * t.exposed_ps / nullif (t.duration_ps, 0) AS non_compute_time_pctg,\n"
    "  100.0 * t.overlapped_ps / nullif (t.comm_ps, 0) AS comp_comm_overlap_pctg\n"
    "FROM iteration_class AS t JOIN rank_class AS c USING (run_id, rank_class);\n";

static const char collective_views[] =
    "CREATE VIEW v_collective AS\n"
    "SELECT c.run_id, c.iteration, c.collective, c.name, c.op, c.algorithm, c.protocol, c.n_channels,\n"
    "  c.n_ranks, c.bytes, c.start_ps / 1e6 AS start_us, (c.start_ps - c.ready_ps) / 1e6 AS wait_us,\n"
    "  (c.end_ps - c.start_ps) / 1e6 AS time_us, c.exposed_ps / 1e6 AS exposed_us,\n"
    "  c.algbw_bytes_per_s / 1e9 AS algbw_gb_per_s, c.busbw_bytes_per_s / 1e9 AS busbw_gb_per_s,\n"
    "  c.binding_link, l.from_vertex AS binding_from, l.to_vertex AS binding_to, l.spec AS binding_spec\n"
    "FROM collective AS c LEFT JOIN link AS l ON l.run_id = c.run_id AND l.link = c.binding_link;\n"
    "CREATE VIEW v_collective_total AS\n"
    "SELECT run_id, op, name, count (*) AS n_collectives, sum (bytes) AS bytes,\n"
    "  sum (end_ps - start_ps) / 1e6 AS time_us, sum (start_ps - ready_ps) / 1e6 AS wait_us,\n"
    "  sum (exposed_ps) / 1e6 AS exposed_us,\n"
    "  sum (algbw_bytes_per_s * (end_ps - start_ps)) / nullif (sum (end_ps - start_ps), 0) / 1e9\n"
    "    AS algbw_gb_per_s,\n"
    "  sum (busbw_bytes_per_s * (end_ps - start_ps)) / nullif (sum (end_ps - start_ps), 0) / 1e9\n"
    "    AS busbw_gb_per_s\n"
    "FROM collective GROUP BY run_id, op, name;\n"
    "CREATE VIEW v_binding AS\n"
    "SELECT c.run_id, c.binding_link AS link, l.from_vertex, l.to_vertex, l.spec,\n"
    "  count (*) AS n_collectives,\n"
    "  sum (c.end_ps - c.start_ps) / 1e6 AS time_us, sum (c.exposed_ps) / 1e6 AS exposed_us,\n"
    "  100.0 * sum (c.end_ps - c.start_ps) / nullif (a.time_ps, 0) AS time_pct_of_collectives\n"
    "FROM collective AS c\n"
    "JOIN (SELECT run_id, sum (end_ps - start_ps) AS time_ps FROM collective GROUP BY run_id) AS a\n"
    "  USING (run_id)\n"
    "LEFT JOIN link AS l ON l.run_id = c.run_id AND l.link = c.binding_link\n"
    "GROUP BY c.run_id, c.binding_link;\n";

static const char link_views[] =
    "CREATE VIEW v_link_busy AS -- busy_place 1: the busiest of its iteration\n"
    "SELECT b.run_id, b.iteration, rank () OVER (PARTITION BY b.run_id, b.iteration\n"
    "    ORDER BY b.busy_fraction DESC) AS busy_place,\n"
    "  b.link, l.from_vertex, l.to_vertex, l.spec, l.n_parallel,\n"
    "  l.line_rate_bytes_per_s / 1e9 AS line_rate_gb_per_s, b.bytes,\n"
    "  b.bytes * 1e3 / nullif (i.duration_ps, 0) AS payload_gb_per_s, 100.0 * b.busy_fraction AS busy_pct\n"
    "FROM link_load AS b JOIN link AS l USING (run_id, link) JOIN iteration AS i USING (run_id, iteration);\n"
    "CREATE VIEW v_timeline AS\n"
    "SELECT s.run_id, s.iteration, s.rank_class, k.first_rank, k.n_ranks, s.stream, s.kind, s.name,\n"
    "  s.start_ps / 1e6 AS start_us, (s.end_ps - s.start_ps) / 1e6 AS duration_us,\n"
    "  s.collective, c.op, c.bytes, s.span\n"
    "FROM span AS s JOIN rank_class AS k USING (run_id, rank_class)\n"
    "LEFT JOIN collective AS c\n"
    "  ON c.run_id = s.run_id AND c.iteration = s.iteration AND c.collective = s.collective;\n";

const char *const fab_store_schema[] = {
  run_tables, time_tables, collective_table, detail_tables, step_views, collective_views, link_views, NULL,
};
