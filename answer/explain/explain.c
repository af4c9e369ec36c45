/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - the figures: each as a formula of the step's parts, and then those parts. */
#include "answer/explain/explain.h"

#include <math.h>
#include <string.h>

#include "answer/explain/parts.h"
#include "answer/memory_advice.h"
#include "sim/base/error.h"
#include "sim/base/units.h"
#include "sim/run/run.h"
#include "sim/study/study_bottleneck.h"

static void explain_memory (const Explain *self, guint depth);

void
fab_explanation_free (FabExplanation *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->statements);
  fab_verdict_free (self->verdict);
  g_free (self);
}

static void
free_statement (gpointer data)
{
  fab_statement_free (data);
}

static void
explain_clear (Explain *self)
{
  fab_point_free (self->point);
  fab_simulation_free (self->simulation);
  fab_scenario_free (self->scenario);
  fab_explanation_free (self->out);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Explain, explain_clear)

static gboolean
explain_init (Explain *self, const FabStudy *study, GError **error)
{
  *self = (Explain){ .study = study, .out = g_new0 (FabExplanation, 1) };
  self->out->statements = g_ptr_array_new_with_free_func (free_statement);
  self->scenario = fab_study_scenario (study, NULL, error);
  if (self->scenario != NULL)
    self->simulation = fab_scenario_run (self->scenario, study->registry, NULL, NULL, error);
  if (self->simulation == NULL)
    return FALSE;
  self->point = fab_point_of (self->scenario, self->simulation, study->registry, error);
  if (self->point == NULL)
    return FALSE;
  fab_study_find_bottleneck (study, NULL, self->point);
  self->out->verdict = fab_verdict_copy (self->point->verdict);
  fab_memory_advice_free (
      fab_advise_memory (self->scenario, self->simulation,
                         &(FabMemoryTrying){ study->registry, study->n_threads, study->cancel },
                         self->out->verdict));
  return TRUE;
}

/* --- for the other files --- */

FabStatement *
explain_add (const Explain *self, guint depth, const char *title, const char *name, FabTermKind kind,
             double value)
{
  FabStatement *statement = fab_statement_new (depth, title, name, kind, value);

  g_ptr_array_add (self->out->statements, statement);
  return statement;
}

const FabProbe *
explain_probe (const Explain *self)
{
  return fab_simulation_probe (self->simulation);
}

guint
explain_n_ranks (const Explain *self)
{
  const FabDag *dag = fab_simulation_dag (self->simulation);
  guint n = 0;

  for (guint c = 0; c < dag->n_classes; c++)
    n += dag->classes[c].n_ranks;
  return n;
}

/* --- figures --- */

static void
explain_step (const Explain *self, guint depth)
{
  const FabPoint *point = self->point;
  FabStatement *statement = explain_add (self, depth, "time of an iteration", "step", FAB_TERM_TIME,
                                         point->step_s);

  fab_statement_formula (statement, "compute + exposed + idle");
  fab_statement_term (statement, "compute", FAB_TERM_TIME, point->compute_s);
  fab_statement_term (statement, "exposed", FAB_TERM_TIME, point->exposed_s);
  fab_statement_term (statement, "idle", FAB_TERM_TIME, point->idle_s);
  fab_statement_note (statement,
                      "Means over %u %s, of the last iteration. exposed: communication during which a GPU "
                      "computes nothing. Communication hidden under compute adds no time.",
                      explain_n_ranks (self), fab_plural (explain_n_ranks (self), "GPU", "GPUs"));
  if (point->idle_s > 0)
    fab_statement_note (statement,
                        "idle: neither compute nor communication: waiting for other ranks (pipeline bubbles, "
                        "slow ranks), for data, for checkpoints.");
  if (point->waiting_s > 0) {
    g_autofree char *waiting = fab_term_show (FAB_TERM_TIME, point->waiting_s);

    fab_statement_note (statement, "For %s of it, a collective waits for its last rank.", waiting);
  }
  if (point->bottleneck != NULL) {
    g_autofree char *words = fab_bottleneck_words (point->bottleneck);

    fab_statement_note (statement, "%s", words);
  }
  if (point->binding != NULL) {
    const FabGraph *graph = fab_simulation_cluster (self->simulation)->graph;
    FabBinding binding = fab_binding_find (fab_simulation_probe (self->simulation), graph);
    g_autofree char *label = fab_link_class_label (fab_graph_link_class (graph, binding.link));

    fab_statement_note (statement, "The slowest link of %.0f %% of the exposed communication is %s (%s).",
                        100 * point->binding_fraction, point->binding, label);
  }
  explain_compute (self, depth + 1);
  explain_exposed (self, depth + 1);
}

static void
explain_exposed_share (const Explain *self)
{
  FabStatement *statement = explain_add (self, 0, "exposed communication, share of the step", "exposed_share",
                                         FAB_TERM_FRACTION, self->figure->value (self->point));

  fab_statement_formula (statement, "exposed / step");
  fab_statement_term (statement, "exposed", FAB_TERM_TIME, self->point->exposed_s);
  fab_statement_term (statement, "step", FAB_TERM_TIME, self->point->step_s);
  explain_exposed (self, 1);
}

static void
explain_exposed_time (const Explain *self)
{
  explain_exposed (self, 0);
}

/* A part of the step that is a figure: what it is called in a formula, and what it counts. */
typedef struct {
  const char *figure, *name, *note;
} Part;

static const Part parts[] = {
  { "exposed.inter_node", "inter_node",
    "The part of exposed time in collectives that send over NICs. When several of one dimension and "
    "operation overlap, they share the time equally." },
  { "exposed.intra_node", "intra_node",
    "The part of exposed time in collectives that stay within nodes. Nodes that share NVLink switches count "
    "as one." },
  { "idle", "idle", "Neither compute nor communication, mean over ranks." },
  { "waiting", "waiting",
    "The part of idle in which a collective of the rank waits for its last rank: for a slow rank, or between pipeline "
    "stages for the other stage. It is never exposed: communication begins when the last rank arrives." },
};

static void
explain_share (const Explain *self)
{
  const FabFigure *figure = self->figure;
  g_autofree char *title = g_strconcat (figure->name, ", share of the step", NULL);
  double share = figure->value (self->point);
  FabStatement *statement = explain_add (self, 0, title, "share", FAB_TERM_FRACTION, share);
  const char *dimension = g_str_has_prefix (figure->name, "exposed.") ? figure->name + strlen ("exposed.")
                                                                      : NULL;
  const char *name = dimension;

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (strcmp (parts[i].figure, figure->name) == 0) {
      name = parts[i].name;
      dimension = NULL;
      fab_statement_note (statement, "%s", parts[i].note);
    }
  g_autofree char *formula = g_strconcat (name, " / step", NULL);
  fab_statement_formula (statement, formula);
  fab_statement_term (statement, name, FAB_TERM_TIME, share * self->point->step_s);
  fab_statement_term (statement, "step", FAB_TERM_TIME, self->point->step_s);
  if (dimension != NULL)
    explain_dimension (self, 1, dimension, share * self->point->step_s);
  else
    explain_step (self, 1);
}

static void
explain_mfu (const Explain *self)
{
  const FabJobTotals *totals = fab_simulation_totals (self->simulation);
  FabStatement *statement = explain_add (self, 0, "model FLOPs utilisation", "mfu", FAB_TERM_FRACTION,
                                         self->point->mfu_fraction);

  fab_statement_formula (statement, "model_flops / (peak * step)");
  fab_statement_term (statement, "model_flops", FAB_TERM_FLOPS, totals->model_flops_per_rank);
  fab_statement_term (statement, "peak", FAB_TERM_FLOPS_RATE, explain_peak (self));
  fab_statement_term (statement, "step", FAB_TERM_TIME, self->point->step_s);
  fab_statement_note (statement,
                      "model_flops: the FLOPs that the model needs on one GPU, without recomputation.");
  explain_step (self, 1);
}

static void
explain_tokens (const Explain *self)
{
  FabStatement *statement = explain_add (self, 0, "tokens per second of the whole job", "tokens",
                                         FAB_TERM_NUMBER, self->point->tokens_per_s);

  fab_statement_formula (statement, "tokens_per_step / step");
  fab_statement_term (statement, "tokens_per_step", FAB_TERM_NUMBER,
                      fab_simulation_totals (self->simulation)->tokens);
  fab_statement_term (statement, "step", FAB_TERM_TIME, self->point->step_s);
  explain_step (self, 1);
}

static void
explain_train (const Explain *self)
{
  FabStatement *statement = explain_add (self, 0, "time of the whole training", "train", FAB_TERM_TIME,
                                         self->point->train_s);

  fab_statement_formula (statement, "train_tokens / tokens");
  fab_statement_term (statement, "train_tokens", FAB_TERM_NUMBER,
                      fab_simulation_totals (self->simulation)->train_tokens);
  fab_statement_term (statement, "tokens", FAB_TERM_NUMBER, self->point->tokens_per_s);
  fab_statement_note (statement, "Every iteration is as long as the last one, without pauses.");
  explain_step (self, 1);
}

static void
explain_memory_figure (const Explain *self)
{
  explain_memory (self, 0);
}

static void
explain_time (const Explain *self)
{
  explain_step (self, 0);
}

/* --- money --- */

static void
explain_hour (const Explain *self, guint depth)
{
  const FabSpending *spending = &self->point->spending;
  FabStatement *statement = explain_add (self, depth, "cost of an hour", "hour_cost", FAB_TERM_MONEY,
                                         spending->usd_per_hour);

  if (spending->bought_usd_per_hour <= 0) {
    fab_statement_note (statement, "Rented: GPUs x price per hour (cost.rent).");
    return;
  }
  fab_statement_formula (statement, "bought + energy");
  fab_statement_term (statement, "bought", FAB_TERM_MONEY, spending->bought_usd_per_hour);
  fab_statement_term (statement, "energy", FAB_TERM_MONEY, spending->energy_usd_per_hour);
  fab_statement_note (statement,
                      "bought: the job's share of the machine's price, divided by the hours of its years; "
                      "`fabricast cost` lists the parts.");
}

static void
explain_hour_cost (const Explain *self)
{
  explain_hour (self, 0);
}

static void
explain_step_cost (const Explain *self)
{
  FabStatement *statement = explain_add (self, 0, "cost of an iteration", "step_cost", FAB_TERM_MONEY,
                                         self->point->spending.usd_per_step);

  fab_statement_formula (statement, "hour_cost * step / hour");
  fab_statement_term (statement, "hour_cost", FAB_TERM_MONEY, self->point->spending.usd_per_hour);
  fab_statement_term (statement, "step", FAB_TERM_TIME, self->point->step_s);
  fab_statement_term (statement, "hour", FAB_TERM_TIME, 3600);
  explain_hour (self, 1);
  explain_step (self, 1);
}

static void
explain_token_cost (const Explain *self)
{
  FabStatement *statement = explain_add (self, 0, "cost of a million tokens", "token_cost", FAB_TERM_MONEY,
                                         self->point->spending.usd_per_million_tokens);

  fab_statement_formula (statement, "hour_cost * 1000000 / (3600 * tokens)");
  fab_statement_term (statement, "hour_cost", FAB_TERM_MONEY, self->point->spending.usd_per_hour);
  fab_statement_term (statement, "tokens", FAB_TERM_NUMBER, self->point->tokens_per_s);
  fab_statement_note (statement, "tokens: tokens of the whole job per second.");
  explain_hour (self, 1);
  explain_step (self, 1);
}

/* What is not here needs no explanation of a step: `fabricast cost`. */
static const struct {
  const char *figure;
  void (*explain) (const Explain *self);
} figures[] = {
  { "step", explain_time },
  { "exposed", explain_exposed_share },
  { "exposed_time", explain_exposed_time },
  { "exposed.data", explain_share },
  { "exposed.tensor", explain_share },
  { "exposed.context", explain_share },
  { "exposed.expert", explain_share },
  { "exposed.pipeline", explain_share },
  { "exposed.offload", explain_share },
  { "exposed.other", explain_share },
  { "exposed.inter_node", explain_share },
  { "exposed.intra_node", explain_share },
  { "idle", explain_share },
  { "waiting", explain_share },
  { "mfu", explain_mfu },
  { "tokens", explain_tokens },
  { "train", explain_train },
  { "memory", explain_memory_figure },
  { "hour_cost", explain_hour_cost },
  { "step_cost", explain_step_cost },
  { "token_cost", explain_token_cost },
};

FabExplanation *
fab_explain_figure (const FabStudy *study, const FabFigure *figure, GError **error)
{
  g_auto (Explain) self = { NULL };
  guint i = 0;

  while (i < G_N_ELEMENTS (figures) && strcmp (figures[i].figure, figure->name) != 0)
    i++;
  if (i == G_N_ELEMENTS (figures)) {
    g_autoptr (GString) names = g_string_new (NULL);

    for (i = 0; i < G_N_ELEMENTS (figures); i++)
      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", figures[i].figure);
    fab_throw (error, FAB_ERROR_INPUT, "'%s' cannot be explained; these figures can: %s", figure->name,
               names->str);
    return NULL;
  }
  if (!explain_init (&self, study, error))
    return NULL;
  if (figure->is_known != NULL && !figure->is_known (self.point)) {
    fab_throw (error, FAB_ERROR_INPUT, "there is no '%s' here: %s", figure->name, figure->unknown);
    return NULL;
  }
  self.figure = figure;
  figures[i].explain (&self);
  return g_steal_pointer (&self.out);
}

FabExplanation *
fab_explain_run (const FabStudy *study, GError **error)
{
  g_auto (Explain) self = { NULL };

  if (!explain_init (&self, study, error))
    return NULL;
  explain_shortcuts (&self);
  return g_steal_pointer (&self.out);
}

/* --- one collective --- */

static gboolean
find_collective (const Explain *self, const char *name, AlikeCollectives *found, GError **error)
{
  const GArray *collectives = explain_probe (self)->collectives;
  gboolean is_largest = g_ascii_strcasecmp (name, "largest") == 0;
  const FabCollectiveRecord *best = NULL;

  for (guint i = 0; i < collectives->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (collectives, FabCollectiveRecord, i);

    if (is_largest ? best != NULL && record->bytes <= best->bytes
                   : strcmp (record->name, name) != 0 || best != NULL)
      continue;
    best = record;
    *found = (AlikeCollectives){ i, 1, fab_ps_to_seconds (record->end_ps - record->start_ps),
                                 fab_ps_to_seconds (record->exposed_ps) };
  }
  if (best != NULL)
    return TRUE;
  if (collectives->len == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "the job has no collectives");
  best = &g_array_index (collectives, FabCollectiveRecord, collectives->len - 1);
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "no collective is called '%s'; the first is %s, the last %s: `fabricast query collectives`", name,
      g_array_index (collectives, FabCollectiveRecord, 0).name, best->name);
}

FabExplanation *
fab_explain_collective (const FabStudy *study, const char *name, GError **error)
{
  g_auto (Explain) self = { NULL };
  AlikeCollectives found;

  if (!explain_init (&self, study, error) || !find_collective (&self, name, &found, error))
    return NULL;
  explain_collective (&self, 0, &found);
  return g_steal_pointer (&self.out);
}

/* --- memory: that of the fullest GPU as the sum of what it keeps --- */

static guint
fullest_class (const Explain *self)
{
  const FabJobTotals *totals = fab_simulation_totals (self->simulation);
  guint fullest = 0;

  for (guint c = 1; c < fab_simulation_dag (self->simulation)->n_classes; c++)
    if (fab_job_totals_memory (totals, c) > fab_job_totals_memory (totals, fullest))
      fullest = c;
  return fullest;
}

static const char *
words_for (const char *part)
{
  static const struct {
    const char *part, *words;
  } all[] = {
    { "parameters",
      "count: of its pipeline stage, divided by tensor and expert parallelism; share: what sharding leaves." },
    { "optimizer", "count: parameters that are trained; share: what sharding leaves." },
    { "gradients", "Those that are there when the rank needs most." },
    { "activations",
      "What forward passes leave for backward (docs/models/memory.md). waiting: of other micro-batches that have "
      "begun; bytes_per_token: of the one whose backward pass runs, with what was recomputed." },
    { "logits",
      "The logits, and what the loss makes of them. count: tokens times vocabulary, of this rank." },
    { "temporaries", "These are gradients of activations in the layer at hand." },
    { "casts", "Casts of FP32 weights to 16 bits that autocast keeps until the backward pass." },
    { "buckets", "Gradients are copied into buckets before they are reduced." },
    { "gathered", "Parameters of other ranks, gathered for as long as they are needed." },
    { "dummies",
      "Transformer Engine adds gradients of weights to buffers itself, and hands a dummy of each size to autograd." },
    { "workspace", "What cuBLAS takes of PyTorch's memory for each of its handles." },
    { "streams",
      "Gradients and buckets that come later, in a pool of their own; what activations free cannot serve them." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (strcmp (all[i].part, part) == 0)
      return all[i].words;
  return NULL;
}

static void
explain_part (const Explain *self, guint depth, const FabMemoryPart *part)
{
  const FabMemoryFormula *formula = fab_job_totals_formula (fab_simulation_totals (self->simulation), part);
  FabStatement *statement = explain_add (self, depth, part->part, part->part, FAB_TERM_BYTES,
                                         (double) part->bytes);

  if (words_for (part->part) != NULL)
    fab_statement_note (statement, "%s", words_for (part->part));
  if (formula == NULL)
    return;
  fab_statement_formula (statement, formula->formula);
  for (guint i = 0; i < FAB_MEMORY_TERMS && formula->terms[i].name != NULL; i++)
    fab_statement_term (statement, formula->terms[i].name,
                        formula->terms[i].is_bytes ? FAB_TERM_BYTES : FAB_TERM_NUMBER,
                        formula->terms[i].value);
}

/* A job whose memory is known says what it keeps. */
static void
explain_memory (const Explain *self, guint depth)
{
  const FabJobTotals *totals = fab_simulation_totals (self->simulation);
  const FabDag *dag = fab_simulation_dag (self->simulation);
  guint fullest = fullest_class (self);
  FabStatement *statement = explain_add (self, depth, "memory of the fullest GPU", "memory", FAB_TERM_BYTES,
                                         (double) self->point->memory_bytes);
  g_autoptr (GString) formula = g_string_new (NULL);

  for (guint i = 0; i < totals->memory->len; i++) {
    const FabMemoryPart *part = &g_array_index (totals->memory, FabMemoryPart, i);

    if (part->rank_class != fullest)
      continue;
    g_string_append_printf (formula, "%s%s", formula->len > 0 ? " + " : "", part->part);
    fab_statement_term (statement, part->part, FAB_TERM_BYTES, (double) part->bytes);
  }
  fab_statement_formula (statement, formula->str);
  if (dag->n_classes > 1)
    fab_statement_note (statement, "The fullest is %s.", dag->classes[fullest].name);
  if (self->point->memory_max_bytes > 0) {
    g_autofree char *has = fab_term_show (FAB_TERM_BYTES, (double) self->point->memory_max_bytes);

    fab_statement_note (statement, "A GPU has %s: it %s.", has,
                        self->point->memory_bytes > self->point->memory_max_bytes ? "does not fit" : "fits");
  }
  for (guint i = 0; i < totals->memory->len; i++)
    if (g_array_index (totals->memory, FabMemoryPart, i).rank_class == fullest)
      explain_part (self, depth + 1, &g_array_index (totals->memory, FabMemoryPart, i));
}
