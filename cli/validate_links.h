/* SPDX-License-Identifier: Apache-2.0 */
/* validate_links.h - `fabricast validate links`. */
#pragma once

#include "cli/cli.h"

FabExit fab_cli_validate_links (int argc, char **argv);
