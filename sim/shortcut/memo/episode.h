/* SPDX-License-Identifier: Apache-2.0 */
/* episode.h - one episode (episodes.h) that is under way: collectives on a network from idle to idle.
 *
 * As long as the tree of known episodes has what happens next, nothing is simulated. At the first event that the tree
 * does not have, the episode takes a replica of the network (net_replicas.h) and simulates all that has begun in it so
 * far once more (a replay), without reporting ends a second time, and then what is new. The replica may run ahead of
 * the clock of the jobs. The ends that it finds are reported when that clock is there. When a collective begins before,
 * they are void, and the episode is replayed with that collective.
 *
 * What is remembered of an episode costs the square of its collectives: each one that begins is held against all
 * others. An episode of more than FAB_MOST_REMEMBERED is large: it leaves the tree, and the network plays it as it
 * comes.
 */
#pragma once

#include "sim/shortcut/memo/episode_books.h"

enum { FAB_MOST_REMEMBERED = 64 };

/* A collective that has begun in the episode. */
typedef struct {
  guint32 plan;
  FabPlay *play; /* NULL: a stream, or not begun on the network */
  FabEpisodeEnd end;
  GArray *carried; /* FabMeterEntry: what links carried until it ended, not reported yet; NULL: nothing */
  gboolean is_over, is_reported; /* it has ended on the network; for the jobs */
} FabEpisodeMember;

/* An input or an output of the episode, in the order in which they came. */
typedef struct {
  guint64 number;       /* over all episodes; first: they are sorted by it */
  FabTimePs at_ps;      /* on the jobs' clock */
  FabEpisodeNode *node; /* NULL: it is not in the tree */
  guint32 place;        /* of the member that begins or ends */
  gboolean is_output;
} FabEpisodeEvent;

typedef struct {
  FabEpisodeBooks *books;
  FabNetReplica *replica; /* NULL: the network does not play it */
  GArray *members;        /* FabEpisodeMember */
  GArray *plans;          /* guint32: of the members */
  GArray *active;         /* guint32: places of those that have not ended, in ascending order */
  GArray *events;         /* FabEpisodeEvent */
  GArray *heard;          /* guint32: places of those that the network has ended last, not reported yet */
  FabMeter *
      counted; /* what was counted so far of what links carried; NULL: nothing, or it is known of the plans */
  GArray
      *owed; /* FabMeterEntry: that, negative, for the network that plays it again and counts it once more */
  guint n_over;          /* members that have ended on the network since it has begun to play */
  guint first;           /* the shape of the collective that began it */
  guint folded_for;      /* the set of its collectives */
  guint64 stream;        /* of random numbers */
  FabEpisodeNode *at;    /* the last input or output; NULL: it is not in the tree */
  FabTimePs at_ps;       /* when that was */
  gboolean is_warmed_up; /* the first use of a warm-up counts as played */
  gboolean is_new;       /* it has grown the tree, or is not in it */
  gboolean is_played;    /* the network has played some of it */
  gboolean is_dropped;   /* what the network ends now is of no interest */
  gboolean is_large;     /* not in the tree, and folded as all collectives of the jobs are */
  gboolean is_jammed;    /* buffers of the network wait for each other: nothing more comes out of it */
  FabTimePs start_ps, own_start_ps; /* on the two clocks */
  FabTimePs ended_ps;   /* when its last collective ended on the network's clock, if it has run out */
  gboolean has_run_out; /* the network has delivered what was on its way then */
  guint n_skips_noted;  /* of the network's, that are in the tree */
  guint64 n_drawn_before;
  guint64 n_warm_up_events; /* of the warm-up in use */
} FabEpisode;

/* An empty one, which may be used again after fab_episode_clear (). */
FabEpisode *fab_episode_new (FabEpisodeBooks *books);
void fab_episode_free (gpointer self);

/* Forgets everything. What is on its way on the replica runs out, unheard; then the replica is given back. */
void fab_episode_clear (FabEpisode *self);

/* Begins with this collective, which is still to be put in. */
void fab_episode_begin (FabEpisode *self, guint32 plan, FabTimePs now_ps);

static inline gboolean
fab_episode_is_over (const FabEpisode *self)
{
  return self->active->len == 0;
}

/* Returns when the next collective ends, as far as that is known; FAB_TIME_NEVER: it is not. */
FabTimePs fab_episode_known_ps (const FabEpisode *self);

/* Plays on, if need be, until it is known when the next collective ends or that none does up to `until_ps`. */
void fab_episode_look (FabEpisode *self, FabTimePs until_ps);

/* Takes what ends next, all that does so in that ps, if that is known and not after `until_ps`, and nothing has failed.
 * Returns whether it did. After the last collective the episode is over. */
gboolean fab_episode_take (FabEpisode *self, FabTimePs until_ps);

/* Makes the episode ready for a collective that begins now. What has ended by then is taken, and it may be over. */
void fab_episode_prepare (FabEpisode *self, guint32 plan, FabTimePs now_ps);

/* Puts a collective in, for which the episode has begun or is ready. */
void fab_episode_put (FabEpisode *self, guint32 plan, FabEpisodeEnd end, FabTimePs now_ps);

/* The queues of the links at this time, of the episode (FabLaneQueue). */
void fab_episode_list_queues (FabEpisode *self, FabTimePs now_ps, GArray *queues);

/* Goes on with several episodes, of which one collective is about to affect all, as one. `self` is empty. The others
 * are empty afterwards. */
void fab_episode_join (FabEpisode *self, FabEpisode *const *parts, guint n_parts);

/* Leaves the tree: from now on the network plays it, and nothing of it is remembered. */
void fab_episode_become_large (FabEpisode *self);

/* --- for episode_join.c --- */

/* Returns the set of collectives with another one in it. */
guint fab_episode_extend (const FabEpisode *self, guint32 plan);

/* Goes on in the tree to an input with this key (fab_episode_books_key ()), which may have come so much sooner or later
 * before. Grows the tree where it may. */
void fab_episode_step_to_input (FabEpisode *self, guint32 key, FabTimePs at_ps, FabTimePs slack_ps);

/* The first use of a warm-up goes on otherwise: the tree is then what it would be if it had been played at once. */
void fab_episode_forget_warm_up (FabEpisode *self);

/* Plays the episode so far, up to its last event; from there on the network plays it. */
void fab_episode_replay (FabEpisode *self);

/* --- episode_counted.c --- */

/* What links carried was counted. */
void fab_episode_note_counted (FabEpisode *self, const FabMeterEntry *entries, gsize n);

/* The network has played again what was counted. */
void fab_episode_owe_counted (FabEpisode *self);
void fab_episode_forget_counted (FabEpisode *self);

/* Returns what links carried since the output before (FabMeterEntry), and notes it as counted; NULL: it is known of the
 * collective. Entries may be negative, and a link may have two. (transfer full) */
GArray *fab_episode_carried_until (FabEpisode *self, guint32 place);

/* --- episode_skips.c, while it has a replica --- */

/* Notes at a node the skips that the network has made since its parent. */
void fab_episode_note_skips (FabEpisode *self, FabEpisodeNode *node);

/* Returns the skips of the episode so far, on the clock of the network; NULL: they are not known, or were made by
 * packets of other lanes. (transfer full) */
GArray *fab_episode_list_skips (const FabEpisode *self);
