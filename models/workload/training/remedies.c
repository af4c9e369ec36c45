/* SPDX-License-Identifier: Apache-2.0 */
/* remedies.c - changes of a training job that may save memory: what sim/study/memory_advice.h tries.
 *
 * The model, its precision and the sequences of a step stay as they are. Costs are ranks: the lower, the less a step is
 * likely to lose. Sharding optimizer states moves no more bytes; smaller micro-batches and selective recomputation
 * cost a little; sharding parameters gathers them twice a step; full recomputation adds a third of the compute; every
 * division of the model adds communication to every layer or a bubble; host memory is slower than all of these.
 */
#include <string.h>

#include "models/models.h"
#include "models/workload/training/choices.h"
#include "models/workload/training/facts.h"

enum {
  COST_FLAG = 1,
  COST_SELECTIVE = 2,
  COST_MICRO_BATCH = 2,
  COST_FULL = 6,
  COST_TENSOR = 6,
  COST_CONTEXT = 7,
  COST_EXPERT = 7,
  COST_PIPELINE = 8,
  COST_LARGER = 14,
  COST_OTHER_KIND = 2, /* another framework */
};

enum { MOST_TENSOR_STEPS = 3, MOST_STAGES = 64, MOST_CONTEXT = 8, LONG_SEQUENCE = 16384, MOST_GPUS = 4096 };

/* On more GPUs it takes long to build what divides the model otherwise. Fewer divisions are tried, and only where
 * nothing fits without them. */
enum { MANY_GPUS = 4096 };

static gboolean
is_large (const JobFacts *facts)
{
  return facts->n_ranks > MANY_GPUS;
}

/* From one power of two to the next that is tried. */
static guint
stride (const JobFacts *facts)
{
  return is_large (facts) ? 2 : 1;
}

typedef struct {
  const JobFacts *facts;
  GPtrArray *remedies; /* FabRemedy */
} Remedies;

static void
remedy_free (gpointer data)
{
  fab_remedy_free (data);
}

static FabRemedy *
add (Remedies *self, const char *group, const char *family, guint cost, FabEdits *edits)
{
  FabRemedy *remedy = fab_remedy_new (group, family, cost, edits);

  g_ptr_array_add (self->remedies, remedy);
  return remedy;
}

static FabEdits *
edits_of_count (const char *key, gint64 count)
{
  FabEdits *edits = fab_edits_new ();

  fab_edits_set (edits, key, fab_value_count (count));
  return edits;
}

/* What the scenario has for a key of its job, as text; NULL: its kind has no such key. (transfer full) */
static char *
job_text (const Remedies *self, const char *key)
{
  g_autofree char *path = g_strconcat ("job.", key, NULL);
  g_autoptr (FabValue) value = NULL;

  if (!fab_scenario_get (self->facts->scenario, path, &value, NULL))
    return NULL;
  return fab_value_write (value);
}

/* --- strategies --- */

typedef struct {
  const char *family, *kind;
  FabStrategyKey keys[4]; /* ended by a row without key */
  gint64 stage;           /* of zero; 0: none */
  guint cost, n_changes;
  gboolean is_own; /* only where the job is of this kind */
} Way;

static const Way ways[] = {
  { "megatron", "megatron", { { "distributed_optimizer", "true" } }, 0, 0, 1, TRUE },
  { "zero", "zero", { { "stage", "1" } }, 1, 0, 1, FALSE },
  { "zero", "zero", { { "stage", "2" } }, 2, 1, 1, FALSE },
  { "fsdp", "fsdp", { { "sharding", "full" } }, 0, 4, 1, FALSE },
  { "zero", "zero", { { "stage", "3" } }, 3, 4, 1, FALSE },
  { "offload", "zero", { { "stage", "2" }, { "offload.optimizer", "cpu" } }, 2, 9, 2, FALSE },
  { "offload", "fsdp", { { "sharding", "full" }, { "cpu_offload", "true" } }, 0, 12, 2, FALSE },
  { "offload", "zero", { { "stage", "3" }, { "offload.optimizer", "cpu" } }, 3, 12, 2, FALSE },
  { "offload",
    "zero",
    { { "stage", "3" }, { "offload.optimizer", "cpu" }, { "offload.parameters", "cpu" } },
    3,
    13,
    2,
    FALSE },
};

/* Keys that keep some of the states from being sharded over all ranks, where a job has them. */
static const char *const limits[] = { "shard", "secondary" };

static const FabParam *
param_of (const FabModelInfo *info, const char *key)
{
  for (const FabParam *param = info->params; param->key != NULL; param++)
    if (strcmp (param->key, key) == 0)
      return param;
  return NULL;
}

/* Changes only those keys that the job has otherwise. NULL: it is this way already. (transfer full) */
static FabEdits *
own_edits (const Remedies *self, const Way *way)
{
  g_autoptr (FabEdits) edits = fab_edits_new ();

  for (const FabStrategyKey *key = way->keys; key->key != NULL; key++) {
    g_autofree char *path = g_strconcat ("job.", key->key, NULL), *has = job_text (self, key->key);

    if (strcmp (key->key, "stage") == 0 && has != NULL && g_ascii_strtoll (has, NULL, 10) > way->stage)
      return NULL;
    if (g_strcmp0 (has, key->value) != 0)
      fab_edits_set (edits, path, fab_value_written (key->value));
  }
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++) {
    const FabParam *param = param_of (self->facts->info, limits[i]);
    g_autofree char *path = g_strconcat ("job.", limits[i], NULL), *has = job_text (self, limits[i]);

    if (param != NULL && g_strcmp0 (has, param->fallback) != 0)
      fab_edits_set (edits, path, fab_value_written (param->fallback));
  }
  return fab_edits_count (edits) > 0 ? g_steal_pointer (&edits) : NULL;
}

/* Whether all that the scenario writes of its job are keys that jobs of every kind have. */
static gboolean
is_shared (const FabValue *written, const FabValue *shared)
{
  for (guint i = 0; i < written->keys->len; i++)
    if (fab_value_at (shared, g_ptr_array_index (written->keys, i)) == NULL)
      return FALSE;
  return TRUE;
}

/* A job of another kind: its kind alone, or all of it where the scenario writes keys that this kind does not have.
 * (transfer full) */
static FabEdits *
other_edits (const Remedies *self, const Way *way)
{
  const JobFacts *facts = self->facts;
  FabEdits *edits = fab_edits_new ();
  g_autoptr (FabValue) written = fab_scenario_written (facts->scenario, facts->info->params, facts->params,
                                                       NULL);
  g_autoptr (FabValue) job = fab_value_mapping ();

  fab_value_put (job, "kind", fab_value_text (way->kind));
  job_facts_put_shared (facts, way->kind, NULL, job);
  if (is_shared (written, job))
    fab_edits_set (edits, "job.kind", fab_value_text (way->kind));
  else
    fab_edits_set (edits, "job", g_steal_pointer (&job));
  for (const FabStrategyKey *key = way->keys; key->key != NULL; key++) {
    g_autofree char *path = g_strconcat ("job.", key->key, NULL);
    const FabModelInfo *info = fab_registry_find (&fab_models, FAB_MODEL_WORKLOAD, way->kind);
    const FabParam *param = param_of (info, key->key);

    if (param == NULL || g_strcmp0 (param->fallback, key->value) != 0)
      fab_edits_set (edits, path, fab_value_written (key->value));
  }
  return edits;
}

/* Sharding that changes counts as one, and so does what is offloaded. */
static guint
count_changes (const FabEdits *edits)
{
  guint n_offloads = 0;

  for (guint i = 0; i < fab_edits_count (edits); i++)
    n_offloads += strstr (fab_edits_at (edits, i)->key, "offload") != NULL;
  return (n_offloads > 0) + (n_offloads < fab_edits_count (edits));
}

static void
add_ways (Remedies *self)
{
  gboolean is_divided = self->facts->info == &fab_workload_megatron.info; /* its code divides the model */
  gboolean is_simple = self->facts->info == &fab_workload_ddp.info;

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    const Way *way = &ways[i];
    gboolean is_own = strcmp (way->kind, self->facts->info->name) == 0;
    gboolean is_near = is_own || (is_simple && way->stage == 0);
    FabEdits *edits;

    if ((way->is_own && !is_own) || (way->stage == 2 && !is_own && is_large (self->facts)))
      continue;
    edits = is_own ? own_edits (self, way) : other_edits (self, way);
    if (edits == NULL)
      continue;
    FabRemedy *remedy = add (self, "strategy", way->family, way->cost + (is_near ? 0 : COST_OTHER_KIND),
                             edits);
    remedy->n_changes = is_own ? count_changes (edits) : way->n_changes + is_divided;
    if (strcmp (way->family, "offload") == 0) {
      remedy->more = way->kind;
      remedy->note = "Whether the memory of the host holds what is offloaded was not checked.";
    }
  }
}

/* --- activations --- */

/* About half as large, and again, down to 1; each divides the one before, so that a step can keep its sequences. */
static void
add_micro_batches (Remedies *self)
{
  gint64 size = self->facts->params->micro_batch;

  for (guint step = 0; size > 1; step++) {
    gint64 next = size / 2;

    while (size % next != 0)
      next--;
    size = next;
    add (self, "micro_batch", "micro_batch", COST_MICRO_BATCH + step,
         edits_of_count ("job.micro_batch", size));
  }
}

static void
add_recompute (Remedies *self)
{
  static const guint costs[] = {
    [RECOMPUTE_NONE] = 0, [RECOMPUTE_SELECTIVE] = COST_SELECTIVE, [RECOMPUTE_FULL] = COST_FULL
  };

  for (guint kind = (guint) self->facts->params->recompute + 1; kind < N_TRIED_RECOMPUTES; kind++) {
    FabEdits *edits = fab_edits_new ();

    fab_edits_set (edits, "job.recompute", fab_value_text (recompute_kinds[kind]));
    add (self, "recompute", "recompute", costs[kind], edits);
  }
}

/* --- division of the model --- */

static gboolean
divides_ranks (const JobFacts *facts, gint64 tensor, gint64 context, gint64 pipeline)
{
  return facts->n_ranks % (tensor * context * pipeline) == 0;
}

static void
add_division (Remedies *self, const char *group, guint cost, FabEdits *edits)
{
  add (self, group, group, cost, edits)->is_slow = is_large (self->facts);
}

static void
add_sequence (Remedies *self)
{
  const ParallelParams *p = &self->facts->params->parallel;
  FabEdits *edits;

  if (p->tensor == 1 || p->is_sequence)
    return;
  edits = fab_edits_new ();
  fab_edits_set (edits, "job.parallel.sequence", fab_value_flag (TRUE));
  add (self, "tensor", "sequence", COST_FLAG, edits);
}

/* Inside the domain of the accelerators' own links, without and with sequence parallelism. */
static void
add_tensor (Remedies *self)
{
  const JobFacts *facts = self->facts;
  const ParallelParams *p = &facts->params->parallel;

  for (guint step = 1; step <= MOST_TENSOR_STEPS; step += stride (facts)) {
    gint64 tensor = p->tensor << step;

    if (tensor > facts->domain || facts->domain % tensor != 0
        || (facts->n_heads > 0 && facts->n_heads % tensor != 0)
        || !divides_ranks (facts, tensor, p->context, p->pipeline))
      return;
    if (p->is_sequence || !is_large (facts))
      add_division (self, "tensor", COST_TENSOR + 2 * step, edits_of_count ("job.parallel.tensor", tensor));
    if (p->is_sequence)
      continue;
    FabEdits *edits = edits_of_count ("job.parallel.tensor", tensor);
    fab_edits_set (edits, "job.parallel.sequence", fab_value_flag (TRUE));
    add_division (self, "tensor", COST_TENSOR + 2 * step + COST_FLAG, edits);
  }
}

static void
add_pipeline (Remedies *self)
{
  const JobFacts *facts = self->facts;
  const ParallelParams *p = &facts->params->parallel;

  for (guint step = 1; p->pipeline << step <= MIN (MAX (facts->n_blocks, 1), MOST_STAGES);
       step += stride (facts))
    if (divides_ranks (facts, p->tensor, p->context, p->pipeline << step))
      add_division (self, "pipeline", COST_PIPELINE + 2 * step,
                    edits_of_count ("job.parallel.pipeline", p->pipeline << step));
}

/* Ranks that share long sequences. */
static void
add_context (Remedies *self)
{
  const JobFacts *facts = self->facts;
  const ParallelParams *p = &facts->params->parallel;

  for (guint step = 1; facts->params->sequence >= LONG_SEQUENCE && p->context << step <= MOST_CONTEXT; step++)
    if (divides_ranks (facts, p->tensor, p->context << step, p->pipeline))
      add_division (self, "context", COST_CONTEXT + 2 * step,
                    edits_of_count ("job.parallel.context", p->context << step));
}

static void
add_experts (Remedies *self)
{
  const JobFacts *facts = self->facts;
  gint64 expert = facts->params->parallel.expert, data = job_facts_data_ranks (facts);

  for (guint step = 1; expert << step <= facts->n_experts; step++)
    if (facts->n_experts % (expert << step) == 0 && data % (expert << step) == 0)
      add_division (self, "expert", COST_EXPERT + 2 * step,
                    edits_of_count ("job.parallel.expert", expert << step));
}

/* --- more GPUs --- */

static void
add_larger (Remedies *self)
{
  const JobFacts *facts = self->facts;

  for (guint step = 1; step <= 4 && facts->n_ranks << step <= MAX (MOST_GPUS, 2 * facts->n_ranks); step++) {
    FabRemedy *remedy = add (self, "nodes", "nodes", COST_LARGER + step,
                             edits_of_count ("cluster.nodes", facts->n_nodes << step));

    remedy->is_larger = TRUE;
    remedy->is_slow = is_large (facts);
  }
}

GPtrArray *
fab_job_remedies (const FabScenario *scenario)
{
  JobFacts facts;
  Remedies self = { .facts = &facts };

  if (!job_facts_init (&facts, scenario, NULL))
    return NULL;
  self.remedies = g_ptr_array_new_with_free_func (remedy_free);
  add_ways (&self);
  add_micro_batches (&self);
  add_recompute (&self);
  add_sequence (&self);
  add_tensor (&self);
  add_pipeline (&self);
  add_context (&self);
  add_experts (&self);
  add_larger (&self);
  return self.remedies;
}
