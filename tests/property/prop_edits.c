/* SPDX-License-Identifier: Apache-2.0 */
/* prop_edits.c - random edits of the shipped scenarios: typed values set over a copy, one at a time, make the same
 * scenario as assignments laid over the file before it is read; what one refuses, the other refuses. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/scenario/scenario.h"
#include "tests/support/play.h"
#include "tests/support/seeds.h"

enum { N_EDITS = 4 };

static FabCatalog *catalog;
static GPtrArray *paths, *bases; /* char, FabScenario */

/* --- random edits --- */

typedef struct {
  char *key;
  FabValue *value; /* that the scenario has */
} Leaf;

static void
leaf_clear (gpointer data)
{
  Leaf *self = data;

  g_free (self->key);
  fab_value_unref (self->value);
}

/* Every key with its value, the tables and models too. */
static void
collect (const char *key, const FabValue *value, GArray *leaves)
{
  for (guint i = 0; value->values != NULL && i < value->values->len; i++) {
    const FabValue *below = g_ptr_array_index (value->values, i);
    g_autofree char *number = g_strdup_printf ("%u", i);
    const char *name = value->keys != NULL ? g_ptr_array_index (value->keys, i) : number;
    Leaf leaf = { *key != '\0' ? g_strconcat (key, ".", name, NULL) : g_strdup (name),
                  fab_value_ref (below) };

    g_array_append_val (leaves, leaf);
    collect (leaf.key, below, leaves);
  }
}

static FabValue *
changed (Random *random, const FabValue *value)
{
  static const char *const texts[] = { "ddp",  "zero", "fsdp",     "fluid", "none",
                                       "full", "ring", "dgx-h100", "ib-ndr" };
  double factor = random_scale (random, 0.25, 4);

  switch (value->kind) {
  case FAB_VALUE_FLAG: return fab_value_flag (!value->flag);
  case FAB_VALUE_WHOLE: return fab_value_whole (value->unit, (gint64) ((double) value->whole * factor));
  case FAB_VALUE_REAL: return fab_value_real (value->unit, value->real * factor);
  case FAB_VALUE_TEXT: return fab_value_text (texts[random_below (random, G_N_ELEMENTS (texts))]);
  case FAB_VALUE_WRITTEN:
  case FAB_VALUE_LIST:
  case FAB_VALUE_MAPPING:
  default: return fab_value_ref (value);
  }
}

/* --- both ways --- */

static FabScenario *
before_reading (const char *path, const FabEdits *edits, GError **error)
{
  return fab_scenario_load (path, fab_edits_texts (edits), &fab_models, catalog, error);
}

/* Read before the first edit and after each. */
static FabScenario *
after_reading (const FabScenario *base, const FabEdits *edits, GError **error)
{
  g_autoptr (FabScenario) copy = fab_scenario_copy (base);

  for (guint i = 0; i < fab_edits_count (edits); i++) {
    const FabEdit *edit = fab_edits_at (edits, i);

    if (!fab_scenario_set (copy, edit->key, fab_value_ref (edit->value), error))
      return NULL;
    fab_scenario_check (copy, NULL);
  }
  return fab_scenario_check (copy, error) ? g_steal_pointer (&copy) : NULL;
}

static void
assert_same (const char *path, const FabEdits *edits, const FabScenario *a, const FabScenario *b,
             const GError *a_error, const GError *b_error)
{
  g_autofree char *sets = g_strjoinv (" ", (char **) fab_edits_texts (edits));

  if ((a == NULL) != (b == NULL))
    fail_msg ("%s %s\nbefore reading: %s\nafter: %s", path, sets, a ? "taken" : a_error->message,
              b ? "taken" : b_error->message);
  if (a != NULL && !fab_schema_equal (fab_scenario_params, fab_scenario_spec (a), fab_scenario_spec (b))) {
    g_autofree char *x = fab_scenario_resolved (a), *y = fab_scenario_resolved (b);

    fail_msg ("%s %s\nbefore reading:\n%s\nafter:\n%s", path, sets, x, y);
  }
}

/* Items of lists that a default holds cannot be named, as the file has none; and an assignment that undoes another one
 * is refused. */
static gboolean
can_add (const FabEdits *edits, const char *key)
{
  if (strpbrk (key, "0123456789") != NULL)
    return FALSE;
  for (guint i = 0; i < fab_edits_count (edits); i++)
    if (g_str_has_prefix (fab_edits_at (edits, i)->key, key)
        || g_str_has_prefix (key, fab_edits_at (edits, i)->key))
      return FALSE;
  return TRUE;
}

static void
check_edits (Random *random)
{
  guint which = random_below (random, paths->len);
  const char *path = g_ptr_array_index (paths, which);
  const FabScenario *base = g_ptr_array_index (bases, which);
  g_autoptr (GArray) leaves = g_array_new (FALSE, FALSE, sizeof (Leaf));
  g_autoptr (FabEdits) edits = fab_edits_new ();
  g_autoptr (GError) before_error = NULL, after_error = NULL;
  static const char *const sections[] = { "cluster", "job",        "fidelity",   "collectives",
                                          "seed",    "iterations", "links",      "nodes",
                                          "models",  "faults",     "background", "neighbours" };

  g_array_set_clear_func (leaves, leaf_clear);
  for (guint i = 0; i < G_N_ELEMENTS (sections); i++) {
    Leaf leaf = { g_strdup (sections[i]), NULL };

    assert_true (fab_scenario_get (base, sections[i], &leaf.value, NULL));
    g_array_append_val (leaves, leaf);
    collect (sections[i], leaf.value, leaves);
  }
  for (guint i = 0; i < random_between (random, 1, N_EDITS); i++) {
    const Leaf *leaf = &g_array_index (leaves, Leaf, random_below (random, leaves->len));

    if (can_add (edits, leaf->key))
      fab_edits_set (edits, leaf->key, changed (random, leaf->value));
  }
  g_autoptr (FabScenario) before = before_reading (path, edits, &before_error);
  g_autoptr (FabScenario) after = after_reading (base, edits, &after_error);
  assert_same (path, edits, before, after, before_error, after_error);
}

static void
edits_after_reading_are_edits_before (G_GNUC_UNUSED void **state)
{
  seeds_run (3000, check_edits);
}

/* What is asked of a scenario and set over it again changes nothing but the summary, which an edit composes anew unless
 * it is set too. */
static void
what_is_got_can_be_set (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < paths->len; i++) {
    const FabScenario *base = g_ptr_array_index (bases, i);
    static const char *const sections[] = { "cluster", "job",   "fidelity", "collectives",
                                            "cost",    "links", "faults" };

    for (guint s = 0; s < G_N_ELEMENTS (sections); s++) {
      g_autoptr (FabScenario) copy = fab_scenario_copy (base);
      g_autoptr (GError) error = NULL;
      FabValue *value, *summary;

      assert_true (fab_scenario_get (base, sections[s], &value, &error));
      assert_true (fab_scenario_get (base, "summary", &summary, &error));
      if (!fab_scenario_set (copy, sections[s], value, &error)
          || !fab_scenario_set (copy, "summary", summary, &error) || !fab_scenario_check (copy, &error))
        fail_msg ("%s: %s", (const char *) g_ptr_array_index (paths, i), error->message);
      assert_true (
          fab_schema_equal (fab_scenario_params, fab_scenario_spec (base), fab_scenario_spec (copy)));
    }
  }
}

static void
free_base (gpointer scenario)
{
  fab_scenario_free (scenario);
}

static void
load_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    FabScenario *scenario = g_str_has_suffix (name, ".yaml")
                              ? fab_scenario_load (path, NULL, &fab_models, catalog, NULL)
                              : NULL;

    if (scenario == NULL)
      continue;
    g_ptr_array_add (paths, g_steal_pointer (&path));
    g_ptr_array_add (bases, scenario);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (edits_after_reading_are_edits_before),
    cmocka_unit_test (what_is_got_can_be_set),
  };
  int n_failed;

  catalog = play_catalog ();
  paths = g_ptr_array_new_with_free_func (g_free);
  bases = g_ptr_array_new_with_free_func (free_base);
  load_folder (FAB_SOURCE_DIR "/scenarios");
  load_folder (FAB_SOURCE_DIR "/scenarios/learn");
  n_failed = cmocka_run_group_tests_name ("edits", tests, NULL, NULL);
  g_ptr_array_unref (bases);
  g_ptr_array_unref (paths);
  fab_catalog_free (catalog);
  return n_failed;
}
