/* SPDX-License-Identifier: Apache-2.0 */
/* test_rotation.c - how links of one orbit are turned against each other, and how many nodes share a link that stays
 * where it is. That runs do not change by it: test_rotate.c. */
#include "tests/support/test.h"

#include "sim/net/rotation.h"

/* A link that is turned by the number between two links takes the place of the other one. */
static void
what_is_between_turns_one_link_into_the_other (G_GNUC_UNUSED void **state)
{
  for (guint n = 1; n <= 4; n++)
    for (guint m = 1; m <= 4; m++) {
      FabRotation *rotation = fab_rotation_new (n * m, n, m);

      for (FabLinkId link = 0; link < n * m; link++)
        rotation->turn[link] = link;
      for (FabLinkId from = 0; from < n * m; from++)
        for (FabLinkId to = 0; to < n * m; to++) {
          guint32 by = fab_rotation_between (rotation, from, to);

          assert_true (by < n * m);
          assert_int_equal ((from / m + by / m) % n * m + (from % m + by % m) % m, to);
          for (guint8 stays = 0; stays < 4; stays++) {
            guint32 left = (stays & FAB_ROTATION_STAYS_IN_FIRST ? 0 : by / m * m)
                         + (stays & FAB_ROTATION_STAYS_IN_SECOND ? 0 : by % m);

            /* Said of either link, or of both. */
            rotation->stays[from] = stays;
            assert_int_equal (fab_rotation_between (rotation, from, to), left);
            rotation->stays[to] = stays;
            assert_int_equal (fab_rotation_between (rotation, from, to), left);
            rotation->stays[from] = 0;
            if (from != to)
              assert_int_equal (fab_rotation_between (rotation, from, to), left);
            rotation->stays[to] = 0;
          }
        }
      fab_rotation_unref (rotation);
    }
}

/* In the beginning every link stands for itself, and nothing is shared. */
static void
a_link_that_stays_is_shared (G_GNUC_UNUSED void **state)
{
  static const guint sharers[] = { 1, 3, 5, 15 };
  FabRotation *rotation = fab_rotation_new (4, 3, 5), *again = fab_rotation_ref (rotation);

  assert_ptr_equal (again, rotation);
  fab_rotation_unref (again);
  fab_rotation_unref (NULL);
  assert_int_equal (rotation->n_links, 4);
  assert_int_equal (rotation->n_shared, 0);
  assert_int_equal (rotation->orders[0], 3);
  assert_int_equal (rotation->orders[1], 5);
  for (FabLinkId link = 0; link < 4; link++) {
    assert_int_equal (rotation->stands_for[link], link);
    assert_int_equal (rotation->next[link], link);
    assert_int_equal (rotation->turn[link], 0);
    assert_int_equal (fab_rotation_sharers (rotation, link), 1);
    rotation->stays[link] = (guint8) link;
    assert_int_equal (fab_rotation_sharers (rotation, link), sharers[link]);
  }
  fab_rotation_unref (rotation);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_is_between_turns_one_link_into_the_other),
    cmocka_unit_test (a_link_that_stays_is_shared),
  };

  return cmocka_run_group_tests_name ("rotation", tests, NULL, NULL);
}
