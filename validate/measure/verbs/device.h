/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - RDMA devices of this machine: which port is used, which GID, and how they are called. */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* The ports of this machine that are active: GPtrArray of names "mlx5_0:1" in the order of the devices, those of
 * `device` and `port` where they are given. Empty is an error, FAB_ERROR_UNSUPPORTED, that says what state the
 * others are in. (transfer full) */
GPtrArray *fab_verbs_active_ports (const char *device, gint64 port, GError **error);

/* Opens "mlx5_0:1". */
gboolean fab_verbs_port_open (FabVerbsPort *port, const char *name, GError **error);
void fab_verbs_port_clear (FabVerbsPort *port);

/* The port that answers the one that asks: the one that was chosen here, else the one of the same name, else the
 * first of its kind of network. */
gboolean fab_verbs_port_answer (FabVerbsPort *port, const FabVerbsParams *params,
                                const FabVerbsRequest *request, GError **error);

/* "InfiniBand, 4x 50 Gb/s, MTU 4096, firmware 20.31.1014". (transfer full) */
char *fab_verbs_port_words (const FabVerbsPort *port);
const char *fab_verbs_link_words (guint32 link_layer);

/* Puts LID and, where there is one to use, GID into the card. `index` -1: RoCE takes the first of RoCE v2 with an
 * IPv4 address, then another RoCE v2, then RoCE v1; InfiniBand uses LIDs. *chosen is the index, 0 for LIDs. */
gboolean fab_verbs_port_address (const FabVerbsPort *port, gint64 index, FabVerbsCard *card, gint *chosen,
                                 GError **error);
