/* SPDX-License-Identifier: Apache-2.0 */
/* dragonfly_plus.c - groups of leaves and spines: every leaf is connected to all spines of its group, and the spines
 * have links to all other groups.
 *
 *   links between two groups = spines_per_group x global_ports / (groups - 1), rounded down, or global_links
 *
 * (A. Shpiner, Z. Haramaty, S. Eliad, V. Zdornov, B. Gafni, E. Zahavi, "Dragonfly+: low cost topology for scaling
 * datacenters", HiPINEB 2017.) The shortest paths between groups are leaf - spine - spine - leaf, over every spine that
 * has a link to the other group. The wiring between groups is in sim/fabric/switch_groups.h. The defaults are groups of
 * switches of 40 ports, half of them down: 20 leaves with 20 NICs each, 20 spines with 20 links to other groups.
 */
#include "models/models.h"
#include "sim/fabric/switch_groups.h"

typedef struct {
  gint64 groups, leaves_per_group, spines_per_group, nics_per_leaf, global_ports, global_links, local_links;
  const char *local_link, *global_link;
  gint64 cable_mm, local_cable_mm, global_cable_mm;
} DragonflyPlusParams;

#define ROW(key_, type_, field_, fallback_, help_)                                                 \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (DragonflyPlusParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam dragonfly_plus_params[] = {
  { ROW ("groups", COUNT, groups, "0", "Groups of leaves and spines; 0: as many as the NICs need."), .min = 0,
    .max = 1e4 },
  { ROW ("leaves_per_group", COUNT, leaves_per_group, "20",
         "Leaves in each group; each has links to all spines of its group."),
    .min = 1, .max = 1024 },
  { ROW ("spines_per_group", COUNT, spines_per_group, "20",
         "Spines in each group; each has links to other groups."),
    .min = 1, .max = 1024 },
  { ROW ("nics_per_leaf", COUNT, nics_per_leaf, "20", "Ports of each leaf to NICs."), .min = 1, .max = 1024 },
  { ROW ("global_ports", COUNT, global_ports, "20", "Ports of each spine to other groups."), .min = 1,
    .max = 1024 },
  { ROW ("global_links", COUNT, global_links, "0",
         "Links between two groups; 0: as many as the ports allow, equal for all pairs."),
    .min = 0, .max = 1e6 },
  { ROW ("local_links", COUNT, local_links, "1", "Links between a leaf and a spine of its group."), .min = 1,
    .max = 1024 },
  { ROW ("local_link", TEXT, local_link, "", "Link entry inside a group; empty: the same as the NICs have."),
    .refers = FAB_REFERS_LINK },
  { ROW ("global_link", TEXT, global_link, "",
         "Link entry between groups; empty: the same as the NICs have."),
    .refers = FAB_REFERS_LINK },
  { ROW ("cable", LENGTH, cable_mm, "0m", "NIC to leaf: cable beyond the length in the link entry."),
    .max = 1e8 },
  { ROW ("local_cable", LENGTH, local_cable_mm, "0m",
         "Inside a group: cable beyond the length in the link "
         "entry."),
    .max = 1e8 },
  { ROW ("global_cable", LENGTH, global_cable_mm, "0m",
         "Between groups: cable beyond the length in the link "
         "entry."),
    .max = 2e10 },
  { .key = NULL },
};

static FabVertexId *
add_switches (const FabFabricEnv *env, const char *name, guint n)
{
  FabVertexId *switches = g_new (FabVertexId, n);

  for (guint i = 0; i < n; i++)
    switches[i] = fab_fabric_add_switch (env, name, TRUE, i);
  return switches;
}

static gboolean
dragonfly_plus_build (const FabFabricEnv *env, gconstpointer params, GError **error)
{
  const DragonflyPlusParams *p = params;
  guint n_leaves = (guint) p->leaves_per_group, n_spines = (guint) p->spines_per_group;
  guint k = env->nics_per_node, n_groups, n_links;
  FabGroupsSpec spec = { .kind = "dragonfly_plus",
                         .n_groups = p->groups,
                         .n_links = p->global_links,
                         .nics_per_group = (guint64) n_leaves * (guint64) p->nics_per_leaf,
                         .ports_per_group = (guint64) n_spines * (guint64) p->global_ports,
                         .links_inside = (guint64) n_leaves * n_spines,
                         .n_switches = n_spines };
  FabLinkForm port = fab_fabric_link (env, NULL, p->cable_mm);
  FabLinkForm local = fab_fabric_link (env, p->local_link, p->local_cable_mm);
  FabLinkForm global = fab_fabric_link (env, p->global_link, p->global_cable_mm);

  if (!fab_groups_plan (env, &spec, &n_groups, &n_links, error))
    return FALSE;
  local.count = (guint) p->local_links;
  g_autofree FabVertexId *leaves = add_switches (env, "leaf", n_groups * n_leaves);
  g_autofree FabVertexId *spines = add_switches (env, "spine", n_groups * n_spines);
  for (guint i = 0; i < env->n_places * k; i++)
    fab_fabric_attach (env, i / k, i % k, leaves[i / (guint) p->nics_per_leaf], &port);
  for (guint leaf = 0; leaf < n_groups * n_leaves; leaf++)
    for (guint i = 0; i < n_spines; i++)
      fab_graph_builder_join (env->builder, leaves[leaf], spines[leaf / n_leaves * n_spines + i], &local);
  fab_groups_join (env, spines, n_groups, n_spines, n_links, &global);
  return TRUE;
}

const FabFabricOps fab_fabric_dragonfly_plus = {
  .info = { .name = "dragonfly_plus",
            .summary = "Groups of leaves and spines; the spines connect each group to all others.",
            .doc = "docs/models/dragonfly_plus.md",
            .params = dragonfly_plus_params,
            .params_size = sizeof (DragonflyPlusParams) },
  .build = dragonfly_plus_build,
  .has_choice = fab_fabric_always_has_choice,
};
