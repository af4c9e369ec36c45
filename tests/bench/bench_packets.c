/* SPDX-License-Identifier: Apache-2.0 */
/* bench_packets.c - every host sends to one other at 90 % of its rate, packet by packet, over a three-tier fat tree.
 *
 * What counts is packets times the links that they crossed, per second: events per packet differ between simulators.
 * Store-and-forward, queues without end; control packets are not counted. ns-3 plays a part of the bytes over the
 * same paths: its rate does not depend on how many there are.
 */
#include "tests/bench/bench.h"
#include "tests/bench/net_text.h"
#include "tests/bench/play.h"
#include "tests/support/random.h"

enum { PAYLOAD_BYTES = 4096, HEADER_BYTES = 64, MOST_HOSTS = 1024 };

static const double pace = 0.9;
static const char packet_params[] =
    "{switching: store_and_forward, flow_control: none, congestion: none, pace: 90%}";

typedef struct {
  Tree *tree;
  NetMessage messages[MOST_HOSTS];
  guint peer_part; /* ns-3 plays one in so many bytes */
  guint n_ends;
  double end_s, n_hops;
} Packets;

/* A cycle through all hosts in random order: nobody sends to itself. */
static void
draw (Packets *self, FabBytes bytes)
{
  guint n = self->tree->n_hosts;
  g_autofree guint *order = g_new (guint, n);
  Random random = { 1 };

  for (guint i = 0; i < n; i++)
    order[i] = i;
  for (guint i = n - 1; i > 0; i--) {
    guint other = random_below (&random, i + 1), kept = order[i];

    order[i] = order[other];
    order[other] = kept;
  }
  self->n_hops = 0;
  for (guint i = 0; i < n; i++) {
    NetMessage message = { order[i], order[(i + 1) % n], bytes, 0 };

    self->messages[i] = message;
    self->n_hops += (double) (bytes / PAYLOAD_BYTES) * tree_hops (self->tree, message.src, message.dst);
  }
}

static void
count_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  ((Packets *) owner)->n_ends++;
}

static BenchSample
play_packets (gpointer data)
{
  Packets *self = data;
  Play play = play_new (self->tree, "packet", packet_params);
  double since_s = bench_now_s ();

  self->n_ends = 0;
  for (guint i = 0; i < self->tree->n_hosts; i++)
    play_send (&play, self->messages[i].src, self->messages[i].dst, self->messages[i].bytes, count_end, self,
               i);
  self->end_s = play_run_s (&play);
  since_s = bench_now_s () - since_s;
  play_clear (&play);
  return (BenchSample){ .value = self->n_ends == self->tree->n_hosts ? self->n_hops / since_s : 0 };
}

static double
peer_packets (Bench *bench, gpointer data)
{
  Packets *self = data;
  guint n = self->tree->n_hosts;
  g_autofree NetMessage *messages = g_memdup2 (self->messages, n * sizeof *messages);
  g_autofree char *arguments = g_strdup_printf ("%d %d", PAYLOAD_BYTES, HEADER_BYTES), *text = NULL;
  double run_s, n_hops;
  BenchChild child;

  for (guint i = 0; i < n; i++)
    messages[i].bytes /= self->peer_part;
  text = net_text (self->tree->graph, self->tree->router, messages, n, pace);
  child = bench_peer_run (bench, "ns3", arguments, text);
  run_s = bench_value_of (child.output, "run_s");
  n_hops = bench_value_of (child.output, "hops");
  g_free (child.output);
  return run_s > 0 ? n_hops / run_s : 0;
}

static char *
describe (gpointer data)
{
  const Packets *self = data;

  if (!play_exists ("packet"))
    return g_strdup ("this build has no fidelity packet");
  return g_strdup_printf ("%.1f M packet-hops, simulated %.6f s; ns-3 plays 1/%u of the bytes",
                          self->n_hops / 1e6, self->end_s, self->peer_part);
}

void
bench_packets (Bench *bench)
{
  static const struct {
    const char *work;
    TreeSpec spec;
    guint mib, peer_part;
    double goal;
  } sizes[] = {
    { "packet: permutation at 90 %, 128 hosts x 32 MiB",
      { .n_pods = 8, .n_leaves = 4, .n_per_leaf = 4 },
      32,
      32,
      9e6 },
    { "packet: permutation at 90 %, 1024 hosts x 4 MiB",
      { .n_pods = 16, .n_leaves = 8, .n_per_leaf = 8 },
      4,
      32,
      7e6 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    Packets *packets = g_new0 (Packets, 1);
    TreeSpec spec = sizes[i].spec;
    BenchRow row = { .work = sizes[i].work,
                     .things = "packet-hops",
                     .once = play_exists ("packet") ? play_packets : NULL,
                     .peer = "ns-3",
                     .program = "ns3",
                     .peer_once = peer_packets,
                     .goal = sizes[i].goal };

    spec.rate_bytes_per_s = 50000000000;
    spec.latency_ps = 500000;
    spec.cost = (double) (PAYLOAD_BYTES + HEADER_BYTES) / PAYLOAD_BYTES;
    packets->tree = tree_new (&spec);
    packets->peer_part = sizes[i].peer_part;
    draw (packets, (FabBytes) sizes[i].mib << 20);
    bench_measure (bench, &row, describe, packets);
    tree_free (packets->tree);
    g_free (packets);
  }
}
