/* SPDX-License-Identifier: Apache-2.0 */
/* schema_read.c - a YAML mapping and a table to a filled struct.
 *
 * Every row gets its value or its fallback, so the struct is whole even when the input is
 * not; every mistake becomes a diagnostic and reading goes on. Nested tables, lists and
 * models recurse, bounded by the depth of the tables. O(keys x rows of their table).
 */
#include "sim/scenario/schema.h"

#include "sim/scenario/schema_reader.h"

/* What a mapping is read for: its rows, and how messages call it. */
typedef struct {
  const FabParam *table;
  const char *name;      /* NULL: the root */
  const char *extra_key; /* allowed beside the table's: `kind` of a model; NULL: none */
  const FabMark *mark;   /* where missing keys are reported; NULL: at no place */
} Shape;

typedef struct {
  FabCheck base;
  FabSchemaReader *reader;
  const FabMark *mark; /* where to report what came from a fallback */
} Check;

FabSchemaReader *
fab_schema_reader_new (const FabRegistry *registry, FabDiagnostics *diagnostics)
{
  FabSchemaReader *self = g_new0 (FabSchemaReader, 1);

  self->registry = registry;
  self->diagnostics = diagnostics;
  self->arena = g_ptr_array_new_with_free_func (g_free);
  self->marks = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  return self;
}

void
fab_schema_reader_free (FabSchemaReader *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->arena);
  g_hash_table_unref (self->marks);
  g_free (self);
}

gpointer
fab_schema_reader_alloc (FabSchemaReader *self, gsize size)
{
  gpointer block = size > 0 ? g_malloc0 (size) : NULL;

  if (block != NULL)
    g_ptr_array_add (self->arena, block);
  return block;
}

const char *
fab_schema_reader_text (FabSchemaReader *self, const char *text)
{
  char *copy = g_strdup (text);

  g_ptr_array_add (self->arena, copy);
  return copy;
}

void
fab_schema_reader_note (FabSchemaReader *self, gconstpointer field, const FabMark *mark)
{
  FabMark *copy = g_new (FabMark, 1);

  *copy = *mark;
  g_hash_table_insert (self->marks, (gpointer) field, copy);
}

const FabMark *
fab_schema_mark (const FabSchemaReader *self, gconstpointer field)
{
  return g_hash_table_lookup (self->marks, field);
}

void
fab_schema_report (FabSchemaReader *self, gconstpointer field, const char *format, ...)
{
  va_list args;
  g_autofree char *message = NULL;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  fab_diagnostics_add (self->diagnostics, fab_schema_mark (self, field), "%s", message);
}

static void read_mapping (FabSchemaReader *self, const FabYamlNode *mapping, Shape shape, gpointer out);

/* Fallbacks ------------------------------------------------------------------------------------------ */

static void
model_fallback (FabSchemaReader *self, const FabParam *row, FabModelChoice *out)
{
  *out = (FabModelChoice){ NULL, NULL };
  if (row->fallback == NULL || row->fallback[0] == '\0')
    return;
  out->info = fab_registry_find (self->registry, row->models, row->fallback);
  if (out->info == NULL)
    fab_diagnostics_add (self->diagnostics, NULL, "this build has no %s '%s', the default of '%s'",
                         fab_model_kind_name (row->models), row->fallback, row->key);
  else
    out->params = fab_schema_model_defaults (self, out->info);
}

static void
scalar_fallback (FabSchemaReader *self, const FabParam *row, gpointer field)
{
  g_autofree char *message = NULL;

  if (row->fallback == NULL) /* required and missing: reported by the caller; the struct stays zeroed */
    return;
  if (!fab_schema_parse_scalar (self, row, row->fallback, field, &message))
    g_error ("the fallback of a table is wrong: %s", message);
}

static void
fallback (FabSchemaReader *self, const FabParam *row, gpointer out)
{
  gpointer field = fab_schema_field (out, row);

  if (row->type == FAB_PARAM_TABLE)
    fab_schema_defaults (self, row->table, field);
  else if (row->type == FAB_PARAM_LIST)
    *(FabParamList *) field = (FabParamList){ NULL, 0 };
  else if (row->type == FAB_PARAM_MODEL)
    model_fallback (self, row, field);
  else
    scalar_fallback (self, row, field);
}

static gboolean
is_required (const FabParam *row)
{
  return row->fallback == NULL && row->type != FAB_PARAM_TABLE && row->type != FAB_PARAM_LIST;
}

void
fab_schema_defaults (FabSchemaReader *self, const FabParam *table, gpointer out)
{
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++) {
    if (is_required (row))
      g_error ("'%s' has no fallback", row->key);
    fallback (self, row, out);
  }
}

gpointer
fab_schema_model_defaults (FabSchemaReader *self, const FabModelInfo *info)
{
  gpointer params = info->params != NULL ? fab_schema_reader_alloc (self, info->params_size) : NULL;

  if (params != NULL)
    fab_schema_defaults (self, info->params, params);
  return params;
}

/* Values --------------------------------------------------------------------------------------------- */

static void
read_scalar (FabSchemaReader *self, const FabYamlNode *node, const FabParam *row, gpointer out)
{
  gpointer field = fab_schema_field (out, row);
  g_autofree char *message = NULL;

  if (node->kind != FAB_YAML_SCALAR)
    message = g_strdup_printf ("'%s' must be a %s, not a %s", row->key, fab_param_type_name (row->type),
                               node->kind == FAB_YAML_MAPPING ? "mapping" : "list");
  else if (node->value != NULL ? fab_schema_take_value (self, row, node->value, field, &message)
                               : fab_schema_parse_scalar (self, row, node->text, field, &message))
    return;
  fab_diagnostics_add (self->diagnostics, &node->mark, "%s", message);
  scalar_fallback (self, row, field);
}

static void
read_table (FabSchemaReader *self, const FabYamlNode *node, const FabParam *row, gpointer out)
{
  if (node->kind != FAB_YAML_MAPPING)
    fab_diagnostics_add (self->diagnostics, &node->mark,
                         "'%s' must be a mapping with keys of its own, not a %s", row->key,
                         node->kind == FAB_YAML_SCALAR ? "value" : "list");
  else
    read_mapping (self, node, (Shape){ .table = row->table, .name = row->key, .mark = &node->mark },
                  fab_schema_field (out, row));
}

static void
read_list (FabSchemaReader *self, const FabYamlNode *node, const FabParam *row, gpointer out)
{
  FabParamList *list = fab_schema_field (out, row);

  *list = (FabParamList){ NULL, 0 };
  if (node->kind != FAB_YAML_SEQUENCE) {
    fab_diagnostics_add (self->diagnostics, &node->mark, "'%s' must be a list; begin each entry with '- '",
                         row->key);
    return;
  }
  list->data = fab_schema_reader_alloc (self, node->n * row->table_size);
  for (guint i = 0; i < node->n; i++) {
    const FabYamlNode *item = node->values[i];

    if (item->kind != FAB_YAML_MAPPING) {
      fab_diagnostics_add (self->diagnostics, &item->mark, "an entry of '%s' must be a mapping", row->key);
      continue; /* its struct is left out, because its required keys are missing */
    }
    read_mapping (self, item, (Shape){ .table = row->table, .name = row->key, .mark = &item->mark },
                  (char *) list->data + list->n++ * row->table_size);
  }
}

/* Models --------------------------------------------------------------------------------------------- */

static const FabModelInfo *
find_model (FabSchemaReader *self, const FabParam *row, const FabYamlNode *name)
{
  const FabModelInfo *info = fab_registry_find (self->registry, row->models, name->text);
  g_autofree const char **known = NULL;
  g_autofree char *joined = NULL;
  const char *kind = fab_model_kind_name (row->models), *nearest;

  if (info != NULL)
    return info;
  known = fab_registry_names (self->registry, row->models);
  nearest = fab_diagnostics_nearest (self->diagnostics, name->text, known);
  joined = g_strjoinv (", ", (char **) known);
  if (nearest != NULL)
    fab_diagnostics_add (self->diagnostics, &name->mark, "unknown %s '%s'; nearest is '%s'", kind, name->text,
                         nearest);
  else
    fab_diagnostics_add (self->diagnostics, &name->mark, "unknown %s '%s'; known are %s", kind, name->text,
                         joined);
  return NULL;
}

const FabModelInfo *
fab_schema_named_model (FabSchemaReader *self, const FabYamlNode *node, const FabParam *row)
{
  const FabYamlNode *kind = node->kind == FAB_YAML_SCALAR ? node : fab_yaml_get (node, "kind");

  if (node->kind == FAB_YAML_SEQUENCE) {
    fab_diagnostics_add (self->diagnostics, &node->mark, "'%s' must be a name, or a mapping with 'kind'",
                         row->key);
    return NULL;
  }
  if (kind != NULL && kind->kind == FAB_YAML_SCALAR && kind->text != NULL)
    return find_model (self, row, kind);
  if (kind == NULL && row->fallback != NULL && row->fallback[0] != '\0')
    return fab_registry_find (self->registry, row->models, row->fallback);
  fab_diagnostics_add (self->diagnostics, kind != NULL ? &kind->mark : &node->mark,
                       "'%s' needs 'kind', the name of a %s", row->key, fab_model_kind_name (row->models));
  return NULL;
}

static void
check_report (FabCheck *base, gconstpointer field, const char *message)
{
  Check *check = (Check *) base;
  const FabMark *mark = fab_schema_mark (check->reader, field);

  fab_diagnostics_add (check->reader->diagnostics, mark != NULL ? mark : check->mark, "%s", message);
}

static void
read_model (FabSchemaReader *self, const FabYamlNode *node, const FabParam *row, gpointer out)
{
  FabModelChoice *choice = fab_schema_field (out, row);
  const FabModelInfo *info = fab_schema_named_model (self, node, row);
  guint n_before = fab_diagnostics_count (self->diagnostics);
  Check check = { .base.report = check_report, .reader = self, .mark = &node->mark };

  if (info == NULL) {
    model_fallback (self, row, choice);
    return;
  }
  choice->info = info;
  choice->params = fab_schema_reader_alloc (self, info->params != NULL ? info->params_size : 0);
  read_mapping (self, node->kind == FAB_YAML_MAPPING ? node : NULL,
                (Shape){ .table = info->params, .name = row->key, .extra_key = "kind", .mark = &node->mark },
                choice->params);
  if (info->check != NULL && fab_diagnostics_count (self->diagnostics) == n_before)
    info->check (choice->params, &check.base);
}

/* Mappings ------------------------------------------------------------------------------------------- */

const FabParam *
fab_schema_find_row (const FabParam *table, const char *key)
{
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++)
    if (g_str_equal (row->key, key))
      return row;
  return NULL;
}

void
fab_schema_report_unknown (FabSchemaReader *self, const FabParam *table, const char *extra, const char *key,
                           const FabMark *mark)
{
  g_autoptr (GPtrArray) known = g_ptr_array_new ();
  const char *nearest;

  for (const FabParam *row = table; row != NULL && row->key != NULL; row++)
    g_ptr_array_add (known, (gpointer) row->key);
  if (extra != NULL)
    g_ptr_array_add (known, (gpointer) extra);
  g_ptr_array_add (known, NULL);
  nearest = fab_diagnostics_nearest (self->diagnostics, key, (const char *const *) known->pdata);
  if (nearest != NULL) {
    fab_diagnostics_add (self->diagnostics, mark, "unknown key '%s'; nearest is '%s'", key, nearest);
  } else {
    g_autofree char *joined = g_strjoinv (", ", (char **) known->pdata);

    fab_diagnostics_add (self->diagnostics, mark, "unknown key '%s'; known here: %s", key, joined);
  }
}

static void
report_missing_key (FabSchemaReader *self, const FabMark *mark, const FabParam *row, Shape shape)
{
  const char *type = fab_param_type_name (row->type);

  if (shape.name == NULL)
    fab_diagnostics_add (self->diagnostics, mark, "missing key '%s' (%s): %s", row->key, type, row->help);
  else
    fab_diagnostics_add (self->diagnostics, mark, "'%s' lacks the key '%s' (%s): %s", shape.name, row->key,
                         type, row->help);
}

void
fab_schema_read_row (FabSchemaReader *self, const FabYamlNode *node, const FabParam *row, gpointer out)
{
  fab_schema_reader_note (self, fab_schema_field (out, row), &node->mark);
  if (row->type == FAB_PARAM_TABLE)
    read_table (self, node, row, out);
  else if (row->type == FAB_PARAM_LIST)
    read_list (self, node, row, out);
  else if (row->type == FAB_PARAM_MODEL)
    read_model (self, node, row, out);
  else
    read_scalar (self, node, row, out);
}

/* A key that is not there, or there without a value. */
static void
read_absent (FabSchemaReader *self, const FabMark *mark, const FabParam *row, Shape shape, gpointer out)
{
  if (row->type == FAB_PARAM_TABLE) {
    read_mapping (self, NULL, (Shape){ .table = row->table, .name = row->key, .mark = mark },
                  fab_schema_field (out, row));
    return;
  }
  if (is_required (row))
    report_missing_key (self, mark, row, shape);
  fallback (self, row, out);
}

static void
read_mapping (FabSchemaReader *self, const FabYamlNode *mapping, Shape shape, gpointer out)
{
  for (guint i = 0; mapping != NULL && i < mapping->n; i++)
    if (fab_schema_find_row (shape.table, mapping->keys[i]->text) == NULL
        && g_strcmp0 (shape.extra_key, mapping->keys[i]->text) != 0)
      fab_schema_report_unknown (self, shape.table, shape.extra_key, mapping->keys[i]->text,
                                 &mapping->keys[i]->mark);
  for (const FabParam *row = shape.table; row != NULL && row->key != NULL; row++) {
    const FabYamlNode *node = fab_yaml_get (mapping, row->key);
    gboolean is_null = node != NULL && node->kind == FAB_YAML_SCALAR && node->text == NULL;

    if (node != NULL && !is_null)
      fab_schema_read_row (self, node, row, out);
    else
      read_absent (self, is_null ? &node->mark : shape.mark, row, shape, out);
  }
}

gboolean
fab_schema_read (FabSchemaReader *self, const FabYamlNode *mapping, const FabParam *table, gpointer out)
{
  guint n_before = fab_diagnostics_count (self->diagnostics);

  read_mapping (self, mapping, (Shape){ .table = table, .mark = mapping != NULL ? &mapping->mark : NULL },
                out);
  return fab_diagnostics_count (self->diagnostics) == n_before;
}
