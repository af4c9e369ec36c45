/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/solve/ring_search.h"

#include <string.h>

enum { FAB_PACK_MOST_VERTICES = 64 };

typedef struct {
  guint n; /* vertices, from 2 to 64 */
  guint n_cycles;
  /* [n * n], from x n + to: number of cycles that may use the arc; 0 on the diagonal */
  const guint *capacity;
  const FabPackArc *closers; /* [n_cycles]: an arc that each cycle must contain; NULL: any cycle will do */
} FabPackProblem;

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
  guint *links;       /* [n * n] */
  const guint *order; /* of targets */
  guint limit;        /* how many may hold a target */
  guint *used;        /* [n * n]: links used, by holder */
  guint *n_held;      /* per target: how many hold it */
  guint64 tried;      /* targets tried */
} Matching;

static guint
random_below (Pack *self, guint n)
{
  guint64 z = self->random += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return (guint) ((z ^ (z >> 31)) % n);
}

static guint
sum_of (const guint *counts, guint n)
{
  guint sum = 0;

  for (guint i = 0; i < n * n; i++)
    sum += counts[i];
  return sum;
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
    if (self->n_held[to] < self->limit) {
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
  guint n = self->n, n_held[FAB_PACK_MOST_VERTICES] = { 0 }, order[FAB_PACK_MOST_VERTICES];
  Matching matching = { .links = links, .order = order, .limit = degree, .used = used, .n_held = n_held };

  for (guint i = 0; i < n; i++) {
    guint at = random_below (self, i + 1);

    order[i] = order[at];
    order[at] = i;
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

static void
search (Pack *self, guint n_moves)
{
  guint n_links = sum_of (self->problem->capacity, self->n);
  gboolean has_spare = n_links > self->n * self->problem->n_cycles;

  for (guint move = 0; move < n_moves && self->n_best < self->problem->n_cycles; move++) {
    if (move % (MOVES_PER_START * self->n) == 0) {
      if (!start (self))
        return;
    } else if (has_spare && random_below (self, 2) == 0) {
      move_to_spare (self);
    } else {
      move_between_cycles (self);
    }
    note_best (self);
  }
}

/* Writes next[cycle x n + vertex], with the cycles that meet the request first, and returns their number.
 * `n_moves` is the budget. */
static guint
pack_cycles (const FabPackProblem *problem, guint n_moves, guint *next)
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
    capacity[i] = counts[i] * load;
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
  guint64 everything = G_MAXUINT64 >> (64 - n);
  guint most = G_MAXUINT;

  for (guint v = 0; n > MOST_CUT_VERTICES && v < n; v++) {
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

  return write_set (next, n, pack_cycles (&problem, MOVES_PER_VERTEX * n, next), load, NULL);
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

  for (guint halves = most; best.n_orders * MOST_LOAD < halves * best.load; halves--) {
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
  if (pack_cycles (&problem, MOVES_PER_VERTEX * n, next) < n_cycles)
    return (FabRingSet){ 0, 1, NULL };
  return write_set (next, n, n_cycles, load, closers);
}

/* All paths must be found, so it tries sizes downwards from the most that the number of links allows. */
FabRingSet
fab_ring_search_paths (const guint *counts, guint n, const FabPackArc *ends, guint n_paths)
{
  FabRingSet best = { 0, 1, NULL };

  if (n > FAB_PACK_MOST_VERTICES)
    return best;
  for (guint i = 0; i < n_paths; i++)
    if (ends[i].from == ends[i].to)
      return best;
  for (guint copies = sum_of (counts, n) / ((n - 1) * n_paths); copies > 0 && best.n_orders == 0; copies--)
    best = find_paths (counts, n, ends, n_paths, copies, 1);
  for (guint load = 2; load <= n_paths && best.n_orders == 0; load *= 2)
    best = find_paths (counts, n, ends, n_paths, 1, load);
  return best;
}

/* Walks to the lowest unvisited neighbour, else to the lowest unvisited vertex, and ends at `last`. Returns the
 * number of direct links on the walk. */
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
