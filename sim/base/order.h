/* SPDX-License-Identifier: Apache-2.0 */
/* order.h - comparison functions for ascending orders, for qsort, g_array_sort and g_ptr_array_sort; sorting of
 * numbers that stand for something else. */
#pragma once

#include <glib.h>
#include <string.h>

/* Neither may be NAN. */
static inline int
fab_order_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* FabTimePs and other signed whole numbers. */
static inline int
fab_order_int64s (const void *a, const void *b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

/* FabBytes and other whole numbers. */
static inline int
fab_order_uint64s (const void *a, const void *b)
{
  guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return (x > y) - (x < y);
}

/* Ranks, places, FabLinkId. */
static inline int
fab_order_guints (const void *a, const void *b)
{
  guint x = *(const guint *) a, y = *(const guint *) b;

  return (x > y) - (x < y);
}

/* Pointers to texts, byte by byte; NULL comes first. */
static inline int
fab_order_texts (const void *a, const void *b)
{
  return g_strcmp0 (*(const char *const *) a, *(const char *const *) b);
}

/* Sorts numbers of rows, lanes or the like by what they stand for; `compare` gets pointers to two of them. Equal ones
 * keep their order. */
static inline void
fab_order_numbers (guint *numbers, guint n, GCompareDataFunc compare, gpointer data)
{
  g_autoptr (GArray) array = g_array_sized_new (FALSE, FALSE, sizeof *numbers, n);

  if (n < 2)
    return;
  g_array_append_vals (array, numbers, n);
  g_array_sort_with_data (array, compare, data);
  memcpy (numbers, array->data, n * sizeof *numbers);
}
