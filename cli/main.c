/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - from arguments to a command. */
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/cli.h"
#include "cli/help/commands.h"
#include "cli/memory.h"
#include "cli/terminal/terminal.h"
#include "sim/base/nearest.h"
#include "sim/base/version.h"

static const char *const help_words[] = { "--help", "-h", "help", NULL };

static FabExit
unknown_command (const char *name)
{
  g_autoptr (GPtrArray) names = fab_command_names ();

  g_ptr_array_insert (names, 0, (gpointer) "--version");
  g_ptr_array_insert (names, 0, (gpointer) "--help");
  const char *nearest = fab_nearest (name, (const char *const *) names->pdata);

  g_printerr ("fabricast: unknown %s '%s'%s%s; `fabricast --help` lists them\n",
              *name == '-' ? "option" : "command", name, nearest ? "; nearest is " : "",
              nearest ? nearest : "");
  return FAB_EXIT_INPUT;
}

/* Says whether the answer is for other programs: the command's own, or that of --format. */
static gboolean
prints_data (int argc, char **argv)
{
  const FabCommand *command = argc > 1 ? fab_command_find (argv[1]) : NULL;
  gboolean is_data = command != NULL && command->prints_data;

  if (argc > 3 && command == &fab_command_help && strcmp (argv[2], "completion") == 0)
    return TRUE;
  for (int i = 1; i < argc; i++) {
    const char *format = g_str_has_prefix (argv[i], "--format=") ? argv[i] + strlen ("--format=")
                       : strcmp (argv[i], "--format") == 0       ? argv[i + 1]
                                                                 : NULL;

    if (g_strv_contains (help_words, argv[i]))
      return FALSE;
    is_data = is_data || (format != NULL && strcmp (format, "text") != 0)
           || strcmp (argv[i], "--write-prices") == 0 || (strcmp (argv[i], "-") == 0 && *argv[i - 1] == '-')
           || g_str_has_suffix (argv[i], "=-"); /* -o - */
  }
  return is_data;
}

static FabExit
run_command (int argc, char **argv)
{
  const FabCommand *command = fab_command_find (argv[0]);

  return command != NULL ? command->run (argc, argv) : unknown_command (argv[0]);
}

/* Fails when stdout cannot be written completely, for example because the disk is full. */
static void
close_output (void)
{
  if (fab_terminal_close ()) {
    fab_terminal_close_errors ();
    return;
  }
  g_printerr ("fabricast: cannot write the answer to standard output; is the disk full?\n");
  _exit (FAB_EXIT_INPUT);
}

static const char memory_text[] =
    "fabricast: out of memory: this needs more than the machine, or a limit such as `ulimit -v`, gives; "
    "simulate fewer nodes, micro-batches or flows, or run it where there is more\n";

/* GLib ends the program with a trap when it gets no memory or no thread. A limit of this machine is no bug of the
 * program: one sentence, and the exit code for what is not possible here. Files are replaced whole or written in
 * transactions, so nothing is left half done. A GLogFunc. */
static void
end_with_sentence (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  gboolean is_memory = message == NULL || strstr (message, "failed to allocate") != NULL
                    || strstr (message, "overflow allocating") != NULL;
  gboolean is_thread = message != NULL && strstr (message, "creating thread") != NULL;
  static const char thread_text[] = "fabricast: no thread could be started: a limit such as `ulimit -u` was "
                                    "reached; FABRICAST_THREADS=1 needs fewer\n";

  if ((level & G_LOG_LEVEL_ERROR) == 0 || g_strcmp0 (domain, "GLib") != 0 || !(is_memory || is_thread)) {
    g_log_default_handler (domain, level, message, data);
    return;
  }
  gssize n = write (STDERR_FILENO, is_memory ? memory_text : thread_text,
                    is_memory ? sizeof memory_text - 1 : sizeof thread_text - 1);
  _exit (n >= 0 ? FAB_EXIT_UNSUPPORTED : FAB_EXIT_INPUT);
}

/* GLib aborts without its log when a lock gets no memory. SIGABRT of anything else ends the program as ever. */
static void
end_without_memory (int number)
{
  enum { ROOM_BYTES = 16 << 20 };
  void *room = mmap (NULL, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (room == MAP_FAILED) {
    gssize n = write (STDERR_FILENO, memory_text, sizeof memory_text - 1);
    _exit (n >= 0 ? FAB_EXIT_UNSUPPORTED : FAB_EXIT_INPUT);
  }
  signal (number, SIG_DFL);
  raise (number);
}

/* A study plays thousands of simulations, and each needs what the last one freed. The C library would give large parts
 * back to the system every time. */
static void
keep_freed_memory (void)
{
#ifdef __GLIBC__
  enum { MIB = 1 << 20 };

  mallopt (M_MMAP_THRESHOLD, 32 * MIB); /* the largest that glibc takes */
  mallopt (M_TRIM_THRESHOLD, 1024 * MIB);
  mallopt (M_TOP_PAD, 4 * MIB);
#endif
}

/* A file that may not grow further is an error of the write, which says so; the signal would end the program before. */
static void
prepare (void)
{
  signal (SIGXFSZ, SIG_IGN);
  signal (SIGABRT, end_without_memory);
  g_log_set_default_handler (end_with_sentence, NULL);
  keep_freed_memory ();
}

int
main (int argc, char **argv)
{
  static const char *const version_words[] = { "--version", "version", NULL };
  g_autoptr (GError) error = NULL;

  setlocale (LC_CTYPE, "");
  if (strcmp (nl_langinfo (CODESET), "UTF-8") != 0)
    /* scenarios are UTF-8, and so are options, whatever the locale */
    setlocale (LC_CTYPE, "C.UTF-8");
  const char *colour = fab_terminal_take_colour (&argc, argv, &error);
  fab_cli_take_allow_large (&argc, argv);
  fab_terminal_open (colour, prints_data (argc, argv));
  prepare ();
  atexit (close_output);
  if (error != NULL)
    return fab_cli_fail (argc > 1 ? argv[1] : "help", error);
  if (argc < 2) {
    fab_command_print_all ();
    return FAB_EXIT_INPUT;
  }
  if (g_strv_contains (version_words, argv[1])) {
    g_print ("fabricast %s\n", fab_version ());
    return FAB_EXIT_DONE;
  }
  if (g_strv_contains (help_words, argv[1]) && argc == 2 && *argv[1] == '-') {
    fab_command_print_all ();
    return FAB_EXIT_DONE;
  }
  if (g_strv_contains (help_words, argv[1]))
    argv[1] = (char *) fab_command_help.name;
  return run_command (argc - 1, argv + 1);
}
