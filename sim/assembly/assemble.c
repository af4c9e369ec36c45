/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/assembly/assemble.h"

#include <math.h>
#include <string.h>

#include "sim/assembly/faults.h"
#include "sim/assembly/nic_subset.h"
#include "sim/base/error.h"
#include "sim/fabric/fabric.h"
#include "sim/fabric/port_router.h"
#include "sim/scenario/node_wires.h"
#include "sim/scenario/placement.h"
#include "sim/scenario/power_cap.h"

/* Location of the members of a node's part while the graph is built. */
typedef struct {
  const FabPartSpec *spec;
  guint part;       /* index of its name in the graph */
  guint n;          /* members that are kept; each port of a NIC is one where ports are separate */
  guint *members;   /* [n] which members of the catalogue's part they are, in ascending order */
  FabVertexId *ids; /* [nodes * n]; nodes that share the part have the same vertices */
} Part;

typedef struct {
  const FabScenario *scenario;
  const FabClusterSpec *cluster;
  const FabNodeSpec *node;
  const FabWhatIf *what_if;
  FabGraphBuilder *builder;
  guint sharers; /* number of consecutive nodes that share parts; 1: none do */
  Part *parts;   /* [node->parts.n] */
} Build;

static const FabVertexKind vertex_kinds[] = {
  [FAB_PART_ACCELERATOR] = FAB_VERTEX_ACCELERATOR,
  [FAB_PART_SWITCH] = FAB_VERTEX_SWITCH,
  [FAB_PART_NIC] = FAB_VERTEX_NIC,
  [FAB_PART_HOST] = FAB_VERTEX_HOST,
  [FAB_PART_BRIDGE] = FAB_VERTEX_BRIDGE,
  [FAB_PART_MEMORY] = FAB_VERTEX_MEMORY,
  [FAB_PART_STORAGE] = FAB_VERTEX_STORAGE,
};

static const FabPartSpec *
part_at (const FabNodeSpec *node, guint index)
{
  return (const FabPartSpec *) node->parts.data + index;
}

/* Counts the members of a kind over all parts of the node. */
static guint
count_kind (const FabNodeSpec *node, FabPartKind kind)
{
  guint n = 0;

  for (guint i = 0; i < node->parts.n; i++)
    if (part_at (node, i)->kind == (int) kind)
      n += (guint) part_at (node, i)->count;
  return n;
}

/* How many NICs the library sees of one. */
static guint
split_of (const FabClusterSpec *cluster)
{
  return cluster->port_use == FAB_PORTS_SEPARATE ? (guint) cluster->nic_ports : 1;
}

/* Members of the parts; of NICs, as they stand in the machine. */
static guint
kept_of_kind (const FabClusterSpec *cluster, const FabNodeSpec *node, FabPartKind kind)
{
  guint n = count_kind (node, kind);

  if (kind == FAB_PART_ACCELERATOR && cluster->gpus_per_node > 0)
    return MIN (n, (guint) cluster->gpus_per_node);
  if (kind == FAB_PART_NIC)
    return node->nic == NULL && cluster->nic == NULL ? 0
         : cluster->nics_per_node > 0                ? MIN (n, (guint) cluster->nics_per_node)
                                                     : n;
  return n;
}

/* NICs of a machine that the library sees. */
static guint
count_nics (const FabClusterSpec *cluster, const FabNodeSpec *node)
{
  return kept_of_kind (cluster, node, FAB_PART_NIC) * split_of (cluster);
}

static FabTimePs
changed_ps (FabTimePs time_ps, double change)
{
  return (FabTimePs) ((double) time_ps * (1 + change) + 0.5);
}

static gboolean
is_named (const char *name, const FabLinkClass *link_class)
{
  return name != NULL && strcmp (name, link_class->name) == 0;
}

/* Applies a what-if question to the numbers of a link. */
static void
change_link (const FabWhatIf *what_if, FabLinkClass *link_class, FabBytesPerS *rate, FabTimePs *latency_ps)
{
  if (what_if == NULL
      || (!what_if->is_every_link && !is_named (what_if->link_class, link_class)
          && !is_named (what_if->second_class, link_class)))
    return;
  *rate = (FabBytesPerS) ((double) *rate * what_if->rate_factor + 0.5);
  *latency_ps = changed_ps (*latency_ps, what_if->latency_change);
  link_class->endpoint_ps = changed_ps (link_class->endpoint_ps, what_if->endpoint_change);
  link_class->messages.factor = 1 + what_if->messages_change;
  if (!what_if->keeps_messages)
    link_class->messages.rate_change = (1 + link_class->messages.rate_change) * what_if->rate_factor - 1;
}

static const double same_rate = 0.001; /* of a rate: the 200Gb/s that people write are 200.003 of the entry */

/* `rate` 0: the rate of the entry. */
static FabLinkForm
link_form (const Build *build, const char *name, guint count, FabBytesPerS rate)
{
  const FabLinkSpec *spec = fab_catalog_link (fab_scenario_catalog (build->scenario), name);
  FabLinkClass link_class = fab_catalog_link_class (fab_scenario_catalog (build->scenario), spec);
  FabBytesPerS own_rate = fab_link_spec_line_rate (spec);
  FabTimePs latency_ps = spec->latency_ps;

  rate = rate > 0 ? rate : own_rate;
  link_class.messages.rate_change = (double) rate / (double) own_rate - 1;
  link_class.set_bytes_per_s = fabs (link_class.messages.rate_change) > same_rate ? rate : 0;
  change_link (build->what_if, &link_class, &rate, &latency_ps);
  return (FabLinkForm){ rate, latency_ps, fab_graph_builder_class (build->builder, &link_class), count };
}

/* Keeps the members of a part whose number within their kind is in `chosen`, which ascends. `first` is the number of
 * the part's first member. chosen NULL: the first `n_chosen` of their kind. */
static void
keep_members (Part *part, guint first, const guint *chosen, guint n_chosen)
{
  part->members = g_new (guint, (gsize) part->spec->count + 1);
  for (guint i = 0; i < n_chosen; i++) {
    guint number = chosen != NULL ? chosen[i] : i;

    if (number >= first && number < first + (guint) part->spec->count)
      part->members[part->n++] = number - first;
  }
}

/* Puts `n` vertices in the place of each member. */
static void
split_members (Part *part, guint n)
{
  guint *members = g_new (guint, (gsize) part->n * n + 1);

  for (guint i = 0; i < part->n * n; i++)
    members[i] = part->members[i / n];
  g_free (part->members);
  part->members = members;
  part->n *= n;
}

/* Keeps the first accelerators, the NICs that a builder would have taken, and all else. A member that is kept is named
 * by its place among those that are kept: the NICs of a subset are nic0, nic1, ..., and their rails are numbered so. */
static void
add_parts (Build *build)
{
  guint n_gpus = kept_of_kind (build->cluster, build->node, FAB_PART_ACCELERATOR);
  guint n_nics = kept_of_kind (build->cluster, build->node, FAB_PART_NIC);
  g_autofree guint *nics = fab_nic_subset (build->node, n_gpus, n_nics);
  guint n_seen[FAB_PART_STORAGE + 1] = { 0 };

  for (guint i = 0; i < build->node->parts.n; i++) {
    Part *part = &build->parts[i];
    FabPartKind kind = (FabPartKind) part_at (build->node, i)->kind;

    part->spec = part_at (build->node, i);
    keep_members (part, n_seen[kind], kind == FAB_PART_NIC ? nics : NULL,
                  kept_of_kind (build->cluster, build->node, kind));
    n_seen[kind] += (guint) part->spec->count;
    if (kind == FAB_PART_NIC)
      split_members (part, split_of (build->cluster));
    part->part = fab_graph_builder_part (build->builder, part->spec->name,
                                         part->spec->count > 1 || part->spec->shared > 1
                                             || (kind == FAB_PART_NIC && split_of (build->cluster) > 1));
    part->ids = g_new (FabVertexId, (gsize) build->cluster->nodes * part->n + 1);
  }
}

static FabVertexId
add_vertex (Build *build, const Part *part, guint node, guint member)
{
  FabVertexKind kind = vertex_kinds[part->spec->kind];
  guint first = node - node % build->sharers;

  if (part->spec->shared <= 1)
    return fab_graph_builder_vertex (build->builder, kind, node, part->part, member);
  if (node > first)
    return part->ids[first * part->n + member];
  return fab_graph_builder_vertex (build->builder, kind, FAB_NO_NODE, part->part,
                                   node / build->sharers * part->n + member);
}

static void
add_vertices (Build *build, guint node)
{
  for (guint i = 0; i < build->node->parts.n; i++) {
    Part *part = &build->parts[i];

    for (guint m = 0; m < part->n; m++)
      part->ids[node * part->n + m] = add_vertex (build, part, node, m);
  }
}

static void
add_wire (Build *build, const FabWireSpec *wire, guint node)
{
  FabWireEnd from_end = fab_wire_end (build->node, wire->from), to_end = fab_wire_end (build->node, wire->to);
  const Part *from = &build->parts[from_end.part], *to = &build->parts[to_end.part];
  FabLinkForm form = link_form (build, wire->link, (guint) wire->count, 0);
  gboolean is_within = strcmp (wire->from, wire->to) == 0; /* each pair appears twice */

  if (from->spec->kind == FAB_PART_NIC || to->spec->kind == FAB_PART_NIC)
    form.rate_bytes_per_s /= split_of (build->cluster); /* ports share the bus of their card */

  if (from->spec->shared > 1 && to->spec->shared > 1 && node % build->sharers > 0)
    return; /* the first node of the domain has already connected them */
  for (guint i = 0; i < from->n; i++)
    for (guint j = 0; j < to->n; j++) {
      FabVertexId a = from->ids[node * from->n + i], b = to->ids[node * to->n + j];
      guint at_from = from->members[i] - from_end.first, at_to = to->members[j] - to_end.first;

      if (at_from >= from_end.n || at_to >= to_end.n || a == b || (is_within && a > b)
          || !fab_wire_joins (wire, &from_end, at_from, &to_end, at_to))
        continue;
      fab_graph_builder_join (build->builder, a, b, &form);
    }
}

static void
add_nodes (Build *build)
{
  for (guint node = 0; node < (guint) build->cluster->nodes; node++) {
    add_vertices (build, node);
    for (guint w = 0; w < build->node->wires.n; w++)
      add_wire (build, (const FabWireSpec *) build->node->wires.data + w, node);
  }
}

/* Counts the nodes as collectives see them: nodes that share parts count as one. */
static guint
count_domains (const Build *build)
{
  return MAX ((guint) build->cluster->nodes / build->sharers, 1);
}

/* Returns the members of a kind, node by node, in the order of the parts. */
static FabVertexId *
collect_kind (const Build *build, FabPartKind kind, guint *per_domain)
{
  guint n_nodes = (guint) build->cluster->nodes, filled = 0;
  guint n = kind == FAB_PART_NIC ? count_nics (build->cluster, build->node)
                                 : kept_of_kind (build->cluster, build->node, kind);
  FabVertexId *ids = g_new (FabVertexId, (gsize) n_nodes * n + 1);

  *per_domain = n * (n_nodes / count_domains (build));
  for (guint node = 0; node < n_nodes; node++)
    for (guint i = 0; i < build->node->parts.n; i++)
      for (guint m = 0; build->parts[i].spec->kind == (int) kind && m < build->parts[i].n; m++)
        ids[filled++] = build->parts[i].ids[node * build->parts[i].n + m];
  return ids;
}

static FabLinkForm
find_link_form (gconstpointer build, const char *name)
{
  return link_form (build, name, 1, 0);
}

/* Returns the NIC of every port of every place, `k` each, at the place of each machine. (transfer full) */
static FabVertexId *
place_ports (const Build *build, const FabCluster *cluster, guint n_places, guint k)
{
  guint n_nics = count_nics (build->cluster, build->node), n_each = n_nics > 0 ? k / n_nics : 1;
  const FabClusterSpec *spec = build->cluster;
  guint n_machines = (guint) spec->nodes;
  FabVertexId *nics = g_new (FabVertexId, (gsize) n_places * k + 1);
  g_autofree guint *places = fab_placement_map ((FabPlacement) spec->placement, n_machines, n_places,
                                                (guint) spec->place_stride,
                                                (guint64) fab_scenario_spec (build->scenario)->seed);

  for (guint i = 0; i < n_places * k; i++)
    nics[i] = FAB_NO_VERTEX;
  for (guint node = 0; node < n_machines; node++)
    for (guint i = 0; i < k; i++)
      nics[places[node] * k + i] = cluster->nics[node * n_nics + i / n_each];
  return nics;
}

/* The rails and boards of the NICs that are kept. Rails of which no NIC is kept do not count. */
typedef struct {
  FabNicSeat *seats; /* [kept NICs] */
  guint n_rails, n_boards;
} Seats;

static Seats
seat_nics (const Build *build)
{
  guint n = kept_of_kind (build->cluster, build->node, FAB_PART_NIC), per_board = (guint) build->node->rails;
  Seats self = { g_new (FabNicSeat, n + 1), 0, 1 };

  if (per_board == 0) {
    self.n_rails = n;
    for (guint i = 0; i < n; i++)
      self.seats[i] = (FabNicSeat){ i, 0 };
    return self;
  }
  guint n_gpus = kept_of_kind (build->cluster, build->node, FAB_PART_ACCELERATOR);
  g_autofree guint *kept = fab_nic_subset (build->node, n_gpus, n);
  g_autofree gboolean *is_used = g_new0 (gboolean, per_board);
  g_autofree guint *rails = g_new (guint, per_board); /* numbers among those that are used */
  self.n_boards = count_kind (build->node, FAB_PART_NIC) / per_board;
  for (guint i = 0; i < n; i++)
    is_used[kept[i] % per_board] = TRUE;
  for (guint rail = 0; rail < per_board; rail++) {
    rails[rail] = self.n_rails;
    self.n_rails += is_used[rail];
  }
  for (guint i = 0; i < n; i++)
    self.seats[i] = (FabNicSeat){ rails[kept[i] % per_board], kept[i] / per_board };
  return self;
}

/* Each port is on a rail of its own, beside those of its NIC. */
static void
split_seats (Seats *self, guint n_nics, guint n_ports)
{
  FabNicSeat *seats = g_new (FabNicSeat, n_nics * n_ports + 1);

  for (guint i = 0; i < n_nics * n_ports; i++) {
    const FabNicSeat *nic = &self->seats[i / n_ports];

    seats[i] = (FabNicSeat){ nic->rail * n_ports + i % n_ports, nic->board };
  }
  g_free (self->seats);
  self->seats = seats;
  self->n_rails *= n_ports;
}

static gboolean
add_fabric (Build *build, const FabCluster *cluster, GError **error)
{
  const FabFabricOps *ops = (const FabFabricOps *) build->cluster->fabric.info;
  const char *nic = build->cluster->nic ? build->cluster->nic : build->node->nic;

  if (cluster->n_nodes > 1 && cluster->nics_per_node == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "%u nodes cannot reach each other: node '%s' %s",
                      cluster->n_nodes, build->node->name,
                      count_kind (build->node, FAB_PART_NIC) > 0
                          ? "does not say which link its NICs have; give it a `nic`, or set cluster.nic"
                          : "has no NIC; write nodes: 1");
  if (cluster->nics_per_node == 0)
    return TRUE;
  guint n_each = (guint) build->cluster->nic_ports,
        n_nics = kept_of_kind (build->cluster, build->node, FAB_PART_NIC); /* per machine, not per domain */
  guint n_ports = n_nics * n_each;
  guint n_places = MAX ((guint) build->cluster->nodes, (guint) build->cluster->places);
  g_autofree FabVertexId *nics = place_ports (build, cluster, n_places, n_ports);
  Seats seats = seat_nics (build);
  split_seats (&seats, n_nics, n_each);
  g_autofree FabNicSeat *owned = seats.seats;
  FabFabricEnv env = {
    .builder = build->builder,
    .n_places = n_places,
    .nics_per_node = n_ports,
    .n_rails = seats.n_rails,
    .n_boards = seats.n_boards,
    .seats = owned,
    .nics = nics,
    .port = link_form (build, nic, 1, build->cluster->nic_rate_bytes_per_s),
    .find_link = find_link_form,
    .links = build,
  };
  return ops->build (&env, build->cluster->fabric.params, error);
}

static void
cap_device (FabDevice *device, const FabAcceleratorSpec *accelerator, const FabScenarioSpec *spec)
{
  double share = fab_power_cap_share (&spec->cluster.power_cap, accelerator);

  device->cap_fraction = share;
  device->capped = fab_clock_capped (&accelerator->clock, spec->cost.busy_fraction, share);
  device->cap_band = fab_clock_band (&accelerator->clock, share);
}

FabDevice
fab_accelerator_device (const FabAcceleratorSpec *accelerator)
{
  return (FabDevice){
    .architecture = accelerator->architecture,
    .peak_flops_per_s = { [FAB_PRECISION_BF16] = accelerator->peak_fp16_flops_per_s,
                          [FAB_PRECISION_FP16] = accelerator->peak_fp16_flops_per_s,
                          [FAB_PRECISION_FP32] = accelerator->peak_fp32_flops_per_s,
                          [FAB_PRECISION_TF32] = accelerator->peak_tf32_flops_per_s,
                          [FAB_PRECISION_FP8] = accelerator->peak_fp8_flops_per_s,
                          [FAB_PRECISION_NVFP4] = accelerator->peak_fp4_flops_per_s },
    .matmul_fraction = accelerator->matmul_fraction,
    .n_sms = (guint) accelerator->n_sms,
    .memory_bytes = accelerator->memory_bytes,
    .memory_bytes_per_s = accelerator->memory_bytes_per_s,
  };
}

/* Boards that share switches are machines; others are what the entry of the node says. Where NICs are left out, boards
 * may have different ones, and then a node counts as one board. */
static void
fill_boards (const Build *build, FabCluster *cluster)
{
  guint split = split_of (build->cluster), n = count_nics (build->cluster, build->node),
        n_nics = count_kind (build->node, FAB_PART_NIC) * split;

  if (build->sharers > 1) {
    cluster->gpus_per_board = kept_of_kind (build->cluster, build->node, FAB_PART_ACCELERATOR);
    cluster->nics_per_board = n;
  } else if (build->node->rails > 0 && n == n_nics) {
    cluster->nics_per_board = (guint) build->node->rails * split;
    cluster->gpus_per_board = count_kind (build->node, FAB_PART_ACCELERATOR) * cluster->nics_per_board
                            / n_nics;
  }
}

static void
fill_cluster (const Build *build, FabCluster *cluster)
{
  const FabAcceleratorSpec *accelerator = fab_catalog_accelerator (fab_scenario_catalog (build->scenario),
                                                                   build->node->accelerator);

  cluster->n_nodes = count_domains (build);
  cluster->gpus = collect_kind (build, FAB_PART_ACCELERATOR, &cluster->gpus_per_node);
  cluster->nics = collect_kind (build, FAB_PART_NIC, &cluster->nics_per_node);
  cluster->drives = collect_kind (build, FAB_PART_STORAGE, &cluster->drives_per_node);
  cluster->nic_ports = (guint) build->cluster->nic_ports / split_of (build->cluster);
  cluster->has_relays = build->cluster->has_relays;
  fill_boards (build, cluster);
  cluster->has_gds = build->cluster->has_gds;
  cluster->architecture = accelerator->architecture;
  cluster->node_name = build->node->name;
  cluster->plugin = build->node->plugin;
  cluster->has_software_matching = build->node->has_software_matching;
  cluster->device = fab_accelerator_device (accelerator);
  if (build->what_if != NULL && build->what_if->memory_factor > 0)
    cluster->device.memory_bytes_per_s = (FabBytesPerS) ((double) accelerator->memory_bytes_per_s
                                                         * build->what_if->memory_factor);
  cap_device (&cluster->device, accelerator, fab_scenario_spec (build->scenario));
  cluster->generation = accelerator->architecture
                          ? fab_catalog_generation (fab_scenario_catalog (build->scenario),
                                                    accelerator->architecture)
                          : NULL;
  if (cluster->generation == NULL)
    cluster->generation = &fab_generation_unknown;
  cluster->processor = fab_catalog_processor (fab_scenario_catalog (build->scenario), build->node->cpu);
  cluster->p2p = (FabReach) build->node->p2p;
  cluster->gdr = (FabReach) build->node->gdr;
  if (build->cluster->p2p != NULL)
    fab_reach_parse (build->cluster->p2p, &cluster->p2p);
  else if (cluster->p2p == FAB_REACH_PXB) /* the library's own ceiling, and nothing that the vendor refuses */
    cluster->pair_p2p = (FabReach) cluster->processor->pair_p2p;
  if (build->cluster->gdr != NULL)
    fab_reach_parse (build->cluster->gdr, &cluster->gdr);
}

static gboolean
check_connected (const FabGraph *graph, GError **error)
{
  FabVertexId lost;

  if (fab_graph_is_connected (graph, &lost))
    return TRUE;
  g_autofree char *first = fab_graph_vertex_name (graph, 0), *name = fab_graph_vertex_name (graph, lost);
  return fab_throw (error, FAB_ERROR_INPUT, "the machine is in parts: no wires lead from %s to %s", first,
                    name);
}

/* The router of the scenario, which chooses among the ports of a NIC too where there are several. */
static FabRouter *
make_router (const FabScenario *scenario, const FabGraph *graph)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  const FabRouterOps *ops = (const FabRouterOps *) spec->cluster.route.info;
  FabRouter *router = ops->create (graph, spec->cluster.route.params, (guint64) spec->seed);

  return spec->cluster.nic_ports > 1 && spec->cluster.port_use != FAB_PORTS_SEPARATE
           ? fab_port_router_new (router, graph, (FabPortMode) spec->cluster.port_use, (guint64) spec->seed)
           : router;
}

FabPlant *
fab_plant_new (const FabScenario *scenario, const FabWhatIf *what_if, GError **error)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (scenario), cluster->node);
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  g_autoptr (FabPlant) self = g_new0 (FabPlant, 1);
  Build build = { scenario,
                  cluster,
                  node,
                  what_if,
                  builder,
                  fab_cluster_spec_sharers (cluster, node),
                  g_new0 (Part, node->parts.n + 1) };

  add_parts (&build);
  add_nodes (&build);
  fill_cluster (&build, &self->cluster);
  gboolean is_built = add_fabric (&build, &self->cluster, error);
  for (guint i = 0; i < node->parts.n; i++) {
    g_free (build.parts[i].ids);
    g_free (build.parts[i].members);
  }
  g_free (build.parts);
  if (!is_built)
    return NULL;
  self->cluster.graph = self->graph = fab_graph_builder_freeze (builder);
  if (!fab_scenario_spec (scenario)->is_folded)
    fab_graph_unfold (self->graph);
  if (!check_connected (self->graph, error))
    return NULL;
  fab_cluster_measure (&self->cluster);
  if (!(what_if != NULL && what_if->is_intact)
      && !fab_faults_apply (scenario, self->graph, &self->cluster, count_nics (cluster, node),
                            &self->disturbances, error))
    return NULL;
  self->cluster.router = self->router = make_router (scenario, self->graph);
  self->uses_seed = fab_router_uses_seed (self->router)
                 || (cluster->placement == FAB_PLACEMENT_RANDOM && cluster->nodes > 1)
                 || (self->disturbances != NULL && self->disturbances->bursts->len > 0);
  self->sites = g_ptr_array_new ();
  return g_steal_pointer (&self);
}

void
fab_plant_free (FabPlant *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->sites, g_ptr_array_unref);
  fab_form_book_unref (self->book);
  fab_router_destroy (self->router);
  fab_disturbances_plan_free (self->disturbances);
  fab_graph_free (self->graph);
  fab_cluster_clear (&self->cluster);
  fab_scenario_free (self->scenario);
  g_free (self);
}
