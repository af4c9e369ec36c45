/* SPDX-License-Identifier: Apache-2.0 */
/* tune_print.c - the answer of `fabricast tune`: the best point, what it gains, the curve of every knob around it. */
#include "cli/best.h"
#include "cli/points.h"
#include "cli/tune.h"
#include "sim/base/json.h"

/* Values this near to the best are as good. */
static const double flat_fraction = 0.01;

static const FabKnob *
knob_of (const FabTune *self, guint knob)
{
  return g_ptr_array_index (self->knobs, knob);
}

char *
fab_tune_point_name (const FabTune *self, const FabTunePoint *point)
{
  GString *name = g_string_new (NULL);

  for (guint k = 0; k < self->knobs->len; k++)
    g_string_append_printf (name, "%s%s %s", k > 0 ? ", " : "", knob_of (self, k)->name,
                            fab_knob_value (knob_of (self, k), point->values[k])->label);
  return g_string_free (name, FALSE);
}

/* How much worse than the best, as a share of it; negative: it is better, and does not fit. */
static double
loss_of (const FabTune *self, const FabTunePoint *point)
{
  double best = self->by->value (self->best->trial.point), value = self->by->value (point->trial.point);

  if (best == 0)
    return 0;
  return self->by->is_gain ? 1 - value / best : value / best - 1;
}

/* --- text --- */

static void
append_point (GString *text, const FabTune *self, const char *what, const FabTunePoint *point)
{
  const FabPoint *played = point->trial.point;
  g_autofree char *name = fab_tune_point_name (self, point);
  g_autofree char *step = fab_units_show (FAB_UNIT_TIME, played->step_s * FAB_PS_PER_S);
  g_autofree char *gb = fab_best_gb ((double) played->memory_bytes);

  g_string_append_printf (text,
                          "  %-12s%s\n  %-12sstep %s, %.0f tokens/s, %.1f %% exposed, %s GB of memory%s\n",
                          what, name, "", step, played->tokens_per_s,
                          100 * played->exposed_s / played->step_s, gb,
                          fab_tune_is_good (self, point) ? "" : ": does not fit");
}

static void
append_gain (GString *text, const FabTune *self)
{
  const FabPoint *then = self->written->trial.point, *now = self->best->trial.point;
  double loss = loss_of (self, self->written);

  if (self->best == self->written)
    g_string_append (text, "  gain        none: it is at its best as written\n");
  else if (!fab_tune_is_good (self, self->written))
    g_string_append (text, "  gain        it fits\n");
  else
    g_string_append_printf (text, "  gain        step %+.1f %%, tokens/s %+.1f %%%s\n",
                            100 * (now->step_s / then->step_s - 1),
                            then->tokens_per_s > 0 ? 100 * (now->tokens_per_s / then->tokens_per_s - 1) : 0,
                            loss < flat_fraction ? ", less than 1 %: it hardly matters" : "");
}

static void
append_value (GString *text, const FabTune *self, guint k, guint v)
{
  const FabKnob *knob = knob_of (self, k);
  const FabTunePoint *point = fab_tune_curve (self, k, v);
  const FabPoint *played = point->trial.point;
  const char *mark = v == self->best->values[k] ? "  < best" : "";

  g_string_append_printf (text, "    %-12s", fab_knob_value (knob, v)->label);
  if (played == NULL) {
    g_auto (GStrv) lines = g_strsplit (point->trial.problem, "\n", 2);

    g_string_append_printf (text, "  cannot be played: %s\n", lines[0]);
    return;
  }
  g_autofree char *step = fab_units_show (FAB_UNIT_TIME, played->step_s * FAB_PS_PER_S);
  g_autofree char *gb = fab_best_gb ((double) played->memory_bytes);
  g_string_append_printf (text, "%12s%12.0f%10.1f %%%9s GB", step, played->tokens_per_s,
                          100 * played->exposed_s / played->step_s, gb);
  if (fab_tune_is_good (self, point))
    g_string_append_printf (text, "%9.1f %%%s", 100 * loss_of (self, point), mark);
  else
    g_string_append (text, "  does not fit");
  g_string_append_printf (text, "%s\n", v == knob->written ? "  (as written)" : "");
}

static gboolean
is_flat (const FabTune *self, guint k, guint v)
{
  const FabTunePoint *point = fab_tune_curve (self, k, v);

  return fab_tune_is_good (self, point) && loss_of (self, point) <= flat_fraction;
}

static void
append_flatness (GString *text, const FabTune *self, guint k)
{
  const FabKnob *knob = knob_of (self, k);
  guint first = self->best->values[k], last = first;

  while (first > 0 && is_flat (self, k, first - 1))
    first--;
  while (last + 1 < knob->values->len && is_flat (self, k, last + 1))
    last++;
  if (first == last)
    g_string_append_printf (text, "    sharp: its neighbours lose more than %.0f %%\n", 100 * flat_fraction);
  else
    g_string_append_printf (text, "    flat from %s to %s: all within %.0f %% of the best\n",
                            fab_knob_value (knob, first)->label, fab_knob_value (knob, last)->label,
                            100 * flat_fraction);
}

static void
append_curve (GString *text, const FabTune *self, guint k)
{
  const FabKnob *knob = knob_of (self, k);

  g_string_append_printf (text, "\n  %s: job.%s\n  %s\n", knob->name, knob->key, knob->source);
  g_string_append_printf (text, "    %-12s%12s%12s%12s%12s%11s\n", "value", "step", "tokens/s", "exposed",
                          "memory", "worse by");
  for (guint v = 0; v < knob->values->len; v++)
    append_value (text, self, k, v);
  append_flatness (text, self, k);
}

char *
fab_tune_text (const FabTuneView *view)
{
  const FabTune *self = view->tune;
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s\n\n", view->title);
  append_point (text, self, "as written", self->written);
  if (self->best == NULL) {
    g_autofree char *gb = fab_best_gb ((double) self->most_bytes);

    g_string_append_printf (text, "  best        none: nothing that was tried fits in %s GB\n", gb);
  } else {
    append_point (text, self, "best", self->best);
    append_gain (text, self);
    for (guint k = 0; k < self->knobs->len; k++)
      append_curve (text, self, k);
  }
  g_string_append_printf (text, "\n  by %s; %u of %.0f points were played%s\n", self->by->name,
                          self->points->len, self->n_all,
                          self->is_whole ? "" : ": each knob in turn, from three starts");
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

/* Everything that was played, as rows. */
typedef struct {
  const char **columns;
  const char **labels;
  FabPointsRow *rows;
  FabPoints points;
} Played;

static const char *
state_of (const FabTune *self, const FabTunePoint *point)
{
  if (point == self->best)
    return "best";
  if (point->trial.point == NULL)
    return "impossible";
  return fab_tune_is_good (self, point) ? "fits" : "too large";
}

static void
played_init (Played *self, const FabTune *tune)
{
  guint n_knobs = tune->knobs->len, n = n_knobs + 1;

  self->columns = g_new0 (const char *, n + 1);
  self->labels = g_new (const char *, (gsize) n * tune->points->len);
  self->rows = g_new (FabPointsRow, tune->points->len);
  for (guint k = 0; k < n_knobs; k++)
    self->columns[k] = knob_of (tune, k)->name;
  self->columns[n_knobs] = "state";
  for (guint i = 0; i < tune->points->len; i++) {
    const FabTunePoint *point = g_ptr_array_index (tune->points, i);
    const char **labels = self->labels + (gsize) i * n;

    for (guint k = 0; k < n_knobs; k++)
      labels[k] = fab_knob_value (knob_of (tune, k), point->values[k])->label;
    labels[n_knobs] = state_of (tune, point);
    self->rows[i] = (FabPointsRow){ labels, &point->trial, NULL };
  }
  self->points = (FabPoints){
    .columns = self->columns, .n_shown = n, .rows = self->rows, .n_rows = tune->points->len
  };
}

static void
played_clear (Played *self)
{
  g_free (self->columns);
  g_free (self->labels);
  g_free (self->rows);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Played, played_clear)

char *
fab_tune_csv (const FabTuneView *view)
{
  g_auto (Played) played;

  played_init (&played, view->tune);
  g_autoptr (FabTable) table = fab_points_table (&played.points);
  return fab_table_to_csv (table);
}

static void
add_knob (FabJson *json, const FabTune *self, guint k)
{
  const FabKnob *knob = knob_of (self, k);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "knob", knob->name);
  fab_json_add_text (json, "key", knob->key);
  fab_json_add_text (json, "source", knob->source);
  fab_json_add_text (json, "written", fab_knob_value (knob, knob->written)->label);
  fab_json_add_text (json, "best", self->best ? fab_knob_value (knob, self->best->values[k])->label : NULL);
  fab_json_end (json);
}

char *
fab_tune_json (const FabTuneView *view)
{
  const FabTune *self = view->tune;
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_auto (Played) played;

  played_init (&played, self);
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", view->title);
  fab_json_add_text (json, "by", self->by->name);
  fab_json_add_real (json, "points_in_all", self->n_all);
  fab_json_add_whole (json, "memory_limit_bytes", (gint64) self->most_bytes);
  fab_json_begin_array (json, "knobs");
  for (guint k = 0; k < self->knobs->len; k++)
    add_knob (json, self, k);
  fab_json_end (json);
  fab_json_begin_array (json, "assignments");
  for (guint i = 0; self->best != NULL && i < fab_edits_count (self->best->edits); i++)
    fab_json_add_text (json, NULL, fab_edits_at (self->best->edits, i)->text);
  fab_json_end (json);
  fab_points_add_json (json, "points", &played.points);
  fab_json_end (json);
  return fab_json_finish (json);
}
