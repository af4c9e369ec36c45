/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/text/xml.h"

#include <string.h>

enum { MAX_DEPTH = 100, MAX_ELEMENTS = 100000, NO_FLAGS = 0 };

typedef struct {
  const FabFileText *file;
  FabXml *root, *open;
  guint depth, n_elements;
} Parser;

static void
start_element (GMarkupParseContext *context, const char *name, const char **keys, const char **values,
               gpointer user_data, GError **error)
{
  Parser *parser = user_data;
  FabXml *element;
  gint line, column;

  /* GMarkup is behind the tag here, and counts a line end that follows as read: its first column. */
  g_markup_parse_context_get_position (context, &line, &column);
  line -= column == 1;
  if (++parser->depth > MAX_DEPTH || ++parser->n_elements > MAX_ELEMENTS) {
    fab_file_text_fail (parser->file, (guint) line, error,
                        "the XML has more than %d elements, or is nested deeper than %d", MAX_ELEMENTS,
                        MAX_DEPTH);
    return;
  }
  if (parser->open == NULL && parser->root != NULL) { /* GMarkup allows it */
    fab_file_text_fail (
        parser->file, (guint) line, error,
        "the XML is not well-formed: <%s> stands beside <%s>, and one element holds all others", name,
        parser->root->name);
    return;
  }
  element = g_new0 (FabXml, 1);
  element->name = g_strdup (name);
  element->keys = g_strdupv ((char **) keys);
  element->values = g_strdupv ((char **) values);
  element->line = (guint) line;
  element->parent = parser->open;
  element->children = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_xml_free);
  if (parser->open)
    g_ptr_array_add (parser->open->children, element);
  else
    parser->root = element;
  parser->open = element;
}

static void
end_element (G_GNUC_UNUSED GMarkupParseContext *context, G_GNUC_UNUSED const char *name, gpointer user_data,
             G_GNUC_UNUSED GError **error)
{
  Parser *parser = user_data;

  parser->depth--;
  parser->open = parser->open->parent;
}

/* Appends, because GMarkup hands texts out in pieces. */
static void
take_text (G_GNUC_UNUSED GMarkupParseContext *context, const char *text, gsize length, gpointer user_data,
           G_GNUC_UNUSED GError **error)
{
  Parser *parser = user_data;

  if (parser->open && parser->open->children->len == 0) {
    if (parser->open->text == NULL)
      parser->open->text = g_string_new (NULL);
    g_string_append_len (parser->open->text, text, (gssize) length);
  }
}

/* Returns the message without "Error on line 3 char 2: "; our message begins with the line. */
static const char *
without_position (const char *message)
{
  const char *colon = g_str_has_prefix (message, "Error on line ") ? strstr (message, ": ") : NULL;

  return colon ? colon + 2 : message;
}

FabXml *
fab_xml_parse (const FabFileText *file, GError **error)
{
  static const GMarkupParser callbacks = { .start_element = start_element,
                                           .end_element = end_element,
                                           .text = take_text };
  Parser parser = { .file = file };
  g_autoptr (GMarkupParseContext) context = g_markup_parse_context_new (&callbacks, NO_FLAGS, &parser, NULL);
  g_autoptr (GError) cause = NULL;
  gint line;

  if (g_markup_parse_context_parse (context, file->text, (gssize) file->size, &cause)
      && g_markup_parse_context_end_parse (context, &cause))
    return parser.root;
  g_markup_parse_context_get_position (context, &line, NULL);
  fab_xml_free (parser.root);
  if (cause->domain == G_MARKUP_ERROR)
    fab_file_text_fail (file, (guint) MAX (line, 1), error, "the XML is not well-formed: %s",
                        without_position (cause->message));
  else
    g_propagate_error (error, g_steal_pointer (&cause));
  return NULL;
}

void
fab_xml_free (FabXml *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  g_clear_pointer (&self->keys, g_strfreev);
  g_clear_pointer (&self->values, g_strfreev);
  g_ptr_array_unref (self->children);
  if (self->text)
    g_string_free (self->text, TRUE);
  g_free (self);
}

const char *
fab_xml_get (const FabXml *self, const char *key)
{
  for (guint i = 0; self->keys[i]; i++)
    if (strcmp (self->keys[i], key) == 0)
      return self->values[i];
  return NULL;
}

const char *
fab_xml_text (const FabXml *self)
{
  return self->text ? self->text->str : "";
}

guint
fab_xml_number (const FabXml *self, const char *key, guint fallback)
{
  const char *text = fab_xml_get (self, key);
  guint64 value;

  if (text == NULL)
    return fallback;
  if (g_str_has_prefix (text, "0x"))
    return g_ascii_string_to_unsigned (text + 2, 16, 0, G_MAXUINT, &value, NULL) ? (guint) value : fallback;
  return g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT, &value, NULL) ? (guint) value : fallback;
}

gboolean
fab_xml_is (const FabXml *self, const char *name)
{
  return strcmp (self->name, name) == 0;
}

gboolean
fab_xml_begins_with (const char *text, const char *name)
{
  const char *start = strchr (text, '<');

  while (start && (start[1] == '?' || start[1] == '!')) {
    const char *end = g_str_has_prefix (start, "<!--") ? strstr (start, "-->") : strchr (start, '>');
    start = end ? strchr (end, '<') : NULL;
  }
  return start && g_str_has_prefix (start + 1, name) && !g_ascii_isalnum (start[1 + strlen (name)]);
}
