/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_params.c - the rows of the keys; those of catalogue sections are in catalog_params.h. Constant data, but for
 * what follows from a cluster alone. */
#include "sim/scenario/scenario_params.h"

#include "sim/scenario/catalog_params.h"
#include "sim/scenario/fault_params.h"
#include "sim/scenario/neighbour_params.h"
#include "sim/scenario/placement.h"
#include "sim/scenario/power_cap.h"
#include "sim/scenario/schedule_params.h"

#define ROW(key_, type_, struct_, field_, fallback_, help_)                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_

static const FabParam cluster_params[] = {
  { ROW ("node", TEXT, FabClusterSpec, node, "", "Node entry of every machine; required without a design."),
    .refers = FAB_REFERS_NODE },
  { ROW ("nodes", COUNT, FabClusterSpec, nodes, "1", "Number of machines."), .min = 1, .max = 200000 },
  { ROW ("gpus_per_node", COUNT, FabClusterSpec, gpus_per_node, "0",
         "GPUs used of each node; 0: all of them.") },
  { ROW ("nics_per_node", COUNT, FabClusterSpec, nics_per_node, "0",
         "NICs used of each node, spread evenly over its sockets, PCIe switches and GPUs; 0: all of them.") },
  { ROW ("domain_nodes", COUNT, FabClusterSpec, domain_nodes, "0",
         "Nodes used of each domain of nodes that share switches (the trays of a rack); 0: all of the "
         "domain."),
    .max = 200000 },
  { ROW ("nic", TEXT, FabClusterSpec, nic, "",
         "Link entry of the NIC ports, and of switch ports where the fabric names no link; empty: that of "
         "the node."),
    .refers = FAB_REFERS_LINK },
  { ROW ("nic_rate", RATE, FabClusterSpec, nic_rate_bytes_per_s, "0Gb/s",
         "Line rate of those ports, and of switch ports where the fabric names no link; 0: that of the "
         "link entry."),
    .max = 1e15 },
  { ROW (
        "nic_ports", COUNT, FabClusterSpec, nic_ports, "1",
        "Ports of each NIC. `nic` and `nic_rate` say what one port has, and the fabric joins each by a cable "
        "of its own."),
    .min = 1, .max = 8 },
  { ROW (
        "port_use", CHOICE, FabClusterSpec, port_use, "merged",
        "How the ports of one NIC carry a flow: merged, the library divides each message among them; bond, a "
        "hash of the flow picks one; separate, each port is a NIC of its own."),
    .choices = fab_port_mode_names },
  { ROW (
        "design", TEXT, FabClusterSpec, design, "",
        "Design entry that fills in the node, the number of nodes, the fabric and the routing. Keys that are "
        "written beside it win."),
    .refers = FAB_REFERS_DESIGN },
  { ROW ("scalable_units", COUNT, FabClusterSpec, scalable_units, "0",
         "Scalable units of the design; 0: as many as `nodes` need."),
    .max = 1e6 },
  { ROW ("power_cap", POWER, FabClusterSpec, power_cap, "100%",
         "Power that a GPU may draw, in watts or as a share of the board's power. A lower cap lowers its "
         "clock."),
    .max = 1 },
  { ROW ("fabric", MODEL, FabClusterSpec, fabric, "",
         "Fabric that connects the NICs; left out: the usual one of such nodes."),
    .models = FAB_MODEL_FABRIC },
  { ROW ("route", MODEL, FabClusterSpec, route, "",
         "Routing, which chooses the path of a transfer; left out: the usual one of such nodes."),
    .models = FAB_MODEL_ROUTE },
  { ROW ("places", COUNT, FabClusterSpec, places, "0",
         "Number of machines that the fabric has room for; 0: as many as there are nodes, or as are usual."),
    .min = 0, .max = 200000 },
  { ROW (
        "placement", CHOICE, FabClusterSpec, placement, "usual",
        "Places of the nodes in the fabric: packed side by side, strided, spread evenly, or random; usual: as the "
        "node entry says, which is packed except in some clouds."),
    .choices = fab_placement_names },
  { ROW ("place_stride", COUNT, FabClusterSpec, place_stride, "1",
         "Number of places from one node to the next, for placement: strided."),
    .min = 1, .max = 200000 },
  { ROW ("p2p", TEXT, FabClusterSpec, p2p, "",
         "Largest distance at which GPUs read each other's memory: none, nvl, pix, pxb, phb, node, sys; "
         "empty: that of the node.") },
  { ROW ("gdr", TEXT, FabClusterSpec, gdr, "",
         "Largest distance at which a NIC reads GPU memory, with the same values; beyond it, bytes go "
         "through host memory.") },
  { ROW ("pxn", BOOL, FabClusterSpec, has_relays, "true",
         "Pass bytes over links of GPUs to the GPU beside the NIC, where that NIC is of another rail or "
         "behind a host bridge.") },
  { ROW ("gds", BOOL, FabClusterSpec, has_gds, "false",
         "Whether drives write directly into GPU memory (GPUDirect Storage); false: through host memory.") },
  { .key = NULL },
};

const FabParam fab_scenario_params[] = {
  { ROW ("name", TEXT, FabScenarioSpec, name, NULL, "Name of the scenario in reports.") },
  { ROW ("summary", TEXT, FabScenarioSpec, summary, "",
         "Description in one line. An edited scenario gets a new one.") },
  { ROW ("include", TEXT, FabScenarioSpec, include, "",
         "Files with keys of a scenario, relative to this file. Keys in this file override theirs."),
    .refers = FAB_REFERS_FILES },
  { ROW ("seed", COUNT, FabScenarioSpec, seed, "1",
         "Seed of everything random: hashed paths, random places, jitter, drawn flows, bursts and marked "
         "packets. It is recorded with the run.") },
  { ROW ("iterations", COUNT, FabScenarioSpec, iterations, "3", "Number of iterations to simulate."),
    .min = 1, .max = 1e6 },
  { ROW ("contention", BOOL, FabScenarioSpec, has_contention, "true",
         "Whether kernels are slower while a collective moves bytes, because each of its channels takes a "
         "multiprocessor.") },
  { ROW ("fold", BOOL, FabScenarioSpec, is_folded, "true",
         "Whether identical ranks, nodes and links are simulated once; no: each by itself, which takes "
         "longer and gives the same figures.") },
  { ROW ("cluster", TABLE, FabScenarioSpec, cluster, NULL, "Machines and the network between them."),
    .table = cluster_params, .table_size = sizeof (FabClusterSpec) },
  { ROW ("fidelity", MODEL, FabScenarioSpec, fidelity, "fluid", "Model with which transfers are simulated."),
    .models = FAB_MODEL_NET },
  { ROW ("collectives", MODEL, FabScenarioSpec, collectives, "nccl", "Library that carries out collectives."),
    .models = FAB_MODEL_LIBRARY },
  { ROW (
        "schedules", LIST, FabScenarioSpec, schedules, NULL,
        "Files that give collectives as messages; each is played for the collectives that it fits, in place of "
        "the library's own algorithms."),
    .table = fab_schedule_params, .table_size = sizeof (FabScheduleSpec) },
  { ROW ("job", MODEL, FabScenarioSpec, job, NULL, "Work of the GPUs."), .models = FAB_MODEL_WORKLOAD },
  { ROW ("faults", LIST, FabScenarioSpec, faults, NULL,
         "Faults that exist from the start, or begin while the job runs."),
    .table = fab_fault_params, .table_size = sizeof (FabFaultSpec) },
  { ROW ("circuits", LIST, FabScenarioSpec, circuits, NULL,
         "Links through optical circuit switches, and the times at which a switch connects their ends. At "
         "other times they carry nothing."),
    .table = fab_circuit_params, .table_size = sizeof (FabCircuitSpec) },
  { ROW ("background", LIST, FabScenarioSpec, background, NULL, "Traffic of others on the same fabric."),
    .table = fab_background_params, .table_size = sizeof (FabBackgroundSpec) },
  { ROW ("neighbours", LIST, FabScenarioSpec, neighbours, NULL,
         "Other jobs on nodes of the same machine; `job` has the remaining nodes."),
    .table = fab_neighbour_params, .table_size = sizeof (FabNeighbourSpec) },
  { ROW ("mix", TABLE, FabScenarioSpec, mix, NULL,
         "Jobs that arrive on the machine one after another, for `fabricast mix`."),
    .table = fab_mix_params, .table_size = sizeof (FabMixSpec) },
  { ROW ("cost", TABLE, FabScenarioSpec, cost, NULL, "Prices and shares for counting money and energy."),
    .table = fab_cost_params, .table_size = sizeof (FabCostSpec) },
  { ROW ("reliability", TABLE, FabScenarioSpec, reliability, NULL,
         "How often parts fail, and how the job goes on."),
    .table = fab_reliability_params, .table_size = sizeof (FabReliabilitySpec) },
  FAB_CATALOG_ROWS (FabScenarioSpec, own.),
  { .key = NULL },
};

guint
fab_cluster_spec_sharers (const FabClusterSpec *self, const FabNodeSpec *node)
{
  return self->domain_nodes > 0 ? (guint) self->domain_nodes : fab_node_spec_sharers (node);
}
