/* SPDX-License-Identifier: Apache-2.0 */
/* event_queue_private.h - what an event queue is made of: for its own two files. */
#pragma once

#include "sim/base/event_queue.h"

enum {
  SLOT_BITS = 24, /* a timer is the sequence above and the slot below */
  MAX_SLOTS = 1 << SLOT_BITS,
  DIGIT_BITS = 8,
  N_DIGITS = 1 << DIGIT_BITS,
  N_LEVELS = 64 / DIGIT_BITS,
  KEYS_PER_CHUNK = 15, /* with the header 256 bytes */
};

typedef struct {
  FabTimePs time_ps;
  guint32 slot;
} Key;

typedef struct {
  FabEvent event;
  guint64 sequence; /* of the event that holds the slot; 0: free, or cancelled and still among the keys */
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
  Key *front; /* sorted: what comes before everything in the buckets */
  guint head, end, front_capacity;
  guint shift;     /* the front holds the times that equal base_ps above this bit */
  guint64 base_ps; /* the buckets of level k, those that first differ from it in digit k */
  guint64 popped_ps;
  guint occupied; /* a bit per level */
  guint n_keys;
  guint n_cancelled; /* still among the keys */
  Slot *slots;
  guint n_slots; /* ever used */
  guint slot_capacity;
  guint32 free_slot; /* the first, each names the next; MAX_SLOTS: none */
  guint64 next_sequence;
  Chunk *free_chunks;
  GPtrArray *slabs;
  Level levels[N_LEVELS];
};

/* The digit of the bucket that comes next, which there is; its level, and where it begins. */
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
