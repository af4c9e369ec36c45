/* SPDX-License-Identifier: Apache-2.0 */
/* import_trace.h - `fabricast import trace DIR`: what a profiler recorded, as a run in a results file. */
#pragma once

#include "formats/trace/trace.h"

typedef struct {
  const char *db;   /* NULL: print what was read */
  const char *name; /* of the run; NULL: that of the folder */
  gboolean with_waiting;
  const char *on;          /* a scenario on whose machine each collective is predicted; NULL: none */
  const char *format;      /* of these predictions: text or csv; NULL: text */
  gboolean calibrates;     /* fit the accelerator of the profile to its kernels */
  const char *accelerator; /* with `calibrates`: the entry that it is */
  const char *out;         /* with `calibrates`: where the fitted entry is written; NULL: nowhere */
  guint n_steps;           /* with `calibrates`: steps of the profile; 0: as it marks them */
} ImportTraceOptions;

/* Prints what the kernels of the first rank say of their accelerator, and with `on` of the step of a scenario. */
gboolean import_trace_calibrate (const ImportTraceOptions *o, const FabTrace *trace, char *const *paths,
                                 GError **error);

/* Reads the files and folders (NULL-ended). */
gboolean import_trace (const ImportTraceOptions *o, char *const *paths, GError **error);
