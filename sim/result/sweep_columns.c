/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_columns.c - the columns that are stored for a point of a sweep, in the order of the table. A new figure needs
 * a row here, a column in schema.c and a field in FabSweepPointRecord. */
#include "sim/result/record.h"

#define REAL(name)                                                    \
  {                                                                   \
#name, FAB_SWEEP_REAL, G_STRUCT_OFFSET(FabSweepPointRecord, name) \
  }
#define WHOLE(name)                                                    \
  {                                                                    \
#name, FAB_SWEEP_WHOLE, G_STRUCT_OFFSET(FabSweepPointRecord, name) \
  }
#define TEXT(name)                                                    \
  {                                                                   \
#name, FAB_SWEEP_TEXT, G_STRUCT_OFFSET(FabSweepPointRecord, name) \
  }

const FabSweepColumn fab_sweep_columns[] = {
  WHOLE (point),
  TEXT (settings),
  REAL (step_s),
  REAL (compute_s),
  REAL (comm_s),
  REAL (overlapped_s),
  REAL (exposed_s),
  REAL (idle_s),
  REAL (mfu_fraction),
  REAL (tokens_per_s),
  REAL (train_s),
  WHOLE (memory_bytes),
  WHOLE (memory_max_bytes),
  WHOLE (n_ranks),
  WHOLE (n_nodes),
  TEXT (binding),
  TEXT (binding_spec),
  REAL (binding_fraction),
  REAL (capex_usd),
  REAL (network_usd),
  REAL (power_watts),
  REAL (network_watts),
  REAL (usd_per_hour),
  REAL (usd_per_step),
  REAL (usd_per_million_tokens),
  REAL (train_usd),
  REAL (step_joules),
  REAL (train_joules),
  TEXT (problem),
  { NULL, FAB_SWEEP_REAL, 0 },
};
