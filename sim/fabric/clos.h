/* SPDX-License-Identifier: Apache-2.0 */
/* clos.h - builds folded Clos networks of two or three tiers, for leaf-spine, rail and fat-tree fabrics.
 *
 * NICs fill the leaves place by place. Every uplink is a link of its own, so that flows can collide on it. Uplink
 * i of a leaf goes to spine i mod n of its pod. Uplink i of spine s goes to core i mod n of the cores that belong to
 * spine s: each spine of a pod has its own cores, and all pods share them.
 */
#pragma once

#include "sim/fabric/fabric.h"

typedef struct {
  guint n_planes;   /* copies of the whole network; NIC k of a node is in plane k mod n_planes */
  gboolean by_rail; /* a NIC is in the plane of its rail instead; n_planes is that of the rails */
  guint n_tors; /* leaves side by side: NIC k of a node in its plane is on the one of number k mod n_tors */
  guint leaf_down;      /* NICs per leaf */
  guint leaf_up;        /* uplinks per leaf */
  guint leaves_per_pod; /* G_MAXUINT: one pod holds all leaves, and there is no core */
  guint n_spines;       /* spines per pod, at most leaf_up */
  guint spine_up;       /* uplinks per spine; used with several pods only */
  guint cores_per_spine;
  FabLinkForm port, leaf_link, spine_link; /* from NIC to leaf, leaf to spine, spine to core */
} FabClos;

/* Returns the uplinks that a switch with `ports_down` ports needs, rounded up, at least 1. `rate_ratio` is the
 * rate of a port down over the rate of a port up. */
guint fab_clos_ports_up (guint ports_down, double oversubscription, double rate_ratio);

/* Returns the NICs of a node in the plane that has most of them. */
guint fab_clos_nics_per_plane (guint nics_per_node, guint n_planes);

/* Returns the number of leaves of the fullest plane. */
guint fab_clos_n_leaves (const FabFabricEnv *env, guint n_planes, guint leaf_down);

void fab_clos_build (const FabFabricEnv *env, const FabClos *clos);

/* Leaves and spines that are said by a ratio: a leaf has as many uplinks as its oversubscription leaves it. */
typedef struct {
  guint n_planes, n_tors, leaf_down; /* as in FabClos */
  gboolean by_rail;                  /* likewise */
  double oversubscription_factor;    /* rate of a leaf's ports down over that of its ports up */
  gint64 n_spines;                   /* of a plane; 0: one for every uplink of a leaf */
  const char *uplink;                /* link entry; NULL or empty: that of the NICs */
  gint64 cable_mm, uplink_cable_mm;  /* from NIC to leaf, leaf to spine */
} FabTwoTiers;

void fab_clos_build_two_tiers (const FabFabricEnv *env, const FabTwoTiers *tiers);
