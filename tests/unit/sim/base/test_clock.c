/* SPDX-License-Identifier: Apache-2.0 */
/* test_clock.c - clocks under a power cap: by hand, against the clocks that they were fitted to, and against published
 * trainings under power limits that they were not (validate/power). */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "models/models.h"
#include "sim/base/clock.h"
#include "sim/study/study.h"

#define POWER FAB_SOURCE_DIR "/validate/power/"

static FabCatalog *catalog;

/* --- rows --- */

enum { MOST_FIELDS = 7 };

/* Lines of a table without its comments and its header, divided at commas. (transfer full) */
static GPtrArray *
read_rows (const char *name)
{
  g_autofree char *path = g_strconcat (POWER, name, NULL), *text = NULL;
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  gboolean has_header = FALSE;

  assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    if (lines[i][0] == '#' || lines[i][0] == '\0')
      continue;
    if (has_header)
      g_ptr_array_add (rows, g_strsplit (lines[i], ",", MOST_FIELDS));
    has_header = TRUE;
  }
  return rows;
}

static double
number (char **row, guint field)
{
  return g_ascii_strtod (row[field], NULL);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  double left = *(const double *) a, right = *(const double *) b;

  return left < right ? -1 : left > right;
}

/* Sorts. */
static double
percentile (GArray *values, double share)
{
  g_array_sort (values, compare);
  return g_array_index (values, double, (guint) lround (share * (values->len - 1)));
}

static const FabClockCurve *
curve_of (const char *accelerator)
{
  return &fab_catalog_accelerator (catalog, accelerator)->clock;
}

/* --- by hand --- */

/* Half of the power does not depend on the clock; the voltage is constant below half of the clock, and twice as much at
 * the highest one: f V^2 is 4 at 1 and 0.5 at 0.5. */
static const FabClockCurve simple = { .static_fraction = 0.5,
                                      .knee_fraction = 0.5,
                                      .voltage_factor = 2,
                                      .draw_fraction = 1,
                                      .near = { 0.9, 0.9, 1.1 },
                                      .deep = { 0.6, 0.8, 1.3 } };

static void
clocks_follow_from_the_voltage (G_GNUC_UNUSED void **state)
{
  assert_near (fab_clock_within (&simple, 1, 1), 1, 1e-12);
  /* 0.5 + 0.5 x 0.5 / 4 */
  assert_near (fab_clock_within (&simple, 1, 0.5625), 0.5, 0); /* all that is allowed */
  assert_near (fab_clock_within (&simple, 1, 0.53125), 0.25, 1e-12);
  /* f = 0.75: V = 1.5, f V^2 = 1.6875 */
  assert_near (fab_clock_within (&simple, 1, 0.5 + 0.5 * 1.6875 / 4), 0.75, 1e-12);
  assert_near (fab_clock_within (&simple, 1, 0.5), 0, 0);
  assert_near (fab_clock_within (&simple, 1, 0.4), 0, 0);
}

static void
a_cap_above_the_draw_changes_nothing (G_GNUC_UNUSED void **state)
{
  FabCappedClock capped = fab_clock_capped (&simple, 0.8, 0.9);

  assert_near (capped.slowdown, 1, 1e-12);
  assert_near (capped.power_fraction, 0.8, 1e-12);
  capped = fab_clock_capped (&simple, 1, 0.5625);
  assert_near (capped.slowdown, 2, 1e-9);
  assert_near (capped.power_fraction, 0.5625, 1e-12);
  capped = fab_clock_capped (&simple, 1, 0.5); /* at which no clock is left, and nothing is said to be slow */
  assert_near (capped.fraction, 0, 0);
  assert_near (capped.slowdown, 1, 0);
}

/* Kernels that would draw 5/4 of the limit at the highest clock run at a lower one without a cap: f V^2 is 2/3 of 4, at
 * which the voltage is 2 f and 4 f^3 = 8/3. Under a cap at which 1/8 of the power is left for the clock, f V^2 is 2/3,
 * of which the voltage is 4/3. What draws less than the limit is not held back by it. */
static void
a_limit_below_the_draw_is_a_cap_already (G_GNUC_UNUSED void **state)
{
  FabClockCurve hot = simple, cool = simple;
  double full = cbrt (2.0 / 3), low = cbrt (1.0 / 6);

  hot.draw_fraction = 1.25;
  FabCappedClock capped = fab_clock_capped (&hot, 1, 0.625);
  assert_near (capped.full_fraction, full, 1e-12);
  assert_near (capped.fraction, low, 1e-12);
  assert_near (capped.slowdown, full / low, 1e-12);
  assert_near (capped.power_fraction, 0.625, 0);
  capped = fab_clock_capped (&hot, 0.99, 0.625);
  assert_true (capped.full_fraction == 1);
  assert_near (capped.slowdown, 1 / capped.fraction, 1e-12);
  cool.draw_fraction = 0.8; /* what is said to draw all of the limit does so, whatever others draw */
  assert_true (fab_clock_capped (&cool, 1, 0.9).fraction < 1);
  assert_true (fab_clock_within (&simple, 0.7, 0.7) == 1);
  assert_true (fab_clock_within (&simple, 0.3, 0.2) == 0); /* below what does not depend on the clock */
}

static void
bands_are_those_of_the_cap (G_GNUC_UNUSED void **state)
{
  assert_near (fab_clock_band (&simple, 0.95).high_factor, 1.1, 0);
  assert_near (fab_clock_band (&simple, 0.7).high_factor, 1.3, 0);
  assert_near (fab_clock_band (&simple, 0.55).high_factor, 1.3, 0);
  assert_true (fab_clock_is_tried (&simple, 0.6));
  assert_false (fab_clock_is_tried (&simple, 0.59));
}

/* Of every accelerator of the catalogue: lower caps mean lower clocks, and no clock below zero. */
static void
lower_caps_are_slower (G_GNUC_UNUSED void **state)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_ACCELERATORS);

  for (guint i = 0; names[i] != NULL; i++) {
    const FabClockCurve *curve = curve_of (names[i]);
    double before = 0;

    for (double cap = curve->static_fraction + 0.01; cap < 1.001; cap += 0.01) {
      FabCappedClock capped = fab_clock_capped (curve, 1, MIN (cap, 1));

      assert_true (capped.fraction > before && capped.fraction <= 1 && capped.slowdown >= 1);
      before = capped.fraction;
    }
    assert_near (fab_clock_capped (curve, 1, 1).slowdown, 1, 1e-9);
  }
}

/* --- against what was measured --- */

/* Power at a clock, as a share of the limit. */
static double
power_at (const FabClockCurve *curve, double clock)
{
  double low = curve->static_fraction, high = curve->draw_fraction;

  for (guint i = 0; i < 60; i++) {
    double middle = (low + high) / 2;

    if (fab_clock_within (curve, curve->draw_fraction, middle) < clock)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Root mean square of the logarithm of predicted over measured switching power. */
static double
error_of (const char *model)
{
  const double limit_watts = 400, waiting_watts = 83.64, highest_mhz = 1410, most_mhz = 1335;
  const FabClockCurve *curve = curve_of ("a100-sxm4-80gb");
  g_autoptr (GPtrArray) rows = read_rows ("a100_sxm_clocks.csv");
  double sum = 0;
  guint n = 0;

  for (guint i = 0; i < rows->len; i++) {
    char **row = g_ptr_array_index (rows, i);
    double predicted = power_at (curve, number (row, 2) / highest_mhz) * limit_watts - waiting_watts;
    double measured = number (row, 4) / number (row, 3) - waiting_watts, error = log (predicted / measured);

    if (strcmp (row[0], model) != 0 || number (row, 2) > most_mhz)
      continue;
    sum += error * error;
    n++;
  }
  assert_true (n > 60);
  return sqrt (sum / n);
}

static void
the_a100_is_as_it_was_measured (G_GNUC_UNUSED void **state)
{
  double fitted = error_of ("gpt3-175b"), judged = error_of ("bloom-176b");

  print_message ("switching power of the A100: GPT-3 %.1f %% rms (fitted), BLOOM %.1f %% rms (judged)\n",
                 100 * fitted, 100 * judged);
  assert_true (fitted < 0.022);
  assert_true (judged < 0.085);
}

/* Measured over predicted slow-downs of caps from `least` up to but without `most`, of one GPU or (NULL) of all. The
 * curve is that of the A100, which none of these GPUs is; what a job draws without a cap is known. */
static GArray *
ratios_of (const char *gpu, double least, double most)
{
  const FabClockCurve *curve = curve_of ("a100-sxm4-80gb");
  g_autoptr (GPtrArray) rows = read_rows ("gpu_caps.csv");
  GArray *ratios = g_array_new (FALSE, FALSE, sizeof (double));
  double whole_s = 0, draw = 0;

  for (guint i = 0; i < rows->len; i++) {
    char **row = g_ptr_array_index (rows, i);
    double limit = number (row, 1), cap = number (row, 4) / limit;

    if (cap >= 1) { /* the first row of a job */
      whole_s = number (row, 5);
      draw = number (row, 6) / limit;
      continue;
    }
    if ((gpu != NULL && strcmp (row[0], gpu) != 0) || cap < least || cap >= most)
      continue;
    double ratio = number (row, 5) / whole_s / fab_clock_capped (curve, draw, cap).slowdown;
    g_array_append_val (ratios, ratio);
  }
  return ratios;
}

static double
median_error (GArray *ratios)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < ratios->len; i++) {
    double error = fabs (1 / g_array_index (ratios, double, i) - 1);

    g_array_append_val (errors, error);
  }
  return percentile (errors, 0.5);
}

/* Prints the table of docs/models/power.md. */
static void
other_gpus_are_near (G_GNUC_UNUSED void **state)
{
  static const char *const gpus[] = { "v100", "p100", "rtx6000", "a40" };

  for (guint i = 0; i < G_N_ELEMENTS (gpus); i++) {
    g_autoptr (GArray) near = ratios_of (gpus[i], 0.65, 1), deep = ratios_of (gpus[i], 0.5, 0.65),
                       deepest = ratios_of (gpus[i], 0, 0.5);
    double near_error = median_error (near), deep_error = median_error (deep);

    print_message ("%-8s caps from 65 %%: %3u rows, median error %.1f %%; from 50 %%: %3u rows, %.1f %%\n",
                   gpus[i], near->len, 100 * near_error, deep->len, 100 * deep_error);
    if (deepest->len > 0)
      print_message ("%-8s below 50 %%: %u rows, %.1f %%\n", "", deepest->len, 100 * median_error (deepest));
    assert_true (near_error < 0.025);
    assert_true (deep_error < 0.10);
  }
}

/* The bands of the catalogue are the 5th and the 95th percentile of these rows. */
static void
bands_are_those_of_the_rows (G_GNUC_UNUSED void **state)
{
  const FabClockCurve *curve = curve_of ("h100-sxm5-80gb");
  g_autoptr (GArray) near = ratios_of (NULL, curve->near.from_fraction, 1),
                     deep = ratios_of (NULL, curve->deep.from_fraction, curve->near.from_fraction);

  print_message ("near %.3f to %.3f (%u rows), deep %.3f to %.3f (%u rows)\n", percentile (near, 0.05),
                 percentile (near, 0.95), near->len, percentile (deep, 0.05), percentile (deep, 0.95),
                 deep->len);
  assert_near (percentile (near, 0.05), curve->near.low_factor, 0.006);
  assert_near (percentile (near, 0.95), curve->near.high_factor, 0.006);
  assert_near (percentile (deep, 0.05), curve->deep.low_factor, 0.006);
  assert_near (percentile (deep, 0.95), curve->deep.high_factor, 0.006);
}

/* --- in a scenario --- */

static char *
problem_of (const char *node, const char *cap)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: %s, nodes: 1, power_cap: %s}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MiB}]}\n",
      node, cap);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models,
                                                         catalog, &error);

  return error != NULL ? g_strdup (error->message) : NULL;
}

static void
assert_problem (const char *node, const char *cap, const char *words)
{
  g_autofree char *problem = problem_of (node, cap);

  if (words == NULL)
    assert_null (problem);
  else if (problem == NULL || strstr (problem, words) == NULL)
    fail_msg ("%s: %s", cap, problem);
}

static void
caps_are_checked (G_GNUC_UNUSED void **state)
{
  assert_problem ("dgx-h100", "500W", NULL);
  assert_problem ("dgx-h100", "70%", NULL);
  assert_problem ("dgx-h100", "100%", NULL);
  assert_problem ("dgx-h100", "900W",
                  "'h100-sxm5-80gb' draws at most 700 W; write a lower cap, or leave it out");
  assert_problem ("dgx-h100", "146W",
                  "'h100-sxm5-80gb' draws 146 W of its 700 W at any clock; write a higher cap");
  assert_problem ("dgx-h100", "20%",
                  "'h100-sxm5-80gb' draws 146 W of its 700 W at any clock; write a higher cap");
  assert_problem ("dgx-h100", "500",
                  "'power_cap' is '500'; write whole watts such as 500W, or a share such as 70%");
  assert_problem ("dgx-h100", "0W", "write whole watts such as 500W");
  assert_problem ("dgx-h100", "fast", "write whole watts such as 500W");
}

/* Shares and watts as typed values, and as they are written again. */
static void
caps_have_values (G_GNUC_UNUSED void **state)
{
  static const char yaml[] = "name: t\ncluster: {node: dgx-h100, nodes: 1}\n"
                             "job: {kind: collective, operations: [{op: all_reduce, size: 1MiB}]}\n";
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", yaml, sizeof yaml - 1, NULL, &fab_models,
                                                         catalog, NULL);
  g_autoptr (FabValue) share = NULL, watts = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  assert_true (
      fab_scenario_set (scenario, "cluster.power_cap", fab_value_real (FAB_UNIT_FRACTION, 0.5), NULL));
  assert_true (fab_scenario_check (scenario, NULL));
  assert_true (fab_scenario_get (scenario, "cluster.power_cap", &share, NULL));
  assert_near (share->real, 0.5, 0);
  assert_true (fab_scenario_set (scenario, "cluster.power_cap", fab_value_text ("500W"), NULL));
  assert_true (fab_scenario_check (scenario, NULL));
  assert_true (fab_scenario_get (scenario, "cluster.power_cap", &watts, NULL));
  assert_string_equal (watts->text, "500W");
  text = fab_scenario_resolved (scenario);
  assert_non_null (strstr (text, "power_cap: 500W"));
  assert_false (fab_scenario_set (scenario, "cluster.power_cap", fab_value_count (500), &error));
  assert_non_null (strstr (error->message, "write whole watts such as 500W, or a share such as 70%"));
}

static FabPoint *
point_of (const char *cap, const char *compute)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 2\ncontention: false\n"
      "cluster: {node: dgx-a100, nodes: 1, power_cap: %s}\n"
      "job: {kind: ddp, model: gpt2-xl, micro_batch: 8, sequence: 1024, optimizer_traffic: 0B, compute: %s}\n",
      cap, compute);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models,
                                                         catalog, &error);
  FabPoint *point = scenario != NULL ? fab_point_play_within (scenario, &fab_models, NULL, &error) : NULL;

  if (point == NULL)
    fail_msg ("%s", error->message);
  return point;
}

/* Compute that is all FLOPs slows down as matrices do; operator by operator it slows down less. A capped machine draws
 * less in a step of as many FLOPs. */
static void
steps_follow_the_clock (G_GNUC_UNUSED void **state)
{
  const FabCappedClock capped = fab_clock_capped (curve_of ("a100-sxm4-80gb"), 1, 0.7);
  g_autoptr (FabPoint) flops = point_of ("100%", "{kind: mfu, mfu: 50%}");
  g_autoptr (FabPoint) capped_flops = point_of ("70%", "{kind: mfu, mfu: 50%}");
  g_autoptr (FabPoint) watts = point_of ("280W", "{kind: mfu, mfu: 50%}");
  g_autoptr (FabPoint) operators = point_of ("100%", "auto");
  g_autoptr (FabPoint) capped_operators = point_of ("70%", "auto");
  double ratio = capped_operators->compute_s / operators->compute_s;

  assert_near (capped_flops->compute_s / flops->compute_s, capped.slowdown, 1e-6);
  assert_near (watts->step_s, capped_flops->step_s, 0);
  assert_true (ratio > 1.02 && ratio < capped.slowdown - 0.005);
  assert_true (capped_flops->spending.power_watts < 0.85 * flops->spending.power_watts);
  assert_true (capped_flops->spending.power_watts > 0.65 * flops->spending.power_watts);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (clocks_follow_from_the_voltage),
    cmocka_unit_test (a_cap_above_the_draw_changes_nothing),
    cmocka_unit_test (a_limit_below_the_draw_is_a_cap_already),
    cmocka_unit_test (bands_are_those_of_the_cap),
    cmocka_unit_test (lower_caps_are_slower),
    cmocka_unit_test (the_a100_is_as_it_was_measured),
    cmocka_unit_test (other_gpus_are_near),
    cmocka_unit_test (bands_are_those_of_the_rows),
    cmocka_unit_test (caps_are_checked),
    cmocka_unit_test (caps_have_values),
    cmocka_unit_test (steps_follow_the_clock),
  };
  int failed;

  catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, NULL);
  failed = cmocka_run_group_tests (tests, NULL, NULL);
  fab_catalog_free (catalog);
  return failed;
}
