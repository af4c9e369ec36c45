/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.c - counts the links from every GPU of a node to its NICs, breadth-first. At most two searches are needed
 * per GPU, by the rules of sim/fabric/search.h: first inside its machine, and then, for NICs that are elsewhere or
 * not reached, out of the machine's NICs and through the fabric. */
#include "sim/machine/cluster.h"

#include <string.h>

#include "sim/fabric/path.h"

static guint
find_in_node (const FabCluster *self, guint node, FabVertexId vertex)
{
  guint k = self->nics_per_node;

  for (guint i = node * k; node < self->n_nodes && i < (node + 1) * k; i++)
    if (self->nics[i] == vertex)
      return i;
  return G_MAXUINT;
}

/* NICs were added to the graph node by node. Within a node they ascend, except where one replaces another
 * (sim/assembly/faults.h). */
guint
fab_cluster_find_nic (const FabCluster *self, FabVertexId vertex)
{
  guint low = 0, high = self->n_nodes;

  if (self->nics_per_node == 0)
    return G_MAXUINT;
  while (low < high) {
    guint middle = (low + high) / 2;

    if (self->nics[middle * self->nics_per_node] <= vertex)
      low = middle + 1;
    else
      high = middle;
  }
  guint found = low > 0 ? find_in_node (self, low - 1, vertex) : G_MAXUINT;
  return found != G_MAXUINT ? found : find_in_node (self, low, vertex);
}

typedef struct {
  const FabCluster *cluster;
  guint32 machine;       /* machine of the GPU */
  gboolean stays_inside; /* the path must not leave through NICs */
  guint *levels;         /* [vertices]; G_MAXUINT: not reached */
  GArray *queue;         /* FabVertexId in the order in which they were reached */
} Walk;

/* By the rules of fab_search_is_passable () for paths from the GPU to a NIC. */
static gboolean
is_passable (const Walk *self, FabVertexId id)
{
  const FabVertex *vertex = fab_graph_vertex (self->cluster->graph, id);

  switch (vertex->kind) {
  case FAB_VERTEX_SWITCH:
  case FAB_VERTEX_HOST:
  case FAB_VERTEX_BRIDGE: return TRUE;
  case FAB_VERTEX_NIC: return !self->stays_inside && vertex->node == self->machine;
  case FAB_VERTEX_ACCELERATOR:
  case FAB_VERTEX_MEMORY:
  case FAB_VERTEX_STORAGE: return FALSE;
  default: g_assert_not_reached ();
  }
}

static void
walk_reach (Walk *self, FabVertexId vertex, guint level)
{
  if (self->levels[vertex] != G_MAXUINT)
    return;
  self->levels[vertex] = level;
  g_array_append_val (self->queue, vertex);
}

static void
walk_forget (Walk *self)
{
  for (guint i = 0; i < self->queue->len; i++)
    self->levels[g_array_index (self->queue, FabVertexId, i)] = G_MAXUINT;
  g_array_set_size (self->queue, 0);
}

/* Whether the NIC has no entry in `row` yet. A search inside covers one machine only. */
static gboolean
is_sought (const Walk *self, const guint *row, guint nic)
{
  const FabCluster *cluster = self->cluster;

  return row[nic] == G_MAXUINT
      && (!self->stays_inside
          || fab_graph_vertex (cluster->graph, cluster->nics[nic])->node == self->machine);
}

static guint
count_sought (const Walk *self, const guint *row)
{
  guint n = 0;

  for (guint nic = 0; nic < self->cluster->nics_per_node; nic++)
    n += is_sought (self, row, nic);
  return n;
}

/* Sets the entries of `row` for the NICs that are reached. */
static void
walk (Walk *self, FabVertexId gpu, guint *row)
{
  const FabGraph *graph = self->cluster->graph;
  guint n_sought = count_sought (self, row);

  walk_reach (self, gpu, 0);
  for (guint i = 0; i < self->queue->len && n_sought > 0; i++) {
    FabVertexId vertex = g_array_index (self->queue, FabVertexId, i);
    guint nic = fab_cluster_find_nic (self->cluster, vertex), level = self->levels[vertex];
    FabLinkId first;
    guint n = fab_graph_out_links (graph, vertex, &first);

    if (nic < self->cluster->nics_per_node && level <= FAB_PATH_MAX_LINKS && is_sought (self, row, nic)) {
      row[nic] = level;
      n_sought--;
    }
    if (i > 0 && !is_passable (self, vertex))
      continue;
    for (FabLinkId link = first; link < first + n; link++)
      walk_reach (self, fab_graph_link (graph, link)->dst, level + 1);
  }
  walk_forget (self);
}

void
fab_cluster_measure (FabCluster *self)
{
  guint n_vertices = fab_graph_n_vertices (self->graph);
  g_autofree guint *levels = g_new (guint, n_vertices + 1);
  g_autoptr (GArray) queue = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
  Walk way = { .cluster = self, .levels = levels, .queue = queue };

  g_assert (self->nic_hops == NULL);
  self->nic_hops = g_new (guint, (gsize) self->gpus_per_node * self->nics_per_node + 1);
  for (guint i = 0; i < n_vertices; i++)
    levels[i] = G_MAXUINT;
  for (guint i = 0; i < self->gpus_per_node * self->nics_per_node; i++)
    self->nic_hops[i] = G_MAXUINT;
  for (guint local = 0; local < self->gpus_per_node; local++) {
    guint *row = self->nic_hops + (gsize) local * self->nics_per_node;

    way.machine = fab_graph_vertex (self->graph, self->gpus[local])->node;
    way.stays_inside = TRUE;
    walk (&way, self->gpus[local], row);
    way.stays_inside = FALSE;
    walk (&way, self->gpus[local], row);
  }
}

/* Returns the rows of `nodes` in `all`. (transfer full) */
static FabVertexId *
rows_of (const FabVertexId *all, guint per_node, const guint *nodes, guint n_nodes)
{
  FabVertexId *rows = g_new (FabVertexId, (gsize) n_nodes * per_node + 1);

  for (guint i = 0; i < n_nodes; i++)
    for (guint k = 0; k < per_node; k++)
      rows[i * per_node + k] = all[nodes[i] * per_node + k];
  return rows;
}

void
fab_cluster_view (FabCluster *view, const FabCluster *cluster, const guint *nodes, guint n_nodes)
{
  gsize n_hops = (gsize) cluster->gpus_per_node * cluster->nics_per_node + 1;

  *view = *cluster;
  view->n_nodes = n_nodes;
  view->gpus = rows_of (cluster->gpus, cluster->gpus_per_node, nodes, n_nodes);
  view->nics = rows_of (cluster->nics, cluster->nics_per_node, nodes, n_nodes);
  view->drives = rows_of (cluster->drives, cluster->drives_per_node, nodes, n_nodes);
  view->nic_hops = g_memdup2 (cluster->nic_hops, n_hops * sizeof (guint));
}

/* --- some ranks --- */

/* The nodes of the ranks, and where in `ranks` the ranks of each begin: [n_nodes + 1]. (transfer full) */
static guint *
find_starts (const FabCluster *cluster, const guint *ranks, guint n, guint *n_nodes)
{
  guint *starts = g_new (guint, n + 1), n_found = 0;

  for (guint i = 0; i < n; i++)
    if (i == 0 || ranks[i] / cluster->gpus_per_node != ranks[i - 1] / cluster->gpus_per_node)
      starts[n_found++] = i;
  starts[n_found] = n;
  *n_nodes = n_found;
  return starts;
}

static gboolean
has_same_locals (const FabCluster *cluster, const guint *ranks, const guint *starts, guint a, guint b)
{
  guint n = starts[a + 1] - starts[a], k = cluster->gpus_per_node;

  if (starts[b + 1] - starts[b] != n)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (ranks[starts[a] + i] % k != ranks[starts[b] + i] % k)
      return FALSE;
  return TRUE;
}

/* An even cluster of the `n` ranks that are in `n_nodes` nodes, as many in each. */
static void
view_even (FabCluster *view, const FabCluster *cluster, const guint *ranks, guint n, guint n_nodes)
{
  guint k = cluster->gpus_per_node, n_nics = cluster->nics_per_node, n_locals = n / n_nodes;

  *view = *cluster;
  view->drives = NULL;
  view->drives_per_node = 0;
  view->uneven = NULL;
  view->n_nodes = n_nodes;
  view->gpus_per_node = n_locals;
  view->gpus = g_new (FabVertexId, n);
  view->nics = g_new (FabVertexId, (gsize) n_nodes * n_nics + 1);
  view->nic_hops = g_new (guint, (gsize) n_locals * n_nics + 1);
  for (guint i = 0; i < n; i++)
    view->gpus[i] = cluster->gpus[ranks[i]];
  for (guint node = 0; node < n_nodes; node++)
    memcpy (view->nics + (gsize) node * n_nics, cluster->nics + (gsize) (ranks[node * n_locals] / k) * n_nics,
            n_nics * sizeof (FabVertexId));
  for (guint local = 0; local < n_locals; local++)
    memcpy (view->nic_hops + (gsize) local * n_nics, cluster->nic_hops + (gsize) (ranks[local] % k) * n_nics,
            n_nics * sizeof (guint));
}

/* The index of the node's shape, which is added where no node before has it. */
static guint
find_shape (FabUneven *self, GArray *firsts, const FabCluster *cluster, const guint *ranks, guint node)
{
  for (guint shape = 0; shape < firsts->len; shape++)
    if (has_same_locals (cluster, ranks, self->starts, g_array_index (firsts, guint, shape), node))
      return shape;
  g_array_append_val (firsts, node);
  return firsts->len - 1;
}

static FabUneven *
uneven_new (const FabCluster *cluster, const guint *ranks, guint *starts, guint n_nodes)
{
  FabUneven *self = g_new0 (FabUneven, 1);
  g_autoptr (GArray) firsts = g_array_new (FALSE, FALSE, sizeof (guint));

  self->starts = starts;
  self->shapes = g_new (guint, n_nodes);
  for (guint node = 0; node < n_nodes; node++)
    self->shapes[node] = find_shape (self, firsts, cluster, ranks, node);
  self->n_shapes = firsts->len;
  self->nodes = g_new0 (FabCluster, firsts->len);
  for (guint shape = 0; shape < firsts->len; shape++) {
    guint node = g_array_index (firsts, guint, shape);

    view_even (&self->nodes[shape], cluster, ranks + starts[node], starts[node + 1] - starts[node], 1);
  }
  return self;
}

static void
uneven_free (FabUneven *self)
{
  for (guint shape = 0; shape < self->n_shapes; shape++)
    fab_cluster_clear (&self->nodes[shape]);
  g_free (self->nodes);
  g_free (self->shapes);
  g_free (self->starts);
  g_free (self);
}

static void
view_uneven (FabCluster *view, const FabCluster *cluster, const guint *ranks, guint n, guint *starts,
             guint n_nodes)
{
  guint k = cluster->gpus_per_node, n_nics = cluster->nics_per_node;

  *view = *cluster;
  view->drives = NULL;
  view->drives_per_node = 0;
  view->uneven = uneven_new (cluster, ranks, starts, n_nodes);
  view->nic_hops = NULL;
  view->n_nodes = n_nodes;
  view->gpus_per_node = 0;
  view->gpus = g_new (FabVertexId, n);
  view->nics = g_new (FabVertexId, (gsize) n_nodes * n_nics + 1);
  for (guint i = 0; i < n; i++)
    view->gpus[i] = cluster->gpus[ranks[i]];
  for (guint node = 0; node < n_nodes; node++) {
    view->gpus_per_node = MAX (view->gpus_per_node, starts[node + 1] - starts[node]);
    memcpy (view->nics + (gsize) node * n_nics, cluster->nics + (gsize) (ranks[starts[node]] / k) * n_nics,
            n_nics * sizeof (FabVertexId));
  }
}

void
fab_cluster_view_ranks (FabCluster *view, const FabCluster *cluster, const guint *ranks, guint n)
{
  guint n_nodes;
  guint *starts = find_starts (cluster, ranks, n, &n_nodes);
  gboolean is_even = TRUE;

  g_assert (n > 0 && cluster->uneven == NULL);
  for (guint node = 1; node < n_nodes; node++)
    is_even &= has_same_locals (cluster, ranks, starts, 0, node);
  if (!is_even) {
    view_uneven (view, cluster, ranks, n, starts, n_nodes);
    return;
  }
  view_even (view, cluster, ranks, n, n_nodes);
  g_free (starts);
}

guint
fab_group_node_of (const FabGroup *self, guint rank, guint *local)
{
  const FabUneven *uneven = self->cluster->uneven;
  guint low = 0, high = self->n_nodes;

  if (uneven == NULL) {
    *local = rank % self->gpus_per_node;
    return rank / self->gpus_per_node;
  }
  while (high - low > 1) {
    guint middle = low + (high - low) / 2;

    *(uneven->starts[middle] <= rank ? &low : &high) = middle;
  }
  *local = rank - uneven->starts[low];
  return low;
}

FabReach
fab_cluster_reach (const FabCluster *self, FabVertexId from, FabVertexId to, FabPath *path)
{
  path->n = 0;
  gboolean is_near = fab_router_append (self->router, from, to, 0, path)
                  && fab_path_has_p2p (self->graph, path);

  return is_near ? fab_reach_of_path (self->graph, path) : FAB_N_REACHES;
}

void
fab_cluster_clear (FabCluster *self)
{
  g_clear_pointer (&self->gpus, g_free);
  g_clear_pointer (&self->nics, g_free);
  g_clear_pointer (&self->drives, g_free);
  g_clear_pointer (&self->nic_hops, g_free);
  g_clear_pointer (&self->uneven, uneven_free);
}

const char *const fab_precision_names[FAB_N_PRECISIONS + 1] = {
  [FAB_PRECISION_BF16] = "bf16",   [FAB_PRECISION_FP16] = "fp16", [FAB_PRECISION_FP32] = "fp32",
  [FAB_PRECISION_TF32] = "tf32",   [FAB_PRECISION_FP8] = "fp8",   [FAB_PRECISION_MXFP8] = "mxfp8",
  [FAB_PRECISION_NVFP4] = "nvfp4",
};

FabBytes
fab_precision_bytes (FabPrecision precision)
{
  switch (precision) {
  case FAB_PRECISION_BF16:
  case FAB_PRECISION_FP16: return 2;
  case FAB_PRECISION_FP32:
  case FAB_PRECISION_TF32: return 4;
  case FAB_PRECISION_FP8:
  case FAB_PRECISION_MXFP8:
  case FAB_PRECISION_NVFP4: return 1;
  case FAB_N_PRECISIONS:
  default: g_assert_not_reached ();
  }
}

double
fab_precision_operand_bytes (FabPrecision precision)
{
  if (precision == FAB_PRECISION_MXFP8)
    return 1 + 1.0 / 32;
  if (precision == FAB_PRECISION_NVFP4)
    return 0.5 + 1.0 / 16;
  return (double) fab_precision_bytes (precision);
}

gboolean
fab_precision_is_low (FabPrecision precision)
{
  return precision == FAB_PRECISION_FP8 || precision == FAB_PRECISION_MXFP8
      || precision == FAB_PRECISION_NVFP4;
}

double
fab_device_slowdown (const FabDevice *self)
{
  return self->cap_fraction > 0 && self->cap_fraction < 1 ? self->capped.slowdown : 1;
}

double
fab_device_rate (const FabDevice *self, FabPrecision precision)
{
  return fab_device_peak (self, precision) / fab_device_slowdown (self);
}

double
fab_device_peak (const FabDevice *self, FabPrecision precision)
{
  if (self->peak_flops_per_s[precision] > 0)
    return self->peak_flops_per_s[precision];
  if (precision == FAB_PRECISION_MXFP8 || precision == FAB_PRECISION_NVFP4)
    return fab_device_peak (self, FAB_PRECISION_FP8);
  if (precision == FAB_PRECISION_FP8)
    return self->peak_flops_per_s[FAB_PRECISION_BF16];
  return self->peak_flops_per_s[FAB_PRECISION_FP32];
}
