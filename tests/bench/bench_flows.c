/* SPDX-License-Identifier: Apache-2.0 */
/* bench_flows.c - messages that share links by max-min: random flows, and a ring of which every message is sent.
 *
 * Fabric: 32 leaves of 32 hosts and 32 spines, 400 Gb/s. SimGrid plays the same messages over the same paths; both
 * must end at the same simulated time.
 */
#include <math.h>
#include <string.h>

#include "sim/solve/maxmin.h"
#include "tests/bench/bench.h"
#include "tests/bench/play.h"
#include "tests/support/random.h"

enum {
  N_LEAVES = 32,
  N_PER_LEAF = 32,
  N_HOSTS = N_LEAVES * N_PER_LEAF,
  N_FLOWS = 10 * N_HOSTS,
  FLOW_BYTES = 1 << 20
};

static const double bytes_per_s = 50e9, ring_latency_s = 500e-9, ring_bytes = 0x1p30;

typedef struct {
  const char *net;
  Tree *tree;
  guint src[N_FLOWS], dst[N_FLOWS];
  guint n_ends;
  double end_s, peer_end_s;
  guint64 n_events;
} Flows;

static void
draw (Flows *self)
{
  Random random = { 1 };

  for (guint i = 0; i < N_FLOWS; i++) {
    self->src[i] = random_below (&random, N_HOSTS);
    self->dst[i] = (self->src[i] + random_between (&random, 1, N_HOSTS - 1)) % N_HOSTS;
  }
}

static void
count_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  ((Flows *) owner)->n_ends++;
}

static BenchSample
play_flows (gpointer data)
{
  Flows *self = data;
  Play play = play_new (self->tree, self->net, "{}");
  double since_s = bench_now_s ();

  self->n_ends = 0;
  for (guint i = 0; i < N_FLOWS; i++)
    play_send (&play, self->src[i], self->dst[i], FLOW_BYTES, count_end, self, i);
  self->end_s = play_run_s (&play);
  since_s = bench_now_s () - since_s;
  self->n_events = fab_engine_events (play.engine);
  play_clear (&play);
  return (BenchSample){ .value = self->n_ends == N_FLOWS ? since_s : 0 };
}

static double
peer_flows (Bench *bench, gpointer data)
{
  Flows *self = data;
  g_autofree char *arguments = g_strdup_printf ("flows %d %d %.0f", N_LEAVES, N_PER_LEAF, bytes_per_s);
  GString *input = g_string_new (NULL);
  double run_s;
  BenchChild child;

  for (guint i = 0; i < N_FLOWS; i++)
    g_string_append_printf (input, "%u %u %d\n", self->src[i], self->dst[i], FLOW_BYTES);
  child = bench_peer_run (bench, "simgrid", arguments, input->str);
  run_s = bench_value_of (child.output, "run_s");
  self->peer_end_s = bench_value_of (child.output, "end_s");
  g_string_free (input, TRUE);
  g_free (child.output);
  return run_s;
}

static char *
describe (gpointer data)
{
  const Flows *self = data;
  double away = fabs (self->end_s / self->peer_end_s - 1);

  if (self->peer_end_s <= 0)
    return g_strdup_printf ("simulated %.6f s, %" G_GUINT64_FORMAT " events", self->end_s, self->n_events);
  return g_strdup_printf ("simulated %.6f s, %" G_GUINT64_FORMAT " events; SimGrid %.6f s, %.1e away",
                          self->end_s, self->n_events, self->peer_end_s, away);
}

/* ---- one solve, without a network around it ------------------------------------------------- */

typedef struct {
  FabMaxmin *solver;
  FabMaxminProblem problem;
  double *rates;
} Solve;

static BenchSample
solve_once (gpointer data)
{
  enum { N_TIMES = 10 };
  Solve *self = data;
  double since_s = bench_now_s ();

  for (guint i = 0; i < N_TIMES; i++)
    fab_maxmin_solve (self->solver, &self->problem, self->rates, NULL);
  return (BenchSample){ .value = (bench_now_s () - since_s) / N_TIMES };
}

static void
bench_solve (Bench *bench, const Flows *flows)
{
  const BenchRow row = { .work = "max-min solved once, the same 10240 flows", .once = solve_once };
  guint n_links = fab_graph_n_links (flows->tree->graph);
  g_autofree guint *starts = g_new (guint, N_FLOWS + 1), *links = g_new (guint, 4 * N_FLOWS);
  g_autofree double *capacity = g_new (double, n_links), *weights = g_new (double, 4 * N_FLOWS);
  g_autofree double *rates = g_new (double, N_FLOWS);
  Solve solve = { fab_maxmin_new (),
                  { N_FLOWS, n_links, capacity, starts, links, weights, NULL, NULL },
                  rates };

  starts[0] = 0;
  for (guint l = 0; l < n_links; l++)
    capacity[l] = bytes_per_s;
  for (guint i = 0; i < 4 * N_FLOWS; i++)
    weights[i] = 1;
  for (guint i = 0; i < N_FLOWS; i++) {
    FabPath path = { 0 };

    fab_router_append (flows->tree->router, flows->src[i], flows->dst[i], i, &path);
    memcpy (links + starts[i], path.links, path.n * sizeof *links);
    starts[i + 1] = starts[i] + path.n;
  }
  bench_measure (bench, &row, NULL, &solve);
  fab_maxmin_free (solve.solver);
}

void
bench_flows (Bench *bench)
{
  const TreeSpec spec = { 1, N_LEAVES, N_PER_LEAF, (FabBytesPerS) bytes_per_s, 0, 0 };
  g_autofree Flows *flows = g_new0 (Flows, 1);
  const BenchRow row = { .work = "fluid: 10240 random flows of 1 MiB, 1024 hosts",
                         .once = play_flows,
                         .peer = "SimGrid",
                         .program = "simgrid",
                         .peer_once = peer_flows,
                         .goal = 0.25 };

  flows->net = "fluid";
  flows->tree = tree_new (&spec);
  draw (flows);
  bench_measure (bench, &row, describe, flows);
  bench_solve (bench, flows);
  tree_free (flows->tree);
}

/* ---- the ring ------------------------------------------------------------------------------- */

/* A line from a rank to the next one, as collectives have them. */
typedef struct {
  FabFootprint *footprint;
  FabLeg leg;
  FabNetLine *line;
  FabTimePs ready_ps; /* when the last message that it waits for arrives */
  guint n_sent, n_ended, n_got;
} Hop;

typedef struct {
  Tree *tree;
  Play play;
  guint n_ranks, n_steps;
  Hop hops[N_HOSTS];
  double end_s, peer_end_s;
} Ring;

/* The next message of a rank, when it has what to send and its last one has arrived: as a process that waits for each
 * message that it sends, which is what SimGrid plays. */
static void
try_send (Ring *self, guint rank)
{
  Hop *hop = &self->hops[rank];
  guint step = hop->n_sent;

  if (step == self->n_steps || hop->n_ended < step || hop->n_got < step)
    return;
  hop->n_sent++;
  fab_net_message (self->play.net, hop->line, ring_bytes / self->n_ranks,
                   MAX (hop->ready_ps, fab_engine_now (self->play.engine)));
}

static void
message_left (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED guint64 rank)
{
}

static void
message_arrives (gpointer owner, guint64 rank, FabTimePs at_ps)
{
  Ring *self = owner;
  guint from = (guint) rank, to = (from + 1) % self->n_ranks;

  self->hops[from].n_ended++;
  self->hops[to].n_got++;
  self->hops[from].ready_ps = MAX (self->hops[from].ready_ps, at_ps);
  self->hops[to].ready_ps = MAX (self->hops[to].ready_ps, at_ps);
  self->end_s = fab_ps_to_seconds (at_ps);
  try_send (self, from);
  try_send (self, to);
}

static void
open_hop (Ring *self, guint rank)
{
  Hop *hop = &self->hops[rank];
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (self->tree->graph);
  FabPath path = { 0 };

  *hop = (Hop){ .leg = { rank, (rank + 1) % self->n_ranks, 0 } };
  fab_router_append (self->tree->router, hop->leg.src, hop->leg.dst, 0, &path);
  fab_footprint_builder_add (builder, &path, (FabUse){ 1, FAB_DRIVE_COPY, 1, 1, 1 });
  hop->footprint = fab_footprint_builder_finish (builder);
  hop->line = fab_net_open (self->play.net,
                            &(FabConnection){ .footprint = hop->footprint,
                                              .legs = &hop->leg,
                                              .n_legs = 1,
                                              .drive = FAB_DRIVE_COPY,
                                              .share = 1,
                                              .latency_ps = fab_path_latency_ps (self->tree->graph, &path),
                                              .wire_factor = 1,
                                              .owner = self,
                                              .arg = rank,
                                              .left = message_left,
                                              .arrives = message_arrives });
}

static BenchSample
play_ring (gpointer data)
{
  Ring *self = data;
  double since_s;
  gboolean is_whole;

  self->play = play_new (self->tree, "step", "{}");
  since_s = bench_now_s ();
  for (guint i = 0; i < self->n_ranks; i++)
    open_hop (self, i);
  for (guint i = 0; i < self->n_ranks; i++)
    try_send (self, i);
  play_run_s (&self->play);
  since_s = bench_now_s () - since_s;
  is_whole = self->hops[0].n_got == self->n_steps;
  for (guint i = 0; i < self->n_ranks; i++)
    fab_net_close (self->play.net, self->hops[i].line);
  play_clear (&self->play);
  for (guint i = 0; i < self->n_ranks; i++)
    fab_footprint_free (self->hops[i].footprint);
  return (BenchSample){ .value = is_whole ? since_s : 0 };
}

static double
peer_ring (Bench *bench, gpointer data)
{
  Ring *self = data;
  g_autofree char *arguments = g_strdup_printf ("ring %u %u %.0f %g %u %.0f", self->tree->spec.n_leaves,
                                                self->tree->spec.n_per_leaf, bytes_per_s, ring_latency_s,
                                                self->n_ranks, ring_bytes);
  BenchChild child = bench_peer_run (bench, "simgrid", arguments, NULL);
  double run_s = bench_value_of (child.output, "run_s");

  self->peer_end_s = bench_value_of (child.output, "end_s");
  g_free (child.output);
  return run_s;
}

static char *
describe_ring (gpointer data)
{
  const Ring *self = data;
  double n_messages = (double) self->n_ranks * self->n_steps;

  if (self->peer_end_s <= 0)
    return g_strdup_printf ("%.1f M messages, simulated %.6f s", n_messages / 1e6, self->end_s);
  return g_strdup_printf ("%.1f M messages, simulated %.6f s; SimGrid %.6f s, %.1e away", n_messages / 1e6,
                          self->end_s, self->peer_end_s, fabs (self->end_s / self->peer_end_s - 1));
}

void
bench_ring (Bench *bench)
{
  const TreeSpec spec = {
    1, N_LEAVES, N_PER_LEAF, (FabBytesPerS) bytes_per_s, (FabTimePs) (ring_latency_s * 1e12), 0
  };
  Ring *ring = g_new0 (Ring, 1);
  const BenchRow row = { .work = "step: 1 GiB ring all-reduce, 1024 ranks, 2.1 M messages",
                         .once = play_ring,
                         .peer = "SimGrid",
                         .program = "simgrid",
                         .peer_once = peer_ring,
                         .goal = 0.7 };

  ring->tree = tree_new (&spec);
  ring->n_ranks = N_HOSTS;
  ring->n_steps = 2 * (N_HOSTS - 1);
  bench_measure (bench, &row, describe_ring, ring);
  tree_free (ring->tree);
  g_free (ring);
}
