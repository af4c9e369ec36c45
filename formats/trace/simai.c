/* SPDX-License-Identifier: Apache-2.0 */
/* simai.c - SimAI's workload: name, dependency, then time in ns, collective and bytes of the forward pass, of the
 * gradients of inputs and of the gradients of weights, and the time of the update (aliyun/SimAI, docs/Tutorial.md). */
#include <string.h>

#include "formats/trace/lines.h"

static const char *
simai_dimension (const char *comm, guint pass)
{
  if (g_str_has_suffix (comm, "_EP") && !g_str_has_suffix (comm, "_DP_EP"))
    return "expert";
  return pass == 2 || g_str_has_suffix (comm, "_DP_EP") ? "data" : "tensor";
}

static gboolean
simai_pass (FabTraceLines *self, FabTracedRank *rank, char **words, guint pass)
{
  const char *comm = words[3 + 3 * pass];
  const char *name = fab_trace_intern (self->trace, words[0]);
  const char *op = strcmp (comm, "NONE") == 0 ? NULL : fab_trace_op_name (comm);
  gint64 time_ns, n_bytes;

  if (!fab_trace_parse_whole (words[2 + 3 * pass], &time_ns) || time_ns < 0 || time_ns > G_MAXINT64 / 1000)
    return fab_trace_lines_fail (self, "%s is no time in ns", words[2 + 3 * pass]);
  if (!fab_trace_parse_whole (words[4 + 3 * pass], &n_bytes) || n_bytes < 0)
    return fab_trace_lines_fail (self, "%s is no number of bytes", words[4 + 3 * pass]);
  if (op == NULL && strcmp (comm, "NONE") != 0)
    return fab_trace_lines_fail (self, "%s is no collective that SimAI has", comm);
  fab_trace_add_node (rank, name, FAB_TRACE_COMPUTE, time_ns * 1000);
  if (op != NULL && n_bytes > 0)
    fab_trace_set_comm (rank, fab_trace_add_node (rank, name, FAB_TRACE_COMM, 0),
                        (FabTraceComm){ .op = op,
                                        .dimension = simai_dimension (comm, pass),
                                        .group = "",
                                        .bytes = (FabBytes) n_bytes });
  return TRUE;
}

static gboolean
simai_head (FabTraceLines *self, FabTracedRank *rank, gint64 *n_layers)
{
  const char *all;

  if (!fab_trace_lines_next (self))
    return FALSE;
  all = strstr (self->line->str, "all_gpus:");
  if (all != NULL)
    rank->n_world = (guint) g_ascii_strtoull (all + strlen ("all_gpus:"), NULL, 10);
  if (!fab_trace_lines_next (self) || !fab_trace_parse_whole (g_strstrip (self->line->str), n_layers)
      || *n_layers < 1)
    return self->error == NULL && fab_trace_lines_fail (self, "the number of layers is missing");
  return TRUE;
}

static gboolean
simai_layers (FabTraceLines *self, GPtrArray *layers)
{
  while (fab_trace_lines_next (self)) {
    char **words = fab_trace_words (self->line->str);

    if (words[0] == NULL) {
      g_strfreev (words);
      continue;
    }
    g_ptr_array_add (layers, words);
    if (g_strv_length (words) != 12)
      return fab_trace_lines_fail (self, "a layer has 12 words, and this one %u", g_strv_length (words));
  }
  return self->error == NULL;
}

static gboolean
simai_reader (FabTraceLines *self)
{
  FabTracedRank *rank = fab_trace_add_rank (self->trace, fab_file_bytes_name (self->bytes));
  g_autoptr (GPtrArray) layers = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  gint64 n_layers = 0;

  if (!simai_head (self, rank, &n_layers) || !simai_layers (self, layers))
    return FALSE;
  if (layers->len != n_layers)
    return fab_trace_lines_fail (self, "the file announces %" G_GINT64_FORMAT " layers and has %u", n_layers,
                                 layers->len);
  for (guint i = 0; i < layers->len; i++)
    if (!simai_pass (self, rank, g_ptr_array_index (layers, i), 0))
      return FALSE;
  for (guint i = layers->len; i-- > 0;)
    if (!simai_pass (self, rank, g_ptr_array_index (layers, i), 1)
        || !simai_pass (self, rank, g_ptr_array_index (layers, i), 2))
      return FALSE;
  return TRUE;
}

static gboolean
read_simai (FabTrace *trace, FabFileBytes *bytes, GError **error)
{
  return fab_trace_lines_read (trace, bytes, simai_reader, error);
}

static gboolean
is_simai (const FabFileText *text)
{
  return fab_file_text_begins (text, "HYBRID_") || fab_file_text_begins (text, "DATA")
      || fab_file_text_begins (text, "MODEL") || fab_file_text_begins (text, "MICRO");
}

const FabFileFormat fab_file_simai = {
  .name = "SimAI workload",
  .kind = FAB_FILE_TRACE,
  .recognises = is_simai,
  .read.trace = read_simai,
};
