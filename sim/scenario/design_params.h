/* SPDX-License-Identifier: Apache-2.0 */
/* design_params.h - the keys of `designs`: machines as they are sold, in scalable units of equal nodes.
 *
 * A design says the node, how many of them are a unit, and the fabric for a number of units. Beside that it holds what
 * its document publishes: counts of switches and cables, which `fabricast validate bills` holds against the graph of
 * the design, and parts beside the compute network, which a bill lists.
 */
#pragma once

#include "sim/config/schema.h"

/* The fabric of up to so many units. */
typedef struct {
  gint64 units;
  FabModelChoice fabric; /* FAB_MODEL_FABRIC; no info: the usual one of the node */
  const char *assumed;   /* sentences: what the document leaves open of this size; NULL: nothing */
} FabDesignSize;

/* A row of a published table of counts of the compute network. 0 means that the table does not say it; a table that
 * counts spines and no cores says that there are none. */
typedef struct {
  gint64 units, nodes, accelerators;
  gint64 leaves, spines, cores;
  gint64 switches;                               /* of all tiers together */
  gint64 node_cables, leaf_cables, spine_cables; /* from node to leaf, leaf to spine, spine to core */
  gint64 switch_optics, node_optics;             /* transceivers */
  gint64 manager_cables; /* to servers that manage the fabric, which node_cables of this table includes */
  gboolean is_unchecked; /* nobody who wrote it here could read the document */
  const char *table;     /* of which document: "RA-11333-001 V11, table 4" */
} FabDesignCounts;

/* A part that the document lists beside the compute network, for one number of units. */
typedef struct {
  gint64 units;
  const char *network; /* "storage", "in-band", "out-of-band", "site" */
  int kind;            /* FabDesignPartKind */
  const char *what;    /* "QM9700", "200 Gb/s QSFP56 AOC" */
  gint64 count;
  const char *product; /* entry of `products` that has its price; NULL: there is none */
} FabDesignPart;

typedef enum {
  FAB_DESIGN_SWITCH,
  FAB_DESIGN_CABLE,
  FAB_DESIGN_OPTIC,
  FAB_DESIGN_SERVER,
  FAB_DESIGN_RACK,
  FAB_DESIGN_POWER_STRIP,
} FabDesignPartKind;

extern const char *const fab_design_part_names[]; /* "switch", "cable", ...; NULL-ended */

typedef struct {
  const char *name, *summary;
  const char *node;            /* node entry */
  const char *nic;             /* link entry of the NIC ports; NULL: the node's own */
  gint64 nic_ports;            /* of one NIC */
  gint64 unit_nodes;           /* of one scalable unit */
  FabModelChoice route;        /* FAB_MODEL_ROUTE; no info: the usual one */
  FabParamList sizes;          /* FabDesignSize, from few units to many */
  FabParamList counts;         /* FabDesignCounts */
  FabParamList parts;          /* FabDesignPart */
  gint64 links_per_optic;      /* of a switch, into one transceiver; 1: each link has its own */
  gint64 links_per_node_optic; /* likewise of a node */
  gint64 rack_watts;           /* of a full rack of nodes; 0: the document does not say */
  const char *transport;       /* routing and congestion control, in words */
  const char *assumed;         /* sentences: what the document leaves open of every size; NULL: nothing */
  const char *source, *date;
} FabDesignSpec;

extern const FabParam fab_design_params[]; /* describes FabDesignSpec */

/* The fabric of `units`; NULL: the design does not go so far. */
const FabDesignSize *fab_design_size (const FabDesignSpec *self, gint64 units);

/* The most units that it goes to. */
gint64 fab_design_most_units (const FabDesignSpec *self);

/* Reports what no table can express. */
void fab_design_check (FabSchemaReader *reader, const FabDesignSpec *self);
