/* SPDX-License-Identifier: Apache-2.0 */
/* run_reasons.h - why a step takes as long as it does, in a few numbers: of the last iteration, for page and JSON. */
#pragma once

#include "sim/base/json.h"

#include "cli/run.h"

/* Exposed communication of one dimension of parallelism, mean over ranks. */
typedef struct {
  const char *dimension;
  FabTimePs exposed_ps;
  GString *ops; /* "all_gather, reduce_scatter" */
} FabRunShare;

/* FabRunShare of every dimension that communicates, by name as in fab_dimension_names. (transfer full) */
GArray *fab_run_shares (const FabRunResult *result);

/* Time on the critical path that is of one kind; communication by dimension and binding link. */
typedef struct {
  FabSpanKind kind;
  const char *dimension; /* NULL: no communication */
  FabLinkId link;        /* FAB_NO_LINK: none binds */
  FabTimePs time_ps;
} FabRunPathPart;

/* FabRunPathPart, the longest first; they add up to the step. (transfer full) */
GArray *fab_run_path_parts (const FabRunResult *result);

/* "compute", "loading", "data over node0/nic0 -> leaf0 (ib-ndr)". (transfer full) */
char *fab_run_path_part_name (const FabRunResult *result, const FabRunPathPart *part);

/* Duration of the step below which `fraction` of the iterations lie: the nearest rank. 1: the longest. */
FabTimePs fab_run_quantile_ps (const FabRunResult *result, double fraction);

/* How long the whole training takes at the mean pace of the iterations; 0: the job does not say how long it is. */
double fab_run_train_days (const FabRunResult *result);

/* The class of ranks whose memory is fullest. FALSE: the job does not say. */
gboolean fab_run_fullest (const FabRunResult *result, guint *rank_class, FabBytes *bytes);

/* Bytes that a GPU has too few of; 0: it fits, or is not known. */
FabBytes fab_run_missing_bytes (const FabRunResult *result);

/* "13.5", "118": gigabytes (10^9). (transfer full) */
char *fab_run_gb (FabBytes bytes);

/* Members of the JSON. */
void fab_run_add_reasons (FabJson *json, const FabRunResult *result);

/* Lines of the page. */
void fab_run_append_shares (GString *page, const FabRunResult *result);
void fab_run_append_iterations (GString *page, const FabRunResult *result);
void fab_run_append_training (GString *page, const FabRunResult *result);
void fab_run_append_memory (GString *page, const FabRunResult *result);
void fab_run_append_classes (GString *page, const FabRunResult *result);
void fab_run_append_path (GString *page, const FabRunResult *result);
