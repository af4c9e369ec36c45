/* SPDX-License-Identifier: Apache-2.0 */
/* event_queue_check.c - asserts the invariants of an event queue, for tests. */
#include "sim/base/event_queue_private.h"

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
