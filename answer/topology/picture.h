/* SPDX-License-Identifier: Apache-2.0 */
/* picture.h - what there is to show of a machine: its node as a tree with links across, and the fabric of several
 * nodes as rows of what is alike. Everything is computed once; text, drawings and JSON only read it.
 */
#pragma once

#include "answer/topology/fabric.h"
#include "answer/topology/units.h"
#include "sim/assembly/assemble.h"
#include "sim/fabric/bisection.h"
#include "sim/machine/topology.h"
#include "sim/scenario/scenario.h"
#include "sim/verdict/verdict.h"

/* The switches of the fabric that share a name: "leaf", "spine". */
typedef struct {
  char *name;
  guint n;
} FabTopoTier;

/* Links in no tree that have the same form, between the same two parts. */
typedef struct {
  char *name;       /* "gpu - nvswitch: 2 x nvlink3, 50 GB/s" */
  GPtrArray *pairs; /* char *: "gpu0-nvswitch1", those between parts that are drawn */
  guint n;          /* all of them */
} FabTopoBundle;

/* What is to be shown. */
typedef struct {
  gboolean has_node;
  gboolean has_fabric; /* of several nodes with NICs */
  gboolean is_whole;   /* everything is to be shown, whether it is alike or not */
} FabTopoParts;

typedef struct {
  FabTopoParts parts;
  const FabNodeSpec *node;
  FabTopology *topology;
  FabTopoUnits *units;
  GArray *across;              /* FabTopoBundle, in the order of their first link */
  guint n_beyond_gdr;          /* GPUs of a node whose NIC is farther away than GPUDirect RDMA reaches */
  const char *kind;            /* the fabric's model: "leaf_spine" */
  FabTopoFabric *fabric;       /* NULL: one node, or it is not to be shown */
  GArray *tiers;               /* FabTopoTier of the fabric, in order of their first switch */
  FabBisection bisection;      /* of the fabric, when there are several nodes */
  FabVerdict *verdict;         /* findings about the switches of the fabric, where it is shown */
  const FabDesignSpec *design; /* of the machine; NULL: none */
  gint64 n_design_units;       /* scalable units */
  GPtrArray *notes; /* char *: lines of what the design says beside its fabric, where the fabric is shown */
} FabTopoPicture;

/* Of a scenario and what was built of it; both outlive the picture. (transfer full) */
FabTopoPicture *fab_topo_picture_new (const FabScenario *scenario, const FabPlant *plant,
                                      const FabTopoParts *parts);
void fab_topo_picture_free (FabTopoPicture *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTopoPicture, fab_topo_picture_free)

/* Returns "superpod-h100, 4 scalable units of 32 nodes: NVIDIA DGX SuperPOD of ..."; NULL: the machine has no design.
 * (transfer full) */
char *fab_topo_design_text (const FabTopoPicture *self);

/* Returns "oversubscribed 2 : 1", of the bisection. (transfer full) */
char *fab_topo_over_text (const FabTopoPicture *self);
