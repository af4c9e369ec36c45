/* SPDX-License-Identifier: Apache-2.0 */
/* memory_words.c - advice on memory as sentences. */
#include <string.h>

#include "sim/base/shell.h"
#include "sim/study/memory_advice.h"

char *
fab_memory_fit_words (const FabMemoryFit *self)
{
  const char *const *texts = fab_edits_texts (self->edits);
  GString *words = g_string_new (NULL);

  for (guint i = 0; texts[i] != NULL; i++) {
    g_autofree char *quoted = fab_shell_word (texts[i]);

    g_string_append_printf (words, "%s%s", i > 0 ? " " : "", quoted);
  }
  return g_string_free (words, FALSE);
}

static void
append_fit (GString *text, const FabMemoryAdvice *self, const FabMemoryFit *fit)
{
  g_autofree char *words = fab_memory_fit_words (fit);
  g_autofree char *bytes = fab_verdict_gigabytes (fit->bytes, self->device_bytes);

  g_string_append_printf (text, "%s (%s)", words, bytes);
}

static gint
larger_part_first (gconstpointer a, gconstpointer b)
{
  FabBytes x = ((const FabMemoryPart *) a)->bytes, y = ((const FabMemoryPart *) b)->bytes;

  return (x < y) - (x > y);
}

static void
append_parts (GString *text, const FabMemoryFit *fit)
{
  g_autoptr (GArray) parts = g_array_copy (fit->parts);

  g_array_sort (parts, larger_part_first);
  for (guint i = 0; i < parts->len; i++) {
    const FabMemoryPart *part = &g_array_index (parts, FabMemoryPart, i);
    g_autofree char *bytes = fab_verdict_gigabytes (part->bytes, 0);

    g_string_append_printf (text, "%s%s %s", i > 0 ? ", " : "", part->part, bytes);
  }
}

/* Each note once. */
static void
append_notes (GString *text, const FabMemoryAdvice *self)
{
  g_autoptr (GHashTable) said = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i <= self->fits->len; i++) {
    const FabMemoryFit *fit = i == self->fits->len ? self->closest : g_ptr_array_index (self->fits, i);

    if (fit != NULL && fit->note != NULL && g_hash_table_add (said, (gpointer) fit->note))
      g_string_append_printf (text, " %s", fit->note);
  }
}

char *
fab_memory_advice_text (const FabMemoryAdvice *self)
{
  if (self->fits->len == 0 && self->closest == NULL)
    return NULL;
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < self->fits->len; i++) {
    g_string_append (text, i == 0 ? "It fits with " : ", or with ");
    append_fit (text, self, g_ptr_array_index (self->fits, i));
  }
  if (self->closest != NULL) {
    g_string_append_printf (text, "None of %u changed jobs that were tried fits. The closest is ",
                            self->n_built);
    append_fit (text, self, self->closest);
    g_string_append (text, ": ");
    append_parts (text, self->closest);
  }
  g_string_append_c (text, '.');
  append_notes (text, self);
  return g_string_free (text, FALSE);
}
