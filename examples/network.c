/* SPDX-License-Identifier: Apache-2.0 */
/* network.c - drives the network alone: two transfers to one rank, then an all-reduce: `network hello.yaml`.
 *
 * cc -DFABRICAST_UNSTABLE network.c $(pkg-config --cflags --libs fabricast) -o network */
#include <fabricast.h>
#include <stdio.h>

static void
arrived (void *user, int64_t time_ps)
{
  printf ("%s at %lld ps\n", (const char *) user, (long long) time_ps);
}

int
main (int argc, char **argv)
{
  FabricastContext *context = NULL;
  FabricastScenario *scenario = NULL;
  FabricastNetwork *network = NULL;
  FabricastError *error = NULL;

  if (argc != 2)
    return 2;
  if (fabricast_context_new (NULL, &context, &error) != FABRICAST_OK
      || fabricast_scenario_load (context, argv[1], &scenario, &error) != FABRICAST_OK
      || fabricast_network_new (scenario, &network, &error) != FABRICAST_OK
      || fabricast_network_send (network, 0, 2, 1 << 30, arrived, "first", &error) != FABRICAST_OK
      || fabricast_network_send (network, 1, 2, 1 << 30, arrived, "second", &error) != FABRICAST_OK
      || fabricast_network_advance (network, INT64_MAX, &error) != FABRICAST_OK
      || fabricast_network_collective (network, "all_reduce", NULL, 0, 1 << 30, arrived, "all-reduce", &error)
             != FABRICAST_OK
      || fabricast_network_advance (network, INT64_MAX, &error) != FABRICAST_OK) {
    fprintf (stderr, "%s\n", fabricast_error_message (error));
    return fabricast_error_status (error);
  }
  fabricast_network_free (network);
  fabricast_scenario_free (scenario);
  fabricast_context_free (context);
  return 0;
}
