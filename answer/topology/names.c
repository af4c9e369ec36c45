/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/topology/names.h"

#include <string.h>

char *
fab_topo_link_text (const FabGraph *graph, FabLinkId id)
{
  const FabLink *link = fab_graph_link (graph, id);
  const char *name = fab_graph_link_class (graph, id)->name;
  double GBps = (double) link->rate_bytes_per_s / 1e9;

  return link->count > 1 ? g_strdup_printf ("%u x %s, %.4g GB/s", link->count, name, GBps)
                         : g_strdup_printf ("%s, %.4g GB/s", name, GBps);
}

char *
fab_topo_part (const char *path)
{
  const char *slash = strchr (path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  gsize length = strlen (name);

  while (length > 1 && g_ascii_isdigit (name[length - 1]))
    length--;
  return g_strndup (name, length);
}
