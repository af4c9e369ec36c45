/* SPDX-License-Identifier: Apache-2.0 */
/* test_collectives.c - every node of the catalogue x every operation x every algorithm that supports it: at 2
 * ranks, on one node, on 4 nodes, and on 4 nodes of one GPU each.
 *
 * A form has a finite rate, steps, and no link carries fewer bytes than must leave a rank; the libraries plan the
 * operation, or say what is missing; mpi, which lists messages, over up to 16 ranks. Nodes of more than 16 GPUs are
 * taken 2 at a time and with 16 of their GPUs, where all of them would take minutes: direct and halving send n^2 and
 * n log n messages, of which every one is routed. Of superpod-h100-256 and trn2-ultra there is one node, as more of
 * them take long to assemble and to find ways in.
 */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/params.h"
#include "tests/support/play.h"
#include "tests/support/seeds.h"

enum { MAX_GPUS = 16, MAX_RANKS_BY_MESSAGE = 16, N_NODES = 4 };

static FabCatalog *catalog;
static const FabAlgorithmEnv env = { .net_stretch = 1 };

static int
load_catalog (G_GNUC_UNUSED void **state)
{
  catalog = play_catalog ();
  return 0;
}

static int
drop_catalog (G_GNUC_UNUSED void **state)
{
  fab_catalog_free (g_steal_pointer (&catalog));
  return 0;
}

/* --- forms --- */

static void
check_error (const GError *error)
{
  assert_non_null (error);
  assert_true (error->domain == FAB_ERROR && strlen (error->message) > 10);
}

static void
check_form (const FabGroup *group, FabOp op, const FabCollectiveForm *form)
{
  const FabFootprint *footprint = form->footprint;

  assert_true (footprint->rate_bytes_per_s > 0 && isfinite (footprint->rate_bytes_per_s));
  assert_true (footprint->rate_bytes_per_s <= footprint->line_bound_bytes_per_s * (1 + 1e-9));
  assert_true (form->phases_bytes_per_s >= 0 && isfinite (form->phases_bytes_per_s));
  assert_true (form->fill_s_per_byte >= 0 && isfinite (form->fill_s_per_byte));
  assert_true (form->n_intra_steps + form->n_inter_steps > 0);
  assert_true ((form->n_inter_steps > 0) == (group->n_nodes > 1));
  assert_true (form->n_channels > 0);
  assert_true (fab_form_latency_ps (form) > 0 && fab_form_latency_ps (form) < FAB_PS_PER_S);
  for (guint i = 0; i < footprint->n; i++)
    assert_true (footprint->weights[i] > 0 && footprint->line_weights[i] >= footprint->weights[i]);
  assert_true (op < FAB_N_OPS);
}

/* What the links out of a rank carry in sum, per byte of size. */
static double
bytes_from (const FabGroup *group, guint rank, const FabFootprint *footprint)
{
  const FabGraph *graph = group->cluster->graph;
  FabVertexId gpu = fab_group_gpu (group, rank / group->gpus_per_node, rank % group->gpus_per_node);
  double sum = 0;

  for (guint i = 0; i < footprint->n; i++)
    if (fab_graph_link (graph, footprint->links[i])->src == gpu)
      sum += footprint->weights[i];
  return sum;
}

/* What a rank has that others need leaves it. */
static double
least_bytes_from (const FabAlgorithmOps *algorithm, FabOp op, guint n, guint rank)
{
  double part = 1.0 / n;

  switch (op) {
  case FAB_OP_ALL_REDUCE: return algorithm->reduces_in != FAB_REDUCES_IN_RANKS ? 1 - part : 1;
  case FAB_OP_REDUCE: return rank == 0 ? 0 : 1;
  case FAB_OP_BROADCAST: return rank == 0 ? 1 : 0;
  case FAB_OP_GATHER: return rank == 0 ? 0 : part;
  case FAB_OP_SCATTER:
  case FAB_OP_REDUCE_SCATTER:
  case FAB_OP_ALL_TO_ALL: return rank == 0 || op != FAB_OP_SCATTER ? 1 - part : 0;
  case FAB_OP_ALL_GATHER: return part;
  case FAB_OP_SEND_RECV: return 1;
  case FAB_N_OPS:
  default: g_assert_not_reached ();
  }
}

static void
check_bytes (const FabGroup *group, const FabAlgorithmOps *algorithm, FabOp op, const FabCollectiveForm *form)
{
  guint n = fab_group_n_ranks (group);

  for (guint rank = 0; rank < n; rank++)
    assert_true (bytes_from (group, rank, form->footprint)
                 >= least_bytes_from (algorithm, op, n, rank) * (1 - 1e-9));
}

/* --- libraries --- */

static FabLibrary *
library_new (const FabLibraryOps *ops, const char *yaml, Params **params)
{
  *params = params_new (&ops->info, yaml);
  return ops->create (fab_models.lists[FAB_MODEL_ALGORITHM], (*params)->params);
}

static void
stop_engine (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  fab_engine_stop (owner);
}

/* The stream of the plan on an idle network takes the plan's own time. */
static void
check_fluid (const FabCluster *cluster, const FabCollectivePlan *plan)
{
  FabEngine *engine = fab_engine_new ();
  FabNet *net = fab_net_fluid.create (&(FabNetEnv){ engine, cluster->graph, cluster->router, 1 }, NULL);
  FabStream stream = fab_collective_plan_stream (plan);

  stream.done = (FabDone){ stop_engine, engine, 0 };
  fab_net_stream (net, &stream);
  fab_engine_run (engine);
  assert_true (ABS (fab_engine_now (engine) - fab_collective_plan_idle_ps (plan)) <= 1);
  fab_net_destroy (net);
  fab_engine_free (engine);
}

static void
check_plan (FabLibrary *library, const FabGroup *group, FabOp op, FabBytes bytes)
{
  g_autoptr (GError) error = NULL;
  FabCollectivePlan plan;

  if (!fab_library_plan (library, group, op, bytes, &plan, &error)) {
    check_error (error);
    return;
  }
  assert_true (plan.footprint != NULL && plan.bytes == bytes);
  assert_true (plan.startup_ps >= plan.latency_ps && fab_collective_plan_idle_ps (&plan) > plan.startup_ps);
  check_fluid (group->cluster, &plan);
}

static void
check_library (const FabLibraryOps *ops, const FabGroup *group, const FabAlgorithmOps *algorithm, FabOp op)
{
  g_autofree char *yaml = g_strdup_printf ("{algorithm: %s}", algorithm->info.name);
  g_autoptr (Params) params = NULL;
  FabLibrary *library = library_new (ops, yaml, &params);

  check_plan (library, group, op, 1000000);
  fab_library_destroy (library);
}

/* The list of models.h from its end. (transfer container) */
static const FabModelInfo **
reversed_algorithms (void)
{
  const FabModelInfo *const *list = fab_models.lists[FAB_MODEL_ALGORITHM];
  guint n = g_strv_length ((char **) list);
  const FabModelInfo **reversed = g_new0 (const FabModelInfo *, n + 1);

  for (guint i = 0; i < n; i++)
    reversed[i] = list[n - 1 - i];
  return reversed;
}

/* What NCCL chooses does not depend on the order in which models.h lists the algorithms. */
static void
check_order (FabLibrary *library, FabLibrary *reversed, const FabGroup *group, FabOp op, FabBytes bytes)
{
  FabCollectivePlan plan, other;

  if (!fab_library_plan (library, group, op, bytes, &plan, NULL))
    return;
  assert_true (fab_library_plan (reversed, group, op, bytes, &other, NULL));
  assert_string_equal (plan.algorithm, other.algorithm);
  assert_string_equal (plan.protocol, other.protocol);
  assert_int_equal (plan.startup_ps, other.startup_ps);
  assert_int_equal (fab_collective_plan_idle_ps (&plan), fab_collective_plan_idle_ps (&other));
}

static void
check_nccl (const FabGroup *group)
{
  g_autoptr (Params) params = NULL;
  g_autofree const FabModelInfo **algorithms = reversed_algorithms ();
  FabLibrary *library = library_new (&fab_library_nccl, "{}", &params);
  FabLibrary *reversed = fab_library_nccl.create (algorithms, params->params);

  for (guint op = 0; op < FAB_N_OPS; op++)
    for (FabBytes bytes = 1024; bytes <= 1024 * 1024 * 1024; bytes *= 1024) {
      check_plan (library, group, (FabOp) op, bytes);
      check_order (library, reversed, group, (FabOp) op, bytes);
    }
  fab_library_destroy (reversed);
  fab_library_destroy (library);
}

/* --- all of them --- */

static void
check_algorithm (const FabGroup *group, const FabAlgorithmOps *algorithm, FabOp op)
{
  g_autoptr (GError) error = NULL;
  FabCollectiveForm form = { 0 };

  if (!algorithm->supports (group, op))
    return;
  if (!algorithm->form (group, op, &env, &form, &error)) {
    check_error (error);
    return;
  }
  check_form (group, op, &form);
  check_bytes (group, algorithm, op, &form);
  fab_footprint_free (form.footprint);
  if (op != FAB_OP_ALL_REDUCE && op != FAB_OP_ALL_TO_ALL)
    return;
  check_library (&fab_library_plain, group, algorithm, op);
  if (fab_group_n_ranks (group) <= MAX_RANKS_BY_MESSAGE)
    check_library (&fab_library_mpi, group, algorithm, op);
}

static void
check_group (const FabCluster *cluster, guint n_nodes, guint n_gpus)
{
  FabGroup group = { cluster, n_nodes, MIN (n_gpus, MAX_GPUS) };

  if (fab_group_n_ranks (&group) < 2)
    return;
  for (guint a = 0; fab_models.lists[FAB_MODEL_ALGORITHM][a]; a++)
    for (guint op = 0; op < FAB_N_OPS; op++)
      check_algorithm (&group, (const FabAlgorithmOps *) fab_models.lists[FAB_MODEL_ALGORITHM][a],
                       (FabOp) op);
  check_nccl (&group);
}

static gboolean
is_taken_alone (const char *name)
{
  return g_str_equal (name, "superpod-h100-256") || g_str_equal (name, "trn2-ultra");
}

static void
check_node (const char *name)
{
  /* Trays of a rack are one node of the cluster; two racks are full. */
  guint domain = fab_node_spec_sharers (fab_catalog_node (catalog, name)),
        n = domain > 1 ? 2 * domain : N_NODES;
  g_autofree char *yaml = g_strdup_printf (
      "name: n\ncluster: {node: %s, nodes: %u}\n"
      "job: {kind: collective, operations: [{op: send_recv, size: 1kB}]}\n",
      name, is_taken_alone (name) ? 1 : n);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);

  check_group (cluster, 1, 2);
  check_group (cluster, 1, cluster->gpus_per_node);
  if (cluster->n_nodes == 1 || cluster->nics_per_node == 0)
    return;
  check_group (cluster, MIN (cluster->n_nodes, N_NODES), 1);
  check_group (cluster, cluster->gpus_per_node > MAX_GPUS ? 2 : cluster->n_nodes, cluster->gpus_per_node);
}

static void
every_algorithm_on_every_node (G_GNUC_UNUSED void **state)
{
  g_autofree const char **nodes = fab_catalog_names (catalog, FAB_SECTION_NODES);

  for (guint i = 0; nodes[i]; i++)
    if (seeds_take (i))
      check_node (nodes[i]);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { cmocka_unit_test (every_algorithm_on_every_node) };

  return cmocka_run_group_tests_name ("collectives", tests, load_catalog, drop_catalog);
}
