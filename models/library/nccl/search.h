/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - the channels that NCCL's search finds, and the speeds that it believes them to have.
 *
 * NCCL does not compute rates. It looks for as many channels as fit into the links at a speed out of a list, with
 * bandwidths of links that it has as constants, and tries one speed after the other (src/graph/search.cc). The tuner
 * believes what the search has found. Here the same is done for GPUs that all reach each other over NVLink, where the
 * search needs no paths: how many channels fit follows from sums.
 */
#pragma once

#include <glib.h>

/* The speed that an adapter reports, which NCCL searches with, where its port carries `rate_GBps`: the least of those
 * of adapters that is not below the rate. A port that carries less than its adapter reports is limited or shaped.
 * Standards of 8 and 12 lanes count where the rate is theirs and `is_own`: the port has the rate of its entry. */
double nccl_reported_GBps (double rate_GBps, gboolean is_own);

/* What the search knows of a node, in GB/s as NCCL counts. */
typedef struct {
  guint generation; /* compute capability, the first digit */
  guint n_gpus;
  double link_GBps; /* all NVLinks of one GPU, one direction */
  guint n_nodes;
  guint n_nics; /* network devices of a node that NCCL sees; 0 on one node */
  double nic_GBps;
} NcclSystem;

/* What it finds for one pattern: channels, and the speed of each inside a node and between nodes. */
typedef struct {
  guint n;
  double intra_GBps, inter_GBps;
} NcclGraph;

typedef struct {
  NcclGraph ring, tree,
      nvls;         /* nvls: a channel is a head, a GPU that the switch reduces for; 0 of them: no NVLS */
  guint n_channels; /* that NCCL then sets up for rings and trees */
  gboolean
      follows_rates; /* faster links have faster channels; FALSE: NCCL has counted NVLinks, whatever their rate */
} NcclSearch;

/* `version` is that of NCCL, as 22902. */
void nccl_search (const NcclSystem *system, guint version, NcclSearch *search);

/* One NVLink of a generation in GB/s: as NCCL counts it, and its rate. 0: the generation has no such link. */
double nccl_link_GBps (guint generation, guint version);
double nccl_link_rate_GBps (guint generation);
