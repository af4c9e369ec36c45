/* SPDX-License-Identifier: Apache-2.0 */
/* v_half and v_min: passes at fixed distances (Qi et al. 2024, arXiv 2405.15362; sail-sg/
 * zero-bubble-pipeline-parallelism, megatron/core/pipeline_parallel/zerobubble/scheduler/zbv_greedy.py).
 *
 * Every pass gets a slot of one unit of time. A stage begins a micro-batch every six slots: two forward passes, two
 * backward passes of activations and two of weights. The distances between the passes of one micro-batch say how long
 * its activations live, and so how many are there at once. Before the first backward pass and after the last forward
 * pass there are free slots. There, passes are moved forward as far as their inputs and the memory of the steady
 * state allow, first with the passes of weights where the free slots were, then without them. Only the order of the
 * slots counts in the end. */
#include "models/workload/training/pipeline_rules.h"

#include <string.h>

enum { PERIOD = 6, N_WAYS = 4, N_SORTS = 6 };
enum { DOWN, UP, BACK_DOWN, BACK_UP, WEIGHTS, WEIGHTS_UP };

/* Slots of all passes. Weights are one sort (WEIGHTS alone), or those of BACK_DOWN and of BACK_UP apart. */
typedef struct {
  guint n_stages, n_micro, n_sorts;
  guint *slots; /* [n_stages][N_SORTS][2 n_micro] */
} Timetable;

typedef struct {
  guint slot, stage, sort, index;
} Pass;

static guint *
slot_of (const Timetable *self, guint stage, guint sort, guint index)
{
  return &self->slots[((gsize) stage * N_SORTS + sort) * 2 * self->n_micro + index];
}

static guint
n_of_sort (const Timetable *self, guint sort)
{
  return sort == WEIGHTS && self->n_sorts == WEIGHTS + 1 ? 2 * self->n_micro : self->n_micro;
}

static guint
n_slots (const Timetable *self, guint stage)
{
  guint last = 0;

  for (guint sort = 0; sort < self->n_sorts; sort++)
    last = MAX (last, *slot_of (self, stage, sort, n_of_sort (self, sort) - 1));
  return last + 1;
}

/* The sort of the pass in each slot of a stage; N_SORTS: the slot is free. (transfer full) */
static guint8 *
list_slots (const Timetable *self, guint stage, guint n)
{
  guint8 *sorts = g_malloc (n);

  memset (sorts, N_SORTS, n);
  for (guint sort = 0; sort < self->n_sorts; sort++)
    for (guint i = 0; i < n_of_sort (self, sort); i++)
      sorts[*slot_of (self, stage, sort, i)] = (guint8) sort;
  return sorts;
}

static gint
compare_passes (gconstpointer a, gconstpointer b)
{
  const Pass *x = a, *y = b;

  return (x->slot > y->slot) - (x->slot < y->slot);
}

/* All passes (Pass) of the stages [first, first + n) in order of time; at one time in that of stages. (transfer
 * full) */
static GArray *
list_passes (const Timetable *self, guint first, guint n)
{
  GArray *passes = g_array_new (FALSE, FALSE, sizeof (Pass));

  for (guint stage = first; stage < first + n; stage++)
    for (guint sort = 0; sort < self->n_sorts; sort++)
      for (guint i = 0; i < n_of_sort (self, sort); i++) {
        Pass pass = { *slot_of (self, stage, sort, i), stage, sort, i };

        g_array_append_val (passes, pass);
      }
  g_array_sort (passes, compare_passes);
  return passes;
}

/* Puts passes of weights into the free slots behind their backward passes. `is_apart`: those of BACK_DOWN first. */
static void
put_weights (Timetable *self, gboolean is_apart)
{
  self->n_sorts = N_WAYS;
  for (guint stage = 0; stage < self->n_stages; stage++) {
    guint n = n_slots (self, stage), n_held[2] = { 0, 0 }, n_put[2] = { 0, 0 };
    g_autofree guint8 *sorts = list_slots (self, stage, n);

    for (guint slot = 0; slot < n || n_held[0] + n_held[1] > 0; slot++) {
      guint sort = slot < n ? sorts[slot] : N_SORTS;

      if (sort == BACK_DOWN || sort == BACK_UP)
        n_held[is_apart ? sort - BACK_DOWN : 0]++;
      if (sort != N_SORTS)
        continue;
      for (guint w = 0; w < 2; w++)
        if (n_held[w] > 0) {
          *slot_of (self, stage, WEIGHTS + w, n_put[w]++) = slot;
          n_held[w]--;
          break;
        }
    }
  }
  self->n_sorts = is_apart ? N_SORTS : WEIGHTS + 1;
}

/* --- memory, in passes whose activations are kept --- */

static gint
change_of (guint sort)
{
  return sort == DOWN || sort == UP ? 1 : sort == WEIGHTS ? -1 : 0;
}

/* Without passes of weights, every free slot behind a backward pass counts as one. */
static gint
most_kept (const guint8 *sorts, guint n, gboolean has_weights)
{
  gint kept = 0, most = 0, n_held = 0;

  for (guint slot = 0; slot < n; slot++) {
    if (sorts[slot] != N_SORTS)
      kept += change_of (sorts[slot]);
    else if (!has_weights && n_held > 0) {
      kept--;
      n_held--;
    }
    n_held += sorts[slot] == BACK_DOWN || sorts[slot] == BACK_UP ? 1 : 0;
    most = MAX (most, kept);
  }
  return most;
}

/* --- moving passes forward --- */

/* Which part of the schedule the passes of a timetable are in, while they are gone through in order of time. */
typedef enum { WARM_UP, STEADY, COOL_DOWN } Phase;

/* Slot of the index-th backward pass of a stage, of either way. */
static guint
backward_slot (const Timetable *self, guint stage, guint index)
{
  guint down = 0, up = 0, slot = 0;

  for (guint i = 0; i <= index; i++) {
    gboolean is_down = up >= self->n_micro
                    || (down < self->n_micro
                        && *slot_of (self, stage, BACK_DOWN, down) < *slot_of (self, stage, BACK_UP, up));

    slot = is_down ? *slot_of (self, stage, BACK_DOWN, down++) : *slot_of (self, stage, BACK_UP, up++);
  }
  return slot;
}

/* The first slot in which a pass has its input. */
static guint
first_slot (const Timetable *self, const Pass *pass)
{
  guint stage = pass->stage, sort = pass->sort, i = pass->index, first = 0;
  gboolean is_down = sort == DOWN || sort == BACK_DOWN, is_up = sort == UP || sort == BACK_UP;

  if (is_down && stage > 0)
    first = *slot_of (self, stage - 1, sort, i) + 1;
  if (is_up && stage + 1 < self->n_stages)
    first = *slot_of (self, stage + 1, sort, i) + 1;
  if (sort > DOWN && sort < WEIGHTS)
    first = MAX (first, *slot_of (self, stage, sort - 1, i) + 1);
  if (sort == WEIGHTS)
    first = MAX (first, backward_slot (self, stage, i) + 1);
  if (i > 0)
    first = MAX (first, *slot_of (self, stage, sort, i - 1) + 1);
  return first;
}

/* Moves a pass to the first slot that is free, behind its input and leaves the memory as it is. */
static void
move (Timetable *self, const Pass *pass, guint8 *sorts, guint n, gint most)
{
  gboolean has_weights = self->n_sorts > N_WAYS;

  for (guint slot = first_slot (self, pass); slot < pass->slot; slot++) {
    if (sorts[slot] != N_SORTS)
      continue;
    sorts[pass->slot] = N_SORTS;
    sorts[slot] = (guint8) pass->sort;
    if ((has_weights && change_of (pass->sort) <= 0) || most_kept (sorts, n, has_weights) <= most) {
      *slot_of (self, pass->stage, pass->sort, pass->index) = slot;
      return;
    }
    sorts[slot] = N_SORTS;
    sorts[pass->slot] = (guint8) pass->sort;
  }
}

/* Closes the gaps that are left: every pass begins when its input is there and its stage is free. */
static void
squeeze (Timetable *self)
{
  g_autoptr (GArray) passes = list_passes (self, 0, self->n_stages);
  g_autofree guint *next = g_new0 (guint, self->n_stages); /* free slot of each stage */

  for (guint i = 0; i < passes->len; i++) {
    const Pass *pass = &g_array_index (passes, Pass, i);
    guint first = pass->sort == WEIGHTS ? 0 : first_slot (self, pass);
    guint slot = MAX (first, next[pass->stage]);

    *slot_of (self, pass->stage, pass->sort, pass->index) = slot;
    next[pass->stage] = slot + 1;
  }
}

static void
reorder (Timetable *self, gboolean has_weights)
{
  g_autoptr (GPtrArray) slots = g_ptr_array_new_with_free_func (g_free);
  g_autofree guint *n = g_new (guint, self->n_stages);
  gint most = 0;
  Phase phase = WARM_UP;

  self->n_sorts = N_WAYS;
  if (has_weights)
    put_weights (self, FALSE);
  for (guint stage = 0; stage < self->n_stages; stage++) {
    n[stage] = n_slots (self, stage);
    g_ptr_array_add (slots, list_slots (self, stage, n[stage]));
    most = MAX (most, most_kept (g_ptr_array_index (slots, stage), n[stage], has_weights));
  }
  g_autoptr (GArray) passes = list_passes (self, 0, self->n_stages);
  for (guint i = 0; i < passes->len; i++) {
    const Pass *pass = &g_array_index (passes, Pass, i);

    if (phase == WARM_UP && pass->stage == 0 && pass->sort == BACK_UP)
      phase = STEADY;
    if (phase == COOL_DOWN || (phase == WARM_UP && has_weights))
      move (self, pass, g_ptr_array_index (slots, pass->stage), n[pass->stage], most);
    if (phase == STEADY && pass->sort == DOWN && pass->index + 1 == self->n_micro)
      phase = COOL_DOWN;
  }
  if (!has_weights)
    put_weights (self, FALSE);
  squeeze (self);
}

/* --- all --- */

/* The slots of the first micro-batch in stage `stage` of p. */
typedef void (*Pattern) (guint p, guint stage, guint *slots);

static void
half_pattern (guint p, guint stage, guint *slots)
{
  guint apart = p % 2 == 0 ? 3 : 0;

  slots[DOWN] = 2 * stage;
  slots[UP] = 3 * p - stage - 2;
  slots[BACK_DOWN] = 3 * p + apart + 2 * stage - 1;
  slots[BACK_UP] = 6 * p + apart - stage - 2;
}

static void
min_pattern (guint p, guint stage, guint *slots)
{
  guint apart = p % 3 == 0 ? 2 : 0;

  slots[DOWN] = stage;
  slots[UP] = 2 * p - stage - 1;
  slots[BACK_DOWN] = 2 * p + apart + stage;
  slots[BACK_UP] = 4 * p + apart - stage - 1;
}

static void
add_actions (const Timetable *self, guint stage, GArray *actions)
{
  static const ActionKind kinds[N_SORTS] = { ACTION_FORWARD, ACTION_FORWARD, ACTION_INPUTS,
                                             ACTION_INPUTS,  ACTION_WEIGHTS, ACTION_WEIGHTS };
  static const guint chunks[N_SORTS] = { 0, 1, 1, 0, 1, 0 };
  g_autoptr (GArray) passes = list_passes (self, stage, 1);

  for (guint i = 0; i < passes->len; i++) {
    const Pass *pass = &g_array_index (passes, Pass, i);

    pipeline_add (actions, kinds[pass->sort], chunks[pass->sort], pass->index);
  }
}

static void
add_fixed (GArray *const *actions, const PipelineSize *size, Pattern pattern)
{
  Timetable self = { .n_stages = size->n_stages, .n_micro = size->n_micro, .n_sorts = N_WAYS };
  g_autofree guint *slots = g_new (guint, (gsize) size->n_stages * N_SORTS * 2 * size->n_micro);

  self.slots = slots;
  for (guint stage = 0; stage < size->n_stages; stage++) {
    guint first[N_WAYS];

    pattern (size->n_stages, stage, first);
    for (guint way = 0; way < N_WAYS; way++)
      for (guint m = 0; m < size->n_micro; m++)
        *slot_of (&self, stage, way, m) = first[way] + PERIOD * m;
  }
  reorder (&self, TRUE);
  reorder (&self, FALSE);
  put_weights (&self, TRUE);
  for (guint stage = 0; stage < size->n_stages; stage++)
    add_actions (&self, stage, actions[stage]);
}

void
pipeline_add_v_half (GArray *const *actions, const PipelineSize *size)
{
  add_fixed (actions, size, half_pattern);
}

void
pipeline_add_v_min (GArray *const *actions, const PipelineSize *size)
{
  add_fixed (actions, size, min_pattern);
}
