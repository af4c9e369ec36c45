/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/size.h"

#include "cli/points.h"
#include "sim/base/json.h"

static const char *const columns[] = { "value", "is_met", NULL };

enum { N_COLUMNS = G_N_ELEMENTS (columns) - 1 };

/* The values that were tried, as rows. */
typedef struct {
  const char *(*labels)[N_COLUMNS];
  FabPointsRow *rows;
  FabPoints points;
} Tried;

static void
tried_init (Tried *self, const FabSizeView *view)
{
  const FabSize *size = view->size;
  guint n = 0;

  self->labels = (gpointer) g_new (const char *, (gsize) N_COLUMNS * size->n);
  self->rows = g_new (FabPointsRow, size->n);
  for (guint i = 0; i < size->n; i++) {
    const FabSizePoint *one = &size->points[i];
    gboolean is_played = one->trial.point != NULL;

    if (!is_played && one->trial.problem == NULL)
      continue;
    self->labels[n][0] = one->value;
    self->labels[n][1] = is_played && fab_target_is_met (view->target, one->trial.point) ? "yes" : "no";
    self->rows[n] = (FabPointsRow){ self->labels[n], &one->trial, (gint64) i == size->answer ? "<" : NULL };
    n++;
  }
  self->points = (FabPoints){ columns, 1, 0, self->rows, n };
}

static void
tried_clear (Tried *self)
{
  g_free (self->labels);
  g_free (self->rows);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Tried, tried_clear)

/* --- text --- */

static char *
binding_of (const FabPoint *point)
{
  return point->binding ? g_strdup_printf ("%s (%s)", point->binding, point->binding_spec)
                        : g_strdup ("no link");
}

static void
append_answer (GString *text, const FabSizeView *view)
{
  const FabSize *size = view->size;
  const FabSizePoint *points = size->points;
  g_autofree char *target = fab_target_write (view->target);

  if (size->answer < 0) {
    g_string_append_printf (text, "  no value from %s to %s meets %s; %s comes closest\n", points[0].value,
                            points[size->n - 1].value, target, points[size->best].value);
    return;
  }
  g_string_append_printf (text, "  %s = %s is the first value from %s on that meets %s\n", view->axis->key,
                          points[size->answer].value, points[0].value, target);
  if (size->is_unsteady)
    g_string_append (text, "  larger values do not all meet it: see the table\n");
  g_autofree char *now = binding_of (points[size->answer].trial.point);
  g_autofree char *then = size->before >= 0 ? binding_of (points[size->before].trial.point) : NULL;
  if (then != NULL)
    g_string_append_printf (text, "  %s binds with %s, %s with %s\n", then, points[size->before].value,
                            g_str_equal (then, now) ? "the same" : now, points[size->answer].value);
  else
    g_string_append_printf (text, "  %s binds there\n", now);
}

char *
fab_size_text (const FabSizeView *view)
{
  GString *text = g_string_new (NULL);
  g_auto (Tried) tried;

  tried_init (&tried, view);
  g_string_append_printf (text, "%s\n\n", view->title);
  append_answer (text, view);
  g_string_append_c (text, '\n');
  fab_points_append_text (text, &tried.points);
  g_string_append_printf (text, "\n  %u of %u values were tried\n", view->size->n_tried, view->size->n);
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

char *
fab_size_csv (const FabSizeView *view)
{
  g_auto (Tried) tried;

  tried_init (&tried, view);
  g_autoptr (FabTable) table = fab_points_table (&tried.points);
  return fab_table_to_csv (table);
}

char *
fab_size_json (const FabSizeView *view)
{
  const FabSize *size = view->size;
  g_autoptr (JsonBuilder) json = json_builder_new ();
  g_autofree char *target = fab_target_write (view->target);
  g_auto (Tried) tried;

  tried_init (&tried, view);
  json_builder_begin_object (json);
  fab_json_add_text (json, "scenario", view->title);
  fab_json_add_text (json, "key", view->axis->key);
  fab_json_add_text (json, "target", target);
  fab_json_add_text (json, "answer", size->answer >= 0 ? size->points[size->answer].value : NULL);
  fab_json_add_text (json, "closest", size->points[size->best].value);
  fab_json_add_whole (json, "is_unsteady", size->is_unsteady);
  fab_points_add_json (json, "points", &tried.points);
  json_builder_end_object (json);
  return fab_json_finish (json);
}
