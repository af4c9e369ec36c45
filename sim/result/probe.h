/* SPDX-License-Identifier: Apache-2.0 */
/* probe.h - the records of the iteration that just ended, in memory.
 *
 * The next iteration overwrites them, so that a run of 100 iterations needs no more memory than one of 2. A caller
 * that keeps rows writes them in between. A probe owns its arrays; one thread at a time may use it.
 */
#pragma once

#include "sim/result/record.h"

typedef struct {
  GArray *iterations;  /* FabIterationRecord, one per rank class */
  GArray *spans;       /* FabSpanRecord */
  GArray *collectives; /* FabCollectiveRecord */
  GArray *link_loads;  /* FabLinkLoadRecord */
  GArray *exposures;   /* FabExposureRecord, by class, dimension and operation */
  GArray *path;        /* FabPathRecord, in the order of time */
  GArray *samples;     /* FabLinkSampleRecord, by link, then by time */
  FabStepRecord step;
} FabProbe;

void fab_probe_init (FabProbe *self);
void fab_probe_clear (FabProbe *self);
void fab_probe_empty (FabProbe *self);
