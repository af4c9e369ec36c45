/* SPDX-License-Identifier: Apache-2.0 */
/* test_zero3.c - when ZeRO's stage 3 sums gradients, and what waits for it (models/workload/training/zero.c).
 *
 * Two blocks of 256 numbers for a token, and a vocabulary of 1024: 2 098 432 parameters, of which a bucket of a million
 * holds whole tensors, so that there are three of them; a larger one holds all.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

enum { PARAMETERS = 2098432 };

static FabCatalog *catalog;

/* (transfer full) */
static char *
scenario (guint gpus, const char *keys)
{
  return g_strdup_printf (
      "name: zero3\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"
      "cluster: {node: dgx-h100, nodes: 1, gpus_per_node: %u}\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-30\", shape: {kind: transformer, layers: 2, "
      "hidden: 256, heads: 4, vocabulary: 1024, tied: false, biases: false}}]\n"
      "job: {kind: zero, stage: 3, model: m, micro_batch: 1, sequence: 16, clip_gradients: false, %s}\n",
      gpus, keys);
}

static Play *
job (guint gpus, const char *keys)
{
  g_autofree char *yaml = scenario (gpus, keys);

  return play_new (catalog, yaml, NULL);
}

static const char *
name_of (const FabDag *dag, FabTaskId task)
{
  gint32 collective = dag->tasks[task].collective;

  return collective < 0 ? dag->tasks[task].name : dag->collectives[collective].name;
}

static gboolean
is_sum (const FabDag *dag, FabTaskId task)
{
  return g_str_has_prefix (name_of (dag, task), "bucket");
}

/* The sums for which a task waits. */
static guint
count_awaited (const FabDag *dag, FabTaskId task)
{
  guint n = 0;

  for (FabTaskId before = 0; before < dag->n_tasks; before++)
    for (guint i = dag->next_starts[before]; i < dag->next_starts[before + 1]; i++)
      n += is_sum (dag, before) && dag->next[i] == task;
  return n;
}

/* Every micro-batch sums all of its gradients. With `overlap_comm` nothing waits for the sums of a micro-batch before
 * its end, and nothing but the update for those of the last one; without it the kernels behind a bucket wait for it. */
static void
sums_are_waited_for_at_once_or_at_the_end (G_GNUC_UNUSED void **state)
{
  for (guint n_micro = 1; n_micro <= 3; n_micro++)
    for (guint way = 0; way < 4; way++) {
      gboolean is_overlapped = way % 2, has_many = way / 2;
      g_autofree char *keys = g_strdup_printf ("accumulation: %u, overlap_comm: %s, reduce_bucket: %s",
                                               n_micro, is_overlapped ? "yes" : "no",
                                               has_many ? "1000000" : "5e8");
      g_autoptr (Play) play = job (2, keys);
      const FabDag *dag = fab_simulation_dag (play->simulation);
      guint n_buckets = has_many ? 3 : 1, n_sums = 0, n_waits = 0, n_at_end = 0;
      guint64 bytes = 0;

      for (FabTaskId t = 0; t < dag->n_tasks; t++) {
        if (is_sum (dag, t)) {
          n_sums++;
          bytes += dag->collectives[dag->tasks[t].collective].plan.bytes;
        }
        if (strcmp (name_of (dag, t), "reduced") == 0) {
          n_waits++;
          assert_int_equal (count_awaited (dag, t), is_overlapped ? n_buckets : 1);
        }
        if (strcmp (name_of (dag, t), "optimizer") == 0)
          n_at_end = count_awaited (dag, t);
      }
      assert_int_equal (n_sums, n_micro * n_buckets);
      assert_int_equal (bytes, 2ull * PARAMETERS * n_micro);
      assert_int_equal (n_waits, is_overlapped ? n_micro - 1 : n_micro * n_buckets);
      assert_int_equal (n_at_end, is_overlapped ? n_buckets : 0);
    }
}

/* MiCS: ranks in groups of `shard` have one copy of the states. A rank's part of each bucket is summed over the
 * groups in the last micro-batch. One group has nothing to sum. */
static void
shards_are_summed_over_their_groups_once (G_GNUC_UNUSED void **state)
{
  for (guint shard = 1; shard <= 8; shard *= 2)
    for (guint has_many = 0; has_many < 2; has_many++) {
      g_autofree char *keys = g_strdup_printf ("shard: %u, accumulation: 2, reduce_bucket: %s", shard,
                                               has_many ? "1000000" : "5e8");
      g_autoptr (Play) play = job (8, keys);
      const FabDag *dag = fab_simulation_dag (play->simulation);
      guint n = 0;
      guint64 bytes = 0;

      for (guint c = 0; c < dag->n_collectives; c++)
        if (strcmp (dag->collectives[c].name, "replicas") == 0) {
          assert_int_equal (dag->collectives[c].plan.op, FAB_OP_ALL_REDUCE);
          assert_int_equal (dag->collectives[c].plan.n_ranks, 8 / shard);
          bytes += dag->collectives[c].plan.bytes;
          n++;
        }
      assert_int_equal (n, shard == 8 ? 0 : has_many ? 3 : 1);
      assert_int_equal (bytes, shard == 8 ? 0 : 2ull * PARAMETERS / shard);
    }
}

/* Bytes of the only collective of this name; 0: there is none. */
static guint64
bytes_of (const Play *play, const char *name)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  guint64 bytes = 0;

  for (guint c = 0; c < dag->n_collectives; c++)
    if (strcmp (dag->collectives[c].name, name) == 0) {
      assert_int_equal (bytes, 0);
      bytes = dag->collectives[c].plan.bytes;
    }
  return bytes;
}

/* Tensors up to the threshold are whole on every rank, and gathered once when they are updated: the norms with 256
 * numbers, then the products of attention, and at last all of the model. */
static void
small_tensors_are_gathered_when_they_are_updated (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint threshold, persistent;
  } rows[] = { { 0, 0 },
               { 255, 0 },
               { 256, 5 * 256 },
               { 65536, 5 * 256 + 2 * 65536 },
               { 262143, 5 * 256 + 2 * (65536 + 196608) },
               { 262144, PARAMETERS } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *keys = g_strdup_printf ("persistence_threshold: %u", rows[i].threshold);
    g_autoptr (Play) play = job (2, keys);

    assert_int_equal (bytes_of (play, "persistent"), 2 * rows[i].persistent);
  }
}

/* "parameters0 1048576, shard1 ..." of the collectives whose names begin so, and all of their bytes. (transfer full) */
static char *
list_of (const Play *play, const char *prefix, guint64 *bytes)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  GString *text = g_string_new (NULL);

  *bytes = 0;
  for (guint c = 0; c < dag->n_collectives; c++)
    if (g_str_has_prefix (dag->collectives[c].name, prefix)) {
      *bytes += dag->collectives[c].plan.bytes;
      g_string_append_printf (text, "%s %" G_GUINT64_FORMAT "\n", dag->collectives[c].name,
                              (guint64) dag->collectives[c].plan.bytes);
    }
  return g_string_free (text, FALSE);
}

/* What is in host memory is copied to the GPU before it is gathered: each rank's part of it. */
static void
shards_come_from_the_host (G_GNUC_UNUSED void **state)
{
  for (guint gpus = 1; gpus <= 4; gpus *= 2) {
    g_autoptr (Play) play = job (gpus,
                                 "offload: {optimizer: cpu, parameters: cpu}, persistence_threshold: 0"),
                     here = job (gpus, "persistence_threshold: 0");
    guint64 copied, gathered, plain;
    g_autofree char *copies = list_of (play, "shard", &copied),
                    *gathers = list_of (play, "parameters", &gathered),
                    *others = list_of (here, "parameters", &plain);

    assert_int_equal (gathered, plain);
    assert_int_equal (copied, gpus == 1 ? 2 * PARAMETERS : gathered / gpus);
    assert_true (strlen (copies) > 0 && (gpus == 1) == (strlen (gathers) == 0)
                 && strlen (others) == strlen (gathers));
  }
}

/* What is released is no longer counted, so that a limit above what is whole at any time changes nothing; one below it
 * lets less be gathered ahead, in more pieces. */
static void
limits_count_what_is_whole (G_GNUC_UNUSED void **state)
{
  static const char keys[] = "prefetch_overlap: true, prefetch_bucket: 200000, max_reuse_distance: 0, "
                             "persistence_threshold: 0, accumulation: 2, max_live: ";
  g_autofree char *none = g_strconcat (keys, "1000000000", NULL), *high = g_strconcat (keys, "1500000", NULL),
                  *low = g_strconcat (keys, "1", NULL);
  g_autoptr (Play) free_one = job (2, none), wide = job (2, high), narrow = job (2, low);
  guint64 bytes[3];
  g_autofree char *all = list_of (free_one, "parameters", &bytes[0]),
                  *some = list_of (wide, "parameters", &bytes[1]),
                  *few = list_of (narrow, "parameters", &bytes[2]);

  assert_string_equal (some, all);
  assert_true (strlen (few) > strlen (all));
  assert_int_equal (bytes[2], 2 * 2 * 2ull * PARAMETERS); /* in each pass of each micro-batch */
  assert_true (bytes[0] < bytes[2]);                      /* what was gathered ahead of its next use stays */
}

/* Quantised gradients have 4 bits each. The ranks of a node exchange all of them, and then those of the same place in
 * each node what they have added: a part for each rank of their node. */
static void
quantised_gradients_are_exchanged_twice (G_GNUC_UNUSED void **state)
{
  static const char *const types[] = { "bf16", "fp32" };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    g_autofree char *keys = g_strdup_printf ("quantized_gradients: true, gradient: %s", types[i]),
                    *one = scenario (4, keys);
    g_auto (GStrv) parts = g_strsplit (one, "nodes: 1,", 2);
    g_autofree char *yaml = g_strjoinv ("nodes: 2,", parts);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);

    assert_int_equal (bytes_of (play, "bucket0.near"), PARAMETERS / 2);
    assert_int_equal (bytes_of (play, "bucket0.far"), PARAMETERS / 2 / 4);
  }
}

/* Updated parameters are gathered in at most so many pieces. */
static void
pieces_of_updated_parameters_have_a_limit (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *bucket;
    guint n; /* 0: too many */
  } rows[] = {
    { "20", 0 }, { "30", 69948 }, { "1000000", 3 }, { "2098431", 2 }, { "2098432", 1 }, { "0", 1 }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *keys = g_strdup_printf ("allgather_bucket: %s", rows[i].bucket),
                    *stage3 = scenario (2, keys);
    g_auto (GStrv) parts = g_strsplit (stage3, "stage: 3", 2);
    g_autofree char *yaml = g_strjoinv ("stage: 1", parts);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabScenario) read = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                       &error);
    assert_null (error);
    g_autoptr (FabSimulation) simulation = fab_simulation_new (read, &fab_models, NULL, &error);
    guint n = 0;

    if (rows[i].n == 0) {
      assert_null (simulation);
      assert_non_null (
          strstr (error->message, "allgather_bucket 20 would need more than 100000 gathers per step"));
      continue;
    }
    assert_null (error);
    for (guint c = 0; c < fab_simulation_dag (simulation)->n_collectives; c++)
      n += g_str_has_prefix (fab_simulation_dag (simulation)->collectives[c].name, "parameters");
    assert_int_equal (n, rows[i].n);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (sums_are_waited_for_at_once_or_at_the_end),
    cmocka_unit_test (shards_are_summed_over_their_groups_once),
    cmocka_unit_test (small_tensors_are_gathered_when_they_are_updated),
    cmocka_unit_test (quantised_gradients_are_exchanged_twice),
    cmocka_unit_test (shards_come_from_the_host),
    cmocka_unit_test (limits_count_what_is_whole),
    cmocka_unit_test (pieces_of_updated_parameters_have_a_limit),
  };

  return play_run_tests ("zero3", tests, &catalog);
}
