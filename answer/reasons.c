/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/reasons.h"

#include "sim/base/order.h"
#include "sim/base/stats.h"

/* --- exposed time by dimension --- */

static void
share_clear (gpointer share)
{
  g_string_free (((FabRunShare *) share)->ops, TRUE);
}

/* `known` are those that it has. */
static void
note_op (FabRunShare *share, GPtrArray *known, const char *op)
{
  if (g_ptr_array_find (known, op, NULL))
    return;
  g_ptr_array_add (known, (gpointer) op);
  g_string_append_printf (share->ops, "%s%s", share->ops->len > 0 ? ", " : "", op);
}

static GArray *
find_shares (const FabSimulation *simulation)
{
  const FabDag *dag = fab_simulation_dag (simulation);
  const GArray *exposures = fab_simulation_probe (simulation)->exposures;
  GArray *shares = g_array_new (FALSE, FALSE, sizeof (FabRunShare));
  __int128 n_ranks = 0;

  g_array_set_clear_func (shares, share_clear);
  for (guint c = 0; c < dag->n_classes; c++)
    n_ranks += dag->classes[c].n_ranks;
  for (guint d = 0; d < FAB_N_DIMENSIONS; d++) {
    FabRunShare share = { fab_dimension_names[d], 0, g_string_new (NULL) };
    g_autoptr (GPtrArray) known = g_ptr_array_new ();
    __int128 sum = 0;

    for (guint i = 0; i < exposures->len; i++) {
      const FabExposureRecord *record = &g_array_index (exposures, FabExposureRecord, i);

      if (record->dimension != share.dimension)
        continue;
      sum += (__int128) record->exposed_ps * dag->classes[record->rank_class].n_ranks;
      note_op (&share, known, record->op);
    }
    share.exposed_ps = (FabTimePs) (sum / n_ranks);
    if (known->len > 0)
      g_array_append_val (shares, share);
    else
      share_clear (&share);
  }
  return shares;
}

/* --- critical path --- */

static void
part_clear (gpointer part)
{
  g_free (((FabRunPathPart *) part)->name);
}

static FabRunPathPart
part_of (const FabSimulation *simulation, const FabPathRecord *record)
{
  const GArray *collectives = fab_simulation_probe (simulation)->collectives;
  FabRunPathPart part = { .kind = record->kind,
                          .link = record->binding_link,
                          .time_ps = record->end_ps - record->start_ps };

  if (record->collective >= 0)
    part.dimension = g_array_index (collectives, FabCollectiveRecord, (guint) record->collective).dimension;
  return part;
}

static void
add_part (GArray *parts, FabRunPathPart added)
{
  for (guint i = 0; i < parts->len; i++) {
    FabRunPathPart *part = &g_array_index (parts, FabRunPathPart, i);

    if (part->kind == added.kind && part->dimension == added.dimension && part->link == added.link) {
      part->time_ps += added.time_ps;
      return;
    }
  }
  g_array_append_val (parts, added);
}

static gint
longest_first (gconstpointer a, gconstpointer b)
{
  const FabRunPathPart *x = a, *y = b;

  gint order = fab_order_int64s (&y->time_ps, &x->time_ps);

  return order ? order : fab_order_guints (&x->link, &y->link);
}

static const char *
kind_name (FabSpanKind kind)
{
  switch (kind) {
  case FAB_SPAN_COMPUTE: return "compute";
  case FAB_SPAN_COMM: return "communication";
  case FAB_SPAN_LOAD: return "host work";
  case FAB_SPAN_ARRIVAL: return "time until flows arrive";
  case FAB_SPAN_WAIT:
  default: g_assert_not_reached ();
  }
}

/* (transfer full) */
static char *
part_name (const FabSimulation *simulation, const FabRunPathPart *part)
{
  const FabGraph *graph = fab_simulation_cluster (simulation)->graph;
  const char *what = part->dimension && part->dimension != fab_dimension_names[FAB_DIMENSION_OTHER]
                       ? fab_dimension_say (part->dimension)
                       : kind_name (part->kind);

  if (part->link == FAB_NO_LINK)
    return g_strdup (what);
  FabLinkRecord link = fab_simulation_link_record (simulation, part->link);
  g_autofree char *from = (char *) link.from, *to = (char *) link.to,
                  *label = fab_link_class_label (fab_graph_link_class (graph, part->link));
  return g_strdup_printf ("%s; slowest link %s -> %s (%s)", what, from, to, label);
}

static GArray *
find_path (const FabSimulation *simulation)
{
  const GArray *path = fab_simulation_probe (simulation)->path;
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (FabRunPathPart));

  g_array_set_clear_func (parts, part_clear);
  for (guint i = 0; i < path->len; i++)
    add_part (parts, part_of (simulation, &g_array_index (path, FabPathRecord, i)));
  g_array_sort (parts, longest_first);
  for (guint i = 0; i < parts->len; i++) {
    FabRunPathPart *part = &g_array_index (parts, FabRunPathPart, i);

    part->name = part_name (simulation, part);
  }
  return parts;
}

/* --- iterations --- */

FabTimePs
fab_run_quantile_ps (const GArray *steps, double fraction)
{
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (FabTimePs));

  for (guint i = 0; i < steps->len; i++)
    g_array_append_val (times, g_array_index (steps, FabStepRecord, i).times.duration_ps);
  g_array_sort (times, fab_order_int64s);
  return g_array_index (times, FabTimePs, fab_nearest_rank (times->len, fraction));
}

/* As studies count them, from the iteration whose step and tokens per second are said. */
static double
train_days (const FabSimulation *simulation, const GArray *steps)
{
  double tokens_per_s = g_array_index (steps, FabStepRecord, steps->len - 1).tokens_per_s;

  return tokens_per_s > 0 ? fab_simulation_totals (simulation)->train_tokens / tokens_per_s / (24 * 3600) : 0;
}

/* --- memory --- */

static void
find_memory (FabRunReasons *self, const FabSimulation *simulation)
{
  const FabJobTotals *totals = fab_simulation_totals (simulation);
  FabBytes has = fab_simulation_cluster (simulation)->device.memory_bytes;
  guint n_classes = fab_simulation_dag (simulation)->n_classes;

  for (guint c = 0; c < n_classes && totals->memory; c++) {
    FabBytes used = fab_job_totals_memory (totals, c);

    if (used > self->fullest_bytes) {
      self->fullest_class = c;
      self->fullest_bytes = used;
    }
  }
  self->has_memory = self->fullest_bytes > 0;
  self->missing_bytes = has > 0 && self->fullest_bytes > has ? self->fullest_bytes - has : 0;
}

/* --- messages --- */

static FabRunSizes
find_sizes (const FabSimulation *simulation)
{
  const FabDag *dag = fab_simulation_dag (simulation);
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (FabMessageSize));
  FabRunSizes self = { 0 };

  for (guint i = 0; i < dag->n_collectives; i++)
    if (dag->collectives[i].plan.messages != NULL)
      fab_schedule_add_sizes (dag->collectives[i].plan.messages, dag->collectives[i].plan.bytes, sizes);
  self.n = sizes->len;
  for (guint i = 0; i < sizes->len; i++)
    self.n_outside += g_array_index (sizes, FabMessageSize, i).is_outside ? 1 : 0;
  return self;
}

/* --- queues --- */

static gint
compare_queues (gconstpointer a, gconstpointer b)
{
  const FabLinkQueueRecord *x = a, *y = b;

  if (x->most_bytes != y->most_bytes)
    return x->most_bytes < y->most_bytes ? 1 : -1;
  if (x->mean_bytes != y->mean_bytes)
    return x->mean_bytes < y->mean_bytes ? 1 : -1;
  return fab_order_guints (&x->link, &y->link);
}

static void
find_queues (FabRunReasons *self, const FabSimulation *simulation)
{
  g_autoptr (GArray) records = fab_simulation_link_queues (simulation);
  FabLinkQueueRecord *total = &self->all_queues;

  self->queues = g_array_new (FALSE, FALSE, sizeof (FabLinkQueueRecord));
  for (guint i = 0; i < records->len; i++) {
    const FabLinkQueueRecord *record = &g_array_index (records, FabLinkQueueRecord, i);

    total->n_stalls += record->n_stalls;
    total->n_marks += record->n_marks;
    total->n_pauses += record->n_pauses;
    total->n_drops += record->n_drops;
    if (record->most_bytes > 0 || record->n_drops > 0)
      g_array_append_vals (self->queues, record, 1);
  }
  g_array_sort (self->queues, compare_queues);
}

/* --- all --- */

void
fab_run_reasons_find (FabRunReasons *self, const FabSimulation *simulation, const GArray *steps)
{
  *self = (FabRunReasons){ .shares = find_shares (simulation),
                           .path = find_path (simulation),
                           .least_ps = fab_run_quantile_ps (steps, 0),
                           .median_ps = fab_run_quantile_ps (steps, 0.5),
                           .late_ps = fab_run_quantile_ps (steps, 0.95),
                           .most_ps = fab_run_quantile_ps (steps, 1),
                           .train_days = train_days (simulation, steps),
                           .sizes = find_sizes (simulation) };
  find_memory (self, simulation);
  find_queues (self, simulation);
}

void
fab_run_reasons_clear (FabRunReasons *self)
{
  g_clear_pointer (&self->shares, g_array_unref);
  g_clear_pointer (&self->path, g_array_unref);
  g_clear_pointer (&self->queues, g_array_unref);
}
