/* SPDX-License-Identifier: Apache-2.0 */
/* test_account.c - what an iteration says of small jobs: exposed time between and inside nodes, means over ranks, and
 * what links carried. Random jobs: tests/property/prop_records.c.
 */
#include "tests/unit/sim/execution/executor_job.h"

/* Two nodes with two GPUs and a NIC each, where everything moves 1 byte per ps. */
static Rig *
two_nodes (void)
{
  return rig_new (&(RigSpec){ .n_nodes = 2,
                              .gpus_per_node = 2,
                              .nics_per_node = 1,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S });
}

static const FabExposureRecord *
exposure_of (const Job *job, guint rank_class, FabDimension dimension, FabOp op)
{
  const GArray *all = fab_executor_probe (job->executor)->exposures;

  for (guint i = 0; i < all->len; i++) {
    const FabExposureRecord *one = &g_array_index (all, FabExposureRecord, i);

    if (one->rank_class == rank_class && one->dimension == fab_dimension_names[dimension]
        && one->op == fab_op_names[op])
      return one;
  }
  return NULL;
}

/* A 0-10. Of dimension d, 30 bytes inside a node: 10-40. From 20 on, 40 bytes between the nodes: 20-60. B 50-60 hides
 * the end. Both share 20-40 equally, and of one dimension and operation the time between nodes is still told apart. */
static void
time_between_nodes_is_told_from_time_inside (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabDimension inside, between;
    FabOp inside_op, between_op;
  } rows[] = {
    { FAB_DIMENSION_TENSOR, FAB_DIMENSION_DATA, FAB_OP_ALL_GATHER, FAB_OP_ALL_REDUCE },
    { FAB_DIMENSION_DATA, FAB_DIMENSION_DATA, FAB_OP_ALL_GATHER, FAB_OP_ALL_REDUCE },
    { FAB_DIMENSION_DATA, FAB_DIMENSION_DATA, FAB_OP_ALL_REDUCE, FAB_OP_ALL_REDUCE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Job) job = job_with (two_nodes ());
    guint rank_class = fab_dag_builder_class (job->builder, "all", 0, 4);
    guint compute = fab_dag_builder_stream (job->builder, rank_class, "compute"),
          loader = fab_dag_builder_stream (job->builder, rank_class, "loader");
    guint near = send (job, 0, 1, 30, rows[i].inside, rows[i].inside_op),
          far = send (job, 1, 2, 40, rows[i].between, rows[i].between_op);
    FabTaskId a = work (job, compute, FAB_SPAN_COMPUTE, 10, "A"),
              load = work (job, loader, FAB_SPAN_LOAD, 20, "L"),
              late = work (job, loader, FAB_SPAN_LOAD, 30, "M"),
              b = work (job, compute, FAB_SPAN_COMPUTE, 10, "B");

    fab_dag_builder_after (job->builder, b, late);
    fab_dag_builder_after (
        job->builder,
        fab_dag_builder_join (job->builder, fab_dag_builder_stream (job->builder, rank_class, "near"), near),
        a);
    fab_dag_builder_after (
        job->builder,
        fab_dag_builder_join (job->builder, fab_dag_builder_stream (job->builder, rank_class, "far"), far),
        load);
    job_start (job, 1);
    assert_true (fab_executor_run_iteration (job->executor));
    const FabExposureRecord *inside = exposure_of (job, 0, rows[i].inside, rows[i].inside_op),
                            *between = exposure_of (job, 0, rows[i].between, rows[i].between_op);
    const FabProbe *probe = fab_executor_probe (job->executor);

    assert_int_equal (g_array_index (probe->iterations, FabIterationRecord, 0).duration_ps, 60);
    assert_int_equal (g_array_index (probe->iterations, FabIterationRecord, 0).exposed_ps, 40);
    assert_int_equal (g_array_index (probe->iterations, FabIterationRecord, 0).exposed_inter_node_ps, 20);
    assert_int_equal (probe->step.times.exposed_inter_node_ps, 20);
    assert_int_equal (between->exposed_inter_node_ps, 20);
    assert_int_equal (between->comm_ps, inside == between ? 50 : 40);
    assert_int_equal (between->exposed_ps, inside == between ? 40 : 20);
    assert_int_equal (between->bytes, inside == between ? 70 : 40);
    assert_int_equal (between->n_collectives, inside == between ? 2 : 1);
    if (inside != between) {
      assert_int_equal (inside->comm_ps, 30);
      assert_int_equal (inside->exposed_ps, 20);
      assert_int_equal (inside->exposed_inter_node_ps, 0);
      assert_int_equal (inside->bytes, 30);
    }
  }
}

/* A class of one rank computes for 10 and one of three for 31; 20 bytes between the nodes from then on, beside which
 * the three compute for another 5 and load for 20. Means over the four ranks, rounded down. */
static void
the_step_is_the_mean_over_ranks (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_with (two_nodes ());
  guint all = send (job, 0, 2, 20, FAB_DIMENSION_DATA, FAB_OP_ALL_REDUCE);

  for (guint c = 0; c < 2; c++) {
    guint rank_class = fab_dag_builder_class (job->builder, "all", c, c == 0 ? 1 : 3);
    guint compute = fab_dag_builder_stream (job->builder, rank_class, "compute"),
          comm = fab_dag_builder_stream (job->builder, rank_class, "comm");
    FabTaskId first = work (job, compute, FAB_SPAN_COMPUTE, c == 0 ? 10 : 31, "A");

    if (c == 1)
      work (job, compute, FAB_SPAN_COMPUTE, 5, "B");
    fab_dag_builder_after (job->builder, fab_dag_builder_join (job->builder, comm, all), first);
  }
  job_start (job, 1);
  assert_true (fab_executor_run_iteration (job->executor));
  const FabProbe *probe = fab_executor_probe (job->executor);
  const FabIterationRecord *mean = &probe->step.times;

  assert_int_equal (mean->duration_ps, 51);
  assert_int_equal (mean->compute_ps, (10 + 3 * 36) / 4);
  assert_int_equal (mean->comm_ps, 20);
  assert_int_equal (mean->overlapped_ps, 3 * 5 / 4);
  assert_int_equal (mean->exposed_ps, 20 - 3); /* of the means, so that they add up */
  assert_int_equal (mean->idle_ps, 51 - 29 - 17);
  assert_int_equal (mean->waiting_ps, 21 / 4);
  assert_int_equal (mean->exposed_inter_node_ps, mean->exposed_ps);
  assert_int_equal (g_array_index (probe->iterations, FabIterationRecord, 0).exposed_inter_node_ps, 20);
  assert_int_equal (g_array_index (probe->iterations, FabIterationRecord, 1).exposed_inter_node_ps, 15);
  assert_int_equal (g_array_index (probe->collectives, FabCollectiveRecord, 0).exposed_ps, (20 + 3 * 15) / 4);
}

/* Of exposed time that is partly inside nodes: 20 between them for one rank, and 10 inside for three. */
static void
the_mean_between_nodes_is_rounded_down (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_with (two_nodes ());

  for (guint c = 0; c < 2; c++) {
    guint rank_class = fab_dag_builder_class (job->builder, "all", c, c == 0 ? 1 : 3);
    guint sent = c == 0 ? send (job, 0, 2, 21, FAB_DIMENSION_DATA, FAB_OP_ALL_REDUCE)
                        : send (job, 0, 1, 10, FAB_DIMENSION_DATA, FAB_OP_ALL_REDUCE);

    fab_dag_builder_join (job->builder, fab_dag_builder_stream (job->builder, rank_class, "comm"), sent);
  }
  job->ops = &fab_net_analytic; /* both begin from GPU 0 */
  job_start (job, 1);
  assert_true (fab_executor_run_iteration (job->executor));
  const FabIterationRecord *mean = &fab_executor_probe (job->executor)->step.times;

  assert_int_equal (mean->exposed_ps, (21 + 3 * 10) / 4);
  assert_int_equal (mean->exposed_inter_node_ps, 21 / 4);
}

/* Every other one of 200 GPUs sends to the next one, the first ones least: 1, 1, 2, 2, 3, 3 and so on. Loads are told
 * link by link, of 400 links. Samples are those of the eight links that are busiest, the first of equals before. */
static void
samples_are_of_the_eight_busiest_links_that_bind (G_GNUC_UNUSED void **state)
{
  enum { GPUS = 200, SAMPLED = 8 };
  g_autoptr (Job) job = job_with (rig_new_flat (GPUS));
  guint rank_class = fab_dag_builder_class (job->builder, "all", 0, GPUS);
  g_autofree guint64 *bytes = g_new0 (guint64, fab_graph_n_links (job->rig->graph));
  g_autofree guint *sampled = g_new0 (guint, fab_graph_n_links (job->rig->graph));

  for (guint gpu = 0; gpu < GPUS; gpu += 2) {
    FabPath path = { 0 };

    fab_dag_builder_join (job->builder, fab_dag_builder_stream (job->builder, rank_class, "comm"),
                          send (job, gpu, gpu + 1, 1 + gpu / 4, FAB_DIMENSION_DATA, FAB_OP_ALL_GATHER));
    fab_router_append (job->rig->router, rig_gpu (job->rig, gpu), rig_gpu (job->rig, gpu + 1), 0, &path);
    for (guint i = 0; i < path.n; i++)
      bytes[path.links[i]] = 1 + gpu / 4;
  }
  job_start (job, 1);
  assert_true (fab_executor_run_iteration (job->executor));
  const FabProbe *probe = fab_executor_probe (job->executor);

  assert_int_equal (probe->link_loads->len, GPUS);
  for (guint i = 0; i < probe->link_loads->len; i++) {
    const FabLinkLoadRecord *load = &g_array_index (probe->link_loads, FabLinkLoadRecord, i);

    assert_true (i == 0 || load[-1].link < load->link);
    assert_int_equal (load->bytes, bytes[load->link]);
    assert_near (load->busy_fraction, (double) load->bytes / 50, 1e-12); /* the last one sends 50 */
  }
  /* Bytes of the last of these: 50, 50, 49, 49, 48, 48, 47, 47. */
  assert_int_equal (probe->samples->len, SAMPLED);
  for (guint i = 0; i < SAMPLED; i++) {
    const FabLinkSampleRecord *sample = &g_array_index (probe->samples, FabLinkSampleRecord, i);
    gboolean binds = FALSE;

    assert_int_equal (bytes[sample->link], 50 - i / 2);
    assert_int_equal (sample->start_ps, 0);
    assert_int_equal (sample->end_ps, 50 - i / 2);
    assert_near (sample->bytes_per_s, 1e12, 1e-9);
    assert_true (i % 2 == 0 || sample[-1].link < sample->link);
    for (guint k = 0; k < probe->collectives->len; k++)
      binds |= g_array_index (probe->collectives, FabCollectiveRecord, k).binding_link == sample->link;
    assert_true (binds);
  }
}

/* 10 bytes at 1000 bytes per s, a pause of 5 ms, and 20 bytes: a link carries nothing in the pause, and afterwards what
 * moves then and nothing else. A collective of no bytes at the same time moves nothing. */
static void
a_pause_has_no_sample (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_with (
      rig_new (&(RigSpec){ .n_nodes = 1, .gpus_per_node = 2, .gpu_bytes_per_s = 1000 }));
  guint rank_class = fab_dag_builder_class (job->builder, "all", 0, 2);
  guint stream = fab_dag_builder_stream (job->builder, rank_class, "all");
  const FabTimePs ms = FAB_PS_PER_S / 1000, times_ps[][2] = { { 0, 10 * ms }, { 15 * ms, 35 * ms } };

  fab_dag_builder_join (job->builder, stream, send (job, 0, 1, 10, FAB_DIMENSION_DATA, FAB_OP_ALL_GATHER));
  work (job, stream, FAB_SPAN_LOAD, 5 * ms, "L");
  fab_dag_builder_join (job->builder, stream, send (job, 0, 1, 20, FAB_DIMENSION_DATA, FAB_OP_ALL_GATHER));
  fab_dag_builder_join (job->builder, fab_dag_builder_stream (job->builder, rank_class, "beside"),
                        send (job, 0, 1, 0, FAB_DIMENSION_DATA, FAB_OP_ALL_GATHER));
  job_start (job, 1);
  assert_true (fab_executor_run_iteration (job->executor));
  const GArray *samples = fab_executor_probe (job->executor)->samples;
  assert_int_equal (samples->len % 2, 0);
  assert_true (samples->len > 0);
  for (guint i = 0; i < samples->len; i++) {
    const FabLinkSampleRecord *sample = &g_array_index (samples, FabLinkSampleRecord, i);

    assert_int_equal (sample->start_ps, times_ps[i % 2][0]);
    assert_int_equal (sample->end_ps, times_ps[i % 2][1]);
    assert_near (sample->bytes_per_s, 1000, 1e-9);
  }
}

/* A copy of 1 ps is one of the other dimension, without a collective; a collective of no bytes is one that takes no
 * time. Nothing else is listed. */
static void
copies_and_empty_collectives_are_listed (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint rank_class = fab_dag_builder_class (job->builder, "all", 0, 2);
  guint stream = fab_dag_builder_stream (job->builder, rank_class, "all");

  work (job, stream, FAB_SPAN_COMM, 1, "C");
  fab_dag_builder_join (job->builder, stream, send (job, 0, 1, 0, FAB_DIMENSION_TENSOR, FAB_OP_BROADCAST));
  job_start (job, 1);
  assert_true (fab_executor_run_iteration (job->executor));
  const FabExposureRecord *copy = exposure_of (job, 0, FAB_DIMENSION_OTHER, FAB_OP_SEND_RECV),
                          *empty = exposure_of (job, 0, FAB_DIMENSION_TENSOR, FAB_OP_BROADCAST);

  assert_int_equal (fab_executor_probe (job->executor)->exposures->len, 2);
  assert_true (copy->n_collectives == 0 && copy->bytes == 0 && copy->comm_ps == 1 && copy->exposed_ps == 1);
  assert_true (empty->n_collectives == 1 && empty->bytes == 0 && empty->comm_ps == 0
               && empty->exposed_ps == 0);
}

static void
do_nothing (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED guint64 arg)
{
}

/* The clock is at 70 when the job begins. */
static void
a_job_that_begins_later_is_counted_from_then_on (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 2),
                                         "all");

  work (job, stream, FAB_SPAN_COMPUTE, 30, "A");
  job_start (job, 2);
  fab_engine_after (job->net.engine, 70, do_nothing, job, 0);
  fab_engine_run (job->net.engine);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "70+30 30 0 0 0 0", "compute A 70-100");
  assert_true (fab_executor_run_iteration (job->executor));
  assert_iteration (job, 0, "100+30 30 0 0 0 0", "compute A 100-130");
}

/* An all-reduce of b bytes over three GPUs puts 4/3 b on each link. */
static void
loads_are_rounded_to_bytes (G_GNUC_UNUSED void **state)
{
  for (guint bytes = 10; bytes <= 12; bytes++) {
    g_autoptr (Job) job = job_with (rig_new_flat (3));

    fab_dag_builder_join (job->builder,
                          fab_dag_builder_stream (job->builder,
                                                  fab_dag_builder_class (job->builder, "all", 0, 3), "all"),
                          all_reduce (job, bytes));
    job_start (job, 1);
    assert_true (fab_executor_run_iteration (job->executor));
    const GArray *loads = fab_executor_probe (job->executor)->link_loads;
    assert_int_equal (loads->len, 6);
    for (guint i = 0; i < loads->len; i++)
      assert_int_equal (g_array_index (loads, FabLinkLoadRecord, i).bytes, lround (4.0 * bytes / 3));
  }
}

/* What two GPUs of a node send each other over a switch of the network, by no NIC, does not leave the node. */
static void
a_switch_of_the_network_is_not_between_nodes (G_GNUC_UNUSED void **state)
{
  for (guint is_star = 0; is_star < 2; is_star++) {
    g_autoptr (Job) job = job_with (rig_new (&(RigSpec){ .n_nodes = 2,
                                                         .gpus_per_node = 2,
                                                         .nics_per_node = 1,
                                                         .has_network_star = is_star,
                                                         .gpu_bytes_per_s = FAB_PS_PER_S,
                                                         .nic_bytes_per_s = FAB_PS_PER_S }));
    guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 4),
                                           "all");

    fab_dag_builder_join (job->builder, stream, send (job, 0, 1, 30, FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
    fab_dag_builder_join (job->builder, stream, send (job, 0, 2, 20, FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
    job_start (job, 1);
    assert_true (fab_executor_run_iteration (job->executor));
    assert_int_equal (fab_executor_probe (job->executor)->step.times.exposed_ps, 50);
    assert_int_equal (fab_executor_probe (job->executor)->step.times.exposed_inter_node_ps, 20);
  }
}

/* An iteration that takes no time, or one of an accelerator of unknown speed, has no rates. */
static void
nothing_is_divided_by_no_time (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();

  fab_dag_builder_join (job->builder,
                        fab_dag_builder_stream (job->builder,
                                                fab_dag_builder_class (job->builder, "all", 0, 2), "all"),
                        nothing (job));
  job->env.totals = (FabJobTotals){ .model_flops_per_rank = 15, .executed_flops_per_rank = 20, .tokens = 3 };
  job_start (job, 1);
  assert_true (fab_executor_run_iteration (job->executor));
  const FabStepRecord *step = &fab_executor_probe (job->executor)->step;
  assert_int_equal (step->times.duration_ps, 0);
  assert_true (step->mfu_fraction == 0 && step->hfu_fraction == 0 && step->tokens_per_s == 0);
}

/* Sends from GPU 0 to GPUs 1 and 2, which do not contend in this network: each is said to be held back by the link out
 * of GPU 0, which both cross, unless nobody asks what links carried. */
static void
without_loads_links_are_those_of_an_idle_network (G_GNUC_UNUSED void **state)
{
  for (guint has_no_loads = 0; has_no_loads < 2; has_no_loads++) {
    g_autoptr (Job) job = job_with (rig_new_flat (3));
    guint rank_class = fab_dag_builder_class (job->builder, "all", 0, 3);

    for (guint to = 1; to < 3; to++)
      fab_dag_builder_join (job->builder, fab_dag_builder_stream (job->builder, rank_class, "comm"),
                            send (job, 0, to, 10, FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
    job->ops = &fab_net_analytic;
    job->env.has_no_loads = has_no_loads;
    job_start (job, 1);
    assert_true (fab_executor_run_iteration (job->executor));
    const FabProbe *probe = fab_executor_probe (job->executor);

    assert_int_equal (probe->link_loads->len, has_no_loads ? 0 : 3);
    assert_int_equal (probe->samples->len > 0, !has_no_loads);
    for (guint i = 0; i < 2; i++) {
      FabLinkId link = g_array_index (probe->collectives, FabCollectiveRecord, i).binding_link;
      const FabFootprint *other = g_ptr_array_index (job->footprints, 1 - i);

      assert_int_equal (fab_footprint_has (other, link, &(guint){ 0 }), !has_no_loads);
    }
  }
}

/* Two ranks, of which every sum is odd. The first computes until 2 beside a copy until 5, and waits for the second from
 * then on, which loads until 20 and computes until 23. Together they send for 10. */
static void
means_of_odd_sums_are_rounded_down (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint all = send (job, 0, 1, 10, FAB_DIMENSION_DATA, FAB_OP_ALL_REDUCE);

  for (guint c = 0; c < 2; c++) {
    guint rank_class = fab_dag_builder_class (job->builder, "all", c, 1);
    guint compute = fab_dag_builder_stream (job->builder, rank_class, "compute"),
          comm = fab_dag_builder_stream (job->builder, rank_class, "comm");

    work (job, compute, FAB_SPAN_COMPUTE, c == 0 ? 2 : 23, "A");
    work (job, comm, c == 0 ? FAB_SPAN_COMM : FAB_SPAN_LOAD, c == 0 ? 5 : 20, "B");
    fab_dag_builder_join (job->builder, comm, all);
  }
  job_start (job, 1);
  assert_true (fab_executor_run_iteration (job->executor));
  const FabProbe *probe = fab_executor_probe (job->executor);
  const FabIterationRecord *mean = &probe->step.times;

  assert_int_equal (mean->rank_class, 0);
  assert_int_equal (mean->duration_ps, 30);
  assert_int_equal (mean->compute_ps, (2 + 23) / 2);
  assert_int_equal (mean->comm_ps, (15 + 10) / 2);
  assert_int_equal (mean->overlapped_ps, (2 + 3) / 2);
  assert_int_equal (mean->waiting_ps, 15 / 2);
  assert_int_equal (mean->exposed_ps, 12 - 2);
  assert_int_equal (g_array_index (probe->collectives, FabCollectiveRecord, 0).exposed_ps, (10 + 7) / 2);
}

/* Of 1e12 FLOP/s, one in a ps. */
static void
an_iteration_may_take_a_ps (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();

  work (job, fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 2), "all"),
        FAB_SPAN_COMPUTE, 1, "A");
  job->env.totals = (FabJobTotals){ .model_flops_per_rank = 0.5, .executed_flops_per_rank = 0.75 };
  job_start (job, 1);
  assert_true (fab_executor_run_iteration (job->executor));
  assert_near (fab_executor_probe (job->executor)->step.mfu_fraction, 0.5, 1e-12);
  assert_near (fab_executor_probe (job->executor)->step.hfu_fraction, 0.75, 1e-12);
}

/* The first rank waits at the second iteration's collective from time 0 on, because nothing else is left for it in the
 * first one. The second rank comes at 50, when the first iteration ends: all of the waiting lies in that. */
static void
waiting_from_the_very_start_is_split_too (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ();
  guint collective = nothing (job);

  for (guint c = 0; c < 2; c++) {
    guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", c, 1),
                                           "all");

    fab_dag_builder_join (job->builder, stream, collective);
    if (c == 1)
      work (job, stream, FAB_SPAN_LOAD, 50, "L");
  }
  job_start (job, 2);
  for (guint i = 0; i < 2; i++) {
    assert_true (fab_executor_run_iteration (job->executor));
    const FabIterationRecord *times = &g_array_index (fab_executor_probe (job->executor)->iterations,
                                                      FabIterationRecord, 0);

    assert_int_equal (times->start_ps, 50 * i);
    assert_int_equal (times->duration_ps, 50);
    assert_int_equal (times->waiting_ps, i == 0 ? 50 : 0);
    assert_int_equal (times[1].waiting_ps, 0);
  }
}

/* Sends of 3, 7 and 11 bytes at 10 bytes per s share a link, and add up to rates that are no round numbers. What is
 * left of their sum when all have ended is not carried into the next sample, of 20 bytes. */
static void
rounding_ends_with_a_pause (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_with (
      rig_new (&(RigSpec){ .n_nodes = 1, .gpus_per_node = 2, .gpu_bytes_per_s = 10 }));
  static const FabBytes bytes[] = { 3, 7, 11 };
  guint rank_class = fab_dag_builder_class (job->builder, "all", 0, 2);
  guint last = fab_dag_builder_stream (job->builder, rank_class, "last");

  for (guint i = 0; i < G_N_ELEMENTS (bytes); i++)
    fab_dag_builder_join (job->builder, fab_dag_builder_stream (job->builder, rank_class, "s"),
                          send (job, 0, 1, bytes[i], FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
  work (job, last, FAB_SPAN_LOAD, 3 * FAB_PS_PER_S, "L");
  fab_dag_builder_join (job->builder, last, send (job, 0, 1, 20, FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
  job_start (job, 1);
  assert_true (fab_executor_run_iteration (job->executor));
  const GArray *samples = fab_executor_probe (job->executor)->samples;
  const FabLinkSampleRecord *sample = &g_array_index (samples, FabLinkSampleRecord, samples->len - 1);
  assert_true (samples->len >= 4);
  assert_true (sample->start_ps == 3 * FAB_PS_PER_S && sample->end_ps == 5 * FAB_PS_PER_S);
  assert_true (sample->bytes_per_s == 10); /* exactly */
}

static FabBytes carried; /* by a stream of the network below, in 2e9 ps */

static void
carrying_stream (FabNet *net, const FabStream *stream)
{
  fab_meter_add_once (net->meter, stream->footprint, carried);
  fab_engine_after (net->env.engine, 2000000000, stream->done.fn, stream->done.owner, stream->done.arg);
}

/* A link of 1 byte per ps may carry 2e9 bytes in 2e9 ps, and for rounding two more, but not three. */
static void
rounding_does_not_break_a_rate (G_GNUC_UNUSED void **state)
{
  for (carried = 2000000000; carried <= 2000000003; carried++) {
    FabNetOps ops = fab_net_fluid;
    g_autoptr (Job) job = job_new ();

    fab_dag_builder_join (job->builder,
                          fab_dag_builder_stream (job->builder,
                                                  fab_dag_builder_class (job->builder, "all", 0, 2), "all"),
                          send (job, 0, 1, 10, FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
    ops.stream = carrying_stream;
    job_start (job, 1);
    job->net.net->ops = &ops;
    fab_executor_run_iteration (job->executor);
    assert_int_equal (fab_engine_failure (job->net.engine) != NULL, carried > 2000000002);
  }
}

/* Every other one of 200 GPUs sends to the next one; a network that counts on links by itself, and not by footprints,
 * has counters of 400 links. */
static void
counters_of_many_links_are_read_in_parts (G_GNUC_UNUSED void **state)
{
  enum { GPUS = 200 };
  FabNetOps ops = fab_net_fluid;
  g_autoptr (Job) job = job_with (rig_new_flat (GPUS));
  guint rank_class = fab_dag_builder_class (job->builder, "all", 0, GPUS);

  for (guint gpu = 0; gpu < GPUS; gpu += 2)
    fab_dag_builder_join (job->builder, fab_dag_builder_stream (job->builder, rank_class, "comm"),
                          send (job, gpu, gpu + 1, 10, FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
  ops.stream = carrying_stream;
  carried = 7;
  job_start (job, 2);
  job->net.net->ops = &ops;
  for (guint i = 0; i < 2; i++) {
    assert_true (fab_executor_run_iteration (job->executor));
    const GArray *loads = fab_executor_probe (job->executor)->link_loads;

    assert_int_equal (loads->len, i == 0 ? GPUS : 0); /* both have begun when the first one ends */
    for (guint k = 0; k < loads->len; k++)
      assert_int_equal (g_array_index (loads, FabLinkLoadRecord, k).bytes, 2 * carried);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (time_between_nodes_is_told_from_time_inside),
    cmocka_unit_test (the_step_is_the_mean_over_ranks),
    cmocka_unit_test (the_mean_between_nodes_is_rounded_down),
    cmocka_unit_test (samples_are_of_the_eight_busiest_links_that_bind),
    cmocka_unit_test (a_pause_has_no_sample),
    cmocka_unit_test (copies_and_empty_collectives_are_listed),
    cmocka_unit_test (a_job_that_begins_later_is_counted_from_then_on),
    cmocka_unit_test (loads_are_rounded_to_bytes),
    cmocka_unit_test (a_switch_of_the_network_is_not_between_nodes),
    cmocka_unit_test (nothing_is_divided_by_no_time),
    cmocka_unit_test (without_loads_links_are_those_of_an_idle_network),
    cmocka_unit_test (means_of_odd_sums_are_rounded_down),
    cmocka_unit_test (an_iteration_may_take_a_ps),
    cmocka_unit_test (waiting_from_the_very_start_is_split_too),
    cmocka_unit_test (rounding_ends_with_a_pause),
    cmocka_unit_test (rounding_does_not_break_a_rate),
    cmocka_unit_test (counters_of_many_links_are_read_in_parts),
  };

  return cmocka_run_group_tests_name ("account", tests, NULL, NULL);
}
