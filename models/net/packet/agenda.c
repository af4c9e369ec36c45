/* SPDX-License-Identifier: Apache-2.0 */
/* agenda.c - what the agenda does once per day: the days that come, and how long a day is. */
#include "models/net/packet/agenda.h"

#include <string.h>

enum {
  FIRST_SHIFT = 12,
  MOST_SHIFT = 44,
  LOOK = 4096, /* the length of a day is looked at after so many entries, and after 8 times those that wait */
  MOST_MOVED = 8,   /* entries that late ones may move for each one taken */
  RUN = 16,         /* so many entries are sorted by insertion */
  LEAST_OF_FAR = 4, /* one in so many entries may come from the heap */
  SHIFT_STEP = 2,
};

void
agenda_init (Agenda *self)
{
  *self = (Agenda){ .shift = FIRST_SHIFT, .n_nodes = 1, .look_every = LOOK };
}

void
agenda_clear (Agenda *self)
{
  g_free (self->near.entries);
  g_free (self->merged.entries);
  g_free (self->far.entries);
  g_free (self->nodes);
}

static void
array_grow (AgendaArray *array)
{
  array->capacity = MAX (64, 2 * array->capacity);
  array->entries = g_renew (AgendaEntry, array->entries, array->capacity);
}

void
agenda_near_grow (Agenda *self)
{
  if (2 * self->head < self->near.capacity || self->head == 0) {
    array_grow (&self->near);
    return;
  }
  self->near.n -= self->head;
  memmove (self->near.entries, self->near.entries + self->head, self->near.n * sizeof *self->near.entries);
  self->head = 0;
}

void
agenda_nodes_grow (Agenda *self)
{
  self->node_capacity = MAX (64, 2 * self->node_capacity);
  self->nodes = g_renew (AgendaNode, self->nodes, self->node_capacity);
}

/* --- the heap of what is far --- */

static void
sift_down (AgendaArray *heap, AgendaEntry entry)
{
  AgendaEntry *entries = heap->entries;
  guint at = 0;

  for (;;) {
    guint first = 4 * at + 1, best = first, last = MIN (first + 4, heap->n);

    if (first >= heap->n)
      break;
    for (guint child = first + 1; child < last; child++)
      best = agenda_is_before (entries[child], entries[best]) ? child : best;
    if (!agenda_is_before (entries[best], entry))
      break;
    entries[at] = entries[best];
    at = best;
  }
  entries[at] = entry;
}

void
agenda_add_far (Agenda *self, AgendaEntry entry)
{
  AgendaArray *heap = &self->far;

  if (heap->n == heap->capacity)
    array_grow (heap);
  guint at = heap->n++;
  for (; at > 0 && agenda_is_before (entry, heap->entries[(at - 1) / 4]); at = (at - 1) / 4)
    heap->entries[at] = heap->entries[(at - 1) / 4];
  heap->entries[at] = entry;
}

/* Moves what the calendar reaches now from the heap into its days. */
static void
take_from_far (Agenda *self)
{
  AgendaArray *heap = &self->far;

  while (heap->n > 0 && ((guint64) heap->entries[0].at_ps >> self->shift) - self->today < AGENDA_DAYS) {
    agenda_place (self, heap->entries[0]);
    self->n_from_far++;
    if (--heap->n > 0)
      sift_down (heap, heap->entries[heap->n]);
  }
}

/* --- days --- */

/* Returns how many days after today the next one with entries is; 0: none has. */
static guint
days_to_next (const Agenda *self)
{
  guint first = (guint) ((self->today + 1) % AGENDA_DAYS);
  guint64 bits = self->occupied[first / 64] >> first % 64 << first % 64;

  for (guint i = 0, word = first / 64; i <= AGENDA_DAYS / 64; i++) {
    if (bits != 0)
      return (64 * word + (guint) __builtin_ctzll (bits) - first) % AGENDA_DAYS + 1;
    word = (word + 1) % (AGENDA_DAYS / 64);
    bits = self->occupied[word];
  }
  return 0;
}

/* Removes the entries of a day and appends them to `near`, without sorting. */
static void
empty_day (Agenda *self, guint at)
{
  guint32 first = self->days[at], last = first;

  for (guint32 node = first; node != 0; node = self->nodes[node].next) {
    if (self->near.n == self->near.capacity)
      array_grow (&self->near);
    self->near.entries[self->near.n++] = self->nodes[node].entry;
    last = node;
  }
  self->days[at] = 0;
  self->occupied[at / 64] &= ~(G_GUINT64_CONSTANT (1) << at % 64);
  if (first == 0)
    return;
  self->nodes[last].next = self->free_node;
  self->free_node = first;
}

/* The list of a day has the entry that was put last first; most days are nearly sorted the other way round. */
static void
reverse (AgendaEntry *entries, guint n)
{
  for (guint i = 0; i < n / 2; i++) {
    AgendaEntry kept = entries[i];

    entries[i] = entries[n - 1 - i];
    entries[n - 1 - i] = kept;
  }
}

static void
merge (const AgendaEntry *from, AgendaEntry *to, guint middle, guint end)
{
  guint a = 0, b = middle;

  for (guint at = 0; at < end; at++) {
    gboolean is_second = a == middle || (b < end && agenda_is_before (from[b], from[a]));

    to[at] = from[is_second ? b : a];
    b += is_second;
    a += !is_second;
  }
}

static void
sort_run (AgendaEntry *entries, guint n)
{
  for (guint i = 1; i < n; i++) {
    AgendaEntry entry = entries[i];
    guint at = i;

    for (; at > 0 && agenda_is_before (entry, entries[at - 1]); at--)
      entries[at] = entries[at - 1];
    entries[at] = entry;
  }
}

/* Sorts short runs by insertion and merges them. */
static void
sort_near (Agenda *self)
{
  guint n = self->near.n;

  for (guint at = 0; at < n; at += RUN)
    sort_run (self->near.entries + at, MIN (RUN, n - at));
  while (self->merged.capacity < self->near.capacity)
    array_grow (&self->merged);
  for (guint run = RUN; run < n; run *= 2) {
    AgendaArray merged = self->merged;

    for (guint at = 0; at < n; at += 2 * run)
      merge (self->near.entries + at, merged.entries + at, MIN (run, n - at), MIN (2 * run, n - at));
    self->merged = self->near;
    self->near = merged;
    self->near.n = n;
  }
}

void
agenda_next_day (Agenda *self)
{
  guint n_days = days_to_next (self);

  self->head = self->near.n = 0;
  if (n_days > 0) {
    self->today += n_days;
    empty_day (self, (guint) (self->today % AGENDA_DAYS));
    reverse (self->near.entries, self->near.n);
    sort_near (self);
  } else {
    g_assert (self->far.n > 0);
    self->today = (guint64) self->far.entries[0].at_ps >> self->shift;
  }
  take_from_far (self);
}

FabTimePs
agenda_last_ps (const Agenda *self)
{
  FabTimePs last_ps = self->near.n > self->head ? self->near.entries[self->near.n - 1].at_ps : 0;

  for (guint at = 0; at < AGENDA_DAYS; at++)
    for (guint32 node = self->days[at]; node != 0; node = self->nodes[node].next)
      last_ps = MAX (last_ps, self->nodes[node].entry.at_ps);
  for (guint i = 0; i < self->far.n; i++)
    last_ps = MAX (last_ps, self->far.entries[i].at_ps);
  return last_ps;
}

/* --- how long a day is --- */

/* Lays everything out again, with days of another length. What is sorted already stays in its order. */
static void
lay_out (Agenda *self, guint shift)
{
  g_autofree AgendaEntry *kept = NULL;
  guint n = self->near.n - self->head;

  memmove (self->near.entries, self->near.entries + self->head, n * sizeof *kept);
  self->head = 0;
  self->near.n = n;
  for (guint at = 0; at < AGENDA_DAYS; at++)
    empty_day (self, at);
  n = self->near.n;
  kept = g_memdup2 (self->near.entries, n * sizeof *kept);
  self->near.n = 0;
  self->shift = shift;
  self->today = (guint64) kept[0].at_ps >> shift;
  for (guint i = 0; i < n; i++)
    agenda_place (self, kept[i]);
  take_from_far (self);
}

/* Laying out takes as long as sorting what waits, and is at most done once in so many entries. */
void
agenda_look (Agenda *self)
{
  gboolean is_crowded = self->n_moved / MOST_MOVED > self->n_popped,
           is_short = self->n_from_far > self->n_popped / LEAST_OF_FAR;
  guint64 first_day = (guint64) self->near.entries[self->head].at_ps >> self->shift;
  guint shift = self->shift;

  if (is_crowded && first_day >= self->today)
    shift -= MIN (shift, SHIFT_STEP);
  else if (is_short && !is_crowded)
    shift = MIN (shift + SHIFT_STEP, MOST_SHIFT);
  if (shift != self->shift || first_day < self->today)
    lay_out (self, shift);
  self->look_every = MAX (LOOK, 8 * self->n);
  self->n_popped = self->n_moved = self->n_from_far = 0;
}
