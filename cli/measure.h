/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - what the files of `fabricast measure` share. */
#pragma once

#include "cli/cli.h"
#include "sim/result/table.h"
#include "validate/measure/backends.h"
#include "validate/measure/host_run.h"

/* As it was typed; NULL where it was not. */
typedef struct {
  char *listen, *peer, *sizes, *kinds, *precision, *time, *out, *format_name;
  char **sets;
  gint64 min_samples, max_samples, window, timeout_s;
  gboolean once;
  FabFormat format;
} MeasureOptions;

/* What is to be measured, and how well. */
typedef struct {
  FabMeasurePlan plan;
  FabHostLimits limits;
  GArray *sizes_bytes;
  gboolean kinds[FAB_N_MEASURE_KINDS];
} MeasureRequest;

/* `o` must outlive the request. */
gboolean measure_request_read (MeasureRequest *self, const MeasureOptions *o, GError **error);
void measure_request_clear (MeasureRequest *self);

/* The backend of this name, loaded from $FABRICAST_PLUGINS, the build or where modules are installed. */
const FabMeasureBackend *measure_backend (const char *name, GError **error);
/* A row per backend: name, whether it works here, and what it measures or why not. */
FabTable *measure_backends (void);

/* Measures or serves, and prints what was measured. */
gboolean measure_run (const MeasureOptions *o, const FabMeasureBackend *backend, GError **error);

/* The series of a file, or only those of a host. */
gboolean measure_print (const char *path, const FabMeasureHost *only, FabFormat format, GError **error);
/* One series for a person; returns how many points are less sure than was asked for. */
guint measure_print_series (const FabMeasuredSeries *series);
/* The same for programs: GPtrArray of FabMeasuredSeries. (transfer full) */
char *measure_csv (const GPtrArray *all);
char *measure_json (const char *path, char **machine, char **notes, const GPtrArray *all);
