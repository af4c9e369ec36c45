/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - splits a text into lines and words without copying it. */
#include "validate/import/lines.h"

#include <string.h>

static gboolean
is_blank (char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

static const char *
skip_label (const char *at, const char *end)
{
  const char *tag = g_strstr_len (at, end - at, "<stdout>:"), *digit;

  if (tag != NULL)
    return tag + strlen ("<stdout>:");
  while (at < end && is_blank (*at))
    at++;
  for (digit = at; digit < end && g_ascii_isdigit (*digit);)
    digit++;
  return digit > at && digit < end && *digit == ':' ? digit + 1 : at;
}

gboolean
fab_line_next (const char **cursor, FabLine *line)
{
  const char *at = *cursor, *end = strchr (at, '\n');

  if (*at == '\0')
    return FALSE;
  line->has_end = end != NULL;
  end = end ? end : at + strlen (at);
  *cursor = line->has_end ? end + 1 : end;
  at = skip_label (at, end);
  while (end > at && is_blank (end[-1]))
    end--;
  while (at < end && is_blank (*at))
    at++;
  line->whole = (FabWord){ .at = at, .length = (gsize) (end - at) };
  for (line->n = 0; at < end && line->n < FAB_LINE_MAX_WORDS; line->n++) {
    const char *start = at;

    while (at < end && !is_blank (*at))
      at++;
    line->words[line->n] = (FabWord){ .at = start, .length = (gsize) (at - start) };
    while (at < end && is_blank (*at))
      at++;
  }
  return TRUE;
}

gboolean
fab_word_is (const FabWord *word, const char *text)
{
  return word->length == strlen (text) && memcmp (word->at, text, word->length) == 0;
}

gboolean
fab_word_has (const FabWord *word, const char *text)
{
  return word->length > 0 && g_strstr_len (word->at, (gssize) word->length, text) != NULL;
}

gboolean
fab_word_is_whole (const FabWord *word)
{
  for (gsize i = 0; i < word->length; i++)
    if (!g_ascii_isdigit (word->at[i]))
      return FALSE;
  return word->length > 0;
}

char *
fab_word_dup (const FabWord *word)
{
  return g_strndup (word->at, word->length);
}

guint
fab_word_decimals (const FabWord *word)
{
  const char *point = word->length > 0 ? memchr (word->at, '.', word->length) : NULL;

  return point ? (guint) (word->at + word->length - point - 1) : 0;
}

guint
fab_word_digits (const FabWord *word)
{
  guint n = 0;

  for (gsize i = 0; i < word->length; i++)
    n += g_ascii_isdigit (word->at[i]) && (n > 0 || word->at[i] != '0');
  return n;
}

guint64
fab_word_count (const FabWord *word)
{
  guint64 n = 0;

  for (gsize i = 0; i < word->length && g_ascii_isdigit (word->at[i]); i++) {
    if (n > G_MAXUINT32)
      return 0;
    n = n * 10 + (guint64) (word->at[i] - '0');
  }
  return n;
}

gboolean
fab_line_value (const FabLine *line, const char *key, FabWord *value)
{
  const char *end = line->whole.at + line->whole.length;
  const char *at = line->whole.length > 0 ? g_strstr_len (line->whole.at, (gssize) line->whole.length, key)
                                          : NULL;

  if (at == NULL)
    return FALSE;
  for (at += strlen (key); at < end && is_blank (*at);)
    at++;
  if (at == end || *at != ':')
    return FALSE;
  for (at++; at < end && is_blank (*at);)
    at++;
  *value = (FabWord){ .at = at, .length = 0 };
  while (at < end && !is_blank (*at)) {
    at++;
    value->length++;
  }
  return value->length > 0;
}
