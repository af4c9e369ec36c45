/* SPDX-License-Identifier: Apache-2.0 */
/* told.h - traces from texts, and what was read of them as lines that a test can hold against the texts. */
#pragma once

#include "formats/trace/trace.h"
#include "tests/support/test.h"

/* Reads texts, as files a, b, ..., of one run. NULL: one of them was refused. */
G_GNUC_UNUSED static FabTrace *
read_traces (const char *const *texts, GError **error)
{
  g_autoptr (FabTrace) trace = fab_trace_new ();

  for (guint i = 0; texts[i] != NULL; i++) {
    g_autofree char *name = g_strdup_printf ("%c", 'a' + (char) i);
    g_autoptr (FabFileBytes) bytes = fab_file_bytes_new (name, texts[i], strlen (texts[i]));

    assert_true (fab_file_bytes_next (bytes, NULL));
    if (!fab_trace_read_bytes (trace, bytes, error))
      return NULL;
  }
  return fab_trace_finish (trace, error) ? g_steal_pointer (&trace) : NULL;
}

static void
tell_comm (GString *out, const FabTracedRank *rank, gint32 index)
{
  const FabTraceComm *comm;

  if (index < 0)
    return;
  comm = &g_array_index (rank->comms, FabTraceComm, index);
  g_string_append_printf (out, " | %s %" G_GINT64_FORMAT " B %u ranks, %s, '%s'", comm->op,
                          (gint64) comm->bytes, comm->n_ranks, comm->dimension, comm->group);
}

static const char *const kinds_told[] = { "compute", "comm", "copy" };

/* "10-20 kernel: comm, stream 7, step 0 | all_reduce 64 B 2 ranks, data, 'g'", times in ps. */
G_GNUC_UNUSED static char *
rank_told (const FabTracedRank *rank)
{
  GString *out = g_string_new (NULL);

  g_string_append_printf (out, "rank %" G_GINT64_FORMAT " of %u\n", rank->rank, rank->n_world);
  for (guint i = 0; i < rank->steps->len; i++) {
    const FabTraceStep *step = &g_array_index (rank->steps, FabTraceStep, i);

    g_string_append_printf (out, "step %" G_GINT64_FORMAT ": %" G_GINT64_FORMAT "-%" G_GINT64_FORMAT "\n",
                            step->number, step->start_ps, step->end_ps);
  }
  for (guint i = 0; i < rank->ops->len; i++) {
    const FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, i);

    g_string_append_printf (out, "%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT " %s: %s, stream %u, step %d",
                            op->start_ps, op->end_ps, op->name, kinds_told[op->kind], op->stream, op->step);
    tell_comm (out, rank, op->comm);
    g_string_append_c (out, '\n');
  }
  for (guint i = 0; i < rank->nodes->len; i++) {
    const FabTraceNode *node = &g_array_index (rank->nodes, FabTraceNode, i);

    g_string_append_printf (out, "node %" G_GUINT64_FORMAT " %s: %s %" G_GINT64_FORMAT, node->id, node->name,
                            kinds_told[node->kind], node->duration_ps);
    if (node->peer >= 0)
      g_string_append_printf (out, " %s %" G_GINT64_FORMAT " tag %" G_GUINT64_FORMAT,
                              node->is_send ? "to" : "from", node->peer, node->tag);
    for (guint k = 0; k < node->n_deps; k++)
      g_string_append_printf (out, "%s%" G_GUINT64_FORMAT, k == 0 ? " after " : ",",
                              g_array_index (rank->deps, guint64, node->first_dep + k));
    tell_comm (out, rank, node->comm);
    g_string_append_c (out, '\n');
  }
  for (guint i = 0; i < rank->works->len; i++) {
    const FabTraceWork *work = &g_array_index (rank->works, FabTraceWork, i);

    g_string_append_printf (out, "work %" G_GINT64_FORMAT " %s%s %s: %" G_GINT64_FORMAT " x", work->external,
                            work->is_attention ? "attention" : "product", work->is_backward ? " back" : "",
                            work->dtype, work->n_copies);
    for (guint k = 0; k < (work->is_attention ? 5 : 3); k++)
      g_string_append_printf (out, " %" G_GINT64_FORMAT, work->sides[k]);
    g_string_append_c (out, '\n');
  }
  return g_string_free (out, FALSE);
}

/* All ranks, then the notes: "1 read a: text". */
G_GNUC_UNUSED static char *
trace_told (const FabTrace *trace)
{
  static const char *const kinds[] = { "read", "inferred", "left out" };
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < trace->ranks->len; i++) {
    g_autofree char *rank = rank_told (g_ptr_array_index (trace->ranks, i));

    g_string_append (out, rank);
  }
  for (guint i = 0; i < trace->notes->len; i++) {
    const FabFileNote *note = fab_file_note (trace->notes, i);

    g_string_append_printf (out, "%s %u %s: %s\n", note->file ? note->file : "-", note->line,
                            kinds[note->kind], note->text);
  }
  return g_string_free (out, FALSE);
}

/* One text, and all that is read of it. */
G_GNUC_UNUSED static void
assert_trace (const char *text, const char *expected)
{
  const char *const texts[] = { text, NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabTrace) trace = read_traces (texts, &error);

  if (trace == NULL)
    fail_msg ("%s", error->message);
  g_autofree char *told = trace_told (trace);
  assert_string_equal (told, expected);
}

G_GNUC_UNUSED static void
assert_no_trace (const char *text, const char *message)
{
  const char *const texts[] = { text, NULL };
  g_autoptr (GError) error = NULL;

  assert_null (read_traces (texts, &error));
  if (strcmp (error->message, message) != 0)
    fail_msg ("%s\n%s", error->message, text);
}
