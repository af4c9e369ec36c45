/* SPDX-License-Identifier: Apache-2.0 */
/* raw_ladder.c - a ladder queue (W. T. Tang, R. S. M. Goh, I. L.-J. Thng, ACM TOMACS 15(3), 2005).
 *
 * What is far lies in a heap without order; when its time comes it is dealt to as many buckets as there are events,
 * a crowded bucket again to a finer rung, and a small one is sorted.
 */
#include "tests/bench/bench.h"
#include "tests/bench/raw_queue.h"

enum { MOST_RUNGS = 8, MOST_SORTED = 48, MOST_BUCKETS = 1 << 16 };

typedef struct Node Node;
struct Node {
  RawEvent event;
  Node *next;
};

typedef struct {
  gint64 start, width; /* of bucket 0; of each */
  guint n, current;    /* buckets; the first that may hold something */
  Node **buckets;
} Rung;

typedef struct {
  Node *nodes, *free_nodes;
  Node *top;
  gint64 top_start, top_least, top_most;
  guint n_top;
  Rung rungs[MOST_RUNGS];
  guint n_rungs;
  RawEvent *bottom; /* the last is due first */
  guint n_bottom;
} Ladder;

static inline void
bottom_insert (Ladder *self, RawEvent event)
{
  guint i = self->n_bottom++;

  for (; i > 0 && self->bottom[i - 1].time < event.time; i--)
    self->bottom[i] = self->bottom[i - 1];
  self->bottom[i] = event;
}

static inline Node *
take_node (Ladder *self, RawEvent event)
{
  Node *node = self->free_nodes;

  self->free_nodes = node->next;
  node->event = event;
  return node;
}

static inline void
ladder_push (Ladder *self, RawEvent event)
{
  if (event.time >= self->top_start) {
    Node *node = take_node (self, event);

    node->next = self->top;
    self->top = node;
    self->top_least = self->n_top > 0 ? MIN (self->top_least, event.time) : event.time;
    self->top_most = self->n_top > 0 ? MAX (self->top_most, event.time) : event.time;
    self->n_top++;
    return;
  }
  for (guint r = 0; r < self->n_rungs; r++) {
    Rung *rung = &self->rungs[r];

    if (event.time >= rung->start + rung->width * rung->current) {
      Node *node = take_node (self, event);
      Node **bucket = &rung->buckets[(event.time - rung->start) / rung->width];

      node->next = *bucket;
      *bucket = node;
      return;
    }
  }
  bottom_insert (self, event);
}

static void
deal (Ladder *self, Node *list, guint n, gint64 least, gint64 most)
{
  Rung *rung = &self->rungs[self->n_rungs++];

  n = MIN (n, MOST_BUCKETS);
  *rung = (Rung){ least, (most - least) / n + 1, n, 0, rung->buckets };
  if (rung->buckets == NULL)
    rung->buckets = g_new (Node *, MOST_BUCKETS);
  for (guint b = 0; b < n; b++)
    rung->buckets[b] = NULL;
  for (Node *node = list, *next; node; node = next) {
    Node **bucket = &rung->buckets[(node->event.time - least) / rung->width];

    next = node->next;
    node->next = *bucket;
    *bucket = node;
  }
}

static void
refill (Ladder *self)
{
  while (self->n_bottom == 0) {
    Rung *rung = self->n_rungs > 0 ? &self->rungs[self->n_rungs - 1] : NULL;
    guint n = 0;

    if (rung == NULL) {
      Node *list = self->top;

      n = self->n_top;
      self->top = NULL;
      self->n_top = 0;
      deal (self, list, n, self->top_least, self->top_most);
      self->top_start = self->rungs[0].start + self->rungs[0].width * self->rungs[0].n;
      continue;
    }
    while (rung->current < rung->n && rung->buckets[rung->current] == NULL)
      rung->current++;
    if (rung->current == rung->n) {
      self->n_rungs--;
      continue;
    }
    Node *list = rung->buckets[rung->current];
    gint64 start = rung->start + rung->width * rung->current++;
    for (Node *node = list; node; node = node->next)
      n++;
    if (n > MOST_SORTED && self->n_rungs < MOST_RUNGS && rung->width > 1) {
      deal (self, list, n, start, start + rung->width - 1);
      continue;
    }
    for (Node *node = list, *next; node; node = next) {
      next = node->next;
      bottom_insert (self, node->event);
      node->next = self->free_nodes;
      self->free_nodes = node;
    }
  }
}

static inline RawEvent
ladder_pop (Ladder *self)
{
  if (self->n_bottom == 0)
    refill (self);
  return self->bottom[--self->n_bottom];
}

double
raw_hold_ladder (const gint64 *steps, guint n_steps, guint n, guint n_holds)
{
  Ladder ladder = { .nodes = g_new (Node, n + 1), .bottom = g_new (RawEvent, n + 1) };
  double since_s;

  for (guint i = 0; i <= n; i++)
    ladder.nodes[i].next = i < n ? &ladder.nodes[i + 1] : NULL;
  ladder.free_nodes = ladder.nodes;
  for (guint i = 0; i < n; i++)
    ladder_push (&ladder, (RawEvent){ raw_first_time (steps, n_steps, i), i });
  since_s = bench_now_s ();
  for (guint i = 0; i < n_holds; i++) {
    RawEvent event = ladder_pop (&ladder);

    ladder_push (&ladder, (RawEvent){ event.time + steps[i & (n_steps - 1)], event.payload });
  }
  since_s = bench_now_s () - since_s;
  for (guint r = 0; r < MOST_RUNGS; r++)
    g_free (ladder.rungs[r].buckets);
  g_free (ladder.nodes);
  g_free (ladder.bottom);
  return since_s;
}
