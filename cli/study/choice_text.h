/* SPDX-License-Identifier: Apache-2.0 */
/* choice_text.h - prints where neighbouring points of a study differ in what the library chose. */
#pragma once

#include "answer/study/choices.h"
#include "sim/base/json.h"

/* Appends a line for each of the most important changes: "from 80Gb/s on: all_reduce of 41 MB by ring with 64
 * channels in place of nvls_tree with 16". Where a faster or larger machine takes longer, it says by how much, and
 * why. */
void fab_choice_append_text (GString *text, const GArray *pairs);

/* Adds all of them as an array `choices`. */
void fab_choice_add_json (FabJson *json, const GArray *pairs);
