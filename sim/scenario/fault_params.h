/* SPDX-License-Identifier: Apache-2.0 */
/* fault_params.h - what a scenario may say about broken parts and about others on the same fabric.
 *
 * Names are those that `fabricast topo` and binding links print: node3/nic2, leaf5, node0/nvswitch.
 */
#pragma once

#include "sim/scenario/schema.h"

typedef enum {
  FAB_FAULT_LINK,   /* all wires between `from` and `to`, both directions */
  FAB_FAULT_NIC,    /* degraded: its ports; dead: all its links */
  FAB_FAULT_RAIL,   /* NIC number `rail` of every machine, likewise */
  FAB_FAULT_SWITCH, /* all its links */
} FabFaultKind;

typedef struct {
  int what;              /* FabFaultKind */
  const char *from, *to; /* LINK */
  const char *name;      /* NIC, SWITCH */
  gint64 rail;           /* RAIL */
  double rate_fraction;  /* what is left of the line rate */
  gboolean is_dead;
  FabTimePs latency_ps;      /* added to one traversal */
  FabTimePs at_ps, until_ps; /* both 0: from the start and for good; until 0: for good */
} FabFaultSpec;

/* Whether it changes while the job runs. */
gboolean fab_fault_spec_is_timed (const FabFaultSpec *spec);

typedef enum {
  FAB_BACKGROUND_CONSTANT, /* others take `load` of each link all the time */
  FAB_BACKGROUND_BURSTS,   /* `peak` of it in bursts, nothing between them, `load` in the mean */
  FAB_BACKGROUND_TRANSFER, /* a flow from one place to another, that shares links with the job */
} FabBackgroundKind;

typedef struct {
  int kind;                      /* FabBackgroundKind */
  double load_fraction;          /* CONSTANT, BURSTS */
  const char *links;             /* likewise: uplinks, all, or a pattern; NULL: uplinks */
  double peak_fraction;          /* BURSTS */
  FabTimePs burst_ps;            /* BURSTS: mean length */
  const char *from, *to;         /* TRANSFER */
  FabBytes bytes;                /* TRANSFER: of one; 0: rate x every */
  FabBytesPerS rate_bytes_per_s; /* TRANSFER: that it never exceeds; 0: none */
  FabTimePs every_ps;            /* TRANSFER: from one start to the next, or when the one before has ended */
} FabBackgroundSpec;

extern const FabParam fab_fault_params[];
extern const FabParam fab_background_params[];

/* Reports what no table can say. `knows_time`: the network can change while the job runs. */
void fab_fault_check_all (FabSchemaReader *reader, const FabParamList *faults, const FabParamList *background,
                          gboolean knows_time, const char *fidelity);
