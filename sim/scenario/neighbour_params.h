/* SPDX-License-Identifier: Apache-2.0 */
/* neighbour_params.h - other jobs on nodes of the same machine, as a scenario gives them. */
#pragma once

#include "sim/scenario/catalog.h"

typedef struct {
  const char *name;            /* what reports call it */
  gint64 nodes, first, stride; /* nodes first, first + stride, ...: so many */
  FabModelChoice job;          /* FAB_MODEL_WORKLOAD */
} FabNeighbourSpec;

extern const FabParam fab_neighbour_params[];

/* Reports nodes that are not there or taken twice, and a machine of which nothing is left. `node` may be NULL (it is
 * reported elsewhere). */
void fab_neighbour_check_all (FabSchemaReader *reader, const FabParamList *neighbours,
                              const FabNodeSpec *node, gint64 n_nodes);

/* The nodes of neighbour `which`, or, with G_MAXUINT, those that no neighbour has; ascending, of `n_nodes`.
 * (transfer full) */
guint *fab_neighbour_nodes (const FabParamList *neighbours, guint which, guint n_nodes, guint *n);
