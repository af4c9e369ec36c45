/* SPDX-License-Identifier: Apache-2.0 */
/* rail.c - a rail-optimised leaf-spine network: leaf r of a unit connects NIC r of each node of the unit.
 *
 * A unit has nodes_per_leaf nodes. A node of several boards, such as a rack of trays, counts as so many nodes, and
 * NIC r of each board is on leaf r. Every leaf has nodes_per_leaf / oversubscription links to the spine layer. Without
 * `spines` that layer is one vertex: it never blocks, because even spreading over the spines is assumed. With them
 * uplink i of a leaf goes to spine i mod spines, and each uplink is a link of its own, on which flows can collide. One
 * unit needs no spine, unless it has several rails, which would otherwise be disconnected.
 *
 * With units_per_pod a pod is so many units with spines of its own, and cores join the pods: spine s of every pod has
 * as many uplinks as downlinks, which go in turn to the cores / spines cores of its number.
 *
 * The ports of a NIC are on leaves of their own: two ports are two leaves for each rail of a unit (dual ToR). With
 * `planes` leaf r belongs to plane r mod planes, and each plane has spines and cores of its own, so that no switch
 * joins two planes. Spines and cores are numbered plane by plane.
 */
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/fabric/clos.h"

typedef struct {
  gint64 nodes_per_leaf;
  double oversubscription_factor;
  gint64 n_spines, units_per_pod, n_cores, n_planes;
  const char *uplink;
} RailParams;

static const FabParam rail_params[] = {
  { .key = "nodes_per_leaf",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (RailParams, nodes_per_leaf),
    .fallback = "32",
    .min = 1,
    .max = 1e5,
    .help =
        "Nodes per unit; each has one NIC on every leaf of the unit. Of nodes that consist of several boards "
        "(trays of a rack), each board counts." },
  { .key = "oversubscription",
    .type = FAB_PARAM_FACTOR,
    .offset = G_STRUCT_OFFSET (RailParams, oversubscription_factor),
    .fallback = "1",
    .min = 0.1,
    .max = 1e3,
    .is_in_title = TRUE,
    .help =
        "Oversubscription of a leaf: the rate of its downlinks over that of its uplinks. The number of uplinks "
        "is rounded up." },
  { .key = "spines",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (RailParams, n_spines),
    .fallback = "0",
    .min = 0,
    .max = 1e5,
    .help = "Number of spines (of each pod and plane); 0: one spine layer that never blocks." },
  { .key = "units_per_pod",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (RailParams, units_per_pod),
    .fallback = "0",
    .min = 0,
    .max = 1e5,
    .help = "Units of a pod, which has spines of its own; 0: all units are one pod." },
  { .key = "cores",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (RailParams, n_cores),
    .fallback = "0",
    .min = 0,
    .max = 1e5,
    .help = "Number of cores, which join the pods: a multiple of `spines`; 0: there is one pod." },
  { .key = "planes",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (RailParams, n_planes),
    .fallback = "1",
    .min = 1,
    .max = 64,
    .help =
        "Planes, each with so many spines and cores of its own: leaf r of a unit is in plane r mod planes. Of "
        "NICs with as many ports, each port is in another plane." },
  { .key = "uplink",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (RailParams, uplink),
    .fallback = "",
    .refers = FAB_REFERS_LINK,
    .help = "Link entry of the links above the leaves; empty: the same as the NICs have." },
  { .key = NULL },
};

/* The sizes that follow from the parameters. */
typedef struct {
  guint per_leaf, n_units, units_per_pod, n_pods, n_planes;
  guint n_up, n_spines, spine_up; /* uplinks of a leaf; spines of a pod of one plane, and uplinks of each */
  FabLinkForm up;
} Rails;

/* The vertices of the spine layers, plane by plane: one of each plane, or as many as its pods have spines. (transfer
 * full) */
static FabVertexId *
add_spines (const FabFabricEnv *env, const Rails *rails)
{
  guint n = rails->n_planes * MAX (rails->n_pods * rails->n_spines, 1);
  FabVertexId *spines = g_new (FabVertexId, n);

  for (guint i = 0; i < n; i++)
    spines[i] = fab_fabric_add_switch (env, "spine", rails->n_spines > 0 || rails->n_planes > 1, i);
  return spines;
}

/* The first spine of a plane and pod. */
static guint
first_spine (const Rails *rails, guint plane, guint pod)
{
  return rails->n_spines > 0 ? (plane * rails->n_pods + pod) * rails->n_spines : plane;
}

/* One bundle to the layer, or every uplink by itself. */
static void
join_spines (const FabFabricEnv *env, const Rails *rails, FabVertexId leaf, const FabVertexId *spines)
{
  FabLinkForm up = rails->up;

  if (rails->n_spines == 0) {
    up.count = rails->n_up;
    fab_graph_builder_join (env->builder, leaf, spines[0], &up);
    return;
  }
  for (guint i = 0; i < rails->n_up; i++)
    fab_graph_builder_join (env->builder, leaf, spines[i % rails->n_spines], &up);
}

/* Connects the NICs of one rail that the boards of a unit have. Boards are counted over all places. */
static void
attach_unit (const FabFabricEnv *env, guint per_leaf, guint unit, guint rail, FabVertexId leaf)
{
  guint end = MIN ((unit + 1) * per_leaf, env->n_places * env->n_boards);

  for (guint at = unit * per_leaf; at < end; at++)
    for (guint nic = 0; nic < env->nics_per_node; nic++)
      if (env->seats[nic].rail == rail && env->seats[nic].board == at % env->n_boards)
        fab_fabric_attach (env, at / env->n_boards, nic, leaf, &env->port);
}

/* Leaves of a unit in the plane that has most of them. */
static guint
leaves_per_plane (const FabFabricEnv *env, const Rails *rails)
{
  return (env->n_rails + rails->n_planes - 1) / rails->n_planes;
}

static Rails
plan (const FabFabricEnv *env, const RailParams *p)
{
  Rails self = { .per_leaf = (guint) p->nodes_per_leaf,
                 .n_planes = MIN ((guint) p->n_planes, MAX (env->n_rails, 1)),
                 .up = fab_fabric_link (env, p->uplink, 0) };
  double rate_ratio = (double) env->port.rate_bytes_per_s / (double) self.up.rate_bytes_per_s;

  self.n_units = (env->n_places * env->n_boards + self.per_leaf - 1) / self.per_leaf;
  self.units_per_pod = p->units_per_pod > 0 ? (guint) p->units_per_pod : MAX (self.n_units, 1);
  self.n_pods = (self.n_units + self.units_per_pod - 1) / self.units_per_pod;
  self.n_up = fab_clos_ports_up (self.per_leaf, p->oversubscription_factor, rate_ratio);
  self.n_spines = MIN ((guint) p->n_spines, self.n_up);
  if (self.n_spines > 0)
    self.spine_up = (self.units_per_pod * leaves_per_plane (env, &self) * self.n_up + self.n_spines - 1)
                  / self.n_spines;
  return self;
}

/* Joins spine s of every pod of a plane with its cores. */
static void
join_cores (const FabFabricEnv *env, const Rails *rails, guint plane, const FabVertexId *spines,
            guint n_cores)
{
  guint n_each = n_cores / rails->n_spines; /* cores of one spine's number */
  g_autofree FabVertexId *cores = g_new (FabVertexId, n_cores);

  for (guint i = 0; i < n_cores; i++)
    cores[i] = fab_fabric_add_switch (env, "core", TRUE, plane * n_cores + i);
  for (guint s = 0; s < rails->n_pods * rails->n_spines; s++)
    for (guint i = 0; i < rails->spine_up; i++)
      fab_graph_builder_join (env->builder, spines[s], cores[s % rails->n_spines * n_each + i % n_each],
                              &rails->up);
}

/* One leaf of each plane joins nothing to anything. */
static gboolean
has_spines (const FabFabricEnv *env, const Rails *rails)
{
  return rails->n_units * leaves_per_plane (env, rails) > 1;
}

static gboolean
check_cores (const RailParams *p, const Rails *rails, GError **error)
{
  guint n_in_pod = MAX (rails->n_spines, 1);

  if (p->n_cores > 0 && p->n_cores % (gint64) n_in_pod == 0 && rails->n_spines > 0)
    return TRUE;
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "a rail fabric of %u pods needs `spines`, and `cores` that are a multiple of the %u spines of "
      "a pod; it has %" G_GINT64_FORMAT " cores",
      rails->n_pods, n_in_pod, p->n_cores);
}

static gboolean
rail_build (const FabFabricEnv *env, gconstpointer params, GError **error)
{
  const RailParams *p = params;
  const Rails rails = plan (env, p);
  guint n_leaves = rails.n_units * env->n_rails;
  gboolean is_joined = has_spines (env, &rails), has_cores = rails.n_pods > 1 && is_joined;

  if (has_cores && !check_cores (p, &rails, error))
    return FALSE;
  g_autofree FabVertexId *spines = is_joined ? add_spines (env, &rails) : NULL;

  for (guint leaf = 0; leaf < n_leaves; leaf++) {
    guint unit = leaf / env->n_rails, rail = leaf % env->n_rails;
    FabVertexId vertex = fab_fabric_add_switch (env, "leaf", TRUE, leaf);

    attach_unit (env, rails.per_leaf, unit, rail, vertex);
    if (is_joined)
      join_spines (env, &rails, vertex,
                   spines + first_spine (&rails, rail % rails.n_planes, unit / rails.units_per_pod));
  }
  for (guint plane = 0; has_cores && plane < rails.n_planes; plane++)
    join_cores (env, &rails, plane, spines + first_spine (&rails, plane, 0), (guint) p->n_cores);
  return TRUE;
}

static gboolean
rail_has_choice (gconstpointer params)
{
  return ((const RailParams *) params)->n_spines > 0;
}

const FabFabricOps fab_fabric_rail = {
  .info = { .name = "rail",
            .summary = "Rail-optimised leaf-spine: leaf r connects NIC r of its nodes.",
            .doc = "docs/models/rail.md",
            .params = rail_params,
            .params_size = sizeof (RailParams) },
  .build = rail_build,
  .has_choice = rail_has_choice,
};
