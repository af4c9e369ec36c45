/* SPDX-License-Identifier: Apache-2.0 */
/* aicb.c - AICB's table of a run: a row per collective with its time in ms (aliyun/aicb, log_analyzer/log.py). Files of
 * AIOB, which belong to it, are recognised and refused. */
#include <string.h>

#include "formats/trace/lines.h"

typedef struct {
  gint op, group, n_ranks, bytes, time, last;
} AicbColumns;

static gint
column_of (char **names, const char *wanted)
{
  for (gint i = 0; names[i] != NULL; i++)
    if (strcmp (names[i], wanted) == 0)
      return i;
  return -1;
}

static gboolean
aicb_head (FabTraceLines *self, AicbColumns *columns)
{
  g_auto (GStrv) names = NULL;

  if (!fab_trace_lines_next (self))
    return FALSE;
  names = g_strsplit (self->line->str, ",", -1);
  columns->op = column_of (names, "comm_type");
  columns->group = column_of (names, "comm_group");
  columns->n_ranks = column_of (names, "comm_group_size");
  columns->bytes = column_of (names, "msg_size");
  columns->time = column_of (names, "_elapsed_time");
  columns->last = MAX (MAX (columns->op, columns->group),
                       MAX (MAX (columns->n_ranks, columns->bytes), columns->time));
  if (MIN (MIN (columns->op, columns->group), MIN (MIN (columns->n_ranks, columns->bytes), columns->time))
      < 0)
    return fab_trace_lines_fail (
        self, "needs the columns comm_type, comm_group, comm_group_size, msg_size and _elapsed_time");
  return TRUE;
}

static gboolean
aicb_row (FabTraceLines *self, FabTracedRank *rank, const AicbColumns *columns, char **cells)
{
  const char *op = fab_trace_op_name (cells[columns->op]);
  gint64 n_ranks, n_bytes;
  double time_ms;
  char *end;

  if (strstr (cells[columns->op], "epoch_end") != NULL)
    return TRUE;
  if (op == NULL)
    return fab_trace_lines_fail (self, "%s is no collective", cells[columns->op]);
  time_ms = g_ascii_strtod (cells[columns->time], &end);
  if (end == cells[columns->time] || !(time_ms >= 0 && time_ms < 1e9))
    return fab_trace_lines_fail (self, "%s is no time in ms", cells[columns->time]);
  if (strcmp (cells[columns->n_ranks], "None") == 0)
    n_ranks = 0; /* AICB does not know it */
  else if (!fab_trace_parse_whole (cells[columns->n_ranks], &n_ranks) || n_ranks < 1 || n_ranks > G_MAXINT)
    return fab_trace_lines_fail (self, "%s is no size of a group", cells[columns->n_ranks]);
  if (!fab_trace_parse_whole (cells[columns->bytes], &n_bytes) || n_bytes < 0)
    return fab_trace_lines_fail (self, "%s is no number of bytes", cells[columns->bytes]);
  fab_trace_set_comm (rank,
                      fab_trace_add_node (rank, fab_trace_intern (self->trace, cells[columns->op]),
                                          FAB_TRACE_COMM, (FabTimePs) (time_ms * 1e9)),
                      (FabTraceComm){ .op = op,
                                      .dimension = fab_trace_dimension (cells[columns->group]),
                                      .group = fab_trace_intern (self->trace, cells[columns->group]),
                                      .bytes = (FabBytes) n_bytes,
                                      .n_ranks = (guint) n_ranks });
  return TRUE;
}

static gboolean
aicb_reader (FabTraceLines *self)
{
  FabTracedRank *rank = fab_trace_add_rank (self->trace, fab_file_bytes_name (self->bytes));
  AicbColumns columns;

  if (!aicb_head (self, &columns))
    return FALSE;
  while (fab_trace_lines_next (self)) {
    g_auto (GStrv) cells = g_strsplit (self->line->str, ",", -1);

    if (self->line->len == 0)
      continue;
    if ((gint) g_strv_length (cells) <= columns.last)
      return fab_trace_lines_fail (self, "a row has fewer cells than the head");
    if (!aicb_row (self, rank, &columns, cells))
      return FALSE;
  }
  return self->error == NULL;
}

static gboolean
read_aicb (FabTrace *trace, FabFileBytes *bytes, GError **error)
{
  return fab_trace_lines_read (trace, bytes, aicb_reader, error);
}

static gboolean
is_aicb (const FabFileText *text)
{
  return fab_file_text_begins (text, "comm_type,");
}

const FabFileFormat fab_file_aicb = {
  .name = "AICB's table of a run",
  .kind = FAB_FILE_TRACE,
  .recognises = is_aicb,
  .read.trace = read_aicb,
};

static gboolean
is_aiob (const FabFileText *text)
{
  return fab_file_text_begins (text, "train_iter:");
}

const FabFileFormat fab_file_aiob = {
  .name = "AIOB",
  .kind = FAB_FILE_TRACE,
  .recognises = is_aiob,
  .why_not = "holds times of kernels that AICB puts into a workload; import the workload",
};
