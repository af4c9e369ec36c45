/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/messages.h"

#include <math.h>

static const FabMessageRegime *
find_regime (const FabMessages *messages, FabMessageWay way, double bytes)
{
  const FabMessageRegime *found = NULL;

  for (guint i = 0; i < messages->n; i++) {
    const FabMessageRegime *regime = &messages->regimes[i];

    if (regime->way != (int) way)
      continue;
    found = regime;
    if (regime->up_to_bytes == 0 || bytes <= (double) regime->up_to_bytes)
      break;
  }
  return found;
}

FabTimePs
fab_message_ps (const FabMessages *messages, FabMessageWay way, double bytes)
{
  return fab_message_among_ps (messages, way, bytes, bytes);
}

FabTimePs
fab_message_among_ps (const FabMessages *messages, FabMessageWay way, double bytes, double port_bytes)
{
  const FabMessageRegime *regime = find_regime (messages, way, bytes);

  if (regime == NULL)
    regime = find_regime (messages, FAB_WAY_ONE, bytes);
  g_assert (regime != NULL);
  double ps = messages->factor
            * ((double) regime->overhead_ps
               + port_bytes / ((double) regime->rate_bytes_per_s * (1 + messages->rate_change))
                     * (double) FAB_PS_PER_S);
  /* Round up, except for errors of rounding in the computation itself. */
  return ps >= (double) FAB_TIME_MAX ? FAB_TIME_MAX : (FabTimePs) ceil (ps - MIN (ps * 0x1p-51, 0.5));
}
