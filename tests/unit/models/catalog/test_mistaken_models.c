/* SPDX-License-Identifier: Apache-2.0 */
/* test_mistaken_models.c - keys of models that contradict each other, one mistake at a time: it is said, and the
 * nearest keys without the mistake are accepted. Jobs of training have tests of their own. */
#include "tests/support/test.h"

#include <string.h>

#include "tests/support/play.h"

static FabCatalog *catalog;

/* Lines of a scenario that a row replaces; NULL: what every scenario has. */
typedef struct {
  const char *fidelity, *fabric, *shape, *compute;
} Keys;

/* NULL: the scenario is right; else what is wrong. (transfer full) */
static char *
problem_of (const Keys *keys)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\nfidelity: %s\ncluster: {node: dgx-h100, nodes: 4, gpus_per_node: 1, "
      "nics_per_node: 1, fabric: %s}\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-30\", shape: %s}]\n"
      "job: {kind: ddp, model: m, micro_batch: 1, sequence: 16, compute: %s}\n",
      keys->fidelity != NULL ? keys->fidelity : "fluid", keys->fabric != NULL ? keys->fabric : "switch",
      keys->shape != NULL ? keys->shape
                          : "{kind: transformer, layers: 2, hidden: 64, heads: 4, vocabulary: 64}",
      keys->compute != NULL ? keys->compute : "{kind: mfu}");

  return play_problem (catalog, yaml);
}

static void
assert_wrong (const Keys *keys, const char *what, const char *message)
{
  g_autofree char *problem = problem_of (keys);

  if (problem == NULL)
    fail_msg ("accepted: %s", what);
  if (strstr (problem, message) == NULL)
    fail_msg ("%s\nis not refused for '%s', but:\n%s", what, message, problem);
}

static void
assert_right (const Keys *keys, const char *what)
{
  g_autofree char *problem = problem_of (keys);

  if (problem != NULL)
    fail_msg ("%s\nis refused:\n%s", what, problem);
}

typedef struct {
  const char *wrong, *message, *right; /* `right` may be NULL */
} Row;

#define SHAPE(keys_) "{kind: transformer, layers: 2, vocabulary: 64, " keys_ "}"
#define HEADS "hidden: 64, heads: 4, "

static void
shapes_fit_together (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { SHAPE ("hidden: 64, heads: 3"), "hidden 64 is not a multiple of heads 3",
      SHAPE ("hidden: 64, heads: 3, head_dim: 1") },
    { SHAPE (HEADS "kv_heads: 3"), "heads 4 is not a multiple of kv_heads 3", SHAPE (HEADS "kv_heads: 2") },
    { SHAPE (HEADS "kv_heads: 8"), "heads 4 is not a multiple of kv_heads 8", SHAPE (HEADS "kv_heads: 1") },
    { SHAPE (HEADS "latent: {kv_lora_rank: 1, v_head_dim: 5}"),
      "latent attention needs qk_nope_head_dim or qk_rope_head_dim",
      SHAPE (HEADS "latent: {kv_lora_rank: 1, v_head_dim: 5, qk_rope_head_dim: 1}") },
    { SHAPE (HEADS "latent: {kv_lora_rank: 4, qk_nope_head_dim: 3}"), "latent attention needs v_head_dim",
      SHAPE (HEADS "latent: {kv_lora_rank: 4, qk_nope_head_dim: 1, v_head_dim: 1}") },
    { SHAPE (HEADS "pattern: '*X'"), "'X' in the pattern is not a kind of block",
      SHAPE (HEADS "pattern: '*-'") },
    { SHAPE (HEADS "pattern: '*-*'"), "the pattern has 3 letters for layers: 2", NULL },
    { SHAPE (HEADS "pattern: '*'"), "the pattern has 1 letters for layers: 2", NULL },
    { SHAPE (HEADS "pattern: 'M-'"), "M in the pattern needs mamba.heads",
      SHAPE (HEADS "pattern: 'M-', mamba: {heads: 1, head_dim: 4, state: 3}") },
    { SHAPE (HEADS "pattern: '*E'"), "E in the pattern needs experts.count",
      SHAPE (HEADS "pattern: '*E', experts: {count: 1, per_token: 1}") },
    { SHAPE (HEADS "norms: 3"), "a block has 1, 2 or 4 norms, not 3", SHAPE (HEADS "norms: 2") },
    { SHAPE (HEADS "experts: {count: 1, per_token: 2}"), "a token cannot go to 2 of 1 experts",
      SHAPE (HEADS "experts: {count: 2, per_token: 2}") },
    { SHAPE (HEADS "experts: {shared: 1}"), "shared experts need experts; give experts.count",
      SHAPE (HEADS "experts: {count: 2, per_token: 1, shared: 1}") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    assert_wrong (&(Keys){ .shape = rows[i].wrong }, rows[i].wrong, rows[i].message);
    if (rows[i].right != NULL)
      assert_right (&(Keys){ .shape = rows[i].right }, rows[i].right);
  }
  assert_right (&(Keys){ .shape = SHAPE (HEADS "norms: 1") }, "norms: 1");
  assert_right (&(Keys){ .shape = SHAPE (HEADS "norms: 4") }, "norms: 4");
}

#define TORUS(keys_) "{kind: torus, " keys_ "}"

static void
axes_are_given_or_not (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { TORUS ("dimensions: 2, x: 2, y: 2, z: 1"), "a torus of 2 dimensions has no z",
      TORUS ("dimensions: 2, x: 2, y: 2") },
    { TORUS ("x: 2, y: 2"), "give the sizes of all 3 axes, or of none", TORUS ("x: 2, y: 2, z: 1") },
    { TORUS ("x: 2, z: 2"), "give the sizes of all 3 axes, or of none", TORUS ("x: 2, y: 1, z: 2") },
    { TORUS ("y: 2, z: 2"), "give the sizes of all 3 axes, or of none", TORUS ("x: 1, y: 2, z: 2") },
    { TORUS ("z: 1"), "give the sizes of all 3 axes, or of none", TORUS ("dimensions: 3") },
    { TORUS ("dimensions: 2, x: 4"), "give the sizes of all 2 axes, or of none",
      TORUS ("dimensions: 2, x: 4, y: 1") },
    { TORUS ("dimensions: 2, y: 1"), "give the sizes of all 2 axes, or of none", TORUS ("dimensions: 2") },
    { "{kind: hyperx, nics_per_router: 1, axes: [{width: 3}]}",
      "a hyperx of 3 routers has ports for 3 NICs, not 4",
      "{kind: hyperx, nics_per_router: 1, axes: [{width: 4}]}" },
    { "{kind: hyperx, nics_per_router: 2, axes: [{width: 1}]}",
      "a hyperx of 1 routers has ports for 2 NICs, not 4",
      "{kind: hyperx, nics_per_router: 2, axes: [{width: 2}]}" },
  };
  g_autoptr (GString) many = g_string_new ("{kind: hyperx, nics_per_router: 4, axes: [");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    assert_wrong (&(Keys){ .fabric = rows[i].wrong }, rows[i].wrong, rows[i].message);
    assert_right (&(Keys){ .fabric = rows[i].right }, rows[i].right);
  }
  for (guint n = 1; n <= 17; n++) {
    g_autofree char *fabric = NULL;

    g_string_append (many, n == 1 ? "{width: 1}" : ", {width: 1}");
    fabric = g_strconcat (many->str, "]}", NULL);
    if (n == 16)
      assert_right (&(Keys){ .fabric = fabric }, fabric);
    if (n == 17)
      assert_wrong (&(Keys){ .fabric = fabric }, fabric, "a hyperx has at most 16 axes, not 17");
  }
}

#define CONTROL(keys_) "{kind: packet, congestion: {kind: " keys_ "}}"

static void
ranges_go_upwards (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { CONTROL ("swift, range_from: 2, range_to: 2"), "range_to 2 is not above range_from 2",
      CONTROL ("swift, range_from: 2, range_to: 2.5") },
    { CONTROL ("swift, range_from: 3, range_to: 2"), "range_to 2 is not above range_from 3",
      CONTROL ("swift, range_from: 1, range_to: 2") },
    { CONTROL ("timely, low: 50us, high: 50us"), "high is not above low",
      CONTROL ("timely, low: 50us, high: 51us") },
    { CONTROL ("timely, low: 500us"), "high is not above low", CONTROL ("timely, low: 499us") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    assert_wrong (&(Keys){ .fidelity = rows[i].wrong }, rows[i].wrong, rows[i].message);
    assert_right (&(Keys){ .fidelity = rows[i].right }, rows[i].right);
  }
}

#define TIMES(rows_) "{kind: measured, times: [" rows_ "]}"
#define ENDS "{layer: embedding, forward: 1ms}, {layer: head, forward: 1ms}"

static void
measured_layers_are_those_of_the_model (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { "{kind: measured}", "times", TIMES ("{layer: block, forward: 1ms}, " ENDS) },
    { TIMES ("{layer: block, forward: 1ms}, {layer: embedding, forward: 1ms}"),
      "there is no measured time for these layers (layer/segment): head/head", NULL },
    { TIMES (ENDS), "(layer/segment): block0/attention, block0/mlp, block1/attention, block1/mlp", NULL },
    { TIMES ("{layer: block, segment: mlp, forward: 1ms}, " ENDS),
      "(layer/segment): block0/attention, block1/attention",
      TIMES (
          "{layer: block, segment: mlp, forward: 1ms}, {layer: block, segment: attention, forward: 2ms}, " ENDS) },
    { TIMES ("{layer: block, forward: 1ms}, {layer: tail, forward: 1ms}, " ENDS),
      "compute: the model has no layer 'tail', but a time is given for it", NULL },
    { TIMES ("{layer: block, forward: 1ms}, {layer: block, segment: mix, forward: 1ms}, " ENDS),
      "compute: the model has no layer 'block/mix', but a time is given for it", NULL },
    { TIMES ("{layer: block, forward: 1ms}, {layer: block, forward: 2ms}, " ENDS),
      "the time of 'block' is given twice",
      TIMES ("{layer: block, forward: 1ms}, {layer: block, segment: mlp, forward: 2ms}, " ENDS) },
    { TIMES ("{layer: block, segment: mlp, forward: 1ms}, " ENDS
             ", {layer: block, segment: mlp, forward: 2ms}"),
      "the time of 'block' is given twice", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    assert_wrong (&(Keys){ .compute = rows[i].wrong }, rows[i].wrong, rows[i].message);
    if (rows[i].right != NULL)
      assert_right (&(Keys){ .compute = rows[i].right }, rows[i].right);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (shapes_fit_together),
    cmocka_unit_test (axes_are_given_or_not),
    cmocka_unit_test (ranges_go_upwards),
    cmocka_unit_test (measured_layers_are_those_of_the_model),
  };

  return play_run_tests ("mistaken_models", tests, &catalog);
}
