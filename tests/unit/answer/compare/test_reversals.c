/* SPDX-License-Identifier: Apache-2.0 */
/* test_reversals.c - a larger purchase that saves less than a smaller one is found, and the reason is told. */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "answer/compare/reversals.h"
#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* Sends of 1 GB over a port of 10 Gb/s. Ports of 12 and 14 Gb/s follow it; `late` is the latency of the latter. */
static FabUpgrades *
find (FabStudy **study, const char *late)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\n"
      "links:\n"
      "  - {name: slow, technology: InfiniBand, lanes: 1, signalling: 10Gb/s, latency: 1us}\n"
      "  - {name: quick, technology: InfiniBand, lanes: 1, signalling: 12Gb/s, latency: 1us}\n"
      "  - {name: last, technology: InfiniBand, lanes: 1, signalling: 14Gb/s, latency: %s}\n"
      "products:\n"
      "  - {name: quick-card, kind: nic, link: quick, price_usd: 20, power_watts: 1}\n"
      "  - {name: last-card, kind: nic, link: last, price_usd: 30, power_watts: 1}\n"
      "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: slow, fabric: switch}\n"
      "collectives: plain\n"
      "job: {kind: collective, operations: [{op: send_recv, size: 1GB}]}\n",
      late);
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  int file = g_file_open_tmp ("reversals-XXXXXX.yaml", &path, &error);

  assert_true (file >= 0 && g_close (file, NULL) && g_file_set_contents (path, yaml, -1, &error));
  *study = fab_study_new (path, NULL, catalog, &fab_models, &error);
  g_remove (path);
  if (*study == NULL)
    fail_msg ("%s", error->message);
  (*study)->n_threads = 1;
  FabUpgrades *found = fab_upgrades_find (
      *study, &(FabUpgradeLimits){ .kinds = 1U << FAB_UPGRADE_NIC, .has_no_band = TRUE }, &error);
  if (found == NULL)
    fail_msg ("%s", error->message);
  return found;
}

/* 0.8 s with 10 Gb/s, 0.667 with 12, which is 1/6 less, and 0.571 with 14. A port and its switch are passed with the
 * latency of two links: 0.1 s each make it 0.771 s, 3.6 % less than today and 15.7 % more than with 12 Gb/s. */
static void
a_later_port_saves_less (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = NULL;
  g_autoptr (FabUpgrades) all = find (&study, "100ms");
  g_autoptr (GPtrArray) reversals = fab_reversals_find (all);

  assert_int_equal (reversals->len, 1);
  const FabReversal *one = g_ptr_array_index (reversals, 0);
  assert_string_equal (one->larger->change.name, "NIC ports last");
  assert_string_equal (one->smaller->change.name, "NIC ports quick");
  assert_near (one->smaller->saved_fraction, 1.0 / 6, 1e-4);
  assert_string_equal (one->why,
                       "With NIC ports last the same work takes 3.6 % less time, with NIC ports quick 16.7 % "
                       "less. NIC ports last is 15.7 % slower than NIC ports quick: 104.8 ms more of "
                       "communication is exposed. Its 1 collective (send_recv direct) takes 104.8 ms more in "
                       "total.");
}

static void
a_quick_port_saves_more (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = NULL;
  g_autoptr (FabUpgrades) all = find (&study, "1us");
  g_autoptr (GPtrArray) reversals = fab_reversals_find (all);

  assert_int_equal (reversals->len, 0);
}

/* --- changes made by hand --- */

typedef struct {
  FabUpgradeKind kind;
  const char *edit;  /* one or more, joined by blanks */
  double saved, usd; /* usd below 0: there is no price */
  guint n_parts, global_batch, n_ranks;
  FabUpgradeState state;
} Made;

/* Numbers of fabrics are numbers; everything else is text. */
static FabEdits *
edits_of (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", 0);
  FabEdits *edits = fab_edits_new ();

  for (char **word = words; *word != NULL; word++) {
    char *equals = strchr (*word, '=');

    *equals = '\0';
    fab_edits_set (edits, *word,
                   g_str_has_suffix (equals + 1, ".5")
                       ? fab_value_real (FAB_UNIT_FACTOR, g_ascii_strtod (equals + 1, NULL))
                       : fab_value_text (equals + 1));
  }
  return edits;
}

static void
add_made (FabUpgrades *all, const Made *made)
{
  FabUpgrade *one = fab_upgrade_new (made->kind, g_strdup_printf ("change %u", all->all->len),
                                     edits_of (made->edit));

  one->n_parts = made->n_parts > 0 ? made->n_parts : 1;
  one->saved_fraction = made->saved;
  one->state = made->state;
  one->trial.point = g_new0 (FabPoint, 1);
  one->trial.point->global_batch = made->global_batch;
  one->trial.point->n_ranks = MAX (made->n_ranks, 1);
  one->trial.point->step_s = 1 - made->saved;
  if (made->usd >= 0) {
    one->purchase = g_new0 (FabPurchase, 1);
    one->purchase->rows = g_array_new (FALSE, FALSE, sizeof (FabPurchaseRow));
    one->purchase->is_priced = TRUE;
    one->purchase->money.usd = made->usd;
  }
  g_ptr_array_add (all->all, one);
}

/* The larger and the smaller change of each reversal, by their numbers: "1<0". (transfer full) */
static char *
reversals_of (const FabStudy *study, const Made *made, guint n)
{
  FabUpgrades all = { .study = study, .all = g_ptr_array_new_with_free_func (fab_upgrade_free) };
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    add_made (&all, &made[i]);
  g_autoptr (GPtrArray) found = fab_reversals_find (&all);
  for (guint i = 0; i < found->len; i++) {
    const FabReversal *one = g_ptr_array_index (found, i);

    g_string_append_printf (text, "%s%s<%s", i > 0 ? " " : "", strrchr (one->larger->change.name, ' ') + 1,
                            strrchr (one->smaller->change.name, ' ') + 1);
  }
  g_ptr_array_unref (all.all);
  return g_string_free (text, FALSE);
}

#define RATE "cluster.nic_rate=100Gb/s"
#define WIDE "cluster.fabric.oversubscription=1.5"
#define WIDER "cluster.fabric.oversubscription=2.5"

static const struct {
  Made made[3];
  guint n;
  const char *reversals;
} orders[] = {
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1, .usd = 20 } },
    2,
    "1<0" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1, .usd = 20 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 10 } },
    2,
    "0<1" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1, .usd = 10 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 20 } },
    2,
    "" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1, .usd = 10 } },
    2,
    "" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1, .usd = -1 } },
    2,
    "1<0" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = -1 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1, .usd = 10 } },
    2,
    "1<0" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1, .usd = -1 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = -1 } },
    2,
    "" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 0 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1, .usd = 0 } },
    2,
    "1<0" },
  /* The smaller one that saves most. */
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.3, .usd = 11 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1, .usd = 12 } },
    3,
    "2<1" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.3, .usd = 10 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 11 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1, .usd = 12 } },
    3,
    "1<0 2<0" },
  /* Limits. */
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.0049, .usd = 10 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = -0.1, .usd = 20 } },
    2,
    "" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.0051, .usd = 10 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = -0.1, .usd = 20 } },
    2,
    "1<0" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1996, .usd = 20 } },
    2,
    "" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1994, .usd = 20 } },
    2,
    "1<0" },
  /* Other kinds, kinds without a size, several parts, and what cannot be had. */
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_NICS, .edit = RATE, .saved = 0.1, .usd = 20 } },
    2,
    "" },
  { { { .kind = FAB_UPGRADE_SETTING, .edit = RATE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_SETTING, .edit = RATE, .saved = 0.1, .usd = 20 } },
    2,
    "" },
  { { { .kind = FAB_UPGRADE_NODE, .edit = RATE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_NODE, .edit = RATE, .saved = 0.1, .usd = 20 } },
    2,
    "" },
  { { { .kind = FAB_UPGRADE_NODES, .edit = RATE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_NODES, .edit = RATE, .saved = 0.1, .usd = 20 } },
    2,
    "1<0" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 10, .n_parts = 2 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1, .usd = 20 } },
    2,
    "" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1, .usd = 20, .n_parts = 2 } },
    2,
    "" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 10, .state = FAB_UPGRADE_TOO_LARGE },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1, .usd = 20 } },
    2,
    "" },
  { { { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.2, .usd = 10, .state = FAB_UPGRADE_NO_GAIN },
      { .kind = FAB_UPGRADE_NIC, .edit = RATE, .saved = 0.1, .usd = 20 } },
    2,
    "1<0" },
  /* Fabrics have sizes where both set one number, and the same. */
  { { { .kind = FAB_UPGRADE_FABRIC, .edit = WIDE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_FABRIC, .edit = WIDER, .saved = 0.1, .usd = 20 } },
    2,
    "1<0" },
  { { { .kind = FAB_UPGRADE_FABRIC, .edit = "cluster.fabric=switch", .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_FABRIC, .edit = WIDER, .saved = 0.1, .usd = 20 } },
    2,
    "" },
  { { { .kind = FAB_UPGRADE_FABRIC, .edit = WIDE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_FABRIC, .edit = "cluster.fabric.spines=2.5", .saved = 0.1, .usd = 20 } },
    2,
    "" },
  { { { .kind = FAB_UPGRADE_FABRIC, .edit = WIDE " " RATE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_FABRIC, .edit = WIDER, .saved = 0.1, .usd = 20 } },
    2,
    "" },
  { { { .kind = FAB_UPGRADE_FABRIC, .edit = WIDE, .saved = 0.2, .usd = 10 },
      { .kind = FAB_UPGRADE_FABRIC, .edit = WIDER " " RATE, .saved = 0.1, .usd = 20 } },
    2,
    "" },
};

/* Of one kind the dearer is larger; without a price, the later. A change that saves less than half a percent is no
 * yardstick, and one that saves as much to half a thousandth is no reversal. */
static void
which_is_larger (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = NULL;
  g_autoptr (FabUpgrades) all = find (&study, "1us");

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++) {
    g_autofree char *found = reversals_of (study, orders[i].made, orders[i].n);

    if (strcmp (found, orders[i].reversals) != 0)
      fail_msg ("case %u finds \"%s\" and not \"%s\"", i, found, orders[i].reversals);
  }
}

/* Of another batch no step is explained: fewer sequences for each GPU are less to compute for as much to send. */
static void
another_batch_is_told (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint batch, ranks;
    const char *less;
  } cases[] = {
    { 4, 8, ", so that each GPU computes less for as much communication" },
    { 16, 32, ", so that each GPU computes less for as much communication" },
    { 16, 16, "" }, /* as many for each */
    { 16, 8, "" },
  };
  g_autoptr (FabStudy) study = NULL;
  g_autoptr (FabUpgrades) found = find (&study, "1us");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabUpgrades all = { .study = study, .all = g_ptr_array_new_with_free_func (fab_upgrade_free) };
    const Made smaller = { .kind = FAB_UPGRADE_NIC,
                           .edit = RATE,
                           .saved = 0.2,
                           .usd = 10,
                           .global_batch = 8,
                           .n_ranks = 8 },
               larger = { .kind = FAB_UPGRADE_NIC,
                          .edit = RATE,
                          .saved = i % 2 ? 0.1 : -0.1,
                          .usd = 20,
                          .global_batch = cases[i].batch,
                          .n_ranks = cases[i].ranks };

    add_made (&all, &smaller);
    add_made (&all, &larger);
    g_autoptr (GPtrArray) reversals = fab_reversals_find (&all);
    g_autofree char *expected = g_strdup_printf (
        "With change 1 the same work takes 10.0 %% %s time, with change 0 20.0 %% less. The global batch is %u "
        "sequences with the first and 8 with the second%s.",
        i % 2 ? "less" : "more", cases[i].batch, cases[i].less);
    assert_int_equal (reversals->len, 1);
    assert_string_equal (((const FabReversal *) g_ptr_array_index (reversals, 0))->why, expected);
    g_ptr_array_unref (all.all);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_later_port_saves_less),
    cmocka_unit_test (a_quick_port_saves_more),
    cmocka_unit_test (which_is_larger),
    cmocka_unit_test (another_batch_is_told),
  };

  return play_run_tests ("reversals", tests, &catalog);
}
