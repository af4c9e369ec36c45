/* SPDX-License-Identifier: Apache-2.0 */
/* test_contracts.c - what every algorithm, library and network must do, for every row there is. */
#include "tests/support/test.h"

#include "tests/support/load.h"
#include "tests/support/params.h"
#include "tests/support/seeds.h"

#define GBPS(x) ((x) *G_GUINT64_CONSTANT (1000000000))

/* Two ranks, a node, four nodes; GPUs bind, the network is as fast as they are together or twice as fast. Then where
 * switches reduce, and one GPU per node. */
static const RigSpec rigs[] = {
  { .n_nodes = 1, .gpus_per_node = 2, .gpu_bytes_per_s = GBPS (200), .gpu_latency_ps = 300000 },
  { .n_nodes = 1, .gpus_per_node = 8, .gpu_bytes_per_s = GBPS (200), .gpu_latency_ps = 300000 },
  { .n_nodes = 4,
    .gpus_per_node = 8,
    .nics_per_node = 4,
    .gpu_bytes_per_s = GBPS (200),
    .nic_bytes_per_s = GBPS (100),
    .gpu_latency_ps = 300000,
    .nic_latency_ps = 600000 },
  { .n_nodes = 1,
    .gpus_per_node = 8,
    .gpu_bytes_per_s = GBPS (200),
    .gpu_latency_ps = 300000,
    .gpus_reduce = TRUE },
  { .n_nodes = 4,
    .gpus_per_node = 4,
    .nics_per_node = 4,
    .gpu_bytes_per_s = GBPS (200),
    .nic_bytes_per_s = GBPS (100),
    .gpu_latency_ps = 300000,
    .nic_latency_ps = 600000,
    .gpus_reduce = TRUE,
    .nics_reduce = TRUE },
  { .n_nodes = 4,
    .gpus_per_node = 1,
    .nics_per_node = 1,
    .gpu_bytes_per_s = GBPS (200),
    .nic_bytes_per_s = GBPS (200),
    .gpu_latency_ps = 300000,
    .nic_latency_ps = 600000 },
};

/* --- algorithms --- */

/* Bytes that GPUs must receive in sum per byte of size: what each lacks. A reduction makes every rank's part travel
 * once to where it is summed and, for all_reduce, the sum to all others. Where switches reduce, only the sum
 * travels. */
static double
fewest_bytes (FabOp op, guint n, gboolean is_in_network)
{
  switch (op) {
  case FAB_OP_ALL_REDUCE: return is_in_network ? n : 2.0 * (n - 1);
  case FAB_OP_REDUCE_SCATTER: return is_in_network ? 1 : n - 1.0;
  case FAB_OP_SEND_RECV: return n;
  case FAB_OP_GATHER:
  case FAB_OP_SCATTER: return (n - 1.0) / n;
  case FAB_OP_ALL_GATHER:
  case FAB_OP_BROADCAST:
  case FAB_OP_REDUCE:
  case FAB_OP_ALL_TO_ALL: return n - 1.0;
  case FAB_N_OPS:
  default: g_assert_not_reached ();
  }
}

/* Bytes that some GPU's link must carry one way. */
static double
fewest_on_a_link (FabOp op, guint n, gboolean is_in_network)
{
  return is_in_network && op == FAB_OP_ALL_REDUCE ? 1 : fab_op_bus_factor (op, n);
}

static double
received_by_gpus (const FabGraph *graph, const FabFootprint *footprint)
{
  double sum = 0;

  for (guint i = 0; i < footprint->n; i++)
    if (fab_graph_vertex (graph, fab_graph_link (graph, footprint->links[i])->dst)->kind
        == FAB_VERTEX_ACCELERATOR)
      sum += footprint->weights[i];
  return sum;
}

/* Nothing is summed or copied on the way: the root sends or gets the whole as often as there are others, and so do
 * NICs what all GPUs of two nodes have for each other. In binomial trees the root has it log2 n times. */
static gboolean
is_slow_by_design (const Rig *rig, const FabAlgorithmOps *algorithm, FabOp op)
{
  if (algorithm == &fab_algorithm_binomial)
    return op != FAB_OP_GATHER && op != FAB_OP_SCATTER;
  if (algorithm == &fab_algorithm_hierarchical)
    return op == FAB_OP_ALL_TO_ALL;
  return algorithm == &fab_algorithm_direct
      && (rig->spec.n_nodes > 1 || op == FAB_OP_BROADCAST || op == FAB_OP_REDUCE);
}

/* Not below the lower bound; and not above twice the best time on a fabric where only the GPUs' own links bind. */
static void
check_form (const Rig *rig, const FabAlgorithmOps *algorithm, FabOp op, const FabCollectiveForm *form)
{
  guint n = fab_cluster_n_ranks (&rig->cluster);
  gboolean is_in_network = algorithm->reduces_in != FAB_REDUCES_IN_RANKS;
  double best = (double) rig->spec.gpu_bytes_per_s / fewest_on_a_link (op, n, is_in_network);

  assert_true (form->n_channels >= 1);
  assert_true (form->n_intra_steps + form->n_inter_steps >= 1);
  assert_true (received_by_gpus (rig->graph, form->footprint)
               >= fewest_bytes (op, n, is_in_network) * (1 - 1e-9));
  assert_true (form->footprint->rate_bytes_per_s <= best * (1 + 1e-9));
  assert_true (is_slow_by_design (rig, algorithm, op)
               || form->footprint->rate_bytes_per_s >= best / 2 * (1 - 1e-9));
  assert_true (form->footprint->rate_bytes_per_s <= form->footprint->line_bound_bytes_per_s * (1 + 1e-9));
}

static void
every_algorithm_moves_what_it_must (G_GNUC_UNUSED void **state)
{
  const FabAlgorithmEnv env = { .net_stretch = 1 };

  for (guint r = 0; r < G_N_ELEMENTS (rigs); r++) {
    g_autoptr (Rig) rig = rig_new (&rigs[r]);
    FabGroup group = rig_group (rig);

    for (guint a = 0; fab_models.lists[FAB_MODEL_ALGORITHM][a]; a++)
      for (guint op = 0; op < FAB_N_OPS; op++) {
        const FabAlgorithmOps *ops = (const FabAlgorithmOps *) fab_models.lists[FAB_MODEL_ALGORITHM][a];
        FabCollectiveForm form;

        if (!ops->supports (&group, (FabOp) op))
          continue;
        assert_true (ops->form (&group, (FabOp) op, &env, &form, NULL));
        check_form (rig, ops, (FabOp) op, &form);
        fab_footprint_free (form.footprint);
      }
  }
}

/* --- libraries --- */

static void
check_plan (const Rig *rig, const FabCollectivePlan *plan, FabOp op, FabBytes bytes)
{
  assert_int_equal (plan->op, op);
  assert_int_equal (plan->bytes, bytes);
  assert_int_equal (plan->n_ranks, fab_cluster_n_ranks (&rig->cluster));
  assert_non_null (plan->algorithm);
  assert_non_null (plan->protocol);
  assert_true (plan->n_channels >= 1 && plan->wire_factor >= 1 && plan->startup_ps >= 0);
  assert_true (plan->most_bytes_per_s >= 0);
}

/* Every size has a plan, from one byte to a terabyte. More bytes never take less time; where a further channel sets
 * in, only forty times as many (`stride` sizes further) must not. A tuner may be wrong at any size: stride 0. */
static void
check_library (const Rig *rig, FabLibrary *library, guint n_ops, guint stride)
{
  FabGroup group = rig_group (rig), alone = { &rig->cluster, 1, 1 };
  FabCollectivePlan plan;

  for (guint op = 0; op < n_ops; op++) {
    g_autoptr (GArray) times_ps = g_array_new (FALSE, FALSE, sizeof (FabTimePs));

    for (FabBytes bytes = 1; bytes < G_GUINT64_CONSTANT (1000000000000); bytes = bytes * 3 / 2 + 1) {
      assert_true (fab_library_plan (library, &group, (FabOp) op, bytes, &plan, NULL));
      check_plan (rig, &plan, (FabOp) op, bytes);
      FabTimePs time_ps = fab_collective_plan_idle_ps (&plan);
      if (stride > 0 && times_ps->len >= stride)
        assert_true (time_ps >= g_array_index (times_ps, FabTimePs, times_ps->len - stride));
      g_array_append_val (times_ps, time_ps);
    }
    assert_true (fab_library_plan (library, &alone, (FabOp) op, 1000, &plan, NULL));
    assert_null (plan.footprint);
  }
}

static void
check_library_with (const Rig *rig, const FabLibraryOps *ops, const char *yaml, guint n_ops, guint stride)
{
  g_autoptr (Params) params = params_new (&ops->info, yaml);
  FabLibrary *library = ops->create (fab_models.lists[FAB_MODEL_ALGORITHM], params->params);

  check_library (rig, library, n_ops, stride);
  fab_library_destroy (library);
}

static void
every_library_plans_every_operation (G_GNUC_UNUSED void **state)
{
  for (guint r = 0; r < G_N_ELEMENTS (rigs); r++) {
    g_autoptr (Rig) rig = rig_new (&rigs[r]);

    for (guint i = 0; fab_models.lists[FAB_MODEL_LIBRARY][i]; i++) {
      const FabLibraryOps *ops = (const FabLibraryOps *) fab_models.lists[FAB_MODEL_LIBRARY][i];
      gboolean chooses = ops == &fab_library_nccl;

      check_library_with (rig, ops, "", FAB_N_OPS, chooses ? 0 : 1);
      if (chooses)
        check_library_with (rig, ops, "{algorithm: ring, protocol: simple}", FAB_OP_REDUCE + 1, 8);
    }
  }
}

/* --- networks --- */

enum { N_ITEMS = 40, N_FOOTPRINTS = 4 };

/* Payload that enters GPUs: messages once each, streams by their weights. */
static double
expected_payload (const Rig *rig, const LoadItem *items)
{
  double sum = 0;

  for (guint i = 0; i < N_ITEMS; i++) {
    const FabStream *stream = &items[i].stream;

    if (stream->footprint)
      sum += (double) stream->bytes * received_by_gpus (rig->graph, stream->footprint);
    else if (items[i].transfer.src != items[i].transfer.dst)
      sum += (double) items[i].transfer.bytes;
  }
  return sum;
}

static void
check_payload (const Rig *rig, const LoadItem *items, const FabLinkLoad *loads)
{
  double sum = 0;

  for (FabLinkId l = 0; l < fab_graph_n_links (rig->graph); l++) {
    assert_true (loads[l].line_bytes >= loads[l].payload_bytes);
    if (fab_graph_vertex (rig->graph, fab_graph_link (rig->graph, l)->dst)->kind == FAB_VERTEX_ACCELERATOR)
      sum += loads[l].payload_bytes;
  }
  assert_near (sum, expected_payload (rig, items), 1e-12);
}

/* Everything ends once, not before latency and wire time, and every byte is metered where it arrives. A network that
 * shares links never lets one carry more than its rate until the last end. */
static void
check_net (const Rig *rig, const FabNetOps *ops, LoadItem *items)
{
  guint n_links = fab_graph_n_links (rig->graph);
  g_autofree FabLinkLoad *loads = g_new0 (FabLinkLoad, n_links);
  FabTimePs last_ps = 0;

  load_play (rig, ops, items, N_ITEMS, loads);
  for (guint i = 0; i < N_ITEMS; i++) {
    assert_int_equal (items[i].n_ends, 1);
    assert_true (items[i].end_ps
                 >= items[i].start_ps + load_bound_ps (rig, &items[i]) - 1); /* doubles: 1 ps */
    last_ps = MAX (last_ps, items[i].end_ps);
  }
  check_payload (rig, items, loads);
  for (FabLinkId l = 0; l < n_links; l++) {
    double most = (double) fab_graph_link (rig->graph, l)->rate_bytes_per_s * fab_ps_to_seconds (last_ps);

    assert_true (!ops->shares_links || loads[l].line_bytes <= most * (1 + 1e-9));
  }
}

static void
check_nets (Random *random)
{
  g_autoptr (Rig) rig = rig_new (&rigs[random_below (random, G_N_ELEMENTS (rigs))]);
  FabFootprint *footprints[N_FOOTPRINTS];
  LoadItem items[N_ITEMS];

  for (guint i = 0; i < N_FOOTPRINTS; i++)
    footprints[i] = load_random_footprint (random, rig);
  load_random (random, rig, footprints, N_FOOTPRINTS, items, N_ITEMS);
  for (guint i = 0; fab_models.lists[FAB_MODEL_NET][i]; i++) {
    const FabNetOps *ops = (const FabNetOps *) fab_models.lists[FAB_MODEL_NET][i];

    check_net (rig, ops, items);
  }
  for (guint i = 0; i < N_FOOTPRINTS; i++)
    fab_footprint_free (footprints[i]);
}

static void
every_network_delivers_each_byte_once_and_in_time (G_GNUC_UNUSED void **state)
{
  seeds_run (100, check_nets);
}

/* --- networks that play messages --- */

typedef struct {
  RigNet net;
  FabNetLine *line;
  FabTimePs latency_ps, begun_ps,
      least_ps; /* of the message under way: begin, and how long its wires take at least */
  guint n_left, n_arrived;
  FabTimePs arrives_ps;
} LineWatch;

static void
watch_left (gpointer owner, guint64 arg)
{
  LineWatch *self = owner;

  assert_int_equal (arg, 42);
  assert_true (fab_engine_now (self->net.engine) >= self->begun_ps); /* queues may hold what has left */
  self->n_left++;
}

static void
watch_arrives (gpointer owner, guint64 arg, FabTimePs at_ps)
{
  LineWatch *self = owner;

  assert_int_equal (arg, 42);
  assert_true (at_ps >= fab_engine_now (self->net.engine) && at_ps >= self->arrives_ps);
  assert_true (at_ps >= self->begun_ps + self->least_ps + self->latency_ps - 1);
  self->arrives_ps = at_ps;
  self->n_arrived++;
  assert_true (self->n_left >= self->n_arrived);
}

/* Messages one after another over a hop, at once and later; then what its links carried. */
static void
check_line (const Rig *rig, const FabNetOps *ops, const FabHop *hop, const FabFootprint *footprint)
{
  const double sizes[] = { 1, 4096, 1e6, 1e6 };
  g_autofree FabLinkLoad *loads = g_new0 (FabLinkLoad, fab_graph_n_links (rig->graph));
  LineWatch watch = { .net = rig_net (rig, ops), .latency_ps = hop->latency_ps };
  double sum = 0;

  watch.line = fab_net_open (watch.net.net, &(FabConnection){ .footprint = footprint,
                                                              .legs = hop->legs,
                                                              .n_legs = hop->n_legs,
                                                              .drive = hop->drive,
                                                              .share = 1,
                                                              .latency_ps = hop->latency_ps,
                                                              .wire_factor = 1,
                                                              .owner = &watch,
                                                              .arg = 42,
                                                              .left = watch_left,
                                                              .arrives = watch_arrives });
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    watch.begun_ps = fab_engine_now (watch.net.engine) + i % 2 * 1000;
    watch.least_ps = (FabTimePs) (sizes[i] / footprint->line_bound_bytes_per_s * 1e12);
    fab_net_message (watch.net.net, watch.line, sizes[i], watch.begun_ps);
    fab_engine_run (watch.net.engine);
    assert_int_equal (watch.n_left, i + 1);
    assert_int_equal (watch.n_arrived, i + 1);
    sum += sizes[i];
  }
  fab_net_close (watch.net.net, watch.line);
  fab_meter_take (watch.net.net->meter, loads);
  for (guint i = 0; i < footprint->n; i++)
    assert_near (loads[footprint->links[i]].payload_bytes, sum * footprint->weights[i], 1e-6);
  rig_net_clear (&watch.net);
}

static void
every_line_says_when_messages_leave_and_arrive (G_GNUC_UNUSED void **state)
{
  for (guint r = 0; r < G_N_ELEMENTS (rigs); r++) {
    g_autoptr (Rig) rig = rig_new (&rigs[r]);
    g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (rig->graph);
    FabGroup group = rig_group (rig);
    FabHop hop;

    assert_true (fab_hop_ranks (&group, 0, fab_group_n_ranks (&group) - 1, &hop, NULL));
    fab_hop_use (&hop, 1, 1, builder);
    g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (builder);
    for (guint i = 0; fab_models.lists[FAB_MODEL_NET][i]; i++) {
      const FabNetOps *ops = (const FabNetOps *) fab_models.lists[FAB_MODEL_NET][i];

      assert_true ((ops->open != NULL) == (ops->message != NULL)
                   && (ops->close != NULL) == (ops->open != NULL));
      if (ops->message != NULL)
        check_line (rig, ops, &hop, footprint);
    }
    fab_hop_clear (&hop);
  }
}

/* --- networks that keep apart what shares no link --- */

/* Random transfers between the first four GPUs, and between the last four. */
static void
load_halves (Random *random, const Rig *rig, LoadItem *items)
{
  const guint half = 4;

  for (guint i = 0; i < N_ITEMS; i++) {
    guint first = i % 2 * half, from = random_below (random, half);

    items[i] = (LoadItem){
      .start_ps = random_below (random, 1000000),
      .transfer = { .src = rig_gpu (rig, first + from),
                    .dst = rig_gpu (rig, first + (from + random_between (random, 1, half - 1)) % half),
                    .bytes = random_between (random, 1, 1000000),
                    .drive = FAB_DRIVE_COPY }
    };
  }
}

/* What shares no link ends at the same ps when the other half is not there. */
static void
check_halves (Random *random)
{
  g_autoptr (Rig) rig = rig_new_flat (8);
  LoadItem items[N_ITEMS], half[N_ITEMS / 2];

  load_halves (random, rig, items);
  for (guint n = 0; fab_models.lists[FAB_MODEL_NET][n]; n++) {
    const FabNetOps *ops = (const FabNetOps *) fab_models.lists[FAB_MODEL_NET][n];

    if (ops->is_separable == NULL)
      continue;
    for (guint i = 0; i < N_ITEMS / 2; i++)
      half[i] = items[2 * i];
    load_play (rig, ops, items, N_ITEMS, NULL);
    load_play (rig, ops, half, N_ITEMS / 2, NULL);
    for (guint i = 0; i < N_ITEMS / 2; i++)
      assert_int_equal (half[i].end_ps, items[2 * i].end_ps);
  }
}

static void
separable_networks_keep_apart_what_shares_no_link (G_GNUC_UNUSED void **state)
{
  guint n_separable = 0;

  for (guint n = 0; fab_models.lists[FAB_MODEL_NET][n]; n++) {
    const FabNetOps *ops = (const FabNetOps *) fab_models.lists[FAB_MODEL_NET][n];

    n_separable += ops->is_separable != NULL;
    assert_true (ops->is_separable == NULL || ops->message != NULL);
    /* Who counts links itself at the end of a collective has no queues of its own. */
    assert_true (ops->is_separable == NULL || ops->trace != NULL || ops->link_queue == NULL);
  }
  assert_true (n_separable > 0);
  seeds_run (100, check_halves);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_algorithm_moves_what_it_must),
    cmocka_unit_test (every_library_plans_every_operation),
    seeds_test (every_network_delivers_each_byte_once_and_in_time),
    cmocka_unit_test (every_line_says_when_messages_leave_and_arrive),
    seeds_test (separable_networks_keep_apart_what_shares_no_link),
  };

  return cmocka_run_group_tests_name ("contracts", tests, NULL, NULL);
}
