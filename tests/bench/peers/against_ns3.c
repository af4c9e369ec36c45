/* SPDX-License-Identifier: Apache-2.0 */
/* against_ns3.c - packets that share a link arrive when ns-3's do, within 2 %: four senders through one link,
 * seven to one host, a permutation over leaves and spines, packets sprayed over a three-tier tree.
 *
 * Store-and-forward, queues without end, packets of 4096 bytes and 64 of headers, on both sides. The last end of each
 * scenario is compared, and the mean of all ends.
 *
 * usage: against_ns3 PROGRAM-NS3
 */
#include "tests/support/test.h"

#include <stdio.h>
#include <unistd.h>

#include "models/models.h"
#include "tests/bench/bench.h"
#include "tests/bench/net_text.h"
#include "tests/bench/play.h"
#include "tests/support/technologies.h"

enum { PAYLOAD_BYTES = 4096, HEADER_BYTES = 64, MOST_MESSAGES = 32, MESSAGE_BYTES = 1 << 20 };

static const double tolerance = 0.02;
static const FabLinkForm port = { .rate_bytes_per_s = 12500000000, .latency_ps = 500000, .count = 1 };
static const char packet_params[] = "{switching: store_and_forward, flow_control: none, congestion: none}";

typedef struct {
  Tree net; /* of any form: hosts, then switches */
  guint n_messages, n_ends;
  NetMessage messages[MOST_MESSAGES];
  double ends_s[MOST_MESSAGES];
  guint n_parts;      /* ns-3 plays every message as so many, over a path each; 0: as one */
  const char *params; /* NULL: packet_params */
  FabEngine *engine;
} Case;

/* Hosts on switches, `hosts[s]` on switch s, and switches in a row. */
static void
build_row (Case *self, const guint *hosts, guint n_switches)
{
  double cost = (double) (PAYLOAD_BYTES + HEADER_BYTES) / PAYLOAD_BYTES;
  FabLinkClass link_class = {
    .name = "port", .technology = &test_ethernet, .flow_control = FAB_FLOW_PFC, .cost = { cost, cost, cost }
  };
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  guint gpu = fab_graph_builder_part (builder, "gpu", FALSE),
        part = fab_graph_builder_part (builder, "switch", TRUE);
  FabLinkForm form = port;
  guint n_hosts = 0, host = 0;

  form.class_index = fab_graph_builder_class (builder, &link_class);
  for (guint s = 0; s < n_switches; s++)
    n_hosts += hosts[s];
  for (guint i = 0; i < n_hosts; i++)
    fab_graph_builder_vertex (builder, FAB_VERTEX_ACCELERATOR, i, gpu, 0);
  for (guint s = 0; s < n_switches; s++) {
    fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, FAB_NO_NODE, part, s);
    for (guint i = 0; i < hosts[s]; i++)
      fab_graph_builder_join (builder, host++, n_hosts + s, &form);
    if (s > 0)
      fab_graph_builder_join (builder, n_hosts + s - 1, n_hosts + s, &form);
  }
  self->net.n_hosts = n_hosts;
  self->net.graph = fab_graph_builder_freeze (builder);
  self->net.router = fab_route_shortest.create (self->net.graph, NULL, 1);
}

static void
add_message (Case *self, guint src, guint dst)
{
  self->messages[self->n_messages++] = (NetMessage){ src, dst, MESSAGE_BYTES, 0 };
}

static void
note_end (gpointer owner, guint64 message)
{
  Case *self = owner;

  self->ends_s[message] = (double) fab_engine_now (self->engine) / FAB_PS_PER_S;
  self->n_ends++;
}

static void
play_here (Case *self)
{
  Play play = play_new (&self->net, "packet", self->params ? self->params : packet_params);

  self->engine = play.engine;
  for (guint i = 0; i < self->n_messages; i++)
    play_send (&play, self->messages[i].src, self->messages[i].dst, self->messages[i].bytes, note_end, self,
               i);
  play_run_s (&play);
  play_clear (&play);
  assert_int_equal (self->n_ends, self->n_messages);
}

/* Appends a message to `parts` for each path between its ends: equal parts, over the paths that a hash can pick. */
static void
add_parts (const Case *self, FabRouter *ecmp, const NetMessage *message, GArray *parts)
{
  FabPath paths[MOST_MESSAGES] = { 0 };
  NetMessage part = *message;

  part.bytes /= self->n_parts;
  for (guint n = 0; n < self->n_parts; part.flow_hash++) {
    gboolean is_known = FALSE;

    paths[n].n = 0;
    assert_true (fab_router_append (ecmp, part.src, part.dst, part.flow_hash, &paths[n]));
    for (guint i = 0; i < n; i++)
      is_known |= memcmp (paths[i].links, paths[n].links, paths[n].n * sizeof *paths[n].links) == 0;
    if (is_known)
      continue;
    g_array_append_val (parts, part);
    n++;
  }
}

/* The parts of a message begin together, each at its share of the rate, so their packets leave in turn. */
static char *
text_in_parts (const Case *self)
{
  const gint64 params[] = { 1, 1 }; /* of the router: seed, queue_pairs */
  FabRouter *ecmp = fab_route_ecmp.create (self->net.graph, params, 1);

  g_assert (fab_route_ecmp.info.params_size == sizeof params);
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (NetMessage));

  for (guint i = 0; i < self->n_messages; i++)
    add_parts (self, ecmp, &self->messages[i], parts);
  char *text = net_text (self->net.graph, ecmp, (const NetMessage *) parts->data, parts->len,
                         1.0 / self->n_parts);
  fab_router_destroy (ecmp);
  return text;
}

/* Returns when the last part of the next message ended. */
static double
next_end_s (const Case *self, char **place)
{
  double end_s = 0;

  for (guint i = 0; i < MAX (self->n_parts, 1); i++) {
    double part_s = g_ascii_strtod (*place, place);

    assert_true (part_s > 0);
    end_s = MAX (end_s, part_s);
  }
  return end_s;
}

static void
compare (Case *self, const char *program)
{
  g_autofree char *text = self->n_parts > 0 ? text_in_parts (self)
                                            : net_text (self->net.graph, self->net.router, self->messages,
                                                        self->n_messages, 1);
  g_autofree char *payload = g_strdup_printf ("%d", PAYLOAD_BYTES);
  g_autofree char *header = g_strdup_printf ("%d", HEADER_BYTES);
  const char *argv[] = { program, payload, header, NULL };
  BenchChild child = bench_run (argv, text);
  double last_s = 0, mean_s = 0, their_last_s = 0, their_mean_s = 0;
  char *place;

  assert_true (child.is_good);
  place = strstr (child.output, "ends\n");
  assert_non_null (place);
  place += strlen ("ends\n");
  play_here (self);
  for (guint i = 0; i < self->n_messages; i++) {
    double theirs_s = next_end_s (self, &place);

    last_s = MAX (last_s, self->ends_s[i]);
    their_last_s = MAX (their_last_s, theirs_s);
    mean_s += self->ends_s[i] / self->n_messages;
    their_mean_s += theirs_s / self->n_messages;
  }
  print_message ("last %.3f us, ns-3 %.3f us; mean %.3f us, ns-3 %.3f us\n", last_s * 1e6, their_last_s * 1e6,
                 mean_s * 1e6, their_mean_s * 1e6);
  assert_near (last_s, their_last_s, tolerance);
  assert_near (mean_s, their_mean_s, tolerance);
  g_free (child.output);
}

static void
clear (Case *self)
{
  fab_router_destroy (self->net.router);
  fab_graph_free (self->net.graph);
}

static void
four_through_one_link (void **state)
{
  const guint hosts[] = { 4, 4 };
  Case self = { 0 };

  build_row (&self, hosts, G_N_ELEMENTS (hosts));
  for (guint i = 0; i < 4; i++)
    add_message (&self, i, 4 + i);
  compare (&self, *state);
  clear (&self);
}

static void
seven_to_one (void **state)
{
  const guint hosts[] = { 8 };
  Case self = { 0 };

  build_row (&self, hosts, G_N_ELEMENTS (hosts));
  for (guint i = 1; i < 8; i++)
    add_message (&self, i, 0);
  compare (&self, *state);
  clear (&self);
}

/* Some meet on a spine, as the arithmetic of paths has it. */
static void
permutation_over_spines (void **state)
{
  static const guint to[] = { 5, 9, 13, 4, 8, 12, 3, 1, 15, 11, 7, 0, 2, 14, 6, 10 };
  const TreeSpec spec = {
    1, 4, 4, port.rate_bytes_per_s, port.latency_ps, (double) (PAYLOAD_BYTES + HEADER_BYTES) / PAYLOAD_BYTES
  };
  g_autoptr (Tree) tree = tree_new (&spec);
  Case self = { .net = *tree };

  for (guint i = 0; i < G_N_ELEMENTS (to); i++)
    add_message (&self, i, to[i]);
  compare (&self, *state);
}

/* Every host sends to the one at its place in the other pod: four paths of six links, all of them full. */
static void
spray_over_three_tiers (void **state)
{
  const TreeSpec spec = {
    2, 2, 2, port.rate_bytes_per_s, port.latency_ps, (double) (PAYLOAD_BYTES + HEADER_BYTES) / PAYLOAD_BYTES
  };
  g_autoptr (Tree) tree = tree_new (&spec);
  FabRouter *spray = fab_route_spray.create (tree->graph, NULL, 1);
  Case self = {
    .net = *tree,
    .n_parts = 4,
    .params = "{switching: store_and_forward, flow_control: none, congestion: none, paths: 4}",
  };

  self.net.router = spray;
  for (guint i = 0; i < tree->n_hosts; i++) {
    add_message (&self, i, (i + tree->n_hosts / 2) % tree->n_hosts);
    self.messages[i].bytes = 4 * MESSAGE_BYTES;
  }
  compare (&self, *state);
  fab_router_destroy (spray);
}

int
main (int argc, char **argv)
{
  void *program = argc > 1 ? argv[1] : NULL;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_prestate (four_through_one_link, program),
    cmocka_unit_test_prestate (seven_to_one, program),
    cmocka_unit_test_prestate (permutation_over_spines, program),
    cmocka_unit_test_prestate (spray_over_three_tiers, program),
  };

  if (argc < 2 || access (argv[1], X_OK) != 0) {
    printf ("skipped: ns-3 is not here (libns3-dev)\n");
    return 77;
  }
  if (!play_exists ("packet")) {
    printf ("skipped: this build has no fidelity packet\n");
    return 77;
  }
  return cmocka_run_group_tests_name ("against_ns3", tests, NULL, NULL);
}
