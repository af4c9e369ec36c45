/* SPDX-License-Identifier: Apache-2.0 */
#include "models/net/packet/params.h"

static const char *const switchings[] = { "cut_through", "store_and_forward", NULL };
static const char *const controls[] = { "credit", "none", NULL };

#define ROW(key_, type_, field_, fallback_, help_)                                          \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (PacketParams, field_), \
  .fallback = fallback_, .help = help_

const FabParam packet_params[] = {
  { ROW ("mtu", BYTES, mtu_bytes, "4KiB", "Payload of a packet."), .min = 64, .max = 0x1p22 },
  { ROW ("switching", CHOICE, switching, "cut_through",
         "A packet goes on when its head is there, or when all of it is."),
    .choices = switchings },
  { ROW ("flow_control", CHOICE, control, "credit",
         "Links without loss: a packet waits for room at the far end; or queues without end."),
    .choices = controls },
  { ROW ("buffer", BYTES, buffer_bytes, "0B",
         "Room at the far end of a link; 0B: what its round trip holds, and 8 packets."),
    .max = 0x1p30 },
  { ROW ("window", BYTES, window_bytes, "0B",
         "What a message has under way at most; 0B: without flow control two round trips, else no limit.") },
  { ROW ("pace", FRACTION, pace_fraction, "1", "Share of the line rate at which a sender puts packets out."),
    .min = 0.001, .max = 1 },
  { ROW ("paths", COUNT, n_paths, "64", "Over which a route that spreads sends the packets of a message, in turn."),
    .min = 1, .max = 4096 },
  { .key = NULL },
};
