/* SPDX-License-Identifier: Apache-2.0 */
/* test_compare_sides.c - variants of one scenario, held against one of them: a gigabyte over ports of known rates. */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "answer/compare/sides.h"
#include "answer/study/choices.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

typedef struct {
  char *folder;
  FabStudy *study;
} Fixture;

/* A gigabyte from one node to another: 80 ms over 100 Gb/s, and microseconds. (transfer full) */
static char *
write_sends (const char *folder, const char *file)
{
  static const char yaml[] =
      "name: sends\niterations: 1\n"
      "links: [{name: wire, technology: InfiniBand, lanes: 1, signalling: 100Gb/s, latency: 1us}]\n"
      "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: wire, fabric: switch}\n"
      "collectives: plain\n"
      "job: {kind: collective, operations: [{op: send_recv, size: 1GB}]}\n";
  char *path = g_build_filename (folder, file, NULL);

  assert_true (g_file_set_contents (path, yaml, -1, NULL));
  return path;
}

static int
set_up (void **state)
{
  Fixture *self = g_new0 (Fixture, 1);

  self->folder = g_dir_make_tmp ("sides-XXXXXX", NULL);
  g_autofree char *path = write_sends (self->folder, "sends.yaml");
  self->study = fab_study_new (path, NULL, catalog, &fab_models, NULL);
  self->study->n_threads = 1;
  g_unlink (path);
  *state = self;
  return 0;
}

static int
tear_down (void **state)
{
  Fixture *self = *state;

  fab_study_free (self->study);
  g_rmdir (self->folder);
  g_free (self->folder);
  g_free (self);
  return 0;
}

static GPtrArray *
sides_of (const FabStudy *study, const char *axis)
{
  g_autoptr (FabAxis) values = fab_axis_parse (axis, NULL);

  assert_non_null (values);
  return fab_sides_of_axis (study, values);
}

static GPtrArray *
settled (const FabStudy *study, const char *axis)
{
  GPtrArray *sides = sides_of (study, axis);
  g_autoptr (GPtrArray) left_out = g_ptr_array_new_with_free_func (g_free);

  assert_true (fab_sides_settle (sides, TRUE, FALSE, left_out, NULL));
  assert_int_equal (left_out->len, 1);
  assert_null (g_ptr_array_index (left_out, 0));
  return sides;
}

/* "nodes=4" of "cluster.nodes=4", and the key itself where it has no parts. */
static void
test_names (void **state)
{
  const Fixture *self = *state;
  g_autoptr (GPtrArray) rates = sides_of (self->study, "cluster.nic_rate=100Gb/s,0.2Tb/s"),
                        levels = sides_of (self->study, "fidelity=fluid,step");

  assert_int_equal (rates->len, 2);
  assert_string_equal (fab_sides_at (rates, 0)->name, "nic_rate=100Gb/s");
  assert_string_equal (fab_sides_at (rates, 1)->name, "nic_rate=0.2Tb/s");
  assert_string_equal (fab_sides_at (levels, 0)->name, "fidelity=fluid");
  assert_string_equal (fab_sides_at (levels, 1)->name, "fidelity=step");
}

/* By name, by value; the first where nobody names one. */
static void
test_find (void **state)
{
  const Fixture *self = *state;
  g_autoptr (GPtrArray) sides = sides_of (self->study, "cluster.nic_rate=100Gb/s,200Gb/s,400Gb/s");
  g_autoptr (GError) error = NULL;
  guint index = 9;

  assert_true (fab_sides_find (sides, NULL, &index, NULL));
  assert_int_equal (index, 0);
  assert_true (fab_sides_find (sides, "nic_rate=200Gb/s", &index, NULL));
  assert_int_equal (index, 1);
  assert_true (fab_sides_find (sides, "400Gb/s", &index, NULL));
  assert_int_equal (index, 2);
  assert_false (fab_sides_find (sides, "800Gb/s", &index, &error));
  assert_string_equal (error->message,
                       "this is none of nic_rate=100Gb/s, nic_rate=200Gb/s, nic_rate=400Gb/s");
}

/* The rates are 1, 2 and 4 times that of the first: so is the speed. The base is not judged; it has no difference from
 * itself. */
static void
test_words (void **state)
{
  const Fixture *self = *state;
  g_autoptr (FabAxis) axis = fab_axis_parse ("cluster.nic_rate=100Gb/s,200Gb/s,400Gb/s", NULL);

  for (guint base = 0; base < 3; base++) {
    g_autoptr (GPtrArray) sides = settled (self->study, "cluster.nic_rate=100Gb/s,200Gb/s,400Gb/s");
    g_autoptr (FabSidesAnswer) answer = fab_sides_answer (sides, &(FabSidesRequest){ .base = base,
                                                                                     .variants = axis });

    assert_int_equal (answer->contrast->base, base);
    assert_int_equal (answer->words->len, 3);
    assert_int_equal (answer->n_seeds, 1);
    assert_int_equal (answer->equals->len, 0); /* nobody asked */
    assert_int_equal (answer->pairs->len, 2);
    assert_null (answer->hold); /* there is no batch */
    for (guint i = 0; i < 3; i++) {
      const FabSideWords *words = &g_array_index (answer->words, FabSideWords, i);

      assert_true (words->is_sound);
      assert_int_equal (words->is_judged, i != base);
      assert_int_equal (words->differs, i != base);
      assert_int_equal (words->words != NULL, i != base);
      assert_near (words->speed_up, (double) (1 << i) / (1 << base), 1e-2);
      assert_false (fab_side_has_change (fab_sides_at (sides, i))); /* no bands were asked for */
    }
  }
}

/* The others equal the base with ports of its rate, to the step of 2.3 % between rates that are tried. */
static void
test_equals (void **state)
{
  const Fixture *self = *state;
  static const double rates[] = { 12.5e9, 25e9, 50e9 };

  for (guint base = 0; base < 3; base++) {
    g_autoptr (GPtrArray) sides = settled (self->study, "cluster.nic_rate=100Gb/s,200Gb/s,400Gb/s");
    g_autoptr (FabSidesAnswer) answer = fab_sides_answer (
        sides, &(FabSidesRequest){ .base = base, .figure = fab_figure_find ("step") });

    assert_int_equal (answer->equals->len, 2);
    assert_int_equal (answer->pairs->len, 0); /* no axis: these are scenarios */
    assert_true (answer->axis == answer->own_axis && answer->own_axis != NULL);
    for (guint i = 0; i < 2; i++) {
      const FabSideEqual *equal = &g_array_index (answer->equals, FabSideEqual, i);

      assert_int_equal (equal->side, i < base ? i : i + 1);
      assert_null (equal->problem);
      assert_near ((double) equal->needed_bytes_per_s / rates[base], 1, 0.025);
    }
  }
}

/* Another key, or a first value that is enough, say no rate of ports. */
static void
test_equals_without_a_rate (void **state)
{
  const Fixture *self = *state;
  static const struct {
    const char *axis;
    gint answer;
  } cases[] = {
    { "cluster.nic_rate=200Gb/s,400Gb/s", 0 }, /* the base has 100 */
    { "cluster.nic_rate=20Gb/s,40Gb/s", -1 },  /* none is enough */
    { "cluster.nics_per_node=1,2", 0 },        /* another key */
    { "cluster.nic_rate=50Gb/s,100Gb/s,1Tb/s", 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) sides = settled (self->study, "cluster.nic_rate=100Gb/s,200Gb/s");
    g_autoptr (FabAxis) axis = fab_axis_parse (cases[i].axis, NULL);
    g_autoptr (FabSidesAnswer) answer = fab_sides_answer (
        sides, &(FabSidesRequest){ .figure = fab_figure_find ("step"), .axis = axis });
    const FabSideEqual *equal = &g_array_index (answer->equals, FabSideEqual, 0);

    assert_true (answer->axis == axis && answer->own_axis == NULL);
    assert_non_null (equal->size);
    assert_int_equal (equal->size->answer, cases[i].answer);
    assert_int_equal (equal->needed_bytes_per_s, cases[i].answer == 1 ? 12500000000 : 0);
  }
}

/* A million GB do not fit into memory: nothing is compared then, unless that is allowed. */
static void
test_a_side_that_does_not_fit (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = fab_study_new (FAB_SOURCE_DIR "/scenarios/hello.yaml", NULL, catalog,
                                              &fab_models, NULL);
  const char *const axis = "job.micro_batch=1,100000,2";

  study->n_threads = 1;
  for (guint is_allowed = 0; is_allowed < 2; is_allowed++)
    for (guint base = 0; base < 3; base++) {
      g_autoptr (GPtrArray) sides = settled (study, axis);
      g_autoptr (FabSidesAnswer) answer = fab_sides_answer (
          sides, &(FabSidesRequest){ .base = base, .is_oversized_allowed = is_allowed > 0 });

      for (guint i = 0; i < 3; i++) {
        const FabSideWords *words = &g_array_index (answer->words, FabSideWords, i);

        assert_int_equal (words->is_sound, is_allowed || i != 1);
        assert_int_equal (words->is_judged, i != base && (is_allowed || (i != 1 && base != 1)));
        /* Of tokens, as steps of other batches do other work. */
        assert_near (words->speed_up,
                     fab_sides_at (sides, i)->point->tokens_per_s
                         / fab_sides_at (sides, base)->point->tokens_per_s,
                     1e-12);
      }
      assert_string_equal (answer->hold, "micro_batch");
    }
}

/* What limits the step is told where it is something else than what limits the base's. */
static void
test_limits (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = fab_study_new (FAB_SOURCE_DIR "/scenarios/explore.yaml", NULL, catalog,
                                              &fab_models, NULL);

  study->n_threads = 1;
  g_autoptr (GPtrArray) sides = settled (study, "cluster.nic_rate=6400Gb/s,5Gb/s,6000Gb/s");
  g_autoptr (FabSidesAnswer) answer = fab_sides_answer (sides, &(FabSidesRequest){ .base = 0 });
  const FabBottleneck *then = fab_sides_at (sides, 0)->point->bottleneck,
                      *now = fab_sides_at (sides, 1)->point->bottleneck;
  g_autofree char *end = g_strdup_printf (" The step is limited by %s in place of %s.",
                                          fab_bottleneck_name (now), fab_bottleneck_name (then));

  assert_string_not_equal (fab_bottleneck_part (then), fab_bottleneck_part (now));
  assert_true (g_str_has_suffix (g_array_index (answer->words, FabSideWords, 1).words, end));
  assert_null (strstr (g_array_index (answer->words, FabSideWords, 2).words, "limited by"));
}

/* Values that cannot be played are left out in their order, each with a line; not all of them. */
static void
test_what_is_left_out (void **state)
{
  const Fixture *self = *state;
  g_autoptr (GPtrArray) sides = sides_of (self->study, "cluster.nodes=0,2,-1"),
                        none = sides_of (self->study, "cluster.nodes=0,-1"),
                        left_out = g_ptr_array_new_with_free_func (g_free),
                        all = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;

  assert_true (fab_sides_settle (sides, TRUE, FALSE, left_out, NULL));
  assert_int_equal (sides->len, 1);
  assert_string_equal (fab_sides_at (sides, 0)->name, "nodes=2");
  assert_int_equal (left_out->len, 3);
  assert_true (g_str_has_prefix (g_ptr_array_index (left_out, 0), "nodes=0 cannot be simulated: "));
  assert_true (g_str_has_prefix (g_ptr_array_index (left_out, 1), "nodes=-1 cannot be simulated: "));
  assert_null (g_ptr_array_index (left_out, 2));
  assert_false (fab_sides_settle (none, TRUE, FALSE, all, &error));
  assert_non_null (error);
}

/* Of files, one that cannot be played is a mistake. Two of one name are called as their files are; each has a row. */
static void
test_files_of_one_name (void **state)
{
  const Fixture *self = *state;
  g_autofree char *one = write_sends (self->folder, "one.yaml"),
                  *two = write_sends (self->folder, "two.yaml");
  g_autoptr (FabStudy) first = fab_study_new (one, NULL, catalog, &fab_models, NULL),
                       second = fab_study_new (two, NULL, catalog, &fab_models, NULL);
  g_autoptr (GPtrArray) sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free),
                        left_out = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;

  g_ptr_array_add (sides, fab_side_new (NULL, first, NULL));
  g_ptr_array_add (sides, fab_side_new (NULL, second, NULL));
  assert_true (fab_sides_settle (sides, FALSE, TRUE, left_out, NULL));
  assert_string_equal (fab_sides_at (sides, 0)->name, "one.yaml");
  assert_string_equal (fab_sides_at (sides, 1)->variant->name, "two.yaml");
  assert_non_null (fab_sides_at (sides, 1)->band);
  g_autoptr (FabSidesAnswer) answer = fab_sides_answer (sides, &(FabSidesRequest){ .has_band = TRUE });
  g_autoptr (FabPoints) points = fab_sides_points (answer);
  assert_near (g_array_index (answer->words, FabSideWords, 1).speed_up, 1, 1e-12);
  assert_false (fab_side_has_change (fab_sides_at (sides, 0)));
  assert_true (fab_side_has_change (fab_sides_at (sides, 1)));
  assert_int_equal (points->rows->len, 2);
  assert_string_equal (points->columns[0], "name");
  for (guint i = 0; i < 2; i++) {
    char **labels = fab_points_row (points, i)->labels;

    assert_string_equal (labels[0], i == 0 ? "one.yaml" : "two.yaml");
    assert_string_equal (labels[1], "2"); /* GPUs */
    assert_string_equal (labels[2], "2"); /* nodes */
  }
  assert_int_equal (points->n_shown, 3);
  assert_int_equal (points->n_numbers, 2);
  g_ptr_array_add (sides,
                   fab_side_new (NULL, first, fab_edits_of ((const char *[]){ "cluster.nodes=0", NULL })));
  assert_false (fab_sides_settle (sides, FALSE, FALSE, left_out, &error));
  assert_non_null (error);
  g_unlink (one);
  g_unlink (two);
}

/* Scenarios of different names keep these. */
static void
test_files_of_their_own_names (void **state)
{
  const Fixture *self = *state;
  static const char *const sets[] = { "name=other", NULL };
  g_autoptr (FabEdits) edits = fab_edits_of (sets);
  g_autoptr (FabStudy) other = fab_study_edited (self->study, edits);
  g_autoptr (GPtrArray) sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free),
                        left_out = g_ptr_array_new_with_free_func (g_free);

  g_ptr_array_add (sides, fab_side_new (NULL, self->study, NULL));
  g_ptr_array_add (sides, fab_side_new (NULL, other, NULL));
  assert_true (fab_sides_settle (sides, FALSE, FALSE, left_out, NULL));
  assert_string_equal (fab_sides_at (sides, 0)->name, "sends");
  assert_string_equal (fab_sides_at (sides, 1)->name, "other");
  assert_string_equal (fab_sides_at (sides, 1)->variant->name, "other");
  assert_null (fab_sides_at (sides, 0)->band);
}

/* --- what is equal --- */

/* Each value is held beside the next one; bands are there where they are asked for. */
static void
test_values_of_an_axis (void **state)
{
  const Fixture *self = *state;
  g_autoptr (FabAxis) axis = fab_axis_parse ("cluster.nic_rate=100Gb/s,200Gb/s,400Gb/s", NULL);
  g_autoptr (GPtrArray) sides = fab_sides_of_axis (self->study, axis),
                        left_out = g_ptr_array_new_with_free_func (g_free);

  assert_true (fab_sides_settle (sides, TRUE, TRUE, left_out, NULL));
  g_autoptr (FabSidesAnswer) answer = fab_sides_answer (sides, &(FabSidesRequest){ .variants = axis });
  for (guint i = 0; i < 3; i++) {
    assert_non_null (fab_sides_at (sides, i)->band);
    assert_non_null (fab_sides_at (sides, i)->point->bottleneck);
  }
  for (guint i = 0; i < 2; i++) {
    const FabChoicePair *pair = &g_array_index (answer->pairs, FabChoicePair, i);

    assert_string_equal (pair->key, "cluster.nic_rate");
    assert_string_equal (pair->before_value, g_ptr_array_index (axis->values, i));
    assert_string_equal (pair->after_value, g_ptr_array_index (axis->values, i + 1));
    assert_ptr_equal (pair->before, fab_sides_at (sides, i)->point);
    assert_ptr_equal (pair->after, fab_sides_at (sides, i + 1)->point);
  }
}

/* A job of one rank takes no time, and nothing is a speed-up then. */
static void
test_steps_of_no_time (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = play_study (
      catalog,
      "name: t\ncluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1}\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n");
  static const double speed_ups[2][2] = { { 1, 0 }, { 1, 1 } };

  for (guint base = 0; base < 2; base++) {
    g_autoptr (GPtrArray) sides = settled (study, "cluster.nodes=1,2");
    g_autoptr (FabSidesAnswer) answer = fab_sides_answer (sides, &(FabSidesRequest){ .base = base });

    for (guint i = 0; i < 2; i++)
      assert_near (g_array_index (answer->words, FabSideWords, i).speed_up, speed_ups[base][i], 0);
  }
}

#define TRAINING                                                                     \
  "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1}\n"  \
  "job: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 1024, jitter: {cv: 1%}, " \
  "compute: {kind: mfu, mfu: 40%}}\n"

/* As many tokens a second as with ports of 50 Gb/s need 50 Gb/s, and fewer do with ports of 25 Gb/s. */
static void
test_equals_of_a_gain (G_GNUC_UNUSED void **state)
{
  static const char *const rates[] = { "50Gb/s", "25Gb/s" };
  g_autoptr (FabStudy) study = play_study (catalog, TRAINING);

  for (guint base = 0; base < 2; base++) {
    g_autoptr (GPtrArray) sides = settled (study, "cluster.nic_rate=50Gb/s,25Gb/s");
    g_autoptr (FabAxis) axis = fab_axis_parse ("cluster.nic_rate=20Gb/s,25Gb/s,40Gb/s,50Gb/s,100Gb/s", NULL);
    g_autoptr (FabSidesAnswer) answer = fab_sides_answer (
        sides, &(FabSidesRequest){ .base = base, .figure = fab_figure_find ("tokens"), .axis = axis });
    const FabSideEqual *equal = &g_array_index (answer->equals, FabSideEqual, 0);

    assert_int_equal (equal->side, 1 - base);
    assert_string_equal (equal->size->points[equal->size->answer].value, rates[base]);
    assert_int_equal (equal->needed_bytes_per_s, base == 0 ? 6250000000 : 3125000000);
  }
}

/* Where no value can run there is no size, and the problem says why. A base that does not fit is not equalled, unless
 * that is allowed. */
static void
test_what_cannot_be_equal (void **state)
{
  const Fixture *self = *state;
  g_autoptr (GPtrArray) sides = settled (self->study, "cluster.nic_rate=100Gb/s,200Gb/s");
  g_autoptr (FabAxis) axis = fab_axis_parse ("cluster.nodes=0,-1", NULL);
  g_autoptr (FabSidesAnswer) answer = fab_sides_answer (
      sides, &(FabSidesRequest){ .figure = fab_figure_find ("step"), .axis = axis });
  const FabSideEqual *equal = &g_array_index (answer->equals, FabSideEqual, 0);
  g_autoptr (FabStudy) hello = fab_study_new (FAB_SOURCE_DIR "/scenarios/hello.yaml", NULL, catalog,
                                              &fab_models, NULL);

  assert_null (equal->size);
  assert_non_null (strstr (equal->problem, "nodes"));
  assert_int_equal (equal->needed_bytes_per_s, 0);
  hello->n_threads = 1;
  for (guint is_allowed = 0; is_allowed < 2; is_allowed++) {
    g_autoptr (GPtrArray) large = settled (hello, "job.micro_batch=100000,90000");
    g_autoptr (FabAxis) batches = fab_axis_parse ("job.micro_batch=90000,100000", NULL);
    g_autoptr (FabSidesAnswer) of_large = fab_sides_answer (
        large, &(FabSidesRequest){ .figure = fab_figure_find ("step"),
                                   .axis = batches,
                                   .is_oversized_allowed = is_allowed > 0 });

    assert_int_equal (of_large->equals->len, is_allowed);
    if (is_allowed)
      assert_int_equal (g_array_index (of_large->equals, FabSideEqual, 0).size->answer, 0);
  }
}

/* The most seeds of a side are those of the answer. A difference within their spread is none. */
static void
test_seeds (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = play_study (catalog, TRAINING);

  study->n_seeds = 3;
  g_autoptr (GPtrArray) sides = settled (study, "seed=1,7");
  g_autoptr (FabSidesAnswer) answer = fab_sides_answer (sides, &(FabSidesRequest){ .base = 0 });
  const FabSideWords *words = &g_array_index (answer->words, FabSideWords, 1);
  assert_int_equal (answer->n_seeds, 3);
  assert_true (words->is_judged);
  assert_false (words->differs);
  assert_true (g_str_has_prefix (words->words, "The seeds do not decide between seed=7 and seed=1: "));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_names, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_find, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_words, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_equals, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_equals_without_a_rate, set_up, tear_down),
    cmocka_unit_test (test_a_side_that_does_not_fit),
    cmocka_unit_test (test_limits),
    cmocka_unit_test_setup_teardown (test_what_is_left_out, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_files_of_one_name, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_files_of_their_own_names, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_values_of_an_axis, set_up, tear_down),
    cmocka_unit_test (test_steps_of_no_time),
    cmocka_unit_test (test_equals_of_a_gain),
    cmocka_unit_test_setup_teardown (test_what_cannot_be_equal, set_up, tear_down),
    cmocka_unit_test (test_seeds),
  };

  return play_run_tests ("compare_sides", tests, &catalog);
}
