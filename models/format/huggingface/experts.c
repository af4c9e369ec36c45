/* SPDX-License-Identifier: Apache-2.0 */
/* experts.c - decoders with experts: Mixtral, and Qwen's and DeepSeek's, the last with latent attention.
 *
 * The shared expert of qwen2_moe has a width of its own, a multiple of the other experts' width; it is written as that
 * many shared experts with a gate. The router of deepseek_v3 has a bias for each expert (topk_method noaux_tc).
 */
#include "models/format/huggingface/parts.h"

static void
read_mixtral (const FabConfig *self)
{
  fab_config_read_llama (self);
  fab_config_require (self, "num_local_experts", "experts.count");
  fab_config_require (self, "num_experts_per_tok", "experts.per_token");
}

static void
read_qwen_experts (const FabConfig *self)
{
  const FabYamlNode *dense = fab_config_get (self, "mlp_only_layers");

  fab_config_read_llama (self);
  fab_config_require (self, "num_experts", "experts.count");
  fab_config_require (self, "num_experts_per_tok", "experts.per_token");
  fab_config_require (self, "moe_intermediate_size", "experts.width");
  fab_config_pass (self, "decoder_sparse_step", "experts.every");
  if (dense != NULL && dense->n > 0)
    fab_model_file_fail (self->out, dense,
                         "'mlp_only_layers' names single layers, which a transformer shape cannot say");
}

static void
read_qwen2_moe (const FabConfig *self)
{
  const FabYamlNode *node = fab_config_get (self, "shared_expert_intermediate_size");
  gint64 shared = fab_config_whole (self, "shared_expert_intermediate_size", 0);
  gint64 width = fab_config_whole (self, "moe_intermediate_size", 0);

  read_qwen_experts (self);
  fab_config_set (self, "qkv_biases", "yes");
  if (shared == 0 || width == 0)
    return;
  if (shared % width != 0) {
    fab_model_file_fail (self->out, node, "the shared expert must be a multiple of moe_intermediate_size");
    return;
  }
  fab_model_file_set_count (self->out, "experts.shared", shared / width, node);
  fab_config_set (self, "experts.shared_gate", "true");
}

static void
read_qwen3_moe (const FabConfig *self)
{
  const char *biases = fab_config_flag (self, "attention_bias", FALSE) ? "yes" : "no";

  read_qwen_experts (self);
  fab_config_set (self, "qkv_biases", biases);
  fab_config_set (self, "projection_biases", biases);
  fab_config_set (self, "qk_norm", "true");
}

static void
read_deepseek_experts (const FabConfig *self)
{
  fab_config_pass (self, "n_routed_experts", "experts.count");
  fab_config_require (self, "num_experts_per_tok", "experts.per_token");
  fab_config_require (self, "moe_intermediate_size", "experts.width");
  fab_config_pass (self, "n_shared_experts", "experts.shared");
  fab_config_pass (self, "first_k_dense_replace", "experts.dense_layers");
  if (fab_config_whole (self, "moe_layer_freq", 1) != 1)
    fab_model_file_fail (self->out, fab_config_get (self, "moe_layer_freq"),
                         "'moe_layer_freq' other than 1 is not known from any released model");
}

static void
read_deepseek (const FabConfig *self)
{
  fab_config_read_llama (self);
  fab_config_pass (self, "q_lora_rank", "latent.q_lora_rank");
  fab_config_require (self, "kv_lora_rank", "latent.kv_lora_rank");
  fab_config_require (self, "qk_nope_head_dim", "latent.qk_nope_head_dim");
  fab_config_require (self, "qk_rope_head_dim", "latent.qk_rope_head_dim");
  fab_config_require (self, "v_head_dim", "latent.v_head_dim");
  if (fab_config_get (self, "n_routed_experts") != NULL)
    read_deepseek_experts (self);
}

static void
read_deepseek_v3 (const FabConfig *self)
{
  read_deepseek (self);
  if (fab_config_get (self, "n_routed_experts") != NULL)
    fab_config_set (self, "experts.router_biases", "true");
}

const FabFamily fab_huggingface_experts[] = {
  { "mixtral", read_mixtral },
  { "qwen2_moe", read_qwen2_moe },
  { "qwen3_moe", read_qwen3_moe },
  { "deepseek_v2", read_deepseek },
  { "deepseek_v3", read_deepseek_v3 },
  { "kimi_k2", read_deepseek_v3 },
  { NULL, NULL },
};
