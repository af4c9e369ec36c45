/* SPDX-License-Identifier: Apache-2.0 */
/* test_node_wires.c - which members of two parts a wire connects, against the words of the catalogue. */
#include "tests/support/test.h"

#include "sim/scenario/node_wires.h"
#include "tests/support/random.h"

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

/* A name is that of a whole part, else that of one member of it. */
static void
ends_are_parts_or_members (G_GNUC_UNUSED void **state)
{
  FabPartSpec parts[] = { { "cpu", FAB_PART_HOST, 12, 1 },
                          { "gpu", FAB_PART_ACCELERATOR, 2, 1 },
                          { "gpu_b", FAB_PART_ACCELERATOR, 3, 1 },
                          { "gpu11", FAB_PART_ACCELERATOR, 4, 1 } };
  const FabNodeSpec node = { .parts = { parts, G_N_ELEMENTS (parts) } };
  static const struct {
    const char *name;
    FabWireEnd end;
  } rows[] = { { "cpu", { 0, 0, 12 } },   { "cpu0", { 0, 0, 1 } },  { "cpu11", { 0, 11, 1 } },
               { "gpu", { 1, 0, 2 } },    { "gpu1", { 1, 1, 1 } },  { "gpu_b", { 2, 0, 3 } },
               { "gpu_b2", { 2, 2, 1 } }, { "gpu11", { 3, 0, 4 } }, { "gpu113", { 3, 3, 1 } } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabWireEnd end = fab_wire_end (&node, rows[i].name);

    assert_int_equal (end.part, rows[i].end.part);
    assert_int_equal (end.first, rows[i].end.first);
    assert_int_equal (end.n, rows[i].end.n);
  }
}

enum { MOST_SOCKETS = 24 };

static guint
part_of_socket (const FabPartSpec *parts, guint n, guint socket, guint *member)
{
  for (guint p = 0; p < n; p++) {
    guint count = parts[p].kind == FAB_PART_HOST ? (guint) parts[p].count : 0;

    if (socket < count) {
      *member = socket;
      return p;
    }
    socket -= count;
  }
  g_assert_not_reached ();
}

static gboolean
names (const FabNodeSpec *node, const char *name, guint part, guint member, guint *index)
{
  FabWireEnd end = fab_wire_end (node, name);

  *index = member - end.first;
  return end.part == part && member >= end.first && member < end.first + end.n;
}

/* Systems are sets of sockets that wires between sockets join, over any number of them; what else they are joined to
 * does not count. Against reaching every socket from every other one. A node without a socket is one system. */
static void
systems_are_sockets_that_reach_each_other (G_GNUC_UNUSED void **state)
{
  for (guint seed = 0; seed < 500; seed++) {
    Random random = { seed };
    FabPartSpec parts[] = { { "a", FAB_PART_HOST, random_between (&random, 1, 5), 1 },
                            { "gpu", FAB_PART_ACCELERATOR, random_between (&random, 1, 8), 1 },
                            { "b", FAB_PART_HOST, random_between (&random, 1, 8), 1 },
                            { "nic", FAB_PART_NIC, random_between (&random, 1, 4), 1 },
                            { "c", FAB_PART_HOST, random_between (&random, 1, 3), 1 } };
    FabWireSpec wires[6];
    char texts[6][2][8];
    guint n_sockets = (guint) (parts[0].count + parts[2].count + parts[4].count), n_systems = 0;
    gboolean is_near[MOST_SOCKETS][MOST_SOCKETS] = { { FALSE } };

    for (guint w = 0; w < 6; w++) {
      guint from = random_below (&random, 5),
            to = random_chance (&random, 40) ? from : random_below (&random, 5);
      guint ends[] = { from, to };

      for (guint e = 0; e < 2; e++) {
        if (random_chance (&random, 40))
          g_snprintf (texts[w][e], sizeof texts[w][e], "%s%u", parts[ends[e]].name,
                      random_below (&random, (guint) parts[ends[e]].count));
        else
          g_snprintf (texts[w][e], sizeof texts[w][e], "%s", parts[ends[e]].name);
      }
      wires[w] = (FabWireSpec){
        .from = texts[w][0], .to = texts[w][1], .count = 1, .map = (int) random_below (&random, 4)
      };
    }
    const FabNodeSpec node = { .parts = { parts, 5 }, .wires = { wires, random_below (&random, 7) } };
    for (guint s = 0; s < n_sockets; s++)
      for (guint t = 0; t < n_sockets; t++) {
        guint i, j, from, to, s_part = part_of_socket (parts, 5, s, &from),
                              t_part = part_of_socket (parts, 5, t, &to);

        is_near[s][t] |= s == t;
        for (guint w = 0; w < node.wires.n; w++)
          if (names (&node, wires[w].from, s_part, from, &i) && names (&node, wires[w].to, t_part, to, &j)) {
            FabWireEnd one = fab_wire_end (&node, wires[w].from), other = fab_wire_end (&node, wires[w].to);

            if (fab_wire_joins (&wires[w], &one, i, &other, j))
              is_near[s][t] = is_near[t][s] = TRUE;
          }
      }
    for (guint k = 0; k < n_sockets; k++)
      for (guint s = 0; s < n_sockets; s++)
        for (guint t = 0; t < n_sockets; t++)
          is_near[s][t] |= is_near[s][k] && is_near[k][t];
    for (guint s = 0; s < n_sockets; s++) {
      gboolean is_first = TRUE;

      for (guint t = 0; t < s; t++)
        is_first &= !is_near[s][t];
      n_systems += is_first;
    }
    assert_int_equal (fab_node_spec_n_systems (&node), n_systems);
  }
  FabPartSpec gpu = { "gpu", FAB_PART_ACCELERATOR, 2, 1 };
  assert_int_equal (fab_node_spec_n_systems (&(FabNodeSpec){ .parts = { &gpu, 1 } }), 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_ring_joins_neighbours),
    cmocka_unit_test (pairs_and_all),
    cmocka_unit_test (blocks_share_out_evenly),
    cmocka_unit_test (ends_are_parts_or_members),
    cmocka_unit_test (systems_are_sockets_that_reach_each_other),
  };

  return cmocka_run_group_tests_name ("node_wires", tests, NULL, NULL);
}
