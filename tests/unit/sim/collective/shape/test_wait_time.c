/* SPDX-License-Identifier: Apache-2.0 */
/* test_wait_time.c - the time of messages that wait for one another and share links, against sums by hand. */
#include "tests/support/test.h"

#include "sim/collective/shape/wait_time.h"
#include "tests/support/rig.h"

/* The links out of GPUs 0 to 3 carry 1 byte per ps each; that out of node 0's NIC carries a quarter of it. */
typedef struct {
  Rig *rig;
  FabFootprintBuilder *builder;
  FabWaitTime *time;
} Fixture;

static Fixture
fixture_new (void)
{
  Rig *rig = rig_new (&(RigSpec){ .n_nodes = 2,
                                  .gpus_per_node = 2,
                                  .nics_per_node = 1,
                                  .gpu_bytes_per_s = FAB_PS_PER_S,
                                  .nic_bytes_per_s = FAB_PS_PER_S / 4,
                                  .gpu_latency_ps = 50,
                                  .nic_latency_ps = 50 });

  return (Fixture){ rig, fab_footprint_builder_new (rig->graph), fab_wait_time_new (rig->graph) };
}

static FabLinkId
out_of (const Fixture *self, guint gpu)
{
  FabLinkId first;

  fab_graph_out_links (self->rig->graph, rig_gpu (self->rig, gpu), &first);
  return first;
}

static FabLinkId
slow_link (const Fixture *self)
{
  FabLinkId first;
  guint n = fab_graph_out_links (self->rig->graph, self->rig->cluster.nics[0], &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (fab_graph_link (self->rig->graph, link)->rate_bytes_per_s == FAB_PS_PER_S / 4)
      return link;
  fail ();
  return FAB_NO_LINK;
}

static void
use (const Fixture *self, FabLinkId link, double weight, double stretch)
{
  const FabPath path = { .n = 1, .links = { link } };

  fab_footprint_builder_add (self->builder, &path,
                             (FabUse){ .weight = weight, .drive = FAB_DRIVE_COPY, .stretch = stretch });
}

/* Ends the message whose links were named. */
static guint
add (const Fixture *self, guint n_after, const guint *after)
{
  return fab_wait_time_add (self->time, fab_footprint_builder_finish (self->builder), after, n_after);
}

/* A message of `weight` bytes out of one GPU. */
static guint
add_one (const Fixture *self, guint gpu, double weight, guint n_after, const guint *after)
{
  use (self, out_of (self, gpu), weight, 1);
  return add (self, n_after, after);
}

/* Asserts the time of all messages, in ps per byte. */
static void
fixture_end (Fixture *self, double expected_ps)
{
  assert_near (fab_wait_time_s_per_byte (self->time) * (double) FAB_PS_PER_S, expected_ps, 1e-9);
  fab_wait_time_free (self->time);
  fab_footprint_builder_free (self->builder);
  rig_free (self->rig);
}

static void
a_message_takes_its_bytes_over_its_slowest_link (G_GNUC_UNUSED void **state)
{
  Fixture one = fixture_new (), slow = fixture_new (), stretched = fixture_new ();

  assert_int_equal (add_one (&one, 0, 3, 0, NULL), 0);
  fixture_end (&one, 3);
  use (&slow, out_of (&slow, 0), 3, 1);
  use (&slow, slow_link (&slow), 1, 1); /* 1 byte at a quarter of a byte per ps */
  add (&slow, 0, NULL);
  fixture_end (&slow, 4);
  use (&stretched, out_of (&stretched, 0), 2, 1.5);
  add (&stretched, 0, NULL);
  fixture_end (&stretched, 3);
}

/* Every link of the graph at its own rate. */
static void
each_link_has_its_rate (G_GNUC_UNUSED void **state)
{
  Fixture all = fixture_new ();
  guint n = fab_graph_n_links (all.rig->graph);

  for (FabLinkId link = 0; link < n; link++) {
    Fixture one = fixture_new ();

    use (&one, link, 3, 1);
    add (&one, 0, NULL);
    fixture_end (&one, 3 * (double) FAB_PS_PER_S
                           / (double) fab_graph_link (all.rig->graph, link)->rate_bytes_per_s);
  }
  add_one (&all, 0, 1, 0, NULL);
  fixture_end (&all, 1);
}

/* Messages are numbered as they are added, and each begins when the last one for which it waits has ended. */
static void
messages_begin_one_after_another (G_GNUC_UNUSED void **state)
{
  Fixture chain = fixture_new (), fork = fixture_new (), again = fixture_new ();
  guint first = add_one (&chain, 0, 1, 0, NULL), second = add_one (&chain, 1, 2, 1, &first);

  assert_int_equal (first, 0);
  assert_int_equal (second, 1);
  assert_int_equal (add_one (&chain, 0, 4, 1, &second), 2);
  fixture_end (&chain, 1 + 2 + 4);

  const guint both[] = { add_one (&fork, 0, 1, 0, NULL), add_one (&fork, 1, 3, 0, NULL) };
  guint third = add_one (&fork, 2, 5, 1, &both[0]), last = add_one (&fork, 3, 2, 2, both);
  /* From 1 to 6, and from 3 to 5. */
  assert_int_equal (third, 2);
  assert_int_equal (last, 3);
  fixture_end (&fork, 6);

  const guint twice[] = { add_one (&again, 0, 1, 0, NULL), 0 };
  add_one (&again, 1, 2, 2, twice); /* the same message is named twice */
  fixture_end (&again, 3);
}

/* Two of 1 and 3 bytes over one link get half of it each: the short one ends after 2 ps and not after 4, so that a
 * third, of 5 bytes over another link, ends after 7 ps. The long one has the link alone then, and ends after 4 ps. */
static void
messages_share_a_link_byte_by_byte (G_GNUC_UNUSED void **state)
{
  for (guint order = 0; order < 2; order++) {
    Fixture fixture = fixture_new ();
    const double weights[] = { order == 0 ? 1 : 3, order == 0 ? 3 : 1 };
    guint messages[] = { add_one (&fixture, 0, weights[0], 0, NULL),
                         add_one (&fixture, 0, weights[1], 0, NULL) };

    add_one (&fixture, 1, 5, 1, &messages[order]);
    fixture_end (&fixture, 7);
  }
}

/* Three share a link at a third each. When the first has ended after 3 ps, and when the second has at 3 + 2 x 1 = 5 ps,
 * the others go faster: the last has 3 - 1 - 1 = 1 byte left. */
static void
what_is_left_goes_faster (G_GNUC_UNUSED void **state)
{
  Fixture fixture = fixture_new ();
  guint last = 0;

  for (guint i = 1; i <= 3; i++)
    last = add_one (&fixture, 0, i, 0, NULL);
  add_one (&fixture, 1, 10, 1, &last);
  fixture_end (&fixture, 6 + 10);
}

/* A message that no link but the slow one holds up leaves the rest of its other link: 4 ps for 1 byte over the slow
 * link, a quarter of a byte per ps, so that 3 bytes of another message pass beside it in as long. */
static void
a_slow_message_leaves_the_rest_of_a_link (G_GNUC_UNUSED void **state)
{
  Fixture fixture = fixture_new ();

  use (&fixture, out_of (&fixture, 0), 1, 1);
  use (&fixture, slow_link (&fixture), 1, 1);
  add (&fixture, 0, NULL);
  guint beside = add_one (&fixture, 0, 3, 0, NULL);
  add_one (&fixture, 1, 2, 1, &beside);
  fixture_end (&fixture, 4 + 2);
}

/* Of two messages that load their slowest links by 1 and by 2 bytes, each gets as many bytes of a common link as the
 * other in the same time, whatever else it loads: message 0 has 1 byte on the common link and 2 on its own, message 1
 * has 2 on the common one. What binds message 0 is its own link, so that it counts half. */
static void
shares_are_by_the_link_that_binds (G_GNUC_UNUSED void **state)
{
  Fixture fixture = fixture_new ();

  use (&fixture, out_of (&fixture, 0), 1, 1);
  use (&fixture, out_of (&fixture, 1), 2, 1);
  add (&fixture, 0, NULL);
  guint whole = add_one (&fixture, 0, 2, 0, NULL);
  /* Shares 1/2 and 1/2: both go at r messages per ps, 1 r + 2 r = 1. Message 1 would end at 3, as would message 0. */
  add_one (&fixture, 2, 10, 1, &whole);
  fixture_end (&fixture, 3 + 10);
}

/* Messages that end at the same time begin what waits for them at the same time: a ring of 4 GPUs, 6 rounds. */
static void
rounds_of_equal_messages_stay_together (G_GNUC_UNUSED void **state)
{
  Fixture fixture = fixture_new ();
  guint before[4], now[4];

  for (guint round = 0; round < 6; round++) {
    for (guint i = 0; i < 4; i++)
      now[i] = add_one (&fixture, i, 0.7, round > 0 ? 1 : 0, &before[(i + 3) % 4]);
    memcpy (before, now, sizeof before);
  }
  assert_int_equal (now[3], 23);
  fixture_end (&fixture, 6 * 0.7);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_message_takes_its_bytes_over_its_slowest_link),
    cmocka_unit_test (each_link_has_its_rate),
    cmocka_unit_test (messages_begin_one_after_another),
    cmocka_unit_test (messages_share_a_link_byte_by_byte),
    cmocka_unit_test (what_is_left_goes_faster),
    cmocka_unit_test (a_slow_message_leaves_the_rest_of_a_link),
    cmocka_unit_test (shares_are_by_the_link_that_binds),
    cmocka_unit_test (rounds_of_equal_messages_stay_together),
  };

  return cmocka_run_group_tests_name ("wait_time", tests, NULL, NULL);
}
