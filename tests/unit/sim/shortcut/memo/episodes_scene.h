/* SPDX-License-Identifier: Apache-2.0 */
/* episodes_scene.h - collectives that begin at given times on a network on which a stream of b bytes takes b ps
 * whatever else goes on (fake_net.h). So their ends say nothing of how they were found: how many streams the networks
 * were given does.
 */
#pragma once

#include "tests/support/test.h"

#include "sim/shortcut/memo/episodes.h"
#include "tests/support/fake_net.h"

typedef struct _Scene Scene;

struct _Scene {
  Rig *rig;
  FakeNets nets;
  FabEngine *engine, *net_engine;
  FabNet *net;
  FabEpisodes *episodes;
  GPtrArray *plans; /* FabCollectivePlan */
  GPtrArray *footprints;
  GPtrArray *begins;
  GString *ends; /* "a100 b250 " */
};

typedef struct {
  Scene *scene;
  FabEpisodeInput input;
  const char *name;
  gboolean stops;              /* the engine, when it ends */
  void (*then) (Scene *scene); /* is called when it has ended; NULL: nothing is */
} Begin;

/* The networks are changed before the episodes are made. */
static inline Scene *
scene_new (void)
{
  Scene *self = g_new0 (Scene, 1);

  self->rig = rig_new_flat (6);
  self->nets = fake_nets ();
  self->nets.ops.is_separable = NULL;
  self->engine = fab_engine_new ();
  self->net_engine = fab_engine_new ();
  self->plans = g_ptr_array_new_with_free_func (g_free);
  self->footprints = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_footprint_free);
  self->begins = g_ptr_array_new_with_free_func (g_free);
  self->ends = g_string_new (NULL);
  return self;
}

static inline void
scene_open (Scene *self, gboolean remembers)
{
  self->net = fake_net_new (&self->nets, self->net_engine, self->rig);
  self->episodes = fab_episodes_new (self->engine, self->net, &self->nets, remembers);
}

/* What shares no link is apart. */
static inline Scene *
scene_apart (void)
{
  Scene *self = scene_new ();

  self->nets.ops.is_separable = fake_nets ().ops.is_separable;
  scene_open (self, TRUE);
  return self;
}

static inline void
scene_free (Scene *self)
{
  fab_episodes_free (self->episodes);
  fab_net_destroy (self->net);
  fab_engine_free (self->engine);
  fab_engine_free (self->net_engine);
  g_ptr_array_unref (self->plans);
  g_ptr_array_unref (self->footprints);
  g_ptr_array_unref (self->begins);
  g_string_free (self->ends, TRUE);
  rig_free (self->rig);
  g_free (self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Scene, scene_free)

/* A plan over n links from `first` on. */
static inline FabCollectivePlan *
plan (Scene *self, FabBytes bytes, FabLinkId first, guint n)
{
  FabCollectivePlan *added = g_new0 (FabCollectivePlan, 1);
  FabFootprint *footprint = fab_footprint_new (n);

  for (guint i = 0; i < n; i++) {
    footprint->links[i] = first + i;
    footprint->weights[i] = footprint->line_weights[i] = 1;
  }
  footprint->n = n;
  footprint->rate_bytes_per_s = footprint->line_bound_bytes_per_s = 1e12;
  *added = (FabCollectivePlan){
    .bytes = bytes, .footprint = footprint, .wire_factor = 1, .n_connections = 1
  };
  g_ptr_array_add (self->plans, added);
  g_ptr_array_add (self->footprints, footprint);
  return added;
}

static inline void
note_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  const Begin *what = owner;

  g_string_append_printf (what->scene->ends, "%s%" G_GINT64_FORMAT " ", what->name,
                          fab_engine_now (what->scene->engine));
  if (what->then != NULL)
    what->then (what->scene);
  if (what->stops)
    fab_engine_stop (what->scene->engine);
}

static inline void
begin (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Begin *what = owner;

  fab_episodes_begin (what->scene->episodes, &what->input, (FabDone){ note_end, what, 0 });
}

static inline Begin *
begin_at (Scene *self, FabTimePs at_ps, const char *name, const FabCollectivePlan *what)
{
  Begin *added = g_new0 (Begin, 1);

  *added = (Begin){ self, { .plan = what }, name, FALSE, NULL };
  g_ptr_array_add (self->begins, added);
  fab_engine_at (self->engine, at_ps, begin, added, 0);
  return added;
}

static inline FabEpisodesCount
play (Scene *self, const char *ends)
{
  fab_engine_run (self->engine);
  assert_string_equal (self->ends->str, ends);
  return fab_episodes_count (self->episodes);
}

/* All bytes on the line are payload. */
static inline double
carried (Scene *self, FabLinkId link)
{
  g_autofree FabLinkLoad *loads = g_new (FabLinkLoad, fab_graph_n_links (self->rig->graph) + 1);

  fab_meter_take (fab_episodes_meter (self->episodes), loads);
  assert_near (loads[link].line_bytes, loads[link].payload_bytes, 1e-12);
  return loads[link].payload_bytes;
}

/* "400/300/2 ": what link 0 carried, its longest queue and how many waited. For fab_engine_at (). */
static inline void
ask_queues (gpointer owner, guint64 most_bytes)
{
  Scene *self = owner;
  g_autofree FabLinkQueue *queues = fab_episodes_link_queues (self->episodes);

  g_string_append_printf (self->ends, "%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT "/%" G_GUINT64_FORMAT " ",
                          (gint64) queues[0].carried_bytes, (gint64) queues[0].most_bytes,
                          queues[0].n_stalls);
  assert_int_equal (queues[0].most_bytes, most_bytes);
}
