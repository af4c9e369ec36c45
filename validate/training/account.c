/* SPDX-License-Identifier: Apache-2.0 */
/* account.c - the errors of a report, summed up by source, strategy, division of the model and generation. */
#include <string.h>

#include "validate/training/report_parts.h"

/* Whether a row counts in something. */
typedef gboolean (*PickFn) (const FabTrainingComparison *row, gconstpointer what);

typedef struct {
  const FabTrainingResult *const *results;
  guint n_results;
  PickFn pick; /* NULL: every row */
  gconstpointer what;
} Scope;

static gboolean
counts (const Scope *self, const FabTrainingComparison *row)
{
  return self->pick == NULL || self->pick (row, self->what);
}

/* --- errors --- */

typedef struct {
  GArray *errors, *places; /* double, FabBytes */
} List;

static void
list_clear (List *self)
{
  g_array_unref (self->errors);
  g_array_unref (self->places);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (List, list_clear)

static List
list_new (void)
{
  return (List){ g_array_new (FALSE, FALSE, sizeof (double)), g_array_new (FALSE, FALSE, sizeof (FabBytes)) };
}

static void
list_add (List *self, double error, guint gpus)
{
  FabBytes place = gpus;

  g_array_append_val (self->errors, error);
  g_array_append_val (self->places, place);
}

static FabErrors
list_errors (const List *self)
{
  return fab_errors_of ((const double *) (gpointer) self->errors->data,
                        (const FabBytes *) (gpointer) self->places->data, self->errors->len);
}

/* Of the anchored predictions of rows with a role on at least so many GPUs. */
static FabErrors
anchored_errors (const Scope *scope, FabRunRole role, guint least_gpus)
{
  g_auto (List) list = list_new ();

  for (guint r = 0; r < scope->n_results; r++)
    for (guint i = 0; i < scope->results[r]->rows->len; i++) {
      const FabTrainingComparison *row = fab_training_row_of (scope->results[r], i);

      if (row->role == role && row->measured->gpus >= least_gpus && counts (scope, row))
        list_add (&list, row->error_fraction, row->measured->gpus);
    }
  return list_errors (&list);
}

/* Of rows that are not doubtful, whether their memory is full or not: a planner does not know. */
static FabBlindErrors
blind_errors (const Scope *scope, gboolean is_calibration)
{
  g_auto (List) list = list_new ();
  FabBlindErrors self = { .n_inside = 0 };

  for (guint r = 0; r < scope->n_results; r++)
    for (guint i = 0; i < scope->results[r]->rows->len; i++) {
      const FabTrainingComparison *row = fab_training_row_of (scope->results[r], i);

      if (!row->blind.is_predicted || row->measured->doubtful || row->role == FAB_RUN_SKIPPED
          || row->is_calibration != is_calibration || !counts (scope, row))
        continue;
      list_add (&list, row->blind.error_fraction, row->measured->gpus);
      self.n_inside += row->blind.is_inside;
    }
  self.errors = list_errors (&list);
  return self;
}

static FabTrainingAccount
account_of (const Scope *scope, const char *name)
{
  return (FabTrainingAccount){ name, anchored_errors (scope, FAB_RUN_JUDGED, 0), blind_errors (scope, TRUE),
                               blind_errors (scope, FALSE) };
}

/* --- what rows are summed up by --- */

static gboolean
has_strategy (const FabTrainingComparison *row, gconstpointer name)
{
  return strcmp (row->measured->strategy, name) == 0;
}

static gboolean
has_generation (const FabTrainingComparison *row, gconstpointer name)
{
  return g_strcmp0 (row->traits.generation, name) == 0;
}

static gboolean
is_divided (const FabTrainingComparison *row, gconstpointer name)
{
  const FabTrainingTraits *traits = &row->traits;

  if (strcmp (name, "TP") == 0)
    return traits->tensor > 1;
  if (strcmp (name, "PP") == 0)
    return traits->pipeline > 1;
  if (strcmp (name, "EP") == 0)
    return traits->expert > 1;
  if (strcmp (name, "CP") == 0)
    return traits->context > 1;
  return traits->tensor <= 1 && traits->pipeline <= 1 && traits->expert <= 1 && traits->context <= 1;
}

/* Cases that are hard to predict: shards so small that latency and the host matter, low precisions, experts. */
static gboolean
is_case (const FabTrainingComparison *row, gconstpointer name)
{
  enum { MANY_RANKS = 8, FEW_SEQUENCES = 2 };
  const FabTrainingTraits *traits = &row->traits;
  gboolean is_few = traits->micro_batch <= FEW_SEQUENCES;

  if (strcmp (name, "TP 8 and more") == 0)
    return traits->tensor >= MANY_RANKS;
  if (strcmp (name, "TP 8 and more, 1-2 seqs") == 0)
    return traits->tensor >= MANY_RANKS && is_few;
  if (strcmp (name, "TP whole seqs, 1-2 seqs") == 0)
    return traits->tensor > 1 && !traits->is_sequence && is_few;
  if (strcmp (name, "FP8") == 0)
    return g_strcmp0 (traits->precision, "fp8") == 0 || g_strcmp0 (traits->precision, "mxfp8") == 0;
  if (strcmp (name, "FP4") == 0)
    return g_strcmp0 (traits->precision, "nvfp4") == 0;
  return traits->expert > 1;
}

static gboolean
has_account (const GArray *accounts, const char *name)
{
  for (guint i = 0; i < accounts->len; i++)
    if (strcmp (g_array_index (accounts, FabTrainingAccount, i).name, name) == 0)
      return TRUE;
  return FALSE;
}

static gint
compare_accounts (gconstpointer a, gconstpointer b)
{
  return strcmp (((const FabTrainingAccount *) a)->name, ((const FabTrainingAccount *) b)->name);
}

static void
add_account (GArray *accounts, Scope scope, PickFn pick, const char *name)
{
  scope.pick = pick;
  scope.what = name;
  FabTrainingAccount account = account_of (&scope, name);
  g_array_append_val (accounts, account);
}

static void
add_accounts (FabTrainingReport *self, const Scope *all)
{
  static const char *const divisions[] = { "DP", "TP", "PP", "EP", "CP" };
  static const char *const cases[] = {
    "TP 8 and more", "TP 8 and more, 1-2 seqs", "TP whole seqs, 1-2 seqs", "FP8", "FP4", "experts divided"
  };

  for (guint r = 0; r < all->n_results; r++)
    for (guint i = 0; i < all->results[r]->rows->len; i++) {
      const FabTrainingComparison *row = fab_training_row_of (all->results[r], i);

      if (!has_account (self->strategies, row->measured->strategy))
        add_account (self->strategies, *all, has_strategy, row->measured->strategy);
      if (row->traits.generation != NULL && !has_account (self->generations, row->traits.generation))
        add_account (self->generations, *all, has_generation, row->traits.generation);
    }
  for (guint i = 0; i < G_N_ELEMENTS (divisions); i++)
    add_account (self->divisions, *all, is_divided, divisions[i]);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    add_account (self->cases, *all, is_case, cases[i]);
  g_array_sort (self->generations, compare_accounts);
}

/* --- report --- */

static void
summarise_result (FabTrainingReport *self, FabTrainingResult *result)
{
  const Scope scope = { (const FabTrainingResult *const *) &result, 1, NULL, NULL };

  result->errors = anchored_errors (&scope, FAB_RUN_JUDGED, 0);
  result->one_node_errors = anchored_errors (&scope, FAB_RUN_ONE_NODE, 0);
  result->across_errors = anchored_errors (&scope, FAB_RUN_LAYOUT_ANCHOR, 0);
  result->blind_calibration = blind_errors (&scope, TRUE);
  result->blind_judged = blind_errors (&scope, FALSE);
  self->directions.n_right += result->directions.n_right;
  self->directions.n_wrong += result->directions.n_wrong;
  self->directions.n_small += result->directions.n_small;
  self->directions.n_odd += result->directions.n_odd;
  self->n_skipped += result->n_skipped;
  for (guint i = 0; i < result->rows->len; i++)
    self->n_unanchored += fab_training_row_of (result, i)->role == FAB_RUN_UNANCHORED;
}

void
fab_training_summarise (FabTrainingReport *self)
{
  const guint more_than = 257;
  const Scope all = { (const FabTrainingResult *const *) self->results->pdata, self->results->len, NULL,
                      NULL };

  for (guint i = 0; i < self->results->len; i++)
    summarise_result (self, g_ptr_array_index (self->results, i));
  self->errors = anchored_errors (&all, FAB_RUN_JUDGED, 0);
  self->large_errors = anchored_errors (&all, FAB_RUN_JUDGED, more_than);
  self->across_errors = anchored_errors (&all, FAB_RUN_LAYOUT_ANCHOR, 0);
  self->blind_calibration = blind_errors (&all, TRUE);
  self->blind_judged = blind_errors (&all, FALSE);
  add_accounts (self, &all);
}
