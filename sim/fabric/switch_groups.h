/* SPDX-License-Identifier: Apache-2.0 */
/* switch_groups.h - groups of switches that are joined all to all: what dragonflies have in common.
 *
 *   links between two groups = ports of a group to other groups / (groups - 1), rounded down
 *
 * The ends of these links are assigned to the switches of a group in turn.
 */
#pragma once

#include "sim/fabric/fabric.h"

/* What a message calls the fabric, and what the scenario says of its groups. */
typedef struct {
  const char *kind;        /* "dragonfly" */
  gint64 n_groups;         /* 0: as many as the NICs need */
  gint64 n_links;          /* between two groups; 0: as many as the ports allow, the same for all */
  guint64 nics_per_group;  /* ports to NICs */
  guint64 ports_per_group; /* ports to other groups */
  guint64 links_inside;    /* links between the switches of a group */
  guint n_switches;        /* of a group that have ports to other groups */
} FabGroupsSpec;

/* Fills in how many groups there are, and how many links between two of them. FALSE and *error where they have too
 * few ports, or so many links that memory would not hold them. */
gboolean fab_groups_plan (const FabFabricEnv *env, const FabGroupsSpec *spec, guint *n_groups, guint *n_links,
                          GError **error);

/* Joins all groups. `switches` is [n_groups * n_switches], group by group; every link is an edge of its own. */
void fab_groups_join (const FabFabricEnv *env, const FabVertexId *switches, guint n_groups, guint n_switches,
                      guint n_links, const FabLinkForm *form);
