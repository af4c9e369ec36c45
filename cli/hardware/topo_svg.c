/* SPDX-License-Identifier: Apache-2.0 */
/* topo_svg.c - a machine as a drawing: a title, the fabric, a node, what the colours mean, and notes. */
#include <string.h>

#include "cli/hardware/topo_svg.h"
#include "cli/terminal/fold.h"

enum {
  MARGIN = FAB_TOPO_SVG_MARGIN,
  TITLE = 40,
  GAP = 30,
  LEGEND_LINE = 20,
  NOTE_LINE = 16,
  DESIGN_LINE = 18,
  TITLE_LETTERS = 80, /* of a line that fits the column of a page */
  NOTE_LETTERS = 110
};

static const char *const colours[] = { "#5b6770", "#2a9d4b", "#c2571a", "#3564b0",
                                       "#9b3fa8", "#b08a00", "#0f8f8f", "#b3324a" };

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

/* Adds words in lines of so many letters. */
static void
add_lines (GPtrArray *lines, const char *text, guint letters)
{
  g_autofree char *folded = fab_fold_prose (text, letters);
  g_auto (GStrv) parts = g_strsplit (g_strchomp (folded), "\n", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    g_ptr_array_add (lines, g_strdup (parts[i]));
}

/* Lines of small text; returns where they end. */
static double
draw_notes (FabTopoSvg *svg, const GPtrArray *texts, double top)
{
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < texts->len; i++)
    add_lines (notes, texts->pdata[i], NOTE_LETTERS);
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

/* "NAME: what it is", with the name on a line of its own where one would be wider than the column of a page. */
static void
add_title (GPtrArray *lines, const char *text)
{
  const char *colon = strstr (text, ": ");

  if (g_utf8_strlen (text, -1) <= TITLE_LETTERS || colon == NULL) {
    add_lines (lines, text, TITLE_LETTERS);
    return;
  }
  g_ptr_array_add (lines, g_strndup (text, (gsize) (colon + 1 - text)));
  add_lines (lines, colon + 2, TITLE_LETTERS);
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
    bottom = fab_topo_svg_node (picture, &svg, bottom);
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
