/* SPDX-License-Identifier: Apache-2.0 */
/* hall.h - makes the testbed that a command's options describe: a node of the catalogue, or that of a scenario. */
#pragma once

#include "validate/compare/hall.h"

/* Uses request->node or the scenario at `path`; the other one is NULL. request->nodes and gpus_per_node are 0 where
 * the user does not say; with a scenario they are its own. (transfer full) */
FabHall *fab_cli_hall (const FabHallRequest *request, const char *path, const FabCatalog *catalog,
                       GError **error);
