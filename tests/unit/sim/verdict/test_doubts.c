/* SPDX-License-Identifier: Apache-2.0 */
/* test_doubts.c - how far doubts are looked for, and which fidelity is named instead, in scenes that are laid by hand.
 * That each doubt names the worst link is tested by prop_doubts. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/verdict/doubts.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* (transfer full) */
static GArray *
doubts_of (const Play *play)
{
  g_autoptr (GError) error = NULL;
  GArray *doubts = fab_doubts_find (play->scenario, fab_simulation_plant (play->simulation),
                                    fab_simulation_dag (play->simulation), &fab_models, &error);

  assert_null (error);
  return doubts;
}

static const FabDoubt *
find_doubt (const GArray *doubts, FabDoubtKind kind)
{
  for (guint i = 0; i < doubts->len; i++)
    if (g_array_index (doubts, FabDoubt, i).kind == kind)
      return &g_array_index (doubts, FabDoubt, i);
  return NULL;
}

#define MACHINE(nodes, fabric)                                                                  \
  "name: t\niterations: 1\ncollectives: {kind: plain}\ncluster: {node: dgx-h100, nodes: " nodes \
  ", gpus_per_node: 1, nics_per_node: 1, route: shortest, fabric: " fabric "}\n"
#define PAIRS(pairs) "job: {kind: traffic, size: 1MB, pattern: pairs, pairs: [" pairs "]}\n"

/* --- the fidelity that sees it --- */

/* What it would take is what the fidelity itself says of the same job. */
static void
the_effort_is_that_of_the_fidelity_that_is_named (G_GNUC_UNUSED void **state)
{
  static const char yaml[] = MACHINE ("4", "switch")
      PAIRS ("{from: 0, to: 3}, {from: 1, to: 3}, {from: 2, to: 3}");
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  g_autofree char *other = g_strconcat ("fidelity: packet\n", yaml, NULL);
  g_autoptr (Play) packets = play_new (catalog, other, NULL);
  const FabModelChoice *fidelity = &fab_scenario_spec (packets->scenario)->fidelity;
  FabEffort expected = fab_effort (fab_simulation_dag (play->simulation), (const FabNetOps *) fidelity->info,
                                   fidelity->params);
  g_autoptr (GArray) doubts = doubts_of (play), none = doubts_of (packets);
  const FabDoubt *incast = find_doubt (doubts, FAB_DOUBT_INCAST);

  assert_non_null (incast);
  assert_string_equal (incast->better, "packet");
  assert_true (expected.alike_s > 0);
  assert_near (incast->effort.alike_s, expected.alike_s, 0);
  assert_near (incast->effort.all_s, expected.all_s, 0);
  assert_int_equal (none->len, 0);
}

/* --- what is under way --- */

#define LAYERS                                                                   \
  "models: [{name: m, shape: {kind: layers, layers: [\n"                         \
  "  {name: a, count: 1, tensors: [{name: w, count: 1, parameters: 500000}]},\n" \
  "  {name: b, count: 1, tensors: [{name: w, count: 1, parameters: 900000}]},\n" \
  "  {name: c, count: 1, tensors: [{name: w, count: 1, parameters: 600000}]}]}}]\n"
#define STEP "job: {kind: ddp, model: m, micro_batch: 1, sequence: 16, bucket: 1MB}\n"
#define TRANSFER "background: [{kind: transfer, from: node1/nic0, to: node0/nic0, bytes: 1GB, every: 1ms}]\n"
#define STRIDED \
  "{kind: leaf_spine, nodes_per_leaf: 2, oversubscription: 2}, placement: strided, place_stride: 2"

/* Three layers, of which the middle one has the most parameters, so that the second of the three collectives takes
 * longest. Each waits for computation. Beside a transfer it is the longest that is under way; the numbers of channels,
 * which are set here, say which one that is. */
static void
the_longest_collective_meets_what_others_do (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, MACHINE ("4", STRIDED) LAYERS STEP TRANSFER, NULL);
  FabDag *dag = (FabDag *) fab_simulation_dag (play->simulation);
  guint longest = 0;

  assert_true (dag->n_collectives >= 3);
  for (guint c = 0; c < dag->n_collectives; c++) {
    dag->collectives[c].plan.n_connections = 10 + c;
    if (fab_collective_plan_idle_ps (&dag->collectives[c].plan)
        > fab_collective_plan_idle_ps (&dag->collectives[longest].plan))
      longest = c;
  }
  assert_in_range (longest, 1, dag->n_collectives - 2);
  g_autoptr (GArray) doubts = doubts_of (play);
  const FabDoubt *channels = find_doubt (doubts, FAB_DOUBT_CHANNELS);
  g_autofree char *expected = g_strdup_printf ("collectives of %u and 1 channels share ", 10 + longest);
  assert_non_null (channels);
  assert_non_null (strstr (channels->text, expected));
}

/* --- how far is looked --- */

/* Adds the way from the NIC of one node to that of another. */
static void
add_path (const Play *play, FabFootprintBuilder *builder, guint from, guint to)
{
  const FabVertexId *nics = fab_simulation_cluster (play->simulation)->nics;
  FabPath path = { 0 };

  assert_true (
      fab_router_append (fab_simulation_plant (play->simulation)->router, nics[from], nics[to], 0, &path));
  fab_footprint_builder_add (builder, &path, (FabUse){ .weight = 1, .drive = FAB_DRIVE_COPY, .stretch = 1 });
}

/* One collective after another, each with links of its own, of which 64 are looked at. Two nodes that send to a third
 * one offer it exactly twice its rate; all others send to one node each. */
static void
sixty_four_collectives_are_looked_at (G_GNUC_UNUSED void **state)
{
  static const char yaml[] = MACHINE (
      "3", "switch") "job: {kind: collective, operations: [{op: all_reduce, size: 1MB, count: 66}]}\n";

  for (guint place = 62; place < 66; place++) {
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    FabDag *dag = (FabDag *) fab_simulation_dag (play->simulation);
    g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (
        fab_simulation_cluster (play->simulation)->graph);
    g_autoptr (GPtrArray) laid = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_footprint_free),
                          kept = g_ptr_array_new ();

    assert_int_equal (dag->n_collectives, 66);
    for (guint c = 0; c < dag->n_collectives; c++) {
      add_path (play, builder, 0, 2);
      if (c == place)
        add_path (play, builder, 1, 2);
      g_ptr_array_add (laid, fab_footprint_builder_finish (builder));
      g_ptr_array_add (kept, (gpointer) dag->collectives[c].plan.footprint);
      dag->collectives[c].plan.footprint = g_ptr_array_index (laid, c);
    }
    g_autoptr (GArray) doubts = doubts_of (play);
    const FabDoubt *incast = find_doubt (doubts, FAB_DOUBT_INCAST);
    assert_int_equal (incast != NULL, place < 64);
    if (incast != NULL)
      assert_non_null (
          strstr (incast->text, "incast: senders offer switch -> node2/nic0 2.0 times its rate"));
    for (guint c = 0; c < dag->n_collectives; c++)
      dag->collectives[c].plan.footprint = g_ptr_array_index (kept, c);
  }
}

/* Nodes that receive from two others each have full links, and nothing else crosses the links that lead to them. Of the
 * one behind them a sender has another message, which waits. It is told where its full link is one of the first 64. */
static void
sixty_four_full_links_are_looked_at (G_GNUC_UNUSED void **state)
{
  for (guint n = 62; n < 66; n++) { /* receivers before the one that is told of */
    g_autoptr (GString) pairs = g_string_new (NULL);

    for (guint r = 0; r <= n; r++)
      g_string_append_printf (pairs, "{from: %u, to: %u}, {from: %u, to: %u}, ", 100 + 2 * r, r, 101 + 2 * r,
                              r);
    g_string_append_printf (pairs, "{from: %u, to: 99}", 100 + 2 * n);
    g_autofree char *yaml = g_strdup_printf (MACHINE ("300", "switch") PAIRS ("%s"), pairs->str);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    g_autoptr (GArray) doubts = doubts_of (play);
    const FabDoubt *spreading = find_doubt (doubts, FAB_DOUBT_SPREADING);
    g_autofree char *full = g_strdup_printf ("switch -> node%u/nic0", n);

    assert_int_equal (spreading != NULL, n < 64);
    if (spreading != NULL)
      assert_string_equal (spreading->link, full);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_effort_is_that_of_the_fidelity_that_is_named),
    cmocka_unit_test (the_longest_collective_meets_what_others_do),
    cmocka_unit_test (sixty_four_collectives_are_looked_at),
    cmocka_unit_test (sixty_four_full_links_are_looked_at),
  };

  return play_run_tests ("doubts", tests, &catalog);
}
