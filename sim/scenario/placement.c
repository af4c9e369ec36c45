/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/placement.h"

#include "sim/base/mix.h"

const char *const fab_placement_names[] = { "usual", "packed", "strided", "spread", "random", NULL };

static void
fill_strided (guint *places, guint n_nodes, guint n_places, guint stride)
{
  guint64 place = 0;
  guint first = 0;

  for (guint i = 0; i < n_nodes; i++, place += stride) {
    if (place >= n_places)
      place = ++first;
    places[i] = (guint) place;
  }
}

static void
fill_spread (guint *places, guint n_nodes, guint n_places)
{
  for (guint i = 0; i < n_nodes; i++)
    places[i] = (guint) ((guint64) i * n_places / n_nodes);
}

/* Fills in the first n_nodes of a shuffle (Fisher and Yates). */
static void
fill_random (guint *places, guint n_nodes, guint n_places, guint64 seed)
{
  g_autofree guint *all = g_new (guint, n_places);

  for (guint i = 0; i < n_places; i++)
    all[i] = i;
  for (guint i = 0; i < n_nodes; i++) {
    guint drawn = i + (guint) (fab_mix (seed, i) % (n_places - i));

    places[i] = all[drawn];
    all[drawn] = all[i];
  }
}

guint *
fab_placement_map (FabPlacement placement, guint n_nodes, guint n_places, guint stride, guint64 seed)
{
  guint *places = g_new (guint, n_nodes + 1);

  g_assert (n_nodes <= n_places && stride >= 1);
  switch (placement) {
  case FAB_PLACEMENT_USUAL:
  case FAB_PLACEMENT_PACKED: fill_strided (places, n_nodes, n_places, 1); break;
  case FAB_PLACEMENT_STRIDED: fill_strided (places, n_nodes, n_places, stride); break;
  case FAB_PLACEMENT_SPREAD: fill_spread (places, n_nodes, n_places); break;
  case FAB_PLACEMENT_RANDOM: fill_random (places, n_nodes, n_places, seed); break;
  default: g_assert_not_reached ();
  }
  return places;
}
