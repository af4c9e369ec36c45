/* SPDX-License-Identifier: Apache-2.0 */
/* test_thread_pool.c - every item is worked on once, whatever the number of threads. */
#include "tests/support/test.h"

#include "sim/base/thread_pool.h"

enum { MOST = 1000 };

static void
count (gpointer data, guint item)
{
  ((guint *) data)[item]++;
}

static void
each_item_comes_once (G_GNUC_UNUSED void **state)
{
  static const guint threads[] = { 1, 2, 7, 100000, 0 };
  static const guint sizes[] = { 0, 1, 2, MOST };

  for (guint t = 0; t < G_N_ELEMENTS (threads); t++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
      guint counts[MOST + 1] = { 0 };

      fab_thread_pool_run (threads[t], sizes[s], count, counts);
      for (guint i = 0; i <= MOST; i++)
        assert_int_equal (counts[i], i < sizes[s]);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = { cmocka_unit_test (each_item_comes_once) };

  return cmocka_run_group_tests_name ("crew", tests, NULL, NULL);
}
