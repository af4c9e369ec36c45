/* SPDX-License-Identifier: Apache-2.0 */
/* accelerate.c - Accelerate's YAML, and FSDP's keys in it and in TrainingArguments (huggingface/accelerate
 * src/accelerate/utils/dataclasses.py, FullyShardedDataParallelPlugin; commands/config/).
 */
#include <string.h>

#include "formats/job/fsdp_keys.h"
#include "formats/job/rows.h"

static const FabJobRow rows[] = {
  { "mixed_precision", fab_job_words, "precision:no=fp32|fp16=fp16|bf16=bf16|fp8=fp8" },
  { "num_machines", fab_job_nodes, NULL },
  { "num_processes", fab_job_ranks, NULL },
  { "gradient_accumulation_steps", fab_job_count, "accumulation" },
  { "parallelism_config.parallelism_config_tp_size", fab_job_positive, "parallel.tensor" },
  { "parallelism_config.parallelism_config_cp_size", fab_job_positive, "parallel.context" },
  { "parallelism_config.parallelism_config_sp_size", fab_job_effect,
    "Ulysses divides each sequence by all-to-alls between heads and tokens" },
  { "compute_environment", fab_job_same, NULL },
  { "machine_rank", fab_job_same, NULL },
  { "main_training_function", fab_job_same, NULL },
  { "rdzv_backend", fab_job_same, NULL },
  { "same_network", fab_job_same, NULL },
  { "use_cpu", fab_job_same, NULL },
  { "debug", fab_job_same, NULL },
};

static const FabJobRow deepspeed_rows[] = {
  { "deepspeed_config.zero_stage", fab_job_positive, "stage" },
  { "deepspeed_config.gradient_accumulation_steps", fab_job_count, "accumulation" },
  { "deepspeed_config.gradient_clipping", fab_job_above_zero, "clip_gradients" },
  { "deepspeed_config.offload_optimizer_device", fab_job_words,
    "offload.optimizer:none=none|cpu=cpu|nvme=nvme" },
  { "deepspeed_config.offload_param_device", fab_job_words,
    "offload.parameters:none=none|cpu=cpu|nvme=nvme" },
  { "deepspeed_config.zero3_init_flag", fab_job_same, NULL },
  { "deepspeed_config.zero3_save_16bit_model", fab_job_same, NULL },
};

static const FabJobRow megatron_rows[] = {
  { "megatron_lm_config.megatron_lm_tp_degree", fab_job_count, "parallel.tensor" },
  { "megatron_lm_config.megatron_lm_pp_degree", fab_job_count, "parallel.pipeline" },
  { "megatron_lm_config.megatron_lm_num_micro_batches", fab_job_count, "accumulation" },
  { "megatron_lm_config.megatron_lm_sequence_parallelism", fab_job_flag, "parallel.sequence" },
  { "megatron_lm_config.megatron_lm_use_distributed_optimizer", fab_job_flag, "distributed_optimizer" },
  { "megatron_lm_config.megatron_lm_gradient_clipping", fab_job_above_zero, "clip_gradients" },
  { "megatron_lm_config.megatron_lm_recompute_activations", fab_job_when, "recompute=selective" },
};

/* The strategy as a number in old files, as a word in newer ones; version 2 of FSDP says only whether weights are
 * sharded again. */
#define STRATEGIES                                                      \
  "sharding:FULL_SHARD=full|SHARD_GRAD_OP=grad_op|HYBRID_SHARD=hybrid|" \
  "HYBRID_SHARD_ZERO2=hybrid_grad_op|NO_SHARD=|1=full|2=grad_op|3=|4=hybrid|5=hybrid_grad_op"
#define RESHARD                                                          \
  "sharding:true=full|false=grad_op|default=|always=full|never=grad_op|" \
  "FULL_SHARD=full|SHARD_GRAD_OP=grad_op|HYBRID_SHARD=hybrid|HYBRID_SHARD_ZERO2=hybrid_grad_op"

/* A block is a unit here. */
static void
take_wrap (FabJobReading *self, const FabJobSetting *setting, const char *to G_GNUC_UNUSED)
{
  if (g_strcmp0 (setting->value, "NO_WRAP") == 0)
    fab_imported_job_effect (self->job, self->settings, setting,
                             "all weights are one unit, gathered at once");
  else if (g_strcmp0 (setting->value, "SIZE_BASED_WRAP") == 0)
    fab_imported_job_effect (self->job, self->settings, setting, "units are by size; here each block is one");
}

static const FabJobRow fsdp_rows[] = {
  { "*.fsdp_sharding_strategy", fab_job_words, STRATEGIES },
  { "*.sharding_strategy", fab_job_words, STRATEGIES },
  { "*.fsdp_reshard_after_forward", fab_job_words, RESHARD },
  { "*.reshard_after_forward", fab_job_words, RESHARD },
  { "*.fsdp_backward_prefetch", fab_job_words,
    "backward_prefetch:BACKWARD_PRE=pre|BACKWARD_POST=post|NO_PREFETCH=none|0=pre|1=post" },
  { "*.backward_prefetch", fab_job_words,
    "backward_prefetch:backward_pre=pre|backward_post=post|no_prefetch=none" },
  { "*.backward_prefetch_policy", fab_job_words, "backward_prefetch:BACKWARD_PRE=pre|BACKWARD_POST=post" },
  { "*.fsdp_offload_params", fab_job_flag, "cpu_offload" },
  { "*.offload_params", fab_job_flag, "cpu_offload" },
  { "*.limit_all_gathers", fab_job_flag, "limit_all_gathers" },
  { "*.fsdp_limit_all_gathers", fab_job_flag, "limit_all_gathers" },
  { "*.fsdp_activation_checkpointing", fab_job_when, "recompute=full" },
  { "*.activation_checkpointing", fab_job_when, "recompute=full" },
  { "*.fsdp_forward_prefetch", fab_job_effect,
    "the forward pass gathers the next unit before this one ends" },
  { "*.forward_prefetch", fab_job_effect, "the forward pass gathers the next unit before this one ends" },
  { "*.fsdp_auto_wrap_policy", take_wrap, NULL },
  { "*.fsdp_version", fab_job_same, NULL },
  { "*.fsdp_state_dict_type", fab_job_same, NULL },
  { "*.fsdp_sync_module_states", fab_job_same, NULL },
  { "*.fsdp_use_orig_params", fab_job_same, NULL },
  { "*.fsdp_cpu_ram_efficient_loading", fab_job_same, NULL },
  { "*.fsdp_transformer_layer_cls_to_wrap", fab_job_same, NULL },
  { "*.transformer_layer_cls_to_wrap", fab_job_same, NULL },
};

void
fab_job_take_fsdp (FabJobReading *self)
{
  fab_job_take_rows (self, fsdp_rows, G_N_ELEMENTS (fsdp_rows));
}

static const char *
kind_of (const char *type)
{
  static const struct {
    const char *type, *kind;
  } kinds[] = { { "FSDP", "fsdp" },
                { "DEEPSPEED", "zero" },
                { "MEGATRON_LM", "megatron" },
                { "MULTI_GPU", "ddp" },
                { "NO", "ddp" } };

  for (guint i = 0; type && i < G_N_ELEMENTS (kinds); i++)
    if (g_ascii_strcasecmp (type, kinds[i].type) == 0)
      return kinds[i].kind;
  return NULL;
}

/* Copies of the model, and ranks that share one: sharding within groups. */
static void
take_copies (FabJobReading *self)
{
  static const char *const copies_key = "parallelism_config.parallelism_config_dp_replicate_size";
  static const char *const shard_key = "parallelism_config.parallelism_config_dp_shard_size";
  const FabJobSetting *copies = fab_job_settings_find (self->settings, copies_key);
  const FabJobSetting *shard = fab_job_settings_find (self->settings, shard_key);
  gboolean keeps = g_strcmp0 (fab_imported_job_get (self->job, "sharding"), "grad_op") == 0;

  if (copies == NULL || fab_job_whole (self, copies_key, 1) < 2)
    return;
  fab_imported_job_set (self->job, self->settings, copies, "sharding", keeps ? "hybrid_grad_op" : "hybrid");
  if (shard != NULL)
    fab_job_positive (self, shard, "shard");
}

static gboolean
read_job (FabJobReading *self)
{
  const FabJobSetting *type = fab_job_settings_find (self->settings, "distributed_type");
  const char *kind = type ? kind_of (type->value) : "fsdp";
  const FabJobSetting *other = fab_job_settings_find (self->settings,
                                                      "deepspeed_config.deepspeed_config_file");

  if (kind == NULL)
    return fab_job_fail (self, type,
                         "distributed_type: '%s' is not known here; known are FSDP, DEEPSPEED, MULTI_GPU, "
                         "MEGATRON_LM, NO",
                         type->value ? type->value : "");
  self->job->kind = kind;
  fab_job_take_rows (self, rows, G_N_ELEMENTS (rows));
  if (strcmp (kind, "fsdp") == 0) {
    fab_job_take_fsdp (self);
    take_copies (self);
  } else if (strcmp (kind, "zero") == 0)
    fab_job_take_rows (self, deepspeed_rows, G_N_ELEMENTS (deepspeed_rows));
  else if (strcmp (kind, "megatron") == 0)
    fab_job_take_rows (self, megatron_rows, G_N_ELEMENTS (megatron_rows));
  if (strcmp (kind, "zero") == 0 && other == NULL && fab_imported_job_get (self->job, "stage") == NULL)
    self->job->kind = "ddp";
  if (other != NULL && other->value != NULL)
    fab_imported_job_infer (self->job, "%s names %s; name that file beside this one: `import job %s %s`",
                            self->settings->file->name, other->value, self->settings->file->name,
                            other->value);
  return self->is_good;
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "distributed_type:")
      || (fab_file_text_has (text, "fsdp_config") && !fab_file_text_has (text, "per_device_train_batch_size"))
      || (fab_file_text_has (text, "fsdp_sharding_strategy")
          && !fab_file_text_has (text, "tensor_model_parallel_size"))
      || fab_file_text_has (text, "fsdp_reshard_after_forward");
}

const FabFileFormat fab_file_accelerate = {
  .name = "accelerate",
  .tool = "Accelerate's YAML",
  .help = "Accelerate's YAML, and FSDP's keys alone",
  .kind = FAB_FILE_JOB,
  .recognises = recognises,
  .read.job = read_job,
};
