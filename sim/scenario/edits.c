/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/edits.h"

struct _FabEdits {
  GPtrArray *edits; /* FabEdit */
  GPtrArray *texts; /* char, and NULL at the end */
  guint n_groups;
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

/* Takes the texts and the value. */
static void
add (FabEdits *self, FabEdit edit)
{
  edit.group = self->n_groups;
  g_ptr_array_add (self->edits, g_memdup2 (&edit, sizeof edit));
  g_ptr_array_index (self->texts, self->texts->len - 1) = (gpointer) edit.text;
  g_ptr_array_add (self->texts, NULL);
}

static void
add_value (FabEdits *self, const char *key, FabValue *value, gboolean is_asked)
{
  g_autofree char *written = fab_value_write (value);

  add (self, (FabEdit){ .text = g_strconcat (key, "=", written, NULL),
                        .key = g_strdup (key),
                        .value = value,
                        .is_asked = is_asked });
}

void
fab_edits_set (FabEdits *self, const char *key, FabValue *value)
{
  add_value (self, key, value, FALSE);
}

void
fab_edits_ask (FabEdits *self, const char *key, FabValue *value)
{
  add_value (self, key, value, TRUE);
}

void
fab_edits_assign (FabEdits *self, const char *assignment)
{
  add (self, (FabEdit){ .text = g_strdup (assignment), .origin = "--set", .is_asked = TRUE });
}

void
fab_edits_vary (FabEdits *self, const char *key, const char *value)
{
  add (self, (FabEdit){ .text = g_strconcat (key, "=", value, NULL), .origin = "--vary", .is_asked = TRUE });
}

void
fab_edits_append (FabEdits *self, const FabEdits *more)
{
  guint first = ++self->n_groups;

  for (guint i = 0; i < fab_edits_count (more); i++) {
    const FabEdit *edit = fab_edits_at (more, i);

    self->n_groups = first + edit->group;
    add (self, (FabEdit){ .text = g_strdup (edit->text),
                          .origin = edit->origin,
                          .key = g_strdup (edit->key),
                          .value = fab_value_ref (edit->value),
                          .is_asked = edit->is_asked });
  }
  self->n_groups++;
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
