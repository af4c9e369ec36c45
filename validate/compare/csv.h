/* SPDX-License-Identifier: Apache-2.0 */
/* csv.h - one measured table: what nccl-tests printed, and where it was cut from.
 *
 *   # system: NVIDIA A100-SXM4-40GB
 *   # source: ...
 *   size_bytes,time_us,algbw_GBps,busbw_GBps,...
 *   1048576,74.78,14.02,24.54,...
 *
 * Header lines `# key: value`, a line of column names, rows of numbers with ascending sizes. Needed are `size_bytes`
 * and one of `time_us` (microseconds) and `busbw_GBps` (GB/s of 1e9 bytes, as nccl-tests counts it); other columns are
 * not read. Both together must agree within their last printed digits. No quotes: what is not this is refused.
 */
#pragma once

#include <glib.h>

#include "sim/base/units.h"

typedef struct {
  FabBytes size_bytes;
  double time_us;    /* as printed; from busbw when the table has no times; 0 when it printed a busbw of 0 */
  double busbw_GBps; /* as printed; from the time when the table has none */
  double
      rounding_fraction; /* of time_us: half a unit of the last digit that it was read or made from; 1 at 0 */
} FabMeasuredRow;

typedef struct {
  GHashTable *header; /* key -> value */
  GArray *rows;       /* FabMeasuredRow, at least one */
  guint first_line;   /* of the rows, from 1 */
} FabMeasuredCsv;

/* `name` stands for the path in messages; `bus_factor` is busbw over algbw (fab_op_bus_factor). NULL and *error
 * (FAB_ERROR_INPUT, "name:line: ...") for the first thing that is wrong. */
FabMeasuredCsv *fab_measured_csv_parse (const char *name, const char *data, gsize size, double bus_factor,
                                        GError **error);
void fab_measured_csv_free (FabMeasuredCsv *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMeasuredCsv, fab_measured_csv_free)
