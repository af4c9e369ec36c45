/* SPDX-License-Identifier: Apache-2.0 */
/* doubts_find.c - the sorts of doubts, each the worst link of its sort. */
#include <string.h>

#include "answer/doubts_private.h"

static const double is_full = 1.2;   /* load above which links are worth a doubt */
static const double is_uneven = 1.5; /* a link's load over the mean of its neighbours' */
static const double is_many = 2;     /* load of an incast */
enum { LEAST_SENDERS = 3, MOST_FULL = 64 /* full links that are looked at */ };

static gboolean
is_outside (const FabGraph *graph, FabVertexId vertex)
{
  return fab_graph_vertex (graph, vertex)->node == FAB_NO_NODE;
}

/* Loads of one collective by itself, as multiples of what its busiest port of a NIC has. */
static void
load_alone (const Doubting *self, const FabFootprint *footprint, gboolean is_out, double *loads)
{
  double most = 0;

  memset (loads, 0, sizeof (double) * fab_graph_n_links (self->graph));
  for (guint k = 0; k < footprint->n; k++) {
    const FabLink *link = fab_graph_link (self->graph, footprint->links[k]);
    gboolean leaves = !is_outside (self->graph, link->src) && is_outside (self->graph, link->dst);
    gboolean enters = is_outside (self->graph, link->src) && !is_outside (self->graph, link->dst);

    loads[footprint->links[k]] = footprint->line_weights[k] / (double) link->rate_bytes_per_s;
    if (leaves || (enters && !is_out))
      most = MAX (most, loads[footprint->links[k]]);
  }
  for (guint k = 0; k < footprint->n; k++)
    loads[footprint->links[k]] = most > 0 ? loads[footprint->links[k]] / most : 0;
}

typedef void (*LookFn) (Doubting *self, const double *loads, gpointer worst);

/* At what is under way at once, and at every footprint of the job by itself. */
static void
look_everywhere (Doubting *self, gboolean is_out, LookFn look, gpointer worst)
{
  g_autofree double *loads = g_new0 (double, fab_graph_n_links (self->graph) + 1);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  look (self, self->loads, worst);
  for (guint c = 0; c < self->dag->n_collectives && g_hash_table_size (seen) < 64; c++) {
    const FabFootprint *footprint = self->dag->collectives[c].plan.footprint;

    if (footprint == NULL || self->flows->len > 1 || !g_hash_table_add (seen, (gpointer) footprint))
      continue;
    load_alone (self, footprint, is_out, loads);
    look (self, loads, worst);
  }
}

typedef struct {
  FabLinkId link;
  double load, factor;
  guint n; /* neighbours, or flows */
} Worst;

/* --- colliding paths --- */

/* Links of a leaf to other switches; 0: it is no leaf. */
static guint
mean_uplink (const Doubting *self, FabVertexId leaf, const double *loads, double *mean)
{
  FabLinkId first;
  guint n = fab_graph_out_links (self->graph, leaf, &first), n_up = 0;

  *mean = 0;
  for (FabLinkId l = first; l < first + n; l++)
    if (is_outside (self->graph, fab_graph_link (self->graph, l)->dst)) {
      *mean += loads[l];
      n_up++;
    }
  if (n_up == n || n_up == 0)
    return 0;
  *mean /= n_up;
  return n_up;
}

static void
look_for_collision (Doubting *self, const double *loads, gpointer found)
{
  Worst *worst = found;

  for (FabLinkId l = 0; l < fab_graph_n_links (self->graph); l++) {
    const FabLink *link = fab_graph_link (self->graph, l);
    double mean;

    if (loads[l] <= MAX (is_full, worst->load) || !is_outside (self->graph, link->src)
        || !is_outside (self->graph, link->dst))
      continue;
    guint n = mean_uplink (self, link->src, loads, &mean);
    if (n > 1 && loads[l] >= is_uneven * mean)
      *worst = (Worst){ l, loads[l], loads[l] / mean, n };
  }
}

char *
doubting_find_collision (Doubting *self)
{
  Worst worst = { FAB_NO_LINK, 0, 0, 0 };

  if (self->is_hashed)
    look_everywhere (self, FALSE, look_for_collision, &worst);
  if (worst.link == FAB_NO_LINK)
    return NULL;
  g_autofree char *name = doubting_link_name (self, worst.link);
  return g_strdup_printf (
      "colliding paths: a hash gives %s %.1f times the mean of its %u uplinks; queues there hold "
      "back other flows too, and which, no rate tells",
      name, worst.factor, worst.n);
}

/* --- incast --- */

static void
look_for_incast (Doubting *self, const double *loads, gpointer found)
{
  Worst *worst = found;

  for (FabLinkId l = 0; l < fab_graph_n_links (self->graph); l++) {
    const FabLink *link = fab_graph_link (self->graph, l);
    gboolean is_alone = loads != self->loads; /* one collective, whose senders are not counted */

    if (loads[l] > MAX (is_many - 1e-9, worst->load) && is_outside (self->graph, link->src)
        && !is_outside (self->graph, link->dst) && (is_alone || self->counts[l] >= LEAST_SENDERS))
      *worst = (Worst){ l, loads[l], loads[l], is_alone ? 0 : self->counts[l] };
  }
}

char *
doubting_find_incast (Doubting *self)
{
  Worst worst = { FAB_NO_LINK, 0, 0, 0 };

  look_everywhere (self, TRUE, look_for_incast, &worst);
  if (worst.link == FAB_NO_LINK)
    return NULL;
  g_autofree char *name = doubting_link_name (self, worst.link);
  return g_strdup_printf (
      "incast: senders offer %s %.1f times what it carries; the queue in front of it, its marks "
      "and pauses are not seen",
      name, worst.load);
}

/* --- spreading congestion --- */

/* Links of a footprint ascend. */
static gboolean
crosses (const FabFootprint *footprint, FabLinkId link)
{
  guint low = 0, high = footprint->n;

  while (low < high) {
    guint middle = low + (high - low) / 2;

    if (footprint->links[middle] < link)
      low = middle + 1;
    else
      high = middle;
  }
  return low < footprint->n && footprint->links[low] == link;
}

/* Marks the links from which bytes go to the full one. */
static void
mark_before (const Doubting *self, FabLinkId full, guint8 *marks)
{
  for (guint i = 0; i < self->flows->len; i++) {
    const FabFootprint *footprint = g_array_index (self->flows, Flow, i).footprint;
    gboolean is_held = crosses (footprint, full);

    for (guint k = 0; k < footprint->n && is_held; k++)
      if (footprint->links[k] != full
          && is_outside (self->graph, fab_graph_link (self->graph, footprint->links[k])->dst))
        marks[footprint->links[k]] = 1;
  }
}

/* A flow that does not cross the full link but one that leads to it; NULL: there is none. */
static const Flow *
find_victim (const Doubting *self, FabLinkId full, FabLinkId *shared)
{
  g_autofree guint8 *marks = g_new0 (guint8, fab_graph_n_links (self->graph) + 1);

  mark_before (self, full, marks);
  for (guint i = 0; i < self->flows->len; i++) {
    const Flow *flow = &g_array_index (self->flows, Flow, i);
    gboolean is_held = crosses (flow->footprint, full);

    for (guint k = 0; k < flow->footprint->n && !is_held; k++)
      if (marks[flow->footprint->links[k]]) {
        *shared = flow->footprint->links[k];
        return flow;
      }
  }
  return NULL;
}

char *
doubting_find_spreading (Doubting *self)
{
  guint n_looked_at = 0;

  for (FabLinkId l = 0; l < fab_graph_n_links (self->graph) && n_looked_at < MOST_FULL; l++) {
    FabLinkId shared_link;

    if (self->loads[l] <= is_full || self->counts[l] == self->flows->len
        || !is_outside (self->graph, fab_graph_link (self->graph, l)->src))
      continue;
    n_looked_at++;
    const Flow *victim = find_victim (self, l, &shared_link);
    if (victim == NULL)
      continue;
    g_autofree char *shared = doubting_link_name (self, shared_link), *full = doubting_link_name (self, l);
    return g_strdup_printf (
        "spreading congestion: %s does not cross %s, which is asked for %.1f times what it carries, "
        "but shares %s with what does; where links are lossless it waits as well",
        victim->name, full, self->loads[l], shared);
  }
  return NULL;
}

/* --- shares by channels --- */

static guint
connections_on (const Doubting *self, FabLinkId link, guint *least)
{
  guint most = 0;

  *least = G_MAXUINT;
  for (guint i = 0; i < self->flows->len; i++) {
    const Flow *flow = &g_array_index (self->flows, Flow, i);

    if (!crosses (flow->footprint, link))
      continue;
    most = MAX (most, flow->n_connections);
    *least = MIN (*least, flow->n_connections);
  }
  return most;
}

char *
doubting_find_channels (Doubting *self)
{
  FabLinkId found = FAB_NO_LINK;
  guint most = 0, least = 0;

  for (FabLinkId l = 0; l < fab_graph_n_links (self->graph); l++)
    if (self->counts[l] > 1 && self->loads[l] > is_full
        && (found == FAB_NO_LINK || self->loads[l] > self->loads[found] + 1e-9)) {
      guint fewest, n = connections_on (self, l, &fewest);

      if (n == fewest)
        continue;
      found = l;
      most = n;
      least = fewest;
    }
  if (found == FAB_NO_LINK)
    return NULL;
  g_autofree char *name = doubting_link_name (self, found);
  return g_strdup_printf (
      "shares by channels: collectives of %u and %u channels share %s; each counts there with all "
      "of its channels, also where few of them pass",
      most, least, name);
}
