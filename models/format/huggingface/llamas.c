/* SPDX-License-Identifier: Apache-2.0 */
/* llamas.c - dense decoders with the structure of Llama: RMSNorm, a gated MLP, rotary positions, few biases or none.
 *
 * mistral equals llama. qwen2 has biases of queries, keys and values; qwen3 has norms of queries and keys. gemma has
 * tied embeddings and heads of 256, gemma2 four norms per block, gemma3 both. internlm has biases in the attention.
 * phi3 has fused matrices of the same size.
 */
#include "models/format/huggingface/parts.h"

void
fab_config_read_llama (const FabConfig *self)
{
  fab_config_require (self, "num_hidden_layers", "layers");
  fab_config_require (self, "hidden_size", "hidden");
  fab_config_require (self, "num_attention_heads", "heads");
  fab_config_pass (self, "num_key_value_heads", "kv_heads");
  fab_config_pass (self, "head_dim", "head_dim");
  fab_config_require (self, "intermediate_size", "feed_forward");
  fab_config_require (self, "vocab_size", "vocabulary");
  fab_config_set (self, "gated", "true");
  fab_config_set (self, "biases", "false");
  fab_config_set (self, "norm", "rms");
  fab_config_tie (self, FALSE);
}

static void
set_attention_biases (const FabConfig *self, gboolean fallback, const char *key)
{
  const char *choice = fab_config_flag (self, key, fallback) ? "yes" : "no";

  fab_config_set (self, "qkv_biases", choice);
  fab_config_set (self, "projection_biases", choice);
}

static void
read_llama (const FabConfig *self)
{
  fab_config_read_llama (self);
  set_attention_biases (self, FALSE, "attention_bias");
  if (fab_config_flag (self, "mlp_bias", FALSE))
    fab_config_set (self, "biases", "true");
}

static void
read_internlm (const FabConfig *self)
{
  fab_config_read_llama (self);
  set_attention_biases (self, g_str_equal (self->type, "internlm"), "bias");
}

static void
read_qwen2 (const FabConfig *self)
{
  fab_config_read_llama (self);
  fab_config_set (self, "qkv_biases", "yes");
}

static void
read_qwen3 (const FabConfig *self)
{
  read_llama (self);
  if (fab_config_get (self, "head_dim") == NULL)
    fab_config_set (self, "head_dim", "128");
  fab_config_set (self, "qk_norm", "true");
}

static void
read_gemma (const FabConfig *self)
{
  read_llama (self);
  fab_config_tie (self, TRUE);
  if (fab_config_get (self, "head_dim") == NULL)
    fab_config_set (self, "head_dim", "256");
}

static void
read_gemma2 (const FabConfig *self)
{
  read_gemma (self);
  fab_config_set (self, "norms", "4");
}

static void
read_gemma3 (const FabConfig *self)
{
  read_gemma2 (self);
  fab_config_set (self, "qk_norm", "true");
}

const FabFamily fab_huggingface_llamas[] = {
  { "llama", read_llama },
  { "mistral", read_llama },
  { "qwen2", read_qwen2 },
  { "qwen3", read_qwen3 },
  { "gemma", read_gemma },
  { "gemma2", read_gemma2 },
  { "gemma3_text", read_gemma3 },
  { "internlm", read_internlm },
  { "internlm2", read_internlm },
  { "phi3", read_llama },
  { NULL, NULL },
};
