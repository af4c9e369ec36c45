/* SPDX-License-Identifier: Apache-2.0 */
/* test_phases.c - which message of an algorithm in phases waits for which, and how long waiting makes its form. */
#include "tests/support/test.h"

#include "sim/collective/play/schedule_parts.h"
#include "sim/collective/shape/phases.h"
#include "tests/support/lanes.h"
#include "tests/support/rig.h"

enum { LINK_PS = 50 };

static const FabAlgorithmEnv env = { .net_stretch = 1 };

/* GPUs at 1 byte per ps on one switch, two links of 50 ps from each to each other. */
static Rig *
star (guint n_gpus)
{
  return rig_new (&(RigSpec){
      .n_nodes = 1, .gpus_per_node = n_gpus, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = LINK_PS });
}

typedef struct {
  guint phase, from, to;
  double weight;
  FabParts parts;
  gboolean is_in_turn;
} Send;

static FabPhases *
phases_of (const FabGroup *group, gboolean is_pipeline, const Send *sends, guint n)
{
  FabPhases *phases = fab_phases_new (group, is_pipeline);

  for (guint i = 0; i < n; i++) {
    if (i > 0 && sends[i].phase > sends[i - 1].phase) {
      fab_phases_next (phases);
      fab_phases_next (phases); /* an empty phase is none */
    }
    if (sends[i].is_in_turn)
      fab_phases_send_in_turn (phases, sends[i].from, sends[i].to, sends[i].weight);
    else
      fab_phases_send (phases, sends[i].from, sends[i].to, sends[i].weight, sends[i].parts);
  }
  return phases;
}

static void
assert_schedule (const Rig *rig, gboolean is_pipeline, guint n_chunks, const Send *sends, guint n,
                 const char *expected)
{
  FabGroup group = rig_group (rig);
  g_autoptr (FabPhases) phases = phases_of (&group, is_pipeline, sends, n);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);

  assert_true (fab_phases_schedule (phases, &env, n_chunks, schedule, NULL));
  lanes_assert (schedule, &rig->cluster, expected);
}

/* --- who waits for whom --- */

/* Rank 1 gets part 0 from rank 0, and parts 1 and 2 from rank 2. What it sends on waits for the parts that it has in
 * it, and for no others. */
static void
a_send_waits_for_its_parts (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (4);
  const Send sends[] = {
    { 0, 0, 1, 1, { 0, 1, FALSE }, FALSE }, { 0, 2, 1, 1, { 1, 2, FALSE }, FALSE },
    { 1, 1, 3, 1, { 0, 1, FALSE }, FALSE }, { 1, 1, 2, 1, { 1, 1, FALSE }, FALSE },
    { 1, 1, 0, 1, { 0, 3, FALSE }, FALSE }, { 1, 1, 2, 1, { 2, 3, FALSE }, FALSE },
    { 1, 1, 2, 1, { 3, 2, FALSE }, FALSE }, { 1, 0, 3, 1, { 0, 3, FALSE }, FALSE },
  };

  assert_schedule (
      rig, FALSE, 1, sends, G_N_ELEMENTS (sends),
      "0>1 1\n2>1 1\n1>3 1 after 0\n1>2 1 after 1\n1>0 1 after 0 1\n1>2 1 after 1\n1>2 1\n0>3 1\n");
}

/* What comes in the same phase is too late, and what came in any phase before counts. */
static void
a_send_waits_for_all_phases_before (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (4);
  const Send sends[] = {
    { 0, 0, 1, 1, { 0, 1, FALSE }, FALSE }, { 0, 1, 2, 1, { 0, 1, FALSE }, FALSE },
    { 1, 2, 1, 1, { 0, 1, FALSE }, FALSE }, { 1, 2, 3, 1, { 0, 1, FALSE }, FALSE },
    { 2, 3, 0, 1, { 0, 1, FALSE }, FALSE }, { 3, 1, 0, 1, { 0, 1, FALSE }, FALSE },
  };

  assert_schedule (rig, FALSE, 1, sends, G_N_ELEMENTS (sends),
                   "0>1 1\n1>2 1\n2>1 1 after 1\n2>3 1 after 1\n3>0 1 after 3\n1>0 1 after 0 2\n");
}

/* A part that was replaced no longer counts: all of it is in what replaced it. Of parts 0 to 2, which rank 1 gets in
 * three messages, rank 3 replaces 1 and 2 later. */
static void
a_part_that_was_replaced_is_not_waited_for (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (5);
  const Send sends[] = {
    { 0, 0, 1, 1, { 0, 2, FALSE }, FALSE }, { 0, 2, 1, 1, { 1, 1, FALSE }, FALSE },
    { 0, 4, 1, 1, { 2, 1, FALSE }, FALSE }, { 1, 3, 1, 1, { 1, 2, TRUE }, FALSE },
    { 2, 1, 0, 1, { 0, 1, FALSE }, FALSE }, { 2, 1, 0, 1, { 1, 1, FALSE }, FALSE },
    { 2, 1, 0, 1, { 2, 1, FALSE }, FALSE }, { 2, 1, 0, 1, { 0, 3, FALSE }, FALSE },
    { 3, 4, 1, 1, { 1, 1, FALSE }, FALSE }, { 4, 1, 2, 1, { 1, 2, FALSE }, FALSE },
  };

  assert_schedule (
      rig, FALSE, 1, sends, G_N_ELEMENTS (sends),
      "0>1 1\n2>1 1\n4>1 1\n3>1 1\n1>0 1 after 0\n1>0 1 after 3\n1>0 1 after 3\n1>0 1 after 0 3\n"
      "4>1 1\n1>2 1 after 3 8\n");
}

/* Rounds of replacing, each of which makes the one before forgotten: a search does not remember what an earlier one
 * has found. */
static void
searches_do_not_disturb_each_other (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (4);
  const Send sends[] = {
    { 0, 0, 1, 1, { 0, 2, TRUE }, FALSE },  { 1, 1, 2, 1, { 0, 2, FALSE }, FALSE },
    { 1, 1, 3, 1, { 0, 2, FALSE }, FALSE }, { 2, 0, 1, 1, { 0, 1, TRUE }, FALSE },
    { 3, 1, 2, 1, { 0, 2, FALSE }, FALSE }, { 3, 1, 3, 1, { 1, 1, FALSE }, FALSE },
  };

  assert_schedule (rig, FALSE, 1, sends, G_N_ELEMENTS (sends),
                   "0>1 1\n1>2 1 after 0\n1>3 1 after 0\n0>1 1\n1>2 1 after 0 3\n1>3 1 after 0\n");
}

/* Calls that block: a send waits for what either of its two ranks did last, and that has waited for all before. */
static void
sends_in_turn_wait_for_both_ranks (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (5);
  const Send sends[] = {
    { 0, 0, 1, 1, { 0 }, TRUE },
    { 0, 2, 3, 1, { 0 }, TRUE },
    { 0, 4, 3, 1, { 0 }, TRUE },
    { 1, 1, 0, 1, { 0 }, TRUE },
    { 2, 0, 3, 1, { 0 }, TRUE },
    { 3, 2, 4, 1, { 0 }, TRUE },
    { 4, 3, 1, 0.5, FAB_WHOLE_BUFFER, FALSE },
  };

  /* Lane 4 waits for the last of rank 0, lane 3, and for both of rank 3 in the phase of lanes 1 and 2. The message that
   * is not in turn waits for what rank 3 got last, in turn. */
  assert_schedule (rig, FALSE, 1, sends, G_N_ELEMENTS (sends),
                   "0>1 1\n2>3 1\n4>3 1\n1>0 1 after 0 0\n0>3 1 after 1 2 3\n2>4 1 after 1 2\n"
                   "3>1 0.5 after 4\n");
}

/* What replaces all parts is waited for alone, also after a call that blocked. */
static void
what_replaces_all_comes_after_calls_that_block (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (4);
  const Send sends[] = { { 0, 0, 1, 1, { 0 }, TRUE },
                         { 1, 2, 1, 1, { 0, 2, TRUE }, FALSE },
                         { 2, 1, 3, 1, { 0, 2, FALSE }, FALSE } };

  assert_schedule (rig, FALSE, 1, sends, G_N_ELEMENTS (sends), "0>1 1\n2>1 1\n1>3 1 after 1\n");
}

/* Messages of one phase with the same parts of one rank share a list, so that each receipt is named once. */
static void
sends_of_the_same_parts_share_a_list (G_GNUC_UNUSED void **state)
{
  enum { N = 5 };
  g_autoptr (Rig) rig = star (N);
  FabGroup group = rig_group (rig);
  const Send sends[] = {
    { 0, 0, 1, 1, { 0, 2, FALSE }, FALSE }, { 0, 2, 1, 1, { 0, 2, FALSE }, FALSE },
    { 1, 1, 3, 1, { 0, 2, FALSE }, FALSE }, { 1, 1, 4, 1, { 0, 2, FALSE }, FALSE },
    { 1, 1, 0, 1, { 0, 1, FALSE }, FALSE }, { 1, 1, 2, 1, { 1, 1, FALSE }, FALSE },
    { 2, 1, 2, 1, { 1, 1, FALSE }, FALSE },
  };
  g_autoptr (FabPhases) phases = phases_of (&group, FALSE, sends, G_N_ELEMENTS (sends));
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  guint lists[G_N_ELEMENTS (sends)];

  assert_true (fab_phases_schedule (phases, &env, 1, schedule, NULL));
  lanes_assert (
      schedule, &rig->cluster,
      "0>1 1\n2>1 1\n1>3 1 after 0 1\n1>4 1 after 0 1\n1>0 1 after 0 1\n1>2 1 after 0 1\n1>2 1 after 0 1\n");
  for (guint i = 0; i < G_N_ELEMENTS (sends); i++)
    lists[i] = fab_schedule_lane_at (schedule, i)->list;
  assert_int_equal (lists[0], FAB_NO_LIST);
  assert_int_equal (lists[1], FAB_NO_LIST);
  assert_int_equal (lists[2], lists[3]);
  for (guint i = 4; i < G_N_ELEMENTS (sends); i++)
    assert_int_not_equal (lists[i], lists[i - 1]);
  assert_int_equal (schedule->dependencies->len, 8);
}

/* A pipeline cuts every message into chunks, each with a list of its own; other phases ignore the number. */
static void
a_pipeline_cuts_messages_into_chunks (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (4);
  const Send sends[] = {
    { 0, 0, 1, 1, { 0, 1, FALSE }, FALSE },
    { 1, 1, 2, 0.5, { 0, 1, FALSE }, FALSE },
    { 1, 1, 3, 0.5, { 0, 1, FALSE }, FALSE },
  };

  assert_schedule (rig, TRUE, 4, sends, 3, "0>1 0.25 x4\n1>2 0.125 x4 after 0\n1>3 0.125 x4 after 0\n");
  assert_schedule (rig, TRUE, 1, sends, 3, "0>1 1\n1>2 0.5 after 0\n1>3 0.5 after 0\n");
  assert_schedule (rig, FALSE, 4, sends, 3, "0>1 1\n1>2 0.5 after 0\n1>3 0.5 after 0\n");
}

static Rig *
nodes (guint n_nodes, guint gpus_per_node, guint nics_per_node)
{
  return rig_new (&(RigSpec){ .n_nodes = n_nodes,
                              .gpus_per_node = gpus_per_node,
                              .nics_per_node = nics_per_node,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S / 10,
                              .gpu_latency_ps = LINK_PS,
                              .nic_latency_ps = 200 });
}

/* Over two NICs a message is two lanes of half the bytes each, and what waits for it waits for both. */
static void
a_message_over_two_nics_is_two_lanes (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = nodes (3, 1, 2);
  const Send sends[] = { { 0, 0, 1, 1, { 0, 1, FALSE }, FALSE }, { 1, 1, 2, 0.5, { 0, 1, FALSE }, FALSE } };

  assert_schedule (rig, FALSE, 1, sends, 2, "0>1 0.5\n0>1 0.5\n1>2 0.25 after 0 1\n1>2 0.25 after 0 1\n");
  assert_schedule (rig, TRUE, 2, sends, 2,
                   "0>1 0.25 x2\n0>1 0.25 x2\n1>2 0.125 x2 after 0 1\n1>2 0.125 x2 after 0 1\n");
}

/* --- the form --- */

static FabCollectiveForm
form_of (const Rig *rig, gboolean is_pipeline, const Send *sends, guint n)
{
  FabGroup group = rig_group (rig);
  g_autoptr (FabPhases) phases = phases_of (&group, is_pipeline, sends, n);
  FabCollectiveForm form;

  assert_true (fab_phases_form (phases, &env, &form, NULL));
  assert_int_equal (form.n_channels, 1);
  return form;
}

#define WHOLE FAB_WHOLE_BUFFER

/* One step after another over different links: each link is busy in one phase alone, so that both take as long as all
 * bytes twice. A pipeline fills in the time that the second phase adds. */
static void
links_of_one_phase_idle_in_the_next (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3);
  const Send sends[] = { { 0, 0, 1, 1, WHOLE, FALSE }, { 1, 1, 2, 0.5, WHOLE, FALSE } };
  FabCollectiveForm whole = form_of (rig, FALSE, sends, 2), pipeline = form_of (rig, TRUE, sends, 2);

  for (guint i = 0; i < 2; i++) {
    const FabCollectiveForm *form = i == 0 ? &whole : &pipeline;

    assert_near (form->footprint->rate_bytes_per_s, 1e12, 1e-12);
    assert_int_equal (form->n_intra_steps, 2);
    assert_int_equal (form->n_inter_steps, 0);
    assert_int_equal (form->intra_latency_ps, 2 * LINK_PS);
    assert_int_equal (form->inter_latency_ps, 0);
  }
  assert_near (whole.phases_bytes_per_s, 1e12 / 1.5, 1e-9);
  assert_near (whole.fill_s_per_byte, 0, 0);
  assert_near (pipeline.fill_s_per_byte, 0.5e-12, 1e-9);
  assert_near (pipeline.phases_bytes_per_s, 0, 0);
  fab_footprint_free (whole.footprint);
  fab_footprint_free (pipeline.footprint);
}

/* The same link in each phase is busy all the time, and the footprint says all. One phase alone never waits. */
static void
a_link_that_is_always_busy_needs_no_limit (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (4);
  const Send same[] = { { 0, 0, 1, 1, WHOLE, FALSE }, { 1, 0, 1, 0.5, WHOLE, FALSE } },
             one[] = { { 0, 0, 1, 1, WHOLE, FALSE }, { 0, 2, 3, 0.25, WHOLE, FALSE } };
  FabCollectiveForm of_same = form_of (rig, FALSE, same, 2), of_one = form_of (rig, FALSE, one, 2);

  assert_near (of_same.footprint->rate_bytes_per_s, 1e12 / 1.5, 1e-12);
  assert_near (of_same.phases_bytes_per_s, 0, 0);
  assert_int_equal (of_same.n_intra_steps, 1); /* rank 0 waits for nothing */
  assert_near (of_one.phases_bytes_per_s, 0, 0);
  fab_footprint_free (of_same.footprint);
  fab_footprint_free (of_one.footprint);
}

/* What differs by less than 1e-9 is the same but for rounding. The second phase adds a message over other links
 * that takes so much of the time of the first; or, in a first phase over the only link of the second, another
 * message ends by so much before that one. */
static void
phases_that_differ_by_rounding_are_alike (G_GNUC_UNUSED void **state)
{
  static const struct {
    double difference;
    gboolean is_limited;
  } rows[] = { { 0.5e-9, FALSE }, { 0.9e-9, FALSE }, { 1.1e-9, TRUE }, { 5e-9, TRUE } };
  g_autoptr (Rig) rig = star (4);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const Send longer[] = { { 0, 0, 1, 1, WHOLE, FALSE }, { 1, 2, 3, rows[i].difference, WHOLE, FALSE } };
    const Send uneven[] = { { 0, 0, 1, 1, WHOLE, FALSE },
                            { 0, 2, 3, 1 - rows[i].difference, WHOLE, FALSE },
                            { 1, 0, 1, 1, WHOLE, FALSE } };
    FabCollectiveForm of_longer = form_of (rig, FALSE, longer, 2),
                      of_uneven = form_of (rig, FALSE, uneven, 3);

    assert_int_equal (of_longer.phases_bytes_per_s > 0, rows[i].is_limited);
    assert_int_equal (of_uneven.phases_bytes_per_s > 0, rows[i].is_limited);
    fab_footprint_free (of_longer.footprint);
    fab_footprint_free (of_uneven.footprint);
  }
}

/* A message that ends before others of its phase lets the next one begin early. Rank 3 has half a byte after 0.5 ps and
 * sends 1 byte to rank 1 while the first half of what comes from rank 0 is still to come: that ends at 1.5 ps, and what
 * rank 1 sends then, at 2.5 ps. The link into rank 1, which is busy in both phases, would say 2 ps. */
static void
early_messages_take_from_late_ones (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (4);
  const Send sends[] = { { 0, 0, 1, 1, WHOLE, FALSE },
                         { 0, 2, 3, 0.5, WHOLE, FALSE },
                         { 1, 3, 1, 1, WHOLE, FALSE },
                         { 1, 1, 2, 1, WHOLE, FALSE } };
  FabCollectiveForm form = form_of (rig, FALSE, sends, 4);

  assert_near (form.footprint->rate_bytes_per_s, 0.5e12, 1e-12);
  assert_near (form.phases_bytes_per_s, 1e12 / 2.5, 1e-9);
  fab_footprint_free (form.footprint);
}

/* Whether messages of a phase end early is looked at for 1024 messages and no more. All but one of the first phase are
 * over the link of the second, which is always busy. */
static void
early_messages_of_very_many_are_not_looked_for (G_GNUC_UNUSED void **state)
{
  enum { MOST = 1024 };
  g_autoptr (Rig) rig = star (4);

  for (guint n = MOST; n <= MOST + 1; n++) {
    g_autofree Send *sends = g_new (Send, n);

    for (guint i = 0; i < n; i++)
      sends[i] = (Send){ i + 1 == n ? 1 : 0, 0, 1, 1, WHOLE, FALSE };
    sends[0] = (Send){ 0, 2, 3, 1, WHOLE, FALSE };
    FabCollectiveForm form = form_of (rig, FALSE, sends, n);
    assert_near (form.footprint->rate_bytes_per_s, 1e12 / (n - 1), 1e-12);
    assert_near (form.phases_bytes_per_s, n == MOST ? 1e12 / (n - 1) : 0, 1e-9);
    fab_footprint_free (form.footprint);
  }
}

/* The longest sequence is that of what ranks received, phase by phase: rank 2 gets a byte by way of rank 1, and one at
 * once; what rank 3 gets from it in the last phase is the third step. Rank 0 has sent twice, and waits for nothing. */
static void
steps_are_those_of_the_longest_sequence (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (5);
  const Send sends[] = { { 0, 0, 1, 1, WHOLE, FALSE },
                         { 1, 1, 2, 1, WHOLE, FALSE },
                         { 1, 4, 2, 1, WHOLE, FALSE },
                         { 2, 2, 3, 1, WHOLE, FALSE },
                         { 3, 0, 4, 1, WHOLE, FALSE } };
  FabCollectiveForm form = form_of (rig, FALSE, sends, G_N_ELEMENTS (sends));

  assert_int_equal (form.n_intra_steps, 3);
  fab_footprint_free (form.footprint);
}

/* A rank that gets something early in a later phase has still to wait for what came late in one before: rank 3 gets a
 * byte by way of ranks 1 and 2, then one from rank 4 at once, and sends both on. */
static void
a_late_message_stays_the_longest_sequence (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (6);
  const Send sends[] = { { 0, 0, 1, 1, WHOLE, FALSE },
                         { 1, 1, 2, 1, WHOLE, FALSE },
                         { 2, 2, 3, 1, WHOLE, FALSE },
                         { 3, 4, 3, 1, WHOLE, FALSE },
                         { 4, 3, 5, 1, WHOLE, FALSE } };
  FabCollectiveForm form = form_of (rig, FALSE, sends, G_N_ELEMENTS (sends));

  assert_int_equal (form.n_intra_steps, 4);
  fab_footprint_free (form.footprint);
  assert_schedule (rig, FALSE, 1, sends, G_N_ELEMENTS (sends),
                   "0>1 1\n1>2 1 after 0\n2>3 1 after 1\n4>3 1\n3>5 1 after 2 3\n");
}

/* In turn, the sender waits too: rank 0 sends in three phases, one after the other. */
static void
steps_in_turn_are_those_of_senders_too (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (5);
  const Send turns[] = { { 0, 0, 1, 1, { 0 }, TRUE },
                         { 1, 0, 2, 1, { 0 }, TRUE },
                         { 2, 0, 3, 1, { 0 }, TRUE },
                         { 3, 4, 3, 1, { 0 }, TRUE } },
             free_ones[] = { { 0, 0, 1, 1, WHOLE, FALSE },
                             { 1, 0, 2, 1, WHOLE, FALSE },
                             { 2, 0, 3, 1, WHOLE, FALSE },
                             { 3, 4, 3, 1, WHOLE, FALSE } };
  FabCollectiveForm in_turn = form_of (rig, FALSE, turns, 4), at_once = form_of (rig, FALSE, free_ones, 4);

  assert_int_equal (in_turn.n_intra_steps, 4);
  assert_int_equal (at_once.n_intra_steps, 1);
  fab_footprint_free (in_turn.footprint);
  fab_footprint_free (at_once.footprint);
}

/* Two NICs carry half of the bytes each: 1 byte over two NICs at a tenth of a byte per ps takes 5 ps. */
static void
nics_share_a_message (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) one = nodes (2, 1, 1), two = nodes (2, 1, 2);
  const Send sends[] = { { 0, 0, 1, 1, WHOLE, FALSE } };
  FabCollectiveForm by_one = form_of (one, FALSE, sends, 1), by_two = form_of (two, FALSE, sends, 1);

  assert_near (by_one.footprint->rate_bytes_per_s, 1e11, 1e-12);
  assert_near (by_two.footprint->rate_bytes_per_s, 2e11, 1e-12);
  assert_int_equal (by_two.n_inter_steps, 1);
  assert_int_equal (by_two.n_intra_steps, 0);
  assert_int_equal (by_two.inter_latency_ps, 4 * LINK_PS + 2 * 200);
  fab_footprint_free (by_one.footprint);
  fab_footprint_free (by_two.footprint);
}

/* 3 phases over two NICs each, of half a byte, a byte and half a byte, which wait for one another: 2.5 + 5 + 2.5 ps. */
static void
messages_over_two_nics_wait_for_both (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = nodes (4, 1, 2);
  const Send sends[] = { { 0, 0, 1, 0.5, WHOLE, FALSE },
                         { 1, 1, 2, 1, WHOLE, FALSE },
                         { 2, 2, 3, 0.5, WHOLE, FALSE } };
  FabCollectiveForm form = form_of (rig, FALSE, sends, 3);

  assert_near (form.phases_bytes_per_s, 1e11, 1e-9);
  assert_near (form.footprint->rate_bytes_per_s, 2e11, 1e-9);
  assert_int_equal (form.n_inter_steps, 3);
  fab_footprint_free (form.footprint);
}

/* Nodes without a NIC cannot send to each other, which both the form and the schedule say. */
static void
ranks_without_a_path_are_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = nodes (2, 2, 0);
  FabGroup group = rig_group (rig);
  const Send sends[] = { { 0, 0, 1, 1, WHOLE, FALSE },
                         { 1, 1, 2, 1, WHOLE, FALSE },
                         { 2, 2, 3, 1, WHOLE, FALSE } };
  g_autoptr (FabPhases) phases = phases_of (&group, FALSE, sends, 3);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  FabCollectiveForm form;
  g_autoptr (GError) error = NULL, other = NULL;

  assert_false (fab_phases_form (phases, &env, &form, &error));
  assert_non_null (error);
  assert_false (fab_phases_schedule (phases, &env, 1, schedule, &other));
  assert_non_null (other);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_send_waits_for_its_parts),
    cmocka_unit_test (a_send_waits_for_all_phases_before),
    cmocka_unit_test (a_part_that_was_replaced_is_not_waited_for),
    cmocka_unit_test (searches_do_not_disturb_each_other),
    cmocka_unit_test (sends_in_turn_wait_for_both_ranks),
    cmocka_unit_test (what_replaces_all_comes_after_calls_that_block),
    cmocka_unit_test (sends_of_the_same_parts_share_a_list),
    cmocka_unit_test (a_pipeline_cuts_messages_into_chunks),
    cmocka_unit_test (a_message_over_two_nics_is_two_lanes),
    cmocka_unit_test (links_of_one_phase_idle_in_the_next),
    cmocka_unit_test (a_link_that_is_always_busy_needs_no_limit),
    cmocka_unit_test (phases_that_differ_by_rounding_are_alike),
    cmocka_unit_test (early_messages_take_from_late_ones),
    cmocka_unit_test (early_messages_of_very_many_are_not_looked_for),
    cmocka_unit_test (steps_are_those_of_the_longest_sequence),
    cmocka_unit_test (a_late_message_stays_the_longest_sequence),
    cmocka_unit_test (steps_in_turn_are_those_of_senders_too),
    cmocka_unit_test (nics_share_a_message),
    cmocka_unit_test (messages_over_two_nics_wait_for_both),
    cmocka_unit_test (ranks_without_a_path_are_refused),
  };

  return cmocka_run_group_tests_name ("phases", tests, NULL, NULL);
}
