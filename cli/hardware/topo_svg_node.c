/* SPDX-License-Identifier: Apache-2.0 */
/* topo_svg_node.c - a node of a drawing: its sockets above, switches below them, under each switch a block of rows with
 * what hangs there, accelerators in the last row, and switches between accelerators at the bottom. Columns are as
 * narrow as it takes for the drawing to fit the column of a page. */
#include <string.h>

#include "cli/hardware/topo_svg.h"

enum {
  MARGIN = FAB_TOPO_SVG_MARGIN,
  MOST_WIDTH = 676, /* of all columns */
  MOST_COLUMN = 96,
  LEAST_COLUMN = 42, /* a name of five letters has room */
  EASY_COLUMN = 56,
  GAP = 10,       /* between the boxes of two columns */
  NARROW_GAP = 6, /* between those of narrow columns */
  BOX_WIDTH = 86, /* and less in a narrow column */
  BOX_HEIGHT = 30,
  LEVEL = 74, /* between rows of the tree */
  ROW = 42,   /* between rows of a block */
  HUB = 76,   /* from the last row to a switch that joins it */
  BELOW = 46, /* for arcs */
  UNITS = 30,
  BESIDE = 14, /* between a socket and its memory */
  EDGE = 12,   /* lines to a wide box keep this far from its corners */
  LETTER = 7,  /* width of a letter of 12 pixels */
  LINE = 12    /* between two lines of a name */
};

typedef struct {
  double x, y; /* of the centre */
  double half_width;
} Spot;

/* The block of what hangs below a part and has nothing below itself. */
typedef struct {
  guint column, width; /* of all that is below, in columns */
  guint first;         /* the first column of the block */
  guint across;        /* columns of the block */
  gboolean has_memory; /* which has no room beside its socket */
} Block;

/* How many columns a block may have. */
typedef struct {
  guint accelerators, others;
} Limits;

typedef struct {
  const FabTopology *topology;
  const FabTopoUnits *units;
  FabTopoSvg *svg;
  Spot *spots;   /* by vertex */
  Block *blocks; /* by place */
  Limits limits;
  guint n_columns, deepest; /* the deepest level of what has something below it */
  guint n_rows;             /* of other parts above the accelerators, in the highest block */
  double column, top;
} Drawing;

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

static guint
kind_of (const Drawing *drawing, guint i)
{
  return fab_graph_vertex (drawing->topology->cluster->graph, place_at (drawing, i)->vertex)->kind;
}

static gboolean
is_drawn (const Drawing *drawing, guint i)
{
  return fab_topo_is_drawn (drawing->units, place_at (drawing, i)->vertex);
}

/* Where what is below a place ends. */
static guint
end_of (const Drawing *drawing, guint i)
{
  guint end = i + 1;

  while (end < drawing->topology->places->len
         && place_at (drawing, end)->depth > place_at (drawing, i)->depth)
    end++;
  return end;
}

static gboolean
is_leaf (const Drawing *drawing, guint i)
{
  return end_of (drawing, i) == i + 1;
}

/* A switch that hangs nowhere joins accelerators: it goes below them. */
static gboolean
is_below (const Drawing *drawing, guint i)
{
  return place_at (drawing, i)->depth == 0 && is_leaf (drawing, i)
      && kind_of (drawing, i) == FAB_VERTEX_SWITCH;
}

/* A child of `i`: directly below it. */
static gboolean
is_child (const Drawing *drawing, guint i, guint child)
{
  return place_at (drawing, child)->depth == place_at (drawing, i)->depth + 1 && is_drawn (drawing, child);
}

/* Memory stands beside its socket where that has room on its level. */
static gboolean
is_beside (const Drawing *drawing, guint parent, guint child)
{
  double room = drawing->blocks[parent].width * drawing->column;

  return kind_of (drawing, child) == FAB_VERTEX_MEMORY && !drawing->blocks[parent].has_memory
      && room >= 3 * BOX_WIDTH + 2 * BESIDE;
}

/* --- columns --- */

/* Counts the leaves below `i`: accelerators, and others without memory. */
static void
count_leaves (const Drawing *drawing, guint i, guint *n_accelerators, guint *n_others)
{
  *n_accelerators = *n_others = 0;
  for (guint child = i + 1; child < end_of (drawing, i); child++)
    if (is_child (drawing, i, child) && is_leaf (drawing, child)) {
      *n_accelerators += kind_of (drawing, child) == FAB_VERTEX_ACCELERATOR;
      *n_others += kind_of (drawing, child) != FAB_VERTEX_ACCELERATOR
                && kind_of (drawing, child) != FAB_VERTEX_MEMORY;
    }
}

/* Gives everything below `i` its columns, from `column` on; returns how many there are. */
static guint
take_columns (Drawing *drawing, guint i, guint column)
{
  Block *block = &drawing->blocks[i];
  guint n_accelerators, n_others, width = 0;

  for (guint child = i + 1; child < end_of (drawing, i); child++)
    if (is_child (drawing, i, child) && !is_leaf (drawing, child))
      width += take_columns (drawing, child, column + width);
  count_leaves (drawing, i, &n_accelerators, &n_others);
  block->across = MAX (MIN (n_accelerators, drawing->limits.accelerators),
                       MIN (n_others, drawing->limits.others));
  if (block->across == 0 && (width == 0 || block->has_memory))
    block->across = 1;
  block->column = column;
  block->first = column + width;
  block->width = width + block->across;
  return block->width;
}

/* Finds memory that needs a column; returns whether there is more than before. */
static gboolean
find_memory (Drawing *drawing)
{
  gboolean is_found = FALSE;

  for (guint i = 0; i < drawing->topology->places->len; i++)
    for (guint child = i + 1; child < end_of (drawing, i); child++)
      if (is_drawn (drawing, i) && is_child (drawing, i, child) && is_leaf (drawing, child)
          && kind_of (drawing, child) == FAB_VERTEX_MEMORY && !is_beside (drawing, i, child)
          && !drawing->blocks[i].has_memory)
        is_found = drawing->blocks[i].has_memory = TRUE;
  return is_found;
}

static void
take_all_columns (Drawing *drawing)
{
  drawing->n_columns = 0;
  for (guint i = 0; i < drawing->topology->places->len; i = end_of (drawing, i))
    if (is_drawn (drawing, i) && !is_below (drawing, i))
      drawing->n_columns += take_columns (drawing, i, drawing->n_columns);
  drawing->column = CLAMP (MOST_WIDTH / (double) drawing->n_columns, LEAST_COLUMN, MOST_COLUMN);
  if (find_memory (drawing))
    take_all_columns (drawing);
}

/* Blocks of several columns where these are wide enough for names; else narrower and taller ones. */
static void
choose_columns (Drawing *drawing)
{
  static const Limits limits[] = { { G_MAXUINT, 2 }, { G_MAXUINT, 1 }, { 2, 1 }, { 1, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++) {
    drawing->limits = limits[i];
    take_all_columns (drawing);
    if (drawing->n_columns * (i == 0 ? EASY_COLUMN : LEAST_COLUMN) <= MOST_WIDTH)
      return;
  }
}

/* --- places --- */

static double
gap_of (const Drawing *drawing)
{
  return drawing->column < EASY_COLUMN ? NARROW_GAP : GAP;
}

/* The middle of `width` columns from `column` on. */
static Spot
spot_at (const Drawing *drawing, guint column, guint width, double y)
{
  double half = (width * drawing->column - gap_of (drawing)) / 2;

  return (Spot){ MARGIN + (column + width / 2.0) * drawing->column, y, MIN (half, BOX_WIDTH / 2.0) };
}

static double
level_y (const Drawing *drawing, guint level)
{
  return drawing->top + (level + 0.5) * LEVEL;
}

static double
block_y (const Drawing *drawing, guint row)
{
  return level_y (drawing, drawing->deepest + 1) + row * ROW;
}

/* The order of the rows of a block, from the top. */
static guint
rank_of (FabVertexKind kind)
{
  return kind == FAB_VERTEX_STORAGE ? 1 : kind == FAB_VERTEX_NIC ? 2 : 0;
}

/* How many rows the leaves of one rank take. */
static guint
rows_of (const Drawing *drawing, guint i, guint rank)
{
  guint n = 0, across = MAX (drawing->blocks[i].across, 1);

  for (guint child = i + 1; child < end_of (drawing, i); child++)
    n += is_child (drawing, i, child) && is_leaf (drawing, child)
      && kind_of (drawing, child) != FAB_VERTEX_ACCELERATOR && rank_of (kind_of (drawing, child)) == rank
      && !is_beside (drawing, i, child);
  return (n + across - 1) / across;
}

static guint
all_rows_of (const Drawing *drawing, guint i)
{
  return rows_of (drawing, i, 0) + rows_of (drawing, i, 1) + rows_of (drawing, i, 2);
}

/* Puts the leaves of a block into rows: others rank by rank, the last of them just above the accelerators. */
static void
place_block (Drawing *drawing, guint i)
{
  const Block *block = &drawing->blocks[i];
  guint filled[3] = { 0 }, n_accelerators = 0, across = MAX (block->across, 1);
  guint first[3] = { drawing->n_rows - all_rows_of (drawing, i) };

  first[1] = first[0] + rows_of (drawing, i, 0);
  first[2] = first[1] + rows_of (drawing, i, 1);
  for (guint child = i + 1; child < end_of (drawing, i); child++) {
    FabVertexKind kind = kind_of (drawing, child);
    Spot *spot = &drawing->spots[place_at (drawing, child)->vertex];
    guint rank = rank_of (kind);

    if (!is_child (drawing, i, child) || !is_leaf (drawing, child) || is_beside (drawing, i, child))
      continue;
    guint *n = kind == FAB_VERTEX_ACCELERATOR ? &n_accelerators : &filled[rank];
    guint row = kind == FAB_VERTEX_ACCELERATOR ? drawing->n_rows : first[rank];
    *spot = spot_at (drawing, block->first + *n % across, 1, block_y (drawing, row + *n / across));
    ++*n;
  }
}

static void
place_beside (Drawing *drawing, guint i)
{
  const Spot *spot = &drawing->spots[place_at (drawing, i)->vertex];

  for (guint child = i + 1; child < end_of (drawing, i); child++)
    if (is_child (drawing, i, child) && is_leaf (drawing, child) && is_beside (drawing, i, child))
      drawing->spots[place_at (drawing, child)->vertex] = (Spot){
        spot->x + spot->half_width + BESIDE + BOX_WIDTH / 2.0, spot->y, BOX_WIDTH / 2.0
      };
}

static void
place_tree (Drawing *drawing)
{
  guint n = drawing->topology->places->len;

  for (guint i = 0; i < n; i++)
    if (is_drawn (drawing, i) && !is_leaf (drawing, i)) {
      drawing->deepest = MAX (drawing->deepest, place_at (drawing, i)->depth);
      drawing->n_rows = MAX (drawing->n_rows, all_rows_of (drawing, i));
    }
  for (guint i = 0; i < n; i++) {
    const Block *block = &drawing->blocks[i];

    if (!is_drawn (drawing, i) || is_below (drawing, i))
      continue;
    if (!is_leaf (drawing, i)) {
      drawing->spots[place_at (drawing, i)->vertex] = spot_at (
          drawing, block->column, block->width, level_y (drawing, place_at (drawing, i)->depth));
      place_block (drawing, i);
      place_beside (drawing, i);
    } else if (place_at (drawing, i)->depth == 0) {
      drawing->spots[place_at (drawing, i)->vertex] = spot_at (drawing, block->column, 1,
                                                               block_y (drawing, drawing->n_rows));
    }
  }
}

/* Rows of accelerators in the highest block. */
static guint
accelerator_rows (const Drawing *drawing)
{
  guint rows = 1;

  for (guint i = 0; i < drawing->topology->places->len; i++) {
    guint n_accelerators, n_others;

    count_leaves (drawing, i, &n_accelerators, &n_others);
    if (is_drawn (drawing, i) && drawing->blocks[i].across > 0)
      rows = MAX (rows, (n_accelerators + drawing->blocks[i].across - 1) / drawing->blocks[i].across);
  }
  return rows;
}

/* Switches between accelerators, side by side; returns where everything ends. */
static double
place_below (Drawing *drawing)
{
  double last = block_y (drawing, drawing->n_rows + accelerator_rows (drawing) - 1);
  double width = drawing->n_columns * drawing->column;
  guint n_below = 0, filled = 0;

  for (guint i = 0; i < drawing->topology->places->len; i++)
    n_below += is_below (drawing, i) && is_drawn (drawing, i);
  for (guint i = 0; i < drawing->topology->places->len; i++)
    if (is_below (drawing, i) && is_drawn (drawing, i))
      drawing->spots[place_at (drawing, i)->vertex] = (Spot){ MARGIN + (filled++ + 0.5) * width / n_below,
                                                              last + HUB,
                                                              (width / n_below - gap_of (drawing)) / 2 };
  return last + (n_below > 0 ? HUB : 0) + BELOW;
}

/* --- links --- */

/* Where a link from `other` meets a box that may be wide. */
static double
meeting_x (const Spot *box, const Spot *other)
{
  double slack = box->half_width > BOX_WIDTH / 2.0 ? box->half_width - EDGE : 0;

  return CLAMP (other->x, box->x - slack, box->x + slack);
}

/* Straight between rows; an arc between neighbours of a row, higher the farther they are. */
static void
draw_across (Drawing *drawing, FabLinkId id)
{
  const FabGraph *graph = drawing->topology->cluster->graph;
  const FabLink *link = fab_graph_link (graph, id);
  const Spot *from = &drawing->spots[link->src], *to = &drawing->spots[link->dst];

  if (!fab_topo_is_drawn (drawing->units, link->src) || !fab_topo_is_drawn (drawing->units, link->dst))
    return;
  const char *colour = fab_topo_svg_colour (drawing->svg, graph, id);
  FabSvgPoint start = { meeting_x (from, to), from->y }, end = { meeting_x (to, from), to->y };
  gboolean is_arc = (int) from->y == (int) to->y;
  double apart = ABS (from->x - to->x), way = from->y < drawing->top + LEVEL ? -1 : 1;
  FabSvgPoint bend = { (from->x + to->x) / 2, from->y + way * MIN (30 + apart / 6, 0.9 * HUB) };

  fab_svg_curve (drawing->svg->body, start, is_arc ? &bend : NULL, end, colour, link->count > 1 ? 2.5 : 1.5);
}

/* Whether another box of the column stands between a leaf and what it hangs on. */
static gboolean
is_covered (const Drawing *drawing, const Spot *leaf, guint parent)
{
  for (guint child = parent + 1; child < end_of (drawing, parent); child++) {
    const Spot *other = &drawing->spots[place_at (drawing, child)->vertex];

    if (is_child (drawing, parent, child) && is_leaf (drawing, child) && !is_beside (drawing, parent, child)
        && (int) other->x == (int) leaf->x && other->y < leaf->y)
      return TRUE;
  }
  return FALSE;
}

/* From a part to what hangs on it: straight, or beside the boxes between them. */
static void
draw_up (Drawing *drawing, guint parent, guint child)
{
  const FabGraph *graph = drawing->topology->cluster->graph;
  FabLinkId id = place_at (drawing, child)->up;
  const Spot *from = &drawing->spots[place_at (drawing, parent)->vertex];
  const Spot *to = &drawing->spots[place_at (drawing, child)->vertex];
  const char *colour = fab_topo_svg_colour (drawing->svg, graph, id);
  double stroke = fab_graph_link (graph, id)->count > 1 ? 2.5 : 1.5;
  FabSvgPoint start = { from->x, from->y }, end = { to->x, to->y };
  gboolean is_block = is_leaf (drawing, child) && !is_beside (drawing, parent, child);

  if (!is_block || !is_covered (drawing, to, parent)) {
    fab_svg_curve (drawing->svg->body, start, NULL, end, colour, stroke);
    return;
  }
  /* Two neighbouring columns share the space between them; lines to drives, which are of another kind, stand apart. */
  guint column = (guint) ((to->x - MARGIN) / drawing->column);
  gboolean is_right = (column - drawing->blocks[parent].first) % 2 == 0;
  double apart = kind_of (drawing, child) == FAB_VERTEX_STORAGE ? 1.5 : -1.5;
  double aside = drawing->column / 2 + (is_right ? apart : -apart);
  double x = to->x + (is_right ? 1 : -1) * aside;
  double y = block_y (drawing, drawing->n_rows - all_rows_of (drawing, parent)) - BOX_HEIGHT / 2.0 - 6;
  FabSvgPoint turn = { x, y }, beside = { x, to->y };

  fab_svg_curve (drawing->svg->body, start, NULL, turn, colour, stroke);
  fab_svg_curve (drawing->svg->body, turn, NULL, beside, colour, stroke);
  fab_svg_curve (drawing->svg->body, beside, NULL, end, colour, stroke);
}

static void
draw_links (Drawing *drawing)
{
  const FabTopology *topology = drawing->topology;

  for (guint i = 0; i < topology->across->len; i++)
    draw_across (drawing, g_array_index (topology->across, FabLinkId, i));
  for (guint i = 0; i < topology->places->len; i++)
    for (guint child = i + 1; child < end_of (drawing, i); child++)
      if (is_drawn (drawing, i) && is_child (drawing, i, child)
          && place_at (drawing, child)->up != FAB_NO_LINK)
        draw_up (drawing, i, child);
}

/* --- boxes --- */

static void
draw_name (const Drawing *drawing, const Spot *spot, double y, const char *name)
{
  GString *svg = drawing->svg->body;

  fab_svg_open (svg, "text");
  fab_svg_real (svg, "x", spot->x);
  fab_svg_real (svg, "y", y + 4);
  fab_svg_word (svg, "text-anchor", "middle");
  if (LETTER * (double) g_utf8_strlen (name, -1) > 2 * spot->half_width)
    fab_svg_whole (svg, "font-size", 11);
  fab_svg_end_text (svg, name);
}

static void
draw_vertex (const Drawing *drawing, guint i)
{
  const FabTopology *topology = drawing->topology;
  const Spot *spot = &drawing->spots[place_at (drawing, i)->vertex];
  GString *svg = drawing->svg->body;
  g_autofree char *plain = fab_topology_name (topology, place_at (drawing, i)->vertex);
  gboolean is_hub = drawing->units->n > 1 && spot->half_width > BOX_WIDTH;
  g_autofree char *name = is_hub ? g_strdup_printf ("%s, which joins all %u GPUs", plain,
                                                    topology->cluster->gpus_per_node)
                                 : g_strdup (plain);

  fab_svg_open (svg, "rect");
  fab_svg_real (svg, "x", spot->x - spot->half_width);
  fab_svg_real (svg, "y", spot->y - BOX_HEIGHT / 2.0);
  fab_svg_real (svg, "width", 2 * spot->half_width);
  fab_svg_whole (svg, "height", BOX_HEIGHT);
  fab_topo_svg_end_box (svg, fills[kind_of (drawing, i)]);
  /* "gpu_bridge0" in a narrow box: two lines */
  char *part = strchr (name, '_');
  if (part == NULL || FAB_TOPO_SVG_LETTER * (double) strlen (name) <= 2 * spot->half_width + 2) {
    draw_name (drawing, spot, spot->y, name);
    return;
  }
  g_autofree char *first = g_strndup (name, (gsize) (part - name));
  draw_name (drawing, spot, spot->y - LINE / 2.0, first);
  draw_name (drawing, spot, spot->y + LINE / 2.0, part + 1);
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

double
fab_topo_svg_node (const FabTopoPicture *picture, FabTopoSvg *svg, double top)
{
  const FabTopology *topology = picture->topology;
  g_autofree Spot *spots = g_new0 (Spot, fab_graph_n_vertices (topology->cluster->graph) + 1);
  g_autofree Block *blocks = g_new0 (Block, topology->places->len + 1);
  Drawing drawing = {
    .topology = topology, .units = picture->units, .svg = svg, .spots = spots, .blocks = blocks, .top = top
  };

  draw_units (&drawing, top + UNITS / 2.0);
  drawing.top += picture->units->n > 1 ? UNITS : 0;
  choose_columns (&drawing);
  place_tree (&drawing);
  double bottom = place_below (&drawing);
  draw_links (&drawing);
  for (guint i = 0; i < topology->places->len; i++)
    if (is_drawn (&drawing, i))
      draw_vertex (&drawing, i);
  svg->width = MAX (svg->width, 2.0 * MARGIN + drawing.n_columns * drawing.column);
  return bottom;
}
