/* SPDX-License-Identifier: Apache-2.0 */
/* svg_text.h - the text of a drawing, for small ones of which each place is known. */
#pragma once

#include "cli/report/report_svg.h"
#include "tests/support/drawing.h"

/* The size of a drawing, and its text from behind the patterns on, with ' for ". (transfer full) */
static inline char *
svg_text (const char *data, const char *figure)
{
  g_autofree char *svg = fab_report_svg (data, figure, NULL);
  g_autoptr (GPtrArray) drawing = drawing_read (svg);
  const DrawnElement *root = drawing_at (drawing, 0);
  char *text = g_strdup_printf ("%s x %s\n%s", drawn_word (root, "width"), drawn_word (root, "height"),
                                strstr (svg, "</defs>\n") + strlen ("</defs>\n"));

  return g_strdelimit (text, "\"", '\'');
}
