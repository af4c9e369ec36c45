/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/queue_lengths.h"

#include <math.h>

enum { LEAST_BYTES = 64, BINS_PER_DOUBLING = 8 };

static guint
bin_of (guint32 bytes)
{
  if (bytes == 0)
    return 0;
  return 1 + (guint) ceil (BINS_PER_DOUBLING * log2 ((double) MAX (bytes, LEAST_BYTES) / LEAST_BYTES));
}

void
fab_queue_lengths_add (FabQueueLengths *self, guint32 bytes, FabTimePs time_ps)
{
  self->time_ps[bin_of (bytes)] += time_ps;
}

void
fab_queue_lengths_merge (FabQueueLengths *self, const FabQueueLengths *other)
{
  for (guint i = 0; i < FAB_QUEUE_LENGTH_BINS; i++)
    self->time_ps[i] += other->time_ps[i];
}

FabBytes
fab_queue_lengths_percentile (const FabQueueLengths *self, double fraction)
{
  double all_ps = 0, below_ps = (double) self->time_ps[0];
  guint bin = 0;

  g_assert (fraction <= 1); /* so that the last bin is enough */
  for (guint i = 0; i < FAB_QUEUE_LENGTH_BINS; i++)
    all_ps += (double) self->time_ps[i];
  while (below_ps < fraction * all_ps)
    below_ps += (double) self->time_ps[++bin];
  return bin == 0 ? 0 : (FabBytes) (LEAST_BYTES * exp2 ((bin - 1) / (double) BINS_PER_DOUBLING) + 0.5);
}
