/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/variants/blast.h"

#include <string.h>

static const double least_share = 0.01;  /* of a collective's time */
static const double least_wait = 0.0005; /* of a step */

static const FabVariantCollective *
collective_at (const FabVariant *variant, guint index)
{
  return &g_array_index (variant->collectives, FabVariantCollective, index);
}

/* The same operations on the same sizes, one after another. */
static gboolean
have_the_same (const FabVariant *before, const FabVariant *after)
{
  if (before->collectives->len != after->collectives->len)
    return FALSE;
  for (guint i = 0; i < before->collectives->len; i++) {
    const FabVariantCollective *a = collective_at (before, i), *b = collective_at (after, i);

    if (a->bytes != b->bytes || strcmp (a->op, b->op) != 0)
      return FALSE;
  }
  return TRUE;
}

/* Exposed and idle, mean over ranks. */
static double
mean_wait_s (const FabVariant *variant)
{
  double sum_s = 0, n = 0;

  for (guint i = 0; i < variant->classes->len; i++) {
    const FabVariantClass *one = &g_array_index (variant->classes, FabVariantClass, i);

    sum_s += one->waited_s * one->n_ranks;
    n += one->n_ranks;
  }
  return n > 0 ? sum_s / n : 0;
}

FabBlast
fab_blast_of (const FabVariant *before, const FabVariant *after)
{
  FabBlast self = { 0, 0, 0, 0, 0 };
  double wait_s = mean_wait_s (before);
  double more_s = least_wait * fab_variant_time_s (before, FAB_FACT_STEP);
  gboolean is_alike = before->classes->len == after->classes->len;

  self.n_collectives = have_the_same (before, after) ? before->collectives->len : 0;
  for (guint i = 0; i < self.n_collectives; i++) {
    double change_s = collective_at (after, i)->time_s - collective_at (before, i)->time_s;

    self.n_slower += change_s > least_share * collective_at (before, i)->time_s;
    self.n_faster += -change_s > least_share * collective_at (before, i)->time_s;
  }
  for (guint i = 0; i < after->classes->len; i++) {
    const FabVariantClass *one = &g_array_index (after->classes, FabVariantClass, i);
    double then_s = is_alike ? g_array_index (before->classes, FabVariantClass, i).waited_s : wait_s;

    self.n_ranks += one->n_ranks;
    self.n_waiting += one->waited_s > then_s + more_s ? one->n_ranks : 0;
  }
  return self;
}

/* --- algorithms --- */

static gboolean
is_of (const FabSwitch *one, const FabVariantCollective *before, const FabVariantCollective *after)
{
  return one->bytes == before->bytes && strcmp (one->op, before->op) == 0
      && g_strcmp0 (one->before, before->algorithm) == 0 && g_strcmp0 (one->after, after->algorithm) == 0;
}

static void
add_switch (GArray *switches, const FabVariantCollective *before, const FabVariantCollective *after)
{
  FabSwitch added = { before->op, before->algorithm, after->algorithm, before->bytes, 0, 0, 0 };
  FabSwitch *found = NULL;

  for (guint i = 0; i < switches->len && found == NULL; i++)
    if (is_of (&g_array_index (switches, FabSwitch, i), before, after))
      found = &g_array_index (switches, FabSwitch, i);
  if (found == NULL) {
    g_array_append_val (switches, added);
    found = &g_array_index (switches, FabSwitch, switches->len - 1);
  }
  found->n++;
  found->before_s += before->time_s;
  found->after_s += after->time_s;
}

static gint
by_time (gconstpointer a, gconstpointer b)
{
  double x = ((const FabSwitch *) a)->before_s, y = ((const FabSwitch *) b)->before_s;

  return (x < y) - (x > y);
}

GArray *
fab_switches_of (const FabVariant *before, const FabVariant *after)
{
  GArray *switches = g_array_new (FALSE, FALSE, sizeof (FabSwitch));

  for (guint i = 0; have_the_same (before, after) && i < before->collectives->len; i++)
    if (g_strcmp0 (collective_at (before, i)->algorithm, collective_at (after, i)->algorithm) != 0)
      add_switch (switches, collective_at (before, i), collective_at (after, i));
  g_array_sort (switches, by_time); /* stable */
  return switches;
}
