/* SPDX-License-Identifier: Apache-2.0 */
/* prop_band.c - a band holds what is predicted; without uncertain links it is that of measured collectives; more
 * uncertainty, no narrower a band.
 */
#include "tests/support/test.h"

#include "tests/support/band.h"
#include "tests/support/play.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog;

/* Percent of rate, latency, endpoint and messages. */
typedef struct {
  double rate, latency, endpoint, messages;
} Percents;

static char *
write_yaml (Random *random)
{
  const char *const algorithms[] = { "ring", "binomial", "halving_doubling" };
  guint n_nodes = 2 + random_below (random, 7), bytes = 1 + random_below (random, 10000000);
  const char *algorithm = algorithms[random_below (random, G_N_ELEMENTS (algorithms))];
  const char *messages = random_below (random, 2) == 0
                           ? "messages: [{up_to: 64KiB, overhead: 20us, rate: 900MB/s}, "
                             "{overhead: 30us, rate: 1.1GB/s}, {way: both, overhead: 40us, rate: 1GB/s}],"
                           : "";

  return g_strdup_printf (
      "name: t\ncluster: {node: host, nodes: %u, nic: lab}\ncollectives: {kind: mpi, algorithm: %s}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: %uB}]}\n"
      "links: [{name: lab, signalling: 10Gb/s, latency: 2us, endpoint: 9us, source: s, date: \"2026-11-21\", %s "
      "uncertainty: ",
      n_nodes, algorithm, bytes, messages);
}

static PlayedBand
play_with (const char *yaml, const Percents *p, double factor)
{
  g_autofree char *whole = g_strdup_printf (
      "%s{rate: %.6f%%, latency: %.6f%%, endpoint: %.6f%%, messages: %.6f%%}}]", yaml, p->rate * factor,
      p->latency * factor, p->endpoint * factor, p->messages * factor);

  return played_band (catalog, whole);
}

static void
check_band (Random *random)
{
  const double rounding = 1e-9;
  g_autofree char *yaml = write_yaml (random);
  Percents p = { .rate = 40 * random_unit (random) };

  p.latency = 40 * random_unit (random);
  p.endpoint = 40 * random_unit (random);
  p.messages = 40 * random_unit (random);
  PlayedBand none = play_with (yaml, &p, 0), some = play_with (yaml, &p, 1), more = play_with (yaml, &p, 2);

  assert_true (none.band->collectives.coverage_fraction > 0);
  assert_true (some.band->collectives.coverage_fraction <= 0);
  assert_true (none.band->low[0] <= none.value_us && none.value_us <= none.band->high[0]);
  assert_near (some.value_us, none.value_us, 1e-12);
  assert_true (some.band->low[0] <= some.value_us && some.value_us <= some.band->high[0]);
  assert_true (some.band->high[0] > some.band->low[0]);
  assert_true (more.band->low[0] <= some.band->low[0] * (1 + rounding));
  assert_true (more.band->high[0] >= some.band->high[0] * (1 - rounding));
  fab_band_free (none.band);
  fab_band_free (some.band);
  fab_band_free (more.band);
}

static void
bands_hold_what_is_predicted (G_GNUC_UNUSED void **state)
{
  seeds_run (200, check_band);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { seeds_test (bands_hold_what_is_predicted) };
  int n_failed;

  catalog = play_catalog ();
  n_failed = cmocka_run_group_tests_name ("band", tests, NULL, NULL);
  fab_catalog_free (catalog);
  return n_failed;
}
