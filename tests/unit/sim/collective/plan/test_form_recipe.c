/* SPDX-License-Identifier: Apache-2.0 */
/* test_form_recipe.c - a form of other rates, made from a recipe, is the one that is made anew on a graph with these
 * rates, to the last bit; and what a recipe cannot hold. */
#include "tests/support/test.h"

#include "sim/collective/plan/form_recipe.h"
#include "sim/collective/shape/send_graph.h"
#include "tests/support/random.h"
#include "tests/support/rig.h"
#include "tests/support/seeds.h"

enum { NODES = 2, GPUS = 3, RANKS = NODES * GPUS, MOST_SENDS = 16 };

/* Two nodes of three GPUs and three NICs. `slow`: how many hundredths are left of the rate of each link out of a GPU,
 * and of each out of a NIC. */
static Rig *
two_nodes (FabBytesPerS gpu_bytes_per_s, FabBytesPerS nic_bytes_per_s, const guint *slow)
{
  Rig *rig = rig_new (&(RigSpec){ .n_nodes = NODES,
                                  .gpus_per_node = GPUS,
                                  .nics_per_node = GPUS,
                                  .gpu_bytes_per_s = gpu_bytes_per_s,
                                  .nic_bytes_per_s = nic_bytes_per_s,
                                  .gpu_latency_ps = 50,
                                  .nic_latency_ps = 500,
                                  .gpu_cost = 1.25,
                                  .nic_cost = 1.5 });
  guint n = fab_graph_n_links (rig->graph);
  g_autofree FabLinkChange *changes = g_new0 (FabLinkChange, n);

  for (FabLinkId link = 0; link < n; link++)
    changes[link].rate_fraction = 1;
  for (guint rank = 0; rank < RANKS; rank++)
    for (guint is_nic = 0; is_nic < 2; is_nic++) {
      FabVertexId from = is_nic ? rig->cluster.nics[rank] : rig_gpu (rig, rank);
      FabLinkId first;
      guint n_out = fab_graph_out_links (rig->graph, from, &first);

      for (FabLinkId link = first; link < first + n_out; link++)
        changes[link].rate_fraction = slow[2 * rank + is_nic] / 100.0;
    }
  fab_graph_change (rig->graph, changes);
  return rig;
}

/* A send, and the sends of its part that it waits for. */
typedef struct {
  guint from, to, n_beside, n_after, after[3];
  double weight;
  gboolean is_like; /* added without its links */
  gboolean ends_part;
} Send;

static FabCollectiveForm
form_of (const Rig *rig, const Send *sends, guint n, gboolean is_pipeline, FabFormRecipe *recipe)
{
  FabGroup group = rig_group (rig);
  const FabAlgorithmEnv env = { .net_stretch = 1.125, .recipe = recipe };
  g_autoptr (FabSendGraph) graph = fab_send_graph_new (&group, &env, NULL, 1);
  FabCollectiveForm form = { 0 };

  for (guint i = 0; i < n; i++) {
    g_autoptr (GArray) after = g_array_new (FALSE, FALSE, sizeof (guint));
    FabHop hop;

    g_array_append_vals (after, sends[i].after, sends[i].n_after);
    assert_true (fab_hop_ranks (&group, sends[i].from, sends[i].to, &hop, NULL));
    if (sends[i].is_like) {
      fab_send_graph_add_like (graph, &hop, sends[i].weight, sends[i].n_beside, after);
      fab_hop_clear (&hop);
    } else {
      fab_send_graph_add (graph, &hop, sends[i].weight, sends[i].n_beside, after);
    }
    if (sends[i].ends_part)
      fab_send_graph_end_part (graph);
  }
  fab_send_graph_form (graph, is_pipeline, &form);
  if (recipe != NULL)
    fab_form_recipe_close (recipe, is_pipeline);
  return form;
}

static void
assert_same (const FabCollectiveForm *a, const FabCollectiveForm *b)
{
  assert_int_equal (a->n_intra_steps, b->n_intra_steps);
  assert_int_equal (a->n_inter_steps, b->n_inter_steps);
  assert_int_equal (a->intra_latency_ps, b->intra_latency_ps);
  assert_int_equal (a->inter_latency_ps, b->inter_latency_ps);
  assert_int_equal (a->intra_kind, b->intra_kind);
  assert_int_equal (a->inter_kind, b->inter_kind);
  assert_ptr_equal (a->intra_technology, b->intra_technology);
  assert_memory_equal (&a->fill_s_per_byte, &b->fill_s_per_byte, sizeof (double));
  assert_memory_equal (&a->footprint->rate_bytes_per_s, &b->footprint->rate_bytes_per_s, sizeof (double));
  assert_int_equal (a->footprint->binding_link, b->footprint->binding_link);
}

/* Sends of up to three parts, each of which waits for up to three of its part. */
static guint
draw_sends (Random *random, Send *sends)
{
  guint n = random_between (random, 1, MOST_SENDS), in_part = 0;

  for (guint i = 0; i < n; i++) {
    guint from = random_below (random, RANKS);

    sends[i] = (Send){ .from = from,
                       .to = (from + random_between (random, 1, RANKS - 1)) % RANKS,
                       .n_beside = random_between (random, 1, 3),
                       .weight = 0.125 * random_between (random, 1, 8),
                       .is_like = i > 0 && random_chance (random, 20),
                       .n_after = in_part > 0 ? random_below (random, 4) : 0,
                       .ends_part = i > 0 && random_chance (random, 20) };
    for (guint k = 0; k < sends[i].n_after; k++)
      sends[i].after[k] = random_below (random, in_part);
    in_part = sends[i].ends_part ? 0 : in_part + 1;
  }
  return n;
}

/* Links that had equal rates have equal ones on the other graph too. */
static void
check_replay (Random *random)
{
  static const guint before[] = { 100, 50, 80 };
  guint after[3], slow[2 * RANKS], other_slow[2 * RANKS];
  Send sends[MOST_SENDS];
  guint n = draw_sends (random, sends);
  gboolean is_pipeline = random_chance (random, 70);

  after[0] = 100; /* as the links into GPUs and NICs, which had that rate too */
  for (guint i = 1; i < 3; i++)
    after[i] = random_between (random, 10, 100);
  for (guint i = 0; i < 2 * RANKS; i++) {
    guint which = random_below (random, 3);

    slow[i] = before[which];
    other_slow[i] = after[which];
  }
  g_autoptr (Rig) rig = two_nodes (1000000000, 200000000, slow),
                  other = two_nodes (1000000000, random_between (random, 50, 5000) * 1000000, other_slow);
  FabFormRecipe *recipe = fab_form_recipe_new (rig->graph);
  FabCollectiveForm known = form_of (rig, sends, n, is_pipeline, recipe),
                    expected = form_of (other, sends, n, is_pipeline, NULL), replayed;

  assert_true (fab_form_recipe_is_whole (recipe));
  assert_int_equal (fab_form_recipe_n_sends (recipe), n);
  fab_form_recipe_replay (recipe, other->graph, &known, &replayed);
  assert_same (&replayed, &expected);
  fab_footprint_free (known.footprint);
  fab_footprint_free (expected.footprint);
  fab_footprint_free (replayed.footprint);
  fab_form_recipe_free (recipe);
}

static void
a_replayed_form_is_the_one_made_anew (G_GNUC_UNUSED void **state)
{
  seeds_run (300, check_replay);
}

/* --- what a recipe holds --- */

static const guint full_rates[2 * RANKS] = { 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100 };

static FabHop
hop_between (const Rig *rig, guint from, guint to)
{
  FabGroup group = rig_group (rig);
  FabHop hop;

  assert_true (fab_hop_ranks (&group, from, to, &hop, NULL));
  return hop;
}

/* Hops of which rates make the same are one: all inside nodes, and all between them; a hop of another kind, another
 * drive or another stretch is another one. */
static void
hops_that_are_alike_are_one (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = two_nodes (1000, 200, full_rates);
  FabFormRecipe *recipe = fab_form_recipe_new (rig->graph);
  FabHop inside = hop_between (rig, 0, 1), other = hop_between (rig, 4, 3), between = hop_between (rig, 0, 3),
         back = hop_between (rig, 3, 0), changed = inside;

  assert_int_equal (fab_form_recipe_hop (recipe, &inside), 0);
  assert_int_equal (fab_form_recipe_hop (recipe, &between), 1);
  assert_int_equal (fab_form_recipe_hop (recipe, &other), 0);
  assert_int_equal (fab_form_recipe_hop (recipe, &back), 1);
  changed.kind = FAB_HOP_STAGED;
  assert_int_equal (fab_form_recipe_hop (recipe, &changed), 2);
  changed.drive = FAB_DRIVE_MULTIMEM;
  assert_int_equal (fab_form_recipe_hop (recipe, &changed), 3);
  changed.stretch = 1.5;
  assert_int_equal (fab_form_recipe_hop (recipe, &changed), 4);
  changed.read_stretch = 2; /* is a part of the factor of a send */
  assert_int_equal (fab_form_recipe_hop (recipe, &changed), 4);
  assert_int_equal (fab_form_recipe_hop (recipe, &inside), 0);
  assert_false (fab_form_recipe_is_whole (recipe));
  fab_form_recipe_close (recipe, FALSE);
  assert_true (fab_form_recipe_is_whole (recipe));
  assert_int_equal (fab_form_recipe_n_sends (recipe), 0);
  fab_hop_clear (&inside);
  fab_hop_clear (&other);
  fab_hop_clear (&between);
  fab_hop_clear (&back);
  fab_form_recipe_free (recipe);
}

/* Rates of links of one class are told apart: the hop from a slow GPU is another one, and that from another slow GPU at
 * the same rate is not. */
static void
hops_of_other_rates_are_others (G_GNUC_UNUSED void **state)
{
  guint slow[2 * RANKS];

  memcpy (slow, full_rates, sizeof slow);
  slow[2 * 1] = slow[2 * 2] = 50;
  slow[2 * 4] = 25;
  g_autoptr (Rig) rig = two_nodes (1000, 200, slow);
  FabFormRecipe *recipe = fab_form_recipe_new (rig->graph);
  static const struct {
    guint from, to, number;
  } hops[] = { { 0, 1, 0 }, { 1, 0, 1 }, { 2, 1, 1 }, { 4, 3, 2 }, { 3, 5, 0 }, { 5, 4, 0 }, { 0, 2, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (hops); i++) {
    FabHop hop = hop_between (rig, hops[i].from, hops[i].to);

    assert_int_equal (fab_form_recipe_hop (recipe, &hop), hops[i].number);
    fab_hop_clear (&hop);
  }
  fab_form_recipe_free (recipe);
}

/* A hop that spreads its bytes, or is limited by a device, breaks the recipe for good. */
static void
hops_that_do_not_follow_rates_break_a_recipe (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = two_nodes (1000, 200, full_rates);

  for (guint which = 0; which < 3; which++) {
    FabFormRecipe *recipe = fab_form_recipe_new (rig->graph);
    FabHop hop = hop_between (rig, 0, 1), usual = hop_between (rig, 1, 2);

    fab_form_recipe_send (recipe, &usual, 1, NULL);
    if (which == 0)
      hop.device_stretch = 1.5;
    if (which == 1)
      g_array_index (hop.shares, FabShare, 1).fraction = 0.5;
    fab_form_recipe_send (recipe, &hop, 1, NULL);
    fab_form_recipe_send (recipe, &usual, 1, NULL);
    fab_form_recipe_close (recipe, FALSE);
    assert_int_equal (fab_form_recipe_is_whole (recipe), which == 2);
    assert_int_equal (fab_form_recipe_n_sends (recipe), which == 2 ? 3 : 1);
    fab_hop_clear (&hop);
    fab_hop_clear (&usual);
    fab_form_recipe_free (recipe);
  }
}

/* 64 kinds of hops have room, and one more has none; 16 rates of the links of one hop have room, and one more has
 * none. */
static void
a_recipe_has_room_for_some_kinds (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = two_nodes (1000, 200, full_rates);

  for (guint n = 64; n <= 65; n++) {
    FabFormRecipe *recipe = fab_form_recipe_new (rig->graph);
    FabHop hop = hop_between (rig, 0, 1);

    for (guint i = 0; i < n; i++) {
      hop.stretch = 1 + i * 0.125;
      assert_int_equal (fab_form_recipe_hop (recipe, &hop), i);
    }
    hop.stretch = 1;
    fab_form_recipe_hop (recipe, &hop);
    fab_form_recipe_close (recipe, FALSE);
    assert_int_equal (fab_form_recipe_is_whole (recipe), n == 64);
    fab_hop_clear (&hop);
    fab_form_recipe_free (recipe);
  }
}

static void
a_hop_has_room_for_some_rates (G_GNUC_UNUSED void **state)
{
  for (guint n = 16; n <= 17; n++) {
    g_autoptr (Rig) rig = rig_new (
        &(RigSpec){ .n_nodes = 1, .gpus_per_node = 20, .gpu_bytes_per_s = 1000, .gpu_latency_ps = 50 });
    guint n_links = fab_graph_n_links (rig->graph);
    g_autofree FabLinkChange *changes = g_new0 (FabLinkChange, n_links);
    FabHop hop = hop_between (rig, 0, 1);
    FabFormRecipe *recipe;

    for (FabLinkId link = 0; link < n_links; link++)
      changes[link].rate_fraction = 0.01 * (link + 1);
    fab_graph_change (rig->graph, changes);
    recipe = fab_form_recipe_new (rig->graph);
    g_array_set_size (hop.shares, 0);
    for (FabLinkId link = 0; link < n; link++)
      for (guint times = 0; times < 2; times++)
        g_array_append_vals (hop.shares, &(FabShare){ .link = link, .fraction = 1 }, 1);
    fab_form_recipe_hop (recipe, &hop);
    fab_form_recipe_close (recipe, FALSE);
    assert_int_equal (fab_form_recipe_is_whole (recipe), n == 16);
    fab_hop_clear (&hop);
    fab_form_recipe_free (recipe);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (a_replayed_form_is_the_one_made_anew),
    cmocka_unit_test (hops_that_are_alike_are_one),
    cmocka_unit_test (hops_of_other_rates_are_others),
    cmocka_unit_test (hops_that_do_not_follow_rates_break_a_recipe),
    cmocka_unit_test (a_recipe_has_room_for_some_kinds),
    cmocka_unit_test (a_hop_has_room_for_some_rates),
  };

  return cmocka_run_group_tests_name ("form recipes", tests, NULL, NULL);
}
