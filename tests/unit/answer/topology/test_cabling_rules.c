/* SPDX-License-Identifier: Apache-2.0 */
/* test_cabling_rules.c - both sides of every threshold at which a cable counts as a mistake, and what is said of it. */
#include "tests/support/test.h"

#include "answer/topology/cabling_rules.h"

#define RATE 50e9

/* --- ports of hosts --- */

enum { MOST_HOSTS = 16, MOST_TEXTS = 4, N_LEAVES = 12 };

typedef struct {
  const char *hosts[MOST_HOSTS]; /* ports of each as NIC:LEAF */
  const char *findings[MOST_TEXTS];
  const char *note;
} HostCase;

#define ALL "0:0 1:1 2:2 3:3"

static const HostCase host_cases[] = {
  { { ALL, ALL, ALL, "0:0 1:1 2:2" },
    { "host3 has no cable at nic3, which 3 hosts with the same ports have." },
    NULL },
  { { ALL, ALL, ALL, "0:0 1:1 2:2", "0:0 1:1 2:2" },
    { "host3 and host4 have no cable at nic3, which 3 hosts with the same ports have." },
    NULL },
  { { "0:0 2:2 3:3", ALL, ALL, ALL, "0:0 1:1 3:3" },
    { "host0 has no cable at nic1, which 3 hosts with the same ports have.",
      "host4 has no cable at nic2, which 3 hosts with the same ports have." },
    NULL },
  /* half of the ports are another kind of host */
  { { ALL, ALL, ALL, "0:0 1:1" },
    { NULL },
    "Fewer than three hosts have the same ports as host3, so it was not compared." },
  { { ALL, ALL, ALL, "0:0 1:1", "0:0 2:2" },
    { NULL },
    "Fewer than three hosts have the same ports as host3 and host4, so they were not compared." },
  { { ALL, ALL, ALL, "0:0 1:1", "0:0 1:1", "0:0 1:1" }, { NULL }, NULL },
  { { "0:0 1:1 2:2", "0:0 1:1 2:2", "0:0 1:1 2:2", "0:0 2:2" },
    { "host3 has no cable at nic1, which 3 hosts with the same ports have." },
    NULL },
  { { "0:0 1:1", "0:0 1:1", "0:0 1:1", "0:0" },
    { NULL },
    "Fewer than three hosts have the same ports as host3, so it was not compared." },
  /* as many have fewer: nobody knows which is usual */
  { { ALL, ALL, ALL, "0:0 1:1 2:2", "0:0 1:1 2:2", "0:0 1:1 2:2" }, { NULL }, NULL },
  { { ALL, ALL, "0:0 1:1 2:2", "0:0 1:1 2:2" },
    { NULL },
    "Fewer than three hosts have the same ports as host0, host1, host2 and host3, so they were not compared." },
  { { ALL, "0:0 1:1", "0:0 2:2", "0:0 3:3", "1:1 2:2" },
    { NULL },
    "Fewer than three hosts have the same ports as host0, host1, host2 and 2 more, so they were not compared." },
  { { ALL, ALL, ALL, ALL, ALL, ALL, "0:0 1:1 2:2", "0:0 1:1 2:2", "0:0 1:1 2:2", "0:0 1:1 2:2",
      "0:0 1:1 2:2" },
    { "host6, host7, host8 and 2 more have no cable at nic3, which 6 hosts with the same ports have." },
    NULL },
  /* the hosts of other leaves have no port there either */
  { { ALL, ALL, ALL, "0:4 1:5 2:6", "0:4 1:5 2:6" },
    { "host3 and host4 have no cable at nic3, which 3 hosts with the same ports have. No host of "
      "these switches has one, so their switch may be "
      "off or not listed." },
    NULL },
  { { ALL, ALL, ALL, "0:4 1:5 2:6" },
    { "host3 has no cable at nic3, which 3 hosts with the same ports have." },
    NULL },
  /* two ports of a host have changed their leaves */
  { { ALL, ALL, ALL, "0:0 1:2 2:1 3:3" },
    { "nic1 of host3 goes to leaf2 port 31, to which nic2 belongs; of 4 hosts beside it 3 have theirs at leaf1.",
      "nic2 of host3 goes to leaf1 port 32, to which nic1 belongs; of 4 hosts beside it 3 have theirs at leaf2." },
    NULL },
  { { ALL, ALL, "0:0 1:2 2:1 3:3" },
    { "nic1 of host2 goes to leaf2 port 21, to which nic2 belongs; of 3 hosts beside it 2 have theirs at leaf1.",
      "nic2 of host2 goes to leaf1 port 22, to which nic1 belongs; of 3 hosts beside it 2 have theirs at leaf2." },
    NULL },
  { { ALL, "0:0 1:2 2:1 3:3" },
    { NULL },
    "Fewer than three hosts have the same ports as host0 and host1, so they were not compared." },
  { { ALL, ALL, ALL, "0:1 1:0 2:2 3:3" },
    { "nic0 of host3 goes to leaf1 port 30, to which nic1 belongs; of 4 hosts beside it 3 have theirs at leaf0.",
      "nic1 of host3 goes to leaf0 port 31, to which nic0 belongs; of 4 hosts beside it 3 have theirs at leaf1." },
    NULL },
  /* the first port may be missing, too; those of two sets with as many ports and hosts lack what the first set has */
  { { ALL, ALL, ALL, "1:1 2:2 3:3" },
    { "host3 has no cable at nic0, which 3 hosts with the same ports have." },
    NULL },
  { { "0:0 1:1 2:2", ALL, ALL, ALL, "0:0 1:1 2:2 4:4", "0:0 1:1 2:2 4:4", "0:0 1:1 2:2 4:4" },
    { "host0 has no cable at nic3, which 3 hosts with the same ports have." },
    NULL },
  /* three quarters of the peers must agree about another leaf */
  { { ALL, ALL, ALL, "0:0 1:1 2:2 3:9" },
    { "nic3 of host3 goes to leaf9 port 33; of 4 hosts beside it 3 have theirs at leaf3." },
    NULL },
  { { ALL, ALL, "0:0 1:1 2:2 3:9" }, { NULL }, NULL },
  { { ALL, ALL, ALL, ALL, ALL, "0:0 1:1 2:2 3:8", "0:0 1:1 2:2 3:9" }, { NULL }, NULL },
  { { ALL, ALL, ALL, ALL, ALL, ALL, "0:0 1:1 2:2 3:8", "0:0 1:1 2:2 3:9" },
    { "nic3 of host6 goes to leaf8 port 63; of 8 hosts beside it 6 have theirs at leaf3.",
      "nic3 of host7 goes to leaf9 port 73; of 8 hosts beside it 6 have theirs at leaf3." },
    NULL },
  /* more than a quarter of the ports, and two at least: the host stands at the edge of a unit */
  { { ALL, ALL, ALL, ALL, ALL, ALL, "0:0 1:1 2:8 3:9" }, { NULL }, NULL },
  { { ALL, ALL, ALL, ALL, ALL, ALL, "0:8 1:9 2:2 3:3" }, { NULL }, NULL },
  { { "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7", "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7", "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7",
      "0:0 1:1 2:2 3:3 4:4 5:5 6:8 7:9" },
    { "nic6 of host3 goes to leaf8 port 36; of 4 hosts beside it 3 have theirs at leaf6.",
      "nic7 of host3 goes to leaf9 port 37; of 4 hosts beside it 3 have theirs at leaf7." },
    NULL },
  { { "0:0 1:1 2:2 3:3 4:4 5:5 6:6", "0:0 1:1 2:2 3:3 4:4 5:5 6:6", "0:0 1:1 2:2 3:3 4:4 5:5 6:6",
      "0:0 1:1 2:2 3:3 4:4 5:8 6:9" },
    { NULL },
    NULL },
  { { "0:0 1:1", "0:0 1:1", "0:0 1:1", "0:0 1:9" },
    { "nic1 of host3 goes to leaf9 port 31; of 4 hosts beside it 3 have theirs at leaf1." },
    NULL },
  /* hosts of two units are no peers of each other */
  { { ALL, ALL, ALL, "0:4 1:5 2:6 3:7", "0:4 1:5 2:6 3:7", "0:4 1:5 2:6 3:7" }, { NULL }, NULL },
};

static void
add_host (FabCabling *self, const char *name, const char *ports, guint first_leaf, guint host)
{
  guint part = fab_cabling_add_part (self, g_strdup (name), TRUE);
  g_auto (GStrv) pairs = g_strsplit (ports, " ", -1);

  for (guint i = 0; pairs[i] != NULL; i++) {
    guint nic = (guint) pairs[i][0] - '0', leaf = (guint) g_ascii_strtoull (pairs[i] + 2, NULL, 10);

    fab_cabling_add_cable (self, (FabCable){ .a = part,
                                             .b = first_leaf + leaf,
                                             .port_a = g_strdup_printf ("nic%u", nic),
                                             .port_b = g_strdup_printf ("%u%u", host, nic),
                                             .speed = g_strdup ("NDR"),
                                             .count = 1,
                                             .nic = nic,
                                             .bytes_per_s = RATE });
  }
}

static void
ports_of_hosts_that_are_unlike_the_others (G_GNUC_UNUSED void **state)
{
  for (guint c = 0; c < G_N_ELEMENTS (host_cases); c++) {
    const HostCase *one = &host_cases[c];
    g_autoptr (FabCabling) self = fab_cabling_new ("test");
    guint n = 0;

    for (guint i = 0; i < N_LEAVES; i++)
      fab_cabling_add_part (self, g_strdup_printf ("leaf%u", i), FALSE);
    for (guint i = 0; i < MOST_HOSTS && one->hosts[i] != NULL; i++) {
      g_autofree char *name = g_strdup_printf ("host%u", i);

      add_host (self, name, one->hosts[i], 0, i);
    }
    fab_cabling_check (self);
    for (; n < MOST_TEXTS && one->findings[n] != NULL; n++) {
      if (n >= self->findings->len)
        fail_msg ("case %u lacks '%s'", c, one->findings[n]);
      const FabCablingFinding *found = &g_array_index (self->findings, FabCablingFinding, n);
      if (strcmp (found->text, one->findings[n]) != 0)
        fail_msg ("case %u: '%s' is not '%s'", c, found->text, one->findings[n]);
      assert_near (found->lost_bytes_per_s, RATE * MAX (found->n_usual, 1), 1e-12);
      assert_true (g_str_has_prefix (found->part, "host"));
      assert_int_equal (found->n_has, 0);
      assert_int_equal (found->n_usual > 0, strstr (found->text, "no cable") != NULL);
    }
    if (self->findings->len != n)
      fail_msg ("case %u: '%s' is not expected", c,
                g_array_index (self->findings, FabCablingFinding, n).text);
    gboolean has_note = FALSE;
    for (guint i = 0; i < self->notes->len; i++) {
      const char *note = g_ptr_array_index (self->notes, i);

      if (strstr (note, "reaches") != NULL)
        continue; /* leaves without hosts */
      if (g_strcmp0 (note, one->note) != 0)
        fail_msg ("case %u: '%s' is not '%s'", c, note, one->note);
      has_note = TRUE;
    }
    if (has_note != (one->note != NULL))
      fail_msg ("case %u lacks its note", c);
  }
}

/* A port that is missing is called as ports of its host are, where others have such a name for it, else as any is. */
static void
missing_ports_are_called_as_the_others_are (G_GNUC_UNUSED void **state)
{
  static const char *const prefixes[][4] = { { "eth", "mlx5_", "ib", "mlx5_" },
                                             { "eth", "ib", "mlx5_", "ib" } };
  static const char *const ports[] = { "mlx5_3", "ib3" };

  for (guint c = 0; c < 2; c++) {
    g_autoptr (FabCabling) self = fab_cabling_new ("test");

    for (guint i = 0; i < N_LEAVES; i++)
      fab_cabling_add_part (self, g_strdup_printf ("leaf%u", i), FALSE);
    for (guint i = 0; i < 4; i++) { /* each of the first three at leaves of its own */
      g_autofree char *name = g_strdup_printf ("host%u", i);
      guint first = self->cables->len;

      add_host (self, name, i < 3 ? ALL : "0:0 1:1 2:2", i < 3 ? 4 * i : 0, i);
      for (guint k = first; k < self->cables->len; k++) {
        FabCable *cable = fab_cabling_cable (self, k);

        g_free (cable->port_a);
        cable->port_a = g_strdup_printf ("%s%u", prefixes[c][i], cable->nic);
      }
    }
    fab_cabling_check (self);
    assert_int_equal (self->findings->len, 1);
    assert_string_equal (g_array_index (self->findings, FabCablingFinding, 0).port, ports[c]);
  }
}

/* --- cables between switches --- */

typedef struct {
  const char *leaves[8]; /* SPINE:CABLES of each */
  const char *findings[MOST_TEXTS];
  double lost[MOST_TEXTS]; /* rates of a cable */
  guint n_alone;           /* leaves with fewer than three peers */
} SwitchCase;

#define TWO "0:2 1:2"

static const SwitchCase switch_cases[] = {
  { { TWO, TWO, TWO, TWO }, { NULL }, { 0 }, 0 },
  { { TWO, TWO, TWO, "0:2 1:1" },
    { "leaf3 has 1 of 2 cables to spine1; 3 of 4 switches like it have 2.",
      "leaf3 has 3 of 4 cables to spines, and 3 ports down; 3 of 4 switches like it have all 4." },
    { 1, 1 },
    0 },
  { { TWO, TWO, TWO, "0:2" },
    { "leaf3 has 0 of 2 cables to spine1; 3 of 4 switches like it have 2.",
      "leaf3 has 2 of 4 cables to spines, and 3 ports down; 3 of 4 switches like it have all 4." },
    { 2, 2 },
    0 },
  /* none at all */
  { { TWO, TWO, TWO, "" },
    { "leaf3 has 0 of 2 cables to spine0; 3 of 4 switches like it have 2.",
      "leaf3 has 0 of 2 cables to spine1; 3 of 4 switches like it have 2.",
      "leaf3 has 0 of 4 cables to spines, and 3 ports down; 3 of 4 switches like it have all 4." },
    { 2, 2, 4 },
    0 },
  /* two of three are more than half; of two nobody knows */
  { { TWO, TWO, "0:2 1:1" },
    { "leaf2 has 1 of 2 cables to spine1; 2 of 3 switches like it have 2.",
      "leaf2 has 3 of 4 cables to spines, and 3 ports down; 2 of 3 switches like it have all 4." },
    { 1, 1 },
    0 },
  { { TWO, "0:2 1:1" }, { NULL }, { 0 }, 2 },
  { { TWO }, { NULL }, { 0 }, 1 },
  { { TWO, TWO, TWO, "4:1" }, { NULL }, { 0 }, 1 },
  { { TWO, TWO, "0:2 1:1", "0:2 1:1" }, { NULL }, { 0 }, 0 },
  { { "0:1 1:1", "0:1 1:1", "0:1 1:1", "0:1" },
    { "leaf3 has 0 of 1 cable to spine1; 3 of 4 switches like it have 1.",
      "leaf3 has 1 of 2 cables to spines, and 3 ports down; 3 of 4 switches like it have all 2." },
    { 1, 1 },
    0 },
  /* more than the others is no mistake; with as many in all, three quarters must agree about a spine */
  { { TWO, TWO, TWO, "0:2 1:3" }, { NULL }, { 0 }, 0 },
  { { TWO, TWO, "0:3 1:1" }, { NULL }, { 0 }, 0 },
  { { TWO, TWO, TWO, "0:3 1:1" },
    { "leaf3 has 1 of 2 cables to spine1; 3 of 4 switches like it have 2." },
    { 1 },
    0 },
  /* three cables go where those of the others do not, behind the other spines or before them */
  { { TWO, TWO, TWO, "0:2 1:1 2:3" },
    { "leaf3 goes to spine2, where most switches like it have no cable.",
      "leaf3 has 1 of 2 cables to spine1; 3 of 4 switches like it have 2." },
    { 3, 1 },
    0 },
  { { "1:2 2:2", "1:2 2:2", "1:2 2:2", "0:3 1:2 2:1" },
    { "leaf3 goes to spine0, where most switches like it have no cable.",
      "leaf3 has 1 of 2 cables to spine2; 3 of 4 switches like it have 2." },
    { 3, 1 },
    0 },
  /* where half of them go, or most spines like it have such a cable, or most have none anywhere, it is no mistake */
  { { TWO, TWO, "0:2 2:2", "0:2 2:2" }, { NULL }, { 0 }, 0 },
  { { "0:1 1:1", "0:1 1:1", "0:1 1:1", "0:1 1:1 3:1 4:1 5:1" }, { NULL }, { 0 }, 0 },
  { { "0:1 1:2 3:3", "0:2 2:1", "1:1 2:2" }, { NULL }, { 0 }, 0 },
  /* spines like one have a cable that two leaves cannot tell of; of both sides the one with more is told, and of as
   * many the lower one */
  { { "0:1 1:1 2:1", "0:1 1:1 2:1 3:1" },
    { "leaf0 has 0 of 1 cable to spine3; 3 of 4 switches like the latter have 1 to it." },
    { 1 },
    2 },
  { { "0:2 1:2 2:2 3:1", "0:2 1:2 2:2 3:1", "0:2 1:2 2:2 3:1", "0:2 1:2 2:2" },
    { "leaf3 has 0 of 2 cables to spine3; 3 of 4 switches like the latter have 2 to it.",
      "leaf3 has 6 of 7 cables to spines, and 3 ports down; 3 of 4 switches like it have all 7." },
    { 2, 1 },
    0 },
  { { "0:1 1:1 2:1 3:1", "0:1 1:1 2:1 3:1", "0:1 1:1 2:1 3:1", "0:1 1:1 2:1" },
    { "leaf3 has 0 of 1 cable to spine3; 3 of 4 switches like it have 1.",
      "leaf3 has 3 of 4 cables to spines, and 3 ports down; 3 of 4 switches like it have all 4." },
    { 1, 1 },
    0 },
};

/* Six spines, and leaves with three hosts each. `turned`: the cables are listed from above. */
static FabCabling *
cabling_of_leaves (const char *const *leaves, gboolean turned)
{
  FabCabling *self = fab_cabling_new ("test");

  for (guint i = 0; i < 6; i++)
    fab_cabling_add_part (self, g_strdup_printf ("spine%u", i), FALSE);
  for (guint i = 0; i < 8 && leaves[i] != NULL; i++) {
    guint leaf = fab_cabling_add_part (self, g_strdup_printf ("leaf%u", i), FALSE);
    g_auto (GStrv) pairs = g_strsplit (leaves[i], " ", -1);

    for (guint k = 0; k < 3; k++) {
      g_autofree char *name = g_strdup_printf ("host%u", 3 * i + k);

      add_host (self, name, "0:0", leaf, 3 * i + k);
    }
    for (guint k = 0; pairs[k] != NULL; k++) {
      guint spine = (guint) pairs[k][0] - '0';

      fab_cabling_add_cable (self, (FabCable){ .a = turned ? spine : leaf,
                                               .b = turned ? leaf : spine,
                                               .speed = g_strdup ("NDR"),
                                               .count = (guint) pairs[k][2] - '0',
                                               .bytes_per_s = RATE });
    }
  }
  return self;
}

static void
assert_findings (const FabCabling *self, guint c, const char *const *texts, const double *lost)
{
  guint n = 0;

  for (; n < MOST_TEXTS && texts[n] != NULL; n++) {
    if (n >= self->findings->len)
      fail_msg ("case %u lacks '%s'", c, texts[n]);
    const FabCablingFinding *found = &g_array_index (self->findings, FabCablingFinding, n);
    guint at = 0;

    while (at < MOST_TEXTS && texts[at] != NULL && strcmp (found->text, texts[at]) != 0)
      at++;
    if (at == MOST_TEXTS || texts[at] == NULL)
      fail_msg ("case %u: '%s' is not expected", c, found->text);
    assert_near (found->lost_bytes_per_s, RATE * lost[at], 1e-12);
  }
  if (self->findings->len != n)
    fail_msg ("case %u: %u findings", c, self->findings->len);
}

/* The note on switches that have too few peers; NULL: there is none. */
static const char *
note_of_alone (const FabCabling *self)
{
  for (guint i = 0; i < self->notes->len; i++)
    if (strstr (g_ptr_array_index (self->notes, i), "peers") != NULL)
      return g_ptr_array_index (self->notes, i);
  return NULL;
}

static void
cables_of_switches_that_are_unlike_the_others (G_GNUC_UNUSED void **state)
{
  static const char *const notes[] = {
    NULL, "1 switch has fewer than three peers, so the number of its cables up was not compared.",
    "2 switches have fewer than three peers, so the number of their cables up was not compared."
  };

  for (guint c = 0; c < G_N_ELEMENTS (switch_cases); c++)
    for (guint turned = 0; turned < 2; turned++) {
      const SwitchCase *one = &switch_cases[c];
      g_autoptr (FabCabling) self = cabling_of_leaves (one->leaves, turned > 0);

      fab_cabling_check (self);
      assert_findings (self, c, one->findings, one->lost);
      if (g_strcmp0 (note_of_alone (self), notes[one->n_alone]) != 0)
        fail_msg ("case %u: %s", c, note_of_alone (self));
    }
}

/* Two of four leaves are joined to each other, which are no ports down; where three are, they are routers, and nothing
 * is compared. */
static void
switches_that_are_joined_to_each_other (G_GNUC_UNUSED void **state)
{
  static const char *const
      texts[] = { "leaf3 has 1 of 2 cables to spine1; 3 of 4 switches like it have 2.",
                  "leaf3 has 3 of 4 cables to spines, and 3 ports down; 3 of 4 switches like it have all 4.",
                  NULL },
      *const none[] = { NULL };
  static const double lost[] = { 1, 1 };
  static const char *const leaves[] = { TWO, TWO, TWO, "0:2 1:1", NULL };

  for (guint n_joined = 1; n_joined < 4; n_joined++) {
    g_autoptr (FabCabling) self = cabling_of_leaves (leaves, FALSE);
    guint last = self->parts->len - 4; /* a leaf and its three hosts */

    for (guint i = 1; i < n_joined; i++)
      fab_cabling_add_cable (self, (FabCable){ .a = last - 4 * i,
                                               .b = last - 4 * (i - 1),
                                               .speed = g_strdup ("NDR"),
                                               .count = 2,
                                               .bytes_per_s = RATE });
    fab_cabling_check (self);
    assert_findings (self, n_joined, n_joined < 3 ? texts : none, lost);
  }
}

/* Leaves have ports 1 and 2 at the first spine and 3 and 4 at the second one. Of the usual ports of a cable that is
 * missing those are named that are free. Cables to the second spine are twice as fast. */
static void
missing_cables_have_ports (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint spine_of[4]; /* of ports 1 to 4 of the last leaf; 9: there is no cable */
    const char *ports, *text;
    double lost, lost_up;
  } cases[] = {
    { { 0, 0, 1, 9 },
      "4",
      "leaf3 has 1 of 2 cables to spine1; 3 of 4 switches like it have 2 at port 4.",
      2,
      1 },
    { { 0, 0, 9, 9 },
      "3, 4",
      "leaf3 has 0 of 2 cables to spine1; 3 of 4 switches like it have 2 at ports 3, 4.",
      4,
      2 },
    { { 0, 9, 0, 9 },
      "4",
      "leaf3 has 0 of 2 cables to spine1; 3 of 4 switches like it have 2 at port 4.",
      4,
      2 },
    { { 9, 9, 1, 1 },
      "1, 2",
      "leaf3 has 0 of 2 cables to spine0; 3 of 4 switches like it have 2 at ports 1, 2.",
      2,
      2 },
  };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    g_autoptr (FabCabling) self = fab_cabling_new ("test");
    gboolean is_found = FALSE;

    for (guint i = 0; i < 2; i++)
      fab_cabling_add_part (self, g_strdup_printf ("spine%u", i), FALSE);
    for (guint i = 0; i < 4; i++) {
      guint leaf = fab_cabling_add_part (self, g_strdup_printf ("leaf%u", i), FALSE);
      g_autofree char *name = g_strdup_printf ("host%u", i);

      add_host (self, name, "0:0", leaf, i);
      for (guint port = 0; port < 4; port++) {
        guint spine = i == 3 ? cases[c].spine_of[port] : port / 2;

        if (spine < 2)
          fab_cabling_add_cable (self, (FabCable){ .a = leaf,
                                                   .b = spine,
                                                   .port_a = g_strdup_printf ("%u", port + 1),
                                                   .speed = g_strdup ("NDR"),
                                                   .count = 1,
                                                   .bytes_per_s = (1 + spine) * RATE });
      }
    }
    fab_cabling_check (self);
    for (guint i = 0; i < self->findings->len; i++) {
      const FabCablingFinding *found = &g_array_index (self->findings, FabCablingFinding, i);

      if (found->kind == FAB_CABLING_MISSING) {
        is_found = TRUE;
        assert_string_equal (found->text, cases[c].text);
        assert_string_equal (found->port, cases[c].ports);
        assert_near (found->lost_bytes_per_s, cases[c].lost * RATE, 1e-12);
      } else if (found->kind == FAB_CABLING_FEW_UPLINKS)
        assert_near (found->lost_bytes_per_s, cases[c].lost_up * RATE, 1e-12);
    }
    assert_true (is_found);
  }
}

/* Four leaves, four spines and two cores: what a spine lacks is found as what a leaf does. */
static void
spines_are_compared_too (G_GNUC_UNUSED void **state)
{
  static const char *const texts[] = {
    "spine3 has 0 of 2 cables to core1; 3 of 4 switches like it have 2.",
    "spine3 has 2 of 4 cables to cores, and 4 ports down; 3 of 4 switches like it have all 4.", NULL
  };
  static const double lost[] = { 2, 2 };
  g_autoptr (FabCabling) self = fab_cabling_new ("test");
  static const char *const names[] = { "core", "spine", "leaf" };

  for (guint i = 0; i < 10; i++) /* two cores, four spines, four leaves */
    fab_cabling_add_part (self,
                          g_strdup_printf ("%s%u",
                                           names[i < 2   ? 0
                                                 : i < 6 ? 1
                                                         : 2],
                                           i < 2 ? i : (i - 2) % 4),
                          FALSE);
  for (guint i = 0; i < 4; i++) {
    g_autofree char *name = g_strdup_printf ("host%u", i);

    add_host (self, name, "0:0", 6 + i, i);
    for (guint k = 0; k < 4; k++)
      fab_cabling_add_cable (
          self,
          (FabCable){ .a = 6 + i, .b = 2 + k, .speed = g_strdup ("NDR"), .count = 1, .bytes_per_s = RATE });
    for (guint k = 0; k < 2; k++)
      if (i < 3 || k == 0)
        fab_cabling_add_cable (
            self,
            (FabCable){ .a = 2 + i, .b = k, .speed = g_strdup ("NDR"), .count = 2, .bytes_per_s = RATE });
  }
  fab_cabling_check (self);
  assert_findings (self, 0, texts, lost);
}

/* --- speeds --- */

static void
add_trunk (FabCabling *self, guint a, guint b, guint port, guint count, const char *speed, double rate,
           const char *possible, double most)
{
  fab_cabling_add_cable (self, (FabCable){ .a = a,
                                           .b = b,
                                           .port_a = port > 0 ? g_strdup_printf ("%u", port) : NULL,
                                           .port_b = port > 0 ? g_strdup_printf ("%u", 10 * port) : NULL,
                                           .speed = g_strdup (speed),
                                           .possible = g_strdup (possible),
                                           .count = count,
                                           .bytes_per_s = rate,
                                           .possible_bytes_per_s = most });
}

/* Of five cables of a place three have NDR. Both ends of one that has HDR could do XDR. */
static void
cables_slower_than_others (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCabling) self = fab_cabling_new ("test");
  static const char *const texts[] = {
    "leaf0 port 4 to spine0 port 40 runs at HDR, 25 GB/s; both ends could do XDR, 100 GB/s.",
    "2 cables, leaf0 to spine0 runs at HDR, 25 GB/s; 5 of 8 such cables have NDR, 50 GB/s.",
    "leaf0 port 1 to spine0 port 10 runs at NDR, 50 GB/s; both ends could do XDR, 100 GB/s.",
    "nic0 of host3 to leaf0 port 30 runs at HDR, 25 GB/s; 3 of 4 such cables have NDR, 50 GB/s.",
  };
  static const double lost[] = { 75e9, 50e9, 50e9, 25e9 };
  guint leaf = fab_cabling_add_part (self, g_strdup ("leaf0"), FALSE),
        spine = fab_cabling_add_part (self, g_strdup ("spine0"), FALSE);

  for (guint i = 0; i < 4; i++) {
    g_autofree char *name = g_strdup_printf ("host%u", i);

    add_host (self, name, "0:0", leaf, i);
    if (i == 3) {
      FabCable *slow = fab_cabling_cable (self, self->cables->len - 1);

      slow->bytes_per_s = 25e9;
      g_free (slow->speed);
      slow->speed = g_strdup ("HDR");
    }
  }
  add_trunk (self, leaf, spine, 1, 1, "NDR", 50e9, "XDR", 100e9);
  add_trunk (self, leaf, spine, 2, 1, "NDR", 50e9, NULL, 0);
  add_trunk (self, leaf, spine, 3, 3, "NDR", 50e9, "NDR", 50e9);
  add_trunk (self, leaf, spine, 4, 1, "HDR", 25e9, "XDR", 100e9);
  add_trunk (self, leaf, spine, 0, 2, "HDR", 25e9, "HDR", 25e9);
  fab_cabling_check (self);
  assert_int_equal (self->findings->len, G_N_ELEMENTS (texts));
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    const FabCablingFinding *found = &g_array_index (self->findings, FabCablingFinding, i);

    assert_string_equal (found->text, texts[i]);
    assert_near (found->lost_bytes_per_s, lost[i], 1e-12);
    assert_int_equal (found->kind, FAB_CABLING_SLOW);
    assert_int_equal (found->n_has, 0);
    assert_int_equal (found->n_usual, 0);
  }
}

/* --- votes, sets and tiers --- */

/* More than half of at least three. */
static void
votes_are_won_by_more_than_half (G_GNUC_UNUSED void **state)
{
  for (guint first = 0; first < 5; first++)
    for (guint second = 0; second < 5; second++)
      for (guint third = 0; third < 3; third++) {
        FabCablingVotes votes;
        const guint weights[] = { first, second, third };
        guint total = first + second + third, winner = G_MAXUINT, weight = 77;

        fab_cabling_votes_init (&votes);
        for (guint i = 0; i < 3; i++) {
          if (weights[i] > 0)
            fab_cabling_votes_add (&votes, i, 1);
          if (weights[i] > 1)
            fab_cabling_votes_add (&votes, i, weights[i] - 1);
          if (total >= 3 && 2 * weights[i] > total)
            winner = i;
        }
        assert_int_equal (votes.total, total);
        assert_int_equal (fab_cabling_votes_winner (&votes, NULL), winner);
        assert_int_equal (fab_cabling_votes_winner (&votes, &weight), winner);
        assert_int_equal (weight, winner == G_MAXUINT ? 77 : weights[winner]);
        fab_cabling_votes_clear (&votes);
      }
}

/* Sets as bits of a number, against counting. */
static void
sets_overlap_by_half_of_the_smaller_one (G_GNUC_UNUSED void **state)
{
  for (guint x = 0; x < 32; x++)
    for (guint y = 0; y < 32; y++) {
      g_autoptr (GArray) one = g_array_new (FALSE, FALSE, sizeof (guint));
      g_autoptr (GArray) other = g_array_new (FALSE, FALSE, sizeof (guint));
      guint n_common = 0;

      for (guint bit = 0; bit < 5; bit++) {
        if (x >> bit & 1)
          g_array_append_val (one, bit);
        if (y >> bit & 1)
          g_array_append_val (other, bit);
        n_common += x >> bit & y >> bit & 1;
      }
      assert_int_equal (fab_cabling_overlap (one, other), n_common * 2 >= MIN (one->len, other->len));
    }
}

/* A chain of switches above a leaf with hosts; a switch that nothing joins is in no tier. */
static void
tiers_count_from_the_hosts (G_GNUC_UNUSED void **state)
{
  static const char *const names[][2] = { { "host", "hosts" },
                                          { "leaf", "leaves" },
                                          { "spine", "spines" },
                                          { "core", "cores" },
                                          { "switch of tier 4", "switches of tier 4" } };
  g_autoptr (FabCabling) self = fab_cabling_new ("test");

  for (guint i = 0; i < 6; i++)
    fab_cabling_add_part (self, g_strdup_printf ("switch%u", i), FALSE);
  add_host (self, "host", "0:4", 0, 0);
  for (guint i = 1; i < 5; i++)
    add_trunk (self, i - 1, i, 1, 1, "NDR", RATE, NULL, 0);
  fab_cabling_check (self);
  for (guint i = 0; i < 5; i++)
    assert_int_equal (fab_cabling_part (self, i)->tier, 5 - i);
  assert_int_equal (fab_cabling_part (self, 5)->tier, G_MAXUINT);
  assert_int_equal (fab_cabling_part (self, 6)->tier, 0);
  g_autoptr (GArray) tiers = fab_cabling_tiers (self);
  assert_int_equal (tiers->len, 5);
  for (guint i = 0; i < 5; i++)
    assert_int_equal (g_array_index (tiers, guint, i), 1);
  assert_string_equal (g_ptr_array_index (self->notes, 0),
                       "No host reaches 1 of the switches, so they were not compared.");
  for (guint tier = 0; tier < G_N_ELEMENTS (names); tier++)
    for (guint n = 0; n < 3; n++) {
      g_autofree char *name = fab_cabling_tier_name (tier, n);

      assert_string_equal (name, names[tier][n != 1]);
    }
}

/* A chain from its first switch on, in which each cable is listed from the end that is farther. */
static void
tiers_do_not_depend_on_the_order (G_GNUC_UNUSED void **state)
{
  for (guint turned = 0; turned < 2; turned++) {
    g_autoptr (FabCabling) self = fab_cabling_new ("test");

    for (guint i = 0; i < 6; i++)
      fab_cabling_add_part (self, g_strdup_printf ("switch%u", i), FALSE);
    add_host (self, "host", "0:0", 0, 0);
    for (guint i = 1; i < 6; i++)
      add_trunk (self, turned ? i : i - 1, turned ? i - 1 : i, 1, 1, "NDR", RATE, NULL, 0);
    fab_cabling_check (self);
    for (guint i = 0; i < 6; i++)
      assert_int_equal (fab_cabling_part (self, i)->tier, i + 1);
  }
}

/* Where no more than half of the switches beside it have more hosts, a switch with a single host is a leaf. */
static void
a_switch_beside_a_spine_is_a_leaf (G_GNUC_UNUSED void **state)
{
  for (guint n_more = 1; n_more < 3; n_more++) {
    g_autoptr (FabCabling) self = fab_cabling_new ("test");

    for (guint i = 0; i < 4; i++)
      fab_cabling_add_part (self, g_strdup_printf ("switch%u", i), FALSE);
    add_host (self, "host", "0:0", 0, 0);
    for (guint i = 0; i < 3 * n_more; i++) {
      g_autofree char *name = g_strdup_printf ("other%u", i);

      add_host (self, name, "0:0", 1 + i / 3, 1 + i);
    }
    for (guint i = 1; i < 3; i++) /* with three hosts each, or the second one with none */
      add_trunk (self, 0, i, 1, 10, "NDR", RATE, NULL, 0);
    fab_cabling_check (self);
    assert_int_equal (fab_cabling_part (self, 0)->tier, n_more == 1 ? 1 : 2);
  }
}

/* A switch with cables to two leaves of three hosts each is a spine where at most a tenth of its cables go to hosts. */
static void
a_switch_of_few_hosts_is_a_spine (G_GNUC_UNUSED void **state)
{
  for (guint n_hosts = 0; n_hosts < 4; n_hosts++)
    for (guint n_links = 1; n_links < 16; n_links++) {
      g_autoptr (FabCabling) self = fab_cabling_new ("test");

      for (guint i = 0; i < 3; i++)
        fab_cabling_add_part (self, g_strdup_printf ("switch%u", i), FALSE);
      for (guint i = 0; i < 6 + n_hosts; i++) {
        g_autofree char *name = g_strdup_printf ("host%u", i);

        add_host (self, name, "0:0", i < 6 ? i / 3 : 2, i);
      }
      for (guint i = 0; i < 2; i++)
        add_trunk (self, i, 2, 1, n_links, "NDR", RATE, NULL, 0);
      fab_cabling_check (self);
      gboolean is_spine = n_hosts == 0 || (10 * n_hosts <= n_hosts + 2 * n_links && n_hosts < 3);
      assert_int_equal (fab_cabling_part (self, 0)->tier, 1);
      assert_int_equal (fab_cabling_part (self, 2)->tier, is_spine ? 2 : 1);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ports_of_hosts_that_are_unlike_the_others),
    cmocka_unit_test (missing_ports_are_called_as_the_others_are),
    cmocka_unit_test (cables_of_switches_that_are_unlike_the_others),
    cmocka_unit_test (switches_that_are_joined_to_each_other),
    cmocka_unit_test (missing_cables_have_ports),
    cmocka_unit_test (spines_are_compared_too),
    cmocka_unit_test (tiers_do_not_depend_on_the_order),
    cmocka_unit_test (a_switch_beside_a_spine_is_a_leaf),
    cmocka_unit_test (cables_slower_than_others),
    cmocka_unit_test (votes_are_won_by_more_than_half),
    cmocka_unit_test (sets_overlap_by_half_of_the_smaller_one),
    cmocka_unit_test (tiers_count_from_the_hosts),
    cmocka_unit_test (a_switch_of_few_hosts_is_a_spine),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
