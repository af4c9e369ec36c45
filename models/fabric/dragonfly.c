/* SPDX-License-Identifier: Apache-2.0 */
/* dragonfly.c - groups of routers: every router is connected to all others of its group, and every group to every
 * other.
 *
 *   links between two groups = routers_per_group x global_ports / (groups - 1), rounded down, or global_links
 *
 * The wiring between groups is in sim/fabric/switch_groups.h. (J. Kim, W. Dally, S. Scott, D. Abts,
 * "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.) The defaults are those of Slingshot in
 * Frontier: 32 switches of 64 ports per group, 16 ports to NICs, 31 inside the group, 9 to other groups.
 */
#include "models/models.h"
#include "sim/fabric/switch_groups.h"

typedef struct {
  gint64 groups, routers_per_group, nics_per_router, global_ports, global_links, local_links;
  const char *local_link, *global_link;
  gint64 cable_mm, local_cable_mm, global_cable_mm;
} DragonflyParams;

#define ROW(key_, type_, field_, fallback_, help_)                                             \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (DragonflyParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam dragonfly_params[] = {
  { ROW ("groups", COUNT, groups, "0", "Groups of routers; 0: as many as the NICs need."), .min = 0,
    .max = 1e4 },
  { ROW ("routers_per_group", COUNT, routers_per_group, "32",
         "Routers in each group; each has links to all others of its group."),
    .min = 1, .max = 1024 },
  { ROW ("nics_per_router", COUNT, nics_per_router, "16", "Ports of each router to NICs."), .min = 1,
    .max = 1024 },
  { ROW ("global_ports", COUNT, global_ports, "9", "Ports of each router to other groups."), .min = 1,
    .max = 1024 },
  { ROW ("global_links", COUNT, global_links, "0",
         "Links between two groups; 0: as many as the ports allow, equal for all pairs."),
    .min = 0, .max = 1e6 },
  { ROW ("local_links", COUNT, local_links, "1", "Links between two routers of a group."), .min = 1,
    .max = 1024 },
  { ROW ("local_link", TEXT, local_link, "", "Link entry inside a group; empty: the same as the NICs have."),
    .refers = FAB_REFERS_LINK },
  { ROW ("global_link", TEXT, global_link, "",
         "Link entry between groups; empty: the same as the NICs have."),
    .refers = FAB_REFERS_LINK },
  { ROW ("cable", LENGTH, cable_mm, "0m", "NIC to router: cable beyond the length in the link entry."),
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

typedef struct {
  const FabFabricEnv *env;
  guint n_groups, group_size; /* group_size: routers per group */
  FabVertexId *routers;       /* [n_groups * group_size] */
} Dragonfly;

static void
add_routers (Dragonfly *self)
{
  self->routers = g_new (FabVertexId, self->n_groups * self->group_size);
  for (guint i = 0; i < self->n_groups * self->group_size; i++)
    self->routers[i] = fab_fabric_add_switch (self->env, "router", TRUE, i);
}

static void
attach_nics (const Dragonfly *self, guint nics_per_router, const FabLinkForm *port)
{
  guint k = self->env->nics_per_node;

  for (guint i = 0; i < self->env->n_places * k; i++)
    fab_fabric_attach (self->env, i / k, i % k, self->routers[i / nics_per_router], port);
}

static void
join_groups_inside (const Dragonfly *self, const FabLinkForm *form)
{
  for (guint group = 0; group < self->n_groups; group++) {
    const FabVertexId *routers = self->routers + group * self->group_size;

    for (guint a = 0; a < self->group_size; a++)
      for (guint b = a + 1; b < self->group_size; b++)
        fab_graph_builder_join (self->env->builder, routers[a], routers[b], form);
  }
}

static gboolean
dragonfly_build (const FabFabricEnv *env, gconstpointer params, GError **error)
{
  const DragonflyParams *p = params;
  guint64 size = (guint64) p->routers_per_group;
  FabGroupsSpec spec = { .kind = "dragonfly",
                         .n_groups = p->groups,
                         .n_links = p->global_links,
                         .nics_per_group = size * (guint64) p->nics_per_router,
                         .ports_per_group = size * (guint64) p->global_ports,
                         .links_inside = size * (size - 1) / 2,
                         .n_switches = (guint) size };
  Dragonfly self = { .env = env, .group_size = (guint) size };
  FabLinkForm port = fab_fabric_link (env, NULL, p->cable_mm);
  FabLinkForm local = fab_fabric_link (env, p->local_link, p->local_cable_mm);
  FabLinkForm global = fab_fabric_link (env, p->global_link, p->global_cable_mm);
  guint n_links;

  if (!fab_groups_plan (env, &spec, &self.n_groups, &n_links, error))
    return FALSE;
  local.count = (guint) p->local_links;
  add_routers (&self);
  attach_nics (&self, (guint) p->nics_per_router, &port);
  join_groups_inside (&self, &local);
  fab_groups_join (env, self.routers, self.n_groups, self.group_size, n_links, &global);
  g_free (self.routers);
  return TRUE;
}

const FabFabricOps fab_fabric_dragonfly = {
  .info = { .name = "dragonfly",
            .summary = "Groups of fully connected routers; each pair of groups is connected.",
            .doc = "docs/models/dragonfly.md",
            .params = dragonfly_params,
            .params_size = sizeof (DragonflyParams) },
  .build = dragonfly_build,
  .has_choice = fab_fabric_always_has_choice,
};
