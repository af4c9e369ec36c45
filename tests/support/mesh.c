/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/mesh.h"

#include "tests/support/technologies.h"
#include "tests/support/test.h"

Wiring
wiring_full (guint n, guint count)
{
  Wiring self = { .n = n };

  for (guint i = 0; i < n * n; i++)
    self.counts[i] = i % (n + 1) == 0 ? 0 : count;
  return self;
}

Wiring
wiring_of_rows (guint n, const char *rows)
{
  Wiring self = { .n = n };
  guint filled = 0;

  for (; *rows; rows++)
    if (g_ascii_isdigit (*rows))
      self.counts[filled++] = (guint) (*rows - '0');
  g_assert_cmpuint (filled, ==, n * n);
  return self;
}

Wiring
wiring_torus (guint n_dimensions)
{
  Wiring self = { .n = 1U << (2 * n_dimensions) };

  for (guint i = 0; i < self.n; i++)
    for (guint stride = 1; stride < self.n; stride *= 4) {
      guint x = i / stride % 4, line = i - x * stride;

      self.counts[i * self.n + line + (x + 1) % 4 * stride]++;
      self.counts[i * self.n + line + (x + 3) % 4 * stride]++;
    }
  return self;
}

/* As `nvidia-smi topo -m` prints it on a DGX-1: quads 0-3 and 4-7, GPU i and i + 4 joined. */
Wiring
wiring_dgx1_v100 (void)
{
  return wiring_of_rows (8, "01122000 10210200 12020010 21200001 20000112 02001021 00101202 00012120");
}

Wiring
wiring_dgx1_p100 (void)
{
  Wiring self = wiring_dgx1_v100 ();

  for (guint i = 0; i < 64; i++)
    self.counts[i] = MIN (self.counts[i], 1);
  return self;
}

Wiring
wiring_first (const Wiring *wiring, guint n)
{
  Wiring self = { .n = n };

  for (guint i = 0; i < n * n; i++)
    self.counts[i] = wiring->counts[i / n * wiring->n + i % n];
  return self;
}

static FabLinkForm
link_form (FabGraphBuilder *builder, const FabTechnology *technology, FabBytesPerS rate_bytes_per_s)
{
  FabLinkClass link_class = { .name = technology->name, .technology = technology, .cost = { 1, 1, 1 } };

  return (FabLinkForm){ rate_bytes_per_s, 50, fab_graph_builder_class (builder, &link_class), 1 };
}

static void
add_wires (FabGraphBuilder *builder, const Wiring *wiring, const FabVertexId *gpus)
{
  FabLinkForm form = link_form (builder, &test_nvlink, FAB_PS_PER_S);

  for (guint a = 0; a < wiring->n; a++)
    for (guint b = a + 1; b < wiring->n; b++) {
      form.count = wiring->counts[a * wiring->n + b];
      if (form.count > 0)
        fab_graph_builder_join (builder, gpus[a], gpus[b], &form);
    }
}

/* Switch i with GPU i and NIC i; the switches meet in a root. */
static void
add_tree (FabGraphBuilder *builder, Rig *rig, guint node)
{
  const FabCluster *cluster = &rig->cluster;
  FabLinkForm form = link_form (builder, &test_pcie, FAB_PS_PER_S / 10);
  guint part = fab_graph_builder_part (builder, "pcie", TRUE);
  FabVertexId root = fab_graph_builder_vertex (builder, FAB_VERTEX_HOST, node,
                                               fab_graph_builder_part (builder, "cpu", FALSE), 0);

  for (guint i = 0; i < cluster->gpus_per_node; i++) {
    FabVertexId pcie = fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, node, part, i);

    fab_graph_builder_join (builder, pcie, root, &form);
    fab_graph_builder_join (builder, pcie, cluster->gpus[node * cluster->gpus_per_node + i], &form);
    if (i < cluster->nics_per_node)
      fab_graph_builder_join (builder, pcie, cluster->nics[node * cluster->nics_per_node + i], &form);
  }
}

static void
add_node (FabGraphBuilder *builder, const Wiring *wiring, Rig *rig, guint node)
{
  const FabCluster *cluster = &rig->cluster;
  guint gpu = fab_graph_builder_part (builder, "gpu", TRUE),
        nic = fab_graph_builder_part (builder, "nic", TRUE);

  for (guint i = 0; i < wiring->n; i++)
    cluster->gpus[node * wiring->n + i] = fab_graph_builder_vertex (builder, FAB_VERTEX_ACCELERATOR, node,
                                                                    gpu, i);
  for (guint i = 0; i < cluster->nics_per_node; i++)
    cluster->nics[node * wiring->n + i] = fab_graph_builder_vertex (builder, FAB_VERTEX_NIC, node, nic, i);
  add_wires (builder, wiring, cluster->gpus + node * wiring->n);
  add_tree (builder, rig, node);
}

static void
add_fabric (FabGraphBuilder *builder, const FabCluster *cluster)
{
  FabLinkForm form = link_form (builder, &test_infiniband, FAB_PS_PER_S / 10);
  FabVertexId centre;

  if (cluster->nics_per_node == 0)
    return;
  centre = fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, FAB_NO_NODE,
                                     fab_graph_builder_part (builder, "leaf", FALSE), 0);
  for (guint i = 0; i < cluster->n_nodes * cluster->nics_per_node; i++)
    fab_graph_builder_join (builder, cluster->nics[i], centre, &form);
}

Rig *
mesh_new (const Wiring *wiring, guint n_nodes, gboolean has_nics)
{
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  Rig *self = g_new0 (Rig, 1);
  FabCluster *cluster = &self->cluster;

  self->spec = (RigSpec){ .n_nodes = n_nodes, .gpus_per_node = wiring->n };
  cluster->n_nodes = n_nodes;
  cluster->gpus_per_node = wiring->n;
  cluster->nics_per_node = has_nics ? wiring->n : 0;
  cluster->gpus = g_new (FabVertexId, n_nodes * wiring->n);
  cluster->nics = g_new (FabVertexId, n_nodes * wiring->n);
  cluster->p2p = cluster->gdr = FAB_REACH_SYS;
  cluster->generation = &fab_generation_unknown;
  cluster->processor = &test_processor;
  for (guint node = 0; node < n_nodes; node++)
    add_node (builder, wiring, self, node);
  add_fabric (builder, cluster);
  self->graph = fab_graph_builder_freeze (builder);
  self->router = fab_route_shortest.create (self->graph, NULL, 1);
  cluster->graph = self->graph;
  cluster->router = self->router;
  fab_cluster_measure (cluster);
  return self;
}

void
mesh_assert_orders (const Wiring *wiring, const FabRingSet *set, gboolean closes)
{
  guint n = wiring->n;
  g_autofree guint *used = g_new0 (guint, n * n);

  for (guint i = 0; i < set->n_orders; i++) {
    const guint *order = set->orders + i * n;
    guint64 seen = 0;

    for (guint k = 0; k < n; k++) {
      assert_true (order[k] < n);
      seen |= G_GUINT64_CONSTANT (1) << order[k];
      if (closes || k + 1 < n)
        used[order[k] * n + order[(k + 1) % n]]++;
    }
    assert_true (seen == G_MAXUINT64 >> (64 - n));
  }
  for (guint i = 0; i < n * n; i++)
    assert_true (used[i] <= set->load * wiring->counts[i]);
}
