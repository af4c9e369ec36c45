/* SPDX-License-Identifier: Apache-2.0 */
/* test_knobs.c - queries of `fabricast explore` to assignments, over scenarios/explore.yaml: 8 dgx-a100 (8 GPUs
 * each) with ports of 200 Gb/s, DDP with buckets of 25 MiB.
 */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>

#include "cli/explore/explored.h"
#include "sim/base/error.h"
#include "tests/support/play.h"

typedef struct {
  FabCatalog *catalog;
  FabExplored *explored;
} Fixture;

static int
set_up (void **state)
{
  Fixture *self = g_new0 (Fixture, 1);

  self->catalog = play_catalog ();
  self->explored = fab_explored_load (FAB_SOURCE_DIR "/scenarios/explore.yaml", NULL, self->catalog, NULL);
  assert_non_null (self->explored);
  *state = self;
  return 0;
}

static int
tear_down (void **state)
{
  Fixture *self = *state;

  fab_explored_free (self->explored);
  fab_catalog_free (self->catalog);
  g_free (self);
  return 0;
}

static void
assert_sets (Fixture *self, const char *query, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *client = NULL;
  FabKnobSetting setting;

  assert_true (fab_knob_board_parse (self->explored->board, query, &setting, &client, &error));
  g_autoptr (FabEdits) edits = fab_knob_board_edits (self->explored->board, &setting);
  g_autofree char *joined = g_strjoinv (" ", (char **) fab_edits_texts (edits));
  assert_string_equal (joined, expected);
  g_autoptr (FabScenario) scenario = fab_explored_scenario (self->explored, &setting, &error);
  assert_non_null (scenario);
}

static void
test_sets (void **state)
{
  assert_sets (*state, NULL, "");
  assert_sets (*state, "gpus=64&strategy=ddp&bucket=25&rate=200", "");
  assert_sets (*state, "gpus=512", "cluster.nodes=64");
  assert_sets (*state, "gpus=9", "cluster.nodes=2"); /* whole nodes */
  assert_sets (*state, "gpus=3", "cluster.nodes=1 cluster.gpus_per_node=3");
  assert_sets (*state, "rate=400", "cluster.nic_rate=400Gb/s");
  assert_sets (*state, "bucket=100&micro_batch=4", "job.micro_batch=4 job.bucket=100MiB");
  assert_sets (*state, "power_cap=70", "cluster.power_cap=70%");
  assert_sets (*state, "power_cap=100", "");
  assert_sets (*state, "sequence=4096&recompute=full", "job.sequence=4096 job.recompute=full");
  assert_sets (*state, "tensor=4&pipeline=2", "job.parallel.tensor=4 job.parallel.pipeline=2");
}

/* A kind of port brings its rate, unless the rate is turned too. */
static void
test_ports (void **state)
{
  assert_sets (*state, "nics=4", "cluster.nics_per_node=4");
  assert_sets (*state, "nic=ib-ndr", "cluster.nic=ib-ndr");
  assert_sets (*state, "nic=ib-ndr&rate=100", "cluster.nic=ib-ndr cluster.nic_rate=100Gb/s");
  assert_sets (*state, "node=dgx-h100&nic=roce-400",
               "cluster.node=dgx-h100 cluster.nodes=8 cluster.nic=roce-400");
  assert_sets (*state, "oversubscription=2&route=ecmp",
               "cluster.fabric={kind: rail, oversubscription: 2} cluster.route=ecmp");
  assert_sets (*state, "design=superpod-a100&nics=1&nic=ib-ndr&oversubscription=2&route=ecmp",
               "cluster={design: superpod-a100, scalable_units: 1}");
}

/* 280 W are 70 % of the 400 W of an A100: the knob starts there, and leaves the watts alone until it is turned. */
static void
test_cap_in_watts (G_GNUC_UNUSED void **state)
{
  char *sets[] = { (char *) "cluster.power_cap=280W", NULL };
  Fixture self = { .catalog = play_catalog () };

  self.explored = fab_explored_load (FAB_SOURCE_DIR "/scenarios/explore.yaml", sets, self.catalog, NULL);
  assert_int_equal (self.explored->board->start.values[FAB_KNOB_POWER], 70);
  assert_sets (&self, "power_cap=70", "");
  assert_sets (&self, "power_cap=100", "cluster.power_cap=100%");
  fab_explored_free (self.explored);
  fab_catalog_free (self.catalog);
}

/* Nodes of gb200-tray share a switch in eighteens; the rate is the knob's, whatever the other node's ports are. */
static void
test_node (void **state)
{
  assert_sets (*state, "node=dgx-h100", "cluster.node=dgx-h100 cluster.nodes=8 cluster.nic_rate=200Gb/s");
  assert_sets (*state, "node=gb200-tray&gpus=80",
               "cluster.node=gb200-tray cluster.nodes=36 cluster.nic_rate=200Gb/s");
}

/* A rate that the scenario sets is of its ports on every node, and another kind of port has its own again, however
 * small the rate was. One that it does not set is the knob's on another node. */
static void
test_rates_of_the_scenario (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *rate, *other_node, *other_port;
  } cases[] = {
    { "cluster.nic_rate=0Gb/s", " cluster.nic_rate=200Gb/s", "" },
    { "cluster.nic_rate=8b/s", "", " cluster.nic_rate=0B/s" }, /* one byte per second */
    { "cluster.nic_rate=200Gb/s", "", " cluster.nic_rate=0B/s" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    char *sets[] = { (char *) cases[i].rate, NULL };
    Fixture self = { .catalog = play_catalog () };
    g_autofree char *node = g_strconcat ("cluster.node=dgx-h100 cluster.nodes=8", cases[i].other_node, NULL),
                    *port = g_strconcat ("cluster.nic=ib-ndr", cases[i].other_port, NULL);

    self.explored = fab_explored_load (FAB_SOURCE_DIR "/scenarios/explore.yaml", sets, self.catalog, NULL);
    assert_non_null (self.explored);
    assert_sets (&self, "node=dgx-h100", node);
    assert_sets (&self, "nic=ib-ndr", port);
    assert_sets (&self, "rate=400", "cluster.nic_rate=400Gb/s");
    assert_sets (&self, "nic=ib-ndr&rate=400", "cluster.nic=ib-ndr cluster.nic_rate=400Gb/s");
    fab_explored_free (self.explored);
    fab_catalog_free (self.catalog);
  }
}

/* Buckets of zero are counted in elements, which are of two bytes: 25 MiB are 13107200. */
static void
test_strategies (void **state)
{
  assert_sets (*state, "strategy=zero3", "job.kind=zero job.stage=3 job.reduce_bucket=13107200");
  assert_sets (*state, "strategy=zero1&bucket=1", "job.kind=zero job.stage=1 job.reduce_bucket=524288");
  assert_sets (*state, "strategy=fsdp&bucket=100", "job.kind=fsdp");
}

/* --- where the knobs start --- */

/* Parses what one of the two writers of JSON wrote under "it". (transfer full) */
static JsonNode *
written (const FabKnobBoard *board, const FabKnobSetting *setting)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_COMPACT);

  fab_json_begin_object (json, NULL);
  if (setting != NULL)
    fab_knob_setting_add_json (json, "it", board, setting);
  else
    fab_knob_board_add_json (json, "it", board);
  fab_json_end (json);
  g_autofree char *text = fab_json_text (json);
  JsonNode *root = json_from_string (text, NULL);
  assert_non_null (root);
  JsonNode *it = json_node_copy (json_object_get_member (json_node_get_object (root), "it"));
  assert_int_equal (json_object_get_size (json_node_get_object (root)), 1);
  json_node_unref (root);
  return it;
}

static char *
text_of_node (JsonNode *node)
{
  if (json_node_get_value_type (node) == G_TYPE_STRING)
    return g_strdup (json_node_get_string (node));
  return g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (node));
}

#define DESIGN "cluster={design: superpod-a100, scalable_units: 1}"

/* A setting as words, "model=gpt2 strategy=ddp ...": each knob once, in their order. */
static char *
words_of (const FabKnobBoard *board, const FabKnobSetting *setting)
{
  g_autoptr (JsonNode) node = written (board, setting);
  JsonObject *members = json_node_get_object (node);
  GString *words = g_string_new (NULL);

  assert_int_equal (json_object_get_size (members), FAB_N_KNOBS);
  for (guint id = 0; id < FAB_N_KNOBS; id++) {
    g_autofree char *text = text_of_node (json_object_get_member (members, fab_knob_controls[id].name));

    g_string_append_printf (words, "%s%s=%s", id == 0 ? "" : " ", fab_knob_controls[id].name, text);
  }
  return g_string_free (words, FALSE);
}

static FabExplored *
load (const FabCatalog *catalog, const char *name, const char *sets, GError **error)
{
  g_autofree char *path = g_strconcat (FAB_SOURCE_DIR "/scenarios/", name, ".yaml", NULL);
  g_auto (GStrv) words = g_strsplit (sets, ";", 0);

  return fab_explored_load (path, words, catalog, error);
}

static const char *const usual[FAB_N_KNOBS] = {
  "gpt3-2.7b", "ddp", "64",   "dgx-a100",  "200", "2", "25", "100", "none", "1",
  "2",         "own", "2048", "selective", "1",   "1", "1",  "1",   "1",    "shortest",
};
static const struct {
  const char *sets, *starts; /* the knobs that start elsewhere */
} starts[] = {
  { "", "" },
  { "job.model=gpt2;job.sequence=1024", "model=gpt2 sequence=1024" },
  { "job.micro_batch=7", "micro_batch=7" },
  { "job.micro_batch=1", "micro_batch=1" },
  { "job.micro_batch=300", "micro_batch=256" },
  { "job.sequence=1", "sequence=1" },
  { "job.sequence=3000000", "sequence=1048576" },
  { "job.bucket=10MiB", "bucket=10" },
  { "job.bucket=1B", "bucket=1" },
  { "job.bucket=1572863B", "bucket=1" }, /* below one and a half */
  { "job.bucket=1572864B", "bucket=2" },
  { "job.bucket=2621439B", "bucket=2" },
  { "job.bucket=2621440B", "bucket=3" },
  { "job.bucket=9GiB", "bucket=8192" },
  { "job.recompute=none", "recompute=none" },
  { "job.recompute=full", "recompute=full" },
  { "job.recompute=operators", "recompute=operators" },
  { "cluster.nodes=128", "gpus=1024" },
  { "cluster.nodes=1", "gpus=8" },
  { "cluster.gpus_per_node=3", "gpus=24" },
  { "cluster.node=dgx-h100;cluster.nodes=3;cluster.nics_per_node=0",
    "node=dgx-h100 gpus=24 rate=400 nics=8" },
  { "cluster.nics_per_node=0", "nics=8" },
  { "cluster.nics_per_node=1", "nics=1" },
  { "cluster.nic=ib-ndr", "nic=ib-ndr rate=400" },
  { "cluster.nic=ib-ndr;cluster.nic_rate=100Gb/s", "nic=ib-ndr rate=100" },
  { "cluster.nic_rate=100Gb/s", "rate=100" },
  { "cluster.nic_rate=1499999992b/s", "rate=1" },
  { "cluster.nic_rate=1500000000b/s", "rate=2" },
  { "cluster.nic_rate=2500000000b/s", "rate=3" },
  { "cluster.nic_rate=8b/s", "rate=1" },
  { "cluster.nic_rate=7Tb/s", "rate=6400" },
  { "cluster.power_cap=280W", "power_cap=70" },
  { "cluster.power_cap=55%", "power_cap=55" },
  { "cluster.power_cap=66.6%", "power_cap=67" },
  { "cluster.power_cap=22%", "power_cap=22" },
  { "cluster.route=ecmp", "route=ecmp" },
  { "cluster.fabric={kind: rail, oversubscription: 3}", "oversubscription=3" },
  { "cluster.fabric={kind: rail, oversubscription: 2.6}", "oversubscription=3" },
  { "cluster.fabric={kind: rail, oversubscription: 2.4}", "oversubscription=2" },
  { "cluster.fabric={kind: rail, oversubscription: 65}", "oversubscription=64" },
  { "cluster.fabric=switch", "" },
  { "cluster={design: superpod-a100, scalable_units: 2}", "design=superpod-a100 units=2 gpus=320 nics=8" },
  { "job.parallel.tensor=8", "tensor=8" },
  { "job.kind=zero;job.stage=1;job.reduce_bucket=524288", "strategy=zero1 bucket=1" },
  { "job.kind=zero;job.stage=2;job.reduce_bucket=524288;job.gradient=fp32", "strategy=zero2 bucket=2" },
  { "job.kind=zero;job.stage=3", "strategy=zero3 bucket=954" }, /* 5e8 elements of two bytes */
  { "job.kind=fsdp", "strategy=fsdp" },
  { "job.kind=fsdp;job.sharding=grad_op", "strategy=fsdp" },
  { "job.kind=megatron", "strategy=megatron" },
  { "job.kind=megatron;job.distributed_optimizer=true;job.overlap_grad_reduce=true;job.overlap_param_gather=true",
    "strategy=megatron" },
  { "job.kind=megatron;job.parallel.pipeline=2;job.parallel.context=4",
    "strategy=megatron pipeline=2 context=4" },
};

/* Knobs that a scenario sets start there, rounded to a whole number of the knob's unit and held between its ends; all
 * others start where scenarios/explore.yaml has them. The query of a start changes nothing. */
static void
test_starts (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();

  for (guint i = 0; i < G_N_ELEMENTS (starts); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabExplored) explored = load (catalog, "explore", starts[i].sets, &error);
    g_auto (GStrv) others = g_strsplit (starts[i].starts, " ", 0);
    GString *expected = g_string_new (NULL);

    if (explored == NULL)
      fail_msg ("%s: %s", starts[i].sets, error->message);
    for (guint id = 0; id < FAB_N_KNOBS; id++) {
      g_autofree char *begin = g_strconcat (fab_knob_controls[id].name, "=", NULL);
      const char *value = usual[id];

      for (guint k = 0; others[k] != NULL; k++)
        if (g_str_has_prefix (others[k], begin))
          value = strchr (others[k], '=') + 1;
      g_string_append_printf (expected, "%s%s%s", id == 0 ? "" : " ", begin, value);
    }
    g_autofree char *words = words_of (explored->board, &explored->board->start);
    if (strcmp (words, expected->str) != 0)
      fail_msg ("%s starts at\n%s, and not at\n%s", starts[i].sets, words, expected->str);
    g_strdelimit (words, " ", '&');
    Fixture self = { .catalog = catalog, .explored = explored };
    assert_sets (&self, words, "");
    g_string_free (expected, TRUE);
  }
}

/* --- edits of other scenarios --- */

static void
test_edits_of_other_scenarios (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *sets, *query, *edits;
  } cases[] = {
    /* GPUs of a node: fewer than it has, all of them, and again all of them. */
    { "", "gpus=7", "cluster.nodes=1 cluster.gpus_per_node=7" },
    { "", "gpus=8", "cluster.nodes=1" },
    { "cluster.gpus_per_node=3", "gpus=8", "cluster.nodes=1 cluster.gpus_per_node=0" },
    { "cluster.gpus_per_node=3", "gpus=2", "cluster.nodes=1 cluster.gpus_per_node=2" },
    { "cluster.gpus_per_node=8", "gpus=8", "cluster.nodes=1 cluster.gpus_per_node=0" },
    /* Trays of a rack of 18 share a switch: whole racks, unless all fit into one. */
    { "cluster={node: gb200-tray, nodes: 18}", "gpus=64", "cluster.nodes=16" },
    { "cluster={node: gb200-tray, nodes: 18}", "gpus=76", "cluster.nodes=36" },
    { "cluster={node: gb200-tray, nodes: 18, domain_nodes: 9}", "gpus=8",
      "cluster.domain_nodes=0 cluster.nodes=2" },
    { "cluster={node: gb200-tray, nodes: 2, domain_nodes: 1}", "gpus=16",
      "cluster.domain_nodes=0 cluster.nodes=4" },
    /* A fabric that the scenario names keeps its other keys. */
    { "cluster.fabric={kind: rail, spines: 2}", "oversubscription=2", "cluster.fabric.oversubscription=2" },
    { "cluster.fabric=switch", "oversubscription=2", "" },
    { "cluster.nic=ib-ndr", "nic=own", "cluster.nic=ib-hdr" },
    { "cluster.route=ecmp", "route=shortest", "cluster.route=shortest" },
    { "job.kind=megatron", "strategy=ddp", "job.kind=ddp job.bucket=25MiB" },
    { "", "strategy=megatron",
      "job.kind=megatron job.distributed_optimizer=true job.overlap_grad_reduce=true job.overlap_param_gather=true"
      " job.bucket=6553600" },
    { "", "model=gpt2&context=2&expert=1&nics=1",
      "job.model=gpt2 cluster.nics_per_node=1 job.parallel.context=2" },
    /* Designs: of another kind, of another size, and none. */
    { "", "design=superpod-a100&power_cap=80",
      "cluster={design: superpod-a100, scalable_units: 1} cluster.power_cap=80%" },
    { "cluster.power_cap=80%", "design=superpod-a100",
      "cluster={design: superpod-a100, scalable_units: 1} cluster.power_cap=80%" },
    { "", "units=2", "" },
    { DESIGN, "units=1", "" },
    { DESIGN, "units=2", "cluster={design: superpod-a100, scalable_units: 2}" },
    { DESIGN, "design=none&gpus=16", "cluster={node: dgx-a100} cluster.nodes=2 cluster.route=shortest" },
    { DESIGN, "design=none&node=dgx-h100&gpus=16&rate=400",
      "cluster={node: dgx-h100} cluster.node=dgx-h100 cluster.nodes=2 cluster.route=shortest" },
    { DESIGN, "design=none&node=dgx-h100&gpus=16",
      "cluster={node: dgx-h100} cluster.node=dgx-h100 cluster.nodes=2"
      " cluster.nic_rate=200Gb/s cluster.route=shortest" },
    { DESIGN, "design=none&gpus=16&nics=4&nic=ib-ndr&oversubscription=2&route=ecmp",
      "cluster={node: dgx-a100} cluster.nodes=2 cluster.nic=ib-ndr cluster.nics_per_node=4"
      " cluster.fabric={kind: rail, oversubscription: 2} cluster.route=ecmp" },
    { DESIGN, "design=none&gpus=16&nic=ib-ndr&rate=100",
      "cluster={node: dgx-a100} cluster.nodes=2 cluster.nic=ib-ndr cluster.nic_rate=100Gb/s cluster.route=shortest" },
    { DESIGN, "design=none&gpus=16&rate=100",
      "cluster={node: dgx-a100} cluster.nodes=2 cluster.nic_rate=100Gb/s cluster.route=shortest" },
    { "cluster={design: superpod-a100, scalable_units: 1, nic: ib-ndr, nics_per_node: 4}",
      "design=none&gpus=16",
      "cluster={node: dgx-a100} cluster.nodes=2 cluster.nic=ib-ndr cluster.nics_per_node=4 cluster.route=shortest" },
    { "cluster={design: superpod-a100, scalable_units: 1, nic: ib-ndr, nic_rate: 100Gb/s}",
      "design=none&gpus=16",
      "cluster={node: dgx-a100} cluster.nodes=2 cluster.nic=ib-ndr cluster.nic_rate=100Gb/s cluster.route=shortest" },
    { "cluster={design: superpod-a100, scalable_units: 1, nic: ib-ndr}", "design=none&gpus=16&nic=own",
      "cluster={node: dgx-a100} cluster.nodes=2 cluster.route=shortest" },
  };
  g_autoptr (FabCatalog) catalog = play_catalog ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabExplored) explored = load (catalog, "explore", cases[i].sets, &error);

    if (explored == NULL)
      fail_msg ("%s: %s", cases[i].sets, error->message);
    Fixture self = { .catalog = catalog, .explored = explored };
    assert_sets (&self, cases[i].query, cases[i].edits);
  }
}

/* --- for the page --- */

static const FabKnobId with_groups[] = { FAB_KNOB_MODEL, FAB_KNOB_NODE, FAB_KNOB_NIC };

/* The heading of a choice of these knobs, from the catalogue. */
static const char *
heading (const FabCatalog *catalog, FabKnobId id, const char *name)
{
  if (id == FAB_KNOB_MODEL)
    return fab_catalog_model (catalog, name)->maker ? fab_catalog_model (catalog, name)->maker : "Others";
  if (id == FAB_KNOB_NIC)
    return strcmp (name, "own") == 0
             ? NULL
             : fab_catalog_link_technology (catalog, fab_catalog_link (catalog, name))->name;
  const char *accelerator = fab_catalog_node (catalog, name)->accelerator,
             *architecture = fab_catalog_accelerator (catalog, accelerator)->architecture;
  const FabGeneration *generation = architecture != NULL ? fab_catalog_generation (catalog, architecture)
                                                         : NULL;
  return generation != NULL ? generation->summary : "Others";
}

/* Each knob has its texts, its ends, its choices or its steps, the headings of its choices, and where it starts. */
static void
assert_board (const FabExplored *explored)
{
  const FabKnobBoard *board = explored->board;
  g_autoptr (JsonNode) node = written (board, NULL);
  JsonArray *knobs = json_node_get_array (node);
  g_autofree char *words = words_of (board, &board->start);
  g_auto (GStrv) begins = g_strsplit (words, " ", 0);

  assert_int_equal (json_array_get_length (knobs), FAB_N_KNOBS);
  for (guint id = 0; id < FAB_N_KNOBS; id++) {
    const FabKnobControl *control = &fab_knob_controls[id];
    JsonObject *knob = json_array_get_object_element (knobs, id);
    JsonArray *values = json_object_get_array_member (knob, "values"),
              *groups = json_object_get_array_member (knob, "groups");
    gboolean has_groups = FALSE;

    assert_string_equal (json_object_get_string_member (knob, "name"), control->name);
    assert_string_equal (json_object_get_string_member (knob, "label"), control->label);
    assert_string_equal (json_object_get_string_member (knob, "unit"), control->unit);
    assert_string_equal (json_object_get_string_member (knob, "help"), control->help);
    assert_int_equal (json_object_get_int_member (knob, "min"), control->min);
    assert_int_equal (json_object_get_int_member (knob, "max"), control->max);
    assert_true (json_object_get_null_member (knob, "rests")
                 == (id != FAB_KNOB_OVERSUBSCRIPTION || board->can_oversubscribe));
    g_autofree char *start = text_of_node (json_object_get_member (knob, "start"));
    assert_string_equal (start, strchr (begins[id], '=') + 1);
    for (guint i = 0; i < G_N_ELEMENTS (with_groups); i++)
      has_groups |= with_groups[i] == id;
    assert_int_equal (json_array_get_length (groups), has_groups ? json_array_get_length (values) : 0);
    guint n = 0;
    for (; control->max == 0 ? board->names[id][n] != NULL : control->steps[n] != 0; n++) {
      g_autofree char *value = text_of_node (json_array_get_element (values, n));
      g_autofree char *expected = control->max == 0
                                    ? g_strdup (board->names[id][n])
                                    : g_strdup_printf ("%" G_GINT64_FORMAT, control->steps[n]);

      assert_string_equal (value, expected);
      if (has_groups) {
        const char *said = json_array_get_null_element (groups, n)
                             ? NULL
                             : json_array_get_string_element (groups, n);

        if (g_strcmp0 (said, heading (fab_scenario_catalog (board->scenario), id, value)) != 0)
          fail_msg ("%s stands under %s", value, said);
      }
    }
    assert_int_equal (json_array_get_length (values), n);
  }
}

static void
assert_names (const FabKnobBoard *board, FabKnobId id, const char *expected)
{
  g_autofree char *joined = g_strjoinv (" ", (char **) board->names[id]);

  assert_string_equal (joined, expected);
}

static void
test_board (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  static const char *const sets[] = { "",     "cluster.fabric=switch",    "job.recompute=operators",
                                      DESIGN, "cluster.fabric=rail_only", "cluster.fabric=torus" };

  for (guint i = 0; i < G_N_ELEMENTS (sets); i++) {
    g_autoptr (FabExplored) explored = load (catalog, "explore", sets[i], NULL);

    assert_board (explored);
    assert_names (explored->board, FAB_KNOB_STRATEGY, "ddp zero1 zero2 zero3 fsdp megatron");
    assert_names (explored->board, FAB_KNOB_RECOMPUTE,
                  i == 2 ? "none selective full operators" : "none selective full");
    assert_string_equal (explored->board->names[FAB_KNOB_DESIGN][0], "none");
    assert_int_equal (explored->board->can_oversubscribe, i != 1 && i != 5);
  }
}

static gboolean
has_name (const FabKnobBoard *board, FabKnobId id, const char *name)
{
  return g_strv_contains (board->names[id], name);
}

/* Entries of the scenario are offered too: nodes with GPUs and NICs, links between machines, and plain names. What has
 * neither a maker nor an architecture stands under Others. */
static void
test_own_entries (G_GNUC_UNUSED void **state)
{
#define MADE " source: a test, date: 2026-01-01}\n"
#define NODE(name, port, parts, wires)                                       \
  "  - {name: " name ", accelerator: chip" port                              \
  ", fabric: switch, parts: [{name: gpu, kind: accelerator, count: 2}" parts \
  "], wires: [{from: gpu, to: gpu, link: nvlink3, map: all}" wires "]," MADE
#define WHOLE(name) \
  NODE (name, ", nic: port", ", {name: nic, kind: nic}", ", {from: gpu, to: nic, link: pcie4-x16}")
  static const char own[] =
      "name: own\n"
      "cluster: {node: mine, nodes: 2}\n"
      "links:\n"
      "  - {name: port, technology: Ethernet, signalling: 200Gb/s, latency: 500ns," MADE
      "  - {name: inner, technology: NVLink, signalling: 200Gb/s, latency: 500ns," MADE "accelerators:\n"
      "  - {name: chip, peak_fp16: 100TFLOP/s, peak_fp32: 10TFLOP/s, memory: 80GB, memory_rate: 1TB/s," MADE
      "nodes:\n" WHOLE ("mine") WHOLE ("My.node_2-x") WHOLE ("2-mine") WHOLE ("my node") NODE (
          "no-nic", "", "",
          "") "models:\n"
              "  - {name: small, shape: {kind: transformer, layers: 2, hidden: 256, heads: 4, vocabulary: 1000}," MADE
              "job: {kind: ddp, model: gpt2, sequence: 512, compute: {kind: mfu, mfu: 40%}}\n";
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("knobs-XXXXXX", NULL),
                  *path = g_build_filename (folder, "own.yaml", NULL);

  assert_true (g_file_set_contents (path, own, -1, NULL));
  g_autoptr (FabExplored) explored = fab_explored_load (path, NULL, catalog, &error);
  if (explored == NULL)
    fail_msg ("%s", error->message);
  assert_board (explored);
  assert_true (has_name (explored->board, FAB_KNOB_NODE, "mine"));
  assert_true (has_name (explored->board, FAB_KNOB_NODE, "My.node_2-x"));
  assert_false (has_name (explored->board, FAB_KNOB_NODE, "2-mine"));
  assert_false (has_name (explored->board, FAB_KNOB_NODE, "my node"));
  assert_false (has_name (explored->board, FAB_KNOB_NODE, "no-nic"));
  assert_true (has_name (explored->board, FAB_KNOB_NIC, "port"));
  assert_false (has_name (explored->board, FAB_KNOB_NIC, "inner"));
  assert_true (has_name (explored->board, FAB_KNOB_MODEL, "small"));
  assert_string_equal (heading (fab_scenario_catalog (explored->board->scenario), FAB_KNOB_NODE, "mine"),
                       "Others");
  g_unlink (path);
  g_rmdir (folder);
}

static void
assert_refused (Fixture *self, const char *query)
{
  g_autoptr (GError) error = NULL;
  char *client = NULL;
  FabKnobSetting setting;

  assert_false (fab_knob_board_parse (self->explored->board, query, &setting, &client, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  assert_null (client);
}

static void
test_refused (void **state)
{
  static const char *const queries[] = { "gpus",
                                         "gpus=",
                                         "gpus=0",
                                         "gpus=1025",
                                         "gpus=8.5",
                                         "model=nothing",
                                         "node=../../a",
                                         "client=-",
                                         "client=ok&gpus=x",
                                         "rate=1e3",
                                         "x=1",
                                         "=",
                                         "&",
                                         "strategy=zero4",
                                         "nic=nvlink4",
                                         "recompute=modules",
                                         "tensor=0",
                                         "bucket=-1",
                                         "power_cap=101" };

  for (guint i = 0; i < G_N_ELEMENTS (queries); i++)
    assert_refused (*state, queries[i]);
}

static void
test_client (void **state)
{
  Fixture *self = *state;
  g_autofree char *client = NULL;
  FabKnobSetting setting;

  assert_true (
      fab_knob_board_parse (self->explored->board, "client=a1&gpus=8&client=b2", &setting, &client, NULL));
  assert_string_equal (client, "b2");
  assert_int_equal (setting.values[FAB_KNOB_GPUS], 8);
}

static gboolean
parses (const Fixture *self, const char *query, GError **error)
{
  g_autofree char *client = NULL;
  FabKnobSetting setting;

  return fab_knob_board_parse (self->explored->board, query, &setting, &client, error);
}

/* A name of an asker has 1 to 32 letters and digits; a query has at most a pair for each knob and one for the asker. */
static void
test_lengths (void **state)
{
  GString *pairs = g_string_new ("client=a");
  static const struct {
    const char *query;
    gboolean is_right;
  } clients[] = {
    { "client=", FALSE },
    { "client=Z", TRUE },
    { "client=abcdefghijklmnopqrstuvwxyz012345", TRUE },
    { "client=abcdefghijklmnopqrstuvwxyz0123456", FALSE },
    { "client=a.b", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (clients); i++)
    assert_int_equal (parses (*state, clients[i].query, NULL), clients[i].is_right);
  for (guint i = 0; i < FAB_N_KNOBS; i++)
    g_string_append (pairs, "&gpus=8");
  assert_true (parses (*state, pairs->str, NULL));
  g_string_append (pairs, "&gpus=8");
  assert_false (parses (*state, pairs->str, NULL));
  g_string_free (pairs, TRUE);
}

/* What is refused says what would be right. */
static void
test_messages (void **state)
{
  GString *names = g_string_new ("there is no such knob; there are ");
  g_autoptr (GError) error = NULL;

  for (guint id = 0; id < FAB_N_KNOBS; id++)
    g_string_append_printf (names, "%s%s", id == 0 ? "" : ", ", fab_knob_controls[id].name);
  assert_false (parses (*state, "x=1", &error));
  assert_string_equal (error->message, names->str);
  g_string_free (names, TRUE);
  g_clear_error (&error);
  assert_false (parses (*state, "power_cap=19", &error));
  assert_string_equal (error->message, "power_cap: a whole number from 20 to 100");
}

/* All GPUs that a board goes up to, and one node more; the number that is proposed fits. */
static void
test_most_gpus (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (GError) error = NULL;
  g_autoptr (FabExplored) most = load (catalog, "explore", "cluster.nodes=128", NULL),
                          more = load (catalog, "explore", "cluster.nodes=129", &error);

  assert_non_null (most);
  assert_null (more);
  assert_string_equal (error->message, "the knobs go up to 1024 GPUs, and this scenario has 1032; "
                                       "try --set cluster.nodes=128");
}

/* A scenario whose node or model could not be written in a query has no knobs. */
static void
test_names_that_are_not_plain (G_GNUC_UNUSED void **state)
{
  static const char *const own[] = {
    "name: own\ncluster: {node: dgx-a100, nodes: 2}\nmodels:\n"
    "  - {name: my model, shape: {kind: transformer, layers: 2, hidden: 256, heads: 4, vocabulary: 1000},\n"
    "     source: a test, date: 2026-01-01}\n"
    "job: {kind: ddp, model: my model, sequence: 512, compute: {kind: mfu, mfu: 40%}}\n",
    "name: own\ncluster: {node: my node, nodes: 2}\nnodes:\n"
    "  - {name: my node, accelerator: a100-sxm4-80gb, nic: ib-hdr, fabric: switch, source: a test, date: 2026-01-01,\n"
    "     parts: [{name: gpu, kind: accelerator}, {name: nic, kind: nic}],\n"
    "     wires: [{from: gpu, to: nic, link: pcie4-x16}]}\n"
    "job: {kind: ddp, model: gpt2, sequence: 512, compute: {kind: mfu, mfu: 40%}}\n"
  };
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autofree char *folder = g_dir_make_tmp ("knobs-XXXXXX", NULL),
                  *path = g_build_filename (folder, "own.yaml", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (own); i++) {
    g_autoptr (GError) error = NULL;

    assert_true (g_file_set_contents (path, own[i], -1, NULL));
    assert_null (fab_explored_load (path, NULL, catalog, &error));
    assert_true (
        g_str_has_prefix (error->message, "explore needs a node with GPUs and NICs, and plain names"));
  }
  g_unlink (path);
  g_rmdir (folder);
}

/* --- any setting --- */

static void
turn_some (const FabKnobBoard *board, GRand *random, FabKnobSetting *setting)
{
  guint n_turned = (guint) g_rand_int_range (random, 1, 5);

  for (guint i = 0; i < n_turned; i++) {
    guint id = (guint) g_rand_int_range (random, 0, FAB_N_KNOBS), n = 0;
    const gint64 *steps = fab_knob_controls[id].steps;

    while (fab_knob_controls[id].max == 0 ? board->names[id][n] != NULL : steps[n] != 0)
      n++;
    gint32 chosen = g_rand_int_range (random, 0, (gint32) n);
    setting->values[id] = fab_knob_controls[id].max == 0 ? chosen : steps[chosen];
  }
}

/* Whether the scenario of a setting need not start where a knob stands: knobs that rest, or what another node or
 * another kind of NIC brings, as docs/how-to/explore.md says. */
static gboolean
is_free (const FabKnobBoard *board, const FabKnobSetting *setting, FabKnobId id)
{
  const gint64 *now = setting->values, *then = board->start.values;
  gboolean has_design = now[FAB_KNOB_DESIGN] != 0;

  switch ((guint) id) {
  case FAB_KNOB_NODE:
  case FAB_KNOB_NIC:
  case FAB_KNOB_OVERSUBSCRIPTION: return has_design;
  case FAB_KNOB_GPUS: /* whole nodes */ return has_design || now[FAB_KNOB_NODE] != then[FAB_KNOB_NODE];
  case FAB_KNOB_NICS:
  case FAB_KNOB_ROUTE:
    return has_design || (now[FAB_KNOB_NODE] != then[FAB_KNOB_NODE] && now[id] == then[id]);
  case FAB_KNOB_RATE: return has_design || now[FAB_KNOB_NIC] != then[FAB_KNOB_NIC];
  case FAB_KNOB_UNITS: return !has_design;
  case FAB_KNOB_BUCKET:
    return strcmp (fab_knob_board_strategy (board, now[FAB_KNOB_STRATEGY])->kind, "fsdp") == 0;
  default: return FALSE;
  }
}

/* The scenario that a setting stands for, opened by itself, starts where the knobs stand, and where they are said
 * to be in effect in any case. */
static void
test_settings_are_where_their_scenarios_start (G_GNUC_UNUSED void **state)
{
  static const char *const sets[] = {
    "",
    DESIGN,
    "cluster.nics_per_node=0",
    "job.kind=megatron;cluster.nic=ib-ndr;cluster.nic_rate=100Gb/s",
    "cluster={design: superpod-h100, scalable_units: 1, nic: ib-ndr, nics_per_node: 4}",
  };
  g_autoptr (FabCatalog) catalog = play_catalog ();
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  guint n_played = 0;

  for (guint i = 0; i < G_N_ELEMENTS (sets) * 120; i++) {
    g_autoptr (FabExplored) explored = load (catalog, "explore", sets[i / 120], NULL);
    FabKnobSetting setting = explored->board->start;

    turn_some (explored->board, random, &setting);
    FabScenario *scenario = fab_explored_scenario (explored, &setting, NULL);
    if (scenario == NULL) /* some values do not go together */
      continue;
    g_autoptr (FabKnobBoard) again = fab_knob_board_new (scenario, NULL);
    if (again == NULL) /* rounded up to more GPUs than there may be */
      continue;
    g_autofree char *asked = words_of (explored->board, &setting), *found = words_of (again, &again->start);
    FabKnobSetting standing;
    assert_true (fab_knob_board_in_effect (explored->board, again->scenario, &standing));
    g_autofree char *told = words_of (explored->board, &standing);
    assert_string_equal (told, found);
    g_auto (GStrv) wanted = g_strsplit (asked, " ", 0), got = g_strsplit (found, " ", 0);
    for (guint id = 0; id < FAB_N_KNOBS; id++)
      if (!is_free (explored->board, &setting, id) && strcmp (wanted[id], got[id]) != 0)
        fail_msg ("%s: %s starts at %s", sets[i / 120], asked, got[id]);
    n_played++;
  }
  assert_true (n_played > 200);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_sets, set_up, tear_down),
    cmocka_unit_test (test_cap_in_watts),
    cmocka_unit_test_setup_teardown (test_ports, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_node, set_up, tear_down),
    cmocka_unit_test (test_rates_of_the_scenario),
    cmocka_unit_test_setup_teardown (test_strategies, set_up, tear_down),
    cmocka_unit_test (test_starts),
    cmocka_unit_test (test_edits_of_other_scenarios),
    cmocka_unit_test (test_board),
    cmocka_unit_test (test_own_entries),
    cmocka_unit_test_setup_teardown (test_refused, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_client, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_lengths, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_messages, set_up, tear_down),
    cmocka_unit_test (test_settings_are_where_their_scenarios_start),
    cmocka_unit_test (test_most_gpus),
    cmocka_unit_test (test_names_that_are_not_plain),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
