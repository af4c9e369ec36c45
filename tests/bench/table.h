/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - the figures as a table: on the terminal as they come, in Markdown in a page, and read from there
 * again. */
#pragma once

#include <glib.h>

typedef struct {
  const char *work;
  const char *things;     /* of a rate; NULL: seconds */
  const char *limit_name; /* NULL: the yardstick */
  const char *peer_name;  /* NULL: none */
  const char *peer_state; /* why `peer` is 0 */
  char *note;
  double value, limit, ratio, peer, goal;
  double recorded; /* of the peer, of another day; 0: none */
  gboolean is_measured;
} BenchLine;

typedef struct _BenchTable BenchTable;

BenchTable *bench_table_new (void);
void bench_table_free (BenchTable *self); /* accepts NULL */

/* The machine and the head; then every line as it is added; then what the load was. */
void bench_table_begin (BenchTable *self);
void bench_table_add (BenchTable *self, const BenchLine *line); /* copies */
void bench_table_end (BenchTable *self);

/* Replaces what follows the heading "## Results" of a page, to its end. `peers`: where their programs are, or
 * NULL. */
gboolean bench_table_write (const BenchTable *self, const char *page, const char *peers, GError **error);

/* The table of a page, for the ratios in it: 0 for work that it does not have. */
BenchTable *bench_table_read (const char *page, GError **error);
double bench_table_ratio (const BenchTable *self, const char *work);
