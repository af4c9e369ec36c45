/* SPDX-License-Identifier: Apache-2.0 */
/* test_node_wires.c - which members of two parts a wire connects, against the words of the catalogue. */
#include "tests/support/test.h"

#include "sim/scenario/node_wires.h"

static gboolean
joins (FabWireMap map, guint n_from, guint i, guint n_to, guint j)
{
  const FabWireSpec wire = { .map = map };

  return fab_wire_joins (&wire, &(FabWireEnd){ .n = n_from }, i, &(FabWireEnd){ .n = n_to }, j);
}

/* Two members of a ring of n are neighbours if the way round between them, in either direction, is one. */
static void
a_ring_joins_neighbours (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n < 10; n++)
    for (guint i = 0; i < n; i++)
      for (guint j = 0; j < n; j++) {
        guint apart = MAX (i, j) - MIN (i, j);

        assert_true (joins (FAB_WIRE_RING, n, i, n, j) == (apart == 1 || apart == n - 1));
      }
}

/* Members 0 and 1 are a pair, 2 and 3 the next one. */
static void
pairs_and_all (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 8; i++)
    for (guint j = 0; j < 8; j++) {
      assert_true (joins (FAB_WIRE_PAIRS, 8, i, 8, j)
                   == (i == j || (MIN (i, j) % 2 == 0 && i + j == 2 * MIN (i, j) + 1)));
      assert_true (joins (FAB_WIRE_ALL, 8, i, 8, j));
    }
}

/* Each member of the larger side has one of the smaller side; these have as many as each other, to one more or less,
 * and the order is kept. */
static void
blocks_share_out_evenly (G_GNUC_UNUSED void **state)
{
  for (guint small = 1; small < 7; small++)
    for (guint large = small; large < 20; large++) {
      guint counts[20] = { 0 }, last = 0;

      for (guint i = 0; i < large; i++) {
        guint n = 0;

        for (guint j = 0; j < small; j++) {
          gboolean is_joined = joins (FAB_WIRE_BLOCK, large, i, small, j);

          assert_true (joins (FAB_WIRE_BLOCK, small, j, large, i) == is_joined || small == large);
          if (!is_joined)
            continue;
          n++;
          counts[j]++;
          assert_true (j >= last);
          last = j;
        }
        assert_int_equal (n, 1);
      }
      for (guint j = 0; j < small; j++)
        assert_true (counts[j] >= large / small && counts[j] <= (large + small - 1) / small);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_ring_joins_neighbours),
    cmocka_unit_test (pairs_and_all),
    cmocka_unit_test (blocks_share_out_evenly),
  };

  return cmocka_run_group_tests_name ("node_wires", tests, NULL, NULL);
}
