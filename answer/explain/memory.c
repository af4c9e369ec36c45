/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - the memory of the fullest GPU as the sum of what it keeps. */
#include <string.h>

#include "answer/explain/parts.h"

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

/* A number of bytes of the job by its key; 0: it has no such key. */
static double
job_bytes (const Explain *self, const char *key)
{
  const FabModelChoice *job = &fab_scenario_spec (self->scenario)->job;

  for (const FabParam *row = job->info->params; row != NULL && row->key != NULL; row++)
    if (row->type == FAB_PARAM_BYTES && strcmp (row->key, key) == 0)
      return (double) *(const FabBytes *) (gconstpointer) ((const char *) job->params + row->offset);
  return 0;
}

/* Bytes per parameter of a whole copy; 0: the part is not one of parameters. */
static double
bytes_per_parameter (const Explain *self, const char *part)
{
  const FabJobTotals *totals = fab_simulation_totals (self->simulation);

  if (strcmp (part, "parameters") == 0)
    return (double) MAX (fab_precision_bytes (totals->precision), 2);
  if (strcmp (part, "gradients") == 0)
    return (double) totals->gradient_bytes / (double) totals->parameters;
  return strcmp (part, "optimizer") == 0 ? job_bytes (self, "optimizer_state") : 0;
}

static const char *
words_for (const char *part)
{
  static const struct {
    const char *part, *words;
  } all[] = {
    { "activations",
      "What layers keep for backward (Korthikanti et al. 2022, arXiv 2205.05198), times the tokens of a "
      "micro-batch, times the micro-batches that are alive at once. Recomputation keeps less." },
    { "buckets", "Gradients are copied into buckets before they are reduced." },
    { "gathered", "Parameters of other ranks, gathered while they are needed." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (strcmp (all[i].part, part) == 0)
      return all[i].words;
  return NULL;
}

static void
explain_part (const Explain *self, guint depth, const FabMemoryPart *part)
{
  const FabJobTotals *totals = fab_simulation_totals (self->simulation);
  double each = bytes_per_parameter (self, part->part), bytes = (double) part->bytes;
  FabStatement *statement = explain_add (self, depth, part->part, part->part, FAB_TERM_BYTES, bytes);

  if (words_for (part->part) != NULL)
    fab_statement_note (statement, "%s", words_for (part->part));
  if (each <= 0 || bytes <= 0 || totals->parameters == 0)
    return;
  double divided = each * (double) totals->parameters / bytes;
  fab_statement_formula (statement, "count * bytes_each / divided");
  fab_statement_term (statement, "count", FAB_TERM_NUMBER, (double) totals->parameters);
  fab_statement_term (statement, "bytes_each", FAB_TERM_BYTES, each);
  fab_statement_term (statement, "divided", FAB_TERM_NUMBER, divided);
  if (divided < 1.001)
    fab_statement_note (statement, "Every GPU keeps all of them.");
  else
    fab_statement_note (statement,
                        "divided: a GPU keeps one part in %.5g, by sharding and by dividing the model.",
                        divided);
}

void
explain_memory (const Explain *self, guint depth)
{
  const FabJobTotals *totals = fab_simulation_totals (self->simulation);
  const FabDag *dag = fab_simulation_dag (self->simulation);
  guint fullest = fullest_class (self);
  FabStatement *statement = explain_add (self, depth, "memory of the fullest GPU", "memory", FAB_TERM_BYTES,
                                         (double) self->point->memory_bytes);
  g_autoptr (GString) formula = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; totals->memory != NULL && i < totals->memory->len; i++) {
    const FabMemoryPart *part = &g_array_index (totals->memory, FabMemoryPart, i);

    if (part->rank_class != fullest)
      continue;
    g_string_append_printf (formula, "%s%s", n++ > 0 ? " + " : "", part->part);
    fab_statement_term (statement, part->part, FAB_TERM_BYTES, (double) part->bytes);
  }
  fab_statement_formula (statement, n > 0 ? formula->str : NULL);
  if (dag->n_classes > 1)
    fab_statement_note (statement, "The fullest is %s.", dag->classes[fullest].name);
  if (self->point->memory_max_bytes > 0) {
    g_autofree char *has = fab_term_show (FAB_TERM_BYTES, (double) self->point->memory_max_bytes);

    fab_statement_note (statement, "A GPU has %s: it %s.", has,
                        self->point->memory_bytes > self->point->memory_max_bytes ? "does not fit" : "fits");
  }
  for (guint i = 0; totals->memory != NULL && i < totals->memory->len; i++)
    if (g_array_index (totals->memory, FabMemoryPart, i).rank_class == fullest)
      explain_part (self, depth + 1, &g_array_index (totals->memory, FabMemoryPart, i));
}
