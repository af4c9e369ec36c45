/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/solve/ring_pack.h"

#include <string.h>

#define NO_VERTEX G_MAXUINT

enum { MOVES_PER_START = 400 }; /* for each vertex */

typedef struct {
  const FabPackProblem *problem;
  guint n;
  guint *next, *prev; /* [cycle * n + vertex] */
  guint *spare;       /* [n * n]: capacity that no cycle uses */
  guint *costs;       /* per cycle; 0: it meets the request */
  guint n_good;
  guint *best; /* `next` when most cycles met the request */
  guint n_best;
  guint64 random;
} Pack;

/* Kuhn's search for a matching, with the vertices tried so far and the holder of each target. */
typedef struct {
  guint *links;        /* [n * n] */
  const guint *order;  /* of targets */
  const guint *limits; /* per target: how many may hold it */
  guint *used;         /* [n * n]: links used, by holder */
  guint *n_held;       /* per target: how many hold it */
  guint64 tried;       /* targets tried */
} Matching;

static guint
random_below (Pack *self, guint n)
{
  guint64 z = self->random += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return (guint) ((z ^ (z >> 31)) % n);
}

/* --- the first permutations --- */

/* Adds one more link out of `from`, moving links of other vertices if need be. */
static gboolean
augment (Matching *self, guint n, guint from)
{
  for (guint i = 0; i < n; i++) {
    guint to = self->order[i];

    if (self->links[from * n + to] <= self->used[from * n + to] || (self->tried >> to & 1))
      continue;
    self->tried |= G_GUINT64_CONSTANT (1) << to;
    if (self->n_held[to] < self->limits[to]) {
      self->n_held[to]++;
      self->used[from * n + to]++;
      return TRUE;
    }
    for (guint holder = 0; holder < n; holder++)
      if (holder != from && self->used[holder * n + to] > 0 && augment (self, n, holder)) {
        self->used[holder * n + to]--;
        self->used[from * n + to]++;
        return TRUE;
      }
  }
  return FALSE;
}

/* Finds a subgraph of `links`, in `used`, with `degree` links out of and into every vertex. */
static gboolean
find_factor (Pack *self, guint *links, guint degree, guint *used)
{
  guint n = self->n, n_held[FAB_PACK_MOST_VERTICES] = { 0 }, order[FAB_PACK_MOST_VERTICES],
        limits[FAB_PACK_MOST_VERTICES];
  Matching matching = { links, order, limits, used, n_held, 0 };

  for (guint i = 0; i < n; i++) {
    guint at = random_below (self, i + 1);

    order[i] = order[at];
    order[at] = i;
    limits[i] = degree;
  }
  memset (used, 0, n * n * sizeof *used);
  for (guint k = 0; k < degree; k++)
    for (guint from = 0; from < n; from++) {
      matching.tried = 0;
      if (!augment (&matching, n, from))
        return FALSE;
    }
  return TRUE;
}

static guint
count_cycles (const Pack *self, guint cycle)
{
  const guint *next = self->next + cycle * self->n;
  guint64 seen = 0;
  guint n_cycles = 0;

  for (guint start = 0; start < self->n; start++) {
    if (seen >> start & 1)
      continue;
    n_cycles++;
    for (guint v = start; !(seen >> v & 1); v = next[v])
      seen |= G_GUINT64_CONSTANT (1) << v;
  }
  return n_cycles;
}

static guint
cost_of (const Pack *self, guint cycle)
{
  const FabPackArc *closers = self->problem->closers;
  guint cost = count_cycles (self, cycle) - 1;

  if (closers && self->next[cycle * self->n + closers[cycle].from] != closers[cycle].to)
    cost++;
  return cost;
}

static void
take_permutation (Pack *self, guint cycle, const guint *used, guint *factor)
{
  guint n = self->n;

  for (guint from = 0; from < n; from++)
    for (guint to = 0; to < n; to++)
      if (used[from * n + to] > 0) {
        factor[from * n + to]--;
        self->next[cycle * n + from] = to;
        self->prev[cycle * n + to] = from;
      }
}

/* Returns FALSE when the links cannot suffice in any order. */
static gboolean
start (Pack *self)
{
  guint n = self->n, n_cycles = self->problem->n_cycles;
  g_autofree guint *links = g_memdup2 (self->problem->capacity, n * n * sizeof (guint));
  g_autofree guint *factor = g_new (guint, n * n);
  g_autofree guint *used = g_new (guint, n * n);

  if (!find_factor (self, links, n_cycles, factor))
    return FALSE;
  for (guint i = 0; i < n * n; i++)
    self->spare[i] = links[i] - factor[i];
  self->n_good = 0;
  for (guint cycle = 0; cycle < n_cycles; cycle++) {
    gboolean is_found = find_factor (self, factor, 1, used);

    g_assert (is_found); /* a regular graph has a perfect matching */
    take_permutation (self, cycle, used, factor);
    self->costs[cycle] = cost_of (self, cycle);
    self->n_good += self->costs[cycle] == 0;
  }
  return TRUE;
}

/* --- the search --- */

/* Accepts a slightly worse state now and then. */
static gboolean
is_taken (Pack *self, guint before, guint after)
{
  return after <= before || (after == before + 1 && random_below (self, 16) == 0);
}

static void
set_cost (Pack *self, guint cycle, guint cost)
{
  self->n_good += (cost == 0) - (self->costs[cycle] == 0);
  self->costs[cycle] = cost;
}

/* Exchanges links of two cycles, from `first` on, until both are permutations again. Doing it twice restores them. */
static void
exchange (Pack *self, guint p, guint q, guint first)
{
  guint *p_next = self->next + p * self->n, *q_next = self->next + q * self->n;
  guint *p_prev = self->prev + p * self->n, *q_prev = self->prev + q * self->n;
  guint v = first;

  do {
    guint gets = q_next[v], gives = p_next[v], holder = p_prev[gets];

    p_next[v] = gets;
    q_next[v] = gives;
    p_prev[gets] = v;
    q_prev[gives] = v;
    v = holder;
  } while (v != first);
}

/* Returns a cycle that has the arc which cycle p must contain. */
static guint
holder_of (Pack *self, guint p)
{
  FabPackArc arc = self->problem->closers[p];
  guint n_cycles = self->problem->n_cycles, offset = random_below (self, n_cycles);

  for (guint i = 0; i < n_cycles; i++) {
    guint q = (i + offset) % n_cycles;

    if (self->next[q * self->n + arc.from] == arc.to)
      return q;
  }
  return p;
}

static void
move_between_cycles (Pack *self)
{
  guint n_cycles = self->problem->n_cycles;
  guint p = random_below (self, n_cycles), q = random_below (self, n_cycles),
        first = random_below (self, self->n);

  if (self->problem->closers && random_below (self, 2) == 0) {
    first = self->problem->closers[p].from;
    q = holder_of (self, p);
  }
  if (self->next[p * self->n + first] == self->next[q * self->n + first])
    return;
  exchange (self, p, q, first);
  guint p_cost = cost_of (self, p), q_cost = cost_of (self, q);
  if (is_taken (self, self->costs[p] + self->costs[q], p_cost + q_cost)) {
    set_cost (self, p, p_cost);
    set_cost (self, q, q_cost);
  } else {
    exchange (self, p, q, first);
  }
}

/* Returns a random target that v reaches by a spare link. */
static guint
spare_target (Pack *self, guint v)
{
  guint targets[FAB_PACK_MOST_VERTICES], n_targets = 0;

  for (guint to = 0; to < self->n; to++)
    if (self->spare[v * self->n + to] > 0)
      targets[n_targets++] = to;
  return n_targets > 0 ? targets[random_below (self, n_targets)] : NO_VERTEX;
}

static void
turn (Pack *self, guint cycle, guint v, guint to)
{
  guint *next = self->next + cycle * self->n;

  self->spare[v * self->n + next[v]]++;
  self->spare[v * self->n + to]--;
  next[v] = to;
}

static void
write_prev (Pack *self, guint cycle)
{
  for (guint v = 0; v < self->n; v++)
    self->prev[cycle * self->n + self->next[cycle * self->n + v]] = v;
}

/* Exchanges links of a cycle for spare links along an alternating walk, and restores them when the walk does not
 * close. */
static void
move_to_spare (Pack *self)
{
  guint cycle = random_below (self, self->problem->n_cycles), v = random_below (self, self->n);
  guint goal = self->next[cycle * self->n + v], to = NO_VERTEX, n_turned = 0;
  FabPackArc turned[FAB_PACK_MOST_VERTICES];
  guint64 seen = 0;

  while (to != goal && !(seen >> v & 1) && (to = spare_target (self, v)) != NO_VERTEX) {
    seen |= G_GUINT64_CONSTANT (1) << v;
    turned[n_turned++] = (FabPackArc){ v, self->next[cycle * self->n + v] };
    turn (self, cycle, v, to);
    v = self->prev[cycle * self->n + to];
  }
  guint cost = to == goal ? cost_of (self, cycle) : G_MAXUINT;
  if (is_taken (self, self->costs[cycle], cost)) {
    set_cost (self, cycle, cost);
    write_prev (self, cycle);
    return;
  }
  while (n_turned-- > 0)
    turn (self, cycle, turned[n_turned].from, turned[n_turned].to);
}

static void
note_best (Pack *self)
{
  if (self->n_good <= self->n_best)
    return;
  self->n_best = 0;
  for (guint good = 0; good < 2; good++)
    for (guint cycle = 0; cycle < self->problem->n_cycles; cycle++)
      if ((self->costs[cycle] == 0) == (good == 0)) {
        memcpy (self->best + self->n_best * self->n, self->next + cycle * self->n, self->n * sizeof (guint));
        self->n_best++;
      }
  self->n_best = self->n_good;
}

static gboolean
has_spare (const Pack *self)
{
  for (guint i = 0; i < self->n * self->n; i++)
    if (self->spare[i] > 0)
      return TRUE;
  return FALSE;
}

static void
search (Pack *self, guint n_moves)
{
  gboolean is_open = FALSE;

  for (guint move = 0; move < n_moves && self->n_best < self->problem->n_cycles; move++) {
    if (move % (MOVES_PER_START * self->n) == 0) {
      if (!start (self))
        return;
      is_open = has_spare (self);
    } else if (is_open && random_below (self, 2) == 0) {
      move_to_spare (self);
    } else {
      move_between_cycles (self);
    }
    note_best (self);
  }
}

guint
fab_pack_cycles (const FabPackProblem *problem, guint n_moves, guint *next)
{
  gsize size = (gsize) problem->n_cycles * problem->n;
  g_autofree guint *work = g_new0 (guint, size);
  g_autofree guint *prev = g_new0 (guint, size);
  g_autofree guint *spare = g_new0 (guint, problem->n * problem->n);
  g_autofree guint *costs = g_new0 (guint, problem->n_cycles);
  Pack self = { .problem = problem,
                .n = problem->n,
                .next = work,
                .prev = prev,
                .spare = spare,
                .costs = costs,
                .best = next };

  g_assert (problem->n >= 2 && problem->n <= FAB_PACK_MOST_VERTICES && problem->n_cycles > 0);
  search (&self, n_moves);
  return self.n_best;
}
