/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/lone_sender.h"

LoneSender
lone_sender_new (const FabCongestionOps *ops, const char *yaml)
{
  LoneSender self = { .ops = ops,
                      .params = params_new (&ops->info, yaml),
                      .state = g_malloc0 (ops->state_size) };

  *self.state = (FabCongestion){ .params = self.params->params,
                                 .line_bytes_per_s = LONE_SENDER_BYTES_PER_S,
                                 .wire_bytes_per_s = LONE_SENDER_BYTES_PER_S,
                                 .round_trip_ps = 10 * US,
                                 .longest_trip_ps = 10 * US,
                                 .n_hops = 2,
                                 .mtu_bytes = 1000 };
  ops->start (self.state);
  return self;
}

void
lone_sender_clear (LoneSender *self)
{
  params_free (self->params);
  g_free (self->state);
}

FabPacketReport
lone_sender_report (FabTimePs now_ps, FabTimePs delay_ps)
{
  return (FabPacketReport){
    .now_ps = now_ps, .sent_ps = now_ps - delay_ps, .left_ps = now_ps - delay_ps, .bytes = 1000
  };
}
