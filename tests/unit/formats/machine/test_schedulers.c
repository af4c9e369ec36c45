/* SPDX-License-Identifier: Apache-2.0 */
/* test_schedulers.c - topology.conf and topograph: names, trees, and what is refused where. */
#include "tests/unit/formats/machine/told.h"

#include "formats/machine/scheduler_tree.h"
#include "tests/unit/formats/machine/told.h"

static void
assert_names (const char *list, const char *joined)
{
  g_autoptr (GPtrArray) names = fab_scheduler_tree_expand (list);
  g_autoptr (GString) text = g_string_new (NULL);

  if (joined == NULL) {
    assert_null (names);
    return;
  }
  assert_non_null (names);
  for (guint i = 0; i < names->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? " " : "", (const char *) g_ptr_array_index (names, i));
  assert_string_equal (text->str, joined);
}

static void
names_are_expanded (G_GNUC_UNUSED void **state)
{
  assert_names ("n1", "n1");
  assert_names ("gpu[008-010],login1", "gpu008 gpu009 gpu010 login1");
  assert_names ("r[1-2]n[1,3]", "r1n1 r1n3 r2n1 r2n3");
  assert_names ("n[10-12,20]", "n10 n11 n12 n20");
  assert_names ("n[1-3", NULL);
  assert_names ("n]", NULL);
  assert_names ("n[3-1]", NULL);
  assert_names ("n[1-999999999]", NULL);
  assert_names ("n1,,n2", NULL);
  assert_names ("n[]", NULL);
  assert_names ("n[,2-3]", NULL);
  assert_names ("n[1,]", NULL);
  assert_names ("n[-3]", NULL);
  assert_names ("n[1-]", NULL);
}

static void
assert_fabric (const char *format, const char *text, const char *accelerator, guint n_nodes,
               const char *const *parts)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabImportedMachine) machine = read_machine (format, accelerator, text, &error);

  if (machine == NULL)
    fail_msg ("%s", error->message);
  assert_int_equal (machine->n_nodes, n_nodes);
  for (guint i = 0; parts[i] != NULL; i++)
    if (strstr (machine->fabric->str, parts[i]) == NULL)
      fail_msg ("'%s' is not in\n%s", parts[i], machine->fabric->str);
}

static void
assert_refused (const char *format, const char *text, const char *start)
{
  g_autoptr (GError) error = NULL;

  assert_null (read_machine (format, NULL, text, &error));
  if (!g_str_has_prefix (error->message, start))
    fail_msg ("%s", error->message);
}

/* Of dgx-h100, with eight NICs: two nodes below a leaf are 16 cables up; of dgx1-v100, with four, eight. */
static void
a_tree_has_as_many_cables_up_as_nics_below (G_GNUC_UNUSED void **state)
{
  static const char text[] = "SwitchName=top Switches=s[1-2]\n"
                             "switchname=s1 nodes=n[1-2]\n"
                             "SwitchName=s2 \\\n  Nodes=n3 LinkSpeed=9 # the last\n";

  assert_fabric ("slurm-topology", text, NULL, 3,
                 (const char *const[]){
                     "{from: leaf0, to: spine, count: 16}", "{from: leaf1, to: spine, count: 8}",
                     "{to: leaf0, nodes: 0-1} # n1 ... n2", "{to: leaf1, nodes: 2-2}", NULL });
  assert_fabric ("slurm-topology", text, "v100-sxm2-16gb", 3,
                 (const char *const[]){ "{from: leaf0, to: spine, count: 8}", NULL });
}

/* `scontrol show topology` names for upper switches the nodes of the lower ones. */
static void
nodes_of_upper_levels_are_those_below (G_GNUC_UNUSED void **state)
{
  assert_fabric ("slurm-topology",
                 "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-2] Switches=(null)\n"
                 "SwitchName=s2 Level=0 LinkSpeed=1 Nodes=n[3-4]\n"
                 "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=s[1-2]\n",
                 NULL, 4,
                 (const char *const[]){ "{to: leaf0, nodes: 0-1} # n1 ... n2", "{name: spine, count: 1}",
                                        NULL });
  /* a level holds for its line, which may go on */
  assert_fabric ("slurm-topology",
                 "SwitchName=top Level=1 \\\n Nodes=n[1-4] Switches=s[1-2]\n"
                 "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4]\n",
                 NULL, 4,
                 (const char *const[]){ "{to: leaf0, nodes: 0-1} # n1 ... n2",
                                        "{to: leaf1, nodes: 2-3} # n3 ... n4", NULL });
}

static void
blocks_and_lone_switches_are_joined (G_GNUC_UNUSED void **state)
{
  assert_fabric ("slurm-topology", "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n",
                 NULL, 4, (const char *const[]){ "{name: leaf, count: 2}", "{name: spine, count: 1}", NULL });
}

/* Only blocks are said to be switches here, at the line of the first. */
static void
blocks_alone_are_noted (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    guint n_blocks, line;
  } rows[] = {
    { "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4]\nSwitchName=top Switches=s[1-2]\n", 0, 0 },
    { "SwitchName=s1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\n", 1, 2 },
    { "# a comment\nBlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\n", 2, 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabImportedMachine) machine = read_machine ("slurm-topology", NULL, rows[i].text, &error);
    g_autofree char *begin = g_strdup_printf ("%u blocks are switches here;", rows[i].n_blocks);
    guint n = 0;

    if (machine == NULL)
      fail_msg ("%s", error->message);
    for (guint k = 0; k < machine->notes->len; k++) {
      const FabFileNote *note = fab_file_note (machine->notes, k);

      if (strstr (note->text, " blocks are switches here;") == NULL)
        continue;
      n++;
      assert_true (g_str_has_prefix (note->text, begin));
      assert_int_equal (note->line, rows[i].line);
    }
    assert_int_equal (n, rows[i].n_blocks > 0);
  }
}

static void
nodes_are_numbered_branch_by_branch (G_GNUC_UNUSED void **state)
{
  assert_fabric (
      "slurm-topology",
      "SwitchName=a Nodes=x1\nSwitchName=b Nodes=y1\nSwitchName=c Nodes=x2\n"
      "SwitchName=left Switches=a,c\nSwitchName=right Switches=b\nSwitchName=top Switches=left,right\n",
      NULL, 3, (const char *const[]){ "nodes: 0-0} # x1", "nodes: 1-1} # x2", "nodes: 2-2} # y1", NULL });
}

static void
graphs_and_models_of_topograph_are_read (G_GNUC_UNUSED void **state)
{
  assert_fabric ("topograph",
                 "{\"instances\": [{\"id\": \"i1\", \"network_layers\": [\"l1\", \"s\"]},"
                 " {\"id\": \"i2\", \"network_layers\": [\"l2\", \"s\"]}]}",
                 NULL, 2, (const char *const[]){ "{to: leaf1, nodes: 1-1} # i2", NULL });
  assert_fabric ("topograph",
                 "switches:\n  s: {switches: [l1, l2]}\nblocks:\n- switch: l1\n  nodes: [\"n[1-2]\"]\n"
                 "- switch: l2\n  nodes: [n3]\n",
                 NULL, 3, (const char *const[]){ "{to: leaf0, nodes: 0-1} # n1 ... n2", NULL });
}

/* The catalogue's node of GB200 is a rack, and Slurm's is a tray. */
static void
trays_are_no_racks (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;

  assert_null (read_machine ("slurm-topology", "gb200", "BlockName=b1 Nodes=n[1-18]\n", &error));
  assert_non_null (strstr (error->message, "a rack of 18 trays in the catalogue (gb200-nvl72)"));
}

static void
what_is_no_tree_is_refused_at_the_place (G_GNUC_UNUSED void **state)
{
  assert_refused ("slurm-topology", "SwitchName=s1 Nodes=n[1-\n", "x:1:21: 'n[1-' is no list of names");
  assert_refused ("slurm-topology", "SwitchName=s1 Switches=s2\nSwitchName=s2 Switches=s1\n",
                  "x:2:24: switch 's1' would be below itself");
  assert_refused ("slurm-topology", "SwitchName=s1 Nodes=n1\nSwitchName=s2 Nodes=n1\n",
                  "x:2:21: node 'n1' is below switch 's1' already");
  assert_refused ("slurm-topology", "SwitchName=s1 Switches=s2\n", "x: no node is below a switch");
  assert_refused ("topograph", "switches: []\nblocks:\n- nodes: [n1]\n",
                  "x:1:11: 'switches' must be a mapping");
  assert_refused ("topograph", "{\"instances\": [{\"id\": \"i1\", \"network_layers\": [[]]}]}", "x:1:");
}

/* Two trees of three levels, of which nothing says what joins them. A switch without nodes is left out. Nodes are
 * numbered branch by branch; a switch of nodes may stand beside switches. */
static void
a_forest_is_one_fabric (G_GNUC_UNUSED void **state)
{
  static const char text[] = "# made by hand\n"
                             "SwitchName=core Switches=spine[1-2]\n"
                             "SwitchName=spine1 Switches=leaf[1-2],empty\n"
                             "SwitchName=spine2 Switches=leaf3 Nodes=io[1-2]\n"
                             "SwitchName=leaf1 Nodes=n[01-02] LinkSpeed=400\n"
                             "SWITCHNAME=leaf2 NODES=n03\n"
                             "SwitchName=leaf3 Nodes=n[04-05],n07\n"
                             "SwitchName=other Nodes=x1\\\n"
                             "  # the rest is no more of that line\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (FabImportedMachine) machine = read_machine ("slurm-topology", "a100-sxm4-40gb", text, &error);
  g_autofree char *notes = notes_told (machine->notes);

  assert_string_equal (
      machine->fabric->str,
      "    kind: custom\n    switches:\n"
      "      - {name: leaf, count: 4}\n      - {name: spine, count: 2}\n"
      "      - {name: core, count: 1}\n      - {name: top, count: 1}\n"
      "      # top: (joins the trees)\n      # core: core\n      # leaf0: other\n"
      "      # spine0: spine1\n      # spine1: spine2\n      # leaf1: leaf1\n      # leaf2: leaf2\n"
      "      # leaf3: leaf3\n"
      "    links:\n"
      "      - {from: core, to: top, count: 64}\n      - {from: leaf0, to: top, count: 8}\n"
      "      - {from: spine0, to: core, count: 24}\n      - {from: spine1, to: core, count: 40}\n"
      "      - {from: leaf1, to: spine0, count: 16}\n      - {from: leaf2, to: spine0, count: 8}\n"
      "      - {from: leaf3, to: spine1, count: 24}\n"
      "    attach:\n"
      "      - {to: leaf1, nodes: 0-1} # n01 ... n02\n      - {to: leaf2, nodes: 2-2} # n03 ... n03\n"
      "      - {to: spine1, nodes: 3-4} # io1 ... io2\n      - {to: leaf3, nodes: 5-7} # n04 ... n07\n"
      "      - {to: leaf0, nodes: 8-8} # x1 ... x1\n");
  assert_int_equal (machine->n_nodes, 9);
  assert_string_equal (machine->node, "dgx-a100");
  assert_string_equal (
      notes,
      "0 inferred: node: dgx-a100, as it has that accelerator, with 8 NICs; the file says nothing of what a node is. "
      "--accelerator names another, or take the node from an import of one of the hosts\n"
      "0 inferred: a switch joins the 2 that have none above them, as the file does not show what joins them\n"
      "0 read: 9 nodes below 8 switches, 4 of which have nodes\n"
      "0 inferred: cables: as many up as NICs are below each switch; the file says who is below whom and not how "
      "many cables there are. What is one switch above others may be a layer of several\n");
}

/* One switch has no links; blocks say from where they are. */
static void
notes_say_what_a_file_lacks (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) one = read_machine ("slurm-topology", NULL, "SwitchName=s Nodes=n[1-2]\n",
                                                     NULL);
  g_autoptr (FabImportedMachine) blocks = read_machine ("slurm-topology", NULL,
                                                        "\nBlockName=b1 Nodes=n1\nBlockName=b2 Nodes=n2\n",
                                                        NULL);
  g_autofree char *of_one = notes_told (one->notes), *of_blocks = notes_told (blocks->notes);

  assert_string_equal (
      one->fabric->str,
      "    kind: custom\n    switches:\n      - {name: leaf, count: 1}\n      # leaf: s\n    attach:\n"
      "      - {to: leaf, nodes: 0-1} # n1 ... n2\n");
  assert_string_equal (
      of_one,
      "0 inferred: node: dgx-h100 stands in, with 8 NICs; the file says nothing of what a node is. "
      "--accelerator names "
      "another, or take the node from an import of one of the hosts\n0 read: 2 nodes below 1 switches, 1 of "
      "which have "
      "nodes\n");
  assert_true (g_str_has_prefix (
      of_blocks,
      "2 inferred: 2 blocks are switches here; in Slurm a block is a domain of fast links between nodes"));
}

/* Machines of the catalogue with that accelerator, and how many NICs each has. */
static void
nodes_are_the_usual_ones (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *accelerator, *node;
    guint n_nics;
  } rows[] = { { NULL, "dgx-h100", 8 },
               { "v100-sxm2-32gb", "dgx1-v100", 4 },
               { "a100-sxm4-80gb", "dgx-a100", 8 },
               { "h100-sxm5-94gb", "dgx-h100", 8 },
               { "h200-sxm5", "hgx-h200", 8 },
               { "b200-sxm", "hgx-b200", 8 },
               { "mi300x", "mi300x", 8 },
               { "mi250x-gcd", "mi250x", 4 },
               { "l40s", NULL, 0 },
               { "gb300", NULL, 0 },
               { "gb200", NULL, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabImportedMachine) machine = read_machine (
        "slurm-topology", rows[i].accelerator,
        "SwitchName=t Switches=a,b\nSwitchName=a Nodes=x\nSwitchName=b Nodes=y\n", &error);

    assert_true ((machine != NULL) == (rows[i].node != NULL));
    if (machine == NULL)
      assert_true (g_str_has_prefix (error->message, rows[i].accelerator[0] == 'g'
                                                         ? "x: a node of gb"
                                                         : "x: no machine with l40s is known"));
    else {
      g_autofree char *link = g_strdup_printf ("{from: leaf0, to: spine, count: %u}", rows[i].n_nics);

      assert_string_equal (machine->node, rows[i].node);
      assert_non_null (strstr (machine->fabric->str, link));
    }
  }
}

/* What `scontrol` prints for nothing counts as nothing, and what a switch has may stand twice. */
static void
what_stands_twice_counts_once (G_GNUC_UNUSED void **state)
{
  assert_fabric (
      "slurm-topology",
      "SwitchName=s Nodes=n1,n1 Switches=(null)\nSwitchName=s Nodes=n[1-2]\nSwitchName=t Switches=s Nodes=ALL\n"
      "SwitchName=t Switches=s Nodes=\n",
      NULL, 2,
      (const char *const[]){ "{to: leaf, nodes: 0-1} # n1 ... n2", "{from: leaf, to: spine, count: 16}",
                             NULL });
  assert_refused ("slurm-topology", "Nodes=n1\nSwitchName=s Nodes=n2\n",
                  "x:1:7: SwitchName= or BlockName= must stand before these");
  assert_refused ("slurm-topology", "SwitchName=s \\\n Nodes=n1\nNodes=n2\n",
                  "x:3:7: SwitchName= or BlockName= must stand before these");
  assert_refused ("slurm-topology", "SwitchName=s Nodes=n1\nNodes=n2\n",
                  "x:2:7: SwitchName= or BlockName= must stand before these");
  assert_refused ("slurm-topology", "SwitchName=\n", "x:1:12: a name belongs here, as SwitchName=leaf1");
  assert_refused ("slurm-topology", "SwitchName=a Switches=x\nSwitchName=b Switches=x\n",
                  "x:2:23: switch 'x' is below 'a' already; a tree has one above each");
  assert_refused ("slurm-topology", "SwitchName=a Switches=a\n", "x:1:23: switch 'a' would be below itself");
}

static void
as_many_nodes_as_there_are (G_GNUC_UNUSED void **state)
{
  static const char text[] = "SwitchName=s Nodes=n[1-4]\n";

  for (guint n = 4; n <= 5; n++) {
    const FabFileFormat *format = fab_file_format_named (FAB_FILE_MACHINE, "slurm-topology");
    g_autoptr (FabImportedMachine) machine = fab_imported_machine_new ("test");
    g_autoptr (GError) error = NULL;
    const FabImportRequest request = { .file = { "x", text, strlen (text) }, .n_nodes = n };

    assert_true (format->read.machine (machine, &request, &error) == (n == 4));
    if (n == 5)
      assert_string_equal (error->message, "x: --nodes 5, but there are 4");
  }
}

/* Names of 256 characters, 200000 nodes and 20000 switches are the most. */
static void
lists_have_limits (G_GNUC_UNUSED void **state)
{
  g_autofree char *most = g_strnfill (256, 'n'), *more = g_strnfill (257, 'n');
  g_autofree char *whole = g_strdup_printf ("%.251s[1-9]", most),
                  *longer = g_strdup_printf ("%.252s[1-9]", most);
  g_autoptr (GPtrArray) nodes = fab_scheduler_tree_expand ("n[1-200000]");
  g_autoptr (GPtrArray) list = fab_scheduler_tree_expand (whole);

  assert_names (most, most);
  assert_names (more, NULL);
  assert_int_equal (nodes->len, 200000);
  assert_int_equal (list->len, 9);
  assert_names (longer, NULL);
  assert_names ("n[0-200000]", NULL);
  assert_names ("n[1-199999],m[1-2]", NULL);
  assert_names ("n[2147483648]", NULL);
  assert_names ("n[007-010]x", "n007x n008x n009x n010x");
  assert_names ("a[1,3-4]b, c", "a1b a3b a4b c");
  assert_names ("", NULL);
  assert_names (" ", NULL);
}

static void
large_trees_are_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabImportedMachine) machine = read_machine (
      "slurm-topology", NULL, "SwitchName=t Switches=s[1-19999]\nSwitchName=s1 Nodes=n1\n", &error);

  assert_null (error);
  assert_int_equal (machine->n_nodes, 1);
  assert_refused ("slurm-topology", "SwitchName=t Switches=s[1-20000]\nSwitchName=s1 Nodes=n1\n",
                  "x:1:23: there are more than 20000 switches");
  assert_refused ("slurm-topology", "SwitchName=s Nodes=n[1-200000]\nSwitchName=t Nodes=m1\n",
                  "x:2:20: there are more than 200000 nodes");
}

static void
files_of_topograph_are_told_apart (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    gboolean is_one;
  } rows[] = {
    { "{\"network_layers\"", TRUE }, { "\"network_layers\": x", FALSE }, { "{\"layers\"", FALSE },
    { "blocks:\n nodes:", TRUE },    { "x: 1\nblocks:\n nodes:", TRUE }, { "x: 1\nblocks:\n", FALSE },
    { "blocks:\n", FALSE },          { " blocks:\n nodes:", FALSE }
  };
  const FabFileFormat *format = fab_file_format_named (FAB_FILE_MACHINE, "topograph");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_true (format->recognises (&(FabFileText){ "x", rows[i].text, strlen (rows[i].text) })
                 == rows[i].is_one);
}

static void
models_and_graphs_of_topograph_are_trees (G_GNUC_UNUSED void **state)
{
  assert_fabric (
      "topograph",
      "{\"instances\": [{\"id\": \"i1\", \"network_layers\": [\"l1\", \"s1\", \"c\"]},"
      " {\"id\": \"i2\", \"network_layers\": [\"l2\", \"s1\", \"c\"]}, {\"id\": \"i3\", \"network_layers\": "
      "[\"l3\", \"s2\", \"c\"]},"
      " {\"id\": \"i4\"}, {\"network_layers\": [\"l9\"]}, {\"id\": \"i5\", \"network_layers\": [\"l1\"]}]}",
      NULL, 4,
      (const char *const[]){ "{name: leaf, count: 3}", "{name: spine, count: 2}", "{name: core, count: 1}",
                             "{to: leaf0, nodes: 0-1} # i1 ... i5", "{from: leaf0, to: spine0, count: 16}",
                             "{from: leaf2, to: spine1, count: 8}", "{from: spine0, to: core, count: 24}",
                             NULL });
  /* instances count before a model beside them */
  assert_fabric ("topograph",
                 "{\"instances\": [{\"id\": \"i1\", \"network_layers\": [\"l1\"]}], \"switches\": [],"
                 " \"blocks\": [{\"nodes\": [\"n9\"]}]}",
                 NULL, 1, (const char *const[]){ "{to: leaf, nodes: 0-0} # i1 ... i1", NULL });
  assert_refused ("topograph", "blocks: [\nnodes:", "x:2:");
  assert_fabric ("topograph", "blocks:\n- nodes: [n1]\n- nodes: [n2, n3]\n", NULL, 3,
                 (const char *const[]){ "# leaf0: block0", "# leaf1: block1",
                                        "{to: leaf1, nodes: 1-2} # n2 ... n3", NULL });
  assert_refused ("topograph",
                  "switches: {a: {switches: [b]}, c: {switches: [b]}}\nblocks:\n- {switch: b, nodes: [n1]}\n",
                  "x:1:47: switch 'b' is below 'a' already; a tree has one above each");
  assert_refused ("topograph", "blocks:\n- {switch: b, nodes: [n1]}\n- {switch: c, nodes: [n1]}\n",
                  "x:3:23: node 'n1' is below switch 'b' already");
  assert_refused ("topograph", "blocks:\n- nodes: [[n1]]\n",
                  "x:2:11: a name belongs here, or several as n[1-4]");
  assert_refused ("topograph", "blocks:\n- nodes: ['n[1-']\n",
                  "x:2:11: a name belongs here, or several as n[1-4]");
  assert_refused ("topograph", "blocks: x\nnodes: y\n", "x:1:9: 'blocks' must be a list of blocks");
  assert_refused ("topograph", "blocks:\n- {switch: [a], nodes: [n]}\n",
                  "x:2:12: 'switch' must be the name of a switch");
  assert_refused ("topograph", "{\"instances\": [{\"id\": \"i1\", \"network_layers\": []}]}",
                  "x:1:47: at least one switch belongs here");
  assert_refused ("topograph", "{\"instances\": [{\"id\": \"i1\", \"network_layers\": [[]]}]}",
                  "x:1:48: the name of a switch belongs here");
  assert_refused ("topograph", "{\"instances\": [{\"id\": [], \"network_layers\": [\"a\"]}]}",
                  "x:1:23: 'id' must be the name of the instance");
  assert_refused ("topograph", "{\"instances\": [{\"id\": \"i\", \"network_layers\": [\"a\", \"a\"]}]}",
                  "x:1:52: switch 'a' would be below itself");
  assert_refused (
      "topograph",
      "{\"instances\": [{\"id\": \"i\", \"network_layers\": [\"a\"]}, {\"id\": \"i\", \"network_layers\": [\"b\"]}]}",
      "x:1:85: node 'i' is below switch 'a' already");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (names_are_expanded),
    cmocka_unit_test (a_tree_has_as_many_cables_up_as_nics_below),
    cmocka_unit_test (nodes_of_upper_levels_are_those_below),
    cmocka_unit_test (blocks_and_lone_switches_are_joined),
    cmocka_unit_test (blocks_alone_are_noted),
    cmocka_unit_test (nodes_are_numbered_branch_by_branch),
    cmocka_unit_test (graphs_and_models_of_topograph_are_read),
    cmocka_unit_test (trays_are_no_racks),
    cmocka_unit_test (a_forest_is_one_fabric),
    cmocka_unit_test (notes_say_what_a_file_lacks),
    cmocka_unit_test (nodes_are_the_usual_ones),
    cmocka_unit_test (what_stands_twice_counts_once),
    cmocka_unit_test (as_many_nodes_as_there_are),
    cmocka_unit_test (lists_have_limits),
    cmocka_unit_test (large_trees_are_refused),
    cmocka_unit_test (files_of_topograph_are_told_apart),
    cmocka_unit_test (models_and_graphs_of_topograph_are_trees),
    cmocka_unit_test (what_is_no_tree_is_refused_at_the_place),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
