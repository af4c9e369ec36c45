/* SPDX-License-Identifier: Apache-2.0 */
/* maxflow.h - how much gets from one point of a network of pipes to another: arrays in, a number out.
 *
 * Dinic's algorithm (Soviet Math. Doklady 11, 1970): breadth-first levels, then blocking flows along them. Knows no
 * graph of the simulator.
 */
#pragma once

#include <glib.h>

typedef struct _FabMaxflow FabMaxflow;

FabMaxflow *fab_maxflow_new (guint n_points);
void fab_maxflow_free (FabMaxflow *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMaxflow, fab_maxflow_free)

/* A pipe of one direction; several between two points add up. */
void fab_maxflow_add (FabMaxflow *self, guint from, guint to, double capacity);

/* Consumes the capacities: call it once. */
double fab_maxflow_solve (FabMaxflow *self, guint source, guint sink);
