/* SPDX-License-Identifier: Apache-2.0 */
/* probe.h - what the executor has recorded of the iteration that just ended, in memory.
 *
 * Overwritten by the next iteration, so that a run of 100 iterations needs no more
 * memory than one of 2: whoever wants to keep the rows writes them in between.
 */
#pragma once

#include "sim/result/record.h"

typedef struct {
  GArray *iterations;  /* FabIterationRecord, one per rank class */
  GArray *spans;       /* FabSpanRecord */
  GArray *collectives; /* FabCollectiveRecord */
  GArray *link_loads;  /* FabLinkLoadRecord */
  GArray *exposures;   /* FabExposureRecord, by class, dimension, operation */
  GArray *path;        /* FabPathRecord, in order of time */
  GArray *samples;     /* FabLinkSampleRecord, by link, then by time */
  FabStepRecord step;
} FabProbe;

void fab_probe_init (FabProbe *self);
void fab_probe_clear (FabProbe *self);
void fab_probe_empty (FabProbe *self);
