/* SPDX-License-Identifier: Apache-2.0 */
/* test_lane_classes.c - which lanes of schedules are of one class, and what the lane that is played for them puts
 * on links.
 *
 * Every GPU is on one switch, by a link up to it and a link down from it that carry a byte per ps. Lane l goes from
 * GPU l to the next one, over the link up from the one and the link down to the other. As it is, all lanes are
 * alike.
 */
#include "tests/support/test.h"

#include "sim/collective/play/schedule_parts.h"
#include "sim/shortcut/space/fold.h"
#include "tests/support/rig.h"

enum { N = 8, MOST_LANES = 200, LATENCY_PS = 100 };

/* Lanes wait for nothing, for the lane before them in one ring or in rings of so many, also for the one before that, or
 * for the lane before them from the second one on: until its message has arrived or has left. */
typedef enum { NOTHING, RING, TWO_BEFORE, ARRIVAL, DEPARTURE } Waits;

typedef enum {
  AS_IT_IS,
  WEIGHT,
  DIGIT,
  MESSAGES,
  LATENCY,
  KIND,
  UP_RATE,
  DOWN_RATE,
  APART,
  ONE_APART
} Change;

/* The change holds for every so many lanes. DIGIT: a weight differs in its last digit. */
typedef struct {
  const char *name;
  Waits waits;
  Change change;
  guint every;
  guint n_classes;
  guint n, n_in_ring; /* lanes, and those of a ring; 0: N, and all */
  FabBytesPerS rate;  /* of links that change; 0: twice the others */
  FabTimePs steps_ps; /* of the use */
  double limit_bytes_per_s;
  gboolean is_once;
  gboolean is_fast_up; /* links up are twice as fast as those down, and it is they that are apart */
} Case;

static FabLinkId
link_of (const Rig *rig, guint rank, gboolean is_up)
{
  FabVertexId gpu = rig_gpu (rig, rank);

  for (FabLinkId link = 0; link < fab_graph_n_links (rig->graph); link++)
    if ((is_up ? rig->graph->links[link].src : rig->graph->links[link].dst) == gpu)
      return link;
  fail_msg ("rank %u has no link", rank);
  return FAB_NO_LINK;
}

static Rig *
star (guint n)
{
  return rig_new (&(RigSpec){
      .n_nodes = 1, .gpus_per_node = n, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = LATENCY_PS / 2 });
}

/* A lane from one GPU to another one. */
static guint
add_lane (FabSchedule *schedule, const Rig *rig, guint from, guint to, double weight, guint n_messages)
{
  FabGroup group = rig_group (rig);
  FabHop hop;

  assert_true (fab_hop_ranks (&group, from, to, &hop, NULL));
  return fab_schedule_lane (schedule, &hop, 1, weight, n_messages);
}

static gboolean
is_changed (const Case *self, Change change, guint l)
{
  return self->change == change && l % self->every == 0;
}

static void
change_rates (const Case *self, const Rig *rig, guint n)
{
  FabBytesPerS rate = self->rate > 0 ? self->rate : 2 * (FabBytesPerS) FAB_PS_PER_S;

  for (guint l = 0; l < n; l++) {
    if (is_changed (self, UP_RATE, l) || self->is_fast_up)
      rig->graph->links[link_of (rig, l, TRUE)].rate_bytes_per_s = rate;
    if (is_changed (self, DOWN_RATE, l))
      rig->graph->links[link_of (rig, (l + 1) % n, FALSE)].rate_bytes_per_s = rate;
  }
}

static FabSchedule *
make_schedule (const Case *self, const Rig *rig, guint n)
{
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);
  guint n_in_ring = self->n_in_ring > 0 ? self->n_in_ring : n;

  change_rates (self, rig, n);
  for (guint l = 0; l < n; l++) {
    FabScheduleLane *lane;

    add_lane (schedule, rig, l, (l + 1) % n,
              is_changed (self, WEIGHT, l)  ? 2
              : is_changed (self, DIGIT, l) ? nextafter (1, 0)
                                            : 1,
              self->waits < ARRIVAL ? 10 + is_changed (self, MESSAGES, l) : 1);
    lane = fab_schedule_lane_at (schedule, l);
    lane->hop.latency_ps += is_changed (self, LATENCY, l);
    if (is_changed (self, KIND, l))
      lane->hop.kind = FAB_HOP_NET;
  }
  for (guint l = 0; l < n && self->waits != NOTHING; l++) {
    guint first = l / n_in_ring * n_in_ring, before = first + (l - first + n_in_ring - 1) % n_in_ring;

    if (self->waits == RING || self->waits == TWO_BEFORE)
      fab_schedule_depend (schedule, l, before, 1);
    if (self->waits == TWO_BEFORE)
      fab_schedule_depend (schedule, l, first + (l - first + n_in_ring - 2) % n_in_ring, 1);
    if (self->waits == ARRIVAL && l > first)
      fab_schedule_depend (schedule, l, before, 0);
    if (self->waits == DEPARTURE && l > first)
      fab_schedule_depend_on_departure (schedule, l, before);
  }
  return schedule;
}

static guint
count_classes (const Case *self)
{
  guint n = self->n > 0 ? self->n : N, n_apart = 0;
  g_autoptr (Rig) rig = star (n);
  g_autoptr (FabSchedule) schedule = make_schedule (self, rig, n);
  FabFoldUse use = { schedule, self->is_once, self->limit_bytes_per_s, self->steps_ps };
  FabLinkId apart[MOST_LANES];

  for (guint l = 0; l < n; l++)
    if (is_changed (self, APART, l) || (self->change == ONE_APART && l == self->every))
      apart[n_apart++] = link_of (rig, l, self->is_fast_up);
  fab_schedules_fold (rig->graph,
                      &(FabFoldSpec){ .uses = &use, .n_uses = 1, .apart = apart, .n_apart = n_apart });
  assert_int_equal (fab_schedule_n_lanes (schedule) + fab_schedule_n_alike (schedule), n);
  return fab_schedule_n_lanes (schedule);
}

static void
assert_classes (const Case *cases, guint n)
{
  for (guint i = 0; i < n; i++)
    if (count_classes (&cases[i]) != cases[i].n_classes)
      fail_msg ("%s: %u classes", cases[i].name, count_classes (&cases[i]));
}

#define ASSERT_CLASSES(cases) assert_classes (cases, G_N_ELEMENTS (cases))

/* In a ring the distance to a lane that differs tells lanes apart, unless nothing waits. */
static void
what_differs_tells_lanes_apart (G_GNUC_UNUSED void **state)
{
  const Case cases[] = {
    { "rings are alike", RING, AS_IT_IS, 1, .n_classes = 1 },
    { "lanes that wait for nothing are alike", NOTHING, AS_IT_IS, 1, .n_classes = 1 },
    { "every second weight", RING, WEIGHT, 2, .n_classes = 2 },
    { "the last digit of a weight", RING, DIGIT, 2, .n_classes = 1 },
    { "every fourth weight", RING, WEIGHT, 4, .n_classes = 4 },
    { "one weight", RING, WEIGHT, N, .n_classes = N },
    { "one weight that nobody waits for", NOTHING, WEIGHT, N, .n_classes = 2 },
    { "messages", RING, MESSAGES, 4, .n_classes = 4 },
    { "latency", RING, LATENCY, 4, .n_classes = 4 },
    { "latency of two lanes", NOTHING, LATENCY, 4, .n_classes = 2 },
    { "kind", RING, KIND, 2, .n_classes = 2 },
    { "slower links up", RING, UP_RATE, 4, .n_classes = 4, .rate = FAB_PS_PER_S / 2 },
    { "slower links down", RING, DOWN_RATE, 4, .n_classes = 4, .rate = FAB_PS_PER_S / 2 },
    { "two rings of four, one weight", RING, WEIGHT, N, .n_classes = 5, .n_in_ring = 4 },
    { "two rings of four, one weight each", RING, WEIGHT, 4, .n_classes = 4, .n_in_ring = 4 },
    { "a row", ARRIVAL, AS_IT_IS, 1, .n_classes = N },
    { "a row in which each waits for a departure", DEPARTURE, AS_IT_IS, 1, .n_classes = N },
    { "two rows", ARRIVAL, AS_IT_IS, 1, .n_classes = 4, .n_in_ring = 4 },
    { "a long row of which each is told apart in one round", ARRIVAL, AS_IT_IS, 1, .n_classes = 50, .n = 100,
      .n_in_ring = 50 },
    { "two long rings, each round looks twice as far", RING, WEIGHT, 64, .n_classes = 64, .n = 128,
      .n_in_ring = 64 },
    { "two before, 2 x 30 lanes", TWO_BEFORE, WEIGHT, 30, .n_classes = 30, .n = 60, .n_in_ring = 30 },
    /* It takes half as many rounds as a ring has lanes until each is told apart, and 40 at most. */
    { "two before, 2 x 80 lanes", TWO_BEFORE, WEIGHT, 80, .n_classes = 80, .n = 160, .n_in_ring = 80 },
    { "two before, 2 x 82 lanes", TWO_BEFORE, WEIGHT, 82, .n_classes = 164, .n = 164, .n_in_ring = 82 },
  };

  ASSERT_CLASSES (cases);
}

/* Where every step takes as long as any wire, latencies tell nothing apart: 10 steps of 101 ps. */
static void
latencies_matter_where_a_step_is_shorter (G_GNUC_UNUSED void **state)
{
  const Case cases[] = {
    { "a step as long as the longest wire", RING, LATENCY, 4, .n_classes = 1, .steps_ps = 1010 },
    { "a step that is shorter", RING, LATENCY, 4, .n_classes = 4, .steps_ps = 1009 },
    { "no ring", NOTHING, LATENCY, 4, .n_classes = 2, .steps_ps = 1010 },
    { "steps of any length, other messages", RING, MESSAGES, 4, .n_classes = 4, .steps_ps = 100000 },
    { "hops of any kind", RING, KIND, 4, .n_classes = 1, .steps_ps = 1010 },
  };

  ASSERT_CLASSES (cases);
}

/* A link down that is faster than the one up is never full first, and it is the same how much faster. Of links that are
 * as fast the one with the lower number counts. */
static void
links_that_hold_back_nothing_tell_nothing_apart (G_GNUC_UNUSED void **state)
{
  const Case cases[] = {
    { "faster links down", NOTHING, DOWN_RATE, 2, .n_classes = 1 },
    { "faster links up", NOTHING, UP_RATE, 2, .n_classes = 1 },
    { "apart", NOTHING, APART, N, .n_classes = 2 },
    { "all are apart from each other", NOTHING, APART, 2, .n_classes = 5 },
    { "the last one is apart", NOTHING, ONE_APART, N - 1, .n_classes = 2 },
    { "with room for all", NOTHING, AS_IT_IS, 1, .n_classes = 1, .is_once = TRUE, .is_fast_up = TRUE },
    { "the first one with room is apart", NOTHING, APART, N, .n_classes = 2, .is_once = TRUE,
      .is_fast_up = TRUE },
    { "the last one with room is apart", NOTHING, ONE_APART, N - 1, .n_classes = 2, .is_once = TRUE,
      .is_fast_up = TRUE },
    { "apart in a ring", RING, APART, N, .n_classes = N },
  };

  ASSERT_CLASSES (cases);
}

/* --- links that lanes share --- */

enum { MOST_SENDS = 8, MOST_KEPT = 4 };

typedef struct {
  guint from, to;
} Send;

/* What a lane that is played puts on a link. */
typedef struct {
  guint lane, rank; /* rank: whose link, or N + the rank for its link down */
  double weight;
} Put;

typedef struct {
  const char *name;
  Send sends[MOST_SENDS]; /* to 0 from 0: there are no more */
  FabBytesPerS up_0;      /* rate of the link up from GPU 0; 0: as the others */
  FabFoldUse use;         /* without a schedule */
  gboolean is_ring;       /* lanes wait for themselves */
  double cost;            /* bytes on the line per byte; 0: 1 */
  Put puts[MOST_KEPT];    /* of the lanes that are played; weight 0: there are no more */
  guint n_classes;
} Shared;

static FabSchedule *
send_all (const Rig *rig, const Send *sends, gboolean is_ring)
{
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);

  for (guint i = 0; i < MOST_SENDS && sends[i].from != sends[i].to; i++)
    add_lane (schedule, rig, sends[i].from, sends[i].to, 1, 4);
  for (guint l = 0; l < schedule->lanes->len && is_ring; l++)
    fab_schedule_depend (schedule, l, l, 1);
  return schedule;
}

static void
assert_shared (const Shared *self)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 1,
                                             .gpus_per_node = N,
                                             .gpu_bytes_per_s = FAB_PS_PER_S,
                                             .gpu_latency_ps = LATENCY_PS / 2,
                                             .gpu_cost = self->cost });
  FabFoldUse use = self->use;

  if (self->up_0 > 0)
    rig->graph->links[link_of (rig, 0, TRUE)].rate_bytes_per_s = self->up_0;
  g_autoptr (FabSchedule) schedule = use.schedule = send_all (rig, self->sends, self->is_ring);
  fab_schedules_fold (rig->graph, &(FabFoldSpec){ .uses = &use, .n_uses = 1 });
  if (fab_schedule_n_lanes (schedule) != self->n_classes)
    fail_msg ("%s: %u classes", self->name, fab_schedule_n_lanes (schedule));
  for (guint i = 0, at = 0; i < MOST_KEPT && self->puts[i].weight > 0; i++) {
    const Put *put = &self->puts[i];
    const FabFootprint *footprint = fab_schedule_lane_at (schedule, put->lane)->footprint;

    at = i > 0 && put->lane == self->puts[i - 1].lane ? at + 1 : 0;
    if (at >= footprint->n || footprint->links[at] != link_of (rig, put->rank % N, put->rank < N)
        || footprint->weights[at] != put->weight || footprint->line_weights[at] != put->weight)
      fail_msg ("%s: put %u is %g on link %u", self->name, i, footprint->weights[at], footprint->links[at]);
    assert_near (footprint->rate_bytes_per_s, FAB_PS_PER_S, 1e-12);
    assert_near (footprint->line_bound_bytes_per_s, FAB_PS_PER_S, 1e-12);
    assert_near (footprint->binding_weight, 1, 1e-12);
  }
}

/* All lanes of a class together are on the links that stand for theirs. */
static void
lanes_that_share_links_are_of_other_classes (G_GNUC_UNUSED void **state)
{
  const FabBytesPerS rate = FAB_PS_PER_S;
  const Shared cases[] = {
    { "two share a link up, two do not", { { 0, 1 }, { 0, 2 }, { 3, 4 }, { 5, 6 } }, .n_classes = 2 },
    { "two share a link down, two do not", { { 1, 0 }, { 2, 0 }, { 3, 4 }, { 5, 6 } }, .n_classes = 2 },
    { "three each",
      { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 4, 5 }, { 4, 6 }, { 4, 7 } },
      .puts = { { 0, N + 1, 1 }, { 0, 0, 3 } },
      .n_classes = 1 },
    { "three each, of links up that are full together with the link down, whose number is lower",
      { { 1, 0 }, { 2, 0 }, { 3, 0 }, { 5, 4 }, { 6, 4 }, { 7, 4 } },
      .puts = { { 0, N, 3 } },
      .n_classes = 1 },
    { "all of two to all of two, so that links up and down are alike",
      { { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 } },
      .puts = { { 0, N + 2, 2 } },
      .n_classes = 1 },
    /* Where twice as much fits, the link holds back nobody, but only of a collective that is played once at a time. */
    { "twice as fast",
      { { 0, 1 }, { 0, 2 }, { 3, 4 }, { 5, 6 } },
      2 * rate,
      { .is_once = TRUE },
      .n_classes = 2 },
    { "faster than both",
      { { 0, 1 }, { 0, 2 }, { 3, 4 }, { 5, 6 } },
      2 * rate + 3000,
      { .is_once = TRUE },
      .n_classes = 1 },
    { "two on a link that is faster, and two on one that is not",
      { { 0, 1 }, { 0, 2 }, { 3, 4 }, { 3, 5 } },
      3 * rate,
      .n_classes = 2 },
    { "two lanes that take half of the rate, but the whole link each",
      { { 0, 1 }, { 0, 2 }, { 3, 4 }, { 5, 6 } },
      .use = { .is_once = TRUE },
      .cost = 2,
      .n_classes = 2 },
    { "of which there may be more",
      { { 0, 1 }, { 0, 2 }, { 3, 4 }, { 5, 6 } },
      2 * rate + 3000,
      .n_classes = 2 },
    /* Four messages of a ring at a limit of 1/8 of the rate for each byte: two lanes fill a link. */
    { "a limit that just fills it",
      { { 0, 1 }, { 0, 2 }, { 3, 4 }, { 5, 6 } },
      0,
      { .is_once = TRUE, .limit_bytes_per_s = (double) rate / 8 },
      TRUE,
      .n_classes = 2 },
    { "a lower limit",
      { { 0, 1 }, { 0, 2 }, { 3, 4 }, { 5, 6 } },
      0,
      { .is_once = TRUE, .limit_bytes_per_s = (double) rate / 8.001 },
      TRUE,
      .n_classes = 1 },
    { "a limit of what is no ring",
      { { 0, 1 }, { 0, 2 }, { 3, 4 }, { 5, 6 } },
      0,
      { .is_once = TRUE, .limit_bytes_per_s = (double) rate / 8.001 },
      .n_classes = 2 },
    { "a limit of what may be played twice",
      { { 0, 1 }, { 0, 2 }, { 3, 4 }, { 5, 6 } },
      0,
      { .limit_bytes_per_s = (double) rate / 8.001 },
      TRUE,
      .n_classes = 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_shared (&cases[i]);
}

/* Streams that may run beside tell apart the lanes of the links that they cross. */
static void
streams_tell_lanes_apart (G_GNUC_UNUSED void **state)
{
  static const struct {
    double on[2][3]; /* [stream][link up of a GPU] weights */
    guint n_classes;
  } cases[] = {
    { { { 0 } }, 1 },
    { { { 1 } }, 2 },
    { { { 1, 1 } }, 2 },
    { { { 1, 2 } }, 3 },
    { { { 1, 0 }, { 0, 1 } }, 3 },
    { { { 1, 1 }, { 0, 0, 1 } }, 3 },
    { { { 1, 1 }, { 0, 1, 1 } }, 4 },
  };
  const Case as_it_is = { .change = AS_IT_IS }, with_room = { .change = AS_IT_IS, .is_fast_up = TRUE };

  for (guint c = 0; c < 3 * G_N_ELEMENTS (cases); c++) {
    gboolean has_room = c % 3 == 2;
    g_autoptr (Rig) rig = star (N);
    g_autoptr (FabSchedule) schedule = make_schedule (has_room ? &with_room : &as_it_is, rig, N);
    FabFoldUse use = { .schedule = schedule, .is_once = has_room };
    g_autoptr (FabFootprint) first = fab_footprint_new (3), second = fab_footprint_new (3);
    FabFootprint *streams[] = { first, second };
    gboolean is_up = c % 3 != 1; /* links down are left out where no stream crosses them */

    for (guint s = 0; s < 2; s++)
      for (guint rank = 0; rank < 3; rank++)
        if (cases[c / 3].on[s][rank] > 0) {
          streams[s]->links[streams[s]->n] = link_of (rig, rank, is_up);
          streams[s]->line_weights[streams[s]->n++] = cases[c / 3].on[s][rank];
        }
    fab_schedules_fold (rig->graph, &(FabFoldSpec){ .uses = &use,
                                                    .n_uses = 1,
                                                    .streams = (const FabFootprint *const *) streams,
                                                    .n_streams = 2 });
    if (fab_schedule_n_lanes (schedule) != cases[c / 3].n_classes)
      fail_msg ("%u: %u classes", c, fab_schedule_n_lanes (schedule));
  }
}

/* Schedules are folded together: what tells lanes of one apart tells those of the other apart on the same links. */
static void
schedules_agree_on_links (G_GNUC_UNUSED void **state)
{
  const Case as_it_is = { .waits = RING }, changed = { .waits = RING, .change = WEIGHT, .every = 4 };
  const Case *const cases[][2] = { { &as_it_is, &as_it_is },
                                   { &changed, &as_it_is },
                                   { &as_it_is, &changed } };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    g_autoptr (Rig) rig = star (N);
    g_autoptr (FabSchedule) first = make_schedule (cases[c][0], rig, N),
                            second = make_schedule (cases[c][1], rig, N);
    const FabFoldUse uses[] = { { .schedule = first }, { .schedule = second } };

    fab_schedules_fold (rig->graph, &(FabFoldSpec){ .uses = uses, .n_uses = 2 });
    assert_int_equal (fab_schedule_n_lanes (first), c == 0 ? 1 : 4);
    assert_int_equal (fab_schedule_n_lanes (second), c == 0 ? 1 : 4);
    assert_int_equal (fab_schedule_n_messages (first), cases[c][0] == &changed ? 40 : c == 0 ? 10 : 40);
    for (guint l = 0, n = fab_schedule_n_lanes (second); l < n;
         l++) /* the first link of each class stands for all */
      assert_int_equal (fab_schedule_lane_at (second, l)->footprint->links[0],
                        link_of (rig, (l + 1) % n, FALSE));
  }
}

/* On other links another schedule is folded by itself. */
static void
schedules_on_other_links_do_not_meet (G_GNUC_UNUSED void **state)
{
  const Send low[MOST_SENDS] = { { 0, 1 }, { 0, 2 }, { 3, 1 } },
             high[MOST_SENDS] = { { 4, 5 }, { 5, 6 }, { 6, 7 }, { 7, 4 } };
  g_autoptr (Rig) rig = star (N);
  g_autoptr (FabSchedule) first = send_all (rig, low, FALSE), second = send_all (rig, high, TRUE);
  const FabFoldUse uses[] = { { .schedule = first }, { .schedule = second } };

  fab_schedules_fold (rig->graph, &(FabFoldSpec){ .uses = uses, .n_uses = 2 });
  assert_int_equal (fab_schedule_n_lanes (first), 3);
  assert_int_equal (fab_schedule_n_lanes (second), 1);
}

/* What the links carry is that of all lanes, however many are left, and whether they were folded once or twice: here
 * 1/8 of the bytes in each of four messages, at two bytes on the line for each. */
static void
what_all_lanes_carry_is_kept (G_GNUC_UNUSED void **state)
{
  enum { N_LANES = 6 };
  const Send sends[N_LANES] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 4, 5 }, { 4, 6 }, { 4, 7 } };
  g_autoptr (Rig) rig = rig_new (
      &(RigSpec){ .n_nodes = 1, .gpus_per_node = N, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_cost = 2 });
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  const FabLinkId apart[] = { link_of (rig, 0, TRUE) };
  FabFoldUse use = { .schedule = schedule };

  for (guint i = 0; i < N_LANES; i++)
    add_lane (schedule, rig, sends[i].from, sends[i].to, 0.125, 4);
  for (guint pass = 0; pass < 2; pass++) {
    guint n_apart = 1 - pass;

    fab_schedules_fold (rig->graph,
                        &(FabFoldSpec){ .uses = &use, .n_uses = 1, .apart = apart, .n_apart = n_apart });
    assert_int_equal (fab_schedule_n_lanes (schedule), 1 + n_apart);
    assert_int_equal (fab_schedule_n_alike (schedule), N_LANES - 1 - n_apart);
    assert_int_equal (schedule->total->n, 2 + N_LANES);
    for (guint i = 0; i < schedule->total->n; i++) {
      FabLinkId link = schedule->total->links[i];
      guint n_lanes = link == link_of (rig, 0, TRUE) || link == link_of (rig, 4, TRUE) ? 3 : 1;

      assert_true (i == 0 || link > schedule->total->links[i - 1]);
      assert_true (link != link_of (rig, 0, FALSE) && link != link_of (rig, 4, FALSE));
      assert_near (schedule->total->weights[i], 0.5 * n_lanes, 1e-12);
      assert_near (schedule->total->line_weights[i], 2 * 0.5 * n_lanes, 1e-12);
    }
  }
}

/* Of lanes of one class one dependency is enough, unless they differ in what is waited for. */
static void
one_dependency_on_a_class_is_enough (G_GNUC_UNUSED void **state)
{
  enum { N_SENDERS = 4 };

  for (guint kind = 0; kind < 3; kind++) {
    g_autoptr (Rig) rig = star (N);
    g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
    FabFoldUse use = { .schedule = schedule };

    for (guint l = 0; l < N; l++)
      add_lane (schedule, rig, l, (l + 1) % N, 1, 1);
    for (guint l = N_SENDERS; l < N; l++)
      for (guint from = 0; from < N_SENDERS; from++)
        if (kind == 1 && from % 2 == 1)
          fab_schedule_depend_on_departure (schedule, l, from);
        else
          fab_schedule_depend (schedule, l, from, kind == 2 && from % 2 == 1);
    fab_schedules_fold (rig->graph, &(FabFoldSpec){ .uses = &use, .n_uses = 1 });
    assert_int_equal (fab_schedule_n_lanes (schedule), 2);
    assert_int_equal (schedule->n_lists, 1);
    assert_int_equal (schedule->dependencies->len, kind == 0 ? 1 : 2);
    assert_int_equal (fab_schedule_lane_at (schedule, 0)->list, FAB_NO_LIST);
    assert_int_equal (fab_schedule_lane_at (schedule, 1)->list, 0);
    for (guint i = 0; i < schedule->dependencies->len; i++) {
      const FabDependency *dependency = fab_schedule_dependency_at (schedule, i);

      assert_int_equal (dependency->from, 0);
      assert_int_equal (dependency->list, 0);
      assert_int_equal (dependency->offset, kind == 2 && i == 1);
      assert_int_equal (dependency->is_departure, kind == 1 && i == 1);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_differs_tells_lanes_apart),
    cmocka_unit_test (latencies_matter_where_a_step_is_shorter),
    cmocka_unit_test (links_that_hold_back_nothing_tell_nothing_apart),
    cmocka_unit_test (lanes_that_share_links_are_of_other_classes),
    cmocka_unit_test (streams_tell_lanes_apart),
    cmocka_unit_test (schedules_agree_on_links),
    cmocka_unit_test (schedules_on_other_links_do_not_meet),
    cmocka_unit_test (what_all_lanes_carry_is_kept),
    cmocka_unit_test (one_dependency_on_a_class_is_enough),
  };

  return cmocka_run_group_tests_name ("lane_classes", tests, NULL, NULL);
}
