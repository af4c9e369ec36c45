/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - posting and polling. Whoever waits spins, as perftest does, and gives up when nothing happened for as
 * long as the other side may take to answer. */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* How long nothing has happened. The clock is looked at once in so many turns, so that it costs nothing. */
typedef struct {
  guint turns;
  gint64 end_us; /* 0: not begun */
} FabVerbsSpin;

/* Another turn in which nothing happened; TRUE when that goes on for `timeout_s`. */
gboolean fab_verbs_spin_is_over (FabVerbsSpin *spin, guint timeout_s);
void fab_verbs_spin_reset (FabVerbsSpin *spin); /* something happened */

/* Posts one message of the pair's method on queue `i`. `is_signalled`: a completion covers it and those before it
 * that none has covered. `is_polled`: the other end looks for its last byte. `may_inline`: small ones go with the
 * request. */
typedef struct {
  FabBytes size_bytes;
  gboolean is_signalled, is_polled, may_inline;
} FabVerbsPost;

gboolean fab_verbs_post (FabVerbsPair *pair, guint i, const FabVerbsPost *post, GError **error);

/* Posts a receive of the largest message on queue `i`. */
gboolean fab_verbs_post_receive (FabVerbsPair *pair, guint i, GError **error);

/* What came out of the queues: messages that are done. FALSE: one of them failed. Neither of them waits. */
gboolean fab_verbs_poll_sends (FabVerbsPair *pair, guint *n_done, GError **error);
gboolean fab_verbs_poll_receives (FabVerbsPair *pair, guint *n_done, GError **error);

/* *error for a wait that was over. */
gboolean fab_verbs_throw_timeout (const FabVerbsPair *pair, const char *what, guint done, guint of,
                                  GError **error);
