/* SPDX-License-Identifier: Apache-2.0 */
/* test_skips.c - rings of packets of which most rounds are skipped end when they end with all of them. Random ones:
 * tests/property/prop_episodes.c.
 */
#include "tests/support/test.h"

#include "tests/support/play.h"

static FabCatalog *catalog;

typedef struct {
  FabTimePs end_ps;
  guint64 n_events, n_skipped;
} Outcome;

static Outcome
play_ring (guint n_nodes, const char *size, const char *more, gboolean has_skips)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: rings\niterations: 1\nfidelity: {kind: packet, mtu: 16KiB, skip: %s}\n"
      "collectives: {kind: plain, algorithm: ring}\n"
      "cluster: {node: dgx-a100, nodes: %u, gpus_per_node: 8, nics_per_node: 2, fabric: switch}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: %s}]}\n%s",
      has_skips ? "true" : "false", n_nodes, size, more);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  assert_true (fab_simulation_step (play->simulation));
  return (Outcome){
    g_array_index (fab_simulation_probe (play->simulation)->iterations, FabIterationRecord, 0).duration_ps,
    fab_simulation_memo_record (play->simulation).n_events,
    fab_simulation_episodes (play->simulation).n_skipped
  };
}

/* All lanes are alike, and what cannot be skipped is less of a ring the longer it is: of n ranks each sends 2 (n - 1)
 * messages, of which the first ones show the pace and the last ones are played. */
static void
rings_whose_lanes_are_alike_are_mostly_skipped (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_nodes;
    const char *size;
    guint percent; /* of the events without skips, at most */
  } rows[] = { { 2, "16MB", 70 }, { 2, "64MB", 60 }, { 4, "32MB", 40 }, { 8, "64MB", 20 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Outcome some = play_ring (rows[i].n_nodes, rows[i].size, "", TRUE),
            all = play_ring (rows[i].n_nodes, rows[i].size, "", FALSE);

    assert_near ((double) some.end_ps, (double) all.end_ps, 3e-3);
    assert_int_equal (all.n_skipped, 0);
    assert_true (some.n_skipped > 0);
    if (100 * some.n_events > rows[i].percent * all.n_events)
      fail_msg ("%u nodes: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT, rows[i].n_nodes, some.n_events,
                all.n_events);
  }
}

/* Where messages are short, hops between nodes take longer than those inside, and a round takes what its hops take in
 * the mean. Whether some of it is skipped or not, the ring ends at its time. */
static void
rings_of_short_messages_end_at_their_time (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_nodes;
    const char *size;
  } rows[] = { { 4, "50KB" }, { 4, "100KB" }, { 4, "200KB" }, { 4, "500KB" }, { 8, "100KB" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_near ((double) play_ring (rows[i].n_nodes, rows[i].size, "", TRUE).end_ps,
                 (double) play_ring (rows[i].n_nodes, rows[i].size, "", FALSE).end_ps, 1e-4);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rings_whose_lanes_are_alike_are_mostly_skipped),
    cmocka_unit_test (rings_of_short_messages_end_at_their_time),
  };

  return play_run_tests ("skips", tests, &catalog);
}
