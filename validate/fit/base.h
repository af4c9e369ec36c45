/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - compares what was measured with the link of the catalogue that the new entry is based on (the base). */
#pragma once

#include "validate/fit/fragment.h"

/* Returns the payload rate in bytes per second that a drive's packets can reach on one link, before any loss. */
double fab_base_packet_rate (const FabLinkSpec *link, const FabLinkDriveSpec *drive);

/* Limits the fitted rates to what the base can carry. A rate above that was extrapolated beyond the largest measured
 * size, so the rate of that size replaces it. Fails when the messages themselves were faster than the line rate of the
 * base. Does nothing without a base. */
gboolean fab_base_bound (FabLinkFit *fit, const FabFragmentRequest *request, GError **error);

/* Fails when a measured rate, less its uncertainty, is above what the packets of the base's drive can reach. */
gboolean fab_base_check_rate (const FabFitKind *kind, const FabLinkDriveSpec *drive,
                              const FabFragmentRequest *request, GError **error);
