/* SPDX-License-Identifier: Apache-2.0 */
/* ports.h - how full the switches of a fabric are: their ports that lead somewhere, of those that the product has.
 *
 * The graph says which links a switch has, and the catalogue which product it is (bill.h). An uplink that nothing below
 * can fill is not used, as in the bill. Only switches with NICs are examined: the bill counts others by the ports that
 * they need together. Nothing is said of a machine for which one switch is enough, nor of a fabric with empty
 * places, whose ports are meant for others (cluster.places).
 */
#pragma once

#include "sim/cost/bill.h"

/* Switches of one name that use less than half of their ports. */
typedef struct {
  char *name;          /* "leaf" */
  guint n, n_all;      /* of the n_all switches of that name */
  guint n_least_ports; /* used by the emptiest of the n */
  guint n_most_ports;  /* used by the fullest of the n */
  guint n_ports;       /* of the product */
} FabEmptyPorts;

typedef struct {
  GArray *half_used; /* FabEmptyPorts */
  char *lone_name; /* "leaf": switches that connect one NIC to the rest of the fabric; NULL: there are none */
  guint n_lone, n_all_lone; /* of the n_all_lone switches of that name */
  guint64 n_switches;       /* of the whole fabric, as the bill counts them; 0 where nothing is half used */
  guint64 n_enough,
      n_nic_ports; /* switches of a folded Clos network that never blocks, for as many ports of NICs */
} FabPortUse;

/* Examines the graph of a plant of this scenario; where there are faults, the machine is built again without them.
 * O(vertices + links + switches x products). (transfer full) */
FabPortUse *fab_port_use_new (const FabScenario *scenario, const FabGraph *graph);
void fab_port_use_free (FabPortUse *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPortUse, fab_port_use_free)
