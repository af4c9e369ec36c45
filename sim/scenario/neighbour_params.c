/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/neighbour_params.h"

#define ROW(key_, type_, field_, fallback_, help_)                                              \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabNeighbourSpec, field_), \
  .fallback = fallback_, .help = help_

const FabParam fab_neighbour_params[] = {
  { ROW ("name", TEXT, name, NULL, "Name of the job in reports.") },
  { ROW ("nodes", COUNT, nodes, NULL, "Number of nodes of the job."), .min = 1, .max = 200000 },
  { ROW ("first", COUNT, first, NULL, "Number of the first node of the job."), .max = 200000 },
  { ROW ("stride", COUNT, stride, "1", "Distance from one node of the job to the next."), .min = 1,
    .max = 200000 },
  { ROW ("start", TIME, start_ps, "0ms", "Time at which its first iteration begins.") },
  { ROW ("job", MODEL, job, NULL, "Work of these GPUs, repeated while the first job runs."),
    .models = FAB_MODEL_WORKLOAD },
  { .key = NULL },
};

static const FabNeighbourSpec *
spec_at (const FabParamList *neighbours, guint index)
{
  return (const FabNeighbourSpec *) neighbours->data + index;
}

/* Returns 1 + the neighbour that uses the node; 0: none does. */
static guint
owner_of (const FabParamList *neighbours, gint64 node, guint n_known)
{
  for (guint i = 0; i < n_known; i++) {
    const FabNeighbourSpec *spec = spec_at (neighbours, i);
    gint64 distance = node - spec->first;

    if (distance >= 0 && distance % spec->stride == 0 && distance / spec->stride < spec->nodes)
      return i + 1;
  }
  return 0;
}

static void
check_overlap (FabSchemaReader *reader, const FabParamList *neighbours, guint index)
{
  const FabNeighbourSpec *spec = spec_at (neighbours, index);

  for (gint64 i = 0; i < spec->nodes; i++) {
    guint owner = owner_of (neighbours, spec->first + i * spec->stride, index);

    if (owner == 0 || spec_at (neighbours, owner - 1)->name == NULL) /* a missing name is already reported */
      continue;
    fab_schema_report (reader, &spec->first, "node %" G_GINT64_FORMAT " already belongs to '%s'",
                       spec->first + i * spec->stride, spec_at (neighbours, owner - 1)->name);
    return;
  }
}

void
fab_neighbour_check_all (FabSchemaReader *reader, const FabParamList *neighbours, const FabNodeSpec *node,
                         gint64 n_nodes)
{
  gint64 n_taken = 0;

  for (guint i = 0; i < neighbours->n; i++) {
    const FabNeighbourSpec *spec = spec_at (neighbours, i);
    gint64 last = spec->first + (spec->nodes - 1) * spec->stride;

    n_taken += spec->nodes;
    if (last >= n_nodes)
      fab_schema_report (reader, &spec->nodes,
                         "its last node would be %" G_GINT64_FORMAT
                         ", and the machine has 0 to %" G_GINT64_FORMAT,
                         last, n_nodes - 1);
    else
      check_overlap (reader, neighbours, i);
    if (i == 0 && node != NULL && fab_node_spec_sharers (node) > 1)
      fab_schema_report (reader, &spec->nodes, "nodes of '%s' share parts, so two jobs cannot divide them",
                         node->name);
  }
  if (neighbours->n > 0 && n_taken >= n_nodes)
    fab_schema_report (reader, &spec_at (neighbours, 0)->nodes, "no node is left for the job itself");
}

guint *
fab_neighbour_nodes (const FabParamList *neighbours, guint which, guint n_nodes, guint *n)
{
  guint *nodes = g_new (guint, n_nodes + 1);

  *n = 0;
  for (guint node = 0; node < n_nodes; node++)
    if (owner_of (neighbours, node, neighbours->n) == which + 1)
      nodes[(*n)++] = node;
  return nodes;
}
