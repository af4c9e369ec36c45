/* SPDX-License-Identifier: Apache-2.0 */
/* test_arrivals.c - every algorithm x every operation that it supports: a message carries only what has arrived.
 *
 * A schedule says which messages have arrived before another one starts. So it is known how many bytes of a message
 * can depend on the data of a rank o at most:
 *
 *   from rank o                         all of them
 *   from another rank or from a switch  as many as have come there, of those that depend on o, before it starts
 *
 * Each rank must end with as many bytes that can depend on o as its result has. And no message is larger than what its
 * sender has at first and what has come to it. An algorithm that lets a rank pass on data for which it has not waited
 * breaks one of the two.
 */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/collective/play/schedule_parts.h"
#include "tests/support/mesh.h"
#include "tests/support/play.h"
#include "tests/support/rig.h"

#define GBPS(x) ((x) *G_GUINT64_CONSTANT (1000000000))

typedef struct {
  FabVertexId from, to;
  double weight;  /* bytes per byte of size */
  guint8 *before; /* [n_messages] whether that one has arrived when this one starts */
  guint8 *with;   /* [n_messages] whether that one has arrived when this one has arrived, itself included */
  double *most;   /* [n_ranks] bytes per byte of size that can depend on the data of that rank */
} Message;

typedef struct {
  const FabGroup *group;
  const FabSchedule *schedule;
  FabOp op;
  guint n, n_ranks;
  Message *messages; /* in an order in which none waits for a later one */
} Arrivals;

static FabVertexId
gpu_of (const FabGroup *group, guint rank)
{
  return fab_group_gpu (group, rank / group->gpus_per_node, rank % group->gpus_per_node);
}

static void
join (guint8 *into, const guint8 *from, guint n)
{
  for (guint i = 0; i < n; i++)
    into[i] |= from[i];
}

static guint
number_of (const Arrivals *self, guint lane, guint message)
{
  return message * fab_schedule_n_lanes (self->schedule) + lane;
}

/* --- what has arrived before what --- */

static void
find_arrived (const Arrivals *self, guint lane, guint message)
{
  const FabSchedule *schedule = self->schedule;
  Message *m = &self->messages[number_of (self, lane, message)];

  const FabWaitList *list = fab_schedule_list_of (schedule, lane);
  for (guint i = list->start; i < list->end; i++) {
    const FabDependency *dependency = fab_schedule_dependency_at (schedule, i);

    if (message < dependency->offset)
      continue;
    const Message *other = &self->messages[number_of (self, dependency->from, message - dependency->offset)];
    join (m->before, dependency->is_departure ? other->before : other->with, self->n);
  }
  if (message > 0) {
    const Message *last = &self->messages[number_of (self, lane, message - 1)];

    join (m->before, last->before, self->n);
    join (m->with, last->with, self->n);
  }
  join (m->with, m->before, self->n);
  m->with[number_of (self, lane, message)] = TRUE;
}

static void
find_most (const Arrivals *self, Message *m)
{
  for (guint rank = 0; rank < self->n_ranks; rank++) {
    double came = m->from == gpu_of (self->group, rank) ? m->weight : 0;

    for (guint i = 0; i < self->n; i++)
      if (m->before[i] && self->messages[i].to == m->from)
        came += self->messages[i].most[rank];
    m->most[rank] = MIN (came, m->weight);
  }
}

/* What a rank has at first, per byte of size. */
static double
held (FabOp op, guint n, guint rank)
{
  switch (op) {
  case FAB_OP_ALL_GATHER:
  case FAB_OP_GATHER: return 1.0 / n;
  case FAB_OP_BROADCAST:
  case FAB_OP_SCATTER: return rank == 0 ? 1 : 0;
  case FAB_OP_ALL_REDUCE:
  case FAB_OP_REDUCE_SCATTER:
  case FAB_OP_REDUCE:
  case FAB_OP_ALL_TO_ALL:
  case FAB_OP_SEND_RECV: return 1;
  case FAB_N_OPS:
  default: g_assert_not_reached ();
  }
}

static void
check_size (const Arrivals *self, const Message *m, const char *algorithm)
{
  double has = 0;

  for (guint rank = 0; rank < self->n_ranks; rank++)
    if (m->from == gpu_of (self->group, rank))
      has = held (self->op, self->n_ranks, rank);
  for (guint i = 0; i < self->n; i++)
    if (m->before[i] && self->messages[i].to == m->from)
      has += self->messages[i].weight;
  if (m->weight > has * (1 + 1e-9))
    fail_msg ("%s %s over %u x %u: a message of %.4g of the size leaves when its sender can have %.4g",
              algorithm, fab_op_names[self->op], self->group->n_nodes, self->group->gpus_per_node, m->weight,
              has);
}

static guint
most_messages (const FabSchedule *schedule)
{
  guint most = 0;

  for (guint lane = 0; lane < fab_schedule_n_lanes (schedule); lane++)
    most = MAX (most, fab_schedule_lane_at (schedule, lane)->n_messages);
  return most;
}

/* Messages that a lane does not have stay empty. */
static Arrivals
arrivals_new (const FabGroup *group, FabOp op, const FabSchedule *schedule, const char *algorithm)
{
  guint n_lanes = fab_schedule_n_lanes (schedule), rounds = most_messages (schedule);
  Arrivals self = { .group = group,
                    .schedule = schedule,
                    .op = op,
                    .n = n_lanes * rounds,
                    .n_ranks = fab_group_n_ranks (group) };

  self.messages = g_new0 (Message, self.n);
  for (guint message = 0; message < rounds; message++)
    for (guint lane = 0; lane < n_lanes; lane++) {
      const FabScheduleLane *l = fab_schedule_lane_at (schedule, lane);
      Message *m = &self.messages[number_of (&self, lane, message)];

      if (message >= l->n_messages)
        continue;
      *m = (Message){ .from = l->hop.legs[0].src,
                      .to = l->hop.legs[l->hop.n_legs - 1].dst,
                      .weight = l->weight,
                      .before = g_new0 (guint8, self.n),
                      .with = g_new0 (guint8, self.n),
                      .most = g_new0 (double, self.n_ranks) };
      find_arrived (&self, lane, message);
      find_most (&self, m);
      check_size (&self, m, algorithm);
    }
  return self;
}

static void
arrivals_clear (Arrivals *self)
{
  for (guint i = 0; i < self->n; i++) {
    g_free (self->messages[i].before);
    g_free (self->messages[i].with);
    g_free (self->messages[i].most);
  }
  g_free (self->messages);
}

/* --- what must arrive --- */

/* How much of what `rank` ends with depends on the data of `other`, per byte of size. */
static double
needed (FabOp op, guint n, guint rank, guint other)
{
  switch (op) {
  case FAB_OP_ALL_REDUCE: return 1;
  case FAB_OP_ALL_GATHER:
  case FAB_OP_REDUCE_SCATTER:
  case FAB_OP_ALL_TO_ALL: return 1.0 / n;
  case FAB_OP_BROADCAST: return other == 0 ? 1 : 0;
  case FAB_OP_REDUCE: return rank == 0 ? 1 : 0;
  case FAB_OP_GATHER: return rank == 0 ? 1.0 / n : 0;
  case FAB_OP_SCATTER: return other == 0 ? 1.0 / n : 0;
  case FAB_OP_SEND_RECV: return (other + 1) % n == rank ? 1 : 0;
  case FAB_N_OPS:
  default: g_assert_not_reached ();
  }
}

static double
came_to (const Arrivals *self, guint rank, guint other)
{
  double sum = 0;

  for (guint i = 0; i < self->n; i++)
    if (self->messages[i].most != NULL && self->messages[i].to == gpu_of (self->group, rank))
      sum += self->messages[i].most[other];
  return sum;
}

static void
check_results (const Arrivals *self, const char *algorithm)
{
  for (guint rank = 0; rank < self->n_ranks; rank++)
    for (guint other = 0; other < self->n_ranks; other++) {
      double came = came_to (self, rank, other), least = needed (self->op, self->n_ranks, rank, other);

      if (rank != other && came < least * (1 - 1e-9))
        fail_msg (
            "%s %s over %u x %u: %.4g of the size that can depend on the data of rank %u reach rank %u, not "
            "%.4g",
            algorithm, fab_op_names[self->op], self->group->n_nodes, self->group->gpus_per_node, came, other,
            rank, least);
    }
}

/* --- all of them --- */

static guint
check_algorithm (const FabGroup *group, const FabAlgorithmOps *algorithm, FabOp op, guint n_chunks)
{
  static const FabAlgorithmEnv env = { .net_stretch = 1 };
  g_autoptr (FabSchedule) schedule = fab_schedule_new (group->cluster);
  g_autoptr (GError) error = NULL;

  if (!algorithm->supports (group, op))
    return 0;
  if (!algorithm->schedule (group, op, &env, n_chunks, schedule, &error))
    return 0;
  fab_schedule_freeze (schedule);
  Arrivals arrivals = arrivals_new (group, op, schedule, algorithm->info.name);
  check_results (&arrivals, algorithm->info.name);
  arrivals_clear (&arrivals);
  return 1;
}

static void
check_group (const FabGroup *group, GHashTable *checked)
{
  for (guint a = 0; fab_models.lists[FAB_MODEL_ALGORITHM][a]; a++) {
    const FabAlgorithmOps *algorithm = (const FabAlgorithmOps *) fab_models.lists[FAB_MODEL_ALGORITHM][a];

    for (guint op = 0; op < FAB_N_OPS; op++)
      for (guint n_chunks = 1; n_chunks <= 2; n_chunks++)
        if (check_algorithm (group, algorithm, (FabOp) op, n_chunks) > 0)
          g_hash_table_add (checked, (gpointer) algorithm->info.name);
  }
}

static void
check_star (const RigSpec *spec, GHashTable *checked)
{
  RigSpec with_rates = *spec;

  with_rates.gpu_bytes_per_s = GBPS (200);
  with_rates.nic_bytes_per_s = GBPS (100);
  g_autoptr (Rig) rig = rig_new (&with_rates);
  FabGroup group = rig_group (rig);
  check_group (&group, checked);
}

static void
check_mesh (guint n_gpus, guint n_nodes, GHashTable *checked)
{
  Wiring wiring = wiring_full (n_gpus, 1);
  g_autoptr (Rig) rig = mesh_new (&wiring, n_nodes, TRUE);
  FabGroup group = rig_group (rig);

  check_group (&group, checked);
}

/* Chips of six ports, each with its own router. */
static void
check_torus (const FabCatalog *catalog, guint x, guint y, guint z, GHashTable *checked)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: tpu-v5p-ici, nodes: %u, fabric: {kind: torus, x: %u, y: %u, z: %u, links: 1}}\n"
      "job: {kind: collective, operations: [{op: send_recv, size: 64MB}]}\n",
      x * y * z, x, y, z);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  FabGroup group = { cluster, cluster->n_nodes, cluster->gpus_per_node };

  check_group (&group, checked);
}

static void
a_message_carries_what_has_arrived (G_GNUC_UNUSED void **state)
{
  static const RigSpec stars[] = {
    { .n_nodes = 1, .gpus_per_node = 2 },
    { .n_nodes = 1, .gpus_per_node = 5 },
    { .n_nodes = 1, .gpus_per_node = 8 },
    { .n_nodes = 1, .gpus_per_node = 4, .gpus_reduce = TRUE },
    { .n_nodes = 2, .gpus_per_node = 4, .nics_per_node = 4 },
    { .n_nodes = 3, .gpus_per_node = 2, .nics_per_node = 2 },
    { .n_nodes = 4, .gpus_per_node = 2, .nics_per_node = 1 },
    { .n_nodes = 6, .gpus_per_node = 1, .nics_per_node = 1 },
    { .n_nodes = 3, .gpus_per_node = 4, .nics_per_node = 4, .gpus_reduce = TRUE, .nics_reduce = TRUE },
  };
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (GHashTable) checked = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < G_N_ELEMENTS (stars); i++)
    check_star (&stars[i], checked);
  check_mesh (3, 4, checked);
  check_torus (catalog, 3, 2, 2, checked);
  check_torus (catalog, 3, 3, 1, checked);
  for (guint a = 0; fab_models.lists[FAB_MODEL_ALGORITHM][a]; a++)
    if (!g_hash_table_contains (checked, fab_models.lists[FAB_MODEL_ALGORITHM][a]->name))
      fail_msg ("no machine of this test has %s", fab_models.lists[FAB_MODEL_ALGORITHM][a]->name);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { cmocka_unit_test (a_message_carries_what_has_arrived) };

  return cmocka_run_group_tests_name ("arrivals", tests, NULL, NULL);
}
