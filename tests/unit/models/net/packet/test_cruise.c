/* SPDX-License-Identifier: Apache-2.0 */
/* test_cruise.c - the middle of long messages that is not played, where packets take all shortest paths in turn: links
 * carry what they carry when every packet is played, also when another message ends a skip before its time.
 */
#include "tests/support/test.h"

#include "tests/support/play.h"

static FabCatalog *catalog;

/* Nodes of four leaves send to nodes of the next one, over four spines. */
static Play *
play_messages (const char *job, const char *fidelity)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\nfidelity: {kind: packet, fold: false, mtu: 4000B%s}\ncollectives: plain\n"
      "cluster: {node: dgx-h100, nodes: 16, gpus_per_node: 1, nics_per_node: 1, route: spray,\n"
      "          fabric: {kind: rail, nodes_per_leaf: 4}}\n"
      "job: {kind: traffic, pattern: shift, distance: 4, %s}\n",
      fidelity, job);

  return play_new (catalog, yaml, NULL);
}

static double
step_s (const Play *play)
{
  assert_true (fab_simulation_step (play->simulation));
  return fab_ps_to_seconds (
      g_array_index (fab_simulation_probe (play->simulation)->iterations, FabIterationRecord, 0).duration_ps);
}

/* Every link carries as many bytes, to the packets by which two messages may differ. */
static void
assert_carries_alike (const char *job)
{
  const gint64 packet_bytes = 4000;
  g_autoptr (Play) quick = play_messages (job, ""), whole = play_messages (job, ", skip: false");

  assert_near (step_s (quick), step_s (whole), 1e-3);
  const GArray *x = fab_simulation_probe (quick->simulation)->link_loads,
               *y = fab_simulation_probe (whole->simulation)->link_loads;
  gint64 all = 0;
  assert_int_equal (x->len, y->len);
  for (guint i = 0; i < x->len; i++) {
    const FabLinkLoadRecord *a = &g_array_index (x, FabLinkLoadRecord, i),
                            *b = &g_array_index (y, FabLinkLoadRecord, i);
    gint64 more = (gint64) a->bytes - (gint64) b->bytes;

    assert_int_equal (a->link, b->link);
    assert_true (ABS (more) <= 2 * packet_bytes);
    all += more;
  }
  assert_true (ABS (all) <= x->len);
  assert_true (2 * fab_simulation_memo_record (quick->simulation).n_events
               < fab_simulation_memo_record (whole->simulation).n_events);
}

static void
links_carry_what_they_carry_packet_by_packet (G_GNUC_UNUSED void **state)
{
  assert_carries_alike ("size: 40MB");
  assert_carries_alike ("size: 40MB, arrivals: poisson, load: 0.4, flows: 6");
}

/* A message of 10 000 million packets takes 1000 times as long as one of 10 million, and links carry as much. */
static void
messages_may_have_more_packets_than_32_bits_count (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) large = play_messages ("size: 40TB", ""), small = play_messages ("size: 40GB", "");
  double large_s = step_s (large), small_s = step_s (small);
  const GArray *x = fab_simulation_probe (large->simulation)->link_loads,
               *y = fab_simulation_probe (small->simulation)->link_loads;

  assert_near (large_s, 1000 * small_s, 1e-4);
  assert_int_equal (x->len, y->len);
  for (guint i = 0; i < x->len; i++)
    assert_near ((double) g_array_index (x, FabLinkLoadRecord, i).bytes,
                 1000 * (double) g_array_index (y, FabLinkLoadRecord, i).bytes, 1e-4);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (messages_may_have_more_packets_than_32_bits_count),
    cmocka_unit_test (links_carry_what_they_carry_packet_by_packet),
  };

  return play_run_tests ("cruise", tests, &catalog);
}
