/* SPDX-License-Identifier: Apache-2.0 */
/* torus.c - a router per node, connected to its neighbours along two or three axes, with wrap-around links.
 *
 * Place = x + X (y + Y z). A ring of two routers has one link, a ring of one none. Sizes that are not given become
 * divisors of the number of places, as equal as possible. The NICs of a node are connected to its router, so nothing
 * is relayed through a node.
 */
#include <math.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/fabric/fabric.h"

typedef struct {
  gint64 dimensions, x, y, z, links;
  const char *uplink;
  gint64 cable_mm, uplink_cable_mm;
} TorusParams;

#define ROW(key_, type_, field_, fallback_, help_)                                         \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (TorusParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam torus_params[] = {
  { ROW ("dimensions", COUNT, dimensions, "3", "2 or 3."), .min = 2, .max = 3 },
  { ROW ("x", COUNT, x, "0", "Places along the first axis; 0 on all axes: as equal as can be."), .min = 0,
    .max = 1e5 },
  { ROW ("y", COUNT, y, "0", "Along the second."), .min = 0, .max = 1e5 },
  { ROW ("z", COUNT, z, "0", "Along the third."), .min = 0, .max = 1e5 },
  { ROW ("links", COUNT, links, "0", "Links to each neighbour; 0: one per NIC of a node."), .min = 0,
    .max = 1024 },
  { ROW ("uplink", TEXT, uplink, "", "The link entry between neighbours; empty: that of the NICs."),
    .refers = FAB_REFERS_LINK },
  { ROW ("cable", LENGTH, cable_mm, "0m", "NIC to router: what the cable is longer than the link entry's."),
    .max = 1e8 },
  { ROW ("uplink_cable", LENGTH, uplink_cable_mm, "0m", "Between neighbours, likewise."), .max = 1e8 },
  { .key = NULL },
};

static void
torus_check (gconstpointer params, FabCheck *check)
{
  const TorusParams *p = params;
  gboolean is_given = p->x > 0 || p->y > 0 || p->z > 0;

  if (p->dimensions == 2 && p->z > 0)
    fab_check_fail (check, &p->z, "a torus of 2 dimensions has no z");
  if (is_given && (p->x == 0 || p->y == 0 || (p->dimensions == 3 && p->z == 0)))
    fab_check_fail (check,
                    p->x == 0   ? &p->x
                    : p->y == 0 ? &p->y
                                : &p->z,
                    "give the sizes of all %d axes, or of none", (int) p->dimensions);
}

/* Returns the largest divisor of n that is at most `root`. */
static guint
divisor_below (guint n, double root)
{
  guint best = 1;

  for (guint d = 2; d <= n && d <= root + 1e-9; d++)
    if (n % d == 0)
      best = d;
  return best;
}

static void
find_sizes (const TorusParams *p, guint n_places, guint sizes[3])
{
  guint z = p->dimensions == 3 ? divisor_below (n_places, cbrt (n_places)) : 1;
  guint y = divisor_below (n_places / z, sqrt (n_places / z));

  sizes[0] = p->x > 0 ? (guint) p->x : n_places / z / y;
  sizes[1] = p->x > 0 ? (guint) p->y : y;
  sizes[2] = p->x > 0 ? (guint) MAX (1, p->z) : z;
}

/* Connects each router to the next along the axis, and the last to the first when there are more than two. */
static void
join_axis (const FabFabricEnv *env, const FabVertexId *routers, const guint sizes[3], guint axis,
           const FabLinkForm *form)
{
  guint n = sizes[0] * sizes[1] * sizes[2], size = sizes[axis];
  guint step = axis == 0 ? 1 : axis == 1 ? sizes[0] : sizes[0] * sizes[1];

  for (guint i = 0; i < n; i++) {
    guint at = i / step % size;
    guint next = at + 1 < size ? i + step : i - at * step;

    if (size > 2 || at + 1 < size)
      fab_graph_builder_join (env->builder, routers[i], routers[next], form);
  }
}

static gboolean
torus_build (const FabFabricEnv *env, gconstpointer params, GError **error)
{
  const TorusParams *p = params;
  FabLinkForm port = fab_fabric_link (env, NULL, p->cable_mm);
  FabLinkForm form = fab_fabric_link (env, p->uplink, p->uplink_cable_mm);
  guint sizes[3];

  find_sizes (p, env->n_places, sizes);
  guint64 n = (guint64) sizes[0] * sizes[1] * sizes[2];
  if (n < env->n_places || n > 1000000)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "a torus of %u x %u x %u has %" G_GUINT64_FORMAT " places, and %u are wanted", sizes[0],
                      sizes[1], sizes[2], n, env->n_places);
  g_autofree FabVertexId *routers = g_new (FabVertexId, n);
  for (guint i = 0; i < n; i++)
    routers[i] = fab_fabric_add_switch (env, "router", TRUE, i);
  for (guint place = 0; place < env->n_places; place++)
    for (guint nic = 0; nic < env->nics_per_node; nic++)
      fab_fabric_attach (env, place, nic, routers[place], &port);
  form.count = p->links > 0 ? (guint) p->links : env->nics_per_node;
  for (guint axis = 0; axis < 3; axis++)
    if (sizes[axis] > 1)
      join_axis (env, routers, sizes, axis, &form);
  return TRUE;
}

const FabFabricOps fab_fabric_torus = {
  .info = { .name = "torus",
            .summary = "A router per node, joined to its neighbours along two or three axes.",
            .doc = "docs/models/torus.md",
            .params = torus_params,
            .params_size = sizeof (TorusParams),
            .check = torus_check },
  .build = torus_build,
};
