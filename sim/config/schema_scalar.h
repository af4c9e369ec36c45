/* SPDX-License-Identifier: Apache-2.0 */
/* schema_scalar.h - values that are no plain numbers: powers ("500W", "70%"), yes or no, and choices. Each function
 * returns NULL, or what is wrong with the text (transfer full). */
#pragma once

#include "sim/base/param.h"
#include "sim/config/value.h"

char *fab_schema_parse_power (const char *key, const char *text, FabPower *field);

/* The same of a typed value: a share is a number, and watts are a text. */
char *fab_schema_take_power (const char *key, const FabValue *value, FabPower *field);

char *fab_schema_parse_bool (const FabParam *row, const char *text, gboolean *field);
/* "true" and "on" are "yes", "false" and "off" are "no", where these are choices (fab_schema_takes_bool). */
char *fab_schema_parse_choice (const FabParam *row, const char *text, int *field);
gboolean fab_schema_takes_bool (const FabParam *row);
