/* SPDX-License-Identifier: Apache-2.0 */
/* health.h - which published set-ups did not work as their vendor's own tests expect.
 *
 * What was measured decides, and what its publisher says of it; no prediction does. A set-up is not well at a size if
 *
 *   - its own header says so: of all sizes (`doubtful` of INDEX.yaml), or of small messages (`untuned`). The latter
 *     delay the start of every chunk, so that counts as far as busbw is below half of the largest, or
 *   - it runs rings between nodes, GPUs reach their NICs and have links of their own, so that NICs are what is
 *     slowest, and its largest busbw, at 64 MiB or more, is below half of what the NICs carry that belong to the GPUs
 *     used (then at sizes from 256 KiB on). Where several nodes share the switches of their GPUs, such a domain has the
 *     NICs of all of them, and the links of one GPU may be slower; half of the slower counts, or
 *   - another table of the same node entry, number of nodes, GPUs of a node and operation takes half of its time or
 *     less, in the median over sizes of the class that both have.
 */
#pragma once

#include "validate/check/errors.h"
#include "validate/compare/measured.h"

typedef enum {
  FAB_HEALTH_WELL,
  FAB_HEALTH_SAID,
  FAB_HEALTH_PLATEAU,
  FAB_HEALTH_OTHER,
  FAB_N_HEALTHS,
} FabHealth;

/* Of a row of the table. `tables`: FabMeasuredTable, all that it is compared with; it may be among them. O(sizes^2)
 * with each table of the same machine. */
FabHealth fab_health (const FabMeasuredTable *table, const FabMeasuredRow *row, const GPtrArray *tables,
                      const FabCatalog *catalog);

/* GB/s that the NICs of a node carry in one direction which belong to the GPUs used; 0: the node has none, or its GPUs
 * do not reach them, or GPUs have no links of their own, so that something else may be slower. */
double fab_health_nics_GBps (const FabMeasuredSpec *spec, const FabCatalog *catalog);

/* GB/s of busbw that the slowest links of a ring between nodes or domains carry; 0: not known, as above. */
double fab_health_slowest_GBps (const FabMeasuredSpec *spec, const FabCatalog *catalog);
