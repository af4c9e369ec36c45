/* SPDX-License-Identifier: Apache-2.0 */
/* test_contention.c - which link holds a message back where others cross its links, and what links carry meanwhile. */
#include "tests/unit/sim/execution/executor_job.h"

#include "models/models.h"
#include "sim/execution/contention.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* N senders to one receiver over one switch: ports of 50 GB/s, of which the receiver's is the only one that all
 * cross. */
static Play *
incast (guint n_senders, const char *fidelity, const char *size)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\nfidelity: %s\n"
      "cluster: {node: dgx-h100, nodes: 8, gpus_per_node: 1, nics_per_node: 1, nic: roce-400}\n"
      "job: {kind: traffic, pattern: incast, target: 0, senders: %u, size: %s}\n",
      fidelity, n_senders, size);
  Play *play = play_new (catalog, yaml, NULL);

  assert_true (fab_simulation_step (play->simulation));
  return play;
}

static FabLinkId
port_into (const Play *play, guint node)
{
  const FabPlant *plant = fab_simulation_plant (play->simulation);
  FabLinkId first;

  assert_int_equal (fab_graph_out_links (plant->graph, plant->cluster.nics[node], &first) > 0, TRUE);
  for (FabLinkId link = first;; link++)
    if (fab_graph_vertex (plant->graph, fab_graph_link (plant->graph, link)->dst)->node == FAB_NO_NODE)
      return fab_graph_link (plant->graph, link)->reverse;
}

/* Whether flows share links, as in fluid, or only start together, as in analytic: the receiver's port is what all of
 * them cross. */
static void
the_port_that_all_cross_holds_them_back (G_GNUC_UNUSED void **state)
{
  static const char *const fidelities[] = { "analytic", "fluid" };

  for (guint f = 0; f < G_N_ELEMENTS (fidelities); f++)
    for (guint n = 2; n <= 7; n += 5) {
      g_autoptr (Play) play = incast (n, fidelities[f], "16MiB");
      const GArray *records = fab_simulation_probe (play->simulation)->collectives;

      assert_int_equal (records->len, n);
      for (guint i = 0; i < records->len; i++)
        assert_int_equal (g_array_index (records, FabCollectiveRecord, i).binding_link, port_into (play, 0));
    }
}

/* What a link carries over time is the bytes that cross it: of the port that all cross, all of them. */
static void
samples_add_up_to_the_bytes_that_cross_the_link (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 7; n += 5) {
    g_autoptr (Play) play = incast (n, "fluid", "16MiB");
    const FabProbe *probe = fab_simulation_probe (play->simulation);
    FabTimePs end_ps = 0;
    double bytes = 0;

    assert_true (probe->samples->len > 0);
    for (guint i = 0; i < probe->samples->len; i++) {
      const FabLinkSampleRecord *sample = &g_array_index (probe->samples, FabLinkSampleRecord, i);

      assert_true (sample->start_ps < sample->end_ps && sample->bytes_per_s > 0);
      assert_true (
          sample->bytes_per_s
          <= 1.001
                 * (double) fab_graph_link (fab_simulation_plant (play->simulation)->graph, sample->link)
                       ->rate_bytes_per_s);
      if (sample->link != port_into (play, 0))
        continue;
      assert_true (sample->start_ps >= end_ps); /* one after another */
      end_ps = sample->end_ps;
      bytes += sample->bytes_per_s * fab_ps_to_seconds (sample->end_ps - sample->start_ps);
    }
    assert_near (bytes, n * 16.0 * 1024 * 1024, 1e-6);
  }
}

/* --- records that are written by hand --- */

/* Of the two links from a GPU to another one over the switch. */
static FabLinkId
link_of (const Job *job, guint from, guint to, guint which)
{
  FabPath path = { 0 };

  assert_true (
      fab_router_append (job->rig->router, rig_gpu (job->rig, from), rig_gpu (job->rig, to), 0, &path));
  assert_int_equal (path.n, 2);
  return path.links[which];
}

/* A job whose collectives are sends from GPU to GPU, at 1 byte per ps; they are joined and never played. */
static Job *
senders_new (guint n, const guint (*ends)[2], const FabBytes *bytes)
{
  Job *job = job_with (rig_new_flat (5));
  guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 5),
                                         "all");

  for (guint i = 0; i < n; i++)
    fab_dag_builder_join (job->builder, stream,
                          send (job, ends[i][0], ends[i][1], bytes[i], FAB_DIMENSION_OTHER,
                                FAB_OP_SEND_RECV));
  job_start (job, 1);
  return job;
}

/* The first sends 100 bytes from GPU 1 to GPU 0 in 200 ps. All the while another sends `beside` from GPU 1 to GPU 3.
 * The third sends 100 from GPU 2 to GPU 0, of which the part of its time that lies within counts: links are as slow as
 * what crosses them meanwhile. */
static void
bytes_count_by_the_time_that_they_share (G_GNUC_UNUSED void **state)
{
  static const guint ends[][2] = { { 1, 0 }, { 1, 3 }, { 2, 0 } };
  static const struct {
    FabTimePs start_ps, end_ps; /* of the third; the first is from 150 to 350 */
    FabBytes within;
  } rows[] = { { 0, 200, 25 },  { 300, 500, 25 }, { 150, 350, 100 }, { 200, 300, 100 },
               { 50, 450, 50 }, { 0, 150, 0 },    { 350, 500, 0 },   { 250, 500, 40 } };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++) {
    guint row = i / 2;
    gboolean is_more = i % 2 == 1; /* the second sends more than the third does meanwhile, or less */
    FabBytes beside = is_more ? rows[row].within + 3 : rows[row].within - MIN (rows[row].within, 3);
    g_autoptr (Job) job = senders_new (3, ends, (const FabBytes[]){ 100, beside, 100 });
    FabLinkId up = link_of (job, 1, 0, 0), down = link_of (job, 1, 0, 1);
    FabCollectiveRecord records[] = {
      { .index = 0, .start_ps = 150, .end_ps = 350, .binding_link = up, .waits_for_ends = 7 },
      { .index = 1, .start_ps = 150, .end_ps = 350, .binding_link = up },
      { .index = 2,
        .start_ps = rows[row].start_ps,
        .end_ps = rows[row].end_ps,
        .exposed_ps = 1, /* it is looked at first */
        .binding_link = link_of (job, 2, 0, 0) },
    };
    g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof *records);

    g_array_append_vals (list, records, G_N_ELEMENTS (records));
    fab_contention_attribute (job->dag, job->rig->graph, TRUE, list);
    const FabCollectiveRecord *first = &g_array_index (list, FabCollectiveRecord, 0);
    assert_int_equal (first->binding_link, is_more || rows[row].within == 0 ? up : down);
    assert_int_equal (first->waits_for_ends, 0);
  }
}

/* Up to half a percent more than alone is no contention: of 1000 ps 1004, but not 1006, whenever it begins, and of 2000
 * with a startup of 1000 ps 2008. Where nothing contends, the time does not matter, and what waits for its ends still
 * does. */
static void
what_is_not_slowed_keeps_its_link (G_GNUC_UNUSED void **state)
{
  static const guint ends[][2] = { { 1, 0 }, { 2, 0 } };
  static const struct {
    FabTimePs startup_ps, start_ps, lasts_ps;
    gboolean contends, is_changed;
  } rows[] = { { 0, 0, 1000, TRUE, FALSE },       { 0, 0, 1004, TRUE, FALSE },
               { 0, 0, 1006, TRUE, TRUE },        { 0, 0, 1000, FALSE, TRUE },
               { 0, 5000, 1004, TRUE, FALSE },    { 0, 5000, 1006, TRUE, TRUE },
               { 1000, 5000, 2008, TRUE, FALSE }, { 1000, 5000, 2012, TRUE, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Job) job = senders_new (2, ends, (const FabBytes[]){ 1000, 1000 });
    FabLinkId up = link_of (job, 1, 0, 0), down = link_of (job, 1, 0, 1);
    FabTimePs start_ps = rows[i].start_ps;
    FabCollectiveRecord records[] = {
      { .index = 0,
        .start_ps = start_ps,
        .end_ps = start_ps + rows[i].lasts_ps,
        .binding_link = up,
        .waits_for_ends = 7 },
      { .index = 1,
        .start_ps = start_ps,
        .end_ps = start_ps + 2000,
        .binding_link = link_of (job, 2, 0, 0),
        .waits_for_ends = 7 },
    };
    g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof *records);

    job->dag->collectives[0].plan.startup_ps = rows[i].startup_ps;
    g_array_append_vals (list, records, G_N_ELEMENTS (records));
    fab_contention_attribute (job->dag, job->rig->graph, rows[i].contends, list);
    const FabCollectiveRecord *first = &g_array_index (list, FabCollectiveRecord, 0);
    assert_int_equal (first->binding_link, rows[i].is_changed ? down : up);
    assert_int_equal (first->waits_for_ends, rows[i].contends && rows[i].is_changed ? 0 : 7);
    assert_int_equal (first[1].binding_link, down);
  }
}

/* Two pairs of sends that have nothing to do with each other: of the first it is the link into GPU 0 that both cross,
 * and of the second the link out of GPU 3. */
static void
each_collective_is_looked_at_by_itself (G_GNUC_UNUSED void **state)
{
  static const guint ends[][2] = { { 1, 0 }, { 2, 0 }, { 3, 4 }, { 3, 1 } };
  g_autoptr (Job) job = senders_new (4, ends, (const FabBytes[]){ 100, 100, 100, 100 });
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (FabCollectiveRecord));

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
    const FabCollectiveRecord record = {
      .index = i, .end_ps = 200, .binding_link = link_of (job, ends[i][0], ends[i][1], i < 2 ? 0 : 1)
    };

    g_array_append_val (list, record);
  }
  fab_contention_attribute (job->dag, job->rig->graph, TRUE, list);
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    assert_int_equal (g_array_index (list, FabCollectiveRecord, i).binding_link,
                      link_of (job, ends[i][0], ends[i][1], i < 2 ? 1 : 0));
}

/* NICs are four times as slow as GPUs. A send of 100 bytes to another node, said to be bound by either, is held back by
 * the NIC. Beside it, the same GPU sends 10000 bytes to its neighbour, which makes its own link the slowest where links
 * are shared. Where they are not, a link that is faster than the one that binds the send alone cannot hold it back. */
static void
a_link_takes_the_longer_the_slower_it_is (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 8; i++) {
    gboolean is_gpu_first = i & 1, has_more = i & 2, contends = i & 4;
    g_autoptr (Job) job = job_with (rig_new (&(RigSpec){ .n_nodes = 2,
                                                         .gpus_per_node = 2,
                                                         .nics_per_node = 1,
                                                         .gpu_bytes_per_s = FAB_PS_PER_S,
                                                         .nic_bytes_per_s = FAB_PS_PER_S / 4 }));
    guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 4),
                                           "all");
    g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (FabCollectiveRecord));
    FabPath far = { 0 }, near = { 0 };

    fab_dag_builder_join (job->builder, stream, send (job, 0, 2, 100, FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
    fab_dag_builder_join (job->builder, stream,
                          send (job, 0, 1, has_more ? 10000 : 1, FAB_DIMENSION_DATA, FAB_OP_BROADCAST));
    job_start (job, 1);
    fab_router_append (job->rig->router, rig_gpu (job->rig, 0), rig_gpu (job->rig, 2), 0, &far);
    fab_router_append (job->rig->router, rig_gpu (job->rig, 0), rig_gpu (job->rig, 1), 0, &near);
    FabLinkId nic = ((const FabFootprint *) g_ptr_array_index (job->footprints, 0))->binding_link;
    for (guint k = 0; k < 2; k++) {
      const FabCollectiveRecord record = { .index = k,
                                           .end_ps = 100000,
                                           .binding_link = k == 1       ? near.links[0]
                                                         : is_gpu_first ? far.links[0]
                                                                        : nic };

      g_array_append_val (list, record);
    }
    fab_contention_attribute (job->dag, job->rig->graph, contends, list);
    FabLinkId found = g_array_index (list, FabCollectiveRecord, 0).binding_link;
    assert_int_equal (fab_graph_link (job->rig->graph, nic)->rate_bytes_per_s, FAB_PS_PER_S / 4);
    assert_int_equal (fab_graph_link (job->rig->graph, found)->rate_bytes_per_s,
                      has_more && (contends || is_gpu_first) ? FAB_PS_PER_S : FAB_PS_PER_S / 4);
  }
}

/* Where nothing contends, a send from GPU 1 to GPU 0 that another one from GPU 2 joins is held back by the link into
 * GPU 0. One of no bytes waits for no link, and a collective of one rank has none. */
static void
what_moves_nothing_is_held_back_by_no_link (G_GNUC_UNUSED void **state)
{
  static const guint ends[][2] = { { 1, 0 }, { 2, 0 } };

  for (guint bytes = 0; bytes < 2; bytes++) {
    g_autoptr (Job) job = job_with (rig_new_flat (5));
    guint stream = fab_dag_builder_stream (job->builder, fab_dag_builder_class (job->builder, "all", 0, 5),
                                           "all");
    g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (FabCollectiveRecord));

    fab_dag_builder_join (job->builder, stream, nothing (job));
    for (guint i = 0; i < 2; i++)
      fab_dag_builder_join (job->builder, stream,
                            send (job, ends[i][0], ends[i][1], i == 0 ? bytes : 1000, FAB_DIMENSION_OTHER,
                                  FAB_OP_SEND_RECV));
    job_start (job, 1);
    for (guint i = 0; i < 3; i++) {
      const FabCollectiveRecord record = { .index = i,
                                           .end_ps = 1000,
                                           .binding_link = i == 0 ? FAB_RECORD_NO_LINK
                                                                  : link_of (job, ends[i - 1][0], 0, 0) };

      g_array_append_val (list, record);
    }
    fab_contention_attribute (job->dag, job->rig->graph, FALSE, list);
    assert_int_equal (g_array_index (list, FabCollectiveRecord, 0).binding_link, FAB_RECORD_NO_LINK);
    assert_int_equal (g_array_index (list, FabCollectiveRecord, 1).binding_link,
                      link_of (job, 1, 0, bytes > 0 ? 1 : 0));
  }
}

/* Both links of a send alone take as long as each other: the one that was found before stays. */
static void
of_equal_links_the_known_one_stays (G_GNUC_UNUSED void **state)
{
  static const guint ends[][2] = { { 1, 0 } };
  g_autoptr (Job) job = senders_new (1, ends, (const FabBytes[]){ 1000 });

  for (guint which = 0; which < 2; which++) {
    const FabCollectiveRecord record = { .end_ps = 1000, .binding_link = link_of (job, 1, 0, which) };
    g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof record);

    g_array_append_val (list, record);
    fab_contention_attribute (job->dag, job->rig->graph, FALSE, list);
    assert_int_equal (g_array_index (list, FabCollectiveRecord, 0).binding_link, record.binding_link);
  }
}

/* Three sends of 100 bytes at the same time, of which the second leaves GPU 1 as the first does, and the third arrives
 * at GPU 0 as the first does. What the protocol of the second adds, or what its way makes it send again, makes the link
 * out of GPU 1 the slower one. */
static void
bytes_on_the_wire_count (G_GNUC_UNUSED void **state)
{
  static const guint ends[][2] = { { 1, 0 }, { 1, 3 }, { 2, 0 } };
  static const struct {
    double wire_factor, line_weight;
  } rows[] = { { 0.5, 1 }, { 1.5, 1 }, { 1, 0.5 }, { 1, 1.5 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Job) job = senders_new (3, ends, (const FabBytes[]){ 100, 100, 100 });
    FabLinkId up = link_of (job, 1, 0, 0), down = link_of (job, 1, 0, 1);
    g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (FabCollectiveRecord));

    FabFootprint *footprint = g_ptr_array_index (job->footprints, 1);
    for (guint k = 0; k < footprint->n; k++)
      footprint->line_weights[k] = rows[i].line_weight;
    job->dag->collectives[1].plan.wire_factor = rows[i].wire_factor;
    for (guint k = 0; k < 3; k++) {
      const FabCollectiveRecord record = { .index = k,
                                           .end_ps = 300,
                                           .binding_link = link_of (job, ends[k][0], ends[k][1], 0) };

      g_array_append_val (list, record);
    }
    fab_contention_attribute (job->dag, job->rig->graph, TRUE, list);
    assert_int_equal (g_array_index (list, FabCollectiveRecord, 0).binding_link, i % 2 == 1 ? up : down);
  }
}

/* 1600 sends from GPUs 1 and 2 to GPU 0, so many of them early and the others afterwards. To look at one means to look
 * at four links for each that goes on with it, and at one thing for each of the others, until these are 4 million: with
 * 400 early ones 2800 for each of them, and 5200 for each of the rest; with 800 of them 4000 for each, so that 1000 are
 * looked at. The most exposed are looked at first, of equally exposed ones the first; there are three of each. */
static void
check_most_exposed (guint n_early)
{
  enum { N = 1600, MOST = 4000000, STRIDE = 587 /* no divisor of N */ };
  g_autofree guint (*ends)[2] = g_malloc (N * sizeof *ends);
  g_autofree FabBytes *bytes = g_new (FabBytes, N);
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (FabCollectiveRecord));
  guint n_changed = 0;

  for (guint i = 0; i < N; i++) {
    ends[i][0] = 1 + i % 2;
    ends[i][1] = 0;
    bytes[i] = 10;
  }
  g_autoptr (Job) job = senders_new (N, (const guint (*)[2]) ends, bytes);
  for (guint i = 0; i < N; i++) {
    FabTimePs start_ps = i < n_early ? 0 : 1000;
    FabCollectiveRecord record = { .index = i,
                                   .start_ps = start_ps,
                                   .end_ps = start_ps + 1000,
                                   .exposed_ps = (i * STRIDE % N + 1) / 3,
                                   .binding_link = link_of (job, ends[i][0], 0, 0) };

    g_array_append_val (list, record);
  }
  fab_contention_attribute (job->dag, job->rig->graph, TRUE, list);
  for (guint i = 0; i < N; i++) {
    const FabCollectiveRecord *record = &g_array_index (list, FabCollectiveRecord, i);
    guint n_visits = 0; /* of those that are looked at before this one */

    for (guint k = 0; k < N; k++) {
      FabTimePs exposed_ps = g_array_index (list, FabCollectiveRecord, k).exposed_ps;
      guint n_beside = k < n_early ? n_early : N - n_early;

      if (exposed_ps > record->exposed_ps || (exposed_ps == record->exposed_ps && k < i))
        n_visits += 4 * n_beside + (N - n_beside);
    }
    assert_int_equal (record->binding_link, link_of (job, ends[i][0], 0, n_visits < MOST));
    n_changed += n_visits < MOST;
  }
  assert_true (n_changed > N / 2 && n_changed < N * 3 / 4);
  assert_true (n_early != 800 || n_changed == 1000);
}

static void
the_most_exposed_are_looked_at_first (G_GNUC_UNUSED void **state)
{
  check_most_exposed (400);
  check_most_exposed (800);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_port_that_all_cross_holds_them_back),
    cmocka_unit_test (samples_add_up_to_the_bytes_that_cross_the_link),
    cmocka_unit_test (bytes_count_by_the_time_that_they_share),
    cmocka_unit_test (what_is_not_slowed_keeps_its_link),
    cmocka_unit_test (each_collective_is_looked_at_by_itself),
    cmocka_unit_test (a_link_takes_the_longer_the_slower_it_is),
    cmocka_unit_test (what_moves_nothing_is_held_back_by_no_link),
    cmocka_unit_test (of_equal_links_the_known_one_stays),
    cmocka_unit_test (bytes_on_the_wire_count),
    cmocka_unit_test (the_most_exposed_are_looked_at_first),
  };

  return play_run_tests ("contention", tests, &catalog);
}
