/* SPDX-License-Identifier: Apache-2.0 */
/* topo_svg.c - a node as a drawing: sockets above, what hangs below in columns, accelerator switches at the
 * bottom. */
#include <string.h>

#include "cli/hardware/cmd_topo.h"

enum { COLUMN = 78, ROW = 92, MARGIN = 30, TITLE = 40, BOX_WIDTH = 68, BOX_HEIGHT = 34, LEGEND_LINE = 20 };

typedef struct {
  double x, y; /* of the centre */
  double half_width;

} Spot;

typedef struct {
  const FabTopology *topology;
  Spot *spots; /* by vertex */
  guint n_columns, n_rows;
  GPtrArray *forms; /* text of every kind of link, in the order of their colours */
} Drawing;

static const char *const colours[] = { "#5b6770", "#2a9d4b", "#c2571a", "#3564b0",
                                       "#9b3fa8", "#b08a00", "#0f8f8f", "#b3324a" };

static const char *const fills[] = {
  [FAB_VERTEX_ACCELERATOR] = "#dff2df", [FAB_VERTEX_SWITCH] = "#fdeeda", [FAB_VERTEX_NIC] = "#dde9fa",
  [FAB_VERTEX_HOST] = "#eeeeee",        [FAB_VERTEX_BRIDGE] = "#f5f5f5", [FAB_VERTEX_MEMORY] = "#f3e6f7",
  [FAB_VERTEX_STORAGE] = "#e8e2d4"
};

static const FabPlace *
place_at (const Drawing *drawing, guint i)
{
  return &g_array_index (drawing->topology->places, FabPlace, i);
}

static gboolean
is_leaf (const Drawing *drawing, guint i)
{
  return i + 1 == drawing->topology->places->len
      || place_at (drawing, i + 1)->depth <= place_at (drawing, i)->depth;
}

/* A switch that hangs nowhere joins accelerators: it goes below them. */
static gboolean
is_below (const Drawing *drawing, guint i)
{
  const FabPlace *place = place_at (drawing, i);

  return place->depth == 0 && is_leaf (drawing, i)
      && fab_graph_vertex (drawing->topology->cluster->graph, place->vertex)->kind == FAB_VERTEX_SWITCH;
}

static Spot
spot_at (double column, guint row)
{
  return (Spot){ MARGIN + (column + 0.5) * COLUMN, TITLE + (row + 0.5) * ROW, BOX_WIDTH / 2.0 };
}

/* Leaves side by side in the last row of the tree, the others above the middle of what hangs below them. */
static void
place_tree (Drawing *drawing)
{
  guint n = drawing->topology->places->len, deepest = 0;

  for (guint i = 0; i < n; i++)
    deepest = MAX (deepest, place_at (drawing, i)->depth);
  for (guint i = 0; i < n; i++)
    if (is_leaf (drawing, i) && !is_below (drawing, i))
      drawing->spots[place_at (drawing, i)->vertex] = spot_at (drawing->n_columns++, deepest);
  for (guint i = n; i-- > 0;) {
    const FabPlace *place = place_at (drawing, i);
    double low = G_MAXDOUBLE, high = 0;

    if (is_leaf (drawing, i))
      continue;
    for (guint j = i + 1; j < n && place_at (drawing, j)->depth > place->depth; j++) {
      low = MIN (low, drawing->spots[place_at (drawing, j)->vertex].x);
      high = MAX (high, drawing->spots[place_at (drawing, j)->vertex].x);
    }
    drawing->spots[place->vertex] = spot_at (0, place->depth);
    drawing->spots[place->vertex].x = (low + high) / 2;
  }
  drawing->n_rows = deepest + 1;
}

static void
place_below (Drawing *drawing)
{
  guint n_below = 0, filled = 0;

  for (guint i = 0; i < drawing->topology->places->len; i++)
    n_below += is_below (drawing, i);
  if (n_below == 0)
    return;
  drawing->n_columns = MAX (drawing->n_columns, n_below);
  for (guint i = 0; i < drawing->topology->places->len; i++)
    if (is_below (drawing, i)) {
      double column = (filled++ + 0.5) * drawing->n_columns / n_below - 0.5;

      drawing->spots[place_at (drawing, i)->vertex] = spot_at (column, drawing->n_rows);
      drawing->spots[place_at (drawing, i)->vertex].half_width = (double) drawing->n_columns / n_below
                                                                   * COLUMN / 2
                                                               - (COLUMN - BOX_WIDTH) / 2.0;
    }
  drawing->n_rows++;
}

/* Index of the form among those seen so far. */
static guint
form_of (Drawing *drawing, FabLinkId link)
{
  g_autofree char *text = fab_topo_link_text (drawing->topology->cluster->graph, link);

  for (guint i = 0; i < drawing->forms->len; i++)
    if (strcmp (g_ptr_array_index (drawing->forms, i), text) == 0)
      return i;
  g_ptr_array_add (drawing->forms, g_steal_pointer (&text));
  return drawing->forms->len - 1;
}

/* Where a link from `other` meets a box that may be wide. */
static double
meeting_x (const Spot *box, const Spot *other)
{
  double slack = box->half_width - BOX_WIDTH / 2.0;

  return CLAMP (other->x, box->x - slack, box->x + slack);
}

/* Straight between rows; an arc between neighbours of a row, higher the farther they are. */
static void
draw_link (Drawing *drawing, FabLinkId id)
{
  const FabLink *link = fab_graph_link (drawing->topology->cluster->graph, id);
  const Spot *from = &drawing->spots[link->src], *to = &drawing->spots[link->dst];
  const char *colour = colours[form_of (drawing, id) % G_N_ELEMENTS (colours)];

  g_print ("<path d=\"M%.1f %.1f ", meeting_x (from, to), from->y);
  if ((int) from->y == (int) to->y) {
    double apart = ABS (from->x - to->x), way = from->y < TITLE + ROW ? -1 : 1;

    g_print ("Q%.1f %.1f ", (from->x + to->x) / 2, from->y + way * MIN (30 + apart / 6, 0.9 * ROW));
  } else {
    g_print ("L");
  }
  g_print ("%.1f %.1f\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"/>\n", meeting_x (to, from), to->y,
           colour, link->count > 1 ? "2.5" : "1.5");
}

static void
draw_vertex (const Drawing *drawing, const FabPlace *place)
{
  const Spot *spot = &drawing->spots[place->vertex];
  g_autofree char *name = fab_topology_name (drawing->topology, place->vertex);
  g_autofree char *text = g_markup_escape_text (name, -1);
  guint kind = fab_graph_vertex (drawing->topology->cluster->graph, place->vertex)->kind;

  g_print (
      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"4\" fill=\"%s\" stroke=\"#333\"/>\n",
      spot->x - spot->half_width, spot->y - BOX_HEIGHT / 2.0, 2 * spot->half_width, BOX_HEIGHT, fills[kind]);
  g_print ("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\"%s>%s</text>\n", spot->x, spot->y + 4,
           strlen (name) > 10 ? " font-size=\"9\"" : "", text);
}

static void
draw_legend (const Drawing *drawing, double top)
{
  for (guint i = 0; i < drawing->forms->len; i++) {
    double y = top + (i + 0.5) * LEGEND_LINE;
    g_autofree char *text = g_markup_escape_text (g_ptr_array_index (drawing->forms, i), -1);

    g_print ("<path d=\"M%d %.1f h40\" stroke=\"%s\" stroke-width=\"3\"/>\n", MARGIN, y,
             colours[i % G_N_ELEMENTS (colours)]);
    g_print ("<text x=\"%d\" y=\"%.1f\">%s, one direction</text>\n", MARGIN + 50, y + 4, text);
  }
}

/* Forms are collected first: the legend's height is part of the head. */
static void
collect_forms (Drawing *drawing)
{
  for (guint i = 0; i < drawing->topology->places->len; i++)
    if (place_at (drawing, i)->up != FAB_NO_LINK)
      form_of (drawing, place_at (drawing, i)->up);
  for (guint i = 0; i < drawing->topology->across->len; i++)
    form_of (drawing, g_array_index (drawing->topology->across, FabLinkId, i));
}

static void
draw_all (Drawing *drawing, const char *title)
{
  double width = 2.0 * MARGIN + MAX (drawing->n_columns, 6) * COLUMN;
  double top = TITLE + drawing->n_rows * ROW + ROW / 2.0;
  double height = top + drawing->forms->len * LEGEND_LINE + MARGIN;

  g_print (
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n",
      width, height, width, height);
  g_print ("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
           "<text x=\"%d\" y=\"20\" font-size=\"14\">%s</text>\n",
           MARGIN, title);
  for (guint i = 0; i < drawing->topology->across->len; i++)
    draw_link (drawing, g_array_index (drawing->topology->across, FabLinkId, i));
  for (guint i = 0; i < drawing->topology->places->len; i++)
    if (place_at (drawing, i)->up != FAB_NO_LINK)
      draw_link (drawing, place_at (drawing, i)->up);
  for (guint i = 0; i < drawing->topology->places->len; i++)
    draw_vertex (drawing, place_at (drawing, i));
  draw_legend (drawing, top);
  g_print ("</svg>\n");
}

void
fab_topo_print_svg (const FabTopoPicture *picture)
{
  guint n = fab_graph_n_vertices (picture->topology->cluster->graph);
  g_autofree Spot *spots = g_new0 (Spot, n + 1);
  g_autoptr (GPtrArray) forms = g_ptr_array_new_with_free_func (g_free);
  Drawing drawing = { picture->topology, spots, 0, 0, forms };
  g_autofree char *text = g_strdup_printf ("%s: %s", picture->node->name,
                                           picture->node->summary ? picture->node->summary
                                                                  : "a node of its own");
  g_autofree char *title = g_markup_escape_text (text, -1);

  place_tree (&drawing);
  place_below (&drawing);
  collect_forms (&drawing);
  draw_all (&drawing, title);
}
