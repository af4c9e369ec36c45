/* SPDX-License-Identifier: Apache-2.0 */
/* testbed.h - makes the testbed that a command's options describe: a node of the catalogue, or that of a scenario. */
#pragma once

#include "validate/compare/testbed.h"

/* Uses request->node or the scenario at `path`; the other one is NULL. request->nodes and gpus_per_node are 0 where
 * the user does not say; with a scenario they are its own. (transfer full) */
FabTestbed *fab_cli_testbed (const FabTestbedRequest *request, const char *path, const FabCatalog *catalog,
                             GError **error);
