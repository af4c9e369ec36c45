/* SPDX-License-Identifier: Apache-2.0 */
/* meter.h - what every link has carried, in bytes of payload and of the line, by flows that ended.
 *
 * Streams are metered by footprint, O(1) each, and spread over the links only when read.
 * Reading empties the meter.
 */
#pragma once

#include "sim/fabric/footprint.h"

typedef struct {
  double payload_bytes;
  double line_bytes; /* headers, protocol flags and measured loss included */
} FabLinkLoad;

typedef struct _FabMeter FabMeter;

FabMeter *fab_meter_new (const FabGraph *graph);
void fab_meter_free (FabMeter *self);

void fab_meter_add_footprint (FabMeter *self, const FabFootprint *footprint, FabBytes bytes,
                              double wire_factor);
/* Counted at once: the footprint may go. */
void fab_meter_add_once (FabMeter *self, const FabFootprint *footprint, FabBytes bytes);
/* Likewise, of all messages of a line together. */
void fab_meter_add_line (FabMeter *self, const FabFootprint *footprint, double bytes, double wire_factor);
void fab_meter_add_path (FabMeter *self, const FabPath *path, FabBytes bytes, FabDrive drive);

/* Writes loads[n_links] and starts again from zero. */
void fab_meter_take (FabMeter *self, FabLinkLoad *loads);
