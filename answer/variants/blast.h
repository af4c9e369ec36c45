/* SPDX-License-Identifier: Apache-2.0 */
/* blast.h - how far a change reaches: of two plays of one job, which collectives take another time, and who waits. */
#pragma once

#include "answer/variants/variant.h"

typedef struct {
  guint n_collectives, n_slower, n_faster; /* slower, faster: by more than 1 % */
  guint n_ranks, n_waiting;                /* waiting: longer than in the mean before, by 0.05 % of a step */
} FabBlast;

/* Collectives are told apart by their order: 0 of 0 where the two have different ones. */
FabBlast fab_blast_of (const FabVariant *before, const FabVariant *after);

/* Collectives of one operation and size, where the algorithm is another one afterwards. */
typedef struct {
  const char *op, *before, *after; /* algorithms; NULL: none */
  FabBytes bytes;
  guint n;
  double before_s, after_s; /* in sum */
} FabSwitch;

/* FabSwitch, those that take longest first. (transfer full) */
GArray *fab_switches_of (const FabVariant *before, const FabVariant *after);
