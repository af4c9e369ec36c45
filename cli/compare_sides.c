/* SPDX-License-Identifier: Apache-2.0 */
/* compare_sides.c - several scenarios, or variants of one: played at once, and what makes them equal. */
#include <string.h>

#include "cli/cli.h"
#include "cli/compare.h"
#include "models/models.h"
#include "sim/base/error.h"

enum { MOST_VARIANTS = 16 };

/* --- what is to be played --- */

/* One for each file, in `studies`. */
static GPtrArray *
sides_of_files (const FabCompareOptions *o, const FabCatalog *catalog, char **paths, guint n,
                GPtrArray *studies)
{
  GPtrArray *sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);

  for (guint i = 0; i < n; i++) {
    GError *problem = NULL;
    FabStudy *study = fab_cli_study (paths[i], o->sets, catalog, &problem);

    if (study != NULL)
      g_ptr_array_add (studies, study);
    g_ptr_array_add (sides,
                     study != NULL ? fab_side_new (NULL, study, NULL) : fab_side_failed (paths[i], problem));
  }
  return sides;
}

/* "nodes=4" of "cluster.nodes=4". */
static const char *
last_part (const char *assignment)
{
  const char *equals = strchr (assignment, '='), *dot = g_strrstr_len (assignment, equals - assignment, ".");

  return dot ? dot + 1 : assignment;
}

static GPtrArray *
sides_of_axis (const FabStudy *study, const FabAxis *axis)
{
  GPtrArray *sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);

  for (guint i = 0; i < axis->values->len; i++) {
    g_autofree char *set = g_strconcat (axis->key, "=", (const char *) g_ptr_array_index (axis->values, i),
                                        NULL);

    g_ptr_array_add (sides,
                     fab_side_new (last_part (set), study, fab_edits_of ((const char *[]){ set, NULL })));
  }
  return sides;
}

/* Of one file, whose study goes to `studies`; NULL and *error when it cannot be read. */
static GPtrArray *
sides_of_variants (const FabCompareOptions *o, const FabCatalog *catalog, const char *path,
                   const FabAxis *axis, GPtrArray *studies, GError **error)
{
  FabStudy *study = fab_cli_study (path, o->sets, catalog, error);

  if (study == NULL)
    return NULL;
  g_ptr_array_add (studies, study);
  return sides_of_axis (study, axis);
}

/* Several files may hold scenarios of one name: then they are called as the files are. */
static void
name_apart (GPtrArray *sides)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  gboolean is_apart = TRUE;

  for (guint i = 0; i < sides->len; i++)
    is_apart &= g_hash_table_add (seen, fab_sides_at (sides, i)->name);
  for (guint i = 0; i < sides->len && !is_apart; i++) {
    FabSide *side = fab_sides_at (sides, i);

    g_free (side->name);
    side->name = g_path_get_basename (side->path);
    g_free (side->variant->name);
    side->variant->name = g_strdup (side->name);
  }
}

/* Values that cannot be played are left out; a file that cannot is a mistake. */
static gboolean
drop_problems (GPtrArray *sides, gboolean is_axis, GPtrArray *left_out, GError **error)
{
  if (!is_axis && !fab_sides_check (sides, error))
    return FALSE;
  for (guint i = sides->len; i-- > 0;) {
    const FabSide *side = fab_sides_at (sides, i);

    if (side->problem == NULL)
      continue;
    if (sides->len == 1)
      return fab_sides_check (sides, error);
    g_auto (GStrv) lines = g_strsplit (side->problem->message, "\n", 2);
    g_ptr_array_insert (left_out, 0, g_strdup_printf ("%s cannot be played: %s", side->name, lines[0]));
    g_ptr_array_remove_index (sides, i);
  }
  g_ptr_array_add (left_out, NULL);
  return TRUE;
}

/* Its name, or the value that it has. */
static gboolean
is_called (const FabSide *side, const char *name)
{
  return strcmp (side->name, name) == 0
      || (side->edits != NULL && strcmp (strchr (fab_edits_at (side->edits, 0)->text, '=') + 1, name) == 0);
}

static gboolean
find_base (const GPtrArray *sides, const char *against, guint *base, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  *base = 0;
  for (guint i = 0; i < sides->len; i++) {
    if (against == NULL || is_called (fab_sides_at (sides, i), against)) {
      *base = i;
      return TRUE;
    }
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", fab_sides_at (sides, i)->name);
  }
  return fab_throw (error, FAB_ERROR_INPUT, "--against %s: it is none of %s", against, names->str);
}

/* --- equality --- */

/* From a slow Ethernet to far beyond what is sold, in steps of 2.3 %. */
static FabAxis *
axis_of (const char *by, GError **error)
{
  if (by == NULL || strcmp (by, "cluster.nic_rate") == 0)
    return fab_axis_decades ("cluster.nic_rate", 10, 10000, 100, "Gb/s");
  return fab_axis_parse (by, error);
}

static void
equal_clear (gpointer data)
{
  FabCompareEqual *self = data;

  fab_size_free (self->size);
  g_free (self->problem);
}

static FabCompareEqual
find_equal (const FabSidesView *view, const FabSide *side, guint index)
{
  const FabPoint *base = fab_sides_at (view->sides, view->contrast->base)->point;
  FabTarget target = { view->figure, !view->figure->is_gain, view->figure->value (base) };
  g_autoptr (FabStudy) study = fab_study_edited (side->study, side->edits);
  g_autoptr (GError) problem = NULL;
  FabCompareEqual equal = { index, fab_size_find (study, &(FabSizeSpec){ view->axis, &target, 1 }, &problem),
                            NULL };
  if (equal.size == NULL)
    equal.problem = g_strdup (problem->message);
  return equal;
}

static GArray *
find_equals (const FabSidesView *view)
{
  GArray *equals = g_array_new (FALSE, FALSE, sizeof (FabCompareEqual));

  g_array_set_clear_func (equals, equal_clear);
  for (guint i = 0; view->figure != NULL && i < view->sides->len; i++)
    if (i != view->contrast->base) {
      FabCompareEqual equal = find_equal (view, fab_sides_at (view->sides, i), i);

      g_array_append_val (equals, equal);
    }
  return equals;
}

/* The figure of --at-equal, which the base has; NULL without the option. */
static gboolean
find_figure (const char *name, const FabSide *base, const FabFigure **figure, GError **error)
{
  *figure = name ? fab_figure_find (name) : NULL;
  if (name == NULL)
    return TRUE;
  if (*figure == NULL) {
    g_autofree char *names = fab_figure_names ();

    return fab_throw (error, FAB_ERROR_INPUT, "--at-equal %s: there is no such figure; these are: %s", name,
                      names);
  }
  if ((*figure)->is_known != NULL && !(*figure)->is_known (base->point))
    return fab_throw (error, FAB_ERROR_INPUT, "--at-equal %s: %s has none: %s", name, base->name,
                      (*figure)->unknown);
  return TRUE;
}

/* --- the page --- */

static gboolean
print_sides (const FabCompareOptions *o, GPtrArray *sides, char **left_out, GError **error)
{
  typedef char *(*ToTextFn) (const FabSidesView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = fab_sides_text, [FAB_FORMAT_JSON] = fab_sides_json, [FAB_FORMAT_CSV] = fab_sides_csv
  };
  const FabFigure *figure;
  guint base;

  if (!find_base (sides, o->against, &base, error)
      || !find_figure (o->equal, fab_sides_at (sides, base), &figure, error))
    return FALSE;
  g_autoptr (FabAxis) axis = axis_of (o->by, error);
  if (axis == NULL)
    return FALSE;
  g_autoptr (FabContrast) contrast = fab_sides_contrast (sides, base);
  FabSidesView view = { sides, contrast, left_out, figure, axis, NULL };
  g_autoptr (GArray) equals = find_equals (&view);
  view.equals = equals;
  g_autofree char *text = printers[o->format](&view);
  g_print ("%s", text);
  return TRUE;
}

gboolean
fab_compare_sides (const FabCompareOptions *o, char **paths, guint n_paths, GError **error)
{
  g_autoptr (FabAxis) variants = o->vary ? fab_axis_parse (o->vary, error) : NULL;
  g_autoptr (FabCatalog) catalog = o->vary == NULL || variants != NULL ? fab_cli_catalog (error) : NULL;
  g_autoptr (GPtrArray) left_out = g_ptr_array_new_with_free_func (g_free);

  if (catalog == NULL)
    return FALSE;
  if (variants != NULL && variants->values->len > MOST_VARIANTS)
    return fab_throw (error, FAB_ERROR_INPUT, "--vary %s: %u columns are more than a page has; at most %d",
                      o->vary, variants->values->len, MOST_VARIANTS);
  g_autoptr (GPtrArray) studies = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_study_free);
  g_autoptr (GPtrArray) sides = variants ? sides_of_variants (o, catalog, paths[0], variants, studies, error)
                                         : sides_of_files (o, catalog, paths, n_paths, studies);
  if (sides == NULL)
    return FALSE;
  fab_sides_play (sides);
  if (!drop_problems (sides, variants != NULL, left_out, error))
    return FALSE;
  if (variants == NULL)
    name_apart (sides);
  return print_sides (o, sides, (char **) left_out->pdata, error);
}
