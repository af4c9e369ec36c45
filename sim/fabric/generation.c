/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/generation.h"

const FabGeneration fab_generation_unknown = { .name = "",
                                               .summary = "Generation without measurements",
                                               .issue_ps = FAB_GENERATION_ISSUE_PS };
