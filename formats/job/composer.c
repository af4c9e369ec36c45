/* SPDX-License-Identifier: Apache-2.0 */
/* composer.c - the YAML of llm-foundry, which trains with Composer (mosaicml/llm-foundry
 * llmfoundry/utils/config_utils.py, llmfoundry/models/mpt/configuration_mpt.py), and of OLMo, which took its keys over
 * (allenai/OLMo olmo/config.py).
 */
#include <string.h>

#include "formats/job/fsdp_keys.h"
#include "formats/job/rows.h"

static const FabJobRow rows[] = {
  { "device_train_microbatch_size", fab_job_positive, "micro_batch" },
  { "global_train_batch_size", fab_job_count, "global_batch" },
  { "model.max_seq_len", fab_job_positive, "sequence" },
  { "model.max_sequence_length", fab_job_positive, "sequence" },
  { "max_seq_len", fab_job_positive, "sequence" },
  { "precision", fab_job_words,
    "precision:amp_bf16=bf16|amp_fp16=fp16|amp_fp8=fp8|bf16=bf16|fp16=fp16|fp32=fp32" },
  { "algorithms.gradient_clipping.clipping_threshold", fab_job_above_zero, "clip_gradients" },
  { "max_grad_norm", fab_job_above_zero, "clip_gradients" },
  { "*.activation_cpu_offload", fab_job_when, "memory.offload=cpu" },
  { "*.pretrained_model_name_or_path", fab_job_model, NULL },
  { "compile_config", fab_job_when, "compute.stack=compiled" },
  { "model.d_model", fab_job_count, "shape.hidden" },
  { "model.n_layers", fab_job_count, "shape.layers" },
  { "model.n_heads", fab_job_count, "shape.heads" },
  { "model.n_kv_heads", fab_job_positive, "shape.kv_heads" },
  { "model.attn_config.kv_n_heads", fab_job_positive, "shape.kv_heads" },
  { "model.vocab_size", fab_job_positive, "shape.vocabulary" },
  { "model.embedding_size", fab_job_positive, "shape.vocabulary" },
  { "model.tie_word_embeddings", fab_job_flag, "shape.tied" },
  { "model.weight_tying", fab_job_flag, "shape.tied" },
  { "model.no_bias", fab_job_no_flag, "shape.biases" },
  { "model.include_bias", fab_job_flag, "shape.biases" },
  { "model.attention_layer_norm", fab_job_flag, "shape.qk_norm" },
  { "model.norm_type", fab_job_known_words,
    "shape.norm:low_precision_layernorm=layer|layernorm=layer|low_precision_rmsnorm=rms|rmsnorm=rms|"
    "triton_rmsnorm=rms" },
  { "model.attn_config.attn_impl", fab_job_known_words,
    "shape.attention:flash=flash|triton=flash|torch=full" },
  { "model.flash_attention", fab_job_words, "shape.attention:true=flash|false=full" },
  { "model.ffn_config.moe_num_experts", fab_job_count, "shape.experts.count" },
  { "model.ffn_config.moe_top_k", fab_job_count, "shape.experts.per_token" },
  { "model.ffn_config.moe_world_size", fab_job_positive, "parallel.expert" },
};

/* Composer reduces gradients in the type of the weights under PURE, and in FP32 under FULL. */
static const FabJobRow fsdp_rows[] = {
  { "fsdp_config.mixed_precision", fab_job_words, "gradient:PURE=bf16|DEFAULT=fp32|FULL=fp32" },
  { "fsdp.precision", fab_job_known_words, "gradient:pure=bf16|mixed=fp32" },
  { "fsdp_config.data_parallel_shard_degree", fab_job_positive, "shard" },
};

/* OLMo's other ways keep some blocks. */
static void
take_recompute (FabJobReading *self)
{
  const FabJobSetting *way = fab_job_settings_find (self->settings, "activation_checkpointing");

  if (way == NULL || way->value == NULL || g_ascii_strcasecmp (way->value, "null") == 0)
    return;
  if (strcmp (way->value, "whole_layer") == 0)
    fab_imported_job_set (self->job, self->settings, way, "recompute", "full");
  else
    fab_imported_job_infer (self->job,
                            "%s:%u: activation_checkpointing is %s, which keeps a part of the activations; "
                            "job.recompute is left out",
                            self->settings->file->name, way->line, way->value);
}

static void
conclude_count (FabJobReading *self, const char *key, gint64 value, const char *why)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);

  if (value > 0 && value <= 100000000)
    fab_job_conclude (self, key, text, why);
}

/* OLMo's mlp_hidden_size counts the gate too. */
static void
take_mlp (FabJobReading *self)
{
  const char *type = fab_job_value (self, "model.ffn_config.ffn_type");
  gboolean is_gated = g_strcmp0 (fab_job_value (self, "model.activation_type"), "swiglu") == 0
                   || (type != NULL && strstr (type, "glu") != NULL)
                   || g_strcmp0 (fab_job_value (self, "model.ffn_config.mlp_type"), "glu") == 0;
  gint64 hidden = fab_job_whole (self, "model.d_model", 0),
         both = fab_job_whole (self, "model.mlp_hidden_size", 0),
         said = fab_job_whole (self, "model.ffn_config.ffn_hidden_size", 0);
  gint64 ratio = fab_job_whole (self, "model.expansion_ratio", fab_job_whole (self, "model.mlp_ratio", 4));
  gint64 width = both > 0 ? (is_gated ? both / 2 : both) : MIN (hidden, 100000000) * CLAMP (ratio, 1, 1000);

  if (both <= 0 && is_gated && fab_job_value (self, "model.mlp_ratio") != NULL)
    width /= 2;
  fab_job_conclude (self, "shape.gated", is_gated ? "true" : "false",
                    is_gated ? "by the type of the MLP" : "as the MLP has no gate");
  conclude_count (self, "shape.feed_forward", said > 0 ? said : width,
                  said > 0   ? "by ffn_hidden_size"
                  : both > 0 ? "by mlp_hidden_size"
                             : "by the model width and its ratio");
}

/* What the files leave to the defaults of the two programs. */
static void
take_shape (FabJobReading *self)
{
  gboolean is_olmo = fab_job_value (self, "model.activation_type") != NULL
                  || fab_job_value (self, "model.max_sequence_length") != NULL;
  gboolean is_rotary = fab_job_is_on (self, "model.attn_config.rope") || fab_job_is_on (self, "model.rope");
  gboolean is_linear = fab_job_is_on (self, "model.attn_config.alibi") || fab_job_is_on (self, "model.alibi");

  if (fab_imported_job_get (self->job, "shape.layers") == NULL)
    return;
  take_mlp (self);
  if (fab_imported_job_get (self->job, "shape.biases") == NULL)
    fab_job_conclude (self, "shape.biases", "true", "as no_bias is not given");
  if (is_olmo && fab_imported_job_get (self->job, "shape.norm") == NULL)
    fab_job_conclude (self, "shape.norm",
                      g_strcmp0 (fab_job_value (self, "model.layer_norm_type"), "rms") == 0 ? "rms"
                      : g_strcmp0 (fab_job_value (self, "model.layer_norm_with_affine"), "false") == 0
                          ? "none"
                          : "layer",
                      "by layer_norm_type");
  if (!is_rotary && !is_linear)
    conclude_count (self, "shape.positions", fab_job_whole (self, "model.max_seq_len", 0),
                    "learned, as there is neither rope nor alibi");
}

static gboolean
read_job (FabJobReading *self)
{
  const char *strategy = fab_job_value (self, "distributed_strategy");
  gboolean is_sharded = g_strcmp0 (strategy, "ddp") != 0;

  self->job->kind = is_sharded ? "fsdp" : "ddp";
  fab_job_take_rows (self, rows, G_N_ELEMENTS (rows));
  take_recompute (self);
  if (is_sharded) {
    fab_job_take_rows (self, fsdp_rows, G_N_ELEMENTS (fsdp_rows));
    fab_job_take_fsdp (self);
  }
  if (fab_imported_job_get (self->job, "clip_gradients") == NULL)
    fab_job_conclude (self, "clip_gradients", "false", "as nothing clips them");
  take_shape (self);
  return self->is_good;
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "device_train_microbatch_size")
      || (fab_file_text_has (text, "global_train_batch_size") && fab_file_text_has (text, "fsdp"));
}

const FabFileFormat fab_file_composer = {
  .name = "composer",
  .tool = "the YAML of llm-foundry",
  .help = "the YAML of llm-foundry (Composer) and of OLMo",
  .kind = FAB_FILE_JOB,
  .recognises = recognises,
  .read.job = read_job,
};
