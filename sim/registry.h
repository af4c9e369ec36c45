/* SPDX-License-Identifier: Apache-2.0 */
/* registry.h - the lists of models, handed in from outside: sim/ knows none by name. */
#pragma once

#include "sim/base/param.h"

typedef struct _FabModelFileFormat FabModelFileFormat; /* sim/scenario/model_file.h */

typedef struct {
  /* NULL-ended arrays; the FabModelInfo is the first member of the ops struct. */
  const FabModelInfo *const *lists[FAB_N_MODEL_KINDS];
  const FabModelFileFormat *model_file; /* of what others write about a neural network; NULL: none is read */
} FabRegistry;

/* NULL when there is no such model. */
const FabModelInfo *fab_registry_find (const FabRegistry *registry, FabModelKind kind, const char *name);

/* The names of one list, NULL-ended, in its order. (transfer container: free with g_free) */
const char **fab_registry_names (const FabRegistry *registry, FabModelKind kind);

/* "fabric", "fidelity", "algorithm", ...: the section name that `describe` prints. */
const char *fab_model_kind_name (FabModelKind kind);
