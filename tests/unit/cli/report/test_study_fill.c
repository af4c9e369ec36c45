/* SPDX-License-Identifier: Apache-2.0 */
/* test_study_fill.c - the pages of size, compare, upgrade and cost: what they say follows from the figures.
 *
 * The studies are made here, with figures that are easily put in order by hand.
 */
#include "tests/unit/cli/report/study_pages.h"

/* --- size --- */

#define SIZED                                                                                                   \
  "{\"scenario\":\"a rig\",\"key\":\"cluster.nodes\",\"target\":\"step <= 2 s\",\"ports\":[],"                  \
  "\"points\":[{\"value\":\"1\",\"step_s\":4,\"exposed_fraction\":0.5,\"mfu_fraction\":0.2,\"capex_usd\":1000," \
  "\"is_met\":\"no\",\"limited_by\":\"the network\"},"                                                          \
  "{\"value\":\"2\",\"step_s\":1.5,\"exposed_fraction\":0.25,\"mfu_fraction\":0.4,\"capex_usd\":null,"          \
  "\"is_met\":\"yes\",\"limited_by\":\"compute\"},"                                                             \
  "{\"value\":\"3\",\"is_met\":\"no\",\"problem\":\"does not fit\",\"limited_by\":\"nothing\"}]"

static void
test_the_first_value_that_is_enough (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) page = study_page (
      SIZED ",\"answer\":\"2\",\"answer_low\":\"1\",\"answer_high\":null,"
            "\"band\":[{\"low\":1,\"high\":3,\"coverage_fraction\":0.9,\"most\":\"the links\"}]}");
  g_autofree char *names = all_words (page, "p", "name"), *values = all_words (page, "p", "value");

  assert_heads (page, "How much cluster.nodes is enough?", "a rig",
                "Step by cluster.nodes; the line is the target");
  assert_decision (
      page, "cluster.nodes = 2 is the first value that meets step <= 2 s.",
      "With 2, step is from 1 s to 3 s in 90 % of cases, most of it by the links.\n"
      "Of the values that were tried, the first that is enough is 1 at the better bound of this band, and "
      "none of them at the worse one.");
  assert_string_equal (names, "1\n2"); /* the third has no step */
  assert_string_equal (values, "4 s\n1.5 s (1 s to 3 s)");
  assert_table (page, "Value | Step | Exposed | MFU | To buy | Meets the target | Limited by\n"
                      "1 | 4 s | 50 % | 20 % | $1k | no | the network\n"
                      "*2 | 1.5 s | 25 % | 40 % | no price | yes | compute\n"
                      "3 | - | - | - | no price | no | does not fit");
  assert_labels (page);
}

/* Where the line of the target is drawn: at the middle of an axis from 0 s to 4 s. */
static double
bound_of (const char *target, const char *figure, double value)
{
  g_autofree char *json = g_strdup_printf (
      "{\"key\":\"k\",\"target\":\"%s\",\"ports\":[],\"points\":[{\"value\":\"1\",\"%s\":%g}]}", target,
      figure, value);
  g_autoptr (GPtrArray) page = study_page (json);

  for (guint i = 0; i < page->len; i++)
    if (g_strcmp0 (drawn_word (drawing_at (page, i), "class"), "bound") == 0)
      return g_ascii_strtod (drawn_word (drawing_at (page, i), "x1"), NULL);
  return NAN;
}

/* Places go from 2 % to 98 %. */
static void
test_a_target_is_a_line (G_GNUC_UNUSED void **state)
{
  assert_near (bound_of ("step <= 2 s", "step_s", 4), 50, 1e-9);
  assert_near (bound_of ("step <= 1 s", "step_s", 4), 26, 1e-9);
  assert_near (bound_of ("step <= 500 ms", "step_s", 1), 50, 1e-9);
  assert_near (bound_of ("exposed <= 25 %", "exposed_fraction", 0.5), 50, 1e-9);
  assert_true (isnan (bound_of ("exposed <= 25", "exposed_fraction", 0.5)));
  assert_true (isnan (bound_of ("step <= soon", "step_s", 4)));
  assert_true (isnan (bound_of ("step", "step_s", 4)));
  assert_true (isnan (bound_of ("nothing <= 2 s", "step_s", 4)));
}

static void
test_no_value_is_enough (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) nearest = study_page (SIZED ",\"answer\":null,\"closest\":\"2\"}"),
                        unknown = study_page (SIZED ",\"closest\":\"3\"}"), none = study_page (SIZED "}");

  assert_decision (
      nearest, "No value of cluster.nodes that was tried meets step <= 2 s; 2 comes nearest with step 1.5 s.",
      "");
  assert_decision (unknown, "No value of cluster.nodes that was tried meets step <= 2 s; 3 comes nearest.",
                   "");
  assert_decision (none, "No value of cluster.nodes that was tried meets step <= 2 s.", "");
}

static void
test_ports_and_a_band_without_an_answer (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) page = study_page (
      "{\"key\":\"k\",\"target\":\"exposed <= 25 %\",\"points\":[],"
      "\"ports\":[{\"link\":\"a\",\"technology\":\"A\",\"is_met\":\"yes\"},{\"link\":\"b\"},"
      "{\"link\":\"c\",\"technology\":\"C\",\"is_met\":\"no\"}],"
      "\"band\":[{\"low\":0.1,\"high\":0.3,\"coverage_fraction\":0.5}]}");

  assert_decision (page, "No value of k that was tried meets exposed <= 25 %.",
                   "With the nearest value, exposed is from 10 % to 30 % in 50 % of cases.\n"
                   "A port that is sold with this rate or more: a (A), which meets the target.\n"
                   "A port that is sold with this rate or more: c (C), which misses the target.");
}

/* Of more than 24 values the rest is counted. */
static void
test_a_table_has_at_most_24_values (G_GNUC_UNUSED void **state)
{
  for (guint n = 24; n <= 26; n++) {
    g_autoptr (GString) points = g_string_new (NULL);

    for (guint i = 0; i < n; i++)
      g_string_append_printf (points, "%s{\"value\":\"v%u\",\"step_s\":1}", i > 0 ? "," : "", i);
    g_autofree char *json = g_strdup_printf (
        "{\"key\":\"k\",\"target\":\"step <= 2 s\",\"ports\":[],\"points\":[%s]}", points->str);
    g_autoptr (GPtrArray) page = study_page (json);
    g_autofree char *note = all_words (page, "p", "note"),
                    *rest = n > 24 ? g_strdup_printf ("%u more are in the study's file.", n - 24)
                                   : g_strdup ("");
    g_autoptr (GPtrArray) rows = drawing_find (page, "tr", NULL);
    assert_int_equal (rows->len, 1 + MIN (n, 24));
    assert_string_equal (note, rest);
  }
}

/* --- compare --- */

#define COMPARED                                                                                                \
  "{\"title\":\"two rigs\",\"against\":\"a\",\"left_out\":[],\"variants\":["                                    \
  "{\"scenario\":\"s\",\"fidelity\":\"fluid\",\"step_s\":2,\"exposed_s\":0.5},"                                 \
  "{\"scenario\":\"s\",\"fidelity\":\"packet\",\"step_s\":4,\"exposed_s\":1,\"explanation\":\"C is slower.\"}," \
  "{\"scenario\":\"s\",\"fidelity\":\"model\",\"step_s\":1,\"exposed_s\":0.1,\"explanation\":\"B is faster.\"," \
  "\"verdict\":[{\"code\":\"waits_for_links\",\"text\":\"It waits.\"},{\"code\":\"other\",\"text\":\"Beware.\"}]}]"

static void
test_the_quickest_is_said_first (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) page = study_page (
      COMPARED
      ",\"figures\":[{\"name\":\"a\",\"mfu_fraction\":0.3,\"capex_usd\":10,\"usd_per_million_tokens\":2,"
      "\"limited_by\":\"compute\"},{\"name\":\"c\"},{\"name\":\"b\",\"mfu_fraction\":0.6}],"
      "\"bands\":[{\"name\":\"b\",\"step_low_s\":0.5,\"step_high_s\":1.5,"
      "\"step_change_low_fraction\":-0.6,\"step_change_high_fraction\":-0.2},"
      "{\"name\":\"c\",\"step_low_s\":3,\"step_high_s\":6,\"step_change_low_fraction\":-0.1,"
      "\"step_change_high_fraction\":0.9}],"
      "\"equals\":[{\"name\":\"c\",\"figure\":\"step\",\"key\":\"nodes\",\"answer\":\"7\"},"
      "{\"name\":\"b\",\"figure\":\"step\",\"key\":\"nodes\"}]}");
  g_autofree char *names = all_words (page, "p", "name"), *values = all_words (page, "p", "value"),
                  *cautions = all_words (page, "li", NULL);

  assert_decision (
      page, "B is faster.",
      "The forecast decides between b and a: within the band the step changes by -60 % to -20 %.\n"
      "C is slower.\n"
      "The forecast does not decide between c and a: within the band the step changes by -10 % to 90 %.\n"
      "c equals a in step with nodes = 7.");
  assert_string_equal (names, "a\nc\nb");
  assert_string_equal (values, "2 s\n4 s (3 s to 6 s)\n1 s (500 ms to 1.5 s)");
  assert_table (page, "Alternative | Step | Exposed | MFU | To buy | A million tokens | Limited by\n"
                      "a | 2 s | 25 % | 30 % | $10 | $2 | compute\n"
                      "c | 4 s (3 s to 6 s) | 25 % | - | - | - | -\n"
                      "*b | 1 s (500 ms to 1.5 s) | 10 % | 60 % | - | - | -");
  assert_heads (page, "Which of them is faster?", "two rigs", "Time of a step, with its band");
  assert_string_equal (cautions, "b: It waits.\nBeware.");
}

/* Without a name for each, the fidelities tell them apart. A change that is 0 at a bound of its band is decided. */
static void
test_fidelities_have_names (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) page = study_page (
      COMPARED ",\"figures\":[],\"bands\":[{\"name\":\"s at model\",\"step_change_low_fraction\":-0.5,"
               "\"step_change_high_fraction\":0},{\"name\":\"s at packet\",\"step_change_low_fraction\":0,"
               "\"step_change_high_fraction\":0.5}]}");
  g_autofree char *names = all_words (page, "p", "name");

  assert_string_equal (names, "s at fluid\ns at packet\ns at model");
  assert_decision (
      page, "B is faster.",
      "The forecast decides between s at model and a: within the band the step changes by -50 % to 0 %.\n"
      "C is slower.\n"
      "The forecast decides between s at packet and a: within the band the step changes by 0 % to 50 %.");
}

static void
test_nothing_to_compare (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) page = study_page (
      "{\"title\":\"t\",\"against\":\"a\",\"left_out\":[],\"variants\":[{\"scenario\":\"s\",\"step_s\":1}]}");

  assert_decision (page, "There is nothing to compare a with.", "");
}

/* --- upgrade --- */

/* (transfer full) */
static char *
change (const char *name, const char *state, const char *saved, const char *price)
{
  return g_strdup_printf (
      "{\"change\":\"%s\",\"state\":\"%s\",\"saved_fraction\":%s,\"price_usd\":%s,\"step_s\":1,"
      "\"then_limited_by\":\"it\"}",
      name, state, saved, price);
}

static void
test_what_to_change_first (G_GNUC_UNUSED void **state)
{
  static const char head[] =
      "{\"scenario\":\"s\",\"step_s\":2,\"step_low_s\":1,\"step_high_s\":3,\"limited_by\":\"links\","
      "\"assignments\":[],\"set_first\":\"tune\",\"buy_first\":\"buy\",\"most\":\"all\",\"changes\":["
      "{\"change\":\"buy\",\"state\":\"sure\",\"saved_fraction\":0.3,\"saved_low_fraction\":0.2,"
      "\"saved_high_fraction\":0.4,\"price_usd\":100,\"price_low_usd\":80,\"price_high_usd\":150,\"step_s\":1.4}";
  g_autofree char *tune = change ("tune", "sure", "0.1", "0"), *none = change ("none", "no gain", "0.2", "5"),
                  *worse = change ("worse", "sure", "-0.1", "5"),
                  *nothing = change ("nothing", "sure", "0", "5"),
                  *maybe = change ("maybe", "within band", "0.05", "null"),
                  *all = change ("all", "sure", "0.5", "999");
  g_autofree char *json = g_strdup_printf (
      "%s,%s,%s,%s,%s,%s,%s],\"larger_saves_less\":[{\"why\":\"A saves less.\"},{}]}", head, tune, none,
      worse, nothing, maybe, all);
  g_autoptr (GPtrArray) page = study_page (json);
  g_autofree char *names = all_words (page, "p", "name"), *note = all_words (page, "p", "note"),
                  *cautions = all_words (page, "li", NULL);

  assert_heads (page, "What should change first?", "s",
                "Share of the time for the same work that a change saves, with its band");
  assert_decision (
      page, "Set first: tune. It saves 10 % of the time for the same work, and costs nothing.",
      "Buy first: buy. It saves 30 % (20 % to 40 %) of the time for the same work, for $100 ($80 to "
      "$150).\n"
      "Most is saved by all: 50 %, for $999.\n"
      "Today a step takes 2 s (1 s to 3 s), limited by links.");
  assert_string_equal (names, "buy\ntune\nmaybe\nall");
  assert_table (page, "Change | Saves | Price | Step | How sure | Then limited by\n"
                      "*buy | 30 % (20 % to 40 %) | $100 | 1.4 s | sure | -\n"
                      "*tune | 10 % | $0 | 1 s | sure | it\n"
                      "maybe | 5 % | no price | 1 s | may be no gain | it\n"
                      "*all | 50 % | $999 | 1 s | sure | it");
  assert_string_equal (note, "3 more are in the study's file.");
  assert_string_equal (cautions, "A saves less.");
}

static void
test_nothing_to_buy (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray)
      page = study_page (
          "{\"step_s\":2,\"assignments\":[],\"no_purchase\":\"none is worth it\",\"nearest\":\"a switch\","
          "\"changes\":[]}"),
      old = study_page ("{\"step_s\":2,\"assignments\":[],\"changes\":[]}");

  assert_decision (page, "No purchase is recommended: none is worth it.",
                   "Nearest comes this: a switch.\nToday a step takes 2 s.");
  assert_decision (old, "No purchase is recommended.", "Today a step takes 2 s.");
}

/* What saves most is said once, where it is what to buy first. Twelve rows that nobody chose are shown. */
static void
test_the_purchase_that_saves_most (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) changes = g_string_new (NULL);

  for (guint i = 0; i < 15; i++)
    g_string_append_printf (
        changes, "%s{\"change\":\"c%u\",\"state\":\"sure\",\"saved_fraction\":0.1,\"price_usd\":9}",
        i > 0 ? "," : "", i);
  g_autofree char *json = g_strdup_printf (
      "{\"step_s\":2,\"assignments\":[],\"buy_first\":\"c14\",\"most\":\"c14\",\"changes\":[%s]}",
      changes->str);
  g_autoptr (GPtrArray) page = study_page (json), rows = drawing_find (page, "tr", NULL);
  g_autofree char *note = all_words (page, "p", "note"), *names = all_words (page, "p", "name");

  assert_decision (page, "Buy first: c14. It saves 10 % of the time for the same work, for $9.",
                   "Today a step takes 2 s.");
  assert_int_equal (rows->len, 1 + 12 + 1);
  assert_string_equal (note, "2 more are in the study's file.");
  assert_true (g_str_has_suffix (names, "\nc11\nc14"));
}

/* --- growth --- */

/* (transfer full) */
static char *
path (const char *name, guint total_usd, guint later_s)
{
  return g_strdup_printf ("{\"path\":\"%s\",\"today_usd\":10,\"later_usd\":20,\"total_usd\":%u,\"step_s\":2,"
                          "\"step_later_s\":%u,\"cables_kept\":3,\"cables\":4}",
                          name, total_usd, later_s);
}

static void
test_the_cheapest_way_to_grow (G_GNUC_UNUSED void **state)
{
  g_autofree char *dear = path ("dear", 40, 1), *slow = path ("slow", 30, 3), *quick = path ("quick", 30, 1),
                  *middle = path ("middle", 30, 2);
  g_autofree char *json = g_strdup_printf (
      "{\"scenario\":\"s\",\"paths\":[%s,%s,%s,%s,{\"path\":\"none\",\"problem\":\"no room\"}]}", dear, slow,
      quick, middle);
  g_autoptr (GPtrArray) page = study_page (json);
  g_autofree char *names = all_words (page, "p", "name");

  assert_heads (page, "How should a machine be built that will grow?", "s",
                "To buy today and later, with prices from low to high");
  assert_decision (page, "Cheapest in all: quick, for $30.",
                   "2 other ways cost as much, with a step later that is as long or longer: 1 s here.");
  assert_string_equal (names, "dear\nslow\nquick\nmiddle");
  assert_table (page, "Way | Today | Later | In all | Step today | Step later | Cables kept\n"
                      "dear | $10 | $20 | $40 | 2 s | 1 s | 3 of 4\n"
                      "slow | $10 | $20 | $30 | 2 s | 3 s | 3 of 4\n"
                      "*quick | $10 | $20 | $30 | 2 s | 1 s | 3 of 4\n"
                      "middle | $10 | $20 | $30 | 2 s | 2 s | 3 of 4\n"
                      "none | - | - | - | - | - | no room");
}

/* Twelve ways are shown, and the rest is counted. */
static void
test_many_ways_to_grow (G_GNUC_UNUSED void **state)
{
  for (guint n = 12; n <= 14; n++) {
    g_autoptr (GString) paths = g_string_new (NULL);

    for (guint i = 0; i < n; i++)
      g_string_append_printf (paths, "%s{\"path\":\"p%u\",\"total_usd\":%u}", i > 0 ? "," : "", i, 100 + i);
    g_autofree char *json = g_strdup_printf ("{\"paths\":[%s]}", paths->str);
    g_autoptr (GPtrArray) page = study_page (json), rows = drawing_find (page, "tr", NULL);
    g_autofree char *note = all_words (page, "p", "note"),
                    *rest = n > 12 ? g_strdup_printf ("%u more are in the study's file.", n - 12)
                                   : g_strdup ("");

    assert_int_equal (rows->len, 1 + 12);
    assert_string_equal (note, rest);
  }
}

static void
test_one_way_is_cheapest (G_GNUC_UNUSED void **state)
{
  g_autofree char *dear = path ("b", 40, 1), *cheap = path ("a", 30, 3), *equal = path ("b", 30, 4);
  g_autofree char *two = g_strdup_printf ("{\"paths\":[%s,%s]}", dear, cheap),
                  *equals = g_strdup_printf ("{\"paths\":[%s,%s]}", cheap, equal);
  g_autoptr (GPtrArray) alone = study_page (two), pair = study_page (equals),
                        none = study_page ("{\"paths\":[{\"path\":\"a\"}]}");

  assert_decision (alone, "Cheapest in all: a, for $30.", "");
  assert_decision (pair, "Cheapest in all: a, for $30.",
                   "1 other way costs as much, with a step later that is as long or longer: 3 s here.");
  assert_decision (none, "No way to grow has a price.", "");
}

/* --- cost --- */

static void
test_what_a_machine_costs (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) page = study_page (
      "{\"scenario\":\"s\",\"beside\":[],\"not_in_it\":\"racks\",\"figures\":{\"capex_usd\":500,"
      "\"network_capex_fraction\":0.2,\"power_watts\":1500,\"usd_per_hour\":3,\"step_s\":2,"
      "\"usd_per_million_tokens\":0.5},\"figures_band\":{\"usd_per_hour_low\":2,\"usd_per_hour_high\":4,"
      "\"step_s_low\":1,\"step_s_high\":3,\"usd_per_million_tokens_low\":0.25,\"usd_per_million_tokens_high\":1,"
      "\"band\":{\"coverage_fraction\":0.9,\"tables\":3,\"family\":\"IB\",\"compute\":{\"runs\":5,\"sources\":2},"
      "\"untuned\":{\"tables\":1,\"of\":4,\"high_factor\":2.5}}},\"parts\":["
      "{\"product\":\"node\",\"part\":\"nodes\",\"count\":2,\"usd_each\":200,\"usd\":400,\"low_usd_each\":150,"
      "\"high_usd_each\":300,\"watts_each\":700,\"date\":\"2026\"},"
      "{\"product\":\"nic\",\"part\":\"nics\",\"count\":9,\"is_included\":\"yes\",\"usd_each\":1,\"usd\":9,"
      "\"low_usd_each\":1,\"high_usd_each\":1,\"watts_each\":0},"
      "{\"product\":\"switch\",\"part\":\"switches\",\"count\":1,\"is_included\":\"no\",\"usd_each\":100,\"usd\":100,"
      "\"low_usd_each\":100,\"high_usd_each\":100,\"watts_each\":100}]}");
  g_autofree char *names = all_words (page, "p", "name"), *values = all_words (page, "p", "value"),
                  *cautions = all_words (page, "li", NULL);

  assert_heads (page, "What does this machine cost?", "s", "To buy, with prices from low to high");
  assert_decision (page, "The machine costs $500 ($400 to $700) to buy, of which the network is 20 %.",
                   "An hour costs $3 ($2 to $4), and the machine takes 1.5 kW.\n"
                   "A million tokens cost $0.5 ($0.25 to $1).\n"
                   "A step takes 2 s (1 s to 3 s).");
  assert_string_equal (names, "node\nswitch");
  assert_string_equal (values, "$400 ($300 to $600)\n$100 ($100 to $100)");
  assert_table (page, "Product | Part | Count | Each | All | Power | Price of\n"
                      "node | nodes | 2 | $200 | $400 ($300 to $600) | 1.4 kW | 2026\n"
                      "nic | nics | 9 | $1 | included | 0 W | -\n"
                      "switch | switches | 1 | $100 | $100 ($100 to $100) | 100 W | -");
  assert_string_equal (
      cautions,
      "Not in it: racks.\n"
      "A band holds what a real machine shows in 90 % of cases, by the errors at 3 published tables of IB and 5 "
      "published runs of 2 sources.\n"
      "The bands are of healthy networks: 1 of 4 published networks took up to 2.5 times the "
      "predicted time.");
}

static void
assert_band_says (const char *band, const char *words)
{
  g_autofree char *json = g_strdup_printf ("{\"parts\":[],\"beside\":[],\"figures_band\":{\"band\":%s}}",
                                           band);
  g_autoptr (GPtrArray) page = study_page (json);
  g_autofree char *cautions = all_words (page, "li", NULL);

  assert_string_equal (cautions, words);
}

static void
test_what_a_band_rests_on (G_GNUC_UNUSED void **state)
{
  assert_band_says (
      "{\"coverage_fraction\":0.9,\"tables\":3,\"family\":\"IB\"}",
      "A band holds what a real machine shows in 90 % of cases, by the errors at 3 published tables of IB.");
  assert_band_says (
      "{\"coverage_fraction\":0.5,\"compute\":{\"runs\":5,\"sources\":2}}",
      "A band holds what a real machine shows in 50 % of cases, by the errors at 5 published runs of 2 "
      "sources.");
  assert_band_says ("{\"untuned\":{\"tables\":1,\"of\":4}}", "");
  assert_band_says ("{}", "");
}

/* --- files --- */

static void
assert_refused (const char *json, const char *words)
{
  g_autoptr (GError) error = NULL;

  assert_null (fab_study_report (json, "file.json", &error));
  assert_true (g_str_has_prefix (error->message, "file.json: "));
  assert_non_null (strstr (error->message, words));
}

static void
test_what_is_no_study (G_GNUC_UNUSED void **state)
{
  assert_refused ("{", "it is no JSON: ");
  assert_refused ("[1]", "it is no study");
  assert_refused ("{\"points\":[]}", "it is no study");
  assert_refused ("{\"points\":1,\"ports\":[]}", "it is no study");
}

/* A file may come from anybody: what is of another type is not there. */
static void
test_members_of_other_types (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) page = study_page (
      "{\"key\":3,\"target\":[],\"ports\":[1],\"points\":[{\"value\":\"1\",\"step_s\":\"x\",\"capex_usd\":1e31},"
      "{\"value\":7,\"step_s\":1},9]}");

  assert_table (page, "Value | Step | Exposed | MFU | To buy | Meets the target | Limited by\n"
                      "1 | - | - | - | no price | - | -");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_first_value_that_is_enough),
    cmocka_unit_test (test_a_target_is_a_line),
    cmocka_unit_test (test_no_value_is_enough),
    cmocka_unit_test (test_ports_and_a_band_without_an_answer),
    cmocka_unit_test (test_a_table_has_at_most_24_values),
    cmocka_unit_test (test_the_quickest_is_said_first),
    cmocka_unit_test (test_fidelities_have_names),
    cmocka_unit_test (test_nothing_to_compare),
    cmocka_unit_test (test_what_to_change_first),
    cmocka_unit_test (test_nothing_to_buy),
    cmocka_unit_test (test_the_purchase_that_saves_most),
    cmocka_unit_test (test_the_cheapest_way_to_grow),
    cmocka_unit_test (test_many_ways_to_grow),
    cmocka_unit_test (test_one_way_is_cheapest),
    cmocka_unit_test (test_what_a_machine_costs),
    cmocka_unit_test (test_what_a_band_rests_on),
    cmocka_unit_test (test_what_is_no_study),
    cmocka_unit_test (test_members_of_other_types),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
