/* SPDX-License-Identifier: Apache-2.0 */
/* torchtitan.c - torchtitan's TOML (pytorch/torchtitan torchtitan/config/job_config.py). Until 2025 the keys of
 * `parallelism` lay in `training` and `experimental`, and local_batch_size was batch_size.
 */
#include <string.h>

#include "formats/job/rows.h"

#define SCHEDULES                                                                                          \
  "parallel.schedule:1F1B=1f1b|GPipe=gpipe|Interleaved1F1B=interleaved|InterleavedZeroBubble=zero_bubble|" \
  "ZBVZeroBubble=zero_bubble_v|DualPipeV=dualpipe_v"

static const FabJobRow rows[] = {
  { "training.batch_size", fab_job_count, "micro_batch" },
  { "training.local_batch_size", fab_job_count, "micro_batch" },
  { "training.global_batch_size", fab_job_positive, "global_batch" },
  { "training.gradient_accumulation_steps", fab_job_count, "accumulation" },
  { "training.seq_len", fab_job_count, "sequence" },
  { "training.max_norm", fab_job_above_zero, "clip_gradients" },
  { "training.mixed_precision_param", fab_job_words, "precision:bfloat16=bf16|float32=fp32" },
  { "training.mixed_precision_reduce", fab_job_words, "gradient:float32=fp32|bfloat16=bf16" },
  { "training.enable_cpu_offload", fab_job_flag, "cpu_offload" },
  { "*.tensor_parallel_degree", fab_job_count, "parallel.tensor" },
  { "*.context_parallel_degree", fab_job_count, "parallel.context" },
  { "*.context_parallel_rotate_method", fab_job_words,
    "parallel.context_kind:allgather=gather|alltoall=ring" },
  { "*.pipeline_parallel_degree", fab_job_count, "parallel.pipeline" },
  { "*.expert_parallel_degree", fab_job_positive, "parallel.expert" },
  { "*.expert_tensor_parallel_degree", fab_job_positive, "parallel.expert_tensor" },
  { "*.enable_async_tensor_parallel", fab_job_flag, "parallel.overlap_tensor" },
  { "*.expert_parallel_comm_backend", fab_job_known_words,
    "parallel.moe.dispatch:standard=nccl|deepep=deepep|hybridep=hybridep" },
  { "*.disable_loss_parallel", fab_job_effect, "logits are gathered before the loss" },
  { "*.enable_sequence_parallel", fab_job_effect_off, "norms and residuals are not divided by tokens" },
  { "*.early_step_in_backward", fab_job_effect, "the optimizer runs within the backward pass" },
  { "primus_turbo.use_turbo_async_tp", fab_job_flag, "parallel.overlap_tensor" },
  { "*.enable_float8_linear", fab_job_when, "precision=fp8" },
  { "*.enable_compiled_autograd", fab_job_same, NULL },
  { "*.enable_fsdp_float8_all_gather", fab_job_effect, "FSDP gathers weights in 8 bits" },
  { "*.enable_fsdp_fp8_all_gather", fab_job_effect, "FSDP gathers weights in 8 bits" },
  { "fault_tolerance.enable", fab_job_effect, "replica groups sum gradients over a transport of their own" },
  { "optimizer.implementation", fab_job_known_words,
    "software.optimizer:fused=fused|foreach=foreach|for-loop=" },
  { "activation_checkpoint.mode", fab_job_known_words,
    "recompute:none=none|full=full|selective=operators|memory_budget=" },
  { "training.compile", fab_job_when, "compute.stack=compiled" },
  { "compile.enable", fab_job_when, "compute.stack=compiled" },
  { "experimental.custom_model_path", fab_job_same, NULL },
};

/* Schedules matter where there are stages; torchtitan's default is 1F1B. */
static const FabJobRow pipeline_rows[] = {
  { "*.pipeline_parallel_schedule", fab_job_known_words, SCHEDULES },
};

/* Ranks that shard, and copies of the model. */
static void
take_sharding (FabJobReading *self)
{
  const FabJobSetting *copies = fab_job_settings_find (self->settings, "*.data_parallel_replicate_degree");
  gint64 n_copies = fab_job_whole (self, "*.data_parallel_replicate_degree", 1);
  gint64 n_shards = fab_job_whole (self, "*.data_parallel_shard_degree", -1);
  const char *reshard = fab_job_value (self, "*.fsdp_reshard_after_forward");
  gboolean keeps = g_strcmp0 (reshard, "never") == 0;
  g_autofree char *shard = g_strdup_printf ("%" G_GINT64_FORMAT, n_shards);

  if (n_shards == 1 && n_copies != 1) {
    self->job->kind = "ddp";
    fab_imported_job_infer (self->job, "job.kind: ddp, as data_parallel_shard_degree is 1");
    return;
  }
  self->job->kind = "fsdp";
  if (n_copies > 1) {
    fab_imported_job_set (self->job, self->settings, copies, "sharding", keeps ? "hybrid_grad_op" : "hybrid");
    if (n_shards > 1)
      fab_job_conclude (self, "shard", shard, "by data_parallel_shard_degree");
    else
      fab_imported_job_infer (self->job,
                              "job.shard: the ranks of one node, as data_parallel_shard_degree is what the "
                              "other degrees leave");
  } else if (keeps)
    fab_job_conclude (self, "sharding", "grad_op", "by fsdp_reshard_after_forward");
}

/* A pipeline divides the local batch into micro-batches. */
static void
take_micro_batches (FabJobReading *self)
{
  gint64 local = fab_job_whole (self, "training.local_batch_size",
                                fab_job_whole (self, "training.batch_size", 1));
  gint64 micro = MAX (fab_job_whole (self, "*.pipeline_parallel_microbatch_size", 1), 1);
  g_autofree char *size = g_strdup_printf ("%" G_GINT64_FORMAT, micro);
  g_autofree char *n = g_strdup_printf ("%" G_GINT64_FORMAT, MAX (local / micro, 1));

  fab_job_take_rows (self, pipeline_rows, G_N_ELEMENTS (pipeline_rows));
  fab_job_conclude (self, "micro_batch", size,
                    "the part of the local batch that passes the pipeline at once");
  if (fab_imported_job_get (self->job, "global_batch") == NULL)
    fab_job_conclude (self, "accumulation", n, "parts of the local batch that pass the pipeline");
}

static void
take_selective (FabJobReading *self)
{
  const FabJobSetting *option = fab_job_settings_find (self->settings,
                                                       "activation_checkpoint.selective_ac_option");

  if (g_strcmp0 (fab_imported_job_get (self->job, "recompute"), "operators") != 0 || option == NULL
      || option->value == NULL || strcmp (option->value, "op") == 0)
    return;
  fab_job_conclude (
      self, "recompute", "full",
      "as selective_ac_option recomputes every n-th block whole; the others are recomputed here too");
}

static void
take_model (FabJobReading *self)
{
  const char *name = fab_job_value (self, "model.name"), *flavor = fab_job_value (self, "model.flavor");

  if (name == NULL)
    return;
  g_free (self->job->model_said);
  self->job->model_said = flavor ? g_strdup_printf ("%s-%s", name, flavor) : g_strdup (name);
}

/* Primus starts torchtitan and Megatron-LM by a YAML of its own, which names files of defaults. */
static const FabJobRow primus_rows[] = {
  { "modules.pre_trainer.model", fab_job_model, NULL },
  { "modules.pre_trainer.config", fab_job_same, NULL },
  { "modules.pre_trainer.framework", fab_job_same, NULL },
};

static gboolean
read_job (FabJobReading *self)
{
  const char *converters = fab_job_value (self, "model.converters");

  take_sharding (self);
  fab_job_take_rows (self, rows, G_N_ELEMENTS (rows));
  fab_job_take_rows (self, primus_rows, G_N_ELEMENTS (primus_rows));
  take_selective (self);
  if (fab_job_whole (self, "*.pipeline_parallel_degree", 1) > 1)
    take_micro_batches (self);
  if (fab_job_whole (self, "*.tensor_parallel_degree", 1) > 1)
    fab_job_conclude (self, "parallel.sequence", "true", "as torchtitan does with tensor parallelism");
  if (fab_imported_job_get (self->job, "gradient") == NULL)
    fab_job_conclude (self, "gradient", "fp32", "torchtitan's default of mixed_precision_reduce");
  if (converters && (strstr (converters, "float8") || strstr (converters, "fp8")))
    fab_job_conclude (self, "precision", "fp8", "by model.converters");
  if (g_strcmp0 (self->job->kind, "ddp") == 0)
    fab_imported_job_set (self->job, self->settings, NULL, "cpu_offload", NULL);
  take_model (self);
  return self->is_good;
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "framework: torchtitan")
      || (fab_file_text_has (text, "[training]")
          && (fab_file_text_has (text, "parallel_degree") || fab_file_text_has (text, "[parallelism]")
              || fab_file_text_has (text, "seq_len")));
}

const FabFileFormat fab_file_torchtitan = {
  .name = "torchtitan",
  .tool = "torchtitan's TOML",
  .kind = FAB_FILE_JOB,
  .recognises = recognises,
  .read.job = read_job,
};
