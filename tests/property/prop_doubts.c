/* SPDX-License-Identifier: Apache-2.0 */
/* prop_doubts.c - the worst link of each sort of doubt, held against a slow search that follows the definitions.
 *
 * Random messages between single GPUs under leaves, with random numbers of connections, those of a neighbour, and
 * transfers in the background are all under way at once. Of a job whose collectives all wait for something, the longest
 * one is, where there is anything beside it. The load of a link is the sum of what each of them would take of its rate
 * alone. Where no two are under way at once, each collective is looked at by itself, as if a port was full.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/verdict/doubts.h"
#include "tests/support/play.h"
#include "tests/support/seeds.h"

enum { MOST_FLOWS = 64, MOST_VIEWS = 65 };

static FabCatalog *catalog;
static guint n_found[FAB_N_DOUBTS];

typedef struct {
  const FabGraph *graph;
  guint n_flows;
  const char *names[MOST_FLOWS];
  guint n_connections[MOST_FLOWS];
  double *loads[MOST_FLOWS]; /* per link; 0: the flow does not cross it */
  guint n_alone;
  const FabFootprint *alone[MOST_VIEWS]; /* collectives that are looked at by themselves */
} Scene;

/* The loads that are looked at: of all flows, or of one collective (Scene.alone). */
typedef struct {
  const Scene *scene;
  const FabFootprint *alone; /* NULL: all flows */
  gboolean is_out;           /* alone: ports that send, and not those that receive, say how much is full */
} View;

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

static void
add_collective (Scene *self, const FabDagCollective *collective)
{
  const FabCollectivePlan *plan = &collective->plan;
  FabStream stream = fab_collective_plan_stream (plan);

  add_flow (self, plan->footprint, fab_stream_rate_alone (&stream) * plan->wire_factor, plan->n_connections,
            collective->name);
}

/* Whether the task waits for nothing but what takes no time and waits for nothing itself. */
static gboolean
is_first (const FabDag *dag, guint task)
{
  for (guint t = 0; t < dag->n_tasks; t++)
    for (guint e = dag->next_starts[t]; e < dag->next_starts[t + 1]; e++)
      if (dag->next[e] == task
          && (dag->tasks[t].collective >= 0 || dag->tasks[t].duration_ps > 0 || dag->n_waits[t] > 0))
        return FALSE;
  return TRUE;
}

/* The collectives that wait for nothing; else, beside others, the longest. */
static void
add_job (Scene *self, const FabDag *dag, gboolean has_others)
{
  const FabDagCollective *longest = NULL;
  g_autofree gboolean *is_added = g_new0 (gboolean, dag->n_collectives + 1);
  guint n_before = self->n_flows;

  for (guint t = 0; t < dag->n_tasks; t++) {
    gint32 c = dag->tasks[t].collective;

    if (c < 0 || !is_first (dag, t) || is_added[c])
      continue;
    is_added[c] = TRUE;
    add_collective (self, &dag->collectives[c]);
  }
  for (guint c = 0; c < dag->n_collectives; c++)
    if (longest == NULL
        || fab_collective_plan_idle_ps (&dag->collectives[c].plan)
               > fab_collective_plan_idle_ps (&longest->plan))
      longest = &dag->collectives[c];
  if (self->n_flows == n_before && has_others && longest != NULL)
    add_collective (self, longest);
}

/* A transfer takes the rate of its narrowest link, or its limit. */
static void
add_transfers (Scene *self, const FabPlant *plant)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (plant->graph);

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

static void
add_alone (Scene *self, const FabDag *dag)
{
  for (guint c = 0; self->n_flows < 2 && c < dag->n_collectives && self->n_alone < 64; c++)
    self->alone[self->n_alone++] = dag->collectives[c].plan.footprint;
}

/* --- the definitions --- */

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

static double
weight_of (const Scene *self, const FabFootprint *footprint, FabLinkId link)
{
  for (guint i = 0; i < footprint->n; i++)
    if (footprint->links[i] == link)
      return footprint->line_weights[i] / (double) fab_graph_link (self->graph, link)->rate_bytes_per_s;
  return 0;
}

/* As multiples of what the busiest port of a node has. */
static double
load_alone (const View *view, FabLinkId link)
{
  const Scene *self = view->scene;
  double most = 0;

  for (guint i = 0; i < view->alone->n; i++) {
    FabLinkId port = view->alone->links[i];
    gboolean sends = !begins_outside (self, port) && ends_outside (self, port),
             receives = begins_outside (self, port) && !ends_outside (self, port);

    if (sends || (receives && !view->is_out))
      most = MAX (most, weight_of (self, view->alone, port));
  }
  return most > 0 ? weight_of (self, view->alone, link) / most : 0;
}

static double
load_of (const View *view, FabLinkId link)
{
  double load = 0;

  if (view->alone != NULL)
    return load_alone (view, link);
  for (guint i = 0; i < view->scene->n_flows; i++)
    load += view->scene->loads[i][link];
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

static char *
name_of (const Scene *self, FabLinkId link)
{
  g_autofree char *from = fab_graph_vertex_name (self->graph, fab_graph_link (self->graph, link)->src),
                  *to = fab_graph_vertex_name (self->graph, fab_graph_link (self->graph, link)->dst);

  return g_strdup_printf ("%s -> %s", from, to);
}

/* Times the mean load of the leaf's links to other switches. */
static double
unevenness (const View *view, FabLinkId link, guint *n_up)
{
  const FabGraph *graph = view->scene->graph;
  double sum = 0;

  *n_up = 0;
  for (FabLinkId l = 0; l < fab_graph_n_links (graph); l++)
    if (fab_graph_link (graph, l)->src == fab_graph_link (graph, link)->src
        && ends_outside (view->scene, l)) {
      sum += load_of (view, l);
      ++*n_up;
    }
  return load_of (view, link) * *n_up / sum;
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
is_uneven (const View *view, FabLinkId link)
{
  const Scene *self = view->scene;
  guint n_up;

  return begins_outside (self, link) && ends_outside (self, link) && load_of (view, link) > 1.2
      && is_leaf (self, fab_graph_link (self->graph, link)->src) && unevenness (view, link, &n_up) >= 1.5
      && n_up > 1;
}

/* Of one collective nobody counts the senders. */
static gboolean
is_incast (const View *view, FabLinkId link)
{
  return begins_outside (view->scene, link) && !ends_outside (view->scene, link)
      && load_of (view, link) >= 2 - 1e-9 && (view->alone != NULL || count_on (view->scene, link) >= 3);
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
is_of_channels (const View *view, FabLinkId link)
{
  guint most, least;

  connections_of (view->scene, link, &most, &least);
  return view->alone == NULL && load_of (view, link) > 1.2 && most > least;
}

/* The most loaded of the links in all views, and of equal ones the first. */
static FabLinkId
worst_link (const Scene *self, gboolean is_out, gboolean (*is_one) (const View *, FabLinkId), View *of)
{
  FabLinkId worst = FAB_NO_LINK;

  for (guint v = 0; v <= self->n_alone; v++) {
    View view = { self, v > 0 ? self->alone[v - 1] : NULL, is_out };

    for (FabLinkId l = 0; l < fab_graph_n_links (self->graph); l++)
      if (is_one (&view, l)
          && (worst == FAB_NO_LINK || load_of (&view, l) > load_of (of, worst) * (1 + 1e-12))) {
        worst = l;
        *of = view;
      }
  }
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
  View of;
  guint a, b;

  if (kind == FAB_DOUBT_COLLISION) {
    link = is_hashed ? worst_link (self, FALSE, is_uneven, &of) : FAB_NO_LINK;
    if (link == FAB_NO_LINK)
      return NULL;
    g_autofree char *name = name_of (self, link);
    double factor = unevenness (&of, link, &a);
    return g_strdup_printf (
        "colliding paths: a hash gives %s %.1f times the mean load of its %u uplinks; queues there "
        "delay other flows too, which a model of rates cannot show",
        name, factor, a);
  }
  if (kind == FAB_DOUBT_INCAST) {
    link = worst_link (self, TRUE, is_incast, &of);
    if (link == FAB_NO_LINK)
      return NULL;
    g_autofree char *name = name_of (self, link);
    return g_strdup_printf (
        "incast: senders offer %s %.1f times its rate; the queue in front of it, its marks and its "
        "pauses are not simulated",
        name, load_of (&of, link));
  }
  if (kind == FAB_DOUBT_CHANNELS) {
    link = worst_link (self, FALSE, is_of_channels, &of);
    if (link == FAB_NO_LINK)
      return NULL;
    g_autofree char *name = name_of (self, link);
    connections_of (self, link, &a, &b);
    return g_strdup_printf (
        "shares by channels: collectives of %u and %u channels share %s; each gets a share by all "
        "of its channels, although only some of them cross the link",
        a, b, name);
  }
  of = (View){ .scene = self };
  for (FabLinkId l = 0; l < fab_graph_n_links (self->graph); l++)
    if (load_of (&of, l) > 1.2 && begins_outside (self, l) && find_victim (self, l, &a, &shared)) {
      g_autofree char *name = name_of (self, l), *with = name_of (self, shared);

      return g_strdup_printf (
          "spreading congestion: %s does not cross %s, which is offered %.1f times its rate, but "
          "shares %s with traffic that does; on lossless links it waits as well",
          self->names[a], name, load_of (&of, l), with);
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
    if (doubt != NULL) {
      assert_non_null (strstr (doubt->text, doubt->link));
      assert_string_equal (doubt->better, kind == FAB_DOUBT_CHANNELS ? "step" : "packet");
      assert_true (doubt->effort.alike_s <= doubt->effort.all_s);
    }
    n_found[kind] += doubt != NULL;
  }
  assert_int_equal (n, doubts->len);
}

/* Some ranks are more wanted than others, and each sends to another one. */
static void
append_pairs (Random *random, GString *yaml, guint n_ranks)
{
  guint n = random_between (random, 1, 12), target = random_below (random, n_ranks);

  g_string_append (yaml, "{kind: traffic, size: 1MB, pattern: pairs, pairs: [");
  for (guint i = 0; i < n; i++) {
    guint to = random_chance (random, 40) ? target : random_below (random, n_ranks),
          from = (to + random_between (random, 1, n_ranks - 1)) % n_ranks;

    g_string_append_printf (yaml, "%s{from: %u, to: %u}", i > 0 ? ", " : "", from, to);
  }
  g_string_append (yaml, "]}");
}

/* Messages, one collective after another, or a step of training, whose collectives wait. */
static void
append_job (Random *random, GString *yaml, guint n_ranks)
{
  static const char *const collectives[] = { "all_reduce", "all_to_all", "gather", "broadcast" };

  if (random_chance (random, 60))
    append_pairs (random, yaml, n_ranks);
  else if (random_chance (random, 60))
    g_string_append_printf (yaml,
                            "{kind: collective, operations: [{op: %s, size: 1MB}, {op: %s, size: 100kB}]}",
                            collectives[random_below (random, G_N_ELEMENTS (collectives))],
                            collectives[random_below (random, G_N_ELEMENTS (collectives))]);
  else
    g_string_append (yaml, "{kind: ddp, model: m, micro_batch: 1, sequence: 16, bucket: 300kB}");
}

static char *
random_scenario (Random *random, const char *route)
{
  guint per_leaf = random_between (random, 2, 4), n_ranks = per_leaf * random_between (random, 2, 4),
        n_transfers = random_below (random, 4), n_neighbour = random_chance (random, 30) ? n_ranks / 2 : 0;
  GString *yaml = g_string_new (NULL);

  g_string_append_printf (
      yaml,
      "name: t\niterations: 1\nseed: %u\ncollectives: {kind: plain}\ncluster: {node: dgx-h100, nodes: %u, "
      "gpus_per_node: 1, nics_per_node: 1, fabric: {kind: leaf_spine, nodes_per_leaf: %u, oversubscription: %u}, "
      "route: %s}\n"
      "models: [{name: m, shape: {kind: layers, layers: [{name: block, count: 4, tensors: [{name: w, count: 1, "
      "parameters: 50000}]}]}}]\njob: ",
      random_below (random, 1000), n_ranks, per_leaf, random_chance (random, 50) ? 1 : per_leaf / 2, route);
  append_job (random, yaml, n_ranks - n_neighbour);
  if (n_neighbour > 1 && n_ranks - n_neighbour > 1) {
    g_string_append_printf (yaml, "\nneighbours: [{name: n, nodes: %u, first: %u, job: ", n_neighbour,
                            random_below (random, n_ranks - n_neighbour + 1));
    append_job (random, yaml, n_neighbour);
    g_string_append (yaml, "}]");
  }
  for (guint i = 0; i < n_transfers; i++) {
    guint from = random_below (random, n_ranks),
          to = (from + random_between (random, 1, n_ranks - 1)) % n_ranks;

    g_string_append_printf (yaml, "%s{kind: transfer, from: node%u/nic0, to: node%u/nic0, %s}%s",
                            i == 0 ? "\nbackground: [" : ", ", from, to,
                            random_chance (random, 50) ? "bytes: 1MB, every: 1ms" : "rate: 300Gb/s",
                            i + 1 == n_transfers ? "]" : "");
  }
  g_string_append (yaml, "\n");
  return g_string_free (yaml, FALSE);
}

static void
doubts_are_those_of_the_definitions (Random *random)
{
  static const char *const routes[] = { "shortest", "ecmp", "ecmp" };
  guint route = random_below (random, G_N_ELEMENTS (routes));
  g_autofree char *yaml = random_scenario (random, routes[route]);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabPlant *plant = fab_simulation_plant (play->simulation);
  guint n_neighbours = fab_scenario_spec (play->scenario)->neighbours.n;
  gboolean has_others = n_neighbours > 0 || plant->disturbances != NULL;
  FabDag *dag = (FabDag *) fab_simulation_dag (play->simulation);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabJob) neighbour = NULL;
  Scene scene = { .graph = plant->graph };

  for (guint c = 0; c < dag->n_collectives; c++)
    dag->collectives[c].plan.n_connections = random_between (random, 1, 3);
  add_job (&scene, dag, has_others);
  if (n_neighbours > 0) {
    neighbour = fab_job_new (play->scenario, &fab_models, plant, 0, NULL, &error);
    assert_non_null (neighbour);
    add_job (&scene, neighbour->dag, TRUE);
  }
  add_transfers (&scene, plant);
  add_alone (&scene, dag);
  g_autoptr (GArray) doubts = fab_doubts_find (play->scenario, plant, dag, &fab_models, &error);
  assert_non_null (doubts);
  check_doubts (&scene, doubts, route > 0, yaml);
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

/* Who would wait for more than a minute is told for how long. */
static void
long_plays_are_told (G_GNUC_UNUSED void **state)
{
  FabDoubt doubt = { .better = "packet", .effort = { FAB_DOUBT_PATIENCE_S, 7200 } };

  assert_null (fab_doubt_warning (&doubt));
  doubt.effort.alike_s = 7200;
  g_autofree char *warning = fab_doubt_warning (&doubt), *shown = fab_effort_show (&doubt.effort),
                  *expected = g_strdup_printf ("an iteration at that fidelity takes %s", shown);
  assert_string_equal (warning, expected);
  doubt.better = NULL;
  assert_null (fab_doubt_warning (&doubt));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (each_doubt_names_the_worst_link),
    cmocka_unit_test (long_plays_are_told),
  };

  return play_run_tests ("doubts", tests, &catalog);
}
