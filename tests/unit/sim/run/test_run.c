/* SPDX-License-Identifier: Apache-2.0 */
/* test_run.c - one run from its first iteration to its end: what is counted, told, stored, and why it may end
 * early. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/run/run.h"
#include "tests/support/play.h"

#define MACHINE                                                 \
  "cluster: {node: dgx-a100, nodes: 2, fabric: {kind: rail}}\n" \
  "collectives: {kind: plain, algorithm: ring}\n"               \
  "job: {kind: collective, operations: [{op: all_reduce, size: 100MB}]}\n"

#define FOUR "name: four\niterations: 4\n" MACHINE
#define HANGS "name: hangs\niterations: 4\n" MACHINE "faults: [{what: rail, rail: 0, dead: true, at: 1ms}]\n"
#define LONG "name: long\niterations: 100000\nfidelity: packet\n" MACHINE

typedef struct {
  guint n_calls, last, stop_after; /* stop_after 0: never */
  FabTimePs sum_ps;
} Watcher;

static gboolean
watch (gpointer owner, const FabSimulation *simulation, guint n_done)
{
  Watcher *self = owner;

  self->n_calls++;
  self->last = n_done;
  self->sum_ps += fab_simulation_probe (simulation)->step.times.duration_ps;
  return n_done != self->stop_after;
}

/* 32 GPUs on four nodes with one NIC each: NCCL takes two channels for 50 MB, whose thread blocks are slower than
 * 200 Gb/s. With four channels the link is slower. */
#define ONE_NIC(rate, channels)                                                            \
  "name: one\niterations: 1\ncluster: {node: dgx-a100, nodes: 4, fabric: {kind: switch}, " \
  "nics_per_node: 1, nic: ib-hdr, nic_rate: " rate "}\n"                                   \
  "collectives: {kind: nccl, algorithm: ring, protocol: simple, min_channels: " channels   \
  ", max_channels: " channels "}\njob: {kind: collective, operations: [{op: all_reduce, size: 50MB}]}\n"

static double
ends_fraction (const FabCatalog *catalog, const char *scenario, FabTimePs *step_ps)
{
  g_autoptr (Play) play = play_new (catalog, scenario, NULL);
  g_autoptr (GError) error = NULL;

  assert_true (fab_simulation_run (play->simulation, &(FabRunOptions){ 0 }, &error));
  const FabProbe *probe = fab_simulation_probe (play->simulation);
  *step_ps = probe->step.times.duration_ps;
  return fab_binding_find (probe, fab_simulation_cluster (play->simulation)->graph).ends_fraction;
}

/* Where thread blocks set the pace, a link of twice the rate changes nothing; where a link does, it does. */
static void
a_link_does_not_bind_where_the_ends_do (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  FabTimePs slow_ps, fast_ps;

  assert_float_equal (ends_fraction (catalog, ONE_NIC ("200Gb/s", "2"), &slow_ps), 1, 0);
  ends_fraction (catalog, ONE_NIC ("240Gb/s", "2"), &fast_ps);
  assert_int_equal (slow_ps, fast_ps);
  assert_float_equal (ends_fraction (catalog, ONE_NIC ("200Gb/s", "4"), &slow_ps), 0, 0);
  ends_fraction (catalog, ONE_NIC ("240Gb/s", "4"), &fast_ps);
  assert_true (fast_ps < slow_ps);
}

static gint64
count (FabStore *store, const char *table)
{
  g_autofree char *sql = g_strdup_printf ("SELECT count(*) FROM %s", table);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabTable) answer = fab_store_query (store, sql, 0, &error);

  assert_null (error);
  return fab_table_cell (answer, 0, 0)->integer;
}

static void
every_iteration_is_played_told_and_kept (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (Play) play = play_new (catalog, FOUR, NULL);
  g_autoptr (FabStore) store = fab_store_new (NULL);
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord));
  g_autoptr (GError) error = NULL;
  Watcher watcher = { 0 };
  FabTimePs sum_ps = 0;
  gint64 run_id = 0;
  FabRunOptions options = {
    .store = store, .run_id = &run_id, .steps = steps, .progress = watch, .owner = &watcher
  };

  assert_true (fab_simulation_run (play->simulation, &options, &error));
  assert_int_equal (steps->len, 4);
  assert_int_equal (watcher.n_calls, 4);
  assert_int_equal (watcher.last, 4);
  for (guint i = 0; i < steps->len; i++)
    sum_ps += g_array_index (steps, FabStepRecord, i).times.duration_ps;
  assert_true (sum_ps > 0 && watcher.sum_ps == sum_ps);
  assert_int_equal (run_id, 1);
  assert_int_equal (count (store, "iteration"), 4);
}

static gint64
count_of (FabStore *store, const char *column)
{
  g_autofree char *sql = g_strdup_printf ("SELECT %s FROM memo WHERE run_id = :run", column);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabTable) answer = fab_store_query (store, sql, 0, &error);

  assert_null (error);
  assert_int_equal (answer->n_rows, 1);
  return fab_table_cell (answer, 0, 0)->integer;
}

/* Four iterations of one all-reduce each are four episodes. The first is played, the others are it. Without memory all
 * are played, with four times its events. */
static void
what_was_played_and_remembered_is_kept (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (Play) memo = play_new (catalog, FOUR "fidelity: step\n", NULL);
  g_autoptr (Play) all = play_new (catalog, FOUR "fidelity: {kind: step, memo: false}\n", NULL);
  g_autoptr (FabStore) store = fab_store_new (NULL);
  FabRunOptions options = { .store = store };

  assert_true (fab_simulation_run (memo->simulation, &options, NULL));
  assert_int_equal (count_of (store, "n_collectives"), 4);
  assert_int_equal (count_of (store, "n_collectives_remembered"), 3);
  assert_int_equal (count_of (store, "n_episodes"), 4);
  assert_int_equal (count_of (store, "n_episodes_remembered"), 3);
  assert_int_equal (count_of (store, "n_replays"), 0);
  gint64 n_events = count_of (store, "n_events");
  assert_true (n_events > 0);
  assert_true (fab_simulation_run (all->simulation, &options, NULL));
  assert_int_equal (count_of (store, "n_collectives"), 4);
  assert_int_equal (count_of (store, "n_collectives_remembered"), 0);
  assert_int_equal (count_of (store, "n_events"), 4 * n_events);
}

static void
nothing_need_be_asked_for (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (Play) play = play_new (catalog, FOUR, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabSimulation) simulation = fab_scenario_run (play->scenario, &fab_models, NULL, NULL, &error);

  assert_non_null (simulation);
  assert_int_equal (fab_simulation_probe (simulation)->step.times.iteration, 3);
}

static void
it_can_end_after_some_iterations (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (Play) play = play_new (catalog, FOUR, NULL);

  assert_true (fab_simulation_run (play->simulation, &(FabRunOptions){ .n_iterations = 2 }, NULL));
  assert_int_equal (fab_simulation_probe (play->simulation)->step.times.iteration, 1);
}

/* Some iterations end before a link dies; they stay in the file, as one run. */
static void
a_hang_is_an_error_and_what_ended_before_is_kept (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (Play) play = play_new (catalog, HANGS, NULL);
  g_autoptr (FabStore) store = fab_store_new (NULL);
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord));
  g_autoptr (GError) error = NULL;
  FabRunOptions options = { .store = store, .steps = steps };

  assert_false (fab_simulation_run (play->simulation, &options, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_HUNG));
  assert_true (strstr (error->message, "never ends: all_reduce") != NULL);
  assert_true (steps->len < 4);
  assert_int_equal (count (store, "run"), 1);
  assert_int_equal (count (store, "iteration"), steps->len);
}

/* Of a run that somebody stopped there is nothing, and the store takes the next one. */
static void
progress_can_stop_it (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (Play) play = play_new (catalog, FOUR, NULL);
  g_autoptr (Play) again = play_new (catalog, FOUR, NULL);
  g_autoptr (FabStore) store = fab_store_new (NULL);
  g_autoptr (GError) error = NULL;
  Watcher watcher = { .stop_after = 2 };
  FabRunOptions options = { .store = store, .progress = watch, .owner = &watcher };

  assert_false (fab_simulation_run (play->simulation, &options, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_CANCELLED));
  assert_int_equal (watcher.n_calls, 2);
  assert_true (fab_simulation_run (again->simulation, &(FabRunOptions){ .store = store }, NULL));
  assert_int_equal (count (store, "run"), 1);
}

static gpointer
set_soon (gpointer cancel)
{
  g_usleep (20 * 1000);
  g_atomic_int_set ((gint *) cancel, 1);
  return NULL;
}

/* Minutes of packets end within a moment of another thread's word. */
static void
another_thread_can_cancel_it (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (Play) play = play_new (catalog, LONG, NULL);
  g_autoptr (GError) error = NULL;
  gint cancel = 0;
  GThread *thread = g_thread_new ("cancel", set_soon, &cancel);

  assert_false (fab_simulation_run (play->simulation, &(FabRunOptions){ .cancel = &cancel }, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_CANCELLED));
  g_thread_join (thread);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_iteration_is_played_told_and_kept),
    cmocka_unit_test (what_was_played_and_remembered_is_kept),
    cmocka_unit_test (a_link_does_not_bind_where_the_ends_do),
    cmocka_unit_test (nothing_need_be_asked_for),
    cmocka_unit_test (it_can_end_after_some_iterations),
    cmocka_unit_test (a_hang_is_an_error_and_what_ended_before_is_kept),
    cmocka_unit_test (progress_can_stop_it),
    cmocka_unit_test (another_thread_can_cancel_it),
  };

  return cmocka_run_group_tests_name ("run", tests, NULL, NULL);
}
