/* SPDX-License-Identifier: Apache-2.0 */
/* test_lldp.c - tables of LLDP neighbours: whose table it is, what is a switch, which port is meant, and how fast. */
#include "tests/unit/formats/machine/told.h"

#define TABLE                                                                 \
  "LocalPort  RemoteDevice  RemotePortID       Capability  RemotePortDescr\n" \
  "---------  ------------  -----------------  ----------  ---------------\n"

static void
assert_cables (const char *text, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabImportedMachine) machine = read_machine ("lldp", NULL, text, &error);

  if (machine == NULL)
    fail_msg ("%s", error->message);
  g_autofree char *cables = cables_told (machine->network);
  if (strcmp (cables, expected) != 0)
    fail_msg ("%s\nis read as\n%s", text, cables);
}

/* Prompts of Linux and of a router's shell; before the first one a table is that of "switch". */
static void
prompts_say_whose_table_it_is (G_GNUC_UNUSED void **state)
{
  static const char *const prompts[][2] = {
    { "admin@leaf-1.x:~$ show lldp table\n", "leaf-1.x" },
    { "leaf_1# show lldp table\n", "leaf_1" },
    { "leaf1> show lldp table\n", "leaf1" },
    { "leaf1 show lldp table\n", "leaf1" },
    { "admin@leaf1:~$ sudo lldpshow\n", "leaf1" },
    { "show lldp table\n", "switch" },
    { "leaf1=show lldp table\n", "switch" },
    { "leaf1show lldp table\n", "switch" },
    { "@show lldp table\n", "switch" },
    { "", "switch" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (prompts); i++) {
    g_autofree char *text = g_strconcat (prompts[i][0],
                                         TABLE "Ethernet8  n1            eth2               R\n", NULL);
    g_autofree char *expected = g_strdup_printf ("%s:8 - n1 eth2:1 400G\n", prompts[i][1]);

    assert_cables (text, expected);
  }
}

/* A bridge is a switch unless its port is a network card: by its name, behind "as" or by the address of a card. */
static void
bridges_are_switches_and_cards_are_not (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *port, *kinds, *detail, *cable;
  } rows[] = {
    { "etp3", "BR", "", "leaf:4 - x:3 400G\n" },
    { "Ethernet1/51", "B", "", "leaf:4 - x:1051 400G\n" },
    { "Ethernet1/51/2", "B", "", "leaf:4 - x:39566 400G\n" }, /* 105102 in 16 bits */
    { "etp3", "R", "", "leaf:4 - x etp3:1 400G\n" },
    { "enp5s0f0", "BR", "", "leaf:4 - x enp5s0f0:1 400G\n" },
    { "eth2", "BR", "", "leaf:4 - x eth2:1 400G\n" },
    { "ib0", "BR", "", "leaf:4 - x ib0:1 400G\n" },
    { "mlx5_0", "BR", "", "leaf:4 - x mlx5_0:1 400G\n" },
    { "bond0", "BR", "", "leaf:4 - x bond0:1 400G\n" },
    { "rdma3", "BR", "", "leaf:4 - x rdma3:1 400G\n" },
    { "0c:42:a1:88:0a:1c", "BR", "", "leaf:4 - x 0c:42:a1:88:0a:1c:1 400G\n" },
    { "etp3", "BR", "Interface 8 as enp5s0f0", "leaf:4 - x etp3:1 400G\n" },
    { "etp3", "BR", "Interface 8 as swp1", "leaf:4 - x:3 400G\n" },
    { "etp3", "BR", "Link 8 as enp5s0f0", "leaf:4 - x:3 400G\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *row = g_strdup_printf ("Ethernet4  %-12s  %-17s  %-10s  %s\n", "x", rows[i].port,
                                            rows[i].kinds, rows[i].detail),
                    *text = g_strconcat ("admin@leaf:~$ show lldp table\n" TABLE, row,
                                         "Ethernet0  n1            eth2               R\n", NULL);
    g_autofree char *expected = g_strconcat (rows[i].cable, "leaf:0 - n1 eth2:1 400G\n", NULL);

    assert_cables (text, expected);
  }
}

/* What a command prints ends at the next prompt, though no empty line stands between. */
static void
outputs_end_at_the_next_prompt (G_GNUC_UNUSED void **state)
{
  assert_cables (
      "admin@a:~$ show lldp table\n" TABLE "Ethernet0  n1            eth2               R\n"
      "admin@a:~$ show version\nSONiC      Software      Version: 4         R\n"
      "admin@a:~$ show interfaces status\n  Interface    Lanes    Speed\n  Ethernet0    1,2    100G\n"
      "admin@b:~$ show interfaces counters\n  Ethernet0    1,2    100G\n"
      "admin@b:~$ show lldp table\n" TABLE "Ethernet0  n2            eth2               R\n",
      "a:0 - n1 eth2:1 100G\nb:0 - n2 eth2:1 400G\n");
}

/* Speeds are those of the switch whose prompt came last; what no line says runs at 400G. A cable between two switches
 * that both have tables counts once, at the end whose name comes first. */
static void
speeds_are_those_of_each_switch (G_GNUC_UNUSED void **state)
{
  static const char text[] =
      "admin@a:~$ show interfaces status\n  Interface    Lanes    Speed\n  ---------    -----    -----\n"
      "  Ethernet0    1,2    100G\n  Ethernet4    3,4    x\n  Ethernet8    5,6    200G\n\n"
      "admin@a:~$ show lldp table\n" TABLE "Ethernet0  n1            eth2               R\n"
      "Ethernet4  n2            eth2               R\n"
      "Ethernet8  b             Ethernet12         BR\n"
      "Ethernet16 a             Ethernet20         BR\n" /* a loop is no cable */
      "eth0       oob           Ethernet1          BR\n"
      "Management0 oob          Ethernet2          BR\n\n"
      "admin@b:~$ show lldp table\n" TABLE "Ethernet12 a             Ethernet8          BR\n"
      "Ethernet0  n1            eth3               R\n";

  assert_cables (text, "a:0 - n1 eth2:1 100G\na:4 - n2 eth2:1 400G\na:8 - b:12 200G\nb:0 - n1 eth3:1 400G\n");
  g_autoptr (FabImportedMachine) machine = read_machine ("lldp", NULL, text, NULL);
  g_autofree char *notes = notes_told (machine->notes);
  assert_non_null (strstr (notes, "12 inferred: 2 ports run at 400G: LLDP says no rates;"));
  assert_non_null (strstr (notes, "15 left out: left out: 2 neighbours at ports of management\n"));
}

static void
rows_without_a_port_are_refused (G_GNUC_UNUSED void **state)
{
  static const char *const texts[][2] = {
    { TABLE "Ethernet8  n2            eth2               R\nEthernet0  n1\n",
      "x:4:1: a row must have a port, a device and its port" },
    { TABLE "Ethernet0                eth2\n", "x:3:1: a row must have a port, a device and its port" },
    { "LocalPort  RemoteDevice  RemotePortID\n--- --- --- ---\n", "x:2:1: a line of dashes for each column" },
    { "LocalPort  RemoteDevice  RemotePortID\n--- --- --- --- -a-\n",
      "x:2:1: a line of dashes for each column" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (read_machine ("lldp", NULL, texts[i][0], &error));
    if (!g_str_has_prefix (error->message, texts[i][1]))
      fail_msg ("%s", error->message);
  }
}

static void
tables_are_known_by_their_heads (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    gboolean is_one;
  } rows[] = { { "LocalPort RemoteDevice RemotePortID\n", TRUE },
               { "LocalPort RemoteDevice\n", FALSE },
               { "LocalPort RemotePortID\n", FALSE },
               { "RemoteDevice RemotePortID\n", FALSE } };
  const FabFileFormat *format = fab_file_format_named (FAB_FILE_MACHINE, "lldp");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_true (format->recognises (&(FabFileText){ "x", rows[i].text, strlen (rows[i].text) })
                 == rows[i].is_one);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (prompts_say_whose_table_it_is),
    cmocka_unit_test (bridges_are_switches_and_cards_are_not),
    cmocka_unit_test (speeds_are_those_of_each_switch),
    cmocka_unit_test (rows_without_a_port_are_refused),
    cmocka_unit_test (tables_are_known_by_their_heads),
    cmocka_unit_test (outputs_end_at_the_next_prompt),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
