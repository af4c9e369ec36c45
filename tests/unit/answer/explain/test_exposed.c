/* SPDX-License-Identifier: Apache-2.0 */
/* test_exposed.c - when compute waits for communication, and for which: the sentences against the spans of the run.
 *
 * Between two neighbouring beginnings or ends of spans nothing changes, so that each such piece is communication alone
 * or not. Pieces that touch are one gap.
 */
#include "tests/unit/answer/explain/explained.h"

#include "sim/execution/overlap.h"

#define JOB                                                                                                \
  "name: t\niterations: 2\nmodels: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: " \
  "transformer, layers: 4, hidden: 1024, heads: 8, vocabulary: 1000, tied: false, biases: false}}]\n"      \
  "cluster: {node: dgx-a100, nodes: 2, gpus_per_node: 4, nics_per_node: 2}\ncollectives: plain\n"          \
  "job: {model: m, micro_batch: 1, sequence: 512, compute: {kind: mfu, mfu: 50%%}, %s}\n"

enum { MOST_SHOWN = 3 };

static FabCatalog *catalog;

static const char *const jobs[] = {
  "kind: ddp",
  "kind: ddp, bucket: 1MB",
  "kind: fsdp",
  "kind: zero, stage: 3",
  "kind: megatron, parallel: {pipeline: 2}, accumulation: 4",
  "kind: megatron, parallel: {tensor: 4}",
  "kind: megatron, parallel: {tensor: 2, pipeline: 2}, accumulation: 2",
  /* The gradients are all-reduced once, for 24 micro-batches whose layers are. */
  "kind: megatron, parallel: {tensor: 4}, accumulation: 24",
};

/* Of one rank class. */
typedef struct {
  const Explained *explained;
  guint rank_class;
  GArray *gaps; /* FabInterval, the longest first */
} Waits;

static const FabSpanRecord *
span_at (const Waits *self, guint i)
{
  const GArray *spans = fab_simulation_probe (self->explained->play->simulation)->spans;
  const FabSpanRecord *span = i < spans->len ? &g_array_index (spans, FabSpanRecord, i) : NULL;

  return span != NULL && span->rank_class == self->rank_class ? span : NULL;
}

static guint
n_spans (const Waits *self)
{
  return fab_simulation_probe (self->explained->play->simulation)->spans->len;
}

static gboolean
is_busy (const Waits *self, FabSpanKind kind, FabTimePs at_ps)
{
  for (guint i = 0; i < n_spans (self); i++) {
    const FabSpanRecord *span = span_at (self, i);

    if (span != NULL && span->kind == kind && span->start_ps <= at_ps && at_ps < span->end_ps)
      return TRUE;
  }
  return FALSE;
}

static int
earlier (gconstpointer a, gconstpointer b)
{
  FabTimePs x = *(const FabTimePs *) a, y = *(const FabTimePs *) b;

  return (x > y) - (x < y);
}

static int
longer (gconstpointer a, gconstpointer b)
{
  const FabInterval *x = a, *y = b;
  FabTimePs length_x = x->end_ps - x->start_ps, length_y = y->end_ps - y->start_ps;

  return length_x != length_y ? (length_x < length_y) - (length_x > length_y)
                              : (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

static void
find_gaps (Waits *self)
{
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (FabTimePs));

  for (guint i = 0; i < n_spans (self); i++)
    if (span_at (self, i) != NULL) {
      g_array_append_val (edges, span_at (self, i)->start_ps);
      g_array_append_val (edges, span_at (self, i)->end_ps);
    }
  g_array_sort (edges, earlier);
  for (guint i = 0; i + 1 < edges->len; i++) {
    FabInterval piece = { g_array_index (edges, FabTimePs, i), g_array_index (edges, FabTimePs, i + 1) };
    FabInterval *last = self->gaps->len > 0 ? &g_array_index (self->gaps, FabInterval, self->gaps->len - 1)
                                            : NULL;

    if (piece.start_ps == piece.end_ps || !is_busy (self, FAB_SPAN_COMM, piece.start_ps)
        || is_busy (self, FAB_SPAN_COMPUTE, piece.start_ps))
      continue;
    if (last != NULL && last->end_ps == piece.start_ps)
      last->end_ps = piece.end_ps;
    else
      g_array_append_val (self->gaps, piece);
  }
  g_array_sort (self->gaps, longer);
}

/* "`A` and `B`" or one of them: the compute that ends at the latest before the gap, that begins first after it. */
static const FabSpanRecord *
beside (const Waits *self, FabInterval gap, gboolean is_before)
{
  const FabSpanRecord *found = NULL;

  for (guint i = 0; i < n_spans (self); i++) {
    const FabSpanRecord *span = span_at (self, i);

    if (span == NULL || span->kind != FAB_SPAN_COMPUTE || span->end_ps == span->start_ps)
      continue;
    if (is_before ? span->end_ps <= gap.start_ps && (found == NULL || span->end_ps > found->end_ps)
                  : span->start_ps >= gap.end_ps && (found == NULL || span->start_ps < found->start_ps))
      found = span;
  }
  return found;
}

/* The communication in the gap whose end is nearest to that of the gap. (transfer full) */
static char *
talk (const Waits *self, FabInterval gap)
{
  const FabSpanRecord *nearest = NULL;
  guint n = 0;

  for (guint i = 0; i < n_spans (self); i++) {
    const FabSpanRecord *span = span_at (self, i);

    if (span == NULL || span->kind != FAB_SPAN_COMM || span->start_ps >= gap.end_ps
        || span->end_ps <= gap.start_ps)
      continue;
    n++;
    if (nearest == NULL || ABS (span->end_ps - gap.end_ps) < ABS (nearest->end_ps - gap.end_ps))
      nearest = span;
  }
  assert_non_null (nearest);
  return n == 1 ? g_strdup (nearest->name)
                : g_strdup_printf ("%s, with %u more under way", nearest->name, n - 1);
}

static char *
sentence (const Waits *self, FabInterval gap)
{
  const FabSpanRecord *before = beside (self, gap, TRUE), *after = beside (self, gap, FALSE);
  g_autofree char *length = fab_term_show (FAB_TERM_TIME, (double) (gap.end_ps - gap.start_ps) / 1e12);
  g_autofree char *under_way = talk (self, gap);

  if (before == NULL)
    return g_strdup_printf ("%s at the beginning: `%s` cannot begin before what it needs is there (%s).",
                            length, after->name, under_way);
  if (after == NULL)
    return g_strdup_printf ("%s at the end, after `%s`: nothing is left to compute beside it (%s).", length,
                            before->name, under_way);
  return g_strdup_printf ("%s between `%s` and `%s`, which waits for it (%s).", length, before->name,
                          after->name, under_way);
}

static void
check_gaps (Waits *self, const FabStatement *statement)
{
  const FabDag *dag = fab_simulation_dag (self->explained->play->simulation);
  guint at = 0;

  find_gaps (self);
  assert_true (self->gaps->len > 0);
  g_autofree char *head = g_strdup_printf ("Compute waits %u %s%s%s. The longest:", self->gaps->len,
                                           self->gaps->len == 1 ? "time" : "times",
                                           dag->n_classes > 1 ? " in " : "",
                                           dag->n_classes > 1 ? dag->classes[self->rank_class].name : "");
  while (at < statement->notes->len && strcmp (g_ptr_array_index (statement->notes, at), head) != 0)
    at++;
  if (at == statement->notes->len) {
    g_autofree char *text = explained_text (statement);

    fail_msg ("\"%s\" is not in\n%s", head, text);
  }
  for (guint i = 0; i < MIN (self->gaps->len, MOST_SHOWN); i++) {
    g_autofree char *expected = sentence (self, g_array_index (self->gaps, FabInterval, i));

    assert_true (at + 1 + i < statement->notes->len);
    assert_string_equal (g_ptr_array_index (statement->notes, at + 1 + i), expected);
  }
  assert_int_equal (statement->notes->len, at + 1 + MIN (self->gaps->len, MOST_SHOWN));
}

/* The class that waits longest, and of equal ones the first. */
static guint
waiting_class (const Explained *self)
{
  const GArray *iterations = fab_simulation_probe (self->play->simulation)->iterations;
  guint found = 0;

  for (guint c = 0; c < iterations->len; c++)
    if (g_array_index (iterations, FabIterationRecord, c).exposed_ps
        > g_array_index (iterations, FabIterationRecord, found).exposed_ps)
      found = c;
  return found;
}

static void
the_longest_waits_are_told (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    g_autofree char *yaml = g_strdup_printf (JOB, jobs[i]);
    g_auto (Explained) it = explained (catalog, yaml, "exposed_time");
    Waits waits = { &it, waiting_class (&it), g_array_new (FALSE, FALSE, sizeof (FabInterval)) };

    check_gaps (&waits, explained_find (&it, "exposed"));
    g_array_unref (waits.gaps);
  }
}

/* --- dimensions --- */

/* Of all rank classes, weighted by their ranks. */
static double
exposed_by (const Explained *self, const char *dimension)
{
  const GArray *exposures = fab_simulation_probe (self->play->simulation)->exposures;
  const FabDag *dag = fab_simulation_dag (self->play->simulation);
  double sum = 0;

  for (guint i = 0; i < exposures->len; i++) {
    const FabExposureRecord *record = &g_array_index (exposures, FabExposureRecord, i);

    if (strcmp (record->dimension, dimension) == 0)
      sum += (double) record->exposed_ps / 1e12 * dag->classes[record->rank_class].n_ranks / 8;
  }
  return sum;
}

/* Of the first rank class alone, which is named where there are others. */
static void
check_operations (const Explained *self, const FabStatement *statement)
{
  const GArray *exposures = fab_simulation_probe (self->play->simulation)->exposures;
  const FabDag *dag = fab_simulation_dag (self->play->simulation);
  guint n = 0;

  for (guint i = 0; i < exposures->len; i++) {
    const FabExposureRecord *record = &g_array_index (exposures, FabExposureRecord, i);

    if (strcmp (record->dimension, statement->name) != 0 || record->rank_class != 0)
      continue;
    g_autofree char *bytes = fab_term_show (FAB_TERM_BYTES, (double) record->bytes);
    g_autofree char *comm = fab_term_show (FAB_TERM_TIME, (double) record->comm_ps / 1e12);
    g_autofree char *exposed = fab_term_show (FAB_TERM_TIME, (double) record->exposed_ps / 1e12);
    g_autofree char *expected = g_strdup_printf (
        "%u x %s%s%s, %s in all: under way for %s, of which %s is exposed.", record->n_collectives,
        record->op, dag->n_classes > 1 ? " of " : "", dag->n_classes > 1 ? dag->classes[0].name : "", bytes,
        comm, exposed);

    assert_string_equal (g_ptr_array_index (statement->notes, n++), expected);
  }
  if (n < statement->notes->len)
    assert_null (strstr (g_ptr_array_index (statement->notes, n), " in all: under way"));
}

/* Under way, and hidden: the rest is exposed. */
static void
check_times (const Explained *self, const FabStatement *all, const char *formula)
{
  g_autoptr (FabPoint) point = fab_study_point (self->study, NULL);
  g_autofree char *comm = fab_term_show (FAB_TERM_TIME, point->comm_s),
                  *hidden = fab_term_show (FAB_TERM_TIME, point->comm_s - point->exposed_s);
  g_autofree char *expected = g_strdup_printf (
      "Communication is under way for %s of the step; %s of that is hidden under compute.", comm, hidden);

  assert_string_equal (all->formula, formula);
  assert_string_equal (g_ptr_array_index (all->notes, 0), expected);
  assert_int_equal (explained_has_note (all,
                                        "It takes longer than compute, so no overlap could hide all of it."),
                    point->comm_s > point->compute_s);
}

/* The parts add up to the whole; each is a statement, and the dimensions that expose enough have a collective below it.
 */
static void
dimensions_add_up (G_GNUC_UNUSED void **state)
{
  guint n_small = 0;

  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    g_autofree char *yaml = g_strdup_printf (JOB, jobs[i]);
    g_auto (Explained) it = explained (catalog, yaml, "exposed_time");
    const FabStatement *all = explained_find (&it, "exposed");
    g_autoptr (GString) formula = g_string_new (NULL);
    double sum = 0;

    assert_int_equal (all->depth, 0);
    for (guint d = 0; d < FAB_N_DIMENSIONS; d++) {
      double seconds = exposed_by (&it, fab_dimension_names[d]),
             term = explained_term (all, fab_dimension_names[d]);
      const FabStatement *statement = explained_find (&it, fab_dimension_names[d]);

      sum += seconds;
      if (seconds > 0) {
        g_string_append_printf (formula, "%s%s", *formula->str ? " + " : "", fab_dimension_names[d]);
        assert_near (term, seconds, 1e-9);
        assert_int_equal (statement->depth, 1);
        assert_near (statement->value, seconds, 1e-9);
      } else {
        assert_true (isnan (term));
      }
    }
    assert_near (all->value, sum, 1e-9);
    check_times (&it, all, formula->str);
    for (guint k = 1; k < it.out->statements->len; k++) {
      const FabStatement *dimension = g_ptr_array_index (it.out->statements, k);
      const FabStatement *below = k + 1 < it.out->statements->len
                                    ? g_ptr_array_index (it.out->statements, k + 1)
                                    : NULL;

      if (dimension->depth != 1)
        continue;
      check_operations (&it, dimension);
      assert_int_equal (below != NULL && below->depth == 2, dimension->value >= 0.01 * all->value);
      n_small += dimension->value < 0.01 * all->value;
    }
  }
  assert_true (n_small > 0);
}

static void
the_share_of_a_dimension_is_explained_by_it_alone (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = g_strdup_printf (JOB, jobs[6]);
  g_auto (Explained) it = explained (catalog, yaml, "exposed.tensor");
  const FabStatement *share = g_ptr_array_index (it.out->statements, 0);

  assert_string_equal (share->title, "exposed.tensor, share of the step");
  assert_string_equal (share->formula, "tensor / step");
  assert_near (explained_term (share, "tensor"), exposed_by (&it, "tensor"), 1e-9);
  assert_near (share->value, explained_term (share, "tensor") / explained_term (share, "step"), 1e-9);
  assert_int_equal (share->notes->len, 0);
  assert_string_equal (((FabStatement *) g_ptr_array_index (it.out->statements, 1))->name, "tensor");
  assert_null (explained_find (&it, "compute"));
}

/* --- one machine by hand --- */

/* Collectives one after another: bytes of a size are alike, whatever is between them, and the most exposed come first.
 * Each GPU has 5 x 2 x 5 GB/s = 50 GB/s, of which 0.8 x 128 / 160 are payload: 32 GB/s. An all-gather over 4 ranks is
 * 3 steps of 2 us and 3/4 of its size, a broadcast the chain's. */
static void
alike_collectives_are_told_together (G_GNUC_UNUSED void **state)
{
  g_auto (Explained) it = explained (
      catalog,
      "name: t\nlinks: [{name: wire, technology: NVLink, lanes: 2, signalling: 40Gb/s, latency: 1us, "
      "copy: {payload: 256B, overhead: 64B, achievable: 0.5}, "
      "kernel: {payload: 128B, overhead: 32B, achievable: 0.8}}]\n"
      "nodes:\n  - name: own\n    accelerator: a100-sxm4-80gb\n"
      "    parts: [{name: gpu, kind: accelerator, count: 4}, {name: sw, kind: switch}, {name: cpu, kind: host}]\n"
      "    wires: [{from: gpu, to: sw, link: wire, count: 5}, {from: sw, to: cpu, link: pcie4-x16}]\n"
      "cluster: {node: own, nodes: 1}\ncollectives: {kind: plain, algorithm: ring}\n"
      "job: {kind: collective, operations: [{op: all_gather, size: 64MB}, {op: all_gather, size: 128MB},"
      " {op: all_gather, size: 32MB}, {op: all_gather, size: 16MB}, {op: reduce_scatter, size: 64MB},"
      " {op: all_gather, size: 64MB}, {op: all_gather, size: 64MB}]}\n",
      "exposed_time");
  const FabStatement *other = explained_find (&it, "other");
  /* in us: 6 + 0.75 x MB / 0.032; four are shown, and 16 MB are the fifth; a reduce_scatter is another one than an
   * all_gather of its size */
  assert_explained (
      other, "1 other communication: other = 10.17 ms\n"
             "6 x all_gather, 368 MB in all: under way for 8.661 ms, of which 8.661 ms is exposed.\n"
             "1 x reduce_scatter, 64 MB in all: under way for 1.506 ms, of which 1.506 ms is exposed.\n"
             "3 x all_gather of 64 MB over 4 ranks: 1.506 ms each on average, 4.518 ms exposed in all.\n"
             "1 x all_gather of 128 MB over 4 ranks: 3.006 ms each on average, 3.006 ms exposed in all.\n"
             "1 x reduce_scatter of 64 MB over 4 ranks: 1.506 ms each on average, 1.506 ms exposed in all.\n"
             "1 x all_gather of 32 MB over 4 ranks: 756 us each on average, 756 us exposed in all.\n"
             "1 other size is not shown.");
  assert_false (explained_has_note (explained_find (&it, "exposed"), "It takes longer"));
  assert_true (explained_has_note (explained_find (&it, "exposed"), "Compute waits 1 time. The longest:"));
  assert_true (explained_has_note (
      explained_find (&it, "exposed"),
      "10.17 ms: the job computes nothing beside it (all_gather operation6.0, with 6 more under way)."));
  assert_near (explained_find (&it, "time")->value, 1506e-6, 1e-9);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_longest_waits_are_told),
    cmocka_unit_test (dimensions_add_up),
    cmocka_unit_test (the_share_of_a_dimension_is_explained_by_it_alone),
    cmocka_unit_test (alike_collectives_are_told_together),
  };

  return play_run_tests ("exposed", tests, &catalog);
}
