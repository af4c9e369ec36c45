/* SPDX-License-Identifier: Apache-2.0 */
/* packet.h - the keys of the packet network. */
#pragma once

#include "sim/base/param.h"

enum { SWITCHING_CUT_THROUGH, SWITCHING_STORE_AND_FORWARD };
enum { MARK_AT_DEQUEUE, MARK_AT_ENQUEUE };
enum { ARBITRATION_WEIGHTED, ARBITRATION_STRICT };
enum { BALANCE_IN_TURN, BALANCE_LEAST_QUEUE };

/* What keeps a link from losing packets. AUTO is decided link by link. */
typedef enum {
  CONTROL_AUTO,
  CONTROL_CREDIT,
  CONTROL_PFC,
  CONTROL_DROP,
  CONTROL_TRIM, /* as DROP, but the header goes on and tells the receiver */
  CONTROL_NONE
} Control;

/* Names of traffic to which classes of service apply, by FabConnection.traffic; NULL-ended. */
extern const char *const packet_traffics[];

/* Chips and products by `chip`; NULL-ended, the first one is none. */
extern const char *const packet_chips[];

enum { PACKET_MOST_CLASSES = 15 };

typedef struct {
  gint of; /* index in packet_traffics */
  gint64 weight;
} PacketClassParams;

typedef struct {
  gboolean has_memo, has_skip, has_fold, has_percentiles;
  FabParamList classes; /* PacketClassParams */
  int arbitration;
  FabBytes mtu_bytes;
  int switching, control, balance;
  FabBytes window_bytes, buffer_bytes, queue_bytes;
  FabBytes pause_bytes, resume_bytes;
  FabBytes memory_bytes;
  int chip; /* index in packet_chips */
  double alpha;
  double pace_fraction;
  gint64 n_paths, n_lanes;
  FabBytes mark_from_bytes, mark_all_bytes;
  int mark_at;
  FabBytes ack_bytes;
  double mark_fraction;
  FabModelChoice congestion;
  FabTimePs timeout_ps, doorbell_ps, message_gap_ps, completion_ps;
} PacketParams;

/* The table of PacketParams, and what finds values that do not fit together. */
extern const FabParam packet_params[];
void packet_params_check (gconstpointer params, FabCheck *check);
