/* SPDX-License-Identifier: Apache-2.0 */
/* maxflow.h - the maximum flow between two points of a network with capacities. It takes arrays and returns a number,
 * and knows no graph of the simulator.
 *
 * Dinic's algorithm (Soviet Math. Doklady 11, 1970): breadth-first levels, then blocking flows along them. A
 * FabMaxflow owns its memory; one thread may use it.
 */
#pragma once

#include <glib.h>

typedef struct _FabMaxflow FabMaxflow;

FabMaxflow *fab_maxflow_new (guint n_points);
void fab_maxflow_free (FabMaxflow *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMaxflow, fab_maxflow_free)

/* Adds an edge in one direction. Several edges between two points add up. */
void fab_maxflow_add (FabMaxflow *self, guint from, guint to, double capacity);

/* Returns the flow from `source` to `sink`. It uses up the capacities, so call it once. */
double fab_maxflow_solve (FabMaxflow *self, guint source, guint sink);
