/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.h - a checked, fully resolved scenario: units converted, defaults filled in. */
#pragma once

#include "sim/scenario/catalog.h"
#include "sim/scenario/cost_params.h"

typedef struct {
  const char *node; /* node entry */
  gint64 nodes;
  gint64 gpus_per_node;              /* 0: all of the node's accelerators */
  gint64 nics_per_node;              /* 0: all of the node's NICs */
  const char *nic;                   /* link entry of the NIC ports; NULL: the node's own */
  FabBytesPerS nic_rate_bytes_per_s; /* of those ports; 0: the entry's line rate */
  FabModelChoice fabric; /* FAB_MODEL_FABRIC; the node's usual one where the scenario says nothing */
  FabModelChoice route;  /* FAB_MODEL_ROUTE; likewise */
  gint64 places;         /* that the fabric has room for; 0: as many as nodes */
  int placement;         /* FabPlacement */
  gint64 place_stride;   /* for FAB_PLACEMENT_STRIDED */
  const char *p2p, *gdr; /* a name of fab_reach_names; NULL: what the node can */
  gboolean has_relays;   /* as in FabCluster */
  gboolean has_gds;
} FabClusterSpec;

typedef struct {
  const char *name;
  const char *summary;
  const char *include; /* always NULL: what the files hold has been laid under the rest */
  gint64 seed;
  gint64 iterations;
  gboolean has_contention; /* collectives take multiprocessors from kernels */
  gboolean is_folded;      /* what is alike is looked at once */
  FabClusterSpec cluster;
  FabModelChoice fidelity;    /* FAB_MODEL_NET */
  FabModelChoice collectives; /* FAB_MODEL_LIBRARY */
  FabModelChoice job;         /* FAB_MODEL_WORKLOAD */
  FabParamList faults;        /* FabFaultSpec */
  FabParamList background;    /* FabBackgroundSpec */
  FabParamList neighbours;    /* FabNeighbourSpec */
  FabCostSpec cost;
  FabCatalogSections own; /* links, accelerators, nodes, models, products of this scenario */
} FabScenarioSpec;

extern const FabParam fab_scenario_params[]; /* of FabScenarioSpec */

typedef struct _FabScenario FabScenario;

/* Loads, applies the "a.b=c" assignments of `sets` (NULL-ended, or NULL), checks everything that can
 * be checked without building the graph: keys, units, ranges, and that every named entry exists
 * (those that the job names too, by FabParam.refers). NULL and *error with all messages otherwise. */
FabScenario *fab_scenario_load (const char *path, const char *const *sets, const FabRegistry *registry,
                                const FabCatalog *catalog, GError **error);
FabScenario *fab_scenario_parse (const char *name, const char *data, gsize size, const char *const *sets,
                                 const FabRegistry *registry, const FabCatalog *catalog, GError **error);
void fab_scenario_free (FabScenario *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabScenario, fab_scenario_free)

const FabScenarioSpec *fab_scenario_spec (const FabScenario *self);
const FabCatalog *fab_scenario_catalog (const FabScenario *self); /* shipped entries and its own */

/* Where a field of the spec was written; NULL when it came from a fallback. */
const FabMark *fab_scenario_mark (const FabScenario *self, gconstpointer field);

/* YAML with every default filled in and every unit written out; loads to the same scenario. */
char *fab_scenario_resolved (const FabScenario *self);
