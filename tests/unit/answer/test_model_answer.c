/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_answer.c - parameters, FLOPs and memory of every model of the catalogue are sums over its layers. */
#include "tests/support/test.h"

#include "answer/model.h"
#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* The name of a layer without the number at its end. (transfer full) */
static char *
stem_of (const FabLayer *layer)
{
  gsize n = strlen (layer->name);

  while (n > 0 && g_ascii_isdigit (layer->name[n - 1]))
    n--;
  return g_strndup (layer->name, n);
}

static double
kept_by (const FabLayer *layer)
{
  double bytes = 0;

  for (guint i = 0; i < layer->segments->len; i++) {
    const FabSegment *segment = fab_layer_segment (layer, i);

    assert_true (segment->saved_whole_bytes >= 0 && segment->saved_split_bytes >= 0
                 && segment->saved_score_bytes >= 0);
    bytes += segment->saved_split_bytes;
    bytes += segment->saved_score_bytes;
    bytes += segment->saved_whole_bytes;
  }
  return bytes;
}

static gboolean
are_alike (const FabLayer *one, const FabLayer *other)
{
  g_autofree char *stem = stem_of (one), *other_stem = stem_of (other);

  return strcmp (stem, other_stem) == 0 && one->parameters == other->parameters
      && one->segments->len == other->segments->len
      && one->forward_flops_per_token == other->forward_flops_per_token
      && is_near (kept_by (one) + 1, kept_by (other) + 1, 1e-12);
}

static void
check_model (const FabModelSpec *model, guint sequence, guint *n_grouped, guint *n_scored)
{
  g_autoptr (FabModelAnswer) self = fab_model_answer (model, sequence);
  const FabLayerStack *stack = self->stack;
  double kept = 0, boundary = 0, flops = 0;
  guint64 parameters = 0;
  guint next = 0;

  for (guint i = 0; i < stack->layers->len; i++) {
    const FabLayer *layer = fab_layer_stack_layer (stack, i);
    guint64 of_segments = 0;

    for (guint s = 0; s < layer->segments->len; s++)
      of_segments += fab_model_segment_parameters (layer, s);
    assert_true (of_segments == layer->parameters);
    kept += kept_by (layer);
    boundary += layer->hidden_bytes;
    flops += layer->forward_flops_per_token;
    parameters += layer->parameters;
  }
  assert_near (self->kept_bytes, kept, 1e-12);
  assert_near (self->boundary_bytes, boundary, 1e-12);
  assert_near (self->both_flops, 3 * flops, 1e-9); /* the backward pass does twice as much */
  assert_near (self->state_bytes, 16 * (double) parameters, 1e-12);
  assert_near (self->six_n_flops, 6 * (double) stack->active_parameters, 1e-12);
  double scores = fab_layer_stack_score_flops (stack);
  if (scores > 0)
    assert_near (self->causal_flops, 3 * (flops - scores / 2), 1e-9);
  else
    assert_true (self->causal_flops == 0);
  *n_scored += scores > 0;
  /* Groups follow one another; of one the layers are alike, and the next group is another one. */
  for (guint g = 0; g < self->layers->len; g++) {
    FabModelLayers group = g_array_index (self->layers, FabModelLayers, g);

    assert_int_equal (group.first, next);
    assert_true (group.n >= 1);
    next += group.n;
    for (guint i = 1; i < group.n; i++)
      assert_true (are_alike (fab_layer_stack_layer (stack, group.first),
                              fab_layer_stack_layer (stack, group.first + i)));
    if (next < stack->layers->len)
      assert_false (
          are_alike (fab_layer_stack_layer (stack, group.first), fab_layer_stack_layer (stack, next)));
    *n_grouped += group.n > 1;
  }
  assert_int_equal (next, stack->layers->len);
}

static void
every_model_is_the_sum_of_its_layers (G_GNUC_UNUSED void **state)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_MODELS);
  guint n = 0, n_grouped = 0, n_scored = 0;

  for (; names[n] != NULL; n++) {
    const FabModelSpec *model = fab_catalog_entry (catalog, FAB_SECTION_MODELS, names[n]);

    check_model (model, 1024, &n_grouped, &n_scored);
    check_model (model, 8192, &n_grouped, &n_scored);
  }
  assert_true (n > 10 && n_grouped > n && n_scored > n);
}

/* Attention that is written to memory keeps its scores for the backward pass, of each token with all 512: the softmax
 * of 8 heads in 4 layers is 4 x 2 x 8 x 512 bytes. A flash kernel keeps 4 bytes a head in their place. */
static void
scores_that_are_written_are_kept (G_GNUC_UNUSED void **state)
{
  static const char *const attentions[] = { "flash", "full" };
  double kept[2];

  for (guint i = 0; i < 2; i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-a100}\nmodels: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: "
        "{kind: transformer, layers: 4, hidden: 1024, heads: 8, vocabulary: 1000, tied: false, biases: false, "
        "attention: %s}}]\njob: {kind: ddp, model: m, micro_batch: 1, sequence: 512}\n",
        attentions[i]);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    const FabModelSpec *model = fab_catalog_entry (fab_scenario_catalog (play->scenario), FAB_SECTION_MODELS,
                                                   "m");
    guint n_grouped = 0, n_scored = 0;

    check_model (model, 512, &n_grouped, &n_scored);
    assert_true (n_grouped == 1 && n_scored == 1);
    g_autoptr (FabModelAnswer) self = fab_model_answer (model, 512);
    kept[i] = self->kept_bytes;
  }
  assert_near (kept[1] - kept[0], 4 * 2 * 8 * 512 - 4 * 4 * 8, 1e-9);
  fab_model_answer_free (NULL); /* there is none to free */
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_model_is_the_sum_of_its_layers),
    cmocka_unit_test (scores_that_are_written_are_kept),
  };

  return play_run_tests ("model_answer", tests, &catalog);
}
