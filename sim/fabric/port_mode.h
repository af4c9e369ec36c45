/* SPDX-License-Identifier: Apache-2.0 */
/* port_mode.h - how the ports of one NIC carry what the NIC sends. */
#pragma once

typedef enum {
  /* The library makes one device of all ports and divides each message among them. What leaves by the k-th port that
   * works arrives by the k-th (NCCL's NCCL_IB_MERGE_NICS, 1 since v2.20: src/transport/net_ib.cc). */
  FAB_PORTS_MERGED,
  /* One address stands for all ports, and a hash of the flow picks the port by which it leaves (LACP, IEEE 802.1AX). */
  FAB_PORTS_BOND,
  /* Each port is a NIC of its own to the library, with its share of the bus. */
  FAB_PORTS_SEPARATE,
  FAB_N_PORT_MODES,
} FabPortMode;

extern const char *const fab_port_mode_names[FAB_N_PORT_MODES + 1]; /* "merged", ...; NULL-ended */
