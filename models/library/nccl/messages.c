/* SPDX-License-Identifier: Apache-2.0 */
/* messages.c - the messages between nodes that a collective is cut into, and what adapters take for the longer ones.
 *
 * NCCL moves chunks; the proxy thread of a GPU posts one message for each chunk (LL, LL128) or slice (Simple). Longer
 * messages go by rendezvous where the adapter's link entry says so (FabRendezvous): a handshake comes before the bytes,
 * and each port takes its time for one after another. The time per message does not depend on its length, so that many
 * short ones, of rings over many ranks, are slower than the wires. LL's buffers are in host memory, the others' in the
 * GPU's where the adapter reaches it.
 */
#include <math.h>

#include "models/library/nccl/parts.h"

enum { KIB = 1024 };

/* One step of a channel's buffer, in bytes of the collective (src/include/device.h): LL has 8 lines of 16 bytes for
 * each of 512 threads, LL128 120 elements of 8 bytes for each of 640 threads, Simple 4 MiB / 8 steps. */
static const FabBytes nccl_step_bytes[NCCL_N_PROTOCOLS] = { 32 * KIB, 576000, 512 * KIB };

/* RCCL's have 256 threads, and LL128 28 words of 8 bytes for each, 7 of 8 of them data. */
static const FabBytes rccl_step_bytes[NCCL_N_PROTOCOLS] = { 16 * KIB, 50176, 512 * KIB };

static const FabBytes *
step_bytes (const NcclCandidate *self)
{
  return self->architecture->is_rccl ? rccl_step_bytes : nccl_step_bytes;
}

gboolean
nccl_is_round (const NcclCandidate *self)
{
  return self->algorithm->is_searched && self->group->n_nodes > 1 && self->op != FAB_OP_BROADCAST
      && self->op != FAB_OP_REDUCE;
}

FabBytes
nccl_tree_ll128_chunk_bytes (const NcclCandidate *self)
{
  guint gpus = self->group->gpus_per_node;
  double depth = 1 + floor (log2 (self->group->n_nodes)) + 0.1 * gpus;
  FabBytes part = self->bytes / self->n_channels, chunk = step_bytes (self)[NCCL_LL128];

  while ((double) (part / chunk) < depth * 64 / gpus && chunk > 128 * KIB)
    chunk /= 2;
  while ((double) (part / chunk) < depth * 16 / gpus && chunk > 32 * KIB)
    chunk /= 2;
  return chunk;
}

/* A ring's chunk is the part of a rank in a channel. Simple sends up to four steps of the buffer in two slices, each of
 * at least 32 KiB (src/device/prims_simple.h). */
static FabBytes
ring_message_bytes (const NcclCandidate *self, guint *n_per_step)
{
  enum { SLICES = 2, STEPS_PER_SLICE = 2, LEAST_SLICE_BYTES = 32 * KIB };
  FabBytes part = MAX (self->bytes / ((FabBytes) self->n_ranks * self->n_channels), 1), most, bytes = part;

  if (self->protocol != NCCL_SIMPLE) {
    most = step_bytes (self)[self->protocol];
  } else {
    most = STEPS_PER_SLICE * step_bytes (self)[NCCL_SIMPLE];
    bytes = MAX (part / SLICES, MIN (part, LEAST_SLICE_BYTES));
  }
  bytes = MIN (bytes, most);
  *n_per_step = (guint) ((part + bytes - 1) / bytes);
  return bytes;
}

FabBytes
nccl_message_bytes (const NcclCandidate *self, guint *n_per_step)
{
  FabBytes bytes;

  *n_per_step = 1;
  if (self->algorithm->is_searched)
    bytes = ring_message_bytes (self, n_per_step);
  else if (self->protocol == NCCL_LL128)
    bytes = MIN (self->bytes / self->n_channels, nccl_tree_ll128_chunk_bytes (self));
  else
    bytes = MIN (self->bytes / self->n_channels, step_bytes (self)[self->protocol]);
  return (FabBytes) ((double) bytes * nccl_wire_factor (self, self->protocol));
}

const FabRendezvous *
nccl_rendezvous (const NcclCandidate *self)
{
  const FabLinkClass *port = self->wires != NULL ? self->wires->port : NULL;
  guint n_per_step;

  if (port == NULL || port->rendezvous.from_bytes == 0)
    return NULL;
  return nccl_message_bytes (self, &n_per_step) >= port->rendezvous.from_bytes ? &port->rendezvous : NULL;
}

double
nccl_handshakes_us (const NcclCandidate *self, guint n_steps)
{
  const FabRendezvous *rendezvous = nccl_rendezvous (self);

  if (rendezvous == NULL || self->protocol == NCCL_SIMPLE)
    return 0;
  return (double) rendezvous->handshake_ps / 1e6 * n_steps;
}

double
nccl_match_us (const NcclCandidate *self, const FabLinkClass *port)
{
  int matching = self->params->matching;
  gboolean is_software = matching == NCCL_MATCHING_AUTO ? self->group->cluster->has_software_matching
                                                        : matching == NCCL_MATCHING_SOFTWARE;

  return is_software && port != NULL ? (double) port->software_match_ps / 1e6 : 0;
}

double
nccl_step_match_us (const NcclCandidate *self)
{
  if (self->protocol == NCCL_SIMPLE || self->wires == NULL)
    return 0;
  return nccl_match_us (self, self->wires->port);
}

/* Time of a port for a message by rendezvous, shared by all rails; 0: the messages go eagerly. */
static double
port_message_us (const NcclCandidate *self)
{
  const FabRendezvous *rendezvous = nccl_rendezvous (self);

  if (rendezvous == NULL)
    return 0;
  return (double) (self->protocol == NCCL_LL ? rendezvous->host_message_ps : rendezvous->message_ps) / 1e6
       / self->form->n_channels;
}

/* Time in which a port and a processor have passed all messages of a ring. */
static double
ring_messages_us (const NcclCandidate *self)
{
  double us = MAX (port_message_us (self), nccl_step_match_us (self));
  double n_steps = fab_op_bus_factor (self->op, self->n_ranks) * self->n_ranks;
  guint n_per_step;

  nccl_message_bytes (self, &n_per_step);
  return us * n_steps * n_per_step * self->n_channels;
}

FabTimePs
nccl_messages_ps (const NcclCandidate *self, const FabCollectivePlan *plan)
{
  if (!nccl_is_round (self))
    return 0;
  return MAX (fab_seconds_to_ps (ring_messages_us (self) * 1e-6) - fab_collective_plan_idle_ps (plan), 0);
}
