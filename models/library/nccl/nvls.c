/* SPDX-License-Identifier: Apache-2.0 */
/* nvls.c - what a reduction by the switch of one node takes where its generation was measured (FabSwitchCost).
 *
 * A round moves one chunk of every channel for every GPU. Chunks are 128 KiB, and smaller where there would be few
 * rounds (src/enqueue.cc, calcCollChunking): 64 KiB below 64 rounds of 128, 32 below 8 rounds of 64, 16 below 2 rounds
 * of 32. Smaller rounds hide less of their latency, which is why 16 MiB run at two thirds of the rate of 1 GiB on 8
 * H100.
 *
 * The rates of links come from all-reduces of 8 GiB over eight GPUs (`multimem` of the catalogue's links), which
 * contain the latency of rounds of 128 KiB.
 */
#include <math.h>
#include <string.h>

#include "models/library/nccl/parts.h"

enum { KIB = 1024, MOST_CHUNK = 128 * KIB, KNOWN_GPUS = 8 };

guint
nccl_nvls_heads (const NcclCandidate *self)
{
  enum { MOST_HEADS = 32 }; /* NCCL_MAX_NVLS_ARITY, v2.21.5 to v2.30.7, src/include/device.h */
  guint n = MIN (self->group->gpus_per_node, MOST_HEADS);

  return self->group->n_nodes > 1 ? MIN (n, self->n_rails) : n;
}

double
nccl_many_share (const NcclCandidate *self)
{
  const FabSwitchCost *cost = &self->group->cluster->generation->node_switch;
  gint64 n = MIN (self->group->gpus_per_node, cost->many_gpus);

  if (n <= KNOWN_GPUS)
    return 1;
  return 1
       - (1 - cost->many_share) * log2 ((double) n / KNOWN_GPUS)
             / log2 ((double) cost->many_gpus / KNOWN_GPUS);
}

const FabSwitchCost *
nccl_switch_cost (const NcclCandidate *self)
{
  const FabSwitchCost *cost = &self->group->cluster->generation->node_switch;

  return strcmp (self->algorithm->model, "nvls") == 0 && self->group->n_nodes == 1 && cost->base_ps > 0
           ? cost
           : NULL;
}

guint
nccl_nvls_channels (const NcclCandidate *self)
{
  guint column = nccl_column (self->group);

  if (self->architecture->generation < 10)
    return 16;
  if (column == 0)
    return self->version >= 22703 ? 24 : 32;
  return self->version >= 23003 && column == 2 ? 24 : 32;
}

static guint
n_nvls_channels (const NcclCandidate *self)
{
  return MIN (nccl_nvls_channels (self), self->most_channels);
}

static FabBytes
round_of (const NcclCandidate *self, FabBytes chunk_bytes)
{
  return (FabBytes) n_nvls_channels (self) * nccl_nvls_heads (self) * chunk_bytes;
}

FabBytes
nccl_nvls_round_bytes (const NcclCandidate *self)
{
  FabBytes chunk_bytes = MOST_CHUNK;

  if (self->bytes < 64 * round_of (self, chunk_bytes))
    chunk_bytes = 64 * KIB;
  if (self->bytes < 8 * round_of (self, chunk_bytes))
    chunk_bytes = 32 * KIB;
  if (self->bytes < 2 * round_of (self, chunk_bytes))
    chunk_bytes = 16 * KIB;
  return round_of (self, chunk_bytes);
}

double
nccl_switch_startup_us (const NcclCandidate *self, const FabSwitchCost *cost)
{
  double us_per_byte = 1e6 / (self->form->footprint->rate_bytes_per_s * nccl_many_share (self)),
         latency_us = (double) cost->latency_ps / 1e6;
  double known_us = (double) n_nvls_channels (self) * KNOWN_GPUS * MOST_CHUNK * us_per_byte;
  double share = latency_us < known_us ? sqrt (1 - latency_us * latency_us / (known_us * known_us)) : 0;
  double round_bytes = (double) nccl_nvls_round_bytes (self), wire_us = round_bytes * us_per_byte;
  double round_us = MAX (hypot (wire_us * share, latency_us), wire_us),
         n_rounds = (double) self->bytes / round_bytes;

  return (double) cost->base_ps / 1e6 + (n_rounds + cost->n_rounds) * round_us - n_rounds * wire_us;
}
