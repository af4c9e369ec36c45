/* SPDX-License-Identifier: Apache-2.0 */
/* cabling.h - the cables of a machine, and which of them are unlike their peers.
 *
 * The cables come from the graph of a scenario, or from a text in which a tool lists a network. What is usual is what
 * more than half of the peers have; docs/how-to/find-the-cable.md has the rules in words.
 */
#pragma once

#include "formats/machine/network.h"
#include "sim/machine/cluster.h"

typedef struct {
  char *name; /* "leaf3", "MF0;A09-leaf-04:MQM9701/U1", "gpu017" */
  gboolean is_host;
  guint n_unnamed; /* of a switch: ports to adapters whose host is not known */
  guint tier; /* 0: a host; 1: a switch with hosts; 2 and more: cables to the nearest of these, and one */
} FabCablingPart;

/* Cables between the same two ports; from a graph, all that are alike between two parts. */
typedef struct {
  guint a, b;            /* parts; a host is `a` */
  char *port_a, *port_b; /* "37", "mlx5_4", "nic3"; NULL: not known */
  char *speed;           /* "4xNDR", "ib-ndr" */
  char *possible;        /* what both ends could do, where that is known to be more; NULL: it is not */
  guint count;
  guint nic; /* of a host: which of its ports, the same number for those that correspond in other hosts */
  double bytes_per_s;          /* line rate of each, one direction */
  double possible_bytes_per_s; /* 0: not known */
} FabCable;

typedef enum {
  FAB_CABLING_MISSING,     /* fewer cables between two switches than their peers have */
  FAB_CABLING_MISSING_NIC, /* hosts lack a port that the others have */
  FAB_CABLING_SLOW,        /* slower or narrower than cables of the same place */
  FAB_CABLING_CROSSED,     /* two NICs of a host have changed their switches */
  FAB_CABLING_MISPLACED,   /* a cable goes where no cable of its peers goes */
  FAB_CABLING_FEW_UPLINKS, /* a switch has fewer cables up than its peers */
  FAB_N_CABLING_KINDS,
} FabCablingKind;

extern const char *const fab_cabling_kind_names[FAB_N_CABLING_KINDS]; /* "missing", "missing_nic", ... */

typedef struct {
  FabCablingKind kind;
  char *part, *port, *peer, *peer_port; /* names; the ports and the peer may be NULL */
  guint n_has, n_usual;                 /* cables, or ports; 0 and 0: it is not about their number */
  double lost_bytes_per_s;              /* rate that is missing, or that goes to the wrong place */
  char *text;                           /* a sentence with its full stop */
} FabCablingFinding;

typedef struct {
  char *source;     /* what was looked at: a file, a scenario */
  GArray *parts;    /* FabCablingPart */
  GArray *cables;   /* FabCable */
  GPtrArray *notes; /* char: sentences about what was not compared */
  GArray *findings; /* FabCablingFinding, the worst first; empty until the check */
} FabCabling;

/* (transfer full) */
FabCabling *fab_cabling_new (const char *source);
void fab_cabling_free (FabCabling *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabCabling, fab_cabling_free)

/* Of a graph that was built: nodes with their NICs, and the switches of the fabric. (transfer full) */
FabCabling *fab_cabling_of_cluster (const FabCluster *cluster, const char *source);
/* Of an imported network, whose names it keeps. (transfer full) */
FabCabling *fab_cabling_of_network (const FabImportedNetwork *network, const char *source);

FabCablingPart *fab_cabling_part (const FabCabling *self, guint index);
FabCable *fab_cabling_cable (const FabCabling *self, guint index);

/* Add a part (takes the name) and a cable (takes its texts). */
guint fab_cabling_add_part (FabCabling *self, char *name, gboolean is_host);
void fab_cabling_add_cable (FabCabling *self, FabCable cable);

/* Fills in the tiers and the findings. */
void fab_cabling_check (FabCabling *self);

/* Numbers of switches by tier, from tier 1 on: n[0] is of tier 1. (transfer full) (element-type guint) */
GArray *fab_cabling_tiers (const FabCabling *self);
/* "leaf", "spine", "core" of a tier, or "switch of tier 4" (transfer full) */
char *fab_cabling_tier_name (guint tier, guint n);
