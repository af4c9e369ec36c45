/* SPDX-License-Identifier: Apache-2.0 */
/* account.h - who computed and communicated when, from the streams' begins and ends.
 *
 * Per rank class and iteration, on merged intervals:
 *   exposed = comm - overlapped,  idle = duration - (compute + comm - overlapped)
 * A task that runs across the end of an iteration is split there. The step of the whole job is
 * the mean over ranks. Also spreads the meter's bytes over the links and checks their rates.
 */
#pragma once

#include "sim/work/executor.h"
#include "sim/work/overlap.h"

typedef struct _FabAccount FabAccount;

FabAccount *fab_account_new (const FabExecutorEnv *env);
void fab_account_free (FabAccount *self);

void fab_account_begin (FabAccount *self, guint stream, FabSpanKind kind, FabTimePs now_ps);
void fab_account_end (FabAccount *self, guint stream, FabTimePs now_ps);

/* Ends the iteration now: fills iterations, link_loads and step, and the exposed_ps of the
 * collectives that are already in the probe. */
void fab_account_close (FabAccount *self, guint iteration, FabProbe *probe);
