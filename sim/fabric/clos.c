/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/clos.h"

#include <math.h>

/* The plane that is being built. Switches are numbered over all planes. */
typedef struct {
  const FabFabricEnv *env;
  const FabClos *clos;
  GArray *leaves; /* FabVertexId of this plane */
  GArray *spines; /* FabVertexId of this plane, pod by pod */
  guint n_leaves, n_spines, n_cores;
} Plane;

guint
fab_clos_ports_up (guint ports_down, double oversubscription, double rate_ratio)
{
  double exact = ports_down * rate_ratio / oversubscription;

  return MAX (1, (guint) ceil (exact * (1 - 1e-12)));
}

guint
fab_clos_nics_per_plane (guint nics_per_node, guint n_planes)
{
  return (nics_per_node + n_planes - 1) / n_planes;
}

guint
fab_clos_n_leaves (const FabFabricEnv *env, guint n_planes, guint leaf_down)
{
  guint64 n_ports = (guint64) env->n_places * fab_clos_nics_per_plane (env->nics_per_node, n_planes);

  return (guint) ((n_ports + leaf_down - 1) / leaf_down);
}

static void
add_leaf (Plane *self)
{
  FabVertexId leaf = fab_fabric_add_switch (self->env, "leaf", TRUE, self->n_leaves++);

  g_array_append_val (self->leaves, leaf);
}

static guint
plane_of (const Plane *self, guint nic)
{
  return self->clos->by_rail ? self->env->seats[nic].rail : nic % self->clos->n_planes;
}

/* Connects the NICs of this plane in the order of places: so many leaves at a time for every leaf_down NICs of
 * each. */
static void
add_leaves (Plane *self, guint plane)
{
  guint n_tors = self->clos->n_tors, n_filled = 0;

  g_array_set_size (self->leaves, 0);
  for (guint place = 0; place < self->env->n_places; place++)
    for (guint nic = 0; nic < self->env->nics_per_node; nic++) {
      if (plane_of (self, nic) != plane)
        continue;
      for (guint i = 0; n_filled % (self->clos->leaf_down * n_tors) == 0 && i < n_tors; i++)
        add_leaf (self);
      fab_fabric_attach (self->env, place, nic,
                         g_array_index (self->leaves, FabVertexId,
                                        self->leaves->len - n_tors + n_filled++ % n_tors),
                         &self->clos->port);
    }
}

static void
add_spines (Plane *self)
{
  const FabClos *clos = self->clos;

  g_array_set_size (self->spines, 0);
  for (guint leaf = 0; leaf < self->leaves->len; leaf++) {
    guint pod = leaf / clos->leaves_per_pod;

    for (guint i = 0; leaf % clos->leaves_per_pod == 0 && i < clos->n_spines; i++) {
      FabVertexId spine = fab_fabric_add_switch (self->env, "spine", TRUE, self->n_spines++);

      g_array_append_val (self->spines, spine);
    }
    for (guint i = 0; i < clos->leaf_up; i++)
      fab_graph_builder_join (self->env->builder, g_array_index (self->leaves, FabVertexId, leaf),
                              g_array_index (self->spines, FabVertexId,
                                             pod * clos->n_spines + i % clos->n_spines),
                              &clos->leaf_link);
  }
}

static void
add_cores (Plane *self)
{
  const FabClos *clos = self->clos;
  guint n_cores = clos->n_spines * clos->cores_per_spine;
  g_autofree FabVertexId *cores = g_new (FabVertexId, n_cores);

  for (guint i = 0; i < n_cores; i++)
    cores[i] = fab_fabric_add_switch (self->env, "core", TRUE, self->n_cores++);
  for (guint s = 0; s < self->spines->len; s++)
    for (guint i = 0; i < clos->spine_up; i++)
      fab_graph_builder_join (self->env->builder, g_array_index (self->spines, FabVertexId, s),
                              cores[s % clos->n_spines * clos->cores_per_spine + i % clos->cores_per_spine],
                              &clos->spine_link);
}

void
fab_clos_build (const FabFabricEnv *env, const FabClos *clos)
{
  g_autoptr (GArray) leaves = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
  g_autoptr (GArray) spines = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
  Plane self = { env, clos, leaves, spines, 0, 0, 0 };

  for (guint plane = 0; plane < MIN (clos->n_planes, env->nics_per_node); plane++) {
    add_leaves (&self, plane);
    if (leaves->len > 1)
      add_spines (&self);
    if (leaves->len > clos->leaves_per_pod)
      add_cores (&self);
  }
}

void
fab_clos_build_two_tiers (const FabFabricEnv *env, const FabTwoTiers *tiers)
{
  FabLinkForm port = fab_fabric_link (env, NULL, tiers->cable_mm);
  FabLinkForm up = fab_fabric_link (env, tiers->uplink, tiers->uplink_cable_mm);
  double rate_ratio = (double) port.rate_bytes_per_s / (double) up.rate_bytes_per_s;
  guint leaf_up = fab_clos_ports_up (tiers->leaf_down, tiers->oversubscription_factor, rate_ratio);

  fab_clos_build (env, &(FabClos){ .n_planes = tiers->n_planes,
                                   .by_rail = tiers->by_rail,
                                   .n_tors = MAX (tiers->n_tors, 1),
                                   .leaf_down = tiers->leaf_down,
                                   .leaf_up = leaf_up,
                                   .leaves_per_pod = G_MAXUINT,
                                   .n_spines = tiers->n_spines > 0 ? MIN ((guint) tiers->n_spines, leaf_up)
                                                                   : leaf_up,
                                   .port = port,
                                   .leaf_link = up });
}
