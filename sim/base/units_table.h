/* SPDX-License-Identifier: Apache-2.0 */
/* units_table.h - the suffixes of every unit: private to units.c and units_write.c.
 *
 * Wherever a suffix is known to the parser it stands in these rows, and nowhere
 * else: messages, the writers and the JSON Schema patterns are made from them.
 */
#pragma once

#include "sim/base/units.h"

__extension__ typedef unsigned __int128 FabU128;

/* One suffix: num / den canonical units; `exponent` is that as a power of ten, for reals only. */
typedef struct {
  const char *name;
  guint64 num;
  int den, exponent;
  gboolean is_read_only; /* accepted, never written */
} FabUnitSuffix;

typedef struct {
  const char *a_name; /* "a time" */
  const char *whole;  /* "a whole number of bytes": what a broken one is not */
  const char *example, *known;
  const FabUnitSuffix *suffixes; /* ended by a NULL name */
} FabUnitRow;

extern const FabUnitRow fab_unit_rows[]; /* indexed by FabUnit */
