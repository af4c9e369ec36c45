/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/band.h"

#include "tests/support/play.h"

typedef struct {
  const FabCatalog *catalog;
  const char *yaml;
} Played;

static double
total_us (FabSimulation *simulation)
{
  double sum = 0;

  while (fab_simulation_step (simulation))
    sum += fab_ps_to_seconds (fab_simulation_probe (simulation)->step.times.duration_ps) * 1e6;
  return sum;
}

static gboolean
play_changed (gpointer owner, const FabWhatIf *what_if, double *value_us, G_GNUC_UNUSED GError **error)
{
  const Played *self = owner;
  g_autoptr (Play) play = play_new (self->catalog, self->yaml, what_if);

  *value_us = total_us (play->simulation);
  return TRUE;
}

PlayedBand
played_band (const FabCatalog *catalog, const char *yaml)
{
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  Played again = { catalog, yaml };
  PlayedBand self = { .value_us = total_us (play->simulation) };

  gboolean is_found = fab_band_find (play->scenario, fab_simulation_cluster (play->simulation)->graph,
                                     &self.value_us, 1, play_changed, &again, &self.band, NULL);
  g_assert (is_found);
  return self;
}
