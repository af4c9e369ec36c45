/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory.c - the memory of a rank against what its tensors add up to by hand.
 *
 * A small Llama of width h, query width h, key width g, feed-forward width f and n heads keeps for each token of a
 * block, in plain PyTorch with 16-bit numbers: the inputs of two norms (4 h) with a deviation each in FP32 (8), their
 * outputs (4 h), rotated queries and keys and the values (2 h + 4 g), attention's output and its copy in the order of
 * tokens (4 h), a log-sum for each head in FP32 (4 n), and of the MLP gate, up, activated gate and product (8 f).
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

#define HEAD                                                                                           \
  "name: memory\niterations: 1\ncluster: {node: dgx-h100, nodes: 1, gpus_per_node: %u}\n"              \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-28\", shape: {kind: transformer, %s}}]\n" \
  "job: {model: m, micro_batch: 2, sequence: 512, clip_gradients: false, %s%s}\n"
#define LLAMA                                                                                             \
  "layers: 4, hidden: 1024, heads: 16, kv_heads: 4, feed_forward: 2816, vocabulary: 32000, gated: true, " \
  "tied: false, biases: false"
#define GPT "layers: 4, hidden: 1024, heads: 16, vocabulary: 32000, positions: 512"

static FabCatalog *catalog;
static const double h = 1024, g = 256, f = 2816, heads = 16, v = 32000, n_layers = 4, tokens = 1024;

static Play *
job (guint gpus, const char *shape, const char *keys)
{
  const char *compute = strstr (keys, "compute:") != NULL ? "" : "compute: {kind: roofline}, ";
  g_autofree char *yaml = g_strdup_printf (HEAD, gpus, shape, compute, keys);

  return play_new (catalog, yaml, NULL);
}

static double
part_of (const Play *play, guint rank_class, const char *name)
{
  const GArray *memory = fab_simulation_totals (play->simulation)->memory;

  for (guint i = 0; i < memory->len; i++) {
    const FabMemoryPart *part = &g_array_index (memory, FabMemoryPart, i);

    if (part->rank_class == rank_class && strcmp (part->part, name) == 0)
      return (double) part->bytes;
  }
  return 0;
}

static double
part (guint gpus, const char *shape, const char *keys, const char *name)
{
  g_autoptr (Play) play = job (gpus, shape, keys);

  return part_of (play, 0, name);
}

static double
llama_parameters (void)
{
  return n_layers * (2 * h * h + 2 * g * h + 3 * f * h + 2 * h) + 2 * v * h + h;
}

/* Per token of the last norm and the output, which every job here keeps. */
static double
head_bytes (void)
{
  return 4 * h;
}

/* --- plain PyTorch --- */

static void
plain_steps_keep_what_autograd_keeps (G_GNUC_UNUSED void **state)
{
  const char *pure = "kind: ddp, memory: {states: pure, kernels: eager}";
  double block = 14 * h + 4 * g + 8 * f + 4 * heads + 8;

  assert_near (part (1, LLAMA, pure, "parameters"), 2 * llama_parameters (), 0);
  assert_near (part (1, LLAMA, pure, "optimizer"), 4 * llama_parameters (), 0);
  assert_near (part (1, LLAMA, pure, "gradients"), 0, 0); /* they come after the peak */
  assert_near (part (1, LLAMA, pure, "activations"), tokens * (n_layers * block + head_bytes () + 4), 0);
  assert_near (part (1, LLAMA, pure, "logits"), tokens * 6 * v, 0);
  assert_near (part (1, LLAMA, pure, "workspace"), 2 * 32 * 1024 * 1024, 0);
}

/* cuBLAS reserves for each handle what CUBLAS_WORKSPACE_CONFIG says by default: ":4096:2:16:8", in KiB, and 32 MiB from
 * Hopper on. */
static void
older_gpus_have_smaller_workspaces (G_GNUC_UNUSED void **state)
{
  const struct {
    const char *node;
    double handle_bytes;
  } cases[] = { { "dgx-a100", (4096 * 2 + 16 * 8) * 1024 },
                { "dgx1-v100", (4096 * 2 + 16 * 8) * 1024 },
                { "dgx1-p100", (4096 * 2 + 16 * 8) * 1024 },
                { "dgx-h100", 32 << 20 },
                { "hgx-b200", 32 << 20 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: memory\niterations: 1\ncluster: {node: %s, nodes: 1, gpus_per_node: 1}\n"
        "job: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 512, memory: {states: pure, kernels: eager}, "
        "compute: {kind: mfu, mfu: 40%%}}\n",
        cases[i].node);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);

    assert_near (part_of (play, 0, "workspace"), 2 * cases[i].handle_bytes, 0);
  }
}

/* FP32 weights: the residual stream is FP32 (two norms' inputs: 8 h), and each of q, k, v, gate and up casts its input
 * (10 h). Log-softmax is FP32, and gradients of the logits are 16-bit. */
static void
autocast_casts_for_every_matrix (G_GNUC_UNUSED void **state)
{
  const char *autocast = "kind: ddp, memory: {states: fp32, kernels: eager}";
  double block = 8 * h + 10 * h + 2 * h + 4 * g + 4 * h + 8 * f + 4 * heads + 8;
  double matrices = n_layers * (2 * h * h + 2 * g * h + 3 * f * h) + v * h;

  assert_near (part (1, LLAMA, autocast, "parameters"), 4 * llama_parameters (), 0);
  assert_near (part (1, LLAMA, autocast, "optimizer"), 8 * llama_parameters (), 0);
  assert_near (part (1, LLAMA, autocast, "casts"), 2 * matrices, 0);
  assert_near (part (1, LLAMA, autocast, "activations"), tokens * (n_layers * block + 6 * h + 4), 0);
  assert_near (part (1, LLAMA, autocast, "logits"), tokens * 10 * v, 0);
}

/* GPT: one matrix for queries, keys and values, whose output attention reads in place; layer norms with mean and
 * deviation; the input and the output of GELU. */
static void
plain_gpt_has_one_matrix_for_attention (G_GNUC_UNUSED void **state)
{
  const char *pure = "kind: ddp, memory: {states: pure, kernels: eager}";
  double block = 4 * h + 4 * h + 6 * h + 2 * h + 4 * heads + 16 * h + 16;

  assert_near (part (1, GPT, pure, "activations"), tokens * (n_layers * block + 4 * h + 8), 0);
}

/* --- other software --- */

static void
kernels_say_what_is_left (G_GNUC_UNUSED void **state)
{
  double fused = 12 * h + 4 * g + 6 * f + 4 * heads, compiled = 8 * h + 4 * g + 4 * f + 4 * heads + 8;

  assert_near (part (1, LLAMA, "kind: megatron", "activations"), tokens * (n_layers * fused + head_bytes ()),
               0);
  assert_near (part (1, LLAMA, "kind: ddp, memory: {states: pure, kernels: compiled, loss: fp32}",
                     "activations"),
               tokens * (n_layers * compiled + head_bytes () + 4), 0);
  assert_near (part (1, LLAMA, "kind: megatron", "logits"), tokens * 6 * v, 0);
  assert_near (part (1, LLAMA, "kind: megatron, memory: {loss: in_place}", "logits"), tokens * 2 * v, 0);
  assert_near (part (1, LLAMA, "kind: megatron, memory: {loss: fused, loss_chunks: 8}", "logits"),
               tokens * 4 * v / 8, 0);
}

/* Every rank of two has half of what is divided; with sequence parallelism half of everything. */
static void
tensor_parallelism_divides (G_GNUC_UNUSED void **state)
{
  double whole = 8 * h, split = 4 * h + 4 * g + 6 * f + 4 * heads;

  assert_near (part (2, LLAMA, "kind: megatron, parallel: {tensor: 2}", "activations"),
               tokens * (n_layers * (whole + split / 2) + head_bytes ()), 0);
  assert_near (part (2, LLAMA, "kind: megatron, parallel: {tensor: 2, sequence: true}", "activations"),
               tokens * (n_layers * (whole + split) + head_bytes ()) / 2, 0);
  assert_near (part (2, LLAMA, "kind: megatron, parallel: {tensor: 2, sequence: true}", "logits"),
               tokens * 6 * v / 2, 0);
}

/* Transformer Engine keeps inputs of FP8 products in FP8: those of two norms, attention's output and the product. */
static void
fp8_inputs_take_a_byte (G_GNUC_UNUSED void **state)
{
  double bf16 = part (1, LLAMA, "kind: megatron, memory: {loss: in_place}", "activations");
  double fp8 = part (1, LLAMA, "kind: megatron, precision: fp8, memory: {loss: in_place}", "activations");

  assert_near (bf16 - fp8, tokens * (n_layers * (2 * h + h + f) + h), 0);
}

/* One dummy of each place and size, in 16 bits; FSDP's gradients and buckets wait in a pool of their own. */
static void
allocators_hold_more_than_tensors (G_GNUC_UNUSED void **state)
{
  double matrices = h * (h + 2 * g) + h * h + 3 * f * h + v * h;

  assert_near (part (1, LLAMA, "kind: megatron", "dummies"), 2 * matrices, 0);
  assert_near (part (1, LLAMA, "kind: ddp, memory: {kernels: fused}", "dummies"), 0, 0);
  assert_near (part (2, LLAMA, "kind: fsdp", "streams"),
               4 * llama_parameters () / 2 + 2 * 2 * (2 * h * h + 2 * g * h + 3 * f * h + 2 * h), 1e-12);
}

/* DTensor keeps what was gathered for q, k, v, gate, up and the output. */
static void
plain_code_keeps_what_it_gathered (G_GNUC_UNUSED void **state)
{
  const char
      *keys = "kind: megatron, memory: {kernels: eager, loss: fp32}, parallel: {tensor: 2, sequence: true}";
  double split = 10 * h + 4 * g + 8 * f + 4 * heads + 8;

  assert_near (part (2, LLAMA, keys, "activations"),
               tokens * (n_layers * (4 * h + split / 2) + 2 * h + (2 * h + 4) / 2), 0);
}

/* --- recomputation --- */

#define MEGATRON "kind: megatron, memory: {loss: in_place}, "

static double
kept (const char *recompute)
{
  g_autofree char *keys = g_strconcat (MEGATRON, recompute, NULL);

  return part (1, LLAMA, keys, "activations");
}

/* With a small loss the peak is in the backward pass of the last block, which is whole then. */
static void
every_policy_keeps_what_it_says (G_GNUC_UNUSED void **state)
{
  const char *titan = "kind: megatron, memory: {loss: fp32, kernels: compiled}, recompute: operators";
  const char *all =
      "kind: megatron, memory: {loss: fp32, kernels: compiled}, recompute: operators, recompute_every: 1";
  double end = head_bytes () + 4, half = 2 * h + 2 * h + 2 * g + 2 * h + 4 * heads + 2 * f + 2 * h;

  assert_near (part (1, LLAMA, titan, "activations"), tokens * (n_layers * half + end), 0);
  assert_near (part (1, LLAMA, all, "activations"),
               tokens * (n_layers * (half + 2 * g + 2 * h + 2 * f) + end), 0);
  assert_near (kept ("recompute: modules, recompute_modules: layernorm") - kept ("recompute: none"),
               -tokens * n_layers * 4 * h, 0);
  assert_near (kept ("recompute: modules, recompute_modules: mlp") - kept ("recompute: none"),
               -tokens * n_layers * 6 * f, 0);
}

static void
blocks_share_inputs (G_GNUC_UNUSED void **state)
{
  const char *one = "kind: megatron, memory: {loss: fp32}, recompute: full";
  const char *two = "kind: megatron, memory: {loss: fp32}, recompute: full, recompute_layers: 2";
  const char *block =
      "kind: megatron, memory: {loss: fp32}, recompute: full, recompute_method: block, recompute_layers: 1";
  double fused = 12 * h + 4 * g + 6 * f + 4 * heads;

  assert_near (part (1, LLAMA, one, "activations"), tokens * (4 * 2 * h + head_bytes ()), 0);
  assert_near (part (1, LLAMA, two, "activations"), tokens * (2 * 2 * h + head_bytes ()), 0);
  assert_near (part (1, LLAMA, block, "activations"), tokens * (2 * h + 3 * fused + head_bytes ()), 0);
}

/* With a small loss the peak is in the backward pass of a group of blocks, all of which are whole then, while those
 * before it have their inputs. */
static void
groups_of_blocks_are_whole_at_once (G_GNUC_UNUSED void **state)
{
  double fused = 12 * h + 4 * g + 6 * f + 4 * heads;

  for (guint n = 1; n <= 4; n++) {
    g_autofree char *keys = g_strdup_printf (
        "kind: megatron, memory: {loss: in_place, loss_chunks: 8}, recompute: full, recompute_layers: %u", n);
    double most = 0;

    for (guint first = 0; first < 4; first += n)
      most = MAX (most, first / n * 2 * h + MIN (n, 4 - first) * fused);
    assert_near (part (1, LLAMA, keys, "activations"), tokens * most, 0);
  }
}

/* Where a block is whole, the gradients of its widest place are there too, beside that of the residual stream: of what
 * gate and up make, or, where these are narrow, of queries, keys and values. */
static void
gradients_of_the_widest_place_come_on_top (G_GNUC_UNUSED void **state)
{
  static const char narrow[] =
      "layers: 4, hidden: 1024, heads: 16, kv_heads: 4, feed_forward: 256, vocabulary: 32000, gated: true, "
      "tied: false, biases: false";
  static const char keys[] = "kind: megatron, memory: {loss: in_place, loss_chunks: 8}, recompute: full";

  assert_near (part (1, LLAMA, keys, "temporaries"), tokens * (2 * 2 * f + 2 * h), 0);
  assert_near (part (1, narrow, keys, "temporaries"), tokens * (2 * h + 2 * 2 * g + 2 * h), 0);
}

/* Megatron keeps a dummy gradient for each size of matrix of a stage, which all matrices of this place and size share.
 * Ranks that divide a matrix have a part of it. */
static void
matrices_of_a_size_share_a_dummy (G_GNUC_UNUSED void **state)
{
  double block = 2 * h * h + 2 * g * h + 3 * f * h, head = v * h;
  g_autoptr (Play) one = job (1, LLAMA, "kind: megatron"),
                   two = job (2, LLAMA, "kind: megatron, parallel: {tensor: 2}"),
                   stages = job (2, LLAMA, "kind: megatron, accumulation: 2, parallel: {pipeline: 2}"),
                   frozen = job (1, LLAMA, "kind: megatron, trains: lora, lora_rank: 4");

  assert_near (part_of (one, 0, "dummies"), 2 * (block + head), 0);
  assert_near (part_of (two, 0, "dummies"), 2 * (block + head) / 2, 0);
  assert_near (part_of (stages, 0, "dummies"), 2 * block, 0);
  assert_near (part_of (stages, 1, "dummies"), 2 * (block + head), 0);
  assert_true (part_of (frozen, 0, "dummies") < part_of (one, 0, "dummies") / 50);
}

static double
step_s (const char *recompute)
{
  g_autofree char *keys = g_strconcat (MEGATRON, recompute, NULL);
  g_autoptr (Play) play = job (1, LLAMA, keys);

  return fab_simulation_totals (play->simulation)->executed_flops_per_rank / tokens;
}

/* What is not kept is computed again. */
static void
what_is_not_kept_is_computed_again (G_GNUC_UNUSED void **state)
{
  double none = step_s ("recompute: none"), mlp = 6 * f * h;
  double block = 2 * h * (2 * h + 2 * g) + mlp + 4 * 512 * h;

  assert_near (step_s ("recompute: full") - none, n_layers * block, 1e-9);
  assert_near (step_s ("recompute: full, recompute_method: block, recompute_layers: 3") - none, 3 * block,
               1e-9);
  assert_near (step_s ("recompute: modules, recompute_modules: mlp") - none, n_layers * mlp, 1e-9);
  assert_near (step_s ("recompute: modules, recompute_modules: core_attn") - none, n_layers * 4 * 512 * h,
               1e-9);
  assert_near (step_s ("recompute: operators") - none, n_layers * 2 * h * (g + h + f),
               1e-9); /* k, o and up */
  assert_near (step_s ("recompute: operators, recompute_every: 1") - none, 0, 1e-9);
}

/* --- formulas --- */

static double
term (const FabMemoryFormula *formula, const char *name)
{
  for (guint i = 0; i < FAB_MEMORY_TERMS && formula->terms[i].name != NULL; i++)
    if (strcmp (formula->terms[i].name, name) == 0)
      return formula->terms[i].value;
  fail_msg ("the formula of %s has no %s", formula->part, name);
  return 0;
}

static double
result_of (const FabMemoryFormula *f_)
{
  if (strcmp (f_->formula, "count * share * bytes_each") == 0)
    return term (f_, "count") * term (f_, "share") * term (f_, "bytes_each");
  if (strcmp (f_->formula, "count * bytes_each") == 0)
    return term (f_, "count") * term (f_, "bytes_each");
  if (strcmp (f_->formula, "tokens * bytes_per_token") == 0)
    return term (f_, "tokens") * term (f_, "bytes_per_token");
  if (strcmp (f_->formula, "waiting + tokens * bytes_per_token") == 0)
    return term (f_, "waiting") + term (f_, "tokens") * term (f_, "bytes_per_token");
  if (strcmp (f_->formula, "waiting + count * bytes_each") == 0)
    return term (f_, "waiting") + term (f_, "count") * term (f_, "bytes_each");
  if (strcmp (f_->formula, "all - to_come") == 0)
    return term (f_, "all") - term (f_, "to_come");
  return term (f_, "gradients_later") + term (f_, "buckets_later");
}

/* Every part but those of the strategy (gathered, buckets) has a formula, and its numbers give the bytes. */
static void
formulas_give_the_bytes (G_GNUC_UNUSED void **state)
{
  static const char *const jobs[] = {
    "kind: ddp, memory: {states: fp32, kernels: eager}",
    "kind: fsdp",
    "kind: zero, stage: 2",
    "kind: megatron, parallel: {pipeline: 2}, accumulation: 3",
    "kind: megatron, memory: {loss: in_place, loss_chunks: 8, offload: cpu}",
  };

  for (guint j = 0; j < G_N_ELEMENTS (jobs); j++) {
    g_autoptr (Play) play = job (2, LLAMA, jobs[j]);
    const FabJobTotals *totals = fab_simulation_totals (play->simulation);

    for (guint i = 0; i < totals->memory->len; i++) {
      const FabMemoryPart *one = &g_array_index (totals->memory, FabMemoryPart, i);
      const FabMemoryFormula *formula = fab_job_totals_formula (totals, one);

      if (strcmp (one->part, "gathered") == 0 || strcmp (one->part, "buckets") == 0)
        continue;
      assert_non_null (formula);
      for (guint t = 0; t < FAB_MEMORY_TERMS && formula->terms[t].name != NULL; t++) {
        const char *name = formula->terms[t].name;
        gboolean is_number = strcmp (name, "count") == 0 || strcmp (name, "share") == 0
                          || strcmp (name, "tokens") == 0;

        assert_int_equal (formula->terms[t].is_bytes, !is_number);
        assert_true (strcmp (name, "to_come") != 0 || formula->terms[t].value > 0);
      }
      assert_near (result_of (formula), (double) one->bytes, 1e-6);
    }
  }
}

/* The first of two stages has two micro-batches alive when the last but one begins its backward pass: one waits, with
 * the two blocks of the stage. */
static void
formulas_say_what_there_is (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = job (2, LLAMA, "kind: megatron, parallel: {pipeline: 2}, accumulation: 3");
  const FabJobTotals *totals = fab_simulation_totals (play->simulation);
  double fused = 12 * h + 4 * g + 6 * f + 4 * heads;
  FabMemoryPart activations = { .rank_class = 0, .part = "activations" };

  assert_near (term (fab_job_totals_formula (totals, &activations), "waiting"), tokens * 2 * fused, 0);
}

/* With a small loss the peak is where the last block goes back: of all gradients those of the head are there, and what
 * comes later has its place among the streams. */
static void
gradients_grow_from_the_head (G_GNUC_UNUSED void **state)
{
  for (guint gpus = 2; gpus <= 4; gpus += 2) {
    g_autoptr (Play) play = job (gpus, LLAMA, "kind: fsdp, memory: {loss: in_place, loss_chunks: 64}");
    double block = 2 * h * h + 2 * g * h + 3 * f * h + 2 * h;

    assert_near (part_of (play, 0, "gradients"), 4 * (v * h + h) / gpus, 1e-9);
    assert_near (part_of (play, 0, "streams"), 4 * (llama_parameters () - v * h - h) / gpus, 1e-6);
    assert_near (part_of (play, 0, "buckets"), 2 * 2 * block, 1e-9);
  }
}

/* Casts of matrices are divided as these are, and shared experts have some too. They are there until their layer has
 * gone back: those of the head are gone when the block does. */
static void
casts_are_of_every_matrix_of_a_rank (G_GNUC_UNUSED void **state)
{
#define EXPERTS                                                                                          \
  "layers: 1, hidden: 1024, heads: 16, vocabulary: 10, tied: false, biases: false, experts: {count: 4, " \
  "per_token: 1, shared: 1, width: 32}"
  const double expert = 2 * h * 32, attention = 4 * h * h;

  for (guint n = 1; n <= 2; n++) {
    g_autofree char *divided = g_strdup_printf ("kind: ddp, memory: {states: fp32}, parallel: {tensor: %u}",
                                                n);

    assert_near (part (n, EXPERTS, divided, "casts"), 2 * ((attention + 5 * expert) / n + 4 * h), 1e-9);
  }
}

/* Logits in FP32 are three tensors of 4 B in plain PyTorch. */
static void
logits_have_the_type_of_products (G_GNUC_UNUSED void **state)
{
  assert_near (part (1, LLAMA, "kind: ddp, precision: fp32", "logits"), tokens * 3 * 4 * v, 1e-9);
}

/* Gradients of weights need the inputs of products, and those of their results: the last of two stages keeps these of
 * one micro-batch more where the weights come later. */
static void
delayed_weights_keep_their_products (G_GNUC_UNUSED void **state)
{
#define STAGES(schedule_) "kind: megatron, accumulation: 4, parallel: {pipeline: 2, schedule: " schedule_ "}"
  g_autoptr (Play) one = job (2, LLAMA, STAGES ("1f1b")), two = job (2, LLAMA, STAGES ("zero_bubble"));
  double inputs = 3 * 2 * h + 2 * f, results = 2 * h + 4 * g + 2 * h + 4 * f + 2 * h;

  assert_near (part_of (two, 1, "activations") - part_of (one, 1, "activations"),
               tokens * (2 * (inputs + results) + 2 * h), 1e-9);
}

/* Layers that hand nothing on keep nothing where they are recomputed: each alone is whole then, or all of a group that
 * share one input. */
static void
layers_without_an_output_are_whole_in_turn (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *keys;
    guint n_whole;
  } rows[] = { { "none", 4 },
               { "full", 1 },
               { "full, recompute_layers: 1", 1 },
               { "full, recompute_layers: 4", 4 },
               { "full, recompute_method: block", 1 },
               { "full, recompute_method: block, recompute_layers: 4", 1 },
               { "full, recompute_method: block, recompute_layers: 2", 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-h100, nodes: 1, gpus_per_node: 1}\n"
        "models: [{name: m, summary: s, source: s, date: \"2026-11-30\", shape: {kind: layers, layers: [{name: block, "
        "count: 4, saved: 100B, tensors: [{parameters: 10}]}]}}]\n"
        "job: {kind: ddp, model: m, sequence: 16, compute: {kind: mfu}, recompute: %s}\n",
        rows[i].keys);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);

    if (!is_near (part_of (play, 0, "activations"), rows[i].n_whole * 1600.0, 1e-12))
      fail_msg ("%s: %g B", rows[i].keys, part_of (play, 0, "activations"));
  }
}

/* --- offload --- */

/* With copies of the logits in FP32 the peak is the loss: the block that left last is still there. With a small loss
 * it is the backward pass of the last block, while what the one before it keeps has come back. */
static void
activations_wait_in_host_memory (G_GNUC_UNUSED void **state)
{
  double fused = 12 * h + 4 * g + 6 * f + 4 * heads;
  const char *all = "kind: megatron, memory: {offload: cpu}";
  const char *two = "kind: megatron, memory: {offload: cpu, offload_layers: 2}";
  const char *inputs = "kind: megatron, memory: {offload: cpu}, recompute: full";
  const char *backward = "kind: megatron, memory: {loss: in_place, loss_chunks: 8, offload: cpu}";

  assert_near (part (1, LLAMA, all, "activations"), tokens * (fused + head_bytes ()), 0);
  assert_near (part (1, LLAMA, two, "activations"), tokens * (2 * fused + head_bytes ()), 0);
  assert_near (part (1, LLAMA, inputs, "activations"), tokens * (2 * h + head_bytes ()), 0);
  assert_near (part (1, LLAMA, backward, "activations"), tokens * 2 * fused, 0);
}

/* Copies of activations and their bytes, of all collectives of a job. */
static guint
count_copies (const Play *play, double *bytes)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  guint n = 0;

  *bytes = 0;
  for (guint i = 0; i < dag->n_collectives; i++)
    if (dag->collectives[i].dimension == FAB_DIMENSION_OFFLOAD) {
      *bytes += (double) dag->collectives[i].plan.bytes;
      n++;
    }
  return n;
}

/* Every block leaves in the forward pass, and all but the last come back in the backward pass. With two micro-batches
 * the same again. */
static void
every_block_leaves_and_comes_back (G_GNUC_UNUSED void **state)
{
  double fused = 12 * h + 4 * g + 6 * f + 4 * heads, bytes;
  g_autoptr (Play) one = job (1, LLAMA, "kind: megatron, memory: {offload: cpu}");
  g_autoptr (Play) two = job (1, LLAMA,
                              "kind: megatron, accumulation: 2, memory: {offload: cpu, offload_layers: 3}");

  assert_int_equal (count_copies (one, &bytes), 4 + 3);
  assert_near (bytes, 7 * tokens * fused, 0);
  assert_int_equal (count_copies (two, &bytes), 2 * (3 + 2));
  assert_near (bytes, 10 * tokens * fused, 0);
}

static FabIterationRecord
played (const char *keys)
{
  g_autoptr (Play) play = job (1, LLAMA, keys);

  assert_true (fab_simulation_step (play->simulation));
  return g_array_index (fab_simulation_probe (play->simulation)->iterations, FabIterationRecord, 0);
}

/* What recomputation leaves of a block is small enough to go beside its kernels, and what it keeps without is not: the
 * step is at least as long as the copies of one direction. */
static void
copies_that_take_longer_than_kernels_are_exposed (G_GNUC_UNUSED void **state)
{
  double fused = 12 * h + 4 * g + 6 * f + 4 * heads;
  FabIterationRecord here = played ("kind: megatron"),
                     away = played ("kind: megatron, memory: {offload: cpu}");
  FabIterationRecord full = played ("kind: megatron, recompute: full");
  FabIterationRecord inputs = played ("kind: megatron, recompute: full, memory: {offload: cpu}");

  assert_true (fab_ps_to_seconds (away.duration_ps) > 4 * tokens * fused / 64e9); /* PCIe 5.0 x16 */
  assert_true (away.exposed_ps > here.exposed_ps);
  assert_near ((double) inputs.exposed_ps, (double) full.exposed_ps, 0);
}

static double
again (const char *shape, const char *keys)
{
  g_autofree char *none = g_strconcat (keys, ", recompute: none", NULL);
  g_autofree char *full = g_strconcat (keys, ", recompute: full", NULL);
  g_autoptr (Play) without = job (2, shape, none), with = job (2, shape, full);

  return (fab_simulation_totals (with->simulation)->executed_flops_per_rank
          - fab_simulation_totals (without->simulation)->executed_flops_per_rank)
       / tokens;
}

/* The last product of a block keeps its input, and nothing needs its result: checkpoints of PyTorch 2.1 and later stop
 * before it. Those of 2.0 compute it, and so does software with re-entrant ones; dropout's mask comes after it. */
static void
recomputing_stops_early (G_GNUC_UNUSED void **state)
{
  const char *old = "kind: fsdp, software: {pytorch: \"2.0\"}, compute: {kind: auto}";
  const char *now = "kind: fsdp, software: {pytorch: \"2.1\"}, compute: {kind: auto}";
  const char *xla = "kind: fsdp, software: {pytorch: \"2.0\"}, compute: {kind: auto, stack: xla}";
  double block = 2 * h * (2 * h + 2 * g) + 6 * f * h + 4 * 512 * h, last = 2 * f * h;

  assert_near (again (LLAMA, old), n_layers * block, 1e-9);
  assert_near (again (LLAMA, now), n_layers * (block - last), 1e-9);
  assert_near (again (LLAMA, xla), n_layers * (block - last), 1e-9);
  assert_near (again (LLAMA, "kind: zero, stage: 3, compute: {kind: auto}"), n_layers * block, 1e-9);
  assert_near (again (LLAMA ", dropout: true", now), n_layers * block, 1e-9);
}

/* Of a pipeline of two stages (1F1B) the first has two micro-batches under way when a backward pass begins, and the
 * last has one: what the other one kept counts as well. */
static void
stages_keep_what_is_under_way (G_GNUC_UNUSED void **state)
{
  const char *one = "kind: megatron, accumulation: 1, parallel: {pipeline: 2}, memory: {kernels: eager}",
             *many = "kind: megatron, accumulation: 4, parallel: {pipeline: 2}, memory: {kernels: eager}";
  g_autoptr (Play) lone = job (2, LLAMA, one), full = job (2, LLAMA, many);
  double first = part_of (lone, 0, "activations"), last = part_of (lone, 1, "activations");

  assert_true (first > 0 && last > 0);
  assert_near (part_of (full, 0, "activations"), 2 * first, 1e-9);
  assert_near (part_of (full, 1, "activations"), last, 1e-9);
}

/* Utilisation is a share of the rate of this precision (FabJobTotals). */
static void
totals_have_the_precision_of_the_job (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) eight = job (1, LLAMA, "kind: megatron, precision: fp8"),
                   sixteen = job (1, LLAMA, "kind: megatron");

  assert_int_equal (fab_simulation_totals (eight->simulation)->precision, FAB_PRECISION_FP8);
  assert_int_equal (fab_simulation_totals (sixteen->simulation)->precision, FAB_PRECISION_BF16);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (plain_steps_keep_what_autograd_keeps),
    cmocka_unit_test (older_gpus_have_smaller_workspaces),
    cmocka_unit_test (autocast_casts_for_every_matrix),
    cmocka_unit_test (plain_gpt_has_one_matrix_for_attention),
    cmocka_unit_test (kernels_say_what_is_left),
    cmocka_unit_test (tensor_parallelism_divides),
    cmocka_unit_test (fp8_inputs_take_a_byte),
    cmocka_unit_test (allocators_hold_more_than_tensors),
    cmocka_unit_test (plain_code_keeps_what_it_gathered),
    cmocka_unit_test (every_policy_keeps_what_it_says),
    cmocka_unit_test (blocks_share_inputs),
    cmocka_unit_test (groups_of_blocks_are_whole_at_once),
    cmocka_unit_test (gradients_of_the_widest_place_come_on_top),
    cmocka_unit_test (matrices_of_a_size_share_a_dummy),
    cmocka_unit_test (what_is_not_kept_is_computed_again),
    cmocka_unit_test (gradients_grow_from_the_head),
    cmocka_unit_test (layers_without_an_output_are_whole_in_turn),
    cmocka_unit_test (casts_are_of_every_matrix_of_a_rank),
    cmocka_unit_test (logits_have_the_type_of_products),
    cmocka_unit_test (delayed_weights_keep_their_products),
    cmocka_unit_test (formulas_give_the_bytes),
    cmocka_unit_test (formulas_say_what_there_is),
    cmocka_unit_test (activations_wait_in_host_memory),
    cmocka_unit_test (every_block_leaves_and_comes_back),
    cmocka_unit_test (copies_that_take_longer_than_kernels_are_exposed),
    cmocka_unit_test (recomputing_stops_early),
    cmocka_unit_test (stages_keep_what_is_under_way),
    cmocka_unit_test (totals_have_the_precision_of_the_job),
  };

  return play_run_tests ("memory", tests, &catalog);
}
