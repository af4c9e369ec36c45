/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/lines.h"

#include "sim/base/error.h"

gboolean
fab_trace_lines_next (FabTraceLines *self)
{
  self->line_at = fab_file_bytes_at (self->bytes);
  self->number++;
  return self->error == NULL && fab_file_bytes_line (self->bytes, self->line, &self->error);
}

gboolean
fab_trace_lines_fail (FabTraceLines *self, const char *format, ...)
{
  va_list list;
  g_autofree char *what = NULL, *plain = NULL;

  va_start (list, format);
  what = g_strdup_vprintf (format, list);
  va_end (list);
  plain = fab_printable (what);
  return fab_throw (&self->error, FAB_ERROR_INPUT, "%s: byte %" G_GUINT64_FORMAT ": %s",
                    fab_file_bytes_name (self->bytes), self->line_at, plain);
}

gboolean
fab_trace_lines_read (FabTrace *trace, FabFileBytes *bytes, gboolean (*reader) (FabTraceLines *self),
                      GError **error)
{
  g_autoptr (GString) line = g_string_new (NULL);
  FabTraceLines self = { .trace = trace, .bytes = bytes, .line = line };
  gboolean is_read = reader (&self) && self.error == NULL;

  if (!is_read && self.error == NULL)
    fab_trace_lines_fail (&self, "the file ends early; it is cut");
  if (!is_read)
    g_propagate_error (error, self.error);
  return is_read;
}

char **
fab_trace_words (const char *line)
{
  g_auto (GStrv) all = g_strsplit_set (line, " \t", -1);
  GStrvBuilder *builder = g_strv_builder_new ();
  char **words;

  for (char **word = all; *word != NULL; word++)
    if (**word != '\0')
      g_strv_builder_add (builder, *word);
  words = g_strv_builder_end (builder);
  g_strv_builder_unref (builder);
  return words;
}

FabTraceNode *
fab_trace_add_node (FabTracedRank *rank, const char *name, FabTraceKind kind, FabTimePs duration_ps)
{
  FabTraceNode node = { .name = name,
                        .id = rank->nodes->len,
                        .duration_ps = duration_ps,
                        .peer = -1,
                        .kind = kind,
                        .comm = -1,
                        .first_dep = rank->deps->len };

  if (rank->nodes->len > 0) {
    guint64 before = node.id - 1;

    g_array_append_val (rank->deps, before);
    node.n_deps = 1;
  }
  g_array_append_val (rank->nodes, node);
  return &g_array_index (rank->nodes, FabTraceNode, rank->nodes->len - 1);
}

void
fab_trace_set_comm (FabTracedRank *rank, FabTraceNode *node, FabTraceComm comm)
{
  node->comm = (gint32) rank->comms->len;
  g_array_append_val (rank->comms, comm);
}
