/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/execution/executor.h"

#include <math.h>
#include <string.h>

#include "sim/collective/collective.h"
#include "sim/execution/account.h"
#include "sim/execution/direct.h"
#include "sim/execution/kernels.h"
#include "sim/execution/least_time.h"

/* One active iteration. Arrays are per task unless stated otherwise. */
typedef struct {
  guint iteration;
  gboolean is_live;
  guint n_left;
  guint *n_waiting;
  guint8 *is_done;
  FabTimePs *begin_ps;          /* when it began, or arrived at its collective */
  FabTaskId *released_by;       /* releasing task of this iteration, or FAB_NO_TASK */
  FabTaskId *arrived_before;    /* linked list of the tasks that have arrived at the same collective */
  guint *n_arrived;             /* per collective */
  FabTaskId *arrived;           /* per collective: head of that list */
  FabCollectiveRecord *records; /* per collective */
} FabSlot;

static void
slot_init (FabSlot *slot, const FabDag *dag)
{
  slot->n_waiting = g_new0 (guint, dag->n_tasks);
  slot->is_done = g_new0 (guint8, dag->n_tasks);
  slot->begin_ps = g_new0 (FabTimePs, dag->n_tasks);
  slot->released_by = g_new0 (FabTaskId, dag->n_tasks);
  slot->arrived_before = g_new0 (FabTaskId, dag->n_tasks);
  slot->n_arrived = g_new0 (guint, dag->n_collectives + 1);
  slot->arrived = g_new0 (FabTaskId, dag->n_collectives + 1);
  slot->records = g_new0 (FabCollectiveRecord, dag->n_collectives + 1);
}

static void
slot_clear (FabSlot *slot)
{
  g_free (slot->n_waiting);
  g_free (slot->is_done);
  g_free (slot->begin_ps);
  g_free (slot->released_by);
  g_free (slot->arrived_before);
  g_free (slot->n_arrived);
  g_free (slot->arrived);
  g_free (slot->records);
}

typedef struct {
  guint n_active; /* collectives that move bytes */
  guint n_hung;   /* those of them that cross a dead link */
} FabStanding;

/* Adds the collectives of a slot; `hang` is set to the last one that crosses a dead link. */
static void
slot_count_hung (const FabSlot *slot, const FabDag *dag, const FabNet *net, FabStanding *standing,
                 FabHang *hang)
{
  for (guint c = 0; slot->is_live && c < dag->n_collectives; c++) {
    const FabDagCollective *collective = &dag->collectives[c];
    const FabDeadLink *link;

    if (collective->plan.footprint == NULL || slot->n_arrived[c] != collective->n_joins
        || slot->records[c].end_ps != 0)
      continue;
    standing->n_active++;
    link = fab_net_find_dead (net, collective->plan.footprint);
    if (link == NULL)
      continue;
    *hang = (FabHang){ slot->records[c], *link };
    standing->n_hung++;
  }
}

struct _FabExecutor {
  FabExecutorEnv env;
  FabSlot slots[2];
  FabAccount *account;
  FabKernels *kernels;
  FabPlayWatch *own_watch; /* NULL: the caller's */
  FabWatchedJob *job;      /* of the watch */
  FabProbe probe;
  FabPulse *pulse; /* NULL: nobody looks */
  guint n_ended;
  guint n_busy;       /* tasks and collectives that have begun and not ended */
  gboolean has_ended; /* the current iteration has ended */
  gboolean is_brief;  /* the probe has the last iteration alone, without spans */
};

static void task_begin (FabExecutor *self, FabSlot *slot, FabTaskId task);

FabExecutor *
fab_executor_new (const FabExecutorEnv *env)
{
  FabExecutor *self = g_new0 (FabExecutor, 1);

  self->env = *env;
  if (env->watch == NULL)
    self->env.watch = self->own_watch = fab_direct_watch_new (env->net);
  slot_init (&self->slots[0], env->dag);
  slot_init (&self->slots[1], env->dag);
  self->account = fab_account_new (&self->env);
  self->kernels = fab_kernels_new (env->engine, env->dag, env->n_sms);
  self->job = self->env.watch->ops->job_new (self->env.watch,
                                             &(FabWatchedJobEnv){ .net = env->net,
                                                                  .dag = env->dag,
                                                                  .has_next = env->n_iterations > 1,
                                                                  .is_alone = env->is_alone,
                                                                  .apart = env->apart,
                                                                  .n_apart = env->n_apart });
  fab_probe_init (&self->probe);
  return self;
}

void
fab_executor_free (FabExecutor *self)
{
  if (self == NULL)
    return;
  const FabPlayWatchOps *ops = self->env.watch->ops;
  slot_clear (&self->slots[0]);
  slot_clear (&self->slots[1]);
  fab_direct_watch_free (self->own_watch);
  ops->job_free (self->job);
  fab_account_free (self->account);
  fab_kernels_free (self->kernels);
  fab_probe_clear (&self->probe);
  g_free (self);
}

void
fab_executor_set_brief (FabExecutor *self)
{
  self->is_brief = TRUE;
  fab_account_set_brief (self->account);
}

void
fab_executor_set_pulse (FabExecutor *self, FabPulse *pulse)
{
  self->pulse = pulse;
}

const FabProbe *
fab_executor_probe (const FabExecutor *self)
{
  return &self->probe;
}

/* The argument of an event identifies a task or a collective of a slot. */
static guint64
pack (const FabExecutor *self, const FabSlot *slot, guint32 index)
{
  return (guint64) (slot - self->slots) << 32 | index;
}

static FabSlot *
unpack (FabExecutor *self, guint64 arg, guint32 *index)
{
  *index = (guint32) arg;
  return &self->slots[arg >> 32];
}

/* --- end of an iteration --- */

/* Whether the iteration goes into the probe. */
static gboolean
is_recorded (const FabExecutor *self, guint iteration)
{
  return !self->is_brief || iteration + 1 >= self->env.n_iterations;
}

/* Fills the probe, and looks for the critical path. */
static void
record_iteration (FabExecutor *self, const FabSlot *slot, FabTaskId last)
{
  FabTrail trail = { self->env.dag,     slot->iteration, slot->begin_ps,
                     slot->released_by, slot->arrived,   slot->records };
  FabTimePs start_ps = fab_account_start_ps (self->account);

  for (guint c = 0; c < self->env.dag->n_collectives; c++)
    g_array_append_val (self->probe.collectives, slot->records[c]);
  fab_account_close (self->account, slot->iteration, &self->probe);
  trail.records = (const FabCollectiveRecord *) (gconstpointer) self->probe.collectives->data;
  if (!fab_critical_path (&trail, last, start_ps, fab_engine_now (self->env.engine), self->probe.path))
    fab_engine_fail (self->env.engine, "iteration %u: its critical path has a gap at its start",
                     slot->iteration);
}

static void
iteration_end (FabExecutor *self, FabSlot *slot, FabTaskId last)
{
  if (is_recorded (self, slot->iteration))
    record_iteration (self, slot, last);
  else
    fab_account_pass (self->account, slot->iteration, &self->probe);
  slot->is_live = FALSE;
  self->has_ended = TRUE;
  self->n_ended++;
  if (self->env.ended.fn != NULL)
    self->env.ended.fn (self->env.ended.owner, self->env.ended.arg);
  else
    fab_engine_stop (self->env.engine);
}

/* --- tasks --- */

/* Task `task` has one task less to wait for: `by` of the same iteration, or FAB_NO_TASK for one of the previous
 * iteration. */
static void
release (FabExecutor *self, FabSlot *slot, FabTaskId task, FabTaskId by)
{
  g_assert (slot->n_waiting[task] > 0);
  if (--slot->n_waiting[task] > 0)
    return;
  slot->released_by[task] = by;
  task_begin (self, slot, task);
}

static void
record_span (FabExecutor *self, const FabSlot *slot, FabTaskId task, FabSpanKind kind, FabInterval when)
{
  const FabTask *t = &self->env.dag->tasks[task];
  const FabDagStream *stream = &self->env.dag->streams[t->stream];

  if (self->is_brief || kind == FAB_SPAN_ARRIVAL)
    return;
  FabSpanRecord span = {
    .iteration = slot->iteration,
    .rank_class = stream->rank_class,
    .kind = kind,
    .stream = stream->name,
    .name = t->name,
    .start_ps = when.start_ps,
    .end_ps = when.end_ps,
    .collective = t->collective,
  };

  g_array_append_val (self->probe.spans, span);
}

static void
task_done (FabExecutor *self, FabSlot *slot, FabTaskId task)
{
  const FabDag *dag = self->env.dag;
  FabSlot *next = &self->slots[slot == self->slots];
  gboolean has_next = next->is_live && next->iteration == slot->iteration + 1;

  slot->is_done[task] = TRUE;
  slot->n_left--;
  if (slot->iteration == self->n_ended)
    fab_pulse_count_tasks (self->pulse, slot->n_left == 0 ? 0 : dag->n_tasks - slot->n_left, dag->n_tasks);
  for (guint i = dag->next_starts[task]; i < dag->next_starts[task + 1]; i++)
    release (self, slot, dag->next[i], task);
  for (guint i = dag->carried_starts[task]; has_next && i < dag->carried_starts[task + 1]; i++)
    release (self, next, dag->carried[i], FAB_NO_TASK);
  if (slot->n_left == 0)
    iteration_end (self, slot, task);
}

static void
work_done (gpointer owner, guint64 arg)
{
  FabExecutor *self = owner;
  guint32 task;
  FabSlot *slot = unpack (self, arg, &task);
  FabTimePs now_ps = fab_engine_now (self->env.engine);

  self->n_busy--;
  fab_account_end (self->account, self->env.dag->tasks[task].stream, now_ps);
  record_span (self, slot, task, self->env.dag->tasks[task].kind,
               (FabInterval){ slot->begin_ps[task], now_ps });
  task_done (self, slot, task);
}

/* --- collectives --- */

/* With messages, the next message may leave before the one before it has arrived. Where the network chooses the paths,
 * the footprint's are not those that bytes took, and there is no bound: 0. */
static FabTimePs
bound_of (const FabExecutor *self, const FabDagCollective *collective)
{
  if (collective->plan.footprint == NULL || self->env.net->env.router->ops->balance != NULL)
    return 0;
  FabStream stream = fab_collective_plan_stream (&collective->plan);
  gboolean has_messages = fab_play_has_messages (self->env.net, &collective->plan);
  return fab_stream_bound_ps (&stream) - (has_messages ? stream.latency_ps : 0);
}

static void
check_bound (const FabExecutor *self, const FabDagCollective *collective, const FabCollectiveRecord *record)
{
  FabTimePs bound_ps = bound_of (self, collective);

  if (record->end_ps - record->start_ps < bound_ps)
    fab_engine_fail (self->env.engine,
                     "%s: collective %u (%s %s) of iteration %u took %" G_GINT64_FORMAT
                     " ps, its bound is %" G_GINT64_FORMAT " ps (link %u)",
                     self->env.net->ops->info.name, record->index, record->op, record->name,
                     record->iteration, record->end_ps - record->start_ps, bound_ps, record->binding_link);
}

static void
collective_done (gpointer owner, guint64 arg)
{
  FabExecutor *self = owner;
  guint32 index;
  FabSlot *slot = unpack (self, arg, &index);
  const FabDagCollective *collective = &self->env.dag->collectives[index];
  FabCollectiveRecord *record = &slot->records[index];
  FabTimePs now_ps = fab_engine_now (self->env.engine);
  FabTaskId task = slot->arrived[index];

  self->n_busy--;
  record->end_ps = now_ps;
  if (collective->plan.footprint != NULL)
    fab_kernels_let_go (self->kernels, index);
  if (now_ps > record->start_ps)
    record->algbw_bytes_per_s = (double) record->bytes / fab_ps_to_seconds (now_ps - record->start_ps);
  record->busbw_bytes_per_s = record->algbw_bytes_per_s
                            * fab_op_bus_factor (collective->plan.op, collective->plan.n_ranks);
  check_bound (self, collective, record);
  while (task != FAB_NO_TASK) {
    FabTaskId before = slot->arrived_before[task];

    fab_account_end (self->account, self->env.dag->tasks[task].stream, now_ps);
    record_span (self, slot, task, FAB_SPAN_COMM, (FabInterval){ record->start_ps, now_ps });
    task_done (self, slot, task);
    task = before;
  }
}

static FabCollectiveRecord
new_record (const FabExecutor *self, guint iteration, guint index)
{
  const FabDagCollective *collective = &self->env.dag->collectives[index];

  const FabCollectivePlan *plan = &collective->plan;

  return (FabCollectiveRecord){
    .iteration = iteration,
    .index = index,
    .name = collective->name,
    .op = fab_op_names[plan->op],
    .dimension = fab_dimension_names[collective->dimension],
    .algorithm = plan->algorithm,
    .protocol = plan->protocol,
    .n_channels = plan->n_channels,
    .n_ranks = plan->n_ranks,
    .bytes = plan->bytes,
    .binding_link = plan->footprint ? plan->footprint->binding_link : FAB_NO_LINK,
    .waits_for_ends = is_recorded (self, iteration) && fab_collective_plan_waits_for_ends (plan),
    .alone_ps = is_recorded (self, iteration) ? fab_collective_plan_idle_ps (plan) : 0,
  };
}

/* Returns the name by which classes of service know the traffic. */
static const char *
traffic_of (const FabExecutor *self, const FabDagCollective *collective)
{
  gboolean is_neighbour = self->env.ended.fn != NULL;

  return is_neighbour ? "neighbours" : fab_dimension_names[collective->dimension];
}

/* The last rank has arrived. */
static void
collective_begin (FabExecutor *self, FabSlot *slot, guint index)
{
  const FabDagCollective *collective = &self->env.dag->collectives[index];
  FabCollectiveRecord *record = &slot->records[index];
  FabTimePs now_ps = fab_engine_now (self->env.engine);

  self->n_busy++;
  record->start_ps = now_ps;
  for (FabTaskId task = slot->arrived[index]; task != FAB_NO_TASK; task = slot->arrived_before[task]) {
    fab_account_begin (self->account, task, now_ps);
    if (slot->begin_ps[task] < now_ps)
      record_span (self, slot, task, FAB_SPAN_WAIT, (FabInterval){ slot->begin_ps[task], now_ps });
  }
  if (collective->plan.footprint == NULL) {
    fab_engine_after (self->env.engine, 0, collective_done, self, pack (self, slot, index));
    return;
  }
  fab_copy_kernels_hold (self->kernels, index);
  self->env.watch->ops->begin (self->env.watch, self->job,
                               &(FabJobCollective){ &collective->plan, traffic_of (self, collective) },
                               (FabDone){ collective_done, self, pack (self, slot, index) });
}

FabWatchedJob *
fab_executor_job (const FabExecutor *self)
{
  return self->job;
}

GArray *
fab_executor_list_collectives (const FabExecutor *self)
{
  const FabDag *dag = self->env.dag;
  GArray *all = g_array_new (FALSE, FALSE, sizeof (FabJobCollective));

  for (guint c = 0; c < dag->n_collectives; c++) {
    const FabDagCollective *collective = &dag->collectives[c];
    FabJobCollective known = { &collective->plan, traffic_of (self, collective) };

    if (collective->plan.footprint != NULL)
      g_array_append_val (all, known);
  }
  return all;
}

static void
collective_arrive (FabExecutor *self, FabSlot *slot, FabTaskId task)
{
  guint index = (guint) self->env.dag->tasks[task].collective;
  const FabDagCollective *collective = &self->env.dag->collectives[index];

  if (slot->n_arrived[index] == 0) {
    slot->records[index] = new_record (self, slot->iteration, index);
    slot->records[index].ready_ps = fab_engine_now (self->env.engine);
    slot->arrived[index] = FAB_NO_TASK;
  }
  slot->arrived_before[task] = slot->arrived[index];
  slot->arrived[index] = task;
  fab_account_arrive (self->account, task, fab_engine_now (self->env.engine));
  if (++slot->n_arrived[index] == collective->n_joins)
    collective_begin (self, slot, index);
}

/* Returns the duration when the task has the accelerator to itself, rounded up to a ps. */
static FabTimePs
compute_ps (const FabExecutor *self, const FabSlot *slot, const FabTask *task)
{
  const FabExecutorEnv *env = &self->env;
  double factor;

  if (env->slowness == NULL)
    return fab_task_ps (task);
  factor = env->slowness (env->slowness_owner, env->dag->streams[task->stream].rank_class, slot->iteration);
  g_assert (factor > 0);
  double stretched_ps = ceil ((double) task->duration_ps * factor);
  g_assert (stretched_ps < (double) FAB_TIME_MAX);
  return factor == 1 ? fab_task_ps (task) : (FabTimePs) stretched_ps * task->n_times;
}

static void
task_begin (FabExecutor *self, FabSlot *slot, FabTaskId task)
{
  const FabTask *t = &self->env.dag->tasks[task];
  FabTimePs now_ps = fab_engine_now (self->env.engine);

  slot->begin_ps[task] = now_ps;
  if (t->collective >= 0) {
    collective_arrive (self, slot, task);
    return;
  }
  self->n_busy++;
  fab_account_begin (self->account, task, now_ps);
  if (t->kind == FAB_SPAN_COMPUTE)
    fab_kernels_start (self->kernels, t->stream, compute_ps (self, slot, t),
                       (FabDone){ work_done, self, pack (self, slot, task) });
  else
    fab_engine_after (self->env.engine, fab_task_ps (t), work_done, self, pack (self, slot, task));
}

/* --- iterations --- */

/* Sets the number of tasks to wait for: those of this iteration, and those of the previous one that are not done
 * yet. */
static void
slot_launch (FabExecutor *self, guint iteration)
{
  const FabDag *dag = self->env.dag;
  FabSlot *slot = &self->slots[iteration % 2];
  const FabSlot *before = &self->slots[(iteration + 1) % 2];

  if (iteration >= self->env.n_iterations)
    return;
  slot->iteration = iteration;
  slot->is_live = TRUE;
  slot->n_left = dag->n_tasks;
  memcpy (slot->n_waiting, dag->n_waits, sizeof (guint) * dag->n_tasks);
  memset (slot->is_done, 0, dag->n_tasks);
  memset (slot->n_arrived, 0, sizeof (guint) * dag->n_collectives);
  for (FabTaskId task = 0; iteration > 0 && task < dag->n_tasks; task++)
    for (guint i = dag->carried_starts[task]; !before->is_done[task] && i < dag->carried_starts[task + 1];
         i++)
      slot->n_waiting[dag->carried[i]]++;
  /* Tasks that start here cannot release others before this loop ends, because every end is an event. */
  for (FabTaskId task = 0; task < dag->n_tasks; task++)
    if (slot->n_waiting[task] == 0) {
      slot->released_by[task] = FAB_NO_TASK;
      task_begin (self, slot, task);
    }
}

static FabTimePs
least_work_ps (gpointer owner, FabTaskId task)
{
  const FabExecutor *self = owner;
  const FabTask *t = &self->env.dag->tasks[task];

  return t->kind == FAB_SPAN_COMPUTE ? compute_ps (self, &self->slots[self->n_ended % 2], t)
                                     : fab_task_ps (t);
}

/* A stream takes no less than on an idle network, unless links get faster meanwhile. A ps less, for rounding. */
static FabTimePs
least_collective_ps (gpointer owner, guint collective)
{
  const FabExecutor *self = owner;
  const FabDagCollective *c = &self->env.dag->collectives[collective];
  FabTimePs bound_ps = bound_of (self, c);

  if (bound_ps == 0 || self->env.n_apart > 0 || fab_play_has_messages (self->env.net, &c->plan))
    return bound_ps;
  return MAX (bound_ps, fab_collective_plan_idle_ps (&c->plan) - 1);
}

FabTimePs
fab_executor_least_ps (const FabExecutor *self)
{
  const FabSlot *slot = &self->slots[self->n_ended % 2];
  gboolean is_begun = self->n_ended > 0;

  g_assert (self->n_ended < self->env.n_iterations);
  return fab_least_time_ps (&(FabLeft){ self->env.dag, is_begun ? slot->n_waiting : self->env.dag->n_waits,
                                        is_begun ? slot->is_done : NULL, least_work_ps, least_collective_ps,
                                        (gpointer) self });
}

gboolean
fab_executor_find_hang (const FabExecutor *self, FabHang *hang)
{
  const FabNet *net = self->env.net;
  FabStanding standing = { 0 };

  slot_count_hung (&self->slots[0], self->env.dag, net, &standing, hang);
  slot_count_hung (&self->slots[1], self->env.dag, net, &standing, hang);
  if (standing.n_hung == 0)
    return FALSE;
  return standing.n_hung == self->n_busy
      || (standing.n_active == self->n_busy && self->env.watch->ops->is_still (self->env.watch));
}

FabLinkId
fab_executor_find_jam (const FabExecutor *self)
{
  return self->has_ended ? FAB_NO_LINK : self->env.watch->ops->find_jam (self->env.watch);
}

void
fab_executor_begin_iteration (FabExecutor *self)
{
  fab_probe_empty (&self->probe);
  self->has_ended = FALSE;
  if (self->n_ended == 0) {
    fab_account_open (self->account, fab_engine_now (self->env.engine));
    slot_launch (self, 0);
  }
  slot_launch (self, self->n_ended + 1);
}

gboolean
fab_executor_run_iteration (FabExecutor *self)
{
  if (self->n_ended == self->env.n_iterations)
    return FALSE;
  fab_executor_begin_iteration (self);
  fab_engine_run (self->env.engine);
  FabHang hang;
  if (!self->has_ended && !fab_engine_is_cancelled (self->env.engine) && !fab_executor_find_hang (self, &hang)
      && fab_executor_find_jam (self) == FAB_NO_LINK)
    fab_engine_fail (self->env.engine, "iteration %u never ends: its tasks wait for each other",
                     self->n_ended);
  return self->has_ended && fab_engine_failure (self->env.engine) == NULL
      && !fab_engine_is_cancelled (self->env.engine);
}
