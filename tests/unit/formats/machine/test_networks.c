/* SPDX-License-Identifier: Apache-2.0 */
/* test_networks.c - iblinkinfo and ibnetdiscover -p: what is a switch, what is a cable, and what is refused where. */
#include "tests/unit/formats/machine/told.h"

/* Reads a text in a format that is recognised; NULL with *error when it is refused. */
static FabImportedMachine *
read_text (const char *format, const char *text, GError **error)
{
  const FabImportRequest request = { .file = { "net", text, strlen (text) } };
  const FabFileFormat *row = fab_file_format_of (FAB_FILE_MACHINE, &request.file);
  FabImportedMachine *machine = fab_imported_machine_new ("test");

  assert_non_null (row);
  assert_string_equal (row->name, format);
  if (row->read.machine (machine, &request, error))
    return machine;
  fab_imported_machine_free (machine);
  return NULL;
}

static void
assert_fabric (const char *format, const char *text, guint n_nodes, const char *nic, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabImportedMachine) machine = read_text (format, text, &error);

  if (machine == NULL)
    fail_msg ("%s", error->message);
  assert_int_equal (machine->n_nodes, n_nodes);
  assert_string_equal (machine->nic, nic);
  assert_non_null (strstr (machine->fabric->str, part));
}

static void
assert_refused (const char *format, const char *text, const char *start)
{
  g_autoptr (GError) error = NULL;

  assert_null (read_text (format, text, &error));
  if (!g_str_has_prefix (error->message, start))
    fail_msg ("%s", error->message);
}

#define LINE(guid, lid, port, lane, peer, peer_port, name)                                      \
  guid " " #lid " " #port "[  ] ==( 4X " lane " Gbps Active/  LinkUp)==> " #peer " " #peer_port \
       "[  ] \"" name "\" ( )\n"

static void
heads_of_iblinkinfo_say_what_is_a_switch (G_GNUC_UNUSED void **state)
{
  assert_fabric ("iblinkinfo",
                 "CA: n1 HCA-1:\n" LINE ("0xa1", 1, 1, "53.125", 3, 1, "leaf") "CA: n2 HCA-1:\n" LINE (
                     "0xa2", 2, 1, "53.125", 3, 2, "leaf") "Switch: 0xb1 leaf:\n" LINE ("", 3, 1, "53.125", 1,
                                                                                        1, "n1 HCA-1")
                     LINE ("", 3, 2, "53.125", 2, 1, "n2 HCA-1"),
                 2, "ib-hdr", "{to: leaf, nodes: 0-1, nics: 0} # n1 ... n2");
}

/* What `grep Up` leaves: an adapter's line begins with its GUID. */
static void
lines_without_heads_are_read (G_GNUC_UNUSED void **state)
{
  assert_fabric ("iblinkinfo",
                 LINE ("0xa1", 1, 1, "25.78125", 3, 1, "leaf") LINE ("", 3, 1, "25.78125", 1, 1, "n1 HCA-1")
                     LINE ("", 3, 2, "25.78125", 2, 1, "n2 HCA-1"),
                 2, "ib-edr", "nodes: 0-1");
}

/* With --switches-only adapters stand at the far end alone, and with -l a LID with several ports is a switch. */
static void
a_lid_with_several_ports_is_a_switch (G_GNUC_UNUSED void **state)
{
  assert_fabric (
      "iblinkinfo",
      "0xb1 \"   leaf\" 3 1[  ] ==( 4X 106.25 Gbps Active/  LinkUp)==> 0xa1 1 1[  ] \"n1 mlx5_0\" ( )\n"
      "0xb1 \"   leaf\" 3 2[  ] ==( 4X 106.25 Gbps Active/  LinkUp)==> 0xa2 2 1[  ] \"n2 mlx5_0\" ( )\n",
      2, "ib-ndr", "nodes: 0-1");
}

static void
ports_that_are_down_are_no_cables (G_GNUC_UNUSED void **state)
{
  assert_fabric (
      "iblinkinfo",
      "Switch: 0xb1 leaf:\n" LINE (
          "", 3, 1, "106.25", 1, 1,
          "n1 mlx5_0") "   3 2[  ] ==(                Down/ Polling)==>             [  ] \"\" ( )\n",
      1, "ib-ndr", "nodes: 0-0");
}

static void
assert_noted (const FabImportedMachine *machine, guint line, const char *text)
{
  for (guint i = 0; i < machine->notes->len; i++)
    if (strcmp (fab_file_note (machine->notes, i)->text, text) == 0) {
      assert_int_equal (fab_file_note (machine->notes, i)->line, line);
      return;
    }
  fail_msg ("no note says: %s", text);
}

/* The tool says in brackets which width, which rate of a lane, or which of both the two ends could have. */
static void
cables_could_be_faster_or_wider (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *said, *possible; /* possible NULL: no more than they have */
  } rows[] = {
    { "", NULL },
    { "Could be 53.125 Gbps", "1xHDR" },
    { "Could be 4X", "4xEDR" },
    { "Could be 4X Could be 53.125 Gbps", "4xHDR" },
    { "Could be 12X", "12xEDR" },
    { "Could be 13X", NULL },
    { "Could be 1X", "1xEDR" },
    { "Could be 0X", NULL },
    { "Could be 77 Gbps", NULL },
    { "Could be Extended speed", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (
        "Switch: 0xb1 leaf:\n"
        "3 1[  ] ==( 4X 25.78125 Gbps Active/  LinkUp)==> 1 1[  ] \"n1 mlx5_0\" ( )\n"
        "3 2[  ] ==( 1X 25.78125 Gbps Init/  LinkUp)==> 2 1[  ] \"n2 mlx5_0\" ( %s)\n",
        rows[i].said);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabImportedMachine) machine = read_text ("iblinkinfo", text, &error);

    if (machine == NULL)
      fail_msg ("%s", error->message);
    const FabImportedCable *cable = fab_imported_network_cable (machine->network, 1);
    assert_string_equal (cable->speed, "1xEDR");
    assert_null (fab_imported_network_cable (machine->network, 0)->possible);
    if (g_strcmp0 (cable->possible, rows[i].possible) != 0)
      fail_msg ("%s: %s", rows[i].said, cable->possible);
    if (rows[i].possible != NULL)
      assert_noted (machine, 3,
                    "1 port runs slower or narrower than both ends can, the first in line 3 (\"Could be\")");
    assert_noted (
        machine, 3,
        "1 port is up and not active, the first in line 3; it counts, as it does once a subnet manager "
        "has set it up");
  }
}

/* Ports that are not active are counted from the first on, and a text of active ones says nothing of it. */
static void
idle_ports_are_counted (G_GNUC_UNUSED void **state)
{
#define PORT(port, width, state, lid, said)                                                    \
  "3 " #port "[  ] ==( " width " 25.78125 Gbps " state "/  LinkUp)==> " #lid " 1[  ] \"n" #lid \
  " mlx5_0\" ( " said ")\n"
  static const char idle[] = "Switch: 0xb1 leaf:\n" PORT (1, "4X", "Active", 1, "")
      PORT (2, "4X", "Init", 2, "") PORT (4, "4X", "Armed", 4, "");
  static const char active[] = "Switch: 0xb1 leaf:\n" PORT (1, "12X", "Active", 1, "Could be 53.125 Gbps");
  g_autoptr (FabImportedMachine) some = read_text ("iblinkinfo", idle, NULL),
                                 none = read_text ("iblinkinfo", active, NULL);
  g_autofree char *notes = notes_told (none->notes);

  assert_noted (
      some, 3,
      "2 ports are up and not active, the first in line 3; they count, as they do once a subnet manager "
      "has set them up");
  assert_null (strstr (notes, "not active"));
  assert_string_equal (fab_imported_network_cable (none->network, 0)->possible, "12xHDR");
}

/* Every device of a text of iblinkinfo, "lid-3 S b1 leaf": S is a switch, C an adapter. (transfer full) */
static char *
devices_told (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabImportedMachine) machine = read_text ("iblinkinfo", text, &error);
  GString *out = g_string_new (NULL);

  if (machine == NULL)
    fail_msg ("%s", error->message);
  for (guint i = 0; i < machine->network->devices->len; i++) {
    const FabImportedDevice *device = fab_imported_network_device (machine->network, i);

    g_string_append_printf (out, "%s %c %" G_GINT64_MODIFIER "x %s\n", device->id,
                            device->is_switch ? 'S' : 'C', device->guid, device->name ? device->name : "-");
  }
  return g_string_free (out, FALSE);
}

/* A line begins with the GUID of an adapter, a head has that of a switch, and either end may have one. Without heads a
 * line that begins with a GUID is an adapter's and another one a switch's; with -l the number of ports decides. */
static void
lids_are_adapters_or_switches (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][2] = {
    { "Switch: 0xb1 leaf:\n" LINE ("", 3, 1, "53.125", 1, 1, "n1 HCA-1") "CA: n1 HCA-1:\n" LINE (
          "0xa1", 1, 1, "53.125", 3, 1, "leaf") "CA: n2 HCA-1:\n" LINE ("", 2, 1, "53.125", 3, 2, "leaf"),
      "lid-3 S b1 leaf\nlid-1 C a1 n1 HCA-1\nlid-2 C 0 n2 HCA-1\n" },
    { LINE ("0xa1", 1, 1, "53.125", 3, 1, "leaf") LINE ("", 3, 1, "53.125", 1, 1, "n1 HCA-1"),
      "lid-1 C a1 n1 HCA-1\nlid-3 S 0 leaf\n" },
    { LINE ("", 3, 1, "53.125", 1, 1, "n1 HCA-1"), "lid-3 S 0 -\nlid-1 C 0 n1 HCA-1\n" },
    { LINE ("0xb1 \"leaf\"", 3, 1, "53.125", 1, 1, "n1 HCA-1")
          LINE ("\"leaf\"", 3, 2, "53.125", 2, 1, "n2 HCA-1")
              LINE ("0xa2 \"n2 HCA-1\"", 2, 1, "53.125", 3, 2, "leaf"),
      "lid-3 S b1 leaf\nlid-1 C 0 n1 HCA-1\nlid-2 C a2 n2 HCA-1\n" },
    { "Switch 0xb1 leaf\n  3 1[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==> 0xa1 1 1[  ] \"n1 HCA-1\" ( )\n"
      "  3 2[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==> 1 1[  ] \"n1 HCA-1\" ( )\n",
      "lid-3 S b1 leaf\nlid-1 C a1 n1 HCA-1\n" },
    /* a line of a switch may have its own GUID, which counts before that of the head, and stays */
    { "Switch: 0xb1 leaf:\n" LINE ("0xb2", 3, 1, "53.125", 1, 1, "n1 HCA-1")
          LINE ("", 3, 2, "53.125", 2, 1, "n2 HCA-1"),
      "lid-3 S b2 leaf\nlid-1 C 0 n1 HCA-1\nlid-2 C 0 n2 HCA-1\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *devices = devices_told (rows[i][0]);

    assert_string_equal (devices, rows[i][1]);
  }
}

/* 20000 cables are the most that a network has. */
static void
large_networks_are_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) text = g_string_new ("Switch: 0xb1 leaf:\n");

  for (guint i = 0; i <= 20000; i++)
    g_string_append_printf (text, "9 %u[ ] ==( 4X 25.78125 Gbps Active/LinkUp)==> %u 1[ ] \"\" ( )\n",
                            i % 200, 10 + i);
  assert_refused ("iblinkinfo", text->str, "net:20002: the network has more than 20000 cables");
}

static void
iblinkinfo_is_refused_at_the_place (G_GNUC_UNUSED void **state)
{
  assert_refused ("iblinkinfo", "Switch: 0xb1 leaf:\n" LINE ("", 3, 1, "77", 1, 1, "n1 mlx5_0"),
                  "net:2:14: 4X of 77 Gbps is no rate of InfiniBand");
  assert_refused ("iblinkinfo", "Switch: 0xb1 leaf:\n" LINE ("", 3, 1, "fast", 1, 1, "n1 mlx5_0"),
                  "net:2:14: a width and the rate of a lane belong here, as 4X 53.125 Gbps");
  assert_refused ("iblinkinfo", "Switch: 0xb1 leaf:\n" LINE ("", 3, 1, "53.125", 0, 1, "n1 mlx5_0"),
                  "net:2:");
  assert_refused ("iblinkinfo", "Switch: 0xb1 leaf:\n" LINE ("", 0, 1, "53.125", 1, 1, "n1 mlx5_0"),
                  "net:2:");
  g_autoptr (GError) error = NULL;
  assert_null (read_text ("iblinkinfo",
                          "CA: n1 HCA-1:\n" LINE ("0xa1", 1, 1, "53.125", 3, 1,
                                                  "leaf") "\n" LINE ("0xa2", 2, 1, "53.125", 3, 1, "other"),
                          &error));
  assert_non_null (
      strstr (error->message, "LID 3 is 'other' here and 'leaf' in line 2: these are two fabrics"));
  assert_refused ("iblinkinfo",
                  "CA: n1 HCA-1:\n" LINE ("0xa1", 1, 1, "53.125", 3, 1, "leaf") "CA: n1 HCA-2:\n" LINE (
                      "0xa2", 2, 1, "53.125", 3, 1, "other"),
                  "net:4:");
}

static void
lines_of_ports_are_read (G_GNUC_UNUSED void **state)
{
  assert_fabric ("ibnetdiscover-p",
                 "CA  1 1 0xa1 2x NDR - SW 3 1 0xb1 ( 'n1 mlx5_0' - 'SwitchX -  Mellanox Technologies' )\n"
                 "CA  2 1 0xa2 2x NDR - SW 3 2 0xb1 ( 'n2 mlx5_0' - 'SwitchX -  Mellanox Technologies' )\n"
                 "SW  3 9 0xb1 4x ??\?                 'SwitchX -  Mellanox Technologies'\n",
                 2, "ib-ndr200", "nodes: 0-1");
  assert_refused ("ibnetdiscover-p", "CA  1 1 0xa1 4x NDX - SW 3 1 0xb1 ( 'n1 mlx5_0' - 'leaf' )\n",
                  "net:1:14: '4x NDX' is not a width and speed");
  assert_refused ("ibnetdiscover-p", "CA  1 1 0xa1 4x NDR - SW 3 x 0xb1 ( 'n1 mlx5_0' - 'leaf' )\n",
                  "net:1:23:");
}

/* Ends are adapters, switches and routers; other lines say nothing, and a port without a cable is none. */
static void
lines_of_ports_have_two_ends (G_GNUC_UNUSED void **state)
{
#define CABLE(own, peer, names) own " 4x NDR - " peer " ( " names " )\n"
  static const char text[] = "# report\nCAx 1\n" CABLE ("CA 1 1 0xa1", "SW 65535 255 0xb1",
                                                        "'n1 mlx5_0' - 'leaf'")
      CABLE ("SW 65535 254 0xb1", "CA 2 1 0x00000000000000a2", "'leaf' - 'n2 mlx5_0'")
          CABLE ("SW 65535 7 0xb1", "RT 9 2 0xc1", "'leaf' - 'gate'") "SW 65535 8 0xb1 4x NDR 'leaf'\n";
  static const struct {
    const char *line, *message;
  } rows[] = {
    { "CA x 1 0xa1 4x NDR - SW 3 1 0xb1 ( 'n1 mlx5_0' - 'leaf' )",
      "net:2:1: a port must have the form CA 44 1 0x0002c9030045f121 4x FDR" },
    { "CA 1 256 0xa1 4x NDR - SW 3 1 0xb1 ( 'n1 mlx5_0' - 'leaf' )",
      "net:2:1: a port must have the form CA 44 1 0x0002c9030045f121 4x FDR" },
    { "CA 65536 1 0xa1 4x NDR - SW 3 1 0xb1 ( 'n1 mlx5_0' - 'leaf' )",
      "net:2:1: a port must have the form CA 44 1 0x0002c9030045f121 4x FDR" },
    { "CA 1 1 a1 4x NDR - SW 3 1 0xb1 ( 'n1 mlx5_0' - 'leaf' )",
      "net:2:1: a port must have the form CA 44 1 0x0002c9030045f121 4x FDR" },
    { "CA 1 1 0xa1 4x - SW 3 1 0xb1 ( 'n1 mlx5_0' - 'leaf' )", NULL },
    { "CA 1 1 0xa1 NDR 4x - SW 3 1 0xb1 ( 'n1 mlx5_0' - 'leaf' )",
      "net:2:13: 'NDR 4x' is not a width and speed, as 4x EDR, 4x HDR or 2x NDR are" },
    { "CA 1 1 0xa1 4x NDR - XX 3 1 0xb1 ( 'n1 mlx5_0' - 'leaf' )",
      "net:2:22: the other end belongs here, as SW 2 17 0x0002c903006e1430" },
    { "CA 1 1 0xa1 4x NDR - SW 3 256 0xb1 ( 'n1 mlx5_0' - 'leaf' )",
      "net:2:22: the other end belongs here, as SW 2 17 0x0002c903006e1430" },
    { "CA 1 1 0xa1 4x NDR - SW 3 1 0xb1 'n1 mlx5_0' - 'leaf' )",
      "net:2:34: the names of both ends belong here, as ( 'node7 HCA-1' - 'leaf-2' )" },
    { "CA 1 1 0xa1 4x NDR - SW 3 1 0xb1 ( n1 - 'leaf' )",
      "net:2:34: the names of both ends belong here, as ( 'node7 HCA-1' - 'leaf-2' )" },
    { "CA 1 1 0xa1 4x NDR - SW 3 1 0xb1 ( 'n1 mlx5_0' 'leaf' )",
      "net:2:34: the names of both ends belong here, as ( 'node7 HCA-1' - 'leaf-2' )" },
    { "CA 1 1 0xa1 4x NDR - SW 3 1 0xb1 ( 'n1 mlx5_0' - leaf )",
      "net:2:34: the names of both ends belong here, as ( 'node7 HCA-1' - 'leaf-2' )" },
  };
  g_autoptr (FabImportedMachine) machine = read_text ("ibnetdiscover-p", text, NULL);
  g_autofree char *cables = cables_told (machine->network);

  assert_string_equal (cables, "H-00000000000000a1:1 - S-00000000000000b1:255 4xNDR\n"
                               "S-00000000000000b1:254 - H-00000000000000a2:1 4xNDR\n"
                               "S-00000000000000b1:7 - H-00000000000000c1:2 4xNDR\n");
  assert_string_equal (fab_imported_network_device (machine->network, 0)->host, "n1");
  assert_string_equal (fab_imported_network_device (machine->network, 1)->name, "leaf");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *whole = g_strdup_printf (
        CABLE ("CA 1 1 0xa1", "SW 3 1 0xb1", "'n1 mlx5_0' - 'leaf'") "%s\n", rows[i].line);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabImportedMachine) read = read_text ("ibnetdiscover-p", whole, &error);

    if ((error == NULL) != (rows[i].message == NULL)
        || (error != NULL && !g_str_has_prefix (error->message, rows[i].message)))
      fail_msg ("%s: %s", rows[i].line, error ? error->message : "good");
  }
}

/* --- ibnetdiscover --- */

/* Ports are numbered at both ends; a card's GUID is that of the next device alone. Other lines, also those that begin
 * as those of devices do, say nothing. */
static void
devices_have_numbered_ports (G_GNUC_UNUSED void **state)
{
  static const char text[] = "# Topology file\nvendid=0x2c9\nsysimgguid=0xc1\nswitchguid=0xb1(b1)\n"
                             "Switch\t36 \"S-b1\"\t\t# \"MF0;leaf:x\" enhanced port 0 lid 1 lmc 0\n"
                             "  [17]\t\"H-a1\"[2](a1) \t\t# \"n1 mlx5_0\" lid 5 4xHDR \t\n"
                             "[18]\t\"H-a3\"[1](a3) \t\t# \"n3 mlx5_0\" lid 7 4xHDR\n"
                             "Ca\nCable\nCx 1 \"H-a9\"\nDCa 1\n"
                             "Ca\t2 \"H-a2\"\t\t# \"n2 mlx5_0\"\n"
                             "[1](a2) \t\"S-b1\"[19]\t\t# lid 6 lmc 0 \"leaf\" lid 1 2xHDR\n"
                             "Ca 2 \"H-AFe9\" # \"n4 mlx5_0\"\n"
                             "[2](AFe9) \"S-b1\"[20] # lid 8 \"leaf\" lid 1 4xHDR\n";
  static const char *const ids[] = { "S-b1", "H-a1", "H-a3", "H-a2", "H-AFe9" }, *const names[] = {
    "MF0;leaf:x", "n1 mlx5_0", "n3 mlx5_0", "n2 mlx5_0", "n4 mlx5_0"
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabImportedMachine) machine = read_text ("ibnetdiscover", text, &error);

  if (machine == NULL)
    fail_msg ("%s", error->message);
  g_autofree char *cables = cables_told (machine->network);
  assert_string_equal (cables, "S-b1:17 - H-a1:2 4xHDR\nS-b1:18 - H-a3:1 4xHDR\nS-b1:19 - H-a2:1 2xHDR\n"
                               "S-b1:20 - H-AFe9:2 4xHDR\n");
  assert_int_equal (machine->network->devices->len, G_N_ELEMENTS (ids));
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++) {
    const FabImportedDevice *device = fab_imported_network_device (machine->network, i);

    assert_string_equal (device->id, ids[i]);
    assert_string_equal (device->name, names[i]);
    assert_true (device->is_switch == (i == 0));
    assert_int_equal (device->system_guid, i == 0 ? 0xc1 : 0);
  }
}

static void
ibnetdiscover_is_refused_at_the_line (G_GNUC_UNUSED void **state)
{
#define SWITCH "Switch 36 \"S-b1\" # \"leaf\"\n"
  static const char *const devices[] = { "Switch 36 \"H-b1\"", "Ca 2 \"S-b1\"",
                                         "Switch 36 \"S-\"",   "Switch 36 \"S-xyz\"",
                                         "Switch 36 \"Sb1\"",  "Switch 36 \"S-b1",
                                         "Ca 2 \"X-b1\"",      "Ca\t2",
                                         "Switch 36 \"\"" };
  static const char *const ports[] = { "[1] \"X-a1\"[1] # \"n1 mlx5_0\" lid 5 4xHDR",
                                       "[1] \"H-a1\" [1] # \"n1 mlx5_0\" lid 5 4xHDR",
                                       "[1] \"H-a1\" # \"n1 mlx5_0\" lid 5 4xHDR", "[1] H-a1[1] 4xHDR",
                                       "[1]" };
  static const char *const speeds[][2] = {
    { "[1] \"H-a1\"[1] # \"n1 mlx5_0\" lid 5 4xFOO", "4xFOO" },
    { "[1] \"H-a1\"[1] # \"n1 mlx5_0\" lid 5", "5" },
    { "[1]\"H-a1\"[1]", "[1]\"H-a1\"[1]" },
  };

  assert_refused ("ibnetdiscover", "caguid=0x1\n[1] \"S-b1\"[2] # 4xHDR\n" SWITCH,
                  "net:2: this port comes before any Switch or Ca");
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    g_autofree char *text = g_strdup_printf (SWITCH "%s\n", devices[i]);

    assert_refused ("ibnetdiscover", text,
                    "net:2: a device must have the form Switch 36 \"S-guid\" or Ca 2 \"H-guid\"");
  }
  for (guint i = 0; i < G_N_ELEMENTS (ports); i++) {
    g_autofree char *text = g_strdup_printf (SWITCH "%s\n", ports[i]);

    assert_refused ("ibnetdiscover", text,
                    "net:2: a port must have the form [1] \"S-guid\"[2] # \"name\" lid 3 4xHDR");
  }
  for (guint i = 0; i < G_N_ELEMENTS (speeds); i++) {
    g_autofree char *text = g_strdup_printf (SWITCH "%s\n", speeds[i][0]),
                    *message = g_strdup_printf ("net:2: '%s' is not a width and speed;", speeds[i][1]);

    assert_refused ("ibnetdiscover", text, message);
  }
}

static void
ibnetdiscover_is_known_by_its_guids (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    gboolean is_one;
  } rows[] = { { "x\nswitchguid=0x1\n", TRUE }, { "caguid=0x1\n", TRUE }, { "[1] \"S-1\"[1]\n", TRUE },
               { "guid=0x1\n", FALSE },         { "\"H-1\"\n", FALSE },   { "", FALSE } };
  const FabFileFormat *format = fab_file_format_named (FAB_FILE_MACHINE, "ibnetdiscover");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_true (format->recognises (&(FabFileText){ "x", rows[i].text, strlen (rows[i].text) })
                 == rows[i].is_one);
}

#define LLDP(rows)                                                            \
  "LocalPort  RemoteDevice  RemotePortID       Capability  RemotePortDescr\n" \
  "---------  ------------  -----------------  ----------  ---------------\n" rows "\n"

/* A host may call itself a bridge, and a spine without a table is one; leaf and spine list their cable both. */
static void
tables_of_neighbours_are_read (G_GNUC_UNUSED void **state)
{
  static const char leaf[] = "admin@leaf:~$ show lldp table\n" LLDP (
      "Ethernet0  n1            0c:42:a1:88:0a:1c  BR          Interface 8 as enp5s0f0\n"
      "Ethernet4  n2            eth2               R           eth2\n"
      "Ethernet8  spine         etp3               BR          Ethernet4\n"
      "eth0       oob           Ethernet1          BR\n");
  static const char spine[] = "spine# show lldp table\n" LLDP (
      "Ethernet4  leaf          Ethernet8          BR          x\n");
  static const char status[] = "admin@leaf:~$ show interfaces status\n Interface Lanes Speed\n"
                               "--- --- ---\nEthernet0 1,2 100G\nEthernet4 3,4 100G\nEthernet8 5,6 200G\n\n";
  g_autofree char *both = g_strconcat (status, leaf, spine, NULL), *one = g_strconcat (leaf, NULL);

  assert_fabric ("lldp", both, 2, "roce-100", "{to: leaf, nodes: 0-1, nics: 0} # n1 ... n2");
  assert_fabric ("lldp", one, 2, "roce-400", "nodes: 0-1");
  assert_refused ("lldp", LLDP ("Ethernet0\n"), "net:3:1: a row must have a port, a device and its port");
  assert_refused ("lldp", "LocalPort RemoteDevice RemotePortID\nEthernet0 n1 x\n", "net:2:1: a line");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (heads_of_iblinkinfo_say_what_is_a_switch),
    cmocka_unit_test (lines_without_heads_are_read),
    cmocka_unit_test (a_lid_with_several_ports_is_a_switch),
    cmocka_unit_test (ports_that_are_down_are_no_cables),
    cmocka_unit_test (cables_could_be_faster_or_wider),
    cmocka_unit_test (idle_ports_are_counted),
    cmocka_unit_test (lids_are_adapters_or_switches),
    cmocka_unit_test (large_networks_are_refused),
    cmocka_unit_test (iblinkinfo_is_refused_at_the_place),
    cmocka_unit_test (lines_of_ports_are_read),
    cmocka_unit_test (tables_of_neighbours_are_read),
    cmocka_unit_test (lines_of_ports_have_two_ends),
    cmocka_unit_test (devices_have_numbered_ports),
    cmocka_unit_test (ibnetdiscover_is_refused_at_the_line),
    cmocka_unit_test (ibnetdiscover_is_known_by_its_guids),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
