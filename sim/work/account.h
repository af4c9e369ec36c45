/* SPDX-License-Identifier: Apache-2.0 */
/* account.h - who computed and communicated when, from the begins and ends of tasks on streams.
 *
 * Per rank class and iteration, on merged intervals:
 *
 *   exposed = comm - overlapped,  idle = duration - (compute + comm - overlapped)
 *
 * A task that runs across the end of an iteration is split there. The step of the whole job is the mean over ranks.
 * Exposed time is shared among the dimensions of parallelism (exposure.h). Work of kind COMM that is not a collective
 * (a copy) counts as send_recv of dimension `other`. The account also spreads the meter's bytes over the links. A link
 * that carried more than its rate, and times that are negative or do not add up, fail the engine. The account owns its
 * arrays and runs on the executor's thread.
 */
#pragma once

#include "sim/work/executor.h"
#include "sim/work/overlap.h"

typedef struct _FabAccount FabAccount;

FabAccount *fab_account_new (const FabExecutorEnv *env);
void fab_account_free (FabAccount *self);

/* Records the begin of a task or of its collective, and the end of what runs on a stream. */
void fab_account_begin (FabAccount *self, FabTaskId task, FabTimePs now_ps);
void fab_account_end (FabAccount *self, guint stream, FabTimePs now_ps);

/* Returns the start of the iteration. */
FabTimePs fab_account_start_ps (const FabAccount *self);

/* Ends the iteration now: fills iterations, exposures, link_loads, samples and step, and the exposed_ps of the
 * collectives that are already in the probe. */
void fab_account_close (FabAccount *self, guint iteration, FabProbe *probe);
