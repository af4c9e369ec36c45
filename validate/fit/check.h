/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - what a link entry says of messages that were measured, and how sure it claims to be.
 *
 *   latency        `messages` of one way; without them endpoint + wires + m / rate
 *   exchange       `messages` of both ways; without them those of one at collective_fraction of the rate
 *   bandwidth      m / rate of the drive, x count, for messages that fill the link (64 KiB of a network, 1 MiB of a
 *                  copy): an entry does not hold the gap between small ones
 *   bidirectional  likewise, at collective_fraction of the rate over a network
 *
 * The band of a row is that of what it is made of: `uncertainty` of messages, of endpoint and rate, or of the rate.
 * Held out are the sizes that a calibration with the same --hold-out would not have looked at; outside are those
 * beyond the sizes that the entry was `measured` at.
 */
#pragma once

#include "validate/fit/link.h"

typedef struct {
  const FabFitKind *measured; /* of the fit */
  FabMeasureKind which;
  GArray *rows;     /* FabFitRow */
  guint n_left_out; /* sizes that the entry says nothing of */
  guint n_in_band;  /* rows whose error is within their band */
  FabFitErrors errors[FAB_N_FIT_PARTS];
} FabLinkCheckKind;

typedef struct {
  const char *link;
  GPtrArray *kinds; /* FabLinkCheckKind */
} FabLinkCheck;

typedef struct {
  const FabLinkSpec *link;
  guint count, hops;
} FabLinkCheckRequest;

/* The fit lends its series and rows and outlives the check. */
FabLinkCheck *fab_link_check_new (const FabLinkFit *fit, const FabLinkCheckRequest *request, GError **error);
void fab_link_check_free (FabLinkCheck *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabLinkCheck, fab_link_check_free)

/* Whether any of its rows has a band. */
gboolean fab_link_check_has_band (const FabLinkCheckKind *kind);
