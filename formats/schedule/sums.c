/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/schedule/sums.h"

#include <string.h>

#define MOST_BYTES 134217728

static guint
value_hash (gconstpointer data)
{
  const guint *words = data;
  guint hash = 5381;

  for (guint i = 0; i <= words[0]; i++)
    hash = hash * 33 + words[i + 1];
  return hash;
}

static gboolean
value_equal (gconstpointer a, gconstpointer b)
{
  const guint *x = a, *y = b;

  return x[0] == y[0] && memcmp (x, y, (x[0] + 2) * sizeof *x) == 0;
}

void
fab_sums_init (FabSums *self, guint n_ranks)
{
  *self = (FabSums){ .n_words = (n_ranks + 31) / 32,
                     .all = g_ptr_array_new_with_free_func (g_free),
                     .numbers = g_hash_table_new (value_hash, value_equal),
                     .sums = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL) };
  g_ptr_array_add (self->all, NULL);
}

void
fab_sums_clear (FabSums *self)
{
  g_hash_table_unref (self->numbers);
  g_hash_table_unref (self->sums);
  g_ptr_array_unref (self->all);
}

/* Returns the number of a value; takes `words`. 0: there are too many. */
static guint
values_keep (FabSums *self, guint *words)
{
  gpointer known;

  if (g_hash_table_lookup_extended (self->numbers, words, NULL, &known)) {
    g_free (words);
    return GPOINTER_TO_UINT (known);
  }
  self->n_bytes += (self->n_words + 16) * sizeof (guint);
  if (self->n_bytes > MOST_BYTES) {
    g_free (words);
    return 0;
  }
  g_ptr_array_add (self->all, words);
  g_hash_table_insert (self->numbers, words, GUINT_TO_POINTER (self->all->len - 1));
  return self->all->len - 1;
}

static guint *
value_new (const FabSums *self, guint place)
{
  guint *words = g_new0 (guint, self->n_words + FAB_SUM_WORDS);

  words[0] = self->n_words;
  words[FAB_SUM_PLACE] = place;
  return words;
}

guint
fab_sums_one (FabSums *self, guint place, guint rank)
{
  guint *words = value_new (self, place);

  words[FAB_SUM_WORDS + rank / 32] = 1u << rank % 32;
  return values_keep (self, words);
}

guint
fab_sums_of_all (FabSums *self, guint place, guint n_ranks)
{
  guint *words = value_new (self, place);

  for (guint rank = 0; rank < n_ranks; rank++)
    words[FAB_SUM_WORDS + rank / 32] |= 1u << rank % 32;
  return values_keep (self, words);
}

guint
fab_sums_find_twice (const FabSums *self, const guint *a, const guint *b)
{
  for (guint i = 0; i < self->n_words; i++)
    if ((a[FAB_SUM_WORDS + i] & b[FAB_SUM_WORDS + i]) != 0)
      return i * 32 + (guint) g_bit_nth_lsf (a[FAB_SUM_WORDS + i] & b[FAB_SUM_WORDS + i], -1);
  return G_MAXUINT;
}

guint
fab_sums_add (FabSums *self, guint a, guint b)
{
  gint64 key = (gint64) ((guint64) MIN (a, b) << 32 | MAX (a, b));
  gpointer known;

  if (g_hash_table_lookup_extended (self->sums, &key, NULL, &known))
    return GPOINTER_TO_UINT (known);
  guint *words = value_new (self, fab_sums_at (self, a)[FAB_SUM_PLACE]);
  for (guint i = 0; i < self->n_words; i++)
    words[FAB_SUM_WORDS + i] = fab_sums_at (self, a)[FAB_SUM_WORDS + i]
                             | fab_sums_at (self, b)[FAB_SUM_WORDS + i];
  guint sum = values_keep (self, words);
  self->n_bytes += 64;
  if (sum != 0)
    g_hash_table_insert (self->sums, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (sum));
  return sum;
}
