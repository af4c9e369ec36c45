/* SPDX-License-Identifier: Apache-2.0 */
/* test_pipeline.c - schedules against the bubbles that their papers give, played with passes of one unit. */
#include "tests/support/test.h"

#include "models/workload/training/pipeline.h"

enum { MAX_STAGES = 8, MAX_PARTS = 32, MAX_MICRO = 32 };

/* When each pass of each part ended; 0: not yet. */
typedef struct {
  guint n_stages, n_virtual, n_micro;
  gboolean is_split; /* B and W apart */
  guint forward[MAX_PARTS][MAX_MICRO], backward[MAX_PARTS][MAX_MICRO], weights[MAX_PARTS][MAX_MICRO];
  guint clock[MAX_STAGES], next[MAX_STAGES], begin[MAX_STAGES]; /* of each stage's first pass; 0: not yet */
} Play;

/* When the action's input is there; G_MAXUINT: not known yet. */
static guint
ready_at (const Play *play, guint stage, const Action *action)
{
  guint n_parts = play->n_stages * play->n_virtual, part = action->chunk * play->n_stages + stage, ready;

  switch (action->kind) {
  case ACTION_FORWARD: ready = part == 0 ? 1 : play->forward[part - 1][action->micro]; break;
  case ACTION_BACKWARD:
    ready = part + 1 == n_parts ? play->forward[part][action->micro]
                                : play->backward[part + 1][action->micro];
    break;
  case ACTION_WEIGHTS: ready = play->backward[part][action->micro]; break;
  default: g_assert_not_reached ();
  }
  return ready == 0 ? G_MAXUINT : ready;
}

/* Clocks start at 1. A forward pass takes 1, a whole backward pass 2, each half of it 1. */
static gboolean
advance (Play *play, guint stage, const GArray *actions)
{
  if (play->next[stage] == actions->len)
    return FALSE;
  const Action *action = &g_array_index (actions, Action, play->next[stage]);
  guint ready = ready_at (play, stage, action), part = action->chunk * play->n_stages + stage;

  if (ready == G_MAXUINT)
    return FALSE;
  if (play->next[stage] == 0)
    play->begin[stage] = MAX (play->clock[stage], ready);
  play->clock[stage] = MAX (play->clock[stage], ready)
                     + (action->kind == ACTION_BACKWARD && !play->is_split ? 2 : 1);
  (action->kind == ACTION_FORWARD    ? play->forward
   : action->kind == ACTION_BACKWARD ? play->backward
                                     : play->weights)[part][action->micro] = play->clock[stage];
  play->next[stage]++;
  return TRUE;
}

/* Length of the whole, and every pass done once. `spans`: of each stage, from its first pass to its last; or NULL. */
static guint
play_spans (const char *name, guint n_stages, guint n_virtual, guint n_micro, guint round, guint *spans)
{
  const PipelineSize size = { n_stages, n_virtual, n_micro, round };
  Play self = { .n_stages = n_stages,
                .n_virtual = n_virtual,
                .n_micro = n_micro,
                .is_split = pipeline_schedule_named (name)->splits_backward };
  GArray *actions[MAX_STAGES];
  guint n_done = 0, end = 0;
  gboolean is_moving = TRUE;

  for (guint s = 0; s < n_stages; s++) {
    actions[s] = pipeline_actions (pipeline_schedule_named (name), &size, s);
    self.clock[s] = 1;
  }
  while (is_moving) {
    is_moving = FALSE;
    for (guint s = 0; s < n_stages; s++)
      while (advance (&self, s, actions[s])) {
        is_moving = TRUE;
        n_done++;
      }
  }
  assert_int_equal (n_done, n_stages * n_virtual * n_micro * (self.is_split ? 3 : 2));
  for (guint part = 0; part < n_stages * n_virtual; part++)
    for (guint m = 0; m < n_micro; m++)
      assert_true (self.forward[part][m] > 0 && self.backward[part][m] > 0
                   && (!self.is_split || self.weights[part][m] > 0));
  for (guint s = 0; s < n_stages; s++) {
    end = MAX (end, self.clock[s]);
    if (spans != NULL)
      spans[s] = self.clock[s] - self.begin[s];
    g_array_unref (actions[s]);
  }
  return end - 1;
}

static guint
play_rounds (const char *name, guint n_stages, guint n_virtual, guint n_micro, guint round)
{
  return play_spans (name, n_stages, n_virtual, n_micro, round, NULL);
}

static guint
play (const char *name, guint n_stages, guint n_virtual, guint n_micro)
{
  return play_rounds (name, n_stages, n_virtual, n_micro, n_stages);
}

/* m (F + B) + (p - 1)(F + B) with F 1, B 2. */
static void
bubble_of_1f1b_and_gpipe (G_GNUC_UNUSED void **state)
{
  for (guint p = 1; p <= 8; p *= 2)
    for (guint m = 1; m <= 32; m *= 2) {
      assert_int_equal (play ("1f1b", p, 1, m), 3 * (m + p - 1));
      assert_int_equal (play ("gpipe", p, 1, m), 3 * (m + p - 1));
    }
}

/* m v (F + B) + (p - 1)(F + B), each pass being of 1/v of the model. */
static void
bubble_of_interleaved_is_divided (G_GNUC_UNUSED void **state)
{
  for (guint p = 2; p <= 8; p *= 2)
    for (guint v = 2; v <= 4; v *= 2)
      for (guint m = p; m <= 32; m += p)
        assert_int_equal (play ("interleaved", p, v, m), 3 * (m * v + p - 1));
}

/* Rounds of 5 for 4 stages, or of 6 and then 4: no stage waits for what it has to do itself, and the bubble is that of
 * rounds of 4. With rounds of 12 all micro-batches go through part 0 first. */
static void
rounds_need_no_multiple_of_stages (G_GNUC_UNUSED void **state)
{
  assert_int_equal (play_rounds ("interleaved", 4, 2, 10, 5), 3 * (10 * 2 + 3));
  assert_int_equal (play_rounds ("interleaved", 4, 2, 10, 6), 3 * (10 * 2 + 3));
  assert_int_equal (play_rounds ("interleaved", 4, 3, 9, 9), 3 * (9 * 3 + 3));
  assert_int_equal (play_rounds ("interleaved", 4, 2, 12, 12), 3 * (12 * 2 + 3));
}

/* m (F + B + W) + (p - 1)(F + B - W), all of 1, once the pipeline is full. */
static void
bubble_of_zero_bubble_is_a_third (G_GNUC_UNUSED void **state)
{
  for (guint p = 2; p <= 8; p *= 2)
    for (guint m = 2 * p; m <= 32; m *= 2)
      assert_int_equal (play ("zero_bubble", p, 1, m), 3 * m + p - 1);
}

/* Table 1 of Qi et al.: of a stage, (p - 1)(F + B - W) with ZB-H1 and (p - 1)(F + B - 2 W) = 0 with ZB-H2, where F, B
 * and W are 1. The whole takes as long with both, because the last stage begins p - 1 passes late. */
static void
bubble_of_h2_is_none (G_GNUC_UNUSED void **state)
{
  guint spans[MAX_STAGES];

  for (guint p = 2; p <= 8; p *= 2)
    for (guint m = 2 * p - 1; m <= 32; m += p) {
      assert_int_equal (play_spans ("zero_bubble_h2", p, 1, m, p, spans), 3 * m + p - 1);
      for (guint stage = 0; stage < p; stage++)
        assert_int_equal (spans[stage], 3 * m);
      play_spans ("zero_bubble", p, 1, m, p, spans);
      assert_int_equal (spans[0], 3 * m + p - 1);
    }
}

/* The activations of a micro-batch are alive until its last pass. Table 1 of Qi et al.: p with ZB-H1 and 2 p - 1
 * with ZB-H2, on every stage. */
static void
split_schedules_keep_what_their_paper_says (G_GNUC_UNUSED void **state)
{
  const PipelineSize size = { 4, 1, 16, 4 };
  const struct {
    const char *name;
    guint most;
  } cases[] = { { "zero_bubble", 4 }, { "zero_bubble_h2", 7 } };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    for (guint stage = 0; stage < 4; stage++) {
      g_autoptr (GArray) actions = pipeline_actions (pipeline_schedule_named (cases[c].name), &size, stage);
      guint alive = 0, most = 0;

      for (guint i = 0; i < actions->len; i++) {
        ActionKind kind = g_array_index (actions, Action, i).kind;

        alive = alive + (kind == ACTION_FORWARD) - (kind == ACTION_WEIGHTS);
        most = MAX (most, alive);
      }
      assert_int_equal (most, cases[c].most);
    }
}

/* 1f1b keeps p - stage micro-batches alive, gpipe all. */
static void
stages_keep_as_many_micro_batches_as_they_must (G_GNUC_UNUSED void **state)
{
  const PipelineSize size = { 4, 1, 16, 4 };

  for (guint stage = 0; stage < 4; stage++) {
    g_autoptr (GArray) actions = pipeline_actions (pipeline_schedule_named ("1f1b"), &size, stage);
    guint alive = 0, most = 0;

    for (guint i = 0; i < actions->len; i++) {
      alive += g_array_index (actions, Action, i).kind == ACTION_FORWARD ? 1 : -1;
      most = MAX (most, alive);
    }
    assert_int_equal (most, 4 - stage);
  }
}

/* The names and the rows are one list, of which one is the default and one is for stages with several parts. */
static void
rows_have_names_and_flags (G_GNUC_UNUSED void **state)
{
  guint n_usual = 0, n_parts = 0;

  for (gint i = 0; pipeline_schedules[i] != NULL; i++) {
    const PipelineSchedule *row = pipeline_schedule (i);

    assert_string_equal (row->name, pipeline_schedules[i]);
    assert_ptr_equal (pipeline_schedule_named (row->name), row);
    n_usual += row->is_usual;
    n_parts += row->has_parts;
  }
  assert_int_equal (n_usual, 1);
  assert_int_equal (n_parts, 1);
  assert_string_equal (pipeline_schedule_usual ()->name, "1f1b");
  assert_string_equal (pipeline_schedule_for_parts ()->name, "interleaved");
  assert_null (pipeline_schedule_named ("none"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (bubble_of_1f1b_and_gpipe),
    cmocka_unit_test (bubble_of_interleaved_is_divided),
    cmocka_unit_test (rounds_need_no_multiple_of_stages),
    cmocka_unit_test (bubble_of_zero_bubble_is_a_third),
    cmocka_unit_test (bubble_of_h2_is_none),
    cmocka_unit_test (split_schedules_keep_what_their_paper_says),
    cmocka_unit_test (stages_keep_as_many_micro_batches_as_they_must),
    cmocka_unit_test (rows_have_names_and_flags),
  };

  return cmocka_run_group_tests_name ("pipeline", tests, NULL, NULL);
}
