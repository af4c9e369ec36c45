/* SPDX-License-Identifier: Apache-2.0 */
/* paint.h - colours of a terminal. What a line is, is told by its own form, so that pages are composed without colours:
 * a title, a heading above a paragraph, the head of a table, a warning, what is exposed, what is best.
 */
#pragma once

#include <glib.h>

typedef enum {
  FAB_STYLE_PLAIN,
  FAB_STYLE_HEADING, /* bold */
  FAB_STYLE_WARNING, /* yellow */
  FAB_STYLE_BAD,     /* red: an error, exposed communication, what does not fit */
  FAB_STYLE_GOOD,    /* green: what is best */
  FAB_STYLE_FAINT,   /* idle columns */
} FabStyle;

/* Returns the control sequence that begins a style; that of FAB_STYLE_PLAIN ends any. */
const char *fab_paint_code (FabStyle style);

/* Appends a paragraph of `n` lines, which are as the screen will show them, with colours. `is_first`: the page begins
 * with it, and so with the page's title. */
void fab_paint_paragraph (GString *out, const char *const *lines, guint n, gboolean is_first);
