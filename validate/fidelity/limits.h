/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - accept-fidelity.yaml: which cases there are, of what group, and how far fidelities may be apart in each.
 *
 *   fidelities: analytic fluid step packet
 *   groups:
 *     - {group: idle, title: ..., limits: [{fidelity: step, against: fluid, limit: 2%}]}
 *   cases:
 *     - {case: incast-8, group: queues, why: ..., limits: [{fidelity: fluid, against: analytic, limit: 86%}]}
 *
 * A limit is on |step / step of `against` - 1|. Those of a case win over those of its group; one of 0 is none: the
 * difference is shown. Limits may name a fidelity that a program does not have, if it is one of `fidelities`: they
 * wait for it.
 */
#pragma once

#include "sim/scenario/schema.h"

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

/* All limits of a case, its own and those of its group that it does not replace: FabFidelityLimit. (transfer full) */
GArray *fab_fidelity_limits_of (const FabFidelityLimits *self, const FabFidelityCase *which);
