/* SPDX-License-Identifier: Apache-2.0 */
/* test_concurrent_kinds.c - which collectives of small jobs may be under way together, known by hand.
 *
 * A job is told by its streams, each of a rank class of its own: "AB" has collective A and then B. A collective that is
 * on two streams is joined by both classes. "A>B" is a task of B that waits for A, "B~A" one of A that waits for B of
 * the iteration before.
 */
#include "tests/support/test.h"

#include <string.h>

#include "sim/shortcut/space/concurrent_kinds.h"

enum { MOST_STREAMS = 3, MOST_COLLECTIVES = 4, MOST_EDGES = 3 };

typedef struct {
  const char *streams[MOST_STREAMS];
  const char *edges[MOST_EDGES];
  /* Pairs that may be under way together in one iteration, and those that may when another one follows. */
  const char *now, *with_next;
} Case;

static FabDag *
dag_of (const Case *self)
{
  static const FabCollectivePlan nothing = { 0 };
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  FabTaskId tasks[MOST_COLLECTIVES] = { 0 };
  gboolean is_there[MOST_COLLECTIVES] = { FALSE };
  guint n = 0;

  for (guint s = 0; s < MOST_STREAMS && self->streams[s] != NULL; s++)
    for (const char *c = self->streams[s]; *c != '\0'; c++)
      n = MAX (n, (guint) (*c - 'A' + 1));
  for (guint c = 0; c < n; c++)
    fab_dag_builder_collective (builder, &nothing, FAB_DIMENSION_OTHER, g_strdup ("c"));
  for (guint s = 0; s < MOST_STREAMS && self->streams[s] != NULL; s++) {
    guint stream = fab_dag_builder_stream (builder, fab_dag_builder_class (builder, "class", s, 1), "comm");

    for (const char *c = self->streams[s]; *c != '\0'; c++) {
      FabTaskId task = fab_dag_builder_join (builder, stream, (guint) (*c - 'A'));

      tasks[*c - 'A'] = is_there[*c - 'A'] ? tasks[*c - 'A'] : task;
      is_there[*c - 'A'] = TRUE;
    }
  }
  for (guint e = 0; e < MOST_EDGES && self->edges[e] != NULL; e++) {
    FabTaskId before = tasks[self->edges[e][0] - 'A'], after = tasks[self->edges[e][2] - 'A'];

    if (self->edges[e][1] == '>')
      fab_dag_builder_after (builder, after, before);
    else
      fab_dag_builder_after_previous (builder, after, before);
  }
  return fab_dag_builder_freeze (builder);
}

/* " AB" when A and B are in `pairs`. */
static gboolean
is_pair (const char *pairs, guint a, guint b)
{
  const char text[] = { (char) ('A' + MIN (a, b)), (char) ('A' + MAX (a, b)), '\0' };

  return strstr (pairs, text) != NULL;
}

static void
assert_case (const Case *self)
{
  static const guint own[] = { 0, 1, 2, 3 };
  g_autoptr (FabDag) dag = dag_of (self);

  for (guint has_next = 0; has_next < 2; has_next++) {
    g_autofree guint8 *may = fab_concurrency_find (dag, has_next, own, MOST_COLLECTIVES);

    for (guint a = 0; a < dag->n_collectives; a++)
      for (guint b = 0; b < dag->n_collectives; b++)
        if (may[a * MOST_COLLECTIVES + b] != is_pair (has_next ? self->with_next : self->now, a, b))
          fail_msg ("%s %s, %u: %c and %c", self->streams[0], self->streams[1], has_next, 'A' + a, 'A' + b);
  }
}

static void
collectives_that_are_not_ordered_may_meet (G_GNUC_UNUSED void **state)
{
  static const Case cases[] = {
    { .streams = { "AB" }, .now = "", .with_next = "" },
    { .streams = { "A", "B" }, .now = "AB", .with_next = "AB" },
    { .streams = { "AB", "C" }, .now = "AC BC", .with_next = "AC BC" },
    /* B waits for A, but the next A for nothing but A. */
    { .streams = { "A", "B" }, .edges = { "A>B" }, .now = "", .with_next = "AB" },
    { .streams = { "A", "B" }, .edges = { "A>B", "B~A" }, .now = "", .with_next = "" },
    /* The next B waits for A, and the next A for B, but neither of this iteration for the other. */
    { .streams = { "A", "B" }, .edges = { "A~B", "B~A" }, .now = "AB", .with_next = "AB" },
    /* Both classes join A: what one has before it comes before what the other has behind it. */
    { .streams = { "BA", "AC" }, .now = "", .with_next = "BC" },
    { .streams = { "AB", "AC" }, .now = "BC", .with_next = "BC" },
    { .streams = { "AB", "AC" }, .edges = { "B>C" }, .now = "", .with_next = "" },
    /* D is after B, which is after A. */
    { .streams = { "AB", "C", "D" }, .edges = { "B>D" }, .now = "AC BC CD", .with_next = "AC BC CD AD BD" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_case (&cases[i]);
}

/* Two that may meet have one kind, or one of them has none. */
static void
kinds_meet_where_some_of_theirs_do (G_GNUC_UNUSED void **state)
{
  const Case beside = { .streams = { "A", "B" } }, behind = { .streams = { "AB" } };
  g_autoptr (FabDag) may_meet = dag_of (&beside), never_meet = dag_of (&behind);
  static const struct {
    guint kinds[MOST_COLLECTIVES];
    guint8 may[2][2];
  } rows[] = {
    { { 0, 0, FAB_NO_KIND, FAB_NO_KIND }, { { 1, 0 }, { 0, 0 } } },
    { { 1, 1, FAB_NO_KIND, FAB_NO_KIND }, { { 0, 0 }, { 0, 1 } } },
    { { 1, 0, FAB_NO_KIND, FAB_NO_KIND }, { { 0, 1 }, { 1, 0 } } },
    { { FAB_NO_KIND, 0, FAB_NO_KIND, FAB_NO_KIND }, { { 0, 0 }, { 0, 0 } } },
    { { 1, FAB_NO_KIND, FAB_NO_KIND, FAB_NO_KIND }, { { 0, 0 }, { 0, 0 } } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree guint8 *some = fab_concurrency_find (may_meet, FALSE, rows[i].kinds, 2),
                      *none = fab_concurrency_find (never_meet, FALSE, rows[i].kinds, 2);

    assert_memory_equal (some, rows[i].may, 4);
    for (guint k = 0; k < 4; k++)
      assert_int_equal (none[k], 0);
  }
}

/* n collectives on one stream are n tasks and n waits, of two iterations, for each of the n: 4 n^2 visits, of which 40
 * million are spent. */
static void
too_much_is_not_looked_at (G_GNUC_UNUSED void **state)
{
  static const FabCollectivePlan nothing = { 0 };

  for (guint n = 3162; n <= 3163; n++) {
    g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
    guint stream = fab_dag_builder_stream (builder, fab_dag_builder_class (builder, "all", 0, 1), "comm");
    g_autofree guint *kinds = g_new0 (guint, n);

    for (guint c = 0; c < n; c++)
      fab_dag_builder_join (builder, stream,
                            fab_dag_builder_collective (builder, &nothing, FAB_DIMENSION_OTHER,
                                                        g_strdup ("c")));
    g_autoptr (FabDag) dag = fab_dag_builder_freeze (builder);
    g_autofree guint8 *may = fab_concurrency_find (dag, FALSE, kinds, 1);

    assert_int_equal (may != NULL, n == 3162);
    assert_true (may == NULL || !may[0]);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (collectives_that_are_not_ordered_may_meet),
    cmocka_unit_test (kinds_meet_where_some_of_theirs_do),
    cmocka_unit_test (too_much_is_not_looked_at),
  };

  return cmocka_run_group_tests_name ("concurrent_kinds", tests, NULL, NULL);
}
