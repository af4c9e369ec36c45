/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - what was measured against what the link that it is like can carry. */
#pragma once

#include "validate/fit/fragment.h"

/* Payload that packets of a drive leave of one link, bytes per second, before anything is lost. */
double fab_base_packet_rate (const FabLinkSpec *link, const FabLinkDriveSpec *drive);

/* Rates that the base cannot carry are guesses beyond the largest size, which is taken instead. Refused: messages
 * faster than the base's line. Without a base nothing is bound. */
gboolean fab_base_bound (FabLinkFit *fit, const FabFragmentRequest *request, GError **error);

/* Refused: a rate that is surely above what the packets of the base's drive leave. */
gboolean fab_base_check_rate (const FabFitKind *kind, const FabLinkDriveSpec *drive,
                              const FabFragmentRequest *request, GError **error);
