/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/pipeline_rules.h"

#include <string.h>

void
pipeline_add (GArray *actions, ActionKind kind, guint chunk, guint micro)
{
  Action action = { kind, chunk, micro, FALSE };

  g_array_append_val (actions, action);
}

static void
add_gpipe (GArray *actions, const PipelineSize *size, G_GNUC_UNUSED guint stage)
{
  guint n_micro = size->n_micro;

  for (guint m = 0; m < n_micro; m++)
    pipeline_add (actions, ACTION_FORWARD, 0, m);
  for (guint m = 0; m < n_micro; m++)
    pipeline_add (actions, ACTION_BACKWARD, 0, m);
}

static void
add_1f1b (GArray *actions, const PipelineSize *size, guint stage)
{
  guint n_micro = size->n_micro, warm = MIN (size->n_stages - 1 - stage, n_micro);

  for (guint m = 0; m < warm; m++)
    pipeline_add (actions, ACTION_FORWARD, 0, m);
  for (guint m = 0; m < n_micro; m++) {
    if (warm + m < n_micro)
      pipeline_add (actions, ACTION_FORWARD, 0, warm + m);
    pipeline_add (actions, ACTION_BACKWARD, 0, m);
  }
}

/* A stage begins with `depth` times as many forward passes as one of 1f1b, and is depth x stage micro-batches late with
 * its weights, so that all stages keep as many activations as the first one. The stages behind get their gradients so
 * much earlier. */
static void
add_split (GArray *actions, const PipelineSize *size, guint stage, guint depth)
{
  guint n_micro = size->n_micro, warm = MIN (depth * (size->n_stages - 1 - stage), n_micro), n_weights = 0;

  for (guint m = 0; m < warm; m++)
    pipeline_add (actions, ACTION_FORWARD, 0, m);
  for (guint m = 0; m < n_micro; m++) {
    if (warm + m < n_micro)
      pipeline_add (actions, ACTION_FORWARD, 0, warm + m);
    pipeline_add (actions, ACTION_INPUTS, 0, m);
    if (m >= depth * stage)
      pipeline_add (actions, ACTION_WEIGHTS, 0, n_weights++);
  }
  while (n_weights < n_micro)
    pipeline_add (actions, ACTION_WEIGHTS, 0, n_weights++);
}

static void
add_zero_bubble (GArray *actions, const PipelineSize *size, guint stage)
{
  add_split (actions, size, stage, 1);
}

static void
add_zero_bubble_h2 (GArray *actions, const PipelineSize *size, guint stage)
{
  add_split (actions, size, stage, 2);
}

/* The k-th pass of one direction: rounds of micro-batches go through part 0, then part 1, ... The last round may
 * have fewer. */
static void
add_interleaved_pass (GArray *actions, gboolean is_forward, guint k, const PipelineSize *size)
{
  guint round = k / (size->round * size->n_virtual), first = round * size->round;
  guint n_here = MIN (size->round, size->n_micro - first), left = k - first * size->n_virtual;
  guint chunk = left / n_here;

  pipeline_add (actions, is_forward ? ACTION_FORWARD : ACTION_BACKWARD,
                is_forward ? chunk : size->n_virtual - 1 - chunk, first + left % n_here);
}

static void
add_interleaved (GArray *actions, const PipelineSize *size, guint stage)
{
  guint n = size->n_micro * size->n_virtual;
  guint warm = MIN ((size->n_stages - 1 - stage) * 2 + (size->n_virtual - 1) * size->round, n);

  for (guint k = 0; k < warm; k++)
    add_interleaved_pass (actions, TRUE, k, size);
  for (guint k = 0; k < n; k++) {
    if (warm + k < n)
      add_interleaved_pass (actions, TRUE, warm + k, size);
    add_interleaved_pass (actions, FALSE, k, size);
  }
}

/* Of schedules that split backward passes. */
#define SPLIT .splits_backward = TRUE, .always_overlaps = TRUE
#define V SPLIT, .place = PLACE_V
#define PAIRS SPLIT, .has_pairs = TRUE, .least = 2

/* One line for each schedule: its name, its function, its flags. */
#define SCHEDULES(row_)                                                                                    \
  row_ ("1f1b", .add = add_1f1b, .is_usual = TRUE) row_ ("gpipe", .add = add_gpipe)                        \
      row_ ("interleaved", .add = add_interleaved, .has_parts = TRUE, .always_overlaps = TRUE)             \
          row_ ("zero_bubble", .add = add_zero_bubble, SPLIT) row_ ("zero_bubble_h2",                      \
                                                                    .add = add_zero_bubble_h2, SPLIT)      \
              row_ ("zero_bubble_v", .add_all = pipeline_add_zero_bubble_v, V)                             \
                  row_ ("v_half", .add_all = pipeline_add_v_half, V)                                       \
                      row_ ("v_min", .add_all = pipeline_add_v_min, V)                                     \
                          row_ ("dualpipe", .add = pipeline_add_dualpipe, PAIRS, .place = PLACE_BOTH_WAYS) \
                              row_ ("dualpipe_v", .add = pipeline_add_dualpipe_v, PAIRS, .place = PLACE_V)

#define ROW(name_, ...) { .name = name_, __VA_ARGS__ },
#define NAME(name_, ...) name_,

static const PipelineSchedule rows[] = { SCHEDULES (ROW) };
const char *const pipeline_schedules[] = { SCHEDULES (NAME) NULL };

const PipelineSchedule *
pipeline_schedule (gint index)
{
  g_assert (index >= 0 && index < (gint) G_N_ELEMENTS (rows));
  return &rows[index];
}

const PipelineSchedule *
pipeline_schedule_named (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (strcmp (rows[i].name, name) == 0)
      return &rows[i];
  return NULL;
}

const PipelineSchedule *
pipeline_schedule_usual (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].is_usual)
      return &rows[i];
  g_assert_not_reached ();
}

const PipelineSchedule *
pipeline_schedule_for_parts (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].has_parts)
      return &rows[i];
  g_assert_not_reached ();
}

const PipelineSchedule *
pipeline_schedule_of (gint index, guint n_stages)
{
  const PipelineSchedule *row = pipeline_schedule (index);

  return n_stages == 1 && row->place != PLACE_ROUND ? pipeline_schedule_usual () : row;
}

char *
pipeline_problem (const PipelineSchedule *schedule, guint n_stages, guint n_micro)
{
  if (schedule->place == PLACE_BOTH_WAYS && n_stages % 2 != 0)
    return g_strdup_printf ("schedule %s sends micro-batches in from both ends of an even number of stages; "
                            "there are %u",
                            schedule->name, n_stages);
  if (n_micro < schedule->least * n_stages)
    return g_strdup_printf (
        "schedule %s needs at least %u micro-batches for %u stages; accumulation gives %u", schedule->name,
        schedule->least * n_stages, n_stages, n_micro);
  if (schedule->place == PLACE_BOTH_WAYS && n_micro % 2 != 0)
    return g_strdup_printf ("schedule %s needs an even number of micro-batches, half of them for each "
                            "direction; accumulation gives %u",
                            schedule->name, n_micro);
  return NULL;
}

/* --- places --- */

guint
pipeline_n_chunks (const PipelineSchedule *schedule, guint n_virtual)
{
  return schedule->place == PLACE_ROUND ? n_virtual : 2;
}

guint
pipeline_n_parts (const PipelineSchedule *schedule, guint n_stages, guint n_virtual)
{
  return schedule->place == PLACE_BOTH_WAYS ? n_stages : n_stages * pipeline_n_chunks (schedule, n_virtual);
}

guint
pipeline_part (const PipelineSchedule *schedule, guint n_stages, guint stage, guint chunk)
{
  switch (schedule->place) {
  case PLACE_ROUND: return chunk * n_stages + stage;
  case PLACE_V: return chunk == 0 ? stage : 2 * n_stages - 1 - stage;
  case PLACE_BOTH_WAYS: return chunk == 0 ? stage : n_stages - 1 - stage;
  }
  g_assert_not_reached ();
}

guint
pipeline_stage (const PipelineSchedule *schedule, guint n_stages, guint part, guint chunk)
{
  switch (schedule->place) {
  case PLACE_ROUND: return part % n_stages;
  case PLACE_V: return part < n_stages ? part : 2 * n_stages - 1 - part;
  case PLACE_BOTH_WAYS: return chunk == 0 ? part : n_stages - 1 - part;
  }
  g_assert_not_reached ();
}

guint
pipeline_twin (const PipelineSchedule *schedule, guint n_stages, guint stage)
{
  return schedule->place == PLACE_BOTH_WAYS ? n_stages - 1 - stage : stage;
}

static void
unref_actions (gpointer actions)
{
  g_array_unref (actions);
}

GPtrArray *
pipeline_actions (const PipelineSchedule *schedule, const PipelineSize *size)
{
  GPtrArray *all = g_ptr_array_new_with_free_func (unref_actions);

  g_assert (size->n_stages > 0 && size->n_micro > 0 && size->n_virtual > 0);
  for (guint stage = 0; stage < size->n_stages; stage++) {
    GArray *actions = g_array_new (FALSE, FALSE, sizeof (Action));

    if (schedule->add != NULL)
      schedule->add (actions, size, stage);
    g_ptr_array_add (all, actions);
  }
  if (schedule->add_all != NULL)
    schedule->add_all ((GArray *const *) all->pdata, size);
  return all;
}
