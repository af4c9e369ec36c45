/* SPDX-License-Identifier: Apache-2.0 */
/* mesh.h - nodes whose GPUs are wired to each other directly, built by hand.
 *
 * Every link between GPUs carries 1 byte per ps (the wires of a pair are one bundle), takes 50 ps, and costs nothing.
 * Every GPU is also on a PCIe switch at a tenth of that, as is one NIC beside it where the node has NICs. The
 * switches of a node meet in its CPU, the NICs of all nodes in one switch, at a tenth of a byte per ps.
 */
#pragma once

#include "models/models.h"
#include "sim/collective/collective.h"
#include "sim/solve/ring_search.h"
#include "tests/support/rig.h"

enum { MESH_MOST = 64 };

typedef struct {
  guint n;
  guint counts[MESH_MOST * MESH_MOST]; /* links from x n + to */
} Wiring;

Wiring wiring_full (guint n, guint count);
Wiring wiring_of_rows (guint n, const char *rows); /* "0112 1021 ...": counts of one digit */
Wiring wiring_torus (guint n_dimensions);          /* 4 x 4, 4 x 4 x 4 */
Wiring wiring_dgx1_v100 (void);
Wiring wiring_dgx1_p100 (void);
Wiring wiring_first (const Wiring *wiring, guint n); /* of the first n GPUs */

/* A rig whose spec is not that of a star: nothing that is named after rings is true of it. */
Rig *mesh_new (const Wiring *wiring, guint n_nodes, gboolean has_nics);

/* Every order has every GPU once, and no link has more orders than `load` for each of its wires. `closes`: the last GPU
 * is followed by the first. The test fails where it is otherwise. */
void mesh_assert_orders (const Wiring *wiring, const FabRingSet *set, gboolean closes);
