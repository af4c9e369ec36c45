/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_doc.c - turns libyaml's events into a tree of nodes; the only file that includes yaml.h.
 *
 * It descends recursively over the events, at most FAB_YAML_MAX_DEPTH deep. An error of libyaml ends the reading with
 * one diagnostic. Our own rules (no duplicate keys, tags, merge keys or keys that are not text) give diagnostics, and
 * reading continues. An alias copies what its anchor names; too many copies are an error at the alias. O(size of the
 * expanded tree).
 */
#include "sim/config/yaml_doc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "sim/base/error.h"
#include "sim/config/yaml_syntax.h"

static void yaml_source_free (FabYamlSource *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabYamlSource, yaml_source_free)

/* A text, its lines, and the checks before it is read as YAML.
 *
 * Encoding is checked here, before libyaml sees the text, because libyaml's own messages about it have no line.
 * U+0085, U+2028 and U+2029 are refused: YAML 1.1 ends lines there and editors do not, so every later line number
 * would be wrong. One pass, O(size).
 */

#define MAX_SIZE (4u * 1024u * 1024u)
#define MAX_READ (MAX_SIZE + 4u) /* the byte order mark, and one byte more than is allowed */

static void
index_lines (FabYamlSource *self)
{
  gsize start = 0;

  g_array_append_val (self->lines, start);
  for (gsize i = 0; i < self->size; i++) {
    if (self->data[i] != '\n' && self->data[i] != '\r')
      continue;
    if (self->data[i] == '\r' && self->data[i + 1] == '\n')
      i++;
    start = i + 1;
    g_array_append_val (self->lines, start);
  }
}

FabYamlSource *
fab_yaml_source_new (const char *file, const char *data, gsize size)
{
  FabYamlSource *self = g_new0 (FabYamlSource, 1);
  gsize n_mark = size >= 3 && memcmp (data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

  self->file = g_strdup (file);
  self->size = size - n_mark;
  self->data = g_malloc (self->size + 1);
  if (self->size > 0)
    memcpy (self->data, data + n_mark, self->size);
  self->data[self->size] = '\0';
  self->lines = g_array_new (FALSE, FALSE, sizeof (gsize));
  index_lines (self);
  return self;
}

FabYamlSource *
fab_yaml_source_load (const char *path, gboolean is_regular, GError **error)
{
  g_autofree char *data = g_malloc (MAX_READ);
  /* without waiting: a pipe would wait for a writer */
  int fd = open (path, O_RDONLY | O_CLOEXEC | (is_regular ? O_NONBLOCK | O_NOCTTY : 0));
  gboolean is_open = fd >= 0, is_right = is_open;
  gsize size = 0;
  gssize n = is_open ? 1 : -1;
  struct stat state;

  if (is_open && is_regular)
    is_right = fstat (fd, &state) == 0 && S_ISREG (state.st_mode);
  while (is_right && size < MAX_READ && n > 0) {
    n = read (fd, data + size, MAX_READ - size);
    size += n > 0 ? (gsize) n : 0;
  }
  if (!is_right && is_open)
    fab_throw (error, FAB_ERROR_IO,
               "%s is not a regular file; a scenario cannot read pipes, devices and folders", path);
  else if (n < 0)
    fab_throw (error, FAB_ERROR_IO, "cannot %s %s: %s", is_open ? "read" : "open", path, g_strerror (errno));
  if (is_open)
    close (fd);
  return is_right && n >= 0 ? fab_yaml_source_new (path, data, size) : NULL;
}

char *
fab_yaml_source_beside (const FabMark *mark, const char *path)
{
  g_autofree char *directory = mark->line > 0 ? g_path_get_dirname (mark->file) : g_strdup (".");

  if (g_path_is_absolute (path) || strcmp (directory, ".") == 0)
    return g_strdup (path);
  return g_build_filename (directory, path, NULL);
}

static void
yaml_source_free (FabYamlSource *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->lines);
  g_free (self->data);
  g_free (self->file);
  g_free (self);
}

static gsize
line_start (const FabYamlSource *self, gsize line)
{
  return line < self->lines->len ? g_array_index (self->lines, gsize, line) : self->size;
}

/* Returns the length without the line end. */
static gsize
line_length (const FabYamlSource *self, gsize line)
{
  gsize start = line_start (self, line), end = line_start (self, line + 1);

  while (end > start && (self->data[end - 1] == '\n' || self->data[end - 1] == '\r'))
    end--;
  return end - start;
}

/* `line` and `column` count from 0 here, as in libyaml. Positions behind the end are moved to the end. */
static FabMark
yaml_source_mark (const FabYamlSource *self, gsize line, gsize column, gsize length)
{
  gsize at = MIN (line, self->lines->len - 1); /* libyaml puts the end of a text on a line of its own */
  FabMark mark = {
    .file = self->file,
    .line = self->is_inline ? 0 : (guint) at + 1,
    .column = (guint) MIN (column, G_MAXINT32) + 1,
    .length = (guint) CLAMP (length, 1, G_MAXINT32),
    .text = self->data + line_start (self, at),
    .text_length = line_length (self, at),
  };

  if (line > at)
    mark.column = (guint) g_utf8_strlen (mark.text, (gssize) mark.text_length) + 1;
  return mark;
}

FabMark
fab_yaml_source_mark_at (const FabYamlSource *self, gsize offset)
{
  gsize line = 0, column = 0;
  const char *p;

  offset = MIN (offset, self->size);
  while (line + 1 < self->lines->len && line_start (self, line + 1) <= offset)
    line++;
  for (p = self->data + line_start (self, line); p < self->data + offset; p++)
    column += ((guchar) *p & 0xC0) != 0x80;
  return yaml_source_mark (self, line, column, 1);
}

/* Returns the character at a mark; 0 at the end of its line. */
static gunichar
yaml_source_char (const FabMark *mark)
{
  const char *p = mark->text, *end = mark->text + mark->text_length;

  for (guint column = 1; column < mark->column && p < end; column++)
    p = g_utf8_next_char (p);
  return p < end ? g_utf8_get_char (p) : 0;
}

static gboolean
refuse (const FabYamlSource *self, const char *at, const char *why, FabDiagnostics *diagnostics)
{
  FabMark mark = fab_yaml_source_mark_at (self, (gsize) (at - self->data));

  fab_diagnostics_add (diagnostics, &mark, "%s", why);
  return FALSE;
}

static gboolean
is_utf16 (const FabYamlSource *self)
{
  return self->size >= 2
      && (memcmp (self->data, "\xFF\xFE", 2) == 0 || memcmp (self->data, "\xFE\xFF", 2) == 0);
}

gboolean
fab_yaml_source_check (const FabYamlSource *self, FabDiagnostics *diagnostics)
{
  static const char *const line_ends[] = { "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9" };
  const char *nul, *bad;

  if (self->size > MAX_SIZE) {
    FabMark mark = { .file = self->file };

    fab_diagnostics_add (diagnostics, &mark, "the file is larger than 4 MiB");
    return FALSE;
  }
  if (is_utf16 (self))
    return refuse (self, self->data, "the file is UTF-16; save it as UTF-8", diagnostics);
  nul = memchr (self->data, '\0', self->size);
  if (nul != NULL)
    return refuse (self, nul, "the file holds a NUL character; it is not a text file", diagnostics);
  if (!g_utf8_validate_len (self->data, self->size, &bad))
    return refuse (self, bad, "the file is not UTF-8; save it as UTF-8", diagnostics);
  for (gsize i = 0; i < G_N_ELEMENTS (line_ends); i++) {
    bad = strstr (self->data, line_ends[i]);
    if (bad != NULL)
      return refuse (self, bad,
                     "the file holds an invisible line separator (U+0085, U+2028 or U+2029); "
                     "end lines with LF",
                     diagnostics);
  }
  return TRUE;
}

/* The nodes of a YAML document, and the document itself.
 *
 * Aliases are copied, not shared, so that --set below one of them changes that place only. The node limit bounds the
 * cost of copies, and texts are shared. A node owns its two arrays; the document owns nodes and texts. This file does
 * not use libyaml: parsing is in yaml_doc.c.
 */

static const gsize text_block_bytes = 4096;

static void
node_free (gpointer data)
{
  FabYamlNode *node = data;

  g_free (node->keys);
  g_free (node->values);
  fab_value_unref (node->value);
  g_free (node);
}

FabYamlDoc *
fab_yaml_tree_new (void)
{
  FabYamlDoc *self = g_new0 (FabYamlDoc, 1);

  g_atomic_ref_count_init (&self->n_users);
  self->nodes = g_ptr_array_new_with_free_func (node_free);
  self->texts = g_string_chunk_new (text_block_bytes);
  self->sources = g_ptr_array_new_with_free_func ((GDestroyNotify) yaml_source_free);
  return self;
}

FabYamlDoc *
fab_yaml_doc_copy (const FabYamlDoc *self)
{
  FabYamlDoc *copy = fab_yaml_tree_new ();

  copy->base = (FabYamlDoc *) self;
  g_atomic_ref_count_inc (&copy->base->n_users);
  copy->n_inherited = self->n_inherited + self->nodes->len;
  copy->root = self->root;
  return copy;
}

gboolean
fab_yaml_doc_is_copied (const FabYamlDoc *self)
{
  return !g_atomic_ref_count_compare ((gatomicrefcount *) &self->n_users, 1);
}

void
fab_yaml_doc_free (FabYamlDoc *self)
{
  FabYamlDoc *base;

  if (self == NULL || !g_atomic_ref_count_dec (&self->n_users))
    return;
  base = self->base;
  g_ptr_array_unref (self->nodes);
  g_string_chunk_free (self->texts);
  g_ptr_array_unref (self->sources);
  g_free (self);
  fab_yaml_doc_free (base);
}

FabYamlNode *
fab_yaml_doc_root (const FabYamlDoc *self)
{
  return self->root;
}

FabYamlNode *
fab_yaml_tree_node (FabYamlDoc *doc, FabYamlKind kind, const FabMark *mark)
{
  FabYamlNode *node;

  if (doc->n_inherited + doc->nodes->len >= FAB_YAML_MAX_NODES)
    return NULL;
  node = g_new0 (FabYamlNode, 1);
  node->owner = doc;
  node->kind = kind;
  node->mark = *mark;
  g_ptr_array_add (doc->nodes, node);
  return node;
}

FabYamlNode *
fab_yaml_tree_scalar (FabYamlDoc *doc, const char *text, const FabMark *mark)
{
  FabYamlNode *node = fab_yaml_tree_node (doc, FAB_YAML_SCALAR, mark);

  if (node == NULL || text == NULL)
    return node;
  node->text = g_string_chunk_insert (doc->texts, text);
  return node;
}

/* Arrays grow by doubling; their capacity is the next power of two. */
static FabYamlNode **
grown (FabYamlNode **array, guint n)
{
  if ((n & (n - 1)) != 0)
    return array;
  return g_renew (FabYamlNode *, array, n == 0 ? 1 : 2 * (gsize) n);
}

void
fab_yaml_tree_append (FabYamlNode *parent, FabYamlNode *key, FabYamlNode *value)
{
  parent->values = grown (parent->values, parent->n);
  parent->values[parent->n] = value;
  if (key != NULL) {
    parent->keys = grown (parent->keys, parent->n);
    parent->keys[parent->n] = key;
  }
  parent->n++;
}

/* Returns a copy without keys and values; NULL when the document is full. */
static FabYamlNode *
copy_alone (FabYamlDoc *doc, const FabYamlNode *node)
{
  FabYamlNode *copy = fab_yaml_tree_node (doc, node->kind, &node->mark);

  if (copy == NULL)
    return NULL;
  copy->text = node->text;
  copy->is_quoted = node->is_quoted;
  copy->value = fab_value_ref (node->value);
  return copy;
}

/* Returns a deep copy, at most `depth` levels deep; NULL when the document is full or the copy would be deeper. */
static FabYamlNode *
yaml_tree_copy (FabYamlDoc *doc, const FabYamlNode *node, guint depth)
{
  FabYamlNode *copy = depth > 0 ? copy_alone (doc, node) : NULL;

  if (copy == NULL)
    return NULL;
  for (guint i = 0; i < node->n; i++) {
    FabYamlNode *key = node->keys != NULL ? yaml_tree_copy (doc, node->keys[i], depth - 1) : NULL;
    FabYamlNode *value = yaml_tree_copy (doc, node->values[i], depth - 1);

    if (value == NULL || (node->keys != NULL && key == NULL))
      return NULL;
    fab_yaml_tree_append (copy, key, value);
  }
  return copy;
}

FabYamlNode *
fab_yaml_tree_own (FabYamlDoc *doc, FabYamlNode **slot)
{
  const FabYamlNode *node = *slot;
  FabYamlNode *copy;

  if (node->owner == doc)
    return *slot;
  copy = copy_alone (doc, node);
  if (copy == NULL)
    return NULL;
  for (guint i = 0; i < node->n; i++)
    fab_yaml_tree_append (copy, node->keys != NULL ? node->keys[i] : NULL, node->values[i]);
  *slot = copy;
  return copy;
}

gboolean
fab_yaml_tree_own_all (FabYamlDoc *doc)
{
  FabYamlNode *root;

  doc->n_inherited = 0; /* none of them is part of this tree any more */
  root = yaml_tree_copy (doc, doc->root, G_MAXUINT);
  if (root != NULL)
    doc->root = root;
  return root != NULL;
}

FabYamlNode *
fab_yaml_get (const FabYamlNode *mapping, const char *key)
{
  if (mapping == NULL || mapping->kind != FAB_YAML_MAPPING)
    return NULL;
  for (guint i = 0; i < mapping->n; i++)
    if (g_str_equal (mapping->keys[i]->text, key))
      return mapping->values[i];
  return NULL;
}

FabYamlNode *
fab_yaml_named_item (const FabYamlNode *list, const char *name)
{
  for (guint i = 0; list->kind == FAB_YAML_SEQUENCE && i < list->n; i++) {
    const FabYamlNode *its = fab_yaml_get (list->values[i], "name");

    if (its != NULL && its->kind == FAB_YAML_SCALAR && g_strcmp0 (its->text, name) == 0)
      return list->values[i];
  }
  return NULL;
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (yaml_parser_t, yaml_parser_delete)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (yaml_event_t, yaml_event_delete)

typedef struct {
  FabYamlDoc *doc;
  const FabYamlSource *source;
  gsize offset; /* bytes on the first line before the part that libyaml sees */
  gsize column; /* the same in characters */
  FabDiagnostics *diagnostics;
  yaml_parser_t *parser;
  GHashTable *anchors; /* from name to node; NULL while the node is being read */
} Reader;

static FabYamlNode *read_node (Reader *self, const yaml_event_t *event, guint depth);

static FabMark
mark_of (const Reader *self, const yaml_mark_t *start, const yaml_mark_t *end)
{
  gsize shift = start->line == 0 ? self->column : 0;
  gsize length = end == NULL ? 1 : end->line == start->line ? end->column - start->column : G_MAXINT32;

  return yaml_source_mark (self->source, start->line, start->column + shift, length);
}

static FabYamlNode *
fail (const Reader *self, const FabMark *mark, const char *message)
{
  fab_diagnostics_add (self->diagnostics, mark, "%s", message);
  return NULL;
}

static FabYamlNode *
fail_full (const Reader *self, const FabMark *mark)
{
  fab_diagnostics_add (self->diagnostics, mark, "one document holds more than %u values", FAB_YAML_MAX_NODES);
  return NULL;
}

static gboolean
is_at_end (const Reader *self, const FabMark *mark)
{
  return mark->text + mark->text_length == self->source->data + self->source->size
      && yaml_source_char (mark) == 0;
}

/* Reports libyaml's error. When it points at the end of the text, the position is moved to the mistake. */
static void
report_problem (const Reader *self)
{
  const yaml_parser_t *parser = self->parser;
  FabMark mark;

  if (parser->error == YAML_READER_ERROR) {
    mark = fab_yaml_source_mark_at (self->source, self->offset + parser->problem_offset);
    fail (self, &mark, parser->problem);
    return;
  }
  mark = mark_of (self, &parser->problem_mark, NULL);
  if (yaml_source_char (&mark) == '\t') {
    fail (self, &mark, "a tab stands where YAML needs spaces");
    return;
  }
  gboolean is_here = parser->context != NULL
                  && (is_at_end (self, &mark)
                      || g_str_equal (parser->context, "while scanning a simple key"));
  if (is_here)
    mark = mark_of (self, &parser->context_mark, NULL);
  g_autofree char *words = fab_yaml_syntax_words (parser->problem, parser->context, self->source->data, &mark,
                                                  is_here ? 0 : parser->context_mark.line + 1);
  fail (self, &mark, words);
}

static gboolean
next_event (Reader *self, yaml_event_t *event)
{
  if (yaml_parser_parse (self->parser, event))
    return TRUE;
  report_problem (self);
  memset (event, 0, sizeof *event);
  return FALSE;
}

static gboolean
is_null_text (const char *text)
{
  static const char *const words[] = { "", "~", "null", "Null", "NULL", NULL };

  return g_strv_contains (words, text);
}

static FabYamlNode *
read_scalar (Reader *self, const yaml_event_t *event, const FabMark *mark)
{
  const char *text = (const char *) event->data.scalar.value;
  gboolean is_quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  FabYamlNode *node;

  if (strlen (text) != event->data.scalar.length)
    return fail (self, mark, "a text cannot hold a NUL character");
  node = fab_yaml_tree_scalar (self->doc, !is_quoted && is_null_text (text) ? NULL : text, mark);
  if (node == NULL)
    return fail_full (self, mark);
  node->is_quoted = is_quoted;
  return node;
}

static FabYamlNode *
read_alias (Reader *self, const char *name, const FabMark *mark, guint depth)
{
  gpointer target = NULL;
  FabYamlNode *copy;

  if (!g_hash_table_lookup_extended (self->anchors, name, NULL, &target)) {
    fab_diagnostics_add (self->diagnostics, mark, "unknown alias '*%s'; no '&%s' is defined above it", name,
                         name);
    return NULL;
  }
  if (target == NULL)
    return fail (self, mark, "this alias refers to a value that contains it");
  copy = yaml_tree_copy (self->doc, target, FAB_YAML_MAX_DEPTH - depth + 1);
  if (copy == NULL)
    fab_diagnostics_add (self->diagnostics, mark,
                         "alias '*%s' makes the document too large: the limit is %u values, %u levels deep",
                         name, FAB_YAML_MAX_NODES, FAB_YAML_MAX_DEPTH);
  return copy;
}

static FabYamlNode *
read_sequence (Reader *self, const FabMark *mark, guint depth)
{
  FabYamlNode *node = fab_yaml_tree_node (self->doc, FAB_YAML_SEQUENCE, mark);

  if (node == NULL)
    return fail_full (self, mark);
  for (;;) {
    g_auto (yaml_event_t) event = { 0 };
    FabYamlNode *value;

    if (!next_event (self, &event))
      return NULL;
    if (event.type == YAML_SEQUENCE_END_EVENT)
      return node;
    value = read_node (self, &event, depth + 1);
    if (value == NULL)
      return NULL;
    fab_yaml_tree_append (node, NULL, value);
  }
}

/* Reports what is wrong with a key; TRUE when it is a new text. `seen` maps texts to key nodes. */
static gboolean
check_key (Reader *self, FabYamlNode *key, GHashTable *seen)
{
  const FabYamlNode *first;

  if (key->kind != FAB_YAML_SCALAR || key->text == NULL) {
    fail (self, &key->mark, "a key must be text");
    return FALSE;
  }
  if (!key->is_quoted && g_str_equal (key->text, "<<")) {
    fail (self, &key->mark,
          "merge keys (<<) are not supported; write the keys out, or use an alias as a whole value");
    return FALSE;
  }
  first = g_hash_table_lookup (seen, key->text);
  if (first == NULL)
    return g_hash_table_insert (seen, (char *) key->text, key);
  if (self->doc->keeps_all)
    return TRUE;
  if (first->mark.line > 0)
    fab_diagnostics_add (self->diagnostics, &key->mark, "key '%s' is written twice; first on line %u",
                         key->text, first->mark.line);
  else
    fab_diagnostics_add (self->diagnostics, &key->mark, "key '%s' is written twice", key->text);
  return FALSE;
}

/* Reads one key and its value; FALSE: stop. `event` holds the key. */
static gboolean
read_pair (Reader *self, FabYamlNode *mapping, GHashTable *seen, const yaml_event_t *event, guint depth)
{
  g_auto (yaml_event_t) value_event = { 0 };
  FabYamlNode *key = read_node (self, event, depth + 1);
  FabYamlNode *value;
  gboolean is_good;

  if (key == NULL || !next_event (self, &value_event))
    return FALSE;
  is_good = check_key (self, key, seen);
  value = read_node (self, &value_event, depth + 1);
  if (value == NULL)
    return FALSE;
  if (is_good)
    fab_yaml_tree_append (mapping, key, value);
  return TRUE;
}

static FabYamlNode *
read_mapping (Reader *self, const FabMark *mark, guint depth)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  FabYamlNode *node = fab_yaml_tree_node (self->doc, FAB_YAML_MAPPING, mark);

  if (node == NULL)
    return fail_full (self, mark);
  for (;;) {
    g_auto (yaml_event_t) event = { 0 };

    if (!next_event (self, &event))
      return NULL;
    if (event.type == YAML_MAPPING_END_EVENT)
      break;
    if (!read_pair (self, node, seen, &event, depth))
      return NULL;
  }
  if (node->n > 0 && node->keys[0]->mark.text == mark->text && node->keys[0]->mark.column == mark->column)
    node->mark.length = node->keys[0]->mark.length; /* in block style, underline the first key */
  return node;
}

static const char *
event_anchor (const yaml_event_t *event)
{
  if (event->type == YAML_SCALAR_EVENT)
    return (const char *) event->data.scalar.anchor;
  if (event->type == YAML_SEQUENCE_START_EVENT)
    return (const char *) event->data.sequence_start.anchor;
  return event->type == YAML_MAPPING_START_EVENT ? (const char *) event->data.mapping_start.anchor : NULL;
}

static const char *
event_tag (const yaml_event_t *event)
{
  if (event->type == YAML_SCALAR_EVENT)
    return (const char *) event->data.scalar.tag;
  if (event->type == YAML_SEQUENCE_START_EVENT)
    return (const char *) event->data.sequence_start.tag;
  return event->type == YAML_MAPPING_START_EVENT ? (const char *) event->data.mapping_start.tag : NULL;
}

static FabYamlNode *
read_value (Reader *self, const yaml_event_t *event, const FabMark *mark, guint depth)
{
  switch ((int) event->type) {
  case YAML_ALIAS_EVENT: return read_alias (self, (const char *) event->data.alias.anchor, mark, depth);
  case YAML_SCALAR_EVENT: return read_scalar (self, event, mark);
  case YAML_SEQUENCE_START_EVENT: return read_sequence (self, mark, depth);
  case YAML_MAPPING_START_EVENT: return read_mapping (self, mark, depth);
  default: return fail (self, mark, "unexpected end of a value");
  }
}

static FabYamlNode *
read_node (Reader *self, const yaml_event_t *event, guint depth)
{
  FabMark mark = mark_of (self, &event->start_mark, &event->end_mark);
  const char *anchor = event_anchor (event), *tag = event_tag (event);
  FabYamlNode *node;

  if (depth > FAB_YAML_MAX_DEPTH)
    return fail (self, &mark, "values are nested more than 64 levels deep");
  if (tag != NULL)
    fab_diagnostics_add (self->diagnostics, &mark, "tags ('%s') are not supported; write the value alone",
                         tag);
  if (anchor != NULL)
    g_hash_table_insert (self->anchors, g_strdup (anchor), NULL);
  node = read_value (self, event, &mark, depth);
  if (anchor != NULL && node != NULL)
    g_hash_table_insert (self->anchors, g_strdup (anchor), node);
  return node;
}

/* Reads the stream start, the document with its one node, and the end. An empty text is a null scalar. */
static FabYamlNode *
read_document (Reader *self)
{
  FabMark mark = fab_yaml_source_mark_at (self->source, self->offset);
  FabYamlNode *node = NULL;

  for (;;) {
    g_auto (yaml_event_t) event = { 0 };

    if (!next_event (self, &event))
      return NULL;
    if (event.type == YAML_STREAM_END_EVENT)
      return node != NULL ? node : fab_yaml_tree_scalar (self->doc, NULL, &mark);
    if (event.type == YAML_DOCUMENT_START_EVENT && node != NULL) {
      mark = mark_of (self, &event.start_mark, &event.end_mark);
      return fail (self, &mark, "a second document begins here; a file may hold only one");
    }
    if (event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_START_EVENT
        || event.type == YAML_DOCUMENT_END_EVENT)
      continue;
    node = read_node (self, &event, 1);
    if (node == NULL)
      return NULL;
  }
}

FabYamlNode *
fab_yaml_tree_read (FabYamlDoc *doc, const FabYamlSource *source, gsize offset, FabDiagnostics *diagnostics)
{
  g_autoptr (GHashTable) anchors = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto (yaml_parser_t) parser = { 0 };
  Reader reader = { .doc = doc,
                    .source = source,
                    .offset = offset,
                    .diagnostics = diagnostics,
                    .parser = &parser,
                    .anchors = anchors };

  reader.column = (gsize) g_utf8_strlen (source->data, (gssize) offset);
  if (!yaml_parser_initialize (&parser))
    g_error ("libyaml cannot be initialised");
  yaml_parser_set_encoding (&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string (&parser, (const guchar *) source->data + offset, source->size - offset);
  return read_document (&reader);
}

/* Takes ownership of `source`. */
static FabYamlDoc *
read_whole (FabYamlSource *source, FabDiagnostics *diagnostics)
{
  g_autoptr (FabYamlDoc) doc = fab_yaml_tree_new ();

  doc->root = fab_yaml_tree_add (doc, source, diagnostics);
  if (doc->root == NULL)
    return NULL;
  if (doc->root->kind == FAB_YAML_MAPPING)
    return g_steal_pointer (&doc);
  fab_diagnostics_add (diagnostics, &doc->root->mark,
                       doc->root->kind == FAB_YAML_SEQUENCE
                           ? "a list begins here; a file holds keys with values, for example 'name: test'"
                           : "a file holds keys with values, for example 'name: test'");
  return NULL;
}

FabYamlNode *
fab_yaml_tree_add (FabYamlDoc *doc, FabYamlSource *source, FabDiagnostics *diagnostics)
{
  FabYamlNode *root;

  g_ptr_array_add (doc->sources, source);
  root = fab_yaml_source_check (source, diagnostics) ? fab_yaml_tree_read (doc, source, 0, diagnostics)
                                                     : NULL;
  if (root != NULL && root->kind == FAB_YAML_SCALAR && root->text == NULL)
    root->kind = FAB_YAML_MAPPING;
  return root;
}

FabYamlDoc *
fab_yaml_doc_parse (const char *name, const char *data, gsize size, FabDiagnostics *diagnostics)
{
  return read_whole (fab_yaml_source_new (name, data, size), diagnostics);
}

FabYamlDoc *
fab_yaml_doc_load (const char *path, FabDiagnostics *diagnostics, GError **error)
{
  FabYamlSource *source = fab_yaml_source_load (path, FALSE, error);

  return source != NULL ? read_whole (source, diagnostics) : NULL;
}

FabYamlDoc *
fab_yaml_doc_new (const char *name)
{
  g_autoptr (FabDiagnostics) none = fab_diagnostics_new ();

  return fab_yaml_doc_parse (name, "", 0, none);
}
