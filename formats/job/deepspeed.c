/* SPDX-License-Identifier: Apache-2.0 */
/* deepspeed.c - DeepSpeed's JSON (deepspeedai/DeepSpeed docs/_pages/config-json.md, deepspeed/runtime/zero/config.py).
 *
 * "auto" is filled in by the Trainer of Hugging Face: hidden x hidden for reduce_bucket_size, nine tenths of that for
 * stage3_prefetch_bucket_size, and 10 x hidden for stage3_param_persistence_threshold (transformers,
 * integrations/deepspeed.py).
 */
#include <string.h>

#include "formats/job/deepspeed_keys.h"
#include "formats/job/rows.h"

#define ZERO "zero_optimization."

/* Without the hidden size of the model "auto" is not known. */
static void
take_bucket (FabJobReading *self, const FabJobSetting *setting, const char *to)
{
  if (g_strcmp0 (setting->value, "auto") != 0 || self->job->hidden == 0)
    fab_job_count (self, setting, to);
}

static const FabJobRow batch_rows[] = {
  { "train_micro_batch_size_per_gpu", fab_job_count, "micro_batch" },
  { "gradient_accumulation_steps", fab_job_count, "accumulation" },
  { "gradient_clipping", fab_job_above_zero, "clip_gradients" },
  { "bf16.enabled", fab_job_when, "precision=bf16" },
  { "bfloat16.enabled", fab_job_when, "precision=bf16" },
  { "fp16.enabled", fab_job_when, "precision=fp16" },
  { "communication_data_type", fab_job_words, "gradient:fp16=fp16|bf16=bf16|bfp16=bf16|fp32=fp32" },
  { "tensor_parallel.autotp_size", fab_job_positive, "parallel.tensor" },
  { "tensor_parallel.tp_size", fab_job_positive, "parallel.tensor" },
  { "pipeline.stages", fab_job_positive, "parallel.pipeline" },
  { "sequence_parallel_size", fab_job_effect,
    "Ulysses divides each sequence by all-to-alls between heads and tokens" },
  { "sparse_gradients", fab_job_effect,
    "gradients of embeddings are gathered as rows instead of being reduced" },
  { "activation_checkpointing.partition_activations", fab_job_effect,
    "activations are divided among tensor-parallel ranks and gathered again in the backward pass" },
  { "activation_checkpointing.cpu_checkpointing", fab_job_when, "memory.offload=cpu" },
  { "wall_clock_breakdown", fab_job_effect,
    "the host waits for the GPU at each timer, so that less overlaps" },
  { "compression_training", fab_job_effect, "weights or activations are compressed" },
  { "data_efficiency.enabled", fab_job_effect, "sequences have other lengths at other times" },
  { "data_types.grad_accum_dtype", fab_job_effect, "gradients are summed over micro-batches in that type" },
  { "compile.deepcompile", fab_job_effect, "the compiler places gathers and reductions itself" },
  { "prescale_gradients", fab_job_same, NULL },
  { "steps_per_print", fab_job_same, NULL },
  { "zero_allow_untested_optimizer", fab_job_same, NULL },
};

static const FabJobRow zero_rows[] = {
  { ZERO "overlap_comm", fab_job_words, "overlap_comm:true=yes|false=no" },
  { ZERO "reduce_bucket_size", take_bucket, "reduce_bucket" },
  { ZERO "allgather_bucket_size", fab_job_count, "allgather_bucket" },
  { ZERO "use_multi_rank_bucket_allreduce", fab_job_flag, "multi_rank_all_reduce" },
  { ZERO "reduce_scatter", fab_job_effect_off,
    "gradients are summed by all-reduce instead of reduce-scatter" },
  { ZERO "offload_optimizer.device", fab_job_words, "offload.optimizer:none=none|cpu=cpu|nvme=nvme" },
  { ZERO "offload_param.device", fab_job_words, "offload.parameters:none=none|cpu=cpu|nvme=nvme" },
  { ZERO "cpu_offload", fab_job_when, "offload.optimizer=cpu" },
  { ZERO "zero_quantized_nontrainable_weights", fab_job_effect, "frozen weights travel in 8 bits" },
  { ZERO "contiguous_gradients", fab_job_same, NULL },
  { ZERO "allgather_partitions", fab_job_same, NULL },
  { ZERO "round_robin_gradients", fab_job_same, NULL },
  { ZERO "sub_group_size", fab_job_same, NULL },
  { ZERO "offload_optimizer.pin_memory", fab_job_same, NULL },
  { ZERO "offload_param.pin_memory", fab_job_same, NULL },
};

static const FabJobRow stage3_rows[] = {
  { ZERO "stage3_prefetch_bucket_size", take_bucket, "prefetch_bucket" },
  { ZERO "stage3_param_persistence_threshold", take_bucket, "persistence_threshold" },
  { ZERO "stage3_max_live_parameters", fab_job_count, "max_live" },
  { ZERO "stage3_max_reuse_distance", fab_job_count, "max_reuse_distance" },
  { ZERO "zero_hpz_partition_size", fab_job_positive, "secondary" },
  { ZERO "mics_shard_size", fab_job_positive, "shard" },
  { ZERO "zero_quantized_weights", fab_job_flag, "quantized_weights" },
  { ZERO "zero_quantized_gradients", fab_job_flag, "quantized_gradients" },
  { ZERO "mics_hierarchical_params_gather", fab_job_effect,
    "weights are gathered between nodes, then within them" },
  { ZERO "stage3_module_granularity_threshold", fab_job_effect, "small modules are gathered together" },
  { ZERO "stage3_gather_16bit_weights_on_model_save", fab_job_same, NULL },
  { ZERO "stage3_gather_fp16_weights_on_model_save", fab_job_same, NULL },
};

static gboolean
is_auto (FabJobReading *self, const char *key)
{
  return g_strcmp0 (fab_job_value (self, key), "auto") == 0;
}

static void
fill_auto (FabJobReading *self, const char *from, const char *to, double value, const char *why)
{
  g_autofree char *text = g_strdup_printf ("%.0f", value);

  if (is_auto (self, from) && self->job->hidden > 0)
    fab_job_conclude (self, to, text, why);
}

/* What the Trainer of Hugging Face puts in the place of "auto". */
static void
fill_all_auto (FabJobReading *self, gint64 stage)
{
  double hidden = self->job->hidden;

  fill_auto (self, ZERO "reduce_bucket_size", "reduce_bucket", hidden * hidden,
             "hidden x hidden, as the Trainer of Hugging Face fills in auto");
  if (stage < 3)
    return;
  fill_auto (self, ZERO "stage3_prefetch_bucket_size", "prefetch_bucket", 0.9 * hidden * hidden,
             "0.9 x hidden x hidden, as the Trainer of Hugging Face fills in auto");
  fill_auto (self, ZERO "stage3_param_persistence_threshold", "persistence_threshold", 10 * hidden,
             "10 x hidden, as the Trainer of Hugging Face fills in auto");
}

/* train_batch_size = micro batch x accumulation x data-parallel ranks, of which DeepSpeed computes the third. */
static void
take_batch (FabJobReading *self)
{
  const FabJobSetting *all = fab_job_settings_find (self->settings, "train_batch_size");
  gint64 global = fab_job_whole (self, "train_batch_size", 0);

  if (all == NULL || global <= 0)
    return;
  if (fab_imported_job_get (self->job, "micro_batch") && fab_imported_job_get (self->job, "accumulation"))
    return;
  fab_job_count (self, all, "global_batch");
  if (fab_imported_job_get (self->job, "micro_batch") == NULL && self->job->request->n_ranks > 0) {
    gint64 accumulation = fab_job_whole (self, "gradient_accumulation_steps", 1);
    g_autofree char *micro = g_strdup_printf (
        "%" G_GINT64_FORMAT, MAX (global / MAX (accumulation * self->job->request->n_ranks, 1), 1));

    fab_job_conclude (self, "micro_batch", micro,
                      "the batch over the ranks of the machine, as DeepSpeed computes it");
  }
}

static gboolean
is_compressing (const char *optimizer)
{
  static const char *const names[] = { "onebitadam", "zerooneadam", "onebitlamb", NULL };
  g_autofree char *name = g_ascii_strdown (optimizer, -1);

  return g_strv_contains (names, name);
}

gboolean
fab_job_take_deepspeed (FabJobReading *self)
{
  const FabJobSetting *stage_said = fab_job_settings_find (self->settings, ZERO "stage");
  const FabJobSetting *optimizer = fab_job_settings_find (self->settings, "optimizer.type");
  gint64 stage = fab_job_whole (self, ZERO "stage", 0);

  if (stage < 0 || stage > 3)
    return fab_job_fail (self, stage_said, ZERO "stage: from 0 to 3");
  self->job->kind = stage > 0 ? "zero" : "ddp";
  fab_job_take_rows (self, batch_rows, G_N_ELEMENTS (batch_rows));
  if (stage > 0) {
    fab_job_count (self, stage_said, "stage");
    fab_job_take_rows (self, zero_rows, G_N_ELEMENTS (zero_rows));
  } else
    fab_imported_job_infer (self->job, "job.kind: ddp, as the file shards no states");
  if (stage == 3)
    fab_job_take_rows (self, stage3_rows, G_N_ELEMENTS (stage3_rows));
  fill_all_auto (self, stage);
  take_batch (self);
  if (optimizer && optimizer->value && is_compressing (optimizer->value))
    fab_imported_job_effect (self->job, self->settings, optimizer,
                             "after a warm-up gradients travel in one bit");
  if (fab_imported_job_get (self->job, "precision") == NULL && !is_auto (self, "bf16.enabled")
      && !is_auto (self, "fp16.enabled"))
    fab_job_conclude (self, "precision", "fp32", "as the file enables neither bf16 nor fp16");
  if (fab_imported_job_get (self->job, "clip_gradients") == NULL)
    fab_job_conclude (self, "clip_gradients", "false", "DeepSpeed's default");
  return self->is_good;
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_is_json (text) && !fab_file_text_has (text, "\"per_device_train_batch_size\"")
      && (fab_file_text_has (text, "\"zero_optimization\"")
          || fab_file_text_has (text, "\"train_micro_batch_size_per_gpu\"")
          || fab_file_text_has (text, "\"train_batch_size\""));
}

const FabFileFormat fab_file_deepspeed = {
  .name = "deepspeed",
  .tool = "DeepSpeed's JSON",
  .kind = FAB_FILE_JOB,
  .recognises = recognises,
  .read.job = fab_job_take_deepspeed,
};
