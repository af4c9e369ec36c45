/* SPDX-License-Identifier: Apache-2.0 */
/* registry.h - the lists of models. The caller passes them in, so that sim/ knows no model by name. */
#pragma once

#include "sim/base/param.h"

typedef struct _FabModelFileFormat FabModelFileFormat; /* defined in sim/scenario/model_file.h */

/* A file that gives a collective as messages. */
typedef struct {
  const char *path;
  const char *op; /* operation; NULL: the file says it */
  const char
      *protocol; /* "simple", "ll", "ll128", as NCCL uses the words; NULL: the file says it, or nobody */
  FabBytes size_bytes; /* of the operation that the messages add up to; 0: the file has shares */
} FabScheduleFile;

/* Reads and checks such files. What is read is a FabGiven (sim/collective/plan/given.h). */
typedef struct {
  gpointer (*read) (const FabScheduleFile *file, GError **error);
  GDestroyNotify free;
} FabScheduleFileFormat;

typedef struct {
  /* Each list is a NULL-ended array. The FabModelInfo is the first member of every ops struct. */
  const FabModelInfo *const *lists[FAB_N_MODEL_KINDS];
  /* The format that describes a neural network in files of other projects (config.json); NULL: no such file is
   * read. */
  const FabModelFileFormat *model_file;
  const FabScheduleFileFormat *schedule_file; /* NULL: no such file is read */
} FabRegistry;

/* Returns the model called `name`, or NULL when the list has none. */
const FabModelInfo *fab_registry_find (const FabRegistry *registry, FabModelKind kind, const char *name);

/* Returns the names of one list, NULL-ended and in the list's order. (transfer container: free with g_free) */
const char **fab_registry_names (const FabRegistry *registry, FabModelKind kind);

/* Returns the section name that `describe` prints: "fabric", "fidelity", "algorithm", ... */
const char *fab_model_kind_name (FabModelKind kind);
