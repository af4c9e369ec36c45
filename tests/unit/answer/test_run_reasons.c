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
    assert_true (i == 0 || part->time_ps <= g_array_index (parts, FabRunPathPart, i - 1).time_ps);
    assert_int_equal (strstr (part->name, "; slowest link ") != NULL, part->link != FAB_NO_LINK);
    for (guint k = 0; k < i; k++) {
      const FabRunPathPart *other = &g_array_index (parts, FabRunPathPart, k);

      assert_false (part->kind == other->kind && part->dimension == other->dimension
                    && part->link == other->link);
    }
  }
  assert_true (sum_ps == whole_ps && parts->len > 0);
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

/* Links that had a queue or lost packets, the longest queue first; sums are over all links. */
static guint
check_queues (const FabRunResult *result)
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
    assert_true (i == 0 || one->most_bytes <= g_array_index (told, FabLinkQueueRecord, i - 1).most_bytes);
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

  for (guint i = 0; i < G_N_ELEMENTS (scenarios); i++) {
    g_autoptr (Play) play = play_new (catalog, scenarios[i], NULL);
    FabRunResult result = run (play);

    check_shares (&result);
    check_path (&result);
    check_memory (&result);
    check_pace (&result);
    n_queues += check_queues (&result);
    assert_true (result.reasons.most_ps >= result.reasons.late_ps
                 && result.reasons.late_ps >= result.reasons.median_ps
                 && result.reasons.median_ps >= result.reasons.least_ps);
    assert_true (fab_run_last_step (&result)
                 == &g_array_index (result.steps, FabStepRecord, result.steps->len - 1));
    fab_run_result_clear (&result);
  }
  assert_true (n_queues > 0);
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
    cmocka_unit_test (quantiles_of_steps),
    cmocka_unit_test (jobs_beside_each_other),
  };

  return play_run_tests ("run_reasons", tests, &catalog);
}
