/* SPDX-License-Identifier: Apache-2.0 */
/* join.c - a profile that does not say the sizes of its collectives, beside the execution trace of the same rank, which
 * does.
 *
 * An execution trace is of one iteration. The collectives that a step of the profile launched are, in this order, those
 * of the execution trace, if they are as many and the operations agree; otherwise the step gets nothing.
 */
#include <string.h>

#include "formats/trace/reading.h"

#include "sim/base/order.h"

typedef struct {
  FabTimePs at_ps;
  gint32 comm;
} Launched;

static gint
compare_launched (gconstpointer a, gconstpointer b)
{
  const Launched *left = a, *right = b;

  return fab_order_int64s (&left->at_ps, &right->at_ps);
}

static gint
compare_nodes (gconstpointer a, gconstpointer b)
{
  const FabTraceNode *left = *(FabTraceNode *const *) a, *right = *(FabTraceNode *const *) b;

  return fab_order_uint64s (&left->id, &right->id);
}

/* Collectives of a graph in the order in which the host called them, which is that of the numbers of nodes. */
static GPtrArray *
calls_of (const FabTracedRank *graph)
{
  GPtrArray *calls = g_ptr_array_new ();

  for (guint i = 0; i < graph->nodes->len; i++) {
    FabTraceNode *node = &g_array_index (graph->nodes, FabTraceNode, i);

    if (node->comm >= 0)
      g_ptr_array_add (calls, node);
  }
  g_ptr_array_sort (calls, compare_nodes);
  return calls;
}

static GArray *
launched_in (const FabTracedRank *rank, gint32 step)
{
  GArray *launched = g_array_new (FALSE, FALSE, sizeof (Launched));

  for (guint i = 0; i < rank->ops->len; i++) {
    const FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, i);
    Launched one = { op->start_ps, op->comm };

    if (op->comm < 0 || op->step != step)
      continue;
    fab_trace_launch_of (rank, op, &one.at_ps);
    g_array_append_val (launched, one);
  }
  g_array_sort (launched, compare_launched);
  return launched;
}

/* NCCL's kernel for sends does all-to-all too, and RCCL has one kernel for all operations. */
static gboolean
agree (const FabTracedRank *rank, const GArray *launched, const FabTracedRank *graph, const GPtrArray *calls)
{
  if (launched->len != calls->len)
    return FALSE;
  for (guint i = 0; i < calls->len; i++) {
    const FabTraceNode *node = g_ptr_array_index (calls, i);
    const char *called = g_array_index (graph->comms, FabTraceComm, node->comm).op;
    const char *ran = g_array_index (rank->comms, FabTraceComm, g_array_index (launched, Launched, i).comm)
                          .op;

    if (strcmp (ran, "send_recv") != 0 && strcmp (ran, called) != 0)
      return FALSE;
  }
  return TRUE;
}

/* Returns how many collectives of the step got a size. */
static guint
join_step (const FabTracedRank *rank, gint32 step, const FabTracedRank *graph, const GPtrArray *calls)
{
  g_autoptr (GArray) launched = launched_in (rank, step);
  guint n = 0;

  if (!agree (rank, launched, graph, calls))
    return 0;
  for (guint i = 0; i < calls->len; i++) {
    const FabTraceNode *node = g_ptr_array_index (calls, i);
    const FabTraceComm *from = &g_array_index (graph->comms, FabTraceComm, node->comm);
    FabTraceComm *to = &g_array_index (rank->comms, FabTraceComm, g_array_index (launched, Launched, i).comm);

    if (to->bytes > 0 || from->bytes == 0)
      continue;
    to->op = from->op;
    to->bytes = from->bytes;
    to->n_ranks = to->n_ranks > 0 ? to->n_ranks : from->n_ranks;
    if (to->group[0] == '\0') {
      to->group = from->group;
      to->dimension = from->dimension;
    }
    n++;
  }
  return n;
}

static guint
join_rank (const FabTracedRank *rank, const FabTracedRank *graph)
{
  g_autoptr (GPtrArray) calls = calls_of (graph);
  guint n = 0;

  for (gint32 step = rank->steps->len > 0 ? 0 : -1; step < (gint32) rank->steps->len; step++)
    n += join_step (rank, step, graph, calls);
  return n;
}

static gboolean
is_graph (const FabTracedRank *rank)
{
  return rank->ops->len == 0 && rank->nodes->len > 0;
}

/* What graphs say of their ranks counts where no two say the same. */
static void
number_graphs (FabTrace *trace)
{
  g_autoptr (GHashTable) said = g_hash_table_new (NULL, NULL);
  guint n_graphs = 0;

  for (guint i = 0; i < trace->ranks->len; i++) {
    const FabTracedRank *rank = g_ptr_array_index (trace->ranks, i);
    gint64 number = rank->rank >= 0 ? rank->rank : rank->said_rank;

    if (is_graph (rank) && number >= 0) {
      g_hash_table_add (said, GINT_TO_POINTER ((gint) MIN (number, G_MAXINT)));
      n_graphs++;
    }
  }
  for (guint i = 0; i < trace->ranks->len; i++) {
    FabTracedRank *rank = g_ptr_array_index (trace->ranks, i);

    if (is_graph (rank) && rank->rank < 0 && g_hash_table_size (said) == n_graphs)
      rank->rank = rank->said_rank;
  }
}

/* The profile of the rank with this number, or the first one. NULL: there is none. */
static const FabTracedRank *
timed_rank (const FabTrace *trace, gint64 number, gboolean is_any)
{
  for (guint i = 0; i < trace->ranks->len; i++) {
    const FabTracedRank *rank = g_ptr_array_index (trace->ranks, i);

    if (rank->ops->len > 0 && (is_any || (number >= 0 && rank->rank == number)))
      return rank;
  }
  return NULL;
}

static void
count_kinds (const FabTrace *trace, guint *n_timed, guint *n_graphs)
{
  *n_timed = *n_graphs = 0;
  for (guint i = 0; i < trace->ranks->len; i++) {
    const FabTracedRank *rank = g_ptr_array_index (trace->ranks, i);

    *n_timed += rank->ops->len > 0;
    *n_graphs += is_graph (rank);
  }
}

void
fab_trace_join (FabTrace *trace)
{
  guint n_timed, n_graphs, n_sizes = 0, n_joined = 0;

  count_kinds (trace, &n_timed, &n_graphs);
  if (n_graphs == 0)
    return;
  number_graphs (trace);
  if (n_timed == 0)
    return;
  for (guint i = trace->ranks->len; i-- > 0;) {
    const FabTracedRank *graph = g_ptr_array_index (trace->ranks, i), *rank;
    guint n;

    if (!is_graph (graph))
      continue;
    rank = timed_rank (trace, graph->rank, n_timed == 1 && n_graphs == 1);
    n = rank != NULL ? join_rank (rank, graph) : 0;
    n_joined += n > 0;
    n_sizes += n;
    g_ptr_array_remove_index (trace->ranks, i);
  }
  fab_trace_note (trace, FAB_NOTE_READ, NULL, 0, "Execution traces gave sizes to %u collectives of %u ranks",
                  n_sizes, n_joined);
  if (n_joined < n_graphs)
    fab_trace_note (
        trace, FAB_NOTE_LEFT_OUT, NULL, 0,
        "%u execution traces gave none: there is no profile of their rank, its collectives have sizes, or "
        "they are other ones than those of a step",
        n_graphs - n_joined);
}
