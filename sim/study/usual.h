/* SPDX-License-Identifier: Apache-2.0 */
/* usual.h - the values of a key that a study tries when the user gives none.
 *
 *   cluster.nic_rate    from the slowest NIC port that can be bought to the fastest, in steps of 2 %
 *   ...oversubscription from 8 down to 1, in steps of a quarter
 *   whole numbers       from a quarter of the scenario's value to 8 times it, doubling
 *   rates, sizes, times, fractions, other numbers: the same range in steps of 5 %
 */
#pragma once

#include "sim/study/axis.h"
#include "sim/study/study.h"

/* Returns NULL and *error when the key is absent or not a number; the user then has to give KEY=VALUES. (transfer
 * full) */
FabAxis *fab_axis_usual (const FabStudy *study, const char *key, GError **error);
