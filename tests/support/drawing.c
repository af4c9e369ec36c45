/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/drawing.h"

#include "tests/support/test.h"

#include <stdio.h>

static void
element_free (gpointer data)
{
  DrawnElement *self = data;

  g_free (self->name);
  g_hash_table_unref (self->attributes);
  g_string_free (self->words, TRUE);
  g_free (self);
}

typedef struct {
  GPtrArray *drawing, *open;
} Reader;

static void
begin_element (G_GNUC_UNUSED GMarkupParseContext *context, const char *name, const char **names,
               const char **values, gpointer data, G_GNUC_UNUSED GError **error)
{
  Reader *self = data;
  DrawnElement *element = g_new0 (DrawnElement, 1);

  element->name = g_strdup (name);
  element->attributes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  element->words = g_string_new (NULL);
  for (guint i = 0; names[i] != NULL; i++)
    g_hash_table_insert (element->attributes, g_strdup (names[i]), g_strdup (values[i]));
  g_ptr_array_add (self->drawing, element);
  g_ptr_array_add (self->open, element);
}

static void
end_element (G_GNUC_UNUSED GMarkupParseContext *context, G_GNUC_UNUSED const char *name, gpointer data,
             G_GNUC_UNUSED GError **error)
{
  Reader *self = data;

  g_ptr_array_remove_index (self->open, self->open->len - 1);
}

static void
take_words (G_GNUC_UNUSED GMarkupParseContext *context, const char *text, gsize length, gpointer data,
            G_GNUC_UNUSED GError **error)
{
  Reader *self = data;

  if (self->open->len > 0)
    g_string_append_len (((DrawnElement *) g_ptr_array_index (self->open, self->open->len - 1))->words, text,
                         (gssize) length);
}

GPtrArray *
drawing_read (const char *svg)
{
  static const GMarkupParser parser = { begin_element, end_element, take_words, NULL, NULL };
  g_autoptr (GPtrArray) open = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  Reader reader = { g_ptr_array_new_with_free_func (element_free), open };
  g_autoptr (GMarkupParseContext) context = g_markup_parse_context_new (&parser, 0, &reader, NULL);

  if (!g_markup_parse_context_parse (context, svg, -1, &error)
      || !g_markup_parse_context_end_parse (context, &error))
    fail_msg ("%s", error->message);
  return reader.drawing;
}

const DrawnElement *
drawing_at (const GPtrArray *drawing, guint i)
{
  return g_ptr_array_index (drawing, i);
}

const char *
drawn_word (const DrawnElement *element, const char *attribute)
{
  return g_hash_table_lookup (element->attributes, attribute);
}

double
drawn_number (const DrawnElement *element, const char *attribute)
{
  const char *word = drawn_word (element, attribute);

  return word != NULL && !g_str_has_suffix (word, "%") ? g_ascii_strtod (word, NULL) : NAN;
}

GPtrArray *
drawing_find (const GPtrArray *drawing, const char *name, const char *colour)
{
  GPtrArray *found = g_ptr_array_new ();

  for (guint i = 0; i < drawing->len; i++) {
    const DrawnElement *element = drawing_at (drawing, i);

    if (strcmp (element->name, name) == 0
        && (colour == NULL || g_strcmp0 (drawn_word (element, "fill"), colour) == 0
            || g_strcmp0 (drawn_word (element, "stroke"), colour) == 0))
      g_ptr_array_add (found, (gpointer) element);
  }
  return found;
}

static guint
count_texts (const GPtrArray *drawing, const char *words, const DrawnElement **last)
{
  guint n = 0;

  for (guint i = 0; i < drawing->len; i++) {
    const DrawnElement *element = drawing_at (drawing, i);

    if (strcmp (element->name, "text") == 0 && strcmp (element->words->str, words) == 0) {
      *last = element;
      n++;
    }
  }
  return n;
}

const DrawnElement *
drawing_text (const GPtrArray *drawing, const char *words)
{
  const DrawnElement *found = NULL;
  guint n = count_texts (drawing, words, &found);

  if (n != 1)
    fail_msg ("%u texts say '%s'", n, words);
  return found;
}

gboolean
drawing_says (const GPtrArray *drawing, const char *words)
{
  const DrawnElement *found;

  return count_texts (drawing, words, &found) > 0;
}

GArray *
drawing_blocks (const GPtrArray *drawing, const char *fill)
{
  g_autoptr (GPtrArray) paths = drawing_find (drawing, "path", fill);
  GArray *blocks = g_array_new (FALSE, FALSE, sizeof (DrawnBlock));

  for (guint i = 0; i < paths->len; i++)
    for (const char *at = drawn_word (drawing_at (paths, i), "d"); *at != '\0';) {
      DrawnBlock block;
      double back;
      int length = 0;

      if (sscanf (at, "M%lf %lfh%lfv%lfh-%lfz%n", &block.x, &block.y, &block.width, &block.height, &back,
                  &length)
              != 5
          || length == 0 || back != block.width)
        fail_msg ("this is no block: %.60s", at);
      g_array_append_val (blocks, block);
      at += length;
    }
  return blocks;
}

double
drawn_light (const char *colour)
{
  guint red, green, blue;

  assert_int_equal (sscanf (colour, "#%2x%2x%2x", &red, &green, &blue), 3);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue; /* as displays have it */
}

/* --- tidy --- */

static DrawnBlock
room_of (const DrawnElement *text, double letter)
{
  const char *anchor = drawn_word (text, "text-anchor");
  double width = letter * (double) g_utf8_strlen (text->words->str, -1), x = drawn_number (text, "x");

  x -= g_strcmp0 (anchor, "end") == 0 ? width : g_strcmp0 (anchor, "middle") == 0 ? width / 2 : 0;
  return (DrawnBlock){ x, drawn_number (text, "y"), width, 0 };
}

static void
assert_within (const DrawnElement *element, const char *position, const char *size, double most)
{
  double from = drawn_number (element, position),
         to = from + (size != NULL && drawn_word (element, size) != NULL ? drawn_number (element, size) : 0);

  if (!isnan (from) && !isnan (to) && (from < 0 || to > most + 0.1))
    fail_msg ("%s with %s %g to %g is not in the drawing, which ends at %g", element->name, position, from,
              to, most);
}

/* "url(#hatch)" names a pattern of the drawing. */
static void
assert_has_pattern (const GPtrArray *drawing, const char *fill)
{
  g_autoptr (GPtrArray) patterns = drawing_find (drawing, "pattern", NULL);

  if (fill == NULL || !g_str_has_prefix (fill, "url("))
    return;
  for (guint i = 0; i < patterns->len; i++) {
    g_autofree char *name = g_strdup_printf ("url(#%s)", drawn_word (drawing_at (patterns, i), "id"));

    if (strcmp (fill, name) == 0)
      return;
  }
  fail_msg ("no pattern of the drawing is %s", fill);
}

void
drawing_assert_tidy (const GPtrArray *drawing, double letter)
{
  double width = drawn_number (drawing_at (drawing, 0), "width"),
         height = drawn_number (drawing_at (drawing, 0), "height");
  g_autoptr (GPtrArray) texts = drawing_find (drawing, "text", NULL);

  for (guint i = 1; i < drawing->len; i++) {
    const DrawnElement *element = drawing_at (drawing, i);

    assert_has_pattern (drawing, drawn_word (element, "fill"));

    assert_within (element, "x", "width", width);
    assert_within (element, "y", "height", height);
    assert_within (element, "x1", NULL, width);
    assert_within (element, "x2", NULL, width);
    assert_within (element, "y1", NULL, height);
    assert_within (element, "y2", NULL, height);
  }
  for (guint i = 0; i < texts->len; i++) {
    DrawnBlock one = room_of (drawing_at (texts, i), letter);

    if (one.x < 0 || one.x + one.width > width)
      fail_msg ("'%s' does not fit", drawing_at (texts, i)->words->str);
    for (guint k = 0; k < i; k++) {
      DrawnBlock other = room_of (drawing_at (texts, k), letter);

      if (fabs (one.y - other.y) < 9 && one.x < other.x + other.width && other.x < one.x + one.width)
        fail_msg ("'%s' lies over '%s'", drawing_at (texts, i)->words->str,
                  drawing_at (texts, k)->words->str);
    }
  }
}
