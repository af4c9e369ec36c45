/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/experts.h"

#include "models/workload/training/train.h"
#include "sim/collective/token_exchange.h"

static const char *const dispatch_kinds[] = { "nccl", "allgather", "deepep", "deepep_low_latency", NULL };

static const char *const exchange_precision_names[] = { "bf16", "fp8", NULL };
static const FabPrecision exchange_precisions[] = { FAB_PRECISION_BF16, FAB_PRECISION_FP8 };

const FabParam moe_params[] = {
  { .key = "dispatch",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (MoeParams, dispatch),
    .fallback = "nccl",
    .choices = dispatch_kinds,
    .help =
        "Who carries tokens to experts and back: an all-to-all or an all-gather of the collective library, or "
        "kernels that send a token once to each node and rank (deepep), or once for each expert "
        "(deepep_low_latency)." },
  { .key = "dispatch_precision",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (MoeParams, dispatch_precision),
    .fallback = "bf16",
    .choices = exchange_precision_names,
    .help = "Type of a token on its way to its experts, in the forward pass." },
  { .key = "combine_precision",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (MoeParams, combine_precision),
    .fallback = "bf16",
    .choices = exchange_precision_names,
    .help = "Type of results on their way back, and of all gradients." },
  { .key = "groups",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (MoeParams, groups),
    .fallback = "0",
    .max = 1e6,
    .help = "Groups of experts, of which the router picks some for each token; 0: one for each node of the "
            "expert-parallel ranks." },
  { .key = "groups_per_token",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (MoeParams, groups_per_token),
    .fallback = "0",
    .max = 1e6,
    .help = "Groups among which a token's experts are (node-limited routing); 0: all." },
  { .key = "sms",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (MoeParams, sms),
    .fallback = "20",
    .min = 2,
    .max = 1e4,
    .help =
        "Multiprocessors that dispatch: deepep takes from compute, as DeepEP's Buffer.set_num_sms does." },
  { .key = NULL },
};

void
moe_check (const MoeParams *params, FabCheck *check)
{
  gboolean is_library = params->dispatch == EXPERTS_NCCL || params->dispatch == EXPERTS_ALLGATHER;

  if (params->groups > 0 && params->groups_per_token > params->groups)
    fab_check_fail (check, &params->groups_per_token, "a token cannot go to more groups than there are");
  if (params->groups > 0 && params->groups_per_token == 0)
    fab_check_fail (check, &params->groups, "groups need groups_per_token");
  if (is_library && params->groups_per_token > 0)
    fab_check_fail (check, &params->groups_per_token,
                    "groups change what dispatch: deepep sends; an all-to-all sends a copy for every expert");
}

/* One kind of exchange, with the library that plans it. */
typedef struct {
  FabTokenExchange exchange;
  FabLibrary *library; /* owned by the DAG */
} Known;

struct _Experts {
  Train *train;
  GArray *known; /* Known */
};

Experts *
experts_new (Train *train)
{
  Experts *self = g_new0 (Experts, 1);

  self->train = train;
  self->known = g_array_new (FALSE, FALSE, sizeof (Known));
  return self;
}

void
experts_free (Experts *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->known);
  g_free (self);
}

gboolean
experts_exchange (const Stage *stage, const FabSegment *segment)
{
  return stage->expert != NULL && segment->expert_bytes > 0;
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
      && a->is_low_latency == b->is_low_latency && a->n_sms == b->n_sms && a->token_bytes >= b->token_bytes
      && a->token_bytes <= b->token_bytes;
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

static guint
count_experts (const FabSegment *segment)
{
  gint64 n = 1;

  for (guint i = 0; i < segment->operators->len; i++)
    n = MAX (n, g_array_index (segment->operators, FabOperator, i).n_matrices);
  return (guint) n;
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
exchange_of (const Stage *stage, const FabLayer *layer, const FabSegment *segment, gboolean is_combine,
             gboolean is_backward)
{
  const MoeParams *params = &stage->train->params->parallel.moe;
  const double bytes_of_a_number = 2; /* of FabLayer.hidden_bytes */

  return (FabTokenExchange){
    .routing = { .n_experts = count_experts (segment),
                 .per_token = (guint) (segment->expert_bytes / layer->hidden_bytes + 0.5),
                 .n_groups = params->groups > 0 ? (guint) params->groups : count_nodes (stage),
                 .groups_per_token = (guint) params->groups_per_token },
    .is_combine = is_combine,
    .is_low_latency = params->dispatch == EXPERTS_DEEPEP_LOW_LATENCY,
    .token_bytes = fab_token_bytes (layer->hidden_bytes / bytes_of_a_number,
                                    precision_of (params, is_combine, is_backward)),
    .n_sms = (guint) params->sms,
  };
}

/* --- sending --- */

/* Tokens of a rank that go to experts; with sequence parallelism it has some of the tokens only. */
static double
tokens_of (const Train *train)
{
  return train->tokens / (train->params->parallel.is_sequence ? train->layout.size[AXIS_TENSOR] : 1);
}

/* Copies of a token that the collective library sends: for each of its experts, or for each rank. */
static Comm
by_collective (Stage *stage, const FabTokenExchange *exchange)
{
  const Train *train = stage->train;
  gboolean is_gather = train->params->parallel.moe.dispatch == EXPERTS_ALLGATHER;
  double copies = is_gather ? fab_concurrent_groups_n_ranks (stage->expert) : exchange->routing.per_token;
  FabOp op = exchange->is_combine ? FAB_OP_REDUCE_SCATTER : FAB_OP_ALL_GATHER;

  return (Comm){ STREAM_EXPERT, FAB_DIMENSION_EXPERT, stage->expert, is_gather ? op : FAB_OP_ALL_TO_ALL,
                 (FabBytes) (copies * exchange->token_bytes * tokens_of (train) + 0.5) };
}

static Comm
by_kernels (Stage *stage, const FabTokenExchange *exchange, FabLibrary *library)
{
  FabConcurrentGroups *groups = fab_concurrent_groups_keep (library,
                                                            fab_concurrent_groups_copy (stage->expert));
  double bytes = exchange->token_bytes * exchange->routing.per_token * tokens_of (stage->train);

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
  FabTokenExchange exchange = exchange_of (stage, layer, segment, is_combine, is_backward);
  FabLibrary *library = is_collective ? stage->train->env->library
                                      : find_library (stage->train->experts, &exchange);
  Comm comm = is_collective ? by_collective (stage, &exchange) : by_kernels (stage, &exchange, library);

  return stage_comm_by (stage, &comm, library, g_strdup_printf ("%s.%s", layer->name, segment->name), task);
}
