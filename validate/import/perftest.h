/* SPDX-License-Identifier: Apache-2.0 */
/* perftest.h - what the text and the JSON of perftest have in common: which test, and a row of it as a point. */
#pragma once

#include "validate/import/readings.h"

typedef struct {
  FabSeries series; /* what is known of the test so far */
  gboolean is_known, is_latency;
  guint tx_depth, n_reads; /* messages under way; 0: not known */
} FabPerftest;

/* One row; words without length are not there. */
typedef struct {
  FabWord size, iterations;
  FabWord bandwidth, message_rate;
  double bytes_per_s; /* one unit of `bandwidth`; 0: what message_rate makes of it */
  FabWord min, max, typical, average;
} FabPerftestRow;

void fab_perftest_clear (FabPerftest *self);

/* "RDMA_Write Bidirectional BW Test", "RDMA_Read_Latency_Test", "ib_send_lat". FALSE for another text; a test that is
 * none of write, read and send is a mistake. */
gboolean fab_perftest_note_test (FabPerftest *self, FabReadings *readings, const FabWord *text);

void fab_perftest_add (FabPerftest *self, FabReadings *readings, const FabPerftestRow *row);
