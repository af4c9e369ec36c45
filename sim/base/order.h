/* SPDX-License-Identifier: Apache-2.0 */
/* order.h - orders to sort by. */
#pragma once

/* Ascending, for qsort and g_array_sort; of numbers, none of them NAN. */
static inline int
fab_order_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}
