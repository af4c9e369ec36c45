/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/assembly/failover.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/order.h"
#include "sim/fabric/port_router.h"
#include "sim/net/disturbances.h"

/* A time in which one port carries nothing. */
typedef struct {
  FabVertexId nic;
  FabLinkId port; /* out of the NIC */
  FabTimePs at_ps, until_ps;
} Outage;

/* The NIC whose port this is, in either direction, if it has several; *port becomes the link out of it. */
static FabVertexId
nic_of (const FabGraph *graph, FabLinkId link, FabLinkId *port)
{
  const FabLink *one = fab_graph_link (graph, link);
  FabLinkId first;

  *port = fab_graph_vertex (graph, one->src)->kind == FAB_VERTEX_NIC ? link : one->reverse;
  FabVertexId nic = fab_graph_link (graph, *port)->src;
  return fab_graph_vertex (graph, nic)->kind == FAB_VERTEX_NIC
              && fab_graph_vertex (graph, fab_graph_link (graph, *port)->dst)->node == FAB_NO_NODE
              && fab_nic_ports (graph, nic, &first) > 1
           ? nic
           : FAB_NO_VERTEX;
}

gboolean
fab_failover_has_ports (const FabGraph *graph, const GArray *links)
{
  FabLinkId port;

  for (guint i = 0; i < links->len; i++)
    if (nic_of (graph, g_array_index (links, FabLinkId, i), &port) != FAB_NO_VERTEX)
      return TRUE;
  return FALSE;
}

static int
compare_outages (gconstpointer a, gconstpointer b)
{
  const Outage *x = a, *y = b;
  int by_nic = fab_order_guints (&x->nic, &y->nic);

  return by_nic != 0 ? by_nic : fab_order_guints (&x->port, &y->port);
}

/* Ports of the NIC that are dead at this time; `outages` are sorted by port. */
static guint
count_dead (const Outage *outages, guint n, FabTimePs at_ps)
{
  FabLinkId last = FAB_NO_LINK;
  guint n_dead = 0;

  for (guint i = 0; i < n; i++) {
    if (outages[i].at_ps > at_ps || outages[i].until_ps <= at_ps || outages[i].port == last)
      continue;
    last = outages[i].port;
    n_dead++;
  }
  return n_dead;
}

/* Slows all ports of one NIC, from one change to the next. */
static void
slow_ports (const FabGraph *graph, const Outage *outages, guint n, GArray *spells)
{
  g_autofree FabTimePs *times = g_new (FabTimePs, 2 * (gsize) n);
  FabLinkId first;
  guint n_ports = fab_nic_ports (graph, outages[0].nic, &first);

  for (guint i = 0; i < n; i++) {
    times[2 * i] = outages[i].at_ps;
    times[2 * i + 1] = outages[i].until_ps;
  }
  qsort (times, 2 * (gsize) n, sizeof *times, fab_order_int64s);
  for (guint t = 0; t + 1 < 2 * n; t++) {
    guint n_dead = times[t] < times[t + 1] ? count_dead (outages, n, times[t]) : 0;
    FabSpell spell = { 0, 1 - (double) n_dead / n_ports, times[t],
                       times[t + 1] < FAB_TIME_MAX ? times[t + 1] : 0 };

    for (guint k = 0; n_dead > 0 && k < n_ports; k++) {
      spell.link = first + k;
      g_array_append_val (spells, spell);
      spell.link = fab_graph_link (graph, first + k)->reverse;
      g_array_append_val (spells, spell);
    }
  }
}

void
fab_failover_spread (const FabGraph *graph, GArray *spells)
{
  g_autoptr (GArray) outages = g_array_new (FALSE, FALSE, sizeof (Outage));
  guint n_kept = 0;

  for (guint i = 0; i < spells->len; i++) {
    FabSpell spell = g_array_index (spells, FabSpell, i);
    Outage outage = { .at_ps = spell.at_ps, .until_ps = spell.until_ps > 0 ? spell.until_ps : FAB_TIME_MAX };

    outage.nic = spell.fraction > 0 ? FAB_NO_VERTEX : nic_of (graph, spell.link, &outage.port);
    if (outage.nic != FAB_NO_VERTEX)
      g_array_append_val (outages, outage);
    else
      g_array_index (spells, FabSpell, n_kept++) = spell;
  }
  g_array_set_size (spells, n_kept);
  g_array_sort (outages, compare_outages);
  for (guint i = 0, end = 0; i < outages->len; i = end) {
    const Outage *one = &g_array_index (outages, Outage, i);

    while (end < outages->len && g_array_index (outages, Outage, end).nic == one->nic)
      end++;
    slow_ports (graph, one, end - i, spells);
  }
}

/* --- planes --- */

/* Numbers the switches that are joined to this one, without NICs between them. */
static void
mark_plane (const FabGraph *graph, FabVertexId start, guint32 plane, guint32 *planes)
{
  g_autoptr (GArray) queue = g_array_new (FALSE, FALSE, sizeof (FabVertexId));

  planes[start] = plane;
  g_array_append_val (queue, start);
  for (guint i = 0; i < queue->len; i++) {
    FabLinkId first;
    guint n = fab_graph_out_links (graph, g_array_index (queue, FabVertexId, i), &first);

    for (FabLinkId link = first; link < first + n; link++) {
      FabVertexId next = fab_graph_link (graph, link)->dst;

      if (planes[next] > 0 || fab_graph_vertex (graph, next)->node != FAB_NO_NODE)
        continue;
      planes[next] = plane;
      g_array_append_val (queue, next);
    }
  }
}

/* The planes that a NIC is on, one bit for each; planes beyond the last bit share it. */
static guint64
planes_of (const FabGraph *graph, FabVertexId nic, guint32 *planes, guint32 *n_planes)
{
  FabLinkId first;
  guint n = fab_nic_ports (graph, nic, &first);
  guint64 mask = 0;

  for (guint k = 0; k < n; k++) {
    FabVertexId leaf = fab_graph_link (graph, first + k)->dst;

    if (planes[leaf] == 0)
      mark_plane (graph, leaf, ++*n_planes, planes);
    mask |= G_GUINT64_CONSTANT (1) << MIN (planes[leaf] - 1, 63);
  }
  return mask;
}

/* Remembers one NIC of each set of planes; *b meets none of one of them. */
static gboolean
meets_known (GHashTable *known, guint64 mask, FabVertexId nic, FabVertexId *a)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, known);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if ((*(const guint64 *) key & mask) == 0) {
      *a = GPOINTER_TO_UINT (value);
      return FALSE;
    }
  if (!g_hash_table_contains (known, &mask))
    g_hash_table_insert (known, g_memdup2 (&mask, sizeof mask), GUINT_TO_POINTER (nic));
  return TRUE;
}

gboolean
fab_failover_meets (const FabCluster *cluster, FabVertexId *a, FabVertexId *b)
{
  g_autofree guint32 *planes = g_new0 (guint32, fab_graph_n_vertices (cluster->graph) + 1);
  guint32 n_planes = 0;

  for (guint slot = 0; slot < cluster->nics_per_node; slot++) {
    g_autoptr (GHashTable) known = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

    for (guint node = 0; node < cluster->n_nodes; node++) {
      *b = cluster->nics[node * cluster->nics_per_node + slot];
      if (!meets_known (known, planes_of (cluster->graph, *b, planes, &n_planes), *b, a))
        return FALSE;
    }
  }
  return TRUE;
}
