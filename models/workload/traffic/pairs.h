/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h - who sends to whom. */
#pragma once

#include "sim/base/param.h"

typedef enum {
  TRAFFIC_PERMUTATION,
  TRAFFIC_SHIFT,
  TRAFFIC_INCAST,
  TRAFFIC_ALL_PAIRS,
  TRAFFIC_RANDOM,
  TRAFFIC_PAIRS,
} TrafficPattern;

typedef struct {
  gint64 from, to;
  FabBytes bytes; /* 0: the job's */
} TrafficPairParams;

typedef struct {
  gint pattern;
  FabBytes bytes;
  gint64 count, connections, senders, target, distance, flows;
  FabParamList pairs; /* TrafficPairParams */
} TrafficParams;

typedef struct {
  guint from, to;
  FabBytes bytes;
} TrafficPair;

typedef struct {
  const TrafficParams *params; /* checked */
  guint n_ranks, gpus_per_node;
  guint64 seed;
  GArray *pairs; /* TrafficPair */
} TrafficDraw;

/* Appends the pairs, the same for the same seed. O(pairs). */
void traffic_draw (TrafficDraw *draw);
