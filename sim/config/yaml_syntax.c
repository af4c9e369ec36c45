/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_syntax.c - the likely mistake behind an error of libyaml, by the line and those above it: a key that is
 * indented unlike its neighbours, a colon or a space that is missing, a bracket or a quote that is left open. */
#include "sim/config/yaml_syntax.h"

#include <string.h>

typedef struct {
  const char *text;
  gsize length;
  gsize indent; /* spaces before it */
} Line;

static Line
line_of (const char *text, gsize length)
{
  Line line = { text, length, 0 };

  while (line.indent < length && text[line.indent] == ' ')
    line.indent++;
  return line;
}

/* Whether the line holds more than spaces and a comment. */
static gboolean
says_something (const Line *line)
{
  return line->indent < line->length && line->text[line->indent] != '#';
}

/* The nearest line above `at` that says something; its text is NULL where there is none. */
static Line
line_above (const char *data, const char *at)
{
  while (at > data) {
    const char *end = at - 1, *start = end;

    while (start > data && start[-1] != '\n' && start[-1] != '\r')
      start--;
    Line line = line_of (start, (gsize) (end - start));
    if (says_something (&line))
      return line;
    at = start;
  }
  return (Line){ NULL, 0, 0 };
}

/* The first ':' of the line that ends a key, or that would with a space behind it; NULL: there is none. */
static const char *
colon_of (const Line *line)
{
  return memchr (line->text, ':', line->length);
}

#define UNLIKE \
  "this key is indented unlike the keys above it; keys that belong together begin in the same column"

/* A ':' stands where no key can be. */
static const char *
say_mapping (const char *data, const FabMark *mark)
{
  Line line = line_of (mark->text, mark->text_length), above = line_above (data, mark->text);
  const char *colon = colon_of (&line);

  if (colon == NULL || g_utf8_strlen (line.text, colon - line.text) + 1 < (glong) mark->column)
    return "a second ':' stands on this line; put quotes around a value that has one";
  if (above.text != NULL && colon_of (&above) == NULL)
    return "the line above has no ':' behind its key";
  return line.indent > above.indent ? UNLIKE : NULL;
}

/* Something stands where the next key must be. */
static const char *
say_no_key (const FabMark *mark)
{
  Line line = line_of (mark->text, mark->text_length);
  const char *at = g_utf8_offset_to_pointer (line.text, (glong) mark->column - 1);

  if (memchr ("}]", *at, 2) != NULL)
    return "this bracket closes nothing";
  return at == line.text + line.indent && colon_of (&line) != NULL ? UNLIKE : NULL;
}

static const char *
say_simple_key (const FabMark *mark)
{
  Line line = line_of (mark->text, mark->text_length);
  const char *colon = colon_of (&line);

  return colon == NULL ? "there is no ':' behind this key" : "a space is missing behind the ':'";
}

/* What the text alone says; NULL: libyaml's words stand. */
static const char *
say_plain (const char *problem, const char *data, const FabMark *mark)
{
  if (g_str_equal (problem, "mapping values are not allowed in this context"))
    return say_mapping (data, mark);
  if (g_str_equal (problem, "did not find expected key"))
    return say_no_key (mark);
  if (g_str_equal (problem, "could not find expected ':'"))
    return say_simple_key (mark);
  if (g_str_equal (problem, "found unexpected end of stream"))
    return "the quote that begins here does not end";
  if (g_str_equal (problem, "did not find expected node content"))
    return "a value is missing here";
  return NULL;
}

char *
fab_yaml_syntax_words (const char *problem, const char *context, const char *data, const FabMark *mark,
                       gsize begins)
{
  const char *plain = problem != NULL ? say_plain (problem, data, mark) : "not YAML";
  gboolean is_list = g_strcmp0 (context, "while parsing a flow sequence") == 0;

  if (plain != NULL)
    return g_strdup (plain);
  if (is_list || g_strcmp0 (context, "while parsing a flow mapping") == 0) {
    const char *open = is_list ? "[" : "{", *close = is_list ? "]" : "}";

    if (begins == 0)
      return g_strdup_printf ("the '%s' that begins here is not closed: a ',' or '%s' is missing", open,
                              close);
    return g_strdup_printf ("a ',' or '%s' is missing before this, behind the '%s' of line %zu", close, open,
                            begins);
  }
  if (context == NULL)
    return g_strdup (problem);
  return begins == 0 ? g_strdup_printf ("%s, %s that begins here", problem, context)
                     : g_strdup_printf ("%s, %s that begins on line %zu", problem, context, begins);
}
