/* SPDX-License-Identifier: Apache-2.0 */
/* rotation.h - links that turn into each other when GPUs change places in their nodes, or nodes in the fabric, so that
 * one of them is played for all.
 *
 * There are up to two rotations. The first one turns `orders[0]` times until everything is back at its place, the
 * second one `orders[1]` times. Every link that is turned has orders[0] x orders[1] places, all of them different: the
 * links of one orbit. One link stands for its orbit. `turn` says how often each rotation has to be applied to it to
 * reach the link: i times the first one and j times the second one are the number i x orders[1] + j.
 */
#pragma once

#include "sim/fabric/graph.h"

typedef struct {
  guint orders[2]; /* 1: there is no such rotation */
  guint n_links;
  FabLinkId *stands_for; /* [n_links] the link that is played for each; itself where nothing is turned */
  guint32 *turn;         /* [n_links] */
  FabLinkId *next;       /* [n_links] the next link of the same orbit, in a circle */
} FabRotation;

/* No link is turned yet. (transfer full) */
FabRotation *fab_rotation_new (guint n_links, guint order, guint second_order);
FabRotation *fab_rotation_ref (FabRotation *self);
void fab_rotation_unref (FabRotation *self); /* accepts NULL */

/* Returns by how much `to` is turned against `from`: equal numbers, for the same two links that stand for them, are
 * pairs of links that turn into each other. */
guint32 fab_rotation_between (const FabRotation *self, FabLinkId from, FabLinkId to);
