/* SPDX-License-Identifier: Apache-2.0 */
/* test_queue_lengths.c - how long a queue was for how much of the time; and that a run counts so. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/net/queue_lengths.h"
#include "sim/result/record.h"
#include "tests/support/play.h"

/* Empty for 60 us, 1000 B for 30 us, 1 MB for 10 us. Percentiles are at most 9 % too long. */
static void
percentiles_are_parts_of_the_time (G_GNUC_UNUSED void **state)
{
  FabQueueLengths lengths = { 0 };

  fab_queue_lengths_add (&lengths, 1000000, 10000000);
  fab_queue_lengths_add (&lengths, 0, 60000000);
  fab_queue_lengths_add (&lengths, 1000, 30000000);
  assert_int_equal (fab_queue_lengths_percentile (&lengths, 0.5), 0);
  assert_int_equal (fab_queue_lengths_percentile (&lengths, 0.6), 0);
  assert_in_range (fab_queue_lengths_percentile (&lengths, 0.61), 1000, 1091);
  assert_in_range (fab_queue_lengths_percentile (&lengths, 0.9), 1000, 1091);
  assert_in_range (fab_queue_lengths_percentile (&lengths, 0.99), 1000000, 1091000);
}

static void
no_time_has_no_length (G_GNUC_UNUSED void **state)
{
  FabQueueLengths lengths = { 0 };

  assert_int_equal (fab_queue_lengths_percentile (&lengths, 0.99), 0);
}

/* Every length up to 4 GiB, the longest one too, is in a bin that does not end below it. */
static void
no_percentile_is_too_short (G_GNUC_UNUSED void **state)
{
  for (guint64 length = 1; length < G_GUINT64_CONSTANT (6) << 30; length = length * 5 / 4 + 1) {
    guint32 bytes = (guint32) MIN (length, G_MAXUINT32);
    FabQueueLengths lengths = { 0 };

    fab_queue_lengths_add (&lengths, bytes, 1);
    FabBytes p = fab_queue_lengths_percentile (&lengths, 0.5);
    assert_true (p >= bytes && (double) p <= MAX (64, 1.091 * (double) bytes));
  }
}

/* Eight bins to a doubling from 64 B on, each with its own end in it: 64 B x 2^(k / 8). */
static void
a_bin_ends_where_the_next_one_begins (G_GNUC_UNUSED void **state)
{
  for (guint k = 0; k <= 200; k += 8) {
    FabQueueLengths at = { 0 }, above = { 0 };
    guint32 end = (guint32) 64 << k / 8;

    fab_queue_lengths_add (&at, end, 1);
    fab_queue_lengths_add (&above, end + 1, 1);
    assert_int_equal (at.time_ps[k + 1], 1);
    assert_int_equal (above.time_ps[k + 2], 1);
    assert_int_equal (fab_queue_lengths_percentile (&at, 1), end);
    assert_int_equal (fab_queue_lengths_percentile (&above, 1), (FabBytes) (end * exp2 (0.125) + 0.5));
  }
}

static void
two_queues_add_up (G_GNUC_UNUSED void **state)
{
  FabQueueLengths a = { 0 }, b = { 0 };

  fab_queue_lengths_add (&a, 0, 10);
  fab_queue_lengths_add (&b, 5000, 90);
  fab_queue_lengths_merge (&a, &b);
  assert_int_equal (fab_queue_lengths_percentile (&a, 0.1), 0);
  assert_in_range (fab_queue_lengths_percentile (&a, 0.5), 5000, 5455);
}

static const char incast[] =
    "name: t\ncluster: {node: dgx-h100, nodes: 5, gpus_per_node: 1, nics_per_node: 1, nic: roce-400,\n"
    "  fabric: switch}\nfidelity: {kind: packet, congestion: none, flow_control: none, percentiles: %s}\n"
    "job: {kind: traffic, pattern: incast, size: 1MiB}\n";

/* Four senders fill the port to one receiver up to their windows, and keep it full for most of the time. */
static void
a_run_counts_its_queues (G_GNUC_UNUSED void **state)
{
  FabCatalog *catalog = play_catalog ();
  g_autofree char *yaml = g_strdup_printf (incast, "true");
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  gboolean is_found = FALSE;

  while (fab_simulation_step (play->simulation))
    continue;
  g_autoptr (GArray) lengths = fab_simulation_queue_lengths (play->simulation);
  for (guint i = 0; i < lengths->len; i++) {
    const FabQueueLengthRecord *record = &g_array_index (lengths, FabQueueLengthRecord, i);

    if (g_str_has_suffix (record->ports, "-> nic") && g_str_has_prefix (record->ports, "switch")) {
      is_found = TRUE;
      assert_true (record->p50_bytes > 500000 && record->p50_bytes <= record->p90_bytes);
      assert_true ((double) record->p99_9_bytes <= 1.1 * (double) record->most_bytes);
      assert_true ((double) record->p99_9_bytes >= 0.9 * (double) record->most_bytes);
    }
  }
  assert_true (is_found);
  fab_catalog_free (catalog);
}

/* Flows come while others are under way, so that what was played ahead is dropped again and again. Of a length that
 * is not exceeded for a part of the time, the rest of the time is longer: the mean says how long it can be at most. */
static void
what_was_played_ahead_is_not_counted (G_GNUC_UNUSED void **state)
{
  static const char *const nics[] = { "ib-hdr", "roce-100" };
  FabCatalog *catalog = play_catalog ();

  for (guint n = 0; n < G_N_ELEMENTS (nics); n++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: 8, gpus_per_node: 1, nics_per_node: 1, nic: %s,\n"
        "  fabric: {kind: leaf_spine, nodes_per_leaf: 4}, route: ecmp}\n"
        "fidelity: {kind: packet, percentiles: true}\n"
        "job: {kind: traffic, pattern: random, sizes: websearch, arrivals: poisson, load: 0.7, duration: 1ms}\n",
        nics[n]);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);

    while (fab_simulation_step (play->simulation))
      continue;
    g_autoptr (GArray) lengths = fab_simulation_queue_lengths (play->simulation);
    assert_true (lengths->len > 0);
    for (guint i = 0; i < lengths->len; i++) {
      const FabQueueLengthRecord *record = &g_array_index (lengths, FabQueueLengthRecord, i);
      double least = (0.4 * (double) record->p50_bytes + 0.09 * (double) record->p90_bytes
                      + 0.01 * (double) record->p99_bytes)
                   / 1.091;

      assert_true (record->p50_bytes <= record->p90_bytes && record->p90_bytes <= record->p99_bytes);
      assert_true (record->p99_bytes <= record->p99_9_bytes && record->p99_9_bytes <= record->most_bytes);
      assert_true (least <= record->mean_bytes * 1.001);
    }
  }
  fab_catalog_free (catalog);
}

static void
nothing_is_counted_unasked (G_GNUC_UNUSED void **state)
{
  FabCatalog *catalog = play_catalog ();
  g_autofree char *yaml = g_strdup_printf (incast, "false");
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  while (fab_simulation_step (play->simulation))
    continue;
  g_autoptr (GArray) lengths = fab_simulation_queue_lengths (play->simulation);
  assert_int_equal (lengths->len, 0);
  fab_catalog_free (catalog);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (percentiles_are_parts_of_the_time),
    cmocka_unit_test (no_time_has_no_length),
    cmocka_unit_test (no_percentile_is_too_short),
    cmocka_unit_test (a_bin_ends_where_the_next_one_begins),
    cmocka_unit_test (two_queues_add_up),
    cmocka_unit_test (a_run_counts_its_queues),
    cmocka_unit_test (nothing_is_counted_unasked),
    cmocka_unit_test (what_was_played_ahead_is_not_counted),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
