/* SPDX-License-Identifier: Apache-2.0 */
/* test_balance.c - which path a packet takes: flowlets, recycled paths, queues at switches, and links that die.
 *
 * Two leaves of hosts and spines between them at 100 Gb/s, links of 500 ns, packets of 4 KiB. Spines have rates of
 * their own.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/params.h"
#include "tests/support/technologies.h"

enum { MOST_HOSTS = 32, MOST_SPINES = 16, US = 1000000, MTU = 4096 };

static const double line_bytes_per_s = 12.5e9;

typedef struct {
  guint n_hosts, n_spines; /* hosts of a leaf */
  double up[MOST_SPINES];  /* rate of the link from leaf 0 to each spine, of the line rate; 0: 1 */
  double down[MOST_SPINES];
} Clos;

typedef struct {
  FabGraph *graph;
  FabRouter *router;
  Params *route_params, *net_params;
  FabEngine *engine;
  FabNet *net;
  guint n_ended;
  FabTimePs ends_ps[MOST_HOSTS];
} Play;

/* The link from one vertex to another. */
static FabLinkId
link_of (const FabGraph *graph, FabVertexId from, FabVertexId to)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, from, &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (fab_graph_link (graph, link)->dst == to)
      return link;
  g_assert_not_reached ();
}

static FabGraphBuilder *
begin (FabLinkForm *form, FabVertexKind kind, guint n_hosts)
{
  FabLinkClass link_class = {
    .name = "port", .technology = &test_ethernet, .flow_control = FAB_FLOW_PFC, .cost = { 1, 1, 1 }
  };
  FabGraphBuilder *builder = fab_graph_builder_new ();
  guint gpu = fab_graph_builder_part (builder, "gpu", FALSE);

  *form = (FabLinkForm){ (FabBytesPerS) line_bytes_per_s, 500000,
                         fab_graph_builder_class (builder, &link_class), 1 };
  for (guint i = 0; i < n_hosts; i++)
    fab_graph_builder_vertex (builder, kind, i, gpu, 0);
  return builder;
}

/* Hosts 0 ... of leaf 0, then those of leaf 1, leaf 0, leaf 1, spines. */
static FabGraph *
clos_new (const Clos *clos)
{
  FabLinkForm form;
  guint n = 2 * clos->n_hosts;
  g_autoptr (FabGraphBuilder) builder = begin (&form, FAB_VERTEX_ACCELERATOR, n);
  guint part = fab_graph_builder_part (builder, "switch", TRUE);

  for (guint i = 0; i < 2 + clos->n_spines; i++)
    fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, FAB_NO_NODE, part, i);
  for (guint i = 0; i < n; i++)
    fab_graph_builder_join (builder, i, n + i / clos->n_hosts, &form);
  for (guint s = 0; s < clos->n_spines; s++)
    for (guint leaf = 0; leaf < 2; leaf++)
      fab_graph_builder_join (builder, n + leaf, n + 2 + s, &form);
  return fab_graph_builder_freeze (builder);
}

static Play
play_on (FabGraph *graph, const FabRouterOps *route, const char *route_yaml, const char *net_yaml)
{
  Play self = { .graph = graph, .engine = fab_engine_new () };

  self.route_params = params_new (&route->info, route_yaml);
  self.net_params = params_new (&fab_net_packet.info, net_yaml);
  self.router = route->create (graph, self.route_params->params, 1);
  FabNetEnv env = { self.engine, graph, self.router, 1 };
  self.net = fab_net_packet.create (&env, self.net_params->params);
  return self;
}

static Play
play_new (const Clos *clos, const FabRouterOps *route, const char *route_yaml, const char *net_yaml)
{
  Play self = play_on (clos_new (clos), route, route_yaml, net_yaml);
  guint leaf = 2 * clos->n_hosts;

  for (guint s = 0; s < clos->n_spines; s++) {
    if (clos->up[s] > 0)
      fab_net_set_capacity (self.net, link_of (self.graph, leaf, leaf + 2 + s), clos->up[s]);
    if (clos->down[s] > 0)
      fab_net_set_capacity (self.net, link_of (self.graph, leaf + 2 + s, leaf + 1), clos->down[s]);
  }
  return self;
}

static void
play_clear (Play *self)
{
  fab_net_destroy (self->net);
  fab_router_destroy (self->router);
  fab_engine_free (self->engine);
  params_free (self->net_params);
  params_free (self->route_params);
  fab_graph_free (self->graph);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Play, play_clear)

static void
note_end (gpointer owner, guint64 index)
{
  Play *play = owner;

  play->ends_ps[index] = fab_engine_now (play->engine);
  play->n_ended++;
}

static void
send (Play *self, FabVertexId from, FabVertexId to, FabBytes bytes)
{
  FabTransfer transfer = {
    .src = from, .dst = to, .bytes = bytes, .flow_hash = from, .done = { note_end, self, from }
  };

  fab_net_send (self->net, &transfer);
}

/* Every host of leaf 0 sends to the one opposite. Returns the time of all over that of the line. */
static double
time_all (Play *self, const Clos *clos, FabBytes bytes)
{
  double line_ps = (double) bytes / line_bytes_per_s * 1e12;

  for (guint i = 0; i < clos->n_hosts; i++)
    send (self, i, clos->n_hosts + i, bytes);
  fab_engine_run (self->engine);
  assert_int_equal (self->n_ended, clos->n_hosts);
  return (double) fab_engine_now (self->engine) / line_ps;
}

static FabBytes
over_spine (const Play *self, const Clos *clos, guint spine)
{
  guint leaf = 2 * clos->n_hosts;

  return fab_net_packet.link_queue (self->net, link_of (self->graph, leaf, leaf + 2 + spine)).carried_bytes;
}

/* --- flowlets --- */

static guint
n_used_spines (const Play *self, const Clos *clos)
{
  guint n = 0;

  for (guint s = 0; s < clos->n_spines; s++)
    n += over_spine (self, clos, s) > 0;
  return n;
}

/* Eight messages of one packet, one every 10 us, between the same ends: gaps of 20 us never end, and gaps of 5 us end
 * before every message. That eight draws of 16 spines are all the same has a chance of 16^-7. */
static guint
spines_of_messages (const char *yaml)
{
  const Clos clos = { .n_hosts = 1, .n_spines = 16 };
  g_auto (Play) play = play_new (&clos, &fab_route_flowlet, yaml, "{}");

  for (guint i = 0; i < 8; i++) {
    send (&play, 0, 1, MTU);
    fab_engine_run_until (play.engine, (i + 1) * 10 * US);
  }
  assert_int_equal (play.n_ended, 8);
  return n_used_spines (&play, &clos);
}

static void
a_pause_ends_a_flowlet (G_GNUC_UNUSED void **state)
{
  assert_int_equal (spines_of_messages ("{gap: 20us}"), 1);
  assert_true (spines_of_messages ("{gap: 5us}") > 1);
  assert_true (spines_of_messages ("{gap: 5us, choice: emptiest}") > 1); /* any one of equals */
}

/* E. Vanini et al., "Let It Flow", NSDI 2017, section 2: of two sorts of paths one has a quarter of the rate, and all
 * paths together have five eighths of what eight hosts send, so that time is at least 1.6. A hash keeps flows where
 * they are, 4 at best. Flowlets of rates that DCQCN sets move on from where rates are low. */
static void
flowlets_leave_slow_paths (G_GNUC_UNUSED void **state)
{
  const Clos clos = { .n_hosts = 8, .n_spines = 8, .down = { 0, 0, 0, 0, 0.25, 0.25, 0.25, 0.25 } };
  g_auto (Play) hashed = play_new (&clos, &fab_route_ecmp, "{}", "{}");
  g_auto (Play) flowlet = play_new (&clos, &fab_route_flowlet, "{gap: 20us}", "{}");
  double hashed_time = time_all (&hashed, &clos, 8 << 20), time = time_all (&flowlet, &clos, 8 << 20);

  print_message ("asymmetric: ecmp %.3f, flowlet %.3f\n", hashed_time, time);
  assert_true (hashed_time >= 4 && time >= 1.6);
  assert_true (time < 0.75 * hashed_time);
}

/* --- recycled paths --- */

/* A queue of 100 kB, two bandwidth-delay products, that marks from a fifth of it on, and all from four fifths on. */
static const char trimmed[] =
    "{flow_control: trim, congestion: nscc, queue: 100kB, mark_from: 20kB, mark_all: 80kB, "
    "mark_fraction: 1, timeout: 100us}";

static void
all_spread_over_all_spines (G_GNUC_UNUSED void **state)
{
  static const FabRouterOps *const routes[] = { &fab_route_spray, &fab_route_reps, &fab_route_reactive };
  const Clos clos = { .n_hosts = 8, .n_spines = 8 };

  for (guint i = 0; i < G_N_ELEMENTS (routes); i++) {
    g_auto (Play) play = play_new (&clos, routes[i], "{}", trimmed);
    double time = time_all (&play, &clos, 8 << 20);

    print_message ("%s: %.3f of the bisection\n", routes[i]->info.name, 1 / time);
    assert_true (1 / time >= 0.96);
  }
}

/* 8 x 64 entropies fall on 8 spines by chance: 64 each with a deviation of sqrt (512 / 8 x 7 / 8) = 7.5. The fullest
 * of eight has 1.42 deviations more in the mean: 1.17 times its share, and hardly ever less than 1.05 or more than
 * 1.45. All take as long as the fullest spine. */
static void
hashed_entropies_load_spines_unevenly (G_GNUC_UNUSED void **state)
{
  const Clos clos = { .n_hosts = 8, .n_spines = 8 };
  g_auto (Play) play = play_new (&clos, &fab_route_spray, "{hashed: true}",
                                 "{congestion: none, pause: 10MB}");
  double time = time_all (&play, &clos, 8 << 20), fullest = 0;

  for (guint s = 0; s < clos.n_spines; s++)
    fullest = MAX (fullest, (double) over_spine (&play, &clos, s) / (8 << 20));
  print_message ("hashed spray: %.3f of the bisection, the fullest spine has %.3f\n", 1 / time, fullest);
  assert_true (fullest > 1.05 && fullest < 1.45);
  assert_near (time, fullest, 0.02);
}

/* One of eight spines has a quarter of its rate to the receivers: eight hosts have 7.25 links, so that time is at least
 * 1.103. Sprayed packets hold back each other: an eighth of all on a quarter of a link takes 4, less what is trimmed
 * and sent again elsewhere. */
static void
recycled_paths_avoid_a_slow_spine (G_GNUC_UNUSED void **state)
{
  const Clos clos = { .n_hosts = 8, .n_spines = 8, .down = { 0.25 } };
  g_auto (Play) spray = play_new (&clos, &fab_route_spray, "{}", trimmed);
  g_auto (Play) reps = play_new (&clos, &fab_route_reps, "{}", trimmed);
  double spray_time = time_all (&spray, &clos, 8 << 20), time = time_all (&reps, &clos, 8 << 20);

  print_message ("slow spine: spray %.3f, reps %.3f\n", spray_time, time);
  assert_true (time >= 8 / 7.25 && time < 1.2);
  assert_true (spray_time > 1.8);
}

static void
cut (gpointer owner, guint64 link)
{
  fab_net_set_capacity (((Play *) owner)->net, (FabLinkId) link, 0);
}

static guint64
count_lost (Play *self, const Clos *clos)
{
  FabLinkId link = link_of (self->graph, 2 * clos->n_hosts + 2, 2 * clos->n_hosts + 1);

  fab_engine_at (self->engine, 100 * US, cut, self, link);
  for (guint i = 0; i < clos->n_hosts; i++)
    send (self, i, clos->n_hosts + i, 8 << 20);
  fab_engine_run (self->engine);
  assert_int_equal (self->n_ended, clos->n_hosts);
  return fab_net_packet.link_queue (self->net, link).n_drops;
}

/* A link that all paths of one spine need dies. Everything arrives, as what it took is sent again. Who sprays loses an
 * eighth of all packets to it from then on. Who freezes keeps to paths over which something has arrived; among those
 * that were kept before is the dead one, once per round of eight at most, until new arrivals have replaced it. */
static void
frozen_paths_avoid_a_dead_link (G_GNUC_UNUSED void **state)
{
  const Clos clos = { .n_hosts = 8, .n_spines = 8 };
  g_auto (Play) spray = play_new (&clos, &fab_route_spray, "{}", trimmed);
  g_auto (Play) frozen = play_new (&clos, &fab_route_reps, "{}", trimmed);
  g_auto (Play) loose = play_new (&clos, &fab_route_reps, "{freeze: 0ns}", trimmed);
  guint64 sprayed = count_lost (&spray, &clos), n = count_lost (&frozen, &clos),
          n_loose = count_lost (&loose, &clos);

  print_message ("lost: spray %" G_GUINT64_FORMAT ", reps %" G_GUINT64_FORMAT
                 ", without freezing %" G_GUINT64_FORMAT "; ends %.3f, %.3f, %.3f ms\n",
                 sprayed, n, n_loose, (double) fab_engine_now (spray.engine) / 1e9,
                 (double) fab_engine_now (frozen.engine) / 1e9, (double) fab_engine_now (loose.engine) / 1e9);
  assert_true (n > 0 && n < sprayed / 5);
  assert_true (n <= n_loose);
}

/* --- queues of switches --- */

/* Three switches in a triangle; 2 hosts at the first send to 2 at the second. Over the link between these all takes
 * twice as long as the line; with detours over the third switch the two links do it together. */
static double
time_triangle (const char *yaml)
{
  FabLinkForm form;
  g_autoptr (FabGraphBuilder) builder = begin (&form, FAB_VERTEX_NIC, 6);
  guint part = fab_graph_builder_part (builder, "switch", TRUE);

  for (guint i = 0; i < 3; i++)
    fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, FAB_NO_NODE, part, i);
  for (guint i = 0; i < 6; i++)
    fab_graph_builder_join (builder, i, 6 + i / 2, &form);
  for (guint i = 0; i < 3; i++)
    fab_graph_builder_join (builder, 6 + i, 6 + (i + 1) % 3, &form);
  g_auto (Play) play = play_on (fab_graph_builder_freeze (builder), &fab_route_reactive, yaml,
                                "{congestion: none}");
  return time_all (&play, &(Clos){ .n_hosts = 2 }, 8 << 20);
}

static void
detours_begin_where_queues_are_long (G_GNUC_UNUSED void **state)
{
  double direct = time_triangle ("{}"), detour = time_triangle ("{detours: 50%}"),
         biased = time_triangle ("{detours: 50%, factor: 1000}");

  print_message ("triangle: %.3f, with detours %.3f, biased %.3f\n", direct, detour, biased);
  assert_near (direct, 2, 0.01);
  assert_true (detour < 1.1);
  assert_near (biased, 2, 0.01);
}

/* Two flows whose hashes meet share a link as long as less than a threshold waits. */
static void
a_threshold_keeps_flows_together (G_GNUC_UNUSED void **state)
{
  const Clos clos = { .n_hosts = 8, .n_spines = 8 };
  g_auto (Play) high = play_new (&clos, &fab_route_reactive, "{threshold: 1GB}",
                                 "{congestion: none, flow_control: none}");
  g_auto (Play) low = play_new (&clos, &fab_route_reactive, "{threshold: 50kB}",
                                "{congestion: none, flow_control: none}");
  double kept = time_all (&high, &clos, 8 << 20), left = time_all (&low, &clos, 8 << 20);

  print_message ("threshold: 1 GB %.3f, 50 kB %.3f\n", kept, left);
  assert_true (kept >= 2);
  assert_true (left < 1.1);
}

/* --- rest --- */

static void
play_round (Play *self, const Clos *clos, FabTimePs *ends_ps)
{
  FabTimePs begin_ps = fab_engine_now (self->engine);

  fab_net_packet.rest (self->net, 0);
  for (guint i = 0; i < clos->n_hosts; i++)
    send (self, i, clos->n_hosts + i, 1 << 20);
  fab_engine_run (self->engine);
  for (guint i = 0; i < clos->n_hosts; i++)
    ends_ps[i] = self->ends_ps[i] - begin_ps;
}

/* Nothing is known of paths, nor of the time before: with the same random numbers the same happens again. */
static void
nothing_is_known_after_a_rest (G_GNUC_UNUSED void **state)
{
  const Clos clos = { .n_hosts = 8, .n_spines = 8 };
  g_autofree const char **routes = fab_registry_names (&fab_models, FAB_MODEL_ROUTE),
                        **models = fab_registry_names (&fab_models, FAB_MODEL_CONGESTION);

  for (guint r = 0; routes[r] != NULL; r++)
    for (guint m = 0; models[m] != NULL; m++) {
      const FabRouterOps *ops = (const FabRouterOps *) fab_registry_find (&fab_models, FAB_MODEL_ROUTE,
                                                                          routes[r]);
      g_autofree char *yaml = g_strdup_printf ("{flow_control: trim, queue: 100kB, congestion: %s}",
                                               models[m]);
      g_auto (Play) play = play_new (&clos, ops, "{}", yaml);
      FabTimePs first_ps[MOST_HOSTS], again_ps[MOST_HOSTS];

      play_round (&play, &clos, first_ps);
      play_round (&play, &clos, again_ps);
      if (memcmp (first_ps, again_ps, clos.n_hosts * sizeof *first_ps) != 0)
        fail_msg ("%s with %s is another one after a rest", routes[r], models[m]);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_pause_ends_a_flowlet),
    cmocka_unit_test (flowlets_leave_slow_paths),
    cmocka_unit_test (all_spread_over_all_spines),
    cmocka_unit_test (hashed_entropies_load_spines_unevenly),
    cmocka_unit_test (recycled_paths_avoid_a_slow_spine),
    cmocka_unit_test (frozen_paths_avoid_a_dead_link),
    cmocka_unit_test (detours_begin_where_queues_are_long),
    cmocka_unit_test (a_threshold_keeps_flows_together),
    cmocka_unit_test (nothing_is_known_after_a_rest),
  };

  return cmocka_run_group_tests_name ("balance", tests, NULL, NULL);
}
