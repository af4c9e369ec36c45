/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/fabric.h"

/* Returns the latency of a cable at 5 ns per metre, the speed of light in glass. */
static FabTimePs
cable_ps (gint64 length_mm)
{
  return length_mm * 5;
}

FabLinkForm
fab_fabric_link (const FabFabricEnv *env, const char *name, gint64 cable_mm)
{
  FabLinkForm form = name != NULL ? env->find_link (env->links, name) : env->port;

  form.latency_ps = fab_ps_add (form.latency_ps, cable_ps (cable_mm));
  return form;
}

FabVertexId
fab_fabric_add_switch (const FabFabricEnv *env, const char *name, gboolean has_number, guint member)
{
  guint part = fab_graph_builder_part (env->builder, name, has_number);

  return fab_graph_builder_vertex (env->builder, FAB_VERTEX_SWITCH, FAB_NO_NODE, part, member);
}

void
fab_fabric_attach (const FabFabricEnv *env, guint place, guint nic, FabVertexId vertex,
                   const FabLinkForm *form)
{
  FabVertexId id = env->nics[place * env->nics_per_node + nic];

  if (id != FAB_NO_VERTEX)
    fab_graph_builder_join (env->builder, id, vertex, form);
}

gboolean
fab_fabric_always_has_choice (G_GNUC_UNUSED gconstpointer params)
{
  return TRUE;
}
