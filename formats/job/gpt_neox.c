/* SPDX-License-Identifier: Apache-2.0 */
/* gpt_neox.c - GPT-NeoX's YAML (EleutherAI/gpt-neox megatron/neox_arguments/neox_args.py, configs/README.md): the
 * model, the degrees of parallelism, and DeepSpeed's keys in one mapping. Keys have "-" or "_".
 */
#include <string.h>

#include "formats/job/deepspeed_keys.h"
#include "formats/job/rows.h"

static const FabJobRow rows[] = {
  { "seq_length", fab_job_count, "sequence" },
  { "model_parallel_size", fab_job_positive, "parallel.tensor" },
  { "pipe_parallel_size", fab_job_positive, "parallel.pipeline" },
  { "context_parallel_size", fab_job_positive, "parallel.context" },
  { "moe_expert_parallel_size", fab_job_positive, "parallel.expert" },
  { "sequence_parallel", fab_job_flag, "parallel.sequence" },
  { "precision", fab_job_words, "precision:bfloat16=bf16|fp16=fp16|fp32=fp32" },
  { "checkpoint_activations", fab_job_when, "recompute=full" },
  { "fp32_allreduce", fab_job_when, "gradient=fp32" },
  { "partition_activations", fab_job_effect,
    "activations are divided among tensor-parallel ranks and gathered again in the backward pass" },
  { "checkpoint_in_cpu", fab_job_when, "memory.offload=cpu" },
  { "synchronize_each_layer", fab_job_effect,
    "the host waits for the GPU at the end of each recomputed layer" },
  { "gpt_j_residual", fab_job_effect,
    "attention and MLP of a block are summed by one all-reduce among tensor-parallel ranks instead of two" },
  { "pipe_partition_method", fab_job_same, NULL },
  { "num_nodes", fab_job_nodes, NULL },
  { "num_gpus", fab_job_gpus_per_node, NULL },
  { "global_num_gpus", fab_job_ranks, NULL },
  { "num_layers", fab_job_count, "shape.layers" },
  { "hidden_size", fab_job_count, "shape.hidden" },
  { "num_attention_heads", fab_job_count, "shape.heads" },
  { "num_kv_heads", fab_job_positive, "shape.kv_heads" },
  { "padded_vocab_size", fab_job_positive, "shape.vocabulary" },
  { "norm", fab_job_known_words,
    "shape.norm:layernorm=layer|rmsnorm=rms|te_layernorm=layer|te_rmsnorm=rms|non_parametric_layernorm=none" },
  { "moe_num_experts", fab_job_count, "shape.experts.count" },
  { "moe_top_k", fab_job_count, "shape.experts.per_token" },
};

/* They belong to `recompute: full`. */
static const FabJobRow recompute_rows[] = {
  { "checkpoint_num_layers", fab_job_count, "recompute_layers" },
};

/* The tokenizer of GPT-NeoX-20B has 50277 tokens, that of GPT-2 50257; both are padded to a multiple of 128 x the
 * tensor-parallel ranks. */
static void
take_vocabulary (FabJobReading *self)
{
  const char *tokenizer = fab_job_value (self, "tokenizer_type");
  gboolean is_neox = tokenizer == NULL || strcmp (tokenizer, "HFTokenizer") == 0;
  gint64 multiple = fab_job_whole (self, "make_vocab_size_divisible_by", 128)
                  * MAX (fab_job_whole (self, "model_parallel_size", 1), 1);
  gint64 tokens = is_neox ? 50277 : 50257;

  if (fab_imported_job_get (self->job, "shape.vocabulary") != NULL || multiple < 1 || multiple > 1000000)
    return;
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT,
                                           (tokens + multiple - 1) / multiple * multiple);
  fab_job_conclude (self, "shape.vocabulary", text,
                    is_neox ? "50277 tokens of GPT-NeoX-20B's tokenizer, padded as GPT-NeoX does"
                            : "GPT-2's 50257 tokens, padded as GPT-NeoX does");
}

/* The width of the MLP: GPT-NeoX takes four times the hidden size without a gate. With one it takes intermediate_size,
 * or that width over 1.5 in a multiple of mlp_multiple_of. */
static void
take_mlp (FabJobReading *self)
{
  static const char *const gates[] = { "swiglu", "geglu", "reglu", "bilinear", "glu", NULL };
  const char *activation = fab_job_value (self, "activation"), *type = fab_job_value (self, "mlp_type");
  gboolean is_gated = (activation != NULL && g_strv_contains (gates, activation))
                   || g_strcmp0 (type, "llama") == 0;
  gint64 width = fab_job_whole (self, "intermediate_size", 0);

  fab_job_conclude (self, "shape.gated", is_gated ? "true" : "false",
                    is_gated ? "by activation" : "as activation names no gate");
  if (width < 1 || width > 100000000)
    return;
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, width);
  fab_job_conclude (self, "shape.feed_forward", text, "by intermediate_size");
}

/* "[[[flash], 44]]": a list within lists is a setting of its own, attention_config.0.0. */
static gboolean
has_flash_attention (FabJobReading *self)
{
  g_autoptr (FabJobSettings) parts = fab_job_settings_section (self->settings, "attention_config");

  for (guint i = 0; i < parts->all->len; i++) {
    const char *value = g_array_index (parts->all, FabJobSetting, i).value;

    if (value != NULL && strstr (value, "flash") != NULL)
      return TRUE;
  }
  return FALSE;
}

static void
take_attention (FabJobReading *self)
{
  const char *embedding = fab_job_value (self, "pos_emb");
  gint64 positions = fab_job_whole (self, "max_position_embeddings", 0);

  if (!has_flash_attention (self))
    fab_job_conclude (self, "shape.attention", "full", "as attention_config names no flash attention");
  if ((embedding == NULL || strcmp (embedding, "learned") == 0) && positions > 0 && positions <= 10000000) {
    g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, positions);

    fab_job_conclude (self, "shape.positions", text, "learned, by pos_emb or its absence");
  }
}

static void
take_shape (FabJobReading *self)
{
  if (fab_imported_job_get (self->job, "shape.layers") == NULL)
    return;
  take_mlp (self);
  take_attention (self);
  take_vocabulary (self);
  fab_job_conclude (self, "shape.tied", fab_job_is_on (self, "no_weight_tying") ? "false" : "true",
                    "by no_weight_tying or its absence");
  if (g_strcmp0 (fab_job_value (self, "use_bias_in_attn_linear"), "false") == 0
      || g_strcmp0 (fab_job_value (self, "use_bias_in_attn_linear"), "False") == 0)
    fab_job_conclude (self, "shape.biases", "false", "by use_bias_in_attn_linear");
  else
    fab_job_conclude (self, "shape.biases", "true", "GPT-NeoX's default");
  if (fab_imported_job_get (self->job, "shape.norm") == NULL)
    fab_job_conclude (self, "shape.norm", "layer", "GPT-NeoX's default");
}

static gboolean
read_job (FabJobReading *self)
{
  fab_job_settings_underscore (self->settings);
  if (!fab_job_take_deepspeed (self))
    return FALSE;
  fab_job_take_rows (self, rows, G_N_ELEMENTS (rows));
  if (g_strcmp0 (fab_imported_job_get (self->job, "recompute"), "full") == 0
      && fab_job_whole (self, "checkpoint_num_layers", 1) > 1) {
    fab_job_take_rows (self, recompute_rows, G_N_ELEMENTS (recompute_rows));
    fab_job_conclude (self, "recompute_method", "uniform", "as checkpoint_num_layers counts layers");
  }
  take_shape (self);
  return self->is_good;
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "pipe_parallel_size") || fab_file_text_has (text, "pipe-parallel-size")
      || fab_file_text_has (text, "gpt_j_residual") || fab_file_text_has (text, "gpt-j-residual")
      || fab_file_text_has (text, "deepspeed_slurm");
}

const FabFileFormat fab_file_gpt_neox = {
  .name = "gpt-neox",
  .tool = "GPT-NeoX's YAML",
  .kind = FAB_FILE_JOB,
  .recognises = recognises,
  .read.job = read_job,
};
