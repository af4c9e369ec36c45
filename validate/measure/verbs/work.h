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

/* Counts a poll in which nothing happened; TRUE when nothing has happened for `timeout_s`. */
gboolean fab_verbs_spin_is_over (FabVerbsSpin *spin, guint timeout_s);
void fab_verbs_spin_reset (FabVerbsSpin *spin); /* something happened: starts anew */

/* Posts one message with the pair's method on queue `i`. `is_signalled`: a completion covers it and all uncovered ones
 * before it. `is_polled`: the other end polls its last byte. `may_inline`: a small message is sent with the request. */
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

/* Sets *error for a wait that took too long. Returns FALSE. */
gboolean fab_verbs_throw_timeout (const FabVerbsPair *pair, const char *what, guint done, guint of,
                                  GError **error);
