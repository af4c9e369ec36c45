/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - how fast the parts are, and the whole: `./dev bench`. docs/reference/bench.md says what each row means.
 *
 * Exit code 1: a row's ratio to its raw limit is more than a fifth below that of the committed table, or a promise
 * about memory was not kept; 2: bad input.
 */
#include "tests/bench/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/order.h"
#include "tests/bench/raw_queue.h"
#include "tests/bench/table.h"
#include "tests/support/random.h"

enum { YARDSTICK_EVENTS = 1000000 };

/* Below this part of the committed ratio a row has regressed. */
static const double least_of_committed = 0.8;

/* A row, or a peer, that has taken so long is not repeated. */
static const double most_s = 10;

struct _Bench {
  char *program, *peers, *against, *write;
  char **parts;
  int repetitions;
  gboolean is_large, has_no_peers, is_failed;
  BenchTable *table, *committed;
};

static const struct {
  const char *name;
  void (*fill) (Bench *bench);
} parts[] = {
  { "queue", bench_queue },     { "flows", bench_flows },           { "ring", bench_ring },
  { "packets", bench_packets }, { "transports", bench_transports }, { "jobs", bench_jobs },
  { "threads", bench_threads }, { "sweep", bench_sweep },           { "store", bench_store },
  { "steady", bench_steady },   { "library", bench_library },       { "traces", bench_traces },
};

gboolean
bench_is_large (const Bench *bench)
{
  return bench->is_large;
}

const char *
bench_program (const Bench *bench)
{
  return bench->program;
}

double
bench_yardstick_s (void)
{
  enum { N_PENDING = 100000, N_STEPS = 1 << 12 };
  g_autofree gint64 *steps = g_new (gint64, N_STEPS);
  Random random = { 1 };

  for (guint i = 0; i < N_STEPS; i++)
    steps[i] = (gint64) (-1e9 * log (1 - random_unit (&random)));
  return raw_hold_heap (steps, N_STEPS, N_PENDING, YARDSTICK_EVENTS);
}

void
bench_fail (Bench *bench, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  printf ("  NOT KEPT: %s\n", text);
  bench->is_failed = TRUE;
}

static double
wall_s (void)
{
  return (double) g_get_monotonic_time () / G_USEC_PER_SEC;
}

static double
median (double *values, guint n)
{
  qsort (values, n, sizeof *values, fab_order_doubles);
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* How near to the raw limit, or how many times the yardstick's events per second or its time. */
static double
ratio_of (const BenchRow *row, BenchSample sample)
{
  if (!row->things)
    return sample.limit / sample.value;
  return row->limit ? sample.value / sample.limit : sample.value * sample.limit / YARDSTICK_EVENTS;
}

static BenchSample
measure_once (const BenchRow *row, gpointer data)
{
  double before_s = row->limit ? 0 : bench_yardstick_s ();
  BenchSample sample = row->once (data);

  if (!row->limit)
    sample.limit = (before_s + bench_yardstick_s ()) / 2;
  return sample;
}

/* Fills the line's own figures; FALSE when a repetition failed. */
static gboolean
measure_own (const Bench *bench, const BenchRow *row, gpointer data, BenchLine *line)
{
  guint n_most = (guint) bench->repetitions, n = 0;
  g_autofree double *values = g_new (double, n_most), *limits = g_new (double, n_most),
                    *ratios = g_new (double, n_most);
  double since_s = wall_s ();

  while (n == 0 || (n < n_most && wall_s () - since_s < most_s)) {
    BenchSample sample = measure_once (row, data);

    if (sample.value <= 0)
      return FALSE;
    values[n] = sample.value;
    limits[n] = sample.limit;
    ratios[n++] = ratio_of (row, sample);
  }
  line->value = median (values, n);
  line->limit = median (limits, n);
  line->ratio = median (ratios, n);
  return TRUE;
}

static void
measure_peer (Bench *bench, const BenchRow *row, gpointer data, BenchLine *line)
{
  g_autofree char *path = g_build_filename (bench->peers ? bench->peers : ".", row->program, NULL);
  guint n_most = (guint) bench->repetitions, n = 0;
  g_autofree double *values = g_new (double, n_most);
  double since_s = wall_s ();

  if (bench->has_no_peers || !bench->peers || !g_file_test (path, G_FILE_TEST_IS_EXECUTABLE)) {
    line->peer_state = bench->has_no_peers ? "left out" : "not here";
    return;
  }
  while (n == 0 || (n < n_most && wall_s () - since_s < most_s)) {
    values[n] = row->peer_once (bench, data);
    if (values[n++] <= 0) {
      line->peer_state = "failed";
      return;
    }
  }
  line->peer = median (values, n);
}

static void
judge (Bench *bench, const BenchLine *line)
{
  double committed = bench->committed ? bench_table_ratio (bench->committed, line->work) : 0;

  if (committed > 0 && line->ratio < least_of_committed * committed) {
    printf ("  SLOWER: ratio %.3g, and %.3g in %s\n", line->ratio, committed, bench->against);
    bench->is_failed = TRUE;
  }
}

void
bench_measure (Bench *bench, const BenchRow *row, BenchNoteFn note, gpointer data)
{
  BenchLine line = { .work = row->work,
                     .things = row->things,
                     .limit_name = row->limit,
                     .peer_name = row->peer,
                     .recorded = row->recorded,
                     .goal = row->goal };

  line.is_measured = row->once && measure_own (bench, row, data, &line);
  if (row->program)
    measure_peer (bench, row, data, &line);
  line.note = note ? note (data) : NULL;
  bench_table_add (bench->table, &line);
  if (line.is_measured)
    judge (bench, &line);
  else if (row->once)
    bench_fail (bench, "%s did not end well", row->work);
  g_free (line.note);
}

BenchChild
bench_peer_run (Bench *bench, const char *name, const char *arguments, const char *input)
{
  g_autofree char *path = g_build_filename (bench->peers, name, NULL);
  g_autofree char *line = g_strconcat (path, " ", arguments, NULL);
  g_auto (GStrv) argv = g_strsplit (line, " ", -1);

  return bench_run ((const char *const *) argv, input);
}

static gboolean
is_wanted (const Bench *bench, const char *part)
{
  return bench->parts == NULL || bench->parts[0] == NULL
      || g_strv_contains ((const char *const *) bench->parts, part);
}

static int
run (Bench *bench)
{
  g_autoptr (GError) error = NULL;

  if (bench->against && g_file_test (bench->against, G_FILE_TEST_EXISTS)
      && (bench->committed = bench_table_read (bench->against, &error)) == NULL) {
    fprintf (stderr, "bench: %s\n", error->message);
    return 2;
  }
  bench->table = bench_table_new ();
  bench_table_begin (bench->table);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (is_wanted (bench, parts[i].name))
      parts[i].fill (bench);
  bench_table_end (bench->table);
  if (bench->write
      && !bench_table_write (bench->table, bench->write, bench->has_no_peers ? NULL : bench->peers, &error)) {
    fprintf (stderr, "bench: %s\n", error->message);
    return 2;
  }
  return bench->is_failed ? 1 : 0;
}

static gboolean
parse (Bench *bench, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "program", 0, 0, G_OPTION_ARG_FILENAME, &bench->program, "fabricast", "FILE" },
    { "peers-in", 0, 0, G_OPTION_ARG_FILENAME, &bench->peers, "Where the programs of peers are", "DIR" },
    { "no-peers", 0, 0, G_OPTION_ARG_NONE, &bench->has_no_peers, "Leave the peers out", NULL },
    { "against", 0, 0, G_OPTION_ARG_FILENAME, &bench->against, "Compare ratios with the table in it",
      "FILE" },
    { "write", 0, 0, G_OPTION_ARG_FILENAME, &bench->write, "Put the table into it", "FILE" },
    { "repeat", 0, 0, G_OPTION_ARG_INT, &bench->repetitions,
      "Repetitions of each row, fewer of those that take seconds (5)", "N" },
    { "large", 0, 0, G_OPTION_ARG_NONE, &bench->is_large, "Also what takes minutes", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &bench->parts, NULL, "[PART...]" },
    { NULL },
  };
  GOptionContext *context = g_option_context_new (NULL);
  GString *names = g_string_new ("Parts:");
  gboolean is_parsed;

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    g_string_append_printf (names, " %s", parts[i].name);
  g_option_context_set_summary (context, names->str);
  g_option_context_add_main_entries (context, entries, NULL);
  is_parsed = g_option_context_parse (context, argc, argv, error);
  g_option_context_free (context);
  for (char **part = bench->parts; is_parsed && part && *part; part++)
    if (strstr (names->str, *part) == NULL) {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "no part %s; %s", *part, names->str);
      is_parsed = FALSE;
    }
  if (is_parsed && bench->repetitions < 1) {
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--repeat is at least 1");
    is_parsed = FALSE;
  }
  g_string_free (names, TRUE);
  return is_parsed;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  Bench bench = { .repetitions = 5 };
  int code = 2;

  if (argc == 3 && strcmp (argv[1], "--steady") == 0)
    return bench_steady_child (argv[2]);
  if (!parse (&bench, &argc, &argv, &error))
    fprintf (stderr, "bench: %s\n", error->message);
  else
    code = run (&bench);
  bench_table_free (bench.table);
  bench_table_free (bench.committed);
  g_strfreev (bench.parts);
  g_free (bench.program);
  g_free (bench.peers);
  g_free (bench.against);
  g_free (bench.write);
  return code;
}
