/* SPDX-License-Identifier: Apache-2.0 */
/* test_slow.c - which ranks form a class where some are slower than others. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define HEAD                                                                                               \
  "name: slow\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"                             \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 2, " \
  "hidden: 256, heads: 4, vocabulary: 1000%s}}]\n"                                                         \
  "cluster: {node: dgx-a100, nodes: 1}\n"                                                                  \
  "job: {kind: megatron, model: m, micro_batch: 1, sequence: 128, compute: {kind: mfu}, parallel: {%s}%s}\n"
#define EXPERTS ", experts: {count: 8, per_token: 2, width: 256}"

static Play *
job (const char *experts, const char *parallel, const char *keys)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, experts, parallel, keys);

  return play_new (catalog, yaml, NULL);
}

static double
step_s (const Play *play)
{
  assert_true (fab_simulation_step (play->simulation));
  return fab_ps_to_seconds (fab_simulation_probe (play->simulation)->step.times.duration_ps);
}

/* Ranks that are never divided, because their experts are, stay together: the class of a slow rank has all of them, and
 * its name. All classes together have every rank once. */
static void
a_slow_rank_has_a_class_of_its_own (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *experts, *parallel;
    guint unit;
  } rows[] = {
    { "", "pipeline: 1", 1 },
    { EXPERTS, "expert: 2, order: tp-cp-ep-dp-pp", 2 },
    { EXPERTS, "expert: 4, order: tp-cp-ep-dp-pp", 4 },
    { EXPERTS, "context: 2, expert: 4, expert_tensor: 1, order: tp-cp-ep-dp-pp", 4 },
    { EXPERTS, "tensor: 2, sequence: true, expert: 4, expert_tensor: 1, order: tp-cp-ep-dp-pp", 4 },
    { EXPERTS, "tensor: 2, sequence: true, expert: 2, expert_tensor: 1, order: tp-cp-ep-dp-pp", 2 },
    { EXPERTS, "tensor: 2, sequence: true, context: 2, expert: 2, expert_tensor: 2, order: tp-cp-ep-dp-pp",
      4 }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) even = job (rows[i].experts, rows[i].parallel, "");
    double even_s = step_s (even);

    assert_int_equal (fab_simulation_dag (even->simulation)->n_classes, 1);
    for (guint rank = 0; rank < 8; rank++) {
      g_autofree char *keys = g_strdup_printf (", stragglers: [{rank: %u, slowness: 3}]", rank),
                      *name = g_strdup_printf ("rank %u", rank);
      g_autoptr (Play) play = job (rows[i].experts, rows[i].parallel, keys);
      const FabDag *dag = fab_simulation_dag (play->simulation);
      guint next = 0, n_found = 0;

      for (guint c = 0; c < dag->n_classes; c++) {
        const FabRankClassRecord *one = &dag->classes[c];

        if (strstr (one->name, name) != NULL) {
          n_found++;
          assert_int_equal (one->first_rank, rank / rows[i].unit * rows[i].unit);
          assert_int_equal (one->n_ranks, rows[i].unit);
        }
        next += one->n_ranks;
      }
      assert_int_equal (n_found, 1);
      assert_int_equal (next, 8);
      assert_true (step_s (play) > even_s);
    }
  }
}

/* Several slow ranks: the slowest of them says how long the step takes. */
static void
the_slowest_rank_sets_the_pace (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) one = job ("", "pipeline: 1", ", stragglers: [{rank: 6, slowness: 3}]"),
                   both = job ("", "pipeline: 1",
                               ", stragglers: [{rank: 2, slowness: 2}, {rank: 6, slowness: 3}]");
  const FabDag *dag = fab_simulation_dag (both->simulation);

  assert_int_equal (dag->n_classes, 5); /* 0-1, 2, 3-5, 6, 7 */
  assert_near (step_s (both), step_s (one), 1e-3);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_slow_rank_has_a_class_of_its_own),
    cmocka_unit_test (the_slowest_rank_sets_the_pace),
  };

  return play_run_tests ("slow", tests, &catalog);
}
