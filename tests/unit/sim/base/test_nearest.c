/* SPDX-License-Identifier: Apache-2.0 */
/* test_nearest.c - which name is meant by a word that is none. */
#include "tests/support/test.h"

#include "sim/base/nearest.h"

/* A name may have further parts behind a dash, an underscore or a point, and only there. */
static void
further_parts_begin_behind_a_sign (G_GNUC_UNUSED void **state)
{
  const struct {
    const char *names[3], *meant;
  } cases[] = {
    { { "cifar-resnet", "connectx-700", NULL }, "connectx-700" },
    { { "cifar-resnet", "connectx_700", NULL }, "connectx_700" },
    { { "cifar-resnet", "connectx.700", NULL }, "connectx.700" },
    { { "fast-ethernet-connectx", "roce-25", NULL }, "fast-ethernet-connectx" },
    { { "fast-ethernet_connectx", "roce-25", NULL }, "fast-ethernet_connectx" },
    { { "fast-ethernet.connectx", "roce-25", NULL }, "fast-ethernet.connectx" },
    { { "connectxabcdefgh", "roce-25", NULL }, "connectxabcdefgh" }, /* it contains the word */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_string_equal (fab_nearest ("connectx", cases[i].names), cases[i].meant);
}

/* The word and a number is meant before any other further part, whatever stands first. */
static void
a_number_behind_is_meant_first (G_GNUC_UNUSED void **state)
{
  const char *const dashes[] = { "gaudi2-roce", "roce-fast-lane", "roce-25", NULL },
                    *const signs[] = { "gaudi2_roce", "roce_fast_lane", "roce_25", NULL },
                    *const far[3][3] = { { "abcroce", "roce-1000000", NULL },
                                         { "abcroce", "roce_1000000", NULL },
                                         { "abcroce", "roce.1000000", NULL } },
                    *const parts[] = { "roce_fast_lane", "longer_gaudi2_roce", "gaudi2_roce", NULL };

  assert_string_equal (fab_nearest ("roce", dashes), "roce-25");
  assert_string_equal (fab_nearest ("roce", signs), "roce_25");
  assert_string_equal (fab_nearest ("roce", parts), "gaudi2_roce");
  for (guint i = 0; i < G_N_ELEMENTS (far); i++) /* though the other one is nearer by its letters */
    assert_string_equal (fab_nearest ("roce", far[i]), far[i][1]);
}

static void
a_slip_is_nearer_than_a_part (G_GNUC_UNUSED void **state)
{
  const char *const names[] = { "ring-tree", "rang", "ring_of_rings", NULL };

  assert_string_equal (fab_nearest ("rong", names), "rang");
  assert_null (fab_nearest ("elephants", names));
}

/* By hand: a name is near when at most a third of the letters of the longer of the two differ, rounded up, or it begins
 * or ends with the word; a swap is one letter, and so is another case none. */
static void
a_third_of_the_letters_may_differ (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *word, *name;
    gboolean is_near;
  } rows[] = {
    { "a", "b", FALSE },
    { "ab", "ax", TRUE },
    { "abc", "abx", TRUE },
    { "abc", "axy", FALSE },
    { "abc", "bac", TRUE },
    { "abc", "ABX", TRUE },
    { "abcd", "abxy", TRUE },
    { "abcd", "axyz", FALSE },
    { "abcd", "badc", TRUE },
    { "abcdef", "abcdxy", TRUE },
    { "abcdef", "abcxyz", FALSE },
    { "abcdefg", "abcdxyz", TRUE },
    { "abcdefg", "abcwxyz", FALSE },
    { "abcd", "abcdefghijklm", TRUE },
    { "abcd", "qrstuvwabcd", TRUE },
    { "abcd", "qrstABCDuvw", TRUE }, /* its letters contain the word */
    { "ab", "abcdef", FALSE },
    { "ab", "x-ab-yzuvw", FALSE },
    { "abc", "x-a.bc-yzuvw", TRUE },
    { "my-llama-model-of-mine", "lla.ma", TRUE },
    { "my-llama-model-of-mine", "lama", FALSE },
    { "abcdef1", "abcdef2", TRUE },
    { "abc1", "abc29", FALSE }, /* another number and one digit more: 3 of 5 */
    { "abc", "abc", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const char *const names[] = { rows[i].name, NULL };
    const char *found = fab_nearest (rows[i].word, names);

    if (found != (rows[i].is_near ? rows[i].name : NULL))
      fail_msg ("%s: %s is %s", rows[i].word, rows[i].name, found != NULL ? "near" : "far");
  }
}

/* Of two names: fewer letters, where a digit for a digit, or one more beside one, counts as two; then the length; then
 * the order. */
static void
the_nearest_of_two_is_found (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][4] = {
    { "abc1", "abc2", "abcx", "abcx" },
    { "abc1", "abc12", "abcd1", "abcd1" },
    { "abc12", "abc1", "ab12", "ab12" },
    { "abc12", "abc2", "ab12", "ab12" },
    { "abcdx", "abcd1", "abcdefg", "abcd1" }, /* no digit stands beside it */
    { "abcd", "abcde", "abce", "abce" },
    { "abcd", "abc", "abce", "abce" },
    { "abcd", "abce", "abcf", "abce" },
    { "abcdef", "abcdfe", "abcdxe", "abcdfe" },
    { "my-llama-of-9-letters", "llama", "llama-of", "llama-of" },
    { "hdr", "a-hdr-bcd", "a-hdr-b", "a-hdr-b" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const char *const names[] = { rows[i][1], rows[i][2], NULL };
    const char *found = fab_nearest (rows[i][0], names);

    if (g_strcmp0 (found, rows[i][3]) != 0)
      fail_msg ("%s: %s, and not %s", rows[i][0], found, rows[i][3]);
  }
}

/* Words and names of more than 63 letters are left alone. */
static void
long_words_are_left_alone (G_GNUC_UNUSED void **state)
{
  for (guint n = 63; n <= 64; n++) {
    g_autofree char *word = g_strnfill (n, 'a'), *name = g_strnfill (n, 'a'), *shorter = g_strnfill (63, 'a');
    const char *const names[] = { name, NULL }, *const shorter_names[] = { shorter, NULL };

    name[7] = 'b';
    assert_ptr_equal (fab_nearest (word, names), n == 63 ? name : NULL);
    assert_ptr_equal (fab_nearest (word, shorter_names), n == 63 ? shorter : NULL);
  }
}

/* At most four names whose summaries say the word, the shortest first; only so much of a summary is read. */
static void
summaries_are_read (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "eeeee", "dddd", "cc", "bbb", "a", "zz", NULL };
  static const char *const said[] = { "A b-c", "x ABC", "ab c.", "abc", NULL, "abd" };
  g_autofree char *found = fab_nearest_said ("a-bc", names, said);

  assert_string_equal (found, "cc, bbb, dddd, eeeee");
  assert_null (fab_nearest_said ("ab", names, said));
  assert_null (fab_nearest_said ("abc", NULL, NULL));
  static const char *const all[] = { "x abc", "x abc", "x abc", "x abc", "x abc", "x abc" };
  g_autofree char *four = fab_nearest_said ("abc", names, all);
  assert_string_equal (four, "a, cc, zz, bbb");
  for (guint n = 249; n <= 250; n++) { /* of 252 letters the last three are the word */
    g_autofree char *long_said = g_strnfill (n + 3, 'x');
    const char *const one[] = { "a", NULL }, *const its[] = { long_said };

    memcpy (long_said + n, "abc", 3);
    g_autofree char *its_name = fab_nearest_said ("abc", one, its);
    assert_int_equal (its_name != NULL, n == 249);
  }
  static const char *const falling[] = { "long", "l", NULL }, *const saying[] = { "zz abc", "z" };
  g_autofree char *once = fab_nearest_said ("abc", falling, saying); /* nothing of one is read in the next */
  assert_string_equal (once, "long");
}

static void
a_note_names_the_nearest_or_nothing (G_GNUC_UNUSED void **state)
{
  g_autofree char *note = fab_nearest_note ("tre", "ring, tree"),
                  *none = fab_nearest_note ("zzzzzz", "ring, tree");

  assert_string_equal (note, "; nearest is tree");
  assert_string_equal (none, "");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (further_parts_begin_behind_a_sign),
    cmocka_unit_test (a_number_behind_is_meant_first),
    cmocka_unit_test (a_slip_is_nearer_than_a_part),
    cmocka_unit_test (a_third_of_the_letters_may_differ),
    cmocka_unit_test (the_nearest_of_two_is_found),
    cmocka_unit_test (long_words_are_left_alone),
    cmocka_unit_test (summaries_are_read),
    cmocka_unit_test (a_note_names_the_nearest_or_nothing),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
