/* SPDX-License-Identifier: Apache-2.0 */
/* report_svg.h - draws single figures of a report as SVG for papers and slides, from the page's data. */
#pragma once

#include <json-glib/json-glib.h>

enum { FAB_SVG_WIDTH = 960 };

/* Draw the parts of a figure. Texts are escaped, and long ones cut: anybody may have written them. */
GString *fab_svg_begin (double height, const char *title);
void fab_svg_line (GString *svg, double x0, double y0, double x1, double y1, const char *stroke);

/* `anchor` is "start", "middle" or "end". */
void fab_svg_text (GString *svg, double x, double y, const char *anchor, const char *text);
char *fab_svg_end (GString *svg); /* (transfer full); frees `svg` */

/* Draws a row of small squares with names. */
void fab_svg_key (GString *svg, double y, const char *const *styles, const char *const *names, guint n);

/* Returns a fill colour of the page by its style: "hidden", "exposed", "idle", ... */
const char *fab_svg_fill (const char *style);

/* Draw figures from the root of the data. NULL and *error when the data have nothing to draw. (transfer full) */
char *fab_svg_timeline (JsonObject *data, GError **error);

/* Draws a figure by its name. (transfer full) */
char *fab_report_svg (const char *data, const char *figure, GError **error);
