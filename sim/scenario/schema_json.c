/* SPDX-License-Identifier: Apache-2.0 */
/* schema_json.c - a parameter table as JSON Schema, draft 2020-12, for editors.
 *
 * Every model becomes a definition "<kind>.<name>" and every kind of model the choice of
 * them, so that models may hold models without end. What the schema accepts and the reader
 * refuses is only what a schema cannot say: limits of texts with units, names of the catalogue.
 */
#include "sim/scenario/schema.h"

#include <json-glib/json-glib.h>

#include "sim/base/json.h"
#include "sim/scenario/schema_reader.h"

typedef struct {
  JsonBuilder *out;
  const FabRegistry *registry;
} Emitter;

static void emit_object (Emitter *self, const FabParam *table, const char *kind);

static void
add_text (Emitter *self, const char *name, const char *value)
{
  json_builder_set_member_name (self->out, name);
  json_builder_add_string_value (self->out, value);
}

static void
add_reference (Emitter *self, const char *kind, const char *name)
{
  g_autofree char *path = name != NULL ? g_strdup_printf ("#/$defs/%s.%s", kind, name)
                                       : g_strdup_printf ("#/$defs/%s", kind);

  json_builder_begin_object (self->out);
  add_text (self, "$ref", path);
  json_builder_end_object (self->out);
}

static void
add_types (Emitter *self, const char *first, const char *second)
{
  json_builder_set_member_name (self->out, "type");
  json_builder_begin_array (self->out);
  json_builder_add_string_value (self->out, first);
  json_builder_add_string_value (self->out, second);
  json_builder_end_array (self->out);
}

static void
add_limit (Emitter *self, const char *name, double limit)
{
  json_builder_set_member_name (self->out, name);
  if (limit > -1e15 && limit < 1e15 && limit == (double) (gint64) limit)
    json_builder_add_int_value (self->out, (gint64) limit);
  else
    json_builder_add_double_value (self->out, limit);
}

/* Numbers without a unit may be JSON numbers; limits hold for those only. */
static void
emit_number (Emitter *self, const FabParam *row)
{
  g_autofree char *pattern = fab_units_pattern (fab_param_unit (row->type));
  gboolean is_fraction = row->type == FAB_PARAM_FRACTION;

  add_text (self, "pattern", pattern);
  if (row->type != FAB_PARAM_COUNT && row->type != FAB_PARAM_FACTOR && !is_fraction) {
    add_text (self, "type", "string");
    return;
  }
  add_types (self, row->type == FAB_PARAM_COUNT ? "integer" : "number", "string");
  add_limit (self, "minimum", row->min);
  if (row->max != 0.0 || row->min < 0.0 || is_fraction)
    add_limit (self, "maximum", row->max == 0.0 && is_fraction ? 1.0 : row->max);
}

static void
emit_words (Emitter *self, const char *const *words)
{
  json_builder_set_member_name (self->out, "enum");
  json_builder_begin_array (self->out);
  for (guint i = 0; words[i] != NULL; i++)
    json_builder_add_string_value (self->out, words[i]);
  json_builder_end_array (self->out);
}

static void
emit_bool (Emitter *self)
{
  static const char *const words[] = { "true", "false", "yes", "no", "on", "off", NULL };

  json_builder_set_member_name (self->out, "anyOf");
  json_builder_begin_array (self->out);
  json_builder_begin_object (self->out);
  add_text (self, "type", "boolean");
  json_builder_end_object (self->out);
  json_builder_begin_object (self->out);
  emit_words (self, words);
  json_builder_end_object (self->out);
  json_builder_end_array (self->out);
}

static void
emit_list (Emitter *self, const FabParam *row)
{
  add_text (self, "type", "array");
  json_builder_set_member_name (self->out, "items");
  json_builder_begin_object (self->out);
  emit_object (self, row->table, NULL);
  json_builder_end_object (self->out);
}

/* Any model of the kind, or the parameters of the default one without `kind`. */
static void
emit_model (Emitter *self, const FabParam *row)
{
  const char *kind = fab_model_kind_name (row->models);

  json_builder_set_member_name (self->out, "anyOf");
  json_builder_begin_array (self->out);
  add_reference (self, kind, NULL);
  if (row->fallback != NULL && fab_registry_find (self->registry, row->models, row->fallback) != NULL)
    add_reference (self, kind, row->fallback);
  json_builder_end_array (self->out);
}

static void
emit_default (Emitter *self, const FabParam *row)
{
  gint64 whole;

  if (row->fallback == NULL || row->type == FAB_PARAM_TABLE || row->type == FAB_PARAM_LIST
      || (row->type == FAB_PARAM_TEXT && row->fallback[0] == '\0'))
    return;
  json_builder_set_member_name (self->out, "default");
  if (row->type == FAB_PARAM_BOOL)
    json_builder_add_boolean_value (self->out, g_str_equal (row->fallback, "true"));
  else if (row->type == FAB_PARAM_COUNT
           && fab_units_parse_whole (FAB_UNIT_COUNT, row->fallback, &whole, NULL))
    json_builder_add_int_value (self->out, whole);
  else
    json_builder_add_string_value (self->out, row->fallback);
}

/* A path, or a list of them. */
static void
emit_files (Emitter *self)
{
  add_types (self, "string", "array");
  json_builder_set_member_name (self->out, "items");
  json_builder_begin_object (self->out);
  add_text (self, "type", "string");
  json_builder_end_object (self->out);
}

static void
emit_row (Emitter *self, const FabParam *row)
{
  if (row->help != NULL)
    add_text (self, "description", row->help);
  emit_default (self, row);
  if (fab_param_is_number (row->type))
    emit_number (self, row);
  else if (row->type == FAB_PARAM_BOOL)
    emit_bool (self);
  else if (row->type == FAB_PARAM_CHOICE)
    emit_words (self, row->choices);
  else if (row->type == FAB_PARAM_TEXT && row->refers == FAB_REFERS_FILES)
    emit_files (self);
  else if (row->type == FAB_PARAM_TEXT)
    add_types (self, "string", "number");
  else if (row->type == FAB_PARAM_LIST)
    emit_list (self, row);
  else if (row->type == FAB_PARAM_MODEL)
    emit_model (self, row);
  else
    emit_object (self, row->table, NULL);
}

static gboolean needs_any (const FabParam *table);

/* Whether its absence leaves a required key without value. */
static gboolean
needs_key (const FabParam *row)
{
  if (row->type == FAB_PARAM_LIST)
    return FALSE;
  return row->type == FAB_PARAM_TABLE ? needs_any (row->table) : row->fallback == NULL;
}

static gboolean
needs_any (const FabParam *table)
{
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++)
    if (needs_key (row))
      return TRUE;
  return FALSE;
}

static void
emit_required (Emitter *self, const FabParam *table)
{
  json_builder_set_member_name (self->out, "required");
  json_builder_begin_array (self->out);
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++)
    if (needs_key (row))
      json_builder_add_string_value (self->out, row->key);
  json_builder_end_array (self->out);
}

static gboolean
has_include (const FabParam *table)
{
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++)
    if (strcmp (row->key, "include") == 0)
      return TRUE;
  return FALSE;
}

/* What another file may hold need not be here. */
static void
emit_needed (Emitter *self, const FabParam *table)
{
  if (!has_include (table)) {
    emit_required (self, table);
    return;
  }
  json_builder_set_member_name (self->out, "anyOf");
  json_builder_begin_array (self->out);
  json_builder_begin_object (self->out);
  emit_required (self, table);
  json_builder_end_object (self->out);
  json_builder_begin_object (self->out);
  json_builder_set_member_name (self->out, "required");
  json_builder_begin_array (self->out);
  json_builder_add_string_value (self->out, "include");
  json_builder_end_array (self->out);
  json_builder_end_object (self->out);
  json_builder_end_array (self->out);
}

/* `kind`: the name of the model whose parameters these are; NULL: a plain mapping. */
static void
emit_object (Emitter *self, const FabParam *table, const char *kind)
{
  add_text (self, "type", "object");
  json_builder_set_member_name (self->out, "additionalProperties");
  json_builder_add_boolean_value (self->out, FALSE);
  json_builder_set_member_name (self->out, "properties");
  json_builder_begin_object (self->out);
  if (kind != NULL) {
    json_builder_set_member_name (self->out, "kind");
    json_builder_begin_object (self->out);
    add_text (self, "const", kind);
    json_builder_end_object (self->out);
  }
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++) {
    json_builder_set_member_name (self->out, row->key);
    json_builder_begin_object (self->out);
    emit_row (self, row);
    json_builder_end_object (self->out);
  }
  json_builder_end_object (self->out);
  emit_needed (self, table);
}

/* The models that a bare name is enough for. */
static void
emit_bare_names (Emitter *self, FabModelKind model_kind, const char *const *names)
{
  g_autoptr (GPtrArray) bare = g_ptr_array_new ();

  for (guint i = 0; names[i] != NULL; i++)
    if (!needs_any (fab_registry_find (self->registry, model_kind, names[i])->params))
      g_ptr_array_add (bare, (gpointer) names[i]);
  g_ptr_array_add (bare, NULL);
  json_builder_begin_object (self->out);
  emit_words (self, (const char *const *) bare->pdata);
  json_builder_end_object (self->out);
}

/* {kind: name, ...}: the model's own definition, with `kind` written out. */
static void
emit_named (Emitter *self, const char *kind, const char *name)
{
  json_builder_begin_object (self->out);
  json_builder_set_member_name (self->out, "allOf");
  json_builder_begin_array (self->out);
  add_reference (self, kind, name);
  json_builder_end_array (self->out);
  json_builder_set_member_name (self->out, "required");
  json_builder_begin_array (self->out);
  json_builder_add_string_value (self->out, "kind");
  json_builder_end_array (self->out);
  json_builder_end_object (self->out);
}

static void
emit_kind (Emitter *self, FabModelKind model_kind)
{
  const char *kind = fab_model_kind_name (model_kind);
  g_autofree const char **names = fab_registry_names (self->registry, model_kind);

  json_builder_set_member_name (self->out, kind);
  json_builder_begin_object (self->out);
  json_builder_set_member_name (self->out, "oneOf");
  json_builder_begin_array (self->out);
  emit_bare_names (self, model_kind, names);
  for (guint i = 0; names[i] != NULL; i++)
    emit_named (self, kind, names[i]);
  json_builder_end_array (self->out);
  json_builder_end_object (self->out);
  for (guint i = 0; names[i] != NULL; i++) {
    const FabModelInfo *info = fab_registry_find (self->registry, model_kind, names[i]);
    g_autofree char *name = g_strdup_printf ("%s.%s", kind, names[i]);

    json_builder_set_member_name (self->out, name);
    json_builder_begin_object (self->out);
    add_text (self, "description", info->summary != NULL ? info->summary : "");
    emit_object (self, info->params, info->name);
    json_builder_end_object (self->out);
  }
}

char *
fab_schema_json (const FabParam *table, const FabRegistry *registry, const char *id, const char *title)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autoptr (JsonNode) root = NULL;
  Emitter emitter = { .out = builder, .registry = registry };

  json_builder_begin_object (builder);
  add_text (&emitter, "$schema", "https://json-schema.org/draft/2020-12/schema");
  add_text (&emitter, "$id", id);
  add_text (&emitter, "title", title);
  emit_object (&emitter, table, NULL);
  json_builder_set_member_name (builder, "$defs");
  json_builder_begin_object (builder);
  for (guint kind = 0; kind < FAB_N_MODEL_KINDS; kind++)
    emit_kind (&emitter, (FabModelKind) kind);
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  json_generator_set_root (generator, root);
  json_generator_set_pretty (generator, TRUE);
  json_generator_set_indent (generator, 2);
  return fab_json_mend (json_generator_to_data (generator, NULL));
}
