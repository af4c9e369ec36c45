/* SPDX-License-Identifier: Apache-2.0 */
/* goal.c - GOAL: `rank 0 { l1: calc 100  l2: send 8b to 1 tag 3  l2 requires l1 }`, work in ns.
 *
 * Each stream of a rank is a core (`cpu`) of its own, so that work and messages overlap as they do in the job.
 */
#include "formats/export/graphs.h"
#include "sim/base/output.h"

#define PS_PER_NS 1000

static void
write_node (GString *text, guint index, const FabJobNode *node, FabTimePs *rest_ps)
{
  switch (node->kind) {
  case FAB_JOB_SEND:
    g_string_append_printf (text, "l%u: send %" G_GINT64_FORMAT "b to %u tag %u cpu %u\n", index,
                            (gint64) node->bytes, node->peer, node->tag, node->stream);
    return;
  case FAB_JOB_RECEIVE:
    g_string_append_printf (text, "l%u: recv %" G_GINT64_FORMAT "b from %u tag %u cpu %u\n", index,
                            (gint64) node->bytes, node->peer, node->tag, node->stream);
    return;
  case FAB_JOB_WORK:
  case FAB_JOB_COLLECTIVE:
    g_string_append_printf (text, "l%u: calc %" G_GINT64_FORMAT " cpu %u\n", index,
                            fab_export_whole (node->duration_ps, PS_PER_NS, rest_ps), node->stream);
    return;
  }
}

static void
write_rank (FabOutput *file, guint rank, const GArray *nodes, const GArray *deps)
{
  g_autoptr (GArray) rests = g_array_new (FALSE, TRUE, sizeof (FabTimePs));
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_printf (text, "\nrank %u {\n", rank);
  fab_output_write (file, text->str);
  for (guint i = 0; i < nodes->len; i++) {
    const FabJobNode *node = &g_array_index (nodes, FabJobNode, i);

    if (node->stream >= rests->len)
      g_array_set_size (rests, node->stream + 1);
    g_string_truncate (text, 0);
    write_node (text, i + 1, node, &g_array_index (rests, FabTimePs, node->stream));
    for (guint d = 0; d < node->n_deps; d++)
      g_string_append_printf (text, "l%u requires l%u\n", i + 1,
                              g_array_index (deps, guint, node->first_dep + d) + 1);
    fab_output_write (file, text->str);
  }
  fab_output_write (file, "}\n");
}

gboolean
fab_export_goal (FabJobGraph *graph, const char *path, GError **error)
{
  g_auto (FabOutput) file = { .path = NULL };
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (FabJobNode));
  g_autoptr (GArray) deps = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree char *head = g_strdup_printf ("num_ranks %u\n", fab_job_graph_n_ranks (graph));

  if (!fab_output_open (&file, path, error))
    return FALSE;
  fab_output_write (&file, head);
  for (guint rank = 0; rank < fab_job_graph_n_ranks (graph); rank++) {
    fab_job_graph_rank (graph, rank, nodes, deps);
    write_rank (&file, rank, nodes, deps);
  }
  return fab_output_close (&file, error);
}
