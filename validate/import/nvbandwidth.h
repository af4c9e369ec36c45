/* SPDX-License-Identifier: Apache-2.0 */
/* nvbandwidth.h - what the text and the JSON of nvbandwidth have in common: a testcase, and its matrix as points. */
#pragma once

#include "validate/import/readings.h"

typedef struct {
  FabReadings *readings;
  char *name;        /* "device_to_device_memcpy_read_ce"; NULL: none */
  char *description; /* "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)" */
  char *system;
  GArray *cells; /* FabWord, row by row */
  guint n_rows, n_columns;
  double sum;      /* of the cells that are numbers */
  double rounding; /* of the sum, as far as the cells' printed digits let it be */
} FabNvbandwidth;

void fab_nvbandwidth_clear (FabNvbandwidth *self); /* of one testcase; the system stays */
void fab_nvbandwidth_free (FabNvbandwidth *self);

/* Another cell of the row under way; "N/A" is one without a number. */
void fab_nvbandwidth_cell (FabNvbandwidth *self, const FabWord *word);

/* The matrix is whole: adds its points, or says why it is left out. `place` stands for it in messages. */
void fab_nvbandwidth_add (FabNvbandwidth *self, const FabWord *place);
