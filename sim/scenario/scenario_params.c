/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_params.c - the keys of a scenario; those of its catalogue sections are in catalog_params.c. */
#include "sim/scenario/catalog_params.h"
#include "sim/scenario/fault_params.h"
#include "sim/scenario/neighbour_params.h"
#include "sim/scenario/placement.h"
#include "sim/scenario/scenario.h"

#define ROW(key_, type_, struct_, field_, fallback_, help_)                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_

static const FabParam cluster_params[] = {
  { ROW ("node", TEXT, FabClusterSpec, node, NULL, "The node entry that every machine is."),
    .refers = FAB_REFERS_NODE },
  { ROW ("nodes", COUNT, FabClusterSpec, nodes, "1", "How many machines."), .min = 1, .max = 200000 },
  { ROW ("gpus_per_node", COUNT, FabClusterSpec, gpus_per_node, "0",
         "GPUs used of each node; 0: all it has.") },
  { ROW ("nics_per_node", COUNT, FabClusterSpec, nics_per_node, "0",
         "NICs used of each node; 0: all it has.") },
  { ROW ("nic", TEXT, FabClusterSpec, nic, "", "The link entry of the NIC ports; empty: the node's own."),
    .refers = FAB_REFERS_LINK },
  { ROW ("nic_rate", RATE, FabClusterSpec, nic_rate_bytes_per_s, "0Gb/s",
         "Line rate of those ports, and of switches' ports where the fabric names no link; 0: the entry's."),
    .max = 1e15 },
  { ROW ("fabric", MODEL, FabClusterSpec, fabric, "",
         "What joins the NICs; absent: what usually joins such nodes."),
    .models = FAB_MODEL_FABRIC },
  { ROW ("route", MODEL, FabClusterSpec, route, "", "Which path a transfer takes; absent: the node's usual."),
    .models = FAB_MODEL_ROUTE },
  { ROW ("places", COUNT, FabClusterSpec, places, "0",
         "Machines that the fabric has room for; 0: as many as there are nodes."),
    .min = 0, .max = 200000 },
  { ROW ("placement", CHOICE, FabClusterSpec, placement, "packed",
         "Which places the nodes take: packed side by side, strided, spread evenly, or random."),
    .choices = fab_placement_names },
  { ROW ("place_stride", COUNT, FabClusterSpec, place_stride, "1",
         "Places from one node to the next, for placement: strided."),
    .min = 1, .max = 200000 },
  { ROW ("p2p", TEXT, FabClusterSpec, p2p, "",
         "The farthest GPUs that read each other's memory: none, nvl, pix, pxb, phb, node, sys; empty: "
         "what the node can.") },
  { ROW ("gdr", TEXT, FabClusterSpec, gdr, "",
         "The farthest NIC that reads GPU memory, likewise; beyond it bytes go through host memory.") },
  { ROW ("pxn", BOOL, FabClusterSpec, has_relays, "true",
         "Go over links of GPUs to the GPU beside a NIC of another rail, or one behind a host bridge.") },
  { ROW ("gds", BOOL, FabClusterSpec, has_gds, "false",
         "Drives write into GPU memory (GPUDirect Storage); false: through host memory.") },
  { .key = NULL },
};

const FabParam fab_scenario_params[] = {
  { ROW ("name", TEXT, FabScenarioSpec, name, NULL, "What reports call this scenario.") },
  { ROW ("summary", TEXT, FabScenarioSpec, summary, "", "One line: what it shows.") },
  { ROW ("include", TEXT, FabScenarioSpec, include, "",
         "Files with keys of a scenario, relative to this one; what stands here wins over them."),
    .refers = FAB_REFERS_FILES },
  { ROW ("seed", COUNT, FabScenarioSpec, seed, "1",
         "Seed of everything random, recorded with the run: placement: random draws from it.") },
  { ROW ("iterations", COUNT, FabScenarioSpec, iterations, "3", "Iterations to simulate."), .min = 1,
    .max = 1e6 },
  { ROW ("contention", BOOL, FabScenarioSpec, has_contention, "true",
         "Kernels are slower while a collective moves bytes: each of its channels takes a multiprocessor.") },
  { ROW ("fold", BOOL, FabScenarioSpec, is_folded, "true",
         "Ranks, nodes and links that are alike are looked at once; no: each by itself, at any cost.") },
  { ROW ("cluster", TABLE, FabScenarioSpec, cluster, NULL, "The machines and what joins them."),
    .table = cluster_params, .table_size = sizeof (FabClusterSpec) },
  { ROW ("fidelity", MODEL, FabScenarioSpec, fidelity, "fluid", "How transfers are simulated."),
    .models = FAB_MODEL_NET },
  { ROW ("collectives", MODEL, FabScenarioSpec, collectives, "nccl",
         "The library that carries collectives out."),
    .models = FAB_MODEL_LIBRARY },
  { ROW ("job", MODEL, FabScenarioSpec, job, NULL, "What the GPUs do."), .models = FAB_MODEL_WORKLOAD },
  { ROW ("faults", LIST, FabScenarioSpec, faults, NULL, "What is broken, or breaks while the job runs."),
    .table = fab_fault_params, .table_size = sizeof (FabFaultSpec) },
  { ROW ("background", LIST, FabScenarioSpec, background, NULL, "What others do on the same fabric."),
    .table = fab_background_params, .table_size = sizeof (FabBackgroundSpec) },
  { ROW ("neighbours", LIST, FabScenarioSpec, neighbours, NULL,
         "Other jobs on nodes of the same machine; `job` has the nodes that are left."),
    .table = fab_neighbour_params, .table_size = sizeof (FabNeighbourSpec) },
  { ROW ("cost", TABLE, FabScenarioSpec, cost, NULL, "What money and energy are counted with."),
    .table = fab_cost_params, .table_size = sizeof (FabCostSpec) },
  FAB_CATALOG_ROWS (FabScenarioSpec, own.),
  { .key = NULL },
};
