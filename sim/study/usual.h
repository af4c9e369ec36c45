/* SPDX-License-Identifier: Apache-2.0 */
/* usual.h - the values of a key that one would try when none are named.
 *
 *   cluster.nic_rate    from the slowest NIC port that can be bought to the fastest, in steps of 2 %
 *   ...oversubscription from 8 down to 1, in steps of a quarter
 *   whole numbers       a quarter of the scenario's to 8 times it, doubling
 *   rates, sizes, times, shares, other numbers: the same range in steps of 5 %
 */
#pragma once

#include "sim/study/axis.h"
#include "sim/study/study.h"

/* NULL and *error when the key is not there or no number; KEY=VALUES says it then. */
FabAxis *fab_axis_usual (const FabStudy *study, const char *key, GError **error);
