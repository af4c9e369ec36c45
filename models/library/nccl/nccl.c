/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.c - what NCCL and RCCL make of the wires: algorithm, protocol, channels, and the time before bytes flow.
 *
 * Every algorithm and protocol that is possible is a candidate. The one that NCCL's tuner believes to be fastest runs
 * (choose.c), and takes the time that cost.c counts. What the tuner does not know of comes on top, as startup: the
 * chunks of old versions (round_chunks) and a host that issues more slowly than GPUs finish (wait_for_host).
 */
#include <string.h>

#include "models/library/nccl/parts.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/scenario/catalog.h"

static const char *const protocol_choices[] = { "auto", "ll", "ll128", "simple", NULL };

/* A channel is one thread block. It is used when every thread has `threshold_bytes` to do (LL in a ring: of every
 * rank), and before NCCL 2.22 it moved multiples of threads x grain_bytes: src/enqueue.cc, src/collectives/device. */
typedef struct {
  guint threads, threshold_bytes, grain_bytes;
} Block;

static const Block blocks[NCCL_N_PROTOCOLS] = { { 512, 8, 8 }, { 640, 8, 30 }, { 512, 64, 8 } };

typedef struct {
  FabTimePs issue_ps, issue_channel_ps;
  gint64 gpus_per_process;
  gint64 min_channels, max_channels;
  gboolean has_whole_chunks, has_nvls, has_collnet;
  double net_fraction;
  const char *algorithm;
  gint protocol; /* 0: auto, else NcclProtocol + 1 */
  FabParamList measured;
} NcclParams;

static const FabParam nccl_params[] = {
  { .key = "gpus_per_process",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (NcclParams, gpus_per_process),
    .fallback = "1",
    .min = 1,
    .max = 256,
    .help =
        "GPUs that one process drives, one after another (nccl-tests -g); training has one process per GPU." },
  { .key = "issue",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (NcclParams, issue_ps),
    .fallback = "0us",
    .help =
        "Host time to issue a collective on one GPU; collectives in a row go no faster. 0us: measured with GPUs "
        "of that generation (docs/models/nccl.md), 4.3us for A100." },
  { .key = "issue_per_channel",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (NcclParams, issue_channel_ps),
    .fallback = "0ns",
    .help =
        "Host time on top for every further channel. NCCL before 2.12 wrote work for each: 220ns, measured from "
        "1 to 24 channels in the first of these tables." },
  { .key = "whole_chunks",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (NcclParams, has_whole_chunks),
    .fallback = "false",
    .help =
        "Chunks are whole multiples of what a thread block moves at once, as before NCCL 2.22, so that some "
        "channels have nothing to do (minChunkSize in src/device/all_reduce.h)." },
  { .key = "net_fraction",
    .type = FAB_PARAM_FRACTION,
    .offset = G_STRUCT_OFFSET (NcclParams, net_fraction),
    .fallback = G_STRINGIFY (FAB_NET_FRACTION),
    .max = 1,
    .min = 0.01,
    .help =
        "Share of an adapter's write rate that collectives reach, for links whose entry does not say. Measured on "
        "HDR: 23.57 of 24.58 GB/s (validate/measured/dgxa100_hdr_allreduce_16_ring.csv)." },
  { .key = "nvls",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (NcclParams, has_nvls),
    .fallback = "true",
    .help = "Switches that can reduce do so (NCCL_NVLS_ENABLE)." },
  { .key = "collnet",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (NcclParams, has_collnet),
    .fallback = "false",
    .help = "The network's switches reduce too: the SHARP plug-in is there and NCCL_COLLNET_ENABLE=1." },
  { .key = "min_channels",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (NcclParams, min_channels),
    .fallback = "0",
    .max = 64,
    .help = "At least so many channels (NCCL_MIN_NCHANNELS)." },
  { .key = "max_channels",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (NcclParams, max_channels),
    .fallback = "64",
    .min = 1,
    .max = 64,
    .help = "At most so many channels (NCCL_MAX_NCHANNELS)." },
  { .key = "algorithm",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (NcclParams, algorithm),
    .fallback = "",
    .refers = FAB_REFERS_ALGORITHM,
    .help = "Only this algorithm (as NCCL_ALGO does); empty: the one that the tuner chooses." },
  { .key = "protocol",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (NcclParams, protocol),
    .fallback = "auto",
    .choices = protocol_choices,
    .help = "Only this protocol (as NCCL_PROTO does); auto: the one that the tuner chooses." },
  { .key = "measured",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (NcclParams, measured),
    .table = nccl_measured_params,
    .table_size = sizeof (NcclMeasured),
    .help = "Bus bandwidths measured between nodes of this cluster, in place of what its links allow." },
  { .key = NULL },
};

typedef struct {
  FabLibrary base;
  NcclParams params;
  GHashTable *wires; /* of a form, NcclWires */
} NcclLibrary;

/* What all candidates of one collective share. */
typedef struct {
  NcclLibrary *library;
  FabAlgorithmEnv env;
  NcclCandidate common;
  NcclCandidate best;
  double best_us; /* < 0: none yet */
} Choice;

/* NCCL's search finds channels of about 20 GB/s inside a node, or one per NIC, and doubles them; again on newer
 * GPUs over few NICs. */
static guint
most_channels (const Choice *choice, guint n_rails)
{
  const NcclParams *params = &choice->library->params;
  const NcclArchitecture *architecture = choice->common.architecture;
  guint n = 2 * (guint) (choice->common.busbw_GBps / 20 + 0.5);

  if (choice->common.group->n_nodes > 1) {
    n = 2 * n_rails;
    if (architecture->generation >= 9 && n < 16)
      n *= 2;
    n = MIN (n, 32);
  } else {
    n = CLAMP (n, 2, architecture->most_channels);
  }
  return (guint) CLAMP (n, params->min_channels, params->max_channels);
}

/* Of these, the ones that have enough to do. */
static guint
count_channels (const NcclCandidate *candidate)
{
  const Block *block = &blocks[candidate->protocol];
  FabBytes least = (FabBytes) block->threads * block->threshold_bytes
                 * (candidate->protocol == NCCL_LL ? candidate->n_ranks : 1);

  return (guint) CLAMP (candidate->bytes / least, 1, candidate->most_channels);
}

static gboolean
is_possible (const Choice *choice, const NcclCandidate *candidate)
{
  const NcclParams *params = &choice->library->params;
  const FabCollectiveForm *form = candidate->form;
  gboolean is_only_simple = candidate->tuning->base_us[NCCL_LL] <= 0;

  if (is_only_simple || params->protocol == NCCL_SIMPLE + 1)
    return candidate->protocol == NCCL_SIMPLE;
  if (params->protocol != 0)
    return params->protocol == (gint) candidate->protocol + 1;
  if (candidate->tuning->base_us[candidate->protocol] <= 0)
    return FALSE;
  if (candidate->protocol != NCCL_LL128)
    return TRUE;
  return candidate->architecture->has_ll128 && form->intra_kind == FAB_HOP_DIRECT
      && form->inter_kind != FAB_HOP_NET_HOST && form->inter_kind != FAB_HOP_NET_STAGED
      && g_strcmp0 (form->intra_technology, "PCIe") != 0;
}

static void
try_protocols (Choice *choice, const FabCollectiveForm *form)
{
  for (NcclProtocol protocol = 0; protocol < NCCL_N_PROTOCOLS; protocol++) {
    NcclCandidate candidate = choice->common;

    candidate.form = form;
    candidate.wires = nccl_wires (choice->library->wires, candidate.group, form);
    candidate.protocol = protocol;
    candidate.n_channels = count_channels (&candidate);
    if (!is_possible (choice, &candidate))
      continue;
    double us = nccl_tuner_us (&candidate);
    if (choice->best_us >= 0 && us >= choice->best_us)
      continue;
    choice->best_us = us;
    choice->best = candidate;
  }
}

/* Cheap questions first: an algorithm looks at every node to say what it supports. */
static gboolean
is_wanted (const Choice *choice, const FabAlgorithmOps *algorithm)
{
  const NcclParams *params = &choice->library->params;
  const char *name = algorithm->info.name;
  gboolean is_tree = strcmp (name, "tree") == 0;
  FabOp op = choice->common.op;

  if (is_tree && op != FAB_OP_ALL_REDUCE)
    return FALSE; /* NCCL's trees do nothing else */
  if (params->algorithm != NULL)
    return strcmp (params->algorithm, name) == 0 && algorithm->supports (choice->common.group, op);
  if (g_str_has_prefix (name, "nvls") && !params->has_nvls)
    return FALSE;
  if (g_str_has_prefix (name, "collnet") && !params->has_collnet)
    return FALSE;
  if (g_str_has_prefix (name, "nvls") && choice->common.group->cluster->p2p < FAB_REACH_NVL)
    return FALSE;
  if (is_tree && choice->common.architecture->generation == 0 && choice->common.group->n_nodes > 1)
    return FALSE; /* other than NVIDIA's: the chain of a tree's node crowds one way through a mesh; RCCL's do not */
  if (strcmp (name, "direct") == 0 && op <= FAB_OP_REDUCE)
    return FALSE; /* send and receive where nothing else can */
  return algorithm->supports (choice->common.group, op);
}

/* The rings' bandwidth: what NCCL's search would find, and how many channels that makes. */
static gboolean
measure_rings (Choice *choice, GError **error)
{
  const FabAlgorithmOps *ring = (const FabAlgorithmOps *) choice->library->base.algorithms[0];
  const FabGroup *group = choice->common.group;
  const FabCollectiveForm *form = fab_library_form (&choice->library->base, ring, group, FAB_OP_ALL_REDUCE,
                                                    &choice->env, error);

  if (form == NULL)
    return FALSE;
  choice->common.n_rails = form->n_channels;
  choice->common.busbw_GBps = nccl_wires (choice->library->wires, group, form)->node_bytes_per_s
                            * fab_op_bus_factor (FAB_OP_ALL_REDUCE, choice->common.n_ranks) / 1e9;
  choice->common.most_channels = most_channels (choice, form->n_channels);
  return TRUE;
}

static gboolean
try_algorithms (Choice *choice, GError **error)
{
  FabLibrary *library = &choice->library->base;

  for (guint i = 0; library->algorithms[i]; i++) {
    const FabAlgorithmOps *algorithm = (const FabAlgorithmOps *) library->algorithms[i];
    const NcclTuning *tuning = nccl_tuning (choice->common.architecture, algorithm->info.name);
    const FabCollectiveForm *form;

    if (tuning == NULL || !is_wanted (choice, algorithm))
      continue;
    choice->common.tuning = tuning;
    if (choice->best_us >= 0 && nccl_least_us (&choice->common) >= choice->best_us)
      continue;
    form = fab_library_form (library, algorithm, choice->common.group, choice->common.op, &choice->env,
                             error);
    if (form == NULL)
      return FALSE;
    try_protocols (choice, form);
  }
  return TRUE;
}

/* Seconds per byte of size if the steps of the ring come one after another: the mean over its hops. */
static double
steps_seconds_per_byte (const FabGroup *group, const FabCollectiveForm *form)
{
  const FabGraph *graph = group->cluster->graph;
  double intra = 0, inter = 0;

  for (guint i = 0; i < form->footprint->n; i++) {
    FabLinkId link = form->footprint->links[i];
    double seconds = form->footprint->line_weights[i]
                   / (double) fab_graph_link (graph, link)->rate_bytes_per_s;

    if (g_strcmp0 (fab_graph_link_class (graph, link)->technology, form->intra_technology) == 0)
      intra = MAX (intra, seconds);
    else
      inter = MAX (inter, seconds);
  }
  return (form->n_intra_steps * intra + form->n_inter_steps * inter)
       / (form->n_intra_steps + form->n_inter_steps);
}

/* A size that is no multiple of ranks x channels x block takes as long as the next one: the chunk of every step is a
 * whole one, the channels or steps that have none wait. Counted as startup. */
static void
round_chunks (const NcclCandidate *candidate, FabCollectivePlan *plan)
{
  const Block *block = &blocks[candidate->protocol];
  FabBytes unit = (FabBytes) plan->n_ranks * plan->n_channels * block->threads * block->grain_bytes;
  FabBytes rounded = (plan->bytes + unit - 1) / unit * unit;
  double flow_s = fab_ps_to_seconds (fab_plan_idle_ps (plan) - plan->startup_ps);
  double steps_s = (double) rounded * plan->wire_factor
                 * steps_seconds_per_byte (candidate->group, candidate->form);

  if (steps_s > flow_s)
    plan->startup_ps = fab_ps_add (plan->startup_ps, fab_seconds_to_ps (steps_s - flow_s));
}

/* Collectives in a row end no faster than the host issues them. */
static void
wait_for_host (const NcclParams *params, const NcclArchitecture *architecture, FabCollectivePlan *plan)
{
  FabTimePs channels_ps = fab_ps_times (params->issue_channel_ps, plan->n_channels - 1);
  FabTimePs issue_ps = params->issue_ps > 0 ? params->issue_ps
                                            : fab_seconds_to_ps (architecture->issue_us * 1e-6);
  FabTimePs host_ps = fab_ps_times (fab_ps_add (issue_ps, channels_ps), (guint64) params->gpus_per_process);
  FabTimePs idle_ps = fab_plan_idle_ps (plan);

  if (host_ps > idle_ps)
    plan->startup_ps = fab_ps_add (plan->startup_ps, host_ps - idle_ps);
}

static void
finish_plan (const Choice *choice, FabCollectivePlan *plan)
{
  const NcclParams *params = &choice->library->params;
  const NcclCandidate *best = &choice->best;
  double measured = nccl_measured_bytes_per_s (&params->measured, best->group, best->op);

  plan->algorithm = best->tuning->algorithm;
  plan->protocol = protocol_choices[best->protocol + 1];
  nccl_cost (best, plan);
  if (measured > 0)
    plan->limit_bytes_per_s = plan->steps.limit_bytes_per_s = measured;
  if (params->has_whole_chunks && nccl_is (best, "ring") && plan->op != FAB_OP_BROADCAST
      && plan->op != FAB_OP_REDUCE)
    round_chunks (best, plan);
  wait_for_host (params, best->architecture, plan);
}

static gboolean
nccl_plan (FabLibrary *library, const FabGroup *group, FabOp op, FabBytes bytes, FabCollectivePlan *plan,
           GError **error)
{
  NcclLibrary *self = (NcclLibrary *) library;
  Choice choice = { .library = self,
                    .env = { .net_stretch = 1 / self->params.net_fraction },
                    .common = { .group = group,
                                .architecture = nccl_architecture (group->cluster->architecture),
                                .op = op,
                                .bytes = bytes,
                                .n_ranks = plan->n_ranks },
                    .best_us = -1 };

  if (!measure_rings (&choice, error) || !try_algorithms (&choice, error))
    return FALSE;
  if (choice.best_us < 0)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "collectives.algorithm: NCCL has no '%s' for %s over these %u ranks%s%s; collectives.kind=plain"
        " plays whatever the wires allow",
        self->params.algorithm ? self->params.algorithm : "auto", fab_op_names[op], plan->n_ranks,
        self->params.protocol ? " with protocol " : "",
        self->params.protocol ? protocol_choices[self->params.protocol] : "");
  finish_plan (&choice, plan);
  return TRUE;
}

static FabLibrary *
nccl_create (const FabModelInfo *const *algorithms, gconstpointer params)
{
  NcclLibrary *self = g_new0 (NcclLibrary, 1);

  fab_library_init (&self->base, &fab_library_nccl, algorithms);
  self->params = *(const NcclParams *) params;
  self->wires = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  return &self->base;
}

static void
nccl_destroy (FabLibrary *library)
{
  g_hash_table_unref (((NcclLibrary *) library)->wires);
  fab_library_clear (library);
  g_free (library);
}

const FabLibraryOps fab_library_nccl = {
  .info = { .name = "nccl",
            .summary =
                "NCCL and RCCL: their tuner chooses algorithm and protocol; the links give the bandwidth.",
            .doc = "docs/models/nccl.md",
            .params = nccl_params,
            .params_size = sizeof (NcclParams) },
  .create = nccl_create,
  .plan = nccl_plan,
  .destroy = nccl_destroy,
};
