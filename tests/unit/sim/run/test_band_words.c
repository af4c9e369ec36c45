/* SPDX-License-Identifier: Apache-2.0 */
/* test_band_words.c - which cell of the catalogue a planned collective has, what seeds add to a band, and how a band is
 * told. What is played at its ends: test_band.c.
 */
#include "tests/support/test.h"

#include <math.h>

#include "sim/run/band.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* --- cells --- */

#define OWN_BANDS                                                                                      \
  "name: t\niterations: 1\ncluster: {node: dgx-a100}\n"                                                \
  "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"                               \
  "bands: [{name: any, library: nccl, coverage: 90%, cells: [\n"                                       \
  "    {place: between, operations: rings, up_to: 1MB, low: 0.9, high: 1.1},\n"                        \
  "    {place: between, operations: rings, low: 0.8, high: 1.2},\n"                                    \
  "    {place: between, operations: pairs, low: 0.85, high: 1.3}],\n"                                  \
  "  untuned: [{operations: rings, up_to: 1MB, tables: 2, of: 5, low: 1.5, high: 3},\n"                \
  "    {operations: rings, tables: 1, of: 4, low: 2, high: 2}]},\n"                                    \
  "  {name: unmeasured, library: nccl, coverage: 90%, cells: [\n"                                      \
  "    {place: between, operations: rings, low: 0.7, high: 1.4}]},\n"                                  \
  "  {name: unknown, coverage: 80%, cells: [{place: between, operations: rings, low: 0.5, high: 2},\n" \
  "    {place: inside, operations: rings, low: 0.4, high: 3}]},\n"                                     \
  "  {name: pigeon-400, library: nccl, coverage: 95%, cells: [{place: between, operations: rings,\n"   \
  "    up_to: 1MB, low: 0.95, high: 1.05, tables: 30, families: 9, publications: 8, machines: 2,\n"    \
  "    spread: 1.5}]}, {name: aardvark-400, library: nccl, coverage: 95%, cells: []}]\n"

/* A family has its own cell below 1 MB. Where it has none, that of any family stands for it, if its links were fitted
 * to tables; else that of families which nobody measured, if another one is of its technology; else the unknown. */
static void
a_collective_has_the_nearest_cell (G_GNUC_UNUSED void **state)
{
  enum { MB = 1000000 };
  static const struct {
    FabPlanKind kind;
    FabBytes bytes;
    const char *entry; /* NULL: there is no cell */
    double low_factor;
  } rows[] = {
    { { "pigeon-400", "nccl", FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, FAB_EVIDENCE_TABLES, FALSE },
      MB - 1,
      "pigeon-400",
      0.95 },
    { { "pigeon-400", "nccl", FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, FAB_EVIDENCE_ONE_TABLE, FALSE },
      MB - 1,
      "pigeon-400",
      0.95 },
    { { "pigeon-400", "nccl", FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, FAB_EVIDENCE_TABLES, FALSE },
      MB,
      "any",
      0.8 },
    { { "pigeon-400", "nccl", FAB_PLAN_BETWEEN, FAB_PLAN_PAIRS, FAB_EVIDENCE_TABLES, FALSE },
      1,
      "any",
      0.85 },
    { { "pigeon-400", "nccl", FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, FAB_EVIDENCE_ONE_TABLE, FALSE },
      MB,
      "unmeasured",
      0.7 },
    { { "pigeon-400", "nccl", FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, FAB_EVIDENCE_ASSUMED, FALSE },
      MB,
      "unmeasured",
      0.7 },
    { { "pigeon-200", "nccl", FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, FAB_EVIDENCE_TABLES, FALSE },
      1,
      "unmeasured",
      0.7 },
    { { "pigeon", "nccl", FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, FAB_EVIDENCE_TABLES, FALSE },
      1,
      "unmeasured",
      0.7 },
    { { "aardvark-200", "nccl", FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, FAB_EVIDENCE_TABLES, FALSE },
      1,
      "unmeasured",
      0.7 },
    { { "pig-400", "nccl", FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, FAB_EVIDENCE_TABLES, FALSE },
      1,
      "unknown",
      0.5 },
    { { "dove-400", "nccl", FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, FAB_EVIDENCE_TABLES, FALSE },
      1,
      "unknown",
      0.5 },
    { { "pigeon-400", "mpi", FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, FAB_EVIDENCE_TABLES, FALSE },
      1,
      "unknown",
      0.5 },
    { { "dove-400", "nccl", FAB_PLAN_INSIDE, FAB_PLAN_RINGS, FAB_EVIDENCE_TABLES, FALSE },
      1,
      "unknown",
      0.4 },
    { { "pigeon-400", "nccl", FAB_PLAN_INSIDE, FAB_PLAN_RINGS, FAB_EVIDENCE_TABLES, FALSE }, 1, NULL, 1 },
  };
  g_autoptr (Play) play = play_new (catalog, OWN_BANDS, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabCollectivePlan plan = { .bytes = rows[i].bytes };
    FabPlanBand band = fab_plan_band (play->scenario, &plan, &rows[i].kind);

    assert_near (band.low_factor, rows[i].low_factor, 1e-12);
    assert_int_equal (g_strcmp0 (band.entry, rows[i].entry), 0);
    if (rows[i].entry == NULL) {
      assert_near (band.coverage_fraction, 0, 0);
      assert_near (band.high_factor, 1, 0);
    }
  }
}

/* All that a cell says; and what is known of networks between nodes that were not well, of the library alone. */
static void
a_cell_says_what_it_rests_on (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *library;
    FabPlanPlace place;
    FabPlanOperations operations;
    FabBytes bytes;
    guint n_untuned;
  } rows[] = {
    { "nccl", FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, 999999, 2 },
    { "nccl", FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, 1000000, 1 },
    { "nccl", FAB_PLAN_BETWEEN, FAB_PLAN_PAIRS, 1, 0 },
    { "mpi", FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, 1, 0 },
    { "mpi", FAB_PLAN_INSIDE, FAB_PLAN_RINGS, 1, 0 },
  };
  g_autoptr (Play) play = play_new (catalog, OWN_BANDS, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabCollectivePlan plan = { .bytes = rows[i].bytes };
    const FabPlanKind kind = { "pigeon-400",       rows[i].library,     rows[i].place,
                               rows[i].operations, FAB_EVIDENCE_TABLES, FALSE };
    FabPlanBand band = fab_plan_band (play->scenario, &plan, &kind);
    assert_int_equal (band.untuned.n_tables, rows[i].n_untuned);
    if (rows[i].n_untuned == 2) {
      assert_int_equal (band.untuned.n_of, 5);
      assert_near (band.untuned.low_factor, 1.5, 0);
      assert_near (band.untuned.high_factor, 3, 0);
      assert_near (band.high_factor, 1.05, 0);
      assert_near (band.coverage_fraction, 0.95, 0);
      assert_int_equal (band.n_tables, 30);
      assert_int_equal (band.n_families, 9);
      assert_int_equal (band.n_publications, 8);
      assert_int_equal (band.n_machines, 2);
      assert_near (band.spread_factor, 1.5, 0);
    }
  }
}

/* --- seeds --- */

/* Seeds alone make a band of their own, of the values that they differ in. */
static void
seeds_make_a_band (G_GNUC_UNUSED void **state)
{
  const double values[] = { 10, 20, 30 }, low[] = { 9, 20, 31 }, high[] = { 12, 20, 34 };
  FabBand *band = NULL;

  fab_band_add_draws (&band, values, values, values, 3, 5);
  assert_null (band);
  fab_band_add_draws (&band, values, low, high, 3, 5);
  g_autofree char *about = fab_band_about (band, 0), *most = fab_band_most (band, 0);
  assert_near (band->low[0], 9, 1e-12);
  assert_near (band->high[0], 12, 1e-12);
  assert_near (band->low[1], 20, 0);
  assert_near (band->high[1], 20, 0);
  assert_near (band->low[2], 30, 0); /* all other seeds took longer */
  assert_near (band->high[2], 34, 1e-12);
  assert_near (band->coverage_fraction, 0.9, 0);
  assert_int_equal (band->n_draws, 5);
  assert_int_equal (band->n, 3);
  assert_string_equal (about, "5 seeds alone");
  assert_string_equal (most, "the seed (5 seeds)");
  fab_band_free (band);
}

/* To a band of 7 to 14 around 10 they add in quadrature: a fall of 3 and 4 is one of 5. What adds more than there was
 * changes the value most, and no value falls below 0. */
static void
seeds_widen_a_band (G_GNUC_UNUSED void **state)
{
  const double values[] = { 10, 10, 3 }, low[] = { 7, 7, 0 }, high[] = { 14, 14, 3 },
               more_low[] = { 6, 5.9, 0 }, more_high[] = { 13, 13, 3 };
  FabBand *band = NULL;

  fab_band_add_draws (&band, values, low, high, 3, 5);
  fab_band_add_draws (&band, values, more_low, more_high, 3, 8);
  assert_int_equal (band->unsure->len, 2);
  assert_near (band->low[0], 10 - 5, 1e-12);
  assert_near (band->high[0], 10 + 5, 1e-12);
  assert_int_equal (band->most[0], 0); /* 7 and 7 */
  assert_int_equal (band->most[1], 1);
  assert_near (band->low[2], 0, 0);
  assert_int_equal (band->n_draws, 8);
  fab_band_free (band);
}

/* --- words --- */

static void
assert_text (char *text, const char *expected)
{
  if (g_strcmp0 (text, expected) != 0)
    fail_msg ("'%s' is not '%s'", text, expected);
  g_free (text);
}

static void
networks_that_were_not_well_are_told (G_GNUC_UNUSED void **state)
{
  assert_text (fab_untuned_words (&(FabUntuned){ 0, 5, 2, 3 }), NULL);
  assert_text (fab_untuned_words (&(FabUntuned){ 1, 5, 1.04, 1.04 }), NULL);
  assert_text (fab_untuned_words (&(FabUntuned){ 1, 5, 1.05, 1.05 }),
               "1 of 5 published networks took 1.1 times as long as predicted");
  assert_text (fab_untuned_words (&(FabUntuned){ 2, 13, 0.8, 11 }),
               "2 of 13 published networks took 1 to 11 times as long as predicted");
  assert_text (fab_untuned_words (&(FabUntuned){ 4, 13, 1.4, 11 }),
               "4 of 13 published networks took 1.4 to 11 times as long as predicted");
}

static void
publications_are_told (G_GNUC_UNUSED void **state)
{
  FabPlanBand band = { .n_publications = 12, .spread_factor = 1.4, .n_tables = 9, .entry = "x-1" };

  assert_text (fab_publications_words (&band), NULL);
  band.n_machines = 1;
  assert_text (
      fab_publications_words (&band),
      "1 kind of these machines was measured by several of 12 publications, which differ by up to 1.4 "
      "times on the same kind");
  band.n_machines = 5;
  assert_text (
      fab_publications_words (&band),
      "5 kinds of these machines were measured by several of 12 publications, which differ by up to 1.4 "
      "times on the same kind");
  assert_text (fab_plan_band_basis (&band), "9 published measurements of 0 kinds");
  band.n_families = 1;
  assert_text (fab_plan_band_basis (&band), "9 published measurements of x-1");
  band.n_tables = 1;
  assert_text (fab_plan_band_basis (&band), "1 published measurement of x-1");
}

/* A band of one thing that is uncertain, and of two. */
static void
what_changes_most_is_told (G_GNUC_UNUSED void **state)
{
  const double value = 10, low = 9, high = 12;
  FabBand *band = NULL;

  fab_band_add_draws (&band, &value, &low, &high, 1, 5);
  FabUnsure *one = &g_array_index (band->unsure, FabUnsure, 0);
  one->kind = FAB_UNSURE_COLLECTIVES;
  band->collectives = (FabPlanBand){ .n_tables = 40, .n_families = 11 };
  assert_text (fab_band_most (band, 0), "collectives (40 published measurements of 11 kinds)");
  assert_text (fab_band_about (band, 0),
               "90 %, by collectives alone (40 published measurements of 11 kinds)");
  one->kind = FAB_UNSURE_COMPUTE;
  assert_text (fab_band_about (band, 0), "90 %, by compute alone (no similar run)");
  band->compute = (FabComputeBand){ .n_rows = 1, .n_sources = 1 };
  assert_text (fab_band_most (band, 0), "compute (1 published run of one source)");
  band->compute = (FabComputeBand){ .n_rows = 46, .n_sources = 5 };
  assert_text (fab_band_most (band, 0), "compute (46 published runs of 5 sources)");
  *one = (FabUnsure){ g_strdup ("lab"), FAB_UNSURE_MESSAGES, 0.015 };
  assert_text (fab_band_about (band, 0), "90 %, most by messages of lab (1.5 %)");
  fab_band_add_draws (&band, &value, &low, &high, 1, 6);
  assert_text (fab_band_about (band, 0), "90 %, most by messages of lab (1.5 %)");
  fab_band_free (band);
}

/* What is not known has no key. */
static void
a_band_is_told_to_programs (G_GNUC_UNUSED void **state)
{
  const double value = 10, low = 9, high = 12;
  FabBand *band = NULL;

  fab_band_add_draws (&band, &value, &low, &high, 1, 5);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (FabJson) json = fab_json_new (FAB_JSON_COMPACT);

    fab_json_begin_object (json, NULL);
    fab_band_add_json (band, json);
    fab_json_end (json);
    assert_text (fab_json_finish (json),
                 i == 0
                     ? "{\"band\":{\"coverage_fraction\":0.9,\"seeds\":5}}\n"
                     : "{\"band\":{\"coverage_fraction\":0.9,\"ends_fidelity\":\"fluid\",\"family\":\"x\","
                       "\"tables\":4,\"families\":3,\"untuned\":{\"tables\":2,\"of\":5,\"low_factor\":1.5,"
                       "\"high_factor\":3},\"compute\":{\"setup\":\"y\",\"low_factor\":0.5,\"high_factor\":2,"
                       "\"runs\":6,\"groups\":7,\"sources\":8}}}\n");
    band->n_draws = 0;
    band->fidelity = "fluid";
    band->collectives = (FabPlanBand){
      .coverage_fraction = 0.9, .entry = "x", .n_tables = 4, .n_families = 3, .untuned = { 2, 5, 1.5, 3 }
    };
    if (i == 0)
      band->compute = (FabComputeBand){ 0.9, 0.5, 2, 6, 7, 8, g_strdup ("y") };
  }
  fab_band_free (band);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_collective_has_the_nearest_cell),
    cmocka_unit_test (a_cell_says_what_it_rests_on),
    cmocka_unit_test (seeds_make_a_band),
    cmocka_unit_test (seeds_widen_a_band),
    cmocka_unit_test (networks_that_were_not_well_are_told),
    cmocka_unit_test (publications_are_told),
    cmocka_unit_test (what_changes_most_is_told),
    cmocka_unit_test (a_band_is_told_to_programs),
  };

  return play_run_tests ("band_words", tests, &catalog);
}
