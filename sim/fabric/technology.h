/* SPDX-License-Identifier: Apache-2.0 */
/* technology.h - what a kind of link is: what it joins, how it keeps packets, who may use it.
 *
 * A technology is data: an entry of the catalogue (models/catalog/technologies.yaml) or of a scenario. Code asks
 * for a property of the technology and never compares its name. Two links are of the same technology when they point at
 * the same struct.
 */
#pragma once

#include "sim/base/param.h"

/* What links of a technology join in the first place. */
typedef enum {
  FAB_JOINS_DEVICES,      /* a bus: devices below switches and host bridges (PCIe) */
  FAB_JOINS_ACCELERATORS, /* accelerators with each other, over switches of their own or directly */
  FAB_JOINS_COHERENTLY, /* an accelerator with its socket, as one memory: that socket is no host bridge on the way */
  FAB_JOINS_SOCKETS,  /* processors of one machine */
  FAB_JOINS_MEMORY,   /* a socket with its memory */
  FAB_JOINS_DRIVES,   /* a drive with its host */
  FAB_JOINS_ETHERNET, /* machines, by Ethernet frames */
  FAB_JOINS_MACHINES, /* machines, by a network of another kind */
} FabJoins;

/* What keeps a link from losing packets. */
typedef enum {
  FAB_FLOW_CREDIT, /* the sender knows the room at the far end */
  FAB_FLOW_PFC,    /* the far end pauses the sender (IEEE 802.1Qbb) */
  FAB_FLOW_DROP,   /* nothing: queues are finite, what does not fit is lost and sent again */
} FabFlowControl;

typedef struct {
  const char *name; /* what `technology` of a link says; owned by the catalogue */
  const char *summary;
  int joins;          /* FabJoins */
  int flow_control;   /* FabFlowControl */
  gboolean has_p2p;   /* devices may read and write each other's memory over it */
  gboolean can_relay; /* an accelerator may hand bytes to another over it, for that one's NIC */
  const char
      *matrix_label; /* in `topo --matrix`, followed by the number of links; NULL: the name in capitals */
  gboolean sums_directions; /* its datasheets print both directions as one number */
  gboolean is_for_any_node; /* NIC ports of it can be bought for any machine */
  FabModelChoice route;     /* FAB_MODEL_ROUTE: the usual routing between switches of it; no info: shortest */
  double
      host_stretch; /* >= 1: line time of what kernels send through a socket that such a link joins to another */
  const char *source, *date;
} FabTechnology;

/* Of a link that names none: a network without peculiarities. Only links outside nodes may
 * (sim/scenario/catalog.c). */
extern const FabTechnology fab_technology_unnamed;
