/* SPDX-License-Identifier: Apache-2.0 */
/* size.h - what of a key is enough: its values are tried until the first one is known that meets a target. */
#pragma once

#include "sim/study/axis.h"
#include "sim/study/search.h"
#include "sim/study/study.h"
#include "sim/study/target.h"

typedef struct {
  const FabAxis *axis;      /* from the least wanted value to the most */
  const FabTarget *targets; /* [n_targets], all to be met */
  guint n_targets;
} FabSizeSpec;

/* One value. */
typedef struct {
  const char *value;   /* the axis's */
  const char *sets[2]; /* "KEY=VALUE" */
  FabTry trial;
} FabSizePoint;

typedef struct {
  FabSizePoint *points; /* [n], per value of the axis */
  guint n, n_tried;
  gint64 answer;        /* the first that meets the target; -1: none of those tried does */
  gint64 before;        /* the largest below it that was tried and does not; -1: there is none */
  guint best;           /* the answer, or what comes closest */
  gboolean is_unsteady; /* a larger value was tried that does not meet it */
} FabSize;

/* Values that cannot be played (a job that cannot be divided so) do not meet the target. NULL and *error where none can
 * be played: the first one's problem. Several are played at once, results do not depend on it. */
FabSize *fab_size_find (const FabStudy *study, const FabSizeSpec *spec, GError **error);
void fab_size_free (FabSize *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSize, fab_size_free)
