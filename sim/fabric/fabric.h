/* SPDX-License-Identifier: Apache-2.0 */
/* fabric.h - the interface of fabrics, which connect the NICs of all nodes. The fabrics are in models/fabric.
 *
 * A fabric has places. They are numbered so that neighbours are near: leaf by leaf, pod by pod, group by group, or
 * axis by axis. A place holds one node with all its NICs or stays empty. The scenario decides which node has which
 * place (cluster.placement).
 */
#pragma once

#include "sim/base/param.h"
#include "sim/fabric/graph.h"

/* Where a NIC is in its node. A NIC of several ports is here as so many NICs, one after the other, each on a rail of
 * its own: a fabric joins ports. A node may consist of several boards (the trays of a rack); the NICs that stand at the
 * same place of their boards are on one rail. */
typedef struct {
  guint rail, board;
} FabNicSeat;

typedef struct {
  FabGraphBuilder *builder;
  guint n_places, nics_per_node;
  guint n_rails, n_boards; /* of a node, at least 1 each */
  const FabNicSeat *seats; /* [nics_per_node] */
  const FabVertexId *nics; /* [n_places * nics_per_node], FAB_NO_VERTEX for an empty place */
  FabLinkForm port;        /* one link of the kind that the NICs have, count 1 */
  /* returns the form of a link entry that exists, count 1 */
  FabLinkForm (*find_link) (gconstpointer links, const char *name);
  gconstpointer links; /* passed to find_link */
} FabFabricEnv;

typedef struct {
  FabModelInfo info;
  /* Adds switches and connects every NIC to them. It is called only when there are NICs. */
  gboolean (*build) (const FabFabricEnv *env, gconstpointer params, GError **error);
  /* Whether there may be several shortest paths between two NICs, so that a route has a choice. NULL: never. */
  gboolean (*has_choice) (gconstpointer params);
} FabFabricOps;

/* For `has_choice` of fabrics that have one whatever their parameters. */
gboolean fab_fabric_always_has_choice (gconstpointer params);

/* Returns the form of link entry `name` (NULL: of the ports' kind) with a cable that is `cable_mm` longer than the
 * length which the entry's latency already includes. */
FabLinkForm fab_fabric_link (const FabFabricEnv *env, const char *name, gint64 cable_mm);

/* Adds a switch called `name`, the `member`-th of that name; has_number FALSE leaves the number out of its name. */
FabVertexId fab_fabric_add_switch (const FabFabricEnv *env, const char *name, gboolean has_number,
                                   guint member);

/* Connects NIC `nic` of a place to a vertex; does nothing for an empty place. */
void fab_fabric_attach (const FabFabricEnv *env, guint place, guint nic, FabVertexId vertex,
                        const FabLinkForm *form);
