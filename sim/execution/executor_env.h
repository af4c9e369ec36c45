/* SPDX-License-Identifier: Apache-2.0 */
/* executor_env.h - what an executor and its accounts are given: a job, and what plays it. All of it is borrowed. */
#pragma once

#include "sim/execution/play_watch.h"
#include "sim/execution/workload.h"

typedef struct {
  FabEngine *engine;
  FabNet *net;
  /* Of engine and network; NULL: the network is on the engine, and everything is played. Executors of one network share
   * one. */
  FabPlayWatch *watch;
  const FabDag *dag;
  FabJobTotals totals;     /* its arrays stay the caller's */
  double peak_flops_per_s; /* of one accelerator */
  guint n_iterations;
  /* SMs of one accelerator, which collectives occupy while kernels run; 0: collectives occupy none. */
  guint n_sms;
  /* Returns the compute time of a rank class in an iteration as a multiple of the DAG's, > 0; NULL: 1. It is called
   * when a task begins. */
  double (*slowness) (gpointer owner, guint rank_class, guint iteration);
  gpointer slowness_owner;
  /* Called at the end of each iteration; fn NULL: the engine is stopped instead. An executor with `ended` shares
   * engine and network with another executor, which owns the network's meter. */
  FabDone ended;
  /* Nothing but the DAG loads the network, and only the links in `apart` change their rate: messages that nothing
   * tells apart may be played as one. */
  gboolean is_alone;
  const FabLinkId *apart; /* [n_apart] */
  guint n_apart;
  /* Nobody asks what links carried: the probe has no loads of links and no samples, and collectives name the
   * slowest link of an idle network. */
  gboolean has_no_loads;
} FabExecutorEnv;
