/* SPDX-License-Identifier: Apache-2.0 */
/* topo_text.c - a machine for a terminal: a node as an indented tree with the links across as groups, and its fabric as
 * rows of boxes. */
#include <math.h>
#include <string.h>

#include "cli/hardware/cmd_topo.h"
#include "cli/verdict.h"
#include "sim/base/units.h"

enum { MAX_PAIRS = 16 };

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

/* --- across --- */

static void
print_across (const FabTopoPicture *picture)
{
  const GArray *bundles = picture->across;

  if (bundles->len > 0)
    g_print ("\nacross, each:\n");
  for (guint i = 0; i < bundles->len; i++) {
    const FabTopoBundle *bundle = &g_array_index (bundles, FabTopoBundle, i);
    guint n_shown = MIN (bundle->pairs->len, MAX_PAIRS);

    g_print ("  %s\n   ", bundle->name);
    for (guint k = 0; k < n_shown; k++)
      g_print (" %s", (const char *) g_ptr_array_index (bundle->pairs, k));
    g_print ("%s\n", bundle->n > n_shown ? " ..." : "");
    if (bundle->n > n_shown)
      g_print ("    %u in all\n", bundle->n);
  }
}

static void
print_gdr (const FabTopoPicture *picture)
{
  const FabCluster *cluster = picture->topology->cluster;

  if (picture->n_beyond_gdr > 0)
    g_print (
        "\nThe NIC of %u of %u GPUs is farther away than GPUDirect RDMA allows (cluster.gdr: %s), so their bytes to\n"
        "other nodes go through host memory.\n",
        picture->n_beyond_gdr, cluster->gpus_per_node, fab_reach_names[cluster->gdr]);
}

static void
print_node (const FabTopoPicture *picture)
{
  const FabTopology *topology = picture->topology;
  const FabCluster *cluster = topology->cluster;

  g_print ("%u x %s, %u %s; rates are line rates, one direction\n\n", cluster->gpus_per_node,
           picture->node->accelerator, cluster->nics_per_node,
           fab_plural (cluster->nics_per_node, "NIC", "NICs"));
  if (picture->units->n > 1)
    g_print ("%u identical %s with %u %s and %u %s each. This is the first; --all shows every one.\n\n",
             picture->units->n, topology->n_machines > 1 ? "machines" : "trays",
             cluster->gpus_per_node / picture->units->n,
             fab_plural (cluster->gpus_per_node / picture->units->n, "GPU", "GPUs"),
             cluster->nics_per_node / picture->units->n,
             fab_plural (cluster->nics_per_node / picture->units->n, "NIC", "NICs"));
  for (guint i = 0; i < topology->places->len; i++) {
    const FabPlace *place = &g_array_index (topology->places, FabPlace, i);

    if (fab_topo_is_drawn (picture->units, place->vertex))
      print_place (topology, place);
  }
  print_across (picture);
  print_gdr (picture);
}

/* --- boxes --- */

enum { MOST_BOXES = 4, BOX = 11, GAP = 2, DOTS = 7, LEFT = 2 };

/* Which members have boxes, and where these are. */
typedef struct {
  guint n, n_members;
  guint members[MOST_BOXES];
  gboolean has_dots; /* before the last one */
} Boxes;

static Boxes
boxes_of (guint n_members)
{
  Boxes boxes = { .n = MIN (n_members, MOST_BOXES),
                  .n_members = n_members,
                  .has_dots = n_members > MOST_BOXES };

  for (guint i = 0; i < boxes.n; i++)
    boxes.members[i] = i;
  if (boxes.has_dots)
    boxes.members[MOST_BOXES - 1] = n_members - 1;
  return boxes;
}

/* Column of the middle of a box. */
static guint
middle_of (const Boxes *boxes, guint i)
{
  guint gap = boxes->has_dots && i + 1 == boxes->n ? DOTS - GAP : 0;

  return LEFT + i * (BOX + GAP) + gap + BOX / 2;
}

/* One line of boxes: `left` and `right` end each, `between` joins neighbours. */
static void
print_boxes (const Boxes *boxes, const char *name, guint first, guint step, gboolean is_edge, char between)
{
  GString *line = g_string_new (NULL);

  for (guint i = 0; i < boxes->n; i++) {
    guint start = middle_of (boxes, i) - BOX / 2;
    gboolean has_dots = boxes->has_dots && i + 1 == boxes->n;
    g_autofree char *label = boxes->n_members == 1 && first == 0 && step == 1
                               ? g_strdup (name)
                               : g_strdup_printf ("%s%u", name, first + boxes->members[i] * step);
    g_autofree char *cut = g_strndup (label, BOX - 2);
    guint before = (guint) (BOX - 2 - strlen (cut)) / 2;

    if (has_dots && !is_edge)
      g_string_append_printf (line, "%c ... %c", between, between);
    while (line->len < start)
      g_string_append_c (line, i > 0 && !is_edge ? between : ' ');
    if (is_edge)
      g_string_append (line, "+---------+");
    else
      g_string_append_printf (line, "|%*s%s%*s|", (int) before, "", cut,
                              (int) (BOX - 2 - strlen (cut) - before), "");
  }
  g_print ("%s\n", line->str);
  g_string_free (line, TRUE);
}

/* A line below boxes: a bar below each, or one line that joins them. */
static void
print_bars (const Boxes *boxes, gboolean is_joined)
{
  g_autoptr (GString) line = g_string_new (NULL);

  for (guint i = 0; i < boxes->n; i++) {
    while (line->len < middle_of (boxes, i))
      g_string_append_c (line, is_joined && i > 0 ? '-' : ' ');
    g_string_append_c (line, is_joined ? '+' : '|');
  }
  g_print ("%s\n", line->str);
}

static void
print_row_text (const FabTopoRow *row)
{
  g_autofree char *text = fab_topo_row_text (row), *uplinks = fab_topo_uplinks_text (row);

  g_print ("  %s\n", text);
  if (uplinks != NULL)
    g_print ("  %s\n", uplinks);
  if (row->inside != NULL)
    g_print ("  %s\n", row->inside);
  if (row->across != NULL)
    g_print ("  %s\n", row->across);
}

/* Rows of routers along the second axis, of the first plane. */
static void
print_torus (const FabTopoFabric *fabric, const FabTopoRow *row)
{
  Boxes columns = boxes_of (fabric->sizes[0]), lines = boxes_of (fabric->sizes[1]);

  for (guint i = 0; i < lines.n; i++) {
    guint first = lines.members[i] * fabric->sizes[0];

    if (i > 0)
      print_bars (&columns, FALSE);
    if (lines.has_dots && i + 1 == lines.n)
      g_print ("%*s...\n", (int) middle_of (&columns, 0) - 1, "");
    print_boxes (&columns, row->name, first, 1, TRUE, ' ');
    print_boxes (&columns, row->name, first, 1, FALSE, '-');
    print_boxes (&columns, row->name, first, 1, TRUE, ' ');
  }
  g_print ("  the last of every axis is joined to the first\n");
}

/* What joins the row above to this one, or to it past another row. */
static void
print_joins (const FabTopoFabric *fabric, guint lower)
{
  const FabTopoRow *above = &g_array_index (fabric->rows, FabTopoRow, lower - 1);
  const FabTopoRow *row = &g_array_index (fabric->rows, FabTopoRow, lower);
  Boxes upper_boxes = boxes_of (fabric->sizes[0] > 0 ? fabric->sizes[0] : above->n),
        boxes = boxes_of (row->n);
  gboolean is_mesh = FALSE;

  for (guint i = 0; i < fabric->joins->len; i++)
    is_mesh = is_mesh
           || (g_array_index (fabric->joins, FabTopoJoin, i).lower == lower
               && g_array_index (fabric->joins, FabTopoJoin, i).is_mesh);
  print_bars (&upper_boxes, FALSE);
  if (is_mesh || upper_boxes.n != boxes.n)
    print_bars (middle_of (&upper_boxes, upper_boxes.n - 1) > middle_of (&boxes, boxes.n - 1) ? &upper_boxes
                                                                                              : &boxes,
                TRUE);
  for (guint i = 0; i < fabric->joins->len; i++) {
    const FabTopoJoin *join = &g_array_index (fabric->joins, FabTopoJoin, i);

    if (join->lower == lower)
      g_print ("  %*s|  %s\n", (int) middle_of (&boxes, 0) - 2, "", join->text);
  }
  print_bars (&boxes, FALSE);
}

static void
print_summary (const FabTopoPicture *picture)
{
  const FabBisection *bisection = &picture->bisection;

  g_print ("\n  injection       %.6g GB/s, all NICs of half the nodes, one direction\n"
           "  bisection       %.6g GB/s, blocks of %u %s\n"
           "  halves          %.6g GB/s, first half to second\n",
           bisection->injection_bytes_per_s / 1e9, bisection->bisection_bytes_per_s / 1e9,
           bisection->worst_block, fab_plural (bisection->worst_block, "node", "nodes"),
           bisection->first_half_bytes_per_s / 1e9);
  if (isfinite (bisection->oversubscription))
    g_print ("  oversubscribed  %.4g : 1\n", bisection->oversubscription);
  else
    g_print ("  oversubscribed  without limit, because no link crosses\n");
}

static void
print_fabric (const FabTopoPicture *picture)
{
  const FabCluster *cluster = picture->topology->cluster;
  const FabTopoFabric *fabric = picture->fabric;

  g_autofree char *ports = cluster->nic_ports > 1 ? g_strdup_printf (" of %u ports", cluster->nic_ports)
                                                  : NULL;

  g_print ("fabric %s of %u %s, %u %s%s each\n", picture->kind, cluster->n_nodes,
           fab_plural (cluster->n_nodes, "node", "nodes"), cluster->nics_per_node,
           fab_plural (cluster->nics_per_node, "NIC", "NICs"), ports != NULL ? ports : "");
  if (fabric->n_networks > 1)
    g_print ("%u networks that are connected only through nodes\n", fabric->n_networks);
  if (fabric->has_rails && cluster->nics_per_board > 0)
    g_print ("rails: NIC k of each board of %u NICs connects to a switch of rail k\n",
             cluster->nics_per_board);
  else if (fabric->has_rails)
    g_print ("rails: NIC k of a node connects to a switch of rail k\n");
  g_print ("\n");
  for (guint r = 0; r < fabric->rows->len; r++) {
    const FabTopoRow *row = &g_array_index (fabric->rows, FabTopoRow, r);
    Boxes boxes = boxes_of (row->n);

    if (r > 0)
      print_joins (fabric, r);
    print_row_text (row);
    if (r == 0 && fabric->sizes[0] > 0) {
      print_torus (fabric, row);
      continue;
    }
    print_boxes (&boxes, row->name, 0, 1, TRUE, ' ');
    print_boxes (&boxes, row->name, 0, 1, FALSE, row->across != NULL ? '-' : ' ');
    print_boxes (&boxes, row->name, 0, 1, TRUE, ' ');
  }
  print_summary (picture);
}

void
fab_topo_print_text (const FabTopoPicture *picture)
{
  g_autofree char *design = fab_topo_design_text (picture);

  if (design != NULL)
    g_print ("%s\n", design);
  g_print ("%s: %s\n", picture->node->name,
           picture->node->summary ? picture->node->summary : "a node of its own");
  if (picture->parts.has_node)
    print_node (picture);
  if (picture->fabric != NULL)
    g_print ("\n");
  if (picture->fabric != NULL) {
    g_autoptr (GString) findings = g_string_new (NULL);

    print_fabric (picture);
    for (guint i = 0; i < picture->notes->len; i++)
      g_print ("%s  %s\n", i == 0 ? "\n" : "", (const char *) picture->notes->pdata[i]);
    if (fab_verdict_n (picture->verdict) > 0)
      fab_cli_append_findings (findings, picture->verdict);
    g_print ("%s", findings->str);
  }
}
