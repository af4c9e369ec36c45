/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_env.h - NCCL's environment variables as typed keys of a scenario. */
#pragma once

#include "sim/scenario/edits.h"

/* Adds what the variable sets, as asked for by a person. `value` is NULL where it has none. *note says why a variable
 * that was taken changes no prediction; NULL: it changes one, or has its default. FALSE and *error for a name that is
 * not known, and for a value that cannot be or contradicts the model: the message says what would be right. */
gboolean fab_nccl_env_add (FabEdits *edits, const char *name, const char *value, const char **note,
                           GError **error);
