/* SPDX-License-Identifier: Apache-2.0 */
/* test_figures.c - the figures by which points are compared: what each is of a point made by hand, when it is known,
 * which of two points is better by it, and how a value is shown and read. */
#include "tests/support/test.h"

#include "sim/study/better.h"

/* A point in which every member has a value of its own. */
static FabPoint
whole_point (void)
{
  FabPoint point = { .step_s = 4,
                     .compute_s = 2,
                     .exposed_s = 1,
                     .idle_s = 0.5,
                     .waiting_s = 0.25,
                     .exposed_inter_node_s = 0.75,
                     .mfu_fraction = 0.3,
                     .tokens_per_s = 700,
                     .train_s = 8000,
                     .memory_bytes = 60,
                     .memory_max_bytes = 80 };

  for (guint d = 0; d < FAB_N_DIMENSIONS; d++) {
    point.exposed_by_s[d] = 0.01 * (d + 1);
    point.dimensions |= 1U << d;
  }
  point.spending = (FabSpending){ .capex_usd = 200,
                                  .network_usd = 30,
                                  .power_watts = 50,
                                  .network_watts = 6,
                                  .usd_per_hour = 11,
                                  .usd_per_step = 12,
                                  .usd_per_million_tokens = 13,
                                  .train_usd = 14,
                                  .step_joules = 15,
                                  .train_joules = 16 };
  point.goodput = (FabGoodput){ .is_known = TRUE,
                                .form = { .ettr_fraction = 0.9 },
                                .tokens_per_s = 650,
                                .calendar_s = 9000,
                                .lost_gpu_hours = 17 };
  return point;
}

/* What the figure is of that point; "step" at the end of a share is its 4 s. */
static const struct {
  const char *name;
  double value;
  gboolean is_always_known; /* of a point that was simulated */
  gboolean is_gain, is_by_step, is_of_training;
} figures[] = {
  { "step", 4, TRUE, FALSE, TRUE, FALSE },
  { "exposed", 1.0 / 4, TRUE, FALSE, FALSE, FALSE },
  { "exposed_time", 1, TRUE, FALSE, FALSE, FALSE },
  { "exposed.data", 0.01 * (FAB_DIMENSION_DATA + 1) / 4, FALSE, FALSE, FALSE, FALSE },
  { "exposed.tensor", 0.01 * (FAB_DIMENSION_TENSOR + 1) / 4, FALSE, FALSE, FALSE, FALSE },
  { "exposed.context", 0.01 * (FAB_DIMENSION_CONTEXT + 1) / 4, FALSE, FALSE, FALSE, FALSE },
  { "exposed.expert", 0.01 * (FAB_DIMENSION_EXPERT + 1) / 4, FALSE, FALSE, FALSE, FALSE },
  { "exposed.pipeline", 0.01 * (FAB_DIMENSION_PIPELINE + 1) / 4, FALSE, FALSE, FALSE, FALSE },
  { "exposed.offload", 0.01 * (FAB_DIMENSION_OFFLOAD + 1) / 4, FALSE, FALSE, FALSE, FALSE },
  { "exposed.other", 0.01 * (FAB_DIMENSION_OTHER + 1) / 4, FALSE, FALSE, FALSE, FALSE },
  { "exposed.inter_node", 0.75 / 4, TRUE, FALSE, FALSE, FALSE },
  { "exposed.intra_node", 0.25 / 4, TRUE, FALSE, FALSE, FALSE },
  { "idle", 0.5 / 4, TRUE, FALSE, FALSE, FALSE },
  { "waiting", 0.25 / 4, TRUE, FALSE, FALSE, FALSE },
  { "mfu", 0.3, FALSE, TRUE, TRUE, FALSE },
  { "tokens", 700, FALSE, TRUE, TRUE, FALSE },
  { "train", 8000, FALSE, FALSE, TRUE, TRUE },
  { "days", 9000, FALSE, FALSE, FALSE, TRUE },
  { "ettr", 0.9, FALSE, TRUE, FALSE, FALSE },
  { "goodput", 650, FALSE, TRUE, FALSE, FALSE },
  { "lost_gpu_hours", 17, FALSE, FALSE, FALSE, TRUE },
  { "memory", 60, FALSE, FALSE, FALSE, FALSE },
  { "capex", 200, FALSE, FALSE, FALSE, FALSE },
  { "network_share", 30.0 / 200, FALSE, FALSE, FALSE, FALSE },
  { "power", 50, FALSE, FALSE, FALSE, FALSE },
  { "network_power", 6.0 / 50, FALSE, FALSE, FALSE, FALSE },
  { "hour_cost", 11, FALSE, FALSE, FALSE, FALSE },
  { "step_cost", 12, FALSE, FALSE, FALSE, FALSE },
  { "token_cost", 13, FALSE, FALSE, FALSE, FALSE },
  { "train_cost", 14, FALSE, FALSE, FALSE, TRUE },
  { "step_energy", 15, FALSE, FALSE, FALSE, FALSE },
  { "train_energy", 16, FALSE, FALSE, FALSE, TRUE },
};

static void
every_figure_is_that_of_the_point (G_GNUC_UNUSED void **state)
{
  const FabPoint point = whole_point (), bare = { .step_s = 4 }, none = { .step_s = 0 };
  g_autofree char *names = fab_figure_names ();
  g_auto (GStrv) all = g_strsplit (names, ", ", -1);

  assert_int_equal (g_strv_length (all), G_N_ELEMENTS (figures));
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++) {
    const FabFigure *figure = fab_figure_find (figures[i].name);

    assert_string_equal (all[i], figures[i].name);
    assert_near (figure->value (&point), figures[i].value, 1e-12);
    assert_true (fab_figure_is_known (figure, &point));
    assert_int_equal (fab_figure_is_known (figure, &bare), figures[i].is_always_known);
    assert_int_equal (figure->is_known == NULL, figures[i].is_always_known);
    assert_int_equal (figure->unknown == NULL, figures[i].is_always_known);
    assert_int_equal (figure->is_gain, figures[i].is_gain);
    assert_int_equal (figure->is_by_step, figures[i].is_by_step);
    assert_int_equal (figure->is_of_training, figures[i].is_of_training);
    /* Nothing is divided by a step, a price or a power that is not known. */
    assert_near (figure->value (&none), 0, 0);
    assert_false (fab_figure_is_known (figure, &none));
  }
  assert_null (fab_figure_find ("steps"));
  assert_false (fab_figure_is_known (fab_figure_find ("step"), NULL));
}

/* Without failures a calendar has the days of the computing. */
static void
days_without_failures_are_those_of_the_training (G_GNUC_UNUSED void **state)
{
  FabPoint point = whole_point ();

  point.goodput = (FabGoodput){ .is_known = FALSE };
  assert_near (fab_figure_find ("days")->value (&point), 8000, 0);
  assert_true (fab_figure_is_known (fab_figure_find ("days"), &point));
  assert_false (fab_figure_is_known (fab_figure_find ("goodput"), &point));
  assert_false (fab_figure_is_known (fab_figure_find ("lost_gpu_hours"), &point));
}

/* Memory that is exactly filled is enough, and so is one of which the size is not known. */
static void
what_fills_the_memory_fits (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytes needed, has;
    gboolean fits;
  } rows[] = { { 79, 80, TRUE }, { 80, 80, TRUE }, { 81, 80, FALSE }, { 81, 0, TRUE }, { 0, 1, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabPoint point = { .memory_bytes = rows[i].needed, .memory_max_bytes = rows[i].has };

    assert_int_equal (fab_point_fits (&point), rows[i].fits);
  }
}

static gint
sign (int order)
{
  return (order > 0) - (order < 0);
}

/* A shorter step is better and so are more tokens; a point that has the figure is better than one without it, and of
 * two without it none is. A millionth of the larger value is rounding where that is asked for. */
static void
the_better_point_is_found (G_GNUC_UNUSED void **state)
{
  static const FabPoint quick = { .step_s = 1, .tokens_per_s = 200 },
                        slow = { .step_s = 2, .tokens_per_s = 100 },
                        near_slow = { .step_s = 2 * (1 - 0.9e-6), .tokens_per_s = 100 * (1 + 0.9e-6) },
                        beyond_slow = { .step_s = 2 * (1 - 1.1e-6), .tokens_per_s = 100 * (1 + 1.2e-6) },
                        silent = { .step_s = 1 }, unplayed = { .step_s = 0, .tokens_per_s = 900 };
  static const struct {
    const char *name;
    const FabPoint *a, *b;
    gint order, rounded;
  } rows[] = {
    { "step", &quick, &slow, -1, -1 },
    { "step", &slow, &quick, 1, 1 },
    { "step", &slow, &slow, 0, 0 },
    { "tokens", &quick, &slow, -1, -1 },
    { "tokens", &slow, &quick, 1, 1 },
    { "tokens", &slow, &slow, 0, 0 },
    { "step", &near_slow, &slow, -1, 0 },
    { "step", &slow, &near_slow, 1, 0 },
    { "tokens", &near_slow, &slow, -1, 0 },
    { "tokens", &slow, &near_slow, 1, 0 },
    { "step", &beyond_slow, &slow, -1, -1 },
    { "step", &slow, &beyond_slow, 1, 1 },
    { "tokens", &beyond_slow, &slow, -1, -1 },
    { "tokens", &slow, &beyond_slow, 1, 1 },
    { "tokens", &slow, &silent, -1, -1 },
    { "tokens", &silent, &slow, 1, 1 },
    { "tokens", &silent, &silent, 0, 0 },
    { "tokens", &slow, NULL, -1, -1 },
    { "tokens", &slow, &unplayed, -1, -1 },
    { "tokens", &unplayed, &slow, 1, 1 },
    { "step", &unplayed, &slow, 1, 1 },
    { "tokens", &silent, NULL, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabFigure *figure = fab_figure_find (rows[i].name);
    gint order = sign (fab_figure_compare (figure, rows[i].a, rows[i].b)),
         rounded = sign (fab_figure_compare_rounded (figure, rows[i].a, rows[i].b));

    if (order != rows[i].order || rounded != rows[i].rounded)
      fail_msg ("row %u, %s: %d and %d", i, rows[i].name, order, rounded);
  }
}

/* A copy has texts of its own, and no draws. */
static void
a_copy_of_a_point_is_of_one_play (G_GNUC_UNUSED void **state)
{
  FabPoint point = whole_point ();

  point.binding = g_strdup ("node0/nic0 -> leaf0");
  point.binding_spec = g_strdup ("ib-ndr");
  point.verdict = fab_verdict_new ();
  point.bottleneck = fab_bottleneck_new ();
  point.choices = g_array_new (FALSE, FALSE, 1);
  point.draws = g_ptr_array_new ();
  fab_verdict_add (point.verdict, FAB_FINDING_SPREAD, g_strdup ("It spreads."), NULL);
  FabPoint *copy = fab_point_copy (&point);
  assert_true (copy->binding != point.binding && copy->binding_spec != point.binding_spec);
  assert_string_equal (copy->binding, "node0/nic0 -> leaf0");
  assert_string_equal (copy->binding_spec, "ib-ndr");
  assert_true (copy->verdict != point.verdict && copy->bottleneck != point.bottleneck);
  assert_int_equal (fab_verdict_n (copy->verdict), 1);
  assert_non_null (copy->bottleneck);
  assert_ptr_equal (copy->choices, point.choices);
  assert_null (copy->draws);
  assert_near (copy->step_s, 4, 0);
  fab_point_free (copy);
  g_free (point.binding);
  g_free (point.binding_spec);
  fab_verdict_free (point.verdict);
  fab_bottleneck_free (point.bottleneck);
  g_array_unref (point.choices);
  g_ptr_array_unref (point.draws);
  fab_point_free (NULL);
}

/* Shown with the largest unit that leaves at least 1; rates from a thousand on without a fraction. */
static void
a_value_is_shown_with_the_fitting_unit (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabFigureKind kind;
    double value;
    const char *shown;
  } rows[] = {
    { FAB_FIGURE_TIME, 0.6204, "620.4 ms" },  { FAB_FIGURE_FRACTION, 0.1234, "12.3 %" },
    { FAB_FIGURE_RATE, 999.94, "999.9" },     { FAB_FIGURE_RATE, 1000, "1000" },
    { FAB_FIGURE_RATE, 1234.6, "1235" },      { FAB_FIGURE_RATE, 123456.4, "123456" },
    { FAB_FIGURE_MONEY, 999, "$999" },        { FAB_FIGURE_MONEY, 1000, "$1k" },
    { FAB_FIGURE_MONEY, 999900, "$999.9k" },  { FAB_FIGURE_MONEY, 1e6, "$1M" },
    { FAB_FIGURE_MONEY, 42.84e6, "$42.84M" }, { FAB_FIGURE_MONEY, 1e9, "$1G" },
    { FAB_FIGURE_MONEY, 5e13, "$5e+04G" },    { FAB_FIGURE_MONEY, 0.0151, "$0.0151" },
    { FAB_FIGURE_ENERGY, 999, "999 J" },      { FAB_FIGURE_ENERGY, 1000, "1 kJ" },
    { FAB_FIGURE_ENERGY, 1e6, "1 MJ" },       { FAB_FIGURE_ENERGY, 3.5e6, "3.5 MJ" },
    { FAB_FIGURE_ENERGY, 3.6e6, "1 kWh" },    { FAB_FIGURE_ENERGY, 3.6e9, "1 MWh" },
    { FAB_FIGURE_ENERGY, 7.2e12, "2 GWh" },   { FAB_FIGURE_POWER, 999, "999 W" },
    { FAB_FIGURE_POWER, 1000, "1 kW" },       { FAB_FIGURE_POWER, 1e6, "1 MW" },
    { FAB_FIGURE_POWER, 1e9, "1 GW" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *shown = fab_figure_show (rows[i].kind, rows[i].value);

    assert_string_equal (shown, rows[i].shown);
  }
}

/* A sentence has the unit beside the value, a table has it in the label, and cells of shares have one decimal. */
static void
a_table_has_the_unit_in_the_label (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    double value;
    const char *written, *label, *cell;
  } rows[] = {
    { "token_cost", 0.0151, "$0.0151 per million tokens", "token_cost per million tokens", "$0.0151" },
    { "mfu", 0.05, "5 %", "mfu", "5.0 %" },
    { "mfu", 0.12345, "12.3 %", "mfu", "12.3 %" },
    { "tokens", 5000, "5000 per second", "tokens per second", "5000" },
    { "step", 2, "2 s", "step", "2 s" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabFigure *figure = fab_figure_find (rows[i].name);
    g_autofree char *written = fab_figure_write (figure, rows[i].value), *label = fab_figure_label (figure),
                    *cell = fab_figure_cell (figure, rows[i].value);

    assert_string_equal (written, rows[i].written);
    assert_string_equal (label, rows[i].label);
    assert_string_equal (cell, rows[i].cell);
  }
}

/* A dollar sign and blanks before the unit may be there, a minus sign and other units may not; NULL: it is refused. */
static void
a_value_is_read_as_a_person_writes_it (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabFigureKind kind;
    const char *text;
    double value;
    const char *refused;
  } rows[] = {
    { FAB_FIGURE_MONEY, "$2", 2, NULL },
    { FAB_FIGURE_MONEY, "0", 0, NULL },
    { FAB_FIGURE_MONEY, "1.5 k", 1500, NULL },
    { FAB_FIGURE_MONEY, "$3  M", 3e6, NULL },
    { FAB_FIGURE_MONEY, "2G", 2e9, NULL },
    { FAB_FIGURE_MONEY, "$$2", 0, "'$$2' is not a valid sum of US dollars: $2, 1.5k, $40M" },
    { FAB_FIGURE_MONEY, "-1", 0, "'-1' is not a valid sum of US dollars: $2, 1.5k, $40M" },
    { FAB_FIGURE_MONEY, "2T", 0, "'2T' is not a valid sum of US dollars: $2, 1.5k, $40M" },
    { FAB_FIGURE_POWER, "$2W", 0, "'$2W' is not a valid power: 800W, 12kW, 1.5MW" },
    { FAB_FIGURE_POWER, "2", 0, "'2' is not a valid power: 800W, 12kW, 1.5MW" },
    { FAB_FIGURE_POWER, "2 GW", 2e9, NULL },
    { FAB_FIGURE_ENERGY, "3J", 3, NULL },
    { FAB_FIGURE_ENERGY, "3MJ", 3e6, NULL },
    { FAB_FIGURE_ENERGY, "1MWh", 3.6e9, NULL },
    { FAB_FIGURE_ENERGY, "1W", 0, "'1W' is not a valid energy: 500kJ, 12kWh, 3MWh" },
    { FAB_FIGURE_TIME, "90min", 5400, NULL },
    { FAB_FIGURE_TIME, "2h", 7200, NULL },
    { FAB_FIGURE_TIME, "1 d", 86400, NULL },
    { FAB_FIGURE_TIME, "3 days", 3 * 86400.0, NULL },
    { FAB_FIGURE_TIME, "250ms", 0.25, NULL },
    { FAB_FIGURE_BYTES, "80GB", 80e9, NULL },
    { FAB_FIGURE_FRACTION, "12.5%", 0.125, NULL },
    { FAB_FIGURE_RATE, "1e6", 1e6, NULL },
    { FAB_FIGURE_TIME, ".5min", 30, NULL },
    { FAB_FIGURE_TIME, "0h", 0, NULL },
    { FAB_FIGURE_TIME, "-2h", 0, "'-2h' is negative; a time cannot be negative" },
    { FAB_FIGURE_TIME, "soon", 0, "'soon' is not a time; write for example 600ns" },
    { FAB_FIGURE_BYTES, "80", 0, "'80' has no unit; write for example 25MiB" },
    { FAB_FIGURE_BYTES, "-1GB", 0, "'-1GB' is negative; a size cannot be negative" },
    { FAB_FIGURE_FRACTION, "1.5", 0, "'1.5' is more than 1; write a fraction as 0.5 or 50%" },
    { FAB_FIGURE_RATE, "many", 0, "'many' is not a number; write for example 1.5" },
    { FAB_FIGURE_MONEY, "$", 0, "'$' is not a valid sum of US dollars: $2, 1.5k, $40M" },
    { FAB_FIGURE_MONEY, "", 0, "'' is not a valid sum of US dollars: $2, 1.5k, $40M" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    double value = -1;

    assert_int_equal (fab_figure_parse (rows[i].kind, rows[i].text, &value, &error), rows[i].refused == NULL);
    if (rows[i].refused == NULL)
      assert_near (value, rows[i].value, 1e-12);
    else
      assert_string_equal (error->message, rows[i].refused);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_figure_is_that_of_the_point),
    cmocka_unit_test (days_without_failures_are_those_of_the_training),
    cmocka_unit_test (what_fills_the_memory_fits),
    cmocka_unit_test (the_better_point_is_found),
    cmocka_unit_test (a_copy_of_a_point_is_of_one_play),
    cmocka_unit_test (a_value_is_shown_with_the_fitting_unit),
    cmocka_unit_test (a_table_has_the_unit_in_the_label),
    cmocka_unit_test (a_value_is_read_as_a_person_writes_it),
  };

  return cmocka_run_group_tests_name ("figures", tests, NULL, NULL);
}
