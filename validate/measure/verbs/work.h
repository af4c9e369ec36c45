/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - posts and polls work requests.
 *
 * A waiting end polls without sleeping, as perftest does. It gives up when nothing has happened for as long as the
 * other end may take to answer. */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* Measures how long nothing has happened. It reads the clock only once in many polls, so that this costs no time. */
typedef struct {
  guint turns;
  gint64 end_us; /* 0: not started */
} FabVerbsSpin;

/* Counts a poll in which nothing happened; TRUE when nothing has happened for the pair's time limit, or the person
 * wants to end. */
gboolean fab_verbs_spin_is_over (FabVerbsSpin *spin, const FabVerbsPair *pair);
void fab_verbs_spin_reset (FabVerbsSpin *spin); /* something happened: starts anew */

/* Posts one message with the pair's method on queue `i`. `is_signalled`: a completion covers it and all uncovered
 * ones before it. `is_polled`: the other end polls its last byte. `may_inline`: a small message is sent with the
 * request. */
typedef struct {
  FabBytes size_bytes;
  gboolean is_signalled, is_polled, may_inline;
} FabVerbsPost;

gboolean fab_verbs_post (FabVerbsPair *pair, guint i, const FabVerbsPost *post, GError **error);

/* Posts a receive of the largest message size on queue `i`. */
gboolean fab_verbs_post_receive (FabVerbsPair *pair, guint i, GError **error);

/* Poll the queues once, without waiting; they set the number of messages done, or return FALSE when one failed. */
gboolean fab_verbs_poll_sends (FabVerbsPair *pair, guint *n_done, GError **error);
gboolean fab_verbs_poll_receives (FabVerbsPair *pair, guint *n_done, GError **error);

/* Sets *error for a wait that took too long or was cancelled. Returns FALSE. */
gboolean fab_verbs_throw_timeout (const FabVerbsPair *pair, const char *what, guint done, guint of,
                                  GError **error);

/* Reliable connections (RC): makes queue pairs and completion queues, and connects them. */

/* Makes completion queues, and queue pairs in state INIT. */
gboolean fab_verbs_queues_init (FabVerbsPair *pair, GError **error);
void fab_verbs_queues_clear (FabVerbsPair *pair);

/* Agrees with the other end's card on the MTU and the number of outstanding reads, and takes every queue pair to
 * RTS. */
gboolean fab_verbs_queues_connect (FabVerbsPair *pair, GError **error);

/* Returns the most sends in flight on one queue: its share of the window. */
guint fab_verbs_queue_share (const FabVerbsRequest *request);

/* Exchanges what the ends need before RDMA works: the asking end's request, then the cards of both.
 *
 * The structures are sent as they lie in memory; a machine with another layout shows another magic. */

/* the last byte is the version */
enum { FAB_VERBS_REQUEST = 0x46767202, FAB_VERBS_CARD = 0x46766302 };

gboolean fab_verbs_receive_request (FabControl *control, FabVerbsRequest *request, GError **error);
gboolean fab_verbs_receive_card (FabControl *control, FabVerbsCard *card, GError **error);
