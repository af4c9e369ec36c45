/* SPDX-License-Identifier: Apache-2.0 */
/* constants.h - the constants of the kernel models, with what each was fitted to. */
#pragma once

#include "sim/base/json.h"

/* Appends tables in Markdown. */
void fab_kernel_constants_append (GString *out);

/* A member "constants" of the open object: "long_run", "memory_fraction", "memory_rates", "products" and
 * "attention". */
void fab_kernel_constants_add_json (FabJson *json);
