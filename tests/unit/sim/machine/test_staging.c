/* SPDX-License-Identifier: Apache-2.0 */
/* test_staging.c - where bytes are staged in a node: in the nearest host memory, else in the nearest host. */
#include "tests/support/test.h"

#include "sim/machine/staging.h"
#include "tests/support/graphs.h"

enum { NONE = FAB_NO_VERTEX };

static void
the_nearest_memory_is_found_behind_switches_bridges_and_hosts (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *vertices;
    GraphJoin joins[8];
    FabVertexId from, staging;
  } rows[] = {
    { "0ashm", { { 0, 1, 1, 1 }, { 1, 2, 1, 1 }, { 2, 3, 1, 1 } }, 0, 3 },
    { "0absm", { { 0, 1, 1, 1 }, { 1, 2, 1, 1 }, { 2, 3, 1, 1 } }, 0, 3 },
    { "0ash", { { 0, 1, 1, 1 }, { 1, 2, 1, 1 } }, 0, 2 },
    /* the second host has the memory */
    { "0ahhm", { { 0, 1, 1, 1 }, { 1, 2, 1, 1 }, { 2, 3, 1, 1 } }, 0, 3 },
    /* two hosts without memory, of which the far one has the lower number */
    { "0ahh", { { 0, 2, 1, 1 }, { 2, 1, 1, 1 } }, 0, 2 },
    { "0ahh", { { 0, 1, 1, 1 }, { 1, 2, 1, 1 } }, 0, 1 },
    /* two memories, of which the far one has the lower number */
    { "0ahmm", { { 0, 1, 1, 1 }, { 1, 3, 1, 1 }, { 2, 3, 1, 1 } }, 0, 3 },
    { "0ahhmm", { { 0, 2, 1, 1 }, { 2, 1, 1, 1 }, { 1, 3, 1, 1 }, { 2, 4, 1, 1 } }, 0, 4 },
    /* memory and hosts themselves, and a drive */
    { "0mh", { { 0, 1, 1, 1 } }, 0, 0 },
    { "0hm", { { 0, 1, 1, 1 } }, 0, 1 },
    { "0hs", { { 0, 1, 1, 1 } }, 0, 0 },
    { "0dsm", { { 0, 1, 1, 1 }, { 1, 2, 1, 1 } }, 0, 2 },
    /* nothing passes accelerators, NICs, drives, or another node */
    { "0aah", { { 0, 1, 1, 1 }, { 1, 2, 1, 1 } }, 0, NONE },
    { "0anh", { { 0, 1, 1, 1 }, { 1, 2, 1, 1 } }, 0, NONE },
    { "0adh", { { 0, 1, 1, 1 }, { 1, 2, 1, 1 } }, 0, NONE },
    { "0as1hm", { { 0, 1, 1, 1 }, { 1, 2, 1, 1 }, { 2, 3, 1, 1 } }, 0, NONE },
    { "0ahs1m", { { 0, 2, 1, 1 }, { 2, 1, 1, 1 }, { 2, 3, 1, 1 } }, 0, 1 },
    /* a ring of switches is left */
    { "0asssm", { { 0, 1, 1, 1 }, { 1, 2, 1, 1 }, { 2, 3, 1, 1 }, { 3, 1, 1, 1 }, { 3, 4, 1, 1 } }, 0, 4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabGraph) graph = graph_of (rows[i].vertices, rows[i].joins);
    FabVertexId staging = NONE;

    if (fab_staging_near (graph, rows[i].from, &staging) != (rows[i].staging != NONE)
        || staging != rows[i].staging)
      fail_msg ("row %u: %u", i, staging);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_nearest_memory_is_found_behind_switches_bridges_and_hosts),
  };

  return cmocka_run_group_tests_name ("staging", tests, NULL, NULL);
}
