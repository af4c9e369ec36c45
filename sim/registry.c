/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - finds a model by name in the lists of the registry.
 *
 * The lists are short (tens of rows) and read only while a scenario loads, so a linear search does. A missing list
 * counts as empty.
 */
#include "sim/registry.h"

const FabModelInfo *
fab_registry_find (const FabRegistry *registry, FabModelKind kind, const char *name)
{
  const FabModelInfo *const *list = registry->lists[kind];

  for (guint i = 0; list != NULL && list[i] != NULL; i++)
    if (g_str_equal (list[i]->name, name))
      return list[i];
  return NULL;
}

const char **
fab_registry_names (const FabRegistry *registry, FabModelKind kind)
{
  const FabModelInfo *const *list = registry->lists[kind];
  guint n = 0;
  const char **names;

  while (list != NULL && list[n] != NULL)
    n++;
  names = g_new0 (const char *, n + 1);
  for (guint i = 0; i < n; i++)
    names[i] = list[i]->name;
  return names;
}

const char *
fab_model_kind_name (FabModelKind kind)
{
  static const char *const names[FAB_N_MODEL_KINDS] = {
    [FAB_MODEL_FABRIC] = "fabric",       [FAB_MODEL_ROUTE] = "route",
    [FAB_MODEL_NET] = "fidelity",        [FAB_MODEL_CONGESTION] = "congestion",
    [FAB_MODEL_ALGORITHM] = "algorithm", [FAB_MODEL_LIBRARY] = "collectives",
    [FAB_MODEL_COMPUTE] = "compute",     [FAB_MODEL_SHAPE] = "shape",
    [FAB_MODEL_WORKLOAD] = "job",
  };

  g_assert (kind < FAB_N_MODEL_KINDS);
  return names[kind];
}
