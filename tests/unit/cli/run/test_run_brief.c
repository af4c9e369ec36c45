/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_brief.c - the first screen of `fabricast run`, of results that are made here: which lines it has, and what
 * each says. The title and the command are stand-ins. */
#include "tests/support/test.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/run/run.h"

#define SECOND ((FabTimePs) FAB_PS_PER_S)

/* --- in place of the rest of the program --- */

char *
fab_cli_title (G_GNUC_UNUSED const FabScenario *scenario)
{
  return g_strdup ("a job");
}

char *
fab_cli_printable (const char *text)
{
  return g_strdup (text);
}

void
fab_run_append_command (GString *page, const FabRunCommand *command, const FabEdits *edits)
{
  g_string_append_printf (page, "run %s%s", command->path, edits != NULL ? " --set more" : "");
}

/* --- a result --- */

typedef struct {
  FabRunResult result;
  FabBand band;
  double low_s[2], high_s[2];
} Made;

/* Two iterations: one of 9 s, and the last one, of 2 s, of which `compute`, `exposed` and `idle` are seconds. */
static void
make (Made *self, double compute, double exposed, double idle)
{
  FabStepRecord steps[2] = { { .times.duration_ps = 9 * SECOND } };

  *self = (Made){ .low_s = { 7, 1.5 }, .high_s = { 8, 2.5 } };
  steps[1].times = (FabIterationRecord){ .duration_ps = 2 * SECOND,
                                         .compute_ps = (FabTimePs) (compute * FAB_PS_PER_S),
                                         .exposed_ps = (FabTimePs) (exposed * FAB_PS_PER_S),
                                         .idle_ps = (FabTimePs) (idle * FAB_PS_PER_S) };
  self->result.steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord));
  g_array_append_vals (self->result.steps, steps, 2);
  self->band = (FabBand){ .n = 4, .low = self->low_s, .high = self->high_s, .coverage_fraction = 0.9 };
}

static void
clear (Made *self)
{
  g_array_unref (self->result.steps);
  fab_verdict_free (self->result.verdict);
  fab_bottleneck_free (self->result.bottleneck);
}

/* The page is the title, these lines, and the last one. */
static void
assert_page (const Made *self, const char *lines)
{
  const FabRunCommand command = { .path = "s.yaml", .db = "runs.db" };
  g_autofree char *page = fab_run_brief (NULL, &self->result, &command);
  g_autofree char *stored = self->result.run_id > 0
                              ? g_strdup_printf ("; this is run %d in runs.db", (int) self->result.run_id)
                              : g_strdup ("");
  g_autofree char *expected = g_strdup_printf ("a job\n\n%s  more          run s.yaml --full%s\n", lines,
                                               stored);

  if (strcmp (page, expected) != 0)
    fail_msg ("%s\nexpected:\n%s", page, expected);
}

#define STEP "  step          2 s\n"
#define NOTHING "  consists of   nothing that takes time\n"

/* --- lines --- */

static void
a_step_says_what_is_known_of_it (G_GNUC_UNUSED void **state)
{
  Made made;

  make (&made, 0, 0, 0);
  FabStepRecord *step = &g_array_index (made.result.steps, FabStepRecord, 1);
  assert_page (&made, STEP NOTHING);
  step->tokens_per_s = 1234.4;
  assert_page (&made, "  step          2 s, 1234 tokens/s\n" NOTHING);
  step->mfu_fraction = 0.4567;
  assert_page (&made, "  step          2 s, 1234 tokens/s, 45.7 % of the GPUs' peak (MFU)\n" NOTHING);
  step->tokens_per_s = 0;
  assert_page (&made, "  step          2 s, 45.7 % of the GPUs' peak (MFU)\n" NOTHING);
  made.result.run_id = 1;
  assert_page (&made, "  step          2 s, 45.7 % of the GPUs' peak (MFU)\n" NOTHING);
  clear (&made);
}

/* Of the last iteration. Bounds that are twice as far apart as each other, or farther, are too wide. */
static void
a_band_holds_the_step_or_is_too_wide (G_GNUC_UNUSED void **state)
{
  Made made;

  make (&made, 0, 0, 0);
  made.result.band = &made.band;
  assert_page (&made, STEP "  band          1.5 s to 2.5 s holds the real step in 90 % of cases\n" NOTHING);
  made.high_s[1] = 3;
  assert_page (&made,
               STEP "  band          1.5 s to 3 s in 90 % of cases: too wide to quote the step\n" NOTHING);
  clear (&made);
}

/* A thousandth of the step, 2 ms, is not worth a word, and what is longer is. */
static void
parts_of_a_step_are_named (G_GNUC_UNUSED void **state)
{
  static const struct {
    double compute, exposed, idle;
    const char *words;
  } rows[] = {
    { 1, 0.5, 0.25, "compute 50.0 %, waiting for communication 25.0 %, idle 12.5 %" },
    { 1, 0, 1, "compute 50.0 %, idle 50.0 %" },
    { 0, 1.5, 0, "communication 75.0 %" },
    { 0, 1.5, 0.5, "communication 75.0 %, idle 25.0 %" },
    { 0, 0, 2, "idle 100.0 %" },
    { 0.002, 0.002, 0.002, "nothing that takes time" },
    { 0.004, 0.004, 0.004, "compute 0.2 %, waiting for communication 0.2 %, idle 0.2 %" },
    { 0.001, 2, 0, "waiting for communication 100.0 %" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *lines = g_strdup_printf (STEP "  consists of   %s\n", rows[i].words);
    Made made;

    make (&made, rows[i].compute, rows[i].exposed, rows[i].idle);
    assert_page (&made, lines);
    clear (&made);
  }
}

/* --- what limits --- */

typedef struct {
  FabLeverKind kind;
  double saved;
} Given;

static FabBottleneck *
bottleneck_of (const Given *given, guint n, gint first)
{
  FabBottleneck *self = fab_bottleneck_new ();

  for (guint i = 0; i < n; i++) {
    FabLever lever = { .kind = given[i].kind,
                       .name = g_strdup_printf ("name %u", i),
                       .change = g_strdup_printf ("change %u", i),
                       .step_s = 2 * (1 - given[i].saved),
                       .step = { .n = 1, .median = -given[i].saved } };

    g_array_append_val (self->levers, lever);
  }
  self->first = first;
  self->n_draws = 1;
  return self;
}

/* Each kind of lever is explained in a few words. */
static void
what_limits_is_explained (G_GNUC_UNUSED void **state)
{
  static const char *const meanings[FAB_N_LEVERS] = {
    [FAB_LEVER_LINK] = ", a kind of link",
    [FAB_LEVER_LINKS] = ", and no kind of link alone",
    [FAB_LEVER_PAIR] = ", which are as slow as each other",
    [FAB_LEVER_NICS] = ", the network adapters of each node",
    [FAB_LEVER_CHANNELS] = ", with which the collective library fills the links",
    [FAB_LEVER_MESSAGES] = ", each of which takes time of its sender",
    [FAB_LEVER_LATENCY] = ", the time before the first byte arrives",
    [FAB_LEVER_COMPUTE] = ", the kernels of the GPUs",
    [FAB_LEVER_MEMORY] = ": the kernels wait for bytes of their own memory",
    [FAB_LEVER_HOST] = ", the processor beside the GPUs",
    [FAB_LEVER_RANKS] = ", for which the others wait",
    [FAB_LEVER_DRAWS] = ", which another seed changes",
  };

  for (FabLeverKind kind = 0; kind < FAB_N_LEVERS; kind++) {
    const Given given = { kind, 0.25 };
    g_autofree char *lines = g_strdup_printf (
        STEP NOTHING "  limited by    name 0%s\n  helps most    change 0: %s-25.0 %%%s\n", meanings[kind],
        kind == FAB_LEVER_DRAWS ? "" : "step 1.5 s, ", kind == FAB_LEVER_DRAWS ? " from the median" : "");
    Made made;

    make (&made, 0, 0, 0);
    made.result.bottleneck = bottleneck_of (&given, 1, 0);
    assert_page (&made, lines);
    clear (&made);
  }
}

static void
a_port_of_the_network_is_named_as_one (G_GNUC_UNUSED void **state)
{
  const Given given = { FAB_LEVER_LINK, 0.5 };
  Made made;

  make (&made, 0, 0, 0);
  made.result.bottleneck = bottleneck_of (&given, 1, 0);
  g_array_index (made.result.bottleneck->levers, FabLever, 0).is_port = TRUE;
  assert_page (&made, STEP NOTHING "  limited by    name 0, the network port of each NIC\n"
                                   "  helps most    change 0: step 1 s, -50.0 %\n");
  clear (&made);
}

static void
nothing_alone_may_limit (G_GNUC_UNUSED void **state)
{
  const Given given = { FAB_LEVER_LINK, 0.005 };
  Made made;

  make (&made, 0, 0, 0);
  made.result.bottleneck = bottleneck_of (&given, 1, -1);
  assert_page (&made, STEP NOTHING "  limited by    nothing alone: no single change saves 1 % of the step\n");
  clear (&made);
}

/* Several seeds, or another fidelity, have steps of their own, which the line of the step does not say. */
static void
a_change_says_what_its_percentage_is_of (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_draws;
    const char *fidelity, *words;
  } rows[] = { { 1, NULL, "step 1.5 s, -25.0 %" },
               { 2, NULL, "-25.0 %, the median of 2 seeds" },
               { 8, "fluid", "-25.0 %, the median of 8 seeds, at fidelity fluid" },
               { 1, "fluid", "-25.0 %, at fidelity fluid" } };
  const Given given = { FAB_LEVER_COMPUTE, 0.25 };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *lines = g_strdup_printf (
        STEP NOTHING "  limited by    name 0, the kernels of the GPUs\n  helps most    change 0: %s\n",
        rows[i].words);
    Made made;

    make (&made, 0, 0, 0);
    made.result.bottleneck = bottleneck_of (&given, 1, 0);
    made.result.bottleneck->n_draws = rows[i].n_draws;
    made.result.bottleneck->fidelity = rows[i].fidelity;
    assert_page (&made, lines);
    clear (&made);
  }
}

/* The second line is of another kind of part: neither the same kind, nor another part of the network, nor all links,
 * nor the luck of a seed; and it saves 1 % or more. */
static void
what_helps_next_is_of_another_kind (G_GNUC_UNUSED void **state)
{
  static const struct {
    Given levers[4];
    guint n;
    gint first, second; /* -1: there is none */
  } rows[] = {
    { { { FAB_LEVER_COMPUTE, 0.3 } }, 1, 0, -1 },
    { { { FAB_LEVER_COMPUTE, 0.3 }, { FAB_LEVER_HOST, 0.01 } }, 2, 0, 1 },
    { { { FAB_LEVER_COMPUTE, 0.3 }, { FAB_LEVER_HOST, 0.0099 } }, 2, 0, -1 },
    { { { FAB_LEVER_COMPUTE, 0.3 }, { FAB_LEVER_COMPUTE, 0.2 } }, 2, 0, -1 },
    { { { FAB_LEVER_COMPUTE, 0.3 }, { FAB_LEVER_LINKS, 0.2 }, { FAB_LEVER_LINK, 0.1 } }, 3, 0, 2 },
    { { { FAB_LEVER_COMPUTE, 0.3 }, { FAB_LEVER_DRAWS, 0.2 }, { FAB_LEVER_NICS, 0.1 } }, 3, 0, 2 },
    { { { FAB_LEVER_LINK, 0.3 }, { FAB_LEVER_NICS, 0.2 }, { FAB_LEVER_CHANNELS, 0.1 } }, 3, 0, 2 },
    { { { FAB_LEVER_NICS, 0.3 }, { FAB_LEVER_LINK, 0.2 }, { FAB_LEVER_MEMORY, 0.1 } }, 3, 0, 2 },
    { { { FAB_LEVER_CHANNELS, 0.3 }, { FAB_LEVER_NICS, 0.2 } }, 2, 0, 1 },
    { { { FAB_LEVER_LINKS, 0.4 }, { FAB_LEVER_COMPUTE, 0.3 }, { FAB_LEVER_HOST, 0.2 } }, 3, 1, 2 },
    { { { FAB_LEVER_HOST, 0.4 }, { FAB_LEVER_RANKS, 0.3 }, { FAB_LEVER_LATENCY, 0.2 } }, 3, 0, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *next = rows[i].second < 0
                              ? g_strdup ("")
                              : g_strdup_printf ("\n  helps next    change %d: step ", rows[i].second);
    const FabRunCommand command = { .path = "s.yaml" };
    Made made;

    make (&made, 0, 0, 0);
    made.result.bottleneck = bottleneck_of (rows[i].levers, rows[i].n, rows[i].first);
    g_autofree char *page = fab_run_brief (NULL, &made.result, &command);
    if (strstr (page, next) == NULL || (strstr (page, "helps next") != NULL) != (rows[i].second >= 0))
      fail_msg ("row %u:\n%s", i, page);
    clear (&made);
  }
}

/* --- reservations --- */

static void
the_first_reservation_is_said_and_others_counted (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabFindingCode codes[3];
    guint n;
    const char *words; /* NULL: there is no line */
  } rows[] = {
    { { FAB_FINDING_MAY_NOT_FIT }, 1, "memory may not suffice" },
    { { FAB_FINDING_SPREAD }, 1, "other seeds give other steps" },
    { { FAB_FINDING_CHOICE }, 1, "the collective library could choose a faster algorithm" },
    { { FAB_FINDING_EXTRAPOLATED }, 1, "messages have sizes that were not measured" },
    { { FAB_FINDING_ASSUMED_DESIGN }, 1, "parts of the design of the machine were published nowhere" },
    { { FAB_FINDING_UNCALIBRATED }, 1, "a link, GPU or clock was not measured" },
    { { FAB_FINDING_FIDELITY_NO_SHARING }, 1, "this fidelity does not share links" },
    { { FAB_FINDING_FIDELITY_COLLISION }, 1, "colliding paths, whose queues this fidelity leaves out" },
    { { FAB_FINDING_FIDELITY_INCAST }, 1, "many senders to one port, whose queue is left out" },
    { { FAB_FINDING_FIDELITY_SPREADING }, 1, "congestion that spreads, which this fidelity leaves out" },
    { { FAB_FINDING_FIDELITY_CHANNELS }, 1, "collectives share a link in a way that is left out" },
    { { FAB_FINDING_WAITS_FOR_NETWORK }, 1, NULL },
    { { FAB_FINDING_HALF_USED_SWITCHES, FAB_FINDING_WAITS_FOR_HOST }, 2, NULL },
    { { FAB_FINDING_SPREAD, FAB_FINDING_WAITS_FOR_HOST }, 2, "other seeds give other steps" },
    { { FAB_FINDING_SPREAD, FAB_FINDING_CHOICE }, 2, "other seeds give other steps; 1 more" },
    { { FAB_FINDING_MAY_NOT_FIT, FAB_FINDING_SPREAD, FAB_FINDING_UNCALIBRATED },
      3,
      "memory may not suffice; 2 more" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *lines = rows[i].words != NULL
                               ? g_strdup_printf (STEP NOTHING "  caution       %s\n", rows[i].words)
                               : g_strdup (STEP NOTHING);
    Made made;

    make (&made, 0, 0, 0);
    made.result.verdict = fab_verdict_new ();
    for (guint k = 0; k < rows[i].n; k++)
      fab_verdict_add (made.result.verdict, rows[i].codes[k], g_strdup ("Words."), NULL);
    assert_page (&made, lines);
    clear (&made);
  }
}

/* Published networks that took longer than any band are a reservation too, behind those of the verdict. */
static void
slow_networks_are_a_reservation (G_GNUC_UNUSED void **state)
{
#define BAND "  band          1.5 s to 2.5 s holds the real step in 90 % of cases\n"
  Made made;

  make (&made, 0, 0, 0);
  made.result.band = &made.band;
  made.band.collectives.untuned = (FabUntuned){ 0, 13, 1.4, 11 };
  assert_page (&made, STEP BAND NOTHING);
  made.band.collectives.untuned.n_tables = 4;
  assert_page (&made,
               STEP BAND NOTHING "  caution       4 of 13 networks took up to 11 times the predicted time\n");
  made.result.verdict = fab_verdict_new ();
  fab_verdict_add (made.result.verdict, FAB_FINDING_SPREAD, g_strdup ("Words."), NULL);
  assert_page (&made, STEP BAND NOTHING "  caution       other seeds give other steps; 1 more\n");
  clear (&made);
}

/* A run that does not fit says so first, in one sentence, and then what would fit; its figures have no reservations,
 * and no second change is named. */
static void
what_stops_comes_first (G_GNUC_UNUSED void **state)
{
  const Given given[] = { { FAB_LEVER_COMPUTE, 0.25 }, { FAB_LEVER_HOST, 0.2 } };
  FabMemoryAdvice advice = { .fits = g_ptr_array_new () };
  g_autoptr (FabEdits) edits = fab_edits_new ();
  FabMemoryFit fit = { .edits = edits };
  Made made;

#define REST                                                       \
  STEP NOTHING "  limited by    name 0, the kernels of the GPUs\n" \
               "  helps most    change 0: step 1.5 s, -25.0 %\n"
  make (&made, 0, 0, 0);
  made.result.bottleneck = bottleneck_of (given, 2, 0);
  made.result.verdict = fab_verdict_new ();
  fab_verdict_add (made.result.verdict, FAB_FINDING_SPREAD, g_strdup ("Seeds. Differ."), NULL);
  assert_page (&made, REST "  helps next    change 1: step 1.6 s, -20.0 %\n"
                           "  caution       other seeds give other steps\n");
  fab_verdict_add (made.result.verdict, FAB_FINDING_DOES_NOT_FIT, g_strdup ("It is 9.5 GB. Too much."), NULL);
  assert_page (&made, "  stop          It is 9.5 GB.\n" REST);
  made.result.advice = &advice;
  assert_page (&made, "  stop          It is 9.5 GB.\n" REST);
  g_ptr_array_add (advice.fits, &fit);
  assert_page (&made, "  stop          It is 9.5 GB.\n  it fits with  run s.yaml --set more\n" REST);
  g_ptr_array_unref (advice.fits);
  clear (&made);
  make (&made, 0, 0, 0);
  made.result.verdict = fab_verdict_new ();
  fab_verdict_add (made.result.verdict, FAB_FINDING_UNREACHABLE_TARGET, g_strdup ("It is too much."), NULL);
  fab_verdict_add (made.result.verdict, FAB_FINDING_DOES_NOT_FIT, g_strdup ("It is larger."), NULL);
  assert_page (&made, "  stop          It is larger.\n" STEP NOTHING);
  clear (&made);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_step_says_what_is_known_of_it),
    cmocka_unit_test (a_band_holds_the_step_or_is_too_wide),
    cmocka_unit_test (parts_of_a_step_are_named),
    cmocka_unit_test (what_limits_is_explained),
    cmocka_unit_test (a_port_of_the_network_is_named_as_one),
    cmocka_unit_test (nothing_alone_may_limit),
    cmocka_unit_test (a_change_says_what_its_percentage_is_of),
    cmocka_unit_test (what_helps_next_is_of_another_kind),
    cmocka_unit_test (the_first_reservation_is_said_and_others_counted),
    cmocka_unit_test (slow_networks_are_a_reservation),
    cmocka_unit_test (what_stops_comes_first),
  };

  return cmocka_run_group_tests_name ("run brief", tests, NULL, NULL);
}
