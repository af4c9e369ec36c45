/* SPDX-License-Identifier: Apache-2.0 */
/* predict.h - what one collective takes on a cluster, size by size, as nccl-tests would print it.
 *
 * A small scenario is made of the request and checked like any other; its collectives then run one
 * after another on one plant, through the scenario's network. All ranks arrive together and nothing
 * else moves. `fabricast collective` prints the rows, `fabricast validate` holds them against measurements.
 */
#pragma once

#include "sim/run/band.h"

/* How the time is found: the plan played on the scenario's network, as in a run; its formula for an idle fabric;
 * or the algorithm's messages played one by one, in up to 64 chunks of a MiB or more. Messages know wires, not
 * software: the plan's startup beyond the wires' latency is added once, and a protocol's ceiling does not hold them
 * back. */
typedef enum { FAB_FORM_STREAM, FAB_FORM_CLOSED, FAB_FORM_STEP } FabForm;

extern const char *const fab_form_names[]; /* "stream", "closed", "step"; NULL-ended */

/* FALSE: there is no form of this name. */
gboolean fab_form_find (const char *name, FabForm *form);

typedef struct {
  const FabScenario *base; /* a scenario, whose job alone is replaced; NULL: made of the next three */
  const char *node;        /* node entry of the catalogue */
  gint64 nodes;
  gint64 gpus_per_node; /* 0: all that the node has */
  FabOp op;
  const FabBytes
      *sizes_bytes;      /* as nccl-tests counts them (sim/collective/collective.h); at least 1 byte each */
  guint n_sizes;         /* at least 1 */
  const FabEdits *edits; /* over the scenario, not over its job; or NULL */
  FabForm form;
  gboolean has_band; /* say how far each time may be off */
} FabPredictionRequest;

/* What sets the time: most of it is startup; or bytes flow no faster than the protocol's own ceiling;
 * or than the binding link. */
typedef enum { FAB_BOUND_STARTUP, FAB_BOUND_PROTOCOL, FAB_BOUND_MESSAGES, FAB_BOUND_LINK } FabBound;

extern const char *const fab_bound_names[]; /* "startup", "protocol", "messages", "link"; NULL-ended */

/* Rates are GB/s of 1e9 bytes, as nccl-tests prints them. One rank has nothing to do: time, rates, channels
 * are 0 and there is no binding link. */
typedef struct {
  FabBytes size_bytes;
  double time_us;                   /* last rank's arrival to the last byte's */
  double startup_us;                /* the part of it before bytes flow */
  double algbw_GBps;                /* size / time */
  double busbw_GBps;                /* algbw x the factor of nccl-tests */
  double wire_GBps;                 /* over the binding link, one direction, flags of the protocol included */
  double flags_factor;              /* what those flags make of the payload on the wire; see FabStream */
  const char *algorithm, *protocol; /* static texts */
  guint n_channels;
  guint n_ranks;
  FabCollectivePlanBest
      best; /* what the library could have been told to take and is faster, on an idle network */
  /* Band of the time (sim/run/band.h): by the uncertainty of links where they say so, else as far as measured
   * collectives of the kind were from their predictions. 0, 0: there is none. */
  double low_us, high_us, coverage_fraction;
  double busbw_low_GBps, busbw_high_GBps; /* at the high and at the low end of the time */
  guint n_tables, n_families;             /* measured, that the band rests on; 0: it is that of links */
  FabUntuned untuned;                     /* published networks that the band does not hold */
  /* where most of it comes from: "messages of lab-eth (1.5 %)", "9 published measurements of efa-100"; NULL: no
   * band */
  char *most;
  guint n_sizes, n_outside; /* of messages over links whose measured sizes are known; of them not measured */
  FabPlanKind kind;         /* which measured collectives it is like */
  FabBound bound;
  char *
      binding; /* entry and ends of the link that is slowest: "nvlink3 node0/gpu0 -> node0/nvswitch"; NULL: none */
} FabPrediction;

/* One FabPrediction per size, in their order; the array frees what its rows own. NULL and *error with every
 * mistake of the request. */
GArray *fab_predict_collective (const FabPredictionRequest *request, const FabCatalog *catalog,
                                const FabRegistry *registry, GError **error);

/* What the bands of rows by measured collectives rest on, each once: "8 published measurements of efa-100, 40
 * published measurements of 11 kinds". (transfer full) */
char *fab_predictions_basis (const GArray *rows);
