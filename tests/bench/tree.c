/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/tree.h"

#include "tests/support/technologies.h"

typedef struct {
  FabRouter base;
  const Tree *tree;
} TreeRouter;

static guint
n_leaves_in_all (const TreeSpec *spec)
{
  return spec->n_pods * spec->n_leaves;
}

static FabVertexId
leaf_of (const Tree *self, guint host)
{
  return self->n_hosts + host / self->spec.n_per_leaf;
}

static FabVertexId
middle_vertex (const Tree *self, guint pod, guint member)
{
  return self->n_hosts + n_leaves_in_all (&self->spec) + pod * self->spec.n_per_leaf + member;
}

static FabVertexId
core_vertex (const Tree *self, guint member)
{
  return middle_vertex (self, self->spec.n_pods, member);
}

/* Link `index` of those that leave a vertex: they are in the order in which they were joined. */
static void
step (const Tree *self, FabPath *path, FabVertexId *at, guint index)
{
  FabLinkId first;

  fab_graph_out_links (self->graph, *at, &first);
  path->links[path->n++] = first + index;
  *at = fab_graph_link (self->graph, first + index)->dst;
}

/* Leaves have their hosts first, then middle switches; those their leaves first, then cores; cores the pods. */
static gboolean
tree_append (FabRouter *router, FabVertexId src, FabVertexId dst, G_GNUC_UNUSED guint64 flow_hash,
             FabPath *path)
{
  const Tree *self = ((TreeRouter *) router)->tree;
  guint n_leaves = self->spec.n_leaves, n_per_leaf = self->spec.n_per_leaf;
  guint src_leaf = src / n_per_leaf, dst_leaf = dst / n_per_leaf;
  FabVertexId at = src;

  if (src == dst)
    return TRUE;
  step (self, path, &at, 0);
  if (src_leaf != dst_leaf) {
    step (self, path, &at, n_per_leaf + dst % n_per_leaf);
    if (src_leaf / n_leaves != dst_leaf / n_leaves) {
      step (self, path, &at, n_leaves + dst_leaf % n_leaves);
      step (self, path, &at, dst_leaf / n_leaves);
    }
    step (self, path, &at, dst_leaf % n_leaves);
  }
  step (self, path, &at, dst % n_per_leaf);
  g_assert (at == dst);
  return TRUE;
}

static void
tree_router_destroy (FabRouter *router)
{
  g_free (router);
}

static const FabRouterOps tree_router = {
  .info = { .name = "d_mod_k" },
  .append = tree_append,
  .destroy = tree_router_destroy,
};

static void
add_vertices (const Tree *self, FabGraphBuilder *builder)
{
  const TreeSpec *spec = &self->spec;
  const struct {
    const char *name;
    guint n;
  } switches[] = { { "leaf", n_leaves_in_all (spec) },
                   { "middle", spec->n_pods * spec->n_per_leaf },
                   { "core", spec->n_pods > 1 ? spec->n_per_leaf * spec->n_leaves : 0 } };
  guint gpu = fab_graph_builder_part (builder, "gpu", FALSE);

  for (guint i = 0; i < self->n_hosts; i++)
    fab_graph_builder_vertex (builder, FAB_VERTEX_ACCELERATOR, i, gpu, 0);
  for (guint s = 0; s < G_N_ELEMENTS (switches); s++) {
    guint part = fab_graph_builder_part (builder, switches[s].name, TRUE);

    for (guint i = 0; i < switches[s].n; i++)
      fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, FAB_NO_NODE, part, i);
  }
}

static void
join (const Tree *self, FabGraphBuilder *builder, const FabLinkForm *form)
{
  const TreeSpec *spec = &self->spec;

  for (guint i = 0; i < self->n_hosts; i++)
    fab_graph_builder_join (builder, i, leaf_of (self, i), form);
  for (guint pod = 0; pod < spec->n_pods; pod++)
    for (guint leaf = 0; leaf < spec->n_leaves; leaf++)
      for (guint a = 0; a < spec->n_per_leaf; a++)
        fab_graph_builder_join (builder, self->n_hosts + pod * spec->n_leaves + leaf,
                                middle_vertex (self, pod, a), form);
  for (guint pod = 0; spec->n_pods > 1 && pod < spec->n_pods; pod++)
    for (guint a = 0; a < spec->n_per_leaf; a++)
      for (guint c = 0; c < spec->n_leaves; c++)
        fab_graph_builder_join (builder, middle_vertex (self, pod, a),
                                core_vertex (self, a * spec->n_leaves + c), form);
}

Tree *
tree_new (const TreeSpec *spec)
{
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  Tree *self = g_new0 (Tree, 1);
  TreeRouter *router = g_new0 (TreeRouter, 1);
  double cost = spec->cost > 0 ? spec->cost : 1;
  FabLinkClass link_class = {
    .name = "port", .technology = &test_ethernet, .flow_control = FAB_FLOW_PFC, .cost = { cost, cost, cost }
  };
  FabLinkForm form = { spec->rate_bytes_per_s, spec->latency_ps,
                       fab_graph_builder_class (builder, &link_class), 1 };

  self->spec = *spec;
  self->n_hosts = n_leaves_in_all (spec) * spec->n_per_leaf;
  add_vertices (self, builder);
  join (self, builder, &form);
  self->graph = fab_graph_builder_freeze (builder);
  router->base.ops = &tree_router;
  router->tree = self;
  self->router = &router->base;
  return self;
}

void
tree_free (Tree *self)
{
  if (self == NULL)
    return;
  fab_router_destroy (self->router);
  fab_graph_free (self->graph);
  g_free (self);
}

guint
tree_hops (const Tree *self, guint src, guint dst)
{
  guint n_per_leaf = self->spec.n_per_leaf, n_per_pod = n_per_leaf * self->spec.n_leaves;

  if (src == dst)
    return 0;
  return src / n_per_leaf == dst / n_per_leaf ? 2 : src / n_per_pod == dst / n_per_pod ? 4 : 6;
}
