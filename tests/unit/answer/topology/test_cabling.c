/* SPDX-License-Identifier: Apache-2.0 */
/* test_cabling.c - cables that are unlike their peers are found, and those that only differ from others are not. */
#include "tests/support/test.h"

#include <string.h>

#include "answer/topology/cabling.h"

enum { N_LEAVES = 4, N_SPINES = 2, N_HOSTS = 8 };

/* Eight hosts with NIC k at leaf k, and leaves with two cables to each of two spines, at 50 GB/s each. */
typedef struct {
  FabCabling *cabling;
  guint hosts[N_HOSTS], leaves[N_LEAVES], spines[N_SPINES];
} Network;

static void
add_cable (FabCabling *self, guint a, guint b, guint nic, guint count, double bytes_per_s)
{
  fab_cabling_add_cable (self, (FabCable){ .a = a,
                                           .b = b,
                                           .port_a = g_strdup_printf ("mlx5_%u", nic),
                                           .speed = g_strdup ("4xNDR"),
                                           .count = count,
                                           .nic = nic,
                                           .bytes_per_s = bytes_per_s });
}

static void
add_trunk (Network *self, guint leaf, guint spine, guint port, double bytes_per_s)
{
  fab_cabling_add_cable (self->cabling, (FabCable){ .a = self->leaves[leaf],
                                                    .b = self->spines[spine],
                                                    .port_a = g_strdup_printf ("%u", port),
                                                    .port_b = g_strdup_printf ("%u", 10 * leaf + port),
                                                    .speed = g_strdup ("4xNDR"),
                                                    .count = 1,
                                                    .bytes_per_s = bytes_per_s });
}

static void
add_parts (Network *self)
{
  self->cabling = fab_cabling_new ("test");
  for (guint i = 0; i < N_HOSTS; i++)
    self->hosts[i] = fab_cabling_add_part (self->cabling, g_strdup_printf ("host%u", i), TRUE);
  for (guint i = 0; i < N_LEAVES; i++)
    self->leaves[i] = fab_cabling_add_part (self->cabling, g_strdup_printf ("leaf%u", i), FALSE);
  for (guint i = 0; i < N_SPINES; i++)
    self->spines[i] = fab_cabling_add_part (self->cabling, g_strdup_printf ("spine%u", i), FALSE);
}

typedef struct {
  guint missing_leaf;            /* has one cable too few to spine 1; G_MAXUINT: none has */
  guint slow_leaf;               /* its first cable to spine 0 has half the rate */
  guint crossed_host;            /* NICs 1 and 2 have changed their leaves */
  guint missing_host, slow_host; /* has no NIC 3; has a slow NIC 0 */
} Mistakes;

static const Mistakes no_mistakes = { G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT };

static FabCabling *
make (const Mistakes *mistakes)
{
  Network self;

  add_parts (&self);
  for (guint host = 0; host < N_HOSTS; host++)
    for (guint nic = 0; nic < N_LEAVES; nic++) {
      guint leaf = host == mistakes->crossed_host && (nic == 1 || nic == 2) ? 3 - nic : nic;

      if (host != mistakes->missing_host || nic != 3)
        add_cable (self.cabling, self.hosts[host], self.leaves[leaf], nic, 1,
                   host == mistakes->slow_host && nic == 0 ? 12.5e9 : 50e9);
    }
  for (guint leaf = 0; leaf < N_LEAVES; leaf++)
    for (guint port = 0; port < 2 * N_SPINES; port++)
      if (leaf != mistakes->missing_leaf || port != 3)
        add_trunk (&self, leaf, port / 2, 33 + port, leaf == mistakes->slow_leaf && port == 0 ? 25e9 : 50e9);
  fab_cabling_check (self.cabling);
  return self.cabling;
}

static const FabCablingFinding *
finding (const FabCabling *cabling, guint i)
{
  assert_true (i < cabling->findings->len);
  return &g_array_index (cabling->findings, FabCablingFinding, i);
}

static void
peers_that_are_alike_have_no_findings (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCabling) cabling = make (&no_mistakes);
  g_autoptr (GArray) tiers = fab_cabling_tiers (cabling);

  assert_int_equal (cabling->findings->len, 0);
  assert_int_equal (tiers->len, 2);
  assert_int_equal (g_array_index (tiers, guint, 0), N_LEAVES);
  assert_int_equal (g_array_index (tiers, guint, 1), N_SPINES);
}

/* Three of four leaves have two cables, 3 of 4 in all: the pair, and the leaf. The other leaves have it at port 36. */
static void
a_missing_cable_is_named_with_its_port (G_GNUC_UNUSED void **state)
{
  Mistakes mistakes = no_mistakes;

  mistakes.missing_leaf = 2;
  g_autoptr (FabCabling) cabling = make (&mistakes);
  const FabCablingFinding *pair = finding (cabling, 0), *leaf = finding (cabling, 1);

  assert_int_equal (cabling->findings->len, 2);
  assert_int_equal (pair->kind, FAB_CABLING_MISSING);
  assert_string_equal (pair->part, "leaf2");
  assert_string_equal (pair->peer, "spine1");
  assert_string_equal (pair->port, "36");
  assert_int_equal (pair->n_has, 1);
  assert_int_equal (pair->n_usual, 2);
  assert_true (pair->lost_bytes_per_s == 50e9);
  assert_int_equal (leaf->kind, FAB_CABLING_FEW_UPLINKS);
  assert_int_equal (leaf->n_has, 3);
  assert_int_equal (leaf->n_usual, 4);
}

/* It lacks 25 GB/s of 50; the NIC lacks 37.5, so it comes first. */
static void
slow_cables_come_by_what_they_lack (G_GNUC_UNUSED void **state)
{
  Mistakes mistakes = no_mistakes;

  mistakes.slow_leaf = 1;
  mistakes.slow_host = 4;
  g_autoptr (FabCabling) cabling = make (&mistakes);

  assert_int_equal (cabling->findings->len, 2);
  assert_int_equal (finding (cabling, 0)->kind, FAB_CABLING_SLOW);
  assert_string_equal (finding (cabling, 0)->part, "host4");
  assert_true (finding (cabling, 0)->lost_bytes_per_s == 37.5e9);
  assert_string_equal (finding (cabling, 1)->part, "leaf1");
  assert_true (finding (cabling, 1)->lost_bytes_per_s == 25e9);
}

static void
crossed_rails_are_told_from_missing_ports (G_GNUC_UNUSED void **state)
{
  Mistakes mistakes = no_mistakes;

  mistakes.crossed_host = 5;
  mistakes.missing_host = 7;
  g_autoptr (FabCabling) cabling = make (&mistakes);

  assert_int_equal (cabling->findings->len, 3);
  assert_int_equal (finding (cabling, 0)->kind, FAB_CABLING_MISSING_NIC);
  assert_string_equal (finding (cabling, 0)->part, "host7");
  assert_string_equal (finding (cabling, 0)->port, "mlx5_3");
  for (guint i = 1; i < 3; i++) {
    assert_int_equal (finding (cabling, i)->kind, FAB_CABLING_CROSSED);
    assert_string_equal (finding (cabling, i)->part, "host5");
    assert_string_equal (finding (cabling, i)->port, i == 1 ? "mlx5_1" : "mlx5_2");
    assert_string_equal (finding (cabling, i)->peer, i == 1 ? "leaf2" : "leaf1");
  }
}

/* A fabric manager at spine0 does not make it a leaf: eight cables to leaves are more than nine tenths. It has another
 * number of ports than the hosts, and nobody is like it. */
static void
a_host_at_a_spine_is_no_leaf (G_GNUC_UNUSED void **state)
{
  Network self;
  g_autoptr (GArray) tiers = NULL;

  add_parts (&self);
  for (guint host = 0; host < N_HOSTS - 1; host++)
    for (guint nic = 0; nic < N_LEAVES; nic++)
      add_cable (self.cabling, self.hosts[host], self.leaves[nic], nic, 1, 50e9);
  add_cable (self.cabling, self.hosts[N_HOSTS - 1], self.spines[0], 0, 1, 50e9);
  for (guint leaf = 0; leaf < N_LEAVES; leaf++)
    for (guint spine = 0; spine < N_SPINES; spine++)
      add_cable (self.cabling, self.leaves[leaf], self.spines[spine], 0, 5, 50e9);
  fab_cabling_check (self.cabling);
  tiers = fab_cabling_tiers (self.cabling);
  assert_int_equal (tiers->len, 2);
  assert_int_equal (g_array_index (tiers, guint, 1), N_SPINES);
  assert_int_equal (self.cabling->findings->len, 0);
  assert_int_equal (self.cabling->notes->len, 1);
  fab_cabling_free (self.cabling);
}

/* LLDP knows cards by addresses, which tell nothing of their place: a port is like others at its switch. */
static void
ports_without_numbers_go_by_their_switch (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedNetwork) network = fab_imported_network_new ();
  FabFileText file = { "test", "", 0 };
  guint leaves[2];

  for (guint i = 0; i < 2; i++) {
    g_autofree char *name = g_strdup_printf ("leaf%u", i);

    leaves[i] = fab_imported_network_add (network, name, TRUE, name);
  }
  for (guint port = 0; port < 8; port++) {
    guint host = port / 2;
    g_autofree char *id = g_strdup_printf ("card%u", port);
    guint card = fab_imported_network_add (network, id, FALSE, NULL);

    fab_imported_network_device (network, card)->host = g_strdup_printf ("host%u", host);
    fab_imported_network_device (network, card)->adapter = g_strdup_printf ("0c:42:a1:88:00:%02u",
                                                                            97 * port % 90);
    if (port != 4) /* the first port of host2 has no cable */
      assert_true (
          fab_imported_network_join (network, &file, 1, leaves[port % 2], 1 + host, card, 1, "4xNDR", NULL));
  }
  g_autoptr (FabCabling) cabling = fab_cabling_of_network (network, "test");
  fab_cabling_check (cabling);
  assert_int_equal (cabling->findings->len, 0); /* one of two ports is no more than half' */
  assert_int_equal (cabling->notes->len, 1);
  assert_non_null (strstr (g_ptr_array_index (cabling->notes, 0), "host2"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (peers_that_are_alike_have_no_findings),
    cmocka_unit_test (a_missing_cable_is_named_with_its_port),
    cmocka_unit_test (slow_cables_come_by_what_they_lack),
    cmocka_unit_test (crossed_rails_are_told_from_missing_ports),
    cmocka_unit_test (a_host_at_a_spine_is_no_leaf),
    cmocka_unit_test (ports_without_numbers_go_by_their_switch),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
