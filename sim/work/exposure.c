/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/exposure.h"

#include <stdlib.h>
#include <string.h>

/* Fractions of a ps: any share among 1 to 7 dimensions, and within it among 1 to 9 operations, is a whole number of
 * them. */
#define DIMENSION_PARTS 420 /* least common multiple of 1 to 7 */
#define OP_PARTS 2520       /* least common multiple of 1 to 9 */

G_STATIC_ASSERT (FAB_N_DIMENSIONS <= 7 && FAB_N_OPS <= 9);

typedef struct {
  FabTimePs time_ps;
  FabDimension dimension;
  FabOp op;
  gint change; /* of the number of active collectives */
} Edge;

/* What is active at an instant, and the sums until then. */
typedef struct {
  guint n_talks[FAB_N_DIMENSIONS][FAB_N_OPS];
  guint n_ops[FAB_N_DIMENSIONS]; /* number of operations with active collectives */
  guint n_dimensions;            /* number of dimensions with active operations */
  FabTimePs comm_ps[FAB_N_DIMENSIONS][FAB_N_OPS];
  __int128 exposed_parts[FAB_N_DIMENSIONS][FAB_N_OPS];
} Sweep;

static gint
compare_edges (gconstpointer a, gconstpointer b)
{
  const Edge *x = a, *y = b;

  return x->time_ps < y->time_ps ? -1 : x->time_ps > y->time_ps;
}

static GArray *
make_edges (const GArray *talks)
{
  GArray *edges = g_array_sized_new (FALSE, FALSE, sizeof (Edge), 2 * talks->len);

  for (guint i = 0; i < talks->len; i++) {
    const FabTalk *talk = &g_array_index (talks, FabTalk, i);
    Edge start = { talk->start_ps, talk->dimension, talk->op, 1 };
    Edge end = { talk->end_ps, talk->dimension, talk->op, -1 };

    if (talk->start_ps >= talk->end_ps)
      continue;
    g_array_append_val (edges, start);
    g_array_append_val (edges, end);
  }
  g_array_sort (edges, compare_edges);
  return edges;
}

static void
pass_edge (Sweep *self, const Edge *edge)
{
  guint *n_talks = &self->n_talks[edge->dimension][edge->op];
  guint *n_ops = &self->n_ops[edge->dimension];
  gboolean had_talk = *n_talks > 0, had_op = *n_ops > 0;

  *n_talks += edge->change;
  *n_ops += (*n_talks > 0) - had_talk;
  self->n_dimensions += (*n_ops > 0) - had_op;
}

/* Adds an interval in which nothing begins or ends. */
static void
pass_time (Sweep *self, FabTimePs length_ps, FabTimePs exposed_ps)
{
  for (guint d = 0; d < FAB_N_DIMENSIONS; d++)
    for (guint op = 0; op < FAB_N_OPS && self->n_ops[d] > 0; op++) {
      if (self->n_talks[d][op] == 0)
        continue;
      self->comm_ps[d][op] += length_ps;
      self->exposed_parts[d][op] += (__int128) exposed_ps * (DIMENSION_PARTS / self->n_dimensions)
                                  * (OP_PARTS / self->n_ops[d]);
    }
}

/* Edges at the same time may come in any order, because no time lies between them. */
static void
sweep_edges (Sweep *self, const GArray *edges, const FabIntervalSet *compute)
{
  for (guint i = 0; i < edges->len; i++) {
    const Edge *edge = &g_array_index (edges, Edge, i);
    FabTimePs since_ps = i > 0 ? edge[-1].time_ps : edge->time_ps, length_ps = edge->time_ps - since_ps;

    if (length_ps > 0 && self->n_dimensions > 0)
      pass_time (self, length_ps, length_ps - fab_interval_set_within_ps (compute, since_ps, edge->time_ps));
    pass_edge (self, edge);
  }
}

void
fab_exposure_split (const GArray *talks, const FabIntervalSet *compute,
                    FabTalkTimes times[FAB_N_DIMENSIONS][FAB_N_OPS])
{
  g_autoptr (GArray) edges = make_edges (talks);
  __int128 sum = 0, given = 0;
  Sweep sweep;

  memset (&sweep, 0, sizeof sweep);
  sweep_edges (&sweep, edges, compute);
  for (guint d = 0; d < FAB_N_DIMENSIONS; d++)
    for (guint op = 0; op < FAB_N_OPS; op++) {
      sum += sweep.exposed_parts[d][op];
      __int128 until = sum / (DIMENSION_PARTS * OP_PARTS);
      times[d][op] = (FabTalkTimes){ sweep.comm_ps[d][op], (FabTimePs) (until - given) };
      given = until;
    }
}
