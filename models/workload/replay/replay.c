/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - takes a step out of a trace: its operations by rank, ranks that did the same, collectives with the ranks
 * that meet in them.
 *
 * Rank r of the machine does as rank r mod W of the trace, which has W ranks. One that has no trace does as the traced
 * rank before it, the first ones as the first traced rank. Ranks whose operations have the same names, times and
 * communication are one class.
 *
 * The n-th operation of one kind in the groups of one shape is the same collective on all ranks whose groups hold
 * ranks of the same classes.
 */
#include <string.h>

#include "models/workload/replay/replay.h"
#include "sim/base/error.h"

enum { MAX_OPERATIONS = 4000000, MAX_STREAMS = 256, MAX_SHAPES = 4096 };

static void
class_clear (gpointer data)
{
  ReplayClass *self = data;

  g_array_unref (self->ops);
  g_array_unref (self->streams);
}

static void
meeting_clear (gpointer data)
{
  ReplayMeeting *self = data;

  g_free (self->name);
  g_array_unref (self->ranks);
}

void
replay_free (Replay *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->classes);
  g_array_unref (self->meetings);
  g_free (self);
}

static ReplayClass *
class_at (const Replay *self, guint i)
{
  return &g_array_index (self->classes, ReplayClass, i);
}

/* --- the step --- */

static gboolean
has_step (const FabTracedRank *rank, gint64 number)
{
  for (guint i = 0; i < rank->steps->len; i++)
    if (g_array_index (rank->steps, FabTraceStep, i).number == number)
      return TRUE;
  return FALSE;
}

/* Finds the number of the step-th step that all ranks have; -1: the trace has no steps, and all of it is one. */
static gboolean
find_step (const FabTrace *trace, guint step, gint64 *number, GError **error)
{
  const FabTracedRank *first = g_ptr_array_index (trace->ranks, 0);
  guint n_found = 0, n_with = 0;

  *number = -1;
  for (guint i = 0; i < trace->ranks->len; i++)
    n_with += ((const FabTracedRank *) g_ptr_array_index (trace->ranks, i))->steps->len > 0;
  if (n_with == 0 && step == 0)
    return TRUE;
  if (n_with > 0 && n_with < trace->ranks->len)
    return fab_throw (error, FAB_ERROR_INPUT, "job: %u of the %u traced ranks have no ProfilerStep",
                      trace->ranks->len - n_with, trace->ranks->len);
  for (guint k = 0; k < first->steps->len; k++) {
    gboolean is_everywhere = TRUE;

    *number = g_array_index (first->steps, FabTraceStep, k).number;
    for (guint i = 1; i < trace->ranks->len && is_everywhere; i++)
      is_everywhere = has_step (g_ptr_array_index (trace->ranks, i), *number);
    if (is_everywhere && n_found++ == step)
      return TRUE;
  }
  return fab_throw (error, FAB_ERROR_INPUT,
                    "job: there is no step %u; the traced ranks have %u in common, "
                    "from 0",
                    step, n_with == 0 ? 1 : n_found);
}

static guint
stream_of (ReplayClass *self, guint32 number)
{
  for (guint i = 0; i < self->streams->len; i++)
    if (g_array_index (self->streams, guint32, i) == number)
      return i;
  g_array_append_val (self->streams, number);
  return self->streams->len - 1;
}

static gint64
step_number (const FabTracedRank *rank, const FabTraceOp *op)
{
  return op->step < 0 ? -1 : g_array_index (rank->steps, FabTraceStep, op->step).number;
}

/* Fills `self` with the operations of a step, and sets *next_ps to the start of the next one; G_MAXINT64: none. */
static gboolean
take_ops (ReplayClass *self, gint64 number, FabTimePs *next_ps, GError **error)
{
  const FabTracedRank *rank = self->traced;
  FabTimePs first_ps = 0, last_ps = 0;

  *next_ps = G_MAXINT64;
  for (guint i = 0; i < rank->ops->len; i++) {
    const FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, i);
    gint64 step = rank->steps->len > 0 ? step_number (rank, op) : -1;
    ReplayOp taken = { .op = op, .meeting = -1 };

    if (step == number + 1 && number >= 0)
      *next_ps = MIN (*next_ps, op->start_ps);
    if (step != number)
      continue;
    first_ps = self->ops->len == 0 ? op->start_ps : first_ps;
    taken.start_ps = op->start_ps - first_ps;
    taken.end_ps = op->end_ps - first_ps;
    last_ps = MAX (last_ps, taken.end_ps);
    taken.stream = stream_of (self, op->stream);
    g_array_append_val (self->ops, taken);
    if (self->streams->len > MAX_STREAMS || self->ops->len > MAX_OPERATIONS)
      return fab_throw (error, FAB_ERROR_INPUT,
                        "job: %s: the step has more than %d streams or %d operations, which is too many",
                        rank->source, MAX_STREAMS, MAX_OPERATIONS);
  }
  if (self->ops->len == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "job: %s: the step has no operation with a time", rank->source);
  if (*next_ps != G_MAXINT64)
    self->tail_ps = MAX (*next_ps - first_ps - last_ps, 0);
  self->offset_ps = first_ps + rank->shift_ps;
  return TRUE;
}

/* --- ranks that did the same --- */

static gboolean
same_comm (const ReplayClass *a, const FabTraceOp *left, const ReplayClass *b, const FabTraceOp *right)
{
  const FabTraceComm *x, *y;

  if (left->comm < 0 || right->comm < 0)
    return left->comm < 0 && right->comm < 0;
  x = &g_array_index (a->traced->comms, FabTraceComm, left->comm);
  y = &g_array_index (b->traced->comms, FabTraceComm, right->comm);
  return x->bytes == y->bytes && x->n_ranks == y->n_ranks && strcmp (x->op, y->op) == 0
      && strcmp (x->dimension, y->dimension) == 0;
}

static gboolean
same_class (const ReplayClass *a, const ReplayClass *b)
{
  if (a->ops->len != b->ops->len || a->offset_ps != b->offset_ps || a->tail_ps != b->tail_ps)
    return FALSE;
  for (guint i = 0; i < a->ops->len; i++) {
    const ReplayOp *left = &g_array_index (a->ops, ReplayOp, i),
                   *right = &g_array_index (b->ops, ReplayOp, i);

    if (left->start_ps != right->start_ps || left->end_ps != right->end_ps || left->stream != right->stream
        || left->op->kind != right->op->kind || left->op->name != right->op->name
        || !same_comm (a, left->op, b, right->op))
      return FALSE;
  }
  return TRUE;
}

static guint
hash_class (gconstpointer data)
{
  const ReplayClass *self = data;
  guint64 hash = self->ops->len;

  for (guint i = 0; i < self->ops->len; i++)
    hash = hash * 31 + (guint64) g_array_index (self->ops, ReplayOp, i).end_ps;
  return (guint) (hash ^ hash >> 32);
}

static gboolean
equal_classes (gconstpointer a, gconstpointer b)
{
  return same_class (a, b);
}

/* --- which ranks of the machine do what --- */

/* Index of the traced rank as which rank `rank` of the trace does: the last one up to it, or the first of all. */
static guint
traced_of (const FabTrace *trace, guint rank)
{
  guint low = 1, high = trace->ranks->len;

  while (low < high) {
    guint middle = (low + high) / 2;

    if (((const FabTracedRank *) g_ptr_array_index (trace->ranks, middle))->rank <= rank)
      low = middle + 1;
    else
      high = middle;
  }
  return low - 1;
}

typedef struct {
  const FabTrace *trace;
  Replay *replay;
  guint n_ranks;
  gboolean is_unfolded;
  GArray *taken;        /* ReplayClass of every traced rank */
  guint *class_of;      /* class of every rank of the machine */
  GHashTable *meetings; /* from key to index + 1 */
  GHashTable *shapes;   /* from shape to parts */
} Maker;

static gboolean
take_all (Maker *self, guint step, GError **error)
{
  FabTimePs first_ps = G_MAXINT64;
  gint64 number;

  if (!find_step (self->trace, step, &number, error))
    return FALSE;
  for (guint i = 0; i < self->trace->ranks->len; i++) {
    ReplayClass taken = { .traced = g_ptr_array_index (self->trace->ranks, i),
                          .ops = g_array_new (FALSE, FALSE, sizeof (ReplayOp)),
                          .streams = g_array_new (FALSE, FALSE, sizeof (guint32)) };
    FabTimePs next_ps;

    g_array_append_val (self->taken, taken);
    ReplayClass *kept = &g_array_index (self->taken, ReplayClass, i);
    if (!take_ops (kept, number, &next_ps, error))
      return FALSE;
    self->replay->is_lone = self->replay->is_lone || next_ps == G_MAXINT64;
    first_ps = MIN (first_ps, kept->offset_ps);
  }
  for (guint i = 0; i < self->taken->len; i++) {
    ReplayClass *kept = &g_array_index (self->taken, ReplayClass, i);

    kept->offset_ps = self->replay->is_lone ? kept->offset_ps - first_ps : 0;
    kept->tail_ps = self->replay->is_lone ? 0 : kept->tail_ps;
  }
  return TRUE;
}

/* Adds a class that does what a traced rank did. Returns its index + 1. */
static guint
add_class (Maker *self, const ReplayClass *taken, guint first_rank)
{
  ReplayClass made = *taken;

  made.ops = g_array_copy (taken->ops); /* each class has its own meetings */
  g_array_ref (made.streams);
  made.first_rank = first_rank;
  g_array_append_val (self->replay->classes, made);
  return self->replay->classes->len;
}

static void
make_classes (Maker *self)
{
  g_autoptr (GHashTable) known = g_hash_table_new (hash_class, equal_classes);
  guint n_world = self->replay->n_world;

  for (guint rank = 0; rank < self->n_ranks; rank++) {
    guint i = traced_of (self->trace, rank % n_world);
    ReplayClass *taken = &g_array_index (self->taken, ReplayClass, i);
    guint number = self->is_unfolded ? 0 : GPOINTER_TO_UINT (g_hash_table_lookup (known, taken));

    if (number == 0) {
      number = add_class (self, taken, rank);
      g_hash_table_insert (known, taken, GUINT_TO_POINTER (number));
    }
    ReplayClass *class = class_at (self->replay, number - 1);
    class->n_ranks++;
    class->n_inferred += rank >= n_world || taken->traced->rank != rank;
    self->class_of[rank] = number - 1;
  }
}

/* --- who meets whom --- */

/* The classes whose ranks are in the same groups of a shape are one part of it. */
typedef struct {
  guint *part; /* per class, the smallest class of its part */
} Parts;

static void
parts_free (gpointer data)
{
  g_free (((Parts *) data)->part);
  g_free (data);
}

static guint
part_of (const Parts *parts, guint class)
{
  while (parts->part[class] != class)
    class = parts->part[class];
  return class;
}

static guint
n_groups (const Maker *self, const ReplayShape *shape)
{
  return shape->list != NULL ? 1 : self->n_ranks / shape->n_ranks;
}

static const Parts *
find_parts (Maker *self, const ReplayShape *shape, const char *name)
{
  Parts *parts = g_hash_table_lookup (self->shapes, name);
  guint n_classes = self->replay->classes->len;
  g_autofree guint *ranks = g_new (guint, shape->n_ranks);

  if (parts != NULL)
    return parts;
  parts = g_new0 (Parts, 1);
  parts->part = g_new (guint, n_classes);
  for (guint c = 0; c < n_classes; c++)
    parts->part[c] = c;
  for (guint g = 0; g < n_groups (self, shape); g++) {
    replay_shape_group (shape, self->n_ranks, g, ranks);
    for (guint i = 1; i < shape->n_ranks; i++) {
      guint a = part_of (parts, self->class_of[ranks[0]]), b = part_of (parts, self->class_of[ranks[i]]);

      parts->part[MAX (a, b)] = MIN (a, b);
    }
  }
  g_hash_table_insert (self->shapes, g_strdup (name), parts);
  return parts;
}

static char *
shape_name (const ReplayShape *shape)
{
  GString *name = g_string_new (NULL);

  g_string_append_printf (name, "%u x %u + %u", shape->n_ranks, shape->stride, shape->phase);
  for (guint i = 0; shape->list != NULL && i < shape->list->len; i++)
    g_string_append_printf (name, " %u", g_array_index (shape->list, guint, i));
  return g_string_free (name, FALSE);
}

static gint
find_name (const char *const *names, const char *name)
{
  for (gint i = 0; names[i] != NULL; i++)
    if (strcmp (names[i], name) == 0)
      return i;
  return -1;
}

/* Only the groups that hold ranks of the part communicate. */
static GArray *
list_ranks (const Maker *self, const ReplayShape *shape, const Parts *parts, guint part)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree guint *ranks = g_new (guint, shape->n_ranks);

  for (guint g = 0; g < n_groups (self, shape); g++) {
    replay_shape_group (shape, self->n_ranks, g, ranks);
    if (part_of (parts, self->class_of[ranks[0]]) == part)
      g_array_append_vals (all, ranks, shape->n_ranks);
  }
  return all;
}

/* Returns the index of the meeting, which it makes for the first one. */
static gint32
find_meeting (Maker *self, const ReplayShape *shape, guint class, const FabTraceComm *comm,
              GHashTable *counts)
{
  g_autofree char *name = shape_name (shape);
  const Parts *parts = find_parts (self, shape, name);
  guint part = part_of (parts, class), n, index;
  g_autofree char *kind = g_strdup_printf ("%s|%s|%s|%u", comm->op, comm->dimension, name, part);
  g_autofree char *key = NULL;

  n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, kind));
  key = g_strdup_printf ("%s|%u", kind, n);
  g_hash_table_insert (counts, g_steal_pointer (&kind), GUINT_TO_POINTER (n + 1));
  index = GPOINTER_TO_UINT (g_hash_table_lookup (self->meetings, key));
  if (index == 0) {
    ReplayMeeting made = { .name = g_strdup_printf ("%u", n + 1),
                           .op = (FabOp) MAX (find_name (fab_op_names, comm->op), 0),
                           .dimension = FAB_DIMENSION_OTHER,
                           .measured_ps = G_MAXINT64,
                           .n_ranks = shape->n_ranks,
                           .ranks = list_ranks (self, shape, parts, part) };
    gint dimension = find_name (fab_dimension_names, comm->dimension);

    if (dimension >= 0)
      made.dimension = (FabDimension) dimension;
    g_array_append_val (self->replay->meetings, made);
    index = self->replay->meetings->len;
    g_hash_table_insert (self->meetings, g_steal_pointer (&key), GUINT_TO_POINTER (index));
  }
  return (gint32) index - 1;
}

static gboolean
meet_class (Maker *self, guint class, GError **error)
{
  ReplayClass *own = class_at (self->replay, class);
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < own->ops->len; i++) {
    ReplayOp *op = &g_array_index (own->ops, ReplayOp, i);
    const FabTraceComm *comm;
    ReplayMeeting *meeting;
    ReplayShape shape;

    if (op->op->comm < 0)
      continue;
    comm = &g_array_index (own->traced->comms, FabTraceComm, op->op->comm);
    if (!replay_shape (comm, (guint) own->traced->rank, self->replay->n_world, self->n_ranks, &shape, error))
      return FALSE;
    if (shape.n_ranks > 1)
      op->meeting = find_meeting (self, &shape, class, comm, counts);
    g_clear_pointer (&shape.list, g_array_unref);
    if (g_hash_table_size (self->shapes) > MAX_SHAPES)
      return fab_throw (error, FAB_ERROR_INPUT, "job: %s: more than %d kinds of groups communicate",
                        own->traced->source, MAX_SHAPES);
    if (op->meeting < 0)
      continue;
    meeting = &g_array_index (self->replay->meetings, ReplayMeeting, op->meeting);
    meeting->bytes = MAX (meeting->bytes, comm->bytes);
    meeting->measured_ps = MIN (meeting->measured_ps, op->end_ps - op->start_ps);
  }
  return TRUE;
}

static gboolean
make (Maker *self, guint step, GError **error)
{
  if (!take_all (self, step, error))
    return FALSE;
  make_classes (self);
  for (guint c = 0; c < self->replay->classes->len; c++)
    if (!meet_class (self, c, error))
      return FALSE;
  for (guint m = 0; m < self->replay->meetings->len; m++)
    self->replay->n_without_size += g_array_index (self->replay->meetings, ReplayMeeting, m).bytes == 0;
  return TRUE;
}

Replay *
replay_new (const FabTrace *trace, guint step, guint n_ranks, gboolean is_unfolded, GError **error)
{
  g_autoptr (Replay) replay = g_new0 (Replay, 1);
  Maker self = { .trace = trace, .replay = replay, .n_ranks = n_ranks, .is_unfolded = is_unfolded };
  gboolean is_made;

  replay->classes = g_array_new (FALSE, FALSE, sizeof (ReplayClass));
  g_array_set_clear_func (replay->classes, class_clear);
  replay->meetings = g_array_new (FALSE, FALSE, sizeof (ReplayMeeting));
  g_array_set_clear_func (replay->meetings, meeting_clear);
  replay->n_world = trace->ranks->len;
  for (guint i = 0; i < trace->ranks->len; i++) {
    const FabTracedRank *rank = g_ptr_array_index (trace->ranks, i);

    replay->n_world = MAX (replay->n_world, MAX (rank->n_world, (guint) rank->rank + 1));
  }
  self.taken = g_array_new (FALSE, FALSE, sizeof (ReplayClass));
  g_array_set_clear_func (self.taken, class_clear);
  self.class_of = g_new0 (guint, n_ranks);
  self.meetings = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self.shapes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, parts_free);
  is_made = make (&self, step, error);
  g_array_unref (self.taken);
  g_free (self.class_of);
  g_hash_table_unref (self.meetings);
  g_hash_table_unref (self.shapes);
  return is_made ? g_steal_pointer (&replay) : NULL;
}
