/* SPDX-License-Identifier: Apache-2.0 */
/* svg.h - writes a drawing as SVG, element by element: `topo` and `report --svg` draw with it.
 *
 * An element is opened, gets its attributes, and is ended: fab_svg_open, fab_svg_real ..., fab_svg_end. Coordinates are
 * pixels, written to a tenth whatever the locale. Texts are escaped: anybody may have written them.
 */
#pragma once

#include <glib.h>

/* Begins a drawing of this size with a background. `title` is what a screen reader says; NULL: nothing. */
void fab_svg_begin (GString *svg, double width, double height, guint font_size, const char *title,
                    const char *background);
/* Ends the drawing. */
void fab_svg_finish (GString *svg);

void fab_svg_open (GString *svg, const char *element);
void fab_svg_real (GString *svg, const char *attribute, double value);
void fab_svg_whole (GString *svg, const char *attribute, gint value);
void fab_svg_word (GString *svg, const char *attribute, const char *value);
void fab_svg_end (GString *svg);
/* Ends a `text` element with what it says. */
void fab_svg_end_text (GString *svg, const char *text);

/* Whole elements. */
void fab_svg_rect (GString *svg, double x, double y, double width, double height, const char *fill);
void fab_svg_line (GString *svg, double x0, double y0, double x1, double y1, const char *stroke);

typedef struct {
  double x, y;
} FabSvgPoint;

/* A line, or a curve towards `bend` where that is not NULL. */
void fab_svg_curve (GString *svg, FabSvgPoint from, const FabSvgPoint *bend, FabSvgPoint to,
                    const char *stroke, double width);
