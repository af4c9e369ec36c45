/* SPDX-License-Identifier: Apache-2.0 */
/* test_keys.c - every key of a scenario: another value of it changes the scenario that is stored with a run, or is
 * refused. None is ignored.
 *
 * The keys are those of the parameter tables, reached from the shipped scenarios; a model that none of them uses is
 * put in its place by name. */
#include "sim/scenario/scenario.h"

#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/test.h"

typedef struct {
  FabCatalog *catalog;
  FabScenario *scenario; /* whose keys are changed */
  GHashTable *tried;     /* rows (FabParam) */
  GHashTable *refused;   /* char: those of them of which no change was taken in any scenario, by row */
  guint n_changed;
} Keys;

/* Values that a person might write; those that a key refuses are no change of it. */
static const char *const others[] = {
  "true",  "false", "2",     "3",    "1",      "7",        "50%",   "30%",     "1.5",        "0.7",
  "3us",   "2ms",   "64KiB", "2MiB", "9000B",  "100Gb/s",  "3GB/s", "5GFLOPS", "3e15FLOP/s", "40m",
  "other", "[1]",   "{}",    "[]",   "ib-hdr", "dgx-a100", "ring",  "phb",     "llama3-8b",  "h200-sxm-141gb",
  "4",     "8",     NULL,
};

static gboolean
is_equal (const FabScenario *a, const FabScenario *b, const char *key)
{
  g_autoptr (FabValue) x = NULL, y = NULL;

  return fab_scenario_get (a, key, &x, NULL) && fab_scenario_get (b, key, &y, NULL) && fab_value_equal (x, y);
}

typedef enum { REFUSED, SAME, CHANGED } Outcome;

static Outcome
try_value (const Keys *self, const char *key, const char *value)
{
  g_autoptr (FabScenario) copy = fab_scenario_copy (self->scenario);
  g_autofree char *assignment = g_strconcat (key, "=", value, NULL);

  if (!fab_scenario_assign (copy, assignment, NULL) || !fab_scenario_check (copy, NULL))
    return REFUSED;
  if (is_equal (self->scenario, copy, key))
    return SAME;
  g_autofree char *before = fab_scenario_resolved (self->scenario), *after = fab_scenario_resolved (copy);
  if (strcmp (before, after) == 0)
    fail_msg ("%s is taken and not in the scenario that is stored", assignment);
  return CHANGED;
}

static void
try_key (Keys *self, const FabParam *row, const char *key)
{
  gboolean is_refused = FALSE;

  for (guint i = 0; others[i] != NULL; i++) {
    Outcome outcome = try_value (self, key, others[i]);

    if (outcome == CHANGED) {
      self->n_changed++;
      g_hash_table_remove (self->refused, row);
      return;
    }
    is_refused |= outcome == REFUSED;
  }
  for (guint i = 0; row->choices != NULL && row->choices[i] != NULL; i++)
    if (try_value (self, key, row->choices[i]) == CHANGED) {
      self->n_changed++;
      g_hash_table_remove (self->refused, row);
      return;
    }
  if (!is_refused)
    fail_msg ("%s: no value of it changes the stored scenario, and none is refused", key);
  g_hash_table_insert (self->refused, (gpointer) row, g_strdup (key));
}

static void
try_unknown (const Keys *self, const char *prefix)
{
  g_autofree char *key = g_strconcat (prefix, "no_such_key", NULL);

  assert_int_equal (try_value (self, key, "1"), REFUSED);
}

static void try_table (Keys *self, const FabParam *table, gconstpointer in, const char *prefix);

static void
try_row (Keys *self, const FabParam *row, gconstpointer in, const char *key)
{
  gconstpointer field = (const char *) in + row->offset;
  g_autofree char *inside = g_strconcat (key, ".", NULL);

  if (row->type == FAB_PARAM_TABLE) {
    try_table (self, row->table, field, inside);
  } else if (row->type == FAB_PARAM_LIST) {
    const FabParamList *list = field;

    for (guint i = 0; i < list->n; i++) {
      g_autofree char *item = g_strdup_printf ("%s.%u.", key, i);

      try_table (self, row->table, (const char *) list->data + i * row->table_size, item);
    }
  } else if (row->type == FAB_PARAM_MODEL) {
    const FabModelChoice *choice = field;

    if (choice->info != NULL && choice->info->params != NULL)
      try_table (self, choice->info->params, choice->params, inside);
  } else if (g_hash_table_add (self->tried, (gpointer) row) || g_hash_table_contains (self->refused, row)) {
    try_key (self, row, key);
  }
}

static void
try_table (Keys *self, const FabParam *table, gconstpointer in, const char *prefix)
{
  for (const FabParam *row = table; row->key != NULL; row++) {
    g_autofree char *key = g_strconcat (prefix, row->key, NULL);

    if (row->refers != FAB_REFERS_FILES)
      try_row (self, row, in, key);
  }
}

/* Takes the scenario. */
static void
try_scenario (Keys *self, FabScenario *scenario)
{
  if (scenario == NULL)
    return;
  self->scenario = scenario;
  try_table (self, fab_scenario_params, fab_scenario_spec (scenario), "");
  try_unknown (self, "");
  try_unknown (self, "cluster.");
  try_unknown (self, "fidelity.");
  try_unknown (self, "job.");
  fab_scenario_free (scenario);
  self->scenario = NULL;
}

static void
try_folder (Keys *self, const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  assert_non_null (dir);
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = g_build_filename (folder, name, NULL);

    if (g_str_has_suffix (name, ".yaml"))
      try_scenario (self, fab_scenario_load (path, NULL, &fab_models, self->catalog, NULL));
  }
}

#define MACHINE "name: t\ncluster: {node: dgx-h100, nodes: 4}\n"
#define TRAINED "model: llama2-7b, sequence: 4096, compute: {kind: mfu, mfu: 50%}"

/* Puts every model of a list in its place, where its keys are all optional. `key` is what comes before the model. */
static void
try_models (Keys *self, FabModelKind kind, const char *key, const char *rest)
{
  for (const FabModelInfo *const *info = fab_models.lists[kind]; *info != NULL; info++) {
    const char *sign = strchr (key, '=') == NULL ? "=" : ": ";
    g_autofree char *set = g_strdup_printf ("%s%s{kind: %s%s}", key, sign, (*info)->name, rest);
    const char *sets[] = { set, NULL };
    const char *text = MACHINE "job: {kind: ddp, " TRAINED "}\n";

    try_scenario (self,
                  fab_scenario_parse ("t.yaml", text, strlen (text), sets, &fab_models, self->catalog, NULL));
  }
}

static guint
count_missing (const Keys *self, FabModelKind kind)
{
  guint n = 0;

  for (const FabModelInfo *const *info = fab_models.lists[kind]; *info != NULL; info++)
    for (const FabParam *row = (*info)->params; row != NULL && row->key != NULL; row++)
      if (row->type != FAB_PARAM_TABLE && row->type != FAB_PARAM_LIST && row->type != FAB_PARAM_MODEL
          && !g_hash_table_contains (self->tried, row)) {
        print_error ("%s %s: key '%s' was not tried\n", fab_model_kind_name (kind), (*info)->name, row->key);
        n++;
      }
  return n;
}

static void
no_key_is_ignored (G_GNUC_UNUSED void **state)
{
  Keys self = { .catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, NULL),
                .tried = g_hash_table_new (NULL, NULL),
                .refused = g_hash_table_new_full (NULL, NULL, NULL, g_free) };
  static const FabModelKind kinds[] = { FAB_MODEL_FABRIC,     FAB_MODEL_ROUTE,   FAB_MODEL_NET,
                                        FAB_MODEL_CONGESTION, FAB_MODEL_LIBRARY, FAB_MODEL_COMPUTE,
                                        FAB_MODEL_WORKLOAD };
  guint n_missing = 0;

  assert_non_null (self.catalog);
  try_folder (&self, FAB_SOURCE_DIR "/scenarios");
  try_models (&self, FAB_MODEL_FABRIC, "cluster.fabric", "");
  try_models (&self, FAB_MODEL_ROUTE, "cluster.route", "");
  try_models (&self, FAB_MODEL_NET, "fidelity", "");
  try_models (&self, FAB_MODEL_CONGESTION, "fidelity={kind: packet, congestion", "}");
  try_models (&self, FAB_MODEL_LIBRARY, "collectives", "");
  try_models (&self, FAB_MODEL_COMPUTE, "job.compute", "");
  try_models (&self, FAB_MODEL_WORKLOAD, "job", ", " TRAINED);
  try_models (&self, FAB_MODEL_WORKLOAD, "job", ", pattern: incast, size: 1MiB");
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    n_missing += count_missing (&self, kinds[i]);
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, self.refused);
  while (g_hash_table_iter_next (&iter, NULL, &key))
    print_message ("%s: each other value is refused beside the rest\n", (const char *) key);
  print_message ("%u keys change what is stored, %u are refused\n", self.n_changed,
                 g_hash_table_size (self.refused));
  assert_int_equal (n_missing, 0);
  assert_in_range (self.n_changed, 200, G_MAXINT);
  g_hash_table_unref (self.tried);
  g_hash_table_unref (self.refused);
  fab_catalog_free (self.catalog);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { cmocka_unit_test (no_key_is_ignored) };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
