/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/config/value.h"

#include <math.h>
#include <string.h>

#define BYTES_PER_GBIT G_GINT64_CONSTANT (125000000)

static FabValue *
value_new (FabValueKind kind)
{
  FabValue *self = g_atomic_rc_box_new0 (FabValue);

  self->kind = kind;
  return self;
}

FabValue *
fab_value_flag (gboolean flag)
{
  FabValue *self = value_new (FAB_VALUE_FLAG);

  self->flag = flag;
  return self;
}

FabValue *
fab_value_whole (FabUnit unit, gint64 whole)
{
  FabValue *self = value_new (FAB_VALUE_WHOLE);

  g_assert (unit <= FAB_UNIT_RATE || unit == FAB_UNIT_COUNT);
  self->unit = unit;
  self->whole = whole;
  return self;
}

FabValue *
fab_value_count (gint64 count)
{
  return fab_value_whole (FAB_UNIT_COUNT, count);
}

FabValue *
fab_value_real (FabUnit unit, double real)
{
  FabValue *self = value_new (FAB_VALUE_REAL);

  g_assert (unit > FAB_UNIT_RATE && unit != FAB_UNIT_COUNT);
  self->unit = unit;
  self->real = real;
  return self;
}

static FabValue *
text_new (FabValueKind kind, const char *text)
{
  FabValue *self = text != NULL ? value_new (kind) : NULL;

  if (self != NULL)
    self->text = g_strdup (text);
  return self;
}

FabValue *
fab_value_text (const char *text)
{
  return text_new (FAB_VALUE_TEXT, text);
}

FabValue *
fab_value_written (const char *text)
{
  return text_new (FAB_VALUE_WRITTEN, text);
}

static void
free_item (gpointer value)
{
  fab_value_unref (value);
}

FabValue *
fab_value_list (void)
{
  FabValue *self = value_new (FAB_VALUE_LIST);

  self->values = g_ptr_array_new_with_free_func (free_item);
  return self;
}

FabValue *
fab_value_mapping (void)
{
  FabValue *self = value_new (FAB_VALUE_MAPPING);

  self->keys = g_ptr_array_new_with_free_func (g_free);
  self->values = g_ptr_array_new_with_free_func (free_item);
  return self;
}

void
fab_value_append (FabValue *list, FabValue *value)
{
  g_assert (list->kind == FAB_VALUE_LIST);
  g_ptr_array_add (list->values, value);
}

void
fab_value_put (FabValue *mapping, const char *key, FabValue *value)
{
  g_assert (mapping->kind == FAB_VALUE_MAPPING && fab_value_at (mapping, key) == NULL);
  g_ptr_array_add (mapping->keys, g_strdup (key));
  g_ptr_array_add (mapping->values, value);
}

const FabValue *
fab_value_at (const FabValue *mapping, const char *key)
{
  for (guint i = 0; mapping->kind == FAB_VALUE_MAPPING && i < mapping->keys->len; i++)
    if (strcmp (g_ptr_array_index (mapping->keys, i), key) == 0)
      return g_ptr_array_index (mapping->values, i);
  return NULL;
}

FabValue *
fab_value_ref (const FabValue *self)
{
  return self != NULL ? g_atomic_rc_box_acquire ((gpointer) self) : NULL;
}

static void
clear (gpointer data)
{
  FabValue *self = data;

  g_free (self->text);
  g_clear_pointer (&self->keys, g_ptr_array_unref);
  g_clear_pointer (&self->values, g_ptr_array_unref);
}

void
fab_value_unref (FabValue *self)
{
  if (self != NULL)
    g_atomic_rc_box_release_full (self, clear);
}

static gboolean
are_items_equal (const FabValue *a, const FabValue *b)
{
  if (a->values->len != b->values->len)
    return FALSE;
  for (guint i = 0; i < a->values->len; i++)
    if (!fab_value_equal (g_ptr_array_index (a->values, i), g_ptr_array_index (b->values, i))
        || (a->keys != NULL && strcmp (g_ptr_array_index (a->keys, i), g_ptr_array_index (b->keys, i)) != 0))
      return FALSE;
  return TRUE;
}

gboolean
fab_value_equal (const FabValue *a, const FabValue *b)
{
  if (a == b || a == NULL || b == NULL)
    return a == b;
  if (a->kind != b->kind || a->unit != b->unit)
    return FALSE;
  if (a->values != NULL)
    return are_items_equal (a, b);
  return a->flag == b->flag && a->whole == b->whole && memcmp (&a->real, &b->real, sizeof a->real) == 0
      && g_strcmp0 (a->text, b->text) == 0;
}

/* --- for people --- */

static void
append_text (GString *out, const char *text)
{
  static const char *const nulls[] = { "null", "Null", "NULL", NULL };
  gboolean is_plain = strspn (text, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_./+%-") == strlen (text)
                   && *text != '\0' && *text != '-' && !g_strv_contains (nulls, text);

  if (is_plain) {
    g_string_append (out, text);
    return;
  }
  g_string_append_c (out, '\'');
  for (; *text != '\0'; text++) {
    if (*text == '\'')
      g_string_append_c (out, '\'');
    g_string_append_c (out, *text);
  }
  g_string_append_c (out, '\'');
}

/* Rates in bits, as ports are called. */
static void
append_whole (GString *out, FabUnit unit, gint64 whole)
{
  gboolean is_negative = whole < 0 && unit != FAB_UNIT_COUNT; /* which no unit can be: for a message */
  g_autofree char *text = NULL;

  if (unit == FAB_UNIT_RATE && whole > 0 && whole % BYTES_PER_GBIT == 0) {
    g_string_append_printf (out, "%" G_GINT64_FORMAT "Gb/s", whole / BYTES_PER_GBIT);
    return;
  }
  text = fab_units_write_whole (unit, is_negative ? -whole : whole);
  g_string_append_printf (out, "%s%s", is_negative ? "-" : "", text);
}

static void append_value (GString *out, const FabValue *self);

static void
append_items (GString *out, const FabValue *self)
{
  g_string_append_c (out, self->keys != NULL ? '{' : '[');
  for (guint i = 0; i < self->values->len; i++) {
    if (i > 0)
      g_string_append (out, ", ");
    if (self->keys != NULL)
      g_string_append_printf (out, "%s: ", (const char *) g_ptr_array_index (self->keys, i));
    append_value (out, g_ptr_array_index (self->values, i));
  }
  g_string_append_c (out, self->keys != NULL ? '}' : ']');
}

static void
append_value (GString *out, const FabValue *self)
{
  g_autofree char *real = NULL;

  if (self == NULL)
    return;
  switch (self->kind) {
  case FAB_VALUE_FLAG: g_string_append (out, self->flag ? "true" : "false"); break;
  case FAB_VALUE_WHOLE: append_whole (out, self->unit, self->whole); break;
  case FAB_VALUE_REAL:
    real = isfinite (self->real) ? fab_units_write_real (self->unit, self->real)
                                 : g_strdup (isnan (self->real) ? "nan" : "inf"); /* for a message */
    g_string_append (out, real);
    break;
  case FAB_VALUE_TEXT:
  case FAB_VALUE_WRITTEN: append_text (out, self->text); break;
  case FAB_VALUE_LIST:
  case FAB_VALUE_MAPPING:
  default: append_items (out, self); break;
  }
}

char *
fab_value_write (const FabValue *self)
{
  GString *out = g_string_new (NULL);

  append_value (out, self);
  return g_string_free (out, FALSE);
}

const char *
fab_value_noun (const FabValue *self)
{
  static const char *const units[] = {
    [FAB_UNIT_TIME] = "time",   [FAB_UNIT_BYTES] = "size",        [FAB_UNIT_LENGTH] = "length",
    [FAB_UNIT_RATE] = "rate",   [FAB_UNIT_FLOPS] = "FLOPs",       [FAB_UNIT_FLOPS_RATE] = "FLOP rate",
    [FAB_UNIT_COUNT] = "count", [FAB_UNIT_FRACTION] = "fraction", [FAB_UNIT_FACTOR] = "number",
  };

  switch (self->kind) {
  case FAB_VALUE_FLAG: return "yes or no";
  case FAB_VALUE_WHOLE:
  case FAB_VALUE_REAL: return units[self->unit];
  case FAB_VALUE_TEXT:
  case FAB_VALUE_WRITTEN: return "text";
  case FAB_VALUE_LIST: return "list";
  case FAB_VALUE_MAPPING:
  default: return "mapping";
  }
}
