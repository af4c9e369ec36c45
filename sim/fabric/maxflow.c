/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/maxflow.h"

typedef struct {
  guint to;
  guint next;  /* next edge of the same point; NONE: the last one */
  double room; /* capacity that is left */
} Pipe;        /* edges 2k and 2k + 1 are each other's reverse */

enum { NONE = G_MAXUINT };

struct _FabMaxflow {
  guint n_points;
  GArray *pipes;   /* Pipe */
  guint *first;    /* per point: its first edge */
  guint *at;       /* per point: the edge to try next in this phase */
  guint *levels;   /* per point: number of edges from the source; NONE: not reached */
  guint *trail;    /* edges from the source to the current point of the search */
  double smallest; /* a smaller amount is rounding */
};

FabMaxflow *
fab_maxflow_new (guint n_points)
{
  FabMaxflow *self = g_new0 (FabMaxflow, 1);

  self->n_points = n_points;
  self->pipes = g_array_new (FALSE, FALSE, sizeof (Pipe));
  self->first = g_new (guint, n_points + 1);
  self->at = g_new (guint, n_points + 1);
  self->levels = g_new (guint, n_points + 1);
  self->trail = g_new (guint, n_points + 1);
  for (guint i = 0; i < n_points; i++)
    self->first[i] = NONE;
  return self;
}

void
fab_maxflow_free (FabMaxflow *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->pipes);
  g_free (self->first);
  g_free (self->at);
  g_free (self->levels);
  g_free (self->trail);
  g_free (self);
}

static Pipe *
pipe_at (const FabMaxflow *self, guint pipe)
{
  return &g_array_index (self->pipes, Pipe, pipe);
}

static void
add_half (FabMaxflow *self, guint from, guint to, double room)
{
  Pipe pipe = { to, self->first[from], room };

  self->first[from] = self->pipes->len;
  g_array_append_val (self->pipes, pipe);
}

void
fab_maxflow_add (FabMaxflow *self, guint from, guint to, double capacity)
{
  g_assert (from < self->n_points && to < self->n_points && capacity >= 0);
  add_half (self, from, to, capacity);
  add_half (self, to, from, 0);
  self->smallest = MAX (self->smallest, capacity * 1e-12);
}

/* Returns FALSE when the sink cannot be reached. `trail` serves as the queue. */
static gboolean
find_levels (FabMaxflow *self, guint source, guint sink)
{
  guint head = 0, tail = 0;

  for (guint i = 0; i < self->n_points; i++) {
    self->levels[i] = NONE;
    self->at[i] = self->first[i];
  }
  self->levels[source] = 0;
  self->trail[tail++] = source;
  while (head < tail) {
    guint point = self->trail[head++];

    for (guint pipe = self->first[point]; pipe != NONE; pipe = pipe_at (self, pipe)->next) {
      guint to = pipe_at (self, pipe)->to;

      if (pipe_at (self, pipe)->room <= self->smallest || self->levels[to] != NONE)
        continue;
      self->levels[to] = self->levels[point] + 1;
      self->trail[tail++] = to;
    }
  }
  return self->levels[sink] != NONE;
}

/* Returns the next edge of `point` that leads one level on; NONE: there is no more. */
static guint
next_pipe (FabMaxflow *self, guint point)
{
  for (; self->at[point] != NONE; self->at[point] = pipe_at (self, self->at[point])->next) {
    const Pipe *pipe = pipe_at (self, self->at[point]);

    if (pipe->room > self->smallest && self->levels[pipe->to] == self->levels[point] + 1)
      break;
  }
  return self->at[point];
}

static double
push (FabMaxflow *self, guint n_trail)
{
  double room = G_MAXDOUBLE;

  for (guint i = 0; i < n_trail; i++)
    room = MIN (room, pipe_at (self, self->trail[i])->room);
  for (guint i = 0; i < n_trail; i++) {
    pipe_at (self, self->trail[i])->room -= room;
    pipe_at (self, self->trail[i] ^ 1)->room += room;
  }
  return room;
}

/* Follows paths along the levels until no more flow gets through, and steps back from dead ends. */
static double
find_blocking_flow (FabMaxflow *self, guint source, guint sink)
{
  guint point = source, n_trail = 0;
  double sum = 0;

  for (;;) {
    guint pipe = point == sink ? NONE : next_pipe (self, point);

    if (point == sink) {
      sum += push (self, n_trail);
      n_trail = 0;
      point = source;
    } else if (pipe != NONE) {
      self->trail[n_trail++] = pipe;
      point = pipe_at (self, pipe)->to;
    } else if (point == source) {
      return sum;
    } else {
      guint back = self->trail[--n_trail];

      point = pipe_at (self, back ^ 1)->to;
      self->at[point] = pipe_at (self, back)->next;
    }
  }
}

double
fab_maxflow_solve (FabMaxflow *self, guint source, guint sink)
{
  double sum = 0;

  g_assert (source != sink && source < self->n_points && sink < self->n_points);
  while (find_levels (self, source, sink))
    sum += find_blocking_flow (self, source, sink);
  return sum;
}
