/* SPDX-License-Identifier: Apache-2.0 */
/* models.h - every model, and the registry that lists them. A model is a file and a row in models.c. */
#pragma once

#include "sim/execution/workload.h"
#include "sim/fabric/fabric.h"
#include "sim/net/congestion.h"
#include "sim/registry.h"
#include "sim/scenario/model_file.h"

extern const FabFabricOps fab_fabric_custom;
extern const FabFabricOps fab_fabric_dragonfly;
extern const FabFabricOps fab_fabric_dragonfly_plus;
extern const FabFabricOps fab_fabric_fat_tree;
extern const FabFabricOps fab_fabric_hyperx;
extern const FabFabricOps fab_fabric_leaf_spine;
extern const FabFabricOps fab_fabric_rail;
extern const FabFabricOps fab_fabric_rail_only;
extern const FabFabricOps fab_fabric_slim_fly;
extern const FabFabricOps fab_fabric_switch;
extern const FabFabricOps fab_fabric_torus;

extern const FabRouterOps fab_route_adaptive;
extern const FabRouterOps fab_route_flowlet;
extern const FabRouterOps fab_route_reps;
extern const FabRouterOps fab_route_reactive;
extern const FabRouterOps fab_route_ecmp;
extern const FabRouterOps fab_route_shortest;
extern const FabRouterOps fab_route_spray;

extern const FabNetOps fab_net_analytic;
extern const FabNetOps fab_net_fluid;
extern const FabNetOps fab_net_packet;
extern const FabNetOps fab_net_step;

extern const FabCongestionOps fab_congestion_credit;
extern const FabCongestionOps fab_congestion_dcqcn;
extern const FabCongestionOps fab_congestion_hpcc;
extern const FabCongestionOps fab_congestion_none;
extern const FabCongestionOps fab_congestion_nscc;
extern const FabCongestionOps fab_congestion_swift;

extern const FabAlgorithmOps fab_algorithm_binomial;
extern const FabAlgorithmOps fab_algorithm_bucket;
extern const FabAlgorithmOps fab_algorithm_collnet_chain;
extern const FabAlgorithmOps fab_algorithm_collnet_direct;
extern const FabAlgorithmOps fab_algorithm_nvls;
extern const FabAlgorithmOps fab_algorithm_nvls_tree;
extern const FabAlgorithmOps fab_algorithm_pat;
extern const FabAlgorithmOps fab_algorithm_direct;
extern const FabAlgorithmOps fab_algorithm_halving_doubling;
extern const FabAlgorithmOps fab_algorithm_hierarchical;
extern const FabAlgorithmOps fab_algorithm_ring;
extern const FabAlgorithmOps fab_algorithm_tree;

extern const FabLibraryOps fab_library_mpi;
extern const FabLibraryOps fab_library_nccl;
extern const FabLibraryOps fab_library_plain;

extern const FabComputeOps fab_compute_auto;
extern const FabComputeOps fab_compute_measured;
extern const FabComputeOps fab_compute_mfu;
extern const FabComputeOps fab_compute_roofline;

extern const FabShapeOps fab_shape_layers;
extern const FabShapeOps fab_shape_transformer;

extern const FabWorkloadOps fab_workload_collective;
extern const FabWorkloadOps fab_workload_ddp;
extern const FabWorkloadOps fab_workload_fsdp;
extern const FabWorkloadOps fab_workload_kv;
extern const FabWorkloadOps fab_workload_megatron;
extern const FabWorkloadOps fab_workload_rl;
extern const FabWorkloadOps fab_workload_traffic;
extern const FabWorkloadOps fab_workload_trace;
extern const FabWorkloadOps fab_workload_zero;

extern const FabRegistry fab_models;
