/* SPDX-License-Identifier: Apache-2.0 */
/* rail.c - a rail-optimised leaf-spine network: leaf r of a unit connects NIC r of each node of the unit.
 *
 * A unit has nodes_per_leaf nodes. A node of several boards, such as a rack of trays, counts as so many nodes, and
 * NIC r of each board is on leaf r. Every leaf has nodes_per_leaf / oversubscription links to the spine layer. Without
 * `spines` that layer is one vertex: it never blocks, because even spreading over the spines is assumed. With them
 * uplink i of a leaf goes to spine i mod spines, and each uplink is a link of its own, on which flows can collide. One
 * unit needs no spine, unless it has several rails, which would otherwise be disconnected.
 */
#include <math.h>

#include "models/models.h"
#include "sim/fabric/fabric.h"

typedef struct {
  gint64 nodes_per_leaf;
  double oversubscription_factor;
  gint64 n_spines;
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
    .help = "Oversubscription of a leaf: its downlinks over its uplinks. The number of uplinks is rounded "
            "up." },
  { .key = "spines",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (RailParams, n_spines),
    .fallback = "0",
    .min = 0,
    .max = 1e5,
    .help = "Number of spines; 0: one spine layer that never blocks." },
  { .key = NULL },
};

/* The vertices of the spine layer: one without a number, or as many as there are spines. (transfer full) */
static FabVertexId *
add_spines (const FabFabricEnv *env, guint n_spines)
{
  FabVertexId *spines = g_new (FabVertexId, MAX (n_spines, 1));

  if (n_spines == 0)
    spines[0] = fab_fabric_add_switch (env, "spine", FALSE, 0);
  for (guint i = 0; i < n_spines; i++)
    spines[i] = fab_fabric_add_switch (env, "spine", TRUE, i);
  return spines;
}

/* One bundle to the layer, or every uplink by itself. */
static void
join_spines (const FabFabricEnv *env, FabVertexId leaf, const FabVertexId *spines, guint n_spines, guint n_up)
{
  FabLinkForm up = env->port;

  if (n_spines == 0) {
    up.count = n_up;
    fab_graph_builder_join (env->builder, leaf, spines[0], &up);
    return;
  }
  for (guint i = 0; i < n_up; i++)
    fab_graph_builder_join (env->builder, leaf, spines[i % n_spines], &up);
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

static gboolean
rail_build (const FabFabricEnv *env, gconstpointer params, G_GNUC_UNUSED GError **error)
{
  const RailParams *p = params;
  guint per_leaf = (guint) p->nodes_per_leaf;
  guint n_units = (env->n_places * env->n_boards + per_leaf - 1) / per_leaf;
  guint n_leaves = n_units * env->n_rails;
  guint n_up = (guint) ceil ((double) per_leaf / p->oversubscription_factor);
  guint n_spines = MIN ((guint) p->n_spines, n_up);
  g_autofree FabVertexId *spines = n_leaves > 1 ? add_spines (env, n_spines) : NULL;

  for (guint leaf = 0; leaf < n_leaves; leaf++) {
    FabVertexId vertex = fab_fabric_add_switch (env, "leaf", TRUE, leaf);

    attach_unit (env, per_leaf, leaf / env->n_rails, leaf % env->n_rails, vertex);
    if (n_leaves > 1)
      join_spines (env, vertex, spines, n_spines, n_up);
  }
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
