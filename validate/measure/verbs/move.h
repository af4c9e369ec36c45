/* SPDX-License-Identifier: Apache-2.0 */
/* move.h - moves messages between two connected ends; the asking end times them. */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* Tells the other end that this one is ready, and returns when both are. */
gboolean fab_verbs_meet (const FabVerbsPair *pair, GError **error);

/* Moves one message at a time. LATENCY: writes and sends go back and forth n times; reads are 2n whole ones, in
 * sequence, by the asking end, so that time / 2n is half a round trip, or one whole read. EXCHANGE: both ends send,
 * then both wait. */
gboolean fab_verbs_move_alone (FabVerbsPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages,
                               FabTimePs *elapsed_ps, GError **error);

/* Moves up to `window` messages at a time. BANDWIDTH: the asking end, from its first post to its last completion.
 * BIDIRECTIONAL: both ends; the time is that of the slower one. */
gboolean fab_verbs_move_stream (FabVerbsPair *pair, FabMeasureKind kind, FabBytes size_bytes,
                                guint n_messages, FabTimePs *elapsed_ps, GError **error);
