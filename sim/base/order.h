/* SPDX-License-Identifier: Apache-2.0 */
/* order.h - comparison functions for sorting. */
#pragma once

/* Compares two doubles for an ascending order, for qsort and g_array_sort. Neither may be NAN. */
static inline int
fab_order_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}
