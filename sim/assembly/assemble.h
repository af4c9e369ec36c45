/* SPDX-License-Identifier: Apache-2.0 */
/* assemble.h - builds the graph of a checked scenario and places its ranks.
 *
 * Each node gets the parts and wires of its catalogue entry, reduced to the GPUs and NICs that the scenario asks for.
 * The fabric connects the nodes. Everything here can fail; nothing after it can.
 */
#pragma once

#include "sim/base/setup.h"
#include "sim/machine/cluster.h"
#include "sim/net/disturbances.h"
#include "sim/scenario/scenario.h"
#include "sim/shortcut/memo/form_book.h"

/* A what-if question: every link of one class gets a multiple of its rate, and its times change by a fraction (0.1:
 * ten per cent longer). */
typedef struct {
  const char *link_class;   /* NULL: no link changes */
  const char *second_class; /* changes likewise; NULL: none */
  gboolean is_every_link;   /* all links change, whatever their class */
  double rate_factor;
  /* message times were measured separately and stay; otherwise they get faster with the rate */
  gboolean keeps_messages;
  double latency_change, endpoint_change, messages_change;
  gboolean is_intact;    /* leaves out faults and background loads */
  double memory_factor;  /* on the rate of the accelerators' memory; 0: as it is */
  double compute_factor; /* on the time of all kernels of the first job; 0: as it is */
  double host_factor;    /* on the time of its work on the host; 0: as it is */
  gboolean is_even;      /* no rank of it is slower than the others */
  gboolean
      has_no_latency; /* its collectives move bytes at once: neither software nor wires take time before */
  /* of the collectives of the first job; NULL: they take what is predicted. It outlives building. */
  const FabPlanScale *plans;
  const FabComputeScale *compute; /* of the first job; NULL: as predicted. It outlives building. */
} FabWhatIf;

/* It points into the scenario that it was built of. Its graph is frozen; its router and its sites learn while a
 * job is built on it, so one thread uses it at a time. */
typedef struct {
  FabScenario *scenario; /* that it was built of; NULL: the caller keeps it */
  FabGraph *graph;
  FabRouter *router;
  FabCluster cluster;                /* points into graph and router */
  FabDisturbancesPlan *disturbances; /* disturbances during the job; NULL: none */
  FabFormBook *book;                 /* forms of the same machine with other rates; NULL: none */
  gboolean
      uses_seed;    /* another seed can place or route differently, or draws other bursts; FALSE: none does */
  GPtrArray *sites; /* FabJobSite of the jobs that were built on it: sim/scenario/neighbours.h */
} FabPlant;

/* Returns what an entry says of a device, at the clock without a power cap. Its texts belong to the entry. */
FabDevice fab_accelerator_device (const FabAcceleratorSpec *accelerator);

/* Builds the graph. Returns NULL with *error when the scenario cannot be built: for example when the graph falls
 * apart, or a fault names a missing part. what_if may be NULL. The plant owns its members; its graph may be read from
 * any thread, its router used by one at a time. (transfer full) */
FabPlant *fab_plant_new (const FabScenario *scenario, const FabWhatIf *what_if, GError **error);
void fab_plant_free (FabPlant *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPlant, fab_plant_free)
