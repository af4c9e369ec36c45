/* SPDX-License-Identifier: Apache-2.0 */
/* event_queue_private.h - the parts of an event queue, for event_queue.c and event_queue_check.c only. */
#pragma once

#include "sim/base/event_queue.h"

enum {
  SLOT_BITS = 24, /* a timer holds the sequence number in its high bits and the slot in its low bits */
  MAX_SLOTS = 1 << SLOT_BITS,
  DIGIT_BITS = 8,
  N_DIGITS = 1 << DIGIT_BITS,
  N_LEVELS = 64 / DIGIT_BITS,
  KEYS_PER_CHUNK = 15, /* makes a chunk 256 bytes long, header included */
};

typedef struct {
  FabTimePs time_ps;
  guint32 slot;
} Key;

typedef struct {
  FabEvent event;
  /* Of the event in the slot; 0: the slot is free, or its event is cancelled and its key is still in the queue. */
  guint64 sequence;
} Slot;

typedef struct Chunk Chunk;
struct Chunk {
  Chunk *next;
  guint n;
  Key keys[KEYS_PER_CHUNK];
};

/* Keys in the order in which they were pushed. */
typedef struct {
  Chunk *first, *last;
} Bucket;

typedef struct {
  Bucket buckets[N_DIGITS];
  guint64 occupied[N_DIGITS / 64];
} Level;

struct _FabEventQueue {
  Key *front; /* the sorted keys before all keys in the buckets */
  guint head, end, front_capacity;
  guint shift;     /* the front holds the keys whose times equal base_ps above this bit */
  guint64 base_ps; /* level k holds the keys whose times first differ from it in digit k */
  guint64 popped_ps;
  guint occupied; /* one bit per level that has keys */
  guint n_keys;
  guint n_cancelled; /* cancelled keys that are still in the queue */
  Slot *slots;
  guint n_slots; /* slots used so far */
  guint slot_capacity;
  guint32 free_slot; /* the first free slot; each names the next; MAX_SLOTS: none is free */
  guint64 next_sequence;
  Chunk *free_chunks;
  GPtrArray *slabs;
  Level levels[N_LEVELS];
};

/* Returns the digit of the bucket that is next in time, with its level and the time at which it begins. At least one
 * bucket must hold a key. */
static inline guint
first_bucket (const FabEventQueue *self, guint *level, guint64 *begin_ps)
{
  guint word = 0, digit, shift;

  *level = (guint) __builtin_ctz (self->occupied);
  shift = *level * DIGIT_BITS;
  while (self->levels[*level].occupied[word] == 0)
    word++;
  digit = 64 * word + (guint) __builtin_ctzll (self->levels[*level].occupied[word]);
  *begin_ps = ((self->base_ps >> shift | (N_DIGITS - 1)) - (N_DIGITS - 1) + digit) << shift;
  return digit;
}
