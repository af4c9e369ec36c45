/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - how fast the parts are, and the whole: `./dev bench`.
 *
 * usage: bench FABRICAST SCENARIO-OF-16384-GPUS SMALL-SCENARIO
 *
 * One table on stdout. Exit code 1 when the large scenario takes more than 10 s or 2 GiB, or when an
 * iteration leaves memory behind. Figures are the best of a few rounds: other work on the machine only adds.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"

double
bench_now_s (void)
{
  return (double) g_get_monotonic_time () / G_USEC_PER_SEC;
}

void
bench_row (const char *what, double value, const char *unit, const char *note, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, note);
  text = g_strdup_vprintf (note, arguments);
  va_end (arguments);
  printf ("%-46s %9.*f %-10s%s%s\n", what,
          value < 10     ? 2
          : value < 1000 ? 1
                         : 0,
          value, unit, *text ? "  " : "", text);
  fflush (stdout);
}

static char *
cpu_model (void)
{
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents ("/proc/cpuinfo", &text, NULL, NULL)
      || (line = strstr (text, "model name")) == NULL)
    return g_strdup ("unknown processor");
  line = strchr (line, ':');
  return line ? g_strstrip (g_strndup (line + 1, strcspn (line + 1, "\n"))) : g_strdup ("unknown processor");
}

static void
print_machine (void)
{
  g_autofree char *model = cpu_model ();
  long pages = sysconf (_SC_PHYS_PAGES), page_bytes = sysconf (_SC_PAGESIZE);

#ifdef __OPTIMIZE__
  const char *optimised = "optimised";
#else
  const char *optimised = "NOT OPTIMISED";
#endif
  printf ("%s, %ld cores, %.0f GiB; Fabricast " FAB_VERSION ", compiler " __VERSION__ ", %s\n\n", model,
          sysconf (_SC_NPROCESSORS_ONLN), (double) pages * (double) page_bytes / 0x1p30, optimised);
}

int
main (int argc, char **argv)
{
  gboolean is_good = TRUE;

  if (argc == 4 && strcmp (argv[1], "--steady") == 0)
    return bench_steady_child (argv[2], argv[3]);
  if (argc != 5) {
    fprintf (stderr, "usage: bench FABRICAST SCENARIO-OF-16384-GPUS SMALL-SCENARIO DIVIDED-SCENARIO\n");
    return 2;
  }
  print_machine ();
  bench_queue ();
  bench_maxmin ();
  bench_net ();
  is_good = bench_store () && is_good;
  is_good = bench_steady (argv[3]) && is_good;
  is_good = bench_scale (argv[1], argv[2]) && is_good;
  is_good = bench_divided (argv[1], argv[4]) && is_good;
  return is_good ? 0 : 1;
}
