/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - the buffer of one end, on the host or on a GPU, registered with the adapter. */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* Two halves of `max_bytes`, at `place`. `is_polled`: the end looks for the last byte of what arrives. */
gboolean fab_verbs_memory_init (FabVerbsMemory *memory, struct ibv_pd *pd, const FabVerbsParams *params,
                                FabVerbsPlace place, FabBytes max_bytes, gboolean is_relaxed,
                                gboolean is_polled, GError **error);
void fab_verbs_memory_clear (FabVerbsMemory *memory);

/* Address of the half that is received into; the sending half is at `address`. */
guint64 fab_verbs_memory_receiving (const FabVerbsMemory *memory);
