/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/binding.h"

FabBinding
fab_binding_find (const FabProbe *probe, const FabGraph *graph)
{
  const GArray *collectives = probe->collectives;
  guint n_links = fab_graph_n_links (graph);
  g_autofree double *bound = g_new0 (double, n_links + 1);
  FabBinding self = { .link = FAB_NO_LINK };
  double total = 0;

  for (guint pass = 0; pass < 2 && total <= 0; pass++)
    for (guint i = 0; i < collectives->len; i++) {
      const FabCollectiveRecord *record = &g_array_index (collectives, FabCollectiveRecord, i);
      FabTimePs ps = pass == 0 ? record->exposed_ps : record->end_ps - record->start_ps;

      if (record->binding_link == FAB_NO_LINK)
        continue;
      bound[record->binding_link] += (double) ps;
      total += (double) ps;
    }
  for (guint link = 0; link < n_links; link++)
    if (bound[link] > 0 && (self.link == FAB_NO_LINK || bound[link] > bound[self.link]))
      self.link = link;
  if (self.link != FAB_NO_LINK)
    self.fraction = bound[self.link] / total;
  return self;
}
