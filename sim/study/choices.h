/* SPDX-License-Identifier: Apache-2.0 */
/* choices.h - what the library chose for the collectives of a simulation.
 *
 * The algorithm, the protocol and the number of channels are the library's. They change by steps where a rate or a
 * number of GPUs changes smoothly, and a step of training may then take longer with a better machine.
 */
#pragma once

#include "sim/run/simulation.h"

/* All collectives of one operation, dimension of parallelism and size, rounded to two digits. The texts are static. */
typedef struct {
  const char *op, *dimension, *algorithm, *protocol;
  FabBytes bytes;
  guint n_channels;
  double seconds; /* in sum, of the last iteration */
} FabChoice;

/* Whether two are for the same collectives; whether the library chose the same for them. */
gboolean fab_choice_is_same_work (const FabChoice *a, const FabChoice *b);
gboolean fab_choice_is_same (const FabChoice *a, const FabChoice *b);

/* FabChoice of the collectives of the last iteration, those that take longest first. (transfer full) */
GArray *fab_choices_of (const FabSimulation *simulation);

/* The same as a text for a file, "all_reduce data 41000000 ring simple 64 0.31;...", and back. A text that is none, or
 * NULL, is NULL: nothing is known. (transfer full) */
char *fab_choices_write (const GArray *self);
GArray *fab_choices_read (const char *text);
