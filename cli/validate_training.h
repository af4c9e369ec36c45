/* SPDX-License-Identifier: Apache-2.0 */
/* validate_training.h - `fabricast validate training`: whole training steps instead of collectives. */
#pragma once

#include "cli/cli.h"

/* argv[0] is "validate training"; the rest are its options and sources. */
FabExit fab_cli_validate_training (int argc, char **argv);
