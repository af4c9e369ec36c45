/* SPDX-License-Identifier: Apache-2.0 */
/* test_link_classes.c - how many classes of links a flow crosses, and which flows are solved again when classes are
 * split. That the rates are those of all links one by one: tests/property/prop_folding.c.
 */
#include "tests/support/test.h"

#include "sim/solve/folding.h"

enum { MOST_LINKS = 200, MOST_FLOWS = 8 };

typedef struct {
  FabFoldedFlow folded; /* first: what `changed` is given */
  guint links[MOST_LINKS];
  double weights[MOST_LINKS];
  double rate;
  guint n_told; /* how often the rate was told */
} Flow;

typedef struct {
  FabFolding *folding;
  double capacities[MOST_LINKS];
  guint n_asked; /* how often a capacity was asked for */
  Flow flows[MOST_FLOWS];
} Case;

static double
capacity_of (gconstpointer owner, guint link)
{
  Case *self = (Case *) owner;

  self->n_asked++;
  return self->capacities[link];
}

static void
note_rate (G_GNUC_UNUSED gpointer owner, FabSharer *sharer, double rate)
{
  ((Flow *) sharer)->rate = rate;
  ((Flow *) sharer)->n_told++;
}

static Case *
case_new (double capacity)
{
  Case *self = g_new0 (Case, 1);

  for (guint link = 0; link < MOST_LINKS; link++)
    self->capacities[link] = capacity;
  self->folding = fab_folding_new (MOST_LINKS, capacity_of, note_rate, self, FALSE);
  return self;
}

static void
case_free (Case *self)
{
  fab_folding_free (self->folding);
  g_free (self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Case, case_free)

/* A flow over `n` links from `first` on; of each `n_alike` in a row the weight is one more than of those before. */
static Flow *
flow_over (Case *self, guint flow, guint first, guint n, guint n_alike)
{
  Flow *made = &self->flows[flow];

  for (guint i = 0; i < n; i++) {
    made->links[i] = first + i;
    made->weights[i] = 1 + i / n_alike;
  }
  made->folded = (FabFoldedFlow){ .sharer = { .weight_factor = 1, .share = 1 },
                                  .links = made->links,
                                  .weights = made->weights,
                                  .n = n,
                                  .stays = TRUE };
  return made;
}

static Flow *
add (Case *self, Flow *flow)
{
  fab_folding_add (self->folding, &flow->folded);
  return flow;
}

/* A flow that comes and goes. */
static Flow *
add_once (Case *self, Flow *flow)
{
  flow->folded.stays = FALSE;
  return add (self, flow);
}

static void
assert_classes (const Case *self, guint n, const guint *n_classes)
{
  for (guint f = 0; f < n; f++)
    if (fab_folding_n_classes (&self->flows[f].folded) != n_classes[f])
      fail_msg ("flow %u has %u classes", f, fab_folding_n_classes (&self->flows[f].folded));
}

#define ASSERT_CLASSES(self, ...) \
  assert_classes (self, G_N_ELEMENTS (((const guint[]){ __VA_ARGS__ })), (const guint[]){ __VA_ARGS__ })

/* Links 0 to 7 of the first flow; of the second 0 to 3; of the third 2 to 5, so that the first has 0 to 1, 2 to 3, 4 to
 * 5 and 6 to 7, and the second 0 to 1 and 2 to 3. A fourth over the whole splits nothing. */
static void
a_flow_splits_the_classes_of_others (G_GNUC_UNUSED void **state)
{
  g_autoptr (Case) self = case_new (12);

  add (self, flow_over (self, 0, 0, 8, 8));
  ASSERT_CLASSES (self, 1);
  add (self, flow_over (self, 1, 0, 4, 4));
  ASSERT_CLASSES (self, 2, 1);
  add (self, flow_over (self, 2, 2, 4, 4));
  ASSERT_CLASSES (self, 4, 2, 2);
  add (self, flow_over (self, 3, 0, 8, 8));
  ASSERT_CLASSES (self, 4, 2, 2, 4);
  fab_folding_solve (self->folding);
  for (guint f = 0; f < 4; f++) /* links 2 and 3 have all four */
    assert_near (self->flows[f].rate, 3, 1e-12);
}

/* Two weights over a whole class leave one part of it and make one new. Over links of two capacities, and of two
 * weights, there are as many classes as pairs of both. */
static void
capacities_and_weights_tell_links_apart (G_GNUC_UNUSED void **state)
{
  g_autoptr (Case) self = case_new (12);

  add (self, flow_over (self, 0, 0, 8, 8));
  add (self, flow_over (self, 1, 0, 8, 4));
  ASSERT_CLASSES (self, 2, 2);
  add (self, flow_over (self, 2, 0, 8, 2));
  ASSERT_CLASSES (self, 4, 4, 4);
  for (guint link = 100; link < 112; link++)
    self->capacities[link] = link % 3 == 0 ? 5 : 7;
  add (self, flow_over (self, 3, 100, 12, 6));
  ASSERT_CLASSES (self, 4, 4, 4, 4);
  fab_folding_solve (self->folding);
  assert_near (self->flows[3].rate, 2.5, 1e-12); /* capacity 5, weight 2 */
}

/* Every link has a weight of its own, which is more than there is room for at first; one flow has all of these classes,
 * and so has another that has one weight for all. */
static void
there_may_be_a_class_for_every_link (G_GNUC_UNUSED void **state)
{
  g_autoptr (Case) self = case_new (400);

  add (self, flow_over (self, 0, 0, MOST_LINKS, 1));
  ASSERT_CLASSES (self, MOST_LINKS);
  add (self, flow_over (self, 1, 0, MOST_LINKS, MOST_LINKS));
  ASSERT_CLASSES (self, MOST_LINKS, MOST_LINKS);
  fab_folding_solve (self->folding);
  assert_near (self->flows[0].rate, 400.0 / 201, 1e-12); /* the last link: weights 200 and 1 */
  assert_near (self->flows[1].rate, 400.0 / 201, 1e-12);
}

/* A hundred weights, which is more than there is room for at first, and then the same ones again: one class each,
 * of two links. */
static void
weights_that_come_again_are_in_their_classes (G_GNUC_UNUSED void **state)
{
  g_autoptr (Case) self = case_new (400);
  Flow *flow = flow_over (self, 0, 0, MOST_LINKS, 1);

  for (guint i = 0; i < MOST_LINKS; i++)
    flow->weights[i] = 1 + i % (MOST_LINKS / 2);
  add (self, flow);
  ASSERT_CLASSES (self, MOST_LINKS / 2);
  fab_folding_solve (self->folding);
  assert_near (flow->rate, 4, 1e-12); /* weight 100 */
}

/* A flow that comes and goes puts its link into a class of its own, once. What has come apart stays apart. */
static void
a_flow_that_comes_and_goes_uses_its_links_separately (G_GNUC_UNUSED void **state)
{
  g_autoptr (Case) self = case_new (12);

  add (self, flow_over (self, 0, 0, 8, 8));
  for (guint i = 0; i < 3 * MOST_LINKS; i++) {
    Flow *once = add_once (self, flow_over (self, 1, 3, 2, 2));

    ASSERT_CLASSES (self, 3, 2);
    fab_folding_solve (self->folding);
    assert_near (self->flows[0].rate, 6, 1e-12);
    assert_near (once->rate, 6, 1e-12);
    fab_folding_remove (self->folding, &once->folded);
    fab_folding_solve (self->folding);
    assert_near (self->flows[0].rate, 12, 1e-12);
  }
  add (self, flow_over (self, 1, 4, 4, 4));
  ASSERT_CLASSES (self, 4, 2); /* links 5 to 7 part from 0 to 2 */
}

/* Links of a class part from both of its ends, one by one; those that nobody has crossed before have their capacity. */
static void
links_part_from_both_ends_of_a_class (G_GNUC_UNUSED void **state)
{
  static const guint links[] = { 0, 7, 1, 6, 2, 5 };
  g_autoptr (Case) self = case_new (12);

  add (self, flow_over (self, 0, 0, 8, 8));
  for (guint i = 0; i < G_N_ELEMENTS (links); i++) {
    Flow *once = add_once (self, flow_over (self, 1, links[i], 1, 1));

    ASSERT_CLASSES (self, i + 2);
    fab_folding_remove (self->folding, &once->folded);
  }
  add_once (self, flow_over (self, 1, 150, 2, 2));
  ASSERT_CLASSES (self, 7, 2);
  fab_folding_solve (self->folding);
  assert_near (self->flows[0].rate, 12, 1e-12);
  assert_near (self->flows[1].rate, 12, 1e-12);
}

/* A link whose capacity changes is a class of its own from then on, also where no flow has crossed it yet; the flow
 * over it is solved again. 8 links at 12 and one at 3, 0, and 9. */
static void
a_link_that_changes_stands_for_itself (G_GNUC_UNUSED void **state)
{
  static const double capacities[] = { 3, 0, 9, 12 };
  g_autoptr (Case) self = case_new (12);
  Flow *flow = add (self, flow_over (self, 0, 0, 9, 9));

  for (guint i = 0; i < 2 * MOST_LINKS; i++) {
    self->capacities[8] = capacities[i % G_N_ELEMENTS (capacities)];
    fab_folding_change_capacity (self->folding, 8);
    ASSERT_CLASSES (self, 2);
    fab_folding_solve (self->folding);
    assert_near (flow->rate, capacities[i % G_N_ELEMENTS (capacities)], 1e-12);
  }
  self->capacities[100] = 6;
  fab_folding_change_capacity (self->folding, 100);
  add (self, flow_over (self, 1, 99, 4, 4));
  ASSERT_CLASSES (self, 2, 2);
  fab_folding_solve (self->folding);
  assert_near (self->flows[1].rate, 6, 1e-12);
}

/* What is known of arrays holds for all flows that have them, also while no such flow is in: while the first was away
 * its class was split, so that it has two when it is back. */
static void
arrays_of_flows_that_stay_are_remembered (G_GNUC_UNUSED void **state)
{
  g_autoptr (Case) self = case_new (12);
  Flow *flow = add (self, flow_over (self, 0, 0, 8, 8));

  fab_folding_remove (self->folding, &flow->folded);
  add (self, flow_over (self, 1, 0, 2, 2));
  add (self, flow);
  ASSERT_CLASSES (self, 2, 1);
  self->flows[2] = self->flows[1];
  self->flows[2].folded.links = self->flows[1].links;
  self->flows[2].folded.weights = self->flows[1].weights;
  self->flows[2].folded.sharer = (FabSharer){ .weight_factor = 1, .share = 1 };
  self->n_asked = 0;
  add (self, &self->flows[2]);
  assert_int_equal (self->n_asked, 0);
  ASSERT_CLASSES (self, 2, 1, 1);
  fab_folding_solve (self->folding);
  for (guint f = 0; f < 3; f++)
    assert_near (self->flows[f].rate, 4, 1e-12);
}

/* While a flow was away its class was split twice, by a flow that comes and goes and by one that stays. */
static void
what_is_known_of_arrays_may_be_out_of_date (G_GNUC_UNUSED void **state)
{
  g_autoptr (Case) self = case_new (12);
  Flow *flow = add (self, flow_over (self, 0, 0, 8, 8));

  fab_folding_remove (self->folding, &flow->folded);
  add_once (self, flow_over (self, 1, 3, 1, 1));
  add (self, flow_over (self, 2, 0, 2, 2));
  add (self, flow);
  ASSERT_CLASSES (self, 3, 1, 1);
  fab_folding_solve (self->folding);
  for (guint f = 0; f < 3; f++)
    assert_near (self->flows[f].rate, 6, 1e-12);
}

/* A folding that is flat has a class for every link, whoever crosses it, and the same rates. */
static void
links_of_a_flat_folding_are_apart (G_GNUC_UNUSED void **state)
{
  g_autoptr (Case) self = case_new (12);

  fab_folding_free (self->folding);
  self->folding = fab_folding_new (MOST_LINKS, capacity_of, note_rate, self, TRUE);
  add (self, flow_over (self, 0, 0, 8, 8));
  add (self, flow_over (self, 1, 4, 8, 4));
  add_once (self, flow_over (self, 2, 20, 3, 3));
  ASSERT_CLASSES (self, 8, 8, 3);
  fab_folding_solve (self->folding);
  assert_near (self->flows[0].rate, 6,
               1e-12); /* links 4 to 7 have both, and 8 to 11 the second at weight 2 */
  assert_near (self->flows[1].rate, 6, 1e-12);
  assert_near (self->flows[2].rate, 12, 1e-12);
}

/* Flows over links 0 to 7, over 8 to 15, and over 16 to 23. One that comes, or goes, is told with those that it meets;
 * a class that is split has all flows that stay told, in whatever order others have gone. */
static void
flows_are_solved_again_when_classes_are_split (G_GNUC_UNUSED void **state)
{
  g_autoptr (Case) self = case_new (12);
  static const guint told[][4] = { { 1, 1, 1, 0 }, { 1, 2, 1, 1 }, { 1, 3, 1, 1 }, { 2, 3, 2, 1 } };

  for (guint step = 0; step < G_N_ELEMENTS (told); step++) {
    for (guint f = 0; step == 0 && f < 3; f++)
      add (self, flow_over (self, f, 8 * f, 8, 8));
    if (step == 1)
      add (self, flow_over (self, 3, 8, 8, 8));
    if (step == 2)
      fab_folding_remove (self->folding, &self->flows[3].folded);
    if (step == 3) {
      fab_folding_remove (self->folding, &self->flows[1].folded);
      fab_folding_change_capacity (self->folding, 0);
    }
    fab_folding_solve (self->folding);
    for (guint f = 0; f < 4; f++)
      assert_int_equal (self->flows[f].n_told, told[step][f]);
  }
  ASSERT_CLASSES (self, 2);
}

/* Of more links than any path has, a flow that enters is not solved until others change its rate, and one that is added
 * is. */
static void
a_flow_of_many_links_may_enter_without_a_solve (G_GNUC_UNUSED void **state)
{
  g_autoptr (Case) self = case_new (12);
  Flow *flow = flow_over (self, 0, 0, 65, 1);

  fab_folding_enter (self->folding, &flow->folded);
  fab_folding_solve (self->folding);
  assert_int_equal (flow->n_told, 0);
  add (self, flow_over (self, 1, 64, 1, 1));
  fab_folding_solve (self->folding);
  assert_int_equal (flow->n_told, 1);
  assert_near (flow->rate, 12.0 / 66, 1e-12); /* weights 65 and 1 */
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_flow_splits_the_classes_of_others),
    cmocka_unit_test (capacities_and_weights_tell_links_apart),
    cmocka_unit_test (there_may_be_a_class_for_every_link),
    cmocka_unit_test (weights_that_come_again_are_in_their_classes),
    cmocka_unit_test (a_flow_that_comes_and_goes_uses_its_links_separately),
    cmocka_unit_test (links_part_from_both_ends_of_a_class),
    cmocka_unit_test (a_link_that_changes_stands_for_itself),
    cmocka_unit_test (arrays_of_flows_that_stay_are_remembered),
    cmocka_unit_test (what_is_known_of_arrays_may_be_out_of_date),
    cmocka_unit_test (links_of_a_flat_folding_are_apart),
    cmocka_unit_test (flows_are_solved_again_when_classes_are_split),
    cmocka_unit_test (a_flow_of_many_links_may_enter_without_a_solve),
  };

  return cmocka_run_group_tests_name ("link_classes", tests, NULL, NULL);
}
