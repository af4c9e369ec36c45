/* SPDX-License-Identifier: Apache-2.0 */
/* test_pairs.c - which tables make pairs, and how far these are off, of tables that are made by hand. */
#include <math.h>
#include <string.h>

#include "tests/unit/validate/bands/pairs_world.h"

/* How many of these pairs differ in this, and the difference of the first of them. */
static guint
count_in (const GArray *list, const char *kind, double *difference)
{
  guint n = 0;

  for (guint i = 0; i < list->len; i++) {
    const FabPair *pair = &g_array_index (list, FabPair, i);

    if (strcmp (pair->kind, kind) == 0 && n++ == 0)
      *difference = pair->logs[0];
  }
  return n;
}

static guint
count (const FabPairs *pairs, FabPairRelation relation, const char *kind, double *difference)
{
  return count_in (pairs->collectives[relation].pairs, kind, difference);
}

/* Another number of nodes on one machine is alike: ln 1.5 - ln 1.2 is what the two are off from each other. Each table
 * has two sizes, of which one is four times the other. */
static void
one_thing_is_alike (G_GNUC_UNUSED void **state)
{
  g_autoptr (World) world = world_new ();
  double difference = -1;

  add_table (world, "github:a/b file x", "efa-100", 1.5);
  add_table (world, "github:a/b file y", "efa-100", 1.2)->nodes = 4;
  g_autoptr (FabPairs) pairs = pairs_of (world);

  assert_int_equal (count (pairs, FAB_PAIR_ALIKE, "number of nodes", &difference), 1);
  assert_near (difference, log (1.5 / 1.2), 1e-12);
  assert_int_equal (count (pairs, FAB_PAIR_ALIKE, "size", &difference), 2);
  assert_near (difference, 0, 1e-12);
  assert_int_equal (pairs->collectives[FAB_PAIR_OTHER].pairs->len, 0);
  assert_int_equal (pairs->collectives[FAB_PAIR_SAME].pairs->len, 0);
}

/* Two things at once, another machine with another number of nodes, and a doubtful table make no pair. */
static void
more_than_one_thing_is_no_pair (G_GNUC_UNUSED void **state)
{
  g_autoptr (World) world = world_new ();
  FabMeasuredSpec *both;

  add_table (world, "github:a/b file x", "efa-100", 1.5);
  both = add_table (world, "github:a/b file y", "efa-100", 1.2);
  both->nodes = 4;
  both->gpus_per_node = 4;
  add_table (world, "github:c/d file x", "efa-100", 1.2)->nodes = 8;
  add_table (world, "github:a/b file z", "efa-100", 1.2)->is_doubtful = TRUE;
  g_autoptr (FabPairs) pairs = pairs_of (world);

  assert_int_equal (pairs->collectives[FAB_PAIR_ALIKE].pairs->len, 3); /* sizes of the three */
  assert_int_equal (pairs->collectives[FAB_PAIR_SAME].pairs->len, 0);
}

/* The same collective of two publications is the same; over other links it is another, and of a family that was not
 * measured as well. 40 and 32 ranks are about as many, 80 and 32 are not. */
static void
families_and_publications (G_GNUC_UNUSED void **state)
{
  g_autoptr (World) world = world_new ();
  double difference = -1;

  add_table (world, "github:a/b file x", "efa-100", 1.5)->nodes = 4;
  add_table (world, "github:c/d file x", "efa-100", 1.0)->nodes = 4;
  add_table (world, "github:c/d file y", "infiniband-400", 1.2)->nodes = 5;
  add_table (world, "github:c/d file z", "slingshot-200", 1.2)->nodes = 10;
  g_autoptr (FabPairs) pairs = pairs_of (world);

  assert_int_equal (count (pairs, FAB_PAIR_SAME, "measured again", &difference), 1);
  assert_near (difference, log (1.5), 1e-12);
  assert_int_equal (count (pairs, FAB_PAIR_OTHER, "NIC", &difference), 2);
  assert_near (difference, log (1.5 / 1.2), 1e-12);
  assert_int_equal (count (pairs, FAB_PAIR_UNMEASURED, "NIC", &difference), 2);
}

/* --- which tables make a pair --- */

/* The only kind of all pairs of two tables, their sizes apart. NULL: they make no pair. */
static const char *
only_kind (const FabPairs *pairs)
{
  const char *kind = NULL;

  for (FabPairRelation r = 0; r < FAB_N_PAIR_RELATIONS; r++)
    for (guint i = 0; i < pairs->collectives[r].pairs->len; i++) {
      const FabPair *pair = &g_array_index (pairs->collectives[r].pairs, FabPair, i);

      if (strcmp (pair->kind, "size") == 0)
        continue;
      if (kind != NULL)
        assert_string_equal (pair->kind, kind);
      assert_int_equal (pair->n, 2); /* both sizes are large */
      kind = pair->kind;
    }
  return kind;
}

/* What a table is of. */
typedef struct {
  const char *source, *node, *links;
  gint64 nodes, gpus;
  int op;
  const char *sets;
} Table;

#define HERE "github:a/b file x"
#define THERE "github:c/d file x"

static const struct {
  Table a, b;
  const char *kind; /* NULL: no pair */
} tables_of[] = {
  /* one machine: exactly one thing */
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    NULL },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "box", "l", 3, 8, FAB_OP_ALL_REDUCE, NULL },
    "number of nodes" },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "box", "l", 2, 4, FAB_OP_ALL_REDUCE, NULL },
    "GPUs of a node" },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "box", "l", 2, 8, FAB_OP_ALL_GATHER, NULL },
    "operation" },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, "x=1" },
    "settings of the library" },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "box", "l", 3, 4, FAB_OP_ALL_REDUCE, NULL },
    NULL },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "box", "l", 3, 8, FAB_OP_ALL_GATHER, NULL },
    NULL },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "box", "l", 3, 8, FAB_OP_ALL_REDUCE, "x=1" },
    NULL },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "box", "l", 2, 4, FAB_OP_ALL_GATHER, NULL },
    NULL },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "box", "l", 2, 4, FAB_OP_ALL_REDUCE, "x=1" },
    NULL },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "box", "l", 2, 8, FAB_OP_ALL_GATHER, "x=1" },
    NULL },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "box", "l", 3, 4, FAB_OP_ALL_GATHER, NULL },
    NULL },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "box", "l", 2, 4, FAB_OP_ALL_GATHER, "x=1" },
    NULL },
  /* two machines of one publication, or one by two publications: the same, whatever the settings */
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "tin", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    "measured again" },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { THERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, "x=1" },
    "measured again" },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { THERE, "box", "l", 3, 8, FAB_OP_ALL_REDUCE, NULL },
    NULL },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { THERE, "box", "l", 2, 4, FAB_OP_ALL_REDUCE, NULL },
    NULL },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { THERE, "box", "l", 2, 8, FAB_OP_ALL_GATHER, NULL },
    NULL },
  /* other links of nodes: the same GPUs in as many nodes */
  { { HERE, "box", "l", 1, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "tin", "m", 1, 8, FAB_OP_ALL_REDUCE, NULL },
    "links of a node" },
  { { HERE, "box", "l", 1, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "tin", "m", 1, 4, FAB_OP_ALL_REDUCE, NULL },
    NULL },
  { { HERE, "box", "l", 1, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "tin", "m", 1, 7, FAB_OP_ALL_REDUCE, NULL },
    NULL },
  { { HERE, "box", "l", 1, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "tin", "m", 1, 8, FAB_OP_ALL_GATHER, NULL },
    NULL },
  /* a node and several nodes are no pair, though the ranks are as many, or the GPUs of a node */
  { { HERE, "box", "l", 1, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "tin", "m", 2, 4, FAB_OP_ALL_REDUCE, NULL },
    NULL },
  { { HERE, "box", "l", 2, 4, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "tin", "m", 1, 8, FAB_OP_ALL_REDUCE, NULL },
    NULL },
  { { HERE, "box", "l", 1, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "tin", "m", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    NULL },
  /* other NICs: as many nodes, or a factor of 1.5 between the ranks at the most */
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "tin", "m", 2, 1, FAB_OP_ALL_REDUCE, NULL },
    "NIC" },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "tin", "m", 3, 8, FAB_OP_ALL_REDUCE, NULL },
    "NIC" },
  { { HERE, "box", "l", 3, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "tin", "m", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    "NIC" },
  { { HERE, "box", "l", 3, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "tin", "m", 5, 8, FAB_OP_ALL_REDUCE, NULL },
    NULL },
  { { HERE, "box", "l", 2, 8, FAB_OP_ALL_REDUCE, NULL },
    { HERE, "tin", "m", 2, 8, FAB_OP_ALL_GATHER, NULL },
    NULL },
};

static void
what_two_tables_differ_in (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (tables_of); i++) {
    g_autoptr (World) world = world_new ();

    for (guint k = 0; k < 2; k++) {
      const Table *table = k == 0 ? &tables_of[i].a : &tables_of[i].b;
      FabMeasuredSpec *spec = add_table (world, table->source, table->links, 1.1);

      spec->node = table->node;
      spec->nodes = table->nodes;
      spec->gpus_per_node = table->gpus;
      spec->op = table->op;
      spec->sets = table->sets;
    }
    g_autoptr (FabPairs) pairs = pairs_of (world);
    const char *kind = only_kind (pairs);

    if (g_strcmp0 (kind, tables_of[i].kind) != 0)
      fail_msg ("case %u: %s, and not %s", i, kind ? kind : "none",
                tables_of[i].kind ? tables_of[i].kind : "none");
  }
}

/* A size has its pair in the size of the other table that is nearest, a factor of 1.5 away at the most; both must be at
 * one place and of operations of one kind. */
static void
sizes_have_their_nearest (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytes one, others[2];
    int nearest; /* -1: none */
  } cases[] = {
    { 64 * MIB, { 96 * MIB, 128 * MIB }, 0 }, { 96 * MIB, { 64 * MIB, 48 * MIB }, 0 },
    { 64 * MIB, { 97 * MIB, 42 * MIB }, -1 }, { 64 * MIB, { 60 * MIB, 70 * MIB }, 0 },
    { 64 * MIB, { 70 * MIB, 60 * MIB }, 1 },  { 64 * MIB, { 80 * MIB, 64 * MIB }, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint other = 0; other < 3; other++) { /* 1: at another place, 2: of other operations */
      g_autoptr (World) world = world_new ();
      double difference = -1;

      add_table (world, HERE, "l", 1)->nodes = 2;
      add_table (world, HERE, "l", 1)->nodes = 4;
      world->rows[0][0].size_bytes = cases[i].one;
      world->rows[0][1].size_bytes = KIB; /* far from all others */
      for (guint k = 0; k < 2; k++) {
        FabComparisonRow *row = &g_array_index (world->comparisons[1].rows, FabComparisonRow, k);

        world->rows[1][k].size_bytes = cases[i].others[k];
        row->error_fraction = 1 / (2.0 + k) - 1;
        world->predictions[1][k].kind.place = other == 1 ? FAB_PLAN_INSIDE : FAB_PLAN_BETWEEN;
        world->predictions[1][k].kind.operations = other == 2 ? FAB_PLAN_PAIRS : FAB_PLAN_RINGS;
      }
      g_autoptr (FabPairs) pairs = pairs_of (world);
      guint n = count (pairs, FAB_PAIR_ALIKE, "number of nodes", &difference);

      assert_int_equal (n, cases[i].nearest >= 0 && other == 0);
      if (n > 0)
        assert_near (difference, log (2.0 + cases[i].nearest), 1e-12);
    }
}

/* Two sizes of one table, one four times the other, are a kind of their own where the algorithm or the protocol is
 * another too. Sizes of a class are a pair of their own; the class is that of the smaller one. */
static void
sizes_of_a_table (G_GNUC_UNUSED void **state)
{
  static const FabBytes first[] = { 64 * KIB, 256 * KIB - 4, 256 * KIB, 64 * MIB - 4, 64 * MIB };
  static const FabSizeClass classes[] = { FAB_SIZE_SMALL, FAB_SIZE_SMALL, FAB_SIZE_MIDDLE, FAB_SIZE_MIDDLE,
                                          FAB_SIZE_LARGE };

  for (guint i = 0; i < G_N_ELEMENTS (first); i++)
    for (guint differs = 0; differs < 3; differs++) {
      g_autoptr (World) world = world_new ();
      FabPrediction *second = &world->predictions[0][1];

      add_table (world, HERE, "l", 1.5);
      world->rows[0][0].size_bytes = first[i];
      world->rows[0][1].size_bytes = 4 * first[i];
      g_array_index (world->comparisons[0].rows, FabComparisonRow, 1).error_fraction = 1 / 3.0 - 1;
      second->algorithm = differs == 1 ? "tree" : "ring";
      second->protocol = differs == 2 ? "LL128" : "simple";
      g_autoptr (FabPairs) pairs = pairs_of_reports (NULL, &world->report);
      const GArray *alike = pairs->collectives[FAB_PAIR_ALIKE].pairs;
      const FabPair *pair = &g_array_index (alike, FabPair, 0);

      assert_int_equal (alike->len, 1);
      assert_string_equal (pair->kind, differs > 0 ? "size, and with it the algorithm" : "size");
      assert_int_equal (pair->size_class, classes[i]);
      assert_int_equal (pair->place, FAB_PLAN_BETWEEN);
      assert_int_equal (pair->n, 1);
      assert_near (pair->logs[0], log (3 / 1.5), 1e-12);
      g_autoptr (FabPairs) as_they_are = pairs_of_reports (&world->report, NULL);
      assert_int_equal (as_they_are->collectives[FAB_PAIR_ALIKE].pairs->len, 0);
      for (FabPairRelation r = 0; r < FAB_N_PAIR_RELATIONS; r++)
        assert_int_equal (pairs->collectives[r].pairs->len, r == FAB_PAIR_ALIKE);
    }
}

/* Pairs that are the same or other are of tables as they are predicted; those that are alike or of a family that was
 * not measured are of predictions without their families. */
static void
relations_have_their_report (G_GNUC_UNUSED void **state)
{
  g_autoptr (World) world = world_new ();

  add_table (world, HERE, "l", 1.5);
  add_table (world, THERE, "l", 1.4); /* the first one measured again */
  add_table (world, HERE, "m", 1.3);
  add_table (world, HERE, "m", 1.2)->nodes = 9;
  g_autoptr (FabPairs) as_they_are = pairs_of_reports (&world->report, NULL);
  g_autoptr (FabPairs) left_out = pairs_of_reports (NULL, &world->report);

  for (FabPairRelation r = 0; r < FAB_N_PAIR_RELATIONS; r++) {
    gboolean is_left_out = r == FAB_PAIR_ALIKE || r == FAB_PAIR_UNMEASURED;

    assert_int_equal (as_they_are->collectives[r].pairs->len > 0, !is_left_out);
    assert_int_equal (left_out->collectives[r].pairs->len > 0, is_left_out);
  }
}

/* --- bands of one time --- */

/* With both times at opposite ends of their own bands, a ratio is at most the high end of the second over the low end
 * of the first. A time has the band of its family, that of `any` where its family has none for its kind, and that of
 * `unmeasured` where its family counts as not measured. */
static void
opposite_ends (G_GNUC_UNUSED void **state)
{
  static const FabBandCellSpec of_l[] = { { FAB_PLAN_INSIDE, FAB_PLAN_RINGS, 0, 0.11, 9.1, 1, 1, 0, 0, 0 },
                                          { FAB_PLAN_BETWEEN, FAB_PLAN_PAIRS, 0, 0.12, 9.2, 1, 1, 0, 0, 0 },
                                          { FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, 256 * KIB, 0.9, 1.1, 1, 1, 0, 0,
                                            0 },
                                          { FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, 0, 0.8, 1.3, 1, 1, 0, 0, 0 } };
  static const FabBandCellSpec of_any[] = { { FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, 0, 0.7, 1.5, 1, 1, 0, 0,
                                              0 } };
  static const FabBandCellSpec of_others[] = { { FAB_PLAN_BETWEEN, FAB_PLAN_RINGS, 0, 0.5, 2.5, 1, 1, 0, 0,
                                                 0 } };
  static const FabBandSpec specs[] = {
    { .name = "l", .cells = { (gpointer) of_l, G_N_ELEMENTS (of_l) } },
    { .name = "any", .cells = { (gpointer) of_any, G_N_ELEMENTS (of_any) } },
    { .name = "unmeasured", .cells = { (gpointer) of_others, G_N_ELEMENTS (of_others) } },
  };
  const FabCatalogSections own = { .bands = { (gpointer) specs, G_N_ELEMENTS (specs) } };
  g_autoptr (FabCatalog) catalog = fab_catalog_overlay (NULL, &own);
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  const FabTrainingReport training = { .results = results };
  g_autoptr (World) world = world_new ();

  add_table (world, HERE, "l", 1.5);
  add_table (world, HERE, "m", 1.2);
  for (guint i = 0; i < 2; i++) {
    world->rows[i][0].size_bytes = 256 * KIB - 1;
    world->rows[i][1].size_bytes = 256 * KIB;
  }
  g_autoptr (FabPairs) pairs = fab_pairs_new (&world->report, &world->report, &training, catalog);

  for (guint c = 0; c < 2; c++) { /* below 256 KiB, and from there on */
    const FabPair *measured = &g_array_index (pairs->collectives[FAB_PAIR_OTHER].pairs, FabPair, c),
                  *unmeasured = &g_array_index (pairs->collectives[FAB_PAIR_UNMEASURED].pairs, FabPair, c);
    double low = c == 0 ? 0.9 : 0.8, high = c == 0 ? 1.1 : 1.3, difference = log (1.2 / 1.5);

    assert_near (measured->logs[0], -difference, 1e-12);
    assert_near (measured->opposite_low[0], log (0.7 / high) - difference, 1e-12);
    assert_near (measured->opposite_high[0], log (1.5 / low) - difference, 1e-12);
    assert_near (unmeasured->opposite_low[0], log (0.5 / 2.5) - difference, 1e-12);
    assert_near (unmeasured->opposite_high[0], log (2.5 / 0.5) - difference, 1e-12);
  }
}

/* Each size of a pair has its own difference and its own ends. */
static void
sizes_have_their_own_ends (G_GNUC_UNUSED void **state)
{
  FabPairs owner = { .owned = g_ptr_array_new_with_free_func (g_free) };

  for (guint n = 1; n <= 4; n++) {
    FabPairMaker maker = fab_pair_maker (&owner, n);

    for (guint i = 0; i < n; i++)
      fab_pair_maker_add (&maker, (FabPairSide){ 1, -0.25 * i, 0.5 * i },
                          (FabPairSide){ 1.0 - i, -2.0 * i, 4.0 * i });
    assert_int_equal (maker.pair.n, n);
    for (guint i = 0; i < n; i++) { /* the second less the first: -i */
      assert_near (maker.pair.logs[i], i, 1e-12);
      assert_near (maker.pair.opposite_low[i], -2.0 * i - 0.5 * i + i, 1e-12);
      assert_near (maker.pair.opposite_high[i], 4.0 * i + 0.25 * i + i, 1e-12);
    }
  }
  g_ptr_array_unref (owner.owned);
}

/* What has less in common has no narrower a band, in every cell: here what is alike is a factor of 2 off, and other
 * pairs are not off at all. */
static void
less_in_common_is_no_narrower (G_GNUC_UNUSED void **state)
{
  static const FabBytes sizes[] = { 16 * KIB, MIB, 64 * MIB };

  for (FabPlanPlace place = 0; place < FAB_N_PLAN_PLACES; place++)
    for (FabSizeClass c = 0; c < FAB_N_SIZE_CLASSES; c++) {
      g_autoptr (World) world = world_new ();

      add_table (world, HERE, "l", 2);
      add_table (world, HERE, "l", 1)->nodes = 9;
      add_table (world, HERE, "m", 2);
      for (guint i = 0; i < 6; i++) {
        world->rows[i / 2][i % 2].size_bytes = sizes[c] << 2 * (i % 2);
        world->predictions[i / 2][i % 2].kind.place = place;
      }
      g_autoptr (FabPairs) pairs = pairs_of (world);

      for (FabPairRelation r = FAB_PAIR_ALIKE; r < FAB_N_PAIR_RELATIONS; r++) {
        assert_true (pairs->collectives[r].pairs->len > 0);
        assert_true (pairs->collectives[r].fit.ends[place][c].log > log (2) - 1e-9);
        for (guint i = 0; r != FAB_PAIR_ALIKE && i < pairs->collectives[r].pairs->len; i++)
          assert_near (g_array_index (pairs->collectives[r].pairs, FabPair, i).logs[0], 0, 0);
      }
    }
}

/* --- compute --- */

static void
runs_make_pairs (G_GNUC_UNUSED void **state)
{
  FabTrainingRow measured[G_N_ELEMENTS (runs)];
  char *cells[G_N_ELEMENTS (runs)][4] = { { NULL } };
  const FabTrainingSourceSpec spec = { .name = "somebody", .same = "model", .factors = "gpus nics" };
  FabTrainingTable table = { .columns = (char **) columns };
  FabTrainingSource source = { &spec, &table, NULL };
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (FabTrainingComparison));
  FabTrainingResult result = { .source = &source, .rows = rows };
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  const FabTrainingReport training = { .results = results };
  g_autoptr (World) world = world_new ();
  double difference = -1;

  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    add_run (rows, &measured[i], cells[i], &runs[i]);
  g_ptr_array_add (results, &result);
  g_autoptr (FabPairs) pairs = fab_pairs_new (&world->report, &world->report, &training, NULL);
  const GArray *alike = pairs->compute[FAB_PAIR_ALIKE].pairs, *other = pairs->compute[FAB_PAIR_OTHER].pairs;

  assert_int_equal (count_in (alike, "number of GPUs", &difference), 2);
  assert_near (difference, 0.2, 1e-12);
  assert_int_equal (count_in (alike, "model", &difference), 2);
  assert_near (difference, 0.2, 1e-12);
  assert_int_equal (alike->len, 4);
  assert_int_equal (count_in (pairs->compute[FAB_PAIR_SAME].pairs, "measured again", &difference), 1);
  assert_near (difference, 0.05, 1e-12);
  assert_int_equal (count_in (other, "accelerator", &difference), 1);
  assert_near (difference, 0.3, 1e-12);
}

/* Two runs of one source, which differ in the number of GPUs. */
typedef struct {
  FabTrainingRow measured[2];
  char *cells[2][4];
  GArray *rows;
} TwoRuns;

static FabPairs *
pairs_of_runs (const TwoRuns *two)
{
  const FabTrainingSourceSpec spec = { .name = "somebody", .same = "model", .factors = "gpus nics" };
  FabTrainingTable table = { .columns = (char **) columns };
  FabTrainingSource source = { &spec, &table, NULL };
  FabTrainingResult result = { .source = &source, .rows = two->rows };
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  const FabTrainingReport training = { .results = results };
  g_autoptr (World) world = world_new ();

  g_ptr_array_add (results, &result);
  return fab_pairs_new (&world->report, &world->report, &training, NULL);
}

static TwoRuns *
two_runs (const Run *first, const Run *second)
{
  TwoRuns *self = g_new0 (TwoRuns, 1);

  self->rows = g_array_new (FALSE, FALSE, sizeof (FabTrainingComparison));
  add_run (self->rows, &self->measured[0], self->cells[0], first);
  add_run (self->rows, &self->measured[1], self->cells[1], second);
  self->measured[1].id = "second";
  return self;
}

static void
two_runs_free (TwoRuns *self)
{
  g_array_unref (self->rows);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TwoRuns, two_runs_free)

static guint
count_all (const FabPairs *pairs)
{
  guint n = 0;

  for (FabPairRelation r = 0; r < FAB_N_PAIR_RELATIONS; r++)
    n += pairs->compute[r].pairs->len;
  return n;
}

/* Of one model on two accelerators, what counts is the factor that each run itself would have: the one of its set-up
 * times what its compute is off. On one accelerator only what they are off counts. */
static void
accelerators_have_factors (G_GNUC_UNUSED void **state)
{
  static const Run here = { "7B", "8", "4", 0.1, "ampere", 0.8 },
                   there = { "7B", "16", "4", 0.3, "hopper", 0.4 },
                   again = { "7B", "16", "4", 0.3, "ampere", 0.4 };
  g_autoptr (TwoRuns) other = two_runs (&here, &there);
  g_autoptr (TwoRuns) alike = two_runs (&here, &again);
  g_autoptr (FabPairs) of_other = pairs_of_runs (other);
  g_autoptr (FabPairs) of_alike = pairs_of_runs (alike);
  const FabPair *pair = &g_array_index (of_other->compute[FAB_PAIR_OTHER].pairs, FabPair, 0);

  assert_int_equal (count_all (of_other), 1);
  assert_int_equal (count_all (of_alike), 1);
  assert_string_equal (pair->tables[0], "row");
  assert_string_equal (pair->tables[1], "second");
  assert_near (pair->logs[0], fabs (log (0.4 / 0.8) + 0.2), 1e-12);
  assert_near (pair->opposite_high[0], log (2 / 0.5) - (log (0.4 / 0.8) + 0.2), 1e-12);
  assert_near (g_array_index (of_alike->compute[FAB_PAIR_ALIKE].pairs, FabPair, 0).logs[0], 0.2, 1e-12);
}

/* Only runs of one cell are alike, and only those of one precision and one stack are of two accelerators. */
static void
cells_of_runs (G_GNUC_UNUSED void **state)
{
  static const Run first = { "7B", "8", "4", 0.1, "ampere", 0 },
                   second = { "7B", "16", "4", 0.1, "ampere", 0 };

  for (guint differs = 0; differs < 8; differs++) { /* a bit each: the generation, the precision, the stack */
    g_autoptr (TwoRuns) two = two_runs (&first, &second);
    FabTrainingCell *cell = &g_array_index (two->rows, FabTrainingComparison, 1).blind.step.cell;

    cell->generation = differs & 1 ? "hopper" : "ampere";
    cell->precision = differs & 2 ? "fp8" : "bf16";
    cell->stack = differs & 4 ? "compiled" : "eager";
    g_autoptr (FabPairs) pairs = pairs_of_runs (two);

    assert_int_equal (pairs->compute[FAB_PAIR_ALIKE].pairs->len, differs == 0);
    assert_int_equal (pairs->compute[FAB_PAIR_OTHER].pairs->len, differs == 1);
    assert_int_equal (count_all (pairs), differs <= 1);
  }
}

/* Two accelerators are no nearer than two runs on one, as with collectives: runs that are alike are 0.4 apart here, and
 * those on two accelerators are equal. */
static void
accelerators_are_no_nearer (G_GNUC_UNUSED void **state)
{
  static const Run near[] = { { "7B", "8", "4", 0.1, "ampere", 0 },
                              { "7B", "16", "4", 0.5, "ampere", 0 },
                              { "7B", "32", "1", 0.1, "hopper", 0 } };
  g_autoptr (TwoRuns) first = two_runs (&near[0], &near[1]);
  g_autoptr (TwoRuns) second = two_runs (&near[0], &near[2]);
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  const FabTrainingReport training = { .results = results };
  FabTrainingTable table = { .columns = (char **) columns };
  const FabTrainingSourceSpec specs[] = { { .name = "one", .same = "model", .factors = "gpus nics" },
                                          { .name = "two", .same = "model", .factors = "gpus nics" } };
  FabTrainingSource sources[] = { { &specs[0], &table, NULL }, { &specs[1], &table, NULL } };
  FabTrainingResult both[] = { { .source = &sources[0], .rows = first->rows },
                               { .source = &sources[1], .rows = second->rows } };
  g_autoptr (World) world = world_new ();

  g_ptr_array_add (results, &both[0]);
  g_ptr_array_add (results, &both[1]);
  g_autoptr (FabPairs) pairs = fab_pairs_new (&world->report, &world->report, &training, NULL);
  const FabPairEnd *alike = &pairs->compute[FAB_PAIR_ALIKE].fit.ends[0][0],
                   *other = &pairs->compute[FAB_PAIR_OTHER].fit.ends[0][0];
  assert_int_equal (alike->n_pairs, 1);
  assert_int_equal (other->n_pairs, 1);
  assert_true (alike->log > 0.4 - 1e-9);
  assert_near (other->log, alike->log, 0);
}

/* A run says nothing of compute without a blind prediction or a stack, with its memory full, where its source doubts
 * it, with experts that are divided, where over a quarter of its step is exposed, or at less than a fifth of the
 * roofline. */
static void
runs_that_say_nothing (G_GNUC_UNUSED void **state)
{
  static const Run first = { "7B", "8", "4", 0.1, "ampere", 0 },
                   second = { "7B", "16", "4", 0.1, "ampere", 0 };
  enum {
    AS_IT_IS,
    QUARTER,
    FIFTH,
    JUDGED,
    N_TAKEN,
    UNKNOWN = N_TAKEN,
    FULL,
    DOUBTFUL,
    DIVIDED,
    NO_STACK,
    EXPOSED,
    SLOW,
    N_CASES
  };

  for (guint k = 0; k < N_CASES; k++) {
    g_autoptr (TwoRuns) two = two_runs (&first, &second);
    FabTrainingComparison *row = &g_array_index (two->rows, FabTrainingComparison, 1);

    row->role = k == FULL ? FAB_RUN_FULL_MEMORY : k == JUDGED ? FAB_RUN_JUDGED : FAB_RUN_ANCHOR;
    row->blind.is_predicted = k != UNKNOWN;
    row->traits.expert = k == DIVIDED ? 2 : 1;
    two->measured[1].doubtful = k == DOUBTFUL ? "its clock was low" : NULL;
    row->blind.step.step_s = 8;
    row->blind.step.exposed_s = k == QUARTER ? 2 : k == EXPOSED ? 2.01 : 0;
    if (k == FIFTH || k == SLOW) { /* five times the compute of the roofline */
      row->blind.step.cell.time_factor = 2;
      row->blind.residual = log (2.5) + (k == SLOW ? 1e-6 : -1e-12);
    }
    if (k == NO_STACK)
      row->blind.step.cell.stack = g_array_index (two->rows, FabTrainingComparison, 0)
                                       .blind.step.cell.stack = NULL;
    g_autoptr (FabPairs) pairs = pairs_of_runs (two);

    assert_int_equal (count_all (pairs), k < N_TAKEN);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (one_thing_is_alike),
    cmocka_unit_test (more_than_one_thing_is_no_pair),
    cmocka_unit_test (families_and_publications),
    cmocka_unit_test (what_two_tables_differ_in),
    cmocka_unit_test (sizes_have_their_nearest),
    cmocka_unit_test (sizes_of_a_table),
    cmocka_unit_test (relations_have_their_report),
    cmocka_unit_test (opposite_ends),
    cmocka_unit_test (sizes_have_their_own_ends),
    cmocka_unit_test (less_in_common_is_no_narrower),
    cmocka_unit_test (runs_make_pairs),
    cmocka_unit_test (accelerators_have_factors),
    cmocka_unit_test (cells_of_runs),
    cmocka_unit_test (accelerators_are_no_nearer),
    cmocka_unit_test (runs_that_say_nothing),
  };

  return cmocka_run_group_tests_name ("pairs", tests, NULL, NULL);
}
