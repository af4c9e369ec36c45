/* SPDX-License-Identifier: Apache-2.0 */
/* ref_maxmin.h - max-min fair sharing as the textbook does it: raise all, see who stops, begin again.
 *
 * Every sum is made anew in every round: O(rounds x links x entries), and no state to get wrong.
 */
#pragma once

#include "sim/solve/maxmin.h"

void ref_maxmin_solve (const FabMaxminProblem *problem, double *rates);
