/* SPDX-License-Identifier: Apache-2.0 */
/* messages.h - the measured time of one message between two ports of a link, software at both ends included.
 *
 *   T(m) = overhead + m / rate of the first regime whose up_to >= m
 *
 * There is one set of regimes for a message alone, and one for messages in both directions at once. This is data only;
 * the catalogue owns the regimes.
 */
#pragma once

#include "sim/base/units.h"

typedef enum {
  FAB_WAY_ONE,  /* nothing comes in the other direction */
  FAB_WAY_BOTH, /* as much comes in the other direction at the same time */
  FAB_N_WAYS,
} FabMessageWay;

typedef struct {
  int way;              /* FabMessageWay */
  FabBytes up_to_bytes; /* largest size of the regime; 0: no limit */
  FabTimePs overhead_ps;
  FabBytesPerS rate_bytes_per_s;
} FabMessageRegime;

/* The regimes of one link. Those of one direction mode are in the order of their sizes. */
typedef struct {
  const FabMessageRegime *regimes;
  guint n;                       /* 0: the link was not measured */
  double factor;                 /* multiplies every time; 1 unless a what-if changes it */
  double rate_change;            /* relative change of the rates; 0 unless a what-if changes it */
  FabBytes from_bytes, to_bytes; /* sizes that were measured; to_bytes 0: unknown */
} FabMessages;

/* Returns the time of one message, at most FAB_TIME_MAX. Without regimes for both directions those for one direction
 * apply; beyond the last size the last regime applies. `messages` must not be empty. */
FabTimePs fab_message_ps (const FabMessages *messages, FabMessageWay way, double bytes);

/* Returns the time of one message among several that share a port and end together. `port_bytes` is their total, this
 * one included. */
FabTimePs fab_message_among_ps (const FabMessages *messages, FabMessageWay way, double bytes,
                                double port_bytes);
