/* SPDX-License-Identifier: Apache-2.0 */
/* driver.cc - a ring all-gather by send, receive and schedule, as a system layer asks for it: `driver hello.yaml`. */
#include <cstdio>

#include "network_api.hh"

int
main (int argc, char **argv)
{
  FabricastContext *context = nullptr;
  FabricastScenario *scenario = nullptr;
  FabricastNetwork *made = nullptr;
  const std::uint64_t bytes = 1 << 20;
  const int n_ranks = 8;
  int n_received = 0;

  if (argc != 2 || fabricast_context_new (nullptr, &context, nullptr) != FABRICAST_OK
      || fabricast_scenario_load (context, argv[1], &scenario, nullptr) != FABRICAST_OK
      || fabricast_network_new (scenario, &made, nullptr) != FABRICAST_OK)
    return 2;
  {
    fabricast::Network network (made);
    std::function<void (int, int)> step = [&] (int rank, int left) {
      const int to = (rank + 1) % n_ranks;

      network.sim_recv (rank, to, bytes, left, [&, to, left] {
        n_received++;
        if (left > 1)
          step (to, left - 1);
      });
      network.sim_send (rank, to, bytes, left, [] {});
    };
    network.sim_schedule (500, [&] {
      for (int rank = 0; rank < n_ranks; rank++)
        step (rank, n_ranks - 1);
    });
    network.simulate ();
    std::printf ("%d messages by %.3Lf ns\n", n_received, network.sim_get_time ());
  }
  fabricast_scenario_free (scenario);
  fabricast_context_free (context);
  return n_received == n_ranks * (n_ranks - 1) ? 0 : 1;
}
