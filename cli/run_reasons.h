/* SPDX-License-Identifier: Apache-2.0 */
/* run_reasons.h - explains in a few numbers why the last iteration takes as long as it does, for page and JSON. */
#pragma once

#include "sim/base/json.h"

#include "cli/run.h"

/* The exposed communication of one dimension of parallelism, the mean over ranks. */
typedef struct {
  const char *dimension;
  FabTimePs exposed_ps;
  GString *ops; /* "all_gather, reduce_scatter" */
} FabRunShare;

/* Returns FabRunShare of every dimension that communicates, named as in fab_dimension_names. (transfer full) */
GArray *fab_run_shares (const FabRunResult *result);

/* Time on the critical path of one kind; communication is split by dimension and binding link. */
typedef struct {
  FabSpanKind kind;
  const char *dimension; /* NULL: it is not communication */
  FabLinkId link;        /* FAB_NO_LINK: none binds */
  FabTimePs time_ps;
} FabRunPathPart;

/* Returns FabRunPathPart, the longest first; they add up to the step. (transfer full) */
GArray *fab_run_path_parts (const FabRunResult *result);

/* Returns "compute", "loading", "data over node0/nic0 -> leaf0 (ib-ndr)". (transfer full) */
char *fab_run_path_part_name (const FabRunResult *result, const FabRunPathPart *part);

/* Returns the step's duration that `fraction` of the iterations do not exceed (nearest rank); 1: the longest. */
FabTimePs fab_run_quantile_ps (const FabRunResult *result, double fraction);

/* Returns the duration of the whole training at the mean pace of the iterations; 0: the job does not state its
 * length. */
double fab_run_train_days (const FabRunResult *result);

/* Finds the class of ranks whose memory is fullest. FALSE: the job does not say. */
gboolean fab_run_fullest (const FabRunResult *result, guint *rank_class, FabBytes *bytes);

/* Returns the bytes that a GPU has too few of; 0: the job fits, or it is unknown. */
FabBytes fab_run_missing_bytes (const FabRunResult *result);

/* Formats gigabytes (10^9 bytes) as "13.5" or "118". (transfer full) */
char *fab_run_gb (FabBytes bytes);

/* Adds the members of the JSON. */
void fab_run_add_reasons (FabJson *json, const FabRunResult *result);

/* Append lines to the page. */
void fab_run_append_shares (GString *page, const FabRunResult *result);
void fab_run_append_iterations (GString *page, const FabRunResult *result);
void fab_run_append_training (GString *page, const FabRunResult *result);
void fab_run_append_memory (GString *page, const FabRunResult *result);
void fab_run_append_classes (GString *page, const FabRunResult *result);
void fab_run_append_path (GString *page, const FabRunResult *result);
