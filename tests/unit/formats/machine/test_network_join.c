/* SPDX-License-Identifier: Apache-2.0 */
/* test_network_join.c - files of hosts are found in a network, and their NICs reach the right switches. */
#include "tests/support/test.h"

#include <string.h>

#include "formats/import.h"
#include "models/models.h"

/* Three hosts with two NICs each: the first of each is at leaf B, which the text lists last. */
static const char network[] = "Switch 8 \"S-0a\" # \"MF0;leafA:MQM9700/U1\"\n"
                              "[1] \"H-12\"[1] # \"n1 mlx5_1\" lid 5 4xNDR\n"
                              "[2] \"H-22\"[1] # \"n2 mlx5_1\" lid 6 4xNDR\n"
                              "[3] \"H-32\"[1] # \"n3 mlx5_1\" lid 7 4xNDR\n"
                              "[8] \"S-0b\"[8] # \"MF0;leafB:MQM9700/U1\" lid 2 4xNDR\n"
                              "Switch 8 \"S-0b\" # \"MF0;leafB:MQM9700/U1\"\n"
                              "[1] \"H-11\"[1] # \"n1 HCA-1\" lid 8 4xNDR\n"
                              "[2] \"H-21\"[1] # \"n2 HCA-1\" lid 9 4xNDR\n"
                              "[3] \"H-31\"[1] # \"n3 HCA-1\" lid 10 4xNDR\n";

typedef struct {
  const char *first, *second; /* attributes of the nets: guid="0x11" name="mlx5_0" */
  const char *third;          /* a NIC more; NULL: none */
  guint lanes;                /* of the first NIC */
  guint device;               /* of the GPU: 0x2330 is an H100 */
} Host;

/* A host in NCCL's XML: two GPUs with a NIC each behind a switch. (transfer full) */
static char *
host_text (const Host *host)
{
  g_autoptr (GString) text = g_string_new ("<system version=\"1\">\n<cpu numaid=\"0\" arch=\"x86_64\" "
                                           "vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\">\n");
  const char *nets[] = { host->first, host->second, host->third };

  for (guint i = 0; i < 3; i++) {
    if (nets[i] == NULL)
      continue;
    g_string_append_printf (text,
                            "<pci busid=\"0000:%u0:00.0\" class=\"0x060400\" link_speed=\"32 GT/s\" "
                            "link_width=\"16\">\n",
                            i + 1);
    if (i < 2)
      g_string_append_printf (
          text,
          "<pci busid=\"0000:%u1:00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x%x\" "
          "link_speed=\"32 GT/s\" link_width=\"16\"><gpu dev=\"%u\" sm=\"90\" rank=\"%u\"/></pci>\n",
          i + 1, host->device, i, i);
    g_string_append_printf (
        text,
        "<pci busid=\"0000:%u2:00.0\" class=\"0x020700\" link_speed=\"32 GT/s\" "
        "link_width=\"%u\"><nic><net speed=\"400000\" port=\"1\" %s/></nic></pci>\n</pci>\n",
        i + 1, i == 0 ? host->lanes : 16, nets[i]);
  }
  g_string_append (text, "</cpu>\n</system>\n");
  return g_strdup (text->str);
}

/* The scenario of the network and one or two texts, with each note in one line; NULL and *error. (transfer full) */
static char *
join_texts (const char *name, const char *first, const char *other_name, const char *second, GError **error)
{
  g_autoptr (FabCatalog) catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, NULL);
  FabFileText files[] = { { name, first, strlen (first) },
                          { "fabric.txt", network, strlen (network) },
                          { other_name, second, second ? strlen (second) : 0 } };
  FabImportRequest request = { .registry = &fab_models };

  assert_non_null (catalog);
  GString *text = g_string_new (NULL);
  g_autofree char *made = fab_import_joined (&request, files, second ? 3 : 2, catalog, error);
  g_string_append (text, made ? made : "");
  g_string_replace (text, "\n#   ", " ", 0); /* notes are folded */
  return g_string_free (text, made == NULL);
}

static void
assert_has (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    fail_msg ("'%s' is not in\n%s", part, text);
}

static char *
join (const char *name, const Host *one, const char *other_name, const Host *other, GError **error)
{
  g_autofree char *first = host_text (one), *second = other ? host_text (other) : NULL;

  return join_texts (name, first, other_name, second, error);
}

static const Host by_guid = { "name=\"x0\" guid=\"0x22\"", "name=\"x1\" guid=\"0x21\"", NULL, 16, 0x2330 };

/* Its first NIC is mlx5_1 of n2, at leaf A, so NIC 0 of every node is there. */
static void
guids_decide (G_GNUC_UNUSED void **state)
{
  g_autofree char *text = join ("any.xml", &by_guid, NULL, NULL, NULL);

  assert_non_null (text);
  assert_has (text, "any.xml is n2, by the GUIDs of its NICs; NICs: 2 by their GUIDs");
  assert_has (text, "# leaf0: leafA\n");
  assert_has (text, "{to: leaf0, nodes: 0-2, nics: 0}");
  assert_has (text, "{to: leaf1, nodes: 0-2, nics: 1}");
  assert_has (text, "2 hosts have no file here");
  assert_has (text, "source: NCCL_TOPO_DUMP_FILE");
}

/* As NCCL writes them on x86 and Arm: the bytes of 0x22 and 0x21 from the last to the first. */
static void
guids_of_nccl_are_turned_round (G_GNUC_UNUSED void **state)
{
  const Host host = { "name=\"x0\" guid=\"0x2200000000000000\"", "name=\"x1\" guid=\"0x2100000000000000\"",
                      NULL, 16, 0x2330 };
  g_autofree char *text = join ("any.xml", &host, NULL, NULL, NULL);

  assert_non_null (text);
  assert_has (text, "any.xml is n2, by the GUIDs of its NICs; NICs: 2 by their GUIDs");
}

/* HCA-1 is the driver's first device. */
static void
names_and_numbers_follow (G_GNUC_UNUSED void **state)
{
  const Host host = { "name=\"mlx5_0\"", "name=\"mlx5_1\"", NULL, 16, 0x2330 };
  g_autofree char *text = join ("topo-N3.xml", &host, NULL, NULL, NULL);

  assert_non_null (text);
  assert_has (text,
              "topo-N3.xml is n3, by its own name; NICs: 1 by the names of their adapters, 1 by the numbers");
  assert_has (text, "{to: leaf1, nodes: 0-2, nics: 0}");
}

static void
a_file_of_no_host_stands_for_all (G_GNUC_UNUSED void **state)
{
  const Host host = { "name=\"a\"", "name=\"b\"", NULL, 16, 0x2330 };
  g_autofree char *text = join ("topo.xml", &host, NULL, NULL, NULL);

  assert_non_null (text);
  assert_has (text, "topo.xml: no host of the network has its GUIDs or its name");
  assert_has (text, "2 by their order, which is a guess");
  assert_has (text, "3 hosts have no file here");
}

/* The third NIC is on another network. */
static void
a_nic_without_a_port_is_left_out (G_GNUC_UNUSED void **state)
{
  const Host host = { "name=\"mlx5_0\" guid=\"0x11\"", "name=\"mlx5_1\" guid=\"0x12\"", "name=\"mlx5_7\"", 16,
                      0x2330 };
  g_autofree char *text = join ("n1.xml", &host, NULL, NULL, NULL);

  assert_non_null (text);
  assert_has (text, "left out: mlx5_7 of n1.xml, for which the network lists no port");
  assert_has (text, "{name: nic, kind: nic, count: 2}");
}

/* The second host has eight lanes of sixteen. It is the second node. */
static void
a_slower_slot_is_a_fault (G_GNUC_UNUSED void **state)
{
  const Host one = { "name=\"mlx5_0\" guid=\"0x11\"", "name=\"mlx5_1\" guid=\"0x12\"", NULL, 16, 0x2330 };
  const Host slow = { "name=\"mlx5_0\" guid=\"0x21\"", "name=\"mlx5_1\" guid=\"0x22\"", NULL, 8, 0x2330 };
  g_autofree char *text = join ("a.xml", &one, "b.xml", &slow, NULL);

  assert_non_null (text);
  assert_has (text, "nodes: 3\n");
  assert_has (text, "{what: link, from: node1/nic0, to: node1/pcie_switch0, rate: 50%} # n2");
}

/* An A100 in the second host: its node is a kind of its own, and it is not in the cluster. */
static void
another_kind_is_an_entry_of_its_own (G_GNUC_UNUSED void **state)
{
  const Host one = { "name=\"mlx5_0\" guid=\"0x11\"", "name=\"mlx5_1\" guid=\"0x12\"", NULL, 16, 0x2330 };
  const Host other = { "name=\"mlx5_0\" guid=\"0x21\"", "name=\"mlx5_1\" guid=\"0x22\"", NULL, 16, 0x20b0 };
  g_autofree char *text = join ("a.xml", &one, "b.xml", &other, NULL);

  assert_non_null (text);
  assert_has (text, "left out: 1 host whose nodes are of another kind, which `nodes` has: n2");
  assert_has (text, "nodes: 2\n");
  assert_has (text, "  # of n2\n  - name: imported-node-2\n    accelerator: a100");
}

#define HWLOC_NIC(name_, guid_)                                                                              \
  "<object type=\"PCIDev\" pci_type=\"0207 [15b3:1021] [15b3:0041] 00\" pci_link_speed=\"63.0\">"            \
  "<object type=\"OSDev\" name=\"" name_ "\" osdev_type=\"3\"><info name=\"NodeGUID\" value=\"" guid_ "\"/>" \
  "</object></object>\n"

/* hwloc says the name of its host, with a domain, and the GUIDs of devices in groups of four digits. The NIC without a
 * GUID goes by its name's number. */
static void
hwloc_says_name_and_guids (G_GNUC_UNUSED void **state)
{
  static const char named[] = "<topology version=\"2.0\"><object type=\"Machine\">"
                              "<info name=\"HostName\" value=\"N2.example.org\"/>\n<object type=\"Package\">"
                              "<object type=\"PCIDev\" pci_type=\"0302 [10de:2330] [10de:16c1] a1\" "
                              "pci_link_speed=\"63.0\"/>\n" HWLOC_NIC ("mlx5_0", "0000:0000:0000:0000")
                                  HWLOC_NIC ("mlx5_1",
                                             "0000:0000:0000:0022") "</object></object></topology>\n";
  g_autofree char *text = join_texts ("topo.xml", named, NULL, NULL, NULL);
  g_autofree char *plain = g_strdup (named), *at = NULL;

  assert_non_null (text);
  assert_has (text, "topo.xml is n2, by the GUIDs of its NICs; NICs: 1 by their GUIDs, 1 by the numbers");
  memset (strstr (plain, "0022"), '0', 4);
  at = join_texts ("topo.xml", plain, NULL, NULL, NULL);
  assert_non_null (at);
  assert_has (
      at,
      "topo.xml is n2, by the name that it says; NICs: 1 by the names of their adapters, 1 by the numbers");
}

static void
a_host_has_one_file (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = join ("a.xml", &by_guid, "b.xml", &by_guid, &error);

  assert_null (text);
  assert_has (error->message, "a.xml and b.xml are both of host n2");
}

static void
a_stranger_is_refused (G_GNUC_UNUSED void **state)
{
  const Host host = { "name=\"a\"", "name=\"b\"", "name=\"c\"", 16, 0x2330 };
  g_autoptr (GError) error = NULL;
  g_autofree char *text = join ("topo.xml", &host, NULL, NULL, &error);

  assert_null (text);
  assert_has (error->message, "none of the 3 NICs of topo.xml is in this network");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (guids_decide),
    cmocka_unit_test (guids_of_nccl_are_turned_round),
    cmocka_unit_test (names_and_numbers_follow),
    cmocka_unit_test (a_file_of_no_host_stands_for_all),
    cmocka_unit_test (a_nic_without_a_port_is_left_out),
    cmocka_unit_test (a_slower_slot_is_a_fault),
    cmocka_unit_test (another_kind_is_an_entry_of_its_own),
    cmocka_unit_test (hwloc_says_name_and_guids),
    cmocka_unit_test (a_host_has_one_file),
    cmocka_unit_test (a_stranger_is_refused),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
