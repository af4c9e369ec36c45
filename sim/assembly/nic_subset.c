/* SPDX-License-Identifier: Apache-2.0 */
/* nic_subset.c - starts from evenly spaced NICs and exchanges one for another as long as the choice gets better. */
#include "sim/assembly/nic_subset.h"

#include "sim/scenario/node_wires.h"

static const FabPartSpec *
part_at (const FabNodeSpec *node, guint index)
{
  return (const FabPartSpec *) node->parts.data + index;
}

/* --- distances --- */

/* The members of all parts of one node, numbered one part after the other. */
typedef struct {
  const FabNodeSpec *node;
  guint n;
  guint *first;     /* [parts + 1] number of a part's first member */
  GArray **next_to; /* [n] of guint: the members that a wire joins to it */
} Members;

static void
join_members (Members *self, const FabWireSpec *wire)
{
  FabWireEnd from = fab_wire_end (self->node, wire->from), to = fab_wire_end (self->node, wire->to);

  for (guint i = 0; i < from.n; i++)
    for (guint j = 0; j < to.n; j++) {
      guint a = self->first[from.part] + from.first + i, b = self->first[to.part] + to.first + j;

      if (a == b || !fab_wire_joins (wire, &from, i, &to, j))
        continue;
      g_array_append_val (self->next_to[a], b);
      g_array_append_val (self->next_to[b], a);
    }
}

static Members
members_of (const FabNodeSpec *node)
{
  Members self = { .node = node, .first = g_new0 (guint, node->parts.n + 1) };

  for (guint i = 0; i < node->parts.n; i++)
    self.first[i + 1] = self.first[i] + (guint) part_at (node, i)->count;
  self.n = self.first[node->parts.n];
  self.next_to = g_new (GArray *, self.n + 1);
  for (guint i = 0; i < self.n; i++)
    self.next_to[i] = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint w = 0; w < node->wires.n; w++)
    join_members (&self, (const FabWireSpec *) node->wires.data + w);
  return self;
}

static void
members_clear (Members *self)
{
  for (guint i = 0; i < self->n; i++)
    g_array_unref (self->next_to[i]);
  g_free (self->next_to);
  g_free (self->first);
}

/* Returns the numbers of all members of a kind, in the order of the parts. (transfer full) */
static GArray *
numbers_of (const Members *self, FabPartKind kind)
{
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < self->node->parts.n; i++)
    for (guint number = self->first[i];
         part_at (self->node, i)->kind == (int) kind && number < self->first[i + 1]; number++)
      g_array_append_val (numbers, number);
  return numbers;
}

static gboolean
is_passable (const Members *self, guint number)
{
  guint part = 0;

  while (self->first[part + 1] <= number)
    part++;
  FabPartKind kind = (FabPartKind) part_at (self->node, part)->kind;
  return kind == FAB_PART_SWITCH || kind == FAB_PART_HOST || kind == FAB_PART_BRIDGE;
}

/* Sets levels[m] to the links from `start` to m; `self->n`, more than any way has: it is not reached. */
static void
walk (const Members *self, guint start, guint *levels)
{
  g_autofree guint *queue = g_new (guint, self->n + 1);
  guint n_queued = 0;

  for (guint i = 0; i < self->n; i++)
    levels[i] = self->n;
  levels[start] = 0;
  queue[n_queued++] = start;
  for (guint i = 0; i < n_queued; i++) {
    const GArray *next_to = self->next_to[queue[i]];

    for (guint k = 0; k < next_to->len && (i == 0 || is_passable (self, queue[i])); k++) {
      guint next = g_array_index (next_to, guint, k);

      if (levels[next] < self->n)
        continue;
      levels[next] = levels[queue[i]] + 1;
      queue[n_queued++] = next;
    }
  }
}

/* --- the choice --- */

typedef struct {
  guint n_gpus, n_nics, n_chosen;
  guint *distances; /* [n_gpus * n_nics] links */
  gboolean *is_chosen;
  double *loads; /* [n_nics] of the choice that is examined */
} Choice;

typedef struct {
  guint64 distance;
  double most, squares;
} Merit;

static void
measure_distances (Choice *self, const FabNodeSpec *node)
{
  Members members = members_of (node);
  g_autoptr (GArray) gpus = numbers_of (&members, FAB_PART_ACCELERATOR);
  g_autoptr (GArray) nics = numbers_of (&members, FAB_PART_NIC);
  g_autofree guint *levels = g_new (guint, members.n + 1);

  for (guint gpu = 0; gpu < self->n_gpus; gpu++) {
    walk (&members, g_array_index (gpus, guint, gpu), levels);
    for (guint nic = 0; nic < self->n_nics; nic++)
      self->distances[gpu * self->n_nics + nic] = levels[g_array_index (nics, guint, nic)];
  }
  members_clear (&members);
}

/* Counts the links from a GPU to the nearest chosen NIC, and adds the GPU to the loads of the NICs at this distance. */
static guint
add_gpu (Choice *self, guint gpu)
{
  const guint *row = self->distances + (gsize) gpu * self->n_nics;
  guint nearest = G_MAXUINT, n_nearest = 0;

  for (guint nic = 0; nic < self->n_nics; nic++) {
    if (!self->is_chosen[nic] || row[nic] > nearest)
      continue;
    n_nearest = row[nic] < nearest ? 1 : n_nearest + 1;
    nearest = row[nic];
  }
  for (guint nic = 0; nic < self->n_nics; nic++)
    if (self->is_chosen[nic] && row[nic] == nearest)
      self->loads[nic] += 1.0 / n_nearest;
  return nearest;
}

static guint
distance_of_nic (const Choice *self, guint nic)
{
  guint nearest = G_MAXUINT;

  for (guint gpu = 0; gpu < self->n_gpus; gpu++)
    nearest = MIN (nearest, self->distances[gpu * self->n_nics + nic]);
  return nearest;
}

static Merit
merit_of (Choice *self)
{
  Merit merit = { 0 };

  for (guint nic = 0; nic < self->n_nics; nic++)
    self->loads[nic] = 0;
  for (guint gpu = 0; gpu < self->n_gpus; gpu++)
    merit.distance += add_gpu (self, gpu);
  for (guint nic = 0; nic < self->n_nics; nic++) {
    if (!self->is_chosen[nic])
      continue;
    merit.distance += distance_of_nic (self, nic);
    merit.most = MAX (merit.most, self->loads[nic]);
    merit.squares += self->loads[nic] * self->loads[nic];
  }
  return merit;
}

static gboolean
is_better (const Merit *a, const Merit *b)
{
  const double rounding = 1e-9;

  if (a->distance != b->distance)
    return a->distance < b->distance;
  if (a->most < b->most - rounding || a->most > b->most + rounding)
    return a->most < b->most;
  return a->squares < b->squares - rounding;
}

/* Makes the exchange of one chosen NIC for another one that is the best. FALSE: none makes the choice better. */
static gboolean
exchange_one (Choice *self, Merit *merit)
{
  guint best_out = G_MAXUINT, best_in = G_MAXUINT;

  for (guint out = 0; out < self->n_nics; out++) {
    for (guint in = 0; self->is_chosen[out] && in < self->n_nics; in++) {
      if (self->is_chosen[in])
        continue;
      self->is_chosen[out] = FALSE;
      self->is_chosen[in] = TRUE;
      Merit changed = merit_of (self);
      self->is_chosen[out] = TRUE;
      self->is_chosen[in] = FALSE;
      if (!is_better (&changed, merit))
        continue;
      *merit = changed;
      best_out = out;
      best_in = in;
    }
  }
  if (best_out == G_MAXUINT)
    return FALSE;
  self->is_chosen[best_out] = FALSE;
  self->is_chosen[best_in] = TRUE;
  return TRUE;
}

/* The work of one round is gpus x nics x chosen x others. Machines of hundreds of NICs, whose racks repeat one board,
 * keep the even choice. */
static gboolean
is_small (const Choice *self)
{
  const guint64 most_steps = 50 * 1000 * 1000;

  return (guint64) self->n_gpus * self->n_nics * self->n_chosen * (self->n_nics - self->n_chosen)
      <= most_steps;
}

static guint *
list_chosen (const Choice *self)
{
  guint *list = g_new (guint, self->n_chosen + 1), n = 0;

  for (guint nic = 0; nic < self->n_nics; nic++)
    if (self->is_chosen[nic])
      list[n++] = nic;
  return list;
}

guint *
fab_nic_subset (const FabNodeSpec *node, guint n_gpus, guint n_chosen)
{
  guint n_nics = fab_node_spec_n_parts (node, FAB_PART_NIC);
  g_autofree guint *distances = g_new (guint, (gsize) n_gpus * n_nics + 1);
  g_autofree gboolean *is_chosen = g_new0 (gboolean, n_nics + 1);
  g_autofree double *loads = g_new (double, n_nics + 1);
  Choice choice = { n_gpus, n_nics, n_chosen, distances, is_chosen, loads };

  g_assert (n_chosen <= n_nics);
  for (guint i = 0; i < n_chosen; i++)
    is_chosen[(guint64) i * n_nics / n_chosen] = TRUE;
  if (n_chosen < n_nics && n_gpus > 0 && is_small (&choice)) {
    measure_distances (&choice, node);
    Merit merit = merit_of (&choice);
    while (exchange_one (&choice, &merit))
      ;
  }
  return list_chosen (&choice);
}
