/* SPDX-License-Identifier: Apache-2.0 */
/* mix_failures.h - how the jobs of a mix fail, of what the goodput of one such job starts from. */
#pragma once

#include "sim/sharing/job_mix.h"
#include "sim/study/goodput.h"

/* Slow parts are found and stopped as planned, and slow the job until then. */
FabMixFailures fab_mix_failures_of (const FabReliability *rules);

/* FALSE and *error: the jobs of this kind write no checkpoint (`found` is NULL), or fail so often that they never
 * end. */
gboolean fab_mix_failures_check (const char *kind, const FabGoodputCase *found, GError **error);
