/* SPDX-License-Identifier: Apache-2.0 */
/* neighbour_params.h - other jobs on nodes of the same machine, as a scenario describes them. */
#pragma once

#include "sim/scenario/catalog.h"

typedef struct {
  const char *name;            /* its name in reports */
  gint64 nodes, first, stride; /* it uses `nodes` nodes: first, first + stride, ... */
  FabTimePs start_ps;          /* its first iteration begins then */
  FabModelChoice job;          /* FAB_MODEL_WORKLOAD */
} FabNeighbourSpec;

extern const FabParam fab_neighbour_params[];

/* Reports nodes that do not exist or are used twice, and a machine without nodes left for the job. `node` may be
 * NULL, which is reported elsewhere. */
void fab_neighbour_check_all (FabSchemaReader *reader, const FabParamList *neighbours,
                              const FabNodeSpec *node, gint64 n_nodes);

/* Returns the nodes of neighbour `which`, or with G_MAXUINT those without a neighbour; ascending, of `n_nodes`.
 * (transfer full) */
guint *fab_neighbour_nodes (const FabParamList *neighbours, guint which, guint n_nodes, guint *n);
