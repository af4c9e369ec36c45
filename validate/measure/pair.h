/* SPDX-License-Identifier: Apache-2.0 */
/* pair.h - two ends that measure together, as the backends tcp, verbs, ofi and mpi do.
 *
 * The asking end decides what to measure (kind, size, number of messages) and tells the other end over a control
 * channel. Both then move the messages, and the asking end times them. The control channel is a TCP connection of its
 * own or, for mpi, messages. Every wait has a time limit, and the death of a peer is reported as an error; except
 * with MPI, which ends all ranks itself.
 */
#pragma once

#include "validate/measure/host.h"

/* The largest message that a serving end takes, 16 GiB: backends make buffers of a few times this size, and no product
 * of it leaves 64 bits. */
#define FAB_PAIR_MAX_BYTES ((FabBytes) 1 << 34)

/* A channel for ordered bytes between the two ends, apart from what is measured. */
typedef struct _FabControl FabControl;

struct _FabControl {
  gboolean (*send) (FabControl *self, gconstpointer data, gsize size, GError **error);
  /* receives exactly `size` bytes, or fails */
  gboolean (*receive) (FabControl *self, gpointer data, gsize size, GError **error);
  void (*close) (FabControl *self); /* frees the channel too */
  char *here, *there;               /* names of the two ends for series: addresses */
  guint timeout_s;                  /* limit of each send and receive, where there is one */
  gint64 end_us;                    /* when all must be over, as of g_get_monotonic_time; 0: no limit */
  FabMeasureHost *canceller;        /* says when the person wants to end; NULL: never */
  gboolean is_known;                /* the end that asks has said who it is, and proved that it may */
};

/* Fails with G_IO_ERROR_CANCELLED when the person wants to end, and with FAB_ERROR_IO when the conversation has reached
 * `end_us`. Whatever waits without the control channel calls it several times a second. */
gboolean fab_control_check (const FabControl *self, GError **error);

/* Connects by TCP (IPv4, IPv6 or a host name). `peer` is HOST[:PORT]. Here and below, `canceller` (may be NULL) ends
 * the wait with G_IO_ERROR_CANCELLED when the person wants to end. (transfer full) */
FabControl *fab_control_connect (const char *peer, guint timeout_s, FabMeasureHost *canceller,
                                 GError **error);

/* Listens at [HOST]:PORT; without HOST at the loopback address, which only this machine reaches. */
typedef struct _FabListener FabListener;
FabListener *fab_listener_new (const char *listen, guint timeout_s, FabMeasureHost *canceller,
                               GError **error);
guint fab_listener_port (const FabListener *self);        /* useful when the port was ":0" */
gboolean fab_listener_is_local (const FabListener *self); /* only this machine reaches it */

/* Waits for the next asking end; `timeout_s` 0: without limit. Of several connections, the first that has introduced
 * itself is next: silent ones hold nobody up, and one that says nothing for 5 s is an error. (transfer full) */
FabControl *fab_listener_accept (FabListener *self, guint timeout_s, FabMeasureHost *canceller,
                                 GError **error);
void fab_listener_free (FabListener *self);

/* One end of a connection that moves messages. */
typedef struct _FabPair FabPair;

typedef struct {
  /* Opens an end, and is called on both with the control channel between them: it exchanges addresses and allocates
   * buffers of max_bytes. The control channel must live as long as the pair. When one end fails, the other's `receive`
   * fails with its message. The window of `plan` is that of the asking end, its time limit that of this end or, if
   * that is shorter, of the asking end. What waits without `control` calls fab_control_check. */
  FabPair *(*open) (FabControl *control, gconstpointer params, const FabMeasurePlan *plan, FabBytes max_bytes,
                    gboolean is_asking, GError **error);
  /* Moves messages. LATENCY: n round trips; BANDWIDTH: n messages from the asking end, then one word back;
 * EXCHANGE: n times both at once; BIDIRECTIONAL: n each way. Returns at each end when its part is done. `elapsed_ps`
 * is set at the asking end, for all n together; the caller computes the time of one message. */
  gboolean (*move) (FabPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages,
                    FabTimePs *elapsed_ps, GError **error);
  /* Fills the members that only the backend knows: method, memory, MTU, queue pairs, window, ends. The series owns
 * the texts. */
  void (*describe) (const FabPair *pair, FabSeries *series);
  void (*close) (FabPair *pair);
  gboolean can[FAB_N_MEASURE_KINDS];
  const char *name; /* of the backend; both ends must use the same */
} FabPairOps;

struct _FabPair {
  const FabPairOps *ops;
};

/* Runs the asking end: opens the pair, measures every kind of the plan and tells the other end to stop. From the time
 * of the bandwidth kinds it subtracts one round trip of an 8-byte message, which the first message and the word back
 * take. Does not close `control`. */
gboolean fab_pair_measure (FabMeasureHost *host, const char *backend, const FabPairOps *ops,
                           FabControl *control, gconstpointer params, GError **error);

/* Runs the other end: follows the asking end until that stops. */
gboolean fab_pair_serve (FabMeasureHost *host, const FabPairOps *ops, FabControl *control,
                         gconstpointer params, GError **error);

/* Does all that a backend with a TCP control channel needs: connects to plan->peer, repeatedly until the time
 * limit so that either end may start first, and measures. */
gboolean fab_pair_measure_peer (FabMeasureHost *host, const FabPairOps *ops, gconstpointer params,
                                GError **error);

/* Waits at plan->listen and serves one asking end after the other until interrupted; only one with plan->once. A
 * failure with one of them becomes a note, unless it is the only one. Who does not introduce itself does not count as
 * one. */
gboolean fab_pair_serve_peers (FabMeasureHost *host, const FabPairOps *ops, gconstpointer params,
                               GError **error);
