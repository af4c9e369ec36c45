/* SPDX-License-Identifier: Apache-2.0 */
/* measurements.h - what other benchmarks print, as series of points. docs/import.md says what each becomes. */
#pragma once

#include "validate/measure/series.h"

typedef struct {
  const char *file; /* what messages call it */
  const char *text;
  gsize size;
  const char *format;  /* NULL: found out */
  const char *system;  /* of the series; NULL: what the text says, or not known */
  const char *source;  /* NULL: the file */
  FabBytes size_bytes; /* of a message, for tools that do not print it; 0: their default */
  guint n_ranks;       /* of collectives, for tools that do not print it; 0: what the text says */
} FabMeasurementRequest;

typedef struct {
  const char *format;
  GPtrArray *series;   /* FabMeasuredSeries, at least one; each has points, sizes ascending */
  GPtrArray *left_out; /* char: what stood in the text and is not in the series, a sentence each */
} FabMeasurements;

/* The names of the formats, NULL-ended. */
extern const char *const fab_measurement_formats[];

/* The name of the format of the text; NULL: it is no measurement. */
const char *fab_measurement_format (const char *text);

/* "perftest (ib_write_bw, ...), ..." for messages. (transfer full) */
char *fab_measurement_tools (void);

/* NULL and *error (FAB_ERROR_INPUT) with every mistake at its line. */
FabMeasurements *fab_measurements_read (const FabMeasurementRequest *request, GError **error);
void fab_measurements_free (FabMeasurements *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMeasurements, fab_measurements_free)
