/* SPDX-License-Identifier: Apache-2.0 */
/* shipped.h - the files that come with Fabricast, and how the name of a scenario becomes a path.
 *
 * The files are beside the installed program, or in the source tree of a program that was not installed.
 */
#pragma once

#include "sim/scenario/catalog.h"

/* Finds a shipped data file or directory, by its path below share/fabricast ("measured", "scenarios"): below
 * $FABRICAST_DATA, beside the program, in the source tree if the program was not installed, and where it was configured
 * to be installed. (transfer full) */
char *fab_cli_data_path (const char *name, GError **error);

/* Returns the path of the scenario that a person named. A file that exists is meant first. A name without a directory,
 * with or without .yaml, is looked for in the working directory and then among the shipped scenarios ("hello",
 * "02-ring"); so is a path below scenarios/, as the pages of the documentation write it. What is not found is returned
 * as it was given. (transfer full) */
char *fab_cli_scenario_path (const char *name);

/* Adds to the error of a scenario that does not exist where the shipped one of that name is, or which one has the
 * nearest name. */
void fab_cli_name_shipped (const char *name, GError **error);

/* Names of the shipped scenarios, in order. (transfer full) */
GPtrArray *fab_cli_shipped_scenarios (void);

/* Returns the `summary:` of a shipped scenario, or, where it has none, what its job and its machine are. "": it cannot
 * be read. (transfer full) */
char *fab_cli_shipped_summary (const char *name, const FabCatalog *catalog);
