/* SPDX-License-Identifier: Apache-2.0 */
/* doubts.c - what is under way at once, what it asks of links, and the worst link of each sort of doubt.
 *
 *   load of a flow on a link = share of the link's rate that it takes when it is alone
 *
 * A link is full when the loads of what is under way add up to more than 1. O(links of all footprints).
 */
#include "sim/verdict/doubts.h"

/* Something that is surely under way at once with the others. */
typedef struct {
  const FabFootprint *footprint;
  const char *name;
  guint n_connections;     /* with which it counts on its links */
  double wire_bytes_per_s; /* alone, protocol flags included */
  FabFootprint *owned;     /* the same footprint; NULL: it belongs to a plan */
} Flow;

typedef struct {
  const FabGraph *graph;
  const FabDag *dag; /* of the first job */
  GArray *flows;     /* Flow */
  double *loads;     /* per link: of all flows */
  guint *counts;     /* per link: flows on it */
  guint *crossing;   /* their numbers, link after link; those of a link begin at crossing_starts */
  gsize *crossing_starts;
  gboolean has_others, is_hashed;
} Doubting;

const char *const fab_doubt_names[FAB_N_DOUBTS + 1] = {
  [FAB_DOUBT_COLLISION] = "colliding paths",
  [FAB_DOUBT_INCAST] = "incast",
  [FAB_DOUBT_SPREADING] = "spreading congestion",
  [FAB_DOUBT_CHANNELS] = "shares by channels",
};

/* Queues are seen by a network that can tell their length, shares by channels by one that sends messages. One where
 * nothing contends says itself that its times are those of each transfer alone. */
static gboolean
sees (const FabNetOps *net, FabDoubtKind kind)
{
  if (!net->shares_links)
    return TRUE;
  return kind == FAB_DOUBT_CHANNELS ? net->message != NULL : net->link_queue != NULL;
}

/* The first of the registry that sees it and shares links. */
static const FabNetOps *
find_better (const FabRegistry *registry, FabDoubtKind kind)
{
  const FabModelInfo *const *infos = registry->lists[FAB_MODEL_NET];

  for (guint i = 0; infos != NULL && infos[i] != NULL; i++) {
    const FabNetOps *net = (const FabNetOps *) infos[i];

    if (net->shares_links && sees (net, kind))
      return net;
  }
  return NULL;
}

/* Of a flow alone on link `place` of its footprint. */
static double
load_of (const Doubting *self, const Flow *flow, guint place)
{
  FabLinkId link = flow->footprint->links[place];

  return flow->footprint->line_weights[place] * flow->wire_bytes_per_s
       / (double) fab_graph_link (self->graph, link)->rate_bytes_per_s;
}

/* --- what is under way at once --- */

static void
flow_clear (gpointer flow)
{
  fab_footprint_free (((Flow *) flow)->owned);
}

static void
add_stream (Doubting *self, const FabCollectivePlan *plan, const char *name)
{
  FabStream stream = fab_collective_plan_stream (plan);
  Flow flow = { plan->footprint, name, plan->n_connections,
                fab_stream_rate_alone (&stream) * plan->wire_factor, NULL };

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
add_first (Doubting *self, const FabDag *dag)
{
  g_autofree guint *n_idle = count_idle_waits (dag);

  for (guint t = 0; t < dag->n_tasks; t++) {
    gint32 c = dag->tasks[t].collective;

    if (c >= 0 && dag->n_waits[t] == n_idle[t] && dag->collectives[c].plan.footprint != NULL
        && dag->join_classes[dag->join_starts[c]] == dag->streams[dag->tasks[t].stream].rank_class)
      add_stream (self, &dag->collectives[c].plan, dag->collectives[c].name);
  }
}

/* Jobs go on beside each other, so their longest collectives meet. */
static void
add_longest (Doubting *self, const FabDag *dag)
{
  const FabDagCollective *longest = NULL;
  FabTimePs longest_ps = 0; /* those without a footprint take no time */

  for (guint c = 0; c < dag->n_collectives; c++) {
    FabTimePs idle_ps = fab_collective_plan_idle_ps (&dag->collectives[c].plan);

    if (idle_ps > longest_ps) {
      longest_ps = idle_ps;
      longest = &dag->collectives[c];
    }
  }
  if (longest != NULL)
    add_stream (self, &longest->plan, longest->name);
}

static void
add_job (Doubting *self, const FabDag *dag)
{
  guint n = self->flows->len;

  add_first (self, dag);
  if (self->flows->len == n && self->has_others)
    add_longest (self, dag);
}

static void
add_transfers (Doubting *self, const FabPlant *plant)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (plant->graph);

  for (guint i = 0; plant->disturbances != NULL && i < plant->disturbances->flows->len; i++) {
    const FabSideFlow *side = &g_array_index (plant->disturbances->flows, FabSideFlow, i);
    FabPath path = { 0 };

    if (!fab_router_append (plant->router, side->src, side->dst, i, &path))
      g_assert_not_reached (); /* such a scenario is not simulated */
    fab_footprint_builder_add (builder, &path,
                               (FabUse){ .weight = 1, .drive = FAB_DRIVE_COPY, .stretch = 1 });
    FabFootprint *footprint = fab_footprint_builder_finish (builder);
    double limit = side->limit_bytes_per_s > 0 ? (double) side->limit_bytes_per_s
                                               : footprint->rate_bytes_per_s;
    Flow flow = { footprint, "background transfer", 1, MIN (limit, footprint->rate_bytes_per_s), footprint };

    g_array_append_val (self->flows, flow);
  }
}

/* FALSE and *error: a neighbour cannot be built. `jobs` keeps what flows point into. */
static gboolean
find_flows (Doubting *self, const FabScenario *scenario, const FabPlant *plant, const FabRegistry *registry,
            GPtrArray *jobs, GError **error)
{
  guint n_neighbours = fab_scenario_spec (scenario)->neighbours.n;

  self->has_others = n_neighbours > 0 || (plant->disturbances != NULL && plant->disturbances->flows->len > 0);
  add_job (self, self->dag);
  for (guint i = 0; i < n_neighbours; i++) {
    FabJob *job = fab_job_new (scenario, registry, plant, i, NULL, error);

    if (job == NULL)
      return FALSE;
    g_ptr_array_add (jobs, job);
    add_job (self, job->dag);
  }
  add_transfers (self, plant);
  return TRUE;
}

static void
sum_loads (Doubting *self)
{
  for (guint i = 0; i < self->flows->len; i++) {
    const Flow *flow = &g_array_index (self->flows, Flow, i);

    for (guint k = 0; k < flow->footprint->n; k++) {
      self->loads[flow->footprint->links[k]] += load_of (self, flow, k);
      self->counts[flow->footprint->links[k]]++;
    }
  }
}

/* Lists the flows of each link one behind the other. */
static void
list_crossing (Doubting *self)
{
  guint n_links = fab_graph_n_links (self->graph);
  gsize n = 0;

  for (FabLinkId l = 0; l < n_links; l++) {
    self->crossing_starts[l] = n;
    n += self->counts[l];
  }
  self->crossing = g_new (guint, n + 1);
  g_autofree gsize *ends = g_memdup2 (self->crossing_starts, (n_links + 1) * sizeof *ends);
  for (guint i = 0; i < self->flows->len; i++) {
    const FabFootprint *footprint = g_array_index (self->flows, Flow, i).footprint;

    for (guint k = 0; k < footprint->n; k++)
      self->crossing[ends[footprint->links[k]]++] = i;
  }
}

/* (transfer full) */
static char *
link_name (const Doubting *self, FabLinkId link)
{
  g_autofree char *from = fab_graph_vertex_name (self->graph, fab_graph_link (self->graph, link)->src);
  g_autofree char *to = fab_graph_vertex_name (self->graph, fab_graph_link (self->graph, link)->dst);

  return g_strconcat (from, " -> ", to, NULL);
}

static void
doubt_clear (gpointer doubt)
{
  g_free (((FabDoubt *) doubt)->text);
  g_free (((FabDoubt *) doubt)->link);
}

/* The sorts of doubts: each finder returns the worst link of its sort as a sentence; NULL: there is none.
 * (transfer full) */

static const double is_full = 1.2;   /* load above which links are worth a doubt */
static const double is_uneven = 1.5; /* a link's load over the mean of its neighbours' */
static const double is_many = 2;     /* load of an incast */
static const double rounding = 1e-9;
enum { LEAST_SENDERS = 3, MOST_FULL = 64 /* full links that are looked at */ };

static gboolean
is_outside (const FabGraph *graph, FabVertexId vertex)
{
  return fab_graph_vertex (graph, vertex)->node == FAB_NO_NODE;
}

/* Loads of one collective by itself, as multiples of what its busiest port of a NIC has. (transfer full) */
static double *
load_alone (const Doubting *self, const FabFootprint *footprint, gboolean is_out)
{
  double most = 0, *loads = g_new0 (double, fab_graph_n_links (self->graph) + 1);

  for (guint k = 0; k < footprint->n; k++) {
    const FabLink *link = fab_graph_link (self->graph, footprint->links[k]);
    gboolean leaves = !is_outside (self->graph, link->src) && is_outside (self->graph, link->dst);
    gboolean enters = is_outside (self->graph, link->src) && !is_outside (self->graph, link->dst);

    loads[footprint->links[k]] = footprint->line_weights[k] / (double) link->rate_bytes_per_s;
    if (leaves || (enters && !is_out))
      most = MAX (most, loads[footprint->links[k]]);
  }
  for (guint k = 0; k < footprint->n; k++)
    loads[footprint->links[k]] = most > 0 ? loads[footprint->links[k]] / most : 0;
  return loads;
}

typedef void (*LookFn) (Doubting *self, const double *loads, gpointer worst);

/* At what is under way at once, and at every footprint of the job by itself. */
static void
look_everywhere (Doubting *self, gboolean is_out, LookFn look, gpointer worst)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  look (self, self->loads, worst);
  for (guint c = 0; c < self->dag->n_collectives && g_hash_table_size (seen) < 64; c++) {
    const FabFootprint *footprint = self->dag->collectives[c].plan.footprint;

    if (footprint == NULL || self->flows->len > 1 || !g_hash_table_add (seen, (gpointer) footprint))
      continue;
    g_autofree double *loads = load_alone (self, footprint, is_out);
    look (self, loads, worst);
  }
}

typedef struct {
  FabLinkId link;
  double load;
  double factor; /* of colliding paths: load over the mean of the uplinks */
  guint n;       /* of these: uplinks */
} Worst;

/* --- colliding paths --- */

/* The mean load of a leaf's *n links to other switches; 0: all links lead to switches, so that it is no leaf. */
static double
mean_uplink (const Doubting *self, FabVertexId leaf, const double *loads, guint *n)
{
  FabLinkId first;
  guint n_all = fab_graph_out_links (self->graph, leaf, &first);
  double sum = 0;

  *n = 0;
  for (FabLinkId l = first; l < first + n_all; l++)
    if (is_outside (self->graph, fab_graph_link (self->graph, l)->dst)) {
      sum += loads[l];
      ++*n;
    }
  return *n < n_all ? sum / *n : 0;
}

static void
look_for_collision (Doubting *self, const double *loads, gpointer found)
{
  Worst *worst = found;

  for (FabLinkId l = 0; l < fab_graph_n_links (self->graph); l++) {
    const FabLink *link = fab_graph_link (self->graph, l);
    guint n;

    if (loads[l] <= MAX (is_full, worst->load) || !is_outside (self->graph, link->src)
        || !is_outside (self->graph, link->dst))
      continue;
    double mean = mean_uplink (self, link->src, loads, &n);
    if (mean > 0 && loads[l] >= is_uneven * mean)
      *worst = (Worst){ l, loads[l], loads[l] / mean, n };
  }
}

static char *
find_collision (Doubting *self, char **link)
{
  Worst worst = { .link = FAB_NO_LINK };

  if (self->is_hashed)
    look_everywhere (self, FALSE, look_for_collision, &worst);
  if (worst.link == FAB_NO_LINK)
    return NULL;
  const char *name = *link = link_name (self, worst.link);
  return g_strdup_printf (
      "colliding paths: a hash gives %s %.1f times the mean load of its %u uplinks; queues there delay "
      "other flows too, which a model of rates cannot show",
      name, worst.factor, worst.n);
}

/* --- incast --- */

static void
look_for_incast (Doubting *self, const double *loads, gpointer found)
{
  Worst *worst = found;

  for (FabLinkId l = 0; l < fab_graph_n_links (self->graph); l++) {
    const FabLink *link = fab_graph_link (self->graph, l);
    gboolean is_alone = loads != self->loads; /* one collective, whose senders are not counted */

    if (loads[l] > MAX (is_many - rounding, worst->load) && is_outside (self->graph, link->src)
        && !is_outside (self->graph, link->dst) && (is_alone || self->counts[l] >= LEAST_SENDERS))
      *worst = (Worst){ .link = l, .load = loads[l] };
  }
}

static char *
find_incast (Doubting *self, char **link)
{
  Worst worst = { .link = FAB_NO_LINK };

  look_everywhere (self, TRUE, look_for_incast, &worst);
  if (worst.link == FAB_NO_LINK)
    return NULL;
  const char *name = *link = link_name (self, worst.link);
  return g_strdup_printf (
      "incast: senders offer %s %.1f times its rate; the queue in front of it, its marks and its pauses "
      "are not simulated",
      name, worst.load);
}

/* --- spreading congestion --- */

/* Numbers of the flows that cross a link, ascending. */
static const guint *
flows_on (const Doubting *self, FabLinkId link, guint *n)
{
  *n = self->counts[link];
  return self->crossing + self->crossing_starts[link];
}

/* The first of the flows that cross a link without being among those of `held`; G_MAXUINT: there is none. */
static guint
first_free_on (const Doubting *self, FabLinkId link, const guint8 *held)
{
  guint n;
  const guint *flows = flows_on (self, link, &n);

  for (guint i = 0; i < n; i++)
    if (!held[flows[i]])
      return flows[i];
  return G_MAXUINT;
}

/* The first flow that does not cross the full link but one that leads to it, from which bytes go there; NULL: there is
 * none. */
static const Flow *
find_victim (const Doubting *self, FabLinkId full, FabLinkId *shared)
{
  g_autofree guint8 *held = g_new0 (guint8, self->flows->len + 1),
                    *seen = g_new0 (guint8, fab_graph_n_links (self->graph) + 1);
  guint n, first = G_MAXUINT;
  const guint *flows = flows_on (self, full, &n);

  for (guint i = 0; i < n; i++)
    held[flows[i]] = TRUE;
  for (guint i = 0; i < n; i++) {
    const FabFootprint *footprint = g_array_index (self->flows, Flow, flows[i]).footprint;

    for (guint k = 0; k < footprint->n; k++) {
      FabLinkId link = footprint->links[k];

      if (seen[link] || link == full || !is_outside (self->graph, fab_graph_link (self->graph, link)->dst))
        continue;
      seen[link] = 1;
      guint victim = first_free_on (self, link, held);
      if (victim < first || (victim == first && victim < G_MAXUINT && link < *shared)) {
        first = victim;
        *shared = link;
      }
    }
  }
  return first < G_MAXUINT ? &g_array_index (self->flows, Flow, first) : NULL;
}

static char *
find_spreading (Doubting *self, char **link)
{
  guint n_looked_at = 0;

  for (FabLinkId l = 0; l < fab_graph_n_links (self->graph) && n_looked_at < MOST_FULL; l++) {
    FabLinkId shared_link;

    if (self->loads[l] <= is_full || self->counts[l] == self->flows->len
        || !is_outside (self->graph, fab_graph_link (self->graph, l)->src))
      continue;
    n_looked_at++;
    const Flow *victim = find_victim (self, l, &shared_link);
    if (victim == NULL)
      continue;
    g_autofree char *shared = link_name (self, shared_link);
    const char *full = *link = link_name (self, l);
    return g_strdup_printf (
        "spreading congestion: %s does not cross %s, which is offered %.1f times its rate, but shares %s "
        "with traffic that does; on lossless links it waits as well",
        victim->name, full, self->loads[l], shared);
  }
  return NULL;
}

/* --- shares by channels --- */

static guint
connections_on (const Doubting *self, FabLinkId link, guint *least)
{
  guint most = 0, n;
  const guint *flows = flows_on (self, link, &n);

  *least = G_MAXUINT;
  for (guint i = 0; i < n; i++) {
    const Flow *flow = &g_array_index (self->flows, Flow, flows[i]);

    most = MAX (most, flow->n_connections);
    *least = MIN (*least, flow->n_connections);
  }
  return most;
}

static char *
find_channels (Doubting *self, char **link)
{
  FabLinkId found = FAB_NO_LINK;
  guint most, least;

  for (FabLinkId l = 0; l < fab_graph_n_links (self->graph); l++)
    if (self->loads[l] > is_full && connections_on (self, l, &least) > least
        && (found == FAB_NO_LINK || self->loads[l] > self->loads[found] + rounding))
      found = l;
  if (found == FAB_NO_LINK)
    return NULL;
  most = connections_on (self, found, &least);
  const char *name = *link = link_name (self, found);
  return g_strdup_printf (
      "shares by channels: collectives of %u and %u channels share %s; each gets a share by all of its "
      "channels, although only some of them cross the link",
      most, least, name);
}

/* Returns the text of a doubt and sets *link to the name of the link that it is about. */
typedef char *(*FindFn) (Doubting *self, char **link);

/* What an iteration costs on another network with its own defaults; 0 where the scenario cannot be played on it. */
static FabEffort
effort_on (const Doubting *self, const FabScenario *scenario, const FabNetOps *net)
{
  g_autoptr (FabScenario) copy = fab_scenario_copy (scenario);

  if (!fab_scenario_set (copy, "fidelity", fab_value_text (net->info.name), NULL)
      || !fab_scenario_check (copy, NULL))
    return (FabEffort){ 0 };
  return fab_effort (self->dag, net, fab_scenario_spec (copy)->fidelity.params);
}

char *
fab_doubt_warning (const FabDoubt *doubt)
{
  if (doubt->better == NULL || doubt->effort.alike_s <= FAB_DOUBT_PATIENCE_S)
    return NULL;
  g_autofree char *shown = fab_effort_show (&doubt->effort);
  return g_strdup_printf ("an iteration at that fidelity takes %s", shown);
}

static void
ask_all (Doubting *self, const FabScenario *scenario, const FabRegistry *registry, GArray *doubts)
{
  static const FindFn finders[FAB_N_DOUBTS] = {
    [FAB_DOUBT_COLLISION] = find_collision,
    [FAB_DOUBT_INCAST] = find_incast,
    [FAB_DOUBT_SPREADING] = find_spreading,
    [FAB_DOUBT_CHANNELS] = find_channels,
  };

  const FabNetOps *net = (const FabNetOps *) fab_scenario_spec (scenario)->fidelity.info;

  for (FabDoubtKind kind = 0; kind < FAB_N_DOUBTS; kind++) {
    FabDoubt doubt = { .kind = kind };

    doubt.text = sees (net, kind) ? NULL : finders[kind](self, &doubt.link);
    if (doubt.text == NULL)
      continue;
    const FabNetOps *better = find_better (registry, kind);
    doubt.better = better ? better->info.name : NULL;
    if (better != NULL)
      doubt.effort = effort_on (self, scenario, better);
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
  g_autofree double *loads = g_new0 (double, n_links + 1);
  g_autofree guint *counts = g_new0 (guint, n_links + 1), *crossing = NULL;
  g_autofree gsize *crossing_starts = g_new0 (gsize, n_links + 1);
  Doubting self = { .graph = plant->graph,
                    .dag = dag,
                    .flows = flows,
                    .loads = loads,
                    .counts = counts,
                    .crossing_starts = crossing_starts };

  g_array_set_clear_func (flows, flow_clear);
  self.is_hashed = ((const FabRouterOps *) spec->cluster.route.info)->is_hashed;
  if (!find_flows (&self, scenario, plant, registry, jobs, error))
    return NULL;
  sum_loads (&self);
  list_crossing (&self);
  crossing = self.crossing;
  GArray *doubts = g_array_new (FALSE, FALSE, sizeof (FabDoubt));
  g_array_set_clear_func (doubts, doubt_clear);
  ask_all (&self, scenario, registry, doubts);
  return doubts;
}
