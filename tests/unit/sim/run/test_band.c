/* SPDX-License-Identifier: Apache-2.0 */
/* test_band.c - bands by hand: a ring of 4 hosts that sends 1 MB, 6 messages of 0.25 MB, at 10 bytes per us. */
#include "tests/support/test.h"

#include <math.h>

#include "tests/support/band.h"
#include "tests/support/play.h"

#define RING                                                                                                       \
  "name: t\niterations: 1\ncluster: {node: host, nodes: 4, nic: lab}\ncollectives: {kind: mpi, algorithm: ring}\n" \
  "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
#define LAB "{name: lab, signalling: 80Mb/s, latency: 5us, endpoint: 7us, source: s, date: \"2026-11-21\""
#define MESSAGES "messages: [{overhead: 100us, rate: 8MB/s}]"

static int
load_catalog (void **state)
{
  *state = play_catalog ();
  return 0;
}

static int
drop_catalog (void **state)
{
  fab_catalog_free (*state);
  return 0;
}

/* 6 x (7 + 2 x 5 + 25000) us. One number: its ends, which the rate has on both sides of its middle. */
static void
one_number (void **state)
{
  PlayedBand rate = played_band (*state, RING "links: [" LAB ", uncertainty: {rate: 10%}}]");
  PlayedBand endpoint = played_band (*state, RING "links: [" LAB ", uncertainty: {endpoint: 20%}}]");
  PlayedBand latency = played_band (*state, RING "links: [" LAB ", uncertainty: {latency: 50%}}]");

  assert_near (rate.value_us, 6 * 25017, 1e-9);
  assert_near (rate.band->high[0], 6 * (17 + 25000 / 0.9), 1e-6);
  assert_near (rate.band->low[0], 6 * (17 + 25000 / 1.1), 1e-6);
  assert_near (endpoint.band->high[0], 6 * (25017 + 1.4), 1e-6);
  assert_near (latency.band->low[0], 6 * (25017 - 5.0), 1e-6);
  fab_band_free (rate.band);
  fab_band_free (endpoint.band);
  fab_band_free (latency.band);
}

/* In quadrature: 6 x sqrt (1.4^2 + 5^2); the latency has the larger part. */
static void
two_numbers (void **state)
{
  PlayedBand both = played_band (*state,
                                 RING "links: [" LAB ", uncertainty: {endpoint: 20%, latency: 50%}}]");
  g_autofree char *most = fab_band_most (both.band, 0);

  assert_near (both.band->high[0] - both.value_us, 6 * sqrt (1.4 * 1.4 + 25), 1e-6);
  assert_near (both.value_us - both.band->low[0], 6 * sqrt (1.4 * 1.4 + 25), 1e-6);
  assert_string_equal (most, "latency of lab (50 %)");
  fab_band_free (both.band);
}

/* 6 x (100 + 31250) us, 2 % of it; the rate of the link and what was measured are apart. */
static void
measured_messages (void **state)
{
  PlayedBand messages = played_band (*state, RING "links: [" LAB ", " MESSAGES
                                                  ", uncertainty: {rate: 10%, messages: 2%}}]");
  g_autofree char *most = fab_band_most (messages.band, 0);

  assert_near (messages.value_us, 6 * 31350, 1e-9);
  assert_near (messages.band->high[0], 1.02 * 6 * 31350, 1e-6);
  assert_near (messages.band->low[0], 0.98 * 6 * 31350, 1e-6);
  assert_string_equal (most, "messages of lab (2 %)");
  fab_band_free (messages.band);
}

/* 6 x (100 + 25252.5) us, 2 % of it; the wires alone take 6 x (10 + 25000). */
static void
no_faster_than_the_wire (void **state)
{
  PlayedBand messages = played_band (
      *state,
      RING "links: [" LAB ", messages: [{overhead: 100us, rate: 9900kB/s}], uncertainty: {messages: 2%}}]");

  assert_near (messages.value_us, 6 * (100 + 250000 / 9.9), 1e-9);
  assert_near (messages.band->high[0], 1.02 * messages.value_us, 1e-6);
  assert_near (messages.band->low[0], 6 * 25010, 1e-6);
  fab_band_free (messages.band);
}

#define BANDS                                                                                                 \
  "bands: [{name: unknown, coverage: 80%, cells: [{place: between, operations: rings, up_to: 1MB, low: 0.9, " \
  "high: 1.1, tables: 30, families: 9}, {place: between, operations: rings, low: 0.5, high: 3, tables: 7, "   \
  "families: 2}, {place: inside, operations: rings, low: 0.1, high: 9}]}]\n"

/* No link says how sure its numbers are; or what it says is of a number that it does not have; or it is not part of the
 * machine. Then the collective takes from a half to three times 6 x (7 + 2 x 5 + 25000) us, as such collectives did:
 * of a library of which no table is, from 1 MB on, between nodes. */
static void
collectives_as_measured (void **state)
{
  const char *const links[] = {
    "links: [" LAB "}]",
    "links: [" LAB ", uncertainty: {messages: 5%}}]",
    "links: [" LAB "}, {name: other, signalling: 8Gb/s, latency: 1us, uncertainty: {latency: 5%}, source: s, "
    "date: \"2026-11-21\"}]",
  };

  for (guint i = 0; i < G_N_ELEMENTS (links); i++) {
    g_autofree char *yaml = g_strconcat (RING, BANDS, links[i], NULL);
    PlayedBand played = played_band (*state, yaml);
    g_autofree char *about = fab_band_about (played.band, 0);

    assert_near (played.band->low[0], 0.5 * 6 * 25017, 1e-3);
    assert_near (played.band->high[0], 3.0 * 6 * 25017, 1e-3);
    assert_string_equal (about, "80 %, by collectives alone (7 published measurements of 2 kinds)");
    fab_band_free (played.band);
  }
}

/* Where one entry knows collectives of several sizes, what is said of it is said of the one that takes longest, in
 * whichever order they are. */
static void
the_longest_collective_speaks_for_its_entry (void **state)
{
  const char *const sizes[][3] = { { "100kB", "10MB", "900kB" },
                                   { "900kB", "100kB", "10MB" },
                                   { "10MB", "900kB", "900kB" },
                                   { "900kB", "100kB", "900kB" } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree char *head = g_strdup_printf (
        "name: t\niterations: 1\ncluster: {node: host, nodes: 4, nic: lab}\n"
        "collectives: {kind: mpi, algorithm: ring}\njob: {kind: collective, operations: [{op: all_reduce, size: %s},"
        " {op: all_reduce, size: %s}, {op: all_reduce, size: %s}]}\n",
        sizes[i][0], sizes[i][1], sizes[i][2]);
    g_autofree char *yaml = g_strconcat (head, BANDS "links: [" LAB "}]", NULL);
    PlayedBand played = played_band (*state, yaml);

    assert_int_equal (played.band->collectives.n_tables, i < 3 ? 7 : 30);
    fab_band_free (played.band);
  }
}

/* A link that says how sure it is replaces what is known of collectives, by 95 %. */
static void
calibrated_links_replace (void **state)
{
  PlayedBand played = played_band (*state, RING BANDS "links: [" LAB ", uncertainty: {endpoint: 20%}}]");

  assert_near (played.band->high[0], 6 * (25017 + 1.4), 1e-6);
  assert_near (played.band->coverage_fraction, 0.95, 0);
  assert_true (played.band->collectives.coverage_fraction <= 0);
  fab_band_free (played.band);
}

/* Nothing is said to be uncertain, and nothing is known of such collectives. */
static void
nothing_uncertain (void **state)
{
  const char *const links[] = {
    "links: [" LAB "}]",
    "links: [" LAB ", uncertainty: {messages: 5%}}]",
    "links: [" LAB "}, {name: other, signalling: 8Gb/s, latency: 1us, uncertainty: {latency: 5%}, source: s, "
    "date: \"2026-11-21\"}]",
  };

  for (guint i = 0; i < G_N_ELEMENTS (links); i++) {
    g_autofree char *yaml = g_strconcat (RING, "bands: [{name: unknown}]\n", links[i], NULL);

    assert_null (played_band (*state, yaml).band);
  }
}

/* A link twice as fast has messages whose bytes are, and whose overhead is not: 6 x (100 + 15625) us. */
static void
faster_messages (void **state)
{
  FabWhatIf what_if = { .link_class = "lab", .rate_factor = 2 };
  g_autoptr (Play) play = play_new (*state, RING "links: [" LAB ", " MESSAGES "}]", &what_if);

  fab_simulation_step (play->simulation);
  assert_near (fab_ps_to_seconds (fab_simulation_probe (play->simulation)->step.times.duration_ps) * 1e6,
               6 * 15725, 1e-6);
}

#define ONE_GPU                                                                     \
  "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n" \
  "job: {kind: ddp, model: gpt2-xl, sequence: 1024, compute: {kind: mfu}}\n"
#define EFFICIENCIES \
  "setups: [{name: anchored, stack: anchored, low: 0.8, high: 1.5, rows: 6, groups: 2, sources: 1}]\n"

/* One GPU only computes: its step is as far off as compute that a person fixed, from 0.8 to 1.5 times as long. */
static void
compute_as_measured (void **state)
{
  PlayedBand played = played_band (*state, ONE_GPU EFFICIENCIES);
  g_autofree char *about = fab_band_about (played.band, 0);

  assert_near (played.band->low[0], 0.8 * played.value_us, 1e-3);
  assert_near (played.band->high[0], 1.5 * played.value_us, 1e-3);
  assert_near (played.band->coverage_fraction, 0.9, 0);
  assert_string_equal (played.band->compute.entry, "anchored");
  assert_string_equal (about, "90 %, by compute alone (6 published runs of one source)");
  fab_band_free (played.band);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (one_number),
    cmocka_unit_test (two_numbers),
    cmocka_unit_test (measured_messages),
    cmocka_unit_test (nothing_uncertain),
    cmocka_unit_test (faster_messages),
    cmocka_unit_test (no_faster_than_the_wire),
    cmocka_unit_test (collectives_as_measured),
    cmocka_unit_test (the_longest_collective_speaks_for_its_entry),
    cmocka_unit_test (calibrated_links_replace),
    cmocka_unit_test (compute_as_measured),
  };

  return cmocka_run_group_tests_name ("band", tests, load_catalog, drop_catalog);
}
