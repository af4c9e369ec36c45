/* SPDX-License-Identifier: Apache-2.0 */
/* pair.h - how far the predicted ratio of two times may be off, by what the two have in common.
 *
 *   measured ratio = predicted ratio x factor,   low_factor <= factor <= high_factor in a share of all cases
 *
 * Two predictions of one model share most of its errors. So their ratio is more certain than each of them, and the more
 * so the more they have in common. The ends are those of measured pairs (entries `pairs` of the catalogue). Where both
 * times at opposite ends of their own bands make a narrower band, that one holds as often.
 */
#pragma once

#include "sim/run/plan_kind.h"

typedef enum {
  /* The very same collective: family, operation, size, ranks, algorithm, protocol and channels. Of compute: the same
   * entry of `setups`, model, batch and parallelism. All errors cancel. */
  FAB_PAIR_SAME,
  /* The same family of links, but another number of nodes or ranks, algorithm, protocol, operation of the kind, or
   * size. Of compute: the same accelerator, precision and stack, but another model, batch or parallelism, or another
   * number of nodes. */
  FAB_PAIR_ALIKE,
  /* Another family of links, both of which were measured. Of compute: another accelerator. */
  FAB_PAIR_OTHER,
  /* Another family of links, one of which has no measured tables. Of compute the same as OTHER. */
  FAB_PAIR_UNMEASURED,
  FAB_N_PAIR_RELATIONS,
} FabPairRelation;

/* "same", "alike", "other", "unmeasured"; NULL-ended */
extern const char *const fab_pair_relation_names[FAB_N_PAIR_RELATIONS + 1];

typedef struct {
  double low_factor, high_factor;      /* low <= 1 <= high; 1 and 1 of SAME */
  double coverage_fraction;            /* of all cases are between; of SAME 1; 0: nothing is known */
  guint n_pairs, n_tables, n_families; /* measured, that it rests on; of compute pairs, runs and sources */
  const char *entry;                   /* of the catalogue's `pairs`; NULL: none was used */
} FabPairEnds;

/* Of two collectives at this place. Of two sizes, the smaller counts, because its ends are wider. */
FabPairEnds fab_pair_of_collectives (const FabCatalog *catalog, FabPlanPlace place, FabBytes bytes,
                                     FabPairRelation relation);

/* Of the time that two jobs compute. */
FabPairEnds fab_pair_of_compute (const FabCatalog *catalog, FabPairRelation relation);
