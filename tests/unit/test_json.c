/* SPDX-License-Identifier: Apache-2.0 */
/* test_json.c - numbers with exponents, as other readers of JSON take them. */
#include "tests/support/test.h"

#include "sim/base/json.h"

static void
assert_mended (const char *text, const char *expected)
{
  g_autofree char *mended = fab_json_mend (g_strdup (text));

  assert_string_equal (mended, expected);
}

static void
exponents_lose_their_point (G_GNUC_UNUSED void **state)
{
  assert_mended ("[3e-11.0, 1e+18.0, 2.5e-10, 1.0, 0.0]", "[3e-11, 1e+18, 2.5e-10, 1.0, 0.0]");
  assert_mended ("{\"a\" : -1e-05.0}", "{\"a\" : -1e-05}");
}

static void
texts_stay_as_they_are (G_GNUC_UNUSED void **state)
{
  assert_mended ("{\"1e5.0\" : \"3e-11.0\", \"b\\\"2e3.0\" : true}",
                 "{\"1e5.0\" : \"3e-11.0\", \"b\\\"2e3.0\" : true}");
  assert_mended ("{\"back\\\\\" : 1e-9.0}", "{\"back\\\\\" : 1e-9}");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (exponents_lose_their_point),
    cmocka_unit_test (texts_stay_as_they_are),
  };

  return cmocka_run_group_tests_name ("json", tests, NULL, NULL);
}
