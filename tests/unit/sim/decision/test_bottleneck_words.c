/* SPDX-License-Identifier: Apache-2.0 */
/* test_bottleneck_words.c - what is said of levers whose savings are given: the name of what limits, which ports do not
 * help, the sentences, the JSON object, and the findings of a verdict. */
#include "tests/support/test.h"

#include "sim/decision/bottleneck.h"

static void
add (FabBottleneck *self, FabLeverKind kind, const char *name, double saved)
{
  FabLever lever = { .kind = kind,
                     .name = g_strdup (name),
                     .change = g_strdup_printf ("more %s", name),
                     .link_class = kind == FAB_LEVER_LINK ? g_strndup (name, strcspn (name, " ")) : NULL,
                     .is_port = kind == FAB_LEVER_LINK && g_str_has_prefix (name, "ib"),
                     .step_s = 2 * (1 - saved),
                     .exposed_s = 0.5,
                     .step = { .n = 1, .median = -saved } };

  g_array_append_val (self->levers, lever);
}

/* Levers in the order in which they are given; `first` is the one that limits, -1: none. */
typedef struct {
  FabLeverKind kind;
  const char *name;
  double saved;
} Given;

static FabBottleneck *
made_of (const Given *given, guint n, gint first)
{
  FabBottleneck *self = fab_bottleneck_new ();

  for (guint i = 0; i < n; i++)
    add (self, given[i].kind, given[i].name, given[i].saved);
  self->first = first;
  return self;
}

#define MADE_OF(given_, first_) made_of (given_, G_N_ELEMENTS (given_), first_)

static void
assert_words (const FabBottleneck *self, const char *expected)
{
  g_autofree char *words = fab_bottleneck_words (self);

  assert_string_equal (words, expected);
}

/* An entry's name has its rate where the scenario gives one, and its part has not. */
static void
what_limits_has_a_name_and_a_part (G_GNUC_UNUSED void **state)
{
  static const Given given[] = { { FAB_LEVER_LINK, "ib-hdr at 100 Gb/s", 0.3 },
                                 { FAB_LEVER_COMPUTE, "compute", 0.2 } };
  g_autoptr (FabBottleneck) link = MADE_OF (given, 0), compute = MADE_OF (given, 1),
                            none = MADE_OF (given, -1), fresh = fab_bottleneck_new ();

  assert_string_equal (fab_bottleneck_name (link), "ib-hdr at 100 Gb/s");
  assert_string_equal (fab_bottleneck_part (link), "ib-hdr");
  assert_string_equal (fab_bottleneck_name (compute), "compute");
  assert_string_equal (fab_bottleneck_part (compute), "compute");
  assert_string_equal (fab_bottleneck_name (none), "nothing alone");
  assert_string_equal (fab_bottleneck_part (none), "nothing alone");
  assert_null (fab_bottleneck_name (NULL));
  assert_null (fab_bottleneck_part (NULL));
  assert_null (fab_bottleneck_first (NULL));
  assert_null (fab_bottleneck_first (fresh));
  assert_int_equal (fresh->first, -1);
  assert_ptr_equal (fab_bottleneck_of_kind (link, FAB_LEVER_COMPUTE), fab_bottleneck_lever (link, 1));
  assert_null (fab_bottleneck_of_kind (link, FAB_LEVER_HOST));
}

/* "compute, ib-hdr": the levers in their order, that which limits in brackets. (transfer full) */
static char *
order_of (const FabBottleneck *self)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < self->levers->len; i++)
    g_string_append_printf (text, (gint) i == self->first ? "%s[%s]" : "%s%s", i > 0 ? ", " : "",
                            fab_bottleneck_lever (self, i)->name);
  return g_string_free (text, FALSE);
}

/* By what they save, in steps of half a percent, then by their kinds and names. The first limits that saves a percent:
 * no pair, and all links only where no one kind of them, nor more NICs, saves half as much. Where two round to a
 * percent the first may save less than that. */
static void
the_first_that_saves_a_percent_limits (G_GNUC_UNUSED void **state)
{
  static const struct {
    Given given[4];
    const char *order;
  } rows[] = {
    { { { FAB_LEVER_COMPUTE, "compute", 0.1 },
        { FAB_LEVER_LINK, "ib-hdr", 0.2 },
        { FAB_LEVER_HOST, "host", -0.1 } },
      "[ib-hdr], compute, host" },
    { { { FAB_LEVER_COMPUTE, "compute", 0.2 },
        { FAB_LEVER_LINK, "pcie", 0.199 },
        { FAB_LEVER_LINK, "ib-hdr", 0.201 } },
      "[ib-hdr], pcie, compute" },
    { { { FAB_LEVER_COMPUTE, "compute", 0.204 }, { FAB_LEVER_LINK, "ib-hdr", 0.202 } }, "[compute], ib-hdr" },
    { { { FAB_LEVER_COMPUTE, "compute", 0.0099 }, { FAB_LEVER_LINK, "ib-hdr", 0.001 } }, "compute, ib-hdr" },
    { { { FAB_LEVER_COMPUTE, "compute", 0.01 } }, "[compute]" },
    { { { FAB_LEVER_COMPUTE, "compute", 0.0101 }, { FAB_LEVER_LINK, "ib-hdr", 0.0099 } },
      "ib-hdr, [compute]" },
    { { { FAB_LEVER_LINKS, "all links", 0.4 }, { FAB_LEVER_LINK, "ib-hdr", 0.2 } }, "all links, [ib-hdr]" },
    { { { FAB_LEVER_LINKS, "all links", 0.4 }, { FAB_LEVER_LINK, "ib-hdr", 0.19 } }, "[all links], ib-hdr" },
    { { { FAB_LEVER_LINKS, "all links", 0.4 },
        { FAB_LEVER_NICS, "NICs", 0.2 },
        { FAB_LEVER_LINK, "ib-hdr", 0.1 } },
      "all links, [NICs], ib-hdr" },
    { { { FAB_LEVER_LINKS, "all links", 0.4 }, { FAB_LEVER_COMPUTE, "compute", 0.3 } },
      "[all links], compute" },
    { { { FAB_LEVER_PAIR, "pcie", 0.4 }, { FAB_LEVER_COMPUTE, "compute", 0.3 } }, "pcie, [compute]" },
    { { { FAB_LEVER_PAIR, "pcie", 0.4 },
        { FAB_LEVER_LINKS, "all links", 0.5 },
        { FAB_LEVER_LINK, "ib-hdr", 0.3 } },
      "all links, pcie, [ib-hdr]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    guint n = 0;

    while (n < G_N_ELEMENTS (rows[i].given) && rows[i].given[n].name != NULL)
      n++;
    g_autoptr (FabBottleneck) made = made_of (rows[i].given, n, 0);
    fab_bottleneck_rank (made);
    g_autofree char *order = order_of (made);
    assert_string_equal (order, rows[i].order);
  }
}

/* Of pairs of faster ports with other links or channels that is kept which gains most over both by themselves: what
 * makes the step longer alone counts as nothing. One that gains less than a percent is none. */
static void
the_pair_that_gains_most_is_kept (G_GNUC_UNUSED void **state)
{
  static const struct {
    double port, pcie, nvlink, channels; /* alone */
    double with_pcie, with_nvlink, with_channels;
    const char *kept;
  } rows[] = {
    { 0, 0, 0, 0, 0.2, 0.3, 0.1, "nvlink" },
    { 0, 0, 0, 0, 0.2, 0.1, 0.3, "16 channels" },
    { 0, 0, 0.15, 0, 0.2, 0.3, 0.1, "pcie" },
    { 0, 0.15, 0, 0, 0.2, 0.1, 0.04, "nvlink" },
    { 0, -0.5, 0, 0, 0.2, 0.3, 0.1, "nvlink" },
    { 0, 0, 0, 0.2, 0.2, 0.1, 0.3, "pcie" },
    { 0.05, 0, 0, 0, 0.059, 0.05, 0.03, "" },
    { 0.05, 0, 0, 0, 0.061, 0.05, 0.03, "pcie" },
    { -0.05, 0, 0, 0, 0.009, 0, 0, "" },
    { 0, 0, 0, 0, 0.2, 0.2, 0.1, "nvlink" }, /* of equals the last */
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const Given given[] = { { FAB_LEVER_LINK, "ib-hdr", rows[i].port },
                            { FAB_LEVER_LINK, "pcie", rows[i].pcie },
                            { FAB_LEVER_LINK, "nvlink", rows[i].nvlink },
                            { FAB_LEVER_LINKS, "all links", 0.5 },
                            { FAB_LEVER_CHANNELS, "channels", rows[i].channels },
                            { FAB_LEVER_PAIR, "pcie", rows[i].with_pcie },
                            { FAB_LEVER_PAIR, "nvlink", rows[i].with_nvlink },
                            { FAB_LEVER_PAIR, "16 channels", rows[i].with_channels } };
    g_autoptr (FabBottleneck) made = MADE_OF (given, -1);

    fab_bottleneck_keep_best_pair (made);
    const FabLever *pair = fab_bottleneck_of_kind (made, FAB_LEVER_PAIR);
    assert_string_equal (pair != NULL ? pair->name : "", rows[i].kept);
    assert_int_equal (made->levers->len, pair != NULL ? 6 : 5);
    for (guint k = 0; k < 5; k++)
      assert_string_equal (fab_bottleneck_lever (made, k)->name, given[k].name);
  }
}

/* Ports do not help where they save less than half of what all links do, and all links save a percent. */
static void
ports_that_save_less_than_half_do_not_help (G_GNUC_UNUSED void **state)
{
  static const struct {
    double links, port, bus;
    gboolean is_useless;
  } rows[] = {
    { 0.3, 0.14, 0.01, TRUE },  { 0.5, 0.25, 0.01, FALSE },    { 0.3, 0.2, 0.01, FALSE },
    { 0.01, 0.004, 0.5, TRUE }, { 0.0099, 0.004, 0.5, FALSE }, { 0.3, -0.1, 0.3, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const Given given[] = { { FAB_LEVER_LINKS, "all links", rows[i].links },
                            { FAB_LEVER_LINK, "pcie5-x16", rows[i].bus },
                            { FAB_LEVER_LINK, "ib-hdr", rows[i].port } };
    g_autoptr (FabBottleneck) self = MADE_OF (given, 0);
    const FabLever *port = fab_bottleneck_useless_port (self);

    if ((port != NULL) != rows[i].is_useless)
      fail_msg ("row %u", i);
    assert_true (port == NULL || port == fab_bottleneck_lever (self, 2));
  }
  static const Given no_links[] = { { FAB_LEVER_LINK, "ib-hdr", 0 } };
  g_autoptr (FabBottleneck) alone = MADE_OF (no_links, -1);
  assert_null (fab_bottleneck_useless_port (alone));
}

/* Two others at most that save a percent, in the order of the list; a pair is never one of them, and all links only
 * where they save a percent of the step more than what limits. */
static void
other_changes_are_told (G_GNUC_UNUSED void **state)
{
  static const struct {
    Given given[5];
    guint n;
    gint first;
    const char *words;
  } rows[] = {
    { { { FAB_LEVER_COMPUTE, "compute", 0.3 },
        { FAB_LEVER_LATENCY, "latency", 0.2 },
        { FAB_LEVER_HOST, "host", 0.01 },
        { FAB_LEVER_NICS, "NICs", 0.01 } },
      4,
      0,
      "The step is limited by compute: more compute shortens it by 30.0 %. Other changes save: more latency: 20.0 %; "
      "more host: 1.0 %." },
    { { { FAB_LEVER_COMPUTE, "compute", 0.3 }, { FAB_LEVER_HOST, "host", 0.0099 } },
      2,
      0,
      "The step is limited by compute: more compute shortens it by 30.0 %." },
    { { { FAB_LEVER_PAIR, "pcie5-x16", 0.4 }, { FAB_LEVER_COMPUTE, "compute", 0.3 } },
      2,
      1,
      "The step is limited by compute: more compute shortens it by 30.0 %." },
    { { { FAB_LEVER_LINKS, "all links", 0.25 }, { FAB_LEVER_LINK, "ib-hdr", 0.23 } },
      2,
      1,
      "The step is limited by ib-hdr: more ib-hdr shortens it by 23.0 %. Other changes save: more all links: 25.0 %." },
    { { { FAB_LEVER_LINKS, "all links", 0.25 }, { FAB_LEVER_LINK, "ib-hdr", 0.245 } },
      2,
      1,
      "The step is limited by ib-hdr: more ib-hdr shortens it by 24.5 %." },
    { { { FAB_LEVER_LINKS, "all links", 0.008 } }, 1, -1, "No single change shortens the step by 1 %." },
    { { { FAB_LEVER_LINKS, "all links", 0.02 } },
      1,
      -1,
      "No single change shortens the step by 1 %. Other changes save: more all links: 2.0 %." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabBottleneck) self = made_of (rows[i].given, rows[i].n, rows[i].first);

    assert_words (self, rows[i].words);
  }
}

/* Why faster ports do not help: another link or the library's channels are as slow. */
static void
what_is_as_slow_as_the_ports_is_told (G_GNUC_UNUSED void **state)
{
#define HEAD "The step is limited by all links: more all links shortens it by 30.0 %."
  static const struct {
    const char *pair;
    double port;
    guint n_channels;
    const char *words;
  } rows[] = {
    { "pcie5-x16", 0.02, 8,
      HEAD
      " Other changes save: more ib-hdr: 2.0 %. Faster ib-hdr alone saves 2.0 %: pcie5-x16 is as slow on the same "
      "way, and both together save 40.0 %." },
    { "pcie5-x16", -0.02, 8,
      HEAD
      " Faster ib-hdr alone saves 0.0 %: pcie5-x16 is as slow on the same way, and both together save 40.0 %." },
    { "16 channels", 0, 8,
      HEAD
      " Faster ib-hdr alone saves 0.0 %: the library drives 8 channels, and with 16 channels both save 40.0 %." },
    { "2 channels", 0, 1,
      HEAD
      " Faster ib-hdr alone saves 0.0 %: the library drives 1 channel, and with 2 channels both save 40.0 %." },
    { "pcie5-x16", 0.2, 8, HEAD " Other changes save: more ib-hdr: 20.0 %." },
    { NULL, 0, 8, HEAD },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const Given given[] = { { FAB_LEVER_LINKS, "all links", 0.3 },
                            { FAB_LEVER_LINK, "ib-hdr", rows[i].port },
                            { FAB_LEVER_PAIR, rows[i].pair, 0.4 } };
    g_autoptr (FabBottleneck) self = made_of (given, rows[i].pair != NULL ? 3 : 2, 0);

    self->n_channels = rows[i].n_channels;
    assert_words (self, rows[i].words);
  }
#undef HEAD
}

/* Levers that another network played say so. */
static void
another_fidelity_is_named (G_GNUC_UNUSED void **state)
{
  static const Given given[] = { { FAB_LEVER_COMPUTE, "compute", 0.3 } };
  g_autoptr (FabBottleneck) some = MADE_OF (given, 0), none = fab_bottleneck_new ();

  some->fidelity = none->fidelity = "fluid";
  assert_words (some,
                "At fidelity fluid, the step is limited by compute: more compute shortens it by 30.0 %.");
  assert_words (none, "At fidelity fluid, no single change shortens the step by 1 %.");
}

static void
the_object_has_every_lever (G_GNUC_UNUSED void **state)
{
  static const Given given[] = { { FAB_LEVER_COMPUTE, "compute", 0.25 }, { FAB_LEVER_DRAWS, "bad luck", 0 } };
  g_autoptr (FabBottleneck) self = MADE_OF (given, 0);
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_COMPACT);

  self->base = (FabDrawTimes){ .step_s = 2 };
  self->low_s = 1.5;
  self->high_s = 2.5;
  self->n_draws = 8;
  self->fidelity = "fluid";
  fab_json_begin_object (json, NULL);
  fab_bottleneck_add_json (self, json);
  fab_json_end (json);
  g_autofree char *text = fab_json_text (json);
  assert_string_equal (
      text,
      "{\"bottleneck\":{\"limited_by\":\"compute\",\"explanation\":\"At fidelity fluid, the step is limited by "
      "compute: more compute shortens it by 25.0 %.\",\"seeds\":8,\"step_s\":2,\"step_low_s\":1.5,\"step_high_s\":2.5,"
      "\"fidelity\":\"fluid\",\"levers\":["
      "{\"kind\":\"compute\",\"name\":\"compute\",\"change\":\"more compute\",\"step_s\":1.5,\"exposed_s\":0.5,"
      "\"saved_fraction\":0.25},"
      "{\"kind\":\"draws\",\"name\":\"bad luck\",\"change\":\"more bad luck\",\"step_s\":2,\"exposed_s\":0.5,"
      "\"saved_fraction\":0}]}}");
}

/* What the step waits for takes the place of what a verdict says of it, and the spread over several seeds is added,
 * unless another network was played. */
static void
a_verdict_is_told_what_the_step_waits_for (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_draws;
    const char *fidelity;
    gboolean had_one;
    const char *codes;
  } rows[] = {
    { 1, NULL, TRUE, "choice;waits_for_host" },
    { 1, NULL, FALSE, "choice;waits_for_host" },
    { 2, NULL, TRUE, "spread;choice;waits_for_host" },
    { 8, "fluid", TRUE, "choice;waits_for_host" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabBottleneck) self = fab_bottleneck_new ();
    g_autoptr (FabVerdict) verdict = fab_verdict_new ();

    self->n_draws = rows[i].n_draws;
    self->fidelity = rows[i].fidelity;
    self->low_s = 1;
    self->high_s = 2;
    self->waits = fab_verdict_new ();
    fab_verdict_add_finding (self->waits,
                             (FabFinding){ FAB_FINDING_WAITS_FOR_HOST, g_strdup ("It waits."),
                                           g_strdup ("Wait less."), g_strdup ("node0/nic0 -> leaf0"), 3 });
    fab_verdict_add (verdict, FAB_FINDING_CHOICE, g_strdup ("A choice."), NULL);
    if (rows[i].had_one)
      fab_verdict_add (verdict, FAB_FINDING_WAITS_FOR_COMPUTE, g_strdup ("It computes."), NULL);
    fab_bottleneck_judge (self, verdict);
    g_autofree char *codes = fab_verdict_codes (verdict);
    const FabFinding *waits = fab_verdict_waits_for (verdict);
    assert_string_equal (codes, rows[i].codes);
    assert_string_equal (waits->text, "It waits.");
    assert_string_equal (waits->advice, "Wait less.");
    assert_string_equal (waits->link, "node0/nic0 -> leaf0");
    assert_int_equal (waits->rank, 3);
  }
}

/* A copy owns its texts, and those of its levers. */
static void
a_copy_is_whole (G_GNUC_UNUSED void **state)
{
  static const Given given[] = { { FAB_LEVER_LINK, "ib-hdr at 100 Gb/s", 0.3 },
                                 { FAB_LEVER_COMPUTE, "compute", 0.2 } };
  FabBottleneck *self = MADE_OF (given, 0);

  self->n_draws = 3;
  self->waits = fab_verdict_new ();
  fab_verdict_add (self->waits, FAB_FINDING_WAITS_FOR_NETWORK, g_strdup ("It waits."), NULL);
  g_autoptr (FabBottleneck) copy = fab_bottleneck_copy (self);
  fab_bottleneck_free (self);
  assert_int_equal (copy->levers->len, 2);
  assert_int_equal (copy->n_draws, 3);
  assert_string_equal (fab_bottleneck_part (copy), "ib-hdr");
  assert_string_equal (fab_bottleneck_lever (copy, 1)->change, "more compute");
  assert_null (fab_bottleneck_lever (copy, 1)->link_class);
  assert_string_equal (fab_verdict_waits_for (copy->waits)->text, "It waits.");
  fab_bottleneck_free (NULL);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_limits_has_a_name_and_a_part),
    cmocka_unit_test (the_first_that_saves_a_percent_limits),
    cmocka_unit_test (the_pair_that_gains_most_is_kept),
    cmocka_unit_test (ports_that_save_less_than_half_do_not_help),
    cmocka_unit_test (other_changes_are_told),
    cmocka_unit_test (what_is_as_slow_as_the_ports_is_told),
    cmocka_unit_test (another_fidelity_is_named),
    cmocka_unit_test (the_object_has_every_lever),
    cmocka_unit_test (a_verdict_is_told_what_the_step_waits_for),
    cmocka_unit_test (a_copy_is_whole),
  };

  return cmocka_run_group_tests_name ("bottleneck_words", tests, NULL, NULL);
}
