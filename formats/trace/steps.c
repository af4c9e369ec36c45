/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - to which step of the job each operation of a timed rank belongs.
 *
 * A step is what its launches caused: the host runs ahead, so a kernel may run while the host is steps further on. The
 * n-th kernel that the host gives to a stream is the n-th that runs there. So a kernel whose launch was not recorded
 * was launched after the kernel that runs before it on its stream; where it runs before all that were launched in the
 * recorded time, it was launched before the recording began, and it is of no step. A trace without any launch has only
 * the times of its kernels.
 *
 * Where the profiler marks no steps, those of the optimizer end them: torch.optim.Optimizer.profile_hook_step names
 * them "Optimizer.step#CLASS.step".
 */
#include "formats/trace/reading.h"
#include "sim/base/order.h"

/* Marks of several optimizers end one step: fewer than this part of the launches of the longest stretch lie between
 * them. The first stretch is a part of a step if it has less than the second part of the launches of the next one. */
#define SAME_STEP_PART 0.1
#define WHOLE_STEP_PART 0.9

static gint
compare_steps (gconstpointer a, gconstpointer b)
{
  const FabTraceStep *left = a, *right = b;

  return fab_order_int64s (&left->start_ps, &right->start_ps);
}

/* Index of the step in which `at_ps` lies, or -1. */
static gint32
step_at (const FabTracedRank *rank, FabTimePs at_ps)
{
  guint low = 0, high = rank->steps->len;

  while (low < high) {
    guint middle = (low + high) / 2;

    if (g_array_index (rank->steps, FabTraceStep, middle).start_ps <= at_ps)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0 || at_ps >= g_array_index (rank->steps, FabTraceStep, low - 1).end_ps)
    return -1;
  return (gint32) low - 1;
}

/* --- steps that the optimizer ends --- */

/* The times of all launches, sorted. (transfer full) */
static GArray *
launch_times (const FabTracedRank *rank)
{
  GArray *times = g_array_new (FALSE, FALSE, sizeof (FabTimePs));

  for (guint i = 0; i < rank->launches->len; i++)
    g_array_append_val (times, g_array_index (rank->launches, FabTraceLaunch, i).at_ps);
  g_array_sort (times, fab_order_int64s);
  return times;
}

/* Stretches of the host's time, each of which the end of a mark ends. Their numbers are those of their launches.
 * (transfer full) */
static GArray *
stretches_of (const FabTracedRank *rank, guint *most)
{
  GArray *stretches = g_array_new (FALSE, FALSE, sizeof (FabTraceStep));
  g_autoptr (GArray) launches = launch_times (rank);
  FabTimePs from_ps = G_MININT64;
  guint at = 0;

  *most = 0;
  for (guint i = 0; i < rank->optimizer_steps->len; i++) {
    FabTraceStep stretch = { .start_ps = from_ps,
                             .end_ps = g_array_index (rank->optimizer_steps, FabTraceStep, i).end_ps };

    for (; at < launches->len && g_array_index (launches, FabTimePs, at) < stretch.end_ps; at++)
      stretch.number++;
    *most = MAX (*most, (guint) stretch.number);
    g_array_append_val (stretches, stretch);
    from_ps = MAX (from_ps, stretch.end_ps);
  }
  return stretches;
}

/* Whether the stretches at `i` and before it are of one step. */
static gboolean
is_same_step (const GArray *stretches, guint i, guint most)
{
  return i > 0 && (double) g_array_index (stretches, FabTraceStep, i).number < SAME_STEP_PART * most;
}

static void
merge (GArray *stretches, guint most)
{
  guint n = 0;

  for (guint i = 0; i < stretches->len; i++) {
    const FabTraceStep *stretch = &g_array_index (stretches, FabTraceStep, i);

    if (is_same_step (stretches, i, most)) {
      FabTraceStep *to = &g_array_index (stretches, FabTraceStep, n - 1);

      to->end_ps = stretch->end_ps;
      to->number += stretch->number;
    } else
      g_array_index (stretches, FabTraceStep, n++) = *stretch;
  }
  g_array_set_size (stretches, n);
}

static void
steps_from_optimizer (FabTrace *trace, FabTracedRank *rank)
{
  guint most, first = 0;
  g_autoptr (GArray) stretches = NULL;

  g_array_sort (rank->optimizer_steps, compare_steps);
  stretches = stretches_of (rank, &most);
  merge (stretches, most);
  if (stretches->len < 2)
    return;
  first = (double) g_array_index (stretches, FabTraceStep, 0).number
        < WHOLE_STEP_PART * (double) g_array_index (stretches, FabTraceStep, 1).number;
  for (guint i = first; i < stretches->len; i++) {
    FabTraceStep step = g_array_index (stretches, FabTraceStep, i);

    step.number = i - first;
    g_array_append_val (rank->steps, step);
  }
  fab_trace_note (trace, FAB_NOTE_INFERRED, rank->source, 0,
                  "%s: the profiler marked no steps, so that the optimizer's %u steps end them%s",
                  rank->source, stretches->len,
                  first > 0 ? "; the first one began before the recording and is left out" : "");
}

/* --- kernels --- */

static gboolean
has_launched_ops (const FabTracedRank *rank)
{
  FabTimePs at_ps;

  for (guint i = 0; i < rank->ops->len; i++)
    if (fab_trace_launch_of (rank, &g_array_index (rank->ops, FabTraceOp, i), &at_ps))
      return TRUE;
  return FALSE;
}

typedef struct {
  FabTimePs last_ps; /* when the host launched the kernel that ran last; G_MININT64: none yet */
  gboolean is_seen;  /* a kernel whose launch was recorded runs here at some time */
} Stream;

typedef struct {
  GHashTable *indices; /* stream: index in `all`, plus 1 */
  GArray *all;         /* Stream */
  FabTimePs last_ps;   /* of all streams */
} Streams;

static Stream *
stream_of (Streams *self, guint32 number)
{
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (self->indices, GUINT_TO_POINTER (number)));

  if (index == 0) {
    Stream stream = { .last_ps = G_MININT64 };

    g_array_append_val (self->all, stream);
    index = self->all->len;
    g_hash_table_insert (self->indices, GUINT_TO_POINTER (number), GUINT_TO_POINTER (index));
  }
  return &g_array_index (self->all, Stream, index - 1);
}

static void
see_streams (Streams *self, const FabTracedRank *rank)
{
  FabTimePs at_ps;

  for (guint i = 0; i < rank->ops->len; i++) {
    const FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, i);

    if (fab_trace_launch_of (rank, op, &at_ps))
      stream_of (self, op->stream)->is_seen = TRUE;
  }
}

/* When the host launched the operation, or what ran before it on its stream; on any stream where no launch of the
 * stream was recorded. G_MININT64: before the recording. An operation that names no launch is never that: it counts as
 * launched when it began. */
static FabTimePs
launched_at (Streams *self, const FabTracedRank *rank, const FabTraceOp *op)
{
  Stream *stream = stream_of (self, op->stream);
  FabTimePs at_ps;

  if (!fab_trace_launch_of (rank, op, &at_ps))
    at_ps = stream->is_seen ? stream->last_ps : self->last_ps;
  else
    stream->last_ps = self->last_ps = at_ps;
  return at_ps == G_MININT64 && op->launch < 0 ? op->start_ps : at_ps;
}

/* Returns how many operations were launched before the recording began. */
static guint
place_launched (FabTracedRank *rank)
{
  g_autoptr (GHashTable) indices = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Stream));
  Streams streams = { .indices = indices, .all = all, .last_ps = G_MININT64 };
  guint n_before = 0;

  see_streams (&streams, rank);
  for (guint i = 0; i < rank->ops->len; i++) {
    FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, i);
    FabTimePs at_ps = launched_at (&streams, rank, op);

    n_before += at_ps == G_MININT64;
    op->step = at_ps == G_MININT64 ? -1 : step_at (rank, at_ps);
  }
  return n_before;
}

static void
place_by_time (FabTracedRank *rank)
{
  for (guint i = 0; i < rank->ops->len; i++) {
    FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, i);

    op->step = step_at (rank, op->start_ps);
  }
}

/* One step that holds all launches. */
static void
add_whole_step (FabTracedRank *rank)
{
  FabTraceStep step = { .number = 0, .start_ps = G_MININT64, .end_ps = G_MAXINT64 };

  g_array_append_val (rank->steps, step);
}

void
fab_trace_find_steps (FabTrace *trace, FabTracedRank *rank)
{
  gboolean is_launched = has_launched_ops (rank), is_marked;
  guint n_before;

  if (rank->steps->len == 0 && is_launched)
    steps_from_optimizer (trace, rank);
  g_array_sort (rank->steps, compare_steps);
  is_marked = rank->steps->len > 0;
  if (!is_launched) {
    if (is_marked)
      place_by_time (rank);
    return;
  }
  n_before = place_launched (rank);
  if (!is_marked && n_before > 0) { /* else all of it is one step, as in a trace without launches */
    add_whole_step (rank);
    place_launched (rank);
  }
  if (n_before > 0)
    fab_trace_note (trace, FAB_NOTE_LEFT_OUT, rank->source, 0,
                    "%s: %u %s before the first one of %s stream whose launch was recorded, so that the host "
                    "launched %s before the recording began, and no step here has %s",
                    rank->source, n_before, n_before == 1 ? "operation ran" : "operations ran",
                    n_before == 1 ? "its" : "their", n_before == 1 ? "it" : "them",
                    n_before == 1 ? "it" : "them");
}
