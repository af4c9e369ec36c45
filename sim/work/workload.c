/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/workload.h"

void
fab_job_totals_add_memory (FabJobTotals *self, const FabMemoryPart *part)
{
  if (self->memory == NULL)
    self->memory = g_array_new (FALSE, FALSE, sizeof (FabMemoryPart));
  g_array_append_vals (self->memory, part, 1);
}

void
fab_job_totals_clear (FabJobTotals *self)
{
  g_clear_pointer (&self->memory, g_array_unref);
}
