/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/path_finder.h"

#include "sim/fabric/search.h"

struct _FabPathFinder {
  FabSizeSearch search;
};

FabPathFinder *
fab_path_finder_new (const FabGraph *graph)
{
  FabPathFinder *self = g_new0 (FabPathFinder, 1);

  fab_search_init (&self->search, graph);
  return self;
}

void
fab_path_finder_free (FabPathFinder *self)
{
  if (self == NULL)
    return;
  fab_search_clear (&self->search);
  g_free (self);
}

gboolean
fab_path_finder_append (FabPathFinder *self, FabVertexId src, FabVertexId dst, FabPath *path)
{
  return fab_search_best (&self->search, src, dst, path);
}
