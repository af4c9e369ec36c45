/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h - reliable connections (RC): makes queue pairs and completion queues, and connects them. */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* Makes completion queues, and queue pairs in state INIT. */
gboolean fab_verbs_queues_init (FabVerbsPair *pair, GError **error);
void fab_verbs_queues_clear (FabVerbsPair *pair);

/* Agrees with the other end's card on the MTU and the number of outstanding reads, and takes every queue pair to
 * RTS. */
gboolean fab_verbs_queues_connect (FabVerbsPair *pair, GError **error);

/* Returns the most sends in flight on one queue: its share of the window. */
guint fab_verbs_queue_share (const FabVerbsRequest *request);
