/* SPDX-License-Identifier: Apache-2.0 */
/* imported.h - a job as a training program's configuration gives it, before it becomes a section `job:`.
 *
 * Each key of the section has the line of the file that gave it, and everything that was inferred is a note. What the
 * file says that changes communication and that no key can say is a note too.
 */
#pragma once

#include "formats/job/settings.h"
#include "formats/text/notes.h"
#include "sim/scenario/catalog.h"

typedef struct _FabImportedJob FabImportedJob;

typedef struct {
  const FabFileText *files; /* that describe one job together, by their order: the later one holds */
  guint n_files;
  const char *format;        /* NULL: recognised from each text */
  const char *model;         /* YAML of a section `models` with one entry; NULL: none was given */
  const char *model_name;    /* the name of that entry, or of the catalogue's; NULL: as the files say */
  guint hidden;              /* of that model; 0: not known */
  guint n_ranks;             /* of the machine that the job is for; 0: not known */
  gboolean has_machine;      /* the text becomes part of a scenario, which must be whole */
  const FabCatalog *catalog; /* whose models the files may name */
} FabImportJobRequest;

typedef struct {
  char *key, *value;
} FabJobKey;

struct _FabImportedJob {
  const FabImportJobRequest *request;
  const char *kind;
  GPtrArray *keys;    /* FabJobKey, of `job` and of the shape of the model ("shape.layers") */
  GPtrArray *notes;   /* FabFileNote */
  GPtrArray *effects; /* char: what changes communication and has no counterpart */
  GPtrArray *unread;  /* char: keys that no reader looked at */
  const char *model;  /* of the catalogue; NULL: not known */
  char *model_said;   /* as a file calls it; NULL: none does */
  guint n_nodes, gpus_per_node, n_ranks; /* that the files start; 0: not said */
  guint hidden;                          /* 0: not known */
};

/* Sets a key of the section, "parallel.tensor"; NULL takes it away. `from` is what said so; NULL: it is inferred, and a
 * note says by what. */
void fab_imported_job_set (FabImportedJob *self, const FabJobSettings *settings, const FabJobSetting *from,
                           const char *key, const char *value);
const char *fab_imported_job_get (const FabImportedJob *self, const char *key); /* NULL: it is not set */
void fab_imported_job_infer (FabImportedJob *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
void fab_imported_job_effect (FabImportedJob *self, const FabJobSettings *settings, const FabJobSetting *from,
                              const char *what);

void fab_imported_job_init (FabImportedJob *self, const FabImportJobRequest *request);
void fab_imported_job_clear (FabImportedJob *self);
