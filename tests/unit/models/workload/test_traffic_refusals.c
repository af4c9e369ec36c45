/* SPDX-License-Identifier: Apache-2.0 */
/* test_traffic_refusals.c - keys of traffic that contradict each other (models/workload/traffic/traffic.c), one
 * mistake at a time: there is one message, and the nearest job without the mistake is accepted.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* Parses and builds a job of four ranks. NULL: it is right; else what is wrong. (transfer full) */
static char *
problem_of (const char *keys)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: 4, gpus_per_node: 1, "
      "nics_per_node: 1, fabric: switch}\njob: {kind: traffic, %s}\n",
      keys);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);
  FabSimulation *simulation = scenario != NULL ? fab_simulation_new (scenario, &fab_models, NULL, &error)
                                               : NULL;

  fab_simulation_free (simulation);
  return error != NULL ? g_strdup (error->message) : NULL;
}

/* Lines of messages that begin with the name of the file, or one message without it. */
static guint
count_messages (const char *text)
{
  guint n = 0;

  for (const char *at = text; (at = strstr (at, "t:4:")) != NULL; at++)
    n++;
  return MAX (n, 1);
}

typedef struct {
  const char *wrong, *message, *right;
} Row;

static void
assert_rows (const Row *rows, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree char *wrong = problem_of (rows[i].wrong),
                    *right = rows[i].right != NULL ? problem_of (rows[i].right) : NULL;

    if (wrong == NULL)
      fail_msg ("accepted: %s", rows[i].wrong);
    if (strstr (wrong, rows[i].message) == NULL || count_messages (wrong) != 1)
      fail_msg ("%s\nis not refused for '%s' alone, but:\n%s", rows[i].wrong, rows[i].message, wrong);
    if (right != NULL)
      fail_msg ("%s\nis refused:\n%s", rows[i].right, right);
  }
}

#define LISTED(rows_) "pattern: random, flows: 3, sizes: listed, listed: [" rows_ "]"

static void
sizes_are_said_in_one_way (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { "pattern: shift", "missing key 'size'", "pattern: shift, size: 1B" },
    { "pattern: shift, sizes: websearch, size: 1MB", "sizes: websearch draws the size of each flow",
      "pattern: shift, sizes: websearch" },
    { "pattern: shift, sizes: listed", "listed is empty", LISTED ("{size: 1kB, below: 1}") },
    { "pattern: shift, size: 1kB, listed: [{size: 1kB, below: 1}]", "listed needs sizes: listed", NULL },
    { LISTED ("{size: 1kB, below: 0.9}"), "no flow is longer", LISTED ("{size: 1kB, below: 1}") },
    { LISTED ("{size: 2kB, below: 0.5}, {size: 2kB, below: 1}"), "this row is below the one before",
      LISTED ("{size: 2kB, below: 0.5}, {size: 3kB, below: 1}") },
    { LISTED ("{size: 1kB, below: 0.6}, {size: 2kB, below: 0.5}, {size: 3kB, below: 1}"),
      "this row is below the one before",
      LISTED ("{size: 1kB, below: 0.5}, {size: 2kB, below: 0.5}, {size: 3kB, below: 1}") },
    { LISTED ("{size: 1kB, below: 0.2}, {size: 3kB, below: 0.5}, {size: 2kB, below: 1}"),
      "this row is below the one before",
      LISTED ("{size: 1kB, below: 0.2}, {size: 2kB, below: 0.5}, {size: 3kB, below: 1}") },
  };

  assert_rows (rows, G_N_ELEMENTS (rows));
}

#define POISSON "size: 1MB, arrivals: poisson, load: 0.5, "

static void
arrivals_have_a_load_and_an_end (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { "pattern: shift, size: 1MB, load: 0.5", "load and duration need flows over time",
      "pattern: shift, size: 1MB" },
    { "pattern: shift, size: 1MB, duration: 1ms", "load and duration need flows over time", NULL },
    { "pattern: random, size: 1MB, arrivals: poisson, flows: 5", "arrivals: poisson needs a load",
      "pattern: random, " POISSON "flows: 5" },
    { "pattern: random, size: 1MB, arrivals: poisson, load: 0.5", "give one of duration",
      "pattern: random, " POISSON "duration: 1ms" },
    { "pattern: random, " POISSON "flows: 5, duration: 1ms", "give one of duration", NULL },
    { "pattern: pairs, sizes: websearch, arrivals: poisson, load: 0.5, flows: 5, pairs: [{from: 0, to: 1, at: 1ms}]",
      "leave out at and size",
      "pattern: pairs, sizes: websearch, arrivals: poisson, load: 0.5, flows: 5, pairs: [{from: 0, to: 1}]" },
    { "pattern: pairs, sizes: websearch, arrivals: poisson, load: 0.5, flows: 5, pairs: [{from: 0, to: 1, size: 1MB}]",
      "leave out at and size", "pattern: pairs, sizes: websearch, pairs: [{from: 0, to: 1, at: 1ms}]" },
  };

  assert_rows (rows, G_N_ELEMENTS (rows));
}

#define SIZE ", size: 1MB"

static void
keys_belong_to_their_pattern (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { "pattern: pairs" SIZE, "pairs is empty", "pattern: pairs, pairs: [{from: 0, to: 1}]" SIZE },
    { "pattern: shift, pairs: [{from: 0, to: 1}]" SIZE, "pairs needs pattern: pairs; here it is shift",
      NULL },
    { "pattern: pairs, pairs: [{from: 2, to: 2}]" SIZE, "rank 2 sends to itself",
      "pattern: pairs, pairs: [{from: 2, to: 3}]" SIZE },
    { "pattern: shift, senders: 1" SIZE, "senders and target need pattern: incast",
      "pattern: incast, senders: 1" SIZE },
    { "pattern: shift, target: 1" SIZE, "senders and target need pattern: incast",
      "pattern: incast, target: 1" SIZE },
    { "pattern: incast, distance: 1" SIZE, "distance needs pattern: shift",
      "pattern: shift, distance: 1" SIZE },
    { "pattern: shift, flows: 5" SIZE, "flows needs pattern: random, or arrivals",
      "pattern: random, flows: 5" SIZE },
    { "pattern: shift, flows: 1" SIZE, "flows needs pattern: random, or arrivals",
      "pattern: random, flows: 1" SIZE },
  };

  assert_rows (rows, G_N_ELEMENTS (rows));
}

/* The message names the place of this value. */
static void
assert_points_at (const char *keys, const char *value)
{
  g_autofree char *problem = problem_of (keys), *line = g_strdup_printf ("job: {kind: traffic, %s}", keys);
  const char *at = strstr (line, value);

  assert_non_null (problem);
  assert_non_null (at);
  g_autofree char *place = g_strdup_printf ("t:4:%u: ", (guint) (at - line) + 1);
  if (!g_str_has_prefix (problem, place))
    fail_msg ("%s does not begin with %s", problem, place);
}

/* Of two values that are too many the first of the keys is named, wherever it stands. */
static void
messages_point_at_what_is_wrong (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][2] = {
    { "pattern: shift, size: 1MB, load: 0.5", "0.5" },
    { "pattern: shift, size: 1MB, load: 1.5", "1.5" },
    { "pattern: shift, size: 1MB, duration: 1ms", "1ms" },
    { "pattern: shift, size: 1MB, load: 0.5, duration: 1ms", "0.5" },
    { "pattern: shift, size: 1MB, duration: 1ms, load: 0.5", "0.5" },
    { "pattern: pairs, sizes: websearch, arrivals: poisson, load: 0.5, flows: 5, pairs: [{from: 0, to: 1, at: 1ms}]",
      "1ms" },
    { "pattern: pairs, sizes: websearch, arrivals: poisson, load: 0.5, flows: 5, pairs: [{from: 0, to: 1, size: 7B}]",
      "7B" },
    { "pattern: pairs, sizes: websearch, arrivals: poisson, load: 0.5, flows: 5, pairs: [{from: 0, to: 1, size: 7B, "
      "at: 1ms}]",
      "1ms" },
    { "pattern: pairs, sizes: websearch, arrivals: poisson, load: 0.5, flows: 5, pairs: [{from: 0, to: 1}, {from: 1, "
      "to: 2, at: 1ps}]",
      "1ps" },
    { "pattern: pairs, sizes: websearch, arrivals: poisson, load: 0.5, flows: 5, pairs: [{from: 0, to: 1}, {from: 1, "
      "to: 2}, {from: 0, to: 3, size: 1B, at: 1ps}]",
      "1ps" },
    { "pattern: pairs, sizes: websearch, arrivals: poisson, load: 0.5, flows: 5, pairs: [{from: 0, to: 1, size: 1B}]",
      "1B" },
    { "pattern: shift, size: 1MB, duration: 1ps", "1ps" },
    { "pattern: random, size: 1MB, arrivals: poisson, load: 0.5, flows: 1, duration: 1ps", "1ps" },
    { "pattern: shift, senders: 3, target: 2" SIZE, "3" },
    { "pattern: shift, target: 2" SIZE, "2" },
    { LISTED ("{size: 1kB, below: 0.3}, {size: 2kB, below: 0.7}"), "0.7" },
    { LISTED ("{size: 1kB, below: 0.3}, {size: 3kB, below: 0.4}, {size: 2kB, below: 1}"), "2kB" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_points_at (rows[i][0], rows[i][1]);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (sizes_are_said_in_one_way),
    cmocka_unit_test (arrivals_have_a_load_and_an_end),
    cmocka_unit_test (keys_belong_to_their_pattern),
    cmocka_unit_test (messages_point_at_what_is_wrong),
  };

  return play_run_tests ("traffic_refusals", tests, &catalog);
}
