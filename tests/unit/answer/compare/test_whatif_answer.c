/* SPDX-License-Identifier: Apache-2.0 */
/* test_whatif_answer.c - changes one by one and all together, of a gigabyte that goes over a port of 100 Gb/s. */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "answer/compare/whatif.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static FabStudy *study;

/* 80 ms and microseconds. Node 0 sends to node 1, and the other two nodes rest. */
static const char sends[] =
    "name: sends\niterations: 1\n"
    "links: [{name: wire, technology: InfiniBand, lanes: 1, signalling: 100Gb/s, latency: 1us}]\n"
    "cluster: {node: dgx-h100, nodes: 4, gpus_per_node: 1, nics_per_node: 1, nic: wire, fabric: switch}\n"
    "collectives: plain\n"
    "job: {kind: traffic, size: 1GB, pattern: pairs, pairs: [{from: 0, to: 1}]}\n";

static FabStudy *
study_of (const char *yaml)
{
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  int file = g_file_open_tmp ("whatif-XXXXXX.yaml", &path, &error);

  assert_true (file >= 0 && g_close (file, NULL) && g_file_set_contents (path, yaml, -1, &error));
  FabStudy *made = fab_study_new (path, NULL, catalog, &fab_models, &error);
  g_remove (path);
  if (made == NULL)
    fail_msg ("%s", error->message);
  made->n_threads = 1;
  return made;
}

/* "set cluster.nic_rate=200Gb/s; fault nic=node0/nic0:50%" are two changes. (transfer full) */
static GPtrArray *
changes_of (const FabStudy *of, const char *text)
{
  GPtrArray *changes = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_change_free);
  g_autoptr (FabScenario) scenario = fab_study_scenario (of, NULL, NULL);
  g_auto (GStrv) words = g_strsplit (text, "; ", 0);

  for (char **word = words; *word != NULL; word++) {
    g_autoptr (GError) error = NULL;
    char *blank = strchr (*word, ' ');
    guint kind = 0;

    *blank = '\0';
    while (strcmp (fab_change_names[kind], *word) != 0)
      kind++;
    FabChange *change = fab_change_parse ((FabChangeKind) kind, blank + 1, scenario, &error);
    if (change == NULL)
      fail_msg ("%s", error->message);
    g_ptr_array_add (changes, change);
  }
  return changes;
}

static const FabWhatIfEffect *
effect_at (const FabWhatIfAnswer *answer, guint index)
{
  return &g_array_index (answer->effects, FabWhatIfEffect, index);
}

static double
step_s (const FabWhatIfAnswer *answer, guint index)
{
  return fab_sides_at (answer->sides, index)->point->step_s;
}

/* Twice the rate, half the time; a port at half its rate, twice the time; both, as it was. */
static void
test_changes_and_all_together (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) changes = changes_of (study,
                                              "set cluster.nic_rate=200Gb/s; fault nic=node0/nic0:50%");
  static const char *const names[] = { "as it is", "cluster.nic_rate=200Gb/s", "nic=node0/nic0:50%",
                                       "all together" };
  static const double times[] = { 1, 0.5, 2, 1 };
  guint mistaken = 9;
  g_autoptr (FabWhatIfAnswer) answer = fab_whatif_answer (study, &(FabWhatIfRequest){ .changes = changes },
                                                          &mistaken, NULL);

  assert_non_null (answer);
  assert_int_equal (answer->sides->len, 4);
  assert_int_equal (answer->effects->len, 4);
  assert_int_equal (answer->n_seeds, 1);
  assert_null (answer->apart);
  assert_int_equal (answer->contrast->base, 0);
  for (guint i = 0; i < 4; i++) {
    assert_string_equal (fab_sides_at (answer->sides, i)->name, names[i]);
    assert_near (step_s (answer, i) / step_s (answer, 0), times[i], 5e-3);
    assert_true (effect_at (answer, i)->is_played);
    assert_int_equal (effect_at (answer, i)->switches->len, 0);
    assert_null (fab_sides_at (answer->sides, i)->band); /* nobody asked */
    assert_false (fab_side_has_change (fab_sides_at (answer->sides, i)));
  }
  assert_null (effect_at (answer, 0)->words);
  assert_true (
      g_str_has_prefix (effect_at (answer, 1)->words,
                        "cluster.nic_rate=200Gb/s is 50.0 % faster than as it is: 40 ms less of communication"
                        " is exposed."));
  assert_null (strstr (effect_at (answer, 1)->words, "It slows")); /* it is no fault */
  assert_true (
      g_str_has_prefix (effect_at (answer, 2)->words, "nic=node0/nic0:50% is 100.0 % slower than as it is"));
  assert_null (strstr (effect_at (answer, 3)->words, "It slows"));
  g_autoptr (FabPoints) points = fab_whatif_points (answer);
  assert_int_equal (points->rows->len, 4);
  assert_int_equal (points->n_shown, 3);
  assert_int_equal (points->n_numbers, 2);
  assert_null (points->hold); /* there is no batch */
  assert_string_equal (points->columns[0], "change");
  for (guint i = 0; i < 4; i++) {
    assert_string_equal (fab_points_row (points, i)->labels[0], names[i]);
    assert_string_equal (fab_points_row (points, i)->labels[1], "4");
    assert_string_equal (fab_points_row (points, i)->labels[2], "4");
    assert_null (fab_points_row (points, i)->problem);
  }
}

/* How far a fault reaches, in each form of the sentence: the transfer is one collective of two ranks that wait. A port
 * that nothing goes over slows nothing. */
static void
test_how_far_a_fault_reaches (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) changes = changes_of (study, "fault nic=node0/nic0:50%; fault nic=node3/nic0:50%");
  guint mistaken = 9;
  g_autoptr (FabWhatIfAnswer) answer = fab_whatif_answer (study, &(FabWhatIfRequest){ .changes = changes },
                                                          &mistaken, NULL);

  for (guint i = 1; i < 3; i++) {
    const FabWhatIfEffect *effect = effect_at (answer, i);
    const FabBlast *blast = &effect->blast;
    g_autofree char *slower = blast->n_slower == blast->n_collectives
                                ? g_strdup_printf ("all %u collectives", blast->n_collectives)
                            : blast->n_slower > 0
                                ? g_strdup_printf ("%u of %u collectives", blast->n_slower,
                                                   blast->n_collectives)
                                : g_strdup_printf ("none of %u collectives", blast->n_collectives);
    g_autofree char *waiting = blast->n_waiting == 4 ? g_strdup ("all 4 GPUs wait longer.")
                             : blast->n_waiting > 0
                                 ? g_strdup_printf ("%u of 4 GPUs wait longer.", blast->n_waiting)
                                 : g_strdup ("none of 4 GPUs waits longer.");
    g_autofree char *end = g_strdup_printf (" It slows %s; %s", slower, waiting);

    assert_int_equal (blast->n_ranks, 4);
    assert_int_equal (blast->n_slower > 0, i == 1);
    assert_int_equal (blast->n_waiting > 0, i == 1);
    assert_true (g_str_has_suffix (effect->words, end));
  }
}

/* One change has nothing to be together with; two of one key exclude each other, wherever they stand. */
static void
test_what_stays_apart (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *changes;
    guint n_sides;
    const char *apart;
  } cases[] = {
    { "set cluster.nic_rate=200Gb/s", 2, NULL },
    { "set cluster.nic_rate=200Gb/s; set cluster.nic_rate=400Gb/s", 3,
      "Not all together: cluster.nic_rate=200Gb/s and cluster.nic_rate=400Gb/s both set cluster.nic_rate." },
    { "set iterations=2; set cluster.nic_rate=200Gb/s; nic 400Gb/s", 4,
      "Not all together: cluster.nic_rate=200Gb/s and nic 400Gb/s both set cluster.nic_rate." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) changes = changes_of (study, cases[i].changes);
    guint mistaken = 9;
    g_autoptr (FabWhatIfAnswer) answer = fab_whatif_answer (study, &(FabWhatIfRequest){ .changes = changes },
                                                            &mistaken, NULL);

    assert_int_equal (answer->sides->len, cases[i].n_sides);
    if (cases[i].apart == NULL)
      assert_null (answer->apart);
    else if (g_strcmp0 (answer->apart, cases[i].apart) != 0)
      fail_msg ("it says %s", answer->apart);
  }
}

/* What limits the step is told where it is something else than before: compute with fast ports, the network with slow
 * ones. */
static void
test_limits (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) hello = fab_study_new (FAB_SOURCE_DIR "/scenarios/explore.yaml", NULL, catalog,
                                              &fab_models, NULL);
  g_autoptr (GPtrArray) changes = changes_of (hello,
                                              "set cluster.nic_rate=5Gb/s; set cluster.nic_rate=190Gb/s");
  guint mistaken = 9;

  hello->n_threads = 1;
  g_autoptr (FabWhatIfAnswer) answer = fab_whatif_answer (hello, &(FabWhatIfRequest){ .changes = changes },
                                                          &mistaken, NULL);
  const FabBottleneck *then = fab_sides_at (answer->sides, 0)->point->bottleneck,
                      *now = fab_sides_at (answer->sides, 1)->point->bottleneck,
                      *same = fab_sides_at (answer->sides, 2)->point->bottleneck;
  assert_string_not_equal (fab_bottleneck_part (then), fab_bottleneck_part (now));
  assert_string_equal (fab_bottleneck_part (then), fab_bottleneck_part (same));
  g_autofree char *end = g_strdup_printf (" The step is then limited by %s in place of %s.",
                                          fab_bottleneck_name (now), fab_bottleneck_name (then));
  assert_true (g_str_has_suffix (effect_at (answer, 1)->words, end));
  assert_null (strstr (effect_at (answer, 2)->words, "limited by"));
}

/* Bands are of each side, and of the difference of each from the first. */
static void
test_bands (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) changes = changes_of (study, "set cluster.nic_rate=200Gb/s");
  guint mistaken = 9;
  g_autoptr (FabWhatIfAnswer) answer = fab_whatif_answer (
      study, &(FabWhatIfRequest){ .changes = changes, .has_band = TRUE }, &mistaken, NULL);

  for (guint i = 0; i < 2; i++) {
    const FabSide *side = fab_sides_at (answer->sides, i);

    assert_non_null (side->band);
    assert_true (side->band->low[0] <= side->point->step_s && side->point->step_s <= side->band->high[0]);
    assert_int_equal (fab_side_has_change (side), i == 1);
  }
  assert_near (fab_sides_at (answer->sides, 1)->change.change.median, -0.5, 5e-3);
}

/* Which change is a mistake: its number, from 1. All of them together need not be possible. */
static void
test_mistakes (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *changes;
    guint mistaken;
  } cases[] = {
    { "set cluster.nodes=0; set cluster.nic_rate=200Gb/s", 1 },
    { "set cluster.nic_rate=200Gb/s; set cluster.nodes=0", 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) changes = changes_of (study, cases[i].changes);
    g_autoptr (GError) error = NULL;
    guint mistaken = 9;

    assert_null (fab_whatif_answer (study, &(FabWhatIfRequest){ .changes = changes }, &mistaken, &error));
    assert_int_equal (mistaken, cases[i].mistaken);
    assert_non_null (error);
  }
}

/* --- what is not played, and what cannot be compared --- */

static FabWhatIfAnswer *
answer_of (const FabStudy *of, const char *text, gboolean is_oversized_allowed)
{
  g_autoptr (GPtrArray) changes = changes_of (of, text);
  guint mistaken = 9;
  g_autoptr (GError) error = NULL;
  FabWhatIfAnswer *answer = fab_whatif_answer (
      of, &(FabWhatIfRequest){ .changes = changes, .is_oversized_allowed = is_oversized_allowed }, &mistaken,
      &error);

  if (answer == NULL)
    fail_msg ("%s", error->message);
  return answer;
}

/* A port dies after 5 of 80 ms: the job hangs, and so it does with ports of another rate. The change that is played is
 * held against the scenario all the same. */
static void
test_a_change_that_hangs (G_GNUC_UNUSED void **state)
{
  static const char *const words[] = { "nic=node0/nic0:dead@5ms: iteration 0 never ends: ",
                                       "cluster.nic_rate=200Gb/s is 50.0 % faster than as it is: ",
                                       "all together: iteration 0 never ends: " };
  g_autoptr (FabWhatIfAnswer) answer = answer_of (
      study, "fault nic=node0/nic0:dead@5ms; set cluster.nic_rate=200Gb/s", FALSE);
  g_autoptr (FabPoints) points = fab_whatif_points (answer);

  assert_int_equal (answer->sides->len, 4);
  assert_int_equal (answer->contrast->variants->len, 2);
  for (guint i = 1; i < 4; i++) {
    const FabWhatIfEffect *effect = effect_at (answer, i);
    const FabPointsRow *row = fab_points_row (points, i);
    gboolean is_played = i == 2;

    assert_true (g_str_has_prefix (effect->words, words[i - 1]));
    assert_null (strchr (effect->words, '\n'));
    assert_int_equal (effect->is_played, is_played);
    assert_int_equal (effect->blast.n_ranks, is_played ? 4 : 0);
    assert_int_equal (effect->switches != NULL, is_played);
    assert_int_equal (row->problem != NULL, !is_played);
    assert_string_equal (row->labels[1], is_played ? "4" : "0");
    assert_string_equal (row->labels[2], is_played ? "4" : "0");
    assert_ptr_equal (row->point, fab_sides_at (answer->sides, i)->point);
  }
}

/* A scenario that hangs by itself is no answer: nothing can be held against it. */
static void
test_a_scenario_that_hangs (G_GNUC_UNUSED void **state)
{
  static const char *const sets[] = { "faults=[{what: nic, name: node0/nic0, dead: true, at: 5ms}]", NULL };
  g_autoptr (FabEdits) edits = fab_edits_of (sets);
  g_autoptr (FabStudy) hung = fab_study_edited (study, edits);
  g_autoptr (GPtrArray) changes = changes_of (study, "set cluster.nic_rate=200Gb/s");
  g_autoptr (GError) error = NULL;
  guint mistaken = 9;

  assert_null (fab_whatif_answer (hung, &(FabWhatIfRequest){ .changes = changes }, &mistaken, &error));
  assert_int_equal (mistaken, 0);
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_HUNG));
}

/* Two nodes are enough for the job, and node 3 has a port; together they cannot be. */
static void
test_changes_that_are_possible_alone (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabWhatIfAnswer) answer = answer_of (study, "set cluster.nodes=2; fault nic=node3/nic0:50%",
                                                  FALSE);

  assert_int_equal (answer->sides->len, 4);
  assert_null (answer->apart);
  for (guint i = 0; i < 4; i++)
    assert_int_equal (effect_at (answer, i)->is_played, i < 3);
  assert_true (g_str_has_prefix (effect_at (answer, 3)->words, "all together: "));
  assert_non_null (fab_sides_at (answer->sides, 3)->problem);
}

#define TRAINING                                                                    \
  "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 2}\n" \
  "job: {kind: ddp, model: %s, micro_batch: 1, sequence: 1024, compute: {kind: mfu, mfu: 40%%}}\n"

/* Steps that do not fit into memory are not compared, unless that is allowed: what does not fit says so, and what fits
 * in place of it says that. The scenario's own verdict says what would make it fit. */
static void
test_what_does_not_fit (G_GNUC_UNUSED void **state)
{
  static const char *const models[] = { "gpt2", "llama2-7b" };

  for (guint i = 0; i < 2; i++)
    for (guint is_allowed = 0; is_allowed < 2; is_allowed++) {
      g_autofree char *yaml = g_strdup_printf (TRAINING, models[i]);
      g_autofree char *change = g_strdup_printf ("set job.model=%s", models[1 - i]);
      g_autoptr (FabStudy) training = study_of (yaml);
      g_autoptr (FabWhatIfAnswer) answer = answer_of (training, change, is_allowed > 0);
      const FabFinding *finding = fab_verdict_find (fab_sides_at (answer->sides, 0)->point->verdict,
                                                    FAB_FINDING_DOES_NOT_FIT);
      g_autofree char *stops = fab_verdict_stop_words (fab_sides_at (answer->sides, 1)->point->verdict);
      g_autofree char *own = g_strdup_printf ("job.model=llama2-7b: %s", stops != NULL ? stops : "");
      const char *words = effect_at (answer, 1)->words;

      assert_int_equal (finding != NULL, i == 1);
      assert_int_equal (stops != NULL, i == 0);
      if (finding != NULL)
        assert_true (g_str_has_prefix (finding->advice, "It fits with "));
      if (is_allowed)
        assert_non_null (strstr (words, i == 0 ? " slower than as it is" : " faster than as it is"));
      else
        assert_string_equal (words, i == 0 ? own : "job.model=gpt2: the job fits.");
    }
}

/* Every seed has a step of its own. A bucket that is hardly larger is within their spread, and what limits the step is
 * not told then; a port of a quarter of its rate is not. */
static void
test_seeds (G_GNUC_UNUSED void **state)
{
  static const char yaml[] =
      "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1}\n"
      "job: {kind: ddp, model: gpt2, micro_batch: 4, sequence: 1024, jitter: {cv: 5%}, "
      "compute: {kind: mfu, mfu: 40%}}\n";
  g_autoptr (FabStudy) noisy = study_of (yaml);

  noisy->n_seeds = 3;
  g_autoptr (FabWhatIfAnswer) answer = answer_of (noisy, "fault nic=node0/nic0:10%; set seed=77", FALSE);
  assert_int_equal (answer->n_seeds, 3);
  assert_non_null (strstr (effect_at (answer, 1)->words, "It is slower with each of 3 seeds"));
  assert_non_null (strstr (effect_at (answer, 1)->words, " It slows "));
  assert_true (g_str_has_prefix (effect_at (answer, 2)->words,
                                 "The seeds do not decide between seed=77 and as it is: "));
  assert_null (strstr (effect_at (answer, 2)->words, "limited by"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_change_that_hangs),
    cmocka_unit_test (test_a_scenario_that_hangs),
    cmocka_unit_test (test_changes_that_are_possible_alone),
    cmocka_unit_test (test_what_does_not_fit),
    cmocka_unit_test (test_seeds),
    cmocka_unit_test (test_changes_and_all_together),
    cmocka_unit_test (test_how_far_a_fault_reaches),
    cmocka_unit_test (test_what_stays_apart),
    cmocka_unit_test (test_bands),
    cmocka_unit_test (test_limits),
    cmocka_unit_test (test_mistakes),
  };

  catalog = play_catalog ();
  study = study_of (sends);
  int n_failed = cmocka_run_group_tests (tests, NULL, NULL);
  fab_study_free (study);
  fab_catalog_free (catalog);
  return n_failed;
}
