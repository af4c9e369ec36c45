/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report_svg.h"

#include <string.h>

#include "cli/cli.h"
#include "sim/base/error.h"

enum { MAX_TEXT = 70, KEY_ROW = 20, LETTER = 6 };

/* The colours of cli/report/page.css in its light theme. */
static const struct {
  const char *style, *fill;
} fills[] = {
  { "forward", "#6aa5d6" }, { "backward", "#2f78b7" },    { "compute", "#174e80" }, { "hidden", "#2a9d7c" },
  { "load", "#b0659a" },    { "exposed", "url(#hatch)" }, { "wait", "url(#bars)" }, { "idle", "url(#dots)" },
};

static const char patterns[] =
    "<defs>"
    "<pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
    "<rect width=\"6\" height=\"6\" fill=\"#c8500a\"/><rect width=\"2\" height=\"6\" fill=\"#e9b18f\"/></pattern>"
    "<pattern id=\"dots\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"5\" height=\"5\" fill=\"#f0f2f4\"/>"
    "<circle cx=\"2.5\" cy=\"2.5\" r=\"0.9\" fill=\"#8b939e\"/></pattern>"
    "<pattern id=\"bars\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"4\" height=\"4\" fill=\"#f6deab\"/><rect width=\"1.4\" height=\"4\" fill=\"#e0a21b\"/></pattern>"
    "</defs>\n";

const char *
fab_svg_fill (const char *style)
{
  for (guint i = 0; i < G_N_ELEMENTS (fills); i++)
    if (strcmp (fills[i].style, style) == 0)
      return fills[i].fill;
  return style;
}

/* (transfer full) */
static char *
escaped (const char *text)
{
  g_autofree char *head = g_utf8_strlen (text, -1) > MAX_TEXT ? g_utf8_substring (text, 0, MAX_TEXT - 1)
                                                              : NULL;
  g_autofree char *cut = head ? g_strconcat (head, "\u2026", NULL) : g_strdup (text);
  g_autofree char *plain = fab_cli_printable (cut);

  return g_markup_escape_text (plain, -1);
}

GString *
fab_svg_begin (double height, const char *title)
{
  GString *svg = g_string_new (NULL);
  g_autofree char *name = escaped (title);

  g_string_append_printf (
      svg,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
      "font-family=\"sans-serif\" font-size=\"11\" role=\"img\">\n<title>%s</title>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      FAB_SVG_WIDTH, height, FAB_SVG_WIDTH, height, name);
  g_string_append (svg, patterns);
  g_string_append_printf (svg, "<text x=\"12\" y=\"22\" font-size=\"14\" font-weight=\"600\">%s</text>\n",
                          name);
  return svg;
}

/* Writes a coordinate to a tenth, whatever the locale. */
static void
append_number (GString *svg, const char *name, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (svg, " %s=\"%s\"", name, g_ascii_formatd (text, sizeof text, "%.1f", value));
}

void
fab_svg_rect (GString *svg, double x, double y, double width, double height, const char *fill)
{
  g_string_append (svg, "<rect");
  append_number (svg, "x", x);
  append_number (svg, "y", y);
  append_number (svg, "width", width);
  append_number (svg, "height", height);
  g_string_append_printf (svg, " fill=\"%s\"/>\n", fill);
}

void
fab_svg_line (GString *svg, double x0, double y0, double x1, double y1, const char *stroke)
{
  g_string_append (svg, "<line");
  append_number (svg, "x1", x0);
  append_number (svg, "y1", y0);
  append_number (svg, "x2", x1);
  append_number (svg, "y2", y1);
  g_string_append_printf (svg, " stroke=\"%s\"/>\n", stroke);
}

void
fab_svg_text (GString *svg, double x, double y, const char *anchor, const char *text)
{
  g_autofree char *shown = escaped (text);

  g_string_append (svg, "<text");
  append_number (svg, "x", x);
  append_number (svg, "y", y);
  g_string_append_printf (svg, " text-anchor=\"%s\">%s</text>\n", anchor, shown);
}

void
fab_svg_key (GString *svg, double y, const char *const *styles, const char *const *names, guint n)
{
  double x = 12;

  for (guint i = 0; i < n; i++) {
    double width = 36 + LETTER * (double) g_utf8_strlen (names[i], -1);

    if (x + width > FAB_SVG_WIDTH && x > 12) {
      x = 12;
      y += KEY_ROW;
    }
    fab_svg_rect (svg, x, y, 16, 11, fab_svg_fill (styles[i]));
    fab_svg_text (svg, x + 21, y + 10, "start", names[i]);
    x += width;
  }
}

char *
fab_svg_end (GString *svg)
{
  g_string_append (svg, "</svg>\n");
  return g_string_free (svg, FALSE);
}

char *
fab_report_svg (const char *data, const char *figure, GError **error)
{
  static const struct {
    const char *name;
    char *(*draw) (JsonObject *data, GError **error);
  } figures[] = { { "timeline", fab_svg_timeline },
                  { "exposed", fab_svg_exposed },
                  { "sweep", fab_svg_sweep } };
  static const char *const names[] = { "timeline", "exposed", "sweep", NULL };
  g_autoptr (JsonParser) parser = json_parser_new ();

  for (guint i = 0; i < G_N_ELEMENTS (figures); i++)
    if (strcmp (figures[i].name, figure) == 0)
      return json_parser_load_from_data (parser, data, -1, error)
               ? figures[i].draw (json_node_get_object (json_parser_get_root (parser)), error)
               : NULL;
  const char *nearest = fab_nearest (figure, names);
  fab_throw (error, FAB_ERROR_INPUT,
             "--svg %s: there is no such figure%s%s; there are timeline, exposed and sweep", figure,
             nearest ? "; nearest is " : "", nearest ? nearest : "");
  return NULL;
}
