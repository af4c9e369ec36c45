/* SPDX-License-Identifier: Apache-2.0 */
/* ping.h - ping-pong of flags between two GPUs, or a GPU and the host: half of what a round trip takes.
 *
 * Each end raises a flag in the other's memory (between GPU and host: in host memory) and looks at its own until it is
 * raised. The GPU that begins times the rounds by its own clock, after a first one that finds out that both are there.
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

/* FabTimedFunc over FabPingPong; messages are 8 bytes (the flag) at least, and with the host 8 bytes. */
gboolean fab_ping_time (gpointer ping_pong, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                        GError **error);
