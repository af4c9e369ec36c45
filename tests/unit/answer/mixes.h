/* SPDX-License-Identifier: Apache-2.0 */
/* mixes.h - mixes of jobs on a small machine: eight nodes of one GPU and one NIC stand at two leaf switches, each
 * with one uplink for its four nodes.
 */
#pragma once

#include "tests/support/test.h"

#include "answer/job_mix.h"
#include "models/models.h"
#include "tests/support/play.h"

#define CLUSTER                                                                     \
  "cluster: {node: dgx-h100, nodes: 8, gpus_per_node: 1, nics_per_node: 1, fabric:" \
  " {kind: leaf_spine, nodes_per_leaf: 4, oversubscription: 4}}\ncollectives: plain\n"
#define EXCHANGE "job: {kind: collective, operations: [{op: all_to_all, size: 1GB}]}"
#define RING "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}"

#define THREE_KINDS                                                                              \
  "mix:\n"                                                                                       \
  "  jobs:\n"                                                                                    \
  "    - {name: one, nodes: 1, count: 40, every: 10min, work: 1h, " RING "}\n"                   \
  "    - {name: four, nodes: 4, count: 30, every: 20min, work: 2h, spread: 0.5, " EXCHANGE "}\n" \
  "    - {name: six, priority: 5, nodes: 6, count: 20, every: 40min, work: 2h, " RING "}\n"

static inline FabMixAnswer *
answer_of (const FabScenario *scenario, GError **error)
{
  return fab_mix_answer (scenario, &(FabMixRequest){ .registry = &fab_models, .n_threads = 1 }, error);
}

static inline FabMixAnswer *
good (const FabScenario *scenario)
{
  g_autoptr (GError) error = NULL;
  FabMixAnswer *self = answer_of (scenario, &error);

  if (self == NULL)
    fail_msg ("%s", error->message);
  return self;
}

static inline const FabMixedKind *
kind_at (const FabMixAnswer *self, guint i)
{
  return &g_array_index (self->kinds, FabMixedKind, i);
}

static inline const FabMixJob *
job_at (const FabMixAnswer *self, guint i)
{
  return &g_array_index (self->jobs, FabMixJob, i);
}
