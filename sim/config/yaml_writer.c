/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_writer.c - writes block-style YAML, without libyaml.
 *
 * It uses two spaces per level, `- ` before list items, and `{}` and `[]` for empty values. Text is written plain
 * when that reads back as the same text, and double-quoted otherwise. Linear in the output. Misuse (a key in a list, an
 * unclosed mapping) asserts.
 */
#include "sim/config/yaml_doc.h"

#include <string.h>

typedef struct {
  FabYamlKind kind;
  guint n;
  guint indent;
  gboolean is_in_item; /* the first key is on the line of its item's `- ` */
} Frame;

struct _FabYamlWriter {
  GString *out;
  GArray *frames; /* Frame */
  gboolean has_key;
};

FabYamlWriter *
fab_yaml_writer_new (void)
{
  FabYamlWriter *self = g_new0 (FabYamlWriter, 1);

  self->out = g_string_new (NULL);
  self->frames = g_array_new (FALSE, FALSE, sizeof (Frame));
  return self;
}

static Frame *
top (FabYamlWriter *self)
{
  return self->frames->len > 0 ? &g_array_index (self->frames, Frame, self->frames->len - 1) : NULL;
}

static void
start_line (FabYamlWriter *self, Frame *frame)
{
  if (frame->n++ == 0 && frame->is_in_item)
    return;
  if (self->out->len > 0)
    g_string_append_c (self->out, '\n');
  g_string_append_printf (self->out, "%*s", (int) frame->indent, "");
}

/* Called before a value: a list item begins a line, a mapping's value follows its key. */
static void
start_value (FabYamlWriter *self)
{
  Frame *frame = top (self);

  if (frame != NULL && frame->kind == FAB_YAML_SEQUENCE) {
    start_line (self, frame);
    g_string_append_c (self->out, '-');
  }
  g_assert (frame == NULL || frame->kind == FAB_YAML_SEQUENCE || self->has_key);
  self->has_key = FALSE;
}

static gboolean
is_null_word (const char *text)
{
  static const char *const words[] = { "", "~", "null", "Null", "NULL", NULL };

  return g_strv_contains (words, text);
}

/* Whether YAML 1.1 tools read the text as a truth value, a number or a date. */
static gboolean
is_other_word (const char *text)
{
  static const char *const words[] = { "y",  "n",   "yes", "no",   "true", "false",
                                       "on", "off", "=",   ".inf", ".nan", NULL };
  g_autofree char *lower = g_ascii_strdown (text, -1);
  gboolean is_number = g_ascii_isdigit (text[0]) || text[0] == '.' || text[0] == '+' || text[0] == '-';

  return g_strv_contains (words, lower)
      || (is_number && strspn (text, "0123456789abcdefxoABCDEF.+-_:eTZ ") == strlen (text));
}

/* Plain style is used only for characters that have no meaning for YAML at their position. */
static gboolean
is_plain (const char *text)
{
  gsize length = strlen (text);

  if (is_null_word (text) || text[0] == ' ' || text[length - 1] == ' ' || text[length - 1] == ':')
    return FALSE;
  if (!g_ascii_isalnum (text[0]) && strchr ("./+_", text[0]) == NULL
      && !(text[0] == '-' && g_ascii_isalnum (text[1])))
    return FALSE;
  if (strstr (text, ": ") != NULL || strstr (text, " #") != NULL || g_str_has_prefix (text, "..."))
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isalnum (text[i]) && strchr (" ,._/%+:@()[]{}#;='-*^<>~$?!\"", text[i]) == NULL)
      return FALSE;
  return TRUE;
}

static void
append_quoted (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p)) {
    gunichar c = g_utf8_get_char (p);

    if (c == '"' || c == '\\')
      g_string_append_printf (out, "\\%c", (char) c);
    else if (c == '\n')
      g_string_append (out, "\\n");
    else if (c == '\t')
      g_string_append (out, "\\t");
    else if (c >= 0x10000)
      g_string_append_printf (out, "\\U%08X", (guint) c);
    else if (c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF || c >= 0xFFF0)
      g_string_append_printf (out, "\\u%04X", (guint) c);
    else
      g_string_append_unichar (out, c);
  }
  g_string_append_c (out, '"');
}

static void
append_value (FabYamlWriter *self, const char *text, gboolean is_quoted)
{
  gboolean is_root = self->frames->len == 0;

  start_value (self);
  if (!is_root)
    g_string_append_c (self->out, ' ');
  if (is_quoted)
    append_quoted (self->out, text);
  else
    g_string_append (self->out, text);
}

void
fab_yaml_writer_comment (FabYamlWriter *self, const char *text)
{
  g_assert (!self->has_key && strchr (text, '\n') == NULL);
  g_string_append_printf (self->out, " # %s", text);
}

void
fab_yaml_writer_key (FabYamlWriter *self, const char *key)
{
  Frame *frame = top (self);

  g_assert (frame != NULL && frame->kind == FAB_YAML_MAPPING && !self->has_key);
  start_line (self, frame);
  if (is_plain (key))
    g_string_append (self->out, key);
  else
    append_quoted (self->out, key);
  g_string_append_c (self->out, ':');
  self->has_key = TRUE;
}

void
fab_yaml_writer_scalar (FabYamlWriter *self, const char *text)
{
  append_value (self, text, !is_plain (text));
}

void
fab_yaml_writer_text (FabYamlWriter *self, const char *text)
{
  append_value (self, text, !is_plain (text) || is_other_word (text));
}

void
fab_yaml_writer_begin (FabYamlWriter *self, FabYamlKind kind)
{
  Frame *parent = top (self);
  Frame frame = { .kind = kind };

  g_assert (kind != FAB_YAML_SCALAR);
  start_value (self);
  if (parent != NULL) {
    frame.indent = parent->indent + 2;
    frame.is_in_item = parent->kind == FAB_YAML_SEQUENCE;
  }
  if (frame.is_in_item)
    g_string_append_c (self->out, ' ');
  g_array_append_val (self->frames, frame);
}

void
fab_yaml_writer_end (FabYamlWriter *self)
{
  Frame *frame = top (self);

  g_assert (frame != NULL && !self->has_key);
  if (frame->n == 0) {
    if (self->frames->len > 1 && !frame->is_in_item)
      g_string_append_c (self->out, ' ');
    g_string_append (self->out, frame->kind == FAB_YAML_MAPPING ? "{}" : "[]");
  }
  g_array_set_size (self->frames, self->frames->len - 1);
}

char *
fab_yaml_writer_finish (FabYamlWriter *self)
{
  char *text;

  g_assert (self->frames->len == 0);
  g_string_append_c (self->out, '\n');
  text = g_string_free (self->out, FALSE);
  g_array_unref (self->frames);
  g_free (self);
  return text;
}

static void
write_node (FabYamlWriter *writer, const FabYamlNode *node)
{
  if (node->kind == FAB_YAML_SCALAR) {
    if (node->text == NULL)
      append_value (writer, "~", FALSE);
    else if (node->is_quoted)
      fab_yaml_writer_text (writer, node->text);
    else
      fab_yaml_writer_scalar (writer, node->text);
    return;
  }
  fab_yaml_writer_begin (writer, node->kind);
  for (guint i = 0; i < node->n; i++) {
    if (node->keys != NULL)
      fab_yaml_writer_key (writer, node->keys[i]->text);
    write_node (writer, node->values[i]);
  }
  fab_yaml_writer_end (writer);
}

char *
fab_yaml_node_text (const FabYamlNode *node)
{
  FabYamlWriter *writer = fab_yaml_writer_new ();

  write_node (writer, node);
  return fab_yaml_writer_finish (writer);
}
