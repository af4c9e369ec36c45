/* SPDX-License-Identifier: Apache-2.0 */
/* topo_svg_fabric.c - the fabric of a drawing: a row of boxes for what is alike, with lines between those that are
 * drawn; a torus as a grid. What each row is stands below, so that the drawing fits the column of a page. */
#include "cli/hardware/topo_svg.h"
#include "sim/base/units.h"

enum {
  MOST_SHOWN = 6,
  MOST_TORUS = 5,
  STEP = 104,
  BOX_WIDTH = 86,
  BOX_HEIGHT = 34,
  ROW = 128,
  GRID = 72,
  HEAD = 52,
  BELOW = 40,
  LINE = 15
};

typedef struct {
  const FabTopoPicture *picture;
  FabTopoSvg *svg;
  GArray **shown; /* [rows] members that have boxes */
  double *y;      /* [rows] middle of the boxes */
  double top, bottom, right;
} Panel;

static const FabTopoRow *
row_at (const Panel *self, guint r)
{
  return &g_array_index (self->picture->fabric->rows, FabTopoRow, r);
}

static gboolean
is_torus (const Panel *self, guint r)
{
  return r == 0 && self->picture->fabric->sizes[0] > 0;
}

static gboolean
has_dots (const Panel *self, guint r)
{
  return self->shown[r]->len < row_at (self, r)->n;
}

static double
x_of (const Panel *self, guint r, guint i)
{
  gboolean is_after = has_dots (self, r) && i + 1 == self->shown[r]->len;

  return FAB_TOPO_SVG_MARGIN + BOX_WIDTH / 2.0 + i * STEP + (is_after ? STEP / 2.0 : 0);
}

typedef enum { PLAIN, CENTRED, SMALL, GREY, HEADING } Style;

static void
draw_text (const Panel *self, double x, double y, const char *text, Style style)
{
  GString *svg = self->svg->body;

  fab_svg_open (svg, "text");
  fab_svg_real (svg, "x", x);
  fab_svg_real (svg, "y", y);
  if (style == CENTRED)
    fab_svg_word (svg, "text-anchor", "middle");
  if (style == SMALL || style == GREY)
    fab_svg_whole (svg, "font-size", 11);
  if (style == GREY)
    fab_svg_word (svg, "fill", "#555");
  if (style == HEADING) {
    fab_svg_whole (svg, "font-size", 13);
    fab_svg_word (svg, "font-weight", "bold");
  }
  fab_svg_end_text (svg, text);
}

static void
draw_box (Panel *self, double x, double y, const FabTopoRow *row, guint member)
{
  g_autofree char *name = row->n == 1 ? g_strdup (row->name) : g_strdup_printf ("%s%u", row->name, member);
  GString *svg = self->svg->body;

  fab_svg_open (svg, "rect");
  fab_svg_real (svg, "x", x - BOX_WIDTH / 2.0);
  fab_svg_real (svg, "y", y - BOX_HEIGHT / 2.0);
  fab_svg_whole (svg, "width", BOX_WIDTH);
  fab_svg_whole (svg, "height", BOX_HEIGHT);
  fab_topo_svg_end_box (svg, row->level > 0 ? "#fdeeda" : "#dff2df");
  draw_text (self, x, y + 4, name, CENTRED);
  self->right = MAX (self->right, x + BOX_WIDTH / 2.0);
}

static void
draw_line (const Panel *self, FabLinkId id, double x1, double y1, double x2, double y2)
{
  const FabGraph *graph = self->picture->topology->cluster->graph;
  const char *colour = fab_topo_svg_colour (self->svg, graph, id);
  double bow = y1 == y2 ? MIN (20 + ABS (x1 - x2) / 8, 60) : 0;
  FabSvgPoint bend = { (x1 + x2) / 2, (y1 + y2) / 2 + bow };

  fab_svg_curve (self->svg->body, (FabSvgPoint){ x1, y1 }, &bend, (FabSvgPoint){ x2, y2 }, colour,
                 fab_graph_link (graph, id)->count > 1 ? 2.5 : 1.5);
}

/* Lines between the members of two rows, or of one, that have boxes. */
static void
draw_lines (Panel *self, guint upper, guint lower)
{
  for (guint i = 0; i < self->shown[upper]->len; i++)
    for (guint k = upper == lower ? i + 1 : 0; k < self->shown[lower]->len; k++) {
      guint one = g_array_index (self->shown[upper], guint, i),
            other = g_array_index (self->shown[lower], guint, k);
      FabLinkId id = fab_topo_link_between (self->picture->fabric, upper, one, lower, other);
      double edge = upper == lower ? BOX_HEIGHT / 2.0 : 0;

      if (id != FAB_NO_LINK)
        draw_line (self, id, x_of (self, upper, i), self->y[upper] + edge, x_of (self, lower, k),
                   self->y[lower] + edge);
    }
}

static void
draw_row (Panel *self, guint r)
{
  const FabTopoRow *row = row_at (self, r);
  guint n = self->shown[r]->len;

  for (guint i = 0; i < n; i++)
    draw_box (self, x_of (self, r, i), self->y[r], row, g_array_index (self->shown[r], guint, i));
  if (has_dots (self, r))
    draw_text (self, x_of (self, r, n - 1) - 0.72 * STEP, self->y[r] + 4, "...", PLAIN);
}

/* --- a torus --- */

static guint
grid_at (guint i, guint n_shown, guint size)
{
  return i + 1 == n_shown ? size - 1 : i;
}

static double
grid_x (guint i, guint n_shown, guint size)
{
  return FAB_TOPO_SVG_MARGIN + BOX_WIDTH / 2.0 + i * STEP
       + (n_shown < size && i + 1 == n_shown ? STEP / 2.0 : 0);
}

static void
draw_torus (Panel *self)
{
  const FabTopoFabric *fabric = self->picture->fabric;
  const FabTopoRow *row = row_at (self, 0);
  guint n_x = MIN (fabric->sizes[0], MOST_TORUS), n_y = MIN (fabric->sizes[1], MOST_TORUS);
  FabLinkId id = fab_topo_link_between (fabric, 0, 0, 0, 1);

  for (guint j = 0; j < n_y; j++)
    for (guint i = 0; i < n_x; i++) {
      double x = grid_x (i, n_x, fabric->sizes[0]), y = self->y[0] + j * GRID;

      if (i + 1 < n_x)
        draw_line (self, id, x, y, grid_x (i + 1, n_x, fabric->sizes[0]), y + 0.01);
      if (j + 1 < n_y)
        draw_line (self, id, x, y, x, y + GRID);
    }
  for (guint j = 0; j < n_y; j++)
    for (guint i = 0; i < n_x; i++)
      draw_box (self, grid_x (i, n_x, fabric->sizes[0]), self->y[0] + j * GRID, row,
                grid_at (j, n_y, fabric->sizes[1]) * fabric->sizes[0] + grid_at (i, n_x, fabric->sizes[0]));
  draw_text (self, FAB_TOPO_SVG_MARGIN, self->y[0] + (n_y - 1) * GRID + 34,
             "the last of every axis is joined to the first", GREY);
}

/* --- words, below the boxes --- */

static void
draw_words (Panel *self, const char *text)
{
  if (text == NULL)
    return;
  draw_text (self, FAB_TOPO_SVG_MARGIN, self->bottom, text, SMALL);
  self->right = MAX (self->right,
                     FAB_TOPO_SVG_MARGIN + FAB_TOPO_SVG_LETTER * (double) g_utf8_strlen (text, -1));
  self->bottom += LINE;
}

/* What joins a row with those above it, and then what the row is. */
static void
draw_row_words (Panel *self, guint r)
{
  const FabTopoRow *row = row_at (self, r);
  const GArray *joins = self->picture->fabric->joins;
  g_autofree char *text = fab_topo_row_text (row), *uplinks = fab_topo_uplinks_text (row);

  for (guint i = 0; i < joins->len; i++) {
    const FabTopoJoin *join = &g_array_index (joins, FabTopoJoin, i);

    if (join->lower == r)
      draw_words (self, join->text);
  }
  draw_words (self, text);
  draw_words (self, uplinks);
  draw_words (self, row->inside);
  draw_words (self, row->across);
}

static void
place_rows (Panel *self)
{
  const FabTopoFabric *fabric = self->picture->fabric;
  double y = self->top + HEAD;

  for (guint r = 0; r < fabric->rows->len; r++) {
    self->shown[r] = fab_topo_shown (row_at (self, r),
                                     self->picture->parts.is_whole ? G_MAXUINT : MOST_SHOWN);
    self->y[r] = y;
    y += ROW + (is_torus (self, r) ? (MIN (fabric->sizes[1], MOST_TORUS) - 1) * GRID : 0);
  }
  self->bottom = y - ROW + BELOW;
}

double
fab_topo_svg_fabric (const FabTopoPicture *picture, FabTopoSvg *svg, double top)
{
  guint n = picture->fabric->rows->len;
  g_autofree GArray **shown = g_new0 (GArray *, n);
  g_autofree double *y = g_new0 (double, n);
  Panel self = { picture, svg, shown, y, top, top, 0 };
  g_autofree char *over = fab_topo_over_text (picture);
  g_autofree char *title = g_strdup_printf (
      "fabric %s of %u %s, %u %s each; %s", picture->kind, picture->topology->cluster->n_nodes,
      fab_plural (picture->topology->cluster->n_nodes, "node", "nodes"),
      picture->topology->cluster->nics_per_node,
      fab_plural (picture->topology->cluster->nics_per_node, "NIC", "NICs"), over);

  place_rows (&self);
  draw_text (&self, FAB_TOPO_SVG_MARGIN, top + 16, title, HEADING);
  for (guint upper = 0; upper < n; upper++)
    for (guint lower = upper; lower < n; lower++)
      if (!is_torus (&self, upper))
        draw_lines (&self, upper, lower);
  for (guint r = 0; r < n; r++) {
    if (is_torus (&self, r))
      draw_torus (&self);
    else
      draw_row (&self, r);
  }
  for (guint r = 0; r < n; r++) {
    draw_row_words (&self, r);
    g_array_unref (shown[r]);
  }
  svg->width = MAX (svg->width, self.right + FAB_TOPO_SVG_MARGIN);
  return self.bottom;
}
