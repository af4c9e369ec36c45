/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/event_queue.h"

typedef struct {
  FabTimePs time_ps;
  guint64 sequence; /* also the generation of the slot */
  guint32 slot;
} Key;

typedef struct {
  FabEvent event;
  guint64 sequence; /* of the event that holds the slot; 0: free or cancelled */
} Slot;

struct _FabEventQueue {
  Key *keys;
  Slot *slots;
  guint32 *free_slots;
  guint n_keys;
  guint n_cancelled; /* still among the keys */
  guint n_slots;     /* ever used */
  guint n_free;
  guint capacity; /* of all three arrays */
  guint64 next_sequence;
};

/* A timer is the sequence above and the slot below. */
enum { SLOT_BITS = 24, MAX_SLOTS = 1 << SLOT_BITS };

FabEventQueue *
fab_event_queue_new (void)
{
  FabEventQueue *self = g_new0 (FabEventQueue, 1);

  self->next_sequence = 1;
  return self;
}

void
fab_event_queue_free (FabEventQueue *self)
{
  if (self == NULL)
    return;
  g_free (self->keys);
  g_free (self->slots);
  g_free (self->free_slots);
  g_free (self);
}

static inline gboolean
is_before (const Key *a, const Key *b)
{
  return a->time_ps < b->time_ps || (a->time_ps == b->time_ps && a->sequence < b->sequence);
}

static void
sift_up (Key *keys, guint index, Key key)
{
  while (index > 0) {
    guint parent = (index - 1) / 4;

    if (!is_before (&key, &keys[parent]))
      break;
    keys[index] = keys[parent];
    index = parent;
  }
  keys[index] = key;
}

static void
sift_down (Key *keys, guint n_keys, guint index, Key key)
{
  for (;;) {
    guint first = 4 * index + 1;
    guint last = MIN (first + 4, n_keys);
    guint best = first;

    if (first >= n_keys)
      break;
    for (guint child = first + 1; child < last; child++)
      if (is_before (&keys[child], &keys[best]))
        best = child;
    if (!is_before (&keys[best], &key))
      break;
    keys[index] = keys[best];
    index = best;
  }
  keys[index] = key;
}

static void
grow (FabEventQueue *self)
{
  self->capacity = MAX (64, self->capacity * 2);
  g_assert (self->capacity <= MAX_SLOTS);
  self->keys = g_renew (Key, self->keys, self->capacity);
  self->slots = g_renew (Slot, self->slots, self->capacity);
  self->free_slots = g_renew (guint32, self->free_slots, self->capacity);
}

static guint32
take_slot (FabEventQueue *self)
{
  if (self->n_free > 0)
    return self->free_slots[--self->n_free];
  return self->n_slots++;
}

FabTimer
fab_event_queue_push (FabEventQueue *self, FabTimePs time_ps, FabEvent event)
{
  if (self->n_keys == self->capacity)
    grow (self);

  guint32 slot = take_slot (self);
  guint64 sequence = self->next_sequence++;

  self->slots[slot] = (Slot){ event, sequence };
  sift_up (self->keys, self->n_keys++, (Key){ time_ps, sequence, slot });
  return sequence << SLOT_BITS | slot;
}

/* Drops the cancelled keys and restores the heap, O(n). */
static void
compact (FabEventQueue *self)
{
  guint n_kept = 0;

  for (guint i = 0; i < self->n_keys; i++) {
    Key key = self->keys[i];

    if (self->slots[key.slot].sequence == key.sequence)
      self->keys[n_kept++] = key;
    else
      self->free_slots[self->n_free++] = key.slot;
  }
  self->n_keys = n_kept;
  self->n_cancelled = 0;
  for (guint i = n_kept / 4 + 1; i-- > 0;)
    if (i < n_kept)
      sift_down (self->keys, n_kept, i, self->keys[i]);
}

gboolean
fab_event_queue_cancel (FabEventQueue *self, FabTimer timer)
{
  guint32 slot = (guint32) (timer & (MAX_SLOTS - 1));

  if (timer == 0 || slot >= self->n_slots || self->slots[slot].sequence != timer >> SLOT_BITS)
    return FALSE;
  self->slots[slot].sequence = 0;
  if (++self->n_cancelled > 32 && self->n_cancelled > self->n_keys / 2)
    compact (self);
  return TRUE;
}

gboolean
fab_event_queue_pop (FabEventQueue *self, FabTimePs *time_ps, FabEvent *event)
{
  while (self->n_keys > 0) {
    Key first = self->keys[0];
    Slot *slot = &self->slots[first.slot];
    gboolean is_live = slot->sequence == first.sequence;

    if (--self->n_keys > 0)
      sift_down (self->keys, self->n_keys, 0, self->keys[self->n_keys]);
    self->free_slots[self->n_free++] = first.slot;
    slot->sequence = 0;
    if (is_live) {
      *time_ps = first.time_ps;
      *event = slot->event;
      return TRUE;
    }
    self->n_cancelled--;
  }
  return FALSE;
}

guint
fab_event_queue_length (const FabEventQueue *self)
{
  return self->n_keys - self->n_cancelled;
}

void
fab_event_queue_check (const FabEventQueue *self)
{
  guint n_dead = 0;

  for (guint i = 0; i < self->n_keys; i++) {
    const Key *key = &self->keys[i];

    g_assert_true (i == 0 || is_before (&self->keys[(i - 1) / 4], key));
    g_assert_cmpuint (key->slot, <, self->n_slots);
    n_dead += self->slots[key->slot].sequence != key->sequence;
  }
  g_assert_cmpuint (n_dead, ==, self->n_cancelled);
  g_assert_cmpuint (self->n_keys + self->n_free, ==, self->n_slots);
}
