/* SPDX-License-Identifier: Apache-2.0 */
/* test_band.c - bands by hand: a ring of 4 hosts that sends 1 MB, 6 messages of 0.25 MB, at 10 bytes per us. */
#include "tests/support/test.h"

#include <math.h>

#include "sim/base/error.h"
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

/* A play of the scenario, which fails the n-th time. */
typedef struct {
  const FabCatalog *catalog;
  const char *yaml;
  guint n_plays, fails_at;
  int code; /* FabErrorCode */
} Failing;

static gboolean
play_or_fail (gpointer owner, const FabWhatIf *what_if, double *value_us, GError **error)
{
  Failing *self = owner;

  if (++self->n_plays == self->fails_at) {
    g_set_error (error, FAB_ERROR, self->code, "no");
    return FALSE;
  }
  g_autoptr (Play) play = play_new (self->catalog, self->yaml, what_if);
  fab_simulation_step (play->simulation);
  *value_us = fab_ps_to_seconds (fab_simulation_probe (play->simulation)->step.times.duration_ps) * 1e6;
  return TRUE;
}

/* A link is played at both ends. Collectives are too, and what may compute, which nothing does here; of a GPU alone
 * compute is played at both ends, and what may be collectives. Whoever fails fails the band, unless collectives or
 * compute hung where they took longer or shorter: then nothing is said of both, or of what comes after. */
static void
a_play_that_fails_fails_the_band (void **state)
{
  static const struct {
    const char *yaml;
    guint n_plays;
    guint n_of_links;
    guint n_kept; /* of those after them: plays that make a band by themselves, if the next one hangs */
  } rows[] = {
    { RING "links: [" LAB ", uncertainty: {rate: 10%}}]", 4, 2, 0 },
    { RING BANDS "links: [" LAB "}]", 3, 0, 2 },
    { ONE_GPU EFFICIENCIES, 3, 0, 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint at = 1; at <= rows[i].n_plays + 1; at++)
      for (guint hangs = 0; hangs < 2; hangs++) {
        Failing failing = { *state, rows[i].yaml, 0, at, hangs ? FAB_ERROR_HUNG : FAB_ERROR_INPUT };
        g_autoptr (Play) play = play_new (*state, rows[i].yaml, NULL);
        g_autoptr (FabBand) band = NULL;
        g_autoptr (GError) error = NULL;
        double value_us = 1;
        gboolean is_expected = at > rows[i].n_plays || (hangs && at > rows[i].n_of_links);
        gboolean is_found = fab_band_find (play->scenario, fab_simulation_cluster (play->simulation)->graph,
                                           &value_us, 1, play_or_fail, &failing, &band, &error);

        assert_int_equal (is_found, is_expected);
        assert_int_equal (failing.n_plays, MIN (at, rows[i].n_plays));
        assert_int_equal (error == NULL, is_expected);
        if (is_found)
          assert_int_equal (band != NULL, rows[i].n_of_links > 0 || at > rows[i].n_kept);
        else
          assert_null (band);
      }
}

/* --- several entries --- */

/* Inside of nodes many collectives are known by one entry, and a few between them by another one. That by which most is
 * uncertain is told: the sum of the times of its collectives, times the width of its band. */
static void
the_entry_by_which_most_is_uncertain_is_told (void **state)
{
  static const double widths[] = { 0.02, 0.1, 0.5, 1, 2, 8 };
  static const char *const entries[] = { "infiniband-400", "nvlink-hopper-reducing-switch" };
  guint n_told[G_N_ELEMENTS (entries)] = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (widths); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: 2}\n"
        "job: {kind: megatron, model: gpt2-xl, sequence: 1024, compute: {kind: mfu}, parallel: {tensor: 8}}\n"
        "bands: [{name: infiniband-400, library: nccl, coverage: 90%%, cells: [{place: between, operations: rings, "
        "low: 0.9, high: 1.9}]}, {name: nvlink-hopper-reducing-switch, library: nccl, coverage: 90%%, cells: [{place: "
        "inside, operations: rings, "
        "low: 1, high: %g}]}]\n",
        1 + widths[i]);
    g_autoptr (Play) play = play_new (*state, yaml, NULL);
    const FabDag *dag = fab_simulation_dag (play->simulation);
    double weights[G_N_ELEMENTS (entries)] = { 0 };

    for (guint c = 0; c < dag->n_collectives; c++) {
      const FabCollectivePlan *plan = &dag->collectives[c].plan;
      FabPlanKind kind = fab_plan_kind (play->scenario, fab_simulation_cluster (play->simulation), plan);

      weights[kind.place == FAB_PLAN_INSIDE] += fab_ps_to_seconds (fab_collective_plan_idle_ps (plan))
                                              * (kind.place == FAB_PLAN_INSIDE ? widths[i] : 1);
    }
    guint expected = weights[1] > weights[0];
    Failing never = { *state, yaml, 0, 0, 0 };
    g_autoptr (FabBand) band = NULL;
    double value_us = 1;

    assert_true (fab_band_find (play->scenario, fab_simulation_cluster (play->simulation)->graph, &value_us,
                                1, play_or_fail, &never, &band, NULL));
    assert_string_equal (band->collectives.entry, entries[expected]);
    n_told[expected]++;
  }
  assert_true (n_told[0] > 0 && n_told[1] > 0);
}

/* --- numbers of links --- */

/* All numbers of all links of the catalogue that say how sure they are, but for those that a link does not have:
 * no latency, no endpoint, no messages. */
static void
numbers_that_links_have_are_listed (void **state)
{
  g_autoptr (Play) play = play_new (
      *state,
      RING
      "links: [" LAB ", uncertainty: {messages: 5%, endpoint: 7%, latency: 8%, rate: 6%}}, {name: bare, "
      "signalling: 80Mb/s, latency: 0us, source: s, date: \"2026-11-21\", uncertainty: {messages: 5%, endpoint: "
      "7%, latency: 8%}}, {name: also, signalling: 80Mb/s, latency: 1us, " MESSAGES
      ", source: s, date: \"2026-11-21\", uncertainty: {messages: 5%}}]",
      NULL);
  static const struct {
    const char *link;
    FabUnsureKind kind;
    double fraction;
  } expected[] = { { "also", FAB_UNSURE_MESSAGES, 0.05 },
                   { "lab", FAB_UNSURE_RATE, 0.06 },
                   { "lab", FAB_UNSURE_LATENCY, 0.08 },
                   { "lab", FAB_UNSURE_ENDPOINT, 0.07 } };
  g_autoptr (GArray) unsure = fab_unsure_links (play->scenario);
  guint n_found = 0;

  assert_int_equal (unsure->len, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    for (guint k = 0; k < unsure->len; k++) {
      const FabUnsure *one = &g_array_index (unsure, FabUnsure, k);

      n_found += strcmp (one->link, expected[i].link) == 0 && one->kind == expected[i].kind
              && is_near (one->fraction, expected[i].fraction, 1e-12);
    }
  assert_int_equal (n_found, G_N_ELEMENTS (expected));
}

/* The lower end is slower for a rate, and shorter for a time. Each changes one number and keeps the others. */
static void
ends_change_one_number (G_GNUC_UNUSED void **state)
{
  for (FabUnsureKind kind = 0; kind < FAB_UNSURE_COLLECTIVES; kind++)
    for (gint sign = -1; sign <= 1; sign += 2) {
      char link[] = "lab";
      const FabUnsure unsure = { link, kind, 0.25 };
      FabWhatIf what_if = fab_unsure_what_if (&unsure, sign);
      double change = 0.25 * sign;

      assert_string_equal (what_if.link_class, "lab");
      assert_true (what_if.keeps_messages);
      assert_near (what_if.rate_factor, kind == FAB_UNSURE_RATE ? 1 + change : 1, 1e-12);
      assert_near (what_if.latency_change, kind == FAB_UNSURE_LATENCY ? change : 0, 1e-12);
      assert_near (what_if.endpoint_change, kind == FAB_UNSURE_ENDPOINT ? change : 0, 1e-12);
      assert_near (what_if.messages_change, kind == FAB_UNSURE_MESSAGES ? change : 0, 1e-12);
    }
}

/* --- several values --- */

/* Three values, which a rate and an endpoint change by what the table says at their lower and upper ends. */
typedef struct {
  guint n_plays;
  double scale;
} Table;

static const double told[][3] = {
  { 10, 20, 30 }, { 13, 20, 30 }, { 9, 24, 26 }, { 10, 17, 33 }, { 14, 20, 30 }
};

static gboolean
tell (gpointer owner, const FabWhatIf *what_if, double *values, G_GNUC_UNUSED GError **error)
{
  Table *self = owner;
  guint row = what_if->link_class == NULL  ? 0
            : what_if->rate_factor < 1     ? 1
            : what_if->rate_factor > 1     ? 2
            : what_if->endpoint_change < 0 ? 3
                                           : 4;

  self->n_plays++;
  for (guint i = 0; i < 3; i++)
    values[i] = told[row][i] * self->scale;
  return TRUE;
}

/* The largest rise and the largest fall of each number, whichever end it is at, in quadrature; the number with the
 * largest change of a value is named. Links alone are played where nothing else is asked for. No bound is below 0. */
static void
values_have_bounds_of_their_own (void **state)
{
  const char *yaml = RING BANDS "links: [" LAB ", uncertainty: {rate: 10%, endpoint: 20%}}]";
  g_autoptr (Play) play = play_new (*state, yaml, NULL);
  const FabGraph *graph = fab_simulation_cluster (play->simulation)->graph;
  const double high[] = { 10 + 5, 20 + 4, 30 + 3 }, low[] = { 10 - 1, 20 - 3, 30 - 4 };
  static const guint most[] = { 1, 0, 0 };

  for (guint scale = 1; scale <= 2; scale++) {
    Table table = { 0, scale };
    g_autoptr (FabBand) band = NULL;
    double values[3];

    for (guint i = 0; i < 3; i++)
      values[i] = told[0][i] * scale;
    assert_true (fab_band_of_links (play->scenario, graph, values, 3, tell, &table, &band, NULL));
    assert_int_equal (table.n_plays, 4);
    assert_int_equal (band->n, 3);
    assert_int_equal (band->unsure->len, 2);
    assert_near (band->coverage_fraction, 0.95, 0);
    for (guint i = 0; i < 3; i++) {
      assert_near (band->high[i], high[i] * scale, 1e-12);
      assert_near (band->low[i], low[i] * scale, 1e-12);
      assert_int_equal (band->most[i], most[i]);
    }
  }
  Table table = { 0, 1 };
  g_autoptr (FabBand) band = NULL;
  const double little[] = { 0.5, 20, 30 }; /* the first is 8.5 to 13.5 less than what is told of it */
  assert_true (fab_band_of_links (play->scenario, graph, little, 3, tell, &table, &band, NULL));
  assert_near (band->low[0], 0.5, 1e-12);
  assert_near (band->high[0], 0.5 + hypot (12.5, 13.5), 1e-12);
  const double much[] = { 50, 20, 30 };
  g_autoptr (FabBand) below = NULL;
  assert_true (fab_band_of_links (play->scenario, graph, much, 3, tell, &table, &below, NULL));
  assert_near (below->low[0], 0, 0); /* 50 - hypot (41, 40) */
  assert_near (below->high[0], 50, 1e-12);
}

/* --- seeds --- */

/* Seeds widen a band in quadrature, and are named where they change a value by more than the band was wide. Where all
 * seeds have the same values nothing is added; where nothing else is uncertain the seeds are the band. */
static void
seeds_widen_a_band (void **state)
{
  const char *yaml = RING "links: [" LAB ", uncertainty: {rate: 10%, endpoint: 20%}}]";
  g_autoptr (Play) play = play_new (*state, yaml, NULL);
  const double values[] = { 10, 20, 30 }, low[] = { 10, 16, 4 }, high[] = { 22, 21, 31 };
  Table table = { 0, 1 };
  g_autoptr (FabBand) band = NULL, alone = NULL, none = NULL;

  assert_true (fab_band_of_links (play->scenario, fab_simulation_cluster (play->simulation)->graph, values, 3,
                                  tell, &table, &band, NULL));
  fab_band_add_draws (&band, values, values, values, 3, 9);
  assert_int_equal (band->unsure->len, 2);
  assert_int_equal (band->n_draws, 0);
  fab_band_add_draws (&band, values, low, high, 3, 9);
  assert_int_equal (band->n_draws, 9);
  assert_int_equal (band->unsure->len, 3);
  assert_near (band->high[0], 10 + 13, 1e-12); /* 5 and 12 */
  assert_near (band->low[0], 10 - 1, 1e-12);
  assert_near (band->high[1], 20 + hypot (4, 1), 1e-12);
  assert_near (band->low[1], 20 - 5, 1e-12); /* 3 and 4 */
  assert_near (band->high[2], 30 + hypot (3, 1), 1e-12);
  assert_near (band->low[2], 30 - hypot (4, 26), 1e-12);
  assert_int_equal (band->most[0], 2);
  assert_int_equal (band->most[1], 0); /* 5 of the seeds are less than the 7 of the rate and the endpoint */
  assert_int_equal (band->most[2], 2);
  assert_near (band->coverage_fraction, 0.95, 0);

  fab_band_add_draws (&none, values, values, values, 3, 9);
  assert_null (none);
  fab_band_add_draws (&alone, values, low, high, 3, 5);
  assert_int_equal (alone->n, 3);
  assert_near (alone->coverage_fraction, 0.9, 0);
  for (guint i = 0; i < 3; i++) {
    assert_near (alone->low[i], low[i], 1e-12);
    assert_near (alone->high[i], high[i], 1e-12);
    assert_int_equal (alone->most[i], 0);
  }
  g_autofree char *about = fab_band_about (alone, 1), *most = fab_band_most (band, 0);
  assert_string_equal (about, "5 seeds alone");
  assert_string_equal (most, "the seed (9 seeds)");
  fab_band_free (NULL);
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
    cmocka_unit_test (numbers_that_links_have_are_listed),
    cmocka_unit_test (ends_change_one_number),
    cmocka_unit_test (values_have_bounds_of_their_own),
    cmocka_unit_test (seeds_widen_a_band),
    cmocka_unit_test (the_entry_by_which_most_is_uncertain_is_told),
    cmocka_unit_test (a_play_that_fails_fails_the_band),
  };

  return cmocka_run_group_tests_name ("band", tests, load_catalog, drop_catalog);
}
