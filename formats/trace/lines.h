/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - what readers of traces that are lines of text share. */
#pragma once

#include "formats/trace/reading.h"

#define FAB_TRACE_MAX_RANKS 1048576

/* Where a reader is. */
typedef struct {
  FabTrace *trace;
  FabFileBytes *bytes;
  GString *line;
  guint64 line_at; /* the byte at which the line begins */
  guint number;    /* of the line, from 1 */
  GError *error;
} FabTraceLines;

/* Runs a reader over the lines of a file. When it returns FALSE without `error`, the file ended early. */
gboolean fab_trace_lines_read (FabTrace *trace, FabFileBytes *bytes, gboolean (*reader) (FabTraceLines *self),
                               GError **error);

/* Reads the next line. FALSE at the end of the file, and when there was an error. */
gboolean fab_trace_lines_next (FabTraceLines *self);

/* Sets `error` with the byte of the line. Returns FALSE. */
gboolean fab_trace_lines_fail (FabTraceLines *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Words of a line between blanks. (transfer full) */
char **fab_trace_words (const char *line);

/* Adds a node that waits for the one before it. It is valid until the next one is added. */
FabTraceNode *fab_trace_add_node (FabTracedRank *rank, const char *name, FabTraceKind kind,
                                  FabTimePs duration_ps);
void fab_trace_set_comm (FabTracedRank *rank, FabTraceNode *node, FabTraceComm comm);
