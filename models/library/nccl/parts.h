/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - what the files of the nccl library share: its constants, its algorithms, and one candidate for a plan.
 *
 * algorithms.c  one row for each algorithm that NCCL has: its names, operations, protocols, constants and formulas
 * tables.c      constants of the protocols and of the generations of GPUs, from NCCL and from measurements
 * p2p.c         sends and receives: their channels, protocol and time
 * search.c      the channels that NCCL's search finds
 * choose.c      the time that NCCL's tuner estimates for a candidate; the candidate with the smallest estimate runs
 * cost.c        the time that the chosen candidate really takes
 * ring.c        what rings inside a node take
 * nvls.c        what reductions by the switch of a node take
 * symmetric.c   kernels on registered buffers
 * messages.c    the messages between nodes
 * plugin.c      what network plug-ins tell NCCL, and what they choose in its place
 * versions.c    releases of NCCL
 * rccl.c        what RCCL does in its own way
 * rccl_tuner.c  how RCCL chooses between a ring and trees over nodes
 * measured.c    bus bandwidths of the cluster that a user has measured
 * lists.c       algorithms and protocols that a user asks for
 * system.c      a group as NCCL's search sees it
 * wires.c       what the links of an algorithm's footprint allow
 * nccl.c        parameters, the search over all candidates, and the host that issues collectives
 */
#pragma once

#include "models/library/nccl/names.h"
#include "models/library/nccl/search.h"
#include "sim/collective/collective.h"

/* NCCL's protocols (src/include/device.h): how a receiver learns that data have arrived. LL: a flag beside every 8
 * bytes. LL128: a flag of 8 bytes in every 128. Simple: none in the data, the sender sets a counter after a chunk. */
typedef enum { NCCL_LL, NCCL_LL128, NCCL_SIMPLE, NCCL_N_PROTOCOLS } NcclProtocol;

/* The thread block that runs one channel (src/enqueue.cc, src/collectives/device). A channel is used when each thread
 * has `threshold_bytes` of the collective's bytes to move; for LL, that many times the number of ranks. Before NCCL
 * 2.22 a channel moved whole multiples of threads x `grain_bytes`. */
typedef struct {
  guint threads, threshold_bytes, grain_bytes;
} NcclBlock;

typedef enum {
  NCCL_MATCHING_AUTO, /* what the nodes say */
  NCCL_MATCHING_HARDWARE,
  NCCL_MATCHING_SOFTWARE,
} NcclMatching;

typedef struct {
  FabTimePs issue_ps, issue_channel_ps;
  gint64 gpus_per_process;
  gint64 min_channels, max_channels;
  gboolean has_whole_chunks, has_nvls, has_collnet, is_symmetric, has_flush;
  FabBytes p2p_chunk_bytes; /* of sends between nodes; 0: by NCCL's rules (p2p.h) */
  gint64 net_peer_channels; /* of a send between nodes; 0: by NCCL's rules */
  double net_fraction;
  const char *nccl_version; /* NULL: by the generation of the GPUs (versions.c) */
  const char *plugin;       /* NULL: what the nodes say */
  int matching;             /* NcclMatching: who matches messages with receives */
  const char *algorithm;    /* NULL: the tuner chooses; else one or a list (lists.c) */
  const char *protocol;     /* NULL or "auto": the tuner chooses */
  FabParamList measured;
} NcclParams;

/* Constants of the tuner for one algorithm, in microseconds, for LL, LL128 and Simple. */
typedef struct {
  double base_us[NCCL_N_PROTOCOLS];   /* once for each collective */
  double nvlink_us[NCCL_N_PROTOCOLS]; /* for a step over NVLink */
  double pci_us[NCCL_N_PROTOCOLS];    /* for a step over PCIe or through host memory */
  double net_us[NCCL_N_PROTOCOLS];    /* for a step between nodes */
} NcclTuning;

/* What the tuner takes as the most that is possible, in GB/s. Arrays of three are for one, two and more nodes. */
typedef struct {
  double ll_GBps[3]; /* bus bandwidth of LL, all channels together */
  /* Of one channel; 0: no limit. */
  double ring_ll128_GBps[3], tree_ll128_GBps[3], tree_simple_GBps[3], nvls_tree_GBps[3];
} NcclCaps;

/* What differs between GPUs. */
typedef struct {
  const char *name;      /* an accelerator's `architecture` */
  gboolean is_rccl;      /* AMD: RCCL runs, with constants of its own */
  gboolean has_ll128;    /* the 128 bytes that a warp stores arrive in order, which LL128 needs */
  guint least_version;   /* the first release that drives them */
  guint default_version; /* the release that runs where the scenario names none (versions.c) */
  guint generation;      /* compute capability, the first digit; 0 for others */
  guint most_channels;   /* on one node */
  NcclCaps caps;         /* of the newest release */
} NcclArchitecture;

/* Never NULL: an unknown architecture has the numbers that NCCL falls back to. */
const NcclArchitecture *nccl_architecture (const char *name);

/* Share of a port's rate that collectives reach when neither its entry (collective_fraction) nor the scenario gives
 * one. */
#define NCCL_NET_FRACTION 0.9588

/* Whether the slowest link inside a node is PCIe, or a bus like it: NCCL's tables know that and NVLink. */
static inline gboolean
nccl_is_over_bus (const FabCollectiveForm *form)
{
  return form->intra_technology != NULL && form->intra_technology->joins == FAB_JOINS_DEVICES;
}

/* Links that carry the bytes of the same number of rails, at the least rate of any of them. */
typedef struct {
  guint n_rails;
  double bytes_per_s; /* of collective size, with all rails in use */
} NcclSharedWires;

enum { NCCL_MOST_SHARED_WIRES = 16 };

/* What the links of a footprint allow, in bytes of collective size per second; G_MAXDOUBLE: it has no such link. */
typedef struct {
  const FabLinkClass *port; /* of the NICs; NULL: no byte leaves its node */
  double node_bytes_per_s;  /* links inside nodes and of their ports; NCCL's search does not look beyond */
  double
      device_stretch; /* of the busiest link of an accelerator through host memory; 1: it has its usual rate */
  double every_bytes_per_s; /* links between an accelerator and its node's switch, which every channel uses */
  /* All other links; each channel has some of its own, or shares some with other rails. */
  NcclSharedWires shared[NCCL_MOST_SHARED_WIRES];
  guint n_shared;
  double
      pair_bytes_per_s; /* line rate of the path between two GPUs of a node, the least of any pair; 0: one GPU */
} NcclWires;

typedef struct NcclAlgorithm NcclAlgorithm;

typedef struct NcclRegion NcclRegion;

/* What a network plug-in tells NCCL and sets for it (plugin.c). */
typedef struct {
  const char *name;
  double told_us;            /* latency of a step between nodes that it tells the tuner */
  FabBytes nvls_chunk_bytes; /* NCCL_NVLS_CHUNKSIZE, NCCL_NVLSTREE_MAX_CHUNKSIZE; 0: NCCL's own */
  const NcclRegion *regions; /* its own tuner's choices; NULL: NCCL's tuner */
  guint n_regions;
  gboolean is_simple_only; /* it sets NCCL_PROTO=simple */
} NcclPlugin;

/* One way to run a collective: an algorithm with a protocol. */
typedef struct {
  const FabGroup *group;
  const NcclArchitecture *architecture;
  const NcclAlgorithm *algorithm;
  const NcclTuning *tuning;   /* of the algorithm on this architecture, in the newest release */
  const NcclTuning *estimate; /* the same as the release that runs has it, for the tuner */
  const NcclCaps *caps;       /* of the release that runs */
  const NcclSearch *search;   /* what NCCL's search finds for the group */
  const FabCollectiveForm *form;
  NcclProtocol protocol;
  guint version;            /* of NCCL: 22902 is 2.29.2 */
  const NcclPlugin *plugin; /* of the network; never NULL */
  const NcclParams *params; /* as they are written */
  FabOp op;
  FabBytes bytes;
  guint n_ranks;
  guint most_channels;    /* that NCCL sets up */
  guint n_channels;       /* of them, that have enough bytes to be used */
  guint n_rails;          /* rings that do not share a link; between nodes one per NIC */
  double busbw_GBps;      /* bus bandwidth of the rings, by the links */
  const NcclWires *wires; /* of the form */
} NcclCandidate;

/* One algorithm of NCCL. A NULL function and a FALSE flag mean the usual case, which the comment gives. */
struct NcclAlgorithm {
  const char *model;      /* the algorithm model that says which links it uses: models/collective/MODEL.c */
  const char *nccl_name;  /* in NCCL_ALGO: "CollnetDirect"; NULL: NCCL_ALGO cannot ask for it */
  const char *kernel;     /* in names of kernels: "TREE"; NULL: "RING", whose kernels run it too */
  const NcclTuning *nccl; /* NCCL's constants */
  const NcclTuning *rccl; /* RCCL's; NULL: RCCL does not have it */
  const NcclTuning *cdna; /* RCCL's for CDNA 3 and 4; NULL: `rccl` */
  guint protocols;        /* bits: 1 << NcclProtocol */
  guint ops; /* bits: 1 << FabOp; operations that it can run, where the model supports them too */

  /* Whether NCCL considers it when a user asks for no algorithm. NULL: always. */
  gboolean (*is_considered) (const NcclParams *params, const NcclCandidate *candidate);

  /* Channels that are used. NULL: those for which there are bytes enough. */
  guint (*count_channels) (const NcclCandidate *self);
  /* The only protocol that NCCL uses at the candidate's size, whatever NCCL_PROTO says. NULL: the tuner chooses. */
  NcclProtocol (*protocol) (const NcclCandidate *self);

  /* --- what the tuner estimates (choose.c) --- */

  /* Latency in us, where a step inside a node takes `intra_us` and one between nodes `net_us`. NULL: base + steps. */
  double (*latency_us) (const NcclCandidate *self, double intra_us, double net_us);
  /* Rate in GB/s of collective size. Never NULL. */
  double (*bandwidth_GBps) (const NcclCandidate *self);
  /* Share of that rate that is left at the candidate's size. NULL: all. */
  double (*size_correction) (const NcclCandidate *self);
  /* A time in us that the estimate cannot be below, found without the form, which may be NULL here: forms of many
 * nodes take long to make. NULL: nothing is known. */
  double (*least_us) (const NcclCandidate *self);

  /* --- what it takes (cost.c) --- */

  /* Time in us once for each collective, where its steps take `steps_us` on top. NULL: NCCL's or the measured base. */
  double (*base_us) (const NcclCandidate *self, double steps_us);
  /* Time in us of all steps that follow one another. NULL: the form's steps inside nodes and between them. */
  double (*steps_us) (const NcclCandidate *self, double intra_us, double inter_us);
  /* Bytes of size that are on the way before the end of a pipeline moves. NULL: it is no pipeline. */
  FabBytes (*fill_bytes) (const NcclCandidate *self);
  /* A limit of its end points in bytes of size per second; 0: none. NULL: none. */
  double (*limit_bytes_per_s) (const NcclCandidate *self);

  /* NCCL's search looks for channels of this shape; exactly one algorithm has this flag. */
  gboolean is_searched;
  /* Between nodes each of its steps waits for the proxy thread of some pair of nodes. */
  gboolean waits_for_proxies;
  gboolean posts_in_turn; /* between nodes a proxy thread posts its channels' messages one after another */
  gboolean has_plateau;   /* nccl_plateau_factor () applies */
  gboolean has_measured_base;  /* the base of nccl_measured_startup () applies, on one node */
  gboolean has_measured_steps; /* its step applies */
  gboolean has_whole_chunks;   /* the parameter `whole_chunks` applies to it */
  gboolean
      switch_reduces; /* thread blocks only start loads and stores, which the node's switch carries out */
  gboolean is_point_to_point; /* ncclSend, ncclRecv: connections limit it, not what its channels can move */
};

/* The rows one after another; NULL after the last. */
const NcclAlgorithm *nccl_algorithm_at (guint i);

/* Finds the row of an algorithm model; NULL: NCCL has no such algorithm. */
const NcclAlgorithm *nccl_algorithm (const char *model);

/* The row whose links give the bus bandwidth that NCCL's search finds. */
const NcclAlgorithm *nccl_searched_algorithm (void);

/* A row that is in no list: the messages of a file. */
const NcclAlgorithm *nccl_given_algorithm (void);

/* Column of the arrays of three: 0, 1, 2 for one, two and more nodes. */
static inline guint
nccl_column (const FabGroup *group)
{
  return MIN (group->n_nodes - 1, 2);
}

static inline gboolean
nccl_has_op (const NcclAlgorithm *self, FabOp op)
{
  return (self->ops >> op & 1) != 0;
}

/* --- lists.c --- */

/* Bits of what may run for each operation, algorithms by row, protocols by NcclProtocol; 0: anything. */
typedef struct {
  guint algorithms[FAB_N_OPS], protocols[FAB_N_OPS];
} NcclAsked;

guint nccl_algorithm_bit (const NcclAlgorithm *algorithm);

/* FALSE and *message (transfer full): the text is no list. Operations that it does not name keep their mask. */
gboolean nccl_list_parse (gboolean is_algorithm, const char *text, guint masks[FAB_N_OPS], char **message);
gboolean nccl_asked_parse (const NcclParams *params, NcclAsked *asked, char **message);

/* Why both lists together leave nothing; NULL: they leave something. (transfer full) */
char *nccl_asked_contradiction (const NcclParams *params, const NcclAsked *asked);

/* Whether a list differs between operations. */
gboolean nccl_asked_has_ops (const NcclParams *params);

/* --- versions.c --- */

enum { NCCL_OLDEST_VERSION = 20000, NCCL_NEWEST_VERSION = 23099 };

/* "2.29.2" as 22902, and "2.29" as 22999, its last release. 0: it is no release that is known here. */
guint nccl_version_parse (const char *text);

/* The reverse. (transfer full) */
char *nccl_version_text (guint version);

/* The release that runs: what the parameters say, else the default of the generation. Never 0. */
guint nccl_version_of (const NcclParams *params, const NcclArchitecture *architecture);

/* FALSE and *error where that release cannot drive the accelerators. */
gboolean nccl_version_check (const NcclParams *params, const NcclArchitecture *architecture, GError **error);

/* Sets the parameters that a release implies: whole_chunks and issue_per_channel. */
void nccl_version_apply (guint version, NcclParams *params);

/* --- rccl.c --- */

/* From here on CDNA 4 has limits and a tuner as in RCCL 2.30.4 (ROCm 7.14). ROCm's releases before it had 2.27.7. */
enum { RCCL_LATER_VERSION = 22708 };

/* Whether RCCL plays a collective by a schedule of its own, in which every GPU writes to all others. Nobody has asked
 * for an algorithm or a protocol. */
gboolean rccl_plays_all_pairs (const NcclParams *params, const NcclCandidate *common);

/* Fills in the plan of such a collective over the links of `form`, but for its algorithm and protocol. Returns the
 * protocol. */
NcclProtocol rccl_plan_all_pairs (const NcclCandidate *common, const FabCollectiveForm *form,
                                  FabCollectivePlan *plan);

/* Whether it is CDNA 3 or 4, for which RCCL has constants and limits of their own. */
gboolean rccl_has_limits (const NcclArchitecture *architecture);

/* Whether LL128 works on these GPUs of AMD in that release. */
gboolean rccl_has_ll128 (const NcclCandidate *self);

/* Channels that RCCL sets up between nodes with eight GPUs and as many rails; 0: as NCCL does. */
guint rccl_net_channels (const NcclCandidate *common, guint n_rails);

/* Bytes of size that are on their way in RCCL's trees between nodes before the end moves. */
FabBytes rccl_tree_fill_bytes (const NcclCandidate *self);

/* Whether RCCL does not run this algorithm with this protocol. */
gboolean rccl_leaves_out (const NcclCandidate *self);

/* Whether the size alone says which protocol RCCL takes; if so, which. */
gboolean rccl_sets_protocol (const NcclCandidate *self, NcclProtocol *protocol);

/* --- rccl_tuner.c --- */

/* Whether RCCL has constants of its own for such a group: over several nodes of CDNA 3 and 4. */
gboolean rccl_has_tuner (const NcclCandidate *common);

/* Whether rccl_tuner_us () knows the candidate: it is a ring or a tree of such a group. */
gboolean rccl_tunes (const NcclCandidate *self);

/* RCCL's estimate in us: of the candidate's protocol, or the least of any. */
double rccl_tuner_us (const NcclCandidate *self, gboolean any_protocol);

/* --- system.c --- */

/* What NCCL's search finds for a group whose ring has this form. Where not all GPUs of a node reach each other over
 * NVLink, the search is not followed: rings then have the bus bandwidth of their links. */
void nccl_search_group (const NcclCandidate *common, const FabCollectiveForm *ring, NcclSearch *search);

/* --- tables.c --- */

/* The largest bus bandwidth of LL in GB/s, all channels together. On one node it is that of the GPUs. Between nodes
 * NCCL takes that of the processors, AMD's or others', whose threads read the flags. */
double nccl_ll_GBps (const NcclCandidate *self);

/* Bytes sent for each byte of payload. */
double nccl_wire_factor (const NcclCandidate *self, NcclProtocol protocol);

/* The thread block that runs a channel of the candidate. */
const NcclBlock *nccl_block (const NcclCandidate *self);

/* What was measured of the base and of the steps over NVLink, in place of the tuner's; NULL: nothing. */
const FabStartup *nccl_measured_startup (const NcclCandidate *self);

/* --- p2p.c: the members of the same names of the row `direct` --- */

guint nccl_p2p_count_channels (const NcclCandidate *self);
NcclProtocol nccl_p2p_protocol (const NcclCandidate *self);
double nccl_p2p_base_us (const NcclCandidate *self, double steps_us);
double nccl_p2p_bytes_per_s (const NcclCandidate *self);

/* --- versions.c, for the tuner --- */

/* The caps and, for the candidate's algorithm, the constants of the tuner as a release has them. */
void nccl_caps (guint version, const NcclArchitecture *architecture, NcclCaps *caps);
void nccl_tuning_of (const NcclCandidate *common, NcclTuning *tuning);

/* --- choose.c --- */

/* The tuner's estimate in us. */
double nccl_tuner_us (const NcclCandidate *self);

/* Factor on the latency of a long Simple ring between nodes, which does not hide its steps; 1 for all else. */
double nccl_plateau_factor (const NcclCandidate *self);

/* Latency in us that the network tells the tuner for a step between nodes; twice for Simple. */
double nccl_told_us (const NcclCandidate *self);

/* Time in us that the adapters add to a step between nodes, beyond that of the adapters NCCL's constants stand
 * for. */
double nccl_adapters_us (const NcclCandidate *self);

/* Time in us that one step between nodes costs the CPU's proxy thread at least. */
double nccl_proxy_us (const NcclCandidate *self);

/* --- cost.c --- */

/* Fills in the startup, the limit and the wire factor of the plan. */
void nccl_cost (const NcclCandidate *self, FabCollectivePlan *plan);

/* Adds to the startup of a plan that nccl_cost () has filled in what the whole chunks of NCCL before 2.22 cost: a
 * size that is no multiple of ranks x channels x block takes as long as the next multiple. */
void nccl_round_chunks (const NcclCandidate *self, FabCollectivePlan *plan);

/* --- ring.c --- */

/* What was measured of such a candidate; NULL: it is no ring inside a node, or nothing was measured. */
const FabRingCost *nccl_ring_cost (const NcclCandidate *self);

/* The time of the steps beyond that of the bytes, and what thread blocks can move in bytes of size per second. */
double nccl_ring_steps_us (const NcclCandidate *self, const FabRingCost *cost);
double nccl_ring_limit_bytes_per_s (const NcclCandidate *self, const FabRingCost *cost);

/* --- nvls.c --- */

/* What was measured of such a candidate; NULL: no switch of one node reduces, or nothing was measured. */
const FabSwitchCost *nccl_switch_cost (const NcclCandidate *self);

/* GPUs of one switch that ask it for sums; between nodes they own a NIC. */
guint nccl_nvls_heads (const NcclCandidate *self);

/* What the links to a switch give of the rate that was measured with eight GPUs (FabSwitchCost, many_share). */
double nccl_many_share (const NcclCandidate *self);

/* Channels of NVLS and of trees over switches (v2.30.7, src/transport/nvls.cc:164-200). Hopper has 16, one node of
 * Blackwell 24 since 2.27.3, three and more nodes 24 since 2.30.3, and Blackwell 32 otherwise. */
guint nccl_nvls_channels (const NcclCandidate *self);

/* Bytes of size that all channels move at once. */
FabBytes nccl_nvls_round_bytes (const NcclCandidate *self);

/* The time beyond that of the bytes. */
double nccl_switch_startup_us (const NcclCandidate *self, const FabSwitchCost *cost);

/* --- messages.c --- */

/* What messages by rendezvous, one after another in each port, take longer than the plan says, which nccl_cost () has
 * filled in. */
FabTimePs nccl_messages_ps (const NcclCandidate *self, const FabCollectivePlan *plan);

/* Whether it is a ring over nodes in which every rank sends in every step. Broadcast and reduce go along it as a
 * pipeline. */
gboolean nccl_is_round (const NcclCandidate *self);

/* How the candidate's messages between nodes go by rendezvous; NULL: they are too short, or go eagerly. */
const FabRendezvous *nccl_rendezvous (const NcclCandidate *self);

/* Time in us of a processor for a message that arrives at `port` (may be NULL), which it matches with a receive instead
 * of the adapter (FI_CXI_RX_MATCH_MODE=software of libfabric); 0: the adapter does it. */
double nccl_match_us (const NcclCandidate *self, const FabLinkClass *port);

/* The same for each message of a chain or ring between nodes; 0 also for Simple, whose longer messages the adapter
 * fetches by itself. */
double nccl_step_match_us (const NcclCandidate *self);

/* Time in us of the handshakes in a sequence of steps between nodes. */
double nccl_handshakes_us (const NcclCandidate *self, guint n_steps);

/* Bytes of one message between nodes as the network sees it, flags included, and how many of them a channel sends in
 * each step of a ring. */
FabBytes nccl_message_bytes (const NcclCandidate *self, guint *n_per_step);

/* Bytes of the collective in one chunk of a tree of LL128 (src/enqueue.cc:2286-2294). */
FabBytes nccl_tree_ll128_chunk_bytes (const NcclCandidate *self);

/* --- plugin.c --- */

/* The plug-in of a network by its name; NULL: it is not known. "none" has NCCL's own values. */
const NcclPlugin *nccl_plugin (const char *name);

/* All names: "none, efa, ...". (transfer full) */
char *nccl_plugin_names (void);

/* What the plug-in's own tuner chooses for this operation and size, where it has an opinion: the row of the algorithm's
 * model and the protocol. FALSE: it leaves the choice to NCCL. */
gboolean nccl_plugin_chooses (const NcclPlugin *self, const FabGroup *group, FabOp op, FabBytes bytes,
                              const char **model, NcclProtocol *protocol);

/* --- symmetric.c --- */

/* A kernel on registered buffers: `model` says which links it uses. */
typedef struct {
  const char *model, *protocol; /* static */
  guint n_blocks;
  double base_us, move_us; /* startup, and the time of the bytes where links do not take longer */
} NcclSymmetric;

/* The kernel that NCCL's own model takes to be fastest. FALSE: there is none for the release, GPUs or operation. */
gboolean nccl_symmetric (const NcclCandidate *common, NcclSymmetric *fastest);

/* --- measured.c --- */

typedef struct {
  gint op; /* FabOp */
  gint64 nodes;
  FabBytesPerS busbw_bytes_per_s;
} NcclMeasured;

extern const FabParam nccl_measured_params[];

/* The rate in bytes of size per second that the rows (NcclMeasured) give for a group; 0: they have none for it. */
double nccl_measured_bytes_per_s (const FabParamList *rows, const FabGroup *group, FabOp op);

/* --- wires.c --- */

/* What the links of a form allow. Made once for each form in O(links) and kept in `known` (NcclWires by form). */
const NcclWires *nccl_wires (GHashTable *known, const FabGroup *group, const FabCollectiveForm *form);
