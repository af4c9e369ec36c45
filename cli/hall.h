/* SPDX-License-Identifier: Apache-2.0 */
/* hall.h - the machine that a command is asked about: a node of the catalogue, or that of a scenario. */
#pragma once

#include "validate/compare/hall.h"

/* Either request->node or `path`; the other one is NULL. request->nodes and gpus_per_node are 0 where the user does not
 * say; with a scenario they are the scenario's. */
FabHall *fab_cli_hall (const FabHallRequest *request, const char *path, const FabCatalog *catalog,
                       GError **error);
