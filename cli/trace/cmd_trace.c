/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_trace.c - `fabricast trace`: a run of a results file as a trace that other programs open. */
#include <string.h>

#include "cli/cli.h"
#include "formats/export/trace.h"
#include "models/library/nccl/names.h"
#include "sim/base/error.h"

#define NO_NUMBER G_MININT64

typedef struct {
  char *format_name, *db, *iterations, *output, *ranks;
  gint64 run_id, iteration;
  gboolean with_waiting;
} TraceOptions;

static const FabUsage usage = {
  .arguments = "",
  .summary =
      "Writes a run of a results file as a trace: for chrome://tracing and ui.perfetto.dev (chrome), or as the\n"
      "files of PyTorch's profiler that Holistic Trace Analysis reads (kineto). See docs/how-to/traces.md.",
  .examples = "  fabricast trace -o trace.json\n"
              "  fabricast trace --run 1 --iteration 2 -o step.json\n"
              "  fabricast trace --iterations 0:1 --format kineto -o profile\n",
  .max_rest = 0,
};

static gboolean
parse (TraceOptions *o, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &o->output,
      "chrome: the file, - for standard output; kineto: the folder, made when missing", "PATH" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o->format_name, "chrome (default) or kineto", "FORMAT" },
    { "db", 0, 0, G_OPTION_ARG_FILENAME, &o->db, "Results file (default fabricast.db)", "FILE" },
    { "run", 0, 0, G_OPTION_ARG_INT64, &o->run_id, "Run id (default: the last)", "N" },
    { "iteration", 0, 0, G_OPTION_ARG_INT64, &o->iteration, "Only this iteration, from 0 (default: all)",
      "I" },
    { "iterations", 0, 0, G_OPTION_ARG_STRING, &o->iterations, "Only these, both ends included", "A:B" },
    { "ranks", 0, 0, G_OPTION_ARG_STRING, &o->ranks,
      "kineto: these ranks, as 0,8 (default: the first of every class)", "N,..." },
    { "with-waiting", 0, 0, G_OPTION_ARG_NONE, &o->with_waiting,
      "kineto: a collective's kernel lasts from its own rank's arrival, as NCCL's does", NULL },
    G_OPTION_ENTRY_NULL
  };

  return fab_cli_parse (&usage, entries, argc, argv, error);
}

/* "A:B" */
static gboolean
parse_range (const char *text, gint64 *first, gint64 *last, GError **error)
{
  g_auto (GStrv) ends = g_strsplit (text, ":", 3);
  guint64 from, to;

  if (g_strv_length (ends) != 2 || !g_ascii_string_to_unsigned (ends[0], 10, 0, G_MAXUINT, &from, NULL)
      || !g_ascii_string_to_unsigned (ends[1], 10, 0, G_MAXUINT, &to, NULL) || to < from)
    return fab_throw (error, FAB_ERROR_INPUT, "--iterations '%s': expected A:B with A <= B, as 0:9", text);
  *first = (gint64) from;
  *last = (gint64) to;
  return TRUE;
}

static gboolean
find_iterations (const TraceOptions *o, gint64 *first, gint64 *last, GError **error)
{
  *first = *last = -1;
  if (o->iterations && o->iteration != NO_NUMBER)
    return fab_throw (error, FAB_ERROR_INPUT, "either --iteration I or --iterations A:B, not both");
  if (o->iterations)
    return parse_range (o->iterations, first, last, error);
  if (o->iteration == NO_NUMBER)
    return TRUE;
  if (o->iteration < 0)
    return fab_throw (error, FAB_ERROR_INPUT, "--iteration counts from 0; leave it out for all");
  *first = *last = o->iteration;
  return TRUE;
}

static gboolean
find_format (const TraceOptions *o, gboolean *is_kineto, GError **error)
{
  *is_kineto = g_strcmp0 (o->format_name, "kineto") == 0;
  if (o->format_name && !*is_kineto && strcmp (o->format_name, "chrome") != 0)
    return fab_throw (error, FAB_ERROR_INPUT, "unknown format '%s'; possible are chrome and kineto",
                      o->format_name);
  if (*is_kineto && g_strcmp0 (o->output, "-") == 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "-o -: --format kineto writes a folder of files, which is not standard output");
  if (!*is_kineto && (o->ranks || o->with_waiting))
    return fab_throw (error, FAB_ERROR_INPUT, "--%s is for --format kineto",
                      o->ranks ? "ranks" : "with-waiting");
  if (o->output == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "where to? -o %s",
                      *is_kineto ? "FOLDER; a file rank-N.json per rank goes there"
                                 : "FILE, or -o - for standard output");
  if (o->run_id != NO_NUMBER && o->run_id < 1)
    return fab_throw (error, FAB_ERROR_INPUT, "--run counts from 1; leave it out for the last run");
  return TRUE;
}

static gboolean
trace (const TraceOptions *o, GError **error)
{
  g_auto (FabTraceSource) source = { 0 };
  FabKinetoOptions kineto = { o->ranks, o->with_waiting, fab_nccl_algorithm_kernel };
  gboolean is_kineto;
  gint64 first, last;

  if (!find_format (o, &is_kineto, error) || !find_iterations (o, &first, &last, error)
      || !fab_trace_source_open (&source, o->db ? o->db : "fabricast.db",
                                 o->run_id == NO_NUMBER ? 0 : o->run_id, first, last, error))
    return FALSE;
  return is_kineto ? fab_trace_write_kineto (&source, o->output, &kineto, error)
                   : fab_trace_write_chrome (&source, o->output, error);
}

static FabExit
run (int argc, char **argv)
{
  TraceOptions o = { .run_id = NO_NUMBER, .iteration = NO_NUMBER };
  g_autoptr (GError) error = NULL;
  gboolean is_done = parse (&o, &argc, &argv, &error) && trace (&o, &error);

  g_free (o.format_name);
  g_free (o.db);
  g_free (o.iterations);
  g_free (o.output);
  g_free (o.ranks);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("trace", error);
}

const FabCommand fab_command_trace = {
  .name = "trace",
  .summary = "Write a run as a trace for Perfetto, Chrome or Holistic Trace Analysis",
  .run = run,
  .prints_data = TRUE,
};
