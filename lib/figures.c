/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - the figures of the last iteration, by the names of the columns that show them in results files and in
 * tables of studies, and by those of JSON, which has seconds in place of picoseconds and counts without "n_". */
#include <math.h>
#include <string.h>

#include "lib/private.h"
#include "sim/result/record_data.h"

static FabricastValue
real (double value, const char *unit)
{
  return (FabricastValue){ sizeof (FabricastValue), FABRICAST_REAL, 0, value, NULL, unit };
}

static FabricastValue
whole (gint64 value, const char *unit)
{
  return (FabricastValue){ sizeof (FabricastValue), FABRICAST_WHOLE, value, (double) value, NULL, unit };
}

static FabricastValue
text (const char *value)
{
  return (FabricastValue){
    sizeof (FabricastValue), value != NULL ? FABRICAST_TEXT : FABRICAST_NONE, 0, 0, value, NULL
  };
}

static FabricastValue
value_of (const FabField *field, const char *unit)
{
  return field->kind == FAB_CELL_INTEGER ? whole (field->integer, unit)
       : field->kind == FAB_CELL_REAL    ? real (field->real, unit)
                                         : text (field->text);
}

/* --- one source of figures: a set of names that it knows --- */

/* Either looks for a figure (`names` NULL) or lists its names. */
typedef struct {
  const char *name;
  FabricastValue *value;
  GPtrArray *names;
} Search;

/* Columns of a sweep's points that are no figures. */
static const char *const no_figures[] = { "point", "settings", "problem", NULL };

/* TRUE: this is the figure that is searched for. */
static gboolean
is_it (const Search *search, const char *name)
{
  if (g_strv_contains (no_figures, name))
    return FALSE;
  if (search->names == NULL)
    return strcmp (search->name, name) == 0;
  if (!g_ptr_array_find_with_equal_func (search->names, name, g_str_equal, NULL))
    g_ptr_array_add (search->names, g_strdup (name));
  return FALSE;
}

static gboolean
give (const Search *search, FabricastValue value)
{
  *search->value = value;
  return TRUE;
}

/* The figures of a record by the names of its columns; times in seconds too, as JSON has them: "step_ps" and "step_s".
 * `record` NULL: none of them is known. */
static gboolean
find_column (FabTableKind kind, gconstpointer record, const Search *search)
{
  const FabRecordTable *table = &fab_record_tables[kind];

  for (const FabColumn *column = table->columns; column < table->columns + table->n_columns; column++) {
    g_autofree char *key = fab_column_key (column);

    if (column->is_place)
      continue;
    gboolean is_key = is_it (search, key), is_named = is_it (search, column->name);
    if (!is_key && !is_named)
      continue;
    FabField field = record == NULL ? (FabField){ FAB_CELL_NULL }
                   : is_named       ? fab_column_read (column, record, 0)
                                    : fab_column_value (column, record);
    return give (search, value_of (&field, is_named ? fab_column_unit (column) : "s"));
  }
  return FALSE;
}

static gboolean
find_step (FabricastResult *self, const Search *search)
{
  return find_column (FAB_TABLE_STEP, fab_run_last_step (&self->run), search);
}

static gboolean
find_pace (FabricastResult *self, const Search *search)
{
  return find_column (FAB_TABLE_PACE, self->link != NULL ? &self->run.pace : NULL, search);
}

static gboolean
find_band (FabricastResult *self, const Search *search)
{
  const FabBand *band = self->run.band;
  guint last = self->run.steps->len - 1, n = self->run.steps->len;
  const struct {
    const char *name;
    double value;
    const char *unit;
  } all[] = {
    { "step_low_s", band != NULL ? band->low[last] : 0, "s" },
    { "step_high_s", band != NULL ? band->high[last] : 0, "s" },
    { "exposed_low_s", band != NULL ? band->low[n + last] : 0, "s" },
    { "exposed_high_s", band != NULL ? band->high[n + last] : 0, "s" },
    { "band_coverage_fraction", band != NULL ? band->coverage_fraction : 0, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (is_it (search, all[i].name))
      return give (search, band != NULL ? real (all[i].value, all[i].unit) : text (NULL));
  return is_it (search, "band_most") && give (search, text (self->most));
}

static gboolean
find_text (FabricastResult *self, const Search *search)
{
  const FabScenarioSpec *spec = fab_scenario_spec (self->scenario);
  const struct {
    const char *name, *value;
  } all[] = {
    { "name", spec->name },         { "fidelity", spec->fidelity.info->name }, { "version", FAB_VERSION },
    { "binding_link", self->link }, { "binding_link_spec", self->link_entry },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (is_it (search, all[i].name))
      return give (search, text (all[i].value));
  return FALSE;
}

/* What limits the step takes many plays, so that it is found when somebody asks; the verdict says it too. */
static const FabBottleneck *
need_bottleneck (FabricastResult *self)
{
  const FabRunRequest request = { .registry = &fab_models, .n_threads = 1 };

  g_mutex_lock (&self->lock);
  if (self->run.bottleneck == NULL && fab_run_find_bottleneck (self->scenario, &request, &self->run, NULL)) {
    g_free (self->codes);
    self->codes = fab_verdict_codes (self->run.verdict);
  }
  g_mutex_unlock (&self->lock);
  return self->run.bottleneck;
}

static gboolean
find_limit (FabricastResult *self, const Search *search)
{
  if (is_it (search, "limited_by"))
    return give (search, text (fab_bottleneck_name (need_bottleneck (self))));
  if (is_it (search, "limited_by_change")) {
    const FabLever *first = fab_bottleneck_first (need_bottleneck (self));
    return give (search, text (first != NULL ? first->change : NULL));
  }
  if (is_it (search, "limited_by_saved_fraction")) {
    const FabLever *first = fab_bottleneck_first (need_bottleneck (self));
    return give (search, first != NULL ? real (fab_lever_saved (first), NULL) : text (NULL));
  }
  if (is_it (search, "verdict")) {
    need_bottleneck (self);
    return give (search, text (self->codes));
  }
  return FALSE;
}

static gboolean
find_number (FabricastResult *self, const Search *search)
{
  const FabRunResult *run = &self->run;
  const struct {
    const char *name;
    gboolean is_known;
    FabricastValue value;
  } all[] = {
    { "iterations", TRUE, whole (run->steps->len, NULL) },
    { "n_iterations", TRUE, whole (run->steps->len, NULL) },
    { "events", TRUE, whole ((gint64) fab_simulation_events (run->simulation), NULL) },
    { "n_events", TRUE, whole ((gint64) fab_simulation_events (run->simulation), NULL) },
    { "run_id", run->run_id > 0, whole (run->run_id, NULL) },
    { "wall_s", TRUE, real (run->wall_s, "s") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (is_it (search, all[i].name))
      return give (search, all[i].is_known ? all[i].value : text (NULL));
  return FALSE;
}

/* The figures that targets of a study name, and the same by their columns: "exposed" and "exposed_fraction". */
static gboolean
find_figure (FabricastResult *self, const Search *search)
{
  static const char *const units[] = {
    [FAB_FIGURE_TIME] = "s",  [FAB_FIGURE_FRACTION] = NULL, [FAB_FIGURE_RATE] = "1/s",
    [FAB_FIGURE_BYTES] = "B", [FAB_FIGURE_MONEY] = "USD",   [FAB_FIGURE_ENERGY] = "J",
    [FAB_FIGURE_POWER] = "W"
  };

  for (const FabFigure *figure = fab_figures; figure->name != NULL; figure++) {
    gboolean is_column = is_it (search, figure->column);

    if (is_it (search, figure->name) || is_column)
      return give (search, figure->is_known == NULL || figure->is_known (self->point)
                               ? real (figure->value (self->point), units[figure->kind])
                               : text (NULL));
  }
  return FALSE;
}

/* Last, because what a sweep keeps of a point is less than what a run knows of it. */
static gboolean
find_point (FabricastResult *self, const Search *search)
{
  return find_column (FAB_TABLE_SWEEP_POINT, self->record, search);
}

typedef gboolean (*FindFn) (FabricastResult *self, const Search *search);

static const FindFn sources[] = {
  find_text, find_step, find_pace, find_band, find_limit, find_number, find_point, find_figure,
};

/* --- the call --- */

/* "name, fidelity, ...". (transfer full) */
static char *
all_names (FabricastResult *self)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const Search search = { .names = names };

  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    sources[i](self, &search);
  g_ptr_array_add (names, NULL);
  return g_strjoinv (", ", (char **) names->pdata);
}

static int
find (FabricastResult *self, const char *name, FabricastValue *value, FabricastError **error)
{
  FabricastValue own;
  const Search search = { .name = name, .value = &own };

  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    if (sources[i](self, &search))
      return lib_give (&own, sizeof own, value)
               ? FABRICAST_OK
               : lib_fail (error, FABRICAST_MISUSE, "struct_size of the value is not set");
  g_autofree char *known = all_names (self);
  return lib_fail (error, FABRICAST_INPUT, "there is no figure '%s'; there are %s", name, known);
}

int
fabricast_result_figure (const FabricastResult *result, const char *name, FabricastValue *value,
                         FabricastError **error)
{
  LibDoor door;
  int status;

  LIB_NEED (result, error);
  LIB_NEED (name, error);
  LIB_NEED (value, error);
  lib_door_enter (&door);
  status = find ((FabricastResult *) result, name, value, error);
  lib_door_leave (&door);
  return status;
}
