/* SPDX-License-Identifier: Apache-2.0 */
/* knobs.c - the keys of a training job that change its speed and not what it trains, and the values that are worth a
 * trial.
 *
 * The values are those that people use around the framework's default, and the one that the scenario has. A step
 * keeps its number of sequences: where micro-batches are larger there are fewer of them.
 */
#include <string.h>

#include "models/models.h"
#include "models/workload/training/choices.h"
#include "models/workload/training/facts.h"
#include "models/workload/training/pipeline.h"
#include "models/workload/training/zero_keys.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

enum { MOST_MICRO_BATCH = 64, MOST_VIRTUAL = 16 };

typedef struct {
  const char *name;
  const FabModelInfo *kind; /* the model of the job; NULL: every training job */
  gint64 stage;             /* of zero: 3: stage 3 only; -3: any other stage only; 0: no condition */
  const char *key;          /* of the job */
  const char *values;       /* ascending; NULL: they depend on the job and are computed */
  const char *source;
  gboolean is_usual; /* `tune` turns it when the user does not say which knobs to turn */
} KnobRow;

static const KnobRow rows[] = {
  { .name = "bucket",
    .kind = &fab_workload_ddp.info,
    .key = "bucket",
    .values = "1MiB,2MiB,5MiB,10MiB,25MiB,50MiB,100MiB,200MiB,400MiB",
    .source = "PyTorch DistributedDataParallel, bucket_cap_mb: 25",
    .is_usual = TRUE },
  { .name = "first_bucket",
    .kind = &fab_workload_ddp.info,
    .key = "first_bucket",
    .values = "256KiB,1MiB,4MiB,25MiB",
    .source = "PyTorch, _DEFAULT_FIRST_BUCKET_BYTES: 1 MiB" },
  { .name = "bucket",
    .kind = &fab_workload_zero.info,
    .key = "reduce_bucket",
    .values = "5e7,1e8,2e8,5e8,1e9,2e9",
    .source = "DeepSpeed zero_optimization, reduce_bucket_size: 5e8",
    .is_usual = TRUE },
  { .name = "gather_bucket",
    .kind = &fab_workload_zero.info,
    .stage = -3,
    .key = "allgather_bucket",
    .values = "5e7,1e8,2e8,5e8,1e9,2e9",
    .source = "DeepSpeed zero_optimization, allgather_bucket_size: 5e8" },
  { .name = "prefetch",
    .kind = &fab_workload_zero.info,
    .stage = 3,
    .key = "prefetch_bucket",
    .values = "0,1e7,2e7,5e7,1e8,2e8,5e8",
    .source = "DeepSpeed zero_optimization, stage3_prefetch_bucket_size: 5e7",
    .is_usual = TRUE },
  { .name = "max_live",
    .kind = &fab_workload_zero.info,
    .stage = 3,
    .key = "max_live",
    .values = "5e8,1e9,2e9,4e9",
    .source = "DeepSpeed zero_optimization, stage3_max_live_parameters: 1e9" },
  { .name = "persistence",
    .kind = &fab_workload_zero.info,
    .stage = 3,
    .key = "persistence_threshold",
    .values = "0,1e4,1e5,1e6,1e7",
    .source = "DeepSpeed zero_optimization, stage3_param_persistence_threshold: 1e5" },
  { .name = "prefetch",
    .kind = &fab_workload_fsdp.info,
    .key = "in_flight",
    .values = "1,2,3,4",
    .source = "PyTorch FSDP, limit_all_gathers: 2 units, fixed there",
    .is_usual = TRUE },
  { .name = "backward_prefetch",
    .kind = &fab_workload_fsdp.info,
    .key = "backward_prefetch",
    .values = "none,post,pre",
    .source = "PyTorch FSDP, backward_prefetch: BACKWARD_PRE" },
  { .name = "bucket",
    .kind = &fab_workload_megatron.info,
    .key = "bucket",
    .values = "0,1e7,2e7,4e7,8e7,16e7,32e7",
    .source = "Megatron-LM, --ddp-bucket-size: max (40e6, 1e6 x data-parallel ranks), which 0 stands for",
    .is_usual = TRUE },
  { .name = "virtual",
    .kind = &fab_workload_megatron.info,
    .key = "parallel.virtual",
    .source = "Megatron-LM, --num-layers-per-virtual-pipeline-stage: none" },
  { .name = "micro_batch",
    .key = "micro_batch",
    .source = "sequences per rank and micro-batch; the number of micro-batches follows, so that a step keeps "
              "its sequences",
    .is_usual = TRUE },
  { .name = "recompute",
    .key = "recompute",
    .values = "none,selective,full",
    .source = "activation checkpointing: none" },
};

static gboolean
has_row (const JobFacts *facts, const KnobRow *row)
{
  gint64 stage = row->stage != 0 ? ((const ZeroParams *) (gconstpointer) facts->params)->stage : 0;

  if (row->kind != NULL && row->kind != facts->info)
    return FALSE;
  if (strcmp (row->name, "virtual") == 0 && facts->params->parallel.pipeline == 1)
    return FALSE;
  return row->stage == 0 || (row->stage == 3) == (stage == 3);
}

/* --- values of a table --- */

static const FabParam *
find_param (const JobFacts *facts, const char *key)
{
  for (const FabParam *param = facts->info->params; param->key != NULL; param++)
    if (strcmp (param->key, key) == 0)
      return param;
  g_assert_not_reached ();
}

/* Takes the value; the label is what people call it. */
static void
add_value (FabKnob *knob, const KnobRow *row, const char *label, FabValue *value)
{
  g_autofree char *key = g_strconcat ("job.", row->key, NULL);
  FabEdits *edits = fab_edits_new ();

  fab_edits_set (edits, key, value);
  fab_knob_add (knob, g_strdup (label), edits);
}

static gint64
number_of (const FabParam *param, const char *text)
{
  gint64 number = 0;
  gboolean is_number = fab_units_parse_whole (fab_param_unit (param->type), text, &number, NULL);

  g_assert (is_number); /* the table is ours */
  return number;
}

static void
add_numbers (FabKnob *knob, const JobFacts *facts, const KnobRow *row, const FabParam *param)
{
  g_auto (GStrv) values = g_strsplit (row->values, ",", -1);
  gint64 has = *(const gint64 *) (gconstpointer) ((const char *) facts->params + param->offset);
  FabUnit unit = fab_param_unit (param->type);
  g_autofree char *own = fab_units_write_whole (unit, has);
  gboolean is_there = FALSE;

  for (guint i = 0; values[i] != NULL; i++) {
    gint64 number = number_of (param, values[i]);

    if (!is_there && number >= has) {
      knob->written = knob->values->len;
      is_there = TRUE;
      if (number > has)
        add_value (knob, row, own, fab_value_whole (unit, has));
    }
    add_value (knob, row, values[i], fab_value_whole (unit, number));
  }
  if (!is_there) {
    knob->written = knob->values->len;
    add_value (knob, row, own, fab_value_whole (unit, has));
  }
}

static void
add_choices (FabKnob *knob, const JobFacts *facts, const KnobRow *row, const FabParam *param)
{
  g_auto (GStrv) values = g_strsplit (row->values, ",", -1);
  const char
      *has = param->choices[*(const gint *) (gconstpointer) ((const char *) facts->params + param->offset)];

  for (guint i = 0; values[i] != NULL; i++) {
    if (strcmp (values[i], has) == 0)
      knob->written = knob->values->len;
    add_value (knob, row, values[i], fab_value_text (values[i]));
  }
}

/* --- values that are computed --- */

static void
add_micro_batches (FabKnob *knob, const JobFacts *facts)
{
  gint64 data = MAX (job_facts_data_ranks (facts), 1);
  g_autoptr (GArray) sizes = job_facts_micro_batches (facts, facts->global_batch / data, MOST_MICRO_BATCH, 1);

  for (guint i = 0; i < sizes->len; i++) {
    gint64 size = g_array_index (sizes, gint64, i);
    char *label = g_strdup_printf ("%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT, size,
                                   facts->global_batch / data / size);

    FabEdits *edits = fab_edits_new ();
    if (size == facts->params->micro_batch)
      knob->written = i;
    fab_edits_set (edits, "job.global_batch", fab_value_count (facts->global_batch));
    fab_edits_set (edits, "job.micro_batch", fab_value_count (size));
    fab_edits_set (edits, "job.accumulation", fab_value_count (1)); /* it follows from global_batch */
    fab_knob_add (knob, label, edits);
  }
}

/* One part per stage needs another schedule: the scenario's own if it has no parts, else the usual one. */
static void
add_virtual (FabKnob *knob, const JobFacts *facts)
{
  const ParallelParams *p = &facts->params->parallel;
  const PipelineSchedule *written = pipeline_schedule (p->schedule);
  const PipelineSchedule *plain = written->has_parts ? pipeline_schedule_usual () : written;

  for (gint64 n = 1; n == 1 || (n <= MOST_VIRTUAL && n * p->pipeline <= facts->n_blocks); n++) {
    const PipelineSchedule *schedule = n == 1 ? plain : pipeline_schedule_for_parts ();

    if (n == p->virtual_stages)
      knob->written = knob->values->len;
    else if (n > 1 && facts->n_blocks % (n * p->pipeline) != 0 && (n & (n - 1)) != 0)
      continue;
    FabEdits *edits = fab_edits_new ();
    fab_edits_set (edits, "job.parallel.virtual", fab_value_count (n));
    fab_edits_set (edits, "job.parallel.schedule", fab_value_text (schedule->name));
    fab_knob_add (knob, g_strdup_printf ("%" G_GINT64_FORMAT, n), edits);
  }
}

static FabKnob *
knob_of (const JobFacts *facts, const KnobRow *row)
{
  FabKnob *knob = fab_knob_new (row->name, row->key, row->source);

  if (strcmp (row->name, "micro_batch") == 0) {
    add_micro_batches (knob, facts);
  } else if (strcmp (row->name, "virtual") == 0) {
    add_virtual (knob, facts);
  } else {
    const FabParam *param = find_param (facts, row->key);

    (param->type == FAB_PARAM_CHOICE ? add_choices : add_numbers) (knob, facts, row, param);
  }
  return knob;
}

/* --- which --- */

static gboolean
check_name (const JobFacts *facts, const char *name, GError **error)
{
  g_autoptr (GString) known = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (!has_row (facts, &rows[i]))
      continue;
    if (strcmp (rows[i].name, name) == 0)
      return TRUE;
    g_string_append_printf (known, "%s%s", known->len > 0 ? ", " : "", rows[i].name);
  }
  g_autofree char *note = fab_nearest_note (name, known->str);
  return fab_throw (error, FAB_ERROR_INPUT, "this %s job has no knob '%s'%s; its knobs are %s",
                    facts->info->name, name, note, known->str);
}

static void
free_knob (gpointer data)
{
  fab_knob_free (data);
}

GPtrArray *
fab_job_knobs (const FabScenario *scenario, const char *names, GError **error)
{
  g_auto (GStrv) asked = g_strsplit (names ? names : "", ",", -1);
  g_autoptr (GPtrArray) knobs = g_ptr_array_new_with_free_func (free_knob);
  JobFacts facts;

  if (!job_facts_init (&facts, scenario, error))
    return NULL;
  for (guint i = 0; asked[i] != NULL; i++)
    if (!check_name (&facts, g_strstrip (asked[i]), error))
      return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (has_row (&facts, &rows[i])
        && (names == NULL ? rows[i].is_usual : g_strv_contains ((const char *const *) asked, rows[i].name)))
      g_ptr_array_add (knobs, knob_of (&facts, &rows[i]));
  return g_steal_pointer (&knobs);
}

const FabParam *
fab_job_knob_param (const char *kind, const char *knob)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabModelInfo *info = rows[i].kind;

    if (info == NULL || strcmp (info->name, kind) != 0 || strcmp (rows[i].name, knob) != 0)
      continue;
    for (const FabParam *param = info->params; param->key != NULL; param++)
      if (strcmp (param->key, rows[i].key) == 0)
        return param;
  }
  return NULL;
}
