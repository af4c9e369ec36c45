/* SPDX-License-Identifier: Apache-2.0 */
/* test_rails.c - the NICs of a group and the GPU next to each, against their definitions, and which NICs are on one
 * rail. GPUs that pass bytes on: test_hop.c. */
#include "tests/support/test.h"

#include "sim/machine/rails.h"
#include "tests/support/seeds.h"

enum { MOST = 8 };

/* Of k GPUs that are as near as the nearest one, `taken` left out, the (nic mod k)-th. */
static guint
nearest_of (const guint *hops, guint n_gpus, guint n_nics, guint nic, guint taken, guint *least)
{
  guint n = 0, at = 0;

  *least = G_MAXUINT;
  for (guint gpu = 0; gpu < n_gpus; gpu++)
    if (gpu != taken)
      *least = MIN (*least, hops[gpu * n_nics + nic]);
  for (guint gpu = 0; gpu < n_gpus; gpu++)
    n += gpu != taken && hops[gpu * n_nics + nic] == *least;
  for (guint gpu = 0; gpu < n_gpus; gpu++)
    if (gpu != taken && hops[gpu * n_nics + nic] == *least && at++ == nic % n)
      return gpu;
  g_assert_not_reached ();
}

/* The group has the first GPUs of the nodes. Its NICs are those that are as near to one of them as any. */
static void
check_rails (Random *random)
{
  guint n_all = random_between (random, 1, MOST), n_nics = random_between (random, 1, MOST),
        hops[MOST * MOST], leasts[MOST], nearest = G_MAXUINT, n_rails, n = 0;
  const FabCluster cluster = { .gpus_per_node = n_all, .nics_per_node = n_nics, .nic_hops = hops };
  const FabGroup group = { &cluster, 1, random_between (random, 1, n_all) };

  for (guint i = 0; i < n_all * n_nics; i++)
    hops[i] = random_chance (random, 20) ? G_MAXUINT : random_between (random, 2, 4);
  for (guint nic = 0; nic < n_nics; nic++) {
    guint taken = random_below (random, MOST), least, found;

    found = fab_rails_gpu (&group, nic, G_MAXUINT, &leasts[nic]);
    assert_int_equal (found, nearest_of (hops, group.gpus_per_node, n_nics, nic, G_MAXUINT, &least));
    assert_int_equal (leasts[nic], least);
    nearest = MIN (nearest, least);
    if (taken < group.gpus_per_node && group.gpus_per_node == 1)
      continue;
    guint hops_beside;
    found = fab_rails_gpu (&group, nic, taken, &hops_beside);
    assert_int_equal (found, nearest_of (hops, group.gpus_per_node, n_nics, nic, taken, &least));
    assert_int_equal (hops_beside, least);
  }
  g_autofree guint *rails = fab_rails_list (&group, &n_rails);
  for (guint nic = 0; nic < n_nics; nic++)
    if (leasts[nic] == nearest) {
      assert_true (n < n_rails);
      assert_int_equal (rails[n++], nic);
    }
  assert_int_equal (n_rails, n);
}

static void
nics_are_beside_their_nearest_gpus (G_GNUC_UNUSED void **state)
{
  seeds_run (1000, check_rails);
}

/* Without boards a NIC is on the rail of its number; with two NICs to a board, every second one is on the same rail. */
static void
nics_of_one_place_are_on_one_rail (G_GNUC_UNUSED void **state)
{
  const FabCluster one = { .nics_per_node = 4 }, boards = { .gpus_per_board = 4, .nics_per_board = 2 },
                   no_gpus = { .nics_per_board = 2 };

  for (guint a = 0; a < 6; a++)
    for (guint b = 0; b < 6; b++) {
      assert_int_equal (fab_rails_are_same (&one, a, b), a == b);
      assert_int_equal (fab_rails_are_same (&no_gpus, a, b), a == b);
      assert_int_equal (fab_rails_are_same (&boards, a, b), a % 2 == b % 2);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (nics_are_beside_their_nearest_gpus),
    cmocka_unit_test (nics_of_one_place_are_on_one_rail),
  };

  return cmocka_run_group_tests_name ("rails", tests, NULL, NULL);
}
