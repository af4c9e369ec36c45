/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - finds RDMA devices of this machine, chooses port and GID, and names them. */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* Lists the active ports of this machine as names "mlx5_0:1", in the order of the devices; only those of `device` and
 * `port` where they are given. Fails with FAB_ERROR_UNSUPPORTED and the state of the other ports when there are none.
 * (transfer full) */
GPtrArray *fab_verbs_active_ports (const char *device, gint64 port, GError **error);

/* Opens the port "mlx5_0:1"; fab_verbs_port_clear closes it. */
gboolean fab_verbs_port_open (FabVerbsPort *port, const char *name, GError **error);
void fab_verbs_port_clear (FabVerbsPort *port);

/* Opens the port that answers a request: the one chosen here, else the one with the same name, else the first one on
 * the same kind of network. */
gboolean fab_verbs_port_answer (FabVerbsPort *port, const FabVerbsParams *params,
                                const FabVerbsRequest *request, GError **error);

/* Describes a port: "InfiniBand, 4x 50 Gb/s, MTU 4096, firmware 20.31.1014". (transfer full) */
char *fab_verbs_port_words (const FabVerbsPort *port);

/* Writes the LID and, where one is used, the GID to the card. With `index` -1, RoCE uses the first RoCE v2 GID
 * with an IPv4 address, else another RoCE v2 GID, else a RoCE v1 GID; InfiniBand uses LIDs. Sets *chosen to the
 * index; 0 for LIDs. */
gboolean fab_verbs_port_address (const FabVerbsPort *port, gint64 index, FabVerbsCard *card, gint *chosen,
                                 GError **error);
