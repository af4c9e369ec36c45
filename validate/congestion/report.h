/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - scenes of congestion that the simulator of HPCC's authors has played, played here with the same flows.
 *
 *   slow-down   completion time of a flow over the authors' time of the same flow on an idle network
 *   difference  quantile of the slow-downs here / quantile there - 1
 *
 * The authors' simulator is ns-3 of github.com/alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a9; how its
 * times were recorded is in the head of the page. A completion time ends when the sender has the last acknowledgement.
 */
#pragma once

#include "sim/config/schema.h"
#include "sim/scenario/catalog.h"

/* A limit of one row that is not that of all. */
typedef struct {
  const char *control, *sizes;
  double median_fraction, p99_fraction; /* 0: that of all */
  const char *why;
} FabCongestionLimit;

typedef struct {
  const char *name, *machine, *title;
  FabParamList limits; /* FabCongestionLimit */
} FabCongestionScene;

typedef struct _FabCongestionScenes FabCongestionScenes;

FabCongestionScenes *fab_congestion_scenes_load (const char *path, const FabRegistry *registry,
                                                 GError **error);
void fab_congestion_scenes_free (FabCongestionScenes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabCongestionScenes, fab_congestion_scenes_free)

guint fab_congestion_scenes_n (const FabCongestionScenes *self);
const FabCongestionScene *fab_congestion_scenes_get (const FabCongestionScenes *self, guint index);
/* NULL and *error with the nearest name. */
const FabCongestionScene *fab_congestion_scenes_find (const FabCongestionScenes *self, const char *name,
                                                      GError **error);

/* A quantile there and here. */
typedef struct {
  double theirs, ours;
  double limit_fraction; /* 0: it is not judged */
} FabCongestionPair;

/* The flows of one scene with sizes of one class, under one congestion control. */
typedef struct {
  const FabCongestionScene *scene;
  const char *control, *sizes; /* static: "dcqcn"; "all", "to 10 kB" */
  guint n_flows;
  FabCongestionPair median, p99; /* of slow-downs */
  const char *why;               /* of a limit of its own; NULL: it has none */
} FabCongestionRow;

typedef struct {
  const FabCongestionScenes *scenes;
  const char *folder; /* with machines/ and scenes/ */
  const FabCatalog *catalog;
  const FabRegistry *registry;
  guint n_threads;
} FabCongestionSuite;

/* Plays `chosen` (FabCongestionScene). NULL and *error: a file is wrong, or a scene cannot be played. (transfer full):
 * FabCongestionRow, in the order of the scenes. */
GArray *fab_congestion_compare (const FabCongestionSuite *suite, const GPtrArray *chosen, GError **error);

gboolean fab_congestion_pair_is_met (const FabCongestionPair *pair);
double fab_congestion_pair_difference (const FabCongestionPair *pair);

/* A line for each pair over its limit, NULL-ended. (transfer full) */
char **fab_congestion_exceeded (const GArray *rows);

char *fab_congestion_to_text (const GArray *rows);
char *fab_congestion_to_markdown (const GArray *rows);
char *fab_congestion_to_csv (const GArray *rows);
char *fab_congestion_to_json (const GArray *rows);
