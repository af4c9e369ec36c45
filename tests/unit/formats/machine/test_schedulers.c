/* SPDX-License-Identifier: Apache-2.0 */
/* test_schedulers.c - topology.conf and topograph: names, trees, and what is refused where. */
#include "tests/support/test.h"

#include <string.h>

#include "formats/machine/scheduler_tree.h"

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

static FabImportedMachine *
read_text (const char *format, const char *text, const char *accelerator, GError **error)
{
  const FabImportRequest request = { .file = { "top", text, strlen (text) } };
  const FabFileFormat *row = fab_file_format_of (FAB_FILE_MACHINE, &request.file);
  FabImportedMachine *machine = fab_imported_machine_new ("test");

  assert_non_null (row);
  assert_string_equal (row->name, format);
  machine->accelerator = accelerator;
  if (row->read.machine (machine, &request, error))
    return machine;
  fab_imported_machine_free (machine);
  return NULL;
}

static void
assert_fabric (const char *format, const char *text, const char *accelerator, guint n_nodes,
               const char *const *parts)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabImportedMachine) machine = read_text (format, text, accelerator, &error);

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

  assert_null (read_text (format, text, NULL, &error));
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
}

static void
blocks_and_lone_switches_are_joined (G_GNUC_UNUSED void **state)
{
  assert_fabric ("slurm-topology", "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n",
                 NULL, 4, (const char *const[]){ "{name: leaf, count: 2}", "{name: spine, count: 1}", NULL });
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

  assert_null (read_text ("slurm-topology", "BlockName=b1 Nodes=n[1-18]\n", "gb200", &error));
  assert_non_null (strstr (error->message, "a rack of 18 trays in the catalogue (gb200-nvl72)"));
}

static void
what_is_no_tree_is_refused_at_the_place (G_GNUC_UNUSED void **state)
{
  assert_refused ("slurm-topology", "SwitchName=s1 Nodes=n[1-\n", "top:1:21: 'n[1-' is no list of names");
  assert_refused ("slurm-topology", "SwitchName=s1 Switches=s2\nSwitchName=s2 Switches=s1\n",
                  "top:2:24: switch 's1' would be below itself");
  assert_refused ("slurm-topology", "SwitchName=s1 Nodes=n1\nSwitchName=s2 Nodes=n1\n",
                  "top:2:21: node 'n1' is below switch 's1' already");
  assert_refused ("slurm-topology", "SwitchName=s1 Switches=s2\n", "top: no node is below a switch");
  assert_refused ("topograph", "switches: []\nblocks:\n- nodes: [n1]\n",
                  "top:1:11: 'switches' must be a mapping");
  assert_refused ("topograph", "{\"instances\": [{\"id\": \"i1\", \"network_layers\": [[]]}]}", "top:1:");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (names_are_expanded),
    cmocka_unit_test (a_tree_has_as_many_cables_up_as_nics_below),
    cmocka_unit_test (nodes_of_upper_levels_are_those_below),
    cmocka_unit_test (blocks_and_lone_switches_are_joined),
    cmocka_unit_test (nodes_are_numbered_branch_by_branch),
    cmocka_unit_test (graphs_and_models_of_topograph_are_read),
    cmocka_unit_test (trays_are_no_racks),
    cmocka_unit_test (what_is_no_tree_is_refused_at_the_place),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
