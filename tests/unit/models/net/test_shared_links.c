/* SPDX-License-Identifier: Apache-2.0 */
/* test_shared_links.c - to the picosecond, when messages and streams that share links end (models/net/step.c, fluid.c).
 *
 * Four GPUs on a switch, on links of one byte per picosecond.
 */
#include "tests/support/rig.h"
#include "tests/support/test.h"

static const FabNetOps *const nets[] = { &fab_net_fluid, &fab_net_step };

typedef struct {
  FabTimePs at_ps;
  guint from, to;     /* GPUs */
  FabBytes bytes;     /* 0 with `fraction`: none begins */
  double fraction;    /* that the links of GPU `from` keep from now on */
  FabTimePs ended_ps; /* expected */
} Event;

enum { MOST_EVENTS = 8 };

typedef struct {
  const Event *events;
  RigNet net;
  Rig *rig;
  FabTimePs ended_ps[MOST_EVENTS];
} Scene;

static void
note_end (gpointer owner, guint64 i)
{
  Scene *scene = owner;

  assert_int_equal (scene->ended_ps[i], -1);
  scene->ended_ps[i] = fab_engine_now (scene->net.engine);
}

static void
begin (gpointer owner, guint64 i)
{
  Scene *scene = owner;
  const Event *event = &scene->events[i];
  FabVertexId gpu = rig_gpu (scene->rig, event->from);

  if (event->fraction >= 0 && event->bytes == 0 && event->from == event->to) {
    for (FabLinkId link = 0; link < fab_graph_n_links (scene->rig->graph); link++)
      if (fab_graph_link (scene->rig->graph, link)->src == gpu)
        fab_net_set_capacity (scene->net.net, link, event->fraction);
    scene->ended_ps[i] = 0;
    return;
  }
  fab_net_send (scene->net.net, &(FabTransfer){ .src = gpu,
                                                .dst = rig_gpu (scene->rig, event->to),
                                                .bytes = event->bytes,
                                                .done = { note_end, scene, i } });
}

static void
assert_ends (const char *name, const Event *events, guint n)
{
  for (guint k = 0; k < G_N_ELEMENTS (nets); k++) {
    g_autoptr (Rig) rig = rig_new_flat (4);
    Scene scene = { .events = events, .rig = rig, .net = rig_net (rig, nets[k]) };

    g_assert (n <= MOST_EVENTS);
    for (guint i = 0; i < n; i++) {
      scene.ended_ps[i] = -1;
      fab_engine_at (scene.net.engine, events[i].at_ps, begin, &scene, i);
    }
    fab_engine_run (scene.net.engine);
    for (guint i = 0; i < n; i++)
      if (scene.ended_ps[i] != events[i].ended_ps)
        fail_msg ("%s, %s: message %u ended at %" G_GINT64_FORMAT, name, nets[k]->info.name, i,
                  scene.ended_ps[i]);
    rig_net_clear (&scene.net);
  }
}

#define ASSERT_ENDS(name, ...)                           \
  do {                                                   \
    static const Event events_[] = { __VA_ARGS__ };      \
    assert_ends (name, events_, G_N_ELEMENTS (events_)); \
  } while (0)

/* Links are full duplex. Two that meet have half each, from when the second begins until the first ends. */
static void
messages_that_meet_have_equal_parts (G_GNUC_UNUSED void **state)
{
  ASSERT_ENDS ("alone", { 7, 0, 1, 1000, 1, 1007 });
  ASSERT_ENDS ("nothing", { 7, 0, 1, 0, -1, 7 });
  ASSERT_ENDS ("to itself", { 7, 2, 2, 500, 1, 7 });
  ASSERT_ENDS ("both ways", { 0, 0, 1, 1000, 1, 1000 }, { 0, 1, 0, 600, 1, 600 });
  ASSERT_ENDS ("ring", { 0, 0, 1, 900, 1, 900 }, { 0, 1, 2, 901, 1, 901 }, { 0, 2, 0, 902, 1, 902 });
  ASSERT_ENDS ("two to one", { 0, 0, 1, 1000, 1, 2000 }, { 0, 2, 1, 1000, 1, 2000 });
  ASSERT_ENDS ("unequal", { 0, 0, 1, 1000, 1, 2000 }, { 0, 2, 1, 3000, 1, 4000 });
  ASSERT_ENDS ("from one", { 0, 0, 1, 1000, 1, 2000 }, { 0, 0, 2, 1000, 1, 2000 });
  ASSERT_ENDS ("later", { 0, 0, 1, 1000, 1, 1500 }, { 500, 2, 1, 1000, 1, 2000 });
  ASSERT_ENDS ("at the end", { 0, 0, 1, 1000, 1, 1000 }, { 1000, 2, 1, 1000, 1, 2000 });
  ASSERT_ENDS ("three", { 0, 0, 1, 1000, 1, 3000 }, { 0, 2, 1, 1000, 1, 3000 }, { 0, 3, 1, 1000, 1, 3000 });
  ASSERT_ENDS ("rounded up", { 0, 0, 1, 1, 1, 3 }, { 0, 2, 1, 1, 1, 3 }, { 0, 3, 1, 1, 1, 3 },
               { 3, 0, 1, 5, 1, 8 });
  /* Max-min: 0 to 1 has a third, and 2 to 3 what that and 2 to 1 leave. */
  ASSERT_ENDS ("two bottlenecks", { 0, 0, 1, 1000, 1, 2000 }, { 0, 2, 1, 500, 1, 1500 },
               { 0, 3, 1, 500, 1, 1500 }, { 0, 2, 3, 1000, 1, 1500 });
}

/* What is left of a message goes on at the rate that its link has now; a dead link carries nothing. */
static void
links_change_while_messages_are_on_them (G_GNUC_UNUSED void **state)
{
  ASSERT_ENDS ("slowed", { 0, 0, 1, 1000, 1, 1500 }, { 500, 0, 0, 0, 0.5, 0 });
  ASSERT_ENDS ("and back", { 0, 0, 1, 1000, 1, 1250 }, { 500, 0, 0, 0, 0.5, 0 }, { 1000, 0, 0, 0, 1, 0 });
  ASSERT_ENDS ("dead for a while", { 0, 0, 1, 1000, 1, 1300 }, { 500, 0, 0, 0, 0, 0 },
               { 800, 0, 0, 0, 1, 0 });
  ASSERT_ENDS ("before", { 100, 0, 1, 1000, 1, 4100 }, { 50, 0, 0, 0, 0.25, 0 });
  ASSERT_ENDS ("another link", { 0, 0, 1, 1000, 1, 1000 }, { 500, 2, 2, 0, 0.5, 0 });
  ASSERT_ENDS ("shared", { 0, 0, 1, 1000, 1, 3500 }, { 0, 0, 2, 1000, 1, 3500 }, { 500, 0, 0, 0, 0.5, 0 });
  /* 0 to 1 has a quarter of the link of 1, and 2 to 1 the rest. */
  ASSERT_ENDS ("unlike links", { 0, 0, 1, 1000, 1, 4000 }, { 0, 2, 1, 3000, 1, 4000 },
               { 0, 0, 0, 0, 0.25, 0 });
}

/* --- streams --- */

typedef struct {
  FabTimePs startup_ps;
  FabBytes bytes;
  double wire_factor, limit_bytes_per_ps; /* 0: none */
  guint share;
  FabTimePs ended_ps;
} Stream;

/* Streams from GPU 0 to GPU 1. */
static void
assert_streams (const char *name, const Stream *streams, guint n)
{
  for (guint k = 0; k < G_N_ELEMENTS (nets); k++) {
    g_autoptr (Rig) rig = rig_new_flat (2);
    g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (rig->graph);
    Scene scene = { .rig = rig, .net = rig_net (rig, nets[k]) };
    FabPath path = { 0 };

    assert_true (fab_router_append (rig->router, rig_gpu (rig, 0), rig_gpu (rig, 1), 0, &path));
    fab_footprint_builder_add (builder, &path, (FabUse){ 1, FAB_DRIVE_COPY, 1, 1, 1 });
    g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (builder);
    for (guint i = 0; i < n; i++) {
      scene.ended_ps[i] = -1;
      fab_net_stream (scene.net.net, &(FabStream){ .footprint = footprint,
                                                   .bytes = streams[i].bytes,
                                                   .startup_ps = streams[i].startup_ps,
                                                   .wire_factor = streams[i].wire_factor,
                                                   .limit_bytes_per_s = streams[i].limit_bytes_per_ps * 1e12,
                                                   .share = streams[i].share,
                                                   .done = { note_end, &scene, i } });
    }
    fab_engine_run (scene.net.engine);
    for (guint i = 0; i < n; i++)
      if (scene.ended_ps[i] != streams[i].ended_ps)
        fail_msg ("%s, %s: stream %u ended at %" G_GINT64_FORMAT, name, nets[k]->info.name, i,
                  scene.ended_ps[i]);
    rig_net_clear (&scene.net);
  }
}

#define ASSERT_STREAMS(name, ...)                             \
  do {                                                        \
    static const Stream streams_[] = { __VA_ARGS__ };         \
    assert_streams (name, streams_, G_N_ELEMENTS (streams_)); \
  } while (0)

/* A stream begins after its startup, sends more bytes than its payload where the protocol adds some, has a limit of its
 * own, and counts as several connections. */
static void
streams_have_a_startup_a_factor_a_limit_and_a_share (G_GNUC_UNUSED void **state)
{
  ASSERT_STREAMS ("startup", { 100, 1000, 1, 0, 1, 1100 });
  ASSERT_STREAMS ("no bytes", { 100, 0, 1, 0, 1, 100 });
  ASSERT_STREAMS ("a byte", { 100, 1, 1, 0, 1, 101 });
  ASSERT_STREAMS ("factor", { 0, 1000, 2, 0, 1, 2000 });
  ASSERT_STREAMS ("limit", { 0, 1000, 1, 0.25, 1, 4000 });
  ASSERT_STREAMS ("limit that does not bind", { 0, 1000, 2, 4, 1, 2000 });
  ASSERT_STREAMS ("meet", { 0, 1000, 1, 0, 1, 2000 }, { 0, 1000, 1, 0, 1, 2000 });
  ASSERT_STREAMS ("one begins later", { 500, 1000, 1, 0, 1, 2000 }, { 0, 1000, 1, 0, 1, 1500 });
  ASSERT_STREAMS ("one begins after", { 1000, 1000, 1, 0, 1, 2000 }, { 0, 1000, 1, 0, 1, 1000 });
  ASSERT_STREAMS ("share", { 0, 3000, 1, 0, 3, 4000 }, { 0, 1000, 1, 0, 1, 4000 });
  ASSERT_STREAMS ("factors meet", { 0, 1000, 2, 0, 1, 4000 }, { 0, 2000, 1, 0, 1, 4000 });
  ASSERT_STREAMS ("limit leaves room", { 0, 1000, 1, 0.25, 1, 4000 }, { 0, 3000, 1, 0, 1, 4000 });
  ASSERT_STREAMS ("limits fit", { 0, 1000, 1, 0.5, 1, 2000 }, { 300, 1000, 1, 0.5, 1, 2300 });
  ASSERT_STREAMS ("limits do not fit", { 0, 1000, 1, 0.75, 1, 2000 }, { 0, 1000, 1, 0.75, 1, 2000 });
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (messages_that_meet_have_equal_parts),
    cmocka_unit_test (links_change_while_messages_are_on_them),
    cmocka_unit_test (streams_have_a_startup_a_factor_a_limit_and_a_share),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
