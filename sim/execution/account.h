/* SPDX-License-Identifier: Apache-2.0 */
/* account.h - who computed and communicated when, from the begins and ends of tasks on streams.
 *
 * Per rank class and iteration, on merged intervals:
 *
 *   exposed = comm - overlapped,  idle = duration - (compute + comm - overlapped)
 *   waiting = the part of idle in which a collective of the rank waits for its last rank
 *
 * A collective begins when its last rank arrives: only from then on do its ranks communicate. So waiting for a late
 * rank is idle and never exposed; what is exposed is the transfer itself, which may begin too late to hide because of
 * that rank. (Profilers see the kernel that waits as communication: what they call exposed is exposed + waiting.)
 * Exposed time divides into that of collectives that cross nodes and that of the others: inter-node + intra-node =
 * exposed.
 *
 * A task that runs across the end of an iteration is split there. The step of the whole job is the mean over ranks.
 * Exposed and waiting time are shared among the dimensions of parallelism, and exposed time between the two scopes.
 * Work of kind COMM that is not a collective (a copy) counts as send_recv of dimension `other`. The account also
 * spreads the meter's bytes over the links. A link that carried more than its rate, and times that are negative or do
 * not add up, fail the engine. The account owns its arrays and runs on the executor's thread.
 */
#pragma once

#include "sim/execution/dag.h"
#include "sim/execution/executor_env.h"
#include "sim/execution/overlap.h"
#include "sim/result/probe.h"

typedef struct _FabAccount FabAccount;

FabAccount *fab_account_new (const FabExecutorEnv *env);
void fab_account_free (FabAccount *self);

/* From now on the account keeps what the last iteration needs: nothing is booked before it, and nobody asks for loads
 * of links and samples. Before the first task. */
void fab_account_set_brief (FabAccount *self);

/* Records that a task waits for the last rank of its collective. */
void fab_account_arrive (FabAccount *self, FabTaskId task, FabTimePs now_ps);

/* Records the begin of a task or of its collective, and the end of what runs on a stream. */
void fab_account_begin (FabAccount *self, FabTaskId task, FabTimePs now_ps);
void fab_account_end (FabAccount *self, guint stream, FabTimePs now_ps);

/* The first iteration begins now; without it, it begins at time 0. */
void fab_account_open (FabAccount *self, FabTimePs now_ps);

/* Returns the start of the iteration. */
FabTimePs fab_account_start_ps (const FabAccount *self);

/* Ends the iteration now: fills iterations, exposures, link_loads, samples and step, and the exposed_ps of the
 * collectives that are already in the probe. */
void fab_account_close (FabAccount *self, guint iteration, FabProbe *probe);
/* The same of an iteration whose times nobody reads: it only begins the next one. */
void fab_account_pass (FabAccount *self, guint iteration, FabProbe *probe);

/* The critical path of an iteration: each task on it started when the one before it ended.
 *
 * A task begins when the last task for which it waits ends, and a collective begins when its last rank arrives. So
 * the search goes back from the task that ends last to the task that released it (for a collective: that released its
 * last rank), and so on. The spans follow one another without a gap and add up to the duration of the iteration. When
 * several tasks end at the same time, the one whose end the clock handled last counts as the releasing one.
 *
 * A task may have begun in the iteration before (a prefetched load): the path contains the part that lies in this
 * iteration.
 */

/* What the executor recorded of an iteration. */
typedef struct {
  const FabDag *dag;
  guint iteration;
  const FabTimePs *begin_ps;          /* per task: when it began, or arrived at its collective */
  const FabTaskId *released_by;       /* per task: releasing task of the same iteration, or FAB_NO_TASK */
  const FabTaskId *arrived;           /* per collective: the task of its last rank */
  const FabCollectiveRecord *records; /* per collective */
} FabTrail;

#define FAB_NO_TASK G_MAXUINT32

/* Appends the path to `path` (FabPathRecord) in the order of time. `last` is the task that ends the iteration at
 * `end_ps`. Returns FALSE when the path has a hole before its first span: then the records cannot be trusted. */
gboolean fab_critical_path (const FabTrail *trail, FabTaskId last, FabTimePs start_ps, FabTimePs end_ps,
                            GArray *path);
