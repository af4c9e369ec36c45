/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hardware/import_trace.h"

#include "cli/cli.h"
#include "sim/base/error.h"
#include "sim/result/store.h"
#include "validate/traces/account.h"

static double
ms (FabTimePs time_ps)
{
  return (double) time_ps / 1e9;
}

static void
print_account (const FabTrace *trace, const FabTraceAccount *account)
{
  g_print (
      "step   rank   step ms  compute ms  comm ms  overlapped ms  exposed ms  idle ms  waiting ms  copies ms\n");
  for (guint i = 0; i < account->times->len; i++) {
    const FabTraceTimes *row = &g_array_index (account->times, FabTraceTimes, i);
    const FabIterationRecord *t = &row->times;
    const FabTracedRank *rank = g_ptr_array_index (trace->ranks, t->rank_class);

    g_print ("%4u %6" G_GINT64_FORMAT " %9.3f %11.3f %8.3f %14.3f %11.3f %8.3f %11.3f %10.3f\n", t->iteration,
             rank->rank, ms (t->duration_ps), ms (t->compute_ps), ms (t->comm_ps), ms (t->overlapped_ps),
             ms (t->exposed_ps), ms (t->idle_ps), ms (t->waiting_ps), ms (row->copy_ps));
  }
  g_print ("Collectives: %u. Waiting for the last rank is part of idle time, and so are copies of memory.\n",
           account->collectives->len);
  if (account->n_inseparable > 0)
    g_print ("Of %u collectives not all ranks are here: their waiting counts as communication.\n",
             account->n_inseparable);
  if (account->n_without_size > 0)
    g_print ("Of %u collectives the trace does not say the size.\n", account->n_without_size);
  if (account->n_left_out > 0)
    g_print ("Left out: %u operations that no step of the profiler launched.\n", account->n_left_out);
}

/* A graph has no times: how much work it holds. */
static void
print_graph (const FabTracedRank *rank)
{
  FabTimePs compute_ps = 0;
  guint n_comm = 0;
  double n_bytes = 0;
  g_autofree char *source = fab_printable (rank->source);

  for (guint i = 0; i < rank->nodes->len; i++) {
    const FabTraceNode *node = &g_array_index (rank->nodes, FabTraceNode, i);

    if (node->comm < 0)
      compute_ps += node->duration_ps;
    else
      n_bytes += (double) g_array_index (rank->comms, FabTraceComm, node->comm).bytes;
    n_comm += node->comm >= 0;
  }
  g_print ("rank %" G_GINT64_FORMAT
           ": %u nodes, %u of them communicate (%.3f MB), %u dependencies, compute %.3f ms  (%s)\n",
           rank->rank, rank->nodes->len, n_comm, n_bytes / 1e6, rank->deps->len, ms (compute_ps), source);
}

static gboolean
is_timed (const FabTrace *trace)
{
  for (guint i = 0; i < trace->ranks->len; i++)
    if (((const FabTracedRank *) g_ptr_array_index (trace->ranks, i))->ops->len > 0)
      return TRUE;
  return FALSE;
}

static gboolean
store_account (const ImportTraceOptions *o, const FabTrace *trace, const FabTraceAccount *account,
               const char *path, GError **error)
{
  g_autoptr (FabStore) store = fab_store_open (o->db, FAB_STORE_WRITE, error);
  g_autofree char *base = g_path_get_basename (path), *name = fab_printable (o->name ? o->name : base);
  gint64 run_id = 0;

  if (store == NULL || !fab_trace_store (trace, account, name, store, &run_id, error)
      || !fab_store_close (&store, error))
    return FALSE;
  g_print ("Run %" G_GINT64_FORMAT " of %s: %s\n", run_id, o->db, name);
  return TRUE;
}

gboolean
import_trace (const ImportTraceOptions *o, char *const *paths, GError **error)
{
  g_autoptr (FabTrace) trace = fab_trace_read (paths, NULL, NULL, error);
  g_autoptr (FabTraceAccount) account = NULL;

  if (trace == NULL)
    return FALSE;
  for (guint i = 0; i < trace->notes->len; i++)
    g_print ("%s.\n", (const char *) g_ptr_array_index (trace->notes, i));
  if (!is_timed (trace)) {
    const FabTracedRank *first = g_ptr_array_index (trace->ranks, 0);

    for (guint i = 0; i < trace->ranks->len; i++)
      print_graph (g_ptr_array_index (trace->ranks, i));
    return o->db == NULL
        || fab_throw (error, FAB_ERROR_INPUT,
                      "%s: is a graph without times of kernels, so --db has nothing to store", first->source);
  }
  account = fab_trace_account_new (trace, o->with_waiting, error);
  if (account == NULL)
    return FALSE;
  print_account (trace, account);
  return o->db == NULL || store_account (o, trace, account, paths[0], error);
}
