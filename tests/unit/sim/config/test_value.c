/* SPDX-License-Identifier: Apache-2.0 */
/* test_value.c - values are equal where kind, unit and content are, and read as a person writes them. */
#include "tests/support/test.h"

#include "sim/config/value.h"

static FabValue *
mapping (const char *key, FabValue *value, const char *other_key, FabValue *other)
{
  FabValue *self = fab_value_mapping ();

  fab_value_put (self, key, value);
  if (other_key != NULL)
    fab_value_put (self, other_key, other);
  return self;
}

static FabValue *
list (FabValue *first, FabValue *second)
{
  FabValue *self = fab_value_list ();

  if (first != NULL)
    fab_value_append (self, first);
  if (second != NULL)
    fab_value_append (self, second);
  return self;
}

enum { N_VALUES = 36 };

/* Values of which no two are equal, as they are written and called. */
static FabValue *
value_at (guint i, const char **text, const char **noun)
{
#define IS(index, value_, text_, noun_) \
  case index:                           \
    *text = text_;                      \
    *noun = noun_;                      \
    return value_
  switch (i) {
    IS (0, fab_value_flag (TRUE), "true", "yes or no");
    IS (1, fab_value_flag (FALSE), "false", "yes or no");
    IS (2, fab_value_count (1), "1", "count");
    IS (3, fab_value_count (0), "0", "count");
    IS (4, fab_value_count (-7), "-7", "count");
    IS (5, fab_value_whole (FAB_UNIT_BYTES, 1), "1B", "size");
    IS (6, fab_value_whole (FAB_UNIT_BYTES, 25 << 20), "25MiB", "size");
    IS (7, fab_value_whole (FAB_UNIT_TIME, 1), "1ps", "time");
    IS (8, fab_value_whole (FAB_UNIT_TIME, 5000000), "5us", "time");
    IS (9, fab_value_whole (FAB_UNIT_LENGTH, 1000), "1m", "length");
    IS (10, fab_value_whole (FAB_UNIT_RATE, 50000000000), "400Gb/s", "rate");
    IS (11, fab_value_whole (FAB_UNIT_RATE, 125000000), "1Gb/s", "rate");
    IS (12, fab_value_whole (FAB_UNIT_RATE, 0), "0B/s", "rate");
    IS (13, fab_value_real (FAB_UNIT_FRACTION, 0.5), NULL, "fraction");
    IS (14, fab_value_real (FAB_UNIT_FACTOR, 0.5), "0.5", "number");
    IS (15, fab_value_real (FAB_UNIT_FACTOR, 0.25), "0.25", "number");
    IS (16, fab_value_real (FAB_UNIT_FLOPS, 0.5), NULL, "FLOPs");
    IS (17, fab_value_real (FAB_UNIT_FLOPS_RATE, 0.5), NULL, "FLOP rate");
    IS (18, fab_value_real (FAB_UNIT_FACTOR, NAN), "nan", "number");
    IS (19, fab_value_real (FAB_UNIT_FACTOR, INFINITY), "inf", "number");
    IS (20, fab_value_text ("plain-1.5"), "plain-1.5", "text");
    IS (21, fab_value_written ("plain-1.5"), "plain-1.5", "text");
    IS (22, fab_value_text (""), "''", "text");
    IS (23, fab_value_text ("two words"), "'two words'", "text");
    IS (24, fab_value_text ("it's"), "'it''s'", "text");
    IS (25, fab_value_text ("null"), "'null'", "text");
    IS (26, fab_value_text ("-x"), "'-x'", "text");
    IS (27, list (NULL, NULL), "[]", "list");
    IS (28, list (fab_value_count (1), NULL), "[1]", "list");
    IS (29, list (fab_value_count (1), fab_value_count (2)), "[1, 2]", "list");
    IS (30, list (fab_value_count (1), fab_value_count (3)), "[1, 3]", "list");
    IS (31, fab_value_mapping (), "{}", "mapping");
    IS (32, mapping ("a", fab_value_count (1), NULL, NULL), "{a: 1}", "mapping");
    IS (33, mapping ("b", fab_value_count (1), NULL, NULL), "{b: 1}", "mapping");
    IS (34, mapping ("a", fab_value_count (1), "b", fab_value_text ("x y")), "{a: 1, b: 'x y'}", "mapping");
    IS (35, mapping ("a", fab_value_count (1), "b", NULL), "{a: 1, b: }", "mapping");
  default: return NULL;
  }
#undef IS
}

static void
values_are_equal_to_themselves_alone (G_GNUC_UNUSED void **state)
{
  const char *text, *noun;

  assert_true (fab_value_equal (NULL, NULL));
  for (guint i = 0; i < N_VALUES; i++)
    for (guint k = 0; k < N_VALUES; k++) {
      g_autoptr (FabValue) one = value_at (i, &text, &noun), other = value_at (k, &text, &noun);

      if (fab_value_equal (one, other) != (i == k))
        fail_msg ("values %u and %u", i, k);
      assert_false (fab_value_equal (one, NULL));
      assert_false (fab_value_equal (NULL, one));
      assert_true (fab_value_equal (one, one));
    }
}

static void
values_are_written_as_people_do (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < N_VALUES; i++) {
    const char *text, *noun;
    g_autoptr (FabValue) value = value_at (i, &text, &noun);
    g_autofree char *written = fab_value_write (value);

    if (text != NULL && strcmp (written, text) != 0)
      fail_msg ("%s is written %s", text, written);
    assert_string_equal (fab_value_noun (value), noun);
  }
  g_autofree char *nothing = fab_value_write (NULL);
  assert_string_equal (nothing, "");
  assert_null (fab_value_text (NULL));
  assert_null (fab_value_written (NULL));
}

static void
keys_of_a_mapping (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabValue) self = mapping ("a", fab_value_count (1), "b", fab_value_count (2));

  assert_true (fab_value_at (self, "a")->whole == 1);
  assert_true (fab_value_at (self, "b")->whole == 2);
  assert_null (fab_value_at (self, "c"));
  assert_null (fab_value_ref (NULL));
  fab_value_unref (NULL);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (values_are_equal_to_themselves_alone),
    cmocka_unit_test (values_are_written_as_people_do),
    cmocka_unit_test (keys_of_a_mapping),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
