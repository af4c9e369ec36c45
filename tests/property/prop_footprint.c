/* SPDX-License-Identifier: Apache-2.0 */
/* prop_footprint.c - a footprint is the sum of what was put on each link, counted link by link: over graphs of a few
 * links and of thousands, with routes of several senders, and with losses of links that are used in both directions. */
#include "tests/support/test.h"

#include "sim/fabric/footprint.h"
#include "tests/support/seeds.h"

enum { MOST_SENDERS = 64 };

/* What is known of one link. A link that a sender uses in a way that suffers from the other direction has a stretch. */
typedef struct {
  double weight, line_weight, stretch;
  guint64 senders; /* a bit for each */
} Sum;

/* A ring, in which link 2 v leads from vertex v to the next one. */
static FabGraph *
ring_of (Random *random, guint n)
{
  static const FabVertexKind kinds[] = { FAB_VERTEX_ACCELERATOR, FAB_VERTEX_SWITCH, FAB_VERTEX_NIC };
  static const FabLinkClass classes[] = { { .name = "one", .cost = { 1.5, 1.25, 1.125 } },
                                          { .name = "other", .cost = { 1, 2, 3 } } };
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  guint part = fab_graph_builder_part (builder, "v", TRUE);

  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    fab_graph_builder_class (builder, &classes[i]);
  for (guint i = 0; i < n; i++)
    fab_graph_builder_vertex (builder, kinds[random_below (random, G_N_ELEMENTS (kinds))], 0, part, i);
  for (guint i = 0; i < n; i++)
    fab_graph_builder_join (builder, i, (i + 1) % n,
                            &(FabLinkForm){ random_between (random, 1, 1000), 1, random_below (random, 2),
                                            1 });
  return fab_graph_builder_freeze (builder);
}

static FabUse
random_use (Random *random)
{
  FabUse use = { .weight = random_scale (random, 0.01, 100),
                 .drive = (FabDrive) random_below (random, FAB_N_DRIVES),
                 .stretch = 1 };

  if (random_chance (random, 50))
    use.stretch += random_unit (random);
  if (random_chance (random, 50))
    use.duplex_stretch = 1 + random_unit (random);
  if (random_chance (random, 50))
    use.device_stretch = 1 + random_unit (random);
  return use;
}

static gboolean
is_of_accelerator (const FabGraph *graph, FabLinkId link)
{
  const FabLink *one = fab_graph_link (graph, link);

  return fab_graph_vertex (graph, one->src)->kind == FAB_VERTEX_ACCELERATOR
      || fab_graph_vertex (graph, one->dst)->kind == FAB_VERTEX_ACCELERATOR;
}

/* Copy engines lose nothing on a link that their own bytes cross in both directions. */
static gboolean
suffers (const FabGraph *graph, const GArray *shares, guint i, const FabUse *use)
{
  FabLinkId reverse = fab_graph_link (graph, g_array_index (shares, FabShare, i).link)->reverse;

  for (guint k = 0; use->drive == FAB_DRIVE_COPY && k < shares->len; k++)
    if (g_array_index (shares, FabShare, k).link == reverse)
      return FALSE;
  return use->duplex_stretch > 1;
}

static void
count_shares (const FabGraph *graph, const GArray *shares, guint sender, const FabUse *use, gboolean is_noted,
              Sum *sums)
{
  for (guint i = 0; i < shares->len; i++) {
    const FabShare *share = &g_array_index (shares, FabShare, i);
    Sum *sum = &sums[share->link];
    double weight = use->weight * share->fraction;

    sum->weight += weight;
    sum->line_weight += weight * use->stretch * fab_graph_link_class (graph, share->link)->cost[use->drive]
                      * (is_of_accelerator (graph, share->link) ? MAX (use->device_stretch, 1) : 1);
    if (is_noted && suffers (graph, shares, i, use)) {
      sum->stretch = MAX (sum->stretch, use->duplex_stretch);
      sum->senders |= G_GUINT64_CONSTANT (1) << sender;
    }
  }
}

/* Both directions are slowed down by the smaller loss, unless one sender alone uses them. */
static double
loss_of (const FabGraph *graph, const Sum *sums, FabLinkId link)
{
  const Sum *one = &sums[link], *other = &sums[fab_graph_link (graph, link)->reverse];
  gboolean is_alone = one->senders == other->senders && (one->senders & (one->senders - 1)) == 0;

  return one->senders == 0 || other->senders == 0 || is_alone ? 1 : MIN (one->stretch, other->stretch);
}

/* Links that a sender crosses one after another, back at times, and those of its first link begin its route. */
static GArray *
random_route (Random *random, const FabGraph *graph, guint sender)
{
  GArray *shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
  FabShare share = { sender, 1 };
  guint n = fab_graph_n_links (graph);

  g_array_append_val (shares, share);
  for (guint i = random_below (random, 12); i > 0; i--) {
    share.link = random_chance (random, 30) ? fab_graph_link (graph, share.link)->reverse
                                            : random_below (random, n);
    share.fraction = random_chance (random, 50) ? 1 : 0.05 + 0.95 * random_unit (random);
    g_array_append_val (shares, share);
  }
  return shares;
}

/* Adds the routes of several senders to both; a sender is the first link of its routes. */
static void
add_routes (Random *random, const FabGraph *graph, gboolean is_noted, FabFootprintBuilder *builder, Sum *sums)
{
  for (guint i = random_between (random, 1, 40); i > 0; i--) {
    guint sender = random_below (random, MIN (MOST_SENDERS, fab_graph_n_links (graph)));
    g_autoptr (GArray) shares = random_route (random, graph, sender);
    FabUse use = random_use (random);

    count_shares (graph, shares, sender, &use, is_noted, sums);
    fab_footprint_builder_add_shares (builder, shares, use);
  }
}

static void
assert_sums (const FabGraph *graph, const FabFootprint *footprint, const Sum *sums, const Sum *noted)
{
  double rate = G_MAXDOUBLE, line_bound = G_MAXDOUBLE;
  guint n = 0;

  for (FabLinkId link = 0; link < fab_graph_n_links (graph); link++) {
    double line = (double) fab_graph_link (graph, link)->rate_bytes_per_s;
    guint index;

    assert_int_equal (fab_footprint_has (footprint, link, &index), sums[link].weight > 0);
    if (sums[link].weight <= 0)
      continue;
    double line_weight = sums[link].line_weight * loss_of (graph, noted, link);
    assert_int_equal (index, n);
    assert_int_equal (fab_footprint_find (footprint, link), n++);
    assert_near (footprint->weights[index], sums[link].weight, 1e-12);
    assert_near (footprint->line_weights[index], line_weight, 1e-12);
    rate = MIN (rate, line / line_weight);
    line_bound = MIN (line_bound, line / sums[link].weight);
  }
  assert_int_equal (footprint->n, n);
  assert_near (footprint->rate_bytes_per_s, rate, 1e-12);
  assert_near (footprint->line_bound_bytes_per_s, line_bound, 1e-12);
  guint binding = fab_footprint_find (footprint, footprint->binding_link);
  assert_true (footprint->binding_weight == footprint->weights[binding]);
  assert_near ((double) fab_graph_link (graph, footprint->binding_link)->rate_bytes_per_s
                   / footprint->line_weights[binding],
               rate, 1e-11);
}

/* A builder is used for several footprints; each has what was added to it, and nothing of those before. */
static void
check_footprints (Random *random)
{
  guint n = random_chance (random, 50) ? random_between (random, 3, 40) : random_between (random, 3, 3000);
  g_autoptr (FabGraph) graph = ring_of (random, n);
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (graph);

  for (guint round = random_between (random, 1, 4); round > 0; round--) {
    g_autofree Sum *sums = g_new0 (Sum, fab_graph_n_links (graph));

    add_routes (random, graph, TRUE, builder, sums);
    g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (builder);
    assert_sums (graph, footprint, sums, sums);
  }
}

static void
footprints_are_sums (G_GNUC_UNUSED void **state)
{
  seeds_run (150, check_footprints);
}

/* What all routes lose by each other is known before; it holds for footprints that are built one by one. */
static void
check_kept_losses (Random *random)
{
  g_autoptr (FabGraph) graph = ring_of (random, random_between (random, 3, 100));
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (graph);
  g_autofree Sum *noted = g_new0 (Sum, fab_graph_n_links (graph));

  add_routes (random, graph, TRUE, builder, noted);
  fab_footprint_builder_keep_duplex (builder);
  for (guint round = 0; round < 3; round++) {
    g_autofree Sum *sums = g_new0 (Sum, fab_graph_n_links (graph));

    add_routes (random, graph, FALSE, builder, sums);
    g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (builder);
    assert_sums (graph, footprint, sums, noted);
  }
}

static void
losses_by_the_other_direction_can_be_kept (G_GNUC_UNUSED void **state)
{
  seeds_run (150, check_kept_losses);
}

/* Puts the losses into the sums. */
static void
settle (const FabGraph *graph, Sum *sums)
{
  for (FabLinkId link = 0; link < fab_graph_n_links (graph); link++)
    sums[link].line_weight *= loss_of (graph, sums, link);
  for (FabLinkId link = 0; link < fab_graph_n_links (graph); link++)
    sums[link] = (Sum){ sums[link].weight, sums[link].line_weight, 0, 0 };
}

/* What is done with a finished footprint: it is copied, its loads are multiplied by powers of two, and it is added to
 * others. */
static void
check_uses_of_footprints (Random *random)
{
  g_autoptr (FabGraph) graph = ring_of (random, random_between (random, 3, 100));
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (graph);
  g_autofree Sum *sums = g_new0 (Sum, fab_graph_n_links (graph));
  const int exponent = (int) random_below (random, 7) - 3;

  add_routes (random, graph, TRUE, builder, sums);
  g_autoptr (FabFootprint) first = fab_footprint_builder_finish (builder);
  settle (graph, sums);
  g_autoptr (FabFootprint) same = fab_footprint_on (first, graph),
                           more = fab_footprint_doubled (first, exponent);
  assert_sums (graph, same, sums, sums);
  assert_int_equal (more->binding_link, first->binding_link);
  for (FabLinkId link = 0; link < fab_graph_n_links (graph); link++) {
    sums[link].weight = ldexp (sums[link].weight, exponent);
    sums[link].line_weight = ldexp (sums[link].line_weight, exponent);
  }
  assert_sums (graph, more, sums, sums);
  add_routes (random, graph, TRUE, builder, sums);
  fab_footprint_builder_add_footprint (builder, more);
  g_autoptr (FabFootprint) together = fab_footprint_builder_finish (builder);
  assert_sums (graph, together, sums, sums);
}

static void
footprints_can_be_changed_and_added (G_GNUC_UNUSED void **state)
{
  seeds_run (150, check_uses_of_footprints);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (footprints_are_sums),
    seeds_test (losses_by_the_other_direction_can_be_kept),
    seeds_test (footprints_can_be_changed_and_added),
  };

  return cmocka_run_group_tests_name ("footprint", tests, NULL, NULL);
}
