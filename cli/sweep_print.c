/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_print.c - a sweep's points, read back from the file: what is printed does not depend on which of them were
 * there already, nor on who played them. */
#include "cli/points.h"
#include "cli/sweep.h"
#include "sim/base/json.h"
#include "sim/study/sweep_record.h"

/* More points than this are a table that nobody reads: then the best of them. */
enum { MOST_ROWS = 100, BEST_ROWS = 20 };

typedef struct {
  const FabGrid *grid;
  GPtrArray *columns; /* keys of the axes, NULL-ended */
  GPtrArray *labels;  /* GStrv per row */
  GPtrArray *tries;   /* FabTry */
  gint64 n_played;
} Points;

static void
free_try (gpointer data)
{
  fab_try_clear (data);
  g_free (data);
}

static void
points_init (Points *self, const FabGrid *grid)
{
  *self = (Points){ .grid = grid };
  self->columns = g_ptr_array_new_with_free_func (g_free);
  self->labels = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  self->tries = g_ptr_array_new_with_free_func (free_try);
  for (guint a = 0; a < grid->axes->len; a++)
    g_ptr_array_add (self->columns, fab_grid_axis_key (grid, a));
  g_ptr_array_add (self->columns, NULL);
}

static void
points_clear (Points *self)
{
  g_ptr_array_unref (self->columns);
  g_ptr_array_unref (self->labels);
  g_ptr_array_unref (self->tries);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Points, points_clear)

/* FabSweepPointFunc */
static void
take_point (const FabSweepPointRecord *record, gpointer data)
{
  Points *self = data;
  guint n_axes = self->grid->axes->len;
  char **labels = g_new0 (char *, n_axes + 1);
  FabTry *trial = g_new0 (FabTry, 1);

  if (record->point < self->grid->n_points) {
    for (guint a = 0; a < n_axes; a++)
      labels[a] = fab_grid_axis_value (self->grid, a, fab_grid_item (self->grid, record->point, a));
    fab_sweep_record_to_try (record, trial);
    self->n_played += trial->point != NULL;
    g_ptr_array_add (self->labels, labels);
    g_ptr_array_add (self->tries, trial);
  } else { /* the file was changed by hand */
    g_free (labels);
    g_free (trial);
  }
}

/* --- rows --- */

static const FabTry *
try_of (const Points *self, guint row)
{
  return g_ptr_array_index (self->tries, row);
}

/* The most tokens, or where there are none the shortest step, is before; what cannot be played is last. */
static int
compare_tries (const FabTry *a, const FabTry *b)
{
  if (a->point == NULL || b->point == NULL)
    return (a->point == NULL) - (b->point == NULL);
  if (a->point->tokens_per_s != b->point->tokens_per_s)
    return a->point->tokens_per_s > b->point->tokens_per_s ? -1 : 1;
  return (a->point->step_s > b->point->step_s) - (a->point->step_s < b->point->step_s);
}

static int
compare_rows (gconstpointer a, gconstpointer b, gpointer data)
{
  guint row_a = *(const guint *) a, row_b = *(const guint *) b;
  int order = compare_tries (try_of (data, row_a), try_of (data, row_b));

  return order != 0 ? order : row_a < row_b ? -1 : 1;
}

static FabPointsRow *
rows_of (const Points *self, const guint *order, guint n)
{
  FabPointsRow *rows = g_new0 (FabPointsRow, n);

  for (guint i = 0; i < n; i++) {
    guint row = order != NULL ? order[i] : i;

    rows[i] = (FabPointsRow){ g_ptr_array_index (self->labels, row), try_of (self, row), NULL };
  }
  return rows;
}

static FabPoints
table_of (const Points *self, const FabPointsRow *rows, guint n)
{
  return (FabPoints){ .columns = (const char *const *) self->columns->pdata,
                      .n_shown = self->grid->axes->len,
                      .rows = rows,
                      .n_rows = n };
}

/* --- text --- */

static void
append_head (GString *text, const FabSweepView *view, const Points *points)
{
  g_autofree char *name = fab_cli_printable (view->plan->name);
  g_autofree char *summary = fab_cli_printable (view->plan->summary != NULL ? view->plan->summary : "");
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();
  gint64 n_problems = (gint64) points->tries->len - points->n_played;

  for (guint a = 0; a < view->grid->axes->len; a++)
    g_ptr_array_add (keys, g_ptr_array_index (points->columns, a));
  g_ptr_array_add (keys, NULL);
  g_autofree char *crossed = g_strjoinv (" x ", (char **) keys->pdata);
  g_string_append_printf (text, "%s%s%s\n\n", name, *summary != '\0' ? ": " : "", summary);
  g_string_append_printf (text, "  %u point%s of %s", points->tries->len, points->tries->len == 1 ? "" : "s",
                          crossed);
  if (n_problems > 0)
    g_string_append_printf (text, "; %" G_GINT64_FORMAT " cannot be played", n_problems);
  g_string_append (text, "\n\n");
}

static char *
print_text (const FabSweepView *view, const Points *points)
{
  GString *text = g_string_new (NULL);
  guint n = points->tries->len, n_shown = n > MOST_ROWS ? BEST_ROWS : n;
  g_autofree guint *order = g_new (guint, MAX (n, 1));

  for (guint i = 0; i < n; i++)
    order[i] = i;
  g_qsort_with_data (order, (gint) n, sizeof *order, compare_rows, (gpointer) points);
  g_autofree FabPointsRow *rows = rows_of (points, n_shown < n ? order : NULL, n_shown);
  if (n_shown == n && points->n_played > 1)
    rows[order[0]].mark = "<";
  FabPoints table = table_of (points, rows, n_shown);
  gboolean has_tokens = points->n_played > 0 && try_of (points, order[0])->point->tokens_per_s > 0;
  const char *best = has_tokens ? "the most tokens per second" : "the shortest step";

  append_head (text, view, points);
  fab_points_append_text (text, &table);
  if (n_shown < n)
    g_string_append_printf (text, "\n  the %u points with %s\n", n_shown, best);
  else if (points->n_played > 1)
    g_string_append_printf (text, "\n  < %s\n", best);
  g_string_append_printf (text,
                          "\n  sweep %" G_GINT64_FORMAT
                          " in %s; `fabricast query sweep --db %s` reads it back\n",
                          view->outcome->sweep_id, view->db, view->db);
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

static char *
print_csv (const FabPoints *table)
{
  g_autoptr (FabTable) cells = fab_points_table (table);

  return fab_table_to_csv (cells);
}

static char *
print_json (const FabSweepView *view, const FabPoints *table)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", view->plan->name);
  fab_json_add_text (json, "summary", view->plan->summary);
  fab_json_add_whole (json, "sweep_id", view->outcome->sweep_id);
  fab_points_add_json (json, "points", table);
  fab_json_end (json);
  return fab_json_finish (json);
}

char *
fab_sweep_print (const FabSweepView *view, FabFormat format, gint64 *n_played, GError **error)
{
  g_auto (Points) points;

  points_init (&points, view->grid);
  if (!fab_store_each_point (view->store, view->outcome->sweep_id, take_point, &points, error))
    return NULL;
  *n_played = points.n_played;
  if (format == FAB_FORMAT_TEXT)
    return print_text (view, &points);
  g_autofree FabPointsRow *rows = rows_of (&points, NULL, points.tries->len);
  FabPoints table = table_of (&points, rows, points.tries->len);
  return format == FAB_FORMAT_CSV ? print_csv (&table) : print_json (view, &table);
}
