/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/power_cap.h"

double
fab_power_cap_share (const FabPower *cap, const FabAcceleratorSpec *accelerator)
{
  if (cap->watts == 0)
    return cap->fraction;
  return accelerator->power_watts > 0 ? (double) cap->watts / (double) accelerator->power_watts : 1;
}

/* What no clock lowers: in watts where the board's power is known. (transfer full) */
static char *
least_power (const FabAcceleratorSpec *accelerator)
{
  double share = accelerator->clock.static_fraction;

  if (accelerator->power_watts > 0)
    return g_strdup_printf ("%.0f W of its %" G_GINT64_FORMAT " W", share * (double) accelerator->power_watts,
                            accelerator->power_watts);
  return g_strdup_printf ("%.1f %% of its power", 100 * share);
}

void
fab_power_cap_check (FabSchemaReader *reader, const FabPower *cap, const FabAcceleratorSpec *accelerator)
{
  g_autofree char *least = accelerator != NULL ? least_power (accelerator) : NULL;
  double share;

  if (accelerator == NULL || (cap->watts == 0 && cap->fraction >= 1))
    return;
  share = fab_power_cap_share (cap, accelerator);
  if (cap->watts > 0 && accelerator->power_watts == 0)
    fab_schema_report (reader, cap, "the power of '%s' is not known; write the cap as a share such as 70%%",
                       accelerator->name);
  else if (share > 1)
    fab_schema_report (reader, cap,
                       "'%s' draws at most %" G_GINT64_FORMAT " W; write a lower cap, or leave it out",
                       accelerator->name, accelerator->power_watts);
  else if (share <= accelerator->clock.static_fraction)
    fab_schema_report (reader, cap, "'%s' draws %s at any clock; write a higher cap", accelerator->name,
                       least);
}
