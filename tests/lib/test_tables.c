/* SPDX-License-Identifier: Apache-2.0 */
/* test_tables.c - tables and figures of a run against what they are defined to be, and tables as streams of Arrow. */
#include "tests/lib/host.h"

#include <unistd.h>

static const char two_jobs[] = "name: first\n"
                               "cluster: {node: dgx-a100, nodes: 4, gpus_per_node: 1, nics_per_node: 1,"
                               " fabric: {kind: leaf_spine, nodes_per_leaf: 2, oversubscription: 2}}\n"
                               "collectives: plain\n"
                               "job: {kind: collective, operations: [{op: all_reduce, size: 100MB}]}\n"
                               "neighbours: [{name: second, nodes: 2, first: 1, stride: 2,"
                               " job: {kind: collective, operations: [{op: all_reduce, size: 100MB}]}}]\n";

static FabricastResult *
run (const char *text, int has_band, int has_jobs)
{
  FabricastScenario *scenario = parse (text);
  const FabricastRunOptions options = { .struct_size = sizeof options,
                                        .has_band = has_band,
                                        .has_jobs = has_jobs };
  FabricastResult *result = NULL;
  FabricastError *error = NULL;

  if (fabricast_run (scenario, &options, &result, &error) != FABRICAST_OK)
    fail_msg ("%s", fabricast_error_message (error));
  fabricast_scenario_free (scenario);
  return result;
}

static FabricastTable *
table_of (const FabricastResult *result, const char *name)
{
  FabricastTable *table = NULL;

  assert_int_equal (fabricast_result_table (result, name, &table, NULL), FABRICAST_OK);
  return table;
}

static FabricastValue
figure (const FabricastResult *result, const char *name)
{
  FabricastValue value = { .struct_size = sizeof value };

  if (fabricast_result_figure (result, name, &value, NULL) != FABRICAST_OK)
    fail_msg ("there is no %s", name);
  return value;
}

/* --- Arrow: arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html --- */

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release) (struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release) (struct ArrowArray *);
  void *private_data;
};

struct ArrowArrayStream {
  int (*get_schema) (struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next) (struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error) (struct ArrowArrayStream *);
  void (*release) (struct ArrowArrayStream *);
  void *private_data;
};

static size_t
n_columns (const FabricastTable *table)
{
  FabricastColumn column = { .struct_size = sizeof column };
  size_t n = 0;

  while (fabricast_table_column (table, n, &column))
    n++;
  return n;
}

static int
is_set (const void *bits, size_t row)
{
  return bits == NULL || (((const uint8_t *) bits)[row / 8] >> row % 8 & 1);
}

/* Returns the nulls of a column, whose cells are those of the table. */
static int64_t
check_cells (const FabricastColumn *column, size_t n, const struct ArrowArray *array)
{
  const int64_t *offsets = column->kind == FABRICAST_TEXT ? array->buffers[1] : NULL;
  int64_t n_null = 0;

  assert_int_equal (array->length, n);
  assert_int_equal (array->offset, 0);
  assert_int_equal (array->n_children, 0);
  assert_null (array->dictionary);
  assert_int_equal (array->n_buffers, column->kind == FABRICAST_TEXT ? 3 : 2);
  assert_non_null (array->buffers[1]);
  assert_true (offsets == NULL || offsets[0] == 0);
  for (size_t row = 0; row < n; row++) {
    int is_known = column->kind == FABRICAST_WHOLE ? column->whole[row] != INT64_MIN
                 : column->kind == FABRICAST_REAL  ? !isnan (column->real[row])
                                                   : column->text[row] != NULL;

    n_null += !is_known;
    assert_int_equal (is_set (array->buffers[0], row), is_known);
    if (column->kind == FABRICAST_WHOLE)
      assert_true (((const int64_t *) array->buffers[1])[row] == column->whole[row]);
    else if (column->kind == FABRICAST_REAL && is_known)
      assert_true (((const double *) array->buffers[1])[row] == column->real[row]);
    else if (column->kind == FABRICAST_TEXT) {
      const char *text = is_known ? column->text[row] : "";

      assert_int_equal (offsets[row + 1] - offsets[row], strlen (text));
      assert_memory_equal ((const char *) array->buffers[2] + offsets[row], text, strlen (text));
    }
  }
  assert_int_equal (array->null_count, n_null);
  assert_int_equal (array->buffers[0] != NULL, n_null > 0);
  return n_null;
}

static void
check_schema (const FabricastTable *table, struct ArrowSchema *schema)
{
  assert_string_equal (schema->format, "+s");
  assert_string_equal (schema->name, "");
  assert_int_equal (schema->n_children, n_columns (table));
  for (size_t i = 0; i < n_columns (table); i++) {
    FabricastColumn column = { .struct_size = sizeof column };

    assert_true (fabricast_table_column (table, i, &column));
    assert_string_equal (schema->children[i]->name, column.name);
    assert_string_equal (schema->children[i]->format, column.kind == FABRICAST_WHOLE  ? "l"
                                                      : column.kind == FABRICAST_REAL ? "g"
                                                                                      : "U");
    assert_int_equal (schema->children[i]->flags, 2); /* nullable */
    assert_int_equal (schema->children[i]->n_children, 0);
    assert_null (schema->children[i]->metadata);
    assert_null (schema->children[i]->dictionary);
  }
  schema->release (schema);
  assert_null (schema->release);
}

/* The stream has what the table has: its schema as often as it is asked, its cells once. Returns how many are null. */
static int64_t
check_arrow (const FabricastTable *table)
{
  struct ArrowArrayStream stream, unread;
  struct ArrowSchema schema;
  struct ArrowArray batch, end;
  int64_t n_null = 0;
  size_t n = fabricast_table_rows (table);

  assert_int_equal (fabricast_table_arrow (table, &unread, NULL), FABRICAST_OK);
  unread.release (&unread); /* with the batch in it */
  assert_null (unread.release);
  assert_int_equal (fabricast_table_arrow (table, &stream, NULL), FABRICAST_OK);
  for (int i = 0; i < 2; i++) {
    assert_int_equal (stream.get_schema (&stream, &schema), 0);
    check_schema (table, &schema);
  }
  assert_int_equal (stream.get_next (&stream, &batch), 0);
  assert_int_equal (stream.get_next (&stream, &end), 0);
  assert_null (end.release);
  assert_null (stream.get_last_error (&stream));
  stream.release (&stream);
  assert_int_equal (batch.length, n);
  assert_int_equal (batch.n_buffers, 1);
  assert_null (batch.buffers[0]);
  assert_int_equal (batch.null_count, 0);
  assert_int_equal (batch.n_children, n_columns (table));
  for (size_t i = 0; i < n_columns (table); i++) {
    FabricastColumn column = { .struct_size = sizeof column };

    assert_true (fabricast_table_column (table, i, &column));
    n_null += check_cells (&column, n, batch.children[i]);
  }
  if (n_columns (table) > 0) { /* a consumer may take a child away before */
    batch.children[0]->release (batch.children[0]);
    assert_null (batch.children[0]->release);
  }
  batch.release (&batch);
  assert_null (batch.release);
  return n_null;
}

static void
test_arrow (void **state)
{
  static const char *const names[] = { "iteration", "collective", "link",    "memory",       "band",
                                       "job",       "pace",       "finding", "critical_path" };
  FabricastResult *result = run (hello, 0, 0);
  FabricastTable *table = NULL;
  int64_t n_null = 0;

  (void) state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    table = table_of (result, names[i]);
    n_null += check_arrow (table);
    fabricast_table_free (table);
  }
  assert_int_equal (fabricast_result_explain (result, "exposed", &table, NULL), FABRICAST_OK);
  assert_true (fabricast_table_rows (table) >= 6);
  assert_true (check_arrow (table) > 0); /* not every statement has a formula */
  fabricast_table_free (table);
  assert_int_equal (fabricast_describe (context, "keys", NULL, &table, NULL), FABRICAST_OK);
  assert_true (fabricast_table_rows (table) > 100);
  check_arrow (table);
  struct ArrowArrayStream stream;
  assert_int_equal (fabricast_table_arrow (NULL, &stream, NULL), FABRICAST_MISUSE);
  assert_int_equal (fabricast_table_arrow (table, NULL, NULL), FABRICAST_MISUSE);
  fabricast_table_free (table);
  fabricast_result_free (result);
}

/* --- tables of a run --- */

/* No two of its iterations take as long. */
static const char jittery[] =
    "name: hello\nseed: 1\niterations: 3\ncluster: {node: dgx-a100}\njob: {kind: ddp, model: gpt2, jitter: {cv: 5%}}\n";

/* Two rows for each iteration, first of its length and then of what it exposes; that of the last are figures. */
static void
test_bands (void **state)
{
  FabricastResult *result = run (jittery, 1, 0), *without = run (jittery, 0, 0);
  FabricastTable *bands = table_of (result, "band"), *steps = table_of (result, "iteration"),
                 *none = table_of (without, "band");
  size_t n = fabricast_table_rows (steps);
  FabricastColumn low = column_of (bands, "low_s"), high = column_of (bands, "high_s"),
                  iteration = column_of (bands, "iteration"), what = column_of (bands, "figure");

  (void) state;
  assert_true (n > 1 && low.real[n - 1] != low.real[n - 2] && high.real[2 * n - 1] != high.real[2 * n - 2]);
  assert_int_equal (fabricast_table_rows (bands), 2 * n);
  assert_int_equal (fabricast_table_rows (none), 0);
  for (size_t i = 0; i < 2 * n; i++) {
    double seconds = (double) column_of (steps, i < n ? "step_ps" : "exposed_ps").whole[i % n] / 1e12;

    assert_int_equal (iteration.whole[i], i % n);
    assert_string_equal (what.text[i], i < n ? "step" : "exposed");
    assert_true (low.real[i] <= seconds && seconds <= high.real[i] && low.real[i] < high.real[i]);
  }
  assert_true (figure (result, "step_low_s").real == low.real[n - 1]);
  assert_true (figure (result, "step_high_s").real == high.real[n - 1]);
  assert_true (figure (result, "exposed_low_s").real == low.real[2 * n - 1]);
  assert_true (figure (result, "exposed_high_s").real == high.real[2 * n - 1]);
  assert_true (figure (result, "band_coverage_fraction").real == 0.9);
  assert_non_null (figure (result, "band_most").text);
  assert_int_equal (figure (without, "band_most").kind, FABRICAST_NONE);
  assert_int_equal (figure (without, "exposed_high_s").kind, FABRICAST_NONE);
  fabricast_table_free (bands);
  fabricast_table_free (steps);
  fabricast_table_free (none);
  fabricast_result_free (result);
  fabricast_result_free (without);
}

/* Two jobs share uplinks of one port: together each takes twice as long as alone. */
static void
test_jobs (void **state)
{
  FabricastResult *result = run (two_jobs, 0, 1), *without = run (two_jobs, 0, 0);
  FabricastTable *jobs = table_of (result, "job"), *none = table_of (without, "job");

  (void) state;
  assert_int_equal (fabricast_table_rows (none), 0);
  assert_int_equal (fabricast_table_rows (jobs), 2);
  for (size_t i = 0; i < 2; i++) {
    double alone = (double) column_of (jobs, "alone_ps").whole[i],
           together = (double) column_of (jobs, "together_ps").whole[i];

    assert_string_equal (column_of (jobs, "name").text[i], i == 0 ? "first" : "second");
    assert_int_equal (column_of (jobs, "nodes").whole[i], 2);
    assert_true (alone > 0 && together > 1.5 * alone && together < 2.1 * alone);
    assert_true (is_near (column_of (jobs, "slow_down").real[i], together / alone));
  }
  fabricast_table_free (jobs);
  fabricast_table_free (none);
  fabricast_result_free (result);
  fabricast_result_free (without);
}

/* Links are numbered from 0, and each has one in the other direction. */
static void
test_links (void **state)
{
  FabricastResult *result = run (hello, 0, 0);
  FabricastTable *links = table_of (result, "link"), *pace = table_of (result, "pace"),
                 *findings = table_of (result, "finding");
  size_t n = fabricast_table_rows (links);
  FabricastColumn from = column_of (links, "from_vertex"), to = column_of (links, "to_vertex"),
                  spec = column_of (links, "spec");
  char name[256];

  (void) state;
  for (size_t i = 0; i < n; i++) {
    size_t back = 0;

    while (back < n
           && (strcmp (from.text[back], to.text[i]) != 0 || strcmp (to.text[back], from.text[i]) != 0))
      back++;
    assert_true (back < n);
    assert_int_equal (column_of (links, "link").whole[i], i);
    assert_true (column_of (links, "line_rate_bytes_per_s").whole[i]
                 == column_of (links, "line_rate_bytes_per_s").whole[back]);
    assert_true (column_of (links, "n_parallel").whole[i] >= 1
                 && column_of (links, "latency_ps").whole[i] >= 0);
    assert_string_equal (spec.text[i], spec.text[back]);
  }
  assert_int_equal (fabricast_table_rows (pace), 1);
  size_t binding = (size_t) column_of (pace, "binding_link").whole[0];
  snprintf (name, sizeof name, "%s -> %s", from.text[binding], to.text[binding]);
  assert_string_equal (figure (result, "binding_link").text, name);
  assert_string_equal (figure (result, "binding_link_spec").text, spec.text[binding]);
  char codes[1024] = "";
  size_t n_codes = 0;
  for (size_t i = 0; i < fabricast_table_rows (findings); i++) {
    n_codes += (size_t) snprintf (codes + n_codes, sizeof codes - n_codes, "%s%s", i > 0 ? ";" : "",
                                  column_of (findings, "code").text[i]);
    assert_non_null (column_of (findings, "text").text[i]);
  }
  const char *said = figure (result, "verdict").text; /* which also has what limits the step */
  assert_true (strlen (codes) == 0 || strstr (said, codes) != NULL);
  fabricast_table_free (links);
  fabricast_table_free (pace);
  fabricast_table_free (findings);
  fabricast_result_free (result);
}

/* A network that simulates each message remembers collectives, and has one row of what it counted. */
static void
test_memo (void **state)
{
  FabricastResult *result = run ("name: m\nfidelity: packet\ncluster: {node: dgx-a100}\n"
                                 "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
                                 0, 0);
  FabricastTable *table = table_of (result, "memo");

  (void) state;
  assert_int_equal (fabricast_table_rows (table), 1);
  assert_true (column_of (table, "n_collectives").whole[0] > 0);
  fabricast_table_free (table);
  fabricast_result_free (result);
}

/* Of one iteration, too, it is known how long both jobs take together; of one collective, what was remembered; and with
 * failures, how much of the time is left for training. */
static void
test_tables_of_one_row (void **state)
{
  static const char one[] = "iterations: 1\n";
  char text[2048];

  (void) state;
  snprintf (text, sizeof text, "%s%s", two_jobs, one);
  FabricastResult *result = run (text, 0, 1);
  FabricastTable *table = table_of (result, "job");
  assert_int_equal (fabricast_table_rows (table), 2);
  for (size_t i = 0; i < 2; i++) {
    assert_true (column_of (table, "together_ps").whole[i] > column_of (table, "alone_ps").whole[i]);
    assert_true (column_of (table, "slow_down").real[i] > 1.5);
  }
  fabricast_table_free (table);
  fabricast_result_free (result);
  result = run ("name: m\niterations: 1\nfidelity: packet\ncluster: {node: dgx-a100}\n"
                "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
                0, 0);
  table = table_of (result, "memo");
  assert_int_equal (fabricast_table_rows (table), 1);
  assert_int_equal (column_of (table, "n_collectives").whole[0], 1);
  fabricast_table_free (table);
  fabricast_result_free (result);
  snprintf (
      text, sizeof text,
      "%sreliability: {failures: few}\nfailures: [{name: few, classes: [{name: a, per: node, per_year: 100}]}]\n",
      hello);
  result = run (text, 0, 0);
  table = table_of (result, "goodput");
  assert_int_equal (fabricast_table_rows (table), 1);
  fabricast_table_free (table);
  fabricast_result_free (result);
}

/* The run, a figure and a collective are explained, and nothing else is. */
static void
test_explanations (void **state)
{
  FabricastResult *result = run (hello, 0, 0);
  FabricastTable *collectives = table_of (result, "collective"), *table = NULL;
  const char *const names[] = { "run",     "step", column_of (collectives, "name").text[0],
                                "exposed", "idle", "mfu" };
  FabricastError *error = NULL;
  size_t n_without = 0;

  (void) state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (fabricast_result_explain (result, names[i], &table, &error) != FABRICAST_OK)
      fail_msg ("%s: %s", names[i], fabricast_error_message (error));
    FabricastColumn depth = column_of (table, "depth"), title = column_of (table, "title");
    int64_t deepest = 0;
    assert_true (fabricast_table_rows (table) > 1);
    assert_int_equal (depth.whole[0], 0);
    for (size_t row = 0; row < fabricast_table_rows (table); row++) {
      deepest = depth.whole[row] > deepest ? depth.whole[row] : deepest;
      assert_non_null (title.text[row]);
      const char *notes = column_of (table, "notes").text[row]; /* one below another, none of them empty */
      n_without += notes == NULL;
      assert_true (notes == NULL
                   || (strlen (notes) > 0 && notes[0] != '\n' && notes[strlen (notes) - 1] != '\n'));
    }
    assert_true (deepest > 0);
    fabricast_table_free (table);
    table = NULL;
  }
  assert_true (n_without > 0);
  assert_int_equal (fabricast_result_explain (result, "speed", &table, &error), FABRICAST_INPUT);
  assert_null (table);
  assert_non_null (strstr (fabricast_error_message (error), "speed"));
  fabricast_error_free (error);
  fabricast_table_free (collectives);
  fabricast_result_free (result);
}

/* Of a table there are the columns that it has. */
static void
test_columns (void **state)
{
  FabricastResult *result = run (hello, 0, 0);
  FabricastTable *table = table_of (result, "iteration");
  FabricastColumn column = { .struct_size = sizeof column }, small = { 0 };
  size_t n = n_columns (table);

  (void) state;
  assert_true (n > 5);
  assert_int_equal (fabricast_table_column (table, n, &column), 0);
  assert_null (column.name);
  assert_int_equal (fabricast_table_column (table, 0, NULL), 0);
  assert_int_equal (fabricast_table_column (NULL, 0, &column), 0);
  assert_int_equal (fabricast_table_column (table, 0, &small), 0); /* its size is not set */
  assert_int_equal (fabricast_table_column (table, n - 1, &column), 1);
  assert_int_equal ((column.whole != NULL) + (column.real != NULL) + (column.text != NULL), 1);
  fabricast_table_free (table);
  fabricast_result_free (result);
}

/* A run that is kept has its band in the file where it has one. */
static void
test_kept_bands (void **state)
{
  FabricastScenario *scenario = parse (hello);

  (void) state;
  for (int has_band = 0; has_band < 2; has_band++) {
    char path[] = "/tmp/fabricast-lib-XXXXXX", *bytes = NULL;
    int file = mkstemp (path);
    const FabricastRunOptions options = { .struct_size = sizeof options,
                                          .save_to = path,
                                          .has_band = has_band };
    FabricastResult *result = NULL;
    size_t n = 0, n_found = 0;

    assert_true (file >= 0);
    close (file);
    unlink (path);
    assert_int_equal (fabricast_run (scenario, &options, &result, NULL), FABRICAST_OK);
    assert_int_equal (figure (result, "run_id").whole, 1);
    FILE *stream = fopen (path, "rb");
    assert_non_null (stream);
    bytes = malloc (1 << 24);
    n = fread (bytes, 1, 1 << 24, stream);
    fclose (stream);
    if (has_band) {
      const char *most = figure (result, "band_most").text;
      size_t length = strlen (most);

      for (size_t i = 0; i + length <= n; i++)
        n_found += memcmp (bytes + i, most, length) == 0;
      assert_true (n_found > 0);
    }
    free (bytes);
    unlink (path);
    fabricast_result_free (result);
  }
  fabricast_scenario_free (scenario);
}

static void
test_tables_that_are_not_there (void **state)
{
  static const char *const names[] = {
    "iteration",  "iteration_class", "collective",  "span",     "link",          "link_load",
    "link_queue", "queue_length",    "link_sample", "exposure", "critical_path", "memory",
    "rank_class", "finding",         "band",        "pace",     "memo",          "goodput",
    "job"
  };
  FabricastResult *result = run (hello, 0, 0);
  FabricastTable *table = NULL;
  FabricastError *error = NULL;
  char wanted[1024];
  size_t length = (size_t) snprintf (wanted, sizeof wanted, "there is no table 'steps'; there are ");

  (void) state;
  for (size_t i = 0; i < 19; i++) {
    length += (size_t) snprintf (wanted + length, sizeof wanted - length, "%s%s",
                                 i == 0    ? ""
                                 : i == 18 ? " and "
                                           : ", ",
                                 names[i]);
    table = table_of (result, names[i]);
    if (strcmp (names[i], "goodput") == 0 || strcmp (names[i], "job") == 0)
      assert_int_equal (fabricast_table_rows (table), 0);
    fabricast_table_free (table);
  }
  assert_int_equal (fabricast_result_table (result, "steps", &table, &error), FABRICAST_INPUT);
  assert_string_equal (fabricast_error_message (error), wanted);
  fabricast_error_free (error);
  fabricast_result_free (result);
}

/* --- figures --- */

/* Every name that the message lists is a figure; what has two names has one value. */
static void
test_figures (void **state)
{
  static const char *const pairs[][2] = {
    { "step", "step_s" },        { "iterations", "n_iterations" },
    { "events", "n_events" },    { "exposed", "exposed_fraction" },
    { "mfu", "mfu_fraction" },   { "tokens", "tokens_per_s" },
    { "idle", "idle_fraction" }, { "memory", "memory_bytes" },
  };
  FabricastResult *result = run (hello, 0, 0);
  FabricastError *error = NULL;
  FabricastValue value = { .struct_size = sizeof value };
  size_t n = 0;

  (void) state;
  assert_int_equal (fabricast_result_figure (result, "speed", &value, &error), FABRICAST_INPUT);
  const char *all = strstr (fabricast_error_message (error), "there is no figure 'speed'; there are ");
  assert_non_null (all);
  char *names = strdup (strstr (all, "there are ") + strlen ("there are ")), *rest = NULL;
  for (char *name = strtok_r (names, ", ", &rest); name != NULL; name = strtok_r (NULL, ", ", &rest), n++) {
    char seconds[128];
    size_t length = strlen (name);

    value = figure (result, name);
    assert_true (value.kind == FABRICAST_NONE || value.kind == FABRICAST_WHOLE || value.kind == FABRICAST_REAL
                 || value.kind == FABRICAST_TEXT);
    assert_int_equal (value.text != NULL, value.kind == FABRICAST_TEXT);
    if (value.kind == FABRICAST_TEXT || value.kind == FABRICAST_NONE)
      assert_true (value.whole == 0 && value.real == 0 && value.unit == NULL);
    assert_int_equal (value.struct_size, sizeof value);
    if (length > 3 && strcmp (name + length - 3, "_ps") == 0 && value.kind == FABRICAST_WHOLE) {
      assert_string_equal (value.unit, "ps");
      assert_true (value.real == (double) value.whole);
      snprintf (seconds, sizeof seconds, "%.*s_s", (int) length - 3, name);
      assert_true (is_near (figure (result, seconds).real, value.real / 1e12));
      assert_string_equal (figure (result, seconds).unit, "s");
    }
  }
  assert_true (n > 60);
  free (names);
  fabricast_error_free (error);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    FabricastValue one = figure (result, pairs[i][0]), other = figure (result, pairs[i][1]);

    if (!is_near (one.real, other.real))
      fail_msg ("%s is %g, and %s %g", pairs[i][0], one.real, pairs[i][1], other.real);
  }
  assert_string_equal (figure (result, "name").text, "hello");
  assert_string_equal (figure (result, "version").text, fabricast_version ());
  assert_int_equal (figure (result, "run_id").kind, FABRICAST_NONE); /* it was not saved */
  assert_int_equal (figure (result, "wall_s").kind, FABRICAST_REAL);
  assert_true (figure (result, "wall_s").real > 0);
  assert_int_equal (figure (result, "iterations").kind, FABRICAST_WHOLE);
  assert_non_null (
      strstr (figure (result, "verdict").text, "waits_for_compute")); /* found when it is asked for */
  assert_string_equal (figure (result, "limited_by").text, "compute");
  assert_string_equal (figure (result, "limited_by_change").text, "compute twice as fast");
  assert_true (figure (result, "limited_by_saved_fraction").real > 0.4
               && figure (result, "limited_by_saved_fraction").real < 0.5);
  value = (FabricastValue){ 0 };
  assert_int_equal (fabricast_result_figure (result, "step", &value, NULL), FABRICAST_MISUSE);
  fabricast_result_free (result);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_arrow),        cmocka_unit_test (test_bands),
    cmocka_unit_test (test_jobs),         cmocka_unit_test (test_links),
    cmocka_unit_test (test_memo),         cmocka_unit_test (test_tables_that_are_not_there),
    cmocka_unit_test (test_figures),      cmocka_unit_test (test_tables_of_one_row),
    cmocka_unit_test (test_explanations), cmocka_unit_test (test_columns),
    cmocka_unit_test (test_kept_bands),
  };

  return cmocka_run_group_tests (tests, setup, teardown);
}
