/* SPDX-License-Identifier: Apache-2.0 */
/* small_models.h - a registry of toy models, with a parameter of every type, for the tests of sim/scenario.
 *
 * Tables only: nothing here can be simulated. The names that scenarios default to exist (switch, shortest,
 * fluid, nccl). `hierarchical` holds another algorithm, so the registry is recursive. The matching
 * catalogue and scenario are tests/fixtures/small.
 */
#pragma once

#include "sim/fabric/fabric.h"
#include "sim/net/net.h"
#include "sim/registry.h"

typedef struct {
  double oversubscription_factor;
} SmallSwitch;

static const FabParam small_switch_params[] = {
  { .key = "oversubscription",
    .type = FAB_PARAM_FACTOR,
    .offset = G_STRUCT_OFFSET (SmallSwitch, oversubscription_factor),
    .fallback = "1",
    .min = 1.0,
    .max = 64.0,
    .help = "Downlinks over uplinks." },
  { .key = NULL },
};

typedef struct {
  FabBytes mtu_bytes;
  FabTimePs launch_ps;
} SmallPacket;

static const FabParam small_packet_params[] = {
  { .key = "mtu",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (SmallPacket, mtu_bytes),
    .fallback = "4KiB",
    .min = 64.0,
    .max = 65536.0,
    .help = "Largest packet." },
  { .key = "launch",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (SmallPacket, launch_ps),
    .fallback = "0ns",
    .help = "Added to every transfer." },
  { .key = NULL },
};

typedef struct {
  FabModelChoice inner;
} SmallHierarchical;

static const FabParam small_hierarchical_params[] = {
  { .key = "inner",
    .type = FAB_PARAM_MODEL,
    .offset = G_STRUCT_OFFSET (SmallHierarchical, inner),
    .fallback = "ring",
    .models = FAB_MODEL_ALGORITHM,
    .help = "Inside a node." },
  { .key = NULL },
};

typedef struct {
  gint64 channels;
  FabModelChoice algorithm;
} SmallNccl;

static const FabParam small_nccl_params[] = {
  { .key = "channels",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (SmallNccl, channels),
    .fallback = "0",
    .min = 0.0,
    .max = 32.0,
    .help = "0: chosen." },
  { .key = "algorithm",
    .type = FAB_PARAM_MODEL,
    .offset = G_STRUCT_OFFSET (SmallNccl, algorithm),
    .fallback = "ring",
    .models = FAB_MODEL_ALGORITHM,
    .help = "How." },
  { .key = NULL },
};

typedef struct {
  double efficiency_fraction;
} SmallMfu;

static const FabParam small_mfu_params[] = {
  { .key = "efficiency",
    .type = FAB_PARAM_FRACTION,
    .offset = G_STRUCT_OFFSET (SmallMfu, efficiency_fraction),
    .fallback = "50%",
    .help = "Of the peak." },
  { .key = NULL },
};

typedef struct {
  gint64 layers, hidden, heads;
} SmallMlp;

static const FabParam small_mlp_params[] = {
  { .key = "layers",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (SmallMlp, layers),
    .min = 1.0,
    .max = 1e6,
    .help = "Layers." },
  { .key = "hidden",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (SmallMlp, hidden),
    .fallback = "1024",
    .min = 1.0,
    .help = "Width." },
  { .key = "heads",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (SmallMlp, heads),
    .fallback = "16",
    .min = 1.0,
    .help = "Heads." },
  { .key = NULL },
};

static inline void
small_mlp_check (gconstpointer params, FabCheck *check)
{
  const SmallMlp *p = params;

  if (p->hidden % p->heads != 0)
    fab_check_fail (check, &p->hidden, "hidden %d is not a multiple of heads %d", (int) p->hidden,
                    (int) p->heads);
}

typedef struct {
  const char *link;
  double work_flops, work_flops_per_s;
  FabBytesPerS rate_bytes_per_s;
} SmallStage;

static const FabParam small_stage_params[] = {
  { .key = "link",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (SmallStage, link),
    .fallback = "",
    .help = "A link.",
    .refers = FAB_REFERS_LINK },
  { .key = "work",
    .type = FAB_PARAM_FLOPS,
    .offset = G_STRUCT_OFFSET (SmallStage, work_flops),
    .fallback = "1TFLOP",
    .help = "Compute." },
  { .key = "speed",
    .type = FAB_PARAM_FLOPS_RATE,
    .offset = G_STRUCT_OFFSET (SmallStage, work_flops_per_s),
    .fallback = "1TFLOP/s",
    .help = "Compute rate." },
  { .key = "rate",
    .type = FAB_PARAM_RATE,
    .offset = G_STRUCT_OFFSET (SmallStage, rate_bytes_per_s),
    .fallback = "1Gb/s",
    .help = "Rate." },
  { .key = NULL },
};

static const char *const small_modes[] = { "eager", "lazy", NULL };

typedef struct {
  const char *model;
  FabBytes bucket_bytes;
  gboolean has_overlap;
  int mode;
  FabModelChoice compute;
  double skew_factor;
  FabParamList stages;
} SmallDdp;

static const FabParam small_ddp_params[] = {
  { .key = "model",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (SmallDdp, model),
    .help = "A model entry.",
    .refers = FAB_REFERS_MODEL },
  { .key = "bucket",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (SmallDdp, bucket_bytes),
    .fallback = "25MiB",
    .help = "Bucket." },
  { .key = "overlap",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (SmallDdp, has_overlap),
    .fallback = "true",
    .help = "Whether." },
  { .key = "mode",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (SmallDdp, mode),
    .fallback = "eager",
    .choices = small_modes,
    .help = "Mode." },
  { .key = "compute",
    .type = FAB_PARAM_MODEL,
    .offset = G_STRUCT_OFFSET (SmallDdp, compute),
    .fallback = "mfu",
    .models = FAB_MODEL_COMPUTE,
    .help = "How FLOPs become time." },
  { .key = "skew",
    .type = FAB_PARAM_FACTOR,
    .offset = G_STRUCT_OFFSET (SmallDdp, skew_factor),
    .fallback = "0",
    .min = -1.0,
    .max = 1.0,
    .help = "Skew." },
  { .key = "stages",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (SmallDdp, stages),
    .table = small_stage_params,
    .table_size = sizeof (SmallStage),
    .help = "Stages." },
  { .key = NULL },
};

#define SMALL_MODEL(variable_, name_, table_, struct_)                                    \
  static const FabModelInfo variable_ = {                                                 \
    .name = name_, .summary = "A toy.", .params = table_, .params_size = sizeof (struct_) \
  }
#define SMALL_BARE_MODEL(variable_, name_) \
  static const FabModelInfo variable_ = { .name = name_, .summary = "A toy." }

static const FabFabricOps small_switch = { .info = { .name = "switch",
                                                     .summary = "A toy.",
                                                     .params = small_switch_params,
                                                     .params_size = sizeof (SmallSwitch) } };
SMALL_BARE_MODEL (small_shortest, "shortest");
static const FabNetOps small_fluid = { .info = { .name = "fluid", .summary = "A toy." } };
static const FabNetOps small_packet = { .info = { .name = "packet",
                                                  .summary = "A toy.",
                                                  .params = small_packet_params,
                                                  .params_size = sizeof (SmallPacket) } };
SMALL_BARE_MODEL (small_ring, "ring");
SMALL_BARE_MODEL (small_tree, "tree");
SMALL_MODEL (small_hierarchical, "hierarchical", small_hierarchical_params, SmallHierarchical);
SMALL_MODEL (small_nccl, "nccl", small_nccl_params, SmallNccl);
SMALL_MODEL (small_mfu, "mfu", small_mfu_params, SmallMfu);
SMALL_MODEL (small_ddp, "ddp", small_ddp_params, SmallDdp);
static const FabModelInfo small_mlp = { .name = "mlp",
                                        .summary = "A toy.",
                                        .params = small_mlp_params,
                                        .params_size = sizeof (SmallMlp),
                                        .check = small_mlp_check };

static const FabModelInfo *const small_fabrics[] = { &small_switch.info, NULL };
static const FabModelInfo *const small_routes[] = { &small_shortest, NULL };
static const FabModelInfo *const small_nets[] = { &small_fluid.info, &small_packet.info, NULL };
static const FabModelInfo *const small_algorithms[] = { &small_ring, &small_tree, &small_hierarchical, NULL };
static const FabModelInfo *const small_libraries[] = { &small_nccl, NULL };
static const FabModelInfo *const small_computes[] = { &small_mfu, NULL };
static const FabModelInfo *const small_shapes[] = { &small_mlp, NULL };
static const FabModelInfo *const small_workloads[] = { &small_ddp, NULL };

static const FabRegistry small_registry = {
  .lists = {
    [FAB_MODEL_FABRIC] = small_fabrics,
    [FAB_MODEL_ROUTE] = small_routes,
    [FAB_MODEL_NET] = small_nets,
    [FAB_MODEL_ALGORITHM] = small_algorithms,
    [FAB_MODEL_LIBRARY] = small_libraries,
    [FAB_MODEL_COMPUTE] = small_computes,
    [FAB_MODEL_SHAPE] = small_shapes,
    [FAB_MODEL_WORKLOAD] = small_workloads,
  },
};

#define SMALL_CATALOG FAB_SOURCE_DIR "/tests/fixtures/small/catalog"
#define SMALL_SCENARIO FAB_SOURCE_DIR "/tests/fixtures/small/scenario.yaml"
