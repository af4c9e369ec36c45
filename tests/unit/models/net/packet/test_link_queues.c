/* SPDX-License-Identifier: Apache-2.0 */
/* test_link_queues.c - what waited for links in a whole run, as it is recorded. What a queue is and does:
 * test_packet_queues.c.
 *
 * Three DGX H100 send to the fourth over one switch of RoCE, two iterations.
 */
#include "tests/support/test.h"

#include "tests/support/play.h"

static FabCatalog *catalog;

/* Plays it, adds up what the iterations say that links carried, and returns what waited. (transfer full) */
static GArray *
queues_of (const char *fidelity, double *carried, guint n_most)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 2\nfidelity: %s\n"
      "cluster: {node: dgx-h100, nodes: 4, gpus_per_node: 1, nics_per_node: 1, nic: roce-400, fabric: switch}\n"
      "job: {kind: traffic, pattern: incast, target: 3, senders: 3, size: 256KiB}\n",
      fidelity);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  g_assert_cmpuint (fab_graph_n_links (fab_simulation_cluster (play->simulation)->graph), <=, n_most);
  while (fab_simulation_step (play->simulation)) {
    const GArray *loads = fab_simulation_probe (play->simulation)->link_loads;

    for (guint i = 0; i < loads->len; i++) {
      const FabLinkLoadRecord *load = &g_array_index (loads, FabLinkLoadRecord, i);

      carried[load->link] += (double) load->bytes;
    }
  }
  return fab_simulation_link_queues (play->simulation);
}

enum { N_MOST = 1000 };

/* Three senders at line rate, one link out: two thirds of 3 x 256 KiB wait there at once at most, but for what has
 * left meanwhile; without losses every link carries just what its loads say, and links that carried nothing are not
 * there. */
static void
the_queue_is_where_three_links_meet_one (G_GNUC_UNUSED void **state)
{
  double carried[N_MOST] = { 0 };
  guint n_used = 0, n_with_queue = 0;
  g_autoptr (GArray) queues = queues_of (
      "{kind: packet, pause: 1GiB, resume: 1MiB, congestion: none, mark_from: 5kB}", carried, N_MOST);

  for (guint l = 0; l < N_MOST; l++)
    n_used += carried[l] > 0;
  assert_int_equal (queues->len, n_used);
  for (guint i = 0; i < queues->len; i++) {
    const FabLinkQueueRecord *queue = &g_array_index (queues, FabLinkQueueRecord, i);

    assert_near ((double) queue->carried_bytes, carried[queue->link], 0);
    assert_int_equal (queue->n_drops + queue->n_pauses, 0);
    assert_true (queue->mean_bytes <= (double) queue->most_bytes);
    if (queue->most_bytes < 64 * 1024)
      continue;
    n_with_queue++;
    assert_int_equal (queue->carried_bytes, 2 * 3 * 256 * 1024);
    assert_true (queue->most_bytes > 2 * 256 * 1024 * 0.9 && queue->most_bytes <= 2 * 256 * 1024);
    assert_true (queue->n_marks > 0 && queue->mean_bytes > 0);
  }
  assert_int_equal (n_with_queue, 1);
}

/* Where a queue ends at 100 kB, packets are lost in front of it, and what is sent again is carried again. */
static void
losses_count_in_front_of_their_link (G_GNUC_UNUSED void **state)
{
  double carried[N_MOST] = { 0 };
  guint64 n_drops = 0;
  g_autoptr (GArray) queues = queues_of ("{kind: packet, flow_control: drop, queue: 100kB, congestion: none}",
                                         carried, N_MOST);

  for (guint i = 0; i < queues->len; i++) {
    const FabLinkQueueRecord *queue = &g_array_index (queues, FabLinkQueueRecord, i);

    assert_near ((double) queue->carried_bytes, carried[queue->link], 0);
    assert_true (queue->most_bytes <= 100000);
    if (queue->n_drops > 0)
      assert_true (queue->most_bytes > 90000);
    n_drops += queue->n_drops;
  }
  assert_true (n_drops > 0);
}

static guint64
count_pauses (const char *fidelity)
{
  double carried[N_MOST] = { 0 };
  guint64 n_pauses = 0;
  g_autoptr (GArray) queues = queues_of (fidelity, carried, N_MOST);

  for (guint i = 0; i < queues->len; i++)
    n_pauses += g_array_index (queues, FabLinkQueueRecord, i).n_pauses;
  return n_pauses;
}

/* Each link brings 256 KiB at most, which a port of 400 Gb/s takes without a pause. Marks from 5 kB on change nothing
 * about that. A pause at 5 kB does, and one never comes before the marks. */
static void
early_marks_bring_no_pauses (G_GNUC_UNUSED void **state)
{
  assert_int_equal (count_pauses ("{kind: packet, congestion: none}"), 0);
  assert_int_equal (count_pauses ("{kind: packet, congestion: none, mark_from: 5kB}"), 0);
  assert_true (count_pauses ("{kind: packet, congestion: none, pause: 5kB}") > 0);
}

static void
where_nothing_waits_nothing_is_recorded (G_GNUC_UNUSED void **state)
{
  static const char *const fidelities[] = { "analytic", "step", "fluid" };

  for (guint i = 0; i < G_N_ELEMENTS (fidelities); i++) {
    double carried[N_MOST] = { 0 };
    g_autoptr (GArray) queues = queues_of (fidelities[i], carried, N_MOST);

    assert_int_equal (queues->len, 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_queue_is_where_three_links_meet_one),
    cmocka_unit_test (losses_count_in_front_of_their_link),
    cmocka_unit_test (early_marks_bring_no_pauses),
    cmocka_unit_test (where_nothing_waits_nothing_is_recorded),
  };

  return play_run_tests ("link queues", tests, &catalog);
}
