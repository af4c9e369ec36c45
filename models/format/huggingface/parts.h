/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - shared by the readers of the config.json families. */
#pragma once

#include "sim/scenario/model_file.h"

typedef struct {
  const FabYamlNode *config;
  FabModelFile *out;
  const char *type; /* model_type, for messages */
} FabConfig;

typedef struct {
  const char *type;
  void (*read) (const FabConfig *config);
} FabFamily;

/* The families; each array ends with a row without type. */
extern const FabFamily fab_huggingface_llamas[];
extern const FabFamily fab_huggingface_experts[];
extern const FabFamily fab_huggingface_others[];

/* Returns the value of a key; NULL when it is absent or null. */
const FabYamlNode *fab_config_get (const FabConfig *self, const char *key);
/* Returns a whole number from 0 to 1e8; `fallback` when it is absent. Any other value is a diagnostic, and returns
 * `fallback`. */
gint64 fab_config_whole (const FabConfig *self, const char *key, gint64 fallback);
gboolean fab_config_flag (const FabConfig *self, const char *key, gboolean fallback);
/* Returns NULL when the key is absent or not a text. */
const char *fab_config_text (const FabConfig *self, const char *key);

/* Copy a number to the key `to` of the shape. fab_config_require reports an absent key; fab_config_pass returns FALSE
 * for it. */
void fab_config_require (const FabConfig *self, const char *key, const char *to);
gboolean fab_config_pass (const FabConfig *self, const char *key, const char *to);
/* Set a key of the shape to a value that the family fixes. */
void fab_config_set (const FabConfig *self, const char *to, const char *text);
void fab_config_set_flag (const FabConfig *self, const char *to, gboolean value);
/* Reads tie_word_embeddings. */
void fab_config_tie (const FabConfig *self, gboolean fallback);
/* Reads the keys of Llama: widths, heads, vocabulary; RMSNorm, a gated MLP, no biases. */
void fab_config_read_llama (const FabConfig *self);
