/* SPDX-License-Identifier: Apache-2.0 */
/* report_svg.h - single figures of a report as SVG, from the same data as the page: for papers and slides. */
#pragma once

#include <json-glib/json-glib.h>

enum { FAB_SVG_WIDTH = 960 };

/* What a figure is made of. Texts are anybody's: they are escaped, and long ones cut. */
GString *fab_svg_begin (double height, const char *title);
void fab_svg_rect (GString *svg, double x, double y, double width, double height, const char *fill);
void fab_svg_line (GString *svg, double x0, double y0, double x1, double y1, const char *stroke);
/* `anchor` is "start", "middle" or "end". */
void fab_svg_text (GString *svg, double x, double y, const char *anchor, const char *text);
char *fab_svg_end (GString *svg); /* (transfer full); frees `svg` */

/* Rows of small squares with names. */
void fab_svg_key (GString *svg, double y, const char *const *styles, const char *const *names, guint n);

/* Fills, as the page has them: "hidden", "exposed", "idle", ... */
const char *fab_svg_fill (const char *style);

/* The figures, of the data's root. NULL and *error when the data have nothing to draw. (transfer full) */
char *fab_svg_timeline (JsonObject *data, GError **error);
char *fab_svg_exposed (JsonObject *data, GError **error);
char *fab_svg_sweep (JsonObject *data, GError **error);

/* A figure by its name. */
char *fab_report_svg (const char *data, const char *figure, GError **error);
