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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (further_parts_begin_behind_a_sign),
    cmocka_unit_test (a_number_behind_is_meant_first),
    cmocka_unit_test (a_slip_is_nearer_than_a_part),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
