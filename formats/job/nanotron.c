/* SPDX-License-Identifier: Apache-2.0 */
/* nanotron.c - nanotron's YAML (huggingface/nanotron src/nanotron/config/config.py, parallelism_config.py). */
#include <string.h>

#include "formats/job/rows.h"

static const FabJobRow rows[] = {
  { "tokens.micro_batch_size", fab_job_count, "micro_batch" },
  { "tokens.sequence_length", fab_job_count, "sequence" },
  { "tokens.batch_accumulation_per_replica", fab_job_count, "accumulation" },
  { "model.dtype", fab_job_words, "precision:bfloat16=bf16|float16=fp16|float32=fp32|float8=fp8|double=" },
  { "optimizer.clip_grad", fab_job_above_zero, "clip_gradients" },
  { "parallelism.tp", fab_job_count, "parallel.tensor" },
  { "parallelism.pp", fab_job_count, "parallel.pipeline" },
  { "parallelism.context_parallel_size", fab_job_count, "parallel.context" },
  { "parallelism.expert_parallel_size", fab_job_count, "parallel.expert" },
  { "parallelism.pp_engine", fab_job_words, "parallel.schedule:1f1b=1f1b|afab=gpipe" },
  { "parallelism.tp_mode", fab_job_words, "parallel.sequence:REDUCE_SCATTER=true|ALL_REDUCE=false" },
  { "parallelism.tp_linear_async_communication", fab_job_effect,
    "gathers of tensor parallelism run beside products of the backward pass" },
  { "parallelism.recompute_layer", fab_job_when, "recompute=full" },
  { "parallelism.tp_recompute_allgather", fab_job_effect,
    "the backward pass gathers inputs of tensor-parallel layers again" },
  { "general.seed", fab_job_same, NULL },
  { "model.model_config.num_hidden_layers", fab_job_count, "shape.layers" },
  { "model.model_config.hidden_size", fab_job_count, "shape.hidden" },
  { "model.model_config.num_attention_heads", fab_job_count, "shape.heads" },
  { "model.model_config.num_key_value_heads", fab_job_count, "shape.kv_heads" },
  { "model.model_config.intermediate_size", fab_job_count, "shape.feed_forward" },
  { "model.model_config.vocab_size", fab_job_count, "shape.vocabulary" },
  { "model.model_config.tie_word_embeddings", fab_job_flag, "shape.tied" },
  { "model.model_config.attention_bias", fab_job_flag, "shape.qkv_biases" },
  { "model.model_config.head_dim", fab_job_positive, "shape.head_dim" },
  { "model.model_config.moe_config.num_experts", fab_job_count, "shape.experts.count" },
  { "model.model_config.moe_config.top_k", fab_job_count, "shape.experts.per_token" },
  { "model.model_config.moe_config.moe_intermediate_size", fab_job_positive, "shape.experts.width" },
};

static void
choose_kind (FabJobReading *self)
{
  const FabJobSetting *stage = fab_job_settings_find (self->settings, "optimizer.zero_stage");
  gboolean is_sharded = fab_job_whole (self, "optimizer.zero_stage", 0) > 0;

  self->job->kind = is_sharded ? "zero" : "ddp";
  if (is_sharded)
    fab_job_count (self, stage, "stage");
  fab_job_take_rows (
      self, (const FabJobRow[]){ { "optimizer.accumulate_grad_in_fp32", fab_job_when, "gradient=fp32" } }, 1);
  if (!is_sharded)
    fab_job_take_rows (self,
                       (const FabJobRow[]){ { "model.ddp_bucket_cap_mb", fab_job_mebibytes, "bucket" } }, 1);
}

static gboolean
read_job (FabJobReading *self)
{
  gint64 dp = fab_job_whole (self, "parallelism.dp", 0);
  gint64 others = MAX (fab_job_whole (self, "parallelism.tp", 1), 1)
                * MAX (fab_job_whole (self, "parallelism.pp", 1), 1)
                * MAX (fab_job_whole (self, "parallelism.context_parallel_size", 1), 1);

  choose_kind (self);
  fab_job_take_rows (self, rows, G_N_ELEMENTS (rows));
  if (fab_imported_job_get (self->job, "shape.layers") != NULL) {
    fab_job_conclude (self, "shape.gated", "true", "as in nanotron's models of Llama");
    fab_job_conclude (self, "shape.biases", "false", "as in nanotron's models of Llama");
    fab_job_conclude (self, "shape.norm", "rms", "as in nanotron's models of Llama");
  }
  if (dp > 0 && dp <= 1000000 && others > 0 && others <= 1000000)
    self->job->n_ranks = (guint) MIN (dp * others, 1000000);
  fab_job_conclude (self, "compute.stack", "nanotron", "the software that wrote the file");
  return self->is_good;
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "batch_accumulation_per_replica")
      && fab_file_text_has (text, "parallelism:");
}

const FabFileFormat fab_file_nanotron = {
  .name = "nanotron",
  .tool = "nanotron's YAML",
  .kind = FAB_FILE_JOB,
  .recognises = recognises,
  .read.job = read_job,
};
