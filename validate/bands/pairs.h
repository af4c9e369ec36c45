/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h - pairs of published rows that differ in one thing, and how far their measured ratios are from predicted
 * ones.
 *
 * Of collectives, two tables of one machine (one node entry, publication and set of software settings) that differ in
 * the number of nodes, in the GPUs of a node, in the operation, or in the settings; two sizes of one table, one of
 * which is four times the other; and tables of two machines over other links, of the same operation, with the same
 * number of nodes or about as many ranks. Sizes are those of the first table, each with the nearest of the second
 * within a factor of 1.5. Pairs over one family of links are alike, all others are other.
 *
 * Of computation, two runs of one publication that differ in one column of its `same` and `factors`
 * (validate/training/sources.h); and runs of one model on two generations of accelerators, in the same precision and
 * stack, whatever else differs.
 *
 * Pairs that differ in nothing but who measured them are the same. Their differences are those of two measurements.
 */
#pragma once

#include "sim/run/pair.h"
#include "validate/bands/pair_fit.h"
#include "validate/compare/report.h"
#include "validate/training/report.h"

#define FAB_PAIRS_COVERAGE 0.9

/* Of a relation. */
typedef struct {
  GArray *pairs; /* FabPair */
  FabPairFit fit;
  GArray *trials; /* FabPairTrial */
} FabPairList;

typedef struct {
  FabPairList collectives[FAB_N_PAIR_RELATIONS], compute[FAB_N_PAIR_RELATIONS];
  GPtrArray *owned;
} FabPairs;

/* `report`: all tables as they are predicted. `left_out`: each as if its family had not been measured
 * (validate/compare/left_out.h); of these are pairs that are alike, and those of a family that was not measured. All of
 * them outlive it. (transfer full) */
FabPairs *fab_pairs_new (const FabReport *report, const FabReport *left_out,
                         const FabTrainingReport *training, const FabCatalog *catalog);
void fab_pairs_free (FabPairs *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPairs, fab_pairs_free)

/* A pair with room for the differences of so many sizes, of which it has none yet; `self` owns the room. */
typedef struct {
  FabPair pair;
  double *logs, *opposite_low, *opposite_high;
} FabPairMaker;

FabPairMaker fab_pair_maker (FabPairs *self, guint n_sizes);

/* Adds a size: residuals of both, and the bands of both as logarithms of measured over predicted time. */
typedef struct {
  double residual, low, high;
} FabPairSide;

void fab_pair_maker_add (FabPairMaker *self, FabPairSide a, FabPairSide b);

/* Pairs of computation (pairs_compute.c). */
void fab_pairs_add_compute (FabPairs *self, const FabTrainingReport *report);

/* The catalogue file of these ends: models/catalog/pairs.yaml. (transfer full) */
char *fab_pairs_to_yaml (const FabPairs *self);

/* How often they hold. (transfer full) */
char *fab_pairs_to_text (const FabPairs *self);
char *fab_pairs_to_json (const FabPairs *self);
char *fab_pairs_to_csv (const FabPairs *self);
char *fab_pairs_to_markdown (const FabPairs *self);
