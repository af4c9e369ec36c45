/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - a text with measurements, and what its reader is told beside it. */
#pragma once

#include "formats/text/text.h"
#include "sim/base/units.h"

typedef struct {
  FabFileText file;
  const char *format;  /* NULL: recognised from the text */
  const char *system;  /* for all series; NULL: the system in the text, or unknown */
  const char *source;  /* NULL: the file */
  FabBytes size_bytes; /* message size, for tools that do not print it; 0: their default */
  guint n_ranks;       /* ranks of collectives, for tools that do not print it; 0: the number in the text */
  const char *op;      /* the collective, where the text does not say it, "all_reduce"; NULL: it says it */
} FabMeasurementRequest;
