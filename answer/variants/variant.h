/* SPDX-License-Identifier: Apache-2.0 */
/* variant.h - one column of a comparison: a scenario played to its end, and the times of its last iteration.
 *
 *   step = compute + exposed + idle           mean over ranks
 *   exposed = sum over dimensions
 *   of each sort of collectives (dimension, operation, algorithm), summed over them:
 *     time        end - start
 *     contention  end - start - time on an idle network; below 0: faster than the plan
 *     waiting     start - arrival of the first rank
 */
#pragma once

#include "sim/run/simulation.h"
#include "sim/verdict/verdict.h"

typedef enum {
  FAB_FACT_STEP,
  FAB_FACT_COMPUTE,
  FAB_FACT_COMM,
  FAB_FACT_OVERLAPPED,
  FAB_FACT_EXPOSED,
  FAB_FACT_EXPOSED_BY, /* of a dimension */
  FAB_FACT_IDLE,
  FAB_FACT_COLLECTIVES, /* of a sort, and the two below */
  FAB_FACT_CONTENTION,
  FAB_FACT_WAITING,
  FAB_FACT_LINK, /* time in which a link is busy */
  FAB_N_FACTS,
} FabFactKind;

extern const char *const fab_fact_names[FAB_N_FACTS + 1]; /* "step", ..., "exposed_by"; NULL-ended */

typedef struct {
  FabFactKind kind;
  char *name;    /* "data all_reduce ring", "node0/nic0 -> leaf0"; "" where there is one of the kind */
  guint n;       /* collectives behind it; 0: it is not of collectives */
  double time_s; /* CONTENTION may be below 0 */
} FabFact;

/* Ranks that do the same. */
typedef struct {
  guint n_ranks;
  double waited_s; /* exposed and idle */
} FabVariantClass;

typedef struct {
  const char *op, *algorithm; /* static; no algorithm: NULL */
  FabBytes bytes;
  double time_s;
} FabVariantCollective;

typedef struct {
  char *name, *scenario, *fidelity; /* of the column, of what was played */
  GArray *facts;                    /* FabFact, by kind */
  GArray *classes;                  /* FabVariantClass */
  GArray *collectives;              /* FabVariantCollective, in their order */
  double slowed_s;                  /* of compute, what kernels took longer beside collectives */
  double tokens;                    /* that a step trains; 0: none, or not known */
  FabVerdict *verdict;              /* NULL: not computed */
  guint64 n_events;
  double wall_s;
} FabVariant;

/* NULL and *error when it cannot be built, or hangs. Its name is that of the fidelity. */
FabVariant *fab_variant_play (const FabScenario *scenario, const FabRegistry *registry, GError **error);
/* The same of a simulation of the scenario that was played to its end, without verdict and time. (transfer full) */
FabVariant *fab_variant_of (const FabScenario *scenario, const FabSimulation *simulation);
void fab_variant_free (FabVariant *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabVariant, fab_variant_free)

/* Of a fact that there is once; 0: there is none. */
double fab_variant_time_s (const FabVariant *self, FabFactKind kind);

/* Of all facts of the kind. */
double fab_variant_sum_s (const FabVariant *self, FabFactKind kind);
