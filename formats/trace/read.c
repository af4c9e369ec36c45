/* SPDX-License-Identifier: Apache-2.0 */
/* read.c - finds out which format a file has, and reads all files of folders and archives. */
#include <string.h>

#include "formats/trace/formats.h"
#include "sim/base/error.h"

#define MAX_FILES 65536
#define MAX_DEPTH 4 /* of folders in folders */

typedef struct {
  const char *name;
  gboolean (*recognises) (const char *head, gsize size);
  gboolean (*read) (FabTrace *trace, FabFileBytes *bytes, GError **error); /* NULL: `why` */
  const char *why;
} Format;

static gboolean
has (const char *head, gsize size, const char *text)
{
  return g_strstr_len (head, (gssize) size, text) != NULL;
}

static gboolean
begins (const char *head, gsize size, const char *text)
{
  return size >= strlen (text) && memcmp (head, text, strlen (text)) == 0;
}

static gboolean
is_json (const char *head, gsize size)
{
  gsize i = 0;

  while (i < size && g_ascii_isspace (head[i]))
    i++;
  return i < size && (head[i] == '{' || head[i] == '[');
}

static gboolean
is_inspector (const char *head, gsize size)
{
  return is_json (head, size) && has (head, size, "inspector_output_format_version");
}

static gboolean
is_nccl_profile (const char *head, gsize size)
{
  return begins (head, size, "[")
      && (has (head, size, "\"GROUP") || has (head, size, "\"PROXY\"") || has (head, size, "\"COLL"));
}

static gboolean
is_simai (const char *head, gsize size)
{
  return begins (head, size, "HYBRID_") || begins (head, size, "DATA") || begins (head, size, "MODEL")
      || begins (head, size, "MICRO");
}

static gboolean
is_aicb (const char *head, gsize size)
{
  return begins (head, size, "comm_type,");
}

static gboolean
is_goal (const char *head, gsize size)
{
  return has (head, size, "num_ranks");
}

static gboolean
is_nccl_log (const char *head, gsize size)
{
  return has (head, size, " NCCL INFO ");
}

static gboolean
is_xml (const char *head, gsize size)
{
  return begins (head, size, "<algo ") || begins (head, size, "<?xml") || begins (head, size, "<!--");
}

static gboolean
is_aiob (const char *head, gsize size)
{
  return begins (head, size, "train_iter:");
}

static gboolean
is_sqlite (const char *head, gsize size)
{
  return begins (head, size, "SQLite format 3");
}

/* The length of the first message, then a field of GlobalMetadata. */
static gboolean
is_chakra (const char *head, gsize size)
{
  gsize at = 0;

  while (at < size && at < 5 && (head[at] & 0x80) != 0)
    at++;
  at++;
  return at < size && (head[at - 1] == 0 || head[at] == 0x0a || head[at] == 0x12);
}

static const Format formats[] = {
  { "NCCL inspector", is_inspector, fab_trace_read_inspector, NULL },
  { "NCCL profiler", is_nccl_profile, fab_trace_read_nccl_profile, NULL },
  { "json", is_json, fab_trace_read_json, NULL },
  { "AICB's table of a run", is_aicb, fab_trace_read_aicb, NULL },
  { "SimAI workload", is_simai, fab_trace_read_simai, NULL },
  { "AIOB", is_aiob, NULL, "holds times of kernels that AICB puts into a workload; import the workload" },
  { "MSCCL", is_xml, NULL, "is XML and no trace; a schedule of MSCCL says how one collective runs" },
  { "Nsight Systems", is_sqlite, fab_trace_read_nsys, NULL },
  { "NCCL log", is_nccl_log, fab_trace_read_nccl_log, NULL },
  { "GOAL", is_goal, fab_trace_read_goal, NULL },
  { "Chakra", is_chakra, fab_trace_read_chakra, NULL },
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
fab_trace_read_bytes (FabTrace *self, FabFileBytes *bytes, GError **error)
{
  const char *head;
  gsize size;
  guint first = self->ranks->len;

  if (!fab_file_bytes_peek (bytes, &head, &size, error))
    return FALSE;
  if (size == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: is empty", fab_file_bytes_name (bytes));
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    const Format *format = &formats[i];

    if (!format->recognises (head, MIN (size, 4096)))
      continue;
    if (format->read == NULL)
      return fab_throw (error, FAB_ERROR_INPUT, "%s: %s", fab_file_bytes_name (bytes), format->why);
    if (strcmp (format->name, "json") != 0)
      g_ptr_array_add (self->formats, (gpointer) format->name);
    if (!format->read (self, bytes, error))
      return FALSE;
    rank_of_name (self, first);
    return TRUE;
  }
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "%s: byte 0: the file has none of the formats that can be read: Kineto, Nsight Systems, Chakra, GOAL, SimAI, "
      "AICB, a log of NCCL or the output of its profiler",
      fab_file_bytes_name (bytes));
}

/* --- folders --- */

static gint
compare_paths (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

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
  g_ptr_array_sort (files, compare_paths);
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
