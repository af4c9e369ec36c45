/* SPDX-License-Identifier: Apache-2.0 */
/* collective.h - what a collective is, who can run it, and what a library decides about it.
 *
 * An algorithm turns (group, operation) into a form: the links it uses with their weights and
 * the number of steps that follow one another. A library chooses the algorithm and protocol
 * for a size, as NCCL's tuner does, and adds what software costs. The result is a plan, which
 * a network plays as one stream.
 *
 * Sizes are those of nccl-tests: the buffer of one rank for all_reduce, broadcast, reduce and all_to_all; what each
 * rank sends to the next one for send_recv; the whole result (input) for all_gather and gather (reduce_scatter and
 * scatter). Broadcast, reduce, gather and scatter have rank 0 as their root.
 */
#pragma once

#include "sim/net/net.h"
#include "sim/work/hop.h"
#include "sim/work/schedule.h"

typedef enum {
  FAB_OP_ALL_REDUCE,
  FAB_OP_ALL_GATHER,
  FAB_OP_REDUCE_SCATTER,
  FAB_OP_BROADCAST,
  FAB_OP_REDUCE,
  FAB_OP_ALL_TO_ALL,
  FAB_OP_SEND_RECV,
  FAB_OP_GATHER,
  FAB_OP_SCATTER,
  FAB_N_OPS,
} FabOp;

extern const char *const fab_op_names[FAB_N_OPS + 1]; /* "all_reduce", ...; NULL-ended */

/* busbw = algbw x this (nccl-tests doc/PERFORMANCE.md): all_reduce 2(n-1)/n; all_gather, reduce_scatter, all_to_all,
 * gather and scatter (n-1)/n; broadcast, reduce and send_recv 1. */
double fab_op_bus_factor (FabOp op, guint n_ranks);

typedef struct {
  FabFootprint *footprint; /* owned by whoever asked for the form */
  guint n_channels;        /* rings or trees that do not share a NIC, each with its part of the bytes */
  guint n_intra_steps; /* steps in sequence inside nodes, between the first byte's start and the last's end */
  guint n_inter_steps; /* and between nodes */
  FabTimePs intra_latency_ps;   /* of the longest hop inside a node */
  FabTimePs inter_latency_ps;   /* of the longest hop between nodes */
  const char *intra_technology; /* of the slowest hop inside a node, its slowest link; NULL: there are none */
  FabHopKind intra_kind, inter_kind; /* of the slowest hop inside a node, between nodes */
  FabTimePs inter_endpoint_ps;       /* of the adapters, for one step between nodes */
  double
      fill_s_per_byte; /* chunks one after another: so much later, per byte of chunk, does the last one end than the
                             rate of the footprint says; 0: every rank is busy from the first step on */
  double limit_bytes_per_s; /* of size: phases that follow one another; 0: the footprint's rate is all */
} FabCollectiveForm;

/* What the library's environment adds to an algorithm's own knowledge. */
typedef struct {
  double
      net_stretch; /* >= 1: loss of the library's network path where the links' own is not known; 0: there is
                         none, not even theirs */
} FabAlgorithmEnv;

/* Where the parts of the ranks are added up. */
typedef enum {
  FAB_REDUCES_IN_RANKS,          /* a GPU or a CPU adds what it receives to what it has */
  FAB_REDUCES_IN_NODE_SWITCH,    /* the switch between the GPUs of a node adds and copies: NVLink SHARP */
  FAB_REDUCES_IN_NETWORK_SWITCH, /* switches between nodes add and copy: InfiniBand SHARP */
} FabReductionPlace;

typedef struct {
  FabModelInfo info;
  /* A library that does not estimate times (plain, mpi) takes the supported algorithm with the smallest number, and so
   * does one that estimates the same time for two. No two algorithms have the same number. */
  guint preference;
  FabReductionPlace reduces_in;
  /* Why the busiest link carries another number of bytes per byte of size than fab_op_bus_factor () counts: a clause
   * for a person. NULL: nothing that is special to this algorithm. */
  const char *wire_reason;
  gboolean explains_more_only; /* `wire_reason` holds only where the link carries more than is counted */
  gboolean (*supports) (const FabGroup *group, FabOp op);
  /* The group has at least 2 ranks and is supported. FALSE when some hop has no path. */
  gboolean (*form) (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
                    GError **error);
  /* The same as messages, each buffer in `n_chunks` that follow one another (where the algorithm is a pipeline; else
   * it is ignored). With the plain library's latencies it takes the time of the form's stream. */
  gboolean (*schedule) (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
                        FabSchedule *schedule, GError **error);
  /* The form of `op` from that of another operation of the same group, as `form` would give it; FALSE: it does not
   * follow. NULL: it never does. */
  gboolean (*derive) (const FabGroup *group, FabOp op, FabOp known_op, const FabCollectiveForm *known,
                      FabCollectiveForm *form);
} FabAlgorithmOps;

/* Latency of the wires over all steps of a form, saturating. */
FabTimePs fab_form_latency_ps (const FabCollectiveForm *form);

/* The algorithms of a NULL-ended array in any order, by `preference`. (transfer container: free with g_free) */
const FabAlgorithmOps **fab_algorithms_by_preference (const FabModelInfo *const *algorithms);

typedef struct _FabCollectivePlan FabCollectivePlan;

/* What a plan says to a network that plays it message by message (play.h). A library fills in what it knows; where it
 * says nothing all of the startup is steps that cost the same, and chunks are small. */
typedef struct {
  FabSchedule *(*make) (gconstpointer owner, const FabCollectivePlan *plan); /* (transfer full) */
  gconstpointer owner; /* NULL: the plan is a stream and nothing else */
  guint n_chunks;      /* of a pipeline */
  gboolean is_pipeline;
  FabTimePs steps_ps; /* of the startup what steps that follow one another cost, wires included */
  FabTimePs
      fill_ps; /* and what the first of the chunks takes to the end, which messages take by themselves */
  double intra_cost, inter_cost; /* of a step inside a node to one between nodes */
  double
      limit_bytes_per_s; /* of the plan's limit what its ends can do: messages wait by themselves; 0: none */
} FabPlanSteps;

struct _FabCollectivePlan {
  const char *algorithm, *protocol;
  guint n_channels, n_ranks;
  FabOp op;
  FabBytes bytes;
  const FabFootprint *footprint; /* NULL: one rank, nothing to do */
  FabTimePs startup_ps;          /* software and per-step latency, for a stream that then runs at full rate */
  FabTimePs latency_ps;          /* of it the wires' own: fab_form_latency_ps () */
  double wire_factor;            /* as in FabStream */
  double limit_bytes_per_s;      /* as in FabStream */
  const FabSchedule *messages;   /* the library's, each buffer whole; NULL: it does not go by messages */
  guint n_connections;           /* channels that use the same link: FabStream's share */
  FabPlanSteps steps;
};

/* Time of the plan on an idle fabric, FAB_TIME_MAX at most; the tuner's estimate and what `analytic` does. */
FabTimePs fab_plan_idle_ps (const FabCollectivePlan *plan);

/* The stream that plays it; `done` is left to the caller. */
FabStream fab_plan_stream (const FabCollectivePlan *plan);

/* Bytes over the busiest link in one direction per byte of size, protocol flags included. */
double fab_plan_wire_per_byte (const FabCollectivePlan *plan);

typedef struct _FabLibrary FabLibrary;

typedef struct {
  FabModelInfo info;
  /* `algorithms`: NULL-ended array of FabAlgorithmOps' infos, in any order. */
  FabLibrary *(*create) (const FabModelInfo *const *algorithms, gconstpointer params);
  gboolean (*plan) (FabLibrary *library, const FabGroup *group, FabOp op, FabBytes bytes,
                    FabCollectivePlan *plan, GError **error);
  void (*destroy) (FabLibrary *library);
  /* Whether a user of the library it stands for can ask for this algorithm by name, for any operation that it
   * supports. NULL: for every one. */
  gboolean (*can_be_chosen) (const FabModelInfo *algorithm);
} FabLibraryOps;

/* Base struct: first member of every library. Owns the forms that its plans point into. */
struct _FabLibrary {
  const FabLibraryOps *ops;
  const FabAlgorithmOps **algorithms; /* NULL-ended, in the order of their `preference` */
  GArray *forms;                      /* of (group, op, algorithm), made once */
  /* Read atomically: once it is not 0, no further form is made and planning fails with FAB_ERROR_CANCELLED. NULL:
   * nobody cancels. */
  const gint *cancel;
};

void fab_library_init (FabLibrary *self, const FabLibraryOps *ops, const FabModelInfo *const *algorithms);
void fab_library_clear (FabLibrary *self);

/* One rank: an empty plan. */
gboolean fab_library_plan (FabLibrary *self, const FabGroup *group, FabOp op, FabBytes bytes,
                           FabCollectivePlan *plan, GError **error);
void fab_library_destroy (FabLibrary *self); /* accepts NULL */

/* The form of an algorithm for a group, made on first use; NULL and *error when it has no path. */
const FabCollectiveForm *fab_library_form (FabLibrary *self, const FabAlgorithmOps *algorithm,
                                           const FabGroup *group, FabOp op, const FabAlgorithmEnv *env,
                                           GError **error);

/* The footprint of a group that does `op` by the algorithm of a plan of this library. (transfer full); NULL and
 * *error when a hop of it has no path. Not of an empty plan. */
FabFootprint *fab_library_footprint (const FabLibrary *self, const FabCollectivePlan *plan, FabOp op,
                                     const FabGroup *group, GError **error);

/* What the library's network path loses, for the algorithm of that plan: FabAlgorithmEnv. */
double fab_library_net_stretch (const FabLibrary *self, const FabCollectivePlan *plan);

/* Adds to a schedule the messages of a group that does `op` by the algorithm of a plan of this library. */
gboolean fab_library_add_messages (const FabLibrary *self, const FabCollectivePlan *plan, FabOp op,
                                   const FabGroup *group, guint n_chunks, FabSchedule *schedule,
                                   GError **error);

/* The messages of a plan that this library made, in `n_chunks` where they form a pipeline and the library does not go
 * by messages. Not of an empty plan. */
FabSchedule *fab_library_schedule (const FabLibrary *self, const FabCollectivePlan *plan, guint n_chunks);
