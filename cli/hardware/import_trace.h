/* SPDX-License-Identifier: Apache-2.0 */
/* import_trace.h - `fabricast import trace DIR`: what a profiler recorded, as a run in a results file. */
#pragma once

#include <glib.h>

typedef struct {
  const char *db;   /* NULL: print what was read */
  const char *name; /* of the run; NULL: that of the folder */
  gboolean with_waiting;
  const char *on;     /* a scenario on whose machine each collective is predicted; NULL: none */
  const char *format; /* of these predictions: text or csv; NULL: text */
} ImportTraceOptions;

/* Reads the files and folders (NULL-ended). */
gboolean import_trace (const ImportTraceOptions *o, char *const *paths, GError **error);
