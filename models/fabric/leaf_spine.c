/* SPDX-License-Identifier: Apache-2.0 */
/* leaf_spine.c - leaves connect all NICs of their nodes; every leaf has uplinks to every spine.
 *
 *   ports down = nodes_per_leaf x NICs of a node (in one plane)
 *   ports up   = ports down x port rate / (oversubscription x uplink rate), rounded up
 *
 * Uplinks go to the spines in turn, each as a link of its own (sim/fabric/clos.h). Planes are parallel copies of this
 * network. With `tors` the NICs of a node, or the ports of its NICs, are dealt to so many leaves of one network.
 */
#include "models/models.h"
#include "sim/fabric/clos.h"

typedef struct {
  gint64 nodes_per_leaf, spines, planes, tors;
  double oversubscription_factor;
  const char *uplink;
  gint64 cable_mm, uplink_cable_mm;
} LeafSpineParams;

#define ROW(key_, type_, field_, fallback_, help_)                                             \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (LeafSpineParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam leaf_spine_params[] = {
  { ROW ("nodes_per_leaf", COUNT, nodes_per_leaf, "4",
         "Nodes per leaf, with all of their NICs in the leaf's plane (of those on the same leaf)."),
    .min = 1, .max = 1e5 },
  { ROW ("spines", COUNT, spines, "0", "Spines per plane; 0: one for each uplink of a leaf."), .min = 0,
    .max = 1e4 },
  { ROW ("oversubscription", FACTOR, oversubscription_factor, "1",
         "Oversubscription of a leaf: its downlink rate over its uplink rate. The number of uplinks is "
         "rounded up."),
    .min = 0.1, .max = 1e3, .is_in_title = TRUE },
  { ROW (
        "planes", COUNT, planes, "1",
        "Planes: separate networks in parallel. NIC k of a node is in plane k mod planes. Ports of NICs count as "
        "NICs."),
    .min = 1, .max = 256 },
  { ROW (
        "tors", COUNT, tors, "1",
        "Leaves side by side on the same spines (dual ToR: 2). Of the NICs of a node in a plane, the k-th is on "
        "leaf k mod tors. Ports of NICs count as NICs."),
    .min = 1, .max = 64 },
  { ROW ("uplink", TEXT, uplink, "", "Link entry of the uplinks; empty: the same as the NICs have."),
    .refers = FAB_REFERS_LINK },
  { ROW ("cable", LENGTH, cable_mm, "0m", "NIC to leaf: cable beyond the length in the link entry."),
    .max = 1e8 },
  { ROW ("uplink_cable", LENGTH, uplink_cable_mm, "0m",
         "Leaf to spine: cable beyond the length in the link entry."),
    .max = 2e10 },
  { .key = NULL },
};

static gboolean
leaf_spine_build (const FabFabricEnv *env, gconstpointer params, G_GNUC_UNUSED GError **error)
{
  const LeafSpineParams *p = params;
  guint n_planes = MIN ((guint) p->planes, env->nics_per_node);
  guint n_in_plane = fab_clos_nics_per_plane (env->nics_per_node, n_planes);
  guint n_tors = MIN ((guint) p->tors, n_in_plane);

  fab_clos_build_two_tiers (env, &(FabTwoTiers){ .n_planes = n_planes,
                                                 .n_tors = n_tors,
                                                 .leaf_down = (guint) p->nodes_per_leaf
                                                            * fab_clos_nics_per_plane (n_in_plane, n_tors),
                                                 .oversubscription_factor = p->oversubscription_factor,
                                                 .n_spines = p->spines,
                                                 .uplink = p->uplink,
                                                 .cable_mm = p->cable_mm,
                                                 .uplink_cable_mm = p->uplink_cable_mm });
  return TRUE;
}

const FabFabricOps fab_fabric_leaf_spine = {
  .info = { .name = "leaf_spine",
            .summary = "Each leaf connects all NICs of its nodes and has uplinks to every spine.",
            .doc = "docs/models/leaf_spine.md",
            .params = leaf_spine_params,
            .params_size = sizeof (LeafSpineParams) },
  .build = leaf_spine_build,
  .has_choice = fab_fabric_always_has_choice,
};
