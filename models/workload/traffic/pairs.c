/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/traffic/pairs.h"

#include "sim/base/mix.h"

static void
add_pair (TrafficDraw *draw, guint from, guint to)
{
  TrafficPair pair = { from, to, draw->params->bytes };

  if (from != to)
    g_array_append_val (draw->pairs, pair);
}

/* Below n, n > 0; the bias of 2^-32 x n is nobody's concern. */
static guint
draw_below (const TrafficDraw *draw, guint64 key, guint n)
{
  return (guint) (((fab_mix (draw->seed, key) >> 32) * n) >> 32);
}

/* Sattolo's shuffle: one cycle over all ranks, so that nobody sends to itself. */
static void
add_permutation (TrafficDraw *draw)
{
  g_autofree guint *to = g_new (guint, draw->n_ranks);

  for (guint i = 0; i < draw->n_ranks; i++)
    to[i] = i;
  for (guint i = draw->n_ranks - 1; i > 0; i--) {
    guint k = draw_below (draw, i, i), swapped = to[i];

    to[i] = to[k];
    to[k] = swapped;
  }
  for (guint i = 0; i < draw->n_ranks; i++)
    add_pair (draw, i, to[i]);
}

/* One rank of every other node, then the next of each; those of the target's own node last. */
static void
add_incast (TrafficDraw *draw)
{
  guint target = (guint) draw->params->target, n = draw->gpus_per_node, n_nodes = draw->n_ranks / n;
  guint wanted = draw->params->senders > 0 ? (guint) draw->params->senders : draw->n_ranks - 1;

  for (guint i = 0; i < n; i++)
    for (guint k = 1; k < n_nodes && draw->pairs->len < wanted; k++)
      add_pair (draw, (target / n + k) % n_nodes * n + (target + i) % n, target);
  for (guint i = 1; i < n && draw->pairs->len < wanted; i++)
    add_pair (draw, target / n * n + (target + i) % n, target);
}

static void
add_random (TrafficDraw *draw)
{
  guint n = draw->params->flows > 0 ? (guint) draw->params->flows : draw->n_ranks;

  for (guint i = 0; i < n; i++) {
    guint from = draw_below (draw, 2 * (guint64) i, draw->n_ranks);

    add_pair (draw, from,
              (from + 1 + draw_below (draw, 2 * (guint64) i + 1, draw->n_ranks - 1)) % draw->n_ranks);
  }
}

void
traffic_draw (TrafficDraw *draw)
{
  const TrafficParams *p = draw->params;
  guint n = draw->n_ranks, distance = p->distance > 0 ? (guint) p->distance : draw->gpus_per_node;

  switch ((TrafficPattern) p->pattern) {
  case TRAFFIC_PERMUTATION: add_permutation (draw); break;
  case TRAFFIC_INCAST: add_incast (draw); break;
  case TRAFFIC_RANDOM: add_random (draw); break;
  case TRAFFIC_SHIFT:
    for (guint i = 0; i < n; i++)
      add_pair (draw, i, (i + (distance < n ? distance : 1)) % n);
    break;
  case TRAFFIC_ALL_PAIRS:
    for (guint i = 0; i < n; i++)
      for (guint k = 1; k < n; k++)
        add_pair (draw, i, (i + k) % n);
    break;
  case TRAFFIC_PAIRS:
  default:
    for (guint i = 0; i < p->pairs.n; i++) {
      const TrafficPairParams *pair = (const TrafficPairParams *) p->pairs.data + i;

      add_pair (draw, (guint) pair->from, (guint) pair->to);
      if (pair->bytes > 0)
        g_array_index (draw->pairs, TrafficPair, draw->pairs->len - 1).bytes = pair->bytes;
    }
  }
}
