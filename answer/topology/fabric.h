/* SPDX-License-Identifier: Apache-2.0 */
/* fabric.h - a fabric arranged for a picture: rows of what is alike, the farthest from the nodes on top, and the
 * nodes below. It is read off the graph, so that every fabric has a picture, a custom one too.
 */
#pragma once

#include "sim/machine/topology.h"

/* The routers of a dragonfly's group are one member of their row; a node is the set of its NICs; everything else is
 * one switch. */
typedef struct {
  char *name;       /* of a member: "leaf", "group", "node" */
  GArray *vertices; /* FabVertexId; n_each of them for each member */
  guint n, n_each;
  guint level;                    /* links to the nearest NIC; 0: the nodes */
  guint n_down, n_up;             /* ports of a member: of the one that has most */
  guint n_down_least, n_up_least; /* of the one that has fewest */
  guint n_with_all_up;            /* members that have n_up */
  guint n_up_fewer;               /* the most that the others have */
  double oversubscription; /* rate down over rate up, of the member where it is largest; 0: none has both */
  guint n_across;          /* ports of a member to others of its row */
  double down_bytes_per_s, up_bytes_per_s; /* line rate of these ports, one direction */
  char *inside;                            /* what joins the switches of one member, or the row is; NULL */
  char *across;                            /* what joins the members of the row; NULL: nothing */
} FabTopoRow;

/* What joins two rows. */
typedef struct {
  guint upper, lower; /* rows */
  char *text;         /* "each leaf to all 4 spines: 8 x ib-ndr, 400 GB/s"; it says so where members differ */
  gboolean is_mesh;   /* a lower member has several upper ones */
} FabTopoJoin;

typedef struct {
  const FabCluster *cluster;
  GArray *rows;     /* FabTopoRow, the highest first; the last are the nodes */
  GArray *joins;    /* FabTopoJoin, by rows */
  guint sizes[3];   /* of a torus; 0: it is none */
  guint n_networks; /* networks that are joined by nodes only */
  gboolean
      has_rails; /* every switch beside the nodes takes one NIC of each board of a node, the same of all */
} FabTopoFabric;

/* `kind` is the name of the fabric's model. (transfer full) */
FabTopoFabric *fab_topo_fabric_new (const FabCluster *cluster, const char *kind);
void fab_topo_fabric_free (FabTopoFabric *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTopoFabric, fab_topo_fabric_free)

/* Members of a row that are drawn, at most `most`: the first ones and the last. (transfer full) (element-type guint)
 * */
GArray *fab_topo_shown (const FabTopoRow *row, guint most);
/* Returns the first link from a member of one row to one of another; FAB_NO_LINK: there is none. */
FabLinkId fab_topo_link_between (const FabTopoFabric *self, guint row, guint member, guint other_row,
                                 guint other_member);
/* "2 : 1" of a row that has ports down and up, "2.5 : 1 at worst" where its members differ, else NULL. (transfer full)
 * */
char *fab_topo_oversubscription (const FabTopoRow *row);
/* "8 leaves, 64 ports down (3200 GB/s), 32 up (1600 GB/s), 2 : 1". Where members differ it has the fewest and the most
 * ports. (transfer full) */
char *fab_topo_row_text (const FabTopoRow *row);
/* "17 of 28 leaves have all 18 uplinks, 11 have 14 to 17"; NULL: all have as many. (transfer full) */
char *fab_topo_uplinks_text (const FabTopoRow *row);
