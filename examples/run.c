/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - simulates a scenario and prints each iteration: `run hello.yaml`.
 *
 * cc run.c $(pkg-config --cflags --libs fabricast) -o run */
#include <fabricast.h>
#include <stdio.h>

static int
fail (FabricastError *error)
{
  int status = fabricast_error_status (error);

  fprintf (stderr, "%s\n", fabricast_error_message (error));
  fabricast_error_free (error);
  return status;
}

int
main (int argc, char **argv)
{
  FabricastContext *context = NULL;
  FabricastScenario *scenario = NULL;
  FabricastResult *result = NULL;
  FabricastTable *steps = NULL;
  FabricastError *error = NULL;
  FabricastColumn column = { sizeof column, NULL, 0, NULL, NULL, NULL };
  FabricastValue link = { sizeof link, 0, 0, 0, NULL, NULL };

  if (argc != 2)
    return 2;
  if (fabricast_context_new (NULL, &context, &error) != FABRICAST_OK
      || fabricast_scenario_load (context, argv[1], &scenario, &error) != FABRICAST_OK
      || fabricast_run (scenario, NULL, &result, &error) != FABRICAST_OK
      || fabricast_result_table (result, "iteration", &steps, &error) != FABRICAST_OK
      || fabricast_result_figure (result, "binding_link", &link, &error) != FABRICAST_OK)
    return fail (error);
  for (size_t i = 0; fabricast_table_column (steps, i, &column); i++)
    for (size_t row = 0; row < fabricast_table_rows (steps); row++)
      if (column.kind == FABRICAST_WHOLE)
        printf ("%zu %s %lld\n", row, column.name, (long long) column.whole[row]);
  printf ("binding %s\n", link.kind == FABRICAST_TEXT ? link.text : "none");
  fabricast_table_free (steps);
  fabricast_result_free (result);
  fabricast_scenario_free (scenario);
  fabricast_context_free (context);
  return 0;
}
