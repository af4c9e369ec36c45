/* SPDX-License-Identifier: Apache-2.0 */
/* drawing.h - reads a drawing in SVG back, so that tests can ask where its shapes and words stand.
 *
 *   text  --drawing_read-->  elements in their order, with attributes and words
 */
#pragma once

#include <glib.h>

typedef struct {
  char *name;
  GHashTable *attributes; /* char * by char * */
  GString *words;
} DrawnElement;

typedef struct {
  double x, y, width, height;
} DrawnBlock;

/* DrawnElement. The test fails where the text is no XML. (transfer full) */
GPtrArray *drawing_read (const char *svg);
const DrawnElement *drawing_at (const GPtrArray *drawing, guint i);

/* An attribute; NULL and NAN where it is missing. */
const char *drawn_word (const DrawnElement *element, const char *attribute);
double drawn_number (const DrawnElement *element, const char *attribute);

/* Elements of a name: those with this fill or stroke, where `colour` is not NULL. (transfer container) */
GPtrArray *drawing_find (const GPtrArray *drawing, const char *name, const char *colour);
/* The only text with these words. The test fails where there is none, or more than one. */
const DrawnElement *drawing_text (const GPtrArray *drawing, const char *words);
gboolean drawing_says (const GPtrArray *drawing, const char *words);

/* DrawnBlock of a path that is one rectangle after another: all of those with this fill. (transfer full) */
GArray *drawing_blocks (const GPtrArray *drawing, const char *fill);

/* The colour "#rrggbb" as light as it looks, from 0 to 255. */
double drawn_light (const char *colour);

/* Every shape and every text lies in the drawing, and no two texts on one line overlap, where a letter is `letter`
 * pixels wide. */
void drawing_assert_tidy (const GPtrArray *drawing, double letter);
