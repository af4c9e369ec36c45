/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/job/imported.h"

#include <string.h>

static void
key_free (gpointer data)
{
  FabJobKey *key = data;

  g_free (key->key);
  g_free (key->value);
  g_free (key);
}

static FabJobKey *
find_key (const FabImportedJob *self, const char *name)
{
  for (guint i = 0; i < self->keys->len; i++) {
    FabJobKey *key = g_ptr_array_index (self->keys, i);

    if (strcmp (key->key, name) == 0)
      return key;
  }
  return NULL;
}

const char *
fab_imported_job_get (const FabImportedJob *self, const char *key)
{
  const FabJobKey *found = find_key (self, key);

  return found ? found->value : NULL;
}

static void
note_read (FabImportedJob *self, const FabJobSettings *settings, const FabJobSetting *from, const char *key,
           const char *value)
{
  gboolean is_shape = g_str_has_prefix (key, "shape.");
  g_autofree char *text = g_strdup_printf ("%s:%u: %s: %s is %s%s: %s", settings->file->name, from->line,
                                           from->key, from->value && from->value[0] ? from->value : "given",
                                           is_shape ? "" : "job.", key, value);

  fab_file_notes_add (self->notes, FAB_NOTE_READ, settings->file->name, from->line, text);
}

void
fab_imported_job_set (FabImportedJob *self, const FabJobSettings *settings, const FabJobSetting *from,
                      const char *key, const char *value)
{
  FabJobKey *known = find_key (self, key);

  if (value == NULL) {
    if (known != NULL)
      g_ptr_array_remove (self->keys, known);
    return;
  }
  if (from != NULL)
    note_read (self, settings, from, key, value);
  if (known == NULL) {
    known = g_new0 (FabJobKey, 1);
    known->key = g_strdup (key);
    g_ptr_array_add (self->keys, known);
  }
  g_free (known->value);
  known->value = g_strdup (value);
}

void
fab_imported_job_infer (FabImportedJob *self, const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_autofree char *text = g_strdup_vprintf (format, list);
  va_end (list);
  fab_file_notes_add (self->notes, FAB_NOTE_INFERRED, NULL, 0, text);
}

void
fab_imported_job_effect (FabImportedJob *self, const FabJobSettings *settings, const FabJobSetting *from,
                         const char *what)
{
  g_ptr_array_add (self->effects, g_strdup_printf ("%s:%u: %s%s%s: %s", settings->file->name, from->line,
                                                   from->key, from->value && from->value[0] ? " " : "",
                                                   from->value ? from->value : "", what));
}

void
fab_imported_job_init (FabImportedJob *self, const FabImportJobRequest *request)
{
  *self = (FabImportedJob){ .request = request,
                            .keys = g_ptr_array_new_with_free_func (key_free),
                            .notes = fab_file_notes_new (),
                            .effects = g_ptr_array_new_with_free_func (g_free),
                            .unread = g_ptr_array_new_with_free_func (g_free),
                            .hidden = request->hidden };
}

void
fab_imported_job_clear (FabImportedJob *self)
{
  g_ptr_array_unref (self->keys);
  g_ptr_array_unref (self->notes);
  g_ptr_array_unref (self->effects);
  g_ptr_array_unref (self->unread);
  g_free (self->model_said);
}
