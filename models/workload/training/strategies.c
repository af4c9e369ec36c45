/* SPDX-License-Identifier: Apache-2.0 */
/* strategies.c - all strategies, and all ways of training the scenario's model on its machine with its global batch.
 *
 * A candidate is a strategy with a division of the model, a size of micro-batches and a kind of recomputation. It
 * keeps those keys of the scenario's job that all training jobs share. Strategies that divide the model are tried with
 * every division of strategies.c, and all strategies with micro-batches from one sequence on. Recomputation comes in
 * the order none, selective, full: more of it needs less memory.
 */
#include <string.h>

#include "models/models.h"
#include "models/workload/training/choices.h"
#include "models/workload/training/facts.h"
#include "models/workload/training/pipeline.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

typedef struct {
  gint64 tensor, context, pipeline, expert;
  const PipelineSchedule *schedule; /* NULL: there are no stages */
} Division;

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

/* The largest number of ranks, at most `most`, that can share the experts evenly; 1: there are no experts, or
 * none. */
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
  guint n_stages = (guint) division->pipeline;

  division->schedule = division->pipeline > 1 ? pipeline_schedule_usual () : NULL;
  g_array_append_val (divisions, *division);
  if (division->pipeline == 1 || written->is_usual
      || pipeline_n_parts (written, n_stages, (guint) p->virtual_stages) > facts->n_blocks
      || (written->place == PLACE_BOTH_WAYS && n_stages % 2 != 0))
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

/* Division. (transfer full) */
static GArray *
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

static gboolean
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

/* For a person: "tensor 8, pipeline 4"; "-": the model is not divided. (transfer full) */
static char *
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

/* The value of the job's `parallel`: {tensor: 8, sequence: true, ...}. (transfer full) */
static FabValue *
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
    if (p->balance != BALANCE_EVEN)
      fab_value_put (value, "balance", fab_value_text (balance_kinds[p->balance]));
    if (division_is_interleaved (self))
      fab_value_put (value, "virtual", fab_value_count (p->virtual_stages));
  }
  fab_value_put (value, "order", fab_value_text (p->order));
  return value;
}

/* The largest numbers of sequences in a micro-batch that are tried. */
enum { MOST_MICRO_BATCH = 64, MOST_MICRO_BATCH_DIVIDED = 8 };

static const FabStrategyKey stage1[] = { { "stage", "1" }, { NULL, NULL } };
static const FabStrategyKey stage2[] = { { "stage", "2" }, { NULL, NULL } };
static const FabStrategyKey stage3[] = { { "stage", "3" }, { NULL, NULL } };
static const FabStrategyKey full[] = { { "sharding", "full" }, { NULL, NULL } };
static const FabStrategyKey grad_op[] = { { "sharding", "grad_op" }, { NULL, NULL } };
static const FabStrategyKey hybrid[] = { { "sharding", "hybrid" }, { NULL, NULL } };
static const FabStrategyKey overlapped[] = { { "distributed_optimizer", "true" },
                                             { "overlap_grad_reduce", "true" },
                                             { "overlap_param_gather", "true" },
                                             { NULL, NULL } };

static const char *const no_stage3[] = {
  "stage", "secondary", "shard", "quantized_weights", "quantized_gradients", "offload", NULL
};

static const char *const no_groups[] = { "stage", "secondary", "shard", NULL };
static const char *const no_sharding[] = { "sharding", "shard", NULL };
static const char *const no_optimizer[] = { "distributed_optimizer", "overlap_grad_reduce",
                                            "overlap_param_gather", NULL };

const FabStrategy fab_strategies[] = {
  { .name = "ddp",
    .summary = "PyTorch DDP: every rank keeps all parameters, gradients and optimizer states",
    .kind = "ddp",
    .is_basic = TRUE },
  { .name = "zero1",
    .summary = "DeepSpeed ZeRO-1: optimizer states sharded",
    .kind = "zero",
    .keys = stage1,
    .but = no_stage3,
    .is_basic = TRUE },
  { .name = "zero2",
    .summary = "DeepSpeed ZeRO-2: optimizer states and gradients sharded",
    .kind = "zero",
    .keys = stage2,
    .but = no_stage3,
    .is_basic = TRUE },
  { .name = "zero3",
    .summary = "DeepSpeed ZeRO-3: optimizer states, gradients and parameters sharded",
    .kind = "zero",
    .keys = stage3,
    .but = no_groups,
    .is_basic = TRUE },
  { .name = "zero3-hpz",
    .summary = "ZeRO-3 with a second copy in every node (ZeRO++ hpZ)",
    .kind = "zero",
    .keys = stage3,
    .node_key = "secondary",
    .but = no_groups,
    .needs_nodes = TRUE },
  { .name = "fsdp",
    .summary = "PyTorch FSDP: optimizer states, gradients and parameters sharded",
    .kind = "fsdp",
    .keys = full,
    .but = no_sharding,
    .is_basic = TRUE },
  { .name = "fsdp-grad-op",
    .summary = "FSDP, parameters whole from forward to backward (SHARD_GRAD_OP)",
    .kind = "fsdp",
    .keys = grad_op,
    .but = no_sharding },
  { .name = "hsdp",
    .summary = "FSDP inside groups of ranks, which hold copies of each other (HYBRID_SHARD)",
    .kind = "fsdp",
    .keys = hybrid,
    .shard_key = "shard",
    .but = no_sharding },
  { .name = "megatron",
    .summary = "Megatron-LM: model divided over ranks, distributed optimizer, gather and reduction "
               "overlapped",
    .kind = "megatron",
    .keys = overlapped,
    .but = no_optimizer,
    .is_divided = TRUE,
    .is_basic = TRUE },
  { .name = NULL },
};

/* --- one candidate --- */

typedef struct {
  const JobFacts *facts;
  GPtrArray *candidates;
  guint n_families;
} Space;

gboolean
fab_strategy_must_write (const FabStrategy *strategy, const FabStrategyKey *key)
{
  const FabModelInfo *info = fab_registry_find (&fab_models, FAB_MODEL_WORKLOAD, strategy->kind);

  for (const FabParam *param = info->params; param->key != NULL; param++)
    if (strcmp (param->key, key->key) == 0)
      return g_strcmp0 (param->fallback, key->value) != 0;
  g_assert_not_reached ();
}

/* The whole job: {kind: zero, stage: 3, model: ...}. `shard`: ranks of a shard group; 0: the strategy has none.
 * (transfer full) */
static FabValue *
job_value (const JobFacts *facts, const FabStrategy *strategy, gint64 shard)
{
  static const char *const chosen[] = { "micro_batch", "accumulation", "global_batch",
                                        "recompute",   "parallel",     NULL };
  g_autoptr (GPtrArray) but = g_ptr_array_new ();
  FabValue *job = fab_value_mapping ();

  for (guint i = 0; chosen[i] != NULL; i++)
    g_ptr_array_add (but, (gpointer) chosen[i]);
  for (guint i = 0; strategy->but != NULL && strategy->but[i] != NULL; i++)
    g_ptr_array_add (but, (gpointer) strategy->but[i]);
  g_ptr_array_add (but, NULL);
  fab_value_put (job, "kind", fab_value_text (strategy->kind));
  for (const FabStrategyKey *key = strategy->keys; key != NULL && key->key != NULL; key++)
    fab_value_put (job, key->key, fab_value_written (key->value));
  if (strategy->node_key != NULL)
    fab_value_put (job, strategy->node_key, fab_value_count (facts->per_node));
  if (shard > 0)
    fab_value_put (job, strategy->shard_key, fab_value_count (shard));
  job_facts_put_shared (facts, strategy->kind, (const char *const *) but->pdata, job);
  return job;
}

static void
add_candidate (Space *self, FabCandidate *candidate, const char *division)
{
  candidate->division = g_strdup (division);
  g_ptr_array_add (self->candidates, candidate);
}

static void
add_impossible (Space *self, const FabStrategy *strategy, const char *division, char *problem)
{
  FabCandidate *candidate = fab_candidate_new (strategy->name, self->n_families++, 0);

  candidate->batch = g_strdup ("-");
  candidate->trial.problem = problem;
  candidate->state = FAB_CANDIDATE_IMPOSSIBLE;
  add_candidate (self, candidate, division);
}

/* --- a strategy with a division --- */

/* Sizes of a micro-batch (gint64) of which the schedule can do as many as there are. (transfer full) */
static GArray *
possible_sizes (const JobFacts *facts, const Division *division, gint64 most, gint64 round)
{
  gint64 data = facts->n_ranks / (division->tensor * division->context * division->pipeline);
  gint64 per_rank = facts->global_batch / data;
  GArray *sizes = job_facts_micro_batches (facts, per_rank, most, round);

  for (guint i = sizes->len; division->schedule != NULL && i-- > 0;) {
    guint n_micro = (guint) MIN (per_rank / g_array_index (sizes, gint64, i), G_MAXUINT);
    g_autofree char *problem = pipeline_problem (division->schedule, (guint) division->pipeline, n_micro);

    if (problem != NULL)
      g_array_remove_index (sizes, i);
  }
  return sizes;
}

/* (transfer full) */
static char *
why_no_size (const Division *division)
{
  const PipelineSchedule *schedule = division->schedule;

  if (schedule->least == 0)
    return g_strdup_printf ("schedule %s needs micro-batches in multiples of the stages", schedule->name);
  return g_strdup_printf ("schedule %s needs at least %u micro-batches%s", schedule->name,
                          schedule->least * (guint) division->pipeline,
                          schedule->place == PLACE_BOTH_WAYS ? ", an even number of them" : "");
}

static void
add_batches (Space *self, const FabStrategy *strategy, const Division *division, gint64 shard,
             const char *name)
{
  const JobFacts *facts = self->facts;
  gint64 data = facts->n_ranks / (division->tensor * division->context * division->pipeline);
  gint64 per_rank = facts->global_batch / data;
  gint64 most = strategy->is_divided ? MOST_MICRO_BATCH_DIVIDED : MOST_MICRO_BATCH;
  gint64 round = division_is_interleaved (division) ? division->pipeline : 1;
  g_autoptr (GArray) sizes = possible_sizes (facts, division, most, round);
  g_autoptr (FabValue) job = job_value (facts, strategy, shard), parallel = division_value (division, facts);

  if (sizes->len == 0) {
    add_impossible (self, strategy, name, why_no_size (division));
    return;
  }
  for (guint s = 0; s < sizes->len; s++)
    for (guint r = 0; r < N_TRIED_RECOMPUTES; r++) {
      FabCandidate *candidate = fab_candidate_new (strategy->name, self->n_families, s);
      gint64 size = g_array_index (sizes, gint64, s);

      candidate->batch = g_strdup_printf ("%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT, size, per_rank / size);
      candidate->remedy = recompute_kinds[r];
      candidate->edits = fab_edits_new ();
      fab_edits_set (candidate->edits, "job", fab_value_ref (job));
      fab_edits_set (candidate->edits, "job.parallel", fab_value_ref (parallel));
      fab_edits_set (candidate->edits, "job.global_batch", fab_value_count (facts->global_batch));
      fab_edits_set (candidate->edits, "job.micro_batch", fab_value_count (size));
      fab_edits_set (candidate->edits, "job.recompute", fab_value_text (recompute_kinds[r]));
      add_candidate (self, candidate, name);
    }
  self->n_families++;
}

/* Sizes of shard groups: powers of two, and whole nodes, smaller than the job, whose ranks they divide. PyTorch takes
 * any device mesh of two dimensions (torch.distributed.fsdp, HYBRID_SHARD). */
static gboolean
is_shard (const JobFacts *facts, gint64 n)
{
  return facts->n_ranks % n == 0 && (is_power (n) || n % facts->per_node == 0);
}

static void
add_shards (Space *self, const FabStrategy *strategy, const Division *division)
{
  gint64 most = self->facts->n_ranks / 2;

  for (gint64 n = 2; n <= most; n++) {
    g_autofree char *name = is_shard (self->facts, n) ? g_strdup_printf ("shard %" G_GINT64_FORMAT, n) : NULL;

    if (name != NULL)
      add_batches (self, strategy, division, n, name);
  }
  if (most < 2)
    add_impossible (self, strategy, "-", g_strdup ("no shard group is smaller than the job"));
}

static void
add_division (Space *self, const FabStrategy *strategy, const Division *division)
{
  const JobFacts *facts = self->facts;
  g_autofree char *name = division_name (division);
  gint64 data = facts->n_ranks / (division->tensor * division->context * division->pipeline);

  if (strategy->needs_nodes && facts->n_nodes < 2)
    add_impossible (self, strategy, name, g_strdup ("with one node, there is nothing outside it to save"));
  else if (facts->global_batch % data != 0)
    add_impossible (self, strategy, name,
                    g_strdup_printf ("a global batch of %" G_GINT64_FORMAT " sequences cannot be divided "
                                     "among %" G_GINT64_FORMAT " data-parallel ranks",
                                     facts->global_batch, data));
  else if (strategy->shard_key != NULL)
    add_shards (self, strategy, division);
  else
    add_batches (self, strategy, division, 0, name);
}

static void
add_strategy (Space *self, const FabStrategy *strategy)
{
  const Division whole = { 1, 1, 1, 1, NULL };

  if (!strategy->is_divided) {
    add_division (self, strategy, &whole);
    return;
  }
  g_autoptr (GArray) divisions = division_list (self->facts);
  for (guint i = 0; i < divisions->len; i++)
    add_division (self, strategy, &g_array_index (divisions, Division, i));
}

static void
add_written (Space *self)
{
  FabCandidate *candidate = fab_candidate_new ("as written", self->n_families++, 0);
  const TrainParams *p = self->facts->params;
  gint64 data = job_facts_data_ranks (self->facts);
  Division division = { p->parallel.tensor, p->parallel.context, p->parallel.pipeline, p->parallel.expert,
                        NULL };
  g_autofree char *name = division_name (&division);

  candidate->batch = g_strdup_printf ("%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT, p->micro_batch,
                                      self->facts->global_batch / MAX (p->micro_batch * data, 1));
  candidate->remedy = recompute_kinds[p->recompute];
  add_candidate (self, candidate, name);
}

/* --- all --- */

static gboolean
check_names (char **names, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();

  for (const FabStrategy *strategy = fab_strategies; strategy->name != NULL; strategy++)
    g_ptr_array_add (all, (gpointer) strategy->name);
  g_ptr_array_add (all, NULL);
  for (guint i = 0; names[i] != NULL; i++)
    if (!g_strv_contains ((const char *const *) all->pdata, names[i])) {
      g_autofree char *known = g_strjoinv (", ", (char **) all->pdata);
      g_autofree char *note = fab_nearest_note (names[i], known);

      return fab_throw (error, FAB_ERROR_INPUT, "there is no strategy '%s'%s; the strategies are: all, %s",
                        names[i], note, known);
    }
  return TRUE;
}

static void
free_candidate (gpointer data)
{
  fab_candidate_free (data);
}

GPtrArray *
fab_strategy_candidates (const FabScenario *scenario, const char *names, double *sequences, GError **error)
{
  gboolean is_all = names == NULL || strcmp (names, "all") == 0;
  g_auto (GStrv) asked = g_strsplit (is_all ? "" : names, ",", -1);
  g_autoptr (GPtrArray) candidates = g_ptr_array_new_with_free_func (free_candidate);
  JobFacts facts;
  Space space = { &facts, candidates, 0 };

  for (guint i = 0; asked[i] != NULL; i++)
    g_strstrip (asked[i]);
  if (!job_facts_init (&facts, scenario, error) || (!is_all && !check_names (asked, error)))
    return NULL;
  *sequences = (double) facts.global_batch;
  add_written (&space);
  for (const FabStrategy *strategy = fab_strategies; strategy->name != NULL; strategy++)
    if (is_all || g_strv_contains ((const char *const *) asked, strategy->name))
      add_strategy (&space, strategy);
  return g_steal_pointer (&candidates);
}
