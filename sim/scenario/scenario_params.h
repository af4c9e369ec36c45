/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_params.h - the keys of a scenario and the struct that they fill. */
#pragma once

#include "sim/base/param.h"
#include "sim/fabric/port_mode.h"
#include "sim/scenario/cost_params.h"
#include "sim/scenario/entries.h"
#include "sim/scenario/mix_params.h"

typedef struct {
  const char *node; /* node entry; NULL only in a scenario that is wrong */
  gint64 nodes;
  gint64 gpus_per_node;              /* 0: all of the node's accelerators */
  gint64 nics_per_node;              /* 0: all of the node's NICs */
  gint64 domain_nodes;               /* nodes used of each domain of nodes that share a switch; 0: all */
  const char *nic;                   /* link entry of the NIC ports; NULL: the node's own */
  FabBytesPerS nic_rate_bytes_per_s; /* of those ports; 0: the entry's line rate */
  gint64 nic_ports;                  /* of one NIC */
  int port_use;                      /* FabPortMode; of NICs with several ports */
  FabPower power_cap;                /* of one accelerator; a share of 1: none */
  const char *design;                /* design entry that filled in the other keys; NULL: none */
  gint64 scalable_units;             /* of the design; 0: without a design */
  FabModelChoice fabric;     /* FAB_MODEL_FABRIC; the node's usual one where the scenario says nothing */
  gboolean has_usual_fabric; /* the scenario says nothing of it */
  FabModelChoice route;      /* FAB_MODEL_ROUTE; as the fabric */
  gint64 places;             /* that the fabric has room for; 0: as many as nodes */
  int placement;             /* FabPlacement */
  gint64 place_stride;       /* for FAB_PLACEMENT_STRIDED */
  const char *p2p, *gdr;     /* a name of fab_reach_names; NULL: what the node can */
  gboolean has_relays;       /* as in FabCluster */
  gboolean has_gds;
} FabClusterSpec;

typedef struct {
  const char *name;
  const char *summary; /* as written, or the title of an edited scenario (title.h) */
  const char *include; /* always NULL: what the files hold has been laid under the rest */
  gint64 seed;
  gint64 iterations;
  gboolean has_contention; /* collectives take multiprocessors from kernels */
  gboolean is_folded;      /* what is alike is looked at once */
  FabClusterSpec cluster;
  FabModelChoice fidelity;    /* FAB_MODEL_NET */
  FabModelChoice collectives; /* FAB_MODEL_LIBRARY */
  FabParamList schedules;     /* FabScheduleSpec */
  FabModelChoice job;         /* FAB_MODEL_WORKLOAD */
  FabParamList faults;        /* FabFaultSpec */
  FabParamList circuits;      /* FabCircuitSpec */
  FabParamList background;    /* FabBackgroundSpec */
  FabParamList neighbours;    /* FabNeighbourSpec */
  FabMixSpec mix;
  FabCostSpec cost;
  FabReliabilitySpec reliability;
  FabCatalogSections own; /* links, accelerators, nodes, models, products of this scenario */
} FabScenarioSpec;

/* Returns how many nodes that follow one another share switches and are one domain for collectives; 1: none do. */
guint fab_cluster_spec_sharers (const FabClusterSpec *self, const FabNodeSpec *node);

extern const FabParam fab_scenario_params[]; /* of FabScenarioSpec */
