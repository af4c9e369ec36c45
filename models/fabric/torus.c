/* SPDX-License-Identifier: Apache-2.0 */
/* torus.c - a router per node, connected to its neighbours along two or three axes, with wrap-around links.
 *
 * Place = x + X (y + Y z). A ring of two routers has one link, a ring of one none. Sizes that are not given become
 * divisors of the number of places, as equal as possible, in whole cubes where there are cubes. The NICs of a node are
 * connected to its router, so nothing is relayed through a node.
 *
 * A torus that is composed of cubes has other links where one leaves a cube, round the ends of an axis too: they go
 * through optical circuit switches, which join any faces (N. Jouppi et al., "TPU v4", ISCA 2023, sections 2.2 and 2.6).
 *
 * A twisted torus has axes of L and of L/2 places. The links that close an axis of L/2 lead half way along every axis
 * of L: (x, y, L/2 - 1) is connected to (x + L/2, y + L/2, 0) where x and y are long. So all axes become alike, and
 * paths shorter. (J. M. Camara et al., "Twisted torus topologies for enhanced interconnection networks", IEEE TPDS
 * 21(12), 2010; C. Camarero, C. Martinez, R. Beivide, "Lattice graphs for high-scale interconnection topologies", IEEE
 * TPDS 26(9), 2015: one long axis is their FCC, two are their BCC. N. Jouppi et al., "TPU v4", ISCA 2023, section 2.8.)
 */
#include <math.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/fabric/fabric.h"

typedef struct {
  gint64 dimensions, x, y, z, links, cube;
  gboolean is_twisted;
  const char *uplink, *optical;
  gint64 cable_mm, uplink_cable_mm, optical_cable_mm;
} TorusParams;

#define ROW(key_, type_, field_, fallback_, help_)                                         \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (TorusParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam torus_params[] = {
  { ROW ("dimensions", COUNT, dimensions, "3", "Number of axes, 2 or 3."), .min = 2, .max = 3 },
  { ROW ("x", COUNT, x, "0", "Nodes along the first axis; 0 on all axes: sizes as equal as possible."),
    .min = 0, .max = 1e5 },
  { ROW ("y", COUNT, y, "0", "Nodes along the second axis."), .min = 0, .max = 1e5 },
  { ROW ("z", COUNT, z, "0", "Nodes along the third axis."), .min = 0, .max = 1e5 },
  { ROW (
      "twisted", BOOL, is_twisted, "false",
      "The links that close a shorter axis shift by half of the longer axes, which must be twice as long.") },
  { ROW ("links", COUNT, links, "0", "Links to each neighbour; 0: one for each NIC of a node."), .min = 0,
    .max = 1024 },
  { ROW ("cube", COUNT, cube, "0",
         "Nodes along each axis of the cubes that a slice is built from; 0: no cubes."),
    .min = 0, .max = 1e5 },
  { ROW ("optical", TEXT, optical, "",
         "Link entry of links between cubes, which pass an optical circuit switch; empty: the same as inside "
         "a cube."),
    .refers = FAB_REFERS_LINK },
  { ROW ("optical_cable", LENGTH, optical_cable_mm, "0m",
         "Between cubes: cable beyond the length in the link entry."),
    .max = 1e8 },
  { ROW ("uplink", TEXT, uplink, "", "Link entry between neighbours; empty: the same as the NICs have."),
    .refers = FAB_REFERS_LINK },
  { ROW ("cable", LENGTH, cable_mm, "0m", "NIC to router: cable beyond the length in the link entry."),
    .max = 1e8 },
  { ROW ("uplink_cable", LENGTH, uplink_cable_mm, "0m",
         "Between neighbours: cable beyond the length in the "
         "link entry."),
    .max = 1e8 },
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

/* Where cubes fill the places, the axes are counted in cubes. */
static void
find_sizes (const TorusParams *p, guint n_places, guint sizes[3])
{
  guint64 edge = (guint64) MAX (p->cube, 1), cube = p->dimensions == 3 ? edge * edge * edge : edge * edge;
  guint step = n_places % cube == 0 ? (guint) edge : 1, n = step > 1 ? (guint) (n_places / cube) : n_places;
  guint z = p->dimensions == 3 ? divisor_below (n, cbrt (n)) : 1;
  guint y = divisor_below (n / z, sqrt (n / z));

  sizes[0] = p->x > 0 ? (guint) p->x : n / z / y * step;
  sizes[1] = p->x > 0 ? (guint) p->y : y * step;
  sizes[2] = p->x > 0 ? (guint) MAX (1, p->z) : p->dimensions == 3 ? z * step : 1;
}

static guint
step_of (const guint sizes[3], guint axis)
{
  return axis == 0 ? 1 : axis == 1 ? sizes[0] : sizes[0] * sizes[1];
}

static guint
longest_of (const guint sizes[3])
{
  return MAX (sizes[0], MAX (sizes[1], sizes[2]));
}

/* Returns the router half way along every axis as long as the longest one. */
static guint
half_way (const guint sizes[3], guint i)
{
  guint longest = longest_of (sizes);

  for (guint axis = 0; axis < 3; axis++) {
    guint step = step_of (sizes, axis), at = i / step % sizes[axis];

    if (sizes[axis] == longest)
      i = i - at * step + (at + longest / 2) % longest * step;
  }
  return i;
}

typedef struct {
  gboolean is_twisted;
  guint cube;                  /* places along each axis of a cube; 0: there are none */
  FabLinkForm inside, optical; /* of a cube, and out of it */
} Wiring;

/* Connects each router to the next along the axis. The last is connected to the first when there are more than two, and
 * half way along the longer axes where the torus is twisted. */
static void
join_axis (const FabFabricEnv *env, const FabVertexId *routers, const guint sizes[3], guint axis,
           const Wiring *wiring)
{
  guint n = sizes[0] * sizes[1] * sizes[2], size = sizes[axis], step = step_of (sizes, axis);
  gboolean leads_away = wiring->is_twisted && size < longest_of (sizes);

  for (guint i = 0; i < n; i++) {
    guint at = i / step % size, first = i - at * step;
    guint next = at + 1 < size ? i + step : leads_away ? half_way (sizes, first) : first;

    if (size > 2 || at + 1 < size || leads_away)
      fab_graph_builder_join (env->builder, routers[i], routers[next],
                              wiring->cube > 0 && (at + 1) % wiring->cube == 0 ? &wiring->optical
                                                                               : &wiring->inside);
  }
}

static gboolean
check_cubes (const guint sizes[3], guint cube, GError **error)
{
  gboolean fits = TRUE;

  for (guint axis = 0; axis < 3; axis++)
    fits = fits && (cube == 0 || sizes[axis] == 1 || sizes[axis] % cube == 0);
  return fits
      || fab_throw (error, FAB_ERROR_INPUT,
                    "a torus of %u x %u x %u cannot be built from cubes of %u nodes along each axis",
                    sizes[0], sizes[1], sizes[2], cube);
}

static gboolean
check_twist (const guint sizes[3], guint dimensions, GError **error)
{
  guint longest = longest_of (sizes);
  gboolean has_short = FALSE, has_other = FALSE;

  for (guint axis = 0; axis < dimensions; axis++) {
    has_short = has_short || 2 * sizes[axis] == longest;
    has_other = has_other || (2 * sizes[axis] != longest && sizes[axis] != longest);
  }
  return (has_short && !has_other && longest >= 4)
      || fab_throw (
             error, FAB_ERROR_INPUT,
             "a torus of %u x %u x %u cannot be twisted; each axis must be 4 or longer, and some must be "
             "twice as long as the others",
             sizes[0], sizes[1], sizes[2]);
}

/* The first router of an axis of two is the second one's neighbour on both sides. */
static void
say_lattice (const FabFabricEnv *env, FabVertexId first, const guint sizes[3], gboolean is_twisted)
{
  FabLattice lattice = { .first = first };

  for (guint axis = 0; axis < 3; axis++) {
    lattice.sizes[axis] = sizes[axis];
    lattice.is_open[axis] = sizes[axis] == 2 || (is_twisted && sizes[axis] < longest_of (sizes));
  }
  fab_graph_builder_lattice (env->builder, &lattice);
}

static gboolean
torus_build (const FabFabricEnv *env, gconstpointer params, GError **error)
{
  const TorusParams *p = params;
  FabLinkForm port = fab_fabric_link (env, NULL, p->cable_mm);
  Wiring wiring = { .is_twisted = p->is_twisted,
                    .cube = (guint) p->cube,
                    .inside = fab_fabric_link (env, p->uplink, p->uplink_cable_mm),
                    .optical = fab_fabric_link (env, p->optical != NULL ? p->optical : p->uplink,
                                                p->uplink_cable_mm + p->optical_cable_mm) };
  guint sizes[3];

  find_sizes (p, env->n_places, sizes);
  guint64 n = (guint64) sizes[0] * sizes[1] * sizes[2];
  if (n < env->n_places || n > 1000000)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "a torus of %u x %u x %u has %" G_GUINT64_FORMAT " places, and %u are wanted", sizes[0],
                      sizes[1], sizes[2], n, env->n_places);
  if ((p->is_twisted && !check_twist (sizes, (guint) p->dimensions, error))
      || !check_cubes (sizes, (guint) p->cube, error))
    return FALSE;
  g_autofree FabVertexId *routers = g_new (FabVertexId, n);
  for (guint i = 0; i < n; i++)
    routers[i] = fab_fabric_add_switch (env, "router", TRUE, i);
  say_lattice (env, routers[0], sizes, p->is_twisted);
  for (guint place = 0; place < env->n_places; place++)
    for (guint nic = 0; nic < env->nics_per_node; nic++)
      fab_fabric_attach (env, place, nic, routers[place], &port);
  wiring.inside.count = wiring.optical.count = p->links > 0 ? (guint) p->links : env->nics_per_node;
  for (guint axis = 0; axis < 3; axis++)
    if (sizes[axis] > 1)
      join_axis (env, routers, sizes, axis, &wiring);
  return TRUE;
}

const FabFabricOps fab_fabric_torus = {
  .info = { .name = "torus",
            .summary = "One router per node, joined to its neighbours along two or three axes.",
            .doc = "docs/models/torus.md",
            .params = torus_params,
            .params_size = sizeof (TorusParams),
            .check = torus_check },
  .build = torus_build,
  .has_choice = fab_fabric_always_has_choice,
};
