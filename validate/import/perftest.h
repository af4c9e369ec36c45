/* SPDX-License-Identifier: Apache-2.0 */
/* perftest.h - turns a test of perftest and its rows into points; the readers of its text and JSON share it. */
#pragma once

#include "validate/import/readings.h"

typedef struct {
  FabSeries series; /* what is known of the test so far */
  gboolean is_known, is_latency;
  guint tx_depth, n_reads; /* messages in flight; 0: unknown */
} FabPerftest;

/* One row. A word of length 0 is missing. */
typedef struct {
  FabWord size, iterations;
  FabWord bandwidth, message_rate;
  double bytes_per_s; /* unit of `bandwidth` in bytes per second; 0: found from message_rate */
  FabWord min, max, typical, average;
} FabPerftestRow;

void fab_perftest_clear (FabPerftest *self);

/* Reads which test it is: "RDMA_Write Bidirectional BW Test", "RDMA_Read_Latency_Test", "ib_send_lat". Returns FALSE
 * for other texts. A test other than write, read and send is a mistake. */
gboolean fab_perftest_note_test (FabPerftest *self, FabReadings *readings, const FabWord *text);

void fab_perftest_add (FabPerftest *self, FabReadings *readings, const FabPerftestRow *row);
