/* SPDX-License-Identifier: Apache-2.0 */
/* choices.h - what the library chose for the collectives of a point, and where two points differ in it.
 *
 * The algorithm, the protocol and the number of channels are the library's. They change by steps where a rate or a
 * number of GPUs changes smoothly, and a step of training may then take longer with a better machine.
 */
#pragma once

#include "sim/study/point.h"

/* All collectives of one operation, dimension of parallelism and size, rounded to two digits. The texts are static. */
typedef struct {
  const char *op, *dimension, *algorithm, *protocol;
  FabBytes bytes;
  guint n_channels;
  double seconds; /* in sum, of the last iteration */
} FabChoice;

/* FabChoice of the collectives of the last iteration, those that take longest first. (transfer full) */
GArray *fab_choices_of (const FabSimulation *simulation);

/* The same as a text for a file, "all_reduce data 41000000 ring simple 64 0.31;...", and back. A text that is none, or
 * NULL, is NULL: nothing is known. (transfer full) */
char *fab_choices_write (const GArray *self);
GArray *fab_choices_read (const char *text);

/* Two choices for the same collectives. */
typedef struct {
  const FabChoice *before, *after;
} FabChoiceChange;

/* FabChoiceChange of collectives that take a part of the time in both points, the largest first; empty where a list is
 * not known. It points into the lists. (transfer full) */
GArray *fab_choice_changes (const FabPoint *before, const FabPoint *after);

/* By what fraction the step of `after` is longer; 0 where it is no more than 1 %. */
double fab_choice_slowdown (const FabPoint *before, const FabPoint *after);

/* Why it is, in words: "64 channels occupy multiprocessors in place of 16, and compute takes 31 ms longer". `change`
 * is the largest. (transfer full) */
char *fab_choice_reason (const FabPoint *before, const FabPoint *after, const FabChoiceChange *change);

/* "all_reduce of 41 MB by ring simple with 64 channels in place of nvls_tree simple with 16". (transfer full) */
char *fab_choice_words (const FabChoiceChange *change);
