/* SPDX-License-Identifier: Apache-2.0 */
/* bench_transports.c - messages of 8 MiB with NSCC and trimming over a three-tier fat tree of 128 hosts at 400 Gb/s,
 * 1 us a link: a permutation and an incast, sprayed or over recycled paths.
 *
 * No package has htsim, the simulator of the Ultra Ethernet Consortium (github.com/ultraethernet/uet-htsim), so that
 * its figures are recorded: processor time, last and mean end less the 6 us after which a sender hears of it, means of
 * three seeds of commit 40ccb052, on 2026-11-23, on a machine with a yardstick of 98 ms. The recipe is in
 * docs/reference/bench.md.
 * Queues, marks, headers and entropies here are what it prints.
 */
#include "models/models.h"
#include "tests/bench/bench.h"
#include "tests/bench/play.h"

enum { N_HOSTS = 128, N_SENDERS = 32, PAYLOAD_BYTES = 4096, WIRE_BYTES = 4150 };

static const FabBytes message_bytes = 8 << 20;

/* One bandwidth-delay product, and marks from a fifth to four fifths of it. */
static const char packet_params[] =
    "{switching: store_and_forward, flow_control: trim, congestion: nscc, "
    "paths: 1024, queue: 626650B, mark_from: 128650B, mark_all: 502150B, mark_fraction: 1}";

typedef struct {
  const char *work;
  const FabRouterOps *route;
  gboolean is_incast;
  double recorded_s, recorded_last_us, recorded_mean_us;
} Work;

typedef struct {
  const Work *work;
  Tree *tree;
  FabEngine *engine;
  guint n_messages, n_ends;
  double last_us, mean_us;
} Transports;

static void
note_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Transports *self = owner;
  double end_us = (double) fab_engine_now (self->engine) / 1e6;

  self->n_ends++;
  self->last_us = end_us;
  self->mean_us += end_us / self->n_messages;
}

static BenchSample
play_transports (gpointer data)
{
  Transports *self = data;
  Params *params = params_new (&self->work->route->info, "{hashed: true}");
  Tree net = *self->tree;
  double since_s = bench_now_s ();

  net.router = self->work->route->create (net.graph, params->params, 1);
  Play play = play_new (&net, "packet", packet_params);
  self->engine = play.engine;
  self->n_ends = 0;
  self->mean_us = 0;
  self->n_messages = self->work->is_incast ? N_SENDERS : N_HOSTS;
  for (guint i = 0; i < self->n_messages; i++)
    play_send (&play, self->work->is_incast ? i + 1 : i, self->work->is_incast ? 0 : (5 * i + 3) % N_HOSTS,
               message_bytes, note_end, self, i);
  play_run_s (&play);
  since_s = bench_now_s () - since_s;
  play_clear (&play);
  fab_router_destroy (net.router);
  params_free (params);
  return (BenchSample){ .value = self->n_ends == self->n_messages ? since_s : 0 };
}

static char *
describe (gpointer data)
{
  const Transports *self = data;

  return g_strdup_printf ("last end %.1f us, mean %.1f us; htsim %.1f us, %.1f us", self->last_us,
                          self->mean_us, self->work->recorded_last_us, self->work->recorded_mean_us);
}

void
bench_transports (Bench *bench)
{
  static const Work works[] = {
    { "packet: NSCC, sprayed, permutation of 128 hosts x 8 MiB", &fab_route_spray, FALSE, 2.22, 194.9,
      182.7 },
    { "packet: NSCC, REPS, permutation of 128 hosts x 8 MiB", &fab_route_reps, FALSE, 2.17, 187.4, 181.7 },
    { "packet: NSCC, sprayed, incast of 32 x 8 MiB", &fab_route_spray, TRUE, 0.265, 5479.0, 4852.0 },
    { "packet: NSCC, REPS, incast of 32 x 8 MiB", &fab_route_reps, TRUE, 0.267, 5484.2, 4915.2 },
  };
  const TreeSpec spec = { 8, 4, 4, 50000000000, 1000000, (double) WIRE_BYTES / PAYLOAD_BYTES };
  g_autoptr (Tree) tree = tree_new (&spec);

  for (guint i = 0; i < G_N_ELEMENTS (works); i++) {
    Transports self = { .work = &works[i], .tree = tree };
    BenchRow row = { .work = works[i].work,
                     .once = play_exists ("packet") ? play_transports : NULL,
                     .peer = "htsim",
                     .recorded = works[i].recorded_s };

    bench_measure (bench, &row, describe, &self);
  }
}
