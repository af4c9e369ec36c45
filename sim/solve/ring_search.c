/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/solve/ring_search.h"

#include <string.h>

enum {
  MOVES_PER_VERTEX = 3000, /* for each size of a set */
  MOST_CUT_VERTICES = 12,  /* up to this size every cut is examined */
  MOST_LOAD = 2,
};

void
fab_ring_set_clear (FabRingSet *self)
{
  g_clear_pointer (&self->orders, g_free);
  self->n_orders = 0;
}

static guint *
scale (const guint *counts, guint n, guint load)
{
  guint *capacity = g_new (guint, n * n);

  for (guint i = 0; i < n * n; i++)
    capacity[i] = i % (n + 1) == 0 ? 0 : counts[i] * load;
  return capacity;
}

/* Returns the number of links out of a set of vertices. */
static guint
links_out (const guint *counts, guint n, guint64 set)
{
  guint sum = 0;

  for (guint from = 0; from < n; from++)
    for (guint to = 0; to < n; to++)
      if ((set >> from & 1) && !(set >> to & 1))
        sum += counts[from * n + to];
  return sum;
}

/* Returns an upper bound of the number of cycles: each cycle leaves every set of vertices at least once. */
static guint
count_most (const guint *counts, guint n)
{
  guint64 everything = n == 64 ? G_MAXUINT64 : (G_GUINT64_CONSTANT (1) << n) - 1;
  guint most = G_MAXUINT;

  for (guint v = 0; v < n; v++) {
    guint64 one = G_GUINT64_CONSTANT (1) << v;

    most = MIN (most, MIN (links_out (counts, n, one), links_out (counts, n, everything ^ one)));
  }
  for (guint64 set = 1; n <= MOST_CUT_VERTICES && set < everything; set++)
    most = MIN (most, links_out (counts, n, set));
  return most;
}

/* Writes the first `n_orders` cycles as lists; each starts at 0 or where its path starts. */
static FabRingSet
write_set (const guint *next, guint n, guint n_orders, guint load, const FabPackArc *closers)
{
  FabRingSet set = { n_orders, load, g_new (guint, n_orders * n) };

  for (guint i = 0; i < n_orders; i++) {
    guint v = closers ? closers[i].to : 0;

    for (guint k = 0; k < n; k++) {
      set.orders[i * n + k] = v;
      v = next[i * n + v];
    }
  }
  return set;
}

static FabRingSet
find_cycles (const guint *counts, guint n, guint n_cycles, guint load)
{
  g_autofree guint *capacity = scale (counts, n, load);
  g_autofree guint *next = g_new (guint, n_cycles * n);
  FabPackProblem problem = { n, n_cycles, capacity, NULL };

  return write_set (next, n, fab_pack_cycles (&problem, MOVES_PER_VERTEX * n, next), load, NULL);
}

gboolean
fab_ring_set_is_better (const FabRingSet *a, const FabRingSet *b)
{
  return b->n_orders == 0 ? a->n_orders > 0 : a->n_orders * b->load > b->n_orders * a->load;
}

static void
keep_better (FabRingSet *best, FabRingSet found)
{
  if (fab_ring_set_is_better (&found, best)) {
    fab_ring_set_clear (best);
    *best = found;
  } else {
    fab_ring_set_clear (&found);
  }
}

/* Tries set sizes from the upper bound downwards in steps of a half. What a failed search found still counts. */
FabRingSet
fab_ring_search_cycles (const guint *counts, guint n)
{
  FabRingSet best = { 0, 1, NULL };
  guint most = n <= FAB_PACK_MOST_VERTICES ? MOST_LOAD * count_most (counts, n) : 0;

  for (guint halves = most; halves > 0; halves--) {
    if (best.n_orders * MOST_LOAD >= halves * best.load)
      break;
    if (halves % MOST_LOAD == 0)
      keep_better (&best, find_cycles (counts, n, halves / MOST_LOAD, 1));
    if (best.n_orders * MOST_LOAD < halves * best.load)
      keep_better (&best, find_cycles (counts, n, halves, MOST_LOAD));
  }
  return best;
}

/* A path becomes a cycle by an extra arc from its end to its start. */
static FabRingSet
find_paths (const guint *counts, guint n, const FabPackArc *ends, guint n_paths, guint copies, guint load)
{
  guint n_cycles = n_paths * copies;
  g_autofree guint *capacity = scale (counts, n, load);
  g_autofree guint *next = g_new (guint, n_cycles * n);
  g_autofree FabPackArc *closers = g_new (FabPackArc, n_cycles);
  FabPackProblem problem = { n, n_cycles, capacity, closers };

  for (guint i = 0; i < n_cycles; i++) {
    closers[i] = (FabPackArc){ ends[i / copies].to, ends[i / copies].from };
    capacity[closers[i].from * n + closers[i].to]++;
  }
  if (fab_pack_cycles (&problem, MOVES_PER_VERTEX * n, next) < n_cycles)
    return (FabRingSet){ 0, 1, NULL };
  return write_set (next, n, n_cycles, load, closers);
}

static guint
sum_of (const guint *counts, guint n)
{
  guint sum = 0;

  for (guint i = 0; i < n * n; i++)
    sum += counts[i];
  return sum;
}

/* All paths must be found, so it tries sizes downwards from the most that the number of links allows. */
FabRingSet
fab_ring_search_paths (const guint *counts, guint n, const FabPackArc *ends, guint n_paths)
{
  FabRingSet best = { 0, 1, NULL };
  guint most = n <= FAB_PACK_MOST_VERTICES ? sum_of (counts, n) / ((n - 1) * n_paths) : 0;

  for (guint i = 0; i < n_paths; i++)
    if (ends[i].from == ends[i].to)
      return best;
  for (guint copies = MAX (most, 1); copies > 0 && best.n_orders == 0; copies--)
    best = find_paths (counts, n, ends, n_paths, copies, 1);
  for (guint load = 2; load <= n_paths && best.n_orders == 0; load *= 2)
    best = find_paths (counts, n, ends, n_paths, 1, load);
  return best;
}

/* Walks to the lowest unvisited neighbour, else to the lowest unvisited vertex, and ends at `last`. Returns the number
 * of direct links on the walk. */
static guint
walk (const guint *counts, guint n, FabPackArc ends, guint *order)
{
  g_autofree gboolean *is_seen = g_new0 (gboolean, n);
  guint n_links = 0;

  order[0] = ends.from;
  is_seen[ends.from] = TRUE;
  for (guint i = 1; i < n; i++) {
    const guint *links = counts + order[i - 1] * n;
    guint next = G_MAXUINT;

    for (guint v = 0; v < n; v++) {
      gboolean is_free = !is_seen[v] && (v != ends.to || i == n - 1);

      if (is_free && (next == G_MAXUINT || (links[v] > 0 && links[next] == 0)))
        next = v;
    }
    order[i] = next;
    is_seen[next] = TRUE;
    n_links += links[next] > 0;
  }
  return n_links + (counts[order[n - 1] * n + ends.from] > 0);
}

void
fab_ring_search_way (const guint *counts, guint n, FabPackArc ends, guint *order)
{
  walk (counts, n, ends, order);
}

void
fab_ring_search_order (const guint *counts, guint n, guint *order)
{
  g_autofree guint *tried = g_new (guint, n);
  guint most = walk (counts, n, (FabPackArc){ 0, G_MAXUINT }, order);

  for (guint start = 1; start < n; start++) {
    guint n_links = walk (counts, n, (FabPackArc){ start, G_MAXUINT }, tried);

    if (n_links > most)
      memcpy (order, tried, n * sizeof *order);
    most = MAX (most, n_links);
  }
}
