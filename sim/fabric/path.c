/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/path.h"

FabTimePs
fab_path_latency_ps (const FabGraph *graph, const FabPath *path)
{
  FabTimePs total_ps = 0;

  for (guint i = 0; i < path->n; i++)
    total_ps = fab_ps_add (total_ps, fab_graph_link (graph, path->links[i])->latency_ps);
  return total_ps;
}

double
fab_path_rate_bytes_per_s (const FabGraph *graph, const FabPath *path, FabDrive drive)
{
  double rate = G_MAXDOUBLE;

  for (guint i = 0; i < path->n; i++) {
    double line = (double) fab_graph_link (graph, path->links[i])->rate_bytes_per_s;

    rate = MIN (rate, line / fab_graph_link_class (graph, path->links[i])->cost[drive]);
  }
  return rate;
}
