/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/upgrade_text.h"
#include "sim/base/units.h"

char *
fab_upgrade_show_band (const FabUpgrade *self)
{
  if (!fab_upgrade_has_band (self))
    return g_strdup ("-");
  return g_strdup_printf ("%.1f to %.1f %%", fab_percent (self->low_fraction),
                          fab_percent (self->high_fraction));
}

char *
fab_upgrade_show_price (double usd)
{
  return usd < 0  ? g_strdup ("no price")
       : usd == 0 ? g_strdup ("nothing")
                  : fab_figure_show (FAB_FIGURE_MONEY, usd);
}
