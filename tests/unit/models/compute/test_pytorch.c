/* SPDX-License-Identifier: Apache-2.0 */
/* test_pytorch.c - releases of PyTorch: which one a text or a month means, and what it does. */
#include "tests/support/test.h"

#include "models/models.h"

static guint
release (guint major, guint minor)
{
  return major * 100 + minor;
}

/* A month means the newest release that was out: 2.0 came out in March 2023, 2.1 in October, 2.9 in October 2025
 * (pytorch.org/blog). */
static void
months_and_names_are_releases (G_GNUC_UNUSED void **state)
{
  const struct {
    const char *text;
    guint release;
  } cases[] = {
    { "2.0", release (2, 0) },
    { "2.10", release (2, 10) },
    { "1.13", release (1, 13) },
    { "2023-02", release (1, 13) },
    { "2023-03", release (2, 0) },
    { "2023-09", release (2, 0) },
    { "2023-10", release (2, 1) },
    { "2024-01", release (2, 2) },
    { "2024-12", release (2, 5) },
    { "2025-09", release (2, 8) },
    { "2025-10", release (2, 9) },
    { "2001-12", release (1, 8) },
    { "2099-12", release (2, 11) },
    { "0.4", 0 },
    { "2.99", 0 },
    { "2023-00", 0 },
    { "2023-13", 0 },
    { "2023-1x", 0 },
    { "2.0.1", 0 },
    { "2", 0 },
    { "", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    if (fab_pytorch_release (cases[i].text) != cases[i].release)
      fail_msg ("'%s' is %u, and not %u", cases[i].text, fab_pytorch_release (cases[i].text),
                cases[i].release);
}

static void
releases_have_names (G_GNUC_UNUSED void **state)
{
  const char *const names[] = { "1.8", "1.13", "2.0", "2.9", "2.10", "2.11" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *name = fab_pytorch_name (fab_pytorch_release (names[i]));

    assert_string_equal (name, names[i]);
  }
}

/* PyTorch 2.8 no longer has kernels for Pascal and Volta. */
static void
the_usual_release_has_kernels_for_the_gpu (G_GNUC_UNUSED void **state)
{
  assert_int_equal (fab_pytorch_usual ("pascal"), release (2, 7));
  assert_int_equal (fab_pytorch_usual ("volta"), release (2, 7));
  assert_int_equal (fab_pytorch_usual ("turing"), release (2, 11));
  assert_int_equal (fab_pytorch_usual ("hopper"), release (2, 11));
  assert_int_equal (fab_pytorch_usual (NULL), release (2, 11));
}

static void
kernels_are_those_of_the_release (G_GNUC_UNUSED void **state)
{
  assert_int_equal (fab_pytorch_attention (release (1, 13), "ampere"), FAB_ATTENTION_UNFUSED);
  assert_int_equal (fab_pytorch_attention (release (2, 11), "turing"), FAB_ATTENTION_UNFUSED);
  assert_int_equal (fab_pytorch_attention (release (2, 0), "ampere"), FAB_ATTENTION_FLASH1);
  assert_int_equal (fab_pytorch_attention (release (2, 1), "hopper"), FAB_ATTENTION_FLASH1);
  assert_int_equal (fab_pytorch_attention (release (2, 2), "hopper"), FAB_ATTENTION_FLASH2);
  assert_int_equal (fab_pytorch_attention (release (2, 8), "hopper"), FAB_ATTENTION_FLASH2);
  assert_int_equal (fab_pytorch_attention (release (2, 9), "hopper"), FAB_ATTENTION_CUDNN);
  assert_int_equal (fab_pytorch_attention (release (2, 10), "blackwell"), FAB_ATTENTION_FLASH2);
  assert_int_equal (fab_pytorch_attention (release (2, 11), "blackwell"), FAB_ATTENTION_CUDNN);
  assert_int_equal (fab_pytorch_attention (release (2, 11), "ampere"), FAB_ATTENTION_FLASH2);
  assert_false (fab_pytorch_has_fused_norm (release (2, 8)));
  assert_true (fab_pytorch_has_fused_norm (release (2, 9)));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (months_and_names_are_releases),
    cmocka_unit_test (releases_have_names),
    cmocka_unit_test (the_usual_release_has_kernels_for_the_gpu),
    cmocka_unit_test (kernels_are_those_of_the_release),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
