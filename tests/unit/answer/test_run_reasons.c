/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_reasons.c - what a run tells of its step: shares, the critical path, memory, queues, and other jobs. */
#include "tests/support/test.h"

#include "answer/run.h"
#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define COLLECTIVE "{kind: collective, operations: [{op: all_reduce, size: 16MiB}]}"

static const char *const scenarios[] = {
  "name: t\ncluster: {node: dgx-a100, nodes: 2}\n"
  "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024, compute: {kind: mfu, mfu: 40%}}\n",
  "name: t\ncluster: {node: dgx-a100, nodes: 2}\niterations: 2\n"
  "job: {kind: megatron, model: gpt2-xl, micro_batch: 1, global_batch: 16, sequence: 1024, parallel: {tensor: 2, "
  "pipeline: 4}, compute: {kind: mfu, mfu: 40%}}\n",
  "name: t\nfidelity: packet\niterations: 3\ncluster: {node: dgx-a100, nodes: 4, gpus_per_node: 1, nics_per_node: 1,"
  " fabric: {kind: leaf_spine, nodes_per_leaf: 2, oversubscription: 2}}\n"
  "job: {kind: traffic, pattern: pairs, size: 1MiB, pairs: [{from: 0, to: 3}, {from: 1, to: 3}, {from: 2, to: 3}]}\n",
  /* The names of some operations are parts of those of others. */
  "name: t\ncluster: {node: dgx-a100}\ncollectives: plain\njob: {kind: collective, operations: [{op: all_gather, size: "
  "1MB}, {op: gather, size: 1MB}, {op: all_reduce, size: 1MB}, {op: reduce, size: 1MB}, "
  "{op: reduce_scatter, size: 1MB}, "
  "{op: scatter, size: 1MB}]}\n",
  "name: t\nfidelity: packet\ncluster: {node: dgx-a100, nodes: 4, gpus_per_node: 2, nics_per_node: 2, fabric: switch}\n"
  "job: {kind: collective, operations: [{op: all_to_all, size: 1MiB}, {op: all_gather, size: 64KiB}]}\n",
};

static FabRunResult
run (const Play *play)
{
  const FabRunRequest request = { .registry = &fab_models };
  g_autoptr (GError) error = NULL;
  FabRunResult result = { 0 };

  if (!fab_run_play (play->scenario, NULL, &request, &result, &error))
    fail_msg ("%s", error->message);
  return result;
}

/* Of each dimension that communicates: the mean over ranks of what it exposes, and its operations, each once. */
static void
check_shares (const FabRunResult *result)
{
  const FabDag *dag = fab_simulation_dag (result->simulation);
  const GArray *exposures = fab_simulation_probe (result->simulation)->exposures;
  double n_ranks = 0;

  for (guint c = 0; c < dag->n_classes; c++)
    n_ranks += dag->classes[c].n_ranks;
  for (guint d = 0, at = 0; d < FAB_N_DIMENSIONS; d++) {
    double exposed_ps = 0;
    g_autoptr (GHashTable) ops = g_hash_table_new (g_str_hash, g_str_equal);

    for (guint i = 0; i < exposures->len; i++) {
      const FabExposureRecord *one = &g_array_index (exposures, FabExposureRecord, i);

      if (strcmp (one->dimension, fab_dimension_names[d]) != 0)
        continue;
      exposed_ps += (double) one->exposed_ps * dag->classes[one->rank_class].n_ranks / n_ranks;
      g_hash_table_add (ops, (gpointer) one->op);
    }
    if (g_hash_table_size (ops) == 0)
      continue;
    assert_true (at < result->reasons.shares->len);
    const FabRunShare *share = &g_array_index (result->reasons.shares, FabRunShare, at++);
    g_auto (GStrv) said = g_strsplit (share->ops->str, ", ", -1);
    assert_string_equal (share->dimension, fab_dimension_names[d]);
    assert_true (fabs ((double) share->exposed_ps - exposed_ps) <= 1);
    assert_int_equal (g_strv_length (said), g_hash_table_size (ops));
    for (guint i = 0; said[i] != NULL; i++)
      assert_true (g_hash_table_contains (ops, said[i]));
  }
}

/* The kind of communication where it has a dimension, or else what is done, and the ends and the entry of its link. */
static void
check_name (const FabRunResult *result, const FabRunPathPart *part)
{
  const FabGraph *graph = fab_simulation_cluster (result->simulation)->graph;
  gboolean has_dimension = part->dimension != NULL && strcmp (part->dimension, "other") != 0;
  const char *what = has_dimension                  ? fab_dimension_say (part->dimension)
                   : part->kind == FAB_SPAN_COMPUTE ? "compute"
                   : part->kind == FAB_SPAN_COMM    ? "communication"
                   : part->kind == FAB_SPAN_LOAD    ? "host work"
                                                    : "time until flows arrive";

  if (part->link == FAB_NO_LINK) {
    assert_string_equal (part->name, what);
    return;
  }
  g_autofree char *link = fab_run_link_name (result, part->link),
                  *label = fab_link_class_label (fab_graph_link_class (graph, part->link)),
                  *name = g_strdup_printf ("%s; slowest link %s (%s)", what, link, label);
  assert_string_equal (part->name, name);
}

/* Communication on the path has the dimension of its collective, and all else has none. */
static void
check_dimensions (const FabRunResult *result)
{
  const FabProbe *probe = fab_simulation_probe (result->simulation);

  for (guint d = 0; d <= FAB_N_DIMENSIONS; d++) {
    const char *dimension = d < FAB_N_DIMENSIONS ? fab_dimension_names[d] : NULL;
    FabTimePs told_ps = 0, wanted_ps = 0;

    for (guint i = 0; i < result->reasons.path->len; i++) {
      const FabRunPathPart *part = &g_array_index (result->reasons.path, FabRunPathPart, i);

      told_ps += g_strcmp0 (part->dimension, dimension) == 0 ? part->time_ps : 0;
    }
    for (guint i = 0; i < probe->path->len; i++) {
      const FabPathRecord *record = &g_array_index (probe->path, FabPathRecord, i);
      const char *own = record->collective < 0 ? NULL
                                               : g_array_index (probe->collectives, FabCollectiveRecord,
                                                                (guint) record->collective)
                                                     .dimension;

      wanted_ps += g_strcmp0 (own, dimension) == 0 ? record->end_ps - record->start_ps : 0;
    }
    assert_int_equal (told_ps, wanted_ps);
  }
}

/* Parts of the path, the longest first, are as long as the path is. */
static void
check_path (const FabRunResult *result)
{
  const GArray *path = fab_simulation_probe (result->simulation)->path, *parts = result->reasons.path;
  FabTimePs whole_ps = 0, sum_ps = 0;

  for (guint i = 0; i < path->len; i++)
    whole_ps += g_array_index (path, FabPathRecord, i).end_ps
              - g_array_index (path, FabPathRecord, i).start_ps;
  for (guint i = 0; i < parts->len; i++) {
    const FabRunPathPart *part = &g_array_index (parts, FabRunPathPart, i);

    sum_ps += part->time_ps;
    check_name (result, part);
    if (i > 0) {
      const FabRunPathPart *before = &g_array_index (parts, FabRunPathPart, i - 1);

      assert_true (before->time_ps > part->time_ps
                   || (before->time_ps == part->time_ps && before->link <= part->link));
    }
    for (guint k = 0; k < i; k++) {
      const FabRunPathPart *other = &g_array_index (parts, FabRunPathPart, k);

      assert_false (part->kind == other->kind && part->dimension == other->dimension
                    && part->link == other->link);
    }
  }
  assert_true (sum_ps == whole_ps && parts->len > 0);
  check_dimensions (result);
  assert_true (sum_ps == fab_run_last_step (result)->times.duration_ps);
}

static void
check_memory (const FabRunResult *result)
{
  const FabJobTotals *totals = fab_simulation_totals (result->simulation);
  FabBytes most = 0, has = fab_simulation_cluster (result->simulation)->device.memory_bytes;
  guint fullest = 0;

  for (guint c = 0; c < fab_simulation_dag (result->simulation)->n_classes && totals->memory != NULL; c++)
    if (fab_job_totals_memory (totals, c) > most) {
      most = fab_job_totals_memory (totals, c);
      fullest = c;
    }
  assert_true (result->reasons.fullest_bytes == most);
  assert_int_equal (result->reasons.fullest_class, fullest);
  assert_int_equal (result->reasons.has_memory, most > 0);
  assert_true (result->reasons.missing_bytes == (most > has ? most - has : 0));
}

/* Queues of one length whose order is not that of the links, and queues that are equal. */
typedef struct {
  guint n_of_most, n_of_both;
} Ties;

/* Links that had a queue or lost packets: the longest queue first, then that which was longer in the mean, then the
 * first link. Sums are over all links. */
static guint
check_queues (const FabRunResult *result, Ties *ties)
{
  g_autoptr (GArray) all = fab_simulation_link_queues (result->simulation);
  const GArray *told = result->reasons.queues;
  FabLinkQueueRecord sum = { 0 };
  guint n = 0;

  for (guint i = 0; i < all->len; i++) {
    const FabLinkQueueRecord *one = &g_array_index (all, FabLinkQueueRecord, i);

    sum.n_stalls += one->n_stalls;
    sum.n_marks += one->n_marks;
    sum.n_pauses += one->n_pauses;
    sum.n_drops += one->n_drops;
    n += one->most_bytes > 0 || one->n_drops > 0;
  }
  assert_int_equal (told->len, n);
  for (guint i = 0; i < n; i++) {
    const FabLinkQueueRecord *one = &g_array_index (told, FabLinkQueueRecord, i);

    assert_true (one->most_bytes > 0 || one->n_drops > 0);
    if (i == 0)
      continue;
    const FabLinkQueueRecord *before = &g_array_index (told, FabLinkQueueRecord, i - 1);
    assert_true (one->most_bytes <= before->most_bytes);
    if (one->most_bytes == before->most_bytes)
      assert_true (one->mean_bytes <= before->mean_bytes);
    if (one->most_bytes == before->most_bytes && one->mean_bytes == before->mean_bytes)
      assert_true (one->link > before->link);
    ties->n_of_most += one->most_bytes == before->most_bytes && one->link < before->link;
    ties->n_of_both += one->most_bytes == before->most_bytes && one->mean_bytes == before->mean_bytes;
  }
  assert_true (result->reasons.all_queues.n_stalls == sum.n_stalls
               && result->reasons.all_queues.n_marks == sum.n_marks
               && result->reasons.all_queues.n_pauses == sum.n_pauses
               && result->reasons.all_queues.n_drops == sum.n_drops);
  return n;
}

/* The link that sets the pace is among those that carried something, or there is none. */
static void
check_pace (const FabRunResult *result)
{
  const FabProbe *probe = fab_simulation_probe (result->simulation);
  const FabGraph *graph = fab_simulation_cluster (result->simulation)->graph;
  FabLinkId link = result->pace.binding_link;
  g_autofree char *name = fab_run_link_name (result, link);
  double busy = 0;

  if (link == FAB_NO_LINK) {
    assert_null (name);
    return;
  }
  g_autofree char *from = fab_graph_vertex_name (graph, fab_graph_link (graph, link)->src);
  g_autofree char *to = fab_graph_vertex_name (graph, fab_graph_link (graph, link)->dst);
  g_autofree char *wanted = g_strdup_printf ("%s -> %s", from, to);
  for (guint i = 0; i < probe->link_loads->len; i++) {
    const FabLinkLoadRecord *load = &g_array_index (probe->link_loads, FabLinkLoadRecord, i);

    busy = load->link == link ? load->busy_fraction : busy;
  }
  assert_string_equal (name, wanted);
  assert_string_equal (fab_run_link_entry (result, link), fab_graph_link_class (graph, link)->name);
  assert_near (result->pace.binding_busy_fraction + 1, busy + 1, 1e-12);
  double startup_ps = 0, all_ps = 0;
  for (guint i = 0; i < probe->collectives->len; i++) {
    const FabCollectiveRecord *one = &g_array_index (probe->collectives, FabCollectiveRecord, i);

    startup_ps += (double) fab_simulation_dag (result->simulation)->collectives[one->index].plan.startup_ps;
    all_ps += (double) (one->end_ps - one->start_ps);
  }
  assert_near (result->pace.startup_fraction + 1, (all_ps > 0 ? startup_ps / all_ps : 0) + 1, 1e-12);
}

static void
reasons_are_those_of_the_records (G_GNUC_UNUSED void **state)
{
  guint n_queues = 0;
  Ties ties = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (scenarios); i++) {
    g_autoptr (Play) play = play_new (catalog, scenarios[i], NULL);
    FabRunResult result = run (play);

    check_shares (&result);
    check_path (&result);
    check_memory (&result);
    check_pace (&result);
    n_queues += check_queues (&result, &ties);
    assert_true (result.reasons.most_ps >= result.reasons.late_ps
                 && result.reasons.late_ps >= result.reasons.median_ps
                 && result.reasons.median_ps >= result.reasons.least_ps);
    assert_true (fab_run_last_step (&result)
                 == &g_array_index (result.steps, FabStepRecord, result.steps->len - 1));
    fab_run_result_clear (&result);
  }
  assert_true (n_queues > 0);
  assert_true (ties.n_of_most > 0 && ties.n_of_both > 0);
}

/* Sizes of messages, each once, and those of them that were not measured of their link. Two ranks send each other half
 * of what they gather. */
static void
sizes_of_messages_are_counted (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *from, *to;
    guint n_outside;
  } cases[] = { { "1B", "1GB", 0 }, { "3MB", "1GB", 1 }, { "8MB", "1GB", 2 }, { "1B", "1MB", 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\nlinks: [{name: m, technology: Ethernet, lanes: 2, signalling: 50Gb/s, latency: 600ns, "
        "messages: [{overhead: 2us, rate: 10GB/s}], measured: {from: %s, to: %s}}]\n"
        "cluster: {node: dgx-a100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: m}\ncollectives: mpi\n"
        "job: {kind: collective, operations: [{op: all_gather, size: 4MB}, {op: all_gather, size: 12MB}, "
        "{op: all_gather, size: 4MB}]}\n",
        cases[i].from, cases[i].to);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    FabRunResult result = run (play);

    assert_int_equal (result.reasons.sizes.n, 2);
    assert_int_equal (result.reasons.sizes.n_outside, cases[i].n_outside);
    fab_run_result_clear (&result);
  }
}

/* 10^9 tokens at the rate of the last step; without their number it is not known. */
static void
days_of_training_are_those_of_the_last_step (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *model, *tokens, *mfu;
  } cases[] = { { "gpt2", "", "40%" },
                { "gpt2", "train_tokens: 1e9, ", "40%" },
                { "llama3-405b", "train_tokens: 1e9, ", "0.1%" } }; /* less than a token a second */

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\niterations: 2\ncluster: {node: dgx-a100, gpus_per_node: 2}\n"
        "job: {kind: ddp, model: %s, micro_batch: 4, sequence: 1024, %scompute: {kind: mfu, mfu: %s}}\n",
        cases[i].model, cases[i].tokens, cases[i].mfu);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    FabRunResult result = run (play);

    assert_int_equal (fab_run_last_step (&result)->tokens_per_s < 1, i == 2);
    if (i > 0)
      assert_near (result.reasons.train_days * 86400 * fab_run_last_step (&result)->tokens_per_s, 1e9, 1e-9);
    else
      assert_near (result.reasons.train_days, 0, 0);
    fab_run_result_clear (&result);
  }
}

/* The least step that so many of all do not exceed. */
static void
quantiles_of_steps (G_GNUC_UNUSED void **state)
{
  static const FabTimePs steps_ps[] = { 70, 10, 50, 30, 20, 60, 40, 80, 100, 90 };
  static const struct {
    double fraction;
    FabTimePs wanted_ps;
  } cases[] = { { 0, 10 },    { 0.1, 10 }, { 0.11, 20 },  { 0.5, 50 },
                { 0.51, 60 }, { 0.9, 90 }, { 0.95, 100 }, { 1, 100 } };
  g_autoptr (GArray) steps = g_array_new (FALSE, TRUE, sizeof (FabStepRecord));

  for (guint i = 0; i < G_N_ELEMENTS (steps_ps); i++) {
    FabStepRecord one = { .times = { .duration_ps = steps_ps[i] } };

    g_array_append_val (steps, one);
  }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_true (fab_run_quantile_ps (steps, cases[i].fraction) == cases[i].wanted_ps);
}

/* Jobs that share no link are as long together as alone; on the uplinks of two leaves they take longer. */
static void
jobs_beside_each_other (G_GNUC_UNUSED void **state)
{
  for (guint shared = 0; shared < 2; shared++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: first\niterations: 2\ncollectives: plain\n"
        "cluster: {node: dgx-a100, nodes: 4, gpus_per_node: 1, nics_per_node: 1, fabric: {kind: leaf_spine,"
        " nodes_per_leaf: 2, oversubscription: 2}}\njob: " COLLECTIVE "\n"
        "neighbours: [{name: second, nodes: 2, first: %u, stride: %u, job: " COLLECTIVE "}]\n",
        shared == 1 ? 1 : 2, shared == 1 ? 2 : 1);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    FabRunResult result = run (play);
    const FabRunRequest request = { .registry = &fab_models };

    assert_true (fab_run_find_jobs (play->scenario, &request, &result, NULL));
    assert_int_equal (result.jobs->len, 2);
    for (guint i = 0; i < 2; i++) {
      const FabRunJob *job = &g_array_index (result.jobs, FabRunJob, i);
      double slow_down = fab_run_slow_down (job);

      assert_string_equal (job->name, i == 0 ? "first" : "second");
      assert_int_equal (job->n_nodes, 2);
      assert_true (job->n_steps >= 1 && (i > 0 || job->n_steps == 2));
      assert_near (slow_down, (double) job->together_ps / (double) job->alone_ps, 1e-12);
      if (shared == 1)
        assert_true (slow_down > 1.5 && slow_down < 2.1);
      else
        assert_near (slow_down, 1, 1e-6);
    }
    fab_run_result_clear (&result);
  }
  assert_near (fab_run_slow_down (&(FabRunJob){ .together_ps = 5 }), 1, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (reasons_are_those_of_the_records),
    cmocka_unit_test (sizes_of_messages_are_counted),
    cmocka_unit_test (days_of_training_are_those_of_the_last_step),
    cmocka_unit_test (quantiles_of_steps),
    cmocka_unit_test (jobs_beside_each_other),
  };

  return play_run_tests ("run_reasons", tests, &catalog);
}
