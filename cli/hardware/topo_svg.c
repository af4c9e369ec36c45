/* SPDX-License-Identifier: Apache-2.0 */
/* topo_svg.c - a machine as a drawing: the fabric, and below it a node with its sockets above, what hangs below in
 * columns, and accelerator switches at the bottom. */
#include <string.h>

#include "cli/hardware/topo_svg.h"

enum {
  COLUMN = 96,
  ROW = 92,
  MARGIN = FAB_TOPO_SVG_MARGIN,
  TITLE = 40,
  GAP = 30,
  BOX_WIDTH = 86,
  BOX_HEIGHT = 34,
  LEGEND_LINE = 20,
  NOTE_LINE = 16,
  DESIGN_LINE = 18
};

typedef struct {
  double x, y; /* of the centre */
  double half_width;
} Spot;

typedef struct {
  const FabTopology *topology;
  const FabTopoUnits *units;
  FabTopoSvg *svg;
  Spot *spots; /* by vertex */
  guint n_columns, n_rows;
  double top;
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
is_drawn (const Drawing *drawing, guint i)
{
  return fab_topo_is_drawn (drawing->units, place_at (drawing, i)->vertex);
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
spot_at (const Drawing *drawing, double column, guint row)
{
  return (Spot){ MARGIN + (column + 0.5) * COLUMN, drawing->top + (row + 0.5) * ROW, BOX_WIDTH / 2.0 };
}

/* Leaves side by side in the last row of the tree, the others above the middle of what hangs below them. */
static void
place_tree (Drawing *drawing)
{
  guint n = drawing->topology->places->len, deepest = 0;

  for (guint i = 0; i < n; i++)
    deepest = MAX (deepest, place_at (drawing, i)->depth);
  for (guint i = 0; i < n; i++)
    if (is_drawn (drawing, i) && is_leaf (drawing, i) && !is_below (drawing, i))
      drawing->spots[place_at (drawing, i)->vertex] = spot_at (drawing, drawing->n_columns++, deepest);
  for (guint i = n; i-- > 0;) {
    const FabPlace *place = place_at (drawing, i);
    double low = G_MAXDOUBLE, high = 0;

    if (is_leaf (drawing, i) || !is_drawn (drawing, i))
      continue;
    for (guint j = i + 1; j < n && place_at (drawing, j)->depth > place->depth; j++) {
      low = MIN (low, drawing->spots[place_at (drawing, j)->vertex].x);
      high = MAX (high, drawing->spots[place_at (drawing, j)->vertex].x);
    }
    drawing->spots[place->vertex] = spot_at (drawing, 0, place->depth);
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

      drawing->spots[place_at (drawing, i)->vertex] = spot_at (drawing, column, drawing->n_rows);
      drawing->spots[place_at (drawing, i)->vertex].half_width = (double) drawing->n_columns / n_below
                                                                   * COLUMN / 2
                                                               - (COLUMN - BOX_WIDTH) / 2.0;
    }
  drawing->n_rows++;
}

const char *
fab_topo_svg_colour (FabTopoSvg *svg, const FabGraph *graph, FabLinkId link)
{
  g_autofree char *text = fab_topo_link_text (graph, link);
  guint i = 0;

  while (i < svg->forms->len && strcmp (g_ptr_array_index (svg->forms, i), text) != 0)
    i++;
  if (i == svg->forms->len)
    g_ptr_array_add (svg->forms, g_steal_pointer (&text));
  return colours[i % G_N_ELEMENTS (colours)];
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
  const FabGraph *graph = drawing->topology->cluster->graph;
  const FabLink *link = fab_graph_link (graph, id);
  const Spot *from = &drawing->spots[link->src], *to = &drawing->spots[link->dst];

  if (!fab_topo_is_drawn (drawing->units, link->src) || !fab_topo_is_drawn (drawing->units, link->dst))
    return;
  const char *colour = fab_topo_svg_colour (drawing->svg, graph, id);
  FabSvgPoint start = { meeting_x (from, to), from->y }, end = { meeting_x (to, from), to->y };
  gboolean is_arc = (int) from->y == (int) to->y;
  double apart = ABS (from->x - to->x), way = from->y < drawing->top + ROW ? -1 : 1;
  FabSvgPoint bend = { (from->x + to->x) / 2, from->y + way * MIN (30 + apart / 6, 0.9 * ROW) };

  fab_svg_curve (drawing->svg->body, start, is_arc ? &bend : NULL, end, colour, link->count > 1 ? 2.5 : 1.5);
}

static void
draw_vertex (const Drawing *drawing, const FabPlace *place)
{
  const Spot *spot = &drawing->spots[place->vertex];
  GString *svg = drawing->svg->body;
  g_autofree char *plain = fab_topology_name (drawing->topology, place->vertex);
  gboolean is_hub = drawing->units->n > 1 && spot->half_width > BOX_WIDTH;
  g_autofree char *name = is_hub ? g_strdup_printf ("%s, which joins all %u GPUs", plain,
                                                    drawing->topology->cluster->gpus_per_node)
                                 : g_strdup (plain);
  guint kind = fab_graph_vertex (drawing->topology->cluster->graph, place->vertex)->kind;

  fab_svg_open (svg, "rect");
  fab_svg_real (svg, "x", spot->x - spot->half_width);
  fab_svg_real (svg, "y", spot->y - BOX_HEIGHT / 2.0);
  fab_svg_real (svg, "width", 2 * spot->half_width);
  fab_svg_whole (svg, "height", BOX_HEIGHT);
  fab_topo_svg_end_box (svg, fills[kind]);
  fab_svg_open (svg, "text");
  fab_svg_real (svg, "x", spot->x);
  fab_svg_real (svg, "y", spot->y + 4);
  fab_svg_word (svg, "text-anchor", "middle");
  if (!is_hub && strlen (name) > 10)
    fab_svg_whole (svg, "font-size", 11);
  fab_svg_end_text (svg, name);
}

void
fab_topo_svg_end_box (GString *svg, const char *fill)
{
  fab_svg_whole (svg, "rx", 4);
  fab_svg_word (svg, "fill", fill);
  fab_svg_word (svg, "stroke", "#333");
  fab_svg_end (svg);
}

static void
draw_legend (const FabTopoSvg *svg, double top)
{
  for (guint i = 0; i < svg->forms->len; i++) {
    double y = top + (i + 0.5) * LEGEND_LINE;
    g_autofree char *text = g_strdup_printf ("%s, one direction", (char *) g_ptr_array_index (svg->forms, i));
    g_autofree char *line = g_strdup_printf ("M%d %.1f h40", MARGIN, y);

    fab_svg_open (svg->body, "path");
    fab_svg_word (svg->body, "d", line);
    fab_svg_word (svg->body, "stroke", colours[i % G_N_ELEMENTS (colours)]);
    fab_svg_whole (svg->body, "stroke-width", 3);
    fab_svg_end (svg->body);
    fab_svg_open (svg->body, "text");
    fab_svg_whole (svg->body, "x", MARGIN + 50);
    fab_svg_real (svg->body, "y", y + 4);
    fab_svg_end_text (svg->body, text);
  }
}

/* "one of 18 identical trays: 72 GPUs and 72 NICs in all" */
static void
draw_units (const Drawing *drawing, double y)
{
  const FabCluster *cluster = drawing->topology->cluster;
  GString *svg = drawing->svg->body;
  g_autofree char *text = g_strdup_printf ("one of %u identical %s: %u GPUs and %u NICs in all",
                                           drawing->units->n,
                                           drawing->topology->n_machines > 1 ? "machines" : "trays",
                                           cluster->gpus_per_node, cluster->nics_per_node);

  if (drawing->units->n == 1)
    return;
  fab_svg_open (svg, "text");
  fab_svg_whole (svg, "x", MARGIN);
  fab_svg_real (svg, "y", y);
  fab_svg_whole (svg, "font-size", 13);
  fab_svg_word (svg, "font-weight", "bold");
  fab_svg_end_text (svg, text);
}

/* Draws the node below `top`; returns where it ends. */
static double
draw_node (const FabTopoPicture *picture, FabTopoSvg *svg, double top)
{
  guint n = fab_graph_n_vertices (picture->topology->cluster->graph);
  g_autofree Spot *spots = g_new0 (Spot, n + 1);
  Drawing drawing = { picture->topology, picture->units, svg, spots, 0, 0, top };
  const FabTopology *topology = picture->topology;

  draw_units (&drawing, top + GAP / 2.0);
  drawing.top += picture->units->n > 1 ? GAP : 0;
  place_tree (&drawing);
  place_below (&drawing);
  for (guint i = 0; i < topology->across->len; i++)
    draw_link (&drawing, g_array_index (topology->across, FabLinkId, i));
  for (guint i = 0; i < topology->places->len; i++)
    if (place_at (&drawing, i)->up != FAB_NO_LINK)
      draw_link (&drawing, place_at (&drawing, i)->up);
  for (guint i = 0; i < topology->places->len; i++)
    if (is_drawn (&drawing, i))
      draw_vertex (&drawing, place_at (&drawing, i));
  svg->width = MAX (svg->width, 2.0 * MARGIN + MAX (drawing.n_columns, 6) * COLUMN);
  return drawing.top + drawing.n_rows * ROW;
}

/* Lines of small text; returns where they end. */
static double
draw_notes (FabTopoSvg *svg, const GPtrArray *notes, double top)
{
  for (guint i = 0; i < notes->len; i++) {
    const char *text = notes->pdata[i];

    fab_svg_open (svg->body, "text");
    fab_svg_whole (svg->body, "x", MARGIN);
    fab_svg_real (svg->body, "y", top + (i + 0.5) * NOTE_LINE);
    fab_svg_whole (svg->body, "font-size", 11);
    fab_svg_end_text (svg->body, text);
    svg->width = MAX (svg->width, 2.0 * MARGIN + FAB_TOPO_SVG_LETTER * (double) g_utf8_strlen (text, -1));
  }
  return top + notes->len * NOTE_LINE;
}

static void
draw_title (GString *page, double y, int size, const char *text)
{
  fab_svg_open (page, "text");
  fab_svg_whole (page, "x", MARGIN);
  fab_svg_real (page, "y", y);
  fab_svg_whole (page, "font-size", size);
  fab_svg_end_text (page, text);
}

/* "NAME: what it is", in two lines where one would be wider than the column of a page. */
static void
add_title (GPtrArray *lines, const char *text)
{
  const glong most_letters = 90;
  const char *colon = strstr (text, ": ");

  if (g_utf8_strlen (text, -1) <= most_letters || colon == NULL) {
    g_ptr_array_add (lines, g_strdup (text));
    return;
  }
  g_ptr_array_add (lines, g_strndup (text, (gsize) (colon + 1 - text)));
  g_ptr_array_add (lines, g_strdup (colon + 2));
}

void
fab_topo_print_svg (const FabTopoPicture *picture)
{
  g_autoptr (GString) body = g_string_new (NULL), page = g_string_new (NULL);
  g_autoptr (GPtrArray) forms = g_ptr_array_new_with_free_func (g_free);
  FabTopoSvg svg = { body, 0, forms };
  g_autofree char *title = g_strdup_printf ("%s: %s", picture->node->name,
                                            picture->node->summary ? picture->node->summary
                                                                   : "a node of its own");
  g_autofree char *design = fab_topo_design_text (picture);
  g_autoptr (GPtrArray) titles = g_ptr_array_new_with_free_func (g_free);
  double first = 20, letters = 0;

  if (design != NULL)
    add_title (titles, design);
  add_title (titles, title);
  for (guint i = 0; i < titles->len; i++)
    letters = MAX (letters, (double) g_utf8_strlen (titles->pdata[i], -1));
  double bottom = TITLE + (titles->len - 1) * DESIGN_LINE;
  svg.width = 2 * MARGIN + 7.2 * letters;
  if (picture->fabric != NULL)
    bottom = fab_topo_svg_fabric (picture, &svg, bottom) + (picture->parts.has_node ? GAP : 0);
  if (picture->parts.has_node)
    bottom = draw_node (picture, &svg, bottom);
  draw_legend (&svg, bottom + GAP / 2.0);
  bottom = draw_notes (&svg, picture->notes, bottom + GAP / 2.0 + forms->len * LEGEND_LINE + GAP / 2.0);
  bottom += MARGIN - GAP / 2.0;
  fab_svg_begin (page, svg.width, bottom, 12, NULL, "white");
  for (guint i = 0; i < titles->len; i++)
    draw_title (page, first + i * DESIGN_LINE, 14, titles->pdata[i]);
  g_string_append (page, body->str);
  fab_svg_finish (page);
  g_print ("%s", page->str);
}
