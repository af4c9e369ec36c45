/* SPDX-License-Identifier: Apache-2.0 */
/* bench_fluid.c - random messages on a fat tree, from the first byte to the last, rates solved at every end. */
#include "models/models.h"
#include "sim/net/net.h"
#include "tests/bench/bench.h"
#include "tests/support/params.h"
#include "tests/support/random.h"

enum { N_HOSTS = 1024, N_FLOWS = 10 * N_HOSTS, RADIX = 16, N_ROUNDS = 3 };

typedef struct {
  FabGraph *graph;
  FabRouter *router;
  FabVertexId hosts[N_HOSTS];
} Tree;

/* Three tiers of switches of 16 ports, with as many ports up as down; links of 400 Gb/s. */
static Tree *
tree_new (void)
{
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  g_autofree char *yaml = g_strdup_printf ("{tiers: 3, radix: %u}", RADIX);
  g_autoptr (Params) fabric = params_new (&fab_fabric_fat_tree.info, yaml);
  g_autoptr (Params) route = params_new (&fab_route_ecmp.info, "");
  FabLinkClass link_class = { .name = "port", .technology = "Ethernet", .cost = { 1, 1, 1 } };
  FabLinkForm port = { 50000000000, 0, fab_graph_builder_class (builder, &link_class), 1 };
  guint part = fab_graph_builder_part (builder, "nic", FALSE);
  Tree *self = g_new0 (Tree, 1);
  FabFabricEnv env = {
    .builder = builder, .n_places = N_HOSTS, .nics_per_node = 1, .nics = self->hosts, .port = port
  };

  for (guint i = 0; i < N_HOSTS; i++)
    self->hosts[i] = fab_graph_builder_vertex (builder, FAB_VERTEX_NIC, i, part, 0);
  gboolean is_built = fab_fabric_fat_tree.build (&env, fabric->params, NULL);
  g_assert_true (is_built);
  self->graph = fab_graph_builder_freeze (builder);
  self->router = fab_route_ecmp.create (self->graph, route->params);
  return self;
}

static void
tree_free (Tree *self)
{
  fab_router_destroy (self->router);
  fab_graph_free (self->graph);
  g_free (self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Tree, tree_free)

static void
count_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  ++*(guint *) owner;
}

typedef struct {
  double paths_s, all_s; /* to find the paths of all; to play them too */
  FabTimePs end_ps;      /* of the last */
} Played;

/* N_FLOWS that start together, of 1 MiB plus up to `most_more` bytes. */
static Played
play_flows (const Tree *tree, guint most_more)
{
  g_autoptr (FabEngine) engine = fab_engine_new ();
  FabNetEnv env = { engine, tree->graph, tree->router };
  FabNet *net = fab_net_fluid.create (&env, NULL);
  Random random = { 1 };
  guint n_ends = 0;
  Played played;
  double since_s = bench_now_s ();

  for (guint i = 0; i < N_FLOWS; i++) {
    guint src = random_below (&random, N_HOSTS),
          dst = (src + random_between (&random, 1, N_HOSTS - 1)) % N_HOSTS;
    FabTransfer transfer = { .src = tree->hosts[src],
                             .dst = tree->hosts[dst],
                             .bytes = (1 << 20) + random_below (&random, most_more + 1),
                             .drive = FAB_DRIVE_COPY,
                             .flow_hash = i,
                             .done = { count_end, &n_ends, 0 } };

    fab_net_send (net, &transfer);
  }
  played.paths_s = bench_now_s () - since_s;
  fab_engine_run (engine);
  played.all_s = bench_now_s () - since_s;
  played.end_ps = fab_engine_now (engine);
  g_assert_cmpuint (n_ends, ==, N_FLOWS);
  fab_net_destroy (net);
  return played;
}

void
bench_fluid (void)
{
  static const struct {
    const char *what;
    guint most_more;
  } rows[] = { { "fluid, 10240 flows of 1 MiB, 1024 hosts", 0 },
               { "fluid, the same of 1 to 2 MiB", (1 << 20) - 1 } };
  g_autoptr (Tree) tree = tree_new ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Played best = { .all_s = G_MAXDOUBLE };

    for (guint round = 0; round < N_ROUNDS; round++) {
      Played played = play_flows (tree, rows[i].most_more);

      if (played.all_s < best.all_s)
        best = played;
    }
    bench_row (rows[i].what, best.all_s * 1e3, "ms", "paths found in %.1f ms; the last ends at %.1f us",
               best.paths_s * 1e3, (double) best.end_ps * 1e-6);
  }
}
