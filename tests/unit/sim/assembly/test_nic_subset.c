/* SPDX-License-Identifier: Apache-2.0 */
/* test_nic_subset.c - which NICs of a node remain, on nodes whose best choice is seen at once. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/assembly/nic_subset.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* The chosen NICs of a node with these parts and wires, as text. (transfer full) */
static char *
subset_of (const char *node, guint n_gpus, guint n)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: mine}\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
      "nodes:\n  - name: mine\n    accelerator: a100-sxm4-80gb\n    nic: ib-hdr\n%s",
      node);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabNodeSpec *spec = fab_catalog_node (fab_scenario_catalog (play->scenario), "mine");
  g_autofree guint *chosen = fab_nic_subset (spec, n_gpus, n);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, i > 0 ? " %u" : "%u", chosen[i]);
  return g_string_free (text, FALSE);
}

static void
assert_subset (const char *node, guint n_gpus, guint n, const char *expected)
{
  g_autofree char *text = subset_of (node, n_gpus, n);

  assert_string_equal (text, expected);
}

/* GPU i and NIC i on switch i. */
#define PAIRS                                                                               \
  "    parts: [{name: gpu, kind: accelerator, count: 4}, {name: nic, kind: nic, count: 4}," \
  " {name: sw, kind: switch, count: 4}, {name: cpu, kind: host, count: 2}]\n"               \
  "    wires: [{from: gpu, to: sw, link: pcie4-x16}, {from: nic, to: sw, link: pcie4-x16}," \
  " {from: sw, to: cpu, link: pcie4-x16}, {from: cpu0, to: cpu1, link: pcie4-x16}]\n"

/* All GPUs and the last two of four NICs on one switch, the first two NICs on the processor. */
#define FAR                                                                                  \
  "    parts: [{name: gpu, kind: accelerator, count: 2}, {name: nic, kind: nic, count: 4},"  \
  " {name: sw, kind: switch}, {name: cpu, kind: host}]\n"                                    \
  "    wires: [{from: gpu, to: sw, link: pcie4-x16}, {from: nic2, to: sw, link: pcie4-x16}," \
  " {from: nic3, to: sw, link: pcie4-x16}, {from: nic0, to: cpu, link: pcie4-x16},"          \
  " {from: nic1, to: cpu, link: pcie4-x16}, {from: sw, to: cpu, link: pcie4-x16}]\n"

/* One on each socket, and beside the GPUs that are used. */
static void
nics_stay_beside_their_gpus (G_GNUC_UNUSED void **state)
{
  assert_subset (PAIRS, 4, 2, "0 2");
  assert_subset (PAIRS, 4, 4, "0 1 2 3");
  assert_subset (PAIRS, 2, 2, "0 1");
  assert_subset (PAIRS, 1, 1, "0");
}

/* An even choice would be NICs 0 and 2. */
static void
near_nics_stay_before_even_ones (G_GNUC_UNUSED void **state)
{
  assert_subset (FAR, 2, 2, "2 3");
  assert_subset (FAR, 2, 1, "2");
}

/* 128 GPUs with 64 NICs beside them and 64 on the processor before these: 128 x 128 x 64 x 64 are more steps than a
 * choice is worth, and the even one stays. One NIC is chosen with care all the same. */
static void
large_nodes_keep_the_even_choice (G_GNUC_UNUSED void **state)
{
  static const char node[] =
      "    parts: [{name: gpu, kind: accelerator, count: 128}, {name: far, kind: nic, count: 64},"
      " {name: near, kind: nic, count: 64}, {name: sw, kind: switch}, {name: cpu, kind: host}]\n"
      "    wires: [{from: gpu, to: sw, link: pcie4-x16}, {from: near, to: sw, link: pcie4-x16},"
      " {from: far, to: cpu, link: pcie4-x16}, {from: sw, to: cpu, link: pcie4-x16}]\n";
  g_autoptr (GString) even = g_string_new (NULL);

  for (guint i = 0; i < 64; i++)
    g_string_append_printf (even, i > 0 ? " %u" : "%u", 2 * i);
  assert_subset (node, 128, 64, even->str);
  assert_subset (node, 128, 1, "64");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (nics_stay_beside_their_gpus),
    cmocka_unit_test (near_nics_stay_before_even_ones),
    cmocka_unit_test (large_nodes_keep_the_even_choice),
  };

  return play_run_tests ("nic_subset", tests, &catalog);
}
