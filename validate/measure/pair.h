/* SPDX-License-Identifier: Apache-2.0 */
/* pair.h - two ends that measure together: what tcp, verbs, ofi and mpi have in common.
 *
 * The asking end decides (kind, size, how many messages) and tells the other over a control channel; both then
 * move the messages and the asking end times them. The control channel is a TCP connection of its own or, for
 * mpi, messages. Everything that waits has a time limit, and a peer that dies is an error that says so; but for
 * MPI, which ends all ranks itself.
 */
#pragma once

#include "validate/measure/host.h"

/* Ordered bytes between the two ends, beside what is measured. */
typedef struct _FabControl FabControl;

struct _FabControl {
  gboolean (*send) (FabControl *self, gconstpointer data, gsize size, GError **error);
  gboolean (*receive) (FabControl *self, gpointer data, gsize size,
                       GError **error); /* exactly size, or *error */
  void (*close) (FabControl *self);     /* frees */
  char *here, *there;                   /* names of the two ends for series: addresses */
  guint timeout_s;                      /* for each send and receive, where it has a limit */
};

/* TCP: IPv4, IPv6, names. `peer` is HOST[:PORT]. */
FabControl *fab_control_connect (const char *peer, guint timeout_s, GError **error);

typedef struct _FabListener FabListener;
FabListener *fab_listener_new (const char *listen, GError **error);
guint fab_listener_port (const FabListener *self); /* useful after ":0" */
/* The next one that asks, with a limit of some seconds until it has said what;
 * *error is G_IO_ERROR_CANCELLED when `is_cancelled` says so. */
FabControl *fab_listener_accept (FabListener *self, guint timeout_s, FabMeasureHost *host, GError **error);
void fab_listener_free (FabListener *self);

/* One end of something that moves messages. */
typedef struct _FabPair FabPair;

typedef struct {
  /* Both ends call it with the control channel between them; exchanges addresses, makes buffers of max_bytes. The
   * control lives as long as the pair. When one end fails, the other's `receive` fails with its message. `plan`: the
   * window and time limit are those of the asking end. */
  FabPair *(*open) (FabControl *control, gconstpointer params, const FabMeasurePlan *plan, FabBytes max_bytes,
                    gboolean is_asking, GError **error);
  /* LATENCY: n round trips; BANDWIDTH: n messages from the asking end, then one word back; EXCHANGE: n times both at
   * once; BIDIRECTIONAL: n each way. Both ends return when their part is done. `elapsed_ps`: of the asking end, all
   * n together; what one message took is the driver's arithmetic. */
  gboolean (*move) (FabPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages,
                    FabTimePs *elapsed_ps, GError **error);
  /* Completes what is particular: method, memory, MTU, queue pairs, window, ends; texts are owned by the series. */
  void (*describe) (const FabPair *pair, FabSeries *series);
  void (*close) (FabPair *pair);
  gboolean can[FAB_N_MEASURE_KINDS];
  const char *name; /* of the backend: the other end must be the same */
} FabPairOps;

struct _FabPair {
  const FabPairOps *ops;
};

/* The asking end: opens the pair, measures every kind of the plan, tells the other end that it is over. The time of
 * the bandwidth kinds is less one round trip of a message of 8 bytes, which is what the first message's way and the
 * word back take. Does not close `control`. */
gboolean fab_pair_measure (FabMeasureHost *host, const char *backend, const FabPairOps *ops,
                           FabControl *control, gconstpointer params, GError **error);
/* The other end: does as it is told until it is over. */
gboolean fab_pair_serve (FabMeasureHost *host, const FabPairOps *ops, FabControl *control,
                         gconstpointer params, GError **error);

/* All that a backend with a TCP control channel has to do: connects to plan->peer (again and again until the time
 * limit, so that either end may be started first) and measures. */
gboolean fab_pair_measure_peer (FabMeasureHost *host, const FabPairOps *ops, gconstpointer params,
                                GError **error);
/* Waits at plan->listen and serves one asker after the other until interrupted, or only one (plan->once). What goes
 * wrong with one asker is a note, unless it is the only one. */
gboolean fab_pair_serve_peers (FabMeasureHost *host, const FabPairOps *ops, gconstpointer params,
                               GError **error);
