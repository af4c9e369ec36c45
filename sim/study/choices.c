/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/choices.h"

#include <math.h>
#include <string.h>

#include "sim/base/units.h"

enum { MOST_CHOICES = 16 };

/* --- of a simulation --- */

static FabBytes
round_bytes (FabBytes bytes)
{
  FabBytes unit = 1;

  while (bytes / unit >= 100)
    unit *= 10;
  return (bytes + unit / 2) / unit * unit;
}

gboolean
fab_choice_is_same (const FabChoice *a, const FabChoice *b)
{
  return a->n_channels == b->n_channels && strcmp (a->algorithm, b->algorithm) == 0
      && strcmp (a->protocol, b->protocol) == 0;
}

gboolean
fab_choice_is_same_work (const FabChoice *a, const FabChoice *b)
{
  return a->bytes == b->bytes && strcmp (a->op, b->op) == 0 && strcmp (a->dimension, b->dimension) == 0;
}

static void
add_record (GArray *choices, const FabCollectiveRecord *record)
{
  FabChoice one = { .op = g_intern_string (record->op),
                    .dimension = g_intern_string (record->dimension),
                    .algorithm = g_intern_string (record->algorithm),
                    .protocol = g_intern_string (record->protocol),
                    .bytes = round_bytes ((FabBytes) record->bytes),
                    .n_channels = record->n_channels,
                    .seconds = fab_ps_to_seconds (record->end_ps - record->start_ps) };

  for (guint i = 0; i < choices->len; i++) {
    FabChoice *known = &g_array_index (choices, FabChoice, i);

    if (fab_choice_is_same_work (known, &one) && fab_choice_is_same (known, &one)) {
      known->seconds += one.seconds;
      return;
    }
  }
  g_array_append_val (choices, one);
}

static int
compare_seconds (gconstpointer a, gconstpointer b)
{
  double x = ((const FabChoice *) a)->seconds, y = ((const FabChoice *) b)->seconds;

  return (x < y) - (x > y);
}

GArray *
fab_choices_of (const FabSimulation *simulation)
{
  const GArray *records = fab_simulation_probe (simulation)->collectives;
  GArray *choices = g_array_new (FALSE, FALSE, sizeof (FabChoice));

  for (guint i = 0; i < records->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (records, FabCollectiveRecord, i);

    if (record->n_channels > 0) /* 0: one rank, or a flow that no library has planned */
      add_record (choices, record);
  }
  g_array_sort (choices, compare_seconds); /* stable */
  if (choices->len > MOST_CHOICES)
    g_array_set_size (choices, MOST_CHOICES);
  return choices;
}

/* --- as a text --- */

char *
fab_choices_write (const GArray *self)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; self != NULL && i < self->len; i++) {
    const FabChoice *one = &g_array_index (self, FabChoice, i);
    char seconds[G_ASCII_DTOSTR_BUF_SIZE];

    g_ascii_formatd (seconds, sizeof seconds, "%.9g", one->seconds);
    g_string_append_printf (text, "%s%s %s %" G_GUINT64_FORMAT " %s %s %u %s", i > 0 ? ";" : "", one->op,
                            one->dimension, (guint64) one->bytes, one->algorithm, one->protocol,
                            one->n_channels, seconds);
  }
  return g_string_free (text, FALSE);
}

GArray *
fab_choices_read (const char *text)
{
  enum { N_WORDS = 7 };
  g_auto (GStrv) lines = g_strsplit (text != NULL ? text : "", ";", -1);
  g_autoptr (GArray) choices = g_array_new (FALSE, FALSE, sizeof (FabChoice));

  if (text == NULL)
    return NULL;
  for (guint i = 0; lines[i] != NULL; i++) {
    g_auto (GStrv) words = g_strsplit (lines[i], " ", -1);

    if (g_strv_length (words) != N_WORDS)
      return NULL;
    FabChoice one = { .op = g_intern_string (words[0]),
                      .dimension = g_intern_string (words[1]),
                      .bytes = g_ascii_strtoull (words[2], NULL, 10),
                      .algorithm = g_intern_string (words[3]),
                      .protocol = g_intern_string (words[4]),
                      .n_channels = (guint) g_ascii_strtoull (words[5], NULL, 10),
                      .seconds = g_ascii_strtod (words[6], NULL) };
    g_array_append_val (choices, one);
  }
  return g_steal_pointer (&choices);
}
