/* SPDX-License-Identifier: Apache-2.0 */
/* validate_fidelity.h - `fabricast validate fidelity`: fidelities of the network against each other. */
#pragma once

#include "cli/cli.h"

/* argv[0] is "validate fidelity"; the rest are its options and cases. */
FabExit fab_cli_validate_fidelity (int argc, char **argv);
