/* SPDX-License-Identifier: Apache-2.0 */
/* schema_json.c - a parameter table as JSON Schema, draft 2020-12, for editors.
 *
 * Every model becomes a definition "<kind>.<name>" and every kind of model the choice of
 * them, so that models may hold models without end. What the schema accepts and the reader
 * refuses is only what a schema cannot say: limits of texts with units, names of the catalogue.
 */
#include "sim/config/schema.h"

#include <math.h>
#include <string.h>

#include "sim/base/json.h"
#include "sim/config/schema_reader.h"
#include "sim/config/schema_scalar.h"

typedef struct {
  FabJson *out;
  const FabRegistry *registry;
} Emitter;

static void emit_object (Emitter *self, const FabParam *table, const char *kind);

static void
add_reference (Emitter *self, const char *kind, const char *name)
{
  g_autofree char *path = name != NULL ? g_strdup_printf ("#/$defs/%s.%s", kind, name)
                                       : g_strdup_printf ("#/$defs/%s", kind);

  fab_json_begin_object (self->out, NULL);
  fab_json_add_text (self->out, "$ref", path);
  fab_json_end (self->out);
}

static void
add_types (Emitter *self, const char *first, const char *second)
{
  fab_json_begin_array (self->out, "type");
  fab_json_add_text (self->out, NULL, first);
  fab_json_add_text (self->out, NULL, second);
  fab_json_end (self->out);
}

static void
add_limit (Emitter *self, const char *name, double limit)
{
  if (fabs (limit) < 1e15 && limit == trunc (limit))
    fab_json_add_whole (self->out, name, (gint64) limit);
  else
    fab_json_add_real (self->out, name, limit);
}

/* Numbers without a unit may be JSON numbers; limits hold for those only. */
static void
emit_number (Emitter *self, const FabParam *row)
{
  g_autofree char *pattern = fab_units_pattern (fab_param_unit (row->type));
  gboolean is_fraction = row->type == FAB_PARAM_FRACTION;

  fab_json_add_text (self->out, "pattern", pattern);
  if (row->type != FAB_PARAM_COUNT && row->type != FAB_PARAM_FACTOR && !is_fraction) {
    fab_json_add_text (self->out, "type", "string");
    return;
  }
  add_types (self, row->type == FAB_PARAM_COUNT ? "integer" : "number", "string");
  add_limit (self, "minimum", row->min);
  if (row->max != 0.0 || row->min < 0.0 || is_fraction)
    add_limit (self, "maximum", row->max == 0.0 && is_fraction ? 1.0 : row->max);
}

/* A count, which may be a JSON number, or a text with a unit of time. */
static void
emit_period (Emitter *self, const FabParam *row)
{
  FabParam steps = *row, time = *row;

  steps.type = FAB_PARAM_COUNT;
  time.type = FAB_PARAM_TIME;
  fab_json_begin_array (self->out, "anyOf");
  fab_json_begin_object (self->out, NULL);
  emit_number (self, &steps);
  fab_json_end (self->out);
  fab_json_begin_object (self->out, NULL);
  emit_number (self, &time);
  fab_json_end (self->out);
  fab_json_end (self->out);
}

/* A share, or whole watts with their unit. */
static void
emit_power (Emitter *self, const FabParam *row)
{
  FabParam share = *row;

  share.type = FAB_PARAM_FRACTION;
  fab_json_begin_array (self->out, "anyOf");
  fab_json_begin_object (self->out, NULL);
  emit_number (self, &share);
  fab_json_end (self->out);
  fab_json_begin_object (self->out, NULL);
  fab_json_add_text (self->out, "type", "string");
  fab_json_add_text (self->out, "pattern", "^[1-9][0-9]* *W$");
  fab_json_end (self->out);
  fab_json_end (self->out);
}

static const char *const truths[] = { "true", "false", "yes", "no", "on", "off", NULL };

static void
emit_words (Emitter *self, const char *const *words)
{
  fab_json_add_texts (self->out, "enum", words);
}

static void
emit_bool (Emitter *self, const char *const *words)
{
  fab_json_begin_array (self->out, "anyOf");
  fab_json_begin_object (self->out, NULL);
  fab_json_add_text (self->out, "type", "boolean");
  fab_json_end (self->out);
  fab_json_begin_object (self->out, NULL);
  emit_words (self, words);
  fab_json_end (self->out);
  fab_json_end (self->out);
}

static void
emit_list (Emitter *self, const FabParam *row)
{
  fab_json_add_text (self->out, "type", "array");
  fab_json_begin_object (self->out, "items");
  emit_object (self, row->table, NULL);
  fab_json_end (self->out);
}

/* Any model of the kind, or the parameters of the default one without `kind`. */
static void
emit_model (Emitter *self, const FabParam *row)
{
  const char *kind = fab_model_kind_name (row->models);

  fab_json_begin_array (self->out, "anyOf");
  add_reference (self, kind, NULL);
  if (row->fallback != NULL && fab_registry_find (self->registry, row->models, row->fallback) != NULL)
    add_reference (self, kind, row->fallback);
  fab_json_end (self->out);
}

static void
emit_default (Emitter *self, const FabParam *row)
{
  gint64 whole;

  if (row->fallback == NULL || row->type == FAB_PARAM_TABLE || row->type == FAB_PARAM_LIST
      || (row->type == FAB_PARAM_TEXT && row->fallback[0] == '\0'))
    return;
  if (row->type == FAB_PARAM_BOOL)
    fab_json_add_flag (self->out, "default", g_str_equal (row->fallback, "true"));
  else if ((row->type == FAB_PARAM_COUNT || row->type == FAB_PARAM_PERIOD)
           && fab_units_parse_whole (FAB_UNIT_COUNT, row->fallback, &whole, NULL))
    fab_json_add_whole (self->out, "default", whole);
  else
    fab_json_add_text (self->out, "default", row->fallback);
}

/* A path or a text, or a list of them; texts of a list may look like numbers. */
static void
emit_files (Emitter *self, gboolean has_numbers)
{
  add_types (self, "string", "array");
  fab_json_begin_object (self->out, "items");
  if (has_numbers)
    add_types (self, "string", "number");
  else
    fab_json_add_text (self->out, "type", "string");
  fab_json_end (self->out);
}

static void
emit_row (Emitter *self, const FabParam *row)
{
  if (row->help != NULL)
    fab_json_add_text (self->out, "description", row->help);
  emit_default (self, row);
  if (fab_param_is_number (row->type))
    emit_number (self, row);
  else if (row->type == FAB_PARAM_PERIOD)
    emit_period (self, row);
  else if (row->type == FAB_PARAM_POWER)
    emit_power (self, row);
  else if (row->type == FAB_PARAM_BOOL)
    emit_bool (self, truths);
  else if (row->type == FAB_PARAM_CHOICE && fab_schema_takes_bool (row))
    emit_bool (self, row->choices);
  else if (row->type == FAB_PARAM_CHOICE)
    emit_words (self, row->choices);
  else if (row->type == FAB_PARAM_TEXT && (row->takes_list || row->refers == FAB_REFERS_FILES))
    emit_files (self, row->takes_list);
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
  fab_json_begin_array (self->out, "required");
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++)
    if (needs_key (row))
      fab_json_add_text (self->out, NULL, row->key);
  fab_json_end (self->out);
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
  fab_json_begin_array (self->out, "anyOf");
  fab_json_begin_object (self->out, NULL);
  emit_required (self, table);
  fab_json_end (self->out);
  fab_json_begin_object (self->out, NULL);
  fab_json_begin_array (self->out, "required");
  fab_json_add_text (self->out, NULL, "include");
  fab_json_end (self->out);
  fab_json_end (self->out);
  fab_json_end (self->out);
}

/* `kind`: the name of the model whose parameters these are; NULL: a plain mapping. */
static void
emit_object (Emitter *self, const FabParam *table, const char *kind)
{
  fab_json_add_text (self->out, "type", "object");
  fab_json_add_flag (self->out, "additionalProperties", FALSE);
  fab_json_begin_object (self->out, "properties");
  if (kind != NULL) {
    fab_json_begin_object (self->out, "kind");
    fab_json_add_text (self->out, "const", kind);
    fab_json_end (self->out);
  }
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++) {
    fab_json_begin_object (self->out, row->key);
    emit_row (self, row);
    fab_json_end (self->out);
  }
  fab_json_end (self->out);
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
  fab_json_begin_object (self->out, NULL);
  emit_words (self, (const char *const *) bare->pdata);
  fab_json_end (self->out);
}

/* {kind: name, ...}: the model's own definition, with `kind` written out. */
static void
emit_named (Emitter *self, const char *kind, const char *name)
{
  fab_json_begin_object (self->out, NULL);
  fab_json_begin_array (self->out, "allOf");
  add_reference (self, kind, name);
  fab_json_end (self->out);
  fab_json_begin_array (self->out, "required");
  fab_json_add_text (self->out, NULL, "kind");
  fab_json_end (self->out);
  fab_json_end (self->out);
}

static void
emit_kind (Emitter *self, FabModelKind model_kind)
{
  const char *kind = fab_model_kind_name (model_kind);
  g_autofree const char **names = fab_registry_names (self->registry, model_kind);

  fab_json_begin_object (self->out, kind);
  fab_json_begin_array (self->out, "oneOf");
  emit_bare_names (self, model_kind, names);
  for (guint i = 0; names[i] != NULL; i++)
    emit_named (self, kind, names[i]);
  fab_json_end (self->out);
  fab_json_end (self->out);
  for (guint i = 0; names[i] != NULL; i++) {
    const FabModelInfo *info = fab_registry_find (self->registry, model_kind, names[i]);
    g_autofree char *name = g_strdup_printf ("%s.%s", kind, names[i]);

    fab_json_begin_object (self->out, name);
    fab_json_add_text (self->out, "description", info->summary != NULL ? info->summary : "");
    emit_object (self, info->params, info->name);
    fab_json_end (self->out);
  }
}

char *
fab_schema_json (const FabParam *table, const FabRegistry *registry, const char *id, const char *title)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  Emitter emitter = { .out = json, .registry = registry };

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "$schema", "https://json-schema.org/draft/2020-12/schema");
  fab_json_add_text (json, "$id", id);
  fab_json_add_text (json, "title", title);
  emit_object (&emitter, table, NULL);
  fab_json_begin_object (json, "$defs");
  for (guint kind = 0; kind < FAB_N_MODEL_KINDS; kind++)
    emit_kind (&emitter, (FabModelKind) kind);
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_text (json);
}
