/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - two binary trees over the nodes, and a chain through the GPUs of each node.
 *
 * Each rail has a pair of trees (sim/collective/shape/trees.h), and each tree carries half of the rail's bytes. An
 * all_reduce reduces up to the root and broadcasts down again, both at once in a pipeline. Broadcast and reduce go one
 * way only, and node 0 is the root of both trees. Inside a node the bytes pass a chain of its GPUs. The chain ends at
 * the GPU beside the NIC (in the root node of broadcast and reduce at rank 0) and visits the other GPUs in the order of
 * their numbers from there on, so that chains of different NICs use different links. Where GPUs are wired to each
 * other, it takes the way of the ring that enters at the NIC, because rings share the wires evenly. A group in one node
 * has one chain.
 *
 * Every node is an inner node of at most one of the two trees. There it receives (or sends) 3 halves, in the other tree
 * one half. So a NIC carries twice its rail's bytes in each direction, however many nodes there are, in 2 log2 (nodes)
 * steps.
 */
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/collective/plan/form_recipe.h"
#include "sim/collective/shape/rings.h"
#include "sim/collective/shape/send_graph.h"
#include "sim/collective/shape/trees.h"
#include "sim/machine/rails.h"
#include "sim/machine/rank_symmetry.h"

/* The chain of nodes of one shape. */
typedef struct {
  guint *order; /* [ranks of the node] local ranks, beginning with the end to which a reduction flows */
  guint door;   /* index in `order` of the GPU beside the NIC, where bytes enter and leave the node */
} Chain;

/* What one tree does in nodes of one shape. */
typedef struct {
  guint nic;
  guint n_beside; /* trees that begin at the same GPU: they use the chain of a node at the same time */
  Chain chain, root_chain;
} InNode;

typedef struct {
  const FabGroup *group;
  FabSendGraph *sends;
  const FabTree *tree;
  guint n_trees;
  double weight, net_stretch;
  gboolean is_rooted;     /* both trees have their root in node 0 */
  InNode *in_nodes;       /* [shapes of the group] */
  FabRankSymmetry *alike; /* nodes whose chains are symmetric; NULL: none */
  /* [gpus_per_node] hops of symmetric chains: up to the place before, and down from it. A hop without shares has not
   * been found yet. */
  FabHop *hops[2];
  /* [n_nodes] sends that end at the GPU beside the NIC; in a broadcast the one that brings the bytes. */
  GArray **arrived;
  GArray *summed; /* sends after which the first GPU of the root has the sum of all nodes */
  GError **error;
} TreeBuild;

/* `way` is an order of all GPUs that begins at the door; NULL: that of their numbers. */
static Chain
chain_new (const FabGroup *group, guint first, guint door, const guint *way)
{
  Chain chain = { g_new (guint, group->gpus_per_node), door == first ? 0 : 1 };
  guint n = 0;

  chain.order[n++] = first;
  if (door != first)
    chain.order[n++] = door;
  for (guint i = 1; i < group->gpus_per_node; i++) {
    guint local = way != NULL ? way[i] : (door + i) % group->gpus_per_node;

    if (local != first)
      chain.order[n++] = local;
  }
  return chain;
}

static gboolean
is_root (const TreeBuild *build, guint node)
{
  return build->tree->parents[node] == G_MAXUINT;
}

static const InNode *
in_node (const TreeBuild *build, guint node)
{
  return &build->in_nodes[fab_group_shape (build->group, node)];
}

static const Chain *
chain_of (const TreeBuild *build, guint node)
{
  const InNode *in = in_node (build, node);

  return is_root (build, node) ? &in->root_chain : &in->chain;
}

static FabVertexId
gpu_at (const TreeBuild *build, guint node, guint index)
{
  return fab_group_gpu (build->group, node, chain_of (build, node)->order[index]);
}

/* The hop between two neighbours in the chain of a node, for all nodes whose chains are symmetric. NULL: there is no
 * path. */
static const FabHop *
find_alike (TreeBuild *build, guint from, guint to)
{
  FabHop *hop = &build->hops[to > from][MAX (from, to)];

  if (hop->shares != NULL)
    return hop;
  if (!fab_hop_inside (build->group->cluster, gpu_at (build, 0, from), gpu_at (build, 0, to), hop,
                       build->error))
    return NULL;
  if (fab_rank_symmetry_takes (hop))
    fab_rank_symmetry_use (build->alike, 0, hop, build->weight, build->net_stretch);
  return hop;
}

/* From one GPU of a chain to its neighbour. */
static gboolean
add_inside (TreeBuild *build, guint node, guint from, guint to, GArray *after, guint *send)
{
  gboolean is_at_rank_0 = build->is_rooted && is_root (build, node) && MIN (from, to) == 0;
  FabHop hop;

  if (fab_rank_symmetry_has (build->alike, node)) {
    const FabHop *found = find_alike (build, from, to);

    if (found == NULL)
      return FALSE;
    if (fab_rank_symmetry_takes (found)) {
      *send = fab_send_graph_add_like (build->sends, found, build->weight, in_node (build, node)->n_beside,
                                       after);
      return TRUE;
    }
  }
  if (!fab_hop_inside (build->group->cluster, gpu_at (build, node, from), gpu_at (build, node, to), &hop,
                       build->error))
    return FALSE;
  *send = fab_send_graph_add (build->sends, &hop, build->weight,
                              is_at_rank_0 ? build->n_trees : in_node (build, node)->n_beside, after);
  return TRUE;
}

/* How many transfers share a parent's NIC: its children of one tree, and those of both trees where both have the same
 * root. */
static guint
count_beside (const TreeBuild *build, guint parent)
{
  gboolean is_shared_root = is_root (build, parent) && build->is_rooted;

  return build->tree->n_children[parent] * (is_shared_root ? 2 : 1);
}

/* From the GPU beside the NIC of a node to the one of its parent or child. */
static gboolean
add_between (TreeBuild *build, guint from, guint to, GArray *after, guint *send)
{
  const FabGroup *group = build->group;
  guint parent = build->tree->parents[from] == to ? to : from;
  FabHop hop;

  if (!fab_hop_over (group->cluster, gpu_at (build, from, chain_of (build, from)->door),
                     fab_group_nic (group, from, in_node (build, from)->nic),
                     fab_group_nic (group, to, in_node (build, to)->nic),
                     gpu_at (build, to, chain_of (build, to)->door), in_node (build, from)->nic, &hop,
                     build->error))
    return FALSE;
  *send = fab_send_graph_add (build->sends, &hop, build->weight, count_beside (build, parent), after);
  return TRUE;
}

/* Adds the sends of a reduction along the node's chain to its first GPU. What the node's children have sent comes in
 * at the GPU beside the NIC. On return `ready` has the sends after which the sum is complete. */
static gboolean
reduce_in_node (TreeBuild *build, guint node, GArray *ready)
{
  const GArray *children = build->arrived[node];
  guint door = chain_of (build, node)->door, send;

  g_array_set_size (ready, 0);
  for (guint i = fab_group_n_locals (build->group, node); i-- > 0;) {
    if (i == door)
      g_array_append_vals (ready, children->data, children->len);
    if (i == 0)
      return TRUE;
    if (!add_inside (build, node, i, i - 1, ready, &send))
      return FALSE;
    g_array_set_size (ready, 0);
    g_array_append_val (ready, send);
  }
  return TRUE;
}

static gboolean
reduce_up (TreeBuild *build)
{
  g_autoptr (GArray) ready = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = build->tree->n; i-- > 0;) {
    guint node = build->tree->order[i], parent = build->tree->parents[node], send;

    if (!reduce_in_node (build, node, ready))
      return FALSE;
    if (is_root (build, node)) {
      g_array_append_vals (build->summed, ready->data, ready->len);
      continue;
    }
    if (!add_between (build, node, parent, ready, &send))
      return FALSE;
    g_array_append_val (build->arrived[parent], send);
  }
  return TRUE;
}

/* Adds the sends of a broadcast from the node's first GPU, which has the bytes after `ready`, along its chain. */
static gboolean
broadcast_in_node (TreeBuild *build, guint node, GArray *ready)
{
  GArray *at_door = build->arrived[node];
  guint door = chain_of (build, node)->door, send;

  g_array_set_size (at_door, 0);
  for (guint i = 0; i < fab_group_n_locals (build->group, node); i++) {
    if (i > 0) {
      if (!add_inside (build, node, i - 1, i, ready, &send))
        return FALSE;
      g_array_set_size (ready, 0);
      g_array_append_val (ready, send);
    }
    if (i == door)
      g_array_append_vals (at_door, ready->data, ready->len);
  }
  return TRUE;
}

static gboolean
broadcast_down (TreeBuild *build)
{
  g_autoptr (GArray) ready = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < build->tree->n; i++) {
    guint node = build->tree->order[i], parent = build->tree->parents[node], send;

    g_array_set_size (ready, 0);
    if (is_root (build, node)) {
      g_array_append_vals (ready, build->summed->data, build->summed->len);
    } else {
      if (!add_between (build, parent, node, build->arrived[parent], &send))
        return FALSE;
      g_array_append_val (ready, send);
    }
    if (!broadcast_in_node (build, node, ready))
      return FALSE;
  }
  return TRUE;
}

/* The NICs of nodes of one shape, each with two trees, and the GPU beside each. A group in one node has one tree, which
 * uses no NIC. */
typedef struct {
  guint *nics, *doors;
  guint n_rails;
} Rails;

/* Of all shapes. There are trees for as many NICs as the shape has that has the fewest, as NCCL takes the fewest
 * channels of any rank (src/init.cc, initTransportsRank). */
typedef struct {
  Rails *shapes;
  FabRings rings; /* whose ways the chains take; empty: GPUs are not wired to each other */
  guint n_shapes, n_rails, n_trees;
} AllRails;

static guint
count_at_door (const Rails *rails, guint n_trees, guint door)
{
  guint n = 0;

  for (guint tree = 0; tree < n_trees; tree++)
    n += rails->doors[tree / 2] == door;
  return n;
}

/* The way of a ring from the door; NULL: there is none. */
static const guint *
way_from (const AllRails *all, guint shape, guint nic, guint door, guint tree)
{
  const guint *way = all->rings.n_rings > 0 ? fab_rings_order_from (&all->rings, shape, nic, tree % 2) : NULL;

  return way != NULL && way[0] == door ? way : NULL;
}

static InNode
in_node_new (const FabGroup *group, const AllRails *all, guint shape, guint tree, gboolean is_rooted)
{
  const Rails *rails = &all->shapes[shape];
  guint door = rails->doors[tree / 2], nic = rails->nics[tree / 2];
  const guint *way = way_from (all, shape, nic, door, tree);

  return (InNode){ .nic = nic,
                   .n_beside = count_at_door (rails, all->n_trees, door),
                   .chain = chain_new (group, door, door, way),
                   .root_chain = chain_new (group, is_rooted ? 0 : door, door, way) };
}

static InNode *
in_nodes_new (const FabGroup *group, const AllRails *rails, guint tree, gboolean is_rooted)
{
  InNode *in_nodes = g_new (InNode, rails->n_shapes);

  for (guint shape = 0; shape < rails->n_shapes; shape++) {
    FabGroup one = fab_group_of_shape (group, shape);

    in_nodes[shape] = in_node_new (&one, rails, shape, tree, is_rooted);
  }
  return in_nodes;
}

static void
in_nodes_free (InNode *in_nodes, guint n_shapes)
{
  for (guint shape = 0; shape < n_shapes; shape++) {
    g_free (in_nodes[shape].chain.order);
    g_free (in_nodes[shape].root_chain.order);
  }
  g_free (in_nodes);
}

/* What is the same for all trees of a form and is found once. */
typedef struct {
  FabRankSymmetry *alike;
  double net_stretch;
} Folding;

static void
hops_free (FabHop *hops, guint n)
{
  for (guint i = 0; i < n; i++)
    fab_hop_clear (&hops[i]);
  g_free (hops);
}

static gboolean
add_tree (const FabGroup *group, FabOp op, const AllRails *rails, guint index, FabSendGraph *sends,
          const Folding *folding, GError **error)
{
  gboolean is_rooted = op != FAB_OP_ALL_REDUCE;
  g_autoptr (FabTree) tree = fab_tree_new (group->n_nodes, index % 2,
                                           is_rooted ? FAB_TREE_ROOTS_AT_0 : FAB_TREE_ROOTS_APART);
  TreeBuild build = { .group = group,
                      .sends = sends,
                      .tree = tree,
                      .n_trees = rails->n_trees,
                      .weight = 1.0 / rails->n_trees,
                      .net_stretch = folding->net_stretch,
                      .alike = folding->alike,
                      .hops = { g_new0 (FabHop, group->gpus_per_node),
                                g_new0 (FabHop, group->gpus_per_node) },
                      .is_rooted = is_rooted,
                      .in_nodes = in_nodes_new (group, rails, index, is_rooted),
                      .arrived = g_new (GArray *, group->n_nodes),
                      .summed = g_array_new (FALSE, FALSE, sizeof (guint)),
                      .error = error };

  for (guint node = 0; node < group->n_nodes; node++)
    build.arrived[node] = g_array_new (FALSE, FALSE, sizeof (guint));
  gboolean is_added = (op == FAB_OP_BROADCAST || reduce_up (&build))
                   && (op == FAB_OP_REDUCE || broadcast_down (&build));
  for (guint node = 0; node < group->n_nodes; node++)
    g_array_unref (build.arrived[node]);
  g_array_unref (build.summed);
  fab_send_graph_end_part (sends);
  g_free (build.arrived);
  for (guint way = 0; way < 2; way++)
    hops_free (build.hops[way], group->gpus_per_node);
  in_nodes_free (build.in_nodes, rails->n_shapes);
  return is_added;
}

static Rails
find_rails (const FabGroup *shape, gboolean is_over)
{
  Rails rails = { .n_rails = 1 };

  if (!is_over) {
    rails.nics = g_new0 (guint, 1);
    rails.doors = g_new0 (guint, 1);
    return rails;
  }
  rails.nics = fab_rails_list (shape, &rails.n_rails);
  rails.doors = g_new (guint, rails.n_rails + 1);
  for (guint i = 0; i < rails.n_rails; i++) {
    guint hops;

    rails.doors[i] = fab_rails_gpu (shape, rails.nics[i], G_MAXUINT, &hops);
  }
  return rails;
}

static AllRails
find_all_rails (const FabGroup *group)
{
  AllRails rails = { .n_shapes = fab_group_n_shapes (group), .n_rails = G_MAXUINT };

  rails.shapes = g_new (Rails, rails.n_shapes);
  for (guint shape = 0; shape < rails.n_shapes; shape++) {
    FabGroup one = fab_group_of_shape (group, shape);

    rails.shapes[shape] = find_rails (&one, group->n_nodes > 1);
    rails.n_rails = MIN (rails.n_rails, rails.shapes[shape].n_rails);
  }
  rails.n_trees = group->n_nodes > 1 ? 2 * rails.n_rails : 1;
  return rails;
}

static void
all_rails_clear (AllRails *self)
{
  for (guint shape = 0; shape < self->n_shapes; shape++) {
    g_free (self->shapes[shape].nics);
    g_free (self->shapes[shape].doors);
  }
  g_free (self->shapes);
  if (self->rings.n_rings > 0)
    fab_rings_clear (&self->rings);
}

static gboolean
add_trees (const FabGroup *group, FabOp op, FabSendGraph *sends, const Folding *folding, guint *n_channels,
           GError **error)
{
  AllRails rails = find_all_rails (group);
  gboolean is_added = rails.n_rails > 0
                   || fab_throw (error, FAB_ERROR_INPUT,
                                 "%u nodes cannot reach each other, because the node "
                                 "has no NIC",
                                 group->n_nodes);

  if (is_added && group->n_nodes > 1 && fab_rings_are_wired (group))
    is_added = fab_rings_find (group, &rails.rings, error);
  *n_channels = rails.n_rails;
  for (guint i = 0; i < rails.n_trees && is_added; i++)
    is_added = add_tree (group, op, &rails, i, sends, folding, error);
  all_rails_clear (&rails);
  return is_added;
}

static gboolean
tree_form (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
           GError **error)
{
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (group, env, NULL, 1);
  g_autoptr (FabRankSymmetry) alike = op == FAB_OP_ALL_REDUCE ? fab_rank_symmetry_new (group, 1) : NULL;
  guint n_channels;

  if (!add_trees (group, op, sends, &(Folding){ alike, env->net_stretch }, &n_channels, error))
    return FALSE;
  fab_rank_symmetry_add (alike, fab_send_graph_builder (sends));
  fab_send_graph_form (sends, TRUE, form);
  if (env->recipe != NULL)
    fab_form_recipe_close (env->recipe, TRUE);
  form->n_channels = n_channels;
  return TRUE;
}

static gboolean
tree_schedule (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
               FabSchedule *schedule, GError **error)
{
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (group, env, schedule, n_chunks);
  guint n_channels;

  if (!add_trees (group, op, sends, &(Folding){ NULL, env->net_stretch }, &n_channels, error))
    return FALSE;
  return TRUE;
}

static gboolean
tree_supports (G_GNUC_UNUSED const FabGroup *group, FabOp op)
{
  return op == FAB_OP_ALL_REDUCE || op == FAB_OP_BROADCAST || op == FAB_OP_REDUCE;
}

const FabAlgorithmOps fab_algorithm_tree = {
  .info = { .name = "tree",
            .summary = "Two binary trees of nodes per NIC; the GPUs of each node form a chain.",
            .doc = "docs/models/tree.md" },
  .preference = 20,
  .wire_reason = "a rank in the middle of a tree sends the whole buffer on",
  .explains_more_only = TRUE,
  .supports = tree_supports,
  .form = tree_form,
  .schedule = tree_schedule,
};
