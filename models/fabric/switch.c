/* SPDX-License-Identifier: Apache-2.0 */
/* switch.c - one switch that never blocks connects every NIC: the ideal network, or a small cluster. */
#include "models/models.h"
#include "sim/fabric/fabric.h"

static gboolean
switch_build (const FabFabricEnv *env, G_GNUC_UNUSED gconstpointer params, G_GNUC_UNUSED GError **error)
{
  FabVertexId centre = fab_fabric_add_switch (env, "switch", FALSE, 0);

  for (guint place = 0; place < env->n_places; place++)
    for (guint nic = 0; nic < env->nics_per_node; nic++)
      fab_fabric_attach (env, place, nic, centre, &env->port);
  return TRUE;
}

const FabFabricOps fab_fabric_switch = {
  .info = { .name = "switch",
            .summary = "One non-blocking switch connects all NICs.",
            .doc = "docs/models/switch.md" },
  .build = switch_build,
};
