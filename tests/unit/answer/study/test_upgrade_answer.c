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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_purchase_is_recommended_within_the_budget),
    cmocka_unit_test (rows_are_the_ranking_and_the_rest),
    cmocka_unit_test (settings_may_be_named),
    cmocka_unit_test (the_batch_is_held),
    cmocka_unit_test (a_job_that_does_not_fit_is_advised),
  };

  return play_run_tests ("upgrade_answer", tests, &catalog);
}
