/* SPDX-License-Identifier: Apache-2.0 */
/* measurements.c - finds the format of a measurement and calls its reader. */
#include "formats/measurement/measurements.h"

#include <string.h>

#include "formats/format.h"
#include "formats/measurement/readings.h"
#include "sim/base/error.h"
#include "sim/config/diagnostics.h"

gboolean
fab_measurements_recognise (const FabFileText *text)
{
  return fab_file_format_of (FAB_FILE_MEASUREMENT, text) != NULL;
}

static gboolean
check_text (const FabFileText *file, GError **error)
{
  if (file->size > FAB_IMPORT_MAX_BYTES)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: is larger than %u MiB, and no benchmark prints as much",
                      file->name, (guint) (FAB_IMPORT_MAX_BYTES >> 20));
  if (strlen (file->text) != file->size)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: is not a text, because it holds a byte 0", file->name);
  return g_utf8_validate (file->text, (gssize) file->size, NULL)
      || fab_throw (error, FAB_ERROR_INPUT, "%s: is not a text in UTF-8", file->name);
}

FabMeasurements *
fab_measurements_read (const FabMeasurementRequest *request, GError **error)
{
  const FabFileFormat *format;
  g_autoptr (FabReadings) readings = NULL;

  if (!check_text (&request->file, error))
    return NULL;
  format = request->format ? fab_file_format_named (FAB_FILE_MEASUREMENT, request->format)
                           : fab_file_format_of (FAB_FILE_MEASUREMENT, &request->file);
  if (format == NULL) {
    g_autofree const char **names = fab_file_format_names (FAB_FILE_MEASUREMENT);
    g_autofree char *known = g_strjoinv (", ", (char **) names);

    fab_throw (error, FAB_ERROR_INPUT, "%s: this text has none of the formats of measurements, which are %s",
               request->file.name, known);
    return NULL;
  }
  readings = fab_readings_new (request);
  format->read.measurement (readings);
  return fab_readings_finish (readings, format->name, error);
}
