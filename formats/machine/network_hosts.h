/* SPDX-License-Identifier: Apache-2.0 */
/* network_hosts.h - the hosts of an imported network: adapters whose descriptions name the same machine. */
#pragma once

#include "formats/machine/network.h"

typedef struct {
  const char *name;  /* owned by the network; the id of the adapter where no description names one machine */
  gboolean is_named; /* FALSE: it is one port, and it may be a part of any machine */
  GArray *ports;     /* guint: cables, by the number of the adapter in its machine, then by its port */
  GArray *slow;      /* FabImportedSlowWire of its node, where a file of the host says so; NULL: none */
  guint leaf;        /* device: the switch of the first port */
} FabNetworkHost;

/* In the order in which the text first lists them. (transfer full) (element-type FabNetworkHost) */
GPtrArray *fab_network_hosts_of (const FabImportedNetwork *network);

/* The number behind the last "_" or "-" of an adapter's name in its machine: 5 of "mlx5_5" and of "HCA-6", since the
 * driver counts "HCA-1" for its first device; G_MAXUINT: its name has none, or it has no name. */
guint fab_network_adapter_number (const char *adapter);

/* The adapter at the end of a port of a host. */
const FabImportedDevice *fab_network_host_adapter (const FabImportedNetwork *network,
                                                   const FabNetworkHost *host, guint port);
/* The number of its port, as the adapter counts them from 1; 0: not stated. */
guint fab_network_host_port (const FabImportedNetwork *network, const FabNetworkHost *host, guint port);
