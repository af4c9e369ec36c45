/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/divisions.h"

#include "models/workload/training/passes.h"
#include "models/workload/training/pipeline.h"

enum { MOST_STAGES = 64, MOST_CONTEXT = 8, LONG_SEQUENCE = 16384 };

static gboolean
is_power (gint64 n)
{
  return (n & (n - 1)) == 0;
}

/* --- what may be --- */

static gboolean
is_tensor (const JobFacts *facts, gint64 n)
{
  return is_power (n) && facts->domain % n == 0 && (facts->n_heads == 0 || facts->n_heads % n == 0);
}

static gboolean
is_pipeline (const JobFacts *facts, gint64 n)
{
  return n <= MAX (facts->n_blocks, 1) && (is_power (n) || facts->n_blocks % n == 0);
}

static gint64
most_context (const JobFacts *facts)
{
  gint64 written = facts->params->parallel.context;

  return facts->params->sequence >= LONG_SEQUENCE ? MAX (written, MOST_CONTEXT) : written;
}

/* The largest number of ranks, at most `most`, that can share the experts evenly; 1: there are no experts, or none. */
static gint64
most_experts (const JobFacts *facts, const Division *division, gint64 most)
{
  gint64 data = facts->n_ranks / (division->tensor * division->context * division->pipeline);

  for (gint64 n = MIN (facts->n_experts, most); n > 1; n--)
    if (facts->n_experts % n == 0 && data % n == 0)
      return n;
  return 1;
}

/* --- lists --- */

static void
add_schedules (GArray *divisions, const JobFacts *facts, Division *division)
{
  const ParallelParams *p = &facts->params->parallel;
  const PipelineSchedule *written = pipeline_schedule (p->schedule);

  division->schedule = division->pipeline > 1 ? pipeline_schedule_usual () : NULL;
  g_array_append_val (divisions, *division);
  if (division->pipeline == 1 || written->is_usual
      || (written->has_parts && division->pipeline * p->virtual_stages > facts->n_blocks))
    return;
  division->schedule = written;
  g_array_append_val (divisions, *division);
}

static void
add_experts (GArray *divisions, const JobFacts *facts, Division *division)
{
  gint64 near = most_experts (facts, division, facts->domain / (division->tensor * division->context));
  gint64 most = most_experts (facts, division, facts->n_experts);
  const gint64 sizes[] = { 1, near, most };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    division->expert = sizes[i];
    if (i == 0 || sizes[i] > sizes[i - 1])
      add_schedules (divisions, facts, division);
  }
}

GArray *
division_list (const JobFacts *facts)
{
  GArray *divisions = g_array_new (FALSE, FALSE, sizeof (Division));

  for (gint64 tensor = 1; tensor <= facts->domain; tensor++)
    for (gint64 context = 1; is_tensor (facts, tensor) && context <= most_context (facts); context *= 2)
      for (gint64 pipeline = 1; pipeline <= MOST_STAGES; pipeline++) {
        Division division = { tensor, context, pipeline, 1, NULL };

        if (tensor * context * pipeline > 1 && !facts->has_activations)
          continue;
        if (is_pipeline (facts, pipeline) && facts->n_ranks % (tensor * context * pipeline) == 0)
          add_experts (divisions, facts, &division);
      }
  return divisions;
}

gboolean
division_is_interleaved (const Division *self)
{
  return self->schedule != NULL && self->schedule->has_parts;
}

/* --- as text --- */

static void
append_size (GString *name, const char *axis, gint64 n)
{
  if (n > 1)
    g_string_append_printf (name, "%s%s %" G_GINT64_FORMAT, name->len > 0 ? ", " : "", axis, n);
}

char *
division_name (const Division *self)
{
  GString *name = g_string_new (NULL);

  append_size (name, "tensor", self->tensor);
  append_size (name, "context", self->context);
  append_size (name, "expert", self->expert);
  append_size (name, "pipeline", self->pipeline);
  if (self->schedule != NULL && !self->schedule->is_usual)
    g_string_append_printf (name, " %s", self->schedule->name);
  if (name->len == 0)
    g_string_append_c (name, '-');
  return g_string_free (name, FALSE);
}

FabValue *
division_value (const Division *self, const JobFacts *facts)
{
  const ParallelParams *p = &facts->params->parallel;
  FabValue *value = fab_value_mapping ();

  fab_value_put (value, "tensor", fab_value_count (self->tensor));
  fab_value_put (value, "sequence", fab_value_flag (self->tensor > 1));
  fab_value_put (value, "context", fab_value_count (self->context));
  fab_value_put (value, "context_kind", fab_value_text (context_kinds[p->context_kind]));
  fab_value_put (value, "expert", fab_value_count (self->expert));
  fab_value_put (value, "pipeline", fab_value_count (self->pipeline));
  if (self->schedule != NULL) {
    fab_value_put (value, "schedule", fab_value_text (self->schedule->name));
    fab_value_put (value, "overlap_p2p", fab_value_flag (p->overlaps_p2p));
    if (division_is_interleaved (self))
      fab_value_put (value, "virtual", fab_value_count (p->virtual_stages));
  }
  fab_value_put (value, "order", fab_value_text (p->order));
  return value;
}
