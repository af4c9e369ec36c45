/* SPDX-License-Identifier: Apache-2.0 */
/* job_graph.c - from a DAG of rank classes, and the messages of its collectives, to a graph for each rank.
 *
 * The messages of a collective are those of its schedule. The first leg of a lane starts at the GPU of the rank that
 * sends, and the last leg ends at that of the rank that receives. Ranks that a schedule's lanes join, over any number
 * of lanes, are a group. Where switches reduce, lanes end in them, and a lane that waits for another one joins the two.
 * Graphs of messages between ranks cannot say such collectives.
 */
#include "sim/run/job_graph.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/collective/play/schedule_parts.h"

#define NO_RANK G_MAXUINT

/* A kind of collectives that have their messages in common. */
typedef struct {
  const FabFootprint *footprint; /* key */
  guint n_chunks;                /* key */
  FabSchedule *schedule;
  gboolean
      ends_elsewhere;  /* a lane has an end that is no rank: a drive, host memory, or a switch that reduces */
  gboolean has_groups; /* it joins ranks */
  guint *froms, *tos;  /* [lanes] ranks */
  guint *first_tags;   /* [lanes] messages of the lanes before it */
  guint n_messages;    /* of all lanes */
  guint *sent_starts, *sent;   /* [ranks + 1] into `sent`: lanes by which a rank sends */
  guint *taken_starts, *taken; /* [ranks + 1] into `taken`: lanes by which a rank receives */
  guint *groups;               /* [ranks] group; NO_RANK: takes no part */
} Kind;

struct _FabJobGraph {
  FabSimulation *simulation;
  const FabDag *dag;
  gboolean has_messages;
  guint n_ranks;
  GHashTable *ranks;  /* from vertex + 1 to rank + 1 */
  GPtrArray *kinds;   /* Kind */
  Kind **kind_of;     /* [collectives]; NULL: a collective without messages */
  guint *tags;        /* [collectives] tag of its first message: LogGOPSim posts receives in any order */
  guint *classes;     /* [ranks] rank class */
  guint *task_starts; /* [classes + 1] into `tasks` */
  guint *tasks;       /* tasks of each class, in order */
  guint *before_starts, *before; /* [tasks + 1]: tasks for which a task waits */
  guint *first_stream;           /* [classes] */
  GPtrArray *groups;             /* GArray of guint */
  GHashTable *group_keys;        /* from text of the ranks to group + 1 */
  guint *ends;                   /* [tasks] scratch: the last node of a task */
  guint *sends, *receives;       /* [most lanes] scratch: first node of a lane in this rank */
};

/* --- lanes and ranks --- */

static guint
rank_of (const FabJobGraph *self, FabVertexId vertex)
{
  guint found = GPOINTER_TO_UINT (g_hash_table_lookup (self->ranks, GUINT_TO_POINTER (vertex + 1)));

  return found > 0 ? found - 1 : NO_RANK;
}

static guint
n_lanes (const Kind *kind)
{
  return kind->schedule->lanes->len;
}

static void
find_ends (const FabJobGraph *self, Kind *kind)
{
  kind->froms = g_new (guint, n_lanes (kind) + 1);
  kind->tos = g_new (guint, n_lanes (kind) + 1);
  kind->first_tags = g_new (guint, n_lanes (kind) + 1);
  for (guint i = 0; i < n_lanes (kind); i++) {
    const FabHop *hop = &fab_schedule_lane_at (kind->schedule, i)->hop;

    kind->froms[i] = hop->n_legs > 0 ? rank_of (self, hop->legs[0].src) : NO_RANK;
    kind->tos[i] = hop->n_legs > 0 ? rank_of (self, hop->legs[hop->n_legs - 1].dst) : NO_RANK;
    kind->first_tags[i] = kind->n_messages;
    kind->n_messages += fab_schedule_lane_at (kind->schedule, i)->n_messages;
    if (kind->froms[i] == NO_RANK || kind->tos[i] == NO_RANK || kind->froms[i] == kind->tos[i])
      kind->ends_elsewhere = TRUE;
  }
}

/* Turns the number of each, which stands one place behind it, into where it starts and ends. The first starts at 0. */
static void
sum_up (guint *starts, guint n)
{
  for (guint i = 2; i <= n; i++)
    starts[i] += starts[i - 1];
}

/* Lists the lanes of each rank, in their order. */
static void
list_lanes (guint n_ranks, const guint *ends, guint n, guint **starts, guint **lanes)
{
  g_autofree guint *fill = g_new0 (guint, n_ranks + 1);

  *starts = g_new0 (guint, n_ranks + 1);
  *lanes = g_new (guint, n + 1);
  for (guint i = 0; i < n; i++)
    (*starts)[ends[i] + 1]++;
  sum_up (*starts, n_ranks);
  memcpy (fill, *starts, sizeof (guint) * (n_ranks + 1));
  for (guint i = 0; i < n; i++)
    (*lanes)[fill[ends[i]]++] = i;
}

/* --- groups --- */

static guint
find_root (guint *parents, guint of)
{
  while (parents[of] != of)
    of = parents[of] = parents[parents[of]];
  return of;
}

static void
join (guint *parents, guint one, guint other)
{
  parents[find_root (parents, one)] = find_root (parents, other);
}

/* Joins a lane with the ranks at its ends, and with the lanes that it waits for. Lanes stand behind the ranks. */
static void
join_lane (const FabJobGraph *self, const Kind *kind, guint lane, guint *parents)
{
  guint ends[] = { kind->froms[lane], kind->tos[lane] };
  const FabWaitList *list = fab_schedule_list_of (kind->schedule, lane);

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    if (ends[i] != NO_RANK)
      join (parents, self->n_ranks + lane, ends[i]);
  for (guint i = list->start; i < list->end; i++)
    join (parents, self->n_ranks + lane,
          self->n_ranks + fab_schedule_dependency_at (kind->schedule, i)->from);
}

static guint
keep_group (FabJobGraph *self, GArray *ranks)
{
  g_autoptr (GString) key = g_string_new (NULL);
  guint known;

  for (guint i = 0; i < ranks->len; i++)
    g_string_append_printf (key, "%x,", g_array_index (ranks, guint, i));
  known = GPOINTER_TO_UINT (g_hash_table_lookup (self->group_keys, key->str));
  if (known > 0) {
    g_array_unref (ranks);
    return known - 1;
  }
  g_ptr_array_add (self->groups, ranks);
  g_hash_table_insert (self->group_keys, g_strdup (key->str), GUINT_TO_POINTER (self->groups->len));
  return self->groups->len - 1;
}

static void
find_groups (FabJobGraph *self, Kind *kind)
{
  guint n_joined = self->n_ranks + n_lanes (kind);
  g_autofree guint *parents = g_new (guint, n_joined);
  g_autofree GArray **members = g_new0 (GArray *, n_joined);

  kind->groups = g_new (guint, self->n_ranks);
  for (guint i = 0; i < n_joined; i++)
    parents[i] = i;
  for (guint i = 0; i < n_lanes (kind); i++) {
    if (kind->ends_elsewhere)
      join_lane (self, kind, i, parents);
    else
      join (parents, kind->froms[i], kind->tos[i]);
  }
  for (guint r = 0; r < self->n_ranks; r++) {
    guint root = find_root (parents, r);

    if (members[root] == NULL)
      members[root] = g_array_new (FALSE, FALSE, sizeof (guint));
    g_array_append_val (members[root], r);
  }
  memset (kind->groups, 0xff, sizeof (guint) * self->n_ranks);
  for (guint r = 0; r < n_joined; r++) {
    if (members[r] == NULL)
      continue;
    if (members[r]->len == 1) {
      g_array_unref (members[r]);
      continue;
    }
    guint n = members[r]->len;
    g_autofree guint *ranks = g_memdup2 (members[r]->data, sizeof (guint) * n);
    guint group = keep_group (self, members[r]);

    kind->has_groups = TRUE;
    for (guint i = 0; i < n; i++)
      kind->groups[ranks[i]] = group;
  }
}

/* --- kinds of collectives --- */

static void
kind_free (gpointer data)
{
  Kind *kind = data;

  fab_schedule_free (kind->schedule);
  g_free (kind->froms);
  g_free (kind->tos);
  g_free (kind->first_tags);
  g_free (kind->sent_starts);
  g_free (kind->sent);
  g_free (kind->taken_starts);
  g_free (kind->taken);
  g_free (kind->groups);
  g_free (kind);
}

static Kind *
find_kind (FabJobGraph *self, const FabCollectivePlan *plan)
{
  for (guint i = 0; i < self->kinds->len; i++) {
    Kind *kind = g_ptr_array_index (self->kinds, i);

    if (kind->footprint == plan->footprint && kind->n_chunks == plan->steps.n_chunks)
      return kind;
  }
  Kind *kind = g_new0 (Kind, 1);

  kind->footprint = plan->footprint;
  kind->n_chunks = plan->steps.n_chunks;
  kind->schedule = plan->steps.make (plan->steps.owner, plan);
  fab_schedule_freeze (kind->schedule);
  find_ends (self, kind);
  find_groups (self, kind);
  if (!kind->ends_elsewhere) {
    list_lanes (self->n_ranks, kind->froms, n_lanes (kind), &kind->sent_starts, &kind->sent);
    list_lanes (self->n_ranks, kind->tos, n_lanes (kind), &kind->taken_starts, &kind->taken);
  }
  g_ptr_array_add (self->kinds, kind);
  return kind;
}

/* FALSE and *error: messages were asked for, and switches reduce. */
static gboolean
can_be_said (const FabJobGraph *self, const Kind *kind, const FabDagCollective *collective, GError **error)
{
  return !kind->ends_elsewhere || !self->has_messages
      || fab_throw (
          error, FAB_ERROR_INPUT,
          "switches reduce in '%s' (%s), and messages between ranks cannot say that: export collectives "
          "(--format chakra), or take an algorithm of messages (--set collectives.algorithm=ring)",
          collective->name, fab_op_names[collective->plan.op]);
}

/* Tags differ from collective to collective, so that those that run at once do not take each other's messages. */
static gboolean
find_kinds (FabJobGraph *self, GError **error)
{
  guint n = self->dag->n_collectives, most = 0;
  guint64 tag = 0;

  self->kind_of = g_new0 (Kind *, n + 1);
  self->tags = g_new0 (guint, n + 1);
  for (guint c = 0; c < n; c++) {
    const FabCollectivePlan *plan = &self->dag->collectives[c].plan;

    if (plan->footprint == NULL || plan->steps.make == NULL || plan->bytes == 0)
      continue;
    Kind *kind = find_kind (self, plan);

    if (!kind->has_groups)
      continue;
    if (!can_be_said (self, kind, &self->dag->collectives[c], error))
      return FALSE;
    self->kind_of[c] = kind;
    if (tag + kind->n_messages > G_MAXINT32)
      tag = 0;
    self->tags[c] = (guint) tag;
    tag += kind->n_messages;
    most = MAX (most, n_lanes (kind));
  }
  self->sends = g_new (guint, most + 1);
  self->receives = g_new (guint, most + 1);
  return TRUE;
}

/* --- tasks --- */

static guint
class_of_task (const FabJobGraph *self, guint task)
{
  return self->dag->streams[self->dag->tasks[task].stream].rank_class;
}

static gboolean
are_of_one_rank (const FabJobGraph *self, guint task, guint other)
{
  return class_of_task (self, task) == class_of_task (self, other);
}

/* A task that takes no time and for which nothing of its iteration waits: it keeps iterations apart. */
static gboolean
is_end (const FabJobGraph *self, guint task)
{
  const FabDag *dag = self->dag;

  return dag->tasks[task].collective < 0 && dag->tasks[task].duration_ps == 0
      && dag->next_starts[task] == dag->next_starts[task + 1];
}

/* Lists for each task those of its rank that it waits for. */
static void
list_before (FabJobGraph *self)
{
  const FabDag *dag = self->dag;
  g_autofree guint *fill = g_new0 (guint, dag->n_tasks + 1);

  self->before_starts = g_new0 (guint, dag->n_tasks + 1);
  for (guint t = 0; t < dag->n_tasks; t++)
    for (guint i = dag->next_starts[t]; i < dag->next_starts[t + 1]; i++)
      self->before_starts[dag->next[i] + 1] += are_of_one_rank (self, t, dag->next[i]);
  sum_up (self->before_starts, dag->n_tasks);
  memcpy (fill, self->before_starts, sizeof (guint) * (dag->n_tasks + 1));
  self->before = g_new (guint, self->before_starts[dag->n_tasks] + 1);
  for (guint t = 0; t < dag->n_tasks; t++)
    for (guint i = dag->next_starts[t]; i < dag->next_starts[t + 1]; i++)
      if (are_of_one_rank (self, t, dag->next[i]))
        self->before[fill[dag->next[i]]++] = t;
}

/* Kahn's algorithm, then the tasks of each class in that order. */
static gboolean
order_tasks (FabJobGraph *self, GError **error)
{
  const FabDag *dag = self->dag;
  g_autofree guint *n_waits = g_memdup2 (dag->n_waits, sizeof (guint) * dag->n_tasks);
  g_autofree guint *order = g_new (guint, dag->n_tasks), *fill = g_new0 (guint, dag->n_classes + 1);
  guint head = 0, tail = 0;

  for (guint t = 0; t < dag->n_tasks; t++)
    if (n_waits[t] == 0)
      order[tail++] = t;
  while (head < tail) {
    guint task = order[head++];

    for (guint i = dag->next_starts[task]; i < dag->next_starts[task + 1]; i++) {
      if (!are_of_one_rank (self, dag->next[i], task) && !is_end (self, dag->next[i]))
        return fab_throw (
            error, FAB_ERROR_INPUT,
            "'%s' of one rank waits for '%s' of another without a message between them, which a "
            "graph for each rank cannot say",
            dag->tasks[dag->next[i]].name, dag->tasks[task].name);
      if (--n_waits[dag->next[i]] == 0)
        order[tail++] = dag->next[i];
    }
  }
  self->task_starts = g_new0 (guint, dag->n_classes + 1);
  for (guint t = 0; t < dag->n_tasks; t++)
    self->task_starts[class_of_task (self, t) + 1]++;
  sum_up (self->task_starts, dag->n_classes);
  memcpy (fill, self->task_starts, sizeof (guint) * (dag->n_classes + 1));
  self->tasks = g_new (guint, dag->n_tasks);
  for (guint i = 0; i < dag->n_tasks; i++)
    self->tasks[fill[class_of_task (self, order[i])]++] = order[i];
  return TRUE;
}

/* No rank is of two classes: where ranks of a class do not follow one another, each has its own. */
static void
find_classes (FabJobGraph *self)
{
  const FabDag *dag = self->dag;

  self->classes = g_new (guint, self->n_ranks);
  self->first_stream = g_new (guint, dag->n_classes);
  memset (self->classes, 0xff, sizeof (guint) * self->n_ranks);
  memset (self->first_stream, 0xff, sizeof (guint) * dag->n_classes);
  for (guint c = 0; c < dag->n_classes; c++)
    for (guint k = 0; k < dag->classes[c].n_ranks; k++) {
      guint *class = &self->classes[dag->classes[c].first_rank + k];

      g_assert (*class == NO_RANK);
      *class = c;
    }
  for (guint s = 0; s < dag->n_streams; s++)
    self->first_stream[dag->streams[s].rank_class] = MIN (self->first_stream[dag->streams[s].rank_class], s);
}

/* --- whole --- */

static void
index_ranks (FabJobGraph *self)
{
  const FabCluster *cluster = fab_simulation_cluster (self->simulation);

  self->n_ranks = cluster->n_nodes * cluster->gpus_per_node;
  for (guint r = 0; r < self->n_ranks; r++)
    g_hash_table_insert (self->ranks, GUINT_TO_POINTER (cluster->gpus[r] + 1), GUINT_TO_POINTER (r + 1));
}

FabJobGraph *
fab_job_graph_new (FabSimulation *simulation, gboolean has_messages, GError **error)
{
  g_autoptr (FabJobGraph) self = g_new0 (FabJobGraph, 1);

  self->simulation = simulation;
  self->dag = fab_simulation_dag (simulation);
  self->has_messages = has_messages;
  self->ranks = g_hash_table_new (NULL, NULL);
  self->kinds = g_ptr_array_new_with_free_func (kind_free);
  self->groups = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  self->group_keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->ends = g_new0 (guint, self->dag->n_tasks);
  index_ranks (self);
  find_classes (self);
  list_before (self);
  if (!order_tasks (self, error) || !find_kinds (self, error))
    return NULL;
  return g_steal_pointer (&self);
}

void
fab_job_graph_free (FabJobGraph *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->ranks);
  g_ptr_array_unref (self->kinds);
  g_ptr_array_unref (self->groups);
  g_hash_table_unref (self->group_keys);
  g_free (self->kind_of);
  g_free (self->tags);
  g_free (self->classes);
  g_free (self->task_starts);
  g_free (self->tasks);
  g_free (self->before_starts);
  g_free (self->before);
  g_free (self->first_stream);
  g_free (self->ends);
  g_free (self->sends);
  g_free (self->receives);
  g_free (self);
}

guint
fab_job_graph_n_ranks (const FabJobGraph *self)
{
  return self->n_ranks;
}

guint
fab_job_graph_n_groups (const FabJobGraph *self)
{
  return self->groups->len;
}

const GArray *
fab_job_graph_group (const FabJobGraph *self, guint group)
{
  return g_ptr_array_index (self->groups, group);
}

/* --- a rank --- */

typedef struct {
  FabJobGraph *graph;
  guint rank;
  GArray *nodes, *deps;
} Rank;

static void
add_dep (Rank *self, guint node)
{
  g_array_append_val (self->deps, node);
  g_array_index (self->nodes, FabJobNode, self->nodes->len - 1).n_deps++;
}

/* Adds a node, whose dependencies are added next. */
static guint
add_node (Rank *self, FabJobNode node)
{
  node.first_dep = self->deps->len;
  g_array_append_val (self->nodes, node);
  return self->nodes->len - 1;
}

/* The first node of a task waits for the tasks before it. */
static void
wait_for_tasks (Rank *self, guint task)
{
  const FabJobGraph *graph = self->graph;

  for (guint i = graph->before_starts[task]; i < graph->before_starts[task + 1]; i++)
    add_dep (self, graph->ends[graph->before[i]]);
}

static guint
stream_of (const Rank *self, guint task)
{
  const FabDag *dag = self->graph->dag;
  guint stream = dag->tasks[task].stream;

  return stream - self->graph->first_stream[dag->streams[stream].rank_class];
}

/* What a lane of this rank sends waits for the message before it, and for what the lane depends on. */
static void
wait_for_lanes (Rank *self, const Kind *kind, guint lane, guint message, guint begin)
{
  const FabSchedule *schedule = kind->schedule;
  const FabWaitList *list = fab_schedule_list_of (schedule, lane);
  const FabJobGraph *graph = self->graph;
  guint n_before = self->deps->len;

  if (message > 0)
    add_dep (self, graph->sends[lane] + message - 1);
  for (guint f = list->start; f < list->end; f++) {
    const FabDependency *dependency = fab_schedule_dependency_at (schedule, f);

    if (message < dependency->offset)
      continue;
    if (kind->froms[dependency->from] == self->rank && (dependency->is_departure || dependency->from < lane))
      add_dep (self, graph->sends[dependency->from] + message - dependency->offset);
    else if (!dependency->is_departure && kind->tos[dependency->from] == self->rank)
      add_dep (self, graph->receives[dependency->from] + message - dependency->offset);
  }
  if (self->deps->len == n_before)
    add_dep (self, begin);
}

/* Where calls block, a rank takes a message when it has taken the one before: what it passes on then has both in it. */
static void
wait_for_taken (Rank *self, const Kind *kind, guint lane, guint message)
{
  const FabSchedule *schedule = kind->schedule;
  const FabWaitList *list = fab_schedule_list_of (schedule, lane);

  for (guint f = list->start; f < list->end; f++) {
    const FabDependency *dependency = fab_schedule_dependency_at (schedule, f);

    if (!dependency->is_departure && message >= dependency->offset && dependency->from < lane
        && kind->tos[dependency->from] == self->rank)
      add_dep (self, self->graph->receives[dependency->from] + message - dependency->offset);
  }
}

/* Whole bytes of a message of a lane, so that all messages up to it have what they should, rounded. */
static FabBytes
message_bytes (const FabScheduleLane *lane, guint message, const FabCollectivePlan *plan)
{
  double each = lane->weight * (double) plan->bytes;

  return MAX ((FabBytes) (each * (message + 1) + 0.5) - (FabBytes) (each * message + 0.5), 1);
}

/* Receives of a rank are posted when the collective begins, or those before have ended. */
static void
add_receives (Rank *self, const Kind *kind, guint task, guint begin)
{
  const FabDag *dag = self->graph->dag;
  guint collective = (guint) dag->tasks[task].collective;

  for (guint i = kind->taken_starts[self->rank]; i < kind->taken_starts[self->rank + 1]; i++) {
    const FabScheduleLane *lane = fab_schedule_lane_at (kind->schedule, kind->taken[i]);

    self->graph->receives[kind->taken[i]] = self->nodes->len;
    for (guint m = 0; m < lane->n_messages; m++) {
      add_node (self,
                (FabJobNode){ .kind = FAB_JOB_RECEIVE,
                              .stream = stream_of (self, task),
                              .name = dag->tasks[task].name,
                              .bytes = message_bytes (lane, m, &dag->collectives[collective].plan),
                              .peer = kind->froms[kind->taken[i]],
                              .tag = self->graph->tags[collective] + kind->first_tags[kind->taken[i]] + m });
      add_dep (self, begin);
      wait_for_taken (self, kind, kind->taken[i], m);
    }
  }
}

static void
add_sends (Rank *self, const Kind *kind, guint task, guint begin)
{
  const FabDag *dag = self->graph->dag;
  guint collective = (guint) dag->tasks[task].collective;

  for (guint i = kind->sent_starts[self->rank]; i < kind->sent_starts[self->rank + 1]; i++) {
    const FabScheduleLane *lane = fab_schedule_lane_at (kind->schedule, kind->sent[i]);

    self->graph->sends[kind->sent[i]] = self->nodes->len;
    for (guint m = 0; m < lane->n_messages; m++) {
      add_node (self,
                (FabJobNode){ .kind = FAB_JOB_SEND,
                              .stream = stream_of (self, task),
                              .name = dag->tasks[task].name,
                              .bytes = message_bytes (lane, m, &dag->collectives[collective].plan),
                              .peer = kind->tos[kind->sent[i]],
                              .tag = self->graph->tags[collective] + kind->first_tags[kind->sent[i]] + m });
      wait_for_lanes (self, kind, kind->sent[i], m, begin);
    }
  }
}

/* Software, then the messages, then a node without length that ends when all have left and arrived. */
static guint
add_messages (Rank *self, const Kind *kind, guint task)
{
  const FabDag *dag = self->graph->dag;
  const FabTask *of = &dag->tasks[task];
  const FabCollectivePlan *plan = &dag->collectives[of->collective].plan;
  FabJobNode work = { .kind = FAB_JOB_WORK, .stream = stream_of (self, task), .name = of->name };

  work.duration_ps = MAX (plan->startup_ps - plan->latency_ps, 0);
  guint begin = add_node (self, work);
  wait_for_tasks (self, task);
  add_receives (self, kind, task, begin);
  add_sends (self, kind, task, begin);
  work.duration_ps = 0;
  guint end = add_node (self, work);
  add_dep (self, begin);
  for (guint i = kind->sent_starts[self->rank]; i < kind->sent_starts[self->rank + 1]; i++)
    add_dep (self, self->graph->sends[kind->sent[i]]
                       + fab_schedule_lane_at (kind->schedule, kind->sent[i])->n_messages - 1);
  for (guint i = kind->taken_starts[self->rank]; i < kind->taken_starts[self->rank + 1]; i++)
    add_dep (self, self->graph->receives[kind->taken[i]]
                       + fab_schedule_lane_at (kind->schedule, kind->taken[i])->n_messages - 1);
  return end;
}

static guint
add_task (Rank *self, guint task)
{
  FabJobGraph *graph = self->graph;
  const FabTask *of = &graph->dag->tasks[task];
  FabJobNode node = { .kind = FAB_JOB_WORK, .stream = stream_of (self, task), .name = of->name };
  const Kind *kind = of->collective >= 0 ? graph->kind_of[of->collective] : NULL;

  node.duration_ps = fab_task_ps (of);
  if (of->collective >= 0) {
    const FabCollectivePlan *plan = &graph->dag->collectives[of->collective].plan;
    gboolean is_part = kind != NULL && kind->groups[self->rank] != NO_RANK;

    if (is_part && (graph->has_messages || plan->op == FAB_OP_SEND_RECV))
      return add_messages (self, kind, task);
    node.duration_ps = kind == NULL && plan->footprint != NULL ? fab_collective_plan_idle_ps (plan) : 0;
    if (is_part) {
      node.kind = FAB_JOB_COLLECTIVE;
      node.op = plan->op;
      node.bytes = plan->bytes;
      node.group = kind->groups[self->rank];
    }
  }
  guint added = add_node (self, node);
  wait_for_tasks (self, task);
  return added;
}

void
fab_job_graph_rank (FabJobGraph *self, guint rank, GArray *nodes, GArray *deps)
{
  Rank state = { self, rank, nodes, deps };
  guint rank_class = self->classes[rank];

  g_assert (rank < self->n_ranks);
  g_array_set_size (nodes, 0);
  g_array_set_size (deps, 0);
  for (guint i = self->task_starts[rank_class]; i < self->task_starts[rank_class + 1]; i++)
    self->ends[self->tasks[i]] = add_task (&state, self->tasks[i]);
}

static guint64
count_nodes (const FabJobGraph *self, guint rank, guint task)
{
  gint32 collective = self->dag->tasks[task].collective;
  const Kind *kind = collective >= 0 ? self->kind_of[collective] : NULL;
  guint64 n = 2; /* the begin and the end */

  if (kind == NULL || kind->groups[rank] == NO_RANK
      || (!self->has_messages && self->dag->collectives[collective].plan.op != FAB_OP_SEND_RECV))
    return 1;
  for (guint i = kind->sent_starts[rank]; i < kind->sent_starts[rank + 1]; i++)
    n += fab_schedule_lane_at (kind->schedule, kind->sent[i])->n_messages;
  for (guint i = kind->taken_starts[rank]; i < kind->taken_starts[rank + 1]; i++)
    n += fab_schedule_lane_at (kind->schedule, kind->taken[i])->n_messages;
  return n;
}

guint64
fab_job_graph_n_nodes (FabJobGraph *self)
{
  guint64 n = 0;

  for (guint r = 0; r < self->n_ranks; r++) {
    guint rank_class = self->classes[r];

    for (guint i = self->task_starts[rank_class]; i < self->task_starts[rank_class + 1]; i++)
      n += count_nodes (self, r, self->tasks[i]);
  }
  return n;
}
