/* SPDX-License-Identifier: Apache-2.0 */
/* test_offers.c - which of several offers to take, and what is said of several sides: a gigabyte over ports of known
 * rates, and training with another batch.
 */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "answer/compare/offers.h"
#include "answer/compare/sides.h"
#include "tests/support/failing.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* A gigabyte from one node to another: 8 s over the rate in Gb/s, and microseconds. */
static const char sends[] =
    "name: sends\niterations: 1\n"
    "links: [{name: wire, technology: InfiniBand, lanes: 1, signalling: 100Gb/s, latency: 1us}]\n"
    "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: wire, fabric: switch}\n"
    "collectives: plain\n"
    "job: {kind: collective, operations: [{op: send_recv, size: 1GB}]}\n";

static FabStudy *
study_of (const char *yaml)
{
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  int file = g_file_open_tmp ("offers-XXXXXX.yaml", &path, &error);

  assert_true (file >= 0 && g_close (file, NULL) && g_file_set_contents (path, yaml, -1, &error));
  FabStudy *study = fab_study_new (path, NULL, catalog, &fab_models, &error);
  g_remove (path);
  if (study == NULL)
    fail_msg ("%s", error->message);
  study->n_threads = 1;
  return study;
}

static GPtrArray *
sides_of (const FabStudy *study, const char *axis)
{
  g_autoptr (FabAxis) values = fab_axis_parse (axis, NULL);

  assert_non_null (values);
  return fab_sides_of_axis (study, values);
}

/* Of 100, 400 and 200 Gb/s, in any order: 80, 20 and 40 ms. The second may come before the fastest. */
static void
test_the_fastest_and_the_second (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *axis;
    guint fastest, second;
    double times[3]; /* in units of the fastest */
  } cases[] = {
    { "cluster.nic_rate=100Gb/s,400Gb/s,200Gb/s", 1, 2, { 4, 1, 2 } },
    { "cluster.nic_rate=400Gb/s,100Gb/s,200Gb/s", 0, 2, { 1, 4, 2 } },
    { "cluster.nic_rate=400Gb/s,200Gb/s,100Gb/s", 0, 1, { 1, 2, 4 } },
    { "cluster.nic_rate=200Gb/s,100Gb/s,400Gb/s", 2, 0, { 2, 4, 1 } },
  };
  g_autoptr (FabStudy) study = study_of (sends);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) sides = sides_of (study, cases[i].axis);
    g_autoptr (FabOffersAnswer) answer = fab_offers_answer (sides, NULL);

    assert_non_null (answer);
    assert_int_equal (answer->fastest, cases[i].fastest);
    assert_int_equal (answer->second, cases[i].second);
    assert_int_equal (answer->cheapest, G_MAXUINT); /* no tokens */
    assert_int_equal (answer->savings->len, 3);
    for (guint k = 0; k < 3; k++) {
      const FabOfferSaving *saving = &g_array_index (answer->savings, FabOfferSaving, k);

      assert_near (saving->saved, 1 - cases[i].times[k] / cases[i].times[0], 5e-3);
      assert_true (saving->low <= saving->saved && saving->saved <= saving->high);
    }
    const FabOfferSaving *base = &g_array_index (answer->savings, FabOfferSaving, 0);
    assert_true (base->low == 0 && base->saved == 0 && base->high == 0);
    assert_near (answer->lead.saved, 0.5, 5e-3);
    assert_true (answer->lead.low > 0 && answer->lead.low <= 0.5 && answer->lead.high < 1);
    assert_true (answer->is_decided);
  }
}

/* Of two that are the same neither leads. */
static void
test_nothing_is_decided_between_equals (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of (sends);
  g_autoptr (GPtrArray) sides = sides_of (study, "cluster.nic_rate=200Gb/s,0.2Tb/s");
  g_autoptr (FabOffersAnswer) answer = fab_offers_answer (sides, NULL);

  assert_int_equal (answer->fastest, 0);
  assert_int_equal (answer->second, 1);
  assert_near (answer->lead.saved, 0, 1e-12);
  assert_false (answer->is_decided);
}

/* Four times the batch takes a longer step, and less time per token. The band of the step (study_band.h) is that of the
 * time per token, since tokens of a step are counted and not predicted. The cheapest is the one whose tokens cost
 * least. */
static void
test_offers_are_held_against_each_other_by_tokens (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = fab_study_new (FAB_SOURCE_DIR "/scenarios/hello.yaml", NULL, catalog,
                                              &fab_models, NULL);

  study->n_threads = 1;
  g_autoptr (GPtrArray) sides = sides_of (study, "job.micro_batch=1,4,2");
  g_autoptr (FabOffersAnswer) answer = fab_offers_answer (sides, NULL);
  const FabSide *base = fab_sides_at (sides, 0), *side = fab_sides_at (sides, 1);
  const FabOfferSaving *saving = &g_array_index (answer->savings, FabOfferSaving, 1);
  const FabVariantOf before = { study, base->edits, base->point },
                     after = { study, side->edits, side->point };
  double tokens = base->point->tokens_per_s / side->point->tokens_per_s; /* time per token */
  FabPairedBand band;

  assert_int_equal (answer->fastest, 1);
  assert_int_equal (answer->second, 2);
  assert_true (side->point->step_s > base->point->step_s && tokens < 1);
  assert_near (saving->saved, 1 - tokens, 1e-9);
  assert_true (fab_study_compare (&before, &after, &band, NULL));
  assert_true (band.low_fraction < band.high_fraction);
  assert_near ((1 - saving->low) / (1 - saving->saved), (1 + band.high_fraction) / (1 + band.change.median),
               1e-9);
  assert_near ((1 - saving->high) / (1 - saving->saved), (1 + band.low_fraction) / (1 + band.change.median),
               1e-9);
  assert_int_equal (answer->cheapest, 1); /* one machine at one price an hour */
  assert_true (side->point->spending.usd_per_million_tokens > 0);
}

/* The cheapest need not be the fastest: eight nodes are not eight times as fast as one. */
static void
test_the_cheapest (G_GNUC_UNUSED void **state)
{
  static const char *const axes[] = { "cluster.nodes=8,1,4", "cluster.nodes=1,8,4" };
  g_autoptr (FabStudy) study = fab_study_new (FAB_SOURCE_DIR "/scenarios/hello.yaml", NULL, catalog,
                                              &fab_models, NULL);

  study->n_threads = 1;
  for (guint i = 0; i < G_N_ELEMENTS (axes); i++) {
    g_autoptr (GPtrArray) sides = sides_of (study, axes[i]);
    g_autoptr (FabOffersAnswer) answer = fab_offers_answer (sides, NULL);

    assert_int_equal (answer->fastest, i);
    assert_int_equal (answer->cheapest, 1 - i);
  }
}

static void
test_what_cannot_be_played (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of (sends);
  g_autoptr (GPtrArray) sides = sides_of (study, "cluster.nodes=2,0");
  g_autoptr (GError) error = NULL;

  assert_null (fab_offers_answer (sides, &error));
  assert_non_null (strstr (error->message, "nodes=0"));
}

/* Of those that are as fast, or as cheap, the first one. */
static void
test_the_first_of_equals (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *axis;
    guint fastest, second;
  } cases[] = {
    { "cluster.nic_rate=400Gb/s,200Gb/s,0.2Tb/s", 0, 1 },
    { "cluster.nic_rate=200Gb/s,400Gb/s,0.2Tb/s", 1, 0 },
    { "cluster.nic_rate=200Gb/s,400Gb/s,0.4Tb/s", 1, 2 },
    { "cluster.nic_rate=100Gb/s,200Gb/s,0.2Tb/s,400Gb/s", 3, 1 },
  };
  g_autoptr (FabStudy) study = study_of (sends),
                       hello = fab_study_new (FAB_SOURCE_DIR "/scenarios/hello.yaml", NULL, catalog,
                                              &fab_models, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) sides = sides_of (study, cases[i].axis);
    g_autoptr (FabOffersAnswer) answer = fab_offers_answer (sides, NULL);

    assert_int_equal (answer->fastest, cases[i].fastest);
    assert_int_equal (answer->second, cases[i].second);
    for (guint k = 0; k < sides->len; k++) {
      assert_non_null (fab_sides_at (sides, k)->band);
      assert_non_null (fab_sides_at (sides, k)->point->bottleneck);
    }
  }
  hello->n_threads = 1;
  g_autoptr (GPtrArray) same = sides_of (hello, "job.bucket=25MiB,26214400B");
  g_autoptr (FabOffersAnswer) answer = fab_offers_answer (same, NULL);
  assert_int_equal (answer->cheapest, 0);
}

/* A band that cannot be had is none: of the last play of all, that of the last side's difference from the first. */
static void
test_a_band_that_fails (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", sends, strlen (sends), NULL, failing_models (),
                                                         catalog, NULL);
  g_autoptr (FabStudy) study = fab_study_of ("t", scenario, catalog, failing_models ());
  guint n = 0;

  study->n_threads = 1;
  for (guint fails = 0; fails < 2; fails++) {
    g_autoptr (GPtrArray) sides = sides_of (study, "cluster.nic_rate=100Gb/s,200Gb/s");

    failing_at (fails ? n : 0, FAB_ERROR_BROKEN);
    g_autoptr (FabOffersAnswer) answer = fab_offers_answer (sides, NULL);
    n = failing.n_made;
    const FabOfferSaving *saving = &g_array_index (answer->savings, FabOfferSaving, 1);
    assert_near (saving->saved, 0.5, 5e-3);
    assert_int_equal (saving->low < saving->saved, !fails);
    assert_int_equal (saving->high > saving->saved, !fails);
    assert_true (answer->lead.low < answer->lead.saved);
  }
  failing_at (0, FAB_ERROR_BROKEN);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_first_of_equals),
    cmocka_unit_test (test_a_band_that_fails),
    cmocka_unit_test (test_the_fastest_and_the_second),
    cmocka_unit_test (test_nothing_is_decided_between_equals),
    cmocka_unit_test (test_offers_are_held_against_each_other_by_tokens),
    cmocka_unit_test (test_the_cheapest),
    cmocka_unit_test (test_what_cannot_be_played),
  };

  return play_run_tests ("offers", tests, &catalog);
}
