/* SPDX-License-Identifier: Apache-2.0 */
/* path.h - a sequence of links from one vertex to another. */
#pragma once

#include "sim/fabric/graph.h"

enum { FAB_PATH_MAX_LINKS = 64 };

typedef struct {
  guint n;
  FabLinkId links[FAB_PATH_MAX_LINKS];
} FabPath;

FabTimePs fab_path_latency_ps (const FabGraph *graph, const FabPath *path);

/* Returns the payload rate of the slowest link when nothing else uses the path. */
double fab_path_rate_bytes_per_s (const FabGraph *graph, const FabPath *path, FabDrive drive);
