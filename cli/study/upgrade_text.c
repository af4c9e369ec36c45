/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/upgrade_text.h"

double
fab_upgrade_percent (double fraction)
{
  double percent = 100 * fraction;

  return percent < 0 && percent >= -0.05 ? 0 : percent;
}

char *
fab_upgrade_show_band (const FabUpgrade *self)
{
  if (!fab_upgrade_has_band (self))
    return g_strdup ("-");
  return g_strdup_printf ("%.1f to %.1f %%", fab_upgrade_percent (self->low_fraction),
                          fab_upgrade_percent (self->high_fraction));
}

char *
fab_upgrade_show_price (double usd)
{
  return usd < 0  ? g_strdup ("no price")
       : usd == 0 ? g_strdup ("nothing")
                  : fab_figure_show (FAB_FIGURE_MONEY, usd);
}
