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
#include "sim/base/error.h"
#include "sim/fabric/switch_groups.h"

typedef struct {
  gint64 groups, routers_per_group, nics_per_router, routers_per_node, global_ports, global_links,
      local_links;
  const char *local_link, *global_link;
  gint64 cable_mm, local_cable_mm, global_cable_mm;
} DragonflyParams;

#define ROW(key_, type_, field_, fallback_, help_)                                             \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (DragonflyParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam dragonfly_params[] = {
  { ROW (
        "groups", COUNT, groups, "0",
        "Groups of routers; 0: as many as the NICs need, and where one is enough, only its routers with NICs."),
    .min = 0, .max = 1e4 },
  { ROW ("routers_per_group", COUNT, routers_per_group, "32",
         "Routers in each group; each has links to all others of its group."),
    .min = 1, .max = 1024 },
  { ROW ("nics_per_router", COUNT, nics_per_router, "16", "Ports of each router to NICs."), .min = 1,
    .max = 1024 },
  { ROW ("routers_per_node", COUNT, routers_per_node, "1",
         "Routers among which the NICs of a node are divided; 1: NICs fill one router after another; 0: each "
         "NIC of a node has another router, as in Slingshot."),
    .min = 0, .max = 1024 },
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
  guint n_spread;         /* routers of a node, which follow one another; 1: NICs fill one after another */
  guint nodes_per_spread; /* nodes that fit on them; 0: n_spread is 1 */
  FabVertexId *routers;   /* [n_groups * group_size] */
} Dragonfly;

static void
add_routers (Dragonfly *self)
{
  self->routers = g_new (FabVertexId, self->n_groups * self->group_size);
  for (guint i = 0; i < self->n_groups * self->group_size; i++)
    self->routers[i] = fab_fabric_add_switch (self->env, "router", TRUE, i);
}

/* The router of a NIC. The routers of a node are in one group; a group's routers that are left over get no NIC. */
static guint
router_of (const Dragonfly *self, guint place, guint nic, guint nics_per_router)
{
  if (self->n_spread == 1)
    return (place * self->env->nics_per_node + nic) / nics_per_router;
  guint per_group = self->group_size / self->n_spread, spread = place / self->nodes_per_spread;

  return spread / per_group * self->group_size + spread % per_group * self->n_spread + nic % self->n_spread;
}

static void
attach_nics (const Dragonfly *self, guint nics_per_router, const FabLinkForm *port)
{
  for (guint place = 0; place < self->env->n_places; place++)
    for (guint nic = 0; nic < self->env->nics_per_node; nic++)
      fab_fabric_attach (self->env, place, nic, self->routers[router_of (self, place, nic, nics_per_router)],
                         port);
}

/* Routers with NICs of the first group. */
static guint
count_used (const Dragonfly *self, guint nics_per_router)
{
  guint n_places = self->env->n_places;

  if (self->n_spread == 1)
    return (n_places * self->env->nics_per_node + nics_per_router - 1) / nics_per_router;
  return (n_places + self->nodes_per_spread - 1) / self->nodes_per_spread * self->n_spread;
}

/* Decides on which routers nodes are. Sets *nics_per_group to the NICs that a group has ports for. */
static gboolean
spread_nodes (Dragonfly *self, const DragonflyParams *p, guint64 *nics_per_group, GError **error)
{
  guint n_nics = self->env->nics_per_node;
  guint n_spread = p->routers_per_node == 0 ? MAX (n_nics, 1) : (guint) p->routers_per_node;

  self->n_spread = n_spread;
  *nics_per_group = (guint64) p->routers_per_group * (guint64) p->nics_per_router;
  if (n_spread == 1)
    return TRUE;
  if (n_nics % n_spread != 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "routers_per_node: %u routers cannot share a node's %u NICs equally", n_spread, n_nics);
  if (n_spread > self->group_size)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "routers_per_node: the NICs of a node need %u routers, and a group has %u", n_spread,
                      self->group_size);
  self->nodes_per_spread = (guint) p->nics_per_router / (n_nics / n_spread);
  if (self->nodes_per_spread == 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "routers_per_node: a node has %u NICs on a router, which has ports for %u",
                      n_nics / n_spread, (guint) p->nics_per_router);
  *nics_per_group = (guint64) (self->group_size / n_spread) * self->nodes_per_spread * n_nics;
  return TRUE;
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
                         .ports_per_group = size * (guint64) p->global_ports,
                         .links_inside = size * (size - 1) / 2,
                         .n_switches = (guint) size };
  Dragonfly self = { .env = env, .group_size = (guint) size };
  FabLinkForm port = fab_fabric_link (env, NULL, p->cable_mm);
  FabLinkForm local = fab_fabric_link (env, p->local_link, p->local_cable_mm);
  FabLinkForm global = fab_fabric_link (env, p->global_link, p->global_cable_mm);
  guint n_links;

  if (!spread_nodes (&self, p, &spec.nics_per_group, error))
    return FALSE;
  if (!fab_groups_plan (env, &spec, &self.n_groups, &n_links, error))
    return FALSE;
  if (p->groups == 0 && self.n_groups == 1)
    self.group_size = MIN (self.group_size, MAX (count_used (&self, (guint) p->nics_per_router), 1));
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
