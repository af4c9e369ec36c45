/* SPDX-License-Identifier: Apache-2.0 */
/* prop_nearest.c - the name that a mistyped one was meant to be, against the rules of sim/base/nearest.c followed word
 * by word: regular expressions for parts, and a recursion for the distance of two words.
 *
 * Words have few letters, digits and signs, so that many are near each other.
 */
#include "tests/support/test.h"

#include "sim/base/nearest.h"
#include "tests/support/seeds.h"

enum { LONGEST = 9, MOST_NAMES = 5 };

static char *
random_word (Random *random)
{
  static const char alphabet[] = "aabbcABd112-_.";
  guint n = random_between (random, 1, LONGEST);
  char *word = g_malloc0 (n + 1);

  for (guint i = 0; i < n; i++)
    word[i] = alphabet[random_below (random, sizeof alphabet - 1)];
  return word;
}

/* The word itself with one letter changed, or with a further part before or behind it, or another one. */
static char *
random_name (Random *random, const char *word)
{
  g_autofree char *part = random_word (random);
  guint what = random_below (random, 6), at = random_below (random, (guint) strlen (word));
  char *name;

  switch (what) {
  case 0: name = g_strdup_printf ("%s-%.*s", word, (int) random_below (random, 4), part); break;
  case 1: name = g_strdup_printf ("%s_%s", part, word); break;
  case 2: name = g_strdup_printf ("%s.%u", word, random_below (random, 100)); break;
  case 3: name = g_strdup_printf ("%.*s%s", (int) at, word, word + at + 1); break;
  case 4:
    name = g_strdup_printf ("%.*s%c%s", (int) at, word, part[0], word + at + random_below (random, 2));
    break;
  default: name = g_steal_pointer (&part);
  }
  if (name[0] == '\0') {
    g_free (name);
    name = g_strdup ("b");
  }
  return name;
}

/* --- the rules --- */

typedef struct {
  const char *a, *b;
  guint known[4 * LONGEST][4 * LONGEST]; /* 1 more than the distance; 0: not known yet */
} Pair;

static guint
more (const char *text, guint at)
{
  gboolean beside = (at > 0 && g_ascii_isdigit (text[at - 1])) || g_ascii_isdigit (text[at + 1]);

  return g_ascii_isdigit (text[at]) && beside ? 2 : 1;
}

static guint
distance (Pair *pair, guint i, guint j)
{
  const char *a = pair->a, *b = pair->b;
  guint best = i == 0 && j == 0 ? 0 : G_MAXUINT / 2;

  if (pair->known[i][j] > 0)
    return pair->known[i][j] - 1;
  if (i > 0)
    best = MIN (best, distance (pair, i - 1, j) + more (a, i - 1));
  if (j > 0)
    best = MIN (best, distance (pair, i, j - 1) + more (b, j - 1));
  if (i > 0 && j > 0) {
    char x = g_ascii_tolower (a[i - 1]), y = g_ascii_tolower (b[j - 1]);
    guint other = g_ascii_isdigit (x) && g_ascii_isdigit (y) ? 2 : 1;

    best = MIN (best, distance (pair, i - 1, j - 1) + (x == y ? 0 : other));
    if (i > 1 && j > 1 && x == g_ascii_tolower (b[j - 2]) && y == g_ascii_tolower (a[i - 2]))
      best = MIN (best, distance (pair, i - 2, j - 2) + 1);
  }
  pair->known[i][j] = best + 1;
  return best;
}

static gboolean
matches (const char *text, const char *before, const char *word, const char *behind)
{
  g_autofree char *escaped = g_regex_escape_string (word, -1);
  g_autofree char *pattern = g_strconcat (before, escaped, behind, NULL);

  return g_regex_match_simple (pattern, text, G_REGEX_CASELESS, 0);
}

static const char *
with_a_part (const char *word, const char *const *names)
{
  const char *before = NULL, *behind = NULL;

  for (guint i = 0; strlen (word) >= 3 && names[i] != NULL; i++) {
    if (matches (names[i], "^", word, "[-_.][0-9]+$"))
      return names[i];
    if (matches (names[i], "^", word, "[-_.]") && behind == NULL)
      behind = names[i];
    if (matches (names[i], "[-_.]", word, "$") && (before == NULL || strlen (names[i]) < strlen (before)))
      before = names[i];
  }
  return before != NULL ? before : behind;
}

static char *
letters_of (const char *word)
{
  GString *letters = g_string_new (NULL);

  for (; *word != '\0'; word++)
    if (g_ascii_isalnum (*word))
      g_string_append_c (letters, g_ascii_tolower (*word));
  return g_string_free (letters, FALSE);
}

static const char *
by_letters (const char *word, const char *const *names)
{
  g_autofree char *own = letters_of (word);
  const char *around = NULL, *within = NULL;
  gsize least = G_MAXSIZE, most = 4;

  for (guint i = 0; names[i] != NULL; i++) {
    g_autofree char *other = letters_of (names[i]);

    if (strlen (own) >= 3 && strstr (other, own) != NULL && strlen (other) < least) {
      around = names[i];
      least = strlen (other);
    }
    if (strstr (own, other) != NULL && strlen (other) > most) {
      within = names[i];
      most = strlen (other);
    }
  }
  return around != NULL ? around : within;
}

static const char *
nearest_by_rules (const char *word, const char *const *names)
{
  const char *part = with_a_part (word, names), *best = NULL;
  guint best_distance = G_MAXUINT, best_difference = 0, n = (guint) strlen (word);

  for (guint i = 0; names[i] != NULL; i++) {
    guint n_name = (guint) strlen (names[i]), longest = MAX (n, n_name),
          difference = longest - MIN (n, n_name);
    gboolean is_end = n >= 3 && (matches (names[i], "^", word, "") || matches (names[i], "", word, "$"));
    guint allowed = is_end ? longest - 1 : (longest + 2) / 3;
    Pair pair = { .a = word, .b = names[i] };
    guint found = distance (&pair, n, n_name);

    if (found > allowed || found >= longest || found > best_distance
        || (found == best_distance && difference >= best_difference))
      continue;
    best = names[i];
    best_distance = found;
    best_difference = difference;
  }
  if (part != NULL && best_distance > 1)
    return part;
  return best != NULL ? best : by_letters (word, names);
}

static void
check (Random *random)
{
  g_autofree char *word = random_word (random);
  g_auto (GStrv) names = g_new0 (char *, MOST_NAMES + 1);
  guint n = random_between (random, 1, MOST_NAMES);

  for (guint i = 0; i < n; i++)
    names[i] = random_name (random, word);
  const char *found = fab_nearest (word, (const char *const *) names),
             *expected = nearest_by_rules (word, (const char *const *) names);

  if (found != expected) {
    g_autofree char *list = g_strjoinv (" ", names);

    fail_msg ("%s of %s: %s, and not %s", word, list, found, expected);
  }
}

static void
the_nearest_follows_from_its_rules (G_GNUC_UNUSED void **state)
{
  seeds_run (20000, check);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { seeds_test (the_nearest_follows_from_its_rules) };

  return cmocka_run_group_tests_name ("nearest", tests, NULL, NULL);
}
