/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_names.c - sizes that nccl-tests runs, as published tables show them. */
#include "formats/measurement/nccl_names.h"

#include "tests/support/test.h"

/* -b 32M -d double over 80 ranks prints 33553920, 2G prints 2147482880 (all_gather on 10 nodes, xxrjun/
 * nccl-tests-cluster nccl_N10_G8.log): parts of a rank are multiples of 16 bytes. */
static void
test_aligned_parts (G_GNUC_UNUSED void **state)
{
  const FabNcclType *type = fab_nccl_type ("double");
  guint64 count;

  assert_int_equal (fab_nccl_size (FAB_OP_ALL_GATHER, 32 << 20, type, 80, &count), 33553920);
  assert_int_equal (count, 33553920 / 8 / 80);
  assert_int_equal (fab_nccl_size (FAB_OP_REDUCE_SCATTER, (FabBytes) 2 << 30, type, 80, &count), 2147482880);
  assert_int_equal (fab_nccl_size (FAB_OP_ALL_TO_ALL, 8 * 80, type, 80, &count), 0);
}

static void
test_whole_elements (G_GNUC_UNUSED void **state)
{
  guint64 count;

  assert_int_equal (fab_nccl_size (FAB_OP_ALL_REDUCE, 1003, fab_nccl_type ("float"), 8, &count), 1000);
  assert_int_equal (count, 250);
  assert_int_equal (fab_nccl_size (FAB_OP_BROADCAST, 3, fab_nccl_type ("double"), 8, &count), 0);
  assert_int_equal (fab_nccl_size (FAB_OP_GATHER, 1000, fab_nccl_type ("half"), 7, &count), 994);
  assert_int_equal (count, 71);
}

static void
test_names (G_GNUC_UNUSED void **state)
{
  FabOp op;

  for (guint i = 0; i < FAB_N_OPS; i++) {
    assert_true (fab_nccl_op (fab_op_names[i], &op) && op == i);
    assert_true (fab_nccl_op (fab_nccl_program ((FabOp) i), &op) && op == i);
  }
  assert_true (fab_nccl_op ("alltoall", &op) && op == FAB_OP_ALL_TO_ALL);
  assert_true (fab_nccl_op ("sendrecv", &op) && op == FAB_OP_SEND_RECV);
  assert_false (fab_nccl_op ("hypercube", &op));
  assert_false (fab_nccl_op ("all_reduce_per", &op));
  assert_null (fab_nccl_type ("quarter"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_aligned_parts),
    cmocka_unit_test (test_whole_elements),
    cmocka_unit_test (test_names),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
