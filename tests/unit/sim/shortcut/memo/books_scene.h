/* SPDX-License-Identifier: Apache-2.0 */
/* books_scene.h - the books of a network on which a stream of b bytes takes b ps (fake_net.h), for tests of what is
 * known of its episodes.
 */
#pragma once

#include "tests/support/test.h"

#include "sim/shortcut/memo/episode_books.h"
#include "tests/support/fake_net.h"
#include "tests/support/rig.h"

typedef struct {
  Rig *rig;
  FakeNets nets;
  FabEngine *engine, *net_engine;
  FabNet *net;
  FabEpisodeBooks books;
  GPtrArray *plans;      /* FabCollectivePlan */
  GPtrArray *footprints; /* FabFootprint */
} Scene;

static inline gboolean
trace_nothing (G_GNUC_UNUSED FabNet *net, G_GNUC_UNUSED const FabLeg *legs, G_GNUC_UNUSED guint n_legs,
               G_GNUC_UNUSED const FabFootprint *footprint, G_GNUC_UNUSED GArray *links)
{
  return TRUE;
}

typedef enum {
  KIND_WHOLE,  /* nothing is apart */
  KIND_APART,  /* what shares no link is apart from the start */
  KIND_TRACES, /* it may be, once all collectives are known */
} Kind;

static inline void
scene_init (Scene *self, Kind kind)
{
  *self = (Scene){ .rig = rig_new_flat (6),
                   .nets = fake_nets (),
                   .engine = fab_engine_new (),
                   .net_engine = fab_engine_new (),
                   .plans = g_ptr_array_new_with_free_func (g_free),
                   .footprints = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_footprint_free) };
  if (kind == KIND_WHOLE)
    self->nets.ops.is_separable = NULL;
  if (kind == KIND_TRACES)
    self->nets.ops.trace = trace_nothing;
  self->nets.tolerance = 1e-3;
  self->net = fake_net_new (&self->nets, self->net_engine, self->rig);
  fab_episode_books_init (&self->books, self->engine, self->net, &self->nets, TRUE);
}

static inline void
scene_clear (Scene *self)
{
  fab_episode_books_clear (&self->books);
  fab_net_destroy (self->net);
  fab_engine_free (self->engine);
  fab_engine_free (self->net_engine);
  g_ptr_array_unref (self->plans);
  g_ptr_array_unref (self->footprints);
  rig_free (self->rig);
}

/* A plan over links that ascend. */
static inline FabCollectivePlan *
plan_over (Scene *self, FabBytes bytes, const FabLinkId *links, guint n)
{
  FabCollectivePlan *plan = g_new0 (FabCollectivePlan, 1);
  FabFootprint *footprint = fab_footprint_new (n);

  for (guint i = 0; i < n; i++) {
    footprint->links[i] = links[i];
    footprint->weights[i] = footprint->line_weights[i] = 1;
  }
  footprint->n = n;
  footprint->rate_bytes_per_s = footprint->line_bound_bytes_per_s = 1e12;
  footprint->binding_link = links[0];
  footprint->binding_weight = 1;
  *plan = (FabCollectivePlan){ .algorithm = "made",
                               .protocol = "made",
                               .n_ranks = 2,
                               .bytes = bytes,
                               .footprint = footprint,
                               .wire_factor = 1,
                               .n_connections = 1 };
  g_ptr_array_add (self->plans, plan);
  g_ptr_array_add (self->footprints, footprint);
  return plan;
}

#define PLAN(scene, bytes, ...)                                \
  plan_over (scene, bytes, (const FabLinkId[]){ __VA_ARGS__ }, \
             G_N_ELEMENTS (((const FabLinkId[]){ __VA_ARGS__ })))

static inline guint32
number_of (Scene *self, const FabCollectivePlan *plan)
{
  return fab_episode_books_plan (&self->books, &(FabEpisodeInput){ .plan = plan });
}

static inline GArray *
list (const guint32 *numbers, guint n)
{
  return g_array_append_vals (g_array_new (FALSE, FALSE, sizeof *numbers), numbers, n);
}

static inline FabWarmUp
warm_up_new (FabTimePs duration_ps)
{
  return (FabWarmUp){ .duration_ps = duration_ps,
                      .meter = g_array_new (FALSE, FALSE, sizeof (FabMeterEntry)),
                      .late = g_array_new (FALSE, FALSE, sizeof (FabMeterEntry)),
                      .queues = g_array_new (FALSE, FALSE, sizeof (FabLaneQueue)),
                      .skips = g_array_new (FALSE, FALSE, sizeof (FabSkip)) };
}

static inline void
warm_up_clear (FabWarmUp *self)
{
  g_array_unref (self->meter);
  g_array_unref (self->late);
  g_array_unref (self->queues);
  g_array_unref (self->skips);
}

/* A collective that was played alone. */
static inline void
scene_learn (Scene *self, guint32 number, FabTimePs duration_ps, guint64 n_events)
{
  FabWarmUp warm_up = warm_up_new (duration_ps);

  warm_up.n_events = n_events;
  fab_episode_books_learn (&self->books, number, &warm_up);
  warm_up_clear (&warm_up);
}
