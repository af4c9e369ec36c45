/* SPDX-License-Identifier: Apache-2.0 */
/* test_brief.c - a simulation of which the last iteration alone is recorded says the same of it. */
#include "tests/support/test.h"

#include "tests/support/play.h"

static FabCatalog *catalog;

/* Plays all iterations; the probe is that of the last. */
static Play *
play (const char *job, gboolean is_brief)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 3\ncluster: {node: dgx-a100, nodes: 4, fabric: {kind: leaf_spine, oversubscription: 4}}\n"
      "job: %s\n",
      job);
  Play *self = play_new (catalog, yaml, NULL);

  if (is_brief)
    fab_simulation_set_brief (self->simulation);
  for (guint i = 0; i < 3; i++)
    assert_true (fab_simulation_step (self->simulation));
  return self;
}

#define ASSERT_SAME(list_, type_)                                                                     \
  do {                                                                                                \
    assert_int_equal (brief->list_->len, full->list_->len);                                           \
    if (full->list_->len > 0)                                                                         \
      assert_memory_equal (brief->list_->data, full->list_->data, full->list_->len * sizeof (type_)); \
  } while (FALSE)

static void
assert_same_last (const char *job)
{
  g_autoptr (Play) long_play = play (job, FALSE), short_play = play (job, TRUE);
  const FabProbe *full = fab_simulation_probe (long_play->simulation),
                 *brief = fab_simulation_probe (short_play->simulation);

  assert_memory_equal (&brief->step, &full->step, sizeof full->step);
  ASSERT_SAME (iterations, FabIterationRecord);
  assert_int_equal (brief->exposures->len, full->exposures->len);
  assert_int_equal (brief->path->len, full->path->len);
  assert_int_equal (brief->collectives->len, full->collectives->len);
  for (guint i = 0; i < full->collectives->len; i++) {
    const FabCollectiveRecord *a = &g_array_index (brief->collectives, FabCollectiveRecord, i),
                              *b = &g_array_index (full->collectives, FabCollectiveRecord, i);

    assert_int_equal (a->start_ps, b->start_ps);
    assert_int_equal (a->end_ps, b->end_ps);
    assert_int_equal (a->exposed_ps, b->exposed_ps);
    assert_int_equal (a->binding_link, b->binding_link);
  }
  assert_true (full->spans->len > 0);
  assert_int_equal (brief->spans->len, 0);
  assert_int_equal (brief->link_loads->len, 0);
}

static void
the_last_iteration_is_the_same (G_GNUC_UNUSED void **state)
{
  assert_same_last ("{kind: ddp, model: gpt2-xl, micro_batch: 2}");
  assert_same_last ("{kind: zero, stage: 3, model: gpt2-xl, micro_batch: 1, jitter: {cv: 10%}}");
  assert_same_last (
      "{kind: megatron, model: gpt2-xl, accumulation: 8, distributed_optimizer: true, "
      "overlap_grad_reduce: true, overlap_param_gather: true, parallel: {tensor: 4, pipeline: 4}}");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_last_iteration_is_the_same),
  };
  return play_run_tests ("brief", tests, &catalog);
}
