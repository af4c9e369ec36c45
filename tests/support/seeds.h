/* SPDX-License-Identifier: Apache-2.0 */
/* seeds.h - a property, checked for many seeds; the seed that fails is printed.
 *
 * FAB_TEST_SEED=17 runs that seed alone; FAB_TEST_ROUNDS=100 runs a hundred times as many.
 */
#pragma once

#include "tests/support/random.h"

typedef void (*SeedFn) (Random *random);

/* Calls `check` with the seeds 1 to n; under sanitizers with a third of them. */
void seeds_run (guint n, SeedFn check);
/* Whether seeds_run () takes all seeds, so that rare cases are among them. */
gboolean seeds_are_all (void);
/* Whether a test of many alike entries takes the one at this index; under sanitizers every third. */
gboolean seeds_take (guint index);

/* The row of a test that calls seeds_run (): `cmocka_unit_test` that names the seed when it fails. */
#define seeds_test(test) cmocka_unit_test_teardown (test, seeds_teardown)
int seeds_teardown (void **state);
