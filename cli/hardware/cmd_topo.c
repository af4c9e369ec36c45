/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_topo.c - `fabricast topo`: what a machine looks like inside, and what its fabric carries. */
#include "cli/hardware/cmd_topo.h"

#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/hardware/testbed.h"
#include "sim/base/error.h"
#include "sim/base/json.h"

/* The switches of the fabric that share a name: "leaf", "spine". */
typedef struct {
  char *name;
  guint n;
} FabTier;

/* A node as an indented tree, links across as groups, and the fabric's summary. */

enum { MAX_PAIRS = 16 };

char *
fab_topo_link_text (const FabGraph *graph, FabLinkId id)
{
  const FabLink *link = fab_graph_link (graph, id);
  const char *name = fab_graph_link_class (graph, id)->name;
  double GBps = (double) link->rate_bytes_per_s / 1e9;

  return link->count > 1 ? g_strdup_printf ("%u x %s, %.4g GB/s", link->count, name, GBps)
                         : g_strdup_printf ("%s, %.4g GB/s", name, GBps);
}

static void
print_place (const FabTopology *topology, const FabPlace *place)
{
  const FabGraph *graph = topology->cluster->graph;
  g_autofree char *name = fab_topology_name (topology, place->vertex);

  if (place->up == FAB_NO_LINK) {
    g_print ("%s\n", name);
    return;
  }
  g_autofree char *text = fab_topo_link_text (graph, place->up);
  g_print ("%*s%-*s  %s\n", (int) (2 * place->depth), "", (int) (22 - MIN (2 * place->depth, 16)), name,
           text);
}

/* "gpu" of "gpu3" and of "node0/gpu3". */
static char *
part_of (const char *path)
{
  const char *slash = strchr (path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  gsize length = strlen (name);

  while (length > 1 && g_ascii_isdigit (name[length - 1]))
    length--;
  return g_strndup (name, length);
}

/* Links of the same form between the same two parts. */
typedef struct {
  char *head;
  GString *pairs;
  guint n;
} Group;

static void
clear_group (gpointer data)
{
  Group *group = data;

  g_free (group->head);
  g_string_free (group->pairs, TRUE);
}

static void
add_to_group (GArray *groups, const char *head, const char *from, const char *to)
{
  Group *group = NULL;

  for (guint i = 0; i < groups->len && group == NULL; i++)
    if (strcmp (g_array_index (groups, Group, i).head, head) == 0)
      group = &g_array_index (groups, Group, i);
  if (group == NULL) {
    Group fresh = { g_strdup (head), g_string_new (NULL), 0 };

    g_array_append_val (groups, fresh);
    group = &g_array_index (groups, Group, groups->len - 1);
  }
  if (++group->n <= MAX_PAIRS)
    g_string_append_printf (group->pairs, " %s-%s", from, to);
}

static void
print_across (const FabTopology *topology)
{
  const FabGraph *graph = topology->cluster->graph;
  g_autoptr (GArray) groups = g_array_new (FALSE, FALSE, sizeof (Group));

  g_array_set_clear_func (groups, clear_group);
  for (guint i = 0; i < topology->across->len; i++) {
    FabLinkId id = g_array_index (topology->across, FabLinkId, i);
    const FabLink *link = fab_graph_link (graph, id);
    g_autofree char *from = fab_topology_name (topology, link->src);
    g_autofree char *to = fab_topology_name (topology, link->dst);
    g_autofree char *from_part = part_of (from), *to_part = part_of (to);
    g_autofree char *text = fab_topo_link_text (graph, id);
    g_autofree char *head = g_strdup_printf ("%s - %s: %s", from_part, to_part, text);

    add_to_group (groups, head, from, to);
  }
  if (groups->len > 0)
    g_print ("\nacross, each:\n");
  for (guint i = 0; i < groups->len; i++) {
    const Group *group = &g_array_index (groups, Group, i);

    g_print ("  %s\n   %s%s\n", group->head, group->pairs->str, group->n > MAX_PAIRS ? " ..." : "");
    if (group->n > MAX_PAIRS)
      g_print ("    %u in all\n", group->n);
  }
}

static void
clear_tier (gpointer data)
{
  g_free (((FabTier *) data)->name);
}

/* Returns the tiers in order of their first switch; the array frees what its rows own. (transfer full) */
static GArray *
topo_tiers (const FabGraph *graph)
{
  GArray *tiers = g_array_new (FALSE, FALSE, sizeof (FabTier));
  guint32 part = G_MAXUINT32;

  g_array_set_clear_func (tiers, clear_tier);
  for (FabVertexId id = 0; id < fab_graph_n_vertices (graph); id++) {
    const FabVertex *vertex = fab_graph_vertex (graph, id);

    if (vertex->node != FAB_NO_NODE || fab_topology_is_shared (graph, id))
      continue;
    if (tiers->len == 0 || vertex->part != part) {
      g_autofree char *name = fab_graph_vertex_name (graph, id);
      FabTier tier = { part_of (name), 0 };

      g_array_append_val (tiers, tier);
      part = vertex->part;
    }
    g_array_index (tiers, FabTier, tiers->len - 1).n++;
  }
  return tiers;
}

static void
print_fabric (const FabTopoPicture *picture)
{
  const FabCluster *cluster = picture->topology->cluster;
  const FabBisection *bisection = &picture->bisection;
  g_autoptr (GArray) tiers = topo_tiers (cluster->graph);

  g_print ("\nfabric of %u nodes, %u NICs each:", cluster->n_nodes, cluster->nics_per_node);
  for (guint i = 0; i < tiers->len; i++) {
    const FabTier *tier = &g_array_index (tiers, FabTier, i);

    g_print ("%s %u %s", i > 0 ? "," : "", tier->n, tier->name);
  }
  g_print ("\n  injection       %.6g GB/s, all NICs of half the nodes, one direction\n"
           "  bisection       %.6g GB/s, blocks of %u nodes\n"
           "  halves          %.6g GB/s, first half to second\n",
           bisection->injection_bytes_per_s / 1e9, bisection->bisection_bytes_per_s / 1e9,
           bisection->worst_block, bisection->first_half_bytes_per_s / 1e9);
  if (isfinite (bisection->oversubscription))
    g_print ("  oversubscribed  %.4g : 1\n", bisection->oversubscription);
  else
    g_print ("  oversubscribed  without limit: nothing crosses\n");
}

static void
topo_print_text (const FabTopoPicture *picture)
{
  const FabTopology *topology = picture->topology;
  const FabCluster *cluster = topology->cluster;

  g_print ("%s: %s\n%u x %s, %u NICs; rates are line rates, one direction\n\n", picture->node->name,
           picture->node->summary ? picture->node->summary : "a node of its own", cluster->gpus_per_node,
           picture->node->accelerator, cluster->nics_per_node);
  for (guint i = 0; i < topology->places->len; i++)
    print_place (topology, &g_array_index (topology->places, FabPlace, i));
  print_across (topology);
  if (cluster->n_nodes > 1)
    print_fabric (picture);
}

/* A node as `nvidia-smi topo -m` prints it: tabs between columns, legend below. */

static const char *const legend =
    "\nLegend:\n\n"
    "  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n"
    "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node\n"
    "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
    "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)\n"
    "  PIX  = Connection traversing at most a single PCIe bridge\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n";

/* Row or column i: GPUs first, then NICs. */
static FabVertexId
vertex_at (const FabCluster *cluster, guint i)
{
  return i < cluster->gpus_per_node ? cluster->gpus[i] : cluster->nics[i - cluster->gpus_per_node];
}

static char *
head_at (const FabCluster *cluster, guint i)
{
  return i < cluster->gpus_per_node ? g_strdup_printf ("GPU%u", i)
                                    : g_strdup_printf ("NIC%u", i - cluster->gpus_per_node);
}

static gboolean
is_in_legend (const char *label)
{
  static const char *const known[] = { "X", "SYS", "NODE", "PHB", "PXB", "PIX", "N/A", NULL };

  return g_strv_contains (known, label)
      || (g_str_has_prefix (label, "NV") && g_ascii_isdigit (label[strlen ("NV")]));
}

/* `others`: labels that NVIDIA's legend does not explain. */
static void
print_row (const FabTopology *topology, guint row, guint n, GHashTable *others)
{
  const FabCluster *cluster = topology->cluster;
  g_autofree char *head = head_at (cluster, row);

  g_print ("%s", head);
  for (guint column = 0; column < n; column++) {
    char *label = fab_topology_label (topology, vertex_at (cluster, row), vertex_at (cluster, column));

    g_print (row == column ? "\t %s " : "\t%s", label);
    if (is_in_legend (label))
      g_free (label);
    else
      g_hash_table_add (others, label); /* keeps it, or frees it when it has it */
  }
  if (row < cluster->gpus_per_node) {
    guint socket = fab_topology_socket_of (topology, vertex_at (cluster, row));
    g_autofree char *text = socket == G_MAXUINT ? g_strdup ("N/A") : g_strdup_printf ("%u", socket);

    g_print ("\tN/A\t%s\t\tN/A", text);
  }
  g_print ("\n");
}

static void
print_others (GHashTable *others)
{
  g_autoptr (GList) labels = g_list_sort (g_hash_table_get_keys (others), (GCompareFunc) strcmp);

  for (GList *label = labels; label != NULL; label = label->next)
    g_print ("  %-4s = Connection traversing links of that kind between accelerators only\n",
             (const char *) label->data);
}

static void
print_nics (const FabTopology *topology)
{
  const FabCluster *cluster = topology->cluster;

  if (cluster->nics_per_node == 0)
    return;
  g_print ("\nNIC Legend:\n\n");
  for (guint i = 0; i < cluster->nics_per_node; i++) {
    g_autofree char *name = fab_topology_name (topology, cluster->nics[i]);

    g_print ("  NIC%u: %s\n", i, name);
  }
}

static void
topo_print_matrix (const FabTopoPicture *picture)
{
  const FabCluster *cluster = picture->topology->cluster;
  guint n = cluster->gpus_per_node + cluster->nics_per_node;
  g_autoptr (GHashTable) others = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < n; i++) {
    g_autofree char *head = head_at (cluster, i);

    g_print ("\t%s", head);
  }
  g_print ("\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n");
  for (guint i = 0; i < n; i++)
    print_row (picture->topology, i, n, others);
  g_print ("%s", legend);
  print_others (others);
  print_nics (picture->topology);
}

/* A node for Graphviz: a cluster per socket, every link an edge with its name. */

static const char *const shapes[] = {
  [FAB_VERTEX_ACCELERATOR] = "box", [FAB_VERTEX_SWITCH] = "diamond", [FAB_VERTEX_NIC] = "house",
  [FAB_VERTEX_HOST] = "octagon",    [FAB_VERTEX_BRIDGE] = "ellipse", [FAB_VERTEX_MEMORY] = "note",
  [FAB_VERTEX_STORAGE] = "cylinder"
};

static char *
escaped (const char *text)
{
  GString *out = g_string_new (text);

  g_string_replace (out, "\\", "\\\\", 0);
  g_string_replace (out, "\"", "\\\"", 0);
  return g_string_free (out, FALSE);
}

static char *
quoted_name (const FabTopology *topology, FabVertexId vertex)
{
  g_autofree char *name = fab_topology_name (topology, vertex);
  g_autofree char *text = escaped (name);

  return g_strdup_printf ("\"%s\"", text);
}

static void
print_edge (const FabTopology *topology, FabLinkId id)
{
  const FabLink *link = fab_graph_link (topology->cluster->graph, id);
  g_autofree char *from = quoted_name (topology, link->src), *to = quoted_name (topology, link->dst);
  g_autofree char *text = fab_topo_link_text (topology->cluster->graph, id);
  g_autofree char *label = escaped (text);

  g_print ("  %s -- %s [label=\"%s\"];\n", to, from, label);
}

static void
print_vertices (const FabTopology *topology)
{
  guint n_roots = 0;

  for (guint i = 0; i < topology->places->len; i++) {
    const FabPlace *place = &g_array_index (topology->places, FabPlace, i);
    g_autofree char *name = quoted_name (topology, place->vertex);

    if (place->depth == 0)
      g_print ("%s  subgraph cluster%u {\n", n_roots > 0 ? "  }\n" : "", n_roots);
    n_roots += place->depth == 0;
    g_print ("    %s [shape=%s];\n", name,
             shapes[fab_graph_vertex (topology->cluster->graph, place->vertex)->kind]);
  }
  g_print ("  }\n");
}

static void
topo_print_dot (const FabTopoPicture *picture)
{
  const FabTopology *topology = picture->topology;
  g_autofree char *name = escaped (picture->node->name);

  g_print (
      "graph \"%s\" {\n  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=9];\n",
      name);
  print_vertices (topology);
  for (guint i = 0; i < topology->places->len; i++) {
    FabLinkId up = g_array_index (topology->places, FabPlace, i).up;

    if (up != FAB_NO_LINK)
      print_edge (topology, up);
  }
  for (guint i = 0; i < topology->across->len; i++)
    print_edge (topology, g_array_index (topology->across, FabLinkId, i));
  g_print ("}\n");
}

/* A node as vertices, links and matrix, and the fabric's summary, for programs. */

static const char *const kind_names[] = { [FAB_VERTEX_ACCELERATOR] = "accelerator",
                                          [FAB_VERTEX_SWITCH] = "switch",
                                          [FAB_VERTEX_NIC] = "nic",
                                          [FAB_VERTEX_HOST] = "host",
                                          [FAB_VERTEX_BRIDGE] = "bridge",
                                          [FAB_VERTEX_MEMORY] = "memory",
                                          [FAB_VERTEX_STORAGE] = "storage" };

static void
add_name (FabJson *json, const char *key, const FabTopology *topology, FabVertexId vertex)
{
  g_autofree char *name = fab_topology_name (topology, vertex);

  fab_json_add_text (json, key, name);
}

static void
add_place (FabJson *json, const FabTopology *topology, const FabPlace *place)
{
  const FabGraph *graph = topology->cluster->graph;
  guint socket = fab_topology_socket_of (topology, place->vertex);

  fab_json_begin_object (json, NULL);
  add_name (json, "name", topology, place->vertex);
  fab_json_add_text (json, "kind", kind_names[fab_graph_vertex (graph, place->vertex)->kind]);
  if (place->up != FAB_NO_LINK)
    add_name (json, "below", topology, fab_graph_link (graph, place->up)->dst);
  if (socket != G_MAXUINT)
    fab_json_add_whole (json, "socket", socket);
  fab_json_end (json);
}

static void
add_link (FabJson *json, const FabTopology *topology, FabLinkId id)
{
  const FabLink *link = fab_graph_link (topology->cluster->graph, id);
  const FabLinkClass *link_class = fab_graph_link_class (topology->cluster->graph, id);

  fab_json_begin_object (json, NULL);
  add_name (json, "from", topology, link->src);
  add_name (json, "to", topology, link->dst);
  fab_json_add_text (json, "link", link_class->name);
  fab_json_add_text (json, "technology", link_class->technology->name);
  fab_json_add_whole (json, "count", link->count);
  fab_json_add_real (json, "rate_GBps", (double) link->rate_bytes_per_s / 1e9);
  fab_json_add_real (json, "latency_ns", (double) link->latency_ps / 1e3);
  fab_json_end (json);
}

static void
add_links (FabJson *json, const FabTopology *topology)
{
  fab_json_begin_array (json, "links");
  for (guint i = 0; i < topology->places->len; i++) {
    FabLinkId up = g_array_index (topology->places, FabPlace, i).up;

    if (up != FAB_NO_LINK)
      add_link (json, topology, up);
  }
  for (guint i = 0; i < topology->across->len; i++)
    add_link (json, topology, g_array_index (topology->across, FabLinkId, i));
  fab_json_end (json);
}

/* GPU rows and columns first, then NICs. */
static void
add_matrix (FabJson *json, const FabTopology *topology)
{
  const FabCluster *cluster = topology->cluster;
  guint n_gpus = cluster->gpus_per_node, n = n_gpus + cluster->nics_per_node;

  fab_json_begin_array (json, "matrix");
  for (guint i = 0; i < n; i++) {
    fab_json_begin_array (json, NULL);
    for (guint j = 0; j < n; j++) {
      g_autofree char *label = fab_topology_label (topology,
                                                   i < n_gpus ? cluster->gpus[i] : cluster->nics[i - n_gpus],
                                                   j < n_gpus ? cluster->gpus[j] : cluster->nics[j - n_gpus]);
      fab_json_add_text (json, NULL, label);
    }
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_fabric (FabJson *json, const FabTopoPicture *picture)
{
  g_autoptr (GArray) tiers = topo_tiers (picture->topology->cluster->graph);

  fab_json_begin_object (json, "fabric");
  fab_json_add_whole (json, "nodes", picture->topology->cluster->n_nodes);
  fab_json_begin_array (json, "tiers");
  for (guint i = 0; i < tiers->len; i++) {
    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", g_array_index (tiers, FabTier, i).name);
    fab_json_add_whole (json, "switches", g_array_index (tiers, FabTier, i).n);
    fab_json_end (json);
  }
  fab_json_end (json);
  fab_json_add_real (json, "injection_GBps", picture->bisection.injection_bytes_per_s / 1e9);
  fab_json_add_real (json, "bisection_GBps", picture->bisection.bisection_bytes_per_s / 1e9);
  fab_json_add_real (json, "halves_GBps", picture->bisection.first_half_bytes_per_s / 1e9);
  fab_json_add_whole (json, "worst_block", picture->bisection.worst_block);
  if (picture->bisection.bisection_bytes_per_s > 0)
    fab_json_add_real (json, "oversubscription", picture->bisection.oversubscription);
  fab_json_end (json);
}

static void
topo_print_json (const FabTopoPicture *picture)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  const FabTopology *topology = picture->topology;

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "version", FAB_VERSION);
  fab_json_add_text (json, "node", picture->node->name);
  fab_json_begin_array (json, "vertices");
  for (guint i = 0; i < topology->places->len; i++)
    add_place (json, topology, &g_array_index (topology->places, FabPlace, i));
  fab_json_end (json);
  add_links (json, topology);
  add_matrix (json, topology);
  if (topology->cluster->n_nodes > 1)
    add_fabric (json, picture);
  fab_json_end (json);
  g_autofree char *text = fab_json_finish (json);
  g_print ("%s", text);
}

typedef struct {
  char *format_name, *node;
  char **sets;
  gint64 nodes;
} TopoOptions;

typedef struct {
  const char *name;
  void (*print) (const FabTopoPicture *picture);
} TopoFormat;

static const TopoFormat formats[] = {
  { "text", topo_print_text },   { "matrix", topo_print_matrix }, { "dot", topo_print_dot },
  { "svg", fab_topo_print_svg }, { "json", topo_print_json },
};

static const FabUsage usage = {
  .arguments = "[SCENARIO]",
  .summary =
      "Shows a node of the catalogue or of a scenario: the tree below each socket, the links across, and over\n"
      "several nodes what the fabric carries. As text, as the matrix that `nvidia-smi topo -m` would print on\n"
      "the machine, for Graphviz, as a drawing (SVG), or as JSON.",
  .examples = "  fabricast topo --node dgx-a100\n"
              "  fabricast topo --node dgx-h100 --format matrix\n"
              "  fabricast topo --node dgx-a100 --nodes 16 --format json\n"
              "  fabricast topo --node dgx-a100 --format svg > dgx-a100.svg\n"
              "  fabricast topo scenarios/ddp-2b-4nodes-400g.yaml\n",
  .max_rest = 1,
};

static const TopoFormat *
find_format (const char *name, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (strcmp (formats[i].name, name != NULL ? name : "text") == 0)
      return &formats[i];
  fab_throw (error, FAB_ERROR_INPUT, "--format %s: there are text, matrix, dot, svg and json", name);
  return NULL;
}

static gboolean
topo (const TopoOptions *o, const char *path, GError **error)
{
  const TopoFormat *format = find_format (o->format_name, error);
  g_autoptr (FabCatalog) catalog = format != NULL ? fab_cli_catalog (error) : NULL;
  g_autoptr (FabEdits) edits = fab_edits_of ((const char *const *) o->sets);
  FabTestbedRequest request = { o->node, o->nodes, 0, edits };
  g_autoptr (FabTestbed) machine = catalog != NULL ? fab_cli_testbed (&request, path, catalog, error) : NULL;
  const FabCluster *cluster;

  if (machine == NULL)
    return FALSE;
  cluster = &machine->plant->cluster;
  g_autoptr (FabTopology) topology = fab_topology_new (cluster);
  FabTopoPicture picture = {
    fab_catalog_node (fab_scenario_catalog (machine->scenario),
                      fab_scenario_spec (machine->scenario)->cluster.node),
    topology, fab_bisection_of (cluster->graph, cluster->nics, cluster->n_nodes, cluster->nics_per_node)
  };
  format->print (&picture);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  TopoOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "node", 0, 0, G_OPTION_ARG_STRING, &o.node, "Node entry of the catalogue", "NAME" },
    { "nodes", 0, 0, G_OPTION_ARG_INT64, &o.nodes, "Number of nodes (default 1)", "N" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override a key of the scenario; repeatable",
      "KEY=VALUE" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), matrix, dot, svg or json",
      "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && topo (&o, argc > 1 ? argv[1] : NULL, &error);

  g_free (o.format_name);
  g_free (o.node);
  g_strfreev (o.sets);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("topo", error);
}

const FabCommand fab_command_topo = {
  .name = "topo",
  .summary = "Show a machine: tree, nvidia-smi matrix, drawing, bisection",
  .run = run,
};
