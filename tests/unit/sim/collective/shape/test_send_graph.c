/* SPDX-License-Identifier: Apache-2.0 */
/* test_send_graph.c - which sequence of sends is the longest: steps that have ended, and steps that have not. */
#include "tests/support/test.h"

#include "sim/collective/shape/send_graph.h"
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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_longer_chain_counts),
    cmocka_unit_test (a_step_that_goes_on_counts_what_it_took),
  };

  return cmocka_run_group_tests_name ("send_graph", tests, NULL, NULL);
}
