/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_plan.c - `fabricast plan SCENARIO`: the same training by every strategy that fits in memory, ranked. */
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/study/best.h"
#include "cli/study/points.h"
#include "cli/study/spread_text.h"
#include "cli/terminal/progress.h"
#include "cli/verdict.h"
#include "models/models.h"
#include "models/workload/training/choices.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/thread_pool.h"
#include "sim/base/units.h"
#include "sim/study/plan.h"
#include "sim/study/study_bottleneck.h"

typedef struct {
  const char *title;   /* of the scenario */
  const char *machine; /* "128 x a100-sxm4-80gb on 16 x dgx-a100" */
  FabBytes most_bytes; /* the most memory that a rank may need; 0: any */
  double sequences;    /* sequences of a step */
  const FabFigure *by;
  const FabPlan *plan;
  guint top;            /* rows of the ranking that are shown; the best of each strategy is always shown */
  const FabBand *first; /* of the step of the first of the ranking; NULL: none */
  FabPairedBand second; /* by how much the second's step differs from it; n 0: there is none */
} FabPlanView;

/* The answer of `fabricast plan`: the ranking, what drops out and why. */

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

/* Returns "zero3, micro-batch 2 x 4, recompute full". (transfer full) */
static char *
plan_name (const FabCandidate *candidate)
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

static guint
most_seeds (const FabPlan *plan)
{
  guint most = 1;

  for (guint i = 0; i < plan->ranking->len; i++)
    most = MAX (most, fab_spread_most (&(const FabPoint *){ ranked (plan, i)->trial.point }, 1));
  return most;
}

/* Whether it is known what limits the first; large jobs take too long for that. */
static gboolean
has_limits (const FabPlan *plan)
{
  return ranked (plan, 0)->trial.point->bottleneck != NULL;
}

static void
append_row (GString *text, const FabPlanView *view, guint place, guint width)
{
  const FabCandidate *candidate = ranked (view->plan, place);
  const FabPoint *point = candidate->trial.point, *first = ranked (view->plan, 0)->trial.point;
  g_autofree char *step = fab_units_show (FAB_UNIT_TIME, point->step_s * FAB_PS_PER_S);
  g_autofree char *gb = fab_best_gb ((double) point->memory_bytes), *sent = fab_best_gb (point->sent_bytes);

  g_autofree char *range = fab_spread_show (fab_figure_find ("step"), point);
  gboolean is_even = place > 0 && fab_spread_is_within (view->by, first, point);

  g_string_append_printf (text, "  %3u\v  %-13s\v %-*s\v  %-9s\v %-9s\v %10s", place + 1, candidate->strategy,
                          (int) width, candidate->division, candidate->batch, candidate->remedy, step);
  if (most_seeds (view->plan) > 1)
    g_string_append_printf (text, "\v  %-24s", range);
  g_string_append_printf (text, "\v %9.0f\v %6.1f %%\v %8.1f %%\v %6s GB\v %6s GB\v  %s%s\n",
                          point->tokens_per_s,
                          100 * (first->tokens_per_s > 0 ? point->tokens_per_s / first->tokens_per_s : 0),
                          100 * point->exposed_s / point->step_s, gb, sent,
                          fab_points_limit (point, has_limits (view->plan)), is_even ? "  =" : "");
}

static void
append_ranking (GString *text, const FabPlanView *view)
{
  guint width = division_width (view->plan), n_hidden = 0;

  g_string_append_printf (text, "  %3s\v  %-13s\v %-*s\v  %-9s\v %-9s\v %10s", "", "strategy", (int) width,
                          "divided", "batch", "recompute", "step");
  if (most_seeds (view->plan) > 1)
    g_string_append_printf (text, "\v  %-24s", "low to high");
  g_string_append_printf (text, "\v %9s\v %8s\v %10s\v %9s\v %9s\v  %s\n", "tokens/s", "of best", "exposed",
                          "memory", "sent", fab_points_limit_heading (has_limits (view->plan)));
  for (guint i = 0; i < view->plan->ranking->len; i++)
    if (i < view->top || is_best_of_strategy (view->plan, i))
      append_row (text, view, i, width);
    else
      n_hidden++;
  if (n_hidden > 0)
    g_string_append_printf (text, "       and %u more %s: --top %u, or --format csv\n", n_hidden,
                            fab_plural (n_hidden, "division", "divisions"), view->plan->ranking->len);
  if (most_seeds (view->plan) > 1)
    g_string_append_printf (text, "\n  = no significant difference from the best in %s", view->by->name);
  fab_spread_append_note (text, most_seeds (view->plan));
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
    g_string_append_printf (text, "       and for %u more %s: --format csv\n", n_lines - MOST_REASONS,
                            fab_plural (n_lines - MOST_REASONS, "reason", "reasons"));
}

/* Whether the second may be the first, for all that is known. */
static void
append_bands (GString *text, const FabPlanView *view)
{
  const FabPairedBand *second = &view->second;

  if (view->first == NULL)
    return;
  g_autofree char *low = fab_units_show (FAB_UNIT_TIME, round (view->first->low[0] * FAB_PS_PER_S)),
                  *high = fab_units_show (FAB_UNIT_TIME, round (view->first->high[0] * FAB_PS_PER_S)),
                  *about = fab_band_about (view->first, 0);
  g_string_append_printf (text, "\n  the step of the first is from %s to %s: %s", low, high, about);
  if (second->change.n > 0)
    g_string_append_printf (text, "; that of the second differs from it by %+.1f to %+.1f %%%s",
                            100 * second->low_fraction, 100 * second->high_fraction,
                            fab_paired_may_be_none (second) ? ", so either may be the faster one" : "");
  g_string_append_c (text, '\n');
}

static void
append_counts (GString *text, const FabPlan *plan)
{
  guint n_large = plan->n_weighed - plan->n_played - plan->n_slower;

  g_string_append_printf (text, "\n  %u %s: %u %s simulated", plan->candidates->len,
                          fab_plural (plan->candidates->len, "candidate", "candidates"), plan->n_played,
                          fab_plural (plan->n_played, "was", "were"));
  if (plan->n_slower > 0)
    g_string_append_printf (text, "; %u %s left when another batch was sure to be faster", plan->n_slower,
                            fab_plural (plan->n_slower, "was", "were"));
  g_string_append_printf (text, "; %u more %s not fit, by their memory\n", n_large,
                          fab_plural (n_large, "does", "do"));
}

/* Format the view. (transfer full) */
static char *
plan_text (const FabPlanView *view)
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
  append_bands (text, view);
  append_too_large (text, view);
  append_impossible (text, plan);
  append_counts (text, plan);
  if (plan->ranking->len > 0) {
    g_string_append (text, "\n  the first:\n");
    fab_cli_append_findings (text, ranked (plan, 0)->trial.point->verdict);
  }
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
  case FAB_CANDIDATE_SLOWER: return "slower";
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

/* Whether there is no more than its memory. */
static gboolean
is_unplayed (const FabCandidate *candidate)
{
  return candidate->state == FAB_CANDIDATE_TOO_LARGE || candidate->state == FAB_CANDIDATE_SLOWER;
}

static void
looked_init (Looked *self, const FabPlan *plan)
{
  self->labels = g_ptr_array_new_with_free_func (g_free);
  self->rows = g_array_new (FALSE, FALSE, sizeof (FabPointsRow));
  self->none = (FabTry){ .point = NULL };
  for (guint i = 0; i < plan->candidates->len; i++) {
    const FabCandidate *candidate = candidate_at (plan, i);
    FabPointsRow row = { NULL, is_unplayed (candidate) ? &self->none : &candidate->trial, NULL, NULL };

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
                      .n_rows = self->rows->len,
                      .hold = "batch" };
}

static char *
plan_csv (const FabPlanView *view)
{
  g_auto (Looked) looked;

  looked_init (&looked, view->plan);
  FabPoints points = points_of (&looked);
  g_autoptr (FabTable) table = fab_points_table (&points);
  return fab_table_to_csv (table);
}

static char *
plan_json (const FabPlanView *view)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_auto (Looked) looked;

  looked_init (&looked, view->plan);
  FabPoints points = points_of (&looked);
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", view->title);
  fab_json_add_text (json, "machine", view->machine);
  fab_json_add_text (json, "by", view->by->name);
  fab_json_add_text (json, "hold", points.hold);
  fab_json_add_real (json, "sequences_per_step", view->sequences);
  fab_json_add_whole (json, "memory_limit_bytes", (gint64) view->most_bytes);
  fab_json_add_whole (json, "candidates", view->plan->candidates->len);
  fab_json_add_whole (json, "played", view->plan->n_played);
  fab_points_add_json (json, "points", &points);
  if (view->first != NULL) {
    fab_json_begin_object (json, "first");
    fab_json_add_real (json, "step_low_s", view->first->low[0]);
    fab_json_add_real (json, "step_high_s", view->first->high[0]);
    fab_band_add_json (view->first, json);
    fab_json_end (json);
  }
  fab_json_end (json);
  return fab_json_finish (json);
}

typedef struct {
  char *format_name, *strategies, *by, *memory, *out, *seeds;
  char **sets;
  gboolean is_oversized_allowed;
  gint top;
  FabFormat format;
} PlanOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Simulates the scenario's model on its machine with every strategy that fits into memory, and ranks the\n"
      "strategies. The number of sequences per step stays the same. Each strategy has its best micro-batch, and\n"
      "recomputes activations where memory is short. Other keys of the scenario keep their values. Exit code 1:\n"
      "nothing fits.\n\n"
      "Strategies: ddp, zero1, zero2, zero3, zero3-hpz, fsdp, fsdp-grad-op; hsdp with shard groups of 2, 4, 8\n"
      "and more ranks; and megatron, which divides the model too: tensor within the NVLink domain, pipeline,\n"
      "context, and experts where the model has them.",
  .examples =
      "  fabricast plan scenarios/ddp-gpt2-xl-dgx-a100.yaml --set cluster.nodes=4\n"
      "  fabricast plan scenarios/zero3-13b-slow-fabric.yaml --strategies zero3,zero3-hpz,hsdp --memory 40GB\n"
      "  fabricast plan scenarios/ddp-2b-4nodes-200g.yaml --by exposed -o best.yaml\n",
  .min_rest = 1,
  .max_rest = 1,
};

static gboolean
write_best (const PlanOptions *o, const FabStudy *study, const FabPlan *plan, GError **error)
{
  const FabCandidate *best;

  if (o->out == NULL)
    return TRUE;
  if (plan->ranking->len == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "--out %s: nothing fits in memory", o->out);
  best = g_ptr_array_index (plan->ranking, 0);
  g_autofree char *name = plan_name (best);
  g_autofree char *why = g_strdup_printf ("%s as %s, which fabricast plan found best", study->path, name);
  return fab_best_write (study, best->edits, why, o->out, error);
}

static gboolean
fill_view (FabPlanView *view, const FabScenario *scenario, char **machine, GError **error)
{
  g_autoptr (FabPlant) plant = fab_plant_new (scenario, NULL, error);
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (scenario), cluster->node);

  if (plant == NULL)
    return FALSE;
  if (view->most_bytes == 0)
    view->most_bytes = plant->cluster.device.memory_bytes;
  *machine = g_strdup_printf ("%u x %s on %" G_GINT64_FORMAT " x %s", fab_cluster_n_ranks (&plant->cluster),
                              node->accelerator, cluster->nodes, cluster->node);
  view->machine = *machine;
  return TRUE;
}

static FabVariantOf
variant_of (const FabStudy *study, const FabPlan *plan, guint place)
{
  return (FabVariantOf){ study, ranked (plan, place)->edits, ranked (plan, place)->trial.point };
}

/* What is asked of the first of the ranking once it is known, each by plays of its own. */
typedef struct {
  const FabStudy *study;
  const FabPlan *plan;
  guint n_shown;
  FabBand *first;       /* of its step; NULL: there is none, or it cannot be had */
  FabPairedBand second; /* of the second's step against it; n 0: likewise */
} Closer;

static void
find_band (Closer *self)
{
  const FabFigure *const figures[] = { fab_figure_find ("step") };

  if (self->plan->ranking->len > 0)
    fab_study_band (self->study, ranked (self->plan, 0)->edits, ranked (self->plan, 0)->trial.point,
                    &(FabBandFigures){ figures, 1 }, &self->first, NULL);
}

static void
compare_second (Closer *self)
{
  if (self->plan->ranking->len < 2)
    return;
  const FabVariantOf first = variant_of (self->study, self->plan, 0),
                     second = variant_of (self->study, self->plan, 1);
  if (!fab_study_compare (&first, &second, &self->second, NULL))
    self->second = (FabPairedBand){ 0 };
}

/* Of the first unless it takes seconds for each lever, and of the others that are shown where that is quick. */
static void
find_bottlenecks (Closer *self)
{
  const guint64 most_events = 500000;
  guint n = MIN (self->plan->ranking->len, self->n_shown);
  g_autofree FabTry **tries = g_new (FabTry *, n + 1);

  for (guint i = 0; i < n; i++)
    tries[i] = &((FabCandidate *) g_ptr_array_index (self->plan->ranking, i))->trial;
  if (n > 0 && tries[0]->point->n_events <= most_events)
    fab_study_find_bottleneck (self->study, tries[0]->edits, tries[0]->point);
  fab_study_find_bottlenecks (self->study, tries, n);
}

static void
look_closer (gpointer data, guint item)
{
  void (*const parts[]) (Closer *) = { find_bottlenecks, find_band, compare_second };

  parts[item](data);
}

enum { N_PARTS = 3 };

static int
plan (const PlanOptions *o, const char *path, GError **error)
{
  typedef char *(*ToTextFn) (const FabPlanView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = plan_text, [FAB_FORMAT_JSON] = plan_json, [FAB_FORMAT_CSV] = plan_csv
  };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  FabPlanView view = { .by = catalog ? fab_best_figure (o->by, error) : NULL,
                       .top = (guint) MAX (o->top, 0) };
  g_autofree char *machine = NULL;

  if (view.by == NULL || !fab_best_memory (o->memory, &view.most_bytes, error))
    return -1;
  g_autoptr (FabStudy) study = fab_cli_study (path, o->sets, catalog, error);
  if (study == NULL || !fab_spread_parse (o->seeds, FAB_SPREAD_AUTO, &study->n_seeds, error))
    return -1;
  g_autoptr (FabProgress) progress = fab_progress_start ("points");
  study->pulse = fab_progress_pulse (progress);
  study->allows_oversized = o->is_oversized_allowed;
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);
  GPtrArray *candidates = scenario ? fab_strategy_candidates (scenario, o->strategies, &view.sequences, error)
                                   : NULL;
  g_autoptr (FabPlan) found = candidates ? fab_plan_find (study, candidates, view.by, view.most_bytes, error)
                                         : NULL;
  g_autofree char *title = found ? fab_best_title (study, error) : NULL;
  if (title == NULL || !fill_view (&view, scenario, &machine, error) || !write_best (o, study, found, error))
    return -1;
  view.title = title;
  view.plan = found;
  Closer closer = { .study = study, .plan = found, .n_shown = view.top };
  fab_thread_pool_run (study->n_threads, N_PARTS, look_closer, &closer);
  g_autoptr (FabBand) first = closer.first;
  view.first = first;
  view.second = closer.second;
  fab_progress_stop (progress);
  g_autofree char *text = printers[o->format](&view);
  fab_cli_print (o->format, text);
  return found->ranking->len > 0;
}

static FabExit
run (int argc, char **argv)
{
  PlanOptions o = { .top = 12 };
  const GOptionEntry entries[] = {
    { "strategies", 0, 0, G_OPTION_ARG_STRING, &o.strategies,
      "Strategies to try, separated by commas (default: all)", "NAMES" },
    { "memory", 0, 0, G_OPTION_ARG_STRING, &o.memory, "Memory that a GPU may use (default: all of it)",
      "BYTES" },
    { "by", 0, 0, G_OPTION_ARG_STRING, &o.by,
      "Figure to rank by: tokens (default), step, exposed, memory, mfu, ...", "FIGURE" },
    { "top", 0, 0, G_OPTION_ARG_INT, &o.top,
      "Number of rows of the ranking (default 12); the best of every strategy is always included", "N" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out, "Write the best one as a scenario", "FILE" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override any key of the scenario; repeatable",
      "KEY=VALUE" },
    { "seeds", 0, 0, G_OPTION_ARG_STRING, &o.seeds, FAB_SEEDS_AUTO_HELP, "N" },
    FAB_ALLOW_OVERSIZED_ENTRY (&o.is_oversized_allowed),
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json or csv", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  int fits = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error)
               ? plan (&o, argv[1], &error)
               : -1;
  char *texts[] = { o.format_name, o.strategies, o.by, o.memory, o.out, o.seeds };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_strfreev (o.sets);
  return fits < 0 ? fab_cli_fail ("plan", error) : fits ? FAB_EXIT_DONE : FAB_EXIT_UNMET;
}

const FabCommand fab_command_plan = {
  .name = "plan",
  .summary = "Rank the training strategies that fit into memory",
  .run = run,
};
