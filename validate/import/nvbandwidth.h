/* SPDX-License-Identifier: Apache-2.0 */
/* nvbandwidth.h - turns a testcase of nvbandwidth and its matrix into points; the readers of its text and JSON share
 * it. */
#pragma once

#include "validate/import/readings.h"

typedef struct {
  FabReadings *readings;
  char *name;        /* "device_to_device_memcpy_read_ce"; NULL: no testcase */
  char *description; /* "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)" */
  char *system;
  GArray *cells; /* FabWord, row by row */
  guint n_rows, n_columns;
  double sum;      /* of the cells that are numbers, in the printed unit */
  double rounding; /* error of `sum` because the printed cells are rounded */
} FabNvbandwidth;

void fab_nvbandwidth_clear (FabNvbandwidth *self); /* forgets the testcase, keeps the system */
void fab_nvbandwidth_free (FabNvbandwidth *self);

/* Adds a cell to the current row; "N/A" is a cell without a number. */
void fab_nvbandwidth_cell (FabNvbandwidth *self, const FabWord *word);

/* Ends the matrix: adds its points, or says why it is left out. Mistakes are shown at `place`. */
void fab_nvbandwidth_add (FabNvbandwidth *self, const FabWord *place);
