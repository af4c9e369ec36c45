/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_queue.c - the queue of a mix held against a plain one, tables against straight lines, and speeds against the
 * equations that define them. */
#include "tests/support/random.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "sim/sharing/job_mix.h"

enum { MOST_JOBS = 60 };

static const double one[] = { 1 }, none[] = { 0 };
/* A kind that is never slowed. */
static const FabMixKind quiet = { .n_levels = 1,
                                  .n_loads = 1,
                                  .nodes_per_group = one,
                                  .own_load = none,
                                  .duty = none,
                                  .others = none,
                                  .slowdown = one };

/* --- the queue --- */

typedef struct {
  gboolean is_waiting, is_running, has_started;
  double started_s, first_s, end_s;
  guint n_preempted;
} State;

/* A queue in plain words: at every arrival and every end, all that may start is looked at again. */
typedef struct {
  const FabMixJob *jobs;
  const FabMixRules *rules;
  guint n_jobs, n_free, n_waiting, longest;
  double now_s;
  gboolean is_open; /* two of one priority started at once, and one of them had to give way */
  State states[MOST_JOBS];
} Plain;

static gboolean
comes_before (const Plain *self, guint a, guint b)
{
  const FabMixJob *x = &self->jobs[a], *y = &self->jobs[b];

  if (self->rules->order == FAB_MIX_PRIORITY && x->priority != y->priority)
    return x->priority > y->priority;
  if (self->rules->order == FAB_MIX_SHORTEST && (x->work_s < y->work_s || x->work_s > y->work_s))
    return x->work_s < y->work_s;
  return a < b;
}

/* The one that comes next after `after` in the queue; n_jobs: there is none. G_MAXUINT: the first. */
static guint
next_waiting (const Plain *self, guint after)
{
  guint found = self->n_jobs;

  for (guint i = 0; i < self->n_jobs; i++)
    if (self->states[i].is_waiting && (after == G_MAXUINT || comes_before (self, after, i))
        && (found == self->n_jobs || comes_before (self, i, found)))
      found = i;
  return found;
}

static void
wait_for_nodes (Plain *self, guint which)
{
  self->states[which].is_waiting = TRUE;
  self->n_waiting++;
}

static void
start (Plain *self, guint which)
{
  State *state = &self->states[which];

  state->is_waiting = FALSE;
  state->is_running = TRUE;
  state->first_s = state->has_started ? state->first_s : self->now_s;
  state->has_started = TRUE;
  state->started_s = self->now_s;
  state->end_s = self->now_s + self->jobs[which].work_s;
  self->n_free -= self->jobs[which].n_nodes;
  self->n_waiting--;
}

static gboolean
make_room (Plain *self, guint which)
{
  gint64 priority = self->jobs[which].priority;
  guint n = self->n_free;

  for (guint i = 0; i < self->n_jobs; i++)
    n += self->states[i].is_running && self->jobs[i].priority < priority ? self->jobs[i].n_nodes : 0;
  if (!self->rules->has_preemption || n < self->jobs[which].n_nodes)
    return FALSE;
  while (self->n_free < self->jobs[which].n_nodes) {
    guint lowest = self->n_jobs;

    for (guint i = 0; i < self->n_jobs; i++)
      if (self->states[i].is_running
          && (lowest == self->n_jobs || self->jobs[i].priority < self->jobs[lowest].priority
              || (self->jobs[i].priority == self->jobs[lowest].priority
                  && self->states[i].started_s > self->states[lowest].started_s)))
        lowest = i;
    for (guint i = 0; i < self->n_jobs; i++)
      self->is_open |= i != lowest && self->states[i].is_running
                    && self->jobs[i].priority == self->jobs[lowest].priority
                    && self->states[i].started_s >= self->states[lowest].started_s;
    self->states[lowest].is_running = FALSE;
    self->states[lowest].n_preempted++;
    self->n_free += self->jobs[lowest].n_nodes;
    wait_for_nodes (self, lowest);
  }
  return TRUE;
}

/* The earliest time at which the first of the queue has enough nodes, and how many more there are then. */
static double
reserve (const Plain *self, guint first, guint *n_more)
{
  double best_s = INFINITY;

  *n_more = 0;
  for (guint i = 0; i < self->n_jobs; i++) {
    guint n = self->n_free;

    if (!self->states[i].is_running)
      continue;
    for (guint k = 0; k < self->n_jobs; k++)
      if (self->states[k].is_running && self->states[k].end_s <= self->states[i].end_s)
        n += self->jobs[k].n_nodes;
    if (n >= self->jobs[first].n_nodes && self->states[i].end_s < best_s) {
      best_s = self->states[i].end_s;
      *n_more = n - self->jobs[first].n_nodes;
    }
  }
  return best_s;
}

static void
start_what_fits (Plain *self)
{
  guint first, n_more;

  while ((first = next_waiting (self, G_MAXUINT)) < self->n_jobs
         && (self->jobs[first].n_nodes <= self->n_free || make_room (self, first)))
    start (self, first);
  if (!self->rules->has_backfill || first == self->n_jobs)
    return;
  double reserved_s = reserve (self, first, &n_more);
  for (guint i = next_waiting (self, first); i < self->n_jobs; i = next_waiting (self, i)) {
    gboolean is_back = self->now_s + self->jobs[i].work_s <= reserved_s;

    if (self->jobs[i].n_nodes > self->n_free || (!is_back && self->jobs[i].n_nodes > n_more))
      continue;
    n_more -= is_back ? 0 : self->jobs[i].n_nodes;
    start (self, i);
  }
}

static void
play_plainly (Plain *self)
{
  guint n_arrived = 0;

  for (;;) {
    guint ends = self->n_jobs;

    for (guint i = 0; i < self->n_jobs; i++)
      if (self->states[i].is_running
          && (ends == self->n_jobs || self->states[i].end_s < self->states[ends].end_s))
        ends = i;
    if (ends == self->n_jobs && n_arrived == self->n_jobs)
      return;
    if (ends < self->n_jobs
        && (n_arrived == self->n_jobs || self->states[ends].end_s <= self->jobs[n_arrived].submit_s)) {
      self->now_s = self->states[ends].end_s;
      self->states[ends].is_running = FALSE;
      self->n_free += self->jobs[ends].n_nodes;
    } else {
      self->now_s = self->jobs[n_arrived].submit_s;
      while (n_arrived < self->n_jobs && self->jobs[n_arrived].submit_s <= self->now_s)
        wait_for_nodes (self, n_arrived++);
    }
    start_what_fits (self);
    self->longest = MAX (self->longest, self->n_waiting);
  }
}

/* Every order, with and without backfilling, and that by priority with preemption: each job starts and ends when the
 * plain queue says so. */
static void
queues_are_as_defined (G_GNUC_UNUSED void **state)
{
  guint n_stopped = 0, n_filled = 0;

  for (guint64 round = 0; round < 600; round++) {
    Random random = { 7000 * round };
    guint groups[] = { random_between (&random, 1, 6), random_between (&random, 0, 6) },
          n_nodes = groups[0] + groups[1];
    const FabMixMachine machine = { 2, groups };
    const FabMixRules rules = { .order = (FabMixOrder) (round % FAB_N_MIX_ORDERS),
                                .has_backfill = round / 3 % 2 == 1,
                                .has_preemption = round % FAB_N_MIX_ORDERS == FAB_MIX_PRIORITY
                                               && round / 6 % 2 == 1,
                                .placement = (FabMixPlacement) (round / 12 % FAB_N_MIX_PLACEMENTS) };
    guint n_jobs = random_between (&random, 1, MOST_JOBS);
    FabMixJob jobs[MOST_JOBS];
    double now_s = 0;

    for (guint i = 0; i < n_jobs; i++) {
      now_s += random_between (&random, 0, 4);
      jobs[i] = (FabMixJob){ .submit_s = now_s,
                             .work_s = 1 + random_unit (&random) * (round % 5 == 0 ? 3 : 20),
                             .n_nodes = random_between (&random, 1, n_nodes),
                             .priority = random_between (&random, 0, 2) };
    }
    Plain plain = { .jobs = jobs, .rules = &rules, .n_jobs = n_jobs, .n_free = n_nodes };
    play_plainly (&plain);
    if (plain.is_open)
      continue;
    g_autoptr (FabMixPlay) play = fab_mix_play (&machine, &quiet, jobs, n_jobs, &rules, NULL);
    double last_s = 0;
    guint n_preempted = 0;

    for (guint i = 0; i < n_jobs; i++) {
      const FabMixOutcome *outcome = &play->outcomes[i];
      const State *expected = &plain.states[i];

      assert_near (outcome->start_s, expected->first_s, 1e-9);
      assert_near (outcome->end_s, expected->end_s, 1e-9);
      assert_int_equal (outcome->n_preempted, expected->n_preempted);
      assert_true (fabs (outcome->busy_s - jobs[i].work_s - outcome->undone_s) < 1e-6);
      last_s = MAX (last_s, expected->end_s);
      n_preempted += expected->n_preempted;
      for (guint k = 0; k < i && rules.has_backfill; k++)
        n_filled += rules.order == FAB_MIX_FIFO && expected->first_s < plain.states[k].first_s;
    }
    assert_int_equal (play->n_preempted, n_preempted);
    assert_int_equal (play->longest_queue, plain.longest);
    assert_int_equal (play->n_nodes, n_nodes);
    assert_near (play->first_s, jobs[0].submit_s, 0);
    assert_near (play->last_s, last_s, 1e-9);
    n_stopped += n_preempted;
  }
  assert_true (n_stopped > 100 && n_filled > 100);
}

/* Two nodes, and jobs of one node that arrive together: the third is the first one that waits. */
static void
jobs_that_start_at_once_do_not_wait (G_GNUC_UNUSED void **state)
{
  const FabMixMachine machine = { 1, (const guint[]){ 2 } };
  const FabMixRules rules = { .order = FAB_MIX_FIFO };
  FabMixJob jobs[5];

  for (guint n = 1; n <= G_N_ELEMENTS (jobs); n++) {
    for (guint i = 0; i < n; i++)
      jobs[i] = (FabMixJob){ .work_s = 1, .n_nodes = 1 };
    g_autoptr (FabMixPlay) play = fab_mix_play (&machine, &quiet, jobs, n, &rules, NULL);
    assert_int_equal (play->longest_queue, n > 2 ? n - 2 : 0);
  }
}

/* One that arrives in the moment in which another ends finds that node free. */
static void
nodes_are_given_back_before_jobs_arrive (G_GNUC_UNUSED void **state)
{
  const FabMixMachine machine = { 1, (const guint[]){ 1 } };
  const FabMixRules rules = { .order = FAB_MIX_FIFO };
  const FabMixJob jobs[] = { { .work_s = 10, .n_nodes = 1 }, { .submit_s = 10, .work_s = 5, .n_nodes = 1 } };
  g_autoptr (FabMixPlay) play = fab_mix_play (&machine, &quiet, jobs, G_N_ELEMENTS (jobs), &rules, NULL);

  assert_near (play->outcomes[1].start_s, 10, 0);
  assert_int_equal (play->longest_queue, 0);
  assert_int_equal (play->n_events, 4); /* each arrives and ends */
}

/* --- tables --- */

/* The straight line between two points; beyond them, the value at the end. */
static double
line_between (double x0, double y0, double x1, double y1, double x)
{
  return y0 + (y1 - y0) * CLAMP ((x - x0) / (x1 - x0), 0, 1);
}

/* The value at x, of points that ascend. */
static double
read_line (guint n, const double *xs, const double *ys, double x)
{
  double y = ys[0];

  for (guint i = 1; i < n; i++)
    if (x > xs[i - 1])
      y = line_between (xs[i - 1], ys[i - 1], xs[i], ys[i], x);
  return y;
}

typedef struct {
  FabMixKind kind;
  double levels[4], loads[4], duty[4], others[4], slowdown[16];
} Table;

/* Rows and columns ascend, as slowdowns do with what others take and with fewer nodes a group. */
static void
fill_table (Table *self, guint n_levels, guint n_loads, Random *random)
{
  double nodes = 32 + floor (random_unit (random) * 32);

  for (guint i = 0; i < n_levels; i++) {
    self->levels[i] = nodes;
    nodes /= 1 + random_unit (random) * 4;
    self->loads[i] = random_unit (random);
    self->duty[i] = random_unit (random);
  }
  for (guint i = 0; i < n_loads; i++)
    self->others[i] = i == 0 ? 0 : self->others[i - 1] + 0.05 + random_unit (random) / 4;
  for (guint i = 0; i < n_levels; i++)
    for (guint k = 0; k < n_loads; k++)
      self->slowdown[i * n_loads + k] = (i > 0 ? self->slowdown[(i - 1) * n_loads + k] : 1)
                                      + random_unit (random)
                                      + (k > 0 ? self->slowdown[i * n_loads + k - 1] : 0);
  self->kind = (FabMixKind){ .n_levels = n_levels,
                             .n_loads = n_loads,
                             .nodes_per_group = self->levels,
                             .own_load = self->loads,
                             .duty = self->duty,
                             .others = self->others,
                             .slowdown = self->slowdown };
}

static double
load_from (const Table *self, const double *loads, double nodes)
{
  double logs[4], ascending[4];
  guint n = self->kind.n_levels;

  for (guint i = 0; i < n; i++) {
    logs[i] = log (self->levels[n - 1 - i]);
    ascending[i] = loads[n - 1 - i];
  }
  return read_line (n, logs, ascending, log (nodes));
}

static double
slowdown_from (const Table *self, double nodes, double others)
{
  double by_level[4];

  for (guint i = 0; i < self->kind.n_levels; i++)
    by_level[i] = read_line (self->kind.n_loads, self->others, self->slowdown + i * self->kind.n_loads,
                             others);
  return load_from (self, by_level, nodes);
}

static void
tables_are_straight_lines (G_GNUC_UNUSED void **state)
{
  for (guint round = 0; round < 400; round++) {
    Random random = { 100000 + 1000 * round };
    Table table;

    fill_table (&table, 1 + round % 4, 1 + round / 4 % 4, &random);
    for (guint i = 0; i < 40; i++) {
      double nodes = i < 4 ? table.levels[i % table.kind.n_levels] : random_unit (&random) * 70 + 0.01;
      double others = i % 5 == 0 ? table.others[i % table.kind.n_loads] : random_unit (&random) * 1.2;

      assert_near (fab_mix_slowdown (&table.kind, nodes, others), slowdown_from (&table, nodes, others),
                   1e-9);
      assert_near (fab_mix_load (&table.kind, table.loads, nodes), load_from (&table, table.loads, nodes),
                   1e-9);
      assert_near (fab_mix_load (&table.kind, table.duty, nodes), load_from (&table, table.duty, nodes),
                   1e-9);
    }
  }
}

/* --- speeds --- */

/* Jobs that lie evenly over all groups, so that each group has the same load. */
typedef struct {
  guint n;
  double nodes[8], load[8], duty[8], alone[8], slowdown[8];
  const Table *tables[8];
} Even;

/* By the equations, with small steps from the speeds alone. */
static void
solve_evenly (Even *self, gboolean is_crowded)
{
  double claims = 0;

  for (guint i = 0; i < self->n; i++)
    claims += self->load[i];
  for (guint step = 0; step < 2000; step++) {
    double next[8];

    for (guint i = 0; i < self->n; i++) {
      double by_others = 0, sends = 0;

      for (guint k = 0; k < self->n; k++)
        if (k != i) {
          by_others += self->load[k] * self->alone[k] / self->slowdown[k];
          sends += self->duty[k] * self->load[k];
        }
      by_others = is_crowded ? sends / (sends + self->load[i]) : MIN (by_others, 1 - self->load[i] / claims);
      next[i] = 0.9 * self->slowdown[i] + 0.1 * slowdown_from (self->tables[i], self->nodes[i], by_others);
    }
    memcpy (self->slowdown, next, sizeof next);
  }
}

/* Until the first of them ends, the speeds of jobs that begin together are those of the equations. */
static void
speeds_solve_the_equations (G_GNUC_UNUSED void **state)
{
  for (guint round = 0; round < 300; round++) {
    enum { GROUPS = 3 };
    Random random = { 900000 + 1000 * round };
    const FabMixRules rules = { .placement = FAB_MIX_SPREAD, .is_crowded = round % 2 == 1 };
    guint groups[GROUPS] = { 64, 64, 64 }, first = 0;
    Table tables[8];
    FabMixKind kinds[8];
    FabMixJob jobs[8];
    Even even = { .n = random_between (&random, 1, 8) };

    for (guint i = 0; i < even.n; i++) {
      even.nodes[i] = random_between (&random, 1, 8);
      fill_table (&tables[i], random_between (&random, 1, 4), random_between (&random, 1, 4), &random);
      for (guint k = 0; k < 4; k++)
        tables[i].levels[k] /= 8;
      kinds[i] = tables[i].kind;
      even.tables[i] = &tables[i];
      even.load[i] = load_from (&tables[i], tables[i].loads, even.nodes[i]);
      even.duty[i] = load_from (&tables[i], tables[i].duty, even.nodes[i]);
      even.alone[i] = even.slowdown[i] = slowdown_from (&tables[i], even.nodes[i], 0);
      jobs[i] = (FabMixJob){ .work_s = 10, .kind = i, .n_nodes = GROUPS * (guint) even.nodes[i] };
    }
    solve_evenly (&even, rules.is_crowded);
    for (guint i = 1; i < even.n; i++)
      first = even.slowdown[i] < even.slowdown[first] ? i : first;
    g_autoptr (FabMixPlay) play = fab_mix_play (&(FabMixMachine){ GROUPS, groups }, kinds, jobs, even.n,
                                                &rules, NULL);
    const FabMixOutcome *outcome = &play->outcomes[first];

    assert_near (outcome->end_s, 10 * even.slowdown[first], 1e-3);
    assert_near (outcome->places_lost_s, 10 * (even.alone[first] - 1), 1e-3);
    assert_true (fabs (outcome->sharing_lost_s - 10 * (even.slowdown[first] - even.alone[first])) < 0.05);
    assert_int_equal (outcome->n_groups, GROUPS);
  }
}

/* Equal jobs end together: all the while each group carries their loads, as far as it can. */
static void
groups_carry_what_their_jobs_send (G_GNUC_UNUSED void **state)
{
  static const double loads[] = { 0.1, 0.25, 0.4, 1 };

  for (guint l = 0; l < G_N_ELEMENTS (loads); l++)
    for (guint n = 1; n <= 6; n++)
      for (guint is_ideal = 0; is_ideal < 2; is_ideal++) {
        const double levels[] = { 1 }, others[] = { 0, 1 }, slowdown[] = { 2, 4 };
        const FabMixKind kind = { 1, 2, levels, &loads[l], one, others, slowdown, NULL };
        const FabMixRules rules = { .placement = FAB_MIX_SPREAD, .is_ideal = is_ideal == 1 };
        guint groups[] = { 8, 8 };
        FabMixJob jobs[6];
        double by_others = 0, now = 2;

        for (guint i = 0; i < n; i++)
          jobs[i] = (FabMixJob){ .submit_s = 3, .work_s = 10, .n_nodes = 2 };
        for (guint step = 0; step < 200; step++) {
          by_others = MIN ((n - 1) * loads[l] * 2 / now, 1 - 1.0 / n);
          now = (now + 2 + 2 * by_others) / 2;
        }
        g_autoptr (FabMixPlay) play = fab_mix_play (&(FabMixMachine){ 2, groups }, &kind, jobs, n, &rules,
                                                    NULL);
        for (guint i = 0; i < n; i++)
          assert_near (play->outcomes[i].end_s, 3 + 10 * (is_ideal ? 1 : now), 1e-3);
        for (guint g = 0; g < 2; g++)
          assert_near (play->group_load[g], MIN (n * loads[l] * (is_ideal ? 1 : 2 / now), 1), 1e-3);
      }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (queues_are_as_defined),
    cmocka_unit_test (jobs_that_start_at_once_do_not_wait),
    cmocka_unit_test (nodes_are_given_back_before_jobs_arrive),
    cmocka_unit_test (tables_are_straight_lines),
    cmocka_unit_test (speeds_solve_the_equations),
    cmocka_unit_test (groups_carry_what_their_jobs_send),
  };

  return cmocka_run_group_tests_name ("job_queue", tests, NULL, NULL);
}
