/* SPDX-License-Identifier: Apache-2.0 */
/* fault_params.h - the keys for broken parts, for traffic of other tenants on the same fabric, and for circuits.
 *
 * Names are those that `fabricast topo` and binding links print: node3/nic2, leaf5, node0/nvswitch.
 */
#pragma once

#include "sim/config/schema.h"

typedef enum {
  FAB_FAULT_LINK,   /* all wires between `from` and `to`, both directions */
  FAB_FAULT_NIC,    /* degraded: its ports; dead: all its links */
  FAB_FAULT_RAIL,   /* NIC number `rail` of every machine, as for a NIC */
  FAB_FAULT_SWITCH, /* all its links */
  FAB_FAULT_PORT, /* port number `port` of one NIC, or of all of them, which is a plane where planes are apart */
} FabFaultKind;

typedef struct {
  int what;              /* FabFaultKind */
  const char *from, *to; /* LINK */
  const char *name;      /* NIC, SWITCH; PORT: of the NIC, NULL for all */
  gint64 rail;           /* RAIL */
  gint64 port;           /* PORT */
  double rate_fraction;  /* share of the line rate that is left */
  gboolean is_dead;
  FabTimePs latency_ps;      /* added to one traversal */
  FabTimePs at_ps, until_ps; /* both 0: from the start and for good; until 0: for good */
} FabFaultSpec;

/* Whether the fault begins or ends while the job runs. */
gboolean fab_fault_spec_is_timed (const FabFaultSpec *spec);

typedef enum {
  FAB_BACKGROUND_CONSTANT, /* other traffic takes `load` of each link all the time */
  /* other traffic takes `peak` of a link in bursts and nothing between them, `load` on average */
  FAB_BACKGROUND_BURSTS,
  FAB_BACKGROUND_TRANSFER, /* a flow between two vertices that shares links with the job */
} FabBackgroundKind;

typedef struct {
  int kind;             /* FabBackgroundKind */
  double load_fraction; /* of CONSTANT and BURSTS */
  /* CONSTANT, BURSTS: "uplinks", "all", or a pattern; NULL: uplinks. */
  const char *links;
  double peak_fraction;          /* BURSTS */
  FabTimePs burst_ps;            /* BURSTS: mean duration */
  const char *from, *to;         /* TRANSFER */
  FabBytes bytes;                /* TRANSFER: size of one; 0: rate x every */
  FabBytesPerS rate_bytes_per_s; /* TRANSFER: its largest rate; 0: no limit */
  /* TRANSFER: time from one start to the next; the next also waits until the one before has ended. */
  FabTimePs every_ps;
} FabBackgroundSpec;

/* Links through an optical circuit switch, and a time for which it joins their ends. */
typedef struct {
  const char *links;         /* a pattern; both directions */
  FabTimePs at_ps, until_ps; /* at 0: set before the run begins; until 0: for good */
  FabTimePs switching_ps;    /* from `at` on, in which nothing passes; not where `at` is 0 */
} FabCircuitSpec;

extern const FabParam fab_fault_params[];
extern const FabParam fab_circuit_params[];
extern const FabParam fab_background_params[];

/* Reports what no table can express. `knows_time`: the network can change while the job runs. */
void fab_fault_check_all (FabSchemaReader *reader, const FabParamList *faults, const FabParamList *background,
                          gboolean knows_time, const char *fidelity);

/* The same of circuits. */
void fab_circuit_check_all (FabSchemaReader *reader, const FabParamList *circuits, gboolean knows_time,
                            const char *fidelity);
