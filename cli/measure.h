/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - declares what the files of `fabricast measure` share. */
#pragma once

#include "cli/cli.h"
#include "sim/result/table.h"
#include "validate/measure/backends.h"
#include "validate/measure/host_run.h"

/* The options as given; NULL: not given. */
typedef struct {
  char *listen, *peer, *sizes, *kinds, *precision, *time, *out, *format_name;
  char **sets;
  gint64 min_samples, max_samples, window, timeout_s;
  gboolean once;
  FabFormat format;
} MeasureOptions;

/* What is to be measured, and how precisely. */
typedef struct {
  FabMeasurePlan plan;
  FabHostLimits limits;
  GArray *sizes_bytes;
  gboolean kinds[FAB_N_MEASURE_KINDS];
} MeasureRequest;

/* Checks the options; `o` must outlive the request. */
gboolean measure_request_read (MeasureRequest *self, const MeasureOptions *o, GError **error);
void measure_request_clear (MeasureRequest *self);

/* Loads the backend with this name from $FABRICAST_PLUGINS, the build or the installed modules. */
const FabMeasureBackend *measure_backend (const char *name, GError **error);
/* Lists the backends: name, whether it works here, and what it measures or why it does not work. (transfer full) */
FabTable *measure_backends (void);

/* Measures or serves, and prints what it measured. */
gboolean measure_run (const MeasureOptions *o, const FabMeasureBackend *backend, GError **error);

/* Prints the series of a file; with `only`, those that this host measured. */
gboolean measure_print (const char *path, const FabMeasureHost *only, FabFormat format, GError **error);
/* Prints one series for a person. Returns the number of points that are less precise than requested. */
guint measure_print_series (const FabMeasuredSeries *series);
/* Format FabMeasuredSeries for programs. (transfer full) */
char *measure_csv (const GPtrArray *all);
char *measure_json (const char *path, char **machine, char **notes, const GPtrArray *all);
