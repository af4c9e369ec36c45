/* SPDX-License-Identifier: Apache-2.0 */
/* test_graphs.c - a job as graphs of other simulators: GOAL and Chakra's files are read back, and hold what the graph
 * has, node by node.
 *
 * Lengths of work are whole units: those of the works of a stream together are what they are together, rounded.
 */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "formats/export/graphs.h"
#include "formats/trace/reading.h"
#include "tests/support/play.h"

#define HEAD                                                                                               \
  "name: graph\niterations: 1\nfold: false\n"                                                              \
  "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 2, nics_per_node: 2}\n"                              \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 4, " \
  "hidden: 256, heads: 4, vocabulary: 1000, tied: false, biases: false}}]\n"                               \
  "job: {model: m, micro_batch: 1, sequence: 16, clip_gradients: false, %s}\n"

enum { MOST_STREAMS = 64 };

static FabCatalog *catalog;
static char *folder;

static const char *const jobs[] = {
  "kind: ddp, accumulation: 2, bucket: 200kB, first_bucket: 100kB",
  "kind: fsdp, sharding: hybrid",
  "kind: megatron, parallel: {pipeline: 2}, accumulation: 4",
  "kind: megatron, memory: {offload: cpu}",
};

typedef struct {
  Play *play;
  FabJobGraph *graph;
  GArray *nodes, *deps; /* of one rank */
} Made;

static Made
made_new (const char *job, gboolean has_messages)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, job);
  Made self = { .play = play_new (catalog, yaml, NULL),
                .nodes = g_array_new (FALSE, FALSE, sizeof (FabJobNode)),
                .deps = g_array_new (FALSE, FALSE, sizeof (guint)) };

  self.graph = fab_job_graph_new (self.play->simulation, has_messages, NULL);
  assert_non_null (self.graph);
  return self;
}

static void
made_clear (Made *self)
{
  g_array_unref (self->nodes);
  g_array_unref (self->deps);
  fab_job_graph_free (self->graph);
  play_free (self->play);
}

/* Reads a file into the trace. */
static void
read_back (FabTrace *trace, const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabFileBytes) bytes = fab_file_bytes_open (path, &error);

  assert_non_null (bytes);
  assert_true (fab_file_bytes_next (bytes, &error));
  if (!fab_trace_read_bytes (trace, bytes, &error))
    fail_msg ("%s", error->message);
}

/* What rounding made of the works of each stream so far. */
typedef struct {
  FabTimePs true_ps[MOST_STREAMS];
  gint64 written[MOST_STREAMS];
} Lengths;

static FabTimePs
written_ps (Lengths *self, const FabJobNode *node, FabTimePs unit_ps)
{
  gint64 before = self->written[node->stream];

  self->true_ps[node->stream] += node->duration_ps;
  self->written[node->stream] = (self->true_ps[node->stream] + unit_ps / 2) / unit_ps;
  return (self->written[node->stream] - before) * unit_ps;
}

/* A node with the number i + first waits for those that the graph names. */
static void
assert_deps (const Made *made, guint i, const FabTracedRank *traced, guint first)
{
  const FabJobNode *node = &g_array_index (made->nodes, FabJobNode, i);
  const FabTraceNode *found = &g_array_index (traced->nodes, FabTraceNode, i);

  assert_int_equal (found->id, i + first);
  assert_int_equal (found->n_deps, node->n_deps);
  for (guint d = 0; d < node->n_deps; d++)
    assert_int_equal (g_array_index (traced->deps, guint64, found->first_dep + d),
                      g_array_index (made->deps, guint, node->first_dep + d) + first);
}

static void
assert_message (const FabJobNode *node, const FabTracedRank *traced, const FabTraceNode *found)
{
  assert_int_equal (found->kind, FAB_TRACE_COMM);
  assert_int_equal (found->is_send, node->kind == FAB_JOB_SEND);
  assert_int_equal (found->peer, node->peer);
  assert_int_equal (found->tag, node->tag);
  assert_int_equal (g_array_index (traced->comms, FabTraceComm, found->comm).bytes, node->bytes);
}

/* --- GOAL --- */

/* Every node is a line that names its stream; `at` goes from one to the next. */
static void
assert_stream (const char **at, const FabJobNode *node)
{
  guint stream;

  *at = strstr (*at, " cpu ");
  assert_non_null (*at);
  assert_int_equal (sscanf (*at, " cpu %u", &stream), 1);
  assert_int_equal (stream, node->stream);
  (*at)++;
}

static void
goal_has_the_nodes_of_the_graph (G_GNUC_UNUSED void **state)
{
  g_autofree char *path = g_build_filename (folder, "a.goal", NULL);

  for (guint j = 0; j < G_N_ELEMENTS (jobs); j++) {
    Made made = made_new (jobs[j], TRUE);
    g_autoptr (FabTrace) trace = fab_trace_new ();
    g_autofree char *text = NULL;
    const char *at;

    assert_true (fab_export_goal (made.graph, path, NULL));
    read_back (trace, path);
    assert_true (g_file_get_contents (path, &text, NULL, NULL));
    at = text;
    assert_true (g_str_has_prefix (text, "num_ranks 4\n\nrank 0 {\n"));
    assert_true (g_str_has_suffix (text, "\n}\n"));
    assert_int_equal (trace->ranks->len, 4);
    for (guint rank = 0; rank < 4; rank++) {
      const FabTracedRank *traced = g_ptr_array_index (trace->ranks, rank);
      Lengths lengths = { 0 };

      fab_job_graph_rank (made.graph, rank, made.nodes, made.deps);
      assert_int_equal (traced->rank, rank);
      assert_int_equal (traced->nodes->len, made.nodes->len);
      for (guint i = 0; i < made.nodes->len; i++) {
        const FabJobNode *node = &g_array_index (made.nodes, FabJobNode, i);
        const FabTraceNode *found = &g_array_index (traced->nodes, FabTraceNode, i);

        assert_deps (&made, i, traced, 0);
        assert_stream (&at, node);
        if (node->kind == FAB_JOB_SEND || node->kind == FAB_JOB_RECEIVE)
          assert_message (node, traced, found);
        else
          assert_int_equal (found->duration_ps, written_ps (&lengths, node, 1000));
      }
    }
    g_unlink (path);
    made_clear (&made);
  }
}

/* --- Chakra --- */

/* A member for each group, counted from 1, with its ranks. */
static void
assert_groups (const FabJobGraph *graph, const char *path)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  guint n = fab_job_graph_n_groups (graph);

  if (n == 0) {
    assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
    return;
  }
  assert_true (json_parser_load_from_file (parser, path, NULL));
  JsonObject *root = json_node_get_object (json_parser_get_root (parser));
  assert_int_equal (json_object_get_size (root), n);
  for (guint g = 0; g < n; g++) {
    g_autofree char *name = g_strdup_printf ("%u", g + 1);
    const GArray *ranks = fab_job_graph_group (graph, g);
    JsonArray *found = json_object_get_array_member (root, name);

    assert_non_null (found);
    assert_int_equal (json_array_get_length (found), ranks->len);
    for (guint i = 0; i < ranks->len; i++)
      assert_int_equal (json_array_get_int_element (found, i), g_array_index (ranks, guint, i));
  }
}

static void
assert_chakra_node (const FabJobNode *node, const FabTracedRank *traced, const FabTraceNode *found,
                    Lengths *lengths)
{
  assert_string_equal (found->name, node->name);
  if (node->kind == FAB_JOB_WORK) {
    assert_int_equal (found->kind, FAB_TRACE_COMPUTE);
    assert_int_equal (found->duration_ps, written_ps (lengths, node, 1000000));
  } else if (node->kind == FAB_JOB_COLLECTIVE) {
    const FabTraceComm *comm = &g_array_index (traced->comms, FabTraceComm, found->comm);
    g_autofree char *group = g_strdup_printf ("%u", node->group + 1);

    assert_int_equal (found->kind, FAB_TRACE_COMM);
    assert_int_equal (found->peer, -1);
    assert_string_equal (comm->op, fab_op_names[node->op]);
    assert_string_equal (comm->group, group);
    assert_int_equal (comm->bytes, node->bytes);
  } else
    assert_message (node, traced, found);
}

/* Says of every node that it does not run on the host, as a field of its own kind. */
static void
assert_gpu_nodes (const char *path, guint n)
{
  static const char head[] = "\x07\x0a\x05"
                             "0.0.4",
                    mark[] = "is_cpu_op\xd8\x01";
  g_autofree char *data = NULL;
  gsize size;
  guint n_found = 0;

  assert_true (g_file_get_contents (path, &data, &size, NULL));
  assert_memory_equal (data, head, sizeof head - 1);
  for (gsize at = 0; at + sizeof mark <= size; at++)
    n_found += memcmp (data + at, mark, sizeof mark) == 0; /* with the NUL, which is the value */
  assert_int_equal (n_found, n);
}

static void
chakra_has_the_nodes_of_the_graph (G_GNUC_UNUSED void **state)
{
  g_autofree char *prefix = g_build_filename (folder, "x", NULL),
                  *groups = g_strconcat (prefix, ".groups.json", NULL);

  for (guint j = 0; j < 2 * G_N_ELEMENTS (jobs); j++) {
    Made made = made_new (jobs[j / 2], j % 2 == 0);

    assert_true (fab_export_chakra (made.graph, prefix, NULL));
    assert_groups (made.graph, groups);
    g_unlink (groups);
    for (guint rank = 0; rank < 4; rank++) {
      g_autofree char *path = g_strdup_printf ("%s.%u.et", prefix, rank);
      g_autoptr (FabTrace) trace = fab_trace_new ();
      const FabTracedRank *traced;
      Lengths lengths = { 0 };

      read_back (trace, path);
      traced = g_ptr_array_index (trace->ranks, 0);
      fab_job_graph_rank (made.graph, rank, made.nodes, made.deps);
      assert_int_equal (traced->nodes->len, made.nodes->len);
      assert_gpu_nodes (path, made.nodes->len);
      for (guint i = 0; i < made.nodes->len; i++) {
        assert_deps (&made, i, traced, 1);
        assert_chakra_node (&g_array_index (made.nodes, FabJobNode, i), traced,
                            &g_array_index (traced->nodes, FabTraceNode, i), &lengths);
      }
      g_unlink (path);
    }
    made_clear (&made);
  }
}

/* What cannot be written is told with its path. */
static void
files_that_cannot_be_written (G_GNUC_UNUSED void **state)
{
  g_autofree char *missing = g_build_filename (folder, "missing", "x", NULL),
                  *prefix = g_build_filename (folder, "x", NULL),
                  *groups = g_strconcat (prefix, ".groups.json", NULL);
  Made made = made_new (jobs[0], FALSE);
  g_autoptr (GError) goal = NULL, ranks = NULL, last = NULL;

  assert_false (fab_export_goal (made.graph, missing, &goal));
  assert_true (g_str_has_prefix (goal->message, missing));
  assert_false (fab_export_chakra (made.graph, missing, &ranks));
  assert_true (g_str_has_prefix (ranks->message, missing));
  g_autofree char *first = g_strconcat (prefix, ".0.et", NULL);
  g_autoptr (GError) one = NULL;
  assert_int_equal (g_mkdir (first, 0755), 0);
  assert_false (fab_export_chakra (made.graph, prefix, &one));
  assert_true (g_str_has_prefix (one->message, first));
  g_rmdir (first);
  assert_int_equal (g_mkdir (groups, 0755), 0);
  assert_false (fab_export_chakra (made.graph, prefix, &last));
  assert_true (g_str_has_prefix (last->message, groups));
  g_rmdir (groups);
  for (guint rank = 0; rank < 4; rank++) {
    g_autofree char *path = g_strdup_printf ("%s.%u.et", prefix, rank);

    assert_int_equal (g_unlink (path), 0);
  }
  made_clear (&made);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (goal_has_the_nodes_of_the_graph),
    cmocka_unit_test (chakra_has_the_nodes_of_the_graph),
    cmocka_unit_test (files_that_cannot_be_written),
  };

  folder = g_dir_make_tmp ("graphs-XXXXXX", NULL);
  int n_failed = play_run_tests ("graphs", tests, &catalog);
  g_rmdir (folder);
  g_free (folder);
  return n_failed;
}
