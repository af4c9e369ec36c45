/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_data.c - `fabricast whatif` for programs: a row of figures for each change, and one JSON object. */
#include "cli/points.h"
#include "cli/whatif.h"
#include "sim/base/json.h"

/* The sides as rows of a table of points. */
typedef struct {
  FabTry *tries;
  FabPointsList list;
} Rows;

static void
rows_init (Rows *self, const FabWhatIfView *view)
{
  static const char *const columns[] = { "change", "gpus", "nodes", NULL };
  guint n = view->sides->len;

  self->tries = g_new0 (FabTry, n);
  fab_points_list_init (&self->list, columns, 3, 2, n);
  for (guint i = 0; i < n; i++) {
    const FabSide *side = fab_sides_at (view->sides, i);
    char *const labels[] = { g_strdup (side->name),
                             g_strdup_printf ("%u", side->point ? side->point->n_ranks : 0),
                             g_strdup_printf ("%u", side->point ? side->point->n_nodes : 0) };

    self->tries[i] = (FabTry){ .point = side->point,
                               .problem = side->problem ? side->problem->message : NULL };
    fab_points_list_set (&self->list, i, labels, &self->tries[i]);
  }
}

static void
rows_clear (Rows *self)
{
  fab_points_list_clear (&self->list);
  g_free (self->tries);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Rows, rows_clear)

char *
fab_whatif_csv (const FabWhatIfView *view)
{
  g_auto (Rows) rows;

  rows_init (&rows, view);
  g_autoptr (FabTable) table = fab_points_table (&rows.list.points);
  return fab_table_to_csv (table);
}

static void
add_switches (FabJson *json, const FabVariant *before, const FabVariant *after)
{
  g_autoptr (GArray) switches = fab_switches_of (before, after);

  fab_json_begin_array (json, "other_algorithms");
  for (guint i = 0; i < switches->len; i++) {
    const FabSwitch *one = &g_array_index (switches, FabSwitch, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "op", one->op);
    fab_json_add_whole (json, "bytes", (gint64) one->bytes);
    fab_json_add_whole (json, "collectives", one->n);
    fab_json_add_text (json, "before", one->before);
    fab_json_add_text (json, "after", one->after);
    fab_json_add_real (json, "before_s", one->before_s);
    fab_json_add_real (json, "after_s", one->after_s);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_effect (FabJson *json, const FabWhatIfView *view, guint side)
{
  gint column = fab_whatif_column (view, side);
  g_autofree char *words = fab_whatif_words (view, side);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "change", fab_sides_at (view->sides, side)->name);
  fab_json_add_text (json, "explanation", words);
  if (column >= 0) {
    const FabVariant *before = fab_contrast_variant (view->contrast, 0);
    const FabVariant *after = fab_contrast_variant (view->contrast, (guint) column);
    FabBlast blast = fab_blast_of (before, after);

    fab_json_add_whole (json, "collectives", blast.n_collectives);
    fab_json_add_whole (json, "collectives_slower", blast.n_slower);
    fab_json_add_whole (json, "collectives_faster", blast.n_faster);
    fab_json_add_whole (json, "gpus_waiting_longer", blast.n_waiting);
    add_switches (json, before, after);
  }
  fab_json_end (json);
}

char *
fab_whatif_json (const FabWhatIfView *view)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_auto (Rows) rows;

  rows_init (&rows, view);
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", view->title);
  fab_points_add_json (json, "points", &rows.list.points);
  fab_json_begin_array (json, "changes");
  for (guint i = 1; i < view->sides->len; i++)
    add_effect (json, view, i);
  fab_json_end (json);
  fab_json_add_text (json, "apart", view->apart);
  fab_json_end (json);
  return fab_json_finish (json);
}
