/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/size.h"

#include "sim/base/json.h"

typedef struct {
  const char *key;
  double (*value) (const FabPoint *point);
} Column;

static double
step_s (const FabPoint *point)
{
  return point->step_s;
}

static double
exposed_fraction (const FabPoint *point)
{
  return point->step_s > 0 ? point->exposed_s / point->step_s : 0;
}

static double
mfu_fraction (const FabPoint *point)
{
  return point->mfu_fraction;
}

static double
tokens_per_s (const FabPoint *point)
{
  return point->tokens_per_s;
}

static const Column columns[] = { { "step_s", step_s },
                                  { "exposed_fraction", exposed_fraction },
                                  { "mfu_fraction", mfu_fraction },
                                  { "tokens_per_s", tokens_per_s } };

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
  g_autofree char *now = binding_of (points[size->answer].point);
  g_autofree char *then = size->before >= 0 ? binding_of (points[size->before].point) : NULL;
  if (then != NULL)
    g_string_append_printf (text, "  %s binds with %s, %s with %s\n", then, points[size->before].value,
                            g_str_equal (then, now) ? "the same" : now, points[size->answer].value);
  else
    g_string_append_printf (text, "  %s binds there\n", now);
}

static void
append_point (GString *text, const FabSizeView *view, guint i)
{
  const FabSizePoint *tried = &view->size->points[i];

  if (tried->problem != NULL) {
    g_auto (GStrv) lines = g_strsplit (tried->problem, "\n", 2);

    g_string_append_printf (text, "  %-16s cannot be played: %s\n", tried->value, lines[0]);
    return;
  }
  if (tried->point == NULL)
    return;
  g_autofree char *step = fab_units_show (FAB_UNIT_TIME, tried->point->step_s * FAB_PS_PER_S);

  g_string_append_printf (text, "  %-16s %12s %8.1f %% %7.1f %% %14.0f  %s%s\n", tried->value, step,
                          100 * exposed_fraction (tried->point), 100 * tried->point->mfu_fraction,
                          tried->point->tokens_per_s,
                          tried->point->binding_spec ? tried->point->binding_spec : "-",
                          (gint64) i == view->size->answer ? "  <" : "");
}

char *
fab_size_text (const FabSizeView *view)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s\n\n", view->title);
  append_answer (text, view);
  g_string_append_printf (text, "\n  %-16s %12s %10s %9s %14s  %s\n", "value", "step", "exposed", "MFU",
                          "tokens/s", "binding");
  for (guint i = 0; i < view->size->n; i++)
    append_point (text, view, i);
  g_string_append_printf (text, "\n  %u of %u values were tried\n", view->size->n_tried, view->size->n);
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

char *
fab_size_csv (const FabSizeView *view)
{
  GString *csv = g_string_new (
      "value,is_met,step_s,exposed_fraction,mfu_fraction,tokens_per_s,binding_link\n");

  for (guint i = 0; i < view->size->n; i++) {
    const FabSizePoint *tried = &view->size->points[i];

    if (tried->point == NULL)
      continue;
    g_autofree char *value = g_strescape (tried->value, NULL);
    g_string_append_printf (csv, "\"%s\",%d", value, fab_target_is_met (view->target, tried->point));
    for (guint c = 0; c < G_N_ELEMENTS (columns); c++)
      g_string_append_printf (csv, ",%.12g", columns[c].value (tried->point));
    g_string_append_printf (csv, ",%s\n", tried->point->binding ? tried->point->binding : "");
  }
  return g_string_free (csv, FALSE);
}

static void
add_point (JsonBuilder *json, const FabSizeView *view, const FabSizePoint *tried)
{
  json_builder_begin_object (json);
  fab_json_add_text (json, "value", tried->value);
  if (tried->point != NULL) {
    fab_json_add_whole (json, "is_met", fab_target_is_met (view->target, tried->point));
    for (guint c = 0; c < G_N_ELEMENTS (columns); c++)
      fab_json_add_real (json, columns[c].key, columns[c].value (tried->point));
    fab_json_add_text (json, "binding_link", tried->point->binding);
    fab_json_add_text (json, "binding_link_spec", tried->point->binding_spec);
  } else {
    fab_json_add_text (json, "problem", tried->problem);
  }
  json_builder_end_object (json);
}

char *
fab_size_json (const FabSizeView *view)
{
  const FabSize *size = view->size;
  g_autoptr (JsonBuilder) json = json_builder_new ();
  g_autofree char *target = fab_target_write (view->target);

  json_builder_begin_object (json);
  fab_json_add_text (json, "scenario", view->title);
  fab_json_add_text (json, "key", view->axis->key);
  fab_json_add_text (json, "target", target);
  fab_json_add_text (json, "answer", size->answer >= 0 ? size->points[size->answer].value : NULL);
  fab_json_add_text (json, "closest", size->points[size->best].value);
  fab_json_add_whole (json, "is_unsteady", size->is_unsteady);
  json_builder_set_member_name (json, "points");
  json_builder_begin_array (json);
  for (guint i = 0; i < size->n; i++)
    if (size->points[i].point != NULL || size->points[i].problem != NULL)
      add_point (json, view, &size->points[i]);
  json_builder_end_array (json);
  json_builder_end_object (json);
  return fab_json_finish (json);
}
