/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/grid.h"

#include <string.h>

#include "sim/base/error.h"

static const FabGridAxis *
axis_of (const FabGrid *self, guint axis)
{
  return g_ptr_array_index (self->axes, axis);
}

static const FabAxis *
key_of (const FabGridAxis *self, guint key)
{
  return g_ptr_array_index (self->keys, key);
}

static void
grid_axis_free (gpointer data)
{
  FabGridAxis *self = data;

  g_ptr_array_unref (self->keys);
  g_free (self);
}

void
fab_grid_free (FabGrid *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->axes);
  g_free (self);
}

/* --- reading --- */

static void
free_axis (gpointer axis)
{
  fab_axis_free (axis);
}

static gboolean
has_key (const FabGrid *self, const char *key)
{
  for (guint a = 0; a < self->axes->len; a++)
    for (guint k = 0; k < axis_of (self, a)->keys->len; k++)
      if (strcmp (key_of (axis_of (self, a), k)->key, key) == 0)
        return TRUE;
  return FALSE;
}

static FabGridAxis *
add_axis (FabGrid *self)
{
  FabGridAxis *axis = g_new0 (FabGridAxis, 1);

  axis->keys = g_ptr_array_new_with_free_func (free_axis);
  g_ptr_array_add (self->axes, axis);
  return axis;
}

static gboolean
add_key (FabGrid *self, FabGridAxis *axis, const char *text, GError **error)
{
  g_autoptr (FabAxis) key = fab_axis_parse (text, error);

  if (key == NULL)
    return FALSE;
  if (has_key (self, key->key))
    return fab_throw (error, FAB_ERROR_INPUT, "%s varies twice; one list of values is enough", key->key);
  if (axis->keys->len > 0 && key->values->len != axis->n_items)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s has %u values and %s has %u; keys that move together have as many",
                      key_of (axis, 0)->key, axis->n_items, key->key, key->values->len);
  axis->n_items = key->values->len;
  g_ptr_array_add (axis->keys, g_steal_pointer (&key));
  return TRUE;
}

/* Returns the end of the first "KEY=VALUES": a blank outside brackets and quotes that does not follow a comma. */
static const char *
end_of_key (const char *text)
{
  guint depth = 0;
  char quote = 0, before = 0;

  for (; *text != '\0'; text++) {
    if (quote != 0)
      quote = *text == quote ? 0 : quote;
    else if (*text == '"' || *text == '\'')
      quote = *text;
    else if (*text == '[' || *text == '{')
      depth++;
    else if ((*text == ']' || *text == '}') && depth > 0)
      depth--;
    else if (*text == ' ' && depth == 0 && before != ',')
      break;
    before = *text == ' ' ? before : *text;
  }
  return text;
}

static gboolean
add_zip (FabGrid *self, const char *text, GError **error)
{
  FabGridAxis *axis = add_axis (self);
  const char *at = text + strspn (text, " ");

  while (*at != '\0') {
    const char *end = end_of_key (at);
    g_autofree char *key = g_strndup (at, (gsize) (end - at));

    if (!add_key (self, axis, key, error))
      return FALSE;
    at = end + strspn (end, " ");
  }
  return axis->keys->len >= 2
      || fab_throw (error, FAB_ERROR_INPUT,
                    "'%s' is no \"KEY=VALUES KEY2=VALUES2\": at least two keys move together", text);
}

static gboolean
count_points (FabGrid *self, GError **error)
{
  self->n_points = 1;
  for (guint a = 0; a < self->axes->len; a++) {
    self->n_points *= axis_of (self, a)->n_items;
    if (self->n_points > FAB_GRID_MOST_POINTS)
      return fab_throw (error, FAB_ERROR_INPUT, "these are more than %" G_GINT64_FORMAT " points",
                        FAB_GRID_MOST_POINTS);
  }
  return TRUE;
}

FabGrid *
fab_grid_new (const char *const *vary, const char *const *zip, GError **error)
{
  g_autoptr (FabGrid) self = g_new0 (FabGrid, 1);

  self->axes = g_ptr_array_new_with_free_func (grid_axis_free);
  for (guint i = 0; vary != NULL && vary[i] != NULL; i++)
    if (!add_key (self, add_axis (self), vary[i], error))
      return NULL;
  for (guint i = 0; zip != NULL && zip[i] != NULL; i++)
    if (!add_zip (self, zip[i], error))
      return NULL;
  if (self->axes->len == 0) {
    fab_throw (error, FAB_ERROR_INPUT, "--vary is missing: what may vary, such as cluster.nodes=1,2,4");
    return NULL;
  }
  return count_points (self, error) ? g_steal_pointer (&self) : NULL;
}

/* --- points --- */

guint
fab_grid_item (const FabGrid *self, gint64 point, guint axis)
{
  for (guint a = self->axes->len - 1; a > axis; a--)
    point /= axis_of (self, a)->n_items;
  return (guint) (point % axis_of (self, axis)->n_items);
}

static const char *
value_of (const FabGridAxis *axis, guint key, guint item)
{
  return g_ptr_array_index (key_of (axis, key)->values, item);
}

FabEdits *
fab_grid_edits (const FabGrid *self, gint64 point)
{
  FabEdits *edits = fab_edits_new ();

  for (guint a = 0; a < self->axes->len; a++) {
    const FabGridAxis *axis = axis_of (self, a);

    for (guint k = 0; k < axis->keys->len; k++) {
      g_autofree char *assignment = g_strconcat (key_of (axis, k)->key, "=",
                                                 value_of (axis, k, fab_grid_item (self, point, a)), NULL);

      fab_edits_assign (edits, assignment);
    }
  }
  return edits;
}

char *
fab_grid_axis_key (const FabGrid *self, guint axis)
{
  const FabGridAxis *one = axis_of (self, axis);
  GString *text = g_string_new (key_of (one, 0)->key);

  for (guint k = 1; k < one->keys->len; k++)
    g_string_append_printf (text, " & %s", key_of (one, k)->key);
  return g_string_free (text, FALSE);
}

char *
fab_grid_axis_value (const FabGrid *self, guint axis, guint item)
{
  const FabGridAxis *one = axis_of (self, axis);
  GString *text = g_string_new (value_of (one, 0, item));

  for (guint k = 1; k < one->keys->len; k++)
    g_string_append_printf (text, " & %s", value_of (one, k, item));
  return g_string_free (text, FALSE);
}
