/* SPDX-License-Identifier: Apache-2.0 */
/* test_run.c - one run from its first iteration to its end: what is counted, told, stored, and why it may end
 * early. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/result/store_private.h"
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
  g_autofree char *sql = g_strdup_printf ("SELECT count (*) FROM %s", table);
  gint64 n = -1;

  assert_true (fab_store_read_integer (store, sql, &n));
  return n;
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

/* --- what is stored --- */

/* A small job that computes, at a fidelity; two iterations. */
static Play *
play_ddp (const FabCatalog *catalog, const char *fidelity)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: two\niterations: 2\nfidelity: %s\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 2, "
      "nics_per_node: 1}\njob: {kind: ddp, model: m, micro_batch: 1, sequence: 16}\nmodels: [{name: m, summary: s, "
      "source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 2, hidden: 64, heads: 4, "
      "vocabulary: 100, tied: false, biases: false}}]\n",
      fidelity);

  return play_new (catalog, yaml, NULL);
}

typedef struct {
  guint collectives, spans, loads, exposures, path, samples, classes;
} Counts;

static gboolean
count_records (gpointer owner, const FabSimulation *simulation, G_GNUC_UNUSED guint n_done)
{
  const FabProbe *probe = fab_simulation_probe (simulation);
  Counts *self = owner;

  self->collectives += probe->collectives->len;
  self->spans += probe->spans->len;
  self->loads += probe->link_loads->len;
  self->exposures += probe->exposures->len;
  self->path += probe->path->len;
  self->samples += probe->samples->len;
  self->classes += probe->iterations->len;
  return TRUE;
}

/* Every record of every iteration, and what the machine and the job are. */
static void
all_records_are_stored (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (Play) play = play_ddp (catalog, "{kind: packet, percentiles: true}");
  g_autoptr (FabStore) store = fab_store_new (NULL);
  Counts counts = { 0 };
  FabRunOptions options = { .store = store, .progress = count_records, .owner = &counts };

  assert_true (fab_simulation_run (play->simulation, &options, NULL));
  g_autoptr (GArray) queues = fab_simulation_link_queues (play->simulation);
  g_autoptr (GArray) lengths = fab_simulation_queue_lengths (play->simulation);
  const struct {
    const char *table;
    guint n;
  } rows[] = {
    { "run", 1 },
    { "iteration", 2 },
    { "rank_class", fab_simulation_dag (play->simulation)->n_classes },
    { "link", fab_graph_n_links (fab_simulation_cluster (play->simulation)->graph) },
    { "memory", fab_simulation_totals (play->simulation)->memory->len },
    { "iteration_class", counts.classes },
    { "collective", counts.collectives },
    { "span", counts.spans },
    { "link_load", counts.loads },
    { "exposure", counts.exposures },
    { "critical_path", counts.path },
    { "link_sample", counts.samples },
    { "link_queue", queues->len },
    { "queue_length", lengths->len },
    { "memo", 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (count (store, rows[i].table) != rows[i].n || rows[i].n == 0)
      fail_msg ("%s: %u", rows[i].table, rows[i].n);
  }
  /* Whatever cannot be stored fails the run, and nothing of it is kept. */
  for (guint i = 1; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) again = play_ddp (catalog, "{kind: packet, percentiles: true}");
    g_autoptr (FabStore) broken = fab_store_new (NULL);
    g_autoptr (GError) error = NULL;
    g_autofree char *sql = g_strdup_printf ("DROP TABLE %s", rows[i].table);
    g_autofree char *says = g_strdup_printf ("no such table: main.%s", rows[i].table);

    assert_true (fab_store_exec (broken, sql, "drop", NULL));
    assert_false (fab_simulation_run (again->simulation, &(FabRunOptions){ .store = broken }, &error));
    if (strstr (error->message, says) == NULL && strstr (error->message, rows[i].table) == NULL)
      fail_msg ("%s: %s", rows[i].table, error->message);
    assert_int_equal (count (broken, "run"), 0);
    assert_true (
        fab_store_begin_run (broken, &(FabRunRecord){ "n", "", "0", "f", 0, 1, 1, 0, 0, 0 }, NULL, NULL));
    fab_store_abandon_run (broken);
  }
}

/* --- what a caller may ask for --- */

/* Whoever cancels before the first step has none. */
static void
a_cancelled_run_does_not_begin (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (Play) play = play_new (catalog, FOUR, NULL);
  g_autoptr (GError) error = NULL;
  Watcher watcher = { 0 };
  gint cancel = 1;
  FabRunOptions options = { .cancel = &cancel, .progress = watch, .owner = &watcher };

  assert_false (fab_simulation_run (play->simulation, &options, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_CANCELLED));
  assert_int_equal (watcher.n_calls, 0);
  assert_int_equal (fab_simulation_events (play->simulation), 0);
  cancel = 0;
  assert_true (fab_simulation_run (play->simulation, &options, NULL));
  assert_int_equal (watcher.n_calls, 4);
}

typedef struct {
  guint n_calls;
  gboolean refuses;
  const FabStore *store;
} Ender;

static gboolean
end (gpointer owner, const FabSimulation *simulation, FabStore *store, GError **error)
{
  Ender *self = owner;

  assert_int_equal (fab_simulation_probe (simulation)->step.times.iteration, 3);
  self->n_calls++;
  self->store = store;
  return !self->refuses || fab_throw (error, FAB_ERROR_IO, "not so");
}

/* Whoever looks at the run at its end is asked once, before it is kept, and may refuse it. A run that hung has no such
 * end. */
static void
the_end_can_be_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();

  for (guint refuses = 0; refuses < 2; refuses++) {
    g_autoptr (Play) play = play_new (catalog, FOUR, NULL), hangs = play_new (catalog, HANGS, NULL);
    g_autoptr (FabStore) store = fab_store_new (NULL);
    g_autoptr (GError) error = NULL;
    Ender ender = { .refuses = refuses == 1 };
    FabRunOptions options = { .store = store, .ended = end, .owner = &ender };

    assert_int_equal (fab_simulation_run (play->simulation, &options, &error), refuses == 0);
    if (refuses)
      assert_string_equal (error->message, "not so");
    assert_int_equal (ender.n_calls, 1);
    assert_ptr_equal (ender.store, store);
    assert_int_equal (count (store, "run"), refuses == 0);
    assert_false (fab_simulation_run (hangs->simulation, &options, NULL));
    assert_int_equal (ender.n_calls, 1);
  }
}

/* The last iteration alone is recorded where no more is asked for. */
static void
a_run_can_be_brief (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();

  for (guint is_brief = 0; is_brief < 2; is_brief++) {
    g_autoptr (Play) play = play_ddp (catalog, "fluid");

    assert_true (fab_simulation_run (play->simulation, &(FabRunOptions){ .is_brief = is_brief == 1 }, NULL));
    assert_int_equal (fab_simulation_probe (play->simulation)->spans->len > 0, is_brief == 0);
  }
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
    cmocka_unit_test (all_records_are_stored),
    cmocka_unit_test (a_cancelled_run_does_not_begin),
    cmocka_unit_test (the_end_can_be_refused),
    cmocka_unit_test (a_run_can_be_brief),
    cmocka_unit_test (nothing_need_be_asked_for),
    cmocka_unit_test (it_can_end_after_some_iterations),
    cmocka_unit_test (a_hang_is_an_error_and_what_ended_before_is_kept),
    cmocka_unit_test (progress_can_stop_it),
    cmocka_unit_test (another_thread_can_cancel_it),
  };

  return cmocka_run_group_tests_name ("run", tests, NULL, NULL);
}
