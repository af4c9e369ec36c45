/* SPDX-License-Identifier: Apache-2.0 */
/* collective.h - collective operations, the algorithms that can run them, and the plans that libraries make.
 *
 * An algorithm turns a group of ranks and an operation into a form: the links that it uses, the share of the bytes
 * that each link carries, and the number of steps that follow one another. A form does not depend on the number of
 * bytes. A library (a model of NCCL, of MPI) chooses the algorithm and the protocol for a number of bytes, and adds the
 * time that software takes. The result is a plan. A network plays a plan as one stream, or message by message.
 *
 * "Size" and "bytes of size" are bytes as nccl-tests counts them:
 *   all_reduce, broadcast, reduce, all_to_all   the buffer of one rank
 *   all_gather, gather                          the whole result
 *   reduce_scatter, scatter                     the whole input
 *   send_recv                                   what each rank sends to the next rank
 * Rank 0 is the root of broadcast, reduce, gather and scatter.
 */
#pragma once

#include "sim/collective/play/schedule.h"
#include "sim/machine/hop.h"
#include "sim/net/net.h"

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

/* FALSE: there is no operation of this name, and *op stays as it is. */
gboolean fab_op_find (const char *name, FabOp *op);

/* The factor between the two rates that nccl-tests prints: busbw = algbw x factor, with algbw = size / time
 * (nccl-tests, doc/PERFORMANCE.md). With n ranks: all_reduce 2(n-1)/n; all_gather, reduce_scatter, all_to_all, gather
 * and scatter (n-1)/n; broadcast, reduce and send_recv 1. */
double fab_op_bus_factor (FabOp op, guint n_ranks);

/* What an algorithm makes of one operation of one group, for any number of bytes. */
typedef struct {
  /* The links and, for each, the bytes that it carries per byte of size. Whoever asked for the form owns it. */
  FabFootprint *footprint;
  /* Rings or trees that work at once, each with its share of the bytes and NICs of its own. */
  guint n_channels;

  /* The longest sequence of steps that wait for one another: from the start of the first byte to the end of the
 * last. A step is one transfer from a rank to another. */
  guint n_intra_steps;         /* steps between ranks of one node */
  guint n_inter_steps;         /* steps between ranks of different nodes */
  FabTimePs intra_latency_ps;  /* latency of the wires of the longest hop inside a node */
  FabTimePs inter_latency_ps;  /* latency of the wires of the longest hop between nodes */
  FabTimePs inter_endpoint_ps; /* what the network adapters add to one step between nodes */
  FabHopKind intra_kind;       /* of the slowest hop inside a node */
  FabHopKind inter_kind;       /* of the slowest hop between nodes */
  /* Of the slowest link of the slowest hop inside a node; NULL: there is no such hop. */
  const FabTechnology *intra_technology;

  /* Pipeline fill, in seconds per byte of one chunk. A pipeline cuts the bytes into chunks. The last chunk ends later
   * than size / rate by this much for each of its bytes, because it still has to pass all hops. 0: it is no pipeline,
   * every rank is busy from the first step on. */
  double fill_s_per_byte;
  /* Highest rate in bytes of size per second where phases follow one another, so that links of one phase idle in the
   * next. 0: the footprint's rate is the only limit. */
  double phases_bytes_per_s;
} FabCollectiveForm;

typedef struct _FabFormRecipe FabFormRecipe;
typedef struct _FabFormMemo FabFormMemo;

/* What a library tells the algorithm. */
typedef struct {
  /* Loss on the library's way through a NIC whose catalogue entry does not say how much collectives lose: line
 * time per byte, as a multiple (>= 1) of the link's own. 0: NICs lose nothing, whatever their entries say. */
  double net_stretch;
  gconstpointer owner;   /* of an algorithm that is not in the registry; NULL: none */
  FabFormRecipe *recipe; /* records what a form is made of (plan/form_recipe.h); NULL: nobody asks */
} FabAlgorithmEnv;

/* Who adds up the buffers of the ranks. */
typedef enum {
  FAB_REDUCES_IN_RANKS,          /* a GPU or a CPU adds what it receives to what it has */
  FAB_REDUCES_IN_NODE_SWITCH,    /* the switch between the GPUs of a node adds and copies: NVLink SHARP */
  FAB_REDUCES_IN_NETWORK_SWITCH, /* switches between nodes add and copy: InfiniBand SHARP */
} FabReductionPlace;

typedef struct {
  FabModelInfo info;
  /* A library that does not estimate times (plain, mpi) takes the supported algorithm with the smallest number,
 * and so does one that estimates the same time for two. No two algorithms have the same number. */
  guint preference;
  /* Whether it is made for the fabric in which this group stands. A library that knows the machine and nothing else
   * (plain) takes it before any other that is supported; others take it only when asked for. NULL: never. */
  gboolean (*follows_fabric) (const FabGroup *group, FabOp op);
  FabReductionPlace reduces_in;
  /* Why the busiest link carries another number of bytes per byte of size than fab_op_bus_factor () counts: a clause
   * for a person. NULL: nothing that is special to this algorithm. */
  const char *wire_reason;
  gboolean explains_more_only; /* `wire_reason` holds only where the link carries more than is counted */
  gboolean (*supports) (const FabGroup *group, FabOp op);
  /* Makes the form. The caller has asked `supports`; the group has at least 2 ranks. FALSE and *error when two ranks
   * that have to talk to each other have no path. */
  gboolean (*form) (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
                    GError **error);
  /* Adds the same operation to a schedule, as messages from rank to rank. A pipeline cuts each buffer into `n_chunks`
   * that follow one another; other algorithms ignore the number. With the latencies of the plain library the messages
   * take as long as the stream over the form's footprint. */
  gboolean (*schedule) (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
                        FabSchedule *schedule, GError **error);
  /* Makes the form of `op` from that of another operation of the same group, which is faster than `form` and gives
 * the same. FALSE: this is not possible for these two operations. NULL: never possible. */
  gboolean (*derive) (const FabGroup *group, FabOp op, FabOp known_op, const FabCollectiveForm *known,
                      FabCollectiveForm *form);
} FabAlgorithmOps;

/* Latency of the wires over all steps of a form. A sum that is too large is FAB_TIME_MAX. */
FabTimePs fab_form_latency_ps (const FabCollectiveForm *form);

/* The most that kernels move through host memory, where they and not the links of their accelerators are the limit, in
 * bytes of size per second; 0: nothing goes that way, the links are slower, or phases between nodes come between. */
double fab_form_kernels_bytes_per_s (const FabCollectiveForm *form, const FabCluster *cluster);

/* The algorithms of a NULL-ended array in any order, by `preference`. (transfer container: free with g_free) */
const FabAlgorithmOps **fab_algorithms_by_preference (const FabModelInfo *const *algorithms);

typedef struct _FabCollectivePlan FabCollectivePlan;

/* What a network needs to play a plan message by message (play.h). A library fills in what it knows. For what it
 * leaves 0, all of the startup is steps of the same cost, and chunks are small. */
typedef struct {
  /* Makes the messages. (transfer full) */
  FabSchedule *(*make) (gconstpointer owner, const FabCollectivePlan *plan);
  gconstpointer owner;  /* of `make`; NULL: the plan can be played as a stream only */
  guint n_chunks;       /* into which a pipeline cuts each buffer */
  gboolean is_pipeline; /* all hops carry chunks at once, each hop another chunk */
  FabTimePs steps_ps;   /* the part of the startup that steps cost, their wires included */
  /* The part of the startup that stands for the first chunk's way to the last hop. Messages take that time by
   * themselves, so that it is left out. */
  FabTimePs fill_ps;
  double intra_cost, inter_cost; /* what a step inside a node costs in relation to one between nodes */
  /* The highest rate at which messages leave, in bytes of size per second: what the ends do, and what wires allow that
   * no message shows, as those of rails without a channel. Messages wait for one another by themselves, so that phases
   * that follow one another are left out. 0: no limit. */
  double pace_bytes_per_s;
} FabCollectivePlanSteps;

/* The fastest way in which a user could have told the library to run the operation, by the same reckoning as the plan.
 * A library that chooses by estimates of its own may have chosen another one. */
typedef struct {
  const char *algorithm, *protocol; /* static; NULL: the plan is as fast, or the library has no choice */
  guint n_channels;
  FabTimePs idle_ps; /* its time on an idle network; 0 where `algorithm` is NULL */
} FabCollectivePlanBest;

/* What a library has decided about one operation of one group with one number of bytes. */
struct _FabCollectivePlan {
  const char *algorithm, *protocol; /* static; "none" for one rank */
  guint n_channels, n_ranks;
  FabOp op;
  FabBytes bytes;
  const FabFootprint *footprint; /* NULL: one rank, nothing to do */
  FabTimePs startup_ps;          /* time of software and of steps, before the stream runs at its full rate */
  FabTimePs latency_ps; /* the part of the startup that is latency of wires: fab_form_latency_ps () */
  gboolean
      waits_for_ends; /* its ends (thread blocks, copies) and not its links set its time on an idle network */
  double wire_factor; /* bytes on the wire per payload byte, as in FabStream */
  /* The highest rate of the stream, FabStream's `limit_bytes_per_s`: of its ends, of phases that follow one another and
   * of wires that the footprint does not show. 0: the footprint's rate is the only limit. */
  double most_bytes_per_s;
  double ends_bytes_per_s; /* what its ends could do if links took no time; 0: no limit is known */
  /* The part of the startup in which the first bytes pass the links of a pipeline: faster links make it shorter. */
  FabTimePs fill_ps;
  /* The library's, each buffer in one piece; NULL: the library does not think in messages. */
  const FabSchedule *messages;
  guint n_connections; /* channels that use the same link: the stream's share of it, as in FabStream */
  FabCollectivePlanSteps steps;
  FabCollectivePlanBest best;
};

/* How sure a prediction is: every collective of a job as many times as long as `factor` says. It is asked once per
 * plan, which has a footprint. */
typedef struct {
  double (*factor) (gpointer owner, const FabCluster *cluster, const FabCollectivePlan *plan);
  gpointer owner;
} FabPlanScale;

/* Makes the plan take `factor` times as long on an idle network, > 0: its startup, and every byte on the wire. Steps
 * that are played as messages keep the latency of their wires. */
void fab_collective_plan_scale (FabCollectivePlan *plan, double factor);

/* Makes the plan move bytes from its first moment on: no software, no steps and no wires before. */
void fab_collective_plan_start_at_once (FabCollectivePlan *plan);

/* Makes the plan the n-th part of the operation, in bytes, startup and latency: what the average of n steps has of one
 * that runs in a single one of them. It is played as a stream. */
void fab_collective_plan_share (FabCollectivePlan *plan, guint64 n);

/* Time that the plan takes on an idle network, at most FAB_TIME_MAX: startup + bytes / rate. */
FabTimePs fab_collective_plan_idle_ps (const FabCollectivePlan *plan);

/* Whether the ends of the plan, and not its links, set its time on an idle network: thread blocks, or the most that a
 * protocol or a kernel moves. Links that take no time would make its bytes faster by a twentieth at most then. */
gboolean fab_collective_plan_waits_for_ends (const FabCollectivePlan *plan);

/* The stream that plays the plan. The caller fills in `done`. */
FabStream fab_collective_plan_stream (const FabCollectivePlan *plan);

/* Bytes that the busiest link carries in one direction per byte of size, the protocol's flags included. */
double fab_collective_plan_wire_per_byte (const FabCollectivePlan *plan);

typedef struct _FabLibrary FabLibrary;
typedef struct _FabGiven FabGiven; /* given.h */

typedef struct {
  FabModelInfo info;
  /* `algorithms`: NULL-ended array of FabAlgorithmOps' infos, in any order. */
  FabLibrary *(*create) (const FabModelInfo *const *algorithms, gconstpointer params);
  gboolean (*plan) (FabLibrary *library, const FabGroup *group, FabOp op, FabBytes bytes,
                    FabCollectivePlan *plan, GError **error);
  /* Makes the plan by an algorithm that was given, which fits. NULL: the library takes none. */
  gboolean (*plan_by) (FabLibrary *library, const FabGroup *group, const FabGiven *given,
                       FabCollectivePlan *plan, GError **error);
  void (*destroy) (FabLibrary *library);
  /* Whether a user of the library it stands for can ask for this algorithm by name, for any operation that it
   * supports. NULL: for every one. */
  gboolean (*can_be_chosen) (const FabModelInfo *algorithm);
} FabLibraryOps;

/* Who keeps forms that were made before, also on graphs with other rates (sim/shortcut/memo/form_book.h). Any number of
 * threads may use one at once. */
struct _FabFormMemo {
  /* The form for the rates of the group's graph; the caller owns its footprint. FALSE: it has none. */
  gboolean (*find) (FabFormMemo *self, const FabAlgorithmOps *algorithm, const FabGroup *group, FabOp op,
                    double net_stretch, FabCollectiveForm *form);
  /* Keeps a copy of a form, and its recipe, which it takes. */
  void (*add) (FabFormMemo *self, const FabAlgorithmOps *algorithm, const FabGroup *group, FabOp op,
               double net_stretch, const FabCollectiveForm *form, FabFormRecipe *recipe);
};

/* Base struct: the first member of every library. It owns the forms that its plans point to. Groups are told apart by
 * the address of their cluster, so the clusters of all groups outlive the library. */
struct _FabLibrary {
  const FabLibraryOps *ops;
  const FabAlgorithmOps **algorithms; /* NULL-ended, in the order of their `preference` */
  GPtrArray *given;                   /* FabGiven: algorithms of others, which it prefers to all of its own */
  GArray *forms; /* for each (group, operation, algorithm) that was asked for; made once */
  guint n_forms_derived, n_forms_known; /* of these: from forms of the same group; from `memo` */
  GHashTable *plans;                    /* for each (group, operation, bytes); made once */
  GPtrArray *concurrent_groups;         /* FabConcurrentGroups: plan/concurrent_groups.h */
  FabFormMemo *memo;                    /* of others, which outlives the library; NULL: every form is made */
  /* Read atomically: once it is not 0, no further form is made and planning fails with FAB_ERROR_CANCELLED. NULL:
   * nobody cancels. */
  const gint *cancel;
};

/* `algorithms`: NULL-ended, in any order. */
void fab_library_init (FabLibrary *self, const FabLibraryOps *ops, const FabModelInfo *const *algorithms);
void fab_library_clear (FabLibrary *self);

/* Makes the plan of an operation of a group. A group of one rank gets an empty plan, without a footprint. FALSE and
 * *error when no algorithm can run it, when two ranks have no path, or when it would take longer than 53 days
 * (FAB_TIME_MAX / 2). Asked again for the same it gives the same plan. */
gboolean fab_library_plan (FabLibrary *self, const FabGroup *group, FabOp op, FabBytes bytes,
                           FabCollectivePlan *plan, GError **error);
void fab_library_destroy (FabLibrary *self); /* accepts NULL */

/* The form of an operation of a group by one algorithm, made when it is first asked for. The library owns it. NULL
 * and *error when two ranks have no path. */
const FabCollectiveForm *fab_library_form (FabLibrary *self, const FabAlgorithmOps *algorithm,
                                           const FabGroup *group, FabOp op, const FabAlgorithmEnv *env,
                                           GError **error);

/* The footprint of `op` in another group, by the algorithm that a plan of this library uses. (transfer full) NULL and
 * *error when two ranks have no path. The plan must not be empty. */
FabFootprint *fab_library_footprint (const FabLibrary *self, const FabCollectivePlan *plan, FabOp op,
                                     const FabGroup *group, GError **error);

/* FabAlgorithmEnv's `net_stretch` with which the form of that plan was made. */
double fab_library_net_stretch (const FabLibrary *self, const FabCollectivePlan *plan);

/* Adds to a schedule the messages of `op` in another group, by the algorithm that a plan of this library uses. */
gboolean fab_library_add_messages (const FabLibrary *self, const FabCollectivePlan *plan, FabOp op,
                                   const FabGroup *group, guint n_chunks, FabSchedule *schedule,
                                   GError **error);

/* The messages of a plan that this library made. A pipeline cuts buffers into `n_chunks`, unless the plan has
 * messages of its own (FabCollectivePlan.messages). The plan must not be empty. */
FabSchedule *fab_library_schedule (const FabLibrary *self, const FabCollectivePlan *plan, guint n_chunks);
