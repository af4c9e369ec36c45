/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/execution/contention.h"

#include "sim/collective/collective.h"
#include "sim/net/net.h"

/* A collective of the iteration that moved bytes. */
typedef struct {
  FabCollectiveRecord *record;
  const FabFootprint *footprint;
  double line_bytes; /* of size, with what the protocol adds: times a line weight it is what a link carries */
  FabTimePs alone_ps;
  FabTimePs start_ps, end_ps; /* those of the record, kept here because every pair of uses is compared */
} Use;

/* The most links that are looked at in an iteration: some ten milliseconds. */
enum { MOST_VISITS = 4000000 };
static const double slower = 1.005; /* rounding and the first packets are no contention */
static const double rounding = 1e-9;

/* A use that is looked at, by what it is sorted by: there may be millions, and few bytes are moved fast. */
typedef struct {
  FabTimePs exposed_ps;
  guint use;
} Place;

static gint
most_exposed_first (gconstpointer a, gconstpointer b)
{
  const Place *x = a, *y = b;

  return x->exposed_ps > y->exposed_ps ? -1 : x->exposed_ps < y->exposed_ps;
}

static GArray *
list_uses (const FabDag *dag, GArray *records)
{
  GArray *uses = g_array_new (FALSE, FALSE, sizeof (Use));

  for (guint i = 0; i < records->len; i++) {
    FabCollectiveRecord *record = &g_array_index (records, FabCollectiveRecord, i);
    const FabCollectivePlan *plan = &dag->collectives[record->index].plan;

    if (plan->footprint == NULL || plan->bytes == 0)
      continue;
    FabStream stream = fab_collective_plan_stream (plan);
    Use use = { record,
                plan->footprint,
                (double) stream.bytes * stream.wire_factor,
                stream.startup_ps + fab_flow_ps ((double) stream.bytes, fab_stream_rate_alone (&stream)),
                record->start_ps,
                record->end_ps };
    g_array_append_val (uses, use);
  }
  return uses;
}

static gboolean
is_slowed (const Use *use)
{
  return (double) (use->end_ps - use->start_ps) > (double) use->alone_ps * slower;
}

/* Those that are looked at, the most exposed first; of equally exposed ones the first record, as the sort is stable.
 * Where links are shared, these are the uses that were slowed. (transfer full) */
static GArray *
sort_places (const GArray *uses, gboolean contends)
{
  GArray *places = g_array_new (FALSE, FALSE, sizeof (Place));

  for (guint i = 0; i < uses->len; i++) {
    const Use *use = &g_array_index (uses, Use, i);
    const Place place = { use->record->exposed_ps, i };

    if (!contends || is_slowed (use))
      g_array_append_val (places, place);
  }
  g_array_sort (places, most_exposed_first);
  return places;
}

/* Returns the part of `other`'s duration during which `use` was under way. */
static double
share_within (const Use *use, const Use *other)
{
  FabTimePs from_ps = MAX (use->start_ps, other->start_ps), to_ps = MIN (use->end_ps, other->end_ps);

  return (double) MAX (to_ps - from_ps, 0) / (double) (other->end_ps - other->start_ps);
}

/* Adds line bytes to the links that both cross. */
static void
add (const FabFootprint *own, const FabFootprint *other, double line_bytes, double *carried)
{
  for (guint i = 0, k = 0; i < own->n && k < other->n;) {
    if (own->links[i] < other->links[k])
      i++;
    else if (own->links[i] > other->links[k])
      k++;
    else
      carried[i++] += line_bytes * other->line_weights[k++];
  }
}

static double
rate_of (const FabGraph *graph, const FabFootprint *footprint, guint i)
{
  return (double) fab_graph_link (graph, footprint->links[i])->rate_bytes_per_s;
}

/* Returns the link that takes longest; that of the record, unless another one is slower by more than rounding. */
static FabLinkId
find_slowest (const Use *use, const FabGraph *graph, gboolean contends, const double *carried)
{
  const FabFootprint *footprint = use->footprint;
  guint slowest = fab_footprint_find (footprint, use->record->binding_link);
  double most_s = carried[slowest] / rate_of (graph, footprint, slowest),
         alone_s = footprint->line_weights[slowest] / rate_of (graph, footprint, slowest);

  for (guint i = 0; i < footprint->n; i++) {
    double seconds = carried[i] / rate_of (graph, footprint, i);

    if (seconds <= most_s * (1 + rounding)
        || (!contends
            && footprint->line_weights[i] / rate_of (graph, footprint, i) < alone_s * (1 - rounding)))
      continue;
    slowest = i;
    most_s = seconds;
  }
  return footprint->links[slowest];
}

void
fab_contention_attribute (const FabDag *dag, const FabGraph *graph, gboolean contends, GArray *records)
{
  g_autoptr (GArray) uses = list_uses (dag, records), places = sort_places (uses, contends),
                     carried = g_array_new (FALSE, TRUE, sizeof (double));
  guint64 n_visits = 0;

  for (guint i = 0; i < places->len && n_visits < MOST_VISITS; i++) {
    const Use *use = &g_array_index (uses, Use, g_array_index (places, Place, i).use);

    g_array_set_size (carried, 0);
    g_array_set_size (carried, use->footprint->n); /* zeros */
    for (guint k = 0; k < uses->len; k++) {
      const Use *other = &g_array_index (uses, Use, k);
      double share = share_within (use, other);

      n_visits += share > 0 ? use->footprint->n + other->footprint->n : 1;
      if (share > 0)
        add (use->footprint, other->footprint, other->line_bytes * share,
             (double *) (gpointer) carried->data);
    }
    use->record->binding_link = find_slowest (use, graph, contends,
                                              (const double *) (gconstpointer) carried->data);
    if (contends)
      use->record->waits_for_ends = 0;
  }
}
