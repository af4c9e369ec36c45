/* SPDX-License-Identifier: Apache-2.0 */
/* move.h - messages between two connected ends, and the time that they took at the asking end. */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* Both ends are about to begin; returns when the other one is as well. */
gboolean fab_verbs_meet (const FabVerbsPair *pair, GError **error);

/* One at a time. LATENCY: write and send go there and back n times; reads are 2n whole ones, one after the other, of
 * the asking end: time over 2n is then half a round trip, and a whole read. EXCHANGE: both send, both wait. */
gboolean fab_verbs_move_alone (FabVerbsPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages,
                               FabTimePs *elapsed_ps, GError **error);

/* Up to `window` at a time. BANDWIDTH: of the asking end, from the first post to the last completion.
 * BIDIRECTIONAL: of both ends; the time is that of the slower one. */
gboolean fab_verbs_move_stream (FabVerbsPair *pair, FabMeasureKind kind, FabBytes size_bytes,
                                guint n_messages, FabTimePs *elapsed_ps, GError **error);
