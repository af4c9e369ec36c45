/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/job/settings.h"

#include <string.h>

#include "sim/config/yaml_doc.h"

enum { MAX_SETTINGS = 20000 };

void
fab_job_settings_add (FabJobSettings *self, const char *key, const char *value, guint line,
                      gboolean is_argument)
{
  FabJobSetting setting = { .key = g_string_chunk_insert_const (self->texts, key),
                            .value = value ? g_string_chunk_insert_const (self->texts, value) : NULL,
                            .line = line,
                            .is_argument = is_argument };

  if (self->all->len < MAX_SETTINGS)
    g_array_append_val (self->all, setting);
}

void
fab_job_settings_free (FabJobSettings *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->all);
  g_string_chunk_free (self->texts);
  g_ptr_array_unref (self->twice);
  g_free (self);
}

static gboolean
has_key (const FabJobSetting *setting, const char *key)
{
  const char *last = strrchr (setting->key, '.');

  if (!g_str_has_prefix (key, "*."))
    return strcmp (setting->key, key) == 0;
  return strcmp (last ? last + 1 : setting->key, key + 2) == 0;
}

FabJobSetting *
fab_job_settings_find (FabJobSettings *self, const char *key)
{
  gboolean is_anywhere = g_str_has_prefix (key, "*.");
  FabJobSetting *found = NULL;

  for (guint i = 0; i < self->all->len; i++) {
    FabJobSetting *setting = &g_array_index (self->all, FabJobSetting, i);

    if (!has_key (setting, key))
      continue;
    setting->is_used = TRUE;
    if (found == NULL || !is_anywhere || setting->value != NULL)
      found = setting;
  }
  return found;
}

FabJobSettings *
fab_job_settings_section (FabJobSettings *self, const char *section)
{
  FabJobSettings *part = g_new0 (FabJobSettings, 1);

  part->file = self->file;
  part->all = g_array_new (FALSE, FALSE, sizeof (FabJobSetting));
  part->texts = g_string_chunk_new (4096);
  part->twice = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < self->all->len; i++) {
    FabJobSetting *setting = &g_array_index (self->all, FabJobSetting, i);

    if (!g_str_has_prefix (setting->key, section))
      continue;
    setting->is_used = TRUE;
    fab_job_settings_add (part, setting->key + strlen (section), setting->value, setting->line,
                          setting->is_argument);
  }
  return part;
}

void
fab_job_settings_underscore (FabJobSettings *self)
{
  for (guint i = 0; i < self->all->len; i++) {
    FabJobSetting *setting = &g_array_index (self->all, FabJobSetting, i);
    g_autofree char *key = g_strstrip (g_strdelimit (g_strdup (setting->key), "-", '_'));

    setting->key = g_string_chunk_insert_const (self->texts, key);
  }
}

/* --- JSON and YAML --- */

static gboolean
is_plain_list (const FabYamlNode *node)
{
  for (guint i = 0; i < node->n; i++)
    if (node->values[i]->kind != FAB_YAML_SCALAR)
      return FALSE;
  return node->kind == FAB_YAML_SEQUENCE;
}

static void
add_list (FabJobSettings *self, const char *key, const FabYamlNode *list)
{
  g_autoptr (GString) text = g_string_new ("[");

  for (guint i = 0; i < list->n; i++)
    g_string_append_printf (text, "%s%s", i ? ", " : "",
                            list->values[i]->text ? list->values[i]->text : "null");
  g_string_append_c (text, ']');
  fab_job_settings_add (self, key, text->str, list->mark.line, FALSE);
}

/* Sections in which a program keeps the configuration of the training program that it starts: Primus, and scripts of
 * Megatron-Bridge. */
static const char *
without_section (const char *key)
{
  static const char *const sections[] = { "modules.pre_trainer.overrides.", "ConfigContainer." };

  for (guint i = 0; i < G_N_ELEMENTS (sections); i++)
    if (g_str_has_prefix (key, sections[i]))
      return key + strlen (sections[i]);
  return key;
}

/* "MODEL_ARGS.--micro-batch-size": an argument of a command line that stands in YAML. */
static void
add_scalar (FabJobSettings *self, const char *key, const FabYamlNode *node)
{
  const char *dashes = strstr (key, "--");

  if (dashes != NULL && (dashes == key || dashes[-1] == '.') && g_ascii_isalpha (dashes[2])) {
    g_autofree char *name = g_strdelimit (g_strdup (dashes + 2), "-", '_');

    fab_job_settings_add (self, name, node->text ? node->text : "", node->mark.line, TRUE);
    return;
  }
  fab_job_settings_add (self, without_section (key), node->text, node->mark.line, FALSE);
}

/* Maps the keys of a mapping to where they stand last, from 1. (transfer full) */
static GHashTable *
last_places (FabJobSettings *self, const FabYamlNode *mapping)
{
  GHashTable *places = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < mapping->n; i++)
    if (!g_hash_table_insert (places, (char *) mapping->keys[i]->text, GUINT_TO_POINTER (i + 1)))
      g_ptr_array_add (self->twice, g_strdup_printf ("%s:%u: %s is written twice, and the last one counts",
                                                     self->file->name, mapping->keys[i]->mark.line,
                                                     mapping->keys[i]->text));
  return places;
}

static void
add_node (FabJobSettings *self, const char *key, const FabYamlNode *node)
{
  g_autoptr (GHashTable) places = NULL;

  if (node->kind == FAB_YAML_SCALAR) {
    add_scalar (self, key, node);
    return;
  }
  if (is_plain_list (node)) {
    add_list (self, key, node);
    return;
  }
  if (node->kind == FAB_YAML_MAPPING)
    places = last_places (self, node);
  for (guint i = 0; i < node->n; i++) {
    if (places && GPOINTER_TO_UINT (g_hash_table_lookup (places, node->keys[i]->text)) != i + 1)
      continue;
    g_autofree char *name = node->kind == FAB_YAML_MAPPING ? g_strdup (node->keys[i]->text)
                                                           : g_strdup_printf ("%u", i);
    g_autofree char *inner = key[0] ? g_strdup_printf ("%s.%s", key, name) : g_strdup (name);

    add_node (self, inner, node->values[i]);
  }
}

static gboolean
read_yaml (FabJobSettings *self, GError **error)
{
  const FabFileText *file = self->file;
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse_foreign (file->name, file->text, file->size, diagnostics);

  if (!fab_diagnostics_check (diagnostics, error))
    return FALSE;
  if (doc == NULL)
    return fab_file_text_fail (file, 0, error, "the file is neither JSON, YAML, TOML nor a shell script");
  add_node (self, "", fab_yaml_doc_root (doc));
  return TRUE;
}

/* --- which form it is --- */

/* Whether a line begins like this, after blanks. */
static gboolean
has_line (const FabFileText *file, gboolean (*test) (const char *line))
{
  for (const char *line = file->text; line != NULL; line = strchr (line, '\n')) {
    line += *line == '\n';
    if (test (line + strspn (line, " \t")))
      return TRUE;
  }
  return FALSE;
}

/* "[training]", "[[a.b]]"; a bracket that is missing at the end of the line is told as a mistake of TOML. */
static gboolean
is_table (const char *line)
{
  gsize n = strspn (line, "[");
  gsize word = strspn (line + n, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_-.\"' ");

  return n > 0 && n < 3 && word > 0 && strchr ("]\r\n", line[n + word]) != NULL && line[n + word] != '\0';
}

/* "--tensor-model-parallel-size 8", and not "--tensor-model-parallel-size: 8", which is a key of YAML. */
static gboolean
is_arguments (const char *line)
{
  return g_str_has_prefix (line, "--") && g_ascii_isalpha (line[2])
      && line[strcspn (line, ": \t\r\n")] != ':';
}

/* Whether the name of the file says that it is JSON or YAML: such files have command lines in their comments. */
static gboolean
is_named_yaml (const FabFileText *file)
{
  static const char *const ends[] = { ".yaml", ".yml", ".json" };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    if (g_str_has_suffix (file->name, ends[i]))
      return TRUE;
  return FALSE;
}

static gboolean
is_shell (const FabFileText *file)
{
  return fab_file_text_begins (file, "#!") || has_line (file, is_arguments)
      || (fab_file_text_has (file, " --") && fab_file_text_first (file) != '{'
          && (fab_file_text_has (file, "torchrun") || fab_file_text_has (file, "python")
              || fab_file_text_has (file, "deepspeed ") || fab_file_text_has (file, "accelerate ")));
}

FabJobSettings *
fab_job_settings_read (const FabFileText *file, GError **error)
{
  g_autoptr (FabJobSettings) self = g_new0 (FabJobSettings, 1);
  gboolean is_good;

  self->file = file;
  self->all = g_array_new (FALSE, FALSE, sizeof (FabJobSetting));
  self->texts = g_string_chunk_new (4096);
  self->twice = g_ptr_array_new_with_free_func (g_free);
  is_good = is_named_yaml (file) ? read_yaml (self, error)
          : is_shell (file)      ? fab_job_settings_shell (self, error)
          : fab_file_text_first (file) != '{' && has_line (file, is_table)
              ? fab_job_settings_toml (self, error)
              : read_yaml (self, error);
  return is_good ? g_steal_pointer (&self) : NULL;
}
