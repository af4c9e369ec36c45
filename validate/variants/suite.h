/* SPDX-License-Identifier: Apache-2.0 */
/* suite.h - the cases of accept-fidelity.yaml played at every fidelity, and how far these are apart.
 *
 *   difference = step / step of the other fidelity - 1
 */
#pragma once

#include "answer/variants/contrast.h"
#include "sim/config/schema.h"

typedef struct {
  const char *fidelity, *against;
  double limit_fraction; /* 0: none */
} FabFidelityLimit;

typedef struct {
  const char *name, *title;
  FabParamList limits; /* FabFidelityLimit */
} FabFidelityGroup;

typedef struct {
  const char *name, *group;
  const char *why;     /* what makes fidelities differ here; NULL: they should not */
  FabParamList limits; /* FabFidelityLimit */
} FabFidelityCase;

typedef struct _FabFidelityLimits FabFidelityLimits;

FabFidelityLimits *fab_fidelity_limits_load (const char *path, const FabRegistry *registry, GError **error);
void fab_fidelity_limits_free (FabFidelityLimits *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFidelityLimits, fab_fidelity_limits_free)

guint fab_fidelity_limits_n (const FabFidelityLimits *self);
const FabFidelityCase *fab_fidelity_limits_case (const FabFidelityLimits *self, guint index);

/* NULL and *error with the nearest name. */
const FabFidelityCase *fab_fidelity_limits_find (const FabFidelityLimits *self, const char *name,
                                                 GError **error);

guint fab_fidelity_limits_n_groups (const FabFidelityLimits *self);
const FabFidelityGroup *fab_fidelity_limits_group (const FabFidelityLimits *self, guint index);

/* Those of the registry in the order of `fidelities`, then those that it does not name. (transfer container) */
const char **fab_fidelity_limits_known (const FabFidelityLimits *self, const FabRegistry *registry);

typedef struct {
  const FabFidelityLimit *limit;
  double difference_fraction;
} FabFidelityGap;

typedef struct {
  const FabFidelityCase *which;
  char *title;           /* the scenario's summary */
  FabContrast *contrast; /* a variant for each fidelity, in their order */
  GArray *limits;        /* FabFidelityLimit */
  GArray *gaps;          /* FabFidelityGap: those of which both fidelities were played */
} FabFidelityResult;

typedef struct {
  const FabFidelityLimits *limits;
  GPtrArray *fidelities; /* char * */
  GPtrArray *results;    /* FabFidelityResult */
} FabFidelityReport;

typedef struct {
  const FabFidelityLimits *limits;
  const char *folder; /* of the scenarios */
  const FabCatalog *catalog;
  const FabRegistry *registry;
  const char *const *fidelities; /* NULL-ended, all known */
  guint n_threads;               /* that play at once; 0: as many as there are processors */
} FabFidelitySuite;

/* Plays those cases (FabFidelityCase). NULL and *error when one cannot be played. */
FabFidelityReport *fab_fidelity_report_new (const FabFidelitySuite *suite, const GPtrArray *cases,
                                            GError **error);
void fab_fidelity_report_free (FabFidelityReport *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFidelityReport, fab_fidelity_report_free)

gboolean fab_fidelity_gap_is_met (const FabFidelityGap *gap);

/* One line per limit that is not met, NULL-ended; empty when all is well. (transfer full) */
char **fab_fidelity_report_exceeded (const FabFidelityReport *self);

/* Each returns a new text that ends its last line. */
char *fab_fidelity_to_text (const FabFidelityReport *report);
char *fab_fidelity_to_markdown (const FabFidelityReport *report); /* docs/reference/validation-fidelity.md */
char *fab_fidelity_to_csv (const FabFidelityReport *report);      /* a row per case and fidelity */
char *fab_fidelity_to_json (const FabFidelityReport *report);
