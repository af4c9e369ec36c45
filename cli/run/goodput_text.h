/* SPDX-License-Identifier: Apache-2.0 */
/* goodput_text.h - what failures leave of a training, as lines of a page and as a member of JSON. */
#pragma once

#include "answer/goodput.h"
#include "sim/base/json.h"

/* "4.2 min", "3.1 hours", "77 days". (transfer full) */
char *fab_goodput_time (double seconds);

/* Lines of the page of `run`. `failures` is the name of the set of rates. */
void fab_goodput_append (GString *page, const FabGoodput *goodput, const char *failures, FabGoodputBand band);

/* The members of an object that is open. */
void fab_goodput_add_members (FabJson *json, const FabGoodput *goodput, const char *failures,
                              FabGoodputBand band);
