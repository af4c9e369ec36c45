/* SPDX-License-Identifier: Apache-2.0 */
/* test_ring_search.c - rings over direct links: Hamiltonian, within the links, and as many as there can be. */
#include "tests/support/test.h"

#include "sim/solve/ring_search.h"
#include "tests/support/mesh.h"
#include "tests/support/slow_rings.h"
#include "tests/support/technologies.h"

static FabRingSet
find_cycles (Wiring wiring)
{
  return fab_ring_search_cycles (wiring.counts, wiring.n);
}

/* `wanted` rings' worth: orders over load. */
static void
assert_cycles (Wiring wiring, double wanted)
{
  FabRingSet set = find_cycles (wiring);

  mesh_assert_orders (&wiring, &set, TRUE);
  assert_near ((double) set.n_orders / set.load, wanted, 1e-12);
  fab_ring_set_clear (&set);
}

/* Each GPU's links: 6 on V100, 4 on P100. */
static void
cube_meshes_use_every_link (G_GNUC_UNUSED void **state)
{
  assert_cycles (wiring_dgx1_v100 (), 6);
  assert_cycles (wiring_dgx1_p100 (), 4);
}

/* n - 1 links a pair. Tillson 1980: there are n - 1 cycles for every n but 4 and 6; these have twice as many, each
 * link twice. */
static void
full_meshes_use_every_link (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 16; n++)
    assert_cycles (wiring_full (n, 1), n - 1);
  assert_cycles (wiring_full (4, 4), 12);
  assert_cycles (wiring_full (4, 6), 18);
  assert_cycles (wiring_full (8, 3), 21);
}

static void
tori_use_every_link (G_GNUC_UNUSED void **state)
{
  assert_cycles (wiring_torus (2), 4);
  assert_cycles (wiring_torus (3), 6);
}

/* Of a DGX-1 V100: GPU 4 hangs on GPU 0 alone, so five have no ring; GPU 5's and 4's ways into the other quad are two
 * pairs of wires. */
static void
parts_of_a_mesh_have_what_their_links_allow (G_GNUC_UNUSED void **state)
{
  static const double wanted[] = { 1, 2, 4, 0, 2, 4, 6 };
  Wiring whole = wiring_dgx1_v100 ();

  for (guint n = 2; n <= 8; n++)
    assert_cycles (wiring_first (&whole, n), wanted[n - 2]);
}

/* Twins by 4 links, GPUs of different packages by 1 or 2. */
static void
uneven_meshes_have_rings (G_GNUC_UNUSED void **state)
{
  assert_cycles (wiring_of_rows (4, "0410 4001 1004 0140"), 2);
}

static void
pairs_have_no_ring_but_an_order (G_GNUC_UNUSED void **state)
{
  Wiring crossed = wiring_of_rows (4, "0040 0004 4000 0400");
  guint order[4];

  assert_cycles (crossed, 0);
  fab_ring_search_order (crossed.counts, 4, order);
  assert_true (order[0] == 0 && order[1] == 2 && order[2] == 1 && order[3] == 3);
  fab_ring_search_way (crossed.counts, 4, (FabPackArc){ 2, 3 }, order);
  assert_true (order[0] == 2 && order[1] == 0 && order[2] == 1 && order[3] == 3);
}

static void
check_paths (const Wiring *wiring, const FabPackArc *ends, guint n_paths, guint n_orders, guint load)
{
  FabRingSet set = fab_ring_search_paths (wiring->counts, wiring->n, ends, n_paths);

  mesh_assert_orders (wiring, &set, FALSE);
  assert_int_equal (set.n_orders, n_orders);
  assert_int_equal (set.load, load);
  for (guint i = 0; i < n_orders; i++) {
    FabPackArc end = ends[i / (n_orders / n_paths)];

    assert_int_equal (set.orders[i * wiring->n], end.from);
    assert_int_equal (set.orders[i * wiring->n + wiring->n - 1], end.to);
  }
  fab_ring_set_clear (&set);
}

/* 8 paths of 7 links are all 56 of them (Walecki's zigzag is such a set); 4 of 3 x 12 links three times over; a
 * torus's 64 links hold 16 paths of 15 four times over at best, and with a load of 8 they are found. */
static void
paths_use_every_link (G_GNUC_UNUSED void **state)
{
  Wiring full = wiring_full (8, 1), four = wiring_full (4, 4), torus = wiring_torus (2);
  FabPackArc ends[16];

  for (guint shift = 1; shift < 8; shift++) {
    for (guint i = 0; i < 8; i++)
      ends[i] = (FabPackArc){ i, (i + shift) % 8 };
    check_paths (&full, ends, 8, 8, 1);
  }
  for (guint i = 0; i < 4; i++)
    ends[i] = (FabPackArc){ i, (i + 1) % 4 };
  check_paths (&four, ends, 4, 12, 1);
  for (guint i = 0; i < 16; i++)
    ends[i] = (FabPackArc){ i, (i + 4) % 16 };
  check_paths (&torus, ends, 16, 16, 8);
}

/* Four NICs, each beside two GPUs: one path per NIC. */
static void
cube_meshes_have_a_path_per_nic (G_GNUC_UNUSED void **state)
{
  Wiring wirings[] = { wiring_dgx1_v100 (), wiring_dgx1_p100 () };
  const FabPackArc ends[] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 } };

  for (guint i = 0; i < G_N_ELEMENTS (wirings); i++)
    check_paths (&wirings[i], ends, 4, 4, 1);
}

/* Two colours: a path over all vertices of a torus ends on the colour on which it did not start. */
static void
paths_that_cannot_be_are_not_found (G_GNUC_UNUSED void **state)
{
  Wiring torus = wiring_torus (2);

  check_paths (&torus, (FabPackArc[]){ { 0, 2 } }, 1, 0, 1);
  check_paths (&torus, (FabPackArc[]){ { 3, 3 } }, 1, 0, 1);
}

/* 1 byte per ps and wire: busbw is what a GPU's wires carry, one direction; pairs of GPUs run at PCIe's tenth. */
static void
rings_are_as_fast_as_the_wires (G_GNUC_UNUSED void **state)
{
  const FabAlgorithmEnv env = { .net_stretch = 1 };
  Wiring wirings[] = { wiring_dgx1_v100 (), wiring_full (8, 1),
                       wiring_full (4, 6),  wiring_of_rows (4, "0040 0004 4000 0400"),
                       wiring_full (4, 1),  wiring_full (6, 1) };
  static const double wanted[] = { 6, 7, 18, 0.1, 3, 5 };

  for (guint i = 0; i < G_N_ELEMENTS (wirings); i++) {
    g_autoptr (Rig) rig = mesh_new (&wirings[i], 1, FALSE);
    FabGroup group = rig_group (rig);
    FabCollectiveForm form;

    assert_true (fab_algorithm_ring.form (&group, FAB_OP_ALL_REDUCE, &env, &form, NULL));
    assert_near (form.footprint->rate_bytes_per_s * fab_op_bus_factor (FAB_OP_ALL_REDUCE, wirings[i].n),
                 wanted[i] * 1e12, 1e-9);
    assert_int_equal (form.n_channels, MAX (wanted[i], 1));
    assert_ptr_equal (form.intra_technology, i == 3 ? &test_pcie : &test_nvlink);
    fab_footprint_free (form.footprint);
  }
}

/* Two nodes, eight NICs: each of the 56 wires carries one ring's eighth, and the NICs set the rate. */
static void
a_mesh_between_nodes_has_a_ring_per_nic (G_GNUC_UNUSED void **state)
{
  const FabAlgorithmEnv env = { .net_stretch = 1 };
  Wiring wiring = wiring_full (8, 1);
  g_autoptr (Rig) rig = mesh_new (&wiring, 2, TRUE);
  FabGroup group = rig_group (rig);
  FabCollectiveForm form;

  assert_true (fab_algorithm_ring.form (&group, FAB_OP_ALL_GATHER, &env, &form, NULL));
  assert_int_equal (form.n_channels, 8);
  assert_near (form.footprint->rate_bytes_per_s * 15 / 16, 0.8e12, 1e-9);
  for (guint i = 0; i < form.footprint->n; i++)
    assert_near (form.footprint->weights[i], 15.0 / 16 / 8, 1e-12);
  fab_footprint_free (form.footprint);
}

static void
the_answer_is_always_the_same (G_GNUC_UNUSED void **state)
{
  FabRingSet one = find_cycles (wiring_dgx1_v100 ()), two = find_cycles (wiring_dgx1_v100 ());

  assert_int_equal (one.n_orders, two.n_orders);
  assert_memory_equal (one.orders, two.orders, one.n_orders * 8 * sizeof (guint));
  fab_ring_set_clear (&one);
  fab_ring_set_clear (&two);
}

/* Every ring leaves every set of vertices, so that there are at most as many as links leave any set. */
static guint
least_cut (const Wiring *wiring)
{
  guint n = wiring->n, least = G_MAXUINT;

  for (guint set = 1; set < (1U << n) - 1; set++) {
    guint cut = 0;

    for (guint i = 0; i < n * n; i++)
      if ((set >> i / n & 1) && !(set >> i % n & 1))
        cut += wiring->counts[i];
    least = MIN (least, cut);
  }
  return least;
}

static void
assert_orders (FabRingSet set, const Wiring *wiring, gboolean closes, const char *const *orders)
{
  mesh_assert_orders (wiring, &set, closes);
  if (closes)
    assert_int_equal (set.n_orders, wiring->n <= SLOW_RINGS_MOST ? slow_rings_most (wiring, set.load)
                                                                 : set.load * least_cut (wiring));
  for (guint i = 0; i < set.n_orders; i++) {
    g_autoptr (GString) order = g_string_new (NULL);

    for (guint k = 0; k < wiring->n; k++)
      g_string_append_printf (order, "%x", set.orders[i * wiring->n + k]);
    assert_string_equal (order->str, orders[i]);
  }
  assert_null (orders[set.n_orders]);
  fab_ring_set_clear (&set);
}

#define ORDERS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* There are many sets that move the most: what all sets of small wirings, and all cuts of large ones, say. Of these the
 * search takes the same on every machine and in every version, so that the wires that a predicted ring uses do not
 * change by themselves. Some links of a part are spare, those of six are used twice. */
static void
the_same_orders_are_found_everywhere (G_GNUC_UNUSED void **state)
{
  Wiring whole = wiring_dgx1_v100 (), six = wiring_first (&whole, 6), seven = wiring_first (&whole, 7);
  Wiring full = wiring_full (5, 1), twice = wiring_full (6, 1), torus = wiring_torus (2);
  Wiring prism = wiring_of_rows (6, "011100 101010 110001 100011 010101 001110");
  const FabPackArc ends[] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 } }, one[] = { { 0, 4 } };

  assert_orders (find_cycles (whole), &whole, TRUE,
                 ORDERS ("04765123", "03215674", "04657312", "03267451", "01547623", "02137564"));
  assert_orders (find_cycles (six), &six, TRUE, ORDERS ("045132", "023154"));
  assert_orders (find_cycles (seven), &seven, TRUE, ORDERS ("0465123", "0321564", "0456231", "0132654"));
  assert_orders (find_cycles (full), &full, TRUE, ORDERS ("03241", "01423", "04312", "02134"));
  assert_orders (find_cycles (twice), &twice, TRUE,
                 ORDERS ("025134", "051432", "014235", "023541", "012453", "031245", "042153", "032541",
                         "043152", "052134"));
  assert_orders (find_cycles (torus), &torus, TRUE,
                 ORDERS ("0451def3267ba98c", "012ea659dcfb8473", "0c89abfed1562374", "03fcd9548b76ae21"));
  assert_orders (find_cycles (prism), &prism, TRUE,
                 ORDERS ("021453", "014352", "035412", "025341", "034521", "012543"));
  assert_orders (fab_ring_search_paths (whole.counts, 8, ends, 4), &whole, FALSE,
                 ORDERS ("02374651", "26754013", "47620315", "65123047"));
  assert_orders (fab_ring_search_paths (full.counts, 5, one, 1), &full, FALSE, ORDERS ("03214", "01234"));
}

/* 0 to 1 and 3, 2 to 0, and 3 to 1: the walk 2, 0, 1, 3 has two direct links, and those from elsewhere have one. */
static void
an_order_begins_where_most_links_follow (G_GNUC_UNUSED void **state)
{
  Wiring chain = wiring_of_rows (4, "0101 0000 1000 0100");
  Wiring none = wiring_of_rows (4, "0000 0000 0000 0000");
  static const guint from_two[] = { 2, 0, 1, 3 }, ascending[] = { 0, 1, 2, 3 };
  guint order[4];

  fab_ring_search_order (chain.counts, 4, order);
  assert_memory_equal (order, from_two, sizeof from_two);
  fab_ring_search_order (none.counts, 4, order);
  assert_memory_equal (order, ascending, sizeof ascending);
  fab_ring_search_way (none.counts, 4, (FabPackArc){ 0, 2 }, order);
  assert_true (order[0] == 0 && order[1] == 1 && order[2] == 3 && order[3] == 2);
}

/* 0 to 1 and 2, and 2 to 1. From 0 the walk 0, 1, 2 has one direct link, and from 1 the walk 1, 0, 2 has one as
 * well, but another one closes the ring. From 2 it is as many. */
static void
the_link_that_closes_an_order_counts (G_GNUC_UNUSED void **state)
{
  Wiring wiring = wiring_of_rows (3, "011 000 010");
  static const guint from_one[] = { 1, 0, 2 };
  guint order[3];

  fab_ring_search_order (wiring.counts, 3, order);
  assert_memory_equal (order, from_one, sizeof from_one);
}

/* A circle of wires, all in one direction: a ring over 64 vertices, and over more none is looked for. No path over
 * it ends one vertex after its beginning. */
static void
of_very_many_vertices_no_set_is_looked_for (G_GNUC_UNUSED void **state)
{
  const FabPackArc end = { 0, 1 };

  for (guint n = 64; n <= 65; n++) {
    g_autofree guint *counts = g_new (guint, n * n);

    for (guint i = 0; i < n * n; i++)
      counts[i] = (i / n + 1) % n == i % n;
    FabRingSet cycles = fab_ring_search_cycles (counts, n),
               paths = fab_ring_search_paths (counts, n, &end, 1);
    assert_int_equal (cycles.n_orders, n == 64);
    assert_int_equal (paths.n_orders, 0);
    assert_int_equal (paths.load, 1);
    fab_ring_set_clear (&cycles);
    assert_int_equal (cycles.n_orders, 0);
    assert_null (cycles.orders);
  }
}

static void
sets_are_compared_by_what_they_move (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabRingSet a, b;
    gboolean is_better;
  } rows[] = {
    { { 1, 1, NULL }, { 0, 1, NULL }, TRUE },  { { 0, 1, NULL }, { 0, 1, NULL }, FALSE },
    { { 3, 1, NULL }, { 5, 2, NULL }, TRUE },  { { 3, 1, NULL }, { 6, 2, NULL }, FALSE },
    { { 7, 2, NULL }, { 3, 1, NULL }, TRUE },  { { 5, 2, NULL }, { 3, 1, NULL }, FALSE },
    { { 0, 1, NULL }, { 1, 8, NULL }, FALSE }, { { 4, 4, NULL }, { 1, 1, NULL }, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_int_equal (fab_ring_set_is_better (&rows[i].a, &rows[i].b), rows[i].is_better);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (cube_meshes_use_every_link),
    cmocka_unit_test (full_meshes_use_every_link),
    cmocka_unit_test (tori_use_every_link),
    cmocka_unit_test (parts_of_a_mesh_have_what_their_links_allow),
    cmocka_unit_test (uneven_meshes_have_rings),
    cmocka_unit_test (pairs_have_no_ring_but_an_order),
    cmocka_unit_test (paths_use_every_link),
    cmocka_unit_test (cube_meshes_have_a_path_per_nic),
    cmocka_unit_test (paths_that_cannot_be_are_not_found),
    cmocka_unit_test (rings_are_as_fast_as_the_wires),
    cmocka_unit_test (a_mesh_between_nodes_has_a_ring_per_nic),
    cmocka_unit_test (the_answer_is_always_the_same),
    cmocka_unit_test (the_same_orders_are_found_everywhere),
    cmocka_unit_test (an_order_begins_where_most_links_follow),
    cmocka_unit_test (the_link_that_closes_an_order_counts),
    cmocka_unit_test (of_very_many_vertices_no_set_is_looked_for),
    cmocka_unit_test (sets_are_compared_by_what_they_move),
  };

  return cmocka_run_group_tests_name ("ring_search", tests, NULL, NULL);
}
