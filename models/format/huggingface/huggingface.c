/* SPDX-License-Identifier: Apache-2.0 */
/* huggingface.c - config.json of Hugging Face transformers as a transformer shape.
 *
 * `model_type` names the family; each knows which keys its configuration class has (transformers
 * src/transformers/models/<type>/configuration_<type>.py), which may be absent with what
 * default, and what the architecture fixes: norms, biases, gates. What does not change parameters or FLOPs (rope, the
 * activation, token ids, quantisation) is not read.
 */
#include "models/format/huggingface/parts.h"
#include "models/models.h"

#define MAX_WHOLE 100000000

static const FabFamily *const families[] = { fab_huggingface_llamas, fab_huggingface_experts,
                                             fab_huggingface_others };

const FabYamlNode *
fab_config_get (const FabConfig *self, const char *key)
{
  const FabYamlNode *node = fab_yaml_get (self->config, key);

  return node == NULL || (node->kind == FAB_YAML_SCALAR && node->text == NULL) ? NULL : node;
}

gint64
fab_config_whole (const FabConfig *self, const char *key, gint64 fallback)
{
  const FabYamlNode *node = fab_config_get (self, key);
  guint64 value;

  if (node == NULL)
    return fallback;
  if (node->kind == FAB_YAML_SCALAR && !node->is_quoted
      && g_ascii_string_to_unsigned (node->text, 10, 0, MAX_WHOLE, &value, NULL))
    return (gint64) value;
  fab_model_file_fail (self->out, node, "'%s' must be a whole number from 0 to %d", key, MAX_WHOLE);
  return fallback;
}

gboolean
fab_config_flag (const FabConfig *self, const char *key, gboolean fallback)
{
  const FabYamlNode *node = fab_config_get (self, key);

  if (node == NULL)
    return fallback;
  if (node->kind == FAB_YAML_SCALAR && g_str_equal (node->text, "true"))
    return TRUE;
  if (node->kind != FAB_YAML_SCALAR || !g_str_equal (node->text, "false"))
    fab_model_file_fail (self->out, node, "'%s' must be true or false", key);
  return FALSE;
}

const char *
fab_config_text (const FabConfig *self, const char *key)
{
  const FabYamlNode *node = fab_config_get (self, key);

  return node != NULL && node->kind == FAB_YAML_SCALAR ? node->text : NULL;
}

gboolean
fab_config_pass (const FabConfig *self, const char *key, const char *to)
{
  const FabYamlNode *node = fab_config_get (self, key);

  if (node != NULL)
    fab_model_file_set_count (self->out, to, fab_config_whole (self, key, 0), node);
  return node != NULL;
}

void
fab_config_require (const FabConfig *self, const char *key, const char *to)
{
  if (!fab_config_pass (self, key, to))
    fab_model_file_fail (self->out, self->config, "'%s' is missing; a config.json of '%s' has it", key,
                         self->type);
}

void
fab_config_set (const FabConfig *self, const char *to, const char *text)
{
  fab_model_file_set (self->out, to, text, self->config);
}

void
fab_config_set_flag (const FabConfig *self, const char *to, gboolean value)
{
  fab_config_set (self, to, value ? "true" : "false");
}

void
fab_config_tie (const FabConfig *self, gboolean fallback)
{
  fab_config_set_flag (self, "tied", fab_config_flag (self, "tie_word_embeddings", fallback));
}

/* Notes properties that change cost or size but that a transformer shape cannot express. */
static void
note_rest (const FabConfig *self)
{
  const FabYamlNode *window = fab_config_get (self, "sliding_window");

  if (window != NULL && window->kind == FAB_YAML_SCALAR && fab_config_flag (self, "use_sliding_window", TRUE))
    fab_model_file_note (self->out,
                         "Its attention looks back %s tokens at most, here over the whole sequence.",
                         window->text);
  if (fab_config_whole (self, "num_nextn_predict_layers", 0) > 0)
    fab_model_file_note (self->out, "Its layers for multi-token prediction are left out.");
}

static void
read_dropout (const FabConfig *self)
{
  static const char *const keys[] = { "resid_pdrop", "hidden_dropout_prob", "hidden_dropout", "dropout" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    const char *text = fab_config_text (self, keys[i]);

    if (text != NULL && g_ascii_strtod (text, NULL) > 0)
      fab_model_file_set (self->out, "dropout", "true", fab_config_get (self, keys[i]));
  }
}

static const FabFamily *
find_family (const char *type)
{
  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    for (const FabFamily *family = families[i]; family->type != NULL; family++)
      if (g_str_equal (family->type, type))
        return family;
  return NULL;
}

static void
fail_unknown (const FabConfig *self, const FabYamlNode *at)
{
  g_autoptr (GPtrArray) types = g_ptr_array_new ();
  g_autofree char *all = NULL;
  const char *nearest;

  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    for (const FabFamily *family = families[i]; family->type != NULL; family++)
      g_ptr_array_add (types, (gpointer) family->type);
  g_ptr_array_add (types, NULL);
  all = g_strjoinv (", ", (char **) types->pdata);
  nearest = fab_model_file_nearest (self->out, self->type, (const char *const *) types->pdata);
  fab_model_file_fail (self->out, at, "unknown model_type '%s'%s%s; known are %s", self->type,
                       nearest != NULL ? "; nearest is " : "", nearest != NULL ? nearest : "", all);
}

static void
huggingface_read (const FabYamlNode *root, FabModelFile *file)
{
  FabConfig config = { .config = root, .out = file };
  const FabFamily *family;

  config.type = fab_config_text (&config, "model_type");
  if (config.type == NULL) {
    fab_model_file_fail (file, root, "no 'model_type': this is no config.json of Hugging Face transformers");
    return;
  }
  family = find_family (config.type);
  if (family == NULL) {
    fail_unknown (&config, fab_config_get (&config, "model_type"));
    return;
  }
  fab_config_set (&config, "kind", "transformer");
  family->read (&config);
  read_dropout (&config);
  note_rest (&config);
}

const FabModelFileFormat fab_format_huggingface = {
  .name = "config.json of Hugging Face transformers",
  .read = huggingface_read,
};
