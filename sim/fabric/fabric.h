/* SPDX-License-Identifier: Apache-2.0 */
/* fabric.h - how the NICs of all nodes are joined: the interface; the fabrics are in models/fabric.
 *
 * A fabric has places, numbered so that neighbours are near: leaf by leaf, pod by pod, group by group, axis by axis.
 * A place takes a node with all its NICs or stays empty; which node stands where is the scenario's
 * (cluster.placement).
 */
#pragma once

#include "sim/base/param.h"
#include "sim/fabric/graph.h"

typedef struct {
  FabGraphBuilder *builder;
  guint n_places, nics_per_node;
  const FabVertexId *nics; /* [n_places * nics_per_node], FAB_NO_VERTEX where a place is empty */
  FabLinkForm port;        /* one link of the kind that the NICs have, count 1 */
  FabLinkForm (*find_link) (gconstpointer links, const char *name); /* of a link entry that exists, count 1 */
  gconstpointer links;                                              /* for find_link */
} FabFabricEnv;

typedef struct {
  FabModelInfo info;
  /* Adds switches and joins every NIC to them. Called only when there are NICs. */
  gboolean (*build) (const FabFabricEnv *env, gconstpointer params, GError **error);
} FabFabricOps;

/* The latency of light in glass: 5 ns per metre. */
FabTimePs fab_cable_ps (gint64 length_mm);

/* A link of entry `name` (NULL: of the ports' kind) whose cable is `cable_mm` longer than what the entry's latency
 * has in it. */
FabLinkForm fab_fabric_link (const FabFabricEnv *env, const char *name, gint64 cable_mm);

/* Vertex `member` of the switches called `name`; has_number FALSE leaves the number out. */
FabVertexId fab_fabric_add_switch (const FabFabricEnv *env, const char *name, gboolean has_number,
                                   guint member);

/* Joins NIC `nic` of a place to a vertex; nothing where the place is empty. */
void fab_fabric_attach (const FabFabricEnv *env, guint place, guint nic, FabVertexId vertex,
                        const FabLinkForm *form);
