/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - the step of a scenario: cc figures.c $(pkg-config --cflags --libs fabricast) -o figures */
#include <fabricast.h>
#include <stdio.h>

int
main (int argc, char **argv)
{
  const char *const names[] = { "step_s", "compute_s", "exposed_s", "idle_s", "mfu_fraction" };
  FabricastContext *context = NULL;
  FabricastScenario *scenario = NULL;
  FabricastResult *result = NULL;
  FabricastError *error = NULL;
  FabricastValue value = { sizeof value, 0, 0, 0, NULL, NULL };

  if (argc != 2 || fabricast_context_new (NULL, &context, &error) != FABRICAST_OK
      || fabricast_scenario_load (context, argv[1], &scenario, &error) != FABRICAST_OK
      || fabricast_run (scenario, NULL, &result, &error) != FABRICAST_OK) {
    fprintf (stderr, "%s\n", error != NULL ? fabricast_error_message (error) : "usage: figures SCENARIO");
    return 1;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (fabricast_result_figure (result, names[i], &value, NULL) == FABRICAST_OK)
      printf ("%s %.17g\n", names[i], value.real);
  fabricast_result_free (result);
  fabricast_scenario_free (scenario);
  fabricast_context_free (context);
  return 0;
}
