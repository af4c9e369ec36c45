/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.c - the library NCCL (RCCL on AMD): it chooses algorithm, protocol and number of channels for each collective.
 *
 * Every combination of algorithm and protocol that is possible is a candidate. The candidate for which NCCL's tuner
 * estimates the shortest time runs (choose.c), and takes the time that cost.c counts. Where the host issues
 * collectives more slowly than GPUs finish them, the difference is added to the startup (wait_for_host).
 */
#include <string.h>

#include "models/library/nccl/parts.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/collective/plan/given.h"
#include "sim/scenario/catalog.h"

static const char *const matching_choices[] = { "auto", "hardware", "software", NULL };
static const char *const protocol_choices[] = { "auto", "ll", "ll128", "simple", NULL };

static const FabParam nccl_params[] = {
  { .key = "gpus_per_process",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (NcclParams, gpus_per_process),
    .fallback = "1",
    .min = 1,
    .max = 256,
    .help = "GPUs that one process drives in turn (nccl-tests -g). Training has one process per GPU." },
  { .key = "issue",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (NcclParams, issue_ps),
    .fallback = "0us",
    .help = "Host time to issue a collective on one GPU; this limits how fast collectives follow each other. "
            "0us: the time measured on GPUs of that generation (docs/models/nccl.md), 4.3us for A100." },
  { .key = "issue_per_channel",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (NcclParams, issue_channel_ps),
    .fallback = "0ns",
    .help =
        "Extra host time for each channel after the first. 0ns: none, or 220ns for nccl_version before 2.12, "
        "which wrote work for each channel (measured from 1 to 24 channels in a100x8_nvswitch_allreduce_8)." },
  { .key = "whole_chunks",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (NcclParams, has_whole_chunks),
    .fallback = "false",
    .help = "Chunks are whole multiples of what one thread block moves at once, so some channels may have no "
            "work (minChunkSize in src/device/all_reduce.h). NCCL before 2.22 always does this." },
  { .key = "nccl_version",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (NcclParams, nccl_version),
    .fallback = "",
    .help = "Release of NCCL or RCCL, from 2.0 to 2.30: 2.29.2, or 2.29 for the last release of 2.29. Empty: "
            "2.30.7; 2.27.7 on Pascal and Volta, which CUDA 13 does not support; RCCL 2.27.7 on CDNA 3 and "
            "4, else 2.22.3." },
  { .key = "net_fraction",
    .type = FAB_PARAM_FRACTION,
    .offset = G_STRUCT_OFFSET (NcclParams, net_fraction),
    .fallback = G_STRINGIFY (NCCL_NET_FRACTION),
    .max = 1,
    .min = 0.01,
    .help =
        "Fraction of an adapter's write rate that collectives reach, for link entries that do not give it. "
        "Measured on HDR: 23.57 of 24.58 GB/s (validate/measured/dgxa100_hdr_allreduce_16_ring.csv)." },
  { .key = "nvls",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (NcclParams, has_nvls),
    .fallback = "true",
    .help = "Use NVLink switches that can reduce (NCCL_NVLS_ENABLE)." },
  { .key = "collnet",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (NcclParams, has_collnet),
    .fallback = "false",
    .help =
        "Use the network's switches to reduce: the SHARP plug-in is installed and NCCL_COLLNET_ENABLE=1." },
  { .key = "symmetric",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (NcclParams, is_symmetric),
    .fallback = "false",
    .help = "Buffers are registered as symmetric windows (nccl-tests -R 2), so one NVLink domain uses the "
            "symmetric kernels of NCCL 2.27.3 and later. Modelled from NCCL's source alone; no measurement "
            "checks them." },
  { .key = "min_channels",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (NcclParams, min_channels),
    .fallback = "0",
    .max = 64,
    .help = "Smallest number of channels (NCCL_MIN_NCHANNELS)." },
  { .key = "max_channels",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (NcclParams, max_channels),
    .fallback = "64",
    .min = 1,
    .max = 64,
    .help = "Largest number of channels (NCCL_MAX_NCHANNELS)." },
  { .key = "p2p_chunk",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (NcclParams, p2p_chunk_bytes),
    .fallback = "0B",
    .help =
        "Chunk of sends and receives between nodes (NCCL_P2P_NET_CHUNKSIZE). 0B: NCCL's own, 128KiB or 256KiB." },
  { .key = "net_peer_channels",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (NcclParams, net_peer_channels),
    .fallback = "0",
    .max = 64,
    .help =
        "Channels of a send between nodes (NCCL_NCHANNELS_PER_NET_PEER); 0: by the rules of the release." },
  { .key = "flush",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (NcclParams, has_flush),
    .fallback = "true",
    .help =
        "A read flushes what arrives from the network where the accelerator needs it; false: never (RCCL: "
        "NCCL_GDR_FLUSH_DISABLE=1)." },
  { .key = "plugin",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (NcclParams, plugin),
    .fallback = "",
    .help =
        "Network plug-in, which gives the tuner a latency and may replace its choice; `none`: NCCL's own. "
        "Empty: the plug-in that the node entry names." },
  { .key = "matching",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (NcclParams, matching),
    .fallback = "auto",
    .choices = matching_choices,
    .help =
        "Who matches messages with receives on Slingshot (FI_CXI_RX_MATCH_MODE): hardware (the adapter) or "
        "software (a processor, which also copies short messages). auto: what the node entry says." },
  { .key = "algorithm",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (NcclParams, algorithm),
    .fallback = "",
    .takes_list = TRUE,
    .help = "Allow only these algorithms, in the syntax of NCCL_ALGO: ring, [ring, tree], ^tree, "
            "ring;allreduce:tree. Empty: the tuner chooses." },
  { .key = "protocol",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (NcclParams, protocol),
    .fallback = "auto",
    .takes_list = TRUE,
    .help = "Allow only these protocols (ll, ll128, simple), in the syntax of NCCL_PROTO. auto: the tuner "
            "chooses." },
  { .key = "measured",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (NcclParams, measured),
    .table = nccl_measured_params,
    .table_size = sizeof (NcclMeasured),
    .help = "Bus bandwidths measured between nodes of this cluster; they replace the rate that the links "
            "would allow." },
  { .key = NULL },
};

typedef struct {
  FabLibrary base;
  NcclParams params;
  NcclAsked asked;
  GHashTable *wires; /* NcclWires by FabCollectiveForm */
} NcclLibrary;

/* The choice of a candidate for one collective. */
typedef struct {
  NcclLibrary *library;
  NcclParams params; /* of the library, with what the release implies */
  NcclCaps caps;
  NcclSearch search;
  NcclTuning estimate;         /* of the algorithm in `common` */
  guint algorithms, protocols; /* that may run (NcclAsked); 0: any */
  FabAlgorithmEnv env;
  NcclCandidate common;
  NcclCandidate best;
  gboolean is_told; /* the network's plug-in chooses this model and protocol */
  const char *told_model;
  NcclProtocol told_protocol;
  double best_us;                /* the tuner's estimate for `best`; < 0: there is none yet */
  FabCollectivePlanBest fastest; /* of all candidates, by the time that they really take */
} Choice;

/* The number of those channels that have enough bytes to be used. Only rings of LL ask for bytes of every rank
 * (src/graph/tuning.cc, threadThresholds). */
static guint
count_channels (const NcclCandidate *candidate)
{
  const NcclBlock *block = nccl_block (candidate);

  if (candidate->algorithm->count_channels != NULL)
    return candidate->algorithm->count_channels (candidate);
  FabBytes least = (FabBytes) block->threads * block->threshold_bytes
                 * (candidate->protocol == NCCL_LL && candidate->algorithm->is_searched ? candidate->n_ranks
                                                                                        : 1);

  return (guint) CLAMP (candidate->bytes / least, 1, candidate->most_channels);
}

static gboolean
is_possible (const Choice *choice, const NcclCandidate *candidate)
{
  const FabCollectiveForm *form = candidate->form;
  guint asked = choice->protocols;
  NcclProtocol set;

  if (rccl_leaves_out (candidate))
    return FALSE;
  if (candidate->algorithm->protocol != NULL)
    return candidate->protocol == candidate->algorithm->protocol (candidate);
  if ((candidate->algorithm->protocols >> candidate->protocol & 1) == 0)
    return FALSE;
  if (asked != 0)
    return (asked >> candidate->protocol & 1) != 0;
  if (candidate->plugin->is_simple_only && candidate->group->n_nodes > 1)
    return candidate->protocol == NCCL_SIMPLE;
  if (rccl_sets_protocol (candidate, &set))
    return candidate->protocol == set;
  if (candidate->protocol != NCCL_LL128)
    return TRUE;
  return (candidate->architecture->has_ll128 || rccl_has_ll128 (candidate))
      && form->intra_kind == FAB_HOP_DIRECT && form->inter_kind != FAB_HOP_NET_HOST
      && form->inter_kind != FAB_HOP_NET_STAGED && !nccl_is_over_bus (form);
}

static void wait_for_host (const NcclParams *params, const FabGeneration *generation,
                           FabCollectivePlan *plan);

static FabTimePs
idle_ps_of (const Choice *choice, const NcclCandidate *candidate)
{
  FabCollectivePlan plan = { .op = candidate->op, .bytes = candidate->bytes, .n_ranks = candidate->n_ranks };

  nccl_cost (candidate, &plan);
  wait_for_host (&choice->params, candidate->group->cluster->generation, &plan);
  return fab_collective_plan_idle_ps (&plan);
}

/* Keeps the candidate if it takes less time than all before it: as it is, and with as many channels as NCCL can set up,
 * where it sets up fewer (NCCL_MIN_NCHANNELS). */
static void
note_time (Choice *choice, const NcclCandidate *candidate)
{
  NcclCandidate ways[] = { *candidate, *candidate };

  if (candidate->algorithm->nccl_name == NULL)
    return; /* nobody can ask for it */
  ways[1].most_channels = MAX (candidate->most_channels, candidate->architecture->most_channels);
  ways[1].n_channels = count_channels (&ways[1]);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    FabTimePs idle_ps = idle_ps_of (choice, &ways[i]);

    if (choice->fastest.algorithm == NULL || idle_ps < choice->fastest.idle_ps)
      choice->fastest = (FabCollectivePlanBest){ candidate->algorithm->model,
                                                 protocol_choices[candidate->protocol + 1],
                                                 ways[i].n_channels, idle_ps };
  }
}

/* Whether the network's plug-in chooses this algorithm. */
static gboolean
is_told (const Choice *choice, const NcclAlgorithm *algorithm)
{
  return choice->is_told && strcmp (choice->told_model, algorithm->model) == 0;
}

/* What the library believes that the candidate takes. Where the size sets RCCL's protocol, any of them may win for its
 * algorithm before. */
static double
believed_us (const Choice *choice, const NcclCandidate *candidate)
{
  NcclProtocol set;

  if (is_told (choice, candidate->algorithm) && candidate->protocol == choice->told_protocol)
    return 0;
  if (rccl_tunes (candidate))
    return rccl_tuner_us (candidate, choice->protocols == 0 && rccl_sets_protocol (candidate, &set));
  return nccl_tuner_us (candidate);
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
    note_time (choice, &candidate);
    double us = believed_us (choice, &candidate);
    if (choice->best_us >= 0 && us >= choice->best_us)
      continue;
    choice->best_us = us;
    choice->best = candidate;
  }
}

/* Whether an algorithm may run. Cheap questions come first: a model looks at every node to say what it supports. */
static gboolean
is_wanted (const Choice *choice, const FabAlgorithmOps *model)
{
  const NcclParams *params = &choice->params;
  const NcclCandidate *common = &choice->common;
  const NcclAlgorithm *algorithm = common->algorithm;
  guint asked = choice->algorithms;

  if (!nccl_has_op (algorithm, common->op))
    return FALSE;
  if (asked != 0 && (asked & nccl_algorithm_bit (algorithm)) == 0)
    return FALSE;
  if (asked != nccl_algorithm_bit (algorithm) && algorithm->is_considered != NULL
      && !algorithm->is_considered (params, common))
    return FALSE;
  return model->supports (common->group, common->op);
}

/* The model of an algorithm. Every list of models has the one that is asked for here. */
static const FabAlgorithmOps *
model_of (const NcclLibrary *self, const NcclAlgorithm *algorithm)
{
  for (guint i = 0; self->base.algorithms[i] != NULL; i++)
    if (strcmp (self->base.algorithms[i]->info.name, algorithm->model) == 0)
      return self->base.algorithms[i];
  g_assert_not_reached ();
}

/* Finds the bus bandwidth of the rings, which NCCL's search would find, and the number of channels that follows. */
static gboolean
measure_rings (Choice *choice, GError **error)
{
  const FabAlgorithmOps *ring = model_of (choice->library, nccl_searched_algorithm ());
  const FabGroup *group = choice->common.group;
  const FabCollectiveForm *form = fab_library_form (&choice->library->base, ring, group, FAB_OP_ALL_REDUCE,
                                                    &choice->env, error);

  if (form == NULL)
    return FALSE;
  choice->common.n_rails = form->n_channels;
  choice->common.busbw_GBps = nccl_wires (choice->library->wires, group, form)->node_bytes_per_s
                            * fab_op_bus_factor (FAB_OP_ALL_REDUCE, choice->common.n_ranks) / 1e9;
  nccl_search_group (&choice->common, form, &choice->search);
  choice->common.most_channels = (guint) CLAMP (choice->search.n_channels, choice->params.min_channels,
                                                choice->params.max_channels);
  return TRUE;
}

static const NcclTuning *
tuning_of (const NcclAlgorithm *algorithm, const NcclArchitecture *architecture)
{
  if (!architecture->is_rccl)
    return algorithm->nccl;
  return algorithm->cdna != NULL && rccl_has_limits (architecture) ? algorithm->cdna : algorithm->rccl;
}

/* Whether the tuner's estimate cannot be below the best one so far. */
static gboolean
is_hopeless (const Choice *choice)
{
  const NcclAlgorithm *algorithm = choice->common.algorithm;

  return choice->best_us >= 0 && algorithm->least_us != NULL && !is_told (choice, algorithm)
      && algorithm->least_us (&choice->common) >= choice->best_us;
}

static gboolean
try_algorithms (Choice *choice, GError **error)
{
  FabLibrary *library = &choice->library->base;

  for (guint i = 0; library->algorithms[i]; i++) {
    const FabAlgorithmOps *model = library->algorithms[i];
    const NcclAlgorithm *algorithm = nccl_algorithm (model->info.name);
    const NcclTuning *tuning = algorithm ? tuning_of (algorithm, choice->common.architecture) : NULL;
    const FabCollectiveForm *form;

    if (tuning == NULL)
      continue;
    choice->common.algorithm = algorithm;
    choice->common.tuning = tuning;
    nccl_tuning_of (&choice->common, &choice->estimate);
    if (!is_wanted (choice, model) || is_hopeless (choice))
      continue;
    form = fab_library_form (library, model, choice->common.group, choice->common.op, &choice->env, error);
    if (form == NULL)
      return FALSE;
    try_protocols (choice, form);
  }
  return TRUE;
}

/* Collectives that follow one another end no faster than the host issues them. */
static void
wait_for_host (const NcclParams *params, const FabGeneration *generation, FabCollectivePlan *plan)
{
  FabTimePs channels_ps = fab_ps_times (params->issue_channel_ps, plan->n_channels - 1);
  FabTimePs issue_ps = params->issue_ps > 0 ? params->issue_ps : generation->issue_ps;
  FabTimePs host_ps = fab_ps_times (fab_ps_add (issue_ps, channels_ps), (guint64) params->gpus_per_process);
  FabTimePs idle_ps = fab_collective_plan_idle_ps (plan);

  if (host_ps > idle_ps)
    plan->startup_ps = fab_ps_add (plan->startup_ps, host_ps - idle_ps);
}

static gboolean
plan_all_pairs (const Choice *choice, FabCollectivePlan *plan, GError **error)
{
  NcclLibrary *self = choice->library;
  const NcclAlgorithm *direct = nccl_algorithm ("direct");
  const FabCollectiveForm *form = fab_library_form (&self->base, model_of (self, direct),
                                                    choice->common.group, choice->common.op, &choice->env,
                                                    error);

  if (form == NULL)
    return FALSE;
  plan->algorithm = direct->model;
  plan->protocol = protocol_choices[rccl_plan_all_pairs (&choice->common, form, plan) + 1];
  wait_for_host (&choice->params, choice->common.group->cluster->generation, plan);
  return TRUE;
}

static void
finish_plan (const Choice *choice, FabCollectivePlan *plan)
{
  const NcclParams *params = &choice->params;
  const NcclCandidate *best = &choice->best;
  double measured = nccl_measured_bytes_per_s (&params->measured, best->group, best->op);

  plan->algorithm = best->algorithm->model;
  plan->protocol = protocol_choices[best->protocol + 1];
  nccl_cost (best, plan);
  if (measured > 0)
    plan->most_bytes_per_s = plan->ends_bytes_per_s = plan->steps.pace_bytes_per_s = measured;
  if (params->has_whole_chunks && best->algorithm->has_whole_chunks && plan->op != FAB_OP_BROADCAST
      && plan->op != FAB_OP_REDUCE)
    nccl_round_chunks (best, plan);
  wait_for_host (params, best->group->cluster->generation, plan);
  if (measured <= 0 && !params->has_whole_chunks
      && choice->fastest.idle_ps < fab_collective_plan_idle_ps (plan))
    plan->best = choice->fastest;
}

/* A kernel on registered buffers in place of the plan. */
static gboolean
take_symmetric (const Choice *choice, const NcclSymmetric *kernel, FabCollectivePlan *plan, GError **error)
{
  FabLibrary *library = &choice->library->base;
  const FabAlgorithmOps *model = model_of (choice->library, nccl_algorithm (kernel->model));
  const FabCollectiveForm *form = fab_library_form (library, model, choice->common.group, choice->common.op,
                                                    &choice->env, error);

  if (form == NULL)
    return FALSE;
  plan->algorithm = kernel->model;
  plan->protocol = kernel->protocol;
  plan->n_channels = kernel->n_blocks;
  plan->n_connections = 1;
  plan->footprint = form->footprint;
  plan->wire_factor = 1;
  plan->ends_bytes_per_s = (double) choice->common.bytes / (kernel->move_us * 1e-6);
  plan->most_bytes_per_s = plan->ends_bytes_per_s;
  plan->steps = (FabCollectivePlanSteps){ .pace_bytes_per_s = plan->ends_bytes_per_s };
  plan->latency_ps = fab_form_latency_ps (form);
  plan->startup_ps = MAX (fab_seconds_to_ps (kernel->base_us * 1e-6), plan->latency_ps);
  plan->best = (FabCollectivePlanBest){ 0 };
  wait_for_host (&choice->params, choice->common.group->cluster->generation, plan);
  return TRUE;
}

static const NcclPlugin *
plugin_of (const NcclParams *params, const FabGroup *group)
{
  const char *name = params->plugin != NULL ? params->plugin : group->cluster->plugin;
  const NcclPlugin *plugin = name != NULL ? nccl_plugin (name) : NULL;

  return plugin != NULL ? plugin : nccl_plugin ("none");
}

/* What is known before an algorithm is chosen. `choice` must not move afterwards. */
static gboolean
begin_choice (NcclLibrary *self, const FabGroup *group, const FabCollectivePlan *plan, Choice *choice,
              GError **error)
{
  const NcclArchitecture *architecture = nccl_architecture (group->cluster->architecture);
  guint version = nccl_version_of (&self->params, architecture);

  *choice = (Choice){ .library = self,
                      .params = self->params,
                      .env = { .net_stretch = 1 / self->params.net_fraction },
                      .common = { .group = group,
                                  .architecture = architecture,
                                  .version = version,
                                  .params = &self->params,
                                  .plugin = plugin_of (&self->params, group),
                                  .op = plan->op,
                                  .bytes = plan->bytes,
                                  .n_ranks = plan->n_ranks },
                      .best_us = -1 };
  if (!nccl_version_check (&self->params, architecture, error))
    return FALSE;
  nccl_version_apply (version, &choice->params);
  nccl_caps (version, architecture, &choice->caps);
  choice->common.caps = &choice->caps;
  choice->common.search = &choice->search;
  choice->common.estimate = &choice->estimate;
  return TRUE;
}

static NcclProtocol
protocol_of (const FabGiven *given)
{
  for (guint i = 0; i < NCCL_N_PROTOCOLS; i++)
    if (g_strcmp0 (given->protocol, protocol_choices[i + 1]) == 0)
      return (NcclProtocol) i;
  return NCCL_SIMPLE;
}

/* The messages of a file, by thread blocks of NCCL: MSCCL runs them inside NCCL's kernels. */
static gboolean
nccl_plan_by (FabLibrary *library, const FabGroup *group, const FabGiven *given, FabCollectivePlan *plan,
              GError **error)
{
  NcclLibrary *self = (NcclLibrary *) library;
  FabAlgorithmEnv env;
  Choice choice;

  if (!begin_choice (self, group, plan, &choice, error) || !measure_rings (&choice, error))
    return FALSE;
  env = choice.env;
  env.owner = given;
  const FabCollectiveForm *form = fab_library_form (library, &given->ops, group, plan->op, &env, error);
  if (form == NULL)
    return FALSE;
  choice.common.algorithm = nccl_given_algorithm ();
  choice.common.tuning = tuning_of (choice.common.algorithm, choice.common.architecture);
  nccl_tuning_of (&choice.common, &choice.estimate);
  choice.common.form = form;
  choice.common.wires = nccl_wires (self->wires, group, form);
  choice.common.protocol = protocol_of (given);
  choice.common.n_channels = choice.common.most_channels = MAX (given->n_channels, 1);
  plan->algorithm = given->name;
  plan->protocol = protocol_choices[choice.common.protocol + 1];
  nccl_cost (&choice.common, plan);
  wait_for_host (&choice.params, group->cluster->generation, plan);
  return TRUE;
}

/* Operations that NCCL makes of sends and receives, which NCCL_ALGO and NCCL_PROTO do not reach. */
static gboolean
is_of_sends (FabOp op)
{
  return op == FAB_OP_ALL_TO_ALL || op == FAB_OP_SEND_RECV || op == FAB_OP_GATHER || op == FAB_OP_SCATTER;
}

static gboolean
nccl_plan (FabLibrary *library, const FabGroup *group, FabOp op, FabBytes bytes, FabCollectivePlan *plan,
           GError **error)
{
  NcclLibrary *self = (NcclLibrary *) library;
  Choice choice;

  if (!begin_choice (self, group, plan, &choice, error))
    return FALSE;
  choice.algorithms = is_of_sends (op) ? 0 : self->asked.algorithms[op];
  choice.protocols = is_of_sends (op) ? 0 : self->asked.protocols[op];
  choice.is_told = nccl_plugin_chooses (choice.common.plugin, group, op, bytes, &choice.told_model,
                                        &choice.told_protocol);
  if (choice.algorithms == 0 && choice.protocols == 0
      && rccl_plays_all_pairs (&choice.params, &choice.common))
    return plan_all_pairs (&choice, plan, error);
  if (!measure_rings (&choice, error) || !try_algorithms (&choice, error))
    return FALSE;
  if (choice.best_us < 0 && choice.common.version < 22400) {
    choice.algorithms = nccl_algorithm_bit (
        nccl_searched_algorithm ()); /* before 2.24 rings ran where nothing else could */
    if (!try_algorithms (&choice, error))
      return FALSE;
  }
  if (choice.best_us < 0)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "collectives.algorithm: NCCL has no '%s' for %s over these %u ranks%s%s; collectives.kind=plain "
        "plays any algorithm that the links allow",
        self->params.algorithm ? self->params.algorithm : "auto", fab_op_names[op], plan->n_ranks,
        self->asked.protocols[op] ? " with protocol " : "",
        self->asked.protocols[op] ? self->params.protocol : "");
  finish_plan (&choice, plan);
  NcclSymmetric kernel;
  if (choice.params.is_symmetric && nccl_symmetric (&choice.common, &kernel))
    return take_symmetric (&choice, &kernel, plan, error);
  return TRUE;
}

static void
check_lists (const NcclParams *self, FabCheck *check)
{
  g_autofree char *message = NULL;
  NcclAsked asked = { 0 };
  guint version = self->nccl_version != NULL ? nccl_version_parse (self->nccl_version) : 0;

  if (self->algorithm != NULL && !nccl_list_parse (TRUE, self->algorithm, asked.algorithms, &message)) {
    fab_check_fail (check, &self->algorithm, "%s", message);
    return;
  }
  if (!nccl_asked_parse (self, &asked, &message)) {
    fab_check_fail (check, &self->protocol, "%s", message);
    return;
  }
  message = nccl_asked_contradiction (self, &asked);
  if (message != NULL)
    fab_check_fail (check, &self->protocol, "%s", message);
  else if (version != 0 && version < 22400 && nccl_asked_has_ops (self))
    fab_check_fail (check, &self->nccl_version, "lists for single operations need NCCL 2.24 or later");
}

static void
nccl_check (gconstpointer params, FabCheck *check)
{
  const NcclParams *self = params;

  check_lists (self, check);

  if (self->nccl_version != NULL && nccl_version_parse (self->nccl_version) == 0)
    fab_check_fail (check, &self->nccl_version,
                    "'%s' is not a known release; write one from 2.0 to 2.30, such as 2.29.2 or 2.29",
                    self->nccl_version);
  if (self->plugin != NULL && nccl_plugin (self->plugin) == NULL) {
    g_autofree char *names = nccl_plugin_names ();

    fab_check_fail (check, &self->plugin, "'%s' is not a known plug-in; the known ones are %s", self->plugin,
                    names);
  }
}

static FabLibrary *
nccl_create (const FabModelInfo *const *algorithms, gconstpointer params)
{
  NcclLibrary *self = g_new0 (NcclLibrary, 1);
  g_autofree char *message = NULL;

  fab_library_init (&self->base, &fab_library_nccl, algorithms);
  self->params = *(const NcclParams *) params;
  if (!nccl_asked_parse (&self->params, &self->asked, &message))
    self->asked = (NcclAsked){ 0 }; /* nccl_check () has said why */
  self->wires = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  return &self->base;
}

/* ncclSend and ncclRecv have neither a value of NCCL_ALGO nor kernels for other operations. */
static gboolean
nccl_can_be_chosen (const FabModelInfo *model)
{
  return fab_nccl_algorithm_model (model->name) != NULL;
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
            .summary = "NCCL and RCCL: their tuner chooses algorithm and protocol; links set bandwidth.",
            .doc = "docs/models/nccl.md",
            .params = nccl_params,
            .params_size = sizeof (NcclParams),
            .check = nccl_check },
  .create = nccl_create,
  .plan = nccl_plan,
  .plan_by = nccl_plan_by,
  .destroy = nccl_destroy,
  .can_be_chosen = nccl_can_be_chosen,
};
