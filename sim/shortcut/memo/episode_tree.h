/* SPDX-License-Identifier: Apache-2.0 */
/* episode_tree.h - the inputs and outputs of episodes (episodes.h) as a tree, and what links carried between them.
 *
 * A tree knows how many bytes it has, and has room up to FAB_EPISODE_TREE_BYTES. Arrays that are equal are kept once.
 */
#pragma once

#include "sim/base/units.h"

enum { FAB_EPISODE_TREE_BYTES = 1 << 28 };

typedef struct _FabEpisodeNode FabEpisodeNode;

/* An input or an output of an episode. */
struct _FabEpisodeNode {
  FabEpisodeNode *parent; /* NULL: the input that begins the episode */
  FabEpisodeNode *inputs; /* that have followed it, linked by `sibling` */
  FabEpisodeNode *sibling;
  FabEpisodeNode *output; /* the next one; NULL: not known */
  FabTimePs after_ps;     /* since the parent */
  FabTimePs quiet_ps;     /* nothing comes out for so long; -1: not known */
  GBytes *meter;          /* output: of FabMeterEntry, what links carried since the output before */
  GBytes *queues;         /* last output: of FabLaneQueue, of the episode */
  GBytes *late;           /* last output: of FabMeterEntry, what links carried after it */
  GBytes *skips;          /* of FabSkip, since the parent and on the clock of the episode; NULL: none */
  guint32 folded_for;     /* of `skips`: the version of the schedules (warm_up.h) that made them */
  guint32 what;           /* input: the plan; output: the place of the input that has ended */
  gboolean is_output;
  gboolean is_played; /* by the network, so that all of `skips` are known */
};

typedef struct {
  GHashTable *known; /* of GBytes */
  gsize n_bytes;     /* of nodes and of what is in `known` */
} FabEpisodeTree;

void fab_episode_tree_init (FabEpisodeTree *self);
void fab_episode_tree_clear (FabEpisodeTree *self); /* but not the nodes */

/* Makes a node, which belongs to its parent once that points to it. (transfer full) */
FabEpisodeNode *fab_episode_tree_add (FabEpisodeTree *self, FabEpisodeNode *parent, gboolean is_output,
                                      guint32 what, FabTimePs after_ps);

/* Frees a node, which nothing points to, and all that follow it; accepts NULL. */
void fab_episode_tree_cut (FabEpisodeTree *self, FabEpisodeNode *node);

/* Returns the bytes of an array, which are words of 8 bytes. (transfer none) */
GBytes *fab_episode_tree_keep (FabEpisodeTree *self, const GArray *array);

static inline gboolean
fab_episode_tree_has_room (const FabEpisodeTree *self)
{
  return self->n_bytes < FAB_EPISODE_TREE_BYTES;
}

/* Returns the input that follows a node after this time, or the one next to it of those that do so up to `slack_ps`
 * sooner or later; NULL: none is known. Accepts a NULL node. */
FabEpisodeNode *fab_episode_node_find (const FabEpisodeNode *self, guint32 what, FabTimePs after_ps,
                                       FabTimePs slack_ps);
