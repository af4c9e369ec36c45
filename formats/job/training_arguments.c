/* SPDX-License-Identifier: Apache-2.0 */
/* training_arguments.c - TrainingArguments of Hugging Face: as JSON or YAML, as arguments of a script, and as
 * LLaMA-Factory and Axolotl write them (huggingface/transformers src/transformers/training_args.py).
 */
#include <string.h>

#include "formats/job/deepspeed_keys.h"
#include "formats/job/fsdp_keys.h"
#include "formats/job/rows.h"

static const FabJobRow rows[] = {
  { "*.per_device_train_batch_size", fab_job_count, "micro_batch" },
  { "micro_batch_size", fab_job_count, "micro_batch" },
  { "*.gradient_accumulation_steps", fab_job_count, "accumulation" },
  { "*.block_size", fab_job_positive, "sequence" },
  { "*.model_max_length", fab_job_positive, "sequence" },
  { "*.max_seq_length", fab_job_positive, "sequence" },
  { "*.max_length", fab_job_positive, "sequence" },
  { "*.cutoff_len", fab_job_positive, "sequence" },
  { "sequence_len", fab_job_positive, "sequence" },
  { "*.tf32", fab_job_when, "precision=tf32" },
  { "*.fp16", fab_job_when, "precision=fp16" },
  { "*.bf16", fab_job_when, "precision=bf16" },
  { "*.max_grad_norm", fab_job_above_zero, "clip_gradients" },
  { "*.gradient_checkpointing", fab_job_when, "recompute=full" },
  { "*.torch_compile", fab_job_when, "compute.stack=compiled" },
  { "*.optim", fab_job_known_words,
    "software.optimizer:adamw_torch_fused=fused|adamw_torch=foreach|adamw_hf=|adafactor=|adamw_bnb_8bit=|"
    "paged_adamw_8bit=|paged_adamw_32bit=|adamw_8bit=|sgd=|galore_adamw=|lion_8bit=|adamw_anyprecision=|"
    "adamw_apex_fused=fused" },
  { "*.optimizer", fab_job_same, NULL },
  { "finetuning_type", fab_job_known_words, "trains:full=all|lora=lora|freeze=" },
  { "adapter", fab_job_known_words, "trains:lora=lora|qlora=lora|=" },
  { "*.use_peft", fab_job_when, "trains=lora" },
  { "lora_rank", fab_job_positive, "lora_rank" },
  { "lora_r", fab_job_positive, "lora_rank" },
  { "*.sequence_parallel_size", fab_job_effect,
    "Ulysses divides each sequence by all-to-alls between heads and tokens" },
  { "sequence_parallel_degree", fab_job_effect,
    "the tokens of each sequence are divided by ring attention: parallel.context says that" },
  { "context_parallel_size", fab_job_positive, "parallel.context" },
  { "tensor_parallel_size", fab_job_positive, "parallel.tensor" },
  { "tensor_model_parallel_size", fab_job_positive, "parallel.tensor" },
  { "pipeline_model_parallel_size", fab_job_positive, "parallel.pipeline" },
  { "expert_model_parallel_size", fab_job_positive, "parallel.expert" },
  { "expert_parallel_size", fab_job_positive, "parallel.expert" },
  { "dp_shard_size", fab_job_effect, "weights are sharded within groups of so many ranks" },
  { "dp_replicate_size", fab_job_effect, "there are so many copies of the sharded weights" },
  { "*.load_in_4bit", fab_job_effect, "frozen weights have 4 bits, and travel so under FSDP" },
  { "*.load_in_8bit", fab_job_effect, "frozen weights have 8 bits, and travel so under FSDP" },
  { "quantization_bit", fab_job_effect, "frozen weights have so many bits, and travel so under FSDP" },
  { "use_galore", fab_job_effect, "gradients are projected before the optimizer" },
  { "*.neftune_noise_alpha", fab_job_same, NULL },
  { "*.group_by_length", fab_job_effect, "steps have sequences of other lengths" },
  { "*.ddp_find_unused_parameters", fab_job_same, NULL },
  { "*.dataloader_num_workers", fab_job_same, NULL },
  { "*.local_rank", fab_job_same, NULL },
  { "nproc_per_node", fab_job_gpus_per_node, NULL },
  { "nnodes", fab_job_nodes, NULL },
  { "num_processes", fab_job_ranks, NULL },
  { "num_machines", fab_job_nodes, NULL },
  { "variable.gpus_per_node", fab_job_gpus_per_node, NULL },
  { "variable.nodes", fab_job_nodes, NULL },
  { "*.model_name_or_path", fab_job_model, NULL },
  { "base_model", fab_job_model, NULL },
};

/* "full_shard auto_wrap offload" */
static void
take_fsdp (FabJobReading *self)
{
  static const struct {
    const char *word, *key, *value;
  } words[] = {
    { "hybrid_shard_zero2", "sharding", "hybrid_grad_op" },
    { "hybrid_shard", "sharding", "hybrid" },
    { "full_shard", "sharding", "full" },
    { "shard_grad_op", "sharding", "grad_op" },
    { "offload", "cpu_offload", "true" },
  };
  const FabJobSetting *fsdp = fab_job_settings_find (self->settings, "*.fsdp");
  g_auto (GStrv) said = fsdp && fsdp->value ? g_strsplit_set (fsdp->value, " ,[]", -1) : NULL;

  self->job->kind = "fsdp";
  for (guint i = 0; said && said[i]; i++)
    for (guint k = 0; k < G_N_ELEMENTS (words); k++)
      if (strcmp (said[i], words[k].word) == 0)
        fab_imported_job_set (self->job, self->settings, fsdp, words[k].key, words[k].value);
  fab_job_take_fsdp (self);
}

/* A file that is named and not given: what its name says of the stage. */
static void
take_deepspeed_name (FabJobReading *self, const FabJobSetting *setting)
{
  g_autofree char *name = g_path_get_basename (setting->value);
  const char *z = strstr (name, "zero") ? strstr (name, "zero") + 4
                : strstr (name, "_z")   ? strstr (name, "_z") + 2
                                        : NULL;

  fab_imported_job_infer (
      self->job, "%s names %s; name that file behind this one, and its keys hold: `import job %s %s`",
      self->settings->file->name, setting->value, self->settings->file->name, setting->value);
  g_autofree char *stage = z != NULL ? g_strndup (z + strspn (z, "_-"), 1) : g_strdup ("");
  if (strpbrk (stage, "123") != NULL) {
    self->job->kind = "zero";
    fab_job_conclude (self, "stage", stage, "by the name of that file");
  }
}

/* Without DeepSpeed and FSDP the Trainer uses DistributedDataParallel. */
static void
choose_kind (FabJobReading *self)
{
  const FabJobSetting *deepspeed = fab_job_settings_find (self->settings, "*.deepspeed");
  const FabJobSetting *fsdp = fab_job_settings_find (self->settings, "*.fsdp");
  gboolean has_keys = fab_job_settings_find (self->settings, "*.fsdp_sharding_strategy")
                   || fab_job_settings_find (self->settings, "*.fsdp_version");

  if (self->job->kind != NULL && strcmp (self->job->kind, "ddp") != 0)
    return; /* another file said it */
  self->job->kind = "ddp";
  if (has_keys
      || (fsdp && fsdp->value && fsdp->value[0] && strcmp (fsdp->value, "[]") != 0
          && g_ascii_strcasecmp (fsdp->value, "false") != 0))
    take_fsdp (self);
  else if (deepspeed && deepspeed->value && deepspeed->value[0])
    take_deepspeed_name (self, deepspeed);
  else
    fab_job_take_rows (self, (const FabJobRow[]){ { "*.ddp_bucket_cap_mb", fab_job_mebibytes, "bucket" } },
                       1);
}

/* DeepSpeed's file may stand in the arguments, as a section of its own; its keys hold, as of a file that is named. */
static gboolean
take_deepspeed_section (FabJobReading *self)
{
  g_autoptr (FabJobSettings) section = fab_job_settings_section (self->settings, "deepspeed.");
  FabJobReading reading = *self;
  gboolean is_good;

  if (section->all->len == 0)
    return TRUE;
  reading.settings = section;
  is_good = fab_job_take_deepspeed (&reading);
  if (is_good)
    fab_job_list_unread (self->job, section);
  return is_good;
}

static gboolean
read_job (FabJobReading *self)
{
  choose_kind (self);
  fab_job_take_rows (self, rows, G_N_ELEMENTS (rows));
  if (self->is_good && !take_deepspeed_section (self))
    return FALSE;
  if (fab_imported_job_get (self->job, "precision") == NULL
      && g_strcmp0 (fab_job_value (self, "bf16"), "auto") == 0)
    fab_job_conclude (self, "precision", "bf16", "as Axolotl takes auto on GPUs that have it");
  if (fab_imported_job_get (self->job, "precision") == NULL)
    fab_job_conclude (self, "precision", "fp32", "as neither bf16, fp16 nor tf32 is set");
  if (fab_job_settings_find (self->settings, "finetuning_type") != NULL
      && !fab_job_is_on (self, "disable_gradient_checkpointing"))
    fab_job_conclude (self, "recompute", "full", "LLaMA-Factory's default");
  if (fab_imported_job_get (self->job, "micro_batch") == NULL)
    fab_job_conclude (self, "micro_batch", "8", "the Trainer's default");
  return self->is_good;
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "per_device_train_batch_size")
      || (fab_file_text_has (text, "base_model:") && fab_file_text_has (text, "sequence_len"));
}

const FabFileFormat fab_file_training_arguments = {
  .name = "training-arguments",
  .tool = "TrainingArguments of Hugging Face",
  .help = "TrainingArguments of Hugging Face: JSON, YAML or a script; LLaMA-Factory, Axolotl",
  .kind = FAB_FILE_JOB,
  .recognises = recognises,
  .read.job = read_job,
};
