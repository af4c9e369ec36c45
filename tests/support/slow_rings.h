/* SPDX-License-Identifier: Apache-2.0 */
/* slow_rings.h - how many rings and paths there are in a small wiring: by trying all sets of all orders.
 *
 * Every order may be in a set as often as its links allow, and every link may be used `load` times for each wire.
 */
#pragma once

#include "tests/support/mesh.h"

enum { SLOW_RINGS_MOST = 6 }; /* vertices */

guint slow_rings_most (const Wiring *wiring, guint load);

/* Whether there are `copies` paths over all vertices between each pair of ends, all of them together. */
gboolean slow_rings_has_paths (const Wiring *wiring, guint load, const FabPackArc *ends, guint n_paths,
                               guint copies);
