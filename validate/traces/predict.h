/* SPDX-License-Identifier: Apache-2.0 */
/* predict.h - the collectives of a measured run, each beside what a scenario's machine takes for it alone.
 *
 * A collective was measured from the arrival of its last traced rank to its end on the last one. Where ranks have no
 * trace, they may have arrived later, so that the shortest of equal collectives says most.
 */
#pragma once

#include "answer/predict.h"
#include "validate/traces/account.h"

/* Where the ranks of a group are. A group whose ranks the trace does not list counts as packed. */
typedef enum {
  FAB_TRACE_ALL,    /* all of the machine */
  FAB_TRACE_PACKED, /* neighbours: they fill nodes */
  FAB_TRACE_ACROSS, /* one in each node, with its share of the NICs */
  FAB_N_TRACE_PLACES,
} FabTraceGroupPlace;

extern const char
    *const fab_trace_place_names[FAB_N_TRACE_PLACES + 1]; /* "all", "packed", "across"; NULL-ended */

/* Collectives of one operation, group and size. Times are us. */
typedef struct {
  FabOp op;
  FabBytes bytes;
  guint n_ranks, n_times;
  FabTraceGroupPlace place;
  double shortest_us, median_us;
  double predicted_us;
  double low_us, high_us; /* of the prediction; 0, 0: it has no band */
} FabTracePrediction;

/* Rows by operation, group and size. Collectives without a size, and those of groups that do not fit into the
 * scenario's machine, are counted in *n_left_out. NULL and *error when none is left, or the scenario cannot be
 * played. */
GArray *fab_trace_predict (const FabTraceAccount *account, const FabScenario *machine,
                           const FabCatalog *catalog, const FabRegistry *registry, guint *n_left_out,
                           GError **error);

/* What the scenario's machine would choose for a collective that a log of NCCL names. FALSE without *error: the log
 * does not say the operation, or it has no size. */
gboolean fab_trace_choose (const FabTraceChoice *choice, const FabScenario *machine,
                           const FabCatalog *catalog, const FabRegistry *registry, FabPrediction *chosen,
                           GError **error);

/* The same rows without predictions; groups count as packed. */
GArray *fab_trace_list (const FabTraceAccount *account, guint *n_left_out);

/* The measured time that a prediction is held against. */
double fab_trace_prediction_measured_us (const FabTracePrediction *self, gboolean is_whole);
