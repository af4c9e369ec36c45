/* SPDX-License-Identifier: Apache-2.0 */
/* measurements.h - reads what other benchmarks print as series of points.
 *
 * docs/how-to/import.md says what each output becomes. */
#pragma once

#include "formats/measurement/request.h"
#include "formats/measurement/series.h"

/* Whether the text is of a format of measurements. */
gboolean fab_measurements_recognise (const FabFileText *text);

/* Reads the text. Returns NULL and sets *error (FAB_ERROR_INPUT), which lists every mistake with its line. (transfer
 * full) */
FabMeasurements *fab_measurements_read (const FabMeasurementRequest *request, GError **error);
