/* SPDX-License-Identifier: Apache-2.0 */
/* against_ns3.c - packets that share a link arrive when ns-3's do, within 2 %: four senders through one link,
 * seven to one host, a permutation over leaves and spines, packets sprayed over a three-tier tree, the victim of
 * pauses, eight senders to one host with DCQCN.
 *
 * Store-and-forward, packets of 4096 bytes and 64 of headers, on both sides. The first three have queues without end
 * and are played by ns3.cpp, the others by ns3_switches.cpp. The last end of each scenario is compared, and the mean of
 * all ends; of the victim and of those that hold it back, every end.
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

/* Switches as both sides have them. */
typedef struct {
  const char *params;  /* here */
  const char *options; /* of ns3_switches, with a blank before each */
} Switches;

typedef struct {
  Tree net; /* of any form: hosts, then switches */
  guint n_messages, n_ends;
  NetMessage messages[MOST_MESSAGES];
  double ends_s[MOST_MESSAGES];
  guint n_paths;            /* of every message, over which it is sprayed; 0: one */
  const Switches *switches; /* NULL: queues without end */
  gboolean has_each;        /* every end is compared */
  guint n_draws;            /* marks are drawn so often, and the means over all draws are compared; 0: once */
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
play_here (Case *self, guint draw)
{
  const char *params = self->switches ? self->switches->params : packet_params;
  Play play = play_new_with_seed (&self->net, "packet", params, draw + 1);

  self->n_ends = 0;
  self->engine = play.engine;
  for (guint i = 0; i < self->n_messages; i++)
    play_send (&play, self->messages[i].src, self->messages[i].dst, self->messages[i].bytes, note_end, self,
               i);
  play_run_s (&play);
  play_clear (&play);
  assert_int_equal (self->n_ends, self->n_messages);
}

/* Appends the paths of a message: those that a hash can pick, each once. */
static void
append_paths (const Case *self, FabRouter *router, const NetMessage *message, GString *text)
{
  const FabGraph *graph = self->net.graph;
  guint n_paths = MAX (self->n_paths, 1);
  FabPath paths[MOST_MESSAGES] = { 0 };

  g_string_append_printf (text, "%" G_GINT64_FORMAT " %u\n", message->bytes, n_paths);
  for (guint n = 0, hash = 0; n < n_paths; hash++) {
    gboolean is_known = FALSE;

    paths[n].n = 0;
    assert_true (fab_router_append (router, message->src, message->dst, hash, &paths[n]));
    for (guint i = 0; i < n; i++)
      is_known |= memcmp (paths[i].links, paths[n].links, paths[n].n * sizeof *paths[n].links) == 0;
    if (is_known)
      continue;
    g_string_append_printf (text, "%u %u", paths[n].n + 1, message->src);
    for (guint i = 0; i < paths[n].n; i++)
      g_string_append_printf (text, " %u", fab_graph_link (graph, paths[n].links[i])->dst);
    g_string_append_c (text, '\n');
    n++;
  }
}

/* The same network and messages, as ns3_switches.cpp reads them. */
static char *
switches_text (const Case *self)
{
  const gint64 params[] = { 1, 1 }; /* of the router: seed, queue_pairs */
  FabRouter *ecmp = fab_route_ecmp.create (self->net.graph, params, 1);
  g_autofree char *links = net_text (self->net.graph, self->net.router, NULL, 0, 1);
  GString *text = g_string_new (NULL);

  g_assert (fab_route_ecmp.info.params_size == sizeof params);
  g_string_append_printf (text, "%u %u %u%s", fab_graph_n_vertices (self->net.graph),
                          fab_graph_n_links (self->net.graph) / 2, self->n_messages, strchr (links, '\n'));
  for (guint i = 0; i < self->n_messages; i++)
    append_paths (self, self->n_paths > 0 ? ecmp : self->net.router, &self->messages[i], text);
  fab_router_destroy (ecmp);
  return g_string_free (text, FALSE);
}

static BenchChild
play_there (const Case *self, const char *program, guint draw)
{
  g_autofree char *text = self->switches ? switches_text (self)
                                         : net_text (self->net.graph, self->net.router, self->messages,
                                                     self->n_messages, 1);
  g_autofree char *command = self->switches
                               ? g_strdup_printf ("%s_switches %d %d run=%u%s", program, PAYLOAD_BYTES,
                                                  HEADER_BYTES, draw, self->switches->options)
                               : g_strdup_printf ("%s %d %d", program, PAYLOAD_BYTES, HEADER_BYTES);
  g_auto (GStrv) argv = g_strsplit (command, " ", -1);

  return bench_run ((const char *const *) argv, text);
}

typedef struct {
  double last_s, mean_s;
} Ends;

static void
count_end (Ends *ends, double end_s, guint n)
{
  ends->last_s = MAX (ends->last_s, end_s);
  ends->mean_s += end_s / n;
}

static void
compare_draw (Case *self, const char *program, guint draw, Ends *here, Ends *there)
{
  BenchChild child = play_there (self, program, draw);
  char *place;

  assert_true (child.is_good);
  place = strstr (child.output, "ends\n");
  assert_non_null (place);
  place += strlen ("ends\n");
  play_here (self, draw);
  for (guint i = 0; i < self->n_messages; i++) {
    double end_s = g_ascii_strtod (place, &place);

    assert_true (end_s > 0);
    if (self->has_each)
      assert_near (self->ends_s[i], end_s, tolerance);
    count_end (here, self->ends_s[i], self->n_messages);
    count_end (there, end_s, self->n_messages);
  }
  g_free (child.output);
}

static void
compare (Case *self, const char *program)
{
  guint n = MAX (self->n_draws, 1);
  Ends here = { 0 }, there = { 0 };

  for (guint draw = 0; draw < n; draw++) {
    Ends ours = { 0 }, theirs = { 0 };

    compare_draw (self, program, draw, &ours, &theirs);
    here = (Ends){ here.last_s + ours.last_s / n, here.mean_s + ours.mean_s / n };
    there = (Ends){ there.last_s + theirs.last_s / n, there.mean_s + theirs.mean_s / n };
  }
  print_message ("last %.3f us, ns-3 %.3f us; mean %.3f us, ns-3 %.3f us\n", here.last_s * 1e6,
                 there.last_s * 1e6, here.mean_s * 1e6, there.mean_s * 1e6);
  assert_near (here.last_s, there.last_s, tolerance);
  assert_near (here.mean_s, there.mean_s, tolerance);
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
  g_autoptr (Params) params = params_new (&fab_route_spray.info, "{}");
  FabRouter *spray = fab_route_spray.create (tree->graph, params->params, 1);
  Case self = {
    .net = *tree,
    .n_paths = 4,
    .switches = &(Switches){ "{switching: store_and_forward, flow_control: none, congestion: none, paths: 4}",
                             "" },
  };

  self.net.router = spray;
  for (guint i = 0; i < tree->n_hosts; i++) {
    add_message (&self, i, (i + tree->n_hosts / 2) % tree->n_hosts);
    self.messages[i].bytes = 4 * MESSAGE_BYTES;
  }
  compare (&self, *state);
  fab_router_destroy (spray);
}

/* Hosts 0 and 1 of the left switch and 5 and 6 of the right one fill the port of host 3. What came over the link
 * between the switches and waits for it pauses that link, and with it host 2, whose own port is free. */
static void
victim_of_pauses (void **state)
{
  const guint hosts[] = { 3, 4 };
  Case self = {
    .switches = &(Switches){ "{switching: store_and_forward, flow_control: pfc, congestion: none, "
                             "pause: 100kB, resume: 75kB}",
                             " pause=100000 resume=75000" },
    .has_each = TRUE,
  };

  build_row (&self, hosts, G_N_ELEMENTS (hosts));
  add_message (&self, 0, 3);
  add_message (&self, 1, 3);
  add_message (&self, 2, 4);
  add_message (&self, 5, 3);
  add_message (&self, 6, 3);
  compare (&self, *state);
  clear (&self);
}

/* Marks of the port's rate, and pauses before the senders have heard of them. Single draws differ by 3 % on both sides,
 * depending on who is told first. The receiver, the cuts and the marks are those of ns3_switches.cpp: a word every 50
 * us, a cut at once, and marks by the queue that a packet joins. */
static void
eight_to_one_with_dcqcn (void **state)
{
  const guint hosts[] = { 9 };
  Case self = {
    .switches = &(
        Switches){ "{switching: store_and_forward, flow_control: pfc, mark_at: enqueue, congestion: "
                   "{kind: dcqcn, cnp_every: 50us, reduce_every: 1ns, increase_bytes: 10MB}}",
                   " pause=400000 resume=300000 mark_from=400000 mark_all=1600000 mark_fraction=0.2 "
                   "dcqcn=1" },
    .n_draws = 16,
  };

  build_row (&self, hosts, G_N_ELEMENTS (hosts));
  for (guint i = 1; i < 9; i++) {
    add_message (&self, i, 0);
    self.messages[i - 1].bytes = 4 * MESSAGE_BYTES;
  }
  compare (&self, *state);
  clear (&self);
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
    cmocka_unit_test_prestate (victim_of_pauses, program),
    cmocka_unit_test_prestate (eight_to_one_with_dcqcn, program),
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
