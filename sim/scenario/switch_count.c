/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/switch_count.h"

#include "sim/scenario/catalog.h" /* FAB_SWITCH_LEAST_PORTS */

static guint64
divide_up (guint64 a, guint64 b)
{
  return (a + b - 1) / b;
}

/* Returns the ports of a plane when every neighbour distributes its links over `n_planes`. */
static guint64
ports_of_plane (const FabPortGroup *groups, guint n_groups, guint n_planes)
{
  guint64 n = 0;

  for (guint i = 0; i < n_groups; i++)
    n += divide_up ((guint64) groups[i].n * divide_up (groups[i].n_links, n_planes),
                    groups[i].links_per_port);
  return n;
}

static FabSwitchCount
count_clos (guint64 n_ports, guint64 k)
{
  guint64 half = k / 2, room = k, tiers = 1;

  for (; room < n_ports; room *= half)
    tiers++;
  if (tiers == 1)
    return (FabSwitchCount){ 1, 0 };
  guint64 per_tier = divide_up (n_ports, half), n_cables = per_tier * half;
  return (FabSwitchCount){ (tiers - 1) * per_tier + divide_up (n_cables, k), (tiers - 1) * n_cables };
}

FabSwitchCount
fab_switch_count (const FabPortGroup *groups, guint n_groups, gboolean can_deal, guint ports_per_switch)
{
  guint most_planes = can_deal ? G_MAXUINT : 1;
  FabSwitchCount best = { G_MAXUINT64, 0 };

  g_assert (ports_per_switch >= FAB_SWITCH_LEAST_PORTS);
  for (guint i = 0; i < n_groups; i++)
    most_planes = MIN (most_planes, groups[i].n_links);
  for (guint planes = 1; planes <= most_planes && n_groups > 0; planes++) {
    FabSwitchCount plane = count_clos (ports_of_plane (groups, n_groups, planes), ports_per_switch);

    if (plane.n_switches * planes < best.n_switches)
      best = (FabSwitchCount){ plane.n_switches * planes, plane.n_cables * planes };
  }
  return n_groups > 0 ? best : (FabSwitchCount){ 1, 0 };
}
