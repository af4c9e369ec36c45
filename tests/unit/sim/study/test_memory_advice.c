/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory_advice.c - changes with which a job fits: each was built, and the scenario with them says the same. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "models/workload/training/choices.h"
#include "sim/study/machine.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define HEAD(nodes) "name: t\ncluster: {node: dgx-h100, nodes: " nodes "}\n"

/* (transfer full) */
static FabMemoryAdvice *
advice_of (const Play *play, guint n_threads)
{
  g_autoptr (GPtrArray) remedies = fab_job_remedies (play->scenario);

  return fab_memory_advice_find (play->scenario, play->simulation, remedies,
                                 &(FabMemoryTrying){ &fab_models, n_threads, NULL });
}

static double
sequences_of (const FabScenario *scenario)
{
  FabBatch batch = fab_batch_of (scenario);

  return batch.global_batch > 0
           ? (double) batch.global_batch
           : (double) (batch.micro_batch * batch.accumulation * (batch.n_gpus / batch.n_model_ranks));
}

/* Builds the scenario with the assignments as a person would give them. */
static void
assert_needs (const Play *play, const FabMemoryFit *fit)
{
  g_autoptr (FabScenario) changed = fab_scenario_copy (play->scenario);
  g_autoptr (FabEdits) edits = fab_edits_of (fab_edits_texts (fit->edits));
  g_autoptr (GError) error = NULL;

  fab_scenario_edit (changed, edits);
  if (!fab_scenario_check (changed, &error))
    fail_msg ("%s", error->message);
  g_autoptr (FabSimulation) simulation = fab_simulation_new (changed, &fab_models, NULL, &error);
  if (simulation == NULL)
    fail_msg ("%s", error->message);
  assert_int_equal (fab_fit_of (simulation).needed_bytes, fit->bytes);
  if (fab_machine_gpus (changed) == fab_machine_gpus (play->scenario))
    assert_true (sequences_of (changed) == sequences_of (play->scenario));
}

static const char *const oversized[] = {
  HEAD ("1") "job: {kind: ddp, model: llama3-8b}\n",
  HEAD ("1") "job: {kind: ddp, model: llama3-70b}\n",
  HEAD ("4") "job: {kind: ddp, model: llama3-8b, bucket: 50MiB, global_batch: 128, micro_batch: 4}\n",
  HEAD ("8") "job: {kind: fsdp, model: llama3-70b, micro_batch: 8, sequence: 8192}\n",
  HEAD ("4") "job: {kind: fsdp, sharding: hybrid, shard: 4, model: llama3-70b}\n",
  HEAD ("4") "job: {kind: zero, stage: 1, model: llama2-13b, micro_batch: 4, sequence: 4096}\n",
  HEAD ("4") "job: {kind: zero, stage: 3, secondary: 8, model: llama3-70b, sequence: 4096}\n",
  HEAD ("64") "job: {kind: megatron, model: llama3-405b, sequence: 8192,\n"
              "  parallel: {tensor: 8, pipeline: 4}}\n",
  HEAD ("16") "job: {kind: megatron, model: mixtral-8x7b, sequence: 4096, parallel: {expert: 8}}\n",
};

static gboolean
has_edit (const FabMemoryFit *fit, const char *text)
{
  return g_strv_contains (fab_edits_texts (fit->edits), text);
}

/* Whether each change of one is a change of the other. */
static gboolean
is_within (const FabMemoryFit *fit, const FabMemoryFit *other)
{
  const char *const *texts = fab_edits_texts (fit->edits);

  for (guint i = 0; texts[i] != NULL; i++)
    if (!has_edit (other, texts[i]))
      return FALSE;
  return TRUE;
}

/* Where some changes are enough, nobody is told to make another one as well. */
static void
assert_none_within_another (const FabMemoryAdvice *advice)
{
  for (guint i = 0; i < advice->fits->len; i++)
    for (guint k = 0; k < advice->fits->len; k++)
      if (i != k && is_within (g_ptr_array_index (advice->fits, i), g_ptr_array_index (advice->fits, k))) {
        g_autofree char *text = fab_memory_advice_text (advice);

        fail_msg ("%s", text);
      }
}

static void
what_is_told_was_built_and_fits (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (oversized); i++) {
    g_autoptr (Play) play = play_new (catalog, oversized[i], NULL);
    g_autoptr (FabMemoryAdvice) advice = advice_of (play, 1);

    assert_in_range (advice->fits->len, 1, FAB_MOST_MEMORY_FITS);
    assert_null (advice->closest);
    assert_in_range (advice->n_built, 1, 150);
    assert_none_within_another (advice);
    for (guint k = 0; k < advice->fits->len; k++) {
      const FabMemoryFit *fit = g_ptr_array_index (advice->fits, k);

      assert_true (fit->bytes <= advice->device_bytes);
      assert_needs (play, fit);
    }
  }
}

static void
threads_change_nothing (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, oversized[3], NULL);
  g_autoptr (FabMemoryAdvice) one = advice_of (play, 1), several = advice_of (play, 4);
  g_autofree char *text = fab_memory_advice_text (one), *same = fab_memory_advice_text (several);

  assert_string_equal (text, same);
  assert_int_equal (one->n_built, several->n_built);
}

/* Optimizer states of eight billion parameters, 96 GB, over eight ranks are enough: nothing else need change. */
static void
the_nearest_comes_first (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, oversized[0], NULL);
  g_autoptr (FabMemoryAdvice) advice = advice_of (play, 1);
  g_autofree char *text = fab_memory_advice_text (advice);
  g_autofree char *words = fab_memory_fit_words (g_ptr_array_index (advice->fits, 0));

  assert_string_equal (words, "job.kind=zero job.stage=1");
  assert_true (g_str_has_prefix (text, "It fits with job.kind=zero job.stage=1 ("));
  assert_non_null (strstr (text, "or with job.kind=fsdp ("));
}

/* 131 072 tokens of a model with 126 blocks of width 16 384, of which full recomputation keeps the inputs: 541 GB. */
static void
where_nothing_fits_the_closest_is_told (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (
      catalog,
      "name: t\ncluster: {node: dgx-h100, gpus_per_node: 1}\n"
      "job: {kind: ddp, model: llama3-405b, sequence: 131072, micro_batch: 2}\n",
      NULL);
  g_autoptr (FabMemoryAdvice) advice = advice_of (play, 1);
  g_autofree char *text = fab_memory_advice_text (advice);
  FabBytes sum = 0;

  assert_int_equal (advice->fits->len, 0);
  assert_non_null (advice->closest);
  assert_needs (play, advice->closest);
  for (guint i = 0; i < advice->closest->parts->len; i++)
    sum += g_array_index (advice->closest->parts, FabMemoryPart, i).bytes;
  assert_int_equal (sum, advice->closest->bytes);
  assert_true (sum > 541 * G_GINT64_CONSTANT (1000000000));
  assert_true (g_str_has_prefix (text, "None of "));
  assert_non_null (strstr (text, "job.recompute=full"));
  assert_non_null (strstr (text, "): activations "));
}

/* A rank of DDP needs as much on any number of GPUs; FSDP divides its states. */
static void
more_gpus_are_told_where_they_help (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) ddp = play_new (catalog, oversized[0], NULL);
  g_autoptr (Play) fsdp = play_new (catalog, HEAD ("1") "job: {kind: fsdp, model: llama3-70b}\n", NULL);
  g_autoptr (FabMemoryAdvice) of_ddp = advice_of (ddp, 1), of_fsdp = advice_of (fsdp, 1);
  g_autofree char *no = fab_memory_advice_text (of_ddp), *yes = fab_memory_advice_text (of_fsdp);

  assert_null (strstr (no, "cluster.nodes"));
  assert_non_null (strstr (yes, "cluster.nodes"));
}

/* The memory that the scenario needs with the edits, and with the micro-batches that keep the sequences of a step; 0:
 * it cannot be built. */
static FabBytes
bytes_with (const Play *play, const FabEdits *edits)
{
  g_autoptr (FabScenario) changed = fab_scenario_copy (play->scenario);
  FabBatch was = fab_batch_of (play->scenario);

  fab_scenario_edit (changed, edits);
  if (!fab_scenario_check (changed, NULL))
    return 0;
  FabBatch is = fab_batch_of (changed);
  guint64 sequences = fab_batch_sequences (&was), round = is.micro_batch * fab_batch_copies (&is);
  if (is.global_batch == 0 && round > 0 && sequences % round == 0) {
    fab_scenario_set (changed, "job.accumulation", fab_value_count ((gint64) (sequences / round)), NULL);
    if (!fab_scenario_check (changed, NULL))
      return 0;
  }
  g_autoptr (FabSimulation) simulation = fab_simulation_new (changed, &fab_models, NULL, NULL);
  return simulation != NULL ? fab_fit_of (simulation).needed_bytes : 0;
}

/* Where one change alone is enough, the first that is told is the cheapest of all of them, tried one by one; of equal
 * costs it is one of the cheapest. */
static void
the_cheapest_of_all_single_changes_is_told (G_GNUC_UNUSED void **state)
{
  guint n_single = 0;

  for (guint i = 0; i < 6; i++) { /* the others take long to build */
    g_autoptr (Play) play = play_new (catalog, oversized[i], NULL);
    g_autoptr (GPtrArray) remedies = fab_job_remedies (play->scenario);
    g_autoptr (FabMemoryAdvice) advice = advice_of (play, 1);
    const FabMemoryFit *first = g_ptr_array_index (advice->fits, 0);
    guint least = G_MAXUINT, n_built = 0;
    gboolean is_one_of_them = FALSE;

    for (guint pass = 0; pass < 2; pass++)
      for (guint k = 0; k < remedies->len; k++) {
        const FabRemedy *remedy = g_ptr_array_index (remedies, k);
        FabBytes bytes = remedy->is_larger || remedy->is_slow ? 0 : bytes_with (play, remedy->edits);

        n_built += pass == 0 && bytes > 0;
        if (bytes == 0 || bytes > advice->device_bytes || remedy->n_changes != 1)
          continue;
        least = pass == 0 ? MIN (least, remedy->cost) : least;
        is_one_of_them |= pass == 1 && remedy->cost == least && bytes == first->bytes;
      }
    assert_true (advice->n_built >= n_built);
    assert_true (least == G_MAXUINT || is_one_of_them);
    n_single += least < G_MAXUINT;
  }
  assert_true (n_single >= 3);
}

/* The value at *text, "{key: value, ...}" or a word, and *text behind it. (transfer full) */
static FabValue *
read_value (const char **text)
{
  if (**text != '{') {
    gsize n = strcspn (*text, ",}");
    g_autofree char *word = g_strndup (*text, n);
    guint64 count;

    *text += n;
    return g_ascii_string_to_unsigned (word, 10, 0, G_MAXINT, &count, NULL) ? fab_value_count ((gint64) count)
                                                                            : fab_value_text (word);
  }
  FabValue *mapping = fab_value_mapping ();
  while (**text != '}') {
    *text += strspn (*text, "{, ");
    gsize n = strcspn (*text, ":");
    g_autofree char *key = g_strndup (*text, n);

    *text += n + 2;
    fab_value_put (mapping, key, read_value (text));
  }
  (*text)++;
  return mapping;
}

/* Of "KEY=VALUE". */
static FabRemedy *
remedy_of (const char *name, const char *edit)
{
  g_auto (GStrv) sides = g_strsplit (edit, "=", 2);
  FabEdits *edits = fab_edits_new ();
  const char *text = sides[1];

  fab_edits_set (edits, sides[0], read_value (&text));
  assert_string_equal (*fab_edits_texts (edits), edit);
  return fab_remedy_new (name, name, 1, edits);
}

/* Two changes that are enough together and neither alone: a key inside a mapping that the other sets becomes a part of
 * that mapping, at any depth, and nothing else of it changes. 64 sequences of 8 GPUs are eight micro-batches of one. */
static void
no_change_undoes_another (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *first, *second, *both;
  } rows[] = {
    { "job={kind: zero, stage: 3, model: llama3-8b, sequence: 8192, micro_batch: 8}", "job.micro_batch=1",
      "job={kind: zero, stage: 3, model: llama3-8b, sequence: 8192, micro_batch: 1, accumulation: 8}" },
    { "job={kind: zero, stage: 3, model: llama3-8b, sequence: 8192, micro_batch: 8, offload: {parameters: cpu}}",
      "job.micro_batch=1",
      "job={kind: zero, stage: 3, model: llama3-8b, sequence: 8192, offload: {parameters: cpu}, micro_batch: 1, "
      "accumulation: 8}" },
    { "job={kind: megatron, model: llama3-8b, sequence: 8192, micro_batch: 8, parallel: {tensor: 2}}",
      "job.parallel.tensor=8",
      "job={kind: megatron, model: llama3-8b, sequence: 8192, micro_batch: 8, parallel: {tensor: 8}, "
      "accumulation: 8}" },
    { "job={kind: megatron, model: llama3-8b, sequence: 8192, micro_batch: 8, parallel: {pipeline: 2}}",
      "job.parallel.tensor=4",
      "job={kind: megatron, model: llama3-8b, sequence: 8192, micro_batch: 8, parallel: {pipeline: 2, tensor: 4}, "
      "accumulation: 8}" },
    { "job.micro_batch=1", "job.recompute=full", "job.micro_batch=1 job.recompute=full job.accumulation=8" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_new (
        catalog, HEAD ("1") "job: {kind: ddp, model: llama3-8b, sequence: 8192, micro_batch: 8}\n", NULL);
    g_autoptr (GPtrArray) remedies = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_remedy_free);

    g_ptr_array_add (remedies, remedy_of ("first", rows[i].first));
    g_ptr_array_add (remedies, remedy_of ("second", rows[i].second));
    g_autoptr (FabMemoryAdvice) advice = fab_memory_advice_find (play->scenario, play->simulation, remedies,
                                                                 &(FabMemoryTrying){ &fab_models, 1, NULL });
    const FabMemoryFit *fit = advice->fits->len > 0 ? g_ptr_array_index (advice->fits, 0) : advice->closest;
    g_autofree char *texts = g_strjoinv (" ", (char **) fab_edits_texts (fit->edits));

    assert_string_equal (texts, rows[i].both);
    assert_int_equal (advice->fits->len, fit->bytes <= advice->device_bytes);
    assert_int_equal (advice->n_built, 3);
    assert_needs (play, fit);
    for (guint k = 0; k < 2; k++)
      assert_true (fit->bytes
                   < bytes_with (play, ((const FabRemedy *) g_ptr_array_index (remedies, k))->edits));
  }
}

/* The advice when the remedies of a group (NULL: all) take long to build. (transfer full) */
static char *
text_with_slow (const Play *play, const char *group)
{
  g_autoptr (GPtrArray) remedies = fab_job_remedies (play->scenario);

  for (guint i = 0; i < remedies->len; i++) {
    FabRemedy *remedy = g_ptr_array_index (remedies, i);

    remedy->is_slow = group == NULL || strcmp (remedy->group, group) == 0;
  }
  g_autoptr (FabMemoryAdvice) advice = fab_memory_advice_find (play->scenario, play->simulation, remedies,
                                                               &(FabMemoryTrying){ &fab_models, 1, NULL });
  return fab_memory_advice_text (advice);
}

static void
slow_remedies_are_for_where_nothing_else_fits (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, oversized[0], NULL);
  g_autofree char *plain = text_with_slow (play, "none"), *slow = text_with_slow (play, "tensor"),
                  *all = text_with_slow (play, NULL);

  assert_non_null (strstr (plain, "job.parallel.tensor"));
  assert_null (strstr (slow, "job.parallel.tensor"));
  assert_string_equal (all, plain);
}

static void
a_cancelled_search_ends (G_GNUC_UNUSED void **state)
{
  const gint cancel = 1;
  g_autoptr (Play) play = play_new (catalog, oversized[7], NULL);
  g_autoptr (GPtrArray) remedies = fab_job_remedies (play->scenario);
  g_autoptr (FabMemoryAdvice) advice = fab_memory_advice_find (play->scenario, play->simulation, remedies,
                                                               &(FabMemoryTrying){ &fab_models, 1, &cancel });

  assert_int_equal (advice->fits->len, 0);
}

/* More GPUs by themselves are a changed job too: two numbers of nodes with which FSDP does not fit are two jobs, and
 * with recomputation, alone and on each of them, five. The closest has all of it. */
static void
jobs_on_more_gpus_are_counted (G_GNUC_UNUSED void **state)
{
  for (guint n_others = 0; n_others < 2; n_others++) {
    g_autoptr (Play) play = play_new (
        catalog, HEAD ("1") "job: {kind: fsdp, model: llama3-405b, sequence: 8192, micro_batch: 8}\n", NULL);
    g_autoptr (GPtrArray) remedies = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_remedy_free);

    if (n_others > 0)
      g_ptr_array_add (remedies, remedy_of ("recompute", "job.recompute=full"));
    for (guint nodes = 2; nodes <= 3; nodes++) {
      g_autofree char *edit = g_strdup_printf ("cluster.nodes=%u", nodes);
      FabRemedy *larger = remedy_of ("nodes", edit);

      larger->is_larger = TRUE;
      g_ptr_array_add (remedies, larger);
    }
    g_autoptr (FabMemoryAdvice) advice = fab_memory_advice_find (play->scenario, play->simulation, remedies,
                                                                 &(FabMemoryTrying){ &fab_models, 1, NULL });
    assert_int_equal (advice->fits->len, 0);
    assert_int_equal (advice->n_built, n_others > 0 ? 5 : 2);
    assert_true (has_edit (advice->closest, "cluster.nodes=3"));
    assert_int_equal (has_edit (advice->closest, "job.recompute=full"), n_others > 0);
  }
}

static FabMemoryFit *
fit_of (const char *edit, FabBytes bytes, const char *note)
{
  FabMemoryFit *fit = g_new0 (FabMemoryFit, 1);

  fit->edits = fab_edits_of ((const char *[]){ edit, "job.micro_batch=1", NULL });
  fit->bytes = bytes;
  fit->parts = g_array_new (FALSE, FALSE, sizeof (FabMemoryPart));
  fit->note = note;
  return fit;
}

static void
fit_free (gpointer data)
{
  FabMemoryFit *fit = data;

  fab_edits_free (fit->edits);
  g_array_unref (fit->parts);
  g_free (fit);
}

/* Fits in their order, each note once; where none fits, the closest with its parts, the largest first; nothing where
 * nothing was built. What a shell would read otherwise is quoted. */
static void
the_advice_is_a_sentence (G_GNUC_UNUSED void **state)
{
  FabMemoryAdvice advice = { .fits = g_ptr_array_new_with_free_func (fit_free), .device_bytes = 80000000000 };

  assert_null (fab_memory_advice_text (&advice));
  advice.closest = fit_of ("job.recompute=full", 90000000000, "Steps take longer.");
  advice.n_built = 7;
  static const struct {
    const char *name;
    FabBytes bytes;
  } parts[] = { { "states", 20000000000 }, { "activations", 60000000000 }, { "buffers", 10000000000 } };
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    FabMemoryPart part = { .part = parts[i].name, .bytes = parts[i].bytes };

    g_array_append_val (advice.closest->parts, part);
  }
  g_autofree char *none = fab_memory_advice_text (&advice);
  assert_string_equal (
      none, "None of 7 changed jobs that were tried fits. The closest is job.recompute=full "
            "job.micro_batch=1 (90 GB): activations 60 GB, states 20 GB, buffers 10 GB. Steps take "
            "longer.");
  fit_free (g_steal_pointer (&advice.closest));
  g_ptr_array_add (advice.fits, fit_of ("job.kind=fsdp", 60000000000, "Steps take longer."));
  g_ptr_array_add (advice.fits, fit_of ("job={kind: fsdp}", 50000000000, "Steps take longer."));
  g_autofree char *two = fab_memory_advice_text (&advice);
  assert_string_equal (two,
                       "It fits with job.kind=fsdp job.micro_batch=1 (60 GB), or with 'job={kind: fsdp}' "
                       "job.micro_batch=1 (50 GB). Steps take longer.");
  g_ptr_array_unref (advice.fits);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_is_told_was_built_and_fits),
    cmocka_unit_test (threads_change_nothing),
    cmocka_unit_test (the_nearest_comes_first),
    cmocka_unit_test (where_nothing_fits_the_closest_is_told),
    cmocka_unit_test (more_gpus_are_told_where_they_help),
    cmocka_unit_test (slow_remedies_are_for_where_nothing_else_fits),
    cmocka_unit_test (the_cheapest_of_all_single_changes_is_told),
    cmocka_unit_test (no_change_undoes_another),
    cmocka_unit_test (a_cancelled_search_ends),
    cmocka_unit_test (jobs_on_more_gpus_are_counted),
    cmocka_unit_test (the_advice_is_a_sentence),
  };

  return play_run_tests ("memory_advice", tests, &catalog);
}
