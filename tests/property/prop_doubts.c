/* SPDX-License-Identifier: Apache-2.0 */
/* prop_doubts.c - the worst link of each sort of doubt, held against a slow search that follows the definitions.
 *
 * Random messages between single GPUs under leaves, with random numbers of connections, and transfers in the background
 * are all under way at once. The load of a link is the sum of what each of them would take of its rate alone.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/verdict/doubts.h"
#include "tests/support/play.h"
#include "tests/support/seeds.h"

enum { MOST_FLOWS = 64 };

static FabCatalog *catalog;
static guint n_found[FAB_N_DOUBTS];

typedef struct {
  const FabGraph *graph;
  guint n_flows;
  const char *names[MOST_FLOWS];
  guint n_connections[MOST_FLOWS];
  double *loads[MOST_FLOWS]; /* per link; 0: the flow does not cross it */
} Scene;

/* --- what is under way --- */

static void
add_flow (Scene *self, const FabFootprint *footprint, double bytes_per_s, guint n_connections,
          const char *name)
{
  double *loads = g_new0 (double, fab_graph_n_links (self->graph));

  for (guint i = 0; i < footprint->n; i++)
    loads[footprint->links[i]] = footprint->line_weights[i] * bytes_per_s
                               / (double) fab_graph_link (self->graph, footprint->links[i])->rate_bytes_per_s;
  self->loads[self->n_flows] = loads;
  self->names[self->n_flows] = name;
  self->n_connections[self->n_flows++] = n_connections;
}

/* Messages of traffic wait for nothing; a transfer takes the rate of its narrowest link, or its limit. */
static void
add_flows (Scene *self, const Play *play)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  const FabPlant *plant = fab_simulation_plant (play->simulation);
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (plant->graph);

  for (guint c = 0; c < dag->n_collectives; c++) {
    const FabCollectivePlan *plan = &dag->collectives[c].plan;
    FabStream stream = fab_collective_plan_stream (plan);

    add_flow (self, plan->footprint, fab_stream_rate_alone (&stream) * plan->wire_factor, plan->n_connections,
              dag->collectives[c].name);
  }
  for (guint i = 0; plant->disturbances != NULL && i < plant->disturbances->flows->len; i++) {
    const FabSideFlow *side = &g_array_index (plant->disturbances->flows, FabSideFlow, i);
    FabPath path = { 0 };

    assert_true (fab_router_append (plant->router, side->src, side->dst, i, &path));
    fab_footprint_builder_add (builder, &path, (FabUse){ 1, FAB_DRIVE_COPY, 1, 0, 0 });
    FabFootprint *footprint = fab_footprint_builder_finish (builder);
    double rate = footprint->rate_bytes_per_s;
    if (side->limit_bytes_per_s > 0)
      rate = MIN (rate, (double) side->limit_bytes_per_s);
    add_flow (self, footprint, rate, 1, "background transfer");
    fab_footprint_free (footprint);
  }
}

/* --- the definitions --- */

static double
load_of (const Scene *self, FabLinkId link)
{
  double load = 0;

  for (guint i = 0; i < self->n_flows; i++)
    load += self->loads[i][link];
  return load;
}

static guint
count_on (const Scene *self, FabLinkId link)
{
  guint n = 0;

  for (guint i = 0; i < self->n_flows; i++)
    n += self->loads[i][link] > 0;
  return n;
}

static gboolean
begins_outside (const Scene *self, FabLinkId link)
{
  return fab_graph_vertex (self->graph, fab_graph_link (self->graph, link)->src)->node == FAB_NO_NODE;
}

static gboolean
ends_outside (const Scene *self, FabLinkId link)
{
  return fab_graph_vertex (self->graph, fab_graph_link (self->graph, link)->dst)->node == FAB_NO_NODE;
}

static char *
name_of (const Scene *self, FabLinkId link)
{
  g_autofree char *from = fab_graph_vertex_name (self->graph, fab_graph_link (self->graph, link)->src),
                  *to = fab_graph_vertex_name (self->graph, fab_graph_link (self->graph, link)->dst);

  return g_strdup_printf ("%s -> %s", from, to);
}

/* Times the mean load of the leaf's links to other switches. */
static double
unevenness (const Scene *self, FabLinkId link, guint *n_up)
{
  double sum = 0;

  *n_up = 0;
  for (FabLinkId l = 0; l < fab_graph_n_links (self->graph); l++)
    if (fab_graph_link (self->graph, l)->src == fab_graph_link (self->graph, link)->src
        && ends_outside (self, l)) {
      sum += load_of (self, l);
      ++*n_up;
    }
  return load_of (self, link) * *n_up / sum;
}

static gboolean
is_leaf (const Scene *self, FabVertexId vertex)
{
  for (FabLinkId l = 0; l < fab_graph_n_links (self->graph); l++)
    if (fab_graph_link (self->graph, l)->src == vertex && !ends_outside (self, l))
      return TRUE;
  return FALSE;
}

static gboolean
is_uneven (const Scene *self, FabLinkId link)
{
  guint n_up;

  return begins_outside (self, link) && ends_outside (self, link) && load_of (self, link) > 1.2
      && is_leaf (self, fab_graph_link (self->graph, link)->src) && unevenness (self, link, &n_up) >= 1.5
      && n_up > 1;
}

static gboolean
is_incast (const Scene *self, FabLinkId link)
{
  return begins_outside (self, link) && !ends_outside (self, link) && load_of (self, link) >= 2 - 1e-9
      && count_on (self, link) >= 3;
}

static void
connections_of (const Scene *self, FabLinkId link, guint *most, guint *least)
{
  *most = 0;
  *least = G_MAXUINT;
  for (guint i = 0; i < self->n_flows; i++)
    if (self->loads[i][link] > 0) {
      *most = MAX (*most, self->n_connections[i]);
      *least = MIN (*least, self->n_connections[i]);
    }
}

static gboolean
is_of_channels (const Scene *self, FabLinkId link)
{
  guint most, least;

  connections_of (self, link, &most, &least);
  return load_of (self, link) > 1.2 && most > least;
}

/* The most loaded of the links, and of equal ones the first. */
static FabLinkId
worst_link (const Scene *self, gboolean (*is_one) (const Scene *, FabLinkId))
{
  FabLinkId worst = FAB_NO_LINK;

  for (FabLinkId l = 0; l < fab_graph_n_links (self->graph); l++)
    if (is_one (self, l) && (worst == FAB_NO_LINK || load_of (self, l) > load_of (self, worst) + 1e-9))
      worst = l;
  return worst;
}

/* The first flow that does not cross the full link, and the first link outside nodes where it meets one that does. */
static gboolean
find_victim (const Scene *self, FabLinkId full, guint *victim, FabLinkId *shared)
{
  for (*victim = 0; *victim < self->n_flows; ++*victim)
    for (*shared = 0; *shared < fab_graph_n_links (self->graph); ++*shared) {
      if (self->loads[*victim][full] > 0 || self->loads[*victim][*shared] <= 0
          || !ends_outside (self, *shared))
        continue;
      for (guint i = 0; i < self->n_flows; i++)
        if (self->loads[i][full] > 0 && self->loads[i][*shared] > 0)
          return TRUE;
    }
  return FALSE;
}

/* --- what is said --- */

static char *
expected_text (const Scene *self, FabDoubtKind kind, gboolean is_hashed)
{
  FabLinkId link = FAB_NO_LINK, shared;
  guint a, b;

  if (kind == FAB_DOUBT_COLLISION) {
    link = is_hashed ? worst_link (self, is_uneven) : FAB_NO_LINK;
    if (link == FAB_NO_LINK)
      return NULL;
    g_autofree char *name = name_of (self, link);
    double factor = unevenness (self, link, &a);
    return g_strdup_printf (
        "colliding paths: a hash gives %s %.1f times the mean load of its %u uplinks; queues there "
        "delay other flows too, which a model of rates cannot show",
        name, factor, a);
  }
  if (kind == FAB_DOUBT_INCAST) {
    link = worst_link (self, is_incast);
    if (link == FAB_NO_LINK)
      return NULL;
    g_autofree char *name = name_of (self, link);
    return g_strdup_printf (
        "incast: senders offer %s %.1f times its rate; the queue in front of it, its marks and its "
        "pauses are not simulated",
        name, load_of (self, link));
  }
  if (kind == FAB_DOUBT_CHANNELS) {
    link = worst_link (self, is_of_channels);
    if (link == FAB_NO_LINK)
      return NULL;
    g_autofree char *name = name_of (self, link);
    connections_of (self, link, &a, &b);
    return g_strdup_printf (
        "shares by channels: collectives of %u and %u channels share %s; each gets a share by all "
        "of its channels, although only some of them cross the link",
        a, b, name);
  }
  for (FabLinkId l = 0; l < fab_graph_n_links (self->graph); l++)
    if (load_of (self, l) > 1.2 && begins_outside (self, l) && find_victim (self, l, &a, &shared)) {
      g_autofree char *name = name_of (self, l), *with = name_of (self, shared);

      return g_strdup_printf (
          "spreading congestion: %s does not cross %s, which is offered %.1f times its rate, but "
          "shares %s with traffic that does; on lossless links it waits as well",
          self->names[a], name, load_of (self, l), with);
    }
  return NULL;
}

static void
check_doubts (const Scene *self, const GArray *doubts, gboolean is_hashed, const char *yaml)
{
  guint n = 0;

  for (FabDoubtKind kind = 0; kind < FAB_N_DOUBTS; kind++) {
    g_autofree char *expected = expected_text (self, kind, is_hashed);
    const FabDoubt *doubt = n < doubts->len ? &g_array_index (doubts, FabDoubt, n) : NULL;

    if (doubt != NULL && doubt->kind != kind)
      doubt = NULL;
    n += doubt != NULL;
    if (g_strcmp0 (expected, doubt != NULL ? doubt->text : NULL) != 0)
      fail_msg ("%s\nis said, and not\n%s\nof\n%s", doubt != NULL ? doubt->text : "nothing",
                expected != NULL ? expected : "nothing", yaml);
    if (doubt != NULL)
      assert_non_null (strstr (doubt->text, doubt->link));
    n_found[kind] += doubt != NULL;
  }
  assert_int_equal (n, doubts->len);
}

/* Some ranks are more wanted than others, and each sends to another one. */
static void
append_pairs (Random *random, GString *yaml, guint n_ranks)
{
  guint n = random_between (random, 1, 12), target = random_below (random, n_ranks);

  for (guint i = 0; i < n; i++) {
    guint to = random_chance (random, 40) ? target : random_below (random, n_ranks),
          from = (to + random_between (random, 1, n_ranks - 1)) % n_ranks;

    g_string_append_printf (yaml, "%s{from: %u, to: %u}", i > 0 ? ", " : "", from, to);
  }
}

static void
doubts_are_those_of_the_definitions (Random *random)
{
  static const char *const routes[] = { "shortest", "ecmp", "ecmp" };
  guint per_leaf = random_between (random, 2, 4), n_ranks = per_leaf * random_between (random, 2, 4),
        route = random_below (random, G_N_ELEMENTS (routes)), n_transfers = random_below (random, 4);
  g_autoptr (GString) yaml = g_string_new (NULL);

  g_string_append_printf (
      yaml,
      "name: t\niterations: 1\nseed: %u\ncluster: {node: dgx-h100, nodes: %u, gpus_per_node: 1, nics_per_node: 1, "
      "fabric: {kind: leaf_spine, nodes_per_leaf: %u, oversubscription: %u}, route: %s}\n"
      "job: {kind: traffic, size: 1MB, pattern: pairs, pairs: [",
      random_below (random, 1000), n_ranks, per_leaf, random_chance (random, 50) ? 1 : per_leaf / 2,
      routes[route]);
  append_pairs (random, yaml, n_ranks);
  g_string_append (yaml, "]}\n");
  for (guint i = 0; i < n_transfers; i++) {
    guint from = random_below (random, n_ranks),
          to = (from + random_between (random, 1, n_ranks - 1)) % n_ranks;

    g_string_append_printf (
        yaml, "%s{kind: transfer, from: node%u/nic0, to: node%u/nic0, bytes: 1MB, every: 1ms}%s",
        i == 0 ? "background: [" : ", ", from, to, i + 1 == n_transfers ? "]\n" : "");
  }
  g_autoptr (Play) play = play_new (catalog, yaml->str, NULL);
  FabDag *dag = (FabDag *) fab_simulation_dag (play->simulation);
  const FabPlant *plant = fab_simulation_plant (play->simulation);
  Scene scene = { .graph = plant->graph };
  g_autoptr (GError) error = NULL;

  for (guint c = 0; c < dag->n_collectives; c++)
    dag->collectives[c].plan.n_connections = random_between (random, 1, 3);
  add_flows (&scene, play);
  g_autoptr (GArray) doubts = fab_doubts_find (play->scenario, plant, dag, &fab_models, &error);
  assert_non_null (doubts);
  if (scene.n_flows > 1)
    check_doubts (&scene, doubts, route > 0, yaml->str);
  for (guint i = 0; i < scene.n_flows; i++)
    g_free (scene.loads[i]);
}

static void
each_doubt_names_the_worst_link (G_GNUC_UNUSED void **state)
{
  memset (n_found, 0, sizeof n_found);
  seeds_run (150, doubts_are_those_of_the_definitions);
  for (guint kind = 0; kind < FAB_N_DOUBTS; kind++)
    assert_true (n_found[kind] > 0 || !seeds_are_all ());
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (each_doubt_names_the_worst_link),
  };

  return play_run_tests ("doubts", tests, &catalog);
}
