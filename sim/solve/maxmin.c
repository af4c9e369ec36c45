/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/solve/maxmin.h"

/* The level at which a link, or a flow's limit, stops the flows that it holds back. */
typedef struct {
  double level;
  guint id; /* link; or n_links + flow for a limit */
} Stop;

struct _FabMaxmin {
  const FabMaxminProblem *problem;
  double *rates;
  guint *binding;
  GArray *heap;                      /* of Stop, a binary heap ordered by (level, id) */
  guint *link_starts;                /* [n_links + 1] into link_flows */
  guint *link_entries;               /* entries grouped by link: indices into problem->links */
  guint *entry_flow;                 /* the flow of each entry */
  double *left;                      /* capacity that frozen flows do not use */
  double *demand;                    /* sum of weight x share of the flows that still rise */
  double *whole_left, *whole_demand; /* both when they were last summed, before subtractions */
  guint n_links, n_entries;          /* allocated sizes */
};

FabMaxmin *
fab_maxmin_new (void)
{
  FabMaxmin *self = g_new0 (FabMaxmin, 1);

  self->heap = g_array_new (FALSE, FALSE, sizeof (Stop));
  return self;
}

void
fab_maxmin_free (FabMaxmin *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->heap);
  g_free (self->link_starts);
  g_free (self->link_entries);
  g_free (self->entry_flow);
  g_free (self->left);
  g_free (self->demand);
  g_free (self->whole_left);
  g_free (self->whole_demand);
  g_free (self);
}

static void
reserve (FabMaxmin *self, guint n_links, guint n_entries)
{
  if (n_links > self->n_links || self->link_starts == NULL) {
    self->n_links = MAX (n_links, 2 * self->n_links);
    self->link_starts = g_renew (guint, self->link_starts, self->n_links + 1);
    self->left = g_renew (double, self->left, self->n_links);
    self->demand = g_renew (double, self->demand, self->n_links);
    self->whole_left = g_renew (double, self->whole_left, self->n_links);
    self->whole_demand = g_renew (double, self->whole_demand, self->n_links);
  }
  if (n_entries > self->n_entries) {
    self->n_entries = MAX (n_entries, 2 * self->n_entries);
    self->link_entries = g_renew (guint, self->link_entries, self->n_entries);
    self->entry_flow = g_renew (guint, self->entry_flow, self->n_entries);
  }
}

static double
share_of (const FabMaxminProblem *problem, guint flow)
{
  return problem->shares ? problem->shares[flow] : 1;
}

static gboolean
is_before (Stop a, Stop b)
{
  return a.level < b.level || (a.level <= b.level && a.id < b.id);
}

static void
heap_sift_down (GArray *heap, guint index)
{
  Stop *stops = (Stop *) (gpointer) heap->data;
  Stop moved = stops[index];

  for (guint child; (child = 2 * index + 1) < heap->len; index = child) {
    if (child + 1 < heap->len && is_before (stops[child + 1], stops[child]))
      child++;
    if (!is_before (stops[child], moved))
      break;
    stops[index] = stops[child];
  }
  stops[index] = moved;
}

static void
heap_drop_first (GArray *heap)
{
  Stop *stops = (Stop *) (gpointer) heap->data;

  stops[0] = stops[heap->len - 1];
  g_array_set_size (heap, heap->len - 1);
  if (heap->len > 0)
    heap_sift_down (heap, 0);
}

/* Sorts the entries by link, so that a full link finds its flows. */
static void
index_links (FabMaxmin *self)
{
  const FabMaxminProblem *p = self->problem;
  guint n_entries = p->starts[p->n_flows];

  for (guint l = 0; l < p->n_links; l++)
    self->link_starts[l] = 0;
  for (guint e = 0; e < n_entries; e++)
    self->link_starts[p->links[e]]++;
  for (guint l = 1; l < p->n_links; l++)
    self->link_starts[l] += self->link_starts[l - 1];
  self->link_starts[p->n_links] = n_entries;
  /* Each link begins at the end of its entries and is filled from there. */
  for (guint f = p->n_flows; f-- > 0;)
    for (guint e = p->starts[f]; e < p->starts[f + 1]; e++) {
      self->entry_flow[e] = f;
      self->link_entries[--self->link_starts[p->links[e]]] = e;
    }
}

static void
start_levels (FabMaxmin *self)
{
  const FabMaxminProblem *p = self->problem;

  for (guint l = 0; l < p->n_links; l++) {
    self->left[l] = p->capacity[l];
    self->demand[l] = 0;
  }
  for (guint f = 0; f < p->n_flows; f++) {
    self->rates[f] = -1;
    for (guint e = p->starts[f]; e < p->starts[f + 1]; e++)
      self->demand[p->links[e]] += p->weights[e] * share_of (p, f);
    if (p->limits && p->limits[f] > 0) {
      Stop stop = { p->limits[f] / share_of (p, f), p->n_links + f };
      g_array_append_val (self->heap, stop);
    } else {
      g_assert (p->starts[f + 1] > p->starts[f]);
    }
  }
  for (guint l = 0; l < p->n_links; l++) {
    Stop stop = { self->left[l] / self->demand[l], l };

    self->whole_left[l] = self->left[l];
    self->whole_demand[l] = self->demand[l];
    if (self->demand[l] > 0)
      g_array_append_val (self->heap, stop);
  }
  for (guint i = self->heap->len / 2; i-- > 0;)
    heap_sift_down (self->heap, i);
}

static void
freeze_flow (FabMaxmin *self, guint flow, double rate, guint binding)
{
  const FabMaxminProblem *p = self->problem;

  self->rates[flow] = rate;
  if (self->binding)
    self->binding[flow] = binding;
  for (guint e = p->starts[flow]; e < p->starts[flow + 1]; e++) {
    self->left[p->links[e]] -= p->weights[e] * rate;
    self->demand[p->links[e]] -= p->weights[e] * share_of (p, flow);
  }
}

/* Whether the rounding errors of repeated subtraction are large beside what is left, so that the sums must be
 * computed again. */
static gboolean
is_worn (const FabMaxmin *self, guint link)
{
  const double worn = 1e-3;

  return self->left[link] < worn * self->whole_left[link]
      || self->demand[link] < worn * self->whole_demand[link];
}

/* Computes the sums of a link from its flows. This is rare: a sum must first shrink a thousandfold. */
static void
sum_link (FabMaxmin *self, guint link)
{
  const FabMaxminProblem *p = self->problem;
  double left = p->capacity[link], demand = 0;

  for (guint i = self->link_starts[link]; i < self->link_starts[link + 1]; i++) {
    guint entry = self->link_entries[i];
    guint flow = self->entry_flow[entry];

    if (self->rates[flow] >= 0)
      left -= p->weights[entry] * self->rates[flow];
    else
      demand += p->weights[entry] * share_of (p, flow);
  }
  self->left[link] = self->whole_left[link] = MAX (left, 0);
  self->demand[link] = self->whole_demand[link] = demand;
}

static void
freeze_link (FabMaxmin *self, guint link, double level)
{
  for (guint i = self->link_starts[link]; i < self->link_starts[link + 1]; i++) {
    guint flow = self->entry_flow[self->link_entries[i]];

    if (self->rates[flow] < 0)
      freeze_flow (self, flow, level * share_of (self->problem, flow), link);
  }
}

/* A link's level only rises while other flows freeze, so an outdated first stop is put back instead of searched
 * for. */
static void
stop_first (FabMaxmin *self)
{
  const FabMaxminProblem *p = self->problem;
  Stop *first = &g_array_index (self->heap, Stop, 0);
  Stop stop = *first;

  if (stop.id >= p->n_links) {
    heap_drop_first (self->heap);
    if (self->rates[stop.id - p->n_links] < 0)
      freeze_flow (self, stop.id - p->n_links, p->limits[stop.id - p->n_links], FAB_MAXMIN_LIMIT);
    return;
  }
  if (is_worn (self, stop.id))
    sum_link (self, stop.id);
  if (self->demand[stop.id] > 0 && self->left[stop.id] / self->demand[stop.id] > stop.level * (1 + 1e-12)) {
    first->level = self->left[stop.id] / self->demand[stop.id];
    heap_sift_down (self->heap, 0);
    return;
  }
  heap_drop_first (self->heap);
  sum_link (self, stop.id);
  if (self->demand[stop.id] > 0)
    freeze_link (self, stop.id, MAX (self->left[stop.id] / self->demand[stop.id], stop.level));
}

void
fab_maxmin_solve (FabMaxmin *self, const FabMaxminProblem *problem, double *rates, guint *binding)
{
  self->problem = problem;
  self->rates = rates;
  self->binding = binding;
  reserve (self, problem->n_links, problem->starts[problem->n_flows]);
  index_links (self);
  start_levels (self);
  while (self->heap->len > 0)
    stop_first (self);
  for (guint f = 0; f < problem->n_flows; f++)
    g_assert (rates[f] >= 0);
}
