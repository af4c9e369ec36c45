/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_topo.c - `fabricast topo`: what a machine looks like inside, and what its fabric carries. */
#include <string.h>

#include "cli/cli.h"
#include "cli/hall.h"
#include "cli/topo.h"
#include "sim/base/error.h"

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
  { "text", fab_topo_print_text }, { "matrix", fab_topo_print_matrix }, { "dot", fab_topo_print_dot },
  { "svg", fab_topo_print_svg },   { "json", fab_topo_print_json },
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
  FabHallRequest request = { o->node, o->nodes, 0, edits };
  g_autoptr (FabHall) machine = catalog != NULL ? fab_cli_hall (&request, path, catalog, error) : NULL;
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
