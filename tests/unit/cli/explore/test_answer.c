/* SPDX-License-Identifier: Apache-2.0 */
/* test_answer.c - what `fabricast explore` answers: the figures of a setting, and how sure they are, against a
 * run of the scenario of that setting.
 */
#include "tests/support/test.h"

#include <json-glib/json-glib.h>

#include "answer/seeds.h"
#include "cli/explore/explored.h"
#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* A setting of an explored scenario, its scenario, and what a run of it gives. */
typedef struct {
  FabExplored *explored;
  FabKnobSetting setting;
  FabScenario *scenario;
  FabRunResult result;
} Fixture;

static void
begin (Fixture *self, const char *sets, const char *query)
{
  const FabRunRequest request = { .registry = &fab_models, .n_threads = 1, .has_no_verdict = TRUE };
  g_auto (GStrv) words = g_strsplit (sets, ";", 0);
  g_autofree char *client = NULL;

  *self = (Fixture){ 0 };
  self->explored = fab_explored_load (FAB_SOURCE_DIR "/scenarios/explore.yaml", words, catalog, NULL);
  assert_non_null (self->explored);
  assert_true (fab_knob_board_parse (self->explored->board, query, &self->setting, &client, NULL));
  self->scenario = fab_explored_scenario (self->explored, &self->setting, NULL);
  if (self->scenario == NULL)
    return;
  assert_true (fab_run_play (self->scenario, NULL, &request, &self->result, NULL));
  assert_true (fab_run_find_band (self->scenario, &request, &self->result, NULL));
  assert_true (fab_run_find_bottleneck (self->scenario, &request, &self->result, NULL));
}

static void
end (Fixture *self)
{
  fab_run_result_clear (&self->result);
  fab_scenario_free (self->scenario);
  fab_explored_free (self->explored);
}

static JsonObject *
parsed (const char *text, JsonNode **root)
{
  *root = json_from_string (text, NULL);
  assert_non_null (*root);
  return json_node_get_object (*root);
}

static void
assert_text (JsonObject *object, const char *key, const char *expected)
{
  if (expected == NULL)
    assert_true (json_object_get_null_member (object, key));
  else
    assert_string_equal (json_object_get_string_member (object, key), expected);
}

static void
assert_time (JsonObject *object, const char *key, FabTimePs expected)
{
  assert_near (json_object_get_double_member (object, key), (double) expected / 1e12, 1e-9);
}

/* The band has the last step and what it exposes; levers are those of the run, and one of them limits it. */
static void
assert_outlook (const Fixture *self, JsonObject *outlook)
{
  const FabRunResult *result = &self->result;
  const FabBottleneck *bottleneck = result->bottleneck;
  JsonArray *bounds = json_object_get_array_member (outlook, "band"),
            *levers = json_object_get_array_member (outlook, "levers");
  guint n = result->steps->len;

  assert_text (outlook, "problem", NULL);
  assert_int_equal (json_array_get_length (bounds), result->band != NULL ? 2 : 0);
  for (guint i = 0; i < json_array_get_length (bounds); i++) {
    JsonObject *bound = json_array_get_object_element (bounds, i);
    guint at = i == 0 ? n - 1 : 2 * n - 1;
    g_autofree char *reason = fab_band_most (result->band, at);

    assert_text (bound, "figure", i == 0 ? "step" : "exposed");
    assert_text (bound, "reason", reason);
    assert_near (json_object_get_double_member (bound, "low_s"), result->band->low[at], 1e-9);
    assert_near (json_object_get_double_member (bound, "high_s"), result->band->high[at], 1e-9);
    assert_near (json_object_get_double_member (bound, "coverage_fraction"), result->band->coverage_fraction,
                 1e-9);
  }
  assert_int_equal (json_array_get_length (levers), bottleneck->levers->len);
  for (guint i = 0; i < bottleneck->levers->len; i++) {
    JsonObject *told = json_array_get_object_element (levers, i);
    const FabLever *lever = fab_bottleneck_lever (bottleneck, i);

    assert_text (told, "kind", fab_lever_names[lever->kind]);
    assert_text (told, "name", lever->name);
    assert_text (told, "change", lever->change);
    assert_text (told, "fidelity", bottleneck->fidelity);
    assert_int_equal (json_object_get_boolean_member (told, "limits"), (gint) i == bottleneck->first);
    assert_near (json_object_get_double_member (told, "step_s"), lever->step_s, 1e-9);
    assert_near (json_object_get_double_member (told, "exposed_s"), lever->exposed_s, 1e-9);
    assert_near (json_object_get_double_member (told, "saved_fraction"), fab_lever_saved (lever), 1e-9);
    assert_near (json_object_get_double_member (told, "base_step_s"), bottleneck->base.step_s, 1e-9);
    assert_int_equal (json_object_get_int_member (told, "n_seeds"), bottleneck->n_draws);
  }
  assert_int_equal (json_array_get_length (json_object_get_array_member (outlook, "waits")),
                    fab_verdict_n (bottleneck->waits));
}

/* Two seeds or more have percentiles of the step and of what it exposes; one has none. */
static void
assert_seeds (const Fixture *self, JsonObject *outlook, guint n_seeds)
{
  static const struct {
    const char *key;
    guint time;
  } figures[] = { { "step", FAB_SEED_STEP }, { "exposed", FAB_SEED_EXPOSED } };
  FabSeedsRequest request = {
    .scenario = self->scenario, .n_seeds = n_seeds, .n_threads = 1, .run = { .registry = &fab_models }
  };

  assert_int_equal (json_object_has_member (outlook, "seeds"), n_seeds > 1);
  if (n_seeds < 2)
    return;
  g_autoptr (FabSeeds) seeds = fab_seeds_play (&request, NULL);
  JsonObject *told = json_object_get_object_member (outlook, "seeds");
  assert_int_equal (json_object_get_size (told), 3);
  assert_int_equal (json_object_get_int_member (told, "n"), n_seeds);
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++) {
    JsonObject *percentiles = json_object_get_object_member (told, figures[i].key);

    assert_int_equal (json_object_get_size (percentiles), FAB_N_PERCENTILES);
    for (guint k = 0; k < FAB_N_PERCENTILES; k++)
      assert_time (percentiles, fab_percentile_names[k], seeds->times[figures[i].time].percentiles_ps[k]);
  }
}

static void
test_outlooks (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *sets, *query;
    guint n_seeds;
  } cases[] = {
    { "", "gpus=16", 0 },
    { "job.jitter.cv=5%", "gpus=16&strategy=fsdp", 2 },
    { "", "gpus=8&model=gpt2", 1 },
    { "job.jitter.cv=5%;iterations=1", "gpus=16&model=gpt2", 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Fixture self;
    g_autoptr (JsonNode) root = NULL;

    begin (&self, cases[i].sets, cases[i].query);
    self.explored->n_seeds = cases[i].n_seeds;
    g_autofree char *text = fab_explored_outlook (self.explored, &self.setting);
    JsonObject *outlook = parsed (text, &root);
    assert_outlook (&self, outlook);
    assert_seeds (&self, outlook, cases[i].n_seeds);
    end (&self);
  }
}

/* The figures are those of the last step of a run. */
static void
test_figures (G_GNUC_UNUSED void **state)
{
  static const char *const queries[] = { "", "gpus=16&strategy=zero3", "gpus=8&model=gpt2&micro_batch=1" };

  for (guint i = 0; i < G_N_ELEMENTS (queries); i++) {
    Fixture self;
    g_autoptr (JsonNode) root = NULL;

    begin (&self, "", queries[i]);
    g_auto (FabAnswer) answer = fab_explored_answer (self.explored, &self.setting, FALSE);
    assert_null (answer.problem);
    assert_null (answer.report);
    JsonObject *told = parsed (answer.setting, &root),
               *figures = json_object_get_object_member (told, "figures");
    const FabStepRecord *step = fab_run_last_step (&self.result);
    const FabCluster *cluster = fab_simulation_cluster (self.result.simulation);
    const GArray *records = fab_simulation_probe (self.result.simulation)->collectives;
    g_autofree char *link = fab_run_link_name (&self.result, self.result.pace.binding_link);
    double bytes = 0;

    for (guint k = 0; k < records->len; k++)
      bytes += (double) g_array_index (records, FabCollectiveRecord, k).bytes;
    assert_text (told, "problem", NULL);
    assert_int_equal (json_object_get_int_member (figures, "gpus"), fab_cluster_n_ranks (cluster));
    assert_int_equal (json_object_get_int_member (figures, "nodes"), cluster->n_nodes);
    assert_time (figures, "step_s", step->times.duration_ps);
    assert_time (figures, "compute_s", step->times.compute_ps);
    assert_time (figures, "comm_s", step->times.comm_ps);
    assert_time (figures, "exposed_s", step->times.exposed_ps);
    assert_near (json_object_get_double_member (figures, "mfu_fraction"), step->mfu_fraction, 1e-9);
    assert_near (json_object_get_double_member (figures, "tokens_per_s"), step->tokens_per_s, 1e-9);
    assert_near (json_object_get_double_member (figures, "memory_bytes"),
                 (double) self.result.reasons.fullest_bytes, 1e-9);
    assert_near (json_object_get_double_member (figures, "memory_max_bytes"),
                 (double) cluster->device.memory_bytes, 1e-9);
    assert_int_equal (json_object_get_int_member (figures, "collectives"), records->len);
    assert_near (json_object_get_double_member (figures, "collective_bytes"), bytes, 1e-9);
    assert_near (json_object_get_double_member (figures, "startup_fraction"),
                 self.result.pace.startup_fraction, 1e-9);
    assert_text (figures, "binding_link", link);
    assert_text (figures, "binding_link_spec",
                 link != NULL ? fab_run_link_entry (&self.result, self.result.pace.binding_link) : NULL);
    end (&self);
  }
}

/* A setting that does not fit together says why, and has no figures and no outlook. */
static void
test_problems (G_GNUC_UNUSED void **state)
{
  Fixture self;
  g_autoptr (JsonNode) root = NULL, other = NULL;

  begin (&self, "", "node=p3dn"); /* which has one NIC, and the scenario asks for two */
  assert_null (self.scenario);
  g_autofree char *text = fab_explored_outlook (self.explored, &self.setting);
  JsonObject *outlook = parsed (text, &root);
  assert_int_equal (json_object_get_size (outlook), 1);
  assert_non_null (strstr (json_object_get_string_member (outlook, "problem"), "has 1 NIC, not 2"));
  g_auto (FabAnswer) answer = fab_explored_answer (self.explored, &self.setting, TRUE);
  JsonObject *told = parsed (answer.setting, &other);
  assert_non_null (strstr (answer.problem->message, "has 1 NIC, not 2"));
  assert_text (told, "problem", answer.problem->message);
  assert_false (json_object_has_member (told, "figures"));
  assert_null (answer.report);
  end (&self);
}

/* The data of a report stand before what is said of the setting, where a client has none yet. */
static void
test_reports (G_GNUC_UNUSED void **state)
{
  Fixture self;
  g_autoptr (JsonNode) root = NULL, other = NULL;

  begin (&self, "", "gpus=8&model=gpt2");
  g_auto (FabAnswer) answer = fab_explored_answer (self.explored, &self.setting, TRUE);
  assert_non_null (answer.report);
  g_autofree char *without = fab_answer_json (&answer, FALSE), *with = fab_answer_json (&answer, TRUE);
  assert_string_equal (without, answer.setting);
  JsonObject *all = parsed (with, &root), *setting = parsed (without, &other);
  assert_int_equal (json_object_get_size (all), json_object_get_size (setting) + 1);
  JsonObject *report = json_object_get_object_member (all, "report");
  JsonObject *run = json_array_get_object_element (json_object_get_array_member (report, "runs"), 0);
  JsonArray *steps = json_object_get_array_member (run, "iterations");
  JsonObject *last = json_array_get_object_element (steps, json_array_get_length (steps) - 1);
  assert_near (json_object_get_double_member (last, "step_s"),
               json_object_get_double_member (json_object_get_object_member (all, "figures"), "step_s"),
               1e-6);
  end (&self);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_outlooks),
    cmocka_unit_test (test_figures),
    cmocka_unit_test (test_problems),
    cmocka_unit_test (test_reports),
  };

  return play_run_tests ("answer", tests, &catalog);
}
