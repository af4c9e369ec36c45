/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sharing/job_places.h"

#include "sim/base/mix.h"

const char *const fab_mix_placement_names[] = { [FAB_MIX_PACKED] = "packed",
                                                [FAB_MIX_SPREAD] = "spread",
                                                [FAB_MIX_FIRST] = "first",
                                                [FAB_MIX_RANDOM] = "random",
                                                NULL };

static void
take (guint *free_nodes, guint group, guint n, GArray *parts)
{
  FabMixPart part = { .group = group, .n = n };

  free_nodes[group] -= n;
  if (n > 0)
    g_array_append_val (parts, part);
}

/* The fullest group with room for all; n_groups: none has. */
static guint
find_fullest (guint n_groups, const guint *free_nodes, guint n)
{
  guint best = n_groups;

  for (guint g = 0; g < n_groups; g++)
    if (free_nodes[g] >= n && (best == n_groups || free_nodes[g] < free_nodes[best]))
      best = g;
  return best;
}

static guint
find_emptiest (guint n_groups, const guint *free_nodes)
{
  guint best = 0;

  for (guint g = 1; g < n_groups; g++)
    if (free_nodes[g] > free_nodes[best])
      best = g;
  return best;
}

/* Whole groups, the emptiest first; the rest in the fullest group that has room for it. */
static void
pack (guint n_groups, guint *free_nodes, guint n, GArray *parts)
{
  while (n > 0) {
    guint group = find_fullest (n_groups, free_nodes, n);

    if (group == n_groups)
      group = find_emptiest (n_groups, free_nodes);
    guint taken = MIN (n, free_nodes[group]);
    take (free_nodes, group, taken, parts);
    n -= taken;
  }
}

/* Takes counts of nodes that are free already. */
static void
take_counts (guint n_groups, guint *free_nodes, const guint *counts, GArray *parts)
{
  for (guint g = 0; g < n_groups; g++)
    take (free_nodes, g, counts[g], parts);
}

static void
spread (guint n_groups, guint *free_nodes, guint n, GArray *parts)
{
  g_autofree guint *left = g_memdup2 (free_nodes, n_groups * sizeof *left);
  g_autofree guint *counts = g_new0 (guint, n_groups);

  for (; n > 0; n--) {
    guint group = find_emptiest (n_groups, left);

    left[group]--;
    counts[group]++;
  }
  take_counts (n_groups, free_nodes, counts, parts);
}

static void
take_first (guint n_groups, guint *free_nodes, guint n, GArray *parts)
{
  for (guint g = 0; g < n_groups && n > 0; g++) {
    guint taken = MIN (n, free_nodes[g]);

    take (free_nodes, g, taken, parts);
    n -= taken;
  }
}

/* Every free node with the same chance. */
static void
take_random (guint n_groups, guint *free_nodes, guint n, guint64 seed, guint64 *draw, GArray *parts)
{
  g_autofree guint *left = g_memdup2 (free_nodes, n_groups * sizeof *left);
  g_autofree guint *counts = g_new0 (guint, n_groups);
  guint n_free = 0;

  for (guint g = 0; g < n_groups; g++)
    n_free += left[g];
  for (; n > 0; n--, n_free--) {
    guint which = (guint) (fab_mix (seed, (*draw)++) % n_free), group = 0;

    while (which >= left[group])
      which -= left[group++];
    left[group]--;
    counts[group]++;
  }
  take_counts (n_groups, free_nodes, counts, parts);
}

void
fab_mix_place (FabMixPlacement placement, guint n_groups, guint *free_nodes, guint n, guint64 seed,
               guint64 *draw, GArray *parts)
{
  switch (placement) {
  case FAB_MIX_PACKED: pack (n_groups, free_nodes, n, parts); break;
  case FAB_MIX_SPREAD: spread (n_groups, free_nodes, n, parts); break;
  case FAB_MIX_FIRST: take_first (n_groups, free_nodes, n, parts); break;
  case FAB_MIX_RANDOM: take_random (n_groups, free_nodes, n, seed, draw, parts); break;
  case FAB_N_MIX_PLACEMENTS:
  default: g_assert_not_reached ();
  }
}
