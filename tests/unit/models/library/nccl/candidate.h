/* SPDX-License-Identifier: Apache-2.0 */
/* candidate.h - one candidate of NCCL's tuner, made by hand: the formulas see numbers that a test has chosen. */
#pragma once

#include "models/library/nccl/parts.h"
#include "tests/support/technologies.h"
#include "tests/support/test.h"

typedef struct {
  const char *architecture, *model;
  guint version, n_nodes, gpus_per_node;
  NcclProtocol protocol;
  FabOp op;
  FabBytes bytes;
} CandidateSpec;

typedef struct {
  FabProcessor processor;
  FabGeneration generation;
  FabCluster cluster;
  FabGroup group;
  NcclCaps caps;
  NcclTuning estimate;
  NcclSearch search;
  NcclWires wires;
  FabFootprint footprint;
  FabCollectiveForm form;
  NcclParams params;
  NcclCandidate self;
} Candidate;

/* Intel's processor, no plug-in, NVLink inside nodes, and nothing measured. Graphs, wires and steps are all 0. */
static inline void
candidate_make (Candidate *to, const CandidateSpec *spec)
{
  const NcclArchitecture *architecture = nccl_architecture (spec->architecture);
  const NcclAlgorithm *algorithm = nccl_algorithm (spec->model);

  memset (to, 0, sizeof *to);
  to->processor = (FabProcessor){ .name = "intel" };
  to->cluster = (FabCluster){ .generation = &to->generation,
                              .processor = &to->processor,
                              .p2p = FAB_REACH_NVL };
  to->group = (FabGroup){ .cluster = &to->cluster,
                          .n_nodes = spec->n_nodes,
                          .gpus_per_node = spec->gpus_per_node };
  to->form = (FabCollectiveForm){ .footprint = &to->footprint,
                                  .intra_kind = FAB_HOP_DIRECT,
                                  .intra_technology = &test_nvlink };
  nccl_caps (spec->version, architecture, &to->caps);
  to->self = (NcclCandidate){ .group = &to->group,
                              .architecture = architecture,
                              .algorithm = algorithm,
                              .tuning = architecture->is_rccl ? algorithm->rccl : algorithm->nccl,
                              .estimate = &to->estimate,
                              .caps = &to->caps,
                              .search = &to->search,
                              .form = &to->form,
                              .protocol = spec->protocol,
                              .version = spec->version,
                              .plugin = nccl_plugin ("none"),
                              .params = &to->params,
                              .op = spec->op,
                              .bytes = spec->bytes,
                              .n_ranks = spec->n_nodes * spec->gpus_per_node,
                              .most_channels = 32,
                              .n_channels = 1,
                              .n_rails = 1,
                              .wires = &to->wires };
  nccl_tuning_of (&to->self, &to->estimate);
}
