/* SPDX-License-Identifier: Apache-2.0 */
/* messages.h - what one message between two ports of a link was measured to take, software at both ends included.
 *
 *   T(m) = overhead + m / rate of the first regime whose up_to >= m
 *
 * once for a message alone and once while the other direction is as busy. Data only; the catalogue owns the regimes.
 */
#pragma once

#include "sim/base/units.h"

typedef enum {
  FAB_WAY_ONE,  /* nothing comes the other way */
  FAB_WAY_BOTH, /* as much comes the other way meanwhile */
  FAB_N_WAYS,
} FabMessageWay;

typedef struct {
  int way;              /* FabMessageWay */
  FabBytes up_to_bytes; /* 0: no end */
  FabTimePs overhead_ps;
  FabBytesPerS rate_bytes_per_s;
} FabMessageRegime;

/* Those of one link; of a way they stand in the order of their ends. */
typedef struct {
  const FabMessageRegime *regimes;
  guint n;                       /* 0: not measured */
  double factor;                 /* on every time: 1, or what one asks about */
  double rate_change;            /* of the rates, as a part of them: 0, or what one asks about */
  FabBytes from_bytes, to_bytes; /* sizes that were measured; to_bytes 0: which is not known */
} FabMessages;

/* Time of one message, saturating. Without regimes of `both` those of `one` hold; beyond the last end the last
 * regime does. There are some. */
FabTimePs fab_message_ps (const FabMessages *messages, FabMessageWay way, double bytes);

/* The same of one among several that share a port and end together: `port_bytes` in sum, its own too. */
FabTimePs fab_message_among_ps (const FabMessages *messages, FabMessageWay way, double bytes,
                                double port_bytes);
