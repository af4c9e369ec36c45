/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - a page with a decision: what a study says is collected here, and written as HTML once. */
#pragma once

#include <glib.h>

#include "sim/study/point.h"

/* A line of the plot: a value, and the band around it. */
typedef struct {
  char *name;
  double value, low, high; /* of the page's figure; low and high are NAN where there is no band */
  gboolean is_chosen;
} FabStudyMark;

typedef struct {
  char *title;         /* what is decided */
  char *subject;       /* of what; NULL: the title says it */
  GPtrArray *decision; /* char *; the first is the answer */
  char *plot;          /* what the plot shows */
  FabFigureKind kind;  /* of the marks */
  GArray *marks;       /* FabStudyMark */
  double bound;        /* a line through the plot; NAN: none */
  GPtrArray *columns;  /* char * */
  GPtrArray *rows;     /* GPtrArray of char *, one for each column; the first names the row */
  GArray *chosen;      /* guint: rows that the decision is about */
  guint n_left_out;    /* rows that the page has no room for */
  GPtrArray *cautions; /* char * */
} FabStudyPage;

FabStudyPage *fab_study_page_new (void);
void fab_study_page_free (FabStudyPage *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabStudyPage, fab_study_page_free)

void fab_study_page_say (FabStudyPage *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
void fab_study_page_caution (FabStudyPage *self, const char *text);
/* Columns and cells are NULL-ended. */
void fab_study_page_columns (FabStudyPage *self, const char *first, ...) G_GNUC_NULL_TERMINATED;
/* Adds a row to the table; `cells` are owned by the page from then on. */
void fab_study_page_row (FabStudyPage *self, gboolean is_chosen, char *first, ...) G_GNUC_NULL_TERMINATED;
void fab_study_page_mark (FabStudyPage *self, const char *name, double value, double low, double high,
                          gboolean is_chosen);

/* "43.0 %"; "-" for NAN. (transfer full) */
char *fab_study_show (FabFigureKind kind, double value);
/* "488 ms (423 ms to 775 ms)"; without the brackets where there is no band. (transfer full) */
char *fab_study_show_band (FabFigureKind kind, double value, double low, double high);

/* The whole page. `style` is CSS; `source` is where the study comes from. (transfer full) */
char *fab_study_page_html (const FabStudyPage *self, const char *style, const char *source);
