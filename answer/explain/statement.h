/* SPDX-License-Identifier: Apache-2.0 */
/* statement.h - one step of an explanation: a result, the formula it follows from, and the numbers in it.
 *
 * Formulas are plain arithmetic over the names of their terms (+ - * / and brackets), so that a program can
 * compute the value again from what is said.
 */
#pragma once

#include <glib.h>

typedef enum {
  FAB_TERM_TIME,  /* seconds */
  FAB_TERM_BYTES, /* bytes */
  FAB_TERM_RATE,  /* bytes per second */
  FAB_TERM_FLOPS,
  FAB_TERM_FLOPS_RATE, /* per second */
  FAB_TERM_FRACTION,
  FAB_TERM_NUMBER,
  FAB_TERM_MONEY, /* US dollars */
} FabTermKind;

typedef struct {
  const char *name; /* static: "mfu" */
  FabTermKind kind;
  double value;
} FabTerm;

typedef struct {
  guint depth;      /* 0: what was asked for; deeper ones explain terms of those above */
  char *title;      /* "compute" */
  const char *name; /* static, of the result */
  char *formula;    /* "flops / (peak * mfu)"; NULL: it is a number and no more */
  FabTermKind kind;
  double value;
  GArray *terms;    /* FabTerm */
  GPtrArray *notes; /* char *: sentences */
  char *source;     /* where numbers of it come from; NULL: nothing to say */
} FabStatement;

FabStatement *fab_statement_new (guint depth, const char *title, const char *name, FabTermKind kind,
                                 double value);
void fab_statement_free (FabStatement *self);

void fab_statement_formula (FabStatement *self, const char *formula);
void fab_statement_term (FabStatement *self, const char *name, FabTermKind kind, double value);
/* Where its numbers are from; an entry of a scenario may have neither a source nor a date (NULL). */
void fab_statement_origin (FabStatement *self, const char *source, const char *date);
void fab_statement_note (FabStatement *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* "654.5 ms", "51 GB", "312 TFLOP/s". (transfer full) */
char *fab_term_show (FabTermKind kind, double value);

/* The formula with numbers in place of names; NULL: it has none. (transfer full) */
char *fab_statement_numbers (const FabStatement *self);
