/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - what the families of config.json share. */
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

/* Ended by a row without type. */
extern const FabFamily fab_huggingface_llamas[];
extern const FabFamily fab_huggingface_experts[];
extern const FabFamily fab_huggingface_others[];

/* The value of a key; NULL when it is absent or null. */
const FabYamlNode *fab_config_get (const FabConfig *self, const char *key);
/* A whole number from 0 to 1e8; `fallback` when absent. What is none is a diagnostic, and `fallback`. */
gint64 fab_config_whole (const FabConfig *self, const char *key, gint64 fallback);
gboolean fab_config_flag (const FabConfig *self, const char *key, gboolean fallback);
/* NULL when absent or no text. */
const char *fab_config_text (const FabConfig *self, const char *key);

/* Hand a number on as the shape's `to`; it is a mistake that `key` is absent, or it is not. */
void fab_config_require (const FabConfig *self, const char *key, const char *to);
gboolean fab_config_pass (const FabConfig *self, const char *key, const char *to);
/* Set a key of the shape to what the family has. */
void fab_config_set (const FabConfig *self, const char *to, const char *text);
void fab_config_set_flag (const FabConfig *self, const char *to, gboolean value);
/* tie_word_embeddings */
void fab_config_tie (const FabConfig *self, gboolean fallback);
/* Llama's own keys: widths, heads, vocabulary; RMSNorm, a gate, no biases. */
void fab_config_read_llama (const FabConfig *self);
