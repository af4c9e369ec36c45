/* SPDX-License-Identifier: Apache-2.0 */
/* test_point.c - a point has what its play says: the times of the last step, what each rank sends, and its memory. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/run/run.h"
#include "sim/study/point.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static FabPoint *
point_of (const Play *play)
{
  g_autoptr (GError) error = NULL;

  assert_true (fab_simulation_run (play->simulation, &(FabRunOptions){ 0 }, NULL));
  FabPoint *point = fab_point_of (play->scenario, play->simulation, &fab_models, &error);
  if (point == NULL)
    fail_msg ("%s", error->message);
  return point;
}

#define MEGATRON                                                                                                \
  "name: p\niterations: 2\ncluster: {node: dgx-a100, nodes: 2}\n"                                               \
  "job: {kind: megatron, model: gpt2-xl, micro_batch: 2, accumulation: 4, sequence: 1024, train_tokens: 1e9,\n" \
  "  parallel: {tensor: 2, pipeline: 2}, compute: {kind: mfu, mfu: 40%}}\n"

/* Stages hold unlike parts of the model, and the fullest rank counts. */
static void
a_point_is_that_of_the_last_step (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, MEGATRON, NULL);
  g_autoptr (FabPoint) point = point_of (play);
  const FabStepRecord *step = &fab_simulation_probe (play->simulation)->step;
  const FabIterationRecord *times = &step->times;
  const FabDag *dag = fab_simulation_dag (play->simulation);
  const FabGraph *graph = fab_simulation_cluster (play->simulation)->graph;
  FabBinding binding = fab_binding_find (fab_simulation_probe (play->simulation), graph);
  FabBytes most = 0, least = G_MAXINT64;
  const struct {
    double is;
    FabTimePs ps;
  } rows[] = {
    { point->step_s, times->duration_ps },   { point->compute_s, times->compute_ps },
    { point->comm_s, times->comm_ps },       { point->overlapped_s, times->overlapped_ps },
    { point->exposed_s, times->exposed_ps }, { point->idle_s, times->idle_ps },
    { point->waiting_s, times->waiting_ps }, { point->exposed_inter_node_s, times->exposed_inter_node_ps },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_near (rows[i].is, fab_ps_to_seconds (rows[i].ps), 0);
  assert_true (point->compute_s > 0 && point->exposed_s > 0 && point->idle_s > 0);
  assert_near (point->mfu_fraction, step->mfu_fraction, 0);
  assert_near (point->tokens_per_s, step->tokens_per_s, 0);
  assert_near (point->train_s, 1e9 / point->tokens_per_s, 1e-12);
  assert_int_equal (point->n_ranks, 16);
  assert_int_equal (point->n_nodes, 2);
  assert_int_equal (point->global_batch, 4 * 2 * 4);
  assert_int_equal (point->n_events, fab_simulation_events (play->simulation));
  assert_false (point->uses_seed);
  for (guint c = 0; c < dag->n_classes; c++) {
    FabBytes bytes = fab_job_totals_memory (fab_simulation_totals (play->simulation), c);

    most = MAX (most, bytes);
    least = MIN (least, bytes);
  }
  assert_true (least < most && point->memory_bytes == most);
  assert_true (point->memory_max_bytes == fab_simulation_cluster (play->simulation)->device.memory_bytes);
  assert_string_equal (point->binding_spec, fab_graph_link_class (graph, binding.link)->name);
  assert_near (point->binding_fraction, binding.fraction, 0);
  const FabLink *link = fab_graph_link (graph, binding.link);
  g_autofree char *from = fab_graph_vertex_name (graph, link->src),
                  *to = fab_graph_vertex_name (graph, link->dst),
                  *both = g_strconcat (from, " -> ", to, NULL);
  assert_string_equal (point->binding, both);
  assert_true (point->choices->len > 0 && point->verdict != NULL && point->draws == NULL);
}

/* Of each dimension it has the mean over the 16 ranks, and which dimensions communicate at all. */
static void
exposure_is_divided_by_dimension (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, MEGATRON, NULL);
  g_autoptr (FabPoint) point = point_of (play);
  const GArray *records = fab_simulation_probe (play->simulation)->exposures;
  const FabDag *dag = fab_simulation_dag (play->simulation);
  guint n_dimensions = 0;

  for (guint d = 0; d < FAB_N_DIMENSIONS; d++) {
    double expected_s = 0;
    gboolean is_there = FALSE;

    for (guint i = 0; i < records->len; i++) {
      const FabExposureRecord *record = &g_array_index (records, FabExposureRecord, i);

      if (strcmp (record->dimension, fab_dimension_names[d]) != 0)
        continue;
      is_there = TRUE;
      expected_s += fab_ps_to_seconds (record->exposed_ps) * dag->classes[record->rank_class].n_ranks / 16;
    }
    assert_near (point->exposed_by_s[d], expected_s, 1e-12);
    assert_int_equal ((point->dimensions >> d & 1) != 0, is_there);
    n_dimensions += is_there && expected_s > 0;
  }
  assert_true (n_dimensions > 1);
}

/* As many ranks weigh as much where nothing is played. */
static void
what_is_weighed_is_what_is_played (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, MEGATRON, NULL);
  g_autoptr (FabPoint) point = point_of (play);
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (1);
  g_autoptr (FabPoint) weighed = fab_point_weigh (play->scenario, &fab_models,
                                                  &(FabPointLimits){ .plants = plants }, NULL);

  assert_int_equal (weighed->n_ranks, point->n_ranks);
  assert_int_equal (weighed->n_nodes, point->n_nodes);
  assert_true (weighed->memory_bytes == point->memory_bytes);
  assert_true (weighed->memory_max_bytes == point->memory_max_bytes);
  assert_int_equal (weighed->global_batch, point->global_batch);
  assert_near (weighed->step_s, 0, 0);
}

/* What busbw counts, as a mean over ranks: an all-reduce over n sends 2 (n - 1) / n of its bytes, an all-gather and a
 * reduce-scatter (n - 1) / n, a broadcast all of them; of two ranks one sends a message and the other receives it. A
 * job without tokens has no training. */
static void
a_rank_sends_what_the_bandwidth_of_the_bus_counts (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *operations;
    guint nodes;
    double bytes;
  } rows[] = {
    { "{op: all_reduce, size: 1GB}", 2, 2 * 15.0 / 16 * 1e9 },
    { "{op: all_gather, size: 1GB}", 2, 15.0 / 16 * 1e9 },
    { "{op: reduce_scatter, size: 1GB}", 1, 7.0 / 8 * 1e9 },
    { "{op: broadcast, size: 1GB}", 1, 1e9 },
    { "{op: all_reduce, size: 1GB}, {op: all_gather, size: 2GB}", 1, 7.0 / 8 * 4e9 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf ("name: p\niterations: 1\ncluster: {node: dgx-a100, nodes: %u}\n"
                                             "job: {kind: collective, operations: [%s]}\n",
                                             rows[i].nodes, rows[i].operations);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    g_autoptr (FabPoint) point = point_of (play);

    assert_near (point->sent_bytes, rows[i].bytes, 1e-9);
    assert_near (point->train_s, 0, 0);
    assert_int_equal (point->global_batch, 0);
  }
}

#define COMPUTES                                                                     \
  "name: p\niterations: %u\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n" \
  "job: {kind: ddp, model: gpt2-xl, micro_batch: 1, sequence: 256, compute: {kind: mfu, mfu: 40%%}%s}\n"

/* A step that takes no longer than the limit is played whole, and of one that takes longer the memory is known alone,
 * which is no error. A job that draws is played whole: with another seed its step may be shorter. */
static void
a_play_ends_where_its_step_is_too_long (G_GNUC_UNUSED void **state)
{
  static const double shares[] = { 0, 2, 1, 0.99, 0.5 };

  for (guint i = 0; i < 6; i++) {
    gboolean draws = i % 2 == 1;
    g_autofree char *yaml = g_strdup_printf (COMPUTES, 1 + i / 2, draws ? ", jitter: {cv: 5%}" : "");
    g_autoptr (GError) error = NULL;
    g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models,
                                                           catalog, &error);
    if (scenario == NULL)
      fail_msg ("%s", error->message);
    g_autoptr (FabPoint) whole = fab_point_play_within (scenario, &fab_models, NULL, &error);
    assert_true (whole != NULL && whole->step_s > 0);
    for (guint k = 0; k < G_N_ELEMENTS (shares); k++) {
      const FabPointLimits limits = { .most_step_s = shares[k] * whole->step_s };
      g_autoptr (FabPoint) point = fab_point_play_within (scenario, &fab_models, &limits, &error);
      gboolean is_whole = draws || shares[k] <= 0 || shares[k] >= 1;

      assert_null (error);
      assert_near (point->step_s, is_whole ? whole->step_s : 0, 0);
      assert_int_equal (point->verdict != NULL, is_whole);
      assert_int_equal (point->n_ranks, whole->n_ranks);
      assert_true (point->memory_bytes == whole->memory_bytes && point->memory_bytes > 0);
      assert_int_equal (point->global_batch, whole->global_batch);
    }
    const gint cancel = 1;
    const FabPointLimits cancelled = { .cancel = &cancel };
    assert_null (fab_point_play_within (scenario, &fab_models, &cancelled, &error));
    assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_CANCELLED));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_point_is_that_of_the_last_step),
    cmocka_unit_test (exposure_is_divided_by_dimension),
    cmocka_unit_test (what_is_weighed_is_what_is_played),
    cmocka_unit_test (a_rank_sends_what_the_bandwidth_of_the_bus_counts),
    cmocka_unit_test (a_play_ends_where_its_step_is_too_long),
  };

  return play_run_tests ("point", tests, &catalog);
}
