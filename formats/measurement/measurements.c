/* SPDX-License-Identifier: Apache-2.0 */
/* measurements.c - finds the format of a measurement and calls its reader. */
#include "formats/measurement/measurements.h"

#include <string.h>

#include "formats/import.h"
#include "formats/measurement/readings.h"
#include "sim/base/error.h"
#include "sim/config/diagnostics.h"

static const FabMeasurementFormat *const formats[] = {
  &fab_measurement_perftest,    &fab_measurement_perftest_json,    &fab_measurement_p2p,
  &fab_measurement_nvbandwidth, &fab_measurement_nvbandwidth_json, &fab_measurement_nccl_tests,
  &fab_measurement_osu,         &fab_measurement_fabtests,         &fab_measurement_csv,
};

const char *const fab_measurement_formats[] = {
  "perftest",    "perftest-json",    "p2pBandwidthLatencyTest",
  "nvbandwidth", "nvbandwidth-json", "nccl-tests",
  "osu",         "fabtests",         "csv",
  NULL,
};

static const FabMeasurementFormat *
find_format (const char *name, const char *text)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (name ? strcmp (formats[i]->name, name) == 0 : formats[i]->recognises (text))
      return formats[i];
  return NULL;
}

/* Skips UTF-8's byte order mark, with which some spreadsheets begin an export. */
static const char *
skip_mark (const char *text)
{
  return g_str_has_prefix (text, "\xEF\xBB\xBF") ? text + 3 : text;
}

const char *
fab_measurement_format (const char *text)
{
  const FabMeasurementFormat *format = find_format (NULL, skip_mark (text));

  return format ? format->name : NULL;
}

static gboolean
check_text (const FabMeasurementRequest *request, GError **error)
{
  if (request->size > FAB_IMPORT_MAX_BYTES)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: is larger than %u MiB, and no benchmark prints as much",
                      request->file, (guint) (FAB_IMPORT_MAX_BYTES >> 20));
  if (strlen (request->text) != request->size)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: is not a text, because it holds a byte 0", request->file);
  return g_utf8_validate (request->text, (gssize) request->size, NULL)
      || fab_throw (error, FAB_ERROR_INPUT, "%s: is not a text in UTF-8", request->file);
}

FabMeasurements *
fab_measurements_read (const FabMeasurementRequest *whole, GError **error)
{
  const FabMeasurementFormat *format = NULL;
  g_autoptr (FabReadings) readings = NULL;
  FabMeasurementRequest behind_mark = *whole, *request = &behind_mark;

  if (!check_text (whole, error))
    return NULL;
  request->text = skip_mark (whole->text);
  request->size -= (gsize) (request->text - whole->text);
  format = find_format (request->format, request->text);
  if (format == NULL) {
    g_autofree char *known = g_strjoinv (", ", (char **) fab_measurement_formats);

    fab_throw (error, FAB_ERROR_INPUT, "%s: this text has none of the formats of measurements, which are %s",
               request->file, known);
    return NULL;
  }
  readings = fab_readings_new (request);
  format->read (readings);
  return fab_readings_finish (readings, format->name, error);
}
