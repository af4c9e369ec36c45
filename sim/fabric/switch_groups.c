/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/switch_groups.h"

#include "sim/base/error.h"

#define MAX_LINKS (4 * 1000 * 1000)

static gboolean
count_groups (const FabFabricEnv *env, const FabGroupsSpec *spec, guint *n_groups, GError **error)
{
  guint64 n_nics = (guint64) env->n_places * env->nics_per_node;
  guint64 needed = (n_nics + spec->nics_per_group - 1) / spec->nics_per_group;

  *n_groups = spec->n_groups > 0 ? (guint) spec->n_groups : (guint) needed;
  return needed <= *n_groups
      || fab_throw (error, FAB_ERROR_INPUT,
                    "a %s of %u groups has ports for %" G_GUINT64_FORMAT " NICs, not %" G_GUINT64_FORMAT,
                    spec->kind, *n_groups, *n_groups * spec->nics_per_group, n_nics);
}

static gboolean
count_links (const FabGroupsSpec *spec, guint n_groups, guint *n_links, GError **error)
{
  guint64 ports = spec->ports_per_group;

  *n_links = spec->n_links > 0 ? (guint) spec->n_links : (guint) MAX (1, ports / MAX (1, n_groups - 1));
  return (guint64) *n_links * (n_groups - 1) <= ports
      || fab_throw (error, FAB_ERROR_INPUT,
                    "a group of this %s has %" G_GUINT64_FORMAT
                    " ports to other groups, but %u links to each of %u are needed",
                    spec->kind, ports, *n_links, n_groups - 1);
}

/* Refuses sizes that would fill the memory before anything is reported. */
static gboolean
check_size (const FabGroupsSpec *spec, guint n_groups, guint n_links, GError **error)
{
  guint64 n = spec->links_inside * n_groups + (guint64) n_groups * (n_groups - 1) / 2 * n_links;

  return n <= MAX_LINKS
      || fab_throw (error, FAB_ERROR_INPUT,
                    "a %s of %u groups with %u routers has %" G_GUINT64_FORMAT " links; at most %d",
                    spec->kind, n_groups, spec->n_switches, n, MAX_LINKS);
}

gboolean
fab_groups_plan (const FabFabricEnv *env, const FabGroupsSpec *spec, guint *n_groups, guint *n_links,
                 GError **error)
{
  return count_groups (env, spec, n_groups, error) && count_links (spec, *n_groups, n_links, error)
      && check_size (spec, *n_groups, *n_links, error);
}

/* `at` is the switch of each group that gets the next link. */
void
fab_groups_join (const FabFabricEnv *env, const FabVertexId *switches, guint n_groups, guint n_switches,
                 guint n_links, const FabLinkForm *form)
{
  g_autofree guint *at = g_new0 (guint, n_groups);

  for (guint a = 0; a < n_groups; a++)
    for (guint b = a + 1; b < n_groups; b++)
      for (guint i = 0; i < n_links; i++)
        fab_graph_builder_join_groups (env->builder, switches[a * n_switches + at[a]++ % n_switches],
                                       switches[b * n_switches + at[b]++ % n_switches], form);
}
