/* SPDX-License-Identifier: Apache-2.0 */
/* test_send_graph.c - which sequence of sends is the longest: steps that have ended, and steps that have not; what a
 * pipeline takes to fill; and the lanes of a schedule. */
#include "tests/support/test.h"

#include "sim/collective/shape/send_graph.h"
#include "tests/support/lanes.h"
#include "tests/support/rig.h"

enum { LINK_PS = 50 };

/* Six GPUs on one switch, two links of 50 ps from each to each other. */
static Rig *
star (void)
{
  return rig_new (&(RigSpec){
      .n_nodes = 1, .gpus_per_node = 6, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = LINK_PS });
}

static guint
add (const Rig *rig, FabSendGraph *sends, guint from, guint to, const GArray *after)
{
  FabGroup group = rig_group (rig);
  FabHop hop;

  assert_true (fab_hop_ranks (&group, from, to, &hop, NULL));
  return fab_send_graph_add (sends, &hop, 1, 1, after);
}

/* To the switch, which is no rank: the step has not ended. */
static guint
add_open (const Rig *rig, FabSendGraph *sends, guint from, const GArray *after)
{
  FabLinkId first;
  FabHop hop;

  fab_graph_out_links (rig->graph, rig_gpu (rig, from), &first);
  assert_true (fab_hop_wire (&rig->cluster, rig_gpu (rig, from), fab_graph_link (rig->graph, first)->dst,
                             FAB_DRIVE_KERNEL, &hop, NULL));
  return fab_send_graph_add (sends, &hop, 1, 1, after);
}

static GArray *
list_of (guint a, guint b)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint));

  g_array_append_val (list, a);
  g_array_append_val (list, b);
  return list;
}

/* What waits for a chain of three sends and for one send has four steps, whichever is named first. */
static void
the_longer_chain_counts (G_GNUC_UNUSED void **state)
{
  for (guint order = 0; order < 2; order++) {
    g_autoptr (Rig) rig = star ();
    FabGroup group = rig_group (rig);
    g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &(FabAlgorithmEnv){ .net_stretch = 1 }, NULL,
                                                         1);
    FabCollectiveForm form = { 0 };
    guint one = add (rig, sends, 4, 3, NULL), end = add (rig, sends, 0, 1, NULL);

    for (guint i = 1; i < 3; i++) {
      g_autoptr (GArray) before = list_of (end, end);

      end = add (rig, sends, i, i + 1, before);
    }
    g_autoptr (GArray) both = order == 0 ? list_of (one, end) : list_of (end, one);
    add (rig, sends, 3, 5, both);
    fab_send_graph_form (sends, FALSE, &form);
    assert_int_equal (form.n_intra_steps, 4);
    assert_int_equal (form.n_inter_steps, 0);
    assert_int_equal (form.intra_latency_ps, 2 * LINK_PS);
    fab_footprint_free (form.footprint);
  }
}

/* A send that ended after 100 ps, and one that ended after 100 ps and 50 ps of a step that goes on: the second is the
 * longer, and the step that goes on takes 50 + 100 ps. */
static void
a_step_that_goes_on_counts_what_it_took (G_GNUC_UNUSED void **state)
{
  for (guint order = 0; order < 2; order++) {
    g_autoptr (Rig) rig = star ();
    FabGroup group = rig_group (rig);
    g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &(FabAlgorithmEnv){ .net_stretch = 1 }, NULL,
                                                         1);
    FabCollectiveForm form = { 0 };
    guint ended = add (rig, sends, 4, 3, NULL), begun = add (rig, sends, 0, 1, NULL);
    g_autoptr (GArray) before = list_of (begun, begun);
    guint open = add_open (rig, sends, 1, before);
    g_autoptr (GArray) both = order == 0 ? list_of (ended, open) : list_of (open, ended);

    add (rig, sends, 3, 5, both);
    fab_send_graph_form (sends, FALSE, &form);
    assert_int_equal (form.n_intra_steps, 2);
    assert_int_equal (form.intra_latency_ps, 3 * LINK_PS);
    fab_footprint_free (form.footprint);
  }
}

/* Nodes of two GPUs and one NIC, which carries a tenth of what a GPU does; wires take `link_ps` inside a node and twice
 * that between a NIC and the fabric. */
static Rig *
nodes (guint n_nodes, FabTimePs link_ps)
{
  return rig_new (&(RigSpec){ .n_nodes = n_nodes,
                              .gpus_per_node = 2,
                              .nics_per_node = 1,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S / 10,
                              .gpu_latency_ps = link_ps,
                              .nic_latency_ps = 2 * link_ps });
}

/* `after`: one send of the same part, or none (-1). */
typedef struct {
  guint from, to;
  double weight;
  guint n_beside;
  gint after;
  gboolean is_like, ends_part;
} Row;

/* Adds the sends; each gets the next number of its part. */
static void
add_rows (FabSendGraph *sends, const Rig *rig, const Row *rows, guint n)
{
  FabGroup group = rig_group (rig);
  guint number = 0;

  for (guint i = 0; i < n; i++) {
    g_autoptr (GArray) before = list_of ((guint) rows[i].after, (guint) rows[i].after);
    const GArray *after = rows[i].after >= 0 ? before : NULL;
    FabHop hop;

    assert_true (fab_hop_ranks (&group, rows[i].from, rows[i].to, &hop, NULL));
    if (rows[i].is_like) {
      assert_int_equal (fab_send_graph_add_like (sends, &hop, rows[i].weight, rows[i].n_beside, after),
                        number++);
      fab_hop_clear (&hop);
    } else {
      assert_int_equal (fab_send_graph_add (sends, &hop, rows[i].weight, rows[i].n_beside, after), number++);
    }
    if (rows[i].ends_part) {
      fab_send_graph_end_part (sends);
      number = 0;
    }
  }
}

static FabCollectiveForm
form_of (const Rig *rig, gboolean is_pipeline, const Row *rows, guint n)
{
  FabGroup group = rig_group (rig);
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &(FabAlgorithmEnv){ .net_stretch = 1.25 },
                                                       NULL, 1);
  FabCollectiveForm form = { 0 };

  assert_non_null (fab_send_graph_builder (sends));
  add_rows (sends, rig, rows, n);
  fab_send_graph_form (sends, is_pipeline, &form);
  fab_footprint_free (form.footprint);
  form.footprint = NULL;
  return form;
}

/* Steps inside nodes and between them are counted apart, and each has the latency of the longest of its kind. Of two
 * sequences that take as long, that with more steps counts, wherever these are. */
static void
steps_are_counted_where_they_are (G_GNUC_UNUSED void **state)
{
  static const struct {
    Row rows[4];
    guint n, n_intra, n_inter;
    FabTimePs link_ps;
  } cases[] = {
    { { { 0, 1, 1, 1, -1, FALSE, FALSE }, { 1, 2, 1, 1, 0, FALSE, FALSE }, { 2, 3, 1, 1, 1, FALSE, FALSE } },
      3,
      2,
      1,
      50 },
    { { { 0, 2, 1, 1, -1, FALSE, FALSE }, { 2, 4, 1, 1, 0, FALSE, FALSE } }, 2, 0, 2, 50 },
    /* A step between nodes, and one inside, against two inside: all take no time. */
    { { { 0, 2, 1, 1, -1, FALSE, FALSE }, { 2, 3, 1, 1, 0, FALSE, FALSE }, { 4, 5, 1, 1, -1, FALSE, FALSE } },
      3,
      1,
      1,
      0 },
    { { { 4, 5, 1, 1, -1, FALSE, FALSE }, { 0, 2, 1, 1, -1, FALSE, FALSE }, { 2, 3, 1, 1, 1, FALSE, FALSE } },
      3,
      1,
      1,
      0 },
    { { { 0, 2, 1, 1, -1, FALSE, FALSE }, { 4, 5, 1, 1, -1, FALSE, FALSE }, { 5, 4, 1, 1, 1, FALSE, FALSE } },
      3,
      2,
      0,
      0 },
    /* The longest of several parts. */
    { { { 0, 1, 1, 1, -1, FALSE, FALSE }, { 1, 0, 1, 1, 0, FALSE, TRUE }, { 4, 5, 1, 1, -1, FALSE, FALSE } },
      3,
      2,
      0,
      50 },
    { { { 0, 1, 1, 1, -1, FALSE, TRUE }, { 1, 0, 1, 1, -1, FALSE, FALSE }, { 0, 1, 1, 1, 0, FALSE, FALSE } },
      3,
      2,
      0,
      50 },
    /* A send without links of its own is a step too. */
    { { { 0, 1, 1, 1, -1, FALSE, FALSE }, { 1, 0, 1, 1, 0, TRUE, FALSE } }, 2, 2, 0, 50 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Rig) rig = nodes (3, cases[i].link_ps);
    FabCollectiveForm form = form_of (rig, FALSE, cases[i].rows, cases[i].n);

    assert_int_equal (form.n_intra_steps, cases[i].n_intra);
    assert_int_equal (form.n_inter_steps, cases[i].n_inter);
    assert_near (form.fill_s_per_byte, 0, 0);
  }
}

static void
latencies_are_those_of_each_place (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = nodes (2, 50);
  const Row rows[] = { { 0, 1, 1, 1, -1, FALSE, FALSE }, { 1, 2, 1, 1, 0, FALSE, FALSE } };
  FabCollectiveForm form = form_of (rig, FALSE, rows, 2), inside = form_of (rig, FALSE, rows, 1);

  assert_int_equal (form.intra_latency_ps, 2 * 50);
  assert_int_equal (form.inter_latency_ps, 4 * 50 + 2 * 100);
  assert_int_equal (form.intra_kind, FAB_HOP_DIRECT);
  assert_int_equal (form.inter_kind, FAB_HOP_NET);
  assert_int_equal (inside.intra_latency_ps, 2 * 50);
  assert_int_equal (inside.inter_latency_ps, 0);
}

/* A pipeline fills in the time of the slowest sequence beyond what a byte takes on the links that bind: with a byte per
 * ps inside nodes and a tenth of it, less a quarter of loss, between them. */
static void
a_pipeline_fills_along_its_slowest_way (G_GNUC_UNUSED void **state)
{
  static const struct {
    Row rows[4];
    guint n;
    double fill_ps;
  } cases[] = {
    /* 1 + 1 ps, of which the links that bind take 1. */
    { { { 0, 1, 1, 1, -1, FALSE, FALSE }, { 1, 0, 1, 1, 0, FALSE, FALSE } }, 2, 1 },
    /* Two that share a link count twice: 1 + 2 x 0.5 ps. */
    { { { 0, 1, 1, 1, -1, FALSE, FALSE }, { 1, 0, 0.5, 2, 0, FALSE, FALSE } }, 2, 1 },
    { { { 0, 1, 1, 1, -1, FALSE, FALSE }, { 1, 0, 0.5, 1, 0, FALSE, FALSE } }, 2, 0.5 },
    /* 1 ps inside and 12.5 ps between nodes, of which the NIC takes 12.5. */
    { { { 0, 1, 1, 1, -1, FALSE, FALSE }, { 1, 2, 1, 1, 0, FALSE, FALSE } }, 2, 1 },
    /* Two at once over one link take 2 ps there, which is more than any way. */
    { { { 0, 1, 1, 1, -1, FALSE, FALSE }, { 0, 1, 1, 1, -1, FALSE, FALSE } }, 2, 0 },
    /* The slowest way is not the one with most steps: 3 ps by one send, and 0.25 ps by two. The links take 1. */
    { { { 0, 1, 0.125, 1, -1, FALSE, FALSE },
        { 1, 0, 0.125, 1, 0, FALSE, FALSE },
        { 4, 5, 1, 3, -1, FALSE, FALSE } },
      3,
      2 },
    { { { 4, 5, 1, 3, -1, FALSE, TRUE },
        { 0, 1, 0.125, 1, -1, FALSE, FALSE },
        { 1, 0, 0.125, 1, 0, FALSE, FALSE } },
      3,
      2 },
    { { { 0, 1, 0.125, 1, -1, FALSE, TRUE }, { 4, 5, 1, 3, -1, FALSE, FALSE } }, 2, 2 },
    /* A send without links of its own takes its time, but binds nothing: 1 + 1 + 1 - 1 ps. */
    { { { 0, 1, 1, 1, -1, FALSE, FALSE }, { 1, 0, 1, 1, 0, TRUE, FALSE }, { 0, 1, 1, 1, 1, TRUE, FALSE } },
      3,
      2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Rig) rig = nodes (3, 50);
    FabCollectiveForm form = form_of (rig, TRUE, cases[i].rows, cases[i].n),
                      whole = form_of (rig, FALSE, cases[i].rows, cases[i].n);

    if (cases[i].fill_ps > 0)
      assert_near (form.fill_s_per_byte * 1e12, cases[i].fill_ps, 1e-9);
    else
      assert_near (form.fill_s_per_byte, 0, 0);
    assert_near (whole.fill_s_per_byte, 0, 0);
  }
}

/* What waits for a slow way with few steps and for a fast one with many is as slow as the one and as long as the
 * other: 6 + 1 ps, and three steps. The links take 1 ps. */
static void
time_and_steps_are_of_different_ways (G_GNUC_UNUSED void **state)
{
  for (guint order = 0; order < 2; order++) {
    g_autoptr (Rig) rig = nodes (3, 50);
    FabGroup group = rig_group (rig);
    g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &(FabAlgorithmEnv){ .net_stretch = 1 }, NULL,
                                                         1);
    const Row rows[] = { { 0, 1, 0.125, 1, -1, FALSE, FALSE },
                         { 1, 0, 0.125, 1, 0, FALSE, FALSE },
                         { 4, 5, 1, 6, -1, FALSE, FALSE } };
    FabCollectiveForm form = { 0 };
    FabHop hop;

    add_rows (sends, rig, rows, 3);
    g_autoptr (GArray) both = order == 0 ? list_of (1, 2) : list_of (2, 1);
    assert_true (fab_hop_ranks (&group, 2, 3, &hop, NULL));
    assert_int_equal (fab_send_graph_add (sends, &hop, 1, 1, both), 3);
    fab_send_graph_form (sends, TRUE, &form);
    assert_int_equal (form.n_intra_steps, 3);
    assert_near (form.fill_s_per_byte * 1e12, 6 + 1 - 1, 1e-9);
    fab_footprint_free (form.footprint);
  }
}

/* Of a schedule every send is a lane, in chunks, which waits for the lanes of the sends before. */
static void
sends_of_a_schedule_are_lanes (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = nodes (2, 50);
  FabGroup group = rig_group (rig);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &(FabAlgorithmEnv){ .net_stretch = 1 },
                                                       schedule, 2);
  const Row rows[] = { { 0, 1, 1, 1, -1, FALSE, FALSE }, { 1, 2, 0.5, 1, 0, FALSE, TRUE } };

  assert_null (fab_send_graph_builder (sends));
  add_rows (sends, rig, rows, 2);
  g_autoptr (GArray) both = list_of (0, 1);
  FabHop hop;
  assert_true (fab_hop_ranks (&group, 2, 0, &hop, NULL));
  assert_int_equal (fab_send_graph_add (sends, &hop, 1, 1, both), 2);
  lanes_assert (schedule, &rig->cluster, "0>1 0.5 x2\n1>2 0.25 x2 after 0 0\n2>0 0.5 x2 after 0 1\n");
}

static void
new_lists_are_empty (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) lists = fab_send_lists_new (3);

  assert_int_equal (lists->len, 3);
  for (guint i = 0; i < 3; i++)
    assert_int_equal (fab_send_list (lists, i)->len, 0);
  assert_ptr_not_equal (fab_send_list (lists, 0), fab_send_list (lists, 1));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_longer_chain_counts),
    cmocka_unit_test (a_step_that_goes_on_counts_what_it_took),
    cmocka_unit_test (steps_are_counted_where_they_are),
    cmocka_unit_test (latencies_are_those_of_each_place),
    cmocka_unit_test (a_pipeline_fills_along_its_slowest_way),
    cmocka_unit_test (time_and_steps_are_of_different_ways),
    cmocka_unit_test (sends_of_a_schedule_are_lanes),
    cmocka_unit_test (new_lists_are_empty),
  };

  return cmocka_run_group_tests_name ("send_graph", tests, NULL, NULL);
}
