/* SPDX-License-Identifier: Apache-2.0 */
/* pair.h - two ends that measure together, as the backends tcp, verbs, ofi and mpi do.
 *
 * The asking end decides what to measure (kind, size, number of messages) and tells the other end over a control
 * channel. Both then move the messages, and the asking end times them. The control channel is a TCP connection of its
 * own or, for mpi, messages. Every wait has a time limit, and the death of a peer is reported as an error; except
 * with MPI, which ends all ranks itself.
 */
#pragma once

#include "validate/measure/control.h"
#include "validate/measure/host.h"

/* The largest message that a serving end takes, 16 GiB: backends make buffers of a few times this size, and no product
 * of it leaves 64 bits. */
#define FAB_PAIR_MAX_BYTES ((FabBytes) 1 << 34)

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
