/* SPDX-License-Identifier: Apache-2.0 */
/* test.h - cmocka and what it needs before it, and equality of numbers that were rounded. */
#pragma once

#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* |a - b| <= relative x the larger one. Nothing is near what is not finite. A tolerance of half and more is one that
 * was meant in the unit of the numbers. */
static inline gboolean
is_near (double a, double b, double relative)
{
  g_assert (relative >= 0 && relative < 0.5);
  return isfinite (a) && isfinite (b) && fabs (a - b) <= relative * MAX (fabs (a), fabs (b));
}

#define assert_near(a, b, relative)                          \
  do {                                                       \
    double a_ = (a), b_ = (b);                               \
    if (!is_near (a_, b_, relative))                         \
      fail_msg ("%s is %.17g, %s is %.17g", #a, a_, #b, b_); \
  } while (0)
