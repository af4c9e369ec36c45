/* SPDX-License-Identifier: Apache-2.0 */
/* measurements.h - reads what other benchmarks print as series of points.
 *
 * docs/how-to/import.md says what each output becomes. */
#pragma once

#include "formats/measurement/series.h"
#include "formats/text/notes.h"
#include "formats/text/text.h"

typedef struct {
  FabFileText file;
  const char *format;  /* NULL: recognised from the text */
  const char *system;  /* for all series; NULL: the system in the text, or unknown */
  const char *source;  /* NULL: the file */
  FabBytes size_bytes; /* message size, for tools that do not print it; 0: their default */
  guint n_ranks;       /* ranks of collectives, for tools that do not print it; 0: the number in the text */
} FabMeasurementRequest;

typedef struct {
  const char *format;
  GPtrArray *series; /* FabMeasuredSeries, at least one; each has points, sizes ascending */
  GPtrArray *notes;  /* FabFileNote: what the text has and the series lack */
} FabMeasurements;

/* Whether the text is of a format of measurements. */
gboolean fab_measurements_recognise (const FabFileText *text);

/* Reads the text. Returns NULL and sets *error (FAB_ERROR_INPUT), which lists every mistake with its line. (transfer
 * full) */
FabMeasurements *fab_measurements_read (const FabMeasurementRequest *request, GError **error);
void fab_measurements_free (FabMeasurements *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMeasurements, fab_measurements_free)
