/* SPDX-License-Identifier: Apache-2.0 */
/* test_pipeline.c - schedules against the bubbles that their papers give, played with passes of one unit. */
#include "tests/support/test.h"

#include "models/workload/training/pipeline.h"

enum { MAX_STAGES = 12, MAX_PARTS = 32, MAX_MICRO = 64 };

/* Times of passes. */
typedef struct {
  guint forward, backward, inputs, weights, pair;
} Costs;

static const Costs unit_costs = { .forward = 1, .backward = 2, .inputs = 1, .weights = 1, .pair = 3 };

/* When each pass of each part ended; 0: not yet. Where a part is on two stages, each has its own micro-batches. */
typedef struct {
  const PipelineSchedule *schedule;
  const Costs *costs;
  guint n_stages, n_virtual, n_micro;
  GPtrArray *actions;
  guint forward[MAX_PARTS][MAX_MICRO], backward[MAX_PARTS][MAX_MICRO], inputs[MAX_PARTS][MAX_MICRO],
      weights[MAX_PARTS][MAX_MICRO];
  guint clock[MAX_STAGES], next[MAX_STAGES], begin[MAX_STAGES]; /* of each stage's first pass; 0: not yet */
  guint busy[MAX_STAGES];
  guint kept[MAX_STAGES], most[MAX_STAGES]; /* passes whose activations a stage keeps, and the most of them */
} Play;

static const GArray *
actions_of (const Play *play, guint stage)
{
  return g_ptr_array_index (play->actions, stage);
}

static guint
part_of (const Play *play, guint stage, const Action *action)
{
  return pipeline_part (play->schedule, play->n_stages, stage, action->chunk);
}

/* When the gradient for the activations of a part is there; 0: not yet. */
static guint
gradient_at (const Play *play, guint part, guint micro)
{
  return MAX (play->backward[part][micro], play->inputs[part][micro]);
}

/* When the action's input is there; G_MAXUINT: not known yet. */
static guint
ready_at (const Play *play, guint stage, const Action *action)
{
  guint n_parts = pipeline_n_parts (play->schedule, play->n_stages, play->n_virtual), ready;
  guint part = part_of (play, stage, action), micro = action->micro;

  switch (action->kind) {
  case ACTION_FORWARD: ready = part == 0 ? 1 : play->forward[part - 1][micro]; break;
  case ACTION_BACKWARD:
  case ACTION_INPUTS:
    ready = part + 1 == n_parts ? play->forward[part][micro] : gradient_at (play, part + 1, micro);
    break;
  case ACTION_WEIGHTS: ready = play->inputs[part][micro]; break;
  default: g_assert_not_reached ();
  }
  return ready == 0 ? G_MAXUINT : ready;
}

static guint
cost_of (const Play *play, const Action *action)
{
  switch (action->kind) {
  case ACTION_FORWARD: return play->costs->forward;
  case ACTION_BACKWARD: return play->costs->backward;
  case ACTION_INPUTS: return play->costs->inputs;
  case ACTION_WEIGHTS: return play->costs->weights;
  default: g_assert_not_reached ();
  }
}

static void
note_end (Play *play, guint stage, const Action *action)
{
  guint part = part_of (play, stage, action), *end;

  switch (action->kind) {
  case ACTION_FORWARD: end = &play->forward[part][action->micro]; break;
  case ACTION_BACKWARD: end = &play->backward[part][action->micro]; break;
  case ACTION_INPUTS: end = &play->inputs[part][action->micro]; break;
  case ACTION_WEIGHTS: end = &play->weights[part][action->micro]; break;
  default: g_assert_not_reached ();
  }
  assert_int_equal (*end, 0);
  *end = play->clock[stage];
  if (action->kind == ACTION_FORWARD)
    play->kept[stage]++;
  play->most[stage] = MAX (play->most[stage], play->kept[stage]);
  if (action->kind == ACTION_BACKWARD || action->kind == ACTION_WEIGHTS)
    play->kept[stage]--;
}

/* Clocks start at 1. */
static gboolean
advance (Play *play, guint stage)
{
  const GArray *actions = actions_of (play, stage);

  if (play->next[stage] == actions->len)
    return FALSE;
  const Action *action = &g_array_index (actions, Action, play->next[stage]);
  guint n = action->is_pair ? 2 : 1, ready = 0;

  for (guint i = 0; i < n; i++)
    ready = MAX (ready, ready_at (play, stage, action + i));
  if (ready == G_MAXUINT)
    return FALSE;
  if (play->next[stage] == 0)
    play->begin[stage] = MAX (play->clock[stage], ready);
  guint cost = n == 2 ? play->costs->pair : cost_of (play, action);
  play->clock[stage] = MAX (play->clock[stage], ready) + cost;
  play->busy[stage] += cost;
  for (guint i = 0; i < n; i++)
    note_end (play, stage, action + i);
  play->next[stage] += n;
  return TRUE;
}

/* Every micro-batch has gone through every part once, in both directions. */
static void
check_all_done (const Play *play)
{
  for (guint stage = 0; stage < play->n_stages; stage++) {
    assert_int_equal (play->next[stage], actions_of (play, stage)->len);
    assert_int_equal (play->kept[stage], 0);
  }
  for (guint part = 0; part < pipeline_n_parts (play->schedule, play->n_stages, play->n_virtual); part++)
    for (guint m = 0; m < play->n_micro; m++) {
      assert_true (play->forward[part][m] > 0);
      assert_true ((play->backward[part][m] > 0) != (play->inputs[part][m] > 0));
      assert_true ((play->inputs[part][m] > 0) == (play->weights[part][m] > 0));
    }
}

/* Plays a schedule to its end. Returns the length of the whole. */
static guint
play_all (Play *self, const char *name, const PipelineSize *size, const Costs *costs)
{
  guint end = 0;
  gboolean is_moving = TRUE;

  *self = (Play){ .schedule = pipeline_schedule_named (name),
                  .costs = costs,
                  .n_stages = size->n_stages,
                  .n_virtual = size->n_virtual,
                  .n_micro = size->n_micro };
  self->actions = pipeline_actions (self->schedule, size);
  for (guint s = 0; s < size->n_stages; s++)
    self->clock[s] = 1;
  while (is_moving) {
    is_moving = FALSE;
    for (guint s = 0; s < size->n_stages; s++)
      while (advance (self, s))
        is_moving = TRUE;
  }
  check_all_done (self);
  for (guint s = 0; s < size->n_stages; s++)
    end = MAX (end, self->clock[s]);
  g_ptr_array_unref (self->actions);
  return end - 1;
}

/* `spans`: of each stage, from its first pass to its last; or NULL. */
static guint
play_spans (const char *name, guint n_stages, guint n_virtual, guint n_micro, guint round, guint *spans)
{
  const PipelineSize size = {
    .n_stages = n_stages, .n_virtual = n_virtual, .n_micro = n_micro, .round = round
  };
  Play self;
  guint length = play_all (&self, name, &size, &unit_costs);

  for (guint s = 0; s < n_stages && spans != NULL; s++)
    spans[s] = self.clock[s] - self.begin[s];
  return length;
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
 * with ZB-H2, on every stage. 1f1b keeps p - stage. */
static void
schedules_keep_what_their_papers_say (G_GNUC_UNUSED void **state)
{
  const PipelineSize size = { .n_stages = 4, .n_virtual = 1, .n_micro = 16, .round = 4 };
  Play play;

  for (guint stage = 0; stage < 4; stage++) {
    play_all (&play, "zero_bubble", &size, &unit_costs);
    assert_int_equal (play.most[stage], 4);
    play_all (&play, "zero_bubble_h2", &size, &unit_costs);
    assert_int_equal (play.most[stage], 7);
    play_all (&play, "1f1b", &size, &unit_costs);
    assert_int_equal (play.most[stage], 4 - stage);
    play_all (&play, "gpipe", &size, &unit_costs);
    assert_int_equal (play.most[stage], 16);
  }
}

/* --- schedules in a V: passes are those of one of 2 p parts --- */

/* Qi et al. 2023, section 6: no stage is idle from its first pass to its last, with the activations of 1f1b, which are
 * those of 2 p passes through one of 2 p parts. */
static void
v_has_no_bubble_and_the_memory_of_1f1b (G_GNUC_UNUSED void **state)
{
  guint spans[MAX_STAGES];
  Play play;

  for (guint p = 2; p <= 12; p++)
    for (guint m = 2 * p - 1; m <= 3 * p; m += p / 2 + 1) {
      const PipelineSize size = { .n_stages = p, .n_virtual = 1, .n_micro = m };

      assert_int_equal (play_spans ("zero_bubble_v", p, 1, m, 0, spans), 6 * m + p - 1);
      play_all (&play, "zero_bubble_v", &size, &unit_costs);
      for (guint stage = 0; stage < p; stage++) {
        assert_int_equal (spans[stage], 6 * m);
        assert_int_equal (play.most[stage], 2 * p);
      }
    }
}

/* The rules of ZB-V follow the times of passes: where the passes of weights are long, their order is faster than that
 * for equal times, with the same activations. */
static void
v_follows_the_times_of_passes (G_GNUC_UNUSED void **state)
{
  const Costs costs = { .forward = 4, .inputs = 2, .weights = 12, .backward = 14 };
  const PipelineSize equal = { .n_stages = 8, .n_virtual = 1, .n_micro = 20 };
  PipelineSize timed = equal;
  Play play;
  guint length_equal = play_all (&play, "zero_bubble_v", &equal, &costs);

  timed.forward_cost = costs.forward;
  timed.inputs_cost = costs.inputs;
  timed.weights_cost = costs.weights;
  assert_true (play_all (&play, "zero_bubble_v", &timed, &costs) < length_equal);
  for (guint stage = 0; stage < 8; stage++)
    assert_true (play.most[stage] <= 16);
}

/* Qi et al. 2024, table 1: about 1/2 of the activations and of the bubble of 1f1b, whose bubble is 6 (p - 1) here and
 * whose activations are those of 2 p passes. The rest is what whole slots leave. However many micro-batches follow,
 * the bubble is the same. */
static void
v_half_has_half_of_both (G_GNUC_UNUSED void **state)
{
  Play play;

  for (guint p = 3; p <= 12; p++)
    for (guint m = 2 * p; m <= 4 * p; m++) {
      const PipelineSize size = { .n_stages = p, .n_virtual = 1, .n_micro = m };
      guint bubble = play_all (&play, "v_half", &size, &unit_costs) - 6 * m;

      assert_int_equal (bubble, 6 * ((p + 1) / 2) - 7);
      for (guint stage = 0; stage < p; stage++)
        assert_int_equal (play.most[stage], 2 * (p / 2 + 1));
    }
}

/* The same of v_min: about 1/3 of the activations and 2/3 of the bubble. */
static void
v_min_has_a_third_of_the_activations (G_GNUC_UNUSED void **state)
{
  Play play;

  for (guint p = 2; p <= 12; p++)
    for (guint m = 2 * p; m <= 4 * p; m++) {
      const PipelineSize size = { .n_stages = p, .n_virtual = 1, .n_micro = m };
      guint bubble = play_all (&play, "v_min", &size, &unit_costs) - 6 * size.n_micro, most = 0;

      assert_int_equal (bubble, p % 3 == 0 ? 4 * p - 7 : 4 * p - 5);
      for (guint stage = 0; stage < p; stage++)
        most = MAX (most, play.most[stage]);
      assert_int_equal (most, 2 * ((p + 4) / 3));
    }
}

/* With few micro-batches the bubble is at most that of a single one, which goes through 4 p passes and leaves the
 * weights of one stage behind: 4 p + 2 in all, and 4 p + 1 with v_min, which does half of them on the way.
 * Activations are at most those of many. */
static void
few_micro_batches_wait_no_longer_than_one (G_GNUC_UNUSED void **state)
{
  Play play;

  for (guint is_min = 0; is_min < 2; is_min++)
    for (guint p = 3; p <= 12; p++)
      for (guint m = 1; m < 2 * p; m++) {
        const PipelineSize size = { .n_stages = p, .n_virtual = 1, .n_micro = m };
        guint length = play_all (&play, is_min ? "v_min" : "v_half", &size, &unit_costs);

        assert_true (m > 1 || length == 4 * p + 2 - is_min);
        assert_true (length - 6 * m <= 4 * (p - 1));
        for (guint stage = 0; stage < p; stage++)
          assert_true (play.most[stage] <= 2 * (is_min ? (p + 4) / 3 : p / 2 + 1));
      }
}

/* The passes of a stage, a letter each: F and f go forward through its first and its second part, B and b are backward
 * passes of activations through the second and the first, W and w those of weights. Micro-batches of each come in their
 * order. (transfer full) */
static char *
letters_of (const GArray *actions)
{
  static const char *const letters[] = {
    [ACTION_FORWARD] = "Ff", [ACTION_INPUTS] = "bB", [ACTION_WEIGHTS] = "wW"
  };
  GString *text = g_string_new (NULL);
  guint n[ACTION_WEIGHTS + 1][2] = { 0 };

  for (guint i = 0; i < actions->len; i++) {
    const Action *action = &g_array_index (actions, Action, i);

    g_string_append_c (text, letters[action->kind][action->chunk]);
    assert_int_equal (action->micro, n[action->kind][action->chunk]++);
  }
  return g_string_free (text, FALSE);
}

/* The orders of the authors' own scheduler with passes of one unit (sail-sg/zero-bubble-pipeline-parallelism, 39f2c18,
 * scheduler/zbv_greedy.py), stage by stage. */
static void
v_half_and_v_min_have_the_orders_of_their_authors (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    guint n_stages, n_micro;
    const char *orders[6];
  } rows[] = {
    { "v_half", 2, 4, { "FFFfBWfbBWfwFbBWfBbWbwww", "FfFfBWbwFfBbWFwfBbBbWWww" } },
    { "v_half",
      3,
      4,
      { "FFFfBWfBWbwFfBWbwfBbWwbw", "FFffBWFbBWfwFbBWfwbBWwbw", "FfFfBWbwFfBbWFwfBbWwBbWw" } },
    { "v_half",
      4,
      6,
      { "FFFFFfBWfBWfbBWfwFbBWfBWbwwfBbWbwwbw", "FFFFffBWfBWbwFfBWbFwfBWbBWfwbBbWwwbw",
        "FFFfffBWFBbWwfFbBWfwFbBWfBbWbBWwbwww", "FfFfFfBWbwFfBWbFwfBbWFwfBbBbWWBbWwww" } },
    { "v_half",
      5,
      6,
      { "FFFFFfBWfBWfBWbwFfBWbwfBbWwfBbWbwwbw", "FFFFffBWFBWfbBWfwFbBWfwbBWwfbBbWwwbw",
        "FFFFffBWfBWbwFfBbWFwfBbWwBfWbwbBWwbw", "FFFfffBWFBbWwfFbBWwfFbBWwfBbWbwwBWbw",
        "FfFfFfBWbwFfBbWFwfBbWFwfBbBbWWwwBbWw" } },
    { "v_half",
      6,
      7,
      { "FFFFFFFfBWfBWfBWfbBWwbwbwfBfBbWWwfBWbwbwbw", "FFFFFFffBWfBWBfWbwBWbwbwFffBbBWWfwBbWbwwbw",
        "FFFFFfffBWFBWfBWbwbBbWfwFfwbBWBfWwbBbWwwbw", "FFFFFfffBWfBWFbwBWbwbfBWwfFbwBfBWWbwbBWwbw",
        "FFFfFfffBWFBbWwfBbWbwFwBfWbFwfBWBbWbwwBWbw", "FfFfFfFfBWbwFfBbBbWWwFfBbWwFfwBbBbWWwwBbWw" } },
    { "v_min", 2, 4, { "FFfBWbwfBWFbwfBWFbwfBWbw", "FfBbFfWwBbFfWwBbFfWwBbWw" } },
    { "v_min", 3, 4, { "FFFfBWfbBWwfFbBWwfBbWwbw", "FFffBWbFwBfWbFwBfWbBWwbw", "FfFfBbWwFfBbWwFfBbWwBbWw" } },
    { "v_min",
      4,
      6,
      { "FFFfBWfBWbwFfBbWwFfBbWwFfBbWwfBbWwbw", "FFffBWFbBWwfFbBWwfFbBWwfFbBWwfbBWwbw",
        "FFffBWFbwBfWbFwBfWbFwBfWbFwBfWbwBWbw", "FfFfBbWwFfBbWwFfBbWwFfBbWwFfBbWwBbWw" } },
    { "v_min",
      5,
      6,
      { "FFFFfBWfBWbwfBWFbwfBWFbwfBWbwfBWbwbw", "FFFffBWBWbFfwBbFfWwBbFfWwBbWfwBbWwbw",
        "FFFffBWBWbfwFbBfFWwbBfFWwbBfWwbBWwbw", "FFFfffBWbwBWFbwfBWFbwfBWFbwfBWbwBWbw",
        "FfFfFfBbWwBbWFfwBbFfWwBbFfWwBbWwBbWw" } },
    { "v_min",
      6,
      7,
      { "FFFFFfBWfBWfbBWwfFbBWwfFbBWwfBbWwfBbWwbwbw", "FFFFffBWBfWbFwBfWbFwBfWbFwBfWbBWwfbBWwbwbw",
        "FFFFffBWfBWbwFfBbWwFfBbWwFfBbWwBfWbwBbWwbw", "FFFfffBWFBWbwfFbBWwfFbBWwfFbBWwfBbWwbBWwbw",
        "FFFfffBWFbwBWfbFwBfWbFwBfWbFwBfWbBWwbwBWbw", "FfFfFfBbWwFfBbWwFfBbWwFfBbWwFfBbWwBbWwBbWw" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const PipelineSize size = { .n_stages = rows[i].n_stages, .n_virtual = 1, .n_micro = rows[i].n_micro };

    g_autoptr (GPtrArray) actions = pipeline_actions (pipeline_schedule_named (rows[i].name), &size);

    for (guint stage = 0; stage < rows[i].n_stages; stage++) {
      g_autofree char *letters = letters_of (g_ptr_array_index (actions, stage));

      assert_string_equal (letters, rows[i].orders[stage]);
    }
  }
}

/* The orders of the authors' own scheduler (sail-sg/zero-bubble-pipeline-parallelism, 39f2c18, scheduler/zbv.py) for
 * passes that take so long: forward, backward of activations, of weights. The rows differ in which of the four
 * variants is best, and in how often a draft is made again. */
static void
v_has_the_orders_of_its_authors (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_stages, n_micro, costs[3];
    const char *orders[5];
  } rows[] = {
    { 2, 3, { 1, 1, 1 }, { "FFFfBWfBWbwfBbWbww", "FfFfBWFbwfBbBbWwWw" } },
    { 4, 2, { 1, 1, 1 }, { "FFfBfBWWbwbw", "FFffBWBWbwbw", "FFffBWBbWbww", "FfFfBbBbWwWw" } },
    { 3, 2, { 6, 5, 3 }, { "FFfBfBWWbwbw", "FFffBWBbWbww", "FfFfBbBbWwWw" } },
    { 4,
      3,
      { 11, 3, 9 },
      { "FFFfBWfBWfBWbwbbww", "FFFffBfBWBbWbbWwww", "FFFfffBWBbWBbbwWww", "FfFfFfBbBbWBbwWwWw" } },
    { 5,
      3,
      { 6, 10, 5 },
      { "FFFfBfBfBWWWbwbwbw", "FFFffBfBWBWWbwbwbw", "FFFfffBWBWBWbwbwbw", "FFFfffBWBbBbWwbWww",
        "FfFfFfBbBbBbWwWwWw" } },
    { 3,
      5,
      { 7, 6, 8 },
      { "FFFFFfBWfBWfBWbwfBWbwfBbWwbwbw", "FFFfFfBWfBWFbwfBWbwfBbBWbwbWww",
        "FfFfFfBWFbwfBWFbwfBbWBbBbwWwWw" } },
    { 4,
      5,
      { 2, 6, 5 },
      { "FFFFFfBfBfBWfBWWbfBWbwbWwbwbww", "FFFFFffBfBWfBWWbfBwbBbWwbWbwww", "FFFfFfFfBWfBWbfBwbBbBWbwbWwWww",
        "FfFfFfFfBWFbwfBbBbWBbBbwWwWwWw" } },
    { 3,
      6,
      { 4, 2, 12 },
      { "FFFFFfBWfBWfBWFbwfBWbwfBWbwfBbWbwbww", "FFFfFfBWfBWFbwfBWFbwfBWbwfBbWBbwbWww",
        "FfFfFfBWFbwfBWFbwfBWFbwfBbWBbwBbWwWw" } },
    { 5,
      7,
      { 7, 11, 8 },
      { "FFFFFFFfBfBfBWfBWfBWWbfBWwWbfBwbWbwwbwbwbw", "FFFFFFFffBfBWfBWfBWWbfBwWbfBwbBbWbwWbwbwww",
        "FFFFFfFfFfBWfBWfBWbfBwWbfBwbBbBbWwbWbwWwww", "FFFfFfFfFfBWfBWFbwfBWbfBwbBbBbBbWbwWwWwWww",
        "FfFfFfFfFfBWFbwfBWFbwfBbBbBbBbBbWwWwWwWwWw" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const PipelineSize size = { .n_stages = rows[i].n_stages,
                                .n_virtual = 1,
                                .n_micro = rows[i].n_micro,
                                .forward_cost = rows[i].costs[0],
                                .inputs_cost = rows[i].costs[1],
                                .weights_cost = rows[i].costs[2] };
    g_autoptr (GPtrArray) actions = pipeline_actions (pipeline_schedule_named ("zero_bubble_v"), &size);

    for (guint stage = 0; stage < size.n_stages; stage++) {
      g_autofree char *letters = letters_of (g_ptr_array_index (actions, stage));

      assert_string_equal (letters, rows[i].orders[stage]);
    }
  }
}

/* A single micro-batch, or fewer than stages, goes through every V all the same. */
static void
v_takes_any_number_of_micro_batches (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "zero_bubble_v", "v_half", "v_min" };
  Play play;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    for (guint p = 1; p <= 7; p++)
      for (guint m = 1; m <= 2 * p; m++) {
        const PipelineSize size = { .n_stages = p, .n_virtual = 1, .n_micro = m };

        play_all (&play, names[i], &size, &unit_costs);
      }
}

/* --- micro-batches from both ends --- */

/* The table of deepseek-ai/DualPipe: every stage is idle for (p / 2 - 1)(FB + B - 3 W), and keeps the activations of
 * p + 1 passes through one of p parts. FB is F + B here. */
static void
bubble_of_dualpipe (G_GNUC_UNUSED void **state)
{
  Play play;

  for (guint p = 2; p <= 8; p += 2)
    for (guint m = 2 * p; m <= 4 * p; m += 2) {
      const PipelineSize size = { .n_stages = p, .n_virtual = 1, .n_micro = m };
      guint length = play_all (&play, "dualpipe", &size, &unit_costs);

      for (guint stage = 0; stage < p; stage++) {
        assert_int_equal (length - play.busy[stage], (p / 2 - 1) * (3 + 2 - 3));
        assert_int_equal (play.most[stage], p + 1);
      }
    }
}

/* A pair that takes less time than its passes one after another makes the bubble of the stages in the middle shorter
 * by as much as the table says. */
static void
pairs_make_the_bubble_shorter (G_GNUC_UNUSED void **state)
{
  const Costs costs = { .forward = 2, .inputs = 2, .weights = 2, .backward = 4, .pair = 5 };
  Play play;

  for (guint p = 2; p <= 8; p += 2) {
    const PipelineSize size = { .n_stages = p, .n_virtual = 1, .n_micro = 2 * p };
    guint length = play_all (&play, "dualpipe", &size, &costs);

    assert_int_equal (length - play.busy[p / 2], (p / 2 - 1) * (5 + 4 - 3 * 2));
  }
}

/* Cut in half: p stages of the V do what one half of 2 p stages does. */
static void
bubble_of_dualpipe_v (G_GNUC_UNUSED void **state)
{
  Play play;

  for (guint p = 1; p <= 8; p++)
    for (guint m = 2 * p; m <= 4 * p; m++) {
      const PipelineSize size = { .n_stages = p, .n_virtual = 1, .n_micro = m };
      guint length = play_all (&play, "dualpipe_v", &size, &unit_costs);

      for (guint stage = 0; stage < p; stage++) {
        assert_int_equal (length - play.busy[stage], (p - 1) * (3 + 2 - 3));
        assert_int_equal (play.most[stage], 2 * p + 1);
      }
    }
}

/* Two stages that have the same parts do the same passes of them in the same order, so that their collectives over the
 * gradients meet. */
static void
twins_do_the_same (G_GNUC_UNUSED void **state)
{
  const PipelineSchedule *dualpipe = pipeline_schedule_named ("dualpipe");
  const PipelineSize size = { .n_stages = 6, .n_virtual = 1, .n_micro = 20 };
  g_autoptr (GPtrArray) actions = pipeline_actions (dualpipe, &size);

  for (guint stage = 0; stage < 6; stage++) {
    guint twin = pipeline_twin (dualpipe, 6, stage);
    const GArray *mine = g_ptr_array_index (actions, stage), *other = g_ptr_array_index (actions, twin);

    assert_int_equal (twin, 5 - stage);
    assert_int_equal (mine->len, other->len);
    for (guint i = 0; i < mine->len; i++) {
      const Action *a = &g_array_index (mine, Action, i), *b = &g_array_index (other, Action, i);

      assert_int_equal (a->kind, b->kind);
      assert_int_equal (pipeline_part (dualpipe, 6, stage, a->chunk),
                        pipeline_part (dualpipe, 6, twin, b->chunk));
    }
  }
}

static void
impossible_sizes_are_named (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    guint n_stages, n_micro;
    const char *problem;
  } cases[] = {
    { "dualpipe", 3, 12,
      "schedule dualpipe sends micro-batches in from both ends of an even number of stages; "
      "there are 3" },
    { "dualpipe", 4, 6,
      "schedule dualpipe needs at least 8 micro-batches for 4 stages; accumulation gives 6" },
    { "dualpipe", 4, 9,
      "schedule dualpipe needs an even number of micro-batches, half of them for each "
      "direction; accumulation gives 9" },
    { "dualpipe_v", 4, 7,
      "schedule dualpipe_v needs at least 8 micro-batches for 4 stages; accumulation gives "
      "7" },
    { "dualpipe", 4, 8, NULL },
    { "dualpipe_v", 3, 7, NULL },
    { "zero_bubble_v", 5, 1, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *problem = pipeline_problem (pipeline_schedule_named (cases[i].name), cases[i].n_stages,
                                                 cases[i].n_micro);

    if (cases[i].problem == NULL)
      assert_null (problem);
    else
      assert_string_equal (problem, cases[i].problem);
  }
}

/* A stage has parts of the model, and the part says which stage has it. */
static void
places_agree (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    guint parts[8]; /* of stage 0, its chunks; of stage 1; ... */
  } cases[] = { { "zero_bubble_v", { 0, 7, 1, 6, 2, 5, 3, 4 } },
                { "dualpipe", { 0, 3, 1, 2, 2, 1, 3, 0 } },
                { "interleaved", { 0, 4, 1, 5, 2, 6, 3, 7 } } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint stage = 0; stage < 4; stage++)
      for (guint chunk = 0; chunk < 2; chunk++) {
        const PipelineSchedule *schedule = pipeline_schedule_named (cases[i].name);
        guint part = pipeline_part (schedule, 4, stage, chunk);

        assert_int_equal (part, cases[i].parts[2 * stage + chunk]);
        assert_int_equal (pipeline_stage (schedule, 4, part, chunk), stage);
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
  for (gint i = 0; pipeline_schedules[i] != NULL; i++) {
    assert_ptr_equal (pipeline_schedule_of (i, 2), pipeline_schedule (i));
    if (pipeline_schedule (i)->place != PLACE_ROUND)
      assert_ptr_equal (pipeline_schedule_of (i, 1), pipeline_schedule_usual ());
  }
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
    cmocka_unit_test (schedules_keep_what_their_papers_say),
    cmocka_unit_test (v_has_no_bubble_and_the_memory_of_1f1b),
    cmocka_unit_test (v_follows_the_times_of_passes),
    cmocka_unit_test (v_half_has_half_of_both),
    cmocka_unit_test (v_min_has_a_third_of_the_activations),
    cmocka_unit_test (v_half_and_v_min_have_the_orders_of_their_authors),
    cmocka_unit_test (v_has_the_orders_of_its_authors),
    cmocka_unit_test (few_micro_batches_wait_no_longer_than_one),
    cmocka_unit_test (v_takes_any_number_of_micro_batches),
    cmocka_unit_test (bubble_of_dualpipe),
    cmocka_unit_test (pairs_make_the_bubble_shorter),
    cmocka_unit_test (bubble_of_dualpipe_v),
    cmocka_unit_test (twins_do_the_same),
    cmocka_unit_test (impossible_sizes_are_named),
    cmocka_unit_test (places_agree),
    cmocka_unit_test (rows_have_names_and_flags),
  };

  return cmocka_run_group_tests_name ("pipeline", tests, NULL, NULL);
}
