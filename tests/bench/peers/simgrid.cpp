// SPDX-License-Identifier: Apache-2.0
// simgrid.cpp - what Fabricast is measured against and compared with: SimGrid's max-min, alone (no latency, factor or
// TCP window of its own beyond what is asked for).
//
// usage: simgrid flows LEAVES HOSTS_PER_LEAF BYTES_PER_S      < "SRC DST BYTES" per line
//        simgrid ring  LEAVES HOSTS_PER_LEAF BYTES_PER_S LATENCY_S RANKS BYTES
//        simgrid rates                                        < problems; the end of every flow, one per line
//
// A host is on a leaf, a leaf on as many spines as it has hosts; what goes to host h takes spine h mod HOSTS_PER_LEAF
// (SimGrid's D-mod-k). The first two print "run_s" (processor time from the first message to the last) and "end_s"
// (simulated). A problem is "LINKS FLOWS", the capacities, and per flow "BYTES N link ... link".
#include <simgrid/s4u.hpp>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

struct Flow {
  unsigned src, dst;
  double bytes;
};

double
cpu_s ()
{
  return static_cast<double> (std::clock ()) / CLOCKS_PER_SEC;
}

// CM02 is the model without corrections. To be said before the engine knows its models.
std::vector<char *>
arguments_of (char *program)
{
  static const char *const options[] = { "--cfg=network/model:CM02",         "--cfg=network/TCP-gamma:0",
                                         "--cfg=network/weight-S:0",         "--cfg=network/latency-factor:1",
                                         "--cfg=network/bandwidth-factor:1", "--cfg=network/crosstraffic:0",
                                         "--log=root.thres:warning" };
  std::vector<char *> arguments = { program };

  for (const char *option : options)
    arguments.push_back (const_cast<char *> (option));
  return arguments;
}

std::vector<sg4::Host *>
build_tree (unsigned n_leaves, unsigned n_per_leaf, double bytes_per_s, double latency_s)
{
  std::vector<sg4::Host *> hosts;
  auto add = [&hosts] (sg4::NetZone *zone, const std::vector<unsigned long> &, unsigned long id) {
    auto *host = zone->create_host ("h" + std::to_string (id), 1e9);
    hosts.push_back (host);
    return std::make_pair (host->get_netpoint (), static_cast<simgrid::kernel::routing::NetPoint *> (nullptr));
  };
  sg4::FatTreeParams form (2, { n_per_leaf, n_leaves }, { 1, n_per_leaf }, { 1, 1 });
  auto *zone = sg4::create_fatTree_zone ("tree", nullptr, form, sg4::ClusterCallbacks (add), bytes_per_s, latency_s,
                                         sg4::Link::SharingPolicy::SPLITDUPLEX);

  zone->seal ();
  return hosts;
}

void
run (sg4::Engine &engine)
{
  const double since_s = cpu_s ();

  engine.run ();
  std::printf ("run_s %.6f\nend_s %.15g\n", cpu_s () - since_s, sg4::Engine::get_clock ());
}

int
flows (sg4::Engine &engine, char **argv)
{
  auto hosts = build_tree (std::atoi (argv[2]), std::atoi (argv[3]), std::atof (argv[4]), 0);
  std::vector<Flow> list;
  Flow flow;

  while (std::cin >> flow.src >> flow.dst >> flow.bytes)
    list.push_back (flow);
  sg4::Actor::create ("sender", hosts[0], [&hosts, &list] {
    std::vector<sg4::CommPtr> comms;
    for (const Flow &one : list)
      comms.push_back (sg4::Comm::sendto_async (hosts[one.src], hosts[one.dst], static_cast<uint64_t> (one.bytes)));
    for (auto &comm : comms)
      comm->wait ();
  });
  run (engine);
  return 0;
}

// What MPI would do: at every step send to the right, receive from the left, wait for both.
int
ring (sg4::Engine &engine, char **argv)
{
  auto hosts = build_tree (std::atoi (argv[2]), std::atoi (argv[3]), std::atof (argv[4]), std::atof (argv[5]));
  const unsigned n = std::atoi (argv[6]);
  const auto part = static_cast<uint64_t> (std::atof (argv[7]) / n);
  std::vector<sg4::Mailbox *> boxes;

  for (unsigned i = 0; i < n; i++)
    boxes.push_back (sg4::Mailbox::by_name (std::to_string (i)));
  for (unsigned i = 0; i < n; i++)
    sg4::Actor::create ("rank", hosts[i], [&boxes, part, n, i] {
      int token = 0;
      for (unsigned step = 0; step < 2 * (n - 1); step++) {
        auto sent = boxes[(i + 1) % n]->put_async (&token, part);
        boxes[i]->get<int> ();
        sent->wait ();
      }
    });
  run (engine);
  return 0;
}

struct Problem {
  std::vector<double> capacities;
  struct One {
    double bytes;
    std::vector<unsigned> links;
  };
  std::vector<One> flows;
};

bool
read_problem (Problem &problem)
{
  unsigned n_links, n_flows, n;

  if (!(std::cin >> n_links >> n_flows))
    return false;
  problem.capacities.resize (n_links);
  problem.flows.resize (n_flows);
  for (double &capacity : problem.capacities)
    std::cin >> capacity;
  for (auto &flow : problem.flows) {
    std::cin >> flow.bytes >> n;
    flow.links.resize (n);
    for (unsigned &link : flow.links)
      std::cin >> link;
  }
  return static_cast<bool> (std::cin);
}

// Every flow between two hosts of its own, over the links that it names.
void
solve (const Problem &problem)
{
  char name[] = "simgrid";
  auto arguments = arguments_of (name);
  arguments.push_back (const_cast<char *> ("--cfg=maxmin/precision:1e-9"));
  arguments.push_back (const_cast<char *> ("--cfg=surf/precision:1e-9"));
  int argc = static_cast<int> (arguments.size ());
  arguments.push_back (nullptr);
  sg4::Engine engine (&argc, arguments.data ());
  auto *zone = sg4::create_full_zone ("zone");
  std::vector<sg4::Link *> links;
  std::vector<std::pair<sg4::Host *, sg4::Host *>> ends;

  for (size_t i = 0; i < problem.capacities.size (); i++)
    links.push_back (zone->create_link ("l" + std::to_string (i), problem.capacities[i])->set_latency (0)->seal ());
  for (size_t i = 0; i < problem.flows.size (); i++)
    ends.emplace_back (zone->create_host ("s" + std::to_string (i), 1e9)->seal (),
                       zone->create_host ("d" + std::to_string (i), 1e9)->seal ());
  for (size_t i = 0; i < problem.flows.size (); i++) {
    std::vector<sg4::LinkInRoute> route;
    for (unsigned link : problem.flows[i].links)
      route.emplace_back (links[link]);
    zone->add_route (ends[i].first->get_netpoint (), ends[i].second->get_netpoint (), nullptr, nullptr, route, false);
  }
  zone->seal ();
  sg4::Actor::create ("sender", ends[0].first, [&problem, &ends] {
    std::vector<sg4::CommPtr> comms;
    for (size_t i = 0; i < problem.flows.size (); i++) {
      auto comm = sg4::Comm::sendto_init ();
      comm->set_payload_size (static_cast<uint64_t> (problem.flows[i].bytes));
      comm->set_source (ends[i].first)->set_destination (ends[i].second); // and starts
      comms.push_back (comm);
    }
    for (auto &comm : comms)
      comm->wait ();
    for (auto &comm : comms)
      std::printf ("%.15g\n", comm->get_finish_time ());
  });
  engine.run ();
}

// SimGrid has one engine per process.
int
rates ()
{
  for (Problem problem; read_problem (problem);) {
    int status = 0;
    const pid_t child = fork ();

    if (child == 0) {
      solve (problem);
      std::fflush (stdout);
      _exit (0);
    }
    if (child < 0 || waitpid (child, &status, 0) != child || status != 0)
      return 1;
  }
  return 0;
}

} // namespace

int
main (int argc, char **argv)
{
  const std::string what = argc > 1 ? argv[1] : "";

  if (what == "rates" && argc == 2)
    return rates ();
  if (!(what == "flows" && argc == 5) && !(what == "ring" && argc == 8)) {
    std::fprintf (stderr, "usage: simgrid flows|ring|rates ...: see the head of simgrid.cpp\n");
    return 2;
  }
  auto arguments = arguments_of (argv[0]);
  int count = static_cast<int> (arguments.size ());
  arguments.push_back (nullptr);
  sg4::Engine engine (&count, arguments.data ());
  return what == "flows" ? flows (engine, argv) : ring (engine, argv);
}
