/* SPDX-License-Identifier: Apache-2.0 */
/* whatifs.c - plays a scenario N times in one process, each time with another rate of the network ports, and prints how
 * many runs a second are done and by how much the memory of the process grew after the first tenth of them:
 * `whatifs hello.yaml 100000`.
 *
 * cc whatifs.c $(pkg-config --cflags --libs fabricast) -o whatifs */
#include <fabricast.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Resident memory in KiB; 0 where the system does not say. */
static long
memory_kib (void)
{
  FILE *file = fopen ("/proc/self/statm", "r");
  long size = 0, resident = 0;

  if (file == NULL)
    return 0;
  if (fscanf (file, "%ld %ld", &size, &resident) != 2)
    resident = 0;
  fclose (file);
  return resident * 4;
}

static double
seconds (void)
{
  struct timespec now;

  timespec_get (&now, TIME_UTC);
  return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static int
play (const FabricastScenario *base, long which, double *sum_s)
{
  FabricastScenario *scenario = NULL;
  FabricastResult *result = NULL;
  FabricastValue rate = { sizeof rate, FABRICAST_WHOLE, 100 + which % 701, 0, NULL, "Gb/s" };
  FabricastValue step = { sizeof step, 0, 0, 0, NULL, NULL };
  int status = fabricast_scenario_copy (base, &scenario, NULL);

  if (status == FABRICAST_OK)
    status = fabricast_scenario_set (scenario, "cluster.nic_rate", &rate, NULL);
  if (status == FABRICAST_OK)
    status = fabricast_run (scenario, NULL, &result, NULL);
  if (status == FABRICAST_OK)
    status = fabricast_result_figure (result, "step_s", &step, NULL);
  *sum_s += step.real;
  fabricast_result_free (result);
  fabricast_scenario_free (scenario);
  return status;
}

int
main (int argc, char **argv)
{
  FabricastContext *context = NULL;
  FabricastScenario *base = NULL;
  long n = argc == 3 ? strtol (argv[2], NULL, 10) : 0, settled_kib = 0;
  double sum_s = 0, since_s;

  if (n < 10 || fabricast_context_new (NULL, &context, NULL) != FABRICAST_OK
      || fabricast_scenario_load (context, argv[1], &base, NULL) != FABRICAST_OK) {
    fprintf (stderr, "usage: whatifs SCENARIO N, with N of at least 10\n");
    return 1;
  }
  since_s = seconds ();
  for (long i = 0; i < n; i++) {
    if (i == n / 10)
      settled_kib = memory_kib ();
    if (play (base, i, &sum_s) != FABRICAST_OK)
      return 1;
  }
  printf ("%ld runs, %.0f a second, mean step %.9f s, memory grew by %ld KiB of %ld\n", n,
          (double) n / (seconds () - since_s), sum_s / (double) n, memory_kib () - settled_kib,
          memory_kib ());
  fabricast_scenario_free (base);
  fabricast_context_free (context);
  return 0;
}
