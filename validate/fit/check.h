/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - compares measured messages with what a link entry predicts, and with the uncertainty that it states.
 *
 *   latency        uses `messages` of one way; without them endpoint + wires + m / rate
 *   exchange       uses `messages` of both ways; without them those of one way at collective_fraction of the rate
 *   bandwidth      uses m / rate of the drive, x count, for messages that fill the link (64 KiB over a network, 1 MiB
 *                  for a copy): an entry does not hold the gap between small messages
 *   bidirectional  as bandwidth, at collective_fraction of the rate over a network
 *
 * The band of a row is the stated uncertainty of what predicts it: of `messages`, of endpoint and rate, or of the
 * rate. Rows are held out when a calibration with the same --hold-out would not have used their size; rows are
 * outside when their size is beyond the sizes that the entry was `measured` at.
 */
#pragma once

#include "validate/fit/link.h"

typedef struct {
  const FabFitKind *measured; /* owned by the fit */
  FabMeasureKind which;
  GArray *rows;     /* FabFitRow */
  guint n_left_out; /* sizes that the entry predicts nothing for */
  guint n_in_band;  /* rows whose error is within their band */
  FabErrors errors[FAB_N_FIT_PARTS];
} FabLinkCheckKind;

typedef struct {
  const char *link;
  GPtrArray *kinds; /* FabLinkCheckKind */
} FabLinkCheck;

typedef struct {
  const FabLinkSpec *link;
  guint count, hops;
} FabLinkCheckRequest;

/* Compares a fit with a link entry. The check points to the series and rows of the fit, which must outlive it.
 * (transfer full) */
FabLinkCheck *fab_link_check_new (const FabLinkFit *fit, const FabLinkCheckRequest *request, GError **error);
void fab_link_check_free (FabLinkCheck *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabLinkCheck, fab_link_check_free)

/* Says whether any row has a band. */
gboolean fab_link_check_has_band (const FabLinkCheckKind *kind);
