/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/job_log/job_log.h"

#include <math.h>
#include <string.h>

#include "formats/job_log/reading.h"
#include "sim/base/error.h"
#include "sim/base/order.h"

gboolean
fab_job_log_fail (const FabJobLogReading *self, GError **error, const char *message, const char *text)
{
  return fab_throw (error, FAB_ERROR_INPUT, "%s:%u: %s%s%s%s", fab_file_bytes_name (self->bytes), self->line,
                    message, text ? " '" : "", text ? text : "", text ? "'" : "");
}

gboolean
fab_job_log_add (FabJobLogReading *self, double submit_s, double duration_s, double n_nodes, gint64 priority,
                 const char *kind, FabJobEnding ending, GError **error)
{
  FabJobLogRow row = { .submit_s = submit_s, .duration_s = duration_s, .priority = priority };

  if (!(duration_s > 0) || !(n_nodes >= 1) || isnan (submit_s)) {
    self->log->n_left_out++;
    return TRUE;
  }
  if (self->log->rows->len == FAB_JOB_LOG_MOST_ROWS)
    return fab_job_log_fail (self, error, "the log has more than 5000000 jobs", NULL);
  row.n_nodes = (guint64) n_nodes;
  self->log->n_failed += ending == FAB_ENDING_FAILED;
  self->log->n_preempted += ending == FAB_ENDING_PREEMPTED;
  row.kind = kind != NULL && *kind != '\0' ? g_string_chunk_insert_const (self->log->kinds, kind) : NULL;
  g_array_append_val (self->log->rows, row);
  return TRUE;
}

gboolean
fab_job_log_next (FabJobLogReading *self, GError **error)
{
  g_autoptr (GError) problem = NULL;

  while (fab_file_bytes_line (self->bytes, self->text, &problem)) {
    self->line++;
    const char *text = g_strchomp (self->text->str);
    if (!g_utf8_validate (text, -1, NULL))
      return fab_job_log_fail (self, error, "this line is no text", NULL);
    if (*text != '\0' && *text != ';' && *text != '#')
      return TRUE;
  }
  if (problem != NULL)
    g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

static gint
compare_rows (gconstpointer a, gconstpointer b)
{
  const FabJobLogRow *left = a, *right = b;

  return fab_order_doubles (&left->submit_s, &right->submit_s);
}

static gboolean
read_lines (FabJobLogReading *self, GError **error)
{
  g_autoptr (GError) problem = NULL;

  if (!fab_file_bytes_next (self->bytes, &problem)) {
    if (problem == NULL)
      return fab_job_log_fail (self, error, "the file is empty", NULL);
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  if (fab_job_log_next (self, &problem)) {
    const FabFileText first = { fab_file_bytes_name (self->bytes), self->text->str,
                                strlen (self->text->str) };

    if (!fab_file_format_of (FAB_FILE_JOB_LOG, &first)->read.job_log (self, error))
      return FALSE;
  } else if (problem != NULL) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  return self->log->rows->len > 0 || fab_job_log_fail (self, error, "the log has no job that ran", NULL);
}

static FabJobLog *
read_all (FabFileBytes *bytes, guint gpus_per_node, GError **error)
{
  G_GNUC_UNUSED g_autoptr (FabFileBytes) owned = bytes;
  g_autoptr (FabJobLog) log = NULL;
  g_autoptr (GString) line = g_string_new (NULL);

  if (bytes == NULL)
    return NULL;
  log = g_new0 (FabJobLog, 1);
  log->rows = g_array_new (FALSE, FALSE, sizeof (FabJobLogRow));
  log->kinds = g_string_chunk_new (1024);
  FabJobLogReading self = {
    .bytes = bytes, .log = log, .gpus_per_node = MAX (gpus_per_node, 1), .text = line
  };
  if (!read_lines (&self, error))
    return NULL;
  g_array_sort (log->rows, compare_rows); /* a merge sort, which is stable */
  return g_steal_pointer (&log);
}

FabJobLog *
fab_job_log_read (const char *path, guint gpus_per_node, GError **error)
{
  return read_all (fab_file_bytes_open (path, error), gpus_per_node, error);
}

FabJobLog *
fab_job_log_parse (const char *name, const void *data, gsize size, guint gpus_per_node, GError **error)
{
  return read_all (fab_file_bytes_new (name, data, size), gpus_per_node, error);
}

void
fab_job_log_free (FabJobLog *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->rows);
  g_string_chunk_free (self->kinds);
  g_free (self);
}
