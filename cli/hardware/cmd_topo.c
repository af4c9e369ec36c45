/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_topo.c - `fabricast topo`: what a machine looks like inside, and what its fabric carries. */
#include "cli/hardware/cmd_topo.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/testbed.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/version.h"

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

/* Rows of what is alike, the highest first, with the fewest and the most ports of a member. */
static void
add_rows (FabJson *json, const FabTopoFabric *fabric)
{
  fab_json_begin_array (json, "rows");
  for (guint i = 0; i < fabric->rows->len; i++) {
    const FabTopoRow *row = &g_array_index (fabric->rows, FabTopoRow, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", row->name);
    fab_json_add_whole (json, "members", row->n);
    if (row->level > 0) {
      fab_json_add_whole (json, "ports_down_least", row->n_down_least);
      fab_json_add_whole (json, "ports_down", row->n_down);
      fab_json_add_whole (json, "ports_up_least", row->n_up_least);
      fab_json_add_whole (json, "ports_up", row->n_up);
      fab_json_add_whole (json, "with_all_ports_up", row->n_with_all_up);
    }
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_fabric (FabJson *json, const FabTopoPicture *picture)
{
  const GArray *tiers = picture->tiers;

  fab_json_begin_object (json, "fabric");
  fab_json_add_text (json, "kind", picture->kind);
  fab_json_add_whole (json, "nodes", picture->topology->cluster->n_nodes);
  fab_json_begin_array (json, "tiers");
  for (guint i = 0; i < tiers->len; i++) {
    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", g_array_index (tiers, FabTopoTier, i).name);
    fab_json_add_whole (json, "switches", g_array_index (tiers, FabTopoTier, i).n);
    fab_json_end (json);
  }
  fab_json_end (json);
  if (picture->fabric != NULL)
    add_rows (json, picture->fabric);
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
  fab_json_add_text (json, "version", fab_version ());
  fab_json_add_text (json, "node", picture->node->name);
  fab_json_begin_array (json, "vertices");
  for (guint i = 0; i < topology->places->len; i++)
    add_place (json, topology, &g_array_index (topology->places, FabPlace, i));
  fab_json_end (json);
  add_links (json, topology);
  add_matrix (json, topology);
  if (topology->cluster->n_nodes > 1)
    add_fabric (json, picture);
  if (picture->fabric != NULL)
    fab_verdict_add_json (picture->verdict, json, "verdict");
  fab_json_end (json);
  g_autofree char *text = fab_json_finish (json);
  g_print ("%s", text);
}

typedef struct {
  char *format_name, *node, *design, *only;
  char **sets;
  gint64 nodes, units;
  gboolean all, check;
} TopoOptions;

typedef struct {
  const char *name;
  void (*print) (const FabTopoPicture *picture);
} TopoFormat;

static const TopoFormat formats[] = {
  { "text", fab_topo_print_text }, { "matrix", topo_print_matrix }, { "dot", fab_topo_print_dot },
  { "svg", fab_topo_print_svg },   { "json", topo_print_json },
};

static const FabUsage usage = {
  .arguments = "[SCENARIO]",
  .summary =
      "Shows a node of the catalogue or of a scenario: the tree below each socket, and the links across. For\n"
      "several nodes it also shows the fabric: its leaves, spines, rails or groups of routers, their number,\n"
      "their links and their rates. Identical parts are drawn once or a few times.\n\n"
      "A design (--design) is a machine as it is sold: beside its fabric stands what its document lists.\n\n"
      "--check names the cables that are missing, slow, crossed or in the wrong place, the worst first: what most\n"
      "of their peers have is usual. SCENARIO may then be a text of a network that `import` reads, such as that of\n"
      "ibnetdiscover, with names and ports as the text has them; - is standard input. It ends with 1 where it\n"
      "finds any.\n\n"
      "The output is text, the matrix that `nvidia-smi topo -m` would print on the machine, a graph for\n"
      "Graphviz, a drawing (SVG), or JSON.",
  .examples = "  fabricast topo --node dgx-a100\n"
              "  fabricast topo --node dgx-h100 --format matrix\n"
              "  fabricast topo --node dgx-a100 --nodes 16 --format json\n"
              "  fabricast topo --node dgx-a100 --format svg > dgx-a100.svg\n"
              "  fabricast topo --node gb200-nvl72\n"
              "  fabricast topo --design superpod-h100 --units 4 --only fabric --format svg > superpod.svg\n"
              "  fabricast topo scenarios/fabric-ddp-ecmp.yaml --only fabric\n"
              "  fabricast topo scenarios/fabric-ddp-ecmp.yaml --check\n",
  .max_rest = 1,
};

static const TopoFormat *
find_format (const char *name, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (strcmp (formats[i].name, name != NULL ? name : "text") == 0)
      return &formats[i];
  fab_throw (error, FAB_ERROR_INPUT, "--format %s: the formats are text, matrix, dot, svg and json", name);
  return NULL;
}

/* Checks --only, and says whether it is the node, the fabric or neither. */
static gboolean
find_parts (const TopoOptions *o, const FabCluster *cluster, gboolean *has_node, gboolean *has_fabric,
            GError **error)
{
  *has_node = g_strcmp0 (o->only, "fabric") != 0;
  *has_fabric = g_strcmp0 (o->only, "node") != 0 && cluster->n_nodes > 1;
  if (o->only != NULL && *has_node && strcmp (o->only, "node") != 0)
    return fab_throw (error, FAB_ERROR_INPUT, "--only %s: the choices are node and fabric", o->only);
  return *has_node || *has_fabric
      || fab_throw (error, FAB_ERROR_INPUT,
                    "--only fabric: one node has no fabric; give --nodes or a scenario of several nodes");
}

static gboolean
is_units_good (const TopoOptions *o, GError **error)
{
  return o->units == 0 || (o->design != NULL && o->units > 0)
      || fab_throw (error, FAB_ERROR_INPUT, "--units needs --design NAME, and is 1 or more");
}

static FabTestbed *
make_machine (const TopoOptions *o, const char *path, const FabCatalog *catalog, GError **error)
{
  g_autoptr (FabEdits) edits = fab_edits_of ((const char *const *) o->sets);

  if (o->nodes != 0)
    fab_edits_ask (edits, "cluster.nodes", fab_value_count (o->nodes));
  FabTestbedRequest request = {
    .node = o->node, .nodes = o->nodes, .edits = edits, .design = o->design, .units = o->units
  };
  return is_units_good (o, error) ? fab_cli_testbed (&request, path, catalog, error) : NULL;
}

/* The cables of a network that a tool listed, or those of the machine. (transfer full) */
static FabCabling *
find_cables (const TopoOptions *o, const char *path, GError **error)
{
  gboolean is_network = o->node == NULL && o->design == NULL && fab_topo_is_network (path);
  g_autoptr (FabCatalog) catalog = is_network ? NULL : fab_cli_catalog (error);

  if (is_network && (o->sets != NULL || o->nodes != 0)) {
    fab_throw (error, FAB_ERROR_INPUT, "%s does not go with the text of a network, because it is no scenario",
               o->sets != NULL ? "--set" : "--nodes");
    return NULL;
  }
  if (is_network)
    return fab_topo_read_network (path, error);
  g_autoptr (FabTestbed) machine = catalog != NULL ? make_machine (o, path, catalog, error) : NULL;
  if (machine == NULL)
    return NULL;
  if (machine->plant->cluster.n_nodes < 2 || machine->plant->cluster.nics_per_node == 0) {
    fab_throw (
        error, FAB_ERROR_INPUT,
        "--check: one node has no fabric; give --nodes, a scenario of several nodes, or the text of a network");
    return NULL;
  }
  return fab_cabling_of_cluster (&machine->plant->cluster, path != NULL        ? path
                                                           : o->design != NULL ? o->design
                                                                               : o->node);
}

static FabExit
check (const TopoOptions *o, const char *path, GError **error)
{
  gboolean is_json = g_strcmp0 (o->format_name, "json") == 0;

  if (o->format_name != NULL && !is_json && strcmp (o->format_name, "text") != 0) {
    fab_throw (error, FAB_ERROR_INPUT, "--format %s: with --check the formats are text and json",
               o->format_name);
    return FAB_EXIT_INPUT;
  }
  if (o->only != NULL) {
    fab_throw (error, FAB_ERROR_INPUT, "--only does not go with --check, which looks at the fabric");
    return FAB_EXIT_INPUT;
  }
  g_autoptr (FabCabling) cabling = find_cables (o, path, error);
  if (cabling == NULL)
    return FAB_EXIT_INPUT;
  fab_topo_print_check (cabling, is_json, o->all);
  return cabling->findings->len > 0 ? FAB_EXIT_UNMET : FAB_EXIT_DONE;
}

static gboolean
topo (const TopoOptions *o, const char *path, GError **error)
{
  if (o->node == NULL && o->design == NULL && path != NULL && strcmp (path, "-") != 0
      && fab_topo_is_network (path))
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "%s is what a tool printed and no scenario; `fabricast topo %s --check` looks at its cables, and "
        "`fabricast import %s -o FILE` makes a scenario of it",
        path, path, path);
  const TopoFormat *format = find_format (o->format_name, error);
  g_autoptr (FabCatalog) catalog = format != NULL ? fab_cli_catalog (error) : NULL;
  g_autoptr (FabTestbed) machine = catalog != NULL ? make_machine (o, path, catalog, error) : NULL;
  gboolean has_node, has_fabric;

  if (machine == NULL || !find_parts (o, &machine->plant->cluster, &has_node, &has_fabric, error))
    return FALSE;
  const FabTopoParts parts = { has_node, has_fabric, o->all };
  g_autoptr (FabTopoPicture) picture = fab_topo_picture_new (machine->scenario, machine->plant, &parts);
  format->print (picture);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  TopoOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "node", 0, 0, G_OPTION_ARG_STRING, &o.node, "Node entry of the catalogue", "NAME" },
    { "nodes", 0, 0, G_OPTION_ARG_INT64, &o.nodes, "Number of nodes (default 1)", "N" },
    { "design", 0, 0, G_OPTION_ARG_STRING, &o.design, "Design of the catalogue, in place of a node", "NAME" },
    { "units", 0, 0, G_OPTION_ARG_INT64, &o.units, "Scalable units of the design (default 1)", "N" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override a key of the scenario; repeatable",
      "KEY=VALUE" },
    { "only", 0, 0, G_OPTION_ARG_STRING, &o.only, "node or fabric (default both)", "PART" },
    { "all", 0, 0, G_OPTION_ARG_NONE, &o.all, "Draw every part, also identical ones", NULL },
    { "check", 0, 0, G_OPTION_ARG_NONE, &o.check,
      "Name the cables that are unlike their peers; end with 1 where there are any", NULL },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), matrix, dot, svg or json",
      "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_parsed = fab_cli_parse (&usage, entries, &argc, &argv, &error);
  const char *path = is_parsed && argc > 1 ? argv[1] : NULL;
  FabExit code = !is_parsed              ? FAB_EXIT_INPUT
               : o.check                 ? check (&o, path, &error)
               : topo (&o, path, &error) ? FAB_EXIT_DONE
                                         : FAB_EXIT_INPUT;

  g_free (o.format_name);
  g_free (o.node);
  g_free (o.design);
  g_free (o.only);
  g_strfreev (o.sets);
  return code != FAB_EXIT_INPUT ? code : fab_cli_fail ("topo", error);
}

const FabCommand fab_command_topo = {
  .name = "topo",
  .summary = "Draw a machine and its network",
  .run = run,
};
