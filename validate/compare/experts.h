/* SPDX-License-Identifier: Apache-2.0 */
/* experts.h - measured times of dispatch and combine beside predicted ones (sim/collective/plan/token_exchange.h).
 *
 * Tables are CSV files in a directory with an INDEX.yaml, with one row for each size:
 *
 *   ep,hidden,per_token,experts,groups,groups_per_token,sms,tokens,time_us
 *
 * ep is the number of expert-parallel ranks, tokens those of one rank; groups 0: routing is not limited. The
 * prediction is the time of the plan on an idle machine.
 */
#pragma once

#include "sim/registry.h"
#include "sim/scenario/catalog.h"
#include "validate/compare/measured.h"

typedef struct {
  const char *file; /* in the directory of INDEX.yaml */
  const char *node; /* node entry of the catalogue */
  int op;           /* 0 dispatch, 1 combine */
  int kernels;      /* 0 normal, 1 low_latency, 2 hybrid */
  int precision;    /* FabPrecision's name in the index: bf16 or fp8 */
  const char *interconnect;
  int role; /* FabMeasuredRole */
  const char *note;
} FabExpertsSpec;

typedef struct {
  guint n_ranks, hidden, per_token, n_experts, n_groups, groups_per_token, n_sms, tokens;
  double time_us, predicted_us;
} FabExpertsRow;

typedef struct {
  const FabExpertsSpec *spec;
  GArray *rows; /* FabExpertsRow, at least one */
} FabExpertsTable;

typedef struct _FabExpertsReport FabExpertsReport;

/* Reads all tables of a directory and predicts every row. NULL and *error: a mistake in a file, or a row that cannot be
 * predicted. */
FabExpertsReport *fab_experts_report_new (const char *directory, const FabCatalog *catalog,
                                          const FabRegistry *registry, GError **error);
void fab_experts_report_free (FabExpertsReport *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabExpertsReport, fab_experts_report_free)

const FabExpertsTable *fab_experts_report_table (const FabExpertsReport *self, guint index);

/* Median and largest error of each table and of each role; every row. (transfer full) */
char *fab_experts_report_text (const FabExpertsReport *self);
char *fab_experts_report_csv (const FabExpertsReport *self);
