/* SPDX-License-Identifier: Apache-2.0 */
/* params.h - what a scenario can say about the packet network. */
#pragma once

#include "sim/base/param.h"

enum { SWITCHING_CUT_THROUGH, SWITCHING_STORE_AND_FORWARD };
enum { CONTROL_CREDIT, CONTROL_NONE };

typedef struct {
  FabBytes mtu_bytes;
  int switching, control;
  FabBytes window_bytes, buffer_bytes;
  double pace_fraction;
  gint64 n_paths;
} PacketParams;

extern const FabParam packet_params[];
