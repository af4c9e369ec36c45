/* SPDX-License-Identifier: Apache-2.0 */
/* size.h - tries the values of a key until the first one that meets the targets is known. */
#pragma once

#include <glib.h>

#include "sim/run/band.h"
#include "sim/study/axis.h"
#include "sim/study/study.h"
#include "sim/study/target.h"

typedef struct {
  gboolean is_met;
  double gap;        /* distance from the target; of values that miss it, the smallest gap is the best */
  double middle_gap; /* that of the seed in the middle, which says what is best of equal gaps */
  gboolean is_luck;  /* some seeds meet the target, and others miss it */
} FabTrial;

/* Tries `n` values, given by their index, in ascending order; it may try them in parallel. FALSE and *error: one
 * cannot be tried. */
typedef gboolean (*FabTrialFn) (gpointer data, const guint *items, guint n, FabTrial *trials, GError **error);

typedef struct {
  guint first; /* the first that meets the target, unless that was luck; n: none of those tried does */
  guint best;  /* of those tried: `first`, or the value with the smallest gap */
  guint n_trials;
  gboolean is_unsteady; /* a larger value misses the target */
} FabSizeSearch;

enum { FAB_SIZE_SEARCH_GRID = 9, FAB_SIZE_SEARCH_AT_ONCE = 4 };

/* Searches n > 0 values. A value that all seeds meet, before one that only some of them meet, before one that all of
 * them meet, was lucky, and is not the first: other seeds would find another.
 *
 * Up to 2 x FAB_SIZE_SEARCH_GRID values are all tried. Otherwise it tries that + O(log n), and when no grid point meets
 * the target, two more rounds around the best point. */
gboolean fab_size_search_first (guint n, FabTrialFn trial, gpointer data, FabSizeSearch *result,
                                GError **error);

typedef struct {
  const FabAxis *axis;      /* from the least wanted value to the most wanted one */
  const FabTarget *targets; /* [n_targets], all of which must be met */
  guint n_targets;
} FabSizeSpec;

/* One value of the axis. */
typedef struct {
  const char *value; /* owned by the axis */
  FabEdits *edits;   /* "KEY=VALUE" */
  FabTry trial;
} FabSizePoint;

typedef struct {
  FabSizePoint *points; /* [n], one per value of the axis */
  guint n, n_tried;
  gint64 answer;        /* the first that meets the targets; -1: none of those tried does */
  gint64 before;        /* the largest tried value below it that misses them; -1: there is none */
  gint64 luck_from;     /* the first tried value that some seeds meet and others miss; -1: there is none */
  gint64 luck_to;       /* the last one */
  guint best;           /* the answer, or the value that comes closest */
  guint n_impossible;   /* values above the answer that were tried and cannot be simulated */
  gboolean is_unsteady; /* a value above the answer was simulated and misses the targets */
  const FabFigure
      *unmoved; /* of a target that is missed by the same figure with all values; NULL: there is none */
} FabSize;

/* Values that cannot be simulated (a job that cannot be divided this way) miss the targets. NULL and *error when none
 * can be simulated; *error is that of the first. Several values are simulated in parallel; the result does not depend
 * on that. (transfer full) */
FabSize *fab_size_find (const FabStudy *study, const FabSizeSpec *spec, GError **error);
/* The verdict of the answer, or of the value that comes closest and why it is not enough. (transfer full) */
FabVerdict *fab_size_verdict (const FabSize *self);
void fab_size_free (FabSize *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSize, fab_size_free)

/* NIC ports of the catalogue that can replace a plain rate, each simulated with its own headers, loss and
 * latency. */
typedef struct {
  const FabLinkSpec *link;
  const FabTechnology *technology;
  gboolean is_met;
  FabEdits *edits; /* that use this port */
  FabTry trial;
} FabPort;

/* Returns FabPort: for each technology the slowest ports that are at least as fast as `rate`, up to two, ending with
 * the first with which all targets are met. The machine's own technology comes first, then those of any machine.
 * (transfer full) */
GPtrArray *fab_ports_near (const FabStudy *study, const char *rate, const FabTarget *targets, guint n_targets,
                           GError **error);

/* The uncertainty of the figures of a study, and the range of its answer that follows. */
typedef struct {
  FabBand
      /* Of the targets' figures at the answer, in their order; NULL: no link has an uncertainty. */
      *band;
  gint64
      /* The first tried value that meets the targets if the figures are better than predicted, by the same
 * fraction as
       * the band at the answer. */
      answer_low;
  gint64 answer_high; /* as answer_low, if the figures are worse; -1: no value meets the targets */
} FabUncertainty;

/* FALSE and *error. When no value meets the targets, the band is that of the closest value. */
gboolean fab_size_uncertainty (const FabStudy *study, const FabSizeSpec *spec, const FabSize *size,
                               FabUncertainty *uncertainty, GError **error);
void fab_uncertainty_clear (FabUncertainty *self);
