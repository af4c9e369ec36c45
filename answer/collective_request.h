/* SPDX-License-Identifier: Apache-2.0 */
/* collective_request.h - a prediction that is asked for as nccl-tests would measure it: GPUs by threads, a range of
 * sizes, variables of NCCL, the sizes of a measured table.
 *
 * The request is typed. It is checked once, with all mistakes at once, and becomes the FabPredictionRequest with which
 * every prediction is asked for (predict.h). Messages name the options of nccl-tests.
 */
#pragma once

#include "answer/predict.h"
#include "formats/measurement/nccl_names.h"
#include "formats/measurement/nccl_tests.h"

/* From the first size to the last, by steps or by a factor. */
typedef struct {
  FabBytes first_bytes, last_bytes;
  FabBytes step_bytes; /* 0: by the factor */
  double factor;       /* above 1 */
} FabSizeRange;

/* 0 and NULL: not given. */
typedef struct {
  const FabScenario *base; /* whose job alone is replaced; NULL: the machine is made of `node` */
  const char *node;        /* node entry of the catalogue; needed, also with a base */
  gint64 nodes;            /* 0: as many as were measured, or 1 */
  gint64 gpus_per_node;    /* 0: gpus_per_thread x threads, or as many as were measured, or all */
  gint64 gpus_per_thread;  /* nccl-tests -g; 0: of one node, all that one process can drive; else 1 */
  gint64 threads;          /* nccl-tests -t */
  const char *nic;         /* link entry of the NIC ports */
  const char *fabric;      /* model of the fabric between them */
  const char *library, *algorithm, *protocol; /* as a scenario names them */
  const FabValue *include;                    /* list of files with more entries */
  const FabEdits *environment;                /* what variables of NCCL set (nccl_env.h) */
  const FabEdits *sets;                       /* assignments, which come last */
  FabOp op;
  const FabNcclType *type; /* needed; sizes are whole elements */
  FabSizeRange range;      /* unless `measured` */
  const FabNcclTests *measured;
  const char *measured_name; /* for messages */
  FabForm form;
  gboolean has_band; /* say how far each time may be off */
} FabCollectiveRequest;

/* What nccl-tests would run. */
typedef struct {
  gint64 nodes, gpus_per_node, gpus_per_process;
  guint n_ranks;
  FabBytes first_bytes, last_bytes;
  GArray *sizes;     /* FabBytes: those that nccl-tests runs */
  GArray *counts;    /* guint64: elements of each size, as it prints them */
  guint n_too_small; /* sizes with less than one element per rank; nccl-tests runs them empty */
  FabPredictionRequest prediction;
  FabEdits *edits; /* of the prediction */
} FabCollectiveCase;

/* Checks the request, which must outlive the case, and adds every mistake to `problems`. NULL: there are some, in the
 * request or from before. (transfer full) */
FabCollectiveCase *fab_collective_case_new (const FabCollectiveRequest *request, const FabCatalog *catalog,
                                            FabDiagnostics *problems);
void fab_collective_case_free (FabCollectiveCase *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabCollectiveCase, fab_collective_case_free)
