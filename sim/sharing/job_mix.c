/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sharing/job_mix.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/mix.h"
#include "sim/sharing/broken_nodes.h"
#include "sim/sharing/job_life.h"
#include "sim/sharing/job_places.h"

const char *const fab_mix_order_names[] = {
  [FAB_MIX_FIFO] = "fifo", [FAB_MIX_PRIORITY] = "priority", [FAB_MIX_SHORTEST] = "shortest", NULL
};

/* Repetitions for the speeds, each half of the way to the new value, until none changes by more. */
enum { MOST_REPETITIONS = 60 };
static const double close_enough = 1e-5;

typedef struct {
  guint job;
  const FabMixKind *kind;
  GArray *parts;          /* FabMixPart */
  double nodes_per_group; /* m */
  double alone;           /* slowdown without others */
  double duty;
  double slowdown;  /* now */
  double started_s; /* when it was given its nodes */
  double down_s;    /* it stands still for so long from now on */
  double fail_s;    /* when it fails, or is stopped as planned; infinite: never */
} Running;

typedef struct {
  const FabMixMachine *machine;
  const FabMixJob *jobs;
  const FabMixRules *rules;
  FabMixPlay *play;
  const FabMixKind *kinds;
  double now_s;
  guint *free_nodes; /* by group */
  guint n_free;
  GArray *running;   /* Running */
  GArray *waiting;   /* guint: jobs in the order of the queue */
  FabJobLife *lives; /* by job */
  FabBrokenNodes *broken;
  double *load;          /* by group: of all, now */
  double *senders;       /* by group: the same times the share of the time in which they communicate */
  double *claims;        /* by group: loads of all when nothing but their places slow them */
  guint64 draw, n_draws; /* of places; of failures */
} Mix;

/* --- tables --- */

/* Where m is between the levels: the level before it, and the share of the way to the next. */
static guint
find_level (const FabMixKind *kind, double m, double *share)
{
  guint level = 0;

  *share = 0;
  while (level + 1 < kind->n_levels && kind->nodes_per_group[level + 1] >= m)
    level++;
  if (level + 1 < kind->n_levels && m < kind->nodes_per_group[level])
    *share = log (kind->nodes_per_group[level] / m)
           / log (kind->nodes_per_group[level] / kind->nodes_per_group[level + 1]);
  return level;
}

static double
slowdown_at (const FabMixKind *kind, guint level, double others)
{
  const double *row = kind->slowdown + level * kind->n_loads;
  guint i = 0;

  while (i + 1 < kind->n_loads && kind->others[i + 1] <= others)
    i++;
  if (i + 1 == kind->n_loads)
    return row[i];
  double share = (others - kind->others[i]) / (kind->others[i + 1] - kind->others[i]);
  return row[i] + share * (row[i + 1] - row[i]);
}

double
fab_mix_slowdown (const FabMixKind *kind, double nodes_per_group, double others)
{
  double share;
  guint level = find_level (kind, nodes_per_group, &share);
  double here = slowdown_at (kind, level, others);

  return share > 0 ? here + share * (slowdown_at (kind, level + 1, others) - here) : here;
}

double
fab_mix_load (const FabMixKind *kind, const double *loads, double nodes_per_group)
{
  double share;
  guint level = find_level (kind, nodes_per_group, &share);

  return share > 0 ? loads[level] + share * (loads[level + 1] - loads[level]) : loads[level];
}

/* --- speeds --- */

static Running *
running_at (const Mix *self, guint index)
{
  return &g_array_index (self->running, Running, index);
}

static double
load_of (const Running *job, const FabMixPart *part)
{
  return part->load * (job->alone / job->slowdown);
}

static gboolean
leaves_its_group (const Running *job)
{
  return job->parts->len > 1;
}

static gboolean
is_sending (const Running *job)
{
  return leaves_its_group (job) && job->down_s <= 0;
}

static void
sum_loads (Mix *self)
{
  for (guint g = 0; g < self->machine->n_groups; g++)
    self->load[g] = self->senders[g] = self->claims[g] = 0;
  for (guint i = 0; i < self->running->len; i++) {
    const Running *job = running_at (self, i);

    for (guint p = 0; is_sending (job) && p < job->parts->len; p++) {
      const FabMixPart *part = &g_array_index (job->parts, FabMixPart, p);

      self->load[part->group] += load_of (job, part);
      self->senders[part->group] += job->duty * part->load;
      self->claims[part->group] += part->load;
    }
  }
}

/* The share that others take of the job's uplinks, where they take most. */
static double
load_by_others (const Mix *self, const Running *job)
{
  double most = 0;

  for (guint p = 0; p < job->parts->len; p++) {
    const FabMixPart *part = &g_array_index (job->parts, FabMixPart, p);
    if (part->load <= 0)
      continue;
    double senders = MAX (self->senders[part->group] - job->duty * part->load, 0);
    double others = self->load[part->group] - load_of (job, part);
    double fair = 1 - part->load / self->claims[part->group];

    most = MAX (most, self->rules->is_crowded ? senders / (senders + part->load) : MIN (others, fair));
  }
  return most;
}

/* Speeds of all, from those of before; and the loads that they make. */
static void
solve (Mix *self)
{
  double change = 1;

  sum_loads (self);
  if (self->rules->is_ideal)
    return;
  for (guint n = 0; n < MOST_REPETITIONS && change > close_enough; n++) {
    g_autofree double *next = g_new (double, self->running->len + 1);

    change = 0;
    for (guint i = 0; i < self->running->len; i++) {
      const Running *job = running_at (self, i);

      next[i] = job->slowdown;
      if (!is_sending (job))
        continue;
      double wanted = fab_mix_slowdown (job->kind, job->nodes_per_group, load_by_others (self, job));
      next[i] = (job->slowdown + wanted) / 2;
      change = MAX (change, fabs (next[i] / job->slowdown - 1));
    }
    for (guint i = 0; i < self->running->len; i++)
      running_at (self, i)->slowdown = next[i];
    sum_loads (self);
  }
}

/* --- time --- */

static void
advance (Mix *self, double to_s)
{
  double elapsed_s = to_s - self->now_s;

  for (guint i = 0; i < self->running->len; i++) {
    Running *job = running_at (self, i);
    FabMixOutcome *outcome = &self->play->outcomes[job->job];

    outcome->busy_s += elapsed_s;
    if (job->down_s > 0) {
      outcome->down_s += elapsed_s;
      job->down_s = MAX (job->down_s - elapsed_s, 0);
    } else {
      fab_job_life_run (&self->lives[job->job], elapsed_s, job->alone, job->slowdown, outcome);
    }
  }
  for (guint g = 0; g < self->machine->n_groups; g++)
    self->play->group_load[g] += elapsed_s * MIN (self->load[g], 1);
  self->play->away_s += elapsed_s * fab_broken_nodes_missing (self->broken);
  self->now_s = to_s;
}

static double
end_of (const Mix *self, const Running *job)
{
  return self->now_s + job->down_s + fab_job_life_left (&self->lives[job->job]) * job->slowdown;
}

/* When the job ends, fails, or computes again. */
static double
next_of (const Mix *self, const Running *job)
{
  return MIN (job->down_s > 0 ? self->now_s + job->down_s : end_of (self, job), job->fail_s);
}

/* The running job to which something happens first; NULL: none runs. */
static Running *
find_next (const Mix *self, double *when_s)
{
  Running *first = NULL;

  *when_s = INFINITY;
  for (guint i = 0; i < self->running->len; i++) {
    double next_s = next_of (self, running_at (self, i));

    if (first == NULL || next_s < *when_s) {
      first = running_at (self, i);
      *when_s = next_s;
    }
  }
  return first;
}

static void
running_clear (gpointer data)
{
  g_array_unref (((Running *) data)->parts);
}

/* Gives the nodes of a job back. */
static void
leave (Mix *self, const Running *job)
{
  for (guint p = 0; p < job->parts->len; p++) {
    const FabMixPart *part = &g_array_index (job->parts, FabMixPart, p);

    self->free_nodes[part->group] += part->n;
    self->n_free += part->n;
  }
  g_array_remove_index_fast (self->running, (guint) (job - running_at (self, 0)));
}

static void
end (Mix *self, const Running *job)
{
  fab_job_life_save (&self->lives[job->job], &self->play->outcomes[job->job]);
  self->play->outcomes[job->job].end_s = self->now_s;
  self->play->last_s = self->now_s;
  leave (self, job);
}

/* --- queue --- */

static double
draw (Mix *self)
{
  const guint64 of_failures = 0xfa11;

  return ((double) (fab_mix (self->rules->seed ^ of_failures, self->n_draws++) >> 11) + 0.5)
       / 9007199254740992.0;
}

/* The time of the next failure or planned stop, which come at random. */
static double
draw_failure (Mix *self, const FabMixFailures *failures)
{
  double per_s = failures->stops_per_s + failures->planned_per_s;

  return self->rules->has_failures && per_s > 0 ? self->now_s - log (draw (self)) / per_s : INFINITY;
}

static void
start (Mix *self, guint which)
{
  const FabMixJob *job = &self->jobs[which];
  FabJobLife *life = &self->lives[which];
  Running running = { .job = which,
                      .kind = &self->kinds[job->kind],
                      .parts = g_array_new (FALSE, FALSE, sizeof (FabMixPart)),
                      .started_s = self->now_s,
                      .down_s = life->down_s,
                      .fail_s = draw_failure (self, life->failures) };

  fab_mix_place (self->rules->placement, self->machine->n_groups, self->free_nodes, job->n_nodes,
                 self->rules->seed, &self->draw, running.parts);
  self->n_free -= job->n_nodes;
  running.nodes_per_group = (double) job->n_nodes / running.parts->len;
  for (guint p = 0; p < running.parts->len; p++) {
    FabMixPart *part = &g_array_index (running.parts, FabMixPart, p);

    part->load = fab_mix_load (running.kind, running.kind->own_load, part->n);
  }
  running.duty = fab_mix_load (running.kind, running.kind->duty, running.nodes_per_group);
  running.alone = running.parts->len > 1 ? fab_mix_slowdown (running.kind, running.nodes_per_group, 0)
                                         : running.kind->slowdown[0];
  if (self->rules->is_ideal)
    running.alone = 1;
  running.slowdown = running.alone;
  life->down_s = 0;
  if (!life->has_started)
    self->play->outcomes[which].start_s = self->now_s;
  life->has_started = TRUE;
  self->play->outcomes[which].n_groups = running.parts->len;
  g_array_append_val (self->running, running);
}

static gboolean
is_earlier (const Mix *self, guint a, guint b)
{
  const FabMixJob *left = &self->jobs[a], *right = &self->jobs[b];
  gboolean by_priority = self->rules->order == FAB_MIX_PRIORITY;
  gboolean by_work = self->rules->order == FAB_MIX_SHORTEST;

  if ((by_priority && left->priority > right->priority) || (by_work && left->work_s < right->work_s))
    return TRUE;
  if ((by_priority && left->priority < right->priority) || (by_work && left->work_s > right->work_s))
    return FALSE;
  return a < b;
}

static void
enqueue (Mix *self, guint which)
{
  guint place = self->waiting->len;

  while (place > 0 && is_earlier (self, which, g_array_index (self->waiting, guint, place - 1)))
    place--;
  g_array_insert_val (self->waiting, place, which);
}

/* When a job gives its nodes back. */
typedef struct {
  double when_s;
  guint n_nodes;
} Ending;

static gint
compare_endings (gconstpointer a, gconstpointer b)
{
  const Ending *left = a, *right = b;

  return left->when_s < right->when_s ? -1 : left->when_s > right->when_s;
}

/* When the first of the queue can start as things are, and how many nodes it leaves free then. While nodes are away
 * that may be never: then a job that starts before it delays nothing. */
static double
find_reservation (const Mix *self, guint *n_extra)
{
  guint wanted = self->jobs[g_array_index (self->waiting, guint, 0)].n_nodes, n_free = self->n_free;
  g_autofree Ending *endings = g_new (Ending, self->running->len + 1);
  double when_s = self->now_s;

  for (guint i = 0; i < self->running->len; i++) {
    const Running *job = running_at (self, i);

    endings[i] = (Ending){ end_of (self, job), self->jobs[job->job].n_nodes };
  }
  qsort (endings, self->running->len, sizeof *endings, compare_endings);
  for (guint i = 0; n_free < wanted && i < self->running->len; i++) {
    when_s = endings[i].when_s;
    n_free += endings[i].n_nodes;
  }
  *n_extra = n_free >= wanted ? n_free - wanted : 0;
  return n_free >= wanted ? when_s : INFINITY;
}

static void
backfill (Mix *self)
{
  guint n_extra;
  double reserved_s = find_reservation (self, &n_extra);

  for (guint i = 1; i < self->waiting->len;) {
    guint which = g_array_index (self->waiting, guint, i);
    const FabMixJob *job = &self->jobs[which];
    double length_s = self->lives[which].down_s + fab_job_life_left (&self->lives[which]);
    gboolean is_back = self->now_s + length_s <= reserved_s;

    if (job->n_nodes > self->n_free || (!is_back && job->n_nodes > n_extra)) {
      i++;
      continue;
    }
    if (!is_back)
      n_extra -= job->n_nodes;
    g_array_remove_index (self->waiting, i);
    start (self, which);
  }
}

/* --- jobs that give way --- */

/* The running job that gives way first to one of this priority; NULL: none does. */
static Running *
find_lowest (const Mix *self, gint64 priority)
{
  Running *lowest = NULL;

  for (guint i = 0; i < self->running->len; i++) {
    Running *job = running_at (self, i);
    gint64 own = self->jobs[job->job].priority;
    gint64 least = lowest != NULL ? self->jobs[lowest->job].priority : priority;

    if (own < least || (lowest != NULL && own == least && job->started_s > lowest->started_s))
      lowest = job;
  }
  return lowest;
}

static void
stop_for_another (Mix *self, Running *job)
{
  guint which = job->job;

  fab_job_life_undo (&self->lives[which], &self->play->outcomes[which]);
  self->lives[which].down_s = self->lives[which].failures->restart_s;
  self->play->outcomes[which].n_preempted++;
  self->play->n_preempted++;
  leave (self, job);
  enqueue (self, which);
}

/* Stops jobs of lower priority until `which` fits; FALSE, and nothing has changed, where that is not enough. */
static gboolean
make_room (Mix *self, guint which)
{
  const FabMixJob *wanted = &self->jobs[which];
  guint n = self->n_free;

  for (guint i = 0; i < self->running->len; i++) {
    const FabMixJob *job = &self->jobs[running_at (self, i)->job];

    n += job->priority < wanted->priority ? job->n_nodes : 0;
  }
  if (!self->rules->has_preemption || n < wanted->n_nodes)
    return FALSE;
  while (self->n_free < wanted->n_nodes)
    stop_for_another (self, find_lowest (self, wanted->priority));
  return TRUE;
}

static void
start_what_fits (Mix *self)
{
  while (self->waiting->len > 0) {
    guint first = g_array_index (self->waiting, guint, 0);

    if (self->jobs[first].n_nodes > self->n_free && !make_room (self, first))
      break;
    g_array_remove_index (self->waiting, 0);
    start (self, first);
  }
  if (self->rules->has_backfill && self->waiting->len > 1 && self->n_free != 0)
    backfill (self);
}

/* --- failures --- */

/* A node of the job breaks. Where no spare takes its place, the job waits for others. */
static void
break_node (Mix *self, Running *job)
{
  guint which = job->job, group = g_array_index (job->parts, FabMixPart, 0).group;

  if (fab_broken_nodes_add (self->broken, group, self->now_s + self->lives[which].failures->repair_s))
    return;
  self->lives[which].down_s = job->down_s;
  leave (self, job);
  self->free_nodes[group]--;
  self->n_free--;
  enqueue (self, which);
}

static void
fail (Mix *self, Running *job)
{
  FabJobLife *life = &self->lives[job->job];
  const FabMixFailures *failures = life->failures;
  FabMixOutcome *outcome = &self->play->outcomes[job->job];
  double which = draw (self) * (failures->stops_per_s + failures->planned_per_s);

  job->fail_s = draw_failure (self, failures);
  if (which >= failures->stops_per_s) { /* nobody plans to stop a job that does not run */
    if (job->down_s <= 0) {
      fab_job_life_save (life, outcome);
      job->down_s = failures->planned_s;
    }
    return;
  }
  fab_job_life_undo (life, outcome);
  outcome->n_failures++;
  self->play->n_failures++;
  job->down_s = failures->detection_s + failures->restart_s;
  if (which < failures->breaks_per_s && failures->repair_s > 0)
    break_node (self, job);
}

static void
repair (Mix *self)
{
  guint group = fab_broken_nodes_return (self->broken);

  if (group == G_MAXUINT)
    return;
  self->free_nodes[group]++;
  self->n_free++;
}

/* --- all --- */

static void
mix_init (Mix *self, guint n_jobs)
{
  guint n_groups = self->machine->n_groups;

  self->lives = g_new (FabJobLife, n_jobs + 1);
  for (guint i = 0; i < n_jobs; i++)
    self->lives[i] = fab_job_life (self->kinds[self->jobs[i].kind].failures, self->jobs[i].work_s);
  self->broken = fab_broken_nodes_new (self->rules->n_spares);

  self->free_nodes = g_memdup2 (self->machine->group_nodes, n_groups * sizeof *self->free_nodes);
  for (guint g = 0; g < n_groups; g++)
    self->n_free += self->free_nodes[g];
  self->running = g_array_new (FALSE, FALSE, sizeof (Running));
  g_array_set_clear_func (self->running, running_clear);
  self->waiting = g_array_new (FALSE, FALSE, sizeof (guint));
  self->load = g_new0 (double, n_groups);
  self->senders = g_new0 (double, n_groups);
  self->claims = g_new0 (double, n_groups);
  self->play = g_new0 (FabMixPlay, 1);
  self->play->outcomes = g_new0 (FabMixOutcome, n_jobs + 1);
  self->play->group_load = g_new0 (double, n_groups);
  self->play->n_nodes = self->n_free;
  self->play->first_s = self->play->last_s = self->now_s = n_jobs > 0 ? self->jobs[0].submit_s : 0;
}

static void
mix_clear (Mix *self)
{
  g_free (self->free_nodes);
  g_free (self->lives);
  fab_broken_nodes_free (self->broken);
  g_array_unref (self->running);
  g_array_unref (self->waiting);
  g_free (self->load);
  g_free (self->senders);
  g_free (self->claims);
}

/* The next of all that can happen; FALSE when every job has ended. */
static gboolean
happen (Mix *self, guint n_jobs, guint *n_arrived)
{
  double next_s, arrival_s = *n_arrived < n_jobs ? self->jobs[*n_arrived].submit_s : INFINITY;
  double repair_s = fab_broken_nodes_next (self->broken);
  Running *job = find_next (self, &next_s);

  if (job == NULL && isinf (arrival_s) && self->waiting->len == 0)
    return FALSE;
  if (next_s <= arrival_s && next_s <= repair_s) {
    gboolean is_end = job->down_s <= 0 && job->fail_s > next_s;

    advance (self, next_s);
    if (is_end)
      end (self, job);
    else if (job->fail_s <= next_s)
      fail (self, job);
    else
      job->down_s = 0; /* it computes again */
  } else if (repair_s < arrival_s) {
    advance (self, repair_s);
    repair (self);
  } else {
    advance (self, arrival_s);
    while (*n_arrived < n_jobs && self->jobs[*n_arrived].submit_s <= self->now_s)
      enqueue (self, (*n_arrived)++);
  }
  self->play->n_events++;
  return TRUE;
}

FabMixPlay *
fab_mix_play (const FabMixMachine *machine, const FabMixKind *kinds, const FabMixJob *jobs, guint n_jobs,
              const FabMixRules *rules, const gint *cancel)
{
  Mix self = { .machine = machine, .kinds = kinds, .jobs = jobs, .rules = rules };
  gboolean is_cancelled = FALSE;
  guint n_arrived = 0;

  mix_init (&self, n_jobs);
  while (!is_cancelled && happen (&self, n_jobs, &n_arrived)) {
    start_what_fits (&self);
    self.play->longest_queue = MAX (self.play->longest_queue, self.waiting->len);
    solve (&self);
    is_cancelled = cancel != NULL && g_atomic_int_get (cancel) != 0;
  }
  mix_clear (&self);
  if (is_cancelled) {
    fab_mix_play_free (self.play);
    return NULL;
  }
  for (guint g = 0; g < machine->n_groups && self.play->last_s > self.play->first_s; g++)
    self.play->group_load[g] /= self.play->last_s - self.play->first_s;
  return self.play;
}

void
fab_mix_play_free (FabMixPlay *self)
{
  if (self == NULL)
    return;
  g_free (self->outcomes);
  g_free (self->group_load);
  g_free (self);
}
