/* SPDX-License-Identifier: Apache-2.0 */
/* failing.h - all models, and of networks those of flows and of packets, of which that of flows fails when it is made
 * for the n-th time: the run is cancelled, or breaks an invariant. So a test can fail every play of what it asks for,
 * one after another. One thread makes networks. */
#pragma once

#include "models/models.h"
#include "sim/base/error.h"

static struct {
  guint n_made, at; /* networks so far; which of them fails, counted from 1; 0: none */
  FabErrorCode how; /* FAB_ERROR_CANCELLED, FAB_ERROR_BROKEN */
  gint cancel;      /* for whom is to be cancelled */
} failing;

static inline FabNet *
failing_create (const FabNetEnv *env, gconstpointer params)
{
  FabNet *net = fab_net_fluid.create (env, params);

  if (++failing.n_made != failing.at)
    return net;
  if (failing.how == FAB_ERROR_BROKEN)
    fab_engine_fail (env->engine, "it was to break");
  else
    failing.cancel = 1;
  return net;
}

/* From now on network number `at` fails. */
static inline void
failing_at (guint at, FabErrorCode how)
{
  failing.n_made = failing.cancel = 0;
  failing.at = at;
  failing.how = how;
}

static inline const FabRegistry *
failing_models (void)
{
  static FabNetOps ops;
  static const FabModelInfo *nets[] = { &ops.info, &fab_net_packet.info, NULL };
  static FabRegistry models;

  ops = fab_net_fluid;
  ops.create = failing_create;
  models = fab_models;
  models.lists[FAB_MODEL_NET] = nets;
  return &models;
}
