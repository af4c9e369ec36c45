/* SPDX-License-Identifier: Apache-2.0 */
/* test_arguments.c - every function of the library says which of its arguments is NULL, and changes nothing. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FABRICAST_UNSTABLE
#include <fabricast.h>

typedef struct {
  FabricastContext *context;
  FabricastScenario *scenario, *made;
  FabricastResult *result, *other;
  FabricastTable *some, *table;
  FabricastNetwork *network, *net;
  FabricastValue value;
} Fixture;

static const char text[] = "name: x\niterations: 1\ncluster: {node: dgx-a100, nodes: 1}\n"
                           "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n";

static int
set_up (void **state)
{
  Fixture *f = calloc (1, sizeof *f);

  *state = f;
  return f == NULL || fabricast_context_new (NULL, &f->context, NULL) != FABRICAST_OK
      || fabricast_scenario_parse (f->context, "x", text, strlen (text), &f->scenario, NULL) != FABRICAST_OK
      || fabricast_run (f->scenario, NULL, &f->result, NULL) != FABRICAST_OK
      || fabricast_result_table (f->result, "iteration", &f->some, NULL) != FABRICAST_OK
      || fabricast_network_new (f->scenario, &f->network, NULL) != FABRICAST_OK;
}

/* Nothing was made by a call that failed. */
static int
tear_down (void **state)
{
  Fixture *f = *state;
  int is_clean = f->made == NULL && f->other == NULL && f->table == NULL && f->net == NULL;

  fabricast_network_free (f->network);
  fabricast_table_free (f->some);
  fabricast_result_free (f->result);
  fabricast_scenario_free (f->scenario);
  fabricast_context_free (f->context);
  free (f);
  return !is_clean;
}

static void
assert_misuse (const char *name, const char *argument, int status, FabricastError *error)
{
  char expected[120];

  snprintf (expected, sizeof expected, "%s: the argument `%s` is NULL", name, argument);
  assert_int_equal (status, FABRICAST_MISUSE);
  assert_int_equal (fabricast_error_status (error), FABRICAST_MISUSE);
  assert_string_equal (fabricast_error_message (error), expected);
  fabricast_error_free (error);
}

/* The call has NULL for the argument of that name. */
#define NEEDS(name, argument, call)                \
  do {                                             \
    FabricastError *error = NULL;                  \
    int status = call;                             \
                                                   \
    assert_misuse (name, argument, status, error); \
  } while (0)

static void
test_scenarios (void **state)
{
  Fixture *f = *state;

  NEEDS ("fabricast_context_new", "context", fabricast_context_new (NULL, NULL, &error));
  NEEDS ("fabricast_describe", "context", fabricast_describe (NULL, NULL, NULL, &f->table, &error));
  NEEDS ("fabricast_describe", "table", fabricast_describe (f->context, NULL, NULL, NULL, &error));
  NEEDS ("fabricast_scenario_load", "context", fabricast_scenario_load (NULL, "x.yaml", &f->made, &error));
  NEEDS ("fabricast_scenario_load", "path", fabricast_scenario_load (f->context, NULL, &f->made, &error));
  NEEDS ("fabricast_scenario_load", "scenario", fabricast_scenario_load (f->context, "x.yaml", NULL, &error));
  NEEDS ("fabricast_scenario_parse", "context",
         fabricast_scenario_parse (NULL, "x", "name: x", 7, &f->made, &error));
  NEEDS ("fabricast_scenario_parse", "text",
         fabricast_scenario_parse (f->context, "x", NULL, 7, &f->made, &error));
  NEEDS ("fabricast_scenario_parse", "scenario",
         fabricast_scenario_parse (f->context, "x", "name: x", 7, NULL, &error));
  NEEDS ("fabricast_scenario_new", "context", fabricast_scenario_new (NULL, &f->made, &error));
  NEEDS ("fabricast_scenario_new", "scenario", fabricast_scenario_new (f->context, NULL, &error));
  NEEDS ("fabricast_scenario_copy", "scenario", fabricast_scenario_copy (NULL, &f->made, &error));
  NEEDS ("fabricast_scenario_copy", "copy", fabricast_scenario_copy (f->scenario, NULL, &error));
  NEEDS ("fabricast_scenario_check", "scenario", fabricast_scenario_check (NULL, &error));
  NEEDS ("fabricast_scenario_get", "scenario", fabricast_scenario_get (NULL, "name", &f->value, &error));
  NEEDS ("fabricast_scenario_get", "path", fabricast_scenario_get (f->scenario, NULL, &f->value, &error));
  NEEDS ("fabricast_scenario_get", "value", fabricast_scenario_get (f->scenario, "name", NULL, &error));
  NEEDS ("fabricast_scenario_set", "scenario", fabricast_scenario_set (NULL, "name", &f->value, &error));
  NEEDS ("fabricast_scenario_set", "path", fabricast_scenario_set (f->scenario, NULL, &f->value, &error));
  NEEDS ("fabricast_scenario_set", "value", fabricast_scenario_set (f->scenario, "name", NULL, &error));
  NEEDS ("fabricast_scenario_assign", "scenario", fabricast_scenario_assign (NULL, "name=x", &error));
  NEEDS ("fabricast_scenario_assign", "assignment", fabricast_scenario_assign (f->scenario, NULL, &error));
}

static void
test_results (void **state)
{
  Fixture *f = *state;
  _Alignas(16) unsigned char bytes[64] = { 0 };
  struct ArrowArrayStream *stream = (struct ArrowArrayStream *) (void *) bytes;

  NEEDS ("fabricast_run", "scenario", fabricast_run (NULL, NULL, &f->other, &error));
  NEEDS ("fabricast_run", "result", fabricast_run (f->scenario, NULL, NULL, &error));
  NEEDS ("fabricast_result_figure", "result", fabricast_result_figure (NULL, "step_s", &f->value, &error));
  NEEDS ("fabricast_result_figure", "name", fabricast_result_figure (f->result, NULL, &f->value, &error));
  NEEDS ("fabricast_result_figure", "value", fabricast_result_figure (f->result, "step_s", NULL, &error));
  NEEDS ("fabricast_result_table", "result", fabricast_result_table (NULL, "iteration", &f->table, &error));
  NEEDS ("fabricast_result_table", "name", fabricast_result_table (f->result, NULL, &f->table, &error));
  NEEDS ("fabricast_result_table", "table", fabricast_result_table (f->result, "iteration", NULL, &error));
  NEEDS ("fabricast_result_explain", "result", fabricast_result_explain (NULL, "step", &f->table, &error));
  NEEDS ("fabricast_result_explain", "figure", fabricast_result_explain (f->result, NULL, &f->table, &error));
  NEEDS ("fabricast_result_explain", "statements",
         fabricast_result_explain (f->result, "step", NULL, &error));
  NEEDS ("fabricast_table_arrow", "table", fabricast_table_arrow (NULL, stream, &error));
  NEEDS ("fabricast_table_arrow", "stream", fabricast_table_arrow (f->some, NULL, &error));
}

static void
test_studies (void **state)
{
  Fixture *f = *state;
  const uint64_t sizes[] = { 1024 };
  FabricastPredictOptions predict = { .struct_size = sizeof predict,
                                      .op = "all_reduce",
                                      .sizes_bytes = sizes,
                                      .n_sizes = 1 },
                          no_op = predict, no_sizes = predict;
  FabricastStudyOptions study = { .struct_size = sizeof study };

  no_op.op = NULL;
  no_sizes.sizes_bytes = NULL;
  NEEDS ("fabricast_predict", "scenario", fabricast_predict (NULL, &predict, &f->table, &error));
  NEEDS ("fabricast_predict", "options", fabricast_predict (f->scenario, NULL, &f->table, &error));
  NEEDS ("fabricast_predict", "table", fabricast_predict (f->scenario, &predict, NULL, &error));
  NEEDS ("fabricast_predict", "op", fabricast_predict (f->scenario, &no_op, &f->table, &error));
  NEEDS ("fabricast_predict", "sizes_bytes", fabricast_predict (f->scenario, &no_sizes, &f->table, &error));
  NEEDS ("fabricast_sweep", "scenario", fabricast_sweep (NULL, &study, &f->table, &error));
  NEEDS ("fabricast_sweep", "options", fabricast_sweep (f->scenario, NULL, &f->table, &error));
  NEEDS ("fabricast_sweep", "points", fabricast_sweep (f->scenario, &study, NULL, &error));
  NEEDS ("fabricast_size", "scenario", fabricast_size (NULL, &study, &f->table, &error));
  NEEDS ("fabricast_size", "options", fabricast_size (f->scenario, NULL, &f->table, &error));
  NEEDS ("fabricast_size", "tried", fabricast_size (f->scenario, &study, NULL, &error));
}

static void
done (void *user, int64_t time_ps)
{
  (void) user;
  (void) time_ps;
}

static void
test_network (void **state)
{
  Fixture *f = *state;
  const uint32_t links[] = { 0 };
  const double weights[] = { 1 };

  NEEDS ("fabricast_network_new", "scenario", fabricast_network_new (NULL, &f->net, &error));
  NEEDS ("fabricast_network_new", "network", fabricast_network_new (f->scenario, NULL, &error));
  NEEDS ("fabricast_network_advance", "network", fabricast_network_advance (NULL, 1, &error));
  NEEDS ("fabricast_network_at", "network", fabricast_network_at (NULL, 1, done, NULL, &error));
  NEEDS ("fabricast_network_at", "fn", fabricast_network_at (f->network, 1, NULL, NULL, &error));
  NEEDS ("fabricast_network_send", "network", fabricast_network_send (NULL, 0, 1, 1, NULL, NULL, &error));
  NEEDS ("fabricast_network_stream", "network",
         fabricast_network_stream (NULL, links, weights, 1, 1, 0, NULL, NULL, &error));
  NEEDS ("fabricast_network_stream", "links",
         fabricast_network_stream (f->network, NULL, weights, 1, 1, 0, NULL, NULL, &error));
  NEEDS ("fabricast_network_stream", "weights",
         fabricast_network_stream (f->network, links, NULL, 1, 1, 0, NULL, NULL, &error));
  NEEDS ("fabricast_network_collective", "network",
         fabricast_network_collective (NULL, "all_reduce", NULL, 0, 1, NULL, NULL, &error));
  NEEDS ("fabricast_network_collective", "op",
         fabricast_network_collective (f->network, NULL, NULL, 0, 1, NULL, NULL, &error));
  NEEDS ("fabricast_network_table", "network", fabricast_network_table (NULL, "link", &f->table, &error));
  NEEDS ("fabricast_network_table", "name", fabricast_network_table (f->network, NULL, &f->table, &error));
  NEEDS ("fabricast_network_table", "table", fabricast_network_table (f->network, "link", NULL, &error));
}

/* A struct says at least its own size; one that says no more has its defaults. */
static void
test_struct_size (void **state)
{
  Fixture *f = *state;

  for (size_t size = 0; size <= sizeof (size_t); size++) {
    FabricastRunOptions options = { .struct_size = size };
    FabricastResult *result = NULL;
    FabricastError *error = NULL;
    int status = fabricast_run (f->scenario, &options, &result, &error);

    assert_int_equal (status, size < sizeof (size_t) ? FABRICAST_MISUSE : FABRICAST_OK);
    if (status == FABRICAST_OK)
      assert_non_null (result);
    else
      assert_non_null (strstr (fabricast_error_message (error), "set it to sizeof the struct"));
    fabricast_error_free (error);
    fabricast_result_free (result);
  }
}

/* A struct that is filled has at least its own size. Of one that is larger than this version knows, the rest becomes 0;
 * of a smaller one, nothing behind it is touched. */
static void
test_filled_struct_size (void **state)
{
  Fixture *f = *state;

  for (size_t size = 0; size <= sizeof (FabricastValue) + 8; size++) {
    struct {
      FabricastValue value;
      unsigned char more[8];
    } given;

    memset (&given, 0xa5, sizeof given);
    given.value.struct_size = size;
    int status = fabricast_scenario_get (f->scenario, "iterations", &given.value, NULL);
    assert_int_equal (status, size < sizeof (size_t) ? FABRICAST_MISUSE : FABRICAST_OK);
    for (size_t at = sizeof (size_t); at < sizeof given; at++) {
      unsigned char byte = ((const unsigned char *) &given)[at];

      if (at >= size || status != FABRICAST_OK)
        assert_int_equal (byte, 0xa5);
      else if (at >= sizeof (FabricastValue))
        assert_int_equal (byte, 0);
    }
    if (size >= sizeof (FabricastValue))
      assert_int_equal (given.value.kind, FABRICAST_WHOLE);
  }
}

/* The locale of the thread is that of the caller again after each call. */
static void
test_locale_of_the_caller (void **state)
{
  Fixture *f = *state;
  locale_t own = uselocale ((locale_t) 0);
  FabricastValue value = { .struct_size = sizeof value };
  FabricastScenario *copy = NULL;

  assert_int_equal (fabricast_scenario_copy (f->scenario, &copy, NULL), FABRICAST_OK);
  assert_ptr_equal (uselocale ((locale_t) 0), own);
  assert_non_null (fabricast_scenario_text (copy));
  assert_ptr_equal (uselocale ((locale_t) 0), own);
  assert_int_equal (fabricast_scenario_get (copy, "iterations", &value, NULL), FABRICAST_OK);
  assert_ptr_equal (uselocale ((locale_t) 0), own);
  assert_int_equal (fabricast_scenario_get (copy, "no.such", &value, NULL), FABRICAST_INPUT);
  assert_ptr_equal (uselocale ((locale_t) 0), own);
  fabricast_scenario_free (copy);
}

/* What cannot be said is no value: numbers that are none, and texts that are none. */
static void
test_values (void **state)
{
  Fixture *f = *state;
  const struct {
    FabricastValue value;
    const char *says;
  } wrong[] = {
    { { .kind = FABRICAST_REAL, .real = INFINITY }, "the number is not finite" },
    { { .kind = FABRICAST_REAL, .real = NAN }, "the number is not finite" },
    { { .kind = FABRICAST_TEXT, .text = NULL }, "the text is NULL" },
    { { .kind = FABRICAST_TEXT, .text = "\xff" }, "the text is no UTF-8" },
  };
  FabricastValue flag = { .struct_size = sizeof flag };

  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    FabricastError *error = NULL;
    FabricastValue value = wrong[i].value;

    value.struct_size = sizeof value;
    assert_int_equal (fabricast_scenario_set (f->scenario, "iterations", &value, &error), FABRICAST_MISUSE);
    assert_string_equal (fabricast_error_message (error), wrong[i].says);
    fabricast_error_free (error);
  }
  for (int64_t whole = 0; whole < 3; whole++) { /* every number but 0 is true */
    flag.kind = FABRICAST_BOOL;
    flag.whole = whole;
    assert_int_equal (fabricast_scenario_set (f->scenario, "fold", &flag, NULL), FABRICAST_OK);
    assert_int_equal (fabricast_scenario_get (f->scenario, "fold", &flag, NULL), FABRICAST_OK);
    assert_int_equal (flag.whole, whole != 0);
  }
}

/* Ranks of a collective ascend, are there, and stand once. */
static void
test_ranks (void **state)
{
  Fixture *f = *state;
  static const struct {
    uint32_t ranks[3];
    size_t n;
    int is_right;
  } cases[] = {
    { { 0, 1, 2 }, 3, 1 }, { { 5, 6, 7 }, 3, 1 }, { { 1, 0, 2 }, 3, 0 }, { { 0, 0, 2 }, 3, 0 },
    { { 0, 2, 1 }, 3, 0 }, { { 0, 2, 2 }, 3, 0 }, { { 6, 7, 8 }, 3, 0 },
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int status = fabricast_network_collective (f->network, "all_reduce", cases[i].ranks, cases[i].n, 1024,
                                               NULL, NULL, NULL);

    assert_int_equal (status == FABRICAST_OK, cases[i].is_right);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_scenarios),
    cmocka_unit_test (test_results),
    cmocka_unit_test (test_studies),
    cmocka_unit_test (test_network),
    cmocka_unit_test (test_struct_size),
    cmocka_unit_test (test_values),
    cmocka_unit_test (test_ranks),
    cmocka_unit_test (test_filled_struct_size),
    cmocka_unit_test (test_locale_of_the_caller),
  };

  return cmocka_run_group_tests (tests, set_up, tear_down);
}
