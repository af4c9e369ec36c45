/* SPDX-License-Identifier: Apache-2.0 */
/* meter.h - counts what every link has carried by flows that ended, in payload bytes and in line bytes.
 *
 * Streams are counted per footprint in O(1) and spread over the links only when the meter is read. Reading resets the
 * meter. A meter owns its counters; one thread at a time may use it.
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
/* Counts at once, so the footprint may be freed afterwards. */
void fab_meter_add_once (FabMeter *self, const FabFootprint *footprint, FabBytes bytes);
/* As fab_meter_add_once, for all messages of a line together. */
void fab_meter_add_line (FabMeter *self, const FabFootprint *footprint, double bytes, double wire_factor);
void fab_meter_add_path (FabMeter *self, const FabPath *path, FabBytes bytes, FabDrive drive);

/* Writes loads[n_links] and resets all counters to zero. */
void fab_meter_take (FabMeter *self, FabLinkLoad *loads);
