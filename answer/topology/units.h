/* SPDX-License-Identifier: Apache-2.0 */
/* units.h - what of a node is drawn: where it consists of many trays or machines that are all alike, only the
 * first. */
#pragma once

#include "sim/machine/topology.h"

typedef struct {
  guint n; /* trays or machines that are alike; 1: the node is drawn whole */
  guint *
      of_vertex; /* [vertices] unit of each; FAB_TOPO_HUB: it joins them, FAB_TOPO_NOWHERE: it is not of the node */
} FabTopoUnits;

enum { FAB_TOPO_HUB = G_MAXINT - 1, FAB_TOPO_NOWHERE = G_MAXINT };

/* `is_whole`: everything is to be drawn. (transfer full) */
FabTopoUnits *fab_topo_units_new (const FabTopology *topology, gboolean is_whole);
void fab_topo_units_free (FabTopoUnits *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTopoUnits, fab_topo_units_free)

/* Says whether a vertex of the node is drawn. */
gboolean fab_topo_is_drawn (const FabTopoUnits *self, FabVertexId vertex);
