/* SPDX-License-Identifier: Apache-2.0 */
/* agenda.h - the next actions of the packet network, in the order (time, order of entry).
 *
 * An entry is a kind and the number of the object concerned. It needs no callback and no slot, and it cannot be
 * cancelled. A link has one entry for everything on its wire, so the agenda is as long as there are busy links, not
 * packets. The code of every step is in the header because it is the innermost loop.
 *
 * It is a calendar queue (R. Brown, CACM 31(10), 1988) whose present day is sorted. Time is divided into days of
 * 2^shift ps:
 *
 *   near    entries up to the end of the present day, sorted
 *   days    a list without order for each of the next AGENDA_DAYS - 1 days
 *   far     entries after these: a 4-ary heap
 *
 * Most entries are put into a day and sorted with the few others of that day. The length of a day follows what the
 * sorting and the heap cost; it has no effect on the order. O(1) per entry as long as most are due within the
 * calendar, O(log n) beyond it.
 */
#pragma once

#include "sim/base/units.h"

enum { AGENDA_KIND_BITS = 4, AGENDA_KINDS = 1 << AGENDA_KIND_BITS };
enum { AGENDA_DAYS = 1024 };

typedef struct {
  FabTimePs at_ps;
  guint32 order; /* wraps around: entries that are due at the same time are never 2^31 entries apart */
  guint32 what;  /* number << AGENDA_KIND_BITS | kind */
} AgendaEntry;

/* A growing array of entries. */
typedef struct {
  AgendaEntry *entries;
  guint n, capacity;
} AgendaArray;

typedef struct {
  AgendaEntry entry;
  guint32 next; /* next of its day or of the free ones, and 0: the last */
} AgendaNode;

typedef struct {
  guint n; /* entries in total */
  guint32 next_order;
  guint head;         /* of `near`: those before it are gone */
  guint shift;        /* a day is 2^shift ps */
  guint64 today;      /* its number */
  AgendaArray near;   /* sorted */
  AgendaArray merged; /* room for sorting */
  guint32 days[AGENDA_DAYS];
  guint64 occupied[AGENDA_DAYS / 64]; /* a bit per day that has entries */
  AgendaNode *nodes;                  /* the first one is not used */
  guint32 n_nodes, node_capacity, free_node;
  AgendaArray far;
  /* What it has cost since the length of a day was last looked at. */
  guint n_popped, n_moved, n_from_far, look_every;
} Agenda;

void agenda_init (Agenda *self);
void agenda_clear (Agenda *self);

/* Makes room for one more entry of the present day: where the entries that are gone were, if they were many. */
void agenda_near_grow (Agenda *self);
void agenda_nodes_grow (Agenda *self);
/* Adds an entry after all days of the calendar. */
void agenda_add_far (Agenda *self, AgendaEntry entry);
/* Goes on to the next day that has entries; there must be one. */
void agenda_next_day (Agenda *self);
/* Returns when the last entry is due; there must be one. O(entries + AGENDA_DAYS). */
FabTimePs agenda_last_ps (const Agenda *self);
/* Chooses another length of a day where this one costs too much. */
void agenda_look (Agenda *self);

static inline gboolean
agenda_is_before (AgendaEntry a, AgendaEntry b)
{
  return a.at_ps < b.at_ps || (a.at_ps == b.at_ps && (gint32) (a.order - b.order) < 0);
}

/* Inserts an entry into the present day, behind all entries that are due before it. */
static inline void
agenda_insert_near (Agenda *self, AgendaEntry entry)
{
  if (self->near.n == self->near.capacity)
    agenda_near_grow (self);
  AgendaEntry *entries = self->near.entries;
  guint at = self->near.n;
  for (; at > self->head && agenda_is_before (entry, entries[at - 1]); at--)
    entries[at] = entries[at - 1];
  entries[at] = entry;
  self->n_moved += self->near.n - at;
  self->near.n++;
}

static inline void
agenda_put_into_day (Agenda *self, guint64 day, AgendaEntry entry)
{
  guint32 at = (guint32) (day % AGENDA_DAYS), node = self->free_node;

  if (node == 0) {
    if (self->n_nodes >= self->node_capacity)
      agenda_nodes_grow (self);
    node = self->n_nodes++;
  } else {
    self->free_node = self->nodes[node].next;
  }
  self->nodes[node] = (AgendaNode){ entry, self->days[at] };
  self->days[at] = node;
  self->occupied[at / 64] |= G_GUINT64_CONSTANT (1) << at % 64;
}

static inline void
agenda_place (Agenda *self, AgendaEntry entry)
{
  guint64 day = (guint64) entry.at_ps >> self->shift;

  if (day <= self->today)
    agenda_insert_near (self, entry);
  else if (day - self->today < AGENDA_DAYS)
    agenda_put_into_day (self, day, entry);
  else
    agenda_add_far (self, entry);
}

static inline void
agenda_add (Agenda *self, FabTimePs at_ps, guint kind, guint32 number)
{
  if (self->n++ == 0) {
    self->today = (guint64) at_ps >> self->shift;
    self->head = self->near.n = 0;
  }
  agenda_place (self, (AgendaEntry){ at_ps, self->next_order++, number << AGENDA_KIND_BITS | kind });
}

/* Returns when the first entry is due; FAB_TIME_MAX: there is none. */
static inline FabTimePs
agenda_first_ps (Agenda *self)
{
  if (self->n == 0)
    return FAB_TIME_MAX;
  if (self->head == self->near.n)
    agenda_next_day (self);
  return self->near.entries[self->head].at_ps;
}

/* Takes the first entry; there must be one. */
static inline AgendaEntry
agenda_take (Agenda *self)
{
  if (self->head == self->near.n)
    agenda_next_day (self);
  if (++self->n_popped >= self->look_every)
    agenda_look (self);
  self->n--;
  return self->near.entries[self->head++];
}

/* Returns the entry that is `ahead` places behind the first one; NULL: the present day does not hold so many. */
static inline const AgendaEntry *
agenda_ahead (const Agenda *self, guint ahead)
{
  return self->head + ahead < self->near.n ? &self->near.entries[self->head + ahead] : NULL;
}
