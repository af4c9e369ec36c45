/* SPDX-License-Identifier: Apache-2.0 */
/* test_layers.c - layers that a model lists one by one (models/shape/layers.c): what becomes of each row, and how many
 * there may be. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/execution/layers.h"
#include "tests/support/params.h"

#define SHAPE                                                                             \
  "{layers: [{name: table, lookup: true, output: 7B, tensors: [{parameters: 1000}]}, "    \
  "{name: block, count: 2, saved: 5B, output: 3B, tensors: [{count: 3, parameters: 20}, " \
  "{parameters: 4}]}, {forward: 9FLOP, tensors: [{parameters: 8}]}]}"

/* Copies of a layer have numbers. Without FLOPs of its own a layer has two for each of its parameters, and a table that
 * is looked up has none. */
static void
rows_become_layers (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    guint n_tensors;
    guint64 parameters;
    double flops, hidden_bytes, saved_bytes;
  } rows[] = { { "table", 1, 1000, 0, 7, 0 },
               { "block0", 4, 64, 128, 3, 5 },
               { "block1", 4, 64, 128, 3, 5 },
               { "layer", 1, 8, 9, 0, 0 } };
  g_autoptr (Params) params = params_new (&fab_shape_layers.info, SHAPE);
  g_autoptr (FabLayerStack) stack = fab_layer_stack_new ();

  fab_shape_layers.expand (params->params, 1, stack);
  assert_int_equal (stack->layers->len, G_N_ELEMENTS (rows));
  assert_int_equal (stack->parameters, 1000 + 2 * 64 + 8);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabLayer *layer = fab_layer_stack_layer (stack, i);

    assert_string_equal (layer->name, rows[i].name);
    assert_true (layer->is_block);
    assert_int_equal (layer->tensors->len, rows[i].n_tensors);
    assert_int_equal (layer->parameters, rows[i].parameters);
    assert_near (layer->forward_flops_per_token, rows[i].flops, 1e-12);
    assert_near (layer->hidden_bytes, rows[i].hidden_bytes, 1e-12);
    const GArray *saved = fab_layer_segment (layer, 0)->saved;
    assert_near (saved->len > 0 ? g_array_index (saved, FabSaved, 0).bytes : 0, rows[i].saved_bytes, 1e-12);
  }
}

static guint n_mistakes;

static void
report (G_GNUC_UNUSED FabCheck *check, G_GNUC_UNUSED gconstpointer field, G_GNUC_UNUSED const char *message)
{
  n_mistakes++;
}

static guint
mistakes_of (const char *rows)
{
  g_autofree char *yaml = g_strdup_printf ("{layers: [%s]}", rows);
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse ("t", yaml, strlen (yaml), diagnostics);
  g_autofree gpointer params = g_malloc0 (fab_shape_layers.info.params_size);
  FabSchemaReader *reader = fab_schema_reader_new (&fab_models, diagnostics);
  FabCheck check = { report };

  fab_schema_read (reader, fab_yaml_doc_root (doc), fab_shape_layers.info.params, params);
  assert_int_equal (fab_diagnostics_count (diagnostics), 0);
  n_mistakes = 0;
  fab_shape_layers.info.check (params, &check);
  fab_schema_reader_free (reader);
  return n_mistakes;
}

/* A million tensors and 1e15 parameters in all, of all copies of all layers, are the most. */
static void
there_are_limits (G_GNUC_UNUSED void **state)
{
  assert_int_equal (mistakes_of (""), 1);
  assert_int_equal (mistakes_of ("{tensors: [{parameters: 1}]}"), 0);
  assert_int_equal (mistakes_of ("{count: 1000, tensors: [{count: 1000, parameters: 1}]}"), 0);
  assert_int_equal (mistakes_of ("{count: 1001, tensors: [{count: 1000, parameters: 1}]}"), 1);
  assert_int_equal (mistakes_of ("{count: 1000, tensors: [{count: 999, parameters: 1}, {parameters: 1}]}"),
                    0);
  assert_int_equal (mistakes_of ("{count: 1000, tensors: [{count: 999, parameters: 1}, {parameters: 1}]}, "
                                 "{tensors: [{parameters: 1}]}"),
                    1);
  assert_int_equal (mistakes_of ("{count: 10, tensors: [{count: 10, parameters: 1e13}]}"), 0);
  assert_int_equal (mistakes_of ("{count: 10, tensors: [{count: 10, parameters: 1e13}, {parameters: 1}]}"),
                    1);
  assert_int_equal (mistakes_of ("{count: 1001, tensors: [{count: 1000, parameters: 1e13}]}"), 2);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rows_become_layers),
    cmocka_unit_test (there_are_limits),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
