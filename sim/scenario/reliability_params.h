/* SPDX-License-Identifier: Apache-2.0 */
/* reliability_params.h - the keys of failures: sets of rates, and what a scenario says of detection, restart and
 * spares.
 *
 * A set has one class for each cause. A rate is in failures of one part in a year, so that it can be carried over to
 * another machine by counting its parts.
 */
#pragma once

#include "sim/config/schema.h"

/* Of which parts a class has one rate each. */
typedef enum {
  FAB_FAILURE_PER_GPU,
  FAB_FAILURE_PER_NODE,
  FAB_FAILURE_PER_NIC,    /* those of the fabric */
  FAB_FAILURE_PER_LINK,   /* cables of the fabric */
  FAB_FAILURE_PER_SWITCH, /* of the fabric */
  FAB_FAILURE_PER_JOB,
  FAB_N_FAILURE_PARTS,
} FabFailurePart;

extern const char *const fab_failure_part_names[]; /* "gpu", "node", ...; NULL-ended */

typedef struct {
  const char *name;
  int per; /* FabFailurePart */
  double per_year;
  int effect;           /* FabFailureEffect: sim/reliability/goodput.h */
  gboolean takes_node;  /* a node leaves for repair */
  double rate_fraction; /* of a NIC that is slow: share of its line rate that is left */
  const char *note;     /* what the rate rests on; NULL: what the set does */
} FabFailureClassSpec;

typedef struct {
  const char *name, *summary;
  FabParamList classes; /* FabFailureClassSpec */
  const char *source, *date;
} FabFailureSetSpec;

typedef struct {
  const char *failures; /* entry of `failures`; NULL: nothing fails */
  double rates_factor;  /* all rates are multiplied by it */
  FabTimePs detection_ps, slow_detection_ps, restart_ps;
  FabTimePs repair_ps; /* 0: another node is always there */
  gint64 spares;
} FabReliabilitySpec;

extern const FabParam fab_failure_set_params[];
extern const FabParam fab_reliability_params[];

/* Reports what no table can express. */
void fab_failure_set_check (FabSchemaReader *reader, const FabFailureSetSpec *set);
void fab_reliability_check (FabSchemaReader *reader, const FabReliabilitySpec *self);
