/* SPDX-License-Identifier: Apache-2.0 */
/* test_topo_picture.c - what of a machine is drawn: trays that are alike once, links across as bundles, tiers of
 * switches, and what a design says.
 */
#include "tests/support/test.h"

#include "answer/topology/names.h"
#include "answer/topology/picture.h"
#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

typedef struct {
  Play *play;
  FabPlant *plant;
  FabTopoPicture *picture;
} Drawn;

static Drawn
draw (const char *machine, gboolean has_fabric, gboolean is_whole)
{
  g_autofree char *yaml = g_strconcat (
      "name: t\ncollectives: plain\njob: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n",
      machine, NULL);
  Drawn self = { .play = play_new (catalog, yaml, NULL) };

  self.plant = fab_plant_new (self.play->scenario, NULL, NULL);
  self.picture = fab_topo_picture_new (self.play->scenario, self.plant,
                                       &(FabTopoParts){ TRUE, has_fabric, is_whole });
  return self;
}

static void
drawn_clear (Drawn *self)
{
  fab_topo_picture_free (self->picture);
  fab_plant_free (self->plant);
  play_free (self->play);
}

static void
names_without_their_numbers (G_GNUC_UNUSED void **state)
{
  static const char *const cases[][2] = { { "leaf3", "leaf" },  { "node0/gpu17", "gpu" },
                                          { "spine", "spine" }, { "7", "7" },
                                          { "12", "1" },        { "a/b/c4", "b/c" },
                                          { "nic2x", "nic2x" }, { "x/3", "3" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *part = fab_topo_part (cases[i][0]);

    assert_string_equal (part, cases[i][1]);
  }
}

/* Tiers in the order of their first switch; a switch between accelerators is none of them. */
static void
tiers_of_the_fabric (G_GNUC_UNUSED void **state)
{
  Drawn drawn = draw (
      "cluster: {node: gb200-tray, nodes: 36, fabric: {kind: leaf_spine, nodes_per_leaf: 9, oversubscription: 2}}\n",
      TRUE, FALSE);
  const GArray *tiers = drawn.picture->tiers;
  guint n = 0;

  assert_int_equal (tiers->len, 2);
  for (guint i = 0; i < 2; i++)
    assert_string_equal (g_array_index (tiers, FabTopoTier, i).name, i == 0 ? "leaf" : "spine");
  assert_int_equal (g_array_index (tiers, FabTopoTier, 0).n, 4);
  for (FabVertexId id = 0; id < fab_graph_n_vertices (drawn.plant->graph); id++)
    n += strcmp (fab_graph_vertex_part (drawn.plant->graph, id), "spine") == 0;
  assert_int_equal (g_array_index (tiers, FabTopoTier, 1).n, n);
  g_autofree char *over = fab_topo_over_text (drawn.picture);
  assert_string_equal (over, "oversubscribed 2 : 1");
  assert_string_equal (drawn.picture->kind, "leaf_spine");
  assert_null (fab_topo_design_text (drawn.picture));
  assert_int_equal (drawn.picture->notes->len, 0);
  drawn_clear (&drawn);
}

/* Each link across is in one bundle, which is named after its ends: a switch comes last. Pairs are of what is drawn. */
static void
links_across_are_bundled (G_GNUC_UNUSED void **state)
{
  static const char *const nodes[] = { "dgx-a100", "dgx1-v100", "mi300x", "gb200-nvl72" };

  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
    for (guint whole = 0; whole < 2; whole++) {
      g_autofree char *machine = g_strdup_printf ("cluster: {node: %s, nodes: 1}\n", nodes[i]);
      Drawn drawn = draw (machine, FALSE, whole == 1);
      const FabTopology *topology = drawn.picture->topology;
      guint n = 0, n_pairs = 0, n_drawn = 0;

      for (guint b = 0; b < drawn.picture->across->len; b++) {
        const FabTopoBundle *bundle = &g_array_index (drawn.picture->across, FabTopoBundle, b);

        n += bundle->n;
        n_pairs += bundle->pairs->len;
        assert_true (bundle->pairs->len <= bundle->n);
        for (guint k = 0; k < b; k++)
          assert_string_not_equal (bundle->name,
                                   g_array_index (drawn.picture->across, FabTopoBundle, k).name);
        assert_false (g_str_has_prefix (bundle->name, "nvswitch"));
      }
      for (guint k = 0; k < topology->across->len; k++) {
        const FabLink *link = fab_graph_link (drawn.plant->graph,
                                              g_array_index (topology->across, FabLinkId, k));

        n_drawn += fab_topo_is_drawn (drawn.picture->units, link->src)
                && fab_topo_is_drawn (drawn.picture->units, link->dst);
      }
      assert_int_equal (n, topology->across->len);
      assert_int_equal (n_pairs, n_drawn);
      assert_int_equal (n_drawn == n, whole == 1 || i < 3);
      assert_int_equal (drawn.picture->units->n, whole == 0 && i == 3 ? 18 : 1);
      assert_null (drawn.picture->fabric);
      drawn_clear (&drawn);
    }
}

/* Trays of a host and a GPU, joined by one switch: three are drawn as one, two are not, nor those of which one has a
 * link that the others have not. */
static void
trays_that_are_alike_are_drawn_once (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_trays;
    const char *more;
    guint n_units;
  } cases[] = { { 2, "", 1 },
                { 3, "", 3 },
                { 4, "", 4 },
                { 4, ", {from: gpu0, to: cpu0, link: nvlink3}", 1 },
                { 4, ", {from: gpu0, to: gpu1, link: nvlink3}", 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint whole = 0; whole < 2; whole++) {
      const char *parts = "nodes:\n  - name: rack\n    accelerator: a100-sxm4-80gb\n";
      g_autofree char *machine = g_strdup_printf (
          "%s    parts: [{name: gpu, kind: accelerator, count: %u}, {name: cpu, kind: host, count: %u},"
          " {name: hub, kind: switch}]\n"
          "    wires: [{from: gpu, to: cpu, link: pcie4-x16}, {from: gpu, to: hub, link: nvlink3}%s]\n"
          "cluster: {node: rack, nodes: 1}\n",
          parts, cases[i].n_trays, cases[i].n_trays, cases[i].more);
      Drawn drawn = draw (machine, FALSE, whole == 1);
      const FabTopoUnits *units = drawn.picture->units;
      guint n_drawn = 0;

      if (units->n != (whole == 1 ? 1 : cases[i].n_units))
        fail_msg ("case %u: %u units", i, units->n);
      for (FabVertexId id = 0; id < fab_graph_n_vertices (drawn.plant->graph); id++) {
        gboolean is_hub = strcmp (fab_graph_vertex_part (drawn.plant->graph, id), "hub") == 0;

        n_drawn += fab_topo_is_drawn (units, id);
        if (whole == 0 && cases[i].n_units > 1)
          assert_int_equal (units->of_vertex[id] == FAB_TOPO_HUB, is_hub);
      }
      assert_int_equal (n_drawn, units->n > 1 ? 3 : 2 * cases[i].n_trays + 1);
      drawn_clear (&drawn);
    }
}

/* In a DGX H100 each GPU has its NIC below the same PCIe switch. */
static void
adapters_beyond_gpudirect (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *machine;
    guint n;
  } cases[] = { { "{node: dgx-h100, nodes: 2, gdr: none}", 8 },
                { "{node: dgx-h100, nodes: 2, gdr: pix}", 0 },
                { "{node: dgx-h100, nodes: 2, gdr: none, gpus_per_node: 3}", 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *machine = g_strdup_printf ("cluster: %s\n", cases[i].machine);
    Drawn drawn = draw (machine, FALSE, FALSE);

    assert_int_equal (drawn.picture->n_beyond_gdr, cases[i].n);
    drawn_clear (&drawn);
  }
}

/* A scalable unit of the SuperPOD has 32 nodes; what the design says stands beside the fabric, and only there. */
static void
what_a_design_says (G_GNUC_UNUSED void **state)
{
  const FabDesignSpec *design = fab_catalog_entry (catalog, FAB_SECTION_DESIGNS, "superpod-h100");

  for (gint64 units = 1; units < 3; units++)
    for (guint has_fabric = 0; has_fabric < 2; has_fabric++) {
      g_autofree char *machine = g_strdup_printf (
          "cluster: {design: superpod-h100, scalable_units: %" G_GINT64_FORMAT "}\n", units);
      Drawn drawn = draw (machine, has_fabric == 1, FALSE);
      g_autofree char *text = fab_topo_design_text (drawn.picture);
      g_autofree char *wanted = g_strdup_printf ("superpod-h100, %" G_GINT64_FORMAT
                                                 " scalable unit%s of %" G_GINT64_FORMAT " nodes: %s",
                                                 units, units > 1 ? "s" : "", design->unit_nodes,
                                                 design->summary);
      guint n_parts = 0, n_said = 0;

      assert_string_equal (text, wanted);
      assert_int_equal (drawn.picture->n_design_units, units);
      for (guint i = 0; i < design->parts.n; i++)
        n_parts += ((const FabDesignPart *) design->parts.data)[i].units == units;
      for (guint i = 0; i < drawn.picture->notes->len; i++) {
        const char *note = g_ptr_array_index (drawn.picture->notes, i);

        n_said += strstr (note, " x ") != NULL;
      }
      g_autofree char *transport = g_strconcat ("transport: ", design->transport, NULL);
      g_autofree char *power = g_strdup_printf ("power: %.4g kW for a full rack of nodes",
                                                (double) design->rack_watts / 1000);
      assert_int_equal (n_said, has_fabric == 1 ? n_parts : 0);
      assert_int_equal (g_ptr_array_find_with_equal_func (drawn.picture->notes, transport, g_str_equal, NULL),
                        has_fabric == 1);
      assert_int_equal (g_ptr_array_find_with_equal_func (drawn.picture->notes, power, g_str_equal, NULL),
                        has_fabric == 1 && design->rack_watts > 0);
      drawn_clear (&drawn);
    }
}

/* Findings about a design and its switches belong to the fabric. */
static void
what_was_not_published (G_GNUC_UNUSED void **state)
{
  static const char *const designs[] = { "superpod-h100", "superpod-a100" };

  for (guint i = 0; i < G_N_ELEMENTS (designs); i++)
    for (guint has_fabric = 0; has_fabric < 2; has_fabric++) {
      const FabDesignSpec *design = fab_catalog_entry (catalog, FAB_SECTION_DESIGNS, designs[i]);
      g_autofree char *machine = g_strdup_printf ("cluster: {design: %s, scalable_units: 1}\n", designs[i]);
      Drawn drawn = draw (machine, has_fabric == 1, FALSE);
      guint n = 0;

      for (guint k = 0; k < fab_verdict_n (drawn.picture->verdict); k++)
        n += strstr (fab_verdict_at (drawn.picture->verdict, k)->text, "Not all of the design") != NULL;
      assert_int_equal (n, has_fabric == 1 && design->assumed != NULL && *design->assumed != '\0');
      assert_int_equal (i, design->assumed != NULL && *design->assumed != '\0');
      drawn_clear (&drawn);
    }
}

/* --- what stands in another order --- */

#define RACK(parts, wires)                                                            \
  "nodes:\n  - name: rack\n    accelerator: a100-sxm4-80gb\n    parts: [" parts "]\n" \
  "    wires: [" wires "]\ncluster: {node: rack, nodes: 1}\n"
#define HUB "{name: hub, kind: switch}"
#define TRAYS "{name: gpu, kind: accelerator, count: 3}, {name: cpu, kind: host, count: 3}"
#define WIRES "{from: gpu, to: cpu, link: pcie4-x16}, {from: gpu, to: hub, link: nvlink3}"

/* A switch that joins trays does so wherever it stands among the parts, and comes last in the names of its links. */
static void
the_switch_between_trays_may_come_first (G_GNUC_UNUSED void **state)
{
  static const char *const machines[] = { RACK (HUB ", " TRAYS, WIRES), RACK (TRAYS ", " HUB, WIRES) };

  for (guint i = 0; i < 2; i++) {
    Drawn drawn = draw (machines[i], FALSE, FALSE);
    const FabTopoBundle *bundle = &g_array_index (drawn.picture->across, FabTopoBundle, 0);

    assert_int_equal (drawn.picture->units->n, 3);
    assert_int_equal (drawn.picture->across->len, 1);
    assert_true (g_str_has_prefix (bundle->name, "gpu - hub: "));
    assert_int_equal (bundle->n, 3);
    assert_int_equal (bundle->pairs->len, 1);
    assert_string_equal (g_ptr_array_index (bundle->pairs, 0), "gpu0-hub");
    for (FabVertexId id = 0; id < fab_graph_n_vertices (drawn.plant->graph); id++)
      assert_int_equal (drawn.picture->units->of_vertex[id] == FAB_TOPO_HUB,
                        strcmp (fab_graph_vertex_part (drawn.plant->graph, id), "hub") == 0);
    assert_true (drawn.picture->parts.has_node);
    assert_false (drawn.picture->parts.has_fabric || drawn.picture->parts.is_whole);
    drawn_clear (&drawn);
  }
}

/* A switch between three GPUs below one socket joins no trays: they are one. */
static void
a_switch_below_one_socket_joins_nothing (G_GNUC_UNUSED void **state)
{
  Drawn drawn = draw (RACK ("{name: gpu, kind: accelerator, count: 3}, {name: cpu, kind: host}, " HUB, WIRES),
                      FALSE, FALSE);

  assert_int_equal (drawn.picture->units->n, 1);
  for (FabVertexId id = 0; id < fab_graph_n_vertices (drawn.plant->graph); id++)
    assert_int_not_equal (drawn.picture->units->of_vertex[id], FAB_TOPO_HUB);
  drawn_clear (&drawn);
}

/* --- designs of its own --- */

/* The ports of a design are told where they are not those of the node, and its parts where they are of as many
 * units. */
static void
a_design_of_other_ports (G_GNUC_UNUSED void **state)
{
  static const char *const nics[] = { "", "    nic: ib-ndr\n", "    nic: ib-hdr\n" };

  for (guint i = 0; i < G_N_ELEMENTS (nics); i++)
    for (guint units = 1; units < 3; units++) {
      g_autofree char *machine = g_strdup_printf (
          "designs:\n  - name: d\n    node: dgx-h100\n    unit_nodes: 1\n%s"
          "    sizes: [{units: 1, fabric: switch}, {units: 2, fabric: switch}]\n"
          "    parts: [{units: 2, network: site, part: rack, what: a rack, count: 4},\n"
          "      {units: 1, network: storage, part: switch, what: a shelf, count: 3}]\n"
          "cluster: {design: d, scalable_units: %u}\n",
          nics[i], units);
      Drawn drawn = draw (machine, TRUE, FALSE);
      guint n = i == 2 ? 1 : 0;

      assert_int_equal (drawn.picture->notes->len, n + 1);
      if (i == 2)
        assert_string_equal (g_ptr_array_index (drawn.picture->notes, 0),
                             "NICs: ib-hdr, in place of ib-ndr of the node");
      assert_string_equal (g_ptr_array_index (drawn.picture->notes, n),
                           units == 1 ? "storage: 3 x switch, a shelf" : "site: 4 x rack, a rack");
      drawn_clear (&drawn);
    }
}

/* What is wrong with the ports of a fabric is told where it is shown: leaves of four nodes use few of their ports. */
static void
ports_of_the_fabric_are_judged (G_GNUC_UNUSED void **state)
{
  for (guint has_fabric = 0; has_fabric < 2; has_fabric++) {
    Drawn drawn = draw ("cluster: {node: dgx-h100, nodes: 33, nics_per_node: 2, "
                        "fabric: {kind: leaf_spine, nodes_per_leaf: 4}}\n",
                        has_fabric > 0, FALSE);

    assert_int_equal (fab_verdict_find (drawn.picture->verdict, FAB_FINDING_HALF_USED_SWITCHES) != NULL,
                      has_fabric);
    drawn_clear (&drawn);
  }
}

/* Of nothing there is nothing to free. */
static void
nothing_is_freed_of_nothing (G_GNUC_UNUSED void **state)
{
  fab_topo_picture_free (NULL);
  fab_topo_fabric_free (NULL);
  fab_topo_units_free (NULL);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_switch_between_trays_may_come_first),
    cmocka_unit_test (a_switch_below_one_socket_joins_nothing),
    cmocka_unit_test (a_design_of_other_ports),
    cmocka_unit_test (ports_of_the_fabric_are_judged),
    cmocka_unit_test (nothing_is_freed_of_nothing),
    cmocka_unit_test (names_without_their_numbers),
    cmocka_unit_test (tiers_of_the_fabric),
    cmocka_unit_test (links_across_are_bundled),
    cmocka_unit_test (trays_that_are_alike_are_drawn_once),
    cmocka_unit_test (adapters_beyond_gpudirect),
    cmocka_unit_test (what_a_design_says),
    cmocka_unit_test (what_was_not_published),
  };

  return play_run_tests ("topo_picture", tests, &catalog);
}
