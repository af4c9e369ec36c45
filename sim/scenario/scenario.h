/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.h - a scenario: what was written of it, and its struct with units converted and defaults filled in.
 *
 * It is loaded from a file or made empty, edited by key, checked, and copied for every variant of it. What was
 * written (a tree of keys, values and where they stand) is kept apart from the struct that the tables make of it, so
 * that an edit sees what a person would: a default follows what it depends on, and keys of a job that becomes another
 * kind stay and are looked at again.
 */
#pragma once

#include "sim/base/param.h"
#include "sim/scenario/catalog.h"
#include "sim/scenario/edits.h"
#include "sim/scenario/mix_params.h"

/* The numbers of `cost` that are not known exactly, at the end where machines are cheap or where they are dear. */
typedef struct {
  double usd_per_kwh, pue_factor, years, usd_per_gpu_hour, maintenance_fraction, staff_usd_per_year,
      site_usd_per_kw_month, utilisation_fraction; /* 0: as in `cost` itself */
} FabCostEndSpec;

typedef struct {
  double usd_per_kwh;
  /* power drawn by the site over power drawn by its machines (power usage effectiveness) */
  double pue_factor;
  double years;                 /* time for which the purchase is used */
  double usd_per_gpu_hour;      /* price of rented machines, which includes everything; 0: bought */
  const char *rent;             /* product of kind RENT; NULL: none */
  double maintenance_fraction;  /* of the purchase price, for each year */
  double staff_usd_per_year;    /* of the whole machine */
  double site_usd_per_kw_month; /* of what the machines draw at most */
  double utilisation_fraction;  /* hours in which the machine works over all hours; 0: all */
  FabCostEndSpec low, high;
  double busy_fraction,
      /* Share of an accelerator's watts while a kernel computes, and while none does. */
      waiting_fraction;
  gint64 nic_cable_mm, switch_cable_mm; /* lengths of the cables */
} FabCostSpec;

typedef struct {
  const char *node; /* node entry */
  gint64 nodes;
  gint64 gpus_per_node;              /* 0: all of the node's accelerators */
  gint64 nics_per_node;              /* 0: all of the node's NICs */
  gint64 domain_nodes;               /* nodes used of each domain of nodes that share a switch; 0: all */
  const char *nic;                   /* link entry of the NIC ports; NULL: the node's own */
  FabBytesPerS nic_rate_bytes_per_s; /* of those ports; 0: the entry's line rate */
  FabPower power_cap;                /* of one accelerator; a share of 1: none */
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

typedef struct _FabScenario FabScenario;

/* --- whole ---
 *
 * `load` and `parse` lay the "a.b=c" assignments of `sets` (NULL-ended, or NULL) over the text and check all that
 * can be checked without building the graph: keys, units, ranges, and that every named entry exists (those that
 * the job names too, by FabParam.refers). NULL and *error with all messages otherwise. */
FabScenario *fab_scenario_load (const char *path, const char *const *sets, const FabRegistry *registry,
                                const FabCatalog *catalog, GError **error);
FabScenario *fab_scenario_parse (const char *name, const char *data, gsize size, const char *const *sets,
                                 const FabRegistry *registry, const FabCatalog *catalog, GError **error);

/* `registry` and `catalog` outlive it and its copies. */
void fab_scenario_free (FabScenario *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabScenario, fab_scenario_free)

/* --- by key ---
 *
 * A key is a path: "cluster.nodes", "job.compute.mfu", "faults.0.rail", "links.wire.latency", "faults.+" for a new
 * last item. An edited scenario is not checked any more. */

/* A file as it stands: what is wrong with it is told by the check, as an edit may mend it. NULL and *error when it
 * cannot be read or is no YAML. */
FabScenario *fab_scenario_open (const char *path, const FabRegistry *registry, const FabCatalog *catalog,
                                GError **error);

/* The same of a text; `name` is what messages call it. */
FabScenario *fab_scenario_open_text (const char *name, const char *data, gsize size,
                                     const FabRegistry *registry, const FabCatalog *catalog, GError **error);

/* Nothing yet; `origin` is what messages call the edits: "request". */
FabScenario *fab_scenario_new (const char *origin, const FabRegistry *registry, const FabCatalog *catalog);

/* Costs next to nothing; neither sees the other's edits. Several threads may copy one scenario at once. */
FabScenario *fab_scenario_copy (const FabScenario *self);

/* Sets a key to a typed value, which it takes; NULL: none. The key and the value are checked at once, alone: unknown
 * keys (with the nearest), types, units, ranges, choices. FALSE and *error, and nothing has changed. */
gboolean fab_scenario_set (FabScenario *self, const char *key, FabValue *value, GError **error);

/* The same for what a person wrote, "a.b=c"; FALSE only where that is no assignment. Its key and value are told by
 * the check, since a later assignment may give them their meaning. */
gboolean fab_scenario_assign (FabScenario *self, const char *assignment, GError **error);

/* Many at once; what is wrong with them is told by the check: also that one undoes another of the same group that a
 * person asked for as well. */
void fab_scenario_edit (FabScenario *self, const FabEdits *edits);

/* The edit ("a.b=c") that wrote the value of `key`, or something in it; NULL when none did. It lives until the next
 * edit. */
const char *fab_scenario_assigned (const FabScenario *self, const char *key);

/* What the scenario is after all edits, and whether it fits together. FALSE and *error with all messages; the
 * scenario can still be edited. */
gboolean fab_scenario_check (FabScenario *self, GError **error);

/* --- of a checked scenario --- */

/* The value of a key, or its default; *value is NULL for an absent text, and of the caller. FALSE and *error when
 * there is no such key. */
gboolean fab_scenario_get (const FabScenario *self, const char *key, FabValue **value, GError **error);

/* A whole number of it; `fallback` where there is no such key or no whole number. */
gint64 fab_scenario_get_whole (const FabScenario *self, const char *key, gint64 fallback);

/* The keys that were written in the struct `in` of the spec, which `table` describes, as a mapping; without those of
 * `but` (NULL-ended, or NULL). (transfer full) */
FabValue *fab_scenario_written (const FabScenario *self, const FabParam *table, gconstpointer in,
                                const char *const *but);

const FabScenarioSpec *fab_scenario_spec (const FabScenario *self);
const FabCatalog *fab_scenario_catalog (const FabScenario *self); /* shipped entries and its own */

/* Where a field of the spec was written; NULL when it came from a fallback. */
const FabMark *fab_scenario_mark (const FabScenario *self, gconstpointer field);

/* YAML for people: with every default filled in and every unit written out; loads to the same scenario. A comment at
 * its end has the SHA-256 of each file that a key names, so that equal texts mean equal scenarios. */
char *fab_scenario_resolved (const FabScenario *self);

/* The same of what was written, without defaults. Of an edited scenario that has been checked, its new summary. */
char *fab_scenario_text (const FabScenario *self);
