/* SPDX-License-Identifier: Apache-2.0 */
/* lone_sender.h - the state of one sender of a congestion control, without a network: tests call it as the network
 * would.
 *
 * Its line has 100 Gb/s of payload, its packets 1000 bytes, and an empty network a round trip of 10 us over two links.
 */
#pragma once

#include "sim/net/congestion.h"
#include "tests/support/params.h"

enum { US = 1000000 }; /* ps */

#define LONE_SENDER_BYTES_PER_S 12.5e9

typedef struct {
  const FabCongestionOps *ops;
  Params *params;
  FabCongestion *state;
} LoneSender;

/* Starts a sender; `yaml`: parameters. */
LoneSender lone_sender_new (const FabCongestionOps *ops, const char *yaml);
void lone_sender_clear (LoneSender *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LoneSender, lone_sender_clear)

/* A report of a packet of 1000 bytes that was sent `delay_ps` before. */
FabPacketReport lone_sender_report (FabTimePs now_ps, FabTimePs delay_ps);
