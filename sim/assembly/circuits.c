/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/assembly/circuits.h"

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  const FabCircuitTime *x = a, *y = b;

  if (x->link != y->link)
    return x->link < y->link ? -1 : 1;
  return (x->circuit->at_ps > y->circuit->at_ps) - (x->circuit->at_ps < y->circuit->at_ps);
}

static FabTimePs
carries_from (const FabCircuitSpec *circuit)
{
  return circuit->at_ps > 0 ? fab_ps_add (circuit->at_ps, circuit->switching_ps) : 0;
}

/* Darkens one link, whose times are [first, end), and returns `end`. */
static guint
darken_link (const GArray *times, guint first, GArray *spells)
{
  FabLinkId link = g_array_index (times, FabCircuitTime, first).link;
  FabTimePs dark_from = 0; /* FAB_TIME_MAX: it stays set */
  guint i;

  for (i = first; i < times->len && g_array_index (times, FabCircuitTime, i).link == link; i++) {
    const FabCircuitSpec *circuit = g_array_index (times, FabCircuitTime, i).circuit;
    FabSpell spell = { link, 0, dark_from, carries_from (circuit) };

    if (spell.until_ps > spell.at_ps)
      g_array_append_val (spells, spell);
    dark_from = MAX (dark_from, circuit->until_ps > 0 ? circuit->until_ps : FAB_TIME_MAX);
  }
  if (dark_from < FAB_TIME_MAX) {
    FabSpell spell = { link, 0, dark_from, 0 };

    g_array_append_val (spells, spell);
  }
  return i;
}

void
fab_circuits_darken (GArray *times, GArray *spells)
{
  g_array_sort (times, compare_times);
  for (guint i = 0; i < times->len;)
    i = darken_link (times, i, spells);
}
