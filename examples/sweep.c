/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - how the exposed communication depends on the rate of the NICs: `sweep ddp-2b-4nodes-200g.yaml`.
 *
 * cc sweep.c $(pkg-config --cflags --libs fabricast) -o sweep */
#include <fabricast.h>
#include <stdio.h>
#include <string.h>

static FabricastColumn
find (const FabricastTable *table, const char *name)
{
  FabricastColumn column = { sizeof column, NULL, 0, NULL, NULL, NULL };

  for (size_t i = 0; fabricast_table_column (table, i, &column); i++)
    if (strcmp (column.name, name) == 0)
      return column;
  memset (&column, 0, sizeof column);
  return column;
}

int
main (int argc, char **argv)
{
  const char *const vary[] = { "cluster.nic_rate=100..400Gb/s:x2", NULL };
  FabricastContext *context = NULL;
  FabricastScenario *scenario = NULL;
  FabricastTable *points = NULL;
  FabricastError *error = NULL;
  FabricastStudyOptions options;

  memset (&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.vary = vary;
  if (argc != 2)
    return 2;
  if (fabricast_context_new (NULL, &context, &error) != FABRICAST_OK
      || fabricast_scenario_load (context, argv[1], &scenario, &error) != FABRICAST_OK
      || fabricast_sweep (scenario, &options, &points, &error) != FABRICAST_OK) {
    fprintf (stderr, "%s\n", fabricast_error_message (error));
    return fabricast_error_status (error);
  }
  FabricastColumn rate = find (points, "cluster.nic_rate"), step = find (points, "step_s"),
                  exposed = find (points, "exposed_s");
  for (size_t row = 0; row < fabricast_table_rows (points); row++)
    printf ("%s step %.12g s exposed %.12g s\n", rate.text[row], step.real[row], exposed.real[row]);
  fabricast_table_free (points);
  fabricast_scenario_free (scenario);
  fabricast_context_free (context);
  return 0;
}
