/* SPDX-License-Identifier: Apache-2.0 */
/* test_why.c - the sentences that say why one step differs from another, on both sides of every limit. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "answer/variants/contrast.h"

static void
fact_clear (gpointer fact)
{
  g_free (((FabFact *) fact)->name);
}

static FabFactKind
kind_of (const char *name)
{
  guint kind = 0;

  while (kind < FAB_N_FACTS && strcmp (fab_fact_names[kind], name) != 0)
    kind++;
  if (kind == FAB_N_FACTS)
    fail_msg ("there is no fact %s", name);
  return (FabFactKind) kind;
}

/* "step=10; exposed_by:data=3*4" are a step of 10 s, and 3 s of data in 4 collectives. "slowed=1" and "tokens=5" are of
 * the variant. */
static FabVariant *
variant (const char *name, const char *facts)
{
  FabVariant *self = g_new0 (FabVariant, 1);
  g_auto (GStrv) words = g_strsplit (facts, "; ", 0);

  self->name = g_strdup (name);
  self->facts = g_array_new (FALSE, FALSE, sizeof (FabFact));
  g_array_set_clear_func (self->facts, fact_clear);
  for (char **word = words; *word != NULL; word++) {
    char *equals = strchr (*word, '='), *colon = strchr (*word, ':'), *times = strchr (equals, '*');
    double value = g_ascii_strtod (equals + 1, NULL);

    *equals = '\0';
    if (strcmp (*word, "slowed") == 0) {
      self->slowed_s = value;
    } else if (strcmp (*word, "tokens") == 0) {
      self->tokens = value;
    } else {
      if (colon != NULL)
        *colon = '\0';
      FabFact fact = { kind_of (*word), g_strdup (colon != NULL ? colon + 1 : ""),
                       times != NULL ? (guint) g_ascii_strtoull (times + 1, NULL, 10) : 0, value };
      g_array_append_val (self->facts, fact);
    }
  }
  return self;
}

/* Why `now` differs from `then`, which is the second of three so that nothing is taken from the first. */
static void
assert_why (const char *then, const char *now, double change, const char *expected)
{
  GPtrArray *variants = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_variant_free);

  g_ptr_array_add (variants,
                   variant ("another", "step=1; compute=1; collectives:tensor all_gather tree=1*1"));
  g_ptr_array_add (variants, variant ("then", then));
  g_ptr_array_add (variants, variant ("now", now));
  g_autoptr (FabContrast) contrast = fab_contrast_new (variants, 1);
  g_autofree char *words = fab_contrast_explain (contrast, 2, change);
  if (strcmp (words, expected) != 0)
    fail_msg ("of \"%s\" and \"%s\" it says\n%s\nand not\n%s", then, now, words, expected);
}

/* Half a thousandth is no difference. Tokens that differ by a millionth are the same work; without tokens it is too. */
static void
test_changes (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *then, *now;
    double change;
    const char *words;
  } cases[] = {
    { "step=10", "step=10", NAN, "now and then agree on the step to 0.00 %." },
    { "step=10", "step=10", 0.00049, "now and then agree on the step to 0.05 %." },
    { "step=10", "step=10", -0.00049, "now and then agree on the step to 0.05 %." },
    { "step=10", "step=10.1", 0.0005, "now and then agree on the step to 0.05 %." },
    { "step=10", "step=10.1", 0.0006, "now is 0.1 % slower than then." },
    { "step=10", "step=9.9", -0.0006, "now is 0.1 % faster than then." },
    { "step=10", "step=15", NAN, "now is 50.0 % slower than then." },
    { "step=10", "step=5", NAN, "now is 50.0 % faster than then." },
    { "step=0", "step=5", NAN, "now and then agree on the step to 0.00 %." }, /* a share of nothing */
    { "step=10; tokens=1000000", "step=15; tokens=1000000.5", NAN, "now is 50.0 % slower than then." },
    { "step=10; tokens=1000000", "step=15; tokens=1000002", NAN,
      "now takes 50.0 % longer than then for a step of 1 times as many tokens." },
    { "step=10; tokens=1000000", "step=15; tokens=999998", NAN,
      "now takes 50.0 % longer than then for a step of 1 times as many tokens." },
    { "step=10; tokens=4", "step=5; tokens=2", NAN,
      "now takes 50.0 % less time than then for a step of 0.5 times as many tokens." },
    { "step=10; tokens=4", "step=10; tokens=8", NAN,
      "now takes as long as then for a step of 2 times as many tokens." },
    { "step=10; tokens=0", "step=5; tokens=2", NAN, "now is 50.0 % faster than then." },
    { "step=10; tokens=2", "step=5; tokens=0", NAN, "now is 50.0 % faster than then." },
    /* Several plays say that it is faster, these two that it is slower: no part is named. */
    { "step=10; compute=10", "step=11; compute=11", -0.1, "now is 10.0 % faster than then." },
    { "step=10; compute=10", "step=9; compute=9", 0.1, "now is 10.0 % slower than then." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_why (cases[i].then, cases[i].now, cases[i].change, cases[i].words);
}

/* The part that differs most in the direction of the step; of equal ones the first: compute, exposed, idle. What one of
 * the two does not have is 0 there. */
static void
test_parts (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *then, *now, *words;
  } cases[] = {
    { "step=10; compute=10", "step=12; compute=12", "now is 20.0 % slower than then: 2 s more of compute." },
    { "step=10; compute=10", "step=8; compute=8", "now is 20.0 % faster than then: 2 s less of compute." },
    { "step=10; compute=9; idle=1", "step=12; compute=9; idle=3",
      "now is 20.0 % slower than then: 2 s more of waiting without communication." },
    { "step=10; compute=8; idle=2", "step=8; compute=8",
      "now is 20.0 % faster than then: 2 s less of waiting without communication." },
    { "step=10; compute=10", "step=12; compute=10; exposed_by:other=2*1",
      "now is 20.0 % slower than then: 2 s more of communication is exposed." },
    { "step=10; compute=8; exposed_by:tensor=2*1", "step=8; compute=8",
      "now is 20.0 % faster than then: 2 s less of the tensor-parallel communication is exposed." },
    /* The larger of two, wherever it stands. */
    { "step=10; compute=8; exposed_by:data=1*1; exposed_by:tensor=1*1",
      "step=13; compute=8; exposed_by:data=2*1; exposed_by:tensor=3*1",
      "now is 30.0 % slower than then: 2 s more of the tensor-parallel communication is exposed." },
    { "step=10; compute=8; exposed_by:data=1*1; exposed_by:tensor=1*1",
      "step=13; compute=8; exposed_by:data=3*1; exposed_by:tensor=2*1",
      "now is 30.0 % slower than then: 2 s more of the data-parallel communication is exposed." },
    /* What goes the other way is not named, however large. */
    { "step=10; compute=9; idle=1", "step=11; compute=3; idle=8",
      "now is 10.0 % slower than then: 7 s more of waiting without communication." },
    { "step=10; compute=2; idle=8", "step=9; compute=9",
      "now is 10.0 % faster than then: 8 s less of waiting "
      "without communication." },
    /* Equal ones. */
    { "step=10; compute=9; idle=1", "step=12; compute=10; idle=2",
      "now is 20.0 % slower than then: 1 s more of compute." },
    { "step=10; compute=8; exposed_by:data=1*1; idle=1", "step=12; compute=8; exposed_by:data=2*1; idle=2",
      "now is 20.0 % slower than then: 1 s more of the data-parallel communication is exposed." },
    /* More than half of what compute takes longer, it is held back by collectives. */
    { "step=10; compute=10", "step=12; compute=12; slowed=1",
      "now is 20.0 % slower than then: 2 s more of compute." },
    { "step=10; compute=10", "step=12; compute=12; slowed=1.01",
      "now is 20.0 % slower than then: 2 s more of compute, which is slower beside collectives." },
    { "step=10; compute=10; slowed=1", "step=12; compute=12; slowed=2.01",
      "now is 20.0 % slower than then: 2 s more of compute, which is slower beside collectives." },
    { "step=10; compute=10; slowed=2", "step=12; compute=12",
      "now is 20.0 % slower than then: 2 s more of compute." },
    { "step=10; compute=10; slowed=2", "step=8; compute=8",
      "now is 20.0 % faster than then: 2 s less of compute, which is slower beside collectives." },
    { "step=10; compute=10", "step=8; compute=8; slowed=2",
      "now is 20.0 % faster than then: 2 s less of compute." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_why (cases[i].then, cases[i].now, NAN, cases[i].words);
}

#define RING "collectives:data all_reduce ring="
#define TREE "collectives:data all_reduce tree="
#define IDLE_NETWORK ", all of it beyond what they take on an idle network."

/* Of the collectives that take most of the difference: how many, by how much, and whether others are in their way. */
static void
test_collectives (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *then, *now, *words;
  } cases[] = {
    { RING "3*4", RING "5*4", " Its 4 collectives (data all_reduce ring) take 2 s more in total." },
    { RING "5*4", RING "3*4", " Its 4 collectives (data all_reduce ring) take 2 s less in total." },
    { RING "3*1", RING "5*1", " Its 1 collective (data all_reduce ring) takes 2 s more in total." },
    { RING "3*4", RING "5*1",
      " Its 1 collective (data all_reduce ring), 4 before, takes 2 s more in total." },
    /* The larger of two sorts, in the direction of the step alone. */
    { RING "3*4; collectives:tensor all_gather ring=1*2", RING "4*4; collectives:tensor all_gather ring=3*2",
      " Its 2 collectives (tensor all_gather ring) take 2 s more in total." },
    { RING "9*4; collectives:tensor all_gather ring=1*2", RING "1*4; collectives:tensor all_gather ring=3*2",
      " Its 2 collectives (tensor all_gather ring) take 2 s more in total." },
    /* What contends makes all of it, to a hundredth of itself. */
    { RING "3*4", RING "5*4; contention:data all_reduce ring=1.99*4",
      " Its 4 collectives (data all_reduce ring) take 2 s more in total" IDLE_NETWORK },
    { RING "3*4", RING "5*4; contention:data all_reduce ring=1.97*4",
      " Its 4 collectives (data all_reduce ring) take 2 s more in total." },
    { RING "3*4", RING "5*4; contention:data all_reduce ring=2.03*4",
      " Its 4 collectives (data all_reduce ring) take 2 s more in total." },
    { RING "3*4", RING "5*4; contention:data all_reduce tree=2*4",
      " Its 4 collectives (data all_reduce ring) take 2 s more in total." },
    /* A sum that is longer than the step, on either side, is of collectives that overlap. */
    { RING "3*4", RING "12.5*4",
      " Its 4 collectives (data all_reduce ring) take 9.5 s more in total over collectives that overlap." },
    { RING "12.5*4", RING "3*4",
      " Its 4 collectives (data all_reduce ring) take 9.5 s less in total over collectives that overlap." },
    /* Other algorithms of the same collectives are held together. */
    { RING "3*4", TREE "5*4", " Its data all_reduce uses tree in place of ring: 2 s more in total." },
    { RING "5*4", TREE "3*4", " Its data all_reduce uses tree in place of ring: 2 s less in total." },
    { RING "3*4", RING "4*2; " TREE "1*2", " Its data all_reduce uses tree: 2 s more in total." },
    { RING "4*2; " TREE "1*2", RING "3*4", " Its data all_reduce no longer uses tree: 2 s less in total." },
    { "idle=0", RING "1*2; " TREE "2*2", " Its data all_reduce uses tree, ring: 3 s more in total." },
    { "idle=0", "collectives:barrier=2*3",
      " Its 3 collectives (barrier), 0 before, take 2 s more in total." },
    { RING "3*4; collectives:data all_reduced ring=1*1", TREE "5*4",
      " Its data all_reduce uses tree in place of ring: 2 s more in total." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gboolean is_less = strstr (cases[i].words, "less") != NULL;
    g_autofree char *then = g_strconcat (is_less ? "step=12; " : "step=10; ", cases[i].then, NULL),
                    *now = g_strconcat (is_less ? "step=10; " : "step=12; ", cases[i].now, NULL),
                    *words = g_strdup_printf ("now is %s than then.%s",
                                              is_less ? "16.7 % faster" : "20.0 % slower", cases[i].words);

    assert_why (then, now, NAN, words);
  }
}

#define WAITS "waiting:data all_reduce ring="

/* Waits are told where they are more than a tenth of the difference of the steps, which is 2 s here. */
static void
test_waits (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *then, *now, *words;
  } cases[] = {
    { "step=10; " WAITS "1*1", "step=12; " WAITS "3*1",
      "now is 20.0 % slower than then. Its data all_reduce ring waits 2 s longer for its last rank." },
    { "step=12; " WAITS "3*1", "step=10; " WAITS "1*1",
      "now is 16.7 % faster than then. Its data all_reduce ring waits 2 s less for its last rank." },
    { "step=10; " WAITS "1*1", "step=12; " WAITS "1.2*1", "now is 20.0 % slower than then." },
    { "step=10; " WAITS "1*1", "step=12; " WAITS "1.21*1",
      "now is 20.0 % slower than then. Its data all_reduce ring waits 210 ms longer for its last rank." },
    { "step=10; " WAITS "1*1", "step=12; " WAITS "13*1",
      "now is 20.0 % slower than then. Its data all_reduce ring waits 12 s longer for its last rank, in total over "
      "waits that overlap." },
    { "step=10; " RING "1*1; " WAITS "1*1", "step=12; " RING "2*1; " WAITS "3*1",
      "now is 20.0 % slower than then. Its 1 collective (data all_reduce ring) takes 1 s more in total; data "
      "all_reduce ring waits 2 s longer for its last rank." },
    { "step=10; " RING "1*1; " WAITS "3*1", "step=12; " RING "2*1; " WAITS "1*1",
      "now is 20.0 % slower than then. Its 1 collective (data all_reduce ring) takes 1 s more in total." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_why (cases[i].then, cases[i].now, NAN, cases[i].words);
}

/* --- rows --- */

/* By kind; links and collectives by the largest difference and then by name, all others as they came. */
static void
test_order_of_rows (G_GNUC_UNUSED void **state)
{
  static const char *const expected[] = {
    "step:",         "compute:",     "exposed_by:tensor", "exposed_by:data", "collectives:c", "collectives:a",
    "collectives:b", "contention:b", "contention:a",      "link:z",          "link:x",        "link:y",
  };
  GPtrArray *variants = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_variant_free);

  g_ptr_array_add (variants,
                   variant ("one", "step=9; compute=5; exposed_by:tensor=1*1; exposed_by:data=1*1; "
                                   "collectives:b=1*1; collectives:a=1*1; contention:b=0*1; link:y=1"));
  g_ptr_array_add (
      variants, variant ("two", "step=9; compute=5; exposed_by:data=4*1; collectives:c=3*1; "
                                "collectives:a=2*1; contention:a=5*1; contention:b=0*1; link:x=1; link:z=4; "
                                "link:y=2"));
  g_autoptr (FabContrast) contrast = fab_contrast_new (variants, 0);
  assert_int_equal (contrast->rows->len, G_N_ELEMENTS (expected));
  for (guint i = 0; i < contrast->rows->len; i++) {
    const FabContrastRow *row = &g_array_index (contrast->rows, FabContrastRow, i);
    g_autofree char *name = g_strdup_printf ("%s:%s", fab_fact_names[row->kind], row->name);

    assert_string_equal (name, expected[i]);
  }
  const FabContrastRow *tensor = &g_array_index (contrast->rows, FabContrastRow, 2);
  assert_true (tensor->times_s[0] == 1 && isnan (tensor->times_s[1]));
  assert_int_equal (tensor->counts[0], 1);
  assert_int_equal (tensor->counts[1], 0);
  assert_int_equal (tensor->n, 1);
  assert_near (fab_contrast_spread_s (contrast, tensor), 1, 1e-12);
}

/* Differences that are the same but for rounding are in the order of names. */
static void
test_rounding_moves_no_row (G_GNUC_UNUSED void **state)
{
  GPtrArray *variants = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_variant_free);

  g_ptr_array_add (variants, variant ("one", "link:b=1; link:a=1; link:d=1; link:c=1"));
  g_ptr_array_add (variants, variant ("two", "link:b=2.0000000001; link:a=2; link:d=2.00001; link:c=2"));
  g_autoptr (FabContrast) contrast = fab_contrast_new (variants, 1);
  for (guint i = 0; i < 4; i++)
    assert_string_equal (g_array_index (contrast->rows, FabContrastRow, i).name,
                         ((const char *const[]){ "d", "a", "b", "c" })[i]);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_changes),       cmocka_unit_test (test_parts),
    cmocka_unit_test (test_collectives),   cmocka_unit_test (test_waits),
    cmocka_unit_test (test_order_of_rows), cmocka_unit_test (test_rounding_moves_no_row),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
