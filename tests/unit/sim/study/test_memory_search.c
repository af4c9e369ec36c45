/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory_search.c - which changes are advised where a job does not fit, of a job whose memory is what its keys
 * say: six parts of so many GB each, of which nodes share the first.
 *
 * The guess for several changes is exact then, so that the advice can be found by trying all of them. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/study/memory_advice.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* --- the job --- */

enum { N_PARTS = 6 };

typedef struct {
  gint64 gb[N_PARTS];
} Parts;

static const char *const part_names[N_PARTS] = { "a", "b", "c", "d", "e", "f" };

static gboolean
build_parts (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder, FabJobTotals *totals,
             G_GNUC_UNUSED GError **error)
{
  const Parts *parts = params;
  guint n_nodes = env->cluster->n_nodes, n_ranks = n_nodes * env->cluster->gpus_per_node;
  guint rank_class = fab_dag_builder_class (builder, "all", 0, n_ranks);

  fab_dag_builder_work (builder, fab_dag_builder_stream (builder, rank_class, "gpu"), FAB_SPAN_COMPUTE, 1,
                        g_strdup ("work"));
  for (guint i = 0; i < N_PARTS; i++)
    if (parts->gb[i] > 0)
      fab_job_totals_add_memory (totals, rank_class, part_names[i],
                                 parts->gb[i] * 1000000000 / (i == 0 ? n_nodes : 1));
  return TRUE;
}

#define PART(name_, index_)                                                                            \
  {                                                                                                    \
    .key = name_, .type = FAB_PARAM_COUNT,                                                             \
    .offset = G_STRUCT_OFFSET (Parts, gb) + (index_) * sizeof (gint64), .fallback = "0", .help = "GB." \
  }

static const FabParam part_params[] = { PART ("a", 0), PART ("b", 1), PART ("c", 2),  PART ("d", 3),
                                        PART ("e", 4), PART ("f", 5), { .key = NULL } };

static const FabRegistry *
parts_models (void)
{
  static const FabWorkloadOps job = {
    .info = { .name = "parts", .summary = "A toy.", .params = part_params, .params_size = sizeof (Parts) },
    .build = build_parts,
  };
  static const FabModelInfo *const jobs[] = { &job.info, NULL };
  static FabRegistry models;

  models = fab_models;
  models.lists[FAB_MODEL_WORKLOAD] = jobs;
  return &models;
}

/* --- advice --- */

typedef struct {
  FabScenario *scenario;
  FabSimulation *simulation;
  GPtrArray *remedies;
  FabMemoryAdvice *advice;
} Case;

static void
case_init (Case *self, const char *keys)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: dgx-h100, gpus_per_node: 1, fabric: switch}\njob: {kind: parts, %s}\n", keys);
  g_autoptr (GError) error = NULL;

  *self = (Case){ .remedies = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_remedy_free) };
  self->scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, parts_models (), catalog, &error);
  if (self->scenario != NULL)
    self->simulation = fab_simulation_new (self->scenario, parts_models (), NULL, &error);
  if (self->simulation == NULL)
    fail_msg ("%s", error->message);
}

static void
case_clear (Case *self)
{
  fab_memory_advice_free (self->advice);
  g_ptr_array_unref (self->remedies);
  fab_simulation_free (self->simulation);
  fab_scenario_free (self->scenario);
}

static void
advise (Case *self)
{
  g_clear_pointer (&self->advice, fab_memory_advice_free);
  self->advice = fab_memory_advice_find (self->scenario, self->simulation, self->remedies,
                                         &(FabMemoryTrying){ parts_models (), 1, NULL });
}

static FabRemedy *
add (Case *self, const char *group, const char *family, guint cost, const char *key, gint64 value)
{
  FabEdits *edits = fab_edits_new ();

  fab_edits_set (edits, key, fab_value_count (value));
  FabRemedy *remedy = fab_remedy_new (group, family, cost, edits);
  g_ptr_array_add (self->remedies, remedy);
  return remedy;
}

/* "job.a=1 job.b=2; job.c=3" of those that fit, or "closest: job.a=1". (transfer full) */
static char *
words_of (const FabMemoryAdvice *advice)
{
  GString *text = g_string_new (advice->closest != NULL ? "closest: " : "");

  for (guint i = 0; i < MAX (advice->fits->len, 1); i++) {
    const FabMemoryFit *fit = i < advice->fits->len ? g_ptr_array_index (advice->fits, i) : advice->closest;
    g_autofree char *one = fit != NULL ? fab_memory_fit_words (fit) : g_strdup ("nothing");

    g_string_append_printf (text, "%s%s", i > 0 ? "; " : "", one);
  }
  return g_string_free (text, FALSE);
}

/* --- by hand --- */

static gint64
number_of (const char *text)
{
  gint64 number = 0;

  assert_true (g_ascii_string_to_signed (text, 10, -1000, 1000, &number, NULL));
  return number;
}

/* "GROUP FAMILY COST KEY VALUE CHANGES KIND MORE": for how many changes it counts; 's' for slow, 'l' for larger, 'b'
 * for both, 'n' for a note; see FabRemedy. The last three may be missing. */
static void
add_row (Case *self, const char *row)
{
  g_auto (GStrv) words = g_strsplit (row, " ", -1);
  guint n = g_strv_length (words);
  FabRemedy *one = add (self, g_intern_string (words[0]), g_intern_string (words[1]),
                        (guint) number_of (words[2]), words[3], number_of (words[4]));
  char kind = n > 6 ? words[6][0] : '-';

  one->n_changes = n > 5 ? (guint) number_of (words[5]) : 1;
  one->is_slow = kind == 's' || kind == 'b';
  one->is_larger = kind == 'l' || kind == 'b';
  one->note = kind == 'n' ? "Steps were not looked at." : NULL;
  one->more = n > 7 ? g_intern_string (words[7]) : NULL;
}

/* The device has 80 GB. */
static void
the_advice_is_that_of_the_rules (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *keys;
    const char *rows[8];
    const char *words;
    guint n_built;
  } cases[] = {
    /* Of four that are enough the three cheapest; 80 GB fit and 81 do not. */
    { "a: 50, b: 50",
      { "a a 3 job.a 10", "a2 b 1 job.a 30", "b c 2 job.b 1", "b2 d 4 job.b 0" },
      "job.a=30; job.b=1; job.a=10",
      4 },
    { "a: 50, b: 50", { "a a 3 job.a 31", "b b 4 job.b 30" }, "job.b=30", 2 },
    /* Of one family the cheapest alone is told, and nothing that has more of it. Of equal costs the smallest is
     * first. */
    { "a: 50, b: 50", { "a x 3 job.a 10", "b x 1 job.b 10", "b2 y 5 job.b 20" }, "job.b=10; job.b=20", 3 },
    { "a: 50, b: 50", { "a x 1 job.a 20", "b y 2 job.b 10 1 - x" }, "job.a=20", 2 },
    { "a: 50, b: 50", { "a x 1 job.a 20", "b y 1 job.b 10" }, "job.b=10; job.a=20", 2 },
    /* Two that are not enough alone are together, if they are of two groups; a change that counts for two is as far. */
    { "a: 60, b: 60", { "a x 1 job.a 30", "b y 1 job.b 40" }, "job.a=30 job.b=40", 3 },
    { "a: 60, b: 60", { "g x 1 job.a 30", "g y 1 job.b 40" }, "closest: job.a=30", 2 },
    { "a: 60, b: 60",
      { "a x 1 job.a 30", "b y 1 job.b 40", "c z 1 job.b 10 2" },
      "job.b=10; job.a=30 job.b=40",
      4 },
    /* What makes no part smaller is not combined; what cannot be is left out. */
    { "a: 60, b: 60", { "a x 1 job.a 60", "b y 1 job.b 50" }, "closest: job.b=50", 2 },
    { "a: 60, b: 60", { "a x 1 job.a -1", "b y 1 job.b 50" }, "closest: job.b=50", 1 },
    { "a: 60, b: 60", { NULL }, "nothing", 0 },
    /* A part that only a change has counts as well. */
    { "a: 60, b: 60", { "a x 1 job.a 10", "c z 1 job.c 5" }, "job.a=10", 2 },
    /* What is slow is built where nothing else is enough, and then with what is not. */
    { "a: 60, b: 60", { "a x 1 job.a 10 1 s", "b y 2 job.b 10" }, "job.b=10", 1 },
    { "a: 60, b: 60", { "a x 1 job.a 30 1 s", "b y 2 job.b 40" }, "job.a=30 job.b=40", 3 },
    { "a: 60, b: 60", { "a x 1 job.a 10 1 s", "b y 2 job.b 40" }, "job.a=10", 2 },
    /* More nodes: the fewest that are enough, with as few other changes as can be, and after what fits without them;
     * not where one change is enough, unless something was left unchecked, and no further where they do not help. */
    { "a: 100, b: 20", { "n n 1 cluster.nodes 2 1 l", "n n 1 cluster.nodes 4 1 l" }, "cluster.nodes=2", 1 },
    { "a: 200, b: 50",
      { "b b 1 job.b 10", "n n 1 cluster.nodes 2 1 l", "n n 1 cluster.nodes 4 1 l" },
      "job.b=10 cluster.nodes=4",
      5 },
    { "b: 100", { "n n 1 cluster.nodes 2 1 l", "n n 1 cluster.nodes 4 1 l" }, "nothing", 1 },
    { "a: 100", { "a a 1 job.a 10", "n n 1 cluster.nodes 2 1 l" }, "job.a=10", 1 },
    { "a: 100", { "a a 1 job.a 10 1 n", "n n 1 cluster.nodes 2 1 l" }, "job.a=10; cluster.nodes=2", 2 },
    { "a: 100", { "a a 1 job.a 10 1 n", "n n 1 cluster.nodes 2 1 b" }, "job.a=10", 1 },
    { "a: 100", { "n n 1 cluster.nodes 2 1 b" }, "cluster.nodes=2", 1 },
    { "a: 100, b: 20",
      { "a a 1 job.a 70 2", "b b 1 job.b 10 2", "n n 1 cluster.nodes 2 1 l" },
      "job.a=70 job.b=10; cluster.nodes=2",
      6 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Case self;

    case_init (&self, cases[i].keys);
    for (guint k = 0; cases[i].rows[k] != NULL; k++)
      add_row (&self, cases[i].rows[k]);
    advise (&self);
    g_autofree char *words = words_of (self.advice);
    if (strcmp (words, cases[i].words) != 0 || self.advice->n_built != cases[i].n_built)
      fail_msg ("case %u: %s; %u built", i, words, self.advice->n_built);
    assert_true (self.advice->device_bytes == 80000000000);
    if (self.advice->fits->len > 0) {
      const FabMemoryFit *first = g_ptr_array_index (self.advice->fits, 0);

      assert_true ((first->note != NULL) == g_str_has_suffix (cases[i].rows[0], " n"));
    }
    case_clear (&self);
  }
}

/* Six changes of which not all are enough: each alone, the four best guesses of two, of three and of four, and where
 * nodes help too, each of these nodes alone, with the three best of the single changes and with the three best
 * pairs. */
static void
where_nothing_fits_few_are_built (G_GNUC_UNUSED void **state)
{
  for (guint n_larger = 0; n_larger < 3; n_larger++) {
    Case self;

    case_init (&self, "a: 1000, b: 100, c: 100, d: 100, e: 100, f: 100");
    for (guint i = 0; i < N_PARTS; i++) {
      g_autofree char *key = g_strconcat ("job.", part_names[i], NULL);

      add (&self, part_names[i], part_names[i], 1, key, i == 0 ? 990 : 90 - i);
    }
    for (guint i = 0; i < n_larger; i++)
      add (&self, "n", "n", 1, "cluster.nodes", 2 + i)->is_larger = TRUE;
    advise (&self);
    assert_int_equal (self.advice->n_built, 6 + 3 * 4 + 7 * n_larger);
    g_autofree char *words = words_of (self.advice);
    g_autofree char *nodes = g_strdup_printf (" cluster.nodes=%u", n_larger + 1),
                    *expected = n_larger == 0 ? g_strdup ("closest: job.c=88 job.d=87 job.e=86 job.f=85")
                                              : g_strconcat ("closest: job.e=86 job.f=85", nodes, NULL);
    assert_string_equal (words, expected);
    case_clear (&self);
  }
}

/* --- any changes --- */

enum { MOST_REMEDIES = 7, MOST_CHANGES = 4 };

typedef struct {
  gint64 base[N_PARTS];
  guint n;
  guint part[MOST_REMEDIES]; /* that it changes; those of one part are of a group */
  gint64 value[MOST_REMEDIES];
  const FabRemedy *remedies[MOST_REMEDIES];
} Any;

static gboolean
has (guint set, guint i)
{
  return (set >> i & 1) != 0;
}

/* Whether the search may choose the set: useful changes of other groups, of which few count, and where `slow`, at least
 * one that is slow, else none. */
static gboolean
may_be (const Any *self, guint set, gboolean slow)
{
  guint n_changes = 0, n_slow = 0, seen = 0;

  for (guint i = 0; i < self->n; i++) {
    if (!has (set, i))
      continue;
    if (self->value[i] >= self->base[self->part[i]] || has (seen, self->part[i]))
      return FALSE;
    seen |= 1U << self->part[i];
    n_changes += self->remedies[i]->n_changes;
    n_slow += self->remedies[i]->is_slow;
  }
  return set != 0 && n_changes <= MOST_CHANGES && (slow ? n_slow > 0 : n_slow == 0);
}

static guint
changes_of (const Any *self, guint set)
{
  guint n = 0;

  for (guint i = 0; i < self->n; i++)
    n += has (set, i) ? self->remedies[i]->n_changes : 0;
  return n;
}

static guint
cost_of (const Any *self, guint set)
{
  guint n = 0;

  for (guint i = 0; i < self->n; i++)
    n += has (set, i) ? self->remedies[i]->cost : 0;
  return n;
}

static gint64
gb_of (const Any *self, guint set)
{
  gint64 parts[N_PARTS], sum = 0;

  memcpy (parts, self->base, sizeof parts);
  for (guint i = 0; i < self->n; i++)
    if (has (set, i))
      parts[self->part[i]] = self->value[i];
  for (guint i = 0; i < N_PARTS; i++)
    sum += parts[i];
  return sum;
}

static gboolean
has_all_of (const Any *self, guint set, guint less)
{
  for (guint i = 0; i < self->n; i++) {
    gboolean is_there = !has (less, i);

    for (guint k = 0; k < self->n && !is_there; k++)
      is_there = has (set, k) && strcmp (self->remedies[k]->family, self->remedies[i]->family) == 0;
    if (!is_there)
      return FALSE;
  }
  return TRUE;
}

/* Fewest changes, then the lowest cost, then the least memory. */
static gboolean
is_nearer (const Any *self, guint set, guint than)
{
  if (changes_of (self, set) != changes_of (self, than))
    return changes_of (self, set) < changes_of (self, than);
  if (cost_of (self, set) != cost_of (self, than))
    return cost_of (self, set) < cost_of (self, than);
  return gb_of (self, set) < gb_of (self, than);
}

static guint
set_of (const Any *self, const FabMemoryFit *fit)
{
  const char *const *texts = fab_edits_texts (fit->edits);
  guint set = 0;

  for (guint i = 0; i < self->n; i++)
    set |= g_strv_contains (texts, *fab_edits_texts (self->remedies[i]->edits)) ? 1U << i : 0;
  assert_int_equal (fit->bytes, gb_of (self, set) * 1000000000);
  return set;
}

static void
any_init (Any *self, Case *job, GRand *random)
{
  static const char *const families[] = { "x", "y", "z", "u" };
  g_autoptr (GString) keys = g_string_new (NULL);

  *self = (Any){ .n = (guint) g_rand_int_range (random, 1, MOST_REMEDIES + 1) };
  for (guint i = 0; i < N_PARTS; i++) {
    self->base[i] = g_rand_int_range (random, 5, 28);
    g_string_append_printf (keys, "%s%s: %u", i > 0 ? ", " : "", part_names[i], (guint) self->base[i]);
  }
  case_init (job, keys->str);
  for (guint i = 0; i < self->n; i++) {
    guint part = (guint) g_rand_int_range (random, 0, N_PARTS);
    g_autofree char *key = g_strconcat ("job.", part_names[part], NULL);

    self->part[i] = part;
    self->value[i] = (gint64) i + 7 * g_rand_int_range (random, 0, 5); /* each another one */
    FabRemedy *one = add (job, part_names[part], families[g_rand_int_range (random, 0, 4)],
                          (guint) g_rand_int_range (random, 1, 6), key, self->value[i]);
    one->n_changes = g_rand_int_range (random, 0, 4) == 0 ? 2 : 1;
    one->is_slow = g_rand_int_range (random, 0, 3) == 0;
    self->remedies[i] = one;
  }
}

static void
assert_fits (const Any *self, const FabMemoryAdvice *advice, gboolean slow, guint nearest)
{
  guint n = advice->fits->len, told[FAB_MOST_MEMORY_FITS];

  assert_in_range (n, 1, FAB_MOST_MEMORY_FITS);
  for (guint i = 0; i < n; i++) {
    told[i] = set_of (self, g_ptr_array_index (advice->fits, i));
    assert_true (may_be (self, told[i], slow) && gb_of (self, told[i]) <= 80);
    assert_true (changes_of (self, told[i]) <= changes_of (self, nearest) + 1);
    for (guint k = 0; k < i; k++)
      assert_false (is_nearer (self, told[i], told[k]) || has_all_of (self, told[i], told[k]));
  }
  assert_false (is_nearer (self, nearest, told[0]) || is_nearer (self, told[0], nearest));
  for (guint set = 1; set < 1U << self->n && n < FAB_MOST_MEMORY_FITS; set++) {
    gboolean is_covered = !may_be (self, set, slow) || gb_of (self, set) > 80
                       || changes_of (self, set) > changes_of (self, nearest) + 1;

    for (guint i = 0; i < n; i++)
      is_covered |= has_all_of (self, set, told[i]);
    assert_true (is_covered);
  }
}

/* The nearest of all sets that fit is told first, and no other is left out unless it has what one of those told has;
 * where none fits, the smallest of all sets is told. */
static void
the_nearest_of_all_sets_is_told (G_GNUC_UNUSED void **state)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  guint n_fitting = 0, n_closest = 0, n_slow = 0;

  for (guint round = 0; round < 300; round++) {
    Any any;
    Case job;
    guint nearest = 0, least = 0;
    gboolean slow = FALSE;

    any_init (&any, &job, random);
    if (gb_of (&any, 0) <= 80) { /* it fits as it is */
      case_clear (&job);
      continue;
    }
    advise (&job);
    for (guint pass = 0; pass < 2 && nearest == 0; pass++)
      for (guint set = 1; set < 1U << any.n; set++) {
        if (!may_be (&any, set, pass == 1))
          continue;
        least = gb_of (&any, set) < gb_of (&any, least) ? set : least;
        if (gb_of (&any, set) > 80 || (nearest != 0 && !is_nearer (&any, set, nearest)))
          continue;
        nearest = set;
        slow = pass == 1;
      }
    if (nearest != 0) {
      assert_fits (&any, job.advice, slow, nearest);
      assert_null (job.advice->closest);
    } else {
      assert_int_equal (job.advice->fits->len, 0);
      assert_int_equal (job.advice->closest != NULL, least != 0);
      if (least != 0)
        assert_int_equal (job.advice->closest->bytes, gb_of (&any, least) * 1000000000);
    }
    n_fitting += nearest != 0;
    n_closest += nearest == 0;
    n_slow += slow;
    case_clear (&job);
  }
  assert_true (n_fitting > 50 && n_closest > 50 && n_slow > 10);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_advice_is_that_of_the_rules),
    cmocka_unit_test (where_nothing_fits_few_are_built),
    cmocka_unit_test (the_nearest_of_all_sets_is_told),
  };

  return play_run_tests ("memory_search", tests, &catalog);
}
