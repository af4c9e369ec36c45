/* SPDX-License-Identifier: Apache-2.0 */
/* rotation.h - links that turn into each other when GPUs change places in their nodes, or nodes in the fabric, so that
 * one of them is played for all.
 *
 * There are up to two rotations. The first one turns `orders[0]` times until everything is back at its place, the
 * second one `orders[1]` times. Every link that is turned has orders[0] x orders[1] places, all of them different: the
 * links of one orbit. One link stands for its orbit. `turn` says how often each rotation has to be applied to it to
 * reach the link: i times the first one and j times the second one are the number i x orders[1] + j.
 *
 * A rotation may leave links between switches where they are, since nodes share them. Such a link is shared: for each
 * packet that is played, it carries one packet of every node that takes the place of another. It is played as if each
 * of them had its part of the link.
 */
#pragma once

#include "sim/fabric/graph.h"

typedef struct {
  guint orders[2]; /* 1: there is no such rotation */
  guint n_links;
  FabLinkId *stands_for; /* [n_links] the link that is played for each; itself where nothing is turned */
  guint32 *turn;         /* [n_links] */
  FabLinkId *next;       /* [n_links] the next link of the same orbit, in a circle */
  guint8 *stays;         /* [n_links] FabRotationStays: the rotations that leave it where it is */
  FabLinkId *shared;     /* [n_shared] links that stay in a rotation */
  guint n_shared;
} FabRotation;

typedef enum { FAB_ROTATION_STAYS_IN_FIRST = 1, FAB_ROTATION_STAYS_IN_SECOND = 2 } FabRotationStays;

/* No link is turned yet. (transfer full) */
FabRotation *fab_rotation_new (guint n_links, guint order, guint second_order);
FabRotation *fab_rotation_ref (FabRotation *self);
void fab_rotation_unref (FabRotation *self); /* accepts NULL */

/* Returns by how much `to` is turned against `from`: equal numbers, for the same two links that stand for them, are
 * pairs of links that turn into each other. A rotation that leaves one of them where it is does not count. */
guint32 fab_rotation_between (const FabRotation *self, FabLinkId from, FabLinkId to);

/* Returns how many packets cross a link for each one that is played; 1: the link is not shared. */
guint fab_rotation_sharers (const FabRotation *self, FabLinkId link);
