/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - allocates an end's buffer on the host or on a GPU and registers it with the adapter. */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* Allocates two halves of `max_bytes` at `place`. With `is_polled` the end polls the last byte of arriving
 * messages. */
gboolean fab_verbs_memory_init (FabVerbsMemory *memory, struct ibv_pd *pd, const FabVerbsParams *params,
                                FabVerbsPlace place, FabBytes max_bytes, gboolean is_relaxed,
                                gboolean is_polled, GError **error);
void fab_verbs_memory_clear (FabVerbsMemory *memory);

/* Returns the address of the receiving half; the sending half is at `address`. */
guint64 fab_verbs_memory_receiving (const FabVerbsMemory *memory);
