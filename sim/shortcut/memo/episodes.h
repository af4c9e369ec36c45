/* SPDX-License-Identifier: Apache-2.0 */
/* episodes.h - collectives of jobs on a network, of which nothing is played that was played before.
 *
 * The jobs and the network meet in two places only: a collective begins, and a collective ends. So the network may have
 * an engine of its own. What it does between two times at which nothing is on its way is an episode, and an episode
 * follows from its inputs: which collective begins, and how many ps after the event before. The episodes that have been
 * played are kept in a tree:
 *
 *   node   an input or an output. It knows the inputs that have followed it, the next output and the time to it, and
 *          for how long nothing is known to come out.
 *   hit    an input that the tree knows at this distance: the network stands still, the tree says what comes out.
 *   miss   the network plays the episode so far from its begin, unheard, and then goes on in step with the jobs' clock.
 *
 * Where the network says that what shares no link does not meet (`is_separable`), an episode is what collectives do
 * that share links, directly or through others: from idle to idle of these links. There are then several at a time, and
 * one collective may make several into one. Collectives are known by their shape (plan_shapes.h), whatever their links
 * are.
 *
 * Nothing is approximated, except that what is still on its way when the last collective has ended (credits, at most a
 * round trip) runs out before the next episode. Without remembering, every episode is played, by the same rules: of
 * events at the same ps the network's come first, the network has finished a ps before a collective begins in it, and
 * collectives that end in the same ps do so in the order in which they have begun. So both give the same figures to the
 * last digit (to within rounding to a ps where fewer collectives fold further, plays.h), except where the network draws
 * random numbers: then FAB_SAMPLES (episode_books.h) episodes that begin with the same collective are played, each with
 * numbers of its own, and stand for all in turn.
 *
 * A network on the jobs' engine is played directly: nothing is remembered.
 */
#pragma once

#include "sim/execution/executor_env.h"
#include "sim/shortcut/memo/episodes_count.h"
#include "sim/shortcut/memo/warm_up.h"

typedef struct _FabEpisodes FabEpisodes;

/* `engine` is the jobs'. With an engine of its own the network must be new; it becomes a companion of `engine`. Both
 * outlive the episodes, and so do `params`, with which the network was made; with NULL all that overlaps is one
 * episode. (transfer full) */
FabEpisodes *fab_episodes_new (FabEngine *engine, FabNet *net, gconstpointer params, gboolean remembers);
void fab_episodes_free (FabEpisodes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabEpisodes, fab_episodes_free)

/* From now on what is remembered may take so many bytes more, at most FAB_EPISODE_TREE_BYTES. */
void fab_episodes_leave_room (FabEpisodes *self, gsize n_bytes);

/* Plays collectives from idle before the clock starts, on threads, so that their episodes are known, unless they are
 * very many. The figures, and what is counted, are the same without. On a network that traces lines, episodes are
 * apart only after this call, with all collectives that will begin (`env->is_all`). */
void fab_episodes_warm_up (FabEpisodes *self, const FabWarmUpEnv *env, const FabEpisodeInput *inputs,
                           guint n);

/* Plays episodes of several collectives that the first iteration of a job is expected to have (dry_run.h), on threads,
 * so that they are known when it has them. After warm-ups of all collectives. `job` is what the executor of the job was
 * made with, and `input` says how its collectives are begun. */
void fab_episodes_rehearse (FabEpisodes *self, const FabWarmUpEnv *env, const FabExecutorEnv *job,
                            FabEpisodeInput (*input) (gpointer owner, const FabJobCollective *collective),
                            gpointer owner);

/* Begins a collective now. `done` is called when it has ended. */
void fab_episodes_begin (FabEpisodes *self, const FabEpisodeInput *input, FabDone done);

/* Counts what the links carried for collectives that have ended. */
FabMeter *fab_episodes_meter (const FabEpisodes *self);

/* Whether nothing of the network is due, so that what has not ended never will. */
gboolean fab_episodes_is_still (const FabEpisodes *self);

/* See FabNetOps.find_jam. */
FabLinkId fab_episodes_find_jam (const FabEpisodes *self);

/* Returns what waited for every link up to now; NULL: nothing queues. (transfer full: g_free) */
FabLinkQueue *fab_episodes_link_queues (FabEpisodes *self);

/* As FabNetOps.queue_lengths, of all time up to now; networks that rest have no clock of their own. */
gboolean fab_episodes_queue_lengths (const FabEpisodes *self, FabLinkId link, FabQueueLengths *lengths);

/* Whether a network has drawn random numbers. */
gboolean fab_episodes_has_drawn (const FabEpisodes *self);

/* Returns the events of the network that were played, those of warm-ups included. */
guint64 fab_episodes_events (const FabEpisodes *self);

FabEpisodesCount fab_episodes_count (const FabEpisodes *self);
