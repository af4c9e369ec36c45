/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.c - what NCCL makes of the wires: protocol, channels and the time before bytes flow.
 *
 *   startup = launch + base + intra steps x intra latency + inter steps x inter latency
 *   time    = startup + bytes x wire factor / rate of the footprint, not above the LL cap
 *
 * and the protocol with the smallest time runs, as in NCCL's own tuner. Constants per step are those
 * of NCCL 2.30.7, src/graph/tuning.cc (baseLat, hwLat, llMaxBws, ring "plateau" x1.4); they contain the wire,
 * so link latencies are not added again; a step over slower wires takes what these take. Unlike NCCL, bandwidth
 * is not tabled: it comes from the links.
 *
 *   LL      lines of 16 B, 8 of them data: wire factor 2         LL128  128 B, 120 data: 128/120 (NVLink only)
 *   Simple  no flags: 1
 *
 * What the tuner does not know of comes on top, as startup: the chunks of old versions (round_chunks) and a host
 * that issues more slowly than GPUs finish (wait_for_host).
 */
#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/work/collective.h"

typedef enum { PROTOCOL_LL, PROTOCOL_LL128, PROTOCOL_SIMPLE, N_PROTOCOLS } Protocol;

static const char *const protocol_choices[] = { "auto", "ll", "ll128", "simple", NULL };
static const double wire_factors[N_PROTOCOLS] = { 16.0 / 8, 128.0 / 120, 1 };

/* A channel is one thread block. It is used when every thread has `threshold_bytes` to do (LL in a ring: of every
 * rank), and before NCCL 2.22 it moved multiples of threads x grain_bytes: src/enqueue.cc, src/collectives/device. */
typedef struct {
  guint threads, threshold_bytes, grain_bytes;
} Block;

static const Block blocks[N_PROTOCOLS] = { { 512, 8, 8 }, { 640, 8, 30 }, { 512, 64, 8 } };

typedef struct {
  FabTimePs launch_ps, issue_ps, issue_channel_ps;
  gint64 gpus_per_process;
  gboolean has_whole_chunks;
  double net_fraction;
  const char *algorithm;
  gint protocol; /* 0: auto, else Protocol + 1 */
} NcclParams;

static const FabParam nccl_params[] = {
  { .key = "launch",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (NcclParams, launch_ps),
    .fallback = "10us",
    .help =
        "Kernel launch and end of every collective. Measured: 8 B all-reduce of 16 GPUs, 38.6 us, less NCCL's "
        "own constants, 28.8 us (validate/measured/dgxa100_hdr_allreduce_16_ring.csv)." },
  { .key = "gpus_per_process",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (NcclParams, gpus_per_process),
    .fallback = "1",
    .min = 1,
    .max = 64,
    .help =
        "GPUs that one process drives, one after another (nccl-tests -g); training has one process per GPU." },
  { .key = "issue",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (NcclParams, issue_ps),
    .fallback = "4.3us",
    .help =
        "Host time to issue a collective on one GPU; collectives in a row go no faster. Measured: 34.7 us for 8 "
        "GPUs of one process, whatever the operation (validate/measured/a100x8_nvswitch_allreduce_8.csv)." },
  { .key = "issue_per_channel",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (NcclParams, issue_channel_ps),
    .fallback = "0ns",
    .help =
        "Host time on top for every further channel. NCCL before 2.12 wrote work for each: 220ns, measured from "
        "1 to 24 channels in the same table." },
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
    .fallback = "0.9588",
    .max = 1,
    .min = 0.01,
    .help =
        "Share of an HCA's RDMA write rate that collectives reach. Measured: 23.57 of 24.58 GB/s per HDR port, "
        "16-GPU ring plateau (validate/measured/dgxa100_hdr_allreduce_16_ring.csv)." },
  { .key = "algorithm",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (NcclParams, algorithm),
    .fallback = "",
    .help = "Only this algorithm (as NCCL_ALGO does); empty: the fastest." },
  { .key = "protocol",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (NcclParams, protocol),
    .fallback = "auto",
    .choices = protocol_choices,
    .help = "Only this protocol (as NCCL_PROTO does); auto: the fastest." },
  { .key = NULL },
};

/* Microseconds per protocol: LL, LL128, Simple. */
typedef struct {
  const char *algorithm;
  double base_us[N_PROTOCOLS];
  double nvlink_us[N_PROTOCOLS];
  double pci_us[N_PROTOCOLS];
  double net_us[N_PROTOCOLS];
} Latencies;

static const Latencies latencies[] = {
  { "ring", { 6.6, 14.0, 8.4 }, { 0.6, 1.9, 3.4 }, { 1.0, 2.5, 5.7 }, { 2.7, 4.0, 14.0 } },
};

/* LL's ceiling in busbw GB/s on 1, 2 and more nodes. */
typedef struct {
  const char *architecture;
  double GBps[3];
} LlCap;

static const LlCap ll_caps[] = {
  { "volta", { 39.0, 39.0, 20.4 } },
  { "ampere", { 87.7, 22.5, 19.0 } },
  { "hopper", { 141.0, 45.0, 35.0 } },
  { "blackwell", { 282.0, 90.0, 70.0 } },
};

typedef struct {
  FabLibrary base;
  NcclParams params;
} NcclLibrary;

static double
ll_cap_bytes_per_s (const FabGroup *group)
{
  guint column = MIN (group->n_nodes - 1, 2);

  for (guint i = 0; i < G_N_ELEMENTS (ll_caps); i++)
    if (g_strcmp0 (ll_caps[i].architecture, group->cluster->architecture) == 0)
      return ll_caps[i].GBps[column] * 1e9;
  return 0;
}

/* NCCL's search finds channels of about 20 GB/s inside a node, or one per NIC, and doubles them. */
static guint
most_channels (const FabGroup *group, const FabCollectiveForm *form, FabOp op)
{
  const double channel_bytes_per_s = 20e9;
  const guint most = 32;

  if (group->n_nodes > 1)
    return MIN (2 * form->n_channels, most);
  double busbw = form->footprint->rate_bytes_per_s * fab_op_bus_factor (op, fab_group_n_ranks (group));
  return CLAMP (2 * (guint) (busbw / channel_bytes_per_s + 0.5), 2, most);
}

/* Of these, the ones that have enough to do. */
static guint
count_channels (const FabCollectivePlan *plan, Protocol protocol, guint most)
{
  FabBytes least = (FabBytes) blocks[protocol].threads * blocks[protocol].threshold_bytes
                 * (protocol == PROTOCOL_LL ? plan->n_ranks : 1);

  return (guint) CLAMP (plan->bytes / least, 1, most);
}

static double
startup_us (const FabCollectiveForm *form, const Latencies *table, Protocol protocol)
{
  gboolean is_nvlink = form->intra_technology && strcmp (form->intra_technology, "NVLink") == 0;
  double intra_us = is_nvlink ? table->nvlink_us[protocol] : table->pci_us[protocol];

  double intra_wire_us = 1e6 * fab_ps_to_seconds (form->intra_latency_ps);
  double inter_wire_us = 1e6 * fab_ps_to_seconds (form->inter_latency_ps);

  return table->base_us[protocol] + form->n_intra_steps * MAX (intra_us, intra_wire_us)
       + form->n_inter_steps * MAX (table->net_us[protocol], inter_wire_us);
}

/* Between nodes a long Simple ring does not hide its steps: NCCL multiplies their latency by 1.4
 * once every rank has 64 bytes per channel. */
static double
plateau_factor (const FabCollectivePlan *plan, const FabGroup *group, Protocol protocol, guint most)
{
  gboolean is_long = plan->bytes / ((guint64) most * plan->n_ranks) >= 64;

  return protocol == PROTOCOL_SIMPLE && plan->op == FAB_OP_ALL_REDUCE && group->n_nodes > 1 && is_long ? 1.4
                                                                                                       : 1;
}

static gboolean
is_possible (const NcclLibrary *self, const FabCollectiveForm *form, Protocol protocol)
{
  if (self->params.protocol != 0)
    return self->params.protocol == (gint) protocol + 1;
  return protocol != PROTOCOL_LL128 || g_strcmp0 (form->intra_technology, "NVLink") == 0
      || form->intra_technology == NULL;
}

/* What the endpoints can do: LL's own ceiling, and fewer channels than rings leave NICs idle. 0: no limit. */
static double
limit_bytes_per_s (const FabGroup *group, const FabCollectiveForm *form, const FabCollectivePlan *plan,
                   Protocol protocol)
{
  double rate = form->footprint->rate_bytes_per_s / plan->wire_factor;
  double limit = protocol == PROTOCOL_LL
                   ? ll_cap_bytes_per_s (group) / fab_op_bus_factor (plan->op, plan->n_ranks)
                   : 0;

  if (plan->n_channels >= form->n_channels)
    return limit;
  rate *= (double) plan->n_channels / form->n_channels;
  return limit > 0 ? MIN (limit, rate) : rate;
}

/* The fastest so far, by what the tuner knows. */
typedef struct {
  FabCollectivePlan plan;
  const FabCollectiveForm *form; /* NULL: none yet */
  Protocol protocol;
} Choice;

static void
try_protocols (const NcclLibrary *self, const FabGroup *group, const FabCollectiveForm *form,
               const Latencies *table, Choice *best)
{
  guint most = most_channels (group, form, best->plan.op);

  for (Protocol protocol = 0; protocol < N_PROTOCOLS; protocol++) {
    FabCollectivePlan plan = best->plan;

    if (!is_possible (self, form, protocol))
      continue;
    plan.algorithm = table->algorithm;
    plan.protocol = protocol_choices[protocol + 1];
    plan.n_channels = count_channels (&plan, protocol, most);
    plan.n_connections = MAX (plan.n_channels / form->n_channels, 1);
    plan.footprint = form->footprint;
    plan.wire_factor = wire_factors[protocol];
    plan.limit_bytes_per_s = limit_bytes_per_s (group, form, &plan, protocol);
    double us = startup_us (form, table, protocol) * plateau_factor (&plan, group, protocol, most);
    plan.latency_ps = fab_form_latency_ps (form);
    plan.startup_ps = MAX (fab_ps_add (self->params.launch_ps, fab_seconds_to_ps (us * 1e-6)),
                           plan.latency_ps);
    if (best->form == NULL || fab_plan_idle_ps (&plan) < fab_plan_idle_ps (&best->plan))
      *best = (Choice){ plan, form, protocol };
  }
}

static gboolean
is_chain (FabOp op)
{
  return op == FAB_OP_BROADCAST || op == FAB_OP_REDUCE;
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
round_chunks (const FabGroup *group, Choice *choice)
{
  FabCollectivePlan *plan = &choice->plan;
  const Block *block = &blocks[choice->protocol];
  FabBytes unit = (FabBytes) plan->n_ranks * plan->n_channels * block->threads * block->grain_bytes;
  FabBytes rounded = (plan->bytes + unit - 1) / unit * unit;
  double flow_s = fab_ps_to_seconds (fab_plan_idle_ps (plan) - plan->startup_ps);
  double steps_s = (double) rounded * plan->wire_factor * steps_seconds_per_byte (group, choice->form);

  if (steps_s > flow_s)
    plan->startup_ps = fab_ps_add (plan->startup_ps, fab_seconds_to_ps (steps_s - flow_s));
}

/* Collectives in a row end no faster than the host issues them. */
static void
wait_for_host (const NcclParams *params, FabCollectivePlan *plan)
{
  FabTimePs channels_ps = fab_ps_times (params->issue_channel_ps, plan->n_channels - 1);
  FabTimePs host_ps = fab_ps_times (fab_ps_add (params->issue_ps, channels_ps),
                                    (guint64) params->gpus_per_process);
  FabTimePs idle_ps = fab_plan_idle_ps (plan);

  if (host_ps > idle_ps)
    plan->startup_ps = fab_ps_add (plan->startup_ps, host_ps - idle_ps);
}

static const Latencies *
find_latencies (const char *algorithm)
{
  for (guint i = 0; i < G_N_ELEMENTS (latencies); i++)
    if (strcmp (latencies[i].algorithm, algorithm) == 0)
      return &latencies[i];
  return NULL;
}

static gboolean
nccl_plan (FabLibrary *library, const FabGroup *group, FabOp op, G_GNUC_UNUSED FabBytes bytes,
           FabCollectivePlan *plan, GError **error)
{
  NcclLibrary *self = (NcclLibrary *) library;
  FabAlgorithmEnv env = { .net_stretch = 1 / self->params.net_fraction };
  Choice best = { .plan = *plan };

  for (guint i = 0; library->algorithms[i]; i++) {
    const FabAlgorithmOps *algorithm = (const FabAlgorithmOps *) library->algorithms[i];
    const Latencies *table = find_latencies (algorithm->info.name);
    const FabCollectiveForm *form;

    if (table == NULL || !algorithm->supports (group, op))
      continue;
    if (self->params.algorithm && strcmp (self->params.algorithm, algorithm->info.name) != 0)
      continue;
    form = fab_library_form (library, algorithm, group, op, &env, error);
    if (form == NULL)
      return FALSE;
    try_protocols (self, group, form, table, &best);
  }
  if (best.form == NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "collectives.algorithm: nothing called '%s' can do %s over %u ranks",
                      self->params.algorithm ? self->params.algorithm : "auto", fab_op_names[op],
                      plan->n_ranks);
  if (self->params.has_whole_chunks && !is_chain (op))
    round_chunks (group, &best);
  wait_for_host (&self->params, &best.plan);
  *plan = best.plan;
  return TRUE;
}

static FabLibrary *
nccl_create (const FabModelInfo *const *algorithms, gconstpointer params)
{
  NcclLibrary *self = g_new0 (NcclLibrary, 1);

  fab_library_init (&self->base, &fab_library_nccl, algorithms);
  self->params = *(const NcclParams *) params;
  return &self->base;
}

static void
nccl_destroy (FabLibrary *library)
{
  fab_library_clear (library);
  g_free (library);
}

const FabLibraryOps fab_library_nccl = {
  .info = { .name = "nccl",
            .summary = "NCCL's protocols and latencies over the links' own bandwidth; the fastest runs.",
            .doc = "docs/models/nccl.md",
            .params = nccl_params,
            .params_size = sizeof (NcclParams) },
  .create = nccl_create,
  .plan = nccl_plan,
  .destroy = nccl_destroy,
};
