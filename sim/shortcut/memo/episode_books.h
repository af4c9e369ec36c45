/* SPDX-License-Identifier: Apache-2.0 */
/* episode_books.h - what all episodes (episodes.h) of a network have in common: the collectives that begin them, the
 * tree of what is known, and what is counted.
 */
#pragma once

#include "sim/shortcut/memo/episode_tree.h"
#include "sim/shortcut/memo/episodes_count.h"
#include "sim/shortcut/memo/net_replicas.h"
#include "sim/shortcut/memo/plan_ids.h"
#include "sim/shortcut/memo/plan_shapes.h"
#include "sim/shortcut/memo/warm_up.h"

enum { FAB_SAMPLES = 4 };

/* Collectives that are alike, which may begin episodes. */
typedef struct {
  /* The episodes that they begin; without random numbers the first only. */
  FabEpisodeNode *samples[FAB_SAMPLES];
  guint64 n_begun;                     /* such episodes so far */
  guint64 n_events;                    /* of a warm-up that has not been used; 0: there is none */
  FabTimePs alone_ps;                  /* what a warm-up took; 0: there was none */
  guint n_misses;                      /* replays since such an episode was known to its end */
  gboolean has_drawn, will_have_drawn; /* once a warm-up has been used */
} FabEpisodeShape;

/* A collective. */
typedef struct {
  FabEpisodeInput input;
  FabPlanShape shape; /* where episodes are not apart: one of its own, and no links */
  GBytes *meter;      /* FabMeterEntry: what links carry until it ends; in the tree; NULL: it is not kept */
} FabEpisodePlan;

/* A collective that has ended, to be reported. */
typedef struct {
  guint64 order; /* in which collectives have begun; first: ends are sorted by it */
  FabDone done;
} FabEpisodeEnd;

typedef struct {
  FabEngine *engine; /* of the jobs */
  FabNet *net;       /* of the first replica */
  FabNetReplicas *replicas;
  FabMeter *meter;     /* of the jobs */
  FabMeter *of_a_plan; /* empty but while a plan is counted */
  gboolean remembers;
  double tolerance; /* FabNetOps.tolerance */
  FabPlanIds *ids;
  GArray *plans;         /* FabEpisodePlan */
  GArray *shapes;        /* FabEpisodeShape */
  gboolean may_be_apart; /* nothing is known yet by which collectives that share no link affect each other */
  FabPlanShapes *apart_by; /* NULL: collectives that share no link are in one episode all the same */
  FabEpisodeTree tree;
  GArray *pending;  /* FabEpisodeEnd: to be reported now */
  guint n_reported; /* of them */
  guint64 n_logged; /* inputs and outputs of all episodes so far */
  GArray *late;     /* FabMeterEntry: what links carried after the last output of an episode */
  GArray *lanes;    /* FabLaneQueue of all episodes that have ended, by lane */
  guint64 n_events; /* of warm-ups that were used */
  gboolean has_drawn;
  FabEpisodesCount count;
} FabEpisodeBooks;

/* `params`: of the network; NULL: episodes are never apart. */
void fab_episode_books_init (FabEpisodeBooks *self, FabEngine *engine, FabNet *net, gconstpointer params,
                             gboolean remembers);
void fab_episode_books_clear (FabEpisodeBooks *self);

/* Keeps episodes apart on a network that traces lines, if it allows that for all these collectives: there are no
 * others. Call it before any is known. */
void fab_episode_books_try_apart (FabEpisodeBooks *self, const FabEpisodeInput *inputs, guint n);

/* Returns the number of the collective, which is new or not. */
guint32 fab_episode_books_plan (FabEpisodeBooks *self, const FabEpisodeInput *input);

static inline FabEpisodePlan *
fab_episode_plan_at (const FabEpisodeBooks *self, guint32 plan)
{
  return &g_array_index (self->plans, FabEpisodePlan, plan);
}

static inline FabEpisodeShape *
fab_episode_shape_at (const FabEpisodeBooks *self, guint shape)
{
  return &g_array_index (self->shapes, FabEpisodeShape, shape);
}

/* Whether two collectives affect each other. */
gboolean fab_episode_books_meet (FabEpisodeBooks *self, guint32 earlier, guint32 later);

/* Returns the number by which a tree knows a collective that begins while others (guint32: plans) are under way. */
guint32 fab_episode_books_key (FabEpisodeBooks *self, guint32 plan, const GArray *others);

/* Returns by how much the begin of a collective may differ from one that the tree knows, with others (guint32: plans)
 * under way, so that the same times are taken for both. */
FabTimePs fab_episode_books_slack_ps (const FabEpisodeBooks *self, guint32 plan, const GArray *others);

/* Counts what links carry for a collective until it ends, where episodes are apart. */
void fab_episode_books_count (FabEpisodeBooks *self, guint32 plan);

/* Counts what links carried: an array of FabMeterEntry. */
void fab_episode_books_carried (FabEpisodeBooks *self, const GArray *entries);
void fab_episode_books_carried_bytes (FabEpisodeBooks *self, GBytes *entries);

/* Keeps what waited for links (FabLaneQueue) in an episode in which these plans (guint32) began one after another.
 * Where episodes are apart, it is kept for all of this shape. (transfer none) */
GBytes *fab_episode_books_keep_queues (FabEpisodeBooks *self, const GArray *plans, const GArray *queues);

/* Counts it, for an episode in which these plans began. */
void fab_episode_books_add_queues (FabEpisodeBooks *self, const GArray *plans, GBytes *queues);

/* Puts what was warmed up into the tree, as if it had been played. */
void fab_episode_books_learn (FabEpisodeBooks *self, guint32 plan, const FabWarmUp *warm_up);

/* Notes at a node that the network has been there, and the skips that it has made since the parent: those from
 * `first` on, on a clock that begins at `start_ps`, by this version of the schedules. */
void fab_episode_books_note_skips (FabEpisodeBooks *self, FabEpisodeNode *node, const GArray *skips,
                                   guint first, FabTimePs start_ps, guint folded_for);
