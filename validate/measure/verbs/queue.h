/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h - reliable connections (RC): queue pairs, their completion queues, and their way to RTS. */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* Completion queues, and queue pairs in INIT. */
gboolean fab_verbs_queues_init (FabVerbsPair *pair, GError **error);
void fab_verbs_queues_clear (FabVerbsPair *pair);

/* Both cards are known: agrees on the MTU and on reads under way, and takes every queue pair to RTS. */
gboolean fab_verbs_queues_connect (FabVerbsPair *pair, GError **error);

/* Sends under way on one queue at most: its share of the window. */
guint fab_verbs_queue_share (const FabVerbsRequest *request);
