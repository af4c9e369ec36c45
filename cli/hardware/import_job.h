/* SPDX-License-Identifier: Apache-2.0 */
/* import_job.h - `fabricast import job FILE...`: the configuration of a training program as a section `job:`. */
#pragma once

#include <glib.h>

typedef struct {
  const char *from;  /* format; NULL: recognised from the text */
  const char *model; /* config.json, or an entry of the catalogue; NULL: as the files say */
  const char *on;    /* scenario whose machine the job is for; NULL: a part of a scenario is written */
  const char *name;  /* of the scenario; NULL: "imported" */
  const char *out;   /* NULL: standard output */
} ImportJobOptions;

/* Reads the files (NULL-ended), which describe one job together. */
gboolean import_job (const ImportJobOptions *o, char *const *paths, GError **error);
