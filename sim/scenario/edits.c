/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/edits.h"

struct _FabEdits {
  GPtrArray *edits; /* FabEdit */
  GPtrArray *texts; /* char, and NULL at the end */
};

static void
edit_free (gpointer data)
{
  FabEdit *self = data;

  g_free (self->key);
  fab_value_unref (self->value);
  g_free (self);
}

FabEdits *
fab_edits_new (void)
{
  FabEdits *self = g_new0 (FabEdits, 1);

  self->edits = g_ptr_array_new_with_free_func (edit_free);
  self->texts = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self->texts, NULL);
  return self;
}

FabEdits *
fab_edits_of (const char *const *assignments)
{
  FabEdits *self = fab_edits_new ();

  for (guint i = 0; assignments != NULL && assignments[i] != NULL; i++)
    fab_edits_assign (self, assignments[i]);
  return self;
}

void
fab_edits_free (FabEdits *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->edits);
  g_ptr_array_unref (self->texts);
  g_free (self);
}

/* Takes all three. */
static void
add (FabEdits *self, char *key, FabValue *value, char *text)
{
  FabEdit *edit = g_new (FabEdit, 1);

  *edit = (FabEdit){ text, key, value };
  g_ptr_array_add (self->edits, edit);
  g_ptr_array_index (self->texts, self->texts->len - 1) = text;
  g_ptr_array_add (self->texts, NULL);
}

void
fab_edits_set (FabEdits *self, const char *key, FabValue *value)
{
  g_autofree char *written = fab_value_write (value);

  add (self, g_strdup (key), value, g_strconcat (key, "=", written, NULL));
}

void
fab_edits_assign (FabEdits *self, const char *assignment)
{
  add (self, NULL, NULL, g_strdup (assignment));
}

void
fab_edits_append (FabEdits *self, const FabEdits *more)
{
  for (guint i = 0; i < fab_edits_count (more); i++) {
    const FabEdit *edit = fab_edits_at (more, i);

    add (self, g_strdup (edit->key), fab_value_ref (edit->value), g_strdup (edit->text));
  }
}

guint
fab_edits_count (const FabEdits *self)
{
  return self != NULL ? self->edits->len : 0;
}

const FabEdit *
fab_edits_at (const FabEdits *self, guint index)
{
  return g_ptr_array_index (self->edits, index);
}

const char *const *
fab_edits_texts (const FabEdits *self)
{
  static const char *const none[] = { NULL };

  return self != NULL ? (const char *const *) self->texts->pdata : none;
}
