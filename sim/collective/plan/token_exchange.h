/* SPDX-License-Identifier: Apache-2.0 */
/* token_exchange.h - the exchange of tokens between ranks that hold different experts, by kernels made for it.
 *
 * Each rank has tokens, and each token goes to `per_token` of the experts, which are divided evenly among the ranks.
 * Dispatch sends tokens to their experts, combine sends the results back and adds them up. There are three kinds
 * of kernels:
 *
 *   normal       A token goes once to each node that has one of its experts, over the network adapter of its rank to
 *                the rank of the same number there. That rank forwards it once to each rank of its node that has one
 *                of the token's experts. Between nodes half of the multiprocessors forward and the others send and
 *                receive.
 *   hybrid       As normal, with copy engines (TMA), so that few multiprocessors are enough.
 *   low latency  One message for each token and each of its experts, straight to the expert's rank.
 *
 * Routing is uniform: a token picks `groups_per_token` of `groups` groups of experts, and its experts among those
 * groups, all with the same probability. With A experts that can be picked, of which a are on a rank (or in a node),
 * the token has none of them with probability prod (i < per_token) (A - a - i) / (A - i), so that the expected numbers
 * of ranks and of nodes are exact.
 *
 * With T tokens of b bytes, R ranks and N nodes per token, the time of an exchange is
 *
 *   start + experts x expert + b / start_rate + x + min (x, fill)
 *
 * The last term is the time in which receivers wait for the first part of the tokens. x is the slowest of three:
 *
 *   multiprocessors  T x (token + R b / rate) / n, low latency: T x (token + per_token b / rate) / n
 *   accelerator      bytes to other ranks of the node / (links x rate of the accelerator's links)
 *   links            what the streams of all ranks load on the links, the network adapters at `network` of their rate
 *
 * where the first two are taken together as (x1^4 + x2^4)^(1/4). The constants are those of the generation of the
 * accelerators (FabTokenCost, catalogue).
 */
#pragma once

#include "sim/collective/collective.h"

/* Where the router sends tokens. */
typedef struct {
  guint n_experts, per_token;
  guint n_groups, groups_per_token; /* groups of experts; groups_per_token 0: all of them can be picked */
} FabRouting;

/* The expected number of parts that have at least one of a token's experts. The experts are divided evenly among
 * `n_parts` parts, in the order of their numbers; n_parts divides n_experts or is a multiple of it. */
double fab_routing_parts (const FabRouting *self, guint n_parts);

typedef struct {
  FabRouting routing;
  gboolean is_combine;
  gboolean is_low_latency, is_hybrid; /* both FALSE: normal */
  double token_bytes;                 /* on the wire, with its scales */
  guint n_sms;                        /* multiprocessors that a normal kernel takes */
} FabTokenExchange;

/* Bytes of a token of `hidden` numbers on the wire. FP8 numbers have a scale of 4 bytes for each 128 of them, as
 * DeepEP sends them (README.md). */
double fab_token_bytes (double hidden, FabPrecision precision);

/* What a rank has, and how the ranks of its group lie. */
typedef struct {
  guint n_nodes, n_locals;  /* nodes; ranks in each */
  guint n_sms;              /* multiprocessors of the accelerator; 0: unknown */
  double links_bytes_per_s; /* its links to other accelerators, together; 0: none */
} FabTokenRank;

/* Time that the kernels need by themselves for `tokens` tokens of a rank: x without the links between nodes. */
double fab_token_exchange_kernel_s (const FabTokenExchange *self, const FabTokenCost *cost,
                                    const FabTokenRank *rank, double tokens);

/* A library whose one operation, all_to_all, is this exchange. Size is tokens x per_token x token_bytes: what an
 * all-to-all sends that copies a token for each of its experts. (transfer full) */
FabLibrary *fab_token_exchange_new (const FabTokenExchange *exchange);
