/* SPDX-License-Identifier: Apache-2.0 */
/* test_csv_tables.c - our own tables of measurements and of kernels: every column, every size by hand, and what is
 * refused. */
#include "tests/unit/formats/measurement/measured.h"

static FabMeasurements *
read_good (const char *text)
{
  g_autoptr (GError) error = NULL;
  FabMeasurements *self = measured_text (text, 0, &error);

  if (self == NULL)
    fail_msg ("%s", error->message);
  return self;
}

/* Members of a series in columns, under their names and the shorter ones, with what a point has beside its time. */
static void
every_column_has_its_place (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabMeasurements) self = read_good (
      "# a comment, and one with a colon: that is no key\n"
      "#system:  two boxes  \n"
      "# n_ranks: 4\n"
      "\n"
      "kind,from,to,ranks,pairs,window,queue_pairs,mtu,backend,method,op,algorithm,precision,note,size_bytes,time_ps,"
      "low_ps,high_ps,min_ps,p05_ps,p95_ps,max_ps,n_samples,n_outliers,is_complete\n"
      "collective,a,\"b, \"\"c\"\"\",8,2,64,3,4096,tcp,send,all_reduce,ring,bf16,\" odd \",1000,2000000,1000000,"
      "3000000,500000,600000,700000,800000,11,5,1\n"
      "latency,,,,,,,,,,,,,,8,1000000,,,,,,,,,\n");
  const FabMeasuredSeries *first = measured_at (self, 0), *second = measured_at (self, 1);
  const FabSeries *one = &first->series, *other = &second->series;
  const FabMeasuredPoint *point = measured_point (first, 1000), *bare = measured_point (second, 8);

  assert_int_equal (self->series->len, 2);
  assert_string_equal (self->format, "csv");
  assert_int_equal (one->kind, FAB_MEASURE_COLLECTIVE);
  assert_string_equal (one->system, "two boxes");
  assert_string_equal (one->from, "a");
  assert_string_equal (one->to, "b, \"c\"");
  assert_int_equal (one->n_ranks, 8);
  assert_int_equal (one->n_pairs, 2);
  assert_int_equal (one->window, 64);
  assert_int_equal (one->n_queue_pairs, 3);
  assert_int_equal (one->mtu_bytes, 4096);
  assert_string_equal (one->backend, "tcp");
  assert_string_equal (one->method, "send");
  assert_string_equal (one->op, "all_reduce");
  assert_string_equal (one->algorithm, "ring");
  assert_string_equal (one->precision, "bf16");
  assert_string_equal (one->note, "odd");
  assert_int_equal (point->time_ps, 2000000);
  assert_int_equal (point->low_ps, 1000000);
  assert_int_equal (point->high_ps, 3000000);
  assert_int_equal (point->min_ps, 500000);
  assert_int_equal (point->p05_ps, 600000);
  assert_int_equal (point->p95_ps, 700000);
  assert_int_equal (point->max_ps, 800000);
  assert_int_equal (point->n_samples, 11);
  assert_int_equal (point->n_outliers, 5);
  assert_true (point->is_complete);
  assert_int_equal (other->kind, FAB_MEASURE_LATENCY);
  assert_string_equal (other->backend, "csv");
  assert_string_equal (other->system, "two boxes");
  assert_int_equal (other->n_ranks, 4);
  assert_null (other->op);
  assert_int_equal (bare->low_ps, 0);
  assert_int_equal (bare->n_samples, 0);
  assert_true (bare->is_complete);
}

/* The three columns of values: 1 us, and 1000 B of it are 1 GB/s. */
static void
values_have_three_units (G_GNUC_UNUSED void **state)
{
  static const char *const values[] = { "time_ps\n1000,1000000\n", "time_us\n1000,1\n",
                                        "rate_GBps\n1000,1\n" };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    g_autofree char *text = g_strconcat ("# kind: bandwidth\nsize_bytes,", values[i], NULL);
    g_autoptr (FabMeasurements) self = read_good (text);

    assert_int_equal (measured_point (measured_at (self, 0), 1000)->time_ps, 1000000);
  }
}

/* What a point has beside its time it has beside a rate too. */
static void
rates_have_samples (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabMeasurements) self = read_good (
      "# kind: bandwidth\nsize_bytes,rate_GBps,n_samples,min_ps,is_complete\n1000,2,11,400000,0\n8,0,1,1,1\n");
  const FabMeasuredPoint *point = measured_point (measured_at (self, 0), 1000);

  assert_int_equal (measured_at (self, 0)->points->len, 1);
  assert_int_equal (point->time_ps, 500000);
  assert_int_equal (point->n_samples, 11);
  assert_int_equal (point->min_ps, 400000);
  assert_false (point->is_complete);
  assert_int_equal (self->notes->len, 1);
}

/* Ends and pairs are those that a table names, also where there is one of them; else there are two ends and one
 * pair. */
static void
ends_and_pairs_are_counted (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *head;
    guint n_ranks, n_pairs;
  } cases[] = {
    { "# kind: latency\n", 2, 1 },
    { "# kind: latency\n# n_ranks: 1\n# n_pairs: 1\n", 1, 1 },
    { "# kind: latency\n# n_ranks: 4\n# n_pairs: 2\n", 4, 2 },
    { "# kind: collective\n# op: all_reduce\n# n_ranks: 4\n# n_pairs: 2\n", 4, 2 },
    { "# kind: collective\n# op: all_reduce\n# n_ranks: 4\n", 4, 0 },
    { "# kind: memory_bound\n", 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strconcat (cases[i].head, "size_bytes,time_us\n8,1\n", NULL);
    g_autoptr (FabMeasurements) self = read_good (text);

    assert_int_equal (measured_at (self, 0)->series.n_ranks, cases[i].n_ranks);
    assert_int_equal (measured_at (self, 0)->series.n_pairs, cases[i].n_pairs);
  }
}

/* Products have three sides, attention five. */
static void
kernels_have_shapes (G_GNUC_UNUSED void **state)
{
  static const char *const heads[][2] = { { "# kind: product\n# shape: 2x3x4\n", "2x3x4" },
                                          { "# kind: attention\n# shape: 2x3x4x5x6\n", "2x3x4x5x6" } };

  for (guint i = 0; i < G_N_ELEMENTS (heads); i++) {
    g_autofree char *text = g_strconcat (heads[i][0], "size_bytes,time_us\n8,1\n", NULL);
    g_autoptr (FabMeasurements) self = read_good (text);

    assert_string_equal (measured_at (self, 0)->series.shape, heads[i][1]);
  }
}

/* A title says what tells a series from others, as far as it is known. */
static void
series_have_titles (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabSeries series;
    const char *title, *key;
  } cases[] = {
    { { .kind = FAB_MEASURE_LATENCY }, "measured latency", "latency" },
    { { .kind = FAB_MEASURE_LATENCY,
        .backend = (char *) "tcp",
        .from = (char *) "a",
        .to = (char *) "b",
        .method = (char *) "send",
        .n_pairs = 1,
        .n_queue_pairs = 1,
        .window = 1,
        .note = (char *) "x" },
      "tcp latency, a to b, send",
      "latency;backend=tcp;from_end=a;to_end=b;method=send;n_pairs=1;window=1;n_queue_pairs=1" },
    { { .kind = FAB_MEASURE_BANDWIDTH, .n_pairs = 2, .n_queue_pairs = 3, .window = 4, .mtu_bytes = 5 },
      "measured bandwidth, 2 pairs, 3 queue pairs, window 4",
      "bandwidth;n_pairs=2;window=4;n_queue_pairs=3;mtu_bytes=5" },
    { { .kind = FAB_MEASURE_BANDWIDTH,
        .from = (char *) "a",
        .from_memory = (char *) "host",
        .to_memory = (char *) "gpu" },
      "measured bandwidth, host to gpu memory",
      "bandwidth;from_end=a;from_memory=host;to_memory=gpu" },
    { { .kind = FAB_MEASURE_BANDWIDTH,
        .to = (char *) "a",
        .from_memory = (char *) "gpu",
        .to_memory = (char *) "gpu" },
      "measured bandwidth, gpu memory",
      "bandwidth;to_end=a;from_memory=gpu;to_memory=gpu" },
    { { .kind = FAB_MEASURE_BANDWIDTH, .from_memory = (char *) "host", .to_memory = (char *) "host" },
      "measured bandwidth",
      "bandwidth;from_memory=host;to_memory=host" },
    { { .kind = FAB_MEASURE_COLLECTIVE,
        .op = (char *) "all_reduce",
        .algorithm = (char *) "ring",
        .n_ranks = 8 },
      "measured all_reduce, 8 ranks, ring",
      "collective;op=all_reduce;algorithm=ring;n_ranks=8" },
    { { .kind = FAB_MEASURE_COLLECTIVE, .n_ranks = 1 },
      "measured collective, 1 ranks",
      "collective;n_ranks=1" },
    { { .kind = FAB_MEASURE_COLLECTIVE }, "measured collective", "collective" },
    { { .kind = FAB_MEASURE_LATENCY, .op = (char *) "x", .n_ranks = 2 },
      "measured latency",
      "latency;op=x;n_ranks=2" },
    { { .kind = FAB_MEASURE_PRODUCT,
        .op = (char *) "matmul",
        .precision = (char *) "bf16",
        .shape = (char *) "2x3x4",
        .from = (char *) "g",
        .to = (char *) "g",
        .from_memory = (char *) "gpu",
        .to_memory = (char *) "gpu" },
      "measured product matmul bf16 2x3x4, g",
      "product;from_end=g;to_end=g;from_memory=gpu;to_memory=gpu;op=matmul;precision=bf16;shape=2x3x4" },
    { { .kind = FAB_MEASURE_COPY, .from = (char *) "g", .to = (char *) "h" },
      "measured copy, g to h",
      "copy;from_end=g;to_end=h" },
    { { .kind = FAB_MEASURE_LATENCY, .from = (char *) "g", .to = (char *) "g" },
      "measured latency, g to g",
      "latency;from_end=g;to_end=g" },
    { { .kind = FAB_MEASURE_LATENCY, .system = (char *) "a;b\\c" },
      "measured latency",
      "latency;system=a\\;b\\\\c" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *title = fab_series_title (&cases[i].series), *key = fab_series_key (&cases[i].series);

    assert_string_equal (title, cases[i].title);
    assert_string_equal (key, cases[i].key);
  }
}

static void
shapes_and_kinds_are_read (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *shape;
    guint n;
    double numbers[3]; /* 0 first: it is none */
  } shapes[] = {
    { "2x3x4", 3, { 2, 3, 4 } },
    { "1099511627776", 1, { 1099511627776.0 } },
    { "1099511627777", 1, { 0 } },
    { "2x3", 3, { 0 } },
    { "2x3x4x5", 3, { 0 } },
    { "2x0x4", 3, { 0 } },
    { "2xax4", 3, { 0 } },
    { "", 1, { 0 } },
    { NULL, 1, { 0 } },
    { "1x1x1", 3, { 1, 1, 1 } },
  };
  const FabMeasuredPoint point = { .size_bytes = 1000, .time_ps = 2000000 }, none = { .size_bytes = 1000 };
  FabMeasureKind kind;

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    double numbers[3] = { 0 };

    assert_int_equal (fab_series_read_shape (shapes[i].shape, shapes[i].n, numbers),
                      shapes[i].numbers[0] > 0);
    for (guint k = 0; shapes[i].numbers[0] > 0 && k < shapes[i].n; k++)
      assert_near (numbers[k], shapes[i].numbers[k], 0);
  }
  for (guint i = 0; i < FAB_N_MEASURE_KINDS; i++) {
    assert_true (fab_measure_kind_find (fab_measure_kind_names[i], &kind));
    assert_int_equal (kind, i);
  }
  assert_false (fab_measure_kind_find ("nothing", &kind));
  assert_false (fab_measure_kind_find (NULL, &kind));
  assert_near (fab_point_rate (&point), 5e8, 1e-12);
  assert_near (fab_point_rate (&none), 0, 0);
}

/* Sizes come in ascending order; the same value twice is one, and a value of 0 is left out with a note. */
static void
points_are_sorted (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabMeasurements) self = read_good (
      "# kind: latency\nsize_bytes,time_us\n64,3\n8,1\n16,2\n8,1\n32,0\n");
  const GArray *points = measured_at (self, 0)->points;

  assert_int_equal (points->len, 3);
  for (guint i = 0; i < 3; i++) {
    assert_int_equal (g_array_index (points, FabMeasuredPoint, i).size_bytes, i == 2 ? 64 : 8 << i);
    assert_int_equal (g_array_index (points, FabMeasuredPoint, i).time_ps, (i + 1) * 1000000);
  }
  assert_int_equal (self->notes->len, 1);
}

/* What a GPU was timed to do. A product of m x n x k reads (m + n) k elements and writes m n of 2 bytes, 4 of tf32.
 * Attention has queries and results of all heads, keys and values of theirs, in 2 bytes, and backward twice as much. */
static void
kernels_move_so_many_bytes (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *table;
    FabMeasureKind kind;
    const char *op, *method, *precision, *shape;
    FabBytes bytes;
  } rows[] = {
    { "type,m,n,k,us\nbf16,2,3,5,1.5\n", FAB_MEASURE_PRODUCT, "matmul", NULL, "bf16", "2x3x5",
      5 * 5 * 2 + 6 * 2 },
    { "type,m,n,k,us\nfp16,2,3,5,1.5\n", FAB_MEASURE_PRODUCT, "matmul", NULL, "fp16", "2x3x5",
      5 * 5 * 2 + 6 * 2 },
    { "type,m,n,k,us\nfp8,2,3,5,1.5\n", FAB_MEASURE_PRODUCT, "matmul", NULL, "fp8", "2x3x5", 5 * 5 + 6 * 2 },
    { "type,m,n,k,us,tflops\ntf32,16777216,1,1,1.5,7\n", FAB_MEASURE_PRODUCT, "matmul", NULL, "tf32",
      "16777216x1x1", 16777217 * 4 + 16777216 * 4 },
    { "pass,batch,heads,kv_heads,sequence,head_dim,causal,us\nforward_FLASH,2,8,4,16,32,1,1.5\n",
      FAB_MEASURE_ATTENTION, "forward", "flash", "bf16", "2x8x4x16x32", 2 * 16 * 32 * 2 * (2 * 8 + 2 * 4) },
    { "# note\n\npass,batch,heads,kv_heads,sequence,head_dim,causal,us\nbackward_cudnn_9,2,8,4,16,32,1,1.5\n",
      FAB_MEASURE_ATTENTION, "backward", "cudnn_9", "bf16", "2x8x4x16x32",
      2 * 2 * 16 * 32 * 2 * (2 * 8 + 2 * 4) },
    { "kernel,detail,bytes,us\nadd,\"1,2\",4096,1.5\n", FAB_MEASURE_MEMORY_BOUND, "add", "kernel", NULL, NULL,
      4096 },
    /* 2^50 bytes, the most there are: 2^23 x 2^24 x (1 + 1) x 4 */
    { "pass,batch,heads,kv_heads,sequence,head_dim,causal,us\nforward_f,8388608,1,1,16777216,1,1,1.5\n",
      FAB_MEASURE_ATTENTION, "forward", "f", "bf16", "8388608x1x1x16777216x1", (FabBytes) 1 << 50 },
    { "kernel,detail,bytes,us\nempty,,0,1.5\n", FAB_MEASURE_LAUNCH, "empty", "issued", NULL, NULL, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabMeasurements) self = read_good (rows[i].table);
    const FabSeries *series = &measured_at (self, 0)->series;

    assert_string_equal (self->format, "kernels");
    assert_int_equal (self->series->len, 1);
    assert_int_equal (series->kind, rows[i].kind);
    assert_string_equal (series->op, rows[i].op);
    assert_int_equal (g_strcmp0 (series->method, rows[i].method), 0);
    assert_int_equal (g_strcmp0 (series->precision, rows[i].precision), 0);
    assert_int_equal (g_strcmp0 (series->shape, rows[i].shape), 0);
    assert_string_equal (series->from, "gpu0");
    assert_string_equal (series->to, "gpu0");
    assert_string_equal (series->from_memory, "gpu");
    assert_string_equal (series->to_memory, "gpu");
    assert_string_equal (series->backend, "kernels");
    assert_int_equal (measured_point (measured_at (self, 0), rows[i].bytes)->time_ps, 1500000);
  }
}

/* Tables follow one another in one text. */
static void
tables_of_kernels_follow_one_another (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabMeasurements) self = read_good ("type,m,n,k,us\nbf16,2,3,5,1.5\nbf16,2,3,7,2.5\n"
                                                "kernel,detail,bytes,us\nadd,,4096,1.5\nadd,,8192,2.5\n");

  assert_int_equal (self->series->len, 3);
  assert_int_equal (measured_at (self, 2)->points->len, 2);
}

static void
mistakes_have_their_place (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
    { "# kind: latency\nsize_bytes,time_us,rate_GBps\n8,1,1\n",
      "t:2:1: a table has one column size_bytes and one of" },
    { "# kind: latency\nsize_bytes,size_bytes,time_us\n8,8,1\n",
      "t:2:1: a table has one column size_bytes and one of" },
    { "# kind: latency\nsize_bytes,window\n8,1\n", "t:2:1: a table has one column size_bytes and one of" },
    { "# kind: latency\n# window: 1.5\nsize_bytes,time_us\n8,1\n", "t:2:11: a whole number belongs here" },
    { "# kind: latency\n# size_bytes: 8\nsize_bytes,time_us\n8,1\n",
      "t:2:3: 'size_bytes' is no part of a series" },
    { "# kind: latency\nsize_bytes,time_us\n8\n",
      "t:3:1: the row has 1 fields, and the table has 2 columns" },
    { "# kind: collective\n# op: all_reduce\n# ranks: 1\nsize_bytes,time_us\n8,1\n",
      "a collective needs `op` and `n_ranks`, at least 2" },
    { "# kind: product\n# shape: 2x3\nsize_bytes,time_us\n8,1\n", "a product needs a `shape`" },
    { "# kind: product\n# shape: 2x3x4x5\nsize_bytes,time_us\n8,1\n", "a product needs a `shape`" },
    { "# kind: attention\n# shape: 2x3x4x5\nsize_bytes,time_us\n8,1\n", "attention needs a `shape`" },
    { "type,m,n,k,us\nfp4,2,3,5,1.5\n", "t:2:1: a type is bf16, fp16, tf32 or fp8" },
    { "type,m,n,k,us\nbf16,2,16777217,5,1.5\n", "t:2:8: a side of a matrix is at most 2^24" },
    { "type,m,n,k,us\nbf16,2,3,5\n", "t:2:1: the row has 4 fields, and the table needs 5" },
    { "pass,batch,heads,kv_heads,sequence,head_dim,causal,us\nforward_f,8388608,2,1,16777216,1,1,1.5\n",
      "t:2:1: a kernel that moves more than 2^50 bytes" },
    { "pass,batch,heads,kv_heads,sequence,head_dim,causal,us\n"
      "forward_f,16777216,16777216,16777216,16777216,16777216,1,1.5\n",
      "t:2:1: a kernel that moves more than 2^50 bytes" },
    { "pass,batch,heads,kv_heads,sequence,head_dim,causal,us\nforward,2,8,4,16,32,1,1.5\n",
      "a pass is forward_KERNEL or backward_KERNEL" },
    { "pass,batch,heads,kv_heads,sequence,head_dim,causal,us\nforward_f,2,8,4,16,32,0,1.5\n",
      "t:2:23: only causal attention is read, for which this is 1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    if (measured_text (cases[i].text, 0, &error) != NULL)
      fail_msg ("accepted:\n%s", cases[i].text);
    if (strstr (error->message, cases[i].message) == NULL)
      fail_msg ("case %u: no '%s' in: %s", i, cases[i].message, error->message);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_column_has_its_place), cmocka_unit_test (values_have_three_units),
    cmocka_unit_test (rates_have_samples),         cmocka_unit_test (series_have_titles),
    cmocka_unit_test (shapes_and_kinds_are_read),  cmocka_unit_test (kernels_have_shapes),
    cmocka_unit_test (ends_and_pairs_are_counted), cmocka_unit_test (points_are_sorted),
    cmocka_unit_test (kernels_move_so_many_bytes), cmocka_unit_test (tables_of_kernels_follow_one_another),
    cmocka_unit_test (mistakes_have_their_place),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
