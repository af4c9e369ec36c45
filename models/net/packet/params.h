/* SPDX-License-Identifier: Apache-2.0 */
/* params.h - what a scenario can say about the packet network. */
#pragma once

#include "sim/base/param.h"

enum { SWITCHING_CUT_THROUGH, SWITCHING_STORE_AND_FORWARD };
enum { BALANCE_IN_TURN, BALANCE_LEAST_QUEUE };

/* What keeps a link from losing packets; AUTO is settled link by link. */
typedef enum { CONTROL_AUTO, CONTROL_CREDIT, CONTROL_PFC, CONTROL_DROP, CONTROL_NONE } Control;

typedef struct {
  FabBytes mtu_bytes;
  int switching, control, balance;
  FabBytes window_bytes, buffer_bytes, queue_bytes;
  FabBytes pause_bytes, resume_bytes;
  double pace_fraction;
  gint64 n_paths, n_lanes;
  FabBytes mark_from_bytes, mark_all_bytes;
  double mark_fraction;
  gboolean has_dcqcn;
  double gain_fraction;
  FabTimePs cnp_every_ps, increase_every_ps, alpha_every_ps;
  FabBytes increase_every_bytes;
  gint64 n_recovery;
  FabBytesPerS increase_bytes_per_s, hyper_bytes_per_s;
  FabTimePs timeout_ps, doorbell_ps, message_gap_ps, completion_ps;
} PacketParams;

extern const FabParam packet_params[];
