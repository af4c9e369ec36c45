/* SPDX-License-Identifier: Apache-2.0 */
/* test_collective_plans.c - what follows from a plan and from a form alone: factors of operations, times on an idle
 * network, whether ends or links set them, and what scaling and sharing make of a plan. */
#include "tests/support/test.h"

#include "sim/collective/collective.h"
#include "tests/support/technologies.h"

/* --- operations --- */

static void
every_operation_has_a_name (G_GNUC_UNUSED void **state)
{
  static const char *const unknown[] = { "", "allreduce", "all_reduce ", "ALL_REDUCE", "none" };

  for (guint i = 0; i < FAB_N_OPS; i++) {
    FabOp op = FAB_N_OPS;

    assert_true (fab_op_find (fab_op_names[i], &op));
    assert_int_equal (op, i);
  }
  assert_null (fab_op_names[FAB_N_OPS]);
  for (guint i = 0; i < G_N_ELEMENTS (unknown); i++) {
    FabOp op = FAB_OP_SCATTER;

    assert_false (fab_op_find (unknown[i], &op));
    assert_int_equal (op, FAB_OP_SCATTER);
  }
}

/* nccl-tests, doc/PERFORMANCE.md, with 8 ranks. */
static void
bus_factors_of_eight_ranks (G_GNUC_UNUSED void **state)
{
  static const double factors[FAB_N_OPS] = {
    [FAB_OP_ALL_REDUCE] = 1.75,  [FAB_OP_ALL_GATHER] = 0.875, [FAB_OP_REDUCE_SCATTER] = 0.875,
    [FAB_OP_ALL_TO_ALL] = 0.875, [FAB_OP_GATHER] = 0.875,     [FAB_OP_SCATTER] = 0.875,
    [FAB_OP_BROADCAST] = 1,      [FAB_OP_REDUCE] = 1,         [FAB_OP_SEND_RECV] = 1,
  };

  for (FabOp op = 0; op < FAB_N_OPS; op++)
    assert_near (fab_op_bus_factor (op, 8), factors[op], 0);
}

/* --- forms --- */

static void
latency_is_that_of_all_steps (G_GNUC_UNUSED void **state)
{
  FabCollectiveForm form = {
    .n_intra_steps = 3, .n_inter_steps = 2, .intra_latency_ps = 10, .inter_latency_ps = 700
  };

  assert_int_equal (fab_form_latency_ps (&form), 3 * 10 + 2 * 700);
  form.n_inter_steps = G_MAXUINT;
  form.inter_latency_ps = FAB_TIME_MAX / 2;
  assert_int_equal (fab_form_latency_ps (&form), FAB_TIME_MAX);
}

/* Two GPUs, each on a socket of its own, or both on the first. The links of GPU 0 carry 1000 bytes per second, those of
 * GPU 1 400, and those between sockets 2000. */
typedef struct {
  FabGraph *graph;
  FabProcessor processor;
  FabCluster cluster;
  FabVertexId gpus[2], sockets[2];
} Host;

static void
host_init (Host *self, double cost)
{
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  const FabLinkClass link_class = { .name = "wire", .technology = &test_pcie, .cost = { 1, cost, 1 } };
  static const FabBytesPerS rates[] = { 1000, 400 };
  FabLinkForm form = { 2000, 1, fab_graph_builder_class (builder, &link_class), 1 };
  guint gpu = fab_graph_builder_part (builder, "gpu", TRUE),
        cpu = fab_graph_builder_part (builder, "cpu", TRUE);

  for (guint i = 0; i < 2; i++) {
    self->gpus[i] = fab_graph_builder_vertex (builder, FAB_VERTEX_ACCELERATOR, 0, gpu, i);
    self->sockets[i] = fab_graph_builder_vertex (builder, FAB_VERTEX_HOST, 0, cpu, i);
  }
  fab_graph_builder_join (builder, self->sockets[0], self->sockets[1], &form);
  for (guint i = 0; i < 2; i++) {
    form.rate_bytes_per_s = rates[i];
    fab_graph_builder_join (builder, self->gpus[i], self->sockets[0], &form);
    fab_graph_builder_join (builder, self->gpus[i], self->sockets[1], &form);
  }
  self->graph = fab_graph_builder_freeze (builder);
  self->processor = test_processor;
  self->cluster = (FabCluster){ .graph = self->graph, .processor = &self->processor, .n_nodes = 1 };
}

static FabLinkId
link_between (const Host *self, FabVertexId from, FabVertexId to)
{
  FabLinkId first;
  guint n = fab_graph_out_links (self->graph, from, &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (fab_graph_link (self->graph, link)->dst == to)
      return link;
  fail ();
  return FAB_NO_LINK;
}

/* A form of bytes from GPU 0 to GPU 1 by way of one socket (`is_far`: of two), of which the second link has half. */
static FabCollectiveForm
staged_form (const Host *self, gboolean is_far)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (self->graph);
  FabPath up = { .n = 1, .links = { link_between (self, self->gpus[0], self->sockets[0]) } },
          down = { .n = 1, .links = { link_between (self, self->sockets[is_far ? 1 : 0], self->gpus[1]) } },
          across = { .n = 1, .links = { link_between (self, self->sockets[0], self->sockets[1]) } };

  fab_footprint_builder_add (builder, &up, (FabUse){ .weight = 1, .drive = FAB_DRIVE_COPY, .stretch = 1 });
  fab_footprint_builder_add (builder, &down,
                             (FabUse){ .weight = 0.5, .drive = FAB_DRIVE_COPY, .stretch = 1 });
  if (is_far)
    fab_footprint_builder_add (builder, &across,
                               (FabUse){ .weight = 1, .drive = FAB_DRIVE_COPY, .stretch = 1 });
  return (FabCollectiveForm){ .footprint = fab_footprint_builder_finish (builder),
                              .intra_kind = FAB_HOP_STAGED };
}

/* Kernels are the limit on links that are faster than they are: at 500 bytes per second on that of GPU 0 alone, which
 * takes 1/1000 s per byte; at 300 on both, of which that of GPU 1 takes 0.5/400 s per byte. */
static void
kernels_limit_links_that_are_faster (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytesPerS most, far;
    gboolean is_far;
    double cost, expected;
  } cases[] = {
    { 0, 0, FALSE, 1, 0 },      { 1000, 1, FALSE, 1, 0 },   { 999, 1, FALSE, 1, 1000 },
    { 500, 1, FALSE, 1, 1000 }, { 400, 1, FALSE, 1, 1000 }, { 300, 1, FALSE, 1, 800 },
    { 1, 500, TRUE, 1, 1000 },  { 1, 300, TRUE, 1, 800 },   { 1, 1500, TRUE, 1, 0 },
    { 1, 0, TRUE, 1, 0 },       { 500, 1, FALSE, 2, 0 },    { 499, 1, FALSE, 2, 1000 },
    { 199, 1, FALSE, 2, 800 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Host host;

    host_init (&host, cases[i].cost);
    host.processor.staged_kernel_most_bytes_per_s = cases[i].most;
    host.processor.staged_kernel_far_bytes_per_s = cases[i].far;
    FabCollectiveForm form = staged_form (&host, cases[i].is_far);
    assert_near (fab_form_kernels_bytes_per_s (&form, &host.cluster), cases[i].expected, 1e-12);
    /* A form whose slowest hop does not go through host memory has no such limit. */
    form.intra_kind = FAB_HOP_DIRECT;
    assert_near (fab_form_kernels_bytes_per_s (&form, &host.cluster), 0, 0);
    fab_footprint_free (form.footprint);
    fab_graph_free (host.graph);
  }
}

/* What a processor loses where kernels and both directions meet in its memory was measured in the limit, so that a link
 * counts from as much more on: from 4 x 100 bytes per second on with a loss of one half each. */
static void
losses_of_memory_are_in_the_limit (G_GNUC_UNUSED void **state)
{
  static const struct {
    gboolean kernel, both; /* loses half */
    FabBytesPerS most;
    double expected;
  } cases[] = { { FALSE, FALSE, 399, 800 }, { FALSE, FALSE, 400, 1000 }, { TRUE, FALSE, 199, 800 },
                { TRUE, FALSE, 200, 1000 }, { FALSE, TRUE, 199, 800 },   { FALSE, TRUE, 200, 1000 },
                { TRUE, TRUE, 99, 800 },    { TRUE, TRUE, 100, 1000 },   { TRUE, TRUE, 249, 1000 },
                { TRUE, TRUE, 250, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const FabSlowdown slow = { .plain_bytes_per_s = 2, .reached_bytes_per_s = 1 };
    Host host;

    host_init (&host, 1);
    host.processor.staged_kernel_most_bytes_per_s = cases[i].most;
    if (cases[i].kernel)
      host.processor.staged_kernel = slow;
    if (cases[i].both)
      host.processor.staged_both_ways = slow;
    FabCollectiveForm form = staged_form (&host, FALSE);
    assert_near (fab_form_kernels_bytes_per_s (&form, &host.cluster), cases[i].expected, 1e-12);
    fab_footprint_free (form.footprint);
    fab_graph_free (host.graph);
  }
}

/* Phases that follow one another, all of them inside the node, make the kernels as much slower as they make the links;
 * phases between nodes come between, so that nothing is known then. */
static void
phases_make_kernels_slower (G_GNUC_UNUSED void **state)
{
  Host host;

  host_init (&host, 1);
  host.processor.staged_kernel_most_bytes_per_s = 500;
  FabCollectiveForm form = staged_form (&host, FALSE);
  assert_near (form.footprint->rate_bytes_per_s, 800, 1e-12);
  form.phases_bytes_per_s = 200; /* a quarter */
  assert_near (fab_form_kernels_bytes_per_s (&form, &host.cluster), 250, 1e-12);
  form.n_inter_steps = 1;
  assert_near (fab_form_kernels_bytes_per_s (&form, &host.cluster), 0, 0);
  form.phases_bytes_per_s = 0;
  assert_near (fab_form_kernels_bytes_per_s (&form, &host.cluster), 1000, 1e-12);
  fab_footprint_free (form.footprint);
  fab_graph_free (host.graph);
}

/* --- plans --- */

static FabFootprint footprint = { .rate_bytes_per_s = 100,
                                  .line_bound_bytes_per_s = 100,
                                  .binding_weight = 1.5 };

/* 1000 bytes at 100 bytes per second, after 2 s. */
static FabCollectivePlan
some_plan (void)
{
  return (FabCollectivePlan){ .footprint = &footprint,
                              .bytes = 1000,
                              .startup_ps = 2 * FAB_PS_PER_S,
                              .latency_ps = FAB_PS_PER_S,
                              .wire_factor = 1,
                              .n_connections = 3,
                              .fill_ps = 500,
                              .best = { .idle_ps = 700 },
                              .steps = { .n_chunks = 4,
                                         .steps_ps = 600,
                                         .fill_ps = 400,
                                         .pace_bytes_per_s = 50,
                                         .intra_cost = 1,
                                         .inter_cost = 2 } };
}

static void
a_stream_is_what_the_plan_says (G_GNUC_UNUSED void **state)
{
  FabCollectivePlan plan = some_plan ();

  plan.most_bytes_per_s = 80;
  plan.wire_factor = 1.25;
  FabStream stream = fab_collective_plan_stream (&plan);
  assert_ptr_equal (stream.footprint, &footprint);
  assert_int_equal (stream.bytes, 1000);
  assert_int_equal (stream.startup_ps, 2 * FAB_PS_PER_S);
  assert_int_equal (stream.latency_ps, FAB_PS_PER_S);
  assert_near (stream.wire_factor, 1.25, 0);
  assert_near (stream.limit_bytes_per_s, 80, 0);
  assert_int_equal (stream.share, 3);
  assert_true (stream.stays);
  assert_null (stream.traffic);
}

static void
idle_time_is_startup_and_bytes (G_GNUC_UNUSED void **state)
{
  FabCollectivePlan plan = some_plan ();

  assert_int_equal (fab_collective_plan_idle_ps (&plan), 12 * FAB_PS_PER_S);
  assert_near (fab_collective_plan_wire_per_byte (&plan), 1.5, 0);
  plan.wire_factor = 2;
  assert_int_equal (fab_collective_plan_idle_ps (&plan), 22 * FAB_PS_PER_S);
  assert_near (fab_collective_plan_wire_per_byte (&plan), 3, 0);
  plan.most_bytes_per_s = 25;
  assert_int_equal (fab_collective_plan_idle_ps (&plan), 42 * FAB_PS_PER_S);
  plan.footprint = NULL;
  assert_int_equal (fab_collective_plan_idle_ps (&plan), 0);
  assert_near (fab_collective_plan_wire_per_byte (&plan), 0, 0);
}

/* The bytes take 10 s, and 2 s of fill: ends that take 0.95 of these 12 s are what the plan waits for. */
static void
ends_that_take_nearly_all_of_the_time_set_it (G_GNUC_UNUSED void **state)
{
  static const struct {
    double ends_s;
    FabTimePs fill_ps;
    gboolean waits;
  } cases[] = { { 0, 0, FALSE },
                { 9.4, 0, FALSE },
                { 9.6, 0, TRUE },
                { 11.3, 2 * FAB_PS_PER_S, FALSE },
                { 11.5, 2 * FAB_PS_PER_S, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabCollectivePlan plan = some_plan ();

    plan.fill_ps = cases[i].fill_ps;
    plan.ends_bytes_per_s = cases[i].ends_s > 0 ? 1000 / cases[i].ends_s : 0;
    assert_int_equal (fab_collective_plan_waits_for_ends (&plan), cases[i].waits);
    plan.waits_for_ends = TRUE;
    assert_true (fab_collective_plan_waits_for_ends (&plan));
    plan.footprint = NULL;
    assert_false (fab_collective_plan_waits_for_ends (&plan));
    plan.waits_for_ends = FALSE;
    assert_false (fab_collective_plan_waits_for_ends (&plan));
  }
}

static void
a_scaled_plan_takes_as_many_times_as_long (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 2; i++) {
    FabCollectivePlan plan = some_plan ();
    double factor = i == 0 ? 1.5 : 0.5;

    plan.most_bytes_per_s = 80;
    plan.ends_bytes_per_s = 90;
    FabTimePs idle_ps = fab_collective_plan_idle_ps (&plan);
    fab_collective_plan_scale (&plan, factor);
    assert_int_equal (fab_collective_plan_idle_ps (&plan), (FabTimePs) (factor * (double) idle_ps));
    assert_int_equal (plan.startup_ps, (FabTimePs) (factor * 2 * (double) FAB_PS_PER_S));
    assert_int_equal (plan.latency_ps, (FabTimePs) (factor * (double) FAB_PS_PER_S));
    assert_int_equal (plan.fill_ps, (FabTimePs) (factor * 500));
    assert_int_equal (plan.steps.steps_ps, (FabTimePs) (factor * 600));
    assert_int_equal (plan.steps.fill_ps, (FabTimePs) (factor * 400));
    assert_near (plan.wire_factor, factor, 1e-15);
    assert_near (plan.most_bytes_per_s, 80 / factor, 1e-15);
    assert_near (plan.ends_bytes_per_s, 90 / factor, 1e-15);
    assert_near (plan.steps.pace_bytes_per_s, 50 / factor, 1e-15);
    assert_int_equal (plan.bytes, 1000);
  }
}

/* Times are rounded to the nearest picosecond, and no time is longer than the clock. */
static void
scaled_times_are_rounded_and_bounded (G_GNUC_UNUSED void **state)
{
  FabCollectivePlan plan = some_plan (), longest = some_plan (), wires = some_plan ();

  plan.startup_ps = plan.latency_ps = 5;
  plan.fill_ps = 3;
  fab_collective_plan_scale (&plan, 0.5);
  assert_int_equal (plan.startup_ps, 3);
  assert_int_equal (plan.latency_ps, 3);
  assert_int_equal (plan.fill_ps, 2);
  longest.startup_ps = FAB_TIME_MAX / 2;
  fab_collective_plan_scale (&longest, 1e6);
  assert_int_equal (longest.startup_ps, FAB_TIME_MAX);
  wires.latency_ps = wires.startup_ps + 1; /* wires are a part of the startup */
  fab_collective_plan_scale (&wires, 1);
  assert_int_equal (wires.latency_ps, wires.startup_ps);
}

static void
a_plan_that_starts_at_once_has_no_startup (G_GNUC_UNUSED void **state)
{
  FabCollectivePlan plan = some_plan ();

  fab_collective_plan_start_at_once (&plan);
  assert_int_equal (plan.startup_ps, 0);
  assert_int_equal (plan.latency_ps, 0);
  assert_int_equal (plan.steps.steps_ps, 0);
  assert_int_equal (plan.steps.fill_ps, 0);
  assert_int_equal (plan.steps.n_chunks, 4);
  assert_int_equal (fab_collective_plan_idle_ps (&plan), 10 * FAB_PS_PER_S);
}

/* Bytes are rounded up, so that n parts are not less than the whole. */
static void
a_share_is_a_part_of_the_plan (G_GNUC_UNUSED void **state)
{
  FabCollectivePlan plan = some_plan (), whole = some_plan ();

  plan.startup_ps = 100;
  plan.latency_ps = 71;
  fab_collective_plan_share (&plan, 7);
  assert_int_equal (plan.bytes, 143);
  assert_int_equal (plan.startup_ps, 14);
  assert_int_equal (plan.latency_ps, 10);
  assert_int_equal (plan.fill_ps, 71);
  assert_int_equal (plan.best.idle_ps, 100);
  assert_int_equal (plan.steps.n_chunks, 0);
  assert_int_equal (plan.steps.steps_ps, 0);
  fab_collective_plan_share (&whole, 1);
  assert_int_equal (whole.bytes, 1000);
  assert_int_equal (fab_collective_plan_idle_ps (&whole), 12 * FAB_PS_PER_S);
}

/* --- algorithms --- */

static void
algorithms_come_by_preference (G_GNUC_UNUSED void **state)
{
  static const FabAlgorithmOps third = { .preference = 30 }, first = { .preference = 1 },
                               second = { .preference = 7 };
  const FabModelInfo *const lists[][4] = { { &third.info, &first.info, &second.info, NULL },
                                           { &first.info, &second.info, &third.info, NULL },
                                           { &third.info, &second.info, &first.info, NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    g_autofree const FabAlgorithmOps **sorted = fab_algorithms_by_preference (lists[i]);

    assert_ptr_equal (sorted[0], &first);
    assert_ptr_equal (sorted[1], &second);
    assert_ptr_equal (sorted[2], &third);
    assert_null (sorted[3]);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_operation_has_a_name),
    cmocka_unit_test (bus_factors_of_eight_ranks),
    cmocka_unit_test (latency_is_that_of_all_steps),
    cmocka_unit_test (kernels_limit_links_that_are_faster),
    cmocka_unit_test (losses_of_memory_are_in_the_limit),
    cmocka_unit_test (phases_make_kernels_slower),
    cmocka_unit_test (a_stream_is_what_the_plan_says),
    cmocka_unit_test (idle_time_is_startup_and_bytes),
    cmocka_unit_test (ends_that_take_nearly_all_of_the_time_set_it),
    cmocka_unit_test (a_scaled_plan_takes_as_many_times_as_long),
    cmocka_unit_test (scaled_times_are_rounded_and_bounded),
    cmocka_unit_test (a_plan_that_starts_at_once_has_no_startup),
    cmocka_unit_test (a_share_is_a_part_of_the_plan),
    cmocka_unit_test (algorithms_come_by_preference),
  };

  return cmocka_run_group_tests_name ("collective plans", tests, NULL, NULL);
}
