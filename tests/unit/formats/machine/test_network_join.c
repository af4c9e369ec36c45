/* SPDX-License-Identifier: Apache-2.0 */
/* test_network_join.c - files of hosts are found in a network, and their NICs reach the right switches. */
#include "tests/unit/formats/machine/told.h"

#include "formats/import.h"
#include "formats/machine/network_join.h"
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

/* --- networks and hosts that are made by hand --- */

typedef struct {
  const char *adapter; /* "n1 mlx5_0"; without a blank: of nobody */
  guint port;          /* of the adapter; 0: not stated */
  const char *leaf;
  guint64 guid, system_guid; /* 0: not stated */
} Port;

typedef struct {
  const char *name; /* "-": not stated */
  guint64 guid;     /* 0: not stated */
  guint port;       /* 0: not stated */
} Nic;

typedef struct {
  const char *file, *host_name;
  Nic nics[5];      /* up to the first without a name */
  const char *link; /* of the NICs; NULL: "pcie5-x16" */
} Known;

enum { MOST_PORTS = 20, MOST_FILES = 4 };

typedef struct {
  Port ports[MOST_PORTS];  /* up to the first without an adapter */
  Known files[MOST_FILES]; /* up to the first without a name */
  const char *attach;      /* which switch each NIC of the nodes is at */
  const char *notes;       /* of the join */
} Joined;

/* A GPU and a NIC for each row of `nics`, all at one processor. `order` says which number each NIC has; NULL: they
 * have those of their rows. */
static FabImportedMachine *
machine_of (const Known *known, const guint *order)
{
  FabImportedMachine *machine = fab_imported_machine_new ("test");
  guint host = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_HOST, FAB_IMPORTED_MACHINE_NO_PARENT,
                                         NULL, 0);

  machine->accelerator = "h100-sxm5-80gb";
  machine->socket_link = "upi-socket-skylake";
  machine->host_name = known->host_name;
  for (guint i = 0; i < G_N_ELEMENTS (known->nics) && known->nics[i].name != NULL; i++) {
    const Nic *row = &known->nics[i];
    guint part = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_NIC, host,
                                           known->link ? known->link : "pcie5-x16", order ? order[i] : i);
    FabImportedMachinePart *nic = fab_imported_machine_part (machine, part);

    nic->name = strcmp (row->name, "-") != 0 ? row->name : NULL;
    nic->guid = row->guid;
    nic->port = row->port;
    (void) fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_GPU, host, "pcie5-x16", i);
  }
  return machine;
}

/* The i-th port is at port i + 1 of its switch, on line i + 1. NULL and *error: it was refused. */
static FabImportedMachine *
machine_joined (const Joined *row, const guint *order, GError **error)
{
  g_autoptr (FabImportedNetwork) net = fab_imported_network_new ();
  g_autoptr (GPtrArray) hosts = g_ptr_array_new_with_free_func (fab_imported_host_free);
  const FabImportRequest request = { .file = { "net", "", 0 }, .hosts = hosts, .name = "made" };
  FabImportedMachine *out = fab_imported_machine_new ("net");

  for (guint i = 0; i < MOST_PORTS && row->ports[i].adapter != NULL; i++) {
    const Port *port = &row->ports[i];
    guint leaf = fab_imported_network_add (net, port->leaf, TRUE, port->leaf),
          adapter = fab_imported_network_add (net, port->adapter, FALSE,
                                              strchr (port->adapter, ' ') ? port->adapter : NULL);

    fab_imported_network_device (net, adapter)->guid = port->guid;
    fab_imported_network_device (net, adapter)->system_guid = port->system_guid;
    assert_true (fab_imported_network_join (net, &request.file, i + 1, adapter, port->port, leaf, i + 1,
                                            "4xNDR", NULL));
  }
  for (guint i = 0; i < MOST_FILES && row->files[i].file != NULL; i++) {
    FabImportedHost *host = g_new0 (FabImportedHost, 1);

    host->machine = machine_of (&row->files[i], order);
    host->file = g_strdup (row->files[i].file);
    g_ptr_array_add (hosts, host);
  }
  if (fab_imported_network_fill (net, out, &request, error))
    return out;
  fab_imported_machine_free (out);
  return NULL;
}

/* What a row of a table of networks and files becomes. */
static void
assert_joined (const Joined *row)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabImportedMachine) machine = machine_joined (row, NULL, &error);

  if (machine == NULL)
    fail_msg ("%s", error->message);
  g_autofree char *notes = notes_told (machine->notes);
  const char *attach = strstr (machine->fabric->str, "    attach:\n") + strlen ("    attach:\n");
  char *end = strstr (notes, " whose hosts are all left out"); /* what follows is of the network alone */

  end = end ? end : strstr (notes, " switches with hosts (leaf)");
  while (end > notes && end[-1] != '\n')
    end--;
  *end = '\0';
  assert_string_equal (attach, row->attach);
  assert_string_equal (notes, row->notes);
}

/* A host with one adapter. */
#define ALONE(name, leaf) name " mlx5_0", 1, leaf, 0, 0

/* Two hosts with two adapters each, at leaves of their own. */
#define TWO_HOSTS                                                           \
  { "n1 mlx5_0", 1, "a", 0x10, 0x90 }, { "n1 mlx5_1", 1, "b", 0x11, 0x91 }, \
      { "n2 mlx5_0", 1, "a", 0x20, 0xa0 },                                  \
  {                                                                         \
    "n2 mlx5_1", 1, "b", 0x21, 0xa1                                         \
  }

/* A GUID is that of the adapter or of its card, as a number or, as NCCL writes it on x86 and Arm, with its bytes turned
 * round. No GUID is none. */
static void
guids_are_of_adapters_or_of_cards (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint64 guid;
    gboolean is_n2;
  } rows[] = {
    { 0x21, TRUE },
    { 0xa1, TRUE },
    { G_GUINT64_CONSTANT (0x2100000000000000), TRUE },
    { G_GUINT64_CONSTANT (0xa100000000000000), TRUE },
    { 0x22, FALSE },
    { 0, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const Joined found = {
      { TWO_HOSTS },
      { { "f.xml", NULL, { { "-", rows[i].guid, 0 } }, NULL } },
      "      - {to: leaf, nodes: 0-1, nics: 0} # n1 ... n2\n",
      "0 read: f.xml is n2, by the GUIDs of its NICs; NICs: 1 by their GUIDs\n"
      "0 inferred: 1 host has no file here; its node is taken to be like that of f.xml\n",
    };
    const Joined ordered = {
      { { ALONE ("n1", "a") }, { ALONE ("n2", "a") } },
      { { "f.xml", NULL, { { "-", rows[i].guid, 0 } }, NULL } },
      "      - {to: leaf, nodes: 0-1, nics: 0} # n1 ... n2\n",
      "0 inferred: f.xml: no host of the network has its GUIDs or its name, so it stands for hosts like it; NICs: 1 by "
      "their order, which is a guess\n"
      "0 inferred: 2 hosts have no file here; their nodes are taken to be like that of f.xml\n",
    };

    assert_joined (rows[i].is_n2 ? &found : &ordered);
    if (rows[i].is_n2) { /* at the second switch of the text */
      g_autoptr (FabImportedMachine) machine = machine_joined (&found, NULL, NULL);

      assert_has (machine->fabric->str, "# leaf: b\n");
    }
  }
}

/* The host that has most of the GUIDs counts: here n2 has two of them. n1 has one, though on both ports of a card. */
static void
most_guids_decide (G_GNUC_UNUSED void **state)
{
  static const Joined rows[] = {
    { { { "n1 mlx5_0", 1, "a", 0x10, 0 },
        { "n1 mlx5_0", 2, "a", 0x10, 0 },
        { "n2 mlx5_0", 1, "a", 0x20, 0 },
        { "n2 mlx5_1", 1, "b", 0x21, 0 } },
      { { "n1.xml", "n1", { { "-", 0x10, 0 }, { "-", 0x21, 0 }, { "-", 0x20, 0 } }, NULL } },
      "      - {to: leaf1, nodes: 0-0, nics: 0} # n2 ... n2\n      - {to: leaf0, nodes: 0-0, nics: 1} # n2 ... n2\n",
      "0 read: n1.xml is n2, by the GUIDs of its NICs; NICs: 2 by their GUIDs\n"
      "0 left out: left out: NIC 0 of n1.xml, for which the network lists no port\n"
      "0 left out: left out: 1 host without a port for each NIC of n1.xml: n1\n" },
    /* as many of either: the first */
    { { TWO_HOSTS },
      { { "f.xml", NULL, { { "-", 0x20, 0 }, { "-", 0x10, 0 } }, NULL } },
      "      - {to: leaf, nodes: 0-1, nics: 0} # n1 ... n2\n",
      "0 read: f.xml is n1, by the GUIDs of its NICs; NICs: 1 by their GUIDs\n"
      "0 left out: left out: NIC 0 of f.xml, for which the network lists no port\n"
      "0 inferred: 1 host has no file here; its node is taken to be like that of f.xml\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_joined (&rows[i]);
}

/* Which of two hosts a file is of, by the name that it says, with a domain or without, or by its own. */
static void
names_say_whose_a_file_is (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *one, *other; /* hosts of the network */
    const char *says, *file;
    const char *found, *why; /* NULL: none */
  } rows[] = {
    { "n1", "n2", "n2", "f", "n2", "by the name that it says" },
    { "n1", "n2", "N1.example.org", "f", "n1", "by the name that it says" },
    { "n1.a", "n2.a", "n2.b", "f", "n2.a", "by the name that it says" },
    { "n1", "n10", "n10", "f", "n10", "by the name that it says" },
    { "n1", "n10", "n1.x", "f", "n1", "by the name that it says" },
    { "n10", "n1", "n1.x", "f", "n1", "by the name that it says" },
    { ".a", ".b", ".c", "f", NULL, NULL },
    { ".a", ".b", ".B", "f", ".b", "by the name that it says" },
    { "n1", "n2", "n3", "f", NULL, NULL },
    /* the name that it says counts before its own */
    { "n1", "n2", "n1", "n2.xml", "n1", "by the name that it says" },
    { "n1", "n2", "n2", "n1.xml", "n2", "by the name that it says" },
    { "n1", "n2", NULL, "topo-N2.xml", "n2", "by its own name" },
    { "n1", "n2", NULL, "n2", "n2", "by its own name" },
    { "n1", "n10", NULL, "n10.xml", "n10", "by its own name" },
    { "n1", "n10", NULL, "an1 n1", "n1", "by its own name" },
    { "n1", "n10", NULL, "an1", NULL, NULL },
    { "n1", "n10", NULL, "n1a", NULL, NULL },
    { "n1", "n2", NULL, "/n1/n2.xml", "n2", "by its own name" },
    { "n1", "rack-n1", NULL, "rack-n1.xml", "rack-n1", "by its own name" },
    { "rack-n1", "n1", NULL, "rack-n1.xml", "rack-n1", "by its own name" },
    { "n1", "n2", NULL, "n2-n1.xml", "n1", "by its own name" }, /* the first of the network */
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *one = g_strconcat (rows[i].one, " mlx5_0", NULL),
                    *other = g_strconcat (rows[i].other, " mlx5_0", NULL);
    const Joined row = { { { one, 1, "a", 0, 0 }, { other, 1, "a", 0, 0 } },
                         { { rows[i].file, rows[i].says, { { "mlx5_0", 0, 0 } }, NULL } },
                         NULL,
                         NULL };
    g_autoptr (FabImportedMachine) machine = machine_joined (&row, NULL, NULL);
    g_autofree char *notes = notes_told (machine->notes), *expected = NULL;

    expected = rows[i].found != NULL
                 ? g_strdup_printf ("0 read: %s is %s, %s; NICs: 1 by the names", rows[i].file, rows[i].found,
                                    rows[i].why)
                 : g_strdup_printf ("0 inferred: %s: no host of the network has its GUIDs", rows[i].file);
    if (!g_str_has_prefix (notes, expected))
      fail_msg ("%s is not in %s", expected, notes);
  }
}

#define BOTH_IN_ORDER \
  "      - {to: leaf0, nodes: 0-1, nics: 0} # n1 ... n2\n      - {to: leaf1, nodes: 0-1, nics: 1} # n1 ... n2\n"
#define ONE_LEFT "0 inferred: 1 host has no file here; its node is taken to be like that of n1.xml\n"

static const Joined ways[] = {
  /* by numbers alone: HCA-2 is mlx5_1 */
  { { { "n1 HCA-1", 1, "a", 0, 0 },
      { "n1 HCA-2", 1, "b", 0, 0 },
      { "n2 HCA-1", 1, "a", 0, 0 },
      { "n2 HCA-2", 1, "b", 0, 0 } },
    { { "n1.xml", NULL, { { "mlx5_1", 0, 0 }, { "mlx5_0", 0, 0 } }, NULL } },
    "      - {to: leaf1, nodes: 0-1, nics: 0} # n1 ... n2\n      - {to: leaf0, nodes: 0-1, nics: 1} # n1 ... n2\n",
    "0 read: n1.xml is n1, by its own name; NICs: 2 by the numbers of their adapters\n"
    "0 inferred: 1 host has no file here; its node is taken to be like that of n1.xml\n" },
  /* an adapter with two ports */
  { { { "n1 mlx5_0", 1, "a", 0, 0 },
      { "n1 mlx5_0", 2, "b", 0, 0 },
      { "n2 mlx5_0", 1, "a", 0, 0 },
      { "n2 mlx5_0", 2, "b", 0, 0 } },
    { { "n1.xml", NULL, { { "mlx5_0", 0, 2 }, { "mlx5_0", 0, 1 } }, NULL } },
    "      - {to: leaf1, nodes: 0-1, nics: 0} # n1 ... n2\n      - {to: leaf0, nodes: 0-1, nics: 1} # n1 ... n2\n",
    "0 read: n1.xml is n1, by its own name; NICs: 2 by the names of their adapters\n" ONE_LEFT },
  /* ports by their numbers at the adapter, not by those at their switches */
  { { { "n1 mlx5_0", 2, "a", 0, 0 }, { "n1 mlx5_0", 1, "b", 0, 0 } },
    { { "n1.xml", NULL, { { "mlx5_0", 0, 0 }, { "mlx5_0", 0, 0 } }, NULL } },
    "      - {to: leaf1, nodes: 0-0, nics: 0} # n1 ... n1\n      - {to: leaf0, nodes: 0-0, nics: 1} # n1 ... n1\n",
    "0 read: n1.xml is n1, by its own name; NICs: 2 by the names of their adapters\n" },
  /* two NICs of one name: a port each, in a host without a file too */
  { { { "n1 mlx5_0", 1, "a", 0, 0 },
      { "n1 mlx5_0", 2, "b", 0, 0 },
      { "n2 mlx5_0", 1, "a", 0, 0 },
      { "n2 mlx5_0", 2, "b", 0, 0 } },
    { { "n1.xml", NULL, { { "mlx5_0", 0, 0 }, { "mlx5_0", 0, 0 } }, NULL } },
    BOTH_IN_ORDER,
    "0 read: n1.xml is n1, by its own name; NICs: 2 by the names of their adapters\n" ONE_LEFT },
  /* a NIC with one port, which may be called 1 whatever the network calls it; port 2 is no port 3 */
  { { { "n1 mlx5_0", 2, "a", 0, 0 }, { "n1 mlx5_1", 3, "b", 0, 0 }, { "n1 mlx5_2", 0, "b", 0, 0 } },
    { { "n1.xml", NULL, { { "mlx5_0", 0, 1 }, { "mlx5_1", 0, 2 }, { "mlx5_2", 0, 2 } }, NULL } },
    "      - {to: leaf0, nodes: 0-0, nics: 0} # n1 ... n1\n      - {to: leaf1, nodes: 0-0, nics: 1} # n1 ... n1\n",
    "0 read: n1.xml is n1, by its own name; NICs: 2 by the names of their adapters\n"
    "0 left out: left out: mlx5_1 of n1.xml, for which the network lists no port\n" },
  /* names without numbers, and NICs without names: only as many of either go by their order */
  { { { "n1 ib_a", 1, "a", 0, 0 }, { "n1 ib_b", 1, "b", 0, 0 } },
    { { "n1.xml", NULL, { { "eth_a", 0, 0 }, { "-", 0, 0 } }, NULL } },
    "      - {to: leaf0, nodes: 0-0, nics: 0} # n1 ... n1\n      - {to: leaf1, nodes: 0-0, nics: 1} # n1 ... n1\n",
    "0 read: n1.xml is n1, by its own name; NICs: 2 by their order, which is a guess\n" },
  /* one name, one number, and what is left goes nowhere */
  { { { "n1 mlx5_2", 1, "a", 0, 0 }, { "n1 HCA-1", 1, "b", 0, 0 }, { "n1 mlx5_4", 1, "b", 0, 0 } },
    { { "n1.xml",
        NULL,
        { { "mlx5_0", 0, 0 }, { "mlx5_7", 0, 0 }, { "mlx5_2", 0, 0 }, { "-", 0, 0 } },
        NULL } },
    "      - {to: leaf1, nodes: 0-0, nics: 0} # n1 ... n1\n      - {to: leaf0, nodes: 0-0, nics: 1} # n1 ... n1\n",
    "0 read: n1.xml is n1, by its own name; NICs: 1 by the names of their adapters, 1 by the numbers of their "
    "adapters\n"
    "0 left out: left out: mlx5_7, NIC 3 of n1.xml, for which the network lists no port\n" },
  /* an adapter of nobody, and a NIC without a name, are not of one name */
  { { { "x1", 1, "a", 0, 0 }, { "x2", 1, "a", 0, 0 } },
    { { "f.xml", NULL, { { "-", 0, 0 } }, NULL } },
    "      - {to: leaf, nodes: 0-1, nics: 0} # x1 ... x2\n",
    "0 inferred: f.xml: no host of the network has its GUIDs or its name, so it stands for hosts like it; NICs: 1 "
    "by their order, which is a guess\n"
    "0 inferred: 2 hosts have no file here; their nodes are taken to be like that of f.xml\n" },
  /* a file of no host is like the first that has most ports, and no more than it has NICs */
  { { { "n1 mlx5_0", 1, "a", 0, 0 },
      { "n2 mlx5_0", 1, "a", 0, 0 },
      { "n2 mlx5_2", 1, "b", 0, 0 },
      { "n3 mlx5_0", 1, "a", 0, 0 },
      { "n3 mlx5_1", 1, "b", 0, 0 },
      { "n4 mlx5_0", 1, "a", 0, 0 },
      { "n4 mlx5_1", 1, "b", 0, 0 },
      { "n4 mlx5_2", 1, "b", 0, 0 },
      { "n4 mlx5_3", 1, "b", 0, 0 } },
    { { "f.xml", NULL, { { "mlx5_0", 0, 0 }, { "mlx5_1", 0, 0 }, { "mlx5_2", 0, 0 } }, NULL } },
    "      - {to: leaf0, nodes: 0-1, nics: 0} # n2 ... n4\n      - {to: leaf1, nodes: 0-1, nics: 1} # n2 ... n4\n",
    "0 inferred: f.xml: no host of the network has its GUIDs or its name, so it stands for hosts like it; NICs: 2 "
    "by the names of their adapters\n"
    "0 left out: left out: mlx5_1 of f.xml, for which the network lists no port\n"
    "0 inferred: 2 hosts have no file here; their nodes are taken to be like that of f.xml\n"
    "0 left out: left out: 2 hosts without a port for each NIC of f.xml: n1, n3\n" },
  /* a port that a NIC does not say is the first of its adapter, in hosts with a file and without one */
  { { { "n1 mlx5_0", 1, "a", 0, 0 },
      { "n1 mlx5_0", 2, "b", 0, 0 },
      { "n2 mlx5_0", 1, "a", 0, 0 },
      { "n2 mlx5_0", 2, "b", 0, 0 } },
    { { "f.xml", NULL, { { "mlx5_0", 0, 0 }, { "mlx5_9", 0, 0 } }, NULL } },
    "      - {to: leaf, nodes: 0-1, nics: 0} # n1 ... n2\n",
    "0 inferred: f.xml: no host of the network has its GUIDs or its name, so it stands for hosts like it; NICs: 1 "
    "by the names of their adapters\n"
    "0 left out: left out: mlx5_9 of f.xml, for which the network lists no port\n"
    "0 inferred: 2 hosts have no file here; their nodes are taken to be like that of f.xml\n" },
};

/* NICs find their ports by GUIDs, names and numbers, one after the other, else by their order. */
static void
nics_find_their_ports (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    assert_joined (&ways[i]);
}

/* NICs go by their numbers in the node, which may be other ones than their order in the file: NIC 0 is the last row
 * here, which has no port, and then mlx5_1 is the first NIC. Nodes are numbered by the switch of their first NIC. */
static void
nics_have_the_numbers_of_their_node (G_GNUC_UNUSED void **state)
{
  static const Joined row = {
    { { "n2 mlx5_0", 1, "b", 0, 0 },
      { "n1 mlx5_1", 1, "c", 0, 0 },
      { "n1 mlx5_0", 1, "b", 0, 0 },
      { "n2 mlx5_1", 1, "b", 0, 0 } },
    { { "n1.xml", NULL, { { "mlx5_0", 0, 0 }, { "mlx5_1", 0, 0 }, { "mlx5_2", 0, 0 } }, NULL } },
    NULL,
    NULL,
  };
  static const guint order[] = { 2, 1, 0 };
  g_autoptr (FabImportedMachine) machine = machine_joined (&row, order, NULL);
  g_autofree char *parts = parts_told (machine);

  assert_has (machine->fabric->str, "    attach:\n      - {to: leaf0, nodes: 0-0, nics: 0} # n2 ... n2\n"
                                    "      - {to: leaf1, nodes: 1-1, nics: 0} # n1 ... n1\n"
                                    "      - {to: leaf0, nodes: 0-1, nics: 1} # n2 ... n1\n");
  assert_string_equal (parts, "host 0\nnic 2 < host 0, pcie5-x16, mlx5_0\ngpu 0 < host 0, pcie5-x16\n"
                              "nic 1 < host 0, pcie5-x16, mlx5_1\ngpu 1 < host 0, pcie5-x16\n"
                              "gpu 2 < host 0, pcie5-x16\n");
}

/* Hosts that are not like the most frequent kind of file are left out, up to four of them by their names. */
static void
hosts_of_other_kinds_are_left_out (G_GNUC_UNUSED void **state)
{
  static const Known one = { "f", NULL, { { "mlx5_0", 0, 0 } }, NULL };

  for (guint n = 1; n <= 6; n++) {
    Joined row = { { { NULL, 0, NULL, 0, 0 } }, { { NULL, NULL, { { NULL, 0, 0 } }, NULL } }, NULL, NULL };
    static const char *const names[] = {
      "n1", "n1, n2", "n1, n2, n3", "n1, n2, n3, n4", "n1, n2, n3, n4 and 1 more", "n1, n2, n3, n4 and 2 more"
    };
    static const char *const fewer[] = { "n1 mlx5_9", "n2 mlx5_9", "n3 mlx5_9",
                                         "n4 mlx5_9", "n5 mlx5_9", "n6 mlx5_9" };
    g_autofree char *notes = g_strdup_printf (
        "0 inferred: f: no host of the network has its GUIDs or its name, so it stands for hosts like it; NICs: 1 by "
        "the names of their adapters\n"
        "0 inferred: 1 host has no file here; its node is taken to be like that of f\n"
        "0 left out: left out: %u %s without a port for each NIC of f: %s\n"
        "0 left out: left out: %s of its own\n",
        n, n == 1 ? "host" : "hosts", names[n - 1],
        n == 1 ? "1 adapter whose description names no host" : "2 adapters whose description names no host");

    row.files[0] = one;
    row.ports[0] = (Port){ ALONE ("n0", "a") };
    for (guint i = 0; i < n; i++)
      row.ports[i + 1] = (Port){ fewer[i], 1, "a", 0, 0 };
    row.ports[n + 1] = (Port){ "x1", 1, "a", 0, 0 };
    if (n > 1)
      row.ports[n + 2] = (Port){ "x2", 1, "a", 0, 0 };
    row.attach = "      - {to: leaf, nodes: 0-0, nics: 0} # n0 ... n0\n";
    row.notes = notes;
    assert_joined (&row);
  }
}

/* Five files of three kinds: with one NIC, with two, and with three. Nodes of the most frequent kind are the cluster's,
 * those of the others are entries of their own, each once; of as frequent ones the first counts. */
static void
the_most_frequent_kind_is_the_node (G_GNUC_UNUSED void **state)
{
  static const Joined rows[] = {
    { { { "n1 mlx5_0", 1, "a", 0, 0 },
        { "n1 mlx5_1", 1, "a", 0, 0 },
        { "n2 mlx5_0", 1, "a", 0, 0 },
        { "n3 mlx5_0", 1, "a", 0, 0 },
        { "n4 mlx5_0", 1, "a", 0, 0 },
        { "n4 mlx5_1", 1, "a", 0, 0 },
        { "n4 mlx5_2", 1, "a", 0, 0 } },
      { { "n1", NULL, { { "mlx5_0", 0, 0 }, { "mlx5_1", 0, 0 } }, NULL },
        { "n2", NULL, { { "mlx5_0", 0, 0 } }, NULL },
        { "n3", NULL, { { "mlx5_0", 0, 0 } }, NULL },
        { "n4", NULL, { { "mlx5_0", 0, 0 }, { "mlx5_1", 0, 0 }, { "mlx5_2", 0, 0 } }, NULL } },
      "      - {to: leaf, nodes: 0-1, nics: 0} # n2 ... n3\n",
      "0 read: n1 is n1, by its own name; NICs: 2 by the names of their adapters\n"
      "0 read: n2 is n2, by its own name; NICs: 1 by the names of their adapters\n"
      "0 read: n3 is n3, by its own name; NICs: 1 by the names of their adapters\n"
      "0 read: n4 is n4, by its own name; NICs: 3 by the names of their adapters\n"
      "0 left out: left out: 2 hosts whose nodes are of another kind, which `nodes` has: n1, n4\n" },
    { { TWO_HOSTS },
      { { "n1", NULL, { { "mlx5_0", 0, 0 } }, NULL },
        { "n2", NULL, { { "mlx5_0", 0, 0 }, { "mlx5_1", 0, 0 } }, NULL } },
      "      - {to: leaf, nodes: 0-0, nics: 0} # n1 ... n1\n",
      "0 read: n1 is n1, by its own name; NICs: 1 by the names of their adapters\n"
      "0 read: n2 is n2, by its own name; NICs: 2 by the names of their adapters\n"
      "0 left out: left out: 1 host whose nodes are of another kind, which `nodes` has: n2\n" },
    /* a file of no host has a kind too; its host is not known, so that none is left out */
    { { { "n1 mlx5_0", 1, "a", 0, 0 },
        { "n2 mlx5_0", 1, "a", 0, 0 },
        { "n3 mlx5_0", 1, "a", 0, 0 },
        { "n3 mlx5_1", 1, "a", 0, 0 } },
      { { "n1", NULL, { { "mlx5_0", 0, 0 } }, NULL },
        { "f", NULL, { { "mlx5_0", 0, 0 }, { "mlx5_1", 0, 0 } }, NULL },
        { "g", NULL, { { "mlx5_0", 0, 0 }, { "mlx5_1", 0, 0 } }, "pcie4-x16" },
        { "n2", NULL, { { "mlx5_0", 0, 0 } }, NULL } },
      "      - {to: leaf, nodes: 0-2, nics: 0} # n1 ... n3\n",
      "0 read: n1 is n1, by its own name; NICs: 1 by the names of their adapters\n"
      "0 inferred: f: no host of the network has its GUIDs or its name, so it stands for hosts like it; NICs: 2 by "
      "the names of their adapters\n"
      "0 inferred: g: no host of the network has its GUIDs or its name, so it stands for hosts like it; NICs: 2 by "
      "the names of their adapters\n"
      "0 read: n2 is n2, by its own name; NICs: 1 by the names of their adapters\n"
      "0 inferred: 1 host has no file here; its node is taken to be like that of n1\n" },
  };
  static const char *const others[][3] = {
    { "  # of n1\n  - name: made-node-2\n", "  # of n4\n  - name: made-node-3\n", NULL },
    { "  # of n2\n  - name: made-node-2\n", NULL, NULL },
    { "  # of f\n  - name: made-node-2\n", "  # of g\n  - name: made-node-3\n", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) machine = machine_joined (&rows[i], NULL, NULL);
    const char *nodes = machine->other_nodes->str;
    guint n = 0;

    assert_joined (&rows[i]);
    for (; others[i][n] != NULL; n++)
      assert_has (nodes, others[i][n]);
    for (const char *at = nodes; (at = strstr (at, "- name: ")) != NULL; at++)
      n--;
    assert_int_equal (n, 0);
    assert_string_equal (machine->node_tool, "test");
  }
}

/* Two of three files are alike but for the PCIe of their NICs: the slower one is a fault of its node, the faster one is
 * none. Entries of other kinds stand once. */
static void
slower_nodes_are_of_the_same_kind (G_GNUC_UNUSED void **state)
{
  static const Joined row = {
    { { ALONE ("n1", "a") }, { ALONE ("n2", "a") }, { ALONE ("n3", "a") }, { ALONE ("n4", "a") } },
    { { "n1", NULL, { { "mlx5_0", 0, 0 } }, "pcie4-x16" },
      { "n2", NULL, { { "mlx5_0", 0, 0 } }, "pcie4-x8" },
      { "n3", NULL, { { "mlx5_0", 0, 0 } }, "pcie5-x16" } },
    "      - {to: leaf, nodes: 0-3, nics: 0} # n1 ... n4\n",
    "0 read: n1 is n1, by its own name; NICs: 1 by the names of their adapters\n"
    "0 read: n2 is n2, by its own name; NICs: 1 by the names of their adapters\n"
    "0 read: n3 is n3, by its own name; NICs: 1 by the names of their adapters\n"
    "0 inferred: 1 host has no file here; its node is taken to be like that of n1\n",
  };
  g_autoptr (FabImportedMachine) machine = machine_joined (&row, NULL, NULL);
  g_autofree char *notes = notes_told (machine->notes);

  assert_joined (&row);
  assert_string_equal (machine->faults->str,
                       "  - {what: link, from: node1/nic, to: node1/cpu, rate: 50%} # n2\n");
  assert_string_equal (machine->other_nodes->str, "");
  assert_has (notes,
              "0 read: n2 has 1 PCIe link that is slower than those of the others, which the scenario has in "
              "`faults`\n");
  assert_null (strstr (notes, "n3 has"));
  assert_null (strstr (notes, "n1 has"));
}

static void
hosts_without_their_ports_are_refused (G_GNUC_UNUSED void **state)
{
  static const struct {
    Joined joined;
    const char *message;
  } rows[] = {
    /* names without numbers: then as many ports as NICs are asked for */
    { { { { "n1 x_a", 1, "a", 0, 0 }, { "n1 y_c", 1, "a", 0, 0 } },
        { { "f", NULL, { { "x_a", 0, 0 }, { "z_b", 0, 0 } }, NULL } },
        NULL,
        NULL },
      "net: no host of the network has a port for each NIC of f" },
    { { { TWO_HOSTS }, { { "f", NULL, { { "mlx5_0", 0, 0 } }, NULL } }, NULL, NULL },
      "net: none of the 1 NICs of f is in this network: no port has their GUIDs, names or numbers, and no host has as "
      "many" },
    { { { { ALONE ("n1", "a") } },
        { { "n1", NULL, { { "mlx5_0", 0, 0 } }, NULL }, { "f", NULL, { { "mlx5_0", 0, 0 } }, NULL } },
        NULL,
        NULL },
      "net: none of the 1 NICs of f is in this network: no port has their GUIDs, names or numbers, and no host has as "
      "many" },
    { { { { ALONE ("n1", "a") }, { ALONE ("n2", "a") } },
        { { "n2", NULL, { { "mlx5_0", 0, 0 } }, NULL },
          { "n1", NULL, { { "mlx5_0", 0, 0 } }, NULL },
          { "n1.xml", NULL, { { "mlx5_0", 0, 0 } }, NULL } },
        NULL,
        NULL },
      "net: n1 and n1.xml are both of host n1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (machine_joined (&rows[i].joined, NULL, &error));
    assert_string_equal (error->message, rows[i].message);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (guids_decide),
    cmocka_unit_test (names_and_numbers_follow),
    cmocka_unit_test (a_file_of_no_host_stands_for_all),
    cmocka_unit_test (a_nic_without_a_port_is_left_out),
    cmocka_unit_test (a_slower_slot_is_a_fault),
    cmocka_unit_test (another_kind_is_an_entry_of_its_own),
    cmocka_unit_test (hwloc_says_name_and_guids),
    cmocka_unit_test (a_host_has_one_file),
    cmocka_unit_test (a_stranger_is_refused),
    cmocka_unit_test (guids_are_of_adapters_or_of_cards),
    cmocka_unit_test (most_guids_decide),
    cmocka_unit_test (names_say_whose_a_file_is),
    cmocka_unit_test (nics_find_their_ports),
    cmocka_unit_test (nics_have_the_numbers_of_their_node),
    cmocka_unit_test (hosts_of_other_kinds_are_left_out),
    cmocka_unit_test (the_most_frequent_kind_is_the_node),
    cmocka_unit_test (slower_nodes_are_of_the_same_kind),
    cmocka_unit_test (hosts_without_their_ports_are_refused),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
