/* SPDX-License-Identifier: Apache-2.0 */
/* megatron.c - arguments of Megatron-LM, in a shell script or on a line, and the YAML of Megatron-LM, NeMo and
 * Megatron-Bridge, which has the same names in other places (NVIDIA/Megatron-LM megatron/training/arguments.py;
 * NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/training/config.py).
 */
#include <string.h>

#include "formats/job/fsdp_keys.h"
#include "formats/job/megatron_layers.h"
#include "formats/job/rows.h"

static const FabJobRow batch_rows[] = {
  { "*.micro_batch_size", fab_job_count, "micro_batch" },
  { "*.global_batch_size", fab_job_count, "global_batch" },
  { "*.encoder_seq_length", fab_job_count, "sequence" },
  { "*.sequence_length", fab_job_count, "sequence" },
  { "*.seq_length", fab_job_count, "sequence" },
  { "*.clip_grad", fab_job_above_zero, "clip_gradients" },
  { "*.gradient_clip_val", fab_job_above_zero, "clip_gradients" },
  { "*.bf16", fab_job_when, "precision=bf16" },
  { "*.fp16", fab_job_when, "precision=fp16" },
  { "trainer.precision", fab_job_words,
    "precision:bf16=bf16|16=fp16|32=fp32|bf16-mixed=bf16|16-mixed=fp16|32-true=fp32|bf16-true=bf16" },
  { "*.mixed_precision", fab_job_words,
    "precision:bf16_mixed=bf16|bf16-mixed=bf16|fp16_mixed=fp16|16-mixed=fp16|bf16_with_fp8_delayed_scaling_mixed=fp8|"
    "bf16_with_fp8_current_scaling_mixed=fp8|bf16_with_fp8_subchannel_scaling_mixed=fp8|"
    "bf16_with_mxfp8_mixed=mxfp8|bf16_with_nvfp4_mixed=nvfp4|none=fp32" },
  { "*.fp8_format", fab_job_words, "precision:hybrid=fp8|e4m3=fp8|e5m2=fp8" },
  { "*.fp8", fab_job_words, "precision:=fp8|hybrid=fp8|e4m3=fp8|true=fp8|false=|none=|null=" },
  { "*.fp8_hybrid", fab_job_same, NULL },
  { "*.fp8_e4m3", fab_job_same, NULL },
};

/* A recipe is written even where nothing has 8 or 4 bits. */
static const FabJobRow recipe_rows[] = {
  { "*.fp8_recipe", fab_job_known_words,
    "precision:delayed=fp8|tensorwise=fp8|blockwise=fp8|mxfp8=mxfp8|custom=" },
  { "mixed_precision.fp8_recipe", fab_job_known_words,
    "precision:delayed=fp8|tensorwise=fp8|blockwise=fp8|mxfp8=mxfp8|custom=" },
};

static const FabJobRow four_bits_rows[] = {
  { "*.fp4_format", fab_job_words, "precision:e2m1=nvfp4" },
  { "*.fp4", fab_job_known_words, "precision:e2m1=nvfp4|nvfp4=nvfp4|true=nvfp4|false=|none=|null=" },
};

/* Backends of the dispatcher "flex", which older files leave to moe_enable_deepep; of another one they mean nothing. */
static void
take_flex (FabJobReading *self, const FabJobSetting *setting, const char *to)
{
  if (g_strcmp0 (fab_job_value (self, "*.moe_token_dispatcher_type"), "flex") == 0)
    fab_job_known_words (self, setting, to);
}

/* How context parallelism exchanges keys and values, where there is any. */
static void
take_context (FabJobReading *self, const FabJobSetting *setting, const char *to)
{
  if (fab_job_whole (self, "*.context_parallel_size", 1) < 2 || setting->value == NULL)
    return;
  if (strstr (setting->value, "a2a") != NULL)
    fab_imported_job_effect (
        self->job, self->settings, setting,
        "heads and tokens change places by all-to-alls; here keys and values go round a ring");
  else
    fab_job_known_words (self, setting, to);
}

static const FabJobRow parallel_rows[] = {
  { "*.tensor_model_parallel_size", fab_job_count, "parallel.tensor" },
  { "model_parallel_size", fab_job_count, "parallel.tensor" },
  { "*.pipeline_model_parallel_size", fab_job_count, "parallel.pipeline" },
  { "*.context_parallel_size", fab_job_count, "parallel.context" },
  { "*.expert_model_parallel_size", fab_job_count, "parallel.expert" },
  { "*.expert_tensor_parallel_size", fab_job_positive, "parallel.expert_tensor" },
  { "*.sequence_parallel", fab_job_flag, "parallel.sequence" },
  { "*.cp_comm_type", take_context, "parallel.context_kind:p2p=ring|all_gather=gather" },
  { "*.tp_comm_overlap", fab_job_flag, "parallel.overlap_tensor" },
  { "*.ub_tp_comm_overlap", fab_job_flag, "parallel.overlap_tensor" },
  { "*.overlap_p2p_communication", fab_job_flag, "parallel.overlap_p2p" },
  { "*.overlap_p2p_comm", fab_job_flag, "parallel.overlap_p2p" },
  { "*.no_overlap_p2p_communication", fab_job_no_flag, "parallel.overlap_p2p" },
  { "*.use_tp_pp_dp_mapping", fab_job_when, "parallel.order=tp-cp-ep-pp-dp" },
  { "*.microbatch_group_size_per_virtual_pipeline_stage", fab_job_count, "parallel.round" },
  { "*.moe_token_dispatcher_type", fab_job_known_words,
    "parallel.moe.dispatch:alltoall=nccl|alltoall_seq=nccl|allgather=allgather|flex=deepep" },
  { "*.moe_flex_dispatcher_backend", take_flex, "parallel.moe.dispatch:deepep=deepep|hybridep=hybridep" },
  { "*.moe_enable_deepep", take_flex, "parallel.moe.dispatch:true=deepep|false=" },
  { "*.moe_shared_expert_overlap", fab_job_when, "parallel.moe.overlap=shared" },
  { "*.overlap_moe_expert_parallel_comm", fab_job_when, "parallel.moe.overlap=batches" },
  { "*.moe_router_num_groups", fab_job_count, "parallel.moe.groups" },
  { "*.moe_router_group_topk", fab_job_count, "parallel.moe.groups_per_token" },
};

/* "moe_act mlp" of a script, "[moe_act, mlp]" of YAML, with selective recomputation; core_attn alone is what that means
 * without them. */
static void
take_modules (FabJobReading *self, const FabJobSetting *setting, const char *to G_GNUC_UNUSED)
{
  g_auto (GStrv) words = g_strsplit_set (setting->value ? setting->value : "", " ,[]", -1);
  g_autoptr (GString) list = g_string_new (NULL);

  for (guint i = 0; words[i] != NULL; i++)
    if (words[i][0] != '\0')
      g_string_append_printf (list, "%s%s", list->len ? "," : "", words[i]);
  if (list->len == 0 || strcmp (list->str, "core_attn") == 0
      || g_strcmp0 (fab_imported_job_get (self->job, "recompute"), "selective") != 0)
    return;
  fab_imported_job_set (self->job, self->settings, setting, "recompute", "modules");
  fab_imported_job_set (self->job, self->settings, setting, "recompute_modules", list->str);
}

static const FabJobRow optimizer_rows[] = {
  { "*.use_distributed_optimizer", fab_job_flag, "distributed_optimizer" },
  { "*.overlap_grad_reduce", fab_job_flag, "overlap_grad_reduce" },
  { "*.overlap_grad_sync", fab_job_flag, "overlap_grad_reduce" },
  { "*.overlap_param_gather", fab_job_flag, "overlap_param_gather" },
  { "*.overlap_param_sync", fab_job_flag, "overlap_param_gather" },
  { "ddp.overlap_param_gather", fab_job_flag, "overlap_param_gather" },
  { "*.ddp_bucket_size", fab_job_count, "bucket" },
  { "ddp.bucket_size", fab_job_positive, "bucket" },
  { "*.grad_sync_dtype", fab_job_known_words, "gradient:bf16=bf16|fp16=fp16|fp32=fp32" },
  { "*.grad_reduce_in_bf16", fab_job_when, "gradient=bf16" },
  { "*.accumulate_allreduce_grads_in_fp32", fab_job_when, "gradient=fp32" },
  { "*.grad_reduce_in_fp32", fab_job_words, "gradient:true=fp32|false=bf16" },
  { "*.activations_checkpoint_granularity", fab_job_words, "recompute:selective=selective|full=full|null=" },
  { "*.recompute_granularity", fab_job_words, "recompute:selective=selective|full=full" },
  { "*.recompute_activations", fab_job_when, "recompute=selective" },
  { "*.checkpoint_activations", fab_job_when, "recompute=full" },
  { "*.recompute_modules", take_modules, NULL },
  { "*.cpu_offloading", fab_job_when, "memory.offload=cpu" },
  { "*.cpu_offloading_num_layers", fab_job_positive, "memory.offload_layers" },
};

/* They belong to recompute: full, or to the modules of selective. */
static const FabJobRow full_rows[] = {
  { "*.activations_checkpoint_method", fab_job_words, "recompute_method:uniform=uniform|block=block" },
  { "*.recompute_method", fab_job_words, "recompute_method:uniform=uniform|block=block" },
  { "*.activations_checkpoint_num_layers", fab_job_count, "recompute_layers" },
  { "*.recompute_num_layers", fab_job_count, "recompute_layers" },
};

/* Megatron-FSDP's; other ways than no_shard matter where it is used. */
static void
take_strategy (FabJobReading *self, const FabJobSetting *setting, const char *to G_GNUC_UNUSED)
{
  if (setting->value != NULL && strcmp (setting->value, "no_shard") != 0
      && (fab_job_is_on (self, "*.use_megatron_fsdp") || fab_job_is_on (self, "*.use_custom_fsdp")))
    fab_imported_job_effect (self->job, self->settings, setting, "what Megatron-FSDP shards");
}

static const FabJobRow effect_rows[] = {
  { "*.num_distributed_optimizer_instances", fab_job_same, NULL },
  { "*.fp8_param_gather", fab_job_effect, "updated weights are gathered in 8 bits" },
  { "*.fp8_param", fab_job_effect, "updated weights are gathered in 8 bits" },
  { "*.use_torch_fsdp2", fab_job_effect, "weights are sharded by PyTorch's FSDP: job.kind fsdp says that" },
  { "*.use_megatron_fsdp", fab_job_effect, "weights are sharded by Megatron-FSDP: job.kind fsdp is nearest" },
  { "*.use_custom_fsdp", fab_job_effect, "weights are sharded by Megatron-FSDP: job.kind fsdp is nearest" },
  { "*.nccl_ub", fab_job_effect, "NCCL reads and writes registered buffers" },
  { "*.use_sharp", fab_job_effect,
    "switches sum gradients: `collectives` and the links of the scenario say that" },
  { "*.hierarchical_context_parallel_sizes", fab_job_effect, "context parallelism has two levels" },
  { "*.defer_embedding_wgrad_compute", fab_job_effect,
    "the weight gradient of the embedding waits for the end" },
  { "*.ddp_average_in_collective", fab_job_same, NULL },
  { "*.align_grad_reduce", fab_job_same, NULL },
  { "*.overlap_param_gather_with_optimizer_step", fab_job_effect,
    "the first gather runs beside the optimizer" },
  { "*.rampup_batch_size", fab_job_effect, "the first steps have smaller batches" },
  { "*.step_batch_size_schedule", fab_job_effect, "the batch grows during the training" },
  { "*.parallel_attention", fab_job_effect,
    "attention and MLP of a block are summed by one all-reduce among tensor-parallel ranks instead of two" },
  { "*.delay_wgrad_compute", fab_job_effect,
    "weight gradients wait, so that exchanges with experts run beside them" },
  { "*.distribute_saved_activations", fab_job_effect,
    "saved activations are divided among tensor-parallel ranks and gathered again" },
  { "*.distribute_checkpointed_activations", fab_job_effect,
    "saved activations are divided among tensor-parallel ranks and gathered again" },
  { "*.no_async_tensor_model_parallel_allreduce", fab_job_effect,
    "the all-reduce of tensor parallelism waits for the weight gradient" },
  { "*.moe_pad_expert_input_to_capacity", fab_job_effect, "all experts get as many tokens" },
  { "*.moe_expert_capacity_factor", fab_job_positive, "parallel.moe.capacity" },
  { "*.encoder_tensor_model_parallel_size", fab_job_effect, "the encoder is divided among other ranks" },
  { "optim.bucket_cap_mb", fab_job_effect, "buckets of so many MB: job.bucket says it in parameters" },
  { "*.grad_allreduce_chunk_size_mb", fab_job_effect,
    "gradients are reduced in chunks of so many MB where no optimizer shards them" },
  { "*.data_parallel_sharding_strategy", take_strategy, NULL },
  { "*.create_all_gather_group", fab_job_same, NULL },
  { "*.high_priority_stream_groups", fab_job_same, NULL },
  { "*.batch_p2p_comm", fab_job_same, NULL },
  { "*.average_in_collective", fab_job_same, NULL },
  { "*.align_param_gather", fab_job_same, NULL },
  { "*.group_query_attention", fab_job_same, NULL },
  { "sbatch.gres", fab_job_gpus_per_node, NULL },
  { "sbatch.gpus_per_node", fab_job_gpus_per_node, NULL },
  { "sbatch.nodes", fab_job_nodes, NULL },
  { "nproc_per_node", fab_job_gpus_per_node, NULL },
  { "nnodes", fab_job_nodes, NULL },
  { "variable.gpus_per_node", fab_job_gpus_per_node, NULL },
  { "variable.nodes", fab_job_nodes, NULL },
  { "trainer.devices", fab_job_gpus_per_node, NULL },
  { "trainer.num_nodes", fab_job_nodes, NULL },
};

static const FabJobRow shape_rows[] = {
  { "*.hidden_size", fab_job_count, "shape.hidden" },
  { "*.num_attention_heads", fab_job_count, "shape.heads" },
  { "*.num_query_groups", fab_job_positive, "shape.kv_heads" },
  { "*.kv_channels", fab_job_positive, "shape.head_dim" },
  { "*.ffn_hidden_size", fab_job_positive, "shape.feed_forward" },
  { "*.vocab_size", fab_job_positive, "shape.vocabulary" },
  { "model.vocab_size", fab_job_positive, "shape.vocabulary" },
  { "*.padded_vocab_size", fab_job_positive, "shape.vocabulary" },
  { "*.pad_vocab_size_to", fab_job_positive, "shape.vocabulary" },
  { "*.mtp_num_layers", fab_job_positive, "shape.mtp" },
  { "model.bias", fab_job_same, NULL },
  { "*.embed_layernorm", fab_job_flag, "shape.ends.embedding_norm" },
  { "*.qk_layernorm", fab_job_flag, "shape.qk_norm" },
  { "*.normalization", fab_job_words, "shape.norm:LayerNorm=layer|RMSNorm=rms|layernorm1p=layer" },
  { "*.num_experts", fab_job_positive, "shape.experts.count" },
  { "*.num_moe_experts", fab_job_positive, "shape.experts.count" },
};

static const FabJobRow expert_rows[] = {
  { "*.moe_router_topk", fab_job_count, "shape.experts.per_token" },
  { "*.moe_ffn_hidden_size", fab_job_count, "shape.experts.width" },
};

static const FabJobRow latent_rows[] = {
  { "*.q_lora_rank", fab_job_positive, "shape.latent.q_lora_rank" },
  { "*.kv_lora_rank", fab_job_positive, "shape.latent.kv_lora_rank" },
  { "*.qk_head_dim", fab_job_positive, "shape.latent.qk_nope_head_dim" },
  { "*.qk_pos_emb_head_dim", fab_job_positive, "shape.latent.qk_rope_head_dim" },
  { "*.v_head_dim", fab_job_positive, "shape.latent.v_head_dim" },
};

/* Megatron-LM pads the vocabulary to a multiple of 128 x the tensor-parallel ranks; GPT-2's has 50257 tokens. */
enum { GPT2_VOCABULARY = 50257, VOCABULARY_MULTIPLE = 128 };

static void
take_vocabulary (FabJobReading *self)
{
  gint64 multiple = VOCABULARY_MULTIPLE * MAX (fab_job_whole (self, "*.tensor_model_parallel_size", 1), 1);
  gint64 padded = (GPT2_VOCABULARY + multiple - 1) / multiple * multiple;
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, padded);

  if (fab_imported_job_get (self->job, "shape.vocabulary") == NULL)
    fab_job_conclude (self, "shape.vocabulary", text,
                      "GPT-2's 50257 tokens, padded as Megatron-LM does, since no vocab size is given");
}

/* NeMo's names of activations with a gate. */
static gboolean
is_fast_gate (FabJobReading *self)
{
  const char *activation = fab_job_value (self, "model.activation");

  return activation != NULL && strstr (activation, "glu") != NULL;
}

/* Linear layers have biases unless one of three arguments says otherwise: Megatron-LM's, Megatron-Bridge's, NeMo's. */
static gboolean
has_biases (FabJobReading *self)
{
  return !fab_job_is_on (self, "*.disable_bias_linear")
      && (fab_job_value (self, "*.add_bias_linear") == NULL || fab_job_is_on (self, "*.add_bias_linear"))
      && (fab_job_value (self, "model.bias") == NULL || fab_job_is_on (self, "model.bias"));
}

/* Positions are learned unless another way is named: rope, alibi, none. */
static gboolean
has_learned_positions (FabJobReading *self)
{
  const char *type = fab_job_value (self, "*.position_embedding_type");

  return (type == NULL || strstr (type, "learned") != NULL)
      && !fab_job_is_on (self, "*.use_rotary_position_embeddings");
}

/* A window of so many tokens before each, in all blocks but every n-th (GPT-OSS). */
static void
take_window (FabJobReading *self)
{
  const FabJobSetting *window = fab_job_settings_find (self->settings, "*.window_size");
  const FabJobSetting *skip = fab_job_settings_find (self->settings, "*.window_attn_skip_freq");
  const char *digits = window && window->value ? window->value + strcspn (window->value, "0123456789") : "";
  guint64 width = g_ascii_strtoull (digits, NULL, 10);

  if (width == 0 || width > 10000000)
    return;
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, width + 1);
  fab_job_conclude (self, "shape.window.width", text, "window_size and the token itself");
  if (fab_job_whole (self, "*.window_attn_skip_freq", 0) > 0)
    fab_job_positive (self, skip, "shape.window.full_every");
  else if (skip != NULL && skip->value != NULL)
    fab_imported_job_infer (self->job, "%s:%u: %s is %s: all blocks have the window here, and not only these",
                            self->settings->file->name, skip->line, skip->key, skip->value);
}

/* A number of shared experts, of the width of one expert. */
static void
take_shared_experts (FabJobReading *self)
{
  gint64 shared = fab_job_whole (self, "*.moe_shared_expert_intermediate_size", 0);
  gint64 width = fab_job_whole (self, "*.moe_ffn_hidden_size", fab_job_whole (self, "*.ffn_hidden_size", 0));

  if (shared <= 0 || width <= 0 || shared < width || shared / width > 10000)
    return;
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, shared / width);
  fab_job_conclude (self, "shape.experts.shared", text,
                    "moe_shared_expert_intermediate_size over the width of one expert");
}

/* "([0]*3+[1]*58)", "[0, 0, 0, 1, ...]": blocks without experts stand first; "2": every second block has them. */
static void
take_dense_layers (FabJobReading *self)
{
  const FabJobSetting *setting = fab_job_settings_find (self->settings, "*.moe_layer_freq");
  const char *c = setting && setting->value ? setting->value + strspn (setting->value, "( ") : "";
  gint64 n = 0, every = fab_job_whole (self, "*.moe_layer_freq", 0);

  if (g_str_has_prefix (c, "[0]*"))
    n = g_ascii_strtoll (c + 4, NULL, 10);
  else if (*c == '[')
    for (c++; *c == '0' || *c == ',' || *c == ' '; c++)
      n += *c == '0';
  g_autofree char *first = g_strdup_printf ("%" G_GINT64_FORMAT, n);
  g_autofree char *period = g_strdup_printf ("%" G_GINT64_FORMAT, every);
  if (n > 0 && n < 100000)
    fab_imported_job_set (self->job, self->settings, setting, "shape.experts.dense_layers", first);
  else if (every > 1 && every < 100000)
    fab_imported_job_set (self->job, self->settings, setting, "shape.experts.every", period);
}

static void
take_experts (FabJobReading *self)
{
  fab_job_take_rows (self, expert_rows, G_N_ELEMENTS (expert_rows));
  take_shared_experts (self);
  take_dense_layers (self);
}

/* The model as the arguments describe it. */
static void
take_shape (FabJobReading *self)
{
  gboolean is_gated = fab_job_is_on (self, "*.swiglu") || fab_job_is_on (self, "*.gated_linear_unit")
                   || fab_job_value (self, "*.glu_activation") != NULL || is_fast_gate (self);
  gboolean has_positions = has_learned_positions (self);
  gint64 positions = fab_job_whole (self, "*.max_position_embeddings", 0);
  const FabJobSetting *layers = fab_job_settings_find (self->settings, "*.num_layers");

  if (layers == NULL || fab_job_value (self, "*.hidden_size") == NULL)
    return;
  fab_job_count (self, layers, "shape.layers");
  fab_job_take_rows (self, shape_rows, G_N_ELEMENTS (shape_rows));
  if (fab_job_whole (self, "*.num_experts", fab_job_whole (self, "*.num_moe_experts", 0)) > 0)
    take_experts (self);
  if (fab_job_is_on (self, "*.multi_latent_attention"))
    fab_job_take_rows (self, latent_rows, G_N_ELEMENTS (latent_rows));
  fab_job_conclude (self, "shape.gated", is_gated ? "true" : "false",
                    is_gated ? "by swiglu" : "as there is no swiglu");
  fab_job_conclude (self, "shape.biases", has_biases (self) ? "true" : "false",
                    "by disable-bias-linear or its absence");
  fab_job_conclude (
      self, "shape.tied",
      fab_job_is_on (self, "*.untie_embeddings_and_output_weights")
              || g_strcmp0 (fab_job_value (self, "*.share_embeddings_and_output_weights"), "false") == 0
          ? "false"
          : "true",
      "by untie-embeddings-and-output-weights or its absence");
  if (has_positions && positions > 0 && positions <= 10000000) {
    g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, positions);
    fab_job_conclude (self, "shape.positions", text, "learned, by max-position-embeddings");
  }
  if (g_strcmp0 (fab_job_value (self, "*.softmax_type"), "learnable") == 0)
    fab_job_conclude (self, "shape.sinks", "true", "by softmax_type");
  take_window (self);
  take_vocabulary (self);
}

/* Scripts of Megatron-Bridge name a recipe, which names the model: --recipe llama3_8b_pretrain_config. */
static const FabJobRow recipe_name_rows[] = {
  { "recipe", fab_job_model, NULL },
};

static void
take_software (FabJobReading *self)
{
  gboolean is_nemo = fab_job_settings_find (self->settings, "trainer.devices") != NULL
                  || fab_job_value (self, "model.optim.name") != NULL
                  || fab_job_value (self, "model._target_") != NULL;
  const char *optimizer = fab_job_value (self, "model.optim.name");

  if (is_nemo)
    fab_job_conclude (self, "compute.stack", "nemo", "the software that wrote the file");
  if (optimizer && strstr (optimizer, "distributed") != NULL)
    fab_job_conclude (self, "distributed_optimizer", "true", "by model.optim.name");
}

/* Whether a key with this last part has a value that switches something on, in any section. */
static gboolean
is_given (FabJobReading *self, const char *key)
{
  const FabJobSetting *setting = fab_job_settings_find (self->settings, key);

  return setting != NULL && setting->value != NULL && (setting->is_argument || setting->value[0] != '\0')
      && g_ascii_strcasecmp (setting->value, "false") != 0 && g_ascii_strcasecmp (setting->value, "null") != 0
      && g_ascii_strcasecmp (setting->value, "none") != 0;
}

static void
take_precision (FabJobReading *self)
{
  if (is_given (self, "*.fp8") || is_given (self, "*.fp8_format"))
    fab_job_take_rows (self, recipe_rows, G_N_ELEMENTS (recipe_rows));
  fab_job_take_rows (self, four_bits_rows, G_N_ELEMENTS (four_bits_rows));
  if (fab_imported_job_get (self->job, "precision") == NULL)
    fab_job_conclude (self, "precision", "fp32", "as neither bf16 nor fp16 is given");
}

/* Megatron-DeepSpeed: its BF16 optimizer shards states at stage 0 too. */
static void
take_zero (FabJobReading *self)
{
  const FabJobSetting *stage = fab_job_settings_find (self->settings, "zero_stage");
  gint64 n = fab_job_whole (self, "zero_stage", 0);

  if (n >= 1)
    fab_imported_job_set (self->job, self->settings, stage, "distributed_optimizer", "true");
  else if (fab_job_is_on (self, "deepspeed") && fab_job_is_on (self, "bf16"))
    fab_job_conclude (self, "distributed_optimizer", "true",
                      "as DeepSpeed's BF16 optimizer shards its states at stage 0 too");
  if (n >= 2)
    fab_imported_job_effect (self->job, self->settings, stage,
                             "gradients or weights are sharded too: job.kind zero says that");
}

static const FabJobRow sharding_rows[] = {
  { "model.fsdp_sharding_strategy", fab_job_words,
    "sharding:full=full|grad=grad_op|hybrid=hybrid|full_shard=full|hybrid_shard=hybrid" },
};

/* Primus starts Megatron-LM by a YAML of its own: its files of defaults say bf16 and a distributed optimizer
 * (AMD-AGI/Primus primus/configs/modules/megatron/trainer_base.yaml, pre_trainer.yaml). */
static const FabJobRow primus_rows[] = {
  { "modules.pre_trainer.model", fab_job_model, NULL },
  { "modules.pre_trainer.config", fab_job_same, NULL },
  { "modules.pre_trainer.framework", fab_job_same, NULL },
};

static void
take_primus (FabJobReading *self)
{
  if (fab_job_settings_find (self->settings, "modules.pre_trainer.framework") == NULL)
    return;
  fab_job_take_rows (self, primus_rows, G_N_ELEMENTS (primus_rows));
  if (fab_imported_job_get (self->job, "precision") == NULL)
    fab_job_conclude (self, "precision", "bf16", "Primus's default");
  if (fab_imported_job_get (self->job, "distributed_optimizer") == NULL)
    fab_job_conclude (self, "distributed_optimizer", "true", "Primus's default");
}

/* NeMo trains by PyTorch's FSDP where `fsdp` is true; such a job has none of Megatron-LM's optimizer. */
static void
take_sharding (FabJobReading *self)
{
  static const char *const keys[] = { "distributed_optimizer", "overlap_grad_reduce", "overlap_param_gather",
                                      "bucket" };

  fab_job_settings_find (self->settings, "model.fsdp_sharding_strategy");
  if (!fab_job_is_on (self, "model.fsdp"))
    return;
  self->job->kind = "fsdp";
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    fab_imported_job_set (self->job, self->settings, NULL, keys[i], NULL);
  fab_job_take_rows (self, sharding_rows, G_N_ELEMENTS (sharding_rows));
}

static gboolean
read_job (FabJobReading *self)
{
  self->job->kind = "megatron";
  fab_job_take_rows (self, batch_rows, G_N_ELEMENTS (batch_rows));
  fab_job_take_rows (self, parallel_rows, G_N_ELEMENTS (parallel_rows));
  fab_job_take_rows (self, optimizer_rows, G_N_ELEMENTS (optimizer_rows));
  take_primus (self);
  take_precision (self);
  if (g_strcmp0 (fab_imported_job_get (self->job, "recompute"), "full") == 0)
    fab_job_take_rows (self, full_rows, G_N_ELEMENTS (full_rows));
  fab_job_take_rows (self, effect_rows, G_N_ELEMENTS (effect_rows));
  if (fab_job_whole (self, "*.num_distributed_optimizer_instances", 1) > 1)
    fab_imported_job_effect (self->job, self->settings,
                             fab_job_settings_find (self->settings, "*.num_distributed_optimizer_instances"),
                             "optimizer states are sharded within groups of ranks, and copied between them");
  take_zero (self);
  fab_job_take_stages (self, fab_job_whole (self, "*.pipeline_model_parallel_size", 1));
  take_shape (self);
  take_software (self);
  fab_job_take_rows (self, recipe_name_rows, G_N_ELEMENTS (recipe_name_rows));
  take_sharding (self);
  return self->is_good;
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "tensor-model-parallel-size")
      || fab_file_text_has (text, "tensor_model_parallel_size")
      || fab_file_text_has (text, "framework: megatron")
      || (fab_file_text_has (text, "--num-layers") && fab_file_text_has (text, "--hidden-size"));
}

const FabFileFormat fab_file_megatron = {
  .name = "megatron",
  .tool = "arguments of Megatron-LM",
  .help = "arguments of Megatron-LM, or YAML of NeMo and Megatron-Bridge",
  .kind = FAB_FILE_JOB,
  .recognises = recognises,
  .read.job = read_job,
};
