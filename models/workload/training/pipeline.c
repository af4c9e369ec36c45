/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/pipeline.h"

#include <string.h>

static void
add (GArray *actions, ActionKind kind, guint chunk, guint micro)
{
  Action action = { kind, chunk, micro };

  g_array_append_val (actions, action);
}

static void
add_gpipe (GArray *actions, const PipelineSize *size, G_GNUC_UNUSED guint stage)
{
  guint n_micro = size->n_micro;

  for (guint m = 0; m < n_micro; m++)
    add (actions, ACTION_FORWARD, 0, m);
  for (guint m = 0; m < n_micro; m++)
    add (actions, ACTION_BACKWARD, 0, m);
}

static void
add_1f1b (GArray *actions, const PipelineSize *size, guint stage)
{
  guint n_micro = size->n_micro, warm = MIN (size->n_stages - 1 - stage, n_micro);

  for (guint m = 0; m < warm; m++)
    add (actions, ACTION_FORWARD, 0, m);
  for (guint m = 0; m < n_micro; m++) {
    if (warm + m < n_micro)
      add (actions, ACTION_FORWARD, 0, warm + m);
    add (actions, ACTION_BACKWARD, 0, m);
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
    add (actions, ACTION_FORWARD, 0, m);
  for (guint m = 0; m < n_micro; m++) {
    if (warm + m < n_micro)
      add (actions, ACTION_FORWARD, 0, warm + m);
    add (actions, ACTION_BACKWARD, 0, m);
    if (m >= depth * stage)
      add (actions, ACTION_WEIGHTS, 0, n_weights++);
  }
  while (n_weights < n_micro)
    add (actions, ACTION_WEIGHTS, 0, n_weights++);
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

  add (actions, is_forward ? ACTION_FORWARD : ACTION_BACKWARD,
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

/* One line for each schedule: its name, its function, its flags. */
#define SCHEDULES(row_)                                                                           \
  row_ ("1f1b", add_1f1b, .is_usual = TRUE) row_ ("gpipe", add_gpipe, .is_usual = FALSE)          \
      row_ ("interleaved", add_interleaved, .has_parts = TRUE, .always_overlaps = TRUE)           \
          row_ ("zero_bubble", add_zero_bubble, .splits_backward = TRUE, .always_overlaps = TRUE) \
              row_ ("zero_bubble_h2", add_zero_bubble_h2, .splits_backward = TRUE, .always_overlaps = TRUE)

#define ROW(name_, add_, ...) { .name = name_, .add = add_, __VA_ARGS__ },
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

GArray *
pipeline_actions (const PipelineSchedule *schedule, const PipelineSize *size, guint stage)
{
  GArray *actions = g_array_new (FALSE, FALSE, sizeof (Action));

  g_assert (stage < size->n_stages && size->n_micro > 0 && size->n_virtual > 0);
  schedule->add (actions, size, stage);
  return actions;
}
