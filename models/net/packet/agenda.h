/* SPDX-License-Identifier: Apache-2.0 */
/* agenda.h - the next actions of the packet network: a 4-ary heap of 16-byte keys in the order (time, order of
 * entry).
 *
 * An entry is a kind and the number of the object concerned. It needs no callback and no slot, and it cannot be
 * cancelled. A link has one entry for everything on its wire, so the heap is as long as there are busy links, not
 * packets. The code is in a header because it is the innermost loop.
 */
#pragma once

#include "sim/base/units.h"

enum { AGENDA_KIND_BITS = 4, AGENDA_KINDS = 1 << AGENDA_KIND_BITS };

typedef struct {
  FabTimePs at_ps;
  guint32 order; /* wraps around: entries that are due at the same time are never 2^31 entries apart */
  guint32 what;  /* number << AGENDA_KIND_BITS | kind */
} AgendaEntry;

typedef struct {
  AgendaEntry *entries;
  guint n, capacity;
  guint32 next_order;
} Agenda;

static inline gboolean
agenda_is_before (AgendaEntry a, AgendaEntry b)
{
  return a.at_ps < b.at_ps || (a.at_ps == b.at_ps && (gint32) (a.order - b.order) < 0);
}

static inline void
agenda_sift_down (Agenda *self, AgendaEntry entry)
{
  AgendaEntry *entries = self->entries;
  guint at = 0;

  for (;;) {
    guint first = 4 * at + 1, best = first, last = MIN (first + 4, self->n);

    if (first >= self->n)
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

static inline void
agenda_add (Agenda *self, FabTimePs at_ps, guint kind, guint32 number)
{
  AgendaEntry entry = { at_ps, self->next_order++, number << AGENDA_KIND_BITS | kind };
  guint at = self->n++;

  if (at == self->capacity) {
    self->capacity = MAX (64, 2 * self->capacity);
    self->entries = g_renew (AgendaEntry, self->entries, self->capacity);
  }
  while (at > 0 && agenda_is_before (entry, self->entries[(at - 1) / 4])) {
    self->entries[at] = self->entries[(at - 1) / 4];
    at = (at - 1) / 4;
  }
  self->entries[at] = entry;
}

/* Moves the first entry to a later time. */
static inline void
agenda_put_off_first (Agenda *self, FabTimePs at_ps)
{
  agenda_sift_down (self, (AgendaEntry){ at_ps, self->next_order++, self->entries[0].what });
}

static inline void
agenda_drop_first (Agenda *self)
{
  if (--self->n > 0)
    agenda_sift_down (self, self->entries[self->n]);
}
