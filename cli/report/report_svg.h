/* SPDX-License-Identifier: Apache-2.0 */
/* report_svg.h - draws single figures of a report as SVG for papers and slides, from the page's data. */
#pragma once

#include <json-glib/json-glib.h>

#include "cli/svg.h"

enum { FAB_SVG_WIDTH = 720 };

/* Draw the parts of a figure, with cli/svg.h. Long texts are cut. */
GString *fab_report_svg_begin (double height, const char *title);
/* `anchor` is "start", "middle" or "end". */
void fab_report_svg_text (GString *svg, double x, double y, const char *anchor, const char *text);
/* The distance of the lines of an axis: 1, 2 or 5 times a power of ten, of which at most five reach `most`. */
double fab_report_svg_round_step (double most);
char *fab_report_svg_end (GString *svg); /* (transfer full); frees `svg` */

/* Draws a row of small squares with names. */
void fab_report_svg_key (GString *svg, double y, const char *const *styles, const char *const *names,
                         guint n);

/* Adds the patterns that some fills name. */
void fab_report_svg_add_patterns (GString *svg);

/* Returns a fill colour of the page by its style: "hidden", "exposed", "idle", ... */
const char *fab_report_svg_fill (const char *style);

/* Draws the timeline from the root of the data. NULL and *error when the data have nothing to draw. (transfer full) */
char *fab_report_svg_timeline (JsonObject *data, GError **error);

typedef struct {
  double start, end; /* ns from the start of the iteration */
} FabSvgInterval;

enum { FAB_SVG_COMPUTE = 0, FAB_SVG_COMM = 1 };

/* FabSvgInterval of one kind of the first class of ranks, in order and without overlaps. (transfer full) */
GArray *fab_report_svg_intervals (JsonObject *run, guint kind);

/* Draws the last iterations of runs as they go by, below one another: what GPUs and network do. (transfer full) */
char *fab_report_svg_wait (JsonObject *data, GError **error);

/* Draws a figure by its name. (transfer full) */
char *fab_report_svg (const char *data, const char *figure, GError **error);
