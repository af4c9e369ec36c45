/* SPDX-License-Identifier: Apache-2.0 */
/* event_queue.c - the radix heap that event_queue.h describes. */
#include "sim/base/event_queue.h"

#include <string.h>

#include "sim/base/large_pages.h"

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

enum {
  FIRST_SLAB = 64, /* chunks; each slab after it has twice as many */
  LAST_SLAB = 1 << 15,
  MOST_INSERTED = 256, /* a longer front is divided before another key goes in */
  FEW = 16,            /* up to this many keys are sorted at once; more are first distributed by a digit */
  MOST_SORTED = 128,   /* a longer bucket is divided, not sorted */
  /* when a divided bucket has at most this many keys, they are due soon: prefetch their slots */
  MOST_NEAR = 1000,
};

FabEventQueue *
fab_event_queue_new (void)
{
  FabEventQueue *self = g_new0 (FabEventQueue, 1);

  self->next_sequence = 1;
  self->free_slot = MAX_SLOTS;
  self->slabs = g_ptr_array_new_with_free_func (fab_large_pages_free);
  return self;
}

void
fab_event_queue_free (FabEventQueue *self)
{
  if (self == NULL)
    return;
  g_free (self->front);
  fab_large_pages_free (self->slots);
  g_ptr_array_unref (self->slabs);
  g_free (self);
}

/* --- slots --- */

static void
grow_slots (FabEventQueue *self)
{
  Slot *before = self->slots;

  self->slot_capacity = MAX (64, self->slot_capacity * 2);
  g_assert (self->slot_capacity <= MAX_SLOTS);
  self->slots = fab_large_pages_alloc (self->slot_capacity * sizeof (Slot));
  if (before != NULL)
    memcpy (self->slots, before, self->n_slots * sizeof (Slot));
  fab_large_pages_free (before);
}

static inline guint32
take_slot (FabEventQueue *self)
{
  guint32 slot = self->free_slot;

  if (slot != MAX_SLOTS) {
    self->free_slot = (guint32) self->slots[slot].event.arg;
    return slot;
  }
  if (self->n_slots == self->slot_capacity)
    grow_slots (self);
  return self->n_slots++;
}

static inline void
give_slot (FabEventQueue *self, guint32 slot)
{
  self->slots[slot].sequence = 0;
  self->slots[slot].event.arg = self->free_slot;
  self->free_slot = slot;
}

/* Removes `key` when its event is cancelled. */
static gboolean
drop_if_cancelled (FabEventQueue *self, Key key)
{
  if (self->n_cancelled == 0 || self->slots[key.slot].sequence != 0)
    return FALSE;
  give_slot (self, key.slot);
  self->n_cancelled--;
  self->n_keys--;
  return TRUE;
}

/* --- buckets --- */

static Chunk *
take_chunk (FabEventQueue *self)
{
  Chunk *chunk = self->free_chunks;

  if (chunk == NULL) {
    guint n = MIN (FIRST_SLAB << MIN (self->slabs->len, 16), LAST_SLAB);
    Chunk *slab = fab_large_pages_alloc (n * sizeof (Chunk));

    g_ptr_array_add (self->slabs, slab);
    for (guint i = 0; i < n; i++)
      slab[i].next = i + 1 < n ? &slab[i + 1] : NULL;
    chunk = slab;
  }
  self->free_chunks = chunk->next;
  chunk->next = NULL;
  chunk->n = 0;
  return chunk;
}

static inline Chunk *
give_chunk (FabEventQueue *self, Chunk *chunk)
{
  Chunk *next = chunk->next;

  chunk->next = self->free_chunks;
  self->free_chunks = chunk;
  return next;
}

static Chunk *
lengthen (FabEventQueue *self, guint level, guint digit)
{
  Bucket *bucket = &self->levels[level].buckets[digit];
  Chunk *chunk = take_chunk (self);

  if (bucket->last) {
    bucket->last->next = chunk;
  } else {
    bucket->first = chunk;
    self->levels[level].occupied[digit / 64] |= G_GUINT64_CONSTANT (1) << digit % 64;
    self->occupied |= 1u << level;
  }
  bucket->last = chunk;
  return chunk;
}

static inline void
append (FabEventQueue *self, guint level, Key key)
{
  guint digit = (guint) ((guint64) key.time_ps >> level * DIGIT_BITS) % N_DIGITS;
  Chunk *chunk = self->levels[level].buckets[digit].last;

  if (chunk == NULL || chunk->n == KEYS_PER_CHUNK)
    chunk = lengthen (self, level, digit);
  chunk->keys[chunk->n++] = key;
}

static Bucket
detach (FabEventQueue *self, guint level, guint digit)
{
  Level *of = &self->levels[level];
  Bucket bucket = of->buckets[digit];
  guint64 others = 0;

  of->buckets[digit] = (Bucket){ NULL, NULL };
  of->occupied[digit / 64] &= ~(G_GUINT64_CONSTANT (1) << digit % 64);
  for (guint i = 0; i < G_N_ELEMENTS (of->occupied); i++)
    others |= of->occupied[i];
  if (others == 0)
    self->occupied &= ~(1u << level);
  return bucket;
}

static void
fetch_slots (const FabEventQueue *self, Bucket bucket)
{
  for (const Chunk *chunk = bucket.first; chunk; chunk = chunk->next)
    for (guint i = 0; i < chunk->n; i++)
      __builtin_prefetch (&self->slots[chunk->keys[i].slot], 1);
}

/* Moves the keys of a bucket into the buckets of `level`, in their order. */
static void
spread (FabEventQueue *self, Bucket bucket, guint level)
{
  for (Chunk *chunk = bucket.first; chunk; chunk = give_chunk (self, chunk)) {
    __builtin_prefetch (chunk->next);
    for (guint i = 0; i < chunk->n; i++)
      if (!drop_if_cancelled (self, chunk->keys[i]))
        append (self, level, chunk->keys[i]);
  }
}

/* --- the front --- */

static void
reserve_front (FabEventQueue *self, guint n_more)
{
  if (self->end + n_more <= self->front_capacity)
    return;
  if (self->head > 0)
    memmove (self->front, self->front + self->head, (self->end - self->head) * sizeof (Key));
  self->end -= self->head;
  self->head = 0;
  if (2 * (self->end + n_more) <= self->front_capacity)
    return;
  self->front_capacity = MAX (2 * (self->end + n_more), 256);
  self->front = g_renew (Key, self->front, self->front_capacity);
}

/* Inserts `key` behind all keys that are not later. The front must have room. */
static inline void
insert (Key *front, guint head, guint end, Key key)
{
  for (; end > head && front[end - 1].time_ps > key.time_ps; end--)
    front[end] = front[end - 1];
  front[end] = key;
}

/* Moves the keys of a long front that are far from the last popped time into the buckets of the next lower level. */
static void
divide_front (FabEventQueue *self)
{
  guint level = self->shift / DIGIT_BITS - 1, end = self->head;

  self->shift -= DIGIT_BITS;
  self->base_ps = self->popped_ps >> self->shift << self->shift;
  while (end < self->end && ((guint64) self->front[end].time_ps ^ self->base_ps) >> self->shift == 0)
    end++;
  for (guint i = end; i < self->end; i++)
    append (self, level, self->front[i]);
  self->end = end;
}

/* Counts the keys of a bucket, but stops soon after MOST_NEAR. */
static guint
count_keys (Bucket bucket)
{
  guint n = 0;

  for (const Chunk *chunk = bucket.first; chunk && n <= MOST_NEAR; chunk = chunk->next)
    n += chunk->n;
  return n;
}

static void
fill_front (FabEventQueue *self, Bucket bucket)
{
  for (Chunk *chunk = bucket.first; chunk; chunk = give_chunk (self, chunk)) {
    reserve_front (self, chunk->n);
    for (guint i = 0; i < chunk->n; i++)
      insert (self->front, 0, self->end++, chunk->keys[i]);
  }
}

static inline guint
digit_of (Key key, guint level)
{
  return (guint) ((guint64) key.time_ps >> level * DIGIT_BITS) % N_DIGITS;
}

/* Fills the front from a longer bucket: distributes the keys by the next lower digit, keeping their order, which
 * leaves little for the insertion sort. */
static void
sort_front (FabEventQueue *self, Bucket bucket, guint n, guint level)
{
  guint16 ends[N_DIGITS] = { 0 };
  guint16 end = 0;

  reserve_front (self, n);
  for (const Chunk *chunk = bucket.first; chunk; chunk = chunk->next)
    for (guint i = 0; i < chunk->n; i++)
      ends[digit_of (chunk->keys[i], level - 1)]++;
  for (guint digit = 0; digit < N_DIGITS; digit++) {
    guint16 n_of_digit = ends[digit];

    ends[digit] = end;
    end = (guint16) (end + n_of_digit);
  }
  for (Chunk *chunk = bucket.first; chunk; chunk = give_chunk (self, chunk))
    for (guint i = 0; i < chunk->n; i++)
      self->front[ends[digit_of (chunk->keys[i], level - 1)]++] = chunk->keys[i];
  for (self->end = 1; self->end < n; self->end++)
    insert (self->front, 0, self->end, self->front[self->end]);
}

/* Moves the first bucket into the front. A long bucket is divided until its first part is short or has a single
 * time. */
static gboolean
refill (FabEventQueue *self)
{
  self->head = self->end = 0;
  while (self->occupied != 0) {
    guint level, digit = first_bucket (self, &level, &self->base_ps);
    Bucket bucket = detach (self, level, digit);
    guint n = count_keys (bucket);

    self->shift = level * DIGIT_BITS;
    if (n <= MOST_NEAR)
      fetch_slots (self, bucket);
    if (level == 0 || n <= FEW)
      fill_front (self, bucket);
    else if (n <= MOST_SORTED)
      sort_front (self, bucket, n, level);
    else
      spread (self, bucket, level - 1);
    if (self->end > 0)
      return TRUE;
  }
  return FALSE;
}

/* --- the queue --- */

static void
place (FabEventQueue *self, Key key)
{
  guint64 differing;

  if (self->n_keys++ == 0) {
    self->base_ps = self->popped_ps;
    self->shift = 0;
  }
  while (self->shift != 0 && self->end - self->head > MOST_INSERTED
         && ((guint64) key.time_ps ^ self->base_ps) >> self->shift == 0)
    divide_front (self);
  differing = (guint64) key.time_ps ^ self->base_ps;
  if (differing >> self->shift != 0) {
    append (self, (guint) (63 - __builtin_clzll (differing)) / DIGIT_BITS, key);
    return;
  }
  reserve_front (self, 1);
  insert (self->front, self->head, self->end++, key);
}

FabTimer
fab_event_queue_push (FabEventQueue *self, FabTimePs time_ps, FabEvent event)
{
  guint32 slot = take_slot (self);
  guint64 sequence = self->next_sequence++;

  g_assert ((guint64) time_ps >= self->popped_ps);
  self->slots[slot] = (Slot){ event, sequence };
  place (self, (Key){ time_ps, slot });
  return sequence << SLOT_BITS | slot;
}

/* Removes the cancelled keys; O(n). */
static void
compact (FabEventQueue *self)
{
  guint end = self->head;

  for (guint i = self->head; i < self->end; i++)
    if (!drop_if_cancelled (self, self->front[i]))
      self->front[end++] = self->front[i];
  self->end = end;
  for (guint level = 0; level < N_LEVELS; level++)
    for (guint word = 0; word < N_DIGITS / 64; word++)
      for (guint64 left = self->levels[level].occupied[word]; left != 0; left &= left - 1)
        spread (self, detach (self, level, 64 * word + (guint) __builtin_ctzll (left)), level);
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
  while (self->head < self->end || refill (self)) {
    Key first = self->front[self->head++];

    if (drop_if_cancelled (self, first))
      continue;
    self->popped_ps = (guint64) first.time_ps;
    self->n_keys--;
    *time_ps = first.time_ps;
    *event = self->slots[first.slot].event;
    give_slot (self, first.slot);
    return TRUE;
  }
  return FALSE;
}

FabTimePs
fab_event_queue_earliest_ps (const FabEventQueue *self)
{
  guint64 begin_ps;
  guint level;

  if (self->head < self->end)
    return self->front[self->head].time_ps;
  if (self->occupied == 0)
    return FAB_TIME_MAX;
  (void) first_bucket (self, &level, &begin_ps);
  return (FabTimePs) begin_ps;
}

/* The earliest of a bucket that was not cancelled; FAB_TIME_MAX: all were. */
static FabTimePs
first_of_bucket (const FabEventQueue *self, const Bucket *bucket)
{
  FabTimePs first_ps = FAB_TIME_MAX;

  for (const Chunk *chunk = bucket->first; chunk; chunk = chunk->next)
    for (guint i = 0; i < chunk->n; i++)
      if (chunk->keys[i].time_ps < first_ps && self->slots[chunk->keys[i].slot].sequence != 0)
        first_ps = chunk->keys[i].time_ps;
  return first_ps;
}

/* Levels and their buckets come one after the other in time. */
FabTimePs
fab_event_queue_first_ps (const FabEventQueue *self)
{
  for (guint i = self->head; i < self->end; i++)
    if (self->slots[self->front[i].slot].sequence != 0)
      return self->front[i].time_ps;
  for (guint level = 0; level < N_LEVELS; level++)
    for (guint word = 0; word < N_DIGITS / 64; word++)
      for (guint64 left = self->levels[level].occupied[word]; left != 0; left &= left - 1) {
        guint digit = 64 * word + (guint) __builtin_ctzll (left);
        FabTimePs first_ps = first_of_bucket (self, &self->levels[level].buckets[digit]);

        if (first_ps != FAB_TIME_MAX)
          return first_ps;
      }
  return FAB_TIME_MAX;
}

/* --- events of some owners --- */

typedef void (*KeyFn) (gpointer data, Key key);

/* Calls `visit` with all keys whose event was not cancelled, in any order. */
static void
visit_keys (const FabEventQueue *self, KeyFn visit, gpointer data)
{
  for (guint i = self->head; i < self->end; i++)
    if (self->slots[self->front[i].slot].sequence != 0)
      visit (data, self->front[i]);
  for (guint level = 0; level < N_LEVELS; level++)
    for (guint digit = 0; digit < N_DIGITS; digit++)
      for (const Chunk *chunk = self->levels[level].buckets[digit].first; chunk; chunk = chunk->next)
        for (guint i = 0; i < chunk->n; i++)
          if (self->slots[chunk->keys[i].slot].sequence != 0)
            visit (data, chunk->keys[i]);
}

typedef struct {
  const FabEventQueue *queue;
  const gconstpointer *owners;
  guint n_owners;
  FabTimePs first_ps;
} Others;

static gboolean
is_of (const FabEventQueue *self, Key key, const gconstpointer *owners, guint n)
{
  for (guint i = 0; i < n; i++)
    if (self->slots[key.slot].event.owner == owners[i])
      return TRUE;
  return FALSE;
}

static void
note_other (gpointer data, Key key)
{
  Others *self = data;

  if (key.time_ps < self->first_ps && !is_of (self->queue, key, self->owners, self->n_owners))
    self->first_ps = key.time_ps;
}

FabTimePs
fab_event_queue_first_of_others_ps (const FabEventQueue *self, const gconstpointer *owners, guint n)
{
  Others others = { self, owners, n, FAB_TIME_MAX };

  visit_keys (self, note_other, &others);
  return others.first_ps;
}

typedef struct {
  guint64 sequence;
  Key key;
} Pushed;

typedef struct {
  const FabEventQueue *queue;
  GArray *all; /* Pushed */
} Gathering;

static void
gather (gpointer data, Key key)
{
  Gathering *self = data;
  Pushed pushed = { self->queue->slots[key.slot].sequence, key };

  g_array_append_val (self->all, pushed);
}

static gint
compare_pushed (gconstpointer a, gconstpointer b)
{
  guint64 x = ((const Pushed *) a)->sequence, y = ((const Pushed *) b)->sequence;

  return x < y ? -1 : 1;
}

/* Gives back all keys and the slots of cancelled events. */
static void
empty (FabEventQueue *self)
{
  for (guint i = self->head; i < self->end; i++)
    drop_if_cancelled (self, self->front[i]);
  for (guint level = 0; level < N_LEVELS; level++)
    for (guint digit = 0; digit < N_DIGITS; digit++) {
      Bucket bucket = self->levels[level].buckets[digit];

      if (bucket.first != NULL)
        detach (self, level, digit);
      for (Chunk *chunk = bucket.first; chunk; chunk = give_chunk (self, chunk))
        for (guint i = 0; i < chunk->n; i++)
          drop_if_cancelled (self, chunk->keys[i]);
    }
  self->n_keys = self->head = self->end = 0;
}

void
fab_event_queue_delay (FabEventQueue *self, const gconstpointer *owners, guint n, FabTimePs by_ps)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Pushed));

  g_assert (by_ps >= 0);
  visit_keys (self, gather, &(Gathering){ self, all });
  empty (self);
  g_array_sort (all, compare_pushed);
  for (guint i = 0; i < all->len; i++) {
    Key key = g_array_index (all, Pushed, i).key;

    if (is_of (self, key, owners, n))
      key.time_ps += by_ps;
    place (self, key);
  }
}

guint
fab_event_queue_length (const FabEventQueue *self)
{
  return self->n_keys - self->n_cancelled;
}

/* Asserts the invariants of an event queue, for tests. */

static guint
check_bucket (const FabEventQueue *self, guint level, guint digit, guint *n_dead)
{
  const Bucket *bucket = &self->levels[level].buckets[digit];
  gboolean is_occupied = self->levels[level].occupied[digit / 64] >> digit % 64 & 1;
  guint n = 0;

  g_assert_true (is_occupied == (bucket->first != NULL));
  for (const Chunk *chunk = bucket->first; chunk; chunk = chunk->next) {
    g_assert_true ((chunk->next == NULL) == (chunk == bucket->last));
    for (guint i = 0; i < chunk->n; i++) {
      guint64 time_ps = (guint64) chunk->keys[i].time_ps, above = level * DIGIT_BITS;

      g_assert_cmpuint (time_ps >> above & (N_DIGITS - 1), ==, digit);
      g_assert_cmpuint (time_ps >> above, >, self->base_ps >> above);
      g_assert_true (level == N_LEVELS - 1 || (time_ps ^ self->base_ps) >> above >> DIGIT_BITS == 0);
      *n_dead += self->slots[chunk->keys[i].slot].sequence == 0;
      n++;
    }
  }
  return n;
}

void
fab_event_queue_check (const FabEventQueue *self)
{
  guint n = self->end - self->head, n_dead = 0, n_free = 0;

  for (guint i = self->head; i < self->end; i++) {
    g_assert_true (((guint64) self->front[i].time_ps ^ self->base_ps) >> self->shift == 0);
    g_assert_true (i == self->head || self->front[i - 1].time_ps <= self->front[i].time_ps);
    n_dead += self->slots[self->front[i].slot].sequence == 0;
  }
  for (guint level = 0; level < N_LEVELS; level++) {
    gboolean is_occupied = self->occupied >> level & 1;
    guint n_before = n;

    for (guint digit = 0; digit < N_DIGITS; digit++)
      n += check_bucket (self, level, digit, &n_dead);
    g_assert_true (is_occupied == (n > n_before));
  }
  for (guint32 slot = self->free_slot; slot != MAX_SLOTS; slot = (guint32) self->slots[slot].event.arg)
    n_free++;
  g_assert_cmpuint (n, ==, self->n_keys);
  g_assert_cmpuint (n_dead, ==, self->n_cancelled);
  g_assert_cmpuint (n + n_free, ==, self->n_slots);
}
