/* SPDX-License-Identifier: Apache-2.0 */
/* against_simgrid.c - 1000 random sets of flows: they end when SimGrid's max-min says, to a part in a million.
 *
 * Ends and not rates, because a flow's end is what all its rates come to: whenever one ends, all that are left are
 * solved again. SimGrid's latency, factors and windows are off (simgrid.cpp). A limit of ours is a link of its own
 * there.
 *
 * usage: against_simgrid PROGRAM-SIMGRID
 */
#include "tests/support/test.h"

#include <stdio.h>
#include <unistd.h>

#include "sim/solve/maxmin.h"
#include "tests/bench/bench.h"
#include "tests/support/random.h"

enum { N_PROBLEMS = 1000, MOST_FLOWS = 40, MOST_LINKS = 20 };

typedef struct {
  guint n_flows, n_links;
  double capacity[MOST_LINKS], bytes[MOST_FLOWS], limits[MOST_FLOWS];
  guint starts[MOST_FLOWS + 1], links[MOST_FLOWS * MOST_LINKS];
} Problem;

static void
draw (Random *random, Problem *problem)
{
  guint density = random_between (random, 5, 60), n = 0;

  problem->n_flows = random_between (random, 1, MOST_FLOWS);
  problem->n_links = random_between (random, 1, MOST_LINKS);
  for (guint l = 0; l < problem->n_links; l++) /* often equal, so that links fill together */
    problem->capacity[l] = random_chance (random, 50) ? 10 * random_between (random, 1, 4)
                                                      : random_scale (random, 1, 100);
  problem->starts[0] = 0;
  for (guint f = 0; f < problem->n_flows; f++) {
    guint one = random_below (random, problem->n_links);

    for (guint l = 0; l < problem->n_links; l++)
      if (l == one || random_chance (random, density))
        problem->links[n++] = l;
    problem->starts[f + 1] = n;
    problem->bytes[f] = random_between (random, 1000, 1000000);
    problem->limits[f] = random_chance (random, 30) ? random_between (random, 1, 20) : 0;
  }
}

static void
append_text (const Problem *problem, GString *text)
{
  guint n_limits = 0;

  for (guint f = 0; f < problem->n_flows; f++)
    n_limits += problem->limits[f] > 0;
  g_string_append_printf (text, "%u %u\n", problem->n_links + n_limits, problem->n_flows);
  for (guint l = 0; l < problem->n_links; l++)
    g_string_append_printf (text, "%.17g ", problem->capacity[l]);
  for (guint f = 0; f < problem->n_flows; f++)
    if (problem->limits[f] > 0)
      g_string_append_printf (text, "%.17g ", problem->limits[f]);
  n_limits = 0;
  for (guint f = 0; f < problem->n_flows; f++) {
    gboolean is_limited = problem->limits[f] > 0;

    g_string_append_printf (text, "\n%.0f %u", problem->bytes[f],
                            problem->starts[f + 1] - problem->starts[f] + is_limited);
    for (guint e = problem->starts[f]; e < problem->starts[f + 1]; e++)
      g_string_append_printf (text, " %u", problem->links[e]);
    if (is_limited)
      g_string_append_printf (text, " %u", problem->n_links + n_limits++);
  }
  g_string_append_c (text, '\n');
}

/* The problem of the flows that are left; `who[i]` is the number of its flow i. */
static guint
take_rest (const Problem *problem, const double *left_bytes, Problem *rest, guint *who)
{
  guint n = 0;

  rest->starts[0] = 0;
  for (guint f = 0; f < problem->n_flows; f++) {
    guint n_links = problem->starts[f + 1] - problem->starts[f];

    if (left_bytes[f] <= 0)
      continue;
    memcpy (rest->links + rest->starts[n], problem->links + problem->starts[f],
            n_links * sizeof *rest->links);
    rest->limits[n] = problem->limits[f];
    rest->starts[n + 1] = rest->starts[n] + n_links;
    who[n++] = f;
  }
  return n;
}

static void
find_ends (const Problem *problem, double *ends_s)
{
  g_autoptr (FabMaxmin) solver = fab_maxmin_new ();
  double left[MOST_FLOWS], rates[MOST_FLOWS], weights[MOST_FLOWS * MOST_LINKS], now_s = 0;
  guint who[MOST_FLOWS], n;
  Problem rest;

  for (guint e = 0; e < G_N_ELEMENTS (weights); e++)
    weights[e] = 1;
  memcpy (left, problem->bytes, sizeof left);
  while ((n = take_rest (problem, left, &rest, who)) > 0) {
    FabMaxminProblem solved = { n,    problem->n_links, problem->capacity, rest.starts, rest.links, weights,
                                NULL, rest.limits };
    double step_s = G_MAXDOUBLE;

    fab_maxmin_solve (solver, &solved, rates, NULL);
    for (guint i = 0; i < n; i++)
      step_s = MIN (step_s, left[who[i]] / rates[i]);
    now_s += step_s;
    for (guint i = 0; i < n; i++) {
      left[who[i]] -= rates[i] * step_s;
      if (left[who[i]] > 1e-9 * problem->bytes[who[i]])
        continue;
      left[who[i]] = 0;
      ends_s[who[i]] = now_s;
    }
  }
}

static void
flows_end_when_simgrid_says (void **state)
{
  const char *argv[] = { *state, "rates", NULL };
  g_autofree Problem *problems = g_new0 (Problem, N_PROBLEMS);
  g_autoptr (GString) text = g_string_new (NULL);
  Random random = { 1 };
  BenchChild child;
  char *place;

  for (guint i = 0; i < N_PROBLEMS; i++) {
    draw (&random, &problems[i]);
    append_text (&problems[i], text);
  }
  child = bench_run (argv, text->str);
  assert_true (child.is_good);
  place = child.output;
  for (guint i = 0; i < N_PROBLEMS; i++) {
    double ends_s[MOST_FLOWS];

    find_ends (&problems[i], ends_s);
    for (guint f = 0; f < problems[i].n_flows; f++) {
      char *after;
      double theirs_s = g_ascii_strtod (place, &after);

      assert_true (after > place);
      if (!is_near (ends_s[f], theirs_s, 1e-6))
        fail_msg ("problem %u, flow %u: %.9g s, SimGrid %.9g s", i, f, ends_s[f], theirs_s);
      place = after;
    }
  }
  g_free (child.output);
}

int
main (int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_prestate (flows_end_when_simgrid_says, argc > 1 ? argv[1] : NULL),
  };

  if (argc < 2 || access (argv[1], X_OK) != 0) {
    printf ("skipped: SimGrid is not here (libsimgrid-dev)\n");
    return 77;
  }
  return cmocka_run_group_tests_name ("against_simgrid", tests, NULL, NULL);
}
