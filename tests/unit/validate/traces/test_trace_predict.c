/* SPDX-License-Identifier: Apache-2.0 */
/* test_trace_predict.c - collectives of a measured run, summed up to rows and held against a scenario's machine. */
#include "models/models.h"
#include "tests/support/random.h"
#include "tests/support/test.h"
#include "validate/traces/predict.h"

/* 4 nodes of 8 GPUs. */
static const char text[] = "name: x\ncluster: {node: dgx-h100, nodes: 4}\njob: {kind: ddp, model: gpt2-xl}\n";

typedef struct {
  FabCatalog *catalog;
  FabScenario *machine;
} Fixture;

static int
set_up (void **state)
{
  Fixture *self = g_new0 (Fixture, 1);
  g_autoptr (GError) error = NULL;

  self->catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, &error);
  if (self->catalog == NULL)
    g_error ("%s", error->message);
  self->machine = fab_scenario_parse ("made", text, strlen (text), NULL, &fab_models, self->catalog, &error);
  if (self->machine == NULL)
    g_error ("%s", error->message);
  *state = self;
  return 0;
}

static int
tear_down (void **state)
{
  Fixture *self = *state;

  fab_scenario_free (self->machine);
  fab_catalog_free (self->catalog);
  g_free (self);
  return 0;
}

/* --- an account by hand --- */

static FabTraceAccount *
account_new (void)
{
  FabTraceAccount *self = g_new0 (FabTraceAccount, 1);

  self->collectives = g_array_new (FALSE, FALSE, sizeof (FabCollectiveRecord));
  self->strides = g_array_new (FALSE, FALSE, sizeof (guint));
  return self;
}

static void
account_free (FabTraceAccount *self)
{
  g_array_unref (self->collectives);
  g_array_unref (self->strides);
  g_free (self);
}

static void
add (FabTraceAccount *self, const char *op, guint n_ranks, guint stride, FabBytes bytes, double us)
{
  static FabTimePs start_ps = 5;
  FabCollectiveRecord record = { .op = op,
                                 .n_ranks = n_ranks,
                                 .bytes = bytes,
                                 .start_ps = start_ps,
                                 .end_ps = start_ps + (FabTimePs) (us * 1e6) };

  start_ps += 77;
  g_array_append_val (self->collectives, record);
  g_array_append_val (self->strides, stride);
}

static const FabTracePrediction *
row_at (const GArray *rows, guint i)
{
  return &g_array_index (rows, FabTracePrediction, i);
}

/* --- rows --- */

/* Without a machine: by operation, then ranks, then size; a size of one byte is one, none and an operation that nobody
 * knows are left out. */
static void
equal_collectives_are_one_row (G_GNUC_UNUSED void **state)
{
  static const FabOp ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_ALL_GATHER, FAB_OP_REDUCE_SCATTER };
  static const guint ranks[] = { 2, 8, 9 };
  static const FabBytes sizes[] = { 1, 2, 1024, G_GUINT64_CONSTANT (5000000000) };
  enum { N = 600, N_ROWS = 3 * 3 * 4 };
  FabTraceAccount *account = account_new ();
  double shortest[3][3][4] = { 0 }, times[3][3][4][N];
  guint n_times[3][3][4] = { 0 }, n_left_out = 99, n_wrong = 0, at = 0;
  Random random = { 3 };

  for (guint i = 0; i < N; i++) {
    guint o = random_below (&random, 3), r = random_below (&random, 3), s = random_below (&random, 4);
    double us = 1 + random_below (&random, 1000), *all = times[o][r][s];

    if (random_chance (&random, 5)) {
      n_wrong++;
      if (random_chance (&random, 50))
        add (account, fab_op_names[ops[o]], ranks[r], 1, 0, us);
      else
        add (account, "all_to_none", ranks[r], 1, sizes[s], us);
      continue;
    }
    add (account, fab_op_names[ops[o]], ranks[r], random_below (&random, 20), sizes[s], us);
    if (n_times[o][r][s] == 0 || us < shortest[o][r][s])
      shortest[o][r][s] = us;
    guint k = n_times[o][r][s]++;
    for (; k > 0 && all[k - 1] > us; k--)
      all[k] = all[k - 1];
    all[k] = us;
  }
  g_autoptr (GArray) rows = fab_trace_list (account, &n_left_out);
  assert_int_equal (n_left_out, n_wrong);
  assert_int_equal (rows->len, N_ROWS);
  for (FabOp op = 0; op < FAB_N_OPS; op++)
    for (guint o = 0; o < 3; o++)
      for (guint i = 0; ops[o] == op && i < 12; i++, at++) {
        guint r = i / 4, s = i % 4, n = n_times[o][r][s];
        const FabTracePrediction *row = row_at (rows, at);

        assert_int_equal (row->op, op);
        assert_int_equal (row->n_ranks, ranks[r]);
        assert_int_equal (row->bytes, sizes[s]);
        assert_int_equal (row->place, FAB_TRACE_PACKED);
        assert_int_equal (row->n_times, n);
        assert_near (row->shortest_us, shortest[o][r][s], 1e-9);
        assert_near (row->median_us, (times[o][r][s][(n - 1) / 2] + times[o][r][s][n / 2]) / 2, 1e-9);
        assert_near (row->predicted_us, 0, 0);
        assert_near (fab_trace_prediction_measured_us (row, FALSE), row->shortest_us, 0);
        assert_near (fab_trace_prediction_measured_us (row, TRUE), row->median_us, 0);
      }
  account_free (account);
}

/* A group of all GPUs is the whole machine, whatever its first ranks; one whose first two ranks are at least a node
 * apart has one in each node; others fill nodes. A group that the machine has no room for is left out, and so is one of
 * a single rank. */
static void
where_groups_are (void **state)
{
  static const struct {
    guint n_ranks, stride;
    gboolean fits;
    FabTraceGroupPlace place;
  } cases[] = {
    { 1, 1, FALSE, 0 },
    { 2, 0, TRUE, FAB_TRACE_PACKED },
    { 2, 7, TRUE, FAB_TRACE_PACKED },
    { 2, 8, TRUE, FAB_TRACE_ACROSS },
    { 4, 16, TRUE, FAB_TRACE_ACROSS },
    { 5, 8, FALSE, 0 },
    { 8, 1, TRUE, FAB_TRACE_PACKED },
    { 16, 1, TRUE, FAB_TRACE_PACKED },
    { 32, 1, TRUE, FAB_TRACE_ALL },
    { 32, 8, TRUE, FAB_TRACE_ALL },
    { 33, 1, FALSE, 0 },
    { 64, 1, FALSE, 0 },
  };
  const Fixture *f = *state;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabTraceAccount *account = account_new ();
    guint n_left_out = 99;
    g_autoptr (GError) error = NULL;

    for (guint k = 0; k < 6; k++) /* two sizes, of which one comes twice; and one that is not known */
      add (account, "all_reduce", cases[i].n_ranks, cases[i].stride,
           k == 5  ? 0
           : k % 2 ? 1 << 20
                   : 1 << 16,
           50 + k);
    g_autoptr (GArray) rows = fab_trace_predict (account, f->machine, f->catalog, &fab_models, &n_left_out,
                                                 &error);
    account_free (account);
    assert_int_equal (rows != NULL, cases[i].fits);
    if (rows == NULL) {
      assert_string_equal (
          error->message,
          "no collective of the trace has a size and a group that fits into the machine of the scenario");
      continue;
    }
    assert_int_equal (n_left_out, 1);
    assert_int_equal (rows->len, 2);
    for (guint k = 0; k < 2; k++) {
      const FabTracePrediction *row = row_at (rows, k);

      assert_int_equal (row->place, cases[i].place);
      assert_int_equal (row->bytes, k ? 1 << 20 : 1 << 16);
      assert_int_equal (row->n_times, k ? 2 : 3);
      assert_near (row->shortest_us, k ? 51 : 50, 1e-9);
      assert_near (row->median_us, 52, 1e-9);
      assert_true (row->predicted_us > 0 && row->low_us < row->predicted_us
                   && row->high_us > row->predicted_us);
    }
    assert_true (row_at (rows, 1)->predicted_us > row_at (rows, 0)->predicted_us);
  }
}

/* Rows of several operations and groups together are those of each alone, and what does not fit is counted as often as
 * it came. */
static void
groups_are_predicted_by_themselves (void **state)
{
  static const struct {
    const char *op;
    guint n_ranks, stride;
    FabBytes bytes;
  } kinds[] = {
    { "all_reduce", 8, 1, 1 << 20 },  { "all_reduce", 8, 1, 1 << 24 }, { "all_reduce", 4, 8, 1 << 20 },
    { "all_reduce", 4, 1, 1 << 20 },  { "all_gather", 8, 1, 1 << 20 }, { "all_reduce", 32, 1, 1 << 20 },
    { "all_reduce", 64, 1, 1 << 20 },
  };
  const guint n = G_N_ELEMENTS (kinds);
  const Fixture *f = *state;
  FabTraceAccount *all = account_new ();
  guint n_left_out, n_found = 0;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 3 * n; i++)
    add (all, kinds[i % n].op, kinds[i % n].n_ranks, kinds[i % n].stride, kinds[i % n].bytes, 100);
  g_autoptr (GArray) rows = fab_trace_predict (all, f->machine, f->catalog, &fab_models, &n_left_out, &error);
  assert_non_null (rows);
  assert_int_equal (rows->len, n - 1);
  assert_int_equal (n_left_out, 3);
  for (guint i = 0; i + 1 < n; i++) {
    FabTraceAccount *one = account_new ();

    add (one, kinds[i].op, kinds[i].n_ranks, kinds[i].stride, kinds[i].bytes, 100);
    g_autoptr (GArray) alone = fab_trace_predict (one, f->machine, f->catalog, &fab_models, &n_left_out,
                                                  &error);
    const FabTracePrediction *right = row_at (alone, 0);

    account_free (one);
    assert_int_equal (n_left_out, 0);
    for (guint k = 0; k < rows->len; k++) {
      const FabTracePrediction *row = row_at (rows, k);

      if (row->op != right->op || row->n_ranks != right->n_ranks || row->place != right->place
          || row->bytes != right->bytes)
        continue;
      n_found++;
      assert_int_equal (row->n_times, 3);
      assert_near (row->predicted_us, right->predicted_us, 1e-12);
      assert_near (row->low_us, right->low_us, 1e-12);
      assert_near (row->high_us, right->high_us, 1e-12);
    }
  }
  assert_int_equal (n_found, n - 1);
  account_free (all);
}

/* One rank in each node has a machine of its own in each: four of them are further apart than four in a node. */
static void
a_group_across_nodes_is_slower (void **state)
{
  const Fixture *f = *state;
  double times_us[2];

  for (guint i = 0; i < 2; i++) {
    FabTraceAccount *account = account_new ();
    guint n_left_out;

    add (account, "all_reduce", 4, i ? 8 : 1, 1 << 26, 100);
    g_autoptr (GArray) rows = fab_trace_predict (account, f->machine, f->catalog, &fab_models, &n_left_out,
                                                 NULL);
    times_us[i] = row_at (rows, 0)->predicted_us;
    account_free (account);
  }
  assert_true (times_us[1] > 1.5 * times_us[0]);
}

/* What the machine would choose is what it predicts for all of it; without an operation or a size, there is none. */
static void
what_a_log_names (void **state)
{
  const Fixture *f = *state;
  FabTraceAccount *account = account_new ();
  FabTraceChoice choice = { .op = (char *) "all_reduce", .bytes = 1 };
  FabPrediction chosen;
  guint n_left_out;
  g_autoptr (GError) error = NULL;

  add (account, "all_reduce", 32, 1, 1, 100);
  g_autoptr (GArray) rows = fab_trace_predict (account, f->machine, f->catalog, &fab_models, &n_left_out,
                                               NULL);
  account_free (account);
  assert_true (fab_trace_choose (&choice, f->machine, f->catalog, &fab_models, &chosen, &error));
  assert_int_equal (chosen.n_ranks, 32);
  assert_near (chosen.time_us, row_at (rows, 0)->predicted_us, 1e-12);
  choice.bytes = 0;
  assert_false (fab_trace_choose (&choice, f->machine, f->catalog, &fab_models, &chosen, &error));
  choice.bytes = 1024;
  choice.op = (char *) "all_to_none";
  assert_false (fab_trace_choose (&choice, f->machine, f->catalog, &fab_models, &chosen, &error));
  assert_null (error);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (equal_collectives_are_one_row),
    cmocka_unit_test (where_groups_are),
    cmocka_unit_test (groups_are_predicted_by_themselves),
    cmocka_unit_test (a_group_across_nodes_is_slower),
    cmocka_unit_test (what_a_log_names),
  };

  return cmocka_run_group_tests_name ("trace_predict", tests, set_up, tear_down);
}
