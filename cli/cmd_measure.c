/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_measure.c - `fabricast measure`: what the hardware of this machine does, into a file of measurements. */
#include <gio/gio.h>
#include <string.h>

#include "cli/measure.h"
#include "sim/base/error.h"

static const FabUsage usage = {
  .arguments = "[BACKEND | show FILE]",
  .summary =
      "Measures links: times of messages by size, each until its median is known well, kept with every sample in a\n"
      "file that `fabricast calibrate` makes a link of. The same command again goes on where it was interrupted.\n"
      "Without a BACKEND, lists them and says which of them work here; `show` prints a file.",
  .examples =
      "  fabricast measure\n"
      "  fabricast measure tcp --listen :7471 --once & fabricast measure tcp --peer localhost --sizes 8,64,1K "
      "--time 0.1 -o lab.meas\n"
      "  fabricast measure show lab.meas --format csv\n",
  .max_rest = 2,
};

static void
print_backends (FabFormat format)
{
  g_autoptr (FabTable) table = measure_backends ();
  g_autofree char *text = format == FAB_FORMAT_JSON ? fab_table_to_json (table)
                        : format == FAB_FORMAT_CSV  ? fab_table_to_csv (table)
                                                    : fab_table_to_text (table);

  g_print ("%s", text);
}

static gboolean
measure (MeasureOptions *o, int argc, char **argv, GError **error)
{
  const FabMeasureBackend *backend;

  if (!fab_cli_format (o->format_name, &o->format, error))
    return FALSE;
  if (argc == 1) {
    print_backends (o->format);
    return TRUE;
  }
  if (strcmp (argv[1], "show") == 0)
    return argc == 3 ? measure_print (argv[2], NULL, o->format, error)
                     : fab_throw (error, FAB_ERROR_INPUT, "which file? Write `fabricast measure show FILE`");
  if (argc == 3)
    return fab_throw (error, FAB_ERROR_INPUT, "unexpected argument '%s'; one backend is measured at a time",
                      argv[2]);
  backend = measure_backend (argv[1], error);
  return backend && measure_run (o, backend, error);
}

static void
options_clear (MeasureOptions *o)
{
  char *texts[] = { o->listen, o->peer, o->sizes, o->kinds, o->precision, o->time, o->out, o->format_name };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_strfreev (o->sets);
}

static FabExit
run (int argc, char **argv)
{
  MeasureOptions o = { .min_samples = 10, .max_samples = 1000, .timeout_s = 30 };
  const GOptionEntry entries[] = {
    { "listen", 0, 0, G_OPTION_ARG_STRING, &o.listen, "Be the other end: wait here for who asks",
      "[HOST]:PORT" },
    { "peer", 0, 0, G_OPTION_ARG_STRING, &o.peer, "The end that listens (port 7471 when none is named)",
      "HOST[:PORT]" },
    { "sizes", 0, 0, G_OPTION_ARG_STRING, &o.sizes,
      "Sizes, doubling from one to the other, or a list (8..64M)", "FROM..TO,..." },
    { "kinds", 0, 0, G_OPTION_ARG_STRING, &o.kinds,
      "latency, exchange, bandwidth, bidirectional, collective (all that the backend can)", "KIND,..." },
    { "precision", 0, 0, G_OPTION_ARG_STRING, &o.precision,
      "Half the 95 % confidence interval of a median, at which it is known well (2%)", "PERCENT" },
    { "min-samples", 0, 0, G_OPTION_ARG_INT64, &o.min_samples, "Samples of a size at least (10)", "N" },
    { "max-samples", 0, 0, G_OPTION_ARG_INT64, &o.max_samples, "Samples of a size at most (1000)", "N" },
    { "time", 0, 0, G_OPTION_ARG_STRING, &o.time, "Time for a size at most, beside warm-up (5)", "SECONDS" },
    { "window", 0, 0, G_OPTION_ARG_INT64, &o.window,
      "Messages under way in bandwidth kinds (0: the backend's own)", "N" },
    { "timeout", 0, 0, G_OPTION_ARG_INT64, &o.timeout_s, "Seconds to wait for the other end (30)", "N" },
    { "once", 0, 0, G_OPTION_ARG_NONE, &o.once, "With --listen: end after one that asked", NULL },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets,
      "Parameter of the backend (`fabricast describe measure BACKEND`); may be repeated", "KEY=VALUE" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out, "File of measurements (default fabricast.meas)", "FILE" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json or csv", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && measure (&o, argc, argv, &error);

  options_clear (&o);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
    g_printerr ("fabricast measure: %s\n", error->message);
    return FAB_EXIT_UNMET;
  }
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("measure", error);
}

const FabCommand fab_command_measure = {
  .name = "measure",
  .summary = "Measure links of this machine and between two, for `calibrate`",
  .run = run,
};
