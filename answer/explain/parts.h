/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - what the files of this folder share: the scenario as it was played, and where statements go. */
#pragma once

#include "answer/explain/explain.h"

typedef struct {
  const FabStudy *study;
  FabScenario *scenario;
  FabSimulation *simulation; /* played to its end */
  FabPoint *point;
  const FabFigure *figure; /* that is explained; NULL: a collective is */
  FabExplanation *out;
} Explain;

/* Appends a statement; it is the explanation's. */
FabStatement *explain_add (const Explain *self, guint depth, const char *title, const char *name,
                           FabTermKind kind, double value);

const FabProbe *explain_probe (const Explain *self);
guint explain_n_ranks (const Explain *self); /* of all classes */

/* exposed.c: the exposed communication, by dimension, and what it stands between. */
void explain_exposed (const Explain *self, guint depth);
void explain_dimension (const Explain *self, guint depth, const char *dimension, double seconds);

/* collective.c: collectives that are alike, and one of them link by link. */
typedef struct {
  guint first; /* index in the DAG and the probe */
  guint n;
  double total_s;   /* from the last rank's arrival to the last byte */
  double exposed_s; /* of that, mean over ranks */
} AlikeCollectives;

GArray *explain_alike (const Explain *self,
                       const char *dimension); /* of a dimension, the most exposed first, then the longest */
void explain_collective (const Explain *self, guint depth, const AlikeCollectives *alike);

/* compute.c: the compute of a step, and the peak rate of one accelerator in FLOP/s. */
void explain_compute (const Explain *self, guint depth);
double explain_peak (const Explain *self);

/* shortcuts.c: what of the run was not simulated. */
void explain_shortcuts (const Explain *self);

/* choice.c: why this algorithm and protocol: what others would take. */
void explain_choice (const Explain *self, FabStatement *statement, guint collective);
