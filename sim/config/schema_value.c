/* SPDX-License-Identifier: Apache-2.0 */
/* schema_value.c - filled structs as typed values: one key, what was written, whether two are equal.
 *
 * A key is walked down the tables and the struct at once. Linear in the rows on the way and in what is copied.
 */
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/config/schema_reader.h"

/* --- values --- */

static FabValue *table_value (const FabParam *table, gconstpointer in);

static FabValue *schema_field_value (const FabParam *row, gconstpointer field);

static FabValue *
list_value (const FabParam *row, const FabParamList *list)
{
  FabValue *value = fab_value_list ();

  for (guint i = 0; i < list->n; i++)
    fab_value_append (value, table_value (row->table, (const char *) list->data + i * row->table_size));
  return value;
}

static FabValue *
model_value (const FabModelChoice *choice)
{
  FabValue *value;

  if (choice->info == NULL || choice->params == NULL)
    return choice->info != NULL ? fab_value_text (choice->info->name) : NULL;
  value = fab_value_mapping ();
  fab_value_put (value, "kind", fab_value_text (choice->info->name));
  for (const FabParam *row = choice->info->params; row->key != NULL; row++) {
    FabValue *one = schema_field_value (row, fab_schema_field (choice->params, row));

    if (one != NULL)
      fab_value_put (value, row->key, one);
  }
  return value;
}

static FabValue *
period_value (const FabPeriod *period)
{
  return period->time_ps > 0 ? fab_value_whole (FAB_UNIT_TIME, period->time_ps)
                             : fab_value_count (period->n_steps);
}

static FabValue *
power_value (const FabPower *power)
{
  g_autofree char *text = power->watts > 0 ? g_strdup_printf ("%" G_GINT64_FORMAT "W", power->watts) : NULL;

  return text != NULL ? fab_value_text (text) : fab_value_real (FAB_UNIT_FRACTION, power->fraction);
}

/* What a field of a filled struct holds; NULL: an absent text or model. (transfer full) */
static FabValue *
schema_field_value (const FabParam *row, gconstpointer field)
{
  if (row->type == FAB_PARAM_BOOL)
    return fab_value_flag (*(const gboolean *) field);
  if (row->type == FAB_PARAM_TEXT)
    return fab_value_text (*(const char *const *) field);
  if (row->type == FAB_PARAM_CHOICE)
    return fab_value_text (row->choices[*(const int *) field]);
  if (row->type == FAB_PARAM_TABLE)
    return table_value (row->table, field);
  if (row->type == FAB_PARAM_PERIOD)
    return period_value (field);
  if (row->type == FAB_PARAM_POWER)
    return power_value (field);
  if (row->type == FAB_PARAM_LIST)
    return list_value (row, field);
  if (row->type == FAB_PARAM_MODEL)
    return model_value (field);
  if (fab_param_is_whole (row->type))
    return fab_value_whole (fab_param_unit (row->type), *(const gint64 *) field);
  return fab_value_real (fab_param_unit (row->type), *(const double *) field);
}

static FabValue *
table_value (const FabParam *table, gconstpointer in)
{
  FabValue *value = fab_value_mapping ();

  for (const FabParam *row = table; row != NULL && row->key != NULL; row++) {
    FabValue *one = schema_field_value (row, fab_schema_field (in, row));

    if (one != NULL && (row->type != FAB_PARAM_LIST || one->values->len > 0))
      fab_value_put (value, row->key, one);
    else
      fab_value_unref (one);
  }
  return value;
}

/* --- what was written --- */

FabValue *
fab_schema_written (const FabSchemaReader *self, const FabParam *table, gconstpointer in,
                    const char *const *but)
{
  FabValue *written = fab_value_mapping ();

  for (const FabParam *row = table; row != NULL && row->key != NULL; row++) {
    gconstpointer field = fab_schema_field (in, row);
    g_autoptr (FabValue) value = NULL;

    if (but != NULL && g_strv_contains (but, row->key))
      continue;
    if (row->type == FAB_PARAM_TABLE)
      value = fab_schema_written (self, row->table, field, NULL);
    else if (fab_schema_mark (self, field) != NULL)
      value = schema_field_value (row, field);
    if (value != NULL && (value->values == NULL || value->values->len > 0))
      fab_value_put (written, row->key, g_steal_pointer (&value));
  }
  return written;
}

/* --- equality --- */

static gboolean
are_lists_equal (const FabParam *row, const FabParamList *a, const FabParamList *b)
{
  for (guint i = 0; a->n == b->n && i < a->n; i++)
    if (!fab_schema_equal (row->table, (const char *) a->data + i * row->table_size,
                           (const char *) b->data + i * row->table_size))
      return FALSE;
  return a->n == b->n;
}

static gboolean
are_models_equal (const FabModelChoice *a, const FabModelChoice *b)
{
  return a->info == b->info
      && (a->params == NULL || fab_schema_equal (a->info->params, a->params, b->params));
}

static gboolean
are_fields_equal (const FabParam *row, gconstpointer a, gconstpointer b)
{
  if (row->type == FAB_PARAM_BOOL)
    return !*(const gboolean *) a == !*(const gboolean *) b;
  if (row->type == FAB_PARAM_CHOICE)
    return *(const int *) a == *(const int *) b;
  if (row->type == FAB_PARAM_TEXT)
    return g_strcmp0 (*(const char *const *) a, *(const char *const *) b) == 0;
  if (row->type == FAB_PARAM_TABLE)
    return fab_schema_equal (row->table, a, b);
  if (row->type == FAB_PARAM_LIST)
    return are_lists_equal (row, a, b);
  if (row->type == FAB_PARAM_MODEL)
    return are_models_equal (a, b);
  if (row->type == FAB_PARAM_PERIOD)
    return memcmp (a, b, sizeof (FabPeriod)) == 0;
  if (row->type == FAB_PARAM_POWER)
    return memcmp (a, b, sizeof (FabPower)) == 0;
  return memcmp (a, b, sizeof (gint64)) == 0; /* gint64 and double alike */
}

gboolean
fab_schema_equal (const FabParam *table, gconstpointer a, gconstpointer b)
{
  for (const FabParam *row = table; row != NULL && row->key != NULL; row++)
    if (!are_fields_equal (row, fab_schema_field (a, row), fab_schema_field (b, row)))
      return FALSE;
  return TRUE;
}

/* --- a key --- */

/* How far the walk has come: a struct with its table, or a field with its row. */
typedef struct {
  const FabParam *table; /* keys come next; NULL: none do */
  gconstpointer in;
  const FabParam *row; /* NULL at the root */
  gconstpointer field;
  const FabModelChoice *choice; /* whose keys these are, and `kind` */
} Place;

static gboolean
fail_key (const Place *at, const char *key, GError **error)
{
  g_autoptr (GPtrArray) known = g_ptr_array_new ();
  const char *nearest;

  for (const FabParam *row = at->table; row != NULL && row->key != NULL; row++)
    g_ptr_array_add (known, (gpointer) row->key);
  if (at->choice != NULL)
    g_ptr_array_add (known, (gpointer) "kind");
  g_ptr_array_add (known, NULL);
  nearest = fab_nearest (key, (const char *const *) known->pdata);
  if (known->len == 1)
    return fab_throw (error, FAB_ERROR_INPUT, "unknown key '%s': '%s' has no keys", key,
                      at->row != NULL ? at->row->key : "");
  g_autofree char *joined = g_strjoinv (", ", (char **) known->pdata);
  if (nearest != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "unknown key '%s'; nearest is '%s'; known here: %s", key,
                      nearest, joined);
  return fab_throw (error, FAB_ERROR_INPUT, "unknown key '%s'; known here: %s", key, joined);
}

static const char *
name_of (const FabParam *table, gconstpointer in)
{
  const FabParam *row = fab_schema_find_row (table, "name");

  return row != NULL && row->type == FAB_PARAM_TEXT ? *(const char *const *) fab_schema_field (in, row)
                                                    : NULL;
}

/* The item of a list by its number or its name. */
static gboolean
enter_item (Place *at, const char *key, GError **error)
{
  const FabParamList *list = at->field;
  guint64 index = G_MAXUINT64;

  if (!g_ascii_string_to_unsigned (key, 10, 0, G_MAXUINT32, &index, NULL))
    for (guint i = 0; i < list->n && index == G_MAXUINT64; i++)
      if (g_strcmp0 (name_of (at->row->table, (const char *) list->data + i * at->row->table_size), key) == 0)
        index = i;
  if (index >= list->n)
    return fab_throw (error, FAB_ERROR_INPUT, "'%s' is not an item of '%s', which has %u", key, at->row->key,
                      list->n);
  at->table = at->row->table;
  at->in = (const char *) list->data + index * at->row->table_size;
  at->field = NULL;
  return TRUE;
}

static gboolean
enter (Place *at, const char *key, GError **error)
{
  const FabParam *row;

  if (at->field != NULL && at->row->type == FAB_PARAM_LIST)
    return enter_item (at, key, error);
  row = fab_schema_find_row (at->table, key);
  if (row == NULL)
    return fail_key (at, key, error);
  *at = (Place){ .row = row, .field = fab_schema_field (at->in, row) };
  if (row->type == FAB_PARAM_TABLE) {
    at->table = row->table;
    at->in = at->field;
  } else if (row->type == FAB_PARAM_MODEL) {
    at->choice = at->field;
    at->table = at->choice->info != NULL ? at->choice->info->params : NULL;
    at->in = at->choice->params;
  }
  return TRUE;
}

gboolean
fab_schema_get (const FabParam *table, gconstpointer in, const char *key, FabValue **value, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (key, ".", -1);
  Place at = { .table = table, .in = in };

  *value = NULL;
  for (guint i = 0; parts[i] != NULL; i++) {
    if (at.choice != NULL && strcmp (parts[i], "kind") == 0 && parts[i + 1] == NULL) {
      *value = fab_value_text (at.choice->info != NULL ? at.choice->info->name : NULL);
      return TRUE;
    }
    if (!enter (&at, parts[i], error))
      return FALSE;
  }
  if (at.row == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "a key is missing");
  *value = at.field != NULL ? schema_field_value (at.row, at.field) : table_value (at.table, at.in);
  return TRUE;
}

/* --- a key of a tree --- */

void
fab_schema_resolve_path (FabSchemaReader *self, const FabYamlNode *node, const char **path)
{
  g_autofree char *beside = *path != NULL ? fab_yaml_source_beside (&node->mark, *path) : NULL;
  g_autofree char *full = beside != NULL ? g_canonicalize_filename (beside, NULL) : NULL;

  if (full == NULL)
    return;
  gsize size = strlen (full) + 1;
  *path = memcpy (fab_schema_reader_alloc (self, size), full, size);
}

/* The last item of "+" is the one that was added. */
static const FabYamlNode *
item_of (const FabYamlNode *list, const char *key)
{
  guint64 index;

  if (strcmp (key, "+") == 0)
    return list->n > 0 ? list->values[list->n - 1] : NULL;
  if (g_ascii_string_to_unsigned (key, 10, 0, G_MAXUINT32, &index, NULL))
    return index < list->n ? list->values[index] : NULL;
  return fab_yaml_named_item (list, key);
}

/* Reads one row into memory that nobody looks at. */
static gboolean
try_row (FabSchemaReader *self, const FabYamlNode *node, const FabParam *row)
{
  guint n_before = fab_diagnostics_count (self->diagnostics);
  gsize size = row->offset + MAX (row->table_size, sizeof (FabModelChoice));

  if (node == NULL || row->refers == FAB_REFERS_FILES
      || (node->kind == FAB_YAML_SCALAR && node->text == NULL))
    return TRUE;
  fab_schema_read_row (self, node, row, fab_schema_reader_alloc (self, size));
  return fab_diagnostics_count (self->diagnostics) == n_before;
}

static const FabMark *
mark_of_key (const FabYamlNode *mapping, const char *key)
{
  for (guint i = 0; i < mapping->n; i++)
    if (strcmp (mapping->keys[i]->text, key) == 0)
      return &mapping->keys[i]->mark;
  return &mapping->mark;
}

gboolean
fab_schema_check_key (FabSchemaReader *self, const FabParam *table, const FabYamlNode *root, const char *key)
{
  g_auto (GStrv) parts = g_strsplit (key, ".", -1);
  const FabYamlNode *node = root;
  const FabParam *row = NULL;

  for (guint i = 0; parts[i] != NULL && node != NULL; i++) {
    const FabYamlNode *mapping = node;
    gboolean is_model = row != NULL && row->type == FAB_PARAM_MODEL;

    if (is_model && strcmp (parts[i], "kind") == 0)
      return fab_schema_named_model (self, node, row) != NULL;
    row = fab_schema_find_row (table, parts[i]);
    if (row == NULL) {
      fab_schema_report_unknown (self, table, is_model ? "kind" : NULL, parts[i],
                                 mark_of_key (mapping, parts[i]));
      return FALSE;
    }
    node = fab_yaml_get (mapping, parts[i]);
    if (row->type == FAB_PARAM_LIST && node != NULL && parts[i + 1] != NULL) {
      node = node->kind == FAB_YAML_SEQUENCE ? item_of (node, parts[++i]) : NULL;
      if (parts[i + 1] == NULL && node != NULL) {
        FabYamlNode *values[] = { (FabYamlNode *) node };

        return try_row (
            self, &(FabYamlNode){ .kind = FAB_YAML_SEQUENCE, .mark = node->mark, .n = 1, .values = values },
            row);
      }
      table = row->table;
    } else if (row->type == FAB_PARAM_MODEL && node != NULL && parts[i + 1] != NULL) {
      const FabModelInfo *info = strcmp (parts[i + 1], "kind") == 0
                                   ? NULL
                                   : fab_schema_named_model (self, node, row);

      if (info == NULL && strcmp (parts[i + 1], "kind") != 0)
        return FALSE;
      table = info != NULL ? info->params : NULL;
    } else if (row->type == FAB_PARAM_TABLE) {
      table = row->table;
    } else {
      break; /* what stands below a value is told by reading it */
    }
  }
  return row == NULL || try_row (self, node, row);
}
