/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/faults.h"

#include <string.h>

#include "sim/base/mix.h"
#include "sim/scenario/fault_params.h"
#include "sim/scenario/names.h"
#include "sim/scenario/nics.h"

/* The machine before any change. */
typedef struct {
  const FabScenario *scenario;
  const FabNames *names;     /* of the graph */
  const FabVertexId *nics;   /* NICs, machine by machine */
  guint n_machines, n_ports; /* n_ports: NICs of one machine */
} Site;

typedef struct {
  const Site *site;
  const FabGraph *graph;
  FabDiagnostics *diagnostics;
} Search;

static const FabParamList *
faults_of (const Site *site)
{
  return &fab_scenario_spec (site->scenario)->faults;
}

static const FabParamList *
background_of (const Site *site)
{
  return &fab_scenario_spec (site->scenario)->background;
}

static FabVertexId
find (const Search *self, const char *const *name, guint kinds, const char *noun)
{
  return fab_names_find (self->site->names, *name, kinds, noun,
                         fab_scenario_mark (self->site->scenario, name), self->diagnostics);
}

/* --- links of a fault --- */

/* Appends a link and its reverse. */
static void
append_both (const FabGraph *graph, FabLinkId link, GArray *links)
{
  FabLinkId reverse = fab_graph_link (graph, link)->reverse;

  g_array_append_val (links, link);
  g_array_append_val (links, reverse);
}

static gboolean
is_port (const FabGraph *graph, FabLinkId link)
{
  return fab_graph_vertex (graph, fab_graph_link (graph, link)->src)->node
      != fab_graph_vertex (graph, fab_graph_link (graph, link)->dst)->node;
}

static void
append_all_of (const FabGraph *graph, FabVertexId vertex, gboolean ports_only, GArray *links)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, vertex, &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (!ports_only || is_port (graph, link))
      append_both (graph, link, links);
}

static void
report_not_joined (const Search *self, FabVertexId from, FabVertexId to, const FabFaultSpec *fault)
{
  g_autoptr (GString) list = g_string_new (NULL);
  FabLinkId first;
  guint n = fab_graph_out_links (self->graph, from, &first);
  const guint most = 8;

  for (guint i = 0; i < MIN (n, most); i++)
    g_string_append_printf (list, "%s%s", i > 0 ? ", " : "",
                            fab_names_of (self->site->names, fab_graph_link (self->graph, first + i)->dst));
  fab_diagnostics_add (self->diagnostics, fab_scenario_mark (self->site->scenario, &fault->to),
                       "no link joins %s and %s; from %s links lead to %s%s",
                       fab_names_of (self->site->names, from), fab_names_of (self->site->names, to),
                       fab_names_of (self->site->names, from), list->len > 0 ? list->str : "nothing",
                       n > most ? ", ..." : "");
}

static void
append_between (const Search *self, const FabFaultSpec *fault, GArray *links)
{
  FabVertexId from = find (self, &fault->from, FAB_NAMES_ALL_KINDS, "part"),
              to = find (self, &fault->to, FAB_NAMES_ALL_KINDS, "part");
  FabLinkId first;

  if (from == FAB_NO_VERTEX || to == FAB_NO_VERTEX)
    return;
  guint n = fab_graph_out_links (self->graph, from, &first), before = links->len;
  for (FabLinkId link = first; link < first + n; link++)
    if (fab_graph_link (self->graph, link)->dst == to)
      append_both (self->graph, link, links);
  if (links->len == before)
    report_not_joined (self, from, to, fault);
}

/* Faults during the run hit the ports only. What is dead from the start is removed from the graph. */
static gboolean
hits_ports_only (const FabFaultSpec *fault)
{
  return !fault->is_dead || fab_fault_spec_is_timed (fault);
}

static void
append_rail (const Search *self, const FabFaultSpec *fault, GArray *links)
{
  const Site *site = self->site;

  if (fault->rail >= site->n_ports) {
    fab_diagnostics_add (self->diagnostics, fab_scenario_mark (site->scenario, &fault->rail),
                         "nodes have %u NICs: rails are 0 to %d", site->n_ports, (int) site->n_ports - 1);
    return;
  }
  for (guint machine = 0; machine < site->n_machines; machine++)
    append_all_of (self->graph, site->nics[machine * site->n_ports + (guint) fault->rail],
                   hits_ports_only (fault), links);
}

/* Returns the links of a fault; a link may appear twice. (transfer full) */
static GArray *
links_of (const Search *self, const FabFaultSpec *fault)
{
  GArray *links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
  guint kind = 1U << (fault->what == FAB_FAULT_NIC ? FAB_VERTEX_NIC : FAB_VERTEX_SWITCH);
  FabVertexId vertex;

  switch ((FabFaultKind) fault->what) {
  case FAB_FAULT_LINK: append_between (self, fault, links); break;
  case FAB_FAULT_RAIL: append_rail (self, fault, links); break;
  case FAB_FAULT_NIC:
  case FAB_FAULT_SWITCH:
    vertex = find (self, &fault->name, kind, fault->what == FAB_FAULT_NIC ? "NIC" : "switch");
    if (vertex != FAB_NO_VERTEX)
      append_all_of (self->graph, vertex, fault->what == FAB_FAULT_NIC && hits_ports_only (fault), links);
    break;
  default: g_assert_not_reached ();
  }
  return links;
}

/* --- links of background traffic --- */

static gboolean
is_uplink (const FabGraph *graph, FabLinkId link)
{
  return fab_graph_vertex (graph, fab_graph_link (graph, link)->src)->node == FAB_NO_NODE
      && fab_graph_vertex (graph, fab_graph_link (graph, link)->dst)->node == FAB_NO_NODE;
}

static gboolean
is_loaded (const Search *self, FabLinkId link, const char *pattern)
{
  if (pattern == NULL || strcmp (pattern, "uplinks") == 0)
    return is_uplink (self->graph, link);
  if (strcmp (pattern, "all") == 0)
    return is_port (self->graph, link) || is_uplink (self->graph, link);
  return fab_names_link_fits (self->site->names, link, pattern);
}

/* Returns the links that a background load uses. (transfer full) */
static GArray *
loaded_links (const Search *self, const FabBackgroundSpec *one)
{
  GArray *links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));

  for (FabLinkId link = 0; link < fab_graph_n_links (self->graph); link++)
    if (is_loaded (self, link, one->links))
      g_array_append_val (links, link);
  if (links->len == 0)
    fab_diagnostics_add (self->diagnostics,
                         fab_scenario_mark (self->site->scenario,
                                            one->links != NULL ? (gconstpointer) &one->links : &one->kind),
                         "no link of this machine is one of '%s'; `fabricast topo` shows what it has",
                         one->links != NULL ? one->links : "uplinks");
  return links;
}

/* --- changes from the start --- */

static void
change (FabLinkChange *one, const FabFaultSpec *fault)
{
  one->rate_fraction *= fault->is_dead ? 0 : fault->rate_fraction;
  one->added_ps = fab_ps_add (one->added_ps, fault->latency_ps);
}

/* Applies a fault once to each of its links, however often it names them. */
static void
add_fault (const Search *self, const FabFaultSpec *fault, guint8 *is_changed, FabLinkChange *changes)
{
  g_autoptr (GArray) links = links_of (self, fault);

  for (guint i = 0; i < links->len; i++) {
    FabLinkId link = g_array_index (links, FabLinkId, i);

    if (!is_changed[link])
      change (&changes[link], fault);
    is_changed[link] = TRUE;
  }
  for (guint i = 0; i < links->len; i++)
    is_changed[g_array_index (links, FabLinkId, i)] = FALSE;
}

static void
add_load (const Search *self, const FabBackgroundSpec *one, FabLinkChange *changes)
{
  g_autoptr (GArray) links = loaded_links (self, one);

  for (guint i = 0; i < links->len; i++)
    changes[g_array_index (links, FabLinkId, i)].rate_fraction *= 1 - one->load_fraction;
}

/* Returns the change of each link. (transfer full) */
static FabLinkChange *
list_changes (const Site *site, const FabGraph *graph, FabDiagnostics *diagnostics)
{
  Search search = { site, graph, diagnostics };
  guint n_links = fab_graph_n_links (graph);
  g_autofree guint8 *is_changed = g_new0 (guint8, n_links + 1);
  FabLinkChange *changes = g_new (FabLinkChange, n_links + 1);

  for (guint i = 0; i < n_links; i++)
    changes[i] = (FabLinkChange){ 1, 0 };
  for (guint i = 0; i < faults_of (site)->n; i++) {
    const FabFaultSpec *fault = (const FabFaultSpec *) faults_of (site)->data + i;

    if (!fab_fault_spec_is_timed (fault))
      add_fault (&search, fault, is_changed, changes);
  }
  for (guint i = 0; i < background_of (site)->n; i++) {
    const FabBackgroundSpec *one = (const FabBackgroundSpec *) background_of (site)->data + i;

    if (one->kind == FAB_BACKGROUND_CONSTANT)
      add_load (&search, one, changes);
  }
  return changes;
}

/* --- changes during the run --- */

static void
add_spells (const Search *self, const FabFaultSpec *fault, FabUnrestPlan *plan)
{
  g_autoptr (GArray) links = links_of (self, fault);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < links->len; i++) {
    FabSpell spell = { g_array_index (links, FabLinkId, i), fault->is_dead ? 0 : fault->rate_fraction,
                       fault->at_ps, fault->until_ps };

    if (g_hash_table_add (seen, GUINT_TO_POINTER (spell.link)))
      g_array_append_val (plan->spells, spell);
  }
}

static void
add_bursts (const Search *self, const FabBackgroundSpec *one, guint64 seed, FabUnrestPlan *plan)
{
  g_autoptr (GArray) links = loaded_links (self, one);

  for (guint i = 0; i < links->len && one->load_fraction > 0; i++) {
    FabLinkId link = g_array_index (links, FabLinkId, i);
    FabBursts bursts = { link, one->load_fraction, one->peak_fraction, one->burst_ps, fab_mix (seed, link) };

    g_array_append_val (plan->bursts, bursts);
  }
}

/* Finds a part by its name; "node3" means the first NIC of a machine. */
static FabVertexId
find_end (const Search *self, const char *const *name)
{
  guint ends = 1U << FAB_VERTEX_NIC | 1U << FAB_VERTEX_ACCELERATOR;
  guint64 machine;

  if (g_str_has_prefix (*name, "node")
      && g_ascii_string_to_unsigned (*name + 4, 10, 0, G_MAXUINT, &machine, NULL)
      && machine < self->site->n_machines && self->site->n_ports > 0)
    return self->site->nics[machine * self->site->n_ports];
  return find (self, name, ends, "node, NIC or GPU");
}

static void
add_flow (const Search *self, const FabBackgroundSpec *one, FabUnrestPlan *plan)
{
  FabSideFlow flow = { find_end (self, &one->from), find_end (self, &one->to), one->bytes,
                       one->rate_bytes_per_s, one->every_ps };

  if (flow.src == FAB_NO_VERTEX || flow.dst == FAB_NO_VERTEX)
    return;
  if (flow.src == flow.dst) {
    fab_diagnostics_add (self->diagnostics, fab_scenario_mark (self->site->scenario, &one->to),
                         "a transfer goes from one place to another");
    return;
  }
  if (flow.bytes == 0)
    flow.bytes = (FabBytes) ((double) one->rate_bytes_per_s * fab_ps_to_seconds (one->every_ps)) + 1;
  g_array_append_val (plan->flows, flow);
}

/* Plans the disturbances in the changed graph. (transfer full) */
static FabUnrestPlan *
plan_unrest (const Site *site, const FabGraph *graph, FabDiagnostics *diagnostics)
{
  Search search = { site, graph, diagnostics };
  guint64 seed = (guint64) fab_scenario_spec (site->scenario)->seed;
  FabUnrestPlan *plan = fab_unrest_plan_new ();

  for (guint i = 0; i < faults_of (site)->n; i++) {
    const FabFaultSpec *fault = (const FabFaultSpec *) faults_of (site)->data + i;

    if (fab_fault_spec_is_timed (fault))
      add_spells (&search, fault, plan);
  }
  for (guint i = 0; i < background_of (site)->n; i++) {
    const FabBackgroundSpec *one = (const FabBackgroundSpec *) background_of (site)->data + i;

    if (one->kind == FAB_BACKGROUND_BURSTS)
      add_bursts (&search, one, fab_mix (seed, i), plan);
    if (one->kind == FAB_BACKGROUND_TRANSFER)
      add_flow (&search, one, plan);
  }
  return plan;
}

gboolean
fab_faults_apply (const FabScenario *scenario, FabGraph *graph, FabCluster *cluster, guint n_ports,
                  FabUnrestPlan **unrest, GError **error)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  guint n_machines = (guint) spec->cluster.nodes, reach;

  *unrest = NULL;
  if (spec->faults.n == 0 && spec->background.n == 0)
    return TRUE;
  reach = fab_nics_reach (cluster);
  g_autoptr (FabNames) names = fab_names_new (graph);
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autofree FabVertexId *nics = g_memdup2 (cluster->nics, sizeof (FabVertexId) * (n_machines * n_ports + 1));
  Site site = { scenario, names, nics, n_machines, n_ports };
  g_autofree FabLinkChange *changes = list_changes (&site, graph, diagnostics);
  g_autoptr (FabUnrestPlan) before = plan_unrest (&site, graph, diagnostics); /* only for its diagnostics */
  if (!fab_diagnostics_check (diagnostics, error))
    return FALSE;
  fab_graph_change (graph, changes);
  g_autoptr (FabUnrestPlan) plan = plan_unrest (&site, graph, diagnostics);
  if (!fab_diagnostics_check (diagnostics, error) || !fab_nics_choose (cluster, reach, error))
    return FALSE;
  *unrest = g_steal_pointer (&plan);
  return TRUE;
}
