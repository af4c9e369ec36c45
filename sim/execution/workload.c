/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/execution/workload.h"

#include <string.h>

void
fab_job_totals_add_memory (FabJobTotals *self, guint rank_class, const char *name, FabBytes bytes)
{
  FabMemoryPart part = { rank_class, name, bytes };

  if (self->memory == NULL)
    self->memory = g_array_new (FALSE, FALSE, sizeof (FabMemoryPart));
  g_array_append_val (self->memory, part);
}

void
fab_job_totals_add_formula (FabJobTotals *self, const FabMemoryFormula *formula)
{
  if (self->memory_formulas == NULL)
    self->memory_formulas = g_array_new (FALSE, FALSE, sizeof (FabMemoryFormula));
  g_array_append_val (self->memory_formulas, *formula);
}

const FabMemoryFormula *
fab_job_totals_formula (const FabJobTotals *self, const FabMemoryPart *part)
{
  for (guint i = 0; self->memory_formulas && i < self->memory_formulas->len; i++) {
    const FabMemoryFormula *formula = &g_array_index (self->memory_formulas, FabMemoryFormula, i);

    if (formula->rank_class == part->rank_class && strcmp (formula->part, part->part) == 0)
      return formula;
  }
  return NULL;
}

FabBytes
fab_job_totals_memory (const FabJobTotals *self, guint rank_class)
{
  FabBytes sum = 0;

  for (guint i = 0; self->memory && i < self->memory->len; i++) {
    const FabMemoryPart *part = &g_array_index (self->memory, FabMemoryPart, i);

    if (part->rank_class == rank_class)
      sum += part->bytes;
  }
  return sum;
}

void
fab_job_totals_clear (FabJobTotals *self)
{
  g_clear_pointer (&self->memory_formulas, g_array_unref);
  g_clear_pointer (&self->memory, g_array_unref);
  if (self->slowness_free != NULL)
    self->slowness_free (g_steal_pointer (&self->slowness_owner));
  self->slowness_free = NULL;
}
