/* SPDX-License-Identifier: Apache-2.0 */
/* hyperx.c - routers on a grid of any number of axes, each joined to all others that differ from it along one axis.
 *
 *   routers    S1 x S2 x ... x SL, router = c1 + S1 (c2 + S2 (c3 + ...))
 *   degree     T + K1 (S1 - 1) + ... + KL (SL - 1), with T NICs per router and K links between two routers
 *   diameter   L links between routers
 *   bisection  across axis k: Kk x Sk^2 / 4 x routers / Sk links, for an even Sk
 *
 * (J. H. Ahn, N. Binkert, A. Davis, M. McLaren, R. S. Schreiber, "HyperX: topology, routing, and packaging of
 * efficient large-scale networks", SC 2009.) One axis is a full mesh. An axis of width 2 everywhere is a hypercube; two
 * axes are a flattened butterfly.
 */
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/fabric/fabric.h"

#define MAX_LINKS (4 * 1000 * 1000)
#define MAX_AXES 16

typedef struct {
  gint64 width, links;
  const char *link;
  gint64 cable_mm;
} AxisSpec;

typedef struct {
  gint64 dimensions, nics_per_router, links;
  FabParamList axes; /* AxisSpec */
  const char *uplink;
  gint64 cable_mm, uplink_cable_mm;
} HyperxParams;

#define ROW(key_, type_, struct_, field_, fallback_, help_)                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_

static const FabParam axis_params[] = {
  { ROW ("width", COUNT, AxisSpec, width, NULL, "Routers along this axis; each is joined to all others."),
    .min = 1, .max = 1e5 },
  { ROW ("links", COUNT, AxisSpec, links, "0",
         "Links between two routers of this axis; 0: `links` of the fabric."),
    .min = 0, .max = 1024 },
  { ROW ("link", TEXT, AxisSpec, link, "", "Link entry of this axis; empty: `uplink` of the fabric."),
    .refers = FAB_REFERS_LINK },
  { ROW ("cable", LENGTH, AxisSpec, cable_mm, "0m", "Cable of this axis beyond `uplink_cable`."),
    .max = 2e10 },
  { .key = NULL },
};

static const FabParam hyperx_params[] = {
  { ROW ("dimensions", COUNT, HyperxParams, dimensions, "2",
         "Number of axes. Their widths differ by at most one and are the smallest that fit the NICs. Ignored "
         "when `axes` is given."),
    .min = 1, .max = MAX_AXES },
  { ROW ("nics_per_router", COUNT, HyperxParams, nics_per_router, "0",
         "Ports of each router to NICs; 0: as many as a node has NICs."),
    .min = 0, .max = 1024 },
  { ROW ("links", COUNT, HyperxParams, links, "1", "Links between two joined routers."), .min = 1,
    .max = 1024 },
  { .key = "axes",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (HyperxParams, axes),
    .help = "The axes, when their widths differ.",
    .table = axis_params,
    .table_size = sizeof (AxisSpec) },
  { ROW ("uplink", TEXT, HyperxParams, uplink, "",
         "Link entry between routers; empty: the same as the NICs have."),
    .refers = FAB_REFERS_LINK },
  { ROW ("cable", LENGTH, HyperxParams, cable_mm, "0m",
         "NIC to router: cable beyond the length in the link entry."),
    .max = 1e8 },
  { ROW ("uplink_cable", LENGTH, HyperxParams, uplink_cable_mm, "0m",
         "Between routers: cable beyond the "
         "length in the link entry."),
    .max = 2e10 },
  { .key = NULL },
};

static void
hyperx_check (gconstpointer params, FabCheck *check)
{
  const HyperxParams *p = params;

  if (p->axes.n > MAX_AXES)
    fab_check_fail (check, &p->axes, "a hyperx has at most %d axes, not %u", MAX_AXES, p->axes.n);
}

typedef struct {
  guint n_axes, nics_per_router;
  guint64 n_routers;
  guint widths[MAX_AXES];
  FabLinkForm forms[MAX_AXES];
} Shape;

static FabLinkForm
form_of (const FabFabricEnv *env, const HyperxParams *p, const AxisSpec *axis)
{
  const char *link = axis != NULL && axis->link != NULL ? axis->link : p->uplink;
  FabLinkForm form = fab_fabric_link (env, link, p->uplink_cable_mm + (axis != NULL ? axis->cable_mm : 0));

  form.count = (guint) (axis != NULL && axis->links > 0 ? axis->links : p->links);
  return form;
}

static guint64
count_routers (const Shape *self)
{
  guint64 n = 1;

  for (guint a = 0; a < self->n_axes && n <= MAX_LINKS; a++)
    n *= self->widths[a];
  return n;
}

/* Widens one axis after the other, the first one first, until all routers have room. */
static void
find_widths (Shape *self, guint64 n_wanted)
{
  for (guint a = 0; a < self->n_axes; a++)
    self->widths[a] = 1;
  for (guint a = 0; count_routers (self) < n_wanted; a = (a + 1) % self->n_axes)
    self->widths[a]++;
}

static gboolean
find_shape (const FabFabricEnv *env, const HyperxParams *p, Shape *self, GError **error)
{
  guint64 n_nics = (guint64) env->n_places * env->nics_per_node, n_links = 0;
  const AxisSpec *axes = p->axes.data;

  self->nics_per_router = p->nics_per_router > 0 ? (guint) p->nics_per_router : env->nics_per_node;
  guint64 n_wanted = (n_nics + self->nics_per_router - 1) / self->nics_per_router;
  self->n_axes = p->axes.n > 0 ? p->axes.n : (guint) p->dimensions;
  for (guint a = 0; a < p->axes.n; a++)
    self->widths[a] = (guint) axes[a].width;
  if (p->axes.n == 0 && n_wanted <= MAX_LINKS)
    find_widths (self, n_wanted);
  for (guint a = 0; a < self->n_axes; a++)
    self->forms[a] = form_of (env, p, p->axes.n > 0 ? &axes[a] : NULL);
  self->n_routers = count_routers (self);
  for (guint a = 0; a < self->n_axes; a++)
    n_links += self->n_routers * (self->widths[a] - 1) / 2;
  if (self->n_routers > MAX_LINKS || n_links > MAX_LINKS)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "this hyperx has %" G_GUINT64_FORMAT " routers and %" G_GUINT64_FORMAT
                      " links; at most %d",
                      self->n_routers, n_links, MAX_LINKS);
  return n_wanted <= self->n_routers
      || fab_throw (error, FAB_ERROR_INPUT,
                    "a hyperx of %" G_GUINT64_FORMAT " routers has ports for %" G_GUINT64_FORMAT
                    " NICs, not %" G_GUINT64_FORMAT,
                    self->n_routers, self->n_routers * self->nics_per_router, n_nics);
}

/* Joins every router to those that follow it along the axis. `step` is the distance of their numbers. */
static void
join_axis (const FabFabricEnv *env, const Shape *self, const FabVertexId *routers, guint axis, guint step)
{
  guint width = self->widths[axis];

  for (guint i = 0; i < self->n_routers; i++)
    for (guint k = 1; i / step % width + k < width; k++)
      fab_graph_builder_join (env->builder, routers[i], routers[i + k * step], &self->forms[axis]);
}

static gboolean
hyperx_build (const FabFabricEnv *env, gconstpointer params, GError **error)
{
  const HyperxParams *p = params;
  FabLinkForm port = fab_fabric_link (env, NULL, p->cable_mm);
  guint k = env->nics_per_node, step = 1;
  Shape shape = { 0 };

  if (!find_shape (env, p, &shape, error))
    return FALSE;
  g_autofree FabVertexId *routers = g_new (FabVertexId, shape.n_routers);
  for (guint i = 0; i < shape.n_routers; i++)
    routers[i] = fab_fabric_add_switch (env, "router", TRUE, i);
  for (guint i = 0; i < env->n_places * k; i++)
    fab_fabric_attach (env, i / k, i % k, routers[i / shape.nics_per_router], &port);
  for (guint axis = 0; axis < shape.n_axes; axis++) {
    join_axis (env, &shape, routers, axis, step);
    step *= shape.widths[axis];
  }
  return TRUE;
}

const FabFabricOps fab_fabric_hyperx = {
  .info = { .name = "hyperx",
            .summary = "A grid of routers; each is joined to all others in its row along every axis.",
            .doc = "docs/models/hyperx.md",
            .params = hyperx_params,
            .params_size = sizeof (HyperxParams),
            .check = hyperx_check },
  .build = hyperx_build,
  .has_choice = fab_fabric_always_has_choice,
};
