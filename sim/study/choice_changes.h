/* SPDX-License-Identifier: Apache-2.0 */
/* choice_changes.h - where two points differ in what the library chose (choices.h), and why one is slower for it. */
#pragma once

#include "sim/study/choices.h"
#include "sim/study/point.h"

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
