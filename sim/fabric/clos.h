/* SPDX-License-Identifier: Apache-2.0 */
/* clos.h - folded Clos networks of two or three tiers: what leaf-spines, rails and fat trees have in common.
 *
 * NICs fill leaves place by place. Every uplink is a link of its own, so that flows can collide on it. Uplink i of a
 * leaf goes to spine i mod n of its pod, uplink i of spine s to core i mod n of those that belong to spine s: each
 * spine of a pod has cores of its own, the same for all pods.
 */
#pragma once

#include "sim/fabric/fabric.h"

typedef struct {
  guint n_planes;       /* copies of the whole; NIC k of a node is in plane k mod n_planes */
  guint leaf_down;      /* NICs of a leaf */
  guint leaf_up;        /* uplinks of a leaf */
  guint leaves_per_pod; /* G_MAXUINT: all are one pod, there is no core */
  guint n_spines;       /* of a pod, at most leaf_up */
  guint spine_up;       /* uplinks of a spine; with several pods only */
  guint cores_per_spine;
  FabLinkForm port, leaf_link, spine_link; /* NIC to leaf, leaf to spine, spine to core */
} FabClos;

/* Ports up for that many ports down, rounded up, at least 1; `rate_ratio`: rate of a port down over one up. */
guint fab_clos_ports_up (guint ports_down, double oversubscription, double rate_ratio);

/* NICs of a node in the plane that has most of them. */
guint fab_clos_nics_per_plane (guint nics_per_node, guint n_planes);

/* Leaves of the fullest plane. */
guint fab_clos_n_leaves (const FabFabricEnv *env, guint n_planes, guint leaf_down);

void fab_clos_build (const FabFabricEnv *env, const FabClos *clos);
