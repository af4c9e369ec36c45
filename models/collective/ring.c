/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c - hierarchical rings as NCCL builds them.
 *
 * A ring visits every GPU of a node over the intra-node links and leaves for the next node through a NIC;
 * there are as many rings as NICs (rails), with equal parts. It enters at the GPU nearest to the NIC. Where a second
 * GPU stands beside the NIC the ring leaves from that one, on the same rail; where each NIC has one GPU it leaves
 * by the next NIC, the two swapped on odd nodes so that no hop crosses rails but the last of an odd number of nodes
 * (NCCL src/graph/connect.cc, "Alternate rings to avoid crossing rails"). One node: one ring. NICs that are
 * far from every GPU that takes part carry no ring.
 *
 * Per byte of size, every ring link carries (n ranks; Patarasuk and Yuan, JPDC 69(2), 2009)
 *   all_reduce 2(n-1)/n, all_gather and reduce_scatter (n-1)/n,
 *   broadcast and reduce 1, on the links of a chain that starts (ends) at rank 0, the same on every ring
 * and as many steps follow one another: 2(n-1), n-1, n-1; of these 2(nodes-1) or nodes-1 between nodes.
 */
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/work/collective.h"

typedef struct {
  const FabGroup *group;
  const FabAlgorithmEnv *env;
  FabFootprintBuilder *builder;
  FabCollectiveForm *form;
  FabOp op;
  double weight;              /* payload bytes per byte of size on a link of one ring */
  double slowest_bytes_per_s; /* of the hops inside a node so far */
} RingBuild;

/* Broadcast flows round the ring from rank 0 and ends before it, reduce begins after rank 0 and ends in it:
 * neither uses the hop that would close the ring. */
static gboolean
is_unused (const RingBuild *build, FabVertexId from, FabVertexId to)
{
  FabVertexId root = fab_group_gpu (build->group, 0, 0);

  return (build->op == FAB_OP_BROADCAST && to == root) || (build->op == FAB_OP_REDUCE && from == root);
}

static guint
hops_to_nic (const FabGroup *group, guint local, guint nic)
{
  FabPath path = { 0 };
  gboolean has_path = fab_router_append (group->cluster->router, fab_group_gpu (group, 0, local),
                                         fab_group_nic (group, 0, nic), 0, &path);

  return has_path ? path.n : G_MAXUINT;
}

/* How a ring passes through a node. */
typedef struct {
  guint in_nic, out_nic;
  guint *order; /* [gpus_per_node] local ranks: beside in_nic first, beside out_nic last */
} Passage;

/* The local rank with fewest hops to the NIC, other than `taken`; of k equals the (nic mod k)-th, so that NICs
 * which share their neighbours share them evenly. */
static guint
nearest_gpu (const FabGroup *group, guint nic, guint taken, guint *hops)
{
  guint n = group->gpus_per_node, n_equal = 0;
  g_autofree guint *equals = g_new (guint, n);

  *hops = G_MAXUINT;
  for (guint local = 0; local < n; local++) {
    guint distance = local == taken ? G_MAXUINT : hops_to_nic (group, local, nic);

    if (local == taken || distance > *hops)
      continue;
    if (distance < *hops)
      n_equal = 0;
    *hops = distance;
    equals[n_equal++] = local;
  }
  return equals[nic % n_equal];
}

/* The NICs that are as near to a GPU of the group as any is: those of GPUs that take part. (transfer full) */
static guint *
list_rails (const FabGroup *group, guint *n_rails)
{
  guint n_nics = group->cluster->nics_per_node, least = G_MAXUINT;
  guint *rails = g_new (guint, n_nics + 1);

  *n_rails = 0;
  for (guint nic = 0; nic < n_nics; nic++) {
    guint hops;

    nearest_gpu (group, nic, G_MAXUINT, &hops);
    if (hops < least)
      *n_rails = 0;
    least = MIN (least, hops);
    if (hops == least)
      rails[(*n_rails)++] = nic;
  }
  return rails;
}

/* Hops from the last GPU to out_nic, when the first is the one nearest to in_nic. */
static guint
hops_out (const FabGroup *group, guint in_nic, guint out_nic)
{
  guint hops;
  guint first = nearest_gpu (group, in_nic, G_MAXUINT, &hops);

  if (group->gpus_per_node > 1)
    nearest_gpu (group, out_nic, first, &hops);
  return hops;
}

static Passage
passage_new (const FabGroup *group, guint in_nic, guint out_nic)
{
  guint n = group->gpus_per_node, n_ordered = 0, hops;
  Passage passage = { in_nic, out_nic, g_new (guint, n) };
  guint first = nearest_gpu (group, in_nic, G_MAXUINT, &hops);
  guint last = n > 1 ? nearest_gpu (group, out_nic, first, &hops) : first;

  passage.order[n_ordered++] = first;
  for (guint i = 0; i < n; i++)
    if (i != first && i != last)
      passage.order[n_ordered++] = i;
  if (n > 1)
    passage.order[n_ordered] = last;
  return passage;
}

static gboolean
no_path (const RingBuild *build, FabVertexId from, FabVertexId to, GError **error)
{
  g_autofree char *a = fab_graph_vertex_name (build->group->cluster->graph, from);
  g_autofree char *b = fab_graph_vertex_name (build->group->cluster->graph, to);

  return fab_throw (error, FAB_ERROR_INPUT, "the ring needs a path from %s to %s, and the graph has none", a,
                    b);
}

/* The slowest hop's: one PCIe hop makes the ring's steps those of PCIe. */
static void
note_technology (RingBuild *build, const FabPath *path)
{
  const FabGraph *graph = build->group->cluster->graph;
  double rate = fab_path_rate_bytes_per_s (graph, path, FAB_DRIVE_KERNEL);

  if (build->form->intra_technology == NULL || rate < build->slowest_bytes_per_s) {
    build->form->intra_technology = fab_graph_link_class (graph, path->links[0])->technology;
    build->slowest_bytes_per_s = rate;
  }
}

static gboolean
add_intra_hop (RingBuild *build, FabVertexId from, FabVertexId to, GError **error)
{
  const FabCluster *cluster = build->group->cluster;
  FabPath path = { 0 };

  if (is_unused (build, from, to))
    return TRUE;
  if (!fab_router_append (cluster->router, from, to, 0, &path))
    return no_path (build, from, to, error);
  fab_footprint_builder_add (build->builder, &path, (FabUse){ build->weight, FAB_DRIVE_KERNEL, 1 });
  build->form->intra_latency_ps = MAX (build->form->intra_latency_ps,
                                       fab_path_latency_ps (cluster->graph, &path));
  note_technology (build, &path);
  return TRUE;
}

static gboolean
add_inter_hop (RingBuild *build, guint node, const Passage *here, const Passage *there, GError **error)
{
  const FabGroup *group = build->group;
  guint next = (node + 1) % group->n_nodes;
  FabVertexId stops[] = { fab_group_gpu (group, node, here->order[group->gpus_per_node - 1]),
                          fab_group_nic (group, node, here->out_nic),
                          fab_group_nic (group, next, there->in_nic),
                          fab_group_gpu (group, next, there->order[0]) };
  FabPath path = { 0 };

  if (is_unused (build, stops[0], stops[3]))
    return TRUE;
  for (guint i = 0; i + 1 < G_N_ELEMENTS (stops); i++)
    if (!fab_router_append (group->cluster->router, stops[i], stops[i + 1], here->out_nic, &path))
      return no_path (build, stops[i], stops[i + 1], error);
  fab_footprint_builder_add (build->builder, &path,
                             (FabUse){ build->weight, FAB_DRIVE_COPY, build->env->net_stretch });
  build->form->inter_latency_ps = MAX (build->form->inter_latency_ps,
                                       fab_path_latency_ps (group->cluster->graph, &path));
  return TRUE;
}

static gboolean
add_intra_hops (RingBuild *build, guint node, const guint *order, GError **error)
{
  const FabGroup *group = build->group;

  for (guint i = 0; i + 1 < group->gpus_per_node; i++)
    if (!add_intra_hop (build, fab_group_gpu (group, node, order[i]),
                        fab_group_gpu (group, node, order[i + 1]), error))
      return FALSE;
  return TRUE;
}

static gboolean
add_ring_in_node (RingBuild *build, GError **error)
{
  const FabGroup *group = build->group;
  g_autofree guint *order = g_new (guint, group->gpus_per_node);

  for (guint i = 0; i < group->gpus_per_node; i++)
    order[i] = i;
  return add_intra_hops (build, 0, order, error)
      && add_intra_hop (build, fab_group_gpu (group, 0, group->gpus_per_node - 1),
                        fab_group_gpu (group, 0, 0), error);
}

/* Ring `ring` over all nodes; passages [0] on even nodes, [1] on odd ones. */
static gboolean
add_ring_over_nodes (RingBuild *build, const Passage passages[2], GError **error)
{
  guint n_nodes = build->group->n_nodes;

  for (guint node = 0; node < n_nodes; node++) {
    gboolean closes = node + 1 == n_nodes;
    const Passage *there = &passages[closes ? 0 : (node + 1) % 2];

    if (!add_intra_hops (build, node, passages[node % 2].order, error))
      return FALSE;
    if (!add_inter_hop (build, node, &passages[node % 2], there, error))
      return FALSE;
  }
  return TRUE;
}

/* Ring i comes in by rail i and goes out by rail i + shift: the shift whose ways out are shortest in sum, the
 * smallest of equals. 0 where two GPUs stand beside every NIC. */
static guint
find_shift (const FabGroup *group, const guint *rails, guint n_rails)
{
  guint best = 0;
  guint64 fewest = G_MAXUINT64;

  for (guint shift = 0; shift < n_rails; shift++) {
    guint64 hops = 0;

    for (guint i = 0; i < n_rails; i++)
      hops += hops_out (group, rails[i], rails[(i + shift) % n_rails]);
    if (hops < fewest)
      best = shift;
    fewest = MIN (fewest, hops);
  }
  return best;
}

static gboolean
add_rail (RingBuild *build, guint in_nic, guint out_nic, GError **error)
{
  const FabGroup *group = build->group;
  Passage passages[2] = { passage_new (group, in_nic, out_nic), passage_new (group, out_nic, in_nic) };
  gboolean is_added = add_ring_over_nodes (build, passages, error);

  g_free (passages[0].order);
  g_free (passages[1].order);
  return is_added;
}

static gboolean
add_rings_over_nodes (RingBuild *build, GError **error)
{
  const FabGroup *group = build->group;
  guint n_rails;
  g_autofree guint *rails = list_rails (group, &n_rails);

  if (n_rails == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "%u nodes cannot talk: the node has no NIC", group->n_nodes);
  guint shift = find_shift (group, rails, n_rails);
  build->form->n_channels = n_rails;
  build->weight /= n_rails;
  for (guint i = 0; i < n_rails; i++)
    if (!add_rail (build, rails[i], rails[(i + shift) % n_rails], error))
      return FALSE;
  return TRUE;
}

static void
count_steps (const FabGroup *group, FabOp op, FabCollectiveForm *form)
{
  guint rounds = op == FAB_OP_ALL_REDUCE ? 2 : 1;

  form->n_inter_steps = rounds * (group->n_nodes - 1);
  form->n_intra_steps = rounds * (fab_group_n_ranks (group) - 1) - form->n_inter_steps;
}

static gboolean
ring_form (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
           GError **error)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (group->cluster->graph);
  RingBuild build = { group, env, builder, form, op, fab_op_bus_factor (op, fab_group_n_ranks (group)), 0 };

  *form = (FabCollectiveForm){ .n_channels = 1 };
  count_steps (group, op, form);
  if (!(group->n_nodes > 1 ? add_rings_over_nodes (&build, error) : add_ring_in_node (&build, error)))
    return FALSE;
  form->footprint = fab_footprint_builder_finish (builder);
  return TRUE;
}

static gboolean
ring_supports (G_GNUC_UNUSED const FabGroup *group, FabOp op)
{
  return op < FAB_N_OPS;
}

const FabAlgorithmOps fab_algorithm_ring = {
  .info = { .name = "ring",
            .summary = "Rings over the GPUs of each node and one NIC per ring between nodes.",
            .doc = "docs/models/ring.md" },
  .supports = ring_supports,
  .form = ring_form,
};
