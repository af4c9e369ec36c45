/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - a YAML mapping and a table to a filled struct.
 *
 * Every row gets its value or its fallback, so the struct is whole even when the input is
 * not; every mistake becomes a diagnostic and reading goes on. Nested tables, lists and
 * models recurse, bounded by the depth of the tables. O(keys x rows of their table).
 */
#include "sim/config/schema.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/config/schema_reader.h"
#include "sim/config/schema_scalar.h"

static void schema_defaults (FabSchemaReader *self, const FabParam *table, gpointer out);

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

static gboolean schema_parse_scalar (FabSchemaReader *self, const FabParam *row, const char *text,
                                     gpointer field, char **message);

static gboolean schema_take_value (FabSchemaReader *self, const FabParam *row, const FabValue *value,
                                   gpointer field, char **message);

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

static const char *
schema_reader_text (FabSchemaReader *self, const char *text)
{
  char *copy = g_strdup (text);

  g_ptr_array_add (self->arena, copy);
  return copy;
}

static void
schema_reader_note (FabSchemaReader *self, gconstpointer field, const FabMark *mark)
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
  if (!schema_parse_scalar (self, row, row->fallback, field, &message))
    g_error ("the fallback of a table is wrong: %s", message);
}

static void
fallback (FabSchemaReader *self, const FabParam *row, gpointer out)
{
  gpointer field = fab_schema_field (out, row);

  if (row->type == FAB_PARAM_TABLE)
    schema_defaults (self, row->table, field);
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

/* Fills `out` with the table's fallbacks only; asserts when a key is required. */
static void
schema_defaults (FabSchemaReader *self, const FabParam *table, gpointer out)
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
    schema_defaults (self, info->params, params);
  return params;
}

/* Values --------------------------------------------------------------------------------------------- */

/* The texts of a list with commas between them; NULL: it is no list of texts. (transfer full) */
static char *
join_texts (const FabYamlNode *node)
{
  g_autoptr (GString) joined = g_string_new (NULL);

  if (node->kind != FAB_YAML_SEQUENCE || node->n == 0)
    return NULL;
  for (guint i = 0; i < node->n; i++) {
    const FabYamlNode *item = node->values[i];

    if (item->kind != FAB_YAML_SCALAR || item->text == NULL)
      return NULL;
    g_string_append_printf (joined, "%s%s", i > 0 ? "," : "", item->text);
  }
  return g_strdup (joined->str);
}

static void
read_scalar (FabSchemaReader *self, const FabYamlNode *node, const FabParam *row, gpointer out)
{
  gpointer field = fab_schema_field (out, row);
  g_autofree char *message = NULL, *joined = row->takes_list ? join_texts (node) : NULL;

  if (joined != NULL) {
    if (schema_parse_scalar (self, row, joined, field, &message))
      return;
  } else if (node->kind != FAB_YAML_SCALAR) {
    message = g_strdup_printf ("'%s' must be a %s, not a %s", row->key, fab_param_type_name (row->type),
                               node->kind == FAB_YAML_MAPPING ? "mapping" : "list");
  } else if (node->value != NULL ? schema_take_value (self, row, node->value, field, &message)
                                 : schema_parse_scalar (self, row, node->text, field, &message)) {
    if (row->refers == FAB_REFERS_FILE)
      fab_schema_resolve_path (self, node, field);
    return;
  }
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
  schema_reader_note (self, fab_schema_field (out, row), &node->mark);
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

/* Reports a value at a list, such as `nodes: 8`, that was meant for a key of a mapping beside it, cluster.nodes. */
static gboolean
is_namesake (FabSchemaReader *self, const FabYamlNode *node, const FabParam *row, const FabParam *table)
{
  g_autofree char *namesake = row->type == FAB_PARAM_LIST && node->kind == FAB_YAML_SCALAR
                                ? fab_schema_namesake (self, table, row->key, &node->mark)
                                : NULL;

  if (namesake != NULL)
    fab_diagnostics_add (self->diagnostics, &node->mark, "%s", namesake);
  return namesake != NULL;
}

/* Whether nothing stands behind the key of a number, a word or a text: a value was forgotten. A key that says null, and
 * a section without keys, mean the default. */
static gboolean
is_empty (const FabYamlNode *node, const FabParam *row)
{
  const char *written = g_utf8_offset_to_pointer (node->mark.text, (glong) node->mark.column - 1);

  return memchr ("~nN", *written, 3) == NULL && row->type != FAB_PARAM_TABLE && row->type != FAB_PARAM_LIST
      && row->type != FAB_PARAM_MODEL;
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

    if (is_null && !is_required (row) && is_empty (node, row))
      fab_diagnostics_add (self->diagnostics, &node->mark,
                           "'%s' has no value; give it one, or leave the key out for the default", row->key);
    if (node != NULL && !is_null && is_namesake (self, node, row, shape.table))
      fallback (self, row, out);
    else if (node != NULL && !is_null)
      fab_schema_read_row (self, node, row, out);
    else
      read_absent (self, is_null ? &node->mark : shape.mark, row, shape, out);
  }
}

gboolean
fab_schema_read (FabSchemaReader *self, const FabYamlNode *mapping, const FabParam *table, gpointer out)
{
  guint n_before = fab_diagnostics_count (self->diagnostics);

  if (self->top == NULL)
    self->top = table;
  read_mapping (self, mapping, (Shape){ .table = table, .mark = mapping != NULL ? &mapping->mark : NULL },
                out);
  return fab_diagnostics_count (self->diagnostics) == n_before;
}

/* One text, or one typed value, to one field: numbers with units, words, choices.
 *
 * The same function reads what a person wrote and the fallbacks of the tables, so a default
 * obeys the rules that it documents. A field is written only when the text is good. Owns
 * nothing; texts go into the reader's arena.
 */

typedef struct {
  double least, most;
  gboolean has_most, is_open; /* open: the least itself is not allowed */
} Range;

static Range
range_of (const FabParam *row)
{
  gboolean is_rate = row->type == FAB_PARAM_RATE || row->type == FAB_PARAM_FLOPS_RATE;
  gboolean is_default = row->min == 0.0 && row->max == 0.0;
  Range range = { .least = row->min, .most = row->max };

  range.is_open = is_default && is_rate;
  range.has_most = row->max != 0.0;
  if (is_default && row->type == FAB_PARAM_TIME) { /* an hour, so that sums of many fit the clock */
    range.most = 3600.0 * (double) FAB_PS_PER_S;
    range.has_most = TRUE;
  }
  return range;
}

/* A limit as a person would write it; tables hold them as doubles. */
static char *
limit_text (const FabParam *row, double limit)
{
  FabUnit unit = fab_param_unit (row->type);

  return fab_param_is_whole (row->type) ? fab_units_write_whole (unit, (gint64) CLAMP (limit, -9e18, 9e18))
                                        : fab_units_write_real (unit, limit);
}

static char *
check_range (const FabParam *row, const char *text, double value)
{
  Range range = range_of (row);
  g_autofree char *limit = NULL;

  if (range.is_open && value <= 0.0)
    return g_strdup_printf ("'%s' is %s: must be more than 0", row->key, text);
  if (value < range.least) {
    limit = limit_text (row, range.least);
    return g_strdup_printf ("'%s' is %s: the lower limit is %s", row->key, text, limit);
  }
  if (range.has_most && value > range.most) {
    limit = limit_text (row, range.most);
    return g_strdup_printf ("'%s' is %s: the upper limit is %s", row->key, text, limit);
  }
  return NULL;
}

static char *
parse_number (const FabParam *row, const char *text, gpointer field)
{
  FabUnit unit = fab_param_unit (row->type);
  g_autoptr (GError) error = NULL;
  gint64 whole = 0;
  double real = 0.0;
  char *problem;

  if (fab_param_is_whole (row->type) ? !fab_units_parse_whole (unit, text, &whole, &error)
                                     : !fab_units_parse_real (unit, text, &real, &error))
    return g_strdup_printf ("'%s': %s", row->key, error->message);
  problem = check_range (row, text, fab_param_is_whole (row->type) ? (double) whole : real);
  if (problem == NULL && fab_param_is_whole (row->type))
    *(gint64 *) field = whole;
  else if (problem == NULL)
    *(double *) field = real;
  return problem;
}

/* The row of a period's steps, or of its time, which only the clock limits. */
static FabParam
period_part (const FabParam *row, FabParamType type)
{
  FabParam part = *row;

  part.type = type;
  if (type == FAB_PARAM_TIME) {
    part.min = 1;
    part.max = 9e18;
  }
  return part;
}

/* A text that ends in a digit is a number of steps; any other has to be a time. */
static char *
parse_period (const FabParam *row, const char *text, FabPeriod *field)
{
  gboolean is_count = text[0] != '\0' && g_ascii_isdigit (text[strlen (text) - 1]);
  FabParam part = period_part (row, is_count ? FAB_PARAM_COUNT : FAB_PARAM_TIME);

  *field = (FabPeriod){ 0 };
  return parse_number (&part, text, is_count ? &field->n_steps : &field->time_ps);
}

static char *
parse_text (FabSchemaReader *self, const FabParam *row, const char *text, gpointer field)
{
  gunichar hidden = fab_unprintable (text, strcmp (row->key, "name") == 0 ? "" : "\n\t");

  if (text[0] == '\0' && row->fallback == NULL)
    return g_strdup_printf ("'%s' is empty", row->key);
  if (hidden != 0)
    return g_strdup_printf ("'%s' holds the invisible character U+%04X, which a terminal may interpret; "
                            "remove it",
                            row->key, hidden);
  *(const char **) field = text[0] == '\0' ? NULL : schema_reader_text (self, text);
  return NULL;
}

/* Reads one scalar row: numbers, PERIOD, POWER, BOOL, TEXT, CHOICE. FALSE and *message: what is wrong with `text`. */
static gboolean
schema_parse_scalar (FabSchemaReader *self, const FabParam *row, const char *text, gpointer field,
                     char **message)
{
  if (fab_param_is_number (row->type))
    *message = parse_number (row, text, field);
  else if (row->type == FAB_PARAM_PERIOD)
    *message = parse_period (row, text, field);
  else if (row->type == FAB_PARAM_POWER)
    *message = fab_schema_parse_power (row->key, text, field);
  else if (row->type == FAB_PARAM_BOOL)
    *message = fab_schema_parse_bool (row, text, field);
  else if (row->type == FAB_PARAM_CHOICE)
    *message = fab_schema_parse_choice (row, text, field);
  else
    *message = parse_text (self, row, text, field);
  return *message == NULL;
}

/* --- typed values --- */

static char *
wrong_type (const FabParam *row, const FabValue *value)
{
  return g_strdup_printf ("'%s' must be a %s, not a %s", row->key, fab_param_type_name (row->type),
                          fab_value_noun (value));
}

/* A whole number where any number may stand. */
static gboolean
real_of (const FabParam *row, const FabValue *value, double *real)
{
  FabUnit unit = fab_param_unit (row->type);

  *real = value->kind == FAB_VALUE_WHOLE ? (double) value->whole : value->real;
  return value->unit == unit
      || (value->unit == FAB_UNIT_COUNT && (unit == FAB_UNIT_FACTOR || unit == FAB_UNIT_FRACTION));
}

static char *
take_number (const FabParam *row, const FabValue *value, gpointer field)
{
  g_autofree char *text = NULL;
  gboolean is_whole = fab_param_is_whole (row->type);
  double real;
  char *problem;

  if ((value->kind != FAB_VALUE_WHOLE && value->kind != FAB_VALUE_REAL) || !real_of (row, value, &real)
      || (is_whole && value->kind != FAB_VALUE_WHOLE))
    return wrong_type (row, value);
  if (!isfinite (real))
    return g_strdup_printf ("'%s' is not a number", row->key);
  text = fab_value_write (value);
  if (row->type == FAB_PARAM_FRACTION && real > 1)
    return g_strdup_printf ("'%s' is %s: the upper limit is 100%%", row->key, text);
  problem = check_range (row, text, real);
  if (problem == NULL && is_whole)
    *(gint64 *) field = value->whole;
  else if (problem == NULL)
    *(double *) field = real;
  return problem;
}

static char *
take_period (const FabParam *row, const FabValue *value, FabPeriod *field)
{
  gboolean is_time = value->kind == FAB_VALUE_WHOLE && value->unit == FAB_UNIT_TIME;
  FabParam part = period_part (row, is_time ? FAB_PARAM_TIME : FAB_PARAM_COUNT);

  *field = (FabPeriod){ 0 };
  return take_number (&part, value, is_time ? &field->time_ps : &field->n_steps);
}

/* The same of a typed value. */
static gboolean
schema_take_value (FabSchemaReader *self, const FabParam *row, const FabValue *value, gpointer field,
                   char **message)
{
  FabValueKind wanted = row->type == FAB_PARAM_BOOL ? FAB_VALUE_FLAG : FAB_VALUE_TEXT;

  if (fab_param_is_number (row->type))
    *message = take_number (row, value, field);
  else if (row->type == FAB_PARAM_PERIOD)
    *message = take_period (row, value, field);
  else if (row->type == FAB_PARAM_POWER)
    *message = fab_schema_take_power (row->key, value, field);
  else if (row->type == FAB_PARAM_CHOICE && value->kind == FAB_VALUE_FLAG && fab_schema_takes_bool (row))
    *message = fab_schema_parse_choice (row, value->flag ? "yes" : "no", field);
  else if (value->kind != wanted)
    *message = wrong_type (row, value);
  else if (row->type == FAB_PARAM_BOOL)
    *(gboolean *) field = value->flag;
  else if (row->type == FAB_PARAM_CHOICE)
    *message = fab_schema_parse_choice (row, value->text, field);
  else
    *message = parse_text (self, row, value->text, field);
  return *message == NULL;
}

/* Every text that names a catalogue entry or an algorithm, checked in one walk.
 *
 * The walk follows the table: nested tables, lists, and the parameters of chosen models. The
 * names of a section are asked for once and kept in a set, so the cost is
 * O(fields + names). What came from a fallback is reported where its surroundings were written.
 */

#define N_SECTIONS (FAB_REFERS_FILES + 1)

typedef struct {
  FabSchemaReader *reader;
  FabSchemaNamesFn names_of;
  gpointer user;
  const char **names[N_SECTIONS]; /* NULL: not asked for yet */
  GHashTable *sets[N_SECTIONS];
} Walk;

static void walk (Walk *self, const FabParam *table, gconstpointer in, const FabMark *around);

static gboolean
is_known (Walk *self, FabRefers refers, const char *name)
{
  if (self->names[refers] == NULL) {
    self->names[refers] = refers == FAB_REFERS_ALGORITHM
                            ? fab_registry_names (self->reader->registry, FAB_MODEL_ALGORITHM)
                            : self->names_of (self->user, refers);
    self->sets[refers] = g_hash_table_new (g_str_hash, g_str_equal);
    for (guint i = 0; self->names[refers][i] != NULL; i++)
      g_hash_table_add (self->sets[refers], (gpointer) self->names[refers][i]);
  }
  return g_hash_table_contains (self->sets[refers], name);
}

static void
check_text (Walk *self, FabRefers refers, const char *name, const FabMark *mark)
{
  const char *section, *nearest;
  g_autofree char *said = NULL;

  if (name == NULL || is_known (self, refers, name))
    return;
  if (refers == FAB_REFERS_MODEL && self->reader->registry->model_file != NULL
      && g_str_has_suffix (name, ".json"))
    return; /* a file, and why it could not be read has been said */
  section = fab_refers_name (refers);
  nearest = fab_diagnostics_nearest (self->reader->diagnostics, name, self->names[refers]);
  said = nearest == NULL && self->reader->said != NULL ? self->reader->said (self->user, refers, name) : NULL;
  if (nearest != NULL)
    fab_diagnostics_add (self->reader->diagnostics, mark, "unknown %s '%s'; nearest is '%s'", section, name,
                         nearest);
  else
    fab_diagnostics_add (self->reader->diagnostics, mark,
                         "unknown %s '%s'%s%s; 'fabricast describe %s' lists them", section, name,
                         said != NULL ? "; names for it are " : "", said != NULL ? said : "",
                         fab_refers_section (refers));
}

static void
walk_row (Walk *self, const FabParam *row, gconstpointer field, const FabMark *mark)
{
  const FabModelChoice *choice = field;
  const FabParamList *list = field;

  if (row->type == FAB_PARAM_TEXT && row->refers != FAB_REFERS_NOTHING && row->refers != FAB_REFERS_FILE)
    check_text (self, row->refers, *(const char *const *) field, mark);
  if (row->type == FAB_PARAM_TABLE)
    walk (self, row->table, field, mark);
  if (row->type == FAB_PARAM_MODEL && choice->info != NULL && choice->params != NULL)
    walk (self, choice->info->params, choice->params, mark);
  for (guint i = 0; row->type == FAB_PARAM_LIST && i < list->n; i++)
    walk (self, row->table, (const char *) list->data + i * row->table_size, mark);
}

static void
walk (Walk *self, const FabParam *table, gconstpointer in, const FabMark *around)
{
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++) {
    gconstpointer field = fab_schema_field (in, row);
    const FabMark *mark = fab_schema_mark (self->reader, field);

    walk_row (self, row, field, mark != NULL ? mark : around);
  }
}

void
fab_schema_reader_set_said (FabSchemaReader *self, FabSchemaSaidFn said)
{
  self->said = said;
}

void
fab_schema_check_references (FabSchemaReader *self, const FabParam *table, gconstpointer in,
                             FabSchemaNamesFn names, gpointer user)
{
  Walk state = { .reader = self, .names_of = names, .user = user };

  walk (&state, table, in, NULL);
  for (guint i = 0; i < N_SECTIONS; i++) {
    g_free (state.names[i]);
    g_clear_pointer (&state.sets[i], g_hash_table_unref);
  }
}
