/* SPDX-License-Identifier: Apache-2.0 */
/* rccl.c - what RCCL does in its own way: AMD's releases of NCCL's source with tables and kernels of their own.
 *
 *   all pairs   MSCCL plays an all-reduce over eight MI300X of one node in two steps: every GPU reduces its eighth, and
 *               writes it to all others. With flags to 512 KiB, without to 16 MiB, rings above. Its schedules are files
 *               (tools/msccl-algorithms), played where a process has one GPU (RCCL_MSCCL_ENABLE_SINGLE_PROCESS is off).
 *   protocols   between nodes limits on the size replace the tuner's choice of the protocol, and on one node limits for
 *               all_gather and reduce_scatter (src/rccl_wrap.cc, rcclUpdateCollectiveProtocol; src/graph/tuning.cc,
 *               llProtoRanges of tuning models 5 and 6). LL128 works on these GPUs since 2.25.1 (ROCm 7.0).
 *   channels    between nodes 32 of MI300X and 64 of CDNA 4, whose blocks have 256 threads.
 *   chunks      those of a tree with Simple are halved until there are enough for its depth (src/enqueue.cc,
 *               calcCollChunking, which NCCL has no longer).
 *
 * Sizes are those of the whole buffer for all_reduce, and those of one rank for the others (src/include/rccl_common.h,
 * rcclGetSizePerRank).
 */
#include "models/library/nccl/parts.h"

#include <string.h>

enum { KIB = 1024, MIB = 1024 * KIB };

/* The first release with limits and with LL128 on these GPUs. */
enum { LIMITS_VERSION = 22501, MSCCL_VERSION = 21803 };

/* --- all pairs --- */

static const guint all_pairs_ranks = 8, all_pairs_channels = 8, all_pairs_least_channels = 4;
static const FabBytes all_pairs_ll_bytes = 512 * KIB, all_pairs_most_bytes = 16 * MIB,
                      all_pairs_few_bytes = 64 * KIB; /* to here with the fewest channels */

gboolean
rccl_plays_all_pairs (const NcclParams *params, const NcclCandidate *common)
{
  const FabGroup *group = common->group;

  return common->architecture->is_rccl && common->version >= MSCCL_VERSION
      && group->cluster->generation->all_pairs.bytes_per_s > 0 && group->n_nodes == 1
      && common->n_ranks == all_pairs_ranks && params->gpus_per_process == 1
      && common->op == FAB_OP_ALL_REDUCE && common->bytes <= all_pairs_most_bytes;
}

NcclProtocol
rccl_plan_all_pairs (const NcclCandidate *common, const FabCollectiveForm *form, FabCollectivePlan *plan)
{
  const FabAllPairs *cost = &common->group->cluster->generation->all_pairs;
  gboolean is_ll = common->bytes <= all_pairs_ll_bytes;
  NcclProtocol protocol = is_ll ? NCCL_LL : NCCL_SIMPLE;

  plan->footprint = form->footprint;
  plan->wire_factor = nccl_wire_factor (common, protocol);
  plan->n_channels = common->bytes <= all_pairs_few_bytes ? all_pairs_least_channels : all_pairs_channels;
  plan->n_connections = 1;
  plan->latency_ps = fab_form_latency_ps (form);
  plan->startup_ps = MAX (is_ll ? cost->ll_ps : cost->simple_ps, plan->latency_ps);
  plan->ends_bytes_per_s = (double) (is_ll ? cost->ll_bytes_per_s : cost->bytes_per_s);
  plan->most_bytes_per_s = plan->ends_bytes_per_s;
  plan->steps.steps_ps = plan->startup_ps;
  plan->steps.intra_cost = plan->steps.inter_cost = 1;
  plan->steps.pace_bytes_per_s = plan->ends_bytes_per_s;
  return protocol;
}

/* --- channels --- */

/* Between nodes RCCL plays ready-made rings of the board and doubles them. MI300X: 16 rings (rome_model_84 in
 * src/graph/rome_models.cc) times two (`nc` in src/init.cc of 2.21.5). CDNA 4: 64, the most between nodes
 * (src/graph/connect.cc); ROCm/rocm-systems pull request 9406 prints them. Up to 48 for some sizes from 2.30.4 on is
 * not modelled. */
guint
rccl_net_channels (const NcclCandidate *common, guint n_rails)
{
  enum { GPUS = 8 };
  const char *name = common->architecture->name;

  if (common->group->gpus_per_node != GPUS || n_rails != GPUS)
    return 0;
  return g_str_equal (name, "cdna4") ? 64 : g_str_equal (name, "cdna3") ? 32 : 0;
}

/* --- protocols --- */

/* Sizes up to which a protocol is taken, in the order LL, LL128; Simple above. Later rows are for later releases. */
typedef struct {
  const char *architecture;
  FabOp op;
  FabBytes ll, ll128;
  guint from_version; /* 0: the first with limits */
} Limits;

static const Limits between_nodes[] = {
  { "cdna3", FAB_OP_REDUCE_SCATTER, 131072, 3211264, 0 }, /* LL to 655360 where LL128 is off */
  { "cdna3", FAB_OP_ALL_GATHER, 98304, 5046272, 0 },
  { "cdna3", FAB_OP_ALL_REDUCE, 1048576, 9437184, 0 },
  { "cdna4", FAB_OP_REDUCE_SCATTER, 131071, 4194304, 0 },
  { "cdna4", FAB_OP_ALL_GATHER, 7, 8388608, 0 },
  { "cdna4", FAB_OP_ALL_REDUCE, 131071, 17660227, 0 },
  { "cdna4", FAB_OP_REDUCE, 16383, 16777216, 0 },
  { "cdna4", FAB_OP_BROADCAST, 2048, 16777216, 0 },
  { "cdna4", FAB_OP_REDUCE_SCATTER, 65536, 8388608, RCCL_LATER_VERSION },
  { "cdna4", FAB_OP_ALL_GATHER, 65536, 8388608, RCCL_LATER_VERSION },
  { "cdna4", FAB_OP_ALL_REDUCE, 262144, 70640910, RCCL_LATER_VERSION },
};

/* On one node LL up to `ll`; above, the tuner chooses. */
static const Limits inside_node[] = {
  { "cdna3", FAB_OP_REDUCE_SCATTER, 352128, 0, 0 },
  { "cdna4", FAB_OP_REDUCE_SCATTER, 175488, 0, 0 },
  { "cdna4", FAB_OP_ALL_GATHER, 88448, 0, 0 },
};

static const Limits *
find_limits (const NcclCandidate *self, const Limits *rows, guint n)
{
  const Limits *found = NULL;

  for (guint i = 0; i < n; i++)
    if (rows[i].op == self->op && strcmp (rows[i].architecture, self->architecture->name) == 0
        && self->version >= rows[i].from_version)
      found = &rows[i];
  return found;
}

static FabBytes
counted_bytes (const NcclCandidate *self)
{
  return self->op == FAB_OP_ALL_REDUCE ? self->bytes : self->bytes / self->n_ranks;
}

gboolean
rccl_has_limits (const NcclArchitecture *architecture)
{
  return g_str_equal (architecture->name, "cdna3") || g_str_equal (architecture->name, "cdna4");
}

gboolean
rccl_has_ll128 (const NcclCandidate *self)
{
  return self->version >= LIMITS_VERSION
      && find_limits (self, between_nodes, G_N_ELEMENTS (between_nodes)) != NULL;
}

/* Generations with limits have no trees with Simple on one node (src/graph/tuning.cc, gfx942 and gfx950). */
gboolean
rccl_leaves_out (const NcclCandidate *self)
{
  return self->architecture->is_rccl && self->group->n_nodes == 1 && self->protocol == NCCL_SIMPLE
      && strcmp (self->algorithm->model, "tree") == 0
      && find_limits (self, between_nodes, G_N_ELEMENTS (between_nodes)) != NULL;
}

gboolean
rccl_sets_protocol (const NcclCandidate *self, NcclProtocol *protocol)
{
  /* Trees have few levels at two nodes; from three on LL128 is worth more. */
  double many_nodes = self->op == FAB_OP_ALL_REDUCE && self->group->n_nodes > 2 ? 3.8 : 1;
  gboolean is_between = self->group->n_nodes > 1;
  const Limits *limits = is_between ? find_limits (self, between_nodes, G_N_ELEMENTS (between_nodes))
                                    : find_limits (self, inside_node, G_N_ELEMENTS (inside_node));
  FabBytes bytes = counted_bytes (self);

  if (!self->architecture->is_rccl || self->version < LIMITS_VERSION || limits == NULL
      || self->algorithm->is_point_to_point || (!is_between && bytes > limits->ll))
    return FALSE;
  *protocol = bytes <= limits->ll                                   ? NCCL_LL
            : (double) bytes <= (double) limits->ll128 * many_nodes ? NCCL_LL128
                                                                    : NCCL_SIMPLE;
  return TRUE;
}

/* --- trees --- */

static FabBytes
tree_simple_chunk_bytes (const NcclCandidate *self)
{
  static const struct {
    guint chunks_per_level;
    FabBytes least;
  } halve[] = { { 8, 128 * KIB }, { 4, 64 * KIB }, { 1, 32 * KIB } };
  guint depth = self->group->gpus_per_node - 1 + g_bit_storage (self->group->n_nodes) - 1;
  FabBytes chunk = 512 * KIB;

  for (guint i = 0; i < G_N_ELEMENTS (halve); i++)
    while (self->bytes / self->n_channels / chunk < depth * halve[i].chunks_per_level
           && chunk > halve[i].least)
      chunk /= 2;
  return chunk;
}

/* With flags a GPU passes on what its threads have read at once; only the network waits for a chunk. Links between GPUs
 * and adapters are alike fast, so that each hop counts as much as any other. */
static FabBytes
tree_flags_chunk_bytes (const NcclCandidate *self)
{
  const NcclBlock *block = nccl_block (self);
  FabBytes part = MAX (self->bytes / self->n_channels, 1);
  FabBytes chunk = self->protocol == NCCL_LL ? 16 * KIB : nccl_tree_ll128_chunk_bytes (self);
  FabBytes at_once = MIN ((FabBytes) block->threads * block->grain_bytes, part);
  guint n_intra = self->form->n_intra_steps, n_inter = self->form->n_inter_steps;

  return (n_inter * MIN (chunk, part) + n_intra * at_once) / (n_inter + n_intra);
}

FabBytes
rccl_tree_fill_bytes (const NcclCandidate *self)
{
  return self->n_channels
       * (self->protocol == NCCL_SIMPLE ? tree_simple_chunk_bytes (self) : tree_flags_chunk_bytes (self));
}
