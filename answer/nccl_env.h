/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_env.h - NCCL's environment variables as typed keys of a scenario. */
#pragma once

#include "sim/scenario/edits.h"

/* Adds what the variable sets, as asked for by a person; nothing for one that changes no prediction. `value` is NULL
 * where it has none. FALSE and *error for a variable or a value that is not known or not modelled. */
gboolean fab_nccl_env_add (FabEdits *edits, const char *name, const char *value, GError **error);
