/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/nearest.h"

#include <string.h>

/* Finds the known name that a mistyped one was meant to be.
 *
 * The distance is optimal string alignment: insertions, deletions, replacements and swaps of neighbours cost 1 each, a
 * digit for another digit, one more or one less of a number 2, since it is another product, and case costs nothing. A
 * name that is the word and a further part (h100: dgx-h100, h100-sxm5-80gb) is nearest, unless one is a single letter
 * away. Other names are near when they differ in at most a third of their letters, or begin or end with the word. Of
 * equally near names, the one closest in length wins, then the first. O(n m) per candidate, with three rows on the
 * stack. Words over MAX_WORD bytes have no near names.
 *
 * Where no name is near, letters and digits decide: the shortest name that contains those of the word (hdr: ib-hdr),
 * or else the longest name that the word contains (meta-llama/Llama-2-7b-hf: llama2-7b).
 */

#define MAX_WORD 63
enum { LEAST_CONTAINED = 3, LEAST_CONTAINING = 5 };

static guint
minimum (guint a, guint b, guint c)
{
  return MIN (a, MIN (b, c));
}

static guint
replacement (char x, char y)
{
  return x == y ? 0 : g_ascii_isdigit (x) && g_ascii_isdigit (y) ? 2 : 1;
}

/* The cost of a letter more or less, the one at `at`: a digit makes another number of those beside it. */
static guint
addition (const char *text, guint at)
{
  gboolean has_digits = (at > 0 && g_ascii_isdigit (text[at - 1])) || g_ascii_isdigit (text[at + 1]);

  return g_ascii_isdigit (text[at]) && has_digits ? 2 : 1;
}

static guint
distance (const char *a, const char *b)
{
  guint rows[3][MAX_WORD + 1];
  guint *before = rows[0], *above = rows[1], *row = rows[2];
  guint n_a = (guint) strlen (a), n_b = (guint) strlen (b);

  above[0] = 0;
  for (guint j = 1; j <= n_b; j++)
    above[j] = above[j - 1] + addition (b, j - 1);
  for (guint i = 1; i <= n_a; i++) {
    guint *spare = before;

    row[0] = above[0] + addition (a, i - 1);
    for (guint j = 1; j <= n_b; j++) {
      char x = g_ascii_tolower (a[i - 1]), y = g_ascii_tolower (b[j - 1]);

      row[j] = minimum (above[j] + addition (a, i - 1), row[j - 1] + addition (b, j - 1),
                        above[j - 1] + replacement (x, y));
      if (i > 1 && j > 1 && x == g_ascii_tolower (b[j - 2]) && g_ascii_tolower (a[i - 2]) == y)
        row[j] = MIN (row[j], before[j - 2] + 1);
    }
    before = above;
    above = row;
    row = spare;
  }
  return above[n_b];
}

static gboolean
is_beginning_or_end (const char *word, const char *candidate)
{
  gsize n = strlen (word), n_candidate = strlen (candidate);

  return n >= 3 && n <= n_candidate
      && (g_ascii_strncasecmp (word, candidate, n) == 0
          || g_ascii_strcasecmp (word, candidate + n_candidate - n) == 0);
}

/* Writes the letters and digits of a text, in lower case; returns their number. */
static guint
letters_of (const char *text, char out[MAX_WORD + 1])
{
  guint n = 0;

  for (; *text != '\0' && n < MAX_WORD; text++)
    if (g_ascii_isalnum (*text))
      out[n++] = g_ascii_tolower (*text);
  out[n] = '\0';
  return n;
}

static const char *
containing (const char *word, const char *const *candidates)
{
  char own[MAX_WORD + 1], other[MAX_WORD + 1];
  const char *around = NULL, *within = NULL;
  guint n_own = letters_of (word, own), n_around = G_MAXUINT, n_within = 0;

  for (guint i = 0; candidates != NULL && candidates[i] != NULL; i++) {
    guint n = letters_of (candidates[i], other);

    if (n_own >= LEAST_CONTAINED && n < n_around && strstr (other, own) != NULL) {
      around = candidates[i];
      n_around = n;
    } else if (n >= LEAST_CONTAINING && n > n_within && strstr (own, other) != NULL) {
      within = candidates[i];
      n_within = n;
    }
  }
  return around != NULL ? around : within;
}

static gboolean
is_parted (char c)
{
  return c == '-' || c == '_' || c == '.';
}

/* The first candidate that is the word and a number (roce: roce-25, not gaudi2-roce), or else the shortest that is a
 * further part and the word, or else the first that is the word and a further part; NULL: none. */
static const char *
with_a_further_part (const char *word, const char *const *candidates)
{
  const char *before = NULL, *behind = NULL;
  gsize n = strlen (word);

  for (guint i = 0; n >= LEAST_CONTAINED && candidates != NULL && candidates[i] != NULL; i++) {
    const char *name = candidates[i];
    gsize n_name = strlen (name);

    if (n_name <= n)
      continue;
    if (is_parted (name[n]) && g_ascii_strncasecmp (word, name, n) == 0) {
      if (name[n + 1] != '\0' && strspn (name + n + 1, "0123456789") == n_name - n - 1)
        return name;
      behind = behind != NULL ? behind : name;
    }
    if (is_parted (name[n_name - n - 1]) && g_ascii_strcasecmp (word, name + n_name - n) == 0
        && (before == NULL || n_name < strlen (before)))
      before = name;
  }
  return before != NULL ? before : behind;
}

const char *
fab_nearest (const char *word, const char *const *candidates)
{
  const char *best = NULL;
  const char *longer = with_a_further_part (word, candidates);
  guint best_score = G_MAXUINT, length = (guint) strlen (word);

  if (length > MAX_WORD)
    return NULL;
  for (guint i = 0; candidates != NULL && candidates[i] != NULL; i++) {
    guint other = (guint) strlen (candidates[i]), longest = MAX (length, other);
    guint most = is_beginning_or_end (word, candidates[i]) ? longest - 1 : (longest + 2) / 3;
    guint d, score;

    if (longest > MAX_WORD || longest - MIN (length, other) > most)
      continue;
    d = distance (word, candidates[i]);
    score = d * (MAX_WORD + 1) + longest - MIN (length, other);
    if (d > most || d >= longest || score >= best_score)
      continue;
    best = candidates[i];
    best_score = score;
  }
  if (longer != NULL && best_score >= 2 * (MAX_WORD + 1))
    return longer;
  return best != NULL ? best : containing (word, candidates);
}

/* The shortest name after those of `taken` whose summary says the word; G_MAXUINT: there is none. */
static guint
next_said (const char *own, const char *const *names, const char *const *summaries, const gboolean *taken)
{
  guint best = G_MAXUINT;

  for (guint i = 0; names[i] != NULL; i++) {
    char other[4 * MAX_WORD + 1];
    guint n = 0;

    if (taken[i] || summaries[i] == NULL || (best != G_MAXUINT && strlen (names[i]) >= strlen (names[best])))
      continue;
    for (const char *c = summaries[i]; *c != '\0' && n + 1 < sizeof other; c++)
      if (g_ascii_isalnum (*c))
        other[n++] = g_ascii_tolower (*c);
    other[n] = '\0';
    if (strstr (other, own) != NULL)
      best = i;
  }
  return best;
}

char *
fab_nearest_said (const char *word, const char *const *names, const char *const *summaries)
{
  enum { MOST = 4 };
  char own[MAX_WORD + 1];
  guint n = names != NULL ? g_strv_length ((char **) names) : 0, found;
  g_autofree gboolean *taken = g_new0 (gboolean, n + 1);
  GString *list = g_string_new (NULL);

  if (n > 0 && letters_of (word, own) >= LEAST_CONTAINED)
    for (guint i = 0; i < MOST && (found = next_said (own, names, summaries, taken)) != G_MAXUINT; i++) {
      g_string_append_printf (list, "%s%s", list->len > 0 ? ", " : "", names[found]);
      taken[found] = TRUE;
    }
  return g_string_free (list, list->len == 0);
}

char *
fab_nearest_note (const char *word, const char *list)
{
  g_auto (GStrv) names = g_strsplit (list, ", ", -1);
  const char *nearest = fab_nearest (word, (const char *const *) names);

  return nearest != NULL ? g_strdup_printf ("; nearest is %s", nearest) : g_strdup ("");
}
