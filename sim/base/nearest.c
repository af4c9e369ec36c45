/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/nearest.h"

#include <string.h>

/* Finds the known name that a mistyped one was meant to be.
 *
 * The distance is optimal string alignment: insertions, deletions, replacements and swaps of neighbours cost 1 each,
 * case costs nothing. A name is near when it differs in at most a third of its letters, or when it begins with the
 * word. Of equally near names, the one closest in length wins, then the first. O(n m) per candidate, with three rows
 * on the stack. Words over MAX_WORD bytes have no near names.
 */

#define MAX_WORD 63

static guint
minimum (guint a, guint b, guint c)
{
  return MIN (a, MIN (b, c));
}

static guint
distance (const char *a, const char *b)
{
  guint rows[3][MAX_WORD + 1];
  guint *before = rows[0], *above = rows[1], *row = rows[2];
  guint n_a = (guint) strlen (a), n_b = (guint) strlen (b);

  for (guint j = 0; j <= n_b; j++)
    above[j] = j;
  for (guint i = 1; i <= n_a; i++) {
    guint *spare = before;

    row[0] = i;
    for (guint j = 1; j <= n_b; j++) {
      char x = g_ascii_tolower (a[i - 1]), y = g_ascii_tolower (b[j - 1]);

      row[j] = minimum (above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y));
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
is_beginning (const char *word, const char *candidate)
{
  return strlen (word) >= 3 && g_ascii_strncasecmp (word, candidate, strlen (word)) == 0;
}

const char *
fab_nearest (const char *word, const char *const *candidates)
{
  const char *best = NULL;
  guint best_score = G_MAXUINT, length = (guint) strlen (word);

  if (length > MAX_WORD)
    return NULL;
  for (guint i = 0; candidates != NULL && candidates[i] != NULL; i++) {
    guint other = (guint) strlen (candidates[i]), longest = MAX (length, other);
    guint most = is_beginning (word, candidates[i]) ? longest - 1 : (longest + 2) / 3;
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
  return best;
}

char *
fab_nearest_note (const char *word, const char *list)
{
  g_auto (GStrv) names = g_strsplit (list, ", ", -1);
  const char *nearest = fab_nearest (word, (const char *const *) names);

  return nearest != NULL ? g_strdup_printf ("; nearest is %s", nearest) : g_strdup ("");
}
