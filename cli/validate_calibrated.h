/* SPDX-License-Identifier: Apache-2.0 */
/* validate_calibrated.h - `fabricast validate calibrated`. */
#pragma once

#include "cli/cli.h"

FabExit fab_cli_validate_calibrated (int argc, char **argv);
