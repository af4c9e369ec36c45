/* SPDX-License-Identifier: Apache-2.0 */
/* fidelities.h - one scenario at several fidelities of the network, side by side. */
#pragma once

#include "answer/variants/contrast.h"
#include "sim/base/pulse.h"

typedef struct {
  const FabRegistry *registry;
  const char *const
      *names;          /* NULL-ended, all known; NULL: those that cost no more than two runs (analytic, where
                             * nothing contends, and the scenario's own), and `against` */
  const char *against; /* the one that others are held against; NULL: the first */
  guint n_threads;     /* that play at once; 0: as many as there are processors */
  FabPulse *pulse;     /* counts the plays; NULL: nobody looks */
} FabFidelitiesRequest;

typedef struct {
  FabContrast *contrast; /* its base is the first where `against` was left out */
  char **left_out; /* "packet cannot simulate it: ...", NULL-ended: only where nobody named the fidelities */
} FabFidelitiesAnswer;

/* The verdict on the base says what would make the job fit. NULL and *error when one that was named, or the scenario's
 * own, cannot be played. (transfer full) */
FabFidelitiesAnswer *fab_fidelities_answer (const FabScenario *scenario, const FabFidelitiesRequest *request,
                                            GError **error);
void fab_fidelities_answer_free (FabFidelitiesAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFidelitiesAnswer, fab_fidelities_answer_free)
