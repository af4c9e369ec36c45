/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h - public configurations of training programs, read as `fabricast import job` reads them, and the step of each
 * beside the published one.
 *
 * A row names a configuration, the machine that it ran on, what that run changed, and what was published of it. Its
 * step is predicted with the catalogue alone, as `fabricast run` does it. A row of which nothing is published is read
 * and played all the same.
 */
#pragma once

#include "sim/registry.h"
#include "sim/scenario/catalog.h"

/* What the published run is elsewhere: not used; a row of validate/measured/training that is judged, or one that
 * calibrates the catalogue's setups. */
typedef enum { FAB_PUBLIC_NEW, FAB_PUBLIC_JUDGED, FAB_PUBLIC_CALIBRATES } FabPublicRole;

extern const char *const fab_public_role_names[]; /* "new", "judged", "calibrates"; NULL-ended */

/* As validate/measured/jobs/INDEX.yaml says it; a text is NULL where nothing is said. */
typedef struct {
  const char *name, *file;
  const char *settings; /* where those of the file come from: "OWNER/REPOSITORY@COMMIT, PATH" */
  const char *licence;  /* of that file */
  const char *model;    /* entry of the catalogue, where the file names none */
  const char *node;     /* entry of the catalogue, or of nodes.yaml beside INDEX.yaml */
  gint64 nodes, gpus;   /* of all nodes together */
  const char *changes;  /* "job.micro_batch=2 ...": what the run set beside the file */
  double step_s;        /* published; 0: it is not */
  double tokens_s_gpu;  /* published tokens per second and GPU; 0: they are not */
  FabPublicRole role;
  const char *source; /* of the published number */
  const char *note;   /* what to know before trusting it */
} FabPublicJobSpec;

typedef struct _FabPublicJobs FabPublicJobs;

/* Reads INDEX.yaml in the directory. NULL and *error with all its mistakes. (transfer full) */
FabPublicJobs *fab_public_jobs_load (const char *directory, const FabRegistry *registry, GError **error);
void fab_public_jobs_free (FabPublicJobs *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPublicJobs, fab_public_jobs_free)

guint fab_public_jobs_n (const FabPublicJobs *self);
const FabPublicJobSpec *fab_public_jobs_get (const FabPublicJobs *self, guint index);
/* NULL and *error, which names the nearest. */
const FabPublicJobSpec *fab_public_jobs_find (const FabPublicJobs *self, const char *name, GError **error);

/* A configuration that was played. */
typedef struct {
  const FabPublicJobSpec *spec;
  char *kind;           /* of the job that it became: "fsdp" */
  double published_s;   /* step; 0: not published */
  double ours_s;        /* step */
  double low_s, high_s; /* its band; 0, 0: there is none */
  double tokens_per_step;
} FabPublicJob;

/* Plays the rows (FabPublicJobSpec). `catalog` outlives the answer. NULL and *error, which names the row: its
 * configuration cannot be read, or the job cannot be played. (transfer full): FabPublicJob, in their order. */
GArray *fab_public_jobs_play (const FabPublicJobs *self, const GPtrArray *specs, const FabCatalog *catalog,
                              const FabRegistry *registry, GError **error);

/* Each returns a new text that ends its last line; docs/reference/validation-jobs.md is kept equal to one. */
char *fab_public_jobs_to_text (const GArray *jobs);
char *fab_public_jobs_to_markdown (const GArray *jobs);
char *fab_public_jobs_to_csv (const GArray *jobs);
char *fab_public_jobs_to_json (const GArray *jobs);
