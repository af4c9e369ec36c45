/* SPDX-License-Identifier: Apache-2.0 */
/* account.h - what a timed trace says of each step and rank, by the definitions of a simulated run
 * (sim/execution/account.h): compute, communication, overlapped, exposed, idle and waiting, on merged intervals.
 *
 * A step of a rank lasts from the start of its first operation to that of the first operation of its next step. The
 * last step lasts to the end of its last operation. So all time from the first to the last kernel counts once.
 *
 * Kernels of NCCL spin until the last rank has arrived. Where the traces of all ranks of a group are there, that part
 * is waiting and not communication, unless `with_waiting`. Elsewhere it cannot be told apart and counts as
 * communication.
 */
#pragma once

#include "formats/trace/trace.h"
#include "sim/result/record.h"

/* A step of a rank. */
typedef struct {
  FabIterationRecord times; /* rank_class: index in FabTrace.ranks */
  FabTimePs copy_ps;        /* part of times.idle_ps: memory was copied or set */
} FabTraceTimes;

/* Where an operation of a trace belongs. */
typedef struct {
  gint32 iteration;           /* -1: to none, it was launched outside of all steps */
  gint32 collective;          /* index in its iteration, or -1 */
  FabTimePs wait_end_ps;      /* from its start until then it waits; its start: it does not wait */
  FabTimePs start_ps, end_ps; /* on the clock of the run, which begins at 0 */
} FabTracePlace;

typedef struct {
  GArray *times;       /* FabTraceTimes, by iteration, then by rank */
  GArray *collectives; /* FabCollectiveRecord, by iteration, then by start */
  GArray
      *strides; /* guint, of each collective: from the first to the second rank of its group; 0: not known */
  GArray *exposures; /* FabExposureRecord */
  GArray *steps;     /* FabStepRecord */
  GArray **places;   /* FabTracePlace, per rank and operation */
  guint n_ranks;
  guint n_left_out; /* operations outside of all steps */
  guint n_without_size,
      n_inseparable;     /* collectives whose size is unknown; whose waiting cannot be told apart */
  guint n_without_group; /* collectives that count as those of all ranks, as their group is unknown */
} FabTraceAccount;

/* NULL and *error when the trace has no times. (transfer full) */
FabTraceAccount *fab_trace_account_new (const FabTrace *trace, gboolean with_waiting, GError **error);
void fab_trace_account_free (FabTraceAccount *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTraceAccount, fab_trace_account_free)

/* Writes the account as a run with fidelity `measured`. */
typedef struct _FabStore FabStore;
gboolean fab_trace_store (const FabTrace *trace, const FabTraceAccount *account, const char *name,
                          FabStore *store, gint64 *run_id, GError **error);
guint fab_trace_n_world (const FabTrace *trace);
