/* SPDX-License-Identifier: Apache-2.0 */
/* import_measured.c - `fabricast import` of what benchmarks printed: into a file of measurements, or to be read. */
#include <string.h>

#include "cli/files.h"
#include "cli/import.h"
#include "cli/measure.h"
#include "sim/base/error.h"
#include "sim/base/units.h"
#include "validate/import/import.h"
#include "validate/import/measurements.h"
#include "validate/measure/samples.h"

/* What is wrong with one file, or several: nothing is written then. */
typedef struct {
  GPtrArray *files; /* FabMeasurements */
  GString *mistakes;
} Reading;

gboolean
import_is_measured (const ImportOptions *o, const char *text)
{
  if (o->format != NULL)
    return g_strv_contains (fab_measurement_formats, o->format);
  return fab_import_format (text) == NULL && fab_measurement_format (text) != NULL;
}

static gboolean
check_options (const ImportOptions *o, const char *path, FabMeasurementRequest *request, FabFormat *format,
               GError **error)
{
  const char *option = o->accelerator                ? "--accelerator"
                     : o->nic                        ? "--nic"
                     : o->name                       ? "--name"
                     : o->n_nodes != IMPORT_NOT_SAID ? "--nodes"
                                                     : NULL;
  gint64 size_bytes = 0;

  if (option != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: %s holds measurements, no machine", option, path);
  if (o->n_ranks != IMPORT_NOT_SAID && (o->n_ranks < 2 || o->n_ranks > G_MAXINT))
    return fab_throw (error, FAB_ERROR_INPUT, "--ranks: at least 2");
  if (o->size != NULL && !fab_units_parse_whole (FAB_UNIT_BYTES, o->size, &size_bytes, error)) {
    g_prefix_error (error, "--size: ");
    return FALSE;
  }
  *request = (FabMeasurementRequest){ .format = o->format,
                                      .system = o->system,
                                      .source = o->source,
                                      .size_bytes = (FabBytes) size_bytes,
                                      .n_ranks = (guint) MAX (o->n_ranks, 0) };
  return fab_cli_format (o->print_format, format, error);
}

static void
add_mistake (Reading *self, const GError *error)
{
  g_string_append_printf (self->mistakes, "%s%s", self->mistakes->len > 0 ? "\n" : "", error->message);
}

static void
read_text (Reading *self, FabMeasurementRequest *request, const char *text, gsize size)
{
  g_autoptr (GError) error = NULL;
  FabMeasurements *measurements;

  request->text = text;
  request->size = size;
  measurements = fab_measurements_read (request, &error);
  if (measurements != NULL)
    g_ptr_array_add (self->files, measurements);
  else
    add_mistake (self, error);
}

static void
read_file (Reading *self, FabMeasurementRequest *request, const char *path)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  if (fab_cli_read_file (path, FAB_IMPORT_MAX_BYTES, &text, &size, &error))
    read_text (self, request, text, size);
  else
    add_mistake (self, error);
}

static void
free_measurements (gpointer data)
{
  fab_measurements_free (data);
}

static void
print_text (char **paths, const GPtrArray *files)
{
  for (guint i = 0; i < files->len; i++) {
    const FabMeasurements *file = g_ptr_array_index (files, i);
    g_autofree char *path = fab_cli_printable (paths[i]);

    g_print ("%s%s: %s, %u series\n", i ? "\n" : "", path, file->format, file->series->len);
    for (guint k = 0; k < file->series->len; k++)
      (void) measure_print_series (g_ptr_array_index (file->series, k));
  }
}

/* "FILE: left out: SENTENCE" (NULL-ended; transfer full) */
static char **
list_left_out (char **paths, const GPtrArray *files)
{
  GPtrArray *list = g_ptr_array_new ();

  for (guint i = 0; i < files->len; i++) {
    const FabMeasurements *file = g_ptr_array_index (files, i);

    for (guint k = 0; k < file->left_out->len; k++)
      g_ptr_array_add (list, g_strdup_printf ("%s: left out: %s", paths[i],
                                              (const char *) g_ptr_array_index (file->left_out, k)));
  }
  g_ptr_array_add (list, NULL);
  return (char **) g_ptr_array_free (list, FALSE);
}

static gboolean
write_series (const char *path, const GPtrArray *all, char **notes, GError **error)
{
  g_autoptr (FabSamples) samples = fab_samples_open (path, FAB_SAMPLES_WRITE, error);

  if (samples == NULL)
    return FALSE;
  for (guint i = 0; i < all->len; i++)
    if (!fab_samples_put (samples, g_ptr_array_index (all, i), error))
      return FALSE;
  for (char **note = notes; *note; note++)
    if (!fab_samples_add_note (samples, *note, error))
      return FALSE;
  return TRUE;
}

static gboolean
put_out (const ImportOptions *o, FabFormat format, char **paths, const GPtrArray *files, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  g_auto (GStrv) notes = list_left_out (paths, files);
  g_autofree char *text = NULL;
  char *none[] = { NULL };

  for (char **note = notes; *note; note++) {
    g_autofree char *plain = fab_cli_printable (*note);
    g_printerr ("%s\n", plain);
  }
  for (guint i = 0; i < files->len; i++) {
    const FabMeasurements *file = g_ptr_array_index (files, i);

    for (guint k = 0; k < file->series->len; k++)
      g_ptr_array_add (all, g_ptr_array_index (file->series, k));
  }
  if (o->out != NULL)
    return write_series (o->out, all, notes, error);
  if (format == FAB_FORMAT_TEXT)
    print_text (paths, files);
  else {
    text = format == FAB_FORMAT_CSV ? measure_csv (all) : measure_json (paths[0], none, notes, all);
    g_print ("%s", text);
  }
  return TRUE;
}

gboolean
import_measurements (const ImportOptions *o, char **paths, char *first_text, gsize first_size, GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (free_measurements);
  g_autoptr (GString) mistakes = g_string_new (NULL);
  Reading self = { .files = files, .mistakes = mistakes };
  FabMeasurementRequest request;
  FabFormat format;

  if (!check_options (o, paths[0], &request, &format, error))
    return FALSE;
  for (guint i = 0; paths[i] != NULL; i++) {
    request.file = strcmp (paths[i], "-") == 0 ? "standard input" : paths[i];
    if (i == 0)
      read_text (&self, &request, first_text, first_size);
    else
      read_file (&self, &request, paths[i]);
  }
  if (mistakes->len > 0)
    return fab_throw (error, FAB_ERROR_INPUT, "%s", mistakes->str);
  return put_out (o, format, paths, files, error);
}
