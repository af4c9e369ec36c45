/* SPDX-License-Identifier: Apache-2.0 */
/* ping.h - measures half a round trip of flags between two GPUs, or between a GPU and the host.
 *
 * Each end raises a flag in the other's memory (between GPU and host: in host memory) and polls its own until it is
 * raised. The beginning GPU times the rounds with its own clock, after a first round that shows that both ends run.
 */
#pragma once

#include "validate/measure/cuda/gpus.h"

typedef struct {
  FabGpus *gpus;
  const FabGpu *begins;
  const FabGpu *answers; /* NULL: the host */
  CuStream streams[2];
} FabPingPong;

gboolean fab_ping_open (FabPingPong *self, FabGpus *gpus, const FabGpu *begins, const FabGpu *answers,
                        GError **error);
void fab_ping_close (FabPingPong *self);

/* A FabTimedFunc over FabPingPong. Messages have at least 8 bytes (the flag); with the host exactly 8. */
gboolean fab_ping_time (gpointer ping_pong, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                        GError **error);
