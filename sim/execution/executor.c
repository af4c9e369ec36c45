/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/execution/executor.h"

#include <math.h>
#include <string.h>

#include "sim/collective/collective.h"
#include "sim/collective/fold.h"
#include "sim/collective/play.h"
#include "sim/execution/account.h"
#include "sim/execution/concurrent_kinds.h"
#include "sim/execution/kernels.h"
#include "sim/execution/plan_ids.h"

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

typedef struct _FabPlays FabPlays;

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

/* A schedule belongs to a footprint and a number of chunks. */
typedef struct {
  const FabFootprint *footprint;
  guint n_chunks;
  FabSchedule *schedule;
  guint kind; /* for sim/execution/concurrent_kinds.h */
} Known;

struct _FabPlays {
  const FabExecutorEnv *env;
  FabNet *net;
  GHashTable *known; /* of Known, which are keys and values */
  gboolean is_folded;
};

static guint
known_hash (gconstpointer data)
{
  const Known *known = data;

  return g_direct_hash (known->footprint) ^ (known->n_chunks * 2654435761U);
}

static gboolean
known_equal (gconstpointer a, gconstpointer b)
{
  const Known *x = a, *y = b;

  return x->footprint == y->footprint && x->n_chunks == y->n_chunks;
}

static void
known_free (gpointer data)
{
  fab_schedule_free (((Known *) data)->schedule);
  g_free (data);
}

/* `env` must outlive the plays. */
static FabPlays *
plays_new (const FabExecutorEnv *env)
{
  FabPlays *self = g_new0 (FabPlays, 1);

  self->env = env;
  self->net = env->net;
  self->known = g_hash_table_new_full (known_hash, known_equal, known_free, NULL);
  return self;
}

static void
plays_free (FabPlays *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->known);
  g_free (self);
}

static FabSchedule *
find_schedule (FabPlays *self, const FabCollectivePlan *plan)
{
  Known wanted = { .footprint = plan->footprint, .n_chunks = plan->steps.n_chunks };
  const Known *known = g_hash_table_lookup (self->known, &wanted);

  if (known != NULL)
    return known->schedule;
  wanted.schedule = plan->steps.make (plan->steps.owner, plan);
  g_hash_table_add (self->known, g_memdup2 (&wanted, sizeof wanted));
  return wanted.schedule;
}

static gboolean
has_messages (const FabPlays *self, const FabCollectivePlan *plan)
{
  return self->net->ops->message != NULL && plan->steps.make != NULL && plan->bytes > 0;
}

/* A pipeline whose bytes are cut in two ways has the same classes of lanes twice. */
typedef struct {
  const FabCollectivePlan *plan;
  FabSchedule *pipeline; /* of another plan */
} InChunks;

/* What a kind of collectives is played as: one of the two. */
typedef struct {
  FabFoldUse use;
  const FabFootprint *stream;
} Kind;

/* The schedules and streams of all plans, each once. */
typedef struct {
  GArray *kinds; /* Kind */
  GArray *in_chunks;
  GHashTable *pipelines; /* from footprint to Known */
  GHashTable *streams;   /* from footprint to 1 + kind */
} Everything;

static guint
add_kind (Everything *all, FabSchedule *schedule, const FabFootprint *stream)
{
  Kind kind = { { schedule, FALSE, 0, FAB_TIME_MAX }, stream };

  g_array_append_val (all->kinds, kind);
  return all->kinds->len - 1;
}

static guint
find_stream (Everything *all, const FabFootprint *footprint)
{
  gpointer known = g_hash_table_lookup (all->streams, footprint);

  if (known == NULL) {
    known = GUINT_TO_POINTER (1 + add_kind (all, NULL, footprint));
    g_hash_table_insert (all->streams, (gpointer) footprint, known);
  }
  return GPOINTER_TO_UINT (known) - 1;
}

static Known *
make_known (FabPlays *self, const FabCollectivePlan *plan, Everything *all)
{
  Known wanted = { .footprint = plan->footprint, .n_chunks = plan->steps.n_chunks };
  Known *known = g_hash_table_lookup (self->known, &wanted);
  const Known *pipeline = g_hash_table_lookup (all->pipelines, plan->footprint);

  if (known != NULL)
    return known;
  if (pipeline != NULL) {
    InChunks again = { plan, pipeline->schedule };

    wanted.kind = pipeline->kind;
    known = g_memdup2 (&wanted, sizeof wanted);
    g_hash_table_add (self->known, known);
    g_array_append_val (all->in_chunks, again);
    return known;
  }
  find_schedule (self, plan);
  known = g_hash_table_lookup (self->known, &wanted);
  known->kind = add_kind (all, known->schedule, NULL);
  if (fab_schedule_is_in_chunks (known->schedule, wanted.n_chunks))
    g_hash_table_insert (all->pipelines, (gpointer) plan->footprint, known);
  return known;
}

/* The limit of a kind is the highest of its plans, where all have one. */
static guint
note_plan (FabPlays *self, const FabCollectivePlan *plan, Everything *all)
{
  guint n_before = all->kinds->len;

  if (plan->footprint == NULL || plan->bytes == 0)
    return FAB_NO_KIND;
  if (!has_messages (self, plan))
    return find_stream (all, plan->footprint);
  const Known *known = make_known (self, plan, all);
  FabFoldUse *use = &g_array_index (all->kinds, Kind, known->kind).use;
  double limit = plan->steps.limit_bytes_per_s * plan->wire_factor;
  use->steps_ps = MIN (use->steps_ps, plan->steps.steps_ps);
  if (all->kinds->len > n_before)
    use->limit_bytes_per_s = limit;
  else if (limit <= 0 || use->limit_bytes_per_s <= 0)
    use->limit_bytes_per_s = 0;
  else
    use->limit_bytes_per_s = MAX (use->limit_bytes_per_s, limit);
  return known->kind;
}

/* Folds the kinds of one part: those that may be under way with `first`, with others of those, and so on. */
static void
fold_part (const FabPlays *self, const GArray *kinds, const gboolean *may_meet, guint8 *is_done, guint first)
{
  g_autoptr (GArray) part = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (FabFoldUse));
  g_autoptr (GPtrArray) streams = g_ptr_array_new ();

  is_done[first] = TRUE;
  g_array_append_val (part, first);
  for (guint i = 0; i < part->len; i++) {
    guint k = g_array_index (part, guint, i);
    Kind *kind = &g_array_index (kinds, Kind, k);

    kind->use.is_once = !may_meet[(gsize) k * kinds->len + k];
    if (kind->stream != NULL)
      g_ptr_array_add (streams, (gpointer) kind->stream);
    else
      g_array_append_val (uses, kind->use);
    for (guint other = 0; other < kinds->len; other++)
      if (!is_done[other] && may_meet[(gsize) k * kinds->len + other]) {
        is_done[other] = TRUE;
        g_array_append_val (part, other);
      }
  }
  fab_schedules_fold (self->net->env.graph,
                      &(FabFoldSpec){ .uses = (const FabFoldUse *) (gpointer) uses->data,
                                      .n_uses = uses->len,
                                      .streams = (const FabFootprint *const *) streams->pdata,
                                      .n_streams = streams->len,
                                      .apart = self->env->apart,
                                      .n_apart = self->env->n_apart });
}

static void
fold_parts (const FabPlays *self, const GArray *kinds, const guint *kind_of)
{
  g_autofree gboolean *may_meet = fab_concurrency_find (self->env->dag, self->env->n_iterations > 1, kind_of,
                                                        kinds->len);
  g_autofree guint8 *is_done = g_new0 (guint8, kinds->len + 1);

  for (guint k = 0; k < kinds->len; k++)
    if (!is_done[k])
      fold_part (self, kinds, may_meet, is_done, k);
}

/* Schedules that may be played at the same time are folded together. */
static void
plays_fold (FabPlays *self)
{
  const FabDag *dag = self->env->dag;
  g_autoptr (GArray) kinds = g_array_new (FALSE, FALSE, sizeof (Kind)),
                     in_chunks = g_array_new (FALSE, FALSE, sizeof (InChunks));
  g_autoptr (GHashTable) pipelines = g_hash_table_new (NULL, NULL), streams = g_hash_table_new (NULL, NULL);
  g_autofree guint *kind_of = g_new (guint, dag->n_collectives + 1);
  Everything all = { kinds, in_chunks, pipelines, streams };

  self->is_folded = TRUE;
  for (guint c = 0; c < dag->n_collectives; c++)
    kind_of[c] = note_plan (self, &dag->collectives[c].plan, &all);
  fold_parts (self, kinds, kind_of);
  for (guint i = 0; i < in_chunks->len; i++) {
    const InChunks *again = &g_array_index (in_chunks, InChunks, i);
    Known wanted = { .footprint = again->plan->footprint, .n_chunks = again->plan->steps.n_chunks };
    Known *known = g_hash_table_lookup (self->known, &wanted);

    known->schedule = fab_schedule_in_chunks (again->pipeline, wanted.n_chunks);
  }
}

/* Begins a plan now; `traffic` as in FabConnection. NULL: the plan has to run as a stream. The caller owns the play
 * and must free it before the plays. */
static FabPlay *
plays_begin (gpointer owner, FabNet *net, const FabCollectivePlan *plan, const char *traffic, FabDone done)
{
  FabPlays *self = owner;
  const FabCollectivePlanSteps *steps = &plan->steps;

  if (!has_messages (self, plan))
    return NULL;
  if (self->env->is_alone && self->net->ops->is_symmetric && !self->is_folded)
    plays_fold (self);
  return fab_play_new (find_schedule (self, plan), net,
                       &(FabPlaySpec){
                           .bytes = plan->bytes,
                           .wire_factor = plan->wire_factor,
                           .limit_bytes_per_s = steps->limit_bytes_per_s,
                           .free_bytes_per_s = plan->footprint->rate_bytes_per_s / plan->wire_factor,
                           .is_pipeline = steps->is_pipeline,
                           .share = plan->n_connections,
                           .traffic = traffic,
                           .once_ps = MAX (plan->startup_ps - steps->steps_ps - steps->fill_ps, 0),
                           .steps_ps = steps->steps_ps,
                           .intra_cost = steps->intra_cost,
                           .inter_cost = steps->inter_cost,
                           .done = done,
                       });
}

struct _FabExecutor {
  FabExecutorEnv env;
  FabSlot slots[2];
  FabAccount *account;
  FabKernels *kernels;
  FabPlays *plays;
  FabEpisodes *own_episodes; /* NULL: the caller's */
  FabProbe probe;
  guint n_ended;
  guint n_busy;       /* tasks and collectives that have begun and not ended */
  gboolean has_ended; /* the current iteration has ended */
};

static void task_begin (FabExecutor *self, FabSlot *slot, FabTaskId task);

FabExecutor *
fab_executor_new (const FabExecutorEnv *env)
{
  FabExecutor *self = g_new0 (FabExecutor, 1);

  self->env = *env;
  if (env->episodes == NULL)
    self->env.episodes = self->own_episodes = fab_episodes_new (env->engine, env->net, FALSE);
  slot_init (&self->slots[0], env->dag);
  slot_init (&self->slots[1], env->dag);
  self->account = fab_account_new (&self->env);
  self->kernels = fab_kernels_new (env->engine, env->dag, env->n_sms);
  self->plays = plays_new (&self->env);
  fab_probe_init (&self->probe);
  return self;
}

void
fab_executor_free (FabExecutor *self)
{
  if (self == NULL)
    return;
  slot_clear (&self->slots[0]);
  slot_clear (&self->slots[1]);
  fab_episodes_free (self->own_episodes);
  plays_free (self->plays);
  fab_account_free (self->account);
  fab_kernels_free (self->kernels);
  fab_probe_clear (&self->probe);
  g_free (self);
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

static void
iteration_end (FabExecutor *self, FabSlot *slot, FabTaskId last)
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
 * the footprint's are not those that bytes took. */
static void
check_bound (const FabExecutor *self, const FabDagCollective *collective, const FabCollectiveRecord *record,
             gboolean has_messages)
{
  if (collective->plan.footprint == NULL || self->env.net->env.router->ops->balance != NULL)
    return;
  FabStream stream = fab_collective_plan_stream (&collective->plan);
  FabTimePs bound_ps = fab_stream_bound_ps (&stream) - (has_messages ? stream.latency_ps : 0);

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
  check_bound (self, collective, record, has_messages (self->plays, &collective->plan));
  while (task != FAB_NO_TASK) {
    FabTaskId before = slot->arrived_before[task];

    fab_account_end (self->account, self->env.dag->tasks[task].stream, now_ps);
    record_span (self, slot, task, FAB_SPAN_COMM, (FabInterval){ record->start_ps, now_ps });
    task_done (self, slot, task);
    task = before;
  }
}

static FabCollectiveRecord
new_record (const FabDagCollective *collective, guint iteration, guint index)
{
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
    .waits_for_ends = fab_collective_plan_waits_for_ends (plan),
  };
}

/* Returns the name by which classes of service know the traffic. */
static const char *
traffic_of (const FabExecutor *self, const FabDagCollective *collective)
{
  gboolean is_neighbour = self->env.ended.fn != NULL;

  return is_neighbour ? "neighbours" : fab_dimension_names[collective->dimension];
}

static FabEpisodeInput
input_of (const FabExecutor *self, const FabDagCollective *collective)
{
  return (FabEpisodeInput){ .plan = &collective->plan,
                            .traffic = traffic_of (self, collective),
                            .play = plays_begin,
                            .owner = self->plays };
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
  const FabEpisodeInput input = input_of (self, collective);
  fab_episodes_begin (self->env.episodes, &input,
                      (FabDone){ collective_done, self, pack (self, slot, index) });
}

void
fab_executor_rehearse (FabExecutor *self, const FabRehearsalEnv *env)
{
  enum { MOST_PLANS = 64 };
  const FabDag *dag = self->env.dag;
  FabPlanIds *ids = fab_plan_ids_new ();
  FabEpisodeInput inputs[MOST_PLANS + 1];
  guint n = 0;

  for (guint c = 0; c < dag->n_collectives && n <= MOST_PLANS; c++) {
    const FabDagCollective *collective = &dag->collectives[c];

    if (collective->plan.footprint != NULL
        && fab_plan_ids_find (ids, &collective->plan, traffic_of (self, collective)) == n)
      inputs[n++] = input_of (self, collective);
  }
  fab_plan_ids_free (ids);
  if (n > 1 && n <= MOST_PLANS)
    fab_episodes_rehearse (self->env.episodes, env, inputs, n);
}

static void
collective_arrive (FabExecutor *self, FabSlot *slot, FabTaskId task)
{
  guint index = (guint) self->env.dag->tasks[task].collective;
  const FabDagCollective *collective = &self->env.dag->collectives[index];

  if (slot->n_arrived[index] == 0) {
    slot->records[index] = new_record (collective, slot->iteration, index);
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
    return task->duration_ps;
  factor = env->slowness (env->slowness_owner, env->dag->streams[task->stream].rank_class, slot->iteration);
  g_assert (factor > 0);
  double stretched_ps = ceil ((double) task->duration_ps * factor);
  g_assert (stretched_ps < (double) FAB_TIME_MAX);
  return factor == 1 ? task->duration_ps : (FabTimePs) stretched_ps;
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
    fab_engine_after (self->env.engine, t->duration_ps, work_done, self, pack (self, slot, task));
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

gboolean
fab_executor_find_hang (const FabExecutor *self, FabHang *hang)
{
  const FabNet *net = self->env.net;
  FabStanding standing = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (self->slots); i++)
    slot_count_hung (&self->slots[i], self->env.dag, net, &standing, hang);
  if (standing.n_hung == 0)
    return FALSE;
  return standing.n_hung == self->n_busy
      || (standing.n_active == self->n_busy && fab_episodes_is_still (self->env.episodes));
}

FabLinkId
fab_executor_find_jam (const FabExecutor *self)
{
  const FabNet *net = self->env.net;

  return self->has_ended || net->ops->find_jam == NULL ? FAB_NO_LINK : net->ops->find_jam (net);
}

void
fab_executor_begin_iteration (FabExecutor *self)
{
  fab_probe_empty (&self->probe);
  self->has_ended = FALSE;
  if (self->n_ended == 0)
    slot_launch (self, 0);
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
