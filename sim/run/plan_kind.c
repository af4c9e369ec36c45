/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/plan_kind.h"

#include <string.h>

const char *const fab_plan_place_names[FAB_N_PLAN_PLACES + 1] = {
  [FAB_PLAN_INSIDE] = "inside", [FAB_PLAN_BETWEEN] = "between"
};
const char *const fab_plan_operations_names[FAB_N_PLAN_OPERATIONS + 1] = {
  [FAB_PLAN_RINGS] = "rings", [FAB_PLAN_PAIRS] = "pairs"
};

FabPlanOperations
fab_plan_operations (FabOp op)
{
  return op == FAB_OP_ALL_TO_ALL || op == FAB_OP_SEND_RECV ? FAB_PLAN_PAIRS : FAB_PLAN_RINGS;
}

/* What the links of a footprint are, taken together. */
typedef struct {
  FabLinkId port, accelerators, bus; /* the first of its kind; FAB_NO_LINK: there is none */
  gboolean has_switch;               /* accelerators are joined by a switch */
  gboolean reduces;                  /* that can reduce */
  gboolean has_memory;               /* bytes rest in host memory */
  int evidence;
  gboolean is_calibrated;
  const FabLinkClass *classes[FAB_LINK_CLASS_END]; /* those that are there */
} Links;

static void
take_first (FabLinkId *first, FabLinkId link)
{
  if (*first == FAB_NO_LINK)
    *first = link;
}

static gboolean
is_switch (const FabGraph *graph, FabVertexId vertex)
{
  return fab_graph_vertex (graph, vertex)->kind == FAB_VERTEX_SWITCH;
}

static gboolean
is_of_accelerator (const FabGraph *graph, const FabLink *link)
{
  return fab_graph_vertex (graph, link->src)->kind == FAB_VERTEX_ACCELERATOR
      || fab_graph_vertex (graph, link->dst)->kind == FAB_VERTEX_ACCELERATOR;
}

gboolean
fab_link_is_unsure (const FabLinkSpec *spec)
{
  const FabLinkUncertainty *unsure = &spec->uncertainty;

  return unsure->rate_fraction > 0 || (unsure->latency_fraction > 0 && spec->latency_ps > 0)
      || (unsure->endpoint_fraction > 0 && spec->endpoint_ps > 0)
      || (unsure->messages_fraction > 0 && spec->messages.n > 0);
}

static void
look_at_class (Links *self, const FabLinkClass *link_class, const FabCatalog *catalog)
{
  const FabLinkSpec *spec = fab_catalog_link (catalog, link_class->name);

  if (spec == NULL)
    return;
  self->evidence = MAX (self->evidence, spec->evidence);
  self->is_calibrated = self->is_calibrated || fab_link_is_unsure (spec);
}

static void
look_at (Links *self, const FabGraph *graph, FabLinkId id)
{
  const FabLink *link = fab_graph_link (graph, id);
  const FabLinkClass *link_class = fab_graph_link_class (graph, id);

  self->classes[link->class_index] = link_class;
  switch ((FabJoins) link_class->technology->joins) {
  case FAB_JOINS_ETHERNET:
  case FAB_JOINS_MACHINES: take_first (&self->port, id); break;
  case FAB_JOINS_ACCELERATORS:
    if (!is_of_accelerator (graph, link)) /* between sockets */
      break;
    take_first (&self->accelerators, id);
    if (is_switch (graph, link->src) || is_switch (graph, link->dst)) {
      self->has_switch = TRUE;
      self->reduces = self->reduces || link_class->has_reduction;
    }
    break;
  case FAB_JOINS_DEVICES: take_first (&self->bus, id); break;
  case FAB_JOINS_MEMORY: self->has_memory = TRUE; break;
  case FAB_JOINS_COHERENTLY:
  case FAB_JOINS_SOCKETS:
  case FAB_JOINS_DRIVES:
  default: break;
  }
}

/* More accelerators than one node holds share their switches. */
static gboolean
is_rack (const FabScenario *scenario)
{
  enum { MOST_IN_A_NODE = 16 };
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (scenario),
                                              fab_scenario_spec (scenario)->cluster.node);

  return node != NULL
      && fab_node_spec_n_parts (node, FAB_PART_ACCELERATOR) * fab_node_spec_sharers (node) > MOST_IN_A_NODE;
}

/* In small letters, with a dash for what is no letter or digit. */
static void
append_plain (GString *out, const char *text)
{
  for (; *text != '\0'; text++)
    g_string_append_c (out, g_ascii_isalnum (*text) ? g_ascii_tolower (*text) : '-');
}

static void
name_between (GString *out, const FabGraph *graph, FabLinkId id)
{
  const double bits_per_gbit = 1e9 / 8;
  const FabLink *link = fab_graph_link (graph, id);

  append_plain (out, fab_graph_link_class (graph, id)->technology->name);
  g_string_append_printf (out, "-%.0f",
                          (double) link->rate_bytes_per_s / (double) link->count / bits_per_gbit);
}

static void
name_inside (GString *out, const FabScenario *scenario, const FabCluster *cluster, const Links *links,
             const FabTechnology *technology)
{
  append_plain (out, technology->name);
  g_string_append_c (out, '-');
  append_plain (out, cluster->architecture != NULL ? cluster->architecture : "unknown");
  g_string_append (out, links->accelerators == FAB_NO_LINK ? (links->has_memory ? "-host" : "-direct")
                        : !links->has_switch               ? "-direct"
                        : is_rack (scenario)               ? "-rack"
                        : links->reduces                   ? "-reducing-switch"
                                                           : "-switch");
}

FabPlanKind
fab_plan_kind (const FabScenario *scenario, const FabCluster *cluster, const FabCollectivePlan *plan)
{
  const FabGraph *graph = cluster->graph;
  g_autoptr (GString) family = g_string_new (NULL);
  Links links = { .port = FAB_NO_LINK, .accelerators = FAB_NO_LINK, .bus = FAB_NO_LINK };
  FabPlanKind kind = { .operations = fab_plan_operations (plan->op),
                       .library = fab_scenario_spec (scenario)->collectives.info->name };

  for (guint i = 0; i < plan->footprint->n; i++)
    look_at (&links, graph, plan->footprint->links[i]);
  for (guint i = 0; i < FAB_LINK_CLASS_END; i++)
    if (links.classes[i] != NULL)
      look_at_class (&links, links.classes[i], fab_scenario_catalog (scenario));
  kind.place = links.port != FAB_NO_LINK ? FAB_PLAN_BETWEEN : FAB_PLAN_INSIDE;
  FabLinkId named = links.port != FAB_NO_LINK         ? links.port
                  : links.accelerators != FAB_NO_LINK ? links.accelerators
                  : links.bus != FAB_NO_LINK          ? links.bus
                                                      : plan->footprint->binding_link;
  if (kind.place == FAB_PLAN_BETWEEN)
    name_between (family, graph, named);
  else
    name_inside (family, scenario, cluster, &links, fab_graph_link_class (graph, named)->technology);
  g_strlcpy (kind.family, family->str, sizeof kind.family);
  kind.evidence = links.evidence;
  kind.is_calibrated = links.is_calibrated;
  return kind;
}

const FabPlanKind *
fab_plan_kind_kept (GHashTable *kinds, const FabScenario *scenario, const FabCluster *cluster,
                    const FabCollectivePlan *plan)
{
  FabPlanKind *kind = g_hash_table_lookup (kinds, plan->footprint);

  if (kind == NULL) {
    kind = g_new (FabPlanKind, 1);
    *kind = fab_plan_kind (scenario, cluster, plan);
    g_hash_table_insert (kinds, (gpointer) plan->footprint, kind);
  }
  kind->operations = fab_plan_operations (plan->op); /* operations may share a footprint */
  return kind;
}
