/* SPDX-License-Identifier: Apache-2.0 */
/* sums.h - what a chunk of data holds: a place of the operation's data, and the set of ranks whose data are added up
 * there. Equal sums are kept once and have a number. A sum is an array of guint: the number of words, the place, and
 * words with a bit per rank.
 */
#pragma once

#include <glib.h>

enum { FAB_SUM_PLACE = 1, FAB_SUM_WORDS = 2 };

typedef struct {
  guint n_words;
  GPtrArray *all;      /* guint *; the first one is NULL: nothing */
  GHashTable *numbers; /* from sum to its number */
  GHashTable *sums;    /* from two numbers to that of their sum */
  gsize n_bytes;
} FabSums;

void fab_sums_init (FabSums *self, guint n_ranks);
void fab_sums_clear (FabSums *self);

static inline const guint *
fab_sums_at (const FabSums *self, guint number)
{
  return g_ptr_array_index (self->all, number);
}

/* The data of one rank, and of all. Functions that return a number return 0 where there are more sums than have
 * room, 128 MiB. */
guint fab_sums_one (FabSums *self, guint place, guint rank);
guint fab_sums_of_all (FabSums *self, guint place, guint n_ranks);

/* Returns a rank whose data are in both; G_MAXUINT: none. */
guint fab_sums_find_twice (const FabSums *self, const guint *a, const guint *b);

/* Adds two sums of the same place that have no rank in common. */
guint fab_sums_add (FabSums *self, guint a, guint b);
