/* SPDX-License-Identifier: Apache-2.0 */
/* child.c - processor time, of this program and of others that it runs. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench.h"

double
bench_now_s (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

/* A file without a name that holds the text: what a child reads can be longer than a pipe. */
static int
open_input (const char *input)
{
  FILE *file = tmpfile ();
  int fd = file ? dup (fileno (file)) : -1;

  if (file == NULL)
    return -1;
  if (input)
    fputs (input, file);
  fclose (file);
  lseek (fd, 0, SEEK_SET);
  return fd;
}

static void
child_start (const char *const *argv, int input, const int *ends, guint most_s)
{
  const struct rlimit limit = { most_s, most_s };

  if (most_s > 0)
    setrlimit (RLIMIT_CPU, &limit);
  dup2 (input, STDIN_FILENO);
  dup2 (ends[1], STDOUT_FILENO);
  close (input);
  close (ends[0]);
  close (ends[1]);
  execv (argv[0], (char *const *) argv);
  _exit (127);
}

static char *
read_all (int fd)
{
  GString *text = g_string_new (NULL);
  char part[4096];
  gssize n;

  while ((n = read (fd, part, sizeof part)) > 0)
    g_string_append_len (text, part, n);
  return g_string_free (text, FALSE);
}

static double
seconds_of (struct timeval time)
{
  return (double) time.tv_sec + (double) time.tv_usec / 1e6;
}

BenchChild
bench_run (const char *const *argv, const char *input)
{
  return bench_run_within (argv, input, 0);
}

BenchChild
bench_run_within (const char *const *argv, const char *input, guint most_s)
{
  BenchChild child = { 0 };
  struct rusage usage = { 0 };
  int ends[2], status = -1, from = open_input (input);
  pid_t pid;

  if (from < 0 || pipe (ends) != 0)
    return child;
  fflush (stdout);
  pid = fork ();
  if (pid == 0)
    child_start (argv, from, ends, most_s);
  close (from);
  close (ends[1]);
  child.output = read_all (ends[0]);
  close (ends[0]);
  child.is_good = pid > 0 && wait4 (pid, &status, 0, &usage) == pid && WIFEXITED (status)
               && WEXITSTATUS (status) == 0;
  child.cpu_s = seconds_of (usage.ru_utime) + seconds_of (usage.ru_stime);
  child.peak_mib = (double) usage.ru_maxrss * 1024 / 0x1p20;
  return child;
}

double
bench_value_of (const char *output, const char *key)
{
  g_auto (GStrv) lines = g_strsplit (output ? output : "", "\n", -1);
  gsize length = strlen (key);

  for (char **line = lines; *line; line++)
    if (strncmp (*line, key, length) == 0 && (*line)[length] == ' ')
      return g_ascii_strtod (*line + length, NULL);
  return 0;
}
