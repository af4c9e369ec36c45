/* SPDX-License-Identifier: Apache-2.0 */
/* test_upgrade_answer.c - the answer of `upgrade`: its rows, what limits the recommended changes, which batch is held,
 * and what is said where there is no purchase or the job does not fit.
 */
#include "tests/support/test.h"

#include "answer/study/upgrade.h"
#include "tests/support/play.h"

/* Two nodes with one port each, and ports of twice the rate. */
#define PORTS                                                                                            \
  "name: t\niterations: 1\nlinks:\n"                                                                     \
  "  - {name: slow, technology: InfiniBand, lanes: 1, signalling: 10Gb/s, latency: 1us}\n"               \
  "  - {name: quick, technology: InfiniBand, lanes: 1, signalling: 20Gb/s, latency: 1us}\n"              \
  "products:\n"                                                                                          \
  "  - {name: slow-card, kind: nic, link: slow, price_usd: 10, power_watts: 1}\n"                        \
  "  - {name: quick-card, kind: nic, link: quick, price_usd: 20, power_watts: 1}\n"                      \
  "  - {name: slow-switch, kind: switch, link: slow, ports: 8, price_usd: 50, power_watts: 1}\n"         \
  "  - {name: quick-switch, kind: switch, link: quick, ports: 8, price_usd: 90, power_watts: 1}\n"       \
  "  - {name: slow-wire, kind: cable, link: slow, reach: 100m, price_usd: 1}\n"                          \
  "  - {name: quick-wire, kind: cable, link: quick, reach: 100m, price_usd: 2}\n"                        \
  "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: slow, fabric: switch}\n" \
  "collectives: plain\n"
#define SENDS PORTS "job: {kind: collective, operations: [{op: send_recv, size: 1GB}]}\n"
#define DDP(model) \
  PORTS "job: {kind: ddp, model: " model ", micro_batch: 1, sequence: 1024, compute: {kind: mfu, mfu: 40%}}\n"

static FabCatalog *catalog;

static FabUpgradeAnswer *
answer_of (const FabStudy *study, guint kinds, gboolean has_no_band, double budget_usd)
{
  const FabUpgradeLimits limits = { .kinds = kinds, .has_no_band = has_no_band };
  g_autoptr (GError) error = NULL;
  FabUpgradeAnswer *answer = fab_upgrade_answer (study, &limits, budget_usd, &error);

  if (answer == NULL)
    fail_msg ("%s", error->message);
  return answer;
}

static gboolean
has_change (const FabUpgradeAnswer *answer, const char *name)
{
  for (guint i = 0; i < answer->rows->len; i++)
    if (strcmp (((const FabUpgrade *) g_ptr_array_index (answer->rows, i))->change.name, name) == 0)
      return TRUE;
  return FALSE;
}

/* Two cards, a switch and two wires cost 2 x 20 + 90 + 2 x 2 = $134. Within that much the quick ports are bought, and
 * with a dollar less nothing is. */
static void
a_purchase_is_recommended_within_the_budget (G_GNUC_UNUSED void **state)
{
  static const double budgets[] = { 0, 134, 133 };
  g_autoptr (FabStudy) study = play_study (catalog, SENDS);

  for (guint i = 0; i < G_N_ELEMENTS (budgets); i++) {
    g_autoptr (FabUpgradeAnswer) answer = answer_of (study, 1u << FAB_UPGRADE_NIC, FALSE, budgets[i]);
    const FabUpgrade *purchase = answer->choice.purchase;

    assert_near (answer->budget_usd, budgets[i], 0);
    assert_null (answer->hold); /* a job without batches */
    assert_true (has_change (answer, "NIC ports quick"));
    assert_int_equal (purchase != NULL, i < 2);
    assert_int_equal (answer->no_purchase == NULL && answer->nearest == NULL, i < 2);
    if (purchase != NULL) {
      assert_string_equal (purchase->change.name, "NIC ports quick");
      assert_near (fab_upgrade_price (purchase), 134, 1e-12);
      assert_true (answer->choice.most->saved_fraction >= purchase->saved_fraction);
      assert_non_null (purchase->trial.point->bottleneck);
    } else {
      assert_string_equal (answer->no_purchase,
                           "no sure gain within the budget saves more than what costs nothing");
      assert_string_equal (answer->nearest, "NIC ports quick saves 50.0 % for $134, $1 more than the budget");
    }
  }
}

/* The ranking comes first, then what has no gain, in the order in which it was made; each change once. */
static void
rows_are_the_ranking_and_the_rest (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = play_study (catalog, DDP ("gpt2"));

  for (guint has_no_band = 0; has_no_band < 2; has_no_band++) {
    g_autoptr (FabUpgradeAnswer) answer = answer_of (study, 1u << FAB_UPGRADE_NIC | 1u << FAB_UPGRADE_SETTING,
                                                     has_no_band, 0);
    const FabUpgrades *all = answer->all;
    guint row = all->ranking->len, n_rest = 0;

    assert_true (all->ranking->len > 0);
    for (guint i = 0; i < all->ranking->len; i++)
      assert_ptr_equal (g_ptr_array_index (answer->rows, i), g_ptr_array_index (all->ranking, i));
    for (guint i = 0; i < all->all->len; i++) {
      FabUpgrade *one = g_ptr_array_index (all->all, i);

      if (one->state <= FAB_UPGRADE_UNSURE)
        continue;
      assert_ptr_equal (g_ptr_array_index (answer->rows, row++), one);
      n_rest++;
    }
    assert_true (n_rest > 0);
    assert_int_equal (answer->rows->len, row);
    /* Nobody named settings: they are those of the job. */
    assert_non_null (answer->knobs);
    assert_true (has_change (answer, "bucket 1MiB"));
    assert_int_equal (g_strcmp0 (answer->no_purchase, "without bands nobody knows whether a gain is real")
                          == 0,
                      has_no_band);
  }
}

static void
settings_may_be_named (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = play_study (catalog, DDP ("gpt2"));
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  const FabUpgradeLimits limits = { .knobs = none, .kinds = 1u << FAB_UPGRADE_SETTING, .has_no_band = TRUE };
  g_autoptr (FabUpgradeAnswer) answer = fab_upgrade_answer (study, &limits, 0, NULL);

  assert_null (answer->knobs);
  assert_false (has_change (answer, "bucket 1MiB"));
}

/* As nobody said what to hold, it is the global batch; what somebody said is held. */
static void
the_batch_is_held (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabHold hold;
    const char *name;
  } cases[] = { { FAB_HOLD_WRITTEN, "batch" },
                { FAB_HOLD_BATCH, "batch" },
                { FAB_HOLD_MICRO_BATCH, "micro_batch" } };
  g_autoptr (FabStudy) study = play_study (catalog, DDP ("gpt2"));

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    study->hold = cases[i].hold;
    g_autoptr (FabUpgradeAnswer) answer = answer_of (study, 1u << FAB_UPGRADE_NIC, TRUE, 0);
    assert_string_equal (answer->hold, cases[i].name);
  }
}

/* What would make the job fit is told of the machine as it is. */
static void
a_job_that_does_not_fit_is_advised (G_GNUC_UNUSED void **state)
{
  static const char *const yamls[] = { DDP ("llama2-7b"), DDP ("gpt2") };

  for (guint i = 0; i < G_N_ELEMENTS (yamls); i++) {
    g_autoptr (FabStudy) study = play_study (catalog, yamls[i]);
    g_autoptr (FabUpgradeAnswer) answer = answer_of (study, 1u << FAB_UPGRADE_NIC, TRUE, 0);
    const FabFinding *finding = fab_verdict_find (answer->all->base->verdict, FAB_FINDING_DOES_NOT_FIT);

    assert_int_equal (finding != NULL, i == 0);
    if (finding != NULL)
      assert_true (g_str_has_prefix (finding->advice, "It fits with "));
  }
}

/* Ports of four times the rate too, whose switch costs `usd`. */
static FabStudy *
three_generations (guint usd)
{
  g_autofree char *link = g_strdup (
      "  - {name: quicker, technology: InfiniBand, lanes: 1, signalling: 40Gb/s, "
      "latency: 1us}\n");
  g_autofree char *products = g_strdup_printf (
      "  - {name: quicker-card, kind: nic, link: quicker, price_usd: 20, power_watts: 1}\n"
      "  - {name: quicker-switch, kind: switch, link: quicker, ports: 8, price_usd: %u, power_watts: 1}\n"
      "  - {name: quicker-wire, kind: cable, link: quicker, reach: 100m, price_usd: 2}\n",
      usd);
  const char *at_products = strstr (SENDS, "products:\n"), *at_cluster = strstr (SENDS, "cluster:");
  g_autofree char *yaml = g_strdup_printf ("%.*s%s%.*s%s%s", (int) (at_products - SENDS), SENDS, link,
                                           (int) (at_cluster - at_products), at_products, products,
                                           at_cluster);

  return play_study (catalog, yaml);
}

/* Twice the rate saves 50 % for $134, which is $2.68 for each; four times the rate saves 75 %. The dearer one is bought
 * as long as it costs less for each percent: $137 are $1.83, and $244 are $3.25. Then it saves most all the same, and
 * the cheaper one would have to cost $162.67 to be as dear. */
static void
a_dearer_purchase_pays_where_each_percent_costs_less (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint switch_usd;
    double usd;
    gboolean is_bought;
  } cases[] = { { 93, 137, TRUE }, { 200, 244, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabStudy) study = three_generations (cases[i].switch_usd);
    g_autoptr (FabUpgradeAnswer) answer = answer_of (study, 1u << FAB_UPGRADE_NIC, FALSE, 0);
    const FabUpgradeChoice *choice = &answer->choice;
    double usd = 0;
    const FabUpgrade *other = fab_upgrade_break_even (answer->all, choice, &usd);

    assert_string_equal (choice->purchase->change.name,
                         cases[i].is_bought ? "NIC ports quicker" : "NIC ports quick");
    assert_string_equal (choice->most->change.name, "NIC ports quicker");
    assert_near (fab_upgrade_price (choice->most), cases[i].usd, 1e-12);
    assert_int_equal (fab_upgrade_is_most_apart (answer), !cases[i].is_bought);
    assert_string_equal (other->change.name, cases[i].is_bought ? "NIC ports quick" : "NIC ports quicker");
    assert_near (usd, fab_upgrade_price (other) / other->saved_fraction * choice->purchase->saved_fraction,
                 1e-9);
    assert_near (usd, cases[i].is_bought ? 201 : 244 / 1.5, 1e-3);
  }
}

/* What limits the step with a recommended change is known on all seeds, and with the others on one. */
static void
recommended_changes_are_looked_at_on_all_seeds (G_GNUC_UNUSED void **state)
{
  static const char yaml[] = PORTS
      "job: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 1024, jitter: {cv: 1%}, "
      "bucket: 1MiB, compute: {kind: mfu, mfu: 40%}}\n";
  g_auto (GStrv) parts = g_strsplit (yaml, "1us", -1);
  g_autofree char *slow = g_strjoinv ("300us", parts); /* small buckets take long */
  g_autoptr (FabStudy) study = play_study (catalog, slow);
  guint n_other = 0;

  study->n_seeds = 2;
  g_autoptr (FabUpgradeAnswer) answer = answer_of (study, 1u << FAB_UPGRADE_NIC | 1u << FAB_UPGRADE_SETTING,
                                                   FALSE, 0);
  const FabUpgradeChoice *choice = &answer->choice;
  assert_true (choice->setting != NULL && choice->purchase != NULL && choice->most != NULL);
  for (guint i = 0; i < answer->all->ranking->len; i++) {
    const FabUpgrade *one = g_ptr_array_index (answer->all->ranking, i);
    gboolean is_chosen = one == choice->setting || one == choice->purchase || one == choice->most;

    assert_int_equal (one->trial.point->bottleneck->n_draws, is_chosen ? 2 : 1);
    n_other += !is_chosen;
  }
  assert_true (n_other > 0);
}

/* A scenario that is mistaken, and a job that takes no time, are no answer. */
static void
what_cannot_be_improved (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *edits[3], *words;
  } cases[] = { { { "cluster.nodes=0", NULL }, "nodes" },
                { { "cluster.nodes=1", "cluster.gpus_per_node=1", NULL }, "the job takes no time" } };
  static const char yaml[] = PORTS "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n";
  g_autoptr (FabStudy) study = play_study (catalog, yaml);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabEdits) edits = fab_edits_of (cases[i].edits);
    g_autoptr (FabStudy) mistaken = fab_study_edited (study, edits);
    const FabUpgradeLimits limits = { .has_no_band = TRUE };
    g_autoptr (GError) error = NULL;

    assert_null (fab_upgrade_answer (mistaken, &limits, 0, &error));
    assert_non_null (strstr (error->message, cases[i].words));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_dearer_purchase_pays_where_each_percent_costs_less),
    cmocka_unit_test (recommended_changes_are_looked_at_on_all_seeds),
    cmocka_unit_test (what_cannot_be_improved),
    cmocka_unit_test (a_purchase_is_recommended_within_the_budget),
    cmocka_unit_test (rows_are_the_ranking_and_the_rest),
    cmocka_unit_test (settings_may_be_named),
    cmocka_unit_test (the_batch_is_held),
    cmocka_unit_test (a_job_that_does_not_fit_is_advised),
  };

  return play_run_tests ("upgrade_answer", tests, &catalog);
}
