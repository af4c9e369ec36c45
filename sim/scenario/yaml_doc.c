/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_doc.c - turns libyaml's events into a tree of nodes; the only file that includes yaml.h.
 *
 * It descends recursively over the events, at most FAB_YAML_MAX_DEPTH deep. An error of libyaml ends the reading with
 * one diagnostic. Our own rules (no duplicate keys, tags, merge keys or keys that are not text) give diagnostics, and
 * reading continues. An alias copies what its anchor names; too many copies are an error at the alias. O(size of the
 * expanded tree).
 */
#include "sim/scenario/yaml_doc.h"

#include <string.h>
#include <yaml.h>

#include "sim/scenario/yaml_tree.h"

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

  return fab_yaml_source_mark (self->source, start->line, start->column + shift, length);
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
  fab_diagnostics_add (self->diagnostics, mark, "more than %u values in one document", FAB_YAML_MAX_NODES);
  return NULL;
}

static gboolean
is_at_end (const Reader *self, const FabMark *mark)
{
  return mark->text + mark->text_length == self->source->data + self->source->size
      && fab_yaml_source_char (mark) == 0;
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
  if (fab_yaml_source_char (&mark) == '\t') {
    fail (self, &mark, "a tab where YAML wants spaces");
    return;
  }
  if (parser->context == NULL) {
    fail (self, &mark, parser->problem != NULL ? parser->problem : "not YAML");
    return;
  }
  if (is_at_end (self, &mark) || g_str_equal (parser->context, "while scanning a simple key")) {
    mark = mark_of (self, &parser->context_mark, NULL);
    fab_diagnostics_add (self->diagnostics, &mark, "%s, %s that begins here", parser->problem,
                         parser->context);
    return;
  }
  fab_diagnostics_add (self->diagnostics, &mark, "%s, %s that begins on line %zu", parser->problem,
                       parser->context, parser->context_mark.line + 1);
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
    fab_diagnostics_add (self->diagnostics, mark, "unknown alias '*%s'; no '&%s' stands above it", name,
                         name);
    return NULL;
  }
  if (target == NULL)
    return fail (self, mark, "this alias is part of what it stands for");
  copy = fab_yaml_tree_copy (self->doc, target, FAB_YAML_MAX_DEPTH - depth + 1);
  if (copy == NULL)
    fab_diagnostics_add (self->diagnostics, mark,
                         "alias '*%s' makes the document too large: the most is %u values, %u levels deep",
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
    return fail (self, &mark, "nested more than 64 levels deep");
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
      return fail (self, &mark, "a second document begins here; a file holds one");
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
                       "a file holds keys with values, for example 'name: test'");
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
  FabYamlSource *source = fab_yaml_source_load (path, error);

  return source != NULL ? read_whole (source, diagnostics) : NULL;
}

FabYamlDoc *
fab_yaml_doc_new (const char *name)
{
  g_autoptr (FabDiagnostics) none = fab_diagnostics_new ();

  return fab_yaml_doc_parse (name, "", 0, none);
}
