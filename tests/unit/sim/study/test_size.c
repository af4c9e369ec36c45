/* SPDX-License-Identifier: Apache-2.0 */
/* test_size.c - what is enough: several targets, usual values of a key, ports that can be bought, how sure it is. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/study/size.h"
#include "sim/study/usual.h"
#include "tests/support/play.h"

static FabCatalog *catalog;
static char *scenario;

static FabStudy *
study_of (const char *const *sets)
{
  g_autoptr (GError) error = NULL;
  FabStudy *study = fab_study_new (scenario, sets, catalog, &fab_models, &error);

  if (study == NULL)
    fail_msg ("%s", error->message);
  return study;
}

static FabTarget
target_of (const char *text)
{
  FabTarget target;
  g_autoptr (GError) error = NULL;

  if (!fab_target_parse (text, &target, &error))
    fail_msg ("%s", error->message);
  return target;
}

/* 0.7 s of computing and a step that is longer: micro-batches make it longer still, and the exposed share smaller. */
static void
all_targets_are_to_be_met (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of (NULL);
  FabTarget targets[] = { target_of ("exposed<=20%"), target_of ("tokens>=300000"),
                          target_of ("tokens>=311100") };
  g_autoptr (FabAxis) axis = fab_axis_parse ("job.micro_batch=1..8", NULL);
  gint64 answers[3];

  for (guint n = 1; n <= 3; n++) {
    g_autoptr (FabSize) size = fab_size_find (study, &(FabSizeSpec){ axis, targets, n }, NULL);

    answers[n - 1] = size->answer;
    for (guint i = 0; i < size->n; i++)
      if (size->points[i].trial.point != NULL && (gint64) i < size->answer)
        assert_false (fab_targets_are_met (targets, n, size->points[i].trial.point));
    assert_true (fab_targets_gap (targets, n, size->points[size->answer].trial.point) <= 0);
  }
  assert_true (answers[0] < answers[1] && answers[1] < answers[2]);
  g_autofree char *text = fab_targets_write (targets, 2);
  assert_string_equal (text, "exposed <= 20 %, tokens >= 300000 per second");
}

/* Returns what is said of the value that comes closest. */
static char *
say_closest (const char *set, const char *axis_text, const char *target_text)
{
  const char *sets[] = { set, NULL };
  g_autoptr (FabStudy) study = study_of (set != NULL ? sets : NULL);
  FabTarget target = target_of (target_text);
  g_autoptr (FabAxis) axis = fab_axis_parse (axis_text, NULL);
  g_autoptr (FabSize) size = fab_size_find (study, &(FabSizeSpec){ axis, &target, 1 }, NULL);
  g_autoptr (FabVerdict) verdict = fab_size_verdict (size);
  const FabFinding *finding = fab_verdict_find (verdict, FAB_FINDING_UNREACHABLE_TARGET);

  return g_strdup (finding != NULL ? finding->text : "");
}

/* A larger micro-batch would do better; it was not tried, and so nothing is said of it. */
static void
nothing_is_said_of_values_that_were_not_tried (G_GNUC_UNUSED void **state)
{
  g_autofree char *last = say_closest (NULL, "job.micro_batch=1,2,4", "mfu>=90%"),
                  *first = say_closest (NULL, "job.micro_batch=4,2,1", "mfu>=90%");

  assert_non_null (strstr (last, "It is the last value; none beyond it was tried."));
  assert_non_null (strstr (first, "No later value that was tried comes closer."));
}

/* All of a job without compute is exposed at any rate, and a rate changes no memory. The time of that job it does
 * change. */
static void
a_figure_that_no_value_moves_is_said (G_GNUC_UNUSED void **state)
{
  const char *only_sends = "job={kind: collective, operations: [{op: all_reduce, size: 64MiB}]}",
             *rates = "cluster.nic_rate=100Gb/s,200Gb/s";
  g_autofree char *share = say_closest (only_sends, rates, "exposed<=5%"),
                  *length = say_closest (only_sends, rates, "step<=1us"),
                  *memory = say_closest (NULL, rates, "memory<=1GB"),
                  *alone = say_closest (only_sends, "cluster.nic_rate=100Gb/s", "exposed<=5%");

  assert_true (g_str_has_suffix (
      share, "All values that were tried have the same exposed. The job computes nothing; a "
             "target of step asks how long its communication takes."));
  assert_true (g_str_has_suffix (length, "It is the last value; none beyond it was tried."));
  assert_true (g_str_has_suffix (memory, "All values that were tried have the same memory."));
  assert_true (g_str_has_suffix (alone, "It is the last value; none beyond it was tried."));
}

static char *
usual (const char *key)
{
  g_autoptr (FabStudy) study = study_of (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabAxis) axis = fab_axis_usual (study, key, &error);

  if (axis == NULL)
    return g_strdup (error->message);
  const char *first = g_ptr_array_index (axis->values, 0),
             *last = g_ptr_array_index (axis->values, axis->values->len - 1);
  return g_strdup_printf ("%s %s", first, last);
}

static void
usual_values_lie_around_the_scenarios (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *key, *expected;
  } cases[] = {
    { "job.micro_batch", "1 16" },            /* 2 */
    { "cluster.nodes", "1 32" },              /* 4 */
    { "job.bucket", "6MiB 200MiB" },          /* 25 MiB */
    { "job.compute.mfu", "0.125 1" },         /* 50 %, a share */
    { "cluster.nic_rate", "50Gb/s 800Gb/s" }, /* a quarter of the slowest product to the fastest */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *ends = usual (cases[i].key);

    if (strcmp (ends, cases[i].expected) != 0)
      fail_msg ("%s: %s", cases[i].key, ends);
  }
  g_autofree char *text = usual ("cluster.node"), *nothing = usual ("job.nothing");
  assert_non_null (strstr (text, "no number above 0 there but dgx-a100; give the values"));
  assert_non_null (strstr (nothing, "no number above 0 there; give the values"));
}

/* Every value can be read by the key. */
static void
usual_values_can_be_set (G_GNUC_UNUSED void **state)
{
  static const char *const keys[] = { "job.bucket", "cluster.nic_rate" };
  g_autoptr (FabStudy) study = study_of (NULL);

  for (guint k = 0; k < G_N_ELEMENTS (keys); k++) {
    g_autoptr (FabAxis) axis = fab_axis_usual (study, keys[k], NULL);

    for (guint i = 0; i < axis->values->len; i++) {
      g_autofree char *set = g_strconcat (keys[k], "=", g_ptr_array_index (axis->values, i), NULL);
      g_autoptr (FabEdits) edits = fab_edits_of ((const char *[]){ set, NULL });
      g_autoptr (GError) error = NULL;
      g_autoptr (FabScenario) loaded = fab_study_scenario (study, edits, &error);

      if (loaded == NULL)
        fail_msg ("%s", error->message);
    }
  }
}

/* 150 Gb/s: of InfiniBand the slowest port that is as fast is HDR, of Ethernet 200 Gb/s. What HDR does not meet,
 * NDR is tried for; the machine's PCIe binds with both. */
static void
ports_are_played_from_the_slowest_that_is_fast_enough (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of (NULL);
  FabTarget easy = target_of ("exposed<=60%"), hard = target_of ("exposed<=45%");
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) met = fab_ports_near (study, "150Gb/s", &easy, 1, &error);
  g_autoptr (GPtrArray) tried = fab_ports_near (study, "150Gb/s", &hard, 1, &error);
  const FabPort *first = g_ptr_array_index (met, 0), *second = g_ptr_array_index (met, 1);

  assert_int_equal (met->len, 2);
  assert_string_equal (first->link->name, "ib-hdr");
  assert_true (first->is_met && second->is_met);
  assert_string_equal (second->link->name, "roce-200");
  first = g_ptr_array_index (tried, 0);
  second = g_ptr_array_index (tried, 1);
  assert_string_equal (first->link->name, "ib-hdr");
  assert_false (first->is_met);
  assert_string_equal (second->link->technology, "InfiniBand");
  assert_true (fab_link_spec_line_rate (second->link) >= fab_link_spec_line_rate (first->link));
  g_autoptr (GPtrArray) none = fab_ports_near (study, "99999Gb/s", &easy, 1, &error);
  assert_int_equal (none->len, 0);
}

/* The rates of the NICs of a technology that can be bought, or of all of its links between machines where none can be:
 * those that are fast enough, ascending. (transfer full) */
static GArray *
rates_of (const FabTechnology *technology, FabBytesPerS least)
{
  GArray *rates = g_array_new (FALSE, FALSE, sizeof (FabBytesPerS));
  g_autofree const char **links = fab_catalog_names (catalog, FAB_SECTION_LINKS),
                        **products = fab_catalog_names (catalog, FAB_SECTION_PRODUCTS);
  gboolean has_products = FALSE;

  for (guint pass = 0; pass < 2 && !has_products; pass++)
    for (guint i = 0; links[i] != NULL; i++) {
      const FabLinkSpec *link = fab_catalog_link (catalog, links[i]);
      FabBytesPerS rate = fab_link_spec_line_rate (link);
      gboolean is_bought = FALSE;
      guint at = 0;

      for (guint p = 0; products[p] != NULL; p++) {
        const FabProductSpec *product = fab_catalog_product (catalog, products[p]);

        is_bought |= product->kind == FAB_PRODUCT_NIC && strcmp (product->link, link->name) == 0;
      }
      if (fab_catalog_link_technology (catalog, link) != technology || link->endpoint_ps == 0
          || (pass == 0 && !is_bought))
        continue;
      has_products |= is_bought;
      while (at < rates->len && g_array_index (rates, FabBytesPerS, at) <= rate)
        at++;
      if ((double) rate * (1 + 1e-6) >= (double) least) /* rates of links are rounded down */
        g_array_insert_val (rates, at, rate);
    }
  return rates;
}

/* Where no port is enough, the two slowest that are fast enough are told, of the machine's own technology first, and
 * then of every one that any machine can have. */
static void
the_two_slowest_ports_of_each_technology_are_told (G_GNUC_UNUSED void **state)
{
  const char *sets[] = { "job={kind: collective, operations: [{op: all_reduce, size: 1MiB}]}", NULL };
  static const guint rates_gbps[] = { 1, 100, 150, 200, 201, 400, 800 };
  g_autoptr (FabStudy) study = study_of (sets);
  FabTarget never = target_of ("step<=1ps");
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_TECHNOLOGIES);

  for (guint r = 0; r < G_N_ELEMENTS (rates_gbps); r++) {
    g_autofree char *rate = g_strdup_printf ("%uGb/s", rates_gbps[r]);
    g_autoptr (GPtrArray) ports = fab_ports_near (study, rate, &never, 1, NULL);
    guint at = 0;

    for (guint pass = 0; pass < 2; pass++)
      for (guint i = 0; names[i] != NULL; i++) {
        const FabTechnology *technology = fab_catalog_technology (catalog, names[i]);
        gboolean is_own = strcmp (names[i], "InfiniBand") == 0;

        if (is_own != (pass == 0) || (!is_own && !technology->is_for_any_node))
          continue;
        g_autoptr (GArray) rates = rates_of (technology, (FabBytesPerS) rates_gbps[r] * 125000000);
        for (guint k = 0; k < MIN (rates->len, 2); k++, at++) {
          const FabPort *port = g_ptr_array_index (ports, at);

          assert_ptr_equal (port->technology, technology);
          assert_int_equal (fab_link_spec_line_rate (port->link), g_array_index (rates, FabBytesPerS, k));
          assert_false (port->is_met);
        }
      }
    assert_int_equal (at, ports->len);
  }
}

/* Of rates that each shorten the step, a step between two of them is met from the faster one on. With the fastest first
 * it is met at once, and later values miss it. */
static void
the_first_rate_that_is_enough_is_the_answer (G_GNUC_UNUSED void **state)
{
  const char *sets[] = { "job={kind: collective, operations: [{op: all_reduce, size: 64MiB}]}", NULL };
  g_autoptr (FabStudy) study = study_of (sets);
  g_autoptr (FabAxis) up = fab_axis_parse ("cluster.nic_rate=25Gb/s,50Gb/s,75Gb/s,100Gb/s", NULL),
                      down = fab_axis_parse ("cluster.nic_rate=100Gb/s,75Gb/s,50Gb/s,25Gb/s", NULL);
  FabTarget never = target_of ("step<=1ps");
  g_autoptr (FabSize) none = fab_size_find (study, &(FabSizeSpec){ up, &never, 1 }, NULL);
  double steps_s[4];

  assert_true (none->answer == -1 && none->before == -1 && none->best == 3 && none->n_tried == 4);
  for (guint i = 0; i < 4; i++)
    steps_s[i] = none->points[i].trial.point->step_s;
  for (guint first = 0; first < 4; first++) {
    double bound_s = first == 0 ? 1.1 * steps_s[0] : (steps_s[first - 1] + steps_s[first]) / 2;
    g_autofree char *text = g_strdup_printf ("step<=%.3fus", bound_s * 1e6);
    FabTarget target = target_of (text);
    g_autoptr (FabSize) size = fab_size_find (study, &(FabSizeSpec){ up, &target, 1 }, NULL),
                        back = fab_size_find (study, &(FabSizeSpec){ down, &target, 1 }, NULL);

    assert_int_equal (size->answer, first);
    assert_int_equal (size->best, first);
    assert_int_equal (size->before, (gint64) first - 1);
    assert_int_equal (size->n_tried, 4);
    assert_int_equal (size->n_impossible, 0);
    assert_true (size->luck_from == -1 && size->luck_to == -1 && !size->is_unsteady);
    assert_true (back->answer == 0 && back->before == -1 && back->best == 0);
    assert_int_equal (back->is_unsteady, first > 0);
  }
}

/* Where no value can be simulated, the problem of the first is the error; a figure that is not known with any value is
 * one too. */
static void
nothing_to_size_is_an_error (G_GNUC_UNUSED void **state)
{
  static const char *const sets[] = { "job.global_batch=32", "job.micro_batch=1", NULL };
  static const char *const sends[] = { "job={kind: collective, operations: [{op: all_reduce, size: 1MiB}]}",
                                       NULL };
  g_autoptr (FabStudy) study = study_of (sets), sender = study_of (sends);
  FabTarget step = target_of ("step<=10s"), mfu = target_of ("mfu>=10%");
  g_autoptr (FabAxis) some = fab_axis_parse ("cluster.nodes=2,16,17", NULL),
                      none = fab_axis_parse ("cluster.nodes=16,17", NULL);
  g_autoptr (FabSize) size = fab_size_find (study, &(FabSizeSpec){ some, &step, 1 }, NULL);
  g_autoptr (GError) error = NULL, unknown = NULL;

  assert_int_equal (size->n_impossible, 2);
  assert_null (fab_size_find (study, &(FabSizeSpec){ none, &step, 1 }, &error));
  assert_string_equal (error->message, size->points[1].trial.problem);
  g_autoptr (FabAxis) nodes = fab_axis_parse ("cluster.nodes=2,4", NULL);
  assert_null (fab_size_find (sender, &(FabSizeSpec){ nodes, &mfu, 1 }, &unknown));
  assert_true (g_str_has_prefix (unknown->message, "there is no 'mfu' here: "));
}

#define LAB                                                                                                          \
  "links=[{name: ib-hdr, technology: InfiniBand, lanes: 4, signalling: 53.125Gb/s, coding: 94.1%, endpoint: 700ns, " \
  "uncertainty: {rate: 10%}}]"

/* The first value that was tried with such a step. */
static gint64
first_within (const FabSize *size, double most_s)
{
  for (guint i = 0; i < size->n; i++)
    if (size->points[i].trial.point != NULL && size->points[i].trial.point->step_s <= most_s)
      return i;
  return -1;
}

/* Only the rate is unsure, by a tenth: the band is what a tenth more and less give, and the answers lie around. */
static void
an_unsure_rate_makes_an_unsure_answer (G_GNUC_UNUSED void **state)
{
  const char *const sets[] = { LAB, "cluster.nic=ib-hdr", "job.micro_batch=2", NULL };
  g_autoptr (FabStudy) study = study_of (sets), sure = study_of (NULL);
  FabTarget target = target_of ("step<=1.1s");
  g_autoptr (FabAxis) axis = fab_axis_parse ("cluster.nic_rate=100..180Gb/s:5", NULL);
  FabSizeSpec spec = { axis, &target, 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabSize) size = fab_size_find (study, &spec, &error);
  FabUncertainty unsure;

  assert_true (fab_size_uncertainty (study, &spec, size, &unsure, &error));
  assert_non_null (unsure.band);
  double step_s = size->points[size->answer].trial.point->step_s;
  assert_true (unsure.band->low[0] < step_s && step_s < unsure.band->high[0]);
  assert_true (unsure.band->high[0] < step_s / 0.89); /* what computes does not change */
  assert_true (unsure.answer_low <= size->answer);
  assert_true (unsure.answer_high > size->answer);
  assert_int_equal (unsure.answer_low, first_within (size, 1.1 * step_s / unsure.band->low[0]));
  assert_int_equal (unsure.answer_high, first_within (size, 1.1 * step_s / unsure.band->high[0]));
  fab_uncertainty_clear (&unsure);

  /* A figure that is to be large is worst at the low end of its band, and one that no value reaches has no answer. */
  FabTarget both[] = { target_of ("step<=1.1s"), target_of ("tokens>=1") };
  both[1].bound = 1.0001 * size->points[size->answer].trial.point->tokens_per_s;
  assert_true (fab_size_uncertainty (study, &(FabSizeSpec){ axis, both, 2 }, size, &unsure, &error));
  double most = both[1].bound * size->points[size->answer].trial.point->tokens_per_s;
  gint64 low = first_within (size, 1.1 * step_s / unsure.band->low[0]);
  while (size->points[low].trial.point == NULL
         || size->points[low].trial.point->tokens_per_s < most / unsure.band->high[1])
    low++;
  assert_int_equal (unsure.answer_low, low);
  both[1].bound *= 100;
  fab_uncertainty_clear (&unsure);
  assert_true (fab_size_uncertainty (study, &(FabSizeSpec){ axis, both, 2 }, size, &unsure, &error));
  assert_int_equal (unsure.answer_low, -1);
  assert_int_equal (unsure.answer_high, -1);
  fab_uncertainty_clear (&unsure);

  g_autoptr (FabSize) known = fab_size_find (sure, &spec, &error);
  assert_true (fab_size_uncertainty (sure, &spec, known, &unsure, &error)); /* as measured collectives are */
  assert_true (unsure.band->collectives.coverage_fraction > 0);
  fab_uncertainty_clear (&unsure);
}

/* Beyond HDR and NDR no port has a price: what is not known is not the best. The machine's PCIe lets NDR gain 2 %,
 * which it does not pay for. */
static void
what_is_not_known_is_not_closest (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of (NULL);
  FabTarget target = target_of ("token_cost<=$0.001");
  g_autoptr (GError) error = NULL;
  g_autoptr (FabAxis) rates = fab_axis_parse ("cluster.nic_rate=200Gb/s,400Gb/s,800Gb/s", &error);
  g_autoptr (FabSize) size = fab_size_find (study, &(FabSizeSpec){ rates, &target, 1 }, &error);

  assert_int_equal (size->answer, -1);
  assert_int_equal (size->best, 0);
}

/* A sequence for each of 32 GPUs on 4 nodes; on 16 nodes it would be a quarter. */
static void
what_cannot_be_simulated_misses_nothing (G_GNUC_UNUSED void **state)
{
  static const char *const sets[] = { "job.global_batch=32", "job.micro_batch=1", NULL };
  g_autoptr (FabStudy) study = study_of (sets);
  FabTarget target = target_of ("step<=10s");
  g_autoptr (FabAxis) nodes = fab_axis_parse ("cluster.nodes=2,4,16", NULL);
  g_autoptr (FabSize) size = fab_size_find (study, &(FabSizeSpec){ nodes, &target, 1 }, NULL);

  assert_int_equal (size->answer, 0);
  assert_non_null (size->points[2].trial.problem);
  assert_int_equal (size->n_impossible, 1);
  assert_false (size->is_unsteady);
}

/* Of values with which the job does not fit, the closest is that with which it needs the least memory. */
static void
the_least_memory_is_closest (G_GNUC_UNUSED void **state)
{
  static const char *const sets[] = { "job.model=gpt2-xl", "job.sequence=1024", NULL };
  g_autoptr (FabStudy) study = study_of (sets);
  FabTarget target = target_of ("step<=10s");
  g_autoptr (FabAxis) batches = fab_axis_parse ("job.micro_batch=2048,1024,512", NULL);
  g_autoptr (FabSize) size = fab_size_find (study, &(FabSizeSpec){ batches, &target, 1 }, NULL);

  assert_int_equal (size->answer, -1);
  assert_int_equal (size->best, 2);
}

static gboolean
try_rounded (G_GNUC_UNUSED gpointer data, const guint *items, guint n, FabTrial *trials,
             G_GNUC_UNUSED GError **error)
{
  for (guint i = 0; i < n; i++)
    trials[i] = (FabTrial){ .gap = items[i] == 0 ? 0.2 : 0.1 - 1e-11 * items[i] };
  return TRUE;
}

/* From value 1 on a larger one changes the gap by a picosecond in a step. */
static void
the_first_of_equals_is_closest (G_GNUC_UNUSED void **state)
{
  FabSizeSearch found;

  assert_true (fab_size_search_first (8, try_rounded, NULL, &found, NULL));
  assert_int_equal (found.first, 8);
  assert_int_equal (found.best, 1);
}

/* 'm': all seeds meet the target, 's': some do, '-': none. The worst seeds miss it by the same; of the others some by
 * less. */
static gboolean
try_drawn (gpointer data, const guint *items, guint n, FabTrial *trials, G_GNUC_UNUSED GError **error)
{
  const char *drawn = data;

  for (guint i = 0; i < n; i++) {
    char one = drawn[items[i]];

    trials[i] = (FabTrial){ one == 'm', one == 'm' ? -1 : 1, one == '-' ? 1 : -1, one == 's' };
  }
  return TRUE;
}

static FabSizeSearch
search (const char *drawn)
{
  FabSizeSearch found;

  assert_true (fab_size_search_first ((guint) strlen (drawn), try_drawn, (gpointer) drawn, &found, NULL));
  return found;
}

/* A value that all of these seeds meet was lucky where a larger one is not met by all. At the far end of what is met,
 * where nothing is met again, that does not count. */
static void
a_lucky_value_is_not_the_first (G_GNUC_UNUSED void **state)
{
  assert_int_equal (search ("--smsmm").first, 5);
  assert_int_equal (search ("--smmmm").first, 3);
  assert_int_equal (search ("mms--").first, 0);
  assert_int_equal (search ("-smss").first, 2);
  assert_int_equal (search ("msm").first, 2);
  assert_int_equal (search ("-----").first, 5);
  /* Of 41 values every fifth is tried first: the one at 10, and then, of 15 to 30, those between 20 and 25. */
  assert_int_equal (search ("----------m---ssssssssssmmmmmmmmmmmmmmmmm").first, 24);
}

/* Of values whose worst seeds are alike, the one whose other seeds are better. */
static void
the_better_seeds_tell_equals_apart (G_GNUC_UNUSED void **state)
{
  assert_int_equal (search ("---s-").best, 3);
}

typedef struct {
  double exposed_ms[FAB_N_DIMENSIONS], between_ms; /* of each second */
  const char *said;
} Exposed;

/* A step of 2 s, of which half is compute and 0.4 s are idle. The dimensions that have at least 0.05 % are named, the
 * one that exposes most first, and of equals the one that is listed first. */
static void
dimensions_are_said_from_the_largest_on (G_GNUC_UNUSED void **state)
{
  static const Exposed rows[] = {
    { { 0 }, 0, ", and" },
    { { [FAB_DIMENSION_TENSOR] = 24 }, 0, " (2.4 % tensor; 0.0 % between nodes), and" },
    { { [FAB_DIMENSION_DATA] = 24, [FAB_DIMENSION_TENSOR] = 65 },
      59,
      " (6.5 % tensor, 2.4 % data; 5.9 % between nodes), and" },
    { { [FAB_DIMENSION_DATA] = 65, [FAB_DIMENSION_TENSOR] = 24 },
      59,
      " (6.5 % data, 2.4 % tensor; 5.9 % between nodes), and" },
    { { [FAB_DIMENSION_DATA] = 10,
        [FAB_DIMENSION_CONTEXT] = 30,
        [FAB_DIMENSION_PIPELINE] = 20,
        [FAB_DIMENSION_OTHER] = 40 },
      100,
      " (4.0 % other, 3.0 % context, 2.0 % pipeline, 1.0 % data; 10.0 % between nodes), and" },
    { { 7, 7, 7, 7, 7, 7, 7 },
      1,
      " (0.7 % data, 0.7 % tensor, 0.7 % context, 0.7 % expert, 0.7 % pipeline, 0.7 % offload, 0.7 % other; "
      "0.1 % between nodes), and" },
    { { 0.5 }, 0, " (0.1 % data; 0.0 % between nodes), and" },
    { { 0.49, 0.51, 300 }, 0, " (30.0 % context, 0.1 % tensor; 0.0 % between nodes), and" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabPoint point = { .step_s = 2, .compute_s = 1, .exposed_s = 0.6, .idle_s = 0.4 };
    FabSizePoint points[] = { { .value = "7", .trial = { .point = &point } }, { .value = "8" } };
    FabSize size = { .points = points, .n = 2, .answer = -1, .best = 0 };

    for (guint d = 0; d < FAB_N_DIMENSIONS; d++)
      point.exposed_by_s[d] = 2 * rows[i].exposed_ms[d] / 1000;
    point.exposed_inter_node_s = 2 * rows[i].between_ms / 1000;
    g_autoptr (FabVerdict) verdict = fab_size_verdict (&size);
    const FabFinding *finding = fab_verdict_find (verdict, FAB_FINDING_UNREACHABLE_TARGET);
    g_autofree char *expected = g_strdup_printf (
        "With 7, 50.0 %% of the step is compute, 30.0 %% exposed communication%s 20.0 %% idle. "
        "No later value that was tried comes closer.",
        rows[i].said);
    assert_string_equal (finding->text, expected);
  }
}

/* Nothing is said where a value is enough, where nothing was simulated, and where a larger value could not be: whether
 * it would be enough nobody knows. */
static void
what_is_left_is_said_of_the_last_value_alone (G_GNUC_UNUSED void **state)
{
  char problem[] = "no";
  FabPoint point = { .step_s = 1 }, empty = { 0 };
  FabSizePoint points[] = { { .value = "7", .trial = { .point = &point } },
                            { .value = "8", .trial = { .point = &point } },
                            { .value = "9", .trial = { .point = &point } } };

  for (gint64 answer = -1; answer <= 0; answer++)
    for (guint best = 0; best < 3; best++)
      for (guint impossible = 0; impossible <= 3; impossible++)
        for (guint what = 0; what < 3; what++) {
          FabSize size = { .points = points, .n = 3, .answer = answer, .best = best };
          gboolean is_said = answer < 0 && (impossible <= best || impossible == 3) && what == 0;

          for (guint i = 0; i < 3; i++)
            points[i].trial = (FabTry){ .point = &point, .problem = i == impossible ? problem : NULL };
          points[best].trial.point = what == 0 ? &point : what == 1 ? &empty : NULL;
          g_autoptr (FabVerdict) verdict = fab_size_verdict (&size);
          const FabFinding *finding = fab_verdict_find (verdict, FAB_FINDING_UNREACHABLE_TARGET);
          assert_int_equal (finding != NULL, is_said);
          if (is_said)
            assert_int_equal (
                strstr (finding->text, "It is the last value; none beyond it was tried.") != NULL, best == 2);
        }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_is_left_is_said_of_the_last_value_alone),
    cmocka_unit_test (a_figure_that_no_value_moves_is_said),
    cmocka_unit_test (dimensions_are_said_from_the_largest_on),
    cmocka_unit_test (all_targets_are_to_be_met),
    cmocka_unit_test (nothing_is_said_of_values_that_were_not_tried),
    cmocka_unit_test (usual_values_lie_around_the_scenarios),
    cmocka_unit_test (usual_values_can_be_set),
    cmocka_unit_test (ports_are_played_from_the_slowest_that_is_fast_enough),
    cmocka_unit_test (the_two_slowest_ports_of_each_technology_are_told),
    cmocka_unit_test (the_first_rate_that_is_enough_is_the_answer),
    cmocka_unit_test (nothing_to_size_is_an_error),
    cmocka_unit_test (an_unsure_rate_makes_an_unsure_answer),
    cmocka_unit_test (what_is_not_known_is_not_closest),
    cmocka_unit_test (what_cannot_be_simulated_misses_nothing),
    cmocka_unit_test (the_least_memory_is_closest),
    cmocka_unit_test (the_first_of_equals_is_closest),
    cmocka_unit_test (a_lucky_value_is_not_the_first),
    cmocka_unit_test (the_better_seeds_tell_equals_apart),
  };
  int n_failed;

  catalog = play_catalog ();
  scenario = g_build_filename (g_getenv ("FAB_SOURCE_DIR"), "scenarios", "ddp-2b-4nodes-200g.yaml", NULL);
  n_failed = cmocka_run_group_tests_name ("size", tests, NULL, NULL);
  g_free (scenario);
  fab_catalog_free (catalog);
  return n_failed;
}
