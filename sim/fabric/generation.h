/* SPDX-License-Identifier: Apache-2.0 */
/* generation.h - what a generation of accelerators and of the hosts beside it adds to a collective: an entry of the
 * catalogue's `generations`.
 *
 * All of it is measured, by tables of small and large sizes that its `source` names. What a library's own source code
 * says of a generation is not here but with the library. 0: nothing was measured, and the library's own number
 * counts.
 */
#pragma once

#include "sim/base/units.h"

/* A collective whose steps follow one another takes base + steps x step, inside one node. */
typedef struct {
  FabTimePs base_ps, step_ps;
  const char *source;
} FabStartup;

/* Ways in which a receiver learns that data have arrived: a flag beside every word, one in every line, or a counter
 * that is set after a chunk. */
typedef struct {
  FabStartup ll, ll128, simple;
} FabStartups;

/* A send to an accelerator that NVLink or a bus joins, which a library divides among channels. A channel is one thread
 * block, which sends one part of a message and receives another. */
typedef struct {
  FabTimePs ll_ps, simple_ps;     /* startup of one send, with a flag beside every word and with a counter */
  FabTimePs channel_ps;           /* of each channel that is in use, with a counter */
  FabBytesPerS ll_bytes_per_s;    /* of a channel, with a flag beside every word */
  FabBytesPerS both_bytes_per_s;  /* of a channel that sends and receives at the same time; 0: not measured */
  FabBytesPerS alone_bytes_per_s; /* of a channel that only sends, or only copies what it has received */
  /* How little many channels slow each other down where they need nearly as much as the links have: they get
   * least / (1 + (least / most)^sharpness)^(1 / sharpness) of the two. */
  double sharpness;
  const char *source;
} FabSends;

/* An all-reduce over eight accelerators of a full mesh in two steps, from all to all. Rates are of the collective's
 * size, with a flag beside every word and with a counter. */
typedef struct {
  FabTimePs ll_ps, simple_ps;
  FabBytesPerS ll_bytes_per_s, bytes_per_s; /* bytes_per_s 0: not measured */
  const char *source;
} FabAllPairs;

/* A ring inside one node whose channels are thread blocks. Each rank sends in s steps of a loop, and once in each loop
 * it only copies what it has received out of a buffer. Nothing overlaps that copy, because a thread block does one
 * after the other. For b bytes on each link and C channels:
 *
 *   base + s x step + b / C x (1 / channel + 1 / (s x copy))
 *
 * Where `channel` is 0 a channel moves more than its part of the links. Then bytes that are under way hide the latency
 * of steps: s x step becomes s x (sqrt (step^2 + t^2) - t), where t is the time of one step's bytes on the link. Each
 * step waits for the slowest rank, so that random differences add up as a random walk does: drift x sqrt (b / 1 GB). */
typedef struct {
  FabTimePs base_ps, step_ps, drift_ps;
  FabBytesPerS channel_bytes_per_s, copy_bytes_per_s;
  const char *source;
} FabRingCost;

typedef struct {
  FabRingCost ll, ll128, simple;
} FabRingCosts;

/* Reduction by the switch of one node (NVLS), in rounds of one chunk of every channel for every rank. A round takes
 * sqrt (t^2 + latency^2), where t is the time of its bytes on a link, and so many are under way before the first one
 * ends:
 *
 *   base + (bytes / round + rounds) x sqrt (t^2 + latency^2)
 *
 * Many GPUs on one switch get less of their links than eight do: `many_share` of what the links' `multimem` gives, at
 * `many_gpus` GPUs. In between the share falls with the logarithm of their number; beyond, it stays. */
typedef struct {
  FabTimePs base_ps, latency_ps;
  double n_rounds;
  gint64 many_gpus;  /* 0: not measured, so the share is 1 */
  double many_share; /* at most 1 */
  const char *source;
} FabSwitchCost;

/* A rate of one thread block, which runs one channel. */
typedef struct {
  FabBytesPerS bytes_per_s;
  const char *source;
} FabChannelRate;

/* A kernel that exchanges tokens between the ranks of experts (sim/collective/plan/token_exchange.h). */
typedef struct {
  FabTimePs start_ps;  /* once; 0: nothing was measured */
  FabTimePs expert_ps; /* of the start, for each expert of the model */
  /* The bytes of one token, which one warp handles, are in the start at this rate; 0: in no time. */
  FabBytesPerS start_bytes_per_s;
  FabTimePs fill_ps;           /* until receivers have the first part of what is sent */
  FabTimePs token_ps;          /* of one multiprocessor for a token, whatever its size */
  FabBytesPerS sm_bytes_per_s; /* at which one multiprocessor copies; 0: no limit */
  /* Of the rate of an accelerator's links to others of its node or domain. */
  double links_fraction;
  double network_fraction; /* of a network adapter's rate */
  const char *source;
} FabTokenCost;

typedef struct {
  FabTokenCost dispatch, combine;
} FabTokenCosts;

typedef struct {
  const char *name; /* what `architecture` of an accelerator says; owned by the catalogue */
  const char *summary;
  FabTimePs issue_ps; /* of a host of that generation's time that issues a collective on one accelerator */
  FabStartups startups;
  FabSends sends;
  FabAllPairs all_pairs;
  FabRingCosts rings;
  FabSwitchCost node_switch;
  FabChannelRate ring_channel; /* a channel that receives, reduces and sends in a ring over nodes */
  FabTokenCosts tokens;        /* kernels that send a token once to each node and rank */
  FabTokenCosts hybrid;        /* the same with copy engines of the multiprocessors, which take few of them */
  FabTokenCosts low_latency;   /* kernels that send a message for each token and expert */
  const char *source, *date;
} FabGeneration;

/* What `issue` is where nothing was measured: that of most generations. */
#define FAB_GENERATION_ISSUE_PS 4300000

/* Of accelerators whose `architecture` is no entry: all else is zero. */
extern const FabGeneration fab_generation_unknown;
