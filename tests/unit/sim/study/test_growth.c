/* SPDX-License-Identifier: Apache-2.0 */
/* test_growth.c - the ways in which a machine can grow: what each builds in both phases, what it costs, and what of the
 * first phase is left over. */
#include "tests/support/test.h"

#include "sim/base/error.h"
#include "sim/study/growth.h"
#include "tests/support/play.h"
#include "tests/support/studies.h"

static FabCatalog *catalog;

/* Nodes with one GPU and one port each, $1110 together. Nobody sells ports of `future`. */
#define MACHINE                                                                                         \
  "name: t\niterations: 1\n"                                                                            \
  "links:\n"                                                                                            \
  "  - {name: future, technology: InfiniBand, lanes: 4, signalling: 3200Gb/s, latency: 1us}\n"          \
  "products:\n"                                                                                         \
  "  - {name: gpu, kind: accelerator, accelerator: h100-sxm5-80gb, price_usd: 100}\n"                   \
  "  - {name: box, kind: node, node: dgx-h100, price_usd: 1000, power_watts: 400}\n"                    \
  "  - {name: card, kind: nic, link: ib-ndr, price_usd: 10, power_watts: 10}\n"                         \
  "  - {name: small, kind: switch, link: ib-ndr, ports: 8, price_usd: 50, low_usd: 40, high_usd: 70}\n" \
  "  - {name: wire, kind: cable, link: ib-ndr, reach: 100m, price_usd: 1}\n"                            \
  "cluster: {node: dgx-h100, nics_per_node: 1, "
#define ONE_GPU "gpus_per_node: 1, "
#define SENDS "}\njob: {kind: collective, operations: [{op: send_recv, size: 1MB}]}\n"
#define DDP(batch_) "}\njob: {kind: ddp, model: gpt2-xl, sequence: 256, " batch_ "}\n"

static GPtrArray *
grow (const char *keys, const char *job, FabHold hold, guint nodes, GError **error)
{
  g_autofree char *yaml = g_strconcat (MACHINE, keys, job, NULL);
  g_autoptr (FabStudy) study = study_of_text (catalog, yaml);

  study->hold = hold;
  return fab_growth_find (study, nodes, error);
}

static char *
texts_of (const FabGrowthPhase *phase)
{
  assert_ptr_equal (phase->trial.edits, phase->edits);
  return g_strjoinv (" ", (char **) fab_edits_texts (phase->edits));
}

typedef struct {
  const char *name, *today, *later;
  double usd, low_usd, high_usd; /* of both phases */
  guint n_links, n_kept, n_left;
  gboolean is_unpriced;
} Path;

static void
assert_paths (const GPtrArray *paths, const Path *expected)
{
  guint n = 0;

  for (; expected[n].name != NULL; n++) {
    const FabGrowthPath *path = g_ptr_array_index (paths, n);
    g_autofree char *today = texts_of (&path->today), *later = texts_of (&path->later);

    assert_string_equal (path->name, expected[n].name);
    assert_string_equal (today, expected[n].today);
    assert_string_equal (later, expected[n].later);
    assert_near (path->total.usd, expected[n].usd, 1e-12);
    assert_near (path->total.low_usd, expected[n].low_usd, 1e-12);
    assert_near (path->total.high_usd, expected[n].high_usd, 1e-12);
    assert_int_equal (path->n_links, expected[n].n_links);
    assert_int_equal (path->n_kept, expected[n].n_kept);
    assert_int_equal (path->n_left, expected[n].n_left);
    assert_int_equal (path->is_priced, !expected[n].is_unpriced);
  }
  assert_int_equal (paths->len, n);
}

#define MORE "cluster.nodes=16 cluster.places=0"

/* Sixteen nodes are $17760. Two leaves of four nodes with two uplinks each become four: five switches and 16 + 8
 * cables, of which 8 + 4 are there today, and four uplinks more where there is room from the start. The other fabrics
 * have all nodes on one leaf of sixteen ports, which six switches with 16 cables between them stand for; today it has
 * eight, and is one switch. Those that cost the same stand in the order of the list. */
static void
paths_are_those_of_fabrics_with_leaves (G_GNUC_UNUSED void **state)
{
  static const Path expected[] = { { "extended as it is", "", MORE, 18034, 17984, 18134, 12, 12, 0, FALSE },
                                   { "with room from the start", "cluster.places=16", MORE, 18034, 17984,
                                     18134, 16, 16, 0, FALSE },
                                   { "fabric rail", "cluster.fabric=rail", "cluster.fabric=rail " MORE, 18092,
                                     18032, 18212, 8, 8, 0, FALSE },
                                   { "fabric rail_only", "cluster.fabric=rail_only",
                                     "cluster.fabric=rail_only " MORE, 18092, 18032, 18212, 8, 8, 0, FALSE },
                                   { "fabric fat_tree", "cluster.fabric=fat_tree",
                                     "cluster.fabric=fat_tree " MORE, 18092, 18032, 18212, 8, 8, 0, FALSE },
                                   { NULL } };
  g_autoptr (GPtrArray) paths = grow (
      ONE_GPU "nodes: 8, fabric: {kind: leaf_spine, nodes_per_leaf: 4, spines: 1, oversubscription: 2}",
      SENDS, FAB_HOLD_WRITTEN, 16, NULL);

  assert_paths (paths, expected);
  for (guint i = 0; i < paths->len; i++) {
    const FabGrowthPath *path = g_ptr_array_index (paths, i);

    assert_int_equal (path->today.trial.point->n_nodes, 8);
    assert_int_equal (path->later.trial.point->n_nodes, 16);
  }
}

/* Uplinks that nobody sells have no price, and neither has what needs them: that comes last, though the sum of
 * the other parts is less. */
static void
what_has_no_price_comes_last (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) paths = grow (
      ONE_GPU "nodes: 8, fabric: {kind: leaf_spine, nodes_per_leaf: 4, uplink: future}", SENDS,
      FAB_HOLD_WRITTEN, 16, NULL);
  static const char *const names[] = { "fabric rail", "fabric rail_only", "fabric fat_tree",
                                       "extended as it is", "with room from the start" };

  assert_int_equal (paths->len, G_N_ELEMENTS (names));
  for (guint i = 0; i < paths->len; i++) {
    const FabGrowthPath *path = g_ptr_array_index (paths, i);

    assert_string_equal (path->name, names[i]);
    assert_int_equal (path->is_priced, i < 3);
  }
}

/* A torus of 1 x 2 x 3 has three links along one axis and six along another, and one of seven places is a ring: with
 * the ports, 15 cables become 14, and 13 where a place is left empty. Each place has a switch of its own. */
static void
what_is_not_needed_is_left_over (G_GNUC_UNUSED void **state)
{
  static const Path expected[] = {
    { "with room from the start", "cluster.places=7", "cluster.nodes=7 cluster.places=0",
      7 * 1110 + 7 * 50 + 14, 7 * 1110 + 7 * 40 + 14, 7 * 1110 + 7 * 70 + 14, 13, 13, 0, FALSE },
    { "extended as it is", "", "cluster.nodes=7 cluster.places=0", 7 * 1110 + 7 * 50 + 15,
      7 * 1110 + 7 * 40 + 15, 7 * 1110 + 7 * 70 + 15, 15, 14, 1, FALSE },
    { NULL }
  };
  g_autoptr (GPtrArray) paths = grow (ONE_GPU "nodes: 6, fabric: torus", SENDS, FAB_HOLD_WRITTEN, 7, NULL);

  assert_paths (paths, expected);
}

/* Four GPUs in two nodes with a batch of 16 become eight in four. */
static void
the_batch_grows_unless_it_is_held (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *job;
    FabHold hold;
    const char *later; /* after its number of nodes; or the problem */
    gboolean is_problem;
  } rows[] = {
    { DDP ("micro_batch: 4"), FAB_HOLD_WRITTEN, "", FALSE },
    { DDP ("micro_batch: 4"), FAB_HOLD_BATCH, "job.micro_batch=2 job.accumulation=1 job.global_batch=0 ",
      FALSE },
    { DDP ("micro_batch: 4, global_batch: 16"), FAB_HOLD_WRITTEN, "job.global_batch=32 ", FALSE },
    { DDP ("micro_batch: 1"), FAB_HOLD_BATCH,
      "a batch of 4 sequences cannot be divided over 8 copies of the model; it can over 4, and with "
      "--hold micro_batch it grows with them",
      TRUE },
    { DDP ("micro_batch: 4, global_batch: 17"), FAB_HOLD_WRITTEN, "no path can be built in both phases",
      TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GPtrArray) paths = grow ("gpus_per_node: 2, nodes: 2, fabric: switch", rows[i].job,
                                        rows[i].hold, 4, &error);

    if (rows[i].is_problem) {
      assert_null (paths);
      assert_string_equal (error->message, rows[i].later);
      assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
      continue;
    }
    g_autofree char *later = g_strconcat (rows[i].later, "cluster.nodes=4 cluster.places=0", NULL);
    assert_int_equal (paths->len, 2);
    for (guint k = 0; k < paths->len; k++) {
      const FabGrowthPath *path = g_ptr_array_index (paths, k);
      g_autofree char *texts = texts_of (&path->later);

      assert_string_equal (texts, later);
    }
  }
}

static void
fewer_nodes_are_no_growth (G_GNUC_UNUSED void **state)
{
  static const guint nodes[] = { 1, 3, 4 };

  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++) {
    g_autofree char *problem = nodes[i] == 1
                                 ? g_strdup ("1 node is not more than the 4 that there are")
                                 : g_strdup_printf ("%u nodes are not more than the 4 that there are",
                                                    nodes[i]);
    g_autoptr (GError) error = NULL;

    assert_null (grow (ONE_GPU "nodes: 4, fabric: switch", SENDS, FAB_HOLD_WRITTEN, nodes[i], &error));
    assert_string_equal (error->message, problem);
  }
  g_autoptr (GPtrArray) paths = grow (ONE_GPU "nodes: 4, fabric: switch", SENDS, FAB_HOLD_WRITTEN, 5, NULL);
  assert_int_equal (paths->len, 2);
}

static void
a_study_that_is_cancelled_has_no_paths (G_GNUC_UNUSED void **state)
{
  static const gint cancelled = 1;
  g_autoptr (FabStudy) study = study_of_text (catalog, MACHINE ONE_GPU "nodes: 4, fabric: switch" SENDS);
  g_autoptr (GError) error = NULL;

  study->cancel = &cancelled;
  assert_null (fab_growth_find (study, 5, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_CANCELLED));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (paths_are_those_of_fabrics_with_leaves),
    cmocka_unit_test (what_has_no_price_comes_last),
    cmocka_unit_test (what_is_not_needed_is_left_over),
    cmocka_unit_test (the_batch_grows_unless_it_is_held),
    cmocka_unit_test (fewer_nodes_are_no_growth),
    cmocka_unit_test (a_study_that_is_cancelled_has_no_paths),
  };

  return play_run_tests ("growth", tests, &catalog);
}
