/* SPDX-License-Identifier: Apache-2.0 */
/* read.c - finds out which format a file has, and reads all files of folders and archives. */
#include <string.h>

#include "formats/trace/reading.h"
#include "sim/base/error.h"
#include "sim/base/order.h"

#define MAX_FILES 65536
#define MAX_DEPTH 4 /* of folders in folders */

static gboolean
is_xml (const FabFileText *text)
{
  return fab_file_text_begins (text, "<algo ") || fab_file_text_begins (text, "<?xml")
      || fab_file_text_begins (text, "<!--");
}

const FabFileFormat fab_file_xml_trace = {
  .name = "MSCCL",
  .kind = FAB_FILE_TRACE,
  .recognises = is_xml,
  .why_not = "is XML and no trace; a schedule of MSCCL says how one collective runs",
};

/* NAME.3.et is of rank 3. */
static void
rank_of_name (FabTrace *self, guint first)
{
  for (guint i = first; i < self->ranks->len; i++) {
    FabTracedRank *rank = g_ptr_array_index (self->ranks, i);
    g_auto (GStrv) parts = g_strsplit (rank->source, ".", -1);
    guint n = g_strv_length (parts);
    gint64 number;

    if (rank->rank < 0 && n >= 3 && fab_trace_parse_whole (parts[n - 2], &number) && number >= 0
        && number < 1048576)
      rank->rank = number;
  }
}

gboolean
fab_trace_read_whole (FabFileJson *json, gint64 least, gint64 *value)
{
  char text[32] = "";
  gint64 read;

  if (!fab_file_json_copy (json, text, sizeof text))
    return FALSE;
  if (fab_trace_parse_whole (text, &read) && read >= least)
    *value = read;
  return TRUE;
}

gboolean
fab_trace_read_bytes (FabTrace *self, FabFileBytes *bytes, GError **error)
{
  const char *name = fab_file_bytes_name (bytes), *head;
  const FabFileFormat *format;
  gsize size;
  guint first = self->ranks->len;

  if (!fab_file_bytes_peek (bytes, &head, &size, error))
    return FALSE;
  if (size == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: is empty", name);
  format = fab_file_format_of_bytes (FAB_FILE_TRACE, name, head, MIN (size, 4096));
  if (format == NULL)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "%s: byte 0: the file has none of the formats that can be read: Kineto, Nsight Systems, Chakra, GOAL, SimAI, "
        "AICB, a log of NCCL or the output of its profiler",
        name);
  if (format->why_not != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: %s", name, format->why_not);
  if (strcmp (format->name, "json") != 0)
    g_ptr_array_add (self->formats, (gpointer) format->name);
  if (!format->read.trace (self, bytes, error))
    return FALSE;
  rank_of_name (self, first);
  return TRUE;
}

/* --- folders --- */

/* Adds the files of a folder and of the folders in it. */
static gboolean
list_folder (const char *path, guint depth, GPtrArray *files, GError **error)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, error);
  const char *name;

  if (folder == NULL)
    return FALSE;
  while ((name = g_dir_read_name (folder)) != NULL) {
    g_autofree char *file = g_build_filename (path, name, NULL);

    if (name[0] == '.')
      continue;
    if (g_file_test (file, G_FILE_TEST_IS_DIR) && !g_file_test (file, G_FILE_TEST_IS_SYMLINK)
        && depth < MAX_DEPTH && !list_folder (file, depth + 1, files, error))
      return FALSE;
    if (g_file_test (file, G_FILE_TEST_IS_REGULAR))
      g_ptr_array_add (files, g_steal_pointer (&file));
    if (files->len > MAX_FILES)
      return fab_throw (error, FAB_ERROR_INPUT, "%s: has more than %d files", path, MAX_FILES);
  }
  return TRUE;
}

static gboolean
list_files (const char *path, GPtrArray *files, GError **error)
{
  guint before = files->len;

  if (!g_file_test (path, G_FILE_TEST_IS_DIR)) {
    g_ptr_array_add (files, g_strdup (path));
    return TRUE;
  }
  if (!list_folder (path, 0, files, error))
    return FALSE;
  return files->len > before || fab_throw (error, FAB_ERROR_INPUT, "%s: has no file", path);
}

static void
add_mistake (GString *mistakes, const GError *error)
{
  g_string_append_printf (mistakes, "%s%s", mistakes->len > 0 ? "\n" : "", error->message);
}

static void
read_file (FabTrace *self, const char *path, FabTraceProgress progress, gpointer data, GString *mistakes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabFileBytes) bytes = fab_file_bytes_open (path, &error);

  while (bytes != NULL && fab_file_bytes_next (bytes, &error)) {
    if (progress != NULL)
      progress (fab_file_bytes_name (bytes), data);
    if (!fab_trace_read_bytes (self, bytes, &error))
      break;
  }
  if (error != NULL)
    add_mistake (mistakes, error);
}

FabTrace *
fab_trace_read (char *const *paths, FabTraceProgress progress, gpointer data, GError **error)
{
  g_autoptr (FabTrace) self = fab_trace_new ();
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) mistakes = g_string_new (NULL);

  for (; *paths != NULL; paths++)
    if (!list_files (*paths, files, error))
      return NULL;
  g_ptr_array_sort (files, fab_order_texts);
  for (guint i = 0; i < files->len; i++)
    read_file (self, g_ptr_array_index (files, i), progress, data, mistakes);
  if (mistakes->len > 0) {
    fab_throw (error, FAB_ERROR_INPUT, "%s", mistakes->str);
    return NULL;
  }
  if (self->ranks->len == 0) {
    fab_throw (error, FAB_ERROR_INPUT, "no trace was found");
    return NULL;
  }
  return fab_trace_finish (self, error) ? g_steal_pointer (&self) : NULL;
}
