/* SPDX-License-Identifier: Apache-2.0 */
/* plan_print.c - the answer of `fabricast plan`: the ranking, what drops out and why. */
#include <string.h>

#include "cli/best.h"
#include "cli/plan.h"
#include "cli/points.h"
#include "sim/base/json.h"

enum { MOST_REASONS = 6 };

static const FabCandidate *
ranked (const FabPlan *plan, guint place)
{
  return g_ptr_array_index (plan->ranking, place);
}

static const FabCandidate *
candidate_at (const FabPlan *plan, guint index)
{
  return g_ptr_array_index (plan->candidates, index);
}

char *
fab_plan_name (const FabCandidate *candidate)
{
  GString *name = g_string_new (candidate->strategy);

  if (strcmp (candidate->division, "-") != 0)
    g_string_append_printf (name, ", %s", candidate->division);
  g_string_append_printf (name, ", micro-batch %s, recompute %s", candidate->batch, candidate->remedy);
  return g_string_free (name, FALSE);
}

/* --- the ranking --- */

/* Of its strategy no other one is before it. */
static gboolean
is_best_of_strategy (const FabPlan *plan, guint place)
{
  for (guint i = 0; i < place; i++)
    if (ranked (plan, i)->strategy == ranked (plan, place)->strategy)
      return FALSE;
  return TRUE;
}

static guint
division_width (const FabPlan *plan)
{
  gsize width = strlen ("divided");

  for (guint i = 0; i < plan->ranking->len; i++)
    width = MAX (width, strlen (ranked (plan, i)->division));
  return (guint) width;
}

static void
append_row (GString *text, const FabPlanView *view, guint place, guint width)
{
  const FabCandidate *candidate = ranked (view->plan, place);
  const FabPoint *point = candidate->trial.point, *first = ranked (view->plan, 0)->trial.point;
  g_autofree char *step = fab_units_show (FAB_UNIT_TIME, point->step_s * FAB_PS_PER_S);
  g_autofree char *gb = fab_best_gb ((double) point->memory_bytes), *sent = fab_best_gb (point->sent_bytes);

  g_string_append_printf (
      text, "  %3u  %-13s %-*s  %-9s %-9s %10s %9.0f %6.1f %% %8.1f %% %6s GB %6s GB  %s\n", place + 1,
      candidate->strategy, (int) width, candidate->division, candidate->batch, candidate->remedy, step,
      point->tokens_per_s, 100 * (first->tokens_per_s > 0 ? point->tokens_per_s / first->tokens_per_s : 0),
      100 * point->exposed_s / point->step_s, gb, sent, point->binding_spec ? point->binding_spec : "-");
}

static void
append_ranking (GString *text, const FabPlanView *view)
{
  guint width = division_width (view->plan), n_hidden = 0;

  g_string_append_printf (text, "  %3s  %-13s %-*s  %-9s %-9s %10s %9s %8s %10s %9s %9s  %s\n", "",
                          "strategy", (int) width, "divided", "batch", "recompute", "step", "tokens/s",
                          "of best", "exposed", "memory", "sent", "binding");
  for (guint i = 0; i < view->plan->ranking->len; i++)
    if (i < view->top || is_best_of_strategy (view->plan, i))
      append_row (text, view, i, width);
    else
      n_hidden++;
  if (n_hidden > 0)
    g_string_append_printf (text, "       and %u divisions more: --top %u, or --format csv\n", n_hidden,
                            view->plan->ranking->len);
}

/* --- what drops out --- */

/* Of all families of a strategy the one that is nearest to fitting, if none fits. */
static const FabCandidate *
nearest (const FabPlan *plan, const char *strategy, guint *n_families)
{
  const FabCandidate *found = NULL;

  *n_families = 0;
  for (guint i = 0; i < plan->candidates->len; i++) {
    const FabCandidate *candidate = candidate_at (plan, i);

    if (candidate->strategy != strategy || (i > 0 && candidate->family == candidate_at (plan, i - 1)->family))
      continue;
    const FabCandidate *smallest = fab_plan_smallest (plan, candidate->family);
    if (smallest == NULL)
      continue;
    ++*n_families;
    if (found == NULL || smallest->trial.point->memory_bytes < found->trial.point->memory_bytes)
      found = smallest;
  }
  return found;
}

static void
append_too_large (GString *text, const FabPlanView *view)
{
  const char *last = NULL;
  guint n_lines = 0, n;

  for (guint i = 0; i < view->plan->candidates->len; i++) {
    const char *strategy = candidate_at (view->plan, i)->strategy;
    const FabCandidate *smallest = strategy != last ? nearest (view->plan, strategy, &n) : NULL;

    last = strategy;
    if (smallest == NULL)
      continue;
    double bytes = (double) smallest->trial.point->memory_bytes;
    g_autofree char *needs = fab_best_gb (bytes), *over = fab_best_gb (bytes - (double) view->most_bytes);
    g_autofree char *ways = n > 1
                              ? g_strdup_printf (" (%u divisions; the nearest is %s)", n, smallest->division)
                              : g_strdup ("");
    g_autofree char *limit = fab_best_gb ((double) view->most_bytes);

    if (n_lines++ == 0)
      g_string_append_printf (text, "\n  does not fit in %s GB\n", limit);
    g_string_append_printf (text,
                            "       %-13s needs %s GB, %s GB too much, with micro-batch %s, recompute %s%s\n",
                            strategy, needs, over, smallest->batch, smallest->remedy, ways);
  }
}

/* Those that cannot be done for the same reason: "ddp, zero1", each once; NULL: the reason was said before. */
static char *
who_cannot (const FabPlan *plan, guint index)
{
  const char *problem = candidate_at (plan, index)->trial.problem;
  g_autoptr (GString) names = g_string_new (NULL);
  const char *last = NULL;

  for (guint i = 0; i < plan->candidates->len; i++) {
    const FabCandidate *candidate = candidate_at (plan, i);

    if (candidate->state != FAB_CANDIDATE_IMPOSSIBLE || strcmp (candidate->trial.problem, problem) != 0)
      continue;
    if (i < index)
      return NULL;
    if (candidate->strategy != last)
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", candidate->strategy);
    last = candidate->strategy;
  }
  return g_strdup (names->str);
}

static void
append_impossible (GString *text, const FabPlan *plan)
{
  guint n_lines = 0;

  for (guint i = 0; i < plan->candidates->len; i++) {
    const FabCandidate *candidate = candidate_at (plan, i);
    g_autofree char *who = candidate->state == FAB_CANDIDATE_IMPOSSIBLE ? who_cannot (plan, i) : NULL;

    if (who == NULL)
      continue;
    g_auto (GStrv) lines = g_strsplit (candidate->trial.problem, "\n", 2);
    gboolean is_whole = strcmp (candidate->division, "-") == 0;
    if (n_lines++ == 0)
      g_string_append (text, "\n  cannot be done\n");
    if (n_lines <= MOST_REASONS)
      g_string_append_printf (text, "       %s%s%s: %s\n", who, is_whole ? "" : " with ",
                              is_whole ? "" : candidate->division, lines[0]);
  }
  if (n_lines > MOST_REASONS)
    g_string_append_printf (text, "       and for %u reasons more: --format csv\n", n_lines - MOST_REASONS);
}

char *
fab_plan_text (const FabPlanView *view)
{
  const FabPlan *plan = view->plan;
  g_autofree char *limit = fab_best_gb ((double) view->most_bytes);
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s\n\n  %s, %s GB each; %.0f sequences per step; ranked by %s\n\n",
                          view->title, view->machine, limit, view->sequences, view->by->name);
  if (plan->ranking->len > 0)
    append_ranking (text, view);
  else
    g_string_append (text, "  nothing fits\n");
  append_too_large (text, view);
  append_impossible (text, plan);
  g_string_append_printf (text, "\n  %u candidates: %u were played, %u more were weighed and do not fit\n",
                          plan->candidates->len, plan->n_played, plan->n_weighed - plan->n_played);
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

static const char *const columns[] = { "rank",  "strategy",    "division",    "batch", "recompute",
                                       "state", "needs_bytes", "assignments", NULL };

enum { N_COLUMNS = G_N_ELEMENTS (columns) - 1 };

/* What was looked at, as rows. */
typedef struct {
  GPtrArray *labels; /* char *, N_COLUMNS per row */
  GArray *rows;      /* FabPointsRow */
  FabTry none;
} Looked;

static const char *
state_name (FabCandidateState state)
{
  switch (state) {
  case FAB_CANDIDATE_PLAYED: return "fits";
  case FAB_CANDIDATE_TOO_LARGE: return "too large";
  case FAB_CANDIDATE_IMPOSSIBLE: return "impossible";
  case FAB_CANDIDATE_PASSED_OVER:
  default: return "passed over";
  }
}

static char *
rank_of (const FabPlan *plan, const FabCandidate *candidate)
{
  guint place;

  if (!g_ptr_array_find (plan->ranking, candidate, &place))
    return NULL;
  return g_strdup_printf ("%u", place + 1);
}

static void
add_labels (Looked *self, const FabPlan *plan, const FabCandidate *candidate)
{
  const FabPoint *point = candidate->trial.point;
  char *cells[N_COLUMNS] = { rank_of (plan, candidate),
                             g_strdup (candidate->strategy),
                             g_strdup (candidate->division),
                             g_strdup (candidate->batch),
                             g_strdup (candidate->remedy),
                             g_strdup (state_name (candidate->state)),
                             point ? g_strdup_printf ("%" G_GUINT64_FORMAT, point->memory_bytes) : NULL,
                             candidate->edits ? g_strjoinv (" ", (char **) fab_edits_texts (candidate->edits))
                                              : NULL };

  for (guint c = 0; c < N_COLUMNS; c++)
    g_ptr_array_add (self->labels, cells[c]);
}

static void
looked_init (Looked *self, const FabPlan *plan)
{
  self->labels = g_ptr_array_new_with_free_func (g_free);
  self->rows = g_array_new (FALSE, FALSE, sizeof (FabPointsRow));
  self->none = (FabTry){ .point = NULL };
  for (guint i = 0; i < plan->candidates->len; i++) {
    const FabCandidate *candidate = candidate_at (plan, i);
    FabPointsRow row = { NULL, candidate->state == FAB_CANDIDATE_TOO_LARGE ? &self->none : &candidate->trial,
                         NULL };

    if (candidate->state == FAB_CANDIDATE_PASSED_OVER)
      continue;
    add_labels (self, plan, candidate);
    g_array_append_val (self->rows, row);
  }
  for (guint r = 0; r < self->rows->len; r++)
    g_array_index (self->rows, FabPointsRow, r).labels = (const char *const *) self->labels->pdata
                                                       + (gsize) r * N_COLUMNS;
}

static void
looked_clear (Looked *self)
{
  g_ptr_array_unref (self->labels);
  g_array_unref (self->rows);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Looked, looked_clear)

static FabPoints
points_of (const Looked *self)
{
  return (FabPoints){ .columns = columns,
                      .n_shown = N_COLUMNS,
                      .rows = (const FabPointsRow *) (gconstpointer) self->rows->data,
                      .n_rows = self->rows->len };
}

char *
fab_plan_csv (const FabPlanView *view)
{
  g_auto (Looked) looked;

  looked_init (&looked, view->plan);
  FabPoints points = points_of (&looked);
  g_autoptr (FabTable) table = fab_points_table (&points);
  return fab_table_to_csv (table);
}

char *
fab_plan_json (const FabPlanView *view)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_auto (Looked) looked;

  looked_init (&looked, view->plan);
  FabPoints points = points_of (&looked);
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", view->title);
  fab_json_add_text (json, "machine", view->machine);
  fab_json_add_text (json, "by", view->by->name);
  fab_json_add_real (json, "sequences_per_step", view->sequences);
  fab_json_add_whole (json, "memory_limit_bytes", (gint64) view->most_bytes);
  fab_json_add_whole (json, "candidates", view->plan->candidates->len);
  fab_json_add_whole (json, "played", view->plan->n_played);
  fab_points_add_json (json, "points", &points);
  fab_json_end (json);
  return fab_json_finish (json);
}
