/* SPDX-License-Identifier: Apache-2.0 */
/* rail_only.c - one network per rail without connections between rails: NIC r of a node reaches only NIC r of other
 * nodes.
 *
 * A rail is a leaf-spine network of its own (sim/fabric/clos.h). Traffic to another rail changes rails inside a node
 * (W. Wang et al., "Rail-only: a low-cost high-performance network for training LLMs", arXiv 2307.12169).
 */
#include "models/models.h"
#include "sim/fabric/clos.h"

typedef struct {
  gint64 nodes_per_leaf, spines;
  double oversubscription_factor;
  const char *uplink;
  gint64 cable_mm, uplink_cable_mm;
} RailOnlyParams;

#define ROW(key_, type_, field_, fallback_, help_)                                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (RailOnlyParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam rail_only_params[] = {
  { ROW (
        "nodes_per_leaf", COUNT, nodes_per_leaf, "32",
        "Nodes per unit; each has one NIC on every leaf of the unit. Of nodes that consist of several boards "
        "(trays of a rack), each board counts."),
    .min = 1, .max = 1e5 },
  { ROW ("spines", COUNT, spines, "0",
         "Spines per rail when there are several units; 0: one for each uplink."),
    .min = 0, .max = 1e4 },
  { ROW ("oversubscription", FACTOR, oversubscription_factor, "1",
         "Oversubscription of a leaf: its downlink rate over its uplink rate. The number of uplinks is "
         "rounded up."),
    .min = 0.1, .max = 1e3, .is_in_title = TRUE },
  { ROW ("uplink", TEXT, uplink, "", "Link entry of the uplinks; empty: the same as the NICs have."),
    .refers = FAB_REFERS_LINK },
  { ROW ("cable", LENGTH, cable_mm, "0m", "NIC to leaf: cable beyond the length in the link entry."),
    .max = 1e8 },
  { ROW ("uplink_cable", LENGTH, uplink_cable_mm, "0m",
         "Leaf to spine: cable beyond the length in the link entry."),
    .max = 1e8 },
  { .key = NULL },
};

static gboolean
rail_only_build (const FabFabricEnv *env, gconstpointer params, G_GNUC_UNUSED GError **error)
{
  const RailOnlyParams *p = params;
  guint leaf_down = (guint) p->nodes_per_leaf;

  fab_clos_build_two_tiers (env, &(FabTwoTiers){ .n_planes = env->n_rails,
                                                 .by_rail = TRUE,
                                                 .leaf_down = leaf_down,
                                                 .oversubscription_factor = p->oversubscription_factor,
                                                 .n_spines = p->spines,
                                                 .uplink = p->uplink,
                                                 .cable_mm = p->cable_mm,
                                                 .uplink_cable_mm = p->uplink_cable_mm });
  return TRUE;
}

const FabFabricOps fab_fabric_rail_only = {
  .info = { .name = "rail_only",
            .summary = "One separate network per rail; rails connect only inside the nodes.",
            .doc = "docs/models/rail_only.md",
            .params = rail_only_params,
            .params_size = sizeof (RailOnlyParams) },
  .build = rail_only_build,
};
