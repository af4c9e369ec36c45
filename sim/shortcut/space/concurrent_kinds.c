/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/space/concurrent_kinds.h"

#include <string.h>

/* More work than this, in tasks that are visited, is not spent. */
#define MOST_VISITS G_GUINT64_CONSTANT (40000000)

enum { THIS, NEXT, N_ITERATIONS };

typedef struct {
  const FabDag *dag;
  gboolean has_next;
  guint *join_starts, *joins; /* the tasks that join each collective */
  guint *seen_tasks;          /* [N_ITERATIONS * n_tasks] the visit in which it was seen, from 1 */
  guint8 *reached;            /* [N_ITERATIONS * n_collectives * n_collectives] from, to */
  GArray *stack;              /* guint: task of an iteration */
  guint visit;
} Search;

static void
index_joins (Search *self)
{
  const FabDag *dag = self->dag;
  guint n = 0;

  self->join_starts = g_new0 (guint, dag->n_collectives + 1);
  for (FabTaskId t = 0; t < dag->n_tasks; t++)
    if (dag->tasks[t].collective >= 0)
      self->join_starts[dag->tasks[t].collective + 1]++;
  for (guint c = 0; c < dag->n_collectives; c++)
    self->join_starts[c + 1] += self->join_starts[c];
  n = self->join_starts[dag->n_collectives];
  g_autofree guint *next = g_memdup2 (self->join_starts, (dag->n_collectives + 1) * sizeof (guint));
  self->joins = g_new (guint, n + 1);
  for (FabTaskId t = 0; t < dag->n_tasks; t++)
    if (dag->tasks[t].collective >= 0)
      self->joins[next[dag->tasks[t].collective]++] = t;
}

static void
push (Search *self, guint iteration, FabTaskId task)
{
  guint number = iteration * self->dag->n_tasks + task;

  if (self->seen_tasks[number] == self->visit)
    return;
  self->seen_tasks[number] = self->visit;
  g_array_append_val (self->stack, number);
}

static guint8 *
reached_at (const Search *self, guint iteration, guint from, guint to)
{
  gsize n = self->dag->n_collectives;

  return &self->reached[(iteration * n + from) * n + to];
}

/* All that join a collective end with it. */
static void
push_collective (Search *self, guint iteration, guint collective)
{
  for (guint i = self->join_starts[collective]; i < self->join_starts[collective + 1]; i++)
    push (self, iteration, self->joins[i]);
}

/* Follows all that waits for a collective of the first iteration. */
static void
search_from (Search *self, guint from)
{
  const FabDag *dag = self->dag;

  self->visit++;
  push_collective (self, THIS, from);
  while (self->stack->len > 0) {
    guint number = g_array_index (self->stack, guint, self->stack->len - 1);
    guint iteration = number / dag->n_tasks;
    FabTaskId task = number % dag->n_tasks;
    gint32 collective = dag->tasks[task].collective;

    g_array_set_size (self->stack, self->stack->len - 1);
    if (collective >= 0) {
      *reached_at (self, iteration, from, (guint) collective) = TRUE;
      push_collective (self, iteration, (guint) collective);
    }
    for (guint i = dag->next_starts[task]; i < dag->next_starts[task + 1]; i++)
      push (self, iteration, dag->next[i]);
    for (guint i = dag->carried_starts[task]; iteration == THIS && i < dag->carried_starts[task + 1]; i++)
      push (self, NEXT, dag->carried[i]);
  }
}

static gboolean
may_meet (const Search *self, guint a, guint b)
{
  gboolean is_ordered = *reached_at (self, THIS, a, b) || *reached_at (self, THIS, b, a);

  return !is_ordered
      || (self->has_next && (!*reached_at (self, NEXT, a, b) || !*reached_at (self, NEXT, b, a)));
}

static gboolean
is_too_much (const FabDag *dag)
{
  guint64 n_edges = (guint64) dag->next_starts[dag->n_tasks] + dag->carried_starts[dag->n_tasks];

  return N_ITERATIONS * (dag->n_tasks + n_edges) * dag->n_collectives > MOST_VISITS;
}

guint8 *
fab_concurrency_find (const FabDag *dag, gboolean has_next, const guint *kinds, guint n_kinds)
{
  gsize n = dag->n_collectives;

  if (is_too_much (dag))
    return NULL;
  guint8 *may = g_new0 (guint8, (gsize) n_kinds * n_kinds + 1);
  g_autofree guint *seen = g_new0 (guint, N_ITERATIONS * dag->n_tasks + 1);
  g_autofree guint8 *reached = g_new0 (guint8, N_ITERATIONS * n * n + 1);
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (guint));
  Search search = {
    .dag = dag, .has_next = has_next, .seen_tasks = seen, .reached = reached, .stack = stack
  };

  index_joins (&search);
  for (guint c = 0; c < n; c++)
    search_from (&search, c);
  for (guint a = 0; a < n; a++)
    for (guint b = 0; b < a; b++)
      if (kinds[a] != FAB_NO_KIND && kinds[b] != FAB_NO_KIND && may_meet (&search, a, b))
        may[(gsize) kinds[a] * n_kinds + kinds[b]] = may[(gsize) kinds[b] * n_kinds + kinds[a]] = TRUE;
  g_free (search.join_starts);
  g_free (search.joins);
  return may;
}
