/* SPDX-License-Identifier: Apache-2.0 */
/* models.h - every model, and the registry that lists them. A model is a file and a row here. */
#pragma once

#include "sim/execution/software.h"
#include "sim/execution/workload.h"
#include "sim/fabric/fabric.h"
#include "sim/net/congestion.h"
#include "sim/registry.h"
#include "sim/scenario/model_file.h"

/* --- the lists ---
 *
 * One row for each model, in the order in which `fabricast describe` shows them. What else names all models is made
 * from these lists or held against them: the declarations below, the registry (models.c), and pages (.ci/lists.py). */

/* clang-format off */
/* How NICs are joined. */
#define FAB_FABRICS(M) \
  M (switch) M (rail) M (rail_only) M (leaf_spine) M (fat_tree) M (dragonfly) M (dragonfly_plus) \
  M (hyperx) M (slim_fly) M (torus) M (custom)

/* Which paths a transfer takes. */
#define FAB_ROUTES(M) \
  M (shortest) M (static) M (ecmp) M (spray) M (adaptive) M (flowlet) M (reps) M (reactive)

/* Fidelities. */
#define FAB_NETS(M) \
  M (fluid) M (step) M (analytic) M (packet) M (sampled)

/* How senders react to congestion. */
#define FAB_CONGESTIONS(M) \
  M (none) M (dcqcn) M (timely) M (swift) M (hpcc) M (nscc) M (credit)

/* Of collectives. */
#define FAB_ALGORITHMS(M) \
  M (ring) M (tree) M (nvls) M (nvls_tree) M (collnet_direct) M (collnet_chain) M (pat) \
  M (halving_doubling) M (direct) M (hierarchical) M (themis) M (binomial) M (bucket)

/* Collective libraries. */
#define FAB_LIBRARIES(M) \
  M (nccl) M (plain) M (mpi)

/* FLOPs to time. */
#define FAB_COMPUTES(M) \
  M (mfu) M (auto) M (roofline) M (measured)

/* Neural networks to layers. */
#define FAB_SHAPES(M) \
  M (transformer) M (layers)

/* Jobs. */
#define FAB_WORKLOADS(M) \
  M (ddp) M (zero) M (fsdp) M (megatron) M (collective) M (traffic) M (trace) M (kv) M (rl)

/* clang-format on */

/* --- what they declare: fab_fabric_switch, fab_route_ecmp, ... --- */

#define FAB_DECLARE_FABRIC(name) extern const FabFabricOps fab_fabric_##name;
FAB_FABRICS (FAB_DECLARE_FABRIC)
#define FAB_DECLARE_ROUTE(name) extern const FabRouterOps fab_route_##name;
FAB_ROUTES (FAB_DECLARE_ROUTE)
#define FAB_DECLARE_NET(name) extern const FabNetOps fab_net_##name;
FAB_NETS (FAB_DECLARE_NET)
#define FAB_DECLARE_CONGESTION(name) extern const FabCongestionOps fab_congestion_##name;
FAB_CONGESTIONS (FAB_DECLARE_CONGESTION)
#define FAB_DECLARE_ALGORITHM(name) extern const FabAlgorithmOps fab_algorithm_##name;
FAB_ALGORITHMS (FAB_DECLARE_ALGORITHM)
#define FAB_DECLARE_LIBRARY(name) extern const FabLibraryOps fab_library_##name;
FAB_LIBRARIES (FAB_DECLARE_LIBRARY)
#define FAB_DECLARE_COMPUTE(name) extern const FabComputeOps fab_compute_##name;
FAB_COMPUTES (FAB_DECLARE_COMPUTE)
#define FAB_DECLARE_SHAPE(name) extern const FabShapeOps fab_shape_##name;
FAB_SHAPES (FAB_DECLARE_SHAPE)
#define FAB_DECLARE_WORKLOAD(name) extern const FabWorkloadOps fab_workload_##name;
FAB_WORKLOADS (FAB_DECLARE_WORKLOAD)

extern const FabRegistry fab_models;

/* What changed with releases of PyTorch (compute/pytorch.c). */

/* A release is major x 100 + minor: 2.11 is 211. */
#define FAB_PYTORCH(major_, minor_) ((major_) *100 + (minor_))

/* Returns the release of a text such as "2.11", or the newest one that was out in a month such as "2024-06"; 0: it is
 * neither. */
guint fab_pytorch_release (const char *text);

/* "2.11". (transfer full) */
char *fab_pytorch_name (guint release);

/* The newest release whose builds run on such an accelerator. */
guint fab_pytorch_usual (const char *architecture);

/* The kernel that scaled_dot_product_attention takes for causal attention in 16 bits. */
FabAttentionKernel fab_pytorch_attention (guint release, const char *architecture);

/* Whether an RMS norm is one kernel in eager mode. */
gboolean fab_pytorch_has_fused_norm (guint release);
