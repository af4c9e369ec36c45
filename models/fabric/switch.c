/* SPDX-License-Identifier: Apache-2.0 */
/* switch.c - one switch that never blocks joins every NIC: the ideal, and the small cluster. */
#include "models/models.h"
#include "sim/fabric/fabric.h"

static gboolean
switch_build (const FabFabricEnv *env, G_GNUC_UNUSED gconstpointer params, G_GNUC_UNUSED GError **error)
{
  guint part = fab_graph_builder_part (env->builder, "switch", FALSE);
  FabVertexId centre = fab_graph_builder_vertex (env->builder, FAB_VERTEX_SWITCH, FAB_NO_NODE, part, 0);

  for (guint i = 0; i < env->n_nodes * env->nics_per_node; i++)
    fab_graph_builder_join (env->builder, env->nics[i], centre, &env->port);
  return TRUE;
}

const FabFabricOps fab_fabric_switch = {
  .info = { .name = "switch",
            .summary = "One non-blocking switch for all NICs.",
            .doc = "docs/models/switch.md" },
  .build = switch_build,
};
