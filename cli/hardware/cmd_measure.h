/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/cli.h"
#include "sim/result/table.h"
#include "validate/measure/backends.h"
#include "validate/measure/host_run.h"

/* Loads the backend with this name from $FABRICAST_PLUGINS, the build or the installed modules. */
const FabMeasureBackend *measure_backend (const char *name, GError **error);

/* Prints one series for a person. Returns the number of points that are less precise than requested. */
guint measure_print_series (const FabMeasuredSeries *series);

/* Format FabMeasuredSeries for programs. (transfer full) */
char *measure_csv (const GPtrArray *all);
char *measure_json (const char *path, char **machine, char **notes, const GPtrArray *all);
