/* SPDX-License-Identifier: Apache-2.0 */
/* prop_longest.c - the longest way through a schedule, and what messages of a step do to their ports, held against all
 * pairs of messages: random lanes between nodes of one GPU and one NIC, which wait for each other.
 *
 * The step of a message is one more than those of all that it waits for. All messages of a step use their ports at
 * once: the one of the sender, into the fabric, and the one of the receiver, out of it. What the sender receives, or
 * the receiver sends, comes the other way.
 */
#include "tests/support/test.h"

#include "tests/support/rig.h"
#include "tests/support/seeds.h"

enum { N_NODES = 5, MOST_LANES = 12, MOST_MESSAGES = 6, BYTES = 1000 };

typedef struct {
  guint from, to, n_messages;
  double weight;
} Lane;

/* Message k of `lane` waits for message k - offset of `from`; offset is 0 or 1. */
typedef struct {
  guint lane, from, offset;
} Wait;

typedef struct {
  Lane lanes[MOST_LANES];
  guint n_lanes;
  Wait waits[4 * MOST_LANES * MOST_LANES];
  guint n_waits;
  guint likes[MOST_LANES]; /* the lane whose waits it shares; itself: none */
  guint steps[MOST_LANES][MOST_MESSAGES];
  double ends[MOST_LANES][MOST_MESSAGES];
} Plan;

static guint n_rings, n_others; /* plans of which all steps are alike, and others */

/* --- what is planned --- */

static gboolean
has_waits (const Plan *plan, guint lane)
{
  for (guint w = 0; w < plan->n_waits; w++)
    if (plan->waits[w].lane == lane)
      return TRUE;
  return FALSE;
}

/* Single messages wait for what one before them waits for. */
static void
draw_likes (Random *random, Plan *plan)
{
  guint n_waits = plan->n_waits;

  for (guint i = 0; i < plan->n_lanes; i++) {
    guint other = random_below (random, i + 1);

    if (plan->likes[other] != other || other == i || has_waits (plan, i))
      continue;
    plan->likes[i] = other;
    for (guint w = 0; w < n_waits; w++)
      if (plan->waits[w].lane == other)
        plan->waits[plan->n_waits++] = (Wait){ i, plan->waits[w].from, plan->waits[w].offset };
  }
}

/* Rings wait for earlier rounds alone, and have as many of them on every lane. Where all lanes have a single message,
 * each waits for messages of the same round. */
static void
draw_plan (Random *random, Plan *plan)
{
  gboolean is_ring = random_chance (random, 30), is_single = random_chance (random, 30);
  guint n_rounds = is_single ? 1 : random_between (random, 1, MOST_MESSAGES);

  *plan = (Plan){ .n_lanes = random_between (random, 1, MOST_LANES) };
  for (guint i = 0; i < plan->n_lanes; i++) {
    guint from = random_below (random, N_NODES);

    plan->lanes[i] = (Lane){ from, (from + random_between (random, 1, N_NODES - 1)) % N_NODES,
                             is_ring || is_single ? n_rounds : random_between (random, 1, MOST_MESSAGES),
                             0.125 * random_between (random, 1, 8) };
    plan->likes[i] = i;
  }
  for (guint i = 0; i < 2 * plan->n_lanes; i++) {
    guint lane = random_below (random, plan->n_lanes), from = random_below (random, plan->n_lanes),
          offset = (is_ring || from >= lane) && !is_single ? 1 : random_below (random, is_single ? 1 : 2);

    /* what it waits for exists */
    if (plan->lanes[from].n_messages + offset >= plan->lanes[lane].n_messages && (offset > 0 || from < lane))
      plan->waits[plan->n_waits++] = (Wait){ lane, from, offset };
  }
  if (is_single)
    draw_likes (random, plan);
}

static FabSchedule *
schedule_of (const Plan *plan, const Rig *rig)
{
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);
  FabGroup group = rig_group (rig);

  for (guint i = 0; i < plan->n_lanes; i++) {
    const Lane *lane = &plan->lanes[i];
    FabHop hop;

    assert_true (fab_hop_ranks (&group, lane->from, lane->to, &hop, NULL));
    assert_int_equal (fab_schedule_lane (schedule, &hop, 1, lane->weight, lane->n_messages), i);
  }
  for (guint i = 0; i < plan->n_lanes; i++)
    for (guint w = 0; w < plan->n_waits; w++)
      if (plan->waits[w].lane == i && plan->likes[i] == i)
        fab_schedule_depend (schedule, i, plan->waits[w].from, plan->waits[w].offset);
  for (guint i = 0; i < plan->n_lanes; i++)
    if (plan->likes[i] != i)
      fab_schedule_depend_like (schedule, i, plan->likes[i]);
  return schedule;
}

/* --- the definitions --- */

/* Whether message k of lane i waits for message m of lane j. */
static gboolean
waits_for (const Plan *plan, guint i, guint k, guint j, guint m)
{
  if (i == j && k == m + 1)
    return TRUE;
  for (guint w = 0; w < plan->n_waits; w++)
    if (plan->waits[w].lane == i && plan->waits[w].from == j && k == m + plan->waits[w].offset)
      return TRUE;
  return FALSE;
}

/* Raises every step until it is above those before it. */
static void
find_steps (Plan *plan)
{
  gboolean is_raised = TRUE;

  while (is_raised) {
    is_raised = FALSE;
    for (guint i = 0; i < plan->n_lanes; i++)
      for (guint k = 0; k < plan->lanes[i].n_messages; k++)
        for (guint j = 0; j < plan->n_lanes; j++)
          for (guint m = 0; m < plan->lanes[j].n_messages; m++)
            if (waits_for (plan, i, k, j, m) && plan->steps[i][k] <= plan->steps[j][m]) {
              plan->steps[i][k] = plan->steps[j][m] + 1;
              is_raised = TRUE;
            }
  }
}

/* What the messages of a step put on a node's port, in bytes. */
static double
load_of (const Plan *plan, guint step, guint node, gboolean sends)
{
  double bytes = 0;

  for (guint i = 0; i < plan->n_lanes; i++)
    for (guint k = 0; k < plan->lanes[i].n_messages; k++)
      if (plan->steps[i][k] == step && (sends ? plan->lanes[i].from : plan->lanes[i].to) == node)
        bytes += plan->lanes[i].weight * BYTES;
  return bytes;
}

static double
some_time (G_GNUC_UNUSED gconstpointer data, const FabMessageStep *step)
{
  return 100 + step->bytes + 3 * step->port_bytes + (step->is_both ? 700 : 0);
}

static double
time_of (const Plan *plan, guint i, guint k)
{
  const Lane *lane = &plan->lanes[i];
  guint step = plan->steps[i][k];
  FabMessageStep asked = {
    .bytes = lane->weight * BYTES,
    .port_bytes = MAX (load_of (plan, step, lane->from, TRUE), load_of (plan, step, lane->to, FALSE)),
    .is_both = load_of (plan, step, lane->from, FALSE) > 0 || load_of (plan, step, lane->to, TRUE) > 0
  };

  return some_time (NULL, &asked);
}

static double
longest_of (Plan *plan)
{
  double longest = 0;

  find_steps (plan);
  for (guint step = 0; step <= MOST_LANES * MOST_MESSAGES; step++)
    for (guint i = 0; i < plan->n_lanes; i++)
      for (guint k = 0; k < plan->lanes[i].n_messages; k++) {
        double start = 0;

        if (plan->steps[i][k] != step)
          continue;
        for (guint j = 0; j < plan->n_lanes; j++)
          for (guint m = 0; m < plan->lanes[j].n_messages; m++)
            if (waits_for (plan, i, k, j, m))
              start = MAX (start, plan->ends[j][m]);
        plan->ends[i][k] = start + time_of (plan, i, k);
        longest = MAX (longest, plan->ends[i][k]);
      }
  return longest;
}

static void
the_longest_way_is_that_of_all_messages (Random *random)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = N_NODES,
                                             .gpus_per_node = 1,
                                             .nics_per_node = 1,
                                             .gpu_bytes_per_s = FAB_PS_PER_S,
                                             .nic_bytes_per_s = FAB_PS_PER_S });
  Plan plan;
  gboolean is_alike = TRUE;

  draw_plan (random, &plan);
  g_autoptr (FabSchedule) schedule = schedule_of (&plan, rig);
  assert_near (fab_schedule_longest (schedule, BYTES, some_time, NULL), longest_of (&plan), 1e-12);
  for (guint i = 0; i < plan.n_lanes; i++)
    for (guint k = 0; k < plan.lanes[i].n_messages; k++)
      is_alike &= plan.steps[i][k] == k && plan.lanes[i].n_messages == plan.lanes[0].n_messages;
  *(is_alike ? &n_rings : &n_others) += 1;
}

static void
messages_take_their_steps (G_GNUC_UNUSED void **state)
{
  seeds_run (400, the_longest_way_is_that_of_all_messages);
  assert_true ((n_rings > 0 && n_others > 0) || !seeds_are_all ());
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (messages_take_their_steps),
  };

  return cmocka_run_group_tests_name ("longest", tests, NULL, NULL);
}
