/* SPDX-License-Identifier: Apache-2.0 */
/* sizes.h - distributions of the sizes of flows, as papers about data centers use them.
 *
 * A distribution is a list of points: the share of flows that are at most so long. Between two points the share grows
 * in proportion to the size, as in the generator of HPCC's authors (traffic_gen/custom_rand.py).
 */
#pragma once

#include "sim/base/units.h"

typedef struct {
  double bytes;
  double below_fraction; /* of the flows are at most so long */
} FlowSizePoint;

/* Points in ascending order; the first has the fraction 0, the last 1. */
typedef struct {
  const char *name;
  const FlowSizePoint *points; /* [n], n >= 2 */
  guint n;
} FlowSizes;

/* Returns the published distribution of that name: websearch, hadoop or storage; NULL: there is none. */
const FlowSizes *flow_sizes_published (const char *name);

/* Mean size in bytes. O(n). */
double flow_sizes_mean (const FlowSizes *self);

/* Returns the size, at least 1 byte, that the share `fraction` (0 to 1) of all flows does not exceed. O(n). */
FabBytes flow_sizes_quantile (const FlowSizes *self, double fraction);
