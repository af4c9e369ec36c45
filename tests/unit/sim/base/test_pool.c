/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool.c - objects come zeroed, apart from each other, and again. */
#include "tests/support/test.h"

#include "sim/base/pool.h"

static void
what_is_given_is_taken_again_last_first (G_GNUC_UNUSED void **state)
{
  FabPool pool;

  fab_pool_init (&pool, 24);
  gpointer first = fab_pool_take (&pool), second = fab_pool_take (&pool);
  fab_pool_give (&pool, first);
  fab_pool_give (&pool, second);
  assert_ptr_equal (fab_pool_take (&pool), second);
  assert_ptr_equal (fab_pool_take (&pool), first);
  assert_int_equal (pool.n_live, 2);
  fab_pool_clear (&pool);
}

static void
memory_is_zeroed_also_when_used_before (G_GNUC_UNUSED void **state)
{
  FabPool pool;
  const char zeros[40] = { 0 };

  fab_pool_init (&pool, sizeof zeros);
  gpointer object = fab_pool_take (&pool);
  memset (object, 0xff, sizeof zeros);
  fab_pool_give (&pool, object);
  assert_memory_equal (fab_pool_take (&pool), zeros, sizeof zeros);
  fab_pool_clear (&pool);
}

/* 1024 objects take four chunks of 256; each is filled with its number and read back at the end. */
static void
objects_do_not_touch_each_other (G_GNUC_UNUSED void **state)
{
  FabPool pool;
  guint32 *objects[1024];

  fab_pool_init (&pool, 5 * sizeof (guint32));
  for (guint32 i = 0; i < 1024; i++) {
    objects[i] = fab_pool_take (&pool);
    assert_int_equal (GPOINTER_TO_SIZE (objects[i]) % 16, 0); /* any type may stand there */
    for (guint k = 0; k < 5; k++)
      objects[i][k] = i;
  }
  for (guint32 i = 0; i < 1024; i++)
    for (guint k = 0; k < 5; k++)
      assert_int_equal (objects[i][k], i);
  assert_int_equal (pool.chunks->len, 4);
  fab_pool_clear (&pool);
}

/* Each begins where any type may stand. */
static void
sizes_are_rounded_up_to_16 (G_GNUC_UNUSED void **state)
{
  static const gsize sizes[][2] = { { 1, 16 }, { 15, 16 }, { 16, 16 }, { 17, 32 }, { 32, 32 }, { 33, 48 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    FabPool pool;

    fab_pool_init (&pool, sizes[i][0]);
    assert_int_equal (pool.object_size, sizes[i][1]);
    fab_pool_clear (&pool);
  }
}

/* A steady state of 10 live objects stays in the first chunk, however long it lasts. */
static void
a_steady_state_does_not_grow (G_GNUC_UNUSED void **state)
{
  FabPool pool;
  gpointer live[10];

  fab_pool_init (&pool, 1);
  for (guint i = 0; i < 10; i++)
    live[i] = fab_pool_take (&pool);
  for (guint i = 0; i < 10000; i++) {
    fab_pool_give (&pool, live[i % 10]);
    live[i % 10] = fab_pool_take (&pool);
  }
  assert_int_equal (pool.chunks->len, 1);
  fab_pool_clear (&pool);
}

static void
a_zeroed_pool_can_be_cleared (G_GNUC_UNUSED void **state)
{
  FabPool pool = { 0 };

  fab_pool_clear (&pool);
  assert_null (pool.chunks);
  fab_pool_init (&pool, 1);
  fab_pool_take (&pool);
  fab_pool_clear (&pool);
  assert_true (pool.chunks == NULL && pool.free_list == NULL && pool.object_size == 0 && pool.n_used == 0
               && pool.n_live == 0);
}

/* 5 and 8 objects are both a block of 8; 3 and 4 are another. */
static void
blocks_are_used_again_by_powers_of_two (G_GNUC_UNUSED void **state)
{
  FabBlocks blocks;

  fab_blocks_init (&blocks, 24);
  gpointer five = fab_blocks_take (&blocks, 5), four = fab_blocks_take (&blocks, 4);
  memset (five, 0xff, 8 * 24);
  memset (four, 0xff, 4 * 24);
  fab_blocks_give (&blocks, five, 5);
  fab_blocks_give (&blocks, four, 4);
  assert_ptr_equal (fab_blocks_take (&blocks, 8), five);
  assert_ptr_equal (fab_blocks_take (&blocks, 3), four);
  assert_ptr_not_equal (fab_blocks_take (&blocks, 1), fab_blocks_take (&blocks, 1));
  gpointer one = fab_blocks_take (&blocks, 1), two = fab_blocks_take (&blocks, 2);
  fab_blocks_give (&blocks, one, 1);
  fab_blocks_give (&blocks, two, 2);
  assert_ptr_equal (fab_blocks_take (&blocks, 1), one);
  assert_ptr_equal (fab_blocks_take (&blocks, 2), two);
  fab_blocks_clear (&blocks); /* frees also what was not given back */
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_is_given_is_taken_again_last_first),
    cmocka_unit_test (memory_is_zeroed_also_when_used_before),
    cmocka_unit_test (objects_do_not_touch_each_other),
    cmocka_unit_test (sizes_are_rounded_up_to_16),
    cmocka_unit_test (a_steady_state_does_not_grow),
    cmocka_unit_test (a_zeroed_pool_can_be_cleared),
    cmocka_unit_test (blocks_are_used_again_by_powers_of_two),
  };

  return cmocka_run_group_tests_name ("pool", tests, NULL, NULL);
}
