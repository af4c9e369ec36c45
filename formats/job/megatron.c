/* SPDX-License-Identifier: Apache-2.0 */
/* megatron.c - arguments of Megatron-LM, in a shell script or on a line, and the YAML of Megatron-LM, NeMo and
 * Megatron-Bridge, which has the same names in other places (NVIDIA/Megatron-LM megatron/training/arguments.py;
 * NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/training/config.py).
 */
#include <string.h>

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
  { "*.fp8_recipe", fab_job_words, "precision:delayed=fp8|tensorwise=fp8|blockwise=fp8|mxfp8=mxfp8|custom=" },
  { "*.fp4_format", fab_job_words, "precision:e2m1=nvfp4" },
};

static const FabJobRow parallel_rows[] = {
  { "*.tensor_model_parallel_size", fab_job_count, "parallel.tensor" },
  { "model_parallel_size", fab_job_count, "parallel.tensor" },
  { "*.pipeline_model_parallel_size", fab_job_count, "parallel.pipeline" },
  { "*.context_parallel_size", fab_job_count, "parallel.context" },
  { "*.expert_model_parallel_size", fab_job_count, "parallel.expert" },
  { "*.expert_tensor_parallel_size", fab_job_positive, "parallel.expert_tensor" },
  { "*.sequence_parallel", fab_job_flag, "parallel.sequence" },
  { "*.cp_comm_type", fab_job_words, "parallel.context_kind:p2p=ring|all_gather=gather|a2a=|a2a+p2p=" },
  { "*.tp_comm_overlap", fab_job_flag, "parallel.overlap_tensor" },
  { "*.ub_tp_comm_overlap", fab_job_flag, "parallel.overlap_tensor" },
  { "*.overlap_p2p_communication", fab_job_flag, "parallel.overlap_p2p" },
  { "*.overlap_p2p_comm", fab_job_flag, "parallel.overlap_p2p" },
  { "*.no_overlap_p2p_communication", fab_job_no_flag, "parallel.overlap_p2p" },
  { "*.use_tp_pp_dp_mapping", fab_job_when, "parallel.order=tp-cp-ep-pp-dp" },
  { "*.microbatch_group_size_per_virtual_pipeline_stage", fab_job_count, "parallel.round" },
  { "*.moe_token_dispatcher_type", fab_job_words,
    "parallel.moe.dispatch:alltoall=nccl|alltoall_seq=nccl|allgather=allgather|flex=deepep" },
  { "*.moe_flex_dispatcher_backend", fab_job_words, "parallel.moe.dispatch:deepep=deepep|hybridep=hybridep" },
  { "*.moe_enable_deepep", fab_job_when, "parallel.moe.dispatch=deepep" },
  { "*.moe_shared_expert_overlap", fab_job_when, "parallel.moe.overlap=shared" },
  { "*.overlap_moe_expert_parallel_comm", fab_job_when, "parallel.moe.overlap=batches" },
  { "*.moe_router_num_groups", fab_job_count, "parallel.moe.groups" },
  { "*.moe_router_group_topk", fab_job_count, "parallel.moe.groups_per_token" },
};

static const FabJobRow optimizer_rows[] = {
  { "*.use_distributed_optimizer", fab_job_flag, "distributed_optimizer" },
  { "*.overlap_grad_reduce", fab_job_flag, "overlap_grad_reduce" },
  { "*.overlap_grad_sync", fab_job_flag, "overlap_grad_reduce" },
  { "*.overlap_param_gather", fab_job_flag, "overlap_param_gather" },
  { "*.overlap_param_sync", fab_job_flag, "overlap_param_gather" },
  { "*.ddp_bucket_size", fab_job_count, "bucket" },
  { "*.grad_reduce_in_bf16", fab_job_when, "gradient=bf16" },
  { "*.accumulate_allreduce_grads_in_fp32", fab_job_when, "gradient=fp32" },
  { "*.grad_reduce_in_fp32", fab_job_words, "gradient:true=fp32|false=bf16" },
  { "*.activations_checkpoint_granularity", fab_job_words, "recompute:selective=selective|full=full|null=" },
  { "*.recompute_granularity", fab_job_words, "recompute:selective=selective|full=full" },
  { "*.recompute_activations", fab_job_when, "recompute=selective" },
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
  { "*.account_for_embedding_in_pipeline_split", fab_job_effect,
    "the embedding counts as a layer of its stage" },
  { "*.account_for_loss_in_pipeline_split", fab_job_effect, "the loss counts as a layer of its stage" },
  { "*.decoder_first_pipeline_num_layers", fab_job_effect,
    "the first stage has other layers: parallel.layers says that" },
  { "*.decoder_last_pipeline_num_layers", fab_job_effect,
    "the last stage has other layers: parallel.layers says that" },
  { "*.pipeline_model_parallel_layout", fab_job_effect,
    "stages have their own layers: parallel.layers says that" },
  { "*.rampup_batch_size", fab_job_effect, "the first steps have smaller batches" },
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
  { "*.padded_vocab_size", fab_job_positive, "shape.vocabulary" },
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

/* The model as the arguments describe it. */
static void
take_shape (FabJobReading *self)
{
  gboolean is_gated = fab_job_is_on (self, "*.swiglu") || fab_job_is_on (self, "*.gated_linear_unit");
  gboolean has_positions = g_strcmp0 (fab_job_value (self, "*.position_embedding_type"), "rope") != 0
                        && !fab_job_is_on (self, "*.use_rotary_position_embeddings");
  gint64 positions = fab_job_whole (self, "*.max_position_embeddings", 0);
  const FabJobSetting *layers = fab_job_settings_find (self->settings, "*.num_layers");

  if (layers == NULL || fab_job_value (self, "*.hidden_size") == NULL)
    return;
  fab_job_count (self, layers, "shape.layers");
  fab_job_take_rows (self, shape_rows, G_N_ELEMENTS (shape_rows));
  if (fab_job_whole (self, "*.num_experts", fab_job_whole (self, "*.num_moe_experts", 0)) > 0)
    fab_job_take_rows (self, expert_rows, G_N_ELEMENTS (expert_rows));
  if (fab_job_is_on (self, "*.multi_latent_attention"))
    fab_job_take_rows (self, latent_rows, G_N_ELEMENTS (latent_rows));
  fab_job_conclude (self, "shape.gated", is_gated ? "true" : "false",
                    is_gated ? "by swiglu" : "as there is no swiglu");
  fab_job_conclude (self, "shape.biases",
                    fab_job_is_on (self, "*.disable_bias_linear")
                            || !fab_job_is_on (self, "*.add_bias_linear")
                        ? (fab_job_value (self, "*.add_bias_linear")
                                   || fab_job_settings_find (self->settings, "*.disable_bias_linear")
                               ? "false"
                               : "true")
                        : "true",
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
  take_vocabulary (self);
}

/* Parts of the model per stage, which come in three ways. */
static void
take_virtual (FabJobReading *self)
{
  gint64 stages = fab_job_whole (self, "*.pipeline_model_parallel_size", 1);
  gint64 layers = fab_job_whole (self, "*.num_layers", 0);
  gint64 per_part = fab_job_whole (self, "*.num_layers_per_virtual_pipeline_stage", 0);
  gint64 parts = fab_job_whole (self, "*.num_virtual_stages_per_pipeline_rank",
                                fab_job_whole (self, "*.virtual_pipeline_model_parallel_size", 0));

  if (parts == 0 && per_part > 0 && layers > 0 && stages > 0)
    parts = layers / (stages * per_part);
  if (stages < 2 || parts < 2)
    return;
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, parts);
  fab_job_conclude (self, "parallel.virtual", text, "parts of each stage, by the virtual pipeline stages");
  fab_job_conclude (self, "parallel.schedule", "interleaved", "as stages have several parts");
}

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

static gboolean
read_job (FabJobReading *self)
{
  self->job->kind = "megatron";
  fab_job_take_rows (self, batch_rows, G_N_ELEMENTS (batch_rows));
  fab_job_take_rows (self, parallel_rows, G_N_ELEMENTS (parallel_rows));
  fab_job_take_rows (self, optimizer_rows, G_N_ELEMENTS (optimizer_rows));
  if (g_strcmp0 (fab_imported_job_get (self->job, "recompute"), "full") == 0)
    fab_job_take_rows (self, full_rows, G_N_ELEMENTS (full_rows));
  fab_job_take_rows (self, effect_rows, G_N_ELEMENTS (effect_rows));
  if (fab_job_whole (self, "*.num_distributed_optimizer_instances", 1) > 1)
    fab_imported_job_effect (self->job, self->settings,
                             fab_job_settings_find (self->settings, "*.num_distributed_optimizer_instances"),
                             "optimizer states are sharded within groups of ranks, and copied between them");
  if (fab_imported_job_get (self->job, "precision") == NULL)
    fab_job_conclude (self, "precision", "fp32", "as neither bf16 nor fp16 is given");
  take_virtual (self);
  take_shape (self);
  take_software (self);
  return self->is_good;
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "tensor-model-parallel-size")
      || fab_file_text_has (text, "tensor_model_parallel_size")
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
