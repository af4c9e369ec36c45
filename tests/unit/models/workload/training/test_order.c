/* SPDX-License-Identifier: Apache-2.0 */
/* test_order.c - what has to be done before what in a step of training, whatever the strategy: read from the tasks of
 * a job, with what streams and collectives imply.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "models/workload/training/pipeline.h"
#include "tests/support/play.h"

#define HEAD                                                                                               \
  "name: order\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"                            \
  "cluster: {node: dgx-h100, nodes: 1, gpus_per_node: %u}\n"                                               \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 4, " \
  "hidden: 256, heads: 4, vocabulary: 1000, tied: false, biases: false}}]\n"                               \
  "job: {model: m, micro_batch: 1, sequence: 16, clip_gradients: false, %s}\n"

static FabCatalog *catalog;

/* Each task begins and ends, and each collective is complete: nodes of a graph whose edges say what waits for what. */
typedef struct {
  Play *play;
  const FabDag *dag;
  GArray **after;     /* guint, of each node */
  guint8 **is_behind; /* of each node that was asked for: which nodes come after it */
} Order;

static guint
begin_of (FabTaskId task)
{
  return 2 * task;
}

static guint
end_of (FabTaskId task)
{
  return 2 * task + 1;
}

static guint
n_nodes (const FabDag *dag)
{
  return 2 * dag->n_tasks + dag->n_collectives;
}

static void
edge (Order *self, guint from, guint to)
{
  g_array_append_val (self->after[from], to);
}

static Order
order_of (const char *yaml)
{
  Order self = { .play = play_new (catalog, yaml, NULL) };

  self.dag = fab_simulation_dag (self.play->simulation);
  self.after = g_new (GArray *, n_nodes (self.dag));
  self.is_behind = g_new0 (guint8 *, n_nodes (self.dag));
  for (guint i = 0; i < n_nodes (self.dag); i++)
    self.after[i] = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree gint64 *last = g_new (gint64, self.dag->n_streams);
  for (guint s = 0; s < self.dag->n_streams; s++)
    last[s] = -1;
  for (FabTaskId t = 0; t < self.dag->n_tasks; t++) {
    const FabTask *task = &self.dag->tasks[t];
    guint middle = task->collective < 0 ? end_of (t) : 2 * self.dag->n_tasks + (guint) task->collective;

    edge (&self, begin_of (t), middle);
    if (middle != end_of (t))
      edge (&self, middle, end_of (t));
    if (last[task->stream] >= 0)
      edge (&self, end_of ((FabTaskId) last[task->stream]), begin_of (t));
    last[task->stream] = t;
    for (guint e = self.dag->next_starts[t]; e < self.dag->next_starts[t + 1]; e++)
      edge (&self, end_of (t), begin_of (self.dag->next[e]));
  }
  return self;
}

static Order
order_new (guint gpus, const char *keys)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, gpus, keys);

  return order_of (yaml);
}

static void
order_clear (Order *self)
{
  for (guint i = 0; i < n_nodes (self->dag); i++) {
    g_array_unref (self->after[i]);
    g_free (self->is_behind[i]);
  }
  g_free (self->after);
  g_free (self->is_behind);
  play_free (self->play);
}

static const guint8 *
behind (Order *self, guint node)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint));
  guint8 *seen = self->is_behind[node];

  if (seen != NULL)
    return seen;
  seen = self->is_behind[node] = g_new0 (guint8, n_nodes (self->dag));
  g_array_append_val (open, node);
  while (open->len > 0) {
    const GArray *after = self->after[g_array_index (open, guint, open->len - 1)];

    g_array_set_size (open, open->len - 1);
    for (guint i = 0; i < after->len; i++) {
      guint next = g_array_index (after, guint, i);

      if (seen[next])
        continue;
      seen[next] = TRUE;
      g_array_append_val (open, next);
    }
  }
  return seen;
}

/* Whether `second` cannot begin before `first` has ended. */
static gboolean
is_before (Order *self, FabTaskId first, FabTaskId second)
{
  return behind (self, end_of (first))[begin_of (second)];
}

static guint
class_of (const Order *self, FabTaskId task)
{
  return self->dag->streams[self->dag->tasks[task].stream].rank_class;
}

static gboolean
is_named (const Order *self, FabTaskId task, const char *prefix)
{
  const char *name = self->dag->tasks[task].name;

  return name != NULL && g_str_has_prefix (name, prefix);
}

/* Tasks (FabTaskId) of a class whose name begins so, in order. (transfer full) */
static GArray *
tasks_named (const Order *self, guint rank_class, const char *prefix)
{
  GArray *tasks = g_array_new (FALSE, FALSE, sizeof (FabTaskId));

  for (FabTaskId t = 0; t < self->dag->n_tasks; t++)
    if (class_of (self, t) == rank_class && is_named (self, t, prefix) && self->dag->tasks[t].collective < 0)
      g_array_append_val (tasks, t);
  return tasks;
}

static FabTaskId
at (const GArray *tasks, guint i)
{
  return g_array_index (tasks, FabTaskId, i);
}

/* Sites sum their parameters behind the update. */
static gboolean
is_sum (const Order *self, FabTaskId task)
{
  gint32 collective = self->dag->tasks[task].collective;

  return collective >= 0 && !g_str_has_prefix (self->dag->collectives[collective].name, "outer")
      && self->dag->collectives[collective].dimension == FAB_DIMENSION_DATA
      && self->dag->collectives[collective].plan.op != FAB_OP_ALL_GATHER;
}

static const char *const jobs[] = {
  "kind: ddp",
  "kind: ddp, overlap: false",
  "kind: ddp, accumulation: 3",
  "kind: ddp, bucket: 200kB, first_bucket: 100kB",
  "kind: ddp, accumulation: 2, no_sync: false",
  "kind: zero, stage: 1",
  "kind: zero, stage: 1, overlap_comm: yes, reduce_bucket: 300000, accumulation: 2",
  "kind: zero, stage: 2",
  "kind: zero, stage: 2, reduce_bucket: 100000",
  "kind: zero, stage: 2, overlap_comm: yes, reduce_bucket: 100000",
  "kind: zero, stage: 2, accumulation: 2, offload: {optimizer: cpu}",
  "kind: zero, stage: 3",
  "kind: zero, stage: 3, reduce_bucket: 200000, prefetch_bucket: 100000, max_reuse_distance: 0",
  "kind: zero, stage: 3, reduce_bucket: 200000, overlap_comm: no, persistence_threshold: 0, accumulation: 2",
  "kind: zero, stage: 3, recompute: full, offload: {optimizer: cpu, parameters: cpu}",
  "kind: fsdp",
  "kind: fsdp, accumulation: 2",
  "kind: fsdp, accumulation: 2, no_sync: true",
  "kind: fsdp, recompute: full, in_flight: 1",
  "kind: fsdp, cpu_offload: true",
  "kind: megatron",
  "kind: megatron, bucket: 100000",
  "kind: megatron, distributed_optimizer: true, bucket: 100000, accumulation: 2",
  "kind: megatron, distributed_optimizer: true, parallel: {tensor: 2}",
  "kind: megatron, distributed_optimizer: true, parallel: {tensor: 2, sequence: true}",
  "kind: megatron, parallel: {pipeline: 2}, accumulation: 4",
  "kind: megatron, parallel: {pipeline: 4, schedule: gpipe}, accumulation: 4",
  "kind: megatron, parallel: {pipeline: 2, virtual: 2, schedule: interleaved}, accumulation: 4",
  "kind: megatron, parallel: {pipeline: 2, schedule: zero_bubble}, accumulation: 4",
  "kind: megatron, parallel: {pipeline: 2, schedule: zero_bubble_v}, accumulation: 4",
  "kind: megatron, distributed_optimizer: true, parallel: {pipeline: 2, schedule: v_half}, accumulation: 4",
  "kind: megatron, parallel: {pipeline: 2, schedule: dualpipe_v}, accumulation: 4",
  "kind: megatron, parallel: {pipeline: 2, schedule: dualpipe}, accumulation: 4",
  "kind: megatron, parallel: {context: 2}",
  "kind: megatron, parallel: {tensor: 2, sequence: true, overlap_tensor: true}",
  "kind: megatron, memory: {offload: cpu}, accumulation: 2",
  "kind: megatron, recompute: full",
  "kind: ddp, accumulation: 40",
  "kind: ddp, outer: {sites: 2, every: 10}",
  "kind: megatron, distributed_optimizer: true, outer: {sites: 2, overlap: true, every: 4}",
  "kind: zero, stage: 3, shard: 2, accumulation: 2",
  "kind: zero, stage: 3, shard: 2, offload: {optimizer: cpu}",
  "kind: zero, stage: 3, secondary: 2, quantized_weights: true, quantized_gradients: true",
};

/* A rank updates its parameters once, when it has computed all of its passes and all sums of gradients have ended; the
 * last of these begins behind the last backward pass, which has gradients of its own. */
static void
an_update_waits_for_all_gradients (G_GNUC_UNUSED void **state)
{
  for (guint j = 0; j < G_N_ELEMENTS (jobs); j++) {
    Order order = order_new (4, jobs[j]);

    for (guint c = 0; c < order.dag->n_classes; c++) {
      g_autoptr (GArray) updates = tasks_named (&order, c, "optimizer"),
                         forward = tasks_named (&order, c, "forward "),
                         backward = tasks_named (&order, c, "backward ");
      guint n_sums = 0, n_last = 0;

      assert_int_equal (updates->len, 1);
      assert_true (forward->len > 0 && backward->len > 0);
      for (guint i = 0; i < forward->len; i++)
        assert_true (is_before (&order, at (forward, i), at (updates, 0)));
      for (guint i = 0; i < backward->len; i++)
        assert_true (is_before (&order, at (backward, i), at (updates, 0)));
      for (FabTaskId t = 0; t < order.dag->n_tasks; t++) {
        if (class_of (&order, t) != c || !is_sum (&order, t))
          continue;
        if (!is_before (&order, t, at (updates, 0)))
          fail_msg ("%s: the update does not wait for %s", jobs[j],
                    order.dag->collectives[order.dag->tasks[t].collective].name);
        n_sums++;
        n_last += is_before (&order, at (backward, backward->len - 1), t);
      }
      if (n_sums > 0 && n_last == 0)
        fail_msg ("%s: no sum of class %u waits for its last backward pass", jobs[j], c);
    }
    order_clear (&order);
  }
}

/* At half of the peak the passes of all ranks together take as long as their FLOPs, however the model and the micro-
 * batches are divided, and a third of those that are not done twice is forward. Tasks have whole ps, hence the
 * tolerance. Beside passes updates take time, and so do copies of FSDP; nothing else does. */
static void
only_passes_updates_and_copies_take_time (G_GNUC_UNUSED void **state)
{
  static const char *const others[] = { "optimizer", ".copy_" };

  for (guint j = 0; j < G_N_ELEMENTS (jobs); j++) {
    g_autofree char *keys = g_strconcat (jobs[j], ", compute: {kind: mfu, mfu: 50%}", NULL);
    Order order = order_new (4, keys);
    const FabDag *dag = order.dag;
    const FabJobTotals *totals = fab_simulation_totals (order.play->simulation);
    double rate = fab_simulation_cluster (order.play->simulation)->device.peak_flops_per_s[FAB_PRECISION_BF16]
                / 2;
    double passes_s = 0, forward_s = 0;

    for (FabTaskId t = 0; t < dag->n_tasks; t++) {
      const char *name = dag->tasks[t].name;
      double seconds = fab_ps_to_seconds (fab_task_ps (&dag->tasks[t]))
                     * dag->classes[class_of (&order, t)].n_ranks;
      gboolean is_pass = FALSE, is_other = FALSE;

      if (dag->tasks[t].collective >= 0)
        continue;
      if (g_str_has_prefix (name, "forward ")) {
        forward_s += seconds;
        is_pass = TRUE;
      }
      is_pass |= g_str_has_prefix (name, "backward ") || g_str_has_prefix (name, "recompute ");
      passes_s += is_pass ? seconds : 0;
      for (guint i = 0; i < G_N_ELEMENTS (others); i++)
        is_other |= strstr (name, others[i]) != NULL;
      if (!is_pass && !is_other && seconds > 0)
        fail_msg ("%s: '%s' takes %g us", jobs[j], name, seconds * 1e6);
    }
    if (!is_near (passes_s, 4 * totals->executed_flops_per_rank / rate, 1e-4)
        || !is_near (3 * forward_s, 4 * totals->model_flops_per_rank / rate, 2e-4))
      fail_msg ("%s: passes take %g us, %g of them forward; their FLOPs %g us\n", jobs[j], passes_s * 1e6,
                forward_s * 1e6, 4 * totals->executed_flops_per_rank / rate * 1e6);
    order_clear (&order);
  }
}

/* A micro-batch has gone forward through a block before it comes back. */
static void
a_block_comes_back_after_it_went_forward (G_GNUC_UNUSED void **state)
{
  guint n_checked = 0;

  for (guint j = 0; j < G_N_ELEMENTS (jobs); j++) {
    Order order = order_new (4, jobs[j]);

    for (guint c = 0; c < order.dag->n_classes; c++)
      for (guint block = 0; block < 4; block++) {
        g_autofree char *forth = g_strdup_printf ("forward block%u", block),
                        *back = g_strdup_printf ("backward block%u", block);
        g_autoptr (GArray) forward = tasks_named (&order, c, forth), backward = tasks_named (&order, c, back);

        assert_int_equal (forward->len > 0, backward->len > 0);
        if (forward->len == 0)
          continue;
        assert_true (is_before (&order, at (forward, 0), at (backward, 0)));
        assert_true (is_before (&order, at (forward, forward->len - 1), at (backward, backward->len - 1)));
        n_checked++;
      }
    order_clear (&order);
  }
  assert_true (n_checked > 4 * G_N_ELEMENTS (jobs));
}

/* Nobody sends what nobody waits for, in this step or the next one. */
static void
every_collective_is_waited_for (G_GNUC_UNUSED void **state)
{
  for (guint j = 0; j < G_N_ELEMENTS (jobs); j++) {
    Order order = order_new (4, jobs[j]);
    const FabDag *dag = order.dag;
    g_autofree guint *n_waiting = g_new0 (guint, dag->n_collectives);

    for (FabTaskId t = 0; t < dag->n_tasks; t++) {
      if (dag->tasks[t].collective < 0)
        continue;
      for (guint e = dag->next_starts[t]; e < dag->next_starts[t + 1]; e++)
        n_waiting[dag->tasks[t].collective] += dag->tasks[dag->next[e]].stream != dag->tasks[t].stream;
      n_waiting[dag->tasks[t].collective] += dag->carried_starts[t + 1] - dag->carried_starts[t];
    }
    for (guint i = 0; i < dag->n_collectives; i++)
      if (n_waiting[i] == 0
          && strcmp (dag->collectives[i].name, "outer") != 0) /* its gather waits, on its stream */
        fail_msg ("%s: nothing waits for %s", jobs[j], dag->collectives[i].name);
    order_clear (&order);
  }
}

/* --- FSDP --- */

/* Uses of blocks: forward 0 to 3, backward 3 to 0. The gather of a use comes before it. With `in_flight` n it waits
 * for the use that is n before it, and not for the one behind that. */
static void
gathers_keep_their_distance (G_GNUC_UNUSED void **state)
{
  enum { N_USES = 8 };

  for (guint n = 1; n <= 3; n++) {
    g_autofree char *keys = g_strdup_printf ("kind: fsdp, in_flight: %u", n);
    Order order = order_new (4, keys);
    FabTaskId uses[N_USES], gathers[N_USES];
    guint n_uses = 0, n_gathers = 0;

    for (FabTaskId t = 0; t < order.dag->n_tasks; t++) {
      const FabTask *task = &order.dag->tasks[t];

      if (is_named (&order, t, "forward block") || is_named (&order, t, "backward block"))
        uses[n_uses++] = t;
      if (is_named (&order, t, "all_gather")
          && strstr (order.dag->collectives[task->collective].name, "block") != NULL)
        gathers[n_gathers++] = t;
    }
    assert_int_equal (n_uses, N_USES);
    assert_int_equal (n_gathers, N_USES);
    for (guint i = 0; i < N_USES; i++) {
      assert_true (is_before (&order, gathers[i], uses[i]));
      if (i < n)
        continue;
      assert_true (is_before (&order, uses[i - n], gathers[i]));
      assert_true (n == 1 || !is_before (&order, uses[i - n + 1], gathers[i]));
    }
    order_clear (&order);
  }
}

/* --- pipelines --- */

static FabTaskId
join_of (const Order *self, guint rank_class, const char *name)
{
  for (FabTaskId t = 0; t < self->dag->n_tasks; t++)
    if (self->dag->tasks[t].collective >= 0 && class_of (self, t) == rank_class
        && strcmp (self->dag->collectives[self->dag->tasks[t].collective].name, name) == 0)
      return t;
  fail_msg ("class %u does not take part in %s", rank_class, name);
  return 0;
}

/* Two stages of two blocks, 1f1b: activations of micro-batch m leave behind the m-th pass of block 1 and are there
 * before that of block 2; gradients leave behind the backward pass of block 2 and are there before that of block 1. */
static void
stages_wait_for_each_other (G_GNUC_UNUSED void **state)
{
  enum { N_MICRO = 4 };
  static const char *const schedules[] = { "1f1b", "gpipe" };

  for (guint s = 0; s < G_N_ELEMENTS (schedules); s++) {
    g_autofree char *keys = g_strdup_printf (
        "kind: megatron, parallel: {pipeline: 2, schedule: %s}, accumulation: %u", schedules[s], N_MICRO);
    Order order = order_new (2, keys);
    g_autoptr (GArray) leave = tasks_named (&order, 0, "forward block1"),
                       enter = tasks_named (&order, 1, "forward block2"),
                       return_ = tasks_named (&order, 1, "backward block2"),
                       end = tasks_named (&order, 0, "backward block1");

    assert_int_equal (leave->len, N_MICRO);
    assert_int_equal (enter->len, N_MICRO);
    for (guint m = 0; m < N_MICRO; m++) {
      g_autofree char *activation = g_strdup_printf ("activation0.%u", m),
                      *gradient = g_strdup_printf ("gradient0.%u", m);

      assert_true (is_before (&order, at (leave, m), join_of (&order, 0, activation)));
      assert_true (is_before (&order, join_of (&order, 1, activation), at (enter, m)));
      assert_true (is_before (&order, at (leave, m), at (enter, m)));
      assert_true (is_before (&order, at (return_, m), join_of (&order, 1, gradient)));
      assert_true (is_before (&order, join_of (&order, 0, gradient), at (end, m)));
    }
    /* The second micro-batch does not wait for the other stage. */
    assert_false (is_before (&order, at (enter, 0), at (leave, 1)));
    order_clear (&order);
  }
}

/* Two stages of two blocks whose experts two ranks share, and halves of a micro-batch that take turns: an exchange of
 * each half goes there and one comes back in each block. What a stage hands on waits for all of them, of both halves;
 * with gpipe all micro-batches go forward before the first comes back. */
static void
what_is_handed_on_waits_for_both_halves (G_GNUC_UNUSED void **state)
{
  enum { N_MICRO = 3, N_EXCHANGES = 2 * 2 * 2 };
  const char
      *const keys = "kind: megatron, accumulation: 3, parallel: {pipeline: 2, schedule: gpipe, expert: 2, "
                    "moe: {overlap: batches}}";
  g_autofree char *dense = g_strdup_printf (HEAD, 4, keys);
  g_auto (GStrv) parts = g_strsplit (dense, "biases: false", 2);
  g_autofree char *yaml = g_strjoinv ("biases: false, experts: {count: 4, per_token: 2}", parts);
  Order order = order_of (yaml);

  for (guint stage = 0; stage < 2; stage++)
    for (guint m = 0; m < N_MICRO; m++) {
      g_autofree char *name = g_strdup_printf (stage == 0 ? "activation0.%u" : "gradient0.%u", m);
      FabTaskId handed = join_of (&order, stage, name);
      guint n = 0;

      for (FabTaskId t = 0; t < order.dag->n_tasks; t++) {
        gint32 collective = order.dag->tasks[t].collective;

        if (class_of (&order, t) == stage && collective >= 0
            && order.dag->collectives[collective].dimension == FAB_DIMENSION_EXPERT)
          n += is_before (&order, t, handed);
      }
      assert_int_equal (n, N_EXCHANGES * (stage == 0 ? m + 1 : N_MICRO + m + 1));
    }
  order_clear (&order);
}

/* Two stages of two tensor-parallel and two data-parallel ranks. The second stage sums its gradients when the last sum
 * of its last backward pass has ended, and without `overlap_p2p` when it has sent the result too. */
static void
gradients_wait_for_the_end_of_the_last_pass (G_GNUC_UNUSED void **state)
{
  for (guint overlaps = 0; overlaps < 2; overlaps++) {
    g_autofree char *keys = g_strdup_printf (
        "kind: megatron, accumulation: 2, parallel: {tensor: 2, pipeline: 2, overlap_p2p: %s}",
        overlaps ? "true" : "false");
    Order order = order_new (8, keys);
    FabTaskId send = join_of (&order, 1, "gradient0.1");
    guint n_sums = 0, n_tensor = 0;

    for (FabTaskId sum = 0; sum < order.dag->n_tasks; sum++) {
      if (class_of (&order, sum) != 1 || !is_sum (&order, sum))
        continue;
      n_sums++;
      assert_int_equal (is_before (&order, send, sum), !overlaps);
      for (FabTaskId t = 0; t < order.dag->n_tasks; t++) {
        gint32 collective = order.dag->tasks[t].collective;

        if (class_of (&order, t) != 1 || collective < 0
            || order.dag->collectives[collective].dimension != FAB_DIMENSION_TENSOR)
          continue;
        n_tensor++;
        assert_true (is_before (&order, t, sum));
      }
    }
    assert_true (n_sums > 0 && n_tensor > 0);
    order_clear (&order);
  }
}

/* --- ZB-V --- */

enum { V_STAGES = 4, V_PARTS = 2 * V_STAGES, V_MICRO = 7, V_TOKENS = 4096, V_WORDS = 4000 };

/* Blocks of each part: the second stage, with parts 1 and 6, has the most, and the first one the head. */
static const guint v_blocks[V_PARTS] = { 1, 3, 1, 1, 1, 1, 1, 1 };

/* The letters of a stage's passes: F and f are forward through its first and second part, B and b backward through
 * these, of activations or of weights. Every pass has a task of the block with which it begins. (transfer full) */
static char *
letters_of_dag (const Order *self, guint stage)
{
  GString *text = g_string_new (NULL);
  const char *before = "";

  for (FabTaskId t = 0; t < self->dag->n_tasks; t++) {
    const char *name = self->dag->tasks[t].name;

    if (class_of (self, t) != stage || self->dag->tasks[t].collective >= 0
        || strstr (name, "recompute") != NULL)
      continue;
    for (guint part = 0, first = 0; part < V_PARTS; first += v_blocks[part++]) {
      g_autofree char *forward = g_strdup_printf ("forward block%u", first),
                      *backward = g_strdup_printf ("backward block%u", first + v_blocks[part] - 1),
                      *tensor = g_strconcat (backward, ".", NULL);
      gboolean is_back = strcmp (name, backward) == 0
                      || (g_str_has_prefix (name, tensor) && !g_str_has_prefix (before, tensor));

      if (strcmp (name, forward) == 0)
        g_string_append_c (text, part < V_STAGES ? 'F' : 'f');
      else if (is_back)
        g_string_append_c (text, part < V_STAGES ? 'B' : 'b');
    }
    before = name;
  }
  return g_string_free (text, FALSE);
}

/* (transfer full) */
static char *
letters_of_actions (const GArray *actions)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < actions->len; i++) {
    const Action *action = &g_array_index (actions, Action, i);

    g_string_append_c (text, (action->kind == ACTION_FORWARD ? "Ff" : "Bb")[action->chunk]);
  }
  return g_string_free (text, FALSE);
}

/* The rules of ZB-V follow the times of passes: the median over the stages of those through one of their parts, in ns.
 * That is here the first stage's, a block and half of the head, the third of four in order. Attention has no weights,
 * and takes twice as long backward; a block that is recomputed goes forward before its activations go back. */
static void
zbv_follows_the_times_of_the_middle_stage (G_GNUC_UNUSED void **state)
{
  const double h = 256, matrices = 24 * h * h, scores = 4.0 * V_TOKENS * h, head = 2.0 * V_WORDS * h / 2;

  for (guint is_again = 0; is_again < 2; is_again++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: order\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"
        "cluster: {node: dgx-h100, nodes: 1, gpus_per_node: %d}\n"
        "models: [{name: m, summary: s, source: s, date: \"2026-11-30\", shape: {kind: transformer, layers: 10, "
        "hidden: 256, heads: 4, vocabulary: %d, tied: false, biases: false}}]\n"
        "job: {kind: megatron, model: m, micro_batch: 1, sequence: %d, clip_gradients: false, accumulation: %d, "
        "recompute: %s, compute: {kind: mfu, mfu: 50%%}, parallel: {pipeline: %d, schedule: zero_bubble_v, "
        "layers: [1, 3, 1, 1, 1, 1, 1, 1]}}\n",
        V_STAGES, V_WORDS, V_TOKENS, V_MICRO, is_again ? "full" : "none", V_STAGES);
    Order order = order_of (yaml);
    double rate = fab_simulation_cluster (order.play->simulation)->device.peak_flops_per_s[FAB_PRECISION_BF16]
                / 2;
    double ns = 1e9 * V_TOKENS / rate, again = is_again ? matrices + scores : 0;
    const PipelineSize size = { .n_stages = V_STAGES,
                                .n_virtual = 1,
                                .n_micro = V_MICRO,
                                .forward_cost = (guint) ((matrices + scores + head) * ns),
                                .inputs_cost = (guint) ((matrices + 2 * scores + head + again) * ns),
                                .weights_cost = (guint) ((matrices + head) * ns) };
    g_autoptr (GPtrArray) actions = pipeline_actions (pipeline_schedule_named ("zero_bubble_v"), &size);

    for (guint stage = 0; stage < V_STAGES; stage++) {
      g_autofree char *expected = letters_of_actions (g_ptr_array_index (actions, stage)),
                      *letters = letters_of_dag (&order, stage);

      assert_string_equal (letters, expected);
    }
    order_clear (&order);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (an_update_waits_for_all_gradients),
    cmocka_unit_test (only_passes_updates_and_copies_take_time),
    cmocka_unit_test (a_block_comes_back_after_it_went_forward),
    cmocka_unit_test (every_collective_is_waited_for),
    cmocka_unit_test (gathers_keep_their_distance),
    cmocka_unit_test (stages_wait_for_each_other),
    cmocka_unit_test (what_is_handed_on_waits_for_both_halves),
    cmocka_unit_test (gradients_wait_for_the_end_of_the_last_pass),
    cmocka_unit_test (zbv_follows_the_times_of_the_middle_stage),
  };

  return play_run_tests ("order", tests, &catalog);
}
