/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_graph.c - graphs of ranks for other simulators (sim/run/job_graph.c): played without a network they end,
 * every message has two ends, and bytes are those of the textbook.
 */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/run/job_graph.h"
#include "tests/support/play.h"

#define HEAD                                                                                               \
  "name: graph\niterations: 1\nfold: false\n"                                                              \
  "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 2, nics_per_node: 2}\n"                              \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 4, " \
  "hidden: 256, heads: 4, vocabulary: 1000, tied: false, biases: false}}]\n%s\n"
#define JOB "job: {model: m, micro_batch: 1, sequence: 16, clip_gradients: false, %s}"

#define SUM "job: {kind: collective, operations: [{op: all_reduce, size: 10MB}]}"

enum { N_RANKS = 4 };

static FabCatalog *catalog;

static const char *const jobs[] = {
  "kind: ddp",
  "kind: ddp, accumulation: 2, bucket: 200kB, first_bucket: 100kB",
  "kind: zero, stage: 1",
  "kind: zero, stage: 3",
  "kind: fsdp",
  "kind: fsdp, sharding: hybrid",
  "kind: megatron, parallel: {tensor: 2}",
  "kind: megatron, distributed_optimizer: true, parallel: {tensor: 2, sequence: true}",
  "kind: megatron, parallel: {pipeline: 2}, accumulation: 4",
  "kind: megatron, parallel: {pipeline: 2, tensor: 2}, accumulation: 2",
  "kind: megatron, parallel: {context: 2}",
  "kind: megatron, memory: {offload: cpu}",
  "collectives: {kind: plain, algorithm: hierarchical}\n" SUM,
  "collectives: {kind: plain, algorithm: themis}\n" SUM,
  "collectives: {kind: mpi, algorithm: halving_doubling}\n" SUM,
  "collectives: {kind: mpi, algorithm: binomial}\n" SUM,
  "collectives: {kind: nccl, algorithm: tree}\n" SUM,
  "job: {kind: traffic, pattern: shift, size: 1MB}",
};

/* Nothing but a collective, which need not take time without a network. */
static gboolean
is_sum (const char *job)
{
  return g_str_has_suffix (job, SUM);
}

/* The graphs of a job, and what a player has done of them. */
typedef struct {
  Play *play;
  FabJobGraph *graph;
  GArray *nodes[N_RANKS], *deps[N_RANKS];
  double *ends[N_RANKS];     /* in ps; below 0: not yet */
  GHashTable *sent;          /* from tag + 1 to the node of the send, of all ranks: (rank << 24 | node) + 1 */
  guint *instances[N_RANKS]; /* of a collective node: how many of its group are before it */
} Graphs;

static const FabJobNode *
node_at (const Graphs *self, guint rank, guint i)
{
  return &g_array_index (self->nodes[rank], FabJobNode, i);
}

static Graphs
graphs_new (const char *job, gboolean has_messages)
{
  g_autofree char *text = strstr (job, "kind:") == job ? g_strdup_printf (JOB, job) : g_strdup (job);
  g_autofree char *yaml = g_strdup_printf (HEAD, text);
  Graphs self = { .play = play_new (catalog, yaml, NULL), .sent = g_hash_table_new (NULL, NULL) };
  g_autoptr (GError) error = NULL;

  self.graph = fab_job_graph_new (self.play->simulation, has_messages, &error);
  if (self.graph == NULL)
    fail_msg ("%s: %s", job, error->message);
  assert_int_equal (fab_job_graph_n_ranks (self.graph), N_RANKS);
  for (guint r = 0; r < N_RANKS; r++) {
    self.nodes[r] = g_array_new (FALSE, FALSE, sizeof (FabJobNode));
    self.deps[r] = g_array_new (FALSE, FALSE, sizeof (guint));
    fab_job_graph_rank (self.graph, r, self.nodes[r], self.deps[r]);
    self.ends[r] = g_new (double, self.nodes[r]->len + 1);
    self.instances[r] = g_new0 (guint, self.nodes[r]->len + 1);
    for (guint i = 0; i < self.nodes[r]->len; i++) {
      self.ends[r][i] = -1;
      if (node_at (&self, r, i)->kind == FAB_JOB_SEND)
        g_hash_table_insert (self.sent, GUINT_TO_POINTER (node_at (&self, r, i)->tag + 1),
                             GUINT_TO_POINTER ((r << 24 | i) + 1));
      for (guint j = 0; j < i && node_at (&self, r, i)->kind == FAB_JOB_COLLECTIVE; j++)
        self.instances[r][i] += node_at (&self, r, j)->kind == FAB_JOB_COLLECTIVE
                             && node_at (&self, r, j)->group == node_at (&self, r, i)->group;
    }
  }
  return self;
}

static void
graphs_clear (Graphs *self)
{
  for (guint r = 0; r < N_RANKS; r++) {
    g_array_unref (self->nodes[r]);
    g_array_unref (self->deps[r]);
    g_free (self->ends[r]);
    g_free (self->instances[r]);
  }
  g_hash_table_unref (self->sent);
  fab_job_graph_free (self->graph);
  play_free (self->play);
}

/* --- a player without a network --- */

/* When all nodes that it names are done; below 0: not yet. */
static double
ready (const Graphs *self, guint rank, guint i)
{
  const FabJobNode *node = node_at (self, rank, i);
  double ready_ps = 0;

  for (guint d = 0; d < node->n_deps; d++) {
    double end = self->ends[rank][g_array_index (self->deps[rank], guint, node->first_dep + d)];

    if (end < 0)
      return -1;
    ready_ps = MAX (ready_ps, end);
  }
  return ready_ps;
}

/* The node of another rank that is the same collective. */
static guint
same_collective (const Graphs *self, guint rank, guint i, guint other)
{
  const FabJobNode *node = node_at (self, rank, i);

  for (guint j = 0; j < self->nodes[other]->len; j++)
    if (node_at (self, other, j)->kind == FAB_JOB_COLLECTIVE && node_at (self, other, j)->group == node->group
        && self->instances[other][j] == self->instances[rank][i])
      return j;
  fail_msg ("rank %u has no collective of group %u", other, node->group);
  return 0;
}

/* When a node ends; below 0: not yet. A message takes no time, and a collective ends when its last rank is there. */
static double
end_of (const Graphs *self, guint rank, guint i)
{
  const FabJobNode *node = node_at (self, rank, i);
  double end = ready (self, rank, i);

  if (end >= 0 && node->kind == FAB_JOB_RECEIVE) {
    guint send = GPOINTER_TO_UINT (g_hash_table_lookup (self->sent, GUINT_TO_POINTER (node->tag + 1))) - 1;
    double left = self->ends[send >> 24][send & 0xffffff];

    return left < 0 ? -1 : MAX (end, left);
  }
  if (end >= 0 && node->kind == FAB_JOB_COLLECTIVE) {
    const GArray *ranks = fab_job_graph_group (self->graph, node->group);

    for (guint r = 0; r < ranks->len; r++) {
      guint other = g_array_index (ranks, guint, r);
      double there = ready (self, other, same_collective (self, rank, i, other));

      if (there < 0)
        return -1;
      end = MAX (end, there);
    }
  }
  return end < 0 ? -1 : end + (double) node->duration_ps;
}

/* Returns when the last node ends. */
static double
play_all (Graphs *self)
{
  gboolean is_moving = TRUE;
  double last = 0;

  while (is_moving) {
    is_moving = FALSE;
    for (guint r = 0; r < N_RANKS; r++)
      for (guint i = 0; i < self->nodes[r]->len; i++)
        if (self->ends[r][i] < 0 && (self->ends[r][i] = end_of (self, r, i)) >= 0)
          is_moving = TRUE;
  }
  for (guint r = 0; r < N_RANKS; r++)
    for (guint i = 0; i < self->nodes[r]->len; i++) {
      if (self->ends[r][i] < 0)
        fail_msg ("node %u of rank %u never ends", i, r);
      last = MAX (last, self->ends[r][i]);
    }
  return last;
}

/* The same of the DAG: the longest way through it, where collectives take no time, and messages what software takes
 * before them. */
static double
play_dag (const FabDag *dag, gboolean has_messages)
{
  g_autofree double *begins = g_new0 (double, dag->n_tasks), *ends = g_new (double, dag->n_tasks);
  gboolean is_moving = TRUE;
  double last = 0;

  while (is_moving) { /* begins only grow until they are right */
    is_moving = FALSE;
    for (guint t = 0; t < dag->n_tasks; t++) {
      gint32 c = dag->tasks[t].collective;
      const FabCollectivePlan *plan = c >= 0 ? &dag->collectives[c].plan : NULL;

      ends[t] = begins[t]
              + (double) (plan == NULL                                   ? fab_task_ps (&dag->tasks[t])
                          : has_messages || plan->op == FAB_OP_SEND_RECV ? plan->startup_ps - plan->latency_ps
                                                                         : 0);
      last = MAX (last, ends[t]);
      for (guint e = dag->next_starts[t]; e < dag->next_starts[t + 1]; e++)
        if (begins[dag->next[e]] < ends[t]) {
          begins[dag->next[e]] = ends[t];
          is_moving = TRUE;
        }
      for (guint u = 0; c >= 0 && u < dag->n_tasks; u++)
        if (dag->tasks[u].collective == c && begins[u] < begins[t]) {
          begins[u] = begins[t];
          is_moving = TRUE;
        }
    }
  }
  return last;
}

/* Ranks agree, nothing waits for ever, and the whole takes as long as the job without its network. Where ranks
 * send to each other, a sender need not wait for the receiver, as it does in a collective. */
static void
graphs_take_as_long_as_the_job (G_GNUC_UNUSED void **state)
{
  for (guint j = 0; j < 2 * G_N_ELEMENTS (jobs); j++) {
    const char *job = jobs[j / 2];
    gboolean has_messages = j % 2 == 1;
    Graphs graphs = graphs_new (job, has_messages);
    double found = play_all (&graphs),
           expected = play_dag (fab_simulation_dag (graphs.play->simulation), has_messages);

    assert_true (found > 0 || is_sum (job));
    if (strstr (job, "pipeline") == NULL && strstr (job, "context") == NULL)
      assert_near (found, expected, 1e-9);
    else
      assert_true (found <= expected * (1 + 1e-9));
    graphs_clear (&graphs);
  }
}

/* No node comes before one that it names, and they are as many as is said. */
static void
nodes_are_in_order_and_counted (G_GNUC_UNUSED void **state)
{
  for (guint j = 0; j < 2 * G_N_ELEMENTS (jobs); j++) {
    Graphs graphs = graphs_new (jobs[j / 2], j % 2 == 1);
    guint64 n = 0;

    for (guint r = 0; r < N_RANKS; r++) {
      guint64 streams = 0;

      n += graphs.nodes[r]->len;
      for (guint i = 0; i < graphs.nodes[r]->len; i++) {
        const FabJobNode *node = node_at (&graphs, r, i);

        assert_true (node->stream < 16);
        streams |= G_GUINT64_CONSTANT (1) << node->stream;

        assert_true (node->first_dep + node->n_deps <= graphs.deps[r]->len);
        assert_non_null (node->name);
        for (guint d = 0; d < node->n_deps; d++)
          assert_true (g_array_index (graphs.deps[r], guint, node->first_dep + d) < i);
      }
      /* Of computation, and some of communication. */
      assert_true (streams > (is_sum (jobs[j / 2]) ? 0 : 1) && streams < 1 << 8);
    }
    assert_int_equal (fab_job_graph_n_nodes (graphs.graph), n);
    graphs_clear (&graphs);
  }
}

/* A tag is of one message, which its sender and its receiver say alike. */
static void
every_message_has_two_ends (G_GNUC_UNUSED void **state)
{
  for (guint j = 0; j < G_N_ELEMENTS (jobs); j++) {
    Graphs graphs = graphs_new (jobs[j], TRUE);
    guint n_sends = 0, n_receives = 0;

    for (guint r = 0; r < N_RANKS; r++)
      for (guint i = 0; i < graphs.nodes[r]->len; i++) {
        const FabJobNode *node = node_at (&graphs, r, i);

        assert_true (node->kind != FAB_JOB_COLLECTIVE);
        n_sends += node->kind == FAB_JOB_SEND;
        if (node->kind != FAB_JOB_RECEIVE)
          continue;
        guint send = GPOINTER_TO_UINT (g_hash_table_lookup (graphs.sent, GUINT_TO_POINTER (node->tag + 1)));
        assert_true (send > 0);
        const FabJobNode *other = node_at (&graphs, (send - 1) >> 24, (send - 1) & 0xffffff);
        assert_int_equal (other->peer, r);
        assert_int_equal (node->peer, (send - 1) >> 24);
        assert_true (node->bytes == other->bytes && node->bytes > 0);
        n_receives++;
      }
    assert_int_equal (n_sends, n_receives);
    assert_int_equal (n_sends, g_hash_table_size (graphs.sent));
    assert_true (n_sends > 0);
    graphs_clear (&graphs);
  }
}

/* A ring over n ranks sends 2 (n - 1) / n of an all-reduce, half of it of an all-gather; trees send it up and down.
 * In one node of the graph without messages there is all of it. */
static void
messages_carry_the_bytes_of_the_textbook (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *op, *algorithm;
    double sent; /* of all ranks together, per byte */
  } rows[] = { { "all_reduce", "ring", 2 * 3 },
               { "all_gather", "ring", 3 },
               { "reduce_scatter", "ring", 3 },
               { "broadcast", "ring", 3 },
               { "all_reduce", "tree", 2 * 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *job = g_strdup_printf (
        "collectives: {algorithm: %s}\njob: {kind: collective, operations: [{op: %s, size: 1MB}]}",
        rows[i].algorithm, rows[i].op);
    Graphs messages = graphs_new (job, TRUE), whole = graphs_new (job, FALSE);
    double bytes = 0;

    for (guint r = 0; r < N_RANKS; r++) {
      guint n_collectives = 0;

      for (guint k = 0; k < messages.nodes[r]->len; k++)
        if (node_at (&messages, r, k)->kind == FAB_JOB_SEND)
          bytes += (double) node_at (&messages, r, k)->bytes;
      for (guint k = 0; k < whole.nodes[r]->len; k++) {
        const FabJobNode *node = node_at (&whole, r, k);

        if (node->kind != FAB_JOB_COLLECTIVE)
          continue;
        n_collectives++;
        assert_int_equal (node->bytes, 1000000);
        assert_string_equal (fab_op_names[node->op], rows[i].op);
        assert_int_equal (fab_job_graph_group (whole.graph, node->group)->len, N_RANKS);
      }
      assert_int_equal (n_collectives, 1);
    }
    assert_near (bytes, rows[i].sent * 1e6, 1e-3);
    assert_int_equal (fab_job_graph_n_groups (whole.graph), 1);
    graphs_clear (&messages);
    graphs_clear (&whole);
  }
}

/* Two ranks of each node share matrices, and one of each node the gradients: two groups each, in ascending order. */
static void
groups_are_those_of_the_dimensions (G_GNUC_UNUSED void **state)
{
  static const guint expected[4][2] = { { 0, 1 }, { 2, 3 }, { 0, 2 }, { 1, 3 } };
  Graphs graphs = graphs_new ("kind: megatron, parallel: {tensor: 2}", FALSE);
  guint n_found = 0;

  assert_int_equal (fab_job_graph_n_groups (graphs.graph), 4);
  for (guint g = 0; g < 4; g++)
    for (guint e = 0; e < 4; e++) {
      const GArray *ranks = fab_job_graph_group (graphs.graph, g);

      assert_int_equal (ranks->len, 2);
      n_found += g_array_index (ranks, guint, 0) == expected[e][0]
              && g_array_index (ranks, guint, 1) == expected[e][1];
    }
  assert_int_equal (n_found, 4);
  graphs_clear (&graphs);
  graphs = graphs_new ("kind: fsdp", FALSE); /* of two operations over the same ranks */
  assert_int_equal (fab_job_graph_n_groups (graphs.graph), 1);
  graphs_clear (&graphs);
}

/* Where switches reduce, no rank sends to another one. Ranks of a group are those whose data the switch adds. */
static void
switches_that_reduce_join_their_ranks (G_GNUC_UNUSED void **state)
{
  static const char nvls[] =
      "name: graph\niterations: 1\nfold: false\n"
      "cluster: {node: dgx-h100, nodes: 1}\ncollectives: {kind: nccl, algorithm: nvls}\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, "
      "layers: 4, hidden: 256, heads: 8, vocabulary: 1000, tied: false, biases: false}}]\n"
      "job: {kind: megatron, model: m, micro_batch: 1, sequence: 16, clip_gradients: false, "
      "parallel: {tensor: 4}}\n";
  g_autoptr (Play) play = play_new (catalog, nvls, NULL);
  g_autoptr (FabJobGraph) whole = fab_job_graph_new (play->simulation, FALSE, NULL);
  g_autoptr (GError) error = NULL;
  guint n_tensor = 0;

  assert_null (fab_job_graph_new (play->simulation, TRUE, &error));
  assert_non_null (strstr (error->message, "switches reduce in '"));
  assert_int_equal (error->code, FAB_ERROR_INPUT);
  for (guint g = 0; g < fab_job_graph_n_groups (whole); g++) {
    const GArray *ranks = fab_job_graph_group (whole, g);
    guint first = g_array_index (ranks, guint, 0);

    if (ranks->len != 4)
      continue;
    n_tensor++;
    assert_true (first == 0 || first == 4);
    for (guint i = 0; i < 4; i++)
      assert_int_equal (g_array_index (ranks, guint, i), first + i);
  }
  assert_int_equal (n_tensor, 2);
  fab_job_graph_free (NULL); /* what could not be made */
}

/* --- message by message --- */

/* "2 send 3: 5 as 1 after 0": node 2 sends 5 bytes to rank 3, with tag 1, when node 0 is done. (transfer full) */
static char *
rank_text (const Graphs *graphs, guint rank)
{
  static const char *const kinds[] = { "work", "send", "receive", "collective" };
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < graphs->nodes[rank]->len; i++) {
    const FabJobNode *node = node_at (graphs, rank, i);

    g_string_append_printf (text, "%u %s", i, kinds[node->kind]);
    if (node->kind == FAB_JOB_WORK)
      g_string_append_printf (text, " %" G_GINT64_FORMAT, node->duration_ps);
    else
      g_string_append_printf (text, " %u: %" G_GUINT64_FORMAT " as %u", node->peer, node->bytes, node->tag);
    for (guint d = 0; d < node->n_deps; d++)
      g_string_append_printf (text, "%s%u", d == 0 ? " after " : " ",
                              g_array_index (graphs->deps[rank], guint, node->first_dep + d));
    g_string_append_c (text, '\n');
  }
  return g_string_free (text, FALSE);
}

/* Rank 0 sends to rank 1, and when that has left to rank 2, and so on to rank 3. */
static const char one_after_the_other[] = "num_ranks 4\n"
                                          "rank 0 {\nl1: send 100b to 1 tag 1\nl2: send 100b to 2 tag 2\n"
                                          "l3: send 100b to 3 tag 3\nl2 requires l1\nl3 requires l2\n}\n"
                                          "rank 1 {\nl1: recv 100b from 0 tag 1\n}\n"
                                          "rank 2 {\nl1: recv 100b from 0 tag 2\n}\n"
                                          "rank 3 {\nl1: recv 100b from 0 tag 3\n}\n";

/* What each algorithm is known for, written down by hand. Two rings carry half of a broadcast each, and a rank
 * passes on what has come. Where calls block, a rank takes one message after another, and passes on what it has
 * taken: a tree of an MPI adds 1 to 0 and 3 to 2, then 2 to 0. Ranks that exchange halves and then quarters with
 * their partners are done with the same in reverse; the second exchange of quarters waits for both ends of the
 * first. Two double trees take the bytes up, one message of each half, and send them down again. A file says itself
 * what waits for what. The library's time before a message, here 0.5 us, is work. */
static void
messages_wait_for_what_they_carry (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *library, *op;
    guint bytes, rank;
    const char *text;
  } rows[] = {
    { "kind: plain, algorithm: ring", "broadcast", 10, 0,
      "0 work 0\n1 send 1: 5 as 0 after 0\n2 send 2: 5 as 3 after 0\n3 work 0 after 0 1 2\n" },
    { "kind: plain, algorithm: ring", "broadcast", 10, 1,
      "0 work 0\n1 receive 0: 5 as 0 after 0\n2 receive 3: 5 as 5 after 0\n3 send 3: 5 as 1 after 1\n"
      "4 work 0 after 0 3 1 2\n" },
    { "kind: mpi, algorithm: binomial", "reduce", 10, 0,
      "0 work 500000\n1 receive 1: 10 as 0 after 0\n2 receive 2: 10 as 2 after 0 1\n3 work 0 after 0 1 2\n" },
    { "kind: mpi, algorithm: binomial", "reduce", 10, 2,
      "0 work 500000\n1 receive 3: 10 as 1 after 0\n2 send 0: 10 as 2 after 1\n3 work 0 after 0 2 1\n" },
    { "kind: mpi, algorithm: binomial", "broadcast", 10, 0,
      "0 work 500000\n1 send 1: 10 as 0 after 0\n2 send 2: 10 as 1 after 0\n3 work 0 after 0 1 2\n" },
    { "kind: mpi, algorithm: halving_doubling", "all_reduce", 100, 0,
      "0 work 1000000\n1 receive 1: 50 as 1 after 0\n2 receive 2: 25 as 6 after 0 1\n"
      "3 receive 2: 25 as 10 after 0 2 2\n4 receive 1: 50 as 13 after 0 3\n5 send 1: 50 as 0 after 0\n"
      "6 send 2: 25 as 4 after 1 5\n7 send 2: 25 as 8 after 2 6 2 6\n8 send 1: 50 as 12 after 3 7\n"
      "9 work 0 after 0 5 6 7 8 1 2 3 4\n" },
    { "kind: plain, algorithm: tree", "all_reduce", 10, 0,
      "0 work 0\n1 receive 2: 3 as 1 after 0\n2 receive 1: 3 as 2 after 0\n3 receive 1: 3 as 6 after 0\n"
      "4 receive 2: 3 as 10 after 0\n5 receive 1: 3 as 15 after 0\n6 receive 1: 3 as 23 after 0\n"
      "7 send 1: 3 as 3 after 2 1\n8 send 2: 3 as 4 after 2 1\n9 send 2: 3 as 7 after 3\n"
      "10 send 1: 3 as 11 after 4\n11 send 1: 3 as 14 after 0\n12 send 1: 3 as 18 after 0\n"
      "13 work 0 after 0 7 8 9 10 11 12 1 2 3 4 5 6\n" },
    { "kind: plain", "all_to_all", 400, 1,
      "0 work 0\n1 receive 0: 100 as 0 after 0\n2 receive 3: 100 as 7 after 0\n3 receive 2: 100 as 10 after 0\n"
      "4 send 2: 100 as 1 after 0\n5 send 3: 100 as 5 after 0\n6 send 0: 100 as 9 after 0\n"
      "7 work 0 after 0 4 5 6 1 2 3\n" },
    { "kind: plain}\nschedules: [{file: FILE, op: broadcast, size: 100B}", "broadcast", 100, 0,
      "0 work 0\n1 send 1: 100 as 0 after 0\n2 send 2: 100 as 1 after 1\n3 send 3: 100 as 2 after 2\n"
      "4 work 0 after 0 1 2 3\n" },
  };
  g_autofree char *folder = g_dir_make_tmp ("graph-XXXXXX", NULL),
                  *file = g_build_filename (folder, "a.goal", NULL);

  assert_true (g_file_set_contents (file, one_after_the_other, -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_auto (GStrv) library = g_strsplit (rows[i].library, "FILE", -1);
    g_autofree char *here = g_strjoinv (file, library);
    g_autofree char *job = g_strdup_printf (
        "collectives: {%s%s\njob: {kind: collective, operations: [{op: %s, size: %uB}]}", here,
        strchr (here, '[') != NULL ? "]" : "}", rows[i].op, rows[i].bytes);
    Graphs graphs = graphs_new (job, TRUE);
    g_autofree char *text = rank_text (&graphs, rows[i].rank);

    assert_string_equal (text, rows[i].text);
    graphs_clear (&graphs);
  }
  g_remove (file);
  g_rmdir (folder);
}

/* Of a message whose share is no whole number, the bytes of all messages up to it are rounded: a ring of four sends
 * 12.5 bytes six times. */
static void
bytes_are_rounded_in_sum (G_GNUC_UNUSED void **state)
{
  Graphs graphs = graphs_new ("collectives: {kind: plain, algorithm: ring}\n"
                              "job: {kind: collective, operations: [{op: all_reduce, size: 100B}]}",
                              TRUE);

  for (guint r = 0; r < N_RANKS; r++) {
    guint n_sends = 0;

    for (guint i = 0; i < graphs.nodes[r]->len; i++)
      if (node_at (&graphs, r, i)->kind == FAB_JOB_SEND) {
        const FabJobNode *node = node_at (&graphs, r, i);

        /* Each one but the first of its lane waits for the one before, and for what it passes on. */
        assert_int_equal (node->bytes, n_sends % 2 == 0 ? 13 : 12);
        assert_int_equal (node->n_deps, n_sends % 6 == 0 ? 1 : 2);
        if (n_sends++ % 6 > 0)
          assert_int_equal (g_array_index (graphs.deps[r], guint, node->first_dep), i - 1);
      }
    assert_int_equal (n_sends, 12);
  }
  graphs_clear (&graphs);
}

/* Requests are computed by some ranks when another one has begun, which no message tells them. */
static void
ranks_that_wait_without_a_message_cannot_be_told (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = g_strdup_printf (HEAD,
                                           "job: {kind: kv, model: m, prompt: 100, prefill: 2, decode: 2}");
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  for (guint has_messages = 0; has_messages < 2; has_messages++) {
    g_autoptr (GError) error = NULL;

    assert_null (fab_job_graph_new (play->simulation, has_messages == 1, &error));
    assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
    if (strstr (error->message, " of one rank waits for 'start' of another without a message between them")
        == NULL)
      fail_msg ("%s", error->message);
  }
}

/* --- recorded steps --- */

/* A kernel of some us, and a sum over all four ranks, in each of n_steps steps of 100 us. (transfer full) */
static char *
trace_of (guint rank, guint us, guint n_steps)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "{\"distributedInfo\":{\"rank\":%u,\"world_size\":4},\"traceEvents\":[",
                          rank);
  for (guint s = 0; s < n_steps; s++)
    g_string_append_printf (
        text,
        "%s{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%u\",\"ts\":%u.0,\"dur\":100.0},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"ts\":%u.0,\"dur\":%u.0,\"args\":{\"stream\":7}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\",\"ts\":%u.0,\"dur\":5.0,\"args\":"
        "{\"stream\":20,\"Group size\":4,\"Process Group Ranks\":\"[0, 1, 2, 3]\"}}",
        s > 0 ? "," : "", s, s * 100, s * 100, us, s * 100 + us);
  g_string_append (text, "]}");
  return g_string_free (text, FALSE);
}

/* Ranks of a trace that do the same have a graph each, also where others stand between them, and where nothing is known
 * of the next step. */
static void
recorded_ranks_have_their_own_work (G_GNUC_UNUSED void **state)
{
  static const guint us[][N_RANKS] = {
    { 10, 10, 10, 10 }, { 10, 11, 10, 10 }, { 11, 10, 10, 12 }, { 10, 11, 12, 13 }
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (us); i++) {
    g_autofree char *folder = g_dir_make_tmp ("graph-XXXXXX", NULL),
                    *job = g_strdup_printf ("job: {kind: trace, file: %s}", folder);

    for (guint r = 0; r < N_RANKS; r++) {
      g_autofree char *name = g_strdup_printf ("%s/%u.json", folder, r),
                      *text = trace_of (r, us[i / 2][r], 1 + i % 2);

      assert_true (g_file_set_contents (name, text, -1, NULL));
    }
    Graphs graphs = graphs_new (job, FALSE);
    assert_int_equal (fab_job_graph_n_groups (graphs.graph), 1);
    assert_int_equal (fab_job_graph_group (graphs.graph, 0)->len, N_RANKS);
    for (guint r = 0; r < N_RANKS; r++) {
      guint n_kernels = 0;

      for (guint k = 0; k < graphs.nodes[r]->len; k++)
        if (strcmp (node_at (&graphs, r, k)->name, "a") == 0) {
          assert_int_equal (node_at (&graphs, r, k)->duration_ps, us[i / 2][r] * G_GINT64_CONSTANT (1000000));
          n_kernels++;
        }
      assert_int_equal (n_kernels, 1);
      g_autofree char *name = g_strdup_printf ("%s/%u.json", folder, r);
      g_remove (name);
    }
    graphs_clear (&graphs);
    g_rmdir (folder);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (graphs_take_as_long_as_the_job),
    cmocka_unit_test (nodes_are_in_order_and_counted),
    cmocka_unit_test (every_message_has_two_ends),
    cmocka_unit_test (messages_carry_the_bytes_of_the_textbook),
    cmocka_unit_test (groups_are_those_of_the_dimensions),
    cmocka_unit_test (switches_that_reduce_join_their_ranks),
    cmocka_unit_test (messages_wait_for_what_they_carry),
    cmocka_unit_test (bytes_are_rounded_in_sum),
    cmocka_unit_test (ranks_that_wait_without_a_message_cannot_be_told),
    cmocka_unit_test (recorded_ranks_have_their_own_work),
  };

  return play_run_tests ("job_graph", tests, &catalog);
}
