/* SPDX-License-Identifier: Apache-2.0 */
/* test_recompute.c - what of a block is kept for the backward pass, and what is computed again
 * (models/workload/training/recompute.c).
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "models/workload/training/recompute.h"
#include "tests/support/params.h"

enum { FIRST_BLOCK = 1 }; /* behind the embedding */

/* Keys and values of half of the heads; keys and values of low rank; scores in memory; experts of every sort. */
static const char *const shapes[] = {
  "{layers: 4, hidden: 64, heads: 8, kv_heads: 4, vocabulary: 10, gated: true, biases: false}",
  "{layers: 4, hidden: 64, heads: 8, vocabulary: 10, biases: false, latent: {q_lora_rank: 6, kv_lora_rank: 4, "
  "qk_nope_head_dim: 3, qk_rope_head_dim: 2, v_head_dim: 5}, experts: {count: 4, per_token: 2, width: 32, latent: 8, "
  "shared: 1}}",
  "{layers: 4, hidden: 64, heads: 8, vocabulary: 10, attention: full, dropout: true}",
  "{layers: 4, hidden: 64, heads: 8, vocabulary: 10, norms: 4, gated: true, "
  "experts: {count: 4, per_token: 2, width: 32}}",
};

static FabLayerStack *
expand (const char *shape)
{
  g_autoptr (Params) params = params_new (&fab_shape_transformer.info, shape);
  FabLayerStack *stack = fab_layer_stack_new ();

  fab_shape_transformer.expand (params->params, 16, stack);
  return stack;
}

/* A job of which nothing but these keys matters. */
typedef struct {
  TrainParams params;
  Strategy strategy;
  Train train;
} Job;

static void
job_init (Job *self, FabLayerStack *stack)
{
  *self = (Job){ .params.compute.info = &fab_compute_mfu.info,
                 .params.memory.kernels = 1 + FAB_KERNELS_FUSED,
                 .params.recompute_every = 2 };
  self->train.params = &self->params;
  self->train.strategy = &self->strategy;
  self->train.stack = stack;
}

static const char *const modules[] = { "core_attn",   "layernorm", "mlp",           "moe_act",
                                       "mla_up_proj", "moe",       "shared_experts" };
enum { CORE, NORM, MLP, ACTIVATION, LATENT, MOE, SHARED, N_MODULES };

/* "mlp, moe" of bits. (transfer full) */
static char *
list_modules (guint set)
{
  GString *text = g_string_new (NULL);

  for (guint m = 0; m < N_MODULES; m++)
    if ((set >> m & 1) != 0)
      g_string_append_printf (text, "%s%s", text->len > 0 ? "," : "", modules[m]);
  return g_string_free (text, FALSE);
}

/* Whether a module is all of a segment. */
static gboolean
is_all_of (guint module, const FabSegment *segment)
{
  gboolean is_shared = strcmp (segment->name, "shared") == 0;
  gboolean is_expert = strcmp (segment->name, "router") == 0 || strcmp (segment->name, "experts") == 0
                    || strcmp (segment->name, "latent") == 0;

  return module == MLP    ? strcmp (segment->name, "mlp") == 0
       : module == SHARED ? is_shared
                          : module == MOE && (is_shared || is_expert);
}

static gboolean
goes_up (const char *name)
{
  return strcmp (name, "q_up") == 0 || strcmp (name, "kv_up") == 0;
}

static gboolean
is_of_module (guint module, const FabSegment *segment, const FabOperator *op)
{
  switch (module) {
  case CORE: return op->kind == FAB_OPERATOR_ATTENTION;
  case NORM: return op->kind == FAB_OPERATOR_MEMORY && strstr (op->name, "norm") != NULL;
  case ACTIVATION: return strcmp (segment->name, "experts") == 0 && strstr (op->name, "activation") != NULL;
  case LATENT: return goes_up (op->name);
  default: return is_all_of (module, segment);
  }
}

static gboolean
is_of_any (guint set, const FabSegment *segment, const FabOperator *op)
{
  for (guint m = 0; m < N_MODULES; m++)
    if ((set >> m & 1) != 0 && is_of_module (m, segment, op))
      return TRUE;
  return FALSE;
}

static void
check_operators (Job *job, guint set)
{
  for (guint l = 0; l < job->train.stack->layers->len; l++) {
    const FabLayer *layer = fab_layer_stack_layer (job->train.stack, l);

    for (guint s = 0; s < layer->segments->len; s++) {
      const FabSegment *segment = fab_layer_segment (layer, s);
      g_autoptr (GArray) again = recompute_operators (&job->train, layer, s);
      guint n = 0;

      for (guint i = 0; i < segment->operators->len; i++) {
        const FabOperator *op = &g_array_index (segment->operators, FabOperator, i);

        if (!layer->is_block || !is_of_any (set, segment, op))
          continue;
        if (n == again->len || strcmp (g_array_index (again, FabOperator, n).name, op->name) != 0)
          fail_msg ("%s of %s is not computed again with %s", op->name, segment->name,
                    job->params.recompute_modules);
        n++;
      }
      assert_int_equal (again->len, n);
    }
  }
}

/* Every set of modules computes again what one of them does, in the order of the pass, and nothing outside blocks. */
static void
sets_of_modules_run_again (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autoptr (FabLayerStack) stack = expand (shapes[i]);
    Job job;

    job_init (&job, stack);
    for (guint set = 0; set < 1 << N_MODULES; set++) {
      g_autofree char *list = list_modules (set), *wrong = NULL;

      assert_true (recompute_modules_check (list, &wrong));
      job.params.recompute = RECOMPUTE_MODULES;
      job.params.recompute_modules = list;
      check_operators (&job, set);
      job.params.recompute = RECOMPUTE_NONE;
      check_operators (&job, 0);
      job.params.recompute = RECOMPUTE_SELECTIVE; /* the scores of attention alone */
      check_operators (&job, 1 << CORE);
    }
  }
}

/* What a module made is not kept; what it begins with is: the input of the segment, its first norm, and statistics. */
static gboolean
is_kept (guint set, const FabSegment *segment, const FabSaved *saved)
{
  gboolean has_latent = FALSE;

  for (guint m = 0; m < N_MODULES; m++)
    if ((set >> m & 1) != 0 && is_all_of (m, segment))
      return saved->kind == FAB_SAVED_STREAM || saved->kind == FAB_SAVED_STATISTIC
          || (saved->kind == FAB_SAVED_NORM && saved->is_input);
  for (guint i = 0; i < segment->operators->len; i++)
    has_latent |= goes_up (g_array_index (segment->operators, FabOperator, i).name);
  switch (saved->kind) {
  case FAB_SAVED_SCORES: return (set >> CORE & 1) == 0;
  case FAB_SAVED_ATTENTION: return (set >> CORE & 1) == 0 || saved->is_input;
  case FAB_SAVED_NORM: return (set >> NORM & 1) == 0;
  case FAB_SAVED_ROTATED: return (set >> LATENT & 1) == 0 || !has_latent;
  case FAB_SAVED_ACTIVATED: return (set >> ACTIVATION & 1) == 0 || strcmp (segment->name, "experts") != 0;
  case FAB_SAVED_STREAM:
  case FAB_SAVED_MATRIX:
  case FAB_SAVED_STATISTIC:
  case FAB_SAVED_EXCHANGE:
  case FAB_SAVED_LOGITS: break;
  }
  return TRUE;
}

static void
check_kept (Job *job, guint set, guint style)
{
  job->params.memory.kernels = (gint) (1 + style);
  for (guint l = 0; l < job->train.stack->layers->len; l++) {
    const FabLayer *layer = fab_layer_stack_layer (job->train.stack, l);

    for (guint s = 0; s < layer->segments->len; s++) {
      const FabSegment *segment = fab_layer_segment (layer, s);

      for (guint i = 0; i < segment->saved->len; i++) {
        const FabSaved *saved = fab_segment_saved (segment, i);
        gboolean is_made = (saved->kernels >> style & 1) != 0;
        guint n_products = 0;

        if (recompute_keeps (&job->train, layer, segment, saved, &n_products)
            != (is_made && is_kept (layer->is_block ? set : 0, segment, saved)))
          fail_msg ("%s of %s with %s", saved->name, segment->name, job->params.recompute_modules);
      }
    }
  }
}

static void
modules_keep_what_they_begin_with (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autoptr (FabLayerStack) stack = expand (shapes[i]);
    Job job;

    job_init (&job, stack);
    job.params.recompute = RECOMPUTE_MODULES;
    for (guint set = 0; set < 1 << N_MODULES; set++)
      for (guint style = 0; style < FAB_N_KERNELS; style++) {
        g_autofree char *list = list_modules (set);

        job.params.recompute_modules = list;
        check_kept (&job, set, style);
      }
  }
}

/* Of the products of a block every n-th is kept, counted from the first. The others and what moves memory run again:
 * a product as long as it did, with the bytes of what goes in and out. */
static void
every_nth_product_is_kept (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint every = 1; every <= 4; every++) {
      g_autoptr (FabLayerStack) stack = expand (shapes[i]);
      const FabLayer *block = fab_layer_stack_layer (stack, FIRST_BLOCK);
      guint n_products = 0, count = 0;
      Job job;

      job_init (&job, stack);
      job.params.recompute = RECOMPUTE_OPERATORS;
      job.params.recompute_every = every;
      for (guint s = 0; s < block->segments->len; s++) {
        const FabSegment *segment = fab_layer_segment (block, s);
        g_autoptr (GArray) again = recompute_operators (&job.train, block, s);
        guint n = 0;

        for (guint o = 0; o < segment->operators->len; o++) {
          const FabOperator *op = &g_array_index (segment->operators, FabOperator, o);

          if (op->kind == FAB_OPERATOR_MEMORY)
            assert_string_equal (g_array_index (again, FabOperator, n++).name, op->name);
        }
        for (guint k = 0; k < segment->saved->len; k++) {
          const FabSaved *saved = fab_segment_saved (segment, k);
          gboolean is_product = saved->kind == FAB_SAVED_MATRIX, is_first = s == 0 && k == 0;
          gboolean is_kept_here = is_product ? count % every == 0
                                : saved->kind == FAB_SAVED_ATTENTION
                                    ? saved->is_input || saved->is_exact
                                    : is_first || saved->kind == FAB_SAVED_EXCHANGE;

          assert_int_equal (recompute_keeps (&job.train, block, segment, saved, &n_products), is_kept_here);
          count += is_product;
          assert_int_equal (n_products, count);
          if (!is_product || is_kept_here)
            continue;
          const FabOperator *op = &g_array_index (again, FabOperator, n++);
          assert_string_equal (op->name, saved->name);
          assert_int_equal (op->kind, FAB_OPERATOR_MATMUL);
          assert_true (op->n == saved->n && op->k == saved->k && op->n_matrices == saved->n_matrices
                       && op->is_split == segment->is_split);
          assert_near (op->flops, saved->flops, 0);
          assert_near (op->bytes, saved->flops / (double) saved->n + saved->flops / (double) saved->k, 1e-9);
        }
        assert_int_equal (again->len, n);
      }
      assert_true (count >= 4);
    }
}

/* Four blocks in two parts, of which the first has the embedding too and the second the head. */
static void
blocks_of_a_part_are_counted (G_GNUC_UNUSED void **state)
{
  static const guint index[] = { 0, 0, 1, 0, 1, 2 }; /* of layers: the embedding, the blocks, the head */
  const Chunk chunks[] = { { .first_layer = 0, .n_layers = 3 }, { .first_layer = 3, .n_layers = 3 } };
  g_autoptr (FabLayerStack) stack = expand (shapes[0]);
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (Chunk));
  Job job;

  job_init (&job, stack);
  for (guint l = 0; l < 6; l++)
    assert_int_equal (train_block_index (&job.train, l), 0); /* before there are parts */
  g_array_append_vals (parts, chunks, 2);
  job.train.parts = parts;
  for (guint l = 0; l < 6; l++) {
    gboolean is_block = l >= FIRST_BLOCK && l <= 4;

    assert_int_equal (train_block_index (&job.train, l), index[l]);
    for (guint kind = RECOMPUTE_NONE; kind <= RECOMPUTE_MODULES; kind++)
      for (guint n = 0; n <= 3; n++) {
        job.params.recompute = (gint) kind;
        job.params.recompute_layers = n;
        job.params.recompute_method = RECOMPUTE_UNIFORM;
        assert_int_equal (recompute_is_whole (&job.train, l), is_block && kind == RECOMPUTE_FULL);
        if (is_block)
          assert_int_equal (recompute_keeps_input (&job.train, l), n <= 1 || index[l] % n == 0);
        job.params.recompute_method = RECOMPUTE_UNIFORM + 1; /* block: the first n */
        assert_int_equal (recompute_is_whole (&job.train, l),
                          is_block && kind == RECOMPUTE_FULL && (n == 0 || index[l] < n));
        assert_true (recompute_keeps_input (&job.train, l));
      }
  }
}

/* The last product of a block is not computed again by PyTorch's own checkpoints from 2.1 on, nor by XLA. Dropout and a
 * norm behind it need it. */
static void
checkpoints_stop_early (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *stack;
    gboolean has_plain_checkpoints;
    guint pytorch;
    gboolean stops;
  } rows[] = {
    { "eager", TRUE, FAB_PYTORCH (2, 1), TRUE },      { "eager", TRUE, FAB_PYTORCH (2, 0), FALSE },
    { "eager", FALSE, FAB_PYTORCH (2, 1), FALSE },    { "compiled", TRUE, FAB_PYTORCH (2, 11), TRUE },
    { "compiled", FALSE, FAB_PYTORCH (2, 1), FALSE }, { "megatron", TRUE, FAB_PYTORCH (2, 1), FALSE },
    { "xla", FALSE, FAB_PYTORCH (1, 8), TRUE },       { "xla", TRUE, FAB_PYTORCH (2, 1), TRUE }
  };
  static const char tail[] = "{layers: 1, hidden: 64, heads: 8, vocabulary: 10, biases: false%s}";
  static const char *const keys[] = { "", ", gated: true", ", dropout: true", ", norms: 4" };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint k = 0; k < G_N_ELEMENTS (keys); k++) {
      g_autofree char *shape = g_strdup_printf (tail, keys[k]);
      g_autoptr (FabLayerStack) stack = expand (shape);
      const FabLayer *block = fab_layer_stack_layer (stack, FIRST_BLOCK);
      const GArray *all = fab_layer_segment (block, 1)->operators;
      Job job;

      job_init (&job, stack);
      job.strategy.has_plain_checkpoints = rows[i].has_plain_checkpoints;
      job.train.software = (FabSoftware){ .stack = rows[i].stack, .pytorch = rows[i].pytorch };
      g_autoptr (GArray) attention = recompute_until (&job.train, block, 0),
                         mlp = recompute_until (&job.train, block, 1);
      assert_null (attention);
      assert_int_equal (mlp != NULL, rows[i].stops && k < 2);
      if (mlp == NULL)
        continue;
      assert_string_equal (g_array_index (all, FabOperator, mlp->len).name, "down");
      for (guint o = 0; o < mlp->len; o++)
        assert_string_equal (g_array_index (mlp, FabOperator, o).name,
                             g_array_index (all, FabOperator, o).name);
    }
}

static void
lists_name_modules (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *list, *wrong; /* NULL: none */
  } rows[] = { { "", NULL },         { "mlp", NULL },     { "mlp,moe", NULL },
               { "mlp, moe", NULL }, { "mlp moe", NULL }, { "attention", "attention" },
               { "mlp,ml", "ml" },   { "x,y", "x" },      { "core_attn,", NULL },
               { "MLP", "MLP" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *wrong = NULL;

    assert_int_equal (recompute_modules_check (rows[i].list, &wrong), rows[i].wrong == NULL);
    assert_int_equal (g_strcmp0 (wrong, rows[i].wrong), 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (sets_of_modules_run_again), cmocka_unit_test (modules_keep_what_they_begin_with),
    cmocka_unit_test (every_nth_product_is_kept), cmocka_unit_test (blocks_of_a_part_are_counted),
    cmocka_unit_test (checkpoints_stop_early),    cmocka_unit_test (lists_name_modules),
  };

  return cmocka_run_group_tests_name ("recompute", tests, NULL, NULL);
}
