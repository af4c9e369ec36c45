/* SPDX-License-Identifier: Apache-2.0 */
#include "models/models.h"

#include "formats/model/huggingface.h"
#include "formats/schedule/schedule.h"

static const FabModelInfo *const fabrics[] = {
  &fab_fabric_switch.info,         &fab_fabric_rail.info,     &fab_fabric_rail_only.info,
  &fab_fabric_leaf_spine.info,     &fab_fabric_fat_tree.info, &fab_fabric_dragonfly.info,
  &fab_fabric_dragonfly_plus.info, &fab_fabric_hyperx.info,   &fab_fabric_slim_fly.info,
  &fab_fabric_torus.info,          &fab_fabric_custom.info,   NULL,
};

static const FabModelInfo *const routes[] = { &fab_route_shortest.info, &fab_route_ecmp.info,
                                              &fab_route_spray.info,    &fab_route_adaptive.info,
                                              &fab_route_flowlet.info,  &fab_route_reps.info,
                                              &fab_route_reactive.info, NULL };
static const FabModelInfo *const nets[] = { &fab_net_fluid.info, &fab_net_step.info, &fab_net_analytic.info,
                                            &fab_net_packet.info, NULL };
static const FabModelInfo *const congestions[] = { &fab_congestion_none.info,
                                                   &fab_congestion_dcqcn.info,
                                                   &fab_congestion_swift.info,
                                                   &fab_congestion_hpcc.info,
                                                   &fab_congestion_nscc.info,
                                                   &fab_congestion_credit.info,
                                                   NULL };
static const FabModelInfo *const algorithms[] = {
  &fab_algorithm_ring.info,
  &fab_algorithm_tree.info,
  &fab_algorithm_nvls.info,
  &fab_algorithm_nvls_tree.info,
  &fab_algorithm_collnet_direct.info,
  &fab_algorithm_collnet_chain.info,
  &fab_algorithm_pat.info,
  &fab_algorithm_halving_doubling.info,
  &fab_algorithm_direct.info,
  &fab_algorithm_hierarchical.info,
  &fab_algorithm_binomial.info,
  &fab_algorithm_bucket.info,
  NULL,
};

static const FabModelInfo *const libraries[] = { &fab_library_nccl.info, &fab_library_plain.info,
                                                 &fab_library_mpi.info, NULL };
static const FabModelInfo *const computes[] = { &fab_compute_mfu.info, &fab_compute_auto.info,
                                                &fab_compute_roofline.info, &fab_compute_measured.info,
                                                NULL };
static const FabModelInfo *const shapes[] = { &fab_shape_transformer.info, &fab_shape_layers.info, NULL };
static const FabModelInfo *const workloads[] = { &fab_workload_ddp.info,        &fab_workload_zero.info,
                                                 &fab_workload_fsdp.info,       &fab_workload_megatron.info,
                                                 &fab_workload_collective.info, &fab_workload_traffic.info,
                                                 &fab_workload_trace.info,      &fab_workload_kv.info,
                                                 &fab_workload_rl.info,         NULL };

const FabRegistry fab_models = {
  .lists = {
    [FAB_MODEL_FABRIC] = fabrics,
    [FAB_MODEL_ROUTE] = routes,
    [FAB_MODEL_NET] = nets,
    [FAB_MODEL_CONGESTION] = congestions,
    [FAB_MODEL_ALGORITHM] = algorithms,
    [FAB_MODEL_LIBRARY] = libraries,
    [FAB_MODEL_COMPUTE] = computes,
    [FAB_MODEL_SHAPE] = shapes,
    [FAB_MODEL_WORKLOAD] = workloads,
  },
  .model_file = &fab_format_huggingface,
  .schedule_file = &fab_format_schedule,
};
