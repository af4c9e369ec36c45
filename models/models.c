/* SPDX-License-Identifier: Apache-2.0 */
#include "models/models.h"

#include "formats/model/huggingface.h"
#include "formats/schedule/schedule.h"

/* clang-format off */
#define FABRIC(name) &fab_fabric_##name.info,
static const FabModelInfo *const fabrics[] = { FAB_FABRICS (FABRIC) NULL };
#define ROUTE(name) &fab_route_##name.info,
static const FabModelInfo *const routes[] = { FAB_ROUTES (ROUTE) NULL };
#define NET(name) &fab_net_##name.info,
static const FabModelInfo *const nets[] = { FAB_NETS (NET) NULL };
#define CONGESTION(name) &fab_congestion_##name.info,
static const FabModelInfo *const congestions[] = { FAB_CONGESTIONS (CONGESTION) NULL };
#define ALGORITHM(name) &fab_algorithm_##name.info,
static const FabModelInfo *const algorithms[] = { FAB_ALGORITHMS (ALGORITHM) NULL };
#define LIBRARY(name) &fab_library_##name.info,
static const FabModelInfo *const libraries[] = { FAB_LIBRARIES (LIBRARY) NULL };
#define COMPUTE(name) &fab_compute_##name.info,
static const FabModelInfo *const computes[] = { FAB_COMPUTES (COMPUTE) NULL };
#define SHAPE(name) &fab_shape_##name.info,
static const FabModelInfo *const shapes[] = { FAB_SHAPES (SHAPE) NULL };
#define WORKLOAD(name) &fab_workload_##name.info,
static const FabModelInfo *const workloads[] = { FAB_WORKLOADS (WORKLOAD) NULL };
/* clang-format on */

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
