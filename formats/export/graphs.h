/* SPDX-License-Identifier: Apache-2.0 */
/* graphs.h - writers of a job as graphs of other simulators. */
#pragma once

#include "sim/run/job_graph.h"

/* Chakra, one file for each rank, PREFIX.0.et and so on, as ASTRA-sim reads them (mlcommons/chakra,
 * schema/protobuf/et_def.proto, version 0.0.4), and PREFIX.groups.json with the ranks of each group of a collective
 * (ASTRA-sim's --comm-group-configuration). */
gboolean fab_export_chakra (FabJobGraph *graph, const char *prefix, GError **error);

/* GOAL, one file (spcl/LogGOPSim, README). `path` "-" is standard output. */
gboolean fab_export_goal (FabJobGraph *graph, const char *path, GError **error);
