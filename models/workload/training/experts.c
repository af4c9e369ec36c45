/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/experts.h"

#include <string.h>

#include "models/workload/training/streams.h"
#include "sim/base/mix.h"
#include "sim/collective/plan/token_exchange.h"
#include "sim/execution/jitter.h"

/* Of the keys dispatch_precision and combine_precision, as moe.c names them. */
static const FabPrecision exchange_precisions[] = { FAB_PRECISION_BF16, FAB_PRECISION_FP8 };

/* One kind of exchange, with the library that plans it. */
typedef struct {
  FabTokenExchange exchange;
  FabLibrary *library; /* owned by the DAG */
} Known;

struct _Experts {
  Train *train;
  GArray *known; /* Known */
  double *loads; /* [n_layers] tokens of the fullest rank over the mean; 0: not drawn yet */
};

Experts *
experts_new (Train *train)
{
  Experts *self = g_new0 (Experts, 1);

  self->train = train;
  self->known = g_array_new (FALSE, FALSE, sizeof (Known));
  self->loads = g_new0 (double, train->stack->layers->len);
  return self;
}

void
experts_free (Experts *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->known);
  g_free (self->loads);
  g_free (self);
}

gboolean
experts_exchange (const Stage *stage, const FabSegment *segment)
{
  return stage->expert != NULL && segment->expert_bytes > 0;
}

const FabSegment *
experts_beside (const Stage *stage, const FabLayer *layer, const FabSegment *segment)
{
  if (stage->train->params->parallel.moe.overlap != OVERLAP_SHARED || strcmp (segment->name, "shared") != 0)
    return NULL;
  for (guint i = 0; i < layer->segments->len; i++)
    if (experts_exchange (stage, fab_layer_segment (layer, i)))
      return fab_layer_segment (layer, i);
  return NULL;
}

FabRoutedTokens
experts_routed_tokens (const Train *train)
{
  const MoeParams *params = &train->params->parallel.moe;

  return (FabRoutedTokens){ .is_sorted = train->layout.n_expert > 1 && params->dispatch == EXPERTS_NCCL,
                            .is_padded = params->dispatch != EXPERTS_HYBRIDEP && params->capacity <= 0,
                            .is_counted = params->capacity <= 0 };
}

static guint
count_experts (const FabSegment *segment)
{
  gint64 n = 1;

  for (guint i = 0; i < segment->operators->len; i++)
    n = MAX (n, g_array_index (segment->operators, FabOperator, i).n_matrices);
  return (guint) n;
}

/* --- load --- */

/* Draws the tokens of all experts of a layer in one step: those of the fullest rank over the mean. */
static double
draw_load (const Train *train, guint layer, guint step, guint n_experts, double sigma)
{
  guint n_ranks = train->layout.n_expert, n_local = n_experts / n_ranks;
  guint64 seed = fab_mix (train->env->seed, layer);
  double all = 0, most = 0;

  for (guint rank = 0; rank < n_ranks; rank++) {
    double sum = 0;

    for (guint i = 0; i < n_local; i++)
      sum += fab_jitter_factor (seed, step, rank * n_local + i, sigma);
    all += sum;
    most = MAX (most, sum);
  }
  return most * n_ranks / all;
}

static double
load_of_layer (const Train *train, guint layer, guint n_experts)
{
  enum { STEPS = 16 };
  double sigma = fab_jitter_sigma (train->params->parallel.moe.imbalance_cv), sum = 0;

  for (guint step = 0; step < STEPS; step++)
    sum += draw_load (train, layer, step, n_experts, sigma);
  return sum / STEPS;
}

double
experts_load (const Train *train, const FabLayer *layer, const FabSegment *segment)
{
  const MoeParams *params = &train->params->parallel.moe;
  guint index = (guint) (layer - fab_layer_stack_layer (train->stack, 0));

  if (segment->expert_bytes <= 0)
    return 1;
  if (params->capacity > 0)
    return params->capacity;
  if (params->imbalance_cv <= 0 || train->layout.n_expert < 2)
    return 1;
  if (train->experts->loads[index] <= 0)
    train->experts->loads[index] = load_of_layer (train, index, count_experts (segment));
  return train->experts->loads[index];
}

/* --- kernels made for it --- */

static void
destroy_library (gpointer library)
{
  fab_library_destroy (library);
}

static gboolean
is_same (const FabTokenExchange *a, const FabTokenExchange *b)
{
  return a->routing.n_experts == b->routing.n_experts && a->routing.per_token == b->routing.per_token
      && a->routing.n_groups == b->routing.n_groups
      && a->routing.groups_per_token == b->routing.groups_per_token && a->is_combine == b->is_combine
      && a->is_low_latency == b->is_low_latency && a->is_hybrid == b->is_hybrid && a->n_sms == b->n_sms
      && a->token_bytes >= b->token_bytes && a->token_bytes <= b->token_bytes;
}

static FabLibrary *
find_library (Experts *self, const FabTokenExchange *exchange)
{
  Known made = { *exchange, NULL };

  for (guint i = 0; i < self->known->len; i++)
    if (is_same (&g_array_index (self->known, Known, i).exchange, exchange))
      return g_array_index (self->known, Known, i).library;
  made.library = fab_token_exchange_new (exchange);
  made.library->cancel = self->train->env->library->cancel;
  fab_dag_builder_own (self->train->builder, made.library, destroy_library);
  g_array_append_val (self->known, made);
  return made.library;
}

static FabPrecision
precision_of (const MoeParams *params, gboolean is_combine, gboolean is_backward)
{
  return exchange_precisions[is_combine || is_backward ? params->combine_precision
                                                       : params->dispatch_precision];
}

static guint
count_nodes (const Stage *stage)
{
  return fab_concurrent_groups_group (stage->expert, 0).n_nodes;
}

static FabTokenExchange
exchange_of (const Stage *stage, const FabSegment *segment, gboolean is_combine, gboolean is_backward)
{
  const MoeParams *params = &stage->train->params->parallel.moe;
  const double bytes_of_a_number = 2; /* of FabSegment.expert_bytes */

  return (FabTokenExchange){
    .routing = { .n_experts = count_experts (segment),
                 .per_token = segment->expert_copies,
                 .n_groups = params->groups > 0 ? (guint) params->groups : count_nodes (stage),
                 .groups_per_token = (guint) params->groups_per_token },
    .is_combine = is_combine,
    .is_low_latency = params->dispatch == EXPERTS_DEEPEP_LOW_LATENCY,
    .is_hybrid = params->dispatch == EXPERTS_HYBRIDEP,
    .token_bytes = fab_token_bytes (segment->expert_bytes / segment->expert_copies / bytes_of_a_number,
                                    precision_of (params, is_combine, is_backward)),
    .n_sms = (guint) params->sms,
  };
}

/* --- sending --- */

/* Tokens that the fullest rank sends or receives, of the part of the micro-batch that is under way. With sequence
 * parallelism a rank has some of the tokens only. */
static double
tokens_of (const Stage *stage, double load)
{
  const Train *train = stage->train;
  guint n = train->params->parallel.is_sequence ? train->layout.size[AXIS_TENSOR] : 1;

  return train->tokens * stage->share * load / n;
}

/* Copies of a token that the collective library sends: for each of its experts, or for each rank. */
static Comm
by_collective (Stage *stage, const FabTokenExchange *exchange, double tokens)
{
  const Train *train = stage->train;
  gboolean is_gather = train->params->parallel.moe.dispatch == EXPERTS_ALLGATHER;
  double copies = is_gather ? fab_concurrent_groups_n_ranks (stage->expert) : exchange->routing.per_token;
  FabOp op = exchange->is_combine ? FAB_OP_REDUCE_SCATTER : FAB_OP_ALL_GATHER;

  return (Comm){ STREAM_EXPERT, FAB_DIMENSION_EXPERT, stage->expert, is_gather ? op : FAB_OP_ALL_TO_ALL,
                 (FabBytes) (copies * exchange->token_bytes * tokens + 0.5) };
}

static Comm
by_kernels (Stage *stage, const FabTokenExchange *exchange, FabLibrary *library, double tokens)
{
  FabConcurrentGroups *groups = fab_concurrent_groups_keep (library,
                                                            fab_concurrent_groups_copy (stage->expert));
  double bytes = exchange->token_bytes * exchange->routing.per_token * tokens;

  return (Comm){ STREAM_EXPERT, FAB_DIMENSION_EXPERT, groups, FAB_OP_ALL_TO_ALL, (FabBytes) (bytes + 0.5) };
}

gboolean
experts_send (Stage *stage, const FabLayer *layer, const FabSegment *segment, gboolean is_combine,
              gboolean is_backward, FabTaskId *task)
{
  gint dispatch = stage->train->params->parallel.moe.dispatch;
  gboolean is_collective = dispatch == EXPERTS_NCCL || dispatch == EXPERTS_ALLGATHER;

  if (!experts_exchange (stage, segment))
    return FALSE;
  double tokens = tokens_of (stage, experts_load (stage->train, layer, segment));
  FabTokenExchange exchange = exchange_of (stage, segment, is_combine, is_backward);
  FabLibrary *library = is_collective ? stage->train->env->library
                                      : find_library (stage->train->experts, &exchange);
  Comm comm = is_collective ? by_collective (stage, &exchange, tokens)
                            : by_kernels (stage, &exchange, library, tokens);

  return stage_comm_of_pass (stage, &comm, library, g_strconcat (layer->name, ".", segment->name, NULL),
                             task);
}
