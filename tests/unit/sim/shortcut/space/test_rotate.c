/* SPDX-License-Identifier: Apache-2.0 */
/* test_rotate.c - which rotations turn the lanes of schedules into each other, and which link is played for which.
 *
 * A machine has four nodes of four GPUs, each beside a NIC of its own. On every rail a ring of four lanes goes from
 * node to node. As it is, both rotations have four places, so that one lane stands for all sixteen. Each case tells
 * some of the lanes or links apart, and names the rotations that are left.
 */
#include "tests/support/test.h"

#include <string.h>

#include "sim/collective/play/schedule_parts.h"
#include "sim/shortcut/space/rotate.h"
#include "tests/support/rig.h"

enum { N = 4, MOST = 8, MOST_LINKS = 16 };

typedef enum {
  AS_IT_IS,
  WEIGHT,
  MESSAGES,
  LATENCY,
  DRIVE,
  KIND,
  DEVICE,
  TWICE,
  BACKWARDS,
  FREE,
  LINK_RATE,
  LINK_LATENCY,
  LINK_COUNT,
  LINK_JOINS,
  LINK_CLASS,
  BACK_RATE,
  BACK_LATENCY,
} Change;

/* The change holds for lanes (and the ports of their senders) from node n and of rail m where `where` says so. */
typedef struct {
  const char *name;
  Change change;
  gboolean (*where) (guint n, guint m);
  guint orders[2];               /* 0: no rotation holds */
  guint n_nodes, n_gpus, n_nics; /* 0: N */
  guint block;                   /* nodes of a ring; 0: all */
  guint stride;                  /* from a node to the one that it sends to; 0: 1 */
  gint64 nodes_per_leaf;
} Case;

static gboolean
on_rail_0 (G_GNUC_UNUSED guint n, guint m)
{
  return m == 0;
}

static gboolean
on_even_rails (G_GNUC_UNUSED guint n, guint m)
{
  return m % 2 == 0;
}

static gboolean
on_every_third_rail (G_GNUC_UNUSED guint n, guint m)
{
  return m % 3 == 0;
}

static gboolean
at_node_0 (guint n, G_GNUC_UNUSED guint m)
{
  return n == 0;
}

static gboolean
at_even_nodes (guint n, G_GNUC_UNUSED guint m)
{
  return n % 2 == 0;
}

static gboolean
at_first_half (guint n, G_GNUC_UNUSED guint m)
{
  return n < 3;
}

static gboolean
at_first_two (guint n, G_GNUC_UNUSED guint m)
{
  return n < 2;
}

static gboolean
at_first_four (guint n, G_GNUC_UNUSED guint m)
{
  return n < 4;
}

static gboolean
at_one_place (guint n, guint m)
{
  return n == 2 && m == 1;
}

/* A network that plays equal lines alike, but for one link. */
typedef struct {
  FabNet base; /* first: what the operations are given */
  FabLinkId other;
  guint most_sharers;
} AlikeNet;

static gboolean
plays_alike (const FabNet *net, FabLinkId link, guint n_sharers)
{
  const AlikeNet *self = (const AlikeNet *) net;

  return link != self->other && n_sharers <= self->most_sharers;
}

static const FabNetOps alike_ops = { .plays_alike = plays_alike };

static AlikeNet
alike_net (const Rig *rig)
{
  return (
      AlikeNet){ { .ops = &alike_ops, .env = { NULL, rig->graph, rig->router, 1 } }, FAB_NO_LINK, G_MAXUINT };
}

static Case
filled (const Case *self)
{
  Case made = *self;

  made.n_nodes = made.n_nodes > 0 ? made.n_nodes : N;
  made.n_gpus = made.n_gpus > 0 ? made.n_gpus : N;
  made.n_nics = made.n_nics > 0 ? made.n_nics : made.n_gpus;
  made.block = made.block > 0 ? made.block : made.n_nodes;
  made.stride = made.stride > 0 ? made.stride : 1;
  return made;
}

static Rig *
rig_of (const Case *self)
{
  return rig_new (&(RigSpec){ .n_nodes = self->n_nodes,
                              .gpus_per_node = self->n_gpus,
                              .nics_per_node = self->n_nics,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S / 10,
                              .gpu_latency_ps = 50,
                              .nic_latency_ps = 70,
                              .nodes_per_leaf = self->nodes_per_leaf });
}

static gboolean
is_changed (const Case *self, Change change, guint n, guint m)
{
  return self->change == change && self->where (n, m);
}

static void
change_hop (const Case *self, guint n, guint m, FabHop *hop)
{
  hop->latency_ps += is_changed (self, LATENCY, n, m);
  hop->drive = is_changed (self, DRIVE, n, m) ? FAB_DRIVE_KERNEL : FAB_DRIVE_COPY;
  if (is_changed (self, DEVICE, n, m))
    hop->device_stretch = 2; /* GPUs have ten times the rate of the ports */
  hop->kind = is_changed (self, KIND, n, m) ? FAB_HOP_NET_HOST : FAB_HOP_NET;
}

/* Of the sender's port. */
static void
change_link (const Case *self, const Rig *rig, guint n, guint m, FabLinkId port)
{
  FabLink *link = &rig->graph->links[port], *back = &rig->graph->links[link->reverse];

  link->rate_bytes_per_s += is_changed (self, LINK_RATE, n, m);
  link->latency_ps += is_changed (self, LINK_LATENCY, n, m);
  if (is_changed (self, LINK_COUNT, n, m))
    link->count++;
  link->joins_groups = is_changed (self, LINK_JOINS, n, m) ? 1u : 0u;
  if (is_changed (self, LINK_CLASS, n, m))
    link->class_index--;
  back->rate_bytes_per_s += is_changed (self, BACK_RATE, n, m);
  back->latency_ps += is_changed (self, BACK_LATENCY, n, m);
}

/* The node that comes after another one in its ring. */
static guint
next_node (const Case *self, guint n, guint step)
{
  return n / self->block * self->block + (n + step) % self->block;
}

static FabHop
hop_of (const Case *self, const Rig *rig, guint n, guint m)
{
  FabGroup group = rig_group (rig);
  FabHop hop;

  assert_true (fab_hop_ranks (&group, n * self->n_gpus + m,
                              next_node (self, n, self->stride) * self->n_gpus + m, &hop, NULL));
  return hop;
}

static void
change_links (const Case *self, const Rig *rig)
{
  for (guint n = 0; n < self->n_nodes; n++)
    for (guint m = 0; m < self->n_gpus; m++) {
      FabHop hop = hop_of (self, rig, n, m);

      change_link (self, rig, n, m, hop.out_port);
      fab_hop_clear (&hop);
    }
}

static FabSchedule *
schedule_of (const Case *self, const Rig *rig)
{
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);
  guint width = self->n_gpus;

  change_links (self, rig);
  for (guint n = 0; n < self->n_nodes; n++)
    for (guint m = 0; m < width; m++) {
      FabHop hop = hop_of (self, rig, n, m);

      change_hop (self, n, m, &hop);
      fab_schedule_lane (schedule, &hop, 1, is_changed (self, WEIGHT, n, m) ? 2 : 1,
                         is_changed (self, MESSAGES, n, m) ? 11 : 10);
    }
  for (guint n = 0; n < self->n_nodes; n++)
    for (guint m = 0; m < width; m++) {
      guint step = is_changed (self, BACKWARDS, n, m) ? self->stride : self->block - self->stride;

      if (!is_changed (self, FREE, n, m))
        fab_schedule_depend (schedule, n * width + m, next_node (self, n, step) * width + m, 1);
      if (is_changed (self, TWICE, n, m))
        fab_schedule_depend (schedule, n * width + m, next_node (self, n, 2) * width + m, 1);
    }
  return schedule;
}

/* The links of one lane. */
typedef struct {
  FabLinkId links[MOST_LINKS];
  guint n;
} Way;

static Way
way_of (const Rig *rig, const FabSchedule *schedule, guint lane)
{
  const FabHop *hop = &fab_schedule_lane_at (schedule, lane)->hop;
  Way way = { .n = 0 };

  for (guint i = 0; i < hop->n_legs; i++) {
    FabPath path = { 0 };

    assert_true (
        fab_router_append (rig->router, hop->legs[i].src, hop->legs[i].dst, hop->legs[i].flow_hash, &path));
    memcpy (way.links + way.n, path.links, path.n * sizeof *path.links);
    way.n += path.n;
  }
  return way;
}

static GArray *
ways_of (const Rig *rig, const FabSchedule *schedule)
{
  GArray *ways = g_array_new (FALSE, FALSE, sizeof (Way));

  for (guint l = 0; l < fab_schedule_n_lanes (schedule); l++) {
    Way way = way_of (rig, schedule, l);

    g_array_append_val (ways, way);
  }
  return ways;
}

/* Whether `by` turns turn one way into the other, link by link. Links that stay are in both. */
static gboolean
is_turned (const FabRotation *rotation, const Way *from, const Way *to)
{
  guint by = G_MAXUINT;

  for (guint i = 0; i < from->n; i++) {
    FabLinkId a = from->links[i], b = to->links[i];
    guint32 turn = fab_rotation_between (rotation, a, b);

    if (rotation->stands_for[a] != rotation->stands_for[b])
      return FALSE;
    if (rotation->stays[a] != 0)
      continue;
    if (by != G_MAXUINT && by != turn)
      return FALSE;
    by = turn;
  }
  return from->n == to->n;
}

/* Every lane that there was is one of those that were kept, turned. */
static void
assert_turned (const Rig *rig, const FabSchedule *schedule, const GArray *ways)
{
  for (guint w = 0; w < ways->len; w++) {
    guint n_found = 0;

    for (guint l = 0; l < fab_schedule_n_lanes (schedule); l++) {
      Way kept = way_of (rig, schedule, l);

      n_found += is_turned (schedule->rotation, &kept, &g_array_index (ways, Way, w));
    }
    assert_int_equal (n_found, 1);
  }
}

/* Links of one orbit are in a circle, each with a turn of its own; those that no lane crosses stand for themselves. */
static void
assert_orbits (const FabRotation *self, const GArray *ways)
{
  g_autofree gboolean *is_crossed = g_new0 (gboolean, self->n_links);

  for (guint w = 0; w < ways->len; w++)
    for (guint i = 0; i < g_array_index (ways, Way, w).n; i++)
      is_crossed[g_array_index (ways, Way, w).links[i]] = TRUE;
  for (FabLinkId link = 0; link < self->n_links; link++) {
    guint n = 1, n_places = is_crossed[link] ? self->orders[0] * self->orders[1] : 1;

    if (self->stays[link] & FAB_ROTATION_STAYS_IN_FIRST)
      n_places /= self->orders[0];
    if (self->stays[link] & FAB_ROTATION_STAYS_IN_SECOND)
      n_places /= self->orders[1];
    assert_true (self->stands_for[link] <= link);
    assert_int_equal (self->turn[self->stands_for[link]], 0);
    for (FabLinkId other = self->next[link]; other != link; other = self->next[other], n++) {
      assert_int_equal (self->stands_for[other], self->stands_for[link]);
      assert_true (self->turn[other] != self->turn[link]);
    }
    assert_int_equal (n, n_places);
  }
}

static void
assert_case (const Case *asked)
{
  const Case self = filled (asked);
  g_autoptr (Rig) rig = rig_of (&self);
  g_autoptr (FabSchedule) schedule = schedule_of (&self, rig);
  g_autoptr (GArray) ways = ways_of (rig, schedule);
  AlikeNet net = alike_net (rig);
  guint n_lanes = fab_schedule_n_lanes (schedule), product = self.orders[0] * self.orders[1];
  gboolean is_kept = fab_schedules_rotate (
      &(FabRotateSpec){ .net = &net.base, .schedules = &schedule, .n = 1 });

  if (is_kept != (product > 0))
    fail_msg ("%s: %d", self.name, is_kept);
  if (!is_kept) {
    assert_null (schedule->rotation);
    assert_int_equal (fab_schedule_n_lanes (schedule), n_lanes);
    return;
  }
  if (schedule->rotation->orders[0] != self.orders[0] || schedule->rotation->orders[1] != self.orders[1])
    fail_msg ("%s: %u and %u places", self.name, schedule->rotation->orders[0],
              schedule->rotation->orders[1]);
  assert_int_equal (fab_schedule_n_lanes (schedule), n_lanes / product);
  assert_int_equal (fab_schedule_n_alike (schedule), n_lanes - n_lanes / product);
  assert_orbits (schedule->rotation, ways);
  assert_turned (rig, schedule, ways);
}

static void
lanes_that_are_told_apart_do_not_turn_into_each_other (G_GNUC_UNUSED void **state)
{
  static const Case cases[] = {
    { .name = "as it is", .orders = { N, N } },
    { .name = "one rail", .change = WEIGHT, .where = on_rail_0, .orders = { 1, N } },
    { .name = "even rails", .change = WEIGHT, .where = on_even_rails, .orders = { 2, N } },
    { .name = "one node", .change = WEIGHT, .where = at_node_0, .orders = { N, 1 } },
    { .name = "even nodes", .change = WEIGHT, .where = at_even_nodes, .orders = { N, 2 } },
    { .name = "one lane", .change = WEIGHT, .where = at_one_place },
    { .name = "messages", .change = MESSAGES, .where = on_rail_0, .orders = { 1, N } },
    { .name = "latency", .change = LATENCY, .where = on_rail_0, .orders = { 1, N } },
    { .name = "drive", .change = DRIVE, .where = on_rail_0, .orders = { 1, N } },
    { .name = "kind", .change = KIND, .where = on_rail_0, .orders = { 1, N } },
    { .name = "losses at the GPU", .change = DEVICE, .where = on_rail_0, .orders = { 1, N } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_case (&cases[i]);
}

/* A lane that waits for nothing tells the whole ring behind it apart. One that waits for the lane before it cannot be
 * told from one that waits for the lane behind it, but does not turn into it. */
static void
lanes_that_wait_otherwise_do_not_turn_into_each_other (G_GNUC_UNUSED void **state)
{
  static const Case cases[] = {
    { .name = "for two lanes", .change = TWICE, .where = on_rail_0, .orders = { 1, N } },
    { .name = "for those behind", .change = BACKWARDS, .where = on_rail_0, .orders = { 1, N } },
    { .name = "for nothing", .change = FREE, .where = on_rail_0, .orders = { 1, N } },
    { .name = "nodes wait for nothing", .change = FREE, .where = at_node_0, .orders = { N, 1 } },
    { .name = "one waits for nothing", .change = FREE, .where = at_one_place },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_case (&cases[i]);
}

static void
links_that_differ_do_not_turn_into_each_other (G_GNUC_UNUSED void **state)
{
  static const Change changes[] = { LINK_RATE,  LINK_LATENCY, LINK_COUNT,  LINK_JOINS,
                                    LINK_CLASS, BACK_RATE,    BACK_LATENCY };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++) {
    assert_case (&(Case){ .name = "a rail", .change = changes[i], .where = on_rail_0, .orders = { 1, N } });
    assert_case (&(Case){ .name = "a node", .change = changes[i], .where = at_node_0, .orders = { N, 1 } });
  }
}

/* Of six rails or nodes, each other one is 3 x 2 alike, and each third one 2 x 3. Three nodes and three others turn in
 * blocks of three, as do rings over three nodes. GPUs that share a NIC wait for each other there, so that they do not
 * turn: all of them, or each with the one two places on. */
static void
the_largest_rotation_is_taken (G_GNUC_UNUSED void **state)
{
  static const Case cases[] = {
    { .name = "six rails", .orders = { 6, N }, .n_gpus = 6 },
    { .name = "each other rail", .change = WEIGHT, .where = on_even_rails, .orders = { 3, N }, .n_gpus = 6 },
    { .name = "each third rail",
      .change = WEIGHT,
      .where = on_every_third_rail,
      .orders = { 2, N },
      .n_gpus = 6 },
    { .name = "six nodes", .orders = { N, 6 }, .n_nodes = 6 },
    { .name = "each other node", .change = WEIGHT, .where = at_even_nodes, .orders = { N, 3 }, .n_nodes = 6 },
    { .name = "rings of three nodes", .orders = { N, 3 }, .n_nodes = 6, .block = 3 },
    { .name = "rings of two nodes", .orders = { N, 3 }, .n_nodes = 6, .block = 2 },
    { .name = "two rings of three nodes",
      .change = WEIGHT,
      .where = at_first_half,
      .orders = { N, 3 },
      .n_nodes = 6,
      .block = 3 },
    { .name = "one rail", .orders = { 1, N }, .n_gpus = 1 },
    { .name = "one NIC", .orders = { 1, N }, .n_nics = 1 },
    { .name = "two NICs", .orders = { 1, N }, .n_nics = 2 },
    { .name = "one rail of two nodes", .orders = { 1, 2 }, .n_gpus = 1, .n_nodes = 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_case (&cases[i]);
}

/* A link whose rate will change, and one over which the network does not play equal lines alike. */
static void
links_that_are_like_no_others_do_not_turn (G_GNUC_UNUSED void **state)
{
  const Case self = filled (&(Case){ .name = "apart" });

  for (guint i = 0; i < 4; i++) {
    g_autoptr (Rig) rig = rig_of (&self);
    g_autoptr (FabSchedule) schedule = schedule_of (&self, rig);
    FabLinkId apart[] = { FAB_NO_LINK, fab_schedule_lane_at (schedule, 5)->hop.out_port };
    AlikeNet net = alike_net (rig);

    net.other = i == 3 ? apart[1] : FAB_NO_LINK;
    assert_int_equal (
        fab_schedules_rotate (&(FabRotateSpec){
            .net = &net.base, .schedules = &schedule, .n = 1, .apart = apart, .n_apart = i % 3 }),
        i < 2);
  }
}

/* Schedules that may be played at the same time turn together: beside a ring on one rail, the rails of the other
 * schedule do not turn either. */
static void
schedules_turn_together (G_GNUC_UNUSED void **state)
{
  const Case all = filled (&(Case){ .name = "all rails" });
  const Case heavy = filled (&(Case){ .name = "heavy rail", .change = WEIGHT, .where = on_rail_0 });

  for (guint i = 0; i < 2; i++) {
    g_autoptr (Rig) rig = rig_of (&all);
    g_autoptr (FabSchedule) first = schedule_of (&all, rig),
                            second = schedule_of (i == 0 ? &all : &heavy, rig);
    FabSchedule *both[] = { first, second };
    AlikeNet net = alike_net (rig);

    assert_true (fab_schedules_rotate (&(FabRotateSpec){ .net = &net.base, .schedules = both, .n = 2 }));
    for (guint k = 0; k < 2; k++) {
      assert_int_equal (fab_schedule_n_lanes (both[k]), i == 0 ? 1 : N);
      assert_int_equal (both[k]->rotation->orders[0], i == 0 ? N : 1);
    }
    assert_ptr_equal (first->rotation, second->rotation);
  }
}

/* Chains of two messages on every rail, of which the second waits until the first has arrived, or on one rail until it
 * has left. What all lanes carry is known after they were folded. */
static void
departures_are_not_arrivals (G_GNUC_UNUSED void **state)
{
  const Case self = filled (&(Case){ .name = "chains" });

  for (guint i = 0; i < 2; i++) {
    g_autoptr (Rig) rig = rig_of (&self);
    g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
    FabGroup group = rig_group (rig);
    AlikeNet net = alike_net (rig);

    for (guint lane = 0; lane < 2 * N * N; lane++) {
      FabHop hop;
      guint from = lane % (N * N), step = lane / (N * N) + 1;

      assert_true (fab_hop_ranks (&group, from, (from + step * N) % (N * N), &hop, NULL));
      fab_schedule_lane (schedule, &hop, 1, 0.5, 1);
      if (step == 2 && i == 1 && from % N == 0)
        fab_schedule_depend_on_departure (schedule, lane, from);
      else if (step == 2)
        fab_schedule_depend (schedule, lane, from, 0);
    }
    assert_true (fab_schedules_rotate (&(FabRotateSpec){ .net = &net.base, .schedules = &schedule, .n = 1 }));
    assert_int_equal (schedule->rotation->orders[0], i == 0 ? N : 1);
    assert_int_equal (schedule->rotation->orders[1], N);
    assert_int_equal (fab_schedule_n_lanes (schedule), i == 0 ? 2 : 2 * N);
    for (guint l = 0; l < schedule->total->n; l++) /* two lanes of half a byte a byte over every port */
      assert_near (schedule->total->weights[l], 1, 1e-12);
  }
}

/* Two nodes are on one leaf, of which the first two send more, and every node sends to the one two further on. So nodes
 * of one leaf change places, and share its two links to the spine; those of four rails are 8 up and 8 down. */
static void
nodes_share_a_bundle_that_has_a_link_for_each (G_GNUC_UNUSED void **state)
{
  const Case row = { .name = "leaves",
                     .change = WEIGHT,
                     .where = at_first_two,
                     .orders = { N, 2 },
                     .stride = 2,
                     .nodes_per_leaf = 2 };

  assert_case (&row);
  for (guint i = 0; i < 3; i++) {
    const Case self = filled (&row);
    g_autoptr (Rig) rig = rig_of (&self);
    g_autoptr (FabSchedule) schedule = schedule_of (&self, rig);
    AlikeNet net = alike_net (rig);

    net.most_sharers = i == 1 ? 1 : 2;
    for (FabLinkId link = 0; i == 2 && link < fab_graph_n_links (rig->graph); link++)
      rig->graph->links[link].count = 1;
    assert_true (fab_schedules_rotate (&(FabRotateSpec){ .net = &net.base, .schedules = &schedule, .n = 1 }));
    assert_int_equal (schedule->rotation->orders[0], N);
    assert_int_equal (schedule->rotation->orders[1], i == 0 ? 2 : 1);
    assert_int_equal (schedule->rotation->n_shared, i == 0 ? 16 : 0);
    for (guint k = 0; k < schedule->rotation->n_shared; k++) {
      const FabLink *link = fab_graph_link (rig->graph, schedule->rotation->shared[k]);

      assert_int_equal (fab_rotation_sharers (schedule->rotation, schedule->rotation->shared[k]), 2);
      assert_int_equal (fab_graph_vertex (rig->graph, link->src)->node, FAB_NO_NODE);
      assert_int_equal (fab_graph_vertex (rig->graph, link->dst)->node, FAB_NO_NODE);
    }
  }
}

/* Eight nodes, four on a leaf, whose four links to the spine are now two: two nodes of a leaf may share them, but not
 * four. */
static void
a_smaller_rotation_is_taken_where_a_bundle_is_too_narrow (G_GNUC_UNUSED void **state)
{
  const Case self = filled (&(Case){ .name = "narrow",
                                     .change = WEIGHT,
                                     .where = at_first_four,
                                     .n_nodes = 8,
                                     .stride = 4,
                                     .nodes_per_leaf = 4 });

  for (guint count = 4; count > 0; count /= 2) {
    g_autoptr (Rig) rig = rig_of (&self);
    g_autoptr (FabSchedule) schedule = schedule_of (&self, rig);
    AlikeNet net = alike_net (rig);

    for (FabLinkId link = 0; link < fab_graph_n_links (rig->graph); link++)
      if (rig->graph->links[link].count > 1)
        rig->graph->links[link].count = count & 7;
    assert_true (fab_schedules_rotate (&(FabRotateSpec){ .net = &net.base, .schedules = &schedule, .n = 1 }));
    assert_int_equal (schedule->rotation->orders[0], N);
    assert_int_equal (schedule->rotation->orders[1], count);
    assert_int_equal (fab_schedule_n_lanes (schedule), 8 / count);
  }
}

/* Bytes that half take another way have no path that could be turned. */
static void
lanes_that_are_spread_do_not_turn (G_GNUC_UNUSED void **state)
{
  const Case self = filled (&(Case){ .name = "spread" });
  g_autoptr (Rig) rig = rig_of (&self);
  g_autoptr (FabSchedule) schedule = schedule_of (&self, rig);
  AlikeNet net = alike_net (rig);

  for (guint l = 0; l < N * N; l++)
    g_array_index (fab_schedule_lane_at (schedule, l)->hop.shares, FabShare, 0).fraction = 0.5;
  assert_false (fab_schedules_rotate (&(FabRotateSpec){ .net = &net.base, .schedules = &schedule, .n = 1 }));
  assert_int_equal (fab_schedule_n_lanes (schedule), N * N);
}

enum { CHAIN = 6 };

/* Two chains from every GPU to the one of the next node, of lanes that wait for one another. Of one chain the lane
 * `where` sends more. At odd nodes it is the second one. */
static FabSchedule *
two_chains (const Case *self, const Rig *rig, guint where)
{
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);

  for (guint lane = 0; lane < 2 * N * N * CHAIN; lane++) {
    guint place = lane / (2 * CHAIN), chain = lane % 2, n = place / N;
    FabHop hop = hop_of (self, rig, n, place % N);
    gboolean is_more = lane / 2 % CHAIN == where && chain == n % 2;

    fab_schedule_lane (schedule, &hop, 1, is_more ? 2 : 1, 5);
    if (lane / 2 % CHAIN > 0)
      fab_schedule_depend (schedule, lane, lane - 2, 1);
  }
  return schedule;
}

/* What tells two chains apart is seen from their other ends: five lanes away. */
static void
lanes_are_told_apart_by_what_is_far_from_them (G_GNUC_UNUSED void **state)
{
  const Case self = filled (&(Case){ .name = "chains" });

  for (guint where = 0; where < CHAIN; where++) {
    g_autoptr (Rig) rig = rig_of (&self);
    g_autoptr (FabSchedule) schedule = two_chains (&self, rig, where);
    AlikeNet net = alike_net (rig);

    assert_true (fab_schedules_rotate (&(FabRotateSpec){ .net = &net.base, .schedules = &schedule, .n = 1 }));
    assert_int_equal (schedule->rotation->orders[0], N);
    assert_int_equal (schedule->rotation->orders[1], N);
    assert_int_equal (fab_schedule_n_lanes (schedule), 2 * CHAIN);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (lanes_that_are_told_apart_do_not_turn_into_each_other),
    cmocka_unit_test (lanes_that_wait_otherwise_do_not_turn_into_each_other),
    cmocka_unit_test (links_that_differ_do_not_turn_into_each_other),
    cmocka_unit_test (the_largest_rotation_is_taken),
    cmocka_unit_test (links_that_are_like_no_others_do_not_turn),
    cmocka_unit_test (schedules_turn_together),
    cmocka_unit_test (departures_are_not_arrivals),
    cmocka_unit_test (nodes_share_a_bundle_that_has_a_link_for_each),
    cmocka_unit_test (a_smaller_rotation_is_taken_where_a_bundle_is_too_narrow),
    cmocka_unit_test (lanes_that_are_spread_do_not_turn),
    cmocka_unit_test (lanes_are_told_apart_by_what_is_far_from_them),
  };

  return cmocka_run_group_tests_name ("rotate", tests, NULL, NULL);
}
