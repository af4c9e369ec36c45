/* SPDX-License-Identifier: Apache-2.0 */
/* queries.c - the named queries: `fabricast query NAME`.
 *
 * Each is one statement over the views of schema.c with :run bound. It is ordered, so that the same run always prints
 * the same lines. "{VIEW}" stands for the columns that the view shows by itself. A new query is one row here and one in
 * docs/reference/results-schema.md.
 */
#include "sim/result/store_private.h"

#include <string.h>

/* Classes of sizes: each flow is in one of them, and in the last one. */
#define FLOW_SIZES                                                                                       \
  "SELECT 0 AS place, 'up to 10 kB' AS size, 0 AS above_bytes, 10000 AS most_bytes"                      \
  " UNION ALL SELECT 1, 'up to 100 kB', 10000, 100000 UNION ALL SELECT 2, 'up to 1 MB', 100000, 1000000" \
  " UNION ALL SELECT 3, 'above 1 MB', 1000000, 9223372036854775807 UNION ALL SELECT 4, 'all', 0,"        \
  " 9223372036854775807"

/* By the nearest rank, as fab_nearest_rank () (sim/base/stats.h) has it. */
#define FLOW_PERCENTILE(name_, fraction_)                                      \
  " min (ps) FILTER (WHERE by_time >= " fraction_ " * n) / 1e6 AS fct_p" name_ \
  "_us, min (slow) FILTER (WHERE by_slow >= " fraction_ " * n) AS slowdown_p" name_ ","

static const char flows_sql[] =
    "WITH flow AS (SELECT c.bytes, c.end_ps - c.start_ps AS ps, 1.0 * (c.end_ps - c.start_ps) / c.alone_ps AS slow,"
    " s.place, s.size FROM collective AS c JOIN (" FLOW_SIZES ") AS s"
    " ON c.bytes > s.above_bytes AND c.bytes <= s.most_bytes"
    " WHERE c.run_id = :run AND c.op = 'send_recv' AND c.dimension = 'other' AND c.alone_ps > 0),"
    " placed AS (SELECT place, size, bytes, ps, slow, count (*) OVER of_size AS n,"
    " row_number () OVER (of_size ORDER BY ps) AS by_time, row_number () OVER (of_size ORDER BY slow) AS by_slow"
    " FROM flow WINDOW of_size AS (PARTITION BY place))"
    " SELECT size, n AS n_flows, sum (bytes) AS bytes," /* and those that one of so many exceeds: */
    FLOW_PERCENTILE ("50", "0.5")                       /* of two */
    FLOW_PERCENTILE ("90", "0.9")                       /* of ten */
    FLOW_PERCENTILE ("99", "0.99")                      /* of a hundred */
    FLOW_PERCENTILE ("99_9", "0.999")                   /* of a thousand */
    " max (ps) / 1e6 AS fct_most_us, max (slow) AS slowdown_most"
    " FROM placed GROUP BY place, size, n ORDER BY place";

const FabQuery fab_queries[] = {
  { "runs", "Every run in the file, with its mean step.",
    "SELECT r.run_id, r.name, r.fidelity, r.n_ranks, r.n_nodes, r.seed,"
    " count (v.iteration) AS n_iterations, avg (v.step_s) AS mean_step_s,"
    " avg (v.exposed_pct) AS mean_exposed_pct, avg (v.mfu_pct) AS mean_mfu_pct, r.version"
    " FROM run AS r LEFT JOIN v_step AS v USING (run_id) GROUP BY r.run_id ORDER BY r.run_id" },
  { "scenario", "The resolved scenario. Simulating it again gives the same run.",
    "SELECT scenario_yaml FROM run WHERE run_id = :run" },
  { "iterations", "Compute, communication and exposed communication of every iteration.",
    "SELECT iteration, step_s, compute_s, comm_s, overlapped_s, exposed_s, idle_s, exposed_pct, mfu_pct,"
    " hfu_pct, tokens_per_s, waiting_s, exposed_inter_node_s{v_step}"
    " FROM v_step WHERE run_id = :run ORDER BY iteration" },
  { "exposed", "Exposed communication per iteration, as a share of the step and of all communication.",
    "SELECT iteration, step_s, comm_s, exposed_s, exposed_pct_of_step, exposed_pct_of_comm"
    " FROM v_exposed WHERE run_id = :run ORDER BY iteration" },
  { "overlap", "The temporal breakdown of each class of ranks, in the terms of Holistic Trace Analysis.",
    "SELECT iteration, rank_class, first_rank, n_ranks, comp_comm_overlap_pctg, compute_time_pctg,"
    " non_compute_time_pctg, idle_time_pctg"
    " FROM v_overlap WHERE run_id = :run ORDER BY iteration, rank_class" },
  { "classes", "The time of each class of ranks by activity, mean over iterations.",
    "SELECT v.rank_class, k.name, v.first_rank, v.n_ranks, avg (kernel_time_us) AS step_us,"
    " avg (compute_time_us) AS compute_us, avg (non_compute_time_us) AS exposed_us,"
    " avg (idle_time_us) AS idle_us, avg (idle_time_pctg) AS idle_pct"
    " FROM v_overlap AS v JOIN rank_class AS k USING (run_id, rank_class) WHERE run_id = :run"
    " GROUP BY v.rank_class, k.name, v.first_rank, v.n_ranks ORDER BY v.rank_class" },
  { "exposure", "Exposed communication of each class of ranks, by dimension of parallelism and operation.",
    "SELECT iteration, rank_class, class_name, n_ranks, dimension, op, n_collectives, bytes, comm_us, exposed_us,"
    " exposed_pct_of_step, exposed_pct_of_comm, exposed_inter_node_us, waiting_us{v_exposure}"
    " FROM v_exposure WHERE run_id = :run"
    " ORDER BY iteration, rank_class, exposed_us DESC, dimension, op" },
  { "critical-path", "The parts of the step: compute, loading, communication by dimension and link.",
    "SELECT iteration, kind, dimension, link, from_vertex, to_vertex, spec, n_spans, time_us, pct_of_step"
    " FROM v_critical_path WHERE run_id = :run ORDER BY iteration, time_us DESC, kind, dimension, link" },
  { "memory", "The contents of the memory of a GPU of each class.",
    "SELECT rank_class, class_name, n_ranks, part, gb, pct_of_memory FROM v_memory"
    " WHERE run_id = :run ORDER BY rank_class, gb DESC, part" },
  { "verdict",
    "The findings of the verdict: facts to know before quoting a figure of the run "
    "(docs/reference/verdict.md).",
    "SELECT code, severity, text, advice FROM finding WHERE run_id = :run ORDER BY place" },
  { "memo", "How much of the network's work was simulated, and how much was remembered.",
    "SELECT n_collectives, n_collectives_remembered, n_episodes, n_episodes_remembered, n_replays, n_events,"
    " n_skipped FROM memo"
    " WHERE run_id = :run" },
  { "band", "The bands of the step and its exposed communication, and their largest source.",
    "SELECT iteration, figure, low_s, high_s, coverage_fraction, reason FROM band WHERE run_id = :run"
    " ORDER BY iteration, figure DESC" },
  { "collectives", "Every collective: size, waiting, time, exposed time, bandwidth, slowest link.",
    "SELECT iteration, collective, name, op, dimension, algorithm, protocol, n_channels, n_ranks, bytes, wait_us,"
    " time_us, exposed_us, algbw_gb_per_s, busbw_gb_per_s, binding_from, binding_to{v_collective}"
    " FROM v_collective WHERE run_id = :run ORDER BY iteration, collective" },
  { "collective-totals",
    "Collectives added up by operation and name over the run. Several run at once, so the sums may "
    "exceed its time.",
    "SELECT op, name, n_collectives, bytes, wait_us, time_us, exposed_us, algbw_gb_per_s, busbw_gb_per_s"
    " FROM v_collective_total WHERE run_id = :run ORDER BY time_us DESC, op, name" },
  { "flows", "Times of flows in percentiles, by size: completion time, and slow-down over an idle network.",
    flows_sql },
  { "links", "Links that carried traffic, the busiest first: payload, mean and peak busy share.",
    "SELECT b.link, l.from_vertex, l.to_vertex, l.spec, l.n_parallel,"
    " l.line_rate_bytes_per_s / 1e9 AS line_rate_gb_per_s, sum (b.bytes) AS bytes,"
    " 100.0 * sum (b.busy_fraction * i.step_ps) / nullif (a.step_ps, 0) AS mean_busy_pct,"
    " 100.0 * max (b.busy_fraction) AS peak_busy_pct"
    " FROM link_load AS b JOIN iteration AS i USING (run_id, iteration) JOIN link AS l USING (run_id, link),"
    " (SELECT sum (step_ps) AS step_ps FROM iteration WHERE run_id = :run) AS a"
    " WHERE b.run_id = :run GROUP BY b.link ORDER BY mean_busy_pct DESC, b.link" },
  { "queues", "Links that packets reached, the longest queue first: queue, stalls, marks, pauses, losses.",
    "SELECT q.link, l.from_vertex, l.to_vertex, l.spec, q.carried_bytes, q.most_queue_bytes, q.mean_queue_bytes,"
    " q.n_stalls, q.n_marks, q.n_pauses, q.n_drops"
    " FROM link_queue AS q JOIN link AS l USING (run_id, link) WHERE q.run_id = :run"
    " ORDER BY q.most_queue_bytes DESC, q.mean_queue_bytes DESC, q.link" },
  { "queue-lengths", "How long queues were, in percentiles of the time, by the kind of link.",
    "SELECT ports, n_links, p50_bytes, p90_bytes, p99_bytes, p99_9_bytes, most_bytes, mean_bytes, n_stalls, n_marks,"
    " n_pauses, n_drops FROM queue_length WHERE run_id = :run ORDER BY p99_bytes DESC, ports" },
  { "binding", "The slowest links of collectives, each with the time of those collectives.",
    "SELECT link, from_vertex, to_vertex, spec, n_collectives, time_us, exposed_us, time_pct_of_collectives"
    " FROM v_binding WHERE run_id = :run ORDER BY time_us DESC, link" },
  { "pace",
    "What sets the pace of communication: the slowest link, latency, and what GPUs and library can send.",
    "SELECT binding_from, binding_to, binding_link_spec{v_pace} FROM v_pace WHERE run_id = :run" },
  { "timeline", "Every task on every stream of every class of ranks, in order of start.",
    "SELECT iteration, rank_class, first_rank, n_ranks, stream, kind, name, start_us, duration_us, op, bytes"
    " FROM v_timeline WHERE run_id = :run ORDER BY start_us, rank_class, stream, span" },
  { "sweeps", "Every sweep in the file: the keys it varies and the number of points done.",
    "SELECT sweep_id, name, keys, n_points, n_done, n_problems, version FROM v_sweep ORDER BY sweep_id" },
  { "sweep", "Every point of a sweep.",
    "SELECT point, settings, step_s, exposed_s, exposed_pct, mfu_pct, tokens_per_s, train_days, memory_gb, n_ranks,"
    " binding_link, binding_link_spec, binding_pct, capex_usd, power_watts, usd_per_step, usd_per_million_tokens,"
    " train_usd, problem{v_sweep_point} FROM v_sweep_point WHERE sweep_id = :sweep ORDER BY point" },
  { "sweep-best", "The ten points of a sweep with the most tokens per second, or the shortest step.",
    "SELECT point, settings, step_s, exposed_pct, mfu_pct, tokens_per_s, memory_gb, usd_per_million_tokens,"
    " binding_link_spec FROM v_sweep_point"
    " WHERE sweep_id = :sweep AND problem IS NULL"
    " ORDER BY tokens_per_s DESC NULLS LAST, step_s, point LIMIT 10" },
  { "sweep-problems", "The points of a sweep that cannot be simulated, and why.",
    "SELECT point, settings, problem FROM v_sweep_point WHERE sweep_id = :sweep AND problem IS NOT NULL"
    " ORDER BY point" },
  { NULL, NULL, NULL },
};

char *
fab_query_sql (const FabQuery *query)
{
  const char *begin = strchr (query->sql, '{'), *end = begin != NULL ? strchr (begin, '}') : NULL;

  if (begin == NULL)
    return g_strdup (query->sql);
  g_autofree char *view = g_strndup (begin + 1, (gsize) (end - begin - 1)),
                  *rest = fab_store_view_rest (view);
  return g_strdup_printf ("%.*s%s%s", (gint) (begin - query->sql), query->sql, rest, end + 1);
}

const FabQuery *
fab_query_find (const char *name)
{
  for (const FabQuery *query = fab_queries; query->name != NULL; query++)
    if (strcmp (query->name, name) == 0)
      return query;
  return NULL;
}
