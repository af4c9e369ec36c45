/* SPDX-License-Identifier: Apache-2.0 */
/* doubts.c - what is under way at once, and what it asks of links.
 *
 *   load of a flow on a link = share of the link's rate that it takes when it is alone
 *
 * A link is full when the loads of what is under way add up to more than 1. O(links of all footprints).
 */
#include "answer/doubts.h"

#include <string.h>

#include "answer/doubts_private.h"

const char *const fab_doubt_names[FAB_N_DOUBTS + 1] = {
  [FAB_DOUBT_COLLISION] = "colliding paths",
  [FAB_DOUBT_INCAST] = "incast",
  [FAB_DOUBT_SPREADING] = "spreading congestion",
  [FAB_DOUBT_CHANNELS] = "shares by channels",
};

/* What fidelities see, by name: a program may lack some. */
static const struct {
  const char *name;
  gboolean sees_messages, sees_queues;
} sights[] = { { "analytic", TRUE, TRUE /* it says itself that it is a floor */ },
               { "fluid", FALSE, FALSE },
               { "step", TRUE, FALSE },
               { "packet", TRUE, TRUE } };

static gboolean
sees (const char *fidelity, FabDoubtKind kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (sights); i++)
    if (strcmp (sights[i].name, fidelity) == 0)
      return kind == FAB_DOUBT_CHANNELS ? sights[i].sees_messages : sights[i].sees_queues;
  return FALSE;
}

/* The first that sees it and shares links. */
static const char *
find_better (const FabRegistry *registry, FabDoubtKind kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (sights); i++) {
    const FabModelInfo *info = fab_registry_find (registry, FAB_MODEL_NET, sights[i].name);

    if (info && ((const FabNetOps *) info)->shares_links && sees (sights[i].name, kind))
      return info->name;
  }
  return NULL;
}

/* --- what is under way at once --- */

static void
add_stream (Doubting *self, const FabCollectivePlan *plan, const char *name, guint job)
{
  FabStream stream = fab_plan_stream (plan);
  Flow flow = { plan->footprint, name, job, plan->n_connections,
                fab_stream_rate_alone (&stream) * plan->wire_factor };

  g_array_append_val (self->flows, flow);
}

/* Per task: how many tasks it waits for that take no time and wait for nothing themselves. */
static guint *
count_idle_waits (const FabDag *dag)
{
  guint *n_idle = g_new0 (guint, dag->n_tasks + 1);

  for (guint t = 0; t < dag->n_tasks; t++)
    for (guint i = dag->next_starts[t]; i < dag->next_starts[t + 1]; i++)
      n_idle[dag->next[i]] += dag->tasks[t].collective < 0 && dag->tasks[t].duration_ps == 0
                           && dag->n_waits[t] == 0;
  return n_idle;
}

/* Collectives that wait for nothing: what an iteration begins with. */
static void
add_first (Doubting *self, const FabDag *dag, guint job)
{
  g_autofree guint *n_idle = count_idle_waits (dag);

  for (guint t = 0; t < dag->n_tasks; t++) {
    gint32 c = dag->tasks[t].collective;

    if (c >= 0 && dag->n_waits[t] == n_idle[t] && dag->collectives[c].plan.footprint != NULL
        && dag->join_classes[dag->join_starts[c]] == dag->streams[dag->tasks[t].stream].rank_class)
      add_stream (self, &dag->collectives[c].plan, dag->collectives[c].name, job);
  }
}

/* Jobs go on beside each other, so their longest collectives meet. */
static void
add_longest (Doubting *self, const FabDag *dag, guint job)
{
  const FabDagCollective *longest = NULL;

  for (guint c = 0; c < dag->n_collectives; c++)
    if (dag->collectives[c].plan.footprint != NULL
        && (longest == NULL
            || fab_plan_idle_ps (&dag->collectives[c].plan) > fab_plan_idle_ps (&longest->plan)))
      longest = &dag->collectives[c];
  if (longest != NULL)
    add_stream (self, &longest->plan, longest->name, job);
}

static void
add_job (Doubting *self, const FabDag *dag, guint job)
{
  guint n = self->flows->len;

  add_first (self, dag, job);
  if (self->flows->len == n && self->has_others)
    add_longest (self, dag, job);
}

static void
add_transfers (Doubting *self, const FabPlant *plant, guint job)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (plant->graph);

  for (guint i = 0; plant->unrest != NULL && i < plant->unrest->flows->len; i++) {
    const FabSideFlow *side = &g_array_index (plant->unrest->flows, FabSideFlow, i);
    FabPath path = { 0 };

    if (side->src == side->dst || !fab_router_append (plant->router, side->src, side->dst, i, &path))
      continue;
    fab_footprint_builder_add (builder, &path, (FabUse){ 1, FAB_DRIVE_COPY, 1, 0 });
    FabFootprint *footprint = fab_footprint_builder_finish (builder);
    double limit = side->limit_bytes_per_s > 0 ? (double) side->limit_bytes_per_s
                                               : footprint->rate_bytes_per_s;
    Flow flow = { footprint, "background transfer", job, 1, MIN (limit, footprint->rate_bytes_per_s) };

    g_ptr_array_add (self->owned, footprint);
    g_array_append_val (self->flows, flow);
  }
}

/* FALSE and *error: a neighbour cannot be built. `jobs` keeps what flows point into. */
static gboolean
find_flows (Doubting *self, const FabScenario *scenario, const FabPlant *plant, const FabRegistry *registry,
            GPtrArray *jobs, GError **error)
{
  guint n_neighbours = fab_scenario_spec (scenario)->neighbours.n;

  self->has_others = n_neighbours > 0 || (plant->unrest != NULL && plant->unrest->flows->len > 0);
  add_job (self, self->dag, 0);
  for (guint i = 0; i < n_neighbours; i++) {
    FabJob *job = fab_job_new (scenario, registry, plant, i, NULL, error);

    if (job == NULL)
      return FALSE;
    g_ptr_array_add (jobs, job);
    add_job (self, job->dag, i + 1);
  }
  add_transfers (self, plant, n_neighbours + 1);
  return TRUE;
}

static void
sum_loads (Doubting *self)
{
  for (guint i = 0; i < self->flows->len; i++) {
    const Flow *flow = &g_array_index (self->flows, Flow, i);

    for (guint k = 0; k < flow->footprint->n; k++) {
      self->loads[flow->footprint->links[k]] += doubting_load (self, flow, k);
      self->counts[flow->footprint->links[k]]++;
    }
  }
}

double
doubting_load (const Doubting *self, const Flow *flow, guint place)
{
  FabLinkId link = flow->footprint->links[place];

  return flow->footprint->line_weights[place] * flow->wire_bytes_per_s
       / (double) fab_graph_link (self->graph, link)->rate_bytes_per_s;
}

char *
doubting_link_name (const Doubting *self, FabLinkId link)
{
  g_autofree char *from = fab_graph_vertex_name (self->graph, fab_graph_link (self->graph, link)->src);
  g_autofree char *to = fab_graph_vertex_name (self->graph, fab_graph_link (self->graph, link)->dst);

  return g_strconcat (from, " -> ", to, NULL);
}

static void
doubt_clear (gpointer doubt)
{
  g_free (((FabDoubt *) doubt)->text);
}

typedef char *(*FindFn) (Doubting *self);

static void
ask_all (Doubting *self, const FabScenarioSpec *spec, const FabRegistry *registry, GArray *doubts)
{
  static const FindFn finders[FAB_N_DOUBTS] = {
    [FAB_DOUBT_COLLISION] = doubting_find_collision,
    [FAB_DOUBT_INCAST] = doubting_find_incast,
    [FAB_DOUBT_SPREADING] = doubting_find_spreading,
    [FAB_DOUBT_CHANNELS] = doubting_find_channels,
  };

  for (FabDoubtKind kind = 0; kind < FAB_N_DOUBTS; kind++) {
    char *text = sees (spec->fidelity.info->name, kind) ? NULL : finders[kind](self);
    FabDoubt doubt = { kind, text, find_better (registry, kind) };

    if (text != NULL)
      g_array_append_val (doubts, doubt);
  }
}

GArray *
fab_doubts_find (const FabScenario *scenario, const FabPlant *plant, const FabDag *dag,
                 const FabRegistry *registry, GError **error)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  guint n_links = fab_graph_n_links (plant->graph);
  g_autoptr (GArray) flows = g_array_new (FALSE, FALSE, sizeof (Flow));
  g_autoptr (GPtrArray) jobs = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_job_free);
  g_autoptr (GPtrArray) owned = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_footprint_free);
  g_autofree double *loads = g_new0 (double, n_links + 1);
  g_autofree guint *counts = g_new0 (guint, n_links + 1);
  Doubting self = {
    .graph = plant->graph, .dag = dag, .flows = flows, .owned = owned, .loads = loads, .counts = counts
  };

  self.is_hashed = strcmp (spec->cluster.route.info->name, "ecmp") == 0;
  if (!find_flows (&self, scenario, plant, registry, jobs, error))
    return NULL;
  sum_loads (&self);
  GArray *doubts = g_array_new (FALSE, FALSE, sizeof (FabDoubt));
  g_array_set_clear_func (doubts, doubt_clear);
  ask_all (&self, spec, registry, doubts);
  return doubts;
}
