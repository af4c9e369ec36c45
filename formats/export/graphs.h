/* SPDX-License-Identifier: Apache-2.0 */
/* graphs.h - writers of a job as graphs of other simulators. */
#pragma once

#include "sim/run/job_graph.h"

/* Returns a length of work in whole units. *rest_ps is what rounding has left of the work before it on the stream, and
 * then what it leaves of both. */
static inline gint64
fab_export_whole (FabTimePs duration_ps, FabTimePs unit_ps, FabTimePs *rest_ps)
{
  FabTimePs all_ps = duration_ps + *rest_ps; /* at least minus half a unit */
  gint64 n = (all_ps + unit_ps / 2) / unit_ps;

  *rest_ps = all_ps - n * unit_ps;
  return n;
}

/* Chakra, one file for each rank, PREFIX.0.et and so on, as ASTRA-sim reads them (mlcommons/chakra,
 * schema/protobuf/et_def.proto, version 0.0.4), and PREFIX.groups.json with the ranks of each group of a collective
 * (ASTRA-sim's --comm-group-configuration). */
gboolean fab_export_chakra (FabJobGraph *graph, const char *prefix, GError **error);

/* GOAL, one file (spcl/LogGOPSim, README). `path` "-" is standard output. */
gboolean fab_export_goal (FabJobGraph *graph, const char *path, GError **error);
