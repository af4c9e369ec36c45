/* SPDX-License-Identifier: Apache-2.0 */
/* size.h - tries the values of a key until the first one that meets the targets is known. */
#pragma once

#include "sim/study/axis.h"
#include "sim/study/search.h"
#include "sim/study/study.h"
#include "sim/study/target.h"

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
  guint best;           /* the answer, or the value that comes closest */
  gboolean is_unsteady; /* a larger value was tried and misses the targets */
} FabSize;

/* Values that cannot be simulated (a job that cannot be divided this way) miss the targets. NULL and *error when none
 * can be simulated; *error is that of the first. Several values are simulated in parallel; the result does not depend
 * on that. (transfer full) */
FabSize *fab_size_find (const FabStudy *study, const FabSizeSpec *spec, GError **error);
void fab_size_free (FabSize *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSize, fab_size_free)
