/* SPDX-License-Identifier: Apache-2.0 */
/* units_table.h - the suffixes of every unit, private to units.c and units_write.c.
 *
 * The parser, the messages, the writers and the JSON Schema patterns all take their suffixes from these rows.
 */
#pragma once

#include "sim/base/units.h"

__extension__ typedef unsigned __int128 FabU128;

/* One suffix stands for num / den canonical units. `exponent` is the same as a power of ten, for real quantities
 * only. */
typedef struct {
  const char *name;
  guint64 num;
  int den, exponent;
  gboolean is_read_only; /* accepted by the parser, never written */
} FabUnitSuffix;

typedef struct {
  const char *a_name; /* "a time" */
  /* What a value with a fraction fails to be: "a whole number of bytes". */
  const char *whole;
  const char *example, *known;
  const FabUnitSuffix *suffixes; /* ended by a NULL name */
} FabUnitRow;

extern const FabUnitRow fab_unit_rows[]; /* indexed by FabUnit */
