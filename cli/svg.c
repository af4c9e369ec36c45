/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/svg.h"

/* To so many places, as "%.1f" says. */
static void
append_number (GString *svg, const char *format, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (svg, g_ascii_formatd (text, sizeof text, format, value));
}

static void
append_point (GString *svg, FabSvgPoint point)
{
  append_number (svg, "%.1f", point.x);
  g_string_append_c (svg, ' ');
  append_number (svg, "%.1f", point.y);
}

static void
append_escaped (GString *svg, const char *text)
{
  g_autofree char *escaped = g_markup_escape_text (text, -1);

  g_string_append (svg, escaped);
}

void
fab_svg_begin (GString *svg, double width, double height, guint font_size, const char *title,
               const char *background)
{
  g_string_append_printf (
      svg,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
      "font-family=\"sans-serif\" font-size=\"%u\"",
      width, height, width, height, font_size);
  if (title != NULL) {
    g_string_append (svg, " role=\"img\">\n<title>");
    append_escaped (svg, title);
    g_string_append (svg, "</title>\n");
  } else {
    g_string_append (svg, ">\n");
  }
  fab_svg_open (svg, "rect");
  fab_svg_word (svg, "width", "100%");
  fab_svg_word (svg, "height", "100%");
  fab_svg_word (svg, "fill", background);
  fab_svg_end (svg);
}

void
fab_svg_finish (GString *svg)
{
  g_string_append (svg, "</svg>\n");
}

void
fab_svg_open (GString *svg, const char *element)
{
  g_string_append_printf (svg, "<%s", element);
}

void
fab_svg_real (GString *svg, const char *attribute, double value)
{
  g_string_append_printf (svg, " %s=\"", attribute);
  append_number (svg, "%.1f", value);
  g_string_append_c (svg, '"');
}

void
fab_svg_whole (GString *svg, const char *attribute, gint value)
{
  g_string_append_printf (svg, " %s=\"%d\"", attribute, value);
}

void
fab_svg_word (GString *svg, const char *attribute, const char *value)
{
  g_string_append_printf (svg, " %s=\"", attribute);
  append_escaped (svg, value);
  g_string_append_c (svg, '"');
}

void
fab_svg_end (GString *svg)
{
  g_string_append (svg, "/>\n");
}

void
fab_svg_end_text (GString *svg, const char *text)
{
  g_string_append_c (svg, '>');
  append_escaped (svg, text);
  g_string_append (svg, "</text>\n");
}

void
fab_svg_rect (GString *svg, double x, double y, double width, double height, const char *fill)
{
  fab_svg_open (svg, "rect");
  fab_svg_real (svg, "x", x);
  fab_svg_real (svg, "y", y);
  fab_svg_real (svg, "width", width);
  fab_svg_real (svg, "height", height);
  fab_svg_word (svg, "fill", fill);
  fab_svg_end (svg);
}

void
fab_svg_line (GString *svg, double x0, double y0, double x1, double y1, const char *stroke)
{
  fab_svg_open (svg, "line");
  fab_svg_real (svg, "x1", x0);
  fab_svg_real (svg, "y1", y0);
  fab_svg_real (svg, "x2", x1);
  fab_svg_real (svg, "y2", y1);
  fab_svg_word (svg, "stroke", stroke);
  fab_svg_end (svg);
}

void
fab_svg_curve (GString *svg, FabSvgPoint from, const FabSvgPoint *bend, FabSvgPoint to, const char *stroke,
               double width)
{
  g_string_append (svg, "<path d=\"M");
  append_point (svg, from);
  if (bend != NULL) {
    g_string_append (svg, " Q");
    append_point (svg, *bend);
    g_string_append_c (svg, ' ');
  } else {
    g_string_append (svg, " L");
  }
  append_point (svg, to);
  g_string_append_c (svg, '"');
  fab_svg_word (svg, "fill", "none");
  fab_svg_word (svg, "stroke", stroke);
  fab_svg_real (svg, "stroke-width", width);
  fab_svg_end (svg);
}
