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
add_gpipe (GArray *actions, G_GNUC_UNUSED guint n_stages, G_GNUC_UNUSED guint stage,
           G_GNUC_UNUSED guint n_virtual, guint n_micro)
{
  for (guint m = 0; m < n_micro; m++)
    add (actions, ACTION_FORWARD, 0, m);
  for (guint m = 0; m < n_micro; m++)
    add (actions, ACTION_BACKWARD, 0, m);
}

static void
add_1f1b (GArray *actions, guint n_stages, guint stage, G_GNUC_UNUSED guint n_virtual, guint n_micro)
{
  guint warm = MIN (n_stages - 1 - stage, n_micro);

  for (guint m = 0; m < warm; m++)
    add (actions, ACTION_FORWARD, 0, m);
  for (guint m = 0; m < n_micro; m++) {
    if (warm + m < n_micro)
      add (actions, ACTION_FORWARD, 0, warm + m);
    add (actions, ACTION_BACKWARD, 0, m);
  }
}

/* A stage is `stage` micro-batches late with its weights: as many activations are alive as with 1f1b, and the stages
 * behind get their gradients one W earlier. */
static void
add_zero_bubble (GArray *actions, guint n_stages, guint stage, G_GNUC_UNUSED guint n_virtual, guint n_micro)
{
  guint warm = MIN (n_stages - 1 - stage, n_micro), n_weights = 0;

  for (guint m = 0; m < warm; m++)
    add (actions, ACTION_FORWARD, 0, m);
  for (guint m = 0; m < n_micro; m++) {
    if (warm + m < n_micro)
      add (actions, ACTION_FORWARD, 0, warm + m);
    add (actions, ACTION_BACKWARD, 0, m);
    if (m >= stage)
      add (actions, ACTION_WEIGHTS, 0, n_weights++);
  }
  while (n_weights < n_micro)
    add (actions, ACTION_WEIGHTS, 0, n_weights++);
}

/* The k-th pass of one direction: rounds of n_stages micro-batches go through part 0, then part 1, ... */
static void
add_interleaved_pass (GArray *actions, gboolean is_forward, guint k, guint n_stages, guint n_virtual)
{
  guint round = k / (n_stages * n_virtual), chunk = k % (n_stages * n_virtual) / n_stages;
  guint micro = round * n_stages + k % n_stages;

  add (actions, is_forward ? ACTION_FORWARD : ACTION_BACKWARD, is_forward ? chunk : n_virtual - 1 - chunk,
       micro);
}

static void
add_interleaved (GArray *actions, guint n_stages, guint stage, guint n_virtual, guint n_micro)
{
  guint n = n_micro * n_virtual;
  guint warm = MIN ((n_stages - 1 - stage) * 2 + (n_virtual - 1) * n_stages, n);

  g_assert (n_micro % n_stages == 0);
  for (guint k = 0; k < warm; k++)
    add_interleaved_pass (actions, TRUE, k, n_stages, n_virtual);
  for (guint k = 0; k < n; k++) {
    if (warm + k < n)
      add_interleaved_pass (actions, TRUE, warm + k, n_stages, n_virtual);
    add_interleaved_pass (actions, FALSE, k, n_stages, n_virtual);
  }
}

/* One line for each schedule: its name, its function, its flags. */
#define SCHEDULES(row_)                                                                  \
  row_ ("1f1b", add_1f1b, .is_usual = TRUE) row_ ("gpipe", add_gpipe, .is_usual = FALSE) \
      row_ ("interleaved", add_interleaved, .has_parts = TRUE, .always_overlaps = TRUE)  \
          row_ ("zero_bubble", add_zero_bubble, .splits_backward = TRUE, .always_overlaps = TRUE)

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
pipeline_actions (const PipelineSchedule *schedule, guint n_stages, guint stage, guint n_virtual,
                  guint n_micro)
{
  GArray *actions = g_array_new (FALSE, FALSE, sizeof (Action));

  g_assert (stage < n_stages && n_micro > 0 && n_virtual > 0);
  schedule->add (actions, n_stages, stage, n_virtual, n_micro);
  return actions;
}
