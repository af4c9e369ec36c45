/* SPDX-License-Identifier: Apache-2.0 */
/* test_shared_rates.c - which flows are told a rate after a change, and that no others are. Random flows, whose rates
 * are those of solving all anew: tests/property/prop_sharing.c.
 */
#include "tests/support/test.h"

#include "sim/solve/sharing.h"

enum { MOST_LINKS = 200, MOST_FLOWS = 8 };

typedef struct {
  FabSharer sharer; /* first: what `changed` is given */
  guint links[MOST_LINKS];
  double weights[MOST_LINKS];
  double rate;
  guint n_told; /* in the last solve */
} Flow;

typedef struct {
  FabSharing *sharing;
  Flow flows[MOST_FLOWS];
} Case;

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

  self->sharing = fab_sharing_new (MOST_LINKS, note_rate, self);
  for (guint link = 0; link < MOST_LINKS; link++)
    fab_sharing_set_capacity (self->sharing, link, capacity);
  return self;
}

static void
case_free (Case *self)
{
  fab_sharing_free (self->sharing);
  g_free (self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Case, case_free)

/* A flow over `n` links from `first` on, with a limit; 0: there is none. */
static FabSharer *
flow_over (Case *self, guint flow, guint first, guint n, double limit)
{
  Flow *made = &self->flows[flow];

  for (guint i = 0; i < n; i++) {
    made->links[i] = first + i;
    made->weights[i] = 1;
  }
  made->sharer = (FabSharer){
    .links = made->links, .weights = made->weights, .n = n, .weight_factor = 1, .share = 1, .limit = limit
  };
  return &made->sharer;
}

/* The flows that are told, as a text of their numbers, and the rates that all have then. */
static void
assert_told (Case *self, const char *told, const double *rates)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint f = 0; f < MOST_FLOWS; f++)
    self->flows[f].n_told = 0;
  fab_sharing_solve (self->sharing);
  for (guint f = 0; f < MOST_FLOWS; f++) {
    assert_true (self->flows[f].n_told <= 1);
    if (self->flows[f].n_told > 0)
      g_string_append_printf (text, "%u", f);
  }
  assert_string_equal (text->str, told);
  for (guint f = 0; rates != NULL && rates[f] >= 0; f++)
    assert_near (self->flows[f].rate, rates[f], 1e-12);
}

#define RATES(...) ((const double[]){ __VA_ARGS__, -1 })

/* Flow 0 is alone on link 0; 1 on links 1 and 2; 2 on link 2; then 3 comes to link 1, and goes. */
static void
flows_that_a_change_does_not_reach_are_not_told (G_GNUC_UNUSED void **state)
{
  g_autoptr (Case) self = case_new (12);

  assert_told (self, "", NULL);
  fab_sharing_add (self->sharing, flow_over (self, 0, 0, 1, 0));
  fab_sharing_add (self->sharing, flow_over (self, 1, 1, 2, 0));
  assert_told (self, "01", RATES (12, 12));
  assert_told (self, "", NULL);
  fab_sharing_add (self->sharing, flow_over (self, 2, 2, 1, 0));
  assert_told (self, "12", RATES (12, 6, 6));
  fab_sharing_add (self->sharing, flow_over (self, 3, 1, 1, 0));
  assert_told (self, "13", RATES (12, 6, 6, 6)); /* flow 1 hears that its other link is full as well */
  fab_sharing_change_capacity (self->sharing, 1, 6);
  assert_told (self, "123", RATES (12, 3, 9, 3));
  fab_sharing_change_capacity (self->sharing, 1, 6);
  assert_told (self, "", NULL);
  fab_sharing_remove (self->sharing, &self->flows[3].sharer);
  assert_told (self, "12", RATES (12, 6, 6));
  fab_sharing_change_capacity (self->sharing, 0, 0);
  assert_told (self, "0", RATES (0, 6, 6));
  fab_sharing_change_capacity (self->sharing, 0, 5);
  assert_told (self, "0", RATES (5, 6, 6));
}

/* A flow with a limit leaves the rest to another; who is limited by others is told when they go. */
static void
a_limit_leaves_the_rest_to_others (G_GNUC_UNUSED void **state)
{
  g_autoptr (Case) self = case_new (12);

  fab_sharing_add (self->sharing, flow_over (self, 0, 0, 2, 4));
  fab_sharing_add (self->sharing, flow_over (self, 1, 0, 1, 0));
  assert_told (self, "01", RATES (4, 8));
  fab_sharing_change_capacity (self->sharing, 0, 6);
  assert_told (self, "01", RATES (3, 3));
  fab_sharing_change_capacity (self->sharing, 1, 1);
  assert_told (self, "01", RATES (1, 5));
}

/* Links 3, 70 and 199 alone: their arrays grow as capacities come, and old ones stay. */
static void
capacities_stay_when_later_links_come (G_GNUC_UNUSED void **state)
{
  static const guint links[] = { 3, 64, 70, 128, 199 };
  g_autoptr (Case) self = g_new0 (Case, 1);

  self->sharing = fab_sharing_new (MOST_LINKS, note_rate, self);
  for (guint i = 0; i < G_N_ELEMENTS (links); i++) {
    fab_sharing_set_capacity (self->sharing, links[i], 1 + i);
    fab_sharing_add (self->sharing, flow_over (self, i, links[i], 1, 0));
    for (guint k = 0; k < i; k++)
      fab_sharing_change_capacity (self->sharing, links[k], 2 + k + i);
    fab_sharing_solve (self->sharing);
    assert_near (self->flows[i].rate, 1 + i, 1e-12);
    for (guint k = 0; k < i; k++)
      assert_near (self->flows[k].rate, 2 + k + i, 1e-12);
  }
}

/* A flow that comes and goes before anybody asks is not told, and those that came with it are, once. */
static void
who_has_left_is_not_told (G_GNUC_UNUSED void **state)
{
  for (guint gone = 0; gone < 3; gone++) {
    g_autoptr (Case) self = case_new (12);
    g_autofree char *told = g_strdup (gone == 0 ? "12" : gone == 1 ? "02" : "01");

    for (guint f = 0; f < 3; f++)
      fab_sharing_add (self->sharing, flow_over (self, f, 0, 1, 0));
    fab_sharing_remove (self->sharing, &self->flows[gone].sharer);
    assert_told (self, told, NULL);
    for (guint f = 0; f < 3; f++)
      assert_true (f == gone || (self->flows[f].rate >= 6 && self->flows[f].rate <= 6));
    fab_sharing_add (self->sharing, &self->flows[gone].sharer);
    assert_told (self, "012", RATES (4, 4, 4));
    fab_sharing_leave (self->sharing, &self->flows[gone].sharer);
    assert_told (self, "", NULL); /* it is added again */
    fab_sharing_add (self->sharing, &self->flows[gone].sharer);
    assert_told (self, gone == 0 ? "0" : gone == 1 ? "1" : "2", RATES (4, 4, 4));
  }
}

/* With a flow over 65 links all flows are told that share links with what changed, directly or through others: 1 meets
 * it on link 64, and 2 meets 1 on link 65; 3 is on no link of theirs. It may enter without being solved; a flow of 64
 * links is solved when it enters. */
static void
all_that_a_wide_flow_reaches_are_told (G_GNUC_UNUSED void **state)
{
  g_autoptr (Case) self = case_new (12);

  fab_sharing_enter (self->sharing, flow_over (self, 0, 0, 65, 0));
  assert_told (self, "", NULL);
  fab_sharing_add (self->sharing, flow_over (self, 1, 64, 2, 0));
  assert_told (self, "01", RATES (6, 6));
  fab_sharing_add (self->sharing, flow_over (self, 3, 100, 1, 0));
  assert_told (self, "3", RATES (6, 6));
  fab_sharing_add (self->sharing, flow_over (self, 2, 65, 1, 3));
  assert_told (self, "012", RATES (6, 6, 3, 12));
  fab_sharing_remove (self->sharing, &self->flows[0].sharer);
  assert_told (self, "12", RATES (6, 9, 3, 12));
  fab_sharing_change_capacity (self->sharing, 64, 24);
  assert_told (self, "", RATES (6, 9, 3, 12)); /* link 65 alone holds 1 back, and no wide flow is left */
  fab_sharing_enter (self->sharing, flow_over (self, 4, 0, 64, 0));
  assert_told (self, "4", RATES (6, 9, 3, 12, 12));
}

/* Two of four leave before anybody asks, in any order. */
static void
several_may_leave_before_a_solve (G_GNUC_UNUSED void **state)
{
  for (guint pair = 0; pair < 16; pair++) {
    g_autoptr (Case) self = case_new (12);
    guint gone[] = { pair / 4, pair % 4 };
    g_autoptr (GString) told = g_string_new (NULL);

    if (gone[0] == gone[1])
      continue;
    for (guint f = 0; f < 4; f++)
      fab_sharing_add (self->sharing, flow_over (self, f, 0, 1, 0));
    for (guint i = 0; i < 2; i++)
      fab_sharing_remove (self->sharing, &self->flows[gone[i]].sharer);
    for (guint f = 0; f < 4; f++)
      if (f != gone[0] && f != gone[1])
        g_string_append_printf (told, "%u", f);
    assert_told (self, told->str, NULL);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (flows_that_a_change_does_not_reach_are_not_told),
    cmocka_unit_test (a_limit_leaves_the_rest_to_others),
    cmocka_unit_test (capacities_stay_when_later_links_come),
    cmocka_unit_test (who_has_left_is_not_told),
    cmocka_unit_test (several_may_leave_before_a_solve),
    cmocka_unit_test (all_that_a_wide_flow_reaches_are_told),
  };

  return cmocka_run_group_tests_name ("shared_rates", tests, NULL, NULL);
}
