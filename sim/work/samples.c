/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/samples.h"

typedef struct {
  guint link;
  double busy_fraction;
} Busy;

/* A change of the rate over a link. */
typedef struct {
  FabTimePs time_ps;
  double change_bytes_per_s;
  gint change; /* change of the number of collectives that use it */
} Step;

static gint
busiest_first (gconstpointer a, gconstpointer b)
{
  const Busy *x = a, *y = b;

  if (x->busy_fraction != y->busy_fraction)
    return x->busy_fraction > y->busy_fraction ? -1 : 1;
  return x->link < y->link ? -1 : x->link > y->link;
}

static gint
compare_steps (gconstpointer a, gconstpointer b)
{
  const Step *x = a, *y = b;

  return x->time_ps < y->time_ps ? -1 : x->time_ps > y->time_ps;
}

/* Returns the links that bind some collective, the busiest first. */
static GArray *
find_links (const GArray *records, const GArray *loads)
{
  g_autoptr (GHashTable) binding = g_hash_table_new (NULL, NULL);
  GArray *links = g_array_new (FALSE, FALSE, sizeof (Busy));

  for (guint i = 0; i < records->len; i++) {
    guint link = g_array_index (records, FabCollectiveRecord, i).binding_link;

    if (link != FAB_RECORD_NO_LINK)
      g_hash_table_add (binding, GUINT_TO_POINTER (link + 1));
  }
  for (guint i = 0; i < loads->len && g_hash_table_size (binding) > 0; i++) {
    const FabLinkLoadRecord *load = &g_array_index (loads, FabLinkLoadRecord, i);
    Busy busy = { load->link, load->busy_fraction };

    if (g_hash_table_contains (binding, GUINT_TO_POINTER (load->link + 1)))
      g_array_append_val (links, busy);
  }
  g_array_sort (links, busiest_first);
  g_array_set_size (links, MIN (links->len, FAB_SAMPLED_LINKS));
  return links;
}

/* Returns the payload bytes over a link per byte of the collective; 0: the collective does not use it. O(log n). */
static double
weight_on (const FabFootprint *footprint, FabLinkId link)
{
  guint low = 0, high = footprint ? footprint->n : 0;

  while (low < high) {
    guint middle = low + (high - low) / 2;

    if (footprint->links[middle] < link)
      low = middle + 1;
    else
      high = middle;
  }
  return footprint && low < footprint->n && footprint->links[low] == link ? footprint->weights[low] : 0;
}

static GArray *
make_steps (const FabDag *dag, const GArray *records, guint link)
{
  GArray *steps = g_array_new (FALSE, FALSE, sizeof (Step));

  for (guint i = 0; i < records->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (records, FabCollectiveRecord, i);
    double weight = weight_on (dag->collectives[record->index].plan.footprint, link);
    double seconds = fab_ps_to_seconds (record->end_ps - record->start_ps);

    if (weight <= 0 || seconds <= 0)
      continue;
    Step start = { record->start_ps, weight * (double) record->bytes / seconds, 1 };
    Step end = { record->end_ps, -start.change_bytes_per_s, -1 };
    g_array_append_val (steps, start);
    g_array_append_val (steps, end);
  }
  g_array_sort (steps, compare_steps);
  return steps;
}

static void
add_link (const FabDag *dag, const GArray *records, guint link, GArray *samples)
{
  g_autoptr (GArray) steps = make_steps (dag, records, link);
  guint iteration = g_array_index (records, FabCollectiveRecord, 0).iteration;
  double rate = 0;
  gint n_moving = 0;

  for (guint i = 0; i + 1 < steps->len; i++) {
    const Step *step = &g_array_index (steps, Step, i);
    FabLinkSampleRecord sample = { iteration, link, step->time_ps, step[1].time_ps, 0 };

    n_moving += step->change;
    rate = n_moving > 0 ? rate + step->change_bytes_per_s : 0; /* drop rounding errors when nothing moves */
    sample.bytes_per_s = rate;
    if (n_moving > 0 && sample.start_ps < sample.end_ps)
      g_array_append_val (samples, sample);
  }
}

void
fab_samples_add (const FabDag *dag, const GArray *records, const GArray *loads, GArray *samples)
{
  g_autoptr (GArray) links = find_links (records, loads);

  for (guint i = 0; i < links->len; i++)
    add_link (dag, records, g_array_index (links, Busy, i).link, samples);
}
